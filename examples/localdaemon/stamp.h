/* From what a run did to the answer that states it: result, record, digests; and, in a session, the record's place in
 * the chain. */
#ifndef LD_STAMP_H
#define LD_STAMP_H

#include "examples/localdaemon/job.h"
#include "records/wire.h"

/* Append the encoded RunResponse, binary or JSON. Its size stays below CS_MAX_ANSWER_BYTES in both. */
CS_MUST_CHECK cs_result ld_stamp(const ld_daemon *daemon, const cs_run_request *request, const ld_job *job, bool json,
                                 cs_buf *out, cs_error *err);

/* Append the encoded SessionRunResponse of the next call; `ending` says what has ended the session, if anything
 * has. On CS_OK the chain has advanced; otherwise it and `out` are as before. */
CS_MUST_CHECK cs_result ld_stamp_call(const ld_daemon *daemon, const cs_run_request *request, const ld_job *job,
                                      ld_ending ending, bool json, ld_chain *chain, cs_buf *out, cs_error *err);

/* The record of a call that may have run and has no result, with the digests that it points to; it borrows from the
 * daemon and the job. Don't copy it. */
typedef struct ld_unanswered {
    cs_run_record record;
    cs_digest request_sha256;
    cs_digest session;
    cs_digest previous;
    cs_digest record_sha256;
} ld_unanswered;

/* Fill in *out. On CS_OK the chain has advanced. */
CS_MUST_CHECK cs_result ld_stamp_unanswered(const ld_daemon *daemon, const cs_run_request *request, const ld_job *job,
                                            cs_connect_code code, ld_chain *chain, ld_unanswered *out, cs_error *err);

#endif
