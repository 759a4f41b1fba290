#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "records/protojson.h"

#define REQUEST (&plimsoll__v1__run_request__descriptor)
#define RESPONSE (&plimsoll__v1__run_response__descriptor)

static void *read_ok(const ProtobufCMessageDescriptor *type, const char *json) {
    ProtobufCMessage *message;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_protojson_read(type, cs_view_of(json), &message, &err);
    cr_assert_eq(result, CS_OK, "%s: %s: %s (%s)", json, cs_code_name(err.code), err.message, err.where);
    return message;
}

static void expect_refused(const ProtobufCMessageDescriptor *type, const char *json, cs_code code, const char *where) {
    ProtobufCMessage *message = (void *)(uintptr_t)1;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_protojson_read(type, cs_view_of(json), &message, &err), CS_FAILED, "%s", json);
    cr_expect_eq(err.code, code, "%s: found %s: %s", json, cs_code_name(err.code), err.message);
    cr_expect_str_eq(err.where, where, "%s: found %s", json, err.where);
    cr_expect_null(message);
}

static void expect_written(const void *message, const char *expected) {
    cs_buf out = CS_BUF_INIT(1u << 20);
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_protojson_write(message, &out, &err), CS_OK, "%s", err.message);
    cr_expect(cs_view_is(cs_buf_view(&out), expected), "expected %s\nfound    %.*s", expected, (int)out.len,
              (const char *)out.ptr);
    cs_buf_free(&out);
}

static bool text_is(ProtobufCBinaryData field, const char *expected) {
    return cs_view_is(cs_bytes_view(&field), expected);
}

/* ---- reading -------------------------------------------------------------------------------------- */

Test(protojson, a_request_is_read) {
    cs_run_request *request = read_ok(REQUEST, " {\n\t\"protocol\" : 3,\r\"minimumIsolation\":\"kernel\",\"trace_id\":"
                                               "\"t\",\"timeoutMs\":-5,\"softwareRule\":{\"mode\":\"approved\","
                                               "\"identities\":[\"a\",\"b\"]},\"project\":{\"files\":[{\"path\":\"p\","
                                               "\"content\":\"x\\u0000\\ud83d\\ude00\"},{}],\"steps\":[\"s\",\"\"],"
                                               "\"grantProfile\":\"g\"}} ");
    cr_expect_eq(request->protocol, 3);
    cr_expect(text_is(request->minimum_isolation, "kernel"));
    cr_expect(text_is(request->trace_id, "t"));
    cr_expect_eq(request->timeout_ms, -5);
    cr_expect(text_is(request->software_rule->mode, "approved"));
    cr_assert_eq(request->software_rule->n_identities, 2);
    cr_expect(text_is(request->software_rule->identities[1], "b"));
    cr_assert_eq(request->payload_case, PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT);
    cr_assert_eq(request->project->n_files, 2);
    cr_expect(
        cs_view_equal(cs_bytes_view(&request->project->files[0]->content), cs_view_bytes("x\0\xf0\x9f\x98\x80", 6)));
    cr_expect(text_is(request->project->files[1]->path, ""));
    cr_assert_eq(request->project->n_steps, 2);
    cr_expect_eq(request->project->steps[1].len, 0);
    cr_expect_eq(request->project->n_artifacts, 0);
    cr_expect(text_is(request->project->grant_profile, "g"));
    cs_message_free(request);
}

Test(protojson, a_response_is_read) {
    cs_run_response *response =
        read_ok(RESPONSE, "{\"durationMs\":\"-9223372036854775808\",\"record\":{\"sequence\":\"18446744073709551615\","
                          "\"startedUnixMs\":9007199254740993,\"endedUnixMs\":1e3},\"javascript\":{\"stdout\":\"/3g=\","
                          "\"stderr\":\"_3g\",\"exitCode\":-2147483648,\"timedOut\":true,\"stdoutTruncated\":false}}");
    cr_expect_eq(response->duration_ms, INT64_MIN);
    cr_expect_eq(response->record->sequence, UINT64_MAX);
    cr_expect_eq(response->record->started_unix_ms, 9007199254740993);
    cr_expect_eq(response->record->ended_unix_ms, 1000);
    cr_expect(text_is(response->javascript->stdout, "\xffx"));
    cr_expect(text_is(response->javascript->stderr, "\xffx"));
    cr_expect_eq(response->javascript->exit_code, INT32_MIN);
    cr_expect(response->javascript->timed_out);
    cs_message_free(response);
}

