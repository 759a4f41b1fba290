/* What every part of the daemon knows of the sandbox: the provider, its guards and its limits.
 *
 * Four providers, each named after its tier. "process" is a child of its own with Landlock, a seccomp filter,
 * resource limits and, when the daemon is root, a user of its own. "container" is bubblewrap: namespaces, a file
 * system of its own, the same filter and the same limits. "kernel" is gVisor: programs meet a kernel of their own
 * that is an ordinary program of the host. "vm" is a virtual machine.
 *
 * A guard is a wall that can be shown to hold: the smoke test (smoke.h) tries each of them at the
 * start, once up and once down.
 */
#ifndef LD_SANDBOX_H
#define LD_SANDBOX_H

#include "examples/localdaemon/filter.h"
#include "records/sha256.h"
#include "records/tier.h"
#include <limits.h>
#include <sys/types.h>

typedef enum ld_guard {
    LD_GUARD_USER = 1u << 0,      /* a user of its own (root only); kernel, vm: for all that runs on the host */
    LD_GUARD_FILES = 1u << 1,     /* process, and around a vm's monitor: Landlock on files */
    LD_GUARD_TCP = 1u << 2,       /* the same: Landlock on TCP (ABI 4) */
    LD_GUARD_ABSTRACT = 1u << 3,  /* the same: Landlock on abstract sockets (ABI 6) */
    LD_GUARD_SIGNALS = 1u << 4,   /* the same: Landlock on signals (ABI 6) */
    LD_GUARD_SYSCALLS = 1u << 5,  /* seccomp: system calls that no program of a run needs */
    LD_GUARD_SOCKETS = 1u << 6,   /* seccomp: no socket of any family; socketpair stays */
    LD_GUARD_PROCESSES = 1u << 7, /* RLIMIT_NPROC (root only: it counts per user) */
    LD_GUARD_MEMORY = 1u << 8,    /* RLIMIT_DATA, per process; kernel: the whole run's */
    LD_GUARD_FILE_SIZE = 1u << 9, /* RLIMIT_FSIZE */
    LD_GUARD_MOUNTS = 1u << 10,   /* from container on: a file system of its own */
    LD_GUARD_PIDS = 1u << 11,     /* container: process ids of its own */
    LD_GUARD_NETWORK = 1u << 12,  /* from container on: an empty network of its own */
    LD_GUARD_IPC = 1u << 13,      /* container: System V IPC of its own */
    LD_GUARD_KERNEL = 1u << 14    /* kernel, vm: system calls end in a kernel of its own */
} ld_guard;

#define LD_GUARD_COUNT 15u
#define LD_GUARDS_PROCESS 0x03ffu /* all that "process" can have */
#define LD_GUARDS_LANDLOCK (LD_GUARD_FILES | LD_GUARD_TCP | LD_GUARD_ABSTRACT | LD_GUARD_SIGNALS)
#define LD_GUARDS_FILTER (LD_GUARD_SYSCALLS | LD_GUARD_SOCKETS)
#define LD_GUARDS_SHARED (LD_GUARD_USER | LD_GUARDS_FILTER | LD_GUARD_PROCESSES | LD_GUARD_MEMORY | LD_GUARD_FILE_SIZE)
#define LD_GUARDS_CONTAINER (LD_GUARDS_SHARED | LD_GUARD_MOUNTS | LD_GUARD_PIDS | LD_GUARD_NETWORK | LD_GUARD_IPC)
#define LD_GUARDS_KERNEL                                                                                               \
    (LD_GUARD_USER | LD_GUARD_PROCESSES | LD_GUARD_MEMORY | LD_GUARD_FILE_SIZE | LD_GUARD_MOUNTS | LD_GUARD_NETWORK |  \
     LD_GUARD_KERNEL)

const char *ld_guard_word(ld_guard guard); /* "files", "tcp", ... */

/* Limits of one process of a run, and of all of them together where it says so. */
typedef struct ld_limits {
    uint64_t data_bytes;   /* private writable memory of one process; WebAssembly reserves far more than it uses,
                              so address space (RLIMIT_AS) can't be bounded; 0: no such limit here */
    uint64_t memory_bytes; /* kernel: memory of the whole run; 0: no such limit here */
    uint32_t processors;   /* vm: of the machine, for the whole run; 0: no such limit here */
    uint64_t processes;    /* processes and threads of the whole run */
    uint64_t file_bytes;   /* size of one file */
    uint64_t open_files;
    uint64_t cpu_seconds;
} ld_limits;

