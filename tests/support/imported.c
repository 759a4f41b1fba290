#include "tests/support/imported.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/forge.h"

static cs_view text(const char *from, size_t len) {
    return (cs_view){.ptr = (const uint8_t *)forge_text("%.*s", (int)len, from), .len = len};
}

static cs_view decoded(const char *base64, size_t len) {
    char *bytes = forge_text("%*s", (int)len + 1, "");
    int size = EVP_DecodeBlock((unsigned char *)bytes, (const unsigned char *)base64, (int)len);
    if (size < 0) abort();
    while (len > 0 && base64[len - 1] == '=') {
        size--;
        len--;
    }
    return (cs_view){.ptr = (const uint8_t *)bytes, .len = (size_t)size};
}

/* The base64 text behind `name`, which is that of a member with its quotes and colon; absent without it. */
static cs_view message(const char *line, const char *name) {
    const char *at = strstr(line, name);
    if (at == NULL) return (cs_view){0};
    at += strlen(name);
    return decoded(at, strcspn(at, "\""));
}

/* The object behind `name` up to `end`. */
static cs_view object(const char *line, const char *name, const char *end) {
    const char *at = strstr(line, name);
    if (at == NULL) return (cs_view){0};
    at += strlen(name);
    return text(at, (size_t)(end - at));
}

/* The digest that a signed record states of itself, which is the last thing in its statement. */
static cs_view record_of(cs_view envelope) {
    cs_view payload = message((const char *)envelope.ptr, "\"payload\":\"");
    const char *statement = (const char *)text((const char *)payload.ptr, payload.len).ptr;
    const char *at = strstr(statement, "\"record_sha256\":\"");
    return at == NULL ? text("", 0) : text(at + strlen("\"record_sha256\":\""), 64);
}

cs_ledger_row imported_row(const char *line) {
    const char *end = line + strlen(line) - 1;
    const char *link = strstr(line, "\"link\":");
    cs_ledger_row row = {.added_unix_ms = 1790000000500, .daemon = text("", 0), .code = text("", 0)};
    row.detail = text("", 0);
    row.request = message(line, "\"request\":\"");
    row.response = message(line, "\"response\":\"");
    row.envelope = object(line, "\"envelope\":", link != NULL ? link - 1 : end);
    row.link = object(line, "\"link\":", end);
    row.record_sha256 = row.request.ptr != NULL ? record_of(row.envelope) : text("", 0);
    const char *kind = row.response.ptr != NULL   ? CS_KIND_RUN
                       : row.request.ptr != NULL  ? CS_KIND_UNANSWERED
                       : row.envelope.ptr != NULL ? CS_KIND_CLOSE
                                                  : CS_KIND_CHECKPOINT;
    row.kind = text(kind, strlen(kind));
    return row;
}
