/* The same work: is its result the same everywhere, and was it done often enough? */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gate/judge_internal.h"
#include "records/digest.h"
#include "records/text.h"

/* ---- what the same work is -------------------------------------------------------------------------------- */

/* The request without its protocol number and its floor, which say where it may run and not what it is. */
static cs_result work_of_request(const cs_run_request *request, cs_digest *out, cs_error *err) {
    cs_run_request bare = *request; /* borrows every part */
    bare.protocol = 2;
    bare.minimum_isolation = (ProtobufCBinaryData){.len = 0};
    return cs_digest_request(&bare, out, err);
}

static cs_gate_chain *find_chain(cs_gate_evidence *evidence, cs_view session) {
    for (size_t i = evidence->chain_count; i > 0; i--)
        if (cs_view_equal(cs_digest_view(&evidence->chains[i - 1].session), session)) return &evidence->chains[i - 1];
    return NULL;
}

void cs_gate_chain_close(cs_gate_evidence *evidence, const cs_digest *session) {
    cs_gate_chain *chain = find_chain(evidence, cs_digest_view(session));
    if (chain != NULL) *chain = evidence->chains[--evidence->chain_count];
}

static cs_result open_chain(cs_gate_evidence *evidence, cs_view session, cs_gate_chain **out, cs_error *err) {
    *out = find_chain(evidence, session);
    if (*out != NULL) return CS_OK;
    if (evidence->chains == NULL || evidence->chain_count == evidence->chain_room) {
        size_t room = evidence->chain_room == 0 ? 16 : evidence->chain_room * 2;
        cs_gate_chain *chains = realloc(evidence->chains, room * sizeof *chains);
        if (chains == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the open sessions");
        evidence->chains = chains;
        evidence->chain_room = room;
    }
    *out = &evidence->chains[evidence->chain_count++];
    **out = (cs_gate_chain){.session = {.hex = ""}};
    memcpy((*out)->session.hex, session.ptr, session.len < CS_SHA256_HEX ? session.len : CS_SHA256_HEX);
    return CS_OK;
}

/* What a call of a session does depends on the calls before it, so its work is all of them. */
cs_result cs_gate_work_of(cs_gate_evidence *evidence, const cs_verified_run *run, uint8_t out[CS_SHA256_BYTES],
                          cs_error *err) {
    cs_digest work;
    cs_gate_chain *chain = NULL;
    cs_result result = work_of_request(run->request, &work, err);
    if (result == CS_OK && run->in_session)
        result = open_chain(evidence, cs_bytes_view(&run->record->session), &chain, err);
    if (result != CS_OK) return result;
    cs_sha256 *hash = cs_sha256_new();
    if (hash == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to hash");
    if (chain != NULL) cs_sha256_update(hash, chain->work, sizeof chain->work);
    cs_sha256_update(hash, work.hex, CS_SHA256_HEX);
    bool good = cs_sha256_final(hash, out);
    cs_sha256_free(hash);
    if (!good) return cs_fail(err, CS_CODE_INTERNAL, "the digest of a request can't be computed");
    if (chain != NULL) memcpy(chain->work, out, CS_SHA256_BYTES);
    return CS_OK;
}

/* ---- the rules --------------------------------------------------------------------------------------------- */

/* By work, then result, then provider. */
static int compare(const void *left, const void *right) {
    const cs_gate_kept *a = left;
    const cs_gate_kept *b = right;
    int order = memcmp(a->work, b->work, sizeof a->work);
    if (order == 0) order = memcmp(a->result, b->result, sizeof a->result);
    if (order != 0) return order;
    if (a->provider != b->provider) return a->provider < b->provider ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

typedef struct counted {
    bool differs;
    const cs_gate_kept *one; /* two that differ */
    const cs_gate_kept *other;
    bool enough;
    uint64_t providers; /* of the work that comes nearest */
    uint64_t runs;
} counted;

/* One work with one result, from `begin` to before `end`. */
static void count_group(const cs_policy_requirement *requirement, const cs_gate_kept *begin, const cs_gate_kept *end,
                        counted *out) {
    uint64_t providers = 1;
    for (const cs_gate_kept *at = begin + 1; at < end; at++)
        if (at->provider != at[-1].provider) providers++;
    uint64_t runs = (uint64_t)(end - begin);
    if (providers >= requirement->reproduced_providers && runs >= requirement->reproduced_runs) out->enough = true;
    if (providers < out->providers || (providers == out->providers && runs <= out->runs)) return;
    out->providers = providers;
    out->runs = runs;
}

static void count_all(const cs_policy_requirement *requirement, const cs_gate_kept *kept, size_t count, counted *out) {
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        bool same_work = begin > 0 && memcmp(kept[begin].work, kept[begin - 1].work, CS_SHA256_BYTES) == 0;
        if (same_work && !out->differs) {
            out->differs = true;
            out->one = &kept[begin - 1];
            out->other = &kept[begin];
        }
        while (end < count && memcmp(kept[end].work, kept[begin].work, CS_SHA256_BYTES) == 0 &&
               memcmp(kept[end].result, kept[begin].result, CS_SHA256_BYTES) == 0)
            end++;
        count_group(requirement, kept + begin, kept + end, out);
    }
}

/* What differs, and what is too few already, is the more specific reason. */
static void judge(const counted *c, bool too_few, cs_gate_finding *reproduced, cs_gate_finding *same) {
    if (c->differs)
        cs_gate_refuse(same, CS_CODE_GATE_RESULT_DIFFERS,
                       "the same work has another result in entry %" PRIu64 " than in entry %" PRIu64 "%s; "
                       "`countersign diff` shows where; an artifact that holds times differs each time",
                       c->other->entry, c->one->entry,
                       c->one->source == c->other->source ? "" : ", which are in two sources");
    else
        cs_gate_pass(same, "no two results of the same work differ");
    if (c->enough)
        cs_gate_pass(reproduced, "the same result on %" PRIu64 " %s in %" PRIu64 " %s", c->providers,
                     cs_plural(c->providers, "provider", "providers"), c->runs, cs_plural(c->runs, "run", "runs"));
    else if (c->differs)
        cs_gate_leave(reproduced, "results differ");
    else if (too_few)
        cs_gate_leave(reproduced, "too few records count");
    else
        cs_gate_refuse(reproduced, CS_CODE_GATE_NOT_REPRODUCED,
                       "no work has the same result on so many providers in so many runs; the nearest has %" PRIu64
                       " %s and %" PRIu64 " %s",
                       c->providers, cs_plural(c->providers, "provider", "providers"), c->runs,
                       cs_plural(c->runs, "run", "runs"));
}

bool cs_gate_judge_results(const cs_policy_requirement *requirement, const cs_gate_tally *tally,
                           cs_gate_finding *reproduced, cs_gate_finding *same) {
    if (requirement->reproduced_providers == 0 && requirement->reproduced_runs == 0) return true;
    if (tally->count == 0) {
        cs_gate_leave(reproduced, "no record counts");
        cs_gate_leave(same, "no record counts");
        return true;
    }
    cs_gate_kept *kept = malloc(tally->count * sizeof *kept);
    if (kept == NULL) return false;
    memcpy(kept, tally->kept, tally->count * sizeof *kept);
    qsort(kept, tally->count, sizeof *kept, compare);
    counted c = {.differs = false};
    count_all(requirement, kept, tally->count, &c);
    judge(&c, tally->count < requirement->min_records, reproduced, same);
    free(kept);
    return true;
}
