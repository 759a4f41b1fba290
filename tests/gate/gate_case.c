#include "tests/gate/gate_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/ledger.h"
#include "tests/gate/repository.h"
#include "tests/support/canon.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"
#include "tests/support/imported.h"

/* ---- one run ------------------------------------------------------------------------------------------- */

typedef struct messages {
    Plimsoll__V1__RunRequest request;
    Plimsoll__V1__ProjectRun project;
    Plimsoll__V1__ProjectFile files[GATE_FILES];
    Plimsoll__V1__ProjectFile *file_list[GATE_FILES];
    ProtobufCBinaryData steps[GATE_STEPS];
    ProtobufCBinaryData artifact_path;
    Plimsoll__V1__RunResponse response;
    Plimsoll__V1__ProjectResult result;
    Plimsoll__V1__StepResult step_results[GATE_STEPS];
    Plimsoll__V1__StepResult *step_list[GATE_STEPS];
    Plimsoll__V1__Artifact artifact;
    Plimsoll__V1__Artifact *artifact_list[2];
    Plimsoll__V1__RunRecord record;
} messages;

static void fill_request(const gate_run *run, messages *m) {
    plimsoll__v1__run_request__init(&m->request);
    plimsoll__v1__project_run__init(&m->project);
    m->request.protocol = run->protocol;
    m->request.minimum_isolation = borrow(run->floor);
    m->request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
    m->request.project = &m->project;
    m->project.grant_profile = borrow(run->grant);
    for (size_t i = 0; i < run->files; i++) {
        plimsoll__v1__project_file__init(&m->files[i]);
        m->files[i].path = borrow(run->paths[i]);
        m->files[i].content = borrow(run->contents[i]);
        m->file_list[i] = &m->files[i];
    }
    m->project.files = m->file_list;
    m->project.n_files = run->files;
    for (size_t i = 0; i < run->step_count; i++)
        m->steps[i] = borrow(run->steps[i]);
    m->project.steps = m->steps;
    m->project.n_steps = run->step_count;
    m->artifact_path = borrow("junit.xml");
    m->project.artifacts = &m->artifact_path;
    m->project.n_artifacts = 1;
}

static void fill_result(const gate_run *run, messages *m) {
    plimsoll__v1__project_result__init(&m->result);
    m->result.outcome = (Plimsoll__V1__ProjectOutcome)run->outcome;
    m->result.artifacts_truncated = run->cut_artifacts;
    for (size_t i = 0; i < run->results; i++) {
        Plimsoll__V1__StepResult *step = &m->step_results[i];
        plimsoll__v1__step_result__init(step);
        step->command = borrow(run->commands[i] != NULL ? run->commands[i] : run->steps[i]);
        step->stdout = borrow(run->output);
        step->exit_code = run->exit_codes[i];
        step->timed_out = run->timed_out[i];
        step->stdout_truncated = i == 0 && run->cut_stdout;
        m->step_list[i] = step;
    }
    m->result.steps = m->step_list;
    m->result.n_steps = run->results;
    if (run->junit == NULL) return;
    plimsoll__v1__artifact__init(&m->artifact);
    m->artifact.path = borrow("junit.xml");
    m->artifact.content = borrow(run->junit);
    m->artifact_list[0] = m->artifact_list[1] = &m->artifact;
    m->result.artifacts = m->artifact_list;
    m->result.n_artifacts = run->junit_twice ? 2 : 1;
}

static void fill_response(const gate_run *run, messages *m) {
    plimsoll__v1__run_response__init(&m->response);
    plimsoll__v1__run_record__init(&m->record);
    fill_result(run, m);
    m->response.sandbox = borrow(run->provider);
    m->response.isolation = borrow(run->isolation);
    m->response.software_identity = borrow(run->software);
    m->response.environment = borrow(run->environment != NULL ? run->environment : "");
    m->response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT;
    m->response.project = &m->result;
    m->response.record = &m->record;
    m->record.version = 2;
    m->record.provider = borrow(run->provider);
    m->record.isolation = borrow(run->isolation);
    m->record.policy = borrow(run->policy);
    m->record.environment = borrow(run->environment != NULL ? run->environment : "");
    m->record.software_identity = borrow(run->software);
    m->record.started_unix_ms = run->ended_ms - 7;
    m->record.ended_unix_ms = run->ended_ms;
}

