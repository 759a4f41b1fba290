/* `countersign digest`: what `verify --expect` reads, without a ledger. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/cli/cli_case.h"

/* The digests of the tests' own implementation. */
static char *digest_of(uint32_t protocol, const char *floor, const char *code) {
    forge_run run = forge_single();
    run.protocol = protocol;
    run.floor = floor;
    run.code = code;
    forge_seal(&run);
    return forge_text("%s", run.request_sha256);
}

static void write_request(cli_case *c, const char *name, const char *protocol, const char *code) {
    cli_write_text(
        c, name, forge_text("{%s\"minimumIsolation\":\"process\",\"javascript\":{\"code\":\"%s\"}}\n", protocol, code));
}

static void begin(cli_case *c) {
    cli_begin(c);
    write_request(c, "three.json", "\"protocol\":3,", "console.log(6*7)");
    write_request(c, "open.json", "", "another");
}

Test(digest, one_a_line_with_the_file_before_it) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("digest", "--protocol", "3", "three.json", "open.json")), 0);
    cr_expect_str_eq(c.end.out,
                     forge_text("# three.json\n%s\n# open.json\n%s\n", digest_of(3, "process", "console.log(6*7)"),
                                digest_of(3, "process", "another")));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("digest", "three.json")), 0);
    EXPECT_TEXT(&c, "digests.0.sha256", digest_of(3, "process", "console.log(6*7)"));
    EXPECT_TEXT(&c, "digests.0.request", "three.json");
    cr_expect_null(cli_member(&c, "digests.0.call"));
    cli_end(&c);
}

/* A digest that was written down, so that both implementations can't be wrong together unseen. */
Test(digest, a_known_one) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("digest", "three.json")), 0);
    EXPECT_TEXT(&c, "digests.0.sha256", "d311c5aac6d517f41a55834ca5f449aaeb9dc3a58c53789e820bda54a7373dbe");
    cli_end(&c);
}

Test(digest, the_protocol_must_be_known) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("digest", "--protocol", "2", "open.json")), 0);
    EXPECT_TEXT(&c, "digests.0.sha256", digest_of(2, "process", "another"));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("digest", "open.json")), 2);
    EXPECT_HAS(cli_text(&c, "message"), "--protocol");
    EXPECT_TEXT(&c, "where", "open.json");
    /* As `run`, which fills in only what is left out. */
    EXPECT_EXIT(&c, cli_json(&c, ARGS("digest", "--protocol", "2", "three.json")), 0);
    EXPECT_TEXT(&c, "digests.0.sha256", digest_of(3, "process", "console.log(6*7)"));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("digest", "--protocol", "0", "open.json")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("digest", "--protocol", "5", "open.json")), 2);
    cli_end(&c);
}

/* Part of the digests would read as all that is expected. */
Test(digest, nothing_is_printed_unless_all_is_known) {
    cli_case c;
    begin(&c);
    cli_write_text(&c, "broken.json", "{\"javascript\":");
    cli_write_text(&c, "invalid.json",
                   "{\"protocol\":3,\"minimumIsolation\":\"castle\",\"javascript\":{\"code\":\"1\"}}");
    cli_write_text(
        &c, "cell.json",
        "{\"protocol\":3,\"minimumIsolation\":\"process\",\"cell\":{\"language\":\"python\",\"code\":\"1\"}}");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("digest", "three.json", "broken.json")), 3);
    cr_expect_str_eq(c.end.out, "");
    EXPECT_HAS(c.end.err, "[request-json]");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("digest", "three.json", "invalid.json")), 3);
    cr_expect_str_eq(c.end.out, "");
    EXPECT_HAS(c.end.err, "[request-invalid]");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("digest", "three.json", "cell.json")), 3);
    EXPECT_HAS(c.end.err, "[request-invalid]");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("digest", "three.json", "missing.json")), 5);
    cr_expect_str_eq(c.end.out, "");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("digest", "three.json", "open.json")), 2);
    cr_expect_str_eq(c.end.out, "");
    cli_end(&c);
}

