/* The lines of imported bundles in a ledger. What a row lacks of its line is rebuilt, and the link says which line it
 * follows: several bundles may stand in one ledger, in pieces between one another. */
#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "verify/internal.h"
#include "verify/line.h"

/* One row with a link, while it is checked. */
typedef struct line_case {
    cs_imported *imported;
    cs_memory *memory;
    cs_linked *linked;
    cs_bundle_link expected; /* as far as the row itself shows it */
    cs_imported_line line;   /* what is to be remembered */
    cs_imported_line before; /* the line before it, when that is known */
    bool follows;            /* `before` is filled */
} line_case;

static cs_result fail_hash(cs_error *err) {
    return cs_fail(err, CS_CODE_INTERNAL, "SHA-256 failed");
}

/* The line as it stood in its bundle, which was one of legal length. */
static cs_result rebuild(const cs_entry *entry, cs_buf *line, size_t *link_offset, cs_error *err) {
    size_t size = cs_bundle_line_size(entry);
    if (size > CS_MAX_LINE_BYTES)
        return cs_fail(err, CS_CODE_LINK_ENTRY, "the entry with its link is larger than a line of a bundle may be");
    cs_buf_clear(line);
    if (cs_bundle_line_write(entry, line, link_offset)) return CS_OK;
    return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to rebuild a line of %zu bytes", size);
}

/* The digests of the rebuilt line: the whole, and without its link. */
static cs_result digest_line(line_case *c, cs_workspace *work, cs_error *err) {
    size_t link_offset = 0;
    cs_digest digest;
    cs_result result = rebuild(c->linked->entry, &work->line, &link_offset, err);
    if (result != CS_OK) return result;
    cs_sha256_update(work->hash, work->line.ptr, work->line.len);
    if (!cs_sha256_final(work->hash, c->line.digest)) return fail_hash(err);
    c->expected.checkpoint = c->linked->entry->envelope.ptr == NULL;
    c->line.checkpoint = c->expected.checkpoint;
    if (c->expected.checkpoint) return CS_OK;
    if (!cs_bundle_entry_digest(work->hash, cs_buf_view(&work->line), link_offset, &digest)) return fail_hash(err);
    memcpy(c->expected.entry_sha256, digest.hex, sizeof c->expected.entry_sha256);
    return CS_OK;
}

/* The line that this one names as the one before it. */
static cs_result check_before(line_case *c, cs_error *err) {
    const cs_bundle_link *found = &c->linked->link;
    uint8_t digest[CS_SHA256_BYTES];
    if (sodium_hex2bin(digest, sizeof digest, found->previous_sha256, CS_SHA256_HEX, NULL, NULL, NULL) != 0)
        return cs_fail(err, CS_CODE_INTERNAL, "the digest in a link is not hexadecimal");
    cs_result result = cs_memory_find_line(c->memory, digest, &c->before, &c->follows, err);
    if (result != CS_OK) return result;
    if (!c->follows) {
        if (cs_holes_excuse(&c->imported->before, 0, 1)) return CS_OK;
        return cs_fail(err, CS_CODE_LINK_PREVIOUS,
                       "this was line %" PRIu64
                       " of a bundle, and the line that it follows (%s) does not stand before it",
                       found->index, found->previous_sha256);
    }
    if (found->index - 1 != c->before.index)
        return cs_fail(err, CS_CODE_LINK_INDEX,
                       "this was signed as line %" PRIu64 " of a bundle, and the line that it follows is line %" PRIu64,
                       found->index, c->before.index);
    if (c->before.followed)
        return cs_fail(err, CS_CODE_LINK_PREVIOUS,
                       "this is the second line that follows line %" PRIu64 " of a bundle (entry %" PRIu64
                       "); only one can",
                       c->before.index, c->before.entry);
    return CS_OK;
}

static cs_result check_place(line_case *c, cs_error *err) {
    const cs_bundle_link *found = &c->linked->link;
    if (found->previous_sha256[0] != '\0') return check_before(c, err);
    if (found->index == 1) return CS_OK;
    return cs_fail(err, CS_CODE_LINK_PREVIOUS,
                   "this was line %" PRIu64 " of a bundle, and its link names no line before it", found->index);
}

static int64_t newer(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static cs_result check_statement(line_case *c, cs_view payload, cs_error *err) {
    cs_bundle_link *found = &c->linked->link;
    cs_result result = cs_link_read(payload, found, err);
    if (result == CS_OK) result = check_place(c, err);
    if (result == CS_OK) result = cs_link_check_entry(found, &c->expected, c->linked->content_bad, err);
    c->line.index = found->index;
    c->line.newest_ms = newer(c->linked->ended_ms, c->follows ? c->before.newest_ms : INT64_MIN);
    return result;
}

static cs_result check_link(line_case *c, const cs_trust *trust, cs_workspace *work, cs_error *err) {
    cs_envelope envelope;
    cs_result result = digest_line(c, work, err);
    if (result == CS_OK) result = cs_link_open(c->linked->entry, trust, work, &envelope, err);
    if (result == CS_OK) {
        result = check_statement(c, cs_buf_view(&envelope.payload), err);
        if (result == CS_OK) result = cs_trust_check_time(trust, envelope.keyid, c->line.newest_ms, INT64_MAX, err);
        cs_envelope_free(&envelope);
    }
    return result;
}

/* What later lines of the bundle have to fit. */
static cs_result remember(line_case *c, cs_error *err) {
    bool added = false;
    c->line.holes = c->imported->after.seen;
    cs_result result = cs_memory_add_line(c->memory, &c->line, &added, err);
    if (result != CS_OK) return result;
    if (!added) return cs_fail(err, CS_CODE_LINK_PREVIOUS, "the same line of a bundle stands in this ledger before");
    return c->follows ? cs_memory_follow_line(c->memory, c->before.digest, err) : CS_OK;
}

void cs_imported_skip(cs_imported *imported) {
    imported->before.seen++;
    imported->after.seen++;
}

cs_result cs_imported_check(cs_imported *imported, cs_memory *memory, cs_linked *linked, const cs_trust *trust,
                            cs_workspace *work, cs_error *err) {
    line_case c = {.imported = imported, .memory = memory, .linked = linked, .line.entry = linked->entry->number};
    cs_result result = check_link(&c, trust, work, err);
    /* Bad content may be other bytes than the next line was linked to. */
    bool as_signed = strcmp(linked->link.entry_sha256, c.expected.entry_sha256) == 0;
    if (result == CS_OK && as_signed) result = remember(&c, err);
    if (result != CS_OK || !as_signed) cs_imported_skip(imported);
    if (result != CS_OK) cs_error_where(err, "link");
    return result;
}

cs_result cs_imported_end(cs_imported *imported, const cs_imported_line *line, cs_error *err) {
    if (cs_holes_excuse(&imported->after, line->holes, 1)) return CS_OK;
    return cs_fail(err, CS_CODE_CHECKPOINT_MISSING,
                   "this was line %" PRIu64
                   " of an imported bundle, and no checkpoint stands behind it here; lines may "
                   "be missing at its end",
                   line->index);
}
