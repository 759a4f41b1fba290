/* A ledger whose file was damaged or made by a stranger. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/genuine.h"
#include "tests/fuzz/walk.h"
#include "tests/verify/raw_ledger.h"
#include "verify/source.h"

/* A row that is given out is one that its own digest fits. */
static void check_row(const cs_ledger_row *row) {
    cs_error err = CS_ERROR_INIT;
    char hex[65];
    MUST(cs_ledger_row_check(row, &err) == CS_OK);
    raw_digest(row, hex);
    MUST(cs_view_is(row->row_sha256, hex));
}

static void walk(const char *path, size_t size) {
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_source_open(path, &source, &err);
    if (result != CS_OK) {
        fuzz_refusal(result, &err);
        return;
    }
    uint64_t last = 0;
    size_t count = 0;
    bool more = true;
    while (more) {
        cs_entry entry;
        err = CS_ERROR_INIT;
        result = cs_source_next(source, &entry, &more, &err);
        if (result != CS_OK) fuzz_refusal(result, &err);
        MUST(result == CS_OK || result == CS_FAILED || !more);
        if (!more) break;
        MUST(++count <= size);
        MUST((entry.row != NULL) == (result == CS_OK && cs_source_what(source) == CS_SOURCE_LEDGER));
        if (entry.row == NULL) continue;
        MUST(entry.number > last);
        last = entry.number;
        check_row(entry.row);
    }
    cs_source_close(source);
}

static void must_be_genuine(const cs_verified_run *run) {
    MUST(genuine_record(cs_digest_view(&run->checked->record_sha256)));
}

static void nothing_beside(const char *path) {
    static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        MUST(access(name, F_OK) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cs_verify_summary summary;
    const char *path = fuzz_file(data, size);
    walk(path, size);
    (void)!walk_file(path, genuine_trust(), must_be_genuine, &summary);
    nothing_beside(path);
    return 0;
}
