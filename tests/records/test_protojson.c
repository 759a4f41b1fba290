#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/protojson.h"
#include "records/text.h"

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

/* ---- there and back ------------------------------------------------------------------------------- */

static uint64_t random_bits(void) {
    uint64_t bits = 0;
    for (int i = 0; i < 5; i++)
        bits = bits << 15 ^ (uint64_t)rand();
    return bits;
}

/* Mostly ordinary numbers, and the edges. */
static uint64_t random_number(void) {
    static const uint64_t edges[] = {0, 1, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, (uint64_t)INT64_MAX + 1, 1000};
    return rand() % 2 ? edges[rand() % 8] : random_bits();
}

static double random_double(void) {
    static const double edges[] = {0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, INFINITY, -INFINITY};
    double value;
    uint64_t bits = random_bits();
    if (rand() % 2) return edges[rand() % 8];
    memcpy(&value, &bits, sizeof value);
    return isnan(value) ? 1.25 : value;
}

static ProtobufCBinaryData random_bytes(bool is_text) {
    static const char *const pieces[] = {
        "a", "\"", "\\", "\n", "<", "\xc3\xa4", "\xe2\x80\xa8", "\xf0\x9f\x98\x80", "\x01", "plain", "\x7f", "/"};
    uint8_t raw[64];
    size_t len = 0;
    for (int count = rand() % 6; count > 0; count--) {
        const char *piece = pieces[rand() % 12];
        size_t piece_len = rand() % 10 ? strlen(piece) : 1;
        if (is_text && piece[0] & 0x80) piece_len = strlen(piece);
        memcpy(raw + len, rand() % 10 ? piece : "\0aaaaaaa", piece_len);
        len += piece_len;
        if (!is_text) raw[len++] = (uint8_t)rand();
    }
    ProtobufCBinaryData out = {0};
    cr_assert(cs_bytes_set(&out, cs_view_bytes(raw, len)));
    return out;
}

static ProtobufCMessage *random_message(const ProtobufCMessageDescriptor *type);

static void random_value(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field, void *slot) {
    uint64_t number = random_number();
    double real = random_double();
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_ENUM:
        memcpy(slot, &number, 4);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        memcpy(slot, &number, 8);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        memcpy(slot, &real, 8);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)slot = rand() % 2;
        break;
    case PROTOBUF_C_TYPE_BYTES:
        *(ProtobufCBinaryData *)slot = random_bytes(cs_field_is_text(type, field));
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)slot = random_message(field->descriptor);
        break;
    default:
        cr_assert_fail("type %d", (int)field->type);
    }
}

static size_t size_of(ProtobufCType type) {
    switch (type) {
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    default:
        return 8;
    }
}

static void random_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    char *base = (char *)message;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count = (size_t)rand() % 7;
        size_t size = size_of(field->type);
        char *items = count ? calloc(count, size) : NULL;
        for (size_t i = 0; i < count; i++)
            random_value(message->descriptor, field, items + i * size);
        *(char **)(base + field->offset) = items;
        *(size_t *)(base + field->quantifier_offset) = count;
        return;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        uint32_t *chosen = (uint32_t *)(base + field->quantifier_offset);
        if (*chosen != 0) return;
        *chosen = field->id;
    }
    random_value(message->descriptor, field, base + field->offset);
}

static ProtobufCMessage *random_message(const ProtobufCMessageDescriptor *type) {
    ProtobufCMessage *message = malloc(type->sizeof_message);
    cr_assert(message);
    protobuf_c_message_init(type, message);
    for (unsigned i = 0; i < type->n_fields; i++)
        if (rand() % 3) random_field(message, &type->fields[i]);
    return message;
}

static void there_and_back(const ProtobufCMessageDescriptor *type) {
    ProtobufCMessage *message = random_message(type);
    ProtobufCMessage *again = NULL;
    cs_buf json = CS_BUF_INIT(1u << 24);
    cs_buf before = CS_BUF_INIT(1u << 24);
    cs_buf after = CS_BUF_INIT(1u << 24);
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_protojson_write(message, &json, &err), CS_OK, "%s: %s", type->name, err.message);
    cr_assert_eq(cs_protojson_read(type, cs_buf_view(&json), &again, &err), CS_OK, "%s: %s (%s)\n%.*s", type->name,
                 err.message, err.where, (int)json.len, (const char *)json.ptr);
    cr_assert_eq(cs_message_encode(message, &before, &err), CS_OK);
    cr_assert_eq(cs_message_encode(again, &after, &err), CS_OK);
    cr_assert(cs_view_equal(cs_buf_view(&before), cs_buf_view(&after)), "%s: %.*s", type->name, (int)json.len,
              (const char *)json.ptr);
    cs_message_free(message);
    cs_message_free(again);
    cs_buf_free(&json);
    cs_buf_free(&before);
    cs_buf_free(&after);
}

static const ProtobufCMessageDescriptor *const all_types[] = {
    &plimsoll__v1__describe_request__descriptor,      &plimsoll__v1__describe_response__descriptor,
    &plimsoll__v1__run_request__descriptor,           &plimsoll__v1__run_response__descriptor,
    &plimsoll__v1__open_session_request__descriptor,  &plimsoll__v1__open_session_response__descriptor,
    &plimsoll__v1__session_run_request__descriptor,   &plimsoll__v1__session_run_response__descriptor,
    &plimsoll__v1__close_session_request__descriptor, &plimsoll__v1__close_session_response__descriptor,
    &plimsoll__v1__not_dispatched__descriptor,        &plimsoll__v1__session_ended__descriptor,
    &plimsoll__v1__unanswered_call__descriptor,
};

Test(protojson, every_message_comes_back) {
    srand(4);
    for (size_t i = 0; i < sizeof all_types / sizeof *all_types; i++)
        for (int round = 0; round < 200; round++)
            there_and_back(all_types[i]);
}

/* Damaged JSON is read or refused; under the sanitizers nothing else may happen. */
Test(protojson, damaged_text) {
    srand(5);
    size_t refused = 0;
    for (int round = 0; round < 20000; round++) {
        const ProtobufCMessageDescriptor *type = all_types[2 + rand() % 2];
        ProtobufCMessage *message = random_message(type);
        cs_buf json = CS_BUF_INIT(1u << 24);
        cr_assert_eq(cs_protojson_write(message, &json, NULL), CS_OK);
        cs_message_free(message);
        for (int changes = 1 + rand() % 3; changes > 0; changes--)
            json.ptr[(size_t)rand() % json.len] ^= 1 << rand() % 8;
        cs_error err = CS_ERROR_INIT;
        cs_result result = cs_protojson_read(type, cs_buf_view(&json), &message, &err);
        cr_assert(result == CS_OK || result == CS_FAILED);
        cr_assert_eq(message != NULL, result == CS_OK);
        refused += result == CS_FAILED;
        cs_message_free(message);
        cs_buf_free(&json);
    }
    cr_assert_gt(refused, 1000);
}
