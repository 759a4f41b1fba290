/* A session whose daemon is hostile at its opening or at its close. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/hostile/session_play.h"
#include "tests/support/canon.h"
#include "tests/support/expect.h"

/* ---- openings --------------------------------------------------------------------------------------- */

typedef struct open_play {
    const char *name;
    void (*change)(cs_open_session_response *opened, cs_describe_response *described);
    cs_code code;
    size_t connections; /* Describe, OpenSession, and the close of what was opened */
} open_play;

static void open_same(cs_open_session_response *o, cs_describe_response *d) {
    (void)o, (void)d;
}

static void open_short_id(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    o->session_id = borrow("0123456789abcdef0123456789abcde");
}

static void open_long_id(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    o->session_id = borrow(LIVE_ID "0");
}

static void open_upper_id(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    o->session_id = borrow("0123456789ABCDEF0123456789ABCDEF");
}

static void open_nul_id(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    o->session_id = borrow_bytes("0123456789abcdef\0"
                                 "123456789abcdef",
                                 32);
}

static void open_no_fingerprint(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    o->session = borrow("");
}

static void open_other_fingerprint(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    o->session = borrow(SOME_DIGEST);
}

static void open_upper_fingerprint(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    o->session = borrow("3EB1BD439947EB762998E566CCC2E099C791118B2F40579CC4F7DA2B5061B7F9");
}

static void open_id_as_fingerprint(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    o->session = borrow(LIVE_ID);
}

/* The session of another id, whole and good in itself. */
static void open_other_id(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    o->session_id = borrow("0123456789abcdef0123456789abcdee");
}

static void open_provider(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    o->sandbox = borrow("docker");
}

static void open_id_as_provider(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    o->sandbox = borrow("provider " LIVE_ID);
}

static void open_no_provider(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    o->sandbox = borrow("");
}

static void open_tier(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    o->isolation = borrow("vm");
}

static void open_described_tier(cs_open_session_response *o, cs_describe_response *d) {
    (void)o;
    canon_set(&d->isolation, "vm");
}

static void open_unknown_tier(cs_open_session_response *o, cs_describe_response *d) {
    o->isolation = borrow("castle");
    canon_set(&d->isolation, "castle");
}

static void open_no_tier(cs_open_session_response *o, cs_describe_response *d) {
    o->isolation = borrow("");
    canon_set(&d->isolation, "");
}

static void open_nothing(cs_open_session_response *o, cs_describe_response *d) {
    (void)d;
    *o = (cs_open_session_response)PLIMSOLL__V1__OPEN_SESSION_RESPONSE__INIT;
}

static const open_play openings[] = {
    {"a good one", open_same, CS_CODE_OK, 4},
    {"an id that is too short", open_short_id, CS_CODE_SESSION_ID, 3},
    {"an id that is too long", open_long_id, CS_CODE_SESSION_ID, 3},
    {"an id in capitals", open_upper_id, CS_CODE_SESSION_ID, 3},
    {"an id with a NUL", open_nul_id, CS_CODE_SESSION_ID, 3},
    {"no fingerprint", open_no_fingerprint, CS_CODE_SESSION_FINGERPRINT, 3},
    {"another fingerprint", open_other_fingerprint, CS_CODE_SESSION_FINGERPRINT, 3},
    {"a fingerprint in capitals", open_upper_fingerprint, CS_CODE_SESSION_FINGERPRINT, 3},
    {"the id as its fingerprint", open_id_as_fingerprint, CS_CODE_SESSION_FINGERPRINT, 3},
    {"another id", open_other_id, CS_CODE_SESSION_FINGERPRINT, 3},
    {"provider", open_provider, CS_CODE_PROVIDER_DRIFT, 3},
    {"the id in the provider", open_id_as_provider, CS_CODE_PROVIDER_DRIFT, 3},
    {"no provider", open_no_provider, CS_CODE_PROVIDER_DRIFT, 3},
    {"tier", open_tier, CS_CODE_TIER_DRIFT, 3},
    {"the tier that was described", open_described_tier, CS_CODE_TIER_DRIFT, 3},
    {"a tier that is none", open_unknown_tier, CS_CODE_TIER_UNKNOWN, 3},
    {"no tier", open_no_tier, CS_CODE_TIER_UNKNOWN, 3},
    {"nothing in it", open_nothing, CS_CODE_SESSION_ID, 2},
};

