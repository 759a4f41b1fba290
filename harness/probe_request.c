/* What is sent: the order of a probe, its token, its request. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "harness/probe_bytes.h"
#include "harness/probe_parts.h"
#include "records/request.h"
#include "records/text.h"

#define NONCE_BYTES (CS_PROBE_NONCE_DIGITS / 2)
#define MAX_CANARY_BYTES 200u
#define PROGRAM_FILE "probe.b64"

const char *cs_probe_form_word(cs_probe_form form) {
    return form == CS_PROBE_SCRIPT ? "script" : "program";
}

cs_view cs_probe_program(void) {
    return cs_probe_program_bytes();
}

cs_view cs_probe_walls(void) {
    return cs_probe_walls_bytes();
}

cs_result cs_probe_nonce(char out[CS_PROBE_NONCE_DIGITS + 1], cs_error *err) {
    uint8_t nonce[NONCE_BYTES];
    if (getrandom(nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        return cs_fail(err, CS_CODE_IO, "the system gives no random bytes for a nonce");
    cs_hex(nonce, sizeof nonce, out);
    return CS_OK;
}

cs_result cs_probe_order_new(cs_probe_form form, uint32_t hold_ms, cs_probe_order *out, cs_error *err) {
    *out = (cs_probe_order){.form = form, .hold_ms = hold_ms};
    return cs_probe_nonce(out->nonce, err);
}

bool cs_probe_token(const cs_probe_order *order, char out[CS_PROBE_TOKEN_DIGITS + 1]) {
    char text[128];
    int len = snprintf(text, sizeof text, "countersign.tier-token.v1\n%s", order->nonce);
    cs_digest digest;
    if (!cs_sha256_once(cs_view_bytes(text, (size_t)len), &digest)) return false;
    memcpy(out, digest.hex, CS_PROBE_TOKEN_DIGITS);
    out[CS_PROBE_TOKEN_DIGITS] = '\0';
    return true;
}

/* The canary's path becomes part of a script and of a shell's command line. */
static bool plain(const char *path) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-_.";
    size_t len = strlen(path);
    return len > 1 && len <= MAX_CANARY_BYTES && path[0] == '/' && strspn(path, allowed) == len;
}

static bool script_text(const cs_probe_order *order, cs_buf *out) {
    const char *quote = order->canary != NULL ? "\"" : "";
    cs_view script = cs_probe_script_bytes();
    return cs_buf_printf(out, "const given = {\"nonce\":\"%s\",\"hold_ms\":%u,\"canary\":%s%s%s,\"port\":%u};\n",
                         order->nonce, (unsigned)order->hold_ms, quote, order->canary != NULL ? order->canary : "null",
                         quote, (unsigned)order->port) &&
           cs_buf_append(out, script.ptr, script.len);
}

static cs_result no_memory(cs_error *err) {
    return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the request of a probe");
}

/* The messages' fields are not const, but what is made of these is only copied. */
static ProtobufCBinaryData borrow(cs_view view) {
    ProtobufCBinaryData data = {.len = view.len};
    memcpy(&data.data, &view.ptr, sizeof data.data);
    return data;
}

static cs_run_request begin(cs_view floor) {
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    request.minimum_isolation = borrow(floor);
    request.timeout_ms = CS_PROBE_TIMEOUT_MS;
    return request;
}

/* A request whose parts lie on the stack, copied. */
static cs_result copy(const cs_run_request *request, cs_run_request **out, cs_error *err) {
    ProtobufCMessage *made = NULL;
    cs_result result = cs_message_copy(&request->base, &made, err);
    if (result == CS_OK) *out = (cs_run_request *)made;
    return result;
}

static cs_result script_request(const cs_probe_order *order, cs_view floor, cs_run_request **out, cs_error *err) {
    CS_AUTO_BUF text = CS_BUF_INIT(CS_MAX_CODE_BYTES);
    if (!script_text(order, &text)) return no_memory(err);
    Plimsoll__V1__JavaScriptRun run = PLIMSOLL__V1__JAVA_SCRIPT_RUN__INIT;
    run.code = borrow(cs_buf_view(&text));
    cs_run_request request = begin(floor);
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    request.javascript = &run;
    return copy(&request, out, err);
}

/* ---- projects ------------------------------------------------------------------------------------ */

cs_result cs_probe_project_request(const cs_probe_project *project, cs_view floor, cs_run_request **out,
                                   cs_error *err) {
    *out = NULL;
    if (project->program.len == 0)
        return cs_fail(err, CS_CODE_USAGE,
                       "this build has no program form of the probe: it is made for x86-64 and 64-bit ARM");
    if (project->step_count > CS_PROBE_MAX_STEPS) return cs_fail(err, CS_CODE_INTERNAL, "too many steps of a probe");
    CS_AUTO_BUF encoded = CS_BUF_INIT(CS_MAX_FILES_BYTES);
    if (!cs_base64_append(&encoded, project->program) || !cs_buf_byte(&encoded, '\n')) return no_memory(err);
    cs_project_file file = PLIMSOLL__V1__PROJECT_FILE__INIT;
    file.path = borrow(cs_view_of(project->file));
    file.content = borrow(cs_buf_view(&encoded));
    cs_project_file *files[] = {&file};
    ProtobufCBinaryData steps[CS_PROBE_MAX_STEPS];
    for (size_t i = 0; i < project->step_count; i++)
        steps[i] = borrow(project->steps[i]);
    Plimsoll__V1__ProjectRun run = PLIMSOLL__V1__PROJECT_RUN__INIT;
    run.n_files = 1;
    run.files = files;
    run.n_steps = project->step_count;
    run.steps = steps;
    cs_run_request request = begin(floor);
    request.timeout_ms = project->timeout_ms;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
    request.project = &run;
    return copy(&request, out, err);
}

static cs_result program_request(const cs_probe_order *order, cs_view floor, cs_run_request **out, cs_error *err) {
    CS_AUTO_BUF step = CS_BUF_INIT(CS_MAX_STEP_BYTES);
    if (!cs_buf_printf(&step, "base64 -d " PROGRAM_FILE " > probe && chmod +x probe && ./probe %s %u %s %u",
                       order->nonce, (unsigned)order->hold_ms, order->canary != NULL ? order->canary : "-",
                       (unsigned)order->port))
        return no_memory(err);
    const cs_view steps[] = {cs_buf_view(&step)};
    const cs_probe_project project = {.file = PROGRAM_FILE,
                                      .program = cs_probe_program_bytes(),
                                      .steps = steps,
                                      .step_count = 1,
                                      .timeout_ms = CS_PROBE_TIMEOUT_MS};
    return cs_probe_project_request(&project, floor, out, err);
}

cs_result cs_probe_request(const cs_probe_order *order, cs_view floor, cs_run_request **out, cs_error *err) {
    *out = NULL;
    if (order->canary != NULL && !plain(order->canary))
        return cs_fail(err, CS_CODE_INTERNAL, "the path of a canary has characters that need quoting");
    return order->form == CS_PROBE_SCRIPT ? script_request(order, floor, out, err)
                                          : program_request(order, floor, out, err);
}
