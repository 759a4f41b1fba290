/* Changes of the artifact with the tests: a file with just so many cases that its rule must refuse it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gate/junit.h"
#include "gate/prove_internal.h"

static Plimsoll__V1__Artifact *find_artifact(const cs_gate_trial *t, size_t *at) {
    if (t->response->result_case != PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT) return NULL;
    Plimsoll__V1__ProjectResult *project = t->response->project;
    for (*at = 0; *at < project->n_artifacts; (*at)++)
        if (cs_view_equal(cs_bytes_view(&project->artifacts[*at]->path), t->requirement->tests.artifact))
            return project->artifacts[*at];
    return NULL;
}

static bool add_cases(cs_buf *xml, uint64_t count, const char *inside) {
    for (uint64_t i = 0; i < count; i++)
        if (!cs_buf_printf(xml, "<testcase name=\"%c%" PRIu64 "\">%s</testcase>", inside[0] == '\0' ? 'p' : inside[1],
                           i, inside))
            return false;
    return true;
}

/* Numbers that no readable file can hold are not tried: no file fulfils or exceeds them anyhow. */
static cs_gate_changed set_cases(cs_gate_trial *t, uint64_t passed, uint64_t skipped, uint64_t failed) {
    size_t at = 0;
    Plimsoll__V1__Artifact *artifact = find_artifact(t, &at);
    if (artifact == NULL || passed > CS_JUNIT_MAX_CASES || skipped > CS_JUNIT_MAX_CASES ||
        failed > CS_JUNIT_MAX_CASES || passed + skipped + failed > CS_JUNIT_MAX_CASES)
        return CS_GATE_NO_CHANGE;
    CS_AUTO_BUF xml = CS_BUF_INIT(CS_JUNIT_MAX_BYTES);
    if (!cs_buf_text(&xml, "<testsuite>") || !add_cases(&xml, passed, "") || !add_cases(&xml, skipped, "<skipped/>") ||
        !add_cases(&xml, failed, "<failure/>") || !cs_buf_text(&xml, "</testsuite>"))
        return xml.len > CS_JUNIT_MAX_BYTES - 128 ? CS_GATE_NO_CHANGE : CS_GATE_NO_MEMORY;
    return cs_bytes_set(&artifact->content, cs_buf_view(&xml)) ? CS_GATE_CHANGED : CS_GATE_NO_MEMORY;
}

cs_gate_changed cs_gate_change_tests_few(cs_gate_trial *t) {
    const cs_policy_tests *tests = &t->requirement->tests;
    if (tests->min_executed == 0) return CS_GATE_NO_CHANGE;
    cs_gate_changed changed = set_cases(t, tests->min_executed - 1, 0, 0);
    if (changed != CS_GATE_CHANGED) return changed;
    return cs_gate_change_says(t, "one test fewer was executed than is asked for: %" PRIu64, tests->min_executed - 1);
}

cs_gate_changed cs_gate_change_tests_skipped(cs_gate_trial *t) {
    const cs_policy_tests *tests = &t->requirement->tests;
    if (tests->max_skipped >= CS_JUNIT_MAX_CASES) return CS_GATE_NO_CHANGE;
    cs_gate_changed changed = set_cases(t, tests->min_executed, tests->max_skipped + 1, 0);
    if (changed != CS_GATE_CHANGED) return changed;
    return cs_gate_change_says(t, "one test more was skipped than is allowed: %" PRIu64, tests->max_skipped + 1);
}

cs_gate_changed cs_gate_change_tests_failed(cs_gate_trial *t) {
    const cs_policy_tests *tests = &t->requirement->tests;
    if (tests->max_failed >= CS_JUNIT_MAX_CASES) return CS_GATE_NO_CHANGE;
    cs_gate_changed changed = set_cases(t, tests->min_executed, 0, tests->max_failed + 1);
    if (changed != CS_GATE_CHANGED) return changed;
    return cs_gate_change_says(t, "one test more failed than is allowed: %" PRIu64, tests->max_failed + 1);
}

cs_gate_changed cs_gate_change_tests_missing(cs_gate_trial *t) {
    size_t at = 0;
    Plimsoll__V1__Artifact *artifact = find_artifact(t, &at);
    if (artifact == NULL) return CS_GATE_NO_CHANGE;
    Plimsoll__V1__ProjectResult *project = t->response->project;
    cs_message_free(artifact);
    project->n_artifacts--;
    memmove(project->artifacts + at, project->artifacts + at + 1,
            (project->n_artifacts - at) * sizeof(Plimsoll__V1__Artifact *));
    return cs_gate_change_says(t, "the artifact with the tests did not come back");
}

cs_gate_changed cs_gate_change_tests_brought(cs_gate_trial *t) {
    cs_gate_changed changed = cs_gate_change_adds_file(t, t->requirement->tests.artifact);
    if (changed != CS_GATE_CHANGED) return changed;
    return cs_gate_change_says(t, "the run brought a file of the artifact's path");
}
