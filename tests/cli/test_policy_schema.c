/* docs/schema/policy-file.schema.json and the parser say the same of every policy, as far as a schema can say it. */
#include <stdlib.h>

#include "tests/cli/documents.h"
#include "tests/support/policy_case.h"

static void put_change(documents *d, const policy_change *change) {
    char *text = policy_case_text(change);
    documents_put(d, change != NULL ? change->name : "good", text, strlen(text));
    free(text);
}

static bool is_refused(const documents *d, const char *name) {
    return strstr(forge_text("\n%s", d->end.out), forge_text("\n%s.json: ", name)) != NULL;
}

Test(policy_schema, it_takes_and_refuses_what_the_parser_does) {
    documents d;
    size_t refused = 0;
    documents_begin(&d);
    put_change(&d, NULL);
    for (size_t i = 0; i < policy_change_count; i++)
        put_change(&d, &policy_changes[i]);
    cr_expect_eq(documents_validate_as(&d, "policy-file"), 1);
    cr_expect_not(is_refused(&d, "good"), "%s", d.end.out);
    for (size_t i = 0; i < policy_change_count; i++) {
        const policy_change *change = &policy_changes[i];
        cr_expect_eq(is_refused(&d, change->name), change->schema, "%s", change->name);
        cr_expect(change->code != CS_CODE_OK || !change->schema, "%s is good", change->name);
        refused += change->schema;
    }
    EXPECT_HAS(d.end.out, forge_text("%zu documents, %zu of them not valid", policy_change_count + 1, refused));
    documents_end(&d);
}

/* What test_policy.c holds the parser's functions to, the program does as well, for some of each sort. */
Test(policy_schema, the_program_does_what_the_corpus_says) {
    cli_case c;
    cli_begin(&c);
    for (size_t i = 0; i < policy_change_count; i += 7) {
        const policy_change *change = &policy_changes[i];
        char *text = policy_case_text(change);
        cli_write_text(&c, "policy.json", text);
        free(text);
        EXPECT_EXIT(&c, cli_json(&c, ARGS("policy", "check", "policy.json")), (int)cs_code_class(change->code));
        EXPECT_TEXT(&c, "code", cs_code_name(change->code));
    }
    cli_end(&c);
}

Test(policy_schema, each_member_is_told_where_it_stands) {
    documents d;
    documents_begin(&d);
    static const struct {
        const char *name;
        const char *line;
    } lines[] = {
        {"member-unknown", "$ [additionalProperties]"},
        {"age-zero", "$.requirements[0].max_age_seconds [minimum]"},
        {"step-of-cells", "$.requirements[1].records.step [false]"},
        {"tests-of-cells", "$.requirements[1].tests [false]"},
        {"bind-of-modules", "$.requirements[2].bind [false]"},
        {"bind-missing-for-the-base", "$.requirements[0] [required]"},
        {"nothing-but-a-name", "$.requirements[4] [anyOf]"},
        {"bind-path-up", "$.requirements[0].bind[0].paths[1] [not]"},
    };
    for (size_t i = 0; i < policy_change_count; i++)
        put_change(&d, &policy_changes[i]);
    cr_expect_eq(documents_validate_as(&d, "policy-file"), 1);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        documents_expect_line(&d, forge_text("%s.json: %s", lines[i].name, lines[i].line));
    documents_end(&d);
}
