/* From what a run did to the answer that states it: result, record, digests. */
#ifndef LD_STAMP_H
#define LD_STAMP_H

#include "examples/localdaemon/job.h"

/* Append the encoded RunResponse, binary or JSON. Its size stays below CS_MAX_ANSWER_BYTES in both. */
CS_MUST_CHECK cs_result ld_stamp(const ld_daemon *daemon, const cs_run_request *request, const ld_job *job, bool json,
                                 cs_buf *out, cs_error *err);

#endif
