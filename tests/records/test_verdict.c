/* records/verdict.h: what may be stated of a verdict. Its bytes are in tests/gate/test_attest.c. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "records/statement.h"
#include "records/verdict.h"
#include "tests/support/expect.h"

#define COMMIT "bc7cbf341e8483c92c3977f110729bf44ceeb822"
#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char *const one[] = {"tests/bind"};
static const char *const digests[] = {DIGEST};

static cs_stated_verdict passed(void) {
    return (cs_stated_verdict){.commit = COMMIT,
                               .repository = "",
                               .policy_sha256 = DIGEST,
                               .made_unix_ms = 1790000600000,
                               .passed = true,
                               .passed_rules = {.items = one, .count = 1},
                               .inputs = digests,
                               .input_count = 1};
}

static void expect_refused(cs_stated_verdict verdict, const char *name) {
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_verdict_check(&verdict, &err), CS_UNCHECKED, "%s", name);
    cr_expect_eq(err.code, CS_CODE_INTERNAL, "%s", name);
    cr_expect_not_null(strstr(err.message, "a verdict that is to be stated"), "%s: %s", name, err.message);
}

/* Each with one member changed. */
#define REFUSED(member, ...)                                                                                           \
    do {                                                                                                               \
        cs_stated_verdict changed = passed();                                                                          \
        changed.member = __VA_ARGS__;                                                                                  \
        expect_refused(changed, #member " = " #__VA_ARGS__);                                                           \
    } while (0)

Test(verdict, only_what_is_of_its_form) {
    cs_error err = CS_ERROR_INIT;
    cs_stated_verdict good = passed();
    EXPECT_OK(cs_verdict_check(&good, &err), err);
    REFUSED(commit, "bc7cbf341e8483c92c3977f110729bf44ceeb82");
    REFUSED(commit, "bc7cbf341e8483c92c3977f110729bf44ceeb8222");
    REFUSED(commit, "BC7cbf341e8483c92c3977f110729bf44ceeb822");
    REFUSED(commit, "");
    REFUSED(policy_sha256, "");
    REFUSED(policy_sha256, COMMIT);
    REFUSED(repository, "no address");
    REFUSED(made_unix_ms, -1);
    REFUSED(made_unix_ms, 253402300800000);
    REFUSED(input_count, 513);
    static const char *const bad_digest[] = {COMMIT};
    REFUSED(inputs, bad_digest);
}

Test(verdict, the_last_that_may_be_stated) {
    cs_error err = CS_ERROR_INIT;
    cs_stated_verdict good = passed();
    good.made_unix_ms = 0;
    EXPECT_OK(cs_verdict_check(&good, &err), err);
    good.made_unix_ms = 253402300799999;
    EXPECT_OK(cs_verdict_check(&good, &err), err);
    good.repository = "ssh://git@git.example.org:22/shop";
    EXPECT_OK(cs_verdict_check(&good, &err), err);
    good.input_count = 0;
    EXPECT_OK(cs_verdict_check(&good, &err), err);
}

Test(verdict, names_of_rules) {
    static const char *const bad[] = {"", "tests bind", "tests/b\"nd", "tests/b\xc3\xa4nd", "a\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cs_stated_verdict verdict = passed();
        verdict.passed_rules.items = &bad[i];
        expect_refused(verdict, bad[i]);
    }
    char text[130];
    memset(text, 'a', sizeof text);
    text[129] = '\0';
    const char *const longest[] = {text};
    cs_stated_verdict verdict = passed();
    verdict.passed_rules.items = longest;
    expect_refused(verdict, "129 bytes");
    text[128] = '\0';
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_verdict_check(&verdict, &err), err);
}

