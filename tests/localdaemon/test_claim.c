/* A daemon that is told to state another tier than its own does so everywhere, and says that it lies. */
#include "tests/localdaemon/wire_call.h"

#include "tests/support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOOR(tier)                                                                                                    \
    "{\"protocol\":3,\"minimumIsolation\":\"" tier                                                                     \
    "\",\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"\"}],\"steps\":[\"true\"]}}"

static bool log_says(const test_daemon *daemon, const char *words) {
    size_t len = 0;
    char *log = file_read(daemon->log, &len);
    bool says = log != NULL && strstr(log, words) != NULL;
    free(log);
    return says;
}

static void copy_policy(const test_daemon *daemon, const char *tier, char policy[160]) {
    wire_end said;
    wire_json(daemon, DESCRIBE, "{}", &said);
    cr_assert_str_eq(json_at(said.json, "isolation"), tier);
    cr_assert_str_eq(json_at(said.json, "sandbox"), "process", "the provider's name is no claim");
    snprintf(policy, 160, "%s", json_at(said.json, "policy"));
    wire_free(&said);
}

static void expect_states(const test_daemon *daemon, const char *body, const char *tier) {
    json_t *answer = wire_run(daemon, "%s", body);
    cr_assert_str_eq(json_at(answer, "isolation"), tier);
    cr_assert_str_eq(json_at(answer, "record/isolation"), tier);
    json_decref(answer);
}

Test(localdaemon_claim, is_stated_everywhere_and_told, .timeout = 60) {
    static const char *const lie[] = {"--claim", "vm", "--i-am-lying-for-a-test", NULL};
    static const char words[] = "LYING FOR A TEST: the tier is stated as vm";
    test_daemon liar, honest;
    char claimed[160], own[160];
    wire_end end;
    daemon_start(&liar, "process", lie);
    daemon_start(&honest, "process", NULL);
    cr_assert(log_says(&liar, words));
    cr_assert_not(log_says(&honest, words));
    copy_policy(&liar, "vm", claimed);
    copy_policy(&honest, "process", own);
    cr_assert_str_neq(claimed, own, "the policy names the tier");
    expect_states(&liar, FLOOR("vm"), "vm");
    expect_states(&honest, FLOOR("process"), "process");
    wire_json(&honest, RUN, FLOOR("vm"), &end);
    expect_error(&end, 400, "failed_precondition", MARK_ISOLATION, NULL);
    wire_free(&end);
    cr_assert_eq(daemon_stop(&liar), 0);
    cr_assert_eq(daemon_stop(&honest), 0);
}
