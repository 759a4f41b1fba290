/* Start a program, feed it, and see how it ends: exit status, standard output, standard error. */
#ifndef CS_TESTS_SUPPORT_EXEC_H
#define CS_TESTS_SUPPORT_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define EXEC_SIGNALLED (-1)
#define EXEC_TIME_OUT (-2)

typedef struct exec_how {
    const char *input;       /* standard input; NULL: empty */
    const char *const *env;  /* NAME=VALUE to put in, or NAME to take out; NULL at the end; may be NULL */
    const char *output_path; /* standard output goes to this file; NULL: it is captured */
    const char *folder;      /* working folder; NULL: this one */
    bool (*before)(void);    /* done last, in that folder; where it says false nothing is started (status 126); may be NULL */
} exec_how;

/* What came of it. Both texts are NUL-terminated; end with exec_free. */
typedef struct exec_end {
    int status; /* exit status, EXEC_SIGNALLED or EXEC_TIME_OUT (after a minute; it is then killed) */
    char *out;
    size_t out_len;
    char *err;
    size_t err_len;
} exec_end;

/* argv[0] is a path, or a name that is looked up in PATH; NULL at the end. `how` may be NULL. */
void exec_run(const exec_how *how, const char *const argv[], exec_end *end);
void exec_free(exec_end *end);

/* The same for one that runs beside the test, which may send it signals meanwhile. */
typedef struct exec_beside {
    pid_t pid;
    int out;
    int err;
} exec_beside;

void exec_begin(const exec_how *how, const char *const argv[], exec_beside *beside);
void exec_wait(exec_beside *beside, exec_end *end); /* for its end */

/* The path of a program that was built (COUNTERSIGN_BUILD). Aborts without it. Into `path`. */
void exec_built(const char *name, char path[1024]);

#endif
