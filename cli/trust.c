#include "cli/trust.h"

cs_option cs_trust_key_option(cs_trust_options *options) {
    return (cs_option){.name = "public-key",
                       .letter = 'p',
                       .kind = CS_OPTION_LIST,
                       .target = &options->keys,
                       .value = "PUB",
                       .help = "a public key that you trust (PEM); may be given again"};
}

cs_option cs_trust_file_option(cs_trust_options *options) {
    return (cs_option){.name = "trust",
                       .kind = CS_OPTION_LIST,
                       .target = &options->files,
                       .value = "FILE",
                       .help = "a trust file: public keys and when each may sign; may be given again"};
}

bool cs_trust_named(const cs_trust_options *options) {
    return options->keys.count > 0 || options->files.count > 0;
}

cs_result cs_trust_collect(const cs_trust_options *options, cs_trust *trust, cs_error *err) {
    trust->count = 0;
    if (!cs_trust_named(options))
        return cs_fail(err, CS_CODE_USAGE,
                       "name the public key that you trust with -p, or a trust file with --trust; a key inside the "
                       "input is never trusted");
    cs_result result = CS_OK;
    /* The files first, since their keys have labels. */
    for (size_t i = 0; result == CS_OK && i < options->files.count; i++)
        result = cs_trust_load(options->files.items[i], trust, err);
    for (size_t i = 0; result == CS_OK && i < options->keys.count; i++) {
        cs_public_key key;
        result = cs_public_key_load(options->keys.items[i], &key, err);
        if (result != CS_OK) break;
        result = cs_trust_add(trust, &key, err);
        if (result != CS_OK) cs_error_where(err, "%s", options->keys.items[i]);
    }
    return result;
}
