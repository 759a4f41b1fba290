#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "records/text.h"
#include "replay/replay.h"

/* What is gathered while the source is verified. */
typedef struct gathering {
    cs_replay_plan *plan;
    size_t room;     /* items allocated */
    uint64_t bytes;  /* encoded size of all that is held */
    uint64_t wanted; /* 0: everything */
    bool failed;     /* a check failed somewhere; `first` says where */
    cs_error first;
} gathering;

static void on_finding(void *user, const cs_finding *finding) {
    gathering *into = user;
    if (finding->warning || into->failed) return;
    into->failed = true;
    into->first = *finding->err;
}

static cs_result make_room(gathering *into, cs_error *err) {
    if (into->plan->count < into->room) return CS_OK;
    if (into->room >= CS_MAX_REPLAY_ENTRIES)
        return cs_fail(err, CS_CODE_NO_MEMORY, "there are more than %u runs; choose one with --entry",
                       CS_MAX_REPLAY_ENTRIES);
    size_t room = into->room == 0 ? 16 : into->room * 2;
    if (room > CS_MAX_REPLAY_ENTRIES) room = CS_MAX_REPLAY_ENTRIES;
    cs_replay_item *items = realloc(into->plan->items, room * sizeof *items);
    if (items == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the plan of the replay");
    into->plan->items = items;
    into->room = room;
    return CS_OK;
}

/* A small file can hold many runs, and all of them are held at once: the sum has a bound. */
static cs_result count_bytes(gathering *into, const cs_verified_run *run, cs_error *err) {
    into->bytes += protobuf_c_message_get_packed_size(&run->request->base);
    if (run->response != NULL) into->bytes += protobuf_c_message_get_packed_size(&run->response->base);
    if (into->bytes <= CS_MAX_REPLAY_BYTES) return CS_OK;
    return cs_fail(err, CS_CODE_NO_MEMORY,
                   "the runs to replay have more than %zu MiB together; choose one with --entry",
                   CS_MAX_REPLAY_BYTES >> 20);
}

/* The newest call so far of the same session says which that is. */
static void join_session(gathering *into, cs_replay_item *item, cs_view session) {
    memcpy(item->session.hex, session.ptr, session.len < CS_SHA256_HEX ? session.len : CS_SHA256_HEX);
    for (const cs_replay_item *other = item; other > into->plan->items; other--) {
        if (strcmp(other[-1].session.hex, item->session.hex) != 0) continue;
        item->group = other[-1].group;
        return;
    }
    into->plan->sessions++;
}

/* Sessions may stand between one another in a ledger. */
static int compare_items(const void *left, const void *right) {
    const cs_replay_item *a = left;
    const cs_replay_item *b = right;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

static cs_result hold(gathering *into, const cs_verified_run *run, cs_error *err) {
    cs_result result = make_room(into, err);
    if (result == CS_OK) result = count_bytes(into, run, err);
    if (result != CS_OK) return result;

    ProtobufCMessage *request = NULL;
    ProtobufCMessage *response = NULL;
    result = cs_message_copy(&run->request->base, &request, err);
    if (result == CS_OK && run->response != NULL) result = cs_message_copy(&run->response->base, &response, err);
    if (result != CS_OK) {
        cs_message_free(request);
        return result;
    }
    cs_replay_item *item = &into->plan->items[into->plan->count++];
    *item = (cs_replay_item){
        .entry = run->entry,
        .group = run->entry,
        .request = (cs_run_request *)request,
        .response = (cs_run_response *)response,
        .request_sha256 = run->checked->request_sha256,
        .result_sha256 = run->checked->result_sha256,
    };
    if (run->in_session) join_session(into, item, cs_bytes_view(&run->record->session));
    cs_escape_short(cs_bytes_view(&run->record->provider), item->provider, sizeof item->provider);
    cs_escape_short(cs_bytes_view(&run->record->isolation), item->tier, sizeof item->tier);
    return CS_OK;
}

static cs_result on_run(void *user, const cs_verified_run *run, cs_error *err) {
    gathering *into = user;
    if (into->wanted != 0 && run->entry != into->wanted) return CS_OK;
    /* What a call does depends on those before it, so it is replayed with its session or not at all. */
    if (run->in_session && into->wanted != 0) return CS_OK;
    /* Someone who names an entry means that entry, also when it is the second of its kind. */
    if (run->duplicate && into->wanted == 0) {
        into->plan->skipped_duplicates++;
        return CS_OK;
    }
    return hold(into, run, err);
}

/* Why the plan is empty, though everything verified. */
static cs_result nothing_planned(const gathering *into, const cs_verify_summary *summary, cs_error *err) {
    if (into->wanted == 0) return cs_fail(err, CS_CODE_NOTHING_TO_CHECK, "there is no run to replay");
    if (into->wanted > summary->entries)
        return cs_fail(err, CS_CODE_ENTRY_UNKNOWN,
                       "there is no entry %" PRIu64 "; the last is %" PRIu64 " (`countersign show` lists them)",
                       into->wanted, summary->entries);
    return cs_fail(err, CS_CODE_REPLAY_NOT_SINGLE,
                   "entry %" PRIu64 " is not a single signed run with a result (a session call, a close, a link or a "
                   "finding): it can't be replayed by itself",
                   into->wanted);
}

static cs_result gather(const char *path, const cs_trust *trust, gathering *into, cs_error *err) {
    cs_source *source = NULL;
    cs_result result = cs_source_open(path, &source, err);
    if (result != CS_OK) return result;
    cs_verify_options options = {
        .trust = trust, .on_finding = on_finding, .on_run = on_run, .pass_over_verdicts = true, .user = into};
    cs_verify_summary summary;
    result = cs_verify_source(source, &options, &summary, err);
    cs_source_close(source);
    if (into->failed) {
        if (err != NULL) *err = into->first;
        return CS_FAILED;
    }
    if (result == CS_OK && into->plan->count == 0) result = nothing_planned(into, &summary, err);
    if (result == CS_OK) qsort(into->plan->items, into->plan->count, sizeof *into->plan->items, compare_items);
    return result;
}

cs_result cs_replay_plan_make(const char *path, const cs_trust *trust, uint64_t entry, cs_replay_plan *out,
                              cs_error *err) {
    *out = (cs_replay_plan){.items = NULL};
    gathering into = {.plan = out, .wanted = entry};
    cs_result result = gather(path, trust, &into, err);
    if (result != CS_OK) cs_replay_plan_free(out);
    return result;
}

void cs_replay_plan_free(cs_replay_plan *plan) {
    for (size_t i = 0; i < plan->count; i++) {
        cs_message_free(plan->items[i].request);
        cs_message_free(plan->items[i].response);
    }
    free(plan->items);
    *plan = (cs_replay_plan){.items = NULL};
}
