/* Policies: one that is good, and the same with one thing changed. */
#include "gate/policy.h"

#include <stdlib.h>
#include <unistd.h>

#include "records/text.h"
#include "tests/support/expect.h"
#include "tests/support/forge.h"
#include "tests/support/policy_case.h"

static cs_policy policy;
static cs_error err;

static cs_result parse(const char *text) {
    err = CS_ERROR_INIT;
    return cs_policy_parse(cs_view_of(text), &policy, &err);
}

/* The good policy, with a change by its name. */
static void parse_good(const char *name) {
    const policy_change *change = NULL;
    for (size_t i = 0; name != NULL && i < policy_change_count; i++)
        if (strcmp(policy_changes[i].name, name) == 0) change = &policy_changes[i];
    cr_assert(name == NULL || change != NULL, "%s", name);
    char *text = policy_case_text(change);
    EXPECT_OK(parse(text), err);
    free(text);
}

#define EXPECT_TEXT(view, text) cr_expect(cs_view_is((view), (text)), "%.*s", (int)(view).len, (view).ptr)

/* ---- what is read ----------------------------------------------------------------------------------- */

Test(policy, everything_that_there_is) {
    parse_good(NULL);
    cr_assert_eq(policy.trust.count, 2);
    cr_expect_str_eq(policy.trust.keys[0].label, "ci");
    cr_expect_eq(policy.trust.keys[0].not_before_ms, INT64_C(1767225600000));
    cr_expect_eq(policy.trust.keys[1].not_after_ms, INT64_MAX);
    cr_assert_eq(policy.requirement_count, 6);
    const cs_policy_requirement *r = &policy.requirements[0];
    cr_expect_str_eq(r->name, "tests");
    cr_expect_eq(r->kind, CS_POLICY_PROJECT);
    EXPECT_TEXT(r->step, "node --test");
    cr_assert_eq(r->providers.count, 3);
    EXPECT_TEXT(r->providers.items[0], "container");
    EXPECT_TEXT(r->providers.items[2], "vm");
    cr_expect_eq(r->floor, CS_TIER_CONTAINER);
    cr_assert_eq(r->allowed_providers.count, 4);
    EXPECT_TEXT(r->allowed_providers.items[3], "process");
    cr_assert_eq(r->software.count, 1);
    EXPECT_TEXT(r->software.items[0], "oci:node@sha256:1");
    cr_assert_eq(r->sandbox_policies.count, 2);
    EXPECT_TEXT(r->sandbox_policies.items[1], "p2");
    cr_assert_eq(r->grant_profiles.count, 1);
    EXPECT_TEXT(r->grant_profiles.items[0], "net");
    cr_expect_eq(r->max_age_s, 86400);
    cr_expect_eq(r->min_records, 2);
    cr_expect_eq(r->reproduced_providers, 3);
    cr_expect_eq(r->reproduced_runs, 4);
    cr_expect(r->cross_check);
    cr_assert_eq(policy.protect.count, 2);
    EXPECT_TEXT(policy.protect.items[1], ".github/**");
    cs_policy_free(&policy);
}

Test(policy, files_and_tests) {
    parse_good(NULL);
    const cs_policy_requirement *r = &policy.requirements[0];
    cr_assert_eq(r->bind_count, 2);
    cr_assert_eq(r->binds[0].paths.count, 2);
    EXPECT_TEXT(r->binds[0].paths.items[1], "test/**");
    cr_expect(r->binds[0].complete);
    cr_assert_eq(r->binds[1].paths.count, 1);
    EXPECT_TEXT(r->binds[1].paths.items[0], "package.json");
    cr_expect_not(r->binds[1].complete);
    cr_expect(r->tests.present);
    EXPECT_TEXT(r->tests.artifact, "out/junit.xml");
    cr_expect_eq(r->tests.min_executed, 10);
    cr_expect_eq(r->tests.max_skipped, 1);
    cr_expect_eq(r->tests.max_failed, 2);
    cr_expect(r->tests.not_fewer_than_base);
    cr_expect_eq(policy.requirements[1].kind, CS_POLICY_CELL);
    cr_expect_eq(policy.requirements[2].kind, CS_POLICY_MODULE);
    cr_expect_eq(policy.requirements[3].kind, CS_POLICY_JAVASCRIPT);
    cs_policy_free(&policy);
    cr_expect_eq(policy.requirement_count, 0);
    cs_policy_free(&policy); /* nothing is left to be freed */
}

