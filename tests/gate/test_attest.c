/* The two statements of a verdict, byte by byte, and what is not attested. */
#include <criterion/criterion.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gate/judge_internal.h"
#include "tests/gate/attest_case.h"
#include "tests/gate/repository.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"

#define KEY_ID "3dba97edb866520d36063a0d9f79576893f3b13014ae7061d7c3dba608b9ec6a"
#define REPOSITORY "https://git.example.org/team/shop?a&b"

/* The payload of the first or second line. */
static char *payload_of(const attest_case *a, size_t line) {
    const uint8_t *at = a->lines.ptr;
    const uint8_t *end = a->lines.ptr + a->lines.len;
    for (size_t i = 0; i < line; i++)
        at = (const uint8_t *)memchr(at, '\n', (size_t)(end - at)) + 1;
    const uint8_t *newline = memchr(at, '\n', (size_t)(end - at));
    cr_assert_not_null(newline);
    cs_envelope envelope;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_envelope_decode(cs_view_bytes(at, (size_t)(newline - at)), &envelope, &err), err);
    char *text = forge_text("%.*s", (int)envelope.payload.len, (const char *)envelope.payload.ptr);
    cs_envelope_free(&envelope);
    return text;
}

static char *envelope_line(const char *payload, const char *signature) {
    return forge_text("{\"payloadType\":\"application/vnd.in-toto+json\",\"payload\":\"%s\",\"signatures\":[{"
                      "\"keyid\":\"" KEY_ID "\",\"sig\":\"%s\"}]}\n",
                      forge_base64(payload, strlen(payload)), signature);
}

/* ---- byte by byte ------------------------------------------------------------------------------------------ */

/* Made apart from the code under test, as their signatures were. */
static const char passed_result[] =
    "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"git+https://git.example.org/"
    "team/shop?a\\u0026b\",\"digest\":{\"gitCommit\":\"bc7cbf341e8483c92c3977f110729bf44ceeb822\"}}],\"pr"
    "edicateType\":\"https://in-toto.io/attestation/test-result/v0.1\",\"predicate\":{\"result\":\"PASSED"
    "\",\"configuration\":[{\"uri\":\"urn:countersign:gate-policy:v1\",\"digest\":{\"sha256\":\"012345678"
    "9abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}}],\"passedTests\":[\"sources\",\"tests/se"
    "lected\",\"tests/provider\",\"tests/floor\",\"tests/software\",\"tests/sandbox-policy\",\"tests/gran"
    "ts\",\"tests/age\",\"tests/work\",\"tests/time-out\",\"tests/truncation\",\"tests/bind\",\"tests/com"
    "plete\",\"tests/tests\",\"tests/tests-of-base\",\"tests/count\",\"tests/reproduced\",\"tests/same-re"
    "sult\",\"tests/cross-check\",\"protect\"],\"warnedTests\":[],\"failedTests\":[]}}";
static const char passed_summary[] =
    "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"git+https://git.example.org/"
    "team/shop?a\\u0026b\",\"digest\":{\"gitCommit\":\"bc7cbf341e8483c92c3977f110729bf44ceeb822\"}}],\"pr"
    "edicateType\":\"https://slsa.dev/verification_summary/v1\",\"predicate\":{\"verifier\":{\"id\":\"urn"
    ":countersign:gate\"},\"timeVerified\":\"2026-09-21T14:23:20.000Z\",\"resourceUri\":\"git+https://git"
    ".example.org/team/shop?a\\u0026b\",\"policy\":{\"uri\":\"urn:countersign:gate-policy:v1\",\"digest\""
    ":{\"sha256\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}},\"inputAttestati"
    "ons\":[{\"digest\":{\"sha256\":\"11e2da0c700b95ba34d8bbe71a36200f3dbcc30f000364f9e836b786e0e716aa\"}"
    "},{\"digest\":{\"sha256\":\"b10aecf0b4519abf9c974715d1279c98fcaa98c643ef07358c8a447a8515f3d5\"}}],\""
    "verificationResult\":\"PASSED\",\"verifiedLevels\":[\"COUNTERSIGN_GATE_PASSED\"]}}";