/* A line break in a file's name must not become a line of its own. */
Test(digest, names_are_escaped) {
    cli_case c;
    begin(&c);
    write_request(&c, "a\nb.json", "\"protocol\":3,", "another");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("digest", "a\nb.json")), 0);
    cr_expect_str_eq(c.end.out, forge_text("# a\\x0ab.json\n%s\n", digest_of(3, "process", "another")));
    cli_end(&c);
}

#define CALL(protocol, floor, code)                                                                                    \
    "{" protocol "\"minimumIsolation\":\"" floor "\",\"javascript\":{\"code\":\"" code "\"}}\n"

Test(digest, calls_are_as_a_session_sends_them) {
    cli_case c;
    begin(&c);
    cli_write_text(&c, "calls.jsonl", CALL("", "process", "one") "\n" CALL("", "kernel", "two"));
    EXPECT_EXIT(&c, cli_run(&c, ARGS("digest", "--calls", "--protocol", "3", "calls.jsonl")), 0);
    cr_expect_str_eq(c.end.out, forge_text("# calls.jsonl, call 1\n%s\n# calls.jsonl, call 2\n%s\n",
                                           digest_of(3, "process", "one"), digest_of(3, "kernel", "two")));
    /* The stronger of the two floors goes out. */
    const char *const line[] = {"digest", "--calls", "--protocol", "3", "--floor", "container", "calls.jsonl", NULL};
    EXPECT_EXIT(&c, cli_json(&c, line), 0);
    EXPECT_TEXT(&c, "digests.0.sha256", digest_of(3, "container", "one"));
    EXPECT_TEXT(&c, "digests.1.sha256", digest_of(3, "kernel", "two"));
    cr_expect_eq(cli_number(&c, "digests.1.call"), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("digest", "--calls", "calls.jsonl")), 2);
    EXPECT_HAS(cli_text(&c, "message"), "--protocol");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("digest", "--protocol", "3", "--floor", "vm", "three.json")), 2);
    EXPECT_HAS(cli_text(&c, "message"), "--calls");
    cli_end(&c);
}

Test(digest, calls_have_one_protocol) {
    cli_case c;
    begin(&c);
    cli_write_text(&c, "calls.jsonl", CALL("", "process", "one") CALL("\"protocol\":3,", "process", "two"));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("digest", "--calls", "calls.jsonl")), 0);
    EXPECT_TEXT(&c, "digests.0.sha256", digest_of(3, "process", "one"));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("digest", "--calls", "--protocol", "2", "calls.jsonl")), 3);
    EXPECT_TEXT(&c, "code", "request-invalid");
    EXPECT_TEXT(&c, "where", "calls.jsonl: call 2: protocol");
    cli_write_text(&c, "empty.jsonl", "\n");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("digest", "--calls", "empty.jsonl")), 6);
    cli_write_text(&c, "floor.jsonl", CALL("\"protocol\":3,", "process", "one"));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("digest", "--calls", "--floor", "castle", "floor.jsonl")), 3);
    EXPECT_TEXT(&c, "code", "request-invalid");
    cli_end(&c);
}

/* The whole way: what is printed is what --expect takes. */
Test(digest, the_output_is_a_file_for_expect) {
    cli_case c;
    begin(&c);
    forge_key key = forge_key_from(1);
    cli_write_public_key(&c, "key.pub", &key);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    forge_add(&bundle, forge_run_line(&key, &run));
    cli_write_bundle(&c, "one.jsonl", &bundle);
    run.code = "another";
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    cli_write_bundle(&c, "two.jsonl", &bundle);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("digest", "--protocol", "3", "three.json", "open.json")), 0);
    cli_write_text(&c, "expected", c.end.out);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "--expect", "expected", "two.jsonl")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "--expect", "expected", "one.jsonl")), 1);
    EXPECT_TEXT(&c, "code", "expect-missing");
    EXPECT_TEXT(&c, "expectation.missing_requests.0", digest_of(3, "process", "another"));
    cli_end(&c);
}
