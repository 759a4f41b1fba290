#include "records/dsse.h"

#include <string.h>

#include "records/text.h"

/* The fixed pieces of the exact form, between which stand the four values. */
#define PIECE_TYPE "{\"payloadType\":\""
#define PIECE_PAYLOAD "\",\"payload\":\""
#define PIECE_KEYID "\",\"signatures\":[{\"keyid\":\""
#define PIECE_SIG "\",\"sig\":\""
#define PIECE_END "\"}]}"

#define KEYID_DIGITS 64u

/* ---- encoding ------------------------------------------------------------------------------------- */

/* A length in decimal digits, and the space behind it. */
static bool put_length(cs_buf *out, size_t len) {
    cs_decimal number = cs_decimal_u64(len);
    cs_view digits = cs_decimal_view(&number);
    return cs_buf_append(out, digits.ptr, digits.len) && cs_buf_byte(out, ' ');
}

bool cs_dsse_pae(const char *type, cs_view payload, cs_buf *out) {
    size_t before = out->len;
    if (cs_buf_text(out, "DSSEv1 ") && put_length(out, strlen(type)) && cs_buf_text(out, type) &&
        cs_buf_byte(out, ' ') && put_length(out, payload.len) && cs_buf_append(out, payload.ptr, payload.len))
        return true;
    out->len = before;
    return false;
}

bool cs_envelope_encode(cs_view payload, const char keyid[65], const uint8_t signature[CS_SIGNATURE_BYTES],
                        cs_buf *out) {
    /* What could not be decoded again is not written. */
    if (payload.len > CS_MAX_STATEMENT_BYTES || !cs_is_hex(cs_view_of(keyid), KEYID_DIGITS)) return false;
    size_t before = out->len;
    if (cs_buf_text(out, PIECE_TYPE CS_PAYLOAD_TYPE PIECE_PAYLOAD) && cs_base64_append(out, payload) &&
        cs_buf_text(out, PIECE_KEYID) && cs_buf_text(out, keyid) && cs_buf_text(out, PIECE_SIG) &&
        cs_base64_append(out, cs_view_bytes(signature, CS_SIGNATURE_BYTES)) && cs_buf_text(out, PIECE_END))
        return true;
    out->len = before;
    return false;
}

/* ---- decoding ------------------------------------------------------------------------------------- */

typedef struct scanner {
    cs_view text;
    size_t at;
    cs_error *err;
} scanner;

static cs_result fail(const scanner *scan, const char *what) {
    cs_result result =
        cs_fail(scan->err, CS_CODE_ENVELOPE_MALFORMED, "the envelope is not of the exact form: %s", what);
    cs_error_where(scan->err, "byte %zu", scan->at);
    return result;
}

static cs_result take_piece(scanner *scan, const char *piece) {
    size_t len = strlen(piece);
    if (scan->text.len - scan->at < len || memcmp(scan->text.ptr + scan->at, piece, len) != 0) {
        cs_result result = fail(scan, "another member or form stands here");
        if (scan->err) cs_escape_short(cs_view_of(piece), scan->err->expected, sizeof scan->err->expected);
        return result;
    }
    scan->at += len;
    return CS_OK;
}

/* The bytes up to the next quote, which stays. None of the values needs an escape, so an escaped
 * quote only ends in a value that is refused. */
static cs_result take_value(scanner *scan, cs_view *value) {
    const uint8_t *from = scan->text.ptr + scan->at;
    const uint8_t *quote = memchr(from, '"', scan->text.len - scan->at);
    if (!quote) return fail(scan, "the value that begins here has no end");
    *value = cs_view_bytes(from, (size_t)(quote - from));
    scan->at += value->len;
    return CS_OK;
}

