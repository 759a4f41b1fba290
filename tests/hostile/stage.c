#include "tests/hostile/stage.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SCRIPT ((size_t)64 * 1024 * 1024)

/* ---- bytes ---------------------------------------------------------------------------------------- */

static void put(cs_buf *out, cs_view bytes) {
    cr_assert(cs_buf_append(out, bytes.ptr, bytes.len));
}

static void put_text(cs_buf *out, const char *text) {
    cr_assert(cs_buf_text(out, text));
}

static size_t occurrences(const cs_buf *buf, cs_view find, size_t *where) {
    size_t found = 0;
    for (size_t at = 0; find.len > 0 && at + find.len <= buf->len; at++) {
        if (memcmp(buf->ptr + at, find.ptr, find.len) != 0) continue;
        *where = at;
        found++;
    }
    return found;
}

bool stage_has(const cs_buf *buf, const char *text) {
    size_t where;
    return occurrences(buf, cs_view_of(text), &where) > 0;
}

void stage_replace(cs_buf *buf, cs_view find, cs_view new_bytes, const char *name) {
    size_t where = 0;
    cr_assert_eq(occurrences(buf, find, &where), 1, "%s: what is to be changed must stand there once", name);
    cs_buf changed = CS_BUF_INIT(MAX_SCRIPT);
    put(&changed, cs_view_bytes(buf->ptr, where));
    put(&changed, new_bytes);
    put(&changed, cs_view_bytes(buf->ptr + where + find.len, buf->len - where - find.len));
    cs_buf_free(buf);
    *buf = changed;
}

void stage_promise(stage *st, size_t len) {
    cs_buf *head = &st->heads[st->attacked];
    cr_assert_gt(head->len, sizeof H_LENGTH H_END - 1);
    head->len -= sizeof H_LENGTH H_END - 1;
    cr_assert(cs_buf_printf(head, "Content-Length: %zu\r\n\r\n", len));
}

/* ---- the messages of a good daemon ---------------------------------------------------------------- */

/* A JSON string of a text in which only a NUL needs an escape. */
static void put_json(cs_buf *out, const char *before, const ProtobufCBinaryData *field, const char *after) {
    put_text(out, before);
    for (size_t i = 0; i < field->len; i++) {
        if (field->data[i] == 0)
            put_text(out, "\\u0000");
        else
            cr_assert(cs_buf_byte(out, field->data[i]));
    }
    put_text(out, after);
}

static void describe_json(const cs_describe_response *d, cs_buf *out) {
    put_json(out, "{\"sandbox\":\"", &d->sandbox, "\",\"isolation\":\"");
    put_json(out, "", &d->isolation, "\",\"policy\":\"");
    put_json(out, "", &d->policy, "\",\"protocol\":");
    cr_assert(cs_buf_printf(out, "%u}", d->protocol));
}

/* As another implementation writes it. It has the sample's own result, and what a test may change. */
static void run_json(const cs_run_response *r, cs_buf *out) {
    const cs_run_record *record = r->record;
    put_json(out, "{\"sandbox\":\"", &r->sandbox, "\",\"isolation\":\"kernel\",\"durationMs\":\"99\",");
    put_json(out, "\"record\":{\"version\":2,\"requestSha256\":\"", &record->request_sha256, "\",");
    put_json(out, "\"resultSha256\":\"", &record->result_sha256, "\",\"provider\":\"gvisor\",");
    put_json(out, "\"isolation\":\"kernel\",\"environment\":\"", &record->environment, "\",");
    put_text(out, "\"policy\":\"policy:sha256:1\",\"startedUnixMs\":\"1700000000100\",");
    put_text(out, "\"endedUnixMs\":\"1700000000200\",");
    put_json(out, "\"recordSha256\":\"", &record->record_sha256, "\",\"softwareIdentity\":\"" SAMPLE_IDENTITY "\",");
    put_text(out, "\"softwareRuleId\":\"exact:" SAMPLE_IDENTITY "\"},");
    put_json(out, "\"softwareIdentity\":\"" SAMPLE_IDENTITY "\",\"environment\":\"", &r->environment, "\",");
    put_text(out, "\"javascript\":{\"stdout\":\"Mgo=\"}}");
}

static void pack(const ProtobufCMessage *message, cs_buf *out) {
    size_t len = protobuf_c_message_get_packed_size(message);
    cr_assert(cs_buf_reserve(out, len + 1));
    protobuf_c_message_pack(message, out->ptr);
    out->len = len;
}

