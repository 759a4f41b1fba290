/* The smoke test of the provider vm with planted faults: it must find them, and for the right reason. */
#include "examples/localdaemon/smoke.h"
#include "tests/support/exec.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static ld_sandbox sandbox;
static ld_slots slots;
static char folder[128];

static void set_up(void) {
    cs_error err = CS_ERROR_INIT;
    cs_result result = ld_sandbox_init(&sandbox, LD_VM, NULL, &err);
    if (result == CS_OK) result = ld_slots_open(&slots, &err);
    if (result == CS_OK) return;
    if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL"))
        cr_assert_fail("the provider does not work: %s", err.message);
    cr_skip_test("SKIPPED: the provider does not work here: %s", err.message);
}

/* A program in the place of the monitor. */
static void plant(const char *script) {
    char path[200];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/tool", folder);
    file_write(path, script, strlen(script));
    cr_assert_eq(chmod(path, 0755), 0);
    snprintf(sandbox.tool, sizeof sandbox.tool, "%s", path);
}

static void expect_found(cs_code code, const char *message) {
    cs_error err;
    EXPECT_CODE(ld_smoke(&sandbox, &slots, NULL, &err), err, CS_UNCHECKED, code);
    cr_assert_eq(strncmp(err.message, message, strlen(message)), 0, "%s", err.message);
    folder_remove(folder);
    ld_slots_close(&slots);
    ld_sandbox_free(&sandbox);
}

/* It adds a network card that nobody has asked for. The only one of these that boots; CI's pass with sanitizers leaves
 * it out by its name (bootstrap.sh, UNSANITIZED). */
Test(localdaemon_vm_smoke, a_machine_that_leaks_is_found, .timeout = 200) {
    char script[PATH_MAX + 300];
    set_up();
    snprintf(script, sizeof script,
             "#!/bin/sh\nfor word; do shift\n"
             "if [ \"$word\" = -nic ]; then word=-netdev card='-device virtio-net-device,netdev=planted'; fi\n"
             "if [ \"$word\" = none ] && [ \"$last\" = -netdev ]; then word=user,id=planted; fi\n"
             "last=$word; set -- \"$@\" \"$word\"; done\nexec %s \"$@\" $card\n",
             sandbox.tool);
    plant(script);
    expect_found(CS_CODE_IO, "the guard network does not hold: the attempt \"gateway\" succeeds");
}

/* It is no machine at all: commands run on the host, by a program that says what an agent would say. */
Test(localdaemon_vm_smoke, a_machine_that_is_none_is_found, .timeout = 200) {
    char script[PATH_MAX + 2000], path[200], agent[1024];
    set_up();
    snprintf(
        script, sizeof script,
        "#!%s\nconst fs = require('fs'), { spawnSync } = require('child_process'), path = require('path');\n"
        "const fd = Number(/fd=(\\d+)/.exec(process.argv.find((w) => w.startsWith('socket,')))[1]);\n"
        "const say = (type, bytes) => { const head = Buffer.alloc(5); head.write(type); head.writeUInt32BE("
        "bytes.length, 1); fs.writeSync(fd, Buffer.concat([head, Buffer.from(bytes)])); };\n"
        "const hear = (n) => { const b = Buffer.alloc(n); for (let at = 0; at < n;) { const got = fs.readSync(fd, b, "
        "at, n - at); if (got === 0) process.exit(0); at += got; } return b; };\n"
        "say('r', [0, 0, 0, 1]);\n"
        "for (;;) {\n"
        "    const head = hear(5), payload = hear(head.readUInt32BE(1));\n"
        "    if (head[0] === 83) { say('d', [0, 0, 0, 0, 0]); continue; }\n"
        "    const words = payload.toString('latin1', 42).split('\\0').slice(0, payload.readUInt16BE(40));\n"
        "    if (words[0].endsWith('/agent')) words[0] = path.join(path.dirname(process.argv[1]), 'agent');\n"
        "    const end = spawnSync(words[0], words.slice(1));\n"
        "    say('o', end.stdout ?? []);\n"
        "    say('x', [0, 0, 0, 0, end.status ?? 1, 1]);\n"
        "}\n",
        sandbox.node);
    plant(script);
    size_t len = 0;
    exec_built("vm/agent", agent);
    char *program = file_read(agent, &len);
    cr_assert_not_null(program);
    snprintf(path, sizeof path, "%s/agent", folder);
    file_write(path, program, len);
    free(program);
    cr_assert_eq(chmod(path, 0755), 0);
    expect_found(CS_CODE_IO, "the guard kernel does not hold: the attempt \"read\" succeeds");
}

/* The monitor's own failure is the daemon's, never a program's exit code. */
Test(localdaemon_vm_smoke, a_machine_that_does_not_start_is_no_result, .timeout = 100) {
    set_up();
    plant("#!/bin/sh\necho no such accelerator >&2\nexit 1\n");
    expect_found(CS_CODE_INTERNAL, "the virtual machine does not start: ");
}
