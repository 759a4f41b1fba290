#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"

const cs_command cs_commands[] = {
    {"keygen", "make a key pair", cs_cmd_keygen},
    {"run", "send one run to a daemon, check the answer, sign it, keep it", cs_cmd_run},
    {"session", "run several calls in one session of a daemon; check, sign and keep each", cs_cmd_session},
    {"verify", "verify ledgers and bundles", cs_cmd_verify},
    {"digest", "print the digests of requests, to expect their records with verify", cs_cmd_digest},
    {"replay", "run stored work again on daemons and compare", cs_cmd_replay},
    {"export", "write a ledger's signed entries as a linked bundle", cs_cmd_export},
    {"import", "verify bundles and take them into a ledger", cs_cmd_import},
    {"tiers", "try to refute a daemon's isolation claim", cs_cmd_tiers},
    {"policy", "read a gate's policy and say its rules in words", cs_cmd_policy},
    {"gate", "decide whether a commit has the runs that a policy asks for", cs_cmd_gate},
    {"show", "list the entries of a ledger or bundle, or show one in full", cs_cmd_show},
    {"report", "write a page of HTML for a reviewer", cs_cmd_report},
    {"log", "list what happened: entries by time, provider, tier, verdict or commit", cs_cmd_log},
    {"diff", "compare two entries, field by field", cs_cmd_diff},
    {"codes", "list every code with its exit code and meaning", cs_cmd_codes},
    {"completion", "print the completion script of a shell", cs_cmd_completion},
    {NULL, NULL, NULL},
};
#define COMMAND_COUNT (sizeof cs_commands / sizeof cs_commands[0] - 1)

static void say_commands(cs_output *out) {
    cs_say(out, "usage: countersign COMMAND [OPTIONS]\n\ncommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        cs_say(out, "  %-10s %s\n", cs_commands[i].name, cs_commands[i].summary);
    cs_say(out, "\n`countersign COMMAND --help` tells a command's options, exit codes and an example.\n");
    if (!out->json) return;
    json_t *list = json_array();
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        json_t *object = json_pack("{s:s, s:s}", "command", cs_commands[i].name, "summary", cs_commands[i].summary);
        if (json_array_append_new(list, object) != 0) out->lost = true;
    }
    cs_member(out, "commands", list);
}

/* No command: --help, --version, or a wrong command line. */
static int without_command(int argc, char **argv) {
    char name[] = "countersign";
    char *title = argv[0];
    argv[0] = name;
    cs_output out;
    cs_output_begin(&out, "", argc, argv);
    argv[0] = title;
    const char *word = argc > 1 ? argv[1] : "";
    if (out.json && strcmp(word, "--json") == 0 && argc > 2) word = argv[2];
    cs_result result = CS_OK;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        say_commands(&out);
        snprintf(out.err.message, sizeof out.err.message, "help was asked for");
    } else if (strcmp(word, "--version") == 0) {
        cs_say(&out, "countersign %s\n", CS_VERSION);
        cs_member_text(&out, "version", CS_VERSION);
        snprintf(out.err.message, sizeof out.err.message, "the version was asked for");
    } else if (word[0] == '\0' || strcmp(word, "--json") == 0) {
        result = cs_fail(&out.err, CS_CODE_USAGE, "name a command");
    } else {
        result = cs_fail(&out.err, CS_CODE_USAGE, "there is no command '%.80s'", word);
    }
    return cs_output_end(&out, result);
}

int main(int argc, char **argv) {
    if (argc < 1) return CS_USAGE;
    for (size_t i = 0; argc > 1 && i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], cs_commands[i].name) == 0) return cs_commands[i].main(argc - 1, argv + 1);
    return without_command(argc, argv);
}
