/* Base URLs: one that is taken has a normal form, which is taken as it is. The first byte allows cleartext. */
#include <stdlib.h>
#include <string.h>

#include "harness/client_internal.h"
#include "tests/fuzz/fuzz.h"

static void check(const cs_client *client, bool cleartext) {
    const char *url = client->url;
    MUST(strncmp(url, client->https ? "https://" : "http://", client->https ? 8 : 7) == 0);
    MUST(strpbrk(url, " \t\r\n?#\\") == NULL && url[strlen(url) - 1] != '/');
    const char *host = strstr(url, "://") + 3;
    MUST(memchr(host, '@', strcspn(host, "/")) == NULL);
    MUST(client->https || cleartext || strncasecmp(host, "localhost", 9) == 0 || strncmp(host, "127.", 4) == 0 ||
         host[0] == '[');
}

static void free_parts(cs_client *client) {
    free(client->url);
    free(client->resolve);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    char *text = strndup((const char *)data + 1, size - 1);
    if (text == NULL) abort();
    cs_client_config config = {.base_url = text, .allow_cleartext = (data[0] & 1) != 0};
    cs_client client = {0};
    cs_client again = {0};
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_client_url_check(&config, &client, &err);
    if (result != CS_OK) {
        fuzz_refusal(result, &err);
        MUST(err.code == CS_CODE_UNSENT_URL);
    } else {
        check(&client, config.allow_cleartext);
        config.base_url = client.url;
        /* What is normal may only have become too long. */
        if (strlen(client.url) <= CS_MAX_URL_BYTES) {
            MUST(cs_client_url_check(&config, &again, &err) == CS_OK);
            MUST(strcmp(client.url, again.url) == 0 && client.https == again.https);
        }
    }
    free_parts(&client);
    free_parts(&again);
    free(text);
    return 0;
}
