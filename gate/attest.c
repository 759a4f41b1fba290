#include "gate/attest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gate/judge_internal.h"

#define NAME_SIZE 128u
#define SOURCES "sources" /* whether all of them verified */

/* ---- the rules by what became of them --------------------------------------------------------------- */

typedef struct names {
    const char **items; /* borrow from `texts` */
    size_t count;
} names;

/* What a stated verdict borrows from. */
typedef struct making {
    char (*texts)[NAME_SIZE];
    size_t text_count;
    names passed;
    names failed;
    names warned;
    char (*digests)[CS_SHA256_HEX + 1];
    const char **inputs;
    size_t input_count;
} making;

static void making_free(making *m) {
    free(m->texts);
    free(m->passed.items);
    free(m->failed.items);
    free(m->warned.items);
    free(m->digests);
    free(m->inputs);
}

static cs_result no_memory(cs_error *err) {
    return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to attest a verdict");
}

static cs_result make_room(making *m, size_t rules, cs_error *err) {
    m->texts = calloc(rules, sizeof *m->texts);
    m->passed.items = calloc(rules, sizeof *m->passed.items);
    m->failed.items = calloc(rules, sizeof *m->failed.items);
    m->warned.items = calloc(rules, sizeof *m->warned.items);
    if (m->texts != NULL && m->passed.items != NULL && m->failed.items != NULL && m->warned.items != NULL) return CS_OK;
    return no_memory(err);
}

/* A rule that could not be judged neither passed nor failed. */
static names *list_of(making *m, cs_gate_state state, cs_code code) {
    if (state == CS_GATE_PASSED) return &m->passed;
    bool failed = state == CS_GATE_REFUSED && cs_code_class(code) != CS_UNCHECKED;
    return failed ? &m->failed : &m->warned;
}

/* "tests/bind" of a requirement, "protect" of the policy as a whole: no requirement's name has a slash. */
static void add_rule(making *m, const cs_policy_requirement *requirement, const cs_gate_finding *finding) {
    if (finding->state == CS_GATE_NOT_ASKED) return;
    char *text = m->texts[m->text_count++];
    const char *word = cs_gate_rule_word(finding->rule);
    if (requirement != NULL)
        (void)snprintf(text, NAME_SIZE, "%s/%s", requirement->name, word);
    else
        (void)snprintf(text, NAME_SIZE, "%s", word);
    names *list = list_of(m, finding->state, finding->code);
    list->items[list->count++] = text;
}

static cs_result name_rules(const cs_gate_verdict *verdict, making *m, cs_error *err) {
    cs_result result = make_room(m, verdict->count * CS_GATE_RULES + 1, err);
    if (result != CS_OK) return result;
    names *of_sources = verdict->sources == CS_OK ? &m->passed : &m->failed;
    of_sources->items[of_sources->count++] = SOURCES;
    for (size_t s = 0; s < verdict->count; s++)
        for (unsigned rule = 0; rule < CS_GATE_RULES; rule++)
            add_rule(m, verdict->sections[s].requirement, &verdict->sections[s].findings[rule]);
    return CS_OK;
}

/* ---- what it rests on ------------------------------------------------------------------------------- */

static int compare_digests(const void *left, const void *right) {
    return memcmp(left, right, CS_SHA256_HEX);
}

static size_t count_all(const cs_gate_evidence *evidence) {
    size_t count = 0;
    for (size_t i = 0; i < evidence->tally_count; i++)
        count += evidence->tallies[i].count;
    return count;
}

/* The same record may count for several requirements. */
static size_t make_distinct(char (*digests)[CS_SHA256_HEX + 1], size_t count) {
    if (count == 0) return 0;
    qsort(digests, count, sizeof *digests, compare_digests);
    size_t distinct = 1;
    for (size_t i = 1; i < count; i++)
        if (compare_digests(digests[i], digests[distinct - 1]) != 0)
            memmove(digests[distinct++], digests[i], sizeof *digests);
    return distinct;
}

/* A list of inputs must name all of them, so that of too many none is named. */
static cs_result name_inputs(const cs_gate_evidence *evidence, making *m, cs_error *err) {
    size_t count = 0;
    size_t all = count_all(evidence);
    m->digests = calloc(all + 1, sizeof *m->digests);
    m->inputs = calloc(CS_VERDICT_MAX_INPUTS, sizeof *m->inputs);
    if (m->digests == NULL || m->inputs == NULL) return no_memory(err);
    for (size_t i = 0; i < evidence->tally_count; i++)
        for (size_t k = 0; k < evidence->tallies[i].count; k++)
            cs_hex(evidence->tallies[i].kept[k].envelope, CS_SHA256_BYTES, m->digests[count++]);
    count = make_distinct(m->digests, count);
    if (count > CS_VERDICT_MAX_INPUTS) return CS_OK;
    for (size_t i = 0; i < count; i++)
        m->inputs[i] = m->digests[i];
    m->input_count = count;
    return CS_OK;
}

/* ---- the statements ----------------------------------------------------------------------------------- */

static bool is_made(const cs_gate_verdict *verdict) {
    bool judged = verdict->result == CS_OK || verdict->result == CS_FAILED || verdict->result == CS_NOTHING;
    return judged && verdict->count > 0 && verdict->evidence != NULL;
}

static cs_verdict_names stated(const names *list) {
    return (cs_verdict_names){.items = list->items, .count = list->count};
}

