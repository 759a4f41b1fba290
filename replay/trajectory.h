/* Where two runs of the cart-pole (examples/cartpole) part: the first tick, and the first variable of it. Pure.
 *
 * A result is taken for one when it is a project's whose artifact record.bin has five little-endian binary64 a tick, and
 * the JSON line that a step printed, with `fingerprint` and `ticks`, says so many ticks.
 */
#ifndef CS_REPLAY_TRAJECTORY_H
#define CS_REPLAY_TRAJECTORY_H

#include "records/message.h"

#define CS_TRAJECTORY_TICKS_PER_SECOND 100u
#define CS_TRAJECTORY_VARIABLES 5u /* a tick: x, v, theta, omega, answer */

typedef struct cs_trajectory {
    bool differs;
    uint64_t ticks_a;
    uint64_t ticks_b;
    uint64_t tick;        /* the first that differs, from 0; the length of the shorter one when it ends before */
    const char *variable; /* "x", "v", "theta", "omega" or "answer"; NULL when one ends before the other */
    double a; /* its values; compared by their bits */
    double b;
} cs_trajectory;

/* False when one of the two is no such result; *out is then all zero. */
CS_MUST_CHECK bool cs_compare_trajectories(const cs_run_response *a, const cs_run_response *b, cs_trajectory *out);

/* The record of such a run, five values a tick; empty when it is none. Borrows. */
cs_view cs_trajectory_record(const cs_run_response *response);
/* Value `index` of it, which may be any double. */
double cs_trajectory_value(cs_view record, size_t index);

#endif
