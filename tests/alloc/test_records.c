/* Memory runs out in records/. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "records/check.h"
#include "records/digest.h"
#include "records/dsse.h"
#include "records/protojson.h"
#include "records/statement.h"
#include "records/text.h"
#include "records/verdict.h"
#include "records/wire.h"
#include "tests/alloc/failing.h"
#include "tests/support/canon.h"
#include "tests/support/forge.h"
#include "tests/support/sample.h"
#include "tests/support/verdicts.h"

#define REQUEST (&plimsoll__v1__run_request__descriptor)
#define RESPONSE (&plimsoll__v1__run_response__descriptor)

/* A request and a response with repeated fields, sub-messages, a rule and escapes. */
static const char request_json[] =
    "{\"protocol\":3,\"softwareRule\":{\"mode\":\"approved\",\"identities\":[\"b\",\"a\",\"c\"]},\"project\":{"
    "\"files\":["
    "{\"path\":\"a\",\"content\":\"\\u00e9<\\n\"},{\"path\":\"b\"},{\"path\":\"c\"},{\"path\":\"d\"},{\"path\":\"e\"}],"
    "\"steps\":[\"make\"],\"artifacts\":[\"x\"]}}";
static const char response_json[] =
    "{\"sandbox\":\"p\",\"durationMs\":\"-5\",\"record\":{\"version\":2,\"provider\":\"\\\"p\\\"\"},\"module\":{"
    "\"runs\":[{"
    "\"status\":-1,\"outputs\":[0.1,-0,1e300,\"NaN\",5]},{}],\"width\":5,\"stdout\":\"AAH/\"}}";

/* What every scenario here works on: made with memory, and what must come out. */
typedef struct thing {
    ProtobufCMessage *message;
    cs_buf binary;
    cs_buf json;
    char digest[65];
} thing;

static thing make(const ProtobufCMessageDescriptor *type, const char *json) {
    thing t = {.binary = CS_BUF_INIT(SIZE_MAX / 2), .json = CS_BUF_INIT(SIZE_MAX / 2)};
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_protojson_read(type, cs_view_of(json), &t.message, &err), CS_OK, "%s", err.message);
    cr_assert_eq(cs_message_encode(t.message, &t.binary, &err), CS_OK);
    cr_assert_eq(cs_protojson_write(t.message, &t.json, &err), CS_OK);
    if (type == REQUEST) canon_request((const cs_run_request *)t.message, t.digest);
    if (type == RESPONSE) canon_result((const cs_run_response *)t.message, t.digest);
    return t;
}

static void drop(thing *t) {
    cs_message_free(t->message);
    cs_buf_free(&t->binary);
    cs_buf_free(&t->json);
}

/* Every scenario with a request and with a response. */
static void walk_both(failing_scenario scenario) {
    thing request = make(REQUEST, request_json);
    failing_walk(scenario, &request, FAILING_UNCHECKED);
    drop(&request);
    thing response = make(RESPONSE, response_json);
    failing_walk(scenario, &response, FAILING_UNCHECKED);
    drop(&response);
}

static void expect_binary(const thing *t, const ProtobufCMessage *message) {
    CS_AUTO_BUF bytes = CS_BUF_INIT(SIZE_MAX / 2);
    cr_assert_eq(cs_message_encode(message, &bytes, NULL), CS_OK);
    cr_assert(cs_view_equal(cs_buf_view(&bytes), cs_buf_view(&t->binary)));
}

/* What gives a message: right, or none. */
static cs_result end_message(const thing *t, cs_result result, ProtobufCMessage *message) {
    failing_end();
    cr_assert_eq(message != NULL, result == CS_OK);
    if (message != NULL) expect_binary(t, message);
    cs_message_free(message);
    return result;
}

/* What appends: right, or unchanged. */
static cs_result end_buffer(cs_result result, cs_buf *out, cs_view expected) {
    failing_end();
    cr_assert(cs_view_equal(cs_buf_view(out), result == CS_OK ? expected : cs_view_of("")));
    cs_buf_free(out);
    return result;
}

static cs_result do_decode(void *user, cs_error *err) {
    const thing *t = user;
    ProtobufCMessage *message = NULL;
    failing_begin();
    cs_result result = cs_message_decode(t->message->descriptor, cs_buf_view(&t->binary), &message, err);
    return end_message(t, result, message);
}

Test(alloc_records, decode) {
    walk_both(do_decode);
}

static cs_result do_view(void *user, cs_error *err) {
    const thing *t = user;
    const ProtobufCMessage *message = NULL;
    failing_begin();
    cs_arena *arena = cs_arena_new();
    cs_result result = failing_answer(arena != NULL, err);
    if (result == CS_OK)
        result = cs_message_view(t->message->descriptor, cs_buf_view(&t->binary), arena, &message, err);
    failing_end();
    cr_assert_eq(message != NULL, result == CS_OK);
    if (message != NULL) expect_binary(t, message);
    cs_arena_free(arena);
    return result;
}

Test(alloc_records, view) {
    walk_both(do_view);
}

