/* Reading the body of a Connect error (records/wire.h). */
#include <string.h>

#include "records/jsonlex.h"
#include "records/text.h"
#include "records/wire.h"

#define MAX_DEPTH 256u         /* of what is passed over */
#define MAX_DETAIL_TEXT 87384u /* base64 of 64 KiB: a longer detail is read as one that does not decode */

typedef struct reader {
    cs_lex lex;
    cs_buf scratch; /* strings with escapes, until the next one is read */
    cs_buf type;    /* the same for the two members of a detail */
    cs_buf value;
    cs_connect_error *out;
    cs_error *err;
} reader;

static cs_result fail_memory(const reader *r) {
    return cs_fail(r->err, CS_CODE_NO_MEMORY, "no memory to read an error of the daemon");
}

/* What the reader could not read: for want of memory, or because it is no such body. */
static cs_result fail_form(const reader *r) {
    if (r->lex.no_memory) return fail_memory(r);
    return cs_fail(r->err, CS_CODE_JSON_MALFORMED, "the body is no Connect error");
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

/* A member's name and the colon behind it. */
static bool read_name(reader *r, cs_view *name) {
    return cs_lex_string(&r->lex, &r->scratch, name) && cs_lex_mark(&r->lex, ':');
}

static bool skip_scalar(reader *r) {
    cs_view text;
    cs_lex *lex = &r->lex;
    if (cs_lex_peek(lex) == '"') return cs_lex_string(lex, &r->scratch, &text);
    return cs_lex_word(lex, "true") || cs_lex_word(lex, "false") || cs_lex_word(lex, "null") ||
           cs_lex_number(lex, &text);
}

/* Pass over a value of any kind. `closing` holds the marks that are still to come. */
static bool skip_value(reader *r) {
    char closing[MAX_DEPTH];
    size_t depth = 0;
    cs_view name;
    for (;;) {
        const bool object = cs_lex_try(&r->lex, '{');
        if (object || cs_lex_try(&r->lex, '[')) {
            if (depth == MAX_DEPTH) return false;
            closing[depth++] = object ? '}' : ']';
            if (!cs_lex_try(&r->lex, closing[depth - 1])) {
                if (object && !read_name(r, &name)) return false;
                continue;
            }
            depth--;
        } else if (!skip_scalar(r)) {
            return false;
        }
        for (; depth > 0 && !cs_lex_try(&r->lex, ','); depth--)
            if (!cs_lex_mark(&r->lex, closing[depth - 1])) return false;
        if (depth == 0) return true;
        if (closing[depth - 1] == '}' && !read_name(r, &name)) return false;
    }
}

/* Before the first member or element, and behind each. *more: another one follows. */
static bool has_more(reader *r, char closing, bool first, bool *more) {
    *more = !cs_lex_try(&r->lex, closing);
    return first || !*more || cs_lex_mark(&r->lex, ',');
}

/* ---- one detail ----------------------------------------------------------------------------------- */

/* The name of a type without what stands before its last '/'. */
static cs_view bare_type(cs_view type) {
    const uint8_t *slash = type.len == 0 ? NULL : memrchr(type.ptr, '/', type.len);
    if (slash == NULL) return type;
    size_t skipped = (size_t)(slash + 1 - type.ptr);
    return cs_view_bytes(slash + 1, type.len - skipped);
}

/* The message in a detail; NULL when it does not decode. */
static cs_result decode_detail(const reader *r, cs_view value, const ProtobufCMessageDescriptor *type,
                               ProtobufCMessage **out) {
    *out = NULL;
    if (value.len > MAX_DETAIL_TEXT) return CS_OK;
    CS_AUTO_BUF binary = CS_BUF_INIT(MAX_DETAIL_TEXT);
    if (!cs_buf_reserve(&binary, value.len)) return fail_memory(r);
    if (!cs_base64_decode_lax(value, &binary)) return CS_OK;
    cs_error why = CS_ERROR_INIT;
    if (cs_message_decode(type, cs_buf_view(&binary), out, &why) == CS_OK) return CS_OK;
    return why.code == CS_CODE_NO_MEMORY ? fail_memory(r) : CS_OK;
}

/* A NotDispatched detail that decodes is the mark. */
static cs_result take_mark(reader *r, cs_view value) {
    ProtobufCMessage *message = NULL;
    cs_result result = decode_detail(r, value, &plimsoll__v1__not_dispatched__descriptor, &message);
    if (message == NULL) return result;
    r->out->marked = true;
    r->out->reason = ((const Plimsoll__V1__NotDispatched *)message)->reason;
    cs_message_free(message);
    return CS_OK;
}

static cs_result take_end(reader *r, cs_view value) {
    ProtobufCMessage *message = NULL;
    cs_result result = decode_detail(r, value, &plimsoll__v1__session_ended__descriptor, &message);
    if (message == NULL) return result;
    const Plimsoll__V1__SessionEnded *ended = (const Plimsoll__V1__SessionEnded *)message;
    cs_view text = cs_utf8_cut(cs_bytes_view(&ended->detail), CS_MAX_ERROR_MESSAGE);
    r->out->ended = cs_buf_append(&r->out->end_detail, text.ptr, text.len);
    r->out->end = ended->reason;
    cs_message_free(message);
    return r->out->ended ? CS_OK : fail_memory(r);
}

static cs_result take_unanswered(reader *r, cs_view value) {
    ProtobufCMessage *message = NULL;
    cs_result result = decode_detail(r, value, &plimsoll__v1__unanswered_call__descriptor, &message);
    if (message == NULL) return result;
    Plimsoll__V1__UnansweredCall *call = (Plimsoll__V1__UnansweredCall *)message;
    r->out->unanswered = call->record;
    call->record = NULL;
    cs_message_free(message);
    return CS_OK;
}

/* The first detail of each type that decodes counts. */
static cs_result take_detail(reader *r, cs_view type, cs_view value) {
    cs_view name = bare_type(type);
    if (cs_view_is(name, "plimsoll.v1.NotDispatched")) return r->out->marked ? CS_OK : take_mark(r, value);
    if (cs_view_is(name, "plimsoll.v1.SessionEnded")) return r->out->ended ? CS_OK : take_end(r, value);
    if (cs_view_is(name, "plimsoll.v1.UnansweredCall"))
        return r->out->unanswered != NULL ? CS_OK : take_unanswered(r, value);
    return CS_OK;
}

/* A member that counts once, and only as text. *seen: it stood there before. */
static bool read_text(reader *r, cs_buf *scratch, bool *seen, bool *is_text, cs_view *out) {
    if (*seen) return false;
    *seen = true;
    *is_text = cs_lex_peek(&r->lex) == '"';
    return *is_text ? cs_lex_string(&r->lex, scratch, out) : skip_value(r);
}

static cs_result read_detail(reader *r) {
    bool has_type = false, has_value = false, type_is_text = false, value_is_text = false, more = false;
    cs_view name, type = {0}, value = {0};
    if (!cs_lex_try(&r->lex, '{')) return skip_value(r) ? CS_OK : fail_form(r);
    for (bool first = true; has_more(r, '}', first, &more); first = false) {
        if (!more) return type_is_text && value_is_text ? take_detail(r, type, value) : CS_OK;
        if (!read_name(r, &name)) break;
        bool good;
        if (cs_view_is(name, "type"))
            good = read_text(r, &r->type, &has_type, &type_is_text, &type);
        else if (cs_view_is(name, "value"))
            good = read_text(r, &r->value, &has_value, &value_is_text, &value);
        else
            good = skip_value(r);
        if (!good) break;
    }
    return fail_form(r);
}

/* ---- the body ------------------------------------------------------------------------------------- */

/* Details that are no list are none. */
static cs_result read_details(reader *r) {
    bool more = false;
    if (!cs_lex_try(&r->lex, '[')) return skip_value(r) ? CS_OK : fail_form(r);
    for (bool first = true; has_more(r, ']', first, &more); first = false) {
        if (!more) return CS_OK;
        cs_result result = read_detail(r);
        if (result != CS_OK) return result;
    }
    return fail_form(r);
}

static cs_result read_code(reader *r) {
    cs_view word;
    if (!cs_lex_string(&r->lex, &r->scratch, &word)) return fail_form(r);
    r->out->code = cs_connect_parse(word);
    return r->out->code != CS_CONNECT_NONE ? CS_OK : fail_form(r);
}

static cs_result read_message(reader *r) {
    cs_view text;
    if (!cs_lex_string(&r->lex, &r->scratch, &text)) return fail_form(r);
    text = cs_utf8_cut(text, CS_MAX_ERROR_MESSAGE);
    return cs_buf_append(&r->out->message, text.ptr, text.len) ? CS_OK : fail_memory(r);
}

/* One member; each of the three that are known may stand there once. */
static cs_result read_member(reader *r, unsigned *seen) {
    static const struct {
        const char *name;
        cs_result (*read)(reader *r);
    } members[] = {{"code", read_code}, {"message", read_message}, {"details", read_details}};
    cs_view name;
    if (!read_name(r, &name)) return fail_form(r);
    for (unsigned i = 0; i < sizeof members / sizeof *members; i++) {
        if (!cs_view_is(name, members[i].name)) continue;
        if ((*seen & 1u << i) != 0) return fail_form(r);
        *seen |= 1u << i;
        return members[i].read(r);
    }
    return skip_value(r) ? CS_OK : fail_form(r);
}

static cs_result read_body(reader *r) {
    unsigned seen = 0;
    bool more = false;
    if (!cs_lex_mark(&r->lex, '{')) return fail_form(r);
    for (bool first = true; has_more(r, '}', first, &more); first = false) {
        if (!more) return cs_lex_end(&r->lex) && r->out->code != CS_CONNECT_NONE ? CS_OK : fail_form(r);
        cs_result result = read_member(r, &seen);
        if (result != CS_OK) return result;
    }
    return fail_form(r);
}

cs_result cs_connect_error_read(cs_view body, cs_connect_error *out, cs_error *err) {
    *out = (cs_connect_error){.message = CS_BUF_INIT(CS_MAX_ERROR_MESSAGE),
                              .end_detail = CS_BUF_INIT(CS_MAX_ERROR_MESSAGE)};
    reader r = {.lex = cs_lex_of(body),
                .scratch = CS_BUF_INIT(CS_MAX_ERROR_BODY),
                .type = CS_BUF_INIT(CS_MAX_ERROR_BODY),
                .value = CS_BUF_INIT(CS_MAX_ERROR_BODY),
                .out = out,
                .err = err};
    cs_result result = body.len > CS_MAX_ERROR_BODY ? fail_form(&r) : read_body(&r);
    cs_buf_free(&r.scratch);
    cs_buf_free(&r.type);
    cs_buf_free(&r.value);
    if (result != CS_OK) cs_connect_error_free(out);
    return result;
}

void cs_connect_error_free(cs_connect_error *error) {
    cs_buf_free(&error->message);
    cs_buf_free(&error->end_detail);
    cs_message_free(error->unanswered);
    *error = (cs_connect_error){.message = CS_BUF_INIT(CS_MAX_ERROR_MESSAGE),
                                .end_detail = CS_BUF_INIT(CS_MAX_ERROR_MESSAGE)};
}
