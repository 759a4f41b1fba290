#include "cli/connect.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"

/* ---- the command line ----------------------------------------------------------------------- */

static size_t put_options(cs_option *table, size_t count, const cs_option *more, size_t size) {
    memcpy(table + count, more, size);
    return count + size / sizeof *more;
}

size_t cs_one_daemon_options_add(cs_option *table, size_t count, cs_connect_options *connect, cs_keeping *keeping) {
    const cs_option more[CS_ONE_DAEMON_OPTIONS] = {
        {"daemon", 'd', CS_OPTION_TEXT, &connect->url, "URL", "the daemon's base URL", 0, 0, NULL},
        {"key", 'k', CS_OPTION_TEXT, &keeping->key_file, "FILE",
         "private key (PEM); without it, the text in COUNTERSIGN_KEY", 0, 0, NULL},
        {"ledger", 'l', CS_OPTION_TEXT, &keeping->ledger_path, "FILE", "the ledger; made when there is none", 0, 0,
         NULL},
    };
    return put_options(table, count, more, sizeof more);
}

size_t cs_connect_options_add(cs_option *table, size_t count, cs_connect_options *connect, cs_keeping *keeping) {
    static const char *const codecs[] = {"binary", "json", NULL}; /* in the order of cs_codec */
    const cs_option more[CS_CONNECT_OPTIONS] = {
        {"codec", 0, CS_OPTION_CHOICE, &connect->codec, "binary|json", "how to speak to a daemon (binary)", 0, 0,
         codecs},
        {"allow-cleartext", 0, CS_OPTION_FLAG, &connect->allow_cleartext, NULL,
         "allow http to a host that is not this one", 0, 0, NULL},
        {"cacert", 0, CS_OPTION_TEXT, &connect->ca_file, "FILE", "certificates to trust instead of the system's", 0, 0,
         NULL},
        {"timeout", 0, CS_OPTION_NUMBER, &connect->timeout_s, "SECONDS", "wait this long for an answer (360)", 1, 86400,
         NULL},
        {"lock-wait", 0, CS_OPTION_NUMBER, &keeping->lock_wait_s, "SECONDS", "wait this long for the ledger (10)", 0,
         3600, NULL},
        {"skew", 0, CS_OPTION_NUMBER, &connect->skew_s, "SECONDS", "how far a daemon's clock may be off (5)", 0, 86400,
         NULL},
    };
    return put_options(table, count, more, sizeof more);
}

cs_result cs_one_daemon_check(const cs_connect_options *connect, const cs_keeping *keeping, cs_error *err) {
    if (connect->url == NULL) return cs_fail(err, CS_CODE_USAGE, "name the daemon with -d URL");
    if (keeping->ledger_path == NULL) return cs_fail(err, CS_CODE_USAGE, "name the ledger with -l FILE");
    return CS_OK;
}

/* ---- signals and secrets -------------------------------------------------------------------- */

static volatile sig_atomic_t stopped;

static void on_signal(int number) {
    (void)number;
    stopped = 1;
}

void cs_connect_catch_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: a wait must end */
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        (void)sigaction(numbers[i], &action, NULL);
    }
}

const volatile sig_atomic_t *cs_connect_stop(void) {
    return &stopped;
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

/* ---- the daemon ----------------------------------------------------------------------------- */

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

/* ---- key and ledger ------------------------------------------------------------------------- */

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
    cs_ledger_close_or_remove(keeping->ledger);
    cs_key_free(keeping->key);
    keeping->ledger = NULL;
    keeping->key = NULL;
}

cs_run_options cs_keeping_runs(const cs_keeping *keeping, const cs_connect_options *connect, cs_client *client) {
    return (cs_run_options){
        .client = client,
        .key = keeping->key,
        .ledger = keeping->ledger,
        .ledger_path = keeping->ledger_path,
        .skew_ms = connect->skew_s * 1000,
    };
}
