/* The file of baselines: its exact form, and that nothing goes wrong halfway. */
#include "tests/harness/baseline_case.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/expect.h"
#include "tests/support/folder.h"
#include "tests/support/forge.h"

#define STATE_OF(policy)                                                                                               \
    "{\"state\":{\n\"daemon\":\"x\",\n\"provider\":\"x\",\n\"policy\":\"" policy "\",\n\"environment\":\"x\",\n"       \
    "\"daemon-start\":\"x\",\n\"host-boot\":\"x\",\n\"depth\":\"x\"},\n\"keys\":{\n"
#define HEAD "{\"format\":\"countersign.tier-baseline.v1\",\"baselines\":[\n"
#define TAIL "]}\n"
#define STATE STATE_OF("p")
#define GOOD HEAD STATE "\"a\":\"1\",\n\"b.c-d_9\":\"\"}}" TAIL

/* ---- the form ------------------------------------------------------------------------------------------------- */

static cs_result parse(const char *text, cs_error *err) {
    cs_baseline_list list;
    *err = CS_ERROR_INIT;
    cs_result result = cs_baseline_parse(cs_view_of(text), &list, err);
    if (result != CS_OK) cr_expect_null(list.items);
    cs_baseline_list_free(&list);
    return result;
}

static void expect_good(const char *text) {
    cs_error err;
    cs_result result = parse(text, &err);
    cr_expect_eq(result, CS_OK, "%s: %s", err.message, text);
}

static void expect_bad(const char *text, const char *why) {
    cs_error err;
    cs_result result = parse(text, &err);
    cr_expect_eq(result, CS_UNCHECKED, "%s", text);
    cr_expect_eq(err.code, CS_CODE_BASELINE_FORM, "%s", cs_code_name(err.code));
    cr_expect_not_null(strstr(err.message, why), "%s, not '%s': %s", err.message, why, text);
}

Test(baseline_form, each_single_thing_that_is_wrong_is_refused) {
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "it is empty"},
        {"[]\n", "other members"},
        {"{\"format\":\"countersign.tier-baseline.v1\",\"baselines\":[]}\n", "holds no baselines"},
        {"{\"format\":\"countersign.tier-baseline.v2\",\"baselines\":[\n" STATE "\"a\":\"1\"}}" TAIL, "\"format\""},
        {"{\"format\":1,\"baselines\":[\n" STATE "\"a\":\"1\"}}" TAIL, "\"format\""},
        {"{\"format\":\"countersign.tier-baseline.v1\",\"baselines\":{}}\n", "holds no baselines"},
        {"{\"baselines\":[\n" STATE "\"a\":\"1\"}}" TAIL, "other members"},
        {HEAD STATE "\"a\":\"1\"}}],\"more\":1}\n", "other members"},
        {HEAD STATE "\"a\":\"1\"},\"more\":1}" TAIL, "other members than \"state\""},
        {HEAD "{\"state\":{\n\"daemon\":\"x\"},\n\"keys\":{\n\"a\":\"1\"}}" TAIL, "more or fewer members"},
        {HEAD "{\"state\":{\n\"daemon\":\"x\",\n\"provider\":\"x\",\n\"policy\":\"p\",\n\"environment\":\"x\",\n"
              "\"daemon-start\":\"x\",\n\"host-boot\":\"x\",\n\"other\":\"x\"},\n\"keys\":{\n\"a\":\"1\"}}" TAIL,
         "a member of a state"},
        {HEAD "{\"state\":{\n\"daemon\":7,\n\"provider\":\"x\",\n\"policy\":\"p\",\n\"environment\":\"x\",\n"
              "\"daemon-start\":\"x\",\n\"host-boot\":\"x\",\n\"depth\":\"x\"},\n\"keys\":{\n\"a\":\"1\"}}" TAIL,
         "a member of a state"},
        {HEAD "{\"state\":{\n\"provider\":\"x\",\n\"daemon\":\"x\",\n\"policy\":\"p\",\n\"environment\":\"x\",\n"
              "\"daemon-start\":\"x\",\n\"host-boot\":\"x\",\n\"depth\":\"x\"},\n\"keys\":{\n\"a\":\"1\"}}" TAIL,
         "exact form: line 3"},
        {HEAD STATE "\"a\":\"1\",\n\"a\":\"1\"}}" TAIL, "there twice"},
        {HEAD STATE "\"b\":\"1\",\n\"a\":\"1\"}}" TAIL, "not in their order"},
        {HEAD STATE "\"A\":\"1\"}}" TAIL, "a key is empty"},
        {HEAD STATE "\"\":\"1\"}}" TAIL, "a key is empty"},
        {HEAD STATE "\"a b\":\"1\"}}" TAIL, "a key is empty"},
        {HEAD STATE "\"a\":1}}" TAIL, "value of a key"},
        {HEAD STATE "\"a\":null}}" TAIL, "value of a key"},
        {HEAD STATE "\"a\":\"\\u0000\"}}" TAIL, "no JSON"},
        {HEAD STATE "\"a\":\"\xff\"}}" TAIL, "no JSON"},
        {HEAD STATE "\"a\":\"<\"}}" TAIL, "exact form: line 11"},
        {HEAD STATE "\"a\":\"\\u0031\"}}" TAIL, "exact form: line 11"},
        {HEAD STATE "\"a\": \"1\"}}" TAIL, "exact form: line 11"},
        {HEAD STATE "\"a\":\"1\"}}]}", "exact form"},
        {HEAD STATE "\"a\":\"1\"}}]}\n\n", "exact form"},
        {HEAD STATE "\"a\":\"1\"}}]}\n{}", "no JSON"},
        {HEAD STATE "\"a\":\"1\"}},\n" STATE "\"a\":\"2\"}}" TAIL, "the same state"},
        {HEAD STATE "\"a\":\"1\"}},\n" STATE_OF("o") "\"a\":\"1\"}}" TAIL, "the same state"},
        {HEAD STATE "\"a\":\"1\"}},\n7" TAIL, "other members than \"state\""},
    };
    expect_good(GOOD);
    expect_good(HEAD STATE "\"a\":\"\\u003c\"}}" TAIL);
    expect_good(HEAD STATE "\"a\":\"1\"}},\n" STATE_OF("q") "\"a\":\"1\"}}" TAIL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_bad(bad[i].text, bad[i].why);
}

