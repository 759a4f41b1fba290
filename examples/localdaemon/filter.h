/* The seccomp filter: what a run may not ask of the kernel. Built before the daemon serves, so that a
 * child only has to load it. */
#ifndef LD_FILTER_H
#define LD_FILTER_H

#include "records/error.h"
#include <linux/filter.h>

/* Owned: end with ld_filter_free. */
typedef struct ld_filter {
    struct sock_filter *code;
    unsigned short count;
} ld_filter;

/* Build the program for the filter guards among `guards` (LD_GUARDS_FILTER). Refused calls answer
 * EPERM, clone3 ENOSYS (glibc then uses clone, whose flags can be read); a call of another
 * architecture or of the x32 ABI kills the process. */
CS_MUST_CHECK cs_result ld_filter_build(uint32_t guards, ld_filter *out, cs_error *err);
void ld_filter_free(ld_filter *filter);

/* The names of what is refused, for the policy text. */
CS_MUST_CHECK bool ld_filter_describe(cs_buf *out);

#endif
