/* The paths that a change must not touch: the gate's own policy, the workflow that runs it, the tests' settings. */
#include <inttypes.h>
#include <string.h>

#include "gate/glob.h"
#include "gate/judge_internal.h"

/* Two lists in the same order, walked together. */
typedef struct pair {
    const cs_tree_file *old; /* NULL: not in the base */
    const cs_tree_file *new; /* NULL: not in the revision */
} pair;

static bool next_pair(const cs_tree *base, const cs_tree *rev, size_t *b, size_t *r, pair *out) {
    *out = (pair){.old = *b < base->count ? &base->files[*b] : NULL, .new = *r < rev->count ? &rev->files[*r] : NULL};
    if (out->old == NULL && out->new == NULL) return false;
    int order = out->old == NULL ? 1 : out->new == NULL ? -1 : strcmp(out->old->path, out->new->path);
    if (order > 0) out->old = NULL;
    if (order < 0) out->new = NULL;
    if (out->old != NULL) (*b)++;
    if (out->new != NULL) (*r)++;
    return true;
}

static const char *fault_of(const pair *p) {
    if (p->old == NULL) return "was added";
    if (p->new == NULL) return "was removed";
    if (strcmp(p->old->oid, p->new->oid) != 0) return "was changed";
    return p->old->kind != p->new->kind ? "became another kind of file" : NULL;
}

/* Notes which patterns the path matches. */
static bool is_protected(const cs_policy_list *patterns, cs_view path, bool *used) {
    bool any = false;
    for (size_t i = 0; i < patterns->count; i++) {
        if (!cs_glob_matches(patterns->items[i], path)) continue;
        used[i] = true;
        any = true;
    }
    return any;
}

static void judge_walk(const cs_policy *policy, const cs_tree *rev, const cs_tree *base, bool *used,
                       cs_gate_finding *out) {
    uint64_t same = 0;
    uint64_t changed = 0;
    pair p;
    for (size_t b = 0, r = 0; next_pair(base, rev, &b, &r, &p);) {
        const char *path = p.old != NULL ? p.old->path : p.new->path;
        if (!is_protected(&policy->protect, cs_view_of(path), used)) continue;
        const char *fault = fault_of(&p);
        if (fault == NULL) {
            same++;
        } else if (changed++ == 0) {
            cs_gate_shown shown = cs_gate_show(cs_view_of(path));
            cs_gate_refuse(out, CS_CODE_GATE_PROTECTED, "%s %s", shown.text, fault);
            cs_gate_about(out, cs_view_of(path));
        }
    }
    if (changed > 1) cs_gate_also(out, ", and %" PRIu64 " more protected files differ", changed - 1);
    if (changed == 0) cs_gate_pass(out, "%" PRIu64 " protected files are unchanged", same);
}

/* A pattern that matches nothing protects nothing: it is misspelt, or of no use. */
static void judge_patterns(const cs_policy *policy, const bool *used, cs_gate_finding *out) {
    for (size_t i = 0; out->state == CS_GATE_PASSED && i < policy->protect.count; i++) {
        if (used[i]) continue;
        cs_gate_shown shown = cs_gate_show(policy->protect.items[i]);
        cs_gate_refuse(out, CS_CODE_GATE_PATTERN, "the pattern %s matches no file of the base or the revision",
                       shown.text);
    }
}

void cs_gate_judge_protect(const cs_policy *policy, const cs_tree *rev, const cs_tree *base, cs_gate_finding *out) {
    if (policy->protect.count == 0) return;
    bool used[CS_POLICY_MAX_LIST] = {false};
    if (rev == NULL || base == NULL || policy->protect.count > CS_POLICY_MAX_LIST) {
        cs_gate_leave(out, "a commit is missing, or there are too many patterns");
        return;
    }
    judge_walk(policy, rev, base, used, out);
    judge_patterns(policy, used, out);
}
