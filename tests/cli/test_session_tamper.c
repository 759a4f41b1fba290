/* Sessions of real daemons, and what someone makes of them who can write to the ledger but has no key: every change
 * is found, and has its own code. And the other way round: untouched, they are the same on another provider. */
#include "tests/cli/stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/daemon.h"

static const char *const environment[] = {"PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN, "COUNTERSIGN_KEY", NULL};

/* A file of tests/data, put into the case's folder. */
static void take_calls(cli_case *c, const char *name) {
    char path[1024];
    size_t len = 0;
    exec_built(forge_text("../tests/data/%s", name), path);
    char *text = file_read(path, &len);
    if (text == NULL) text = file_read(forge_text("tests/data/%s", name), &len);
    cr_assert_not_null(text, "tests/data/%s can't be read", name);
    cli_write(c, name, text, len);
    free(text);
}

static void begin(cli_case *c) {
    cli_begin(c);
    c->how.env = environment;
    cli_keys(c);
}

/* The calls of a file, all of them good, in a session of their own, and in a ledger of their own. */
static void record(cli_case *c, const test_daemon *daemon, const char *calls, const char *ledger, json_int_t count) {
    take_calls(c, calls);
    EXPECT_EXIT(c, cli_json(c, ARGS("session", "-d", daemon->url, "-k", "k.key", "-l", ledger, calls)), 0);
    cr_assert_eq(c->end.status, 0);
    EXPECT_TEXT(c, "close.verdict", "passed");
    cr_expect(json_is_true(cli_member(c, "close.signed")));
    EXPECT_EXIT(c, cli_json(c, ARGS("verify", "-p", "k.pub", ledger)), 0);
    cr_expect_eq(cli_number(c, "inputs.0.runs"), count, "%s", c->end.out);
    cr_expect_eq(cli_number(c, "inputs.0.sessions"), 1, "%s", c->end.out);
}

/* ---- changes ---------------------------------------------------------------------------------------- */

/* Calls 1 to 5 are rows 0 to 4, the close is row 5. */
#define LAST_CALL 4
#define CLOSE 5

static void nothing(stored *s, const stored *other) {
    (void)s, (void)other;
}

static void drop_a_call(stored *s, const stored *other) {
    (void)other;
    stored_remove(s, 1);
}

static void drop_the_last_call(stored *s, const stored *other) {
    (void)other;
    stored_remove(s, LAST_CALL);
}

static void change_a_byte(stored *s, const stored *other) {
    (void)other;
    stored_alter_response(s, 1, "1 4 9\n", "1 4 8\n");
}

static void swap_two_calls(stored *s, const stored *other) {
    (void)other;
    stored_swap(s, 1, 2);
}

static void cut_the_close(stored *s, const stored *other) {
    (void)other;
    stored_remove(s, CLOSE);
}

static void double_a_call(stored *s, const stored *other) {
    (void)other;
    stored_insert(s, 2, &s->rows[1]);
}

static void put_in_a_call_of_another_session(stored *s, const stored *other) {
    stored_insert(s, 2, &other->rows[0]);
}

static void put_a_call_of_another_session_in_its_place(stored *s, const stored *other) {
    s->rows[1] = other->rows[1];
}

static void take_the_close_of_another_session(stored *s, const stored *other) {
    s->rows[CLOSE] = other->rows[CLOSE];
}

static void close_before_the_last_call(stored *s, const stored *other) {
    (void)other;
    stored_swap(s, LAST_CALL, CLOSE);
}

static void close_twice(stored *s, const stored *other) {
    (void)other;
    stored_insert(s, CLOSE, &s->rows[CLOSE]);
}

/* A signed statement over another call's messages. */
static void exchange_the_answers(stored *s, const stored *other) {
    (void)other;
    const cs_view answer = s->rows[1].response;
    s->rows[1].response = s->rows[3].response;
    s->rows[3].response = answer;
}

typedef struct tampering {
    const char *name;
    void (*change)(stored *s, const stored *other);
    const char *code;     /* the verdict's */
    const char *findings; /* all that is reported: entry and code */
} tampering;

static const tampering tamperings[] = {
    {"nothing", nothing, "ok", ""},
    {"one call dropped", drop_a_call, "chain-sequence", "2 chain-sequence"},
    {"one byte of a result changed", change_a_byte, "result-digest", "2 result-digest"},
    {"two calls swapped", swap_two_calls, "chain-order", "2 chain-sequence; 3 chain-order"},
    {"the close cut", cut_the_close, "chain-unclosed", "5 chain-unclosed"},
    {"the last call dropped", drop_the_last_call, "chain-close", "5 chain-close"},
    {"a call doubled", double_a_call, "chain-order", "3 chain-order"},
    {"a call of another session put in", put_in_a_call_of_another_session, "chain-unclosed", "3 chain-unclosed"},
    {"a call of another session in its place", put_a_call_of_another_session_in_its_place, "chain-sequence",
     "2 chain-sequence; 3 chain-sequence; 2 chain-unclosed"},
    {"the close of another session", take_the_close_of_another_session, "chain-close",
     "6 chain-close; 5 chain-unclosed"},
    {"the close before the last call", close_before_the_last_call, "chain-close", "5 chain-close; 6 chain-reopened"},
    {"the close twice", close_twice, "chain-reopened", "7 chain-reopened"},
    {"the answers of two calls exchanged", exchange_the_answers, "request-digest",
     "2 request-digest; 4 request-digest"},
};

static const char *findings_of(const cli_case *c) {
    const char *all = "";
    size_t at = 0;
    json_t *finding = NULL;
    json_array_foreach(cli_member(c, "inputs.0.findings"), at, finding) {
        all = forge_text("%s%s%lld %s", all, at > 0 ? "; " : "",
                         (long long)json_integer_value(json_object_get(finding, "entry")),
                         json_string_value(json_object_get(finding, "code")));
    }
    return all;
}

static void expect_found(cli_case *c, const char *file, const tampering *t) {
    const bool good = strcmp(t->code, "ok") == 0;
    const int exit = cli_json(c, ARGS("verify", "-p", "k.pub", file));
    cr_expect_eq(exit, good ? 0 : 1, "%s, %s: exit %d: %s", t->name, file, exit, c->end.out);
    cr_expect_str_eq(cli_text(c, "code"), t->code, "%s, %s: %s", t->name, file, cli_text(c, "code"));
    if (t->findings != NULL) cr_expect_str_eq(findings_of(c), t->findings, "%s, %s: %s", t->name, file, findings_of(c));
    if (good) cr_expect_eq(cli_number(c, "inputs.0.sessions"), 1, "%s", c->end.out);
}

static void tamper_on(const char *provider) {
    cli_case c;
    test_daemon daemon;
    stored ours;
    stored theirs;
    daemon_start(&daemon, provider, NULL);
    begin(&c);
    record(&c, &daemon, "session-calls.jsonl", "ledger.db", 5);
    record(&c, &daemon, "session-calls.jsonl", "other.db", 5);
    cr_expect_eq(daemon_stop(&daemon), 0);
    stored_read(&c, "ledger.db", &ours);
    stored_read(&c, "other.db", &theirs);
    cr_assert(ours.count == 6 && theirs.count == 6);
    for (size_t i = 0; i < sizeof tamperings / sizeof *tamperings; i++) {
        stored forged = ours;
        tamperings[i].change(&forged, &theirs);
        stored_write_ledger(&c, &forged, "forged.db");
        expect_found(&c, "forged.db", &tamperings[i]);
        stored_write_bundle(&c, &forged, "forged.jsonl");
        expect_found(&c, "forged.jsonl", &tamperings[i]);
    }
    cli_end(&c);
}

Test(session_tamper, a_session_of_a_confined_process) {
    tamper_on("process");
}

Test(session_tamper, a_session_of_a_container) {
    tamper_on("container");
}

/* Without the digests of the rows made anew, the ledger itself shows what was done to it, but for what was cut off at
 * its end. */
Test(session_tamper, rows_that_were_changed_where_they_stand) {
    static const struct {
        const char *sql;
        tampering found;
    } twins[] = {
        {"UPDATE entry SET id = id", {"nothing", NULL, "ok", ""}},
        {"DELETE FROM entry WHERE id = 2",
         {"one call dropped", NULL, "ledger-chain", "3 ledger-chain; 4 chain-sequence"}},
        {"UPDATE entry SET id = 1005 - id WHERE id IN (2, 3); UPDATE entry SET id = id - 1000 WHERE id > 1000",
         {"two calls swapped", NULL, "ledger-chain", "2 ledger-chain; 3 ledger-chain; 4 ledger-chain"}},
        /* The row's digest has only the length of a run's messages; the signed digests answer for their bytes. */
        {"UPDATE entry SET response = CAST(replace(response, x'31203420390a', x'31203420380a') AS BLOB) WHERE id = 2",
         {"one byte of a result changed", NULL, "result-digest", "2 result-digest"}},
        {"DELETE FROM entry WHERE id = 6", {"the close cut", NULL, "chain-unclosed", "5 chain-unclosed"}},
    };
    cli_case c;
    test_daemon daemon;
    daemon_start(&daemon, "process", NULL);
    begin(&c);
    record(&c, &daemon, "session-calls.jsonl", "ledger.db", 5);
    cr_expect_eq(daemon_stop(&daemon), 0);
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        stored_copy(&c, "ledger.db", "forged.db");
        stored_sql(&c, "forged.db", twins[i].sql);
        expect_found(&c, "forged.db", &twins[i].found);
    }
    cli_end(&c);
}

