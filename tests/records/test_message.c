/* Decoding: what is refused, how it is told, and what becomes of odd input. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "records/message.h"
#include "tests/support/expect.h"

#define REQUEST (&plimsoll__v1__run_request__descriptor)
#define RESPONSE (&plimsoll__v1__run_response__descriptor)

#define BYTES(literal) cs_view_bytes(literal, sizeof(literal) - 1)

/* {protocol: 3, minimum_isolation: "vm", javascript: {code: "abc"}} */
#define PLAIN                                                                                                          \
    "\x08\x03\x12\x02vm\x52\x05\x0a\x03"                                                                               \
    "abc"

static ProtobufCMessage *decoded(const ProtobufCMessageDescriptor *type, cs_view bytes) {
    cs_error err = CS_ERROR_INIT;
    ProtobufCMessage *message = NULL;
    EXPECT_OK(cs_message_decode(type, bytes, &message, &err), err);
    cr_assert_not_null(message);
    return message;
}

static void refused(const ProtobufCMessageDescriptor *type, cs_view bytes, cs_code code, const char *where) {
    cs_error err = CS_ERROR_INIT;
    ProtobufCMessage *message = (ProtobufCMessage *)&err;
    EXPECT_CODE(cs_message_decode(type, bytes, &message, &err), err, CS_FAILED, code);
    EXPECT_WHERE(err, where);
    cr_assert_null(message);
}

Test(records_message, a_plain_request_decodes) {
    cs_run_request *request = (cs_run_request *)decoded(REQUEST, BYTES(PLAIN));
    cr_assert_eq(request->protocol, 3);
    cr_assert(cs_view_is(cs_bytes_view(&request->minimum_isolation), "vm"));
    cr_assert(cs_view_is(cs_bytes_view(&request->javascript->code), "abc"));
    cr_assert_str_eq(cs_request_kind(request), "javascript");
    cs_message_free(request);
    cs_message_free(NULL);
}

Test(records_message, no_bytes_are_an_empty_message) {
    cs_run_request *request = (cs_run_request *)decoded(REQUEST, cs_view_bytes(NULL, 0));
    cr_assert_str_eq(cs_request_kind(request), "");
    cs_message_free(request);
}

Test(records_message, every_cut_of_a_request_but_those_between_fields_is_refused) {
    const cs_view whole = BYTES(PLAIN);
    for (size_t len = 0; len < whole.len; len++) {
        if (len == 0 || len == 2 || len == 6) {
            cs_message_free(decoded(REQUEST, cs_view_bytes(whole.ptr, len)));
        } else {
            refused(REQUEST, cs_view_bytes(whole.ptr, len), CS_CODE_MESSAGE_MALFORMED, "");
        }
    }
}

Test(records_message, what_is_no_message_is_refused) {
    refused(REQUEST, BYTES("\x0b\x0c"), CS_CODE_MESSAGE_MALFORMED, "");                 /* a group */
    refused(REQUEST, BYTES("\x0f"), CS_CODE_MESSAGE_MALFORMED, "");                     /* no such wire type */
    refused(REQUEST, BYTES("\x00\x01"), CS_CODE_MESSAGE_MALFORMED, "");                 /* field number 0 */
    refused(REQUEST, BYTES("\x0a\x01\x03"), CS_CODE_MESSAGE_MALFORMED, "");             /* text for a number */
    refused(REQUEST, BYTES("\x10\x03"), CS_CODE_MESSAGE_MALFORMED, "");                 /* a number for text */
    refused(REQUEST, BYTES("\x50\x03"), CS_CODE_MESSAGE_MALFORMED, "");                 /* a number for a message */
    refused(RESPONSE, BYTES("\x52\x03\x22\x01\x01"), CS_CODE_MESSAGE_MALFORMED, "");     /* text for a bool */
    refused(REQUEST, BYTES("\x12\xff\xff\xff\xff\x0f"), CS_CODE_MESSAGE_MALFORMED, ""); /* 4 GiB of text */
    refused(REQUEST, BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), CS_CODE_MESSAGE_MALFORMED, "");
    refused(&plimsoll__v1__module_row__descriptor, BYTES("\x0a\x07\0\0\0\0\0\0\0"), CS_CODE_MESSAGE_MALFORMED, "");
}

