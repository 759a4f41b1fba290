/* Rules, floors, sessions, coverage and times: the checks whose cases need more than one change. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/canon.h"
#include "tests/support/changes.h"

/* ---- rules that allow ----------------------------------------------------------------------------- */

Test(check, one_of_several_approved_is_enough) {
    sample s;
    sample_init(&s);
    cs_software_rule *rule = s.request->software_rule;
    canon_set(&rule->mode, "approved");
    rule->identities = realloc(rule->identities, 2 * sizeof *rule->identities);
    cr_assert(rule->identities);
    rule->n_identities = 2;
    rule->identities[1] = rule->identities[0];
    rule->identities[0] = (ProtobufCBinaryData){0};
    canon_set(&rule->identities[0], "b");
    /* SHA-256 of "b\0oci-manifest:linux/amd64@sha256:one". */
    char hex[65];
    char joined[] = "b\0" SAMPLE_IDENTITY;
    char rule_id[96] = "approved:sha256:";
    canon_sha256(joined, sizeof joined - 1, hex);
    strcat(rule_id, hex);
    canon_set(&s.record->software_rule_id, rule_id);
    sample_seal(&s, SEAL_ALL);
    cs_call call = sample_call(&s);
    cs_checked_run checked;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(changes_run(&call, &checked, &err), CS_OK, "%s: %s %s", cs_code_name(err.code), err.expected,
                 err.found);
    change_other_software(&s);
    sample_seal(&s, RECORD_AND_BYTES);
    call = sample_call(&s);
    changes_expect("none of them", &call, CS_CODE_SOFTWARE_NOT_ALLOWED);
    sample_free(&s);
}

Test(check, without_a_rule_any_software_may_run) {
    sample s;
    sample_init(&s);
    change_no_rule(&s);
    canon_set(&s.record->software_rule_id, "");
    change_other_software(&s);
    sample_seal(&s, SEAL_ALL);
    cs_call call = sample_call(&s);
    cs_checked_run checked;
    cr_assert_eq(changes_run(&call, &checked, NULL), CS_OK);
    sample_free(&s);
}

/* ---- tiers and floors ----------------------------------------------------------------------------- */

Test(check, a_tier_meets_floors_up_to_its_own) {
    static const char *const words[] = {"", "process", "container", "kernel", "vm"};
    for (size_t tier = 1; tier < 5; tier++) {
        for (size_t floor = 0; floor < 5; floor++) {
            sample s;
            sample_init(&s);
            canon_set(&s.request->minimum_isolation, words[floor]);
            canon_set(&s.record->isolation, words[tier]);
            canon_set(&s.response->isolation, words[tier]);
            canon_set(&s.before->isolation, words[tier]);
            canon_set(&s.after->isolation, words[tier]);
            sample_seal(&s, SEAL_ALL);
            cs_call call = sample_call(&s);
            cs_checked_run checked;
            if (floor > tier)
                changes_expect(words[floor], &call, CS_CODE_TIER_BELOW_FLOOR);
            else
                cr_expect_eq(changes_run(&call, &checked, NULL), CS_OK, "tier %s, floor %s", words[tier], words[floor]);
            sample_free(&s);
        }
    }
}

/* ---- sessions ------------------------------------------------------------------------------------- */

Test(check, session_fields_are_a_chains_matter_in_a_session) {
    sample s;
    sample_init(&s);
    change_session(&s);
    change_sequence(&s);
    sample_seal(&s, RECORD_AND_BYTES);
    cs_call call = sample_call(&s);
    cs_checked_run checked;
    call.in_session = true;
    cr_expect_eq(changes_run(&call, &checked, NULL), CS_OK);
    call.in_session = false;
    changes_expect("single", &call, CS_CODE_SESSION_FIELDS);
    sample_free(&s);
}

/* ---- coverage ------------------------------------------------------------------------------------- */

/* The sample's bytes with something before or behind them. */
static void frame_bytes(sample *s, const char *before, size_t before_len, const char *after, size_t after_len) {
    uint8_t *bytes = malloc(before_len + s->len + after_len);
    cr_assert(bytes);
    memcpy(bytes, before, before_len);
    memcpy(bytes + before_len, s->bytes, s->len);
    memcpy(bytes + before_len + s->len, after, after_len);
    free(s->bytes);
    s->bytes = bytes;
    s->len += before_len + after_len;
}

