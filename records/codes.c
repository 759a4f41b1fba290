#include "records/codes.h"

#include <stddef.h>

typedef struct code_row {
    const char *name;
    cs_result class;
    const char *meaning;
} code_row;

/* One row for every code, in the sections of codes.h. The meanings are the text of the man page. */
static const code_row rows[CS_CODE_COUNT] = {
    [CS_CODE_OK] = {"ok", CS_OK, "every check passed, and there was something to check"},
    /* anywhere */
    [CS_CODE_INTERNAL] = {"internal", CS_UNCHECKED,
                          "countersign itself failed: a bug, or a library that does not do what it promises"},
    [CS_CODE_NO_MEMORY] = {"no-memory", CS_UNCHECKED, "there was not enough memory"},
    [CS_CODE_USAGE] = {"usage", CS_USAGE, "the command line is wrong"},
    [CS_CODE_IO] = {"io", CS_UNCHECKED, "a file could not be read or written"},
    [CS_CODE_INPUT_UNKNOWN] = {"input-unknown", CS_UNCHECKED,
                               "the input is neither a ledger nor a bundle nor anything else that is known here"},
    [CS_CODE_INPUT_VERDICT] = {"input-verdict", CS_NOTHING,
                               "the input is an attestation of a verdict, not a record of a run"},
    [CS_CODE_NOTHING_TO_CHECK] = {"nothing-to-check", CS_NOTHING,
                                  "the input holds nothing to check, or nothing matched"},
    [CS_CODE_INTERRUPTED] = {"interrupted", CS_UNCHECKED, "a signal ended the work before it was complete"},
    /* parsing: messages and JSON */
    [CS_CODE_MESSAGE_MALFORMED] = {"message-malformed", CS_FAILED,
                                   "bytes are no message of the expected type, or would need too much memory"},
    [CS_CODE_MESSAGE_TEXT] = {"message-text", CS_FAILED, "a text field of a message is not UTF-8"},
    [CS_CODE_MESSAGE_UNKNOWN_FIELD] = {"message-unknown-field", CS_FAILED,
                                       "a message carries a field that the schema does not know and no digest covers"},
    [CS_CODE_MESSAGE_NONCANONICAL] =
        {"message-noncanonical", CS_FAILED,
         "a message is not encoded as a canonical encoder writes it, so some bytes are covered by no digest"},
    [CS_CODE_JSON_MALFORMED] = {"json-malformed", CS_FAILED, "a text is not JSON of the expected form"},
    [CS_CODE_JSON_UNKNOWN_MEMBER] = {"json-unknown-member", CS_FAILED,
                                     "a JSON object has a member that is not known there"},
    [CS_CODE_JSON_REPEATED_MEMBER] =
        {"json-repeated-member", CS_FAILED,
         "a JSON object has the same member twice, or two members of which only one may be set"},
    [CS_CODE_JSON_TYPE] = {"json-type", CS_FAILED, "a JSON value has the wrong type"},
    [CS_CODE_JSON_RANGE] = {"json-range", CS_FAILED, "a JSON number is out of range or not whole"},
    /* a request refused by our own validation, before anything is sent */
    [CS_CODE_REQUEST_JSON] = {"request-json", CS_NOT_RUN,
                              "the request file is no valid request in proto3 JSON; nothing was sent"},
    [CS_CODE_REQUEST_INVALID] = {"request-invalid", CS_NOT_RUN,
                                 "the request exceeds a limit of the interface; nothing was sent"},
    /* what became of a call */
    [CS_CODE_REFUSED_REQUEST] =
        {"refused-request", CS_NOT_RUN,
         "the daemon refused the request as invalid, before it ran anything; no other daemon would take it"},
    [CS_CODE_REFUSED_PERMISSION] = {"refused-permission", CS_NOT_RUN,
                                    "the daemon refused the token, scope or grant, before it ran anything"},
    [CS_CODE_REFUSED_PROTOCOL] = {"refused-protocol", CS_NOT_RUN,
                                  "the daemon speaks another protocol number, and ran nothing"},
    [CS_CODE_REFUSED_UNSUPPORTED] = {"refused-unsupported", CS_NOT_RUN,
                                     "the daemon can't do this kind of work, and ran nothing; another daemon could"},
    [CS_CODE_REFUSED_ISOLATION] =
        {"refused-isolation", CS_NOT_RUN,
         "the daemon's tier is below the floor, and it ran nothing; another daemon could do it"},
    [CS_CODE_REFUSED_CAPACITY] =
        {"refused-capacity", CS_NOT_RUN,
         "the daemon had no capacity, and ran nothing; another daemon could do it, or this one later"},
    [CS_CODE_REFUSED_ENVIRONMENT] =
        {"refused-environment", CS_NOT_RUN,
         "the daemon's software is not what the rule allows, and it ran nothing; another daemon could do it"},
    [CS_CODE_REFUSED_UNSPECIFIED] = {"refused-unspecified", CS_NOT_RUN,
                                     "the daemon marked the request as not run, for a reason that is not known here"},
    [CS_CODE_UNSENT_URL] = {"unsent-url", CS_NOT_RUN, "the daemon's URL is not acceptable; nothing was sent"},
    [CS_CODE_UNSENT_LOOKUP] = {"unsent-lookup", CS_NOT_RUN,
                               "the daemon's host name could not be resolved; nothing was sent"},
    [CS_CODE_UNSENT_CONNECT] = {"unsent-connect", CS_NOT_RUN,
                                "no connection to the daemon could be made; nothing was sent"},
    [CS_CODE_UNSENT_TLS] = {"unsent-tls", CS_NOT_RUN,
                            "the TLS handshake or the certificate check failed; nothing was sent"},
    [CS_CODE_UNSENT_TIMEOUT] = {"unsent-timeout", CS_NOT_RUN,
                                "time ran out before the request began to leave; nothing was sent"},
    [CS_CODE_UNSENT_INTERRUPTED] = {"unsent-interrupted", CS_NOT_RUN,
                                    "a signal ended the call before the request began to leave; nothing was sent"},
    [CS_CODE_UNSENT_OTHER] = {"unsent-other", CS_NOT_RUN, "the request could not be made ready; nothing was sent"},
    [CS_CODE_UNANSWERED_CONNECTION] = {"unanswered-connection", CS_MAYBE_RAN,
                                       "the connection was lost after sending; the code may have run"},
    [CS_CODE_UNANSWERED_TIMEOUT] = {"unanswered-timeout", CS_MAYBE_RAN,
                                    "no answer came in time; the code may have run"},
    [CS_CODE_UNANSWERED_INTERRUPTED] = {"unanswered-interrupted", CS_MAYBE_RAN,
                                        "a signal ended the wait for the answer; the code may have run"},
    [CS_CODE_UNANSWERED_UNBOUND] =
        {"unanswered-unbound", CS_MAYBE_RAN,
         "the answer does not carry this request's id and is not believed; the code may have run"},
    [CS_CODE_UNANSWERED_ERROR] =
        {"unanswered-error", CS_MAYBE_RAN,
         "the daemon answered with an error that does not say that nothing ran; the code may have run"},
    [CS_CODE_UNANSWERED_TOO_LARGE] = {"unanswered-too-large", CS_MAYBE_RAN,
                                      "the answer is larger than accepted; the code may have run"},
    [CS_CODE_UNANSWERED_MALFORMED] = {"unanswered-malformed", CS_MAYBE_RAN,
                                      "the answer can't be read; the code may have run"},
    [CS_CODE_DESCRIBE_FAILED] = {"describe-failed", CS_NOT_RUN,
                                 "the daemon did not say what it is before the run; nothing was sent to run"},
    [CS_CODE_DESCRIBE_AFTER_FAILED] =
        {"describe-after-failed", CS_UNCHECKED,
         "the daemon did not say what it is after the run, so a change meanwhile could not be excluded"},
    [CS_CODE_SESSION_OPEN_FAILED] =
        {"session-open-failed", CS_NOT_RUN,
         "no believable answer to the opening of a session: no call was sent, and a session may stand open until it "
         "expires"},
    [CS_CODE_SESSION_STOPPED] = {"session-stopped", CS_NOT_RUN,
                                 "the call was not sent, because its session had ended or could not be followed"},
    [CS_CODE_SESSION_UNCLOSED] =
        {"session-unclosed", CS_UNCHECKED,
         "no believable answer to the close of a session, or it counts a call that is not in the ledger"},
    /* checks of one run, in their order (docs/FORMAT.md, "Record checks") */
    [CS_CODE_FLOOR_UNKNOWN] = {"floor-unknown", CS_FAILED, "the request's floor is no tier that is known here"},
    [CS_CODE_RULE_MALFORMED] = {"rule-malformed", CS_FAILED, "the request's software rule is not well formed"},
    [CS_CODE_RECORD_MISSING] = {"record-missing", CS_FAILED, "the response carries no record"},
    [CS_CODE_RECORD_VERSION] = {"record-version", CS_FAILED,
                                "the record's version is unknown, or not the one its protocol requires"},
    [CS_CODE_RECORD_SOFTWARE_FIELDS] = {"record-software-fields", CS_FAILED,
                                        "a version 1 record has software fields, which its digest does not cover"},
    [CS_CODE_RECORD_UNANSWERED] = {"record-unanswered", CS_FAILED,
                                   "the record's field for unanswered calls does not fit the record"},
    [CS_CODE_REQUEST_DIGEST] = {"request-digest", CS_FAILED,
                                "the record's request digest is not that of the request that was sent"},
    [CS_CODE_RESULT_DIGEST] = {"result-digest", CS_FAILED,
                               "the record's result digest is not that of the result that was received"},
    [CS_CODE_PROVIDER_MISMATCH] = {"provider-mismatch", CS_FAILED,
                                   "the record and the response name different providers"},
    [CS_CODE_ISOLATION_MISMATCH] = {"isolation-mismatch", CS_FAILED,
                                    "the record and the response state different tiers"},
    [CS_CODE_ENVIRONMENT_MISMATCH] = {"environment-mismatch", CS_FAILED,
                                      "the record and the response name different environments"},
    [CS_CODE_INSTANCE_MISMATCH] = {"instance-mismatch", CS_FAILED,
                                   "the record's instance is not the response's own, not of its form, or not covered by its digest"},
    [CS_CODE_SOFTWARE_MISMATCH] = {"software-mismatch", CS_FAILED,
                                   "the record names other software than the response, or than the session of a call without an answer"},
    [CS_CODE_RULE_MISMATCH] = {"rule-mismatch", CS_FAILED, "the record's software rule is not the request's"},
    [CS_CODE_SOFTWARE_NOT_ALLOWED] = {"software-not-allowed", CS_FAILED,
                                      "the software that ran is not allowed by the request's rule"},
    [CS_CODE_RECORD_DIGEST] = {"record-digest", CS_FAILED, "the record's own digest is not that of its fields"},
    [CS_CODE_TIER_UNKNOWN] = {"tier-unknown", CS_FAILED, "the record's tier is none that is known here"},
    [CS_CODE_TIER_BELOW_FLOOR] = {"tier-below-floor", CS_FAILED, "the record's tier is below the request's floor"},
    [CS_CODE_SESSION_FIELDS] = {"session-fields", CS_FAILED,
        "the record of a single run has session fields, or a session call has none of the right form"},
    [CS_CODE_RESULT_MISSING] = {"result-missing", CS_FAILED, "the response carries no result"},
    [CS_CODE_RESULT_KIND] = {"result-kind", CS_FAILED, "the result is of another kind than the payload"},
    [CS_CODE_TIMES_REVERSED] = {"times-reversed", CS_OK,
                                "warning: the record says that the run ended before it started"},
    [CS_CODE_CLOCK_SKEW] = {"clock-skew", CS_OK,
                            "warning: the record's times lie outside our own clock's times around the call"},
    [CS_CODE_PROVIDER_DRIFT] = {"provider-drift", CS_FAILED,
                                "the daemon described itself as another provider than the record or the session states"},
    [CS_CODE_TIER_DRIFT] = {"tier-drift", CS_FAILED, "the daemon described its tier otherwise than the record or the session states"},
    [CS_CODE_POLICY_DRIFT] = {"policy-drift", CS_FAILED,
                              "the daemon described its policy otherwise than the record states"},
    [CS_CODE_PROTOCOL_DRIFT] = {"protocol-drift", CS_FAILED,
                                "the daemon described another protocol number than the request's"},
    /* what the code itself did, when someone asks for it */
    [CS_CODE_WORK_FAILED] = {"work-failed", CS_FAILED,
                             "the run is true to its record, but the code that ran did not succeed"},
    /* a live session */
    [CS_CODE_SESSION_ID] = {"session-id", CS_FAILED, "the daemon gave a session an id that is not of the exact form"},
    [CS_CODE_SESSION_FINGERPRINT] = {"session-fingerprint", CS_FAILED,
                                     "a session's answer, record or close states another fingerprint than its own"},
    /* envelopes and statements */
    [CS_CODE_ENVELOPE_MALFORMED] = {"envelope-malformed", CS_FAILED, "a signed envelope is not of the exact form"},
    [CS_CODE_ENVELOPE_TYPE] = {"envelope-type", CS_FAILED, "a signed envelope has another payload type"},
    [CS_CODE_ENVELOPE_KEY_UNKNOWN] = {"envelope-key-unknown", CS_FAILED,
                                      "an envelope is signed under a key that is not trusted, or not at that time"},
    [CS_CODE_ENVELOPE_KEY_WINDOW] = {"envelope-key-window", CS_FAILED,
                                    "the key is trusted for another time than that of what it signed"},
    [CS_CODE_ENVELOPE_SIGNATURE] = {"envelope-signature", CS_FAILED, "an envelope's signature is wrong"},
    [CS_CODE_STATEMENT_MALFORMED] = {"statement-malformed", CS_FAILED, "a signed statement is not of the exact form"},
    [CS_CODE_STATEMENT_TYPE] = {"statement-type", CS_FAILED,
                                "a signed statement has another type or predicate type than expected"},
    [CS_CODE_STATEMENT_SUBJECT] = {"statement-subject", CS_FAILED,
                                   "a signed statement's subject is not what its predicate says"},
    [CS_CODE_STATEMENT_NOT_REBUILT] = {"statement-not-rebuilt", CS_FAILED,
                                       "a signed statement is not the bytes that its own fields give"},
    [CS_CODE_RECORD_DIFFERS] = {"record-differs", CS_FAILED, "the signed record and the response's record differ"},
    [CS_CODE_EXCHANGE_REQUEST] = {"exchange-request", CS_FAILED,
                                  "a stored request exceeds a limit of the interface, so no daemon can have run it"},
    /* bundles */
    [CS_CODE_LINE_FRAMING] = {"line-framing", CS_FAILED, "a line of a bundle is not of the exact form"},
    [CS_CODE_LINE_TOO_LONG] = {"line-too-long", CS_FAILED, "a line of a bundle is longer than 64 MiB"},
    [CS_CODE_LINE_UNFINISHED] = {"line-unfinished", CS_FAILED, "the last line of a bundle has no newline"},
    [CS_CODE_BUNDLE_MIXED] = {"bundle-mixed", CS_FAILED, "a bundle has lines with a link and lines without"},
    [CS_CODE_LINK_INDEX] = {"link-index", CS_FAILED, "a link states another line number than its own"},
    [CS_CODE_LINK_PREVIOUS] = {"link-previous", CS_FAILED, "a link's digest of the previous line is wrong"},
    [CS_CODE_LINK_ENTRY] = {"link-entry", CS_FAILED, "a link's digest of its own line is wrong"},
    [CS_CODE_CHECKPOINT_MISSING] = {"checkpoint-missing", CS_FAILED,
                                    "a linked bundle does not end in a checkpoint, so it may be cut short"},
    [CS_CODE_CHECKPOINT_LINES] = {"checkpoint-lines", CS_FAILED,
                                  "a checkpoint states another number of lines than stand before it"},
    /* what someone knows from elsewhere about an input */
    [CS_CODE_HEAD_MISSING] = {"head-missing", CS_FAILED,
                              "the head known from elsewhere is not there: entries were cut off or replaced, or are not linked"},
    [CS_CODE_EXPECT_MALFORMED] = {"expect-malformed", CS_UNCHECKED,
                                  "the file of expected request digests is not of its form"},
    [CS_CODE_EXPECT_MISSING] = {"expect-missing", CS_FAILED, "there is no record of an expected request"},
    [CS_CODE_EXPECT_SURPLUS] = {"expect-surplus", CS_FAILED,
                                "there is a record of a request that was not expected, or not so often"},
    [CS_CODE_EXPECT_COUNT] = {"expect-count", CS_FAILED, "there are more or fewer records than expected"},
    /* export and import */
    [CS_CODE_EXPORT_KEY] = {"export-key", CS_UNCHECKED,
                            "the entries are not one imported bundle, so their links need a key to be signed"},
    [CS_CODE_EXPORT_FOREIGN] = {"export-foreign", CS_UNCHECKED,
                                "the file is there and is no bundle that this export can extend"},
    [CS_CODE_EXPORT_LOCKED] = {"export-locked", CS_UNCHECKED, "another process is writing the bundle"},
    [CS_CODE_EXPORT_PERMISSIONS] = {"export-permissions", CS_UNCHECKED,
                                    "the bundle's file may be written by others"},
    [CS_CODE_IMPORT_LEDGER] = {"import-ledger", CS_UNCHECKED, "the input is a ledger, and only a bundle is imported"},
    [CS_CODE_IMPORT_DUPLICATE] = {"import-duplicate", CS_FAILED,
                                  "a record of the bundle is in the ledger already, as another entry"},
    /* session chains */
    [CS_CODE_CHAIN_VERSION] = {"chain-version", CS_FAILED,
                               "a session mixes record versions that do not belong together"},
    [CS_CODE_CHAIN_SEQUENCE] = {"chain-sequence", CS_FAILED,
                                "a session's call numbers have a gap or do not begin at 1"},
    [CS_CODE_CHAIN_ORDER] = {"chain-order", CS_FAILED,
                             "a session's call stands behind a later one, or behind one of the same number"},
    [CS_CODE_CHAIN_PREVIOUS] = {"chain-previous", CS_FAILED, "a session's record does not name the record before it"},
    [CS_CODE_CHAIN_REOPENED] = {"chain-reopened", CS_FAILED, "a session goes on after its close, or is closed twice"},
    [CS_CODE_CHAIN_CLOSE] = {"chain-close", CS_FAILED, "a session's close does not agree with its records"},
    [CS_CODE_CHAIN_UNCLOSED] = {"chain-unclosed", CS_FAILED, "a session has no close, so later calls may be missing"},
    [CS_CODE_RECORD_DUPLICATE] = {"record-duplicate", CS_OK, "warning: the same record occurs again; it counts once"},
    /* the ledger */
    [CS_CODE_LEDGER_MISSING] = {"ledger-missing", CS_UNCHECKED, "there is no ledger at that path"},
    [CS_CODE_LEDGER_FOREIGN] = {"ledger-foreign", CS_UNCHECKED, "the file is no ledger of this program"},
    [CS_CODE_LEDGER_VERSION] = {"ledger-version", CS_UNCHECKED,
                                "the ledger has a version that this program does not know"},
    [CS_CODE_LEDGER_SCHEMA] = {"ledger-schema", CS_FAILED, "the ledger's tables are not those that its version has"},
    [CS_CODE_LEDGER_CORRUPT] = {"ledger-corrupt", CS_FAILED, "the database file is damaged, or cut short"},
    [CS_CODE_LEDGER_LOCKED] = {"ledger-locked", CS_UNCHECKED, "another process holds the ledger"},
    [CS_CODE_LEDGER_FULL] = {"ledger-full", CS_UNCHECKED, "there is no room to write the ledger"},
    [CS_CODE_LEDGER_WRITE] = {"ledger-write", CS_UNCHECKED, "the ledger could not be written"},
    [CS_CODE_LEDGER_ROW] = {"ledger-row", CS_FAILED,
                            "a row of the ledger is not what was written: its row_sha256 does not fit"},
    [CS_CODE_LEDGER_CHAIN] = {"ledger-chain", CS_FAILED,
                              "the ledger's entries do not follow one another as they were written"},
    [CS_CODE_LEDGER_COLUMNS] = {"ledger-columns", CS_FAILED,
                                "the columns of a ledger row do not fit together, or do not say what its signed entry says"},
    [CS_CODE_ENTRY_UNKNOWN] = {"entry-unknown", CS_NOTHING, "the ledger has no such entry"},
    /* keys */
    [CS_CODE_KEY_UNREADABLE] = {"key-unreadable", CS_UNCHECKED, "a key file can't be read"},
    [CS_CODE_KEY_PERMISSIONS] = {"key-permissions", CS_UNCHECKED, "a private key's file may be read by others"},
    [CS_CODE_KEY_MALFORMED] = {"key-malformed", CS_UNCHECKED, "a key file holds no Ed25519 key of the expected form"},
    [CS_CODE_KEY_WEAK] = {"key-weak", CS_UNCHECKED, "a public key is a point under which anyone can sign"},
    [CS_CODE_KEY_EXISTS] = {"key-exists", CS_UNCHECKED, "there is a key file already; none is overwritten"},
    [CS_CODE_TRUST_MALFORMED] = {"trust-malformed", CS_UNCHECKED, "the trust file is not of its form"},
    [CS_CODE_TRUST_CONTRADICTS] = {"trust-contradicts", CS_UNCHECKED,
                                   "one key is named as trusted for different windows of time"},
    /* replay */
    [CS_CODE_REPLAY_DIFFERS] = {"replay-differs", CS_FAILED,
                                "the same request gave another result on another provider"},
    [CS_CODE_REPLAY_UNSTABLE] = {"replay-unstable", CS_FAILED,
                                 "the same request gave different results on the same provider"},
    [CS_CODE_REPLAY_INCOMPLETE] = {"replay-incomplete", CS_UNCHECKED,
                                   "not every provider gave an answer, so not all could be compared"},
    [CS_CODE_REPLAY_NOT_SINGLE] = {"replay-not-single", CS_NOTHING,
                                   "the entry is no single run and can't be run again by itself"},
    [CS_CODE_REPLAY_UNANSWERED] = {"replay-unanswered", CS_UNCHECKED,
                                   "the stored call got no answer, so there is no result to compare with"},
    /* tiers */
    [CS_CODE_TIER_CONTRADICTED] = {"tier-contradicted", CS_FAILED,
                                   "what was observed contradicts the isolation tier that the daemon claims"},
    [CS_CODE_TIER_NONCE] = {"tier-nonce", CS_FAILED, "a probe's answer was not made from the nonce of its run"},
    [CS_CODE_TIER_PROBE] = {"tier-probe", CS_UNCHECKED,
                            "a probe did not run well, or what came back is not what it prints"},
    [CS_CODE_TIER_SELF_TEST] = {"tier-self-test", CS_FAILED,
                                "an honest claim was contradicted, or a false one was not"},
    [CS_CODE_TIER_GUARD] = {"tier-guard", CS_FAILED,
                            "a guard of the sandbox that is promised or required is not shown to be in force"},
    [CS_CODE_BASELINE_FORM] = {"baseline-form", CS_UNCHECKED, "the file is no baseline file, or not of the exact form"},
    [CS_CODE_BASELINE_STATE] = {"baseline-state", CS_UNCHECKED,
                                "the baselines of the file were taken in other states of the daemon: no comparison"},
    [CS_CODE_BASELINE_DIFFERS] = {"baseline-differs", CS_FAILED,
                                  "something is gone, is new, or is another thing than in the baseline"},
    [CS_CODE_BASELINE_UNKNOWN] = {"baseline-unknown", CS_UNCHECKED,
                                  "something that the baseline tells of could not be found out this time, or there is "
                                  "nothing but statements to save"},
    /* gate */
    [CS_CODE_GIT_UNREADABLE] = {"git-unreadable", CS_UNCHECKED,
                                "the git repository, or an object of it, can't be read"},
    [CS_CODE_GIT_REVISION] = {"git-revision", CS_UNCHECKED,
                              "there is no such revision in the repository, or it is no commit"},
    [CS_CODE_JUNIT_MALFORMED] = {"junit-malformed", CS_FAILED,
                                 "the artifact is no JUnit XML, or holds what such a file must not hold"},
    [CS_CODE_POLICY_MALFORMED] = {"policy-malformed", CS_UNCHECKED, "the policy is not of its form"},
    [CS_CODE_POLICY_CONTRADICTS] = {"policy-contradicts", CS_UNCHECKED,
                                    "two rules of the policy can't both be fulfilled"},
    [CS_CODE_POLICY_EMPTY] = {"policy-empty", CS_NOTHING, "the policy asks for nothing that could fail"},
    [CS_CODE_GATE_NOTHING] = {"gate-nothing", CS_NOTHING, "no record is one of those that the requirement is about"},
    [CS_CODE_GATE_PROVIDER] = {"gate-provider", CS_FAILED, "the provider is none of those that are allowed"},
    [CS_CODE_GATE_FLOOR] = {"gate-floor", CS_FAILED, "the tier is below the policy's floor"},
    [CS_CODE_GATE_SOFTWARE] = {"gate-software", CS_FAILED, "the software identity is none of those that are allowed"},
    [CS_CODE_GATE_SANDBOX_POLICY] = {"gate-sandbox-policy", CS_FAILED,
                                     "the sandbox policy is none of those that are allowed"},
    [CS_CODE_GATE_GRANT] = {"gate-grant", CS_FAILED, "a grant profile was used that is not allowed"},
    [CS_CODE_GATE_AGE] = {"gate-age", CS_FAILED, "the run is older than the policy allows, or lies in the future"},
    [CS_CODE_GATE_WORK_FAILED] = {"gate-work-failed", CS_FAILED, "a step failed, or not every step ran"},
    [CS_CODE_GATE_TIMED_OUT] = {"gate-timed-out", CS_FAILED, "the run met its time limit"},
    [CS_CODE_GATE_TRUNCATED] = {"gate-truncated", CS_FAILED, "an output of the run was cut"},
    [CS_CODE_GATE_BIND] = {"gate-bind", CS_FAILED, "a file of the run is not the commit's"},
    [CS_CODE_GATE_INCOMPLETE] = {"gate-incomplete", CS_FAILED, "a file of the commit was not in the run"},
    [CS_CODE_GATE_PATTERN] = {"gate-pattern", CS_FAILED, "a pattern matches no file"},
    [CS_CODE_GATE_PROTECTED] = {"gate-protected", CS_FAILED,
                                "a protected path differs between the base and the revision, or may differ in a submodule, "
                                "or the two are one commit"},
    [CS_CODE_GATE_TESTS_MISSING] = {"gate-tests-missing", CS_FAILED,
                                    "the run has no readable artifact with its test cases"},
    [CS_CODE_GATE_TESTS_FEW] = {"gate-tests-few", CS_FAILED, "fewer tests were executed than the policy asks for"},
    [CS_CODE_GATE_TESTS_SKIPPED] = {"gate-tests-skipped", CS_FAILED, "more tests were skipped than the policy allows"},
    [CS_CODE_GATE_TESTS_FAILED] = {"gate-tests-failed", CS_FAILED, "more tests failed than the policy allows"},
    [CS_CODE_GATE_TESTS_FEWER] = {"gate-tests-fewer", CS_FAILED,
                                  "fewer tests were executed than at the base, or nothing of the base is there to compare with"},
    [CS_CODE_GATE_COUNT] = {"gate-count", CS_FAILED,
                            "fewer distinct records fulfil the requirement than the policy asks for"},
    [CS_CODE_GATE_NOT_REPRODUCED] = {"gate-not-reproduced", CS_FAILED,
                                     "too few providers or runs gave the same result"},
    [CS_CODE_GATE_RESULT_DIFFERS] = {"gate-result-differs", CS_FAILED, "the same work gave different results"},
    [CS_CODE_GATE_CONTRADICTED] = {"gate-contradicted", CS_FAILED, "the claimed tier was contradicted"},
    [CS_CODE_GATE_CROSS_CHECK] = {"gate-cross-check", CS_FAILED,
                                  "a record comes from a bundle, which holds no findings that could contradict it"},
    [CS_CODE_GATE_UNBOUND] = {"gate-unbound", CS_FAILED,
                              "a requirement binds its runs to no commit, so that no verdict by it is attested"},
    /* what a reviewer compares */
    [CS_CODE_ENTRIES_DIFFER] = {"entries-differ", CS_FAILED, "two entries differ in what was compared"},
};

static const code_row *row_of(cs_code code) {
    /* The enum's type may be signed or not; as size_t a negative value is out of range as well. */
    size_t index = (size_t)code;
    return &rows[index < CS_CODE_COUNT ? index : CS_CODE_INTERNAL];
}

const char *cs_code_name(cs_code code) {
    return row_of(code)->name;
}

cs_result cs_code_class(cs_code code) {
    return row_of(code)->class;
}

const char *cs_code_meaning(cs_code code) {
    return row_of(code)->meaning;
}

const char *cs_result_word(cs_result result) {
    switch (result) {
    case CS_OK:
        return "passed";
    case CS_FAILED:
        return "failed";
    case CS_USAGE:
        return "usage";
    case CS_NOT_RUN:
        return "not-run";
    case CS_MAYBE_RAN:
        return "may-have-run";
    case CS_NOTHING:
        return "nothing";
    case CS_UNCHECKED:
        break;
    }
    return "unchecked";
}
