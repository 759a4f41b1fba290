#include "records/verdict.h"

#include <stdio.h>
#include <string.h>

#include "records/compactjson.h"
#include "records/statement.h"
#include "records/text.h"
#include "records/time.h"

#define MAX_NAME 128u
#define TIME_SIZE 64u
#define PREDICATE "}}],\"predicateType\":\""

/* ---- what may be stated --------------------------------------------------------------------------- */

static bool is_lower(uint8_t byte) {
    return byte >= 'a' && byte <= 'z';
}

static bool is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

/* The characters of RFC 3986, and the percent sign of an escape. */
static bool is_of_uri(uint8_t byte) {
    if (is_lower(byte) || (byte >= 'A' && byte <= 'Z') || is_digit(byte)) return true;
    return byte != '\0' && strchr("-._~:/?#[]@!$&'()*+,;=%", byte) != NULL;
}

static size_t scheme_length(cs_view address) {
    size_t len = 0;
    while (len < address.len && (is_lower(address.ptr[len]) || (len > 0 && is_digit(address.ptr[len])) ||
                                 (len > 0 && strchr("+-.", address.ptr[len]) != NULL && address.ptr[len] != '\0')))
        len++;
    return len;
}

/* The part before a slash, and of it what stands before the last @. */
static bool names_a_secret(cs_view rest) {
    size_t end = 0;
    size_t user = 0;
    bool has_user = false;
    while (end < rest.len && strchr("/?#", rest.ptr[end]) == NULL) {
        if (rest.ptr[end] == '@') {
            user = end;
            has_user = true;
        }
        end++;
    }
    return has_user && !cs_view_is(cs_view_bytes(rest.ptr, user), "git");
}

bool cs_verdict_repository(cs_view address) {
    static const char between[] = "://";
    size_t scheme = scheme_length(address);
    size_t before = scheme + strlen(between);
    if (address.len > CS_VERDICT_MAX_REPOSITORY || scheme == 0 || address.len <= before) return false;
    if (memcmp(address.ptr + scheme, between, strlen(between)) != 0) return false;
    for (size_t i = before; i < address.len; i++)
        if (!is_of_uri(address.ptr[i])) return false;
    return !names_a_secret(cs_view_bytes(address.ptr + before, address.len - before));
}

static bool is_name(const char *name) {
    size_t len = 0;
    for (; name[len] != '\0'; len++) {
        uint8_t byte = (uint8_t)name[len];
        bool plain = is_lower(byte) || (byte >= 'A' && byte <= 'Z') || is_digit(byte);
        if (len >= MAX_NAME || (!plain && strchr("._-/", byte) == NULL)) return false;
    }
    return len > 0;
}

static bool are_names(const cs_verdict_names *names) {
    for (size_t i = 0; i < names->count; i++)
        if (!is_name(names->items[i])) return false;
    return true;
}

static bool are_digests(const char *const *digests, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!cs_is_hex(cs_view_of(digests[i]), CS_SHA256_HEX)) return false;
    return true;
}

static bool is_time(int64_t unix_ms) {
    char text[TIME_SIZE];
    int64_t again = 0;
    cs_time_format(unix_ms, text, sizeof text);
    return cs_time_parse(cs_view_of(text), &again) && again == unix_ms;
}

static bool agrees(const cs_stated_verdict *verdict) {
    if (!verdict->passed) return verdict->failed_rules.count > 0;
    return verdict->passed_rules.count > 0 && verdict->failed_rules.count == 0 && verdict->warned_rules.count == 0;
}

static bool names_commit(const cs_stated_verdict *verdict) {
    return cs_is_hex(cs_view_of(verdict->commit), CS_COMMIT_HEX) &&
           cs_is_hex(cs_view_of(verdict->policy_sha256), CS_SHA256_HEX);
}

static const char *fault_of_rules(const cs_stated_verdict *verdict) {
    if (!are_names(&verdict->passed_rules) || !are_names(&verdict->failed_rules) || !are_names(&verdict->warned_rules))
        return "has a rule without a proper name";
    return agrees(verdict) ? NULL : "is not what its rules say";
}

const char *cs_verdict_fault(cs_verdict_kind kind, const cs_stated_verdict *verdict) {
    if (!names_commit(verdict)) return "has no commit or no policy";
    if (verdict->repository[0] != '\0' && !cs_verdict_repository(cs_view_of(verdict->repository)))
        return "has a repository of the wrong form";
    if (kind == CS_VERDICT_TEST_RESULT) return fault_of_rules(verdict);
    if (!is_time(verdict->made_unix_ms)) return "has no time from 1970 to 9999";
    if (verdict->input_count > CS_VERDICT_MAX_INPUTS || !are_digests(verdict->inputs, verdict->input_count))
        return "rests on what has no digest";
    return NULL;
}

cs_result cs_verdict_check(const cs_stated_verdict *verdict, cs_error *err) {
    const char *fault = cs_verdict_fault(CS_VERDICT_SUMMARY, verdict);
    if (fault == NULL) fault = cs_verdict_fault(CS_VERDICT_TEST_RESULT, verdict);
    if (fault == NULL) return CS_OK;
    return cs_fail(err, CS_CODE_INTERNAL, "a verdict that is to be stated %s", fault);
}

/* ---- building ------------------------------------------------------------------------------------- */

