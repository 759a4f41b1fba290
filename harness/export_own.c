#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/export_internal.h"
#include "harness/sign.h"
#include "verify/line.h"

/* ---- links ----------------------------------------------------------------------------------------- */

static cs_result sign_next(cs_export_job *job, const cs_digest *entry, cs_buf *out, cs_error *err) {
    cs_bundle_link link = {.index = job->summary->lines + 1, .checkpoint = entry == NULL};
    memcpy(link.previous_sha256, job->last.hex, sizeof link.previous_sha256);
    if (entry != NULL) memcpy(link.entry_sha256, entry->hex, sizeof link.entry_sha256);
    if (entry == NULL) link.lines = job->summary->lines;
    return cs_sign_link(job->options->key, &link, out, err);
}

static cs_result put_checkpoint(cs_export_job *job, cs_error *err) {
    CS_AUTO_BUF link = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES);
    cs_result result = sign_next(job, NULL, &link, err);
    const cs_entry nothing = {.number = 0};
    if (result == CS_OK) result = cs_export_make_line(job, &nothing, cs_buf_view(&link), NULL, err);
    return result == CS_OK ? cs_export_put_line(job, err) : result;
}

/* ---- the file that is there ------------------------------------------------------------------------ */

/* Is the link, which was verified, under our own key? */
static cs_result check_signer(const cs_export_job *job, const cs_entry *entry, cs_error *err) {
    if (entry->link.ptr == NULL)
        return cs_fail(err, CS_CODE_EXPORT_FOREIGN,
                       "the file is there, and its lines have no links, so it can't be extended; name a new file");
    cs_envelope envelope;
    cs_result result = cs_envelope_decode(entry->link, &envelope, err);
    if (result != CS_OK) return result;
    const char *own = cs_key_public(job->options->key)->id;
    if (strcmp(envelope.keyid, own) != 0)
        result = cs_fail(err, CS_CODE_EXPORT_FOREIGN,
                         "the file is there, and line %" PRIu64
                         " was linked with key %s, not with our own %s; name a new file",
                         entry->number, envelope.keyid, own);
    cs_envelope_free(&envelope);
    return result;
}

/* Carry a line over as it is, and remember what it holds. */
static cs_result copy_line(void *user, const cs_verified_entry *line, cs_error *err) {
    cs_export_job *job = user;
    const cs_entry *entry = line->entry;
    cs_result result = check_signer(job, entry, err);
    if (result != CS_OK) return result;
    cs_digest digest;
    if (entry->envelope.ptr != NULL) {
        if (!cs_bundle_entry_digest(job->hash, entry->line, entry->link_offset, &digest))
            return cs_fail(err, CS_CODE_INTERNAL, "SHA-256 failed");
        result = cs_digest_map_put(job->held, cs_digest_view(&digest), entry->number, err);
        if (result != CS_OK) return result;
    }
    cs_buf_clear(&job->line);
    if (!cs_buf_append(&job->line, entry->line.ptr, entry->line.len))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a line of the bundle");
    return cs_export_put_line(job, err);
}

static cs_result copy_old(cs_export_job *job, cs_error *err) {
    cs_source *source = NULL;
    cs_result result = cs_source_open_bundle(job->file.old, &source, err);
    if (result == CS_OK) {
        cs_verify_summary verified;
        result = cs_export_verify(job, source, job->options->out, copy_line, &verified, err);
        cs_source_close(source);
        if (result == CS_NOTHING)
            result = cs_fail(err, CS_CODE_EXPORT_FOREIGN,
                             "the file is there, and holds no record of a run; name a new file");
    } else if (err->code == CS_CODE_INPUT_UNKNOWN || err->code == CS_CODE_INPUT_VERDICT) {
        result = cs_fail(err, CS_CODE_EXPORT_FOREIGN, "the file is there, and is no bundle; name a new file");
    }
    if (err->code == CS_CODE_EXPORT_FOREIGN) cs_error_where(err, "%s", job->options->out);
    return result;
}

