/* What the tests of reading ledgers share: one ledger in a folder of its own, and a walk over it. */
#ifndef TESTS_VERIFY_LEDGER_WALK_H
#define TESTS_VERIFY_LEDGER_WALK_H

#include <sqlite3.h>

#include "verify/source.h"

/* The folder, and the ledger's path in it. */
extern char walk_folder[128];
extern char walk_path[256];
void walk_set_up(void);
void walk_tear_down(void);

/* Three good rows at walk_path: run, finding, run. */
sqlite3 *walk_three_rows(void);

cs_source *walk_open(const char *name);
/* Walk to the end. `codes` holds what each entry must answer; CS_CODE_OK for a good one. */
void walk_expect(const char *name, const cs_code *codes, size_t count);

#define WALK(name, ...)                                                                                                \
    walk_expect(name, (const cs_code[]){__VA_ARGS__}, sizeof((const cs_code[]){__VA_ARGS__}) / sizeof(cs_code))
#define GOOD CS_CODE_OK

#endif
