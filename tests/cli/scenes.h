/* Every command in many situations; its documents are kept (documents.h). */
#ifndef CS_TESTS_CLI_SCENES_H
#define CS_TESTS_CLI_SCENES_H

#include "tests/cli/documents.h"

/* Without a daemon (scenes_offline.c). */
void scene_lines(documents *d); /* --help, --version, and wrong lines of every command */
void scene_keys(documents *d);  /* keygen, codes */
void scene_digest(documents *d);
void scene_verify(documents *d); /* bundles */
void scene_expected(documents *d);
void scene_show(documents *d);   /* bundles */
void scene_ledger(documents *d); /* import, export, and the ledger between them */
void scene_policy(documents *d);
void scene_gate(documents *d); /* scenes_gate.c */
void scene_log(documents *d); /* scenes_review.c */
void scene_diff(documents *d);
void scene_report(documents *d);

/* With scripted daemons (scenes_daemon.c). */
void scene_run(documents *d);
void scene_session(documents *d);
void scene_replay(documents *d);
void scene_tiers(documents *d); /* what ends without a verdict on the claim */

#endif