static forge_bytes pack(const ProtobufCMessage *message) {
    size_t len = protobuf_c_message_get_packed_size(message);
    char *bytes = forge_text("%*s", (int)len + 1, "");
    protobuf_c_message_pack(message, (uint8_t *)bytes);
    return (forge_bytes){.ptr = bytes, .len = len};
}

static char *statement_of(const gate_run *run, const char *request, const char *result, const char *record) {
    char *software =
        run->software[0] == '\0' ? forge_text("%s", "") : forge_text("\"software_identity\":\"%s\",", run->software);
    return forge_text(
        "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"run-record\",\"digest\":{\"sha256\":"
        "\"%s\"}}],\"predicateType\":\"https://plimsollmark.github.io/plimsoll/run-record/v1\",\"predicate\":{"
        "\"version\":2,\"request_sha256\":\"%s\",\"result_sha256\":\"%s\",\"provider\":\"%s\",\"isolation\":\"%s\","
        "\"environment\":\"%s\",%s\"policy\":\"%s\",\"started_unix_ms\":%lld,\"ended_unix_ms\":%lld,\"session\":\"\","
        "\"sequence\":0,\"previous_sha256\":\"\",\"record_sha256\":\"%s\"}}",
        record, request, result, run->provider, run->isolation, run->environment != NULL ? run->environment : "",
        software, run->policy, (long long)run->ended_ms - 7, (long long)run->ended_ms, record);
}

gate_line gate_sign(const forge_key *key, const gate_run *run) {
    messages m;
    memset(&m, 0, sizeof m);
    fill_request(run, &m);
    fill_response(run, &m);
    char request[65];
    char result[65];
    char record[65];
    canon_request(&m.request, request);
    canon_result(&m.response, result);
    m.record.request_sha256 = borrow(request);
    m.record.result_sha256 = borrow(result);
    canon_record(&m.record, record);
    m.record.record_sha256 = borrow(record);
    gate_line line = {.request = pack(&m.request.base), .response = pack(&m.response.base)};
    line.line =
        forge_line(&line.request, &line.response, forge_envelope(key, statement_of(run, request, result, record)));
    return line;
}

/* ---- the case -------------------------------------------------------------------------------------------- */

#define MAIN_BASE "export const answer = 41;\n"
#define MAIN_REV "export const answer = 42;\n"
#define LIB "export const twice = (n) => 2 * n;\n"
#define TEST_FILE "test('answer', () => {});\n"

static gate_run good_run(const char *provider, int64_t ended_ms) {
    return (gate_run){.provider = provider,
                      .isolation = "container",
                      .policy = "policy:1",
                      .software = "node:22",
                      .floor = "process",
                      .grant = "",
                      .protocol = 3,
                      .ended_ms = ended_ms,
                      .paths = {"src/lib.js", "src/main.js", "test/main.test.js"},
                      .contents = {LIB, MAIN_REV, TEST_FILE},
                      .files = 3,
                      .steps = {"npm test"},
                      .step_count = 1,
                      .results = 1,
                      .outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED,
                      .junit = GATE_JUNIT_3,
                      .output = "3 passed\n"};
}

static void write_text(const gate_case *c, const char *path, const char *text) {
    repository_write(c->folder, path, text, strlen(text));
}

static void make_repository(gate_case *c) {
    char base[41];
    char rev[41];
    repository_make(c->folder);
    write_text(c, "src/lib.js", LIB);
    write_text(c, "src/main.js", MAIN_BASE);
    write_text(c, "test/main.test.js", TEST_FILE);
    write_text(c, ".gate/policy.json", "{}\n");
    write_text(c, "README.md", "read me\n");
    repository_commit(c->folder, base);
    write_text(c, "src/main.js", MAIN_REV);
    repository_commit(c->folder, rev);
    EXPECT_OK(cs_repo_open(c->folder, &c->repo, &c->err), c->err);
    EXPECT_OK(cs_tree_read(c->repo, base, &c->base, &c->err), c->err);
    EXPECT_OK(cs_tree_read(c->repo, rev, &c->rev, &c->err), c->err);
}

