#include "tests/support/policy_case.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/member.h"

/* RFC 8032, section 7.1, tests 1 and 2. */
#define PEM(body) "-----BEGIN PUBLIC KEY-----\\n" body "\\n-----END PUBLIC KEY-----\\n"
#define KEY_A PEM("MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
#define KEY_B PEM("MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=")
/* The point of order 1. */
#define KEY_WEAK PEM("MCowBQYDK2VwAyEAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")

static const char policy[] =
    "{\"version\":1,"
    "\"keys\":[{\"key\":\"" KEY_A "\",\"label\":\"ci\",\"not_before\":\"2026-01-01T00:00:00Z\","
    "\"not_after\":\"2026-12-31T23:59:59.999Z\"},{\"key\":\"" KEY_B "\"}],"
    "\"requirements\":[{"
    "\"name\":\"tests\","
    "\"records\":{\"kind\":\"project\",\"step\":\"node --test\",\"providers\":[\"container\",\"kernel\",\"vm\"]},"
    "\"floor\":\"container\","
    "\"allowed_providers\":[\"vm\",\"kernel\",\"container\",\"process\"],"
    "\"software\":[\"oci:node@sha256:1\"],"
    "\"sandbox_policies\":[\"p1\",\"p2\"],"
    "\"grant_profiles\":[\"net\"],"
    "\"max_age_seconds\":86400,"
    "\"min_records\":2,"
    "\"bind\":[{\"paths\":[\"src/**\",\"test/**\"],\"complete\":true},{\"paths\":[\"package.json\"]}],"
    "\"tests\":{\"artifact\":\"out/junit.xml\",\"min_executed\":10,\"max_skipped\":1,\"max_failed\":2,"
    "\"not_fewer_than_base\":true},"
    "\"reproduced\":{\"providers\":3,\"runs\":4},"
    "\"cross_check\":true},"
    "{\"name\":\"cells\",\"records\":{\"kind\":\"cell\"}},"
    "{\"name\":\"models\",\"records\":{\"kind\":\"module\"}},"
    "{\"name\":\"scripts\",\"records\":{\"kind\":\"javascript\"}},"
    "{\"name\":\"lately\",\"max_age_seconds\":60},"
    "{\"name\":\"allowed\",\"allowed_providers\":[\"vm\"]}],"
    "\"protect\":[\"policy.json\",\".github/**\"]}";

/* ---- long texts ------------------------------------------------------------------------------------- */

#define X4(text) text text text text
#define X64(text) X4(X4(X4(text)))
#define X256(text) X4(X64(text))
#define X1024(text) X4(X256(text))

/* ---- changes ---------------------------------------------------------------------------------------- */

#define MALFORMED CS_CODE_POLICY_MALFORMED
#define CONTRADICTS CS_CODE_POLICY_CONTRADICTS
#define EMPTY CS_CODE_POLICY_EMPTY
#define OK CS_CODE_OK, ""
#define REQ "requirements.0"
#define AT "requirements[0]"

