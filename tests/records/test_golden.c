/* The published vectors: inputs in proto3 JSON and the digests that another implementation states. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/digest.h"
#include "records/protojson.h"
#include "tests/support/fixtures.h"

static json_t *load_golden(void) {
    char path[4096];
    fixture_path("golden.json", path, sizeof path);
    json_error_t error;
    json_t *golden = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    cr_assert(golden, "%s: %s", path, error.text);
    return golden;
}

static ProtobufCMessage *read_input(const ProtobufCMessageDescriptor *type, const json_t *input) {
    char *text = json_dumps(input, JSON_COMPACT);
    cr_assert(text);
    ProtobufCMessage *message;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_protojson_read(type, cs_view_of(text), &message, &err);
    cr_assert_eq(result, CS_OK, "%s: %s (%s)", text, err.message, err.where);
    free(text);
    return message;
}

/* A session call is digested as the run request that it amounts to, without the session id. */
static cs_run_request *run_of_session(const json_t *input) {
    Plimsoll__V1__SessionRunRequest *call = (void *)read_input(&plimsoll__v1__session_run_request__descriptor, input);
    cs_run_request *run = malloc(sizeof *run);
    cr_assert(run);
    plimsoll__v1__run_request__init(run);
    cr_assert(cs_bytes_set(&run->minimum_isolation, cs_bytes_view(&call->minimum_isolation)));
    run->protocol = call->protocol;
    run->timeout_ms = call->timeout_ms;
    cr_assert_eq(call->payload_case, PLIMSOLL__V1__SESSION_RUN_REQUEST__PAYLOAD_CELL);
    run->payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL;
    run->cell = call->cell;
    call->cell = NULL;
    cs_message_free(call);
    return run;
}

static cs_run_request *read_request(const json_t *vector) {
    const json_t *input = json_object_get(vector, "request");
    const char *kind = json_string_value(json_object_get(vector, "kind"));
    cr_assert(kind);
    if (strcmp(kind, "session") == 0) return run_of_session(input);
    return (void *)read_input(&plimsoll__v1__run_request__descriptor, input);
}

static const char *stated(const json_t *vector) {
    const char *sha256 = json_string_value(json_object_get(vector, "sha256"));
    cr_assert(sha256 && strlen(sha256) == 64);
    return sha256;
}

static const char *name_of(const json_t *vector) {
    return json_string_value(json_object_get(vector, "name"));
}

static cs_digest request_digest(const json_t *vector) {
    cs_digest digest;
    cs_run_request *request = read_request(vector);
    cr_assert_eq(cs_digest_request(request, &digest, NULL), CS_OK);
    cs_message_free(request);
    return digest;
}

static cs_digest result_digest(const json_t *vector) {
    cs_digest digest;
    cs_run_response *response =
        (void *)read_input(&plimsoll__v1__run_response__descriptor, json_object_get(vector, "response"));
    cr_assert_eq(cs_digest_result(response, &digest, NULL), CS_OK);
    cs_message_free(response);
    return digest;
}

static cs_digest record_digest(const json_t *vector) {
    cs_digest digest;
    cs_run_record *record =
        (void *)read_input(&plimsoll__v1__run_record__descriptor, json_object_get(vector, "record"));
    cr_assert_eq(cs_digest_record(record, &digest, NULL), CS_OK);
    cs_message_free(record);
    return digest;
}

static cs_digest session_digest(const json_t *vector) {
    cs_digest digest;
    const char *id = json_string_value(json_object_get(vector, "sessionId"));
    cr_assert_eq(cs_session_fingerprint(cs_view_of(id), &digest, NULL), CS_OK);
    return digest;
}

typedef cs_digest digest_fn(const json_t *vector);

static size_t check_group(const json_t *golden, const char *group, digest_fn *digest_of) {
    const json_t *vectors = json_object_get(golden, group);
    for (size_t i = 0; i < json_array_size(vectors); i++) {
        const json_t *vector = json_array_get(vectors, i);
        cs_digest digest = digest_of(vector);
        cr_expect_str_eq(digest.hex, stated(vector), "%s", name_of(vector));
    }
    return json_array_size(vectors);
}

Test(golden, all_fourteen) {
    json_t *golden = load_golden();
    size_t count = 0;
    count += check_group(golden, "requests", request_digest);
    count += check_group(golden, "results", result_digest);
    count += check_group(golden, "records", record_digest);
    count += check_group(golden, "sessionFingerprints", session_digest);
    cr_assert_eq(count, 14);
    json_decref(golden);
}

