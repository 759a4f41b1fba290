/* The command line of the daemon. */
#ifndef LD_OPTIONS_H
#define LD_OPTIONS_H

#include "examples/localdaemon/sandbox.h"
#include "records/wire.h"

/* All text borrows from argv. */
typedef struct ld_options {
    ld_kind kind;
    cs_tier claim; /* CS_TIER_NONE: states its own tier */
    uint32_t left_out; /* guards that are stated and not put up */
    bool lies;         /* may state another tier than its own, and guards that do not hold */
    const char *listen;
    const char *clients; /* NULL: none */
    bool open;
    bool check;
    bool help;
    unsigned max_concurrent;
    unsigned max_sessions; /* 0: no sessions */
    uint32_t protocol;
    const char *node; /* NULL: looked up */
} ld_options;

/* CS_USAGE with the reason when the line is wrong. */
CS_MUST_CHECK cs_result ld_options_read(int argc, char **argv, ld_options *out, cs_error *err);
const char *ld_options_help(void);

#endif