/* ---- the same on another provider ------------------------------------------------------------------- */

/* Two providers, and a folder for the ledgers. */
typedef struct pair {
    cli_case c;
    test_daemon process;
    test_daemon container;
} pair;

static void begin_pair(pair *p) {
    daemon_start(&p->process, "process", NULL);
    daemon_start(&p->container, "container", NULL);
    begin(&p->c);
}

static void end_pair(pair *p) {
    cr_expect_eq(daemon_stop(&p->process), 0);
    cr_expect_eq(daemon_stop(&p->container), 0);
    cli_end(&p->c);
}

/* The calls are recorded on one provider, and sent again to the other one. */
static void replay_on(pair *p, bool from_container, const char *calls, json_int_t count) {
    cli_case *c = &p->c;
    const test_daemon *from = from_container ? &p->container : &p->process;
    const test_daemon *to = from_container ? &p->process : &p->container;
    const char *ledger = forge_text("%s-%d.db", calls, from_container);
    const char *again = forge_text("%s-%d-again.db", calls, from_container);
    record(c, from, calls, ledger, count);
    EXPECT_EXIT(c, cli_json(c, ARGS("replay", "-p", "k.pub", "-d", to->url, "-k", "k.key", "-l", again, ledger)), 0);
    cr_expect_eq(cli_number(c, "sessions"), 1);
    cr_expect_eq(json_array_size(cli_member(c, "rows")), (size_t)count);
    for (int i = 0; i < (int)count; i++) {
        EXPECT_TEXT(c, forge_text("rows.%d.verdict", i), "reproduced");
        cr_expect_str_eq(cli_text(c, forge_text("rows.%d.daemons.0.result_sha256", i)),
                         cli_text(c, forge_text("rows.%d.result_sha256", i)));
        EXPECT_TEXT(c, forge_text("rows.%d.daemons.0.tier", i), from_container ? "process" : "container");
        EXPECT_TEXT(c, forge_text("rows.%d.tier", i), from_container ? "container" : "process");
    }
    EXPECT_EXIT(c, cli_json(c, ARGS("verify", "-p", "k.pub", again)), 0);
    cr_expect_eq(cli_number(c, "inputs.0.runs"), 2 * count);
}

