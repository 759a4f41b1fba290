#include "verify/schema.h"

#include "records/canonical.h"

/* The small columns stand first: SQLite finds them in the row's own page, without walking through the
 * overflow pages of the large ones. No index: it would be a second copy of the truth, and the ledger is
 * read in the order of its ids. The texts of a version that was released never change. */
#define TABLE(kinds, link, checks)                                                                                     \
    "CREATE TABLE entry (\n"                                                                                           \
    "  id INTEGER PRIMARY KEY CHECK (id >= 1),\n"                                                                      \
    "  added_unix_ms INTEGER NOT NULL,\n"                                                                              \
    "  kind TEXT NOT NULL CHECK (kind IN (" kinds ")),\n"                                                              \
    "  record_sha256 TEXT NOT NULL,\n"                                                                                 \
    "  previous_sha256 TEXT NOT NULL CHECK (length(previous_sha256) = iif(id = 1, 0, 64)),\n"                          \
    "  row_sha256 TEXT NOT NULL CHECK (length(row_sha256) = 64),\n"                                                    \
    "  code TEXT NOT NULL,\n"                                                                                          \
    "  daemon TEXT NOT NULL,\n"                                                                                        \
    "  detail TEXT NOT NULL,\n"                                                                                        \
    "  envelope BLOB,\n" link "  describe_before BLOB,\n"                                                              \
    "  describe_after BLOB,\n"                                                                                         \
    "  request BLOB,\n"                                                                                                \
    "  response BLOB,\n"                                                                                               \
    "  CHECK (kind <> 'run' OR (request IS NOT NULL AND response IS NOT NULL AND envelope IS NOT NULL"                 \
    " AND length(record_sha256) = 64 AND code = '' AND detail = '')),\n" checks                                        \
    "  CHECK (kind <> 'finding' OR (envelope IS NULL AND record_sha256 = '' AND code <> ''))\n"                        \
    ") STRICT"

#define UPDATE_TRIGGER                                                                                                 \
    "CREATE TRIGGER entry_update BEFORE UPDATE ON entry\n"                                                             \
    "BEGIN\n"                                                                                                          \
    "  SELECT RAISE(ABORT, 'a ledger entry is never changed');\n"                                                      \
    "END"
#define DELETE_TRIGGER                                                                                                 \
    "CREATE TRIGGER entry_delete BEFORE DELETE ON entry\n"                                                             \
    "BEGIN\n"                                                                                                          \
    "  SELECT RAISE(ABORT, 'a ledger entry is never deleted');\n"                                                      \
    "END"
/* This one also stops INSERT OR REPLACE, which deletes the old row without firing entry_delete. */
#define INSERT_TRIGGER                                                                                                 \
    "CREATE TRIGGER entry_insert BEFORE INSERT ON entry\n"                                                             \
    "WHEN NEW.id IS NOT (SELECT coalesce(max(id), 0) + 1 FROM entry)\n"                                                \
    "  OR NEW.previous_sha256 IS NOT coalesce((SELECT row_sha256 FROM entry ORDER BY id DESC LIMIT 1), '')\n"          \
    "BEGIN\n"                                                                                                          \
    "  SELECT RAISE(ABORT, 'a ledger entry only follows the last one');\n"                                             \
    "END"

/* What version 2 added to 1: the kinds of a session. */
#define SESSION_CHECKS                                                                                                 \
    "  CHECK (kind <> 'unanswered' OR (request IS NOT NULL AND response IS NULL AND envelope IS NOT NULL"              \
    " AND length(record_sha256) = 64 AND code = '' AND detail = '')),\n"                                               \
    "  CHECK (kind <> 'close' OR (request IS NULL AND response IS NULL AND envelope IS NOT NULL"                       \
    " AND record_sha256 = '' AND code = '' AND detail = '')),\n"

