/* What is sent, and the facts in what comes back. */
#include <stdio.h>
#include <string.h>

#include "harness/guards_internal.h"
#include "harness/probe_bytes.h"
#include "harness/probe_parts.h"
#include "records/request.h"
#include "records/text.h"

#define PROGRAM_FILE "walls.b64"
#define UNPACK "base64 -d " PROGRAM_FILE " > walls && chmod +x walls && "
/* The attempts take a moment only, and a watch on a busy machine must see that there is a process below the daemon. */
#define HOLD "; end=$?; sleep 1; exit $end"

static cs_result no_memory(cs_error *err) {
    return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the attempts on a guard");
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static cs_result request(const cs_view *steps, size_t count, int32_t timeout_ms, cs_view floor, cs_run_request **out,
                         cs_error *err) {
    const cs_probe_project project = {.file = PROGRAM_FILE,
                                      .program = cs_probe_walls_bytes(),
                                      .steps = steps,
                                      .step_count = count,
                                      .timeout_ms = timeout_ms};
    return cs_probe_project_request(&project, floor, out, err);
}

bool cs_guard_arguments(const cs_guard_order *order, cs_buf *out) {
    return cs_buf_printf(out, "try %s %s %u %d %d %lld %lld %lld %d", order->nonce,
                         order->canary != NULL ? order->canary : "-", (unsigned)order->port, order->abstract ? 1 : 0,
                         (int)order->pid, (long long)cs_guard_want_processes(&order->promises),
                         (long long)cs_guard_want_disk(&order->promises),
                         (long long)cs_guard_want_spinning(&order->promises), order->leave ? 1 : 0);
}

cs_result cs_guard_request_try(const cs_guard_order *order, cs_view floor, cs_run_request **out, cs_error *err) {
    *out = NULL;
    CS_AUTO_BUF step = CS_BUF_INIT(CS_MAX_STEP_BYTES);
    if (!cs_buf_text(&step, UNPACK "./walls ") || !cs_guard_arguments(order, &step) || !cs_buf_text(&step, HOLD))
        return no_memory(err);
    const cs_view steps[] = {cs_buf_view(&step)};
    return request(steps, 1, CS_PROBE_TIMEOUT_MS, floor, out, err);
}

cs_result cs_guard_request_look(const char *nonce, const cs_guard_order *first, cs_view floor, cs_run_request **out,
                                cs_error *err) {
    *out = NULL;
    int64_t fill = cs_guard_want_memory(&first->promises);
    CS_AUTO_BUF look = CS_BUF_INIT(CS_MAX_STEP_BYTES);
    CS_AUTO_BUF have = CS_BUF_INIT(CS_MAX_STEP_BYTES);
    if (!cs_buf_printf(&look, UNPACK "./walls look %s %s", nonce, first->nonce) ||
        !cs_buf_printf(&have, UNPACK "./walls fill %s %lld", nonce, (long long)fill))
        return no_memory(err);
    const cs_view steps[] = {cs_buf_view(&look), cs_buf_view(&have)};
    return request(steps, fill > 0 ? 2 : 1, CS_PROBE_TIMEOUT_MS, floor, out, err);
}

cs_result cs_guard_request_sleep(const char *nonce, cs_view floor, cs_run_request **out, cs_error *err) {
    *out = NULL;
    CS_AUTO_BUF step = CS_BUF_INIT(CS_MAX_STEP_BYTES);
    if (!cs_buf_printf(&step, UNPACK "./walls wait %s %d", nonce, CS_GUARD_SLEEP_MS)) return no_memory(err);
    const cs_view steps[] = {cs_buf_view(&step)};
    return request(steps, 1, CS_GUARD_TIME_MS, floor, out, err);
}

/* ---- answers ------------------------------------------------------------------------------------------- */

typedef enum step_end { STEP_NONE, STEP_GOOD, STEP_TIMED_OUT, STEP_FAILED } step_end;

/* How a step ended, and why it says nothing. *output borrows what it printed, also when it failed. */
static step_end step_of(const cs_run_response *response, size_t index, cs_view *output, char *why) {
    *output = (cs_view){0};
    const Plimsoll__V1__ProjectResult *project =
        response != NULL && response->result_case == PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT ? response->project
                                                                                                : NULL;
    if (project == NULL || index >= project->n_steps) {
        bool late = project != NULL && project->outcome == PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_TIMED_OUT;
        cs_guard_say(why, "%s", late ? "the run did not end in time" : "its step was not run");
        return late ? STEP_TIMED_OUT : STEP_NONE;
    }
    const Plimsoll__V1__StepResult *step = project->steps[index];
    *output = cs_view_bytes(step->stdout.data, step->stdout.len);
    if (step->timed_out) {
        cs_guard_say(why, "its step did not end in time");
        return STEP_TIMED_OUT;
    }
    if (step->exit_code == 0 && !step->stdout_truncated) return STEP_GOOD;
    char shown[100];
    cs_escape_short(cs_view_bytes(step->stderr.data, step->stderr.len), shown, sizeof shown);
    cs_guard_say(why, "its step ended with code %d: %s", (int)step->exit_code, shown);
    return STEP_FAILED;
}

/* An answer that can't be read is a fact; one with another digest is not this run's. */
static cs_result unread(cs_result result, const cs_error *trouble, char *why, cs_error *err) {
    if (result == CS_OK) return CS_OK;
    cs_guard_say(why, "%s", trouble->message);
    if (trouble->code == CS_CODE_TIER_PROBE) return CS_OK;
    *err = *trouble;
    return result;
}

cs_result cs_guard_take_try(const cs_guard_order *order, const cs_run_response *response, cs_guard_facts *facts,
                            cs_error *err) {
    cs_view output;
    cs_error trouble = CS_ERROR_INIT;
    step_end end = step_of(response, 0, &output, facts->trial.why);
    facts->try_timed_out = end == STEP_TIMED_OUT;
    if (end != STEP_GOOD) return CS_OK;
    cs_result result = cs_guard_read_try(order->nonce, output, &facts->trial, &trouble);
    return unread(result, &trouble, facts->trial.why, err);
}

/* A step that was ended while it had more and more has shown that there is a bound. */
static cs_result take_fill(const char *nonce, const cs_run_response *response, cs_guard_fill *fill, cs_error *err) {
    cs_view output;
    cs_error trouble = CS_ERROR_INIT;
    step_end end = step_of(response, 1, &output, fill->why);
    if (end != STEP_GOOD && end != STEP_FAILED) return CS_OK;
    cs_result result = cs_guard_read_fill(nonce, output, fill, &trouble);
    if (result != CS_OK && end == STEP_FAILED && !fill->begun) return CS_OK;
    if (result == CS_OK && end == STEP_FAILED && !fill->read) fill->why[0] = '\0';
    if (result == CS_OK && end == STEP_GOOD && !fill->read)
        cs_guard_say(fill->why, "it began, and did not say how it ended");
    return unread(result, &trouble, fill->why, err);
}

cs_result cs_guard_take_look(const char *nonce, const cs_run_response *response, cs_guard_facts *facts, cs_error *err) {
    cs_view output;
    cs_error trouble = CS_ERROR_INIT;
    if (step_of(response, 0, &output, facts->look.why) == STEP_GOOD) {
        cs_result result = cs_guard_read_look(nonce, output, &facts->look, &trouble);
        result = unread(result, &trouble, facts->look.why, err);
        if (result != CS_OK) return result;
    }
    if (cs_guard_want_memory(&facts->promises) == 0) return CS_OK;
    return take_fill(nonce, response, &facts->fill, err);
}

void cs_guard_take_sleep(const cs_run_response *response, cs_guard_sleep *out) {
    cs_view output;
    out->why[0] = '\0';
    step_end end = step_of(response, 0, &output, out->why);
    out->ran = true;
    out->marked = end == STEP_TIMED_OUT;
    out->slept = end == STEP_GOOD;
    if (out->marked) out->why[0] = '\0';
}
