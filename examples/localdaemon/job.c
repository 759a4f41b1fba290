#include "examples/localdaemon/job.h"

#include "examples/localdaemon/log.h"
#include "examples/localdaemon/provider.h"

#include <errno.h>
#include <string.h>

#define SCRIPT "main.cjs"
#define MAX_DETAIL 262144u

static cs_result no_memory(cs_error *err) {
    return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the run's result");
}

/* Run one command as the next output of the job. */
static cs_result run_command(const ld_place *place, const char *const *argv, ld_job *job, cs_error *err) {
    ld_command command = {.argv = argv};
    ld_output *output = &job->outputs[job->output_count++];
    cs_result result = ld_launch(place, &command, output, err);
    if (result == CS_OK && output->stopped) result = cs_fail(err, CS_CODE_INTERRUPTED, "the run was told to end");
    return result;
}

cs_result ld_job_tell_unfit(ld_job *job, cs_view path, int error, cs_error *err) {
    ld_output *output = &job->outputs[job->output_count++];
    *output = (ld_output){
        .out = CS_BUF_INIT(LD_STREAM_CAP), .err = CS_BUF_INIT(LD_STREAM_CAP), .clean = true, .exit_code = 1};
    if (cs_buf_text(&output->err, "file can't be made: ") && cs_buf_append(&output->err, path.ptr, path.len) &&
        cs_buf_printf(&output->err, ": %s\n", strerror(error)))
        return CS_OK;
    return no_memory(err);
}

static cs_result run_javascript(const ld_place *place, const Plimsoll__V1__JavaScriptRun *run, ld_job *job,
                                cs_error *err) {
    const char *const argv[] = {place->sandbox->node, SCRIPT, NULL};
    ld_work done = ld_provider_write(place, cs_view_of(SCRIPT), cs_bytes_view(&run->code));
    if (done == LD_WORK_UNFIT && place->kept) return ld_job_tell_unfit(job, cs_view_of(SCRIPT), errno, err);
    if (done != LD_WORK_DONE) return cs_fail(err, CS_CODE_IO, "the script can't be written: %s", strerror(errno));
    return run_command(place, argv, job, err);
}

cs_result ld_job_files(const ld_place *place, cs_project_file *const *files, size_t count,
                       const cs_project_file **unfit, cs_error *err) {
    *unfit = NULL;
    for (size_t i = 0; i < count && *unfit == NULL; i++) {
        ld_work done = ld_provider_write(place, cs_bytes_view(&files[i]->path), cs_bytes_view(&files[i]->content));
        if (done == LD_WORK_UNFIT) *unfit = files[i];
        if (done == LD_WORK_FAILED) return cs_fail(err, CS_CODE_IO, "a file can't be written: %s", strerror(errno));
    }
    return CS_OK;
}

/* A file that can't be made because of its path is the request's matter: no step runs, and the result says
 * so. */
static cs_result write_files(const ld_place *place, const Plimsoll__V1__ProjectRun *run, ld_job *job, cs_error *err) {
    const cs_project_file *unfit = NULL;
    cs_result result = ld_job_files(place, run->files, run->n_files, &unfit, err);
    if (result != CS_OK || unfit == NULL) return result;
    const char *why = strerror(errno);
    cs_view path = cs_bytes_view(&unfit->path);
    job->outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_SETUP_FAILED;
    if (!cs_buf_text(&job->detail, "file can't be made: ") || !cs_buf_append(&job->detail, path.ptr, path.len) ||
        !cs_buf_printf(&job->detail, ": %s", why))
        return no_memory(err);
    return CS_OK;
}

static cs_result run_step(const ld_place *place, const ProtobufCBinaryData *step, ld_job *job, cs_error *err) {
    char text[CS_MAX_STEP_BYTES + 1];
    if (step->len > CS_MAX_STEP_BYTES) return cs_fail(err, CS_CODE_INTERNAL, "a step is too long");
    if (step->len > 0) memcpy(text, step->data, step->len);
    text[step->len] = '\0';
    const char *const argv[] = {"/bin/sh", "-c", text, NULL};
    return run_command(place, argv, job, err);
}

static cs_result run_steps(const ld_place *place, const Plimsoll__V1__ProjectRun *run, ld_job *job, cs_error *err) {
    for (size_t i = 0; i < run->n_steps; i++) {
        cs_result result = run_step(place, &run->steps[i], job, err);
        if (result != CS_OK) return result;
        const ld_output *output = &job->outputs[i];
        bool good = true;
        if (output->timed_out) {
            job->outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_TIMED_OUT;
            good = cs_buf_printf(&job->detail, "step %zu of %zu did not end in time", i + 1, run->n_steps);
        } else if (output->exit_code != 0 && i + 1 < run->n_steps) {
            good =
                cs_buf_printf(&job->detail, "step %zu of %zu ended with exit code %d; the steps after it were not run",
                              i + 1, run->n_steps, output->exit_code);
        }
        if (!good) return no_memory(err);
        if (output->timed_out || output->exit_code != 0) return CS_OK;
    }
    return CS_OK;
}

