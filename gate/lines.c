#include "gate/lines.h"

#include <git2.h>
#include <string.h>

typedef struct telling {
    bool (*on_line)(void *user, const cs_line *line);
    void *user;
    bool stopped;
    bool differs;          /* a line was told that is in one of them only */
    size_t due_a, due_b;   /* lines that the hunks announced, */
    size_t seen_a, seen_b; /* and that came */
} telling;

/* What a callback of libgit2 answers; only a negative number ends a comparison. */
static int tell(telling *t, const cs_line *line) {
    if (!t->stopped) t->stopped = !t->on_line(t->user, line);
    return t->stopped ? GIT_EUSER : 0;
}

/* What stands in a hunk's header behind the numbers is text of the input, and is left out. */
static int on_hunk(const git_diff_delta *delta, const git_diff_hunk *hunk, void *payload) {
    telling *t = payload;
    (void)delta;
    cs_line line = {.kind = CS_LINE_HUNK,
                    .start_a = hunk->old_start,
                    .count_a = hunk->old_lines,
                    .start_b = hunk->new_start,
                    .count_b = hunk->new_lines};
    t->due_a += (size_t)hunk->old_lines;
    t->due_b += (size_t)hunk->new_lines;
    return tell(t, &line);
}

static cs_line_kind kind_of(char origin) {
    switch (origin) {
    case GIT_DIFF_LINE_CONTEXT:
        return CS_LINE_SAME;
    case GIT_DIFF_LINE_DELETION:
        return CS_LINE_ONLY_A;
    case GIT_DIFF_LINE_ADDITION:
        return CS_LINE_ONLY_B;
    default: /* libgit2 tells with three origins which side has no newline; the line before says the same */
        return CS_LINE_UNFINISHED;
    }
}

static int on_diff_line(const git_diff_delta *delta, const git_diff_hunk *hunk, const git_diff_line *from,
                        void *payload) {
    telling *t = payload;
    (void)delta;
    (void)hunk;
    cs_line line = {.kind = kind_of(from->origin)};
    t->differs = t->differs || line.kind != CS_LINE_SAME;
    t->seen_a += line.kind == CS_LINE_SAME || line.kind == CS_LINE_ONLY_A;
    t->seen_b += line.kind == CS_LINE_SAME || line.kind == CS_LINE_ONLY_B;
    if (line.kind != CS_LINE_UNFINISHED) {
        size_t len = from->content_len;
        if (len > 0 && from->content[len - 1] == '\n') len--;
        line.text = cs_view_bytes(from->content, len);
    }
    return tell(t, &line);
}

static bool is_too_large(cs_view text) {
    if (text.len > CS_LINES_MAX_BYTES) return true;
    size_t lines = 0;
    while (text.len > 0 && lines <= CS_LINES_MAX_LINES) {
        const uint8_t *newline = memchr(text.ptr, '\n', text.len);
        size_t used = newline != NULL ? (size_t)(newline - text.ptr) + 1 : text.len;
        text = cs_view_bytes(text.ptr + used, text.len - used);
        lines++;
    }
    return lines > CS_LINES_MAX_LINES;
}

/* Without memory libgit2 tells of a part, or of nothing, and answers that all is well. */
static bool is_whole(const telling *t, cs_view a, cs_view b) {
    return t->differs == !cs_view_equal(a, b) && t->seen_a == t->due_a && t->seen_b == t->due_b;
}

cs_lines_state cs_lines_compare(cs_view a, cs_view b, bool (*on_line)(void *user, const cs_line *line), void *user) {
    telling t = {.on_line = on_line, .user = user};
    git_diff_options options;
    if (is_too_large(a) || is_too_large(b)) return CS_LINES_TOO_LARGE;
    if (git_libgit2_init() < 0) return CS_LINES_FAILED;
    int code = git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
    options.flags |= GIT_DIFF_FORCE_TEXT; /* what is text was decided before; a NUL in it does not matter */
    options.context_lines = CS_LINES_CONTEXT;
    if (code == 0)
        code =
            git_diff_buffers(a.ptr, a.len, NULL, b.ptr, b.len, NULL, &options, NULL, NULL, on_hunk, on_diff_line, &t);
    git_libgit2_shutdown();
    if (t.stopped) return CS_LINES_STOPPED;
    return code == 0 && is_whole(&t, a, b) ? CS_LINES_TOLD : CS_LINES_FAILED;
}
