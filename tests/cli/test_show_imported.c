/* `countersign show` on the links of imported bundles, in a ledger and in the bundle itself. */
#include "harness/ledger.h"
#include "tests/cli/cli_case.h"
#include "tests/support/imported.h"

/* One run and its checkpoint, as link.jsonl and as rows of ledger.db. The digest of the first line is `first`. */
static void begin(cli_case *c, char first[65]) {
    cli_begin(c);
    forge_key key = forge_key_from(1);
    forge_run run = forge_single();
    forge_bundle bundle = {.count = 0};
    cs_ledger *ledger = NULL;
    cs_error err = CS_ERROR_INIT;
    cli_write_public_key(c, "key.pub", &key);
    forge_key other = forge_key_from(2);
    cli_write_public_key(c, "other.pub", &other);
    forge_add(&bundle, forge_run_line(&key, &run));
    forge_link_lines(&bundle, &key, 0);
    cli_write_bundle(c, "link.jsonl", &bundle);
    (void)snprintf(first, 65, "%s", forge_sha256(bundle.lines[0], strlen(bundle.lines[0])));
    cr_assert_eq(cs_ledger_open(forge_text("%s/ledger.db", c->folder), 5000, &ledger, &err), CS_OK, "%s", err.message);
    for (size_t i = 0; i < bundle.count; i++) {
        cs_ledger_row row = imported_row(bundle.lines[i]);
        int64_t id = 0;
        cr_assert_eq(cs_ledger_append(ledger, &row, &id, &err), CS_OK, "%s", err.message);
    }
    cs_ledger_close(ledger);
}

Test(show_imported, a_checkpoint_in_the_list) {
    cli_case c;
    char first[65];
    static const char *const inputs[] = {"ledger.db", "link.jsonl"};
    begin(&c, first);
    for (size_t i = 0; i < 2; i++) {
        EXPECT_EXIT(&c, cli_run(&c, ARGS("show", inputs[i])), 0);
        EXPECT_HAS(c.end.out, "\n2      checkpoint ");
        EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "-p", "key.pub", inputs[i])), 0);
        EXPECT_TEXT(&c, "entries.0.kind", "run");
        EXPECT_TEXT(&c, "entries.0.verification", "passed");
        EXPECT_TEXT(&c, "entries.1.kind", "checkpoint");
        EXPECT_TEXT(&c, "entries.1.verification", "passed");
        EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "-p", "other.pub", inputs[i], "2")), 1);
        EXPECT_TEXT(&c, "code", "envelope-key-unknown");
    }
    cli_end(&c);
}

Test(show_imported, a_checkpoint_in_full) {
    cli_case c;
    char first[65];
    begin(&c, first);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "ledger.db", "2")), 0);
    EXPECT_TEXT(&c, "shown.kind", "checkpoint");
    cr_expect_eq(cli_number(&c, "shown.link.index"), 2);
    EXPECT_TEXT(&c, "shown.link.previous_sha256", first);
    EXPECT_TEXT(&c, "shown.link.entry_sha256", "");
    cr_expect(json_is_true(cli_member(&c, "shown.link.checkpoint")));
    cr_expect_null(cli_member(&c, "shown.record"));
    EXPECT_EXIT(&c, cli_run(&c, ARGS("show", "ledger.db", "2")), 0);
    EXPECT_HAS(c.end.out, "entry 2: checkpoint\n");
    EXPECT_HAS(c.end.out, "checkpoint on line 2 of a bundle, after 1 line\n");
    EXPECT_HAS(c.end.out, first);
    cli_end(&c);
}
