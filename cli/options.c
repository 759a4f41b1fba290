#include "cli/options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "records/text.h"

#define MAX_OPTIONS 24u
#define FIRST_VALUE 256 /* getopt's value of the first option; above every letter */
#define VALUE_HELP 1000
#define VALUE_VERSION 1001
#define VALUE_JSON 1002
#define HELP_BYTES 16384u
#define HELP_COLUMN 28

const char *const cs_tier_choices[] = {"process", "container", "kernel", "vm", NULL};

/* getopt's two tables, made from ours. */
typedef struct getopt_tables {
    char letters[2 * MAX_OPTIONS + 8];
    struct option names[MAX_OPTIONS + 4];
} getopt_tables;

static bool takes_value(const cs_option *option) {
    return option->kind != CS_OPTION_FLAG;
}

static void make_tables(const cs_usage *usage, getopt_tables *tables) {
    *tables = (getopt_tables){.letters = ":h"}; /* the colon: a missing value is told from an unknown option */
    size_t at = 2;
    size_t count = 0;
    for (size_t i = 0; i < usage->option_count && i < MAX_OPTIONS; i++) {
        const cs_option *option = &usage->options[i];
        if (option->letter != 0) {
            tables->letters[at++] = option->letter;
            if (takes_value(option)) tables->letters[at++] = ':';
        }
        tables->names[count++] = (struct option){.name = option->name,
                                                 .has_arg = takes_value(option) ? required_argument : no_argument,
                                                 .val = FIRST_VALUE + (int)i};
    }
    tables->names[count++] = (struct option){.name = "help", .val = VALUE_HELP};
    tables->names[count++] = (struct option){.name = "version", .val = VALUE_VERSION};
    tables->names[count++] = (struct option){.name = "json", .val = VALUE_JSON};
}

/* ---- --help --------------------------------------------------------------------------------- */

