/* The provider interface: how a command becomes a plan for the keeper, and what is to be checked after.
 *
 * provider_process.c, provider_container.c, provider_kernel.c and provider_vm.c each fill in one ld_provider; nothing
 * else asks which one it is.
 */
#ifndef LD_PROVIDER_H
#define LD_PROVIDER_H

#include "examples/localdaemon/launch.h"
#include "examples/localdaemon/work.h"

#define LD_MAX_ARGUMENTS 96u
#define LD_MAX_VARIABLES 8u

/* A plan with what it borrows. Make with ld_provider_prepare, end with ld_provider_release. */
typedef struct ld_prepared {
    ld_plan plan;
    const ld_place *place;
    const char *argv[LD_MAX_ARGUMENTS + 1];
    size_t argc;
    char texts[16][64]; /* numbers that stand in argv */
    size_t text_count;
    char variables[LD_MAX_VARIABLES][PATH_MAX + 80]; /* NAME=value */
    char *envp[LD_MAX_VARIABLES + 1];
    size_t variable_count;
    const ld_filter *filter; /* NULL: none. The sandbox's, or `own` with another choice of guards */
    ld_filter own;
    char folder[LD_PATH_MAX + 16];      /* kernel: where gVisor finds what it is to do; "": none */
    char options[8][LD_PATH_MAX + 64]; /* kernel: --name=value in argv */
    size_t option_count;
    int filter_fd; /* container: the filter as bubblewrap reads it */
    int status_fd; /* container: what bubblewrap says of the command's end; kernel: the same of gVisor's log */
    int panic_fd;  /* kernel: what gVisor's kernel says when it fails */
} ld_prepared;

/* What an attempt of the smoke test reaches for; bait.h lays it out. */
typedef enum ld_reach {
    LD_REACH_NOTHING,
    LD_REACH_CANARY,
    LD_REACH_SECRET,
    LD_REACH_PORT,
    LD_REACH_ABSTRACT,
    LD_REACH_SEGMENT,
    LD_REACH_VICTIM,
    LD_REACH_CHILDREN,
    LD_REACH_DATA,
    LD_REACH_MEMORY,
    LD_REACH_FILE_END
} ld_reach;

/* One attempt on one guard. Guards that would also stop it are down in both of its runs, so that the attempt
 * tells of this one alone. */
typedef struct ld_attempt {
    ld_guard guard;
    const char *probe; /* probe.h */
    ld_reach reach;
    uint32_t also_down;
} ld_attempt;

/* Providers that hold something for the whole of a run or session, and talk to it instead of starting each command
 * behind walls of its own. place->machine points to where it is kept: NULL at first, and again after `close`. */
typedef struct ld_machine ld_machine; /* the provider's own */

typedef struct ld_machine_hooks {
    uint32_t fixed;  /* guards that are up or down for all of a machine's life; others, for each command */
    uint32_t around; /* those of them that wall in the program which makes up the machine: attempts on them are made from
                        its place, by a child of the daemon behind the same walls */
    const char *probe; /* the program inside that makes the smoke test's attempts, called with --probe NAME ARGUMENT */
    /* Before anything else of a run: set *place->machine. Not called while it is set. The time that it takes is not the
     * program's: it may be added to the deadline of this call. */
    cs_result (*open)(const ld_place *place, cs_error *err);
    /* As ld_launch. */
    cs_result (*launch)(const ld_place *place, const ld_command *command, ld_output *out, cs_error *err);
    /* As ld_work_write (place->kept: ld_work_replace) and ld_work_read do it in the slot's work folder. */
    ld_work (*write)(const ld_place *place, cs_view path, cs_view content);
    ld_work (*read)(const ld_place *place, cs_view path, size_t room, cs_buf *out);
    /* Is it done for? A session whose machine is lost ends. */
    bool (*lost)(const ld_machine *machine);
    /* Nothing of it is left after this; false when something may be: the slot is not used again. */
    bool (*close)(ld_machine *machine);
} ld_machine_hooks;

/* What one provider is and does. One of prepare (with conclude) and machine is there. */
typedef struct ld_provider {
    const char *name;
    cs_tier tier;
    uint32_t guards;      /* all that it can have, as root */
    uint32_t root_guards; /* those of them that only root can put up */
    bool fixed_paths;     /* runs see their folders at fixed paths, wherever the slot is */
    bool keeps_processes; /* an interpreter can live on between the calls of a session: cells are served */
    bool probes_by_copy;  /* the smoke test runs a copy of this program inside; otherwise a function, in the child */

    /* Find programs, ask for versions, set the environment; CS_UNCHECKED with what is missing and which package brings
     * it. Everything but these is filled in. */
    cs_result (*find)(ld_sandbox *sandbox, cs_error *err);
    /* Append the lines of the policy text that stand after the guards. */
    bool (*policy)(const ld_sandbox *sandbox, cs_buf *out);
    /* Fill in program, arguments and walls. */
    cs_result (*prepare)(const ld_place *place, const ld_command *command, ld_prepared *out, cs_error *err);
    /* After the run: is the exit code the command's own? */
    cs_result (*conclude)(const ld_prepared *prepared, const ld_output *output, cs_error *err);
    /* Remove what prepare has made, after every process of the command is gone; also after a failure. NULL: nothing.
     * False when something is left: the slot is not used again. */
    bool (*release)(ld_prepared *prepared);
    const ld_machine_hooks *machine;

    const ld_attempt *attempts;
    size_t attempt_count;
} ld_provider;

extern const ld_provider ld_provider_process;
extern const ld_provider ld_provider_container;
extern const ld_provider ld_provider_kernel;
extern const ld_provider ld_provider_vm;

/* By kind, and by name (LD_KINDS: there is none of this name). */
const ld_provider *ld_provider_of(ld_kind kind);
ld_kind ld_provider_find(const char *name);

/* The beginning of a run or call: opens the machine of a provider that has one. */
CS_MUST_CHECK cs_result ld_provider_enter(const ld_place *place, cs_error *err);
/* The end of a run or session. False when something may be left. Sets *machine to NULL. */
CS_MUST_CHECK bool ld_provider_leave(const ld_provider *provider, ld_machine **machine);
/* Files in and out, on the host or in the machine (work.h). */
CS_MUST_CHECK ld_work ld_provider_write(const ld_place *place, cs_view path, cs_view content);
CS_MUST_CHECK ld_work ld_provider_read(const ld_place *place, cs_view path, size_t room, cs_buf *out);

/* The policy lines that several providers have in common: limits, and the refused system calls. */
CS_MUST_CHECK bool ld_policy_limits(const ld_sandbox *sandbox, cs_buf *out);

CS_MUST_CHECK cs_result ld_provider_prepare(const ld_place *place, const ld_command *command, ld_prepared *out,
                                            cs_error *err);
CS_MUST_CHECK cs_result ld_provider_conclude(const ld_prepared *prepared, const ld_output *output, cs_error *err);
/* False when the slot is not to be used again. */
CS_MUST_CHECK bool ld_provider_release(ld_prepared *prepared);

/* Where a run's folders are seen from inside: in place for process; a fixed path, that of the first slot,
 * for the others, so that all of them show programs the same one. */
const char *ld_inside_work(const ld_place *place);
const char *ld_inside_tmp(const ld_place *place);

/* Helpers of the providers: append an argument; a number as text; an environment variable. */
void ld_prepared_argument(ld_prepared *prepared, const char *text);
const char *ld_prepared_number(ld_prepared *prepared, uint64_t number);
void ld_prepared_variable(ld_prepared *prepared, const char *name, const char *value);

#endif
