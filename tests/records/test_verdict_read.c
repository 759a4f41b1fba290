/* Reading the two statements of a verdict: one way to write each, and every other one refused. */
#include <criterion/criterion.h>
#include <string.h>

#include "records/dsse.h"
#include "records/verdict.h"
#include "tests/support/expect.h"
#include "tests/support/forge.h"
#include "tests/support/verdicts.h"

static void expect_refused(const char *payload, cs_code code) {
    cs_read_verdict read;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_verdict_read(cs_view_of(payload), &read, &err), CS_FAILED, "%s", payload);
    cr_expect_eq(err.code, code, "%s, not %s (%s): %s", cs_code_name(err.code), cs_code_name(code), err.message,
                 payload);
    cr_expect_null(read.texts);
    cr_expect_null(read.items);
}

/* Each with one member changed. */
#define REFUSED(make, member, value, code)                                                                             \
    do {                                                                                                               \
        verdict_text changed = make();                                                                                 \
        changed.member = (value);                                                                                      \
        expect_refused(verdict_payload(&changed), (code));                                                             \
    } while (0)

static void expect_good(const verdict_text *text) {
    cs_read_verdict read;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_verdict_read(cs_view_of(verdict_payload(text)), &read, &err), CS_OK, "%s: %s", err.where,
                 err.message);
    cs_read_verdict_free(&read);
}

#define GOOD(make, member, value)                                                                                      \
    do {                                                                                                               \
        verdict_text changed = make();                                                                                 \
        changed.member = (value);                                                                                      \
        expect_good(&changed);                                                                                         \
    } while (0)

static cs_read_verdict read_good(const verdict_text *text) {
    cs_read_verdict read;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_verdict_read(cs_view_of(verdict_payload(text)), &read, &err), CS_OK, "%s: %s", err.where,
                 err.message);
    return read;
}

Test(verdict_read, a_test_result) {
    verdict_text text = verdict_test_result();
    text.head = "\"result\":\"FAILED\",\"configuration\":[{\"uri\":\"urn:countersign:gate-policy:v1\",\"digest\":{"
                "\"sha256\":";
    text.tail = verdict_rules("\"sources\",\"tests/bind\"", "\"tests/age\"", "\"protect\"");
    cs_read_verdict read = read_good(&text);
    cr_expect_eq(read.kind, CS_VERDICT_TEST_RESULT);
    cr_expect_str_eq(read.verdict.commit, VERDICT_COMMIT);
    cr_expect_str_eq(read.verdict.repository, VERDICT_REPOSITORY);
    cr_expect_str_eq(read.verdict.policy_sha256, VERDICT_POLICY);
    cr_expect_not(read.verdict.passed);
    cr_assert_eq(read.verdict.passed_rules.count, 2);
    cr_expect_str_eq(read.verdict.passed_rules.items[1], "tests/bind");
    cr_assert_eq(read.verdict.warned_rules.count, 1);
    cr_expect_str_eq(read.verdict.warned_rules.items[0], "tests/age");
    cr_assert_eq(read.verdict.failed_rules.count, 1);
    cr_expect_str_eq(read.verdict.failed_rules.items[0], "protect");
    cs_read_verdict_free(&read);
}

Test(verdict_read, a_summary) {
    verdict_text text = verdict_summary();
    cs_read_verdict read = read_good(&text);
    cr_expect_eq(read.kind, CS_VERDICT_SUMMARY);
    cr_expect_str_eq(read.verdict.commit, VERDICT_COMMIT);
    cr_expect_str_eq(read.verdict.repository, VERDICT_REPOSITORY);
    cr_expect_eq(read.verdict.made_unix_ms, VERDICT_TIME_MS);
    cr_expect(read.verdict.passed);
    cr_assert_eq(read.verdict.input_count, 2);
    cr_expect_eq(read.verdict.inputs[1][0], '2');
    cs_read_verdict_free(&read);
}

#define START(name)                                                                                                    \
    "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"" name "\",\"digest\":{\"gitCommit\":"
