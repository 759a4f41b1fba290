#include "examples/localdaemon/vm_image.h"

#include "examples/localdaemon/software.h"
#include "examples/localdaemon/vm/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_MANIFEST 262144u
#define BLOCK 262144u
#define PARTS 3u

static const char *const part_names[PARTS] = {LD_VM_INITRAMFS, LD_VM_SYSTEM, LD_VM_KERNEL};

cs_result ld_vm_image_default(char out[PATH_MAX], cs_error *err) {
    const char *chosen = getenv("LOCALDAEMON_CACHE");
    const char *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int len = 0;
    if (chosen != NULL && chosen[0] != '\0')
        len = snprintf(out, PATH_MAX, "%s/vm/current", chosen);
    else if (geteuid() == 0)
        len = snprintf(out, PATH_MAX, "/var/cache/localdaemon/vm/current");
    else if (xdg != NULL && xdg[0] != '\0')
        len = snprintf(out, PATH_MAX, "%s/localdaemon/vm/current", xdg);
    else if (home != NULL && home[0] != '\0')
        len = snprintf(out, PATH_MAX, "%s/.cache/localdaemon/vm/current", home);
    if (len > 0 && len < PATH_MAX) return CS_OK;
    return cs_fail(err, CS_CODE_IO, "there is no place for the image of virtual machines: HOME is not set");
}

/* ---- files ----------------------------------------------------------------------------------------- */

static cs_result unsafe(const char *name, cs_error *err) {
    return cs_fail(err, CS_CODE_IO,
                   "the image's %s does not belong to root or this user, or others may write to it; remove the image, "
                   "and " LD_VM_BUILD,
                   name);
}

static bool is_safe(const struct stat *st) {
    return (st->st_uid == 0 || st->st_uid == geteuid()) && (st->st_mode & 022) == 0;
}

static cs_result open_part(int folder, const char *name, int *out, struct stat *st, cs_error *err) {
    *out = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (*out < 0)
        return cs_fail(err, CS_CODE_IO, "the image's %s can't be read (%s); " LD_VM_BUILD, name, strerror(errno));
    if (fstat(*out, st) == 0 && S_ISREG(st->st_mode) && is_safe(st)) return CS_OK;
    close(*out);
    *out = -1;
    return unsafe(name, err);
}

/* The digest of a file to its end, and its size. */
static cs_result hash_file(int fd, const char *name, cs_digest *digest, uint64_t *size, cs_error *err) {
    cs_sha256 *hash = cs_sha256_new();
    uint8_t *block = malloc(BLOCK);
    cs_result result = cs_fail(err, CS_CODE_NO_MEMORY, "no memory to check the image");
    *size = 0;
    if (hash == NULL || block == NULL) goto out;
    ssize_t got;
    while ((got = read(fd, block, BLOCK)) > 0 || (got < 0 && errno == EINTR)) {
        if (got < 0) continue;
        cs_sha256_update(hash, block, (size_t)got);
        *size += (uint64_t)got;
    }
    if (got < 0)
        result = cs_fail(err, CS_CODE_IO, "%s can't be read: %s", name, strerror(errno));
    else if (cs_sha256_final_hex(hash, digest))
        result = CS_OK;
out:
    cs_sha256_free(hash);
    free(block);
    return result;
}

/* ---- the manifest ---------------------------------------------------------------------------------- */

typedef struct manifest {
    cs_digest parts[PARTS];
    uint64_t sizes[PARTS];
    bool found[PARTS];
    char node[PATH_MAX];
    cs_digest node_digest;
} manifest;

static bool is_digest(const char *text) {
    return strlen(text) == CS_SHA256_HEX && strspn(text, "0123456789abcdef") == CS_SHA256_HEX;
}

static bool read_part(const char *line, manifest *out) {
    char name[32];
    char digest[CS_SHA256_HEX + 2];
    char size[24];
    char more;
    if (sscanf(line, "part %31s %65s %20[0-9]%c", name, digest, size, &more) != 3 || !is_digest(digest)) return false;
    for (size_t i = 0; i < PARTS; i++) {
        if (strcmp(name, part_names[i]) != 0) continue;
        if (out->found[i]) return false;
        out->found[i] = true;
        memcpy(out->parts[i].hex, digest, sizeof(out->parts[i].hex));
        out->sizes[i] = strtoull(size, NULL, 10);
        return true;
    }
    return false;
}

