#include "verify/verify.h"

#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "verify/internal.h"

#define PROGRESS_BYTES UINT64_C(1048576)
/* A statement and its PAE are both shorter than the envelope that holds them in base64. */
#define WORK_BYTES CS_MAX_ENVELOPE_BYTES
/* What is only just too long for a line is then found to be too long, and not taken for a lack of memory. */
#define LINE_BYTES (CS_MAX_LINE_BYTES + 1024)

/* One walk over one source. */
typedef struct walk {
    cs_source *source;
    const cs_verify_options *options;
    cs_verify_summary *summary;
    cs_memory *memory;
    cs_workspace work;
    cs_lines lines;
    cs_imported imported;
    cs_holes holes;
    bool head_seen;  /* expect_head */
    uint64_t entry;  /* the one being read; 0 outside of all */
    uint64_t closes; /* entries that were read and are no run */
    uint64_t checkpoints;
    uint64_t progress; /* bytes at the last report of progress */
    bool cut;          /* the source can't go on after a failure */
    bool stopped;      /* by the caller's own callback */
    cs_error first;    /* the first failure */
} walk;

static void tell(walk *w, uint64_t entry, bool warning, const cs_error *err) {
    if (w->options->on_finding == NULL) return;
    cs_finding finding = {.entry = entry, .warning = warning, .err = err};
    w->options->on_finding(w->options->user, &finding);
}

/* A failure is reported, and the walk goes on (CS_OK); anything else that is not CS_OK ends it, with
 * the error left to the caller. */
static cs_result take_named(walk *w, uint64_t entry, cs_result result, const cs_error *err) {
    if (result != CS_FAILED) return result;
    tell(w, entry, false, err);
    /* A call in the wrong place first looks as if it were missing, so its place is the better word for both. */
    bool better = err->code == CS_CODE_CHAIN_ORDER && w->first.code == CS_CODE_CHAIN_SEQUENCE;
    if (w->summary->failures++ == 0 || better) {
        w->first = *err;
        w->summary->failed_entry = entry;
    }
    return CS_OK;
}

static void name_entry(const walk *w, uint64_t entry, cs_error *err) {
    if (entry == 0) return;
    cs_error_where(err, "%s %" PRIu64, w->summary->kind == CS_SOURCE_LEDGER ? "entry" : "line", entry);
}

/* The same for what a check answered, which does not know where it is. */
static cs_result take(walk *w, uint64_t entry, cs_result result, cs_error *err) {
    if (result != CS_OK) name_entry(w, entry, err);
    return take_named(w, entry, result, err);
}

static void warn(walk *w, uint64_t entry, cs_code code, const char *text) {
    cs_error err = CS_ERROR_INIT;
    (void)cs_fail(&err, code, "%s", text);
    name_entry(w, entry, &err);
    w->summary->warnings++;
    tell(w, entry, true, &err);
}

/* ---- one entry -------------------------------------------------------------------------------- */

/* An entry that failed leaves a hole in a session, unless it is known to be in none. */
static void leave_hole(walk *w, const cs_exchange *exchange) {
    const cs_run_record *record = exchange->response != NULL ? exchange->response->record : NULL;
    bool single = record != NULL && record->session.len == 0 && record->sequence == 0;
    if (!single) w->holes.seen++;
}

/* A close has no time of its own: it was signed after the newest record of its session. */
static cs_result check_close(walk *w, uint64_t entry, const cs_exchange *exchange, cs_error *err) {
    bool good = false;
    int64_t newest_ms = INT64_MIN;
    cs_result result = cs_chain_close(w->memory, &w->holes, entry, &exchange->statement.close, &good, &newest_ms, err);
    if (result != CS_OK) return result;
    result = cs_trust_check_time(w->options->trust, exchange->envelope.keyid, newest_ms, INT64_MAX, err);
    if (result != CS_OK) {
        cs_error_where(err, "envelope");
        return result;
    }
    if (good) w->summary->sessions++;
    return CS_OK;
}

