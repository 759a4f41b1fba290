/* The paths that a change must not touch: the gate's own policy, the workflow that runs it, the tests' settings. */
#include <inttypes.h>
#include <string.h>

#include "gate/glob.h"
#include "gate/judge_internal.h"
#include "records/text.h"

typedef struct sides {
    const cs_policy *policy;
    const cs_tree *rev;
    const cs_tree *base;
} sides;

static const char *fault_of(const cs_gate_pair *p) {
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

/* ---- what lies behind a submodule or a link ------------------------------------------------------------------------
 */

/* The path that a link leads to, by its text alone: some ../ at the beginning at most. False: it leads out of the
 * commit, or can't be told. Folders above a file of a commit are folders, so that ../ is the one above. */
static bool resolve(cs_view link, cs_view target, cs_buf *out) {
    size_t above = link.len; /* of the link's path, the part up to the folder's final slash */
    while (above > 0 && link.ptr[above - 1] != '/')
        above--;
    while (target.len >= 3 && memcmp(target.ptr, "../", 3) == 0) {
        if (above == 0) return false;
        for (above--; above > 0 && link.ptr[above - 1] != '/';)
            above--;
        target = cs_view_bytes(target.ptr + 3, target.len - 3);
    }
    return cs_buf_append(out, link.ptr, above) && cs_buf_append(out, target.ptr, target.len);
}

/* Does the link surely lead to a file of this commit, below which nothing can be? A path with . or .. in its middle is
 * that of no file, and one through another link isn't either. */
static bool leads_to_file(const cs_tree *tree, const cs_tree_file *link) {
    CS_AUTO_BUF target = CS_BUF_INIT(CS_TREE_MAX_PATH);
    CS_AUTO_BUF path = CS_BUF_INIT((size_t)2 * CS_TREE_MAX_PATH);
    cs_error ignored = CS_ERROR_INIT;
    if (cs_tree_content(tree, link, CS_TREE_MAX_PATH, &target, &ignored) != CS_OK) return false;
    if (!resolve(cs_view_of(link->path), cs_buf_view(&target), &path)) return false;
    const cs_tree_file *found = cs_tree_find(tree, cs_buf_view(&path));
    return found != NULL && (found->kind == CS_TREE_FILE || found->kind == CS_TREE_EXECUTABLE);
}

/* What comes with a check-out below the path of something that is no folder of the commit. NULL: nothing. */
static const char *holder_of(const cs_tree *tree, const cs_tree_file *file) {
    if (file == NULL) return NULL;
    if (file->kind == CS_TREE_SUBMODULE) return "submodule";
    return file->kind == CS_TREE_SYMLINK && !leads_to_file(tree, file) ? "symbolic link" : NULL;
}

/* What is in a submodule, or behind a link, is no file of the commit at that path, and is there all the same. */
typedef struct behind {
    const cs_view *pattern; /* that matches something which could be there; NULL: none does */
    const char *holder;
    const char *fault;
} behind;

static bool may_hold(const cs_tree_file *file) {
    return file != NULL && (file->kind == CS_TREE_SUBMODULE || file->kind == CS_TREE_SYMLINK);
}

static behind look_behind(const sides *s, const cs_gate_pair *p, cs_view path) {
    behind out = {.pattern = NULL};
    const cs_policy_list *patterns = &s->policy->protect;
    if (!may_hold(p->old) && !may_hold(p->new)) return out;
    for (size_t i = 0; out.pattern == NULL && i < patterns->count; i++)
        if (cs_glob_may_match_below(patterns->items[i], path)) out.pattern = &patterns->items[i];
    if (out.pattern == NULL) return out;
    const char *old = holder_of(s->base, p->old);
    const char *new = holder_of(s->rev, p->new);
    out.holder = new != NULL ? new : old;
    out.fault = fault_of(p);
    /* The same link to what was a file, and is none any more; or the other way round. */
    if (out.fault == NULL && (old == NULL) != (new == NULL)) out.fault = "leads to something else";
    if (out.holder == NULL || out.fault == NULL) out.pattern = NULL;
    return out;
}

/* Why this difference is refused; false: it is none, or of no protected path. */
static bool is_refused(const sides *s, const cs_gate_pair *p, bool protected, cs_gate_finding *out) {
    cs_view path = cs_view_of(p->old != NULL ? p->old->path : p->new->path);
    cs_gate_shown shown = cs_gate_show(path);
    const char *fault = protected ? fault_of(p) : NULL;
    behind found = {.pattern = NULL};
    if (fault == NULL) found = look_behind(s, p, path);
    if (fault == NULL && found.pattern == NULL) return false;
    if (out->state == CS_GATE_REFUSED) return true;
    if (fault != NULL) {
        cs_gate_refuse(out, CS_CODE_GATE_PROTECTED, "%s %s", shown.text, fault);
    } else {
        cs_gate_shown pattern = cs_gate_show(*found.pattern);
        cs_gate_refuse(out, CS_CODE_GATE_PROTECTED, "the %s %s %s: files that %s protects may be in it", found.holder,
                       shown.text, found.fault, pattern.text);
    }
    cs_gate_about(out, path);
    return true;
}

static void judge_walk(const sides *s, bool *used, cs_gate_finding *out) {
    uint64_t same = 0;
    uint64_t changed = 0;
    cs_gate_pair p;
    for (size_t b = 0, r = 0; cs_gate_next_pair(s->base, s->rev, &b, &r, &p);) {
        bool matches = is_protected(&s->policy->protect, cs_view_of(p.old != NULL ? p.old->path : p.new->path), used);
        if (is_refused(s, &p, matches, out))
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
    judge_walk(&(sides){.policy = policy, .rev = rev, .base = base}, used, out);
    judge_patterns(policy, used, out);
}
