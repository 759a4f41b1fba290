#include "tests/cli/cli_case.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_ARGUMENTS 32

static const char *const clean_environment[] = {"PLIMSOLL_CALLER_TOKEN", "COUNTERSIGN_KEY",     "TMPDIR=/tmp",
                                                "GITHUB_ACTIONS",        "GITHUB_STEP_SUMMARY", NULL};

void cli_begin(cli_case *c) {
    memset(c, 0, sizeof *c);
    folder_make(c->folder);
    c->how = (exec_how){.folder = c->folder, .env = clean_environment};
}

void cli_keys(cli_case *c) {
    EXPECT_EXIT(c, cli_run(c, ARGS("keygen", "-o", "k")), 0);
}

void cli_end(cli_case *c) {
    json_decref(c->document);
    exec_free(&c->end);
    folder_remove(c->folder);
}

typedef struct command_line {
    char path[1024];
    const char *argv[MAX_ARGUMENTS + 2];
} command_line;

static void make_command(const char *program, const char *const arguments[], command_line *out) {
    memset(out, 0, sizeof *out);
    exec_built(program, out->path);
    out->argv[0] = out->path;
    for (size_t i = 0; arguments[i] != NULL; i++) {
        cr_assert_lt(i, MAX_ARGUMENTS);
        out->argv[i + 1] = arguments[i];
    }
}

/* Nothing that a sanitizer says may pass for an expected failure. */
static int status_of(const cli_case *c) {
    cr_expect_null(strstr(c->end.err, "Sanitizer"), "%s", c->end.err);
    cr_expect_null(strstr(c->end.err, "runtime error"), "%s", c->end.err);
    return c->end.status;
}

int cli_run_program(cli_case *c, const char *program, const char *const arguments[]) {
    command_line command;
    make_command(program, arguments, &command);
    exec_free(&c->end);
    exec_run(&c->how, command.argv, &c->end);
    return status_of(c);
}

int cli_interrupt(cli_case *c, int signal, peer *daemon, size_t requests, const char *const arguments[]) {
    command_line command;
    exec_beside beside;
    make_command("countersign", arguments, &command);
    exec_free(&c->end);
    exec_begin(&c->how, command.argv, &beside);
    cr_expect(peer_await(daemon, requests), "there were not so many requests");
    cr_assert_eq(kill(beside.pid, signal), 0);
    exec_wait(&beside, &c->end);
    return status_of(c);
}

int cli_run(cli_case *c, const char *const arguments[]) {
    return cli_run_program(c, "countersign", arguments);
}

static void check_document(const cli_case *c) {
    static const char *const words[] = {"passed", "failed", "usage", "not-run", "may-have-run", "unchecked", "nothing"};
    cr_assert(c->end.status >= 0 && c->end.status <= 6, "exit %d: %s", c->end.status, c->end.err);
    cr_expect_eq(cli_number(c, "exit"), c->end.status);
    EXPECT_TEXT(c, "verdict", words[c->end.status]);
    cr_expect_not_null(cli_member(c, "command"));
    cr_expect_gt(strlen(cli_text(c, "code")), 0);
    cr_expect_gt(strlen(cli_text(c, "message")), 0);
    cr_expect_eq(c->end.status == 0, strcmp(cli_text(c, "code"), "ok") == 0, "%s", c->end.out);
}

int cli_json(cli_case *c, const char *const arguments[]) {
    /* Behind the command's name, where it can't be taken for an option's missing value. */
    const char *with_json[MAX_ARGUMENTS + 2] = {NULL};
    size_t count = 0;
    if (arguments[0] != NULL) with_json[count++] = arguments[0];
    with_json[count++] = "--json";
    for (size_t i = 1; arguments[0] != NULL && arguments[i] != NULL; i++) {
        cr_assert_lt(i, MAX_ARGUMENTS);
        with_json[count++] = arguments[i];
    }
    int status = cli_run(c, with_json);
    json_decref(c->document);
    json_error_t error;
    c->document = json_loadb(c->end.out, c->end.out_len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    cr_assert_not_null(c->document, "not one JSON document: %s\n%s\n%s", error.text, c->end.out, c->end.err);
    cr_expect_str_eq(c->end.err, "", "%s", c->end.err);
    check_document(c);
    return status;
}

const json_t *cli_member(const cli_case *c, const char *path) {
    const json_t *value = c->document;
    char part[64];
    while (value != NULL && *path != '\0') {
        size_t len = strcspn(path, ".");
        cr_assert_lt(len, sizeof part);
        memcpy(part, path, len);
        part[len] = '\0';
        value = json_is_array(value) ? json_array_get(value, strtoul(part, NULL, 10)) : json_object_get(value, part);
        path += path[len] == '.' ? len + 1 : len;
    }
    return value;
}

const char *cli_text(const cli_case *c, const char *path) {
    const json_t *value = cli_member(c, path);
    return json_is_string(value) ? json_string_value(value) : "(no such text)";
}

json_int_t cli_number(const cli_case *c, const char *path) {
    const json_t *value = cli_member(c, path);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

/* ---- files ---------------------------------------------------------------------------------- */

void cli_write(cli_case *c, const char *name, const void *bytes, size_t len) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", c->folder, name);
    file_write(path, bytes, len);
}

void cli_write_text(cli_case *c, const char *name, const char *text) {
    cli_write(c, name, text, strlen(text));
}

void cli_write_bundle(cli_case *c, const char *name, const forge_bundle *bundle) {
    forge_bytes file = forge_file(bundle);
    cli_write(c, name, file.ptr, file.len);
}

/* SubjectPublicKeyInfo of an Ed25519 key (RFC 8410): twelve fixed bytes, then the key. */
void cli_write_public_key(cli_case *c, const char *name, const forge_key *key) {
    unsigned char der[44] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
    memcpy(der + 12, key->public_key, 32);
    char *pem = forge_text("-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n", forge_base64(der, sizeof der));
    cli_write_text(c, name, pem);
}
