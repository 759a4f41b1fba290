#include "records/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "records/text.h"

/* Formatted text before it is escaped. Longer than any field of cs_error, so that a text cut here is
 * always cut again, visibly, when it is escaped. */
#define RAW_TEXT 2048u

cs_result cs_fail(cs_error *err, cs_code code, const char *fmt, ...) {
    if (err != NULL) {
        char raw[RAW_TEXT];
        va_list args;
        va_start(args, fmt);
        if (vsnprintf(raw, sizeof raw, fmt, args) < 0) raw[0] = '\0';
        va_end(args);
        /* Cleared only now, because the arguments may point into it. */
        *err = (cs_error){.code = code};
        cs_escape_short(cs_view_of(raw), err->message, sizeof err->message);
    }
    return cs_code_class(code);
}

cs_result cs_fail_differs(cs_error *err, cs_code code, const char *what, cs_view expected, cs_view found) {
    cs_result result = cs_fail(err, code, "%s", what);
    if (err != NULL) {
        cs_escape_short(expected, err->expected, sizeof err->expected);
        cs_escape_short(found, err->found, sizeof err->found);
    }
    return result;
}

/* Text that is escaped already was cut to fill `out`, perhaps within a character: end it with dots. A
 * backslash before them could be half of an escape, which reads as what it is. */
static void end_with_dots(char *out, size_t size) {
    size_t len = cs_utf8_cut(cs_view_bytes(out, size - 1), size - 4).len;
    memcpy(out + len, "...", 4);
}

void cs_error_where(cs_error *err, const char *fmt, ...) {
    if (err == NULL) return;
    char raw[RAW_TEXT];
    char outer[sizeof err->where];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(raw, sizeof raw, fmt, args) < 0) raw[0] = '\0';
    va_end(args);
    cs_escape_short(cs_view_of(raw), outer, sizeof outer);

    if (err->where[0] == '\0') {
        memcpy(err->where, outer, sizeof outer);
        return;
    }
    char inner[sizeof err->where];
    memcpy(inner, err->where, sizeof inner);
    int len = snprintf(err->where, sizeof err->where, "%s: %s", outer, inner);
    if (len >= (int)sizeof err->where) end_with_dots(err->where, sizeof err->where);
}

void cs_error_also(cs_error *err, const char *fmt, ...) {
    if (err == NULL) return;
    size_t len = strlen(err->message);
    va_list args;
    va_start(args, fmt);
    int more = vsnprintf(err->message + len, sizeof err->message - len, fmt, args);
    va_end(args);
    if (more >= (int)(sizeof err->message - len)) end_with_dots(err->message, sizeof err->message);
}

cs_result cs_error_recode(cs_error *err, cs_code code) {
    if (err == NULL) return cs_code_class(code);
    if (cs_code_class(err->code) != CS_UNCHECKED) err->code = code;
    return cs_code_class(err->code);
}
