/* `countersign tiers --self-test` while it is under way: its daemon serves nobody else, and is ended with it. */
#include "tests/cli/tiers_scene.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/mounts.h"

#define PATIENCE_MS 60000u
#define PAUSE_MS 5

/* The daemon of this build, for the first case alone, an honest process: it tells its process and its URL, and is one
 * process with the shell that reads this. */
#define DAEMON                                                                                                         \
    "#!/bin/sh\n[ \"$2\" = process ] && mkfifo said || exit 5\ntee url < said &\necho $$ > pid\nexec %s \"$@\" > "     \
    "said\n"

typedef struct self_test {
    cli_case c;
    exec_beside beside;
    char canaries[160]; /* what the command sees as /var/tmp */
    int daemon;         /* a pidfd of the daemon that is under test */
    const char *url;
} self_test;

static bool hear_and_hide(void) {
    return signal(SIGINT, SIG_DFL) != SIG_ERR && signal(SIGTERM, SIG_DFL) != SIG_ERR &&
           signal(SIGHUP, SIG_DFL) != SIG_ERR && mounts_show("canaries", "/var/tmp");
}

/* The line that a file of the folder holds, when there is one whole; kept until the process ends. */
static const char *line_of(const cli_case *c, const char *name) {
    for (unsigned waited = 0; waited < PATIENCE_MS; waited += PAUSE_MS) {
        size_t len = 0;
        char *text = file_read(forge_text("%s/%s", c->folder, name), &len);
        char *end = text != NULL ? strchr(text, '\n') : NULL;
        const char *line = end != NULL ? forge_text("%.*s", (int)(end - text), text) : NULL;
        free(text);
        if (line != NULL) return line;
        (void)poll(NULL, 0, PAUSE_MS);
    }
    cr_assert_fail("there is no line in %s", name);
    return "";
}

static bool has_ended(const self_test *t) {
    struct pollfd fd = {.fd = t->daemon, .events = POLLIN};
    return poll(&fd, 1, 0) == 1;
}

/* Begin it, and wait until its first daemon runs a probe: a file was laid for that to find. */
static void begin(self_test *t, bool json) {
    char program[1024];
    memset(t, 0, sizeof *t);
    cli_begin(&t->c);
    exec_built("localdaemon", program);
    cli_write_text(&t->c, "daemon", forge_text(DAEMON, program));
    cr_assert_eq(chmod(forge_text("%s/daemon", t->c.folder), 0755), 0);
    (void)snprintf(t->canaries, sizeof t->canaries, "%s/canaries", t->c.folder);
    cr_assert_eq(mkdir(t->canaries, 0755), 0);
    exec_built("countersign", program);
    t->c.how.before = hear_and_hide;
    exec_begin(&t->c.how, ARGS(program, "tiers", "--self-test", "--localdaemon", "./daemon", json ? "--json" : NULL),
               &t->beside);
    t->c.how.before = NULL;
    for (unsigned waited = 0; waited < PATIENCE_MS && folder_count(t->canaries) == 0; waited += PAUSE_MS)
        (void)poll(NULL, 0, PAUSE_MS);
    cr_assert_eq(folder_count(t->canaries), 1);
    t->daemon = (int)syscall(SYS_pidfd_open, strtol(line_of(&t->c, "pid"), NULL, 10), 0);
    cr_assert_geq(t->daemon, 0);
    t->url = line_of(&t->c, "url");
}

static void end(self_test *t) {
    (void)syscall(SYS_pidfd_send_signal, t->daemon, SIGKILL, NULL, 0); /* it has ended, or a test has failed */
    close(t->daemon);
    cli_end(&t->c);
}

/* ---- interruption ----------------------------------------------------------------------------------------- */

Test(tiers_self_test, a_signal_ends_it_and_leaves_no_daemon_and_no_file) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    scene_need_root();
    mounts_need();
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        self_test t;
        exec_end said;
        begin(&t, true);
        cr_expect_not(has_ended(&t));
        cr_assert_eq(kill(t.beside.pid, signals[i]), 0);
        exec_wait(&t.beside, &said);
        cr_expect_eq(said.status, 5, "signal %d: %d: %s%s", signals[i], said.status, said.out, said.err);
        EXPECT_HAS(said.out, "\"code\":\"interrupted\"");
        EXPECT_HAS(said.out, "after 0 of ");
        cr_expect(has_ended(&t), "signal %d: the daemon is left", signals[i]);
        cr_expect_eq(folder_count(t.canaries), 0, "signal %d: the file is left", signals[i]);
        exec_free(&said);
        end(&t);
    }
}

/* ---- its caller ------------------------------------------------------------------------------------------- */

/* Without the token, or with another one, there is no word out of it, let alone a run. */
static void expect_refused(self_test *t, const char *token) {
    const char *const environment[] = {token, "COUNTERSIGN_KEY", NULL};
    const char *const *clean = t->c.how.env;
    t->c.how.env = environment;
    EXPECT_EXIT(&t->c, cli_json(&t->c, ARGS("tiers", "-d", t->url, "--cross-check", "statements")), 3);
    EXPECT_TEXT(&t->c, "code", "describe-failed");
    EXPECT_HAS(cli_text(&t->c, "message"), "unauthenticated");
    t->c.how.env = clean;
}

/* The twin is the self-test itself, which has the token: what it asks this very daemon is answered. */
Test(tiers_self_test, its_daemon_refuses_who_has_not_its_token) {
    self_test t;
    exec_end said;
    scene_need_root();
    mounts_need();
    begin(&t, false);
    expect_refused(&t, "PLIMSOLL_CALLER_TOKEN");
    expect_refused(&t, "PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN);
    cr_expect_not(has_ended(&t), "the daemon was gone before it was asked");
    struct pollfd first = {.fd = t.daemon, .events = POLLIN};
    cr_expect_eq(poll(&first, 1, (int)PATIENCE_MS), 1);
    exec_wait(&t.beside, &said);
    cr_expect_eq(said.status, 0, "%d: %s%s", said.status, said.out, said.err);
    EXPECT_HAS(said.out, " 1  process   claims process                                    good ");
    exec_free(&said);
    end(&t);
}
