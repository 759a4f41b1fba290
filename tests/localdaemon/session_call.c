#include "tests/localdaemon/session_call.h"

#include "records/protojson.h"
#include "records/text.h"
#include "tests/support/canon.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void post(const test_daemon *daemon, const char *path, const char *token, const char *body, wire_end *end) {
    char line[128];
    snprintf(line, sizeof line, "Authorization: Bearer %s", token);
    const wire_how how = {.headers = {line, "Content-Type: " JSON, "Plimsoll-Request-Id: " REQUEST_ID}};
    wire_call(daemon, path, &how, body, strlen(body), end);
}

void session_open(const test_daemon *daemon, const char *members, test_session *session) {
    session_open_in(daemon, 3, members, session);
}

void session_open_in(const test_daemon *daemon, unsigned protocol, const char *members, test_session *session) {
    char body[1024];
    wire_end end;
    *session = (test_session){.daemon = daemon, .protocol = protocol};
    snprintf(body, sizeof body, "{\"protocol\":%u%s}", protocol, members);
    post(daemon, OPEN, DAEMON_TOKEN, body, &end);
    cr_assert_eq(end.status, 200, "status %ld: %s", end.status, end.body);
    snprintf(session->id, sizeof session->id, "%s", json_at(end.json, "sessionId"));
    snprintf(session->fingerprint, sizeof session->fingerprint, "%s", json_at(end.json, "session"));
    cr_assert(cs_is_hex(cs_view_of(session->id), 32), "%s", end.body);
    char expected[65];
    canon_sha256(session->id, 32, expected);
    cr_assert_str_eq(session->fingerprint, expected);
    wire_free(&end);
}

void session_send_as(const test_session *session, const char *token, const char *payload, wire_end *end) {
    char *body = NULL;
    cr_assert_geq(asprintf(&body, "{\"protocol\":%u,\"sessionId\":\"%s\",%s}", session->protocol, session->id, payload),
                  0);
    post(session->daemon, CALL, token, body, end);
    free(body);
}

void session_send(const test_session *session, const char *payload, wire_end *end) {
    session_send_as(session, DAEMON_TOKEN, payload, end);
}

static void *read_json(const ProtobufCMessageDescriptor *type, const char *text, size_t len) {
    ProtobufCMessage *message = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_protojson_read(type, cs_view_bytes(text, len), &message, &err), CS_OK, "%s", err.message);
    return message;
}

/* The digest of the call in the form without a session id. */
static void request_digest(unsigned protocol, const char *payload, char hex[65]) {
    char *body = NULL;
    int len = asprintf(&body, "{\"protocol\":%u,%s}", protocol, payload);
    cr_assert_geq(len, 0);
    cs_run_request *request = read_json(&plimsoll__v1__run_request__descriptor, body, (size_t)len);
    /* It is no part of the digest. */
    canon_request(request, hex);
    cs_message_free(request);
    free(body);
}

static void expect_text(const ProtobufCBinaryData *field, const char *expected) {
    cr_assert(cs_view_is(cs_bytes_view(field), expected), "%.*s, expected %s", (int)field->len,
              field->len > 0 ? (const char *)field->data : "", expected);
}

/* One sandbox for the whole session: it has a name from protocol 4 on. */
static void check_instance(test_session *session, const ProtobufCBinaryData *instance) {
    if (session->protocol < 4) {
        expect_text(instance, "");
        return;
    }
    if (session->calls == 0)
        snprintf(session->instance, sizeof session->instance, "%.*s", (int)instance->len, (const char *)instance->data);
    expect_text(instance, session->instance);
    const char *kind = "localdaemon-sandbox:";
    cr_assert_eq(strncmp(session->instance, kind, strlen(kind)), 0, "%s", session->instance);
    cr_assert(cs_is_hex(cs_view_of(session->instance + strlen(kind)), 32), "%s", session->instance);
}

