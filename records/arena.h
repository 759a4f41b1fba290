/* Memory for many small pieces that go all at once: one message after the other is decoded into the same
 * arena, so that a walk over a million messages asks the system for memory a few times only. */
#ifndef CS_RECORDS_ARENA_H
#define CS_RECORDS_ARENA_H

#include "records/base.h"

typedef struct cs_arena cs_arena;

/* Gives an empty arena, or NULL without memory. */
cs_arena *cs_arena_new(void);
void cs_arena_free(cs_arena *arena); /* with everything taken from it; NULL is fine */

/* `size` bytes of zeros, aligned for any type, that stay until the arena is reset or freed. NULL without
 * memory. Never NULL for size 0. */
void *cs_arena_take(cs_arena *arena, size_t size);

/* Everything taken before is gone; the memory is kept for what comes. */
void cs_arena_reset(cs_arena *arena);

#endif
