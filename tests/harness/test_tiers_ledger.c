/* What a ledger holds of the same daemon beside one record. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/ledger.h"
#include "harness/tiers_rules.h"
#include "tests/support/canon.h"
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

/* What a description says of the environment of scripts. */
static void describe_environment(scene *c, const char *identity) {
    Plimsoll__V1__PayloadEnvironment *environment = calloc(1, sizeof *environment);
    cr_assert_not_null(environment);
    plimsoll__v1__payload_environment__init(environment);
    canon_set(&environment->identity, identity);
    c->s.before->javascript_environment = environment;
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

/* ---- findings ---------------------------------------------------------------------------------------------- */

/* What a finding keeps of the run whose claim it refutes. */
typedef enum kept { KEPT_ALL, KEPT_DESCRIPTION, KEPT_NOTHING, KEPT_RUBBISH } kept;

/* Append a finding about the sample, which is as sample_init makes it afterwards. */
static void append_finding(scene *c, const char *daemon, const char *code, kept what) {
    cs_error err = CS_ERROR_INIT;
    int64_t id = 0;
    CS_AUTO_BUF before = CS_BUF_INIT(4096);
    sample_seal(&c->s, SEAL_ALL);
    EXPECT_OK(cs_message_encode(&c->s.before->base, &before, &err), err);
    cs_ledger_row row = rows_finding(); /* its bytes are no messages */
    row.daemon = cs_view_of(daemon);
    row.code = cs_view_of(code);
    if (what != KEPT_RUBBISH)
        row.describe_before = what == KEPT_NOTHING ? (cs_view){.ptr = NULL} : cs_buf_view(&before);
    if (what != KEPT_RUBBISH) row.response = (cs_view){.ptr = NULL};
    if (what == KEPT_ALL) row.response = cs_view_bytes(c->s.bytes, c->s.len);
    EXPECT_OK(cs_ledger_append(c->ledger, &row, &id, &err), err);
    sample_free(&c->s);
    sample_init(&c->s);
}

#define REFUTED "tier-contradicted"

Test(tiers_ledger, a_finding_that_refutes_the_same_claim_counts) {
    scene c;
    begin(&c);
    append(&c, DAEMON, NULL, NULL);
    append_finding(&c, DAEMON, REFUTED, KEPT_ALL);
    append(&c, DAEMON, NULL, NULL);
    append_finding(&c, DAEMON, REFUTED, KEPT_ALL);
    cs_ledger_said said = read_all(&c, 0);
    cr_expect_eq(said.same, 2);
    cr_expect_eq(said.other, 0);
    cr_expect_eq(said.refuted, 2);
    cr_expect_eq(said.refuted_entry, 4); /* the latest */
    cr_expect_eq(said.newest, 4);
    cr_expect_eq(said.unread, 0);
    said = read_all(&c, 3); /* a check's own finding comes behind its run */
    cr_expect_eq(said.refuted, 1);
    cr_expect_eq(said.refuted_entry, 2);
    cr_expect_eq(said.newest, 2);
    said = read_all(&c, 2);
    cr_expect_eq(said.same, 1);
    cr_expect_eq(said.refuted, 0);
    finish(&c);
}

/* Each differs from the finding that counts in one thing. */
Test(tiers_ledger, findings_of_others_do_not) {
    scene c;
    begin(&c);
    append_finding(&c, "http://127.0.0.1:8747", REFUTED, KEPT_ALL);
    append_finding(&c, DAEMON, "tier-guard", KEPT_ALL);
    canon_set(&c.s.record->isolation, "process");
    append_finding(&c, DAEMON, REFUTED, KEPT_ALL);
    canon_set(&c.s.record->provider, "another provider");
    append_finding(&c, DAEMON, REFUTED, KEPT_ALL);
    canon_set(&c.s.record->policy, "another policy");
    append_finding(&c, DAEMON, REFUTED, KEPT_ALL);
    canon_set(&c.s.record->environment, "another environment");
    append_finding(&c, DAEMON, REFUTED, KEPT_ALL);
    cs_ledger_said said = read_all(&c, 0);
    cr_expect_eq(said.refuted, 0, "entry %d", (int)said.refuted_entry);
    cr_expect_eq(said.unread, 0, "entry %d", (int)said.unread_entry);
    append_finding(&c, DAEMON, REFUTED, KEPT_ALL);
    said = read_all(&c, 0);
    cr_expect_eq(said.refuted, 1);
    cr_expect_eq(said.refuted_entry, 7);
    finish(&c);
}

/* Not every finding has an answer: then the daemon's description says what it claimed. */
Test(tiers_ledger, a_description_states_the_claim_where_no_record_does) {
    scene c;
    begin(&c);
    canon_set(&c.s.before->isolation, "process");
    append_finding(&c, DAEMON, REFUTED, KEPT_DESCRIPTION);
    canon_set(&c.s.before->sandbox, "another provider");
    append_finding(&c, DAEMON, REFUTED, KEPT_DESCRIPTION);
    canon_set(&c.s.before->policy, "another policy");
    append_finding(&c, DAEMON, REFUTED, KEPT_DESCRIPTION);
    describe_environment(&c, "another environment");
    append_finding(&c, DAEMON, REFUTED, KEPT_DESCRIPTION);
    cs_ledger_said said = read_all(&c, 0);
    cr_expect_eq(said.refuted, 0, "entry %d", (int)said.refuted_entry);
    cr_expect_eq(said.unread, 0, "entry %d", (int)said.unread_entry);
    append_finding(&c, DAEMON, REFUTED, KEPT_DESCRIPTION); /* no environment is stated: it may be the same */
    describe_environment(&c, "node-22");
    append_finding(&c, DAEMON, REFUTED, KEPT_DESCRIPTION);
    said = read_all(&c, 0);
    cr_expect_eq(said.refuted, 2);
    cr_expect_eq(said.refuted_entry, 6);
    finish(&c);
}

/* A project's run is refuted, and a script of the same daemon is in question. */
Test(tiers_ledger, an_environment_that_the_daemon_describes_is_one_of_its_own) {
    for (size_t i = 0; i < 2; i++) {
        scene c;
        begin(&c);
        canon_set(&c.s.record->environment, "a project's environment");
        describe_environment(&c, i == 0 ? "node-22" : "another environment");
        append_finding(&c, DAEMON, REFUTED, KEPT_ALL);
        cs_ledger_said said = read_all(&c, 0);
        cr_expect_eq(said.refuted, i == 0 ? 1 : 0, "%zu", i);
        cr_expect_eq(said.unread, 0);
        finish(&c);
    }
}

Test(tiers_ledger, a_finding_that_does_not_show_its_claim_is_counted_as_that) {
    scene c;
    begin(&c);
    append_finding(&c, DAEMON, "tier-guard", KEPT_RUBBISH);
    append_finding(&c, "http://127.0.0.1:8747", REFUTED, KEPT_RUBBISH);
    cr_expect_eq(read_all(&c, 0).unread, 0);
    append_finding(&c, DAEMON, REFUTED, KEPT_RUBBISH);
    append_finding(&c, DAEMON, REFUTED, KEPT_NOTHING);
    canon_set(&c.s.before->isolation, "");
    append_finding(&c, DAEMON, REFUTED, KEPT_DESCRIPTION);
    cs_ledger_said said = read_all(&c, 0);
    cr_expect_eq(said.unread, 3);
    cr_expect_eq(said.unread_entry, 3);
    cr_expect_eq(said.refuted, 0);
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
