/* harness/hostview.h: who is the monitor of a virtual machine, told from a /proc of the test's own making. So it needs
 * no KVM: what a monitor has open is told by a link's text alone. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/hostview_internal.h"
#include "tests/support/folder.h"
#include "tests/support/mounts.h"

#define MACHINE "anon_inode:kvm-vm"

/* A process, and whether it is taken for a monitor. */
typedef struct process {
    const char *exe;
    const char *open[2]; /* NULL: nothing, or no more */
    const char *resident;
    bool descriptors;
    bool is;
} process;

static const process processes[] = {
    /* A machine of KVM's that it has open says it, where it is looked at. */
    {"/usr/bin/daemon", {"socket:[5]", MACHINE}, "1024", true, true},
    {"/usr/bin/daemon", {"socket:[5]", MACHINE}, "1024", false, false},
    {"/usr/bin/daemon", {"socket:[5]", "anon_inode:kvm-vcpu:0"}, "1024", true, false},
    {"/usr/bin/daemon", {"/dev/kvm", MACHINE "s"}, "1024", true, false},
    {"/usr/bin/daemon", {"/tmp/" MACHINE, NULL}, "1024", true, false},
    {"/usr/bin/daemon", {NULL, NULL}, "1024", true, false},
    /* With the name of a monitor it is looked at in any case, and takes no memory. */
    {"/usr/bin/qemu-system-x86_64", {MACHINE, NULL}, "1024", false, true},
    {"/usr/bin/qemu-system-x86_64", {"/dev/kvm", NULL}, "1024", false, false},
    {"/opt/firecracker-v1", {MACHINE, NULL}, "1024", false, true},
    {"/opt/a-firecracker", {MACHINE, NULL}, "1024", false, false},
    /* The name and the memory; what is unknown is no memory. */
    {"/usr/bin/qemu-system-x86_64", {NULL, NULL}, "32768", false, true},
    {"/usr/bin/qemu-system-x86_64", {NULL, NULL}, "32767", false, false},
    {"/usr/bin/qemu-system-x86_64", {NULL, NULL}, "x", false, false},
    {"/usr/bin/daemon", {NULL, NULL}, "99999999", true, false},
};
#define PROCESSES (sizeof processes / sizeof processes[0])
#define FIRST_PID 4711

static void lay(const char *proc, int pid, const process *p) {
    char path[256];
    char text[64];
    (void)snprintf(path, sizeof path, "%s/%d", proc, pid);
    cr_assert_eq(mkdir(path, 0755), 0);
    (void)snprintf(path, sizeof path, "%s/%d/fd", proc, pid);
    cr_assert_eq(mkdir(path, 0755), 0);
    (void)snprintf(path, sizeof path, "%s/%d/exe", proc, pid);
    cr_assert_eq(symlink(p->exe, path), 0);
    (void)snprintf(path, sizeof path, "%s/%d/status", proc, pid);
    int len = snprintf(text, sizeof text, "Name:\tx\nVmRSS:\t%s kB\n", p->resident);
    file_write(path, text, (size_t)len);
    for (int i = 0; i < 2 && p->open[i] != NULL; i++) {
        (void)snprintf(path, sizeof path, "%s/%d/fd/%d", proc, pid, i + 3);
        cr_assert_eq(symlink(p->open[i], path), 0);
    }
}

/* In a process that sees the other /proc: '1' for a monitor, '0' for none, 'x' where the program is not the one. */
static void tell(const char *proc, int out) {
    char said[PROCESSES];
    if (!mounts_show(proc, "/proc")) return;
    for (size_t i = 0; i < PROCESSES; i++) {
        char exe[CS_PROBE_TEXT + 1];
        bool is = cs_proc_is_monitor(FIRST_PID + (int)i, processes[i].descriptors, exe, sizeof exe);
        said[i] = '0';
        if (is) said[i] = '1';
        if (strcmp(exe, processes[i].exe) != 0) said[i] = 'x';
    }
    (void)!write(out, said, sizeof said);
}

Test(tiers_monitor, a_machine_of_kvm_s_is_known_by_what_is_open) {
    char proc[128];
    char said[PROCESSES] = "";
    int ends[2];
    mounts_need();
    folder_make(proc);
    for (size_t i = 0; i < PROCESSES; i++)
        lay(proc, FIRST_PID + (int)i, &processes[i]);
    cr_assert_eq(pipe(ends), 0);
    (void)fflush(NULL);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        tell(proc, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    cr_expect_eq(read(ends[0], said, sizeof said), (ssize_t)sizeof said);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    close(ends[0]);
    for (size_t i = 0; i < PROCESSES; i++)
        cr_expect_eq(said[i], processes[i].is ? '1' : '0', "%zu: %s: '%c'", i, processes[i].exe, said[i]);
    folder_remove(proc);
}
