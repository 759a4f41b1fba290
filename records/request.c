#include "records/request.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "records/text.h"
#include "records/tier.h"
#include "records/wire.h"

#define MAX_WHERE 96u

/* Refuse, and say where. `where` is a field's path; the rest is the sentence. */
static CS_PRINTF(3, 4) cs_result refuse(cs_error *err, const char *where, const char *fmt, ...) {
    char text[256];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    cs_result result = cs_fail(err, CS_CODE_REQUEST_INVALID, "%s", len < 0 ? "a limit is exceeded" : text);
    cs_error_where(err, "%s", where);
    return result;
}

/* ---- alphabets ------------------------------------------------------------------------------------ */

static bool is_alnum(uint8_t c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Letters, digits, and the marks in `marks`. */
static bool only(cs_view text, const char *marks) {
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (!is_alnum(c) && (c == 0 || strchr(marks, c) == NULL)) return false;
    }
    return true;
}

static bool is_visible_ascii(cs_view text) {
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~') return false;
    }
    return true;
}

static bool has_nul(cs_view text) {
    return text.len > 0 && memchr(text.ptr, 0, text.len) != NULL;
}

/* ---- paths ---------------------------------------------------------------------------------------- */

/* C0, DEL, and C1, which is C2 followed by 80 to 9F in UTF-8. */
static bool has_control(cs_view text) {
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c < 0x20 || c == 0x7F) return true;
        if (c == 0xC2 && i + 1 < text.len && text.ptr[i + 1] < 0xA0) return true;
    }
    return false;
}

static bool segment_valid(cs_view segment) {
    return segment.len > 0 && !cs_view_is(segment, ".") && !cs_view_is(segment, "..");
}

bool cs_path_valid(cs_view path) {
    if (path.len == 0 || path.len > CS_MAX_PATH_BYTES || !cs_utf8_valid(path)) return false;
    if (has_control(path) || memchr(path.ptr, '\\', path.len) != NULL) return false;
    size_t begin = 0;
    for (size_t i = 0; i <= path.len; i++) {
        if (i < path.len && path.ptr[i] != '/') continue;
        /* A path that begins with a slash has an empty first segment. */
        if (!segment_valid(cs_view_bytes(path.ptr + begin, i - begin))) return false;
        begin = i + 1;
    }
    return true;
}

static cs_result check_path(const ProtobufCBinaryData *path, const char *where, cs_error *err) {
    if (cs_path_valid(cs_bytes_view(path))) return CS_OK;
    if (path->len > CS_MAX_PATH_BYTES)
        return refuse(err, where, "the path has %zu bytes; at most %u are allowed", path->len, CS_MAX_PATH_BYTES);
    return refuse(err, where,
                  "the path is not relative and plain: no empty, '.' or '..' segment, no backslash, no control "
                  "character");
}

/* ---- text ----------------------------------------------------------------------------------------- */

static cs_result check_text(const ProtobufCBinaryData *text, size_t min, size_t max, const char *where, cs_error *err) {
    cs_view view = cs_bytes_view(text);
    if (view.len < min || view.len > max)
        return refuse(err, where, "it has %zu bytes; %zu to %zu are allowed", view.len, min, max);
    if (has_nul(view)) return refuse(err, where, "it holds a NUL byte");
    if (!cs_utf8_valid(view)) return refuse(err, where, "it is not UTF-8");
    return CS_OK;
}

static cs_result check_grant(const ProtobufCBinaryData *grant, const char *where, cs_error *err) {
    cs_view view = cs_bytes_view(grant);
    if (view.len > CS_MAX_GRANT_BYTES)
        return refuse(err, where, "it has %zu bytes; at most %u are allowed", view.len, CS_MAX_GRANT_BYTES);
    if (!is_visible_ascii(view)) return refuse(err, where, "it holds more than visible ASCII characters");
    return CS_OK;
}

/* ---- files ---------------------------------------------------------------------------------------- */

static bool path_repeats(cs_project_file *const *files, size_t index) {
    for (size_t i = 0; i < index; i++) {
        if (cs_view_equal(cs_bytes_view(&files[i]->path), cs_bytes_view(&files[index]->path))) return true;
    }
    return false;
}

static cs_result check_files(cs_project_file *const *files, size_t count, const char *kind, cs_error *err) {
    char where[MAX_WHERE];
    (void)snprintf(where, sizeof where, "%s.files", kind);
    if (count > CS_MAX_FILES)
        return refuse(err, where, "there are %zu files; at most %u are allowed", count, CS_MAX_FILES);

    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(where, sizeof where, "%s.files[%zu].path", kind, i);
        cs_result result = check_path(&files[i]->path, where, err);
        if (result != CS_OK) return result;
        if (path_repeats(files, i)) return refuse(err, where, "an earlier file has the same path");

        (void)snprintf(where, sizeof where, "%s.files[%zu].content", kind, i);
        if (files[i]->content.len > CS_MAX_FILES_BYTES - total)
            return refuse(err, where, "the files' contents are longer than %u bytes together", CS_MAX_FILES_BYTES);
        total += files[i]->content.len;
        if (!cs_utf8_valid(cs_bytes_view(&files[i]->content))) return refuse(err, where, "it is not UTF-8");
    }
    return CS_OK;
}