static const char failed_result[] =
    "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"git+\",\"digest\":{\"gitComm"
    "it\":\"bc7cbf341e8483c92c3977f110729bf44ceeb822\"}}],\"predicateType\":\"https://in-toto.io/attestat"
    "ion/test-result/v0.1\",\"predicate\":{\"result\":\"FAILED\",\"configuration\":[{\"uri\":\"urn:counte"
    "rsign:gate-policy:v1\",\"digest\":{\"sha256\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123"
    "456789abcdef\"}}],\"passedTests\":[\"sources\",\"tests/selected\",\"tests/provider\",\"tests/floor\""
    ",\"tests/software\",\"tests/sandbox-policy\",\"tests/grants\",\"tests/age\",\"tests/work\",\"tests/t"
    "ime-out\",\"tests/truncation\",\"tests/bind\",\"tests/complete\",\"tests/tests\",\"tests/tests-of-ba"
    "se\",\"tests/same-result\",\"tests/cross-check\",\"protect\"],\"warnedTests\":[\"tests/reproduced\"]"
    ",\"failedTests\":[\"tests/count\"]}}";
static const char failed_summary[] =
    "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"git+\",\"digest\":{\"gitComm"
    "it\":\"bc7cbf341e8483c92c3977f110729bf44ceeb822\"}}],\"predicateType\":\"https://slsa.dev/verificati"
    "on_summary/v1\",\"predicate\":{\"verifier\":{\"id\":\"urn:countersign:gate\"},\"timeVerified\":\"202"
    "6-09-21T14:23:20.000Z\",\"resourceUri\":\"gitoid:commit:sha1:bc7cbf341e8483c92c3977f110729bf44ceeb82"
    "2\",\"policy\":{\"uri\":\"urn:countersign:gate-policy:v1\",\"digest\":{\"sha256\":\"0123456789abcdef"
    "0123456789abcdef0123456789abcdef0123456789abcdef\"}},\"inputAttestations\":[{\"digest\":{\"sha256\":"
    "\"b10aecf0b4519abf9c974715d1279c98fcaa98c643ef07358c8a447a8515f3d5\"}}],\"verificationResult\":\"FAI"
    "LED\",\"verifiedLevels\":[\"FAILED\"]}}";

#define SIG_PASSED_RESULT "tIw46Do6TWJRsqQE2JdCVPCV64I6g8FBqZB7LKeoQIXuRd5bNBnz55yUl1QreCYFvo+7YblxUhjFd7VHaJShCw=="
#define SIG_PASSED_SUMMARY "2dgTohLP7272DpYU4h4Gs0PpdRmCq8l1DwFJ6KS15fLAxfJCy1Hdhoz+aN1sg990CmwC8Vh09C0d7lxcRIp1BA=="
#define SIG_FAILED_RESULT "I7irGBmJJ4Gp9bz37KAO3eM5EYA/T0dcxgtuxZvFM/FHgxvdYayt57/tASRC7uWVwKaILgeH9Uw9tzo09MaDAw=="
#define SIG_FAILED_SUMMARY "tBlF1bXBXJzI4zsrszKnHYatBEKW9KWEOKRP1PYG9vk3Qx6pWw2//oZcdS2JnSIhP05ZsNlbqjGl/lIQXtvpAQ=="

static void expect_lines(const attest_case *a, const char *first, const char *second) {
    char *want = forge_text("%s%s", first, second);
    char *got = forge_text("%.*s", (int)a->lines.len, (const char *)a->lines.ptr);
    cr_expect_str_eq(got, want);
}

Test(gate_attest, a_pass_byte_by_byte) {
    attest_case a;
    attest_begin(&a);
    a.how.repository = REPOSITORY;
    gate_expect_passes(&a.gate, "good");
    EXPECT_OK(attest_lines(&a), a.err);
    cr_expect(a.made);
    cr_expect_str_eq(payload_of(&a, 0), passed_result);
    cr_expect_str_eq(payload_of(&a, 1), passed_summary);
    expect_lines(&a, envelope_line(passed_result, SIG_PASSED_RESULT),
                 envelope_line(passed_summary, SIG_PASSED_SUMMARY));
    attest_end(&a);
}

