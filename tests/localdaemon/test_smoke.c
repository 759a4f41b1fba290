/* The smoke test is tested with planted faults: it must find them, and for the right reason. */
#include "examples/localdaemon/smoke.h"
#include "tests/support/exec.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static ld_sandbox sandbox;
static ld_slots slots;
static char daemon_program[1024];

static void set_up(ld_kind kind) {
    cs_error err = CS_ERROR_INIT;
    cs_result result = ld_sandbox_init(&sandbox, kind, NULL, &err);
    /* This program is not the daemon and knows no probes. */
    exec_built("localdaemon", daemon_program);
    sandbox.self = daemon_program;
    if (result == CS_OK) result = ld_slots_open(&slots, &err);
    if (result == CS_OK) result = ld_smoke(&sandbox, &slots, NULL, &err);
    if (result == CS_OK) return;
    if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL"))
        cr_assert_fail("the provider does not work: %s", err.message);
    cr_skip_test("SKIPPED: the provider does not work here: %s", err.message);
}

static void tear_down(void) {
    ld_slots_close(&slots);
    ld_sandbox_free(&sandbox);
}

static void expect_found(const char *message) {
    cs_error err;
    EXPECT_CODE(ld_smoke(&sandbox, &slots, NULL, &err), err, CS_UNCHECKED, CS_CODE_IO);
    cr_assert_str_eq(err.message, message);
    tear_down();
}

/* A ruleset for ABI 5 knows no scopes: the guard is claimed and not there. */
Test(localdaemon_smoke, a_guard_that_does_not_hold_is_found, .timeout = 60) {
    set_up(LD_PROCESS);
    if (sandbox.landlock_abi < 6)
        cr_skip_test("SKIPPED: needs Landlock ABI 6, this kernel has %d", sandbox.landlock_abi);
    sandbox.landlock_abi = 5;
    expect_found("the guard abstract does not hold: the attempt \"abstract\" succeeds");
}

/* Refuse keyctl in this process and so in all that it starts: the attempt now fails with and without the guard,
 * and shows nothing. */
static void refuse_keyctl(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_keyctl, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

Test(localdaemon_smoke, a_guard_that_is_not_shown_is_found, .timeout = 60) {
    set_up(LD_PROCESS);
    refuse_keyctl();
    expect_found("the guard syscalls was not shown to hold: the attempt \"keyctl\" fails without it too (1)");
}

/* A program in the place of the one that puts up the boundary. */
static void plant(char folder[128], const char *script) {
    char path[200];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/tool", folder);
    file_write(path, script, strlen(script));
    cr_assert_eq(chmod(path, 0755), 0);
    snprintf(sandbox.tool, sizeof sandbox.tool, "%s/tool", folder);
}

/* It forgets one of its orders. */
Test(localdaemon_smoke, a_container_that_leaks_is_found, .timeout = 60) {
    char folder[128], script[PATH_MAX + 200];
    set_up(LD_CONTAINER);
    snprintf(script, sizeof script,
             "#!/bin/sh\nfor word; do shift; [ \"$word\" = --unshare-net ] || set -- \"$@\" \"$word\"; done\nexec %s "
             "\"$@\"\n",
             sandbox.tool);
    plant(folder, script);
    cs_error err;
    EXPECT_CODE(ld_smoke(&sandbox, &slots, NULL, &err), err, CS_UNCHECKED, CS_CODE_IO);
    cr_assert_str_eq(err.message, "the guard network does not hold: the attempt \"tcp\" succeeds");
    folder_remove(folder);
    tear_down();
}

/* bubblewrap's own failure is the daemon's, never a program's exit code. */
Test(localdaemon_smoke, a_container_that_is_not_built_is_no_result, .timeout = 60) {
    char folder[128];
    set_up(LD_CONTAINER);
    plant(folder, "#!/bin/sh\necho no such namespace >&2\nexit 1\n");
    cs_error err;
    EXPECT_CODE(ld_smoke(&sandbox, &slots, NULL, &err), err, CS_UNCHECKED, CS_CODE_INTERNAL);
    cr_assert_str_eq(err.message, "bubblewrap could not build the container: no such namespace\\x0a");
    folder_remove(folder);
    tear_down();
}

/* ---- kernel ---------------------------------------------------------------------------------------- */

static void expect_kernel_found(const char *script, cs_code code, const char *message) {
    char folder[128];
    plant(folder, script);
    cs_error err;
    EXPECT_CODE(ld_smoke(&sandbox, &slots, NULL, &err), err, CS_UNCHECKED, code);
    cr_assert_eq(strncmp(err.message, message, strlen(message)), 0, "%s", err.message);
    folder_remove(folder);
}

/* Orders to gVisor that somebody changes on their way. */
static void check_a_kernel_that_leaks(const char *tool) {
    char script[PATH_MAX + 700];
    snprintf(
        script, sizeof script,
        "#!/bin/sh\nfor word; do shift; case $word in\n"
        "--network=none) word=--network=host;;\n--root=*) state=${word#--root=};;\n"
        "--bundle=*) from=${word#--bundle=}; word=--bundle=$state/b; mkdir $state/b\n"
        "cp -r $from/config.json $from/root $state/b; sed -i 's/,{\"type\":\"network\"}//' $state/b/config.json;;\n"
        "esac; set -- \"$@\" $word; done\nexec %s \"$@\"\n",
        tool);
    expect_kernel_found(script, CS_CODE_IO, "the guard network does not hold: the attempt \"tcp\" succeeds");
}

/* It runs the program as it is, on the host's kernel, and says that all is well. */
static void check_a_kernel_that_is_none(void) {
    char script[PATH_MAX + 700];
    snprintf(script, sizeof script,
             "#!%s\nconst fs = require('fs'), o = {};\n"
             "for (const w of process.argv) { const at = w.indexOf('='); o[w.slice(2, at)] = w.slice(at + 1); }\n"
             "const c = JSON.parse(fs.readFileSync(o.bundle + '/config.json')), [file, ...args] = c.process.args;\n"
             "const cwd = c.mounts.find((m) => m.destination.endsWith('/0/work')).source;\n"
             "const end = require('child_process').spawnSync(file, args, { stdio: 'inherit', cwd });\n"
             "fs.appendFileSync(o['debug-log'], 'Exiting with status: 0\\n');\nprocess.exit(end.status);\n",
             sandbox.node);
    expect_kernel_found(script, CS_CODE_IO, "the guard kernel does not hold: the attempt ");
}

static void check_a_kernel_that_does_not_start(void) {
    expect_kernel_found("#!/bin/sh\necho no such platform >&2\nexit 128\n", CS_CODE_INTERNAL,
                        "gVisor could not start the program: no such platform\\x0a");
}

/* In one test, since it takes seconds to see that all is well without the faults. CI's pass with sanitizers leaves it
 * out, by its name (bootstrap.sh, UNSANITIZED). */
Test(localdaemon_smoke, planted_kernels_are_found, .timeout = 300) {
    char tool[PATH_MAX];
    set_up(LD_KERNEL);
    memcpy(tool, sandbox.tool, sizeof tool);
    check_a_kernel_that_does_not_start();
    check_a_kernel_that_is_none();
    check_a_kernel_that_leaks(tool);
    tear_down();
}
