/* A ledger with the lines of imported bundles. */
#ifndef TESTS_VERIFY_IMPORTED_CASE_H
#define TESTS_VERIFY_IMPORTED_CASE_H

#include "tests/support/imported.h"
#include "tests/verify/linked_case.h"
#include "tests/verify/outcome.h"
#include "tests/verify/raw_ledger.h"

typedef struct imported_case {
    char folder[32];
    char path[64];
    sqlite3 *db;
} imported_case;

imported_case imported_begin(void);
/* One line, or those from number `from` up to before `to` (0-based). */
void imported_add(imported_case *ledger, const char *line);
void imported_lines(imported_case *ledger, const forge_bundle *bundle, size_t from, size_t to);
/* A run of this ledger's own, without a link; each call makes another one. */
void imported_own_run(imported_case *ledger, const forge_key *key);
/* Change rows behind the triggers' back; row_sha256 stays as it is. */
void imported_change(imported_case *ledger, const char *sql);
/* Verify and go on. */
outcome imported_verify_under(imported_case *ledger, const cs_trust *trust);
outcome imported_verify(imported_case *ledger, const forge_key *key);
void imported_end(imported_case *ledger);

#endif
