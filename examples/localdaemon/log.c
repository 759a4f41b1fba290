#include "examples/localdaemon/log.h"

#include <stdarg.h>
#include <stdio.h>

void ld_log(const char *fmt, ...) {
    char line[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    /* One call, so that lines of several threads do not mix. */
    fprintf(stderr, "localdaemon: %s\n", line);
}

void ld_log_error(const char *what, const cs_error *err) {
    ld_log("%s: %s%s%s", what, err->message, err->where[0] != '\0' ? ", at " : "", err->where);
}
