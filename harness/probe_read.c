/* What comes back: the output of a run, and the facts in it. Every byte is a stranger's. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "harness/probe.h"
#include "records/text.h"

#define MAX_NUMBER ((json_int_t)1 << 53)

/* ---- the output of a run ------------------------------------------------------------------------- */

static cs_result bad_end(cs_probe_form form, cs_error *err, const char *what, cs_view text) {
    char shown[160];
    cs_escape_short(text, shown, sizeof shown);
    return cs_fail(err, CS_CODE_TIER_PROBE, "the probe's %s did not run well: %s%s%s", cs_probe_form_word(form), what,
                   text.len > 0 ? ": " : "", shown);
}

static cs_result script_output(const Plimsoll__V1__JavaScriptResult *result, cs_view *output, cs_error *err) {
    if (result->timed_out) return bad_end(CS_PROBE_SCRIPT, err, "it did not end in time", (cs_view){0});
    if (result->exit_code != 0) return bad_end(CS_PROBE_SCRIPT, err, "it failed", cs_bytes_view(&result->stderr));
    if (result->stdout_truncated) return bad_end(CS_PROBE_SCRIPT, err, "its output is cut", (cs_view){0});
    *output = cs_bytes_view(&result->stdout);
    return CS_OK;
}

static cs_result program_output(const Plimsoll__V1__ProjectResult *result, cs_view *output, cs_error *err) {
    if (result->outcome != PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED || result->n_steps != 1)
        return bad_end(CS_PROBE_PROGRAM, err, "its project was not completed", cs_bytes_view(&result->outcome_detail));
    const Plimsoll__V1__StepResult *step = result->steps[0];
    if (step->timed_out) return bad_end(CS_PROBE_PROGRAM, err, "it did not end in time", (cs_view){0});
    if (step->exit_code != 0) return bad_end(CS_PROBE_PROGRAM, err, "it failed", cs_bytes_view(&step->stderr));
    if (step->stdout_truncated) return bad_end(CS_PROBE_PROGRAM, err, "its output is cut", (cs_view){0});
    *output = cs_bytes_view(&step->stdout);
    return CS_OK;
}

cs_result cs_probe_output(cs_probe_form form, const cs_run_response *response, cs_view *output, cs_error *err) {
    *output = (cs_view){0};
    if (form == CS_PROBE_SCRIPT && response->result_case == PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT)
        return script_output(response->javascript, output, err);
    if (form == CS_PROBE_PROGRAM && response->result_case == PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT)
        return program_output(response->project, output, err);
    return bad_end(form, err, "the answer has no result of its kind", (cs_view){0});
}

/* ---- members ------------------------------------------------------------------------------------- */

typedef enum member_kind { MEMBER_TEXT, MEMBER_NUMBER, MEMBER_SIGN, MEMBER_SAMPLES } member_kind;

typedef struct member {
    const char *name;
    member_kind kind;
    size_t offset; /* in cs_probe_facts */
} member;

