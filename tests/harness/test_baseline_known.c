/* Keys that could not be found out: which they are, and when there is nothing else to save. */
#include "tests/harness/baseline_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/expect.h"
#include "tests/support/folder.h"
#include "tests/support/forge.h"

/* How many keys of these compare nothing, and whether the key "probe.script.x" or the like is among them. */
static size_t unknown_of(const cs_baseline *now, const cs_baseline_difference *differences, size_t count,
                         const char *key, bool *among) {
    const char *keys[CS_BASELINE_MAX_KEYS];
    size_t found = cs_baseline_unknown_keys(now, differences, count, keys);
    *among = false;
    for (size_t i = 0; i < found; i++) {
        *among = *among || strcmp(keys[i], key) == 0;
        if (i > 0) cr_expect_lt(strcmp(keys[i - 1], keys[i]), 0, "%s", keys[i]);
    }
    return found;
}

Test(baseline_known, a_key_compares_nothing_when_its_value_says_so) {
    static const struct {
        const char *key, *value;
        bool unknown;
    } all[] = {
        {"probe.script.seccomp", "unknown", true},
        {"probe.script.seccomp", "2", false},
        {"probe.script.read", "no", true},
        {"probe.script.read", "yes", false},
        {"probe.script.release", "", true},
        {"probe.script.release", "6.1", false},
        {"probe.script.release", "unknown", false},
        {"probe.program.version", "", true},
        {"probe.program.hypervisor", "", false},
        {"rule.host-file", "silent", true},
        {"rule.host-file", "consistent", false},
        {"rule.host-file", "not-asked", false},
        {"guard.files.verdict", "unknown", true},
        {"guard.files.verdict", "in force", false},
        {"guard.processes.measured", "unknown", true},
        {"guard.files.configured", "unknown", false},
        {"host.script.apart", "unknown", true},
        {"statement.policy", "unknown", false},
        {"statement.policy", "", false},
        {"record.script.policy", "", false},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        cs_baseline now;
        bool among = false;
        baseline_small("p", PAIRS("host.place", "here", all[i].key, all[i].value), &now);
        cr_expect_eq(unknown_of(&now, NULL, 0, all[i].key, &among), all[i].unknown ? 1 : 0, "%zu", i);
        cr_expect_eq(among, all[i].unknown, "%s", all[i].key);
        cs_baseline_free(&now);
    }
}

/* What is told of as a difference is not told of twice. */
Test(baseline_known, a_key_that_was_known_then_is_a_difference_and_no_blank) {
    baseline_case c;
    cs_baseline then, now;
    cs_baseline_file *file = NULL;
    cs_baseline_difference *differences = NULL;
    size_t count = 0;
    bool among = false;
    cs_error err = CS_ERROR_INIT;
    baseline_begin(&c);
    baseline_small("p", PAIRS("rule.boot-id", "silent", "rule.host-file", "consistent"), &then);
    baseline_small("p", PAIRS("rule.boot-id", "silent", "rule.host-file", "silent"), &now);
    baseline_save(&c, &then);
    EXPECT_OK(cs_baseline_open(c.path, false, &file, &err), err);
    EXPECT_CODE(cs_baseline_compare(file, &now, &differences, &count, &err), err, CS_UNCHECKED,
                CS_CODE_BASELINE_UNKNOWN);
    cr_expect_eq(unknown_of(&now, NULL, 0, "rule.host-file", &among), 2);
    cr_expect_eq(unknown_of(&now, differences, count, "rule.host-file", &among), 1);
    cr_expect_not(among);
    free(differences);
    EXPECT_OK(cs_baseline_compare(file, &then, &differences, &count, &err), err);
    cr_expect_eq(unknown_of(&then, differences, count, "rule.boot-id", &among), 1);
    cr_expect(among);
    cs_baseline_close(file);
    cs_baseline_free(&then);
    cs_baseline_free(&now);
    baseline_end(&c);
}

