/* The ledger that keeps verdicts: the statements of one are there together, or not at all. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gate/attest.h"
#include "harness/ledger.h"

static int64_t now_unix_ms(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A ledger that is not there yet comes into being with the first verdict: made now, it would stand there empty when
 * none is made, and be taken for an input that holds nothing. */
static cs_result check_folder(const char *path, cs_error *err) {
    const char *slash = strrchr(path, '/');
    size_t len = slash == NULL || slash == path ? 1 : (size_t)(slash - path);
    char folder[PATH_MAX];
    cs_result result = CS_OK;
    if (path[0] == '\0' || len >= sizeof folder) {
        result = cs_fail(err, CS_CODE_LEDGER_MISSING, "the path of the ledger is empty, or too long");
    } else {
        memcpy(folder, slash == NULL ? "." : path, len);
        folder[len] = '\0';
        struct stat info;
        if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
            result = cs_fail(err, CS_CODE_LEDGER_MISSING, "there is no folder %s to make the ledger in; make it first",
                             folder);
        else if (access(folder, W_OK | X_OK) != 0)
            result = cs_fail(err, CS_CODE_LEDGER_WRITE, "can't make a ledger in %s: %s", folder, strerror(errno));
    }
    if (result != CS_OK) cs_error_where(err, "%s", path);
    return result;
}

cs_result cs_gate_attest_ledger_ready(const char *path, cs_error *err) {
    struct stat info;
    if (lstat(path, &info) != 0) return check_folder(path, err);
    cs_ledger *ledger = NULL;
    cs_result result = cs_ledger_open(path, CS_LOCK_WAIT_MS, &ledger, err);
    cs_ledger_close(ledger);
    return result;
}

/* Each line is one envelope. */
static cs_result append_lines(cs_ledger *ledger, cs_view lines, cs_gate_kept_verdict *kept, cs_error *err) {
    cs_gate_kept_verdict now = {.count = 0};
    cs_ledger_row row = {.added_unix_ms = now_unix_ms(),
                         .kind = cs_view_of(CS_KIND_VERDICT),
                         .daemon = cs_view_of(""),
                         .code = cs_view_of(""),
                         .detail = cs_view_of(""),
                         .record_sha256 = cs_view_of("")};
    while (lines.len > 0) {
        const uint8_t *end = memchr(lines.ptr, '\n', lines.len);
        if (end == NULL) return cs_fail(err, CS_CODE_INTERNAL, "the statement of a verdict has no end");
        size_t len = (size_t)(end - lines.ptr);
        int64_t id = 0;
        row.envelope = cs_view_bytes(lines.ptr, len);
        cs_result result = cs_ledger_append(ledger, &row, &id, err);
        if (result != CS_OK) return result;
        if (now.count == 0) now.first = id;
        now.count++;
        lines = cs_view_bytes(end + 1, lines.len - len - 1);
    }
    *kept = now;
    return CS_OK;
}

cs_result cs_gate_attest_append(const char *path, cs_view lines, cs_gate_kept_verdict *kept, cs_error *err) {
    cs_gate_kept_verdict appended = {.count = 0};
    *kept = appended;
    cs_ledger *ledger = NULL;
    cs_result result = cs_ledger_open(path, CS_LOCK_WAIT_MS, &ledger, err);
    if (result != CS_OK) return result;
    result = cs_ledger_begin(ledger, err);
    if (result == CS_OK) result = append_lines(ledger, lines, &appended, err);
    if (result == CS_OK) result = cs_ledger_commit(ledger, err);
    cs_ledger_close_or_remove(ledger); /* what was not committed is undone */
    if (result == CS_OK) *kept = appended;
    return result;
}
