#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "gate/policy.h"

/* Bound of the words: every byte of the longest policy escaped, and what is said of each rule. */
#define MAX_WORDS ((size_t)16 * 1024 * 1024)

/* The lines of a text, each with its newline; NULL without memory. */
static json_t *json_of_lines(cs_view text) {
    json_t *lines = json_array();
    while (lines != NULL && text.len > 0) {
        const uint8_t *newline = memchr(text.ptr, '\n', text.len);
        size_t len = newline != NULL ? (size_t)(newline - text.ptr) : text.len;
        if (json_array_append_new(lines, cs_json_of_text(cs_view_bytes(text.ptr, len))) != 0) {
            json_decref(lines);
            return NULL;
        }
        len += newline != NULL;
        text = cs_view_bytes(text.ptr + len, text.len - len);
    }
    return lines;
}

static void add_members(cs_output *out, const cs_policy *policy, cs_view words) {
    if (!out->json) return;
    json_t *names = json_array();
    for (size_t i = 0; i < policy->requirement_count; i++)
        if (json_array_append_new(names, json_string(policy->requirements[i].name)) != 0) out->lost = true;
    cs_member_text(out, "policy", policy->digest.hex);
    cs_member(out, "requirements", names);
    cs_member(out, "needs_rev", json_boolean(policy->needs_rev));
    cs_member(out, "needs_base", json_boolean(policy->needs_base));
    cs_member(out, "lines", json_of_lines(words));
}

static cs_result check(cs_output *out, const char *path) {
    cs_policy policy;
    CS_AUTO_BUF words = CS_BUF_INIT(MAX_WORDS);
    cs_result result = cs_policy_load(path, &policy, &out->err);
    if (result != CS_OK) return result;
    result = cs_policy_explain(&policy, &words, &out->err);
    if (result == CS_OK) {
        cs_say(out, "%.*s", (int)words.len, (const char *)words.ptr);
        add_members(out, &policy, cs_buf_view(&words));
        (void)snprintf(out->err.message, sizeof out->err.message,
                       "the policy is well formed; this is how it will be applied");
    }
    cs_policy_free(&policy);
    return result;
}

int cs_cmd_policy(int argc, char **argv) {
    const cs_usage usage = {
        .command = "policy",
        .arguments = "check POLICY.json",
        .about =
            "Read the policy of a gate, and print every rule of it in words as it will be applied, those that are\n"
            "always in force and the defaults that nobody wrote too. No record is looked at.",
        .min_arguments = 2,
        .max_arguments = 2,
        .exits = "  0  the policy is well formed\n"
                 "  2  the command line is wrong\n"
                 "  5  the policy can't be read, is malformed, or two of its rules can't both be fulfilled\n"
                 "  6  the policy asks for nothing that could fail\n",
        .example = "  countersign policy check .gate/policy.json\n",
    };
    cs_output out;
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO) {
        if (strcmp(argv[first], "check") == 0)
            result = check(&out, argv[first + 1]);
        else
            result =
                cs_fail(&out.err, CS_CODE_USAGE, "policy takes the word check and a file, not '%.40s'", argv[first]);
    }
    return cs_output_end(&out, result);
}
