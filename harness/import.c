#include "harness/import.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "harness/digest_map.h"
#include "harness/link.h"
#include "records/statement.h"
#include "verify/line.h"

/* One bundle on its way into a ledger. The maps say what the ledger held before; the bundle's own lines are not put
 * in, so that one that repeats itself is kept as it is. */
typedef struct importing {
    const cs_import_options *options;
    cs_import_summary *summary;
    cs_sha256 *hash;
    cs_buf line;            /* of a row that is there */
    cs_digest_map *lines;   /* digest of a signed row as a line: its id */
    cs_digest_map *records; /* record digest: id */
    cs_digest_map *closes;  /* fingerprint of a session with a close: id */
    cs_digest_map *before;  /* digest of the line that a line of a bundle follows: its id */
    bool failed;            /* something in the bundle failed: nothing more is added */
} importing;

/* ---- what is there --------------------------------------------------------------------------------- */

static cs_result note_line(importing *in, const cs_ledger_row *row, cs_error *err) {
    cs_entry entry = {.request = row->request, .response = row->response, .envelope = row->envelope, .link = row->link};
    cs_digest digest;
    cs_buf_clear(&in->line);
    /* What no bundle can hold can't come from one. */
    if (cs_bundle_line_size(&entry) > CS_MAX_LINE_BYTES) return CS_OK;
    if (!cs_bundle_line_write(&entry, &in->line, NULL))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for an entry of the ledger");
    cs_sha256_update(in->hash, in->line.ptr, in->line.len);
    if (!cs_sha256_final_hex(in->hash, &digest)) return cs_fail(err, CS_CODE_INTERNAL, "SHA-256 failed");
    return cs_digest_map_put(in->lines, cs_digest_view(&digest), (uint64_t)row->id, err);
}

static cs_result note_close(importing *in, const cs_ledger_row *row, cs_error *err) {
    cs_envelope envelope;
    cs_result result = cs_envelope_decode(row->envelope, &envelope, err);
    if (result != CS_OK) return result;
    cs_statement statement;
    result = cs_statement_read(cs_buf_view(&envelope.payload), &statement, err);
    cs_envelope_free(&envelope);
    if (result != CS_OK) return result;
    if (statement.kind == CS_STATEMENT_CLOSE) {
        result = cs_digest_map_put(in->closes, cs_view_of(statement.close.session), (uint64_t)row->id, err);
    } else {
        result = cs_fail(err, CS_CODE_STATEMENT_TYPE, "the statement of a close is not one of a close");
    }
    cs_statement_free(&statement);
    return result;
}

static cs_result note_link(importing *in, const cs_ledger_row *row, cs_error *err) {
    cs_bundle_link link;
    cs_result result = cs_link_statement(row->link, &link, err);
    if (result != CS_OK || link.previous_sha256[0] == '\0') return result;
    return cs_digest_map_put(in->before, cs_view_of(link.previous_sha256), (uint64_t)row->id, err);
}

static cs_result note_row(void *user, const cs_ledger_row *row, cs_error *err) {
    importing *in = user;
    /* No bundle can bring either. */
    if (cs_view_is(row->kind, CS_KIND_FINDING) || cs_view_is(row->kind, CS_KIND_VERDICT)) return CS_OK;
    cs_result result = note_line(in, row, err);
    if (result == CS_OK && row->record_sha256.len > 0)
        result = cs_digest_map_put(in->records, row->record_sha256, (uint64_t)row->id, err);
    if (result == CS_OK && cs_view_is(row->kind, CS_KIND_CLOSE)) result = note_close(in, row, err);
    if (result == CS_OK && row->link.ptr != NULL) result = note_link(in, row, err);
    if (result == CS_FAILED)
        cs_error_also(err, "; nothing is added to a ledger with such an entry, verify it and use another");
    if (result != CS_OK) cs_error_where(err, "the ledger's entry %" PRId64, row->id);
    return result;
}

/* ---- what comes ------------------------------------------------------------------------------------ */

