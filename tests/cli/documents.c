#include "tests/cli/documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SCHEMAS "docs/schema"
#define VALIDATOR "tests/cli/validate.py"

/* Debian's package serves Debian's python3, which need not be the first one in PATH. */
static const char *find_python(void) {
    static const char *const names[] = {"/usr/bin/python3", "python3"};
    static const char *found_before;
    if (found_before != NULL) return found_before;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        exec_end end;
        exec_run(NULL, (const char *const[]){names[i], "-c", "from jsonschema import Draft202012Validator", NULL},
                 &end);
        bool found = end.status == 0;
        exec_free(&end);
        if (found) return found_before = names[i];
    }
    return NULL;
}

const char *documents_schemas(void) {
    cr_assert_eq(access(SCHEMAS, R_OK), 0, "%s is not there: start the tests in the root of the repository", SCHEMAS);
    return SCHEMAS;
}

void documents_need(void) {
    if (find_python() != NULL) return;
    cr_assert(getenv("CI") == NULL && getenv("COUNTERSIGN_REQUIRE_ALL") == NULL,
              "python3 with jsonschema (Debian: python3-jsonschema) is not installed");
    cr_skip_test("SKIPPED: python3 with jsonschema (Debian: python3-jsonschema) is not installed");
}

void documents_begin(documents *d) {
    memset(d, 0, sizeof *d);
    documents_need();
    folder_make(d->folder);
}

void documents_end(documents *d) {
    exec_free(&d->end);
    folder_remove(d->folder);
}

const char *documents_path(const documents *d, const char *name) {
    return forge_text("%s/%s.json", d->folder, name);
}

void documents_put(documents *d, const char *name, const void *bytes, size_t len) {
    const char *path = documents_path(d, name);
    cr_assert_neq(access(path, F_OK), 0, "%s is there already", name);
    file_write(path, bytes, len);
    d->count++;
}

void documents_take(documents *d, cli_case *c, const char *name, int exit, const char *code,
                    const char *const arguments[]) {
    EXPECT_EXIT(c, cli_json(c, arguments), exit);
    EXPECT_TEXT(c, "code", code);
    documents_put(d, name, c->end.out, c->end.out_len);
    d->exits[c->end.status] = true; /* cli_json saw to it that it is 0 to 6 */
}

int documents_validate(documents *d, const char *schemas) {
    const char *python = find_python();
    cr_assert_not_null(python);
    exec_free(&d->end);
    exec_run(NULL,
             (const char *const[]){python, VALIDATOR, schemas != NULL ? schemas : documents_schemas(), d->folder, NULL},
             &d->end);
    return d->end.status;
}
