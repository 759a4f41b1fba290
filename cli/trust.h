/* -p FILE...: the public keys that someone trusts. */
#ifndef CS_CLI_TRUST_H
#define CS_CLI_TRUST_H

#include "cli/options.h"
#include "verify/pubkey.h"

/* Read every file into *trust. None at all is a usage error: a key inside a file is never trusted. */
CS_MUST_CHECK cs_result cs_trust_load(const cs_text_list *files, cs_trust *trust, cs_error *err);

#endif
