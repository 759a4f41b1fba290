#include "examples/localdaemon/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The header of Debian 12 ends at ABI 2; these are the kernel's numbers for the later ones. */
#define ACCESS_FS_ABI1 0x1fffull
#define ACCESS_FS_REFER (1ull << 13)
#define ACCESS_FS_TRUNCATE (1ull << 14)
#define ACCESS_FS_IOCTL_DEV (1ull << 15)
#define ACCESS_NET_BIND_TCP (1ull << 0)
#define ACCESS_NET_CONNECT_TCP (1ull << 1)
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ull << 0)
#define SCOPE_SIGNAL (1ull << 1)

#define READ_PROGRAMS (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define DEVICES (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | ACCESS_FS_IOCTL_DEV)
/* What may stand on a rule for a single file. */
#define FILE_RIGHTS                                                                                                    \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE | ACCESS_FS_TRUNCATE |   \
     ACCESS_FS_IOCTL_DEV)

struct attributes {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

int ld_landlock_abi(void) {
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return abi > 0 ? (int)abi : 0;
}

int ld_landlock_enter(int ruleset) {
    return (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}

/* The kernel knows as much of the structure as its ABI does and refuses longer ones that it doesn't. */
static size_t attributes_size(int abi) {
    if (abi >= 6) return sizeof(struct attributes);
    return abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
}

static uint64_t all_file_rights(int abi) {
    uint64_t rights = ACCESS_FS_ABI1;
    if (abi >= 2) rights |= ACCESS_FS_REFER;
    if (abi >= 3) rights |= ACCESS_FS_TRUNCATE;
    if (abi >= 5) rights |= ACCESS_FS_IOCTL_DEV;
    return rights;
}

/* Allow `rights` on a path. One that isn't there needs no rule. */
static cs_result allow(int ruleset, const char *path, uint64_t rights, cs_error *err) {
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ENOENT) return CS_OK;
        return cs_fail(err, CS_CODE_IO, "%s can't be opened for its Landlock rule: %s", path, strerror(errno));
    }
    struct stat st;
    if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode)) rights &= FILE_RIGHTS;
    struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};
    long rc = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    int error = errno;
    close(fd);
    if (rc != 0) return cs_fail(err, CS_CODE_IO, "the Landlock rule for %s is refused: %s", path, strerror(error));
    return CS_OK;
}

/* Around a virtual machine's monitor: what it boots, and the hardware's help. */
static cs_result allow_machine(int ruleset, const ld_sandbox *sandbox, uint64_t all, cs_error *err) {
    cs_result result = allow(ruleset, sandbox->tool, READ_PROGRAMS, err);
    if (result == CS_OK) result = allow(ruleset, sandbox->vm.image, LANDLOCK_ACCESS_FS_READ_FILE, err);
    if (result != CS_OK || !sandbox->vm.hardware) return result;
    return allow(ruleset, "/dev/kvm",
                 all & (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_FS_IOCTL_DEV), err);
}

static cs_result allow_files(int ruleset, const ld_sandbox *sandbox, const char *work, const char *tmp, cs_error *err) {
    static const char *const programs[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
    static const char *const texts[] = {"/etc/ld.so.cache", "/etc/ssl/openssl.cnf", "/etc/localtime", "/dev/urandom",
                                        "/dev/random"};
    static const char *const sinks[] = {"/dev/null", "/dev/zero", "/dev/full"};
    uint64_t all = all_file_rights(sandbox->landlock_abi);
    cs_result result = CS_OK;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]) && result == CS_OK; i++)
        result = allow(ruleset, programs[i], READ_PROGRAMS, err);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && result == CS_OK; i++)
        result = allow(ruleset, texts[i], LANDLOCK_ACCESS_FS_READ_FILE, err);
    for (size_t i = 0; i < sizeof(sinks) / sizeof(sinks[0]) && result == CS_OK; i++)
        result = allow(ruleset, sinks[i],
                       all & (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_FS_TRUNCATE), err);
    if (result == CS_OK) result = allow(ruleset, sandbox->node, READ_PROGRAMS, err);
    if (result == CS_OK && sandbox->vm.image[0] != '\0') result = allow_machine(ruleset, sandbox, all, err);
    if (result == CS_OK) result = allow(ruleset, work, all & ~DEVICES, err);
    if (result == CS_OK) result = allow(ruleset, tmp, all & ~DEVICES, err);
    return result;
}

cs_result ld_landlock_ruleset(const ld_sandbox *sandbox, uint32_t guards, const char *work, const char *tmp, int *out,
                              cs_error *err) {
    *out = -1;
    struct attributes attributes = {0};
    if ((guards & LD_GUARD_FILES) != 0) attributes.handled_access_fs = all_file_rights(sandbox->landlock_abi);
    if ((guards & LD_GUARD_TCP) != 0) attributes.handled_access_net = ACCESS_NET_BIND_TCP | ACCESS_NET_CONNECT_TCP;
    if ((guards & LD_GUARD_ABSTRACT) != 0) attributes.scoped |= SCOPE_ABSTRACT_UNIX_SOCKET;
    if ((guards & LD_GUARD_SIGNALS) != 0) attributes.scoped |= SCOPE_SIGNAL;
    if ((guards & LD_GUARDS_LANDLOCK) == 0) return CS_OK;
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, attributes_size(sandbox->landlock_abi), 0);
    if (ruleset < 0) return cs_fail(err, CS_CODE_IO, "Landlock refuses the rules: %s", strerror(errno));
    if ((guards & LD_GUARD_FILES) != 0) {
        cs_result result = allow_files(ruleset, sandbox, work, tmp, err);
        if (result != CS_OK) {
            close(ruleset);
            return result;
        }
    }
    *out = ruleset;
    return CS_OK;
}
