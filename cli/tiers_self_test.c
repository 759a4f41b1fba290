/* Rules are worth what they were seen to do: each is tried on daemons that tell the truth and on daemons that lie. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/connect.h"
#include "cli/tiers_report.h"
#include "records/check.h"
#include "records/text.h"

#define START_MS 180000
#define END_MS 30000
#define NAME_COLUMN 22
#define TOKEN_BYTES 32u

/* What a daemon is, and what it says it is. */
typedef struct test_case {
    const char *provider;
    cs_tier own;
    cs_tier claim;
    const char *without; /* guards that it states and has left out; NULL: none */
    bool old_name;       /* its kernel is made to call itself one of long ago */
} test_case;

static const test_case cases[] = {
    {"process", CS_TIER_PROCESS, CS_TIER_PROCESS, NULL, false},
    {"container", CS_TIER_CONTAINER, CS_TIER_CONTAINER, NULL, false},
    {"kernel", CS_TIER_KERNEL, CS_TIER_KERNEL, NULL, false},
    {"vm", CS_TIER_VM, CS_TIER_VM, NULL, false},
    {"process", CS_TIER_PROCESS, CS_TIER_CONTAINER, NULL, false},
    {"container", CS_TIER_CONTAINER, CS_TIER_KERNEL, NULL, false},
    {"container", CS_TIER_CONTAINER, CS_TIER_VM, NULL, false},
    {"kernel", CS_TIER_KERNEL, CS_TIER_VM, NULL, false},
    {"kernel", CS_TIER_KERNEL, CS_TIER_CONTAINER, NULL, false},
    {"vm", CS_TIER_VM, CS_TIER_KERNEL, NULL, false},
    {"container", CS_TIER_CONTAINER, CS_TIER_PROCESS, NULL, false},
    {"vm", CS_TIER_VM, CS_TIER_CONTAINER, NULL, false},
    {"process", CS_TIER_PROCESS, CS_TIER_PROCESS, "files", false},
    {"process", CS_TIER_PROCESS, CS_TIER_PROCESS, "files,syscalls,sockets", false},
    {"container", CS_TIER_CONTAINER, CS_TIER_CONTAINER, "network,sockets", false},
    {"container", CS_TIER_CONTAINER, CS_TIER_VM, NULL, true},
};
#define CASE_COUNT (sizeof cases / sizeof cases[0])

typedef struct case_end {
    bool started; /* the daemon came up */
    cs_result result;
    cs_error err; /* why it did not come up, or what the check found */
    size_t contradictions;
    bool asked[CS_TIER_MAX_RULES];
    cs_tier_verdict verdicts[CS_TIER_MAX_RULES];
} case_end;

/* ---- a daemon ------------------------------------------------------------------------------------------- */

/* Who may run code in these daemons: this program alone, since some of them have walls left out. */
typedef struct test_caller {
    char token[2 * TOKEN_BYTES + 1];
    int clients; /* a file of one client, in memory */
} test_caller;

typedef struct child {
    pid_t pid;
    int out; /* reads its standard output */
    int log; /* what it wrote to standard error */
    char url[96];
} child;

static bool is_honest(const test_case *of) {
    return of->own == of->claim && of->without == NULL;
}

