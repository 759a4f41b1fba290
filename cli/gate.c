#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/findings.h"
#include "cli/gate_files.h"
#include "cli/gate_input.h"
#include "cli/gate_signing.h"
#include "cli/options.h"
#include "cli/place.h"
#include "gate/out.h"
#include "records/check.h"
#include "records/text.h"

typedef struct gate_command {
    cs_output *out;
    cs_gate_input_options given;
    cs_gate_files files;
    cs_gate_signing signing;
    bool explain;
    bool prove;
    int64_t skew_s;
    cs_gate_input input;
    cs_findings findings;
    cs_gate_verdict verdict;
    cs_gate_proof *proofs;
    size_t proof_count;
} gate_command;

/* ---- while the sources are read --------------------------------------------------------------------------------- */

static void defuse(char *text) {
    if (cs_gate_on_github()) cs_gate_out_defuse(text, strlen(text));
}

static void defuse_error(cs_error *err) {
    defuse(err->message);
    defuse(err->where);
    defuse(err->expected);
    defuse(err->found);
}

static void on_finding(void *user, const char *source, const cs_finding *finding) {
    gate_command *command = user;
    cs_error err = *finding->err;
    cs_error_in_file(&err, source);
    defuse_error(&err);
    cs_finding shown = *finding;
    shown.err = &err;
    cs_findings_on_finding(&command->findings, &shown);
}

static void on_progress(void *user, uint64_t done, uint64_t total) {
    gate_command *command = user;
    cs_findings_on_progress(&command->findings, done, total);
}

/* ---- what came of it ----------------------------------------------------------------------------------------------
 */

static void say_text(const gate_command *command, const cs_gate_report *report) {
    CS_AUTO_BUF text = CS_BUF_INIT(CS_GATE_OUT_MAX_BYTES);
    if (command->out->json || command->verdict.count == 0) return;
    if (!cs_gate_out_text(report, &text)) {
        cs_say(command->out, "there is no memory to show the verdict\n");
        return;
    }
    if (cs_gate_on_github()) cs_gate_out_defuse((char *)text.ptr, text.len);
    cs_say(command->out, "%.*s", (int)text.len, (const char *)text.ptr);
}

static json_t *commit_json(const cs_tree *tree) {
    return tree->repo != NULL ? json_string(tree->commit) : json_null();
}

static json_t *warnings_json(const cs_gate_input *input) {
    json_t *warnings = json_array();
    for (size_t i = 0; warnings != NULL && i < input->warning_count; i++)
        (void)json_array_append_new(warnings, json_string(input->warnings[i]));
    if (json_array_size(warnings) == input->warning_count) return warnings;
    json_decref(warnings);
    return NULL;
}

static void add_members(gate_command *command, const cs_gate_report *report) {
    const cs_gate_input *input = &command->input;
    cs_output *out = command->out;
    if (!out->json || command->verdict.count == 0) return;
    const char *commit = input->policy_commit[0] != '\0' ? input->policy_commit : NULL;
    cs_member(out, "policy",
              json_pack("{s:o, s:s, s:s?}", "file", cs_json_of_text(cs_view_of(command->given.policy)), "sha256",
                        input->policy.digest.hex, "commit", commit));
    cs_member(out, "repository", cs_gate_out_repository(report));
    cs_member(out, "rev", commit_json(&input->rev));
    cs_member(out, "base", commit_json(&input->base));
    cs_member(out, "warnings", warnings_json(input));
    cs_members(out, cs_gate_out_json(report));
    cs_member(out, "findings", json_incref(command->findings.list));
    cs_member_number(out, "findings_left_out", command->findings.left_out);
}

static cs_gate_subject subject_of(const gate_command *command) {
    const cs_gate_input *input = &command->input;
    const cs_repo *repo = input->repo;
    return (cs_gate_subject){
        .work_tree = repo != NULL ? cs_repo_folder(repo) : NULL,
        .git_folder = repo != NULL ? cs_repo_git_folder(repo) : NULL,
        .rev = {.asked = command->given.rev, .commit = input->rev.commit},
        .base = {.asked = command->given.base, .commit = input->base.commit},
        .policy_file = command->given.policy,
        .policy_from = {.asked = command->given.policy_from, .commit = input->policy_commit},
        .in_work_tree = input->policy_path[0] != '\0',
        .policy_sha256 = input->policy.digest.hex,
    };
}

