#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "records/dsse.h"
#include "records/statement.h"
#include "tests/support/canon.h"
#include "tests/support/fixtures.h"

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HEX_C "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define HEX_D "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

#define STATEMENT_OF(type, name, digest, predicate_type, predicate)                                                    \
    "{\"_type\":\"" type "\",\"subject\":[{\"name\":\"" name "\",\"digest\":{\"sha256\":\"" digest                     \
    "\"}}],\"predicateType\":\"" predicate_type "\",\"predicate\":{" predicate "}}"
#define STATEMENT(name, digest, word, predicate)                                                                       \
    STATEMENT_OF("https://in-toto.io/Statement/v1", name, digest, "https://plimsollmark.github.io/plimsoll/" word,     \
                 predicate)

#define RECORD_HEAD                                                                                                    \
    "\"version\":2,\"request_sha256\":\"" HEX_A "\",\"result_sha256\":\"" HEX_B                                        \
    "\",\"provider\":\"docker\",\"isolation\":\"container\",\"environment\":\"\","
#define RECORD_TAIL                                                                                                    \
    "\"policy\":\"p\",\"started_unix_ms\":-1,\"ended_unix_ms\":9223372036854775807,\"session\":\"\",\"sequence\":"     \
    "18446744073709551615,\"previous_sha256\":\"\",\"record_sha256\":\"" HEX_C "\""
#define RECORD STATEMENT("run-record", HEX_C, "run-record/v1", RECORD_HEAD RECORD_TAIL)
#define CLOSE_BODY "\"session\":\"" HEX_A "\",\"calls\":18446744073709551615,\"last_record_sha256\":\"" HEX_B "\""
#define CLOSE STATEMENT("session", HEX_A, "session-close/v1", CLOSE_BODY)
#define LINK_BODY "\"index\":1,\"previous_sha256\":\"\",\"entry_sha256\":\"" HEX_A "\""
#define LINK STATEMENT("bundle-line", HEX_A, "bundle-link/v1", LINK_BODY)
#define CHECKPOINT_BODY "\"index\":7,\"previous_sha256\":\"" HEX_B "\",\"checkpoint\":true,\"lines\":6"
#define CHECKPOINT STATEMENT("bundle-line", HEX_B, "bundle-link/v1", CHECKPOINT_BODY)

static void expect_accepted(const char *payload) {
    cs_statement statement;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_statement_read(cs_view_of(payload), &statement, &err), CS_OK, "%s: %s (%s)", payload, err.message,
                 err.where);
    cs_statement_free(&statement);
}

static void expect_refused(const char *payload, cs_code code) {
    cs_statement statement;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_statement_read(cs_view_of(payload), &statement, &err), CS_FAILED, "%s", payload);
    cr_expect_eq(err.code, code, "%s: %s (%s, %s)", payload, cs_code_name(err.code), err.message, err.where);
    cr_expect_null(statement.record);
}

/* ---- building ------------------------------------------------------------------------------------- */

static cs_run_record *new_record(void) {
    cs_run_record *record = malloc(sizeof *record);
    cr_assert(record);
    plimsoll__v1__run_record__init(record);
    record->version = 2;
    canon_set(&record->request_sha256, HEX_A);
    canon_set(&record->result_sha256, HEX_B);
    canon_set(&record->provider, "docker");
    canon_set(&record->isolation, "container");
    canon_set(&record->policy, "p");
    record->started_unix_ms = -1;
    record->ended_unix_ms = INT64_MAX;
    record->sequence = UINT64_MAX;
    canon_set(&record->record_sha256, HEX_C);
    return record;
}

static void expect_record(const cs_run_record *record, const char *expected) {
    cs_buf out = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES);
    cr_assert(cs_statement_record(record, &out));
    cr_expect(cs_view_is(cs_buf_view(&out), expected), "%.*s", (int)out.len, (const char *)out.ptr);
    cs_buf_free(&out);
}