/* Nothing was signed, no call was sent, and the ledger holds the finding alone. */
static void expect_unopened(session_case *c, const char *name, cs_result result, cs_code code, size_t connections) {
    const cs_run_report *opening = &c->session.opening;
    cr_expect_eq(opening->result, result, "%s: %s", name, cs_result_word(opening->result));
    cr_expect_eq(opening->err.code, code, "%s: %s: %s", name, cs_code_name(opening->err.code), opening->err.message);
    cr_expect_not(c->session.opened, "%s", name);
    EXPECT_END(c->reports[0], CS_NOT_RUN, CS_CODE_SESSION_STOPPED);
    EXPECT_END(c->close, CS_NOT_RUN, CS_CODE_SESSION_STOPPED);
    cr_expect_eq(peer_connections(c->daemon), connections, "%s: %zu", name, peer_connections(c->daemon));
    char want[64];
    (void)snprintf(want, sizeof want, "finding:%s", cs_code_name(code));
    session_case_entries(c, code == CS_CODE_REFUSED_REQUEST ? "" : want);
    session_case_verified(c, CS_NOTHING, CS_CODE_NOTHING_TO_CHECK, 0, 0);
}

Test(hostile_sessions, openings) {
    for (size_t i = 0; i < COUNT(openings); i++) {
        const open_play *p = &openings[i];
        session_case c;
        session_play_init(&c);
        cs_open_session_response opened = live_opened();
        p->change(&opened, c.calls[0].before);
        live_describe(&c.script, c.calls[0].before);
        live_open(&c.script, &opened);
        session_case_end(&c, 0, "");
        if (p->code != CS_CODE_OK) (void)session_case_next(&c);
        session_play_run(&c);
        if (p->code == CS_CODE_OK) {
            EXPECT_END(c.close, CS_OK, CS_CODE_OK);
            session_case_verified(&c, CS_NOTHING, CS_CODE_NOTHING_TO_CHECK, 0, 1);
        } else {
            expect_unopened(&c, p->name, CS_FAILED, p->code, p->connections);
        }
        session_case_free(&c);
    }
}

/* OpenSessionResponse{session_id: ID} is 0a 20 ID. */
Test(hostile_sessions, answers_to_an_opening_that_are_not_believed) {
    static const struct {
        const char *name;
        const char *head;
        const char *body;
        cs_code code;
        peer_end end;
    } plays[] = {
        {"not bound", HEAD_OK HEAD_END, "\x0a\x20" LIVE_ID, CS_CODE_SESSION_OPEN_FAILED, PEER_CLOSE},
        {"bound to the call before", HEAD_OK "Plimsoll-Request-Id: {old}\r\n" HEAD_END, "\x0a\x20" LIVE_ID,
         CS_CODE_SESSION_OPEN_FAILED, PEER_CLOSE},
        {"no message", HEAD_OK HEAD_ID HEAD_END, "\x0a\x21" LIVE_ID, CS_CODE_SESSION_OPEN_FAILED, PEER_CLOSE},
        {"a mark that is not bound", HEAD_500 HEAD_END, ERROR_WITH("no", MARK), CS_CODE_SESSION_OPEN_FAILED,
         PEER_CLOSE},
        {"a mark that is bound", HEAD_500 HEAD_ID HEAD_END, ERROR_WITH("no", MARK), CS_CODE_REFUSED_REQUEST,
         PEER_CLOSE},
        {"a redirect", HEAD_307 HEAD_ID HEAD_END, "", CS_CODE_SESSION_OPEN_FAILED, PEER_CLOSE},
        {"a page of a gateway", HEAD_502 HEAD_END, "<html>no</html>", CS_CODE_SESSION_OPEN_FAILED, PEER_CLOSE},
        {"nothing", NULL, "", CS_CODE_SESSION_OPEN_FAILED, PEER_CLOSE},
        {"a reset", NULL, "", CS_CODE_SESSION_OPEN_FAILED, PEER_RESET},
    };
    for (size_t i = 0; i < COUNT(plays); i++) {
        session_case c;
        session_play_init(&c);
        live_describe(&c.script, c.calls[0].before);
        live_step(&c.script,
                  (peer_step){.head = plays[i].head, .body = cs_view_of(plays[i].body), .end = plays[i].end});
        (void)session_case_next(&c);
        session_play_run(&c);
        expect_unopened(&c, plays[i].name, CS_NOT_RUN, plays[i].code, 2);
        session_case_free(&c);
    }
}

