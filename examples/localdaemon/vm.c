#include "examples/localdaemon/vm.h"

#include "examples/localdaemon/landlock.h"
#include "examples/localdaemon/provider.h"
#include "examples/localdaemon/vm_image.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1ull << 20)
#define MONITOR_MB 768u /* beside the guest's memory; 128 of them for translated code */
#define MONITOR_THREADS 64u
#define MONITOR_FILE_BYTES (1ull << 20) /* it writes none */
#define MONITOR_CPU_SECONDS 14400u      /* two processors for as long as a session may live, and again as much */

/* ---- the monitor's command ------------------------------------------------------------------------- */

typedef struct monitor {
    ld_plan plan;
    ld_filter filter; /* when the guards differ from the sandbox's */
    const char *argv[64];
    size_t argc;
    char *envp[3];
    char texts[8][PATH_MAX + 256];
    size_t text_count;
} monitor;

static void add(monitor *to, const char *word) {
    if (to->argc + 1 >= sizeof(to->argv) / sizeof(to->argv[0])) abort();
    to->argv[to->argc++] = word;
    to->argv[to->argc] = NULL;
}

static void add_two(monitor *to, const char *option, const char *value) {
    add(to, option);
    add(to, value);
}

static void CS_PRINTF(3, 4) add_text(monitor *to, const char *option, const char *fmt, ...) {
    if (to->text_count >= sizeof(to->texts) / sizeof(to->texts[0])) abort();
    char *text = to->texts[to->text_count++];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(to->texts[0]), fmt, args);
    va_end(args);
    add_two(to, option, text);
}

/* A comma in a path is written twice. False when that is too long. */
static bool escape(const char *path, char *out, size_t size) {
    size_t len = 0;
    for (; *path != '\0' && len + 2 < size; path++) {
        out[len++] = *path;
        if (*path == ',') out[len++] = ',';
    }
    out[len] = '\0';
    return *path == '\0';
}

/* Without hardware the processor is a plain one: each feature that the guest's kernel would make use of (protection
 * of its own memory from itself, above all) costs time when it is emulated. Random numbers by instruction, since
 * otherwise the kernel waits for some. */
static void add_processor(monitor *to, const ld_sandbox *sandbox) {
    static const char plain[] = "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+rdrand";
    add_two(to, "-accel", sandbox->vm.hardware ? "kvm" : "tcg,tb-size=128");
    add_two(to, "-cpu", sandbox->vm.hardware ? "host" : plain);
}

static void add_kernel(monitor *to, const ld_sandbox *sandbox) {
    char clock[64] = "";
    /* The guest's counter is the host's: measured once here, and not for a second in each guest. */
    if (!sandbox->vm.hardware && sandbox->vm.tsc_khz > 0)
        snprintf(clock, sizeof(clock), " tsc=reliable tsc_early_khz=%u", (unsigned)sandbox->vm.tsc_khz);
    add_text(to, "-kernel", "%s/" LD_VM_KERNEL, sandbox->vm.image);
    add_text(to, "-initrd", "%s/" LD_VM_INITRAMFS, sandbox->vm.image);
    add_text(to, "-append",
             "console=ttyS0 quiet panic=-1 reboot=t nokaslr mitigations=off cryptomgr.notests random.trust_cpu=on "
             "8250.nr_uarts=1 audit=0 rcupdate.rcu_expedited=1%s",
             clock);
}

/* The serial port comes before the disk: the agent knows it as the first. */
static bool add_devices(monitor *to, const ld_sandbox *sandbox, int stream, bool network) {
    char folder[PATH_MAX + 64];
    if (!escape(sandbox->vm.image, folder, sizeof(folder))) return false;
    add_two(to, "-device", "virtio-serial-device");
    add_text(to, "-chardev", "socket,id=agent,fd=%d", stream);
    add_two(to, "-device", "virtserialport,chardev=agent,name=agent");
    add_text(to, "-drive", "if=none,id=system,file=%s/" LD_VM_SYSTEM ",format=raw,readonly=on", folder);
    add_two(to, "-device", "virtio-blk-device,drive=system");
    add_two(to, "-chardev", "stdio,id=console,signal=off");
    add_two(to, "-serial", "chardev:console");
    if (!network) {
        add_two(to, "-nic", "none");
        return true;
    }
    add_two(to, "-netdev", "user,id=net");
    add_two(to, "-device", "virtio-net-device,netdev=net");
    return true;
}

