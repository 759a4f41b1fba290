/* A signal while a gate reads its input: it ends by that signal, with no verdict, and no file is there or half there.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/cli/gate_forged.h"

#define ATTEMPTS 6000 /* of 10 ms: as long as exec_wait would wait */
#define MORE_THAN_A_PIPE_HOLDS ((size_t)1 << 20)

/* Whoever runs the tests may have some ignored. */
static bool hears_all(void) {
    return signal(SIGINT, SIG_DFL) != SIG_ERR && signal(SIGTERM, SIG_DFL) != SIG_ERR &&
           signal(SIGHUP, SIG_DFL) != SIG_ERR;
}

static const char *const reports[] = {"j.xml", "s.json", "q.json"};
#define REPORTS (sizeof reports / sizeof reports[0])

/* Start it with a pipe for its input, and wait until it has opened that. Gives the pipe's other end. With `earlier`,
 * reports of another gate stand in the places of its own. */
static int begin(gate_forged *f, bool earlier, exec_beside *beside) {
    char program[1024];
    gate_forged_begin(f);
    gate_forged_write(f);
    cli_keys(&f->c);
    for (size_t i = 0; earlier && i < REPORTS; i++)
        cli_write_text(&f->c, reports[i], "passed");
    exec_built("countersign", program);
    const char *pipe_path = forge_text("%s/pipe.jsonl", f->c.folder);
    cr_assert_eq(mkfifo(pipe_path, 0600), 0);
    f->c.how.before = hears_all;
    exec_begin(&f->c.how, (const char *const[]){program,      "gate",   "--policy",      "policy.json", "--repo",
                                                f->repo,      "--rev",  "main",          "--junit",     "j.xml",
                                                "--sarif",    "s.json", "--codequality", "q.json",      "--attest",
                                                "a.jsonl",    "-l",     "kept.db",       "-k",          "k.key",
                                                "pipe.jsonl", NULL},
               beside);
    f->c.how.before = NULL;
    int fd = -1;
    for (unsigned i = 0; fd < 0 && i < ATTEMPTS; i++) {
        fd = open(pipe_path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0) cr_assert_eq(errno, ENXIO);
        if (fd < 0) (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    cr_assert_geq(fd, 0, "it did not open its input");
    cr_assert_eq(fcntl(fd, F_SETFL, 0), 0);
    cr_assert_neq(signal(SIGPIPE, SIG_IGN), SIG_ERR);
    return fd;
}

static void put(int fd, const char *bytes, size_t len) {
    while (len > 0) {
        ssize_t done = write(fd, bytes, len);
        cr_assert_gt(done, 0);
        bytes += done;
        len -= (size_t)done;
    }
}

/* More of one line than fits into the pipe: when all is written, it has taken some. */
static void put_half_a_line(int fd) {
    static char much[MORE_THAN_A_PIPE_HOLDS];
    memset(much, 'A', sizeof much);
    put(fd, "{\"request\":\"", 12);
    put(fd, much, sizeof much);
}

static bool has_file(const gate_forged *f, const char *name) {
    return access(forge_text("%s/%s", f->c.folder, name), F_OK) == 0;
}

/* What stood in the folder before is all that is there: no file beside the place of another, either. */
static void expect_nothing_new(const gate_forged *f) {
    static const char *const known[] = {".",     "..",          "forged.pub", "k.key",
                                        "k.pub", "policy.json", "runs.jsonl", "pipe.jsonl"};
    DIR *folder = opendir(f->c.folder);
    cr_assert_not_null(folder);
    for (const struct dirent *file = readdir(folder); file != NULL; file = readdir(folder)) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            is_known = is_known || strcmp(file->d_name, known[i]) == 0;
        cr_expect(is_known, "%s", file->d_name);
    }
    closedir(folder);
}

Test(gate_interrupted, each_signal_leaves_no_file) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < 2 * sizeof signals / sizeof signals[0]; i++) {
        gate_forged f;
        exec_beside beside;
        exec_end end;
        int fd = begin(&f, i % 2 != 0, &beside); /* a report of an earlier gate does not stay either */
        put_half_a_line(fd);
        cr_assert_eq(kill(beside.pid, signals[i / 2]), 0);
        exec_wait(&beside, &end);
        cr_expect_eq(end.status, EXEC_SIGNALLED, "%d: %s%s", end.status, end.out, end.err);
        EXPECT_HAS_NOT(end.out, "gate: ");
        expect_nothing_new(&f);
        exec_free(&end);
        close(fd);
        gate_forged_end(&f);
    }
}

/* The same without a signal: each of the files is there. */
Test(gate_interrupted, without_a_signal_all_is_written) {
    static const char *const files[] = {"j.xml", "s.json", "q.json", "a.jsonl", "kept.db"};
    gate_forged f;
    exec_beside beside;
    exec_end end;
    size_t len = 0;
    int fd = begin(&f, false, &beside);
    char *runs = file_read(forge_text("%s/runs.jsonl", f.c.folder), &len);
    cr_assert_not_null(runs);
    put(fd, runs, len);
    free(runs);
    close(fd);
    exec_wait(&beside, &end);
    cr_expect_eq(end.status, 0, "%d: %s%s", end.status, end.out, end.err);
    EXPECT_HAS(end.out, "gate: passed: ");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        cr_expect(has_file(&f, files[i]), "%s", files[i]);
    exec_free(&end);
    gate_forged_end(&f);
}

/* A command line that is refused judges nothing, and takes nothing away. */
Test(gate_interrupted, a_wrong_line_leaves_what_is_there) {
    gate_forged f;
    gate_forged_begin(&f);
    gate_forged_write(&f);
    cli_write_text(&f.c, "j.xml", "passed");
    EXPECT_EXIT(
        &f.c,
        cli_run(&f.c, (const char *const[]){"gate", "--policy", "policy.json", "--repo", f.repo, "--rev", "main",
                                            "--junit", "j.xml", "--sarif", "j.xml", "runs.jsonl", NULL}),
        2);
    cr_expect(has_file(&f, "j.xml"));
    gate_forged_end(&f);
}
