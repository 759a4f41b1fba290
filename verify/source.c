#include "verify/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verify/source_impl.h"

struct cs_source {
    cs_bundle_reader *bundle; /* exactly one of the two */
    cs_ledger_reader *ledger;
};

static cs_result open_bundle_file(const char *path, uint64_t total, cs_source *source, cs_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return cs_fail(err, CS_CODE_IO, "can't open the file: %s", strerror(errno));
    return cs_bundle_reader_open(fd, true, total, &source->bundle, err);
}

static cs_result open_path(const char *path, cs_source *source, cs_error *err) {
    if (strcmp(path, "-") == 0) return cs_bundle_reader_open(STDIN_FILENO, false, 0, &source->bundle, err);
    struct stat info;
    if (stat(path, &info) != 0) return cs_fail(err, CS_CODE_IO, "can't open the file: %s", strerror(errno));
    if (S_ISDIR(info.st_mode)) {
        return cs_fail(err, CS_CODE_IO, "this is a folder; give the path of a ledger or of a bundle file in it");
    }
    /* A pipe gives its bytes once, so it is a bundle; only a file can be a database. */
    if (!S_ISREG(info.st_mode)) return open_bundle_file(path, 0, source, err);
    if (info.st_size == 0) return cs_fail(err, CS_CODE_NOTHING_TO_CHECK, "the file is empty");
    cs_result result = cs_ledger_reader_open(path, &source->ledger, err);
    if (result != CS_OK || source->ledger != NULL) return result;
    return open_bundle_file(path, (uint64_t)info.st_size, source, err);
}

cs_result cs_source_open(const char *path, cs_source **out, cs_error *err) {
    *out = NULL;
    cs_source *source = calloc(1, sizeof *source);
    if (source == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "not enough memory to open a file");
    cs_result result = open_path(path, source, err);
    if (result != CS_OK) {
        cs_error_where(err, "%s", path);
        free(source);
        return result;
    }
    *out = source;
    return CS_OK;
}

cs_result cs_source_open_bundle(int fd, cs_source **out, cs_error *err) {
    *out = NULL;
    cs_source *source = calloc(1, sizeof *source);
    if (source == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "not enough memory to open a bundle");
    struct stat info;
    uint64_t total = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
    cs_result result = cs_bundle_reader_open(fd, false, total, &source->bundle, err);
    if (result != CS_OK) {
        free(source);
        return result;
    }
    *out = source;
    return CS_OK;
}

void cs_source_close(cs_source *source) {
    if (source == NULL) return;
    cs_bundle_reader_close(source->bundle);
    cs_ledger_reader_close(source->ledger);
    free(source);
}

cs_source_kind cs_source_what(const cs_source *source) {
    return source->ledger != NULL ? CS_SOURCE_LEDGER : CS_SOURCE_BUNDLE;
}

cs_result cs_source_next(cs_source *source, cs_entry *out, bool *more, cs_error *err) {
    cs_result result = source->ledger != NULL ? cs_ledger_reader_next(source->ledger, out, more, err)
                                              : cs_bundle_reader_next(source->bundle, out, more, err);
    if (result != CS_OK && out->number > 0) {
        cs_error_where(err, source->ledger != NULL ? "entry %llu" : "line %llu", (unsigned long long)out->number);
    }
    return result;
}

void cs_source_progress(const cs_source *source, uint64_t *done, uint64_t *total) {
    if (source->ledger != NULL) {
        cs_ledger_reader_progress(source->ledger, done, total);
    } else {
        cs_bundle_reader_progress(source->bundle, done, total);
    }
}