static cs_result take_type(scanner *scan) {
    cs_view type = {0};
    cs_result result = take_piece(scan, PIECE_TYPE);
    if (result == CS_OK) result = take_value(scan, &type);
    if (result != CS_OK) return result;
    if (cs_view_is(type, CS_PAYLOAD_TYPE)) return CS_OK;
    return cs_fail_differs(scan->err, CS_CODE_ENVELOPE_TYPE, "the envelope has another payload type",
                           cs_view_of(CS_PAYLOAD_TYPE), type);
}

/* A base64 value behind `piece`. Room is made first, so that a refusal means the text and not memory. */
static cs_result take_base64(scanner *scan, const char *piece, cs_buf *out, const char *refusal) {
    cs_view text = {0};
    cs_result result = take_piece(scan, piece);
    size_t from = scan->at;
    if (result == CS_OK) result = take_value(scan, &text);
    if (result != CS_OK) return result;
    size_t padding = 0;
    while (padding < 2 && padding < text.len && text.ptr[text.len - 1 - padding] == '=')
        padding++;
    size_t size = text.len / 4 * 3;
    size -= padding <= size ? padding : size;
    if (size <= out->max && !cs_buf_reserve(out, size))
        return cs_fail(scan->err, CS_CODE_NO_MEMORY, "there is no memory for an envelope of %zu bytes", scan->text.len);
    if (cs_base64_decode(text, out)) return CS_OK;
    scan->at = from;
    return fail(scan, refusal);
}

static cs_result take_payload(scanner *scan, cs_buf *payload) {
    return take_base64(scan, PIECE_PAYLOAD, payload, "the payload is not padded canonical base64, or too long");
}

static cs_result take_keyid(scanner *scan, char keyid[KEYID_DIGITS + 1]) {
    cs_view text = {0};
    cs_result result = take_piece(scan, PIECE_KEYID);
    size_t from = scan->at;
    if (result == CS_OK) result = take_value(scan, &text);
    if (result != CS_OK) return result;
    if (!text.ptr || !cs_is_hex(text, KEYID_DIGITS)) {
        scan->at = from;
        return fail(scan, "the key id is not 64 lowercase hexadecimal digits");
    }
    memcpy(keyid, text.ptr, KEYID_DIGITS);
    keyid[KEYID_DIGITS] = '\0';
    return CS_OK;
}

static cs_result take_signature(scanner *scan, uint8_t signature[CS_SIGNATURE_BYTES]) {
    static const char refusal[] = "the signature is not padded canonical base64 of 64 bytes";
    CS_AUTO_BUF bytes = CS_BUF_INIT(CS_SIGNATURE_BYTES);
    cs_result result = take_base64(scan, PIECE_SIG, &bytes, refusal);
    if (result != CS_OK) return result;
    if (bytes.len != CS_SIGNATURE_BYTES) return fail(scan, refusal);
    memcpy(signature, bytes.ptr, CS_SIGNATURE_BYTES);
    return CS_OK;
}

static cs_result take_end(scanner *scan) {
    cs_result result = take_piece(scan, PIECE_END);
    if (result != CS_OK) return result;
    return scan->at == scan->text.len ? CS_OK : fail(scan, "something stands behind the envelope");
}

cs_result cs_envelope_decode(cs_view json, cs_envelope *out, cs_error *err) {
    *out = (cs_envelope){.payload = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES)};
    scanner scan = {.text = json, .err = err};
    if (json.len > CS_MAX_ENVELOPE_BYTES) return fail(&scan, "it is longer than any envelope may be");
    cs_result result = take_type(&scan);
    if (result == CS_OK) result = take_payload(&scan, &out->payload);
    if (result == CS_OK) result = take_keyid(&scan, out->keyid);
    if (result == CS_OK) result = take_signature(&scan, out->signature);
    if (result == CS_OK) result = take_end(&scan);
    if (result != CS_OK) cs_envelope_free(out);
    return result;
}

void cs_envelope_free(cs_envelope *envelope) {
    if (!envelope) return;
    cs_buf_free(&envelope->payload);
    *envelope = (cs_envelope){.payload = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES)};
}
