/* A virtual machine: QEMU's microvm under a keeper of its own, with the agent inside.
 *
 * The machine has a serial line for its console, a stream to the agent, a read-only disk, memory, and nothing else: no
 * network card. QEMU runs as the slot's user behind the walls of the provider process (Landlock, seccomp, limits), and
 * behind its own filter. The keeper ends it with the daemon.
 */
#ifndef LD_VM_H
#define LD_VM_H

#include "examples/localdaemon/vm_channel.h"

#define LD_VM_MEMORY_MB 1024u
#define LD_VM_PROCESSORS 1u
#define LD_VM_BOOT_MS 60000      /* at most; TCG on a machine with much to do */
#define LD_VM_SELF_TEST_MS 10000 /* KVM boots in much less, or not at all */

struct ld_machine {
    pid_t keeper; /* 0: none */
    ld_lines lines;
    ld_channel channel;
    int64_t for_deadline_ms; /* of the call that it was booted in */
    int64_t boot_ms;         /* how long that took */
};

/* Boot one in the place's slot, with the accelerator that place->sandbox names, and greet its agent, within `boot_ms`.
 * Without LD_GUARD_NETWORK among the place's guards it gets a network card that leads to the host's loopback: for the
 * smoke test's control. Gives *out; end with ld_vm_end. */
CS_MUST_CHECK cs_result ld_vm_boot(const ld_place *place, int64_t boot_ms, struct ld_machine **out, cs_error *err);

/* End and free it. False when a process of it may be left. */
CS_MUST_CHECK bool ld_vm_end(struct ld_machine *machine);

/* What the console said last, for an error text: printable ASCII, at most `size` - 1 characters. */
void ld_vm_last_words(const struct ld_machine *machine, char *out, size_t size);

/* The rate of this machine's time stamp counter in kHz, as its clock measures it; 0 when it has none. */
uint32_t ld_vm_tsc_khz(void);

#endif
