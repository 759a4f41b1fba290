/* Talking to the agent in a virtual machine (vm/protocol.h).
 *
 * All that comes from the guest is hostile: whoever breaks out of a run's user there speaks for the agent. Each frame
 * is bounded and read exactly, in the one order that is possible; anything else, and silence beyond the limit, makes
 * the channel lost for good. A lying guest can say wrong things of its own run, and no more.
 */
#ifndef LD_VM_CHANNEL_H
#define LD_VM_CHANNEL_H

#include "examples/localdaemon/launch.h"
#include "examples/localdaemon/lines.h"
#include "examples/localdaemon/vm/protocol.h"
#include "examples/localdaemon/work.h"

#define LD_VM_GRACE_MS 15000 /* beyond a run's deadline: for the end of its processes, and its files */
#define LD_VM_CONSOLE_CAP 16384u

typedef struct ld_channel {
    int fd;          /* a stream that does not block; the channel's to close; -1: closed */
    ld_lines *lines; /* of the machine's keeper; its streams are the machine's console. NULL: a test without one */
    cs_buf console;
    bool console_truncated;
    int64_t grace_ms; /* for the end of a command that is over its time; LD_VM_GRACE_MS */
    bool stopped;     /* lost because stop_fd said so */
    const char *lost; /* what made it unusable, static; NULL: it is usable */
    size_t head_len;  /* of the frame that is being received */
    size_t payload_len;
    uint8_t head[LD_VM_HEAD];
    uint8_t payload[LD_VM_MAX_ANSWER];
} ld_channel;

/* Takes fd and makes it not block. False without memory, or when fd is unusable. End with ld_channel_close. */
CS_MUST_CHECK bool ld_channel_open(ld_channel *channel, int fd, ld_lines *lines);
void ld_channel_close(ld_channel *channel);

/* Until when, of the monotonic clock, and what ends the waiting before (-1: nothing does). */
typedef struct ld_until {
    int64_t ms;
    int stop_fd;
} ld_until;

/* Wait for the agent's first word, then give it the time. False when the channel is lost. */
CS_MUST_CHECK bool ld_channel_greet(ld_channel *channel, ld_until until);

/* As ld_work_write, ld_work_replace and ld_work_read; LD_WORK_FAILED, with errno EPROTO, when the channel is lost. */
CS_MUST_CHECK ld_work ld_channel_write(ld_channel *channel, ld_until until, cs_view path, cs_view content,
                                       bool replace);
CS_MUST_CHECK ld_work ld_channel_read(ld_channel *channel, ld_until until, cs_view path, size_t room, cs_buf *out);

typedef struct ld_vm_command {
    const char *const *argv; /* NULL-terminated */
    const char *const *envp;
    ld_limits limits; /* 0: no limit */
} ld_vm_command;

/* Run a command until `until`; when that is over, have it killed. Fills in everything of *out but `clean` and
 * `duration_ms`; its buffers are ready. On LD_RAN_UNSTARTED errno says why. */
typedef enum ld_ran { LD_RAN_DONE, LD_RAN_UNSTARTED, LD_RAN_LOST } ld_ran;
CS_MUST_CHECK ld_ran ld_channel_run(ld_channel *channel, ld_until until, const ld_vm_command *command, ld_output *out);

#endif