static cs_result check_chain(walk *w, uint64_t entry, const cs_exchange *exchange, cs_error *err) {
    if (exchange->closes) return check_close(w, entry, exchange, err);
    if (!exchange->in_session) return CS_OK;
    return cs_chain_call(w->memory, &w->holes, entry, exchange->record, err);
}

/* Times are the only matter of warnings, and only reversed ones show without our own clock. */
static void warn_of_times(walk *w, uint64_t entry, const cs_checked_run *checked) {
    for (size_t i = 0; i < checked->warning_count; i++) {
        warn(w, entry, checked->warnings[i], "the record says that the run ended before it started");
    }
}

/* Has the record been seen before? It is remembered from now on. */
static cs_result look_up(walk *w, const cs_checked_run *checked, bool *seen, cs_error *err) {
    uint8_t digest[CS_SHA256_BYTES];
    if (sodium_hex2bin(digest, sizeof digest, checked->record_sha256.hex, CS_SHA256_HEX, NULL, NULL, NULL) != 0) {
        return cs_fail(err, CS_CODE_INTERNAL, "a record digest is not hexadecimal");
    }
    return cs_memory_see(w->memory, digest, seen, err);
}

/* A run that passed: count it and hand it on. */
static cs_result accept_run(walk *w, const cs_entry *of, const cs_exchange *exchange, bool seen, cs_error *err) {
    uint64_t entry = of->number;
    warn_of_times(w, entry, &exchange->checked);
    if (seen) {
        w->summary->duplicates++;
        warn(w, entry, CS_CODE_RECORD_DUPLICATE, "the same record was read before; it counts once");
    } else {
        w->summary->runs++;
        if (exchange->unanswered) w->summary->unanswered++;
    }
    if (w->options->on_run == NULL) return CS_OK;
    cs_verified_run run = {.entry = entry,
                           .in_session = exchange->in_session,
                           .unanswered = exchange->unanswered,
                           .duplicate = seen,
                           .request = exchange->request,
                           .response = exchange->response,
                           .record = exchange->record,
                           .checked = &exchange->checked,
                           .keyid = exchange->envelope.keyid,
                           .envelope = of->envelope};
    cs_result result = w->options->on_run(w->options->user, &run, err);
    w->stopped = result != CS_OK;
    return result;
}

static void copy_digest(const ProtobufCBinaryData *bytes, cs_digest *out) {
    cs_view text = cs_bytes_view(bytes);
    if (text.len == CS_SHA256_HEX) memcpy(out->hex, text.ptr, text.len);
}

/* Hand on an entry, or a checkpoint, about which nothing was reported. */
static cs_result accept_entry(walk *w, const cs_linked *linked, const cs_exchange *exchange, cs_error *err) {
    if (w->options->on_entry == NULL) return CS_OK;
    cs_verified_entry entry = {.entry = linked->entry, .kind = CS_KIND_CHECKPOINT, .link_index = linked->link.index};
    memcpy(entry.link_previous.hex, linked->link.previous_sha256, sizeof entry.link_previous.hex);
    if (exchange->closes) {
        entry.kind = CS_KIND_CLOSE;
        memcpy(entry.session.hex, exchange->statement.close.session, sizeof entry.session.hex);
    } else if (exchange->record != NULL) {
        entry.kind = exchange->unanswered ? CS_KIND_UNANSWERED : CS_KIND_RUN;
        entry.record = exchange->checked.record_sha256;
        if (exchange->in_session) copy_digest(&exchange->record->session, &entry.session);
    }
    cs_result result = w->options->on_entry(w->options->user, &entry, err);
    w->stopped = result != CS_OK;
    return result;
}

/* Where an entry stands among the others: its link, and in a bundle its line. */
static cs_result check_link(walk *w, cs_linked *linked, cs_error *err) {
    if (w->summary->kind == CS_SOURCE_BUNDLE)
        return cs_lines_check(&w->lines, linked, w->options->trust, &w->work, err);
    if (linked->entry->link.ptr == NULL) return CS_OK;
    return cs_imported_check(&w->imported, w->memory, linked, w->options->trust, &w->work, err);
}

