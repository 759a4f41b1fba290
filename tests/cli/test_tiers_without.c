/* `countersign tiers` with real daemons that have left a guard out and serve all the same: the cross-check names what
 * is missing. The twins, honest daemons for which no rule contradicts, are here and in test_tiers.c. */
#include "tests/cli/tiers_scene.h"

static void begin(scene *s, const char *provider, const char *guards) {
    const char *const without[] = {"--without", guards, "--i-am-lying-for-a-test", NULL};
    scene_need_root();
    scene_begin(s, NULL, provider, guards != NULL ? without : NULL);
}

Test(tiers_without, network) {
    scene s;
    begin(&s, "container", "network");
    scene_check(&s, "host", 1, "tier-contradicted");
    scene_expect_contradicted(&s, ARGS("host-namespaces"));
    EXPECT_HAS(scene_rule(&s, "host-namespaces", "observation"), "is in this machine's own network namespace");
    /* The filter refuses the socket all the same. */
    EXPECT_VERDICT(&s, "host-loopback", "consistent");
    scene_end(&s);
}

Test(tiers_without, network_and_sockets) {
    scene s;
    begin(&s, "container", "network,sockets");
    scene_check(&s, "host", 1, "tier-contradicted");
    scene_expect_contradicted(&s, ARGS("host-namespaces", "host-loopback"));
    scene_end(&s);
}

Test(tiers_without, files) {
    scene s;
    begin(&s, "process", "files");
    scene_check(&s, "host", 1, "tier-contradicted");
    scene_expect_contradicted(&s, ARGS("host-file"));
    EXPECT_HAS(scene_rule(&s, "host-file", "observation"), "read a file that was laid out on this machine");
    scene_end(&s);
}

/* Landlock keeps /proc from the probe: what is missing is seen from outside only, or from inside without it. */
Test(tiers_without, system_call_filter) {
    scene s;
    begin(&s, "process", "syscalls,sockets");
    scene_check(&s, "host", 1, "tier-contradicted");
    scene_expect_contradicted(&s, ARGS("host-unconfined"));
    EXPECT_HAS(scene_rule(&s, "host-unconfined", "observation"), "it has no seccomp filter");
    EXPECT_VERDICT(&s, "unconfined-inside", "silent");
    scene_end(&s);
    begin(&s, "process", "files,syscalls,sockets");
    scene_check(&s, "probe", 1, "tier-contradicted");
    scene_expect_contradicted(&s, ARGS("unconfined-inside"));
    EXPECT_HAS(scene_rule(&s, "unconfined-inside", "observation"), "no seccomp filter is on it");
    scene_end(&s);
}

Test(tiers_without, an_honest_process_stands) {
    scene s;
    begin(&s, "process", NULL);
    scene_check(&s, "host", 0, "ok");
    scene_expect_contradicted(&s, ARGS(NULL));
    EXPECT_VERDICT(&s, "host-file", "consistent");
    EXPECT_VERDICT(&s, "host-unconfined", "consistent");
    EXPECT_VERDICT(&s, "host-loopback", "consistent");
    scene_end(&s);
}
