#include <stdlib.h>
#include <string.h>

#include "records/jsonlex.h"
#include "records/statement_members.h"
#include "records/text.h"

/* Reading accepts white space and any order of members, so that a statement that only looks different
 * is told apart from one that says something else; the comparison with the rebuilt bytes at the end
 * accepts neither. */

typedef struct reader {
    cs_lex lex;
    cs_buf scratch;
    cs_error *err;
} reader;

static cs_result fail_lex(const reader *r) {
    cs_result result = cs_lex_fail(&r->lex, r->err);
    return result == CS_FAILED ? cs_error_recode(r->err, CS_CODE_STATEMENT_MALFORMED) : result;
}

static cs_result fail_member(const reader *r, cs_code code, const char *name, const char *what) {
    cs_result result = cs_fail(r->err, code, "%s", what);
    cs_error_where(r->err, "%s", name);
    return result;
}

static cs_result fail_memory(const reader *r) {
    return cs_fail(r->err, CS_CODE_NO_MEMORY, "there is no memory to read a statement");
}

static cs_result take_mark(reader *r, char mark) {
    return cs_lex_mark(&r->lex, mark) ? CS_OK : fail_lex(r);
}

/* As much of a text as fits. */
static void keep_text(cs_view text, char *out, size_t size) {
    size_t len = text.len < size ? text.len : size - 1;
    if (len > 0) memcpy(out, text.ptr, len);
    out[len] = '\0';
}

/* ---- values --------------------------------------------------------------------------------------- */

static cs_result read_text(reader *r, cs_view *text) {
    return cs_lex_string(&r->lex, &r->scratch, text) ? CS_OK : fail_lex(r);
}

static cs_result read_whole(reader *r, const cs_member *member, uint64_t lowest, uint64_t highest, uint64_t *out) {
    cs_view number = {0};
    bool negative;
    uint64_t magnitude;
    if (!cs_lex_number(&r->lex, &number)) return fail_lex(r);
    if (!cs_number_whole(number, &negative, &magnitude) || magnitude > (negative ? lowest : highest))
        return fail_member(r, CS_CODE_STATEMENT_MALFORMED, member->name, "the number is not whole, or out of range");
    *out = negative ? 0 - magnitude : magnitude;
    return CS_OK;
}

static cs_result read_number(reader *r, const cs_member *member, void *to) {
    uint64_t number = 0;
    cs_result result;
    switch (member->form) {
    case CS_FORM_U32:
        result = read_whole(r, member, 0, UINT32_MAX, &number);
        *(uint32_t *)to = (uint32_t)number;
        return result;
    case CS_FORM_U64:
        return read_whole(r, member, 0, UINT64_MAX, to);
    default:
        result = read_whole(r, member, (uint64_t)INT64_MAX + 1, INT64_MAX, &number);
        *(int64_t *)to = (int64_t)number;
        return result;
    }
}

static bool text_fits(cs_member_form form, cs_view text) {
    if (form == CS_FORM_TEXT) return true;
    bool maybe = form == CS_FORM_MAYBE_DIGEST || form == CS_FORM_MAYBE_HEX;
    return (maybe && text.len == 0) || cs_is_hex(text, CS_SHA256_HEX);
}

static cs_result read_string(reader *r, const cs_member *member, void *to) {
    cs_view text = {0};
    cs_result result = read_text(r, &text);
    if (result != CS_OK) return result;
    if (!text_fits(member->form, text))
        return fail_member(r, CS_CODE_STATEMENT_MALFORMED, member->name,
                           "64 lowercase hexadecimal digits were expected, and something else found");
    if (member->form == CS_FORM_HEX || member->form == CS_FORM_MAYBE_HEX) {
        /* text_fits: either all 64 digits or none. */
        if (text.len > 0) memcpy(to, text.ptr, CS_SHA256_HEX);
        ((char *)to)[text.len] = '\0';
        return CS_OK;
    }
    return cs_bytes_set(to, text) ? CS_OK : fail_memory(r);
}

