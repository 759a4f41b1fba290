/* cs_message_view: the same message as cs_message_decode gives, without a copy and within the same bound. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "records/message.h"
#include "tests/support/expect.h"

#define REQUEST (&plimsoll__v1__run_request__descriptor)
#define RESPONSE (&plimsoll__v1__run_response__descriptor)

#define BYTES(literal) cs_view_bytes(literal, sizeof(literal) - 1)

/* {protocol: 3, minimum_isolation: "vm", javascript: {code: "abc"}}, and {99: 1} behind it */
#define PLAIN                                                                                                          \
    "\x08\x03\x12\x02vm\x52\x05\x0a\x03"                                                                               \
    "abc"
#define UNKNOWN "\x98\x06\x01"

static cs_arena *arena;

static void set_up(void) {
    arena = cs_arena_new();
    cr_assert_not_null(arena);
}

static void tear_down(void) {
    cs_arena_free(arena);
}

TestSuite(records_view, .init = set_up, .fini = tear_down);

static const ProtobufCMessage *viewed(const ProtobufCMessageDescriptor *type, cs_view bytes) {
    cs_error err = CS_ERROR_INIT;
    const ProtobufCMessage *message = NULL;
    EXPECT_OK(cs_message_view(type, bytes, arena, &message, &err), err);
    cr_assert_not_null(message);
    return message;
}

Test(records_view, byte_fields_are_places_in_the_bytes) {
    const cs_view bytes = BYTES(PLAIN UNKNOWN);
    const cs_run_request *request = (const cs_run_request *)viewed(REQUEST, bytes);
    cr_assert_eq(request->protocol, 3);
    cr_assert_eq(request->minimum_isolation.data, bytes.ptr + 4);
    cr_assert_eq(request->minimum_isolation.len, 2);
    cr_assert_eq(request->javascript->code.data, bytes.ptr + 10);
    cr_assert_eq(request->javascript->code.len, 3);
    cr_assert_eq(request->base.n_unknown_fields, 1);
    cr_assert_eq(request->base.unknown_fields[0].data, bytes.ptr + 15);
}

Test(records_view, no_bytes_are_an_empty_message) {
    const cs_run_request *request = (const cs_run_request *)viewed(REQUEST, cs_view_bytes(NULL, 0));
    cr_assert_str_eq(cs_request_kind(request), "");
}

Test(records_view, two_messages_live_in_one_arena) {
    const cs_run_request *first = (const cs_run_request *)viewed(REQUEST, BYTES(PLAIN));
    const cs_run_request *second = (const cs_run_request *)viewed(REQUEST, BYTES("\x08\x02\x6a\x00"));
    cr_assert_eq(first->protocol, 3);
    cr_assert_str_eq(cs_request_kind(first), "javascript");
    cr_assert_eq(second->protocol, 2);
    cr_assert_str_eq(cs_request_kind(second), "cell");
}

Test(records_view, a_refusal_leaves_no_message_and_a_good_arena) {
    cs_error err = CS_ERROR_INIT;
    const ProtobufCMessage *message = (const ProtobufCMessage *)&err;
    EXPECT_CODE(cs_message_view(REQUEST,
                                BYTES("\x52\x05\x0a\x03"
                                      "ab"),
                                arena, &message, &err),
                err, CS_FAILED, CS_CODE_MESSAGE_MALFORMED);
    cr_assert_null(message);
    EXPECT_CODE(cs_message_view(REQUEST, BYTES("\x12\x02v\xff"), arena, &message, &err), err, CS_FAILED,
                CS_CODE_MESSAGE_TEXT);
    EXPECT_WHERE(err, "minimum_isolation");
    cr_assert_null(message);
    viewed(REQUEST, BYTES(PLAIN));
}

