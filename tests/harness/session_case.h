/* One session against a scripted daemon, and what came of it. */
#ifndef CS_TESTS_HARNESS_SESSION_CASE_H
#define CS_TESTS_HARNESS_SESSION_CASE_H

#include <criterion/criterion.h>

#include "harness/session.h"
#include "tests/support/live_session.h"

#define SESSION_CASE_CALLS 4

/* Key, ledger, daemon and two good calls of one test, which changes one thing. */
typedef struct session_case {
    char folder[128];
    char ledger_path[512];
    cs_public_key public_key;
    cs_key *key;
    cs_ledger *ledger;
    sample calls[SESSION_CASE_CALLS];
    size_t count;
    live script;
    peer *daemon;
    cs_client *client;
    cs_session session;
    cs_run_report reports[SESSION_CASE_CALLS];
    cs_run_report close;
} session_case;

void session_case_init(session_case *c);
void session_case_free(session_case *c); /* also: no file and no error holds the session's id */

/* The script: Describe and an opening that passes; a good next call, which is only prepared, or also put in; a
 * close, and Describe. */
void session_case_begin(session_case *c);
sample *session_case_next(session_case *c);
void session_case_add(session_case *c);
void session_case_end(session_case *c, uint64_t calls, const char *last);
const char *session_case_last(const session_case *c); /* record digest of the newest prepared call */

/* Start the daemon and open; make call `i`; all of it with every prepared call, and the close. */
void session_case_open(session_case *c, const char *floor);
void session_case_call(session_case *c, size_t i);
void session_case_run(session_case *c);

/* The kinds and codes of the ledger's entries, in order: "run unanswered finding:chain-close close". */
void session_case_entries(session_case *c, const char *want);
void session_case_verified(session_case *c, cs_result result, cs_code code, uint64_t runs, uint64_t sessions);

#define EXPECT_END(report, want_result, want_code)                                                                     \
    do {                                                                                                               \
        cr_expect_eq((report).result, (want_result), "%s: %s", cs_result_word((report).result), (report).err.message); \
        cr_expect_eq((report).err.code, (want_code), "%s: %s", cs_code_name((report).err.code), (report).err.message); \
    } while (0)

#endif