static int64_t now_unix_ms(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Is what this line holds in the ledger already, in other bytes? */
static cs_result check_known(const importing *in, const cs_verified_entry *line, cs_error *err) {
    bool close = strcmp(line->kind, CS_KIND_CLOSE) == 0;
    uint64_t known = close                      ? cs_digest_map_get(in->closes, cs_digest_view(&line->session))
                     : line->record.hex[0] != 0 ? cs_digest_map_get(in->records, cs_digest_view(&line->record))
                                                : 0;
    if (known == 0) return CS_OK;
    cs_result result =
        cs_fail(err, CS_CODE_IMPORT_DUPLICATE,
                "%s is in the ledger already, as entry %" PRIu64
                ", in a line of other bytes; nothing was added. Import this bundle into a ledger of its own",
                close ? "the close of this session" : "the record of this line", known);
    cs_error_where(err, "line %" PRIu64, line->entry->number);
    return result;
}

/* Does the bundle go on from a line that another one in the ledger follows already? */
static cs_result check_fork(const importing *in, const cs_verified_entry *line, cs_error *err) {
    uint64_t known = cs_digest_map_get(in->before, cs_digest_view(&line->link_previous));
    if (known == 0) return CS_OK;
    cs_result result =
        cs_fail(err, CS_CODE_LINK_PREVIOUS,
                "entry %" PRIu64 " of the ledger follows the same line of the bundle as this one does, "
                "so the bundle went on in two ways; nothing was added. Ask its signer which one is right",
                known);
    cs_error_where(err, "line %" PRIu64, line->entry->number);
    return result;
}

static cs_result add_line(importing *in, const cs_verified_entry *line, cs_error *err) {
    const cs_entry *entry = line->entry;
    cs_ledger_row row = {.added_unix_ms = now_unix_ms(),
                         .kind = cs_view_of(line->kind),
                         .daemon = cs_view_of(""),
                         .code = cs_view_of(""),
                         .detail = cs_view_of(""),
                         .request = entry->request,
                         .response = entry->response,
                         .envelope = entry->envelope,
                         .link = entry->link,
                         .record_sha256 = cs_view_of(line->record.hex)};
    int64_t id = 0;
    cs_result result = cs_ledger_append(in->options->ledger, &row, &id, err);
    if (result == CS_OK) in->summary->added++;
    return result;
}

static cs_result on_entry(void *user, const cs_verified_entry *line, cs_error *err) {
    importing *in = user;
    if (in->failed) return CS_OK;
    cs_digest digest;
    cs_sha256_update(in->hash, line->entry->line.ptr, line->entry->line.len);
    if (!cs_sha256_final_hex(in->hash, &digest)) return cs_fail(err, CS_CODE_INTERNAL, "SHA-256 failed");
    if (cs_digest_map_get(in->lines, cs_digest_view(&digest)) != 0) {
        in->summary->present++;
        return CS_OK;
    }
    cs_result result = check_known(in, line, err);
    if (result == CS_OK) result = check_fork(in, line, err);
    return result == CS_OK ? add_line(in, line, err) : result;
}

static void on_finding(void *user, const cs_finding *finding) {
    importing *in = user;
    if (!finding->warning) in->failed = true;
    if (in->options->on_finding != NULL) in->options->on_finding(in->options->user, finding);
}

static void on_progress(void *user, uint64_t done, uint64_t total) {
    const importing *in = user;
    if (in->options->on_progress != NULL) in->options->on_progress(in->options->user, done, total);
}

/* ---- all of it ------------------------------------------------------------------------------------- */

static cs_result prepare(importing *in, cs_error *err) {
    in->hash = cs_sha256_new();
    in->line = CS_BUF_INIT(CS_MAX_LINE_BYTES);
    if (in->hash == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to import");
    cs_result result = cs_digest_map_new(&in->lines, err);
    if (result == CS_OK) result = cs_digest_map_new(&in->records, err);
    if (result == CS_OK) result = cs_digest_map_new(&in->closes, err);
    if (result == CS_OK) result = cs_digest_map_new(&in->before, err);
    return result;
}

static cs_result add_all(importing *in, cs_source *source, cs_error *err) {
    cs_result result = cs_ledger_walk(in->options->ledger, note_row, in, err);
    if (result != CS_OK) return result;
    cs_verify_options options = {.trust = in->options->trust,
                                 .on_finding = on_finding,
                                 .on_entry = on_entry,
                                 .on_progress = on_progress,
                                 .user = in};
    return cs_verify_source(source, &options, &in->summary->verified, err);
}

static cs_result import_source(importing *in, cs_source *source, cs_error *err) {
    if (cs_source_what(source) == CS_SOURCE_LEDGER)
        return cs_fail(err, CS_CODE_IMPORT_LEDGER,
                       "this is a ledger, and only a bundle is imported; export it first, or use it as it is");
    cs_result result = prepare(in, err);
    if (result == CS_OK) result = cs_ledger_begin(in->options->ledger, err);
    if (result != CS_OK) return result;
    result = add_all(in, source, err);
    if (result == CS_OK) result = cs_ledger_commit(in->options->ledger, err);
    if (result == CS_OK) return CS_OK;
    cs_ledger_undo(in->options->ledger);
    in->summary->added = 0;
    return result;
}

cs_result cs_import(const cs_import_options *options, cs_import_summary *summary, cs_error *err) {
    *summary = (cs_import_summary){.added = 0};
    cs_error own = CS_ERROR_INIT; /* the caller's may be NULL */
    importing in = {.options = options, .summary = summary};
    cs_source *source = NULL;
    cs_result result = cs_source_open(options->bundle, &source, &own);
    if (result == CS_OK) {
        result = import_source(&in, source, &own);
        cs_source_close(source);
    }
    cs_digest_map_free(in.lines);
    cs_digest_map_free(in.records);
    cs_digest_map_free(in.closes);
    cs_digest_map_free(in.before);
    cs_sha256_free(in.hash);
    cs_buf_free(&in.line);
    if (result == CS_OK) own = (cs_error){.code = CS_CODE_OK};
    if (err != NULL) *err = own;
    return result;
}
