#include "harness/export.h"

#include <inttypes.h>
#include <string.h>

#include "harness/export_internal.h"
#include "verify/line.h"

#define MAX_ATTEMPTS 100 /* each one more means that somebody else finished an export of the same file */

/* ---- lines ----------------------------------------------------------------------------------------- */

cs_result cs_export_make_line(cs_export_job *job, const cs_entry *entry, cs_view link, size_t *link_offset,
                              cs_error *err) {
    cs_entry parts = {
        .request = entry->request, .response = entry->response, .envelope = entry->envelope, .link = link};
    cs_buf_clear(&job->line);
    cs_result result = CS_OK;
    if (cs_bundle_line_size(&parts) > CS_MAX_LINE_BYTES)
        result = cs_fail(err, CS_CODE_LINE_TOO_LONG,
                         "entry %" PRIu64 " would make a line of more than %zu bytes, which no bundle may have",
                         entry->number, CS_MAX_LINE_BYTES);
    else if (!cs_bundle_line_write(&parts, &job->line, link_offset))
        result = cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a line of the bundle");
    if (result != CS_OK) cs_error_where(err, "%s", job->options->ledger);
    return result;
}

cs_result cs_export_put_line(cs_export_job *job, cs_error *err) {
    cs_sha256_update(job->hash, job->line.ptr, job->line.len);
    if (!cs_sha256_final_hex(job->hash, &job->last)) return cs_fail(err, CS_CODE_INTERNAL, "SHA-256 failed");
    if (!cs_buf_byte(&job->line, '\n')) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a line of the bundle");
    cs_result result = cs_export_file_append(&job->file, cs_buf_view(&job->line), err);
    if (result != CS_OK) {
        cs_error_where(err, "%s", job->options->out);
        return result;
    }
    job->summary->lines++;
    job->bytes += job->line.len;
    return CS_OK;
}

/* ---- verifying ------------------------------------------------------------------------------------- */

/* One walk of the verifier. */
typedef struct reading {
    cs_export_job *job;
    const char *path;
    cs_export_on_entry *on_entry;
    bool failed; /* something in it failed: nothing more is written */
    bool ours;   /* the walk was ended from here, with an error of our own */
} reading;

static void on_finding(void *user, const cs_finding *finding) {
    reading *r = user;
    if (!finding->warning) r->failed = true;
    const cs_export_options *options = r->job->options;
    if (options->on_finding == NULL || r->ours) return;
    cs_error err = *finding->err;
    cs_error_where(&err, "%s", r->path);
    options->on_finding(options->user,
                        &(cs_finding){.entry = finding->entry, .warning = finding->warning, .err = &err});
}

cs_result cs_export_check_stop(const cs_export_job *job, cs_error *err) {
    const volatile sig_atomic_t *stop = job->options->stop;
    if (stop == NULL || *stop == 0) return CS_OK;
    return cs_fail(err, CS_CODE_INTERRUPTED, "a signal ended the export; nothing was written");
}

static cs_result on_entry(void *user, const cs_verified_entry *entry, cs_error *err) {
    reading *r = user;
    cs_result result = cs_export_check_stop(r->job, err);
    if (result == CS_OK && !r->failed) result = r->on_entry(r->job, entry, err);
    r->ours = result != CS_OK;
    return result;
}

static void on_progress(void *user, uint64_t done, uint64_t total) {
    const cs_export_options *options = ((const reading *)user)->job->options;
    if (options->on_progress != NULL) options->on_progress(options->user, done, total);
}

cs_result cs_export_verify(cs_export_job *job, cs_source *source, const char *path, cs_export_on_entry *call,
                           cs_verify_summary *summary, cs_error *err) {
    reading r = {.job = job, .path = path, .on_entry = call};
    cs_verify_options options = {.trust = &job->trust,
                                 .on_finding = on_finding,
                                 .on_entry = on_entry,
                                 .pass_over_verdicts = true,
                                 .on_progress = on_progress,
                                 .user = &r};
    cs_result result = cs_verify_source(source, &options, summary, err);
    /* An error of our own names its file itself. */
    if (result != CS_OK && !r.ours) cs_error_where(err, "%s", path);
    if (result == CS_FAILED && !r.ours) job->summary->failed_entry = summary->failed_entry;
    return result;
}

