#include "tests/harness/client_case.h"

#include <criterion/criterion.h>
#include <stdio.h>

void client_case_run(client_case *c) {
    c->peer = peer_start(c->steps, c->count, c->tls);
    cr_assert_not_null(c->peer);
    char url[256];
    (void)snprintf(url, sizeof url, "%s%s", peer_url(c->peer), c->url_suffix == NULL ? "" : c->url_suffix);
    c->config.base_url = c->url == NULL ? url : c->url;
    if (c->config.timeout_ms == 0) c->config.timeout_ms = 20000;

    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_client_new(&c->config, &c->client, &err), CS_OK, "%s", err.message);
    ProtobufCMessage *request = NULL;
    cs_view bytes = CASE_BYTES(CASE_REQUEST);
    cr_assert_eq(cs_message_decode(&plimsoll__v1__run_request__descriptor, bytes, &request, &err), CS_OK);
    c->result = cs_client_run(c->client, (const cs_run_request *)request, bytes, &c->outcome);
    cs_message_free(request);
    peer_stop(c->peer);
}

void client_case_end(client_case *c) {
    cs_outcome_free(&c->outcome);
    cs_client_free(c->client);
    peer_free(c->peer);
}

void client_case_step(client_case *c, const peer_step *step) {
    *c = (client_case){.steps = step, .count = 1};
    client_case_run(c);
}