/* What an entry says about itself. */
static cs_result check_content(walk *w, const cs_entry *entry, cs_exchange *exchange, cs_linked *linked,
                               cs_error *err) {
    cs_result checked = cs_exchange_check(entry, w->options->trust, &w->work, exchange, err);
    if (exchange->closes) w->closes++;
    if (checked == CS_FAILED) leave_hole(w, exchange);
    linked->content_bad = checked != CS_OK;
    if (checked == CS_OK && !exchange->closes) linked->ended_ms = exchange->record->ended_unix_ms;
    return take(w, entry->number, checked, err);
}

/* The parts of an entry, each with its own report. */
static cs_result check_parts(walk *w, const cs_entry *entry, cs_exchange *exchange, cs_error *err) {
    uint64_t before = w->summary->failures;
    bool holds_entry = entry->envelope.ptr != NULL || entry->request.ptr != NULL || entry->response.ptr != NULL ||
                       entry->link.ptr == NULL;
    cs_linked linked = {.entry = entry, .ended_ms = INT64_MIN};
    if (!holds_entry) w->checkpoints++;
    cs_result result = holds_entry ? check_content(w, entry, exchange, &linked, err) : CS_OK;
    if (result == CS_OK) result = take(w, entry->number, check_link(w, &linked, err), err);
    if (result != CS_OK || linked.content_bad) return result;

    bool seen = false;
    if (holds_entry) {
        /* A link's entry digest covers the whole line, so only lines without one leave bytes uncovered. */
        if (entry->link.ptr == NULL) cs_exchange_uncovered(exchange, &w->summary->uncovered);
        if (!exchange->closes) result = look_up(w, &exchange->checked, &seen, err);
        if (result != CS_OK) return result;
        result = take(w, entry->number, check_chain(w, entry->number, exchange, err), err);
    }
    if (result != CS_OK || w->summary->failures != before) return result;
    result = accept_entry(w, &linked, exchange, err);
    if (result != CS_OK || !holds_entry || exchange->closes) return result;
    return accept_run(w, entry, exchange, seen, err);
}

/* The head that this entry makes, which is the one that is waited for or not. */
static void note_head(walk *w, cs_view digest) {
    bool shown = w->summary->kind == CS_SOURCE_LEDGER || w->lines.linked;
    w->summary->head = (cs_digest){.hex = ""};
    if (shown && digest.len == CS_SHA256_HEX) memcpy(w->summary->head.hex, digest.ptr, CS_SHA256_HEX);
    if (w->options->expect_head != NULL && cs_view_is(digest, w->options->expect_head)) w->head_seen = true;
}

static cs_result accept_unsigned(walk *w, const cs_entry *entry, cs_error *err) {
    w->summary->findings++;
    if (w->options->on_unsigned == NULL) return CS_OK;
    cs_result result = w->options->on_unsigned(w->options->user, entry, err);
    w->stopped = result != CS_OK;
    return result;
}

static cs_result check_verdict(walk *w, const cs_entry *entry, cs_error *err) {
    cs_result result = CS_OK;
    if (w->options->pass_over_verdicts) {
        w->summary->verdicts++;
        if (w->options->on_verdict != NULL) result = w->options->on_verdict(w->options->user, entry, err);
        w->stopped = result != CS_OK;
        return result;
    }
    result = cs_stated_verdict_check(entry, w->options->trust, &w->work.signed_bytes, err);
    if (result == CS_OK) w->summary->verdicts++;
    return take(w, entry->number, result, err);
}

static cs_result check_entry(walk *w, const cs_entry *entry, cs_error *err) {
    if (entry->row != NULL) note_head(w, entry->row->row_sha256);
    if (entry->finding) return accept_unsigned(w, entry, err);
    if (entry->verdict) return check_verdict(w, entry, err);
    cs_exchange exchange = {.enveloped = false};
    cs_result result = check_parts(w, entry, &exchange, err);
    if (entry->row == NULL) note_head(w, cs_digest_view(&w->lines.before));
    cs_exchange_clear(&exchange);
    return result;
}

