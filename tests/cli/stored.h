/* What someone with write access can make of a ledger: its rows in memory, to be changed and written again as another
 * ledger whose rows and digests are all as they must be, or as an unlinked bundle. Nothing is signed again: of that a
 * forger has no means. */
#ifndef CS_TESTS_CLI_STORED_H
#define CS_TESTS_CLI_STORED_H

#include "tests/cli/cli_case.h"
#include "verify/schema.h"

#define STORED_MAX 16

typedef struct stored {
    cs_ledger_row rows[STORED_MAX];
    size_t count;
} stored;

/* All rows of a ledger in the case's folder. What they hold lives as long as the test's process. */
void stored_read(const cli_case *c, const char *ledger, stored *out);

void stored_remove(stored *s, size_t at);
void stored_insert(stored *s, size_t at, const cs_ledger_row *row);
void stored_swap(stored *s, size_t a, size_t b);
/* Put `to` in the place of `from`, of the same length, in a row's response, where it must stand once. */
void stored_alter_response(stored *s, size_t at, const char *from, const char *to);

/* Write them into the case's folder, in place of a file that is there. */
void stored_write_ledger(const cli_case *c, const stored *s, const char *name);
void stored_write_bundle(cli_case *c, const stored *s, const char *name);

/* Or in place: copy a ledger; run SQL on it without the triggers that guard it, which are there again afterwards. */
void stored_copy(const cli_case *c, const char *from, const char *to);
void stored_sql(const cli_case *c, const char *ledger, const char *sql);

#endif
