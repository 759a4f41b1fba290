/* Changes of the files of a run: one more. */
#include <stdlib.h>

#include "gate/prove_internal.h"

#define OTHER 'x'

cs_gate_changed cs_gate_change_adds_file(cs_gate_trial *t, cs_view path) {
    Plimsoll__V1__ProjectFile ***files = NULL;
    size_t *count = NULL;
    if (t->request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT) {
        files = &t->request->project->files;
        count = &t->request->project->n_files;
    } else if (t->request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL) {
        files = &t->request->cell->files;
        count = &t->request->cell->n_files;
    } else {
        return CS_GATE_NO_CHANGE;
    }
    Plimsoll__V1__ProjectFile **more = realloc(*files, (*count + 1) * sizeof(Plimsoll__V1__ProjectFile *));
    if (more == NULL) return CS_GATE_NO_MEMORY;
    *files = more;
    Plimsoll__V1__ProjectFile *file = calloc(1, sizeof *file);
    if (file == NULL) return CS_GATE_NO_MEMORY;
    plimsoll__v1__project_file__init(file);
    more[(*count)++] = file;
    return cs_bytes_set(&file->path, path) ? CS_GATE_CHANGED : CS_GATE_NO_MEMORY;
}

/* ---- a file that is not in the commit ------------------------------------------------------------------------ */

static bool is_bound(const cs_gate_trial *t, cs_view path) {
    for (size_t i = 0; i < t->requirement->bind_count; i++)
        if (cs_gate_list_matches(&t->requirement->binds[i].paths, path)) return true;
    return false;
}

static bool is_new(const cs_gate_trial *t, cs_view path) {
    cs_gate_files files = cs_gate_files_of(t->request);
    for (size_t i = 0; i < files.count; i++)
        if (cs_view_equal(cs_bytes_view(&files.items[i]->path), path)) return false;
    return cs_tree_find(t->setting->rev.tree, path) == NULL;
}

/* The path with one byte more at `at`, or, when `replace`, with another one there. */
static bool make_name(cs_view from, size_t at, bool replace, cs_buf *out) {
    size_t rest = replace ? at + 1 : at;
    cs_buf_clear(out);
    return cs_buf_append(out, from.ptr, at) && cs_buf_byte(out, OTHER) &&
           cs_buf_append(out, from.ptr + rest, from.len - rest);
}

/* A name beside that of a bound file, which a pattern matches as well. Patterns that are names have none. */
static cs_gate_changed find_name(const cs_gate_trial *t, cs_view from, cs_buf *out) {
    for (unsigned replace = 0; replace < 2; replace++) {
        for (size_t at = from.len + 1 - replace; at-- > 0;) {
            if (replace != 0 && from.ptr[at] == '/') continue;
            if (!make_name(from, at, replace != 0, out)) return CS_GATE_NO_MEMORY;
            if (is_bound(t, cs_buf_view(out)) && is_new(t, cs_buf_view(out))) return CS_GATE_CHANGED;
        }
    }
    return CS_GATE_NO_CHANGE;
}

cs_gate_changed cs_gate_change_file_added(cs_gate_trial *t) {
    CS_AUTO_BUF name = CS_BUF_INIT(CS_TREE_MAX_PATH + 1);
    cs_gate_files files = cs_gate_files_of(t->request);
    cs_gate_changed found = CS_GATE_NO_CHANGE;
    for (size_t i = 0; found == CS_GATE_NO_CHANGE && i < files.count; i++) {
        cs_view path = cs_bytes_view(&files.items[i]->path);
        if (path.len <= CS_TREE_MAX_PATH && is_bound(t, path)) found = find_name(t, path, &name);
    }
    if (found != CS_GATE_CHANGED) return found;
    found = cs_gate_change_adds_file(t, cs_buf_view(&name));
    if (found != CS_GATE_CHANGED) return found;
    cs_gate_shown shown = cs_gate_show(cs_buf_view(&name));
    return cs_gate_change_says(t, "the run brings a file more, %s, which is not in the commit", shown.text);
}