const policy_change policy_changes[] = {
    /* the document */
    {"version-missing", "", "version", NULL, MALFORMED, "version", true},
    {"version-two", "", "version", "2", MALFORMED, "version", true},
    {"version-zero", "", "version", "0", MALFORMED, "version", true},
    {"version-text", "", "version", "\"1\"", MALFORMED, "version", true},
    {"version-real", "", "version", "1.0", MALFORMED, "version", false},
    {"version-true", "", "version", "true", MALFORMED, "version", true},
    {"member-unknown", "", "protects", "[]", MALFORMED, "protects", true},
    {"member-odd", "", "\x1b[2J", "1", MALFORMED, "\\x1b[2J", true},
    {"member-empty", "", "", "1", MALFORMED, "", true},

    /* keys: as in a trust file */
    {"keys-missing", "", "keys", NULL, MALFORMED, "keys", true},
    {"keys-none", "", "keys", "[]", CS_CODE_TRUST_MALFORMED, "", true},
    {"keys-object", "", "keys", "{}", CS_CODE_TRUST_MALFORMED, "", true},
    {"keys-64", "", "keys", "@k64", OK, false},
    {"keys-65", "", "keys", "@k65", CS_CODE_TRUST_MALFORMED, "", true},
    {"key-missing", "keys.0", "key", NULL, CS_CODE_TRUST_MALFORMED, "keys[0] (ci)", true},
    {"key-number", "keys.0", "key", "1", CS_CODE_TRUST_MALFORMED, "keys[0] (ci)", true},
    {"key-none", "keys.0", "key", "\"\"", CS_CODE_KEY_MALFORMED, "keys[0] (ci)", true},
    {"key-weak", "keys.0", "key", "\"" KEY_WEAK "\"", CS_CODE_KEY_WEAK, "keys[0] (ci)", false},
    {"key-member-unknown", "keys.0", "Label", "\"x\"", CS_CODE_TRUST_MALFORMED, "keys[0] (ci)", true},
    {"key-label-control", "keys.1", "label", "\"\\u001b\"", CS_CODE_TRUST_MALFORMED, "keys[1] (\\x1b)", true},
    {"key-label-long", "keys.1", "label", "\"" X64("l") "\"", OK, false},
    {"key-window-backwards", "keys.0", "not_after", "\"2025-12-31T23:59:59.999Z\"", CS_CODE_TRUST_MALFORMED,
     "keys[0] (ci)", false},
    {"key-window-a-moment", "keys.0", "not_after", "\"2026-01-01T00:00:00Z\"", OK, false},
    {"key-no-such-day", "keys.0", "not_before", "\"2026-02-30T00:00:00Z\"", CS_CODE_TRUST_MALFORMED, "keys[0] (ci)",
     false},
    {"key-no-zone", "keys.0", "not_before", "\"2026-01-01T00:00:00\"", CS_CODE_TRUST_MALFORMED, "keys[0] (ci)", true},
    {"key-twice-otherwise", "keys.1", "key", "\"" KEY_A "\"", CS_CODE_TRUST_CONTRADICTS, "keys[1]", false},

    /* requirements */
    {"requirements-missing", "", "requirements", NULL, EMPTY, "requirements", true},
    {"requirements-none", "", "requirements", "[]", EMPTY, "requirements", true},
    {"requirements-object", "", "requirements", "{}", MALFORMED, "requirements", true},
    {"requirements-32", "", "requirements", "@r32", OK, false},
    {"requirements-33", "", "requirements", "@r33", MALFORMED, "requirements", true},
    {"requirement-null", "requirements", "1", "null", MALFORMED, "requirements[1]", true},
    {"requirement-member-unknown", REQ, "min_record", "1", MALFORMED, AT ".min_record", true},
    {"name-missing", REQ, "name", NULL, MALFORMED, AT ".name", true},
    {"name-empty", REQ, "name", "\"\"", MALFORMED, AT ".name", true},
    {"name-number", REQ, "name", "1", MALFORMED, AT ".name", true},
    {"name-space", REQ, "name", "\"a b\"", MALFORMED, AT ".name", true},
    {"name-newline", REQ, "name", "\"tests\\n\"", MALFORMED, AT ".name", true},
    {"name-not-ascii", REQ, "name", "\"\xC3\xA9\"", MALFORMED, AT ".name", true},
    {"name-64", REQ, "name", "\"" X64("n") "\"", OK, false},
    {"name-65", REQ, "name", "\"" X64("n") "n\"", MALFORMED, AT ".name", true},
    {"name-every-mark", REQ, "name", "\"A-z._09\"", OK, false},
    {"name-twice", "requirements.1", "name", "\"tests\"", MALFORMED, "requirements[1].name", false},
    {"name-other-case", "requirements.1", "name", "\"Tests\"", OK, false},

    /* records */
    {"records-array", REQ, "records", "[]", MALFORMED, AT ".records", true},
    {"records-member-unknown", REQ ".records", "provider", "\"vm\"", MALFORMED, AT ".records.provider", true},
    {"kind-any", REQ ".records", "kind", NULL, OK, false},
    {"kind-unknown", REQ ".records", "kind", "\"Project\"", MALFORMED, AT ".records.kind", true},
    {"kind-empty", REQ ".records", "kind", "\"\"", MALFORMED, AT ".records.kind", true},
    {"kind-number", REQ ".records", "kind", "2", MALFORMED, AT ".records.kind", true},
    {"kind-module-with-steps", REQ ".records", "kind", "\"module\"", CONTRADICTS,
     AT ".records.step, " AT ".records.kind", true},
    {"step-any", REQ ".records", "step", NULL, OK, false},
    {"step-empty", REQ ".records", "step", "\"\"", MALFORMED, AT ".records.step", true},
    {"step-list", REQ ".records", "step", "[\"node --test\"]", MALFORMED, AT ".records.step", true},
    {"step-odd", REQ ".records", "step", "\"\\u001b\\n\\\"\xE2\x80\xAE\"", OK, false},
    {"step-16384", REQ ".records", "step", "@s16384", OK, false},
    {"step-16385", REQ ".records", "step", "@s16385", MALFORMED, AT ".records.step", true},
    {"step-of-cells", "requirements.1.records", "step", "\"make\"", CONTRADICTS,
     "requirements[1].records.step, requirements[1].records.kind", true},
    {"step-of-javascript", "requirements.3.records", "step", "\"make\"", CONTRADICTS,
     "requirements[3].records.step, requirements[3].records.kind", true},
    {"providers-all", REQ ".records", "providers", NULL, OK, false},
    {"providers-none", REQ ".records", "providers", "[]", MALFORMED, AT ".records.providers", true},
    {"providers-text", REQ ".records", "providers", "\"vm\"", MALFORMED, AT ".records.providers", true},
    {"provider-null", REQ ".records.providers", "1", "null", MALFORMED, AT ".records.providers[1]", true},
    {"provider-empty", REQ ".records.providers", "1", "\"\"", MALFORMED, AT ".records.providers[1]", true},
    {"provider-twice", REQ ".records.providers", "3", "\"kernel\"", MALFORMED, AT ".records.providers[3]", true},
    {"provider-more", REQ ".records.providers", "3", "\"else\"", OK, false},
    {"provider-1024", REQ ".records.providers", "3", "\"" X1024("p") "\"", OK, false},
    {"provider-1025", REQ ".records.providers", "3", "\"" X1024("p") "p\"", MALFORMED, AT ".records.providers[3]",
     true},
    /* 513 characters of two bytes each: a schema counts characters. */
    {"provider-1026-bytes", REQ ".records.providers", "3", "\"" X256("\xC3\xA9\xC3\xA9") "\xC3\xA9\"", MALFORMED,
     AT ".records.providers[3]", false},
    {"providers-not-allowed", REQ, "allowed_providers", "[\"process\"]", CONTRADICTS,
     AT ".records.providers, " AT ".allowed_providers", false},

    /* where it ran */
    {"floor-none", REQ, "floor", NULL, OK, false},
    {"floor-vm", REQ, "floor", "\"vm\"", OK, false},
    {"floor-empty", REQ, "floor", "\"\"", MALFORMED, AT ".floor", true},
    {"floor-unknown", REQ, "floor", "\"VM\"", MALFORMED, AT ".floor", true},
    {"floor-number", REQ, "floor", "4", MALFORMED, AT ".floor", true},
    {"allowed-any", REQ, "allowed_providers", NULL, OK, false},
    {"allowed-none", REQ, "allowed_providers", "[]", MALFORMED, AT ".allowed_providers", true},
    {"allowed-number", REQ ".allowed_providers", "0", "1", MALFORMED, AT ".allowed_providers[0]", true},
    {"software-any", REQ, "software", NULL, OK, false},
    {"software-none", REQ, "software", "[]", MALFORMED, AT ".software", true},
    {"software-256", REQ, "software", "@t256", OK, false},
    {"software-257", REQ, "software", "@t257", MALFORMED, AT ".software", true},
    {"sandbox-policies-any", REQ, "sandbox_policies", NULL, OK, false},
    {"sandbox-policies-none", REQ, "sandbox_policies", "[]", MALFORMED, AT ".sandbox_policies", true},
    {"sandbox-policy-twice", REQ ".sandbox_policies", "1", "\"p1\"", MALFORMED, AT ".sandbox_policies[1]", true},
    {"grants-left-out", REQ, "grant_profiles", NULL, OK, false},
    {"grants-none", REQ, "grant_profiles", "[]", OK, false},
    {"grants-text", REQ, "grant_profiles", "\"net\"", MALFORMED, AT ".grant_profiles", true},
    {"grant-empty", REQ ".grant_profiles", "0", "\"\"", MALFORMED, AT ".grant_profiles[0]", true},
    {"grant-space", REQ ".grant_profiles", "0", "\"a b\"", MALFORMED, AT ".grant_profiles[0]", true},
    {"grant-newline", REQ ".grant_profiles", "0", "\"net\\n\"", MALFORMED, AT ".grant_profiles[0]", true},
    {"grant-256", REQ ".grant_profiles", "0", "\"" X256("g") "\"", OK, false},
    {"grant-257", REQ ".grant_profiles", "0", "\"" X256("g") "g\"", MALFORMED, AT ".grant_profiles[0]", true},
    {"age-any", REQ, "max_age_seconds", NULL, OK, false},
    {"age-zero", REQ, "max_age_seconds", "0", MALFORMED, AT ".max_age_seconds", true},
    {"age-one", REQ, "max_age_seconds", "1", OK, false},
    {"age-below-zero", REQ, "max_age_seconds", "-1", MALFORMED, AT ".max_age_seconds", true},
    {"age-ten-years", REQ, "max_age_seconds", "315360000", OK, false},
    {"age-more", REQ, "max_age_seconds", "315360001", MALFORMED, AT ".max_age_seconds", true},
    {"age-real", REQ, "max_age_seconds", "86400.0", MALFORMED, AT ".max_age_seconds", false},
    {"age-half", REQ, "max_age_seconds", "0.5", MALFORMED, AT ".max_age_seconds", true},
    {"age-null", REQ, "max_age_seconds", "null", MALFORMED, AT ".max_age_seconds", true},
    {"age-text", REQ, "max_age_seconds", "\"86400\"", MALFORMED, AT ".max_age_seconds", true},
    {"age-true", REQ, "max_age_seconds", "true", MALFORMED, AT ".max_age_seconds", true},

    /* how many */
    {"min-records-left-out", REQ, "min_records", NULL, OK, false},
    {"min-records-zero", REQ, "min_records", "0", MALFORMED, AT ".min_records", true},
    {"min-records-million", REQ, "min_records", "1000000", OK, false},
    {"min-records-more", REQ, "min_records", "1000001", MALFORMED, AT ".min_records", true},
    {"min-records-64-bits", REQ, "min_records", "9223372036854775807", MALFORMED, AT ".min_records", true},

    /* bind */
    {"bind-object", REQ, "bind", "{}", MALFORMED, AT ".bind", true},
    {"bind-none", REQ, "bind", "[]", MALFORMED, AT ".bind", true},
    {"bind-256", REQ, "bind", "@b256", OK, false},
    {"bind-257", REQ, "bind", "@b257", MALFORMED, AT ".bind", true},
    {"bind-paths-missing", REQ ".bind.0", "paths", NULL, MALFORMED, AT ".bind[0].paths", true},
    {"bind-member-unknown", REQ ".bind.1", "completes", "true", MALFORMED, AT ".bind[1].completes", true},
    {"bind-complete-left-out", REQ ".bind.0", "complete", NULL, OK, false},
    {"bind-complete-number", REQ ".bind.0", "complete", "1", MALFORMED, AT ".bind[0].complete", true},
    {"bind-paths-none", REQ ".bind.0", "paths", "[]", MALFORMED, AT ".bind[0].paths", true},
    {"bind-paths-text", REQ ".bind.0", "paths", "\"src/**\"", MALFORMED, AT ".bind[0].paths", true},
    {"bind-path-twice", REQ ".bind.0.paths", "1", "\"src/**\"", MALFORMED, AT ".bind[0].paths[1]", true},
    {"bind-path-everything", REQ ".bind.0.paths", "1", "\"**\"", OK, false},
    {"bind-path-hidden", REQ ".bind.0.paths", "1", "\".a/..b/c.\"", OK, false},
    {"bind-path-open", REQ ".bind.0.paths", "1", "\"a[\"", MALFORMED, AT ".bind[0].paths[1]", false},
    {"bind-path-absolute", REQ ".bind.0.paths", "1", "\"/a\"", MALFORMED, AT ".bind[0].paths[1]", true},
    {"bind-path-folder", REQ ".bind.0.paths", "1", "\"a/\"", MALFORMED, AT ".bind[0].paths[1]", true},
    {"bind-path-up", REQ ".bind.0.paths", "1", "\"a/../b\"", MALFORMED, AT ".bind[0].paths[1]", true},
    {"bind-path-empty", REQ ".bind.0.paths", "1", "\"\"", MALFORMED, AT ".bind[0].paths[1]", true},
    {"bind-path-1024", REQ ".bind.0.paths", "1", "\"" X1024("p") "\"", OK, false},
    {"bind-path-1025", REQ ".bind.0.paths", "1", "\"" X1024("p") "p\"", MALFORMED, AT ".bind[0].paths[1]", true},
    {"bind-of-cells", "requirements.1", "bind", "[{\"paths\":[\"a\"]}]", OK, false},
    {"bind-of-modules", "requirements.2", "bind", "[{\"paths\":[\"a\"]}]", CONTRADICTS,
     "requirements[2].bind, requirements[2].records.kind", true},
    {"bind-of-javascript", "requirements.3", "bind", "[{\"paths\":[\"a\"]}]", CONTRADICTS,
     "requirements[3].bind, requirements[3].records.kind", true},
    {"bind-missing-for-the-base", REQ, "bind", NULL, CONTRADICTS, AT ".tests.not_fewer_than_base, " AT ".bind", true},

    /* tests */
    {"tests-left-out", REQ, "tests", NULL, OK, false},
    {"tests-true", REQ, "tests", "true", MALFORMED, AT ".tests", true},
    {"tests-member-unknown", REQ ".tests", "min_skipped", "1", MALFORMED, AT ".tests.min_skipped", true},
    {"artifact-missing", REQ ".tests", "artifact", NULL, MALFORMED, AT ".tests.artifact", true},
    {"artifact-absolute", REQ ".tests", "artifact", "\"/junit.xml\"", MALFORMED, AT ".tests.artifact", true},
    {"artifact-up", REQ ".tests", "artifact", "\"a/..\"", MALFORMED, AT ".tests.artifact", true},
    {"artifact-backslash", REQ ".tests", "artifact", "\"a\\\\b\"", MALFORMED, AT ".tests.artifact", true},
    {"artifact-control", REQ ".tests", "artifact", "\"a\\u0085\"", MALFORMED, AT ".tests.artifact", true},
    {"artifact-empty", REQ ".tests", "artifact", "\"\"", MALFORMED, AT ".tests.artifact", true},
    {"artifact-star", REQ ".tests", "artifact", "\"*.xml\"", OK, false},
    {"artifact-1025", REQ ".tests", "artifact", "\"" X1024("a") "a\"", MALFORMED, AT ".tests.artifact", true},
    {"min-executed-left-out", REQ ".tests", "min_executed", NULL, OK, false},
    {"min-executed-zero", REQ ".tests", "min_executed", "0", MALFORMED, AT ".tests.min_executed", true},
    {"min-executed-one", REQ ".tests", "min_executed", "1", OK, false},
    {"min-executed-million", REQ ".tests", "min_executed", "1000000", OK, false},
    {"min-executed-more", REQ ".tests", "min_executed", "1000001", MALFORMED, AT ".tests.min_executed", true},
    {"max-skipped-zero", REQ ".tests", "max_skipped", "0", OK, false},
    {"max-skipped-below", REQ ".tests", "max_skipped", "-1", MALFORMED, AT ".tests.max_skipped", true},
    {"max-skipped-more", REQ ".tests", "max_skipped", "1000001", MALFORMED, AT ".tests.max_skipped", true},
    {"max-failed-zero", REQ ".tests", "max_failed", "0", OK, false},
    {"max-failed-below", REQ ".tests", "max_failed", "-1", MALFORMED, AT ".tests.max_failed", true},
    {"max-failed-more", REQ ".tests", "max_failed", "1000001", MALFORMED, AT ".tests.max_failed", true},
    {"not-fewer-text", REQ ".tests", "not_fewer_than_base", "\"yes\"", MALFORMED, AT ".tests.not_fewer_than_base",
     true},
    {"tests-of-cells", "requirements.1", "tests", "{\"artifact\":\"a\"}", CONTRADICTS,
     "requirements[1].tests.artifact, requirements[1].records.kind", true},
    {"tests-of-any", "requirements.4", "tests", "{\"artifact\":\"a\"}", OK, false},

    /* reproduced, cross-check */
    {"reproduced-left-out", REQ, "reproduced", NULL, OK, false},
    {"reproduced-number", REQ, "reproduced", "2", MALFORMED, AT ".reproduced", true},
    {"reproduced-member-unknown", REQ ".reproduced", "run", "2", MALFORMED, AT ".reproduced.run", true},
    {"reproduced-providers-missing", REQ ".reproduced", "providers", NULL, MALFORMED, AT ".reproduced.providers", true},
    {"reproduced-runs-missing", REQ ".reproduced", "runs", NULL, MALFORMED, AT ".reproduced.runs", true},
    {"reproduced-providers-zero", REQ ".reproduced", "providers", "0", MALFORMED, AT ".reproduced.providers", true},
    {"reproduced-providers-one", REQ ".reproduced", "providers", "1", OK, false},
    {"reproduced-providers-257", REQ ".reproduced", "providers", "257", MALFORMED, AT ".reproduced.providers", true},
    {"reproduced-runs-as-many", REQ ".reproduced", "runs", "3", OK, false},
    {"reproduced-runs-fewer", REQ ".reproduced", "runs", "2", CONTRADICTS,
     AT ".reproduced.runs, " AT ".reproduced.providers", false},
    {"reproduced-runs-one", REQ ".reproduced", "runs", "1", MALFORMED, AT ".reproduced.runs", true},
    {"reproduced-runs-more", REQ ".reproduced", "runs", "1000001", MALFORMED, AT ".reproduced.runs", true},
    {"reproduced-by-too-many", REQ ".reproduced", "providers", "4", CONTRADICTS,
     AT ".reproduced.providers, " AT ".records.providers", false},
    {"reproduced-by-more-than-allowed", "requirements.5", "reproduced", "{\"providers\":2,\"runs\":2}", CONTRADICTS,
     "requirements[5].reproduced.providers, requirements[5].allowed_providers", false},
    {"reproduced-by-all-allowed", "requirements.5", "reproduced", "{\"providers\":1,\"runs\":2}", OK, false},
    {"reproduced-by-any", "requirements.4", "reproduced", "{\"providers\":256,\"runs\":256}", OK, false},
    {"cross-check-false", REQ, "cross_check", "false", OK, false},
    {"cross-check-null", REQ, "cross_check", "null", MALFORMED, AT ".cross_check", true},

    /* what asks for nothing */
    {"nothing-but-a-name", "requirements.4", "max_age_seconds", NULL, EMPTY, "requirements[4]", true},
    {"nothing-by-defaults", "requirements", "4",
     "{\"name\":\"n\",\"records\":{},\"grant_profiles\":[\"net\"],\"min_records\":1,\"cross_check\":false}", EMPTY,
     "requirements[4]", true},
    {"something-kind", "requirements", "4", "{\"name\":\"n\",\"records\":{\"kind\":\"cell\"}}", OK, false},
    {"something-step", "requirements", "4", "{\"name\":\"n\",\"records\":{\"step\":\"make\"}}", OK, false},
    {"something-providers", "requirements", "4", "{\"name\":\"n\",\"records\":{\"providers\":[\"vm\"]}}", OK, false},
    {"something-floor", "requirements", "4", "{\"name\":\"n\",\"floor\":\"process\"}", OK, false},
    {"something-allowed", "requirements", "4", "{\"name\":\"n\",\"allowed_providers\":[\"vm\"]}", OK, false},
    {"something-software", "requirements", "4", "{\"name\":\"n\",\"software\":[\"oci:a\"]}", OK, false},
    {"something-sandbox", "requirements", "4", "{\"name\":\"n\",\"sandbox_policies\":[\"p\"]}", OK, false},
    {"something-count", "requirements", "4", "{\"name\":\"n\",\"min_records\":2}", OK, false},
    {"something-bind", "requirements", "4", "{\"name\":\"n\",\"bind\":[{\"paths\":[\"**\"]}]}", OK, false},
    {"something-tests", "requirements", "4", "{\"name\":\"n\",\"tests\":{\"artifact\":\"a\"}}", OK, false},
    {"something-reproduced", "requirements", "4", "{\"name\":\"n\",\"reproduced\":{\"providers\":1,\"runs\":2}}", OK,
     false},
    {"something-cross-check", "requirements", "4", "{\"name\":\"n\",\"cross_check\":true}", OK, false},

    /* protect */
    {"protect-left-out", "", "protect", NULL, OK, false},
    {"protect-none", "", "protect", "[]", MALFORMED, "protect", true},
    {"protect-text", "", "protect", "\"**\"", MALFORMED, "protect", true},
    {"protect-number", "protect", "1", "1", MALFORMED, "protect[1]", true},
    {"protect-but-not", "protect", "1", "\"!a\"", MALFORMED, "protect[1]", true},
    {"protect-twice", "protect", "1", "\"policy.json\"", MALFORMED, "protect[1]", true},
    {"protect-256", "", "protect", "@t256", OK, false},
    {"protect-257", "", "protect", "@t257", MALFORMED, "protect", true},
};
const size_t policy_change_count = sizeof policy_changes / sizeof policy_changes[0];