/* "no" stands for it also when the program could not be read: then it was not found out. */
Test(baseline_known, a_value_that_only_looks_the_same_is_unknown) {
    baseline_case c;
    cs_baseline then, now;
    cs_baseline_file *file = NULL;
    cs_baseline_difference *differences = NULL;
    size_t count = 0;
    cs_error err = CS_ERROR_INIT;
    baseline_begin(&c);
    baseline_small("p", PAIRS("probe.emulated", "no", "probe.program.read", "yes"), &then);
    baseline_small("p", PAIRS("probe.emulated", "no", "probe.program.read", "no"), &now);
    baseline_save(&c, &then);
    EXPECT_OK(cs_baseline_open(c.path, false, &file, &err), err);
    EXPECT_OK(cs_baseline_compare(file, &then, &differences, &count, &err), err);
    EXPECT_CODE(cs_baseline_compare(file, &now, &differences, &count, &err), err, CS_UNCHECKED,
                CS_CODE_BASELINE_UNKNOWN);
    cr_assert_eq(count, 2);
    cr_expect_str_eq(differences[0].key, "probe.emulated");
    cr_expect_eq(differences[0].change, CS_CHANGE_UNKNOWN);
    free(differences);
    cs_baseline_close(file);
    cs_baseline_free(&then);
    cs_baseline_free(&now);
    baseline_end(&c);
}

/* ---- nothing at all --------------------------------------------------------------------------------------- */

/* Save these keys, of a check of this depth, in a file that is not there yet: the code. Nothing is written unless all
 * is well. */
static cs_code save(const char *depth, const char *const pairs[]) {
    baseline_case c;
    cs_baseline now;
    cs_baseline_file *file = NULL;
    cs_error err = CS_ERROR_INIT;
    baseline_begin(&c);
    baseline_small("p", pairs, &now);
    (void)snprintf(now.state[CS_STATE_DEPTH], CS_BASELINE_VALUE, "%s", depth);
    EXPECT_OK(cs_baseline_open(c.path, true, &file, &err), err);
    cs_result result = cs_baseline_add(file, &now, &err);
    cr_expect_eq(folder_count(c.folder), result == CS_OK ? 1 : 0);
    cr_expect_eq(result, result == CS_OK ? CS_OK : CS_UNCHECKED, "%s", err.message);
    cs_baseline_close(file);
    cs_baseline_free(&now);
    baseline_end(&c);
    return result == CS_OK ? CS_CODE_OK : err.code;
}

/* Each line alone beside a statement: is it an observation? */
Test(baseline_known, a_baseline_without_any_observation_is_not_saved) {
    static const struct {
        const char *key, *value;
        bool observed;
    } all[] = {
        {"guard.files.configured", "implied by the tier", false},
        {"guard.files.verdict", "unknown", false},
        {"guard.files.verdict", "in force", true},
        {"guard.files.verdict", "not in force", true},
        {"guard.processes.measured", "254", true},
        {"host.complete", "yes", false},
        {"host.place", "listener", false},
        {"host.place", "here", true},
        {"host.script.apart", "unknown", false},
        {"host.script.apart", "1", true},
        {"host.script.token", "no", false},
        {"host.script.token", "yes", true},
        {"host.script.watched", "yes", false},
        {"probe.emulated", "no", false},
        {"probe.program.hypervisor", "", false},
        {"probe.program.hypervisor", "KVMKVMKVM", true},
        {"probe.script.canary", "not read", false},
        {"probe.script.canary", "read", true},
        {"probe.script.kernel_log_gvisor", "absent", true},
        {"probe.script.read", "yes", false},
        {"probe.script.release", "", false},
        {"probe.script.release", "6.1", true},
        {"probe.script.seccomp", "unknown", false},
        {"probe.script.seccomp", "0", true},
        {"record.script.policy", "p", false},
        {"rule.gvisor-log", "consistent", true},
        {"rule.gvisor-log", "not-asked", false},
        {"rule.gvisor-log", "silent", false},
        {"rule.probe-nonce", "consistent", false},
        {"rule.tier-statements", "consistent", false},
        {"rule.no-such-rule", "consistent", false},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const char *const *pairs = PAIRS(all[i].key, all[i].value, "statement.tier", "process");
        cs_code want = all[i].observed ? CS_CODE_OK : CS_CODE_BASELINE_UNKNOWN;
        cr_expect_eq(save("probe", pairs), want, "%s: %s", all[i].key, all[i].value);
        cr_expect_eq(save("host+guards", pairs), want, "%s: %s", all[i].key, all[i].value);
        cr_expect_eq(save("statements", pairs), CS_CODE_OK, "%s: %s", all[i].key, all[i].value);
    }
}