Test(policy, what_nobody_wrote) {
    parse_good(NULL);
    const cs_policy_requirement *r = &policy.requirements[4];
    cr_expect_str_eq(r->name, "lately");
    cr_expect_eq(r->kind, CS_POLICY_ANY);
    cr_expect_null(r->step.ptr);
    cr_expect_eq(r->floor, CS_TIER_UNKNOWN);
    cr_expect_eq(r->providers.count + r->allowed_providers.count + r->software.count + r->sandbox_policies.count +
                     r->grant_profiles.count,
                 0);
    cr_expect_eq(r->max_age_s, 60);
    cr_expect_eq(r->min_records, 1);
    cr_expect_eq(r->bind_count, 0);
    cr_expect_not(r->tests.present);
    cr_expect_eq(r->reproduced_providers + r->reproduced_runs, 0);
    cr_expect_not(r->cross_check);
    cs_policy_free(&policy);
}

Test(policy, what_nobody_wrote_about_tests) {
    parse_good("tests-of-any");
    const cs_policy_tests *tests = &policy.requirements[4].tests;
    cr_expect(tests->present);
    cr_expect_eq(tests->min_executed, 1);
    cr_expect_eq(tests->max_skipped, 0);
    cr_expect_eq(tests->max_failed, 0);
    cr_expect_not(tests->not_fewer_than_base);
    cs_policy_free(&policy);
}

/* Texts belong to the policy, whatever becomes of the file's bytes. */
Test(policy, borrows_nothing_from_the_text) {
    char *text = policy_case_text(NULL);
    EXPECT_OK(parse(text), err);
    memset(text, 'x', strlen(text));
    free(text);
    EXPECT_TEXT(policy.requirements[0].step, "node --test");
    cs_policy_free(&policy);
}

/* ---- one change ------------------------------------------------------------------------------------- */

static void expect_change(const policy_change *change) {
    char *text = policy_case_text(change);
    cs_result result = parse(text);
    cs_code code = result == CS_OK ? CS_CODE_OK : err.code;
    cr_expect_eq(code, change->code, "%s: %s, not %s: %s", change->name, cs_code_name(code), cs_code_name(change->code),
                 err.message);
    cr_expect_eq(result,
                 change->code == CS_CODE_POLICY_EMPTY ? CS_NOTHING
                 : change->code == CS_CODE_OK         ? CS_OK
                                                      : CS_UNCHECKED,
                 "%s: class %d", change->name, (int)result);
    if (result != CS_OK) {
        cr_expect_str_eq(err.where, change->where, "%s: at '%s', not '%s'", change->name, err.where, change->where);
        cr_expect_null(policy.memory, "%s: something of a refused policy is left", change->name);
        cr_expect_eq(policy.requirement_count + policy.trust.count, 0, "%s", change->name);
    }
    cs_policy_free(&policy);
    free(text);
}

Test(policy, each_change_alone) {
    size_t good = 0;
    for (size_t i = 0; i < policy_change_count; i++) {
        expect_change(&policy_changes[i]);
        good += policy_changes[i].code == CS_CODE_OK;
    }
    cr_expect_gt(good, 40);
    cr_expect_gt(policy_change_count - good, 100);
}

Test(policy, names_of_changes_are_unique) {
    for (size_t i = 0; i < policy_change_count; i++)
        for (size_t k = 0; k < i; k++)
            cr_expect_str_neq(policy_changes[i].name, policy_changes[k].name);
}

/* ---- what an error tells ---------------------------------------------------------------------------- */

static void refuse(const char *name) {
    for (size_t i = 0; i < policy_change_count; i++) {
        if (strcmp(policy_changes[i].name, name) != 0) continue;
        char *text = policy_case_text(&policy_changes[i]);
        cr_assert_neq(parse(text), CS_OK, "%s", name);
        free(text);
        return;
    }
    cr_assert_fail("%s", name);
}

static void expect_told(const char *name, const char *expected, const char *found) {
    refuse(name);
    cr_expect_str_eq(err.expected, expected, "%s: %s", name, err.expected);
    cr_expect_str_eq(err.found, found, "%s: %s", name, err.found);
}

Test(policy, what_was_found_and_what_was_expected) {
    expect_told("member-unknown", "version, keys, requirements, protect", "protects");
    expect_told("member-odd", "version, keys, requirements, protect", "\\x1b[2J");
    expect_told("name-missing", "name", "nothing");
    expect_told("name-space", "1 to 64 of the characters A-Z a-z 0-9 . _ -", "a b");
    expect_told("age-zero", "a whole number from 1 to 315360000", "0");
    expect_told("age-real", "a whole number from 1 to 315360000", "86400, written with a point or an exponent");
    expect_told("age-null", "a whole number from 1 to 315360000", "null");
    expect_told("software-none", "a list of 1 to 256", "a list of 0");
    expect_told("bind-object", "a list of 1 to 256", "an object");
    expect_told("floor-unknown", "process, container, kernel or vm", "VM");
    expect_told("kind-unknown", "javascript, project, module or cell", "Project");
    expect_told("cross-check-null", "true or false", "null");
    expect_told("requirement-null", "an object", "null");
}