Test(statement, record_is_built_exactly) {
    cs_run_record *record = new_record();
    expect_record(record, RECORD);
    canon_set(&record->software_identity, "s<1>");
    canon_set(&record->software_rule_id, "exact:s<1>");
    canon_set(&record->unanswered, "internal");
    record->version = 3;
    canon_set(&record->result_sha256, "");
    canon_set(&record->session, HEX_D);
    record->sequence = 2;
    canon_set(&record->previous_sha256, HEX_B);
    expect_record(record,
                  STATEMENT("run-record", HEX_C, "run-record/v1",
                            "\"version\":3,\"request_sha256\":\"" HEX_A "\",\"result_sha256\":\"\",\"provider\":"
                            "\"docker\",\"isolation\":\"container\",\"environment\":\"\",\"software_identity\":"
                            "\"s\\u003c1\\u003e\",\"software_rule_id\":\"exact:s\\u003c1\\u003e\",\"policy\":\"p\","
                            "\"started_unix_ms\":-1,\"ended_unix_ms\":9223372036854775807,\"session\":\"" HEX_D
                            "\",\"sequence\":2,\"previous_sha256\":\"" HEX_B
                            "\",\"unanswered\":\"internal\",\"record_sha256\":\"" HEX_C "\""));
    cs_message_free(record);
}

#define RECORD_4(tail)                                                                                                 \
    STATEMENT("run-record", HEX_C, "run-record/v1",                                                                    \
              "\"version\":4,\"request_sha256\":\"" HEX_A "\",\"result_sha256\":\"" HEX_B                              \
              "\",\"provider\":\"docker\",\"isolation\":\"container\",\"environment\":\"\",\"policy\":\"p\","          \
              "\"started_unix_ms\":-1,\"ended_unix_ms\":9223372036854775807,\"session\":\"\",\"sequence\":"            \
              "18446744073709551615,\"previous_sha256\":\"\"," tail)
#define INSTANCE "\"instance\":\"k8s-pod-uid:1\""
#define OWN_DIGEST "\"record_sha256\":\"" HEX_C "\""

/* Behind `unanswered`, before the record's own digest. */
Test(statement, an_instance_has_its_place) {
    cs_run_record *record = new_record();
    record->version = 4;
    expect_record(record, RECORD_4(OWN_DIGEST));
    canon_set(&record->instance, "k8s-pod-uid:1");
    expect_record(record, RECORD_4(INSTANCE "," OWN_DIGEST));
    canon_set(&record->unanswered, "internal");
    expect_record(record, RECORD_4("\"unanswered\":\"internal\"," INSTANCE "," OWN_DIGEST));
    cs_message_free(record);

    cs_statement statement;
    cr_assert_eq(cs_statement_read(cs_view_of(RECORD_4(INSTANCE "," OWN_DIGEST)), &statement, NULL), CS_OK);
    cr_expect(cs_view_is(cs_bytes_view(&statement.record->instance), "k8s-pod-uid:1"));
    cs_statement_free(&statement);
    expect_refused(RECORD_4(OWN_DIGEST "," INSTANCE), CS_CODE_STATEMENT_NOT_REBUILT);
    expect_refused(RECORD_4("\"instance\":\"\"," OWN_DIGEST), CS_CODE_STATEMENT_NOT_REBUILT);
    expect_refused(RECORD_4(INSTANCE "," INSTANCE "," OWN_DIGEST), CS_CODE_STATEMENT_MALFORMED);
}

Test(statement, close_and_links_are_built_exactly) {
    static const cs_session_close close = {HEX_A, UINT64_MAX, HEX_B};
    static const cs_bundle_link entry = {.index = 1, .entry_sha256 = HEX_A};
    static const cs_bundle_link checkpoint = {.index = 7, .previous_sha256 = HEX_B, .checkpoint = true, .lines = 6};
    cs_buf out = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES);
    cr_assert(cs_statement_close(&close, &out));
    cr_expect(cs_view_is(cs_buf_view(&out), CLOSE));
    cs_buf_clear(&out);
    cr_assert(cs_statement_link(&entry, &out));
    cr_expect(cs_view_is(cs_buf_view(&out), LINK));
    cs_buf_clear(&out);
    cr_assert(cs_statement_link(&checkpoint, &out));
    cr_expect(cs_view_is(cs_buf_view(&out), CHECKPOINT));
    cs_buf_free(&out);
}

Test(statement, a_full_buffer_is_left_as_it_was) {
    cs_run_record *record = new_record();
    cs_buf full = CS_BUF_INIT(sizeof RECORD - 2);
    cs_buf fits = CS_BUF_INIT(sizeof RECORD - 1);
    cr_expect(cs_statement_record(record, &fits));
    cr_expect_not(cs_statement_record(record, &full));
    cr_expect_eq(full.len, 0);
    cs_buf_free(&full);
    cs_buf_free(&fits);
    cs_message_free(record);
}

