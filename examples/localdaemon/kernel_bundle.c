#include "examples/localdaemon/kernel_bundle.h"

#include "examples/localdaemon/userns.h"
#include "records/compactjson.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_CONFIG 1048576u

/* Of the machine's files beside /usr, those that programs look for; shown where they are. */
static const char *const shown_files[] = {"/etc/ld.so.cache", "/etc/ssl/openssl.cnf", "/etc/localtime"};
#define SHOWN_FOLDER "/etc/alternatives"
#define SHOWN_FILES (sizeof(shown_files) / sizeof(shown_files[0]))

/* NULL: below /usr, where it is seen anyway. */
static const char *node_elsewhere(const ld_sandbox *sandbox) {
    return strncmp(sandbox->node, "/usr/", 5) != 0 ? sandbox->node : NULL;
}

/* ---- config.json ----------------------------------------------------------------------------------- */

static bool add_list(cs_buf *out, const char *name, const char *const *list) {
    bool good = cs_json_name(out, name) && cs_buf_byte(out, '[');
    for (size_t i = 0; list[i] != NULL && good; i++)
        good = (i == 0 || cs_buf_byte(out, ',')) && cs_json_string(out, cs_view_of(list[i]));
    return good && cs_buf_byte(out, ']');
}

static bool add_limit(cs_buf *out, const char *name, uint64_t value) {
    bool first = out->ptr[out->len - 1] == '[';
    return cs_buf_text(out, first ? "{" : ",{") && cs_json_text(out, "type", cs_view_of(name)) &&
           cs_json_u64(out, "hard", value) && cs_json_u64(out, "soft", value) && cs_buf_byte(out, '}');
}

static bool add_limits(cs_buf *out, const ld_place *place) {
    const ld_limits *limits = &place->limits;
    return cs_json_name(out, "rlimits") && cs_buf_byte(out, '[') &&
           add_limit(out, "RLIMIT_NOFILE", limits->open_files) && add_limit(out, "RLIMIT_CPU", limits->cpu_seconds) &&
           add_limit(out, "RLIMIT_CORE", 0) &&
           ((place->guards & LD_GUARD_PROCESSES) == 0 || add_limit(out, "RLIMIT_NPROC", limits->processes)) &&
           ((place->guards & LD_GUARD_FILE_SIZE) == 0 || add_limit(out, "RLIMIT_FSIZE", limits->file_bytes)) &&
           cs_buf_byte(out, ']');
}

/* No capability, whoever it is inside. */
static bool add_process(cs_buf *out, const ld_place *place, const ld_command *command, const ld_prepared *prepared) {
    unsigned user = prepared->plan.namespaced ? LD_INSIDE_USER : 0;
    bool fixed = (place->guards & LD_GUARD_MOUNTS) != 0;
    const char *env[LD_MAX_VARIABLES + 1] = {NULL};
    for (size_t i = 0; i < prepared->variable_count; i++)
        env[i] = prepared->envp[i];
    return cs_json_name(out, "process") && cs_buf_text(out, "{\"terminal\":false") && cs_json_name(out, "user") &&
           cs_buf_byte(out, '{') && cs_json_u64(out, "uid", user) && cs_json_u64(out, "gid", user) &&
           cs_buf_byte(out, '}') && add_list(out, "args", command->argv) && add_list(out, "env", env) &&
           cs_json_text(out, "cwd", cs_view_of(fixed ? ld_inside_work(place) : place->slot->work)) &&
           cs_buf_text(out, ",\"capabilities\":{},\"noNewPrivileges\":true") && add_limits(out, place) &&
           cs_buf_byte(out, '}');
}

/* `access`: "ro" or "rw" for a folder or file of the machine's; NULL for what gVisor makes. */
static bool add_mount(cs_buf *out, const char *type, const char *from, const char *to, const char *access) {
    const char *const options[] = {access, access != NULL ? "rbind" : NULL, NULL};
    bool first = out->ptr[out->len - 1] == '[';
    return cs_buf_text(out, first ? "{" : ",{") && cs_json_text(out, "destination", cs_view_of(to)) &&
           cs_json_text(out, "type", cs_view_of(type)) && cs_json_text(out, "source", cs_view_of(from)) &&
           add_list(out, "options", options) && cs_buf_byte(out, '}');
}

/* A system to read, and the run's folders at their fixed paths on a /tmp in memory. */
static bool add_mounts(cs_buf *out, const ld_place *place) {
    const char *node = node_elsewhere(place->sandbox);
    bool good = cs_json_name(out, "mounts") && cs_buf_byte(out, '[') && add_mount(out, "proc", "proc", "/proc", NULL);
    if ((place->guards & LD_GUARD_MOUNTS) != 0) {
        good = good && add_mount(out, "bind", "/usr", "/usr", "ro");
        for (size_t i = 0; i < SHOWN_FILES && good; i++)
            good = access(shown_files[i], F_OK) != 0 || add_mount(out, "bind", shown_files[i], shown_files[i], "ro");
        if (good && access(SHOWN_FOLDER, F_OK) == 0) good = add_mount(out, "bind", SHOWN_FOLDER, SHOWN_FOLDER, "ro");
        if (good && node != NULL) good = add_mount(out, "bind", node, node, "ro");
        good = good && add_mount(out, "tmpfs", "tmpfs", "/tmp", NULL) &&
               add_mount(out, "bind", place->slot->work, ld_inside_work(place), "rw") &&
               add_mount(out, "bind", place->slot->tmp, ld_inside_tmp(place), "rw");
    }
    return good && cs_buf_byte(out, ']');
}

