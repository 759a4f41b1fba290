#include <inttypes.h>
#include <string.h>

#include "harness/export_internal.h"
#include "harness/link.h"
#include "verify/line.h"

static const char *kind_of(const cs_entry *entry) {
    static const char *const kinds[] = {CS_KIND_RUN, CS_KIND_UNANSWERED, CS_KIND_CLOSE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (cs_view_is(entry->row->kind, kinds[i])) return kinds[i];
    }
    return CS_KIND_CHECKPOINT;
}

/* Does the link say of this row what it is? Where it stands among the others is for the caller to judge. */
static cs_result check_link(cs_export_job *job, const cs_entry *entry, const cs_bundle_link *link, cs_error *err) {
    bool checkpoint = entry->envelope.ptr == NULL;
    if (link->checkpoint != checkpoint)
        return cs_fail(err, CS_CODE_LINK_ENTRY,
                       checkpoint ? "the link of an entry stands alone; its entry was taken out"
                                  : "the link of a checkpoint stands on a line that holds an entry");
    if (checkpoint && link->lines != link->index - 1)
        return cs_fail(err, CS_CODE_CHECKPOINT_LINES,
                       "the checkpoint is line %" PRIu64 " and says that %" PRIu64 " lines stand before it",
                       link->index, link->lines);
    if (checkpoint) return CS_OK;
    size_t offset = 0;
    cs_digest digest;
    cs_result result = cs_export_make_line(job, entry, entry->link, &offset, err);
    if (result != CS_OK) return result;
    if (!cs_bundle_entry_digest(job->hash, cs_buf_view(&job->line), offset, &digest))
        return cs_fail(err, CS_CODE_INTERNAL, "SHA-256 failed");
    if (strcmp(digest.hex, link->entry_sha256) == 0) return CS_OK;
    return cs_fail_differs(err, CS_CODE_LINK_ENTRY, "the line is not the one that was linked", cs_digest_view(&digest),
                           cs_view_of(link->entry_sha256));
}

static cs_result read_link(cs_export_job *job, const cs_entry *entry, cs_verified_entry *out, cs_error *err) {
    if (entry->link.ptr == NULL) return CS_OK;
    cs_bundle_link link;
    cs_result result = cs_link_statement(entry->link, &link, err);
    if (result == CS_OK) result = check_link(job, entry, &link, err);
    out->link_index = link.index;
    memcpy(out->link_previous.hex, link.previous_sha256, sizeof out->link_previous.hex);
    return result;
}

static void show_progress(const cs_export_job *job, const cs_source *source) {
    if (job->options->on_progress == NULL) return;
    uint64_t done = 0;
    uint64_t total = 0;
    cs_source_progress(source, &done, &total);
    job->options->on_progress(job->options->user, done, total);
}

/* The next row that a bundle can hold; *more false at the end. */
static cs_result next_signed(cs_export_job *job, cs_source *source, cs_entry *entry, bool *more,
                             cs_export_left_out *left_out, cs_error *err) {
    for (;;) {
        cs_result result = cs_source_next(source, entry, more, err);
        if (result != CS_OK || !*more) return result;
        show_progress(job, source);
        if (!entry->finding && !entry->verdict) return CS_OK;
        left_out->findings += entry->finding;
        left_out->verdicts += entry->verdict;
    }
}

cs_result cs_export_walk(cs_export_job *job, cs_source *source, cs_export_on_entry *on_entry, void *user,
                         cs_export_left_out *left_out, cs_error *err) {
    *left_out = (cs_export_left_out){.findings = 0};
    for (;;) {
        cs_entry entry = {.number = 0};
        bool more = false;
        cs_result result = next_signed(job, source, &entry, &more, left_out, err);
        if (result == CS_OK && !more) return CS_OK;
        cs_verified_entry verified = {.entry = &entry};
        if (result == CS_OK) {
            verified.kind = kind_of(&entry);
            result = read_link(job, &entry, &verified, err);
            if (result != CS_OK) cs_error_where(err, "entry %" PRIu64 ": link", entry.number);
        }
        if (result != CS_OK) {
            cs_error_where(err, "%s", job->options->ledger);
            return result;
        }
        result = cs_export_check_stop(job, err);
        if (result == CS_OK) result = on_entry(user, &verified, err);
        if (result != CS_OK) return result;
    }
}