#define SUMMARY_HEAD(id, when, resource)                                                                               \
    "\"verifier\":{\"id\":\"" id "\"},\"timeVerified\":\"" when "\",\"resourceUri\":\"" resource                       \
    "\",\"policy\":{\"uri\":\"urn:countersign:gate-policy:v1\",\"digest\":{\"sha256\":"
#define URI "git+https://git.example.org/shop?a\\u0026b"

Test(verdict_read, types) {
    REFUSED(verdict_test_result, type, "https://in-toto.io/attestation/test-result/v0.2", CS_CODE_STATEMENT_TYPE);
    REFUSED(verdict_test_result, type, "https://plimsollmark.github.io/plimsoll/run-record/v1", CS_CODE_STATEMENT_TYPE);
    REFUSED(verdict_test_result, type, "https://slsa.dev/verification_summary/v1", CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_summary, type, "https://in-toto.io/attestation/test-result/v0.1", CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_summary, start,
            "{\"_type\":\"https://in-toto.io/Statement/v0.1\",\"subject\":[{\"name\":\"" URI
            "\",\"digest\":{\"gitCommit\":",
            CS_CODE_STATEMENT_TYPE);
    forge_run run = forge_single();
    expect_refused(forge_statement(&run), CS_CODE_STATEMENT_MALFORMED);
    expect_refused("", CS_CODE_STATEMENT_TYPE);
    expect_refused("{}", CS_CODE_STATEMENT_TYPE);
}

Test(verdict_read, subjects) {
    REFUSED(verdict_test_result, commit, "\"bc7cbf341e8483c92c3977f110729bf44ceeb82\"", CS_CODE_STATEMENT_SUBJECT);
    REFUSED(verdict_test_result, commit, "\"BC7cbf341e8483c92c3977f110729bf44ceeb822\"", CS_CODE_STATEMENT_SUBJECT);
    REFUSED(verdict_summary, commit, "\"\"", CS_CODE_STATEMENT_SUBJECT);
    REFUSED(verdict_test_result, start, START("https://git.example.org/shop"), CS_CODE_STATEMENT_SUBJECT);
    GOOD(verdict_test_result, start, START("git+https://git.example.org/shop"));
    GOOD(verdict_test_result, start, START("git+"));
    /* A summary says it twice. */
    REFUSED(verdict_summary, start, START("git+https://git.example.org/shop"), CS_CODE_STATEMENT_SUBJECT);
    REFUSED(verdict_summary, start, START("git+"), CS_CODE_STATEMENT_SUBJECT);
    verdict_text bare = verdict_summary();
    bare.start = START("git+");
    bare.head = SUMMARY_HEAD("urn:countersign:gate", VERDICT_TIME, "gitoid:commit:sha1:" VERDICT_COMMIT);
    cs_read_verdict read = read_good(&bare);
    cr_expect_str_eq(read.verdict.repository, "");
    cs_read_verdict_free(&read);
    bare.commit = "\"ac7cbf341e8483c92c3977f110729bf44ceeb822\"";
    expect_refused(verdict_payload(&bare), CS_CODE_STATEMENT_SUBJECT);
    /* What may not be stated. */
    REFUSED(verdict_test_result, start, START("git+https://token@git.example.org/shop"), CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_test_result, start, START("git+\\u0000"), CS_CODE_STATEMENT_MALFORMED);
}

