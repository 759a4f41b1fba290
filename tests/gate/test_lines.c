/* Line differences: expected ones are literals, as `diff -u` gives them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/lines.h"

typedef struct told {
    char text[4096];
    size_t count;
    size_t stop_after; /* 0: never */
} told;

static bool on_line(void *user, const cs_line *line) {
    static const char marks[] = {[CS_LINE_SAME] = ' ', [CS_LINE_ONLY_A] = '-', [CS_LINE_ONLY_B] = '+'};
    told *t = user;
    size_t used = strlen(t->text);
    char *end = t->text + used;
    size_t room = sizeof t->text - used;
    if (line->kind == CS_LINE_HUNK)
        (void)snprintf(end, room, "@@ -%d,%d +%d,%d @@\n", line->start_a, line->count_a, line->start_b, line->count_b);
    else if (line->kind == CS_LINE_UNFINISHED)
        (void)snprintf(end, room, "\\\n");
    else
        (void)snprintf(end, room, "%c%.*s\n", marks[line->kind], (int)line->text.len, (const char *)line->text.ptr);
    return ++t->count != t->stop_after;
}

static void expect_lines(const char *a, const char *b, const char *want) {
    told t = {.count = 0};
    cr_expect_eq(cs_lines_compare(cs_view_of(a), cs_view_of(b), on_line, &t), CS_LINES_TOLD);
    cr_expect_str_eq(t.text, want, "%s, not %s", t.text, want);
}

Test(lines, what_differs) {
    expect_lines("a\nb\nc\n", "a\nb\nc\n", "");
    expect_lines("a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    expect_lines("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n",
                 "@@ -7,3 +7,4 @@\n 7\n 8\n 9\n+10\n");
    expect_lines("", "a\n", "@@ -0,0 +1,1 @@\n+a\n");
    expect_lines("a\n", "", "@@ -1,1 +0,0 @@\n-a\n");
    expect_lines("a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\\n+a\n");
    expect_lines("a\nx", "a\ny", "@@ -1,2 +1,2 @@\n a\n-x\n\\\n+y\n\\\n");
}

/* What looks like a function's head to git does not come back in a hunk; what looks like a diff is a line. */
Test(lines, text_is_only_text) {
    expect_lines("int main(void) {\n1\n2\n3\n4\n5\n}\n", "int main(void) {\n1\n2\n3\n4\n6\n}\n",
                 "@@ -3,5 +3,5 @@\n 2\n 3\n 4\n-5\n+6\n }\n");
    expect_lines("--- a\n+++ b\n@@ -1 +1 @@\n", "--- a\n+++ b\n@@ -1 +2 @@\n",
                 "@@ -1,3 +1,3 @@\n --- a\n +++ b\n-@@ -1 +1 @@\n+@@ -1 +2 @@\n");
    expect_lines("a\r\nb\r\n", "a\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n");
    told t = {.count = 0};
    cr_expect_eq(cs_lines_compare(cs_view_bytes("a\0b\n", 4), cs_view_bytes("a\0c\n", 4), on_line, &t), CS_LINES_TOLD);
    cr_expect_eq(t.count, 3, "bytes with a NUL are text here");
}

Test(lines, it_stops_when_told_to) {
    told t = {.stop_after = 2};
    cr_expect_eq(cs_lines_compare(cs_view_of("a\nb\n"), cs_view_of("c\nd\n"), on_line, &t), CS_LINES_STOPPED);
    cr_expect_eq(t.count, 2);
}

static char *fill(const char *line, size_t count) {
    size_t len = strlen(line);
    char *text = malloc(len * count + 1);
    cr_assert_not_null(text);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * len, line, len);
    text[len * count] = '\0';
    return text;
}

static void expect_state(const char *line_a, const char *line_b, size_t count, cs_lines_state want) {
    told t = {.stop_after = 10};
    char *a = fill(line_a, count);
    char *b = fill(line_b, count);
    cr_expect_eq(cs_lines_compare(cs_view_of(a), cs_view_of(b), on_line, &t), want);
    free(a);
    free(b);
}

Test(lines, bounds) {
    expect_state("a\n", "b\n", CS_LINES_MAX_LINES, CS_LINES_STOPPED);
    expect_state("a\n", "b\n", CS_LINES_MAX_LINES + 1, CS_LINES_TOO_LARGE);
    expect_state("a", "b", CS_LINES_MAX_BYTES, CS_LINES_TOLD);
    expect_state("a", "b", CS_LINES_MAX_BYTES + 1, CS_LINES_TOO_LARGE);
}

/* Lines that are alike in many places make a line diff slow; this one must still end (the test's time-out says so). */
Test(lines, many_alike_lines_end, .timeout = 120) {
    size_t count = 50000;
    char *a = fill("a\nb\nc\n", count / 3);
    char *b = fill("c\na\na\nb\nb\n", count / 5);
    told t = {.stop_after = 10};
    cr_expect_eq(cs_lines_compare(cs_view_of(a), cs_view_of(b), on_line, &t), CS_LINES_STOPPED);
    free(a);
    free(b);
}
