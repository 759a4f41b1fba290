#include "tests/verify/imported_case.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

imported_case imported_begin(void) {
    imported_case out = {.folder = "/tmp/imported-XXXXXX"};
    cr_assert_not_null(mkdtemp(out.folder));
    strcpy(out.path, forge_text("%s/ledger.db", out.folder));
    out.db = raw_create(out.path);
    return out;
}

void imported_add(imported_case *ledger, const char *line) {
    raw_append(ledger->db, imported_row(line));
}

void imported_lines(imported_case *ledger, const forge_bundle *bundle, size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
        imported_add(ledger, bundle->lines[i]);
}

void imported_own_run(imported_case *ledger, const forge_key *key) {
    static uint64_t later = 1000;
    forge_run run = forge_single();
    run.started += later;
    run.ended += later++;
    forge_seal(&run);
    imported_add(ledger, forge_run_line(key, &run));
}

void imported_change(imported_case *ledger, const char *sql) {
    /* All triggers in their order, so that the schema is the same again. */
    raw_sql(ledger->db, "DROP TRIGGER entry_update; DROP TRIGGER entry_delete; DROP TRIGGER entry_insert");
    raw_sql(ledger->db, sql);
    for (size_t i = 1; cs_ledger_schema[i] != NULL; i++)
        raw_sql(ledger->db, cs_ledger_schema[i]);
}

outcome imported_verify_under(imported_case *ledger, const cs_trust *trust) {
    raw_close(ledger->db);
    outcome out = verify_path(ledger->path, trust);
    ledger->db = raw_open(ledger->path);
    return out;
}

outcome imported_verify(imported_case *ledger, const forge_key *key) {
    cs_trust trust = {.count = 0};
    trust_key(&trust, key);
    return imported_verify_under(ledger, &trust);
}

void imported_end(imported_case *ledger) {
    raw_close(ledger->db);
    unlink(ledger->path);
    cr_expect_eq(rmdir(ledger->folder), 0, "something is left beside the ledger");
}
