/* The two statements of a gate's verdict, written out without any code under test. */
#ifndef TESTS_SUPPORT_VERDICTS_H
#define TESTS_SUPPORT_VERDICTS_H

#define VERDICT_COMMIT "bc7cbf341e8483c92c3977f110729bf44ceeb822"
#define VERDICT_POLICY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define VERDICT_REPOSITORY "https://git.example.org/shop?a&b"
#define VERDICT_TIME "2026-09-21T13:33:20.123Z"
#define VERDICT_TIME_MS INT64_C(1789997600123)

/* Everything that a test may want to change, as it stands in the JSON text. */
typedef struct verdict_text {
    const char *start;  /* up to the subject's digest, without it */
    const char *commit; /* in its quotes */
    const char *type;   /* of the predicate */
    const char *head;   /* of the predicate, up to the policy */
    const char *policy; /* its digest, in its quotes */
    const char *tail;   /* of the predicate, from behind the policy on */
} verdict_text;

verdict_text verdict_test_result(void); /* PASSED, with two rules */
verdict_text verdict_summary(void);     /* of the same, with two inputs */
/* What is behind the policy. The lists are JSON without their brackets. */
const char *verdict_rules(const char *passed, const char *warned, const char *failed);
/* The payload; lives as long as the test process. */
char *verdict_payload(const verdict_text *text);

#endif
