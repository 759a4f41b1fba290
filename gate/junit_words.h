/* Inner part of the JUnit reader (gate/junit.h): what the words that test runners write say of a test case. */
#ifndef CS_GATE_JUNIT_WORDS_H
#define CS_GATE_JUNIT_WORDS_H

#include <stdbool.h>

/* All without regard to ASCII case, since runners differ in it. A word that is not known is no pass. */
typedef enum cs_junit_word {
    CS_JUNIT_SAYS_NOTHING, /* of how the case ended */
    CS_JUNIT_SAYS_PASSED,
    CS_JUNIT_SAYS_NOT_RUN,
    CS_JUNIT_SAYS_FAILED,
    CS_JUNIT_SAYS_ERROR, /* failed, in a count of its own */
    CS_JUNIT_SAYS_AGAIN, /* a try of the case failed, which was then made again and decides */
    CS_JUNIT_SAYS_UNKNOWN
} cs_junit_word;

/* What an attribute of a test case says. */
cs_junit_word cs_junit_attribute(const char *name, const char *value);

/* What an element directly in a test case says; CS_JUNIT_SAYS_UNKNOWN also for those that are nobody's. */
cs_junit_word cs_junit_element(const char *name);

/* Are these the same text but for the case of ASCII letters? */
bool cs_junit_same(const char *a, const char *b);

#endif
