/* harness/digest_map.h: many digests, found again. */
#include "harness/digest_map.h"

#include <stdio.h>

#include "tests/support/expect.h"
#include "tests/support/forge.h"

static cs_view number_digest(char text[65], unsigned number) {
    (void)snprintf(text, 65, "%064x", number);
    return cs_view_of(text);
}

Test(digest_map, many) {
    cs_digest_map *map = NULL;
    cs_error err = CS_ERROR_INIT;
    char text[65];
    EXPECT_OK(cs_digest_map_new(&map, &err), err);
    for (unsigned i = 1; i <= 5000; i++)
        EXPECT_OK(cs_digest_map_put(map, number_digest(text, i), i, &err), err);
    for (unsigned i = 1; i <= 5000; i++)
        cr_assert_eq(cs_digest_map_get(map, number_digest(text, i)), i);
    for (unsigned i = 5001; i <= 6000; i++)
        cr_assert_eq(cs_digest_map_get(map, number_digest(text, i)), 0);
    cs_digest_map_free(map);
}

Test(digest_map, the_first_number_stays) {
    cs_digest_map *map = NULL;
    cs_error err = CS_ERROR_INIT;
    char text[65];
    EXPECT_OK(cs_digest_map_new(&map, &err), err);
    cr_expect_eq(cs_digest_map_get(map, number_digest(text, 1)), 0);
    EXPECT_OK(cs_digest_map_put(map, number_digest(text, 1), 7, &err), err);
    EXPECT_OK(cs_digest_map_put(map, number_digest(text, 1), 8, &err), err);
    cr_expect_eq(cs_digest_map_get(map, number_digest(text, 1)), 7);
    cs_digest_map_free(map);
    cs_digest_map_free(NULL);
}

Test(digest_map, only_digests_with_a_number) {
    cs_digest_map *map = NULL;
    cs_error err = CS_ERROR_INIT;
    char text[65];
    EXPECT_OK(cs_digest_map_new(&map, &err), err);
    static const char *const texts[] = {"", "00", "000000000000000000000000000000000000000000000000000000000000000",
                                        "000000000000000000000000000000000000000000000000000000000000000A",
                                        "00000000000000000000000000000000000000000000000000000000000000000"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        EXPECT_CODE(cs_digest_map_put(map, cs_view_of(texts[i]), 1, &err), err, CS_UNCHECKED, CS_CODE_INTERNAL);
        cr_expect_eq(cs_digest_map_get(map, cs_view_of(texts[i])), 0);
    }
    EXPECT_CODE(cs_digest_map_put(map, number_digest(text, 1), 0, &err), err, CS_UNCHECKED, CS_CODE_INTERNAL);
    EXPECT_OK(cs_digest_map_put(map, number_digest(text, 1), 1, &err), err);
    cs_digest_map_free(map);
}
