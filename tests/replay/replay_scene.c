#include "tests/replay/replay_scene.h"

#include <criterion/criterion.h>

#include "tests/support/canon.h"
#include "tests/support/live_client.h"

void replay_scene_set_item(replay_scene *c) {
    c->item = (cs_replay_item){.entry = 5, .request = c->stored.request, .response = c->stored.response};
    canon_request(c->stored.request, c->item.request_sha256.hex);
    canon_result(c->stored.response, c->item.result_sha256.hex);
    c->plan = (cs_replay_plan){.items = &c->item, .count = 1};
}

void replay_scene_begin(replay_scene *c) {
    *c = (replay_scene){.count = 1, .err = CS_ERROR_INIT};
    sample_init(&c->stored);
    replay_scene_set_item(c);
}

void replay_scene_run(replay_scene *c, const cs_replay_options *options) {
    for (size_t i = 0; i < c->count; i++)
        c->clients[i] = live_client(&c->scripts[i], &c->peers[i]);
    cs_replay_options whole = *options;
    whole.clients = c->clients;
    whole.client_count = c->count;
    whole.skew_ms = CS_DEFAULT_SKEW_MS;
    c->result = cs_replay_run(&c->plan, &whole, &c->report, &c->err);
    for (size_t i = 0; i < c->count; i++)
        peer_stop(c->peers[i]);
}

void replay_scene_expect_end(const replay_scene *c, cs_result result, cs_code code, cs_replay_verdict row) {
    cr_expect_eq(c->result, result, "%s: %s", cs_result_word(c->result), c->err.message);
    if (result != CS_OK) cr_expect_eq(c->err.code, code, "%s: %s", cs_code_name(c->err.code), c->err.message);
    cr_expect_eq(c->report.rows[0].verdict, row, "%s", cs_replay_verdict_word(c->report.rows[0].verdict));
}

void replay_scene_end(replay_scene *c) {
    cs_replay_report_free(&c->report);
    for (size_t i = 0; i < c->count; i++) {
        cs_client_free(c->clients[i]);
        peer_free(c->peers[i]);
        live_free(&c->scripts[i]);
    }
    sample_free(&c->stored);
}
