#include "examples/localdaemon/headers.h"

#include "records/text.h"
#include "records/wire.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Counts decide: a header that must be single and is given twice counts as not given. */
typedef struct reading {
    ld_headers *out;
    unsigned authorizations;
    unsigned ids;
    unsigned hosts;
} reading;

static void read_authorization(reading *to, const char *value) {
    to->out->token = cs_view_of("");
    if (++to->authorizations > 1 || strncasecmp(value, "Bearer ", 7) != 0) return;
    to->out->token = cs_view_of(value + 7);
}

static void read_id(reading *to, const char *value) {
    to->out->request_id = NULL;
    if (++to->ids == 1 && cs_is_hex(cs_view_of(value), CS_REQUEST_ID_DIGITS)) to->out->request_id = value;
}

/* "application/json; charset=utf-8" is the type "application/json". */
static void read_type(reading *to, const char *value) {
    size_t len = strcspn(value, "; \t");
    to->out->types++;
    to->out->json = len == strlen(CS_TYPE_JSON) && strncasecmp(value, CS_TYPE_JSON, len) == 0;
    to->out->type_known =
        to->out->json || (len == strlen(CS_TYPE_BINARY) && strncasecmp(value, CS_TYPE_BINARY, len) == 0);
}

/* A port, or nothing, after the host. */
static bool ends_host(const char *rest) {
    return *rest == '\0' || (*rest == ':' && strspn(rest + 1, "0123456789") == strlen(rest + 1));
}

static void read_host(reading *to, const char *value) {
    size_t numeric = strncmp(value, "127.", 4) == 0 ? strspn(value, "0123456789.") : 0;
    bool local = (numeric > 0 && ends_host(value + numeric)) ||
                 (strncasecmp(value, "localhost", 9) == 0 && ends_host(value + 9)) ||
                 (strncmp(value, "[::1]", 5) == 0 && ends_host(value + 5));
    to->out->local_host = ++to->hosts == 1 && local;
}

static enum MHD_Result read_one(void *cls, enum MHD_ValueKind kind, const char *name, const char *value) {
    reading *to = cls;
    (void)kind;
    if (value == NULL) value = "";
    if (strcasecmp(name, "Authorization") == 0) read_authorization(to, value);
    if (strcasecmp(name, CS_HEADER_REQUEST_ID) == 0) read_id(to, value);
    if (strcasecmp(name, "Content-Type") == 0) read_type(to, value);
    if (strcasecmp(name, "Host") == 0) read_host(to, value);
    if (strcasecmp(name, "Connect-Protocol-Version") == 0 && strcmp(value, "1") != 0) to->out->version_wrong = true;
    if (strcasecmp(name, "Content-Encoding") == 0 && strcasecmp(value, "identity") != 0) to->out->encoded = true;
    if (strcasecmp(name, "Transfer-Encoding") == 0) to->out->has_body = true;
    if (strcasecmp(name, "Content-Length") == 0) {
        unsigned long long length = strtoull(value, NULL, 10);
        if (length > 0) to->out->has_body = true;
        if (length > CS_MAX_REQUEST_BYTES) to->out->length_too_big = true;
    }
    return MHD_YES;
}

void ld_headers_read(struct MHD_Connection *connection, const char *method, ld_headers *out) {
    *out = (ld_headers){.token = cs_view_of("")};
    size_t len = strlen(method);
    if (len >= sizeof(out->method)) {
        method = "?";
        len = 1;
    }
    memcpy(out->method, method, len + 1);
    reading to = {.out = out};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, read_one, &to);
}

const char *ld_headers_wrong(const ld_headers *headers, int *status) {
    *status = 0;
    if (strcmp(headers->method, "POST") != 0) {
        *status = MHD_HTTP_METHOD_NOT_ALLOWED;
        return "the method is not POST";
    }
    if (headers->types != 1 || !headers->type_known) {
        *status = MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
        return "the Content-Type is neither application/proto nor application/json";
    }
    if (headers->version_wrong) return "the Connect-Protocol-Version is not 1";
    if (headers->encoded) return "a Content-Encoding is not understood here";
    if (headers->length_too_big) return LD_TOO_LARGE;
    return NULL;
}