/* ---- the walk --------------------------------------------------------------------------------- */

/* An entry that the source could not read. */
static cs_result skip_entry(walk *w, const cs_entry *entry, cs_result result, cs_error *err) {
    result = take_named(w, entry->number, result, err); /* the source has named it */
    if (result != CS_OK) return result;
    w->holes.seen++;
    if (w->summary->kind == CS_SOURCE_BUNDLE) {
        result = cs_lines_skip(&w->lines, entry->number, entry->line, &w->work, err);
        note_head(w, cs_digest_view(&w->lines.before));
        return result;
    }
    cs_imported_skip(&w->imported);
    note_head(w, cs_view_of("")); /* what a bad row states as its digest is not known to be that */
    return CS_OK;
}

static void show_progress(walk *w, bool end) {
    if (w->options->on_progress == NULL) return;
    uint64_t done = 0;
    uint64_t total = 0;
    cs_source_progress(w->source, &done, &total);
    if (!end && done - w->progress < PROGRESS_BYTES) return;
    w->progress = done;
    w->options->on_progress(w->options->user, done, total);
}

static cs_result walk_entries(walk *w, cs_error *err) {
    for (;;) {
        cs_entry entry = {.number = 0};
        bool more = false;
        cs_result result = cs_source_next(w->source, &entry, &more, err);
        if (result == CS_OK && !more) return CS_OK;
        if (result == CS_OK || entry.number != 0) w->summary->entries++;
        w->entry = entry.number;
        w->cut = result != CS_OK && !more;
        result = result == CS_OK ? check_entry(w, &entry, err) : skip_entry(w, &entry, result, err);
        if (result != CS_OK || w->cut) return result;
        show_progress(w, false);
    }
}

static cs_result check_unclosed(walk *w, cs_error *err) {
    bool more = true;
    while (more) {
        cs_chain chain;
        cs_result result = cs_memory_unclosed(w->memory, &chain, &more, err);
        if (result != CS_OK) return result;
        if (!more || cs_chain_excused(&chain, &w->holes)) continue;
        char session[CS_SHA256_HEX + 1];
        cs_hex(chain.session, sizeof chain.session, session);
        result = cs_fail(err, CS_CODE_CHAIN_UNCLOSED,
                         "session %s has %" PRIu64 " calls and no close; calls may be missing at its end", session,
                         chain.calls);
        result = take(w, chain.entry, result, err);
        if (result != CS_OK) return result;
    }
    return CS_OK;
}

static cs_result check_unended(walk *w, cs_error *err) {
    bool more = true;
    while (more) {
        cs_imported_line line;
        cs_result result = cs_memory_unended(w->memory, &line, &more, err);
        if (result != CS_OK) return result;
        if (more) result = take(w, line.entry, cs_imported_end(&w->imported, &line, err), err);
        if (result != CS_OK) return result;
    }
    return CS_OK;
}

static cs_result check_head(const walk *w, cs_error *err) {
    const char *head = w->options->expect_head;
    if (head == NULL) return CS_OK;
    bool ledger = w->summary->kind == CS_SOURCE_LEDGER;
    if (!ledger && !w->lines.linked)
        return cs_fail(err, CS_CODE_HEAD_MISSING,
                       "the lines of this bundle are not linked, so that no line shows anything of the others, and it "
                       "has no head; only a linked bundle or a ledger can be expected to hold one");
    if (w->head_seen) return CS_OK;
    return cs_fail(err, CS_CODE_HEAD_MISSING,
                   "no %s here has the digest %s, which is known from elsewhere; entries were cut off or replaced, or "
                   "it is the head of a %s: a ledger's is the row_sha256 of a row, a bundle's the SHA-256 of a line",
                   ledger ? "entry" : "line", head, ledger ? "bundle" : "ledger");
}

