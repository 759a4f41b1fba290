#include "tests/support/program.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_FOUND 127

static void run_child(const char *const argv[], int to) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(to, 1) < 0 || dup2(null, 2) < 0) _exit(NOT_FOUND);
    /* execvp does not change its arguments; its type is older than const. */
    union {
        const char *const *from;
        char *const *to;
    } arguments = {.from = argv};
    execvp(argv[0], arguments.to);
    _exit(NOT_FOUND);
}

static void take_output(int from, char *out, size_t size) {
    char chunk[4096];
    size_t len = 0;
    ssize_t got = 0;
    while ((got = read(from, chunk, sizeof chunk)) > 0)
        for (ssize_t i = 0; i < got; i++)
            if (out != NULL && len + 1 < size) out[len++] = chunk[i];
    if (out != NULL && size > 0) out[len] = '\0';
}

int program_run(const char *const argv[], char *out, size_t size) {
    int ends[2];
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) run_child(argv, ends[1]);
    close(ends[1]);
    take_output(ends[0], out, size);
    close(ends[0]);
    int status = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND) {
        cr_assert(getenv("CI") == NULL && getenv("COUNTERSIGN_REQUIRE_ALL") == NULL, "%s is not installed", argv[0]);
        cr_skip_test("the program %s is not installed", argv[0]);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