/* One option's line: "  -k, --key FILE      text". */
static bool help_option(cs_buf *text, char letter, const char *name, const char *value, const char *help) {
    char left[64];
    char short_form[8] = "    ";
    if (letter != 0) snprintf(short_form, sizeof short_form, "-%c, ", letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", short_form, name, value != NULL ? " " : "", value != NULL ? value : "");
    return cs_buf_printf(text, "%-*s %s\n", HELP_COLUMN, left, help);
}

static bool help_text(const cs_usage *usage, const char *title, cs_buf *text) {
    bool good = cs_buf_printf(text, "usage: %s %s\n\n%s\n\noptions:\n", title, usage->arguments, usage->about);
    for (size_t i = 0; good && i < usage->option_count; i++) {
        const cs_option *option = &usage->options[i];
        good = help_option(text, option->letter, option->name, option->value, option->help);
    }
    return good && help_option(text, 0, "json", NULL, "print one JSON document on stdout, whatever the outcome") &&
           help_option(text, 'h', "help", NULL, "print this") &&
           help_option(text, 0, "version", NULL, "print the version") &&
           cs_buf_printf(text, "\nexit codes:\n%s\nexample:\n%s", usage->exits, usage->example);
}

static cs_result print_help(const cs_usage *usage, cs_output *out) {
    CS_AUTO_BUF text = CS_BUF_INIT(HELP_BYTES);
    if (!help_text(usage, out->title, &text))
        return cs_fail(&out->err, CS_CODE_NO_MEMORY, "there is no memory for the help");
    cs_say(out, "%.*s", (int)text.len, (const char *)text.ptr);
    cs_member(out, "help", cs_json_of_text(cs_buf_view(&text)));
    snprintf(out->err.message, sizeof out->err.message, "help was asked for");
    return CS_OK;
}

static cs_result print_version(cs_output *out) {
    cs_say(out, "countersign %s\n", CS_VERSION);
    cs_member_text(out, "version", CS_VERSION);
    snprintf(out->err.message, sizeof out->err.message, "the version was asked for");
    return CS_OK;
}

/* ---- values --------------------------------------------------------------------------------- */

static cs_result read_number(const cs_option *option, const char *text, cs_error *err) {
    uint64_t value = 0;
    if (!cs_decimal_read(cs_view_of(text), (uint64_t)option->max, &value) || value < (uint64_t)option->min)
        return cs_fail(err, CS_CODE_USAGE, "--%s takes a whole number from %" PRId64 " to %" PRId64 ", not '%.40s'",
                       option->name, option->min, option->max, text);
    *(int64_t *)option->target = (int64_t)value;
    return CS_OK;
}

static cs_result read_choice(const cs_option *option, const char *text, cs_error *err) {
    for (int i = 0; option->choices[i] != NULL; i++) {
        if (strcmp(option->choices[i], text) == 0) {
            *(int *)option->target = i;
            return CS_OK;
        }
    }
    return cs_fail(err, CS_CODE_USAGE, "--%s takes %s, not '%.40s'", option->name, option->value, text);
}

static cs_result read_list(const cs_option *option, const char *text, cs_error *err) {
    cs_text_list *list = option->target;
    if (list->count == CS_MAX_LIST)
        return cs_fail(err, CS_CODE_USAGE, "--%s is given more than %u times", option->name, CS_MAX_LIST);
    list->items[list->count++] = text;
    return CS_OK;
}

static cs_result read_value(const cs_option *option, const char *text, cs_error *err) {
    switch (option->kind) {
    case CS_OPTION_FLAG:
        *(bool *)option->target = true;
        return CS_OK;
    case CS_OPTION_TEXT:
        *(const char **)option->target = text;
        return CS_OK;
    case CS_OPTION_LIST:
        return read_list(option, text, err);
    case CS_OPTION_NUMBER:
        return read_number(option, text, err);
    case CS_OPTION_CHOICE:
        return read_choice(option, text, err);
    }
    return cs_fail(err, CS_CODE_INTERNAL, "an option of unknown kind");
}

/* ---- parsing -------------------------------------------------------------------------------- */

/* Which option a value of getopt stands for; NULL for none of ours. */
static const cs_option *find_option(const cs_usage *usage, int value) {
    if (value >= FIRST_VALUE && value < FIRST_VALUE + (int)usage->option_count)
        return &usage->options[value - FIRST_VALUE];
    for (size_t i = 0; value != 0 && i < usage->option_count; i++)
        if (usage->options[i].letter == value) return &usage->options[i];
    return NULL;
}

/* getopt takes the beginning of a name for the name. What is an option of another command could then be the beginning
 * of one of this. */
static cs_result check_whole(const char *name, char **argv, cs_error *err) {
    const char *given = argv[optind - 1];
    if (optarg != NULL && optarg == given) given = argv[optind - 2];
    given += strlen("--");
    size_t len = strcspn(given, "=");
    if (len == strlen(name)) return CS_OK;
    return cs_fail(err, CS_CODE_USAGE,
                   "there is no option --%.*s; options are not shortened, and the one that begins so is --%s", (int)len,
                   given, name);
}

static cs_result take_option(const cs_usage *usage, int value, char **argv, bool *seen, cs_error *err) {
    const cs_option *option = find_option(usage, value == ':' || value == '?' ? optopt : value);
    if (value == ':' && option != NULL)
        return cs_fail(err, CS_CODE_USAGE, "--%s needs a value: %s", option->name, option->value);
    if (value == '?' && option != NULL) return cs_fail(err, CS_CODE_USAGE, "--%s takes no value", option->name);
    if (value == '?' && optopt > 0 && optopt < FIRST_VALUE)
        return cs_fail(err, CS_CODE_USAGE, "there is no option -%c", optopt);
    if (option == NULL)
        return cs_fail(err, CS_CODE_USAGE, "there is no option %.80s, or it is ambiguous or takes no value",
                       argv[optind - 1]);
    size_t index = (size_t)(option - usage->options);
    if (seen[index] && option->kind != CS_OPTION_LIST && option->kind != CS_OPTION_FLAG)
        return cs_fail(err, CS_CODE_USAGE, "--%s is given twice; it takes one value", option->name);
    seen[index] = true;
    return read_value(option, optarg, err);
}

/* A command that read it twice would find it empty, and say so of an input that is not. */
static bool names_standard_input_twice(char *const *arguments, size_t count) {
    size_t named = 0;
    for (size_t i = 0; i < count; i++)
        named += strcmp(arguments[i], "-") == 0;
    return named > 1;
}

static cs_result check_arguments(const cs_usage *usage, char *const *arguments, size_t count, cs_error *err) {
    if (count < usage->min_arguments)
        return cs_fail(err, CS_CODE_USAGE, "an argument is missing: %s", usage->arguments);
    if (count > usage->max_arguments)
        return cs_fail(err, CS_CODE_USAGE, "there are %zu arguments where %zu %s the most: %s", count,
                       usage->max_arguments, cs_plural(usage->max_arguments, "is", "are"), usage->arguments);
    if (names_standard_input_twice(arguments, count))
        return cs_fail(err, CS_CODE_USAGE, "standard input can be read once only");
    return CS_OK;
}

static cs_usage_reader *usage_reader;
static void *usage_reader_user;

void cs_options_read(cs_usage_reader *reader, void *user) {
    usage_reader = reader;
    usage_reader_user = user;
}

cs_parse cs_options_parse(const cs_usage *usage, int argc, char **argv, cs_output *out, int *first, cs_result *result) {
    if (usage_reader != NULL) {
        usage_reader(usage_reader_user, usage);
        *first = argc;
        *result = CS_OK;
        return CS_PARSE_STOP;
    }
    getopt_tables tables;
    make_tables(usage, &tables);
    bool seen[MAX_OPTIONS] = {false};
    bool version = false;
    bool help = false;
    *result = CS_OK;
    optind = 0; /* GNU getopt: begin anew */
    opterr = 0;
    while (*result == CS_OK) {
        int index = -1;
        int value = getopt_long(argc, argv, tables.letters, tables.names, &index);
        if (value == -1) break;
        if (index >= 0 && tables.names[index].name != NULL)
            *result = check_whole(tables.names[index].name, argv, &out->err);
        if (*result != CS_OK) break;
        if (value == VALUE_HELP || value == 'h')
            help = true;
        else if (value == VALUE_VERSION)
            version = true;
        else if (value == VALUE_JSON)
            continue; /* cs_output_begin saw it */
        else
            *result = take_option(usage, value, argv, seen, &out->err);
    }
    *first = optind;
    if (*result != CS_OK) return CS_PARSE_STOP;
    if (help || version) {
        *result = help ? print_help(usage, out) : print_version(out);
        return CS_PARSE_STOP;
    }
    *result = check_arguments(usage, argv + optind, (size_t)(argc - optind), &out->err);
    return *result == CS_OK ? CS_PARSE_GO : CS_PARSE_STOP;
}
