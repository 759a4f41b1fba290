/* The sources, one after the other: verified as `countersign verify` does, and tallied while they stream by. */
#include <stdlib.h>
#include <string.h>

#include "gate/judge_internal.h"
#include "records/text.h"

typedef struct reading {
    const cs_gate_options *options;
    const cs_gate_setting *setting;
    cs_gate_evidence *evidence;
    size_t source;
    uint64_t bytes_before; /* of the sources before this one, and of all */
    uint64_t bytes_total;
    cs_buf daemon; /* of the entry that is being read */
} reading;

static void on_finding(void *user, const cs_finding *finding) {
    const reading *r = user;
    if (r->options->on_finding == NULL) return;
    r->options->on_finding(r->options->user, r->options->sources[r->source], finding);
}

/* Only a ledger knows where a run came from, and of an imported line not even that. */
static cs_result on_entry(void *user, const cs_verified_entry *entry, cs_error *err) {
    reading *r = user;
    cs_buf_clear(&r->daemon);
    if (entry->entry->row != NULL) {
        cs_view daemon = entry->entry->row->daemon;
        if (!cs_buf_append(&r->daemon, daemon.ptr, daemon.len))
            return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the address of a daemon");
    }
    if (strcmp(entry->kind, CS_KIND_CLOSE) == 0) cs_gate_chain_close(r->evidence, &entry->session);
    return CS_OK;
}

static cs_result on_run(void *user, const cs_verified_run *run, cs_error *err) {
    reading *r = user;
    return cs_gate_tally_run(r->setting, r->evidence, (uint32_t)r->source, cs_buf_view(&r->daemon), run, err);
}

static cs_result on_unsigned(void *user, const cs_entry *entry, cs_error *err) {
    reading *r = user;
    return cs_gate_tally_finding(r->evidence, (uint32_t)r->source, entry, err);
}

static void on_progress(void *user, uint64_t done, uint64_t total) {
    const reading *r = user;
    (void)total;
    if (r->options->on_progress == NULL) return;
    uint64_t all = r->bytes_before + done;
    r->options->on_progress(r->options->user, all < r->bytes_total ? all : r->bytes_total, r->bytes_total);
}

/* ---- undoing ---------------------------------------------------------------------------------------------- */

typedef struct before {
    cs_gate_tally *tallies;
    size_t contradictions;
    size_t seen;
    size_t copied;
    bool too_large;
} before;

static cs_result remember(const cs_gate_evidence *evidence, before *out, cs_error *err) {
    *out = (before){.contradictions = evidence->contradiction_count,
                    .seen = evidence->seen_count,
                    .copied = evidence->copied,
                    .too_large = evidence->too_large};
    out->tallies = malloc((evidence->tally_count + 1) * sizeof *out->tallies);
    if (out->tallies == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for what is known of the records");
    memcpy(out->tallies, evidence->tallies, evidence->tally_count * sizeof *out->tallies);
    return CS_OK;
}

/* Nothing of a source that failed stays, but for the room that its records took. */
static void undo(cs_gate_evidence *evidence, const before *was) {
    for (size_t i = 0; i < evidence->tally_count; i++) {
        cs_gate_tally *now = &evidence->tallies[i];
        const cs_gate_tally *then = &was->tallies[i];
        cs_gate_kept *kept = now->kept;
        size_t room = now->room;
        if (now->request != then->request) cs_message_free(now->request);
        if (now->response != then->response) cs_message_free(now->response);
        *now = *then;
        now->kept = kept;
        now->room = room;
    }
    evidence->contradiction_count = was->contradictions;
    evidence->seen_count = was->seen;
    evidence->copied = was->copied;
    evidence->too_large = was->too_large;
}

/* ---- one source --------------------------------------------------------------------------------------------- */

static cs_result verify(reading *r, cs_source *source, cs_error *err) {
    cs_verify_options options = {.trust = &r->setting->policy->trust,
                                 .on_finding = on_finding,
                                 .on_run = on_run,
                                 .on_entry = on_entry,
                                 .on_unsigned = on_unsigned,
                                 .pass_over_verdicts = true,
                                 .on_progress = on_progress,
                                 .user = r};
    cs_verify_summary summary;
    cs_result result = cs_verify_source(source, &options, &summary, err);
    r->evidence->verdicts += summary.verdicts;
    return result;
}

/* A source without a run, say a ledger of findings alone, adds no record, and is no failure. */
static cs_result read_opened(reading *r, cs_source *source, cs_error *err) {
    before was;
    cs_result result = remember(r->evidence, &was, err);
    if (result != CS_OK) return result;
    r->evidence->chain_count = 0;
    result = verify(r, source, err);
    if (result == CS_NOTHING) result = CS_OK;
    if (result != CS_OK) undo(r->evidence, &was);
    free(was.tallies);
    return result;
}

cs_result cs_gate_read_source(const cs_gate_options *options, const cs_gate_setting *setting,
                              cs_gate_evidence *evidence, size_t source, uint64_t bytes_before, uint64_t bytes_total,
                              cs_error *err) {
    reading r = {.options = options,
                 .setting = setting,
                 .evidence = evidence,
                 .source = source,
                 .bytes_before = bytes_before,
                 .bytes_total = bytes_total,
                 .daemon = CS_BUF_INIT(CS_MAX_LEDGER_ROW)};
    cs_source *opened = NULL;
    cs_result result = cs_source_open(options->sources[source], &opened, err);
    if (result == CS_OK) result = read_opened(&r, opened, err);
    cs_source_close(opened);
    cs_buf_free(&r.daemon);
    if (result == CS_NOTHING) return CS_OK;
    if (result != CS_OK) {
        cs_gate_shown shown = cs_gate_show(cs_view_of(options->sources[source]));
        cs_error_where(err, "%s", shown.text);
    }
    return result;
}