static void build_bodies(stage *st) {
    const cs_describe_response *described[3] = {st->s.before, NULL, st->s.after};
    const bool json = st->config.codec == CS_CODEC_JSON;
    for (size_t i = 0; i < 3; i++) {
        st->bodies[i] = CS_BUF_INIT(MAX_SCRIPT);
        if (described[i] == NULL && !json)
            put(&st->bodies[i], cs_view_bytes(st->s.bytes, st->s.len));
        else if (described[i] == NULL)
            run_json(st->s.response, &st->bodies[i]);
        else if (json)
            describe_json(described[i], &st->bodies[i]);
        else
            pack(&described[i]->base, &st->bodies[i]);
    }
}

/* ---- the script ----------------------------------------------------------------------------------- */

static const char *good_head(const stage *st) {
    return st->config.codec == CS_CODEC_JSON ? H_STATUS H_JSON H_ID H_LENGTH H_END
                                             : H_STATUS H_BINARY H_ID H_LENGTH H_END;
}

static void begin(stage *st, const group *g, size_t attacked) {
    *st = (stage){.attacked = attacked, .config = g->config, .held = g->held};
    st->framed = CS_BUF_INIT(MAX_SCRIPT);
    if (st->config.timeout_ms == 0) st->config.timeout_ms = 20000;
    sample_init(&st->s);
}

static void build_good(stage *st) {
    build_bodies(st);
    for (size_t i = 0; i < 3; i++) {
        st->heads[i] = CS_BUF_INIT(MAX_SCRIPT);
        put_text(&st->heads[i], good_head(st));
    }
}

static void base_answer(stage *st, const group *g) {
    if (g->head != NULL) {
        cs_buf_clear(&st->heads[st->attacked]);
        put_text(&st->heads[st->attacked], g->head);
    }
    if (g->body != NULL) {
        cs_buf_clear(&st->bodies[st->attacked]);
        put_text(&st->bodies[st->attacked], g->body);
    }
}

static void change_answer(stage *st, const play *p) {
    cs_buf *head = &st->heads[st->attacked];
    cs_buf *body = &st->bodies[st->attacked];
    if (p->head_find != NULL) stage_replace(head, cs_view_of(p->head_find), cs_view_of(p->head_put), p->name);
    if (p->body_find.len > 0) stage_replace(body, p->body_find, p->body_put, p->name);
    put(body, p->tail);
    if (p->silent) cs_buf_clear(head);
    peer_step *step = &st->steps[st->attacked];
    step->unread = p->unread;
    step->enough = p->enough;
    step->end = p->end;
}

/* The peer's view of it, once the buffers stay where they are. */
static void finish(stage *st) {
    for (size_t i = 0; i < 3; i++) {
        cr_assert(cs_buf_byte(&st->heads[i], 0));
        st->heads[i].len--;
        st->steps[i].head = st->heads[i].len > 0 ? (const char *)st->heads[i].ptr : NULL;
        const bool framed = i == st->attacked && st->framed.len > 0;
        st->steps[i].body = cs_buf_view(framed ? &st->framed : &st->bodies[i]);
        if (i == st->attacked && st->body_in_head) st->steps[i].body = cs_view_bytes(NULL, 0);
    }
}

void stage_build(stage *st, const group *g, const play *p, size_t attacked) {
    begin(st, g, attacked);
    if (g->prepare != NULL) {
        g->prepare(&st->s);
        sample_seal(&st->s, SEAL_ALL);
    }
    if (p->change != NULL) {
        p->change(&st->s);
        sample_seal(&st->s, p->seal);
    }
    build_good(st);
    base_answer(st, g);
    change_answer(st, p);
    if (g->dress != NULL) g->dress(st);
    if (p->alter != NULL) p->alter(st);
    finish(st);
}

void stage_build_plain(stage *st, const group *g, size_t attacked) {
    begin(st, g, attacked);
    build_good(st);
    finish(st);
}

void stage_free(stage *st) {
    sample_free(&st->s);
    SSL_CTX_free(st->owned_tls);
    for (size_t i = 0; i < 3; i++) {
        cs_buf_free(&st->heads[i]);
        cs_buf_free(&st->bodies[i]);
    }
    cs_buf_free(&st->framed);
}