/* ---- the ledger ------------------------------------------------------------------------------------ */

/* Imported checkpoints belong to links that are not carried over. */
static cs_result write_entry(void *user, const cs_verified_entry *verified, cs_error *err) {
    cs_export_job *job = user;
    if (strcmp(verified->kind, CS_KIND_CHECKPOINT) == 0) return CS_OK;
    cs_digest digest;
    cs_result result = cs_export_make_line(job, verified->entry, cs_view_bytes(NULL, 0), NULL, err);
    if (result != CS_OK) return result;
    cs_sha256_update(job->hash, job->line.ptr, job->line.len);
    if (!cs_sha256_final_hex(job->hash, &digest)) return cs_fail(err, CS_CODE_INTERNAL, "SHA-256 failed");
    uint64_t line = cs_digest_map_get(job->held, cs_digest_view(&digest));
    if (line != 0) {
        job->summary->present++;
        return cs_digest_map_put(job->found, cs_digest_view(&digest), line, err);
    }
    CS_AUTO_BUF link = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES);
    result = sign_next(job, &digest, &link, err);
    if (result == CS_OK) result = cs_export_make_line(job, verified->entry, cs_buf_view(&link), NULL, err);
    if (result != CS_OK) return result;
    job->summary->added++;
    return cs_export_put_line(job, err);
}

static cs_result write_ledger(cs_export_job *job, cs_error *err) {
    cs_source *source = NULL;
    cs_result result = cs_source_open(job->options->ledger, &source, err);
    if (result != CS_OK) return result;
    cs_verify_summary verified;
    result = cs_export_verify(job, source, job->options->ledger, write_entry, &verified, err);
    job->summary->left_out = cs_export_left_out_of(&verified);
    cs_source_close(source);
    return result;
}

/* Both parts passed by themselves. Together they may still contradict one another: a session that the file holds and
 * the ledger has in other bytes. */
static cs_result check_whole(cs_export_job *job, cs_error *err) {
    if (lseek(job->file.made.fd, 0, SEEK_SET) != 0)
        return cs_fail(err, CS_CODE_IO, "the new bundle can't be read again");
    cs_source *source = NULL;
    cs_result result = cs_source_open_bundle(job->file.made.fd, &source, err);
    if (result != CS_OK) return result;
    cs_verify_options options = {.trust = &job->trust};
    cs_verify_summary verified;
    result = cs_verify_source(source, &options, &verified, err);
    cs_source_close(source);
    if (result == CS_OK) return CS_OK;
    cs_error_also(err,
                  "; so the ledger's entries do not go with those of the file, which is as it was. Name a new file");
    cs_error_where(err, "%s, extended", job->options->out);
    return result;
}

/* We sign now; a key that was named with a window of time must be in it. */
static cs_result check_window(const cs_export_job *job, cs_error *err) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return cs_fail(err, CS_CODE_INTERNAL, "the clock can't be read");
    int64_t ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    return cs_trust_check_time(&job->trust, cs_key_public(job->options->key)->id, ms, ms, err);
}

cs_result cs_export_own(cs_export_job *job, bool *changed, cs_error *err) {
    *changed = false;
    bool extends = job->file.old >= 0 && job->file.old_size > 0;
    cs_result result = check_window(job, err);
    if (result == CS_OK) result = cs_digest_map_new(&job->held, err);
    if (result == CS_OK) result = cs_digest_map_new(&job->found, err);
    if (result == CS_OK) result = cs_export_file_create(&job->file, err);
    if (result == CS_OK && extends) result = copy_old(job, err);
    if (result == CS_OK) result = write_ledger(job, err);
    if (result != CS_OK) return result;
    *changed = job->summary->added > 0;
    if (*changed) result = put_checkpoint(job, err);
    if (*changed && extends && result == CS_OK) result = check_whole(job, err);
    job->summary->resumed = *changed && extends;
    job->summary->beyond = cs_digest_map_count(job->held) - cs_digest_map_count(job->found);
    job->summary->head = job->last;
    return result;
}
