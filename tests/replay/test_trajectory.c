/* The cart-pole's records: what is taken for one, and where two part. */
#include <criterion/criterion.h>
#include <endian.h>
#include <math.h>
#include <string.h>

#include "replay/trajectory.h"
#include "tests/support/expect.h"

#define TICKS 4
#define VARIABLES 5
#define REPORT "{\"fingerprint\":\"ab\",\"ticks\":4,\"fell_at\":null,\"x\":0.5,\"theta\":1e-3}\n"

typedef struct run {
    cs_run_response response;
    Plimsoll__V1__ProjectResult project;
    Plimsoll__V1__StepResult step;
    Plimsoll__V1__StepResult *steps[1];
    Plimsoll__V1__Artifact artifacts[2];
    Plimsoll__V1__Artifact *list[2];
    uint64_t record[TICKS * VARIABLES];
} run;

static void put_value(run *r, size_t index, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    r->record[index] = htole64(bits);
}

static void fill(run *r) {
    r->response = (cs_run_response)PLIMSOLL__V1__RUN_RESPONSE__INIT;
    r->project = (Plimsoll__V1__ProjectResult)PLIMSOLL__V1__PROJECT_RESULT__INIT;
    r->step = (Plimsoll__V1__StepResult)PLIMSOLL__V1__STEP_RESULT__INIT;
    r->step.stdout = borrow(REPORT);
    r->steps[0] = &r->step;
    for (size_t i = 0; i < TICKS * VARIABLES; i++)
        put_value(r, i, (double)i / 8);
    for (int i = 0; i < 2; i++) {
        r->artifacts[i] = (Plimsoll__V1__Artifact)PLIMSOLL__V1__ARTIFACT__INIT;
        r->artifacts[i].path = borrow("record.bin");
        r->artifacts[i].content = (ProtobufCBinaryData){.data = (uint8_t *)r->record, .len = sizeof r->record};
        r->list[i] = &r->artifacts[i];
    }
    r->project.steps = r->steps;
    r->project.n_steps = 1;
    r->project.artifacts = r->list;
    r->project.n_artifacts = 1;
    r->response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT;
    r->response.project = &r->project;
}

static void expect_at(size_t index, uint64_t tick, const char *variable) {
    run a;
    run b;
    cs_trajectory t;
    fill(&a);
    fill(&b);
    put_value(&b, index, -7.25);
    put_value(&b, TICKS * VARIABLES - 1, 1e9); /* only the first counts */
    cr_assert(cs_compare_trajectories(&a.response, &b.response, &t));
    cr_expect(t.differs);
    cr_expect_eq(t.tick, tick);
    cr_expect_str_eq(t.variable, variable);
    cr_expect_eq(t.a, (double)index / 8);
    cr_expect_eq(t.b, -7.25);
    cr_expect_eq(t.ticks_a, 4);
}

Test(trajectory, the_first_tick_and_variable) {
    expect_at(0, 0, "x");
    expect_at(6, 1, "v");
    expect_at(12, 2, "theta");
    expect_at(13, 2, "omega");
    expect_at(14, 2, "answer");
}

Test(trajectory, the_same_and_the_same_but_for_a_sign_of_zero) {
    run a;
    run b;
    cs_trajectory t;
    fill(&a);
    fill(&b);
    cr_assert(cs_compare_trajectories(&a.response, &b.response, &t));
    cr_expect_not(t.differs);
    cr_expect_eq(t.ticks_b, 4);
    put_value(&b, 0, -0.0);
    cr_assert(cs_compare_trajectories(&a.response, &b.response, &t));
    cr_expect(t.differs);
    cr_expect(signbit(t.b) && !signbit(t.a));
    put_value(&a, 0, NAN);
    put_value(&b, 0, NAN);
    cr_assert(cs_compare_trajectories(&a.response, &b.response, &t));
    cr_expect_not(t.differs);
}

Test(trajectory, one_that_ends_before_the_other) {
    run a;
    run b;
    cs_trajectory t;
    fill(&a);
    fill(&b);
    b.artifacts[0].content.len = (size_t)3 * VARIABLES * sizeof(uint64_t);
    b.step.stdout = borrow("noise\n{\"fingerprint\":\"cd\",\"ticks\":3}");
    cr_assert(cs_compare_trajectories(&a.response, &b.response, &t));
    cr_expect(t.differs);
    cr_expect_null(t.variable);
    cr_expect_eq(t.tick, 3);
    cr_expect_eq(t.ticks_a, 4);
    cr_expect_eq(t.ticks_b, 3);
}

static void expect_none(const char *why, void (*change)(run *r)) {
    run a;
    run b;
    cs_trajectory t;
    fill(&a);
    fill(&b);
    cr_expect(cs_compare_trajectories(&a.response, &b.response, &t));
    change(&b);
    cr_expect_not(cs_compare_trajectories(&a.response, &b.response, &t), "%s", why);
    cr_expect_not(cs_compare_trajectories(&b.response, &a.response, &t), "%s", why);
}

static void another_name(run *r) {
    r->artifacts[0].path = borrow("record.bi");
}
static void no_whole_ticks(run *r) {
    r->artifacts[0].content.len -= 8;
}
static void twice(run *r) {
    r->project.n_artifacts = 2;
}
static void not_there(run *r) {
    r->project.n_artifacts = 0;
}
static void empty(run *r) {
    r->artifacts[0].content.len = 0;
}
static void other_count(run *r) {
    r->step.stdout = borrow("{\"fingerprint\":\"ab\",\"ticks\":5}");
}
static void no_fingerprint(run *r) {
    r->step.stdout = borrow("{\"ticks\":4}");
}
static void no_report(run *r) {
    r->step.stdout = borrow("4\n");
}
static void count_as_text(run *r) {
    r->step.stdout = borrow("{\"fingerprint\":\"ab\",\"ticks\":\"4\"}");
}
static void another_kind(run *r) {
    r->response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT__NOT_SET;
}

Test(trajectory, what_is_taken_for_none) {
    expect_none("another name", another_name);
    expect_none("no whole ticks", no_whole_ticks);
    expect_none("twice", twice);
    expect_none("not there", not_there);
    expect_none("empty", empty);
    expect_none("another count", other_count);
    expect_none("no fingerprint", no_fingerprint);
    expect_none("no report", no_report);
    expect_none("count as text", count_as_text);
    expect_none("another kind", another_kind);
}
