/* The cart-pole run as a daemon would run it, but without one: the files of a built request in a
 * fresh folder, and its step. Fingerprints and report lines are literals. */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ACCEPTED "63cfd676924a3896127d60c97333677f3b3c804dd764dba001121f6c234a937f"
#define DRAFT "060d98e8140c03800347c4c947c07b2ab0011c3e6017e9a84529793afbbb53b9"
#define MAX_TEXT 8192

static char folder[] = "/tmp/countersign-cartpole-XXXXXX";
static json_t *request; /* owned */
static char out[MAX_TEXT], err[MAX_TEXT];

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *walk) {
    (void)info;
    (void)flag;
    (void)walk;
    return remove(path);
}

static void write_file(const char *name, const void *bytes, size_t len) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file, "cannot create %s", path);
    cr_assert_eq(fwrite(bytes, 1, len, file), len);
    cr_assert_eq(fclose(file), 0);
}

static size_t read_file(const char *name, void *bytes, size_t max) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "cannot open %s", path);
    const size_t len = fread(bytes, 1, max, file);
    cr_assert_eq(fclose(file), 0);
    return len;
}

static void redirect(const char *path, int descriptor) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || dup2(fd, descriptor) < 0) _exit(126);
}

/* Run a shell command in the folder (`inside`) or where we are; fills out and err; returns the exit code. */
static int run(const char *command, bool inside) {
    char out_path[512], err_path[512];
    snprintf(out_path, sizeof out_path, "%s/.stdout", folder);
    snprintf(err_path, sizeof err_path, "%s/.stderr", folder);
    const pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        redirect(out_path, STDOUT_FILENO);
        redirect(err_path, STDERR_FILENO);
        if (inside && chdir(folder) != 0) _exit(126);
        const char *search = getenv("PATH");
        char path[4096];
        snprintf(path, sizeof path, "PATH=%s", search ? search : "/usr/bin:/bin");
        char *environment[] = {path, NULL}; /* no NODE_OPTIONS and its like */
        execle("/bin/sh", "sh", "-c", command, (char *)NULL, environment);
        _exit(127);
    }
    int status = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
    out[read_file(".stdout", out, sizeof out - 1)] = '\0';
    err[read_file(".stderr", err, sizeof err - 1)] = '\0';
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_step(void) {
    return run("node run.mjs", true);
}

/* Lay the files of one built request, as a daemon does. */
static void lay(const char *controller) {
    char path[512];
    json_error_t error;
    const char *build = getenv("COUNTERSIGN_BUILD");
    snprintf(path, sizeof path, "%s/cartpole/%s.json", build ? build : "build", controller);
    request = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(request, "%s: %s", path, error.text);

    size_t index;
    json_t *file;
    json_array_foreach(json_object_get(json_object_get(request, "project"), "files"), index, file) {
        const json_t *content = json_object_get(file, "content");
        write_file(json_string_value(json_object_get(file, "path")), json_string_value(content),
                   json_string_length(content));
    }
    cr_assert_eq(index, 4);
}

static void setup(void) {
    cr_assert_not_null(mkdtemp(folder));
    if (run("node --version", true) == 0) return;
    if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL")) cr_assert_fail("this test needs node 18 or later on PATH");
    cr_skip_test("this test needs node 18 or later on PATH");
}

