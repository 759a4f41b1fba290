/* What a verdict is about: which repository was really opened, what the revisions led to, and whose policy it was. */
#include <string.h>

#include "gate/out_internal.h"

static bool is_empty(const char *text) {
    return text == NULL || text[0] == '\0';
}

/* The slash at the end is libgit2's. */
static bool add_folder(cs_buf *out, const char *folder) {
    size_t len = strlen(folder);
    if (len > 1 && folder[len - 1] == '/') len--;
    return cs_buf_append(out, folder, len);
}

/* A work tree's git directory may be anywhere: a file .git, or a setting, says where. */
static bool add_repository(const cs_gate_subject *about, cs_buf *out) {
    if (is_empty(about->git_folder)) return cs_buf_text(out, "none was opened");
    if (is_empty(about->work_tree)) return add_folder(out, about->git_folder) && cs_buf_text(out, ", which is bare");
    return add_folder(out, about->work_tree) && cs_buf_text(out, ", git directory ") &&
           add_folder(out, about->git_folder);
}

/* The id stands first: what follows is whatever someone has asked for. */
static bool add_commit(const cs_gate_revision *revision, cs_buf *out) {
    if (is_empty(revision->asked)) return cs_buf_text(out, "none was named");
    return cs_buf_text(out, is_empty(revision->commit) ? "not read" : revision->commit) &&
           cs_buf_printf(out, ", named as \"%s\"", revision->asked);
}

static bool add_policy(const cs_gate_subject *about, cs_buf *out) {
    if (is_empty(about->policy_sha256)) return cs_buf_text(out, "none was read");
    if (!cs_buf_printf(out, "SHA-256 %s, ", about->policy_sha256)) return false;
    if (!is_empty(about->policy_from.commit))
        return cs_buf_printf(out, "of the commit %s, named as \"%s\": %s", about->policy_from.commit,
                             about->policy_from.asked, about->policy_file);
    const char *place = is_empty(about->git_folder) ? "a file"
                        : about->in_work_tree       ? "of the work tree"
                                                    : "a file outside of the repository";
    return cs_buf_printf(out, "%s: %s", place, about->policy_file);
}

const char *const cs_gate_about_labels[CS_GATE_ABOUT_ROWS] = {"repository", "revision", "base", "policy"};

bool cs_gate_about_row(const cs_gate_report *report, size_t row, cs_buf *out) {
    const cs_gate_subject *about = &report->about;
    cs_buf_clear(out);
    bool good = row == 0   ? add_repository(about, out)
                : row == 1 ? add_commit(&about->rev, out)
                : row == 2 ? add_commit(&about->base, out)
                           : add_policy(about, out);
    return good && cs_buf_byte(out, '\0');
}

static json_t *optional(const char *text) {
    return is_empty(text) ? json_null() : cs_gate_out_json_text(text);
}

json_t *cs_gate_out_repository(const cs_gate_report *report) {
    const cs_gate_subject *about = &report->about;
    if (is_empty(about->git_folder)) return json_null();
    return json_pack("{s:o, s:o}", "work_tree", optional(about->work_tree), "git_directory",
                     optional(about->git_folder));
}