/* The kind of what was found is told where another kind is wanted, since "1" and 1 look alike. */
static void expect_kind(const char *name, const char *message, const char *expected, const char *found) {
    expect_told(name, expected, found);
    cr_expect_str_eq(err.message, message, "%s: %s", name, err.message);
}

Test(policy, a_value_of_another_kind_is_told_with_its_kind) {
    expect_kind("version-two", "it is no whole number in its range", "1", "2");
    expect_kind("version-text", "a number is wanted here, and this is a text", "1", "the text \"1\"");
    expect_kind("version-true", "a number is wanted here, and this is true", "1", "true");
    expect_kind("age-text", "a number is wanted here, and this is a text", "a whole number from 1 to 315360000",
                "the text \"86400\"");
    expect_kind("age-null", "a number is wanted here, and this is null", "a whole number from 1 to 315360000", "null");
    expect_kind("cross-check-null", "true or false is wanted here, and this is null", "true or false", "null");
    expect_kind("not-fewer-text", "true or false is wanted here, and this is a text", "true or false",
                "the text \"yes\"");
    expect_kind("bind-complete-number", "true or false is wanted here, and this is a number", "true or false",
                "the number 1");
    expect_kind("protect-text", "a list is wanted here, and this is a text", "a list of 1 to 256", "the text \"**\"");
    expect_kind("bind-object", "a list is wanted here, and this is an object", "a list of 1 to 256", "an object");
    expect_kind("software-none", "the list is empty; what is not asked for is left out", "a list of 1 to 256",
                "a list of 0");
    expect_kind("software-257", "the list is too long", "a list of 1 to 256", "a list of 257");
    expect_kind("requirements-33", "the list is too long", "a list of 1 to 32", "a list of 33");
    expect_kind("requirements-object", "a list is wanted here, and this is an object", "a list of 1 to 32",
                "an object");
    expect_kind("grants-text", "a list is wanted here, and this is a text", "a list of 0 to 256", "the text \"net\"");
    expect_kind("requirement-null", "an object is wanted here, and this is null", "an object", "null");
    expect_kind("records-array", "an object is wanted here, and this is a list", "an object", "a list of 0");
    expect_kind("tests-true", "an object is wanted here, and this is true", "an object", "true");
    expect_kind("step-list", "a text is wanted here, and this is a list",
                "a text of 1 to 16384 bytes, exactly as the request has it", "a list of 1");
    expect_kind("name-number", "a text is wanted here, and this is a number",
                "1 to 64 of the characters A-Z a-z 0-9 . _ -", "the number 1");
    expect_kind("kind-number", "a text is wanted here, and this is a number", "javascript, project, module or cell",
                "the number 2");
    expect_kind("floor-number", "a text is wanted here, and this is a number", "process, container, kernel or vm",
                "the number 4");
}

/* What is wrong with a pattern is said in the very characters that should be written. */
Test(policy, a_pattern_is_refused_with_its_fault) {
    refuse("bind-path-open");
    cr_expect_not_null(strstr(err.message, "(write \\[ for the byte itself)"), "%s", err.message);
    cr_expect_str_eq(err.found, "a[");
}

/* ---- what is no policy ------------------------------------------------------------------------------ */

Test(policy, what_is_no_json_object) {
    static const char *const texts[] = {"[]",
                                        "null",
                                        "\"policy\"",
                                        "1",
                                        "{\"version\":1,",
                                        "{} {}",
                                        "\xEF\xBB\xBF{}",
                                        "{\"version\":1}x",
                                        "{\"\xFF\":1}",
                                        "{\"a\\u0000b\":1}",
                                        "{'version':1}",
                                        " "};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        EXPECT_CODE(parse(texts[i]), err, CS_UNCHECKED, CS_CODE_POLICY_MALFORMED);
    EXPECT_CODE(parse(""), err, CS_UNCHECKED, CS_CODE_POLICY_MALFORMED);
    cr_expect_not_null(strstr(err.message, "is empty"), "%s", err.message);
}

