#include "records/time.h"

#include <inttypes.h>
#include <stdio.h>

#define MS_PER_DAY INT64_C(86400000)
#define LAST_MS INT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */
#define FIRST_YEAR 1970
#define LAST_YEAR 9999

/* The C library's timegm and gmtime count leap seconds when TZ names a "right/" zone. What a key is trusted for must
 * not hang on that, so the calendar stands here. */

static bool is_leap(int year) {
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in_year(int year) {
    return is_leap(year) ? 366 : 365;
}

static int days_in_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/* Exactly `count` digits at the beginning, which are consumed, as a number within the bounds. */
static bool take_number(cs_view *text, size_t count, int min, int max, int *out) {
    if (text->len < count) return false;
    int value = 0;
    for (size_t i = 0; i < count; i++) {
        if (text->ptr[i] < '0' || text->ptr[i] > '9') return false;
        value = value * 10 + (text->ptr[i] - '0');
    }
    *text = cs_view_bytes(text->ptr + count, text->len - count);
    *out = value;
    return value >= min && value <= max;
}

static bool take_mark(cs_view *text, char mark) {
    if (text->len == 0 || text->ptr[0] != (uint8_t)mark) return false;
    *text = cs_view_bytes(text->ptr + 1, text->len - 1);
    return true;
}

/* A point and one to three digits, or nothing: milliseconds. */
static bool take_decimals(cs_view *text, int *ms) {
    *ms = 0;
    if (!take_mark(text, '.')) return true;
    int digit = 0;
    if (!take_number(text, 1, 0, 9, &digit)) return false;
    int scale = 100;
    do {
        *ms += digit * scale;
        scale /= 10;
    } while (scale > 0 && take_number(text, 1, 0, 9, &digit));
    return true;
}

static bool take_day(cs_view *text, int64_t *days) {
    int year = 0;
    int month = 0;
    int day = 0;
    if (!take_number(text, 4, FIRST_YEAR, LAST_YEAR, &year) || !take_mark(text, '-') ||
        !take_number(text, 2, 1, 12, &month) || !take_mark(text, '-') ||
        !take_number(text, 2, 1, days_in_month(year, month), &day))
        return false;
    *days = day - 1;
    for (int i = FIRST_YEAR; i < year; i++)
        *days += days_in_year(i);
    for (int i = 1; i < month; i++)
        *days += days_in_month(year, i);
    return true;
}

bool cs_time_parse(cs_view text, int64_t *unix_ms) {
    int64_t days = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
    int ms = 0;
    *unix_ms = 0;
    if (!take_day(&text, &days) || !take_mark(&text, 'T') || !take_number(&text, 2, 0, 23, &hour) ||
        !take_mark(&text, ':') || !take_number(&text, 2, 0, 59, &minute) || !take_mark(&text, ':') ||
        !take_number(&text, 2, 0, 59, &second) || !take_decimals(&text, &ms) || !take_mark(&text, 'Z') || text.len != 0)
        return false;
    *unix_ms = days * MS_PER_DAY + ((hour * INT64_C(60) + minute) * 60 + second) * 1000 + ms;
    return true;
}

void cs_time_format(int64_t unix_ms, char *out, size_t size) {
    if (unix_ms < 0 || unix_ms > LAST_MS) {
        (void)snprintf(out, size, "%" PRId64 " ms", unix_ms);
        return;
    }
    int64_t days = unix_ms / MS_PER_DAY;
    int ms = (int)(unix_ms % MS_PER_DAY);
    int year = FIRST_YEAR;
    int month = 1;
    for (; days >= days_in_year(year); year++)
        days -= days_in_year(year);
    for (; days >= days_in_month(year, month); month++)
        days -= days_in_month(year, month);
    (void)snprintf(out, size, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year, month, (int)days + 1, ms / 3600000,
                   ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}
