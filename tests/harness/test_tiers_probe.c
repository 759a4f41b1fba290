/* harness/probe.h: what is sent, and reading what comes back, which is a stranger's. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/probe.h"
#include "records/request.h"
#include "records/text.h"
#include "tests/support/expect.h"

#define NONCE "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
/* The first 32 digits of sha256sum over "countersign.tier-token.v1", a newline and the nonce. */
#define TOKEN "730508314bbae22348c1e79073823f01"

#define BEFORE_MSEAL                                                                                                   \
    "{\"probe\":\"countersign.tier-probe.v1\",\"form\":\"program\",\"release\":\"6.1.0\",\"version\":\"#1 SMP\","      \
    "\"boot_id\":null,\"clock_us\":-5,\"pid_ns\":4026531836,\"ipc_ns\":null,\"seccomp\":2,\"no_new_privs\":1,"         \
    "\"capable\":0,\"kernel_log_gvisor\":null,\"loopback\":111,\"canary\":null,\"no_call\":38,"
#define AFTER_MSEAL                                                                                                    \
    "\"file_getattr\":38,\"vmsplice\":9,\"remap_file_pages\":22,\"landlock_abi\":-38,"                                 \
    "\"hypervisor\":\"TCGTCGTCGTCG\",\"processes\":[1,2,65535]}"
#define LINE BEFORE_MSEAL "\"mseal\":22," AFTER_MSEAL
/* sha256sum over "countersign.tier-probe.v1", a newline, the nonce, a newline and LINE. */
#define DIGEST "4b84e2f506faf3aafc000082726ad7e2d117aa8a2db844a366a77ac528771d00"

static const cs_probe_order order = {.form = CS_PROBE_PROGRAM, .nonce = NONCE, .hold_ms = 100};

/* The digest that goes with a line, so that what is refused is refused for the line. */
static cs_result read_line(const char *line, cs_probe_facts *facts, cs_error *err) {
    CS_AUTO_BUF text = CS_BUF_INIT(1 << 20);
    cs_digest digest;
    cr_assert(cs_buf_text(&text, "countersign.tier-probe.v1\n" NONCE "\n") && cs_buf_text(&text, line));
    cr_assert(cs_sha256_once(cs_buf_view(&text), &digest));
    cs_buf_clear(&text);
    cr_assert(cs_buf_printf(&text, "%s\n%s\n", line, digest.hex));
    return cs_probe_read(&order, cs_buf_view(&text), facts, err);
}

static void expect_malformed(const char *line, const char *where) {
    cs_probe_facts facts;
    cs_error err = CS_ERROR_INIT;
    cs_result result = read_line(line, &facts, &err);
    cr_expect_eq(result, CS_UNCHECKED, "%s", line);
    cr_expect_eq(err.code, CS_CODE_TIER_PROBE, "%s: %s: %s", line, cs_code_name(err.code), err.message);
    cr_expect_str_eq(err.where, where, "%s", line);
    cr_expect_eq(facts.process_samples, 0);
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

Test(tiers_probe, a_good_answer_is_read) {
    cs_probe_facts facts;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_probe_read(&order, cs_view_of(LINE "\n" DIGEST "\n"), &facts, &err), err);
    cr_expect_str_eq(facts.release, "6.1.0");
    cr_expect_str_eq(facts.version, "#1 SMP");
    cr_expect_str_eq(facts.boot_id, "");
    cr_expect_eq(facts.clock_us, -5);
    cr_expect_eq(facts.pid_ns, 4026531836);
    cr_expect_eq(facts.ipc_ns, CS_PROBE_UNKNOWN);
    cr_expect_eq(facts.seccomp, 2);
    cr_expect_eq(facts.kernel_log_gvisor, CS_SIGN_UNKNOWN);
    cr_expect_eq(facts.mseal, 22);
    cr_expect_eq(facts.landlock_abi, -38);
    cr_expect_str_eq(facts.hypervisor, "TCGTCGTCGTCG");
    cr_expect_eq(facts.process_samples, 3);
    cr_expect_eq(facts.processes[2], 65535);
    EXPECT_OK(read_line(LINE, &facts, &err), err);
}