static bool write_arguments(monitor *to, const ld_place *place, int stream) {
    const ld_sandbox *sandbox = place->sandbox;
    add(to, sandbox->tool);
    add_two(to, "-M", "microvm,acpi=on");
    add(to, "-nodefaults");
    add(to, "-no-user-config");
    add(to, "-no-reboot");
    add_two(to, "-display", "none");
    add_two(to, "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny");
    add_text(to, "-smp", "%u", LD_VM_PROCESSORS);
    add_text(to, "-m", "%uM", LD_VM_MEMORY_MB);
    add_processor(to, sandbox);
    add_kernel(to, sandbox);
    return add_devices(to, sandbox, stream, (place->guards & LD_GUARD_NETWORK) == 0);
}

/* ---- its walls ------------------------------------------------------------------------------------- */

/* Those of the provider process, as far as they are on offer. */
static cs_result put_up_walls(const ld_place *place, monitor *to, uint32_t guards, cs_error *err) {
    const uint32_t filters = guards & LD_GUARDS_FILTER;
    if (filters == (place->sandbox->guards & LD_GUARDS_FILTER)) {
        to->plan.filter = &place->sandbox->filter;
    } else if (filters != 0) {
        cs_result result = ld_filter_build(filters, &to->filter, err);
        if (result != CS_OK) return result;
        to->plan.filter = &to->filter;
    }
    return ld_landlock_ruleset(place->sandbox, guards, place->slot->work, place->slot->tmp, &to->plan.ruleset, err);
}

static cs_result prepare(const ld_place *place, int stream, monitor *to, cs_error *err) {
    static char path[] = "PATH=/usr/bin:/bin";
    static char language[] = "LANG=C.UTF-8";
    uint32_t guards = place->guards | LD_GUARD_PROCESSES | LD_GUARD_MEMORY | LD_GUARD_FILE_SIZE;
    to->plan = LD_PLAN_INIT;
    to->plan.guards = guards;
    to->plan.limits = (ld_limits){.data_bytes = (LD_VM_MEMORY_MB + MONITOR_MB) * MIB,
                                  .processes = MONITOR_THREADS,
                                  .file_bytes = MONITOR_FILE_BYTES,
                                  .open_files = 256,
                                  .cpu_seconds = MONITOR_CPU_SECONDS};
    if (!place->sandbox->root) to->plan.guards &= ~(uint32_t)LD_GUARD_PROCESSES;
    to->plan.uid = place->slot->uid;
    to->plan.killer = place->slot->killer;
    to->plan.group = place->sandbox->vm.hardware ? place->sandbox->vm.device_group : 0;
    to->plan.lock = place->slots->lock_fd;
    to->plan.user = place->slot->user_fd;
    to->plan.passed[0] = stream;
    to->plan.folder = place->slot->work;
    to->plan.program = place->sandbox->tool;
    if (!write_arguments(to, place, stream)) return cs_fail(err, CS_CODE_IO, "the image's path is too long");
    memcpy(&to->plan.argv, &(const char *const *){to->argv}, sizeof(to->plan.argv));
    to->envp[0] = path;
    to->envp[1] = language;
    to->plan.envp = to->envp;
    return put_up_walls(place, to, guards, err);
}

/* ---- begin and end --------------------------------------------------------------------------------- */

static cs_result start(struct ld_machine *machine, ld_plan *plan, cs_error *err) {
    if (!ld_lines_make(&machine->lines, plan))
        return cs_fail(err, CS_CODE_IO, "no pipes for the virtual machine: %s", strerror(errno));
    pid_t keeper = _Fork();
    if (keeper == 0) ld_resident_keeper(plan);
    if (keeper < 0) return cs_fail(err, CS_CODE_IO, "no process for the virtual machine: %s", strerror(errno));
    machine->keeper = keeper;
    return CS_OK;
}

void ld_vm_last_words(const struct ld_machine *machine, char *out, size_t size) {
    const cs_buf *said = &machine->channel.console;
    size_t len = said->len < size - 1 ? said->len : size - 1;
    for (size_t i = 0; i < len; i++) {
        uint8_t byte = said->ptr[said->len - len + i];
        out[i] = (char)(byte >= ' ' && byte <= '~' ? byte : ' ');
    }
    while (len > 0 && out[len - 1] == ' ')
        len--;
    out[len] = '\0';
}