Test(verdict_read, a_result_is_what_the_rules_say) {
    GOOD(verdict_test_result, tail, verdict_rules("\"sources\"", "", ""));
    REFUSED(verdict_test_result, tail, verdict_rules("", "", ""), CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_test_result, tail, verdict_rules("\"sources\"", "", "\"protect\""), CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_test_result, tail, verdict_rules("\"sources\"", "\"protect\"", ""), CS_CODE_STATEMENT_MALFORMED);
    verdict_text failed = verdict_test_result();
    failed.head = "\"result\":\"FAILED\",\"configuration\":[{\"uri\":\"urn:countersign:gate-policy:v1\",\"digest\":{"
                  "\"sha256\":";
    expect_refused(verdict_payload(&failed), CS_CODE_STATEMENT_MALFORMED); /* no rule failed */
    failed.tail = verdict_rules("\"sources\"", "", "\"protect\"");
    cs_read_verdict read = read_good(&failed);
    cs_read_verdict_free(&read);
    failed.head = "\"result\":\"WARNED\",\"configuration\":[{\"uri\":\"urn:countersign:gate-policy:v1\",\"digest\":{"
                  "\"sha256\":";
    expect_refused(verdict_payload(&failed), CS_CODE_STATEMENT_MALFORMED);
    /* A summary's level says the same as its result. */
    GOOD(verdict_summary, tail, "}},\"verificationResult\":\"FAILED\",\"verifiedLevels\":[\"FAILED\"]}}");
    REFUSED(verdict_summary, tail,
            "}},\"verificationResult\":\"FAILED\",\"verifiedLevels\":[\"COUNTERSIGN_GATE_PASSED\"]}}",
            CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_summary, tail, "}},\"verificationResult\":\"PASSED\",\"verifiedLevels\":[\"FAILED\"]}}",
            CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_summary, tail, "}},\"verificationResult\":\"PASSED\",\"verifiedLevels\":[\"SLSA_BUILD_LEVEL_3\"]}}",
            CS_CODE_STATEMENT_MALFORMED);
}

#define ONES "{\"digest\":{\"sha256\":\"1111111111111111111111111111111111111111111111111111111111111111\"}}"
#define TWOS "{\"digest\":{\"sha256\":\"2222222222222222222222222222222222222222222222222222222222222222\"}}"
#define RESTS_ON(list)                                                                                                 \
    "}},\"inputAttestations\":[" list "],\"verificationResult\":\"PASSED\","                                           \
    "\"verifiedLevels\":[\"COUNTERSIGN_GATE_PASSED\"]}}"

Test(verdict_read, what_it_rests_on) {
    GOOD(verdict_summary, tail, RESTS_ON(ONES));
    GOOD(verdict_summary, tail, RESTS_ON(ONES "," TWOS));
    REFUSED(verdict_summary, tail, RESTS_ON(TWOS "," ONES), CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_summary, tail, RESTS_ON(ONES "," ONES), CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_summary, tail, RESTS_ON(""), CS_CODE_STATEMENT_NOT_REBUILT); /* none is left out */
    REFUSED(verdict_summary, tail, RESTS_ON("{\"digest\":{\"sha256\":\"11\"}}"), CS_CODE_STATEMENT_MALFORMED);
}

static char *inputs(unsigned count) {
    char *list = forge_text("%s", "");
    for (unsigned i = 0; i < count; i++)
        list = forge_text("%s%s{\"digest\":{\"sha256\":\"%064u\"}}", list, i > 0 ? "," : "", i);
    return forge_text("}},\"inputAttestations\":[%s],\"verificationResult\":\"PASSED\","
                      "\"verifiedLevels\":[\"COUNTERSIGN_GATE_PASSED\"]}}",
                      list);
}

Test(verdict_read, how_many_it_rests_on) {
    GOOD(verdict_summary, tail, inputs(512));
    REFUSED(verdict_summary, tail, inputs(513), CS_CODE_STATEMENT_MALFORMED);
}

Test(verdict_read, times) {
    GOOD(verdict_summary, head, SUMMARY_HEAD("urn:countersign:gate", "2026-09-21T13:33:20.000Z", URI));
    REFUSED(verdict_summary, head, SUMMARY_HEAD("urn:countersign:gate", "2026-09-21T13:33:20Z", URI),
            CS_CODE_STATEMENT_NOT_REBUILT);
    REFUSED(verdict_summary, head, SUMMARY_HEAD("urn:countersign:gate", "2026-09-31T13:33:20.000Z", URI),
            CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_summary, head, SUMMARY_HEAD("urn:countersign:other", VERDICT_TIME, URI),
            CS_CODE_STATEMENT_MALFORMED);
}

