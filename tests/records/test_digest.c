/* Digests against literals: published vectors of every kind, and cases of our own that were computed
 * apart from this code from the rules of docs/FORMAT.md. */
#include <criterion/criterion.h>
#include <string.h>

#include "records/digest.h"
#include "tests/support/expect.h"

#define IDENTITY_A "oci-manifest:linux/amd64@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define IDENTITY_B "oci-manifest:linux/amd64@sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void expect_request(const cs_run_request *request, const char *hex) {
    cs_error err = CS_ERROR_INIT;
    cs_digest digest;
    EXPECT_OK(cs_digest_request(request, &digest, &err), err);
    cr_assert_str_eq(digest.hex, hex);
}

static void expect_result(const cs_run_response *response, const char *hex) {
    cs_error err = CS_ERROR_INIT;
    cs_digest digest;
    EXPECT_OK(cs_digest_result(response, &digest, &err), err);
    cr_assert_str_eq(digest.hex, hex);
}

static void expect_record(const cs_run_record *record, const char *hex) {
    cs_error err = CS_ERROR_INIT;
    cs_digest digest;
    EXPECT_OK(cs_digest_record(record, &digest, &err), err);
    cr_assert_str_eq(digest.hex, hex);
}

/* ---- requests ------------------------------------------------------------------------------------- */

static void set_rule(cs_run_request *request, cs_software_rule *rule, ProtobufCBinaryData identities[2]) {
    identities[0] = borrow(IDENTITY_A);
    identities[1] = borrow(IDENTITY_B);
    *rule = (cs_software_rule)PLIMSOLL__V1__SOFTWARE_RULE__INIT;
    rule->mode = borrow("approved");
    rule->identities = identities;
    rule->n_identities = 2;
    request->software_rule = rule;
}

Test(records_digest, javascript_requests) {
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    Plimsoll__V1__JavaScriptRun run = PLIMSOLL__V1__JAVA_SCRIPT_RUN__INIT;
    run.code = borrow("console.log(1+1)");
    request.protocol = 1;
    request.minimum_isolation = borrow("container");
    request.trace_id = borrow("t-1");
    request.timeout_ms = 5000;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    request.javascript = &run;
    expect_request(&request, "585a1b46c55ebacc1dfdd4336e302328c32ed3e2e7e8a8b460d252d0454be8fc");
    /* The trace id is in no digest, so every attempt has the same one. */
    request.trace_id = borrow("another");
    expect_request(&request, "585a1b46c55ebacc1dfdd4336e302328c32ed3e2e7e8a8b460d252d0454be8fc");

    cs_software_rule rule;
    ProtobufCBinaryData identities[2];
    set_rule(&request, &rule, identities);
    /* Protocol 1 has no rule in its digest. */
    expect_request(&request, "585a1b46c55ebacc1dfdd4336e302328c32ed3e2e7e8a8b460d252d0454be8fc");
    request.protocol = 2;
    expect_request(&request, "0b662d4687a062429ab0be85c2445e6c0c9d402922ca223b74e3a1095da7d320");
}

Test(records_digest, project_requests) {
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    cs_project_file main_file = PLIMSOLL__V1__PROJECT_FILE__INIT;
    cs_project_file lib_file = PLIMSOLL__V1__PROJECT_FILE__INIT;
    cs_project_file *files[] = {&main_file, &lib_file};
    ProtobufCBinaryData steps[] = {borrow("node main.js > out.txt"), borrow("cat out.txt")};
    ProtobufCBinaryData artifacts[] = {borrow("out.txt")};
    Plimsoll__V1__ProjectRun run = PLIMSOLL__V1__PROJECT_RUN__INIT;
    main_file.path = borrow("main.js");
    main_file.content = borrow("console.log(require('./lib.js'))");
    lib_file.path = borrow("lib.js");
    lib_file.content = borrow("module.exports = 42");
    run.files = files;
    run.n_files = 2;
    run.steps = steps;
    run.n_steps = 2;
    run.artifacts = artifacts;
    run.n_artifacts = 1;
    request.protocol = 1;
    request.timeout_ms = 30000;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
    request.project = &run;
    expect_request(&request, "894bec2baf1b52612c2f060ba2aa9080273294e737bae5f3a65ff661b50481d0");

    cs_software_rule rule;
    ProtobufCBinaryData identities[2];
    set_rule(&request, &rule, identities);
    request.protocol = 2;
    expect_request(&request, "abf8235a62b43c4384dc9e7a0f704f1f5f0936ac01a98d7344e50195455d97e1");
}

