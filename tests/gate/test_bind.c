/* What a run brings that no pattern of bind is about, and what the patch changes that was in no run: neither refuses
 * anything, and both are told. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/out.h"
#include "tests/gate/gate_case.h"
#include "tests/gate/repository.h"
#include "tests/support/expect.h"

/* All that the passed rule says. */
static void expect_found(gate_case *c, const char *before, const char *behind) {
    char wanted[CS_GATE_FOUND];
    gate_expect_passes(c, behind);
    (void)snprintf(wanted, sizeof wanted, "%s of the run are those of the commit %.12s, byte for byte%s", before,
                   c->rev.commit, behind);
    cr_expect_str_eq(gate_finding(c, CS_GATE_BIND)->observed, wanted);
}

Test(gate_bind, files_that_no_pattern_is_about_are_told) {
    gate_case c;
    gate_begin(&c);
    expect_found(&c, "3 of 3 files", "");
    gate_add_file(&c, "tools/run.sh", "exit 0\n");
    expect_found(&c, "3 of 4 files",
                 "; 1 file of the run matches no pattern of bind and is bound to nothing: tools/run.sh");
    gate_add_file(&c, "a.txt", "a\n");
    gate_add_file(&c, "\xe2\x80\xae.txt", "b\n");
    expect_found(
        &c, "3 of 6 files",
        "; 3 files of the run match no pattern of bind and are bound to nothing: tools/run.sh, a.txt, \\u{202e}.txt");
    gate_add_file(&c, "z/z", "z\n");
    expect_found(
        &c, "3 of 7 files",
        "; 4 files of the run match no pattern of bind and are bound to nothing: tools/run.sh, a.txt, \\u{202e}.txt,"
        " and 1 more");
    gate_end(&c);
}

/* Another pattern takes one of them in, and now it has to be the commit's. */
Test(gate_bind, a_pattern_more_binds_the_file) {
    gate_case c;
    gate_begin(&c);
    gate_add_file(&c, "README.md", "read me\n");
    expect_found(&c, "3 of 4 files",
                 "; 1 file of the run matches no pattern of bind and is bound to nothing: README.md");
    c.patterns[2] = cs_view_of("*.md");
    c.bind.paths.count = 3;
    c.runs[2].paths[3] = "README.md";
    c.runs[2].contents[3] = "read me\n";
    c.runs[2].files = 4;
    expect_found(&c, "4 of 4 files", "");
    c.runs[0].contents[3] = c.runs[1].contents[3] = "read it\n";
    cr_assert_neq(gate_judge(&c), CS_OK);
    gate_expect_only(&c, "other bytes", CS_GATE_BIND, CS_CODE_GATE_BIND);
    gate_end(&c);
}

/* Long names leave room for the number of those that are not named. */
Test(gate_bind, long_names_are_shortened) {
    static const char *const names[] = {
        "one/a-folder-with-a-name-that-is-longer-than-any-line-that-someone-would-read-to-its-end/a.txt",
        "two/a-folder-with-a-name-that-is-longer-than-any-line-that-someone-would-read-to-its-end/b.txt",
        "three/a-folder-with-a-name-that-is-longer-than-any-line-that-someone-would-read-to-its-end/c.txt",
        "four/a-folder-with-a-name-that-is-longer-than-any-line-that-someone-would-read-to-its-end/d.txt",
    };
    gate_case c;
    gate_begin(&c);
    for (size_t i = 0; i < 4; i++)
        gate_add_file(&c, names[i], "x\n");
    gate_expect_passes(&c, "long names");
    const char *observed = gate_finding(&c, CS_GATE_BIND)->observed;
    const char *end = ", and 1 more";
    cr_expect_not_null(strstr(observed, "; 4 files of the run match no pattern of bind"), "%s", observed);
    cr_expect_not_null(strstr(observed, " three/a-folder"), "%s", observed);
    cr_expect_str_eq(observed + strlen(observed) - strlen(end), end, "%s", observed);
    gate_end(&c);
}

/* ---- in the reports --------------------------------------------------------------------------------------------- */

