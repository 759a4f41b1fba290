/* harness/hostview.h: the texts of /proc, and this machine itself. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/hostview_internal.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"

/* ---- texts ------------------------------------------------------------------------------------------------- */

#define STAT_REST " S 321 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 9876543 0 0 18446744073709551615\n"

Test(tiers_host, parent_and_start_are_read_behind_any_name) {
    static const char *const names[] = {"1 (sh)", "1 (a) R 7 (b)", "1 (\n)", "1 ()"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[200];
        cs_proc_entry entry = {0};
        (void)snprintf(text, sizeof text, "%s%s", names[i], STAT_REST);
        cr_assert(cs_proc_parse_stat(cs_view_of(text), &entry), "%s", text);
        cr_expect_eq(entry.parent, 321);
        cr_expect_eq(entry.started, 9876543);
    }
    static const char *const wrong[] = {"",
                                        "1 (sh",
                                        "1 (sh)",
                                        "1 (sh) S x 1",
                                        "1 (sh) S 321 1 1",
                                        "1 (sh) S 99999999999 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 9876543 0"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cs_proc_entry entry = {0};
        cr_expect_not(cs_proc_parse_stat(cs_view_of(wrong[i]), &entry), "%s", wrong[i]);
    }
}

#define STATUS                                                                                                         \
    "Name:\tx\nUid:\t1000\t1001\t1002\t1003\nNSpid:\t4711\t12\t3\nCapEff:\t00000000000000c0\nNoNewPrivs:\t1\n"         \
    "Seccomp:\t2\nSeccomp_filters:\t1\n"

Test(tiers_host, status_is_read) {
    cs_host_process process;
    cs_proc_parse_status(cs_view_of(STATUS), &process);
    cr_expect_eq(process.uid, 1001); /* the effective one */
    cr_expect_eq(process.ns_depth, 3);
    cr_expect_eq(process.capable, 1);
    cr_expect_eq(process.no_new_privs, 1);
    cr_expect_eq(process.seccomp, 2);
    cr_expect_eq(process.seccomp_filters, 1);
    cs_proc_parse_status(cs_view_of("CapEff:\t0000000000000000\nNSpid:\t7\n"), &process);
    cr_expect_eq(process.capable, 0);
    cr_expect_eq(process.ns_depth, 1);
    cr_expect_eq(process.seccomp, CS_PROBE_UNKNOWN);
    cs_proc_parse_status(cs_view_of("Uid:\nSeccomp:\tx\nCapEff:\t1ffffffffffffffff\nNoNewPrivs:"), &process);
    cr_expect_eq(process.uid, CS_PROBE_UNKNOWN);
    cr_expect_eq(process.seccomp, CS_PROBE_UNKNOWN);
    cr_expect_eq(process.capable, CS_PROBE_UNKNOWN);
    cr_expect_eq(process.no_new_privs, CS_PROBE_UNKNOWN);
}

#define TABLE_HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
#define ROW(address, state, inode)                                                                                     \
    "   0: " address " 00000000:0000 " state " 00000000:00000000 00:00000000 00000000     0        0 " inode " 1\n"

Test(tiers_host, only_a_listener_at_the_port_counts) {
    cr_expect_eq(cs_proc_parse_listener(cs_view_of(TABLE_HEAD ROW("0100007F:222A", "0A", "5555")), 8746), 5555);
    cr_expect_eq(cs_proc_parse_listener(cs_view_of(TABLE_HEAD ROW("0100007F:222A", "01", "5555")), 8746), 0);
    cr_expect_eq(cs_proc_parse_listener(cs_view_of(TABLE_HEAD ROW("0100007F:222B", "0A", "5555")), 8746), 0);
    cr_expect_eq(cs_proc_parse_listener(cs_view_of(TABLE_HEAD ROW("0100007F", "0A", "5555")), 8746), 0);
    cr_expect_eq(cs_proc_parse_listener(cs_view_of(TABLE_HEAD), 8746), 0);
    cr_expect_eq(cs_proc_parse_listener(cs_view_of(""), 8746), 0);
    cr_expect_eq(
        cs_proc_parse_listener(
            cs_view_of(ROW("0100007F:222B", "0A", "1") ROW("00000000000000000000000001000000:222A", "0A", "77")), 8746),
        77);
}

