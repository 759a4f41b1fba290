#include "cli/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/new_file.h"
#include "verify/file.h"

/* The umask may have taken bits away from the mode. */
static bool write_in(int folder, const char *name, mode_t mode, cs_view bytes) {
    cs_new_file file = CS_NEW_FILE_INIT;
    bool good = cs_new_file_make(folder, "report", mode, &file) && cs_write_all(file.fd, bytes) &&
                fchmod(file.fd, mode) == 0 && fsync(file.fd) == 0 && cs_new_file_place(&file, name, true);
    return cs_new_file_end(&file) && good;
}

cs_result cs_whole_file_write(const char *path, mode_t mode, cs_view bytes, cs_error *err) {
    const char *name = NULL;
    int folder = cs_folder_of(path, O_PATH, &name);
    bool written = folder >= 0 && write_in(folder, name, mode, bytes);
    int why = errno;
    if (folder >= 0) (void)close(folder);
    if (written) return CS_OK;
    cs_result result = cs_fail(err, CS_CODE_IO, "the file can't be written: %s", strerror(why));
    cs_error_where(err, "%s", path);
    return result;
}

static cs_result read_all(const char *path, cs_buf *out, cs_error *err) {
    switch (cs_file_read(path, out)) {
    case CS_FILE_READ:
        return CS_OK;
    case CS_FILE_FAILED:
        return cs_fail(err, CS_CODE_IO, "the file can't be read: %s", strerror(errno));
    case CS_FILE_TOO_LONG:
        return cs_fail(err, CS_CODE_IO, "the file is larger than %zu bytes", out->max);
    case CS_FILE_NO_MEMORY:
        break;
    }
    return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to read the file");
}

cs_result cs_whole_file_read(const char *path, cs_buf *out, cs_error *err) {
    cs_result result = read_all(path, out, err);
    if (result != CS_OK) cs_error_where(err, "%s", path);
    return result;
}
