/* What no daemon here can be brought to state: signed by the tests' own hand, and refused by the rule meant for it. */
#include <time.h>

#include "tests/cli/gate_forged.h"

static void expect_refused(gate_forged *f, const char *code) {
    EXPECT_EXIT(&f->c, gate_forged_judge(f), 1);
    EXPECT_TEXT(&f->c, "code", code);
    cr_expect_eq(cli_number(&f->c, "refusals"), 1, "%s", f->c.end.out);
}

#define BOTH(f, member, value) ((f)->runs[0].member = (f)->runs[1].member = (value))

Test(gate_forged, each_by_its_own_rule) {
    gate_forged f;
    gate_forged_begin(&f);
    EXPECT_EXIT(&f.c, gate_forged_judge(&f), 0);
    BOTH(&f, grant, "network");
    expect_refused(&f, "gate-grant");
    BOTH(&f, grant, "");
    BOTH(&f, cut_stdout, true);
    expect_refused(&f, "gate-truncated");
    BOTH(&f, cut_stdout, false);
    f.runs[0].ended_ms -= 7200000;
    f.runs[1].ended_ms -= 7200000;
    expect_refused(&f, "gate-age");
    f.runs[0].ended_ms += 7200000;
    f.runs[1].ended_ms += 7200000 + 86400000;
    f.runs[0].ended_ms += 86400000 - 1;
    expect_refused(&f, "gate-age");
    gate_forged_end(&f);
}

/* One run that met its limit, or of which a test failed, is not made good by two that passed. */
Test(gate_forged, a_failure_is_not_hidden) {
    gate_forged f;
    gate_forged_begin(&f);
    gate_run failing = gate_forged_run("process", (int64_t)time(NULL) * 1000 - 9000);
    failing.timed_out[0] = true;
    failing.exit_codes[0] = 137;
    forge_bundle first = {.count = 0};
    forge_add(&first, gate_sign(&f.key, &failing).line);
    cli_write_bundle(&f.c, "first.jsonl", &first);
    EXPECT_EXIT(&f.c, gate_forged_judge(&f), 0);
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "first.jsonl", "runs.jsonl")), 1);
    EXPECT_TEXT(&f.c, "code", "gate-timed-out");
    cr_expect_eq(cli_number(&f.c, "refusals"), 1);
    gate_forged_end(&f);
}
