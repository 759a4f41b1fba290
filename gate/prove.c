/* Would each rule have refused, had there been something to refuse? The smallest change is made on copies, and judged
 * by the very functions that passed the original. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gate/prove_internal.h"
#include "records/text.h"

typedef struct proving {
    const cs_gate_options *options;
    const cs_gate_setting *setting;
    const cs_gate_verdict *verdict;
    bool prove;
    cs_gate_proof *proofs;
    size_t count;
    size_t room;
    size_t weak; /* place of the first change that was not refused, plus 1 */
} proving;

cs_gate_changed cs_gate_change_says(cs_gate_trial *trial, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(trial->text, CS_GATE_TEXT, fmt, args) < 0) trial->text[0] = '\0';
    va_end(args);
    trial->text[cs_utf8_cut(cs_view_of(trial->text), CS_GATE_TEXT - 1).len] = '\0';
    return CS_GATE_CHANGED;
}

static cs_result no_memory(cs_error *err) {
    return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to prove the rules");
}

/* ---- one proof ---------------------------------------------------------------------------------------------- */

static cs_result add(proving *p, const cs_gate_proof *proof, const char *text, cs_error *err) {
    if (p->count == p->room) {
        size_t room = p->room == 0 ? 32 : p->room * 2;
        cs_gate_proof *proofs = realloc(p->proofs, room * sizeof *proofs);
        if (proofs == NULL) return no_memory(err);
        p->proofs = proofs;
        p->room = room;
    }
    p->proofs[p->count] = *proof;
    memcpy(p->proofs[p->count++].change, text, sizeof proof->change);
    return CS_OK;
}

static cs_result add_proof(proving *p, size_t section, const cs_gate_change *change, const char *text, bool refuses,
                           cs_error *err) {
    const cs_gate_proof proof = {.section = section, .rule = change->rule, .code = change->code, .refuses = refuses};
    cs_result result = add(p, &proof, text, err);
    if (result == CS_OK && p->prove && !refuses && p->weak == 0) p->weak = p->count;
    return result;
}

/* Of an input that gave its bytes once. */
static cs_result add_unmade(proving *p, const cs_gate_change *change, const char *text, cs_error *err) {
    const cs_gate_proof proof = {
        .section = CS_GATE_OF_SOURCES, .rule = change->rule, .code = change->code, .unmade = true};
    return add(p, &proof, text, err);
}

static bool is_refused(const cs_gate_section *section, const cs_gate_change *change) {
    const cs_gate_finding *finding = &section->findings[change->rule];
    return finding->state == CS_GATE_REFUSED && finding->code == change->code && section->refusals > 0;
}

/* The whole conclusion over a changed tally. */
static bool tally_is_refused(const proving *p, size_t index, const cs_gate_change *change, const cs_gate_tally *tally,
                             const cs_gate_evidence *evidence, cs_error *err, cs_result *result) {
    cs_gate_section *section = calloc(1, sizeof *section);
    *result = section != NULL ? CS_OK : no_memory(err);
    if (section == NULL) return false;
    cs_gate_conclude(p->options, p->setting, index, tally, evidence, section);
    bool refused = is_refused(section, change);
    free(section);
    return refused;
}

/* ---- changes of the record -------------------------------------------------------------------------------- */

/* The changed record as the only one that there is. */
static cs_result judge_record(const proving *p, size_t index, const cs_gate_change *change, const cs_gate_trial *trial,
                              bool *refuses, cs_error *err) {
    cs_gate_tally *tally = calloc(1, sizeof *tally);
    if (tally == NULL) return no_memory(err);
    cs_gate_facts facts = {.request = trial->request, .response = trial->response, .record = trial->response->record};
    cs_gate_measured measured;
    cs_result result = cs_gate_hold(p->setting, index, &p->setting->rev, &facts, tally->near_findings,
                                    &tally->near_unfulfilled, &measured, err);
    tally->selected = 1;
    tally->near = p->verdict->evidence->tallies[index].witness;
    if (result == CS_OK && (tally->near_unfulfilled & CS_GATE_BIT(change->rule)) != 0)
        *refuses = tally_is_refused(p, index, change, tally, p->verdict->evidence, err, &result);
    free(tally);
    return result;
}

static cs_result copy_witness(const cs_gate_tally *tally, cs_gate_trial *trial, cs_error *err) {
    ProtobufCMessage *request = NULL;
    ProtobufCMessage *response = NULL;
    cs_result result = cs_message_copy(&tally->request->base, &request, err);
    if (result == CS_OK) result = cs_message_copy(&tally->response->base, &response, err);
    trial->request = (cs_run_request *)request;
    trial->response = (cs_run_response *)response;
    return result;
}

