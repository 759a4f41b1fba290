/* Completion scripts: a beginning, a part for each command, an end. Everything is appended to a text; false without
 * memory. */
#ifndef CS_CLI_COMPLETION_H
#define CS_CLI_COMPLETION_H

#include "cli/command.h"
#include "cli/options.h"

/* What may stand where a value is expected. */
typedef enum cs_completion_kind {
    CS_COMPLETE_TEXT, /* nothing that a shell could know */
    CS_COMPLETE_FILE,
    CS_COMPLETE_WORD /* one of the option's choices */
} cs_completion_kind;

cs_completion_kind cs_completion_of_option(const cs_option *option);

/* The words that a command's arguments begin with, like the check of `policy check POLICY.json`, separated by blanks;
 * none: empty. */
#define CS_COMPLETION_WORDS 128u
void cs_completion_words(const cs_usage *usage, char words[CS_COMPLETION_WORDS]);
/* Whether files stand among them. */
bool cs_completion_takes_files(const cs_usage *usage);

typedef struct cs_completion_shell {
    const char *name;
    CS_MUST_CHECK bool (*begin)(cs_buf *text);
    CS_MUST_CHECK bool (*command)(cs_buf *text, const cs_usage *usage);
    CS_MUST_CHECK bool (*end)(cs_buf *text, const cs_command *commands);
} cs_completion_shell;

extern const cs_completion_shell cs_completion_bash;
extern const cs_completion_shell cs_completion_zsh;

#endif