/* ---- reading -------------------------------------------------------------------------------------- */

Test(statement, record_is_read) {
    cs_statement statement;
    cr_assert_eq(cs_statement_read(cs_view_of(RECORD), &statement, NULL), CS_OK);
    cr_expect_eq(statement.kind, CS_STATEMENT_RECORD);
    const cs_run_record *record = statement.record;
    cr_expect_eq(record->version, 2);
    cr_expect(cs_view_is(cs_bytes_view(&record->request_sha256), HEX_A));
    cr_expect(cs_view_is(cs_bytes_view(&record->result_sha256), HEX_B));
    cr_expect(cs_view_is(cs_bytes_view(&record->provider), "docker"));
    cr_expect(cs_view_is(cs_bytes_view(&record->isolation), "container"));
    cr_expect(cs_view_is(cs_bytes_view(&record->environment), ""));
    cr_expect(cs_view_is(cs_bytes_view(&record->policy), "p"));
    cr_expect_eq(record->started_unix_ms, -1);
    cr_expect_eq(record->ended_unix_ms, INT64_MAX);
    cr_expect_eq(record->sequence, UINT64_MAX);
    cr_expect(cs_view_is(cs_bytes_view(&record->record_sha256), HEX_C));
    cs_statement_free(&statement);
    cr_expect_null(statement.record);
}

Test(statement, close_and_links_are_read) {
    cs_statement statement;
    cr_assert_eq(cs_statement_read(cs_view_of(CLOSE), &statement, NULL), CS_OK);
    cr_expect_eq(statement.kind, CS_STATEMENT_CLOSE);
    cr_expect_str_eq(statement.close.session, HEX_A);
    cr_expect_eq(statement.close.calls, UINT64_MAX);
    cr_expect_str_eq(statement.close.last_record_sha256, HEX_B);
    cs_statement_free(&statement);
    cr_assert_eq(cs_statement_read(cs_view_of(LINK), &statement, NULL), CS_OK);
    cr_expect_eq(statement.kind, CS_STATEMENT_LINK);
    cr_expect_eq(statement.link.index, 1);
    cr_expect_str_eq(statement.link.previous_sha256, "");
    cr_expect_str_eq(statement.link.entry_sha256, HEX_A);
    cr_expect_not(statement.link.checkpoint);
    cs_statement_free(&statement);
    cr_assert_eq(cs_statement_read(cs_view_of(CHECKPOINT), &statement, NULL), CS_OK);
    cr_expect_eq(statement.link.index, 7);
    cr_expect_eq(statement.link.lines, 6);
    cr_expect(statement.link.checkpoint);
    cs_statement_free(&statement);
}

#define FIRST_BODY "\"index\":1,\"previous_sha256\":\"\",\"checkpoint\":true"
#define LINK_WITH(digest, body) STATEMENT("bundle-line", digest, "bundle-link/v1", body)

/* No line stands before it, so its subject is no digest; nothing else has such a subject. */
Test(statement, a_checkpoint_on_line_1) {
    static const cs_bundle_link first = {.index = 1, .checkpoint = true};
    static const char *const subjects[] = {
        LINK_WITH("", LINK_BODY),
        LINK_WITH("", CHECKPOINT_BODY),
        LINK_WITH("", "\"index\":2,\"previous_sha256\":\"\",\"checkpoint\":true"),
        LINK_WITH("", "\"index\":1,\"previous_sha256\":\"" HEX_B "\",\"checkpoint\":true"),
        LINK_WITH("", FIRST_BODY ",\"lines\":1"),
        LINK_WITH(HEX_A, FIRST_BODY),
        STATEMENT("session", "", "session-close/v1", CLOSE_BODY),
        STATEMENT("run-record", "", "run-record/v1", RECORD_HEAD RECORD_TAIL),
    };
    CS_AUTO_BUF out = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES);
    cr_assert(cs_statement_link(&first, &out));
    cr_expect(cs_view_is(cs_buf_view(&out), LINK_WITH("", FIRST_BODY)));
    cs_statement statement;
    cr_assert_eq(cs_statement_read(cs_view_of(LINK_WITH("", FIRST_BODY)), &statement, NULL), CS_OK);
    cr_expect_eq(statement.kind, CS_STATEMENT_LINK);
    cr_expect_eq(statement.link.index, 1);
    cr_expect_eq(statement.link.lines, 0);
    cr_expect(statement.link.checkpoint);
    cr_expect_str_eq(statement.link.previous_sha256, "");
    cs_statement_free(&statement);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        expect_refused(subjects[i], CS_CODE_STATEMENT_SUBJECT);
    expect_refused(LINK_WITH("", FIRST_BODY ",\"lines\":0"), CS_CODE_STATEMENT_NOT_REBUILT);
    expect_refused(LINK_WITH("", "\"index\":1,\"previous_sha256\":\"\""), CS_CODE_STATEMENT_MALFORMED);
}

