#include "records/statement.h"

#include <string.h>

#include "records/compactjson.h"
#include "records/statement_members.h"

#define RECORD(field) offsetof(cs_run_record, field)
#define CLOSE(field) offsetof(cs_session_close, field)
#define LINK(field) offsetof(cs_bundle_link, field)
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const cs_member record_members[] = {
    {"version", CS_FORM_U32, false, RECORD(version)},
    {"request_sha256", CS_FORM_DIGEST, false, RECORD(request_sha256)},
    {"result_sha256", CS_FORM_MAYBE_DIGEST, false, RECORD(result_sha256)},
    {"provider", CS_FORM_TEXT, false, RECORD(provider)},
    {"isolation", CS_FORM_TEXT, false, RECORD(isolation)},
    {"environment", CS_FORM_TEXT, false, RECORD(environment)},
    {"software_identity", CS_FORM_TEXT, true, RECORD(software_identity)},
    {"software_rule_id", CS_FORM_TEXT, true, RECORD(software_rule_id)},
    {"policy", CS_FORM_TEXT, false, RECORD(policy)},
    {"started_unix_ms", CS_FORM_I64, false, RECORD(started_unix_ms)},
    {"ended_unix_ms", CS_FORM_I64, false, RECORD(ended_unix_ms)},
    {"session", CS_FORM_MAYBE_DIGEST, false, RECORD(session)},
    {"sequence", CS_FORM_U64, false, RECORD(sequence)},
    {"previous_sha256", CS_FORM_MAYBE_DIGEST, false, RECORD(previous_sha256)},
    {"unanswered", CS_FORM_TEXT, true, RECORD(unanswered)},
    {"instance", CS_FORM_TEXT, true, RECORD(instance)},
    {"record_sha256", CS_FORM_DIGEST, false, RECORD(record_sha256)},
};

static const cs_member close_members[] = {
    {"session", CS_FORM_HEX, false, CLOSE(session)},
    {"calls", CS_FORM_U64, false, CLOSE(calls)},
    {"last_record_sha256", CS_FORM_MAYBE_HEX, false, CLOSE(last_record_sha256)},
};

static const cs_member link_members[] = {
    {"index", CS_FORM_U64, false, LINK(index)},
    {"previous_sha256", CS_FORM_MAYBE_HEX, false, LINK(previous_sha256)},
    {"entry_sha256", CS_FORM_MAYBE_HEX, true, LINK(entry_sha256)},
    {"checkpoint", CS_FORM_TRUE, true, LINK(checkpoint)},
    {"lines", CS_FORM_U64, true, LINK(lines)},
};

static const cs_predicate predicates[] = {
    [CS_STATEMENT_RECORD] = {CS_PREDICATE_RECORD, "run-record", record_members, COUNT(record_members)},
    [CS_STATEMENT_CLOSE] = {CS_PREDICATE_CLOSE, "session", close_members, COUNT(close_members)},
    [CS_STATEMENT_LINK] = {CS_PREDICATE_LINK, "bundle-line", link_members, COUNT(link_members)},
};

const cs_predicate *cs_predicate_of(cs_statement_kind kind) {
    return &predicates[kind];
}

cs_view cs_subject_of_link(const cs_bundle_link *link) {
    return cs_view_of(link->checkpoint ? link->previous_sha256 : link->entry_sha256);
}

/* ---- building ------------------------------------------------------------------------------------- */

static bool put_text(const cs_member *member, cs_view text, cs_buf *out) {
    return (member->optional && text.len == 0) || cs_json_text(out, member->name, text);
}

static bool put_number(const cs_member *member, uint64_t value, cs_buf *out) {
    return (member->optional && value == 0) || cs_json_u64(out, member->name, value);
}

static bool put_member(const cs_member *member, const void *from, cs_buf *out) {
    const void *value = (const char *)from + member->offset;
    switch (member->form) {
    case CS_FORM_U32:
        return put_number(member, *(const uint32_t *)value, out);
    case CS_FORM_U64:
        return put_number(member, *(const uint64_t *)value, out);
    case CS_FORM_I64:
        return cs_json_i64(out, member->name, *(const int64_t *)value);
    case CS_FORM_TRUE:
        return !*(const bool *)value || (cs_json_name(out, member->name) && cs_buf_text(out, "true"));
    case CS_FORM_TEXT:
    case CS_FORM_DIGEST:
    case CS_FORM_MAYBE_DIGEST:
        return put_text(member, cs_bytes_view(value), out);
    case CS_FORM_HEX:
    case CS_FORM_MAYBE_HEX:
        return put_text(member, cs_view_of(value), out);
    }
    return false;
}

static bool put_members(const cs_predicate *predicate, const void *from, cs_buf *out) {
    for (size_t i = 0; i < predicate->count; i++)
        if (!put_member(&predicate->members[i], from, out)) return false;
    return true;
}

bool cs_statement_build(const cs_predicate *predicate, cs_view subject, const void *from, cs_buf *out) {
    size_t before = out->len;
    if (cs_buf_text(out, "{\"_type\":\"" CS_STATEMENT_TYPE "\",\"subject\":[{\"name\":\"") &&
        cs_buf_text(out, predicate->subject) && cs_buf_text(out, "\",\"digest\":{\"sha256\":") &&
        cs_json_string(out, subject) && cs_buf_text(out, "}}],\"predicateType\":\"") &&
        cs_buf_text(out, predicate->type) && cs_buf_text(out, "\",\"predicate\":{") &&
        put_members(predicate, from, out) && cs_buf_text(out, "}}"))
        return true;
    out->len = before;
    return false;
}

bool cs_statement_record(const cs_run_record *record, cs_buf *out) {
    return cs_statement_build(cs_predicate_of(CS_STATEMENT_RECORD), cs_bytes_view(&record->record_sha256), record, out);
}

bool cs_statement_close(const cs_session_close *close, cs_buf *out) {
    return cs_statement_build(cs_predicate_of(CS_STATEMENT_CLOSE), cs_view_of(close->session), close, out);
}

bool cs_statement_link(const cs_bundle_link *link, cs_buf *out) {
    return cs_statement_build(cs_predicate_of(CS_STATEMENT_LINK), cs_subject_of_link(link), link, out);
}
