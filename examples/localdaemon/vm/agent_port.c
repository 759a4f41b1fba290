/* Frames on the port. */
#include "examples/localdaemon/vm/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void read_all(int port, uint8_t *to, size_t len) {
    while (len > 0) {
        ssize_t got = read(port, to, len);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) agent_die("the daemon has closed the port");
        to += got;
        len -= (size_t)got;
    }
}

static void write_all(int port, const uint8_t *from, size_t len) {
    while (len > 0) {
        ssize_t put = write(port, from, len);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) agent_die("the port can't be written");
        from += put;
        len -= (size_t)put;
    }
}

uint64_t agent_number(const uint8_t *at, size_t bytes) {
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number = number << 8 | at[i];
    return number;
}

void agent_put_number(uint8_t *at, size_t bytes, uint64_t number) {
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(number >> 8 * (bytes - 1 - i));
}

void agent_receive(int port, agent_frame *out) {
    uint8_t head[LD_VM_HEAD];
    read_all(port, head, sizeof(head));
    out->type = head[0];
    out->len = (size_t)agent_number(head + 1, 4);
    if (out->len > LD_VM_MAX_REQUEST) agent_die("a frame is too long");
    out->payload = malloc(out->len + 1);
    if (out->payload == NULL) agent_die("no memory for a frame");
    read_all(port, out->payload, out->len);
}

void agent_send(int port, uint8_t type, const void *payload, size_t len) {
    uint8_t frame[LD_VM_HEAD + LD_VM_MAX_ANSWER];
    if (len > LD_VM_MAX_ANSWER) agent_die("an answer is too long");
    frame[0] = type;
    agent_put_number(frame + 1, 4, len);
    if (len > 0) memcpy(frame + LD_VM_HEAD, payload, len);
    write_all(port, frame, LD_VM_HEAD + len);
}
