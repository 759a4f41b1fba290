/* A container that is made to look like a virtual machine, by one who has the daemon's machine in his hands: its /proc
 * tells of another kernel and another start, its clocks began at another moment, its kernel gives itself another name;
 * and the daemon claims vm. Each test first sees from inside that the fakes are in force. */
#include "tests/cli/tiers_scene.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80 /* newer than the headers of Debian 12 */
#endif

#define CLOCK_AHEAD 777777 /* seconds */
#define BOOT_ID "11111111-2222-4333-8444-555555555555"
#define VERSION "Linux version 6.1.0-18-cloud-amd64 (a guest) #1 SMP"

static char fakes[128]; /* the folder of the false files, and of what stands in bubblewrap's place */
static bool old_name;

/* ---- the fakes ------------------------------------------------------------------------------------- */

static void lay(const char *name, const char *text, mode_t mode) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", fakes, name);
    file_write(path, text, strlen(text));
    cr_assert_eq(chmod(path, mode), 0);
}

/* The program that builds the container gets orders more: a file of ours over each of these of its /proc. They stand
 * behind all orders of the daemon, and before the command. */
static void lay_fakes(void) {
    static const char builder[] = "#!/bin/sh\n"
                                  "show='' left=$#\n"
                                  "while [ $left -gt 0 ]; do word=$1; shift; left=$((left - 1))\n"
                                  "    if [ \"$word\" = -- ] && [ -z \"$show\" ]; then show=done\n"
                                  "        for file in sys/kernel/random/boot_id version uptime cpuinfo; do\n"
                                  "            set -- \"$@\" --ro-bind FOLDER/${file##*/} /proc/$file; done\n"
                                  "    fi\n"
                                  "    set -- \"$@\" \"$word\"; done\n"
                                  "exec FOLDER/bwrap \"$@\"\n";
    size_t len = 0;
    folder_make(fakes);
    cr_assert_eq(chmod(fakes, 0755), 0);
    lay("boot_id", BOOT_ID "\n", 0644);
    lay("version", VERSION "\n", 0644);
    lay("uptime", "77.00 70.00\n", 0644);
    lay("cpuinfo", "processor\t: 0\nmodel name\t: QEMU Virtual CPU\nflags\t\t: fpu hypervisor\n", 0644);
    char *real = file_read("/usr/bin/bwrap", &len);
    if (real != NULL) {
        char path[200];
        snprintf(path, sizeof path, "%s/bwrap", fakes);
        file_write(path, real, len);
        cr_assert_eq(chmod(path, 0755), 0);
        free(real);
    }
    char script[2048] = "";
    for (const char *at = builder, *next; at != NULL; at = next) {
        next = strstr(at, "FOLDER");
        size_t used = strlen(script);
        snprintf(script + used, sizeof script - used, "%.*s%s", next != NULL ? (int)(next - at) : (int)strlen(at), at,
                 next != NULL ? fakes : "");
        if (next != NULL) next += strlen("FOLDER");
    }
    lay("builder", script, 0755);
}

static bool write_offsets(void) {
    char text[64];
    int len = snprintf(text, sizeof text, "monotonic %d 0\nboottime %d 0\n", CLOCK_AHEAD, CLOCK_AHEAD);
    int fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, text, (size_t)len) == len;
    if (fd >= 0) close(fd);
    return good;
}

/* In the process that becomes the daemon: all that it starts inherits this. */
static bool disguise(void) {
    char path[200];
    snprintf(path, sizeof path, "%s/builder", fakes);
    if (unshare(CLONE_NEWNS | CLONE_NEWTIME) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount(path, "/usr/bin/bwrap", NULL, MS_BIND, NULL) == 0 && write_offsets() &&
        (!old_name || personality(UNAME26) >= 0))
        return true;
    perror("no disguise");
    return false;
}

static void begin(scene *s, bool with_old_name) {
    static const char *const lie[] = {"--claim", "vm", "--i-am-lying-for-a-test", NULL};
    scene_need_root();
    old_name = with_old_name;
    lay_fakes();
    scene_begin(s, disguise, "container", lie);
    cli_keys(&s->c);
}

static void end(scene *s) {
    scene_end(s);
    folder_remove(fakes);
}

/* ---- are they in force? ---------------------------------------------------------------------------- */

static int64_t clock_difference(void) {
    struct timespec real, monotonic;
    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_MONOTONIC, &monotonic);
    return (int64_t)real.tv_sec - monotonic.tv_sec;
}