/* ---- twins: one value of a vector changed --------------------------------------------------------- */

typedef struct change {
    const char *group;
    size_t index;
    const char *member; /* dots between levels */
    const char *value;  /* JSON */
    digest_fn *digest_of;
} change;

static json_t *parent_of(json_t *object, const char *member, const char **last) {
    char name[64];
    const char *dot;
    while ((dot = strchr(member, '.'))) {
        snprintf(name, sizeof name, "%.*s", (int)(dot - member), member);
        object = json_object_get(object, name);
        member = dot + 1;
    }
    *last = member;
    return object;
}

static void check_change(const json_t *golden, const change *c) {
    const json_t *vector = json_array_get(json_object_get(golden, c->group), c->index);
    cr_assert_str_eq(c->digest_of(vector).hex, stated(vector));
    json_t *changed = json_deep_copy(vector);
    const char *last;
    json_t *parent = parent_of(changed, c->member, &last);
    cr_assert(json_object_get(parent, last), "%s %zu: no %s", c->group, c->index, c->member);
    cr_assert_eq(json_object_set_new(parent, last, json_loads(c->value, JSON_DECODE_ANY, NULL)), 0);
    cr_expect_str_neq(c->digest_of(changed).hex, stated(vector), "%s %zu %s", c->group, c->index, c->member);
    json_decref(changed);
}

Test(golden, one_change_gives_another_digest) {
    static const change changes[] = {
        {"requests", 0, "request.timeoutMs", "5001", request_digest},
        {"requests", 0, "request.minimumIsolation", "\"kernel\"", request_digest},
        {"requests", 1, "request.project.artifacts", "[]", request_digest},
        {"requests", 2, "request.module.endTime", "2", request_digest},
        {"requests", 3, "request.softwareRule.mode", "\"exact\"", request_digest},
        {"requests", 4, "request.project.steps", "[\"node main.js > out.txt\"]", request_digest},
        {"requests", 5, "request.module.rows", "[{\"values\":[1,2]},{\"values\":[0.5,-3.5]}]", request_digest},
        {"requests", 6, "request.cell.language", "\"r\"", request_digest},
        {"results", 0, "response.javascript.stdout", "\"Mwo=\"", result_digest},
        {"results", 1, "response.project.outcome", "\"PROJECT_OUTCOME_TIMED_OUT\"", result_digest},
        {"results", 2, "response.module.width", "2", result_digest},
        {"results", 3, "response.cell.interpreterStarted", "false", result_digest},
        {"records", 0, "record.requestSha256", "\"\"", record_digest},
        {"records", 0, "record.resultSha256", "\"\"", record_digest},
        {"records", 0, "record.provider", "\"openshell2\"", record_digest},
        {"records", 0, "record.isolation", "\"kernel\"", record_digest},
        {"records", 0, "record.environment", "\"\"", record_digest},
        {"records", 0, "record.policy", "\"\"", record_digest},
        {"records", 0, "record.startedUnixMs", "\"1790000000001\"", record_digest},
        {"records", 0, "record.endedUnixMs", "\"1790000004211\"", record_digest},
        {"records", 0, "record.session", "\"\"", record_digest},
        {"records", 0, "record.sequence", "\"3\"", record_digest},
        {"records", 0, "record.previousSha256", "\"\"", record_digest},
        {"records", 1, "record.unanswered", "\"internal\"", record_digest},
        {"sessionFingerprints", 0, "sessionId", "\"00112233445566778899aabbccddeefe\"", session_digest},
    };
    json_t *golden = load_golden();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        check_change(golden, &changes[i]);
    json_decref(golden);
}

/* What is left out of a digest on purpose. */
Test(golden, left_out_fields_change_nothing) {
    json_t *golden = load_golden();
    json_t *request = json_array_get(json_object_get(golden, "requests"), 0);
    json_object_set_new(json_object_get(request, "request"), "traceId", json_string("t-2"));
    cr_expect_str_eq(request_digest(request).hex, stated(request));
    json_t *result = json_array_get(json_object_get(golden, "results"), 0);
    json_object_set_new(json_object_get(result, "response"), "durationMs", json_string("813"));
    cr_expect_str_eq(result_digest(result).hex, stated(result));
    json_decref(golden);
}
