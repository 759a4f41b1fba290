#include "cli/diff_side.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/output.h"
#include "records/check.h"
#include "records/text.h"

/* ---- INPUT:ENTRY ------------------------------------------------------------------------------ */

/* The colon before the number at the end; NULL: there is no number. */
static const char *find_colon(const char *text) {
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon[1] == '\0' || colon[strspn(colon + 1, "0123456789") + 1] != '\0') return NULL;
    return colon;
}

bool cs_side_is_standard(const char *text) {
    return strcmp(text, "-") == 0 || (text[0] == '-' && find_colon(text) == text + 1);
}

static cs_result read_number(const char *digits, uint64_t *out, cs_error *err) {
    uint64_t value = 0;
    if (!cs_decimal_read(cs_view_of(digits), INT64_MAX, &value) || value < 1)
        return cs_fail(err, CS_CODE_USAGE, "the number of an entry is one from 1");
    *out = value;
    return CS_OK;
}

static cs_result read_name(const char *text, cs_side *out, cs_error *err) {
    const char *colon = find_colon(text);
    size_t len = colon != NULL ? (size_t)(colon - text) : strlen(text);
    if (len == 0) return cs_fail(err, CS_CODE_USAGE, "INPUT:ENTRY names an input, not '%.40s'", text);
    out->path = strndup(text, len);
    if (out->path == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for a path");
    return colon != NULL ? read_number(colon + 1, &out->number, err) : CS_OK;
}

/* ---- the entry -------------------------------------------------------------------------------- */

static bool copy(cs_view from, cs_buf *to, cs_view *view) {
    *to = CS_BUF_INIT(from.len);
    *view = cs_view_bytes(NULL, 0);
    if (from.ptr == NULL) return true;
    if (from.len > 0 && !cs_buf_append(to, from.ptr, from.len)) return false;
    /* An empty message is there, unlike one that is absent. */
    *view = cs_view_bytes(to->ptr != NULL ? (const void *)to->ptr : "", to->len);
    return true;
}

/* The views of an entry go with the next one. */
static cs_result take(const cs_entry *entry, cs_side *out, cs_error *err) {
    out->number = entry->number;
    out->entry = (cs_entry){.number = entry->number, .finding = entry->finding};
    bool good = copy(entry->request, &out->request, &out->entry.request) &&
                copy(entry->response, &out->response, &out->entry.response) &&
                copy(entry->envelope, &out->envelope, &out->entry.envelope);
    if (good && entry->row != NULL) {
        out->row = (cs_ledger_row){.id = entry->row->id, .added_unix_ms = entry->row->added_unix_ms};
        good = copy(entry->row->code, &out->code, &out->row.code);
        out->entry.row = &out->row;
    }
    return good ? CS_OK : cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for an entry");
}

static bool is_run(const cs_entry *entry) {
    return !entry->finding && entry->request.ptr != NULL;
}

/* Read on until the entry of that number, or, without one, through all of them, of which one must be a run. */
static cs_result find(cs_source *source, cs_side *out, cs_error *err) {
    const uint64_t wanted = out->number;
    uint64_t seen = 0;
    for (;;) {
        cs_entry entry = {.number = 0};
        bool more = false;
        cs_result result = cs_source_next(source, &entry, &more, err);
        if (result == CS_OK && !more) break;
        if (result != CS_OK) {
            /* A bad entry can be stepped over on the way to another. */
            bool passed = more && result == CS_FAILED && wanted != 0 && entry.number != wanted;
            if (passed) continue;
            if (entry.number > 0) cs_error_where(err, "entry %" PRIu64, entry.number);
            return result;
        }
        seen++;
        if (wanted == 0 ? !is_run(&entry) : entry.number != wanted) continue;
        if (wanted != 0) return take(&entry, out, err);
        if (out->number != 0)
            return cs_fail(err, CS_CODE_USAGE, "the input holds several runs: name one, like INPUT:%" PRIu64,
                           out->number);
        result = take(&entry, out, err);
        if (result != CS_OK) return result;
    }
    if (out->number != 0 && wanted == 0) return CS_OK;
    if (wanted == 0) return cs_fail(err, CS_CODE_NOTHING_TO_CHECK, "the input holds no run");
    return cs_fail(err, CS_CODE_ENTRY_UNKNOWN, "there is no entry %" PRIu64 "; %" PRIu64 " %s read", wanted, seen,
                   cs_plural(seen, "was", "were"));
}

cs_result cs_side_read(const char *text, const cs_trust *trust, cs_side *out, cs_error *err) {
    *out = (cs_side){.shown = {.result = CS_UNCHECKED, .err = CS_ERROR_INIT}};
    cs_result result = read_name(text, out, err);
    if (result != CS_OK) return result;
    cs_source *source = NULL;
    result = cs_source_open(out->path, &source, err);
    if (result == CS_OK) result = find(source, out, err);
    cs_source_close(source);
    if (result == CS_OK && out->entry.request.ptr == NULL && out->entry.response.ptr == NULL)
        result = cs_fail(err, CS_CODE_NOTHING_TO_CHECK,
                         "entry %" PRIu64 " has neither a request nor a response to compare", out->number);
    if (result == CS_OK)
        cs_show_decode(&out->entry, trust, &out->shown);
    else if (result != CS_USAGE)
        cs_error_in_file(err, out->path);
    return result;
}

void cs_side_free(cs_side *side) {
    cs_shown_free(&side->shown);
    cs_buf_free(&side->request);
    cs_buf_free(&side->response);
    cs_buf_free(&side->envelope);
    cs_buf_free(&side->code);
    free(side->path);
    *side = (cs_side){.path = NULL};
}

/* ---- the same twice --------------------------------------------------------------------------- */

static bool is_same_file(const char *a, const char *b) {
    struct stat of_a;
    struct stat of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* Of a file that changed between the two readings one number may be that of two entries. */
static bool is_same_entry(const cs_side *a, const cs_side *b) {
    return a->number == b->number && cs_view_equal(a->entry.request, b->entry.request) &&
           cs_view_equal(a->entry.response, b->entry.response) && cs_view_equal(a->entry.envelope, b->entry.envelope) &&
           is_same_file(a->path, b->path);
}

static const cs_run_record *signed_record(const cs_side *side) {
    bool is_signed = side->shown.stated && side->shown.statement.kind == CS_STATEMENT_RECORD;
    return is_signed ? side->shown.statement.record : NULL;
}

cs_sameness cs_side_sameness(const cs_side *a, const cs_side *b) {
    if (is_same_entry(a, b)) return CS_SAME_ENTRY;
    return cs_check_same_record(signed_record(a), signed_record(b), NULL) == CS_OK ? CS_SAME_RECORD : CS_SAME_NOT;
}