static cs_result make_caller(test_caller *out, cs_error *err) {
    uint8_t random[TOKEN_BYTES];
    cs_digest digest;
    *out = (test_caller){.clients = memfd_create("clients", 0)};
    if (out->clients < 0 || getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return cs_fail(err, CS_CODE_IO, "no token can be made: %s", strerror(errno));
    cs_hex(random, sizeof random, out->token);
    explicit_bzero(random, sizeof random);
    if (!cs_sha256_once(cs_view_of(out->token), &digest) || fchmod(out->clients, 0600) != 0 ||
        dprintf(out->clients,
                "{\"clients\":[{\"id\":\"self-test\",\"token_sha256\":\"%s\",\"scopes\":[\"code:run\"]}]}",
                digest.hex) < 0)
        return cs_fail(err, CS_CODE_IO, "the file of clients can't be made: %s", strerror(errno));
    return CS_OK;
}

static void free_caller(test_caller *caller) {
    explicit_bzero(caller->token, sizeof caller->token);
    if (caller->clients >= 0) close(caller->clients);
}

static _Noreturn void become(const char *program, const test_case *of, int clients, int out, int log) {
    char file[40];
    snprintf(file, sizeof file, "/proc/self/fd/%d", clients);
    const char *argv[16] = {program, "--provider", of->provider, "--listen", "127.0.0.1:0", "--clients", file};
    size_t count = 7;
    if (of->claim != of->own) {
        argv[count++] = "--claim";
        argv[count++] = cs_tier_word(of->claim);
    }
    if (of->without != NULL) {
        argv[count++] = "--without";
        argv[count++] = of->without;
    }
    if (!is_honest(of)) argv[count++] = "--i-am-lying-for-a-test";
    if (of->old_name) (void)personality((unsigned long)personality(0xffffffff) | UNAME26);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (dup2(out, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) _exit(126);
    execv(program, (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* Its first line is its URL. */
static bool read_url(child *daemon) {
    size_t len = 0;
    while (len + 1 < sizeof daemon->url) {
        struct pollfd wait = {.fd = daemon->out, .events = POLLIN};
        if (poll(&wait, 1, START_MS) != 1) return false;
        ssize_t got = read(daemon->out, daemon->url + len, 1);
        if (got <= 0) return false;
        if (daemon->url[len] == '\n') break;
        len++;
    }
    daemon->url[len] = '\0';
    return strncmp(daemon->url, "http://127.0.0.1:", 17) == 0;
}

static void end_child(child *daemon) {
    if (daemon->pid > 0) {
        (void)kill(daemon->pid, SIGTERM);
        bool ended = false;
        for (unsigned waited = 0; !ended && waited < END_MS; waited += 20) {
            ended = waitpid(daemon->pid, NULL, WNOHANG) != 0;
            if (!ended) (void)poll(NULL, 0, 20);
        }
        if (!ended) {
            (void)kill(daemon->pid, SIGKILL);
            (void)waitpid(daemon->pid, NULL, 0);
        }
    }
    if (daemon->out >= 0) close(daemon->out);
    if (daemon->log >= 0) close(daemon->log);
    *daemon = (child){.out = -1, .log = -1};
}

/* The first line that it wrote to standard error. */
static void read_reason(const child *daemon, char *out, size_t size) {
    char text[400];
    ssize_t got = pread(daemon->log, text, sizeof text, 0);
    size_t len = got > 0 ? (size_t)got : 0;
    const char *end = memchr(text, '\n', len);
    cs_escape_short(cs_view_bytes(text, end != NULL ? (size_t)(end - text) : len), out, size);
}

static cs_result start_child(const char *program, const test_case *of, int clients, child *daemon, cs_error *err) {
    int ends[2];
    *daemon = (child){.out = -1, .log = memfd_create("log", MFD_CLOEXEC)};
    if (daemon->log < 0 || pipe2(ends, O_CLOEXEC) != 0)
        return cs_fail(err, CS_CODE_IO, "a daemon can't be started: %s", strerror(errno));
    daemon->out = ends[0];
    (void)fflush(NULL);
    daemon->pid = fork();
    if (daemon->pid == 0) become(program, of, clients, ends[1], daemon->log);
    close(ends[1]);
    if (daemon->pid < 0) return cs_fail(err, CS_CODE_IO, "a daemon can't be started: %s", strerror(errno));
    if (read_url(daemon)) return CS_OK;
    char reason[240];
    read_reason(daemon, reason, sizeof reason);
    return cs_fail(err, CS_CODE_IO, "the provider %s does not work here: %s", of->provider,
                   reason[0] != '\0' ? reason : "the daemon could not be started, or ended without a word");
}

/* ---- one case ---------------------------------------------------------------------------------------------- */

static void check_child(const child *daemon, const test_caller *caller, case_end *end) {
    const cs_client_config config = {.base_url = daemon->url, .token = caller->token, .stop = cs_connect_stop()};
    cs_client *client = NULL;
    end->result = cs_client_new(&config, &client, &end->err);
    if (end->result != CS_OK) return;
    const cs_tiers_options options = {.run = {.client = client, .skew_ms = CS_DEFAULT_SKEW_MS}, .depth = CS_DEPTH_HOST};
    cs_tiers_report report;
    end->result = cs_tiers_check(&options, &report);
    end->err = report.err;
    end->contradictions = report.contradictions;
    for (size_t i = 0; i < cs_tier_rule_count; i++) {
        end->asked[i] = report.judgements[i].asked;
        end->verdicts[i] = report.judgements[i].verdict;
    }
    cs_tiers_free(&report);
    cs_client_free(client);
}

static void try_case(const char *program, const test_case *of, const test_caller *caller, case_end *end) {
    child daemon;
    *end = (case_end){.result = CS_UNCHECKED, .err = CS_ERROR_INIT};
    end->started = start_child(program, of, caller->clients, &daemon, &end->err) == CS_OK;
    if (end->started) check_child(&daemon, caller, end);
    end_child(&daemon);
}

/* An honest claim must stand, a false one must be refuted. */
static bool as_it_must(const test_case *of, const case_end *end) {
    if (is_honest(of)) return end->result == CS_OK;
    return end->result == CS_FAILED && end->contradictions > 0;
}

/* ---- the report ---------------------------------------------------------------------------------------------- */

static bool was_shown(const case_end *ends, size_t rule) {
    for (size_t i = 0; i < CASE_COUNT; i++)
        if (ends[i].started && !is_honest(&cases[i]) && ends[i].asked[rule] &&
            ends[i].verdicts[rule] == CS_TIER_CONTRADICTED)
            return true;
    return false;
}

static const char *sign_of(const case_end *end, size_t rule) {
    if (!end->started || !end->asked[rule]) return ".";
    return end->verdicts[rule] == CS_TIER_CONTRADICTED ? "X" : end->verdicts[rule] == CS_TIER_CONSISTENT ? "c" : "s";
}

static void say_matrix(const cs_output *out, const case_end *ends) {
    cs_say(out, "\n%-*s", NAME_COLUMN, "rule");
    for (size_t i = 0; i < CASE_COUNT; i++)
        cs_say(out, " %2zu", i + 1);
    cs_say(out, "\n");
    for (size_t rule = 0; rule < cs_tier_rule_count; rule++) {
        cs_say(out, "%-*s", NAME_COLUMN, cs_tier_rules[rule].name);
        for (size_t i = 0; i < CASE_COUNT; i++)
            cs_say(out, "  %s", sign_of(&ends[i], rule));
        cs_say(out, "\n");
    }
    cs_say(out, "\nX contradicted, c consistent, s silent, . not asked of this claim\n");
    cs_say(out, "\nnot shown to contradict anything on this machine:\n");
    for (size_t rule = 0; rule < cs_tier_rule_count; rule++)
        if (!was_shown(ends, rule)) cs_say(out, "  %s\n", cs_tier_rules[rule].name);
}

/* Contradictions that need nothing of this machine's /proc. */
static size_t without_host_view(const case_end *end) {
    size_t count = 0;
    for (size_t rule = 0; rule < cs_tier_rule_count; rule++)
        if (end->asked[rule] && end->verdicts[rule] == CS_TIER_CONTRADICTED &&
            cs_tier_rules[rule].depth != CS_DEPTH_HOST)
            count++;
    return count;
}

static void say_case(const cs_output *out, size_t number, const test_case *of, const case_end *end) {
    const char *verdict = !end->started ? "not tried" : as_it_must(of, end) ? "good" : "WRONG";
    char twist[64] = "";
    if (of->without != NULL) snprintf(twist, sizeof twist, "without %s", of->without);
    if (of->old_name) snprintf(twist, sizeof twist, "with the name of an old kernel");
    cs_say(out, "%2zu  %-9s claims %-9s  %-30s  %-9s  ", number, of->provider, cs_tier_word(of->claim), twist, verdict);
    if (!end->started || (end->result != CS_OK && end->contradictions == 0))
        cs_say(out, "%s\n", end->err.message);
    else
        cs_say(out, "contradictions: %zu, %zu of them without host view\n", end->contradictions,
               without_host_view(end));
    if (!out->json) (void)fflush(stdout);
}

/* A liar that was not refuted has no error. */
static const char *why_not(const case_end *end) {
    return end->err.code != CS_CODE_OK ? end->err.message : "no rule contradicts the claim";
}

static json_t *json_of_case(const test_case *of, const case_end *end) {
    json_t *rules = json_object();
    for (size_t i = 0; rules != NULL && i < cs_tier_rule_count; i++) {
        if (!end->started || !end->asked[i]) continue;
        json_t *word = json_string(cs_tier_verdict_word(end->verdicts[i]));
        if (json_object_set_new(rules, cs_tier_rules[i].name, word) == 0) continue;
        json_decref(rules);
        return NULL;
    }
    bool good = end->started && as_it_must(of, end);
    return json_pack("{s:s, s:s, s:s*, s:b, s:b, s:b, s:b, s:s*, s:I, s:o}", "provider", of->provider, "claim",
                     cs_tier_word(of->claim), "without", of->without, "old_kernel_name", of->old_name, "honest",
                     is_honest(of), "tried", end->started, "good", good, "why", good ? NULL : why_not(end),
                     "contradictions", (json_int_t)end->contradictions, "rules", rules);
}

static void tell_json(cs_output *out, const case_end *ends) {
    if (!out->json) return;
    json_t *list = json_array();
    json_t *not_shown = json_array();
    for (size_t i = 0; i < CASE_COUNT; i++)
        if (json_array_append_new(list, json_of_case(&cases[i], &ends[i])) != 0) out->lost = true;
    for (size_t rule = 0; rule < cs_tier_rule_count; rule++)
        if (!was_shown(ends, rule) && json_array_append_new(not_shown, json_string(cs_tier_rules[rule].name)) != 0)
            out->lost = true;
    cs_member(out, "cases", list);
    cs_member(out, "rules_not_shown", not_shown);
}

static cs_result verdict_of(const case_end *ends, cs_error *err) {
    size_t tried = 0;
    size_t wrong = 0;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        tried += ends[i].started;
        wrong += ends[i].started && !as_it_must(&cases[i], &ends[i]);
    }
    if (tried == 0)
        return cs_fail(err, CS_CODE_NOTHING_TO_CHECK, "no provider works here: %.300s", ends[0].err.message);
    if (wrong > 0)
        return cs_fail(err, CS_CODE_TIER_SELF_TEST,
                       "of %zu %s, %zu did not end as %s must: an honest one stands, a false one is refuted", tried,
                       cs_plural(tried, "claim", "claims"), wrong, cs_plural(wrong, "it", "they"));
    snprintf(err->message, sizeof err->message, "%s %zu %s must", cs_plural(tried, "the", "all"), tried,
             cs_plural(tried, "claim that could be tried here ended as it",
                       "claims that could be tried here ended as they"));
    return CS_OK;
}

static cs_result try_cases(cs_output *out, const char *localdaemon, const test_caller *caller, case_end *ends) {
    for (size_t i = 0; i < CASE_COUNT; i++) {
        try_case(localdaemon, &cases[i], caller, &ends[i]);
        if (*cs_connect_stop() != 0)
            return cs_fail(&out->err, CS_CODE_INTERRUPTED, "a signal ended the self-test after %zu of %zu claims", i,
                           CASE_COUNT);
        say_case(out, i + 1, &cases[i], &ends[i]);
    }
    say_matrix(out, ends);
    tell_json(out, ends);
    return verdict_of(ends, &out->err);
}

cs_result cs_tiers_self_test(cs_output *out, const char *localdaemon) {
    if (access(localdaemon, X_OK) != 0) {
        cs_result result = cs_fail(&out->err, CS_CODE_IO, "the daemon to test can't be started: %s", strerror(errno));
        cs_error_where(&out->err, "%s", localdaemon);
        return result;
    }
    if (!out->json && isatty(STDERR_FILENO))
        fprintf(stderr, "starting %zu daemons, one after the other; this takes some minutes\n", CASE_COUNT);
    test_caller caller;
    case_end *ends = calloc(CASE_COUNT, sizeof *ends);
    if (ends == NULL) return cs_fail(&out->err, CS_CODE_NO_MEMORY, "no memory for the self-test");
    cs_connect_catch_signals();
    cs_result result = make_caller(&caller, &out->err);
    if (result == CS_OK) result = try_cases(out, localdaemon, &caller, ends);
    free_caller(&caller);
    free(ends);
    return result;
}