Test(records_digest, module_requests) {
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    double first[] = {1, 2};
    double second[] = {0.5, -3};
    Plimsoll__V1__ModuleRow row_1 = PLIMSOLL__V1__MODULE_ROW__INIT;
    Plimsoll__V1__ModuleRow row_2 = PLIMSOLL__V1__MODULE_ROW__INIT;
    Plimsoll__V1__ModuleRow *rows[] = {&row_1, &row_2};
    row_1.values = first;
    row_1.n_values = 2;
    row_2.values = second;
    row_2.n_values = 2;
    Plimsoll__V1__ModuleRun run = PLIMSOLL__V1__MODULE_RUN__INIT;
    run.model = borrow("VanDerPol");
    run.rows = rows;
    run.n_rows = 2;
    run.end_time = 1;
    run.step = 0.1;
    request.protocol = 1;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE;
    request.module = &run;
    expect_request(&request, "3679bdba8fdaa503650e79c970728f869a4cf4882446fbc9742a402195d5b6c1");

    cs_software_rule rule;
    ProtobufCBinaryData identities[2];
    set_rule(&request, &rule, identities);
    request.protocol = 2;
    expect_request(&request, "f17657df096a7f2fe66fc012a8262bfe03a876e114264d95ce1ac79181c119a5");
}

Test(records_digest, cell_request) {
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    cs_project_file file = PLIMSOLL__V1__PROJECT_FILE__INIT;
    cs_project_file *files[] = {&file};
    Plimsoll__V1__CellRun run = PLIMSOLL__V1__CELL_RUN__INIT;
    file.path = borrow("in.json");
    file.content = borrow("{\"n\": 41}");
    run.language = borrow("python");
    run.code = borrow("import json\njson.loads(open('in.json').read())['n'] + 1");
    run.files = files;
    run.n_files = 1;
    request.protocol = 2;
    request.minimum_isolation = borrow("container");
    request.timeout_ms = 30000;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL;
    request.cell = &run;
    expect_request(&request, "a2690050ce63bba09b3646effa24c89d8df7dbbc9efd5c0368d00996c76ba89f");
}

Test(records_digest, requests_without_a_payload) {
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    expect_request(&request, "e5e75ef2f5c904e0e20f7cc3eab45f8f1ab08fa3f2bcfa27cf32faadf16c75b8");
    request.protocol = 3;
    expect_request(&request, "1ff802ca955d81e496ba6f405f2f148a9197edc75275fd84cb7d4a1a496ffd2d");
    /* An empty rule is no rule. */
    cs_software_rule rule = PLIMSOLL__V1__SOFTWARE_RULE__INIT;
    request.software_rule = &rule;
    expect_request(&request, "1ff802ca955d81e496ba6f405f2f148a9197edc75275fd84cb7d4a1a496ffd2d");
}

Test(records_digest, what_stands_behind_a_nul_is_hashed) {
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    Plimsoll__V1__JavaScriptRun run = PLIMSOLL__V1__JAVA_SCRIPT_RUN__INIT;
    request.protocol = 3;
    request.minimum_isolation = borrow("kernel");
    request.timeout_ms = -5;
    run.grant_profile = borrow("g");
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    request.javascript = &run;
    run.code = borrow_bytes("a\0b", 3);
    expect_request(&request, "289d3b6c71105ed68133b441a6b07c4ee6546ef032b918493b85d14858273048");
    run.code = borrow_bytes("a\0b", 1);
    expect_request(&request, "3ab89c8f0c7737ff477f96bd5bf8118899ab1fa79414f7d868b5506be80e733d");
}