/* A recording has another nonce's digest; a changed answer has the digest of what it was. */
Test(tiers_probe, another_digest_is_no_answer_of_this_run) {
    cs_probe_facts facts;
    cs_error err = CS_ERROR_INIT;
    cs_probe_order other = order;
    other.nonce[0] = 'f';
    EXPECT_CODE(cs_probe_read(&other, cs_view_of(LINE "\n" DIGEST "\n"), &facts, &err), err, CS_FAILED,
                CS_CODE_TIER_NONCE);
    EXPECT_CODE(
        cs_probe_read(&order, cs_view_of(BEFORE_MSEAL "\"mseal\":38," AFTER_MSEAL "\n" DIGEST "\n"), &facts, &err), err,
        CS_FAILED, CS_CODE_TIER_NONCE);
}

Test(tiers_probe, the_output_is_two_lines_and_nothing_else) {
    static const char *const wrong[] = {
        "",
        "\n",
        LINE,
        LINE "\n",
        LINE "\n" DIGEST,
        LINE "\n" DIGEST "\n\n",
        "\n" LINE "\n" DIGEST "\n",
        LINE "\n" DIGEST "\n" DIGEST "\n",
        LINE " " DIGEST "\n",
        LINE "\n4B84E2F506FAF3AAFC000082726AD7E2D117AA8A2DB844A366A77AC528771D00\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cs_probe_facts facts;
        cs_error err = CS_ERROR_INIT;
        EXPECT_CODE(cs_probe_read(&order, cs_view_of(wrong[i]), &facts, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    }
}

Test(tiers_probe, more_than_the_bound_is_refused) {
    char *text = malloc(CS_PROBE_MAX_ANSWER + 2);
    cr_assert_not_null(text);
    memset(text, ' ', CS_PROBE_MAX_ANSWER + 1);
    text[CS_PROBE_MAX_ANSWER + 1] = '\0';
    memcpy(text + CS_PROBE_MAX_ANSWER + 1 - 66, "\n" DIGEST "\n", 66);
    cs_probe_facts facts;
    cs_error err = CS_ERROR_INIT;
    EXPECT_CODE(cs_probe_read(&order, cs_view_of(text), &facts, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    /* One byte less is only a wrong digest. */
    EXPECT_CODE(cs_probe_read(&order, cs_view_of(text + 1), &facts, &err), err, CS_FAILED, CS_CODE_TIER_NONCE);
    free(text);
}

Test(tiers_probe, members_are_exact) {
    expect_malformed(BEFORE_MSEAL AFTER_MSEAL, "");                              /* one is missing */
    expect_malformed(BEFORE_MSEAL "\"mseal\":22,\"more\":1," AFTER_MSEAL, "");   /* one more */
    expect_malformed(BEFORE_MSEAL "\"other\":22," AFTER_MSEAL, "mseal");         /* another name */
    expect_malformed(BEFORE_MSEAL "\"mseal\":22,\"mseal\":38," AFTER_MSEAL, ""); /* twice */
    expect_malformed(BEFORE_MSEAL "\"mseal\":\"22\"," AFTER_MSEAL, "mseal");
    expect_malformed(BEFORE_MSEAL "\"mseal\":22.0," AFTER_MSEAL, "mseal");
    expect_malformed(BEFORE_MSEAL "\"mseal\":true," AFTER_MSEAL, "mseal");
    expect_malformed(BEFORE_MSEAL "\"mseal\":9007199254740993," AFTER_MSEAL, "mseal");
    expect_malformed(BEFORE_MSEAL "\"mseal\":-9007199254740993," AFTER_MSEAL, "mseal");
    expect_malformed(BEFORE_MSEAL "\"mseal\":99999999999999999999," AFTER_MSEAL, ""); /* no number of JSON's reader */
    expect_malformed("[1]", "");
    expect_malformed(LINE " x", "");
    expect_malformed("\xff" LINE, "");
    cs_probe_facts facts;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(read_line(BEFORE_MSEAL "\"mseal\":null," AFTER_MSEAL, &facts, &err), err);
    cr_expect_eq(facts.mseal, CS_PROBE_UNKNOWN);
}

/* The line with one of its members changed. */
static const char *line_with(const char *member, const char *changed) {
    static char line[2048];
    const char *at = strstr(LINE, member);
    cr_assert_not_null(at, "%s", member);
    (void)snprintf(line, sizeof line, "%.*s%s%s", (int)(at - LINE), LINE, changed, at + strlen(member));
    return line;
}

Test(tiers_probe, numbers_that_no_kernel_gives) {
    static const struct {
        const char *name;
        const char *now;
        const char *least; /* each of them good, and the ones beside them not */
        const char *most;
        const char *below;
        const char *above;
    } numbers[] = {
        {"clock_us", "\"clock_us\":-5", "-9007199254740992", "9007199254740992", "-9007199254740993",
         "9007199254740993"},
        {"pid_ns", "\"pid_ns\":4026531836", "1", "4294967295", "0", "4294967296"},
        {"ipc_ns", "\"ipc_ns\":null", "1", "4294967295", "0", "4294967296"},
        {"seccomp", "\"seccomp\":2", "0", "2", "-1", "3"},
        {"no_new_privs", "\"no_new_privs\":1", "0", "1", "-1", "2"},
        {"capable", "\"capable\":0", "0", "1", "-1", "2"},
        {"loopback", "\"loopback\":111", "0", "4095", "-1", "4096"},
        {"no_call", "\"no_call\":38", "0", "4095", "-1", "4096"},
        {"mseal", "\"mseal\":22", "0", "4095", "-1", "4096"},
        {"file_getattr", "\"file_getattr\":38", "0", "4095", "-1", "4096"},
        {"vmsplice", "\"vmsplice\":9", "0", "4095", "-1", "4096"},
        {"remap_file_pages", "\"remap_file_pages\":22", "0", "4095", "-1", "4096"},
        {"landlock_abi", "\"landlock_abi\":-38", "-4095", "32767", "-4096", "32768"},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const char *const good[] = {"null", numbers[i].least, numbers[i].most};
        const char *const bad[] = {numbers[i].below, numbers[i].above};
        char member[64];
        for (size_t j = 0; j < 3; j++) {
            cs_probe_facts facts;
            cs_error err = CS_ERROR_INIT;
            (void)snprintf(member, sizeof member, "\"%s\":%s", numbers[i].name, good[j]);
            EXPECT_OK(read_line(line_with(numbers[i].now, member), &facts, &err), err);
        }
        for (size_t j = 0; j < 2; j++) {
            (void)snprintf(member, sizeof member, "\"%s\":%s", numbers[i].name, bad[j]);
            expect_malformed(line_with(numbers[i].now, member), numbers[i].name);
        }
    }
}

/* The good line with one part replaced. */
static char *replaced(const char *part, const char *by) {
    const char *at = strstr(LINE, part);
    cr_assert_not_null(at);
    size_t size = sizeof LINE + strlen(by) + 1;
    char *text = malloc(size);
    cr_assert_not_null(text);
    (void)snprintf(text, size, "%.*s%s%s", (int)(strlen(LINE) - strlen(at)), LINE, by, at + strlen(part));
    return text;
}

static void expect_replaced_malformed(const char *part, const char *by, const char *where) {
    char *text = replaced(part, by);
    expect_malformed(text, where);
    free(text);
}

Test(tiers_probe, kind_form_texts_and_samples_are_bounded) {
    expect_replaced_malformed("tier-probe.v1", "tier-probe.v2", "");
    expect_replaced_malformed("\"form\":\"program\"", "\"form\":\"script\"", "");
    expect_replaced_malformed("\"form\":\"program\"", "\"form\":1", "");
    expect_replaced_malformed("\"6.1.0\"", "6", "release");
    expect_replaced_malformed("\"6.1.0\"", "\"6.1\\u0000\"", "");
    expect_replaced_malformed("\"kernel_log_gvisor\":null", "\"kernel_log_gvisor\":0", "kernel_log_gvisor");
    expect_replaced_malformed("[1,2,65535]", "[1,-2]", "processes");
    expect_replaced_malformed("[1,2,65535]", "[4294967296]", "processes");
    expect_replaced_malformed("[1,2,65535]", "[1,null]", "processes");
    expect_replaced_malformed("[1,2,65535]", "{}", "processes");
    char text[CS_PROBE_TEXT + 4];
    memset(text, 'x', sizeof text);
    text[0] = text[CS_PROBE_TEXT + 2] = '"';
    text[CS_PROBE_TEXT + 3] = '\0';
    expect_replaced_malformed("\"6.1.0\"", text, "release");
    text[CS_PROBE_TEXT + 1] = '"';
    text[CS_PROBE_TEXT + 2] = '\0';
    char *longest = replaced("\"6.1.0\"", text);
    cs_probe_facts facts;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(read_line(longest, &facts, &err), err);
    cr_expect_eq(strlen(facts.release), CS_PROBE_TEXT);
    free(longest);
}

Test(tiers_probe, one_sample_too_many_is_refused) {
    CS_AUTO_BUF samples = CS_BUF_INIT(4096);
    cr_assert(cs_buf_text(&samples, "[1"));
    for (size_t i = 1; i < CS_PROBE_SAMPLES; i++)
        cr_assert(cs_buf_text(&samples, ",1"));
    cr_assert(cs_buf_append(&samples, "]\0", 2));
    char *most = replaced("[1,2,65535]", (const char *)samples.ptr);
    cs_probe_facts facts;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(read_line(most, &facts, &err), err);
    cr_expect_eq(facts.process_samples, CS_PROBE_SAMPLES);
    free(most);
    samples.len -= 2;
    cr_assert(cs_buf_append(&samples, ",1]\0", 4));
    expect_replaced_malformed("[1,2,65535]", (const char *)samples.ptr, "processes");
}

/* ---- the output of a run ------------------------------------------------------------------------------------- */

Test(tiers_probe, only_a_good_end_has_an_output) {
    Plimsoll__V1__JavaScriptResult script = PLIMSOLL__V1__JAVA_SCRIPT_RESULT__INIT;
    cs_run_response response = PLIMSOLL__V1__RUN_RESPONSE__INIT;
    cs_view output;
    cs_error err = CS_ERROR_INIT;
    script.stdout = borrow("out");
    response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT;
    response.javascript = &script;
    EXPECT_OK(cs_probe_output(CS_PROBE_SCRIPT, &response, &output, &err), err);
    cr_expect(cs_view_is(output, "out"));
    EXPECT_CODE(cs_probe_output(CS_PROBE_PROGRAM, &response, &output, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    script.exit_code = 1;
    EXPECT_CODE(cs_probe_output(CS_PROBE_SCRIPT, &response, &output, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    script.exit_code = 0;
    script.stdout_truncated = true;
    EXPECT_CODE(cs_probe_output(CS_PROBE_SCRIPT, &response, &output, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    script.stdout_truncated = false;
    script.timed_out = true;
    EXPECT_CODE(cs_probe_output(CS_PROBE_SCRIPT, &response, &output, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    cr_expect_eq(output.len, 0);
}

Test(tiers_probe, a_project_has_one_good_step) {
    Plimsoll__V1__StepResult step = PLIMSOLL__V1__STEP_RESULT__INIT;
    Plimsoll__V1__StepResult *steps[] = {&step, &step};
    Plimsoll__V1__ProjectResult project = PLIMSOLL__V1__PROJECT_RESULT__INIT;
    cs_run_response response = PLIMSOLL__V1__RUN_RESPONSE__INIT;
    cs_view output;
    cs_error err = CS_ERROR_INIT;
    step.stdout = borrow("out");
    project.outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED;
    project.n_steps = 1;
    project.steps = steps;
    response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT;
    response.project = &project;
    EXPECT_OK(cs_probe_output(CS_PROBE_PROGRAM, &response, &output, &err), err);
    cr_expect(cs_view_is(output, "out"));
    project.n_steps = 2;
    EXPECT_CODE(cs_probe_output(CS_PROBE_PROGRAM, &response, &output, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    project.n_steps = 1;
    project.outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_SETUP_FAILED;
    EXPECT_CODE(cs_probe_output(CS_PROBE_PROGRAM, &response, &output, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    project.outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED;
    step.exit_code = 126;
    EXPECT_CODE(cs_probe_output(CS_PROBE_PROGRAM, &response, &output, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    step.exit_code = 0;
    step.timed_out = true;
    EXPECT_CODE(cs_probe_output(CS_PROBE_PROGRAM, &response, &output, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    step.timed_out = false;
    step.stdout_truncated = true;
    EXPECT_CODE(cs_probe_output(CS_PROBE_PROGRAM, &response, &output, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
}

/* ---- what is sent ------------------------------------------------------------------------------------------------ */

Test(tiers_probe, the_token_is_made_of_the_nonce) {
    char token[CS_PROBE_TOKEN_DIGITS + 1];
    cr_assert(cs_probe_token(&order, token));
    cr_expect_str_eq(token, TOKEN);
}

Test(tiers_probe, each_order_has_a_nonce_of_its_own) {
    cs_probe_order one, two;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_probe_order_new(CS_PROBE_SCRIPT, 5, &one, &err), err);
    EXPECT_OK(cs_probe_order_new(CS_PROBE_SCRIPT, 5, &two, &err), err);
    cr_expect(cs_is_hex(cs_view_of(one.nonce), CS_PROBE_NONCE_DIGITS), "%s", one.nonce);
    cr_expect_str_neq(one.nonce, two.nonce);
    cr_expect_null(one.canary);
    cr_expect_eq(one.port, 0);
}

static bool holds(const ProtobufCBinaryData *field, const char *part) {
    return field->len > 0 && memmem(field->data, field->len, part, strlen(part)) != NULL;
}

/* Both requests pass the limits of any daemon, hold the nonce, and hold the token nowhere. */
Test(tiers_probe, requests_are_sendable_and_do_not_give_the_token_away) {
    for (cs_probe_form form = CS_PROBE_SCRIPT; form < CS_PROBE_FORMS; form++) {
        cs_probe_order given = order;
        given.form = form;
        given.canary = "/var/tmp/some-file";
        given.port = 4711;
        cs_run_request *request = NULL;
        cs_error err = CS_ERROR_INIT;
        EXPECT_OK(cs_probe_request(&given, cs_view_of("container"), &request, &err), err);
        request->protocol = 3;
        EXPECT_OK(cs_request_validate(request, false, &err), err);
        cr_expect(cs_view_is(cs_bytes_view(&request->minimum_isolation), "container"));
        CS_AUTO_BUF bytes = CS_BUF_INIT(1 << 20);
        EXPECT_OK(cs_message_encode(&request->base, &bytes, &err), err);
        cr_expect_lt(bytes.len, 65536);
        ProtobufCBinaryData all = {.data = bytes.ptr, .len = bytes.len};
        cr_expect(holds(&all, NONCE));
        cr_expect_not(holds(&all, TOKEN));
        cr_expect(holds(&all, "/var/tmp/some-file"));
        cr_expect(holds(&all, "4711"));
        cs_message_free(request);
    }
}

Test(tiers_probe, a_path_that_needs_quoting_is_refused) {
    static const char *const paths[] = {"/tmp/a b", "/tmp/$x", "/tmp/\"", "/tmp/\n", "tmp/x", "/", ""};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        cs_probe_order given = order;
        given.canary = paths[i];
        cs_run_request *request = NULL;
        cs_error err = CS_ERROR_INIT;
        EXPECT_CODE(cs_probe_request(&given, cs_view_of(""), &request, &err), err, CS_UNCHECKED, CS_CODE_INTERNAL);
        cr_expect_null(request);
    }
}

Test(tiers_probe, the_program_is_an_executable) {
    cs_view program = cs_probe_program();
    cr_assert_gt(program.len, 1000);
    cr_expect_lt(program.len, 32768);
    cr_expect_eq(memcmp(program.ptr,
                        "\x7f"
                        "ELF",
                        4),
                 0);
}
