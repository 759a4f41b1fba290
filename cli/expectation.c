#include "cli/expectation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "records/text.h"

/* More missing requests than this are counted, not listed. */
#define MAX_MISSING_LISTED 100u

bool cs_expectation_of_all(const cs_expectation *expectation) {
    return expectation->path != NULL || expectation->count > 0;
}

static bool is_standard(const char *path) {
    return path != NULL && strcmp(path, "-") == 0;
}

static cs_result check_line(const cs_expectation *expectation, char **inputs, size_t count, cs_error *err) {
    const char *head = expectation->head;
    if (head != NULL && count != 1)
        return cs_fail(err, CS_CODE_USAGE, "--expect-head is about one input, and %zu are named", count);
    if (head != NULL && !cs_is_hex(cs_view_of(head), CS_SHA256_HEX))
        return cs_fail(err, CS_CODE_USAGE, "--expect-head takes 64 lowercase hexadecimal digits, not '%.80s'", head);
    for (size_t i = 0; is_standard(expectation->path) && i < count; i++)
        if (is_standard(inputs[i]))
            return cs_fail(err, CS_CODE_USAGE, "standard input can't be both the input and what is expected of it");
    return CS_OK;
}

cs_result cs_expectation_open(cs_expectation *expectation, char **inputs, size_t count, cs_error *err) {
    cs_result result = check_line(expectation, inputs, count, err);
    if (result == CS_OK && expectation->path != NULL)
        result = cs_expect_load(expectation->path, &expectation->requests, err);
    if (result == CS_OK && cs_expectation_of_all(expectation) && count > 1)
        result = cs_seen_open(&expectation->seen, err);
    return result;
}

void cs_expectation_close(cs_expectation *expectation) {
    cs_expect_free(expectation->requests);
    cs_seen_close(expectation->seen);
    expectation->requests = NULL;
    expectation->seen = NULL;
}

cs_result cs_expectation_see(cs_expectation *expectation, const cs_verified_run *run, cs_error *err) {
    bool before = run->duplicate;
    cs_result result = CS_OK;
    if (!before && expectation->seen != NULL)
        result = cs_seen_add(expectation->seen, &run->checked->record_sha256, &before, err);
    if (result != CS_OK || before) return result;
    expectation->records++;
    cs_view request = cs_bytes_view(&run->record->request_sha256);
    if (expectation->requests == NULL || cs_expect_see(expectation->requests, request)) return CS_OK;
    return cs_fail_differs(err, CS_CODE_EXPECT_SURPLUS, "a record of a request that was not expected, or not so often",
                           cs_view_of("only the requests of --expect"), request);
}

/* ---- the end ------------------------------------------------------------------------------------ */

static uint64_t missing_of(const cs_expectation *expectation) {
    return expectation->requests != NULL ? cs_expect_missing(expectation->requests) : 0;
}

static uint64_t surplus_of(const cs_expectation *expectation) {
    return expectation->requests != NULL ? cs_expect_surplus(expectation->requests) : 0;
}

static cs_result judge(const cs_expectation *expectation, cs_error *err) {
    uint64_t missing = missing_of(expectation);
    if (missing > 0)
        return cs_fail(err, CS_CODE_EXPECT_MISSING, "%" PRIu64 " of %" PRIu64 " expected %s no record; the first is %s",
                       missing, cs_expect_total(expectation->requests),
                       cs_expect_total(expectation->requests) == 1 ? "request has"
                       : missing == 1                              ? "requests has"
                                                                   : "requests have",
                       cs_expect_missing_at(expectation->requests, 0));
    if (expectation->count > 0 && expectation->records != (uint64_t)expectation->count) {
        char expected[24];
        char found[24];
        (void)snprintf(expected, sizeof expected, "%" PRId64, expectation->count);
        (void)snprintf(found, sizeof found, "%" PRIu64, expectation->records);
        return cs_fail_differs(err, CS_CODE_EXPECT_COUNT, "there are more or fewer distinct records than expected",
                               cs_view_of(expected), cs_view_of(found));
    }
    return CS_OK;
}