Test(records_message, text_is_utf8_at_every_depth) {
    /* {minimum_isolation: "\xff"} and its twin with a letter */
    refused(REQUEST, BYTES("\x12\x01\xff"), CS_CODE_MESSAGE_TEXT, "minimum_isolation");
    cs_message_free(decoded(REQUEST, BYTES("\x12\x01v")));
    /* {project: {files: [{path: "a"}, {path: "\xc0\x80"}]}} */
    refused(REQUEST,
            BYTES("\x5a\x0b\x0a\x03\x0a\x01"
                  "a\x0a\x04\x0a\x02\xc0\x80"),
            CS_CODE_MESSAGE_TEXT, "project.files[1].path");
    cs_message_free(decoded(REQUEST, BYTES("\x5a\x0b\x0a\x03\x0a\x01"
                                           "a\x0a\x04\x0a\x02\xc2\x80")));
    /* {project: {files: [{content: "\xff"}]}}: the content of a file that is sent is text */
    refused(REQUEST, BYTES("\x5a\x05\x0a\x03\x12\x01\xff"), CS_CODE_MESSAGE_TEXT, "project.files[0].content");
    /* {project: {steps: ["", "\xed\xa0\x80"]}}: a surrogate */
    refused(REQUEST, BYTES("\x5a\x07\x12\x00\x12\x03\xed\xa0\x80"), CS_CODE_MESSAGE_TEXT, "project.steps[1]");
    /* {software_rule: {identities: ["\x80"]}} */
    refused(REQUEST, BYTES("\x2a\x03\x12\x01\x80"), CS_CODE_MESSAGE_TEXT, "software_rule.identities[0]");
    /* {record: {provider: "\xf5"}} */
    refused(RESPONSE, BYTES("\x22\x03\x22\x01\xf5"), CS_CODE_MESSAGE_TEXT, "record.provider");
}

Test(records_message, true_byte_fields_hold_any_byte) {
    /* {javascript: {stdout: "\xff", stderr: "\xfe"}} */
    cs_run_response *response = (cs_run_response *)decoded(RESPONSE, BYTES("\x52\x06\x0a\x01\xff\x12\x01\xfe"));
    cr_assert_eq(response->javascript->stdout.data[0], 0xff);
    cs_message_free(response);
    /* {project: {steps: [{stdout: "\xff"}], artifacts: [{content: "\xff"}]}} */
    cs_message_free(decoded(RESPONSE, BYTES("\x5a\x0a\x0a\x03\x12\x01\xff\x22\x03\x12\x01\xff")));
    /* {project: {artifacts: [{path: "\xff"}]}} */
    refused(RESPONSE, BYTES("\x5a\x05\x22\x03\x0a\x01\xff"), CS_CODE_MESSAGE_TEXT, "project.artifacts[0].path");
}

Test(records_message, what_stands_behind_a_nul_is_kept) {
    cs_run_request *request = (cs_run_request *)decoded(REQUEST, BYTES("\x52\x05\x0a\x03"
                                                                       "a\0b"));
    cr_assert(cs_view_equal(cs_bytes_view(&request->javascript->code), BYTES("a\0b")));
    cs_message_free(request);
}

/* ---- memory --------------------------------------------------------------------------------------- */

/* {<message field 10>: {<field> [empty, ...]}} with `count` elements of two bytes each. */
static cs_buf many_empty(uint8_t outer_tag, uint8_t tag, size_t count) {
    cs_buf buf = CS_BUF_INIT(64u * 1024u * 1024u);
    cr_assert(cs_buf_byte(&buf, outer_tag));
    size_t len = 2 * count;
    while (len > 0x7f) {
        cr_assert(cs_buf_byte(&buf, (uint8_t)(len | 0x80)));
        len >>= 7;
    }
    cr_assert(cs_buf_byte(&buf, (uint8_t)len));
    for (size_t i = 0; i < count; i++)
        cr_assert(cs_buf_append(&buf, (const uint8_t[]){tag, 0}, 2));
    return buf;
}

