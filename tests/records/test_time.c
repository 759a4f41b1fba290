/* Moments as text. The expected numbers are those of `date -u -d ... +%s`. */
#include "records/time.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void expect_time(const char *text, int64_t want) {
    int64_t ms = -1;
    cr_expect(cs_time_parse(cs_view_of(text), &ms), "%s", text);
    cr_expect_eq(ms, want, "%s: %" PRId64, text, ms);
}

static void expect_none(const char *text) {
    int64_t ms = -1;
    cr_expect_not(cs_time_parse(cs_view_of(text), &ms), "%s", text);
    cr_expect_eq(ms, 0, "%s", text);
}

Test(time, moments_are_read_to_the_millisecond) {
    expect_time("1970-01-01T00:00:00Z", 0);
    expect_time("1970-01-01T00:00:00.001Z", 1);
    expect_time("1999-12-31T23:59:59Z", INT64_C(946684799000));
    expect_time("2000-02-29T12:00:00Z", INT64_C(951825600000));
    expect_time("2000-03-01T00:00:00Z", INT64_C(951868800000));
    expect_time("2024-02-29T23:59:59.999Z", INT64_C(1709251199999));
    expect_time("2026-11-29T00:00:00Z", INT64_C(1795910400000));
    expect_time("2026-11-29T00:00:00.5Z", INT64_C(1795910400500));
    expect_time("2026-11-29T00:00:00.25Z", INT64_C(1795910400250));
    expect_time("2100-02-28T23:59:59Z", INT64_C(4107542399000));
    expect_time("2100-03-01T00:00:00Z", INT64_C(4107542400000));
    expect_time("9999-12-31T23:59:59.999Z", INT64_C(253402300799999));
}

Test(time, a_day_must_be_in_the_calendar) {
    expect_time("2024-02-29T00:00:00Z", INT64_C(1709164800000));
    expect_none("2023-02-29T00:00:00Z");
    expect_none("2100-02-29T00:00:00Z");
    expect_none("2024-02-30T00:00:00Z");
    expect_time("2024-04-30T00:00:00Z", INT64_C(1714435200000));
    expect_none("2024-04-31T00:00:00Z");
    expect_none("2024-01-32T00:00:00Z");
    expect_none("2024-01-00T00:00:00Z");
    expect_none("2024-00-01T00:00:00Z");
    expect_none("2024-13-01T00:00:00Z");
    expect_none("1969-12-31T23:59:59Z");
    expect_none("0000-01-01T00:00:00Z");
}

Test(time, the_hour_has_its_bounds) {
    expect_time("2024-01-01T23:59:59Z", INT64_C(1704153599000));
    expect_none("2024-01-01T24:00:00Z");
    expect_none("2024-01-01T23:60:00Z");
    expect_none("2024-01-01T23:59:60Z");
    expect_none("2016-12-31T23:59:60Z"); /* there was a leap second; a window has none */
}

Test(time, the_form_is_exact) {
    expect_time("2024-01-02T03:04:05Z", INT64_C(1704164645000));
    static const char *const others[] = {
        "2024-01-02t03:04:05Z",
        "2024-01-02T03:04:05z",
        "2024-01-02 03:04:05Z",
        "2024-01-02T03:04:05",
        "2024-01-02T03:04:05+00:00",
        "2024-01-02T03:04:05.Z",
        "2024-01-02T03:04:05.1234Z",
        "2024-01-02T03:04:05,1Z",
        "2024-01-02T03:04Z",
        "2024-01-02",
        "24-01-02T03:04:05Z",
        "12024-01-02T03:04:05Z",
        "2024-1-02T03:04:05Z",
        "+024-01-02T03:04:05Z",
        " 2024-01-02T03:04:05Z",
        "2024-01-02T03:04:05Z ",
        "2024-01-02T03:04:5Z",
        "2024-01-02T-3:04:05Z",
        "2024-01-02T03:04:05.1",
        "2024/01/02T03:04:05Z",
        "2024-01-02T03:04:05.-1Z",
        "2024-01-02T03:04:05.1 Z",
        "",
        "Z",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        expect_none(others[i]);
    int64_t ms = -1;
    cr_expect_not(cs_time_parse(cs_view_bytes("2024-01-02T03:04:05Z\0", 21), &ms));
    cr_expect_not(cs_time_parse(cs_view_bytes(NULL, 0), &ms));
}

/* A zone with leap seconds moves what the C library's own functions answer. */
Test(time, the_zone_of_the_process_does_not_matter) {
    setenv("TZ", "right/UTC", 1);
    tzset();
    expect_time("2026-11-29T00:00:00Z", INT64_C(1795910400000));
    char text[40];
    cs_time_format(INT64_C(1795910400000), text, sizeof text);
    cr_expect_str_eq(text, "2026-11-29T00:00:00.000Z");
}

static void expect_text(int64_t ms, const char *want) {
    char text[40];
    cs_time_format(ms, text, sizeof text);
    cr_expect_str_eq(text, want);
}

Test(time, moments_are_written) {
    expect_text(0, "1970-01-01T00:00:00.000Z");
    expect_text(INT64_C(951825600000), "2000-02-29T12:00:00.000Z");
    expect_text(INT64_C(951868799999), "2000-02-29T23:59:59.999Z");
    expect_text(INT64_C(951868800000), "2000-03-01T00:00:00.000Z");
    expect_text(INT64_C(1735603200123), "2024-12-31T00:00:00.123Z");
    expect_text(INT64_C(1735689599999), "2024-12-31T23:59:59.999Z");
    expect_text(INT64_C(4107542400000), "2100-03-01T00:00:00.000Z");
    expect_text(INT64_C(253402300799999), "9999-12-31T23:59:59.999Z");
    expect_text(INT64_C(253402300800000), "253402300800000 ms");
    expect_text(-1, "-1 ms");
    expect_text(INT64_MIN, "-9223372036854775808 ms");
    expect_text(INT64_MAX, "9223372036854775807 ms");
}