Test(verdict_read, members) {
    REFUSED(verdict_test_result, policy, "\"0123\"", CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_test_result, policy, "7", CS_CODE_STATEMENT_MALFORMED);
    /* Unknown, twice, in another place, missing. */
    REFUSED(verdict_test_result, tail,
            "}}],\"passedTests\":[\"a\"],\"warnedTests\":[],\"failedTests\":[],\"url\":\"x\"}}",
            CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_test_result, tail,
            "}}],\"passedTests\":[\"a\"],\"warnedTests\":[],\"failedTests\":[],\"failedTests\":[]}}",
            CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_test_result, tail, "}}],\"warnedTests\":[],\"passedTests\":[\"a\"],\"failedTests\":[]}}",
            CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_test_result, tail, "}}],\"passedTests\":[\"a\"],\"failedTests\":[]}}", CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_summary, tail,
            "}},\"verificationResult\":\"PASSED\",\"verifiedLevels\":[\"COUNTERSIGN_GATE_PASSED\"],\"slsaVersion\":\"1."
            "0\"}}",
            CS_CODE_STATEMENT_MALFORMED);
    /* Other ways to write the same. */
    REFUSED(verdict_test_result, tail, verdict_rules("\"sources\", \"protect\"", "", ""),
            CS_CODE_STATEMENT_NOT_REBUILT);
    REFUSED(verdict_test_result, tail, verdict_rules("\"s\\u006furces\"", "", ""), CS_CODE_STATEMENT_NOT_REBUILT);
    REFUSED(verdict_test_result, start, START("git+https://git.example.org/shop?a&b"), CS_CODE_STATEMENT_NOT_REBUILT);
    /* Names and lists. */
    REFUSED(verdict_test_result, tail, verdict_rules("\"tests bind\"", "", ""), CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_test_result, tail, verdict_rules("\"\"", "", ""), CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_test_result, tail, verdict_rules("\"a\",", "", ""), CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_test_result, tail, verdict_rules("\"a\"\"b\"", "", ""), CS_CODE_STATEMENT_MALFORMED);
    REFUSED(verdict_test_result, tail, verdict_rules("7", "", ""), CS_CODE_STATEMENT_MALFORMED);
}

/* It ends where it ends; and cut anywhere it is no statement. */
Test(verdict_read, every_prefix_and_what_follows) {
    const verdict_text both[] = {verdict_test_result(), verdict_summary()};
    for (size_t i = 0; i < 2; i++) {
        char *payload = verdict_payload(&both[i]);
        cs_read_verdict read;
        cs_error err = CS_ERROR_INIT;
        size_t len = strlen(payload);
        for (size_t cut = 0; cut < len; cut++)
            cr_expect_eq(cs_verdict_read(cs_view_bytes(payload, cut), &read, &err), CS_FAILED, "%zu", cut);
        expect_refused(forge_text("%s ", payload), CS_CODE_STATEMENT_MALFORMED);
        expect_refused(forge_text("%s}", payload), CS_CODE_STATEMENT_MALFORMED);
        expect_refused(forge_text(" %s", payload), CS_CODE_STATEMENT_TYPE);
        for (size_t at = 0; at < len; at++) {
            char was = payload[at];
            payload[at] = '\0';
            cr_expect_eq(cs_verdict_read(cs_view_bytes(payload, len), &read, &err), CS_FAILED, "%zu", at);
            payload[at] = was;
        }
    }
}

Test(verdict_read, the_largest) {
    char *rules = forge_text("\"%0120d\"", 0);
    verdict_text text = verdict_test_result();
    char *list = forge_text("%s", rules);
    while (strlen(list) < 64000)
        list = forge_text("%s,%s", list, rules);
    text.tail = verdict_rules(list, "", "");
    cs_read_verdict read = read_good(&text);
    cr_expect_gt(read.verdict.passed_rules.count, 500);
    cs_read_verdict_free(&read);
    while (strlen(list) <= CS_MAX_STATEMENT_BYTES)
        list = forge_text("%s,%s", list, rules);
    REFUSED(verdict_test_result, tail, verdict_rules(list, "", ""), CS_CODE_STATEMENT_MALFORMED);
}
