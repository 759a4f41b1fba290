#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/guards_internal.h"
#include "records/text.h"

static const char *const words[CS_GUARDS] = {
    [CS_GUARD_FILES] = "files",
    [CS_GUARD_NETWORK] = "network",
    [CS_GUARD_ABSTRACT] = "abstract",
    [CS_GUARD_PIDS] = "pids",
    [CS_GUARD_SYSCALLS] = "syscalls",
    [CS_GUARD_CORE_PATTERN] = "core-pattern",
    [CS_GUARD_PROCESSES] = "processes",
    [CS_GUARD_MEMORY] = "memory",
    [CS_GUARD_PROCESS_MEMORY] = "process-memory",
    [CS_GUARD_FILE_SIZE] = "file-size",
    [CS_GUARD_DISK] = "disk",
    [CS_GUARD_CPUS] = "cpus",
    [CS_GUARD_TIME] = "time",
    [CS_GUARD_LEFTOVERS] = "leftovers",
};

const char *cs_guard_word(cs_guard_id guard) {
    return words[guard];
}

bool cs_guard_find(cs_view word, cs_guard_id *out) {
    for (size_t i = 0; i < CS_GUARDS; i++) {
        if (!cs_view_is(word, words[i])) continue;
        *out = (cs_guard_id)i;
        return true;
    }
    return false;
}

const char *cs_guard_verdict_word(cs_guard_verdict verdict) {
    switch (verdict) {
    case CS_GUARD_IN_FORCE:
        return "in force";
    case CS_GUARD_NOT_IN_FORCE:
        return "not in force";
    case CS_GUARD_UNKNOWN:
        break;
    }
    return "unknown";
}

const char *cs_left_word(cs_left_kind kind) {
    static const char *const kinds[CS_LEFT_KINDS] = {
        [CS_LEFT_WORK] = "work folder",       [CS_LEFT_TMP] = "/tmp",        [CS_LEFT_VAR_TMP] = "/var/tmp",
        [CS_LEFT_DEV_SHM] = "/dev/shm",       [CS_LEFT_TMPDIR] = "TMPDIR",   [CS_LEFT_SEGMENT] = "shared memory",
        [CS_LEFT_SOCKET] = "abstract socket", [CS_LEFT_PROCESS] = "process",
    };
    return kinds[kind];
}

static void add(char *out, size_t at, const char *fmt, va_list args) CS_PRINTF(3, 0);

static void add(char *out, size_t at, const char *fmt, va_list args) {
    if (at >= CS_GUARD_TEXT - 1) return;
    if (vsnprintf(out + at, CS_GUARD_TEXT - at, fmt, args) < 0) out[at] = '\0';
    out[cs_utf8_cut(cs_view_of(out), CS_GUARD_TEXT - 1).len] = '\0';
}

void cs_guard_say(char out[CS_GUARD_TEXT], const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    add(out, 0, fmt, args);
    va_end(args);
}

void cs_guard_say_also(char out[CS_GUARD_TEXT], const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    add(out, strlen(out), fmt, args);
    va_end(args);
}

const char *cs_guard_errno(int64_t number, char *out) {
    const char *name = number > 0 && number < 4096 ? strerrorname_np((int)number) : NULL;
    if (name != NULL)
        snprintf(out, 32, "%s", name);
    else
        snprintf(out, 32, "errno %lld", (long long)number);
    return out;
}
