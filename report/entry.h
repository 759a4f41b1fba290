/* One entry of a ledger or bundle as markup: a line that unfolds. Pure. */
#ifndef CS_REPORT_ENTRY_H
#define CS_REPORT_ENTRY_H

#include "records/statement.h"
#include "report/markup.h"
#include "verify/source.h"

#define CS_PAGE_ENTRY_MARKUP                                                                                           \
    ((size_t)4 * 1024 * 1024) /* bytes of one entry's markup; a larger one is told, not shown */

/* How far an entry may be believed. */
typedef enum cs_standing {
    CS_STANDING_VERIFIED,  /* its signature and everything about itself was checked */
    CS_STANDING_UNCHECKED, /* no trusted key was named */
    CS_STANDING_UNSIGNED,  /* a finding */
    CS_STANDING_UNREADABLE /* not all of it can be decoded */
} cs_standing;

/* Everything is borrowed; what is not known is NULL. */
typedef struct cs_page_entry {
    const cs_entry *entry;
    cs_standing standing;
    const cs_statement *statement; /* what is signed */
    const cs_run_request *request;
    const cs_run_response *response;
    const char *keyid;
    const char *key_label; /* as whoever trusts the key calls it */
    const cs_error *err;   /* why it can't be decoded */
} cs_page_entry;

/* The signed record, or of a finding what the response claims; NULL when there is none. */
const cs_run_record *cs_page_entry_record(const cs_page_entry *entry);

/* `anchor` is the number of its element's id. */
void cs_entry_markup(cs_markup *out, const cs_page_entry *entry, uint64_t anchor);

#endif
