/* What the daemon and the agent in its virtual machine say to each other, over a stream in each direction (a
 * virtio-serial port).
 *
 * A frame is its type (one byte), the length of its payload (four bytes), and the payload. Numbers are big-endian. The
 * agent speaks first, with LD_VM_READY; after that it only answers. One request is under way at a time, but
 * LD_VM_KILL may follow LD_VM_RUN before its answer.
 *
 *   daemon                                                         agent answers
 *   LD_VM_SETUP   u64 Unix time in ms                              LD_VM_DONE
 *   LD_VM_FILE    u8 replace, u16 length, path, content            LD_VM_DONE
 *   LD_VM_RUN     u64 each: data bytes, processes, file bytes,     LD_VM_OUT and LD_VM_ERR (parts of the streams),
 *                 open files, CPU seconds (0: no limit);           then LD_VM_ENDED
 *                 u16 count of arguments; arguments and then
 *                 environment, each with a NUL at its end
 *   LD_VM_KILL    -                                                (LD_VM_ENDED)
 *   LD_VM_READ    u32 room, path                                   LD_VM_SIZE, then LD_VM_PART until it is reached
 *
 *   LD_VM_READY   u32 LD_VM_PROTOCOL
 *   LD_VM_DONE    u8 ld_work (work.h), u32 errno
 *   LD_VM_ENDED   u8 ld_vm_fate, u32 value, u8 1 when no process is left
 *   LD_VM_SIZE    u8 ld_work, u32 size (0 unless LD_WORK_DONE)
 *
 * When the daemon's end is closed, the agent ends the machine. The agent's own words are no more to be believed than a
 * program's: whoever has taken over the guest's kernel speaks in its place.
 */
#ifndef LD_VM_PROTOCOL_H
#define LD_VM_PROTOCOL_H

#define LD_VM_PROTOCOL 1u
#define LD_VM_HEAD 5u
#define LD_VM_MAX_REQUEST (16u << 20) /* payload of a frame from the daemon */
#define LD_VM_MAX_ANSWER 32768u       /* payload of a frame from the agent */
#define LD_VM_FORWARDED 262145u       /* of each stream; the agent drops the rest. One more than the daemon keeps */
#define LD_VM_LIMITS 5u

/* Guest: where things are. */
#define LD_VM_WORK "/tmp/localdaemon/0/work"
#define LD_VM_TMP "/tmp/localdaemon/0/tmp"
#define LD_VM_PROBE "/usr/lib/localdaemon/agent" /* makes attempts of the smoke test: --probe NAME ARGUMENT */

typedef enum ld_vm_frame {
    LD_VM_SETUP = 'S',
    LD_VM_FILE = 'F',
    LD_VM_RUN = 'X',
    LD_VM_KILL = 'K',
    LD_VM_READ = 'G',
    LD_VM_READY = 'r',
    LD_VM_DONE = 'd',
    LD_VM_OUT = 'o',
    LD_VM_ERR = 'e',
    LD_VM_ENDED = 'x',
    LD_VM_SIZE = 's',
    LD_VM_PART = 'p'
} ld_vm_frame;

typedef enum ld_vm_fate {
    LD_VM_EXITED,   /* value: exit code, 0 to 255 */
    LD_VM_SIGNALED, /* value: signal, 1 to 64 */
    LD_VM_KILLED,   /* by LD_VM_KILL; value: 0 */
    LD_VM_UNSTARTED /* value: errno */
} ld_vm_fate;

#endif
