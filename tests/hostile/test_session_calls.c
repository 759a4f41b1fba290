/* A session whose daemon is hostile in one call: what it says of the call, and of one that it gave no answer to.
 *
 * The second call of a session is attacked. `a` changes one thing and leaves the record's own digest, `b` makes that
 * digest again. Each is played twice: once the daemon closes as it was followed, so that the ledger verifies with
 * the first call alone, and once as if the second had counted, so that the close is not signed either. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hostile/session_play.h"
#include "tests/support/canon.h"
#include "tests/support/changes.h"

typedef struct call_play {
    const char *name;
    void (*change)(sample *s);
    unsigned seal;
    cs_code code;
} call_play;

#define A(what, function, word)                                                                                        \
    { what ", a", function, SEAL_BYTES, CS_CODE_##word }
#define B(what, function, word)                                                                                        \
    { what ", b", function, RECORD_AND_BYTES, CS_CODE_##word }
#define BOTH(what, function, word_a, word_b) A(what, function, word_a), B(what, function, word_b)

/* ---- playing ---------------------------------------------------------------------------------------- */

/* A session with one good call, and a second one that is not in the script yet. */
static sample *begin(session_case *c) {
    session_play_init(c);
    session_case_begin(c);
    session_case_add(c);
    return session_case_next(c);
}

/* The close, and a third call, which is never answered. */
static void end(session_case *c, bool counted) {
    const size_t last = counted ? 1 : 0;
    session_case_end(c, last + 1, live_hex(&c->calls[last].record->record_sha256));
    (void)session_case_next(c);
}

/* The second call passed, as an answered one or as one without an answer. */
static void expect_followed(session_case *c, const char *name, bool answered) {
    EXPECT_END(c->reports[1], answered ? CS_OK : CS_MAYBE_RAN, answered ? CS_CODE_OK : CS_CODE_UNANSWERED_ERROR);
    cr_expect_not_null(c->reports[1].checked.record, "%s", name);
    EXPECT_END(c->close, CS_OK, CS_CODE_OK);
    session_case_entries(c, answered ? "run run close" : "run unanswered close");
    session_case_verified(c, CS_OK, CS_CODE_OK, 2, 1);
}

/* The second call is a finding with this code, nothing of it is signed, and nothing more was sent. */
static void expect_stopped(session_case *c, const char *name, cs_result result, cs_code code, bool counted) {
    const cs_run_report *attacked = &c->reports[1];
    EXPECT_END(c->reports[0], CS_OK, CS_CODE_OK);
    cr_expect_eq(attacked->result, result, "%s: %s", name, cs_result_word(attacked->result));
    cr_expect_eq(attacked->err.code, code, "%s: %s: %s", name, cs_code_name(attacked->err.code), attacked->err.message);
    cr_expect_eq(attacked->envelope.len, 0, "%s: signed", name);
    cr_expect_null(attacked->checked.record, "%s: checked", name);
    EXPECT_END(c->reports[2], CS_NOT_RUN, CS_CODE_SESSION_STOPPED);
    EXPECT_END(c->close, counted ? CS_FAILED : CS_OK, counted ? CS_CODE_CHAIN_CLOSE : CS_CODE_OK);
    cr_expect_eq(peer_connections(c->daemon), 6, "%s: %zu connections", name, peer_connections(c->daemon));
    char want[128];
    (void)snprintf(want, sizeof want, "run finding:%s %s", cs_code_name(code),
                   counted ? "finding:chain-close" : "close");
    session_case_entries(c, want);
    session_case_verified(c, counted ? CS_FAILED : CS_OK, counted ? CS_CODE_CHAIN_UNCLOSED : CS_CODE_OK, 1, !counted);
}

static void settle(session_case *c, const call_play *p, bool answered, bool counted) {
    const bool good = p->code == CS_CODE_OK;
    if (good) c->count = 2; /* what follows a good call is not asked here */
    session_play_run(c);
    if (good)
        expect_followed(c, p->name, answered);
    else
        expect_stopped(c, p->name, CS_FAILED, p->code, counted);
    session_case_free(c);
}