/* The good policy with one piece of its text replaced. */
static char *replaced(const char *from, const char *to) {
    char *text = policy_case_text(NULL);
    const char *at = strstr(text, from);
    cr_assert_not_null(at, "%s", from);
    cr_assert_null(strstr(at + 1, from), "%s is there twice", from);
    char *out = forge_text("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    free(text);
    return out;
}

Test(policy, a_member_twice_is_refused_with_its_line) {
    EXPECT_OK(parse(replaced("\"floor\":\"container\"", "\n \"floor\":\"container\"")), err);
    cs_policy_free(&policy);
    EXPECT_CODE(parse(replaced("\"floor\":\"container\"", "\n\"floor\":\"vm\",\"floor\":\"container\"")), err,
                CS_UNCHECKED, CS_CODE_POLICY_MALFORMED);
    EXPECT_WHERE(err, "line 2, column 20");
    cr_expect_not_null(strstr(err.message, "duplicate object key near '\"floor\"'"), "%s", err.message);
}

/* A long text keeps its end, which says that there is more, and a hostile one steers nothing. */
Test(policy, a_text_of_another_kind_is_shown_safely) {
    char long_text[256] = "";
    memset(long_text, 'x', 200);
    EXPECT_CODE(parse(replaced("86400", forge_text("\"%.95s\"", long_text))), err, CS_UNCHECKED,
                CS_CODE_POLICY_MALFORMED);
    cr_expect_str_eq(err.found, forge_text("the text \"%.95s\"", long_text));
    EXPECT_CODE(parse(replaced("86400", forge_text("\"%.96s\"", long_text))), err, CS_UNCHECKED,
                CS_CODE_POLICY_MALFORMED);
    cr_expect_str_eq(err.found, forge_text("the text \"%.95s\"...", long_text));
    EXPECT_CODE(parse(replaced("86400", forge_text("\"%.94s\xC3\xA9\"", long_text))), err, CS_UNCHECKED,
                CS_CODE_POLICY_MALFORMED);
    cr_expect_str_eq(err.found, forge_text("the text \"%.94s\"...", long_text));
    EXPECT_CODE(parse(replaced("86400", "\"\\u001b[2J\xE2\x80\xAE\"")), err, CS_UNCHECKED, CS_CODE_POLICY_MALFORMED);
    cr_expect_str_eq(err.found, "the text \"\\x1b[2J\\u{202e}\"");
    EXPECT_CODE(parse(replaced("\"node --test\"", "1.5")), err, CS_UNCHECKED, CS_CODE_POLICY_MALFORMED);
    cr_expect_str_eq(err.found, "the number 1.5, written with a point or an exponent");
}

static void expect_json(const char *text, const char *what, const char *where) {
    EXPECT_CODE(parse(text), err, CS_UNCHECKED, CS_CODE_POLICY_MALFORMED);
    cr_expect_eq(strncmp(err.message, what, strlen(what)), 0, "%s: %s", text, err.message);
    cr_expect_str_eq(err.where, where, "%s: %s", text, err.where);
}

/* What it is, in words, then what the parser says, and where. */
Test(policy, what_is_wrong_with_the_json) {
    expect_json("\xEF\xBB\xBF{\"version\":1}", "the policy begins with a byte order mark (BOM)", "line 1, column 1");
    expect_json("{\"a\":1,\n\"a\":2}", "an object of the policy has a member twice (duplicate object key near '\"a\"')",
                "line 2, column 3");
    expect_json("{\"a\":\"\xFF\"}", "the policy is not text in UTF-8 (unable to decode byte 0xff", "line 1, column 6");
    expect_json("{\"a\":\"\\u0000\"}", "a text of the policy holds NUL (", "line 1, column 13");
    expect_json("{\"\\u0000\":1}", "a text of the policy holds NUL (", "line 1, column 9");
    expect_json("{\"a\":9223372036854775808}", "a number of the policy is too large (too big integer",
                "line 1, column 24");
    expect_json("{\"a\":1,", "the policy ends before it is complete (", "line 1, column 7");
    expect_json("{}\n x", "something stands behind the end of the policy (end of file expected near 'x')",
                "line 2, column 2");
    expect_json("{'a':1}", "the policy is no JSON (", "line 1, column 2");
    expect_json("{\"a\":\x1b}", "the policy is no JSON (invalid token near '\\x1b')", "line 1, column 6");
}

Test(policy, numbers_beyond_64_bits_and_nul_are_refused) {
    EXPECT_OK(parse(replaced("86400", "86401")), err);
    cs_policy_free(&policy);
    EXPECT_CODE(parse(replaced("86400", "18446744073709551617")), err, CS_UNCHECKED, CS_CODE_POLICY_MALFORMED);
    EXPECT_CODE(parse(replaced("86400", "086400")), err, CS_UNCHECKED, CS_CODE_POLICY_MALFORMED);
    EXPECT_CODE(parse(replaced("node --test", "node\\u0000--test")), err, CS_UNCHECKED, CS_CODE_POLICY_MALFORMED);
    EXPECT_CODE(parse(replaced("node --test", "node \xFF")), err, CS_UNCHECKED, CS_CODE_POLICY_MALFORMED);
}

/* ---- what it needs ---------------------------------------------------------------------------------- */

static void expect_needs(const char *more, bool rev, bool base) {
    char *text = policy_case_text(NULL);
    const char *end = strstr(text, "\"requirements\"");
    cr_assert_not_null(end);
    char *small =
        forge_text("%.*s\"requirements\":[{\"name\":\"n\",\"floor\":\"vm\"%s}", (int)(end - text), text, more);
    free(text);
    EXPECT_OK(parse(small), err);
    cr_expect_eq(policy.needs_rev, rev, "%s", more);
    cr_expect_eq(policy.needs_base, base, "%s", more);
    cs_policy_free(&policy);
}

Test(policy, revisions_that_it_needs) {
    expect_needs("}]", false, false);
    expect_needs(",\"bind\":[{\"paths\":[\"a\"]}]}]", true, false);
    expect_needs("}],\"protect\":[\"a\"]", true, true);
    expect_needs(",\"bind\":[{\"paths\":[\"a\"]}],\"tests\":{\"artifact\":\"a\",\"not_fewer_than_base\":true}}]", true,
                 true);
    expect_needs(",\"bind\":[{\"paths\":[\"a\"]}],\"tests\":{\"artifact\":\"a\",\"not_fewer_than_base\":false}}]", true,
                 false);
    expect_needs("},{\"name\":\"m\",\"bind\":[{\"paths\":[\"a\"]}]}]", true, false);
}

/* ---- the digest, and files -------------------------------------------------------------------------- */

Test(policy, the_digest_is_that_of_the_bytes) {
    char *text = replaced("node --test", "make");
    EXPECT_OK(parse(text), err);
    cr_expect_str_eq(policy.digest.hex, forge_sha256(text, strlen(text)));
    cs_policy_free(&policy);
    char *spaced = forge_text("%s\n", text);
    EXPECT_OK(parse(spaced), err);
    cr_expect_str_eq(policy.digest.hex, forge_sha256(spaced, strlen(spaced)));
    cs_policy_free(&policy);
}

Test(policy, files_are_bounded) {
    char path[64];
    char *text = malloc(CS_POLICY_MAX_BYTES + 2);
    char *good = policy_case_text(NULL);
    cr_assert_not_null(text);
    memset(text, ' ', CS_POLICY_MAX_BYTES + 1);
    text[CS_POLICY_MAX_BYTES + 1] = '\0';
    memcpy(text, good, strlen(good));
    free(good);
    forge_write(text, CS_POLICY_MAX_BYTES, path);
    EXPECT_OK(cs_policy_load(path, &policy, &err), err);
    cr_expect_eq(policy.requirement_count, 6);
    cs_policy_free(&policy);
    unlink(path);
    forge_write(text, CS_POLICY_MAX_BYTES + 1, path);
    EXPECT_CODE(cs_policy_load(path, &policy, &err), err, CS_UNCHECKED, CS_CODE_POLICY_MALFORMED);
    EXPECT_WHERE(err, path);
    EXPECT_CODE(parse(text), err, CS_UNCHECKED, CS_CODE_POLICY_MALFORMED);
    unlink(path);
    free(text);
}

Test(policy, a_failure_names_the_file_and_the_place) {
    char path[64];
    char *bad = replaced("\"floor\":\"container\"", "\"floor\":\"contain\"");
    forge_write(bad, strlen(bad), path);
    EXPECT_CODE(cs_policy_load(path, &policy, &err), err, CS_UNCHECKED, CS_CODE_POLICY_MALFORMED);
    EXPECT_WHERE(err, forge_text("%s: requirements[0].floor", path));
    unlink(path);
    EXPECT_CODE(cs_policy_load("/nonexistent/policy.json", &policy, &err), err, CS_UNCHECKED, CS_CODE_IO);
    EXPECT_WHERE(err, "/nonexistent/policy.json");
    cr_expect_null(policy.memory);
    EXPECT_CODE(cs_policy_load("/proc", &policy, &err), err, CS_UNCHECKED, CS_CODE_IO);
}
