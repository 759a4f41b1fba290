#include "replay/trajectory.h"

#include <endian.h>
#include <jansson.h>
#include <string.h>

#define ARTIFACT "record.bin"
#define VARIABLES CS_TRAJECTORY_VARIABLES
#define TICK_BYTES (VARIABLES * sizeof(uint64_t))
#define MAX_REPORT 4096u /* bytes of the line that the runner prints */

static cs_view last_line(cs_view text) {
    if (text.len > 0 && text.ptr[text.len - 1] == '\n') text.len--;
    const uint8_t *newline = text.len > 0 ? memrchr(text.ptr, '\n', text.len) : NULL;
    if (newline == NULL) return text;
    size_t begin = (size_t)(newline - text.ptr) + 1;
    return cs_view_bytes(text.ptr + begin, text.len - begin);
}

/* How many ticks a step's output reports; 0: it is no such report. */
static uint64_t reported_ticks(cs_view output) {
    cs_view line = last_line(output);
    if (line.len == 0 || line.len > MAX_REPORT) return 0;
    json_t *report = json_loadb((const char *)line.ptr, line.len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *ticks = json_object_get(report, "ticks");
    bool known = json_is_string(json_object_get(report, "fingerprint")) && json_is_integer(ticks) &&
                 json_integer_value(ticks) > 0;
    uint64_t count = known ? (uint64_t)json_integer_value(ticks) : 0;
    json_decref(report);
    return count;
}

static bool is_reported(const Plimsoll__V1__ProjectResult *project, uint64_t ticks) {
    for (size_t i = 0; i < project->n_steps; i++)
        if (reported_ticks(cs_bytes_view(&project->steps[i]->stdout)) == ticks) return true;
    return false;
}

cs_view cs_trajectory_record(const cs_run_response *response) {
    cs_view found = cs_view_bytes(NULL, 0);
    if (response->result_case != PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT) return found;
    const Plimsoll__V1__ProjectResult *project = response->project;
    for (size_t i = 0; i < project->n_artifacts; i++) {
        if (!cs_view_is(cs_bytes_view(&project->artifacts[i]->path), ARTIFACT)) continue;
        if (found.len > 0) return cs_view_bytes(NULL, 0); /* two of one name */
        found = cs_bytes_view(&project->artifacts[i]->content);
    }
    if (found.len == 0 || found.len % TICK_BYTES != 0 || !is_reported(project, found.len / TICK_BYTES))
        return cs_view_bytes(NULL, 0);
    return found;
}

static uint64_t bits_at(cs_view record, size_t index) {
    uint64_t bits;
    memcpy(&bits, record.ptr + index * sizeof bits, sizeof bits);
    return le64toh(bits);
}

double cs_trajectory_value(cs_view record, size_t index) {
    uint64_t bits = bits_at(record, index);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool cs_compare_trajectories(const cs_run_response *a, const cs_run_response *b, cs_trajectory *out) {
    static const char *const variables[VARIABLES] = {"x", "v", "theta", "omega", "answer"};
    *out = (cs_trajectory){.differs = false};
    cs_view left = cs_trajectory_record(a);
    cs_view right = cs_trajectory_record(b);
    if (left.len == 0 || right.len == 0) return false;
    size_t shorter = (left.len < right.len ? left.len : right.len) / sizeof(uint64_t);
    size_t at = 0;
    while (at < shorter && bits_at(left, at) == bits_at(right, at))
        at++;
    out->ticks_a = left.len / TICK_BYTES;
    out->ticks_b = right.len / TICK_BYTES;
    out->differs = at < shorter || left.len != right.len;
    if (!out->differs) return true;
    out->tick = at / VARIABLES;
    if (at == shorter) return true;
    out->variable = variables[at % VARIABLES];
    out->a = cs_trajectory_value(left, at);
    out->b = cs_trajectory_value(right, at);
    return true;
}