static cs_result try_record(proving *p, size_t index, const cs_gate_change *change, bool *made, cs_error *err) {
    char text[CS_GATE_TEXT] = "";
    cs_gate_trial trial = {
        .setting = p->setting, .requirement = &p->setting->policy->requirements[index], .text = text};
    cs_result result = copy_witness(&p->verdict->evidence->tallies[index], &trial, err);
    cs_gate_changed changed = result == CS_OK ? change->make(&trial) : CS_GATE_NO_CHANGE;
    if (changed == CS_GATE_NO_MEMORY) result = no_memory(err);
    if (changed == CS_GATE_CHANGED) {
        bool refuses = false;
        if (p->prove) result = judge_record(p, index, change, &trial, &refuses, err);
        if (result == CS_OK) result = add_proof(p, index, change, text, refuses, err);
        *made = true;
    }
    cs_message_free(trial.request);
    cs_message_free(trial.response);
    return result;
}

/* ---- changes of the tally --------------------------------------------------------------------------------- */

/* Copies with room for one more. */
static bool copy_tally(const cs_gate_evidence *evidence, size_t index, cs_gate_tally *tally,
                       cs_gate_evidence *changed) {
    *tally = evidence->tallies[index];
    *changed = *evidence;
    tally->kept = calloc(tally->count + 1, sizeof *tally->kept);
    changed->contradictions = calloc(evidence->contradiction_count + 1, sizeof *changed->contradictions);
    if (tally->kept == NULL || changed->contradictions == NULL) return false;
    if (tally->count > 0) memcpy(tally->kept, evidence->tallies[index].kept, tally->count * sizeof *tally->kept);
    if (evidence->contradiction_count > 0)
        memcpy(changed->contradictions, evidence->contradictions,
               evidence->contradiction_count * sizeof *changed->contradictions);
    return true;
}

static cs_result try_tally(proving *p, size_t index, const cs_gate_change *change, bool *made, cs_error *err) {
    char text[CS_GATE_TEXT] = "";
    cs_gate_evidence evidence;
    cs_gate_tally *tally = malloc(sizeof *tally);
    if (tally == NULL) return no_memory(err);
    cs_result result = copy_tally(p->verdict->evidence, index, tally, &evidence) ? CS_OK : no_memory(err);
    cs_gate_trial trial = {.setting = p->setting,
                           .requirement = &p->setting->policy->requirements[index],
                           .tally = tally,
                           .evidence = &evidence,
                           .text = text};
    cs_gate_changed changed = result == CS_OK ? change->make(&trial) : CS_GATE_NO_CHANGE;
    if (changed == CS_GATE_CHANGED) {
        bool refuses = false;
        if (p->prove) refuses = tally_is_refused(p, index, change, tally, &evidence, err, &result);
        if (result == CS_OK) result = add_proof(p, index, change, text, refuses, err);
        *made = true;
    }
    free(tally->kept);
    free(tally);
    free(evidence.contradictions);
    return result;
}

/* ---- the protected paths -------------------------------------------------------------------------------------- */

typedef enum protect_change { CONTENT, ADDED, REMOVED } protect_change;

/* Without the file at `at`. */
static void drop_file(cs_tree *tree, size_t at) {
    tree->count--;
    memmove(tree->files + at, tree->files + at + 1, (tree->count - at) * sizeof *tree->files);
}

/* Of both commits `rev` and `base` are copies that may be changed; `at` and `in_base` are where the file stands. */
static void change_protected(protect_change how, cs_tree *rev, size_t at, cs_tree *base, size_t in_base,
                             cs_gate_trial *trial) {
    cs_gate_shown path = cs_gate_show(cs_view_of(rev->files[at].path));
    if (how == CONTENT) {
        rev->files[at].oid[0] = rev->files[at].oid[0] == '0' ? '1' : '0';
        (void)cs_gate_change_says(trial, "the content of %s in the revision is another", path.text);
    } else if (how == ADDED) {
        drop_file(base, in_base);
        (void)cs_gate_change_says(trial, "%s is not in the base, so that the revision adds it", path.text);
    } else {
        drop_file(rev, at);
        (void)cs_gate_change_says(trial, "%s is not in the revision, so that this removes it", path.text);
    }
}

static bool copy_files(const cs_tree *from, cs_tree *to) {
    *to = *from;
    to->files = calloc(from->count + 1, sizeof *to->files);
    if (to->files != NULL && from->count > 0) memcpy(to->files, from->files, from->count * sizeof *to->files);
    return to->files != NULL;
}

