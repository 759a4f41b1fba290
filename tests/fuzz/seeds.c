/* Writes the seeds of every target below a folder: seeds FOLDER makes FOLDER/<target>/<name>.
 *
 * Everything is made by the builders of the tests, so the seeds follow the formats by themselves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/fuzz/seeds.h"

static const char *root;

/* One seed: what `prefix` holds, then the bytes. */
void put_seed(const char *target, cs_view prefix, cs_view bytes) {
    static unsigned number;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", root, target);
    (void)mkdir(path, 0755);
    (void)snprintf(path, sizeof path, "%s/%s/seed-%04u", root, target, number++);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(prefix.ptr, 1, prefix.len, file) != prefix.len ||
        fwrite(bytes.ptr, 1, bytes.len, file) != bytes.len || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

void put_text_seed(const char *target, const char *text) {
    put_seed(target, cs_view_of(""), cs_view_of(text));
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    root = argv[1];
    seeds_of_messages();
    seeds_of_stored();
    seeds_of_files();
    seeds_of_daemons();
    seeds_of_the_gate();
    return 0;
}
