/* Log lines of the daemon: one line each, on stderr, with what came from outside already escaped. */
#ifndef LD_LOG_H
#define LD_LOG_H

#include "records/error.h"

void ld_log(const char *fmt, ...) CS_PRINTF(1, 2);
/* "<what>: <the error's text>" */
void ld_log_error(const char *what, const cs_error *err);

#endif
