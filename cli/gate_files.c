#include "cli/gate_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/whole_file.h"
#include "harness/new_file.h"

#define FILE_MODE 0644

typedef bool (*render)(const cs_gate_report *report, cs_buf *out);

bool cs_gate_on_github(void) {
    const char *word = getenv("GITHUB_ACTIONS");
    return word != NULL && strcmp(word, "true") == 0;
}

/* ---- one file ------------------------------------------------------------------------------------------------ */

static cs_result write_file(const char *what, const char *path, render make, const cs_gate_report *report,
                            cs_error *err) {
    if (path == NULL) return CS_OK;
    CS_AUTO_BUF text = CS_BUF_INIT(CS_GATE_OUT_MAX_BYTES);
    if (!make(report, &text)) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the %s report", what);
    cs_error own = CS_ERROR_INIT;
    cs_result result = cs_whole_file_write(path, FILE_MODE, cs_buf_view(&text), &own);
    if (result == CS_OK) return CS_OK;
    result = cs_fail(err, own.code, "the %s report: %s", what, own.message);
    cs_error_where(err, "%s", path);
    return result;
}

static void remove_file(const char *path) {
    struct stat st;
    if (path != NULL && lstat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))) (void)unlink(path);
}

/* ---- GitHub -------------------------------------------------------------------------------------------------- */

/* Other steps' summaries may stand in it, so it is added to, in one piece. */
cs_result cs_gate_files_summarize(const cs_gate_report *report, cs_error *err) {
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    if (!cs_gate_on_github() || path == NULL || path[0] == '\0') return CS_OK;
    CS_AUTO_BUF text = CS_BUF_INIT(CS_GATE_OUT_MAX_BYTES);
    if (!cs_gate_out_markdown(report, &text)) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the summary");
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, FILE_MODE);
    bool good = fd >= 0 && cs_write_all(fd, cs_buf_view(&text));
    int why = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        why = errno;
        good = false;
    }
    if (good) return CS_OK;
    cs_result result = cs_fail(err, CS_CODE_IO, "the step's summary can't be written: %s", strerror(why));
    cs_error_where(err, "%s", path);
    return result;
}

cs_result cs_gate_files_annotate(const cs_gate_report *report, const cs_output *out, cs_error *err) {
    if (!cs_gate_on_github()) return CS_OK;
    CS_AUTO_BUF text = CS_BUF_INIT(CS_GATE_OUT_MAX_BYTES);
    if (!cs_gate_out_annotations(report, &text))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the annotations");
    if (text.len > 0) cs_say(out, "%.*s", (int)text.len, (const char *)text.ptr);
    return CS_OK;
}

/* ---- all files ----------------------------------------------------------------------------------------------- */

static void keep_first(cs_result result, const cs_error *own, cs_result *first, cs_error *err) {
    if (result == CS_OK || *first != CS_OK) return;
    *first = result;
    *err = *own;
}

void cs_gate_files_remove(const cs_gate_files *files) {
    remove_file(files->junit);
    remove_file(files->sarif);
    remove_file(files->code_quality);
}

cs_result cs_gate_files_write(const cs_gate_files *files, const cs_gate_report *report, cs_error *err) {
    const struct {
        const char *what;
        const char *path;
        render make;
    } all[] = {{"JUnit", files->junit, cs_gate_out_junit},
               {"SARIF", files->sarif, cs_gate_out_sarif},
               {"code quality", files->code_quality, cs_gate_out_code_quality}};
    cs_result first = CS_OK;
    cs_error own = CS_ERROR_INIT;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        keep_first(write_file(all[i].what, all[i].path, all[i].make, report, &own), &own, &first, err);
    return first;
}
