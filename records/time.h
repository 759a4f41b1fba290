/* Moments as text: RFC 3339 in UTC, to the millisecond. Pure functions, without a clock or a locale. */
#ifndef CS_RECORDS_TIME_H
#define CS_RECORDS_TIME_H

#include "records/base.h"

/* "2026-11-29T00:00:00Z", or with a point and one to three decimals of a second: a day of the calendar in the years
 * 1970 to 9999, capital T and Z, no leap second, nothing else. In milliseconds since 1970; false otherwise. */
CS_MUST_CHECK bool cs_time_parse(cs_view text, int64_t *unix_ms);

/* "2024-05-01T12:00:00.123Z" of milliseconds since 1970; "<number> ms" when that is no year from 1970 to 9999. */
void cs_time_format(int64_t unix_ms, char *out, size_t size);

#endif
