/* What the attempts' program prints is a stranger's: read exactly, or not at all. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/guards_internal.h"
#include "records/sha256.h"
#include "records/text.h"
#include "tests/support/expect.h"

#define NONCE "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define HEAD "{\"guards\":\"countersign.guard-trial.v1\",\"mode\":"
#define REACH "\"file\":13,\"tcp\":1,\"abstract\":1,\"pid_seen\":0,\"pid_signal\":3,"
#define CALLS "\"keyctl\":1,\"bpf\":1,\"unshare\":38,\"core_pattern\":13,"
#define AMOUNTS "\"mapped_mb\":1022,\"file_mb\":256,\"disk_mb\":null,\"cpu_milli\":null,\"processes\":254,"
#define LEFT                                                                                                           \
    "\"left_work\":1,\"left_tmp\":0,\"left_var_tmp\":0,\"left_dev_shm\":null,\"left_tmpdir\":1,\"left_segment\":0,"    \
    "\"left_socket\":0,\"left_process\":1}"
#define TRY HEAD "\"try\"," REACH CALLS AMOUNTS LEFT
#define LOOK HEAD "\"look\"," LEFT
#define BEGUN HEAD "\"begun\"}"
#define FILL HEAD "\"fill\",\"filled_mb\":500}"
/* sha256sum over "countersign.guard-trial.v1", a newline, the nonce, a newline and BEGUN. */
#define BEGUN_DIGEST "e63efdd85fd77a080c04d86215133407e68182951cc03a3af12a6dc67585217c"

static void add_line(cs_buf *out, const char *nonce, const char *line) {
    CS_AUTO_BUF text = CS_BUF_INIT(1 << 20);
    cs_digest digest;
    cr_assert(cs_buf_printf(&text, "countersign.guard-trial.v1\n%s\n%s", nonce, line));
    cr_assert(cs_sha256_once(cs_buf_view(&text), &digest));
    cr_assert(cs_buf_printf(out, "%s\n%s\n", line, digest.hex));
}

static cs_result read_try(const char *line, cs_guard_trial *trial, cs_error *err) {
    CS_AUTO_BUF output = CS_BUF_INIT(1 << 20);
    add_line(&output, NONCE, line);
    return cs_guard_read_try(NONCE, cs_buf_view(&output), trial, err);
}

static cs_result read_look(const char *line, cs_guard_look *look, cs_error *err) {
    CS_AUTO_BUF output = CS_BUF_INIT(1 << 20);
    add_line(&output, NONCE, line);
    return cs_guard_read_look(NONCE, cs_buf_view(&output), look, err);
}

Test(guards_read, attempts_are_read) {
    cs_guard_trial trial;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(read_try(TRY, &trial, &err), err);
    cr_expect(trial.read);
    cr_expect_eq(trial.file, 13);
    cr_expect_eq(trial.tcp, 1);
    cr_expect_eq(trial.pid_signal, 3);
    cr_expect_eq(trial.unshare, 38);
    cr_expect_eq(trial.core_pattern, 13);
    cr_expect_eq(trial.mapped_mb, 1022);
    cr_expect_eq(trial.file_mb, 256);
    cr_expect_eq(trial.disk_mb, CS_PROBE_UNKNOWN);
    cr_expect_eq(trial.processes, 254);
    cr_expect_eq(trial.left[CS_LEFT_WORK], 1);
    cr_expect_eq(trial.left[CS_LEFT_DEV_SHM], CS_PROBE_UNKNOWN);
    cr_expect_eq(trial.left[CS_LEFT_PROCESS], 1);
    cs_guard_look look = {0};
    EXPECT_OK(read_look(LOOK, &look, &err), err);
    cr_expect(look.read);
    cr_expect_eq(look.left[CS_LEFT_TMP], 0);
    cr_expect_eq(look.left[CS_LEFT_TMPDIR], 1);
}

/* A recording of another run, or a line that was changed afterwards. */
Test(guards_read, another_digest_is_no_answer_of_this_run) {
    cs_guard_trial trial = {.file = 99};
    cs_error err = CS_ERROR_INIT;
    CS_AUTO_BUF output = CS_BUF_INIT(1 << 20);
    add_line(&output, "f00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", TRY);
    EXPECT_CODE(cs_guard_read_try(NONCE, cs_buf_view(&output), &trial, &err), err, CS_FAILED, CS_CODE_TIER_NONCE);
    cr_expect_eq(trial.file, 99);
    cs_guard_fill fill = {0};
    EXPECT_OK(cs_guard_read_fill(NONCE, cs_view_of(BEGUN "\n" BEGUN_DIGEST "\n"), &fill, &err), err);
    fill = (cs_guard_fill){0};
    EXPECT_CODE(cs_guard_read_fill(NONCE, cs_view_of(HEAD "\"begun\" }\n" BEGUN_DIGEST "\n"), &fill, &err), err,
                CS_FAILED, CS_CODE_TIER_NONCE);
    cr_expect_not(fill.begun);
}

/* The good line with one part replaced. */
static char *replaced(const char *part, const char *by) {
    const char *at = strstr(TRY, part);
    cr_assert_not_null(at, "%s", part);
    size_t size = sizeof TRY + strlen(by) + 1;
    char *text = malloc(size);
    cr_assert_not_null(text);
    (void)snprintf(text, size, "%.*s%s%s", (int)(strlen(TRY) - strlen(at)), TRY, by, at + strlen(part));
    return text;
}