Test(tiers_host, only_loopback_urls_have_a_port_here) {
    cr_expect_eq(cs_host_loopback_port("http://127.0.0.1:8746"), 8746);
    cr_expect_eq(cs_host_loopback_port("http://127.9.9.9:1/prefix:2"), 1);
    cr_expect_eq(cs_host_loopback_port("http://[::1]:8746/"), 8746);
    cr_expect_eq(cs_host_loopback_port("https://localhost"), 443);
    cr_expect_eq(cs_host_loopback_port("http://[::1]"), 80);
    cr_expect_eq(cs_host_loopback_port("http://192.168.0.1:8746"), 0);
    cr_expect_eq(cs_host_loopback_port("http://127.0.0.1.example:8746"), 0);
    cr_expect_eq(cs_host_loopback_port("http://localhost.example"), 0);
    cr_expect_eq(cs_host_loopback_port("http://127.0.0.1:"), 0);
    cr_expect_eq(cs_host_loopback_port("http://127.0.0.1:65535"), 65535);
    cr_expect_eq(cs_host_loopback_port("http://127.0.0.1:65536"), 0);
    cr_expect_eq(cs_host_loopback_port("http://127.0.0.1:0"), 0);
    cr_expect_eq(cs_host_loopback_port("http://127.0.0.1: 8746"), 0);
    cr_expect_eq(cs_host_loopback_port("http://127.0.0.1:+8746"), 0);
    cr_expect_eq(cs_host_loopback_port("http://127.0.0.1:8746x"), 0);
    cr_expect_eq(cs_host_loopback_port("ftp://127.0.0.1:8746"), 0);
}

/* ---- this machine ----------------------------------------------------------------------------------------------- */

/* A child that waits, with `argument` among its arguments; ended by end(). */
static pid_t begin(const char *argument) {
    (void)fflush(NULL);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)execl("/bin/sh", "sh", "-c", "read x", argument, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void end(pid_t pid) {
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

static int listen_somewhere(uint16_t *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, size), 0);
    cr_assert_eq(listen(fd, 1), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

Test(tiers_host, who_listens_is_found_and_what_is_below_it) {
    uint16_t port = 0;
    int fd = listen_somewhere(&port);
    cr_expect_eq(cs_proc_listener(port), getpid());
    pid_t pid = begin("x");
    cs_proc_list *list = calloc(1, sizeof *list);
    cr_assert_not_null(list);
    cr_assert(cs_proc_pids(list));
    cs_proc_tree(list, getpid());
    bool child = false;
    for (size_t i = 0; i < list->count; i++) {
        if (list->entries[i].pid == pid) child = list->entries[i].below;
        if (list->entries[i].pid == getppid()) cr_expect_not(list->entries[i].below);
    }
    cr_expect(child);
    cr_expect_eq(cs_proc_apart(pid, getpid()), 0); /* below, and in the same namespaces */
    cr_expect_eq(cs_proc_apart(getppid(), getpid()), CS_PROBE_UNKNOWN);
    free(list);
    end(pid);
    close(fd);
    cr_expect_eq(cs_proc_listener(port), 0);
}

Test(tiers_host, a_process_of_ours_is_described) {
    cs_host_process process;
    cs_proc_describe(getpid(), &process);
    cr_expect_eq(process.uid, geteuid());
    cr_expect_eq(process.same_pid_ns, 1);
    cr_expect_eq(process.same_mnt_ns, 1);
    cr_expect_geq(process.ns_depth, 1);
    cr_expect_neq(process.exe[0], '\0');
    char exe[CS_PROBE_TEXT + 1];
    cr_expect_not(cs_proc_is_monitor(getpid(), true, exe, sizeof exe), "%s", exe);
}

/* Is a program of this name, that holds a block of this size and waits, taken for a monitor? */
static bool looks_like_monitor(const char *name, const char *block) {
    char folder[128], path[200], exe[CS_PROBE_TEXT + 1], byte;
    size_t len = 0;
    int output[2];
    folder_make(folder);
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    char *program = file_read("/bin/dd", &len);
    cr_assert_not_null(program);
    file_write(path, program, len);
    free(program);
    cr_assert_eq(chmod(path, 0755), 0);
    cr_assert_eq(pipe2(output, O_CLOEXEC), 0);
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(output[1], STDOUT_FILENO);
        (void)execl(path, path, "if=/dev/zero", block, "count=1", (char *)NULL);
        _exit(127);
    }
    close(output[1]);
    cr_assert_eq(read(output[0], &byte, 1), 1); /* the block is filled, and the pipe is too small for it */
    bool is = cs_proc_is_monitor(pid, false, exe, sizeof exe);
    cr_expect_str_eq(exe, path);
    close(output[0]);
    end(pid);
    folder_remove(folder);
    return is;
}

/* Without KVM it takes both. */
Test(tiers_host, a_monitor_is_known_by_its_program_and_its_size) {
    cr_expect(looks_like_monitor("qemu-system-x86_64", "bs=48M"));
    cr_expect_not(looks_like_monitor("qemu-system-x86_64", "bs=1M"));
    cr_expect_not(looks_like_monitor("qemu", "bs=48M"));
}

Test(tiers_host, resident_memory_is_read) {
    cr_expect_eq(cs_proc_parse_resident(cs_view_of("Name:\tx\nVmHWM:\t  9 kB\nVmRSS:\t   32768 kB\n")), 32768);
    cr_expect_eq(cs_proc_parse_resident(cs_view_of("Name:\tx\nVmHWM:\t  9 kB\n")), CS_PROBE_UNKNOWN);
    cr_expect_eq(cs_proc_parse_resident(cs_view_of("VmRSS:\nVmRSS:\tx kB\n")), CS_PROBE_UNKNOWN);
}

/* ---- whose root -------------------------------------------------------------------------------------------- */

Test(tiers_host, only_the_map_of_all_users_is_the_machine_s) {
    cr_expect(cs_proc_maps_all(cs_view_of("         0          0 4294967295\n")));
    static const char *const parts[] = {"",
                                        "         0       1000          1\n",
                                        "         0          0 4294967294\n",
                                        "         0     100000 4294967295\n",
                                        "         1          0 4294967295\n",
                                        "         0          0\n",
                                        "         0          0 4294967295 1\n",
                                        "0 0 4294967295\n1 1 1\n"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        cr_expect_not(cs_proc_maps_all(cs_view_of(parts[i])), "%s", parts[i]);
}

/* As `unshare -r` makes it. 0: root of it is told from root; 1: not; 2: there are no such namespaces for us. */
static int look_as_root_of_a_part(void) {
    char map[64];
    cs_host_facts facts;
    int len = snprintf(map, sizeof map, "0 %u 1", (unsigned)geteuid());
    if (unshare(CLONE_NEWUSER) != 0) return 2;
    int fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, map, (size_t)len) != len || geteuid() != 0) return 2;
    cs_host_look(&facts);
    return facts.readable && !facts.all && strstr(facts.why, "root of a user namespace") != NULL ? 0 : 1;
}