static void expect_covered_not(const char *name, const char *before, size_t before_len, const char *after,
                               size_t after_len, cs_code code) {
    sample s;
    ProtobufCMessage *decoded;
    sample_init(&s);
    frame_bytes(&s, before, before_len, after, after_len);
    cr_assert_eq(
        cs_message_decode(&plimsoll__v1__run_response__descriptor, cs_view_bytes(s.bytes, s.len), &decoded, NULL),
        CS_OK, "%s", name);
    cs_call call = sample_call(&s);
    call.response = (void *)decoded;
    changes_expect(name, &call, code);
    cs_message_free(decoded);
    sample_free(&s);
}

Test(check, bytes_that_no_digest_covers) {
    /* Field 99, varint 1: nobody knows it. */
    expect_covered_not("unknown field", "", 0, "\x98\x06\x01", 3, CS_CODE_MESSAGE_UNKNOWN_FIELD);
    /* Field 13, a cell result of no bytes: the javascript result behind it wins. */
    expect_covered_not("a second result", "\x6a\x00", 2, "", 0, CS_CODE_MESSAGE_NONCANONICAL);
    /* Field 1 before itself: the last provider wins. */
    expect_covered_not("a second provider", "\x0a\x01x", 3, "", 0, CS_CODE_MESSAGE_NONCANONICAL);
}

/* ---- times ---------------------------------------------------------------------------------------- */

typedef struct time_case {
    int64_t started, ended, sent, received, skew;
    size_t count;
    cs_code first, second;
} time_case;

Test(check, times_only_warn) {
    static const time_case cases[] = {
        {1000, 2000, 1000, 2000, 0, 0, CS_CODE_OK, CS_CODE_OK},
        {1000, 1000, 1000, 2000, 0, 0, CS_CODE_OK, CS_CODE_OK},
        {1001, 1000, 1000, 2000, 0, 1, CS_CODE_TIMES_REVERSED, CS_CODE_OK},
        {999, 2000, 1000, 2000, 0, 1, CS_CODE_CLOCK_SKEW, CS_CODE_OK},
        {999, 2000, 1000, 2000, 1, 0, CS_CODE_OK, CS_CODE_OK},
        {1000, 2001, 1000, 2000, 0, 1, CS_CODE_CLOCK_SKEW, CS_CODE_OK},
        {1000, 2001, 1000, 2000, 1, 0, CS_CODE_OK, CS_CODE_OK},
        {3000, 500, 1000, 2000, 10, 2, CS_CODE_TIMES_REVERSED, CS_CODE_CLOCK_SKEW},
        {1, 2, 0, 0, 0, 0, CS_CODE_OK, CS_CODE_OK},
        {2, 1, 0, 0, 0, 1, CS_CODE_TIMES_REVERSED, CS_CODE_OK},
        {INT64_MIN, INT64_MAX, 1000, 2000, INT64_MAX, 1, CS_CODE_CLOCK_SKEW, CS_CODE_OK},
        {INT64_MAX, INT64_MIN, 1000, 2000, 0, 2, CS_CODE_TIMES_REVERSED, CS_CODE_CLOCK_SKEW},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const time_case *c = &cases[i];
        sample s;
        sample_init(&s);
        s.record->started_unix_ms = c->started;
        s.record->ended_unix_ms = c->ended;
        sample_seal(&s, RECORD_AND_BYTES);
        cs_call call = sample_call(&s);
        call.sent_unix_ms = c->sent;
        call.received_unix_ms = c->received;
        call.skew_ms = c->skew;
        cs_checked_run checked;
        cr_expect_eq(changes_run(&call, &checked, NULL), CS_OK, "case %zu", i);
        cr_expect_eq(checked.warning_count, c->count, "case %zu: %zu", i, checked.warning_count);
        cr_expect_eq(checked.warnings[0], c->first, "case %zu", i);
        cr_expect_eq(checked.warnings[1], c->second, "case %zu", i);
        sample_free(&s);
    }
}
