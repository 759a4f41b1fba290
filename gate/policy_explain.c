#include <inttypes.h>
#include <string.h>

#include "gate/policy.h"
#include "records/text.h"
#include "records/time.h"

/* What is written, and whether all of it had room. */
typedef struct explaining {
    cs_buf *out;
    const char *requirement; /* NULL: the policy as a whole */
    bool good;
} explaining;

/* ---- pieces ------------------------------------------------------------------------------------- */

#define SAY(e, ...) ((e)->good = (e)->good && cs_buf_printf((e)->out, __VA_ARGS__))

static void begin(explaining *e, const char *rule) {
    if (e->requirement == NULL)
        SAY(e, "policy: %s: ", rule);
    else
        SAY(e, "requirement %s: %s: ", e->requirement, rule);
}

static void end(explaining *e) {
    SAY(e, "\n");
}

static void line(explaining *e, const char *rule, const char *text) {
    begin(e, rule);
    SAY(e, "%s", text);
    end(e);
}

/* In quotes and escaped, the quotes inside too, so that one text does not read as two. */
static void quote(explaining *e, cs_view text) {
    SAY(e, "\"");
    while (e->good && text.len > 0) {
        const uint8_t *mark = memchr(text.ptr, '"', text.len);
        size_t len = mark != NULL ? (size_t)(mark - text.ptr) : text.len;
        e->good = cs_escape_append(e->out, cs_view_bytes(text.ptr, len), false);
        if (mark != NULL) SAY(e, "\\\"");
        len += mark != NULL;
        text = cs_view_bytes(text.ptr + len, text.len - len);
    }
    SAY(e, "\"");
}

static void quote_all(explaining *e, const cs_policy_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0) SAY(e, ", ");
        quote(e, list->items[i]);
    }
}

/* One of a list that may be empty. */
static void one_of(explaining *e, const char *rule, const cs_policy_list *list, const char *any) {
    if (list->count == 0) {
        line(e, rule, any);
        return;
    }
    begin(e, rule);
    SAY(e, "%s", list->count == 1 ? "only " : "one of ");
    quote_all(e, list);
    end(e);
}

static void number(explaining *e, const char *before, uint64_t count, const char *one, const char *several) {
    SAY(e, "%s%" PRIu64 " %s", before, count, cs_plural(count, one, several));
}

/* ---- the policy as a whole ---------------------------------------------------------------------- */

static void explain_key(explaining *e, const cs_trusted_key *key) {
    char from[40];
    char to[40];
    begin(e, "key");
    SAY(e, "%s", key->key.id);
    if (key->label[0] != '\0') {
        SAY(e, " ");
        quote(e, cs_view_of(key->label));
    }
    cs_time_format(key->not_before_ms, from, sizeof from);
    cs_time_format(key->not_after_ms, to, sizeof to);
    bool begins = key->not_before_ms != INT64_MIN;
    bool ends = key->not_after_ms != INT64_MAX;
    SAY(e, " may sign%s%s%s%s%s", begins ? " from " : "", begins ? from : "", ends ? " until " : "", ends ? to : "",
        begins || ends ? "" : " at any time");
    end(e);
}

static void explain_needs(explaining *e, const cs_policy *policy) {
    if (policy->needs_base)
        line(e, "needs", "a revision, and a base to compare it with");
    else
        line(e, "needs", policy->needs_rev ? "a revision; no base" : "neither a revision nor a base");
}

static void explain_policy(explaining *e, const cs_policy *policy) {
    begin(e, "file");
    SAY(e, "SHA-256 %s", policy->digest.hex);
    end(e);
    begin(e, "keys");
    number(e, "", policy->trust.count, "key is trusted", "keys are trusted");
    SAY(e, ", and no other; a key inside an input is never trusted");
    end(e);
    for (size_t i = 0; i < policy->trust.count; i++)
        explain_key(e, &policy->trust.keys[i]);
    line(e, "sources", "every ledger and bundle that is named must verify as a whole");
    explain_needs(e, policy);
    if (policy->protect.count == 0) {
        line(e, "protect", "not asked: no path is protected from change");
        return;
    }
    begin(e, "protect");
    SAY(e, "the same in the base and the revision, neither changed, added nor removed: every path that matches ");
    quote_all(e, &policy->protect);
    SAY(e, "; and every submodule, and symbolic link to no file of its commit, in which such a path could be");
    end(e);
}

/* ---- which records ------------------------------------------------------------------------------ */

static void explain_selected(explaining *e, const cs_policy_requirement *r) {
    static const char *const kinds[] = {[CS_POLICY_ANY] = "any kind",
                                        [CS_POLICY_JAVASCRIPT] = "kind javascript",
                                        [CS_POLICY_PROJECT] = "kind project",
                                        [CS_POLICY_MODULE] = "kind module",
                                        [CS_POLICY_CELL] = "kind cell"};
    begin(e, "selected");
    /* Only projects have steps. */
    SAY(e, "the runs of %s", kinds[r->step.ptr != NULL ? CS_POLICY_PROJECT : r->kind]);
    if (r->step.ptr != NULL) {
        SAY(e, " with one step, which is exactly ");
        quote(e, r->step);
        SAY(e, " and no call of the same session before it"); /* which could do more than a step */
    }
    SAY(e, "%s", r->providers.count > 0 ? ", of these providers alone: " : ", of all providers");
    quote_all(e, &r->providers);
    SAY(e, "; there must be one");
    end(e);
}

/* ---- conditions --------------------------------------------------------------------------------- */