/* ---- payloads ------------------------------------------------------------------------------------- */

static cs_result check_javascript(const Plimsoll__V1__JavaScriptRun *run, cs_error *err) {
    cs_result result = check_text(&run->code, 1, CS_MAX_CODE_BYTES, "javascript.code", err);
    if (result != CS_OK) return result;
    return check_grant(&run->grant_profile, "javascript.grant_profile", err);
}

static cs_result check_steps(const Plimsoll__V1__ProjectRun *run, cs_error *err) {
    if (run->n_steps < 1 || run->n_steps > CS_MAX_STEPS)
        return refuse(err, "project.steps", "there are %zu steps; 1 to %u are allowed", run->n_steps, CS_MAX_STEPS);
    cs_result result = CS_OK;
    for (size_t i = 0; i < run->n_steps && result == CS_OK; i++) {
        char where[MAX_WHERE];
        (void)snprintf(where, sizeof where, "project.steps[%zu]", i);
        result = check_text(&run->steps[i], 0, CS_MAX_STEP_BYTES, where, err);
    }
    return result;
}

static cs_result check_artifacts(const Plimsoll__V1__ProjectRun *run, cs_error *err) {
    if (run->n_artifacts > CS_MAX_ARTIFACTS)
        return refuse(err, "project.artifacts", "there are %zu artifact paths; at most %u are allowed",
                      run->n_artifacts, CS_MAX_ARTIFACTS);
    cs_result result = CS_OK;
    for (size_t i = 0; i < run->n_artifacts && result == CS_OK; i++) {
        char where[MAX_WHERE];
        (void)snprintf(where, sizeof where, "project.artifacts[%zu]", i);
        result = check_path(&run->artifacts[i], where, err);
    }
    return result;
}

static cs_result check_project(const Plimsoll__V1__ProjectRun *run, cs_error *err) {
    cs_result result = check_files(run->files, run->n_files, "project", err);
    if (result == CS_OK) result = check_steps(run, err);
    if (result == CS_OK) result = check_artifacts(run, err);
    if (result == CS_OK) result = check_grant(&run->grant_profile, "project.grant_profile", err);
    return result;
}

static bool model_valid(cs_view model) {
    return model.len >= 1 && model.len <= CS_MAX_MODEL_BYTES && is_alnum(model.ptr[0]) && only(model, "._-");
}

static cs_result check_rows(const Plimsoll__V1__ModuleRun *run, cs_error *err) {
    char where[MAX_WHERE];
    if (run->n_rows < 1 || run->n_rows > CS_MAX_MODULE_ROWS)
        return refuse(err, "module.rows", "there are %zu rows; 1 to %u are allowed", run->n_rows, CS_MAX_MODULE_ROWS);
    const size_t width = run->rows[0]->n_values;
    if (width < 1 || width > CS_MAX_MODULE_WIDTH)
        return refuse(err, "module.rows[0].values", "the row has %zu values; 1 to %u are allowed", width,
                      CS_MAX_MODULE_WIDTH);
    for (size_t i = 0; i < run->n_rows; i++) {
        const Plimsoll__V1__ModuleRow *row = run->rows[i];
        if (row->n_values != width) {
            (void)snprintf(where, sizeof where, "module.rows[%zu].values", i);
            return refuse(err, where, "the row has %zu values; the first row has %zu", row->n_values, width);
        }
        for (size_t j = 0; j < width; j++) {
            if (isfinite(row->values[j])) continue;
            (void)snprintf(where, sizeof where, "module.rows[%zu].values[%zu]", i, j);
            return refuse(err, where, "the value is not finite");
        }
    }
    return CS_OK;
}

static cs_result check_module(const Plimsoll__V1__ModuleRun *run, cs_error *err) {
    if (!model_valid(cs_bytes_view(&run->model)))
        return refuse(
            err, "module.model",
            "the module id is not 1 to %u letters, digits, '.', '_' and '-' that begin with a letter or digit",
            CS_MAX_MODEL_BYTES);
    cs_result result = check_rows(run, err);
    if (result != CS_OK) return result;
    /* Written so that a NaN is refused as well. */
    if (!(run->end_time > 0) || !isfinite(run->end_time))
        return refuse(err, "module.end_time", "%g is not positive and finite", run->end_time);
    if (!(run->step > 0) || !isfinite(run->step))
        return refuse(err, "module.step", "%g is not positive and finite", run->step);
    if (run->end_time / run->step > CS_MAX_STEP_RATIO)
        return refuse(err, "module.step", "end_time is %g steps; at most %g are allowed", run->end_time / run->step,
                      CS_MAX_STEP_RATIO);
    return CS_OK;
}

