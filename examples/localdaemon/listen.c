/* The listening socket (http.h). */
#include "examples/localdaemon/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} address;

static bool read_port(const char *text, uint16_t *out) {
    char *end = NULL;
    size_t len = strlen(text);
    if (len < 1 || len > 5 || strspn(text, "0123456789") != len) return false;
    unsigned long port = strtoul(text, &end, 10);
    if (*end != '\0' || port > 65535) return false;
    *out = (uint16_t)port;
    return true;
}

/* Loopback addresses only: this daemon speaks cleartext. */
static cs_result read_address(const char *text, address *out, socklen_t *size, cs_error *err) {
    memset(out, 0, sizeof(*out));
    char host[64];
    const char *colon = strrchr(text, ':');
    uint16_t port = 0;
    if (colon == NULL || (size_t)(colon - text) >= sizeof(host) || !read_port(colon + 1, &port))
        return cs_fail(err, CS_CODE_USAGE, "--listen %s: expected ADDRESS:PORT, as in 127.0.0.1:8746", text);
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    if (strcmp(host, "[::1]") == 0) {
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_addr = in6addr_loopback;
        out->v6.sin6_port = htons(port);
        *size = sizeof(out->v6);
        return CS_OK;
    }
    const char *numeric = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons(port);
    *size = sizeof(out->v4);
    if (inet_pton(AF_INET, numeric, &out->v4.sin_addr) != 1 || (ntohl(out->v4.sin_addr.s_addr) >> 24) != 127)
        return cs_fail(err, CS_CODE_USAGE,
                       "--listen %s: not a loopback address; this daemon speaks cleartext and runs code, so it listens "
                       "on 127.0.0.1 or [::1] only",
                       text);
    return CS_OK;
}

static void write_url(const address *bound, char *url, size_t size) {
    char host[INET6_ADDRSTRLEN] = "";
    if (bound->any.sa_family == AF_INET6) {
        snprintf(url, size, "http://[::1]:%u", ntohs(bound->v6.sin6_port));
        return;
    }
    inet_ntop(AF_INET, &bound->v4.sin_addr, host, sizeof(host));
    snprintf(url, size, "http://%s:%u", host, ntohs(bound->v4.sin_port));
}

cs_result ld_http_bind(const char *listen_on, int *socket_out, char *url, size_t url_size, cs_error *err) {
    *socket_out = -1;
    address to;
    socklen_t size = 0;
    cs_result result = read_address(listen_on, &to, &size, err);
    if (result != CS_OK) return result;
    int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return cs_fail(err, CS_CODE_IO, "no socket: %s", strerror(errno));
    int yes = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 || bind(fd, &to.any, size) != 0 ||
        listen(fd, 64) != 0 || getsockname(fd, &to.any, &size) != 0) {
        result = cs_fail(err, CS_CODE_IO, "can't listen on %s: %s", listen_on, strerror(errno));
        close(fd);
        return result;
    }
    write_url(&to, url, url_size);
    *socket_out = fd;
    return CS_OK;
}