/* What version 3 added to 2: the links of imported bundles. */
#define LINK_CHECKS                                                                                                    \
    "  CHECK (kind <> 'checkpoint' OR (link IS NOT NULL AND request IS NULL AND response IS NULL AND envelope IS NULL" \
    " AND describe_before IS NULL AND describe_after IS NULL"                                                          \
    " AND record_sha256 = '' AND code = '' AND detail = '')),\n"                                                       \
    "  CHECK (kind <> 'finding' OR link IS NULL),\n"

/* What version 4 added to 3: the statements of verdicts. */
#define VERDICT_CHECKS                                                                                                 \
    "  CHECK (kind <> 'verdict' OR (envelope IS NOT NULL AND link IS NULL AND request IS NULL AND response IS NULL"    \
    " AND describe_before IS NULL AND describe_after IS NULL"                                                          \
    " AND record_sha256 = '' AND daemon = '' AND code = '' AND detail = '')),\n"

static const char *const schema_1[] = {TABLE("'run', 'finding'", "", ""), UPDATE_TRIGGER, DELETE_TRIGGER,
                                       INSERT_TRIGGER, NULL};

static const char *const schema_2[] = {
    TABLE("'run', 'finding', 'unanswered', 'close'", "", SESSION_CHECKS),
    UPDATE_TRIGGER,
    DELETE_TRIGGER,
    INSERT_TRIGGER,
    NULL,
};

static const char *const schema_3[] = {
    TABLE("'run', 'finding', 'unanswered', 'close', 'checkpoint'", "  link BLOB,\n", SESSION_CHECKS LINK_CHECKS),
    UPDATE_TRIGGER,
    DELETE_TRIGGER,
    INSERT_TRIGGER,
    NULL,
};

const char *const cs_ledger_schema[] = {
    TABLE("'run', 'finding', 'unanswered', 'close', 'checkpoint', 'verdict'", "  link BLOB,\n",
          SESSION_CHECKS LINK_CHECKS VERDICT_CHECKS),
    UPDATE_TRIGGER,
    DELETE_TRIGGER,
    INSERT_TRIGGER,
    NULL,
};

const char *const *cs_ledger_schema_of(int64_t version) {
    switch (version) {
    case 1:
        return schema_1;
    case 2:
        return schema_2;
    case 3:
        return schema_3;
    case CS_LEDGER_VERSION:
        return cs_ledger_schema;
    default:
        return NULL;
    }
}

/* An absent column and an empty one are different: the value is a group of none or one. */
static void digest_optional(cs_sha256 *hash, const char *name, cs_view value) {
    cs_canonical_u64(hash, name, value.ptr != NULL);
    if (value.ptr != NULL) cs_canonical_bytes(hash, name, value);
}

static void digest_message(cs_sha256 *hash, bool run, const char *name, cs_view value) {
    if (!run) {
        digest_optional(hash, name, value);
        return;
    }
    cs_canonical_u64(hash, name, value.ptr != NULL);
    if (value.ptr != NULL) cs_canonical_u64(hash, name, value.len);
}

bool cs_ledger_row_digest(cs_sha256 *hash, const cs_ledger_row *row, cs_digest *out) {
    bool run = cs_view_is(row->kind, CS_KIND_RUN);
    bool linked = row->link.ptr != NULL;
    cs_canonical_domain(hash, linked ? "countersign.ledger-row.v2" : "countersign.ledger-row.v1");
    cs_canonical_i64(hash, "id", row->id);
    cs_canonical_i64(hash, "added_unix_ms", row->added_unix_ms);
    cs_canonical_bytes(hash, "kind", row->kind);
    cs_canonical_bytes(hash, "daemon", row->daemon);
    cs_canonical_bytes(hash, "code", row->code);
    cs_canonical_bytes(hash, "detail", row->detail);
    digest_message(hash, run, "request", row->request);
    digest_message(hash, run, "response", row->response);
    digest_optional(hash, "envelope", row->envelope);
    digest_optional(hash, "describe_before", row->describe_before);
    digest_optional(hash, "describe_after", row->describe_after);
    cs_canonical_bytes(hash, "record_sha256", row->record_sha256);
    cs_canonical_bytes(hash, "previous_sha256", row->previous_sha256);
    if (linked) cs_canonical_bytes(hash, "link", row->link);
    return cs_sha256_final_hex(hash, out);
}