/* So many rows that the arena needs more than its first block. */
Test(alloc_records, view_of_many_parts) {
    cs_buf json = CS_BUF_INIT(SIZE_MAX / 2);
    cr_assert(cs_buf_text(&json, "{\"module\":{\"runs\":[{}"));
    for (int i = 0; i < 2000; i++)
        cr_assert(cs_buf_text(&json, ",{\"outputs\":[1,2,3]}"));
    cr_assert(cs_buf_text(&json, "]}}") && cs_buf_byte(&json, 0));
    thing t = make(RESPONSE, (const char *)json.ptr);
    failing_walk(do_view, &t, FAILING_UNCHECKED);
    drop(&t);
    cs_buf_free(&json);
}

static cs_result do_encode(void *user, cs_error *err) {
    const thing *t = user;
    cs_buf out = CS_BUF_INIT(SIZE_MAX / 2);
    failing_begin();
    cs_result result = cs_message_encode(t->message, &out, err);
    return end_buffer(result, &out, cs_buf_view(&t->binary));
}

Test(alloc_records, encode) {
    walk_both(do_encode);
}

static cs_result do_copy(void *user, cs_error *err) {
    const thing *t = user;
    ProtobufCMessage *message = NULL;
    failing_begin();
    cs_result result = cs_message_copy(t->message, &message, err);
    return end_message(t, result, message);
}

Test(alloc_records, copy) {
    walk_both(do_copy);
}

static cs_result do_read_json(void *user, cs_error *err) {
    const thing *t = user;
    ProtobufCMessage *message = NULL;
    failing_begin();
    cs_result result = cs_protojson_read(t->message->descriptor, cs_buf_view(&t->json), &message, err);
    return end_message(t, result, message);
}

Test(alloc_records, read_json) {
    walk_both(do_read_json);
}

static cs_result do_write_json(void *user, cs_error *err) {
    const thing *t = user;
    cs_buf out = CS_BUF_INIT(SIZE_MAX / 2);
    failing_begin();
    cs_result result = cs_protojson_write(t->message, &out, err);
    return end_buffer(result, &out, cs_buf_view(&t->json));
}

Test(alloc_records, write_json) {
    walk_both(do_write_json);
}

static cs_result do_digest(void *user, cs_error *err) {
    const thing *t = user;
    cs_digest digest;
    failing_begin();
    cs_result result = t->message->descriptor == REQUEST
                           ? cs_digest_request((const cs_run_request *)t->message, &digest, err)
                           : cs_digest_result((const cs_run_response *)t->message, &digest, err);
    failing_end();
    cr_assert_str_eq(digest.hex, result == CS_OK ? t->digest : "");
    return result;
}

Test(alloc_records, digest) {
    walk_both(do_digest);
}

static cs_result do_rule_id(void *user, cs_error *err) {
    const thing *t = user;
    char hex[65];
    canon_sha256("a\0b\0c", 5, hex);
    char expected[128] = "approved:sha256:";
    strcat(expected, hex);
    cs_buf out = CS_BUF_INIT(1024);
    failing_begin();
    cs_result result = cs_software_rule_id(((const cs_run_request *)t->message)->software_rule, &out, err);
    return end_buffer(result, &out, cs_view_of(expected));
}

Test(alloc_records, rule_id) {
    thing t = make(REQUEST, request_json);
    failing_walk(do_rule_id, &t, FAILING_UNCHECKED);
    drop(&t);
}

/* ---- the record ----------------------------------------------------------------------------------- */

static cs_result do_check(void *user, cs_error *err) {
    const sample *s = user;
    cs_call call = sample_call(s);
    cs_checked_run checked = {0};
    failing_begin();
    cs_sha256 *hash = cs_sha256_new();
    cs_result result = failing_answer(hash != NULL, err);
    if (result == CS_OK) result = cs_check_run(&call, hash, &checked, err);
    failing_end();
    if (result == CS_OK)
        cr_assert(cs_view_equal(cs_digest_view(&checked.record_sha256), cs_bytes_view(&s->record->record_sha256)));
    else
        cr_assert_null(checked.record);
    cs_sha256_free(hash);
    return result;
}

static cs_result do_digest_record(void *user, cs_error *err) {
    const sample *s = user;
    cs_digest digest;
    failing_begin();
    cs_result result = cs_digest_record(s->record, &digest, err);
    failing_end();
    if (result == CS_OK) cr_assert(cs_view_equal(cs_digest_view(&digest), cs_bytes_view(&s->record->record_sha256)));
    return result;
}

Test(alloc_records, check) {
    sample s;
    sample_init(&s);
    failing_walk(do_check, &s, FAILING_UNCHECKED);
    failing_walk(do_digest_record, &s, FAILING_UNCHECKED);
    sample_free(&s);
}

static cs_result do_build(void *user, cs_error *err) {
    const sample *s = user;
    cs_buf out = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES);
    failing_begin();
    cs_result result = failing_answer(cs_statement_record(s->record, &out), err);
    failing_end();
    cr_assert_eq(out.len > 0, result == CS_OK);
    if (result == CS_OK) cr_assert_eq(out.ptr[out.len - 1], '}');
    cs_buf_free(&out);
    return result;
}

