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

/* ---- a close --------------------------------------------------------------------------------------- */

#define SESSION "3eb1bd439947eb762998e566ccc2e099c791118b2f40579cc4f7da2b5061b7f9"
#define LAST "1111111111111111111111111111111111111111111111111111111111111111"

static cs_checked_close close_of(cs_session_chain *chain) {
    *chain = (cs_session_chain){.calls = 2};
    memcpy(chain->session.hex, SESSION, 65);
    memcpy(chain->last.hex, LAST, 65);
    cs_checked_close close = {.chain = chain, .close = {.session = SESSION, .calls = 2, .last_record_sha256 = LAST}};
    return close;
}

Test(sign, a_close_that_agrees_with_its_chain) {
    signing t;
    signing_start(&t);
    cs_error err = CS_ERROR_INIT;
    cs_session_chain chain;
    cs_checked_close close = close_of(&chain);
    cr_assert_eq(cs_sign_close(t.key, &close, &t.envelope, &err), CS_OK, "%s", err.message);
    cs_envelope envelope;
    cr_assert_eq(cs_envelope_decode(cs_buf_view(&t.envelope), &envelope, &err), CS_OK, "%s", err.message);
    cr_expect(
        cs_view_is(cs_buf_view(&envelope.payload),
                   "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"session\",\"digest\":{"
                   "\"sha256\":\"" SESSION "\"}}],\"predicateType\":"
                   "\"https://plimsollmark.github.io/plimsoll/session-close/v1\",\"predicate\":{\"session\":\"" SESSION
                   "\",\"calls\":2,\"last_record_sha256\":\"" LAST "\"}}"),
        "%.*s", (int)envelope.payload.len, (const char *)envelope.payload.ptr);
    char *pae = pae_of(&envelope);
    cr_expect_eq(
        crypto_sign_verify_detached(envelope.signature, (const uint8_t *)pae, strlen(pae), cs_key_public(t.key)->bytes),
        0);
    free(pae);
    cs_envelope_free(&envelope);
    signing_end(&t);
}

Test(sign, a_close_that_is_not_its_chains_is_never_signed) {
    signing t;
    signing_start(&t);
    for (int i = 0; i < 4; i++) {
        cs_session_chain chain;
        cs_checked_close close = close_of(&chain);
        if (i == 0) close.chain = NULL;
        if (i == 1) close.close.calls = 3;
        if (i == 2) close.close.session[0] = '0';
        if (i == 3) close.close.last_record_sha256[0] = '0';
        cs_error err = CS_ERROR_INIT;
        cr_expect_eq(cs_sign_close(t.key, &close, &t.envelope, &err), CS_UNCHECKED, "%d", i);
        cr_expect_eq(err.code, CS_CODE_INTERNAL, "%d", i);
        cr_expect_eq(t.envelope.len, 0);
    }
    signing_end(&t);
}

/* ---- a link ---------------------------------------------------------------------------------------- */

#define ENTRY "2222222222222222222222222222222222222222222222222222222222222222"

Test(sign, the_link_of_an_entry_and_of_a_checkpoint) {
    static const struct {
        cs_bundle_link link;
        const char *predicate;
        const char *subject;
    } cases[] = {
        {{.index = 1, .entry_sha256 = ENTRY},
         "{\"index\":1,\"previous_sha256\":\"\",\"entry_sha256\":\"" ENTRY "\"}",
         ENTRY},
        {{.index = 2, .previous_sha256 = LAST, .entry_sha256 = ENTRY},
         "{\"index\":2,\"previous_sha256\":\"" LAST "\",\"entry_sha256\":\"" ENTRY "\"}",
         ENTRY},
        {{.index = 3, .previous_sha256 = LAST, .checkpoint = true, .lines = 2},
         "{\"index\":3,\"previous_sha256\":\"" LAST "\",\"checkpoint\":true,\"lines\":2}",
         LAST},
    };
    signing t;
    signing_start(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cs_error err = CS_ERROR_INIT;
        cs_buf_clear(&t.envelope);
        cr_assert_eq(cs_sign_link(t.key, &cases[i].link, &t.envelope, &err), CS_OK, "%s", err.message);
        cs_envelope envelope;
        cr_assert_eq(cs_envelope_decode(cs_buf_view(&t.envelope), &envelope, &err), CS_OK, "%s", err.message);
        char want[1024];
        (void)snprintf(want, sizeof want,
                       "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"bundle-line\",\"digest\":"
                       "{\"sha256\":\"%s\"}}],\"predicateType\":"
                       "\"https://plimsollmark.github.io/plimsoll/bundle-link/v1\",\"predicate\":%s}",
                       cases[i].subject, cases[i].predicate);
        cr_expect(cs_view_is(cs_buf_view(&envelope.payload), want), "%.*s", (int)envelope.payload.len,
                  (const char *)envelope.payload.ptr);
        char *pae = pae_of(&envelope);
        cr_expect_eq(crypto_sign_verify_detached(envelope.signature, (const uint8_t *)pae, strlen(pae),
                                                 cs_key_public(t.key)->bytes),
                     0);
        free(pae);
        cs_envelope_free(&envelope);
    }
    signing_end(&t);
}

