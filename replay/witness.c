#include "replay/witness.h"

#include <stdlib.h>
#include <string.h>

#include "records/text.h"
#include "replay/trial.h"

void cs_witness_begin(cs_witness *witness, const cs_replay_options *options, cs_client *client,
                      cs_replay_check *check) {
    *witness = (cs_witness){.client = client};
    if (check == NULL) return;
    witness->options = options;
    witness->check = check;
    cs_escape_short(cs_view_of(cs_client_url(client)), check->url, sizeof check->url);
    check->result = cs_fail(&check->err, CS_CODE_TIER_PROBE,
                            "none of its runs passed its checks, so there is no claim to cross-check");
}

/* Ask the rules; what they say takes the place of what they said before. */
static void judge(cs_witness *witness, const cs_tiers_options *options) {
    cs_replay_check *check = witness->check;
    if (check->made) cs_tiers_free(&check->tiers);
    check->made = true;
    check->depth = options->depth;
    check->result = cs_tiers_check(options, &check->tiers);
    check->err = check->tiers.err;
    memset(check->tiers.seen.said, 0, sizeof check->tiers.seen.said); /* it borrows from runs that are over */
}

/* ---- statements ----------------------------------------------------------------------------------- */

static bool same_said(const cs_said *a, const cs_said *b) {
    for (size_t i = 0; i < CS_SAID_PLACES; i++)
        if (!cs_view_equal(a->tier[i], b->tier[i]) || !cs_view_equal(a->provider[i], b->provider[i]) ||
            !cs_view_equal(a->policy[i], b->policy[i]))
            return false;
    return true;
}

static bool was_heard(const cs_witness *witness, const cs_said *said, cs_view environment) {
    for (size_t i = 0; i < witness->count; i++)
        if (same_said(&witness->heard[i].said, said) && cs_view_equal(witness->heard[i].environment, environment))
            return true;
    return false;
}

/* Move a text to where it stays. */
static void keep(cs_view *text, char **end) {
    if (text->len > 0) memcpy(*end, text->ptr, text->len);
    if (text->ptr != NULL) text->ptr = (const uint8_t *)*end;
    *end += text->len;
}

static bool remember(cs_witness *witness, const cs_said *said, cs_view environment) {
    size_t size = environment.len + 1;
    for (size_t i = 0; i < CS_SAID_PLACES; i++)
        size += said->tier[i].len + said->provider[i].len + said->policy[i].len;
    cs_testimony *now = &witness->heard[witness->count];
    *now = (cs_testimony){.text = malloc(size), .said = *said, .environment = environment};
    if (now->text == NULL) return false;
    char *end = now->text;
    for (size_t i = 0; i < CS_SAID_PLACES; i++) {
        keep(&now->said.tier[i], &end);
        keep(&now->said.provider[i], &end);
        keep(&now->said.policy[i], &end);
    }
    keep(&now->environment, &end);
    now->said.floor = (cs_view){0}; /* the record was checked against its own request's */
    witness->count++;
    return true;
}

/* A daemon that is refuted, or that could not be followed, stays so. */
static bool is_settled(const cs_witness *witness) {
    return witness->options == NULL || (witness->count > 0 && witness->check->result != CS_OK);
}

void cs_witness_hear(cs_witness *witness, const cs_run_report *run, const cs_outcome *described) {
    if (is_settled(witness) || run->result != CS_OK || run->checked.record == NULL) return;
    cs_replay_check *check = witness->check;
    cs_said said;
    cs_tiers_said(run, &said);
    cs_view environment = cs_bytes_view(&run->checked.record->environment);
    if (was_heard(witness, &said, environment)) return;
    if (witness->count == CS_WITNESS_MAX) {
        check->result =
            cs_fail(&check->err, CS_CODE_TIER_PROBE,
                    "the daemon states more than %u environments; no claim of it can be followed", CS_WITNESS_MAX);
        return;
    }
    cs_tiers_options options = {.run = cs_trial_options(witness->options, witness->client),
                                .depth = CS_DEPTH_STATEMENTS,
                                .of = run,
                                .described = described,
                                .earlier = witness->count > 0 ? &witness->heard[0].said : NULL};
    judge(witness, &options);
    if (!remember(witness, &said, environment))
        check->result = cs_fail(&check->err, CS_CODE_NO_MEMORY, "there is no memory for what the daemon states");
}

/* ---- the end -------------------------------------------------------------------------------------- */

static void probe(cs_witness *witness) {
    cs_tiers_options options = {.run = cs_trial_options(witness->options, witness->client),
                                .depth = witness->options->depth,
                                .earlier = &witness->heard[0].said};
    judge(witness, &options);
}

void cs_witness_end(cs_witness *witness) {
    if (!is_settled(witness) && witness->count > 0 && witness->options->depth != CS_DEPTH_STATEMENTS) probe(witness);
    for (size_t i = 0; i < witness->count; i++)
        free(witness->heard[i].text);
    witness->count = 0;
}
