/* Tier vm: a virtual machine for each run, and for each session (vm.h). What a run would have to break is the guest's
 * kernel, then the monitor's emulated devices, then the walls around the monitor.
 *
 * A run's deadline begins when its machine is up: the time to boot is not the program's. */
#include "examples/localdaemon/log.h"
#include "examples/localdaemon/provider.h"
#include "examples/localdaemon/software.h"
#include "examples/localdaemon/vm.h"
#include "examples/localdaemon/vm_image.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEVICE "/dev/kvm"
#define WALLS (LD_GUARDS_LANDLOCK | LD_GUARDS_FILTER)
#define GUARDS_MONITOR (LD_GUARD_USER | WALLS)
#define GUARDS                                                                                                         \
    (GUARDS_MONITOR | LD_GUARD_PROCESSES | LD_GUARD_MEMORY | LD_GUARD_FILE_SIZE | LD_GUARD_NETWORK | LD_GUARD_KERNEL)

/* ---- what there is --------------------------------------------------------------------------------- */

static bool policy(const ld_sandbox *sandbox, cs_buf *out) {
    return cs_buf_printf(out, "%s\naccelerator %s\nprocessors %u\nlandlock-abi %d\n", sandbox->version,
                         sandbox->vm.hardware ? "kvm" : "tcg", sandbox->limits.processors, sandbox->landlock_abi) &&
           ld_policy_limits(sandbox, out) && ld_filter_describe(out);
}

/* May a run's user open /dev/kvm, and if so, by which group (0: by none in particular)? */
static bool device_is_open(const ld_sandbox *sandbox, gid_t *group) {
    struct stat st;
    *group = 0;
    if (!sandbox->root) return access(DEVICE, R_OK | W_OK) == 0;
    if (stat(DEVICE, &st) != 0) return false;
    if ((st.st_mode & 06) == 06) return true;
    *group = st.st_gid;
    return (st.st_mode & 060) == 060 && st.st_gid != 0;
}

/* Boot a machine with the hardware's help. That /dev/kvm is there says little: it may be one that can't run this
 * kernel, or so slowly that software is faster. */
static cs_result try_hardware(const ld_sandbox *sandbox, cs_error *err) {
    ld_slots slots;
    ld_slot slot;
    struct ld_machine *machine = NULL;
    cs_result result = ld_slots_open(&slots, err);
    if (result == CS_OK) result = ld_slot_take(&slots, true, &slot, err);
    if (result == CS_OK) {
        ld_place place = {.sandbox = sandbox, .slots = &slots, .slot = &slot, .guards = ld_sandbox_in_force(sandbox), .stop_fd = -1};
        result = ld_vm_boot(&place, LD_VM_SELF_TEST_MS, &machine, err);
        bool clean = machine == NULL || ld_vm_end(machine);
        cs_result returned = clean ? ld_slot_return(&slots, &slot, err) : cs_fail(err, CS_CODE_IO, "it can't be ended");
        if (result == CS_OK) result = returned;
    }
    ld_slots_close(&slots);
    return result;
}

static void choose_accelerator(ld_sandbox *sandbox) {
    cs_error err = CS_ERROR_INIT;
    sandbox->vm.hardware = device_is_open(sandbox, &sandbox->vm.device_group);
    if (!sandbox->vm.hardware) {
        ld_log("no hardware virtualisation (" DEVICE " is not there, or runs' users may not open it): the processor is "
               "emulated by software, which is slow");
    } else if (try_hardware(sandbox, &err) != CS_OK) {
        ld_log_error("no hardware virtualisation (" DEVICE " is there, but a machine does not boot with it): the "
                     "processor is emulated by software, which is slow",
                     &err);
        sandbox->vm.hardware = false;
    }
}

