#include <string.h>

#include "cli/completion.h"

static bool begin(cs_buf *text) {
    return cs_buf_text(text, "#compdef countersign countersign-verify\n"
                             "# Completion of countersign and countersign-verify for zsh.\n"
                             "# Printed by `countersign completion zsh`, from the tables of --help.\n");
}

/* Text within single quotes, where _arguments gives a meaning to the characters of `special`. */
static bool quoted(cs_buf *text, const char *from, const char *special) {
    for (; *from != '\0'; from++) {
        bool good = true;
        if (*from == '\'')
            good = cs_buf_text(text, "'\\'");
        else if (strchr(special, *from) != NULL)
            good = cs_buf_byte(text, '\\');
        if (!good || !cs_buf_byte(text, (uint8_t)*from)) return false;
    }
    return true;
}

/* ":message:action" of a value. A blank as the action: nothing is offered, the message is shown. */
static bool value(cs_buf *text, const cs_option *option) {
    bool good = cs_buf_byte(text, ':') && quoted(text, option->value, ":\\") && cs_buf_byte(text, ':');
    switch (cs_completion_of_option(option)) {
    case CS_COMPLETE_FILE:
        return good && cs_buf_text(text, "_files");
    case CS_COMPLETE_TEXT:
        return good && cs_buf_byte(text, ' ');
    case CS_COMPLETE_WORD:
        break;
    }
    good = good && cs_buf_byte(text, '(');
    for (size_t i = 0; option->choices[i] != NULL; i++)
        good = good && cs_buf_printf(text, "%s%s", i > 0 ? " " : "", option->choices[i]);
    return good && cs_buf_byte(text, ')');
}

/* One option in the words of _arguments: '(-k --key)'{-k+,--key=}'[text]:FILE:_files' */
static bool option_spec(cs_buf *text, const cs_option *option) {
    bool takes = option->kind != CS_OPTION_FLAG;
    const char *assign = takes ? "=" : "";
    bool good = cs_buf_text(text, " \\\n        '");
    if (option->kind == CS_OPTION_LIST)
        good = good && cs_buf_text(text, "*");
    else if (option->letter != 0)
        good = good && cs_buf_printf(text, "(-%c --%s)", option->letter, option->name);
    if (option->letter != 0)
        good = good && cs_buf_printf(text, "'{-%c%s,--%s%s}'", option->letter, takes ? "+" : "", option->name, assign);
    else
        good = good && cs_buf_printf(text, "--%s%s", option->name, assign);
    good = good && cs_buf_byte(text, '[') && quoted(text, option->help, "[]\\") && cs_buf_byte(text, ']');
    if (takes) good = good && value(text, option);
    return good && cs_buf_byte(text, '\'');
}

static bool command(cs_buf *text, const cs_usage *usage) {
    char words[CS_COMPLETION_WORDS];
    cs_completion_words(usage, words);
    bool good = cs_buf_printf(text, "\n_countersign_%s() {\n    _arguments -s -S :", usage->command);
    for (size_t i = 0; i < usage->option_count; i++)
        good = good && option_spec(text, &usage->options[i]);
    good = good && cs_buf_text(text, " \\\n        '--json[print one JSON document on stdout, whatever the outcome]'"
                                     " \\\n        '(- *)'{-h,--help}'[print the help]'"
                                     " \\\n        '(- *)--version[print the version]'");
    if (words[0] != '\0') good = good && cs_buf_printf(text, " \\\n        '1:word:(%s)'", words);
    if (cs_completion_takes_files(usage)) good = good && cs_buf_text(text, " \\\n        '*:file:_files'");
    return good && cs_buf_text(text, "\n}\n");
}

static const char script[] = "    )\n"
                             "    if [[ ${service:t} == countersign-verify ]]; then\n"
                             "        _countersign_verify\n"
                             "    elif ((CURRENT == 2)); then\n"
                             "        if [[ $words[2] == -* ]]; then\n"
                             "            compadd -- --json -h --help --version\n"
                             "        else\n"
                             "            _describe -t commands command commands\n"
                             "        fi\n"
                             "    else\n"
                             "        local name=$words[2]\n"
                             "        (( ${commands[(I)$name:*]} )) || return 1\n"
                             "        shift words\n"
                             "        (( CURRENT-- ))\n"
                             "        _countersign_$name\n"
                             "    fi\n"
                             "}\n"
                             "\n"
                             "# As a file of fpath this is the body of _countersign; sourced, it says what it is for.\n"
                             "if [[ $funcstack[1] == _countersign ]]; then\n"
                             "    _countersign \"$@\"\n"
                             "else\n"
                             "    compdef _countersign countersign countersign-verify\n"
                             "fi\n";

static bool end(cs_buf *text, const cs_command *commands) {
    bool good = cs_buf_text(text, "\n_countersign() {\n    local -a commands=(\n");
    for (size_t i = 0; good && commands[i].name != NULL; i++)
        good = cs_buf_printf(text, "        '%s:", commands[i].name) && quoted(text, commands[i].summary, "\\") &&
               cs_buf_text(text, "'\n");
    return good && cs_buf_text(text, script);
}

const cs_completion_shell cs_completion_zsh = {.name = "zsh", .begin = begin, .command = command, .end = end};
