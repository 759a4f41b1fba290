/* The script of one play, from the sample to the bytes that the peer sends. Only hostile.c needs this. */
#ifndef CS_TESTS_HOSTILE_STAGE_H
#define CS_TESTS_HOSTILE_STAGE_H

#include "tests/hostile/hostile.h"

/* Build the script of a play of this group. `p` has only a name for the base. */
void stage_build(stage *st, const group *g, const play *p, size_t attacked);
void stage_free(stage *st);

/* The script in which nothing is changed, which passes. */
void stage_build_plain(stage *st, const group *g, size_t attacked);

/* Put `put` in the place of `find`, which must stand there exactly once. */
void stage_replace(cs_buf *buf, cs_view find, cs_view put, const char *name);
bool stage_has(const cs_buf *buf, const char *text);

#endif