/* As a program that saved such ones has left it. */
static void forget_in_file(const char *path, const char *value, const char *with) {
    size_t len = 0;
    char *text = file_read(path, &len);
    cr_assert_not_null(text);
    const char *at = strstr(text, value);
    cr_assert_not_null(at, "%s", text);
    const char *changed = forge_text("%.*s%s%s", (int)(at - text), text, with, at + strlen(value));
    file_write(path, changed, strlen(changed));
    free(text);
}

Test(baseline_known, one_without_any_observation_is_not_the_same_either) {
    for (size_t i = 0; i < 2; i++) {
        baseline_case c;
        cs_baseline then, now;
        cs_baseline_file *file = NULL;
        cs_baseline_difference *differences = NULL;
        size_t count = 0;
        cs_error err = CS_ERROR_INIT;
        baseline_begin(&c);
        baseline_small("p", PAIRS("rule.gvisor-log", "consistent"), &then);
        baseline_small("p", PAIRS("rule.gvisor-log", i == 0 ? "consistent" : "silent"), &now);
        (void)snprintf(then.state[CS_STATE_DEPTH], CS_BASELINE_VALUE, "probe");
        (void)snprintf(now.state[CS_STATE_DEPTH], CS_BASELINE_VALUE, "probe");
        baseline_save(&c, &then);
        if (i == 1) forget_in_file(c.path, "\"consistent\"", "\"silent\"");
        EXPECT_OK(cs_baseline_open(c.path, false, &file, &err), err);
        cs_result result = cs_baseline_compare(file, &now, &differences, &count, &err);
        cr_expect_eq(result, i == 0 ? CS_OK : CS_UNCHECKED, "%s", err.message);
        if (i == 1) cr_expect_eq(err.code, CS_CODE_BASELINE_UNKNOWN, "%s", err.message);
        cr_expect_eq(count, 0);
        free(differences);
        cs_baseline_close(file);
        cs_baseline_free(&then);
        cs_baseline_free(&now);
        baseline_end(&c);
    }
}

static void forget(cs_probe_facts *facts) {
    *facts = (cs_probe_facts){.clock_us = CS_PROBE_UNKNOWN,
                              .pid_ns = CS_PROBE_UNKNOWN,
                              .ipc_ns = CS_PROBE_UNKNOWN,
                              .seccomp = CS_PROBE_UNKNOWN,
                              .no_new_privs = CS_PROBE_UNKNOWN,
                              .capable = CS_PROBE_UNKNOWN,
                              .loopback = CS_PROBE_UNKNOWN,
                              .no_call = CS_PROBE_UNKNOWN,
                              .mseal = CS_PROBE_UNKNOWN,
                              .file_getattr = CS_PROBE_UNKNOWN,
                              .vmsplice = CS_PROBE_UNKNOWN,
                              .remap_file_pages = CS_PROBE_UNKNOWN,
                              .landlock_abi = CS_PROBE_UNKNOWN};
}

/* Someone between answers both probes with null for everything; then with one thing that was seen. */
Test(baseline_known, answers_of_nothing_but_null_are_not_saved) {
    baseline_case c;
    cs_error err = CS_ERROR_INIT;
    baseline_begin(&c);
    for (size_t form = 0; form < CS_PROBE_FORMS; form++)
        forget(&c.tiers.seen.inside[form].facts);
    (void)cs_tier_judge(&c.tiers.seen, CS_TIER_CONTAINER, CS_DEPTH_PROBE, c.tiers.judgements);
    for (int known = 0; known <= 1; known++) {
        cs_baseline now;
        cs_baseline_file *file = NULL;
        if (known == 1) c.tiers.seen.inside[CS_PROBE_SCRIPT].facts.no_new_privs = 1;
        EXPECT_OK(cs_baseline_take_of(BASELINE_URL, CS_DEPTH_PROBE, &c.tiers, NULL, NULL, &now, &err), err);
        EXPECT_OK(cs_baseline_open(c.path, true, &file, &err), err);
        if (known == 1)
            EXPECT_OK(cs_baseline_add(file, &now, &err), err);
        else
            EXPECT_CODE(cs_baseline_add(file, &now, &err), err, CS_UNCHECKED, CS_CODE_BASELINE_UNKNOWN);
        cr_expect_eq(folder_count(c.folder), (size_t)known);
        cs_baseline_close(file);
        cs_baseline_free(&now);
    }
    baseline_end(&c);
}
