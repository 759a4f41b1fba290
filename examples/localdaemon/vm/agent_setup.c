/* The machine: modules, mounts, clock, network. */
#include "examples/localdaemon/vm/agent.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/route.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 2000
#define PAUSE_NS 5000000L

_Noreturn void agent_die(const char *what) {
    int error = errno;
    int console = open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (console >= 0) dprintf(console, "agent: %s (%s)\n", what, strerror(error));
    for (;;)
        reboot(RB_AUTOBOOT); /* the monitor ends instead */
}

static void pause_shortly(void) {
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

/* One that is part of the kernel has no file here. */
static void load_module(const char *name) {
    char path[64];
    snprintf(path, sizeof(path), "/modules/%s.ko", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (syscall(SYS_finit_module, fd, "", 0) != 0) agent_die(name);
    close(fd);
}

static void mount_or_die(const char *what, const char *where, const char *type, unsigned long flags,
                         const char *options) {
    if (mount(what, where, type, flags, options) != 0) agent_die(where);
}

/* What a device needs before it can be opened comes a little after its module. */
static int open_late(const char *path, int flags) {
    for (int round = 0; round < ROUNDS; round++) {
        int fd = open(path, flags | O_CLOEXEC);
        if (fd >= 0) return fd;
        pause_shortly();
    }
    agent_die(path);
}

static void make_device(const char *name, unsigned minor_number, unsigned major_number) {
    char path[64];
    snprintf(path, sizeof(path), AGENT_SYSTEM "/dev/%s", name);
    if (mknod(path, S_IFCHR | 0666, makedev(major_number, minor_number)) != 0) agent_die(path);
}

/* No more devices than a program needs, and none that leads out of the machine. */
static void make_devices(void) {
    static const char *const links[][2] = {{"/proc/self/fd", AGENT_SYSTEM "/dev/fd"},
                                           {"/proc/self/fd/0", AGENT_SYSTEM "/dev/stdin"},
                                           {"/proc/self/fd/1", AGENT_SYSTEM "/dev/stdout"},
                                           {"/proc/self/fd/2", AGENT_SYSTEM "/dev/stderr"}};
    mount_or_die("dev", AGENT_SYSTEM "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k");
    make_device("null", 3, 1);
    make_device("zero", 5, 1);
    make_device("full", 7, 1);
    make_device("random", 8, 1);
    make_device("urandom", 9, 1);
    make_device("tty", 0, 5);
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        if (symlink(links[i][0], links[i][1]) != 0) agent_die(links[i][1]);
    mount_or_die(NULL, AGENT_SYSTEM "/dev", NULL, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NOEXEC, NULL);
}

static void make_folder(const char *path, mode_t mode) {
    if (mkdir(path, mode) != 0 || chown(path, AGENT_USER, AGENT_USER) != 0) agent_die(path);
}

/* The run's folders lie on the same paths as in the container. */
static void make_folders(void) {
    mount_or_die("tmp", AGENT_SYSTEM "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=37%,uid=1000,gid=1000");
    make_folder(AGENT_SYSTEM "/tmp/localdaemon", 0755);
    make_folder(AGENT_SYSTEM "/tmp/localdaemon/0", 0755);
    make_folder(AGENT_SYSTEM LD_VM_WORK, 0700);
    make_folder(AGENT_SYSTEM LD_VM_TMP, 0700);
}

/* Address and state of a network card; one that isn't there is left alone. */
static void raise_card(const char *name, const char *address) {
    struct ifreq request = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    struct sockaddr_in to = {.sin_family = AF_INET};
    if (address != NULL && inet_pton(AF_INET, address, &to.sin_addr) == 1) {
        memcpy(&request.ifr_addr, &to, sizeof(to));
        if (ioctl(fd, SIOCSIFADDR, &request) != 0) errno = 0;
    }
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    if (ioctl(fd, SIOCSIFFLAGS, &request) != 0) errno = 0;
    close(fd);
}

/* Is there a network card among the devices? */
static bool has_card(void) {
    char path[64];
    char kind[8] = "";
    for (int i = 0; i < 16; i++) {
        snprintf(path, sizeof(path), "/sys/bus/virtio/devices/virtio%d/device", i);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) continue;
        ssize_t got = read(fd, kind, 6);
        close(fd);
        if (got == 6 && memcmp(kind, "0x0001", 6) == 0) return true;
    }
    return false;
}

/* Whatever card there is, a run gets it, as it would get it of a guest's usual system: that there is none is the
 * monitor's matter, and what the smoke test tries. */
static void raise_network(void) {
    raise_card("lo", NULL);
    if (!has_card()) return;
    load_module("failover");
    load_module("net_failover");
    load_module("virtio_net");
    /* The address that the monitor's own network gives its first guest; 10.0.2.2 is then the host's loopback. */
    raise_card("eth0", "10.0.2.15");
}

void agent_set_clock(uint64_t unix_ms) {
    struct timespec now = {.tv_sec = (time_t)(unix_ms / 1000), .tv_nsec = (long)(unix_ms % 1000) * 1000000L};
    if (clock_settime(CLOCK_REALTIME, &now) != 0) agent_die("the clock");
}

/* Out of memory, everything else goes first. */
static void stay(void) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "-1000", 5) != 5) agent_die("oom_score_adj");
    close(fd);
}

int agent_boot(void) {
    static const char *const modules[] = {"virtio_ring", "virtio",   "virtio_mmio",
                                          "virtio_blk",  "squashfs", "virtio_console"};
    umask(0);
    mount_or_die("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    mount_or_die("sys", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    mount_or_die("dev", "/dev", "devtmpfs", MS_NOSUID | MS_NOEXEC, "mode=755");
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
        load_module(modules[i]);
    stay();
    close(open_late("/dev/vda", O_RDONLY));
    mount_or_die("/dev/vda", AGENT_SYSTEM, "squashfs", MS_RDONLY | MS_NOSUID | MS_NODEV, NULL);
    mount_or_die("proc", AGENT_SYSTEM "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    make_devices();
    make_folders();
    if (sethostname("localhost", 9) != 0) agent_die("the host's name");
    raise_network();
    return open_late("/dev/vport0p1", O_RDWR);
}