static bool put_names(const char *name, const cs_verdict_names *names, cs_buf *out) {
    if (!cs_json_name(out, name) || !cs_buf_byte(out, '[')) return false;
    for (size_t i = 0; i < names->count; i++)
        if ((i > 0 && !cs_buf_byte(out, ',')) || !cs_json_string(out, cs_view_of(names->items[i]))) return false;
    return cs_buf_byte(out, ']');
}

static bool put_digest(const char *sha256, cs_buf *out) {
    return cs_json_name(out, "digest") && cs_buf_byte(out, '{') && cs_json_text(out, "sha256", cs_view_of(sha256)) &&
           cs_buf_byte(out, '}');
}

static bool put_test_result(const cs_stated_verdict *verdict, cs_buf *out) {
    return cs_json_text(out, "result", cs_view_of(verdict->passed ? "PASSED" : "FAILED")) &&
           cs_json_name(out, "configuration") && cs_buf_text(out, "[{") &&
           cs_json_text(out, "uri", cs_view_of(CS_VERDICT_POLICY)) && put_digest(verdict->policy_sha256, out) &&
           cs_buf_text(out, "}]") && put_names("passedTests", &verdict->passed_rules, out) &&
           put_names("warnedTests", &verdict->warned_rules, out) &&
           put_names("failedTests", &verdict->failed_rules, out);
}

/* Left out when there are none: a list that is there must name all. */
static bool put_inputs(const cs_stated_verdict *verdict, cs_buf *out) {
    if (verdict->input_count == 0) return true;
    if (!cs_json_name(out, "inputAttestations") || !cs_buf_byte(out, '[')) return false;
    for (size_t i = 0; i < verdict->input_count; i++)
        if (!cs_buf_text(out, i > 0 ? ",{" : "{") || !put_digest(verdict->inputs[i], out) || !cs_buf_byte(out, '}'))
            return false;
    return cs_buf_byte(out, ']');
}

/* A commit has an address of its own where its repository's is not named. */
static bool put_resource(const cs_stated_verdict *verdict, cs_buf *out) {
    char uri[CS_VERDICT_MAX_REPOSITORY + 32];
    if (verdict->repository[0] != '\0')
        (void)snprintf(uri, sizeof uri, "git+%s", verdict->repository);
    else
        (void)snprintf(uri, sizeof uri, "gitoid:commit:sha1:%s", verdict->commit);
    return cs_json_text(out, "resourceUri", cs_view_of(uri));
}

static bool put_summary(const cs_stated_verdict *verdict, cs_buf *out) {
    char when[TIME_SIZE];
    cs_time_format(verdict->made_unix_ms, when, sizeof when);
    const char *level = verdict->passed ? CS_VERDICT_LEVEL : "FAILED";
    const cs_verdict_names levels = {.items = &level, .count = 1};
    return cs_json_name(out, "verifier") && cs_buf_byte(out, '{') &&
           cs_json_text(out, "id", cs_view_of(CS_VERDICT_VERIFIER)) && cs_buf_byte(out, '}') &&
           cs_json_text(out, "timeVerified", cs_view_of(when)) && put_resource(verdict, out) &&
           cs_json_name(out, "policy") && cs_buf_byte(out, '{') &&
           cs_json_text(out, "uri", cs_view_of(CS_VERDICT_POLICY)) && put_digest(verdict->policy_sha256, out) &&
           cs_buf_byte(out, '}') && put_inputs(verdict, out) &&
           cs_json_text(out, "verificationResult", cs_view_of(verdict->passed ? "PASSED" : "FAILED")) &&
           put_names("verifiedLevels", &levels, out);
}

static bool put_subject(const cs_stated_verdict *verdict, cs_buf *out) {
    char name[CS_VERDICT_MAX_REPOSITORY + 8];
    (void)snprintf(name, sizeof name, "git+%s", verdict->repository);
    return cs_buf_text(out, "{\"_type\":\"" CS_STATEMENT_TYPE "\",\"subject\":[{") &&
           cs_json_text(out, "name", cs_view_of(name)) && cs_buf_text(out, ",\"digest\":{") &&
           cs_json_text(out, "gitCommit", cs_view_of(verdict->commit));
}

bool cs_statement_verdict(cs_verdict_kind kind, const cs_stated_verdict *verdict, cs_buf *out) {
    bool summary = kind == CS_VERDICT_SUMMARY;
    size_t before = out->len;
    if (put_subject(verdict, out) &&
        cs_buf_text(out, summary ? PREDICATE CS_PREDICATE_SUMMARY : PREDICATE CS_PREDICATE_TEST_RESULT) &&
        cs_buf_text(out, "\",\"predicate\":{") &&
        (summary ? put_summary(verdict, out) : put_test_result(verdict, out)) && cs_buf_text(out, "}}"))
        return true;
    out->len = before;
    return false;
}

/* ---- telling what it is --------------------------------------------------------------------------- */

/* A quote within a text of the payload is escaped, so that this can only be the member itself. */
static bool holds(cs_view payload, const char *member) {
    return memmem(payload.ptr, payload.len, member, strlen(member)) != NULL;
}

bool cs_verdict_is_stated(cs_view payload, cs_verdict_kind *kind) {
    if (payload.len == 0 || !holds(payload, "\"_type\":\"" CS_STATEMENT_TYPE "\"")) return false;
    bool summary = holds(payload, PREDICATE CS_PREDICATE_SUMMARY "\"");
    *kind = summary ? CS_VERDICT_SUMMARY : CS_VERDICT_TEST_RESULT;
    return summary || holds(payload, PREDICATE CS_PREDICATE_TEST_RESULT "\"");
}
