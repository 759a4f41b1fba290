#include "examples/localdaemon/stamp.h"

#include "records/digest.h"
#include "records/protojson.h"
#include "records/wire.h"

#include <string.h>

/* The largest answer: both streams of every step and all artifacts in base64, and the texts of the request
 * that come back, in JSON, where a control character takes six bytes. */
_Static_assert((CS_MAX_STEPS * 2u * LD_STREAM_CAP + LD_ARTIFACTS_CAP) / 3u * 4u +
                       6u * (CS_MAX_STEPS * CS_MAX_STEP_BYTES + 2u * CS_MAX_ARTIFACTS * CS_MAX_PATH_BYTES) + 65536u <
                   CS_MAX_ANSWER_BYTES,
               "an answer may be larger than a client accepts");

/* The parts of one answer. Its messages borrow from the job, the request and the daemon, so that nothing is
 * copied before the answer is encoded; nothing here may be passed to cs_message_free. */
typedef struct answer {
    cs_run_response response;
    cs_run_record record;
    Plimsoll__V1__JavaScriptResult javascript;
    Plimsoll__V1__ProjectResult project;
    Plimsoll__V1__CellResult cell;
    Plimsoll__V1__StepResult steps[CS_MAX_STEPS];
    Plimsoll__V1__StepResult *step_list[CS_MAX_STEPS];
    Plimsoll__V1__Artifact artifacts[CS_MAX_ARTIFACTS];
    Plimsoll__V1__Artifact *artifact_list[CS_MAX_ARTIFACTS];
    cs_digest request_sha256;
    cs_digest result_sha256;
    cs_digest record_sha256;
} answer;

/* The messages' fields are not const, but nothing writes to them. */
static ProtobufCBinaryData borrow(cs_view view) {
    ProtobufCBinaryData data = {.len = view.len};
    memcpy(&data.data, &view.ptr, sizeof(data.data));
    return data;
}

static void fill_javascript(answer *to, const ld_job *job) {
    const ld_output *output = &job->outputs[0];
    plimsoll__v1__java_script_result__init(&to->javascript);
    to->javascript.stdout = borrow(cs_buf_view(&output->out));
    to->javascript.stderr = borrow(cs_buf_view(&output->err));
    to->javascript.exit_code = output->exit_code;
    to->javascript.timed_out = output->timed_out;
    to->javascript.stdout_truncated = output->out_truncated;
    to->javascript.stderr_truncated = output->err_truncated;
    to->response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT;
    to->response.javascript = &to->javascript;
}

static void fill_cell(answer *to, const ld_job *job) {
    const ld_output *output = &job->outputs[0];
    plimsoll__v1__cell_result__init(&to->cell);
    to->cell.stdout = borrow(cs_buf_view(&output->out));
    to->cell.stderr = borrow(cs_buf_view(&output->err));
    to->cell.exit_code = output->exit_code;
    to->cell.timed_out = output->timed_out;
    to->cell.stdout_truncated = output->out_truncated;
    to->cell.stderr_truncated = output->err_truncated;
    to->cell.interpreter_started = job->interpreter_started;
    to->cell.interpreter_ended = job->interpreter_ended;
    to->response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL;
    to->response.cell = &to->cell;
}

static void fill_step(Plimsoll__V1__StepResult *to, const ProtobufCBinaryData *command, const ld_output *output) {
    plimsoll__v1__step_result__init(to);
    to->command = *command;
    to->stdout = borrow(cs_buf_view(&output->out));
    to->stderr = borrow(cs_buf_view(&output->err));
    to->exit_code = output->exit_code;
    to->timed_out = output->timed_out;
    to->duration_ms = output->duration_ms;
    to->stdout_truncated = output->out_truncated;
    to->stderr_truncated = output->err_truncated;
}

static void fill_project(answer *to, const Plimsoll__V1__ProjectRun *run, const ld_job *job) {
    plimsoll__v1__project_result__init(&to->project);
    for (size_t i = 0; i < job->output_count; i++) {
        fill_step(&to->steps[i], &run->steps[i], &job->outputs[i]);
        to->step_list[i] = &to->steps[i];
    }
    for (size_t i = 0; i < job->artifact_count; i++) {
        plimsoll__v1__artifact__init(&to->artifacts[i]);
        to->artifacts[i].path = borrow(job->artifacts[i].path);
        if (job->artifacts[i].len > 0)
            to->artifacts[i].content =
                borrow(cs_view_bytes(job->contents.ptr + job->artifacts[i].content, job->artifacts[i].len));
        to->artifact_list[i] = &to->artifacts[i];
    }
    to->project.n_steps = job->output_count;
    to->project.steps = to->step_list;
    to->project.outcome = job->outcome;
    to->project.n_artifacts = job->artifact_count;
    to->project.artifacts = to->artifact_list;
    to->project.outcome_detail = borrow(cs_buf_view(&job->detail));
    to->project.artifacts_truncated = job->artifacts_truncated;
    to->response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT;
    to->response.project = &to->project;
}

