/* Did the code that ran also succeed? A record is true or false whatever the code did; this is the other
 * question, which a CI job asks. Pure. */
#ifndef CS_RECORDS_SUCCESS_H
#define CS_RECORDS_SUCCESS_H

#include "records/message.h"

/* CS_OK when a checked response says that all of the request's work was done: JavaScript and cells ended with
 * exit code 0 in time; a project completed, ran every step in its order, each with exit code 0 in time, and gave every
 * artifact asked for; a module completed with a result for every row, each with status 0. Otherwise
 * CS_CODE_WORK_FAILED with the first thing that failed in where and the message. */
CS_MUST_CHECK cs_result cs_work_succeeded(const cs_run_request *request, const cs_run_response *response,
                                          cs_error *err);

/* What the caller looks at by itself, so that one cause is told once. */
typedef struct cs_work_aside {
    bool time_out;      /* what a time limit ended, and what is missing because of it */
    bool cut_artifacts; /* artifacts that are missing where some were cut */
    cs_view artifact;   /* this artifact, when it is missing; ptr NULL: none */
} cs_work_aside;

/* The same without what is left aside: CS_OK when nothing else failed. */
CS_MUST_CHECK cs_result cs_work_succeeded_beside(const cs_run_request *request, const cs_run_response *response,
                                                 const cs_work_aside *aside, cs_error *err);

/* Did the work, or a part of it, meet its time limit? */
bool cs_work_timed_out(const cs_run_response *response);

#endif
