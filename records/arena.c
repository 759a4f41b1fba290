#include "records/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK ((size_t)16 * 1024)

/* Blocks stand in the order in which they are used. Each is at least twice as large as the one before, so
 * there are never many. */
typedef struct block {
    struct block *next;
    size_t size; /* of bytes */
    size_t used;
    alignas(max_align_t) uint8_t bytes[];
} block;

struct cs_arena {
    block *first;
    block *current; /* the ones before it are full, the ones behind it empty */
};

static block *new_block(size_t size) {
    if (size > SIZE_MAX - sizeof(block)) return NULL;
    block *made = malloc(sizeof *made + size);
    if (made == NULL) return NULL;
    made->next = NULL;
    made->size = size;
    made->used = 0;
    return made;
}

cs_arena *cs_arena_new(void) {
    cs_arena *arena = malloc(sizeof *arena);
    block *first = new_block(FIRST_BLOCK);
    if (arena == NULL || first == NULL) {
        free(arena);
        free(first);
        return NULL;
    }
    *arena = (cs_arena){.first = first, .current = first};
    return arena;
}

void cs_arena_free(cs_arena *arena) {
    if (arena == NULL) return;
    for (block *b = arena->first; b != NULL;) {
        block *next = b->next;
        free(b);
        b = next;
    }
    free(arena);
}

void cs_arena_reset(cs_arena *arena) {
    for (block *b = arena->first; b != NULL; b = b->next)
        b->used = 0;
    arena->current = arena->first;
}

/* Make a block with room for `size` the current one: the next that is kept, or a new one. */
static bool advance(cs_arena *arena, size_t size) {
    while (arena->current->next != NULL) {
        arena->current = arena->current->next;
        if (arena->current->size >= size) return true;
    }
    size_t doubled = arena->current->size <= SIZE_MAX / 2 ? 2 * arena->current->size : size;
    block *made = new_block(size > doubled ? size : doubled);
    if (made == NULL) return false;
    arena->current->next = made;
    arena->current = made;
    return true;
}

void *cs_arena_take(cs_arena *arena, size_t size) {
    const size_t grain = alignof(max_align_t);
    if (size > SIZE_MAX - grain) return NULL;
    size_t rounded = size == 0 ? grain : (size + grain - 1) / grain * grain;
    if (rounded > arena->current->size - arena->current->used && !advance(arena, rounded)) return NULL;
    block *from = arena->current;
    void *ptr = memset(from->bytes + from->used, 0, size);
    from->used += rounded;
    return ptr;
}