/* What the signed kinds have in common, and what tells them apart. */
static const char *signed_fault(const cs_ledger_row *row, bool request, bool response) {
    if (row->envelope.ptr == NULL || (row->request.ptr != NULL) != request || (row->response.ptr != NULL) != response)
        return "a run has a request, a response and an envelope; an unanswered call a request and an envelope; a close "
               "an envelope alone";
    if (row->code.len > 0 || row->detail.len > 0) return "a signed entry has no code and no detail";
    if (!request) return row->record_sha256.len > 0 ? "a close has no record_sha256" : NULL;
    return cs_is_hex(row->record_sha256, CS_SHA256_HEX) ? NULL
                                                        : "record_sha256 of a signed call is 64 lowercase hex digits";
}

static const char *checkpoint_fault(const cs_ledger_row *row) {
    if (row->link.ptr == NULL || row->request.ptr != NULL || row->response.ptr != NULL || row->envelope.ptr != NULL ||
        row->describe_before.ptr != NULL || row->describe_after.ptr != NULL)
        return "a checkpoint has a link alone";
    if (row->code.len > 0 || row->detail.len > 0) return "a checkpoint has no code and no detail";
    return row->record_sha256.len > 0 ? "a checkpoint has no record_sha256" : NULL;
}

static const char *verdict_fault(const cs_ledger_row *row) {
    if (row->envelope.ptr == NULL || row->link.ptr != NULL || row->request.ptr != NULL || row->response.ptr != NULL ||
        row->describe_before.ptr != NULL || row->describe_after.ptr != NULL)
        return "a verdict has an envelope alone";
    if (row->daemon.len > 0 || row->code.len > 0 || row->detail.len > 0)
        return "a verdict has no daemon, no code and no detail";
    return row->record_sha256.len > 0 ? "a verdict has no record_sha256" : NULL;
}

static const char *finding_fault(const cs_ledger_row *row) {
    if (row->envelope.ptr != NULL || row->link.ptr != NULL || row->record_sha256.len > 0)
        return "a finding has no envelope, no link and no record_sha256";
    return row->code.len == 0 ? "a finding has a code" : NULL;
}

static const char *kind_fault(const cs_ledger_row *row) {
    if (cs_view_is(row->kind, CS_KIND_RUN)) return signed_fault(row, true, true);
    if (cs_view_is(row->kind, CS_KIND_UNANSWERED)) return signed_fault(row, true, false);
    if (cs_view_is(row->kind, CS_KIND_CLOSE)) return signed_fault(row, false, false);
    if (cs_view_is(row->kind, CS_KIND_CHECKPOINT)) return checkpoint_fault(row);
    if (cs_view_is(row->kind, CS_KIND_VERDICT)) return verdict_fault(row);
    if (cs_view_is(row->kind, CS_KIND_FINDING)) return finding_fault(row);
    return "the kind is run, unanswered, close, checkpoint, verdict or finding";
}

/* One rule about the whole row; the name of what breaks it, or NULL. */
static const char *row_fault(const cs_ledger_row *row) {
    const cs_view texts[] = {row->daemon, row->code, row->detail};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!cs_utf8_valid(texts[i])) return "daemon, code and detail are UTF-8 text";
    }
    const cs_view all[] = {row->daemon,   row->code, row->detail,          row->request,       row->response,
                           row->envelope, row->link, row->describe_before, row->describe_after};
    size_t total = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].len > CS_MAX_LEDGER_MESSAGE) return "a column holds at most 48 MiB";
        total += all[i].len;
    }
    if (total > CS_MAX_LEDGER_ROW) return "a row holds at most 128 MiB";
    return kind_fault(row);
}

cs_result cs_ledger_row_check(const cs_ledger_row *row, cs_error *err) {
    const char *fault = row_fault(row);
    if (fault == NULL) return CS_OK;
    return cs_fail(err, CS_CODE_LEDGER_COLUMNS, "the columns of a ledger entry are not as they must be: %s", fault);
}