/* ---- closes ----------------------------------------------------------------------------------------- */

/* A session of two good calls, which closes like this; `last` stands for: the record of call 0 (none), 1 or 2. */
typedef struct close_play {
    const char *name;
    const char *session;
    uint64_t calls;
    const char *last; /* "1", "2", or the text itself */
    cs_code code;
} close_play;

static const close_play closes[] = {
    {"a good one", LIVE_FINGERPRINT, 2, "2", CS_CODE_OK},
    {"another session", SOME_DIGEST, 2, "2", CS_CODE_SESSION_FINGERPRINT},
    {"no session", "", 2, "2", CS_CODE_SESSION_FINGERPRINT},
    {"the session in capitals", "3EB1BD439947EB762998E566CCC2E099C791118B2F40579CC4F7DA2B5061B7F9", 2, "2",
     CS_CODE_SESSION_FINGERPRINT},
    {"the id for the session", LIVE_ID, 2, "2", CS_CODE_SESSION_FINGERPRINT},
    {"one call fewer", LIVE_FINGERPRINT, 1, "2", CS_CODE_CHAIN_CLOSE},
    {"one call fewer, and its record", LIVE_FINGERPRINT, 1, "1", CS_CODE_CHAIN_CLOSE},
    {"one call more", LIVE_FINGERPRINT, 3, "2", CS_CODE_CHAIN_CLOSE},
    {"no call", LIVE_FINGERPRINT, 0, "", CS_CODE_CHAIN_CLOSE},
    {"no call, and the last record", LIVE_FINGERPRINT, 0, "2", CS_CODE_CHAIN_CLOSE},
    {"the most calls", LIVE_FINGERPRINT, UINT64_MAX, "2", CS_CODE_CHAIN_CLOSE},
    {"calls that wrap in 32 bits", LIVE_FINGERPRINT, (UINT64_C(1) << 32) + 2, "2", CS_CODE_CHAIN_CLOSE},
    {"the record before the last", LIVE_FINGERPRINT, 2, "1", CS_CODE_CHAIN_CLOSE},
    {"another record", LIVE_FINGERPRINT, 2, SOME_DIGEST, CS_CODE_CHAIN_CLOSE},
    {"no record", LIVE_FINGERPRINT, 2, "", CS_CODE_CHAIN_CLOSE},
};

static void begin_calls(session_case *c) {
    session_play_init(c);
    session_case_begin(c);
    session_case_add(c);
    session_case_add(c);
}

/* Both calls are signed whatever the close says, and without a signed close their session does not verify. */
static void expect_closed(session_case *c, const char *name, cs_result result, cs_code code) {
    const bool good = code == CS_CODE_OK;
    EXPECT_END(c->reports[0], CS_OK, CS_CODE_OK);
    EXPECT_END(c->reports[1], CS_OK, CS_CODE_OK);
    cr_expect_eq(c->close.result, result, "%s: %s", name, cs_result_word(c->close.result));
    cr_expect_eq(c->close.err.code, code, "%s: %s: %s", name, cs_code_name(c->close.err.code), c->close.err.message);
    cr_expect_eq(c->close.envelope.len > 0, good, "%s", name);
    char want[64];
    (void)snprintf(want, sizeof want, "run run finding:%s", cs_code_name(code));
    session_case_entries(c, good ? "run run close" : want);
    session_case_verified(c, good ? CS_OK : CS_FAILED, good ? CS_CODE_OK : CS_CODE_CHAIN_UNCLOSED, 2, good);
}

Test(hostile_sessions, closes) {
    for (size_t i = 0; i < COUNT(closes); i++) {
        const close_play *p = &closes[i];
        session_case c;
        begin_calls(&c);
        const bool of_a_call = strlen(p->last) == 1;
        const size_t which = strcmp(p->last, "1") == 0 ? 0 : 1;
        live_close(&c.script, p->session, p->calls,
                   of_a_call ? live_hex(&c.calls[which].record->record_sha256) : p->last);
        live_describe(&c.script, c.calls[0].after);
        session_play_run(&c);
        expect_closed(&c, p->name, p->code == CS_CODE_OK ? CS_OK : CS_FAILED, p->code);
        session_case_free(&c);
    }
}

