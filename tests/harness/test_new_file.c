/* A file that is made beside its place: what stands where at every step, and what is left when one fails. */
#include "harness/new_file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "records/text.h"
#include "tests/support/folder.h"
#include "tests/support/forge.h"

static char where[128];
static int folder = -1;

static void set_up(void) {
    folder_make(where);
    folder = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert_geq(folder, 0);
    (void)umask(022);
}

static void tear_down(void) {
    (void)close(folder);
    folder_remove(where);
}

TestSuite(new_file, .init = set_up, .fini = tear_down);

static const char *inside(const char *name) {
    return forge_text("%s/%s", where, name);
}

static void expect_text(const char *name, const char *want) {
    size_t len = 0;
    char *bytes = file_read(inside(name), &len);
    cr_assert_not_null(bytes, "%s", name);
    cr_expect_str_eq(bytes, want, "%s", name);
    free(bytes);
}

static cs_new_file made(const char *text) {
    cs_new_file file = CS_NEW_FILE_INIT;
    cr_assert(cs_new_file_make(folder, "test", 0600, &file));
    cr_assert(cs_write_all(file.fd, cs_view_of(text)));
    return file;
}

/* ---- a file ------------------------------------------------------------------------------------------ */

Test(new_file, stands_beside_until_it_is_placed) {
    cs_new_file file = made("new");
    size_t len = strlen(".countersign-test-");
    cr_assert_eq(strncmp(file.temporary, ".countersign-test-", len), 0, "%s", file.temporary);
    cr_expect(cs_is_hex(cs_view_bytes((const uint8_t *)file.temporary + len, 16), 16));
    cr_expect_str_eq(file.temporary + len + 16, ".tmp");
    expect_text(file.temporary, "new");
    cr_expect_eq(folder_count(where), 1);
    cr_expect(cs_new_file_place(&file, "it", false));
    cr_expect_eq(folder_count(where), 1);
    expect_text("it", "new");
    cr_expect(cs_new_file_end(&file));
    cr_expect(cs_new_file_end(&file));
    expect_text("it", "new");
}

Test(new_file, is_gone_when_it_was_not_placed) {
    cs_new_file file = made("new");
    errno = EXDEV;
    cr_expect(cs_new_file_end(&file));
    cr_expect_eq(errno, EXDEV, "what went wrong before is still told");
    cr_expect_eq(file.fd, -1);
    cr_expect_eq(folder_count(where), 0);
    cs_new_file none = CS_NEW_FILE_INIT;
    cr_expect(cs_new_file_end(&none));
}

Test(new_file, two_are_two) {
    cs_new_file one = made("1");
    cs_new_file two = made("2");
    cr_expect_str_neq(one.temporary, two.temporary);
    cr_expect_eq(folder_count(where), 2);
    (void)cs_new_file_end(&one);
    expect_text(two.temporary, "2");
    (void)cs_new_file_end(&two);
}

/* The twins differ in `replace` alone. */
static void expect_taken(const char *name) {
    cs_new_file file = made("new");
    errno = 0;
    cr_expect_not(cs_new_file_place(&file, name, false), "%s", name);
    cr_expect_eq(errno, EEXIST, "%s: %s", name, strerror(errno));
    expect_text(file.temporary, "new");
    cr_expect(cs_new_file_place(&file, name, true), "%s", name);
    (void)cs_new_file_end(&file);
    expect_text(name, "new");
    cr_expect_eq(folder_count(where), 1);
    cr_assert_eq(unlink(inside(name)), 0);
}

static void put_a_file(void) {
    file_write(inside("it"), "old", 3);
}

static void put_a_link(void) {
    cr_assert_eq(symlink("/nowhere", inside("it")), 0);
}

Test(new_file, takes_no_place_unless_it_is_to_replace) {
    put_a_file();
    expect_taken("it");
    put_a_link();
    expect_taken("it");
}

Test(new_file, no_folder_is_replaced) {
    cr_assert_eq(mkdir(inside("it"), 0700), 0);
    cs_new_file file = made("new");
    cr_expect_not(cs_new_file_place(&file, "it", true));
    cr_expect_eq(errno, EISDIR);
    cr_expect(cs_new_file_place(&file, "other", true));
    (void)cs_new_file_end(&file);
    cr_expect_eq(folder_count(where), 2);
    cr_assert_eq(rmdir(inside("it")), 0);
}

Test(new_file, has_the_mode_less_the_umask) {
    struct stat info;
    cs_new_file file = CS_NEW_FILE_INIT;
    cr_assert(cs_new_file_make(folder, "test", 0666, &file));
    cr_assert_eq(fstat(file.fd, &info), 0);
    cr_expect_eq(info.st_mode & 07777, 0644);
    (void)cs_new_file_end(&file);
}

Test(new_file, a_word_that_does_not_fit) {
    cs_new_file file = CS_NEW_FILE_INIT;
    cr_expect(cs_new_file_make(folder, "a-word-of-twenty-nine-letters", 0600, &file));
    (void)cs_new_file_end(&file);
    cr_expect_not(cs_new_file_make(folder, "a-word-of-twenty-nine-letters1", 0600, &file));
    cr_expect_eq(errno, ENAMETOOLONG);
    cr_expect_eq(file.fd, -1);
    cr_expect(cs_new_file_end(&file));
    cr_expect_eq(folder_count(where), 0);
}