static cs_result find(ld_sandbox *sandbox, cs_error *err) {
    char path[PATH_MAX];
    ld_vm_image image;
    cs_result result = ld_find_program("qemu-system-x86_64", "qemu-system-x86", sandbox->tool, err);
    if (result == CS_OK) result = ld_software_version(sandbox->tool, sandbox->version, sizeof(sandbox->version), err);
    if (result == CS_OK) result = ld_vm_image_default(path, err);
    if (result == CS_OK) result = ld_vm_image_open(path, sandbox->node, &image, err);
    if (result != CS_OK) return result;
    /* A wall less around the monitor; the machine is one without it. */
    if (sandbox->landlock_abi < 1) sandbox->guards &= ~(uint32_t)LD_GUARD_FILES;
    snprintf(sandbox->vm.image, sizeof(sandbox->vm.image), "%s", image.folder);
    sandbox->vm.tsc_khz = ld_vm_tsc_khz();
    sandbox->limits.memory_bytes = LD_VM_MEMORY_MB * 1048576ull;
    sandbox->limits.processors = LD_VM_PROCESSORS;
    choose_accelerator(sandbox);
    snprintf(sandbox->environment, sizeof(sandbox->environment), "localdaemon-vm-%s:sha256:%s",
             sandbox->vm.hardware ? "kvm" : "tcg", image.digest.hex);
    return CS_OK;
}

/* ---- the machine ----------------------------------------------------------------------------------- */

static cs_result open_machine(const ld_place *place, cs_error *err) {
    return ld_vm_boot(place, LD_VM_BOOT_MS, place->machine, err);
}

static int64_t deadline_of(const ld_place *place) {
    const struct ld_machine *machine = *place->machine;
    bool booted_now = machine->for_deadline_ms == place->deadline_ms;
    return place->deadline_ms + (booted_now ? machine->boot_ms : 0);
}

static ld_until for_command(const ld_place *place) {
    return (ld_until){.ms = deadline_of(place), .stop_fd = place->stop_fd};
}

static ld_until for_files(const ld_place *place) {
    return (ld_until){.ms = deadline_of(place) + LD_VM_GRACE_MS, .stop_fd = place->stop_fd};
}

static ld_work write_file(const ld_place *place, cs_view path, cs_view content) {
    return ld_channel_write(&(*place->machine)->channel, for_files(place), path, content, place->kept);
}

static ld_work read_file(const ld_place *place, cs_view path, size_t room, cs_buf *out) {
    return ld_channel_read(&(*place->machine)->channel, for_files(place), path, room, out);
}

/* What a program finds in its environment; the same as with the other providers. */
typedef struct variables {
    char texts[5][PATH_MAX + 80];
    const char *list[6];
} variables;

static void set_variables(const ld_sandbox *sandbox, variables *out) {
    const char *const pairs[5][2] = {{"PATH", sandbox->path_variable},
                                     {"HOME", LD_VM_WORK},
                                     {"TMPDIR", LD_VM_TMP},
                                     {"LANG", "C.UTF-8"},
                                     {"PWD", LD_VM_WORK}};
    for (size_t i = 0; i < 5; i++) {
        snprintf(out->texts[i], sizeof(out->texts[i]), "%s=%s", pairs[i][0], pairs[i][1]);
        out->list[i] = out->texts[i];
    }
    out->list[5] = NULL;
}

/* A guard that is down (smoke test) takes its limit away. */
static ld_limits limits_of(const ld_place *place) {
    ld_limits limits = place->limits;
    if ((place->guards & LD_GUARD_PROCESSES) == 0) limits.processes = 0;
    if ((place->guards & LD_GUARD_MEMORY) == 0) limits.data_bytes = 0;
    if ((place->guards & LD_GUARD_FILE_SIZE) == 0) limits.file_bytes = 0;
    return limits;
}

