/* A verdict of a gate, read from what `countersign gate --json` printed, as a table. Pure.
 *
 * The document is nobody's but its file's: nothing signs it. So it is read exactly, and one that contradicts itself (a
 * pass with a rule that did not pass) is refused, but what it says is not computed again here.
 */
#ifndef CS_REPORT_VERDICT_H
#define CS_REPORT_VERDICT_H

#include "report/markup.h"

#define CS_VERDICT_MAX_BYTES ((size_t)16 * 1024 * 1024)
#define CS_VERDICT_RULES 2000u /* shown */

/* CS_CODE_INPUT_UNKNOWN: it is no such document. CS_CODE_NO_MEMORY. */
CS_MUST_CHECK cs_result cs_verdict_markup(cs_markup *out, cs_view json, cs_error *err);

#endif