static cs_result check_cell(const Plimsoll__V1__CellRun *run, bool stored, cs_error *err) {
    if (!stored) return refuse(err, "cell", "a cell runs in a session only; it can't be sent as a single run");
    cs_result result = check_text(&run->language, 0, CS_MAX_CODE_BYTES, "cell.language", err);
    if (result == CS_OK) result = check_text(&run->code, 1, CS_MAX_CODE_BYTES, "cell.code", err);
    if (result == CS_OK) result = check_files(run->files, run->n_files, "cell", err);
    return result;
}

static cs_result check_payload(const cs_run_request *request, bool stored, cs_error *err) {
    switch (request->payload_case) {
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT:
        return check_javascript(request->javascript, err);
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT:
        return check_project(request->project, err);
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE:
        return check_module(request->module, err);
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL:
        return check_cell(request->cell, stored, err);
    default:
        return refuse(err, "payload", "the request has no payload; set one of javascript, project and module");
    }
}

/* ---- the software rule ---------------------------------------------------------------------------- */

static cs_result rule_fault(cs_error *err, const char *where, const char *text) {
    cs_result result = cs_fail(err, CS_CODE_RULE_MALFORMED, "%s", text);
    cs_error_where(err, "%s", where);
    return result;
}

static cs_result check_rule_count(const cs_software_rule *rule, const char *prefix, cs_error *err) {
    char where[MAX_WHERE];
    cs_view mode = cs_bytes_view(&rule->mode);
    (void)snprintf(where, sizeof where, "%sidentities", prefix);
    if (mode.len == 0) {
        if (rule->n_identities == 0) return CS_OK;
        return rule_fault(err, where, "there are software identities without a mode; set \"exact\" or \"approved\"");
    }
    if (cs_view_is(mode, "exact")) {
        if (rule->n_identities == 1) return CS_OK;
        return rule_fault(err, where, "the mode \"exact\" takes exactly 1 software identity");
    }
    if (cs_view_is(mode, "approved")) {
        if (rule->n_identities >= 1 && rule->n_identities <= CS_MAX_IDENTITIES) return CS_OK;
        return rule_fault(err, where, "the mode \"approved\" takes 1 to 32 software identities");
    }
    (void)snprintf(where, sizeof where, "%smode", prefix);
    return rule_fault(err, where, "the mode is none of \"\", \"exact\" and \"approved\"");
}

static bool identity_valid(cs_view identity) {
    return identity.len >= 1 && identity.len <= CS_MAX_IDENTITY_BYTES && only(identity, "._:/@+-");
}

static bool identity_repeats(const cs_software_rule *rule, size_t index) {
    for (size_t i = 0; i < index; i++) {
        if (cs_view_equal(cs_bytes_view(&rule->identities[i]), cs_bytes_view(&rule->identities[index]))) return true;
    }
    return false;
}

static cs_result check_rule(const cs_software_rule *rule, const char *prefix, cs_error *err) {
    if (rule == NULL) return CS_OK;
    cs_result result = check_rule_count(rule, prefix, err);
    if (result != CS_OK) return result;
    for (size_t i = 0; i < rule->n_identities; i++) {
        char where[MAX_WHERE];
        (void)snprintf(where, sizeof where, "%sidentities[%zu]", prefix, i);
        if (!identity_valid(cs_bytes_view(&rule->identities[i])))
            return rule_fault(err, where, "a software identity is not 1 to 256 letters, digits and '._:/@+-'");
        if (identity_repeats(rule, i)) return rule_fault(err, where, "an earlier software identity is the same");
    }
    return CS_OK;
}

cs_result cs_software_rule_validate(const cs_software_rule *rule, cs_error *err) {
    return check_rule(rule, "", err);
}

/* ---- the whole ------------------------------------------------------------------------------------ */

cs_result cs_request_validate(const cs_run_request *request, bool stored, cs_error *err) {
    cs_view trace = cs_bytes_view(&request->trace_id);
    if (cs_tier_parse(cs_bytes_view(&request->minimum_isolation)) == CS_TIER_UNKNOWN)
        return refuse(err, "minimum_isolation", "the floor is none of \"\", process, container, kernel and vm");
    if (trace.len > CS_MAX_TRACE_BYTES || !only(trace, "._:-"))
        return refuse(err, "trace_id", "it is not empty or 1 to %u letters, digits, '.', '_', ':' and '-'",
                      CS_MAX_TRACE_BYTES);
    if (request->timeout_ms < 0 || request->timeout_ms > CS_MAX_RUN_MS)
        return refuse(err, "timeout_ms", "the time-out is %d ms; 0 to %d are allowed", request->timeout_ms,
                      CS_MAX_RUN_MS);
    if (check_rule(request->software_rule, "software_rule.", err) != CS_OK)
        return cs_error_recode(err, CS_CODE_REQUEST_INVALID);
    return check_payload(request, stored, err);
}
