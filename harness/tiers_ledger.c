/* What a ledger's newest entries hold of the same daemon. */
#include "harness/tiers_rules.h"
#include "records/arena.h"
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

static cs_result read_row(const cs_ledger_row *row, const char *daemon, const cs_run_record *record, cs_arena *arena,
                          cs_ledger_said *out, cs_error *err) {
    bool run = cs_view_is(row->kind, CS_KIND_RUN) && row->response.ptr != NULL && cs_view_is(row->daemon, daemon);
    if (!run) return CS_OK;
    const ProtobufCMessage *message = NULL;
    cs_result result = cs_message_view(&plimsoll__v1__run_response__descriptor, row->response, arena, &message, err);
    if (result != CS_OK) return result;
    count(((const cs_run_response *)message)->record, record, (uint64_t)row->id, out);
    cs_arena_reset(arena);
    return CS_OK;
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
