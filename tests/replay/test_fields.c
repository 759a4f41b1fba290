/* Every differing field of two messages. That a difference counts as covered exactly when the result digests differ is
 * held against the tests' own digest (canon.h). */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "replay/fields.h"
#include "tests/support/canon.h"
#include "tests/support/expect.h"

/* ---- what was told ------------------------------------------------------------------------------ */

typedef struct told {
    char text[2048]; /* "path=a|b;": values, bytes as text, and nothing for what is not there */
    size_t covered;
    size_t count;
} told;

static void put_side(char *out, size_t size, bool there, const cs_field_pair *pair, cs_view bytes, const char *value) {
    if (!there)
        (void)snprintf(out, size, "-");
    else if (pair->bytes)
        (void)snprintf(out, size, "'%.*s'", (int)bytes.len, bytes.len > 0 ? (const char *)bytes.ptr : "");
    else
        (void)snprintf(out, size, "%s", value);
}

static void on_pair(void *user, const cs_field_pair *pair) {
    told *t = user;
    char a[128];
    char b[128];
    put_side(a, sizeof a, pair->has_a, pair, pair->a, pair->value_a);
    put_side(b, sizeof b, pair->has_b, pair, pair->b, pair->value_b);
    size_t used = strlen(t->text);
    (void)snprintf(t->text + used, sizeof t->text - used, "%s=%s|%s;", pair->path, a, b);
    t->covered += pair->covered;
    t->count++;
}

static told compare(const ProtobufCMessage *a, const ProtobufCMessage *b, bool with_record) {
    told t = {.count = 0};
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_compare_fields(a, b, with_record, on_pair, &t, &err), err);
    return t;
}

#define EXPECT_TOLD(a, b, want)                                                                                        \
    do {                                                                                                               \
        told expect_told = compare(&(a)->base, &(b)->base, false);                                                     \
        cr_expect_str_eq(expect_told.text, (want), "%s, not %s", expect_told.text, (want));                            \
    } while (0)

/* ---- requests ------------------------------------------------------------------------------------ */

#define FILES 3

typedef struct request {
    cs_run_request request;
    Plimsoll__V1__ProjectRun project;
    Plimsoll__V1__ProjectFile files[FILES];
    Plimsoll__V1__ProjectFile *list[FILES];
    ProtobufCBinaryData steps[2];
} request;

static void fill_request(request *r) {
    static const char *const paths[FILES] = {"a", "b", "c"};
    r->request = (cs_run_request)PLIMSOLL__V1__RUN_REQUEST__INIT;
    r->project = (Plimsoll__V1__ProjectRun)PLIMSOLL__V1__PROJECT_RUN__INIT;
    for (int i = 0; i < FILES; i++) {
        r->files[i] = (Plimsoll__V1__ProjectFile)PLIMSOLL__V1__PROJECT_FILE__INIT;
        r->files[i].path = borrow(paths[i]);
        r->files[i].content = borrow("x");
        r->list[i] = &r->files[i];
    }
    r->steps[0] = borrow("make");
    r->steps[1] = borrow("make test");
    r->project.files = r->list;
    r->project.n_files = FILES;
    r->project.steps = r->steps;
    r->project.n_steps = 2;
    r->request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
    r->request.project = &r->project;
}

static void swap(request *r, int i, int j) {
    Plimsoll__V1__ProjectFile *file = r->list[i];
    r->list[i] = r->list[j];
    r->list[j] = file;
}

Test(fields, of_requests) {
    request a;
    request b;
    fill_request(&a);
    fill_request(&b);
    EXPECT_TOLD(&a.request, &b.request, "");
    b.request.protocol = 3;
    b.request.timeout_ms = -1;
    b.steps[1] = borrow("make check");
    EXPECT_TOLD(&a.request, &b.request, "protocol=0|3;timeout_ms=0|-1;project.steps[1]='make test'|'make check';");
    fill_request(&b);
    b.project.n_steps = 1;
    EXPECT_TOLD(&a.request, &b.request, "project.steps[1]='make test'|-;");
    EXPECT_TOLD(&b.request, &a.request, "project.steps[1]=-|'make test';");
}

