/* The bundles that tests of several commands read, and the parts of a project run for them. */
#ifndef CS_TESTS_CLI_BUNDLES_H
#define CS_TESTS_CLI_BUNDLES_H

#include "tests/cli/cli_case.h"
#include "tests/gate/gate_case.h"

/* Into the case's folder: key.pub and other.pub, of the keys 1 and 2; good.jsonl: this run, which is sealed here, and a
 * session of so many calls, signed with key 1; bad.jsonl: the same, and the run with an output that was not signed;
 * empty.jsonl. Returns the lines of good.jsonl. */
forge_bundle bundles_write(cli_case *c, forge_run run, size_t calls);

/* A project run that went well, but has no file and no step until they are added. */
gate_run bundles_project(void);
void bundles_add_file(gate_run *run, const char *path, const char *content);
void bundles_add_step(gate_run *run, const char *step);

#endif
