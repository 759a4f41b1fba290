/* The commands, and what they share. Only cli/ prints and exits. */
#ifndef CS_CLI_COMMAND_H
#define CS_CLI_COMMAND_H

#include "records/error.h"

typedef struct cs_command {
    const char *name;
    const char *summary; /* one line for --help */
    /* argv[0] is the command's name. Returns the exit code. */
    int (*main)(int argc, char **argv);
} cs_command;

int cs_cmd_keygen(int argc, char **argv);
int cs_cmd_run(int argc, char **argv);
int cs_cmd_session(int argc, char **argv);
int cs_cmd_verify(int argc, char **argv);
int cs_cmd_digest(int argc, char **argv);
int cs_cmd_replay(int argc, char **argv);
int cs_cmd_tiers(int argc, char **argv);
int cs_cmd_export(int argc, char **argv);
int cs_cmd_import(int argc, char **argv);
int cs_cmd_policy(int argc, char **argv);
int cs_cmd_gate(int argc, char **argv);
int cs_cmd_show(int argc, char **argv);
int cs_cmd_report(int argc, char **argv);
int cs_cmd_log(int argc, char **argv);
int cs_cmd_diff(int argc, char **argv);
int cs_cmd_codes(int argc, char **argv);
int cs_cmd_completion(int argc, char **argv);

/* All commands, in the order of --help; without a name at the end. */
extern const cs_command cs_commands[];

#endif
