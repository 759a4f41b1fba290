/* Session chains: each case differs in one thing from a session that passes. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/verify/outcome.h"

#define OTHER_SESSION "0e550e550e550e550e550e550e550e550e550e550e550e550e550e550e550e55"

static char *close_line(const forge_key *key, const char *session, uint64_t calls, const char *last) {
    return forge_line(NULL, NULL, forge_envelope(key, forge_close(session, calls, last)));
}

/* A session of five calls and its close, on lines 1 to 6. */
typedef struct session_case {
    forge_key key;
    forge_bundle bundle;
    forge_run runs[5];
} session_case;

static session_case five_calls(void) {
    session_case out = {.key = forge_key_from(1)};
    forge_session(&out.bundle, &out.key, FORGE_SESSION, 5, out.runs);
    return out;
}

static outcome verify_session(const session_case *session) {
    return verify_bundle(&session->bundle, &session->key);
}

Test(verify_chain, a_good_session) {
    session_case session = five_calls();
    outcome out = verify_session(&session);
    check_outcome(out, CS_OK, "");
    cr_expect_eq(out.summary.sessions, 1);
    cr_expect_eq(out.summary.runs, 5);
}

/* ---- calls that are missing, moved, copied -------------------------------------------------------- */

Test(verify_chain, a_missing_call_is_one_fault) {
    for (size_t at = 0; at < 4; at++) {
        session_case session = five_calls();
        forge_remove(&session.bundle, at);
        outcome out = verify_session(&session);
        check_outcome(out, CS_FAILED, forge_text("%zu chain-sequence", at + 1));
        cr_expect_eq(out.summary.sessions, 0);
        cr_expect_eq(out.summary.runs, 3);
    }
}

Test(verify_chain, a_missing_last_call_is_the_closes_fault) {
    session_case session = five_calls();
    forge_remove(&session.bundle, 4);
    check_outcome(verify_session(&session), CS_FAILED, "5 chain-close");
}

Test(verify_chain, a_missing_close) {
    session_case session = five_calls();
    forge_remove(&session.bundle, 5);
    outcome out = verify_session(&session);
    check_outcome(out, CS_FAILED, "5 chain-unclosed");
    cr_expect_eq(out.summary.runs, 5);
    cr_expect_eq(out.summary.sessions, 0);
}

Test(verify_chain, calls_that_changed_places) {
    session_case session = five_calls();
    char *second = session.bundle.lines[1];
    session.bundle.lines[1] = session.bundle.lines[2];
    session.bundle.lines[2] = second;
    outcome out = verify_session(&session);
    check_outcome(out, CS_FAILED, "2 chain-sequence; 3 chain-order");
    cr_expect_eq(out.err.code, CS_CODE_CHAIN_ORDER, "the verdict is not that a call is missing");
}

Test(verify_chain, a_call_twice) {
    session_case session = five_calls();
    forge_insert(&session.bundle, 2, session.bundle.lines[1]);
    outcome out = verify_session(&session);
    check_outcome(out, CS_FAILED, "3 chain-order");
    cr_expect_eq(out.summary.runs, 5);
    cr_expect_str_eq(out.runs, "1 2 4 5 6");
}

/* The chain goes on from the first of the two, so the second is the only fault. */
Test(verify_chain, another_call_of_the_same_number) {
    session_case session = five_calls();
    forge_run fork = session.runs[1];
    fork.started++;
    forge_seal(&fork);
    forge_insert(&session.bundle, 2, forge_run_line(&session.key, &fork));
    check_outcome(verify_session(&session), CS_FAILED, "3 chain-order");
}

Test(verify_chain, a_call_of_sequence_zero) {
    session_case session = five_calls();
    forge_run run = session.runs[0];
    run.sequence = 0;
    forge_seal(&run);
    forge_insert(&session.bundle, 0, forge_run_line(&session.key, &run));
    check_outcome(verify_session(&session), CS_FAILED, "1 chain-sequence");
}