static cs_result sign_both(const cs_gate_attestation *how, const cs_stated_verdict *stated_verdict, cs_buf *out,
                           cs_error *err) {
    static const cs_verdict_kind kinds[] = {CS_VERDICT_TEST_RESULT, CS_VERDICT_SUMMARY};
    size_t before = out->len;
    cs_result result = CS_OK;
    for (size_t i = 0; result == CS_OK && i < sizeof kinds / sizeof kinds[0]; i++) {
        result = cs_sign_verdict(how->key, kinds[i], stated_verdict, out, err);
        if (result == CS_OK && !cs_buf_byte(out, '\n')) result = no_memory(err);
    }
    if (result != CS_OK) out->len = before;
    return result;
}

static cs_result state(const cs_gate_options *options, const cs_gate_verdict *verdict, const cs_gate_attestation *how,
                       making *m, cs_buf *out, cs_error *err) {
    cs_result result = name_rules(verdict, m, err);
    if (result == CS_OK) result = name_inputs(verdict->evidence, m, err);
    if (result != CS_OK) return result;
    const cs_stated_verdict it = {.commit = options->rev->commit,
                                  .repository = how->repository != NULL ? how->repository : "",
                                  .policy_sha256 = options->policy->digest.hex,
                                  .made_unix_ms = options->now_ms,
                                  .passed = verdict->result == CS_OK,
                                  .passed_rules = stated(&m->passed),
                                  .failed_rules = stated(&m->failed),
                                  .warned_rules = stated(&m->warned),
                                  .inputs = m->inputs,
                                  .input_count = m->input_count};
    return sign_both(how, &it, out, err);
}

/* What a run need not be of, no verdict about runs can be about. */
static cs_result check_bound(const cs_policy *policy, cs_error *err) {
    for (size_t i = 0; i < policy->requirement_count; i++)
        if (policy->requirements[i].bind_count == 0)
            return cs_fail(err, CS_CODE_GATE_UNBOUND,
                           "the requirement %s binds its runs to no commit, so that a pass would say nothing of this "
                           "one and is not attested: give it a 'bind'",
                           policy->requirements[i].name);
    return CS_OK;
}

static cs_result check_subject(const cs_gate_options *options, const cs_gate_attestation *how, cs_error *err) {
    if (options->rev == NULL) return cs_fail(err, CS_CODE_USAGE, "an attestation is about a commit, and none is named");
    if (!cs_is_hex(cs_view_of(options->rev->commit), CS_COMMIT_HEX))
        return cs_fail(err, CS_CODE_USAGE, "an attestation is about a commit with an id of %u hexadecimal digits",
                       CS_COMMIT_HEX);
    cs_result bound = check_bound(options->policy, err);
    if (bound != CS_OK) return bound;
    if (how->repository == NULL || how->repository[0] == '\0' || cs_verdict_repository(cs_view_of(how->repository)))
        return CS_OK;
    /* It is not quoted: what is wrong with it may be that it holds a secret. */
    return cs_fail(
        err, CS_CODE_USAGE,
        "the repository's address can't be stated: expected a scheme, \"://\", then at most %u characters of "
        "a URI, and no user but git, since such an address often holds a secret",
        CS_VERDICT_MAX_REPOSITORY);
}

cs_result cs_gate_attest_lines(const cs_gate_options *options, const cs_gate_verdict *verdict,
                               const cs_gate_attestation *how, bool *made, cs_buf *out, cs_error *err) {
    *made = false;
    if (!is_made(verdict)) return CS_OK;
    cs_result result = check_subject(options, how, err);
    if (result != CS_OK) return result;
    making m = {.texts = NULL};
    result = state(options, verdict, how, &m, out, err);
    making_free(&m);
    *made = result == CS_OK;
    return result;
}

/* ---- where they go ------------------------------------------------------------------------------------- */

cs_result cs_gate_attest_ready(const cs_gate_options *options, const cs_gate_attestation *how, cs_error *err) {
    cs_result result = check_subject(options, how, err);
    struct stat info;
    if (result == CS_OK && how->path != NULL && lstat(how->path, &info) == 0) {
        result = cs_fail(err, CS_CODE_IO, "there is a file already where the attestation is to be; none is replaced");
        cs_error_where(err, "%s", how->path);
    }
    if (result == CS_OK && how->ledger != NULL) result = cs_gate_attest_ledger_ready(how->ledger, err);
    return result;
}

cs_result cs_gate_attest(const cs_gate_options *options, const cs_gate_verdict *verdict, const cs_gate_attestation *how,
                         cs_gate_attested *out, cs_error *err) {
    CS_AUTO_BUF lines = CS_BUF_INIT(2 * (size_t)CS_MAX_ENVELOPE_BYTES + 2);
    *out = (cs_gate_attested){.made = false};
    cs_result result = cs_gate_attest_lines(options, verdict, how, &out->made, &lines, err);
    if (result != CS_OK || !out->made) return result;
    if (how->ledger != NULL) result = cs_gate_attest_append(how->ledger, cs_buf_view(&lines), &out->kept, err);
    if (how->path == NULL) return result;
    cs_error of_file = CS_ERROR_INIT;
    cs_result written = cs_gate_attest_publish(how->path, cs_buf_view(&lines), &of_file);
    out->written = written == CS_OK;
    if (result != CS_OK && written != CS_OK) cs_error_also(err, "; and %s", of_file.message);
    if (result != CS_OK || written == CS_OK) return result;
    if (err != NULL) *err = of_file;
    return written;
}
