/* A verdict made by hand, for the forms that it is told in. */
#ifndef CS_TESTS_GATE_OUT_CASE_H
#define CS_TESTS_GATE_OUT_CASE_H

#include "gate/out.h"

/* What no form may let through as it is: markup, controls, commands, what is not UTF-8, what XML forbids. */
#define OUT_HOSTILE                                                                                                    \
    "a|b`c <img src=x> ]]> & \"q\" 'r' [l](http://x.example) @someone %0A\r\n::error::x ##[add-mask]y \x01\x1b[2J "    \
    "\xff \xef\xbf\xbe \xc3\xa9 \\"

typedef struct out_case {
    cs_policy_requirement requirement; /* "tests" */
    cs_gate_section sections[2];       /* selected, bind and age of it passed; protect passed */
    cs_gate_verdict verdict;
    cs_gate_report report;
    cs_buf out;
} out_case;

void out_begin(out_case *c);
void out_end(out_case *c);
/* Change one finding of the requirement. */
void out_refuse(out_case *c, cs_gate_rule rule, cs_code code, const char *observed);
void out_leave(out_case *c, cs_gate_rule rule);
/* What one form gives, NUL-terminated; until the next call. */
const char *out_text(out_case *c, bool (*form)(const cs_gate_report *report, cs_buf *out));

#endif