Test(verify_chain, a_call_that_names_another_before_it) {
    session_case session = five_calls();
    session.runs[4].previous = session.runs[2].record_sha256;
    forge_seal(&session.runs[4]);
    session.bundle.lines[4] = forge_run_line(&session.key, &session.runs[4]);
    session.bundle.lines[5] = close_line(&session.key, FORGE_SESSION, 5, session.runs[4].record_sha256);
    check_outcome(verify_session(&session), CS_FAILED, "5 chain-previous");
    session.runs[4].previous = session.runs[3].record_sha256;
    forge_seal(&session.runs[4]);
    session.bundle.lines[4] = forge_run_line(&session.key, &session.runs[4]);
    session.bundle.lines[5] = close_line(&session.key, FORGE_SESSION, 5, session.runs[4].record_sha256);
    check_outcome(verify_session(&session), CS_OK, "");
}

Test(verify_chain, a_first_call_that_names_one_before_it) {
    session_case session = five_calls();
    forge_bundle bundle = {.count = 0};
    session.runs[0].previous = session.runs[1].record_sha256;
    forge_seal(&session.runs[0]);
    forge_add(&bundle, forge_run_line(&session.key, &session.runs[0]));
    forge_add(&bundle, close_line(&session.key, FORGE_SESSION, 1, session.runs[0].record_sha256));
    check_outcome(verify_bundle(&bundle, &session.key), CS_FAILED, "1 chain-previous");
}

/* ---- the close ------------------------------------------------------------------------------------ */

Test(verify_chain, a_close_that_counts_otherwise) {
    session_case session = five_calls();
    const char *last = session.runs[4].record_sha256;
    session.bundle.lines[5] = close_line(&session.key, FORGE_SESSION, 4, last);
    check_outcome(verify_session(&session), CS_FAILED, "6 chain-close");
    session.bundle.lines[5] = close_line(&session.key, FORGE_SESSION, 6, last);
    check_outcome(verify_session(&session), CS_FAILED, "6 chain-close");
    session.bundle.lines[5] = close_line(&session.key, FORGE_SESSION, 5, session.runs[3].record_sha256);
    check_outcome(verify_session(&session), CS_FAILED, "6 chain-close");
    session.bundle.lines[5] = close_line(&session.key, FORGE_SESSION, 5, last);
    check_outcome(verify_session(&session), CS_OK, "");
}

Test(verify_chain, a_close_of_another_session) {
    session_case session = five_calls();
    session.bundle.lines[5] = close_line(&session.key, OTHER_SESSION, 5, session.runs[4].record_sha256);
    check_outcome(verify_session(&session), CS_FAILED, "6 chain-close; 5 chain-unclosed");
}

Test(verify_chain, nothing_follows_a_close) {
    session_case session = five_calls();
    forge_run sixth = session.runs[4];
    sixth.sequence = 6;
    sixth.previous = session.runs[4].record_sha256;
    forge_seal(&sixth);
    forge_add(&session.bundle, forge_run_line(&session.key, &sixth));
    check_outcome(verify_session(&session), CS_FAILED, "7 chain-reopened");
    session.bundle.lines[6] = session.bundle.lines[5];
    check_outcome(verify_session(&session), CS_FAILED, "7 chain-reopened");
    /* The same call before a close that counts it is fine. */
    session.bundle.lines[5] = forge_run_line(&session.key, &sixth);
    session.bundle.lines[6] = close_line(&session.key, FORGE_SESSION, 6, sixth.record_sha256);
    check_outcome(verify_session(&session), CS_OK, "");
}

/* ---- several sessions, single runs between -------------------------------------------------------- */

