/* Command lines: help, versions, and everything that is wrong with one, as text and as JSON. */
#include "tests/cli/cli_case.h"

#include <stdlib.h>

static const char *const commands[] = {"keygen", "run",    "session", "verify", "digest",    "replay",
                                       "export", "import", "tiers",   "policy", "gate",      "show",
                                       "report", "log",    "diff",    "codes",  "completion"};
#define COMMANDS (sizeof commands / sizeof commands[0])

Test(usage, help_of_every_command) {
    cli_case c;
    cli_begin(&c);
    for (size_t i = 0; i < COMMANDS; i++) {
        EXPECT_EXIT(&c, cli_run(&c, ARGS(commands[i], "--help")), 0);
        EXPECT_HAS(c.end.out, "usage: countersign ");
        EXPECT_HAS(c.end.out, commands[i]);
        EXPECT_HAS(c.end.out, "exit codes:");
        EXPECT_HAS(c.end.out, "example:");
        EXPECT_HAS(c.end.out, "--json");
        cr_expect_str_eq(c.end.err, "");
        EXPECT_EXIT(&c, cli_json(&c, ARGS(commands[i], "-h")), 0);
        EXPECT_HAS(cli_text(&c, "help"), "usage: countersign ");
        EXPECT_TEXT(&c, "command", commands[i]);
    }
    cli_end(&c);
}

/* The file VERSION, beside the build folder or where the tests run; without its newline. */
static char *version(void) {
    char path[1024];
    size_t len = 0;
    exec_built("../VERSION", path);
    char *text = file_read(path, &len);
    if (text == NULL) text = file_read("VERSION", &len);
    cr_assert_not_null(text, "VERSION can't be read");
    text[strcspn(text, "\n")] = '\0';
    cr_assert_gt(strlen(text), 4);
    return text;
}

Test(usage, version_everywhere) {
    cli_case c;
    cli_begin(&c);
    char *number = version();
    const char *line = forge_text("countersign %s\n", number);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("--version")), 0);
    cr_expect_str_eq(c.end.out, line);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("run", "--version")), 0);
    cr_expect_str_eq(c.end.out, line);
    EXPECT_EXIT(&c, cli_run_program(&c, "countersign-verify", ARGS("--version")), 0);
    cr_expect_str_eq(c.end.out, line);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("--version")), 0);
    EXPECT_TEXT(&c, "version", number);
    free(number);
    cli_end(&c);
}

Test(usage, without_a_command) {
    cli_case c;
    cli_begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, (const char *const[]){NULL}), 2);
    EXPECT_HAS(c.end.err, "[usage]");
    cr_expect_str_eq(c.end.out, "");
    EXPECT_EXIT(&c, cli_json(&c, (const char *const[]){NULL}), 2);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("--help")), 0);
    for (size_t i = 0; i < COMMANDS; i++)
        EXPECT_HAS(c.end.out, commands[i]);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("--help")), 0);
    EXPECT_TEXT(&c, "commands.0.command", "keygen");
    cli_end(&c);
}

/* Each line is wrong in one way; what it says must name it. */
typedef struct wrong_line {
    const char *arguments[10];
    const char *says;
} wrong_line;

static const wrong_line wrong[] = {
    {{"frobnicate"}, "no command 'frobnicate'"},
    {{"keygen"}, "-o PREFIX"},
    {{"keygen", "-o", "a", "extra"}, "argument"},
    {{"keygen", "-o"}, "--output needs a value"},
    {{"keygen", "--output"}, "--output needs a value"},
    {{"keygen", "-o", "a", "-o", "b"}, "given twice"},
    {{"keygen", "-x"}, "no option -x"},
    {{"keygen", "--frobnicate"}, "--frobnicate"},
    {{"run", "-d", "http://127.0.0.1:1", "-l", "l"}, "argument is missing"},
    {{"run", "-l", "l", "r.json"}, "-d URL"},
    {{"run", "-d", "http://127.0.0.1:1", "r.json"}, "-l FILE"},
    {{"run", "-d", "u", "-l", "l", "a.json", "b.json"}, "2 arguments"},
    {{"run", "-d", "u", "-l", "l", "--codec", "xml", "a.json"}, "binary|json"},
    {{"run", "-d", "u", "-l", "l", "--timeout", "0", "a.json"}, "from 1 to 86400"},
    {{"run", "-d", "u", "-l", "l", "--timeout", "12x", "a.json"}, "'12x'"},
    {{"run", "-d", "u", "-l", "l", "--skew", "-1", "a.json"}, "from 0 to 86400"},
    {{"run", "--allow-cleartext=yes", "a.json"}, "takes no value"},
    {{"verify", "x"}, "-p"},
    {{"completion"}, "bash|zsh"},
    {{"completion", "fish"}, "not 'fish'"},
    {{"completion", "bash", "zsh"}, "2 arguments"},
    {{"verify", "-p", "k.pub"}, "argument is missing"},
    {{"verify", "--trust"}, "--trust needs a value"},
    {{"verify", "-p", "k.pub", "--expect-count", "0", "x"}, "from 1 to "},
    {{"verify", "-p", "k.pub", "--expect", "a", "--expect", "b", "x"}, "given twice"},
    {{"digest"}, "argument is missing"},
    {{"digest", "--protocol", "9", "r.json"}, "from 1 to 4"},
    {{"digest", "--floor", "vm", "r.json"}, "--calls"},
    {{"replay", "-d", "u", "x"}, "-p"},
    {{"replay", "-p", "k.pub", "x"}, "-d URL"},
    {{"replay", "-p", "k.pub", "-d", "u", "--runs", "1", "x"}, "from 2 to 100"},
    {{"replay", "-p", "k.pub", "-d", "u", "--entry", "0", "x"}, "from 1 to"},
    {{"replay", "-p", "k.pub", "-d", "u", "-k", "k.key", "x"}, "-l"},
    {{"show"}, "argument is missing"},
    {{"show", "x", "0"}, "ENTRY"},
    {{"show", "x", "one"}, "ENTRY"},
    {{"show", "x", " 1"}, "not ' 1'"},
    {{"show", "x", "+1"}, "not '+1'"},
    {{"show", "x", "1 "}, "not '1 '"},
    {{"show", "x", ""}, "not ''"},
    {{"show", "x", "9223372036854775808"}, "ENTRY"},
    {{"run", "-d", "u", "-l", "l", "--timeout", "+12", "a.json"}, "'+12'"},
    {{"run", "-d", "u", "-l", "l", "--timeout", " 12", "a.json"}, "' 12'"},
    {{"run", "-d", "u", "-l", "l", "--timeout", "12 ", "a.json"}, "'12 '"},
    {{"run", "-d", "u", "-l", "l", "--timeout", "", "a.json"}, "''"},
    {{"run", "-d", "u", "-l", "l", "--timeout", "18446744073709551628", "a.json"}, "from 1 to 86400"},
    {{"verify", "-p", "k.pub", "--expect-count", "9223372036854775808", "x"}, "from 1 to "},
    {{"run", "-d", "u", "-l", "l", "--require", "a.json"}, "no option --require; options are not shortened"},
    {{"run", "-d", "u", "-l", "l", "--time", "12", "a.json"}, "no option --time; options are not shortened"},
    {{"run", "-d", "u", "-l", "l", "--time=12", "a.json"}, "the one that begins so is --timeout"},
    {{"run", "--daemo", "-l", "l", "a.json"}, "no option --daemo;"}, /* a value that looks like an option */
    {{"keygen", "--js", "-o", "a"}, "the one that begins so is --json"},
    {{"keygen", "--hel"}, "the one that begins so is --help"},
    {{"codes", "x"}, "argument"},
};