static const char *completeness(const cs_expectation *expectation, bool verified, cs_result result) {
    if (!verified) return "not determined, since the verification did not pass";
    if (result != CS_OK) return "no: what was expected is not all there";
    if (surplus_of(expectation) > 0) return "no: there is more than was expected";
    if (expectation->requests != NULL) return "every expected request has its record, and nothing else is there";
    return "there are exactly as many records as expected; of which requests was not compared";
}

static void say_missing(const cs_expectation *expectation, const cs_output *out) {
    uint64_t missing = missing_of(expectation);
    for (uint64_t i = 0; i < missing && i < MAX_MISSING_LISTED; i++)
        cs_say(out, "  missing: %s\n", cs_expect_missing_at(expectation->requests, i));
    if (missing > MAX_MISSING_LISTED) cs_say(out, "  missing: and %" PRIu64 " more\n", missing - MAX_MISSING_LISTED);
}

static void say(const cs_expectation *expectation, bool verified, const char *sentence, const cs_output *out) {
    cs_say(out, "expected: ");
    if (expectation->requests != NULL)
        cs_say(out, "%" PRIu64 " %s%s", cs_expect_total(expectation->requests),
               cs_plural(cs_expect_total(expectation->requests), "request", "requests"),
               expectation->count > 0 ? " and " : "");
    if (expectation->count > 0)
        cs_say(out, "%" PRId64 " %s", expectation->count, cs_plural((uint64_t)expectation->count, "record", "records"));
    cs_say(out, "; found: %" PRIu64 " distinct %s\n", expectation->records,
           cs_plural(expectation->records, "record", "records"));
    if (verified) say_missing(expectation, out);
    cs_say(out, "  complete? %s\n", sentence);
}

static json_t *number_or_null(bool known, uint64_t value) {
    return known ? json_integer((json_int_t)value) : json_null();
}

static json_t *to_json(const cs_expectation *expectation, bool verified, const char *sentence) {
    bool compared = expectation->requests != NULL;
    uint64_t missing = verified ? missing_of(expectation) : 0;
    uint64_t listed = missing < MAX_MISSING_LISTED ? missing : MAX_MISSING_LISTED;
    json_t *list = json_array();
    bool good = list != NULL;
    for (uint64_t i = 0; good && i < listed; i++)
        good = json_array_append_new(list, json_string(cs_expect_missing_at(expectation->requests, i))) == 0;
    if (!good) {
        json_decref(list);
        return NULL;
    }
    return json_pack("{s:b, s:I, s:o, s:o, s:o, s:o, s:I, s:o, s:s}", "checked", (int)verified, "records",
                     (json_int_t)expectation->records, "count",
                     number_or_null(expectation->count > 0, (uint64_t)expectation->count), "requests",
                     number_or_null(compared, compared ? cs_expect_total(expectation->requests) : 0), "missing",
                     number_or_null(compared && verified, missing), "missing_requests", list, "missing_left_out",
                     (json_int_t)(missing - listed), "surplus", number_or_null(compared, surplus_of(expectation)),
                     "completeness", sentence);
}

cs_result cs_expectation_settle(const cs_expectation *expectation, bool verified, cs_output *out, cs_error *err) {
    if (!cs_expectation_of_all(expectation)) {
        cs_member(out, "expectation", json_null());
        return CS_OK;
    }
    cs_result result = verified ? judge(expectation, err) : CS_OK;
    const char *sentence = completeness(expectation, verified, result);
    say(expectation, verified, sentence, out);
    if (result != CS_OK) cs_say(out, "  %s: %s\n", cs_code_name(err->code), err->message);
    if (out->json) cs_member(out, "expectation", to_json(expectation, verified, sentence));
    return result;
}