static bool note_missing(ld_job *job, cs_view path, const char *why) {
    return cs_buf_text(&job->detail, job->detail.len > 0 ? "; " : "") &&
           cs_buf_text(&job->detail, "artifact not collected: ") && cs_buf_append(&job->detail, path.ptr, path.len) &&
           cs_buf_printf(&job->detail, ": %s", why);
}

/* In the order asked for. One that isn't there is named in the detail; one that doesn't fit any more is
 * left out whole. */
static cs_result collect(const ld_place *place, const Plimsoll__V1__ProjectRun *run, ld_job *job, cs_error *err) {
    for (size_t i = 0; i < run->n_artifacts && job->artifact_count < CS_MAX_ARTIFACTS; i++) {
        cs_view path = cs_bytes_view(&run->artifacts[i]);
        size_t begin = job->contents.len;
        ld_work done = ld_provider_read(place, path, LD_ARTIFACTS_CAP - begin, &job->contents);
        bool good = done != LD_WORK_FAILED;
        if (done == LD_WORK_DONE)
            job->artifacts[job->artifact_count++] =
                (ld_artifact){.path = path, .content = begin, .len = job->contents.len - begin};
        if (done == LD_WORK_UNFIT) good = note_missing(job, path, "no such regular file");
        if (done == LD_WORK_LARGE) {
            job->artifacts_truncated = true;
            good = note_missing(job, path, "too large");
        }
        if (!good) return cs_fail(err, CS_CODE_IO, "an artifact can't be read");
    }
    return CS_OK;
}

static cs_result run_project(const ld_place *place, const Plimsoll__V1__ProjectRun *run, ld_job *job, cs_error *err) {
    job->outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED;
    cs_result result = write_files(place, run, job, err);
    if (result != CS_OK || job->outcome != PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED) return result;
    result = run_steps(place, run, job, err);
    return result == CS_OK ? collect(place, run, job, err) : result;
}

bool ld_job_clean(const ld_job *job) {
    for (size_t i = 0; i < job->output_count; i++)
        if (!job->outputs[i].clean) return false;
    return true;
}

/* Give the slot back, or keep it for ever when something of the run may still be there. The first
 * failure is the one that is told. */
static cs_result leave(ld_daemon *daemon, ld_slot *slot, bool clean, cs_result so_far, cs_error *err) {
    if (!clean) {
        ld_log("slot %u is not used again: processes of a run are left, or what walled it in", slot->number);
        ld_slot_abandon(slot);
        return so_far != CS_OK ? so_far : cs_fail(err, CS_CODE_INTERNAL, "processes of the run can't be ended");
    }
    cs_error second = CS_ERROR_INIT;
    cs_result result = ld_slot_return(&daemon->slots, slot, &second);
    if (result == CS_OK) return so_far;
    ld_log_error("a slot is not used again", &second);
    return so_far != CS_OK ? so_far : cs_fail(err, second.code, "%s", second.message);
}

int64_t ld_job_deadline(const cs_run_request *request) {
    return ld_monotonic_ms() + (request->timeout_ms > 0 ? request->timeout_ms : LD_DEFAULT_RUN_MS);
}

void ld_job_begin(ld_job *job, const ld_slot *slot) {
    memset(job, 0, sizeof(*job));
    memcpy(job->instance, slot->instance, sizeof(job->instance));
    job->detail = CS_BUF_INIT(MAX_DETAIL);
    job->contents = CS_BUF_INIT(LD_ARTIFACTS_CAP);
    job->begun_ms = ld_monotonic_ms();
    job->started_unix_ms = ld_unix_ms();
}

void ld_job_end(ld_job *job) {
    job->duration_ms = ld_monotonic_ms() - job->begun_ms;
    job->ended_unix_ms = ld_unix_ms();
}

cs_result ld_job_run_in(const ld_place *place, const cs_run_request *request, ld_job *out, cs_error *err) {
    ld_job_begin(out, place->slot);
    cs_result result = ld_provider_enter(place, err);
    if (result == CS_OK)
        result = request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT
                     ? run_javascript(place, request->javascript, out, err)
                     : run_project(place, request->project, out, err);
    ld_job_end(out);
    return result;
}

cs_result ld_job_run(ld_daemon *daemon, const cs_run_request *request, ld_job *out, cs_error *err) {
    memset(out, 0, sizeof(*out));
    ld_slot slot;
    ld_machine *machine = NULL;
    const ld_provider *provider = daemon->sandbox.provider;
    cs_result result = ld_slot_take(&daemon->slots, provider->fixed_paths, &slot, err);
    if (result != CS_OK) return result;
    ld_place place = {.sandbox = &daemon->sandbox,
                      .slots = &daemon->slots,
                      .slot = &slot,
                      .guards = ld_sandbox_in_force(&daemon->sandbox),
                      .limits = daemon->sandbox.limits,
                      .deadline_ms = ld_job_deadline(request),
                      .stop_fd = daemon->stop_fd,
                      .machine = &machine};
    result = ld_job_run_in(&place, request, out, err);
    bool clean = ld_provider_leave(provider, &machine);
    return leave(daemon, &slot, clean && ld_job_clean(out), result, err);
}

void ld_job_free(ld_job *job) {
    for (size_t i = 0; i < job->output_count; i++)
        ld_output_free(&job->outputs[i]);
    cs_buf_free(&job->detail);
    cs_buf_free(&job->contents);
}
