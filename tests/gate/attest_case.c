#include "tests/gate/attest_case.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/expect.h"
#include "tests/support/folder.h"

/* 32 bytes of 9. */
#define KEY_PEM                                                                                                        \
    "-----BEGIN PRIVATE KEY-----\n"                                                                                    \
    "MC4CAQAwBQYDK2VwBCIEIAkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJ\n"                                               \
    "-----END PRIVATE KEY-----\n"

#define ENVELOPES ((size_t)2 * CS_MAX_ENVELOPE_BYTES + 2)

void attest_begin(attest_case *a) {
    memset(a, 0, sizeof *a);
    gate_begin(&a->gate);
    memcpy(a->gate.policy.digest.hex, POLICY_SHA256, sizeof POLICY_SHA256);
    folder_make(a->folder);
    char key[160];
    cr_assert_lt(snprintf(key, sizeof key, "%s/gate.key", a->folder), (int)sizeof key);
    file_write(key, KEY_PEM, strlen(KEY_PEM));
    cr_assert_eq(chmod(key, 0600), 0);
    EXPECT_OK(cs_key_load(key, &a->key, &a->err), a->err);
    cr_assert_lt(snprintf(a->path, sizeof a->path, "%s/verdict.jsonl", a->folder), (int)sizeof a->path);
    a->how = (cs_gate_attestation){.key = a->key, .path = a->path};
    a->lines = CS_BUF_INIT(ENVELOPES);
}

void attest_end(attest_case *a) {
    cs_buf_free(&a->lines);
    cs_key_free(a->key);
    folder_remove(a->folder);
    gate_end(&a->gate);
}

cs_result attest_lines(attest_case *a) {
    cs_buf_clear(&a->lines);
    a->err = CS_ERROR_INIT;
    return cs_gate_attest_lines(&a->gate.options, &a->gate.verdict, &a->how, &a->made, &a->lines, &a->err);
}

cs_result attest_file(attest_case *a) {
    a->err = CS_ERROR_INIT;
    cs_result result = cs_gate_attest(&a->gate.options, &a->gate.verdict, &a->how, &a->done, &a->err);
    a->made = a->done.written;
    return result;
}
