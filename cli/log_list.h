/* The newest lines of a log: everything may be added, so many are kept. */
#ifndef CS_CLI_LOG_LIST_H
#define CS_CLI_LOG_LIST_H

#include "cli/log_line.h"

#define CS_LOG_MAX_LINES 10000u

typedef struct cs_log_list {
    cs_log_line *lines; /* owned */
    size_t count;
    size_t room;
    size_t limit;      /* 1..CS_LOG_MAX_LINES */
    uint64_t left_out; /* lines that were dropped: all older than those that are there */
} cs_log_list;

/* Takes the line's error. False without memory. */
CS_MUST_CHECK bool cs_log_list_add(cs_log_list *list, const cs_log_line *line);
/* Sort, newest last, and drop what is over the limit. */
void cs_log_list_sort(cs_log_list *list);
void cs_log_list_free(cs_log_list *list);

#endif
