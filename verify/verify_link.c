#include <inttypes.h>
#include <string.h>

#include "verify/internal.h"
#include "verify/line.h"

/* ---- one link ------------------------------------------------------------------------------------ */

cs_result cs_link_open(const cs_entry *entry, const cs_trust *trust, cs_workspace *work, cs_envelope *out,
                       cs_error *err) {
    cs_result result = cs_envelope_decode(entry->link, out, err);
    if (result != CS_OK) return result;
    result = cs_envelope_verify(out, trust, &work->signed_bytes, err);
    if (result != CS_OK) cs_envelope_free(out);
    return result;
}

cs_result cs_link_read(cs_view payload, cs_bundle_link *out, cs_error *err) {
    cs_statement statement;
    cs_result result = cs_statement_read(payload, &statement, err);
    if (result != CS_OK) return result;
    *out = statement.link;
    if (statement.kind != CS_STATEMENT_LINK) {
        result = cs_fail(err, CS_CODE_STATEMENT_TYPE, "the link's statement is not one of a link");
    }
    cs_statement_free(&statement);
    return result;
}

cs_result cs_link_check_entry(const cs_bundle_link *found, const cs_bundle_link *expected, bool content_bad,
                              cs_error *err) {
    if (found->checkpoint != expected->checkpoint) {
        return cs_fail(err, CS_CODE_LINK_ENTRY,
                       found->checkpoint ? "the link of a checkpoint stands on a line that holds an entry"
                                         : "the link of an entry stands alone; its entry was taken out");
    }
    if (found->checkpoint && found->lines != found->index - 1) {
        return cs_fail(err, CS_CODE_CHECKPOINT_LINES,
                       "the checkpoint is line %" PRIu64 " and says that %" PRIu64 " lines stand before it",
                       found->index, found->lines);
    }
    if (strcmp(found->entry_sha256, expected->entry_sha256) == 0 || content_bad) return CS_OK;
    return cs_fail_differs(err, CS_CODE_LINK_ENTRY, "the line is not the one that was linked",
                           cs_view_of(expected->entry_sha256), cs_view_of(found->entry_sha256));
}

/* ---- the lines of a bundle ----------------------------------------------------------------------- */

/* A signed link and what it should say. */
typedef struct link_case {
    cs_lines *lines;
    cs_linked *linked;
    cs_bundle_link expected;
} link_case;

static bool holds_entry(const cs_entry *entry) {
    return entry->envelope.ptr != NULL;
}

static bool digest_line(cs_view line, cs_sha256 *hash, cs_digest *out) {
    cs_sha256_update(hash, line.ptr, line.len);
    return cs_sha256_final_hex(hash, out);
}

/* The link that this line must carry, from where it stands and what it holds. */
static bool expect(const cs_lines *lines, const cs_entry *entry, cs_sha256 *hash, cs_bundle_link *out) {
    *out = (cs_bundle_link){.index = entry->number};
    memcpy(out->previous_sha256, lines->before.hex, sizeof out->previous_sha256);
    if (!holds_entry(entry)) {
        out->checkpoint = true;
        out->lines = entry->number - 1;
        return true;
    }
    cs_digest digest;
    bool good = cs_bundle_entry_digest(hash, entry->line, entry->link_offset, &digest);
    memcpy(out->entry_sha256, digest.hex, sizeof out->entry_sha256);
    return good;
}

static cs_result check_index(link_case *link, const cs_bundle_link *found, cs_error *err) {
    uint64_t number = link->expected.index;
    int64_t shift = (int64_t)(found->index - number);
    bool said = shift == link->lines->shift;
    link->lines->shift = shift;
    /* A shift is one fault, not one of each line behind it. */
    if (shift == 0 || said) return CS_OK;
    return cs_fail(err, CS_CODE_LINK_INDEX,
                   "this line was signed as line %" PRIu64 " and stands as line %" PRIu64
                   "; lines were taken out, put in or moved",
                   found->index, number);
}

static cs_result check_previous(const link_case *link, const cs_bundle_link *found, cs_error *err) {
    if (strcmp(found->previous_sha256, link->expected.previous_sha256) == 0 || link->lines->before_bad) return CS_OK;
    return cs_fail_differs(err, CS_CODE_LINK_PREVIOUS, "the link does not name the line before it",
                           cs_view_of(link->expected.previous_sha256), cs_view_of(found->previous_sha256));
}