Test(records_digest, minus_zero_has_a_digest_of_its_own_also_after_encoding) {
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    double value = -0.0;
    Plimsoll__V1__ModuleRow row = PLIMSOLL__V1__MODULE_ROW__INIT;
    Plimsoll__V1__ModuleRow *rows[] = {&row};
    row.values = &value;
    row.n_values = 1;
    Plimsoll__V1__ModuleRun run = PLIMSOLL__V1__MODULE_RUN__INIT;
    run.model = borrow("m");
    run.rows = rows;
    run.n_rows = 1;
    run.end_time = 1;
    run.step = -0.0;
    request.protocol = 3;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE;
    request.module = &run;
    expect_request(&request, "863c666e24012f1d9855a5fbda3309457fb432119f343dbd19d56fb0996f9fac");

    cs_error err = CS_ERROR_INIT;
    ProtobufCMessage *copy = NULL;
    EXPECT_OK(cs_message_copy(&request.base, &copy, &err), err);
    expect_request((const cs_run_request *)copy, "863c666e24012f1d9855a5fbda3309457fb432119f343dbd19d56fb0996f9fac");
    cs_message_free(copy);

    run.step = 0.0;
    value = 0.0;
    expect_request(&request, "afa7dd0c6be7f6cb1ca16385849c900c3e39bbd592745e126d1e9d6c25376425");
}

/* ---- results -------------------------------------------------------------------------------------- */

Test(records_digest, javascript_results) {
    cs_run_response response = PLIMSOLL__V1__RUN_RESPONSE__INIT;
    expect_result(&response, "cdcc8fe156dfd51739f77167fb5926c4057c6fd396bee2ed0479d0eb3399e053");

    Plimsoll__V1__JavaScriptResult result = PLIMSOLL__V1__JAVA_SCRIPT_RESULT__INIT;
    response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT;
    response.javascript = &result;
    result.stdout = borrow("2\n");
    result.stderr = borrow_bytes("\xff\x78", 2);
    expect_result(&response, "3a57590f560a5de29d491595bfb264ff072e06d4d0fcccc5ab2d4b3de410d37d");
    /* Neither the duration nor advice nor what the daemon says of itself is in the result's digest. */
    Plimsoll__V1__AdviceFinding finding = PLIMSOLL__V1__ADVICE_FINDING__INIT;
    Plimsoll__V1__AdviceFinding *advice[] = {&finding};
    response.duration_ms = 812;
    response.sandbox = borrow("docker");
    result.advice = advice;
    result.n_advice = 1;
    expect_result(&response, "3a57590f560a5de29d491595bfb264ff072e06d4d0fcccc5ab2d4b3de410d37d");

    result.exit_code = -1;
    result.timed_out = 1;
    result.stdout = borrow_bytes("\xff\0", 2);
    result.stderr = borrow("");
    result.stdout_truncated = 1;
    result.stderr_truncated = 1;
    expect_result(&response, "5dbb3c8404d736e21d6d4aa0a7b387ddb84ab17b3f5dd1feac576c1495281fd1");
}