/* One run below the floor, so that one is too few, and there is nothing to reproduce it by; no address. */
static void refuse(attest_case *a) {
    a->gate.runs[0].isolation = "process";
    cr_assert_eq(gate_judge(&a->gate), CS_FAILED);
}

Test(gate_attest, a_refusal_byte_by_byte) {
    attest_case a;
    attest_begin(&a);
    refuse(&a);
    EXPECT_OK(attest_lines(&a), a.err);
    cr_expect(a.made);
    cr_expect_str_eq(payload_of(&a, 0), failed_result);
    cr_expect_str_eq(payload_of(&a, 1), failed_summary);
    expect_lines(&a, envelope_line(failed_result, SIG_FAILED_RESULT),
                 envelope_line(failed_summary, SIG_FAILED_SUMMARY));
    attest_end(&a);
}

/* libsodium's own word, and its refusal of the same with one byte changed. */
Test(gate_attest, the_signatures_are_good) {
    static const struct {
        const char *payload;
        const char *signature;
    } rows[] = {{passed_result, SIG_PASSED_RESULT},
                {passed_summary, SIG_PASSED_SUMMARY},
                {failed_result, SIG_FAILED_RESULT},
                {failed_summary, SIG_FAILED_SUMMARY}};
    forge_key key = forge_key_from(9);
    cr_expect_str_eq(key.id, KEY_ID);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *pae =
            forge_text("DSSEv1 28 application/vnd.in-toto+json %zu %s", strlen(rows[i].payload), rows[i].payload);
        uint8_t signature[64];
        size_t len = 0;
        cr_assert_eq(sodium_base642bin(signature, sizeof signature, rows[i].signature, strlen(rows[i].signature), NULL,
                                       &len, NULL, sodium_base64_VARIANT_ORIGINAL),
                     0);
        cr_assert_eq(len, 64);
        cr_expect_eq(crypto_sign_verify_detached(signature, (const uint8_t *)pae, strlen(pae), key.public_key), 0);
        pae[strlen(pae) - 3] ^= 1;
        cr_expect_neq(crypto_sign_verify_detached(signature, (const uint8_t *)pae, strlen(pae), key.public_key), 0);
    }
}

/* ---- what becomes of the rules ------------------------------------------------------------------------------- */

static void expect_states(attest_case *a, const char *result, const char *level, const char *failed) {
    EXPECT_OK(attest_lines(a), a->err);
    cr_assert(a->made);
    char *first = payload_of(a, 0);
    char *second = payload_of(a, 1);
    cr_expect_not_null(strstr(first, forge_text("\"predicate\":{\"result\":\"%s\",", result)), "%s", first);
    cr_expect_not_null(strstr(first, forge_text("\"failedTests\":[%s]}}", failed)), "%s", first);
    cr_expect_not_null(
        strstr(second, forge_text("\"verificationResult\":\"%s\",\"verifiedLevels\":[\"%s\"]}}", result, level)), "%s",
        second);
}

Test(gate_attest, a_pass_and_each_kind_of_refusal) {
    attest_case a;
    attest_begin(&a);
    gate_expect_passes(&a.gate, "good");
    expect_states(&a, "PASSED", "COUNTERSIGN_GATE_PASSED", "");

    /* A rule of the policy as a whole. */
    repository_write(a.gate.folder, ".gate/policy.json", "{ }\n", 4);
    gate_commit_again(&a.gate);
    cr_expect_eq(gate_judge(&a.gate), CS_FAILED);
    expect_states(&a, "FAILED", "FAILED", "\"protect\"");
    cr_expect_null(strstr(payload_of(&a, 0), "bc7cbf341e8483c92c3977f110729bf44ceeb822"), "another commit");
    attest_end(&a);
}

