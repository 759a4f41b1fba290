/* The top of a verdict: which repository, commits and policy it is about, in every form that has one. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "gate/out_internal.h"
#include "records/text.h"
#include "tests/gate/out_case.h"

#define REV "1111111111111111111111111111111111111111"
#define BASE "2222222222222222222222222222222222222222"
#define DIGEST "3333333333333333333333333333333333333333333333333333333333333333"

#define HAS(text, part) cr_expect_not_null(strstr((text), (part)), "no '%s' in: %s", (part), (text))
#define HAS_NOT(text, part) cr_expect_null(strstr((text), (part)), "'%s' in: %s", (part), (text))

static void begin(out_case *c) {
    out_begin(c);
    c->report.about = (cs_gate_subject){.work_tree = "/srv/sample/",
                                        .git_folder = "/srv/sample/.git/",
                                        .rev = {.asked = "patch", .commit = REV},
                                        .base = {.asked = "origin/main", .commit = BASE},
                                        .policy_file = ".gate/policy.json",
                                        .policy_from = {.asked = "main", .commit = BASE},
                                        .in_work_tree = true,
                                        .policy_sha256 = DIGEST};
}

static void expect_top(out_case *c, const char *top) {
    const char *text = out_text(c, cs_gate_out_text);
    cr_expect_eq(strncmp(text, top, strlen(top)), 0, "not '%s' but: %s", top, text);
}

/* ---- text ---------------------------------------------------------------------------------------------------------
 */

Test(gate_out_about, the_text_begins_with_it) {
    out_case c;
    begin(&c);
    expect_top(&c, "repository: /srv/sample, git directory /srv/sample/.git\n"
                   "revision: " REV ", named as \"patch\"\n"
                   "base: " BASE ", named as \"origin/main\"\n"
                   "policy: SHA-256 " DIGEST ", of the commit " BASE ", named as \"main\": .gate/policy.json\n"
                   "requirement tests: ");
    out_end(&c);
}

/* One thing is another each time. */
Test(gate_out_about, where_each_was_read_from) {
    out_case c;
    begin(&c);
    c.report.about.work_tree = NULL;
    HAS(out_text(&c, cs_gate_out_text), "repository: /srv/sample/.git, which is bare\n");
    c.report.about.work_tree = "/";
    HAS(out_text(&c, cs_gate_out_text), "repository: /, git directory /srv/sample/.git\n");
    c.report.about.policy_from = (cs_gate_revision){.asked = NULL, .commit = ""};
    HAS(out_text(&c, cs_gate_out_text), "policy: SHA-256 " DIGEST ", of the work tree: .gate/policy.json\n");
    c.report.about.in_work_tree = false;
    HAS(out_text(&c, cs_gate_out_text),
        "policy: SHA-256 " DIGEST ", a file outside of the repository: .gate/policy.json\n");
    c.report.about.git_folder = NULL;
    HAS(out_text(&c, cs_gate_out_text), "policy: SHA-256 " DIGEST ", a file: .gate/policy.json\n");
    HAS(out_text(&c, cs_gate_out_text), "repository: none was opened\n");
    c.report.about.base = (cs_gate_revision){.asked = "gone", .commit = ""};
    HAS(out_text(&c, cs_gate_out_text), "base: not read, named as \"gone\"\n");
    c.report.about.base.asked = NULL;
    HAS(out_text(&c, cs_gate_out_text), "base: none was named\n");
    c.report.about.policy_sha256 = "";
    HAS(out_text(&c, cs_gate_out_text), "policy: none was read\n");
    out_end(&c);
}

/* ---- hostile texts ------------------------------------------------------------------------------------------------
 */

static void begin_hostile(out_case *c) {
    begin(c);
    c->report.about.work_tree = OUT_HOSTILE;
    c->report.about.git_folder = OUT_HOSTILE;
    c->report.about.rev.asked = OUT_HOSTILE;
    c->report.about.base.asked = OUT_HOSTILE;
    c->report.about.policy_from.asked = OUT_HOSTILE;
    c->report.about.policy_file = OUT_HOSTILE;
}

Test(gate_out_about, hostile_texts_on_a_terminal) {
    out_case c;
    begin_hostile(&c);
    const char *text = out_text(&c, cs_gate_out_text);
    HAS(text, "\nrevision: " REV ", named as \"");
    HAS(text, "%0A\\x0d\\x0a::error::x");
    HAS_NOT(text, "\x1b");
    HAS_NOT(text, "\r");
    HAS_NOT(text, "\n::");
    cr_expect(cs_utf8_valid(cs_buf_view(&c.out)));
    out_end(&c);
}

