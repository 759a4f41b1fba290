/* The paths that a change must not touch: the gate's own policy, the workflow that runs it, the tests' settings. */
#include <inttypes.h>
#include <string.h>

#include "gate/glob.h"
#include "gate/judge_internal.h"
#include "records/text.h"

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

/* What is in a submodule is no file of the commit, and comes all the same with a check-out. NULL: no pattern matches
 * anything that could be there. */
static const cs_view *pattern_below(const cs_policy_list *patterns, const pair *p, cs_view path) {
    bool is_one =
        (p->old != NULL && p->old->kind == CS_TREE_SUBMODULE) || (p->new != NULL && p->new->kind == CS_TREE_SUBMODULE);
    for (size_t i = 0; is_one && i < patterns->count; i++)
        if (cs_glob_may_match_below(patterns->items[i], path)) return &patterns->items[i];
    return NULL;
}

/* Why this difference is refused; false: it is none, or of no protected path. */
static bool is_refused(const cs_policy *policy, const pair *p, bool protected, cs_gate_finding *out) {
    cs_view path = cs_view_of(p->old != NULL ? p->old->path : p->new->path);
    cs_gate_shown shown = cs_gate_show(path);
    const char *fault = fault_of(p);
    if (fault == NULL) return false;
    const cs_view *below = protected ? NULL : pattern_below(&policy->protect, p, path);
    if (!protected && below == NULL) return false;
    if (out->state == CS_GATE_REFUSED) return true;
    if (protected) {
        cs_gate_refuse(out, CS_CODE_GATE_PROTECTED, "%s %s", shown.text, fault);
    } else {
        cs_gate_shown pattern = cs_gate_show(*below);
        cs_gate_refuse(out, CS_CODE_GATE_PROTECTED, "the submodule %s %s: files that %s protects may be in it",
                       shown.text, fault, pattern.text);
    }
    cs_gate_about(out, path);
    return true;
}

static void judge_walk(const cs_policy *policy, const cs_tree *rev, const cs_tree *base, bool *used,
                       cs_gate_finding *out) {
    uint64_t same = 0;
    uint64_t changed = 0;
    pair p;
    for (size_t b = 0, r = 0; next_pair(base, rev, &b, &r, &p);) {
        bool matches = is_protected(&policy->protect, cs_view_of(p.old != NULL ? p.old->path : p.new->path), used);
        if (is_refused(policy, &p, matches, out))
            changed++;
        else if (matches)
            same++;
    }
    if (changed > 1)
        cs_gate_also(out, ", and %" PRIu64 " more protected %s", changed - 1,
                     cs_plural(changed - 1, "file differs", "files differ"));
    if (changed == 0)
        cs_gate_pass(out, "%" PRIu64 " protected %s unchanged", same, cs_plural(same, "file is", "files are"));
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
    if (cs_gate_is_same_commit(rev, base)) {
        cs_gate_refuse(out, CS_CODE_GATE_PROTECTED, CS_GATE_NOTHING_COMPARED);
        return;
    }
    judge_walk(policy, rev, base, used, out);
    judge_patterns(policy, used, out);
}
