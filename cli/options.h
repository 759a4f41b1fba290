/* Command lines: one table per command gives parsing (getopt_long) and the text of --help.
 *
 * Every command also knows --help, --version and --json. Abbreviations of long options work as
 * getopt_long has them. What is wrong with a command line is an error of code "usage".
 */
#ifndef CS_CLI_OPTIONS_H
#define CS_CLI_OPTIONS_H

#include "cli/output.h"

#define CS_MAX_LIST 64u

/* Values of an option that may be given several times. Borrowed from argv. */
typedef struct cs_text_list {
    const char *items[CS_MAX_LIST];
    size_t count;
} cs_text_list;

typedef enum cs_option_kind {
    CS_OPTION_FLAG,   /* bool */
    CS_OPTION_TEXT,   /* const char *, at most once */
    CS_OPTION_LIST,   /* cs_text_list */
    CS_OPTION_NUMBER, /* int64_t, at most once, min..max, in decimal digits alone */
    CS_OPTION_CHOICE  /* int: the index of the word in `choices`, at most once */
} cs_option_kind;

typedef struct cs_option {
    const char *name; /* long name without dashes */
    char letter;      /* 0: none */
    cs_option_kind kind;
    void *target;
    const char *value; /* what --help calls the value; NULL for a flag */
    const char *help;
    int64_t min, max;           /* of a number; none is negative */
    const char *const *choices; /* NULL at the end. Of a text or list: words that completion offers, no more */
} cs_option;

/* One command's line, for parsing and for --help. */
typedef struct cs_usage {
    const char *command;
    const char *arguments; /* "-p PUB... INPUT..." */
    const char *about;     /* what it does, one or two sentences */
    const cs_option *options;
    size_t option_count;
    size_t min_arguments; /* behind the options */
    size_t max_arguments;
    const char *exits;   /* exit codes that matter here, one per line */
    const char *example; /* one or more lines */
} cs_usage;

extern const char *const cs_tier_choices[]; /* the tiers, weakest first; NULL at the end */

typedef enum cs_parse { CS_PARSE_GO, CS_PARSE_STOP } cs_parse;

/* Parse argv; argv[0] is the command's (or the program's) name. CS_PARSE_GO: *first is the index of the first
 * argument behind the options. CS_PARSE_STOP: --help, --version or an error was dealt with; *result and
 * out say how the command ends. */
CS_MUST_CHECK cs_parse cs_options_parse(const cs_usage *usage, int argc, char **argv, cs_output *out, int *first,
                                        cs_result *result);

/* From now on hand every command's table to `reader` and stop there, instead of parsing a line; NULL: parse again. The
 * table is borrowed for the call. Completion scripts are made so, from what --help is made of. */
typedef void cs_usage_reader(void *user, const cs_usage *usage);
void cs_options_read(cs_usage_reader *reader, void *user);

#endif