Test(verify_chain, sessions_may_be_interleaved) {
    session_case session = five_calls();
    forge_bundle other = {.count = 0};
    forge_session(&other, &session.key, OTHER_SESSION, 5, NULL);
    forge_bundle both = {.count = 0};
    for (size_t i = 0; i < 6; i++) {
        forge_run single = forge_single();
        single.started += i;
        forge_seal(&single);
        forge_add(&both, session.bundle.lines[i]);
        forge_add(&both, forge_run_line(&session.key, &single));
        forge_add(&both, other.lines[i]);
    }
    outcome out = verify_bundle(&both, &session.key);
    check_outcome(out, CS_OK, "");
    cr_expect_eq(out.summary.sessions, 2);
    cr_expect_eq(out.summary.runs, 16);
    forge_remove(&both, 17); /* the other session's close */
    out = verify_bundle(&both, &session.key);
    check_outcome(out, CS_FAILED, "15 chain-unclosed");
    cr_expect_eq(out.summary.sessions, 1);
    forge_remove(&both, 15); /* the first session's close */
    out = verify_bundle(&both, &session.key);
    check_outcome(out, CS_FAILED, "13 chain-unclosed; 15 chain-unclosed");
}

Test(verify_chain, the_session_is_a_fingerprint) {
    session_case session = five_calls();
    forge_bundle bundle = {.count = 0};
    session.runs[0].session = "short";
    forge_seal(&session.runs[0]);
    forge_add(&bundle, forge_run_line(&session.key, &session.runs[0]));
    outcome out = verify_bundle(&bundle, &session.key);
    cr_expect_eq(out.result, CS_FAILED);
    cr_expect_eq(out.err.code, CS_CODE_SESSION_FIELDS, "%s", cs_code_name(out.err.code));
}

/* ---- record versions ------------------------------------------------------------------------------ */

/* Give calls `from` to `to` (0-based) this protocol and version, and seal and sign the rest again. */
static void remake(session_case *session, size_t from, size_t to, uint32_t protocol, uint32_t version) {
    const char *previous = "";
    for (size_t i = 0; i < 5; i++) {
        forge_run *run = &session->runs[i];
        if (i >= from && i <= to) {
            run->protocol = protocol;
            run->version = version;
        }
        run->previous = previous;
        forge_seal(run);
        previous = run->record_sha256;
        session->bundle.lines[i] = forge_run_line(&session->key, run);
    }
    session->bundle.lines[5] = close_line(&session->key, FORGE_SESSION, 5, previous);
}

Test(verify_chain, record_versions_do_not_mix) {
    session_case session = five_calls();
    remake(&session, 0, 4, 1, 1);
    check_outcome(verify_session(&session), CS_OK, "");
    remake(&session, 2, 4, 3, 2);
    check_outcome(verify_session(&session), CS_FAILED, "3 chain-version");
    remake(&session, 3, 3, 1, 1);
    check_outcome(verify_session(&session), CS_FAILED, "3 chain-version; 5 chain-version");
    remake(&session, 0, 4, 3, 2);
    check_outcome(verify_session(&session), CS_OK, "");
}

Test(verify_chain, version_4_stands_alone) {
    session_case session = five_calls();
    for (size_t i = 0; i < 5; i++)
        session.runs[i].instance = "k8s-pod-uid:1";
    remake(&session, 0, 4, 4, 4);
    check_outcome(verify_session(&session), CS_OK, "");
    session.runs[2].instance = "";
    session.runs[3].instance = "k8s-pod-uid:2";
    remake(&session, 0, 4, 4, 4);
    check_outcome(verify_session(&session), CS_OK, "");
    session.runs[4].instance = "";
    remake(&session, 4, 4, 3, 2);
    check_outcome(verify_session(&session), CS_FAILED, "5 chain-version");
    session = five_calls();
    remake(&session, 1, 4, 4, 4);
    check_outcome(verify_session(&session), CS_FAILED, "2 chain-version");
}

/* What says that there was no answer is then the field alone. */
Test(verify_chain, an_unanswered_call_of_version_4_takes_its_place) {
    session_case session = five_calls();
    session.runs[2].unanswered = "unavailable";
    session.runs[2].instance = "k8s-pod-uid:1";
    remake(&session, 0, 4, 4, 4);
    outcome out = verify_session(&session);
    check_outcome(out, CS_OK, "");
    cr_expect_str_eq(out.runs, "1 2 3u 4 5");
    cr_expect_eq(out.summary.unanswered, 1);
    remake(&session, 2, 2, 4, 3);
    check_outcome(verify_session(&session), CS_FAILED, "3 record-version");
}

