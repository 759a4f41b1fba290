/* What the policy asks for, in the words of the verdict. */
#include <criterion/criterion.h>
#include <string.h>

#include "gate/judge_internal.h"
#include "tests/gate/gate_case.h"

#define BIND "the commit's bytes in every file of the run that matches "
#define COMPLETE "every file of the commit in the run that matches "

/* The two patterns of the case, in a bind of its own each. */
static void split(gate_case *c, cs_policy_bind binds[2], bool first_complete, bool second_complete) {
    for (size_t i = 0; i < 2; i++)
        binds[i] = (cs_policy_bind){.paths = {.items = &c->patterns[i], .count = 1}};
    binds[0].complete = first_complete;
    binds[1].complete = second_complete;
    c->requirement.binds = binds;
    c->requirement.bind_count = 2;
}

static void expect_wanted(gate_case *c, const char *name, const char *bind, const char *complete) {
    gate_expect_passes(c, name);
    cr_expect_str_eq(gate_finding(c, CS_GATE_BIND)->wanted, bind, "%s", name);
    cr_expect_str_eq(gate_finding(c, CS_GATE_COMPLETE)->wanted, complete, "%s", name);
}

/* With several binds, complete wants the files of those alone that have to be complete. */
Test(gate_want, complete_names_what_has_to_be_complete) {
    gate_case c;
    cs_policy_bind binds[2];
    gate_begin(&c);
    expect_wanted(&c, "one bind", BIND "src/**, test/**", COMPLETE "src/**, test/**");
    split(&c, binds, false, true);
    expect_wanted(&c, "the second", BIND "src/**, and 1 more", COMPLETE "test/**");
    split(&c, binds, true, false);
    expect_wanted(&c, "the first", BIND "src/**, and 1 more", COMPLETE "src/**");
    split(&c, binds, true, true);
    expect_wanted(&c, "both", BIND "src/**, and 1 more", COMPLETE "src/**, and 1 more");
    split(&c, binds, false, false);
    gate_expect_passes(&c, "neither");
    cr_expect_eq(gate_finding(&c, CS_GATE_COMPLETE)->state, CS_GATE_NOT_ASKED);
    gate_end(&c);
}

/* And the same in a refusal: of the file that is missing, and of none that may be. */
Test(gate_want, what_is_missing_is_refused_by_the_bind_that_wants_it) {
    gate_case c;
    cs_policy_bind binds[2];
    gate_begin(&c);
    split(&c, binds, false, true);
    c.patterns[0] = cs_view_of("src/*.js");
    for (size_t i = 0; i < 2; i++) { /* without src/lib.js, which is of the first bind */
        c.runs[i].paths[0] = c.runs[i].paths[2];
        c.runs[i].contents[0] = c.runs[i].contents[2];
        c.runs[i].files = 2;
    }
    gate_expect_passes(&c, "the first bind need not be complete");
    split(&c, binds, true, false);
    cr_assert_neq(gate_judge(&c), CS_OK);
    gate_expect_only(&c, "the first", CS_GATE_COMPLETE, CS_CODE_GATE_INCOMPLETE);
    cr_expect_str_eq(gate_finding(&c, CS_GATE_COMPLETE)->wanted, COMPLETE "src/*.js");
    cr_expect_str_eq(gate_finding(&c, CS_GATE_COMPLETE)->path, "src/lib.js");
    gate_end(&c);
}
