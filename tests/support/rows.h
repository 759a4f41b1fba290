/* Ledger rows for tests. They borrow literals only. */
#ifndef TESTS_SUPPORT_ROWS_H
#define TESTS_SUPPORT_ROWS_H

#include "verify/schema.h"

#define ROWS_RECORD "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* A run, a finding, a checkpoint and a verdict that may stand in a ledger, but for id, previous_sha256 and row_sha256. */
cs_ledger_row rows_run(void);
cs_ledger_row rows_finding(void);
cs_ledger_row rows_checkpoint(void);
cs_ledger_row rows_verdict(void);

#endif
