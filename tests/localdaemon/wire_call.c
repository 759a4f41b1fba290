#include "tests/localdaemon/wire_call.h"

#include <curl/curl.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct text {
    char *ptr;
    size_t len;
} text;

static size_t keep(char *data, size_t size, size_t count, void *to) {
    text *into = to;
    size_t len = size * count;
    into->ptr = realloc(into->ptr, into->len + len + 1);
    if (into->ptr == NULL) abort();
    memcpy(into->ptr + into->len, data, len);
    into->len += len;
    into->ptr[into->len] = '\0';
    return len;
}

typedef struct source {
    const char *ptr;
    size_t left;
} source;

static size_t give(char *to, size_t size, size_t count, void *from) {
    source *rest = from;
    size_t len = size * count < rest->left ? size * count : rest->left;
    memcpy(to, rest->ptr, len);
    rest->ptr += len;
    rest->left -= len;
    return len;
}

static struct curl_slist *make_headers(const wire_how *how) {
    static const wire_how usual = {
        .headers = {"Authorization: Bearer " DAEMON_TOKEN, "Content-Type: " JSON, "Plimsoll-Request-Id: " REQUEST_ID}};
    if (how == NULL) how = &usual;
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    for (size_t i = 0; i < sizeof how->headers / sizeof how->headers[0] && how->headers[i] != NULL; i++)
        list = curl_slist_append(list, how->headers[i]);
    if (how->chunked) list = curl_slist_append(list, "Transfer-Encoding: chunked");
    return list;
}

void wire_call(const test_daemon *daemon, const char *path, const wire_how *how, const void *body, size_t len,
               wire_end *end) {
    memset(end, 0, sizeof *end);
    char url[512];
    snprintf(url, sizeof url, "%s%s", daemon->url, path);
    text answer = {0}, headers = {0};
    source from = {.ptr = body, .left = len};
    struct curl_slist *list = make_headers(how);
    CURL *curl = curl_easy_init();
    cr_assert_not_null(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 100L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &headers);
    if (how != NULL && how->method != NULL) {
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, how->method);
    } else {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, give);
        curl_easy_setopt(curl, CURLOPT_READDATA, &from);
        if (how == NULL || !how->chunked) curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
    }
    if (curl_easy_perform(curl) == CURLE_OK) curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &end->status);
    curl_easy_cleanup(curl);
    curl_slist_free_all(list);
    end->body = answer.ptr != NULL ? answer.ptr : strdup("");
    end->len = answer.len;
    end->headers = headers.ptr != NULL ? headers.ptr : strdup("");
    end->json = json_loadb(end->body, end->len, 0, NULL);
}

void wire_free(wire_end *end) {
    free(end->body);
    free(end->headers);
    json_decref(end->json);
    memset(end, 0, sizeof *end);
}

void wire_json(const test_daemon *daemon, const char *path, const char *body, wire_end *end) {
    wire_call(daemon, path, NULL, body, strlen(body), end);
}

json_t *wire_run(const test_daemon *daemon, const char *fmt, ...) {
    char *body = NULL;
    va_list args;
    va_start(args, fmt);
    int len = vasprintf(&body, fmt, args);
    va_end(args);
    cr_assert_geq(len, 0);
    wire_end end;
    wire_json(daemon, RUN, body, &end);
    free(body);
    cr_assert_eq(end.status, 200, "status %ld: %s", end.status, end.body);
    cr_assert_not_null(end.json);
    json_t *answer = json_incref(end.json);
    wire_free(&end);
    return answer;
}

const char *wire_header(const wire_end *end, const char *name) {
    static char value[256];
    size_t len = strlen(name);
    for (const char *line = end->headers; line != NULL && *line != '\0';
         line = strchr(line, '\n'), line += line != NULL) {
        if (strncasecmp(line, name, len) != 0 || line[len] != ':') continue;
        snprintf(value, sizeof value, "%s", line + len + 1 + strspn(line + len + 1, " "));
        value[strcspn(value, "\r\n")] = '\0';
        return value;
    }
    return NULL;
}

static const json_t *find(const json_t *value, const char *path) {
    char part[64];
    while (value != NULL && *path != '\0') {
        size_t len = strcspn(path, "/");
        snprintf(part, sizeof part, "%.*s", (int)len, path);
        path += len + (path[len] == '/');
        value = json_is_array(value) ? json_array_get(value, strtoul(part, NULL, 10)) : json_object_get(value, part);
    }
    return value;
}

const char *json_at(const json_t *value, const char *path) {
    static char number[32];
    const json_t *found = find(value, path);
    if (json_is_string(found)) return json_string_value(found);
    if (json_is_true(found)) return "true";
    snprintf(number, sizeof number, "%s", "");
    if (json_is_integer(found)) snprintf(number, sizeof number, "%lld", (long long)json_integer_value(found));
    return number;
}

const char *json_bytes_at(const json_t *value, const char *path) {
    static unsigned char bytes[1024 * 1024];
    const char *base64 = json_at(value, path);
    size_t len = strlen(base64);
    cr_assert_lt(len, sizeof bytes);
    int got = EVP_DecodeBlock(bytes, (const unsigned char *)base64, (int)len);
    cr_assert_geq(got, 0, "%s is no base64: %s", path, base64);
    while (len > 0 && base64[len - 1] == '=') {
        got--;
        len--;
    }
    bytes[got < 0 ? 0 : got] = '\0';
    return (const char *)bytes;
}

void expect_error(const wire_end *end, long status, const char *code, const char *body_mark, const char *header_mark) {
    cr_assert_eq(end->status, status, "status %ld: %s", end->status, end->body);
    cr_assert_str_eq(json_at(end->json, "code"), code, "%s", end->body);
    cr_assert_str_eq(json_at(end->json, "details/0/value"), body_mark != NULL ? body_mark : "", "%s", end->body);
    if (body_mark != NULL) cr_assert_str_eq(json_at(end->json, "details/0/type"), "plimsoll.v1.NotDispatched");
    const char *header = wire_header(end, "Plimsoll-Not-Dispatched");
    cr_assert_str_eq(header != NULL ? header : "", header_mark != NULL ? header_mark : "");
}
