/* The file of attestations: a new one, whole or not at all, and never in the place of another. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "gate/attest.h"
#include "harness/new_file.h"

#define MODE 0644

static cs_result fail_write(cs_error *err) {
    return cs_fail(err, CS_CODE_IO, "the attestation can't be written: %s", strerror(errno));
}

static cs_result place(cs_new_file *file, const char *name, cs_error *err) {
    if (cs_new_file_place(file, name, false)) return CS_OK;
    if (errno != EEXIST) return fail_write(err);
    return cs_fail(err, CS_CODE_IO, "there is a file already where the attestation is to be; none is replaced");
}

static cs_result write_new(int folder, const char *name, cs_view bytes, cs_error *err) {
    cs_new_file file = CS_NEW_FILE_INIT;
    bool written =
        cs_new_file_make(folder, "attest", MODE, &file) && cs_write_all(file.fd, bytes) && fsync(file.fd) == 0;
    cs_result result = written ? place(&file, name, err) : fail_write(err);
    bool named = result == CS_OK;
    if (!cs_new_file_end(&file) && named) result = fail_write(err);
    if (result == CS_OK && !cs_folder_sync(folder)) result = fail_write(err);
    if (result != CS_OK && named) (void)unlinkat(folder, name, 0);
    return result;
}

cs_result cs_gate_attest_publish(const char *path, cs_view bytes, cs_error *err) {
    const char *name = NULL;
    int folder = cs_folder_of(path, O_RDONLY, &name);
    cs_result result = CS_UNCHECKED;
    if (name[0] == '\0')
        result = cs_fail(err, CS_CODE_IO, "the path of the attestation names no file");
    else
        result = folder < 0 ? fail_write(err) : write_new(folder, name, bytes, err);
    if (folder >= 0) (void)close(folder);
    if (result != CS_OK) cs_error_where(err, "%s", path);
    return result;
}
