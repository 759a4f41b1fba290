/* The difference of two texts, line by line, in the unified form (libgit2's xdiff). Nothing of a repository is read.
 *
 * Lines are whatever stands between newlines; nothing in them is looked at, and nothing is escaped here.
 */
#ifndef CS_GATE_LINES_H
#define CS_GATE_LINES_H

#include "records/base.h"

#define CS_LINES_MAX_BYTES ((size_t)16 * 1024 * 1024) /* of each text */
#define CS_LINES_MAX_LINES 100000u                    /* of each text */
#define CS_LINES_CONTEXT 3u

typedef enum cs_line_kind {
    CS_LINE_HUNK, /* the numbers of the lines that follow; no text */
    CS_LINE_SAME,
    CS_LINE_ONLY_A,
    CS_LINE_ONLY_B,
    CS_LINE_UNFINISHED /* the line before has no newline at its end; no text */
} cs_line_kind;

typedef struct cs_line {
    cs_line_kind kind;
    cs_view text; /* without its newline; borrowed until the callback returns */
    int start_a, count_a, start_b, count_b; /* of a hunk */
} cs_line;

typedef enum cs_lines_state {
    CS_LINES_TOLD,      /* all of them; none when the texts are the same */
    CS_LINES_STOPPED,   /* on_line answered false */
    CS_LINES_TOO_LARGE, /* nothing was compared */
    CS_LINES_FAILED     /* without memory, or libgit2 can't be used */
} cs_lines_state;

/* `on_line` answers whether it wants the next one. */
CS_MUST_CHECK cs_lines_state cs_lines_compare(cs_view a, cs_view b, bool (*on_line)(void *user, const cs_line *line),
                                              void *user);

#endif
