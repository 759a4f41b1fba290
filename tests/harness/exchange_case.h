/* Ledgers and bundles that go into one another: import and export, with keys of the tests' own. */
#ifndef TESTS_HARNESS_EXCHANGE_CASE_H
#define TESTS_HARNESS_EXCHANGE_CASE_H

#include <criterion/criterion.h>
#include <string.h>

#include "harness/export.h"
#include "harness/import.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"
#include "tests/support/forge.h"

typedef struct exchange {
    char folder[128];
    char ledger[160]; /* ledger.db */
    char bundle[160]; /* in.jsonl: what is imported */
    char out[160];    /* out.jsonl: what is exported */
    forge_key theirs; /* signs the bundles that are imported */
    forge_key ours;
    cs_key *key;          /* ours */
    cs_trust trust;       /* both */
    char findings[1024];  /* of the last import or export: "3 result-digest; 4 ~record-duplicate" */
    cs_import_summary in; /* of the last one */
    cs_export_summary ex;
    cs_error err;
} exchange;

void exchange_begin(exchange *x);
void exchange_end(exchange *x);
void exchange_trust(cs_trust *trust, const forge_key *key);

/* A session of two calls and its close, and a single run; unlinked, or linked by `key`. */
forge_bundle exchange_bundle(const forge_key *key, bool linked);
/* One more run at its end; a linked one gets a new checkpoint. */
void exchange_grow(forge_bundle *bundle, const forge_key *key, const char *code, bool linked);

/* Write the bytes to x->bundle and import them. */
cs_result exchange_import(exchange *x, forge_bytes bytes);
void exchange_import_good(exchange *x, const forge_bundle *bundle, uint64_t added, uint64_t present);

/* Append a run of our own, a verdict that nobody signed, or a finding. */
void exchange_own_run(exchange *x, const char *code);
void exchange_append_run(exchange *x, const forge_run *run); /* as it is, signed by us */
void exchange_finding(exchange *x);
void exchange_verdict(exchange *x);
void exchange_close(exchange *x); /* of a session without a call */
void exchange_imported_close(exchange *x); /* with its link and a checkpoint, under their key */

/* Export to x->out with the key and the trusted keys of x, where they are wanted. */
#define WITH_KEY 1u
#define WITH_TRUST 2u
cs_result exchange_export(exchange *x, unsigned with);
#define EXPORT_OK(x, with)                                                                                             \
    do {                                                                                                               \
        cs_result export_result = exchange_export((x), (with));                                                        \
        cr_assert_eq(export_result, CS_OK, "%s: %s (%s)", cs_code_name((x)->err.code), (x)->err.message,               \
                     (x)->err.where);                                                                                  \
        cr_assert_eq((x)->err.code, CS_CODE_OK);                                                                       \
    } while (0)
#define EXPORT_CODE(x, with, want)                                                                                     \
    do {                                                                                                               \
        cs_result export_result = exchange_export((x), (with));                                                        \
        cr_assert_eq(export_result, cs_code_class(want), "class %d: %s", (int)export_result, (x)->err.message);        \
        cr_assert_eq((x)->err.code, (want), "code %s: %s (%s)", cs_code_name((x)->err.code), (x)->err.message,         \
                     (x)->err.where);                                                                                  \
    } while (0)
#define IMPORT_CODE(x, bytes, want)                                                                                    \
    do {                                                                                                               \
        cs_result import_result = exchange_import((x), (bytes));                                                       \
        cr_assert_eq(import_result, cs_code_class(want), "class %d: %s", (int)import_result, (x)->err.message);        \
        cr_assert_eq((x)->err.code, (want), "code %s: %s (%s)", cs_code_name((x)->err.code), (x)->err.message,         \
                     (x)->err.where);                                                                                  \
    } while (0)

/* A whole file; kept until the process ends. It must be there. */
forge_bytes exchange_read(const char *path);
bool exchange_same(forge_bytes a, forge_bytes b);
/* The lines of a bundle, each without its newline; every line ends in one. */
forge_bundle exchange_lines(forge_bytes file);
/* Such a line as it is without its link. */
char *exchange_unlinked(const char *line);

/* Verify a file under the trusted keys; it must pass. */
cs_verify_summary exchange_verify(const char *path, const cs_trust *trust);
/* What the ledger holds: "run close checkpoint", the kinds in order; "" without a ledger. */
char *exchange_kinds(const exchange *x);

#endif