static cs_result try_protected(proving *p, size_t section, protect_change how, size_t at, size_t in_base,
                               cs_error *err) {
    static const cs_gate_change change = {CS_GATE_PROTECT, CS_CODE_GATE_PROTECTED, NULL};
    cs_tree rev;
    cs_tree base;
    bool copied = copy_files(p->setting->rev.tree, &rev);
    copied = copy_files(p->setting->base.tree, &base) && copied;
    cs_gate_section *judged = calloc(1, sizeof *judged);
    bool ready = copied && judged != NULL;
    cs_result result = ready ? CS_OK : no_memory(err);
    if (ready) {
        char text[CS_GATE_TEXT] = "";
        cs_gate_trial trial = {.text = text};
        cs_gate_setting changed = *p->setting;
        change_protected(how, &rev, at, &base, in_base, &trial);
        changed.rev.tree = &rev;
        changed.base.tree = &base;
        cs_gate_conclude_policy(&changed, judged);
        result = add_proof(p, section, &change, text, p->prove && is_refused(judged, &change), err);
    }
    free(judged);
    free(rev.files);
    free(base.files);
    return result;
}

/* With the first protected file, which is the same in both commits. */
static cs_result try_protect(proving *p, size_t section, bool *made, cs_error *err) {
    static const protect_change all[] = {CONTENT, ADDED, REMOVED};
    const cs_tree *rev = p->setting->rev.tree;
    const cs_tree *base = p->setting->base.tree;
    size_t at = 0;
    while (at < rev->count && !cs_gate_list_matches(&p->setting->policy->protect, cs_view_of(rev->files[at].path)))
        at++;
    if (at == rev->count) return CS_OK;
    const cs_tree_file *same = cs_tree_find(base, cs_view_of(rev->files[at].path));
    if (same == NULL) return CS_OK;
    cs_result result = CS_OK;
    for (size_t i = 0; result == CS_OK && i < sizeof all / sizeof all[0]; i++)
        result = try_protected(p, section, all[i], at, (size_t)(same - base->files), err);
    *made = result == CS_OK;
    return result;
}

/* ---- the trusted keys ----------------------------------------------------------------------------------------- */

const char *cs_gate_proof_word(const cs_gate_proof *proof) {
    return proof->section == CS_GATE_OF_SOURCES ? "sources" : cs_gate_rule_word(proof->rule);
}

/* A source without a record that counts may hold nothing that is signed. */
static bool holds_witness(const cs_gate_evidence *evidence, size_t source) {
    for (size_t i = 0; i < evidence->tally_count; i++) {
        const cs_gate_tally *tally = &evidence->tallies[i];
        if (tally->count > 0 && tally->witness.set && tally->witness.source == source) return true;
    }
    return false;
}