/* A file system, or a container, without a renaming that takes no file's place: the name is linked instead. */
static int place_without_renameat2(void) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    bool set =
        filter != NULL &&
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(renameat2), 1, SCMP_A4(SCMP_CMP_NE, 0, 0)) == 0 &&
        seccomp_load(filter) == 0;
    seccomp_release(filter);
    if (!set || renameat2(folder, "it", folder, "other", RENAME_NOREPLACE) == 0 || errno != EINVAL) return 1;
    cs_new_file file = CS_NEW_FILE_INIT;
    bool good = cs_new_file_make(folder, "test", 0600, &file) && cs_write_all(file.fd, cs_view_of("new"));
    errno = 0;
    if (!good || cs_new_file_place(&file, "it", false) || errno != EEXIST) return 2;
    good = cs_new_file_place(&file, "other", false);
    return cs_new_file_end(&file) && good ? 0 : 3;
}

Test(new_file, a_system_without_renameat2) {
    put_a_file();
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) _exit(place_without_renameat2());
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_expect_eq(folder_count(where), 2);
    expect_text("it", "old");
    expect_text("other", "new");
}

Test(new_file, a_folder_that_may_not_be_written) {
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        become_nobody();
        cs_new_file file = CS_NEW_FILE_INIT;
        bool good = cs_new_file_make(folder, "test", 0600, &file);
        _exit(!good && errno == EACCES && cs_new_file_end(&file) ? 0 : 1);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_expect_eq(folder_count(where), 0);
}

/* ---- its bytes, and its folder ----------------------------------------------------------------------- */

static void expect_written(size_t most, bool good, size_t stands) {
    static const uint8_t bytes[5000];
    struct rlimit before;
    struct stat info;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = most, .rlim_max = before.rlim_max};
    cs_new_file file = made("");
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    errno = 0;
    bool written = cs_write_all(file.fd, cs_view_bytes(bytes, sizeof bytes));
    int why = errno;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    cr_expect_eq(written, good);
    cr_expect_eq(why, good ? 0 : EFBIG);
    cr_assert_eq(fstat(file.fd, &info), 0);
    cr_expect_eq((size_t)info.st_size, stands);
    (void)cs_new_file_end(&file);
}

Test(new_file, all_of_it_is_written_or_it_says_why_not) {
    (void)signal(SIGXFSZ, SIG_IGN);
    expect_written(5000, true, 5000);
    expect_written(4999, false, 4999);
}

/* A pipe takes no more than its room at once: the rest goes in when there is room again. */
Test(new_file, in_as_many_writes_as_it_takes) {
    static uint8_t bytes[300000];
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        (void)close(ends[0]);
        memset(bytes, 'x', sizeof bytes);
        _exit(cs_write_all(ends[1], cs_view_bytes(bytes, sizeof bytes)) ? 0 : 1);
    }
    (void)close(ends[1]);
    size_t all = 0;
    for (ssize_t got = 1; got > 0; all += (size_t)got)
        got = read(ends[0], bytes, sizeof bytes);
    (void)close(ends[0]);
    cr_expect_eq(all, sizeof bytes);
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
}

/* Is the folder of `path` the one of this test, and the last part this? */
static void expect_folder(const char *path, const char *last) {
    struct stat found;
    struct stat wanted;
    const char *name = NULL;
    int fd = cs_folder_of(path, O_RDONLY, &name);
    cr_assert_geq(fd, 0, "%s", path);
    cr_assert(fstat(fd, &found) == 0 && fstat(folder, &wanted) == 0);
    cr_expect(found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino, "%s", path);
    cr_expect_str_eq(name, last);
    cr_expect(cs_folder_sync(fd));
    (void)close(fd);
}

Test(new_file, the_folder_of_a_path) {
    expect_folder(inside("it"), "it");
    expect_folder(inside(""), "");
    cr_assert_eq(chdir(where), 0);
    expect_folder("it", "it");
    expect_folder("./it", "it");
    expect_folder("", "");
    cr_assert_eq(chdir("/"), 0);
    const char *name = NULL;
    cr_expect_eq(cs_folder_of(inside("no/it"), O_RDONLY, &name), -1);
    cr_expect_eq(errno, ENOENT);
    cr_expect_str_eq(name, "it");
    file_write(inside("file"), "", 0);
    cr_expect_eq(cs_folder_of(inside("file/it"), O_RDONLY, &name), -1);
    cr_expect_eq(errno, ENOTDIR);
}

/* "/" again and again leads to the root, of whatever length: 4095 bytes are a folder's path, and 4096 are too many. */
Test(new_file, a_path_of_every_length) {
    static char path[4096 + 3];
    const char *name = NULL;
    memset(path, '/', 4095);
    memcpy(path + 4095, "it", 3);
    int fd = cs_folder_of(path, O_RDONLY, &name);
    cr_assert_geq(fd, 0, "%s", strerror(errno));
    cr_expect_str_eq(name, "it");
    (void)close(fd);
    memset(path, '/', 4096);
    memcpy(path + 4096, "it", 3);
    cr_expect_eq(cs_folder_of(path, O_RDONLY, &name), -1);
    cr_expect_eq(errno, ENAMETOOLONG);
    cr_expect_str_eq(name, "it");
}

/* One that may be written and not read takes files all the same; it can't be synced. */
Test(new_file, a_folder_that_can_not_be_read) {
    cr_assert_eq(chmod(where, 0733), 0);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        become_nobody();
        const char *name = NULL;
        cs_new_file file = CS_NEW_FILE_INIT;
        if (cs_folder_of(inside("it"), O_RDONLY, &name) != -1 || errno != EACCES) _exit(1);
        int at = cs_folder_of(inside("it"), O_PATH, &name);
        if (at < 0 || !cs_new_file_make(at, "test", 0600, &file) || !cs_new_file_place(&file, name, true)) _exit(2);
        if (!cs_new_file_end(&file) || cs_folder_sync(at)) _exit(3);
        _exit(0);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_assert_eq(chmod(where, 0755), 0);
    cr_expect_eq(folder_count(where), 1);
    expect_text("it", "");
}