static void play_answered(const call_play *p, bool counted) {
    session_case c;
    sample *s = begin(&c);
    p->change(s);
    sample_seal(s, p->seal);
    live_call_answer(&c.script, s, 0);
    end(&c, counted);
    settle(&c, p, true, counted);
}

static void play_unanswered(const call_play *p, bool counted) {
    session_case c;
    sample *s = begin(&c);
    live_unanswered_make(s);
    p->change(s);
    sample_seal(s, p->seal);
    live_unanswered_step(&c.script, s, 0);
    end(&c, counted);
    settle(&c, p, false, counted);
}

static void play_all(const call_play *plays, size_t count, void (*play)(const call_play *p, bool counted)) {
    for (size_t i = 0; i < count; i++) {
        play(&plays[i], true);
        /* A good call that a close does not count is the close's own matter. */
        if (plays[i].code != CS_CODE_OK) play(&plays[i], false);
    }
}

/* ---- what is changed -------------------------------------------------------------------------------- */

static void nothing(sample *s) {
    (void)s;
}

static void version_0(sample *s) {
    s->record->version = 0;
}

static void other_request_digest(sample *s) {
    canon_set(&s->record->request_sha256, SOME_DIGEST);
}

static void other_result_digest(sample *s) {
    canon_set(&s->record->result_sha256, SOME_DIGEST);
}

static void sequence_0(sample *s) {
    s->record->sequence = 0;
}

static void sequence_3(sample *s) {
    s->record->sequence = 3;
}

static void sequence_huge(sample *s) {
    s->record->sequence = UINT64_MAX;
}

static void sequence_wraps(sample *s) {
    s->record->sequence = (UINT64_C(1) << 32) + 2;
}

static void no_previous(sample *s) {
    canon_set(&s->record->previous_sha256, "");
}

static void upper_previous(sample *s) {
    for (size_t i = 0; i < s->record->previous_sha256.len; i++)
        if (s->record->previous_sha256.data[i] >= 'a') s->record->previous_sha256.data[i] -= 'a' - 'A';
}

static void no_session(sample *s) {
    canon_set(&s->record->session, "");
}

static void session_id(sample *s) {
    canon_set(&s->record->session, SOME_DIGEST "0");
}

static void no_own_digest(sample *s) {
    canon_set(&s->record->record_sha256, "");
}

static void other_own_digest(sample *s) {
    canon_set(&s->record->record_sha256, SOME_DIGEST);
}

static void everywhere(sample *s, const char *provider, const char *isolation) {
    canon_set(&s->record->provider, provider);
    canon_set(&s->response->sandbox, provider);
    canon_set(&s->record->isolation, isolation);
    canon_set(&s->response->isolation, isolation);
}

static void other_provider(sample *s) {
    everywhere(s, "docker", "kernel");
}

static void other_tier(sample *s) {
    everywhere(s, "gvisor", "vm");
}

static void low_tier(sample *s) {
    everywhere(s, "gvisor", "process");
}

static void unknown_tier(sample *s) {
    everywhere(s, "gvisor", "castle");
}

static void change_ended(sample *s) {
    s->record->ended_unix_ms++;
}

/* The record of the very same call with other code: good in itself, and not of what was sent. */
static void of_another_call(sample *s) {
    canon_set(&s->request->javascript->code, "three()");
    sample_seal(s, SEAL_ALL);
    canon_set(&s->request->javascript->code, "two()");
}

/* The whole answer to the first call once more. */
static void of_the_call_before(sample *s) {
    canon_set(&s->request->javascript->code, "one()");
    s->record->sequence = 1;
    canon_set(&s->record->previous_sha256, "");
    sample_seal(s, SEAL_ALL);
    canon_set(&s->request->javascript->code, "two()");
}

