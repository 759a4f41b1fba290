/* A daemon's side of runs, as a script for the peer (peer.h), made from samples (sample.h). */
#ifndef CS_TESTS_SUPPORT_LIVE_H
#define CS_TESTS_SUPPORT_LIVE_H

#include "tests/support/peer.h"
#include "tests/support/sample.h"

#define LIVE_MAX 64

typedef struct live {
    peer_step steps[LIVE_MAX];
    size_t count;
    void *owned[LIVE_MAX];
    size_t owned_count;
} live;

void live_describe(live *script, const cs_describe_response *described);
void live_answer(live *script, const sample *s); /* the answer of Run: the sample's packed response */
void live_step(live *script, peer_step step);    /* anything else */
void live_run(live *script, const sample *s);    /* Describe, Run, Describe */
void live_free(live *script);

/* A bound error with a mark: nothing ran. */
peer_step live_refusal(void);

/* A copy of the sample's request, for someone who takes it. */
cs_run_request *live_request(const sample *s);

#endif