static cs_result tell_unbooted(const struct ld_machine *machine, cs_error *err) {
    char words[200];
    if (machine->channel.stopped) return cs_fail(err, CS_CODE_INTERRUPTED, "the run was told to end");
    ld_vm_last_words(machine, words, sizeof(words));
    return cs_fail(err, CS_CODE_INTERNAL, "the virtual machine does not start: %s; its console: %s",
                   machine->channel.lost, words[0] != '\0' ? words : "(empty)");
}

/* Start the monitor with one end of the stream; the other is the channel's. */
static cs_result bring_up(const ld_place *place, int64_t boot_ms, struct ld_machine *machine, int stream,
                          cs_error *err) {
    monitor *to = calloc(1, sizeof(*to));
    if (to == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the virtual machine");
    int64_t begun = ld_monotonic_ms();
    cs_result result = prepare(place, stream, to, err);
    if (result == CS_OK) result = start(machine, &to->plan, err);
    ld_plan_close(&to->plan);
    ld_close_fd(&to->plan.ruleset);
    ld_filter_free(&to->filter);
    free(to);
    close(stream);
    if (result != CS_OK) return result;
    ld_until until = {.ms = begun + boot_ms, .stop_fd = place->stop_fd};
    if (!ld_channel_greet(&machine->channel, until)) return tell_unbooted(machine, err);
    machine->boot_ms = ld_monotonic_ms() - begun;
    machine->for_deadline_ms = place->deadline_ms;
    return CS_OK;
}

cs_result ld_vm_boot(const ld_place *place, int64_t boot_ms, struct ld_machine **out, cs_error *err) {
    int pair[2];
    *out = NULL;
    struct ld_machine *machine = calloc(1, sizeof(*machine));
    if (machine == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the virtual machine");
    machine->lines = LD_LINES_INIT;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        free(machine);
        return cs_fail(err, CS_CODE_IO, "no stream to the virtual machine: %s", strerror(errno));
    }
    cs_result result = CS_UNCHECKED;
    if (ld_channel_open(&machine->channel, pair[0], &machine->lines)) {
        result = bring_up(place, boot_ms, machine, pair[1], err);
    } else {
        result = cs_fail(err, CS_CODE_IO, "the stream to the virtual machine: %s", strerror(errno));
        close(pair[1]);
    }
    if (result == CS_OK) {
        *out = machine;
        return CS_OK;
    }
    if (!ld_vm_end(machine))
        return cs_fail(err, CS_CODE_INTERNAL, "a virtual machine that did not start can't be ended");
    return result;
}

/* The keeper's next report; false at the end of the line, or when none comes in time. */
static bool next_report(const ld_lines *lines, ld_report *out) {
    struct pollfd watched = {.fd = lines->report, .events = POLLIN};
    if (poll(&watched, 1, LD_ENDING_MS) <= 0) return false;
    return read(lines->report, out, sizeof(*out)) == (ssize_t)sizeof(*out);
}

bool ld_vm_end(struct ld_machine *machine) {
    ld_report report = {.clean = machine->keeper == 0};
    /* Nobody reads any more: what is written to a pipe that is full must not keep anyone. */
    ld_channel_close(&machine->channel);
    ld_close_fd(&machine->lines.output);
    ld_close_fd(&machine->lines.errors);
    ld_close_fd(&machine->lines.control);
    if (machine->keeper > 0) {
        /* It may have told of the monitor's own end before; the last report counts. */
        while (next_report(&machine->lines, &report))
            continue;
        kill(machine->keeper, SIGKILL);
        while (waitpid(machine->keeper, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    ld_lines_close(&machine->lines);
    free(machine);
    return report.clean;
}

/* ---- clock ----------------------------------------------------------------------------------------- */

uint32_t ld_vm_tsc_khz(void) {
#if defined(__x86_64__)
    struct timespec from;
    struct timespec to;
    clock_gettime(CLOCK_MONOTONIC_RAW, &from);
    const uint64_t begin = __builtin_ia32_rdtsc();
    nanosleep(&(struct timespec){.tv_nsec = 50000000L}, NULL);
    clock_gettime(CLOCK_MONOTONIC_RAW, &to);
    const uint64_t ticks = __builtin_ia32_rdtsc() - begin;
    const int64_t ns = (to.tv_sec - from.tv_sec) * 1000000000LL + (to.tv_nsec - from.tv_nsec);
    const uint64_t khz = ns > 0 ? ticks * 1000000u / (uint64_t)ns : 0;
    return khz <= UINT32_MAX ? (uint32_t)khz : 0;
#else
    return 0;
#endif
}
