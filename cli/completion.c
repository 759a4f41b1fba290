#include "cli/completion.h"

#include <stdio.h>
#include <string.h>

#define SCRIPT_BYTES ((size_t)1024 * 1024)

static const cs_completion_shell *const shells[] = {&cs_completion_bash, &cs_completion_zsh};
#define SHELL_COUNT (sizeof shells / sizeof shells[0])

/* ---- what a table says ---------------------------------------------------------------------- */

cs_completion_kind cs_completion_of_option(const cs_option *option) {
    static const char *const files[] = {"FILE", "KEY", "PUB", "LEDGER", "BUNDLE", "PATH", "PREFIX", "DIR", "REPO"};
    if (option->choices != NULL) return CS_COMPLETE_WORD;
    if (option->kind == CS_OPTION_NUMBER) return CS_COMPLETE_TEXT;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (strcmp(option->value, files[i]) == 0) return CS_COMPLETE_FILE;
    return strstr(option->value, ".json") != NULL ? CS_COMPLETE_FILE : CS_COMPLETE_TEXT;
}

/* What is small in the line of arguments, and no option, is meant literally. */
void cs_completion_words(const cs_usage *usage, char words[CS_COMPLETION_WORDS]) {
    size_t used = 0;
    const char *at = usage->arguments;
    while (*at != '\0') {
        size_t token = strcspn(at, " ");
        size_t word = strspn(at, "abcdefghijklmnopqrstuvwxyz|");
        if (word > 1 && word == token && used + word + 2 < CS_COMPLETION_WORDS) {
            if (used > 0) words[used++] = ' ';
            memcpy(words + used, at, word);
            used += word;
        }
        at += token + strspn(at + token, " ");
    }
    words[used] = '\0';
    for (char *bar = strchr(words, '|'); bar != NULL; bar = strchr(bar, '|'))
        *bar = ' ';
}

bool cs_completion_takes_files(const cs_usage *usage) {
    char words[CS_COMPLETION_WORDS];
    cs_completion_words(usage, words);
    return usage->max_arguments > (words[0] != '\0' ? 1 : 0);
}

/* ---- the script ----------------------------------------------------------------------------- */

typedef struct script {
    const cs_completion_shell *shell;
    cs_buf *text;
    size_t commands; /* whose tables were read */
    bool good;
} script;

static void take_table(void *user, const cs_usage *usage) {
    script *of = user;
    of->commands++;
    of->good = of->good && of->shell->command(of->text, usage);
}

/* Each command is started with its name alone and stops where it would parse its line. */
static cs_result write_script(const cs_completion_shell *shell, cs_buf *text, cs_error *err) {
    script of = {.shell = shell, .text = text, .good = shell->begin(text)};
    size_t count = 0;
    cs_options_read(take_table, &of);
    for (; cs_commands[count].name != NULL; count++) {
        char name[32];
        char *argv[] = {name, NULL};
        (void)snprintf(name, sizeof name, "%s", cs_commands[count].name);
        if (cs_commands[count].main(1, argv) != 0) of.good = false;
    }
    cs_options_read(NULL, NULL);
    if (of.good && of.commands != count)
        return cs_fail(err, CS_CODE_INTERNAL, "%zu of %zu commands have told their options", of.commands, count);
    if (!of.good || !shell->end(text, cs_commands))
        return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the script");
    return CS_OK;
}

static cs_result print_script(cs_output *out, const char *name) {
    const cs_completion_shell *shell = NULL;
    for (size_t i = 0; i < SHELL_COUNT; i++)
        if (strcmp(shells[i]->name, name) == 0) shell = shells[i];
    if (shell == NULL) return cs_fail(&out->err, CS_CODE_USAGE, "completion takes bash or zsh, not '%.40s'", name);
    CS_AUTO_BUF text = CS_BUF_INIT(SCRIPT_BYTES);
    cs_result result = write_script(shell, &text, &out->err);
    if (result != CS_OK) return result;
    cs_say(out, "%.*s", (int)text.len, (const char *)text.ptr);
    cs_member_text(out, "shell", shell->name);
    cs_member(out, "script", cs_json_of_text(cs_buf_view(&text)));
    (void)snprintf(out->err.message, sizeof out->err.message, "this is the script");
    return CS_OK;
}

int cs_cmd_completion(int argc, char **argv) {
    const cs_usage usage = {
        .command = "completion",
        .arguments = "bash|zsh",
        .about = "Print a script that lets the shell complete commands, options and their values. bash: source it, or\n"
                 "put it into share/bash-completion/completions as countersign. zsh: put it into a folder of fpath as\n"
                 "_countersign. `make install` does both.",
        .min_arguments = 1,
        .max_arguments = 1,
        .exits = "  0  the script was printed\n  2  the command line is wrong\n",
        .example = "  . <(countersign completion bash)\n",
    };
    cs_output out;
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO)
        result = print_script(&out, argv[first]);
    return cs_output_end(&out, result);
}