Test(records_message, a_small_message_can_not_become_a_large_one) {
    cs_error err = CS_ERROR_INIT;
    ProtobufCMessage *message = NULL;
    /* javascript.advice: 2 bytes of input for more than 200 of memory. */
    cs_buf many = many_empty(0x52, 0x52, 300000);
    EXPECT_CODE(cs_message_decode(RESPONSE, cs_buf_view(&many), &message, &err), err, CS_FAILED,
                CS_CODE_MESSAGE_MALFORMED);
    cr_assert_not_null(strstr(err.message, "memory"), "%s", err.message);
    cr_assert_null(message);
    cs_buf_free(&many);

    cs_buf fewer = many_empty(0x52, 0x52, 30000);
    message = decoded(RESPONSE, cs_buf_view(&fewer));
    cr_assert_eq(((cs_run_response *)message)->javascript->n_advice, 30000);
    cs_message_free(message);
    cs_buf_free(&fewer);
}

Test(records_message, the_largest_module_answer_fits_even_when_its_rows_are_empty) {
    cs_buf rows = many_empty(0x62, 0x0a, 100000);
    ProtobufCMessage *message = decoded(RESPONSE, cs_buf_view(&rows));
    cr_assert_eq(((cs_run_response *)message)->module->n_runs, 100000);
    cs_message_free(message);
    cs_buf_free(&rows);
}

/* Rules given twice, a oneof twice, unknown fields at two depths, repeated text and doubles:
 * {software_rule: {mode: "a", identities: ["b", "c"]}, software_rule: {identities: ["d"], 99: 1},
 *  javascript: {code: "e"}, javascript: {code: "f", grant_profile: "g"}, 98: "x",
 *  module: {rows: [{values: [1, 2]}, {values: unpacked 3}]}} */
#define ODD                                                                                                            \
    "\x2a\x09\x0a\x01"                                                                                                 \
    "a\x12\x01"                                                                                                        \
    "b\x12\x01"                                                                                                        \
    "c"                                                                                                                \
    "\x2a\x06\x12\x01"                                                                                                 \
    "d\x98\x06\x01"                                                                                                    \
    "\x52\x03\x0a\x01"                                                                                                 \
    "e"                                                                                                                \
    "\x52\x06\x0a\x01"                                                                                                 \
    "f\x12\x01"                                                                                                        \
    "g"                                                                                                                \
    "\x92\x06\x01x"                                                                                                    \
    "\x62\x1f\x12\x12\x0a\x10\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40\x12\x09\x09\0\0\0\0\0\0\x08\x40"

/* Whatever is there when decoding stops is freed, and only once; a sanitizer would tell. */
Test(records_message, no_stop_half_way_leaks) {
    const cs_view whole = BYTES(ODD);
    size_t refusals = 0;
    for (size_t len = 0; len < whole.len; len++) {
        ProtobufCMessage *message = NULL;
        cs_error err = CS_ERROR_INIT;
        cs_result result = cs_message_decode(REQUEST, cs_view_bytes(whole.ptr, len), &message, &err);
        cr_assert_eq(message == NULL, result != CS_OK);
        if (result != CS_OK) {
            cr_assert_eq(err.code, CS_CODE_MESSAGE_MALFORMED);
            refusals++;
        }
        cs_message_free(message);
    }
    cr_assert_gt(refusals, 40);
}

/* ---- what the last one wins and what merges ------------------------------------------------------- */

Test(records_message, odd_forms_decode_as_the_wire_says) {
    cs_run_request *request = (cs_run_request *)decoded(REQUEST, BYTES(ODD));
    /* A single sub-message that is repeated is merged. */
    cr_assert(cs_view_is(cs_bytes_view(&request->software_rule->mode), "a"));
    cr_assert_eq(request->software_rule->n_identities, 3);
    cr_assert(cs_view_is(cs_bytes_view(&request->software_rule->identities[2]), "d"));
    /* The last member of a oneof wins. */
    cr_assert_str_eq(cs_request_kind(request), "module");
    cr_assert_eq(request->module->n_rows, 2);
    cr_assert_eq(request->module->rows[0]->values[1], 2.0);
    cr_assert_eq(request->module->rows[1]->values[0], 3.0);
    cs_message_free(request);
}

