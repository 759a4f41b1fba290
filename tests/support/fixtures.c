#include "tests/support/fixtures.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fixture_path(const char *name, char *out, size_t size) {
    const char *folder = getenv("COUNTERSIGN_FIXTURES");
    snprintf(out, size, "%s/%s", folder ? folder : "../shared/fixtures", name);
    if (access(out, R_OK) == 0) return;
    if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL"))
        cr_assert_fail("the fixture %s is missing; set COUNTERSIGN_FIXTURES to its folder", out);
    cr_skip_test("SKIPPED: the fixture %s is missing; set COUNTERSIGN_FIXTURES to its folder", out);
}

char *fixture_read(const char *name, size_t *len) {
    char path[4096];
    fixture_path(name, path, sizeof path);
    FILE *file = fopen(path, "rb");
    cr_assert(file, "%s", path);
    cr_assert_eq(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    cr_assert_geq(size, 0);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    cr_assert(text);
    *len = fread(text, 1, (size_t)size, file);
    cr_assert_eq(*len, (size_t)size);
    text[*len] = '\0';
    fclose(file);
    return text;
}

size_t fixture_lines(const char *name, size_t (*look)(const json_t *line)) {
    size_t len = 0;
    size_t sum = 0;
    char *rest = NULL;
    char *text = fixture_read(name, &len);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        json_t *entry = json_loads(line, 0, NULL);
        cr_assert_not_null(entry, "%s", name);
        sum += look(entry);
        json_decref(entry);
    }
    free(text);
    return sum;
}