/* ---- a call that was answered ----------------------------------------------------------------------- */

static const call_play answered[] = {
    {"a good one", nothing, 0, CS_CODE_OK},
    A("no record", change_no_record, RECORD_MISSING),
    BOTH("version 0", version_0, RECORD_VERSION, RECORD_VERSION),
    BOTH("version 1", change_version_1, RECORD_VERSION, RECORD_VERSION),
    BOTH("version 3", change_version_3, RECORD_VERSION, RECORD_VERSION),
    BOTH("version 4", change_version_4, RECORD_VERSION, RECORD_VERSION),
    BOTH("unanswered", change_unanswered, RECORD_UNANSWERED, RECORD_UNANSWERED),
    BOTH("request digest", other_request_digest, REQUEST_DIGEST, REQUEST_DIGEST),
    BOTH("result digest", other_result_digest, RESULT_DIGEST, RESULT_DIGEST),
    A("output", change_other_output, RESULT_DIGEST),
    BOTH("provider of the record", change_record_provider, PROVIDER_MISMATCH, PROVIDER_MISMATCH),
    BOTH("provider", other_provider, RECORD_DIGEST, PROVIDER_DRIFT),
    BOTH("tier of the record", change_record_isolation, ISOLATION_MISMATCH, ISOLATION_MISMATCH),
    BOTH("tier", other_tier, RECORD_DIGEST, TIER_DRIFT),
    BOTH("a tier below the floor", low_tier, RECORD_DIGEST, TIER_BELOW_FLOOR),
    BOTH("a tier that is none", unknown_tier, RECORD_DIGEST, TIER_UNKNOWN),
    BOTH("environment", change_record_environment, ENVIRONMENT_MISMATCH, ENVIRONMENT_MISMATCH),
    BOTH("instance", change_record_instance, INSTANCE_MISMATCH, INSTANCE_MISMATCH),
    BOTH("policy", change_record_policy, RECORD_DIGEST, POLICY_DRIFT),
    BOTH("software", change_record_software, SOFTWARE_MISMATCH, SOFTWARE_MISMATCH),
    BOTH("software of both", change_other_software, SOFTWARE_NOT_ALLOWED, SOFTWARE_NOT_ALLOWED),
    BOTH("rule", change_record_rule, RULE_MISMATCH, RULE_MISMATCH),
    BOTH("started", change_record_time, RECORD_DIGEST, OK),
    BOTH("ended", change_ended, RECORD_DIGEST, OK),
    BOTH("another session", change_session, RECORD_DIGEST, SESSION_FINGERPRINT),
    BOTH("no session", no_session, RECORD_DIGEST, SESSION_FINGERPRINT),
    BOTH("a session that is too long", session_id, RECORD_DIGEST, SESSION_FINGERPRINT),
    BOTH("sequence 0", sequence_0, RECORD_DIGEST, CHAIN_SEQUENCE),
    BOTH("the sequence of the call before", change_sequence, RECORD_DIGEST, CHAIN_SEQUENCE),
    BOTH("a sequence too far", sequence_3, RECORD_DIGEST, CHAIN_SEQUENCE),
    BOTH("a sequence that wraps in 32 bits", sequence_wraps, RECORD_DIGEST, CHAIN_SEQUENCE),
    BOTH("the last sequence", sequence_huge, RECORD_DIGEST, CHAIN_SEQUENCE),
    BOTH("previous", change_previous, RECORD_DIGEST, CHAIN_PREVIOUS),
    BOTH("no previous", no_previous, RECORD_DIGEST, CHAIN_PREVIOUS),
    BOTH("previous in capitals", upper_previous, RECORD_DIGEST, CHAIN_PREVIOUS),
    A("no own digest", no_own_digest, RECORD_DIGEST),
    A("another own digest", other_own_digest, RECORD_DIGEST),
    {"no result", change_no_result, RESULT_AND_DOWN, CS_CODE_RESULT_MISSING},
    {"a result of another kind", change_cell_result, RESULT_AND_DOWN, CS_CODE_RESULT_KIND},
    A("the record of another call", of_another_call, REQUEST_DIGEST),
    A("the record of the call before", of_the_call_before, REQUEST_DIGEST),
};