cs_export_left_out cs_export_left_out_of(const cs_verify_summary *verified) {
    return (cs_export_left_out){.findings = verified->findings, .verdicts = verified->verdicts};
}

/* ---- one attempt ----------------------------------------------------------------------------------- */

static bool trusts(const cs_trust *trust, const char *id) {
    for (size_t i = 0; i < trust->count; i++) {
        if (strcmp(trust->keys[i].key.id, id) == 0) return true;
    }
    return false;
}

static cs_result prepare(cs_export_job *job, cs_error *err) {
    const cs_export_options *options = job->options;
    job->hash = cs_sha256_new();
    job->line = CS_BUF_INIT(CS_MAX_LINE_BYTES + 1);
    if (job->hash == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to export");
    if (options->trust != NULL) job->trust = *options->trust;
    if (options->key == NULL) return CS_OK;
    const cs_public_key *own = cs_key_public(options->key);
    /* With a window, when it was named with one. */
    return trusts(&job->trust, own->id) ? CS_OK : cs_trust_add(&job->trust, own, err);
}

/* Forget what was written so far. */
static void start_over(cs_export_job *job) {
    cs_export_file_discard(&job->file);
    *job->summary = (cs_export_summary){.lines = 0};
    job->bytes = 0;
    job->last = (cs_digest){.hex = ""};
}

static cs_result write_new(cs_export_job *job, bool *changed, cs_error *err) {
    bool original = false;
    cs_error why = CS_ERROR_INIT;
    cs_result result = cs_export_survey(job, &original, &why, err);
    if (result != CS_OK) return result;
    if (original) {
        result = cs_export_original(job, changed, err);
        if (result == CS_OK || job->options->key == NULL || !job->unfit) return result;
        start_over(job);
    }
    if (job->options->key != NULL) return cs_export_own(job, changed, err);
    *err = why;
    cs_error_where(err, "%s", job->options->ledger);
    return cs_code_class(why.code);
}

static cs_result attempt(cs_export_job *job, bool *again, cs_error *err) {
    const cs_export_options *options = job->options;
    cs_result result = prepare(job, err);
    if (result == CS_OK)
        result = cs_export_file_open(options->out, options->lock_wait_ms, options->stop, &job->file, err);
    bool changed = false;
    if (result == CS_OK) result = write_new(job, &changed, err);
    if (result == CS_OK) result = cs_export_check_stop(job, err);
    if (result != CS_OK || !changed) return result;
    result = cs_export_file_publish(&job->file, again, err);
    if (result != CS_OK) cs_error_where(err, "%s", options->out);
    return result;
}

cs_result cs_export(const cs_export_options *options, cs_export_summary *summary, cs_error *err) {
    cs_error own = CS_ERROR_INIT; /* the caller's may be NULL */
    cs_result result = CS_UNCHECKED;
    bool again = true;
    for (int i = 0; again && i < MAX_ATTEMPTS; i++) {
        *summary = (cs_export_summary){.lines = 0};
        cs_export_job job = {.options = options, .summary = summary, .file = CS_EXPORT_FILE_INIT};
        again = false;
        result = attempt(&job, &again, &own);
        cs_export_file_close(&job.file);
        cs_digest_map_free(job.held);
        cs_digest_map_free(job.found);
        cs_sha256_free(job.hash);
        cs_buf_free(&job.line);
    }
    if (again) {
        result = cs_fail(&own, CS_CODE_EXPORT_LOCKED, "other processes write the bundle again and again; try again");
        cs_error_where(&own, "%s", options->out);
    }
    if (result == CS_OK) own = (cs_error){.code = CS_CODE_OK};
    if (err != NULL) *err = own;
    return result;
}