Test(protojson, null_is_not_set) {
    cs_run_request *request = read_ok(REQUEST, "{\"protocol\":null,\"traceId\":null,\"softwareRule\":null,"
                                               "\"javascript\":null,\"module\":{\"rows\":null}}");
    cr_expect_eq(request->protocol, 0);
    cr_expect_null(request->software_rule);
    cr_expect_eq(request->payload_case, PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE);
    cr_expect_eq(request->module->n_rows, 0);
    cs_message_free(request);
}

Test(protojson, enums_by_name_or_number) {
    static const struct {
        const char *json;
        int outcome;
    } cases[] = {
        {"{\"outcome\":\"PROJECT_OUTCOME_TIMED_OUT\"}", 3},
        {"{\"outcome\":3}", 3},
        {"{\"outcome\":77}", 77},
        {"{\"outcome\":-1}", -1},
        {"{\"outcome\":null}", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Plimsoll__V1__ProjectResult *result = read_ok(&plimsoll__v1__project_result__descriptor, cases[i].json);
        cr_expect_eq((int)result->outcome, cases[i].outcome, "%s", cases[i].json);
        cs_message_free(result);
    }
}

Test(protojson, doubles) {
    static const uint64_t expected[] = {
        0x8000000000000000u, 0x7ff8000000000000u, 0x7ff0000000000000u, 0xfff0000000000000u,
        0x3ff8000000000000u, 0x8000000000000000u, 0x4340000000000000u, 0,
    };
    Plimsoll__V1__ModuleRow *row = read_ok(&plimsoll__v1__module_row__descriptor,
                                           "{\"values\":[-0,\"NaN\",\"Infinity\",\"-Infinity\",\"1.5\",\"-0\","
                                           "9007199254740993,0]}");
    cr_assert_eq(row->n_values, sizeof expected / sizeof *expected);
    cr_expect_eq(memcmp(row->values, expected, sizeof expected), 0);
    cs_message_free(row);
}

typedef struct refusal {
    const char *json;
    cs_code code;
    const char *where;
} refusal;

static void expect_all(const ProtobufCMessageDescriptor *type, const refusal *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        expect_refused(type, cases[i].json, cases[i].code, cases[i].where);
}

#define EXPECT_ALL(type, cases) expect_all(type, cases, sizeof(cases) / sizeof *(cases))

Test(protojson, unknown_and_repeated_members) {
    static const refusal cases[] = {
        {"{\"x\":1}", CS_CODE_JSON_UNKNOWN_MEMBER, "x"},
        {"{\"Protocol\":1}", CS_CODE_JSON_UNKNOWN_MEMBER, "Protocol"},
        {"{\"trace_Id\":\"\"}", CS_CODE_JSON_UNKNOWN_MEMBER, "trace_Id"},
        {"{\"traceID\":\"\"}", CS_CODE_JSON_UNKNOWN_MEMBER, "traceID"},
        {"{\"\":1}", CS_CODE_JSON_UNKNOWN_MEMBER, ""},
        {"{\"a\\u001bb\":1}", CS_CODE_JSON_UNKNOWN_MEMBER, "a\\x1bb"},
        {"{\"project\":{\"files\":[{},{},{},{\"pathh\":\"\"}]}}", CS_CODE_JSON_UNKNOWN_MEMBER,
         "project.files[3].pathh"},
        {"{\"protocol\":1,\"protocol\":1}", CS_CODE_JSON_REPEATED_MEMBER, "protocol"},
        {"{\"protocol\":1,\"\\u0070rotocol\":1}", CS_CODE_JSON_REPEATED_MEMBER, "protocol"},
        {"{\"traceId\":\"\",\"trace_id\":\"\"}", CS_CODE_JSON_REPEATED_MEMBER, "trace_id"},
        {"{\"traceId\":null,\"traceId\":\"\"}", CS_CODE_JSON_REPEATED_MEMBER, "trace_id"},
        {"{\"javascript\":{},\"project\":{}}", CS_CODE_JSON_REPEATED_MEMBER, "project"},
    };
    EXPECT_ALL(REQUEST, cases);
}

Test(protojson, wrong_types) {
    static const refusal cases[] = {
        {"[]", CS_CODE_JSON_TYPE, ""},
        {"1", CS_CODE_JSON_TYPE, ""},
        {"null", CS_CODE_JSON_TYPE, ""},
        {"{\"protocol\":true}", CS_CODE_JSON_TYPE, "protocol"},
        {"{\"protocol\":\"\"}", CS_CODE_JSON_TYPE, "protocol"},
        {"{\"protocol\":\" 1\"}", CS_CODE_JSON_TYPE, "protocol"},
        {"{\"protocol\":\"1 \"}", CS_CODE_JSON_TYPE, "protocol"},
        {"{\"protocol\":\"+1\"}", CS_CODE_JSON_TYPE, "protocol"},
        {"{\"protocol\":\"01\"}", CS_CODE_JSON_TYPE, "protocol"},
        {"{\"protocol\":\"0x1\"}", CS_CODE_JSON_TYPE, "protocol"},
        {"{\"traceId\":1}", CS_CODE_JSON_TYPE, "trace_id"},
        {"{\"traceId\":[]}", CS_CODE_JSON_TYPE, "trace_id"},
        {"{\"softwareRule\":\"\"}", CS_CODE_JSON_TYPE, "software_rule"},
        {"{\"softwareRule\":{\"identities\":\"a\"}}", CS_CODE_JSON_TYPE, "software_rule.identities"},
        {"{\"softwareRule\":{\"identities\":{}}}", CS_CODE_JSON_TYPE, "software_rule.identities"},
        {"{\"softwareRule\":{\"identities\":[\"a\",null]}}", CS_CODE_JSON_TYPE, "software_rule.identities[1]"},
        {"{\"project\":{\"files\":[null]}}", CS_CODE_JSON_TYPE, "project.files[0]"},
        {"{\"module\":{\"rows\":[{\"values\":[1,null]}]}}", CS_CODE_JSON_TYPE, "module.rows[0].values[1]"},
        {"{\"module\":{\"step\":\"nan\"}}", CS_CODE_JSON_TYPE, "module.step"},
        {"{\"module\":{\"step\":\"1.\"}}", CS_CODE_JSON_TYPE, "module.step"},
        {"{\"module\":{\"step\":false}}", CS_CODE_JSON_TYPE, "module.step"},
    };
    EXPECT_ALL(REQUEST, cases);
    expect_refused(RESPONSE, "{\"javascript\":{\"timedOut\":1}}", CS_CODE_JSON_TYPE, "javascript.timed_out");
    expect_refused(RESPONSE, "{\"javascript\":{\"timedOut\":\"true\"}}", CS_CODE_JSON_TYPE, "javascript.timed_out");
    expect_refused(RESPONSE, "{\"javascript\":{\"stdout\":\"a\"}}", CS_CODE_JSON_TYPE, "javascript.stdout");
    expect_refused(RESPONSE, "{\"javascript\":{\"stdout\":\"+_8=\"}}", CS_CODE_JSON_TYPE, "javascript.stdout");
    expect_refused(RESPONSE, "{\"project\":{\"outcome\":true}}", CS_CODE_JSON_TYPE, "project.outcome");
}

Test(protojson, ranges) {
    static const refusal cases[] = {
        {"{\"protocol\":-1}", CS_CODE_JSON_RANGE, "protocol"},
        {"{\"protocol\":4294967296}", CS_CODE_JSON_RANGE, "protocol"},
        {"{\"protocol\":1.5}", CS_CODE_JSON_RANGE, "protocol"},
        {"{\"protocol\":\"1.5\"}", CS_CODE_JSON_RANGE, "protocol"},
        {"{\"timeoutMs\":2147483648}", CS_CODE_JSON_RANGE, "timeout_ms"},
        {"{\"timeoutMs\":-2147483649}", CS_CODE_JSON_RANGE, "timeout_ms"},
        {"{\"module\":{\"step\":1e400}}", CS_CODE_JSON_RANGE, "module.step"},
        {"{\"module\":{\"step\":\"-1e400\"}}", CS_CODE_JSON_RANGE, "module.step"},
    };
    EXPECT_ALL(REQUEST, cases);
    cs_message_free(read_ok(REQUEST, "{\"protocol\":4294967295,\"timeoutMs\":2147483647}"));
    cs_message_free(read_ok(REQUEST, "{\"protocol\":\"4294967295\",\"timeoutMs\":-2147483648}"));
    expect_refused(RESPONSE, "{\"durationMs\":\"9223372036854775808\"}", CS_CODE_JSON_RANGE, "duration_ms");
    expect_refused(RESPONSE, "{\"durationMs\":\"-9223372036854775809\"}", CS_CODE_JSON_RANGE, "duration_ms");
    expect_refused(RESPONSE, "{\"record\":{\"sequence\":\"18446744073709551616\"}}", CS_CODE_JSON_RANGE,
                   "record.sequence");
    expect_refused(RESPONSE, "{\"record\":{\"sequence\":\"-1\"}}", CS_CODE_JSON_RANGE, "record.sequence");
    expect_refused(RESPONSE, "{\"project\":{\"outcome\":\"COMPLETED\"}}", CS_CODE_JSON_RANGE, "project.outcome");
    expect_refused(RESPONSE, "{\"project\":{\"outcome\":2147483648}}", CS_CODE_JSON_RANGE, "project.outcome");
}

Test(protojson, malformed_text) {
    static const refusal cases[] = {
        {"", CS_CODE_JSON_MALFORMED, "line 1, column 1"},
        {" \n ", CS_CODE_JSON_MALFORMED, "line 2, column 2"},
        {"\xef\xbb\xbf{}", CS_CODE_JSON_MALFORMED, "line 1, column 1"},
        {"{", CS_CODE_JSON_MALFORMED, "line 1, column 2"},
        {"{}x", CS_CODE_JSON_MALFORMED, "line 1, column 3"},
        {"{}{}", CS_CODE_JSON_MALFORMED, "line 1, column 3"},
        {"{,}", CS_CODE_JSON_MALFORMED, "line 1, column 2"},
        {"{\"protocol\":1,}", CS_CODE_JSON_MALFORMED, "line 1, column 15"},
        {"{\"protocol\" 1}", CS_CODE_JSON_MALFORMED, "line 1, column 13"},
        {"{\"protocol\":}", CS_CODE_JSON_MALFORMED, "line 1, column 13"},
        {"{\"protocol\":01}", CS_CODE_JSON_MALFORMED, "line 1, column 15"},
        {"{\"protocol\":+1}", CS_CODE_JSON_MALFORMED, "line 1, column 13"},
        {"{\"protocol\":1.}", CS_CODE_JSON_MALFORMED, "line 1, column 15"},
        {"{\"protocol\":NaN}", CS_CODE_JSON_MALFORMED, "line 1, column 13"},
        {"{\"protocol\":nul}", CS_CODE_JSON_MALFORMED, "line 1, column 13"},
        {"{\"protocol\":1 \"traceId\":\"\"}", CS_CODE_JSON_MALFORMED, "line 1, column 15"},
        {"{\"traceId\":\"a\nb\"}", CS_CODE_JSON_MALFORMED, "line 1, column 14"},
        {"{\n\"traceId\":\"a}", CS_CODE_JSON_MALFORMED, "line 2, column 14"},
        {"{\"traceId\":\"\\q\"}", CS_CODE_JSON_MALFORMED, "line 1, column 14"},
        {"{\"traceId\":\"\\ud83d\"}", CS_CODE_JSON_MALFORMED, "line 1, column 19"},
        {"{\"traceId\":\"\\ud83d\\ud83d\"}", CS_CODE_JSON_MALFORMED, "line 1, column 25"},
        {"{\"traceId\":\"\\ud83d\\u0041\"}", CS_CODE_JSON_MALFORMED, "line 1, column 25"},
        {"{\"traceId\":\"\\ude00\"}", CS_CODE_JSON_MALFORMED, "line 1, column 19"},
        {"{\"traceId\":\"\xff\"}", CS_CODE_JSON_MALFORMED, "line 1, column 14"},
        {"{traceId:1}", CS_CODE_JSON_MALFORMED, "line 1, column 2"},
        {"{'traceId':1}", CS_CODE_JSON_MALFORMED, "line 1, column 2"},
        {"{\"softwareRule\":{\"identities\":[\"a\",]}}", CS_CODE_JSON_MALFORMED, "line 1, column 36"},
        {"{\"softwareRule\":{\"identities\":[\"a\"}}", CS_CODE_JSON_MALFORMED, "line 1, column 35"},
        {"{}\n// a comment", CS_CODE_JSON_MALFORMED, "line 2, column 1"},
    };
    EXPECT_ALL(REQUEST, cases);
    ProtobufCMessage *message;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_protojson_read(REQUEST, cs_view_bytes("{}\0", 3), &message, &err), CS_FAILED);
    cr_expect_eq(err.code, CS_CODE_JSON_MALFORMED);
}