Test(usage, every_wrong_line_is_exit_2_with_its_reason) {
    cli_case c;
    cli_begin(&c);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        EXPECT_EXIT(&c, cli_run(&c, wrong[i].arguments), 2);
        EXPECT_HAS(c.end.err, wrong[i].says);
        EXPECT_HAS(c.end.err, "[usage]");
        EXPECT_HAS(c.end.err, "--help`");
        cr_expect_str_eq(c.end.out, "");
        EXPECT_EXIT(&c, cli_json(&c, wrong[i].arguments), 2);
        EXPECT_TEXT(&c, "code", "usage");
        EXPECT_HAS(cli_text(&c, "message"), wrong[i].says);
    }
    cr_expect_eq(folder_count(c.folder), 0, "a wrong command line made a file");
    cli_end(&c);
}

/* What a command line says comes back escaped. */
Test(usage, hostile_arguments_are_escaped) {
    cli_case c;
    cli_begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("\x1b[2Jrun")), 2);
    EXPECT_HAS_NOT(c.end.err, "\x1b");
    EXPECT_HAS(c.end.err, "\\x1b[2Jrun");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("\xff\xfe")), 2);
    cli_end(&c);
}

/* ---- keygen and codes ------------------------------------------------------------------------ */

Test(usage, keygen_makes_two_files_once) {
    cli_case c;
    cli_begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("keygen", "-o", "k")), 0);
    cr_expect_eq(strlen(cli_text(&c, "keyid")), 64);
    EXPECT_TEXT(&c, "private_key", "k.key");
    EXPECT_TEXT(&c, "public_key", "k.pub");
    cr_expect_eq(folder_count(c.folder), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("keygen", "-o", "k")), 5);
    EXPECT_TEXT(&c, "code", "key-exists");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("keygen", "-o", "other")), 0);
    EXPECT_HAS(c.end.out, "other.key");
    cli_end(&c);
}

Test(usage, codes_lists_every_code_once) {
    cli_case c;
    cli_begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("codes")), 0);
    const json_t *codes = cli_member(&c, "codes");
    cr_assert_gt(json_array_size(codes), 50);
    EXPECT_TEXT(&c, "codes.0.code", "ok");
    size_t at = 0;
    json_t *code = NULL;
    bool found = false;
    json_array_foreach(codes, at, code) {
        if (strcmp(json_string_value(json_object_get(code, "code")), "tier-below-floor") != 0) continue;
        found = true;
        cr_expect_eq(json_integer_value(json_object_get(code, "exit")), 1);
        cr_expect_str_eq(json_string_value(json_object_get(code, "verdict")), "failed");
    }
    cr_expect(found);
    cli_end(&c);
}

/* ---- output that can't be written ------------------------------------------------------------- */

Test(usage, a_success_that_could_not_be_written_is_none) {
    cli_case c;
    cli_begin(&c);
    c.how.output_path = "/dev/full";
    EXPECT_EXIT(&c, cli_run(&c, ARGS("codes")), 5);
    EXPECT_HAS(c.end.err, "could not be written");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("codes", "--json")), 5);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("verify", "--json")), 2);
    c.how.output_path = NULL;
    EXPECT_EXIT(&c, cli_run(&c, ARGS("codes")), 0);
    cli_end(&c);
}