/* Both forms tell it. */
static void expect_told(const gate_case *c, const char *part) {
    const cs_gate_report report = {.verdict = &c->verdict, .version = "0.1.0", .policy_path = ""};
    CS_AUTO_BUF text = CS_BUF_INIT(CS_GATE_OUT_MAX_BYTES);
    cr_assert(cs_gate_out_text(&report, &text) && cs_buf_byte(&text, '\0'));
    cr_expect_not_null(strstr((const char *)text.ptr, part), "%s", (const char *)text.ptr);
    json_t *members = cs_gate_out_json(&report);
    char *json = json_dumps(members, JSON_COMPACT);
    cr_expect_not_null(strstr(json, part), "%s", json);
    free(json);
    json_decref(members);
}

Test(gate_bind, text_and_json_tell_it) {
    static const char part[] = "1 file of the run matches no pattern of bind and is bound to nothing: tools/run.sh";
    gate_case c;
    gate_begin(&c);
    gate_add_file(&c, "tools/run.sh", "exit 0\n");
    gate_expect_passes(&c, "one more file");
    expect_told(&c, part);
    gate_end(&c);
}

/* ---- what the patch changes, and the run had not ---------------------------------------------------------------- */

static void begin(gate_case *c) {
    gate_begin(c);
    c->requirement.cross_check = false;
}

/* The patch does this, too. */
static void patch(const gate_case *c, const char *path, const char *content) {
    repository_write(c->folder, path, content, strlen(content));
}

/* What the rule about completeness says behind what it always says. */
static void expect_complete(gate_case *c, const char *begin, const char *behind) {
    char wanted[CS_GATE_FOUND];
    gate_expect_passes(c, behind);
    (void)snprintf(wanted, sizeof wanted, "%s of the commit %.12s that match were in the run%s", begin, c->rev.commit,
                   behind);
    cr_expect_str_eq(gate_finding(c, CS_GATE_COMPLETE)->observed, wanted);
}

Test(gate_bind, what_the_patch_changes_and_no_run_had_is_told) {
    gate_case c;
    begin(&c);
    expect_complete(&c, "all 3 files", "");
    patch(&c, "package.json", "{}\n");
    gate_commit_again(&c);
    expect_complete(&c, "all 3 files", "; 1 file that the patch changes was not in the run: package.json");
    patch(&c, "lib/evil.js", "evil\n");
    gate_commit_again(&c);
    expect_complete(&c, "all 3 files",
                    "; 2 files that the patch changes were not in the run: lib/evil.js, package.json");
    expect_found(&c, "3 of 3 files", "");
    patch(&c, "README.md", "read it\n");
    patch(&c, "a\nb", "x\n");
    gate_commit_again(&c);
    expect_complete(
        &c, "all 3 files",
        "; 4 files that the patch changes were not in the run: README.md, a\\x0ab, lib/evil.js, and 1 more");
    gate_end(&c);
}

/* The run has it: as it is in the commit; as something else; as what a pattern binds. */
Test(gate_bind, a_changed_file_that_the_run_has) {
    gate_case c;
    begin(&c);
    c.requirement.tests.not_fewer_than_base = false;
    patch(&c, "package.json", "{}\n");
    gate_commit_again(&c);
    gate_add_file(&c, "package.json", "{}\n");
    expect_complete(&c, "all 3 files", "");
    c.runs[0].contents[3] = c.runs[1].contents[3] = "[]\n";
    expect_complete(&c, "all 3 files", "; 1 file that the patch changes was not in the run: package.json");
    c.runs[0].contents[3] = c.runs[1].contents[3] = "{}\n";
    c.patterns[2] = cs_view_of("*.json");
    c.bind.paths.count = 3;
    expect_complete(&c, "all 4 files", "");
    c.runs[0].contents[3] = c.runs[1].contents[3] = "[]\n";
    cr_assert_neq(gate_judge(&c), CS_OK);
    gate_expect_only(&c, "other bytes", CS_GATE_BIND, CS_CODE_GATE_BIND);
    gate_end(&c);
}

