/* The walk itself: it reaches every allocation, and sees what is left. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/alloc/failing.h"

/* Which of four allocations failed, one letter a run. */
static char story[64];

static cs_result four_ways(void *user, cs_error *err) {
    char got[5] = "....";
    (void)user;
    failing_begin();
    void *blocks[] = {malloc(1), calloc(1, 1), strdup("x"), NULL};
    blocks[3] = realloc(NULL, 1);
    failing_end();
    for (int i = 0; i < 4; i++) {
        if (blocks[i] == NULL) got[i] = 'x';
        free(blocks[i]);
    }
    strcat(story, got);
    strcat(story, " ");
    return failing_answer(strchr(got, 'x') == NULL, err);
}

Test(alloc_failing, every_allocation_fails_once_alone_and_once_with_all_later_ones) {
    failing_walk(four_ways, NULL, FAILING_UNCHECKED);
    cr_assert_str_eq(story, ".... x... .x.. ..x. ...x .... xxxx .xxx ..xx ...x .... ");
}

Test(alloc_failing, what_is_left_is_counted) {
    char *volatile kept = NULL;
    failing_begin();
    char *volatile gone = malloc(3);
    kept = strdup("kept");
    kept = realloc(kept, 5000);
    free(gone);
    failing_end();
    cr_assert_eq(failing_live(), 1);
    free(kept);
    cr_assert_eq(failing_live(), 0);
}

/* Outside of begin and end nothing fails, and nothing is counted. */
Test(alloc_failing, other_memory_is_left_alone) {
    char *volatile before = strdup("before");
    failing_begin();
    failing_end();
    char *volatile after = strdup("after");
    cr_assert_eq(failing_live(), 0);
    cr_assert_not(failing_happened());
    free(before);
    free(after);
}