Test(records_message, repeated_records_and_results_merge_without_harm) {
    /* {run: {sandbox: "a", record: {version: 1, provider: "p"}, javascript: {stdout: "x", advice: [{}]}}, run:
     * {record: {version: 2}, javascript: {stderr: "y", advice: [{}]}, 99: 1}, run: {cell: {}}} */
    cs_view bytes = BYTES("\x0a\x11\x0a\x01"
                          "a\x22\x05\x08\x01\x22\x01p\x52\x05\x0a\x01x\x52\x00"
                          "\x0a\x0e\x22\x02\x08\x02\x52\x05\x12\x01y\x52\x00\x98\x06\x01"
                          "\x0a\x02\x6a\x00");
    Plimsoll__V1__SessionRunResponse *response =
        (Plimsoll__V1__SessionRunResponse *)decoded(&plimsoll__v1__session_run_response__descriptor, bytes);
    cr_assert(cs_view_is(cs_bytes_view(&response->run->sandbox), "a"));
    cr_assert_eq(response->run->record->version, 2);
    cr_assert(cs_view_is(cs_bytes_view(&response->run->record->provider), "p"));
    cr_assert_str_eq(cs_response_kind(response->run), "cell");
    cs_message_free(response);
}

Test(records_message, a_later_default_counts) {
    /* {protocol: 3, minimum_isolation: "vm", protocol: 0, minimum_isolation: ""} */
    cs_run_request *request = (cs_run_request *)decoded(REQUEST, BYTES("\x08\x03\x12\x02vm\x08\x00\x12\x00"));
    cr_assert_eq(request->protocol, 0);
    cr_assert_eq(request->minimum_isolation.len, 0);
    cs_message_free(request);
    /* {record: {version: 3, provider: "p"}, record: {version: 0, provider: ""}} */
    cs_run_response *response =
        (cs_run_response *)decoded(RESPONSE, BYTES("\x22\x05\x08\x03\x22\x01p\x22\x04\x08\x00\x22\x00"));
    cr_assert_eq(response->record->version, 0);
    cr_assert_eq(response->record->provider.len, 0);
    cs_message_free(response);
}

Test(records_message, messages_without_a_oneof_merge) {
    /* {run: {sandbox: "a"}, run: {isolation: "vm"}} */
    Plimsoll__V1__SessionRunResponse *response = (Plimsoll__V1__SessionRunResponse *)decoded(
        &plimsoll__v1__session_run_response__descriptor, BYTES("\x0a\x03\x0a\x01"
                                                               "a\x0a\x04\x12\x02vm"));
    cr_assert(cs_view_is(cs_bytes_view(&response->run->sandbox), "a"));
    cr_assert(cs_view_is(cs_bytes_view(&response->run->isolation), "vm"));
    cs_message_free(response);
}

Test(records_message, the_same_member_of_a_oneof_merges_and_another_one_replaces) {
    /* {javascript: {code: "e"}, javascript: {grant_profile: "g"}} */
    cs_run_request *request = (cs_run_request *)decoded(REQUEST, BYTES("\x52\x03\x0a\x01"
                                                                       "e\x52\x03\x12\x01"
                                                                       "g"));
    cr_assert(cs_view_is(cs_bytes_view(&request->javascript->code), "e"));
    cr_assert(cs_view_is(cs_bytes_view(&request->javascript->grant_profile), "g"));
    cs_message_free(request);
    /* {javascript: {code: "e"}, cell: {}, javascript: {}} */
    request = (cs_run_request *)decoded(REQUEST, BYTES("\x52\x03\x0a\x01"
                                                       "e\x6a\x00\x52\x00"));
    cr_assert_str_eq(cs_request_kind(request), "javascript");
    cr_assert_eq(request->javascript->code.len, 0);
    cs_message_free(request);
}

Test(records_message, no_unknown_field_is_forgotten_when_messages_merge) {
    /* {software_rule: {99: 1}, software_rule: {mode: "a"}} */
    cs_run_request *request = (cs_run_request *)decoded(REQUEST, BYTES("\x2a\x03\x98\x06\x01\x2a\x03\x0a\x01"
                                                                       "a"));
    cr_assert_eq(request->software_rule->base.n_unknown_fields, 1);
    cs_error err = CS_ERROR_INIT;
    EXPECT_CODE(cs_message_known(&request->base, &err), err, CS_FAILED, CS_CODE_MESSAGE_UNKNOWN_FIELD);
    EXPECT_WHERE(err, "software_rule");
    cs_message_free(request);
}

