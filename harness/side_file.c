/* Where an answered call goes when the ledger can't take it: a file of its own, in the first place that
 * does. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "harness/ledger_internal.h"
#include "harness/new_file.h"
#include "records/compactjson.h"
#include "records/text.h"

/* Base64 of everything that a row holds, and the rest. */
#define SIDE_FILE_MAX (CS_MAX_LEDGER_ROW / 3 * 4 + (size_t)1024 * 1024)

/* ---- content ------------------------------------------------------------------------------------- */

/* `"name":"<base64>"`, when it is there. */
static bool put_bytes(cs_buf *out, const char *name, cs_view bytes) {
    if (bytes.ptr == NULL) return true;
    return cs_json_name(out, name) && cs_buf_byte(out, '"') && cs_base64_append(out, bytes) && cs_buf_byte(out, '"');
}

/* An unlinked bundle line. */
static bool put_signed(cs_buf *out, const cs_ledger_row *row) {
    return cs_buf_byte(out, '{') && put_bytes(out, "request", row->request) &&
           put_bytes(out, "response", row->response) && cs_json_name(out, "envelope") &&
           cs_buf_append(out, row->envelope.ptr, row->envelope.len) && cs_buf_text(out, "}\n");
}

static bool put_finding(cs_buf *out, const cs_ledger_row *row) {
    return cs_buf_byte(out, '{') && cs_json_text(out, "kind", row->kind) && cs_json_text(out, "code", row->code) &&
           cs_json_text(out, "detail", row->detail) && cs_json_text(out, "daemon", row->daemon) &&
           cs_json_i64(out, "added_unix_ms", row->added_unix_ms) && put_bytes(out, "request", row->request) &&
           put_bytes(out, "response", row->response) && put_bytes(out, "describe_before", row->describe_before) &&
           put_bytes(out, "describe_after", row->describe_after) && cs_buf_text(out, "}\n");
}

/* ---- places -------------------------------------------------------------------------------------- */

/* Write a new file of that path. On failure there is none, and errno says why. */
static bool write_new(const char *folder, const char *path, cs_view content) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool good = cs_write_all(fd, content) && fsync(fd) == 0;
    int number = errno;
    if (close(fd) != 0 && good) {
        good = false;
        number = errno;
    }
    if (good) {
        cs_ledger_sync_folder(folder);
        return true;
    }
    (void)unlink(path);
    errno = number;
    return false;
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    return name[0] == '\0' ? "ledger" : name;
}

static cs_result write_somewhere(const char *ledger_path, const char *suffix, cs_view content, char *path_out,
                                 size_t path_size, cs_error *err) {
    char own[PATH_MAX];
    const char *temporary = getenv("TMPDIR");
    const char *const places[] = {cs_ledger_folder(ledger_path, own, sizeof own) ? own : NULL, ".",
                                  temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp"};
    int number = ENAMETOOLONG;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (places[i] == NULL) continue;
        int len = snprintf(path_out, path_size, "%s/%s.%s", places[i], name_of(ledger_path), suffix);
        if (len < 0 || (size_t)len >= path_size) continue;
        if (write_new(places[i], path_out, content)) return CS_OK;
        number = errno;
    }
    path_out[0] = '\0';
    return cs_fail(
        err, CS_CODE_IO,
        "neither the folder of the ledger, nor the current one, nor that of temporary files takes the entry: %s",
        strerror(number));
}

cs_result cs_side_file_write(const char *ledger_path, const cs_ledger_row *row, char *path_out, size_t path_size,
                             cs_error *err) {
    if (path_size == 0) return cs_fail(err, CS_CODE_INTERNAL, "no room for the path of the side file");
    path_out[0] = '\0';
    bool finding = cs_view_is(row->kind, CS_KIND_FINDING);
    CS_AUTO_BUF content = CS_BUF_INIT(SIDE_FILE_MAX);
    if (!finding && cs_ledger_row_check(row, err) != CS_OK) {
        return cs_fail(err, CS_CODE_INTERNAL, "a signed entry without all of its parts can't be kept");
    }
    if (!(finding ? put_finding(&content, row) : put_signed(&content, row))) {
        return cs_fail(err, CS_CODE_NO_MEMORY, "not enough memory to keep the entry in a file");
    }
    uint8_t random[4];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return cs_fail(err, CS_CODE_IO, "no random bytes for the name of a file");
    }
    char hex[2 * sizeof random + 1];
    cs_hex(random, sizeof random, hex);
    char suffix[80];
    (void)snprintf(suffix, sizeof suffix, "unsaved-%lld-%s.%s", (long long)row->added_unix_ms, hex,
                   finding ? "finding.json" : "jsonl");
    return write_somewhere(ledger_path, suffix, cs_buf_view(&content), path_out, path_size, err);
}
