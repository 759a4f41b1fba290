/* The condition of one record about its tests: which were executed, says the artifact that the run gave. */
#include <inttypes.h>
#include <string.h>

#include "gate/judge_internal.h"
#include "gate/junit.h"
#include "records/success.h"
#include "records/text.h"

/* The artifact of that path. NULL: none, or more than one, of which one would have to be believed. */
static const Plimsoll__V1__Artifact *find_artifact(const cs_run_response *response, cs_view path, size_t *found) {
    *found = 0;
    const Plimsoll__V1__Artifact *artifact = NULL;
    if (response->result_case != PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT) return NULL;
    for (size_t i = 0; i < response->project->n_artifacts; i++) {
        if (!cs_view_equal(cs_bytes_view(&response->project->artifacts[i]->path), path)) continue;
        artifact = response->project->artifacts[i];
        (*found)++;
    }
    return *found == 1 ? artifact : NULL;
}

static void refuse_missing(const cs_gate_question *q, size_t found, cs_gate_finding *out) {
    cs_gate_shown path = cs_gate_show(q->requirement->tests.artifact);
    if (found > 1)
        cs_gate_refuse(out, CS_CODE_GATE_TESTS_MISSING, "the run gave %zu artifacts of the path %s", found, path.text);
    else
        cs_gate_refuse(out, CS_CODE_GATE_TESTS_MISSING, "the run gave no artifact %s", path.text);
}

/* A file of that path which came with the run could have been handed back as it was, without a test being run. */
static bool is_brought(const cs_gate_question *q) {
    cs_gate_files files = cs_gate_files_of(q->facts->request);
    for (size_t i = 0; i < files.count; i++)
        if (cs_view_equal(cs_bytes_view(&files.items[i]->path), q->requirement->tests.artifact)) return true;
    return false;
}

/* What is suspicious, but by itself no reason to refuse: the counts are of the cases and not of what sums them up. */
static void add_suspicions(const cs_junit *junit, cs_gate_finding *out) {
    if (junit->repeated > 0)
        cs_gate_also(out, "; %" PRIu64 " %s the name of another", junit->repeated,
                     cs_plural(junit->repeated, "case repeats", "cases repeat"));
    /* What is hidden is such a disagreement itself. */
    if (junit->lies && !junit->hides) cs_gate_also(out, "; the file says otherwise: %s", junit->lie);
}

/* The most telling first: a failed test, then one that was skipped, which is also one executed test fewer. */
static void hold_counts(const cs_policy_tests *tests, const cs_junit *junit, cs_gate_finding *out) {
    if (junit->failed > tests->max_failed) {
        cs_gate_refuse(out, CS_CODE_GATE_TESTS_FAILED, "%" PRIu64 " of %" PRIu64 " %s failed%s%s", junit->failed,
                       junit->cases, cs_plural(junit->cases, "test", "tests"),
                       junit->first_failed[0] != '\0' ? ", the first: " : "", junit->first_failed);
        if (junit->first_reason[0] != '\0') cs_gate_also(out, " (%s)", junit->first_reason);
    } else if (junit->hides) {
        /* However many may fail: what is not among the cases can't be counted. */
        cs_gate_refuse(out, CS_CODE_GATE_TESTS_FAILED, "the file says of failures that it does not show: %s",
                       junit->hidden);
    } else if (junit->skipped > tests->max_skipped) {
        cs_gate_refuse(out, CS_CODE_GATE_TESTS_SKIPPED, "%" PRIu64 " of %" PRIu64 " %s skipped", junit->skipped,
                       junit->cases, cs_plural(junit->cases, "test was", "tests were"));
    } else if (junit->executed < tests->min_executed) {
        cs_gate_refuse(out, CS_CODE_GATE_TESTS_FEW, "%" PRIu64 " %s executed", junit->executed,
                       cs_plural(junit->executed, "test was", "tests were"));
    } else {
        cs_gate_pass(out, "%" PRIu64 " %s executed, %" PRIu64 " skipped, %" PRIu64 " failed", junit->executed,
                     cs_plural(junit->executed, "test was", "tests were"), junit->skipped, junit->failed);
    }
    add_suspicions(junit, out);
}

cs_result cs_gate_hold_tests(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    const cs_policy_tests *tests = &q->requirement->tests;
    if (!tests->present) return CS_OK;
    const cs_run_response *response = q->facts->response;
    if (is_brought(q)) {
        cs_gate_shown path = cs_gate_show(tests->artifact);
        cs_gate_refuse(out, CS_CODE_GATE_TESTS_MISSING,
                       "the run brought a file %s itself: it may have been handed back", path.text);
        return CS_OK;
    }
    if (cs_gate_lost_artifacts(response)) {
        cs_gate_leave(out, "artifacts of the run were cut");
        return CS_OK;
    }
    size_t found = 0;
    const Plimsoll__V1__Artifact *artifact = find_artifact(response, tests->artifact, &found);
    bool explained = cs_work_timed_out(response) || q->findings[CS_GATE_WORK].state == CS_GATE_REFUSED;
    if (found == 0 && explained) {
        cs_gate_leave(out, "the run ended before it gave the artifact");
        return CS_OK;
    }
    if (artifact == NULL) {
        refuse_missing(q, found, out);
        return CS_OK;
    }
    cs_junit junit;
    cs_error own = CS_ERROR_INIT;
    cs_result result = cs_junit_read(cs_bytes_view(&artifact->content), &junit, &own);
    if (result == CS_FAILED) {
        cs_gate_refuse(out, own.code, "%.300s", own.message);
        return CS_OK;
    }
    if (result != CS_OK) {
        *err = own;
        return result;
    }
    *q->measured = (cs_gate_measured){.tests = true, .executed = junit.executed};
    hold_counts(tests, &junit, out);
    return CS_OK;
}
