/* A plain forwarder on 127.0.0.1, which passes a number of connections on and then is gone, as a way to a daemon that is
 * lost in the middle of something. */
#ifndef CS_TESTS_SUPPORT_FORWARD_H
#define CS_TESTS_SUPPORT_FORWARD_H

#include <pthread.h>
#include <stdint.h>

typedef struct forward {
    char url[64];
    int listener;
    uint16_t to;
    unsigned count;
    pthread_t thread;
} forward;

/* Pass `count` connections on to the daemon at `url` (http://127.0.0.1:PORT), one after another. From the last one on
 * nobody listens any more. */
void forward_begin(forward *f, const char *url, unsigned count);
/* Only after all of them were made. */
void forward_end(forward *f);

#endif
