/* verify/source.h on ledgers that are damaged as a whole: a tree that is none, a file without its end. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/folder.h"
#include "tests/support/rows.h"
#include "tests/verify/ledger_walk.h"
#include "tests/verify/raw_ledger.h"
#include "verify/source.h"

TestSuite(ledger_damage, .init = walk_set_up, .fini = walk_tear_down);

static uint32_t be32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The root page's third child is made its first one again, so that the same rows come twice. */
Test(ledger_damage, a_tree_that_leads_back) {
    static uint8_t filler[1500];
    sqlite3 *db = raw_create(walk_path);
    cs_ledger_row row = rows_run();
    row.response = (cs_view){filler, sizeof filler};
    for (int i = 0; i < 40; i++)
        raw_append(db, row);
    raw_close(db);
    size_t len = 0;
    char *bytes = file_read(walk_path, &len);
    uint8_t *root = (uint8_t *)bytes + 4096; /* page 2, an interior page: 12 bytes, then its cells' places */
    cr_assert(len > 8192 && root[0] == 0x05);
    uint8_t *first = root + (be32(root + 12) >> 16);
    uint8_t *third = root + (be32(root + 16) >> 16);
    memcpy(third, first, 4);
    file_write(walk_path, bytes, len);
    free(bytes);

    cs_source *source = walk_open(walk_path);
    cs_entry entry;
    bool more = true;
    cs_error err = CS_ERROR_INIT;
    cs_result result = CS_OK;
    uint64_t good = 0;
    while (result == CS_OK && more) {
        result = cs_source_next(source, &entry, &more, &err);
        good += result == CS_OK && more;
    }
    cr_expect(good > 0 && good < 40);
    cr_expect(result == CS_FAILED && !more && err.code == CS_CODE_LEDGER_CORRUPT, "%s", cs_code_name(err.code));
    cs_source_close(source);
}

static cs_result walk_all(cs_error *err) {
    cs_source *source = NULL;
    cs_entry entry;
    bool more = true;
    cs_result result = cs_source_open(walk_path, &source, err);
    while (result == CS_OK && more)
        result = cs_source_next(source, &entry, &more, err);
    cs_source_close(source);
    return result;
}

static void expect_cut(const uint8_t *bytes, size_t len, size_t whole) {
    cs_error err = CS_ERROR_INIT;
    char says[128];
    (void)snprintf(says, sizeof says, "is cut short: it has %zu bytes and had at least %zu;", len, whole);
    file_write(walk_path, bytes, len);
    cr_expect_eq(walk_all(&err), CS_FAILED, "%zu", len);
    cr_expect_eq(err.code, CS_CODE_LEDGER_CORRUPT, "%zu: %s: %s", len, cs_code_name(err.code), err.message);
    cr_expect(strstr(err.message, says) != NULL, "'%s' is not in '%s'", says, err.message);
}

/* At the edge of a page, within one, and within the last one, which SQLite would fill up with zeros. */
Test(ledger_damage, a_file_that_was_cut_off) {
    raw_close(walk_three_rows());
    size_t len = 0;
    uint8_t *bytes = (uint8_t *)file_read(walk_path, &len);
    cs_error err = CS_ERROR_INIT;
    cr_assert(bytes != NULL && len >= 8192 && be32(bytes + 28) * (size_t)(bytes[16] << 8 | bytes[17]) == len);
    file_write(walk_path, bytes, len);
    cr_expect_eq(walk_all(&err), CS_OK, "the twin: %s", err.message);
    expect_cut(bytes, 4096, len);
    expect_cut(bytes, 4097, len);
    expect_cut(bytes, 512, len);
    expect_cut(bytes, len - 1, len);
    expect_cut(bytes, len - 4096, len);
    /* A header that another writer has left behind says nothing of the pages; that the last one is not whole, still. */
    bytes[95] ^= 1;
    file_write(walk_path, bytes, len);
    cr_expect_eq(walk_all(&err), CS_OK, "the twin: %s", err.message);
    expect_cut(bytes, len - 1, len);
    free(bytes);
}