static const char *repeat(char letter, size_t count) {
    char *text = malloc(count + 1);
    cr_assert_not_null(text);
    memset(text, letter, count);
    text[count] = '\0';
    return text;
}

Test(baseline_form, bounds_are_exact) {
    const char *const key = repeat('k', CS_BASELINE_KEY - 1);
    const char *const value = repeat('v', CS_BASELINE_VALUE - 1);
    expect_good(forge_text(HEAD STATE "\"%s\":\"1\"}}" TAIL, key));
    expect_bad(forge_text(HEAD STATE "\"%sk\":\"1\"}}" TAIL, key), "a key is empty, too long");
    expect_good(forge_text(HEAD STATE "\"a\":\"%s\"}}" TAIL, value));
    expect_bad(forge_text(HEAD STATE "\"a\":\"%sv\"}}" TAIL, value), "value of a key");
    free((void *)(uintptr_t)key);
    free((void *)(uintptr_t)value);
}

static void put_keys(cs_buf *out, size_t count) {
    cr_assert(cs_buf_text(out, HEAD STATE));
    for (size_t i = 0; i < count; i++)
        cr_assert(cs_buf_printf(out, "%s\"k%04zu\":\"\"", i > 0 ? ",\n" : "", i));
    cr_assert(cs_buf_text(out, "}}" TAIL) && cs_buf_byte(out, '\0'));
}

