#include "gate/gate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gate/judge_internal.h"
#include "records/text.h"

#define MAX_REQUIREMENTS 32u /* as many as a record has bits for */
_Static_assert(CS_POLICY_MAX_REQUIREMENTS <= MAX_REQUIREMENTS, "a record has no bit for every requirement");

/* ---- reading --------------------------------------------------------------------------------------------- */

static uint64_t bytes_of(const char *path) {
    struct stat info;
    if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return 0;
    return (uint64_t)info.st_size;
}

/* Every source is read, whatever became of those before it, so that all that is wrong is reported. A failure outranks
 * what could not be read, as within one source. */
static cs_result read_all(const cs_gate_options *options, const cs_gate_setting *setting, cs_gate_evidence *evidence,
                          cs_error *err) {
    uint64_t total = 0;
    uint64_t before = 0;
    for (size_t i = 0; i < options->source_count; i++)
        total += bytes_of(options->sources[i]);
    cs_result worst = CS_OK;
    for (size_t i = 0; i < options->source_count; i++) {
        cs_error own = CS_ERROR_INIT;
        cs_result result = cs_gate_read_source(options, setting, evidence, i, before, total, &own);
        before += bytes_of(options->sources[i]);
        if (result == CS_OK || worst == CS_FAILED || (worst != CS_OK && result != CS_FAILED)) continue;
        worst = result;
        *err = own;
    }
    return worst;
}

/* ---- the verdict ------------------------------------------------------------------------------------------- */

/* The first refusal of class `result`. */
static const cs_gate_finding *first_of(const cs_gate_verdict *verdict, cs_result result, size_t *section) {
    for (size_t s = 0; s < verdict->count; s++) {
        for (unsigned rule = 0; rule < CS_GATE_RULES; rule++) {
            const cs_gate_finding *finding = &verdict->sections[s].findings[rule];
            if (finding->state != CS_GATE_REFUSED || cs_code_class(finding->code) != result) continue;
            *section = s;
            return finding;
        }
    }
    return NULL;
}

static const cs_gate_finding *first_undecided(const cs_gate_verdict *verdict, size_t *section) {
    for (size_t s = 0; s < verdict->count; s++) {
        for (unsigned rule = 0; rule < CS_GATE_RULES; rule++) {
            if (verdict->sections[s].findings[rule].state != CS_GATE_UNDECIDED) continue;
            *section = s;
            return &verdict->sections[s].findings[rule];
        }
    }
    return NULL;
}

static cs_result fail_by(const cs_gate_verdict *verdict, size_t section, const cs_gate_finding *finding, cs_code code,
                         cs_error *err) {
    const cs_policy_requirement *requirement = verdict->sections[section].requirement;
    const char *name = requirement != NULL ? requirement->name : "policy";
    const char *word = cs_gate_rule_word(finding->rule);
    cs_result result = cs_fail(err, code, "%s: %s", word, finding->observed);
    if (finding->source[0] != '\0')
        cs_error_where(err, "%s: %s: entry %" PRIu64, name, finding->source, finding->entry);
    else
        cs_error_where(err, "%s", name);
    size_t room = sizeof err->expected - 1;
    memcpy(err->expected, finding->wanted, room);
    err->expected[cs_utf8_cut(cs_view_of(finding->wanted), room).len] = '\0';
    return result;
}

/* A failure stands before what could not be judged, and that before what was not there. */
static cs_result settle(const cs_gate_verdict *verdict, cs_error *err) {
    static const cs_result order[] = {CS_FAILED, CS_UNCHECKED, CS_NOTHING};
    size_t section = 0;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const cs_gate_finding *finding = first_of(verdict, order[i], &section);
        if (finding != NULL) return fail_by(verdict, section, finding, finding->code, err);
    }
    /* Nothing was refused, so that only a rule which can't be judged at all is left undecided. */
    const cs_gate_finding *undecided = first_undecided(verdict, &section);
    if (undecided != NULL) return fail_by(verdict, section, undecided, CS_CODE_POLICY_MALFORMED, err);
    if (verdict->refusals > 0 || verdict->count < 2)
        return cs_fail(err, CS_CODE_INTERNAL, "a verdict without anything that it is about");
    *err = (cs_error){.code = CS_CODE_OK};
    return CS_OK;
}