Test(tiers_host, root_of_a_user_namespace_does_not_see_all) {
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) _exit(look_as_root_of_a_part());
    int status = 0;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
        cr_assert(getenv("CI") == NULL && getenv("COUNTERSIGN_REQUIRE_ALL") == NULL, "no user namespace can be made");
        cr_skip_test("SKIPPED: no user namespace can be made");
    }
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(tiers_host, the_file_is_there_for_all_and_goes_again) {
    cs_bait_file file;
    cs_bait_file_lay(&file);
    cr_assert_neq(file.path[0], '\0');
    struct stat st;
    cr_assert_eq(stat(file.path, &st), 0);
    cr_expect_eq(st.st_mode & 07777, 0644);
    size_t len = 0;
    char *content = file_read(file.path, &len);
    cs_digest digest;
    cr_assert(cs_sha256_once(cs_view_bytes(content, len), &digest));
    cr_expect_str_eq(digest.hex, file.content.hex);
    free(content);
    char path[sizeof file.path];
    memcpy(path, file.path, sizeof path);
    cs_bait_file_take(&file);
    cr_expect_neq(stat(path, &st), 0);
    cr_expect_eq(file.path[0], '\0');
}

#define SAID "0123456789abcdef0123456789abcdef"

static void connect_and_say(uint16_t port, const char *text) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(send(fd, text, strlen(text), 0), (ssize_t)strlen(text));
    close(fd);
}

/* Others may happen to connect: only who says the token counts. */
Test(tiers_host, only_the_token_counts_at_the_port) {
    uint16_t port = 0;
    int listener = cs_bait_port_open(&port);
    cr_assert_geq(listener, 0);
    cr_expect_not(cs_bait_port_reached(listener, SAID));
    connect_and_say(port, "0123456789abcdef0123456789abcdeF");
    cr_expect_not(cs_bait_port_reached(listener, SAID));
    connect_and_say(port, "0123");
    cr_expect_not(cs_bait_port_reached(listener, SAID));
    connect_and_say(port, SAID);
    cr_expect(cs_bait_port_reached(listener, SAID));
    cr_expect_not(cs_bait_port_reached(listener, SAID));
    cr_expect_not(cs_bait_port_reached(-1, SAID));
    close(listener);
}

/* ---- a watch ------------------------------------------------------------------------------------------------------
 */

static cs_probe_order new_order(void) {
    cs_probe_order order;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_probe_order_new(CS_PROBE_PROGRAM, 100, &order, &err), err);
    return order;
}

/* Wait until the watch has looked a few times at everything. */
static void let_it_look(void) {
    cs_host_nap_ms(1500);
}