static void expect_malformed(const char *part, const char *by, const char *where) {
    cs_guard_trial trial = {.file = 99};
    cs_error err = CS_ERROR_INIT;
    char *line = replaced(part, by);
    cs_result result = read_try(line, &trial, &err);
    cr_expect_eq(result, CS_UNCHECKED, "%s", line);
    cr_expect_eq(err.code, CS_CODE_TIER_PROBE, "%s: %s", line, err.message);
    cr_expect_str_eq(err.where, where, "%s", line);
    cr_expect_eq(trial.file, 99);
    free(line);
}

Test(guards_read, members_are_exact) {
    expect_malformed("guard-trial.v1", "guard-trial.v2", "");
    expect_malformed("\"try\"", "\"look\"", "");
    expect_malformed("\"try\"", "7", "");
    expect_malformed("\"tcp\":1,", "", "");
    expect_malformed("\"tcp\":1,", "\"tcp\":1,\"more\":1,", "");
    expect_malformed("\"tcp\"", "\"tcp2\"", "tcp");
    expect_malformed("\"tcp\":1", "\"tcp\":1,\"tcp\":0", "");
    expect_malformed("\"tcp\":1", "\"tcp\":\"1\"", "tcp");
    expect_malformed("\"tcp\":1", "\"tcp\":1.0", "tcp");
    expect_malformed("\"tcp\":1", "\"tcp\":true", "tcp");
    expect_malformed("\"left_tmp\":0", "\"left_tmp\":false", "left_tmp");
}

Test(guards_read, numbers_are_bounded) {
    static const struct {
        const char *part, *most, *over, *where;
    } bounds[] = {
        {"\"file\":13", "\"file\":4095", "\"file\":4096", "file"},
        {"\"pid_seen\":0", "\"pid_seen\":2", "\"pid_seen\":3", "pid_seen"},
        {"\"mapped_mb\":1022", "\"mapped_mb\":65536", "\"mapped_mb\":65537", "mapped_mb"},
        {"\"file_mb\":256", "\"file_mb\":1048576", "\"file_mb\":1048577", "file_mb"},
        {"\"disk_mb\":null", "\"disk_mb\":4112", "\"disk_mb\":4113", "disk_mb"},
        {"\"cpu_milli\":null", "\"cpu_milli\":1000000", "\"cpu_milli\":1000001", "cpu_milli"},
        {"\"processes\":254", "\"processes\":4096", "\"processes\":4097", "processes"},
        {"\"left_tmp\":0", "\"left_tmp\":1", "\"left_tmp\":2", "left_tmp"},
        {"\"left_tmp\":0", "\"left_tmp\":null", "\"left_tmp\":-1", "left_tmp"},
        {"\"processes\":254", "\"processes\":0", "\"processes\":-1", "processes"},
        {"\"processes\":254", "\"processes\":null", "\"processes\":-9007199254740992", "processes"},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        cs_guard_trial trial;
        cs_error err = CS_ERROR_INIT;
        char *line = replaced(bounds[i].part, bounds[i].most);
        EXPECT_OK(read_try(line, &trial, &err), err);
        free(line);
        expect_malformed(bounds[i].part, bounds[i].over, bounds[i].where);
    }
}

Test(guards_read, output_is_two_lines_and_nothing_else) {
    CS_AUTO_BUF output = CS_BUF_INIT(1 << 20);
    cs_guard_look look = {0};
    cs_error err = CS_ERROR_INIT;
    add_line(&output, NONCE, LOOK);
    add_line(&output, NONCE, LOOK);
    EXPECT_CODE(cs_guard_read_look(NONCE, cs_buf_view(&output), &look, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    EXPECT_CODE(cs_guard_read_look(NONCE, cs_view_of(""), &look, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    cr_expect_not(look.read);
}

Test(guards_read, filling_begins_and_may_not_end) {
    CS_AUTO_BUF output = CS_BUF_INIT(1 << 20);
    cs_guard_fill fill = {.filled_mb = CS_PROBE_UNKNOWN};
    cs_error err = CS_ERROR_INIT;
    add_line(&output, NONCE, BEGUN);
    EXPECT_OK(cs_guard_read_fill(NONCE, cs_buf_view(&output), &fill, &err), err);
    cr_expect(fill.begun);
    cr_expect_not(fill.read);
    cr_expect_eq(fill.filled_mb, CS_PROBE_UNKNOWN);
    add_line(&output, NONCE, FILL);
    EXPECT_OK(cs_guard_read_fill(NONCE, cs_buf_view(&output), &fill, &err), err);
    cr_expect(fill.read);
    cr_expect_eq(fill.filled_mb, 500);
}

/* The end alone does not show that it was this program that was ended. */
Test(guards_read, filling_that_did_not_say_that_it_begins_is_not_read) {
    CS_AUTO_BUF output = CS_BUF_INIT(1 << 20);
    cs_guard_fill fill = {.filled_mb = CS_PROBE_UNKNOWN};
    cs_error err = CS_ERROR_INIT;
    add_line(&output, NONCE, FILL);
    EXPECT_CODE(cs_guard_read_fill(NONCE, cs_buf_view(&output), &fill, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    EXPECT_CODE(cs_guard_read_fill(NONCE, cs_view_of("x"), &fill, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    EXPECT_CODE(cs_guard_read_fill(NONCE, cs_view_of(BEGUN "\n"), &fill, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    cr_expect_not(fill.begun);
    add_line(&output, NONCE, FILL);
    EXPECT_CODE(cs_guard_read_fill(NONCE, cs_buf_view(&output), &fill, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    cr_expect_not(fill.begun);
}
