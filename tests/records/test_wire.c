#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/text.h"
#include "records/wire.h"
#include "tests/support/expect.h"

typedef struct code_case {
    cs_connect_code code;
    const char *word;
    int status;
} code_case;

static const code_case code_cases[] = {
    {CS_CONNECT_CANCELED, "canceled", 499},
    {CS_CONNECT_UNKNOWN, "unknown", 500},
    {CS_CONNECT_INVALID_ARGUMENT, "invalid_argument", 400},
    {CS_CONNECT_DEADLINE_EXCEEDED, "deadline_exceeded", 504},
    {CS_CONNECT_NOT_FOUND, "not_found", 404},
    {CS_CONNECT_ALREADY_EXISTS, "already_exists", 409},
    {CS_CONNECT_PERMISSION_DENIED, "permission_denied", 403},
    {CS_CONNECT_RESOURCE_EXHAUSTED, "resource_exhausted", 429},
    {CS_CONNECT_FAILED_PRECONDITION, "failed_precondition", 400},
    {CS_CONNECT_ABORTED, "aborted", 409},
    {CS_CONNECT_OUT_OF_RANGE, "out_of_range", 400},
    {CS_CONNECT_UNIMPLEMENTED, "unimplemented", 501},
    {CS_CONNECT_INTERNAL, "internal", 500},
    {CS_CONNECT_UNAVAILABLE, "unavailable", 503},
    {CS_CONNECT_DATA_LOSS, "data_loss", 500},
    {CS_CONNECT_UNAUTHENTICATED, "unauthenticated", 401},
};

Test(records_wire, connect_codes) {
    cr_assert_eq(sizeof code_cases / sizeof code_cases[0], 16);
    for (size_t i = 0; i < 16; i++) {
        cr_assert_eq((int)code_cases[i].code, (int)i + 1);
        cr_assert_str_eq(cs_connect_word(code_cases[i].code), code_cases[i].word);
        cr_assert_eq(cs_connect_parse(cs_view_of(code_cases[i].word)), code_cases[i].code);
        cr_assert_eq(cs_connect_http_status(code_cases[i].code), code_cases[i].status, "%s", code_cases[i].word);
    }
    const char *const others[] = {"", "Unknown", "cancelled", "ok", "unknown "};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_assert_eq(cs_connect_parse(cs_view_of(others[i])), CS_CONNECT_NONE, "%s", others[i]);
    cr_assert_eq(cs_connect_parse(cs_view_bytes("aborted\0", 8)), CS_CONNECT_NONE);
    cr_assert_str_eq(cs_connect_word(CS_CONNECT_NONE), "");
    cr_assert_str_eq(cs_connect_word((cs_connect_code)17), "");
    cr_assert_eq(cs_connect_http_status((cs_connect_code)-1), 500);
}