static void explain_where(explaining *e, const cs_policy_requirement *r) {
    one_of(e, "provider", &r->allowed_providers, "not asked: any that is selected");
    begin(e, "floor");
    if (r->floor == CS_TIER_UNKNOWN)
        SAY(e, "not asked: any tier");
    else
        SAY(e, "the tier %s%s", cs_tier_word(r->floor), r->floor == CS_TIER_VM ? "" : " or a stronger one");
    end(e);
    one_of(e, "software", &r->software, "not asked: any software identity");
    one_of(e, "sandbox-policy", &r->sandbox_policies, "not asked: any sandbox policy");
    begin(e, "grants");
    SAY(e, "%s", r->grant_profiles.count > 0 ? "no grant profile but " : "none may be used");
    quote_all(e, &r->grant_profiles);
    end(e);
    begin(e, "age");
    if (r->max_age_s == 0)
        SAY(e, "not asked: however old");
    else
        number(e, "ended at most ", r->max_age_s, "second ago, and not in the future",
               "seconds ago, and not in the future");
    end(e);
}

static void explain_work(explaining *e, const cs_policy_requirement *r) {
    begin(e, "work");
    SAY(e, "all of it was done and passed: every step ran and ended with exit code 0, and every artifact is there");
    if (r->bind_count > 0) SAY(e, "; a selected run of the revision that failed is not hidden by another that passed");
    end(e);
    line(e, "time-out", "nothing met its time limit");
    line(e, "truncation", "no output and no artifact was cut");
}

/* Only what surely leaves nothing out: of other patterns the sentence is true, though it may be about no file. */
static bool binds_all(const cs_policy_requirement *r) {
    for (size_t i = 0; i < r->bind_count; i++) {
        const cs_policy_list *paths = &r->binds[i].paths;
        for (size_t k = 0; k < paths->count; k++)
            if (cs_view_is(paths->items[k], "**") || cs_view_is(paths->items[k], "**/*")) return true;
    }
    return false;
}

static void explain_binds(explaining *e, const cs_policy_requirement *r) {
    bool complete = false;
    if (r->bind_count == 0)
        line(e, "bind",
             "not asked: the runs need not be of the revision: their files may be any, and a commit that nobody ran "
             "passes; a verdict by such a policy is not attested");
    for (size_t i = 0; i < r->bind_count; i++) {
        begin(e, "bind");
        SAY(e, "every file of the run is the revision's, byte for byte, whose path matches ");
        quote_all(e, &r->binds[i].paths);
        SAY(e, "; each pattern matches one");
        end(e);
    }
    if (r->bind_count > 0 && !binds_all(r))
        line(e, "bind",
             "a file of the run that matches no pattern is bound to nothing: it need not be the revision's, and may "
             "be any");
    for (size_t i = 0; i < r->bind_count; i++) {
        if (!r->binds[i].complete) continue;
        complete = true;
        begin(e, "complete");
        SAY(e, "every file of the revision was in the run whose path matches ");
        quote_all(e, &r->binds[i].paths);
        end(e);
    }
    if (!complete) line(e, "complete", "not asked: files of the revision may be missing in the run");
}

static void explain_tests(explaining *e, const cs_policy_requirement *r) {
    const cs_policy_tests *tests = &r->tests;
    begin(e, "tests");
    if (tests->present) {
        SAY(e, "the run's artifact ");
        quote(e, tests->artifact);
        number(e, " is JUnit XML with at least ", tests->min_executed, "test executed", "tests executed");
        SAY(e, ", at most %" PRIu64 " skipped, at most %" PRIu64 " failed", tests->max_skipped, tests->max_failed);
    } else {
        SAY(e, "not asked: no test results are read");
    }
    end(e);
    line(e, "tests-of-base",
         tests->not_fewer_than_base ? "not fewer tests executed than in the run of the base, which must be there"
                                    : "not asked: there may be fewer tests than in the base");
}

/* ---- all records together ----------------------------------------------------------------------- */

static void explain_together(explaining *e, const cs_policy_requirement *r) {
    begin(e, "count");
    number(e, "at least ", r->min_records, "distinct record fulfils", "distinct records fulfil");
    SAY(e, " all of the above");
    end(e);
    begin(e, "reproduced");
    if (r->reproduced_runs > 0) {
        number(e, "the same work gave the same result in at least ", r->reproduced_runs, "run", "runs");
        number(e, ", on at least ", r->reproduced_providers, "provider", "providers");
        SAY(e, "; output and artifacts are part of the result: a test report that holds times differs each time (ask "
               "for reproduction in a requirement of its own, of a step without such an artifact)");
    } else {
        SAY(e, "not asked: one run of the same work is enough");
    }
    end(e);
    line(e, "same-result",
         r->reproduced_runs > 0 ? "no two of these records of the same work have different results"
                                : "not asked: the same work may have different results");
    line(e, "cross-check",
         r->cross_check ? "no finding that the inputs hold contradicts the tier of a record that counts, and each of "
                          "these was run into a ledger, since a bundle holds no findings; how deep anyone looked "
                          "(statements, probe, host) is not known from that"
                        : "not asked: findings about the tier are passed over");
}

static void explain_requirement(explaining *e, const cs_policy_requirement *requirement) {
    e->requirement = requirement->name;
    explain_selected(e, requirement);
    explain_where(e, requirement);
    explain_work(e, requirement);
    explain_binds(e, requirement);
    explain_tests(e, requirement);
    explain_together(e, requirement);
}

cs_result cs_policy_explain(const cs_policy *policy, cs_buf *out, cs_error *err) {
    explaining e = {.out = out, .good = true};
    explain_policy(&e, policy);
    for (size_t i = 0; i < policy->requirement_count; i++)
        explain_requirement(&e, &policy->requirements[i]);
    if (!e.good) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the rules in words");
    return CS_OK;
}
