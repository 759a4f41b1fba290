/* One statement of a gate's verdict that a ledger keeps, as markup: a line that unfolds. Pure. */
#ifndef CS_REPORT_STATED_H
#define CS_REPORT_STATED_H

#include "records/verdict.h"
#include "report/markup.h"
#include "verify/source.h"

/* Everything is borrowed; what is not known is NULL. */
typedef struct cs_page_stated {
    const cs_entry *entry;
    const cs_read_verdict *read; /* NULL: it can't be decoded */
    const char *keyid;
    const char *key_label; /* as whoever trusts the key calls it */
    bool checked;          /* with trusted keys, by itself; otherwise `err` is about decoding only */
    bool timeless;         /* whether it was signed in the window of its key can't be told from it alone */
    const cs_error *err;   /* what went wrong; NULL: nothing did */
} cs_page_stated;

/* It has no element that a link could lead to. */
void cs_stated_markup(cs_markup *out, const cs_page_stated *stated);

#endif
