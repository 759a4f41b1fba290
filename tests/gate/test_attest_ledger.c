/* The ledger that keeps verdicts. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/gate/attest_case.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"
#include "verify/source.h"

static cs_result attest_ledger(attest_case *a, const char *name) {
    a->how.ledger = forge_text("%s/%s", a->folder, name);
    return attest_file(a);
}

/* Each entry of the ledger holds one of the lines, which are all that it holds. */
static void expect_kept(attest_case *a, int64_t first) {
    cr_expect_eq(a->done.kept.first, first);
    cr_expect_eq(a->done.kept.count, 2);
    cs_source *source = NULL;
    cs_entry entry;
    bool more = true;
    EXPECT_OK(cs_source_open(a->how.ledger, &source, &a->err), a->err);
    const uint8_t *line = a->lines.ptr;
    for (int64_t id = 1; id <= first + 1; id++) {
        EXPECT_OK(cs_source_next(source, &entry, &more, &a->err), a->err);
        cr_assert(more);
        cr_expect(entry.verdict);
        cr_expect_not(entry.finding);
        if (id < first) continue;
        cr_assert_leq(entry.envelope.len, (size_t)(a->lines.ptr + a->lines.len - line));
        cr_expect_eq(memcmp(entry.envelope.ptr, line, entry.envelope.len), 0);
        line += entry.envelope.len;
        cr_expect_eq(*line++, '\n');
    }
    cr_expect_eq(line, a->lines.ptr + a->lines.len);
    EXPECT_OK(cs_source_next(source, &entry, &more, &a->err), a->err);
    cr_expect_not(more);
    cs_source_close(source);
}

Test(gate_attest_ledger, kept_in_a_ledger) {
    attest_case a;
    attest_begin(&a);
    gate_expect_passes(&a.gate, "good");
    EXPECT_OK(attest_lines(&a), a.err);
    a.how.path = NULL;
    EXPECT_OK(attest_ledger(&a, "verdicts.db"), a.err);
    cr_expect(a.done.made);
    cr_expect_not(a.done.written);
    expect_kept(&a, 1);
    EXPECT_OK(cs_gate_attest_ready(&a.gate.options, &a.how, &a.err), a.err);
    EXPECT_OK(attest_ledger(&a, "verdicts.db"), a.err);
    expect_kept(&a, 3);
    cr_expect_eq(folder_count(a.folder), 2, "the key and this");
    a.how.path = a.path; /* and in a file too */
    EXPECT_OK(attest_ledger(&a, "verdicts.db"), a.err);
    expect_kept(&a, 5);
    cr_expect(a.done.written);
    attest_end(&a);
}

/* Looking makes no ledger; one that is there must be one. */
Test(gate_attest_ledger, whether_a_ledger_can_be_written) {
    attest_case a;
    attest_begin(&a);
    gate_expect_passes(&a.gate, "good");
    a.how.path = NULL;
    a.how.ledger = forge_text("%s/verdicts.db", a.folder);
    EXPECT_OK(cs_gate_attest_ready(&a.gate.options, &a.how, &a.err), a.err);
    cr_expect_eq(folder_count(a.folder), 1);
    a.how.ledger = forge_text("%s/none/verdicts.db", a.folder);
    EXPECT_CODE(cs_gate_attest_ready(&a.gate.options, &a.how, &a.err), a.err, CS_UNCHECKED, CS_CODE_LEDGER_MISSING);
    a.how.ledger = "";
    EXPECT_CODE(cs_gate_attest_ready(&a.gate.options, &a.how, &a.err), a.err, CS_UNCHECKED, CS_CODE_LEDGER_MISSING);
    a.how.ledger = a.folder;
    EXPECT_CODE(cs_gate_attest_ready(&a.gate.options, &a.how, &a.err), a.err, CS_UNCHECKED, CS_CODE_LEDGER_FOREIGN);
    a.how.ledger = forge_text("%s/gate.key", a.folder);
    EXPECT_CODE(cs_gate_attest_ready(&a.gate.options, &a.how, &a.err), a.err, CS_UNCHECKED, CS_CODE_LEDGER_FOREIGN);
    EXPECT_CODE(attest_file(&a), a.err, CS_UNCHECKED, CS_CODE_LEDGER_FOREIGN);
    cr_expect_eq(a.done.kept.count, 0);
    attest_end(&a);
}

/* Whether there was room for the tables or not even for those: none is left that was made for nothing. */
Test(gate_attest_ledger, no_room_for_a_new_one) {
    attest_case a;
    attest_begin(&a);
    gate_expect_passes(&a.gate, "good");
    a.how.path = NULL;
    struct rlimit before;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    static const rlim_t rooms[] = {0, 1000, 17000, 31000};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        const struct rlimit small = {.rlim_cur = rooms[i], .rlim_max = before.rlim_max};
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
        EXPECT_CODE(attest_ledger(&a, "verdicts.db"), a.err, CS_UNCHECKED, CS_CODE_LEDGER_WRITE);
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
        cr_expect_eq(folder_count(a.folder), 1, "the key alone: %lu", (unsigned long)rooms[i]);
    }
    EXPECT_OK(attest_ledger(&a, "verdicts.db"), a.err);
    cr_expect_eq(folder_count(a.folder), 2);
    attest_end(&a);
}

/* Each is tried though the other failed. */
Test(gate_attest_ledger, a_file_and_a_ledger_that_fails) {
    attest_case a;
    attest_begin(&a);
    gate_expect_passes(&a.gate, "good");
    EXPECT_CODE(attest_ledger(&a, "gate.key"), a.err, CS_UNCHECKED, CS_CODE_LEDGER_FOREIGN);
    cr_expect(a.done.written);
    cr_expect_eq(a.done.kept.count, 0);
    cr_expect_eq(access(a.path, F_OK), 0);
    EXPECT_OK(attest_lines(&a), a.err);
    EXPECT_CODE(attest_ledger(&a, "verdicts.db"), a.err, CS_UNCHECKED, CS_CODE_IO); /* the file is there by now */
    cr_expect_not(a.done.written);
    cr_expect_eq(a.done.kept.count, 2);
    a.err = CS_ERROR_INIT;
    expect_kept(&a, 1);
    EXPECT_CODE(attest_ledger(&a, "gate.key"), a.err, CS_UNCHECKED, CS_CODE_LEDGER_FOREIGN);
    cr_expect_not_null(strstr(a.err.message, "; and there is a file already"));
    attest_end(&a);
}
