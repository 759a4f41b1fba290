/* The conditions of one record: are its files the commit's, and all of them? */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gate/glob.h"
#include "gate/judge_internal.h"
#include "records/text.h"

#define LARGEST_FILE ((size_t)4 << 20) /* no run brings a larger one */

cs_gate_files cs_gate_files_of(const cs_run_request *request) {
    switch (request->payload_case) {
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT:
        return (cs_gate_files){.items = request->project->files, .count = request->project->n_files};
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL:
        return (cs_gate_files){.items = request->cell->files, .count = request->cell->n_files};
    default:
        return (cs_gate_files){.items = NULL};
    }
}

bool cs_gate_bind_is_complete(const cs_policy_requirement *requirement) {
    for (size_t i = 0; i < requirement->bind_count; i++)
        if (requirement->binds[i].complete) return true;
    return false;
}

bool cs_gate_is_bound(const cs_policy_requirement *requirement, cs_view path) {
    for (size_t i = 0; i < requirement->bind_count; i++)
        if (cs_gate_list_matches(&requirement->binds[i].paths, path)) return true;
    return false;
}

/* ---- bind ---------------------------------------------------------------------------------------------------- */

static const char *kind_word(cs_tree_kind kind) {
    if (kind == CS_TREE_SYMLINK) return "a symbolic link";
    return kind == CS_TREE_SUBMODULE ? "a submodule" : "a file";
}

static bool is_regular(const cs_tree_file *file) {
    return file->kind == CS_TREE_FILE || file->kind == CS_TREE_EXECUTABLE;
}

static bool equals_commit(const cs_tree *tree, const Plimsoll__V1__ProjectFile *file, cs_gate_finding *out) {
    cs_view path = cs_bytes_view(&file->path);
    cs_gate_shown shown = cs_gate_show(path);
    const cs_tree_file *found = cs_tree_find(tree, path);
    if (found == NULL)
        cs_gate_refuse(out, CS_CODE_GATE_BIND, "%s of the run is not in the commit %.12s", shown.text, tree->commit);
    else if (!is_regular(found))
        cs_gate_refuse(out, CS_CODE_GATE_BIND, "%s is %s in the commit %.12s, and a file in the run", shown.text,
                       kind_word(found->kind), tree->commit);
    else if (!cs_tree_holds(tree, found, cs_bytes_view(&file->content)))
        cs_gate_refuse(out, CS_CODE_GATE_BIND, "%s has other bytes in the run than in the commit %.12s", shown.text,
                       tree->commit);
    else
        return true;
    cs_gate_about(out, path);
    return false;
}

static bool matches_any(cs_view pattern, cs_gate_files files) {
    for (size_t i = 0; i < files.count; i++)
        if (cs_glob_matches(pattern, cs_bytes_view(&files.items[i]->path))) return true;
    return false;
}

/* A pattern without a file in the run, but with some in the commit, which have to be in the run: that is said by the
 * rule about completeness. */
static bool is_for_complete(const cs_gate_question *q, const cs_policy_bind *bind, cs_view pattern) {
    if (!bind->complete) return false;
    for (size_t i = 0; i < q->scope->count; i++)
        if (cs_glob_matches(pattern, cs_view_of(q->commit->tree->files[q->scope->files[i]].path))) return true;
    return false;
}

static bool patterns_match(const cs_gate_question *q, const cs_policy_bind *bind, cs_gate_files files,
                           cs_gate_finding *out) {
    for (size_t i = 0; i < bind->paths.count; i++) {
        cs_view pattern = bind->paths.items[i];
        if (matches_any(pattern, files) || is_for_complete(q, bind, pattern)) continue;
        cs_gate_shown shown = cs_gate_show(pattern);
        cs_gate_refuse(out, CS_CODE_GATE_PATTERN, "the pattern %s matches no file of the run", shown.text);
        return false;
    }
    return true;
}

#define NAMED 3u

/* What no pattern is about came with the run all the same, and could be anything. */
static void add_unbound(const cs_gate_question *q, cs_gate_files files, size_t unbound, cs_gate_finding *out) {
    if (unbound == 0) return;
    cs_gate_also(out, "; %zu file%s of the run match%s no pattern of bind and %s bound to nothing:", unbound,
                 unbound == 1 ? "" : "s", unbound == 1 ? "es" : "", unbound == 1 ? "is" : "are");
    size_t named = 0;
    for (size_t i = 0; named < NAMED && i < files.count; i++) {
        char shown[44];
        cs_view path = cs_bytes_view(&files.items[i]->path);
        if (cs_gate_is_bound(q->requirement, path)) continue;
        cs_escape_short(path, shown, sizeof shown);
        cs_gate_also(out, "%s %s", named++ == 0 ? "" : ",", shown);
    }
    if (unbound > named) cs_gate_also(out, ", and %zu more", unbound - named);
}

