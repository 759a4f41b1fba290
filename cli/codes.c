#include <stdio.h>

#include "cli/command.h"
#include "cli/options.h"

static void list_text(const cs_output *out) {
    for (int i = 0; i < CS_CODE_COUNT; i++) {
        cs_code code = (cs_code)i;
        cs_say(out, "%-24s %d %-12s %s\n", cs_code_name(code), (int)cs_code_class(code),
               cs_result_word(cs_code_class(code)), cs_code_meaning(code));
    }
}

static void list_document(cs_output *out) {
    json_t *codes = json_array();
    for (int i = 0; i < CS_CODE_COUNT; i++) {
        cs_code code = (cs_code)i;
        json_t *object = json_pack("{s:s, s:i, s:s, s:s}", "code", cs_code_name(code), "exit", (int)cs_code_class(code),
                                   "verdict", cs_result_word(cs_code_class(code)), "meaning", cs_code_meaning(code));
        if (json_array_append_new(codes, object) != 0) out->lost = true;
    }
    cs_member(out, "codes", codes);
}

int cs_cmd_codes(int argc, char **argv) {
    const cs_usage usage = {
        .command = "codes",
        .arguments = "[--json]",
        .about = "List every code that a command can end with or report: name, exit code, class, meaning.",
        .exits = "  0  the list was printed\n  2  the command line is wrong\n",
        .example = "  countersign codes\n",
    };
    cs_output out;
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO) {
        if (out.json)
            list_document(&out);
        else
            list_text(&out);
        (void)snprintf(out.err.message, sizeof out.err.message, "these are all codes");
        result = CS_OK;
    }
    return cs_output_end(&out, result);
}