/* What only the end can tell. */
static cs_result check_end(walk *w, cs_error *err) {
    w->entry = 0;
    cs_result result = check_unclosed(w, err);
    if (result == CS_OK) result = check_unended(w, err);
    if (result == CS_OK) result = take(w, w->lines.number, cs_lines_end(&w->lines, err), err);
    w->summary->linked = w->lines.linked && w->lines.may_end && !w->lines.any_bad;
    if (result == CS_OK) result = take(w, 0, check_head(w, err), err);
    return result;
}

/* Without a run nothing was checked that anyone could rely on, however well the rest is signed. */
static cs_result nothing(const walk *w, cs_error *err) {
    bool findings = w->summary->findings > 0;
    if (w->summary->verdicts > 0)
        return cs_fail(err, CS_CODE_NOTHING_TO_CHECK,
                       "the input holds no record of a run, and the statements of verdicts that it holds are no "
                       "evidence of one");
    if (w->closes + w->checkpoints == 0)
        return cs_fail(err, CS_CODE_NOTHING_TO_CHECK, "the input holds no record of a run%s",
                       findings ? ", only findings, which are evidence and never count as runs" : "");
    return cs_fail(err, CS_CODE_NOTHING_TO_CHECK, "the input holds no record of a run, only %s%s%s%s",
                   w->closes > 0 ? "closes of sessions" : "", w->closes > 0 && w->checkpoints > 0 ? " and " : "",
                   w->checkpoints > 0 ? "checkpoints" : "",
                   findings ? ", and findings, which are evidence and never count as runs" : "");
}

static cs_result verdict(walk *w, cs_result result, cs_error *err) {
    if (w->stopped) return result;
    if (result != CS_OK) tell(w, w->entry, false, err);
    /* A failure stands, also when the rest could not be read. */
    if (w->summary->failures > 0) {
        *err = w->first;
        return CS_FAILED;
    }
    if (result != CS_OK) return result;
    if (w->summary->runs == 0) return nothing(w, err);
    *err = (cs_error){.code = CS_CODE_OK};
    return CS_OK;
}

static cs_result prepare(walk *w, cs_error *err) {
    if (sodium_init() < 0) return cs_fail(err, CS_CODE_INTERNAL, "libsodium can't be initialised");
    w->work.signed_bytes = CS_BUF_INIT(WORK_BYTES);
    w->work.statement = CS_BUF_INIT(WORK_BYTES);
    w->work.line = CS_BUF_INIT(LINE_BYTES);
    w->work.hash = cs_sha256_new();
    w->work.arena = cs_arena_new();
    /* With the room for them set aside, a statement that does not fit later is too long, and nothing else. */
    if (w->work.hash == NULL || w->work.arena == NULL || !cs_buf_reserve(&w->work.signed_bytes, WORK_BYTES) ||
        !cs_buf_reserve(&w->work.statement, WORK_BYTES))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to verify");
    return cs_memory_open(&w->memory, err);
}

cs_result cs_verify_source(cs_source *source, const cs_verify_options *options, cs_verify_summary *summary,
                           cs_error *err) {
    *summary = (cs_verify_summary){.kind = cs_source_what(source)};
    walk w = {.source = source, .options = options, .summary = summary};
    w.lines = (cs_lines){.newest_ms = INT64_MIN};
    cs_error own = CS_ERROR_INIT; /* the caller's may be NULL, and the checks need one */
    cs_result result = prepare(&w, &own);
    if (result == CS_OK) result = walk_entries(&w, &own);
    if (result == CS_OK && !w.cut) result = check_end(&w, &own);
    show_progress(&w, true);
    cs_memory_close(w.memory);
    cs_sha256_free(w.work.hash);
    cs_arena_free(w.work.arena);
    cs_buf_free(&w.work.signed_bytes);
    cs_buf_free(&w.work.statement);
    cs_buf_free(&w.work.line);

    result = verdict(&w, result, &own);
    if (err != NULL) *err = own;
    return result;
}