static cs_result read_value(reader *r, const cs_member *member, void *to) {
    switch (member->form) {
    case CS_FORM_U32:
    case CS_FORM_U64:
    case CS_FORM_I64:
        return read_number(r, member, to);
    case CS_FORM_TRUE:
        *(bool *)to = cs_lex_word(&r->lex, "true");
        if (*(bool *)to) return CS_OK;
        return fail_member(r, CS_CODE_STATEMENT_MALFORMED, member->name, "true was expected, and something else found");
    default:
        return read_string(r, member, to);
    }
}

/* ---- the predicate -------------------------------------------------------------------------------- */

/* The search begins at the member that an exact encoder writes next, so it ends there at once. */
static const cs_member *find_member(const cs_predicate *predicate, uint32_t seen, cs_view name) {
    size_t first = 0;
    while (first < predicate->count && seen >> first != 0)
        first++;
    for (size_t i = 0; i < predicate->count; i++) {
        const cs_member *member = &predicate->members[(first + i) % predicate->count];
        if (cs_view_is(name, member->name)) return member;
    }
    return NULL;
}

static cs_result read_member(reader *r, const cs_predicate *predicate, void *to, uint32_t *seen) {
    cs_view name = {0};
    cs_result result = read_text(r, &name);
    if (result != CS_OK) return result;
    const cs_member *member = find_member(predicate, *seen, name);
    if (!member) {
        char found[65];
        keep_text(name, found, sizeof found);
        return fail_member(r, CS_CODE_STATEMENT_MALFORMED, found, "the predicate has no such member");
    }
    uint32_t bit = UINT32_C(1) << (member - predicate->members);
    if (*seen & bit) return fail_member(r, CS_CODE_STATEMENT_MALFORMED, member->name, "the member occurs twice");
    *seen |= bit;
    result = take_mark(r, ':');
    return result == CS_OK ? read_value(r, member, (char *)to + member->offset) : result;
}

static cs_result read_predicate(reader *r, const cs_predicate *predicate, void *to) {
    uint32_t seen = 0;
    cs_result result = take_mark(r, '{');
    if (result != CS_OK) return result;
    do {
        result = read_member(r, predicate, to, &seen);
        if (result != CS_OK) return result;
    } while (cs_lex_try(&r->lex, ','));
    result = take_mark(r, '}');
    if (result != CS_OK) return result;
    for (size_t i = 0; i < predicate->count; i++)
        if (!predicate->members[i].optional && !(seen & UINT32_C(1) << i))
            return fail_member(r, CS_CODE_STATEMENT_MALFORMED, predicate->members[i].name, "the member is missing");
    return CS_OK;
}

/* ---- the statement around it ---------------------------------------------------------------------- */

/* What stands before the predicate, copied out of the scratch buffer. */
typedef struct heading {
    const cs_predicate *predicate;
    cs_statement_kind kind;
    char name[16]; /* of the subject; cut when longer than any of ours */
    char digest[CS_SHA256_HEX + 1];
} heading;

static cs_result take_name(reader *r, const char *expected) {
    cs_view name = {0};
    cs_result result = read_text(r, &name);
    if (result != CS_OK) return result;
    if (!cs_view_is(name, expected))
        return fail_member(r, CS_CODE_STATEMENT_MALFORMED, expected, "this member was expected, and another one found");
    return take_mark(r, ':');
}

/* `,"name":` */
static cs_result take_next(reader *r, const char *expected) {
    cs_result result = take_mark(r, ',');
    return result == CS_OK ? take_name(r, expected) : result;
}

/* `{"name":` */
static cs_result take_first(reader *r, const char *expected) {
    cs_result result = take_mark(r, '{');
    return result == CS_OK ? take_name(r, expected) : result;
}

static cs_result read_type(reader *r) {
    cs_view type = {0};
    cs_result result = take_first(r, "_type");
    if (result == CS_OK) result = read_text(r, &type);
    if (result != CS_OK || cs_view_is(type, CS_STATEMENT_TYPE)) return result;
    return cs_fail_differs(r->err, CS_CODE_STATEMENT_TYPE, "the statement has another type",
                           cs_view_of(CS_STATEMENT_TYPE), type);
}

static cs_result fail_digest(const reader *r) {
    return fail_member(r, CS_CODE_STATEMENT_SUBJECT, "subject[0].digest.sha256",
                       "64 lowercase hexadecimal digits were expected, and something else found");
}

