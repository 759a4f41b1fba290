/* Ledger rows of the lines of a bundle, as an import makes them; without any code under test. */
#ifndef TESTS_SUPPORT_IMPORTED_H
#define TESTS_SUPPORT_IMPORTED_H

#include "verify/schema.h"

/* The row of one line, with its link when it has one, but for id, previous_sha256 and row_sha256. What it borrows lives
 * as long as the test process. */
cs_ledger_row imported_row(const char *line);

#endif
