/* What runs of the cart-pole did (examples/cartpole), as two charts over time: the pole's angle and the cart's
 * position, every controller in both. Pure, and bounded.
 */
#ifndef CS_REPORT_CARTPOLE_H
#define CS_REPORT_CARTPOLE_H

#include "report/chart.h"
#include "report/entry.h"

#define CS_CARTPOLE_RUNS 8u /* named one by one beside a line */

typedef struct cs_cartpole {
    struct cs_trajectory_line *lines; /* owned; CS_CHART_LINES of them */
    size_t count;
    uint64_t left_out; /* runs whose trajectory is one too many */
    bool cut;          /* these two as in cs_matrix */
    uint64_t places;
} cs_cartpole;

void cs_cartpole_free(cs_cartpole *cartpole);

/* Take in an entry; most are no run of the cart-pole. As cs_matrix_see. CS_CODE_NO_MEMORY. */
CS_MUST_CHECK cs_result cs_cartpole_see(cs_cartpole *cartpole, const cs_page_entry *entry, size_t input,
                                        uint64_t anchor, cs_error *err);

/* Nothing when there is no such run. */
void cs_cartpole_markup(cs_markup *out, const cs_cartpole *cartpole, bool several);

#endif
