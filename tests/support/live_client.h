/* Who talks to a scripted daemon: a client, and the key that signs what came back. */
#ifndef CS_TESTS_SUPPORT_LIVE_CLIENT_H
#define CS_TESTS_SUPPORT_LIVE_CLIENT_H

#include "harness/client.h"
#include "harness/key.h"
#include "tests/support/live.h"

/* Start the daemon of this script, for peer_free, and a client of it. */
cs_client *live_client(const live *script, peer **daemon);

/* A new key pair, k.key and k.pub in this folder. */
cs_key *live_key(const char *folder, cs_public_key *public_key);

#endif