Test(hostile_session_calls, every_field_of_an_answer) {
    play_all(answered, COUNT(answered), play_answered);
}

/* ---- a call without an answer, and a record that says so -------------------------------------------- */

static void record_provider(sample *s) {
    canon_set(&s->record->provider, "docker");
}

static void record_tier(sample *s) {
    canon_set(&s->record->isolation, "vm");
}

static void record_low_tier(sample *s) {
    canon_set(&s->record->isolation, "process");
}

static void record_no_tier(sample *s) {
    canon_set(&s->record->isolation, "");
}

static void id_for_session(sample *s) {
    canon_set(&s->record->session, LIVE_ID);
}

static void id_in_code(sample *s) {
    canon_set(&s->record->unanswered, "internal " LIVE_ID);
}

static void other_connect_code(sample *s) {
    canon_set(&s->record->unanswered, "unavailable");
}

static void upper_connect_code(sample *s) {
    canon_set(&s->record->unanswered, "Internal");
}

static void no_code(sample *s) {
    canon_set(&s->record->unanswered, "");
}

static const call_play unanswered[] = {
    {"a good one", nothing, 0, CS_CODE_OK},
    BOTH("version 0", version_0, RECORD_VERSION, RECORD_VERSION),
    BOTH("version 1", change_version_1, RECORD_VERSION, RECORD_VERSION),
    BOTH("version 2", change_version_2, RECORD_VERSION, RECORD_VERSION),
    BOTH("version 4", change_version_4, RECORD_VERSION, RECORD_VERSION),
    BOTH("request digest", other_request_digest, REQUEST_DIGEST, REQUEST_DIGEST),
    BOTH("a result", other_result_digest, RESULT_DIGEST, RESULT_DIGEST),
    BOTH("another code", other_connect_code, RECORD_DIGEST, OK),
    BOTH("a code in capitals", upper_connect_code, RECORD_UNANSWERED, RECORD_UNANSWERED),
    BOTH("no code", no_code, RECORD_UNANSWERED, RECORD_UNANSWERED),
    BOTH("the id in the code", id_in_code, RECORD_UNANSWERED, RECORD_UNANSWERED),
    BOTH("none of the codes", change_not_a_code, RECORD_UNANSWERED, RECORD_UNANSWERED),
    BOTH("provider", record_provider, RECORD_DIGEST, PROVIDER_DRIFT),
    BOTH("tier", record_tier, RECORD_DIGEST, TIER_DRIFT),
    BOTH("a tier below the floor", record_low_tier, RECORD_DIGEST, TIER_BELOW_FLOOR),
    BOTH("no tier", record_no_tier, RECORD_DIGEST, TIER_UNKNOWN),
    BOTH("environment, of which there is nothing to compare", change_record_environment, RECORD_DIGEST, OK),
    BOTH("instance", change_record_instance, INSTANCE_MISMATCH, INSTANCE_MISMATCH),
    BOTH("policy", change_record_policy, RECORD_DIGEST, POLICY_DRIFT),
    BOTH("software", change_record_software, SOFTWARE_NOT_ALLOWED, SOFTWARE_NOT_ALLOWED),
    BOTH("rule", change_record_rule, RULE_MISMATCH, RULE_MISMATCH),
    BOTH("started", change_record_time, RECORD_DIGEST, OK),
    BOTH("ended", change_ended, RECORD_DIGEST, OK),
    BOTH("another session", change_session, RECORD_DIGEST, SESSION_FINGERPRINT),
    BOTH("the id for the session", id_for_session, RECORD_DIGEST, SESSION_FINGERPRINT),
    BOTH("no session", no_session, RECORD_DIGEST, SESSION_FINGERPRINT),
    BOTH("sequence 0", sequence_0, RECORD_DIGEST, CHAIN_SEQUENCE),
    BOTH("the sequence of the call before", change_sequence, RECORD_DIGEST, CHAIN_SEQUENCE),
    BOTH("a sequence too far", sequence_3, RECORD_DIGEST, CHAIN_SEQUENCE),
    BOTH("the last sequence", sequence_huge, RECORD_DIGEST, CHAIN_SEQUENCE),
    BOTH("previous", change_previous, RECORD_DIGEST, CHAIN_PREVIOUS),
    BOTH("no previous", no_previous, RECORD_DIGEST, CHAIN_PREVIOUS),
    A("no own digest", no_own_digest, RECORD_DIGEST),
    A("another own digest", other_own_digest, RECORD_DIGEST),
};

