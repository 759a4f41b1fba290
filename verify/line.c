#include "verify/line.h"

#include <string.h>

#include "records/compactjson.h"
#include "records/text.h"

/* `"name":"<base64>"`, when it is there. */
static bool put_message(cs_buf *out, const char *name, cs_view bytes) {
    if (bytes.ptr == NULL) return true;
    return cs_json_name(out, name) && cs_buf_byte(out, '"') && cs_base64_append(out, bytes) && cs_buf_byte(out, '"');
}

/* An object of its own, as it is, when it is there. */
static bool put_object(cs_buf *out, const char *name, cs_view json) {
    if (json.ptr == NULL) return true;
    return cs_json_name(out, name) && cs_buf_append(out, json.ptr, json.len);
}

bool cs_bundle_line_write(const cs_entry *entry, cs_buf *out, size_t *link_offset) {
    size_t start = out->len;
    bool good = cs_buf_byte(out, '{') && put_message(out, "request", entry->request) &&
                put_message(out, "response", entry->response) && put_object(out, "envelope", entry->envelope);
    size_t offset = out->len - start;
    good = good && put_object(out, "link", entry->link) && cs_buf_byte(out, '}');
    if (!good) {
        out->len = start;
        return false;
    }
    if (link_offset != NULL) *link_offset = entry->envelope.ptr == NULL ? 0 : offset;
    return true;
}

size_t cs_bundle_line_size(const cs_entry *entry) {
    const cs_view messages[] = {entry->request, entry->response};
    const cs_view objects[] = {entry->envelope, entry->link};
    size_t size = 1; /* two braces, and one comma less than members */
    size += messages[0].ptr != NULL ? strlen("'request':'',") : 0;
    size += messages[1].ptr != NULL ? strlen("'response':'',") : 0;
    size += objects[0].ptr != NULL ? strlen("'envelope':,") : 0;
    size += objects[1].ptr != NULL ? strlen("'link':,") : 0;
    for (int i = 0; i < 2; i++)
        size += (messages[i].len + 2) / 3 * 4 + objects[i].len;
    return size;
}

bool cs_bundle_entry_digest(cs_sha256 *hash, cs_view line, size_t link_offset, cs_digest *out) {
    cs_sha256_update(hash, line.ptr, link_offset);
    cs_sha256_update(hash, "}", 1);
    return cs_sha256_final_hex(hash, out);
}