/* Without a network namespace gVisor stays in the machine's: for the smoke test only. */
static bool add_config(cs_buf *out, const ld_place *place, const ld_command *command, const ld_prepared *prepared) {
    bool own_root = (place->guards & LD_GUARD_MOUNTS) != 0;
    return cs_buf_text(out, "{\"ociVersion\":\"1.0.2\"") && add_process(out, place, command, prepared) &&
           cs_json_name(out, "root") && cs_buf_byte(out, '{') &&
           cs_json_text(out, "path", cs_view_of(own_root ? "root" : "/")) && cs_buf_text(out, ",\"readonly\":true}") &&
           cs_json_text(out, "hostname", cs_view_of("localhost")) && add_mounts(out, place) &&
           cs_buf_text(out, ",\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"ipc\"},{\"type\":\"uts\"},"
                            "{\"type\":\"mount\"}") &&
           ((place->guards & LD_GUARD_NETWORK) == 0 || cs_buf_text(out, ",{\"type\":\"network\"}")) &&
           cs_buf_text(out, "]}}\n");
}

/* ---- the folder ------------------------------------------------------------------------------------ */

static cs_result write_config(const ld_prepared *prepared, cs_view text, cs_error *err) {
    char path[sizeof(prepared->folder) + 16];
    snprintf(path, sizeof(path), "%s/config.json", prepared->folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    bool good = fd >= 0 && write(fd, text.ptr, text.len) == (ssize_t)text.len;
    if (fd >= 0 && close(fd) != 0) good = false;
    return good ? CS_OK : cs_fail(err, CS_CODE_IO, "%s can't be written: %s", path, strerror(errno));
}

/* An empty file to mount another on, with the folders on its way. */
static bool make_file(int root, const char *path) {
    return ld_work_write(root, cs_view_of(path + 1), cs_view_of(""), (uid_t)-1) == LD_WORK_DONE;
}

/* A folder, with those on its way. */
static bool make_folder(int root, const char *path) {
    char part[LD_PATH_MAX];
    bool good = true;
    for (size_t at = 1; good && at < sizeof(part); at++) {
        if (path[at] != '/' && path[at] != '\0') continue;
        snprintf(part, sizeof(part), "%.*s", (int)at - 1, path + 1);
        good = mkdirat(root, part, 0755) == 0 || errno == EEXIST;
        if (path[at] == '\0') return good;
    }
    return false;
}

/* What something is mounted on, and the links of a merged /usr. */
static bool make_root(int root, const ld_place *place) {
    const char *const folders[] = {
        "/usr", "/proc", "/dev", "/sys", SHOWN_FOLDER, ld_inside_work(place), ld_inside_tmp(place)};
    static const char *const links[] = {"bin", "sbin", "lib", "lib64"};
    const char *node = node_elsewhere(place->sandbox);
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        if (!make_folder(root, folders[i])) return false;
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        char target[16];
        snprintf(target, sizeof(target), "usr/%s", links[i]);
        if (symlinkat(target, root, links[i]) != 0) return false;
    }
    for (size_t i = 0; i < SHOWN_FILES; i++)
        if (!make_file(root, shown_files[i])) return false;
    return node == NULL || make_file(root, node);
}

static bool make_folders(const ld_prepared *prepared, const ld_place *place) {
    int folder = -1;
    int root = -1;
    bool good = mkdir(prepared->folder, 0755) == 0;
    if (good) folder = open(prepared->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    good = folder >= 0 && mkdirat(folder, "root", 0755) == 0 && mkdirat(folder, "state", 0700) == 0;
    if (good) root = openat(folder, "root", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    good = root >= 0 && make_root(root, place);
    if (good && prepared->plan.namespaced)
        good = fchownat(folder, "state", prepared->plan.uid, prepared->plan.uid, AT_SYMLINK_NOFOLLOW) == 0;
    int error = errno;
    if (root >= 0) close(root);
    if (folder >= 0) close(folder);
    errno = error;
    return good;
}

cs_result ld_kernel_bundle(const ld_place *place, const ld_command *command, ld_prepared *prepared, cs_error *err) {
    CS_AUTO_BUF config = CS_BUF_INIT(MAX_CONFIG);
    const char *work = place->slot->work;
    snprintf(prepared->folder, sizeof(prepared->folder), "%.*s/kernel", (int)(strrchr(work, '/') - work), work);
    if (!make_folders(prepared, place))
        return cs_fail(err, CS_CODE_IO, "%s can't be made: %s", prepared->folder, strerror(errno));
    if (!add_config(&config, place, command, prepared))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the orders to gVisor");
    return write_config(prepared, cs_buf_view(&config), err);
}
