/* `countersign diff` of two cart-poles: the first tick and the variable that differ. */
#include <stdlib.h>

#include "tests/cli/cli_case.h"
#include "tests/cli/stored.h"
#include "tests/support/expect.h"

#define COMPARE ARGS("diff", "pair.jsonl:1", "pair.jsonl:2")

#define REPORT "{\"fingerprint\":\"ab\",\"ticks\":3,\"fell_at\":null,\"x\":0,\"theta\":0}\n"

/* The line of a run whose artifact has three ticks, of which number `index` of the fifteen values is `value`. It is
 * signed by nobody that knows of it. */
static char *cart_pole(size_t index, double value) {
    double record[15] = {0};
    Plimsoll__V1__Artifact artifact = PLIMSOLL__V1__ARTIFACT__INIT;
    Plimsoll__V1__Artifact *artifacts[] = {&artifact};
    Plimsoll__V1__StepResult step = PLIMSOLL__V1__STEP_RESULT__INIT;
    Plimsoll__V1__StepResult *steps[] = {&step};
    Plimsoll__V1__ProjectResult project = PLIMSOLL__V1__PROJECT_RESULT__INIT;
    cs_run_response response = PLIMSOLL__V1__RUN_RESPONSE__INIT;
    record[index] = value;
    artifact.path = borrow("record.bin");
    artifact.content = borrow_bytes(record, sizeof record); /* little-endian, as this machine is */
    step.stdout = borrow(REPORT);
    project.n_artifacts = project.n_steps = 1;
    project.artifacts = artifacts;
    project.steps = steps;
    response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT;
    response.project = &project;
    forge_bytes bytes = {.len = plimsoll__v1__run_response__get_packed_size(&response)};
    bytes.ptr = forge_text("%*s", (int)bytes.len + 1, "");
    plimsoll__v1__run_response__pack(&response, (uint8_t *)bytes.ptr);
    forge_key key = forge_key_from(1);
    forge_run run = forge_single();
    forge_bytes request = forge_request(&run);
    return forge_line(&request, &bytes, forge_envelope(&key, forge_statement(&run)));
}

Test(diff_trajectory, of_cart_poles_the_first_tick_and_variable) {
    cli_case c;
    cli_begin(&c);
    forge_bundle bundle = {.count = 0};
    forge_add(&bundle, cart_pole(7, 0.25));
    forge_add(&bundle, cart_pole(7, 0.5));
    cli_write_bundle(&c, "pair.jsonl", &bundle);
    EXPECT_EXIT(&c, cli_json(&c, COMPARE), 1);
    cr_expect_eq(cli_number(&c, "trajectory.tick"), 1);
    EXPECT_TEXT(&c, "trajectory.variable", "theta");
    EXPECT_TEXT(&c, "trajectory.a", "0.25");
    EXPECT_TEXT(&c, "trajectory.b", "0.5");
    cr_expect_eq(json_array_size(cli_member(&c, "differences")), 1);
    EXPECT_TEXT(&c, "differences.0.part", "result");
    EXPECT_TEXT(&c, "differences.0.field", "artifacts[0].content (record.bin)");
    EXPECT_EXIT(&c, cli_run(&c, COMPARE), 1);
    EXPECT_HAS(c.end.out, "cart-pole: differs first in tick 1 (0.01 s): theta\n    a: 0.25\n    b: 0.5\n");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "pair.jsonl:1", "pair.jsonl:1")), 0);
    cr_expect(json_is_false(cli_member(&c, "trajectory.differs")));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "--only", "request", "pair.jsonl:1", "pair.jsonl:2")), 0);
    cr_expect_null(cli_member(&c, "trajectory"));
    cli_end(&c);
}

Test(diff_trajectory, numbers_that_are_written_alike_have_their_bits) {
    cli_case c;
    cli_begin(&c);
    forge_bundle bundle = {.count = 0};
    forge_add(&bundle, cart_pole(7, __builtin_nan("1")));
    forge_add(&bundle, cart_pole(7, __builtin_nan("2")));
    cli_write_bundle(&c, "pair.jsonl", &bundle);
    EXPECT_EXIT(&c, cli_json(&c, COMPARE), 1);
    EXPECT_TEXT(&c, "trajectory.a", "nan (bits 7ff8000000000001)");
    EXPECT_TEXT(&c, "trajectory.b", "nan (bits 7ff8000000000002)");
    EXPECT_EXIT(&c, cli_run(&c, COMPARE), 1);
    EXPECT_HAS(c.end.out, "theta\n    a: nan (bits 7ff8000000000001)\n    b: nan (bits 7ff8000000000002)\n");
    cli_end(&c);
}
