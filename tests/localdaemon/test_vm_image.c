/* The image of virtual machines is used only as its manifest names it, and only where nobody else can change it. */
#include "examples/localdaemon/vm_image.h"
#include "tests/support/exec.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIGEST_K "8254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d7a"
#define DIGEST_I "de7d1b721a1e0632b7cf04edf5032c8ecffa9f9a08492152b926f1a5a7e765d7"
#define DIGEST_S "043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89"
#define DIGEST_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

#define FIRST "localdaemon vm image 1\nagent-protocol 1\n"
#define INITRAMFS "part initramfs " DIGEST_I " 1\n"
#define SYSTEM "part system.squashfs " DIGEST_S " 1\n"
#define KERNEL "part vmlinux " DIGEST_K " 1\n"
/* An empty file that every machine has. */
#define NODE "node /dev/null " DIGEST_NOTHING "\n"
#define PACKAGES "package libc6 2.36-9 amd64\npackage nodejs 18.20 amd64\n"
#define WHOLE FIRST INITRAMFS SYSTEM KERNEL NODE PACKAGES

static char folder[128];

static void put(const char *name, const char *text) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file_write(path, text, strlen(text));
    cr_assert_eq(chmod(path, 0644), 0);
}

static void make_image(void) {
    folder_make(folder);
    put("initramfs", "i");
    put("system.squashfs", "s");
    put("vmlinux", "k");
    put("manifest", WHOLE);
}

static void expect_refused(const char *message) {
    ld_vm_image image;
    cs_error err;
    EXPECT_CODE(ld_vm_image_open(folder, "/dev/null", &image, &err), err, CS_UNCHECKED, CS_CODE_IO);
    cr_assert_not_null(strstr(err.message, message), "%s", err.message);
}

static void expect_accepted(void) {
    ld_vm_image image;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(ld_vm_image_open(folder, "/dev/null", &image, &err), err);
}

Test(localdaemon_vm_image, is_named_by_its_manifest) {
    make_image();
    ld_vm_image image;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(ld_vm_image_open(folder, "/dev/null", &image, &err), err);
    /* printf of the lines above | sha256sum */
    cr_assert_str_eq(image.digest.hex, "877eaa277ad53adf68879d457726fc41a0759c6b570b80a7ea83ccfaf6e159c1");
    EXPECT_CODE(ld_vm_image_open(folder, "/dev/zero/x", &image, &err), err, CS_UNCHECKED, CS_CODE_IO);
    put("other", "");
    char other[200];
    snprintf(other, sizeof other, "%s/other", folder);
    EXPECT_CODE(ld_vm_image_open(folder, other, &image, &err), err, CS_UNCHECKED, CS_CODE_IO);
    cr_assert_not_null(strstr(err.message, "built from another node than"), "%s", err.message);
    folder_remove(folder);
    expect_refused("no image of virtual machines at");
}

Test(localdaemon_vm_image, parts_are_those_of_the_manifest) {
    make_image();
    static const char *const parts[] = {"initramfs", "system.squashfs", "vmlinux"};
    static const char *const right[] = {"i", "s", "k"};
    for (size_t i = 0; i < 3; i++) {
        char path[200], message[100];
        put(parts[i], "x");
        snprintf(message, sizeof message, "the image's %s is not the one that its manifest names", parts[i]);
        expect_refused(message);
        snprintf(path, sizeof path, "%s/%s", folder, parts[i]);
        cr_assert_eq(unlink(path), 0);
        snprintf(message, sizeof message, "the image's %s can't be read (No such file", parts[i]);
        expect_refused(message);
        cr_assert_eq(symlink("manifest", path), 0);
        snprintf(message, sizeof message, "the image's %s can't be read (Too many levels", parts[i]);
        expect_refused(message);
        cr_assert_eq(unlink(path), 0);
        put(parts[i], right[i]);
        expect_accepted();
    }
    put("manifest", FIRST INITRAMFS SYSTEM "part vmlinux " DIGEST_K " 2\n" NODE PACKAGES);
    expect_refused("the image's vmlinux is not the one that its manifest names");
    put("manifest", FIRST INITRAMFS SYSTEM KERNEL "node /dev/null " DIGEST_K "\n" PACKAGES);
    expect_refused("built from another node than");
    folder_remove(folder);
}

