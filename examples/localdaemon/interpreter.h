/* The interpreters of a session, and the cells that run in them.
 *
 * An interpreter is started by the first cell of its language and lives until it ends by itself, a cell's time is over,
 * or the session ends. Between two calls it is stopped (SIGSTOP): nothing of a session runs then. Whatever it has
 * started is ended with the cell. At most one call uses these at a time.
 */
#ifndef LD_INTERPRETER_H
#define LD_INTERPRETER_H

#include "examples/localdaemon/driver.h"
#include "examples/localdaemon/job.h"
#include "examples/localdaemon/lines.h"

typedef struct ld_interpreter {
    pid_t keeper; /* 0: there is no interpreter */
    ld_lines ends;
    int stream;       /* to the driver; -1: none */
    ld_spared family; /* its processes */
} ld_interpreter;

typedef struct ld_interpreters {
    ld_interpreter of[LD_LANGUAGES];
    ld_spared spared; /* the processes of all of them; what ends the other processes of the user spares these */
} ld_interpreters;

/* None of them started; NULL without memory. Ended ones are freed with free(). */
ld_interpreters *ld_interpreters_new(void);

/* Run one cell of a language that is served. Gives *out as ld_job_run_in does. */
CS_MUST_CHECK cs_result ld_cell_run(const ld_place *place, ld_interpreters *interpreters,
                                    const Plimsoll__V1__CellRun *cell, ld_job *out, cs_error *err);

/* End all of them. False when a process may be left. */
CS_MUST_CHECK bool ld_interpreters_end(ld_interpreters *interpreters);

#endif