static cs_result read_digest(reader *r, heading *head) {
    cs_view digest = {0};
    cs_result result = take_first(r, "sha256");
    if (result == CS_OK) result = read_text(r, &digest);
    if (result != CS_OK) return result;
    /* Whether it may be empty shows when the predicate is read. */
    if (digest.len > 0 && !cs_is_hex(digest, CS_SHA256_HEX)) return fail_digest(r);
    keep_text(digest, head->digest, sizeof head->digest);
    return take_mark(r, '}');
}

static cs_result read_subject(reader *r, heading *head) {
    cs_view name = {0};
    cs_result result = take_next(r, "subject");
    if (result == CS_OK) result = take_mark(r, '[');
    if (result == CS_OK) result = take_first(r, "name");
    if (result == CS_OK) result = read_text(r, &name);
    if (result != CS_OK) return result;
    keep_text(name, head->name, sizeof head->name);
    result = take_next(r, "digest");
    if (result == CS_OK) result = read_digest(r, head);
    if (result == CS_OK) result = take_mark(r, '}');
    if (result != CS_OK) return result;
    if (cs_lex_try(&r->lex, ','))
        return fail_member(r, CS_CODE_STATEMENT_SUBJECT, "subject[1]", "a statement of ours has exactly one subject");
    return take_mark(r, ']');
}

static cs_result read_predicate_type(reader *r, heading *head) {
    cs_view type = {0};
    cs_result result = take_next(r, "predicateType");
    if (result == CS_OK) result = read_text(r, &type);
    if (result != CS_OK) return result;
    for (int kind = CS_STATEMENT_RECORD; kind <= CS_STATEMENT_LINK; kind++) {
        head->kind = (cs_statement_kind)kind;
        head->predicate = cs_predicate_of(head->kind);
        if (cs_view_is(type, head->predicate->type)) return CS_OK;
    }
    return cs_fail_differs(r->err, CS_CODE_STATEMENT_TYPE, "the statement has a predicate type that is not known here",
                           cs_view_of(CS_PREDICATE_BASE "..."), type);
}

/* ---- the whole ------------------------------------------------------------------------------------ */

/* Where the fields of a kind go. */
static void *place_of(cs_statement *statement) {
    switch (statement->kind) {
    case CS_STATEMENT_RECORD:
        return statement->record;
    case CS_STATEMENT_CLOSE:
        return &statement->close;
    case CS_STATEMENT_LINK:
        break;
    }
    return &statement->link;
}

static cs_view subject_of(const cs_statement *statement) {
    switch (statement->kind) {
    case CS_STATEMENT_RECORD:
        return cs_bytes_view(&statement->record->record_sha256);
    case CS_STATEMENT_CLOSE:
        return cs_view_of(statement->close.session);
    case CS_STATEMENT_LINK:
        break;
    }
    return cs_subject_of_link(&statement->link);
}

/* An entry's link has the digest of the entry; a checkpoint has none, and the number of lines. */
static cs_result check_link(const reader *r, const cs_bundle_link *link) {
    bool has_entry = link->entry_sha256[0] != '\0';
    if (link->index == 0) return fail_member(r, CS_CODE_STATEMENT_MALFORMED, "index", "lines are numbered from 1");
    if (has_entry == link->checkpoint)
        return fail_member(r, CS_CODE_STATEMENT_MALFORMED, "entry_sha256",
                           "exactly one of an entry's digest and a checkpoint was expected");
    if (!link->checkpoint && link->lines != 0)
        return fail_member(r, CS_CODE_STATEMENT_MALFORMED, "lines", "only a checkpoint counts lines");
    return CS_OK;
}

/* The checkpoint on the first line of a bundle: no line stands before it, so its subject is no digest. */
static bool is_first_checkpoint(const cs_statement *statement) {
    const cs_bundle_link *link = &statement->link;
    return statement->kind == CS_STATEMENT_LINK && link->checkpoint && link->index == 1 && link->lines == 0 &&
           link->previous_sha256[0] == '\0';
}