Test(fields, files_are_matched_by_path) {
    request a;
    request b;
    fill_request(&a);
    fill_request(&b);
    b.files[1].content = borrow("y");
    EXPECT_TOLD(&a.request, &b.request, "project.files[1].content (b)='x'|'y';");
    fill_request(&b);
    b.files[1].path = borrow("d");
    EXPECT_TOLD(&a.request, &b.request,
                "project.files[1].path (b)='b'|-;project.files[1].content (b)='x'|-;"
                "project.files[1].path (d)=-|'d';project.files[1].content (d)=-|'x';");
    fill_request(&b);
    b.list[0] = &b.files[1];
    b.list[1] = &b.files[2];
    b.project.n_files = 2;
    EXPECT_TOLD(&a.request, &b.request, "project.files[0].path (a)='a'|-;project.files[0].content (a)='x'|-;");
    fill_request(&b);
    b.files[0].path = borrow("b"); /* twice: then only places can tell */
    EXPECT_TOLD(&a.request, &b.request, "project.files[0].path='a'|'b';");
    fill_request(&b);
    b.files[0].path = borrow("\x1b[2J");
    b.files[0].content = borrow("");
    EXPECT_TOLD(&a.request, &b.request,
                "project.files[0].path (a)='a'|-;project.files[0].content (a)='x'|-;"
                "project.files[0].path (\\x1b[2J)=-|'\x1b[2J';");
}

/* All six orders of three files: only the one of a is the same. */
Test(fields, another_order_is_told_once) {
    static const int swaps[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 2}, {0, 1}, {0, 2}};
    request a;
    request b;
    fill_request(&a);
    for (int i = 0; i < 6; i++) {
        fill_request(&b);
        swap(&b, swaps[i][0], swaps[i][1]);
        if (i >= 4) swap(&b, 1, 2);
        const char *want = i == 0 ? "" : "project.files=one order|another;";
        EXPECT_TOLD(&a.request, &b.request, want);
    }
}

Test(fields, of_two_kinds_nothing_else_is_compared) {
    request a;
    request b;
    Plimsoll__V1__JavaScriptRun javascript = PLIMSOLL__V1__JAVA_SCRIPT_RUN__INIT;
    fill_request(&a);
    fill_request(&b);
    b.request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    b.request.javascript = &javascript;
    javascript.code = borrow("1");
    EXPECT_TOLD(&a.request, &b.request, "kind=project|javascript;");
    b.request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD__NOT_SET;
    EXPECT_TOLD(&a.request, &b.request, "kind=project|(none);");
}

/* A rule that is there and empty is not a rule that is not there; a digest may not see it, the bytes do. */
Test(fields, an_empty_message_is_told) {
    request a;
    request b;
    cs_software_rule rule = PLIMSOLL__V1__SOFTWARE_RULE__INIT;
    fill_request(&a);
    fill_request(&b);
    b.request.software_rule = &rule;
    EXPECT_TOLD(&a.request, &b.request, "software_rule=-|(empty);");
    rule.mode = borrow("exact");
    EXPECT_TOLD(&a.request, &b.request, "software_rule.mode=-|'exact';");
    told t = compare(NULL, &b.request.base, false);
    cr_expect_eq(t.count, 9, "%s", t.text);
    t = compare(NULL, NULL, false);
    cr_expect_eq(t.count, 0);
}

/* ---- responses ------------------------------------------------------------------------------------ */

typedef struct response {
    cs_run_response response;
    cs_run_record record;
    Plimsoll__V1__ProjectResult project;
    Plimsoll__V1__StepResult step;
    Plimsoll__V1__StepResult *steps[1];
    Plimsoll__V1__Artifact artifact;
    Plimsoll__V1__Artifact *artifacts[1];
    Plimsoll__V1__AdviceFinding advice;
    Plimsoll__V1__AdviceFinding *advices[1];
    Plimsoll__V1__ModuleResult module;
    Plimsoll__V1__ModuleRowResult row;
    Plimsoll__V1__ModuleRowResult *rows[1];
    double outputs[2];
} response;

