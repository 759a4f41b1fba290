#include "tests/support/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

static void must(bool good, const char *what) {
    if (good) return;
    perror(what);
    abort();
}

void folder_make(char path[128]) {
    const char *base = getenv("TMPDIR");
    int len = snprintf(path, 128, "%s/countersign-test-XXXXXX", base != NULL && base[0] != '\0' ? base : "/tmp");
    must(len > 0 && len < 128, "TMPDIR");
    must(mkdtemp(path) != NULL && chmod(path, 0755) == 0, "mkdtemp");
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
    (void)info;
    (void)walk;
    return type == FTW_DP ? rmdir(path) : unlink(path);
}

void folder_remove(const char *path) {
    must(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0, path);
}

size_t folder_count(const char *path) {
    DIR *folder = opendir(path);
    must(folder != NULL, path);
    size_t count = 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) count++;
    }
    closedir(folder);
    return count;
}

void file_write(const char *path, const void *bytes, size_t len) {
    FILE *file = fopen(path, "wb");
    must(file != NULL, path);
    must(len == 0 || fwrite(bytes, len, 1, file) == 1, path);
    must(fclose(file) == 0, path);
}

char *file_read(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    struct stat info;
    *len = 0;
    if (file == NULL) return NULL;
    must(fstat(fileno(file), &info) == 0, path);
    char *bytes = calloc(1, (size_t)info.st_size + 1);
    must(bytes != NULL, "calloc");
    *len = fread(bytes, 1, (size_t)info.st_size, file);
    fclose(file);
    return bytes;
}

void become_nobody(void) {
    if (geteuid() != 0) return;
    must(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0, "setuid");
}
