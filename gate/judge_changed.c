/* What differs between the base and the revision, and what of it a run did not have: a pattern of bind that leaves a
 * file out says nothing of it, so that the verdict does. */
#include <stdlib.h>
#include <string.h>

#include "gate/judge_internal.h"
#include "records/text.h"

bool cs_gate_next_pair(const cs_tree *base, const cs_tree *rev, size_t *b, size_t *r, cs_gate_pair *out) {
    *out = (cs_gate_pair){.old = *b < base->count ? &base->files[*b] : NULL,
                          .new = *r < rev->count ? &rev->files[*r] : NULL};
    if (out->old == NULL && out->new == NULL) return false;
    int order = out->old == NULL ? 1 : out->new == NULL ? -1 : strcmp(out->old->path, out->new->path);
    if (order > 0) out->old = NULL;
    if (order < 0) out->new = NULL;
    if (out->old != NULL) (*b)++;
    if (out->new != NULL) (*r)++;
    return true;
}

static bool differs(const cs_gate_pair *p) {
    return p->old == NULL || p->new == NULL || p->old->kind != p->new->kind || strcmp(p->old->oid, p->new->oid) != 0;
}

cs_result cs_gate_find_changed(const cs_tree *base, cs_gate_commit *rev, cs_error *err) {
    if (rev->tree == NULL || base == NULL || cs_gate_is_same_commit(rev->tree, base)) return CS_OK;
    rev->changed = calloc(rev->tree->count + 1, sizeof *rev->changed);
    if (rev->changed == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the files of a commit");
    cs_gate_pair p;
    for (size_t b = 0, r = 0; cs_gate_next_pair(base, rev->tree, &b, &r, &p);)
        if (p.new != NULL && differs(&p)) rev->changed[rev->changed_count++] = (size_t)(p.new - rev->tree->files);
    return CS_OK;
}

/* ---- marks ----------------------------------------------------------------------------------------------------- */

static int by_number(const void *left, const void *right) {
    size_t a = *(const size_t *)left;
    size_t b = *(const size_t *)right;
    return a < b ? -1 : a > b;
}

static bool is_changed(const cs_gate_commit *commit, size_t place) {
    return commit->changed_count > 0 &&
           bsearch(&place, commit->changed, commit->changed_count, sizeof place, by_number) != NULL;
}

/* What no pattern binds may be another file of the same name. */
static bool is_the_same(const cs_gate_question *q, const cs_tree_file *found, const Plimsoll__V1__ProjectFile *file) {
    if (found->kind != CS_TREE_FILE && found->kind != CS_TREE_EXECUTABLE) return false;
    return cs_gate_is_bound(q->requirement, cs_bytes_view(&file->path)) ||
           cs_tree_holds(q->commit->tree, found, cs_bytes_view(&file->content));
}

cs_gate_marked cs_gate_mark_files(const cs_gate_question *q) {
    cs_gate_files files = cs_gate_files_of(q->facts->request);
    const cs_tree *tree = q->commit->tree;
    uint32_t *marks = q->commit->marks;
    if (marks[tree->count] == UINT32_MAX) memset(marks, 0, (tree->count + 1) * sizeof *marks);
    cs_gate_marked marked = {.round = ++marks[tree->count]};
    for (size_t i = 0; i < files.count; i++) {
        const cs_tree_file *found = cs_tree_find(tree, cs_bytes_view(&files.items[i]->path));
        if (found == NULL || !is_the_same(q, found, files.items[i])) continue;
        size_t place = (size_t)(found - tree->files);
        if (marks[place] == marked.round) continue;
        marks[place] = marked.round;
        marked.files++;
        if (is_changed(q->commit, place)) marked.changed++;
    }
    return marked;
}

/* ---- what is told of one run ------------------------------------------------------------------------------------- */

#define NAMED 3u

static void name_one(cs_view path, size_t named, cs_gate_finding *out) {
    char shown[44];
    cs_escape_short(path, shown, sizeof shown);
    cs_gate_also(out, "%s %s", named == 0 ? ":" : ",", shown);
}

/* No more is walked over than the run has files, and those that are named. */
static void add_changed(const cs_gate_question *q, const cs_gate_marked *marked, cs_gate_finding *out) {
    const cs_gate_commit *commit = q->commit;
    size_t missing = commit->changed_count - marked->changed;
    size_t named = 0;
    if (missing == 0) return;
    cs_gate_also(out, "; %zu %s not in the run", missing,
                 cs_plural(missing, "file that the patch changes was", "files that the patch changes were"));
    for (size_t i = 0; named < NAMED && i < commit->changed_count; i++) {
        size_t place = commit->changed[i];
        if (commit->marks[place] != marked->round) name_one(cs_view_of(commit->tree->files[place].path), named++, out);
    }
    if (missing > named) cs_gate_also(out, ", and %zu more", missing - named);
}

/* A file that is there no more, and that the run had all the same. */
static void add_removed(const cs_gate_question *q, cs_gate_finding *out) {
    cs_gate_files files = cs_gate_files_of(q->facts->request);
    size_t count = 0;
    cs_view first = {.len = 0};
    for (size_t i = 0; i < files.count; i++) {
        cs_view path = cs_bytes_view(&files.items[i]->path);
        if (cs_tree_find(q->commit->tree, path) != NULL || cs_tree_find(q->setting->base.tree, path) == NULL) continue;
        if (count++ == 0) first = path;
    }
    if (count == 0) return;
    cs_gate_also(out, "; %zu %s in the run", count,
                 cs_plural(count, "file that the patch removes was", "files that the patch removes were"));
    name_one(first, 0, out);
    if (count > 1) cs_gate_also(out, ", and %zu more", count - 1);
}

void cs_gate_add_uncovered(const cs_gate_question *q, const cs_gate_marked *marked, cs_gate_finding *out) {
    if (q->commit != &q->setting->rev) return; /* of a run of the base nothing is shown */
    const cs_tree *base = q->setting->base.tree;
    size_t all = q->commit->tree->count;
    if (base != NULL && !cs_gate_is_same_commit(q->commit->tree, base)) {
        add_changed(q, marked, out);
        add_removed(q, out);
    } else if (marked->files < all) {
        cs_gate_also(out, "; %zu of the %zu %s of the commit %s not in the run", all - marked->files, all,
                     cs_plural(all, "file", "files"), cs_plural(all - marked->files, "was", "were"));
    }
}
