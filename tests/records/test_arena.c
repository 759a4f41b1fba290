/* The arena: what is taken stays, is apart and aligned, and comes back after a reset. */
#include <criterion/criterion.h>
#include <stdalign.h>
#include <string.h>

#include "records/arena.h"

#define PIECES 2000u

/* Sizes on both sides of the blocks the arena asks the system for, in an order without a pattern. */
static size_t size_of(size_t i) {
    return i % 97 == 0 ? 100000 + i : i * 37 % 300;
}

static void fill_and_check(cs_arena *arena) {
    static uint8_t *pieces[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] = cs_arena_take(arena, size_of(i));
        cr_assert_not_null(pieces[i]);
        cr_assert_eq((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        for (size_t b = 0; b < size_of(i); b++)
            cr_assert_eq(pieces[i][b], 0, "piece %zu is not of zeros", i);
        memset(pieces[i], (int)(i % 255 + 1), size_of(i));
    }
    for (size_t i = 0; i < PIECES; i++) {
        for (size_t b = 0; b < size_of(i); b++)
            cr_assert_eq(pieces[i][b], i % 255 + 1, "piece %zu was written over", i);
    }
}

Test(records_arena, pieces_are_zeros_and_apart_also_after_a_reset) {
    cs_arena *arena = cs_arena_new();
    cr_assert_not_null(arena);
    for (int round = 0; round < 3; round++) {
        fill_and_check(arena);
        cs_arena_reset(arena);
    }
    cs_arena_free(arena);
    cs_arena_free(NULL);
}

Test(records_arena, a_reset_keeps_the_memory) {
    cs_arena *arena = cs_arena_new();
    const void *small = cs_arena_take(arena, 1);
    const void *large = cs_arena_take(arena, (size_t)1024 * 1024);
    cr_assert_neq(small, large);
    cs_arena_reset(arena);
    cr_assert_eq(cs_arena_take(arena, 1), small);
    cr_assert_eq(cs_arena_take(arena, (size_t)1024 * 1024), large);
    cs_arena_free(arena);
}

Test(records_arena, nothing_is_a_piece_too) {
    cs_arena *arena = cs_arena_new();
    const void *first = cs_arena_take(arena, 0);
    cr_assert_not_null(first);
    cr_assert_neq(cs_arena_take(arena, 0), first);
    cs_arena_free(arena);
}

Test(records_arena, more_than_any_memory_is_refused_and_the_rest_stays) {
    cs_arena *arena = cs_arena_new();
    uint8_t *kept = cs_arena_take(arena, 8);
    memset(kept, 7, 8);
    cr_assert_null(cs_arena_take(arena, SIZE_MAX));
    cr_assert_null(cs_arena_take(arena, SIZE_MAX - 20)); /* fits by itself, but not with what stands before it */
    cr_assert_not_null(cs_arena_take(arena, 8));
    cr_assert_eq(kept[7], 7);
    cs_arena_free(arena);
}
