#include "cli/log_list.h"

#include <stdlib.h>
#include <string.h>

/* By time; of the same time as they were read. */
static int order_of(const void *left, const void *right) {
    const cs_log_line *a = left;
    const cs_log_line *b = right;
    if (a->sort_ms != b->sort_ms) return a->sort_ms < b->sort_ms ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

void cs_log_list_sort(cs_log_list *list) {
    if (list->count == 0) return;
    qsort(list->lines, list->count, sizeof *list->lines, order_of);
    if (list->count <= list->limit) return;
    size_t dropped = list->count - list->limit;
    for (size_t i = 0; i < dropped; i++)
        free(list->lines[i].err);
    memmove(list->lines, list->lines + dropped, list->limit * sizeof *list->lines);
    list->count = list->limit;
    list->left_out += dropped;
}

/* Twice the limit is held at most, so that sorting is rare. */
static bool make_room(cs_log_list *list) {
    if (list->count == 2 * list->limit) cs_log_list_sort(list);
    if (list->count < list->room) return true;
    size_t room = list->room == 0 ? 64 : 2 * list->room;
    cs_log_line *lines = reallocarray(list->lines, room, sizeof *lines);
    if (lines == NULL) return false;
    list->lines = lines;
    list->room = room;
    return true;
}

bool cs_log_list_add(cs_log_list *list, const cs_log_line *line) {
    if (!make_room(list)) {
        free(line->err);
        return false;
    }
    list->lines[list->count++] = *line;
    return true;
}

void cs_log_list_free(cs_log_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->lines[i].err);
    free(list->lines);
    *list = (cs_log_list){.lines = NULL};
}
