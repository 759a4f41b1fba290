#include "examples/localdaemon/vm_channel.h"

#include "records/request.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(LD_VM_FORWARDED == LD_STREAM_CAP + 1, "the agent forwards as much as shows that there is more");

#define MAX_ARGUMENTS 64u

bool ld_channel_open(ld_channel *channel, int fd, ld_lines *lines) {
    memset(channel, 0, sizeof(*channel));
    channel->fd = fd;
    channel->lines = lines;
    channel->grace_ms = LD_VM_GRACE_MS;
    channel->console = CS_BUF_INIT(LD_VM_CONSOLE_CAP);
    return fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

void ld_channel_close(ld_channel *channel) {
    ld_close_fd(&channel->fd);
    cs_buf_free(&channel->console);
}

static bool lose(ld_channel *channel, const char *why) {
    if (channel->lost == NULL) channel->lost = why;
    return false;
}

/* ---- waiting --------------------------------------------------------------------------------------- */

typedef enum wake { WAKE_READY, WAKE_LATE, WAKE_LOST } wake;

/* Take what the machine says beside the channel. False when it has ended. */
static bool attend_console(ld_channel *channel, const struct pollfd watched[3]) {
    ld_lines *lines = channel->lines;
    if (lines == NULL) return true;
    if (watched[0].revents != 0) ld_drain(&lines->output, &channel->console, &channel->console_truncated);
    if (watched[1].revents != 0) ld_drain(&lines->errors, &channel->console, &channel->console_truncated);
    return watched[2].revents == 0;
}

/* Wait until the stream is ready for one of `events`. */
static wake wait_for(ld_channel *channel, ld_until until, short events) {
    const ld_lines none = LD_LINES_INIT;
    while (channel->lost == NULL) {
        const ld_lines *lines = channel->lines != NULL ? channel->lines : &none;
        struct pollfd watched[5] = {{.fd = lines->output, .events = POLLIN},
                                    {.fd = lines->errors, .events = POLLIN},
                                    {.fd = lines->report, .events = POLLIN},
                                    {.fd = channel->fd, .events = events},
                                    {.fd = until.stop_fd, .events = POLLIN}};
        int64_t left = until.ms - ld_monotonic_ms();
        if (left <= 0) return WAKE_LATE;
        int ready = poll(watched, 5, left < 60000 ? (int)left : 60000);
        if (ready < 0 && errno != EINTR) lose(channel, "poll fails");
        if (ready <= 0) continue;
        if (watched[4].revents != 0) {
            channel->stopped = true;
            lose(channel, "the run was told to end");
        } else if (!attend_console(channel, watched)) {
            lose(channel, "the machine has ended");
        } else if (watched[3].revents != 0) {
            return WAKE_READY;
        }
    }
    return WAKE_LOST;
}

static bool send_all(ld_channel *channel, ld_until until, cs_view rest) {
    while (rest.len > 0) {
        wake woken = wait_for(channel, until, POLLOUT);
        if (woken == WAKE_LATE) lose(channel, "the guest takes nothing more");
        if (woken != WAKE_READY) return false;
        ssize_t sent = send(channel->fd, rest.ptr, rest.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (sent <= 0) return lose(channel, "the stream to the guest is closed");
        rest.ptr += sent;
        rest.len -= (size_t)sent;
    }
    return true;
}

/* ---- frames ---------------------------------------------------------------------------------------- */

static uint32_t number(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static bool append_number(cs_buf *out, uint64_t value, size_t bytes) {
    for (size_t i = bytes; i > 0; i--)
        if (!cs_buf_byte(out, (uint8_t)(value >> 8 * (i - 1)))) return false;
    return true;
}

/* Send a frame whose payload is `first` and then `second`. */
static bool send_frame(ld_channel *channel, ld_until until, ld_vm_frame type, cs_view first, cs_view second) {
    const uint64_t len = first.len + second.len;
    const uint8_t head[LD_VM_HEAD] = {(uint8_t)type, (uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8),
                                      (uint8_t)len};
    if (len > LD_VM_MAX_REQUEST) return lose(channel, "a request is too large");
    return send_all(channel, until, cs_view_bytes(head, sizeof(head))) && send_all(channel, until, first) &&
           send_all(channel, until, second);
}

/* How much of the frame is still to come, and where it goes; the head tells of the payload. */
static size_t missing(ld_channel *channel, uint8_t **to) {
    bool headless = channel->head_len < LD_VM_HEAD;
    *to = headless ? channel->head + channel->head_len : channel->payload + channel->payload_len;
    return headless ? LD_VM_HEAD - channel->head_len : number(channel->head + 1) - channel->payload_len;
}

static bool receive_some(ld_channel *channel, uint8_t *to, size_t wanted) {
    ssize_t got = recv(channel->fd, to, wanted, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got <= 0) return lose(channel, "the guest has closed its end");
    if (channel->head_len == LD_VM_HEAD) {
        channel->payload_len += (size_t)got;
        return true;
    }
    channel->head_len += (size_t)got;
    if (channel->head_len == LD_VM_HEAD && number(channel->head + 1) > LD_VM_MAX_ANSWER)
        return lose(channel, "the guest's frame is too long");
    return true;
}

/* The next frame, whole: its payload is in the channel until the next call. What has come of it stays when it is
 * late. */
static wake receive_frame(ld_channel *channel, ld_until until) {
    if (channel->head_len == LD_VM_HEAD && channel->payload_len == number(channel->head + 1)) {
        channel->head_len = 0;
        channel->payload_len = 0;
    }
    for (;;) {
        uint8_t *to = NULL;
        size_t wanted = missing(channel, &to);
        if (wanted == 0) return WAKE_READY;
        wake woken = wait_for(channel, until, POLLIN);
        if (woken != WAKE_READY) return woken;
        if (!receive_some(channel, to, wanted)) return WAKE_LOST;
    }
}

/* The next frame, which must be of this type and length. */
static bool expect(ld_channel *channel, ld_until until, ld_vm_frame type, size_t len) {
    wake woken = receive_frame(channel, until);
    if (woken == WAKE_LATE) return lose(channel, "the guest does not answer");
    if (woken != WAKE_READY) return false;
    if (channel->head[0] != (uint8_t)type) return lose(channel, "the guest's frame is of the wrong type");
    if (channel->payload_len != len) return lose(channel, "the guest's frame is of the wrong length");
    return true;
}

/* ---- greeting and files ---------------------------------------------------------------------------- */

bool ld_channel_greet(ld_channel *channel, ld_until until) {
    if (!expect(channel, until, LD_VM_READY, 4)) return false;
    if (number(channel->payload) != LD_VM_PROTOCOL) return lose(channel, "the image's agent is of another version");
    CS_AUTO_BUF payload = CS_BUF_INIT(16);
    if (!append_number(&payload, (uint64_t)ld_unix_ms(), 8)) return lose(channel, "no memory");
    return send_frame(channel, until, LD_VM_SETUP, cs_buf_view(&payload), cs_view_bytes(NULL, 0)) &&
           expect(channel, until, LD_VM_DONE, 5) &&
           (channel->payload[0] == LD_WORK_DONE || lose(channel, "the guest can't be set up"));
}

static ld_work failed(void) {
    errno = EPROTO;
    return LD_WORK_FAILED;
}

/* An errno of the guest's. Any other number would be a lie, and mean nothing to strerror. */
static int error_of(uint32_t value) {
    return value > 0 && value < 4096 ? (int)value : EPROTO;
}

ld_work ld_channel_write(ld_channel *channel, ld_until until, cs_view path, cs_view content, bool replace) {
    CS_AUTO_BUF head = CS_BUF_INIT(3 + CS_MAX_PATH_BYTES);
    if (path.len > CS_MAX_PATH_BYTES) {
        errno = ENAMETOOLONG;
        return LD_WORK_UNFIT;
    }
    if (!cs_buf_byte(&head, replace ? 1 : 0) || !append_number(&head, path.len, 2) ||
        !cs_buf_append(&head, path.ptr, path.len))
        return failed();
    if (!send_frame(channel, until, LD_VM_FILE, cs_buf_view(&head), content) || !expect(channel, until, LD_VM_DONE, 5))
        return failed();
    switch (channel->payload[0]) {
    case LD_WORK_DONE:
        return LD_WORK_DONE;
    case LD_WORK_UNFIT:
        errno = error_of(number(channel->payload + 1));
        return LD_WORK_UNFIT;
    case LD_WORK_FAILED:
        errno = error_of(number(channel->payload + 1));
        return LD_WORK_FAILED;
    default:
        lose(channel, "the guest's frame says what is impossible");
        return failed();
    }
}

static bool receive_content(ld_channel *channel, ld_until until, size_t size, cs_buf *out) {
    while (size > 0) {
        if (!expect(channel, until, LD_VM_PART, size < LD_VM_MAX_ANSWER ? size : LD_VM_MAX_ANSWER)) return false;
        if (!cs_buf_append(out, channel->payload, channel->payload_len)) return lose(channel, "no memory");
        size -= channel->payload_len;
    }
    return true;
}

ld_work ld_channel_read(ld_channel *channel, ld_until until, cs_view path, size_t room, cs_buf *out) {
    CS_AUTO_BUF head = CS_BUF_INIT(4);
    if (path.len > CS_MAX_PATH_BYTES) return LD_WORK_UNFIT;
    if (room > LD_ARTIFACTS_CAP || !append_number(&head, room, 4)) return failed();
    if (!send_frame(channel, until, LD_VM_READ, cs_buf_view(&head), path) || !expect(channel, until, LD_VM_SIZE, 5))
        return failed();
    const uint8_t work = channel->payload[0];
    const size_t size = number(channel->payload + 1);
    const size_t before = out->len;
    if (work == LD_WORK_DONE && size <= room) {
        if (receive_content(channel, until, size, out)) return LD_WORK_DONE;
        out->len = before;
        return failed();
    }
    if (work == LD_WORK_UNFIT && size == 0) return LD_WORK_UNFIT;
    if (work == LD_WORK_LARGE && size == 0) return LD_WORK_LARGE;
    if (work != LD_WORK_FAILED || size != 0) lose(channel, "the guest's frame says what is impossible");
    return failed();
}

/* ---- commands -------------------------------------------------------------------------------------- */

static bool append_strings(cs_buf *out, const char *const *strings) {
    for (; *strings != NULL; strings++)
        if (!cs_buf_append(out, *strings, strlen(*strings) + 1)) return false;
    return true;
}

static bool write_command(const ld_vm_command *command, cs_buf *out) {
    const ld_limits *limits = &command->limits;
    const uint64_t numbers[LD_VM_LIMITS] = {limits->data_bytes, limits->processes, limits->file_bytes,
                                            limits->open_files, limits->cpu_seconds};
    size_t count = 0;
    while (command->argv[count] != NULL)
        count++;
    if (count > MAX_ARGUMENTS) return false;
    for (size_t i = 0; i < LD_VM_LIMITS; i++)
        if (!append_number(out, numbers[i], 8)) return false;
    return append_number(out, count, 2) && append_strings(out, command->argv) && append_strings(out, command->envp);
}

static void keep(cs_buf *into, bool *truncated, const ld_channel *channel) {
    size_t room = into->max - into->len;
    size_t take = channel->payload_len < room ? channel->payload_len : room;
    if (!cs_buf_append(into, channel->payload, take) || take < channel->payload_len) *truncated = true;
}

/* The agent's word of the command's end, read exactly. */
static ld_ran conclude(ld_channel *channel, bool killed, ld_output *out) {
    const uint32_t value = number(channel->payload + 1);
    if (channel->payload_len != 6) {
        lose(channel, "the guest's frame is of the wrong length");
    } else if (channel->payload[5] != 1) {
        lose(channel, "processes of the command can't be ended in the guest");
    } else if (channel->payload[0] == LD_VM_EXITED && value <= 255) {
        /* It may have come to its end while the word was on its way. */
        out->timed_out = false;
        out->exit_code = (int)value;
        return LD_RAN_DONE;
    } else if (channel->payload[0] == LD_VM_SIGNALED && value >= 1 && value <= 64) {
        out->timed_out = false;
        out->exit_code = 128 + (int)value;
        return LD_RAN_DONE;
    } else if (channel->payload[0] == LD_VM_KILLED && value == 0 && killed) {
        out->exit_code = 128 + SIGKILL;
        return LD_RAN_DONE;
    } else if (channel->payload[0] == LD_VM_UNSTARTED) {
        errno = error_of(value);
        return LD_RAN_UNSTARTED;
    } else {
        lose(channel, "the guest's frame says what is impossible");
    }
    return LD_RAN_LOST;
}

/* Collect its streams until the agent tells of its end. */
static ld_ran collect(ld_channel *channel, ld_until until, ld_output *out) {
    bool killed = false;
    for (;;) {
        wake woken = receive_frame(channel, until);
        if (woken == WAKE_LOST) return LD_RAN_LOST;
        if (woken == WAKE_LATE) {
            const cs_view nothing = {0};
            if (killed) {
                lose(channel, "the guest does not end the command");
                return LD_RAN_LOST;
            }
            killed = true;
            out->timed_out = true;
            until.ms = ld_monotonic_ms() + channel->grace_ms;
            if (!send_frame(channel, until, LD_VM_KILL, nothing, nothing)) return LD_RAN_LOST;
            continue;
        }
        switch (channel->head[0]) {
        case LD_VM_OUT:
            keep(&out->out, &out->out_truncated, channel);
            break;
        case LD_VM_ERR:
            keep(&out->err, &out->err_truncated, channel);
            break;
        case LD_VM_ENDED:
            return conclude(channel, killed, out);
        default:
            lose(channel, "the guest's frame is of the wrong type");
            return LD_RAN_LOST;
        }
    }
}

ld_ran ld_channel_run(ld_channel *channel, ld_until until, const ld_vm_command *command, ld_output *out) {
    CS_AUTO_BUF request = CS_BUF_INIT(LD_VM_MAX_REQUEST);
    const ld_until sending = {.ms = until.ms + channel->grace_ms, .stop_fd = until.stop_fd};
    if (!write_command(command, &request)) {
        lose(channel, "the command can't be written down");
        return LD_RAN_LOST;
    }
    if (!send_frame(channel, sending, LD_VM_RUN, cs_buf_view(&request), cs_view_bytes(NULL, 0))) return LD_RAN_LOST;
    ld_ran ran = collect(channel, until, out);
    out->stopped = channel->stopped;
    return ran;
}