Test(statement, types) {
    expect_refused(STATEMENT_OF("https://in-toto.io/Statement/v0.1", "session", HEX_A,
                                "https://plimsollmark.github.io/plimsoll/session-close/v1", CLOSE_BODY),
                   CS_CODE_STATEMENT_TYPE);
    expect_refused(STATEMENT("session", HEX_A, "session-close/v2", CLOSE_BODY), CS_CODE_STATEMENT_TYPE);
    expect_refused(STATEMENT_OF("https://in-toto.io/Statement/v1", "session", HEX_A, "session-close/v1", CLOSE_BODY),
                   CS_CODE_STATEMENT_TYPE);
    /* Each body only under its own type. */
    expect_refused(STATEMENT("run-record", HEX_A, "run-record/v1", CLOSE_BODY), CS_CODE_STATEMENT_MALFORMED);
}

Test(statement, subjects) {
    expect_refused(STATEMENT("run-record", HEX_A, "session-close/v1", CLOSE_BODY), CS_CODE_STATEMENT_SUBJECT);
    expect_refused(STATEMENT("sessions", HEX_A, "session-close/v1", CLOSE_BODY), CS_CODE_STATEMENT_SUBJECT);
    expect_refused(STATEMENT("session", HEX_B, "session-close/v1", CLOSE_BODY), CS_CODE_STATEMENT_SUBJECT);
    expect_refused(STATEMENT("run-record", HEX_D, "run-record/v1", RECORD_HEAD RECORD_TAIL), CS_CODE_STATEMENT_SUBJECT);
    expect_refused(STATEMENT("bundle-line", HEX_B, "bundle-link/v1", LINK_BODY), CS_CODE_STATEMENT_SUBJECT);
    expect_refused(STATEMENT("bundle-line", HEX_A, "bundle-link/v1", CHECKPOINT_BODY), CS_CODE_STATEMENT_SUBJECT);
    expect_refused(STATEMENT("bundle-line-that-is-far-too-long", HEX_A, "bundle-link/v1", LINK_BODY),
                   CS_CODE_STATEMENT_SUBJECT);
    expect_refused(STATEMENT("session", "", "session-close/v1", CLOSE_BODY), CS_CODE_STATEMENT_SUBJECT);
    /* two subjects, none */
    expect_refused("{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"session\",\"digest\":{"
                   "\"sha256\":\"" HEX_A "\"}},{\"name\":\"session\",\"digest\":{\"sha256\":\"" HEX_A
                   "\"}}],\"predicateType\":\"https://plimsollmark.github.io/plimsoll/session-close/v1\","
                   "\"predicate\":{" CLOSE_BODY "}}",
                   CS_CODE_STATEMENT_SUBJECT);
    expect_refused("{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[],\"predicateType\":\"https://"
                   "plimsollmark.github.io/plimsoll/session-close/v1\",\"predicate\":{" CLOSE_BODY "}}",
                   CS_CODE_STATEMENT_MALFORMED);
}

#define CLOSE_WITH(body) STATEMENT("session", HEX_A, "session-close/v1", body)
#define CLOSE_SESSION "\"session\":\"" HEX_A "\","
#define CLOSE_LAST ",\"last_record_sha256\":\"" HEX_B "\""

