/* Which base URLs a client accepts, and their normal form. */
#include "harness/client_internal.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The parts of a parsed URL; all are libcurl's memory. */
typedef struct url_parts {
    CURLU *url;
    char *scheme;
    char *host;
    char *port;
    char *whole;
} url_parts;

static void parts_free(url_parts *parts) {
    curl_free(parts->scheme);
    curl_free(parts->host);
    curl_free(parts->port);
    curl_free(parts->whole);
    curl_url_cleanup(parts->url);
}

/* Characters that a base URL has no use for. They are refused before parsing, so that two parsers cannot
 * disagree about where the host ends. */
static cs_result check_text(const char *url, cs_error *err) {
    if (strlen(url) > CS_MAX_URL_BYTES)
        return cs_fail(err, CS_CODE_UNSENT_URL, "the daemon's URL is longer than %u bytes", CS_MAX_URL_BYTES);
    for (const char *at = url; *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~' || *at == '\\')
            return cs_fail(err, CS_CODE_UNSENT_URL,
                           "the daemon's URL has a space, a control character, a backslash or a character that is "
                           "not ASCII; write it as http://HOST:PORT or https://HOST");
        if (*at == '?' || *at == '#')
            return cs_fail(err, CS_CODE_UNSENT_URL,
                           "the daemon's URL has a query or a fragment; give scheme, host, port and path only");
    }
    /* libcurl would take an empty user name for none. */
    const char *authority = strstr(url, "://");
    if (authority == NULL)
        return cs_fail(err, CS_CODE_UNSENT_URL, "the daemon's URL has no scheme; write http:// or https:// before it");
    authority += 3;
    if (memchr(authority, '@', strcspn(authority, "/")) != NULL)
        return cs_fail(err, CS_CODE_UNSENT_URL, "the daemon's URL has user information; put the token into %s instead",
                       CS_TOKEN_VARIABLE);
    /* libcurl decodes a host after it looked for the odd forms of an address: %31 would be named 1 here and lead to
     * 0.0.0.1. In brackets a % begins a zone. */
    if (authority[0] != '[' && memchr(authority, '%', strcspn(authority, "/")) != NULL)
        return cs_fail(err, CS_CODE_UNSENT_URL, "the daemon's URL has a percent-encoded host; write it as it is");
    if (authority[0] == '\0' || authority[0] == '/' || authority[0] == ':')
        return cs_fail(err, CS_CODE_UNSENT_URL, "the daemon's URL has no host");
    return CS_OK;
}

static CURLUcode split(const char *text, url_parts *parts) {
    parts->url = curl_url();
    if (parts->url == NULL) return CURLUE_OUT_OF_MEMORY;
    CURLUcode code = curl_url_set(parts->url, CURLUPART_URL, text, 0);
    if (code == CURLUE_OK) code = curl_url_get(parts->url, CURLUPART_SCHEME, &parts->scheme, 0);
    if (code == CURLUE_OK) code = curl_url_get(parts->url, CURLUPART_HOST, &parts->host, 0);
    if (code == CURLUE_OK) code = curl_url_get(parts->url, CURLUPART_PORT, &parts->port, CURLU_DEFAULT_PORT);
    if (code == CURLUE_OK) code = curl_url_get(parts->url, CURLUPART_URL, &parts->whole, CURLU_NO_DEFAULT_PORT);
    return code;
}

/* The host as libcurl will connect to it: it has already written 127.1 or 0x7f000001 as 127.0.0.1. */
static bool is_loopback_address(const char *host) {
    struct in_addr v4;
    if (inet_pton(AF_INET, host, &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
    char inner[INET6_ADDRSTRLEN];
    size_t len = strlen(host);
    if (len < 2 || host[0] != '[' || host[len - 1] != ']' || len - 2 >= sizeof inner) return false;
    memcpy(inner, host + 1, len - 2);
    inner[len - 2] = '\0';
    struct in6_addr v6;
    return inet_pton(AF_INET6, inner, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

/* The name `localhost` is not looked up, for a resolver could answer anything. */
static char *fixed_localhost(const char *port) {
    char *text = NULL;
    return asprintf(&text, "localhost:%s:127.0.0.1,[::1]", port) < 0 ? NULL : text;
}

static cs_result check_parts(const cs_client_config *config, const url_parts *parts, cs_client *client, cs_error *err) {
    client->https = strcmp(parts->scheme, "https") == 0;
    if (!client->https && strcmp(parts->scheme, "http") != 0)
        return cs_fail(err, CS_CODE_UNSENT_URL, "the daemon's URL has the scheme %s; expected http or https",
                       parts->scheme);
    bool localhost = strcasecmp(parts->host, "localhost") == 0;
    if (!client->https && !localhost && !is_loopback_address(parts->host) && !config->allow_cleartext)
        return cs_fail(err, CS_CODE_UNSENT_URL,
                       "http to %s would send token, code and answer in the clear; use https, or allow cleartext "
                       "explicitly when the network itself is protected",
                       parts->host);

    /* What comes out of libcurl must be as good as what went in. */
    cs_result result = check_text(parts->whole, err);
    if (result != CS_OK) return result;
    size_t len = strlen(parts->whole);
    while (len > 0 && parts->whole[len - 1] == '/')
        len--;
    client->url = strndup(parts->whole, len);
    if (localhost) client->resolve = fixed_localhost(parts->port);
    if (client->url == NULL || (localhost && client->resolve == NULL))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a client");
    return CS_OK;
}

cs_result cs_client_url_check(const cs_client_config *config, cs_client *client, cs_error *err) {
    const char *text = config->base_url == NULL ? "" : config->base_url;
    cs_result result = check_text(text, err);
    if (result != CS_OK) return result;
    url_parts parts = {0};
    CURLUcode code = split(text, &parts);
    if (code == CURLUE_OK)
        result = check_parts(config, &parts, client, err);
    else if (code == CURLUE_OUT_OF_MEMORY)
        result = cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a client");
    else
        result = cs_fail(err, CS_CODE_UNSENT_URL,
                         "the daemon's URL is not one; write it as http://HOST:PORT or https://HOST");
    parts_free(&parts);
    return result;
}