/* Over everything nothing is left to be told. */
Test(gate_bind, complete_over_everything_says_no_more) {
    gate_case c;
    begin(&c);
    c.requirement.tests.not_fewer_than_base = false;
    patch(&c, "lib/evil.js", "evil\n");
    gate_commit_again(&c);
    gate_add_file(&c, "README.md", "read me\n");
    gate_add_file(&c, ".gate/policy.json", "{}\n");
    expect_complete(&c, "all 3 files", "; 1 file that the patch changes was not in the run: lib/evil.js");
    c.patterns[0] = cs_view_of("**");
    c.bind.paths.count = 1;
    cr_assert_neq(gate_judge(&c), CS_OK);
    gate_expect_only(&c, "not in the run", CS_GATE_COMPLETE, CS_CODE_GATE_INCOMPLETE);
    gate_add_file(&c, "lib/evil.js", "evil\n");
    expect_complete(&c, "all 6 files", "");
    c.options.base = NULL;
    c.policy.protect.count = 0;
    c.policy.needs_base = false;
    expect_complete(&c, "all 6 files", "");
    gate_end(&c);
}

Test(gate_bind, without_complete_the_rule_bind_tells_it) {
    gate_case c;
    begin(&c);
    c.bind.complete = false;
    expect_found(&c, "3 of 3 files", "");
    patch(&c, "src/more.js", "more\n");
    gate_commit_again(&c);
    expect_found(&c, "3 of 3 files", "; 1 file that the patch changes was not in the run: src/more.js");
    gate_add_file(&c, "z", "z\n");
    expect_found(&c, "3 of 4 files",
                 "; 1 file of the run matches no pattern of bind and is bound to nothing: z"
                 "; 1 file that the patch changes was not in the run: src/more.js");
    c.bind.complete = true;
    cr_assert_neq(gate_judge(&c), CS_OK);
    gate_expect_only(&c, "complete", CS_GATE_COMPLETE, CS_CODE_GATE_INCOMPLETE);
    gate_end(&c);
}

Test(gate_bind, a_removed_file_that_the_run_has) {
    gate_case c;
    begin(&c);
    repository_git(c.folder, "rm", "-q", "README.md");
    gate_commit_again(&c);
    expect_complete(&c, "all 3 files", "");
    gate_add_file(&c, "README.md", "read me\n");
    expect_complete(&c, "all 3 files", "; 1 file that the patch removes was in the run: README.md");
    gate_end(&c);
}

/* Then it is of the whole commit that the run may have had a part only. */
Test(gate_bind, without_a_base_the_files_of_the_commit_are_counted) {
    gate_case c;
    begin(&c);
    c.requirement.tests.not_fewer_than_base = false;
    c.policy.protect.count = 0;
    c.policy.needs_base = false;
    expect_complete(&c, "all 3 files", "");
    c.options.base = NULL;
    expect_complete(&c, "all 3 files", "; 2 of the 5 files of the commit were not in the run");
    c.options.base = &c.rev;
    expect_complete(&c, "all 3 files", "; 2 of the 5 files of the commit were not in the run");
    c.bind.complete = false;
    expect_found(&c, "3 of 3 files", "; 2 of the 5 files of the commit were not in the run");
    gate_add_file(&c, ".gate/policy.json", "{}\n");
    gate_add_file(&c, "README.md", "read it\n");
    c.bind.complete = true;
    expect_complete(&c, "all 3 files", "; 1 of the 5 files of the commit was not in the run");
    gate_end(&c);
}

Test(gate_bind, text_and_json_tell_what_was_in_no_run) {
    static const char part[] = "; 1 file that the patch changes was not in the run: lib/evil.js";
    gate_case c;
    begin(&c);
    patch(&c, "lib/evil.js", "evil\n");
    gate_commit_again(&c);
    gate_expect_passes(&c, "one file more");
    expect_told(&c, part);
    gate_end(&c);
}

/* ---- which run is the base's --------------------------------------------------------------------------------- */

/* What is bound is the same in both commits, so that a run of the one is a run of the other: but where it need not have
 * all of it, it may lack just the tests that were removed. */
Test(bind, a_run_of_both_commits_is_of_the_base_only_when_it_is_complete) {
    gate_case c;
    gate_begin(&c);
    c.patterns[0] = cs_view_of("test/**");
    c.bind.paths.count = 1;
    c.run_count = 2;
    gate_expect_passes(&c, "complete");
    c.bind.complete = false;
    cr_expect_eq(gate_judge(&c), CS_FAILED);
    gate_expect_only(&c, "not complete", CS_GATE_TESTS_OF_BASE, CS_CODE_GATE_TESTS_FEWER);
    gate_end(&c);
}