/* ---- making them ------------------------------------------------------------------------------------ */

static void must(bool good, const char *what) {
    if (good) return;
    (void)fprintf(stderr, "a policy of the tests can't be made: %s\n", what);
    abort();
}

static json_t *element(char kind, size_t i) {
    char text[96];
    switch (kind) {
    case 't':
        (void)snprintf(text, sizeof text, "\"t%zu\"", i);
        break;
    case 'r':
        (void)snprintf(text, sizeof text, "{\"name\":\"r%zu\",\"floor\":\"vm\"}", i);
        break;
    case 'b':
        (void)snprintf(text, sizeof text, "{\"paths\":[\"p%zu\"]}", i);
        break;
    default:
        return json_pack("{s:s}", "key",
                         "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMl"
                         "rwIaaPcHURo=\n-----END PUBLIC KEY-----\n");
    }
    return json_loads(text, JSON_DECODE_ANY, NULL);
}

static json_t *long_text(size_t len) {
    char *text = malloc(len + 1);
    must(text != NULL, "a long text");
    memset(text, 's', len);
    json_t *value = json_stringn(text, len);
    free(text);
    return value;
}

static json_t *value_of(const char *value) {
    if (value[0] != '@') return json_loads(value, JSON_DECODE_ANY, NULL);
    size_t count = strtoul(value + 2, NULL, 10);
    if (value[1] == 's') return long_text(count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        must(json_array_append_new(list, element(value[1], i)) == 0, value);
    return list;
}

static void make_change(json_t *document, const policy_change *change) {
    json_t *parent = member_at(document, change->parent);
    if (json_is_array(parent)) {
        size_t index = strtoul(change->member, NULL, 10);
        bool set = index < json_array_size(parent);
        must(set ? json_array_set_new(parent, index, value_of(change->value)) == 0
                 : json_array_append_new(parent, value_of(change->value)) == 0,
             change->name);
    } else if (change->value != NULL) {
        must(json_object_set_new(parent, change->member, value_of(change->value)) == 0, change->name);
    } else {
        must(json_object_del(parent, change->member) == 0, change->name);
    }
}

char *policy_case_text(const policy_change *change) {
    json_t *document = json_loads(policy, JSON_REJECT_DUPLICATES, NULL);
    must(document != NULL, "the policy itself");
    if (change != NULL) make_change(document, change);
    char *text = json_dumps(document, JSON_COMPACT);
    must(text != NULL, "its text");
    json_decref(document);
    return text;
}