Test(session_tamper, a_session_is_the_same_on_another_provider) {
    pair p;
    begin_pair(&p);
    replay_on(&p, false, "session-calls.jsonl", 5);
    replay_on(&p, true, "session-calls.jsonl", 5);
    end_pair(&p);
}

/* Cells need a daemon of root's, for a user of their own. */
static bool have_cells(void) {
    if (geteuid() == 0) return true;
    if (getenv("CI") != NULL || getenv("COUNTERSIGN_REQUIRE_ALL") != NULL) cr_assert_fail("no cells: not root");
    cr_skip_test("SKIPPED: cells need a daemon of root's");
    return false;
}

Test(session_tamper, cells_are_the_same_on_another_provider) {
    if (!have_cells()) return;
    pair p;
    begin_pair(&p);
    replay_on(&p, false, "session-cells.jsonl", 3);
    replay_on(&p, true, "session-cells.jsonl", 3);
    if (access("/usr/bin/python3", X_OK) == 0) replay_on(&p, false, "session-python.jsonl", 2);
    end_pair(&p);
}

/* The control: the same way, and one call that does not give the same twice. */
Test(session_tamper, a_call_that_is_not_deterministic_is_not_reproduced) {
    pair p;
    begin_pair(&p);
    record(&p.c, &p.process, "session-random.jsonl", "ledger.db", 3);
    EXPECT_EXIT(&p.c, cli_json(&p.c, ARGS("replay", "-p", "k.pub", "-d", p.container.url, "ledger.db")), 1);
    EXPECT_TEXT(&p.c, "code", "replay-unstable");
    EXPECT_TEXT(&p.c, "rows.0.verdict", "reproduced");
    EXPECT_TEXT(&p.c, "rows.1.verdict", "nondeterministic");
    EXPECT_TEXT(&p.c, "rows.2.verdict", "reproduced");
    end_pair(&p);
}
