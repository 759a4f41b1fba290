/* One run, from the request to the ledger: validate, Describe, Run, Describe again, check, sign,
 * append. In this order, each step only when the one before it went well. */
#ifndef CS_HARNESS_RUN_H
#define CS_HARNESS_RUN_H

#include "harness/client.h"
#include "harness/ledger.h"
#include "harness/sign.h"

typedef struct cs_run_options {
    cs_client *client;       /* borrowed */
    const cs_key *key;       /* borrowed; NULL: check only, sign nothing */
    cs_ledger *ledger;       /* borrowed; NULL: keep nothing (only without a key) */
    const char *ledger_path; /* for the side file */
    int64_t skew_ms;
} cs_run_options;

/* What came of it. End with cs_run_report_free. */
typedef struct cs_run_report {
    cs_result result;
    cs_error err;             /* when result is not CS_OK */
    bool ran;                 /* the Run call left this machine */
    cs_outcome outcome;       /* of the Run call */
    cs_outcome before, after; /* of the two Describe calls */
    cs_run_request *request;  /* as sent */
    cs_buf request_bytes;
    const cs_run_response *response; /* what was answered; borrows from outcome.message; NULL: nothing */
    cs_checked_run checked;   /* when every check passed; its record borrows from the outcome */
    cs_buf envelope;          /* when signed */
    int64_t repeats;          /* ledger id of an entry that held the same record before; 0: none */
    int64_t entry;            /* ledger id of the signed entry or the finding; 0: none */
    char side_file[512];      /* path when the ledger could not take it; empty otherwise */
} cs_run_report;

/* Run `request` (taken; its protocol 0 is replaced by the number the daemon describes). *report is
 * always filled; returns report->result. A failed check after an answer, and an unanswered call, are
 * kept as a finding. */
CS_MUST_CHECK cs_result cs_run_once(const cs_run_options *options, cs_run_request *request, cs_run_report *report);
void cs_run_report_free(cs_run_report *report);

#endif
