/* The JSON codec: the same answers as text, and what only text can get wrong. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hostile/hostile.h"
#include "tests/support/canon.h"
#include "tests/support/changes.h"

#define JSON .config.codec = CS_CODEC_JSON
#define SANDBOX "{\"sandbox\":\"gvisor\"" /* how the answer to each of the calls begins */
#define BAD UNANSWERED(MALFORMED)

/* ---- syntax ---------------------------------------------------------------------------------------- */

#define DEEP_10 "[[[[[[[[[["
#define DEEP_100 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10
#define DEEP_3000                                                                                                      \
    DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100        \
        DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100    \
            DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100

static const play syntax[] = {
    {"blanks around it", TAIL(" \t\r\n"), PASSES},
    {"blanks in it", BODY(SANDBOX, "{ \"sandbox\" :\r\n\t\"gvisor\" "), PASSES},
    {"an escaped character", BODY(SANDBOX, "{\"sandbox\":\"gv\\u0069sor\""), PASSES},
    {"trailing garbage", TAIL("x"), BAD},
    {"a second document", TAIL("{}"), BAD},
    {"a NUL behind it", TAIL("\0"), BAD},
    {"a comma too many", BODY(SANDBOX, SANDBOX ","), BAD},
    {"no comma", BODY(SANDBOX ",", SANDBOX), BAD},
    {"no quotes", BODY("{\"sandbox\"", "{sandbox"), BAD},
    {"single quotes", BODY("{\"sandbox\"", "{'sandbox'"), BAD},
    {"a comment", BODY(SANDBOX, SANDBOX "/* */"), BAD},
    {"a byte order mark", BODY(SANDBOX, "\xef\xbb\xbf" SANDBOX), BAD},
    {"a list around it", BODY(SANDBOX, "[" SANDBOX), BAD},
    {"a raw newline in a text", BODY(SANDBOX, "{\"sandbox\":\"gvi\nsor\""), BAD},
    {"a raw NUL in a text", BODY(SANDBOX, "{\"sandbox\":\"gvi\0sor\""), BAD},
    {"an unknown escape", BODY(SANDBOX, "{\"sandbox\":\"gvi\\xsor\""), BAD},
    {"half of a pair", BODY(SANDBOX, "{\"sandbox\":\"gvi\\ud800sor\""), BAD},
    {"a pair in the wrong order", BODY(SANDBOX, "{\"sandbox\":\"gvi\\udc00\\ud800sor\""), BAD},
    {"not UTF-8", BODY(SANDBOX, "{\"sandbox\":\"gvi\xffsor\""), BAD},
    {"an overlong form", BODY(SANDBOX, "{\"sandbox\":\"gvi\xc0\xafsor\""), BAD},
    {"a name that is not UTF-8", BODY(SANDBOX, "{\"sand\xff\":\"gvisor\""), BAD},
    {"a text that does not end", BODY(SANDBOX, "{\"sandbox\":\"gvisor"), BAD},
    {"nested deeply", BODY(SANDBOX, "{\"sandbox\":" DEEP_3000), BAD},
    {"objects nested deeply", BODY(SANDBOX, "{\"sandbox\":{\"sandbox\":{\"sandbox\":{}}}"), BAD},
    {"binary", BODY(SANDBOX, "\x0a\x06gvisor"), BAD},
};

Test(hostile_json, syntax) {
    hostile(&(group){.at = AT_ALL, JSON, PLAYS(syntax)});
}

/* ---- members --------------------------------------------------------------------------------------- */

static const play members[] = {
    {"an unknown member", BODY(SANDBOX, SANDBOX ",\"sandboy\":1"), BAD},
    {"an unknown member that is null", BODY(SANDBOX, SANDBOX ",\"sandboy\":null"), BAD},
    {"a member twice", BODY(SANDBOX, SANDBOX ",\"sandbox\":\"gvisor\""), BAD},
    {"a member twice, once null", BODY(SANDBOX, SANDBOX ",\"sandbox\":null"), BAD},
    {"a member twice, once with an escape", BODY(SANDBOX, SANDBOX ",\"s\\u0061ndbox\":\"gvisor\""), BAD},
    {"a name with an escape", BODY("\"sandbox\"", "\"s\\u0061ndbox\""), PASSES},
    {"a name in another case", BODY("\"sandbox\"", "\"Sandbox\""), BAD},
    {"a name with a NUL", BODY("\"sandbox\"", "\"sandbox\\u0000\""), BAD},
    {"an empty name", BODY(SANDBOX, SANDBOX ",\"\":1"), BAD},
    {"another type", BODY(SANDBOX, "{\"sandbox\":7"), BAD},
};