/* What every record of the session states: its place in the chain, the request, its own digest. */
static void check_record(test_session *session, const char *payload, const cs_run_record *record) {
    char hex[65];
    cr_assert_not_null(record);
    expect_text(&record->session, session->fingerprint);
    cr_assert_eq(record->sequence, session->calls + 1);
    expect_text(&record->previous_sha256, session->previous);
    check_instance(session, &record->instance);
    request_digest(session->protocol, payload, hex);
    expect_text(&record->request_sha256, hex);
    cr_assert_leq(record->started_unix_ms, record->ended_unix_ms);
    canon_record(record, hex);
    expect_text(&record->record_sha256, hex);
    session->calls++;
    memcpy(session->previous, hex, sizeof hex);
}

void session_check_answer(test_session *session, const char *payload, const wire_end *end) {
    cr_assert_eq(end->status, 200, "status %ld: %s", end->status, end->body);
    cs_session_run_response *response = read_json(&plimsoll__v1__session_run_response__descriptor, end->body, end->len);
    cr_assert(response->run != NULL && response->run->record != NULL);
    char hex[65];
    canon_result(response->run, hex);
    cr_assert_eq(response->run->record->version, session->protocol >= 4 ? 4 : 2);
    expect_text(&response->run->record->result_sha256, hex);
    expect_text(&response->run->record->unanswered, "");
    check_record(session, payload, response->run->record);
    expect_text(&response->run->instance, session->instance);
    cs_message_free(response);
}

json_t *session_call(test_session *session, const char *payload) {
    wire_end end;
    session_send(session, payload, &end);
    session_check_answer(session, payload, &end);
    json_t *answer = json_incref(end.json);
    wire_free(&end);
    return answer;
}

/* ---- errors ---------------------------------------------------------------------------------------- */

static ProtobufCMessage *find_detail(const wire_end *end, const char *type,
                                     const ProtobufCMessageDescriptor *descriptor) {
    json_t *details = json_object_get(end->json, "details");
    for (size_t i = 0; i < json_array_size(details); i++) {
        const json_t *detail = json_array_get(details, i);
        if (strcmp(json_at(detail, "type"), type) != 0) continue;
        CS_AUTO_BUF binary = CS_BUF_INIT(65536);
        ProtobufCMessage *message = NULL;
        cs_error err = CS_ERROR_INIT;
        cr_assert(cs_base64_decode_lax(cs_view_of(json_at(detail, "value")), &binary), "%s", end->body);
        cr_assert_eq(cs_message_decode(descriptor, cs_buf_view(&binary), &message, &err), CS_OK, "%s", err.message);
        return message;
    }
    return NULL;
}

json_t *error_detail(const wire_end *end, const char *type) {
    static const struct {
        const char *type;
        const ProtobufCMessageDescriptor *descriptor;
    } known[] = {{"plimsoll.v1.NotDispatched", &plimsoll__v1__not_dispatched__descriptor},
                 {"plimsoll.v1.SessionEnded", &plimsoll__v1__session_ended__descriptor},
                 {"plimsoll.v1.UnansweredCall", &plimsoll__v1__unanswered_call__descriptor}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(type, known[i].type) != 0) continue;
        ProtobufCMessage *message = find_detail(end, type, known[i].descriptor);
        if (message == NULL) return NULL;
        CS_AUTO_BUF text = CS_BUF_INIT(65536);
        cs_error err = CS_ERROR_INIT;
        cr_assert_eq(cs_protojson_write(message, &text, &err), CS_OK, "%s", err.message);
        cs_message_free(message);
        return json_loadb((const char *)text.ptr, text.len, 0, NULL);
    }
    cr_assert_fail("no such detail: %s", type);
    return NULL;
}

void expect_session_ended(const wire_end *end, long status, const char *code, const char *reason) {
    expect_error(end, status, code, MARK_REQUEST, NULL);
    json_t *ended = error_detail(end, "plimsoll.v1.SessionEnded");
    cr_assert_not_null(ended, "%s", end->body);
    cr_assert_str_eq(json_at(ended, "reason"), reason);
    json_decref(ended);
}

