/* What comes together of all records: those that count, the nearest that does not, what failed, what the base had. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "gate/judge_internal.h"

#define MAX_NAMES 65536u
#define MAX_NAME_BYTES 4096u
#define MAX_COPIED ((size_t)64 << 20)

/* Room for one more of an array that doubles. */
static cs_result make_room(void **items, size_t count, size_t *room, size_t size, cs_error *err) {
    if (count < *room) return CS_OK;
    size_t more = *room == 0 ? 64 : *room * 2;
    void *grown = more > SIZE_MAX / size / 2 ? NULL : realloc(*items, more * size);
    if (grown == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for what is known of the records");
    *items = grown;
    *room = more;
    return CS_OK;
}

static void bytes_of(const cs_digest *digest, uint8_t out[CS_SHA256_BYTES]) {
    if (sodium_hex2bin(out, CS_SHA256_BYTES, digest->hex, CS_SHA256_HEX, NULL, NULL, NULL) != 0)
        memset(out, 0, CS_SHA256_BYTES);
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* The place of a text in the list, from 1; 0 for an empty one. Providers, policies and daemons are few. What is too
 * long for the list, or holds a NUL, has the name of its digest. */
cs_result cs_gate_name(cs_gate_evidence *evidence, cs_view text, uint32_t *out, cs_error *err) {
    cs_digest digest;
    *out = 0;
    if (text.len == 0) return CS_OK;
    if (text.len > MAX_NAME_BYTES || memchr(text.ptr, 0, text.len) != NULL) {
        if (!cs_sha256_once(text, &digest)) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to name a provider");
        text = cs_digest_view(&digest);
    }
    for (size_t i = 0; i < evidence->name_count; i++) {
        if (!cs_view_is(text, evidence->names[i])) continue;
        *out = (uint32_t)i + 1;
        return CS_OK;
    }
    if (evidence->name_count >= MAX_NAMES)
        return cs_fail(err, CS_CODE_NO_MEMORY, "there are more than %u providers, policies, environments and daemons",
                       MAX_NAMES);
    size_t count = evidence->name_count;
    char **names = count % 64 != 0 ? evidence->names : realloc(evidence->names, (count + 64) * sizeof *names);
    char *copy = malloc(text.len + 1);
    if (names != NULL) evidence->names = names;
    if (names == NULL || copy == NULL) {
        free(copy);
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the names of providers");
    }
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    evidence->names[evidence->name_count++] = copy;
    *out = (uint32_t)evidence->name_count;
    return CS_OK;
}

/* ---- one record ----------------------------------------------------------------------------------------- */

typedef struct adding {
    const cs_gate_setting *setting;
    cs_gate_evidence *evidence;
    uint32_t source;
    cs_view daemon;
    const cs_verified_run *run;
    const cs_gate_facts *facts;
    const uint8_t *work;
    size_t index; /* of the requirement */
} adding;

static cs_gate_place place_of(const adding *a) {
    return (cs_gate_place){.set = true, .source = a->source, .entry = a->run->entry};
}

static cs_result copy_witness(const adding *a, cs_gate_tally *tally, cs_error *err) {
    size_t bytes = protobuf_c_message_get_packed_size(&a->run->request->base) +
                   protobuf_c_message_get_packed_size(&a->run->response->base);
    if (bytes > MAX_COPIED - a->evidence->copied) {
        a->evidence->too_large = true;
        return CS_OK;
    }
    ProtobufCMessage *request = NULL;
    ProtobufCMessage *response = NULL;
    cs_result result = cs_message_copy(&a->run->request->base, &request, err);
    if (result == CS_OK) result = cs_message_copy(&a->run->response->base, &response, err);
    if (result != CS_OK) {
        cs_message_free(request);
        return result;
    }
    tally->request = (cs_run_request *)request;
    tally->response = (cs_run_response *)response;
    a->evidence->copied += bytes;
    return CS_OK;
}

static cs_result name_all(const adding *a, const cs_run_record *record, cs_gate_kept *kept, cs_error *err) {
    cs_result result = cs_gate_name(a->evidence, cs_bytes_view(&record->provider), &kept->provider, err);
    if (result == CS_OK) result = cs_gate_name(a->evidence, cs_bytes_view(&record->policy), &kept->policy, err);
    if (result == CS_OK)
        result = cs_gate_name(a->evidence, cs_bytes_view(&record->environment), &kept->environment, err);
    return result == CS_OK ? cs_gate_name_address(a->evidence, a->daemon, &kept->daemon, err) : result;
}

static cs_result keep_counting(const adding *a, cs_gate_tally *tally, const cs_gate_finding *findings,
                               const cs_gate_measured *measured, cs_error *err) {
    void *items = tally->kept;
    cs_result result = make_room(&items, tally->count, &tally->room, sizeof *tally->kept, err);
    tally->kept = items;
    cs_gate_kept kept = {.source = a->source, .entry = a->run->entry, .executed = measured->executed};
    bytes_of(&a->run->checked->record_sha256, kept.record);
    bytes_of(&a->run->checked->result_sha256, kept.result);
    memcpy(kept.work, a->work, sizeof kept.work);
    cs_digest envelope;
    if (result == CS_OK && !cs_sha256_once(a->run->envelope, &envelope))
        result = cs_fail(err, CS_CODE_INTERNAL, "an envelope has no digest");
    if (result == CS_OK) bytes_of(&envelope, kept.envelope);
    const cs_run_record *record = a->run->record;
    if (result == CS_OK) result = name_all(a, record, &kept, err);
    if (result == CS_OK && !tally->witness.set) {
        result = copy_witness(a, tally, err);
        memcpy(tally->witness_findings, findings, sizeof tally->witness_findings);
        tally->witness = place_of(a);
    }
    if (result == CS_OK) tally->kept[tally->count++] = kept;
    return result;
}

/* Negative when the one is nearer: with the revision's files before any other, then with the fewest unfulfilled
 * conditions. The run of the base lacks no more than one of the revision that was a second too old. */
static int compare_near(uint32_t one, uint32_t other) {
    bool one_bound = (one & CS_GATE_BIT(CS_GATE_BIND)) == 0;
    bool other_bound = (other & CS_GATE_BIT(CS_GATE_BIND)) == 0;
    if (one_bound != other_bound) return one_bound ? -1 : 1;
    return __builtin_popcount(one) - __builtin_popcount(other);
}

/* Of two that are as near, the newer. */
static void keep_nearest(const adding *a, cs_gate_tally *tally, const cs_gate_finding *findings, uint32_t unfulfilled) {
    int order = compare_near(unfulfilled, tally->near_unfulfilled);
    int64_t ended_ms = a->run->record->ended_unix_ms;
    if (tally->near.set && (order > 0 || (order == 0 && ended_ms <= tally->near_ended_ms))) return;
    tally->near = place_of(a);
    tally->near_unfulfilled = unfulfilled;
    tally->near_ended_ms = ended_ms;
    memcpy(tally->near_findings, findings, sizeof tally->near_findings);
}

const cs_gate_rule cs_gate_failure_rules[CS_GATE_FAILURES] = {CS_GATE_WORK, CS_GATE_TIME_OUT, CS_GATE_TESTS};

/* Of the rule about tests only that some failed: what is missing, skipped or too few says nothing against the files. */
static bool is_failure(const cs_gate_finding *finding) {
    if (finding->state != CS_GATE_REFUSED) return false;
    return finding->rule != CS_GATE_TESTS || finding->code == CS_CODE_GATE_TESTS_FAILED;
}

/* A run of this very commit that failed is not made good by another that passed: what fails now and then would only
 * have to be tried often enough. */
static void keep_failures(const adding *a, cs_gate_tally *tally, const cs_gate_finding *findings) {
    if (findings[CS_GATE_BIND].state != CS_GATE_PASSED || findings[CS_GATE_COMPLETE].state == CS_GATE_REFUSED) return;
    for (size_t i = 0; i < CS_GATE_FAILURES; i++) {
        const cs_gate_finding *finding = &findings[cs_gate_failure_rules[i]];
        if (tally->failures[i].place.set || !is_failure(finding)) continue;
        tally->failures[i] = (cs_gate_failure){.place = place_of(a), .finding = *finding};
    }
}

/* A run that would count but for its age and its numbers of tests, and has the files of the base. One that has those of
 * the revision as well is of the base only where it had to have all of them: else it may lack just what differs, and
 * would be compared with itself. */
static cs_result look_at_base(const adding *a, cs_gate_tally *tally, cs_gate_finding *findings, cs_error *err) {
    const cs_policy_requirement *requirement = &a->setting->policy->requirements[a->index];
    if (!requirement->tests.present || !requirement->tests.not_fewer_than_base || requirement->bind_count == 0)
        return CS_OK;
    if (findings[CS_GATE_BIND].state == CS_GATE_PASSED && !cs_gate_bind_is_complete(requirement)) return CS_OK;
    cs_gate_measured measured;
    uint32_t unfulfilled = 0;
    cs_result result =
        cs_gate_hold(a->setting, a->index, &a->setting->base, a->facts, findings, &unfulfilled, &measured, err);
    if (result != CS_OK) return result;
    unfulfilled &= ~(CS_GATE_BIT(CS_GATE_AGE) | CS_GATE_BIT(CS_GATE_TESTS));
    if (unfulfilled != 0 || !measured.tests) return CS_OK;
    if (tally->base.set && measured.executed <= tally->base_executed) return CS_OK;
    tally->base = place_of(a);
    tally->base_executed = measured.executed;
    return CS_OK;
}

static cs_result add_to(const adding *a, cs_gate_finding *findings, cs_error *err) {
    cs_gate_tally *tally = &a->evidence->tallies[a->index];
    cs_gate_measured measured;
    uint32_t unfulfilled = 0;
    cs_result result =
        cs_gate_hold(a->setting, a->index, &a->setting->rev, a->facts, findings, &unfulfilled, &measured, err);
    if (result != CS_OK) return result;
    if (unfulfilled == 0) {
        result = keep_counting(a, tally, findings, &measured, err);
    } else {
        keep_nearest(a, tally, findings, unfulfilled);
        keep_failures(a, tally, findings);
    }
    return result == CS_OK ? look_at_base(a, tally, findings, err) : result;
}

static cs_result note_seen(cs_gate_evidence *evidence, const cs_verified_run *run, uint32_t selected, cs_error *err) {
    void *items = evidence->seen;
    cs_result result = make_room(&items, evidence->seen_count, &evidence->seen_room, sizeof *evidence->seen, err);
    evidence->seen = items;
    if (result != CS_OK) return result;
    cs_gate_seen *seen = &evidence->seen[evidence->seen_count++];
    seen->selected = selected;
    bytes_of(&run->checked->record_sha256, seen->record);
    return CS_OK;
}

static bool asks_for_work(const cs_policy *policy) {
    for (size_t i = 0; i < policy->requirement_count; i++)
        if (policy->requirements[i].reproduced_providers > 0 || policy->requirements[i].reproduced_runs > 0)
            return true;
    return false;
}

cs_result cs_gate_tally_run(const cs_gate_setting *setting, cs_gate_evidence *evidence, uint32_t source, cs_view daemon,
                            const cs_verified_run *run, cs_error *err) {
    cs_gate_facts facts = {.request = run->request, .response = run->response, .record = run->record};
    uint8_t work[CS_SHA256_BYTES] = {0};
    if (asks_for_work(setting->policy)) {
        cs_result result = cs_gate_work_of(evidence, run, work, err);
        if (result != CS_OK) return result;
    }
    if (run->duplicate && !run->unanswered) {
        for (size_t i = 0; i < evidence->tally_count; i++)
            if (cs_gate_selects(&setting->policy->requirements[i], &facts)) evidence->tallies[i].duplicates++;
        return CS_OK;
    }
    uint32_t selected = 0;
    cs_gate_finding findings[CS_GATE_RULES];
    memset(findings, 0, sizeof findings);
    cs_result result = CS_OK;
    for (size_t i = 0; result == CS_OK && !run->unanswered && i < evidence->tally_count; i++) {
        if (!cs_gate_selects(&setting->policy->requirements[i], &facts)) continue;
        adding a = {.setting = setting,
                    .evidence = evidence,
                    .source = source,
                    .daemon = daemon,
                    .run = run,
                    .facts = &facts,
                    .work = work,
                    .index = i};
        selected |= 1u << i;
        result = add_to(&a, findings, err);
    }
    return result == CS_OK && !run->duplicate ? note_seen(evidence, run, selected, err) : result;
}

/* ---- at the end ------------------------------------------------------------------------------------------- */

static int compare_seen(const void *left, const void *right) {
    return memcmp(((const cs_gate_seen *)left)->record, ((const cs_gate_seen *)right)->record, CS_SHA256_BYTES);
}

static int compare_kept(const void *left, const void *right) {
    const cs_gate_kept *a = left;
    const cs_gate_kept *b = right;
    int order = memcmp(a->record, b->record, sizeof a->record);
    if (order != 0) return order;
    /* Of the same record, the one of a ledger, which holds findings. */
    if ((a->daemon == 0) != (b->daemon == 0)) return a->daemon == 0 ? 1 : -1;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

static void settle_tally(cs_gate_tally *tally) {
    if (tally->count == 0) return;
    qsort(tally->kept, tally->count, sizeof *tally->kept, compare_kept);
    size_t distinct = 1;
    for (size_t i = 1; i < tally->count; i++) {
        if (memcmp(tally->kept[i].record, tally->kept[distinct - 1].record, CS_SHA256_BYTES) == 0)
            tally->duplicates++;
        else
            tally->kept[distinct++] = tally->kept[i];
    }
    tally->count = distinct;
}

void cs_gate_settle(cs_gate_evidence *evidence, uint64_t *records) {
    *records = 0;
    for (size_t i = 0; i < evidence->tally_count; i++)
        settle_tally(&evidence->tallies[i]);
    if (evidence->seen_count > 0) qsort(evidence->seen, evidence->seen_count, sizeof *evidence->seen, compare_seen);
    for (size_t i = 0; i < evidence->seen_count; i++) {
        if (i > 0 && compare_seen(&evidence->seen[i], &evidence->seen[i - 1]) == 0) continue;
        (*records)++;
        for (size_t t = 0; t < evidence->tally_count; t++)
            if ((evidence->seen[i].selected & 1u << t) != 0) evidence->tallies[t].selected++;
    }
}

void cs_gate_evidence_free(cs_gate_evidence *evidence) {
    if (evidence == NULL) return;
    for (size_t i = 0; i < evidence->name_count; i++)
        free(evidence->names[i]);
    for (size_t i = 0; evidence->tallies != NULL && i < evidence->tally_count; i++) {
        free(evidence->tallies[i].kept);
        cs_message_free(evidence->tallies[i].request);
        cs_message_free(evidence->tallies[i].response);
    }
    free(evidence->names);
    free(evidence->tallies);
    free(evidence->contradictions);
    free(evidence->seen);
    free(evidence->chains);
    free(evidence);
}
