/* A real localdaemon for one test: started on a free port, stopped at the end. */
#ifndef CS_TESTS_SUPPORT_DAEMON_H
#define CS_TESTS_SUPPORT_DAEMON_H

#include <stdbool.h>
#include <sys/types.h>

#define DAEMON_TOKEN "token-of-the-test-client"        /* of the client "test", which may run code */
#define DAEMON_TOKEN_DESCRIBE "token-that-may-not-run" /* of the client "reader", without a scope */
#define DAEMON_TOKEN_OTHER "token-of-another-client"   /* of the client "other", which may run code, too */

typedef struct test_daemon {
    pid_t pid;
    char url[96];     /* "http://127.0.0.1:PORT" */
    char folder[128]; /* holds clients.json and log */
    char log[160];    /* path of what it writes to standard error */
} test_daemon;

/* Start one with `provider` ("process" or "container"), a clients file with the three tokens, and the further
 * arguments `more` (NULL at the end; may be NULL itself). With "--open" as the first of them there is no
 * clients file. It ends with the test's process at the latest.
 * Where the provider does not work, the test is skipped, loudly; in CI, or with COUNTERSIGN_REQUIRE_ALL set,
 * it fails. */
void daemon_start(test_daemon *daemon, const char *provider, const char *const more[]);

/* The same, with something done in the process that becomes the daemon: where `before` (NULL: nothing) says false, it
 * ends as a daemon does whose provider does not work; what it writes to standard error is in the log. */
void daemon_start_behind(test_daemon *daemon, bool (*before)(void), const char *provider, const char *const more[]);

/* SIGTERM, then its exit status (128 + signal when one ended it). Removes the folder. */
int daemon_stop(test_daemon *daemon);

/* Send a signal only; daemon_stop still has to follow. */
void daemon_signal(const test_daemon *daemon, int number);

#endif
