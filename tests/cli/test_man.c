/* The man pages and the programs say the same: an overview, and a page for each command. */
#include "tests/cli/cli_case.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* The folder of the pages, beside the build folder, or where the tests run. */
static const char *pages(void) {
    static char path[1024];
    exec_built("../docs/man", path);
    DIR *folder = opendir(path);
    if (folder == NULL) return "docs/man";
    closedir(folder);
    return path;
}

/* A page's text without roff's escapes of dashes. */
static char *read_page(const char *name) {
    size_t len = 0;
    char *page = file_read(forge_text("%s/%s.1", pages(), name), &len);
    cr_assert_not_null(page, "there is no page docs/man/%s.1", name);
    char *to = page;
    for (const char *from = page; *from != '\0'; from++)
        if (from[0] != '\\' || from[1] != '-') *to++ = *from;
    *to = '\0';
    return page;
}

static char *read_page_of(const char *command) {
    return read_page(forge_text("countersign-%s", command));
}

/* Whether an option stands there, and not only as the beginning of a longer one. */
static bool names_option(const char *page, const char *option) {
    size_t len = strlen(option);
    for (const char *at = strstr(page, option); at != NULL; at = strstr(at + 1, option))
        if (at[-1] != '-' && at[len] != '-' && !islower((unsigned char)at[len])) return true;
    return false;
}

Test(man, every_code_stands_in_the_overview_with_its_exit) {
    cli_case c;
    cli_begin(&c);
    char *page = read_page("countersign");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("codes")), 0);
    size_t at = 0;
    json_t *code = NULL;
    json_array_foreach(cli_member(&c, "codes"), at, code) {
        const char *name = json_string_value(json_object_get(code, "code"));
        int exit = (int)json_integer_value(json_object_get(code, "exit"));
        cr_expect_not_null(strstr(page, forge_text(".BR %s \" (%d)\"\n", name, exit)), "%s (%d)", name, exit);
    }
    cr_expect_gt(at, 50);
    cr_expect_null(strstr(page, ".BR no-such-code \""), "the question itself can fail");
    free(page);
    cli_end(&c);
}

/* Every --word of the help up to its example, which may be of another command, and every exit code that it tells. */
static size_t expect_help_in_page(const char *command, const char *help, const char *page) {
    size_t options = 0;
    const char *example = strstr(help, "\nexample:\n");
    for (const char *at = strstr(help, "--"); at != NULL && at < example; at = strstr(at + 2, "--")) {
        char option[32] = "";
        (void)sscanf(at, "%31[-a-z]", option);
        cr_expect(names_option(page, option), "%s: %s", command, option);
        options++;
    }
    const char *exits = strstr(help, "\nexit codes:\n");
    const char *status = strstr(page, "\n.SH EXIT STATUS\n");
    cr_assert(exits != NULL && status != NULL, "%s", command);
    for (int exit = 0; exit <= 6; exit++)
        if (strstr(exits, forge_text("\n  %d  ", exit)) != NULL)
            cr_expect_not_null(strstr(status, forge_text("\n.B %d\n", exit)), "%s: exit %d", command, exit);
    return options;
}

static void expect_form(const char *command, const char *summary, const char *page) {
    static const char *const sections[] = {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"};
    const char *at = page;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        at = strstr(at, forge_text("\n.SH %s\n", sections[i]));
        cr_assert_not_null(at, "%s: no %s, or not in this order", command, sections[i]);
    }
    const char *line = forge_text("\n.SH NAME\ncountersign-%s - %s\n", command, summary);
    cr_expect_not_null(strstr(page, line), "%s: the page's name line is not: %s", command, line);
}

Test(man, every_command_has_a_page_with_its_options_and_exits) {
    cli_case c;
    cli_begin(&c);
    char *overview = read_page("countersign");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("--help")), 0);
    json_t *commands = json_deep_copy(cli_member(&c, "commands"));
    size_t options = 0;
    size_t at = 0;
    json_t *each = NULL;
    json_array_foreach(commands, at, each) {
        const char *command = json_string_value(json_object_get(each, "command"));
        char *page = read_page_of(command);
        expect_form(command, json_string_value(json_object_get(each, "summary")), page);
        cr_expect_not_null(strstr(overview, forge_text(".BR countersign-%s (1)\n", command)), "%s", command);
        EXPECT_EXIT(&c, cli_run(&c, ARGS(command, "--help")), 0);
        options += expect_help_in_page(command, c.end.out, page);
        free(page);
    }
    cr_expect_gt(at, 10);
    cr_expect_gt(options, 100);
    json_decref(commands);
    free(overview);
    cli_end(&c);
}

Test(man, there_is_no_page_without_a_command) {
    cli_case c;
    cli_begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("--help")), 0);
    size_t count = 0;
    DIR *folder = opendir(pages());
    cr_assert_not_null(folder);
    for (const struct dirent *file = readdir(folder); file != NULL; file = readdir(folder))
        if (file->d_name[0] != '.') count++;
    closedir(folder);
    cr_expect_eq(count, json_array_size(cli_member(&c, "commands")) + 1, "one for each command, and the overview");
    cli_end(&c);
}

Test(man, the_question_for_an_option_can_fail) {
    cr_expect(names_option("\n.BR --expect-count , --expect", "--expect"));
    cr_expect_not(names_option("\n.BR --expect-count , --no-expect", "--expect"));
}