Test(records_digest, project_results) {
    cs_run_response response = PLIMSOLL__V1__RUN_RESPONSE__INIT;
    Plimsoll__V1__StepResult first = PLIMSOLL__V1__STEP_RESULT__INIT;
    Plimsoll__V1__StepResult second = PLIMSOLL__V1__STEP_RESULT__INIT;
    Plimsoll__V1__StepResult *steps[] = {&first, &second};
    Plimsoll__V1__Artifact artifact = PLIMSOLL__V1__ARTIFACT__INIT;
    Plimsoll__V1__Artifact *artifacts[] = {&artifact};
    Plimsoll__V1__ProjectResult result = PLIMSOLL__V1__PROJECT_RESULT__INIT;
    first.command = borrow("node main.js > out.txt");
    first.duration_ms = 90;
    second.command = borrow("cat out.txt");
    second.stdout = borrow("42\n");
    second.duration_ms = 3;
    artifact.path = borrow("out.txt");
    artifact.content = borrow("42\n");
    result.steps = steps;
    result.n_steps = 2;
    result.artifacts = artifacts;
    result.n_artifacts = 1;
    result.outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED;
    response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT;
    response.project = &result;
    expect_result(&response, "bfb9756e0d38ac39c7ffd523278e5c32b63c5db76ec5162b7d1ffbe363d0ad6f");

    /* Every other field, and an outcome that is not listed. */
    int32_t unlisted = -1;
    memcpy(&result.outcome, &unlisted, sizeof unlisted);
    result.outcome_detail = borrow("why");
    result.artifacts_truncated = 1;
    result.n_steps = 1;
    result.n_artifacts = 0;
    first.command = borrow("x");
    first.exit_code = 137;
    first.timed_out = 1;
    first.stdout = borrow("o");
    first.stderr = borrow("e");
    first.stdout_truncated = 1;
    expect_result(&response, "3713b7fdf2a0b3a4e5f081681f9f28aa0c454a3640f2fde0e1a84f3815a4946e");
}

Test(records_digest, module_result) {
    cs_run_response response = PLIMSOLL__V1__RUN_RESPONSE__INIT;
    double outputs[] = {1, 1.5};
    Plimsoll__V1__ModuleRowResult first = PLIMSOLL__V1__MODULE_ROW_RESULT__INIT;
    Plimsoll__V1__ModuleRowResult second = PLIMSOLL__V1__MODULE_ROW_RESULT__INIT;
    Plimsoll__V1__ModuleRowResult *runs[] = {&first, &second};
    Plimsoll__V1__ModuleResult result = PLIMSOLL__V1__MODULE_RESULT__INIT;
    first.status = 2;
    first.outputs = outputs;
    first.n_outputs = 2;
    second.status = -3;
    result.runs = runs;
    result.n_runs = 2;
    result.width = 1;
    result.outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED;
    result.stdout = borrow("rows=2\n");
    response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE;
    response.module = &result;
    expect_result(&response, "7bf330fc9945ab802a68a0da5a53ec0a40344c5212106e159ce77479e687c2ec");
}

Test(records_digest, cell_result) {
    cs_run_response response = PLIMSOLL__V1__RUN_RESPONSE__INIT;
    Plimsoll__V1__CellResult result = PLIMSOLL__V1__CELL_RESULT__INIT;
    result.stdout = borrow("42\n");
    result.interpreter_started = 1;
    response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL;
    response.cell = &result;
    expect_result(&response, "0ac5e3bdf4e3bc7f4bd2b5b11b44a57c2ac22bf5869825c6d8dc6f56909d1b61");
}

/* ---- records -------------------------------------------------------------------------------------- */

static cs_run_record a_record(uint32_t version) {
    cs_run_record record = PLIMSOLL__V1__RUN_RECORD__INIT;
    record.version = version;
    record.request_sha256 = borrow("894bec2baf1b52612c2f060ba2aa9080273294e737bae5f3a65ff661b50481d0");
    record.result_sha256 = borrow("bfb9756e0d38ac39c7ffd523278e5c32b63c5db76ec5162b7d1ffbe363d0ad6f");
    record.provider = borrow("openshell");
    record.isolation = borrow("container");
    record.environment = borrow("openshell-image:sha256:ab");
    record.policy = borrow("openshell-policy:sha256:cd");
    record.started_unix_ms = 1790000000000;
    record.ended_unix_ms = 1790000004210;
    record.session = borrow("5947d7c33d783f94b3b4c1a96ebc8991ed28f1b069b71e03376cba8caa98a720");
    record.sequence = 2;
    record.previous_sha256 = borrow("0000000000000000000000000000000000000000000000000000000000000001");
    return record;
}

