/* Did the code that ran also succeed? A record is true or false whatever the code did; this is the other
 * question, which a CI job asks. Pure. */
#ifndef CS_RECORDS_SUCCESS_H
#define CS_RECORDS_SUCCESS_H

#include "records/message.h"

/* CS_OK when a checked response says that all of the request's work was done: JavaScript and cells ended with
 * exit code 0 in time; a project completed, ran every step, each with exit code 0 in time, and gave every
 * artifact asked for; a module completed with status 0 in every row. Otherwise CS_CODE_WORK_FAILED with the
 * first thing that failed in where and the message. */
CS_MUST_CHECK cs_result cs_work_succeeded(const cs_run_request *request, const cs_run_response *response,
                                          cs_error *err);

#endif
