#include "gate/junit_words.h"

#include <stddef.h>

typedef struct word {
    const char *text; /* in lower case */
    cs_junit_word says;
} word;

static const char *const ending_attributes[] = {"status", "result", "outcome"};

/* Of the attributes above. */
static const word values[] = {
    {"run", CS_JUNIT_SAYS_PASSED},         {"passed", CS_JUNIT_SAYS_PASSED},    {"pass", CS_JUNIT_SAYS_PASSED},
    {"ok", CS_JUNIT_SAYS_PASSED},          {"success", CS_JUNIT_SAYS_PASSED},   {"successful", CS_JUNIT_SAYS_PASSED},
    {"succeeded", CS_JUNIT_SAYS_PASSED},   {"completed", CS_JUNIT_SAYS_PASSED}, {"complete", CS_JUNIT_SAYS_PASSED},
    {"executed", CS_JUNIT_SAYS_PASSED},    {"notrun", CS_JUNIT_SAYS_NOT_RUN},   {"skipped", CS_JUNIT_SAYS_NOT_RUN},
    {"skip", CS_JUNIT_SAYS_NOT_RUN},       {"ignored", CS_JUNIT_SAYS_NOT_RUN},  {"disabled", CS_JUNIT_SAYS_NOT_RUN},
    {"suppressed", CS_JUNIT_SAYS_NOT_RUN}, {"pending", CS_JUNIT_SAYS_NOT_RUN},  {"todo", CS_JUNIT_SAYS_NOT_RUN},
    {"excluded", CS_JUNIT_SAYS_NOT_RUN},   {"untested", CS_JUNIT_SAYS_NOT_RUN}, {"fail", CS_JUNIT_SAYS_FAILED},
    {"failed", CS_JUNIT_SAYS_FAILED},      {"failure", CS_JUNIT_SAYS_FAILED},   {"error", CS_JUNIT_SAYS_FAILED},
    {NULL, CS_JUNIT_SAYS_UNKNOWN}};

/* Of the attribute success. */
static const word yes[] = {{"true", CS_JUNIT_SAYS_PASSED},
                           {"1", CS_JUNIT_SAYS_PASSED},
                           {"yes", CS_JUNIT_SAYS_PASSED},
                           {"false", CS_JUNIT_SAYS_FAILED},
                           {NULL, CS_JUNIT_SAYS_UNKNOWN}};

static const word elements[] = {
    {"failure", CS_JUNIT_SAYS_FAILED},     {"error", CS_JUNIT_SAYS_ERROR},        {"skipped", CS_JUNIT_SAYS_NOT_RUN},
    {"ignored", CS_JUNIT_SAYS_NOT_RUN},    {"disabled", CS_JUNIT_SAYS_NOT_RUN},   {"notrun", CS_JUNIT_SAYS_NOT_RUN},
    {"flakyfailure", CS_JUNIT_SAYS_AGAIN}, {"flakyerror", CS_JUNIT_SAYS_AGAIN},   {"rerunfailure", CS_JUNIT_SAYS_AGAIN},
    {"rerunerror", CS_JUNIT_SAYS_AGAIN},   {"system-out", CS_JUNIT_SAYS_NOTHING}, {"system-err", CS_JUNIT_SAYS_NOTHING},
    {"properties", CS_JUNIT_SAYS_NOTHING}, {NULL, CS_JUNIT_SAYS_UNKNOWN}};

/* Not the locale's letters, in which an I may have another small form. */
static int lower(char c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

bool cs_junit_same(const char *a, const char *b) {
    while (*a != '\0' && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

static cs_junit_word find(const word *words, const char *text) {
    while (words->text != NULL && !cs_junit_same(words->text, text))
        words++;
    return words->says;
}

cs_junit_word cs_junit_attribute(const char *name, const char *value) {
    if (cs_junit_same("success", name)) return find(yes, value);
    for (size_t i = 0; i < sizeof ending_attributes / sizeof ending_attributes[0]; i++)
        if (cs_junit_same(ending_attributes[i], name)) return find(values, value);
    return CS_JUNIT_SAYS_NOTHING;
}

cs_junit_word cs_junit_element(const char *name) {
    return find(elements, name);
}
