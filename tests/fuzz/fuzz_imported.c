/* Lines of imported bundles in a ledger, in any order and changed, under row digests that fit: what passes a digest is
 * not found by mutation. Input is a recipe, three bytes a row.
 *
 * Links are faultless if and only if each linked bundle stands there whole and in its order, or not at all.
 */
#include <stdio.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/genuine.h"
#include "tests/support/folder.h"
#include "tests/support/imported.h"
#include "tests/verify/raw_ledger.h"
#include "verify/verify.h"

#define MAX_LINES 64
#define MAX_ROWS 24

typedef struct genuine_row {
    cs_ledger_row row;
    unsigned bundle;
    size_t index; /* in its bundle */
} genuine_row;

static genuine_row all[MAX_LINES];
static size_t count;

static void make(void) {
    for (unsigned b = 0; b < GENUINE_BUNDLES; b++) {
        const forge_bundle *bundle = genuine_bundle(b);
        for (size_t i = 0; i < bundle->count; i++) {
            MUST(count < MAX_LINES);
            all[count++] = (genuine_row){.row = imported_row(bundle->lines[i]), .bundle = b, .index = i};
        }
    }
}

/* An empty ledger, as a file of this process; its bytes are made once. */
static const char *new_ledger(void) {
    static char *bytes;
    static size_t len;
    if (bytes == NULL) {
        char folder[128];
        char path[160];
        folder_make(folder);
        (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
        raw_close(raw_create(path));
        bytes = file_read(path, &len);
        MUST(bytes != NULL);
        folder_remove(folder);
    }
    return fuzz_file((const uint8_t *)bytes, len);
}

/* What the rows should give. */
typedef struct expectation {
    size_t next[GENUINE_BUNDLES]; /* line of each bundle that should come next */
    bool good;
} expectation;

static void expect_linked(expectation *want, const genuine_row *from, const genuine_row *link) {
    if (from != link || want->next[from->bundle] != from->index) want->good = false;
    want->next[from->bundle] = from->index + 1;
}

static void add_row(sqlite3 *db, const uint8_t *step, expectation *want) {
    static uint8_t request[4096];
    const genuine_row *from = &all[step[1] % count];
    const genuine_row *link = &all[step[2] % count];
    cs_ledger_row row = from->row;
    bool checkpoint = cs_view_is(row.kind, CS_KIND_CHECKPOINT);
    switch (step[0] % 4) {
    case 1: /* without its link */
        if (checkpoint) return;
        row.link = (cs_view){0};
        break;
    case 2: /* with the link of another line */
        if (link->row.link.ptr == NULL) return;
        row.link = link->row.link;
        expect_linked(want, from, link);
        break;
    case 3: /* a message that is another one */
        if (row.request.len == 0 || row.request.len > sizeof request) return;
        memcpy(request, row.request.ptr, row.request.len);
        request[step[2] % row.request.len] ^= 1;
        row.request.ptr = request;
        if (row.link.ptr != NULL) want->good = false;
        break;
    default:
        if (row.link.ptr != NULL) expect_linked(want, from, from);
        break;
    }
    raw_append(db, row);
}

static void on_finding(void *user, const cs_finding *finding) {
    uint64_t *links = user;
    fuzz_error_texts(finding->err);
    switch (finding->err->code) {
    case CS_CODE_LINK_INDEX:
    case CS_CODE_LINK_PREVIOUS:
    case CS_CODE_LINK_ENTRY:
    case CS_CODE_CHECKPOINT_LINES:
    case CS_CODE_CHECKPOINT_MISSING:
        ++*links;
        break;
    default:
        break;
    }
}

static cs_result on_entry(void *user, const cs_verified_entry *entry, cs_error *err) {
    (void)user;
    (void)err;
    MUST((entry->link_index != 0) == (entry->entry->link.ptr != NULL));
    MUST((entry->link_previous.hex[0] != '\0') == (entry->link_index > 1));
    return CS_OK;
}

static void check(const char *path, const expectation *want) {
    uint64_t links = 0;
    cs_source *source = NULL;
    cs_verify_summary summary;
    cs_error err = CS_ERROR_INIT;
    MUST(cs_source_open(path, &source, &err) == CS_OK);
    cs_verify_options options = {
        .trust = genuine_trust(), .on_finding = on_finding, .on_entry = on_entry, .user = &links};
    cs_result result = cs_verify_source(source, &options, &summary, &err);
    cs_source_close(source);
    MUST(result == CS_OK || result == CS_FAILED || result == CS_NOTHING);
    MUST((result == CS_FAILED) == (summary.failures > 0) && summary.failures >= links);
    if (want->good)
        MUST(links == 0);
    else
        MUST(result == CS_FAILED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (count == 0) make();
    expectation want = {.good = true};
    const char *path = new_ledger();
    sqlite3 *db = raw_open(path);
    raw_sql(db, "BEGIN");
    for (size_t i = 0; i + 3 <= size && i < 3 * (size_t)MAX_ROWS; i += 3)
        add_row(db, data + i, &want);
    raw_sql(db, "COMMIT");
    raw_close(db);
    for (unsigned b = 0; b < GENUINE_BUNDLES; b++)
        if (want.next[b] != 0 && want.next[b] != genuine_bundle(b)->count) want.good = false;
    fuzz_file_old();
    check(path, &want);
    return 0;
}