/* Deep nesting can't exhaust the stack: what no field expects is refused where it begins. */
Test(protojson, deep_nesting) {
    size_t len = 1u << 20;
    char *json = malloc(len + 1);
    cr_assert(json);
    memset(json, '[', len);
    json[len] = '\0';
    expect_refused(REQUEST, json, CS_CODE_JSON_TYPE, "");
    memcpy(json, "{\"project\":{\"files\":[", 21);
    expect_refused(REQUEST, json, CS_CODE_JSON_TYPE, "project.files[0]");
    free(json);
}

/* ---- writing -------------------------------------------------------------------------------------- */

Test(protojson, defaults_are_left_out) {
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    expect_written(&request, "{}");
    Plimsoll__V1__JavaScriptRun javascript = PLIMSOLL__V1__JAVA_SCRIPT_RUN__INIT;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    request.javascript = &javascript;
    expect_written(&request, "{\"javascript\":{}}");
    Plimsoll__V1__ModuleRun module = PLIMSOLL__V1__MODULE_RUN__INIT;
    expect_written(&module, "{}");
    module.step = -0.0;
    expect_written(&module, "{\"step\":-0}");
}

Test(protojson, every_type_is_written) {
    uint8_t text[] = "<\n\xc3\xa4>";
    uint8_t raw[] = {0xff, 0xfe, 0x00};
    Plimsoll__V1__JavaScriptResult javascript = PLIMSOLL__V1__JAVA_SCRIPT_RESULT__INIT;
    javascript.stdout = (ProtobufCBinaryData){sizeof raw, raw};
    javascript.exit_code = -1;
    javascript.timed_out = 1;
    cs_run_record record = PLIMSOLL__V1__RUN_RECORD__INIT;
    record.version = UINT32_MAX;
    record.sequence = UINT64_MAX;
    cs_run_response response = PLIMSOLL__V1__RUN_RESPONSE__INIT;
    response.sandbox = (ProtobufCBinaryData){sizeof text - 1, text};
    response.duration_ms = INT64_MIN;
    response.record = &record;
    response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT;
    response.javascript = &javascript;
    expect_written(&response, "{\"sandbox\":\"\\u003c\\n\xc3\xa4\\u003e\",\"durationMs\":\"-9223372036854775808\","
                              "\"record\":{\"version\":4294967295,\"sequence\":\"18446744073709551615\"},"
                              "\"javascript\":{\"stdout\":\"//4A\",\"exitCode\":-1,\"timedOut\":true}}");
}