/* A pass of which not every report is there is none, and then no report says that it is one. */
static cs_result reported(gate_command *command, const cs_gate_report *report, cs_result written, const cs_error *err,
                          cs_result result) {
    if (written == CS_OK) return result;
    if (result != CS_OK) {
        cs_error_also(&command->out->err, "; and %s", err->message);
        return result;
    }
    command->out->err = *err;
    command->verdict.result = written;
    command->verdict.err = *err;
    cs_error again = CS_ERROR_INIT;
    (void)!cs_gate_files_write(&command->files, report, &again);
    return written;
}

/* Files are written whatever the outcome, so that none of an earlier run is taken for this one's; and before the
 * verdict is shown, which may be another when one of them can't be written. */
static cs_result report(gate_command *command, cs_result result) {
    cs_gate_report all = {.verdict = &command->verdict,
                          .about = subject_of(command),
                          .version = CS_VERSION,
                          .policy_path = command->input.policy_path,
                          .proofs = command->proofs,
                          .proof_count = command->proof_count,
                          .proved = command->prove};
    cs_error err = CS_ERROR_INIT;
    result = reported(command, &all, cs_gate_files_write(&command->files, &all, &err), &err, result);
    result = reported(command, &all, cs_gate_files_summarize(&all, &err), &err, result);
    add_members(command, &all);
    say_text(command, &all);
    return reported(command, &all, cs_gate_files_annotate(&all, command->out, &err), &err, result);
}

static void say_warnings(const gate_command *command) {
    for (size_t i = 0; !command->out->json && i < command->input.warning_count; i++)
        fprintf(stderr, "countersign gate: warning: %s\n", command->input.warnings[i]);
}

/* ---- the gate ------------------------------------------------------------------------------------------------------
 */