Test(localdaemon_vm_image, manifest_is_read_exactly) {
    static const char *const wrong[] = {
        "",
        "localdaemon vm image 2\nagent-protocol 1\n" INITRAMFS SYSTEM KERNEL NODE PACKAGES,
        "localdaemon vm image 1\nagent-protocol 2\n" INITRAMFS SYSTEM KERNEL NODE PACKAGES,
        FIRST SYSTEM KERNEL NODE PACKAGES,
        FIRST INITRAMFS INITRAMFS SYSTEM KERNEL NODE PACKAGES,
        FIRST INITRAMFS SYSTEM KERNEL "part other " DIGEST_K " 1\n" NODE PACKAGES,
        FIRST INITRAMFS SYSTEM "part vmlinux " DIGEST_K "0 1\n" NODE PACKAGES,
        FIRST INITRAMFS SYSTEM "part vmlinux 8254C329A92850F6D539DD376F4816EE2764517DA5E0235514AF433164480D7A 1\n" NODE,
        FIRST INITRAMFS SYSTEM "part vmlinux " DIGEST_K " 1 \n" NODE PACKAGES,
        FIRST INITRAMFS SYSTEM "part vmlinux " DIGEST_K "\n" NODE PACKAGES,
        FIRST INITRAMFS SYSTEM KERNEL PACKAGES,
        FIRST INITRAMFS SYSTEM KERNEL NODE NODE PACKAGES,
        FIRST INITRAMFS SYSTEM KERNEL "node null " DIGEST_NOTHING "\n" PACKAGES,
        FIRST INITRAMFS SYSTEM KERNEL NODE PACKAGES "more\n",
        FIRST INITRAMFS SYSTEM KERNEL NODE "package libc6",
    };
    make_image();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        put("manifest", wrong[i]);
        expect_refused("the image's manifest is malformed, or of another version");
    }
    put("manifest", FIRST INITRAMFS SYSTEM KERNEL NODE);
    expect_accepted();
    folder_remove(folder);
}

Test(localdaemon_vm_image, is_nobody_elses_to_change) {
    static const char *const names[] = {"initramfs", "system.squashfs", "vmlinux", "manifest", "."};
    make_image();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[200];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        cr_assert_eq(stat(path, &st), 0);
        cr_assert_eq(chmod(path, (st.st_mode & 0777) | 020), 0);
        expect_refused("or others may write to it");
        cr_assert_eq(chmod(path, st.st_mode & 0777), 0);
        expect_accepted();
    }
    folder_remove(folder);
}

/* ---- image.sh -------------------------------------------------------------------------------------- */

static void build(const char *agent, const char *cache, char digest[65]) {
    const char *argv[] = {"sh", "examples/localdaemon/vm/image.sh", agent, cache, NULL};
    exec_end end;
    exec_run(NULL, argv, &end);
    if (end.status != 0 && getenv("CI") == NULL && getenv("COUNTERSIGN_REQUIRE_ALL") == NULL)
        cr_skip_test("SKIPPED: the image can't be built here: %s", end.err);
    cr_assert_eq(end.status, 0, "%s", end.err);
    cr_assert_eq(end.out_len, 65, "%s", end.out);
    memcpy(digest, end.out, 64);
    digest[64] = '\0';
    exec_free(&end);
}

/* Left out, by its name, of CI's pass with sanitizers (bootstrap.sh, UNSANITIZED): the work is a script's.
 * Built twice, it is the same; and when it is there already, it is only named again. */
Test(localdaemon_vm_image, is_the_same_each_time, .timeout = 180) {
    char agent[1024], cache[128], folders[200], usual[PATH_MAX], kernels[PATH_MAX + 16], one[65], two[65];
    cs_error err = CS_ERROR_INIT;
    exec_built("vm/agent", agent);
    EXPECT_OK(ld_vm_image_default(usual, &err), err);
    *strstr(usual, "/vm/current") = '\0';
    build(agent, usual, one);
    folder_make(cache);
    /* The kernel's package need not be downloaded again. */
    snprintf(kernels, sizeof kernels, "%s/vm/kernels", usual);
    snprintf(folders, sizeof folders, "%s/vm", cache);
    cr_assert_eq(mkdir(folders, 0755), 0);
    snprintf(folders, sizeof folders, "%s/vm/kernels", cache);
    cr_assert_eq(symlink(kernels, folders), 0);
    build(agent, cache, two);
    cr_assert_str_eq(two, one);
    build(agent, cache, two);
    cr_assert_str_eq(two, one);
    folder_remove(cache);
}
