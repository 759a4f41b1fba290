/* What a call leaves behind, and what comes before it. Shared by harness/run.c, harness/session*.c,
 * harness/tiers_check.c and harness/guards*.c only. */
#ifndef CS_HARNESS_KEEP_H
#define CS_HARNESS_KEEP_H

#include "harness/run.h"

/* A report that is never left as it starts. Takes `request`, which may be NULL. */
void cs_keep_begin(cs_run_report *report, cs_run_request *request);
/* The report of a call that ended with `result`; on success its error says that all is well. */
cs_result cs_keep_end(cs_run_report *report, cs_result result);

/* A key signs what a ledger keeps: CS_CODE_USAGE unless both or neither are there. */
CS_MUST_CHECK cs_result cs_keep_check(const cs_run_options *options, cs_error *err);

/* Ask the daemon what it is, into report->before. *protocol, when it is 0, becomes the number that it serves.
 * When this fails nothing was run, whatever became of the call itself: CS_CODE_DESCRIBE_FAILED. */
CS_MUST_CHECK cs_result cs_keep_describe(const cs_run_options *options, cs_run_report *report, uint32_t *protocol);

/* Why another daemon could, or could not, take what this one refused to describe itself for. */
cs_reason cs_keep_describe_reason(const cs_run_report *report);

/* The call was never made: say to the report's reader why, and whether another daemon could take it. */
cs_result cs_keep_never_called(cs_run_report *report, cs_result result, cs_reason reason);

/* The canonical encoding of report->request, within what a daemon takes. */
CS_MUST_CHECK cs_result cs_keep_encode(cs_run_report *report);

/* A row with what every entry has: our clock, and the daemon's URL. */
cs_ledger_row cs_keep_row(const cs_run_options *options);

/* Keep the report's error as a finding, with what stands in `row`. The verdict stays what it is, also when the
 * ledger can't take the finding: then it goes into a side file, and the message says so. */
void cs_keep_finding(const cs_run_options *options, cs_ledger_row row, cs_run_report *report);

/* What the daemon says of itself, before anything is run: gives a copy. CS_CODE_DESCRIBE_FAILED otherwise. */
CS_MUST_CHECK cs_result cs_keep_ask(const cs_run_options *options, cs_describe_response **out, cs_error *err);

/* Keep keeper->err as a finding about a run that is there already, with that run's bytes; a session's call without its
 * answer, which holds more than a finding may, and with what was described before its session (`described`; NULL: the
 * run has a description of its own). */
void cs_keep_beside(const cs_run_options *options, const cs_run_report *run, const cs_outcome *described,
                    cs_run_report *keeper);

/* Keep a signed entry: `row` with its kind and all that belongs to it, and report->envelope. When the ledger does
 * not take it, it goes into a side file and the class is CS_UNCHECKED. */
CS_MUST_CHECK cs_result cs_keep_signed(const cs_run_options *options, cs_ledger_row row, cs_run_report *report);

#endif
