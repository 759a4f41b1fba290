/* The two lines that each program prints. Every byte is a stranger's. */
#include <string.h>

#include "harness/probe_parts.h"
#include "records/text.h"

#define MAX_NUMBER ((json_int_t)1 << 53)

bool cs_probe_take_number(const json_t *value, int64_t *out) {
    *out = CS_PROBE_UNKNOWN;
    if (json_is_null(value)) return true;
    if (!json_is_integer(value)) return false;
    json_int_t number = json_integer_value(value);
    if (number > MAX_NUMBER || number < -MAX_NUMBER) return false;
    *out = number;
    return true;
}

cs_result cs_probe_malformed(cs_error *err, const char *what) {
    return cs_fail(err, CS_CODE_TIER_PROBE, "what came back is not what a probe prints: %s", what);
}

bool cs_probe_is_word(const json_t *value, const char *word) {
    return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

/* Cut the output into its JSON line and the 64 digits below it. */
static bool cut_lines(cs_view output, cs_view *line, cs_view *digest) {
    if (output.len > CS_PROBE_MAX_ANSWER || output.len < CS_SHA256_HEX + 3) return false;
    size_t at = output.len - CS_SHA256_HEX - 2;
    if (output.ptr[at] != '\n' || output.ptr[output.len - 1] != '\n') return false;
    *line = cs_view_bytes(output.ptr, at);
    *digest = cs_view_bytes(output.ptr + at + 1, CS_SHA256_HEX);
    return cs_is_hex(*digest, CS_SHA256_HEX) && memchr(line->ptr, '\n', line->len) == NULL;
}

static cs_result check_digest(const char *domain, const char *nonce, cs_view line, cs_view stated, cs_error *err) {
    cs_sha256 *hash = cs_sha256_new();
    if (hash == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a running hash");
    cs_digest digest;
    cs_sha256_update(hash, domain, strlen(domain));
    cs_sha256_update(hash, "\n", 1);
    cs_sha256_update(hash, nonce, strlen(nonce));
    cs_sha256_update(hash, "\n", 1);
    cs_sha256_update(hash, line.ptr, line.len);
    bool done = cs_sha256_final_hex(hash, &digest);
    cs_sha256_free(hash);
    if (!done) return cs_fail(err, CS_CODE_INTERNAL, "a hash failed");
    if (cs_view_equal(cs_digest_view(&digest), stated)) return CS_OK;
    return cs_fail_differs(err, CS_CODE_TIER_NONCE, "the digest of a probe's answer with this run's nonce",
                           cs_digest_view(&digest), stated);
}

cs_result cs_probe_line(const char *domain, const char *nonce, cs_view output, json_t **out, cs_error *err) {
    *out = NULL;
    cs_view line, digest;
    if (!cut_lines(output, &line, &digest)) return cs_probe_malformed(err, "it is not one line and a digest");
    cs_result result = check_digest(domain, nonce, line, digest, err);
    if (result != CS_OK) return result;
    *out = json_loadb((const char *)line.ptr, line.len, JSON_REJECT_DUPLICATES, NULL);
    if (*out == NULL) return cs_probe_malformed(err, "its line is no JSON object, or repeats a member");
    return CS_OK;
}
