/* What `run` and `replay` share: the way to a daemon, and the key and ledger that keep what came back. */
#ifndef CS_CLI_CONNECT_H
#define CS_CLI_CONNECT_H

#include "cli/options.h"
#include "harness/run.h"

/* Options of the connection. */
typedef struct cs_connect_options {
    int codec; /* cs_codec */
    bool allow_cleartext;
    const char *ca_file;
    int64_t timeout_s;
} cs_connect_options;

/* From now on SIGINT and SIGTERM end the call under way, and no further one is begun, instead of ending the
 * program: what was sent is then still kept, as a finding. */
void cs_connect_catch_signals(void);

#define CS_CONNECT_OPTIONS_INIT ((cs_connect_options){.codec = CS_CODEC_BINARY})

extern const char *const cs_codec_words[]; /* "binary", "json", NULL: for the option --codec */

/* A client for `url`, with the bearer token of the environment. `number` counts the daemons of one
 * command from 1: PLIMSOLL_CALLER_TOKEN_<number> is used where it is set, else
 * PLIMSOLL_CALLER_TOKEN. Gives *out. */
CS_MUST_CHECK cs_result cs_connect(const cs_connect_options *options, const char *url, unsigned number,
                                   cs_client **out, cs_error *err);

/* Wipe every token and take it out of the environment, once the clients hold their copies. */
void cs_connect_forget_tokens(void);

/* Where signed runs go. */
typedef struct cs_keeping {
    const char *key_file; /* NULL: the environment's COUNTERSIGN_KEY */
    const char *ledger_path;
    int64_t lock_wait_s;
    cs_key *key;       /* owned once open */
    cs_ledger *ledger; /* owned once open */
} cs_keeping;

/* Load the key and open the ledger, before anything is sent. Every failure is of class CS_UNCHECKED. */
CS_MUST_CHECK cs_result cs_keeping_open(cs_keeping *keeping, cs_error *err);
void cs_keeping_close(cs_keeping *keeping);

#endif
