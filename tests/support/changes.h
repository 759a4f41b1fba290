/* One thing at a time that a test changes in a sample, and the list of what must fail then. */
#ifndef CS_TESTS_SUPPORT_CHANGES_H
#define CS_TESTS_SUPPORT_CHANGES_H

#include "tests/support/sample.h"

typedef struct twin {
    const char *name;
    cs_code code;
    unsigned seal; /* what is computed again behind the change */
    void (*change)(sample *s);
} twin;

/* What must be computed again behind a change of the record, of the request or of the result. */
#define RECORD_AND_BYTES (SEAL_RECORD | SEAL_BYTES)
#define REQUEST_AND_DOWN (SEAL_REQUEST | SEAL_RECORD | SEAL_BYTES)
#define RESULT_AND_DOWN (SEAL_RESULT | SEAL_RECORD | SEAL_BYTES)

void change_floor_word(sample *s);
void change_floor_case(sample *s);
void change_rule_mode(sample *s);
void change_rule_without_mode(sample *s);
void change_no_record(sample *s);
void change_version_1(sample *s);
void change_version_3(sample *s);
void change_version_4(sample *s);
void change_protocol_1(sample *s);
void change_unanswered(sample *s);
void change_other_code(sample *s);
void change_other_timeout(sample *s);
void change_other_output(sample *s);
void change_other_exit_code(sample *s);
void change_upper_digest(sample *s);
void change_record_provider(sample *s);
void change_record_isolation(sample *s);
void change_record_environment(sample *s);
void change_record_software(sample *s);
void change_response_software(sample *s);
void change_record_rule(sample *s);
void change_no_rule(sample *s);
void change_other_software(sample *s);
void change_no_software(sample *s);
void change_record_time(sample *s);
void change_record_policy(sample *s);
void change_tier_word(sample *s);
void change_tier_none(sample *s);
void change_tier_low(sample *s);
void change_session(sample *s);
void change_sequence(sample *s);
void change_previous(sample *s);
void change_no_result(sample *s);
void change_cell_result(sample *s);
void change_before_provider(sample *s);
void change_after_provider(sample *s);
void change_before_tier(sample *s);
void change_after_tier(sample *s);
void change_before_policy(sample *s);
void change_after_policy(sample *s);
void change_before_protocol(sample *s);
void change_after_protocol(sample *s);
void change_make_version_1(sample *s);
void change_identity_in_version_1(sample *s);
void change_rule_id_in_version_1(sample *s);
void change_rule_in_protocol_1(sample *s);
void change_version_2(sample *s);
void change_make_unanswered(sample *s);
void change_not_a_code(sample *s);
void change_no_code(sample *s);
void change_a_result(sample *s);
void change_only_software(sample *s);
void change_make_version_4(sample *s);
void change_make_unanswered_4(sample *s);
void change_record_instance(sample *s);
void change_response_instance(sample *s);
void change_both_instances(sample *s);
void change_no_instance(sample *s);
void change_instance_form(sample *s);
void change_protocol_3(sample *s);
void change_protocol_4(sample *s);
void change_protocol_5(sample *s);

/* cs_check_run with a hash of its own. */
cs_result changes_run(const cs_call *call, cs_checked_run *out, cs_error *err);
/* The call fails with exactly this code and leaves nothing in the output. */
void changes_expect(const char *name, const cs_call *call, cs_code code);

#endif
