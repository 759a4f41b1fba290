/* Compact JSON text exactly as bundles and statements hold it (docs/FORMAT.md, "Compact JSON").
 *
 * `<`, `>`, `&`, U+2028 and U+2029 are written as \u escapes, control characters as \b \f \n \r \t or
 * \u00xx, everything else stays UTF-8; no white space.
 */
#ifndef CS_RECORDS_COMPACTJSON_H
#define CS_RECORDS_COMPACTJSON_H

#include "records/base.h"

/* Append one JSON string with its quotes. The text must be UTF-8. False when the buffer is full. */
CS_MUST_CHECK bool cs_json_string(cs_buf *out, cs_view text);
/* Append `"name":` with a comma before it unless it follows `{`. `name` needs no escaping. */
CS_MUST_CHECK bool cs_json_name(cs_buf *out, const char *name);
/* Append `"name":"text"`, `"name":123`. */
CS_MUST_CHECK bool cs_json_text(cs_buf *out, const char *name, cs_view text);
CS_MUST_CHECK bool cs_json_u64(cs_buf *out, const char *name, uint64_t value);
CS_MUST_CHECK bool cs_json_i64(cs_buf *out, const char *name, int64_t value);

#endif