/* Pipes and standard input give their bytes once. */
static bool can_be_read_again(const char *path) {
    struct stat info;
    return strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static cs_result verify_without_keys(const char *path, cs_code code, bool *refuses, cs_error *err) {
    static const cs_trust nobody = {.count = 0};
    const cs_verify_options options = {.trust = &nobody, .pass_over_verdicts = true};
    cs_source *source = NULL;
    cs_verify_summary summary;
    cs_error own = CS_ERROR_INIT;
    cs_result result = cs_source_open(path, &source, err);
    if (result != CS_OK) return result;
    result = cs_verify_source(source, &options, &summary, &own);
    cs_source_close(source);
    *refuses = result == CS_FAILED && own.code == code;
    if (result == CS_UNCHECKED) *err = own;
    return result == CS_UNCHECKED ? result : CS_OK;
}

/* What can't be read again is told as what it is: no proof. */
static cs_result prove_source(proving *p, const char *path, cs_error *err) {
    static const cs_gate_change change = {.code = CS_CODE_ENVELOPE_KEY_UNKNOWN};
    char text[CS_GATE_TEXT] = "";
    cs_gate_trial trial = {.text = text};
    cs_gate_shown shown = cs_gate_show(cs_view_of(path));
    bool refuses = false;
    if (!can_be_read_again(path)) {
        (void)cs_gate_change_says(&trial, "%s was read once and can't be verified again", shown.text);
        return add_unmade(p, &change, text, err);
    }
    (void)cs_gate_change_says(&trial, "%s is verified once more, with none of the policy's keys", shown.text);
    cs_result result = p->prove ? verify_without_keys(path, change.code, &refuses, err) : CS_OK;
    return result == CS_OK ? add_proof(p, CS_GATE_OF_SOURCES, &change, text, refuses, err) : result;
}

static cs_result prove_sources(proving *p, cs_error *err) {
    cs_result result = CS_OK;
    for (size_t i = 0; result == CS_OK && p->verdict->sources == CS_OK && i < p->options->source_count; i++)
        if (holds_witness(p->verdict->evidence, i)) result = prove_source(p, p->options->sources[i], err);
    return result;
}

/* ---- all of them ---------------------------------------------------------------------------------------------- */

static cs_result not_shown(const cs_gate_section *section, cs_gate_rule rule, cs_error *err) {
    (void)cs_fail(err, CS_CODE_INTERNAL, "%s: %s: no change of the input shows this rule",
                  section->requirement != NULL ? section->requirement->name : "policy", cs_gate_rule_word(rule));
    return CS_FAILED;
}

/* Every change that is about this rule; at least one must be possible. */
static cs_result prove_rule(proving *p, size_t index, cs_gate_rule rule, cs_error *err) {
    bool made = false;
    cs_result result = CS_OK;
    if (rule == CS_GATE_PROTECT) result = try_protect(p, index, &made, err);
    for (size_t i = 0; result == CS_OK && i < cs_gate_record_change_count; i++)
        if (cs_gate_record_changes[i].rule == rule)
            result = try_record(p, index, &cs_gate_record_changes[i], &made, err);
    for (size_t i = 0; result == CS_OK && i < cs_gate_tally_change_count; i++)
        if (cs_gate_tally_changes[i].rule == rule) result = try_tally(p, index, &cs_gate_tally_changes[i], &made, err);
    if (result != CS_OK || made) return result;
    return not_shown(&p->verdict->sections[index], rule, err);
}

/* Rules that passed by a record that does not count have no record to be shown on; the requirement is refused anyway.
 */
static cs_result prove_section(proving *p, size_t index, cs_error *err) {
    const cs_gate_section *section = &p->verdict->sections[index];
    if (section->requirement != NULL) {
        const cs_gate_tally *tally = &p->verdict->evidence->tallies[index];
        if (tally->count == 0) return CS_OK;
        if (tally->request == NULL || tally->response == NULL)
            return cs_fail(err, CS_CODE_NO_MEMORY, "%s: the record that counts is too large to be copied for a proof",
                           section->requirement->name);
    }
    for (unsigned rule = 0; rule < CS_GATE_RULES; rule++) {
        if (section->findings[rule].state != CS_GATE_PASSED) continue;
        cs_result result = prove_rule(p, index, (cs_gate_rule)rule, err);
        if (result != CS_OK) return result;
    }
    return CS_OK;
}

static cs_result say_weak(const proving *p, cs_error *err) {
    const cs_gate_proof *proof = &p->proofs[p->weak - 1];
    const cs_policy_requirement *requirement =
        proof->section < p->verdict->count ? p->verdict->sections[proof->section].requirement : NULL;
    (void)cs_fail(err, CS_CODE_INTERNAL, "%s: %s: %s, and this was not refused as %s",
                  requirement != NULL ? requirement->name : "policy", cs_gate_proof_word(proof), proof->change,
                  cs_code_name(proof->code));
    return CS_FAILED;
}

cs_result cs_gate_prove_with(const cs_gate_options *options, const cs_gate_setting *setting,
                             const cs_gate_verdict *verdict, bool prove, cs_gate_proof **proofs, size_t *count,
                             cs_error *err) {
    *proofs = NULL;
    *count = 0;
    if (verdict->evidence == NULL || verdict->count != setting->policy->requirement_count + 1)
        return cs_fail(err, CS_CODE_INTERNAL, "the verdict is none of this policy");
    proving p = {.options = options, .setting = setting, .verdict = verdict, .prove = prove};
    cs_result result = CS_OK;
    for (size_t i = 0; result == CS_OK && i < verdict->count; i++)
        result = prove_section(&p, i, err);
    if (result == CS_OK) result = prove_sources(&p, err);
    if (result == CS_OK && p.weak > 0) result = say_weak(&p, err);
    *proofs = p.proofs; /* also when one is weak, so that it can be shown which */
    *count = p.count;
    return result;
}

cs_result cs_gate_prove(const cs_gate_options *options, const cs_gate_verdict *verdict, bool prove,
                        cs_gate_proof **proofs, size_t *count, cs_error *err) {
    *proofs = NULL;
    *count = 0;
    cs_gate_setting setting = {.policy = NULL};
    cs_result result = cs_gate_setting_make(options, &setting, err);
    if (result == CS_OK) result = cs_gate_prove_with(options, &setting, verdict, prove, proofs, count, err);
    cs_gate_setting_free(&setting);
    return result;
}
