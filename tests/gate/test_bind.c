/* What a run brings that no pattern of bind is about: it refuses nothing, and is told. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/out.h"
#include "tests/gate/gate_case.h"
#include "tests/support/expect.h"

/* All that the passed rule says. */
static void expect_found(gate_case *c, const char *before, const char *behind) {
    char wanted[CS_GATE_TEXT];
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

Test(gate_bind, text_and_json_tell_it) {
    static const char part[] = "1 file of the run matches no pattern of bind and is bound to nothing: tools/run.sh";
    gate_case c;
    gate_begin(&c);
    gate_add_file(&c, "tools/run.sh", "exit 0\n");
    gate_expect_passes(&c, "one more file");
    const cs_gate_report report = {.verdict = &c.verdict, .version = "0.1.0", .policy_path = ""};
    CS_AUTO_BUF text = CS_BUF_INIT(CS_GATE_OUT_MAX_BYTES);
    cr_assert(cs_gate_out_text(&report, &text) && cs_buf_byte(&text, '\0'));
    cr_expect_not_null(strstr((const char *)text.ptr, part), "%s", (const char *)text.ptr);
    json_t *members = cs_gate_out_json(&report);
    char *json = json_dumps(members, JSON_COMPACT);
    cr_expect_not_null(strstr(json, part), "%s", json);
    free(json);
    json_decref(members);
    gate_end(&c);
}