Test(records_wire, http_statuses_of_bodies_that_are_no_connect_error) {
    const struct {
        int status;
        cs_connect_code code;
    } cases[] = {
        {400, CS_CONNECT_INTERNAL},      {401, CS_CONNECT_UNAUTHENTICATED}, {403, CS_CONNECT_PERMISSION_DENIED},
        {404, CS_CONNECT_UNIMPLEMENTED}, {429, CS_CONNECT_UNAVAILABLE},     {502, CS_CONNECT_UNAVAILABLE},
        {503, CS_CONNECT_UNAVAILABLE},   {504, CS_CONNECT_UNAVAILABLE},     {500, CS_CONNECT_UNKNOWN},
        {200, CS_CONNECT_UNKNOWN},       {301, CS_CONNECT_UNKNOWN},         {0, CS_CONNECT_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_assert_eq(cs_connect_from_http(cases[i].status), cases[i].code, "%d", cases[i].status);
}

Test(records_wire, reasons) {
    const struct {
        const char *word;
        bool elsewhere;
    } cases[] = {{"request", false},  {"permission", false}, {"protocol", false},  {"unsupported", true},
                 {"isolation", true}, {"capacity", true},    {"environment", true}};
    for (int i = 0; i < 7; i++) {
        cs_reason reason = (cs_reason)(i + 1);
        cr_assert_str_eq(cs_reason_word(reason), cases[i].word);
        cr_assert_eq(cs_reason_parse(cs_view_of(cases[i].word)), reason);
        cr_assert_eq(cs_reason_elsewhere(reason), cases[i].elsewhere, "%s", cases[i].word);
    }
    const int others[] = {0, 8, -1, 1 << 30};
    for (size_t i = 0; i < 4; i++) {
        cr_assert_str_eq(cs_reason_word((cs_reason)others[i]), "unspecified");
        cr_assert_not(cs_reason_elsewhere((cs_reason)others[i]));
    }
    cr_assert_eq((int)cs_reason_parse(cs_view_of("unspecified")), 0);
    cr_assert_eq((int)cs_reason_parse(cs_view_of("Capacity")), 0);
    cr_assert_eq((int)cs_reason_parse(cs_view_of("")), 0);
}

/* ---- error bodies --------------------------------------------------------------------------------- */

static cs_connect_error error_of(const char *body) {
    cs_connect_error error;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_connect_error_read(cs_view_of(body), &error, &err), CS_OK, "%s: %s", body, err.message);
    return error;
}

Test(records_wire, an_error_without_details) {
    cs_connect_error error = error_of(" {\"code\":\"internal\",\"message\":\"it broke\"}\n");
    cr_assert_eq(error.code, CS_CONNECT_INTERNAL);
    cr_assert(cs_view_is(cs_buf_view(&error.message), "it broke"));
    cr_assert_not(error.marked);
    cr_assert_eq((int)error.reason, 0);
    cs_connect_error_free(&error);
    error = error_of("{\"code\":\"aborted\"}");
    cr_assert_eq(error.message.len, 0);
    cs_connect_error_free(&error);
}

typedef struct detail_case {
    const char *details;
    bool marked;
    int reason;
} detail_case;

#define T "\"type\":\"plimsoll.v1.NotDispatched\""

/* CAY is {reason: 6}. Each that is no mark differs from the first in one thing. */
static const detail_case detail_cases[] = {
    {"[{" T ",\"value\":\"CAY\"}]", true, 6},
    {"[{" T ",\"value\":\"CAY=\"}]", true, 6},
    {"[{\"type\":\"type.googleapis.com/plimsoll.v1.NotDispatched\",\"value\":\"CAY\"}]", true, 6},
    {"[{\"type\":\"a/b/plimsoll.v1.NotDispatched\",\"value\":\"CAY\"}]", true, 6},
    {"[{" T ",\"value\":\"\"}]", true, 0},        /* a mark without a reason */
    {"[{" T ",\"value\":\"CGM\"}]", true, 99},    /* a reason that is not listed */
    {"[{" T ",\"value\":\"CAaYBgE\"}]", true, 6}, /* with an unknown field */
    {"[{\"value\":\"CAY\"," T ",\"debug\":{\"reason\":1}}]", true, 6},
    {"[{" T ",\"value\":\"CAY=\\n\"}]", false, 0}, /* no base64 */
    {"[{" T ",\"value\":\"CA\"}]", false, 0},      /* no message: the number is missing */
    {"[{" T ",\"value\":6}]", false, 0},
    {"[{" T "}]", false, 0},
    {"[{\"value\":\"CAY\"}]", false, 0},
    {"[{\"type\":\"plimsoll.v1.SessionEnded\",\"value\":\"CAY\"}]", false, 0},
    {"[{\"type\":\"plimsoll.v2.NotDispatched\",\"value\":\"CAY\"}]", false, 0},
    {"[{\"type\":\"plimsoll.v1.NotDispatched/\",\"value\":\"CAY\"}]", false, 0},
    {"[{\"type\":\"xplimsoll.v1.NotDispatched\",\"value\":\"CAY\"}]", false, 0},
    {"[{\"type\":\"plimsoll.v1.NotDispatched\\u0000\",\"value\":\"CAY\"}]", false, 0},
    {"[]", false, 0},
    {"{" T ",\"value\":\"CAY\"}", false, 0}, /* no list */
    {"null", false, 0},
    {"[1,null,\"x\",[],{" T ",\"value\":\"!\"},{" T ",\"value\":\"CAI\"}]", true, 2}, /* ignored ones before */
    {"[{" T ",\"value\":\"CAI\"},{" T ",\"value\":\"CAY\"}]", true, 2},               /* the first counts */
};

Test(records_wire, marks_in_details) {
    for (size_t i = 0; i < sizeof detail_cases / sizeof detail_cases[0]; i++) {
        char body[400];
        snprintf(body, sizeof body, "{\"code\":\"unavailable\",\"message\":\"m\",\"details\":%s}",
                 detail_cases[i].details);
        cs_connect_error error = error_of(body);
        cr_assert_eq(error.code, CS_CONNECT_UNAVAILABLE);
        cr_assert_eq(error.marked, detail_cases[i].marked, "%s", body);
        cr_assert_eq((int)error.reason, detail_cases[i].reason, "%s", body);
        cs_connect_error_free(&error);
    }
}

static void expect_none(cs_view body) {
    cs_connect_error error;
    cs_error err = CS_ERROR_INIT;
    EXPECT_CODE(cs_connect_error_read(body, &error, &err), err, CS_FAILED, CS_CODE_JSON_MALFORMED);
    cr_assert_eq(error.code, CS_CONNECT_NONE);
    cr_assert_not(error.marked);
    cr_assert_null(error.message.ptr);
}

Test(records_wire, what_is_no_connect_error) {
    const char *const bodies[] = {
        "",
        "not json",
        "[]",
        "null",
        "\"internal\"",
        "{}",
        "{\"message\":\"m\"}",
        "{\"code\":\"Internal\",\"message\":\"m\"}",
        "{\"code\":13,\"message\":\"m\"}",
        "{\"code\":\"internal\",\"message\":7}",
        "{\"code\":\"internal\",\"code\":\"internal\"}",
        "{\"code\":\"internal\"} x",
        "{\"code\":\"internal\"",
        "<html>502</html>",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        expect_none(cs_view_of(bodies[i]));
    expect_none(cs_view_bytes(NULL, 0));
    expect_none(cs_view_bytes("{\"code\":\"internal\"}\0", 20));
    expect_none(cs_view_of("{\"code\":\"internal\",\"message\":\"\xff\"}"));
}

/* What is passed over must still be JSON. Each has the mark behind it, which is read all the same, or nothing is. */
Test(records_wire, what_is_passed_over) {
    static const struct {
        const char *text;
        bool good;
    } values[] = {
        {"null", true},
        {"true", true},
        {"nul", false},
        {"-1.5e+3", true},
        {"01", false},
        {"+1", false},
        {"1e999", true},
        {"\"a\\u0000\\ud83d\\ude00\"", true},
        {"\"a\\ud83d\"", false},
        {"\"a\x01\"", false},
        {"[]", true},
        {"{}", true},
        {"[1,\"}\",[{}],{\"a\":{\"b\":[]},\"c\":null}]", true},
        {"[1,]", false},
        {"[,1]", false},
        {"[1 2]", false},
        {"[1}", false},
        {"{\"a\"}", false},
        {"{\"a\":}", false},
        {"{\"a\":1,}", false},
        {"{\"a\" 1}", false},
        {"{a:1}", false},
        {"{1:1}", false},
        {"{\"a\":1]", false},
        {"[", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char body[300];
        (void)snprintf(body, sizeof body,
                       "{\"new\" : %s , \"code\":\"internal\",\"details\":[%s,{\"new\":%s," T ",\"value\":\"CAE\"}]}",
                       values[i].text, values[i].text, values[i].text);
        if (!values[i].good) {
            expect_none(cs_view_of(body));
            continue;
        }
        cs_connect_error error = error_of(body);
        cr_expect(error.marked, "%s", body);
        cs_connect_error_free(&error);
    }
}

Test(records_wire, members_that_count_stand_there_once) {
    cs_connect_error error = error_of("{\"new\":1,\"new\":2,\"c\\u006fde\":\"internal\"}");
    cr_expect_eq(error.code, CS_CONNECT_INTERNAL);
    cs_connect_error_free(&error);
    expect_none(cs_view_of("{\"code\":\"internal\",\"c\\u006fde\":\"internal\"}"));
    expect_none(cs_view_of("{\"code\":\"internal\",\"message\":\"\",\"message\":\"\"}"));
    expect_none(cs_view_of("{\"code\":\"internal\",\"details\":[],\"details\":[]}"));
    expect_none(cs_view_of("{\"code\":\"internal\",\"details\":[{" T "," T ",\"value\":\"CAE\"}]}"));
    expect_none(cs_view_of("{\"code\":\"internal\",\"details\":[{" T ",\"value\":\"CAE\",\"value\":\"CAE\"}]}"));
    expect_none(cs_view_of("{\"code\":\"internal\",\"details\":[{" T ",\"value\":\"CAE\",\"value\":7}]}"));
    expect_none(cs_view_of("{\"code\":\"internal\",\"message\":null}"));
    expect_none(cs_view_of("{\"code\":\"internal\",}"));
    expect_none(cs_view_of("{,\"code\":\"internal\"}"));
    expect_none(cs_view_of("{\"code\":\"internal\" \"message\":\"\"}"));
}

Test(records_wire, what_is_passed_over_is_not_nested_too_deeply) {
    char body[700];
    for (int depth = 256; depth <= 257; depth++) {
        int len = snprintf(body, sizeof body, "{\"code\":\"internal\",\"x\":");
        memset(body + len, '[', (size_t)depth);
        memset(body + len + depth, ']', (size_t)depth);
        (void)snprintf(body + len + 2 * (size_t)depth, 2, "}");
        if (depth == 257) {
            expect_none(cs_view_of(body));
            continue;
        }
        cs_connect_error error = error_of(body);
        cs_connect_error_free(&error);
    }
}

/* 64 KiB of a detail: field 2, a text, which SessionEnded has and NotDispatched has not. */
Test(records_wire, a_detail_that_is_too_long_is_none) {
    for (int more = 0; more <= 4; more += 4) {
        const size_t digits = 87384 + (size_t)more;
        cs_buf body = CS_BUF_INIT(100000);
        cr_assert(cs_buf_text(&body, "{\"code\":\"internal\",\"details\":[{\"type\":\"plimsoll.v1.SessionEnded\","
                                     "\"value\":\""));
        /* CAIS is 08 02 12; then the length as a varint of three bytes, and that many letters U (VVVV). */
        const size_t letters = digits / 4 * 3 - 6;
        const uint8_t length[3] = {(uint8_t)(0x80 | (letters & 0x7f)), (uint8_t)(0x80 | (letters >> 7 & 0x7f)),
                                   (uint8_t)(letters >> 14)};
        cr_assert(cs_buf_text(&body, "CAIS") && cs_base64_append(&body, cs_view_bytes(length, 3)));
        for (size_t i = 8; i < digits; i += 4)
            cr_assert(cs_buf_text(&body, "VVVV"));
        cr_assert(cs_buf_text(&body, "\"}]}"));
        cs_connect_error error;
        cr_assert_eq(cs_connect_error_read(cs_buf_view(&body), &error, NULL), CS_OK);
        cr_expect_eq(error.ended, more == 0);
        cr_expect_eq(error.end_detail.len, more == 0 ? CS_MAX_ERROR_MESSAGE : 0);
        cs_connect_error_free(&error);
        cs_buf_free(&body);
    }
}

Test(records_wire, a_long_message_is_cut_between_characters) {
    char body[CS_MAX_ERROR_MESSAGE + 100];
    int head = snprintf(body, sizeof body, "{\"code\":\"internal\",\"message\":\"");
    memset(body + head, 'm', CS_MAX_ERROR_MESSAGE);
    snprintf(body + head + CS_MAX_ERROR_MESSAGE, 10, "\"}");
    cs_connect_error error = error_of(body);
    cr_assert_eq(error.message.len, CS_MAX_ERROR_MESSAGE);
    cs_connect_error_free(&error);

    /* The euro sign reaches over the edge by one byte. */
    snprintf(body + head + CS_MAX_ERROR_MESSAGE - 2, 10, "\xe2\x82\xac\"}");
    error = error_of(body);
    cr_assert_eq(error.message.len, CS_MAX_ERROR_MESSAGE - 2);
    cs_connect_error_free(&error);
}

Test(records_wire, a_body_over_the_limit_is_no_connect_error) {
    const char *head = "{\"code\":\"internal\"}";
    char *body = malloc(CS_MAX_ERROR_BODY + 1);
    cr_assert_not_null(body);
    memset(body, ' ', CS_MAX_ERROR_BODY + 1);
    memcpy(body, head, strlen(head));
    cs_connect_error error;
    cr_assert_eq(cs_connect_error_read(cs_view_bytes(body, CS_MAX_ERROR_BODY), &error, NULL), CS_OK);
    cs_connect_error_free(&error);
    expect_none(cs_view_bytes(body, CS_MAX_ERROR_BODY + 1));
    free(body);
}

Test(records_wire, a_message_with_a_nul_keeps_its_mark) {
    cs_connect_error error = error_of("{\"code\":\"invalid_argument\",\"message\":\"a\\u0000b\","
                                      "\"details\":[{" T ",\"value\":\"CAE\"}]}");
    cr_assert(cs_view_equal(cs_buf_view(&error.message), cs_view_bytes("a\0b", 3)));
    cr_assert(error.marked);
    cr_assert_eq((int)error.reason, 1);
    cs_connect_error_free(&error);
}

/* ---- the details of a session --------------------------------------------------------------------- */

/* SessionEnded{reason: 2, detail: "idle"}; UnansweredCall{record: {version: 3}}; NotDispatched{reason: 1}. */
#define ENDED "{\"type\":\"type.googleapis.com/plimsoll.v1.SessionEnded\",\"value\":\"CAISBGlkbGU\"}"
#define UNANSWERED(value) "{\"type\":\"plimsoll.v1.UnansweredCall\",\"value\":\"" value "\"}"
#define MARKED "{" T ",\"value\":\"CAE\"}"
#define DETAILS(list) "{\"code\":\"internal\",\"details\":[" list "]}"

Test(records_wire, the_end_of_a_session_is_read) {
    cs_connect_error error = error_of(DETAILS(MARKED "," ENDED));
    cr_assert(error.marked);
    cr_assert(error.ended);
    cr_expect_eq((int)error.end, 2);
    cr_expect(cs_view_is(cs_buf_view(&error.end_detail), "idle"));
    cr_expect_null(error.unanswered);
    cs_connect_error_free(&error);
    cr_expect_not(error.ended);

    error = error_of(DETAILS("{\"type\":\"plimsoll.v1.SessionEnd\",\"value\":\"CAISBGlkbGU\"}"));
    cr_expect_not(error.ended);
    cs_connect_error_free(&error);
}

Test(records_wire, the_record_of_an_unanswered_call_is_read) {
    cs_connect_error error = error_of(DETAILS(UNANSWERED("CgIIAw==")));
    cr_assert_not_null(error.unanswered);
    cr_expect_eq(error.unanswered->version, 3);
    cr_expect_not(error.marked);
    cr_expect_not(error.ended);
    cs_connect_error_free(&error);
    cr_expect_null(error.unanswered);

    /* Without a record; bytes that are none; the first that has one counts. */
    error = error_of(DETAILS(UNANSWERED("") "," UNANSWERED("CgII") "," UNANSWERED("CgIIAw") "," UNANSWERED("CgIIAg")));
    cr_assert_not_null(error.unanswered);
    cr_expect_eq(error.unanswered->version, 3);
    cs_connect_error_free(&error);
    error = error_of(DETAILS(UNANSWERED("") "," UNANSWERED("CgII")));
    cr_expect_null(error.unanswered);
    cs_connect_error_free(&error);
}

Test(records_wire, every_end_has_its_word) {
    static const char *const words[] = {"unspecified",        "closed",          "expired",         "disk-exceeded",
                                        "main-process-ended", "boundary-failed", "sandbox-changed", "shutdown",
                                        "replaced",           "not-found",       "unclaimed"};
    for (int i = 0; i < 11; i++)
        cr_expect_str_eq(cs_session_end_word((cs_session_end)i), words[i]);
    cr_expect_str_eq(cs_session_end_word((cs_session_end)11), "unspecified");
    cr_expect_str_eq(cs_session_end_word((cs_session_end)-1), "unspecified");
}

/* ---- writing -------------------------------------------------------------------------------------- */

static void written(cs_connect_code code, const char *message, int reason, const char *expected) {
    cs_buf out = CS_BUF_INIT(1000);
    cr_assert(cs_connect_error_write(code, message, (cs_reason)reason, &out));
    cr_assert(cs_view_is(cs_buf_view(&out), expected), "%.*s", (int)out.len, (const char *)out.ptr);
    cs_buf_free(&out);
}

Test(records_wire, error_bodies_are_written_exactly) {
    written(CS_CONNECT_INTERNAL, "it broke", 0, "{\"code\":\"internal\",\"message\":\"it broke\"}");
    written(CS_CONNECT_RESOURCE_EXHAUSTED, "a \"b\" <c>", 6,
            "{\"code\":\"resource_exhausted\",\"message\":\"a \\\"b\\\" \\u003cc\\u003e\",\"details\":[{" T
            ",\"value\":\"CAY\"}]}");
    written(CS_CONNECT_INVALID_ARGUMENT, "\xff", 1,
            "{\"code\":\"invalid_argument\",\"message\":\"\\\\xff\",\"details\":[{" T ",\"value\":\"CAE\"}]}");
}

Test(records_wire, a_full_buffer_is_left_as_it_was) {
    const size_t need = strlen("{\"code\":\"internal\",\"message\":\"m\"}");
    cs_buf exact = CS_BUF_INIT(need + 1);
    cr_assert(cs_buf_byte(&exact, 'x'));
    cr_assert(cs_connect_error_write(CS_CONNECT_INTERNAL, "m", (cs_reason)0, &exact));
    cs_buf_free(&exact);
    cs_buf less = CS_BUF_INIT(need);
    cr_assert(cs_buf_byte(&less, 'x'));
    cr_assert_not(cs_connect_error_write(CS_CONNECT_INTERNAL, "m", (cs_reason)0, &less));
    cr_assert(cs_view_is(cs_buf_view(&less), "x"));
    cs_buf_free(&less);
}
