/* What a ledger's newest entries hold of the same daemon. */
#include "harness/stated.h"
#include "harness/tiers_rules.h"
#include "verify/ledger_row.h"

#define LOCK_WAIT_MS 10000

static bool is_peer(const cs_run_record *other, const cs_run_record *record) {
    return cs_view_equal(cs_bytes_view(&other->provider), cs_bytes_view(&record->provider)) &&
           cs_view_equal(cs_bytes_view(&other->policy), cs_bytes_view(&record->policy)) &&
           cs_view_equal(cs_bytes_view(&other->environment), cs_bytes_view(&record->environment));
}

static void count(const cs_run_record *other, const cs_run_record *record, uint64_t entry, cs_ledger_said *out) {
    if (other == NULL || !is_peer(other, record)) return;
    if (cs_view_equal(cs_bytes_view(&other->isolation), cs_bytes_view(&record->isolation))) {
        out->same++;
        return;
    }
    if (out->other++ > 0) return;
    out->other_entry = entry;
    out->other_tier = cs_tier_parse(cs_bytes_view(&other->isolation));
}

static cs_result read_run(const cs_ledger_row *row, const cs_run_record *record, cs_arena *arena, cs_ledger_said *out,
                          cs_error *err) {
    const ProtobufCMessage *message = NULL;
    cs_result result = cs_message_view(&plimsoll__v1__run_response__descriptor, row->response, arena, &message, err);
    if (result == CS_OK) count(((const cs_run_response *)message)->record, record, (uint64_t)row->id, out);
    return result;
}

/* ---- findings ------------------------------------------------------------------------------------------ */

/* What is not stated may be the same. */
static bool may_be(cs_view stated, const ProtobufCBinaryData *text) {
    return stated.len == 0 || text->len == 0 || cs_view_equal(stated, cs_bytes_view(text));
}

static bool has_environment(const cs_stated *stated, const ProtobufCBinaryData *environment) {
    bool any = false;
    for (size_t i = 0; i < CS_STATED_ENVIRONMENTS; i++) {
        if (stated->environments[i].len == 0) continue;
        if (may_be(stated->environments[i], environment)) return true;
        any = true;
    }
    return !any;
}

static bool is_same_claim(const cs_stated *stated, const cs_run_record *record) {
    return cs_view_equal(stated->tier, cs_bytes_view(&record->isolation)) &&
           may_be(stated->provider, &record->provider) && may_be(stated->policy, &record->policy) &&
           has_environment(stated, &record->environment);
}

/* Of one that does not show its claim it is not known whether it is the same, and so neither that it is not. */
static cs_result read_finding(const cs_ledger_row *row, const cs_run_record *record, cs_arena *arena,
                              cs_ledger_said *out, cs_error *err) {
    cs_stated stated;
    cs_result result = cs_stated_read(row, arena, &stated, err);
    if (result != CS_OK) return result;
    if (!stated.any || stated.tier.len == 0) {
        if (out->unread++ == 0) out->unread_entry = (uint64_t)row->id;
    } else if (is_same_claim(&stated, record)) {
        out->refuted++;
        out->refuted_entry = (uint64_t)row->id;
    }
    return CS_OK;
}

static bool is_refutation(const cs_ledger_row *row) {
    return cs_view_is(row->kind, CS_KIND_FINDING) && cs_view_is(row->code, cs_code_name(CS_CODE_TIER_CONTRADICTED));
}

/* ---- the reading --------------------------------------------------------------------------------------- */

static cs_result read_row(const cs_ledger_row *row, const char *daemon, const cs_run_record *record, cs_arena *arena,
                          cs_ledger_said *out, cs_error *err) {
    if (!cs_view_is(row->daemon, daemon)) return CS_OK;
    cs_result result = CS_OK;
    if (cs_view_is(row->kind, CS_KIND_RUN) && row->response.ptr != NULL)
        result = read_run(row, record, arena, out, err);
    else if (is_refutation(row))
        result = read_finding(row, record, arena, out, err);
    if (result == CS_OK) cs_arena_reset(arena);
    return result;
}

/* What the reading works with. */
typedef struct ledger_reading {
    cs_ledger_file file;
    sqlite3_stmt *rows;
    cs_sha256 *hash;
    cs_arena *arena;
    int64_t first;
} ledger_reading;

static cs_result begin_reading(const char *path, ledger_reading *r, cs_error *err) {
    int64_t version = 0;
    int64_t newest = 0;
    r->hash = cs_sha256_new();
    r->arena = cs_arena_new();
    if (r->hash == NULL || r->arena == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to read the ledger");
    cs_result result = cs_ledger_file_open(path, CS_LEDGER_READ, LOCK_WAIT_MS, &r->file, err);
    if (result == CS_OK) result = cs_ledger_file_exec(&r->file, "BEGIN", "begin to read the ledger", err);
    if (result == CS_OK) result = cs_ledger_file_identify(&r->file, &version, err);
    if (result == CS_OK)
        result = cs_ledger_file_number(&r->file, "SELECT coalesce(max(id), 0) FROM entry", &newest, err);
    /* The row before the first is read too: the first is held against it. */
    r->first = newest > CS_TIERS_LEDGER_ENTRIES ? newest - CS_TIERS_LEDGER_ENTRIES + 1 : 1;
    return result == CS_OK ? cs_ledger_rows_prepare(&r->file, version, r->first - 1, &r->rows, err) : result;
}

static cs_result read_rows(ledger_reading *r, const char *daemon, const cs_run_record *record, uint64_t end,
                           cs_ledger_said *said, cs_error *err) {
    cs_ledger_place place = {0};
    for (;;) {
        cs_ledger_row row;
        int rc = sqlite3_step(r->rows);
        if (rc == SQLITE_DONE) return CS_OK;
        if (rc != SQLITE_ROW) return cs_ledger_file_fail(&r->file, rc, "read the ledger's entries", err);
        cs_result result = cs_ledger_row_take(r->rows, r->hash, &place, &row, err);
        if (row.id == r->first - 1) continue; /* what came before it was not read, so it follows nothing */
        if (result == CS_OK && end != 0 && (uint64_t)row.id >= end) return CS_OK;
        if (result == CS_OK) result = read_row(&row, daemon, record, r->arena, said, err);
        said->newest = (uint64_t)row.id;
        if (result != CS_OK) return result;
    }
}

cs_result cs_tiers_read_ledger(const char *path, const char *daemon, const cs_run_record *record, uint64_t end,
                               cs_ledger_said *out, cs_error *err) {
    *out = (cs_ledger_said){0};
    ledger_reading r = {.rows = NULL};
    cs_ledger_said said = {.read = true};
    cs_result result = begin_reading(path, &r, err);
    if (result == CS_OK) result = read_rows(&r, daemon, record, end, &said, err);
    (void)sqlite3_finalize(r.rows);
    cs_ledger_file_close(&r.file);
    cs_sha256_free(r.hash);
    cs_arena_free(r.arena);
    if (result == CS_OK) *out = said;
    return result;
}
