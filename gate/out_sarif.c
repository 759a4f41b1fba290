/* SARIF 2.1.0, as code scanning services read it, and GitLab's code quality: what is wrong, and at which file. */
#include <stdio.h>

#include "gate/out_internal.h"

#define SENTENCE 1024u

/* ---- SARIF ----------------------------------------------------------------------------------------------- */

/* A path as the URI that it is relative to the repository. */
static json_t *uri_json(const char *path) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    CS_AUTO_BUF uri = CS_BUF_INIT(4096);
    for (const char *at = path; *at != '\0'; at++) {
        bool good = false;
        for (const char *p = plain; !good && *p != '\0'; p++)
            good = *p == *at;
        if (!(good ? cs_buf_byte(&uri, (uint8_t)*at) : cs_buf_printf(&uri, "%%%02X", (unsigned)(uint8_t)*at)))
            return NULL;
    }
    return json_stringn((const char *)uri.ptr, uri.len);
}

/* The file that it is about; of what is about none, the policy, whose rule it is; without one in the repository, the
 * repository: services refuse a result that has no place. */
static const char *path_of(const cs_gate_report *report, const cs_gate_item *item) {
    if (item->path[0] != '\0') return item->path;
    return report->policy_path[0] != '\0' ? report->policy_path : ".";
}

static json_t *locations_json(const char *path) {
    return json_pack("[{s:{s:{s:o}, s:{s:i}}}]", "physicalLocation", "artifactLocation", "uri", uri_json(path),
                     "region", "startLine", 1);
}

static json_t *result_json(const cs_gate_report *report, const cs_gate_item *item) {
    char sentence[SENTENCE];
    cs_digest fingerprint;
    cs_gate_item_sentence(item, sentence, sizeof sentence);
    if (!cs_gate_item_fingerprint(item, &fingerprint)) return NULL;
    return json_pack("{s:s, s:s, s:{s:o}, s:o, s:{s:s}}", "ruleId", item->rule, "level", "error", "message", "text",
                     cs_gate_out_json_text(sentence), "locations", locations_json(path_of(report, item)),
                     "partialFingerprints", "countersignGate/v1", fingerprint.hex);
}

static json_t *rule_json(const char *word, const char *text) {
    return json_pack("{s:s, s:{s:s}}", "id", word, "shortDescription", "text", text);
}

/* Every rule that there is, so that none of the results names another. */
static json_t *rules_json(void) {
    static const char *const texts[CS_GATE_RULES] = {
        [CS_GATE_SELECTED] = "There is a run of the kind that the requirement is about",
        [CS_GATE_PROVIDER] = "The run was on an allowed provider",
        [CS_GATE_FLOOR] = "The run had the isolation that is asked for",
        [CS_GATE_SOFTWARE] = "The run used allowed software",
        [CS_GATE_SANDBOX_POLICY] = "The run was under an allowed sandbox policy",
        [CS_GATE_GRANTS] = "The run used no grant that is not allowed",
        [CS_GATE_AGE] = "The run is recent",
        [CS_GATE_WORK] = "Every step of the run passed",
        [CS_GATE_TIME_OUT] = "The run met no time limit",
        [CS_GATE_TRUNCATION] = "No output of the run was cut",
        [CS_GATE_BIND] = "The files of the run are the commit's",
        [CS_GATE_COMPLETE] = "Every file of the commit was in the run",
        [CS_GATE_TESTS] = "The tests ran and passed",
        [CS_GATE_TESTS_OF_BASE] = "Not fewer tests ran than at the base",
        [CS_GATE_COUNT] = "Enough distinct records fulfil the requirement",
        [CS_GATE_REPRODUCED] = "The result was reproduced",
        [CS_GATE_SAME_RESULT] = "The same work gave the same result",
        [CS_GATE_CROSS_CHECK] = "No tier that is relied on was contradicted",
        [CS_GATE_PROTECT] = "No protected file was changed",
    };
    json_t *rules = json_array();
    bool good = rules != NULL;
    for (unsigned rule = 0; good && rule < CS_GATE_RULES; rule++)
        good = json_array_append_new(rules, rule_json(cs_gate_rule_word((cs_gate_rule)rule), texts[rule])) == 0;
    good = good && json_array_append_new(rules, rule_json("sources", "Every ledger and bundle verifies")) == 0 &&
           json_array_append_new(rules, rule_json("verdict", "The gate came to a verdict")) == 0;
    if (good) return rules;
    json_decref(rules);
    return NULL;
}

/* What must be told, each made by `make`. */
static json_t *told_json(const cs_gate_report *report,
                         json_t *(*make)(const cs_gate_report *report, const cs_gate_item *item)) {
    json_t *list = json_array();
    cs_gate_item item;
    for (size_t at = 0; list != NULL && cs_gate_item_next(report, &at, &item);) {
        if (!cs_gate_item_is_told(report, &item)) continue;
        if (json_array_append_new(list, make(report, &item)) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

bool cs_gate_out_sarif(const cs_gate_report *report, cs_buf *out) {
    bool judged = report->verdict->count > 0;
    json_t *document = json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:[{s:b}], s:s, s:o}]}", "$schema",
                                 "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "tool",
                                 "driver", "name", "countersign", "version", report->version, "rules", rules_json(),
                                 "invocations", "executionSuccessful", (int)judged, "columnKind", "utf16CodeUnits",
                                 "results", told_json(report, result_json));
    return cs_gate_out_dump(document, out);
}

/* ---- code quality -------------------------------------------------------------------------------------------- */

static json_t *issue_json(const cs_gate_report *report, const cs_gate_item *item) {
    char sentence[SENTENCE];
    cs_digest fingerprint;
    const char *path = path_of(report, item);
    cs_gate_item_sentence(item, sentence, sizeof sentence);
    if (!cs_gate_item_fingerprint(item, &fingerprint)) return NULL;
    return json_pack("{s:o, s:s, s:s, s:s, s:{s:o, s:{s:i}}}", "description", cs_gate_out_json_text(sentence),
                     "check_name", item->rule, "fingerprint", fingerprint.hex, "severity", "blocker", "location",
                     "path", cs_gate_out_json_text(path), "lines", "begin", 1);
}

bool cs_gate_out_code_quality(const cs_gate_report *report, cs_buf *out) {
    return cs_gate_out_dump(told_json(report, issue_json), out);
}
