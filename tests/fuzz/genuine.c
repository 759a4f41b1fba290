#include "tests/fuzz/genuine.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RECORDS 32

static struct {
    bool made;
    forge_key key;
    forge_bundle bundles[GENUINE_BUNDLES];
    const char *records[MAX_RECORDS];
    size_t count;
} all;

static void note(const forge_run *run) {
    if (all.count == MAX_RECORDS) abort();
    all.records[all.count++] = forge_text("%s", run->record_sha256);
}

static void add_single(forge_bundle *bundle, const char *code, const char *trace_id, unsigned advice) {
    forge_run run = forge_single();
    run.code = code;
    run.trace_id = trace_id;
    run.advice = advice;
    run.duration_ms = advice;
    forge_seal(&run);
    note(&run);
    forge_add(bundle, forge_run_line(&all.key, &run));
}

static void add_session(forge_bundle *bundle, size_t calls) {
    forge_run runs[8];
    forge_session(bundle, &all.key, FORGE_SESSION, calls, runs);
    for (size_t i = 0; i < calls; i++)
        note(&runs[i]);
}

/* One call that may have run and gave no answer, and the close behind it. */
static void add_unanswered(forge_bundle *bundle) {
    forge_run run = forge_single();
    run.version = 3;
    run.unanswered = "unavailable";
    run.session = FORGE_SESSION;
    run.sequence = 1;
    forge_seal(&run);
    note(&run);
    forge_add(bundle, forge_run_line(&all.key, &run));
    char *close = forge_close(FORGE_SESSION, 1, forge_text("%s", run.record_sha256));
    forge_add(bundle, forge_line(NULL, NULL, forge_envelope(&all.key, close)));
}

static void make(void) {
    if (all.made) return;
    all.made = true;
    all.key = forge_key_from(1);
    add_single(&all.bundles[0], "console.log(6*7)", "", 0);
    add_single(&all.bundles[1], "1", "", 0);
    add_single(&all.bundles[1], "2", "", 0);
    add_single(&all.bundles[1], "3", "", 0);
    add_session(&all.bundles[2], 3);
    add_session(&all.bundles[3], 2);
    add_single(&all.bundles[3], "4", "", 0);
    forge_link_lines(&all.bundles[3], &all.key, 0);
    add_unanswered(&all.bundles[4]);
    forge_link_lines(&all.bundles[4], &all.key, 0);
    add_single(&all.bundles[5], "5", "trace-1", 2);
    add_single(&all.bundles[5], "5", "trace-2", 1);
}

const forge_bundle *genuine_bundle(unsigned which) {
    make();
    return &all.bundles[which % GENUINE_BUNDLES];
}

const forge_key *genuine_key(void) {
    make();
    return &all.key;
}

size_t genuine_line_count(void) {
    size_t count = 0;
    make();
    for (unsigned b = 0; b < GENUINE_BUNDLES; b++)
        count += all.bundles[b].count;
    return count;
}

const char *genuine_line(size_t index) {
    make();
    unsigned b = 0;
    for (; index >= all.bundles[b].count; b++)
        index -= all.bundles[b].count;
    return all.bundles[b].lines[index];
}

bool genuine_record(cs_view sha256) {
    make();
    for (size_t i = 0; i < all.count; i++)
        if (cs_view_is(sha256, all.records[i])) return true;
    return false;
}

static cs_trust trust_of(uint8_t seed) {
    forge_key forged = forge_key_from(seed);
    cs_trust trust = {.count = 0};
    cs_public_key key = {.id = ""};
    memcpy(key.bytes, forged.public_key, sizeof key.bytes);
    memcpy(key.id, forged.id, sizeof key.id);
    if (cs_trust_add(&trust, &key, NULL) != CS_OK) abort();
    return trust;
}

const cs_trust *genuine_trust(void) {
    static cs_trust trust;
    if (trust.count == 0) trust = trust_of(1);
    return &trust;
}

const cs_trust *genuine_stranger(void) {
    static cs_trust trust;
    if (trust.count == 0) trust = trust_of(2);
    return &trust;
}
