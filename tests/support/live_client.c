#include "tests/support/live_client.h"

#include <criterion/criterion.h>

#include "tests/support/expect.h"
#include "tests/support/forge.h"

cs_client *live_client(const live *script, peer **daemon) {
    *daemon = peer_start(script->steps, script->count, NULL);
    cr_assert_not_null(*daemon);
    cs_client_config config = {.base_url = peer_url(*daemon), .timeout_ms = 20000};
    cs_client *client = NULL;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_client_new(&config, &client, &err), err);
    return client;
}

cs_key *live_key(const char *folder, cs_public_key *public_key) {
    cs_key *key = NULL;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_key_generate(forge_text("%s/k", folder), public_key, &err), err);
    EXPECT_OK(cs_key_load(forge_text("%s/k.key", folder), &key, &err), err);
    return key;
}