Test(hostile_session_calls, every_field_of_an_unanswered_call) {
    play_all(unanswered, COUNT(unanswered), play_unanswered);
}

/* ---- errors ----------------------------------------------------------------------------------------- */

/* The good record of the call that got no answer, as it stands in a body. */
static char *good_detail(sample *s) {
    live live_step_of_it = {.count = 0};
    live_unanswered_make(s);
    live_unanswered_step(&live_step_of_it, s, 0);
    const char *body = (const char *)live_step_of_it.steps[0].body.ptr;
    const char *from = strchr(body, '[') + 1;
    char *detail = strndup(from, (size_t)(strrchr(body, ']') - from));
    cr_assert_not_null(detail);
    live_free(&live_step_of_it);
    return detail;
}

/* The attacked call gets this answer, in which @ stands for that detail. */
static void play_error(const char *name, const char *head, const char *body, cs_result result, cs_code code) {
    session_case c;
    sample *s = begin(&c);
    char *detail = good_detail(s);
    cs_buf text = CS_BUF_INIT(65536);
    for (const char *at = body; *at != '\0'; at++)
        cr_assert(*at == '@' ? cs_buf_text(&text, detail) : cs_buf_byte(&text, (uint8_t)*at));
    free(detail);
    live_step(&c.script, (peer_step){.head = head, .body = cs_buf_view(&text)});
    end(&c, false);
    session_play_run(&c);
    expect_stopped(&c, name, result, code, false);
    session_case_free(&c);
    cs_buf_free(&text);
}

Test(hostile_session_calls, errors_that_give_no_record_to_believe) {
    static const struct {
        const char *name;
        const char *head;
        const char *body;
    } plays[] = {
        {"no detail", HEAD_500 HEAD_ID HEAD_END, ERROR_WITH("it broke", "")},
        {"the id in the message", HEAD_500 HEAD_ID HEAD_END, ERROR_WITH("no session " LIVE_ID, "")},
        {"the id as a key", HEAD_500 HEAD_ID HEAD_END, "{\"code\":\"internal\",\"" LIVE_ID "\":1}"},
        {"the id in a page", HEAD_500 HEAD_ID HEAD_END, "<html>" LIVE_ID LIVE_ID "</html>"},
        {"a good record in an error that is not bound", HEAD_500 HEAD_END, ERROR_WITH("it broke", "@")},
        {"in one that is bound to another request", HEAD_500 "Plimsoll-Request-Id: {old}\r\n" HEAD_END,
         ERROR_WITH("it broke", "@")},
        {"in one that is bound twice", HEAD_500 HEAD_ID HEAD_ID HEAD_END, ERROR_WITH("it broke", "@")},
        {"in a body that is no error", HEAD_500 HEAD_ID HEAD_END, "{\"message\":\"it broke\",\"details\":[@]}"},
        {"in a body that does not end", HEAD_500 HEAD_ID HEAD_END, "{\"code\":\"internal\",\"details\":[@"},
        {"a mark that is not bound", HEAD_500 HEAD_END, ERROR_WITH("it broke", MARK)},
        {"a record that does not decode", HEAD_500 HEAD_ID HEAD_END,
         ERROR_WITH("", "{\"type\":\"plimsoll.v1.UnansweredCall\",\"value\":\"CgII\"}")},
        {"a detail without a record", HEAD_500 HEAD_ID HEAD_END,
         ERROR_WITH("", "{\"type\":\"plimsoll.v1.UnansweredCall\",\"value\":\"\"}")},
        {"a redirect", HEAD_307 HEAD_ID HEAD_END, ""},
        {"a page of a gateway", HEAD_502 HEAD_END, "<html>no</html>"},
    };
    for (size_t i = 0; i < COUNT(plays); i++)
        play_error(plays[i].name, plays[i].head, plays[i].body, CS_MAYBE_RAN, CS_CODE_UNANSWERED_ERROR);
    /* The twin of them all: the same detail in a bound error is a good record (every_field_of_an_unanswered_call). */
}

