/* What `run`, `session` and `replay` share: the way to a daemon, the key and ledger that keep what came back, and the
 * options of both. */
#ifndef CS_CLI_CONNECT_H
#define CS_CLI_CONNECT_H

#include "cli/options.h"
#include "harness/run.h"

/* Options of the connection. */
typedef struct cs_connect_options {
    const char *url; /* of a command with one daemon */
    int codec;       /* cs_codec */
    bool allow_cleartext;
    const char *ca_file;
    int64_t timeout_s;
    int64_t skew_s; /* how far a daemon's clock may be off */
} cs_connect_options;

/* Where signed runs go. */
typedef struct cs_keeping {
    const char *key_file; /* NULL: the environment's COUNTERSIGN_KEY */
    const char *ledger_path;
    int64_t lock_wait_s;
    cs_key *key;       /* owned once open */
    cs_ledger *ledger; /* owned once open */
} cs_keeping;

#define CS_CONNECT_OPTIONS_INIT ((cs_connect_options){.codec = CS_CODEC_BINARY, .skew_s = CS_DEFAULT_SKEW_MS / 1000})
#define CS_KEEPING_INIT ((cs_keeping){.lock_wait_s = CS_LOCK_WAIT_MS / 1000})

/* Put options behind the `count` that stand in a command's table, and answer the new count. First what a command with
 * one daemon must be told (-d, -k, -l), then what every command that talks to daemons takes: the connection, and
 * how long to wait for the ledger. */
#define CS_ONE_DAEMON_OPTIONS 3u
#define CS_CONNECT_OPTIONS 6u
CS_MUST_CHECK size_t cs_one_daemon_options_add(cs_option *table, size_t count, cs_connect_options *connect,
                                           cs_keeping *keeping);
CS_MUST_CHECK size_t cs_connect_options_add(cs_option *table, size_t count, cs_connect_options *connect,
                                            cs_keeping *keeping);

/* A command with one daemon needs its URL and a ledger. */
CS_MUST_CHECK cs_result cs_one_daemon_check(const cs_connect_options *connect, const cs_keeping *keeping,
                                            cs_error *err);

/* From now on SIGINT, SIGTERM and SIGHUP end the call under way, and no further one is begun, instead of ending the
 * program: what was sent is then still kept, as a finding. Whoever had them ignored (nohup) keeps that. */
void cs_connect_catch_signals(void);
/* Not 0 once one has come. */
const volatile sig_atomic_t *cs_connect_stop(void);

/* A client for `url`, with the bearer token of the environment. `number` counts the daemons of one
 * command from 1: PLIMSOLL_CALLER_TOKEN_<number> is used where it is set, else
 * PLIMSOLL_CALLER_TOKEN. Gives *out. */
CS_MUST_CHECK cs_result cs_connect(const cs_connect_options *options, const char *url, unsigned number,
                                   cs_client **out, cs_error *err);

/* Wipe every token and take it out of the environment, once the clients hold their copies. */
void cs_connect_forget_tokens(void);

/* Load the key and open the ledger, before anything is sent. Every failure is of class CS_UNCHECKED. */
CS_MUST_CHECK cs_result cs_keeping_open(cs_keeping *keeping, cs_error *err);
/* A ledger that was made by the opening, and into which nothing came, goes again. */
void cs_keeping_close(cs_keeping *keeping);

/* How the harness is to run something on one daemon. Borrows all three. */
cs_run_options cs_keeping_runs(const cs_keeping *keeping, const cs_connect_options *connect, cs_client *client);

#endif
