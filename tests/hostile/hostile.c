#include "tests/hostile/hostile.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records/text.h"
#include "tests/hostile/stage.h"
#include "tests/support/folder.h"
#include "tests/support/live.h"
#include "verify/verify.h"

#define MUST(call, err) cr_assert_eq((call), CS_OK, "%s", (err).message)
#define BUSY_MS 1000 /* a time-out below this may hit a good call on a busy machine, too */
#define MAX_ATTEMPTS 10

/* What stays the same for all plays of a group. */
typedef struct theatre {
    char folder[128];
    cs_public_key public_key;
    cs_key *key;
    unsigned ledgers;
} theatre;

/* One play while it is on. */
typedef struct show {
    char title[160]; /* for messages */
    stage st;
    char ledger_path[256];
    char url[160];
    cs_ledger *ledger;
    cs_client *client;
    peer *daemon;
    peer *elsewhere; /* where a redirect leads; NULL: there is none */
    peer_step elsewhere_step;
    cs_run_report report;
} show;

/* What must have become of the run. */
typedef struct verdict {
    cs_result result;
    cs_code code;
    uint64_t runs;
    uint64_t findings;
    size_t connections;
    bool ran; /* the Run call left */
} verdict;

/* ---- expectations --------------------------------------------------------------------------------- */

/* The classes are stated here once more; nothing is asked of the code under test. */
static verdict verdict_of(const play *p, size_t attacked) {
    if (p->state == CS_CALL_ANSWERED) {
        if (p->code == CS_CODE_OK) return (verdict){CS_OK, CS_CODE_OK, 1, 0, 3, true};
        if (p->code == CS_CODE_DESCRIBE_FAILED) return (verdict){CS_NOT_RUN, p->code, 0, 0, 1, false};
        return (verdict){CS_FAILED, p->code, 0, 1, 3, true};
    }
    if (attacked == 0) return (verdict){CS_NOT_RUN, CS_CODE_DESCRIBE_FAILED, 0, 0, 1, false};
    if (attacked == 2) return (verdict){CS_UNCHECKED, CS_CODE_DESCRIBE_AFTER_FAILED, 0, 1, 3, true};
    if (p->state == CS_CALL_UNANSWERED) return (verdict){CS_MAYBE_RAN, p->code, 0, 1, 2, true};
    return (verdict){CS_NOT_RUN, p->code, 0, 0, 2, p->state == CS_CALL_REFUSED};
}

static const cs_outcome *call_of(const show *s, size_t which) {
    const cs_outcome *calls[] = {&s->report.before, &s->report.outcome, &s->report.after};
    return calls[which];
}

static void expect_call(const show *s, const play *p) {
    const cs_outcome *call = call_of(s, s->st.attacked);
    cr_expect_eq(call->state, p->state, "%s: state %d", s->title, (int)call->state);
    const cs_code code = p->state == CS_CALL_ANSWERED ? CS_CODE_OK : p->code;
    cr_expect_eq(call->err.code, code, "%s: call %s: %s", s->title, cs_code_name(call->err.code), call->err.message);
    cr_expect_eq(call->message != NULL, p->state == CS_CALL_ANSWERED, "%s", s->title);
    cr_expect_eq(call->bytes.len > 0, p->state == CS_CALL_ANSWERED && call->raw.len > 0, "%s", s->title);
}

/* Text of a daemon that is kept or shown must not steer a terminal. */
static void expect_tame(const show *s, cs_view text) {
    cr_expect(cs_utf8_valid(text), "%s: text that is not UTF-8", s->title);
    for (size_t i = 0; i < text.len; i++)
        cr_expect(text.ptr[i] >= ' ' && text.ptr[i] != 0x7f, "%s: a control character", s->title);
}

static void expect_end(const show *s, const verdict *want) {
    const cs_run_report *r = &s->report;
    cr_expect_eq(r->result, want->result, "%s: %s", s->title, cs_result_word(r->result));
    cr_expect_eq(r->err.code, want->code, "%s: %s: %s", s->title, cs_code_name(r->err.code), r->err.message);
    cr_expect_eq(r->ran, want->ran, "%s: ran", s->title);
    expect_tame(s, cs_view_of(r->err.message));
    expect_tame(s, cs_view_of(r->err.found));
    cr_expect_eq(r->entry, want->runs + want->findings > 0 ? 1 : 0, "%s: entry", s->title);
    cr_expect_eq(r->envelope.len > 0, want->runs > 0, "%s: envelope", s->title);
    cr_expect_eq(r->checked.record != NULL, want->runs > 0, "%s: checked", s->title);
    cr_expect_str_eq(r->side_file, "", "%s", s->title);
    cr_expect_eq(peer_connections(s->daemon), want->connections, "%s: %zu connections", s->title,
                 peer_connections(s->daemon));
    if (s->elsewhere != NULL)
        cr_expect_eq(peer_connections(s->elsewhere), 0, "%s: the redirect was followed", s->title);
}

