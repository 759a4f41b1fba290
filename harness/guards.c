/* The check: what is laid out, run, judged and kept. */
#include "harness/guards.h"

#include <string.h>
#include <time.h>

#include "harness/guards_internal.h"
#include "harness/keep.h"
#include "harness/probe_parts.h"

#define CONTROL_MS 120000
#define PARTS 4u

/* What one check works with. */
typedef struct check {
    const cs_guards_options *options;
    cs_guards_report *report;
    cs_guard_facts facts;
    cs_guard_order order;
    cs_guard_bait bait;
    int64_t tried_ms; /* when the first run came to its end */
} check;

static int64_t now_ms(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void tell(const check *c, size_t done) {
    if (c->options->on_progress != NULL) c->options->on_progress(c->options->user, done, PARTS);
}

/* ---- the runs ------------------------------------------------------------------------------------------- */

static cs_result run(check *c, cs_guard_run which, cs_run_request *request) {
    cs_run_report *of = &c->report->runs[which];
    c->report->ran[which] = true;
    cs_result result = cs_run_once(&c->options->run, request, of);
    c->report->err = of->err;
    return result;
}

/* The floor is what the daemon claims: it must take such a run. */
static cs_view floor_of(const check *c) {
    return cs_view_of(c->facts.promises.claim > CS_TIER_NONE ? cs_tier_word(c->facts.promises.claim) : "");
}

/* The same attempts here. They leave nothing: what remains has its control within the run itself. */
static void make_control(check *c) {
    cs_guard_order order = c->order;
    cs_error trouble = CS_ERROR_INIT;
    CS_AUTO_BUF arguments = CS_BUF_INIT(2048);
    CS_AUTO_BUF output = CS_BUF_INIT(CS_PROBE_MAX_ANSWER);
    order.leave = false;
    if (!cs_guard_has_disk(cs_guard_want_disk(&order.promises))) order.promises.disk_mb = 0;
    cs_result result =
        cs_guard_arguments(&order, &arguments) && cs_buf_append(&arguments, "", 1)
            ? cs_guard_control(c->bait.program, (const char *)arguments.ptr, CONTROL_MS, &output, &trouble)
            : cs_fail(&trouble, CS_CODE_NO_MEMORY, "no memory for the attempts on a guard");
    if (result == CS_OK) result = cs_guard_read_try(order.nonce, cs_buf_view(&output), &c->facts.control, &trouble);
    if (result != CS_OK) cs_guard_say(c->facts.control.why, "%s", trouble.message);
}

static void make_fill_control(check *c, const char *nonce) {
    int64_t wanted = cs_guard_want_memory(&c->facts.promises);
    cs_guard_fill *fill = &c->facts.control_fill;
    if (wanted == 0) return;
    if (!cs_guard_has_memory(wanted)) {
        cs_guard_say(fill->why, "not tried: this machine has no room for it");
        return;
    }
    char arguments[CS_GUARD_TEXT];
    cs_error trouble = CS_ERROR_INIT;
    CS_AUTO_BUF output = CS_BUF_INIT(CS_PROBE_MAX_ANSWER);
    cs_guard_say(arguments, "fill %s %lld", nonce, (long long)wanted);
    cs_result result = cs_guard_control(c->bait.program, arguments, CONTROL_MS, &output, &trouble);
    if (result == CS_OK) result = cs_guard_read_fill(nonce, cs_buf_view(&output), fill, &trouble);
    if (result != CS_OK) cs_guard_say(fill->why, "%s", trouble.message);
}

/* With everything laid out, first here and then through the daemon. */
static cs_result try_with(check *c) {
    cs_run_request *request = NULL;
    make_control(c);
    tell(c, 1);
    cs_result result = cs_guard_request_try(&c->order, floor_of(c), &request, &c->report->err);
    if (result == CS_OK) result = run(c, CS_GUARD_RUN_TRY, request);
    c->tried_ms = now_ms();
    return result;
}

static cs_result try_guards(check *c) {
    cs_host_daemon before, after;
    cs_host_watch *watch = NULL;
    cs_host_sighting seen;
    cs_probe_order laid = {.form = CS_PROBE_SCRIPT};
    cs_result result = cs_probe_nonce(c->order.nonce, &c->report->err);
    if (result != CS_OK) return result;
    memcpy(laid.nonce, c->order.nonce, sizeof laid.nonce);
    const char *url = cs_client_url(c->options->run.client);
    bool reachable = cs_host_find_daemon(url, &before);
    if (reachable) result = cs_host_watch_begin(url, &laid, &watch, &c->report->err);
    if (result != CS_OK) return result;
    cs_guard_bait_lay(c->order.nonce, reachable, &c->bait);
    c->order.canary = laid.canary;
    c->order.port = laid.port;
    c->order.abstract = c->bait.abstract >= 0;
    c->order.pid = c->bait.pid;
    c->order.leave = true;
    result = try_with(c);
    cs_host_watch_end(watch, &seen);
    c->order.canary = NULL; /* it was the watch's */
    bool still = cs_host_find_daemon(url, &after);
    c->facts.place = still ? cs_guard_place(c->options, seen.place, &before, &after) : seen.place;
    if (result != CS_OK) return result;
    return cs_guard_take_try(&c->order, c->report->runs[CS_GUARD_RUN_TRY].response, &c->facts, &c->report->err);
}

static cs_result look_again(check *c) {
    char nonce[CS_PROBE_NONCE_DIGITS + 1];
    cs_run_request *request = NULL;
    cs_result result = cs_probe_nonce(nonce, &c->report->err);
    if (result == CS_OK) result = cs_guard_request_look(nonce, &c->order, floor_of(c), &request, &c->report->err);
    if (result == CS_OK) result = run(c, CS_GUARD_RUN_LOOK, request);
    c->facts.look.gap_ms = now_ms() - c->tried_ms;
    if (result == CS_OK)
        result = cs_guard_take_look(nonce, c->report->runs[CS_GUARD_RUN_LOOK].response, &c->facts, &c->report->err);
    if (result == CS_OK) make_fill_control(c, nonce);
    return result;
}

static cs_result sleep_too_long(check *c) {
    char nonce[CS_PROBE_NONCE_DIGITS + 1];
    cs_run_request *request = NULL;
    cs_result result = cs_probe_nonce(nonce, &c->report->err);
    if (result == CS_OK) result = cs_guard_request_sleep(nonce, floor_of(c), &request, &c->report->err);
    if (result != CS_OK) return result;
    int64_t begun = now_ms();
    result = run(c, CS_GUARD_RUN_SLEEP, request);
    c->facts.sleep.wall_ms = now_ms() - begun;
    if (result == CS_OK) cs_guard_take_sleep(c->report->runs[CS_GUARD_RUN_SLEEP].response, &c->facts.sleep);
    return result;
}

static cs_result make_runs(check *c) {
    tell(c, 0);
    cs_result result = try_guards(c);
    if (result == CS_OK) tell(c, 2);
    if (result == CS_OK) result = look_again(c);
    if (result == CS_OK) tell(c, 3);
    if (result == CS_OK) result = sleep_too_long(c);
    cs_guard_bait_take(&c->bait);
    return result;
}

/* ---- the verdict ---------------------------------------------------------------------------------------- */

/* The run that shows it. */
static cs_guard_run run_of(const cs_guards_report *report) {
    for (size_t i = 0; i < CS_GUARDS; i++) {
        if (!cs_guard_is_broken(&report->findings[i])) continue;
        cs_guard_run which = i == CS_GUARD_TIME                                ? CS_GUARD_RUN_SLEEP
                             : i == CS_GUARD_LEFTOVERS || i == CS_GUARD_MEMORY ? CS_GUARD_RUN_LOOK
                                                                               : CS_GUARD_RUN_TRY;
        if (report->ran[which]) return which;
    }
    return CS_GUARD_RUN_TRY;
}

static void keep(const check *c, cs_guard_run which) {
    cs_run_report keeper = {.err = c->report->err};
    if (!c->report->ran[which]) return;
    cs_keep_beside(&c->options->run, &c->report->runs[which], NULL, &keeper);
    c->report->err = keeper.err;
    c->report->finding = keeper.entry;
    memcpy(c->report->side_file, keeper.side_file, sizeof c->report->side_file);
}

static cs_result broken(const check *c) {
    cs_guards_report *report = c->report;
    bool implied = false;
    for (size_t i = 0; i < CS_GUARDS; i++)
        if (report->findings[i].verdict == CS_GUARD_NOT_IN_FORCE &&
            cs_guard_is_implied((cs_guard_id)i, c->facts.promises.claim))
            implied = true;
    cs_result result =
        cs_fail(&report->err, implied ? CS_CODE_TIER_CONTRADICTED : CS_CODE_TIER_GUARD,
                "of the guards that the daemon, claiming '%s', promises or that are required, %zu %s not "
                "shown to be in force",
                c->facts.promises.claim > CS_TIER_NONE ? cs_tier_word(c->facts.promises.claim) : "", report->broken,
                report->broken == 1 ? "is" : "are");
    for (size_t i = 0; i < CS_GUARDS; i++) {
        const cs_guard_finding *finding = &report->findings[i];
        if (cs_guard_is_broken(finding))
            cs_error_also(&report->err, "; %s %s (%s): %s", cs_guard_word((cs_guard_id)i),
                          cs_guard_verdict_word(finding->verdict), finding->configured, finding->observed);
    }
    return result;
}

/* Say of every guard why it was not tried. */
static cs_result not_tried(check *c, const char *why) {
    cs_guard_say(c->facts.trial.why, "not tried: %s", why);
    memcpy(c->facts.control.why, c->facts.trial.why, sizeof c->facts.control.why);
    memcpy(c->facts.look.why, c->facts.trial.why, sizeof c->facts.look.why);
    memcpy(c->facts.sleep.why, c->facts.trial.why, sizeof c->facts.sleep.why);
    memcpy(c->facts.fill.why, c->facts.trial.why, sizeof c->facts.fill.why);
    c->report->broken = cs_guards_judge(&c->facts, c->options->required, c->report->findings);
    if (c->options->required == 0) return CS_OK;
    return cs_fail(&c->report->err, CS_CODE_TIER_PROBE, "the guards can't be tried: %s", why);
}

static cs_result check_steps(check *c) {
    cs_guards_report *report = c->report;
    cs_result result = cs_keep_check(&c->options->run, &report->err);
    if (result != CS_OK) return result;
    cs_describe_response *self = NULL;
    result = cs_keep_ask(&c->options->run, &self, &report->err);
    if (result != CS_OK) return result;
    cs_guard_promises_take(self, &c->facts.promises);
    c->order.promises = c->facts.promises;
    bool projects = self->supports_project;
    cs_message_free(self);
    if (!projects) return not_tried(c, "the daemon runs no projects");
    if (cs_probe_walls().len == 0) return not_tried(c, "this build has no program for this processor");
    result = make_runs(c);
    /* Also when a run did not pass: the table is filled in for the reader. */
    report->broken = cs_guards_judge(&c->facts, c->options->required, report->findings);
    if (result != CS_OK && report->err.code == CS_CODE_TIER_NONCE)
        keep(c, report->ran[CS_GUARD_RUN_LOOK] ? CS_GUARD_RUN_LOOK : CS_GUARD_RUN_TRY);
    if (result != CS_OK || report->broken == 0) return result;
    result = broken(c);
    keep(c, run_of(report));
    return result;
}

cs_result cs_guards_check(const cs_guards_options *options, cs_guards_report *report) {
    memset(report, 0, sizeof *report);
    report->result = CS_UNCHECKED;
    report->err = CS_ERROR_INIT;
    check c = {.options = options, .report = report, .bait = {.program = -1, .abstract = -1}};
    cs_guard_facts_begin(&c.facts);
    report->broken = cs_guards_judge(&c.facts, options->required, report->findings);
    report->result = check_steps(&c);
    report->place = c.facts.place;
    if (report->result == CS_OK) report->err = (cs_error){.code = CS_CODE_OK};
    return report->result;
}

void cs_guards_free(cs_guards_report *report) {
    for (size_t i = 0; i < CS_GUARD_RUNS; i++)
        if (report->ran[i]) cs_run_report_free(&report->runs[i]);
    memset(report, 0, sizeof *report);
    report->result = CS_UNCHECKED;
    report->err = CS_ERROR_INIT;
}