Test(records_digest, records_of_every_version) {
    cs_run_record record = a_record(1);
    expect_record(&record, "8ae67c9bb05dfaca639335a7224ec4152a1353407a94f6ed35d3b1f5d4853784");
    record = a_record(2);
    expect_record(&record, "a5107eb6b1f726e1b2d7183419502309bfa34d932a65f1494150228ae8349156");
    record = a_record(3);
    expect_record(&record, "53112d8f2165989b5fe20438fbbb7f678c1a2c112c3cd93e1c4c0c8f6257943b");
    record.result_sha256 = borrow("");
    record.unanswered = borrow("unavailable");
    expect_record(&record, "2ca45c37f90ea7fdf87e6d33b1526714963cb7555bfb4fbb918c8ecf0834d49e");
}

/* Computed with another implementation of version 4. */
Test(records_digest, records_of_version_4) {
    cs_run_record record = a_record(4);
    expect_record(&record, "55c587d963f766501be34cbabc9b001daaac90cf79c60eb65295b6178bacc6be");
    record.instance = borrow("k8s-pod-uid:9f3c1b6e-2d44-4c7e-8a51-0c1d2e3f4a5b");
    expect_record(&record, "f5c22d0937510e5ee3a6bd4390ba1282a98321739a2defbfbc9d2fad611764de");
    record.result_sha256 = borrow("");
    record.unanswered = borrow("unavailable");
    expect_record(&record, "fac4825efbbbfa2990246381ada31dfb5555615f43c5aeda5f912c2b36c50c90");
    record = a_record(4);
    record.software_identity = borrow("x");
    record.software_rule_id = borrow("exact:x");
    record.instance = borrow("a:b");
    expect_record(&record, "720822181d8ecf27842d2c4a687d79d8aa6162c3c77ab7002899de0824b5cd48");
}

Test(records_digest, a_record_digest_covers_what_its_version_has) {
    /* Version 1 has no software fields, 2 no unanswered call and 3 no instance; no version hashes its own digest. */
    cs_run_record record = a_record(1);
    record.software_identity = borrow("x");
    record.software_rule_id = borrow("y");
    record.unanswered = borrow("z");
    record.record_sha256 = borrow("0");
    expect_record(&record, "8ae67c9bb05dfaca639335a7224ec4152a1353407a94f6ed35d3b1f5d4853784");
    record = a_record(2);
    record.unanswered = borrow("z");
    record.instance = borrow("a:b");
    record.record_sha256 = borrow("0");
    expect_record(&record, "a5107eb6b1f726e1b2d7183419502309bfa34d932a65f1494150228ae8349156");
    record = a_record(3);
    record.instance = borrow("a:b");
    expect_record(&record, "53112d8f2165989b5fe20438fbbb7f678c1a2c112c3cd93e1c4c0c8f6257943b");
}

Test(records_digest, other_versions_have_no_digest) {
    const uint32_t versions[] = {0, 5, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        cs_run_record record = a_record(versions[i]);
        cs_error err;
        cs_digest digest = {.hex = "old"};
        EXPECT_CODE(cs_digest_record(&record, &digest, &err), err, CS_FAILED, CS_CODE_RECORD_VERSION);
        cr_assert_str_eq(digest.hex, "");
    }
}

Test(records_digest, one_hash_serves_all_three) {
    cs_sha256 *hash = cs_sha256_new();
    cr_assert_not_null(hash);
    cs_error err = CS_ERROR_INIT;
    cs_digest digest;
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    cs_run_response response = PLIMSOLL__V1__RUN_RESPONSE__INIT;
    cs_run_record record = a_record(9);
    EXPECT_CODE(cs_digest_record_with(hash, &record, &digest, &err), err, CS_FAILED, CS_CODE_RECORD_VERSION);
    EXPECT_OK(cs_digest_request_with(hash, &request, &digest, &err), err);
    cr_assert_str_eq(digest.hex, "e5e75ef2f5c904e0e20f7cc3eab45f8f1ab08fa3f2bcfa27cf32faadf16c75b8");
    EXPECT_OK(cs_digest_result_with(hash, &response, &digest, &err), err);
    cr_assert_str_eq(digest.hex, "cdcc8fe156dfd51739f77167fb5926c4057c6fd396bee2ed0479d0eb3399e053");
    record = a_record(2);
    EXPECT_OK(cs_digest_record_with(hash, &record, &digest, &err), err);
    cr_assert_str_eq(digest.hex, "a5107eb6b1f726e1b2d7183419502309bfa34d932a65f1494150228ae8349156");
    cs_sha256_free(hash);
}

