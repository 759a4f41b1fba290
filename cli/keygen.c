#include <stdio.h>

#include "cli/command.h"
#include "cli/options.h"
#include "harness/key.h"

static cs_result generate(cs_output *out, const char *prefix) {
    if (prefix == NULL) return cs_fail(&out->err, CS_CODE_USAGE, "name the files to make with -o PREFIX");
    cs_public_key key;
    cs_result result = cs_key_generate(prefix, &key, &out->err);
    if (result != CS_OK) return result;
    char private_file[4096];
    char public_file[4096];
    snprintf(private_file, sizeof private_file, "%s.key", prefix);
    snprintf(public_file, sizeof public_file, "%s.pub", prefix);
    cs_say(out, "private key: %s (only you may read it; keep a copy in a safe place)\n", private_file);
    cs_say(out, "public key:  %s (give it to those who verify)\n", public_file);
    cs_say(out, "key id:      %s\n", key.id);
    if (out->json) {
        cs_member(out, "private_key", cs_json_of_text(cs_view_of(private_file)));
        cs_member(out, "public_key", cs_json_of_text(cs_view_of(public_file)));
        cs_member_text(out, "keyid", key.id);
        snprintf(out->err.message, sizeof out->err.message, "a key pair was made");
    }
    return CS_OK;
}

int cs_cmd_keygen(int argc, char **argv) {
    cs_key_harden_process();
    const char *prefix = NULL;
    const cs_option options[] = {
        {"output", 'o', CS_OPTION_TEXT, &prefix, "PREFIX", "make PREFIX.key and PREFIX.pub; neither may exist", 0, 0,
         NULL},
    };
    const cs_usage usage = {
        .command = "keygen",
        .arguments = "-o PREFIX [--json]",
        .about = "Make an Ed25519 key pair: PREFIX.key (PEM PKCS#8, mode 0600) and PREFIX.pub (PEM).",
        .options = options,
        .option_count = 1,
        .exits = "  0  both files were made\n"
                 "  2  the command line is wrong\n"
                 "  5  a file exists already or could not be written; nothing is left behind\n",
        .example = "  countersign keygen -o harness\n",
    };
    cs_output out;
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO) result = generate(&out, prefix);
    return cs_output_end(&out, result);
}
