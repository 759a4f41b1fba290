#include "examples/localdaemon/sandbox.h"

#include "examples/localdaemon/landlock.h"
#include "examples/localdaemon/provider.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STANDARD_PATH "/usr/local/bin:/usr/bin:/bin"

const char *ld_guard_word(ld_guard guard) {
    static const struct {
        ld_guard guard;
        const char *word;
    } words[LD_GUARD_COUNT] = {
        {LD_GUARD_USER, "user"},       {LD_GUARD_FILES, "files"},
        {LD_GUARD_TCP, "tcp"},         {LD_GUARD_ABSTRACT, "abstract"},
        {LD_GUARD_SIGNALS, "signals"}, {LD_GUARD_SYSCALLS, "syscalls"},
        {LD_GUARD_SOCKETS, "sockets"}, {LD_GUARD_PROCESSES, "processes"},
        {LD_GUARD_MEMORY, "memory"},   {LD_GUARD_FILE_SIZE, "file-size"},
        {LD_GUARD_MOUNTS, "mounts"},   {LD_GUARD_PIDS, "pids"},
        {LD_GUARD_NETWORK, "network"}, {LD_GUARD_IPC, "ipc"},
        {LD_GUARD_KERNEL, "kernel"},
    };
    for (size_t i = 0; i < LD_GUARD_COUNT; i++)
        if (words[i].guard == guard) return words[i].word;
    return "unknown";
}

cs_result ld_find_program(const char *name, const char *package, char out[PATH_MAX], cs_error *err) {
    static const char *const folders[] = {"/usr/local/bin", "/usr/bin", "/bin"};
    char candidate[PATH_MAX];
    if (name[0] == '/') {
        if (access(name, X_OK) == 0 && realpath(name, out) != NULL) return CS_OK;
        return cs_fail(err, CS_CODE_IO, "%s can't be started: %s", name, strerror(errno));
    }
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        snprintf(candidate, sizeof(candidate), "%s/%s", folders[i], name);
        if (access(candidate, X_OK) == 0 && realpath(candidate, out) != NULL) return CS_OK;
    }
    return cs_fail(err, CS_CODE_IO, "no %s in %s; install it (Debian: %s)%s", name, STANDARD_PATH, package,
                   strcmp(name, "node") == 0 ? " or name it with --node PATH" : "");
}

/* Python is not needed to serve; where it stands below /usr, every provider shows it. */
static void find_python(char out[PATH_MAX]) {
    cs_error err = CS_ERROR_INIT;
    if (ld_find_program("python3", "python3", out, &err) != CS_OK || strncmp(out, "/usr/", 5) != 0) out[0] = '\0';
}

/* PATH inside: the standard one, with Node's folder in front when it lies elsewhere. */
static void set_path_variable(ld_sandbox *out) {
    if (strncmp(out->node, "/usr/bin/", 9) == 0 || strncmp(out->node, "/usr/local/bin/", 15) == 0) {
        snprintf(out->path_variable, sizeof(out->path_variable), "%s", STANDARD_PATH);
        return;
    }
    size_t folder = (size_t)(strrchr(out->node, '/') - out->node);
    snprintf(out->path_variable, sizeof(out->path_variable), "%.*s:%s", (int)folder, out->node, STANDARD_PATH);
}

static uint32_t guards_on_offer(const ld_sandbox *sandbox) {
    uint32_t guards = sandbox->provider->guards;
    if (!sandbox->root) guards &= ~sandbox->provider->root_guards;
    if (sandbox->landlock_abi < 6) guards &= ~(uint32_t)(LD_GUARD_ABSTRACT | LD_GUARD_SIGNALS);
    if (sandbox->landlock_abi < 4) guards &= ~(uint32_t)LD_GUARD_TCP;
    return guards;
}

cs_result ld_sandbox_init(ld_sandbox *out, ld_kind kind, const char *node, cs_error *err) {
    memset(out, 0, sizeof(*out));
    out->kind = kind;
    out->provider = ld_provider_of(kind);
    out->name = out->provider->name;
    out->tier = out->provider->tier;
    out->self = "/proc/self/exe";
    out->root = geteuid() == 0;
    out->landlock_abi = ld_landlock_abi();
    out->limits = LD_LIMITS_SERVING;
    out->guards = guards_on_offer(out);
    cs_result result = ld_filter_build(out->guards & LD_GUARDS_FILTER, &out->filter, err);
    if (result == CS_OK) result = ld_find_program(node != NULL ? node : "node", "nodejs", out->node, err);
    if (result != CS_OK) return result;
    set_path_variable(out);
    find_python(out->python);
    return out->provider->find(out, err);
}

void ld_sandbox_free(ld_sandbox *sandbox) {
    ld_filter_free(&sandbox->filter);
}

uint32_t ld_sandbox_in_force(const ld_sandbox *sandbox) {
    return sandbox->guards & ~sandbox->left_out;
}

cs_result ld_sandbox_leave_out(ld_sandbox *sandbox, uint32_t guards, bool anyway, cs_error *err) {
    for (uint32_t bit = 1; bit < 1u << LD_GUARD_COUNT; bit <<= 1)
        if ((guards & ~sandbox->guards & bit) != 0)
            return cs_fail(err, CS_CODE_IO, "the guard %s is not on offer here, so it can't be left out",
                           ld_guard_word((ld_guard)bit));
    sandbox->left_out = guards;
    sandbox->anyway = anyway;
    return CS_OK;
}

bool ld_sandbox_policy(const ld_sandbox *sandbox, cs_buf *out) {
    if (!cs_buf_printf(out, "localdaemon policy 1\nprovider %s\ntier %s\n", sandbox->name, cs_tier_word(sandbox->tier)))
        return false;
    for (uint32_t bit = 0; bit < LD_GUARD_COUNT; bit++)
        if ((sandbox->guards & (1u << bit)) != 0 &&
            !cs_buf_printf(out, "guard %s\n", ld_guard_word((ld_guard)(1u << bit))))
            return false;
    return sandbox->provider->policy(sandbox, out);
}

static bool add_limit(cs_buf *out, const char *name, uint64_t value) {
    return value == 0 || cs_buf_printf(out, "%s %" PRIu64 "\n", name, value);
}

bool ld_policy_limits(const ld_sandbox *sandbox, cs_buf *out) {
    const ld_limits *limits = &sandbox->limits;
    bool processes = (sandbox->guards & LD_GUARD_PROCESSES) != 0;
    return add_limit(out, "process-data-bytes", limits->data_bytes) &&
           add_limit(out, "run-memory-bytes", limits->memory_bytes) &&
           add_limit(out, "file-bytes", limits->file_bytes) && add_limit(out, "open-files", limits->open_files) &&
           add_limit(out, "process-cpu-seconds", limits->cpu_seconds) &&
           (!processes || add_limit(out, "processes", limits->processes)) &&
           cs_buf_printf(out, "default-run-ms %d\nstream-bytes %u\nartifact-bytes %u\n", LD_DEFAULT_RUN_MS,
                         LD_STREAM_CAP, LD_ARTIFACTS_CAP);
}

cs_result ld_sandbox_environment(ld_sandbox *sandbox, cs_view text, cs_error *err) {
    cs_digest digest;
    if (!cs_sha256_once(text, &digest)) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the environment");
    snprintf(sandbox->environment, sizeof(sandbox->environment), LD_ENVIRONMENT_PREFIX "%s", digest.hex);
    return CS_OK;
}
