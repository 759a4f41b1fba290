/* Every stable code, once. The name (kebab-case), the result class and one line of meaning stand in
 * codes.c; the man page lists them from there (`countersign codes`), and a test holds both together.
 * A code that was released keeps its name and class for ever.
 */
#ifndef CS_RECORDS_CODES_H
#define CS_RECORDS_CODES_H

#include "records/base.h"

typedef enum cs_code {
    CS_CODE_OK,
    /* anywhere */
    CS_CODE_INTERNAL,
    CS_CODE_NO_MEMORY,
    CS_CODE_USAGE,
    CS_CODE_IO,
    CS_CODE_INPUT_UNKNOWN,
    CS_CODE_NOTHING_TO_CHECK,
    CS_CODE_INTERRUPTED,
    /* parsing: messages and JSON */
    CS_CODE_MESSAGE_MALFORMED,
    CS_CODE_MESSAGE_TEXT,
    CS_CODE_MESSAGE_UNKNOWN_FIELD,
    CS_CODE_MESSAGE_NONCANONICAL,
    CS_CODE_JSON_MALFORMED,
    CS_CODE_JSON_UNKNOWN_MEMBER,
    CS_CODE_JSON_REPEATED_MEMBER,
    CS_CODE_JSON_TYPE,
    CS_CODE_JSON_RANGE,
    /* a request refused by our own validation, before anything is sent */
    CS_CODE_REQUEST_JSON,
    CS_CODE_REQUEST_INVALID,
    /* what became of a call */
    CS_CODE_REFUSED_REQUEST,
    CS_CODE_REFUSED_PERMISSION,
    CS_CODE_REFUSED_PROTOCOL,
    CS_CODE_REFUSED_UNSUPPORTED,
    CS_CODE_REFUSED_ISOLATION,
    CS_CODE_REFUSED_CAPACITY,
    CS_CODE_REFUSED_ENVIRONMENT,
    CS_CODE_REFUSED_UNSPECIFIED,
    CS_CODE_UNSENT_URL,
    CS_CODE_UNSENT_LOOKUP,
    CS_CODE_UNSENT_CONNECT,
    CS_CODE_UNSENT_TLS,
    CS_CODE_UNSENT_TIMEOUT,
    CS_CODE_UNSENT_INTERRUPTED,
    CS_CODE_UNSENT_OTHER,
    CS_CODE_UNANSWERED_CONNECTION,
    CS_CODE_UNANSWERED_TIMEOUT,
    CS_CODE_UNANSWERED_INTERRUPTED,
    CS_CODE_UNANSWERED_UNBOUND,
    CS_CODE_UNANSWERED_ERROR,
    CS_CODE_UNANSWERED_TOO_LARGE,
    CS_CODE_UNANSWERED_MALFORMED,
    CS_CODE_DESCRIBE_FAILED,
    CS_CODE_DESCRIBE_AFTER_FAILED,
    /* checks of one run, in their order (docs/FORMAT.md, "Record checks") */
    CS_CODE_FLOOR_UNKNOWN,
    CS_CODE_RULE_MALFORMED,
    CS_CODE_RECORD_MISSING,
    CS_CODE_RECORD_VERSION,
    CS_CODE_RECORD_SOFTWARE_FIELDS,
    CS_CODE_RECORD_UNANSWERED,
    CS_CODE_REQUEST_DIGEST,
    CS_CODE_RESULT_DIGEST,
    CS_CODE_PROVIDER_MISMATCH,
    CS_CODE_ISOLATION_MISMATCH,
    CS_CODE_ENVIRONMENT_MISMATCH,
    CS_CODE_SOFTWARE_MISMATCH,
    CS_CODE_RULE_MISMATCH,
    CS_CODE_SOFTWARE_NOT_ALLOWED,
    CS_CODE_RECORD_DIGEST,
    CS_CODE_TIER_UNKNOWN,
    CS_CODE_TIER_BELOW_FLOOR,
    CS_CODE_SESSION_FIELDS,
    CS_CODE_RESULT_MISSING,
    CS_CODE_RESULT_KIND,
    CS_CODE_TIMES_REVERSED, /* warning */
    CS_CODE_CLOCK_SKEW,     /* warning */
    CS_CODE_PROVIDER_DRIFT,
    CS_CODE_TIER_DRIFT,
    CS_CODE_POLICY_DRIFT,
    CS_CODE_PROTOCOL_DRIFT,
    /* what the code itself did, when someone asks for it */
    CS_CODE_WORK_FAILED,
    /* envelopes and statements */
    CS_CODE_ENVELOPE_MALFORMED,
    CS_CODE_ENVELOPE_TYPE,
    CS_CODE_ENVELOPE_KEY_UNKNOWN,
    CS_CODE_ENVELOPE_SIGNATURE,
    CS_CODE_STATEMENT_MALFORMED,
    CS_CODE_STATEMENT_TYPE,
    CS_CODE_STATEMENT_SUBJECT,
    CS_CODE_STATEMENT_NOT_REBUILT,
    CS_CODE_RECORD_DIFFERS,
    CS_CODE_EXCHANGE_REQUEST,
    /* bundles */
    CS_CODE_LINE_FRAMING,
    CS_CODE_LINE_TOO_LONG,
    CS_CODE_LINE_UNFINISHED,
    CS_CODE_BUNDLE_MIXED,
    CS_CODE_LINK_INDEX,
    CS_CODE_LINK_PREVIOUS,
    CS_CODE_LINK_ENTRY,
    CS_CODE_CHECKPOINT_MISSING,
    CS_CODE_CHECKPOINT_LINES,
    /* session chains */
    CS_CODE_CHAIN_VERSION,
    CS_CODE_CHAIN_SEQUENCE,
    CS_CODE_CHAIN_PREVIOUS,
    CS_CODE_CHAIN_REOPENED,
    CS_CODE_CHAIN_CLOSE,
    CS_CODE_CHAIN_UNCLOSED,
    CS_CODE_RECORD_DUPLICATE, /* warning: it counts once */
    /* the ledger */
    CS_CODE_LEDGER_MISSING,
    CS_CODE_LEDGER_FOREIGN,
    CS_CODE_LEDGER_VERSION,
    CS_CODE_LEDGER_SCHEMA,
    CS_CODE_LEDGER_CORRUPT,
    CS_CODE_LEDGER_LOCKED,
    CS_CODE_LEDGER_FULL,
    CS_CODE_LEDGER_WRITE,
    CS_CODE_LEDGER_ROW,
    CS_CODE_LEDGER_CHAIN,
    CS_CODE_LEDGER_COLUMNS,
    CS_CODE_ENTRY_UNKNOWN,
    /* keys */
    CS_CODE_KEY_UNREADABLE,
    CS_CODE_KEY_PERMISSIONS,
    CS_CODE_KEY_MALFORMED,
    CS_CODE_KEY_WEAK,
    CS_CODE_KEY_EXISTS,
    /* replay */
    CS_CODE_REPLAY_DIFFERS,
    CS_CODE_REPLAY_UNSTABLE,
    CS_CODE_REPLAY_INCOMPLETE,
    CS_CODE_REPLAY_NOT_SINGLE,

    CS_CODE_COUNT /* how many; not a code */
} cs_code;

/* The stable name, the class and the meaning of a code. Any value outside the list answers as
 * CS_CODE_INTERNAL does. All borrow static memory. */
const char *cs_code_name(cs_code code);
cs_result cs_code_class(cs_code code);
const char *cs_code_meaning(cs_code code);

/* The word for a class in text and JSON: "passed", "failed", "usage", "not-run", "may-have-run",
 * "unchecked", "nothing". */
const char *cs_result_word(cs_result result);

#endif