Test(statement, malformed) {
    static const char *const cases[] = {
        "",
        "{}",
        "[]",
        CLOSE "x",
        /* unknown, repeated, missing, differently cased */
        CLOSE_WITH(CLOSE_BODY ",\"x\":1"),
        CLOSE_WITH(CLOSE_BODY ",\"calls\":18446744073709551615"),
        CLOSE_WITH("\"session\":\"" HEX_A "\",\"calls\":1"),
        CLOSE_WITH("\"session\":\"" HEX_A "\",\"Calls\":1" CLOSE_LAST),
        CLOSE_WITH(""),
        /* numbers */
        CLOSE_WITH(CLOSE_SESSION "\"calls\":18446744073709551616" CLOSE_LAST),
        CLOSE_WITH(CLOSE_SESSION "\"calls\":-1" CLOSE_LAST),
        CLOSE_WITH(CLOSE_SESSION "\"calls\":1.5" CLOSE_LAST),
        CLOSE_WITH(CLOSE_SESSION "\"calls\":01" CLOSE_LAST),
        CLOSE_WITH(CLOSE_SESSION "\"calls\":\"1\"" CLOSE_LAST),
        CLOSE_WITH(CLOSE_SESSION "\"calls\":null" CLOSE_LAST),
        /* digests: capitals, short, not text */
        CLOSE_WITH(CLOSE_SESSION "\"calls\":1,\"last_record_sha256\":\"BB\""),
        CLOSE_WITH(CLOSE_SESSION "\"calls\":1,\"last_record_sha256\":"
                                 "\"BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB\""),
        CLOSE_WITH(CLOSE_SESSION "\"calls\":1,\"last_record_sha256\":1"),
        /* links: none or both of entry and checkpoint, lines without one, line 0, a false checkpoint */
        LINK_WITH(HEX_A, "\"index\":1,\"previous_sha256\":\"" HEX_A "\""),
        LINK_WITH(HEX_A,
                  "\"index\":1,\"previous_sha256\":\"" HEX_A "\",\"entry_sha256\":\"" HEX_A "\",\"checkpoint\":true"),
        LINK_WITH(HEX_A, "\"index\":1,\"previous_sha256\":\"\",\"entry_sha256\":\"" HEX_A "\",\"lines\":1"),
        LINK_WITH(HEX_A, "\"index\":0,\"previous_sha256\":\"\",\"entry_sha256\":\"" HEX_A "\""),
        LINK_WITH(HEX_A, "\"index\":1,\"previous_sha256\":\"\",\"entry_sha256\":\"" HEX_A "\",\"checkpoint\":false"),
        /* another member around the predicate, and another order there */
        "{\"x\":1,\"_type\":\"https://in-toto.io/Statement/v1\"}",
        "{\"subject\":[],\"_type\":\"https://in-toto.io/Statement/v1\"}",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(cases[i], CS_CODE_STATEMENT_MALFORMED);
}

Test(statement, versions_fit_in_32_bits) {
    expect_refused(
        STATEMENT("run-record", HEX_C, "run-record/v1",
                  "\"version\":4294967298,\"request_sha256\":\"" HEX_A "\",\"result_sha256\":\"" HEX_B
                  "\",\"provider\":\"docker\",\"isolation\":\"container\",\"environment\":\"\"," RECORD_TAIL),
        CS_CODE_STATEMENT_MALFORMED);
}

Test(statement, the_same_content_in_other_bytes) {
    static const char *const cases[] = {
        " " CLOSE,
        CLOSE "\n",
        CLOSE_WITH(" " CLOSE_BODY),
        CLOSE_WITH("\"calls\":18446744073709551615,"
                   "\"session\":\"" HEX_A "\"" CLOSE_LAST),
        CLOSE_WITH(CLOSE_SESSION "\"calls\":1e0" CLOSE_LAST),
        CLOSE_WITH(CLOSE_SESSION "\"calls\":1.0" CLOSE_LAST),
        CLOSE_WITH(CLOSE_SESSION "\"calls\":-0" CLOSE_LAST),
        CLOSE_WITH("\"sess\\u0069on\":\"" HEX_A "\",\"calls\":1" CLOSE_LAST),
        STATEMENT("sessio\\u006e", HEX_A, "session-close/v1", CLOSE_BODY),
        STATEMENT("session", HEX_A, "session-close\\/v1", CLOSE_BODY),
        /* empty where it should be left out */
        STATEMENT("run-record", HEX_C, "run-record/v1", RECORD_HEAD "\"software_identity\":\"\"," RECORD_TAIL),
        LINK_WITH(HEX_A, LINK_BODY ",\"lines\":0"),
        LINK_WITH(HEX_B, "\"index\":7,\"previous_sha256\":\"" HEX_B "\",\"entry_sha256\":\"\",\"checkpoint\":true,"
                         "\"lines\":6"),
        LINK_WITH(HEX_B, "\"index\":7,\"previous_sha256\":\"" HEX_B "\",\"lines\":6,\"checkpoint\":true"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(cases[i], CS_CODE_STATEMENT_NOT_REBUILT);
}

#define IDENTITY(text)                                                                                                 \
    STATEMENT("run-record", HEX_C, "run-record/v1", RECORD_HEAD "\"software_identity\":\"" text "\"," RECORD_TAIL)

Test(statement, escapes) {
    static const char *const accepted[] = {
        IDENTITY("\\b\\f"),
        IDENTITY("\\u0008\\u000c"),
        IDENTITY("\\b\\u0008\\f\\u000c\\\\b\\\\u0008"),
        IDENTITY("\\n\\r\\t\\u0000\\u001f\\u003c\\u003e\\u0026\\u2028\\u2029\\\"\\\\/\xc3\xa4\x7f"),
    };
    static const char *const refused[] = {
        IDENTITY("\\u000C"), IDENTITY("\\u000a"), IDENTITY("\\u0009"),
        IDENTITY("<"),       IDENTITY("&"),       IDENTITY("\\u003C"),
        IDENTITY("\\/"),     IDENTITY("\\u0041"), IDENTITY("\xe2\x80\xa8"),
        IDENTITY("\\u00e4"),
    };
    static const char *const malformed[] = {
        IDENTITY("\x08"), IDENTITY("\\x41"), IDENTITY("\\ud800"), IDENTITY("\xff"), IDENTITY("\xed\xa0\x80"),
    };
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++)
        expect_accepted(accepted[i]);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect_refused(refused[i], CS_CODE_STATEMENT_NOT_REBUILT);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        expect_refused(malformed[i], CS_CODE_STATEMENT_MALFORMED);
}

/* Whatever one byte is changed to, the statement is refused or says something else. */
Test(statement, cuts_and_changes) {
    static const char *const payloads[] = {RECORD, CLOSE, LINK, CHECKPOINT};
    for (size_t p = 0; p < sizeof payloads / sizeof *payloads; p++) {
        char *text = strdup(payloads[p]);
        cr_assert(text);
        size_t len = strlen(text);
        cs_statement statement;
        for (size_t i = 0; i < len; i++)
            cr_expect_eq(cs_statement_read(cs_view_bytes(text, i), &statement, NULL), CS_FAILED, "cut at %zu", i);
        for (size_t i = 0; i < len; i++) {
            text[i] ^= 1;
            if (cs_statement_read(cs_view_bytes(text, len), &statement, NULL) == CS_OK) {
                cs_buf out = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES);
                if (statement.kind == CS_STATEMENT_RECORD) cr_assert(cs_statement_record(statement.record, &out));
                if (statement.kind == CS_STATEMENT_CLOSE) cr_assert(cs_statement_close(&statement.close, &out));
                if (statement.kind == CS_STATEMENT_LINK) cr_assert(cs_statement_link(&statement.link, &out));
                cr_expect(cs_view_equal(cs_buf_view(&out), cs_view_bytes(text, len)), "byte %zu", i);
                cs_buf_free(&out);
                cs_statement_free(&statement);
            }
            text[i] ^= 1;
        }
        free(text);
    }
}

/* ---- what another implementation signed ----------------------------------------------------------- */

static void check_published(const json_t *envelope) {
    char *text = json_dumps(envelope, JSON_COMPACT);
    cr_assert(text);
    cs_envelope decoded;
    cs_statement statement;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_envelope_decode(cs_view_of(text), &decoded, &err), CS_OK, "%s (%s)", err.message, err.where);
    cr_expect_eq(cs_statement_read(cs_buf_view(&decoded.payload), &statement, &err), CS_OK, "%s (%s)", err.message,
                 err.where);
    cs_statement_free(&statement);
    cs_envelope_free(&decoded);
    free(text);
}

static size_t check_line(const json_t *line) {
    const json_t *envelope = json_object_get(line, "envelope");
    const json_t *link = json_object_get(line, "link");
    if (envelope) check_published(envelope);
    if (link) check_published(link);
    return (envelope != NULL) + (link != NULL);
}

Test(statement, published_statements_are_read) {
    cr_expect_eq(fixture_lines("published-session/unlinked.jsonl", check_line), 6);
    cr_expect_eq(fixture_lines("published-session/linked.jsonl", check_line), 13);
}
