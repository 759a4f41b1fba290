/* Take a bundle into a ledger: docs/FORMAT.md, "Import".
 *
 * The bundle is verified while it is read, and its entries are added in one transaction that is committed only when
 * all of it passed: a bundle goes in whole or not at all. Messages, envelopes and links are kept byte for byte.
 */
#ifndef CS_HARNESS_IMPORT_H
#define CS_HARNESS_IMPORT_H

#include "harness/ledger.h"
#include "verify/verify.h"

typedef struct cs_import_options {
    const char *bundle; /* path; "-" is standard input */
    const cs_trust *trust;
    cs_ledger *ledger;
    void (*on_finding)(void *user, const cs_finding *finding);      /* may be NULL */
    void (*on_progress)(void *user, uint64_t done, uint64_t total); /* may be NULL */
    void *user;
} cs_import_options;

typedef struct cs_import_summary {
    cs_verify_summary verified;
    uint64_t added;   /* rows */
    uint64_t present; /* lines that stand in the ledger already, byte for byte; they are not added again */
} cs_import_summary;

/* CS_CODE_IMPORT_LEDGER: the input is a ledger, not a bundle. CS_CODE_IMPORT_DUPLICATE: a record or a session's close of
 * the bundle is in the ledger already, in another line or without one; nothing was added. CS_CODE_LINK_PREVIOUS, besides
 * what the verifier means by it: the bundle goes on from a line that another row of the ledger follows. The codes of
 * cs_verify_source and of cs_ledger_append. When it fails the ledger is as it was. */
CS_MUST_CHECK cs_result cs_import(const cs_import_options *options, cs_import_summary *summary, cs_error *err);

#endif
