/* How `show` prints what it decoded: a line of the list, one entry in full, and both as JSON. */
#ifndef CS_CLI_SHOW_PRINT_H
#define CS_CLI_SHOW_PRINT_H

#include "cli/output.h"
#include "cli/show_entry.h"

void cs_show_head(const cs_output *out);
void cs_show_line(const cs_output *out, const cs_shown *shown);
void cs_show_full(const cs_output *out, const cs_shown *shown);

/* NULL without memory. `full` adds the messages, as proto3 JSON and as base64, and every output. */
json_t *cs_json_of_shown(const cs_shown *shown, bool full);

#endif
