#include "cli/connect.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"

const char *const cs_codec_words[] = {"binary", "json", NULL};

static volatile sig_atomic_t stopped;

static void on_signal(int number) {
    (void)number;
    stopped = 1;
}

void cs_connect_catch_signals(void) {
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: a wait must end */
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

static const char *token_of(unsigned number) {
    char name[sizeof CS_TOKEN_VARIABLE + 16];
    snprintf(name, sizeof name, "%s_%u", CS_TOKEN_VARIABLE, number);
    const char *token = getenv(name);
    return token != NULL ? token : getenv(CS_TOKEN_VARIABLE);
}

static void forget(const char *name) {
    char *value = getenv(name);
    if (value == NULL) return;
    explicit_bzero(value, strlen(value)); /* /proc/self/environ shows these very bytes */
    (void)unsetenv(name);
}

void cs_connect_forget_tokens(void) {
    forget(CS_TOKEN_VARIABLE);
    for (unsigned i = 1; i <= CS_MAX_DAEMONS; i++) {
        char name[sizeof CS_TOKEN_VARIABLE + 16];
        snprintf(name, sizeof name, "%s_%u", CS_TOKEN_VARIABLE, i);
        forget(name);
    }
}

cs_result cs_connect(const cs_connect_options *options, const char *url, unsigned number, cs_client **out,
                     cs_error *err) {
    cs_client_config config = {
        .base_url = url,
        .token = token_of(number),
        .codec = (cs_codec)options->codec,
        .allow_cleartext = options->allow_cleartext,
        .ca_file = options->ca_file,
        .timeout_ms = options->timeout_s * 1000,
        .stop = &stopped,
    };
    return cs_client_new(&config, out, err);
}

static cs_result load_key(cs_keeping *keeping, cs_error *err) {
    if (keeping->key_file != NULL) {
        forget(CS_KEY_VARIABLE); /* not used, and no business of anything that follows */
        return cs_key_load(keeping->key_file, &keeping->key, err);
    }
    if (getenv(CS_KEY_VARIABLE) == NULL)
        return cs_fail(err, CS_CODE_KEY_UNREADABLE,
                       "there is no key: name its file with -k, or put its PEM text into %s", CS_KEY_VARIABLE);
    return cs_key_from_environment(&keeping->key, err);
}

cs_result cs_keeping_open(cs_keeping *keeping, cs_error *err) {
    cs_result result = load_key(keeping, err);
    if (result == CS_OK)
        result = cs_ledger_open(keeping->ledger_path, (int)keeping->lock_wait_s * 1000, &keeping->ledger, err);
    if (result == CS_OK) return CS_OK;
    cs_keeping_close(keeping);
    return CS_UNCHECKED; /* a damaged ledger too: nothing was sent, so nothing failed a check */
}

void cs_keeping_close(cs_keeping *keeping) {
    cs_ledger_close(keeping->ledger);
    cs_key_free(keeping->key);
    keeping->ledger = NULL;
    keeping->key = NULL;
}