static int64_t now_ms(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static cs_result judge_by(gate_command *command, const cs_gate_options *options) {
    cs_result result = cs_gate_judge(options, &command->verdict);
    cs_progress_clear(&command->findings.progress);
    command->out->err = command->verdict.err;
    if ((!command->explain && !command->prove) || command->verdict.count == 0) return result;
    cs_error err = CS_ERROR_INIT;
    cs_result proved =
        cs_gate_prove(options, &command->verdict, command->prove, &command->proofs, &command->proof_count, &err);
    if (result != CS_OK || proved == CS_OK) return result;
    /* A rule that would not have refused is no rule that passed. */
    command->out->err = err;
    return proved;
}

static cs_result judge(gate_command *command, char **sources, size_t count) {
    const cs_gate_input *input = &command->input;
    const cs_gate_options options = {.policy = &input->policy,
                                     .rev = input->rev.repo != NULL ? &input->rev : NULL,
                                     .base = input->base.repo != NULL ? &input->base : NULL,
                                     .sources = (const char *const *)sources,
                                     .source_count = count,
                                     .now_ms = now_ms(),
                                     .skew_ms = command->skew_s * 1000,
                                     .on_finding = on_finding,
                                     .on_progress = on_progress,
                                     .user = command};
    cs_result result = cs_gate_signing_begin(&command->signing, &options, &command->out->err);
    if (result == CS_OK) {
        result = judge_by(command, &options);
        result = cs_gate_signing_attest(&command->signing, &options, &command->verdict, result, command->out);
    }
    cs_gate_signing_end(&command->signing);
    return result;
}

/* ---- before the gate -----------------------------------------------------------------------------------------------
 */

enum { OUTPUTS = 4, NAMED = 3 };

static void name_outputs(const gate_command *command, cs_named_path outputs[OUTPUTS]) {
    const cs_named_path all[OUTPUTS] = {{"--junit", command->files.junit},
                                        {"--sarif", command->files.sarif},
                                        {"--codequality", command->files.code_quality},
                                        {"--attest", command->signing.path}};
    memcpy(outputs, all, sizeof all);
}

/* Nothing that is read, or that holds what stays, gives way to a report. */
static cs_result check_places(const gate_command *command, char **sources, size_t count, cs_error *err) {
    cs_named_path outputs[OUTPUTS];
    name_outputs(command, outputs);
    cs_named_path *others = calloc(NAMED + count, sizeof *others);
    if (others == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to look where the reports go");
    others[0] = (cs_named_path){"--policy", command->given.policy};
    others[1] = (cs_named_path){"--key", command->signing.key_file};
    others[2] = (cs_named_path){"--ledger", command->signing.ledger};
    for (size_t i = 0; i < count; i++) {
        bool standard = strcmp(sources[i], "-") == 0;
        others[NAMED + i] = (cs_named_path){"an INPUT", standard ? "/dev/stdin" : sources[i]};
    }
    cs_result result = cs_places_check(outputs, OUTPUTS, others, NAMED + count, err);
    free(others);
    return result;
}

/* With --policy-from, the work tree's policy is no file that is read, but it is no report's place either. */
static cs_result check_repository(const gate_command *command, cs_error *err) {
    const cs_repo *repo = command->input.repo;
    cs_named_path outputs[OUTPUTS];
    name_outputs(command, outputs);
    cs_result result = cs_places_outside_git(outputs, OUTPUTS, repo != NULL ? cs_repo_git_folder(repo) : NULL, err);
    const char *folder = repo != NULL ? cs_repo_folder(repo) : NULL;
    if (result != CS_OK || folder == NULL || command->given.policy_from == NULL || command->given.policy == NULL)
        return result;
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s%s", folder, command->given.policy);
    if (len < 0 || (size_t)len >= sizeof path) return CS_OK;
    const cs_named_path policy = {"--policy", path};
    return cs_places_check(outputs, OUTPUTS, &policy, 1, err);
}

/* What the reports would do harm to is known only once the repository is open. *writable: they may be written, and
 * those of an earlier gate are gone. */
static cs_result open_input(gate_command *command, char **sources, size_t count, bool *writable) {
    cs_error *err = &command->out->err;
    *writable = false;
    cs_result result = check_places(command, sources, count, err);
    if (result != CS_OK) return result;
    result = cs_gate_input_begin(&command->given, &command->input, err);
    cs_error own = CS_ERROR_INIT;
    cs_result placed = check_repository(command, &own);
    *writable = placed == CS_OK;
    if (placed != CS_OK) {
        *err = own;
        return placed;
    }
    cs_gate_files_remove(&command->files);
    return result == CS_OK ? cs_gate_input_read(&command->given, &command->input, err) : result;
}

static cs_result gate(gate_command *command, char **sources, size_t count) {
    cs_findings_begin(&command->findings, command->out, "gate", NULL);
    command->verdict = (cs_gate_verdict){.result = CS_UNCHECKED, .err = CS_ERROR_INIT};
    bool writable = false;
    cs_result result = open_input(command, sources, count, &writable);
    if (result == CS_OK) {
        say_warnings(command);
        result = judge(command, sources, count);
    }
    /* What ended it, also when that was no verdict, or a proof. */
    command->verdict.result = result;
    if (result != CS_OK) command->verdict.err = command->out->err;
    if (writable) result = report(command, result);
    defuse_error(&command->out->err);
    if (result == CS_OK)
        (void)snprintf(command->out->err.message, sizeof command->out->err.message, "every rule of the policy passed");
    cs_findings_end(&command->findings);
    free(command->proofs);
    cs_gate_verdict_free(&command->verdict);
    cs_gate_input_close(&command->input);
    return result;
}

#define OPTIONS 16u

static void fill_options(gate_command *command, cs_option options[OPTIONS]) {
    static const char *const owners[] = {"self", "any", NULL};
    const cs_option all[OPTIONS] = {
        {"policy", 0, CS_OPTION_TEXT, &command->given.policy, "FILE", "the policy to judge by", 0, 0, NULL},
        {"policy-from", 0, CS_OPTION_TEXT, &command->given.policy_from, "BASE",
         "read the policy from this commit, so that no patch changes it", 0, 0, NULL},
        {"repo", 0, CS_OPTION_TEXT, &command->given.repo, "DIR", "the git repository, or a folder in it (.)", 0, 0,
         NULL},
        {"repo-owner", 0, CS_OPTION_CHOICE, &command->given.owner, "self|any",
         "any: the repository may belong to another user (self)", 0, 0, owners},
        {"rev", 0, CS_OPTION_TEXT, &command->given.rev, "REV", "the commit that is judged", 0, 0, NULL},
        {"base", 0, CS_OPTION_TEXT, &command->given.base, "BASE", "the commit to compare it with", 0, 0, NULL},
        {"skew", 0, CS_OPTION_NUMBER, &command->skew_s, "SECONDS", "how far a clock may be off (5)", 0, 86400, NULL},
        {"explain", 0, CS_OPTION_FLAG, &command->explain, NULL,
         "for each rule that passed: the smallest change it would refuse", 0, 0, NULL},
        {"prove", 0, CS_OPTION_FLAG, &command->prove, NULL,
         "make that change on a copy in memory, and show that it is refused", 0, 0, NULL},
        {"junit", 0, CS_OPTION_TEXT, &command->files.junit, "FILE", "write the verdict as JUnit XML", 0, 0, NULL},
        {"sarif", 0, CS_OPTION_TEXT, &command->files.sarif, "FILE", "write what is refused as SARIF 2.1.0", 0, 0, NULL},
        {"codequality", 0, CS_OPTION_TEXT, &command->files.code_quality, "FILE",
         "write what is refused as GitLab's code quality", 0, 0, NULL},
        {"attest", 0, CS_OPTION_TEXT, &command->signing.path, "FILE",
         "write the verdict as two signed in-toto statements; a new file", 0, 0, NULL},
        {"ledger", 'l', CS_OPTION_TEXT, &command->signing.ledger, "LEDGER",
         "append the same two statements to this ledger, which may be an INPUT", 0, 0, NULL},
        {"key", 'k', CS_OPTION_TEXT, &command->signing.key_file, "KEY",
         "private key (PEM) for --attest and -l; without it, the text in COUNTERSIGN_KEY", 0, 0, NULL},
        {"attest-repo", 0, CS_OPTION_TEXT, &command->signing.repository, "URL",
         "the repository's address, which the attestation states", 0, 0, NULL},
    };
    memcpy(options, all, sizeof all);
}

int cs_cmd_gate(int argc, char **argv) {
    cs_key_harden_process();
    cs_output out;
    gate_command command = {.out = &out, .skew_s = CS_DEFAULT_SKEW_MS / 1000};
    cs_option options[OPTIONS];
    fill_options(&command, options);
    const cs_usage usage = {
        .command = "gate",
        .arguments = "--policy FILE [--policy-from BASE] [--rev REV] [--base BASE] [OPTIONS] INPUT...",
        .about =
            "Decide whether a commit has the runs that a policy asks for. The ledgers and bundles are verified with\n"
            "the policy's keys, and every rule of each requirement is reported on, also those that passed. On GitHub\n"
            "the step gets a summary and annotations.",
        .options = options,
        .option_count = OPTIONS,
        .min_arguments = 1,
        .max_arguments = 100000,
        .exits = "  0  every rule of the policy passed, and every input verified\n"
                 "  1  refused: a rule, or the verification of an input; or a rule that proved to refuse nothing\n"
                 "  2  the command line is wrong, or a commit is not named that the policy needs\n"
                 "  5  the policy, the repository or an input could not be read, or a file or the ledger not written\n"
                 "  6  no record is one of those that a requirement is about, or the policy asks for nothing\n",
        .example = "  countersign gate --policy .gate/policy.json --policy-from origin/main --rev HEAD \\\n"
                   "      --base origin/main --junit gate.xml ledger.db\n",
    };
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO)
        result = gate(&command, argv + first, (size_t)(argc - first));
    return cs_output_end(&out, result);
}
