/* What the attempts' program prints. Every byte is a stranger's. */
#include <string.h>

#include "harness/guards_internal.h"
#include "harness/probe_parts.h"
#include "records/text.h"

#define DOMAIN "countersign.guard-trial.v1"
#define MOST_ERRNO 4095
#define MOST_CHILDREN 4096
#define MOST_MILLI 1000000

/* A whole number from 0 to `most`, or null. */
typedef struct member {
    const char *name;
    int64_t most;
    size_t offset;
} member;

#define NUMBER(name, most)                                                                                             \
    { #name, most, offsetof(cs_guard_trial, name) }

static const member trial_members[] = {
    NUMBER(file, MOST_ERRNO),
    NUMBER(tcp, MOST_ERRNO),
    NUMBER(abstract, MOST_ERRNO),
    NUMBER(pid_seen, 2),
    NUMBER(pid_signal, MOST_ERRNO),
    NUMBER(keyctl, MOST_ERRNO),
    NUMBER(bpf, MOST_ERRNO),
    NUMBER(unshare, MOST_ERRNO),
    NUMBER(core_pattern, MOST_ERRNO),
    NUMBER(mapped_mb, CS_GUARD_MOST_MAPPED),
    NUMBER(file_mb, CS_GUARD_MOST_FILE),
    NUMBER(disk_mb, CS_GUARD_MOST_PROMISED + CS_GUARD_MORE_DISK),
    NUMBER(cpu_milli, MOST_MILLI),
    NUMBER(processes, MOST_CHILDREN),
};
#define TRIAL_MEMBERS (sizeof trial_members / sizeof trial_members[0])

#define LEFT(name, kind)                                                                                               \
    { #name, 1, (kind) * sizeof(int64_t) }

static const member left_members[CS_LEFT_KINDS] = {
    LEFT(left_work, CS_LEFT_WORK),       LEFT(left_tmp, CS_LEFT_TMP),         LEFT(left_var_tmp, CS_LEFT_VAR_TMP),
    LEFT(left_dev_shm, CS_LEFT_DEV_SHM), LEFT(left_tmpdir, CS_LEFT_TMPDIR),   LEFT(left_segment, CS_LEFT_SEGMENT),
    LEFT(left_socket, CS_LEFT_SOCKET),   LEFT(left_process, CS_LEFT_PROCESS),
};

static cs_result take(const json_t *object, const member *members, size_t count, void *out, cs_error *err) {
    for (size_t i = 0; i < count; i++) {
        int64_t number = 0;
        const json_t *value = json_object_get(object, members[i].name);
        if (value == NULL || !cs_probe_take_number(value, &number) ||
            (number != CS_PROBE_UNKNOWN && (number < 0 || number > members[i].most))) {
            cs_result result = cs_probe_malformed(err, "a member is missing, or of another type or size");
            cs_error_where(err, "%s", members[i].name);
            return result;
        }
        memcpy((char *)out + members[i].offset, &number, sizeof number);
    }
    return CS_OK;
}

/* The object of one mode with exactly `count` members beside its kind and mode. Gives *out. */
static cs_result open_line(const char *nonce, cs_view output, const char *mode, size_t count, json_t **out,
                           cs_error *err) {
    cs_result result = cs_probe_line(DOMAIN, nonce, output, out, err);
    if (result != CS_OK) return result;
    if (json_is_object(*out) && json_object_size(*out) == count + 2 &&
        cs_probe_is_word(json_object_get(*out, "guards"), DOMAIN) &&
        cs_probe_is_word(json_object_get(*out, "mode"), mode))
        return CS_OK;
    json_decref(*out);
    *out = NULL;
    return cs_probe_malformed(err, "it is of another kind or mode, or has more or fewer members");
}

cs_result cs_guard_read_try(const char *nonce, cs_view output, cs_guard_trial *out, cs_error *err) {
    json_t *object = NULL;
    cs_guard_trial trial = {.read = true};
    cs_result result = open_line(nonce, output, "try", TRIAL_MEMBERS + CS_LEFT_KINDS, &object, err);
    if (result != CS_OK) return result;
    result = take(object, trial_members, TRIAL_MEMBERS, &trial, err);
    if (result == CS_OK) result = take(object, left_members, CS_LEFT_KINDS, trial.left, err);
    json_decref(object);
    if (result == CS_OK) *out = trial;
    return result;
}

cs_result cs_guard_read_look(const char *nonce, cs_view output, cs_guard_look *out, cs_error *err) {
    json_t *object = NULL;
    int64_t left[CS_LEFT_KINDS];
    cs_result result = open_line(nonce, output, "look", CS_LEFT_KINDS, &object, err);
    if (result != CS_OK) return result;
    result = take(object, left_members, CS_LEFT_KINDS, left, err);
    json_decref(object);
    if (result != CS_OK) return result;
    memcpy(out->left, left, sizeof left);
    out->read = true;
    return CS_OK;
}

/* The two lines that say that it begins: their length; 0 when they are not there. */
static size_t begun_lines(cs_view output) {
    const uint8_t *end = output.len > 0 ? memchr(output.ptr, '\n', output.len) : NULL;
    size_t len = end != NULL ? (size_t)(end - output.ptr) + 1 + CS_SHA256_HEX + 1 : 0;
    return len <= output.len ? len : 0;
}

cs_result cs_guard_read_fill(const char *nonce, cs_view output, cs_guard_fill *out, cs_error *err) {
    static const member filled = {"filled_mb", CS_GUARD_MOST_PROMISED + CS_GUARD_MORE_MEMORY, 0};
    json_t *object = NULL;
    size_t len = begun_lines(output);
    cs_result result = open_line(nonce, cs_view_bytes(output.ptr, len), "begun", 0, &object, err);
    json_decref(object);
    if (result != CS_OK) return result;
    out->begun = true;
    if (len == output.len) return CS_OK;
    result = open_line(nonce, cs_view_bytes(output.ptr + len, output.len - len), "fill", 1, &object, err);
    if (result != CS_OK) return result;
    result = take(object, &filled, 1, &out->filled_mb, err);
    json_decref(object);
    out->read = result == CS_OK;
    return result;
}