static cs_result launch(const ld_place *place, const ld_command *command, ld_output *out, cs_error *err) {
    ld_channel *channel = &(*place->machine)->channel;
    variables environment;
    set_variables(place->sandbox, &environment);
    ld_vm_command what = {.argv = command->argv, .envp = environment.list, .limits = limits_of(place)};
    int64_t begun = ld_monotonic_ms();
    ld_ran ran = ld_channel_run(channel, for_command(place), &what, out);
    out->duration_ms = ld_monotonic_ms() - begun;
    if (ran == LD_RAN_DONE || out->stopped) return CS_OK;
    if (ran == LD_RAN_UNSTARTED)
        return cs_fail(err, CS_CODE_INTERNAL, "the command can't be started in the guest: %s", strerror(errno));
    char words[160];
    ld_vm_last_words(*place->machine, words, sizeof(words));
    return cs_fail(err, CS_CODE_INTERNAL, "the virtual machine is lost: %s; its console: %s", channel->lost,
                   words[0] != '\0' ? words : "(empty)");
}

static bool is_lost(const ld_machine *machine) {
    return machine->channel.lost != NULL;
}

static bool close_machine(ld_machine *machine) {
    return ld_vm_end(machine);
}

static const ld_machine_hooks hooks = {.fixed = GUARDS_MONITOR | LD_GUARD_NETWORK,
                                       .around = GUARDS_MONITOR,
                                       .probe = LD_VM_PROBE,
                                       .open = open_machine,
                                       .launch = launch,
                                       .write = write_file,
                                       .read = read_file,
                                       .lost = is_lost,
                                       .close = close_machine};

/* Files of the host, its processes, and so on can't be shown to a guest in place of its own: that they are out of reach
 * is tried as one guard, whose control is a plain child of the daemon. All attempts from inside are made in machines
 * without the walls around the monitor, which would stop some of them too; two machines do, the second of them with a
 * network card. The attempts on those walls are made where the monitor stands, as if a run had taken it over. */
static const ld_attempt attempts[] = {
    {LD_GUARD_KERNEL, "read", LD_REACH_CANARY, WALLS},
    {LD_GUARD_KERNEL, "signal", LD_REACH_VICTIM, WALLS},
    {LD_GUARD_KERNEL, "abstract", LD_REACH_ABSTRACT, WALLS},
    {LD_GUARD_KERNEL, "shm", LD_REACH_SEGMENT, WALLS},
    {LD_GUARD_PROCESSES, "fork", LD_REACH_CHILDREN, WALLS},
    {LD_GUARD_MEMORY, "memory", LD_REACH_DATA, WALLS},
    {LD_GUARD_FILE_SIZE, "write", LD_REACH_FILE_END, WALLS},
    {LD_GUARD_NETWORK, "gateway", LD_REACH_PORT, WALLS},
    {LD_GUARD_USER, "read", LD_REACH_SECRET, LD_GUARD_FILES},
    {LD_GUARD_FILES, "read", LD_REACH_CANARY, 0},
    {LD_GUARD_TCP, "tcp", LD_REACH_PORT, LD_GUARD_SOCKETS},
    {LD_GUARD_ABSTRACT, "abstract", LD_REACH_ABSTRACT, LD_GUARD_SOCKETS},
    {LD_GUARD_SIGNALS, "signal", LD_REACH_VICTIM, 0},
    {LD_GUARD_SYSCALLS, "keyctl", LD_REACH_NOTHING, 0},
    {LD_GUARD_SYSCALLS, "unshare", LD_REACH_NOTHING, 0},
    {LD_GUARD_SOCKETS, "socket", LD_REACH_NOTHING, 0},
};

const ld_provider ld_provider_vm = {.name = "vm",
                                    .tier = CS_TIER_VM,
                                    .guards = GUARDS,
                                    .root_guards = LD_GUARD_USER,
                                    .fixed_paths = true,
                                    .find = find,
                                    .policy = policy,
                                    .machine = &hooks,
                                    .attempts = attempts,
                                    .attempt_count = sizeof(attempts) / sizeof(attempts[0])};