static cs_result conclude(const cs_gate_options *options, const cs_gate_setting *setting, cs_gate_verdict *verdict,
                          cs_error *err) {
    size_t requirements = setting->policy->requirement_count;
    verdict->sections = calloc(requirements + 1, sizeof *verdict->sections);
    if (verdict->sections == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a verdict");
    verdict->count = requirements + 1;
    cs_gate_settle(verdict->evidence, &verdict->records);
    for (size_t i = 0; i < requirements; i++)
        cs_gate_conclude(options, setting, i, &verdict->evidence->tallies[i], verdict->evidence, &verdict->sections[i]);
    cs_gate_conclude_policy(setting, &verdict->sections[requirements]);
    for (size_t i = 0; i < verdict->count; i++)
        verdict->refusals += verdict->sections[i].refusals;
    return CS_OK;
}

static cs_result check_options(const cs_gate_options *options, cs_error *err) {
    const cs_policy *policy = options->policy;
    if (policy->requirement_count == 0) return cs_fail(err, CS_CODE_POLICY_EMPTY, "the policy has no requirement");
    if (policy->requirement_count > MAX_REQUIREMENTS)
        return cs_fail(err, CS_CODE_POLICY_MALFORMED, "the policy has more than %u requirements", MAX_REQUIREMENTS);
    if (policy->trust.count == 0) return cs_fail(err, CS_CODE_POLICY_MALFORMED, "the policy trusts no key");
    if (options->source_count == 0 || options->source_count > UINT32_MAX)
        return cs_fail(err, CS_CODE_NOTHING_TO_CHECK, "no ledger and no bundle is named");
    return CS_OK;
}

static cs_result make_evidence(const cs_policy *policy, cs_gate_evidence **out, cs_error *err) {
    *out = calloc(1, sizeof **out);
    if (*out != NULL) {
        (*out)->tallies = calloc(policy->requirement_count, sizeof *(*out)->tallies);
        if ((*out)->tallies != NULL) (*out)->tally_count = policy->requirement_count;
    }
    if (*out != NULL && (*out)->tallies != NULL) return CS_OK;
    return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for what is known of the records");
}

static cs_result judge(const cs_gate_options *options, cs_gate_setting *setting, cs_gate_verdict *verdict) {
    cs_error *err = &verdict->err;
    cs_result result = check_options(options, err);
    if (result == CS_OK) result = cs_gate_setting_make(options, setting, err);
    if (result == CS_OK) result = make_evidence(options->policy, &verdict->evidence, err);
    if (result != CS_OK) return result;
    cs_error of_sources = CS_ERROR_INIT;
    cs_result sources = read_all(options, setting, verdict->evidence, &of_sources);
    verdict->sources = sources;
    verdict->verdicts = verdict->evidence->verdicts;
    result = conclude(options, setting, verdict, err);
    if (result == CS_OK) result = settle(verdict, err);
    if (sources == CS_OK) return result;
    *err = of_sources;
    return sources;
}

cs_result cs_gate_judge(const cs_gate_options *options, cs_gate_verdict *verdict) {
    *verdict = (cs_gate_verdict){.result = CS_UNCHECKED, .err = CS_ERROR_INIT, .sources = CS_UNCHECKED};
    cs_gate_setting setting = {.policy = NULL};
    cs_result result = judge(options, &setting, verdict);
    cs_gate_setting_free(&setting);
    verdict->result = result;
    return result;
}

void cs_gate_verdict_free(cs_gate_verdict *verdict) {
    cs_gate_evidence_free(verdict->evidence);
    free(verdict->sections);
    *verdict = (cs_gate_verdict){.result = CS_UNCHECKED, .err = CS_ERROR_INIT, .sources = CS_UNCHECKED};
}
