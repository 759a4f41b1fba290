#include "tests/support/forward.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in loopback(uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* False at the end of the stream. */
static bool pass(int from, int to) {
    char block[65536];
    ssize_t got = read(from, block, sizeof block);
    for (ssize_t sent = 0; sent < got;) {
        ssize_t now = send(to, block + sent, (size_t)(got - sent), MSG_NOSIGNAL);
        if (now <= 0) return false;
        sent += now;
    }
    return got > 0;
}

/* Both ways until either side ends. */
static void pass_all(int client, int daemon) {
    struct pollfd ends[] = {{.fd = client, .events = POLLIN}, {.fd = daemon, .events = POLLIN}};
    bool going = true;
    while (going && poll(ends, 2, -1) > 0) {
        if (ends[1].revents != 0) going = pass(daemon, client);
        if (going && ends[0].revents != 0) going = pass(client, daemon);
    }
}

static void *forward_thread(void *of) {
    forward *f = of;
    for (unsigned i = 0; i < f->count; i++) {
        struct sockaddr_in address = loopback(f->to);
        int client = accept(f->listener, NULL, NULL);
        /* Before the answer to the last one: the next call must not find it any more. */
        if (i + 1 == f->count) close(f->listener);
        int daemon = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (client >= 0 && daemon >= 0 && connect(daemon, (struct sockaddr *)&address, sizeof address) == 0)
            pass_all(client, daemon);
        if (daemon >= 0) close(daemon);
        if (client >= 0) close(client);
    }
    return NULL;
}

void forward_begin(forward *f, const char *url, unsigned count) {
    struct sockaddr_in address = loopback(0);
    socklen_t len = sizeof address;
    memset(f, 0, sizeof *f);
    f->to = (uint16_t)strtoul(strrchr(url, ':') + 1, NULL, 10);
    f->count = count;
    f->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_geq(f->listener, 0);
    cr_assert_eq(bind(f->listener, (struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(getsockname(f->listener, (struct sockaddr *)&address, &len), 0);
    cr_assert_eq(listen(f->listener, 16), 0);
    (void)snprintf(f->url, sizeof f->url, "http://127.0.0.1:%u", ntohs(address.sin_port));
    cr_assert_eq(pthread_create(&f->thread, NULL, forward_thread, f), 0);
}

void forward_end(forward *f) {
    cr_assert_eq(pthread_join(f->thread, NULL), 0);
}