static cs_view v(const char *text) {
    return (cs_view){.ptr = (const uint8_t *)text, .len = strlen(text)};
}

#define LIST(array) ((cs_policy_list){.items = (array), .count = sizeof(array) / sizeof(array)[0]})

static cs_view providers[2];
static cs_view software[1];
static cs_view policies[1];

static void make_policy(gate_case *c) {
    providers[0] = v("alpha");
    providers[1] = v("beta");
    software[0] = v("node:22");
    policies[0] = v("policy:1");
    c->patterns[0] = v("src/**");
    c->patterns[1] = v("test/**");
    c->protect[0] = v(".gate/**");
    c->bind = (cs_policy_bind){.paths = {.items = c->patterns, .count = 2}, .complete = true};
    c->requirement = (cs_policy_requirement){
        .name = "tests",
        .kind = CS_POLICY_PROJECT,
        .step = v("npm test"),
        .floor = CS_TIER_CONTAINER,
        .allowed_providers = LIST(providers),
        .software = LIST(software),
        .sandbox_policies = LIST(policies),
        .max_age_s = 3600,
        .min_records = 2,
        .binds = &c->bind,
        .bind_count = 1,
        .tests = {.present = true, .artifact = v("junit.xml"), .min_executed = 3, .not_fewer_than_base = true},
        .reproduced_providers = 2,
        .reproduced_runs = 2,
        .cross_check = true};
    c->policy = (cs_policy){.requirements = &c->requirement,
                            .requirement_count = 1,
                            .protect = {.items = c->protect, .count = 1},
                            .needs_rev = true,
                            .needs_base = true};
    cs_public_key key;
    memset(&key, 0, sizeof key);
    memcpy(key.bytes, c->key.public_key, sizeof key.bytes);
    cr_assert(cs_public_key_identify(&key));
    EXPECT_OK(cs_trust_add(&c->policy.trust, &key, &c->err), c->err);
}

void gate_begin(gate_case *c) {
    memset(c, 0, sizeof *c);
    c->key = forge_key_from(7);
    c->signer = &c->key;
    make_repository(c);
    make_policy(c);
    c->runs[0] = good_run("alpha", GATE_ENDED);
    c->runs[1] = good_run("beta", GATE_ENDED + 1000);
    c->runs[2] = good_run("alpha", GATE_ENDED - 1000);
    c->runs[2].contents[1] = MAIN_BASE;
    c->run_count = 3;
    c->sources = 1;
    c->options =
        (cs_gate_options){.policy = &c->policy, .rev = &c->rev, .base = &c->base, .now_ms = GATE_NOW, .skew_ms = 5000};
}

void gate_end(gate_case *c) {
    cs_gate_verdict_free(&c->verdict);
    cs_tree_free(&c->base);
    cs_tree_free(&c->rev);
    cs_repo_close(c->repo);
    for (size_t i = 0; i < GATE_SOURCES; i++)
        if (c->paths[i][0] != '\0') unlink(c->paths[i]);
    folder_remove(c->folder);
}

void gate_commit_again(gate_case *c) {
    char rev[41];
    repository_commit(c->folder, rev);
    cs_tree_free(&c->rev);
    EXPECT_OK(cs_tree_read(c->repo, rev, &c->rev, &c->err), c->err);
}

void gate_add_file(gate_case *c, const char *path, const char *content) {
    for (size_t i = 0; i < 2; i++) {
        gate_run *run = &c->runs[i];
        run->paths[run->files] = path;
        run->contents[run->files++] = content;
    }
}

