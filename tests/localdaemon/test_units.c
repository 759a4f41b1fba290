/* The parts of the daemon that need no daemon: command line, clients file, listen address, work files,
 * removal, policy text. */
#include "examples/localdaemon/clients.h"
#include "examples/localdaemon/http.h"
#include "examples/localdaemon/options.h"
#include "examples/localdaemon/provider.h"
#include "examples/localdaemon/slot.h"
#include "examples/localdaemon/tree.h"
#include "examples/localdaemon/work.h"
#include "tests/support/exec.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_WORDS 12

/* ---- the command line ------------------------------------------------------------------------------ */

static cs_result read_options(const char *const *words, ld_options *out, cs_error *err) {
    char *argv[MAX_WORDS + 2] = {(char *)(uintptr_t) "localdaemon"};
    int argc = 1;
    for (; words[argc - 1] != NULL; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    return ld_options_read(argc, argv, out, err);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void expect_usage(const char *const *words) {
    ld_options options;
    cs_error err;
    EXPECT_CODE(read_options(words, &options, &err), err, CS_USAGE, CS_CODE_USAGE);
}

Test(localdaemon_options, values_and_defaults) {
    ld_options options;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(read_options(WORDS("--provider", "process", "--clients", "c.json"), &options, &err), err);
    cr_assert_eq(options.kind, LD_PROCESS);
    cr_assert_str_eq(options.listen, "127.0.0.1:8746");
    cr_assert_str_eq(options.clients, "c.json");
    cr_assert_eq(options.max_concurrent, 4);
    cr_assert_eq(options.max_sessions, 8);
    cr_assert_eq(options.protocol, 3);
    cr_assert(!options.open && !options.check && options.node == NULL);
    EXPECT_OK(read_options(WORDS("--provider", "container", "--open", "--max-concurrent", "64", "--protocol", "2",
                                 "--node", "/n"),
                           &options, &err),
              err);
    cr_assert_eq(options.kind, LD_CONTAINER);
    cr_assert_eq(options.max_concurrent, 64);
    cr_assert_eq(options.protocol, 2);
    cr_assert_str_eq(options.node, "/n");
    EXPECT_OK(read_options(WORDS("--provider", "process", "--open", "--max-sessions", "0"), &options, &err), err);
    cr_assert_eq(options.max_sessions, 0);
    EXPECT_OK(read_options(WORDS("--provider", "process", "--open", "--max-sessions", "64"), &options, &err), err);
    cr_assert_eq(options.max_sessions, 64);
    EXPECT_OK(read_options(WORDS("--provider", "process", "--open", "--protocol", "4"), &options, &err), err);
    cr_assert_eq(options.protocol, 4);
    EXPECT_OK(read_options(WORDS("--provider", "process", "--open", "--protocol", "1"), &options, &err), err);
    cr_assert_eq(options.protocol, 1);
    EXPECT_OK(read_options(WORDS("--provider", "process", "--check"), &options, &err), err);
    cr_assert(options.check);
    EXPECT_OK(read_options(WORDS("--provider", "kernel", "--check"), &options, &err), err);
    cr_assert_eq(options.kind, LD_KERNEL);
    EXPECT_OK(read_options(WORDS("--provider", "vm", "--check"), &options, &err), err);
    cr_assert_eq(options.kind, LD_VM);
}

Test(localdaemon_options, a_claim_needs_the_word_that_it_lies) {
    ld_options options;
    cs_error err = CS_ERROR_INIT;
    static const struct {
        const char *word;
        cs_tier tier;
    } tiers[] = {
        {"process", CS_TIER_PROCESS}, {"container", CS_TIER_CONTAINER}, {"kernel", CS_TIER_KERNEL}, {"vm", CS_TIER_VM}};
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++) {
        EXPECT_OK(
            read_options(WORDS("--provider", "process", "--open", "--claim", tiers[i].word, "--i-am-lying-for-a-test"),
                         &options, &err),
            err);
        cr_assert(options.lies && options.claim == tiers[i].tier);
        expect_usage(WORDS("--provider", "process", "--open", "--claim", tiers[i].word));
        expect_usage(WORDS("--provider", "process", "--check", "--claim", tiers[i].word));
    }
    expect_usage(WORDS("--provider", "process", "--open", "--i-am-lying-for-a-test"));
    expect_usage(WORDS("--provider", "process", "--open", "--claim", "vm", "--i-am-lying"));
    expect_usage(WORDS("--provider", "process", "--open", "--claim", "none", "--i-am-lying-for-a-test"));
    expect_usage(WORDS("--provider", "process", "--open", "--claim", "", "--i-am-lying-for-a-test"));
}

Test(localdaemon_options, wrong_ones) {
    expect_usage(WORDS("--provide", "process", "--check"));
    expect_usage(WORDS("--provide=process", "--check"));
    expect_usage(WORDS("--clients", "c.json"));
    expect_usage(WORDS("--provider", "none", "--clients", "c.json"));
    expect_usage(WORDS("--provider", "process"));
    expect_usage(WORDS("--provider", "process", "--open", "--clients", "c.json"));
    expect_usage(WORDS("--provider", "process", "--open", "more"));
    expect_usage(WORDS("--provider", "process", "--open", "--max-concurrent", "0"));
    expect_usage(WORDS("--provider", "process", "--open", "--max-concurrent", "65"));
    expect_usage(WORDS("--provider", "process", "--open", "--max-concurrent", "4x"));
    expect_usage(WORDS("--provider", "process", "--open", "--max-sessions", "65"));
    expect_usage(WORDS("--provider", "process", "--open", "--protocol", "5"));
    expect_usage(WORDS("--provider", "process", "--open", "--protocol", "0"));
    expect_usage(WORDS("--provider", "process", "--open", "--node", "node"));
    expect_usage(WORDS("--provider", "process", "--open", "--unknown"));
    expect_usage(WORDS("--provider"));
}

/* The program itself: exit code 2 for the line, 5 for what it can't serve with. */
static int exit_of(const char *const *words, char *text, size_t size) {
    char program[1024];
    exec_built("localdaemon", program);
    const char *argv[MAX_WORDS + 2] = {program};
    for (size_t i = 0; words[i] != NULL; i++)
        argv[i + 1] = words[i];
    exec_end end;
    exec_run(NULL, argv, &end);
    int status = end.status;
    snprintf(text, size, "%s", end.err);
    exec_free(&end);
    return status;
}

Test(localdaemon_options, exit_codes, .timeout = 60) {
    char text[600];
    cr_assert_eq(exit_of(WORDS("--help"), text, sizeof text), 0);
    cr_assert_eq(exit_of(WORDS("--provider", "process"), text, sizeof text), 2);
    cr_assert_not_null(strstr(text, "--clients FILE"), "%s", text);
    cr_assert_eq(exit_of(WORDS("--provider", "process", "--clients", "/nonexistent/clients.json"), text, sizeof text),
                 5);
    cr_assert_not_null(strstr(text, "clients file"), "%s", text);
    cr_assert_eq(exit_of(WORDS("--provider", "process", "--check", "--node", "/bin/false"), text, sizeof text), 5);
    cr_assert_not_null(strstr(text, "does not run inside"), "%s", text);
}

/* ---- the listen address ---------------------------------------------------------------------------- */

static cs_result try_listen(const char *address, cs_error *err, char *url, size_t size) {
    int fd = -1;
    cs_result result = ld_http_bind(address, &fd, url, size, err);
    if (fd >= 0) close(fd);
    return result;
}

Test(localdaemon_listen, loopback_only) {
    static const char *const wrong[] = {
        "0.0.0.0:0", "192.0.2.1:0", "126.255.255.255:0", "128.0.0.1:0",  "[::]:0", "example.org:0",
        "127.0.0.1", "127.0.0.1:",  "127.0.0.1:65536",   "127.0.0.1:-1", ":0",     "127.0.0.1:0x10"};
    cs_error err = CS_ERROR_INIT;
    char url[96];
    EXPECT_OK(try_listen("127.0.0.1:0", &err, url, sizeof url), err);
    cr_assert_eq(strncmp(url, "http://127.0.0.1:", 17), 0);
    EXPECT_OK(try_listen("127.255.255.254:0", &err, url, sizeof url), err);
    EXPECT_OK(try_listen("localhost:0", &err, url, sizeof url), err);
    cr_assert_eq(strncmp(url, "http://127.0.0.1:", 17), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT_CODE(try_listen(wrong[i], &err, url, sizeof url), err, CS_USAGE, CS_CODE_USAGE);
}

Test(localdaemon_listen, a_port_is_taken_once) {
    cs_error err = CS_ERROR_INIT;
    char url[96], address[64];
    int fd = -1;
    EXPECT_OK(ld_http_bind("127.0.0.1:0", &fd, url, sizeof url, &err), err);
    snprintf(address, sizeof address, "127.0.0.1:%s", strrchr(url, ':') + 1);
    EXPECT_CODE(try_listen(address, &err, url, sizeof url), err, CS_UNCHECKED, CS_CODE_IO);
    close(fd);
    EXPECT_OK(try_listen(address, &err, url, sizeof url), err);
}

/* ---- the clients file ------------------------------------------------------------------------------ */

/* As sha256sum prints them for "alpha" and "beta". */
#define ALPHA "8ed3f6ad685b959ead7022518e1af76cd816f8e8ec7ccdda1ed4018e8f2223f8"
#define BETA "f44e64e75f3948e9f73f8dfa94721c4ce8cbb4f265c4790c702b2d41cfbf2753"

static cs_result load_clients(const char *text, ld_clients *out, cs_error *err) {
    char folder[128], path[160];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/clients.json", folder);
    file_write(path, text, strlen(text));
    cs_result result = ld_clients_load(path, out, err);
    folder_remove(folder);
    return result;
}

Test(localdaemon_clients, are_found_by_token) {
    ld_clients clients;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(load_clients("{\"clients\":[{\"id\":\"a\",\"token_sha256\":\"" ALPHA "\",\"scopes\":[\"code:run\"]},"
                           "{\"id\":\"b\",\"token_sha256\":\"" BETA "\",\"scopes\":[]}]}",
                           &clients, &err),
              err);
    const ld_client *a = ld_clients_find(&clients, cs_view_of("alpha"));
    const ld_client *b = ld_clients_find(&clients, cs_view_of("beta"));
    cr_assert(a != NULL && b != NULL);
    cr_assert_str_eq(a->id, "a");
    cr_assert_str_eq(b->id, "b");
    cr_assert(a->may_run && !b->may_run);
    cr_assert_null(ld_clients_find(&clients, cs_view_of("alphA")));
    cr_assert_null(ld_clients_find(&clients, cs_view_of(ALPHA)), "a hash is no token");
    cr_assert_null(ld_clients_find(&clients, cs_view_of("")));
    ld_clients_free(&clients);
}

Test(localdaemon_clients, malformed_files_are_refused) {
    static const char *const wrong[] = {
        "",
        "[]",
        "{\"clients\":[]}",
        "{\"clients\":{}}",
        "{\"clients\":[{\"id\":\"a\",\"token_sha256\":\"" ALPHA "\",\"scopes\":[]}],\"more\":1}",
        "{\"clients\":[{\"id\":\"a\",\"token_sha256\":\"" ALPHA "\",\"scopes\":[],\"more\":1}]}",
        "{\"clients\":[{\"id\":\"a\",\"id\":\"a\",\"token_sha256\":\"" ALPHA "\",\"scopes\":[]}]}",
        "{\"clients\":[{\"id\":\"a\",\"token_sha256\":\"" ALPHA "\"}]}",
        "{\"clients\":[{\"id\":\"\",\"token_sha256\":\"" ALPHA "\",\"scopes\":[]}]}",
        "{\"clients\":[{\"id\":\"a b\",\"token_sha256\":\"" ALPHA "\",\"scopes\":[]}]}",
        "{\"clients\":[{\"id\":\"a\",\"token_sha256\":\"8ED3\",\"scopes\":[]}]}",
        /* of an empty token */
        "{\"clients\":[{\"id\":\"a\",\"token_sha256\":\"e3b0c44298fc1c149afbf4c8996fb924"
        "27ae41e4649b934ca495991b7852b855\",\"scopes\":[]}]}",
        "{\"clients\":[{\"id\":\"a\",\"token_sha256\":\"" ALPHA "0\",\"scopes\":[]}]}",
        "{\"clients\":[{\"id\":\"a\",\"token_sha256\":\"" ALPHA "\",\"scopes\":[\"code:read\"]}]}",
        "{\"clients\":[{\"id\":\"a\",\"token_sha256\":\"" ALPHA "\",\"scopes\":\"code:run\"}]}",
        "{\"clients\":[{\"id\":\"a\",\"token_sha256\":\"" ALPHA
        "\",\"scopes\":[]},{\"id\":\"a\",\"token_sha256\":\"" BETA "\",\"scopes\":[]}]}",
        "{\"clients\":[{\"id\":\"a\",\"token_sha256\":\"" ALPHA
        "\",\"scopes\":[]},{\"id\":\"b\",\"token_sha256\":\"" ALPHA "\",\"scopes\":[]}]}",
        "{\"clients\":[{\"id\":\"a\",\"token_sha256\":\"" ALPHA "\",\"scopes\":[]}]} x",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ld_clients clients;
        cs_error err;
        EXPECT_CODE(load_clients(wrong[i], &clients, &err), err, CS_FAILED, CS_CODE_JSON_MALFORMED);
        cr_assert_null(clients.list);
    }
    ld_clients clients;
    cs_error err;
    EXPECT_CODE(ld_clients_load("/nonexistent/clients.json", &clients, &err), err, CS_UNCHECKED, CS_CODE_IO);
}

/* Whoever may write the file decides who may run code. The twin is the same file with another mode. */
Test(localdaemon_clients, a_file_that_others_may_write_is_refused) {
    static const char text[] = "{\"clients\":[{\"id\":\"a\",\"token_sha256\":\"" ALPHA "\",\"scopes\":[]}]}";
    char folder[128], path[160];
    ld_clients clients;
    cs_error err;
    folder_make(folder);
    snprintf(path, sizeof path, "%s/clients.json", folder);
    file_write(path, text, strlen(text));
    cr_assert_eq(chmod(path, 0644), 0);
    EXPECT_OK(ld_clients_load(path, &clients, &err), err);
    ld_clients_free(&clients);
    cr_assert_eq(chmod(path, 0664), 0);
    EXPECT_CODE(ld_clients_load(path, &clients, &err), err, CS_UNCHECKED, CS_CODE_IO);
    cr_expect_not_null(strstr(err.message, "chmod go-w"), "%s", err.message);
    EXPECT_CODE(ld_clients_load(folder, &clients, &err), err, CS_UNCHECKED, CS_CODE_IO);
    folder_remove(folder);
}

/* ---- work files ------------------------------------------------------------------------------------ */

static int open_folder(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert_geq(fd, 0);
    return fd;
}

static ld_work put(int folder, const char *path, const char *content) {
    return ld_work_write(folder, cs_view_of(path), cs_view_of(content), (uid_t)-1);
}

static ld_work get(int folder, const char *path, uid_t owner, size_t room, cs_buf *out) {
    cs_buf_clear(out);
    return ld_work_read(folder, cs_view_of(path), owner, room, out);
}

Test(localdaemon_work, files_stay_inside) {
    char folder[128], path[200];
    folder_make(folder);
    int fd = open_folder(folder);
    CS_AUTO_BUF out = CS_BUF_INIT(4096);
    cr_assert_eq(put(fd, "a/b/c", "content"), LD_WORK_DONE);
    cr_assert_eq(get(fd, "a/b/c", geteuid(), 7, &out), LD_WORK_DONE);
    cr_assert(cs_view_is(cs_buf_view(&out), "content"));
    cr_assert_eq(get(fd, "a/b/c", geteuid(), 6, &out), LD_WORK_LARGE);
    cr_assert_eq(get(fd, "a/b/c", geteuid() + 1, 7, &out), LD_WORK_UNFIT, "another owner");
    cr_assert_eq(get(fd, "a/b/d", geteuid(), 7, &out), LD_WORK_UNFIT);
    cr_assert_eq(get(fd, "a/b", geteuid(), 7, &out), LD_WORK_UNFIT);
    cr_assert_eq(get(fd, "a/../a/b/c", geteuid(), 7, &out), LD_WORK_DONE, "still beneath");
    cr_assert_eq(get(fd, "../../etc/hostname", geteuid(), 4096, &out), LD_WORK_UNFIT);
    cr_assert_eq(put(fd, "a/b/c", "again"), LD_WORK_UNFIT, "never over a file");
    cr_assert_eq(put(fd, "a/b/c/d", "below a file"), LD_WORK_UNFIT);
    /* Symbolic links, as the last part and on the way. */
    snprintf(path, sizeof path, "%s/link", folder);
    cr_assert_eq(symlink("a/b/c", path), 0);
    cr_assert_eq(get(fd, "link", geteuid(), 7, &out), LD_WORK_UNFIT);
    cr_assert_eq(put(fd, "link", "through"), LD_WORK_UNFIT);
    snprintf(path, sizeof path, "%s/way", folder);
    cr_assert_eq(symlink("a", path), 0);
    cr_assert_eq(get(fd, "way/b/c", geteuid(), 7, &out), LD_WORK_UNFIT);
    cr_assert_eq(put(fd, "way/new", "through"), LD_WORK_UNFIT);
    cr_assert_eq(get(fd, "a/b/c", geteuid(), 7, &out), LD_WORK_DONE);
    close(fd);
    folder_remove(folder);
}

static ld_work replace(int folder, const char *path, const char *content) {
    return ld_work_replace(folder, cs_view_of(path), cs_view_of(content), (uid_t)-1);
}

/* What stands there under the name goes, and what it leads to stays; a folder stays, and is in the way. */
Test(localdaemon_work, replacing_is_not_following) {
    char folder[128], path[200], other[200];
    folder_make(folder);
    int fd = open_folder(folder);
    CS_AUTO_BUF out = CS_BUF_INIT(4096);
    cr_assert_eq(put(fd, "target", "first"), LD_WORK_DONE);
    snprintf(path, sizeof path, "%s/link", folder);
    cr_assert_eq(symlink("target", path), 0);
    snprintf(path, sizeof path, "%s/target", folder);
    snprintf(other, sizeof other, "%s/hard", folder);
    cr_assert_eq(link(path, other), 0);
    snprintf(path, sizeof path, "%s/way", folder);
    cr_assert_eq(symlink(".", path), 0);
    cr_assert_eq(replace(fd, "link", "second"), LD_WORK_DONE);
    cr_assert_eq(replace(fd, "hard", "third"), LD_WORK_DONE);
    cr_assert_eq(get(fd, "target", geteuid(), 100, &out), LD_WORK_DONE);
    cr_assert(cs_view_is(cs_buf_view(&out), "first"));
    cr_assert_eq(get(fd, "link", geteuid(), 100, &out), LD_WORK_DONE, "no link any more");
    cr_assert(cs_view_is(cs_buf_view(&out), "second"));
    cr_assert_eq(replace(fd, "way/target", "through"), LD_WORK_UNFIT);
    cr_assert_eq(replace(fd, "target", "fourth"), LD_WORK_DONE);
    cr_assert_eq(replace(fd, "new/file", ""), LD_WORK_DONE);
    cr_assert_eq(replace(fd, "new", ""), LD_WORK_UNFIT, "a folder");
    close(fd);
    folder_remove(folder);
}

/* ---- removal --------------------------------------------------------------------------------------- */

Test(localdaemon_tree, removes_everything_and_follows_nothing) {
    char folder[128], path[200], outside[200];
    cs_error err = CS_ERROR_INIT;
    folder_make(folder);
    snprintf(path, sizeof path, "%s/tree", folder);
    snprintf(outside, sizeof outside, "%s/outside", folder);
    cr_assert_eq(mkdir(path, 0700), 0);
    file_write(outside, "stays", 5);
    int fd = open_folder(path);
    cr_assert_eq(put(fd, "a/b/c/d/e/f", "x"), LD_WORK_DONE);
    cr_assert_eq(put(fd, ".moved-0", "a name that the removal would choose"), LD_WORK_DONE);
    cr_assert_eq(symlinkat("../../outside", fd, "a/link"), 0);
    cr_assert_eq(symlinkat("..", fd, "up"), 0);
    cr_assert_eq(mkfifoat(fd, "fifo", 0600), 0);
    for (int i = 0; i < 300; i++) {
        char name[32];
        snprintf(name, sizeof name, "many/%d/file", i);
        cr_assert_eq(put(fd, name, "x"), LD_WORK_DONE);
    }
    cr_assert_eq(fchmodat(fd, "a/b/c", 0, 0), 0);
    cr_assert_eq(fchmodat(fd, "a/b", 0, 0), 0);
    close(fd);
    EXPECT_OK(ld_tree_remove(path, &err), err);
    cr_assert_neq(access(path, F_OK), 0);
    cr_assert_eq(access(outside, F_OK), 0);
    EXPECT_OK(ld_tree_remove(path, &err), err);
    /* A link in the place of the tree is not followed. */
    cr_assert_eq(mkdir(path, 0700), 0);
    snprintf(outside, sizeof outside, "%s/alias", folder);
    cr_assert_eq(symlink("tree", outside), 0);
    EXPECT_CODE(ld_tree_remove(outside, &err), err, CS_UNCHECKED, CS_CODE_IO);
    cr_assert_eq(access(path, F_OK), 0);
    folder_remove(folder);
}

/* ---- slots ----------------------------------------------------------------------------------------- */

static void take(ld_slots *slots, ld_slot *slot) {
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(ld_slot_take(slots, false, slot, &err), err);
    /* A range that nobody else is given: not people, not Debian, not systemd. */
    cr_assert(geteuid() != 0 ? slot->uid == geteuid()
                             : slot->uid == 2000000000 + 2 * slot->number || slot->uid == 50000 + 2 * slot->number);
    cr_assert_eq(access(slot->work, F_OK), 0);
}

static void put_back(ld_slots *slots, ld_slot *slot) {
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(ld_slot_return(slots, slot, &err), err);
    cr_assert_neq(access(slot->work, F_OK), 0);
}

Test(localdaemon_slots, are_never_shared) {
    ld_slots mine, other; /* as two daemons have them */
    ld_slot a, b, c;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(ld_slots_open(&mine, &err), err);
    EXPECT_OK(ld_slots_open(&other, &err), err);
    take(&mine, &a);
    take(&mine, &b);
    take(&other, &c);
    cr_assert(a.number != b.number && b.number != c.number && a.number != c.number);
    put_back(&mine, &a);
    put_back(&mine, &b);
    put_back(&other, &c);
    ld_slots_close(&mine);
    ld_slots_close(&other);
}

/* A process of `user` on the machine: the slot of that user is passed over, and the process goes on. */
static void pass_over(ld_slots *slots, uid_t user, unsigned number) {
    int ready[2];
    cr_assert_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (setresuid(user, user, user) != 0 || write(ready[1], "r", 1) != 1) _exit(1);
        pause();
        _exit(0);
    }
    char byte;
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    ld_slot slot;
    take(slots, &slot);
    cr_assert_neq(slot.number, number);
    cr_assert_eq(kill(pid, 0), 0, "and it was not killed");
    cr_assert_eq(waitpid(pid, NULL, WNOHANG), 0);
    put_back(slots, &slot);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}

Test(localdaemon_slots, users_with_processes_are_left_alone) {
    if (geteuid() != 0) cr_skip_test("SKIPPED: needs root, whose runs have users of their own");
    ld_slots slots;
    ld_slot first;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(ld_slots_open(&slots, &err), err);
    take(&slots, &first);
    put_back(&slots, &first);
    pass_over(&slots, first.uid, first.number);
    pass_over(&slots, first.killer, first.number);
    const unsigned number = first.number;
    take(&slots, &first); /* the twin: the same users without a process */
    cr_assert_eq(first.number, number);
    put_back(&slots, &first);
    ld_slots_close(&slots);
}

/* ---- the policy ------------------------------------------------------------------------------------ */

Test(localdaemon_policy, names_provider_guards_and_limits) {
    ld_sandbox sandbox = {.kind = LD_PROCESS,
                          .provider = &ld_provider_process,
                          .name = "process",
                          .tier = CS_TIER_PROCESS,
                          .guards = LD_GUARD_FILES | LD_GUARD_SOCKETS,
                          .landlock_abi = 3,
                          .limits = LD_LIMITS_SERVING};
    CS_AUTO_BUF text = CS_BUF_INIT(65536);
    cr_assert(ld_sandbox_policy(&sandbox, &text) && cs_buf_byte(&text, 0));
    static const char begins[] =
        "localdaemon policy 1\nprovider process\ntier process\nguard files\nguard sockets\nlandlock-abi 3\n"
        "process-data-bytes 1073741824\nfile-bytes 268435456\nopen-files 1024\nprocess-cpu-seconds 600\n"
        "default-run-ms 60000\nstream-bytes 262144\nartifact-bytes 8388608\nrefused socket clone:new-namespace";
    cr_assert_eq(strncmp((const char *)text.ptr, begins, sizeof begins - 1), 0, "%s", (const char *)text.ptr);
    cr_assert_not_null(strstr((const char *)text.ptr, " keyctl "));
    CS_AUTO_BUF other = CS_BUF_INIT(65536);
    sandbox.guards &= ~(uint32_t)LD_GUARD_FILES;
    cr_assert(ld_sandbox_policy(&sandbox, &other) && cs_buf_byte(&other, 0));
    cr_assert_not(cs_view_equal(cs_buf_view(&text), cs_buf_view(&other)));
}