Test(hostile_json, members) {
    hostile(&(group){.at = AT_ALL, JSON, PLAYS(members)});
}

#define VERSION "\"version\":2"
#define STARTED "\"startedUnixMs\":\"1700000000100\""
#define JAVASCRIPT "\"javascript\":{\"stdout\":\"Mgo=\"}"
#define WITH(more) BODY("\"stdout\":\"Mgo=\"", "\"stdout\":\"Mgo=\"," more)

static const play in_the_run[] = {
    {"the original name", BODY("durationMs", "duration_ms"), PASSES},
    {"both names", BODY("\"durationMs\":\"99\"", "\"durationMs\":\"99\",\"duration_ms\":\"99\""), BAD},
    {"the original name in the record", BODY("requestSha256", "request_sha256"), PASSES},
    {"an unknown member in the record", BODY(VERSION, VERSION ",\"verdict\":true"), BAD},
    {"an unknown member in the result", WITH("\"stdin\":\"\""), BAD},
    {"a member of the record twice", BODY(VERSION, VERSION ",\"version\":2"), BAD},
    {"a record twice", BODY(JAVASCRIPT, JAVASCRIPT ",\"record\":{}"), BAD},
    {"a result twice", BODY(JAVASCRIPT, JAVASCRIPT "," JAVASCRIPT), BAD},
    {"two results", BODY(JAVASCRIPT, JAVASCRIPT ",\"cell\":{}"), BAD},
    {"two results, one null", BODY(JAVASCRIPT, JAVASCRIPT ",\"cell\":null"), PASSES},
    {"a result that is a list", BODY("{\"stdout\":\"Mgo=\"}", "[]"), BAD},
    {"advice that is no list", WITH("\"advice\":{}"), BAD},
    {"advice of nothing", WITH("\"advice\":[]"), PASSES},
    {"advice of null", WITH("\"advice\":[null]"), BAD},
};

Test(hostile_json, members_of_a_run) {
    hostile(&(group){.at = AT_RUN, JSON, PLAYS(in_the_run)});
}

/* ---- values ---------------------------------------------------------------------------------------- */

static const play values[] = {
    {"a number as text", BODY(VERSION, "\"version\":\"2\""), PASSES},
    {"a number with a fraction of zero", BODY(VERSION, "\"version\":2.0"), PASSES},
    {"a number with an exponent", BODY(VERSION, "\"version\":0.2e1"), PASSES},
    {"a number with a fraction", BODY(VERSION, "\"version\":2.5"), BAD},
    {"a number that would wrap to ours", BODY(VERSION, "\"version\":4294967298"), BAD},
    {"a number that is far too large", BODY(VERSION, "\"version\":1e99"), BAD},
    {"a negative number", BODY(VERSION, "\"version\":-2"), BAD},
    {"a number with a plus", BODY(VERSION, "\"version\":+2"), BAD},
    {"a number with a zero in front", BODY(VERSION, "\"version\":02"), BAD},
    {"a hexadecimal number", BODY(VERSION, "\"version\":0x2"), BAD},
    {"a number as text with a blank", BODY(VERSION, "\"version\":\"2 \""), BAD},
    {"a number as empty text", BODY(VERSION, "\"version\":\"\""), BAD},
    {"true for a number", BODY(VERSION, "\"version\":true"), BAD},
    {"NaN for a number", BODY(VERSION, "\"version\":\"NaN\""), BAD},
    {"a long number that is no text", BODY(STARTED, "\"startedUnixMs\":1700000000100"), PASSES},
    {"a long number beyond 64 bits", BODY(STARTED, "\"startedUnixMs\":\"18446745773709551716\""), BAD},
    {"an exit code of 0", WITH("\"exitCode\":0"), PASSES},
    {"an exit code that would wrap to 0", WITH("\"exitCode\":4294967296"), BAD},
    {"a truth value of 0", WITH("\"timedOut\":0"), BAD},
    {"a truth value as text", WITH("\"timedOut\":\"false\""), BAD},
    {"an exit code of null", WITH("\"exitCode\":null"), PASSES},
    {"false", WITH("\"timedOut\":false"), PASSES},
    {"bytes without padding", BODY("Mgo=", "Mgo"), PASSES},
    {"bytes that are not base64", BODY("Mgo=", "Mgo*"), BAD},
    {"bytes as a list", BODY("\"Mgo=\"", "[50,10]"), BAD},
};