/* A line of what the last run printed, counted from 0. */
static const char *line_of(const scene *s, int number) {
    static char line[300];
    const char *at = cli_text(&s->c, "outputs.0.text");
    while (number-- > 0 && strchr(at, '\n') != NULL)
        at = strchr(at, '\n') + 1;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

#define EXPECT_LINE(s, number, want)                                                                                   \
    cr_assert_str_eq(line_of((s), (number)), (want), "%s, not %s", line_of((s), (number)), (want))

/* What an ordinary run sees; this machine's own beside it, which is another. */
static void expect_disguised(scene *s) {
    static const char request[] =
        "{\"protocol\":3,\"minimumIsolation\":\"vm\",\"javascript\":{\"code\":\"const fs = require('fs');\\n"
        "const read = (name) => fs.readFileSync('/proc/' + name, 'utf8').split('\\\\n')[0];\\n"
        "console.log(require('os').release());\\n"
        "for (const name of ['sys/kernel/random/boot_id', 'version', 'uptime']) console.log(read(name));\\n"
        "console.log(Math.floor(Date.now() / 1000) - Number(process.hrtime.bigint() / 1000000000n));\\n"
        "console.log(fs.readFileSync('/proc/cpuinfo', 'utf8').includes('QEMU Virtual CPU'));\"}}";
    struct utsname own;
    char *id = NULL;
    size_t len = 0;
    cli_write_text(&s->c, "request.json", request);
    EXPECT_EXIT(&s->c,
                cli_json(&s->c, ARGS("run", "-d", s->daemon.url, "-k", "k.key", "-l", "ledger.db", "request.json")), 0);
    cr_assert_eq(uname(&own), 0);
    if (old_name)
        cr_assert(strncmp(line_of(s, 0), "2.6.", 4) == 0 && strncmp(own.release, "2.6.", 4) != 0, "%s", line_of(s, 0));
    else
        EXPECT_LINE(s, 0, own.release);
    EXPECT_LINE(s, 1, BOOT_ID);
    EXPECT_LINE(s, 2, VERSION);
    EXPECT_LINE(s, 3, "77.00 70.00");
    int64_t behind = clock_difference() - strtoll(line_of(s, 4), NULL, 10);
    cr_assert(behind >= CLOCK_AHEAD - 2 && behind <= CLOCK_AHEAD + 2, "%" PRId64, behind);
    EXPECT_LINE(s, 5, "true");
    id = file_read("/proc/sys/kernel/random/boot_id", &len);
    cr_assert(id != NULL && strncmp(id, BOOT_ID, strlen(BOOT_ID)) != 0);
    free(id);
}

/* ---- tests ----------------------------------------------------------------------------------------- */

/* Whether a monitor runs on this machine is no matter of this daemon: `no-monitor` may contradict or be silent. */
static void expect_refuted_from_the_host(const scene *s) {
    static const char *const seen[] = {"newer-system-calls", "token-on-host", "program-on-host", "process-count"};
    EXPECT_TEXT(&s->c, "claim", "vm");
    EXPECT_TEXT(&s->c, "host_view.daemon", "here");
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++)
        EXPECT_VERDICT(s, seen[i], "contradicted");
    /* What the fakes were made for. */
    EXPECT_VERDICT(s, "boot-id", "consistent");
    EXPECT_VERDICT(s, "clock-offset", "consistent");
    EXPECT_VERDICT(s, "kernel-identity", "consistent");
    json_int_t more = strcmp(scene_rule(s, "no-monitor", "verdict"), "contradicted") == 0 ? 1 : 0;
    cr_expect_eq(cli_number(&s->c, "contradictions"), 4 + more, "%s", s->c.end.out);
}

Test(tiers_fake_vm, it_is_refuted_from_the_host, .timeout = 200) {
    scene s;
    begin(&s, true);
    expect_disguised(&s);
    scene_check(&s, "host", 1, "tier-contradicted");
    expect_refuted_from_the_host(&s);
    end(&s);
}

/* The old name is one fake too many: calls answer that no kernel of that name has. Without it nothing that can be seen
 * from inside refutes the claim, and the report does not say that it is true. */
Test(tiers_fake_vm, from_inside_only_the_old_name_refutes_it, .timeout = 200) {
    scene s;
    begin(&s, true);
    expect_disguised(&s);
    scene_check(&s, "probe", 1, "tier-contradicted");
    scene_expect_contradicted(&s, ARGS("newer-system-calls"));
    EXPECT_HAS(scene_rule(&s, "newer-system-calls", "observation"), "the kernel calls itself '2.6.");
    end(&s);
    begin(&s, false);
    expect_disguised(&s);
    scene_check(&s, "probe", 0, "ok");
    EXPECT_VERDICT(&s, "newer-system-calls", "consistent");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url)), 0);
    EXPECT_HAS(s.c.end.out, "No rule contradicts the claim. That is no proof of it.");
    end(&s);
}
