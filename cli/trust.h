/* -p PUB... and --trust FILE...: whom someone trusts. Every command that takes trusted keys takes both. */
#ifndef CS_CLI_TRUST_H
#define CS_CLI_TRUST_H

#include "cli/options.h"
#include "verify/trust.h"

typedef struct cs_trust_options {
    cs_text_list keys;  /* -p */
    cs_text_list files; /* --trust */
} cs_trust_options;

/* The rows of these two options in a command's table. */
cs_option cs_trust_key_option(cs_trust_options *options);
cs_option cs_trust_file_option(cs_trust_options *options);

/* Was any key or trust file named? */
bool cs_trust_named(const cs_trust_options *options);

/* Read every file into *trust. None at all is a usage error: a key inside an input is never trusted. */
CS_MUST_CHECK cs_result cs_trust_collect(const cs_trust_options *options, cs_trust *trust, cs_error *err);

#endif