/* A pass is that all passed and there was something; a refusal that something failed. */
Test(verdict, it_is_what_its_rules_say) {
    const cs_verdict_names some = {.items = one, .count = 1};
    const cs_verdict_names none = {.count = 0};
    static const struct {
        bool verdict, passed, failed, warned, good;
    } rows[] = {
        {true, true, false, false, true},   {true, true, true, false, false},   {true, true, false, true, false},
        {true, false, false, false, false}, {false, true, true, false, true},   {false, false, true, true, true},
        {false, true, false, false, false}, {false, false, false, true, false}, {false, true, false, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cs_stated_verdict verdict = passed();
        verdict.passed = rows[i].verdict;
        verdict.passed_rules = rows[i].passed ? some : none;
        verdict.failed_rules = rows[i].failed ? some : none;
        verdict.warned_rules = rows[i].warned ? some : none;
        cs_error err = CS_ERROR_INIT;
        cr_expect_eq(cs_verdict_check(&verdict, &err), rows[i].good ? CS_OK : CS_UNCHECKED, "row %zu", i);
    }
}

Test(verdict, addresses_of_repositories) {
    static const char *const good[] = {"https://git.example.org/team/shop",
                                       "ssh://git@git.example.org:2222/shop.git",
                                       "file:///srv/git/shop",
                                       "a+b.c-1://x",
                                       "https://git.example.org/a@b",
                                       "https://git.example.org?a@b",
                                       "https://[::1]/%20~'(x)*"};
    static const char *const bad[] = {"",
                                      "shop",
                                      "git@git.example.org:shop",
                                      "https:/git.example.org/shop",
                                      "https://",
                                      "://git.example.org",
                                      "1a://x",
                                      "Https://git.example.org",
                                      "https://git.example.org/a b",
                                      "https://git.example.org/\"",
                                      "https://git.example.org/\\",
                                      "https://git.example.org/\x7f",
                                      "https://git.example.org/\xc3\xa4",
                                      "https://token@git.example.org/shop",
                                      "https://git:token@git.example.org/shop",
                                      "https://@git.example.org/shop",
                                      "https://git@token@git.example.org/shop",
                                      "https://x-access-token:secret@git.example.org"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        cr_expect(cs_verdict_repository(cs_view_of(good[i])), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_not(cs_verdict_repository(cs_view_of(bad[i])), "%s", bad[i]);
    cr_expect_not(cs_verdict_repository(cs_view_bytes("a://b\0c", 7)), "NUL");
    char text[514] = "a://";
    memset(text + 4, 'b', 509);
    cr_expect_not(cs_verdict_repository(cs_view_of(text)), "513 bytes");
    text[512] = '\0';
    cr_expect(cs_verdict_repository(cs_view_of(text)), "512 bytes");
}

Test(verdict, a_full_buffer_is_left_as_it_was) {
    cs_stated_verdict verdict = passed();
    for (int kind = CS_VERDICT_TEST_RESULT; kind <= CS_VERDICT_SUMMARY; kind++) {
        CS_AUTO_BUF whole = CS_BUF_INIT(4096);
        cr_assert(cs_statement_verdict((cs_verdict_kind)kind, &verdict, &whole));
        CS_AUTO_BUF exact = CS_BUF_INIT(whole.len + 1);
        cr_assert(cs_buf_byte(&exact, 'x'));
        cr_assert(cs_statement_verdict((cs_verdict_kind)kind, &verdict, &exact));
        CS_AUTO_BUF tight = CS_BUF_INIT(whole.len);
        cr_assert(cs_buf_byte(&tight, 'x'));
        cr_expect_not(cs_statement_verdict((cs_verdict_kind)kind, &verdict, &tight));
        cr_expect_eq(tight.len, 1);
    }
}

#define TYPE                                                                                                           \
    "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"git+\",\"digest\":{\"gitCommit\":\"a\""
#define RESULT TYPE "}}],\"predicateType\":\"https://in-toto.io/attestation/test-result/v0.1\",\"predicate\":{}}"
#define SUMMARY TYPE "}}],\"predicateType\":\"https://slsa.dev/verification_summary/v1\",\"predicate\":{}}"

Test(verdict, what_a_payload_says_of_itself) {
    cs_verdict_kind kind = CS_VERDICT_SUMMARY;
    cr_expect(cs_verdict_is_stated(cs_view_of(RESULT), &kind));
    cr_expect_eq(kind, CS_VERDICT_TEST_RESULT);
    cr_expect(cs_verdict_is_stated(cs_view_of(SUMMARY), &kind));
    cr_expect_eq(kind, CS_VERDICT_SUMMARY);
    static const char *const others[] = {
        "",
        "{}",
        TYPE "}}],\"predicateType\":\"https://slsa.dev/verification_summary/v1.1\",\"predicate\":{}}",
        TYPE "}}],\"predicateType\":\"https://plimsollmark.github.io/plimsoll/run-record/v1\",\"predicate\":{}}",
        TYPE "}}],\"predicateType\":\"a\",\"predicate\":{\"x\":"
             "\"}}],\\\"predicateType\\\":\\\"https://slsa.dev/verification_summary/v1\\\"\"}}",
        "{\"subject\":[{}}],\"predicateType\":\"https://slsa.dev/verification_summary/v1\"}"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_expect_not(cs_verdict_is_stated(cs_view_of(others[i]), &kind), "%s", others[i]);
}

/* No reader of records takes one for its own. */
Test(verdict, it_is_read_as_no_record) {
    cs_stated_verdict verdict = passed();
    for (int kind = CS_VERDICT_TEST_RESULT; kind <= CS_VERDICT_SUMMARY; kind++) {
        CS_AUTO_BUF payload = CS_BUF_INIT(4096);
        cr_assert(cs_statement_verdict((cs_verdict_kind)kind, &verdict, &payload));
        cs_statement statement;
        cs_error err = CS_ERROR_INIT;
        EXPECT_CODE(cs_statement_read(cs_buf_view(&payload), &statement, &err), err, CS_FAILED,
                    CS_CODE_STATEMENT_MALFORMED);
    }
}
