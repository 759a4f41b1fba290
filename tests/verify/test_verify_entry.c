/* What one entry says about itself: each case differs in one thing from one that passes. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/verify/outcome.h"

/* Verify one line alone. */
static outcome one_line(const forge_key *key, char *line) {
    forge_bundle bundle = {.count = 0};
    forge_add(&bundle, line);
    return verify_bundle(&bundle, key);
}

static outcome one_run(const forge_run *run) {
    forge_key key = forge_key_from(1);
    return one_line(&key, forge_run_line(&key, run));
}

static char *replaced(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    cr_assert_not_null(at, "%s", from);
    return forge_text("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

/* ---- the envelope --------------------------------------------------------------------------------- */

/* A good exchange whose envelope holds this statement. */
static outcome stated(const forge_run *run, const char *statement) {
    forge_key key = forge_key_from(1);
    forge_bytes request = forge_request(run);
    forge_bytes response = forge_response(run);
    return one_line(&key, forge_line(&request, &response, forge_envelope(&key, statement)));
}

Test(verify_envelope, signed_by_another_key) {
    forge_run run = forge_single();
    forge_key key = forge_key_from(1);
    forge_key other = forge_key_from(2);
    char *line = forge_run_line(&other, &run);
    check_outcome(one_line(&other, line), CS_OK, "");
    check_outcome(one_line(&key, line), CS_FAILED, "1 envelope-key-unknown");
    /* The same signature under the trusted key's id. */
    check_outcome(one_line(&key, replaced(line, other.id, key.id)), CS_FAILED, "1 envelope-signature");
}

Test(verify_envelope, one_byte_of_the_payload) {
    forge_run run = forge_single();
    forge_key key = forge_key_from(1);
    char *good = forge_statement(&run);
    char *bad = replaced(good, "\"sequence\":0", "\"sequence\":1");
    char *line = forge_run_line(&key, &run);
    char *changed = replaced(line, forge_base64(good, strlen(good)), forge_base64(bad, strlen(bad)));
    check_outcome(one_line(&key, line), CS_OK, "");
    check_outcome(one_line(&key, changed), CS_FAILED, "1 envelope-signature");
}

Test(verify_envelope, another_payload_type_and_another_form) {
    forge_run run = forge_single();
    forge_key key = forge_key_from(1);
    char *line = forge_run_line(&key, &run);
    check_outcome(one_line(&key, line), CS_OK, "");
    check_outcome(one_line(&key, replaced(line, "in-toto+json", "in-toto+JSON")), CS_FAILED, "1 envelope-type");
    check_outcome(one_line(&key, replaced(line, "\"payloadType\"", "\"payloadtype\"")), CS_FAILED,
                  "1 envelope-malformed");
}

/* ---- the statement -------------------------------------------------------------------------------- */

Test(verify_statement, of_another_record) {
    forge_run run = forge_single();
    check_outcome(stated(&run, forge_statement(&run)), CS_OK, "");
    forge_run other = run;
    other.started++;
    forge_seal(&other);
    outcome out = stated(&run, forge_statement(&other));
    check_outcome(out, CS_FAILED, "1 record-differs");
}

Test(verify_statement, of_another_kind) {
    forge_run run = forge_single();
    check_outcome(stated(&run, forge_close(FORGE_SESSION, 0, "")), CS_FAILED, "1 statement-type");
    check_outcome(stated(&run, forge_link(1, "", run.record_sha256, 0)), CS_FAILED, "1 statement-type");
    char *good = forge_statement(&run);
    check_outcome(stated(&run, replaced(good, "run-record/v1", "run-record/v2")), CS_FAILED, "1 statement-type");
    check_outcome(stated(&run, replaced(good, "Statement/v1", "Statement/v0")), CS_FAILED, "1 statement-type");
}

Test(verify_statement, of_another_subject) {
    forge_run run = forge_single();
    char *good = forge_statement(&run);
    check_outcome(stated(&run, replaced(good, "\"name\":\"run-record\"", "\"name\":\"run-Record\"")), CS_FAILED,
                  "1 statement-subject");
    check_outcome(stated(&run, replaced(good, run.record_sha256, run.request_sha256)), CS_FAILED,
                  "1 statement-subject");
}

Test(verify_statement, with_more_or_less_in_it) {
    forge_run run = forge_single();
    char *good = forge_statement(&run);
    check_outcome(stated(&run, replaced(good, "\"session\"", "\"x\":1,\"session\"")), CS_FAILED,
                  "1 statement-malformed");
    check_outcome(stated(&run, replaced(good, "\"sequence\":0,", "")), CS_FAILED, "1 statement-malformed");
    check_outcome(stated(&run, forge_text("%s ", good)), CS_FAILED, "1 statement-not-rebuilt");
    check_outcome(stated(&run, replaced(good, "\"sequence\":0", "\"sequence\": 0")), CS_FAILED,
                  "1 statement-not-rebuilt");
}

/* Encoders of different age write a backspace in one of two ways, and only that may differ. */
Test(verify_statement, either_spelling_of_a_backspace) {
    forge_run run = forge_single();
    run.policy = "p\b1";
    forge_seal(&run);
    char *raw = forge_statement(&run);
    char *new_way = replaced(raw, "p\b1", "p\\b1");
    char *old_way = replaced(raw, "p\b1", "p\\u00081");
    check_outcome(stated(&run, new_way), CS_OK, "");
    check_outcome(stated(&run, old_way), CS_OK, "");
    check_outcome(stated(&run, replaced(raw, "p\b1", "\\u0070\\b1")), CS_FAILED, "1 statement-not-rebuilt");
}

/* ---- the exchange --------------------------------------------------------------------------------- */

Test(verify_exchange, the_request_is_the_one_that_the_record_names) {
    forge_run run = forge_single();
    check_outcome(one_run(&run), CS_OK, "");
    run.code = "console.log(6*8)";
    check_outcome(one_run(&run), CS_FAILED, "1 request-digest");
}

Test(verify_exchange, the_result_is_the_one_that_the_record_names) {
    forge_run run = forge_single();
    run.output = "43\n";
    check_outcome(one_run(&run), CS_FAILED, "1 result-digest");
}

Test(verify_exchange, the_checks_of_a_live_run_hold) {
    forge_run run = forge_single();
    run.sandbox = "crun";
    check_outcome(one_run(&run), CS_FAILED, "1 provider-mismatch");
    run = forge_single();
    run.floor = "vm";
    forge_seal(&run);
    check_outcome(one_run(&run), CS_FAILED, "1 tier-below-floor");
    run.floor = "container";
    forge_seal(&run);
    check_outcome(one_run(&run), CS_OK, "");
    run.policy = "policy:2";
    check_outcome(one_run(&run), CS_FAILED, "1 record-digest");
    run = forge_single();
    run.sequence = 1;
    forge_seal(&run);
    check_outcome(one_run(&run), CS_FAILED, "1 session-fields");
    run = forge_single();
    run.no_record = true;
    check_outcome(one_run(&run), CS_FAILED, "1 record-missing");
    run = forge_single();
    run.version = 1; /* belongs to protocol 0 and 1 */
    forge_seal(&run);
    check_outcome(one_run(&run), CS_FAILED, "1 record-version");
    run.protocol = 1;
    forge_seal(&run);
    check_outcome(one_run(&run), CS_OK, "");
}

/* What no digest covers must not be there, whatever it is, but for what is counted. */
Test(verify_exchange, bytes_that_nothing_covers) {
    forge_run run = forge_single();
    run.request_tail = "f80101"; /* field 31: 1 */
    check_outcome(one_run(&run), CS_FAILED, "1 message-unknown-field");
    run.request_tail = "2000"; /* field 4, timeout: 0, which a canonical encoder leaves out */
    check_outcome(one_run(&run), CS_FAILED, "1 message-noncanonical");
    run.request_tail = "1a017a"; /* field 3, trace id: known, and behind field 10 */
    check_outcome(one_run(&run), CS_FAILED, "1 message-noncanonical");
    run = forge_single();
    run.response_tail = "f80101";
    check_outcome(one_run(&run), CS_FAILED, "1 message-unknown-field");
    run.response_tail = "1800"; /* field 3, duration: 0 */
    check_outcome(one_run(&run), CS_FAILED, "1 message-noncanonical");
    run.response_tail = "1805"; /* field 3 behind field 10 */
    check_outcome(one_run(&run), CS_FAILED, "1 message-noncanonical");
    run = forge_single();
    run.duration_ms = 5; /* the same where it belongs */
    check_outcome(one_run(&run), CS_OK, "");
}

Test(verify_exchange, messages_that_are_none) {
    forge_run run = forge_single();
    run.request_tail = "08"; /* a field without its value */
    check_outcome(one_run(&run), CS_FAILED, "1 message-malformed");
    run = forge_single();
    run.response_tail = "08";
    check_outcome(one_run(&run), CS_FAILED, "1 message-malformed");
    run = forge_single();
    run.code = "\xff";
    forge_seal(&run);
    check_outcome(one_run(&run), CS_FAILED, "1 message-text");
}

/* A request that no daemon accepts can't have been run by one, however well the record fits. */
Test(verify_exchange, a_request_beyond_the_limits) {
    forge_run run = forge_single();
    run.trace_id = "a b";
    forge_seal(&run);
    outcome out = one_run(&run);
    check_outcome(out, CS_FAILED, "1 exchange-request");
    cr_expect_eq(strncmp(out.err.where, "line 1: request", 15), 0, "%s", out.err.where);
    run.trace_id = "a-b";
    check_outcome(one_run(&run), CS_OK, "");
    char code[262146];
    memset(code, 'x', sizeof code);
    code[262145] = '\0';
    run.code = code;
    forge_seal(&run);
    check_outcome(one_run(&run), CS_FAILED, "1 exchange-request");
    code[262144] = '\0';
    forge_seal(&run);
    check_outcome(one_run(&run), CS_OK, "");
}

Test(verify_exchange, a_floor_that_is_none) {
    forge_run run = forge_single();
    run.floor = "castle";
    forge_seal(&run);
    outcome out = one_run(&run);
    cr_expect_eq(out.result, CS_FAILED);
    cr_expect(out.err.code == CS_CODE_FLOOR_UNKNOWN || out.err.code == CS_CODE_EXCHANGE_REQUEST, "%s",
              cs_code_name(out.err.code));
}

/* ---- parts that are missing ----------------------------------------------------------------------- */

Test(verify_parts, a_request_and_an_envelope_are_an_unanswered_call) {
    forge_key key = forge_key_from(1);
    forge_run run = forge_single();
    forge_bytes request = forge_request(&run);
    /* The record of an answered run without its response. */
    outcome out = one_line(&key, forge_line(&request, NULL, forge_envelope(&key, forge_statement(&run))));
    check_outcome(out, CS_FAILED, "1 record-version");
    out = one_line(&key, forge_line(&request, NULL, forge_envelope(&key, forge_close(FORGE_SESSION, 0, ""))));
    check_outcome(out, CS_FAILED, "1 statement-type");
}

Test(verify_parts, an_envelope_alone_is_a_close) {
    forge_key key = forge_key_from(1);
    forge_run run = forge_single();
    check_outcome(one_line(&key, forge_line(NULL, NULL, forge_envelope(&key, forge_statement(&run)))), CS_FAILED,
                  "1 statement-type");
    /* A session that was opened and closed without a call. */
    outcome out = one_line(&key, forge_line(NULL, NULL, forge_envelope(&key, forge_close(FORGE_SESSION, 0, ""))));
    check_outcome(out, CS_NOTHING, "");
    cr_expect_eq(out.summary.sessions, 1);
    cr_expect_eq(out.summary.runs, 0);
}

Test(verify_parts, a_response_without_its_request) {
    forge_key key = forge_key_from(1);
    forge_run run = forge_single();
    forge_bytes response = forge_response(&run);
    check_outcome(one_line(&key, forge_line(NULL, &response, forge_envelope(&key, forge_statement(&run)))), CS_FAILED,
                  "1 line-framing");
}
