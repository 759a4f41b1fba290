#include "cli/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SILENT_MS 1000
#define BETWEEN_MS 100

static int64_t monotonic_ms(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void cs_progress_begin(cs_progress *progress, const char *what) {
    *progress = (cs_progress){.what = what, .terminal = isatty(STDERR_FILENO) == 1, .begun_ms = monotonic_ms()};
}

void cs_progress_show(cs_progress *progress, uint64_t done, uint64_t total) {
    if (!progress->terminal || total == 0) return;
    int64_t now = monotonic_ms();
    if (now - progress->begun_ms < SILENT_MS || now - progress->last_ms < BETWEEN_MS) return;
    progress->last_ms = now;
    progress->shown = true;
    fprintf(stderr, "\r%s: %3.0f %%", progress->what, 100.0 * (double)done / (double)total);
}

void cs_progress_clear(cs_progress *progress) {
    if (!progress->shown) return;
    progress->shown = false;
    fprintf(stderr, "\r\033[K");
}
