/* verify/ledger_file.h: the stable code of a failure of SQLite. */
#include "verify/ledger_file.h"

#include <criterion/criterion.h>

/* SQLite says that a disk is full only of some of its files. */
Test(ledger_file, a_shared_file_that_can_not_grow_is_a_full_disk) {
    static const struct {
        int rc;
        bool writing;
        cs_code code;
    } twins[] = {
        {SQLITE_FULL, true, CS_CODE_LEDGER_FULL},
        {SQLITE_IOERR_SHMSIZE, true, CS_CODE_LEDGER_FULL},
        {SQLITE_IOERR_SHMOPEN, true, CS_CODE_LEDGER_WRITE},
        {SQLITE_IOERR_SHMSIZE, false, CS_CODE_IO},
    };
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        const cs_ledger_file file = {.writing = twins[i].writing};
        cs_error err = CS_ERROR_INIT;
        cr_expect_eq(cs_ledger_file_fail(&file, twins[i].rc, "open the file", &err), CS_UNCHECKED);
        cr_expect_eq(err.code, twins[i].code, "%zu: %s", i, err.message);
    }
}
