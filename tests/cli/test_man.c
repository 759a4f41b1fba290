/* The man page and the programs say the same. */
#include "tests/cli/cli_case.h"

#include <stdio.h>
#include <stdlib.h>

/* The page's text without roff's escapes of dashes. */
static char *read_page(void) {
    char path[1024];
    exec_built("../docs/countersign.1", path);
    size_t len = 0;
    char *page = file_read(path, &len);
    if (page == NULL) page = file_read("docs/countersign.1", &len);
    cr_assert_not_null(page, "docs/countersign.1 can't be read");
    char *to = page;
    for (const char *from = page; *from != '\0'; from++)
        if (from[0] != '\\' || from[1] != '-') *to++ = *from;
    *to = '\0';
    return page;
}

Test(man, every_code_stands_in_the_page_with_its_exit) {
    cli_case c;
    cli_begin(&c);
    char *page = read_page();
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

Test(man, every_option_stands_in_the_page) {
    static const char *const commands[] = {"keygen", "run",    "session", "verify", "digest", "replay",
                                           "export", "import", "tiers",   "policy", "show",   "codes"};
    cli_case c;
    cli_begin(&c);
    char *page = read_page();
    size_t options = 0;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        EXPECT_EXIT(&c, cli_run(&c, ARGS(commands[i], "--help")), 0);
        cr_expect_not_null(strstr(page, forge_text(".SS %s\n", commands[i])), "%s", commands[i]);
        for (const char *at = strstr(c.end.out, "--"); at != NULL; at = strstr(at + 2, "--")) {
            char option[32] = "";
            (void)sscanf(at, "%31[-a-z]", option);
            cr_expect_not_null(strstr(page, option), "%s: %s", commands[i], option);
            options++;
        }
    }
    cr_expect_gt(options, 30);
    free(page);
    cli_end(&c);
}
