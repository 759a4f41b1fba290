/* Who may call. The clients file holds hashes of tokens, never a token:
 *
 *   {"clients":[{"id":"ci","token_sha256":"<64 hex digits>","scopes":["code:run"]}]}
 *
 * Unknown members, double ones, double ids and double hashes are refused. */
#ifndef LD_CLIENTS_H
#define LD_CLIENTS_H

#include "records/error.h"
#include "records/sha256.h"

#define LD_SCOPE_RUN "code:run"
#define LD_MAX_CLIENTS 1000u

typedef struct ld_client {
    char id[65]; /* [A-Za-z0-9._-]{1,64} */
    char token_sha256[CS_SHA256_HEX + 1];
    bool may_run;
} ld_client;

typedef struct ld_clients {
    ld_client *list;
    size_t count;
} ld_clients;

/* Gives *out (ld_clients_free). CS_UNCHECKED when the file can't be read or is malformed. */
CS_MUST_CHECK cs_result ld_clients_load(const char *path, ld_clients *out, cs_error *err);
void ld_clients_free(ld_clients *clients);

/* The client with this token, or NULL. The time taken does not depend on how much of a hash agrees. */
const ld_client *ld_clients_find(const ld_clients *clients, cs_view token);

#endif