Test(gate_attest, a_source_that_does_not_verify) {
    attest_case a;
    attest_begin(&a);
    a.gate.sources = 2;
    forge_run run = forge_single();
    forge_key stranger = forge_key_from(8);
    forge_add(&a.gate.bundles[1], forge_run_line(&a.gate.key, &run));
    gate_expect_passes(&a.gate, "a second source");
    expect_states(&a, "PASSED", "COUNTERSIGN_GATE_PASSED", "");
    forge_remove(&a.gate.bundles[1], 0);
    forge_add(&a.gate.bundles[1], forge_run_line(&stranger, &run));
    cr_expect_eq(gate_judge(&a.gate), CS_FAILED);
    cr_expect_eq(a.gate.verdict.refusals, 0);
    expect_states(&a, "FAILED", "FAILED", "\"sources\"");
    attest_end(&a);
}

/* That nothing was there to be judged is a refusal, too. */
Test(gate_attest, no_record_at_all) {
    attest_case a;
    attest_begin(&a);
    a.gate.requirement.step.ptr = (const uint8_t *)"make test";
    a.gate.requirement.step.len = 9;
    cr_expect_eq(gate_judge(&a.gate), CS_NOTHING);
    expect_states(&a, "FAILED", "FAILED", "\"tests/selected\"");
    cr_expect_null(strstr(payload_of(&a, 1), "inputAttestations"));
    cr_expect_not_null(strstr(payload_of(&a, 0), "\"warnedTests\":[\"tests/provider\","));
    attest_end(&a);
}

Test(gate_attest, two_requirements_name_each_input_once) {
    attest_case a;
    attest_begin(&a);
    cs_policy_requirement two[2] = {a.gate.requirement, a.gate.requirement};
    (void)snprintf(two[1].name, sizeof two[1].name, "%s", "again");
    a.gate.policy.requirements = two;
    a.gate.policy.requirement_count = 2;
    gate_expect_passes(&a.gate, "two");
    EXPECT_OK(attest_lines(&a), a.err);
    char *result = payload_of(&a, 0);
    cr_expect_not_null(strstr(result, "\"tests/cross-check\",\"again/selected\","), "%s", result);
    char *summary = payload_of(&a, 1);
    const char *inputs = strstr(summary, "\"inputAttestations\":[");
    cr_assert_not_null(inputs);
    cr_expect_eq(memcmp(inputs, strstr(passed_summary, "\"inputAttestations\":["), 21 + 89 + 1 + 89), 0, "%s", inputs);
    attest_end(&a);
}

/* So many as may be named, and one more: then none is, since a list that is there must be complete. */
Test(gate_attest, too_many_inputs_are_left_out) {
    attest_case a;
    attest_begin(&a);
    gate_expect_passes(&a.gate, "good");
    cs_gate_tally *tally = &a.gate.verdict.evidence->tallies[0];
    free(tally->kept);
    tally->kept = calloc(513, sizeof *tally->kept);
    cr_assert_not_null(tally->kept);
    for (size_t i = 0; i < 513; i++) {
        tally->kept[i].envelope[0] = (uint8_t)(i >> 8);
        tally->kept[i].envelope[1] = (uint8_t)i;
    }
    tally->count = 512;
    EXPECT_OK(attest_lines(&a), a.err);
    char *summary = payload_of(&a, 1);
    cr_expect_not_null(strstr(summary, "\"sha256\":\"01ff0000"));
    tally->count = 513;
    EXPECT_OK(attest_lines(&a), a.err);
    cr_expect_null(strstr(payload_of(&a, 1), "inputAttestations"));
    /* The twin: the last is the first again. */
    memset(tally->kept[512].envelope, 0, sizeof tally->kept[512].envelope);
    EXPECT_OK(attest_lines(&a), a.err);
    cr_expect_str_eq(payload_of(&a, 1), summary);
    attest_end(&a);
}

/* ---- what is not attested ------------------------------------------------------------------------------------- */

