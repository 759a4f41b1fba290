#include "cli/gate_signing.h"

#include <inttypes.h>
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

static bool is_asked(const cs_gate_signing *signing) {
    return signing->path != NULL || signing->ledger != NULL;
}

static cs_gate_attestation how_of(const cs_gate_signing *signing) {
    return (cs_gate_attestation){
        .key = signing->key, .path = signing->path, .ledger = signing->ledger, .repository = signing->repository};
}

cs_result cs_gate_signing_begin(cs_gate_signing *signing, const cs_gate_options *options, cs_error *err) {
    if (!is_asked(signing)) {
        if (signing->key_file == NULL && signing->repository == NULL) return CS_OK;
        return cs_fail(err, CS_CODE_USAGE,
                       "-k and --attest-repo are about an attestation; name its file with --attest, or a ledger with "
                       "-l");
    }
    if (signing->path != NULL && strcmp(signing->path, "-") == 0)
        return cs_fail(err, CS_CODE_USAGE, "the attestation is a file, never standard output; name it with --attest");
    const cs_gate_attestation how = how_of(signing);
    cs_result result = cs_gate_attest_ready(options, &how, err);
    return result == CS_OK ? load_key(signing, err) : result;
}

static void say_attested(const cs_gate_signing *signing, const char *commit, const cs_gate_attested *done,
                         cs_output *out) {
    const char *key = cs_key_public(signing->key)->id;
    if (done->kept.count > 0) {
        cs_member(out, "kept",
                  json_pack("{s:o, s:I, s:I}", "ledger", cs_json_of_text(cs_view_of(signing->ledger)), "entry",
                            (json_int_t)done->kept.first, "entries", (json_int_t)done->kept.count));
        cs_say(out, "kept: %s: entries %" PRId64 " to %" PRId64 ": what was concluded of commit %s, signed by key %s\n",
               signing->ledger, done->kept.first, done->kept.first + (int64_t)done->kept.count - 1, commit, key);
    }
    if (done->written) {
        cs_member_text(out, "attestation", signing->path);
        cs_say(out, "attested: %s: what was concluded of commit %s, signed by key %s\n", signing->path, commit, key);
    }
}

cs_result cs_gate_signing_attest(const cs_gate_signing *signing, const cs_gate_options *options,
                                 const cs_gate_verdict *verdict, cs_result result, cs_output *out) {
    if (!is_asked(signing) || result != verdict->result) return result;
    const cs_gate_attestation how = how_of(signing);
    cs_gate_attested done;
    cs_error err = CS_ERROR_INIT;
    cs_result attested = cs_gate_attest(options, verdict, &how, &done, &err);
    if (done.made) say_attested(signing, options->rev->commit, &done, out);
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