static cs_result check_subject(const reader *r, const heading *head, const cs_statement *statement) {
    if (head->digest[0] == '\0' && !is_first_checkpoint(statement)) return fail_digest(r);
    if (!cs_view_is(cs_view_of(head->name), head->predicate->subject))
        return cs_fail_differs(r->err, CS_CODE_STATEMENT_SUBJECT, "the statement has a subject of another name",
                               cs_view_of(head->predicate->subject), cs_view_of(head->name));
    if (!cs_view_equal(cs_view_of(head->digest), subject_of(statement)))
        return cs_fail_differs(r->err, CS_CODE_STATEMENT_SUBJECT, "the statement's subject is not its predicate's",
                               subject_of(statement), cs_view_of(head->digest));
    return CS_OK;
}

/* One unit of what was built, and the same of what was signed: a byte, or an escape. Encoders of
 * different age write \b and \f in one of two ways; nothing else has two. */
static size_t same_unit(cs_view built, cs_view signed_text, size_t *built_step) {
    *built_step = built.ptr[0] == '\\' && built.len >= 2 ? 2 : 1;
    if (signed_text.len >= *built_step && memcmp(built.ptr, signed_text.ptr, *built_step) == 0) return *built_step;
    if (*built_step == 1 || signed_text.len < 6) return 0;
    if (built.ptr[1] == 'b' && memcmp(signed_text.ptr, "\\u0008", 6) == 0) return 6;
    if (built.ptr[1] == 'f' && memcmp(signed_text.ptr, "\\u000c", 6) == 0) return 6;
    return 0;
}

static bool same_text(cs_view built, cs_view signed_text) {
    if (cs_view_equal(built, signed_text)) return true;
    size_t i = 0;
    size_t j = 0;
    while (i < built.len) {
        size_t step;
        size_t signed_step = same_unit(cs_view_bytes(built.ptr + i, built.len - i),
                                       cs_view_bytes(signed_text.ptr + j, signed_text.len - j), &step);
        if (signed_step == 0) return false;
        i += step;
        j += signed_step;
    }
    return j == signed_text.len;
}

static cs_result check_rebuilt(const reader *r, const heading *head, cs_statement *statement, cs_view payload) {
    /* Nothing grows more when it is built than a raw '<', to six bytes. */
    CS_AUTO_BUF built = CS_BUF_INIT(payload.len * 6);
    if (!cs_buf_reserve(&built, payload.len) ||
        !cs_statement_build(head->predicate, subject_of(statement), place_of(statement), &built))
        return fail_memory(r);
    if (same_text(cs_buf_view(&built), payload)) return CS_OK;
    return cs_fail(r->err, CS_CODE_STATEMENT_NOT_REBUILT,
                   "the statement is not the bytes that its own fields give; it was not written by an exact encoder");
}

static cs_result read_all(reader *r, heading *head, cs_statement *out) {
    cs_result result = read_type(r);
    if (result == CS_OK) result = read_subject(r, head);
    if (result == CS_OK) result = read_predicate_type(r, head);
    if (result == CS_OK) result = take_next(r, "predicate");
    if (result != CS_OK) return result;

    out->kind = head->kind;
    if (out->kind == CS_STATEMENT_RECORD) {
        out->record = malloc(sizeof *out->record);
        if (!out->record) return fail_memory(r);
        plimsoll__v1__run_record__init(out->record);
    }
    result = read_predicate(r, head->predicate, place_of(out));
    if (result == CS_OK) result = take_mark(r, '}');
    if (result == CS_OK && !cs_lex_end(&r->lex)) result = fail_lex(r);
    return result;
}

cs_result cs_statement_read(cs_view payload, cs_statement *out, cs_error *err) {
    *out = (cs_statement){0};
    reader r = {.lex = cs_lex_of(payload), .scratch = CS_BUF_INIT(payload.len), .err = err};
    heading head = {0};
    cs_result result = read_all(&r, &head, out);
    if (result == CS_OK && out->kind == CS_STATEMENT_LINK) result = check_link(&r, &out->link);
    if (result == CS_OK) result = check_subject(&r, &head, out);
    if (result == CS_OK) result = check_rebuilt(&r, &head, out, payload);
    if (result != CS_OK) cs_statement_free(out);
    cs_buf_free(&r.scratch);
    return result;
}

void cs_statement_free(cs_statement *statement) {
    if (!statement) return;
    cs_message_free(statement->record);
    *statement = (cs_statement){0};
}
