/* What comes back: the output of a run, and the facts in it. Every byte is a stranger's. */
#include <stdio.h>
#include <string.h>

#include "harness/probe_parts.h"
#include "records/text.h"

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
    int64_t least; /* of a number: what no kernel says is not what a probe prints */
    int64_t most;
} member;

#define TEXT(name)                                                                                                     \
    { #name, MEMBER_TEXT, offsetof(cs_probe_facts, name), 0, 0 }
#define NUMBER(name, least, most)                                                                                      \
    { #name, MEMBER_NUMBER, offsetof(cs_probe_facts, name), least, most }
#define MOST_ERRNO 4095 /* MAX_ERRNO of Linux */
#define ERRNO(name) NUMBER(name, 0, MOST_ERRNO)

/* Besides "probe" and "form". Each must be there; null says that it could not be found out. */
static const member members[] = {
    TEXT(release),
    TEXT(version),
    TEXT(boot_id),
    NUMBER(clock_us, INT64_MIN, INT64_MAX),
    NUMBER(pid_ns, 1, UINT32_MAX),
    NUMBER(ipc_ns, 1, UINT32_MAX),
    NUMBER(seccomp, 0, 2),
    NUMBER(no_new_privs, 0, 1),
    NUMBER(capable, 0, 1),
    {"kernel_log_gvisor", MEMBER_SIGN, offsetof(cs_probe_facts, kernel_log_gvisor), 0, 0},
    ERRNO(loopback),
    TEXT(canary),
    ERRNO(no_call),
    ERRNO(mseal),
    ERRNO(file_getattr),
    ERRNO(vmsplice),
    ERRNO(remap_file_pages),
    NUMBER(landlock_abi, -MOST_ERRNO, INT16_MAX),
    TEXT(hypervisor),
    {"processes", MEMBER_SAMPLES, offsetof(cs_probe_facts, processes), 0, 0},
};
#define MEMBER_COUNT (sizeof members / sizeof members[0])

static bool take_text(const json_t *value, char *out) {
    if (json_is_null(value)) return true;
    if (!json_is_string(value) || json_string_length(value) > CS_PROBE_TEXT) return false;
    /* jansson refuses a NUL in a string unless asked not to. */
    memcpy(out, json_string_value(value), json_string_length(value) + 1);
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

static bool take_number(const member *m, const json_t *value, int64_t *out) {
    if (!cs_probe_take_number(value, out)) return false;
    return *out == CS_PROBE_UNKNOWN || (*out >= m->least && *out <= m->most);
}

static bool take(const member *m, const json_t *value, cs_probe_facts *out) {
    char *at = (char *)out + m->offset;
    switch (m->kind) {
    case MEMBER_TEXT:
        return take_text(value, at);
    case MEMBER_NUMBER:
        return take_number(m, value, (int64_t *)(void *)at);
    case MEMBER_SIGN:
        return take_sign(value, (cs_probe_sign *)(void *)at);
    case MEMBER_SAMPLES:
        return take_samples(value, out);
    }
    return false;
}

static cs_result read_object(cs_probe_form form, const json_t *object, cs_probe_facts *out, cs_error *err) {
    if (!json_is_object(object) || json_object_size(object) != MEMBER_COUNT + 2)
        return cs_probe_malformed(err, "it has more or fewer members");
    if (!cs_probe_is_word(json_object_get(object, "probe"), "countersign.tier-probe.v1") ||
        !cs_probe_is_word(json_object_get(object, "form"), cs_probe_form_word(form)))
        return cs_probe_malformed(err, "it is of another kind or form");
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        const json_t *value = json_object_get(object, members[i].name);
        if (value == NULL || !take(&members[i], value, out)) {
            cs_result result = cs_probe_malformed(err, "a member is missing, or of another type or size");
            cs_error_where(err, "%s", members[i].name);
            return result;
        }
    }
    return CS_OK;
}

cs_result cs_probe_read(const cs_probe_order *order, cs_view output, cs_probe_facts *out, cs_error *err) {
    memset(out, 0, sizeof *out);
    json_t *object = NULL;
    cs_result result = cs_probe_line("countersign.tier-probe.v1", order->nonce, output, &object, err);
    if (result != CS_OK) return result;
    cs_probe_facts facts = {0};
    result = read_object(order->form, object, &facts, err);
    json_decref(object);
    if (result == CS_OK) *out = facts;
    return result;
}
