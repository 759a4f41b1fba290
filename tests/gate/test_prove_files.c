/* Proofs about what a run brings, and about whom the policy trusts. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gate/prove_internal.h"
#include "tests/gate/gate_case.h"
#include "tests/gate/repository.h"
#include "tests/support/expect.h"

static cs_gate_proof *proofs;
static size_t count;

static void drop_proofs(void) {
    free(proofs);
    proofs = NULL;
    count = 0;
}

TestSuite(gate_prove_files, .fini = drop_proofs);

static cs_result prove(gate_case *c, bool really) {
    drop_proofs();
    c->err = CS_ERROR_INIT;
    return cs_gate_prove(&c->options, &c->verdict, really, &proofs, &count, &c->err);
}

static const cs_gate_proof *find(const char *change) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(proofs[i].change, change) == 0) return &proofs[i];
    return NULL;
}

static bool any_has(const char *part) {
    for (size_t i = 0; i < count; i++)
        if (strstr(proofs[i].change, part) != NULL) return true;
    return false;
}

/* ---- a file more ------------------------------------------------------------------------------------------------ */

#define ADDED(name) "the run brings a file more, " name ", which is not in the commit"

static void expect_added(gate_case *c, const char *pattern, const char *change) {
    c->patterns[0] = cs_view_of(pattern);
    gate_expect_passes(c, pattern);
    EXPECT_OK(prove(c, true), c->err);
    const cs_gate_proof *proof = find(change);
    cr_assert_not_null(proof, "%s", pattern);
    cr_expect_eq(proof->rule, CS_GATE_BIND);
    cr_expect_eq(proof->code, CS_CODE_GATE_BIND);
    cr_expect(proof->refuses, "%s", pattern);
}

/* The name is one that the pattern matches, and that is free in the commit. */
Test(gate_prove_files, a_file_more_has_a_name_that_is_bound) {
    gate_case c;
    gate_begin(&c);
    expect_added(&c, "src/**", ADDED("src/lib.jsx"));
    expect_added(&c, "src/*.js", ADDED("src/libx.js"));
    c.bind.complete = false;
    c.requirement.tests.not_fewer_than_base = false; /* what is bound now is the same in both commits */
    expect_added(&c, "src/???.js", ADDED("src/lix.js"));
    expect_added(&c, "src/*b.js", ADDED("src/lixb.js"));
    repository_write(c.folder, "src/libx.js", "\n", 1);
    gate_commit_again(&c);
    expect_added(&c, "src/*.js", ADDED("src/lixb.js"));
    gate_end(&c);
}

/* Patterns that are names leave no other: the other changes show the rule. */
Test(gate_prove_files, names_leave_no_file_more) {
    gate_case c;
    gate_begin(&c);
    c.patterns[0] = cs_view_of("src/lib.js");
    c.patterns[1] = cs_view_of("test/main.test.js");
    gate_expect_passes(&c, "names");
    EXPECT_OK(prove(&c, true), c.err);
    cr_expect_not(any_has("brings a file more"));
    cr_expect_not_null(find("one byte of src/lib.js in the run is another"));
    gate_end(&c);
}

/* ---- no key ----------------------------------------------------------------------------------------------------- */

static const cs_gate_proof *of_sources(void) {
    const cs_gate_proof *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (proofs[i].section != CS_GATE_OF_SOURCES) continue;
        cr_expect_null(found, "more than one: %s", proofs[i].change);
        found = &proofs[i];
    }
    return found;
}

Test(gate_prove_files, an_input_without_its_key_is_refused) {
    gate_case c;
    gate_begin(&c);
    gate_expect_passes(&c, "good");
    EXPECT_OK(prove(&c, true), c.err);
    const cs_gate_proof *proof = of_sources();
    cr_assert_not_null(proof);
    cr_expect(proof->refuses);
    cr_expect_not(proof->unmade);
    cr_expect_eq(proof->code, CS_CODE_ENVELOPE_KEY_UNKNOWN);
    cr_expect_str_eq(cs_gate_proof_word(proof), "sources");
    char change[CS_GATE_TEXT];
    (void)snprintf(change, sizeof change, "%s is verified once more, with none of the policy's keys", c.paths[0]);
    cr_expect_str_eq(proof->change, change);
    EXPECT_OK(prove(&c, false), c.err);
    cr_assert_not_null(of_sources());
    cr_expect_not(of_sources()->refuses, "only told");
    gate_end(&c);
}

/* One of two inputs alone holds the record that is looked at; of an input that holds none, nothing can be refused. */
Test(gate_prove_files, an_input_without_such_a_record_is_left_out) {
    gate_case c;
    gate_begin(&c);
    c.sources = 2;
    forge_add(&c.bundles[1], gate_sign(&c.key, &c.runs[2]).line);
    gate_expect_passes(&c, "two inputs");
    EXPECT_OK(prove(&c, true), c.err);
    cr_assert_not_null(of_sources());
    cr_expect_not_null(strstr(of_sources()->change, c.paths[0]));
    gate_end(&c);
}

/* What is there by now is refused for another reason than for want of a key: that shows nothing. */
Test(gate_prove_files, an_input_that_is_refused_for_another_reason) {
    gate_case c;
    gate_begin(&c);
    gate_expect_passes(&c, "good");
    FILE *file = fopen(c.paths[0], "w");
    cr_assert(file != NULL && fputs("{}\n", file) >= 0 && fclose(file) == 0);
    cr_expect_eq(prove(&c, true), CS_FAILED);
    cr_expect_eq(c.err.code, CS_CODE_INTERNAL);
    cr_expect_not_null(strstr(c.err.message, "policy: sources: "), "%s", c.err.message);
    cr_assert_not_null(of_sources());
    cr_expect_not(of_sources()->refuses);
    gate_end(&c);
}

/* An input that verifies without any key would be no better. */
Test(gate_prove_files, an_input_without_a_signature) {
    gate_case c;
    gate_begin(&c);
    gate_expect_passes(&c, "good");
    FILE *file = fopen(c.paths[0], "w");
    cr_assert(file != NULL && fclose(file) == 0);
    cr_expect_eq(prove(&c, true), CS_NOTHING);
    cr_expect_eq(c.err.code, CS_CODE_NOTHING_TO_CHECK);
    gate_end(&c);
}

/* A pipe gives its bytes once, and that is told in the place of a proof. */
Test(gate_prove_files, a_pipe_is_not_read_again) {
    gate_case c;
    gate_begin(&c);
    gate_expect_passes(&c, "good");
    unlink(c.paths[0]);
    cr_assert_eq(mkfifo(c.paths[0], 0600), 0);
    char change[CS_GATE_TEXT];
    (void)snprintf(change, sizeof change, "%s was read once and can't be verified again", c.paths[0]);
    for (unsigned proves = 0; proves < 2; proves++) {
        EXPECT_OK(prove(&c, proves != 0), c.err);
        cr_assert_not_null(of_sources());
        cr_expect(of_sources()->unmade);
        cr_expect_not(of_sources()->refuses);
        cr_expect_str_eq(of_sources()->change, change);
    }
    gate_end(&c);
}
