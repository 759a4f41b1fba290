/* localdaemon: a daemon for one machine that speaks plimsoll.v1 and runs code behind real walls. It holds no
 * key: it states what ran, and others check that. */
#include "examples/localdaemon/daemon.h"
#include "examples/localdaemon/http.h"
#include "examples/localdaemon/log.h"
#include "examples/localdaemon/options.h"
#include "examples/localdaemon/probe.h"
#include "examples/localdaemon/smoke.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pipes must never land on the standard streams' numbers. */
static void open_standard_streams(void) {
    int fd;
    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= 2);
    if (fd > 2) close(fd);
}

static cs_result set_policy(ld_daemon *daemon, cs_error *err) {
    CS_AUTO_BUF text = CS_BUF_INIT(65536);
    cs_digest digest;
    if (!ld_sandbox_policy(&daemon->sandbox, &text) || !cs_sha256_once(cs_buf_view(&text), &digest))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the policy");
    snprintf(daemon->policy, sizeof(daemon->policy), LD_POLICY_PREFIX "%s", digest.hex);
    return CS_OK;
}

/* From here on the tier is the claimed one everywhere: policy, descriptions, floors, records. */
static void lie(ld_sandbox *sandbox, cs_tier claim) {
    ld_log("LYING FOR A TEST: the tier is stated as %s, the walls are those of %s; believe no record of this daemon",
           cs_tier_word(claim), sandbox->name);
    sandbox->tier = claim;
}

/* Everything up to the point where calls may come in. */
static cs_result prepare(ld_daemon *daemon, const ld_options *options, cs_error *err) {
    daemon->slots.lock_fd = -1;
    daemon->open = options->open;
    daemon->protocol = options->protocol;
    daemon->max_concurrent = options->max_concurrent;
    daemon->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (daemon->stop_fd < 0) return cs_fail(err, CS_CODE_IO, "eventfd: %s", strerror(errno));
    cs_result result = CS_OK;
    if (options->clients != NULL && !options->check) result = ld_clients_load(options->clients, &daemon->clients, err);
    if (result == CS_OK) result = ld_sandbox_init(&daemon->sandbox, options->kind, options->node, err);
    if (result == CS_OK && options->claim > CS_TIER_NONE) lie(&daemon->sandbox, options->claim);
    /* --check tells what holds, whatever the daemon would serve with. */
    if (result == CS_OK)
        result = ld_sandbox_leave_out(&daemon->sandbox, options->left_out, options->lies && !options->check, err);
    if (result == CS_OK) result = set_policy(daemon, err);
    if (result == CS_OK) result = ld_slots_open(&daemon->slots, err);
    if (result != CS_OK) return result;
    ld_smoke_missing(&daemon->sandbox);
    return ld_smoke(&daemon->sandbox, &daemon->slots, options->check ? stdout : NULL, err);
}

/* Serve until the stop. The signals are blocked in every thread and taken here. */
static cs_result serve(ld_daemon *daemon, const ld_options *options, const sigset_t *stops, cs_error *err) {
    int listening = -1;
    char url[96];
    ld_http *http = NULL;
    cs_result result =
        ld_sessions_start(&daemon->sessions, &daemon->slots, daemon->sandbox.provider, options->max_sessions, err);
    if (result == CS_OK) result = ld_http_bind(options->listen, &listening, url, sizeof(url), err);
    if (result == CS_OK) result = ld_http_start(daemon, listening, &http, err);
    if (result != CS_OK) return result;
    ld_log("provider %s, tier %s, policy %s", daemon->sandbox.name, cs_tier_word(daemon->sandbox.tier), daemon->policy);
    if (daemon->open) ld_log("open: every caller that reaches %s may run code", url);
    printf("%s\n", url);
    fflush(stdout);
    int number = 0;
    while (sigwait(stops, &number) != 0)
        continue;
    ld_log("stopping");
    if (eventfd_write(daemon->stop_fd, 1) != 0) ld_log("runs can't be told to end: %s", strerror(errno));
    ld_sessions_shut(&daemon->sessions);
    ld_http_stop(http);
    return CS_OK;
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--probe") == 0) _exit(ld_probe(argv[2], argv[3]));
    open_standard_streams();
    umask(022);
    cs_error err = CS_ERROR_INIT;
    ld_options options;
    if (ld_options_read(argc, argv, &options, &err) != CS_OK) {
        fprintf(stderr, "localdaemon: %s\n", err.message);
        return CS_USAGE;
    }
    if (options.help) {
        fputs(ld_options_help(), stdout);
        return CS_OK;
    }
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGHUP); /* the terminal is gone */
    sigprocmask(SIG_BLOCK, &stops, NULL);
    signal(SIGPIPE, SIG_IGN);
    static ld_daemon daemon;
    cs_result result = prepare(&daemon, &options, &err);
    if (result == CS_OK && options.check)
        printf("provider %s: works here\n", daemon.sandbox.name);
    else if (result == CS_OK)
        result = serve(&daemon, &options, &stops, &err);
    ld_sessions_stop(&daemon.sessions);
    ld_clients_free(&daemon.clients);
    ld_slots_close(&daemon.slots);
    ld_sandbox_free(&daemon.sandbox);
    if (daemon.stop_fd >= 0) close(daemon.stop_fd);
    if (result == CS_OK) return CS_OK;
    ld_log_error(options.check ? "provider does not work here" : "can't serve", &err);
    return result == CS_USAGE ? CS_USAGE : CS_UNCHECKED;
}