Test(gate_attest, no_verdict_no_attestation) {
    attest_case a;
    attest_begin(&a);
    a.gate.more[0] = "/nowhere/at/all.jsonl";
    a.gate.more_count = 1;
    cr_expect_eq(gate_judge(&a.gate), CS_UNCHECKED);
    EXPECT_OK(attest_file(&a), a.err);
    cr_expect_not(a.made);
    cr_expect_neq(access(a.path, F_OK), 0);
    /* Also not when a rule is refused beside it: not all was looked at. */
    a.gate.runs[0].isolation = "process";
    cr_expect_eq(gate_judge(&a.gate), CS_UNCHECKED);
    cr_expect_gt(a.gate.verdict.refusals, 0);
    EXPECT_OK(attest_file(&a), a.err);
    cr_expect_not(a.made);
    cr_expect_neq(access(a.path, F_OK), 0);
    /* The twin: without the source that can't be read. */
    a.gate.more_count = 0;
    cr_expect_eq(gate_judge(&a.gate), CS_FAILED);
    EXPECT_OK(attest_file(&a), a.err);
    cr_expect(a.made);
    cr_expect_eq(access(a.path, F_OK), 0);
    attest_end(&a);
}

Test(gate_attest, it_is_about_a_commit) {
    attest_case a;
    attest_begin(&a);
    gate_expect_passes(&a.gate, "good");
    cs_gate_options without = a.gate.options;
    EXPECT_OK(cs_gate_attest_ready(&without, &a.how, &a.err), a.err);
    without.rev = NULL;
    EXPECT_CODE(cs_gate_attest_ready(&without, &a.how, &a.err), a.err, CS_USAGE, CS_CODE_USAGE);
    a.err = CS_ERROR_INIT;
    EXPECT_CODE(cs_gate_attest(&without, &a.gate.verdict, &a.how, &a.done, &a.err), a.err, CS_USAGE, CS_CODE_USAGE);
    cr_expect_not(a.done.made);
    cr_expect_neq(access(a.path, F_OK), 0);
    attest_end(&a);
}

/* What passed without being of the commit is not signed as being about it, whichever requirement it is. */
Test(gate_attest, a_requirement_without_a_bind) {
    attest_case a;
    attest_begin(&a);
    cs_policy_requirement two[2] = {a.gate.requirement, a.gate.requirement};
    (void)snprintf(two[1].name, sizeof two[1].name, "again");
    a.gate.policy.requirements = two;
    a.gate.policy.requirement_count = 2;
    gate_expect_passes(&a.gate, "two that bind");
    EXPECT_OK(cs_gate_attest_ready(&a.gate.options, &a.how, &a.err), a.err);
    two[1].bind_count = 0;
    two[1].tests.not_fewer_than_base = false;
    gate_expect_passes(&a.gate, "one that does not");
    EXPECT_CODE(cs_gate_attest_ready(&a.gate.options, &a.how, &a.err), a.err, CS_FAILED, CS_CODE_GATE_UNBOUND);
    cr_expect_not_null(strstr(a.err.message, "the requirement again binds its runs to no commit"));
    EXPECT_CODE(attest_lines(&a), a.err, CS_FAILED, CS_CODE_GATE_UNBOUND);
    cr_expect_eq(a.lines.len, 0);
    EXPECT_CODE(attest_file(&a), a.err, CS_FAILED, CS_CODE_GATE_UNBOUND);
    cr_expect_neq(access(a.path, F_OK), 0);
    attest_end(&a);
}

