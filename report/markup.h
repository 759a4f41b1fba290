/* Writing markup that nothing in the data can break out of.
 *
 * The page is HTML that is also well-formed XML: every element is closed, every attribute quoted, no entity but the
 * five of XML. What is ours is written with cs_markup_raw and cs_markup_printf; what came from a daemon or a file only
 * with cs_markup_data and what is built on it. Data becomes text, never the name or the value of anything.
 */
#ifndef CS_REPORT_MARKUP_H
#define CS_REPORT_MARKUP_H

#include "records/base.h"
#include "records/error.h"

/* Where markup goes. Once something does not fit, nothing more is written, and `full` says so. */
typedef struct cs_markup {
    cs_buf buf;
    bool full;
} cs_markup;

void cs_markup_begin(cs_markup *out, size_t max_bytes);
void cs_markup_free(cs_markup *out);

/* Markup of our own. Nothing is escaped: arguments of cs_markup_printf must be numbers, or words from our own tables.
 */
void cs_markup_raw(cs_markup *out, const char *markup);
void cs_markup_printf(cs_markup *out, const char *fmt, ...) CS_PRINTF(2, 3);
/* What another one holds. */
void cs_markup_add(cs_markup *out, const cs_markup *more);
/* The same before what stands at byte `at`. */
void cs_markup_insert(cs_markup *out, size_t at, const cs_markup *more);

/* Text of our own, or of a cs_error, which is safe to print: only what markup would take for its own is escaped. */
void cs_markup_text(cs_markup *out, const char *text);

/* Bytes of somebody else's as text. Controls, directional and invisible characters, what is not UTF-8 and what XML has
 * no place for stand as \xNN or \u{NNNN} in an element that shows as a box, so that they differ from the same
 * characters written out. Without `lines`, newlines and tabs do so too. */
void cs_markup_data(cs_markup *out, cs_view bytes, bool lines);

/* The same in an element that keeps its direction to itself, of at most `max` bytes, with a note of how many were cut.
 * An empty one is said to be empty. */
void cs_markup_short(cs_markup *out, cs_view bytes, size_t max);

/* The same as an entry of a <dl>, behind a label of ours. */
void cs_markup_fact(cs_markup *out, const char *label, cs_view text, size_t max);

/* Copy bytes of somebody else's that are shown later; of more than `size` the beginning, and "..." behind it. `size` is
 * more than 3. Returns how many bytes are there. */
size_t cs_markup_keep(uint8_t *to, size_t size, cs_view text);

/* A moment, in UTC. */
void cs_markup_time(cs_markup *out, int64_t unix_ms);

#endif