Test(hostile_session_calls, the_first_record_of_several_counts) {
    play_error("a bad one before a good one", HEAD_500 HEAD_ID HEAD_END,
               ERROR_WITH("", "{\"type\":\"plimsoll.v1.UnansweredCall\",\"value\":\"CgIIAw\"},@"), CS_FAILED,
               CS_CODE_RECORD_UNANSWERED);
}

Test(hostile_session_calls, successes_that_are_not_believed) {
    play_error("not bound", HEAD_OK HEAD_END, "", CS_MAYBE_RAN, CS_CODE_UNANSWERED_UNBOUND);
    play_error("JSON", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" HEAD_ID HEAD_END, "{}", CS_MAYBE_RAN,
               CS_CODE_UNANSWERED_MALFORMED);
    play_error("no message", HEAD_OK HEAD_ID HEAD_END, "\x0a\x05", CS_MAYBE_RAN, CS_CODE_UNANSWERED_MALFORMED);
    play_error("an error's body", HEAD_OK HEAD_ID HEAD_END, ERROR_WITH("", "@"), CS_MAYBE_RAN,
               CS_CODE_UNANSWERED_MALFORMED);
    play_error("nothing in it", HEAD_OK HEAD_ID HEAD_END, "", CS_FAILED, CS_CODE_RECORD_MISSING);
    play_error("a run with nothing in it", HEAD_OK HEAD_ID HEAD_END, "\x0a", CS_MAYBE_RAN,
               CS_CODE_UNANSWERED_MALFORMED);
    play_error("the id as an answer", HEAD_OK HEAD_ID HEAD_END, LIVE_ID, CS_MAYBE_RAN, CS_CODE_UNANSWERED_MALFORMED);
}

/* A mark says that nothing ran, so there is no call whose record the same error could carry. */
Test(hostile_session_calls, a_refusal_is_never_a_record) {
    session_case c;
    sample *s = begin(&c);
    char *detail = good_detail(s);
    cs_buf text = CS_BUF_INIT(65536);
    cr_assert(cs_buf_printf(&text, "{\"code\":\"internal\",\"details\":[%s,%s]}", detail, MARK));
    live_step(&c.script, (peer_step){.head = HEAD_500 HEAD_ID HEAD_END, .body = cs_buf_view(&text)});
    session_case_end(&c, 1, live_hex(&c.calls[0].record->record_sha256));
    session_play_run(&c);
    EXPECT_END(c.reports[1], CS_NOT_RUN, CS_CODE_REFUSED_REQUEST);
    cr_expect_eq(c.reports[1].entry, 0);
    cr_expect_eq(c.session.chain.calls, 1);
    EXPECT_END(c.close, CS_OK, CS_CODE_OK);
    session_case_entries(&c, "run close");
    session_case_verified(&c, CS_OK, CS_CODE_OK, 1, 1);
    session_case_free(&c);
    cs_buf_free(&text);
    free(detail);
}
