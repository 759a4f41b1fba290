/* What a request's headers say, each header read once and strictly. */
#ifndef LD_HEADERS_H
#define LD_HEADERS_H

#include "records/base.h"

struct MHD_Connection;

#define LD_TOO_LARGE "the request is larger than 8 MiB"

/* All text borrows from the connection until the request has been answered. */
typedef struct ld_headers {
    char method[8];         /* "?" when longer */
    cs_view token;          /* of exactly one `Authorization: Bearer` */
    const char *request_id; /* exactly one, well formed; NULL otherwise: not copied onto the answer */
    bool local_host;        /* Host is a loopback address or localhost */
    bool json;
    unsigned types; /* how many Content-Type */
    bool type_known;
    bool version_wrong;  /* a Connect-Protocol-Version that isn't 1 */
    bool encoded;        /* a Content-Encoding that isn't identity */
    bool has_body;       /* a Content-Length above 0, or a Transfer-Encoding */
    bool length_too_big; /* Content-Length above CS_MAX_REQUEST_BYTES */
} ld_headers;

void ld_headers_read(struct MHD_Connection *connection, const char *method, ld_headers *out);

/* What makes a call of these headers impossible, or NULL. *status is the HTTP status for it. */
const char *ld_headers_wrong(const ld_headers *headers, int *status);

#endif
