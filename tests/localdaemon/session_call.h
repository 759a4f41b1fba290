/* Sessions over raw HTTP: open, call, close, and what is pinned of the answers. */
#ifndef TESTS_LOCALDAEMON_SESSION_CALL_H
#define TESTS_LOCALDAEMON_SESSION_CALL_H

#include "tests/localdaemon/wire_call.h"

#define OPEN "/plimsoll.v1.SandboxService/OpenSession"
#define CALL "/plimsoll.v1.SandboxService/SessionRun"
#define CLOSE "/plimsoll.v1.SandboxService/CloseSession"

#define SHELL(step) "\"project\":{\"steps\":[\"" step "\"]}"

/* One session as its client sees it. */
typedef struct test_session {
    const test_daemon *daemon;
    unsigned protocol;
    char id[33];
    char fingerprint[65];
    unsigned calls;    /* records so far */
    char previous[65]; /* digest of the newest; "" before the first */
    char instance[80]; /* from protocol 4 on, of the first record; "" before it */
} test_session;

/* Open one: `members` stands behind the protocol in the request, as in ",\"lifetimeMs\":500". */
void session_open(const test_daemon *daemon, const char *members, test_session *session);
/* The same with another protocol than 3. */
void session_open_in(const test_daemon *daemon, unsigned protocol, const char *members, test_session *session);

/* Send one call; `payload` is its members without protocol and id. The answer is not looked at. */
void session_send(const test_session *session, const char *payload, wire_end *end);
/* The same as another client. */
void session_send_as(const test_session *session, const char *token, const char *payload, wire_end *end);

/* One call that is answered: its record is the next of the chain, and every digest in it is what an encoder apart
 * from the daemon's makes of the messages. Gives the answer (json_decref). */
json_t *session_call(test_session *session, const char *payload);

/* Check the record of an answered or unanswered call, and let the chain go on. */
void session_check_answer(test_session *session, const char *payload, const wire_end *end);
void session_check_unanswered(test_session *session, const char *payload, const wire_end *end, long status,
                              const char *code);

/* Send a close; the answer is not looked at. */
void session_close_as(const test_session *session, const char *token, wire_end *end);
/* Close it: the fingerprint, the number of calls and the last digest are those of the chain. */
void session_close(const test_session *session, const char *ended);

/* The message of the first error detail of a type, as JSON (json_decref); NULL when there is none. */
json_t *error_detail(const wire_end *end, const char *type);

/* A refusal with the mark `request` and a SessionEnded detail of this reason. */
void expect_session_ended(const wire_end *end, long status, const char *code, const char *reason);

/* How many processes have `word` as an argument? */
int count_processes(const char *word);
/* One of them; 0 when there is none. */
pid_t find_process(const char *word);
/* A process's state as /proc says it; 'X' when there is no such process. */
char process_state(pid_t pid);
/* Make a file named as its id in the session's work folder, by a call: the folder is then known from outside. */
void session_mark(test_session *session);
/* That folder; "" when there is none. Borrows a static buffer. */
const char *session_folder(const test_session *session);
/* Wait until the folder is gone, at most ten seconds. */
void await_no_folder(const test_session *session);

#endif
