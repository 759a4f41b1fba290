/* Temporary folders and files for tests. */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* A new folder below TMPDIR (or /tmp), which every user may enter. Aborts when there is none to be had. */
void folder_make(char path[128]);
/* The folder and everything in it. */
void folder_remove(const char *path);
/* How many names are in it. */
size_t folder_count(const char *path);

/* Write a whole file; read one (NUL-terminated, malloc'ed, NULL when it can't be read). */
void file_write(const char *path, const void *bytes, size_t len);
char *file_read(const char *path, size_t *len);

/* Drop the rights of root for good, in a child that then tests permissions: they do not bind root. */
void become_nobody(void);

#endif