/* ---- rules and sessions --------------------------------------------------------------------------- */

static void expect_rule_id(const cs_software_rule *rule, const char *id) {
    cs_error err = CS_ERROR_INIT;
    cs_buf out = CS_BUF_INIT(400);
    EXPECT_OK(cs_software_rule_id(rule, &out, &err), err);
    cr_assert(cs_view_is(cs_buf_view(&out), id), "%.*s", (int)out.len, (const char *)out.ptr);
    cs_buf_free(&out);
}

Test(records_digest, rule_ids) {
    cs_software_rule rule = PLIMSOLL__V1__SOFTWARE_RULE__INIT;
    expect_rule_id(NULL, "");
    expect_rule_id(&rule, "");

    ProtobufCBinaryData identities[] = {borrow("b"), borrow("a"), borrow("ab")};
    rule.identities = identities;
    rule.n_identities = 1;
    rule.mode = borrow("exact");
    expect_rule_id(&rule, "exact:b");
    rule.mode = borrow("approved");
    expect_rule_id(&rule, "exact:b");
    /* Sorted by their bytes: a, ab, b. Their order in the request does not matter. */
    rule.n_identities = 3;
    expect_rule_id(&rule, "approved:sha256:9337560adaafa61d2bd4ce42884c29de44e776aa02f32ec24eeb144a71061509");
    identities[0] = borrow("ab");
    identities[2] = borrow("b");
    expect_rule_id(&rule, "approved:sha256:9337560adaafa61d2bd4ce42884c29de44e776aa02f32ec24eeb144a71061509");

    identities[0] = borrow(IDENTITY_B);
    identities[1] = borrow(IDENTITY_A);
    rule.n_identities = 2;
    expect_rule_id(&rule, "approved:sha256:def36ca56c26169c32c1690b9f8df85526c919015dc46db52662b58d98ad7a10");
}

Test(records_digest, a_rule_that_is_not_well_formed_has_no_id) {
    cs_error err = CS_ERROR_INIT;
    cs_buf out = CS_BUF_INIT(400);
    cs_software_rule rule = PLIMSOLL__V1__SOFTWARE_RULE__INIT;
    ProtobufCBinaryData identities[] = {borrow("a"), borrow("a")};
    rule.mode = borrow("approved");
    rule.identities = identities;
    rule.n_identities = 2;
    EXPECT_CODE(cs_software_rule_id(&rule, &out, &err), err, CS_FAILED, CS_CODE_RULE_MALFORMED);
    cr_assert_eq(out.len, 0);
    cs_buf_free(&out);
}

Test(records_digest, a_rule_id_that_does_not_fit_leaves_nothing) {
    cs_error err = CS_ERROR_INIT;
    cs_software_rule rule = PLIMSOLL__V1__SOFTWARE_RULE__INIT;
    ProtobufCBinaryData identities[] = {borrow("abc")};
    rule.mode = borrow("exact");
    rule.identities = identities;
    rule.n_identities = 1;
    cs_buf exact = CS_BUF_INIT(9);
    EXPECT_OK(cs_software_rule_id(&rule, &exact, &err), err);
    cs_buf_free(&exact);
    cs_buf less = CS_BUF_INIT(8);
    EXPECT_CODE(cs_software_rule_id(&rule, &less, &err), err, CS_UNCHECKED, CS_CODE_NO_MEMORY);
    cr_assert_eq(less.len, 0);
    cs_buf_free(&less);
}

Test(records_digest, session_fingerprint) {
    cs_error err = CS_ERROR_INIT;
    cs_digest digest;
    EXPECT_OK(cs_session_fingerprint(cs_view_of("00112233445566778899aabbccddeeff"), &digest, &err), err);
    cr_assert_str_eq(digest.hex, "5947d7c33d783f94b3b4c1a96ebc8991ed28f1b069b71e03376cba8caa98a720");
}