cs_result cs_gate_hold_bind(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    if (q->requirement->bind_count == 0) return CS_OK;
    if (q->commit->tree == NULL) return cs_fail(err, CS_CODE_INTERNAL, "files are to be bound to no commit");
    if (cs_gate_follows_a_call(q->facts->record)) {
        cs_gate_refuse(out, CS_CODE_GATE_BIND,
                       "it is call %" PRIu64 " of a session: the calls before it may have left other files there",
                       q->facts->record->sequence);
        return CS_OK;
    }
    cs_gate_files files = cs_gate_files_of(q->facts->request);
    size_t bound = 0;
    for (size_t i = 0; i < files.count; i++) {
        if (!cs_gate_is_bound(q->requirement, cs_bytes_view(&files.items[i]->path))) continue;
        if (!equals_commit(q->commit->tree, files.items[i], out)) return CS_OK;
        bound++;
    }
    for (size_t i = 0; i < q->requirement->bind_count; i++)
        if (!patterns_match(q, &q->requirement->binds[i], files, out)) return CS_OK;
    cs_gate_pass(out, "%zu of %zu %s of the commit %.12s, byte for byte", bound, files.count,
                 cs_plural(files.count, "file of the run is that", "files of the run are those"),
                 q->commit->tree->commit);
    add_unbound(q, files, files.count - bound, out);
    if (!cs_gate_bind_is_complete(q->requirement)) {
        cs_gate_marked marked = cs_gate_mark_files(q);
        cs_gate_add_uncovered(q, &marked, out);
    }
    return CS_OK;
}

/* ---- complete ------------------------------------------------------------------------------------------------ */

/* Why a file of the commit can't be in any run; empty when it could. */
static cs_result why_impossible(const cs_tree *tree, const cs_tree_file *file, const char **why, cs_error *err) {
    *why = "";
    if (file->kind == CS_TREE_SYMLINK) *why = ": it is a symbolic link, which no run can have";
    if (file->kind == CS_TREE_SUBMODULE) *why = ": it is a submodule, which no run can have";
    if (!is_regular(file)) return CS_OK;
    CS_AUTO_BUF content = CS_BUF_INIT(LARGEST_FILE);
    cs_result result = cs_tree_content(tree, file, LARGEST_FILE, &content, err);
    if (result != CS_OK) {
        *why = ": it can't be read, or is larger than any file of a run";
        return err->code == CS_CODE_NO_MEMORY ? result : CS_OK;
    }
    if (!cs_utf8_valid(cs_buf_view(&content))) *why = ": its content is not UTF-8, and the files of a run are text";
    return CS_OK;
}

static cs_result refuse_missing(const cs_gate_question *q, const cs_tree_file *file, cs_gate_finding *out,
                                cs_error *err) {
    const char *why = "";
    cs_error own = CS_ERROR_INIT;
    cs_result result = why_impossible(q->commit->tree, file, &why, &own);
    if (result != CS_OK) {
        *err = own;
        return result;
    }
    cs_gate_shown shown = cs_gate_show(cs_view_of(file->path));
    cs_gate_refuse(out, CS_CODE_GATE_INCOMPLETE, "%s of the commit %.12s was not in the run%s", shown.text,
                   q->commit->tree->commit, why);
    cs_gate_about(out, cs_view_of(file->path));
    return CS_OK;
}

cs_result cs_gate_hold_complete(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    if (!cs_gate_bind_is_complete(q->requirement)) return CS_OK;
    if (q->commit->tree == NULL) return cs_fail(err, CS_CODE_INTERNAL, "files are to be bound to no commit");
    cs_gate_marked marked = cs_gate_mark_files(q);
    for (size_t i = 0; i < q->scope->count; i++) {
        size_t at = q->scope->files[i];
        const cs_tree_file *file = &q->commit->tree->files[at];
        if (q->commit->marks[at] == marked.round && is_regular(file)) continue;
        return refuse_missing(q, file, out, err);
    }
    if (q->scope->count == 0) {
        cs_gate_leave(out, "the commit %.12s has no file that matches", q->commit->tree->commit);
        return CS_OK;
    }
    cs_gate_pass(out, "%s %zu %s of the commit %.12s that %s in the run", cs_plural(q->scope->count, "the", "all"),
                 q->scope->count, cs_plural(q->scope->count, "file", "files"), q->commit->tree->commit,
                 cs_plural(q->scope->count, "matches was", "match were"));
    cs_gate_add_uncovered(q, &marked, out);
    return CS_OK;
}