static void fill_answer(answer *to, const ld_daemon *daemon, const cs_run_request *request, const ld_job *job) {
    to->response.sandbox = borrow(cs_view_of(daemon->sandbox.name));
    to->response.isolation = borrow(cs_view_of(cs_tier_word(daemon->sandbox.tier)));
    to->response.environment = borrow(cs_view_of(daemon->sandbox.environment));
    to->response.duration_ms = job->duration_ms;
    to->response.record = &to->record;
    if (daemon->protocol >= 4) to->response.instance = borrow(cs_view_of(job->instance));
    if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT)
        fill_javascript(to, job);
    else if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL)
        fill_cell(to, job);
    else
        fill_project(to, request->project, job);
}

/* What every record states. Software identity and the software rule stay empty: this daemon has no identity of its own
 * software and refuses a request with a rule. The environment is stated by the providers that have one. */
static void fill_facts(cs_run_record *record, const ld_daemon *daemon, const ld_job *job, bool answered) {
    record->version = daemon->protocol >= 4 ? 4 : !answered ? 3 : daemon->protocol >= 2 ? 2 : 1;
    record->provider = borrow(cs_view_of(daemon->sandbox.name));
    record->isolation = borrow(cs_view_of(cs_tier_word(daemon->sandbox.tier)));
    record->environment = borrow(cs_view_of(daemon->sandbox.environment));
    record->policy = borrow(cs_view_of(daemon->policy));
    if (daemon->protocol >= 4) record->instance = borrow(cs_view_of(job->instance));
    record->started_unix_ms = job->started_unix_ms;
    record->ended_unix_ms = job->ended_unix_ms;
}

static void fill_place(cs_run_record *record, const ld_chain *chain) {
    record->session = borrow(cs_digest_view(&chain->session));
    record->sequence = chain->calls + 1;
    record->previous_sha256 = borrow(cs_view_of(chain->previous.hex));
}

/* `chain`: NULL outside sessions. */
static cs_result fill_record(answer *to, const ld_daemon *daemon, const cs_run_request *request, const ld_job *job,
                             const ld_chain *chain, cs_error *err) {
    cs_run_record *record = &to->record;
    fill_facts(record, daemon, job, true);
    if (chain != NULL) fill_place(record, chain);
    cs_result result = cs_digest_request(request, &to->request_sha256, err);
    if (result == CS_OK) result = cs_digest_result(&to->response, &to->result_sha256, err);
    if (result != CS_OK) return result;
    record->request_sha256 = borrow(cs_digest_view(&to->request_sha256));
    record->result_sha256 = borrow(cs_digest_view(&to->result_sha256));
    result = cs_digest_record(record, &to->record_sha256, err);
    if (result == CS_OK) record->record_sha256 = borrow(cs_digest_view(&to->record_sha256));
    return result;
}

static cs_result encode(const ProtobufCMessage *message, bool json, cs_buf *out, cs_error *err) {
    return json ? cs_protojson_write(message, out, err) : cs_message_encode(message, out, err);
}

cs_result ld_stamp(const ld_daemon *daemon, const cs_run_request *request, const ld_job *job, bool json, cs_buf *out,
                   cs_error *err) {
    answer to = {.response = PLIMSOLL__V1__RUN_RESPONSE__INIT, .record = PLIMSOLL__V1__RUN_RECORD__INIT};
    fill_answer(&to, daemon, request, job);
    cs_result result = fill_record(&to, daemon, request, job, NULL, err);
    return result == CS_OK ? encode(&to.response.base, json, out, err) : result;
}

cs_result ld_stamp_call(const ld_daemon *daemon, const cs_run_request *request, const ld_job *job, ld_ending ending,
                        bool json, ld_chain *chain, cs_buf *out, cs_error *err) {
    answer to = {.response = PLIMSOLL__V1__RUN_RESPONSE__INIT, .record = PLIMSOLL__V1__RUN_RECORD__INIT};
    cs_session_run_response whole = PLIMSOLL__V1__SESSION_RUN_RESPONSE__INIT;
    fill_answer(&to, daemon, request, job);
    cs_result result = fill_record(&to, daemon, request, job, chain, err);
    if (result != CS_OK) return result;
    whole.run = &to.response;
    whole.ended = ending.end;
    whole.end_detail = borrow(cs_view_of(ending.detail));
    result = encode(&whole.base, json, out, err);
    if (result != CS_OK) return result;
    chain->calls++;
    chain->previous = to.record_sha256;
    return CS_OK;
}

cs_result ld_stamp_unanswered(const ld_daemon *daemon, const cs_run_request *request, const ld_job *job,
                              cs_connect_code code, ld_chain *chain, ld_unanswered *out, cs_error *err) {
    *out = (ld_unanswered){
        .record = PLIMSOLL__V1__RUN_RECORD__INIT, .session = chain->session, .previous = chain->previous};
    cs_run_record *record = &out->record;
    fill_facts(record, daemon, job, false);
    record->session = borrow(cs_digest_view(&out->session));
    record->sequence = chain->calls + 1;
    record->previous_sha256 = borrow(cs_view_of(out->previous.hex));
    record->unanswered = borrow(cs_view_of(cs_connect_word(code)));
    cs_result result = cs_digest_request(request, &out->request_sha256, err);
    if (result != CS_OK) return result;
    record->request_sha256 = borrow(cs_digest_view(&out->request_sha256));
    result = cs_digest_record(record, &out->record_sha256, err);
    if (result != CS_OK) return result;
    record->record_sha256 = borrow(cs_digest_view(&out->record_sha256));
    chain->calls++;
    chain->previous = out->record_sha256;
    return CS_OK;
}
