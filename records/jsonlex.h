/* Tokens of JSON text (RFC 8259), exactly.
 *
 * The readers of proto3 JSON and of statements stand on this. They need what a document tree of a JSON
 * library loses: integers up to 2^64-1, the sign of -0, the digits of a number as they were written. They
 * also write straight into the message, so that a hostile array of small numbers costs no more than
 * the numbers. Nothing here recurses. Numbers are converted in the C locale: no program of ours
 * calls setlocale.
 */
#ifndef CS_RECORDS_JSONLEX_H
#define CS_RECORDS_JSONLEX_H

#include "records/error.h"

/* A place in the text, which is borrowed. A plain value: a copy is a mark to come back to. */
typedef struct cs_lex {
    const uint8_t *start;
    const uint8_t *pos;
    const uint8_t *end;
    const char *problem; /* what is wrong at pos, once a function has answered false */
    bool no_memory;      /* the cause is not the text */
} cs_lex;

cs_lex cs_lex_of(cs_view text);

/* Skip white space; the next byte, or 0 at the end of the text. */
uint8_t cs_lex_peek(cs_lex *lex);
/* Skip white space; is it this mark ({ } [ ] : ,)? Consumes it only then. */
bool cs_lex_try(cs_lex *lex, char mark);
CS_MUST_CHECK bool cs_lex_mark(cs_lex *lex, char mark);
/* true, false or null. Consumes it only when it is there. */
bool cs_lex_word(cs_lex *lex, const char *word);
/* Nothing but white space is left. */
CS_MUST_CHECK bool cs_lex_end(cs_lex *lex);

/* A string, decoded to UTF-8. *out borrows from the text, or from `scratch` (cleared first) when there
 * is an escape. Refuses bytes that are not UTF-8 and halves of surrogate pairs. */
CS_MUST_CHECK bool cs_lex_string(cs_lex *lex, cs_buf *scratch, cs_view *out);

/* A number as it stands. */
CS_MUST_CHECK bool cs_lex_number(cs_lex *lex, cs_view *out);

/* CS_CODE_JSON_MALFORMED (or no memory) with the problem, and line and column in where. */
cs_result cs_lex_fail(const cs_lex *lex, cs_error *err);

/* A number of the JSON grammar as sign and magnitude. False when it is not whole or above 2^64-1.
 * 1.0 and 1e3 are whole; zero is never negative. */
CS_MUST_CHECK bool cs_number_whole(cs_view number, bool *negative, uint64_t *magnitude);
/* The nearest double. False when there is none (1e400) or the number has over a thousand characters. */
CS_MUST_CHECK bool cs_number_double(cs_view number, double *out);
/* Append the shortest decimal that reads back as the same finite double. */
CS_MUST_CHECK bool cs_number_append(cs_buf *out, double value);

#endif
