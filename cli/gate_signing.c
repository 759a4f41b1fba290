#include "cli/gate_signing.h"

#include <stdlib.h>
#include <string.h>

static cs_result load_key(cs_gate_signing *signing, cs_error *err) {
    char *text = getenv(CS_KEY_VARIABLE);
    if (signing->key_file == NULL && text == NULL)
        return cs_fail(err, CS_CODE_KEY_UNREADABLE,
                       "there is no key to attest with: name its file with -k, or put its PEM text into %s",
                       CS_KEY_VARIABLE);
    if (signing->key_file == NULL) return cs_key_from_environment(&signing->key, err);
    if (text != NULL) {
        explicit_bzero(text, strlen(text)); /* not used */
        (void)unsetenv(CS_KEY_VARIABLE);
    }
    return cs_key_load(signing->key_file, &signing->key, err);
}

static cs_gate_attestation how_of(const cs_gate_signing *signing) {
    return (cs_gate_attestation){.key = signing->key, .path = signing->path, .repository = signing->repository};
}

cs_result cs_gate_signing_begin(cs_gate_signing *signing, const cs_gate_options *options, cs_error *err) {
    if (signing->path == NULL) {
        if (signing->key_file == NULL && signing->repository == NULL) return CS_OK;
        return cs_fail(err, CS_CODE_USAGE,
                       "-k and --attest-repo are about an attestation; name its file with --attest");
    }
    if (strcmp(signing->path, "-") == 0)
        return cs_fail(err, CS_CODE_USAGE, "the attestation is a file, never standard output; name it with --attest");
    const cs_gate_attestation how = how_of(signing);
    cs_result result = cs_gate_attest_ready(options, &how, err);
    return result == CS_OK ? load_key(signing, err) : result;
}

cs_result cs_gate_signing_attest(const cs_gate_signing *signing, const cs_gate_options *options,
                                 const cs_gate_verdict *verdict, cs_result result, cs_output *out) {
    if (signing->path == NULL || result != verdict->result) return result;
    const cs_gate_attestation how = how_of(signing);
    bool written = false;
    cs_error err = CS_ERROR_INIT;
    cs_result attested = cs_gate_attest(options, verdict, &how, &written, &err);
    if (written) {
        cs_member_text(out, "attestation", signing->path);
        cs_say(out, "attested: %s: what was concluded of commit %s, signed by key %s\n", signing->path,
               options->rev->commit, cs_key_public(signing->key)->id);
    }
    if (attested == CS_OK) return result;
    if (result != CS_OK) {
        cs_error_also(&out->err, "; and %s", err.message);
        return result;
    }
    out->err = err;
    return attested;
}

void cs_gate_signing_end(cs_gate_signing *signing) {
    cs_key_free(signing->key);
    signing->key = NULL;
}
