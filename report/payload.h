/* What was sent and what came back, as markup. Bounded: an entry has so many bytes of text, each text so many of them,
 * and each list so many elements; what is cut says so. Pure.
 */
#ifndef CS_REPORT_PAYLOAD_H
#define CS_REPORT_PAYLOAD_H

#include "records/message.h"
#include "report/markup.h"

#define CS_PAGE_ENTRY_TEXT ((size_t)128 * 1024) /* bytes of all texts of one entry, before they are escaped */
#define CS_PAGE_TEXT ((size_t)16 * 1024)        /* of one of them */
#define CS_PAGE_LIST 100u                       /* elements of one list */
#define CS_PAGE_NAME 200u                       /* bytes of a name, path or command */

/* What is left of an entry's bytes. */
typedef struct cs_allowance {
    size_t left;
} cs_allowance;

void cs_payload_request(cs_markup *out, const cs_run_request *request, cs_allowance *allowance);
void cs_payload_response(cs_markup *out, const cs_run_response *response, cs_allowance *allowance);
/* Bytes that are no message of the wire. */
void cs_payload_bytes(cs_markup *out, const char *label, cs_view bytes, cs_allowance *allowance);

#endif