/* "node PATH DIGEST"; the path may hold spaces. */
static bool read_node(const char *line, manifest *out) {
    const char *path = line + 5;
    const char *space = strrchr(path, ' ');
    if (out->node[0] != '\0' || space == NULL || path[0] != '/' || !is_digest(space + 1)) return false;
    size_t len = (size_t)(space - path);
    if (len >= sizeof(out->node)) return false;
    memcpy(out->node, path, len);
    out->node[len] = '\0';
    memcpy(out->node_digest.hex, space + 1, sizeof(out->node_digest.hex));
    return true;
}

/* The text is changed. Every line is one of those that are known. */
static bool read_manifest(char *text, manifest *out) {
    static const char first[] = "localdaemon vm image 1";
    char protocol[32];
    size_t number = 0;
    snprintf(protocol, sizeof(protocol), "agent-protocol %u", LD_VM_PROTOCOL);
    for (char *end = strchr(text, '\n'); end != NULL; end = strchr(text, '\n'), number++) {
        *end = '\0';
        bool good = strncmp(text, "package ", 8) == 0;
        if (number == 0) good = strcmp(text, first) == 0;
        if (number == 1) good = strcmp(text, protocol) == 0;
        if (number > 1 && strncmp(text, "part ", 5) == 0) good = read_part(text, out);
        if (number > 1 && strncmp(text, "node ", 5) == 0) good = read_node(text, out);
        if (!good) return false;
        text = end + 1;
    }
    return text[0] == '\0' && out->found[0] && out->found[1] && out->found[2] && out->node[0] != '\0';
}

static cs_result load_manifest(int folder, manifest *out, cs_digest *digest, cs_error *err) {
    int fd = -1;
    struct stat st = {0};
    cs_result result = open_part(folder, "manifest", &fd, &st, err);
    if (result != CS_OK) return result;
    char *text = calloc(1, MAX_MANIFEST + 1);
    ssize_t got = text != NULL ? read(fd, text, MAX_MANIFEST) : -1;
    memset(out, 0, sizeof(*out));
    if (got < 0 || got != st.st_size || memchr(text, '\0', (size_t)got) != NULL ||
        !cs_sha256_once(cs_view_bytes(text, (size_t)got), digest) || !read_manifest(text, out))
        result = cs_fail(err, CS_CODE_IO, "the image's manifest is malformed, or of another version; " LD_VM_BUILD);
    free(text);
    close(fd);
    return result;
}

/* ---- the whole ------------------------------------------------------------------------------------- */

static cs_result check_part(int folder, const manifest *from, size_t index, cs_error *err) {
    int fd = -1;
    struct stat st;
    cs_digest digest;
    uint64_t size = 0;
    cs_result result = open_part(folder, part_names[index], &fd, &st, err);
    if (result != CS_OK) return result;
    result = hash_file(fd, part_names[index], &digest, &size, err);
    close(fd);
    if (result != CS_OK) return result;
    if (size == from->sizes[index] && strcmp(digest.hex, from->parts[index].hex) == 0) return CS_OK;
    return cs_fail(err, CS_CODE_IO,
                   "the image's %s is not the one that its manifest names (found %s, expected %s); remove the image, "
                   "and " LD_VM_BUILD,
                   part_names[index], digest.hex, from->parts[index].hex);
}

static cs_result check_node(const manifest *from, const char *node, cs_error *err) {
    cs_digest digest;
    cs_result result = ld_software_digest(node, &digest, err);
    if (result != CS_OK) return result;
    if (strcmp(from->node, node) == 0 && strcmp(digest.hex, from->node_digest.hex) == 0) return CS_OK;
    return cs_fail(err, CS_CODE_IO, "the image was built from another node than %s; " LD_VM_BUILD, node);
}

cs_result ld_vm_image_open(const char *path, const char *node, ld_vm_image *out, cs_error *err) {
    manifest from;
    struct stat st;
    if (realpath(path, out->folder) == NULL)
        return cs_fail(err, CS_CODE_IO, "no image of virtual machines at %s (%s); " LD_VM_BUILD, path, strerror(errno));
    int folder = open(out->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return cs_fail(err, CS_CODE_IO, "%s can't be read: %s", out->folder, strerror(errno));
    cs_result result = CS_OK;
    if (fstat(folder, &st) != 0 || !is_safe(&st)) result = unsafe("folder", err);
    if (result == CS_OK) result = load_manifest(folder, &from, &out->digest, err);
    for (size_t i = 0; i < PARTS && result == CS_OK; i++)
        result = check_part(folder, &from, i, err);
    if (result == CS_OK) result = check_node(&from, node, err);
    close(folder);
    return result;
}
