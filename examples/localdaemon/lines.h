/* The pipes between the daemon and one keeper. */
#ifndef LD_LINES_H
#define LD_LINES_H

#include "examples/localdaemon/keeper.h"

/* After the word to end, a keeper needs this long at most (ending.h), and then some. */
#define LD_ENDING_MS 15000

/* The daemon's ends. -1: closed. */
typedef struct ld_lines {
    int output;
    int errors;
    int report;
    int control;
    ld_report received;
    size_t received_len;
} ld_lines;

#define LD_LINES_INIT ((ld_lines){.output = -1, .errors = -1, .report = -1, .control = -1})

/* Make them, with the keeper's ends in the plan. Both are to be closed also after a failure. */
CS_MUST_CHECK bool ld_lines_make(ld_lines *ends, ld_plan *plan);
void ld_lines_close(ld_lines *ends);
void ld_plan_close(ld_plan *plan);
void ld_close_fd(int *fd);

/* Read what a stream that does not block has. Past the cap the rest is read and dropped, so that the program never
 * waits for us. Closes *fd at the end of the stream. */
void ld_drain(int *fd, cs_buf *into, bool *truncated);

/* Read of the keeper's report what is there; its line is closed when it is whole. */
void ld_lines_receive(ld_lines *ends);

#endif