void gate_write_ledger(const char *path, const char *daemon, const forge_bundle *lines) {
    cs_error err = CS_ERROR_INIT;
    cs_ledger *ledger = NULL;
    EXPECT_OK(cs_ledger_open(path, 5000, &ledger, &err), err);
    EXPECT_OK(cs_ledger_begin(ledger, &err), err);
    for (size_t i = 0; i < lines->count; i++) {
        cs_ledger_row row = imported_row(lines->lines[i]);
        if (row.request.ptr != NULL) row.daemon = v(daemon);
        int64_t id = 0;
        EXPECT_OK(cs_ledger_append(ledger, &row, &id, &err), err);
    }
    EXPECT_OK(cs_ledger_commit(ledger, &err), err);
    cs_ledger_close(ledger);
}

/* Only a ledger is believed to hold every finding. */
static void write_source(gate_case *c, size_t i, const forge_bundle *lines) {
    if (c->paths[i][0] != '\0') unlink(c->paths[i]);
    forge_bytes bytes = forge_file(lines);
    forge_write(bytes.ptr, bytes.len, c->paths[i]);
    c->all[i] = c->paths[i];
    if (c->bundled || !c->requirement.cross_check) return;
    unlink(c->paths[i]);
    gate_write_ledger(c->paths[i], GATE_DAEMON, lines);
}

cs_result gate_judge(gate_case *c) {
    cs_gate_verdict_free(&c->verdict);
    forge_bundle first = c->bundles[0];
    for (size_t i = 0; i < c->run_count; i++)
        forge_add(&first, gate_sign(c->signer, &c->runs[i]).line);
    for (size_t i = 0; i < c->sources; i++)
        write_source(c, i, i == 0 ? &first : &c->bundles[i]);
    for (size_t i = 0; i < c->more_count; i++)
        c->all[c->sources + i] = c->more[i];
    c->options.sources = c->all;
    c->options.source_count = c->sources + c->more_count;
    return cs_gate_judge(&c->options, &c->verdict);
}

const cs_gate_finding *gate_finding(const gate_case *c, cs_gate_rule rule) {
    size_t section = rule == CS_GATE_PROTECT ? c->verdict.count - 1 : 0;
    cr_assert(c->verdict.count > 0, "%s", c->verdict.err.message);
    return &c->verdict.sections[section].findings[rule];
}

void gate_expect_only(const gate_case *c, const char *name, cs_gate_rule rule, cs_code code) {
    for (size_t s = 0; s < c->verdict.count; s++) {
        for (unsigned i = 0; i < CS_GATE_RULES; i++) {
            const cs_gate_finding *finding = &c->verdict.sections[s].findings[i];
            cr_expect(finding->state != CS_GATE_REFUSED || i == rule, "%s: also %s: %s", name,
                      cs_gate_rule_word((cs_gate_rule)i), finding->observed);
        }
    }
    const cs_gate_finding *finding = gate_finding(c, rule);
    cr_expect_eq(finding->state, CS_GATE_REFUSED, "%s: %s is %d: %s", name, cs_gate_rule_word(rule),
                 (int)finding->state, finding->observed);
    cr_expect_eq(finding->code, code, "%s: %s", name, cs_code_name(finding->code));
    cr_expect_eq(c->verdict.err.code, code, "%s: %s: %s", name, cs_code_name(c->verdict.err.code),
                 c->verdict.err.message);
    cr_expect_eq(c->verdict.result, cs_code_class(code), "%s: class %d", name, (int)c->verdict.result);
    cr_expect_eq(c->verdict.refusals, 1, "%s", name);
    cr_expect_str_neq(finding->observed, "", "%s", name);
    cr_expect_str_neq(finding->wanted, "", "%s", name);
}

void gate_expect_passes(gate_case *c, const char *name) {
    cs_result result = gate_judge(c);
    cr_assert_eq(result, CS_OK, "%s: %s: %s", name, c->verdict.err.where, c->verdict.err.message);
    cr_expect_eq(c->verdict.err.code, CS_CODE_OK);
    cr_expect_eq(c->verdict.refusals, 0);
}
