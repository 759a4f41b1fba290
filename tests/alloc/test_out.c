/* Memory runs out while a verdict of the gate is put into a form: there is the whole report, or none. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "gate/out.h"
#include "tests/alloc/failing.h"

static cs_policy_requirement requirement = {.name = "tests"};
static cs_gate_section sections[2];
static cs_gate_verdict verdict = {.result = CS_FAILED, .sections = sections, .count = 2, .refusals = 1};
static const cs_gate_proof proof = {
    .section = 0, .rule = CS_GATE_AGE, .code = CS_CODE_GATE_AGE, .change = "the run is older"};
static const cs_gate_report report = {.verdict = &verdict,
                                      .about = {.work_tree = "/a/",
                                                .git_folder = "/a/.git/",
                                                .rev = {"main", "11"},
                                                .policy_sha256 = "22",
                                                .policy_file = "p"},
                                      .version = "0.1.0",
                                      .policy_path = "policy.json",
                                      .proofs = &proof,
                                      .proof_count = 1};

static void make_verdict(void) {
    sections[0].requirement = &requirement;
    cs_gate_finding *bind = &sections[0].findings[CS_GATE_BIND];
    *bind = (cs_gate_finding){.rule = CS_GATE_BIND, .state = CS_GATE_REFUSED, .code = CS_CODE_GATE_BIND};
    /* A byte that is no UTF-8, so that the text must be escaped. */
    (void)snprintf(bind->observed, sizeof bind->observed, "src/\xff.js has other bytes");
    (void)snprintf(bind->path, sizeof bind->path, "src/main.js");
    sections[0].findings[CS_GATE_AGE] = (cs_gate_finding){.rule = CS_GATE_AGE, .state = CS_GATE_PASSED};
}

typedef bool (*form)(const cs_gate_report *of, cs_buf *out);

static cs_result render(void *user, cs_error *err) {
    CS_AUTO_BUF out = CS_BUF_INIT(CS_GATE_OUT_MAX_BYTES);
    failing_begin();
    bool good = (*(const form *)user)(&report, &out);
    failing_end();
    if (good) cr_assert(out.len > 0 && out.ptr[out.len - 1] == '\n');
    return failing_answer(good, err);
}

Test(alloc_out, every_form) {
    static form forms[] = {cs_gate_out_text,         cs_gate_out_junit,    cs_gate_out_sarif,
                           cs_gate_out_code_quality, cs_gate_out_markdown, cs_gate_out_annotations};
    make_verdict();
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        failing_walk(render, &forms[i], FAILING_UNCHECKED);
}

static cs_result members(void *user, cs_error *err) {
    (void)user;
    failing_begin();
    json_t *object = cs_gate_out_json(&report);
    failing_end();
    bool good = object != NULL;
    if (good) cr_assert_eq(json_object_size(object), 6);
    json_decref(object);
    return failing_answer(good, err);
}

Test(alloc_out, the_members) {
    make_verdict();
    failing_walk(members, NULL, FAILING_UNCHECKED);
}
