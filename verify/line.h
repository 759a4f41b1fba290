/* One line of a bundle from its parts: docs/FORMAT.md, "Bundle". The reverse of cs_bundle_line_split, byte for
 * byte: what was split and is put together again is the same line.
 */
#ifndef CS_VERIFY_LINE_H
#define CS_VERIFY_LINE_H

#include "verify/source.h"

/* Append the line without its newline. `request`, `response` and `envelope` go in as far as they are present
 * (ptr not NULL); all absent and a link: a checkpoint. *link_offset (may be NULL) becomes where `,"link":` begins, or
 * would begin, counted from the start of the line; 0 of a checkpoint. False when `out` has no room. */
CS_MUST_CHECK bool cs_bundle_line_write(const cs_entry *entry, cs_buf *out, size_t *link_offset);

/* How many bytes that line has; a legal one has at most CS_MAX_LINE_BYTES. */
size_t cs_bundle_line_size(const cs_entry *entry);

/* SHA-256 of a line as it would be without its link, which begins at `link_offset` (entry_sha256 of the link).
 * False only when the hash fails. */
CS_MUST_CHECK bool cs_bundle_entry_digest(cs_sha256 *hash, cs_view line, size_t link_offset, cs_digest *out);

#endif