Test(baseline_form, keys_are_counted) {
    cs_buf text = CS_BUF_INIT(CS_BASELINE_MAX_BYTES);
    put_keys(&text, CS_BASELINE_MAX_KEYS);
    expect_good((const char *)text.ptr);
    cs_buf_clear(&text);
    put_keys(&text, CS_BASELINE_MAX_KEYS + 1);
    expect_bad((const char *)text.ptr, "too many keys");
    cs_buf_free(&text);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static void expect_file(const baseline_case *c, const char *want) {
    size_t len = 0;
    char *bytes = file_read(c->path, &len);
    cr_assert_not_null(bytes);
    cr_expect_eq(len, strlen(want));
    cr_expect_str_eq(bytes, want);
    free(bytes);
}

static void write_good(const baseline_case *c) {
    file_write(c->path, GOOD, strlen(GOOD));
}

static void expect_add(const baseline_case *c, cs_baseline_file *file, cs_result result, cs_code code) {
    (void)c;
    cs_error err = CS_ERROR_INIT;
    cs_baseline now;
    baseline_small("q", PAIRS("a", "1"), &now);
    cs_result found = cs_baseline_add(file, &now, &err);
    cr_expect_eq(found, result, "%s", err.message);
    if (result != CS_OK) cr_expect_eq(err.code, code, "%s", cs_code_name(err.code));
    cs_baseline_free(&now);
}

#define ADDED HEAD STATE "\"a\":\"1\",\n\"b.c-d_9\":\"\"}},\n" STATE_OF("q") "\"a\":\"1\"}}" TAIL

static mode_t mode_of(const char *path) {
    struct stat info;
    cr_assert_eq(stat(path, &info), 0);
    return info.st_mode & 07777;
}

Test(baseline_file, a_new_one_has_its_mode_and_an_old_one_keeps_its) {
    baseline_case c;
    cs_baseline_file *file = NULL;
    cs_error err = CS_ERROR_INIT;
    baseline_begin(&c);
    (void)umask(077);
    EXPECT_CODE(cs_baseline_open(c.path, false, &file, &err), err, CS_UNCHECKED, CS_CODE_IO);
    EXPECT_OK(cs_baseline_open(c.path, true, &file, &err), err);
    cr_expect_eq(folder_count(c.folder), 0);
    expect_add(&c, file, CS_OK, CS_CODE_OK);
    cs_baseline_close(file);
    cr_expect_eq(mode_of(c.path), 0644);
    write_good(&c);
    cr_assert_eq(chmod(c.path, 0640), 0);
    EXPECT_OK(cs_baseline_open(c.path, true, &file, &err), err);
    expect_add(&c, file, CS_OK, CS_CODE_OK);
    cs_baseline_close(file);
    cr_expect_eq(mode_of(c.path), 0640);
    expect_file(&c, ADDED);
    cr_expect_eq(folder_count(c.folder), 1);
    baseline_end(&c);
}

Test(baseline_file, a_link_is_followed_and_stays) {
    baseline_case c;
    cs_baseline_file *file = NULL;
    cs_error err = CS_ERROR_INIT;
    struct stat info;
    baseline_begin(&c);
    write_good(&c);
    const char *folder = forge_text("%s/in", c.folder);
    const char *path = forge_text("%s/in/link", c.folder);
    cr_assert_eq(mkdir(folder, 0700), 0);
    cr_assert_eq(symlink("../base.json", path), 0);
    EXPECT_OK(cs_baseline_open(path, true, &file, &err), err);
    expect_add(&c, file, CS_OK, CS_CODE_OK);
    cs_baseline_close(file);
    expect_file(&c, ADDED);
    cr_assert_eq(lstat(path, &info), 0);
    cr_expect(S_ISLNK(info.st_mode));
    cr_expect_eq(folder_count(folder), 1);
    /* One that leads nowhere is not made anew in its place. */
    cr_assert_eq(unlink(c.path), 0);
    EXPECT_OK(cs_baseline_open(path, true, &file, &err), err);
    expect_add(&c, file, CS_UNCHECKED, CS_CODE_IO);
    cs_baseline_close(file);
    cr_assert_eq(lstat(path, &info), 0);
    cr_expect(S_ISLNK(info.st_mode));
    cr_expect_eq(folder_count(folder), 1);
    baseline_end(&c);
}

Test(baseline_file, what_is_no_file_is_refused_at_once) {
    baseline_case c;
    cs_baseline_file *file = NULL;
    cs_error err = CS_ERROR_INIT;
    baseline_begin(&c);
    const char *pipe = forge_text("%s/pipe", c.folder);
    cr_assert_eq(mkfifo(pipe, 0600), 0);
    EXPECT_CODE(cs_baseline_open(pipe, true, &file, &err), err, CS_UNCHECKED, CS_CODE_IO);
    EXPECT_CODE(cs_baseline_open(c.folder, true, &file, &err), err, CS_UNCHECKED, CS_CODE_IO);
    EXPECT_CODE(cs_baseline_open(forge_text("%s/no/file", c.folder), true, &file, &err), err, CS_UNCHECKED, CS_CODE_IO);
    EXPECT_CODE(cs_baseline_open(forge_text("%s/no/", c.folder), true, &file, &err), err, CS_UNCHECKED, CS_CODE_IO);
    EXPECT_CODE(cs_baseline_open("", true, &file, &err), err, CS_UNCHECKED, CS_CODE_IO);
    cr_expect_null(file);
    const char *long_one = repeat(' ', CS_BASELINE_MAX_BYTES + 1);
    file_write(c.path, long_one, CS_BASELINE_MAX_BYTES + 1);
    free((void *)(uintptr_t)long_one);
    EXPECT_CODE(cs_baseline_open(c.path, true, &file, &err), err, CS_UNCHECKED, CS_CODE_BASELINE_FORM);
    cr_expect_not_null(strstr(err.message, "longer than"), "%s", err.message);
    baseline_end(&c);
}

/* Between reading and writing someone else came: his file is not lost. */
Test(baseline_file, what_changed_meanwhile_is_not_overwritten) {
    baseline_case c;
    cs_baseline_file *file = NULL;
    cs_error err = CS_ERROR_INIT;
    baseline_begin(&c);
    EXPECT_OK(cs_baseline_open(c.path, true, &file, &err), err);
    write_good(&c);
    expect_add(&c, file, CS_UNCHECKED, CS_CODE_IO);
    expect_file(&c, GOOD);
    cs_baseline_close(file);
    /* In place, of the same length. */
    EXPECT_OK(cs_baseline_open(c.path, true, &file, &err), err);
    const char *other = HEAD STATE "\"a\":\"2\",\n\"b.c-d_9\":\"\"}}" TAIL;
    file_write(c.path, other, strlen(other));
    expect_add(&c, file, CS_UNCHECKED, CS_CODE_IO);
    expect_file(&c, other);
    cs_baseline_close(file);
    /* Another file of the same bytes. */
    EXPECT_OK(cs_baseline_open(c.path, true, &file, &err), err);
    cr_assert_eq(unlink(c.path), 0);
    file_write(c.path, other, strlen(other));
    expect_add(&c, file, CS_UNCHECKED, CS_CODE_IO);
    cs_baseline_close(file);
    cr_expect_eq(folder_count(c.folder), 1);
    /* And unchanged it is written. */
    write_good(&c);
    EXPECT_OK(cs_baseline_open(c.path, true, &file, &err), err);
    expect_add(&c, file, CS_OK, CS_CODE_OK);
    expect_file(&c, ADDED);
    cs_baseline_close(file);
    baseline_end(&c);
}

Test(baseline_file, one_writer_at_a_time) {
    baseline_case c;
    cs_baseline_file *file = NULL;
    cs_error err = CS_ERROR_INIT;
    baseline_begin(&c);
    write_good(&c);
    EXPECT_OK(cs_baseline_open(c.path, true, &file, &err), err);
    int other = open(c.path, O_RDONLY | O_CLOEXEC);
    cr_assert_eq(flock(other, LOCK_EX | LOCK_NB), 0);
    expect_add(&c, file, CS_UNCHECKED, CS_CODE_IO);
    expect_file(&c, GOOD);
    cr_assert_eq(close(other), 0);
    expect_add(&c, file, CS_OK, CS_CODE_OK);
    expect_file(&c, ADDED);
    cs_baseline_close(file);
    baseline_end(&c);
}

/* What a writer that was killed left behind is in nobody's way. */
Test(baseline_file, a_temporary_file_of_another_writer_stays) {
    baseline_case c;
    baseline_begin(&c);
    file_write(forge_text("%s/.countersign-baseline-0123456789abcdef.tmp", c.folder), "half", 4);
    cs_baseline now;
    baseline_small("q", PAIRS("a", "1"), &now);
    baseline_save(&c, &now);
    cr_expect_eq(folder_count(c.folder), 2);
    cs_baseline_free(&now);
    baseline_end(&c);
}

/* In a process without root's rights: 0 when the addition is refused in a folder that can't be written. */
static int try_read_only(const char *path) {
    cs_baseline_file *file = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_baseline now;
    become_nobody();
    baseline_small("q", PAIRS("a", "1"), &now);
    if (cs_baseline_open(path, true, &file, &err) != CS_OK) return 1;
    if (cs_baseline_add(file, &now, &err) != CS_UNCHECKED || err.code != CS_CODE_IO) return 2;
    if (file->list.count != 1) return 3;
    return 0;
}

Test(baseline_file, a_folder_that_can_not_be_written_keeps_the_file) {
    baseline_case c;
    baseline_begin(&c);
    write_good(&c);
    cr_assert_eq(chmod(c.path, 0666), 0);
    cr_assert_eq(chmod(c.folder, 0555), 0);
    pid_t child = fork();
    if (child == 0) _exit(try_read_only(c.path));
    int status = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0, "%d", WEXITSTATUS(status));
    expect_file(&c, GOOD);
    cr_expect_eq(folder_count(c.folder), 1);
    cr_assert_eq(chmod(c.folder, 0755), 0);
    baseline_end(&c);
}