static void play_close(const char *name, const peer_step *step, const peer_step *after, cs_code code) {
    session_case c;
    begin_calls(&c);
    if (step != NULL)
        live_step(&c.script, *step);
    else
        live_close(&c.script, LIVE_FINGERPRINT, 2, session_case_last(&c));
    if (after != NULL) live_step(&c.script, *after);
    session_play_run(&c);
    expect_closed(&c, name, CS_UNCHECKED, code);
    session_case_free(&c);
}

/* A close that is not believed is none, also when it says that nothing was done. */
Test(hostile_sessions, answers_to_a_close_that_are_not_believed) {
    static const struct {
        const char *name;
        const char *head;
        const char *body;
        peer_end end;
    } plays[] = {
        {"not bound", HEAD_OK HEAD_END, "\x10\x02", PEER_CLOSE},
        {"bound to the call before", HEAD_OK "Plimsoll-Request-Id: {old}\r\n" HEAD_END, "\x10\x02", PEER_CLOSE},
        {"no message", HEAD_OK HEAD_ID HEAD_END, "\x10", PEER_CLOSE},
        {"the id in an error", HEAD_500 HEAD_ID HEAD_END, ERROR_WITH("no session " LIVE_ID, ""), PEER_CLOSE},
        {"a mark", HEAD_500 HEAD_ID HEAD_END, ERROR_WITH("no", MARK), PEER_CLOSE},
        {"a redirect", HEAD_307 HEAD_ID HEAD_END, "", PEER_CLOSE},
        {"a page of a gateway", HEAD_502 HEAD_END, "<html>no</html>", PEER_CLOSE},
        {"nothing", NULL, "", PEER_CLOSE},
        {"a reset", NULL, "", PEER_RESET},
    };
    for (size_t i = 0; i < COUNT(plays); i++) {
        const peer_step step = {.head = plays[i].head, .body = cs_view_of(plays[i].body), .end = plays[i].end};
        play_close(plays[i].name, &step, NULL, CS_CODE_SESSION_UNCLOSED);
    }
}

/* The close is good, and the daemon then does not say what it is. */
Test(hostile_sessions, no_description_after_a_close) {
    static const peer_step unbound = {.head = HEAD_OK HEAD_END};
    static const peer_step marked = {
        .head = HEAD_500 HEAD_ID HEAD_END,
        .body = {.ptr = (const uint8_t *)ERROR_WITH("no", MARK), .len = sizeof ERROR_WITH("no", MARK) - 1}};
    static const peer_step reset = {.end = PEER_RESET};
    play_close("not bound", NULL, &unbound, CS_CODE_DESCRIBE_AFTER_FAILED);
    play_close("refused", NULL, &marked, CS_CODE_DESCRIBE_AFTER_FAILED);
    play_close("a reset", NULL, &reset, CS_CODE_DESCRIBE_AFTER_FAILED);
}

static void after_same(cs_describe_response *d) {
    (void)d;
}

static void after_provider(cs_describe_response *d) {
    canon_set(&d->sandbox, "docker");
}

static void after_tier(cs_describe_response *d) {
    canon_set(&d->isolation, "container");
}

static void after_policy(cs_describe_response *d) {
    canon_set(&d->policy, "policy:sha256:2");
}

static void after_protocol(cs_describe_response *d) {
    d->protocol = 0;
}

Test(hostile_sessions, another_description_after_a_close) {
    static const struct {
        const char *name;
        void (*change)(cs_describe_response *d);
        cs_code code;
    } plays[] = {
        {"the same", after_same, CS_CODE_OK},
        {"provider", after_provider, CS_CODE_PROVIDER_DRIFT},
        {"tier", after_tier, CS_CODE_TIER_DRIFT},
        {"policy", after_policy, CS_CODE_POLICY_DRIFT},
        {"protocol", after_protocol, CS_CODE_PROTOCOL_DRIFT},
    };
    for (size_t i = 0; i < COUNT(plays); i++) {
        session_case c;
        begin_calls(&c);
        plays[i].change(c.calls[0].after);
        session_case_end(&c, 2, session_case_last(&c));
        session_play_run(&c);
        expect_closed(&c, plays[i].name, plays[i].code == CS_CODE_OK ? CS_OK : CS_FAILED, plays[i].code);
        session_case_free(&c);
    }
}
