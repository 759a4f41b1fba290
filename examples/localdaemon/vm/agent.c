/* The agent in the virtual machine: process 1, which does what the daemon asks for (protocol.h). */
#include "examples/localdaemon/vm/agent.h"

#include "examples/localdaemon/probe.h"
#include "examples/localdaemon/work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void tell_done(int port, ld_work work, int error) {
    uint8_t payload[5] = {(uint8_t)work};
    agent_put_number(payload + 1, 4, work == LD_WORK_DONE ? 0 : (uint32_t)error);
    agent_send(port, LD_VM_DONE, payload, sizeof(payload));
}

static void set_up(int port, cs_view request) {
    if (request.len != 8) agent_die("a request is malformed");
    agent_set_clock(agent_number(request.ptr, 8));
    tell_done(port, LD_WORK_DONE, 0);
}

static void write_file(int port, int folder, cs_view request) {
    size_t path_len = request.len >= 3 ? (size_t)agent_number(request.ptr + 1, 2) : 0;
    if (path_len == 0 || request.len < 3 + path_len) agent_die("a request is malformed");
    cs_view path = cs_view_bytes(request.ptr + 3, path_len);
    cs_view content = cs_view_bytes(request.ptr + 3 + path_len, request.len - 3 - path_len);
    ld_work work = request.ptr[0] != 0 ? ld_work_replace(folder, path, content, AGENT_USER)
                                       : ld_work_write(folder, path, content, AGENT_USER);
    tell_done(port, work, errno);
}

static void read_file(int port, int folder, cs_view request) {
    if (request.len < 5) agent_die("a request is malformed");
    size_t room = (size_t)agent_number(request.ptr, 4);
    CS_AUTO_BUF content = CS_BUF_INIT(room);
    ld_work work = ld_work_read(folder, cs_view_bytes(request.ptr + 4, request.len - 4), AGENT_USER, room, &content);
    uint8_t payload[5] = {(uint8_t)work};
    if (work != LD_WORK_DONE) cs_buf_clear(&content);
    agent_put_number(payload + 1, 4, content.len);
    agent_send(port, LD_VM_SIZE, payload, sizeof(payload));
    for (size_t at = 0; at < content.len; at += LD_VM_MAX_ANSWER) {
        size_t rest = content.len - at;
        agent_send(port, LD_VM_PART, content.ptr + at, rest < LD_VM_MAX_ANSWER ? rest : LD_VM_MAX_ANSWER);
    }
}

/* The folders of the run, whatever names an earlier call has given them. */
typedef struct run_folders {
    int work;
    int tmp;
} run_folders;

static int open_folder(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) agent_die(path);
    return fd;
}

/* An earlier call may have taken its own rights away. */
static void unlock_folders(const run_folders *folders) {
    if (fchmod(folders->work, 0700) != 0 || fchmod(folders->tmp, 0700) != 0) agent_die("the run's folders");
}

static void serve(int port, const run_folders *folders, const agent_frame *frame) {
    cs_view request = cs_view_bytes(frame->payload, frame->len);
    switch (frame->type) {
    case LD_VM_SETUP:
        set_up(port, request);
        break;
    case LD_VM_FILE:
        write_file(port, folders->work, request);
        break;
    case LD_VM_RUN:
        unlock_folders(folders);
        agent_run(port, frame);
        break;
    case LD_VM_READ:
        read_file(port, folders->work, request);
        break;
    case LD_VM_KILL:
        break; /* the command had ended already */
    default:
        agent_die("a request is unknown");
    }
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--probe") == 0) _exit(ld_probe(argv[2], argv[3]));
    if (getpid() != 1) return 2;
    int port = agent_boot();
    const run_folders folders = {.work = open_folder(AGENT_SYSTEM LD_VM_WORK),
                                 .tmp = open_folder(AGENT_SYSTEM LD_VM_TMP)};
    uint8_t version[4];
    agent_put_number(version, sizeof(version), LD_VM_PROTOCOL);
    agent_send(port, LD_VM_READY, version, sizeof(version));
    for (;;) {
        agent_frame frame;
        agent_receive(port, &frame);
        serve(port, &folders, &frame);
        free(frame.payload);
    }
}