/* The signed bytes are not the expected ones: find the fault, if it is one of this line. */
static cs_result explain(link_case *link, cs_view payload, cs_error *err) {
    cs_bundle_link *found = &link->linked->link;
    cs_result result = cs_link_read(payload, found, err);
    if (result == CS_OK) result = check_index(link, found, err);
    if (result == CS_OK) result = check_previous(link, found, err);
    return result == CS_OK ? cs_link_check_entry(found, &link->expected, link->linked->content_bad, err) : result;
}

static cs_result check_statement(link_case *link, cs_view payload, cs_workspace *work, cs_error *err) {
    if (!expect(link->lines, link->linked->entry, work->hash, &link->expected)) {
        return cs_fail(err, CS_CODE_INTERNAL, "SHA-256 failed");
    }
    cs_buf_clear(&work->statement);
    if (!cs_statement_link(&link->expected, &work->statement)) {
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a link's statement");
    }
    if (!cs_view_equal(cs_buf_view(&work->statement), payload)) return explain(link, payload, err);
    link->linked->link = link->expected;
    link->lines->shift = 0;
    return CS_OK;
}

/* A link was signed after the newest record that it covers: those of the lines up to its own. */
static cs_result check_link(link_case *link, const cs_trust *trust, cs_workspace *work, cs_error *err) {
    cs_envelope envelope;
    cs_result result = cs_link_open(link->linked->entry, trust, work, &envelope, err);
    if (result == CS_OK) {
        result = check_statement(link, cs_buf_view(&envelope.payload), work, err);
        if (result == CS_OK)
            result = cs_trust_check_time(trust, envelope.keyid, link->lines->newest_ms, INT64_MAX, err);
        cs_envelope_free(&envelope);
    }
    if (result != CS_OK) cs_error_where(err, "link");
    return result;
}

/* All lines are linked or none. Said where it changes from the first line's way, not for each. */
static cs_result check_mixed(cs_lines *lines, bool linked, cs_error *err) {
    bool said = lines->odd;
    lines->odd = linked != lines->linked;
    if (!lines->odd || said) return CS_OK;
    return cs_fail(err, CS_CODE_BUNDLE_MIXED, "this line has %s link, and the bundle's first line has %s",
                   linked ? "a" : "no", linked ? "none" : "one");
}

/* Move on to the next line. */
static cs_result move_on(cs_lines *lines, uint64_t number, cs_view line, bool bad, cs_workspace *work, cs_error *err) {
    lines->number = number;
    lines->before_bad = bad;
    if (bad) lines->any_bad = true;
    lines->before = (cs_digest){.hex = ""};
    if (line.ptr == NULL) return CS_OK;
    if (!digest_line(line, work->hash, &lines->before)) return cs_fail(err, CS_CODE_INTERNAL, "SHA-256 failed");
    return CS_OK;
}

cs_result cs_lines_check(cs_lines *lines, cs_linked *linked, const cs_trust *trust, cs_workspace *work, cs_error *err) {
    const cs_entry *entry = linked->entry;
    bool has_link = entry->link.ptr != NULL;
    if (!lines->begun) {
        lines->begun = true;
        lines->linked = has_link;
    }
    if (linked->ended_ms > lines->newest_ms) lines->newest_ms = linked->ended_ms;
    cs_result result = check_mixed(lines, has_link, err);
    if (result == CS_OK && has_link) {
        link_case link = {.lines = lines, .linked = linked};
        result = check_link(&link, trust, work, err);
    }
    lines->may_end = has_link && !holds_entry(entry);
    bool bad = linked->content_bad || result != CS_OK;
    /* An unlinked bundle has no use of its own for the digests of its lines. */
    cs_view line = lines->linked || has_link ? entry->line : cs_view_bytes(NULL, 0);
    cs_error moving = CS_ERROR_INIT;
    cs_result moved = move_on(lines, entry->number, line, bad, work, &moving);
    if (moved == CS_OK) return result;
    *err = moving;
    return moved;
}

cs_result cs_lines_skip(cs_lines *lines, uint64_t number, cs_view line, cs_workspace *work, cs_error *err) {
    lines->may_end = true;
    return move_on(lines, number, line, true, work, err);
}

cs_result cs_lines_end(const cs_lines *lines, cs_error *err) {
    if (!lines->linked || lines->may_end) return CS_OK;
    return cs_fail(err, CS_CODE_CHECKPOINT_MISSING,
                   "the linked bundle does not end in a checkpoint; lines may be missing at its end");
}
