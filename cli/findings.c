#include "cli/findings.h"

#include <inttypes.h>
#include <stdio.h>

#include "records/text.h"

/* A hostile input can hold millions of bad lines: no reader needs them all, and a document is held in memory until
 * the end. How many were left out is said. */
#define MAX_FINDINGS 10000u

static void print_finding(const cs_findings *findings, const cs_finding *finding) {
    const cs_output *out = findings->out;
    const cs_error *err = finding->err;
    if (findings->name[0] != '\0') cs_say(out, "%s: ", findings->name);
    cs_say(out, "%s%s%s%s: %s", err->where, err->where[0] != '\0' ? ": " : "", finding->warning ? "warning: " : "",
           cs_code_name(err->code), err->message);
    if (err->expected[0] != '\0') cs_say(out, "; expected: %s", err->expected);
    if (err->found[0] != '\0') cs_say(out, "; found: %s", err->found);
    cs_say(out, "\n");
}

static json_t *finding_json(const cs_finding *finding) {
    json_t *object = cs_json_of_error(finding->err);
    if (object == NULL) return NULL;
    bool good = json_object_set_new(object, "entry", json_integer((json_int_t)finding->entry)) == 0 &&
                json_object_set_new(object, "warning", json_boolean(finding->warning)) == 0;
    if (good) return object;
    json_decref(object);
    return NULL;
}

void cs_findings_begin(cs_findings *findings, const cs_output *out, const char *what, const char *path) {
    *findings = (cs_findings){.out = out, .list = json_array()};
    if (path != NULL) cs_escape_short(cs_view_of(path), findings->name, sizeof findings->name);
    cs_progress_begin(&findings->progress, what);
}

void cs_findings_end(cs_findings *findings) {
    cs_progress_clear(&findings->progress);
    if (findings->left_out > 0)
        cs_say(findings->out, "%s%s%" PRIu64 " findings are printed, and %" PRIu64 " more are left out\n",
               findings->name, findings->name[0] != '\0' ? ": " : "", findings->printed, findings->left_out);
    json_decref(findings->list);
    findings->list = NULL;
}

void cs_findings_on_finding(void *user, const cs_finding *finding) {
    cs_findings *findings = user;
    if (findings->out->json) {
        if (json_array_size(findings->list) >= MAX_FINDINGS ||
            json_array_append_new(findings->list, finding_json(finding)) != 0)
            findings->left_out++;
    } else if (findings->printed >= MAX_FINDINGS) {
        findings->left_out++;
    } else {
        cs_progress_clear(&findings->progress);
        print_finding(findings, finding);
        findings->printed++;
    }
}

void cs_findings_on_progress(void *user, uint64_t done, uint64_t total) {
    cs_findings *findings = user;
    cs_progress_show(&findings->progress, done, total);
}
