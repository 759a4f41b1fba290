#include "examples/localdaemon/clients.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of no bytes. */
#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static cs_result malformed(cs_error *err, const char *path, const char *what) {
    return cs_fail(
        err, CS_CODE_JSON_MALFORMED,
        "%s is no clients file: %s; expected {\"clients\":[{\"id\":\"ci\",\"token_sha256\":\"<64 hex digits>\","
        "\"scopes\":[\"code:run\"]}]}",
        path, what);
}

static bool id_is_valid(const char *id) {
    size_t len = strlen(id);
    return len >= 1 && len <= 64 &&
           strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

/* A string member without a NUL inside; NULL otherwise. */
static const char *text_member(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    const char *text = json_string_value(value);
    return text != NULL && strlen(text) == json_string_length(value) ? text : NULL;
}

static const char *read_scopes(const json_t *scopes, ld_client *out) {
    if (!json_is_array(scopes)) return "scopes is no list";
    for (size_t i = 0; i < json_array_size(scopes); i++) {
        const char *scope = json_string_value(json_array_get(scopes, i));
        if (scope == NULL || strcmp(scope, LD_SCOPE_RUN) != 0)
            return "a scope is not \"code:run\", the only one there is";
        out->may_run = true;
    }
    return NULL;
}

/* NULL, or what is wrong. */
static const char *read_client(const json_t *entry, ld_client *out) {
    *out = (ld_client){0};
    if (!json_is_object(entry) || json_object_size(entry) != 3)
        return "a client has other members than id, token_sha256 and scopes";
    const char *id = text_member(entry, "id");
    const char *hash = text_member(entry, "token_sha256");
    if (id == NULL || !id_is_valid(id)) return "an id is not 1 to 64 of the characters A-Z a-z 0-9 . _ -";
    if (hash == NULL || !cs_is_hex(cs_view_of(hash), CS_SHA256_HEX))
        return "a token_sha256 is not 64 lowercase hex digits";
    if (strcmp(hash, EMPTY_SHA256) == 0)
        return "a token_sha256 is that of no text at all: the token was empty when it was made";
    memcpy(out->id, id, strlen(id) + 1);
    memcpy(out->token_sha256, hash, CS_SHA256_HEX + 1);
    return read_scopes(json_object_get(entry, "scopes"), out);
}

static const char *read_list(const json_t *list, ld_clients *out) {
    size_t count = json_array_size(list);
    if (count == 0 || count > LD_MAX_CLIENTS) return "clients is no list of 1 to 1000 clients";
    out->list = calloc(count, sizeof(*out->list));
    if (out->list == NULL) return "no memory";
    for (size_t i = 0; i < count; i++) {
        const char *wrong = read_client(json_array_get(list, i), &out->list[i]);
        if (wrong != NULL) return wrong;
        for (size_t j = 0; j < i; j++) {
            if (strcmp(out->list[j].id, out->list[i].id) == 0) return "an id occurs twice";
            if (strcmp(out->list[j].token_sha256, out->list[i].token_sha256) == 0) return "a token_sha256 occurs twice";
        }
        out->count = i + 1;
    }
    return NULL;
}

/* Whoever can write the file decides who may run code. */
static cs_result open_file(const char *path, int *out, cs_error *err) {
    struct stat st;
    *out = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*out < 0 || fstat(*out, &st) != 0)
        return cs_fail(err, CS_CODE_IO, "the clients file %s can't be read: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode)) return cs_fail(err, CS_CODE_IO, "the clients file %s is no regular file", path);
    if ((st.st_mode & 022) != 0)
        return cs_fail(err, CS_CODE_IO, "others may write the clients file %s (mode %03o); chmod go-w %s", path,
                       (unsigned)(st.st_mode & 0777), path);
    return CS_OK;
}

cs_result ld_clients_load(const char *path, ld_clients *out, cs_error *err) {
    *out = (ld_clients){0};
    int fd = -1;
    cs_result result = open_file(path, &fd, err);
    json_error_t where;
    json_t *root = result == CS_OK ? json_loadfd(fd, JSON_REJECT_DUPLICATES, &where) : NULL;
    if (fd >= 0) close(fd);
    if (result != CS_OK) return result;
    if (root == NULL) return malformed(err, path, where.text);
    const char *wrong = "the document has other members than clients";
    if (json_is_object(root) && json_object_size(root) == 1 && json_is_array(json_object_get(root, "clients")))
        wrong = read_list(json_object_get(root, "clients"), out);
    json_decref(root);
    if (wrong == NULL) return CS_OK;
    ld_clients_free(out);
    return malformed(err, path, wrong);
}

void ld_clients_free(ld_clients *clients) {
    free(clients->list);
    *clients = (ld_clients){0};
}

const ld_client *ld_clients_find(const ld_clients *clients, cs_view token) {
    cs_digest digest;
    if (token.len == 0 || !cs_sha256_once(token, &digest)) return NULL;
    const ld_client *found = NULL;
    for (size_t i = 0; i < clients->count; i++)
        if (CRYPTO_memcmp(clients->list[i].token_sha256, digest.hex, CS_SHA256_HEX) == 0) found = &clients->list[i];
    return found;
}
