/* A progress line on a terminal's stderr, for work of more than about a second. Nothing elsewhere. */
#ifndef CS_CLI_PROGRESS_H
#define CS_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cs_progress {
    const char *what; /* "verify"; borrowed */
    bool terminal;
    bool shown;
    int64_t begun_ms; /* monotonic */
    int64_t last_ms;
} cs_progress;

void cs_progress_begin(cs_progress *progress, const char *what);
void cs_progress_show(cs_progress *progress, uint64_t done, uint64_t total);
/* Take the line away, before anything else is printed and at the end. */
void cs_progress_clear(cs_progress *progress);

#endif