Test(gate_attest, no_secret_of_an_address_is_stated_or_told) {
    attest_case a;
    attest_begin(&a);
    gate_expect_passes(&a.gate, "good");
    a.how.repository = "https://git@git.example.org/shop";
    EXPECT_OK(cs_gate_attest_ready(&a.gate.options, &a.how, &a.err), a.err);
    EXPECT_OK(attest_lines(&a), a.err);
    a.how.repository = "https://gti@git.example.org/shop";
    EXPECT_CODE(cs_gate_attest_ready(&a.gate.options, &a.how, &a.err), a.err, CS_USAGE, CS_CODE_USAGE);
    cr_expect_null(strstr(a.err.message, "gti"));
    cr_expect_str_eq(a.err.found, "");
    EXPECT_CODE(attest_lines(&a), a.err, CS_USAGE, CS_CODE_USAGE);
    cr_expect_eq(a.lines.len, 0);
    attest_end(&a);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

Test(gate_attest, a_new_file_with_both_lines) {
    attest_case a;
    attest_begin(&a);
    gate_expect_passes(&a.gate, "good");
    EXPECT_OK(attest_lines(&a), a.err);
    EXPECT_OK(attest_file(&a), a.err);
    cr_expect(a.made);
    size_t len = 0;
    char *bytes = file_read(a.path, &len);
    cr_assert_not_null(bytes);
    cr_expect_eq(len, a.lines.len);
    cr_expect_eq(memcmp(bytes, a.lines.ptr, a.lines.len), 0);
    free(bytes);
    cr_expect_eq(folder_count(a.folder), 2, "the key and this");
    attest_end(&a);
}

Test(gate_attest, no_file_is_replaced) {
    attest_case a;
    attest_begin(&a);
    gate_expect_passes(&a.gate, "good");
    file_write(a.path, "mine\n", 5);
    EXPECT_CODE(cs_gate_attest_ready(&a.gate.options, &a.how, &a.err), a.err, CS_UNCHECKED, CS_CODE_IO);
    EXPECT_CODE(attest_file(&a), a.err, CS_UNCHECKED, CS_CODE_IO);
    cr_expect_not(a.made);
    cr_expect_str_eq(a.err.where, a.path);
    size_t len = 0;
    char *bytes = file_read(a.path, &len);
    cr_expect_str_eq(bytes, "mine\n");
    free(bytes);
    cr_expect_eq(folder_count(a.folder), 2);
    /* A link that leads nowhere is in its place, too. */
    cr_assert_eq(unlink(a.path), 0);
    cr_assert_eq(symlink("elsewhere", a.path), 0);
    EXPECT_CODE(cs_gate_attest_ready(&a.gate.options, &a.how, &a.err), a.err, CS_UNCHECKED, CS_CODE_IO);
    EXPECT_CODE(attest_file(&a), a.err, CS_UNCHECKED, CS_CODE_IO);
    cr_expect_eq(folder_count(a.folder), 2);
    cr_assert_eq(unlink(a.path), 0);
    EXPECT_OK(attest_file(&a), a.err);
    attest_end(&a);
}

Test(gate_attest, a_path_that_leads_nowhere) {
    attest_case a;
    attest_begin(&a);
    gate_expect_passes(&a.gate, "good");
    a.how.path = "/nowhere/at/all/verdict.jsonl";
    EXPECT_CODE(attest_file(&a), a.err, CS_UNCHECKED, CS_CODE_IO);
    a.how.path = a.folder;
    EXPECT_CODE(attest_file(&a), a.err, CS_UNCHECKED, CS_CODE_IO);
    char *folder = forge_text("%s/", a.folder);
    a.how.path = folder;
    EXPECT_CODE(attest_file(&a), a.err, CS_UNCHECKED, CS_CODE_IO);
    cr_expect_eq(folder_count(a.folder), 1);
    attest_end(&a);
}

/* ---- as a source ----------------------------------------------------------------------------------------------- */

/* It holds no run, so it adds none; alone it is nothing to judge by. */
Test(gate_attest, it_is_no_source_of_runs) {
    attest_case a;
    attest_begin(&a);
    gate_expect_passes(&a.gate, "good");
    EXPECT_OK(attest_file(&a), a.err);
    a.gate.more[0] = a.path;
    a.gate.more_count = 1;
    gate_expect_passes(&a.gate, "beside");
    cr_expect_eq(a.gate.verdict.records, 3);
    a.gate.run_count = 0;
    a.gate.sources = 0;
    cr_expect_eq(gate_judge(&a.gate), CS_NOTHING);
    cr_expect_eq(a.gate.verdict.err.code, CS_CODE_GATE_NOTHING);
    cr_expect_eq(a.gate.verdict.records, 0);
    attest_end(&a);
}