static cs_result do_read_statement(void *user, cs_error *err) {
    cs_view payload = cs_view_of(user);
    cs_statement statement;
    failing_begin();
    cs_result result = cs_statement_read(payload, &statement, err);
    failing_end();
    if (result == CS_OK && statement.kind == CS_STATEMENT_RECORD)
        cr_assert(cs_view_is(cs_bytes_view(&statement.record->policy), "a\"b\fc\b"));
    cs_statement_free(&statement);
    return result;
}

Test(alloc_records, statements) {
    sample s;
    sample_init(&s);
    failing_walk(do_build, &s, FAILING_UNCHECKED);
    sample_free(&s);
    forge_run run = forge_single();
    run.policy = "a\\\"b\\fc\\u0008";
    failing_walk(do_read_statement, forge_statement(&run), FAILING_UNCHECKED);
    failing_walk(do_read_statement, forge_link(1, "", run.record_sha256, 0), FAILING_UNCHECKED);
}

static cs_result do_read_verdict(void *user, cs_error *err) {
    cs_read_verdict read;
    failing_begin();
    cs_result result = cs_verdict_read(cs_view_of(user), &read, err);
    failing_end();
    if (result != CS_OK) return result;
    cr_assert_str_eq(read.verdict.commit, VERDICT_COMMIT);
    cs_read_verdict_free(&read);
    return result;
}

Test(alloc_records, verdicts) {
    verdict_text test_result = verdict_test_result();
    verdict_text summary = verdict_summary();
    failing_walk(do_read_verdict, verdict_payload(&test_result), FAILING_UNCHECKED);
    failing_walk(do_read_verdict, verdict_payload(&summary), FAILING_UNCHECKED);
}

static cs_result do_envelope(void *user, cs_error *err) {
    cs_view json = cs_view_of(user);
    cs_envelope envelope;
    cs_buf out = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES);
    failing_begin();
    cs_result result = cs_envelope_decode(json, &envelope, err);
    if (result == CS_OK)
        result = failing_answer(
            cs_envelope_encode(cs_buf_view(&envelope.payload), envelope.keyid, envelope.signature, &out), err);
    cs_envelope_free(&envelope);
    return end_buffer(result, &out, json);
}

Test(alloc_records, envelope) {
    forge_run run = forge_single();
    forge_key key = forge_key_from(1);
    failing_walk(do_envelope, forge_envelope(&key, forge_statement(&run)), FAILING_UNCHECKED);
}

/* ---- a Connect error ------------------------------------------------------------------------------ */

/* All of it is read, or none: no detail is passed over because there was no memory for it. */
static cs_result do_error(void *user, cs_error *err) {
    cs_view body = cs_view_of(user);
    cs_connect_error error;
    failing_begin();
    cs_result result = cs_connect_error_read(body, &error, err);
    failing_end();
    if (result != CS_OK) {
        cr_assert_eq(err->code, CS_CODE_NO_MEMORY);
        return result;
    }
    cr_assert_eq(error.code, CS_CONNECT_UNAVAILABLE);
    cr_assert(cs_view_is(cs_buf_view(&error.message), "busy"));
    cr_assert(error.marked && error.reason == cs_reason_parse(cs_view_of("capacity")));
    cr_assert(error.ended && cs_view_is(cs_buf_view(&error.end_detail), "idle"));
    cr_assert(error.unanswered != NULL && error.unanswered->version == 3);
    cs_connect_error_free(&error);
    return CS_OK;
}

static cs_result do_write_error(void *user, cs_error *err) {
    cs_buf out = CS_BUF_INIT(CS_MAX_ERROR_BODY);
    failing_begin();
    bool good =
        cs_connect_error_write(CS_CONNECT_UNAVAILABLE, "busy\xFF", cs_reason_parse(cs_view_of("capacity")), &out);
    return end_buffer(failing_answer(good, err), &out, cs_view_of(user));
}

Test(alloc_records, connect_error) {
    /* SessionEnded{reason: 2, detail: "idle"}; UnansweredCall{record: {version: 3, provider: "~~~~"}}, in whose base64
     * both alphabets differ. */
    static char body[] =
        "{\"code\":\"\\u0075navailable\",\"message\":\"\\u0062usy\",\"details\":[{\"type\":\"plimsoll.v1."
        "Not\\u0044ispatched\",\"value\":\"CA\\u0059\"},{\"type\":\"plimsoll.v1.SessionEnded\",\"value\":"
        "\"CAISBGlkbGU\"},{\"type\":\"plimsoll.v1.UnansweredCall\",\"value\":\"CggIAyIEfn5-fg\"}]}";
    static char escaped[] =
        "{\"code\":\"unavailable\",\"message\":\"busy\\\\xff\",\"details\":[{\"type\":\"plimsoll.v1."
        "NotDispatched\",\"value\":\"CAY\"}]}";
    failing_walk(do_error, body, FAILING_UNCHECKED);
    failing_walk(do_write_error, escaped, FAILING_UNCHECKED);
}