Test(protojson, enums_are_written_by_name) {
    Plimsoll__V1__ProjectResult result = PLIMSOLL__V1__PROJECT_RESULT__INIT;
    result.outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_SETUP_FAILED;
    expect_written(&result, "{\"outcome\":\"PROJECT_OUTCOME_SETUP_FAILED\"}");
    int32_t unknown = 77;
    memcpy(&result.outcome, &unknown, sizeof unknown);
    expect_written(&result, "{\"outcome\":77}");
}

Test(protojson, doubles_are_written) {
    double values[] = {0.0, -0.0, 0.1, NAN, INFINITY, -INFINITY};
    Plimsoll__V1__ModuleRow row = PLIMSOLL__V1__MODULE_ROW__INIT;
    row.values = values;
    row.n_values = sizeof values / sizeof *values;
    expect_written(&row, "{\"values\":[0,-0,0.1,\"NaN\",\"Infinity\",\"-Infinity\"]}");
}

Test(protojson, text_that_is_not_utf8_is_not_written) {
    uint8_t text[] = "ab\xff";
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    request.trace_id = (ProtobufCBinaryData){2, text};
    expect_written(&request, "{\"traceId\":\"ab\"}");
    request.trace_id.len = 3;
    cs_buf out = CS_BUF_INIT(4096);
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_protojson_write(&request.base, &out, &err), CS_FAILED);
    cr_expect_eq(err.code, CS_CODE_MESSAGE_TEXT);
    cr_expect_eq(out.len, 0);
    cs_buf_free(&out);
}

Test(protojson, a_full_buffer_is_left_as_it_was) {
    uint8_t text[] = "abc";
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    request.trace_id = (ProtobufCBinaryData){3, text};
    size_t need = strlen("{\"traceId\":\"abc\"}");
    for (size_t max = 0; max <= need; max++) {
        cs_buf out = CS_BUF_INIT(max);
        cs_error err = CS_ERROR_INIT;
        cs_result result = cs_protojson_write(&request.base, &out, &err);
        cr_expect_eq(result, max == need ? CS_OK : CS_UNCHECKED, "max %zu", max);
        cr_expect_eq(out.len, max == need ? need : 0, "max %zu", max);
        if (max < need) cr_expect_eq(err.code, CS_CODE_NO_MEMORY);
        cs_buf_free(&out);
    }
}
