/* What a ledger holds of the same daemon beside one record. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "harness/ledger.h"
#include "harness/tiers_rules.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"
#include "tests/support/rows.h"
#include "tests/support/sample.h"

#define DAEMON "http://127.0.0.1:8746"

typedef struct scene {
    char folder[128];
    char path[256];
    cs_ledger *ledger;
    sample s;
    sample record; /* what is compared with */
} scene;

static void begin(scene *c) {
    cs_error err = CS_ERROR_INIT;
    folder_make(c->folder);
    (void)snprintf(c->path, sizeof c->path, "%s/ledger.db", c->folder);
    EXPECT_OK(cs_ledger_open(c->path, 5000, &c->ledger, &err), err);
    sample_init(&c->s);
    sample_init(&c->record);
}

static void finish(scene *c) {
    cs_ledger_close(c->ledger);
    sample_free(&c->s);
    sample_free(&c->record);
    folder_remove(c->folder);
}

/* Append the sample as a run, with one field of its record set to another value (NULL: none). */
static void append(scene *c, const char *daemon, ProtobufCBinaryData *field, const char *value) {
    cs_error err = CS_ERROR_INIT;
    int64_t id = 0;
    if (field != NULL) cr_assert(cs_bytes_set(field, cs_view_of(value)));
    sample_seal(&c->s, SEAL_ALL);
    cs_ledger_row row = rows_run();
    row.daemon = cs_view_of(daemon);
    row.response = cs_view_bytes(c->s.bytes, c->s.len);
    EXPECT_OK(cs_ledger_append(c->ledger, &row, &id, &err), err);
    sample_free(&c->s);
    sample_init(&c->s);
}

static cs_ledger_said read_all(scene *c, uint64_t end) {
    cs_error err = CS_ERROR_INIT;
    cs_ledger_said said;
    EXPECT_OK(cs_tiers_read_ledger(c->path, DAEMON, c->record.record, end, &said, &err), err);
    cr_expect(said.read);
    return said;
}

Test(tiers_ledger, an_empty_ledger_says_nothing) {
    scene c;
    begin(&c);
    cs_ledger_said said = read_all(&c, 0);
    cr_expect_eq(said.same, 0);
    cr_expect_eq(said.other, 0);
    finish(&c);
}

Test(tiers_ledger, records_of_the_same_daemon_policy_and_environment_count) {
    scene c;
    begin(&c);
    append(&c, DAEMON, NULL, NULL);
    append(&c, DAEMON, &c.s.record->isolation, "process");
    append(&c, DAEMON, &c.s.record->isolation, "vm");
    append(&c, DAEMON, NULL, NULL);
    cs_ledger_said said = read_all(&c, 0);
    cr_expect_eq(said.same, 2);
    cr_expect_eq(said.other, 2);
    cr_expect_eq(said.other_entry, 2);
    cr_expect_eq(said.other_tier, CS_TIER_PROCESS);
    said = read_all(&c, 2); /* what was there before entry 2 */
    cr_expect_eq(said.same, 1);
    cr_expect_eq(said.other, 0);
    finish(&c);
}

/* Each differs from a record that would contradict in one thing. */
Test(tiers_ledger, records_of_others_do_not) {
    scene c;
    begin(&c);
    const char *const other = "process";
    append(&c, "http://127.0.0.1:8747", &c.s.record->isolation, other);
    cr_assert(cs_bytes_set(&c.s.record->isolation, cs_view_of(other)));
    append(&c, DAEMON, &c.s.record->policy, "another policy");
    cr_assert(cs_bytes_set(&c.s.record->isolation, cs_view_of(other)));
    append(&c, DAEMON, &c.s.record->environment, "another environment");
    cr_assert(cs_bytes_set(&c.s.record->isolation, cs_view_of(other)));
    append(&c, DAEMON, &c.s.record->provider, "another provider");
    cs_ledger_row finding = rows_finding();
    cs_error err = CS_ERROR_INIT;
    int64_t id = 0;
    EXPECT_OK(cs_ledger_append(c.ledger, &finding, &id, &err), err);
    cs_ledger_said said = read_all(&c, 0);
    cr_expect_eq(said.same, 0);
    cr_expect_eq(said.other, 0);
    append(&c, DAEMON, &c.s.record->isolation, other);
    said = read_all(&c, 0);
    cr_expect_eq(said.other, 1);
    finish(&c);
}

/* A ledger grows for ever, and every run looks into it. */
Test(tiers_ledger, the_newest_thousand_are_looked_at) {
    scene c;
    begin(&c);
    append(&c, DAEMON, &c.s.record->isolation, "process");
    for (int i = 0; i < 999; i++)
        append(&c, DAEMON, NULL, NULL);
    cs_ledger_said said = read_all(&c, 0);
    cr_expect_eq(said.other, 1);
    cr_expect_eq(said.same, 999);
    append(&c, DAEMON, NULL, NULL);
    said = read_all(&c, 0);
    cr_expect_eq(said.other, 0);
    cr_expect_eq(said.same, 1000);
    finish(&c);
}

Test(tiers_ledger, a_missing_ledger_is_an_error) {
    scene c;
    begin(&c);
    cs_error err = CS_ERROR_INIT;
    cs_ledger_said said;
    (void)snprintf(c.path, sizeof c.path, "%s/other.db", c.folder);
    EXPECT_CODE(cs_tiers_read_ledger(c.path, DAEMON, c.record.record, 0, &said, &err), err, CS_UNCHECKED, CS_CODE_IO);
    cr_expect_not(said.read);
    finish(&c);
}
