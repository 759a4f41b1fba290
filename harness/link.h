/* What the link of a line states, without a look at its signature. Shared by import and export. */
#ifndef CS_HARNESS_LINK_H
#define CS_HARNESS_LINK_H

#include "records/statement.h"

/* Read the link's envelope, compact JSON. The codes of cs_envelope_decode and cs_statement_read; CS_CODE_STATEMENT_TYPE
 * when it states something else than a link. */
CS_MUST_CHECK cs_result cs_link_statement(cs_view envelope, cs_bundle_link *out, cs_error *err);

#endif