#define LD_LIMITS_SERVING                                                                                              \
    ((ld_limits){.data_bytes = 1024ull << 20,                                                                          \
                 .processes = 256,                                                                                     \
                 .file_bytes = 256ull << 20,                                                                           \
                 .open_files = 1024,                                                                                   \
                 .cpu_seconds = 600})

#define LD_DEFAULT_RUN_MS 60000
#define LD_MAX_SESSIONS 64u
#define LD_STREAM_CAP 262144u     /* stdout and stderr, each, per step */
#define LD_ARTIFACTS_CAP 8388608u /* contents of all artifacts together */
#define LD_PATH_MAX 128u          /* of a path below the base directory */

typedef enum ld_kind { LD_PROCESS, LD_CONTAINER, LD_KERNEL, LD_VM, LD_KINDS } ld_kind;

#define LD_ENVIRONMENT_PREFIX "localdaemon-environment:sha256:"

/* Of the provider vm only. */
typedef struct ld_vm_facts {
    char image[PATH_MAX]; /* the folder of what its machines boot (vm_image.h); "": another provider */
    bool hardware;        /* KVM; otherwise the processor is emulated by software, TCG */
    gid_t device_group;   /* may open /dev/kvm; 0: none is needed */
    uint32_t tsc_khz;     /* rate of this machine's time stamp counter; 0: not known */
} ld_vm_facts;

/* Fixed when the daemon starts. */
typedef struct ld_sandbox {
    ld_kind kind;
    const struct ld_provider *provider; /* provider.h: what it can do, and how */
    const char *name;                   /* the provider's name on the wire */
    cs_tier tier;                       /* as it is stated: the provider's, unless the daemon is told to lie */
    bool root;                          /* the daemon may give runs a user of their own */
    const char *self;                   /* this program, for the smoke test where a function of it can't be called */
    uint32_t guards;                    /* what is stated, and in force while it serves */
    uint32_t left_out; /* those of them that are not put up all the same: a fault for those who test the smoke test and
                          those who check daemons */
    bool anyway;       /* they are known to be down, and it serves */
    int landlock_abi;                   /* 0: the kernel has none */
    ld_limits limits;
    ld_filter filter;      /* for the filter guards among `guards` */
    char node[PATH_MAX];   /* absolute, without symbolic links */
    char python[PATH_MAX]; /* the same, below /usr; "" when there is none */
    char tool[PATH_MAX];   /* the program that puts up the boundary (bwrap, runsc, qemu); "": none */
    char version[64];      /* the tool's, where the provider asks for it; printable ASCII */
    /* LD_ENVIRONMENT_PREFIX and the digest of a text of the provider's that names all software of a run's boundary and
     * its interpreters; "" when the provider states none. */
    char environment[sizeof(LD_ENVIRONMENT_PREFIX) + CS_SHA256_HEX];
    char path_variable[PATH_MAX + 64]; /* PATH inside */
    ld_vm_facts vm;
} ld_sandbox;

/* Find out what the kernel offers and where the programs are. `node` may be NULL: looked up.
 * CS_UNCHECKED when something is missing. End with ld_sandbox_free, also after a failure. */
CS_MUST_CHECK cs_result ld_sandbox_init(ld_sandbox *out, ld_kind kind, const char *node, cs_error *err);

/* For the providers. A program by its name in the standard folders or by an absolute path, resolved, so that a rule for
 * it names the file itself. `package` is the Debian package that brings it. */
CS_MUST_CHECK cs_result ld_find_program(const char *name, const char *package, char out[PATH_MAX], cs_error *err);
/* Set `environment` from that text. */
CS_MUST_CHECK cs_result ld_sandbox_environment(ld_sandbox *sandbox, cs_view text, cs_error *err);
void ld_sandbox_free(ld_sandbox *sandbox);

/* The guards that are put up around runs: what is stated, but for what is left out. */
uint32_t ld_sandbox_in_force(const ld_sandbox *sandbox);
/* Leave guards out. CS_UNCHECKED when one of them is not on offer here, and so is not stated either. */
CS_MUST_CHECK cs_result ld_sandbox_leave_out(ld_sandbox *sandbox, uint32_t guards, bool anyway, cs_error *err);

/* Append the policy text: provider, guards and limits, one per line, the same for the same
 * configuration. Its SHA-256 is what records call the policy. */
CS_MUST_CHECK bool ld_sandbox_policy(const ld_sandbox *sandbox, cs_buf *out);

#endif