Test(records_view, coverage_of_a_view_finds_what_that_of_a_copy_finds) {
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_message_coverage(viewed(REQUEST, BYTES(PLAIN)), BYTES(PLAIN), &err), err);
    EXPECT_CODE(cs_message_coverage(viewed(REQUEST, BYTES(PLAIN UNKNOWN)), BYTES(PLAIN UNKNOWN), &err), err, CS_FAILED,
                CS_CODE_MESSAGE_UNKNOWN_FIELD);
    /* The floor comes twice, and the one that counts stands where a canonical encoder would not have put it. */
    const cs_view twice = BYTES("\x08\x03\x12\x02vm\x12\x02vm");
    EXPECT_CODE(cs_message_coverage(viewed(REQUEST, twice), twice, &err), err, CS_FAILED, CS_CODE_MESSAGE_NONCANONICAL);
    EXPECT_WHERE(err, "byte 6");
    /* The same message beside other bytes than its own: they are compared. */
    EXPECT_OK(cs_message_coverage(viewed(REQUEST, BYTES(PLAIN)),
                                  BYTES("\x08\x03\x12\x02vm\x52\x05\x0a\x03"
                                        "abc"),
                                  &err),
              err);
    EXPECT_CODE(cs_message_coverage(viewed(REQUEST, BYTES(PLAIN)),
                                    BYTES("\x08\x03\x12\x02vm\x52\x05\x0a\x03"
                                          "abd"),
                                    &err),
                err, CS_FAILED, CS_CODE_MESSAGE_NONCANONICAL);
    EXPECT_WHERE(err, "byte 12");
}

/* ---- memory --------------------------------------------------------------------------------------- */

/* {project: {artifacts: [{content}]}} with a content of `len` bytes. */
static void put_artifact(cs_buf *out, size_t len) {
    ProtobufCBinaryData content = {.len = len, .data = calloc(1, len)};
    Plimsoll__V1__Artifact artifact = PLIMSOLL__V1__ARTIFACT__INIT;
    artifact.content = content;
    Plimsoll__V1__ProjectResult project = PLIMSOLL__V1__PROJECT_RESULT__INIT;
    project.artifacts = (Plimsoll__V1__Artifact *[]){&artifact};
    project.n_artifacts = 1;
    cs_run_response response = PLIMSOLL__V1__RUN_RESPONSE__INIT;
    response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT;
    response.project = &project;
    cr_assert_eq(cs_message_encode(&response.base, out, NULL), CS_OK);
    free(content.data);
}

Test(records_view, a_large_artifact_stays_where_it_is) {
    CS_AUTO_BUF bytes = CS_BUF_INIT(64u * 1024 * 1024);
    put_artifact(&bytes, 16u * 1024 * 1024);
    const cs_view view = cs_buf_view(&bytes);
    const cs_run_response *response = (const cs_run_response *)viewed(RESPONSE, view);
    const ProtobufCBinaryData *content = &response->project->artifacts[0]->content;
    cr_assert_eq(content->len, 16u * 1024 * 1024);
    cr_assert_eq(content->data + content->len, view.ptr + view.len);
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_message_coverage(&response->base, view, &err), err);
}

/* javascript.advice: two bytes of input for more than two hundred of memory, as a copy has it. */
Test(records_view, a_small_message_can_not_become_a_large_one) {
    CS_AUTO_BUF bytes = CS_BUF_INIT(64u * 1024 * 1024);
    const size_t many = 300000;
    cr_assert(cs_buf_append(&bytes, "\x52\xc0\xcf\x24", 4)); /* field 10, 600,000 bytes */
    for (size_t i = 0; i < many; i++)
        cr_assert(cs_buf_append(&bytes, "\x52\x00", 2));
    cs_error err = CS_ERROR_INIT;
    const ProtobufCMessage *message = NULL;
    EXPECT_CODE(cs_message_view(RESPONSE, cs_buf_view(&bytes), arena, &message, &err), err, CS_FAILED,
                CS_CODE_MESSAGE_MALFORMED);
    cr_assert_not_null(strstr(err.message, "memory"), "%s", err.message);

    /* What other messages took of the arena does not count against this one. */
    for (int i = 0; i < 20; i++) {
        bytes.len = 0;
        cr_assert(cs_buf_append(&bytes, "\x52\xe0\xd4\x03", 4)); /* field 10, 60,000 bytes */
        for (size_t n = 0; n < 30000; n++)
            cr_assert(cs_buf_append(&bytes, "\x52\x00", 2));
        const cs_run_response *response = (const cs_run_response *)viewed(RESPONSE, cs_buf_view(&bytes));
        cr_assert_eq(response->javascript->n_advice, 30000);
    }
}
