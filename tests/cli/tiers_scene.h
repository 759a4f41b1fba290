/* A real daemon that `countersign tiers` checks, with the documents that came of it. */
#ifndef CS_TESTS_CLI_TIERS_SCENE_H
#define CS_TESTS_CLI_TIERS_SCENE_H

#include "tests/cli/documents.h"
#include "tests/support/daemon.h"

typedef struct scene {
    cli_case c;
    documents d;
    test_daemon daemon;
} scene;

/* A daemon with these further arguments (NULL: none), behind what `before` (daemon.h; NULL: nothing) makes of it. */
void scene_begin(scene *s, bool (*before)(void), const char *provider, const char *const more[]);
void scene_end(scene *s);

/* Check the daemon to a depth; what is printed is valid. The document is named after the depth. */
void scene_check(scene *s, const char *depth, int exit, const char *code);

/* The host view needs root: the test is skipped without, loudly; in CI it fails. */
void scene_need_root(void);

/* A rule's member in the report, as "verdict"; "" when it was not asked. */
const char *scene_rule(const scene *s, const char *rule, const char *member);

#define EXPECT_RULE(s, rule, member, want)                                                                             \
    cr_expect_str_eq(scene_rule((s), (rule), (member)), (want), "%s: %s in %s", (rule),                                \
                     scene_rule((s), (rule), (member)), (s)->c.end.out)
#define EXPECT_VERDICT(s, rule, want) EXPECT_RULE(s, rule, "verdict", want)

/* How many rules contradict, and these are all of them (NULL at the end). */
void scene_expect_contradicted(const scene *s, const char *const rules[]);

#endif