Test(sign, a_link_that_can_stand_nowhere_is_never_signed) {
    static const cs_bundle_link cases[] = {
        {.index = 0, .entry_sha256 = ENTRY},
        {.index = 2, .entry_sha256 = ENTRY},
        {.index = 1, .previous_sha256 = LAST, .entry_sha256 = ENTRY},
        {.index = 2, .previous_sha256 = "11", .entry_sha256 = ENTRY},
        {.index = 2, .previous_sha256 = LAST},
        {.index = 2, .previous_sha256 = LAST, .entry_sha256 = ENTRY, .lines = 1},
        {.index = 2, .previous_sha256 = LAST, .entry_sha256 = ENTRY, .checkpoint = true, .lines = 1},
        {.index = 2, .previous_sha256 = LAST, .checkpoint = true, .lines = 2},
        {.index = 1, .checkpoint = true},
    };
    signing t;
    signing_start(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cs_error err = CS_ERROR_INIT;
        cr_expect_eq(cs_sign_link(t.key, &cases[i], &t.envelope, &err), CS_UNCHECKED, "%zu", i);
        cr_expect_eq(err.code, CS_CODE_INTERNAL, "%zu", i);
        cr_expect_eq(t.envelope.len, 0);
    }
    signing_end(&t);
}

/* A verdict that says it passed, and names a rule that failed. */
Test(sign, only_a_verdict_that_agrees_with_itself) {
    static const char digest[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    static const char *const rules[] = {"tests/bind"};
    signing t;
    signing_start(&t);
    cs_stated_verdict verdict = {.commit = "bc7cbf341e8483c92c3977f110729bf44ceeb822",
                                 .repository = "",
                                 .policy_sha256 = digest,
                                 .made_unix_ms = 1790000600000,
                                 .passed = true,
                                 .passed_rules = {.items = rules, .count = 1}};
    for (int kind = CS_VERDICT_TEST_RESULT; kind <= CS_VERDICT_SUMMARY; kind++) {
        cs_error err = CS_ERROR_INIT;
        cs_buf_clear(&t.envelope);
        cr_expect_eq(cs_sign_verdict(t.key, (cs_verdict_kind)kind, &verdict, &t.envelope, &err), CS_OK, "%s",
                     err.message);
        cs_envelope envelope;
        cr_assert_eq(cs_envelope_decode(cs_buf_view(&t.envelope), &envelope, &err), CS_OK, "%s", err.message);
        cs_verdict_kind stated = CS_VERDICT_TEST_RESULT;
        cr_expect(cs_verdict_is_stated(cs_buf_view(&envelope.payload), &stated));
        cr_expect_eq(stated, kind);
        cs_envelope_free(&envelope);
        cs_buf_clear(&t.envelope);
        cs_stated_verdict forged = verdict;
        forged.failed_rules = verdict.passed_rules;
        cr_expect_eq(cs_sign_verdict(t.key, (cs_verdict_kind)kind, &forged, &t.envelope, &err), CS_UNCHECKED);
        cr_expect_eq(err.code, CS_CODE_INTERNAL);
        cr_expect_eq(t.envelope.len, 0);
    }
    signing_end(&t);
}
