#include "examples/localdaemon/filter.h"

#include "examples/localdaemon/sandbox.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Newer than the headers of Debian 12. */
#ifndef TIOCLINUX
#define TIOCLINUX 0x541C
#endif

/* By topic. System V IPC and POSIX queues are refused because what they make outlives every process. */
static const char *const denied[] = {
    /* keys */
    "keyctl", "add_key", "request_key",
    /* code in the kernel, tracing, other processes' memory */
    "bpf", "perf_event_open", "userfaultfd", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
    "kcmp", "pidfd_getfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "init_module", "finit_module",
    "delete_module", "kexec_load", "kexec_file_load", "lookup_dcookie", "memfd_secret",
    /* namespaces and mounts */
    "unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at", "fanotify_init",
    /* the machine */
    "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "iopl", "ioperm", "settimeofday",
    "clock_settime", "clock_adjtime", "adjtimex", "stime", "sethostname", "setdomainname", "vhangup", "migrate_pages",
    "move_pages", "uselib", "ustat", "sysfs", "_sysctl", "nfsservctl", "vm86", "vm86old", "modify_ldt",
    /* what outlives a process */
    "shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl",
    "mq_open", "mq_unlink"};

#define DENIED_COUNT (sizeof(denied) / sizeof(denied[0]))

bool ld_filter_describe(cs_buf *out) {
    if (!cs_buf_text(out, "refused socket clone:new-namespace clone3 ioctl:TIOCSTI ioctl:TIOCLINUX personality:set"))
        return false;
    for (size_t i = 0; i < DENIED_COUNT; i++)
        if (!cs_buf_printf(out, " %s", denied[i])) return false;
    return cs_buf_byte(out, '\n');
}

/* Namespaces by clone, and calls whose arguments decide. 0 or a negative errno. */
static int add_argument_rules(scmp_filter_ctx context) {
    static const scmp_datum_t namespaces[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                              CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};
    static const scmp_datum_t terminals[] = {TIOCSTI, TIOCLINUX};
    int rc = 0;
    for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]) && rc == 0; i++)
        rc = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                              SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces[i], namespaces[i]));
    for (size_t i = 0; i < sizeof(terminals) / sizeof(terminals[0]) && rc == 0; i++)
        rc = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                              SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffu, terminals[i]));
    if (rc == 0) rc = seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    /* Asking for the personality (0xffffffff) stays. */
    if (rc == 0)
        rc = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(personality), 1,
                              SCMP_A0(SCMP_CMP_NE, 0xffffffffu));
    return rc;
}

static int add_rules(scmp_filter_ctx context, uint32_t guards) {
    int rc = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (rc == 0 && (guards & LD_GUARD_SYSCALLS) != 0) {
        rc = add_argument_rules(context);
        for (size_t i = 0; i < DENIED_COUNT && rc == 0; i++) {
            int number = seccomp_syscall_resolve_name(denied[i]);
            /* A call that this architecture doesn't have can't be made either. */
            if (number >= 0) rc = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), number, 0);
        }
    }
    if (rc == 0 && (guards & LD_GUARD_SOCKETS) != 0)
        rc = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 0);
    return rc;
}

/* libseccomp 2.5 exports to a descriptor only. */
static cs_result export_program(scmp_filter_ctx context, ld_filter *out, cs_error *err) {
    int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0) return cs_fail(err, CS_CODE_IO, "memfd_create: %s", strerror(errno));
    cs_result result = CS_UNCHECKED;
    struct stat st;
    int rc = seccomp_export_bpf(context, fd);
    if (rc != 0 || fstat(fd, &st) != 0 || st.st_size <= 0) {
        result = cs_fail(err, CS_CODE_IO, "the seccomp filter can't be exported: %s", strerror(-rc));
        goto out;
    }
    size_t size = (size_t)st.st_size;
    out->code = malloc(size);
    if (out->code == NULL) {
        result = cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the seccomp filter");
        goto out;
    }
    out->count = (unsigned short)(size / sizeof(struct sock_filter));
    if (size % sizeof(struct sock_filter) != 0 || pread(fd, out->code, size, 0) != (ssize_t)size) {
        result = cs_fail(err, CS_CODE_IO, "the seccomp filter can't be read back");
        goto out;
    }
    result = CS_OK;
out:
    close(fd);
    return result;
}

cs_result ld_filter_build(uint32_t guards, ld_filter *out, cs_error *err) {
    *out = (ld_filter){0};
    scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
    if (context == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "libseccomp gives no filter");
    int rc = add_rules(context, guards);
    cs_result result = rc == 0 ? export_program(context, out, err)
                               : cs_fail(err, CS_CODE_IO, "the seccomp filter can't be built: %s", strerror(-rc));
    seccomp_release(context);
    if (result != CS_OK) ld_filter_free(out);
    return result;
}

void ld_filter_free(ld_filter *filter) {
    free(filter->code);
    *filter = (ld_filter){0};
}
