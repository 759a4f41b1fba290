#include <inttypes.h>
#include <string.h>

#include "harness/export_internal.h"

/* ---- is it one bundle? ----------------------------------------------------------------------------- */

typedef struct survey {
    cs_export_job *job;
    uint64_t lines;
    cs_digest last;
    bool complete; /* the last row is a checkpoint */
    bool broken;   /* the error says why it is not one bundle */
} survey;

/* Why this row does not go on with the lines so far, or CS_OK. */
static cs_result check_next(const cs_verified_entry *entry, uint64_t lines, const cs_digest *last, cs_error *err) {
    static const char key[] =
        "so the lines need links of our own: name the key with -k, or put its PEM text into " CS_KEY_VARIABLE;
    uint64_t number = entry->entry->number;
    if (entry->entry->link.ptr == NULL)
        return cs_fail(err, CS_CODE_EXPORT_KEY, "entry %" PRIu64 " has no link of an imported bundle, %s", number, key);
    if (entry->link_index != lines + 1)
        return cs_fail(err, CS_CODE_EXPORT_KEY,
                       "entry %" PRIu64 " was line %" PRIu64 " of an imported bundle and would become line %" PRIu64
                       ", %s",
                       number, entry->link_index, lines + 1, key);
    if (strcmp(entry->link_previous.hex, last->hex) != 0)
        return cs_fail(err, CS_CODE_EXPORT_KEY,
                       "entry %" PRIu64 " comes from another imported bundle than the entry before, %s", number, key);
    return CS_OK;
}

static cs_result survey_entry(void *user, const cs_verified_entry *entry, cs_error *err) {
    survey *s = user;
    cs_result result = check_next(entry, s->lines, &s->last, err);
    s->broken = result != CS_OK;
    if (result == CS_OK) result = cs_export_make_line(s->job, entry->entry, entry->entry->link, NULL, err);
    if (result != CS_OK) return result;
    cs_sha256_update(s->job->hash, s->job->line.ptr, s->job->line.len);
    if (!cs_sha256_final_hex(s->job->hash, &s->last)) return cs_fail(err, CS_CODE_INTERNAL, "SHA-256 failed");
    s->lines++;
    s->complete = strcmp(entry->kind, CS_KIND_CHECKPOINT) == 0;
    return CS_OK;
}

cs_result cs_export_survey(cs_export_job *job, bool *original, cs_error *why, cs_error *err) {
    *original = false;
    cs_source *source = NULL;
    cs_result result = cs_source_open(job->options->ledger, &source, err);
    if (result != CS_OK) return result;
    if (cs_source_what(source) != CS_SOURCE_LEDGER) {
        cs_source_close(source);
        result = cs_fail(err, CS_CODE_INPUT_UNKNOWN, "this is a bundle already; a ledger is what is exported");
        cs_error_where(err, "%s", job->options->ledger);
        return result;
    }
    survey s = {.job = job};
    cs_export_left_out left_out;
    result = cs_export_walk(job, source, survey_entry, &s, &left_out, why);
    cs_source_close(source);
    if (result == CS_OK && s.lines > 0 && !s.complete) {
        (void)cs_fail(why, CS_CODE_EXPORT_KEY,
                      "the imported bundle has no checkpoint at its end, so the export needs a key");
        s.broken = true;
    }
    *original = !s.broken;
    return CS_OK;
}

/* ---- as it came ------------------------------------------------------------------------------------ */

/* A line of which the file that is there holds the same, as far as it goes. */
static cs_result compare_line(cs_export_job *job, bool entry, cs_error *err) {
    if (job->file.old < 0) return CS_OK;
    bool same = false;
    cs_view line = cs_buf_view(&job->line);
    cs_result result = cs_export_file_compare(&job->file, job->bytes, line, &same, err);
    uint64_t end = job->bytes + line.len; /* where the newline stands */
    if (result == CS_OK && same) result = cs_export_file_compare(&job->file, end, cs_view_of("\n"), &same, err);
    if (result != CS_OK) return result;
    job->unfit = !same;
    if (job->unfit)
        return cs_fail(err, CS_CODE_EXPORT_FOREIGN,
                       "the file is there, and is no beginning of the imported bundle: line %" PRIu64
                       " differs; name a new file",
                       job->summary->lines + 1);
    if (entry && end < job->file.old_size) job->summary->present++;
    return CS_OK;
}

static cs_result write_entry(void *user, const cs_verified_entry *entry, cs_error *err) {
    cs_export_job *job = user;
    /* The ledger may have grown since it was surveyed. */
    cs_result result = check_next(entry, job->summary->lines, &job->last, err);
    job->unfit = result != CS_OK;
    if (result == CS_OK) result = cs_export_make_line(job, entry->entry, entry->entry->link, NULL, err);
    if (result != CS_OK) return result;
    bool checkpoint = strcmp(entry->kind, CS_KIND_CHECKPOINT) == 0;
    result = compare_line(job, !checkpoint, err);
    if (result != CS_OK) {
        cs_error_where(err, "%s", job->options->out);
        return result;
    }
    job->complete = checkpoint;
    if (strcmp(entry->kind, CS_KIND_RUN) == 0 || strcmp(entry->kind, CS_KIND_UNANSWERED) == 0) job->holds_run = true;
    if (!checkpoint) job->summary->added++;
    return cs_export_put_line(job, err);
}

static cs_result write_unverified(cs_export_job *job, cs_source *source, cs_error *err) {
    cs_result result = cs_export_walk(job, source, write_entry, job, &job->summary->left_out, err);
    if (result == CS_OK && !job->holds_run)
        result = cs_fail(err, CS_CODE_NOTHING_TO_CHECK, "the ledger holds no record of a run");
    if (result != CS_OK && err->where[0] == '\0') cs_error_where(err, "%s", job->options->ledger);
    return result;
}

static cs_result write_all(cs_export_job *job, cs_error *err) {
    cs_source *source = NULL;
    cs_result result = cs_source_open(job->options->ledger, &source, err);
    if (result != CS_OK) return result;
    cs_verify_summary verified = {.findings = 0};
    if (job->trust.count == 0) {
        result = write_unverified(job, source, err);
    } else {
        result = cs_export_verify(job, source, job->options->ledger, write_entry, &verified, err);
        job->summary->left_out = cs_export_left_out_of(&verified);
    }
    cs_source_close(source);
    return result;
}

cs_result cs_export_original(cs_export_job *job, bool *changed, cs_error *err) {
    *changed = false;
    cs_result result = cs_export_file_create(&job->file, err);
    if (result == CS_OK) result = write_all(job, err);
    if (result != CS_OK) return result;
    if (!job->complete)
        return cs_fail(err, CS_CODE_CHECKPOINT_MISSING, "the imported bundle has no checkpoint at its end");
    bool old = job->file.old >= 0;
    if (old && job->file.old_size > job->bytes) {
        job->unfit = true;
        return cs_fail(err, CS_CODE_EXPORT_FOREIGN,
                       "the file is there, and holds more than the imported bundle; name a new file");
    }
    job->summary->original = true;
    job->summary->added -= job->summary->present;
    job->summary->head = job->last;
    *changed = !old || job->file.old_size < job->bytes;
    job->summary->resumed = *changed && old && job->file.old_size > 0;
    return CS_OK;
}
