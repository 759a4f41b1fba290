#include "cli/completion.h"

/* For bash 4 and later; nothing of the package bash-completion is needed. Files are left to readline (-o default),
 * which knows how to quote them; where no file belongs, that is taken back. */

static bool begin(cs_buf *text) {
    return cs_buf_text(text, "# Completion of countersign and countersign-verify for bash 4 and later.\n"
                             "# Printed by `countersign completion bash`, from the tables of --help.\n");
}

/* "-k --key" or "-k | --key" */
static bool names(cs_buf *text, const cs_option *option, const char *between) {
    return (option->letter == 0 || cs_buf_printf(text, "-%c%s", option->letter, between)) &&
           cs_buf_printf(text, "--%s", option->name);
}

static bool value(cs_buf *text, const cs_option *option) {
    bool good = cs_buf_text(text, "        ") && names(text, option, " | ");
    switch (cs_completion_of_option(option)) {
    case CS_COMPLETE_FILE:
        return good && cs_buf_text(text, ") kind='file' ;;\n");
    case CS_COMPLETE_TEXT:
        return good && cs_buf_text(text, ") kind='text' ;;\n");
    case CS_COMPLETE_WORD:
        break;
    }
    good = good && cs_buf_text(text, ") kind='word' words='");
    for (size_t i = 0; option->choices[i] != NULL; i++)
        good = good && cs_buf_printf(text, "%s%s", i > 0 ? " " : "", option->choices[i]);
    return good && cs_buf_text(text, "' ;;\n");
}

/* A function that says what the option $1 of the command takes, and what it takes else. */
static bool command(cs_buf *text, const cs_usage *usage) {
    char words[CS_COMPLETION_WORDS];
    cs_completion_words(usage, words);
    bool good = cs_buf_printf(text, "\n_countersign_%s() {\n    options='", usage->command);
    for (size_t i = 0; i < usage->option_count; i++)
        good = good && names(text, &usage->options[i], " ") && cs_buf_byte(text, ' ');
    good = good && cs_buf_printf(text,
                                 "--json -h --help --version'\n    arguments='%s'\n    files=%s\n"
                                 "    case $1 in\n",
                                 words, cs_completion_takes_files(usage) ? "yes" : "no");
    for (size_t i = 0; i < usage->option_count; i++)
        if (usage->options[i].kind != CS_OPTION_FLAG) good = good && value(text, &usage->options[i]);
    return good && cs_buf_text(text, "        *) kind='' ;;\n    esac\n}\n");
}

static const char script[] =
    "\n"
    "# Offer words. Files are offered by readline where there are no words, so it is told not to.\n"
    "_countersign_offer() {\n"
    "    compopt +o default +o bashdefault 2> /dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\")\n"
    "}\n"
    "\n"
    "_countersign() {\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=verify first=1 at\n"
    "    local options='' arguments='' files='' kind='' words=''\n"
    "    COMPREPLY=()\n"
    "    # --option=value comes as three words.\n"
    "    if [[ $current == '=' ]]; then\n"
    "        current=''\n"
    "    elif [[ $before == '=' ]] && ((COMP_CWORD > 2)); then\n"
    "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    if [[ ${COMP_WORDS[0]##*/} != countersign-verify ]]; then\n"
    "        if ((COMP_CWORD == 1)); then\n"
    "            _countersign_offer \"$_countersign_commands --json -h --help --version\" \"$current\"\n"
    "            return\n"
    "        fi\n"
    "        command=${COMP_WORDS[1]} first=2\n"
    "    fi\n"
    "    [[ \" $_countersign_commands \" == *\" $command \"* ]] || return\n"
    "    \"_countersign_$command\" \"$before\"\n"
    "    for ((at = first; at < COMP_CWORD; at++)); do\n"
    "        # Behind -- there are no options any more.\n"
    "        if [[ ${COMP_WORDS[at]} == -- ]]; then options='' kind=''; fi\n"
    "        if [[ \" $arguments \" == *\" ${COMP_WORDS[at]} \"* ]]; then arguments=''; fi\n"
    "    done\n"
    "    if [[ $kind == file ]]; then\n"
    "        return\n"
    "    elif [[ -n $kind ]]; then\n"
    "        _countersign_offer \"$words\" \"$current\"\n"
    "    elif [[ $current == -* && -n $options ]]; then\n"
    "        _countersign_offer \"$options\" \"$current\"\n"
    "    elif [[ -n $arguments || $files == no ]]; then\n"
    "        _countersign_offer \"$arguments\" \"$current\"\n"
    "    fi\n"
    "}\n"
    "\n"
    "complete -o bashdefault -o default -F _countersign countersign countersign-verify\n";

static bool end(cs_buf *text, const cs_command *commands) {
    bool good = cs_buf_text(text, "\n_countersign_commands='");
    for (size_t i = 0; commands[i].name != NULL; i++)
        good = good && cs_buf_printf(text, "%s%s", i > 0 ? " " : "", commands[i].name);
    return good && cs_buf_text(text, "'\n") && cs_buf_text(text, script);
}

const cs_completion_shell cs_completion_bash = {.name = "bash", .begin = begin, .command = command, .end = end};
