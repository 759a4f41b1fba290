/* The provider interface: how a command becomes a plan for the keeper, and what is to be checked after.
 *
 * provider_process.c and provider_container.c each fill in one ld_provider.
 */
#ifndef LD_PROVIDER_H
#define LD_PROVIDER_H

#include "examples/localdaemon/launch.h"

#define LD_MAX_ARGUMENTS 96u
#define LD_MAX_VARIABLES 8u

/* A plan with what it borrows. Make with ld_provider_prepare, end with ld_provider_release. */
typedef struct ld_prepared {
    ld_plan plan;
    ld_kind kind;
    const char *argv[LD_MAX_ARGUMENTS + 1];
    size_t argc;
    char texts[16][64]; /* numbers that stand in argv */
    size_t text_count;
    char variables[LD_MAX_VARIABLES][PATH_MAX + 80]; /* NAME=value */
    char *envp[LD_MAX_VARIABLES + 1];
    size_t variable_count;
    const ld_filter *filter; /* NULL: none. The sandbox's, or `own` with another choice of guards */
    ld_filter own;
    int filter_fd; /* container: the filter as bubblewrap reads it */
    int status_fd; /* container: what bubblewrap says of the command's end */
} ld_prepared;

typedef struct ld_provider {
    /* Fill in program, arguments and walls. */
    cs_result (*prepare)(const ld_place *place, const ld_command *command, ld_prepared *out, cs_error *err);
    /* After the run: is the exit code the command's own? */
    cs_result (*conclude)(const ld_prepared *prepared, const ld_output *output, cs_error *err);
} ld_provider;

extern const ld_provider ld_provider_process;
extern const ld_provider ld_provider_container;

CS_MUST_CHECK cs_result ld_provider_prepare(const ld_place *place, const ld_command *command, ld_prepared *out,
                                            cs_error *err);
CS_MUST_CHECK cs_result ld_provider_conclude(const ld_prepared *prepared, const ld_output *output, cs_error *err);
void ld_provider_release(ld_prepared *prepared);

/* Where a run's folders are seen from inside: in place for process; a fixed path, that of the first slot,
 * for container, so that both show programs the same one. */
const char *ld_inside_work(const ld_place *place);
const char *ld_inside_tmp(const ld_place *place);

/* Helpers of the providers: append an argument; a number as text; an environment variable. */
void ld_prepared_argument(ld_prepared *prepared, const char *text);
const char *ld_prepared_number(ld_prepared *prepared, uint64_t number);
void ld_prepared_variable(ld_prepared *prepared, const char *name, const char *value);

#endif