void session_check_unanswered(test_session *session, const char *payload, const wire_end *end, long status,
                              const char *code) {
    cr_assert_eq(end->status, status, "status %ld: %s", end->status, end->body);
    cr_assert_str_eq(json_at(end->json, "code"), code, "%s", end->body);
    cr_assert_null(strstr(end->body, "NotDispatched"), "%s", end->body);
    cr_assert_null(wire_header(end, "Plimsoll-Not-Dispatched"));
    Plimsoll__V1__UnansweredCall *call = (Plimsoll__V1__UnansweredCall *)find_detail(
        end, "plimsoll.v1.UnansweredCall", &plimsoll__v1__unanswered_call__descriptor);
    cr_assert(call != NULL && call->record != NULL, "%s", end->body);
    cr_assert_eq(call->record->version, session->protocol >= 4 ? 4 : 3);
    expect_text(&call->record->result_sha256, "");
    expect_text(&call->record->unanswered, code);
    check_record(session, payload, call->record);
    cs_message_free(call);
}

void session_close_as(const test_session *session, const char *token, wire_end *end) {
    char body[128];
    snprintf(body, sizeof body, "{\"protocol\":%u,\"sessionId\":\"%s\"}", session->protocol, session->id);
    post(session->daemon, CLOSE, token, body, end);
}

void session_close(const test_session *session, const char *ended) {
    char calls[16];
    wire_end end;
    session_close_as(session, DAEMON_TOKEN, &end);
    snprintf(calls, sizeof calls, "%u", session->calls);
    cr_assert_eq(end.status, 200, "status %ld: %s", end.status, end.body);
    cr_assert_str_eq(json_at(end.json, "session"), session->fingerprint);
    cr_assert_str_eq(json_at(end.json, "calls"), session->calls > 0 ? calls : "");
    cr_assert_str_eq(json_at(end.json, "lastRecordSha256"), session->previous);
    cr_assert_str_eq(json_at(end.json, "ended"), ended);
    wire_free(&end);
}

/* ---- what is left ---------------------------------------------------------------------------------- */

/* Is `word` an argument of the process? */
static bool has_argument(const char *pid, const char *word) {
    char path[300], line[4096];
    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, line, sizeof line - 1) : 0;
    if (fd >= 0) close(fd);
    if (got > 0) line[got] = '\0';
    for (ssize_t i = 0; i < got; i++)
        if ((i == 0 || line[i - 1] == '\0') && strcmp(line + i, word) == 0) return true;
    return false;
}

static int look_for(const char *word, pid_t *one) {
    int count = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *entry = readdir(proc); entry != NULL; entry = readdir(proc)) {
        if (!has_argument(entry->d_name, word)) continue;
        count++;
        *one = (pid_t)atoi(entry->d_name);
    }
    closedir(proc);
    return count;
}

int count_processes(const char *word) {
    pid_t one = 0;
    return look_for(word, &one);
}

pid_t find_process(const char *word) {
    pid_t pid = 0;
    return look_for(word, &pid) > 0 ? pid : 0;
}

char process_state(pid_t pid) {
    char path[64], line[1024] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 'X';
    ssize_t got = read(fd, line, sizeof line - 1);
    close(fd);
    const char *after = got > 0 ? strrchr(line, ')') : NULL;
    return after != NULL ? after[2] : 'X';
}

const char *session_folder(const test_session *session) {
    static char path[256];
    char pattern[128];
    glob_t found;
    snprintf(pattern, sizeof pattern, "/tmp/localdaemon*/*/work/%s", session->id);
    path[0] = '\0';
    if (glob(pattern, 0, NULL, &found) == 0) {
        snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
        *strrchr(path, '/') = '\0';
        globfree(&found);
    }
    return path;
}

void session_mark(test_session *session) {
    char payload[128];
    snprintf(payload, sizeof payload, SHELL("touch %s"), session->id);
    json_decref(session_call(session, payload));
    cr_assert_str_neq(session_folder(session), "");
}

void await_no_folder(const test_session *session) {
    for (int i = 0; i < 5000 && session_folder(session)[0] != '\0'; i++)
        usleep(2000);
    cr_assert_str_eq(session_folder(session), "");
}