Test(verify_chain, an_unanswered_call_takes_its_place) {
    session_case session = five_calls();
    session.runs[2].unanswered = "unavailable";
    remake(&session, 2, 2, 3, 3);
    outcome out = verify_session(&session);
    check_outcome(out, CS_OK, "");
    cr_expect_str_eq(out.runs, "1 2 3u 4 5");
    cr_expect_eq(out.summary.runs, 5);
    cr_expect_eq(out.summary.unanswered, 1);
    session.runs[2].unanswered = "busy"; /* none of the 16 codes */
    remake(&session, 2, 2, 3, 3);
    check_outcome(verify_session(&session), CS_FAILED, "3 record-unanswered");
}

Test(verify_chain, an_unanswered_call_belongs_to_a_session) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    run.version = 3;
    run.unanswered = "unavailable";
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    outcome out = verify_bundle(&bundle, &key);
    cr_expect_eq(out.result, CS_FAILED);
    cr_expect_eq(out.err.code, CS_CODE_SESSION_FIELDS, "%s", cs_code_name(out.err.code));
}

/* ---- one fault is said once ----------------------------------------------------------------------- */

/* A call or close that is bad by itself, and reported, does not make the next one bad. */
Test(verify_chain, a_bad_entry_explains_one_missing_call) {
    for (size_t at = 0; at < 6; at++) {
        session_case session = five_calls();
        forge_key stranger = forge_key_from(9);
        const char *from = session.key.id;
        char *line = session.bundle.lines[at];
        char *id = strstr(line, from);
        cr_assert_not_null(id);
        memcpy(id, stranger.id, 64);
        outcome out = verify_session(&session);
        check_outcome(out, CS_FAILED, forge_text("%zu envelope-key-unknown", at + 1));
        cr_expect_eq(out.summary.sessions, 0, "a session with a hole is not one that closed well");
    }
}

Test(verify_chain, a_bad_entry_explains_only_one) {
    session_case session = five_calls();
    session.bundle.lines[1] = forge_text("%s", "{}");
    forge_remove(&session.bundle, 2);
    check_outcome(verify_session(&session), CS_FAILED, "2 line-framing; 3 chain-sequence");
}

Test(verify_chain, a_bad_single_run_explains_none) {
    session_case session = five_calls();
    forge_run single = forge_single();
    single.output = "43\n";
    session.bundle.lines[1] = forge_run_line(&session.key, &single);
    check_outcome(verify_session(&session), CS_FAILED, "2 result-digest; 3 chain-sequence");
}

Test(verify_chain, a_bad_entry_before_a_call_does_not_explain_what_is_missing_behind_it) {
    session_case session = five_calls();
    forge_insert(&session.bundle, 1, forge_text("%s", "{}"));
    forge_remove(&session.bundle, 3); /* the third call: line 2 is bad, line 3 is the second call */
    check_outcome(verify_session(&session), CS_FAILED, "2 line-framing; 4 chain-sequence");
}

Test(verify_chain, a_bad_entry_explains_a_missing_call_of_one_session_only) {
    session_case session = five_calls();
    forge_bundle other = {.count = 0};
    forge_session(&other, &session.key, OTHER_SESSION, 5, NULL);
    forge_bundle both = {.count = 0};
    for (size_t i = 0; i < 6; i++) {
        forge_add(&both, session.bundle.lines[i]);
        forge_add(&both, other.lines[i]);
    }
    /* The second calls of both, on lines 3 and 4, give way to one bad line. */
    forge_remove(&both, 3);
    both.lines[2] = forge_text("%s", "{}");
    check_outcome(verify_bundle(&both, &session.key), CS_FAILED, "3 line-framing; 5 chain-sequence");
}