static void fill_response(response *r) {
    r->response = (cs_run_response)PLIMSOLL__V1__RUN_RESPONSE__INIT;
    r->record = (cs_run_record)PLIMSOLL__V1__RUN_RECORD__INIT;
    r->project = (Plimsoll__V1__ProjectResult)PLIMSOLL__V1__PROJECT_RESULT__INIT;
    r->step = (Plimsoll__V1__StepResult)PLIMSOLL__V1__STEP_RESULT__INIT;
    r->artifact = (Plimsoll__V1__Artifact)PLIMSOLL__V1__ARTIFACT__INIT;
    r->advice = (Plimsoll__V1__AdviceFinding)PLIMSOLL__V1__ADVICE_FINDING__INIT;
    r->module = (Plimsoll__V1__ModuleResult)PLIMSOLL__V1__MODULE_RESULT__INIT;
    r->row = (Plimsoll__V1__ModuleRowResult)PLIMSOLL__V1__MODULE_ROW_RESULT__INIT;
    r->steps[0] = &r->step;
    r->artifacts[0] = &r->artifact;
    r->advices[0] = &r->advice;
    r->rows[0] = &r->row;
    r->artifact.path = borrow("out");
    r->project.steps = r->steps;
    r->project.n_steps = 1;
    r->project.artifacts = r->artifacts;
    r->project.n_artifacts = 1;
    r->project.advice = r->advices;
    r->project.n_advice = 1;
    r->outputs[0] = 0.0;
    r->outputs[1] = 1.5;
    r->row.outputs = r->outputs;
    r->row.n_outputs = 2;
    r->module.runs = r->rows;
    r->module.n_runs = 1;
    r->response.record = &r->record;
    r->response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT;
    r->response.project = &r->project;
}

static void expect_response(const response *a, const response *b, const char *want) {
    char digest_a[65];
    char digest_b[65];
    canon_result(&a->response, digest_a);
    canon_result(&b->response, digest_b);
    told t = compare(&a->response.base, &b->response.base, false);
    cr_expect_str_eq(t.text, want, "%s, not %s", t.text, want);
    cr_expect_eq(t.covered > 0, strcmp(digest_a, digest_b) != 0, "%s", t.text);
}

Test(fields, of_a_project_result) {
    response a;
    response b;
    fill_response(&a);
    fill_response(&b);
    expect_response(&a, &b, "");
    b.step.exit_code = 1;
    b.step.timed_out = 1;
    expect_response(&a, &b, "steps[0].exit_code=0|1;steps[0].timed_out=false|true;");
    fill_response(&b);
    b.step.duration_ms = 7;
    expect_response(&a, &b, "steps[0].duration_ms=0|7;");
    fill_response(&b);
    b.advice.pattern = borrow("p");
    expect_response(&a, &b, "advice[0].pattern=''|'p';");
    fill_response(&b);
    b.artifact.content = borrow("new");
    expect_response(&a, &b, "artifacts[0].content (out)=''|'new';");
    fill_response(&b);
    b.project.outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_TIMED_OUT;
    expect_response(&a, &b, "outcome=PROJECT_OUTCOME_UNSPECIFIED|PROJECT_OUTCOME_TIMED_OUT;");
    b.project.outcome = (Plimsoll__V1__ProjectOutcome)77;
    expect_response(&a, &b, "outcome=PROJECT_OUTCOME_UNSPECIFIED|77;");
    fill_response(&b);
    b.response.sandbox = borrow("s");
    b.response.duration_ms = INT64_MIN;
    expect_response(&a, &b, "sandbox=''|'s';duration_ms=0|-9223372036854775808;");
    b.response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT__NOT_SET;
    expect_response(&a, &b, "sandbox=''|'s';duration_ms=0|-9223372036854775808;kind=project|(none);");
}

Test(fields, doubles_by_their_bits) {
    response a;
    response b;
    fill_response(&a);
    fill_response(&b);
    a.response.result_case = b.response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE;
    a.response.module = &a.module;
    b.response.module = &b.module;
    expect_response(&a, &b, "");
    b.outputs[0] = -0.0;
    expect_response(&a, &b, "runs[0].outputs[0]=0 (bits 0000000000000000)|-0 (bits 8000000000000000);");
    b.outputs[0] = 0.0;
    b.row.n_outputs = 1;
    expect_response(&a, &b, "runs[0].outputs[1]=1.5 (bits 3ff8000000000000)|-;");
    b.row.n_outputs = 2;
    b.row.status = 4;
    expect_response(&a, &b, "runs[0].status=0|4;");
}

Test(fields, the_record_of_a_response_only_when_asked_for) {
    response a;
    response b;
    fill_response(&a);
    fill_response(&b);
    b.record.sequence = UINT64_MAX;
    cr_expect_eq(compare(&a.response.base, &b.response.base, false).count, 0);
    told t = compare(&a.response.base, &b.response.base, true);
    cr_expect_str_eq(t.text, "record.sequence=0|18446744073709551615;");
    cr_expect_eq(t.covered, 0);
    t = compare(&a.record.base, &b.record.base, false);
    cr_expect_str_eq(t.text, "sequence=0|18446744073709551615;");
}