Test(gate_out_about, hostile_texts_in_markdown) {
    out_case c;
    begin_hostile(&c);
    char *text = strdup(out_text(&c, cs_gate_out_markdown));
    char *rest = NULL;
    size_t rows = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "- ", 2) != 0) continue;
        size_t marks = 0;
        for (const char *at = line; *at != '\0'; at++) {
            if (*at == '`') marks++;
            cr_expect(marks == 1 || strchr("<>&[]()@\\|", *at) == NULL, "%c outside of code: %s", *at, line);
            cr_expect(*at < 0 || *at >= 0x20, "a control in: %s", line);
        }
        cr_expect_eq(marks, 2, "%s", line);
        rows++;
    }
    cr_expect_eq(rows, CS_GATE_ABOUT_ROWS);
    cr_expect(cs_utf8_valid(cs_buf_view(&c.out)));
    free(text);
    out_end(&c);
}

/* ---- the other forms ----------------------------------------------------------------------------------------------
 */

Test(gate_out_about, the_summary_names_them) {
    out_case c;
    begin(&c);
    HAS(out_text(&c, cs_gate_out_markdown),
        "## countersign gate: passed\n\n"
        "- repository: `/srv/sample, git directory /srv/sample/.git`\n"
        "- revision: `" REV ", named as \"patch\"`\n"
        "- base: `" BASE ", named as \"origin/main\"`\n"
        "- policy: `SHA-256 " DIGEST ", of the commit " BASE ", named as \"main\": .gate/policy.json`\n"
        "\n4 rules, 0 refused, 0 undecided; 3 records\n");
    out_end(&c);
}

Test(gate_out_about, the_repository_in_json) {
    out_case c;
    begin(&c);
    json_t *repository = cs_gate_out_repository(&c.report);
    cr_expect_str_eq(json_string_value(json_object_get(repository, "work_tree")), "/srv/sample/");
    cr_expect_str_eq(json_string_value(json_object_get(repository, "git_directory")), "/srv/sample/.git/");
    json_decref(repository);
    c.report.about.work_tree = NULL;
    repository = cs_gate_out_repository(&c.report);
    cr_expect(json_is_null(json_object_get(repository, "work_tree")));
    json_decref(repository);
    c.report.about.git_folder = "/a\xff/";
    repository = cs_gate_out_repository(&c.report);
    cr_expect_str_eq(json_string_value(json_object_get(repository, "git_directory")), "/a\\xff/");
    json_decref(repository);
    c.report.about.git_folder = NULL;
    repository = cs_gate_out_repository(&c.report);
    cr_expect(json_is_null(repository));
    json_decref(repository);
    out_end(&c);
}

/* The verification of an input has no section, and is told behind all of them. */
Test(gate_out_about, a_proof_of_the_inputs) {
    out_case c;
    begin(&c);
    const cs_gate_proof proof = {.section = CS_GATE_OF_SOURCES,
                                 .code = CS_CODE_ENVELOPE_KEY_UNKNOWN,
                                 .refuses = true,
                                 .change = "l.db without a key"};
    HAS_NOT(out_text(&c, cs_gate_out_text), "the inputs\n");
    c.report.proofs = &proof;
    c.report.proof_count = 1;
    c.report.proved = true;
    HAS(out_text(&c, cs_gate_out_text), "\nthe inputs\n  What would be refused:\n"
                                        "  sources         envelope-key-unknown: refused: l.db without a key\ngate: ");
    /* And once, also when there is a line that is of no rule. */
    c.verdict.result = CS_UNCHECKED;
    const char *text = out_text(&c, cs_gate_out_text);
    HAS(text, "before any requirement\n");
    const char *once = strstr(text, "l.db without a key");
    cr_assert_not_null(once);
    HAS_NOT(once + 1, "l.db without a key");
    json_t *members = cs_gate_out_json(&c.report);
    const json_t *told = json_array_get(json_object_get(members, "proofs"), 0);
    cr_expect(json_is_null(json_object_get(told, "requirement")));
    cr_expect_str_eq(json_string_value(json_object_get(told, "rule")), "sources");
    json_decref(members);
    out_end(&c);
}
