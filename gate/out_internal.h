/* What the forms of a verdict share. Only for gate/out*.c. */
#ifndef CS_GATE_OUT_INTERNAL_H
#define CS_GATE_OUT_INTERNAL_H

#include "gate/out.h"
#include "records/sha256.h"

#define CS_GATE_OUT_WHERE 300u

/* One line of a report: a rule of a requirement, or why there is no verdict on any. Borrows from the report. */
typedef struct cs_gate_item {
    const char *requirement; /* "(policy)": of the policy as a whole; "(gate)": of none. No requirement has such a name */
    const char *rule;
    cs_gate_state state; /* never CS_GATE_NOT_ASKED */
    cs_code code;
    const char *found;
    const char *wanted;
    const char *path; /* of the repository; empty: none */
    char where[CS_GATE_OUT_WHERE];
    size_t section; /* SIZE_MAX: of none */
} cs_gate_item;

/* The next one; *at begins as 0. First, when it is not by a rule that the verdict is no pass, comes what it is by. */
bool cs_gate_item_next(const cs_gate_report *report, size_t *at, cs_gate_item *out);

/* Is it what someone must be told: refused, or, when nothing is, undecided? */
bool cs_gate_item_is_told(const cs_gate_report *report, const cs_gate_item *item);

typedef struct cs_gate_counts {
    size_t rules, refused, undecided; /* the line that is of no rule counts, too */
} cs_gate_counts;
cs_gate_counts cs_gate_out_count(const cs_gate_report *report);

const char *cs_gate_state_word(cs_gate_state state);
/* "passed", "refused", "undecided": of the whole verdict. */
const char *cs_gate_verdict_word(const cs_gate_verdict *verdict);

/* One sentence of what is wrong with an item, with `size` bytes of room. */
void cs_gate_item_sentence(const cs_gate_item *item, char *out, size_t size);

/* The same for the same requirement, rule and code, whatever lines, times and files there are. */
CS_MUST_CHECK bool cs_gate_item_fingerprint(const cs_gate_item *item, cs_digest *out);

/* The first character of a text that is not empty: how many bytes it takes, and its number; a byte that is not UTF-8 is
 * taken alone, as U+FFFD. */
size_t cs_gate_out_character(cs_view text, uint32_t *number);

/* What the verdict is about, in as many lines. The text is as it came, for the form to escape, and ends with a NUL. */
#define CS_GATE_ABOUT_ROWS 4u
extern const char *const cs_gate_about_labels[CS_GATE_ABOUT_ROWS];
CS_MUST_CHECK bool cs_gate_about_row(const cs_gate_report *report, size_t row, cs_buf *out);

/* JSON of a text: escaped where it is not UTF-8 or holds a NUL. NULL without memory. */
json_t *cs_gate_out_json_text(const char *text);
/* A document with a newline behind it; takes it. */
CS_MUST_CHECK bool cs_gate_out_dump(json_t *document, cs_buf *out);

#endif