static void teardown(void) {
    json_decref(request);
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

TestSuite(cartpole, .init = setup, .fini = teardown, .timeout = 120);

/* The record's size and its SHA-256, computed here from the bytes on disk. */
static void expect_record(const char *fingerprint) {
    static unsigned char record[80001];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    char hex[65];
    cr_assert_eq(read_file("record.bin", record, sizeof record), 80000);
    cr_assert_eq(EVP_Digest(record, 80000, digest, &len, EVP_sha256(), NULL), 1);
    cr_assert_eq(len, 32);
    for (size_t i = 0; i < len; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    cr_assert_str_eq(hex, fingerprint);
}

Test(cartpole, accepted_controller_gives_the_published_fingerprint) {
    lay("accepted");
    cr_assert_eq(run_step(), 0, "%s", err);
    cr_assert_str_eq(out, "{\"fingerprint\":\"" ACCEPTED "\",\"ticks\":2000,\"fell_at\":null,"
                          "\"x\":-0.01808436596114913,\"theta\":0.00017942577234478658}\n");
    cr_assert_str_empty(err);
    expect_record(ACCEPTED);
}

Test(cartpole, draft_controller_drops_the_pole) {
    lay("draft");
    cr_assert_eq(run_step(), 0, "%s", err);
    cr_assert_str_eq(out, "{\"fingerprint\":\"" DRAFT "\",\"ticks\":2000,\"fell_at\":5.96,"
                          "\"x\":2083.9521282998357,\"theta\":91.07573202747527}\n");
    cr_assert_str_empty(err);
    expect_record(DRAFT);
}

/* Replace the one `from` in the controller. */
static void edit_controller(const char *from, const char *to) {
    static char text[MAX_TEXT], edited[MAX_TEXT];
    text[read_file("controller.js", text, sizeof text - 1)] = '\0';
    const char *at = strstr(text, from);
    cr_assert_not_null(at, "the controller holds no \"%s\"", from);
    const int len = snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    cr_assert_lt(len, (int)sizeof edited);
    write_file("controller.js", edited, (size_t)len);
}

Test(cartpole, a_gain_that_differs_by_one_bit_gives_another_fingerprint) {
    lay("accepted");
    edit_controller("KX = 1;", "KX = 1.0000000000000002;");
    cr_assert_eq(run_step(), 0, "%s", err);
    cr_assert_not_null(strstr(out, "\"ticks\":2000,\"fell_at\":null"));
    cr_assert_null(strstr(out, ACCEPTED));
}

/* A controller that answers 0, and on tick 3 does what is given. The twins differ in that alone. */
static int run_controller(const char *on_tick_3) {
    static char text[MAX_TEXT];
    lay("accepted");
    const int len = snprintf(text, sizeof text,
                             "import { createInterface } from \"node:readline\";\n"
                             "let tick = 0;\n"
                             "createInterface({ input: process.stdin }).on(\"line\", () => {\n"
                             "    if (tick++ === 3) { %s }\n"
                             "    else process.stdout.write(\"0\\n\");\n"
                             "});\n",
                             on_tick_3);
    write_file("controller.js", text, (size_t)len);
    return run_step();
}

static void expect_failure(const char *on_tick_3, const char *message) {
    char line[512];
    snprintf(line, sizeof line, "cartpole: tick %s\n", message);
    cr_assert_eq(run_controller(on_tick_3), 1);
    cr_assert_str_eq(err, line);
    cr_assert_str_empty(out);
    char record[512];
    snprintf(record, sizeof record, "%s/record.bin", folder);
    cr_assert_neq(access(record, F_OK), 0, "a failed run must leave no record");
}

Test(cartpole, controller_that_answers_on_tick_3_passes) {
    cr_assert_eq(run_controller("process.stdout.write('0\\n');"), 0, "%s", err);
    cr_assert_not_null(strstr(out, "\"ticks\":2000"));
}

Test(cartpole, controller_that_answers_an_exponent_passes) {
    cr_assert_eq(run_controller("process.stdout.write('-1.5e-3\\n');"), 0, "%s", err);
    cr_assert_not_null(strstr(out, "\"ticks\":2000"));
}

Test(cartpole, controller_that_exits_fails_with_the_tick) {
    expect_failure("process.exit(7);", "3: the controller exited (code 7)");
}

Test(cartpole, controller_that_exits_cleanly_fails_with_the_tick) {
    expect_failure("process.exit(0);", "3: the controller exited (code 0)");
}

Test(cartpole, controller_that_is_killed_fails_with_the_tick) {
    expect_failure("process.kill(process.pid, 'SIGKILL');", "3: the controller exited (SIGKILL)");
}

Test(cartpole, controller_that_stays_silent_fails_with_the_tick) {
    expect_failure(";", "3: the controller answered nothing within 2 s");
}

Test(cartpole, controller_that_ends_no_line_fails_with_the_tick) {
    expect_failure("process.stdout.write('0');", "3: the controller answered nothing within 2 s");
}

Test(cartpole, controller_that_answers_a_word_fails_with_the_tick) {
    expect_failure("process.stdout.write('left\\n');", "3: the controller answered no number: \"left\"");
}

Test(cartpole, controller_that_answers_an_empty_line_fails_with_the_tick) {
    expect_failure("process.stdout.write('\\n');", "3: the controller answered no number: \"\"");
}

Test(cartpole, controller_that_answers_hexadecimal_fails_with_the_tick) {
    expect_failure("process.stdout.write('0x10\\n');", "3: the controller answered no number: \"0x10\"");
}

Test(cartpole, controller_that_answers_beyond_doubles_fails_with_the_tick) {
    expect_failure("process.stdout.write('1e999\\n');", "3: the controller answered no number: \"1e999\"");
}

Test(cartpole, controller_that_answers_without_end_fails_with_the_tick) {
    expect_failure("process.stdout.write('1'.repeat(65));",
                   "3: the controller answered no number: "
                   "\"1111111111111111111111111111111111111111111111111111111111111111\"");
}

Test(cartpole, controller_that_answers_twice_fails_with_the_next_tick) {
    expect_failure("process.stdout.write('0\\n0\\n');", "4: the controller wrote more than one line for one state");
}

/* The shape that any daemon takes: an ordinary project run, nothing asked but node. */
Test(cartpole, request_is_an_ordinary_project_run) {
    lay("accepted");
    const json_t *project = json_object_get(request, "project");
    json_t *steps = json_object_get(project, "steps");
    json_t *artifacts = json_object_get(project, "artifacts");
    cr_assert_eq(json_array_size(steps), 1);
    cr_assert_str_eq(json_string_value(json_array_get(steps, 0)), "node run.mjs");
    cr_assert_eq(json_array_size(artifacts), 1);
    cr_assert_str_eq(json_string_value(json_array_get(artifacts, 0)), "record.bin");
    cr_assert_str_empty(json_string_value(json_object_get(request, "minimumIsolation")));
}

static int build_request(const char *floor) {
    char command[512];
    snprintf(command, sizeof command,
             "node examples/cartpole/request.mjs %s/plant.wasm examples/cartpole/controllers/draft.js %s", folder,
             floor);
    return run(command, false);
}

/* The smallest module, and the same with one import (m.f, a function). */
static const unsigned char no_import[] = {0, 'a', 's', 'm', 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0};
static const unsigned char one_import[] = {0, 'a', 's', 'm', 1, 0, 0,   0, 1,   4, 1, 0x60,
                                           0, 0,   2,   7,   1, 1, 'm', 1, 'f', 0, 0};

Test(cartpole, plant_without_imports_is_taken) {
    write_file("plant.wasm", no_import, sizeof no_import);
    cr_assert_eq(build_request(""), 0, "%s", err);
    cr_assert_not_null(strstr(out, "\"AGFzbQEAAAABBAFgAAA=\\n\""));
}

Test(cartpole, plant_with_an_import_is_refused) {
    write_file("plant.wasm", one_import, sizeof one_import);
    cr_assert_eq(build_request(""), 1);
    cr_assert_not_null(strstr(err, "the plant must import nothing, but imports m.f"), "%s", err);
    cr_assert_str_empty(out);
}

Test(cartpole, floor_is_stated_when_asked_for) {
    write_file("plant.wasm", no_import, sizeof no_import);
    cr_assert_eq(build_request("container"), 0, "%s", err);
    cr_assert_not_null(strstr(out, "\"minimumIsolation\": \"container\""));
}
