/* Numbers in JSON, against the C library; and the bits of any double to text and back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "records/jsonlex.h"
#include "tests/fuzz/fuzz.h"

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static void there_and_back(double value) {
    cs_buf text = CS_BUF_INIT(64);
    double again = 0;
    MUST(cs_number_append(&text, value));
    cs_lex lex = cs_lex_of(cs_buf_view(&text));
    cs_view number;
    MUST(cs_lex_number(&lex, &number) && cs_lex_end(&lex));
    MUST(cs_number_double(number, &again) && same_bits(value, again));
    cs_buf_free(&text);
}

static void check_whole(cs_view number, double value) {
    bool negative = false;
    uint64_t magnitude = 0;
    if (!cs_number_whole(number, &negative, &magnitude)) {
        /* Digits alone are whole, up to 2^64-1. */
        size_t digits = strspn((const char *)number.ptr + (number.ptr[0] == '-'), "0123456789");
        MUST(digits + (number.ptr[0] == '-') < number.len || digits >= 20);
        return;
    }
    MUST(!negative || magnitude > 0);
    MUST((negative ? -(double)magnitude : (double)magnitude) == value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    double value = 0;
    if (size >= sizeof value) {
        memcpy(&value, data, sizeof value);
        if (isfinite(value)) there_and_back(value);
    }
    char *text = strndup((const char *)data, size);
    if (text == NULL) abort();
    cs_lex lex = cs_lex_of(cs_view_of(text));
    cs_view number;
    if (cs_lex_number(&lex, &number) && number.len <= 1000) {
        text[(const char *)number.ptr + number.len - text] = '\0';
        double expected = strtod((const char *)number.ptr, NULL);
        MUST(cs_number_double(number, &value) == isfinite(expected));
        if (isfinite(expected)) {
            MUST(same_bits(value, expected));
            there_and_back(value);
            check_whole(number, value);
        }
    }
    free(text);
    return 0;
}
