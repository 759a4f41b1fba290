/* The completion scripts; what shells make of them is tried in tests/packaging. */
#include "tests/cli/cli_case.h"

#include <stdlib.h>

/* Every command has a function of its own in the script. */
static void expect_commands(cli_case *c, const char *script) {
    EXPECT_EXIT(c, cli_json(c, ARGS("--help")), 0);
    size_t at = 0;
    json_t *each = NULL;
    json_array_foreach(cli_member(c, "commands"), at, each) {
        const char *command = json_string_value(json_object_get(each, "command"));
        EXPECT_HAS(script, forge_text("\n_countersign_%s() {\n", command));
    }
    cr_expect_gt(at, 10);
}

static char *script_of(cli_case *c, const char *shell) {
    EXPECT_EXIT(c, cli_run(c, ARGS("completion", shell)), 0);
    cr_expect_str_eq(c->end.err, "");
    char *script = strdup(c->end.out);
    cr_assert_not_null(script);
    EXPECT_EXIT(c, cli_json(c, ARGS("completion", shell)), 0);
    EXPECT_TEXT(c, "shell", shell);
    cr_expect_str_eq(cli_text(c, "script"), script);
    return script;
}

Test(completion, bash) {
    cli_case c;
    cli_begin(&c);
    char *script = script_of(&c, "bash");
    expect_commands(&c, script);
    EXPECT_HAS(script, "        --codec) kind='word' words='binary json' ;;\n");
    EXPECT_HAS(script, "        -k | --key) kind='file' ;;\n");
    EXPECT_HAS(script, "        -d | --daemon) kind='text' ;;\n");
    EXPECT_HAS_NOT(script, "--require-success)");
    EXPECT_HAS(script, "\ncomplete -o bashdefault -o default -F _countersign countersign countersign-verify\n");
    free(script);
    cli_end(&c);
}

Test(completion, zsh) {
    cli_case c;
    cli_begin(&c);
    char *script = script_of(&c, "zsh");
    expect_commands(&c, script);
    EXPECT_EXIT(&c, strncmp(script, "#compdef countersign countersign-verify\n", 40), 0);
    EXPECT_HAS(script, "'--codec=[how to speak to a daemon (binary)]:binary|json:(binary json)'");
    EXPECT_HAS(script, "'(-d --daemon)'{-d+,--daemon=}'[the daemon'\\''s base URL]:URL: '");
    EXPECT_HAS(script, "'*'{-p+,--public-key=}'[");
    free(script);
    cli_end(&c);
}

Test(completion, parsing_goes_on_as_before) {
    cli_case c;
    cli_begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("completion", "--help")), 0);
    EXPECT_HAS(c.end.out, "bash|zsh");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("completion", "fish")), 2);
    EXPECT_HAS(c.end.err, "not 'fish'");
    c.how.env = (const char *const[]){"PLIMSOLL_CALLER_TOKEN=kept", "COUNTERSIGN_KEY=kept", NULL};
    EXPECT_EXIT(&c, cli_run(&c, ARGS("completion", "zsh")), 0);
    EXPECT_HAS_NOT(c.end.out, "kept");
    cli_end(&c);
}