static void expect_warnings(const show *s, const play *p) {
    const cs_checked_run *checked = &s->report.checked;
    size_t count = 0;
    if (p->reversed) {
        cr_expect_eq(checked->warnings[count], CS_CODE_TIMES_REVERSED, "%s", s->title);
        count++;
    }
    if (!p->calm) {
        cr_expect_eq(checked->warnings[count], CS_CODE_CLOCK_SKEW, "%s", s->title);
        count++;
    }
    cr_expect_eq(checked->warning_count, count, "%s: %zu warnings", s->title, checked->warning_count);
}

/* ---- the ledger ----------------------------------------------------------------------------------- */

static void expect_verified(const theatre *t, const show *s, const verdict *want) {
    cs_trust trust = {.count = 0};
    cs_error err = CS_ERROR_INIT;
    MUST(cs_trust_add(&trust, &t->public_key, &err), err);
    cs_source *source = NULL;
    MUST(cs_source_open(s->ledger_path, &source, &err), err);
    const cs_verify_options options = {.trust = &trust};
    cs_verify_summary summary;
    cs_result result = cs_verify_source(source, &options, &summary, &err);
    cs_source_close(source);
    cr_expect_eq(result, want->runs > 0 ? CS_OK : CS_NOTHING, "%s: ledger: %s: %s", s->title, cs_code_name(err.code),
                 err.message);
    cr_expect_eq(summary.runs, want->runs, "%s: runs", s->title);
    cr_expect_eq(summary.findings, want->findings, "%s: findings", s->title);
    cr_expect_eq(summary.entries, want->runs + want->findings, "%s: entries", s->title);
    cr_expect_eq(summary.failures, 0, "%s: failures", s->title);
}

/* What the entry must hold of the answer of Run: an answered one as a binary message, any other as it came. */
static bool is_kept(const show *s, const play *p, cs_view kept) {
    const stage *st = &s->st;
    cs_view sent = cs_buf_view(&st->bodies[1]);
    const bool answered = st->attacked != 1 || p->state == CS_CALL_ANSWERED;
    if (answered && st->config.codec == CS_CODEC_JSON) sent = cs_view_bytes(st->s.bytes, st->s.len);
    if (answered || p->kept == 0) return cs_view_equal(kept, sent);
    if (p->kept == KEPT_NOTHING) return kept.len == 0;
    if (p->kept != KEPT_SOME && kept.len != (size_t)p->kept) return false;
    for (size_t i = 0; i < kept.len; i++) /* a flood repeats its body */
        if (kept.ptr[i] != sent.ptr[i % sent.len]) return false;
    return true;
}

static void expect_entry(const show *s, const play *p, const verdict *want) {
    cs_error err = CS_ERROR_INIT;
    cs_source *source = NULL;
    cs_entry entry;
    bool more = false;
    MUST(cs_source_open(s->ledger_path, &source, &err), err);
    MUST(cs_source_next(source, &entry, &more, &err), err);
    cr_assert(more, "%s: no entry", s->title);
    const cs_ledger_row *row = entry.row;
    cr_expect_eq(entry.finding, want->findings > 0, "%s", s->title);
    cr_expect(cs_view_is(row->code, want->findings > 0 ? cs_code_name(want->code) : ""), "%s: %.*s", s->title,
              (int)row->code.len, (const char *)row->code.ptr);
    cr_expect_eq(row->detail.len > 0, want->findings > 0, "%s: detail", s->title);
    cr_expect_eq(row->envelope.ptr != NULL, want->runs > 0, "%s: envelope", s->title);
    cr_expect_eq(row->record_sha256.len, want->runs > 0 ? 64 : 0, "%s", s->title);
    expect_tame(s, row->detail);
    cr_expect(is_kept(s, p, row->response), "%s: %zu bytes kept", s->title, row->response.len);
    cr_expect(cs_view_equal(row->request, cs_buf_view(&s->report.request_bytes)), "%s: request", s->title);
    const peer_request *seen = peer_seen(s->daemon, 1);
    if (seen != NULL && seen->whole && s->st.config.codec == CS_CODEC_BINARY)
        cr_expect(cs_view_equal(row->request, cs_buf_view(&seen->body)), "%s: request as it was sent", s->title);
    cs_source_close(source);
}

/* ---- one play ------------------------------------------------------------------------------------- */

/* A redirect leads to a peer that would answer well. */
static void open_elsewhere(show *s) {
    cs_buf *head = &s->st.heads[s->st.attacked];
    if (!stage_has(head, "{elsewhere}")) return;
    s->elsewhere_step =
        (peer_step){.head = H_STATUS H_BINARY H_ID H_LENGTH H_END, .body = cs_buf_view(&s->st.bodies[s->st.attacked])};
    s->elsewhere = peer_start(&s->elsewhere_step, 1, NULL);
    cr_assert_not_null(s->elsewhere);
    stage_replace(head, cs_view_of("{elsewhere}"), cs_view_of(peer_url(s->elsewhere)), s->title);
    cr_assert(cs_buf_byte(head, 0));
    s->st.steps[s->st.attacked].head = (const char *)head->ptr;
}