Test(records_message, text_that_a_later_one_replaces_is_checked_too) {
    /* {minimum_isolation: "\xff", minimum_isolation: "vm"} */
    refused(REQUEST, BYTES("\x12\x01\xff\x12\x02vm"), CS_CODE_MESSAGE_TEXT, "minimum_isolation");
    cs_message_free(decoded(REQUEST, BYTES("\x12\x01v\x12\x02vm")));
}

Test(records_message, tags_and_lengths_may_be_longer_than_needed_but_not_wrong) {
    cs_run_request *request = (cs_run_request *)decoded(REQUEST, BYTES("\x88\x80\x80\x80\x00\x83\x00"));
    cr_assert_eq(request->protocol, 3);
    cs_message_free(request);
    refused(REQUEST, BYTES("\x88\x80\x80\x80\x80\x00\x03"), CS_CODE_MESSAGE_MALFORMED, ""); /* six bytes of tag */
    refused(REQUEST, BYTES("\x80\x00\x03"), CS_CODE_MESSAGE_MALFORMED, "");                 /* field number 0 */
    refused(REQUEST, BYTES("\x88\x80\x80\x80\x10\x03"), CS_CODE_MESSAGE_MALFORMED, "");     /* a number above 2^29-1 */
    cs_message_free(decoded(REQUEST, BYTES("\xf8\xff\xff\xff\x0f\x03")));                /* 2^29-1, unknown */
    /* A number of eleven bytes is none; of ten it is, and what does not fit is dropped. */
    refused(REQUEST, BYTES("\x08\x83\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), CS_CODE_MESSAGE_MALFORMED, "");
    request = (cs_run_request *)decoded(REQUEST, BYTES("\x08\x83\x80\x80\x80\x80\x80\x80\x80\x80\x7e"));
    cr_assert_eq(request->protocol, 3);
    cs_message_free(request);
}

Test(records_message, a_refusal_names_the_byte) {
    cs_error err = CS_ERROR_INIT;
    ProtobufCMessage *message = NULL;
    /* {protocol: 3, javascript: {code: 1 (a number)}} */
    EXPECT_CODE(cs_message_decode(REQUEST, BYTES("\x08\x03\x52\x02\x08\x01"), &message, &err), err, CS_FAILED,
                CS_CODE_MESSAGE_MALFORMED);
    cr_assert_str_eq(err.message, "6 bytes are not a RunRequest: a field is of another type, at byte 5");
}

Test(records_message, an_enum_may_hold_a_number_that_is_not_listed) {
    /* {project: {outcome: 77}}, {project: {outcome: -1}} */
    cs_run_response *response = (cs_run_response *)decoded(RESPONSE, BYTES("\x5a\x02\x18\x4d"));
    cr_assert_eq((int)response->project->outcome, 77);
    cs_message_free(response);
    response = (cs_run_response *)decoded(RESPONSE, BYTES("\x5a\x0b\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
    cr_assert_eq((int32_t)response->project->outcome, -1);
    cs_message_free(response);
}

/* ---- single fields -------------------------------------------------------------------------------- */

Test(records_message, a_field_can_be_set_and_set_again) {
    ProtobufCBinaryData field = {.len = 0, .data = NULL};
    cr_assert(cs_bytes_set(&field, cs_view_of("first")));
    cr_assert(cs_view_is(cs_bytes_view(&field), "first"));
    /* From itself: the copy is made before the old one goes. */
    cr_assert(cs_bytes_set(&field, cs_view_bytes(field.data + 1, 3)));
    cr_assert(cs_view_is(cs_bytes_view(&field), "irs"));
    cr_assert(cs_bytes_set(&field, cs_view_of("")));
    cr_assert_null(field.data);
    cr_assert_eq(field.len, 0);
}

static const ProtobufCFieldDescriptor *field_of(const ProtobufCMessageDescriptor *type, const char *name) {
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(type, name);
    cr_assert_not_null(field, "%s.%s", type->short_name, name);
    return field;
}

Test(records_message, only_output_and_artifacts_are_not_text) {
    typedef struct expectation {
        const ProtobufCMessageDescriptor *type;
        const char *field;
        bool text;
    } expectation;
    const expectation expectations[] = {
        {&plimsoll__v1__java_script_result__descriptor, "stdout", false},
        {&plimsoll__v1__java_script_result__descriptor, "stderr", false},
        {&plimsoll__v1__step_result__descriptor, "stdout", false},
        {&plimsoll__v1__step_result__descriptor, "command", true},
        {&plimsoll__v1__module_result__descriptor, "stderr", false},
        {&plimsoll__v1__module_result__descriptor, "outcome_detail", true},
        {&plimsoll__v1__cell_result__descriptor, "stdout", false},
        {&plimsoll__v1__artifact__descriptor, "content", false},
        {&plimsoll__v1__artifact__descriptor, "path", true},
        {&plimsoll__v1__project_file__descriptor, "content", true},
        {&plimsoll__v1__run_request__descriptor, "protocol", false}, /* a number */
    };
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        const expectation *e = &expectations[i];
        cr_assert_eq(cs_field_is_text(e->type, field_of(e->type, e->field)), e->text, "%s", e->field);
    }
}

/* The decoder and the encoder know these types and no others. */
static void check_types(const ProtobufCMessageDescriptor *type) {
    for (unsigned f = 0; f < type->n_fields; f++) {
        const ProtobufCFieldDescriptor *field = &type->fields[f];
        const bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
        const char *name = field->name;
        switch (field->type) {
        case PROTOBUF_C_TYPE_MESSAGE:
            cr_assert_neq((const void *)field->descriptor, (const void *)type, "%s nests in itself", name);
            check_types(field->descriptor);
            break;
        case PROTOBUF_C_TYPE_BYTES:
        case PROTOBUF_C_TYPE_DOUBLE:
            break;
        case PROTOBUF_C_TYPE_BOOL:
        case PROTOBUF_C_TYPE_INT32:
        case PROTOBUF_C_TYPE_UINT32:
        case PROTOBUF_C_TYPE_INT64:
        case PROTOBUF_C_TYPE_UINT64:
        case PROTOBUF_C_TYPE_ENUM:
            cr_assert_not(repeated, "%s.%s", type->short_name, name);
            break;
        default:
            cr_assert_fail("%s.%s is of type %d", type->short_name, name, (int)field->type);
        }
    }
}

Test(records_message, the_schema_has_only_types_that_are_handled) {
    const ProtobufCMessageDescriptor *const all[] = {
        &plimsoll__v1__describe_request__descriptor,       &plimsoll__v1__describe_response__descriptor,
        &plimsoll__v1__run_request__descriptor,            &plimsoll__v1__run_response__descriptor,
        &plimsoll__v1__open_session_request__descriptor,   &plimsoll__v1__open_session_response__descriptor,
        &plimsoll__v1__session_run_request__descriptor,    &plimsoll__v1__session_run_response__descriptor,
        &plimsoll__v1__close_session_request__descriptor,  &plimsoll__v1__close_session_response__descriptor,
        &plimsoll__v1__not_dispatched__descriptor,         &plimsoll__v1__session_ended__descriptor,
        &plimsoll__v1__unanswered_call__descriptor,
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        check_types(all[i]);
}

Test(records_message, kinds_of_results_have_the_words_of_the_digests) {
    const struct {
        const char *bytes;
        const char *request;
        const char *response;
    } kinds[] = {{"\x52", "javascript", "javascript"},
                 {"\x5a", "project", "project"},
                 {"\x62", "module", "module"},
                 {"\x6a", "cell", "cell"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        cs_view bytes = cs_view_bytes((const char[]){kinds[i].bytes[0], 0}, 2);
        cs_run_request *request = (cs_run_request *)decoded(REQUEST, bytes);
        cs_run_response *response = (cs_run_response *)decoded(RESPONSE, bytes);
        cr_assert_str_eq(cs_request_kind(request), kinds[i].request);
        cr_assert_str_eq(cs_response_kind(response), kinds[i].response);
        cs_message_free(request);
        cs_message_free(response);
    }
    cs_run_response *none = (cs_run_response *)decoded(RESPONSE, BYTES(""));
    cr_assert_str_eq(cs_response_kind(none), "");
    cs_message_free(none);
}
