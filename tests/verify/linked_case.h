/* A linked bundle of single runs, which no chain ties together: what is found of it is the links' own. */
#ifndef TESTS_VERIFY_LINKED_CASE_H
#define TESTS_VERIFY_LINKED_CASE_H

#include "tests/support/forge.h"

#define LINKED_RUNS 5

typedef struct linked_case {
    forge_key key;
    forge_bundle plain; /* without links */
    forge_bundle bundle;
} linked_case;

/* Five runs and a checkpoint, all good. Each run started and ended a millisecond after the one before. */
linked_case linked_runs(void);

char *linked_digest(const char *line); /* SHA-256 */
/* Line `at` (0-based) with a link that states these. */
char *linked_line(const linked_case *lines, size_t at, uint64_t index, const char *previous, const char *entry);
/* Put another line `at`, and link what follows to it. */
void linked_again(linked_case *lines, size_t at, char *line);
char *linked_checkpoint(const linked_case *lines, uint64_t index, const char *previous, uint64_t count);

#endif
