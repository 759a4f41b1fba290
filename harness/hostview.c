#include "harness/hostview_internal.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "records/text.h"

#define SCAN_MS 15u
#define TREE_EVERY 6u /* scans */
#define ARGUMENTS_BYTES 8192u
#define BEFORE_MAX 4096u

struct cs_host_watch {
    pthread_t thread;
    atomic_bool stop;
    cs_pulse pulse;
    cs_bait_file file;
    int listener; /* of the bait; -1: none */
    char token[CS_PROBE_TOKEN_DIGITS + 1];
    char nonce[CS_PROBE_NONCE_DIGITS + 1];
    cs_probe_form form;
    int daemon;             /* who listens at the daemon's address; 0: nobody here */
    int before[BEFORE_MAX]; /* what was below it already */
    size_t before_count;
    cs_proc_list list;
    cs_host_sighting seen; /* the thread's, until it ended */
};

/* ---- this machine ---------------------------------------------------------------------------------- */

static int64_t clock_us(clockid_t which) {
    struct timespec now;
    if (clock_gettime(which, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void read_boot_id(char *out, size_t size) {
    out[0] = '\0';
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file == NULL) return;
    if (fgets(out, (int)size, file) == NULL) out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    (void)fclose(file);
}

/* Root of a user namespace of one's own is no more than the user who made it. A kernel without such namespaces has no
 * map. */
static bool is_root_of_all(void) {
    char map[512];
    size_t len = cs_proc_read(getpid(), "uid_map", map, sizeof map);
    return cs_proc_maps_all(cs_view_bytes(map, len)) || access("/proc/self/ns/user", F_OK) != 0;
}

void cs_host_look(cs_host_facts *out) {
    memset(out, 0, sizeof *out);
    struct utsname names;
    char stat[2048];
    out->readable = cs_proc_read(getpid(), "stat", stat, sizeof stat) > 0;
    out->all = out->readable && geteuid() == 0 && is_root_of_all();
    if (!out->readable)
        snprintf(out->why, sizeof out->why, "there is no /proc to read");
    else if (!out->all && geteuid() == 0)
        snprintf(out->why, sizeof out->why,
                 "root of a user namespace, not of this machine: of other users' processes the namespaces and programs "
                 "can't be read");
    else if (!out->all)
        snprintf(out->why, sizeof out->why,
                 "not root: of other users' processes the namespaces and programs can't be read%s",
                 cs_proc_read(1, "stat", stat, sizeof stat) == 0 ? ", and hidepid hides the processes themselves" : "");
    if (uname(&names) == 0) {
        snprintf(out->release, sizeof out->release, "%s", names.release);
        snprintf(out->version, sizeof out->version, "%s", names.version);
    }
    read_boot_id(out->boot_id, sizeof out->boot_id);
    out->clock_us = clock_us(CLOCK_REALTIME) - clock_us(CLOCK_MONOTONIC);
}

static bool is_loopback(const char *host, size_t len) {
    char text[64];
    if (len == 0 || len >= sizeof text) return false;
    memcpy(text, host, len);
    text[len] = '\0';
    struct in_addr v4;
    if (inet_pton(AF_INET, text, &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
    return strcmp(text, "localhost") == 0 || strcmp(text, "[::1]") == 0;
}

uint16_t cs_host_loopback_port(const char *url) {
    bool https = strncmp(url, "https://", 8) == 0;
    if (!https && strncmp(url, "http://", 7) != 0) return 0;
    const char *host = url + (https ? 8 : 7);
    const char *end = host + strcspn(host, "/");
    const char *colon = end;
    while (colon > host && *colon != ':' && *colon != ']')
        colon--;
    bool has_port = *colon == ':';
    if (!is_loopback(host, (size_t)((has_port ? colon : end) - host))) return 0;
    if (!has_port) return https ? 443 : 80;
    uint64_t port = 0;
    cs_view digits = cs_view_bytes(colon + 1, (size_t)(end - colon - 1));
    return cs_decimal_read(digits, UINT16_MAX, &port) ? (uint16_t)port : 0;
}

bool cs_host_find_daemon(const char *url, cs_host_daemon *out) {
    *out = (cs_host_daemon){0};
    uint16_t port = cs_host_loopback_port(url);
    int pid = port != 0 ? cs_proc_listener(port) : 0;
    if (pid == 0) return false;
    char text[2048];
    cs_proc_entry entry = {0};
    size_t len = cs_proc_read(pid, "stat", text, sizeof text);
    if (!cs_proc_parse_stat(cs_view_bytes(text, len), &entry)) return false;
    out->pid = pid;
    out->started = entry.started;
    read_boot_id(out->boot_id, sizeof out->boot_id);
    return out->boot_id[0] != '\0';
}

/* ---- the thread ------------------------------------------------------------------------------------ */

static bool has_argument(int pid, const char *part) {
    char arguments[ARGUMENTS_BYTES];
    size_t len = cs_proc_read(pid, "cmdline", arguments, sizeof arguments);
    return memmem(arguments, len, part, strlen(part)) != NULL;
}

static bool has_token(const cs_host_watch *watch, int pid) {
    return has_argument(pid, watch->token);
}

/* The probe of this very run: another check on this machine runs the same bytes with a nonce of its own. */
static bool is_our_program(const cs_host_watch *watch, int pid) {
    return cs_proc_runs(pid, cs_probe_program()) && (has_argument(pid, watch->nonce) || has_token(watch, pid));
}

static void scan_processes(cs_host_watch *watch) {
    cs_host_sighting *seen = &watch->seen;
    for (size_t i = 0; i < watch->list.count; i++) {
        int pid = watch->list.entries[i].pid;
        if (!seen->token_seen && has_token(watch, pid)) {
            cs_proc_describe(pid, &seen->workload);
            seen->apart = cs_proc_apart(pid, watch->daemon);
            /* It may have ended meanwhile, and its number may be another's: only what is still the same counts. */
            seen->token_seen = has_token(watch, pid);
        }
        if (watch->form == CS_PROBE_PROGRAM && !seen->program_seen && is_our_program(watch, pid)) {
            seen->program_seen = true;
            seen->program_pid = pid;
        }
    }
}

static bool was_before(const cs_host_watch *watch, int pid) {
    for (size_t i = 0; i < watch->before_count; i++)
        if (watch->before[i] == pid) return true;
    return false;
}

static void note_monitor(cs_host_watch *watch, int pid, bool below, bool descriptors) {
    cs_host_sighting *seen = &watch->seen;
    char exe[CS_PROBE_TEXT + 1];
    if (seen->monitor_below || (seen->monitor_anywhere && !below)) return;
    if (!cs_proc_is_monitor(pid, descriptors, exe, sizeof exe)) return;
    if (below)
        seen->monitor_below = true;
    else
        seen->monitor_anywhere = true;
    snprintf(seen->monitor, sizeof seen->monitor, "%s", exe);
}

/* A child that has been forked and is yet to become another program is looked at again by later scans. */
static bool is_new_program(const cs_host_watch *watch, const cs_proc_entry *entry) {
    return watch->seen.place == CS_HOST_LISTENER && entry->below && !was_before(watch, entry->pid) &&
           cs_proc_programs_differ(entry->pid, watch->daemon);
}

/* What is below the daemon, and which of all processes are monitors. Open descriptors of processes that are not below
 * the daemon are looked at once, at the start. */
static void scan_tree(cs_host_watch *watch, bool first) {
    cs_proc_tree(&watch->list, watch->daemon);
    for (size_t i = 0; i < watch->list.count; i++) {
        const cs_proc_entry *entry = &watch->list.entries[i];
        if (first) {
            if (entry->below && watch->before_count < BEFORE_MAX) watch->before[watch->before_count++] = entry->pid;
        } else if (is_new_program(watch, entry)) {
            watch->seen.place = CS_HOST_HERE;
        }
        note_monitor(watch, entry->pid, entry->below, first || entry->below);
    }
}

static void *watch_thread(void *of) {
    cs_host_watch *watch = of;
    for (unsigned scan = 0; !atomic_load(&watch->stop); scan++) {
        if (cs_proc_pids(&watch->list)) {
            scan_processes(watch);
            /* Until something was seen below the daemon: what runs briefly on a busy machine is soon gone. */
            bool soon = watch->seen.place == CS_HOST_LISTENER;
            if (soon || scan % TREE_EVERY == TREE_EVERY - 1) scan_tree(watch, false);
        }
        if (cs_bait_port_reached(watch->listener, watch->token)) watch->seen.port_reached = true;
        cs_host_nap_ms(SCAN_MS);
    }
    if (cs_bait_port_reached(watch->listener, watch->token)) watch->seen.port_reached = true;
    return NULL;
}

/* ---- begin and end ----------------------------------------------------------------------------------- */

static void lay_out(cs_host_watch *watch, cs_probe_order *order) {
    cs_bait_file_lay(&watch->file);
    watch->seen.canary_laid = watch->file.path[0] != '\0';
    watch->seen.canary = watch->file.content;
    if (watch->seen.canary_laid) order->canary = watch->file.path;
    watch->listener = cs_bait_port_open(&order->port);
    watch->seen.port_open = watch->listener >= 0;
}

static void clear_away(cs_host_watch *watch) {
    cs_bait_file_take(&watch->file);
    if (watch->listener >= 0) close(watch->listener);
}

cs_result cs_host_watch_begin(const char *url, cs_probe_order *order, cs_host_watch **out, cs_error *err) {
    *out = NULL;
    cs_host_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a watch");
    watch->listener = -1;
    watch->seen.apart = CS_PROBE_UNKNOWN;
    watch->form = order->form;
    memcpy(watch->nonce, order->nonce, sizeof watch->nonce);
    atomic_init(&watch->stop, false);
    if (!cs_probe_token(order, watch->token)) {
        free(watch);
        return cs_fail(err, CS_CODE_INTERNAL, "a hash failed");
    }
    uint16_t port = cs_host_loopback_port(url);
    watch->daemon = port != 0 ? cs_proc_listener(port) : 0;
    watch->seen.place = watch->daemon != 0 ? CS_HOST_LISTENER : CS_HOST_ELSEWHERE;
    if (cs_proc_pids(&watch->list)) scan_tree(watch, true);
    lay_out(watch, order);
    if (pthread_create(&watch->thread, NULL, watch_thread, watch) != 0) {
        clear_away(watch);
        free(watch);
        order->canary = NULL;
        order->port = 0;
        return cs_fail(err, CS_CODE_IO, "a thread that watches this machine can't be started");
    }
    /* The number of threads is what the program form can follow. */
    if (order->form == CS_PROBE_PROGRAM) cs_pulse_begin(&watch->pulse);
    *out = watch;
    return CS_OK;
}

void cs_host_watch_end(cs_host_watch *watch, cs_host_sighting *out) {
    memset(out, 0, sizeof *out);
    if (watch == NULL) return;
    cs_pulse_end(&watch->pulse);
    atomic_store(&watch->stop, true);
    (void)pthread_join(watch->thread, NULL);
    clear_away(watch);
    *out = watch->seen;
    out->watched = true;
    out->pulses = watch->pulse.done;
    out->pulse_height = out->pulses > 0 ? CS_PULSE_HEIGHT : 0;
    free(watch);
}
