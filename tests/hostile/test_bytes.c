/* The binary message: bytes that are no message, or that say more than the digests cover. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hostile/hostile.h"
#include "tests/support/canon.h"
#include "tests/support/changes.h"

/* ---- bytes that are no message --------------------------------------------------------------------- */

#define NO_MESSAGE(name, bytes)                                                                                        \
    { name, TAIL(bytes), UNANSWERED(MALFORMED) }

static const play no_messages[] = {
    NO_MESSAGE("a tag of zeros", "\x00"),
    NO_MESSAGE("field number 0", "\x02\x00"),
    NO_MESSAGE("a field number that is too large", "\x80\x80\x80\x80\x10\x00"),
    NO_MESSAGE("a tag without an end", "\x80"),
    NO_MESSAGE("a tag that does not end", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"),
    NO_MESSAGE("a number without a value", "\x18"),
    NO_MESSAGE("a number that does not end", "\xf8\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
    NO_MESSAGE("a length beyond the end", "\x0a\x7f"),
    NO_MESSAGE("a length beyond 32 bits", "\x0a\xff\xff\xff\xff\x7f"),
    NO_MESSAGE("a length beyond 64 bits", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
    NO_MESSAGE("a fixed number cut short", "\xf9\x01\x00\x00\x00"),
    NO_MESSAGE("a group", "\xfb\x01\xfc\x01"),
    NO_MESSAGE("a group that never ends", "\xfb\x01"),
    NO_MESSAGE("the end of a group", "\xfc\x01"),
    NO_MESSAGE("wire type 6", "\xfe\x01\x00"),
    NO_MESSAGE("wire type 7", "\xff\x01\x00"),
    NO_MESSAGE("a text field as a number", "\x08\x01"),
    NO_MESSAGE("a text field as a fixed number", "\x0d\x00\x00\x00\x00"),
    NO_MESSAGE("a text field that is not UTF-8", "\x0a\x01\xff"),
    NO_MESSAGE("a text field with an overlong NUL", "\x0a\x02\xc0\x80"),
    NO_MESSAGE("a text field with half a pair", "\x0a\x03\xed\xa0\x80"),
    NO_MESSAGE("a text field beyond Unicode", "\x0a\x04\xf4\x90\x80\x80"),
    NO_MESSAGE("a text field that is cut", "\x0a\x02\xe2\x82"),
};

Test(hostile_bytes, no_message) {
    hostile(&(group){.at = AT_ALL, PLAYS(no_messages)});
}

/* ---- bytes that no digest covers ------------------------------------------------------------------- */

#define UNKNOWN "\xfa\x01\x01x" /* field 31, which no message here has */

/* Put bytes at the end of the record inside the response. Its length stands in two bytes behind tag 4. */
static void add_to_record(stage *st, const void *bytes, size_t len) {
    cs_buf *body = &st->bodies[1];
    const uint8_t *at = memmem(body->ptr, body->len, "\x18\x63\x22", 3);
    cr_assert_not_null(at);
    const size_t begin = (size_t)(at - body->ptr) + 3;
    const size_t old = (body->ptr[begin] & 0x7fu) | (size_t)body->ptr[begin + 1] << 7;
    cr_assert(body->ptr[begin] >= 0x80 && body->ptr[begin + 1] < 0x80);
    const size_t end = begin + 2 + old;
    cr_assert(cs_buf_reserve(body, len));
    memmove(body->ptr + end + len, body->ptr + end, body->len - end);
    memcpy(body->ptr + end, bytes, len);
    body->len += len;
    body->ptr[begin] = (uint8_t)((old + len) | 0x80u);
    body->ptr[begin + 1] = (uint8_t)((old + len) >> 7);
}

static void unknown_in_record(stage *st) {
    add_to_record(st, UNKNOWN, sizeof UNKNOWN - 1);
}

static void version_again_in_record(stage *st) {
    add_to_record(st, "\x08\x02", 2);
}

static void other_version_in_record(stage *st) {
    add_to_record(st, "\x08\x03", 2);
}

static void default_in_record(stage *st) {
    add_to_record(st, "\x58\x00", 2); /* sequence 0 */
}

static void concatenated(stage *st) {
    cs_buf *body = &st->bodies[1];
    cr_assert(cs_buf_reserve(body, body->len));
    memcpy(body->ptr + body->len, body->ptr, body->len);
    body->len *= 2;
}

/* sandbox, isolation | isolation, sandbox */
#define PROVIDER "\x0a\x06gvisor"
#define TIER "\x12\x06kernel"
#define DURATION "\x18\x63"
#define RESULT "\x52\x04\x0a\x02"

static const play uncovered[] = {
    {"an unknown field", TAIL(UNKNOWN), FAILS(MESSAGE_UNKNOWN_FIELD)},
    {"an unknown number", TAIL("\xf8\x01\x00"), FAILS(MESSAGE_UNKNOWN_FIELD)},
    {"an unknown fixed number", TAIL("\xfd\x01\x00\x00\x00\x00"), FAILS(MESSAGE_UNKNOWN_FIELD)},
    {"an unknown field of the last number", TAIL("\xfa\xff\xff\xff\x0f\x00"), FAILS(MESSAGE_UNKNOWN_FIELD)},
    {"an unknown field first", BODY(PROVIDER, UNKNOWN PROVIDER), FAILS(MESSAGE_UNKNOWN_FIELD)},
    {"an unknown field in the record", .alter = unknown_in_record, FAILS(MESSAGE_UNKNOWN_FIELD)},
    {"an unknown field in the result",
     BODY(RESULT "2\n", "\x52\x08\x0a\x02"
                        "2\n" UNKNOWN),
     FAILS(MESSAGE_UNKNOWN_FIELD)},
    {"an unknown field in advice",
     BODY(RESULT "2\n", "\x52\x0a\x0a\x02"
                        "2\n"
                        "\x52\x04" UNKNOWN),
     FAILS(MESSAGE_UNKNOWN_FIELD)},
    {"fields in another order", BODY(PROVIDER TIER, TIER PROVIDER), FAILS(MESSAGE_NONCANONICAL)},
    {"a field twice", TAIL(PROVIDER), FAILS(MESSAGE_NONCANONICAL)},
    {"a field twice, the first one wrong",
     BODY(PROVIDER, "\x0a\x06"
                    "docker" PROVIDER),
     FAILS(MESSAGE_NONCANONICAL)},
    {"a number longer than needed", BODY(DURATION, "\x18\xe3\x00"), FAILS(MESSAGE_NONCANONICAL)},
    {"a tag longer than needed", BODY(DURATION, "\x98\x00\x63"), FAILS(MESSAGE_NONCANONICAL)},
    {"a length longer than needed",
     BODY(PROVIDER, "\x0a\x86\x00"
                    "gvisor"),
     FAILS(MESSAGE_NONCANONICAL)},
    {"a number beyond 64 bits", BODY(DURATION, "\x18\xe3\x80\x80\x80\x80\x80\x80\x80\x80\x02"),
     FAILS(MESSAGE_NONCANONICAL)},
    {"a default that is written", BODY(DURATION, "\x18\x00"), FAILS(MESSAGE_NONCANONICAL)},
    {"a default in the record", .alter = default_in_record, FAILS(MESSAGE_NONCANONICAL)},
    {"a field of the record twice", .alter = version_again_in_record, FAILS(MESSAGE_NONCANONICAL)},
    {"a record in two parts", TAIL("\x22\x00"), FAILS(MESSAGE_NONCANONICAL)},
    {"a record in two parts that differ", TAIL("\x22\x02\x08\x03"), FAILS(RECORD_VERSION)},
    {"another version behind the first", .alter = other_version_in_record, FAILS(RECORD_VERSION)},
    {"a result in two parts", TAIL("\x52\x00"), FAILS(MESSAGE_NONCANONICAL)},
    {"a result in two parts that differ", TAIL("\x52\x02\x18\x01"), FAILS(RESULT_DIGEST)},
    {"two results, ours last", BODY(RESULT, "\x6a\x00" RESULT), FAILS(MESSAGE_NONCANONICAL)},
    {"two results, ours first", TAIL("\x6a\x00"), FAILS(RESULT_DIGEST)},
    {"four results", TAIL("\x5a\x00\x62\x00\x6a\x00\x52\x00"), FAILS(RESULT_DIGEST)},
    {"the whole message twice", .alter = concatenated, FAILS(MESSAGE_NONCANONICAL)},
};

Test(hostile_bytes, not_covered) {
    hostile(&(group){.at = AT_RUN, PLAYS(uncovered)});
}

/* Nothing is signed of what a Describe says, and other implementations may say more. */
static const play described[] = {
    {"an unknown field", TAIL(UNKNOWN), PASSES},
    {"a field twice", TAIL(PROVIDER), PASSES},
    {"a field twice, the last one wrong",
     TAIL("\x0a\x06"
          "docker"),
     FAILS(PROVIDER_DRIFT)},
    {"fields in another order", BODY(PROVIDER TIER, TIER PROVIDER), PASSES},
};

Test(hostile_bytes, describe_may_say_more) {
    hostile(&(group){.at = AT_DESCRIBE, PLAYS(described)});
}

/* ---- empty, cut and joined ------------------------------------------------------------------------- */

static void empty(stage *st) {
    st->bodies[st->attacked].len = 0;
}

/* Cut where a field begins, a message is one still. */
static void cut_before(stage *st, const char *bytes) {
    cs_buf *body = &st->bodies[st->attacked];
    const uint8_t *at = memmem(body->ptr, body->len, bytes, strlen(bytes));
    cr_assert_not_null(at);
    body->len = (size_t)(at - body->ptr);
}

static void cut_before_result(stage *st) {
    cut_before(st, RESULT);
}

static void cut_before_record(stage *st) {
    cut_before(st, "\x22");
}

static void cut_before_environment(stage *st) {
    cut_before(st, "\x32\x07node-22\x52");
}

static void cut_policy(stage *st) {
    cut_before(st, "\x72\x0f"
                   "policy");
}

static const play cut_runs[] = {
    {"nothing", .alter = empty, FAILS(RECORD_MISSING)},
    {"cut before the result", .alter = cut_before_result, FAILS(RESULT_DIGEST)},
    {"cut before the environment", .alter = cut_before_environment, FAILS(RESULT_DIGEST)},
    {"cut before the record", .alter = cut_before_record, FAILS(RECORD_MISSING)},
};

/* Without its length, a plain connection can't show that it was cut. */
Test(hostile_bytes, runs_that_are_cut) {
    hostile(&(group){.at = AT_RUN, .head = H_STATUS H_BINARY H_ID H_END, PLAYS(cut_runs)});
}

static const play cut_before_run[] = {{"nothing", .alter = empty, FAILS(DESCRIBE_FAILED)},
                                      {"cut before the policy", .alter = cut_policy, FAILS(POLICY_DRIFT)}};
static const play cut_after_run[] = {{"nothing", .alter = empty, FAILS(PROVIDER_DRIFT)},
                                     {"cut before the policy", .alter = cut_policy, FAILS(POLICY_DRIFT)}};

Test(hostile_bytes, describes_that_are_cut) {
    hostile(&(group){.at = AT_BEFORE, .head = H_STATUS H_BINARY H_ID H_END, PLAYS(cut_before_run)});
    hostile(&(group){.at = AT_AFTER, .head = H_STATUS H_BINARY H_ID H_END, PLAYS(cut_after_run)});
}

/* ---- text ------------------------------------------------------------------------------------------ */

static void set_bytes(ProtobufCBinaryData *field, const char *bytes, size_t len) {
    canon_set(field, "");
    free(field->data);
    field->data = malloc(len);
    cr_assert_not_null(field->data);
    memcpy(field->data, bytes, len);
    field->len = len;
}

#define NUL_NAME "node\0-22"

/* What stands behind a NUL is text as well: it is in the digest and in what is signed. */
static void nul_everywhere(sample *s) {
    set_bytes(&s->record->environment, NUL_NAME, sizeof NUL_NAME - 1);
    set_bytes(&s->response->environment, NUL_NAME, sizeof NUL_NAME - 1);
}

static void nul_in_record(sample *s) {
    set_bytes(&s->record->environment, "node-22\0x", 9);
}

static void nul_in_response(sample *s) {
    set_bytes(&s->response->environment, "node-22\0x", 9);
}

static void nul_not_sealed(sample *s) {
    set_bytes(&s->record->policy, "policy:sha256:1\0x", 17);
}

static void nul_in_tier(sample *s) {
    set_bytes(&s->record->isolation, "kernel\0", 7);
    set_bytes(&s->response->isolation, "kernel\0", 7);
}

static void nul_in_provider(sample *s) {
    set_bytes(&s->record->provider, "gvisor\0x", 8);
    set_bytes(&s->response->sandbox, "gvisor\0x", 8);
}

static void not_utf8(sample *s) {
    canon_set(&s->record->environment, "node\xff");
    canon_set(&s->response->environment, "node\xff");
}

static void latin1_output(sample *s) {
    set_bytes(&s->response->javascript->stdout, "caf\xe9\0\xff", 6);
}

static void policy_not_utf8(sample *s) {
    canon_set(&s->record->policy, "\xc0\xaf");
}

static const play texts[] = {
    {"a NUL everywhere", CHANGE(nul_everywhere, RECORD_AND_BYTES), PASSES},
    {"more behind a NUL in the record", CHANGE(nul_in_record, RECORD_AND_BYTES), FAILS(ENVIRONMENT_MISMATCH)},
    {"more behind a NUL in the response", CHANGE(nul_in_response, SEAL_BYTES), FAILS(ENVIRONMENT_MISMATCH)},
    {"more behind a NUL, not sealed", CHANGE(nul_not_sealed, SEAL_BYTES), FAILS(RECORD_DIGEST)},
    {"more behind a NUL, sealed", CHANGE(nul_not_sealed, RECORD_AND_BYTES), FAILS(POLICY_DRIFT)},
    {"a NUL behind a tier", CHANGE(nul_in_tier, RECORD_AND_BYTES), FAILS(TIER_UNKNOWN)},
    {"more behind a NUL than was described", CHANGE(nul_in_provider, RECORD_AND_BYTES), FAILS(PROVIDER_DRIFT)},
    {"text that is not UTF-8", CHANGE(not_utf8, RECORD_AND_BYTES), UNANSWERED(MALFORMED)},
    {"text that is not UTF-8 in the record only", CHANGE(policy_not_utf8, RECORD_AND_BYTES), UNANSWERED(MALFORMED)},
    {"output that is not UTF-8", CHANGE(latin1_output, RESULT_AND_DOWN), PASSES},
};

Test(hostile_bytes, texts) {
    hostile(&(group){.at = AT_RUN, PLAYS(texts)});
}

static void described_not_utf8(sample *s) {
    canon_set(&s->before->policy, "\xff");
    canon_set(&s->after->policy, "\xff");
}

static void described_nul(sample *s) {
    set_bytes(&s->before->policy, "policy:sha256:1\0", 16);
    set_bytes(&s->after->policy, "policy:sha256:1\0", 16);
}

static const play described_texts[] = {
    {"not UTF-8", CHANGE(described_not_utf8, 0), UNANSWERED(MALFORMED)},
};

static const play described_texts_run[] = {
    {"a NUL", CHANGE(described_nul, 0), FAILS(POLICY_DRIFT)},
};

Test(hostile_bytes, described_texts) {
    hostile(&(group){.at = AT_BEFORE, PLAYS(described_texts)});
    hostile(&(group){.at = AT_BEFORE, PLAYS(described_texts_run)});
}

/* ---- memory ----------------------------------------------------------------------------------------- */

/* A result with so many empty pieces of advice: two bytes each, and over 200 in memory. */
static void put_advice(stage *st, size_t count) {
    cs_buf *body = &st->bodies[1];
    const uint8_t *at = memmem(body->ptr, body->len, RESULT, sizeof RESULT - 1);
    cr_assert_not_null(at);
    body->len = (size_t)(at - body->ptr);
    cr_assert(cs_buf_byte(body, 0x52));
    size_t len = 4 + 2 * count;
    for (; len > 0x7f; len >>= 7)
        cr_assert(cs_buf_byte(body, (uint8_t)(len | 0x80u)));
    cr_assert(cs_buf_byte(body, (uint8_t)len));
    cr_assert(cs_buf_append(body,
                            "\x0a\x02"
                            "2\n",
                            4));
    for (size_t i = 0; i < count; i++)
        cr_assert(cs_buf_append(body, "\x52\x00", 2));
}

static void some_advice(stage *st) {
    put_advice(st, 1000);
}

static void too_much_advice(stage *st) {
    put_advice(st, 3000000);
}

static const play memory[] = {
    {"a thousand pieces", .alter = some_advice, PASSES},
    {"three million pieces", .alter = too_much_advice, UNANSWERED(MALFORMED)},
};

Test(hostile_bytes, small_bytes_that_become_large) {
    hostile(&(group){.at = AT_RUN, PLAYS(memory)});
}