Test(hostile_json, values) {
    hostile(&(group){.at = AT_RUN, JSON, PLAYS(values)});
}

/* ---- what is true as JSON, and wrong ---------------------------------------------------------------- */

/* The sample is changed along, so that what is kept can be compared with its binary form. */
static void exit_code_1(sample *s) {
    s->response->javascript->exit_code = 1;
}

static void old_version(sample *s) {
    s->record->version = 1;
}

static void other_session(sample *s) {
    canon_set(&s->record->session, "x");
}

static void other_cell(sample *s) {
    change_no_result(s);
}

static const play wrong[] = {
    {"a result that is not in the digest", WITH("\"exitCode\":1"), CHANGE(exit_code_1, SEAL_BYTES),
     FAILS(RESULT_DIGEST)},
    {"another version", BODY(VERSION, "\"version\":1"), CHANGE(old_version, SEAL_BYTES), FAILS(RECORD_VERSION)},
    {"a session", BODY(VERSION, VERSION ",\"session\":\"x\""), CHANGE(other_session, SEAL_BYTES), FAILS(RECORD_DIGEST)},
    {"no result", BODY("," JAVASCRIPT, ""), CHANGE(other_cell, SEAL_BYTES), FAILS(RESULT_DIGEST)},
    {"a result of null", BODY(JAVASCRIPT, "\"javascript\":null"), CHANGE(other_cell, SEAL_BYTES), FAILS(RESULT_DIGEST)},
};

Test(hostile_json, wrong_answers) {
    hostile(&(group){.at = AT_RUN, JSON, PLAYS(wrong)});
}

/* A NUL is text in JSON as it is in the binary form, and what stands behind it counts. */
static void nul_everywhere(sample *s) {
    ProtobufCBinaryData *fields[] = {&s->record->environment, &s->response->environment};
    for (size_t i = 0; i < 2; i++) {
        canon_set(fields[i], "node!-22");
        fields[i]->data[4] = 0;
    }
}

static void nul_in_record(sample *s) {
    canon_set(&s->record->environment, "node-22!x");
    s->record->environment.data[7] = 0;
}

static const play nuls[] = {
    {"everywhere", CHANGE(nul_everywhere, RECORD_AND_BYTES), PASSES},
    {"in the record", CHANGE(nul_in_record, RECORD_AND_BYTES), FAILS(ENVIRONMENT_MISMATCH)},
};

Test(hostile_json, nuls) {
    hostile(&(group){.at = AT_RUN, JSON, PLAYS(nuls)});
}

static const play described[] = {
    {"a protocol of none", BODY(",\"protocol\":3", ""), FAILS(DESCRIBE_FAILED)},
    {"a protocol as text", BODY("\"protocol\":3", "\"protocol\":\"3\""), PASSES},
    {"a protocol that would wrap to ours", BODY("\"protocol\":3", "\"protocol\":4294967299"), BAD},
    {"another policy", BODY("policy:sha256:1", "policy:sha256:2"), FAILS(POLICY_DRIFT)},
};

Test(hostile_json, describe) {
    hostile(&(group){.at = AT_BEFORE, JSON, PLAYS(described)});
}

/* ---- HTTP around it --------------------------------------------------------------------------------- */

static const play types[] = {
    {"a charset", HEAD("application/json", "application/json; charset=utf-8"), PASSES},
    {"a charset in capitals and quotes", HEAD("application/json", "application/json;charset=\"UTF-8\""), PASSES},
    {"another charset", HEAD("application/json", "application/json; charset=utf-16"), BAD},
    {"an unknown parameter", HEAD("application/json", "application/json; q=1"), BAD},
    {"a problem", HEAD("application/json", "application/problem+json"), BAD},
    {"binary", HEAD(H_JSON, H_BINARY), BAD},
    {"no id", HEAD(H_ID, ""), UNANSWERED(UNBOUND)},
};

Test(hostile_json, types) {
    hostile(&(group){.at = AT_ALL, JSON, PLAYS(types)});
}