static void open_client(show *s) {
    cs_error err = CS_ERROR_INIT;
    const char *address = peer_url(s->daemon);
    const char *scheme = s->st.scheme != NULL ? s->st.scheme : "http";
    (void)snprintf(s->url, sizeof s->url, "%s%s", scheme, strchr(address, ':'));
    s->st.config.base_url = s->st.url[0] != '\0' ? s->st.url : s->url;
    MUST(cs_client_new(&s->st.config, &s->client, &err), err);
}

static void perform(theatre *t, show *s) {
    cs_error err = CS_ERROR_INIT;
    (void)snprintf(s->ledger_path, sizeof s->ledger_path, "%s/ledger-%u", t->folder, t->ledgers++);
    MUST(cs_ledger_open(s->ledger_path, 200, &s->ledger, &err), err);
    open_elsewhere(s);
    s->daemon = peer_start(s->st.steps, 3, NULL);
    cr_assert_not_null(s->daemon);
    open_client(s);

    const cs_run_options options = {.client = s->client,
                                    .key = t->key,
                                    .ledger = s->ledger,
                                    .ledger_path = s->ledger_path,
                                    .skew_ms = CS_DEFAULT_SKEW_MS};
    cs_run_request *request = live_request(&s->st.s);
    if (s->st.auto_protocol) request->protocol = 0;
    cs_result result = cs_run_once(&options, request, &s->report);
    cr_expect_eq(result, s->report.result, "%s", s->title);
    peer_stop(s->daemon);
    if (s->elsewhere != NULL) peer_stop(s->elsewhere);
    cs_ledger_close(s->ledger);
    /* A reader waits for a file that changed this very moment to get older, and there are many ledgers. */
    const struct timespec past[2] = {{.tv_sec = SAMPLE_ENDED / 1000}, {.tv_sec = SAMPLE_ENDED / 1000}};
    cr_assert_eq(utimensat(AT_FDCWD, s->ledger_path, past, 0), 0);
}

static void close_show(show *s) {
    cs_run_report_free(&s->report);
    cs_client_free(s->client);
    peer_free(s->daemon);
    peer_free(s->elsewhere);
    stage_free(&s->st);
}

/* Did a call that was to go well run out of time, because the machine was busy? That is no result. */
static bool is_disturbed(const show *s, const play *p) {
    if (s->st.config.timeout_ms >= BUSY_MS) return false;
    for (size_t i = 0; i < 3; i++) {
        const cs_code code = call_of(s, i)->err.code;
        const bool late = code == CS_CODE_UNANSWERED_TIMEOUT || code == CS_CODE_UNSENT_TIMEOUT;
        if (late && (i != s->st.attacked || code != p->code)) return true;
    }
    return false;
}

static void expect_all(const theatre *t, const show *s, const play *p) {
    verdict want = verdict_of(p, s->st.attacked);
    want.connections -= p->lost;
    expect_call(s, p);
    expect_end(s, &want);
    expect_verified(t, s, &want);
    if (want.runs + want.findings > 0) expect_entry(s, p, &want);
    if (want.runs > 0) expect_warnings(s, p);
}

static void play_once(theatre *t, const group *g, const play *p, size_t attacked, bool plain) {
    static const char *const calls[] = {"Describe before", "Run", "Describe after"};
    for (unsigned attempt = 1;; attempt++) {
        show s = {.ledger = NULL};
        (void)snprintf(s.title, sizeof s.title, "%s, at %s", p->name, calls[attacked]);
        if (plain)
            stage_build_plain(&s.st, g, attacked);
        else
            stage_build(&s.st, g, p, attacked);
        perform(t, &s);
        const bool again = is_disturbed(&s, p) && attempt < MAX_ATTEMPTS;
        if (!again) expect_all(t, &s, p);
        close_show(&s);
        if (!again) return;
    }
}

/* ---- a group -------------------------------------------------------------------------------------- */

static void open_theatre(theatre *t) {
    cs_error err = CS_ERROR_INIT;
    char path[256];
    /* What is durable is not tested here, and there are many ledgers. */
    if (access("/dev/shm", W_OK) == 0) (void)setenv("TMPDIR", "/dev/shm", 1);
    *t = (theatre){.key = NULL};
    folder_make(t->folder);
    (void)snprintf(path, sizeof path, "%s/k", t->folder);
    MUST(cs_key_generate(path, &t->public_key, &err), err);
    (void)snprintf(path, sizeof path, "%s/k.key", t->folder);
    MUST(cs_key_load(path, &t->key, &err), err);
}

void hostile(const group *g) {
    static const play good = {.name = "the plain script", PASSES};
    play base = {.name = "the base", PASSES};
    if (g->code != CS_CODE_OK) {
        base.state = g->state;
        base.code = g->code;
    }
    base.calm = g->calm;
    theatre t;
    open_theatre(&t);
    for (size_t attacked = 0; attacked < 3; attacked++) {
        if ((g->at & (1u << attacked)) == 0) continue;
        if (g->code != CS_CODE_OK) play_once(&t, g, &good, attacked, true);
        play_once(&t, g, &base, attacked, false);
        for (size_t i = 0; i < g->count; i++)
            play_once(&t, g, &g->plays[i], attacked, false);
    }
    cs_key_free(t.key);
    folder_remove(t.folder);
}
