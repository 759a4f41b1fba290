/* What a guard's twin must give: the class and the code, both pinned. */
#ifndef CS_TESTS_SUPPORT_EXPECT_H
#define CS_TESTS_SUPPORT_EXPECT_H

#include <criterion/criterion.h>
#include <string.h>

#include "records/error.h"
#include "records/message.h"

#define EXPECT_OK(call, err)                                                                                           \
    do {                                                                                                               \
        cs_result expect_result = (call);                                                                              \
        cr_assert_eq(expect_result, CS_OK, "%s: %s (%s)", cs_code_name((err).code), (err).message, (err).where);       \
    } while (0)

#define EXPECT_CODE(call, err, want_result, want_code)                                                                 \
    do {                                                                                                               \
        (err) = CS_ERROR_INIT;                                                                                         \
        cs_result expect_result = (call);                                                                              \
        cr_assert_eq(expect_result, (want_result), "class %d: %s", (int)expect_result, (err).message);                 \
        cr_assert_eq((err).code, (want_code), "code %s: %s", cs_code_name((err).code), (err).message);                 \
    } while (0)

#define EXPECT_WHERE(err, want) cr_assert_str_eq((err).where, (want), "%s", (err).message)

/* A field that borrows a C text, for messages built on the stack. Nothing writes through it. */
static inline ProtobufCBinaryData borrow(const char *text) {
    return (ProtobufCBinaryData){.len = strlen(text), .data = (uint8_t *)(uintptr_t)text};
}

static inline ProtobufCBinaryData borrow_bytes(const void *bytes, size_t len) {
    return (ProtobufCBinaryData){.len = len, .data = (uint8_t *)(uintptr_t)bytes};
}

#endif
