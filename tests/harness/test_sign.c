/* The envelope over a run that passed every check. */
#include <criterion/criterion.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/sign.h"
#include "tests/support/folder.h"
#include "tests/support/program.h"
#include "tests/support/sample.h"

/* A checked run and a key, as everything here needs them. */
typedef struct signing {
    sample s;
    cs_checked_run run;
    char folder[128];
    char pub[160];
    cs_key *key;
    cs_buf envelope;
} signing;

static void signing_start(signing *t) {
    sample_init(&t->s);
    cs_call call = sample_call(&t->s);
    cs_sha256 *hash = cs_sha256_new();
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_check_run(&call, hash, &t->run, &err), CS_OK, "%s", err.message);
    cs_sha256_free(hash);

    folder_make(t->folder);
    char path[160];
    (void)snprintf(path, sizeof path, "%s/ci", t->folder);
    cs_public_key made;
    cr_assert_eq(cs_key_generate(path, &made, &err), CS_OK, "%s", err.message);
    (void)snprintf(t->pub, sizeof t->pub, "%s/ci.pub", t->folder);
    (void)snprintf(path, sizeof path, "%s/ci.key", t->folder);
    cr_assert_eq(cs_key_load(path, &t->key, &err), CS_OK, "%s", err.message);
    t->envelope = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES);
}

static void signing_end(signing *t) {
    cs_buf_free(&t->envelope);
    cs_key_free(t->key);
    folder_remove(t->folder);
    sample_free(&t->s);
}

/* What DSSE says is signed, put together here. */
static char *pae_of(const cs_envelope *envelope) {
    char *text = NULL;
    cr_assert(asprintf(&text, "DSSEv1 28 application/vnd.in-toto+json %zu %.*s", envelope->payload.len,
                       (int)envelope->payload.len, (const char *)envelope->payload.ptr) > 0);
    return text;
}

Test(sign, openssl_accepts_the_signature) {
    signing t;
    signing_start(&t);
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_sign_run(t.key, &t.run, &t.envelope, &err), CS_OK, "%s", err.message);

    cs_envelope envelope;
    cr_assert_eq(cs_envelope_decode(cs_buf_view(&t.envelope), &envelope, &err), CS_OK, "%s", err.message);
    cr_expect_str_eq(envelope.keyid, cs_key_public(t.key)->id);
    char *pae = pae_of(&envelope);
    char message[160];
    char signature[160];
    (void)snprintf(message, sizeof message, "%s/message", t.folder);
    (void)snprintf(signature, sizeof signature, "%s/signature", t.folder);
    file_write(message, pae, strlen(pae));
    file_write(signature, envelope.signature, sizeof envelope.signature);
    const char *const verify[] = {"openssl", "pkeyutl", "-verify", "-rawin",   "-pubin",  "-inkey",
                                  t.pub,     "-in",     message,   "-sigfile", signature, NULL};
    cr_expect_eq(program_run(verify, NULL, 0), 0);
    /* The twin: one byte of the message changed. */
    pae[strlen(pae) - 1] ^= 1;
    file_write(message, pae, strlen(pae));
    cr_expect_neq(program_run(verify, NULL, 0), 0);
    free(pae);
    cs_envelope_free(&envelope);
    signing_end(&t);
}

Test(sign, the_payload_is_the_records_statement) {
    signing t;
    signing_start(&t);
    cr_assert_eq(cs_sign_run(t.key, &t.run, &t.envelope, NULL), CS_OK);
    cs_envelope envelope;
    cr_assert_eq(cs_envelope_decode(cs_buf_view(&t.envelope), &envelope, NULL), CS_OK);
    char want[512];
    int len =
        snprintf(want, sizeof want,
                 "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"run-record\",\"digest\":"
                 "{\"sha256\":\"%s\"}}],\"predicateType\":\"https://plimsollmark.github.io/plimsoll/run-record/v1\","
                 "\"predicate\":{\"version\":2,\"request_sha256\":\"%s\",",
                 t.run.record_sha256.hex, t.run.request_sha256.hex);
    cr_assert(envelope.payload.len > (size_t)len);
    cr_expect_eq(memcmp(envelope.payload.ptr, want, (size_t)len), 0, "%.*s", (int)envelope.payload.len,
                 (const char *)envelope.payload.ptr);
    cs_envelope_free(&envelope);
    signing_end(&t);
}

/* A run that no check made: the digest of the record is not the one that was recomputed. */
Test(sign, only_what_was_checked) {
    signing t;
    signing_start(&t);
    cs_checked_run forged = t.run;
    forged.record_sha256.hex[0] = forged.record_sha256.hex[0] == '0' ? '1' : '0';
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_sign_run(t.key, &forged, &t.envelope, &err), CS_UNCHECKED);
    cr_expect_eq(err.code, CS_CODE_INTERNAL);
    forged = (cs_checked_run){0};
    cr_expect_eq(cs_sign_run(t.key, &forged, &t.envelope, &err), CS_UNCHECKED);
    cr_expect_eq(err.code, CS_CODE_INTERNAL);
    cr_expect_eq(t.envelope.len, 0);
    signing_end(&t);
}

/* A daemon may state a policy of any length; a statement has a limit. */
Test(sign, a_record_too_long_to_state) {
    static const struct {
        size_t len;
        cs_code code;
    } cases[] = {{60000, CS_CODE_OK}, {65536, CS_CODE_STATEMENT_MALFORMED}};
    for (size_t i = 0; i < 2; i++) {
        signing t;
        signing_start(&t);
        char *policy = malloc(cases[i].len);
        cr_assert_not_null(policy);
        memset(policy, 'p', cases[i].len);
        cr_assert(cs_bytes_set(&t.s.record->policy, cs_view_bytes(policy, cases[i].len)));
        cs_error err = CS_ERROR_INIT;
        cr_expect_eq(cs_sign_run(t.key, &t.run, &t.envelope, &err), cs_code_class(cases[i].code), "%s", err.message);
        cr_expect_eq(t.envelope.len > 0, cases[i].code == CS_CODE_OK);
        if (cases[i].code != CS_CODE_OK) cr_expect_eq(err.code, cases[i].code);
        free(policy);
        signing_end(&t);
    }
}

Test(sign, a_full_buffer_is_left_as_it_was) {
    signing t;
    signing_start(&t);
    cs_buf small = CS_BUF_INIT(100);
    cr_assert(cs_buf_text(&small, "before"));
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_sign_run(t.key, &t.run, &small, &err), CS_UNCHECKED);
    cr_expect_eq(err.code, CS_CODE_NO_MEMORY);
    cr_expect(cs_view_is(cs_buf_view(&small), "before"));
    cs_buf_free(&small);
    signing_end(&t);
}
