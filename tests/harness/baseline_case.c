#include "tests/harness/baseline_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/expect.h"
#include "tests/support/folder.h"

void baseline_begin(baseline_case *c) {
    memset(c, 0, sizeof *c);
    sample_init(&c->said);
    tiers_honest(CS_TIER_CONTAINER, &c->tiers.seen);
    (void)cs_tier_judge(&c->tiers.seen, CS_TIER_CONTAINER, CS_DEPTH_HOST, c->tiers.judgements);
    c->tiers.result = CS_OK;
    c->tiers.claim = CS_TIER_CONTAINER;
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        c->tiers.ran[form] = true;
        c->tiers.runs[form].before.message = &c->said.before->base;
        c->tiers.runs[form].checked.record = c->said.record;
    }
    c->daemon = (cs_host_daemon){.pid = 4711, .started = 815};
    (void)snprintf(c->daemon.boot_id, sizeof c->daemon.boot_id, "11111111-1111-1111-1111-111111111111");
    folder_make(c->folder);
    (void)snprintf(c->path, sizeof c->path, "%s/base.json", c->folder);
}

void baseline_end(baseline_case *c) {
    sample_free(&c->said);
    folder_remove(c->folder);
}

void baseline_take(const baseline_case *c, cs_baseline *out) {
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_baseline_take_of(BASELINE_URL, CS_DEPTH_HOST, &c->tiers, NULL, &c->daemon, out, &err), err);
}

void baseline_small(const char *policy, const char *const pairs[], cs_baseline *out) {
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < CS_STATE_MEMBERS; i++)
        (void)snprintf(out->state[i], CS_BASELINE_VALUE, "%s", i == CS_STATE_POLICY ? policy : "x");
    while (pairs[2 * out->count] != NULL)
        out->count++;
    out->entries = calloc(out->count + 1, sizeof *out->entries);
    cr_assert_not_null(out->entries);
    for (size_t i = 0; i < out->count; i++) {
        (void)snprintf(out->entries[i].key, CS_BASELINE_KEY, "%s", pairs[2 * i]);
        (void)snprintf(out->entries[i].value, CS_BASELINE_VALUE, "%s", pairs[2 * i + 1]);
    }
}

void baseline_save(const baseline_case *c, const cs_baseline *now) {
    cs_error err = CS_ERROR_INIT;
    cs_baseline_file *file = NULL;
    EXPECT_OK(cs_baseline_open(c->path, true, &file, &err), err);
    EXPECT_OK(cs_baseline_add(file, now, &err), err);
    cs_baseline_close(file);
}

const char *baseline_value(const cs_baseline *baseline, const char *key) {
    for (size_t i = 0; i < baseline->count; i++)
        if (strcmp(baseline->entries[i].key, key) == 0) return baseline->entries[i].value;
    return NULL;
}
