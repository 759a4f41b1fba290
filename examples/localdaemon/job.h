/* One run from its files to its artifacts: work folder, steps in order, one deadline, nothing left over.
 *
 * javascript: the code is written to main.cjs and run with node. project: the files are written, each
 * step runs as `/bin/sh -c STEP` in the work folder; a step that ends with another code than 0 is
 * the last one; whatever a step leaves running is ended with it. Then the artifacts are read.
 */
#ifndef LD_JOB_H
#define LD_JOB_H

#include "examples/localdaemon/daemon.h"
#include "examples/localdaemon/launch.h"
#include "records/request.h"

typedef struct ld_artifact {
    cs_view path;   /* borrows from the request */
    size_t content; /* offset in `contents` */
    size_t len;
} ld_artifact;

/* javascript and cell: the first output. */
typedef struct ld_job {
    ld_output outputs[CS_MAX_STEPS];
    size_t output_count;
    Plimsoll__V1__ProjectOutcome outcome; /* of a project */
    cs_buf detail;
    ld_artifact artifacts[CS_MAX_ARTIFACTS];
    size_t artifact_count;
    cs_buf contents; /* of the artifacts, one after the other */
    bool artifacts_truncated;
    bool interpreter_started; /* of a cell */
    bool interpreter_ended;
    char instance[sizeof(LD_INSTANCE_KIND) + LD_INSTANCE_DIGITS]; /* of the slot it runs in */
    int64_t started_unix_ms;
    int64_t ended_unix_ms;
    int64_t begun_ms; /* of the monotonic clock */
    int64_t duration_ms;
} ld_job;

/* Run a valid request of kind javascript or project in a slot that the caller holds, within the place's deadline.
 * Gives *out as ld_job_run does. When ld_job_clean is false afterwards, the slot must be abandoned. */
CS_MUST_CHECK cs_result ld_job_run_in(const ld_place *place, const cs_run_request *request, ld_job *out, cs_error *err);
bool ld_job_clean(const ld_job *job);

/* The parts of it that a cell has, too. */
void ld_job_begin(ld_job *job, const ld_slot *slot);
void ld_job_end(ld_job *job);
/* Write files where earlier calls may have left some. *unfit is the first that can't be made, with errno, or NULL. */
CS_MUST_CHECK cs_result ld_job_files(const ld_place *place, cs_project_file *const *files, size_t count,
                                     const cs_project_file **unfit, cs_error *err);
/* What can't be done for a reason in the request or in what earlier calls have left, told as a program tells it: as the
 * job's next output. */
CS_MUST_CHECK cs_result ld_job_tell_unfit(ld_job *job, cs_view path, int error, cs_error *err);

/* When a request that is dispatched now must have ended, of the monotonic clock. */
int64_t ld_job_deadline(const cs_run_request *request);

/* Run a valid request of kind javascript or project. Gives *out (ld_job_free, also after a failure). A
 * failure is the daemon's: CS_CODE_INTERRUPTED when it stops, others for the machine's. */
CS_MUST_CHECK cs_result ld_job_run(ld_daemon *daemon, const cs_run_request *request, ld_job *out, cs_error *err);
void ld_job_free(ld_job *job);

#endif
