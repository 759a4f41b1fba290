#include "tests/verify/linked_case.h"

#include <string.h>

linked_case linked_runs(void) {
    linked_case out = {.key = forge_key_from(1)};
    for (uint64_t i = 0; i < LINKED_RUNS; i++) {
        forge_run run = forge_single();
        run.started += i;
        run.ended += i;
        forge_seal(&run);
        forge_add(&out.plain, forge_run_line(&out.key, &run));
    }
    out.bundle = out.plain;
    forge_link_lines(&out.bundle, &out.key, 0);
    return out;
}

char *linked_digest(const char *line) {
    return forge_sha256(line, strlen(line));
}

char *linked_line(const linked_case *lines, size_t at, uint64_t index, const char *previous, const char *entry) {
    return forge_with_link(lines->plain.lines[at], forge_envelope(&lines->key, forge_link(index, previous, entry, 0)));
}

void linked_again(linked_case *lines, size_t at, char *line) {
    forge_bundle again = lines->plain;
    memcpy(again.lines, lines->bundle.lines, at * sizeof *again.lines);
    again.lines[at] = line;
    forge_link_lines(&again, &lines->key, at + 1);
    lines->bundle = again;
}

char *linked_checkpoint(const linked_case *lines, uint64_t index, const char *previous, uint64_t count) {
    return forge_text("{\"link\":%s}", forge_envelope(&lines->key, forge_link(index, previous, NULL, count)));
}
