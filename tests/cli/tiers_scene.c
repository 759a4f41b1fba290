#include "tests/cli/tiers_scene.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const environment[] = {"PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN, "COUNTERSIGN_KEY", NULL};

void scene_begin(scene *s, bool (*before)(void), const char *provider, const char *const more[]) {
    memset(s, 0, sizeof *s);
    documents_need();
    daemon_start_behind(&s->daemon, before, provider, more);
    documents_begin(&s->d);
    cli_begin(&s->c);
    s->c.how.env = environment;
}

void scene_end(scene *s) {
    cr_expect_eq(daemon_stop(&s->daemon), 0);
    cli_end(&s->c);
    documents_end(&s->d);
}

void scene_check(scene *s, const char *depth, int exit, const char *code) {
    documents_take(&s->d, &s->c, depth, exit, code, ARGS("tiers", "-d", s->daemon.url, "--cross-check", depth));
    documents_expect_valid(&s->d, NULL);
}

void scene_need_root(void) {
    if (geteuid() == 0) return;
    if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL")) cr_assert_fail("the host view needs root");
    cr_skip_test("SKIPPED: the host view needs root");
}

const char *scene_rule(const scene *s, const char *rule, const char *member) {
    size_t at = 0;
    json_t *each = NULL;
    json_array_foreach(cli_member(&s->c, "rules"), at, each) {
        const char *text = json_string_value(json_object_get(each, member));
        if (strcmp(json_string_value(json_object_get(each, "rule")), rule) == 0) return text != NULL ? text : "";
    }
    return "";
}

void scene_expect_contradicted(const scene *s, const char *const rules[]) {
    size_t count = 0;
    for (; rules[count] != NULL; count++)
        EXPECT_VERDICT(s, rules[count], "contradicted");
    cr_expect_eq(cli_number(&s->c, "contradictions"), (json_int_t)count, "%s", s->c.end.out);
}
