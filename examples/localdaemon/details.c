#include "examples/localdaemon/details.h"

#include "records/compactjson.h"
#include "records/text.h"

#define MAX_DETAIL 8192u

/* Append one detail, with a comma before it when it is not the first. */
static bool write_detail(const char *type, const ProtobufCMessage *message, bool first, cs_buf *out) {
    CS_AUTO_BUF binary = CS_BUF_INIT(MAX_DETAIL);
    CS_AUTO_BUF text = CS_BUF_INIT(2 * (size_t)MAX_DETAIL);
    if (cs_message_encode(message, &binary, NULL) != CS_OK || !cs_base64_append(&text, cs_buf_view(&binary)))
        return false;
    /* The Connect protocol writes the value of a detail without padding. */
    while (text.len > 0 && text.ptr[text.len - 1] == '=')
        text.len--;
    return cs_buf_text(out, first ? "{" : ",{") && cs_json_text(out, "type", cs_view_of(type)) &&
           cs_json_text(out, "value", cs_buf_view(&text)) && cs_buf_byte(out, '}');
}

static bool write_body(cs_connect_code code, const char *message, const Plimsoll__V1__NotDispatched *mark,
                       const Plimsoll__V1__SessionEnded *ended, const Plimsoll__V1__UnansweredCall *unanswered,
                       cs_buf *out) {
    const struct {
        const char *type;
        const ProtobufCMessage *message;
    } details[] = {{"plimsoll.v1.NotDispatched", mark != NULL ? &mark->base : NULL},
                   {"plimsoll.v1.SessionEnded", ended != NULL ? &ended->base : NULL},
                   {"plimsoll.v1.UnansweredCall", unanswered != NULL ? &unanswered->base : NULL}};
    bool good = cs_buf_byte(out, '{') && cs_json_text(out, "code", cs_view_of(cs_connect_word(code))) &&
                cs_json_text(out, "message", cs_view_of(message)) && cs_json_name(out, "details") &&
                cs_buf_byte(out, '[');
    bool first = true;
    for (size_t i = 0; i < sizeof(details) / sizeof(details[0]) && good; i++) {
        if (details[i].message == NULL) continue;
        good = write_detail(details[i].type, details[i].message, first, out);
        first = false;
    }
    return good && cs_buf_text(out, "]}");
}

bool ld_details_write(cs_connect_code code, const char *message, const Plimsoll__V1__NotDispatched *mark,
                      const Plimsoll__V1__SessionEnded *ended, const Plimsoll__V1__UnansweredCall *unanswered,
                      cs_buf *out) {
    size_t before = out->len;
    bool good = write_body(code, message, mark, ended, unanswered, out);
    if (!good) out->len = before;
    return good;
}
