/* The page's style sheet, and the digest by which its policy knows it. */
#ifndef CS_REPORT_STYLE_H
#define CS_REPORT_STYLE_H

#include "records/base.h"

extern const char *const cs_page_style[]; /* one behind the other; NULL at the end */

/* Append "sha256-..." of it, as a Content-Security-Policy writes it. */
CS_MUST_CHECK bool cs_page_style_source(cs_buf *out);

#endif