Test(tiers_host, a_watch_sees_the_token_the_children_and_the_port) {
    uint16_t port = 0;
    char url[64], token[CS_PROBE_TOKEN_DIGITS + 1];
    int fd = listen_somewhere(&port);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", port);
    cs_probe_order order = new_order();
    cs_host_watch *watch = NULL;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_host_watch_begin(url, &order, &watch, &err), err);
    cr_assert_not_null(order.canary);
    cr_assert_neq(order.port, 0);
    cr_assert(cs_probe_token(&order, token));
    pid_t pid = begin(token);
    connect_and_say(order.port, token);
    let_it_look();
    end(pid);
    cs_host_sighting seen;
    char canary[64];
    (void)snprintf(canary, sizeof canary, "%s", order.canary);
    cs_host_watch_end(watch, &seen);
    cr_expect(seen.watched);
    cr_expect_eq(seen.place, CS_HOST_HERE);
    cr_expect(seen.token_seen);
    cr_expect_eq(seen.workload.pid, pid);
    cr_expect_eq(seen.workload.same_pid_ns, 1);
    cr_expect_eq(seen.apart, 0);
    cr_expect_not(seen.program_seen);
    cr_expect(seen.port_reached);
    cr_expect(seen.canary_laid);
    cr_expect_geq(seen.pulses, 1);
    cr_expect_neq(access(canary, F_OK), 0, "the file is left behind");
    close(fd);
}

/* The twin: nobody listens, nobody shows the token. */
Test(tiers_host, a_watch_that_sees_nothing_says_so) {
    cs_probe_order order = new_order();
    cs_host_watch *watch = NULL;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_host_watch_begin("http://192.0.2.1:8746", &order, &watch, &err), err);
    pid_t pid = begin("0123456789abcdef0123456789abcdef");
    let_it_look();
    end(pid);
    cs_host_sighting seen;
    cs_host_watch_end(watch, &seen);
    cr_expect(seen.watched);
    cr_expect_eq(seen.place, CS_HOST_ELSEWHERE);
    cr_expect_not(seen.token_seen);
    cr_expect_not(seen.monitor_below);
    cr_expect_not(seen.port_reached);
    cs_host_watch_end(NULL, &seen);
    cr_expect_not(seen.watched);
}

/* The probe's own executable, run by hand, prints what the reader reads. */
Test(tiers_host, the_program_runs_and_is_known_again) {
    char folder[128], path[200], command[400];
    folder_make(folder);
    (void)snprintf(path, sizeof path, "%s/probe", folder);
    cs_view program = cs_probe_program();
    cr_assert_gt(program.len, 0, "this build has no program");
    file_write(path, program.ptr, program.len);
    cr_assert_eq(chmod(path, 0755), 0);
    cs_probe_order order = new_order();
    order.hold_ms = 900;
    (void)snprintf(command, sizeof command, "%s %s 900 - 0", path, order.nonce);
    cs_host_watch *watch = NULL;
    cs_probe_order watched = order;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_host_watch_begin("http://192.0.2.1:8746", &watched, &watch, &err), err);
    FILE *pipe = popen(command, "re");
    cr_assert_not_null(pipe);
    char output[CS_PROBE_MAX_ANSWER];
    size_t len = fread(output, 1, sizeof output, pipe);
    cr_expect_eq(pclose(pipe), 0);
    cs_host_sighting seen;
    cs_host_watch_end(watch, &seen);
    cs_probe_facts facts;
    EXPECT_OK(cs_probe_read(&order, cs_view_bytes(output, len), &facts, &err), err);
    cs_host_facts host;
    cs_host_look(&host);
    cr_expect_str_eq(facts.release, host.release);
    cr_expect_str_eq(facts.boot_id, host.boot_id);
    cr_expect_lt(llabs(facts.clock_us - host.clock_us), 50000);
    cr_expect_gt(facts.process_samples, 16);
    cr_expect_eq(facts.no_call, 38);
    cr_expect(seen.program_seen);
    cr_expect(seen.token_seen);
    /* The same bytes in a run of another check: that is none of this one's. */
    cs_probe_order other = new_order();
    (void)memset(other.nonce, 'e', CS_PROBE_NONCE_DIGITS);
    EXPECT_OK(cs_host_watch_begin("http://192.0.2.1:8746", &other, &watch, &err), err);
    pipe = popen(command, "re");
    cr_assert_not_null(pipe);
    cr_expect_gt(fread(output, 1, sizeof output, pipe), 0);
    cr_expect_eq(pclose(pipe), 0);
    cs_host_watch_end(watch, &seen);
    cr_expect(seen.watched);
    cr_expect_not(seen.program_seen);
    cr_expect_not(seen.token_seen);
    folder_remove(folder);
}
