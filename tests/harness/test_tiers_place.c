/* Where the daemon is: only another program that appears below the listener shows that it runs things here. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/hostview_internal.h"
#include "harness/tiers.h"
#include "tests/harness/tiers_case.h"
#include "tests/support/daemon.h"
#include "tests/support/expect.h"

static struct sockaddr_in loopback(uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}, .sin_port = htons(port)};
}

static int listen_somewhere(uint16_t *port) {
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, size), 0);
    cr_assert_eq(listen(fd, 16), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

/* ---- the watch ------------------------------------------------------------------------------------- */

/* What a listener's child does: only wait; or become another program, at once or later. */
typedef enum deed { DEED_WAIT, DEED_RUN, DEED_RUN_LATER } deed;

static pid_t begin(deed what) {
    (void)fflush(NULL);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid != 0) return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (what == DEED_RUN_LATER) cs_host_nap_ms(400);
    if (what != DEED_WAIT) (void)execl("/bin/sleep", "sleep", "60", (char *)NULL);
    for (;;)
        (void)pause();
}

static cs_host_place place_when(deed what) {
    uint16_t port = 0;
    char url[64];
    cs_probe_order order;
    cs_host_watch *watch = NULL;
    cs_host_sighting seen;
    cs_error err = CS_ERROR_INIT;
    int fd = listen_somewhere(&port);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", port);
    EXPECT_OK(cs_probe_order_new(CS_PROBE_SCRIPT, 100, &order, &err), err);
    EXPECT_OK(cs_host_watch_begin(url, &order, &watch, &err), err);
    pid_t pid = begin(what);
    cs_host_nap_ms(1500);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    cs_host_watch_end(watch, &seen);
    close(fd);
    return seen.place;
}

Test(tiers_place, a_fork_of_the_listener_is_no_run) {
    cr_expect_eq(place_when(DEED_WAIT), CS_HOST_LISTENER);
    cr_expect_eq(place_when(DEED_RUN), CS_HOST_HERE);
    cr_expect_eq(place_when(DEED_RUN_LATER), CS_HOST_HERE);
}

Test(tiers_place, programs_are_told_apart) {
    pid_t same = begin(DEED_WAIT), other = begin(DEED_RUN);
    cr_expect_not(cs_proc_programs_differ(same, getpid()));
    for (unsigned i = 0; i < 500 && !cs_proc_programs_differ(other, getpid()); i++)
        cs_host_nap_ms(10);
    cr_expect(cs_proc_programs_differ(other, getpid()));
    (void)kill(same, SIGKILL);
    (void)kill(other, SIGKILL);
    (void)waitpid(same, NULL, 0);
    (void)waitpid(other, NULL, 0);
    cr_expect_not(cs_proc_programs_differ(other, getpid()), "it is gone");
}

/* ---- a forwarder ----------------------------------------------------------------------------------- */

static bool pass_on(int from, int to) {
    char bytes[16384];
    ssize_t len = recv(from, bytes, sizeof bytes, 0);
    return len > 0 && send(to, bytes, (size_t)len, MSG_NOSIGNAL) == len;
}

static void serve(int client, uint16_t daemon) {
    struct sockaddr_in address = loopback(daemon);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool going = connect(server, (struct sockaddr *)&address, sizeof address) == 0;
    while (going) {
        struct pollfd ends[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
        going = poll(ends, 2, -1) > 0;
        if (going && ends[0].revents != 0) going = pass_on(client, server);
        if (going && ends[1].revents != 0) going = pass_on(server, client);
    }
    _exit(0);
}

/* Passes every connection on to a daemon, by a child of its own, as socat with `fork` does. */
static pid_t forward(uint16_t daemon, uint16_t *port) {
    int listener = listen_somewhere(port);
    (void)fflush(NULL);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)signal(SIGCHLD, SIG_IGN);
        for (;;) {
            int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
            if (client >= 0 && fork() == 0) {
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                close(listener);
                serve(client, daemon);
            }
            close(client);
        }
    }
    close(listener);
    return pid;
}

static void check(const char *url, cs_tiers_report *report) {
    cs_error err = CS_ERROR_INIT;
    cs_client *client = NULL;
    cs_client_config config = {.base_url = url};
    EXPECT_OK(cs_client_new(&config, &client, &err), err);
    const cs_tiers_options options = {.run = {.client = client, .skew_ms = CS_DEFAULT_SKEW_MS}, .depth = CS_DEPTH_HOST};
    cr_expect_eq(cs_tiers_check(&options, report), CS_OK, "%s", report->err.message);
    cs_client_free(client);
}

static void expect_place(const cs_tiers_report *report, cs_host_place place, cs_tier_verdict verdict) {
    static const char *const rules[] = {"host-file", "host-loopback"};
    for (size_t form = 0; form < CS_PROBE_FORMS; form++)
        cr_expect_eq(report->seen.outside[form].place, place, "%zu: %d", form, report->seen.outside[form].place);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const cs_tier_judgement *judgement = &report->judgements[tiers_rule(rules[i])];
        cr_expect_eq(judgement->verdict, verdict, "%s: %s", rules[i], judgement->observed);
    }
}

Test(tiers_place, a_forwarder_that_forks_is_not_the_daemon, .timeout = 120) {
    static const char *const more[] = {"--open", NULL};
    test_daemon daemon;
    cs_tiers_report report;
    uint16_t port = 0;
    char url[64];
    daemon_start(&daemon, "process", more);
    check(daemon.url, &report);
    expect_place(&report, CS_HOST_HERE, CS_TIER_CONSISTENT);
    cs_tiers_free(&report);
    pid_t forwarder = forward(cs_host_loopback_port(daemon.url), &port);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", port);
    check(url, &report);
    expect_place(&report, CS_HOST_LISTENER, CS_TIER_SILENT);
    cs_tiers_free(&report);
    (void)kill(forwarder, SIGKILL);
    (void)waitpid(forwarder, NULL, 0);
    cr_expect_eq(daemon_stop(&daemon), 0);
}