#define TEXT(name)                                                                                                     \
    { #name, MEMBER_TEXT, offsetof(cs_probe_facts, name) }
#define NUMBER(name)                                                                                                   \
    { #name, MEMBER_NUMBER, offsetof(cs_probe_facts, name) }

/* Besides "probe" and "form". Each must be there; null says that it could not be found out. */
static const member members[] = {
    TEXT(release),
    TEXT(version),
    TEXT(boot_id),
    NUMBER(clock_us),
    NUMBER(pid_ns),
    NUMBER(ipc_ns),
    NUMBER(seccomp),
    NUMBER(no_new_privs),
    NUMBER(capable),
    {"kernel_log_gvisor", MEMBER_SIGN, offsetof(cs_probe_facts, kernel_log_gvisor)},
    NUMBER(loopback),
    TEXT(canary),
    NUMBER(no_call),
    NUMBER(mseal),
    NUMBER(file_getattr),
    NUMBER(vmsplice),
    NUMBER(remap_file_pages),
    NUMBER(landlock_abi),
    TEXT(hypervisor),
    {"processes", MEMBER_SAMPLES, offsetof(cs_probe_facts, processes)},
};
#define MEMBER_COUNT (sizeof members / sizeof members[0])

static bool take_text(const json_t *value, char *out) {
    if (json_is_null(value)) return true;
    if (!json_is_string(value) || json_string_length(value) > CS_PROBE_TEXT) return false;
    /* jansson refuses a NUL in a string unless asked not to. */
    memcpy(out, json_string_value(value), json_string_length(value) + 1);
    return true;
}

static bool take_number(const json_t *value, int64_t *out) {
    *out = CS_PROBE_UNKNOWN;
    if (json_is_null(value)) return true;
    if (!json_is_integer(value)) return false;
    json_int_t number = json_integer_value(value);
    if (number > MAX_NUMBER || number < -MAX_NUMBER) return false;
    *out = number;
    return true;
}

static bool take_sign(const json_t *value, cs_probe_sign *out) {
    *out = json_is_true(value) ? CS_SIGN_PRESENT : json_is_false(value) ? CS_SIGN_ABSENT : CS_SIGN_UNKNOWN;
    return json_is_boolean(value) || json_is_null(value);
}

static bool take_samples(const json_t *value, cs_probe_facts *out) {
    if (json_is_null(value)) return true;
    if (!json_is_array(value) || json_array_size(value) > CS_PROBE_SAMPLES) return false;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *sample = json_array_get(value, i);
        if (!json_is_integer(sample) || json_integer_value(sample) < 0 || json_integer_value(sample) > UINT32_MAX)
            return false;
        out->processes[i] = (uint32_t)json_integer_value(sample);
    }
    out->process_samples = json_array_size(value);
    return true;
}

static bool take(const member *m, const json_t *value, cs_probe_facts *out) {
    char *at = (char *)out + m->offset;
    switch (m->kind) {
    case MEMBER_TEXT:
        return take_text(value, at);
    case MEMBER_NUMBER:
        return take_number(value, (int64_t *)(void *)at);
    case MEMBER_SIGN:
        return take_sign(value, (cs_probe_sign *)(void *)at);
    case MEMBER_SAMPLES:
        return take_samples(value, out);
    }
    return false;
}

static cs_result malformed(cs_error *err, const char *what) {
    return cs_fail(err, CS_CODE_TIER_PROBE, "what came back is not what a probe prints: %s", what);
}

static bool is_word(const json_t *value, const char *word) {
    return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

static cs_result read_object(cs_probe_form form, const json_t *object, cs_probe_facts *out, cs_error *err) {
    if (!json_is_object(object) || json_object_size(object) != MEMBER_COUNT + 2)
        return malformed(err, "it has more or fewer members");
    if (!is_word(json_object_get(object, "probe"), "countersign.tier-probe.v1") ||
        !is_word(json_object_get(object, "form"), cs_probe_form_word(form)))
        return malformed(err, "it is of another kind or form");
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        const json_t *value = json_object_get(object, members[i].name);
        if (value == NULL || !take(&members[i], value, out)) {
            cs_result result = malformed(err, "a member is missing, or of another type or size");
            cs_error_where(err, "%s", members[i].name);
            return result;
        }
    }
    return CS_OK;
}

/* ---- the two lines ------------------------------------------------------------------------------- */

/* Cut the output into its JSON line and the 64 digits below it. */
static bool cut_lines(cs_view output, cs_view *line, cs_view *digest) {
    if (output.len > CS_PROBE_MAX_ANSWER || output.len < CS_SHA256_HEX + 3) return false;
    size_t at = output.len - CS_SHA256_HEX - 2;
    if (output.ptr[at] != '\n' || output.ptr[output.len - 1] != '\n') return false;
    *line = cs_view_bytes(output.ptr, at);
    *digest = cs_view_bytes(output.ptr + at + 1, CS_SHA256_HEX);
    return cs_is_hex(*digest, CS_SHA256_HEX) && memchr(line->ptr, '\n', line->len) == NULL;
}

static cs_result check_digest(const cs_probe_order *order, cs_view line, cs_view stated, cs_error *err) {
    cs_sha256 *hash = cs_sha256_new();
    if (hash == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a running hash");
    static const char domain[] = "countersign.tier-probe.v1\n";
    cs_digest digest;
    cs_sha256_update(hash, domain, sizeof domain - 1);
    cs_sha256_update(hash, order->nonce, strlen(order->nonce));
    cs_sha256_update(hash, "\n", 1);
    cs_sha256_update(hash, line.ptr, line.len);
    bool done = cs_sha256_final_hex(hash, &digest);
    cs_sha256_free(hash);
    if (!done) return cs_fail(err, CS_CODE_INTERNAL, "a hash failed");
    if (cs_view_equal(cs_digest_view(&digest), stated)) return CS_OK;
    return cs_fail_differs(err, CS_CODE_TIER_NONCE, "the digest of a probe's answer with this run's nonce",
                           cs_digest_view(&digest), stated);
}

cs_result cs_probe_read(const cs_probe_order *order, cs_view output, cs_probe_facts *out, cs_error *err) {
    memset(out, 0, sizeof *out);
    cs_view line, digest;
    if (!cut_lines(output, &line, &digest)) return malformed(err, "it is not one line and a digest");
    cs_result result = check_digest(order, line, digest, err);
    if (result != CS_OK) return result;
    json_t *object = json_loadb((const char *)line.ptr, line.len, JSON_REJECT_DUPLICATES, NULL);
    if (object == NULL) return malformed(err, "its line is no JSON object, or repeats a member");
    cs_probe_facts facts = {0};
    result = read_object(order->form, object, &facts, err);
    json_decref(object);
    if (result == CS_OK) *out = facts;
    return result;
}
