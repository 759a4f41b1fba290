/* The changes that a proof makes. Only for gate/prove*.c. */
#ifndef CS_GATE_PROVE_INTERNAL_H
#define CS_GATE_PROVE_INTERNAL_H

#include "gate/judge_internal.h"

/* One change in the making: copies that it may alter, and what it says of itself. */
typedef struct cs_gate_trial {
    const cs_gate_setting *setting;
    const cs_policy_requirement *requirement;
    cs_run_request *request; /* of the witness */
    cs_run_response *response;
    cs_gate_tally *tally; /* with room for one more record */
    cs_gate_evidence *evidence; /* with room for one more contradiction */
    char *text; /* CS_GATE_TEXT bytes */
} cs_gate_trial;

typedef enum cs_gate_changed {
    CS_GATE_CHANGED,
    CS_GATE_NO_CHANGE, /* there is nothing of the kind to change; another change shows the rule */
    CS_GATE_NO_MEMORY
} cs_gate_changed;

typedef struct cs_gate_change {
    cs_gate_rule rule;
    cs_code code; /* by which the rule must refuse it */
    cs_gate_changed (*make)(cs_gate_trial *trial);
} cs_gate_change;

/* Of the record that counts, and of what was tallied. */
extern const cs_gate_change cs_gate_record_changes[];
extern const size_t cs_gate_record_change_count;
extern const cs_gate_change cs_gate_tally_changes[];
extern const size_t cs_gate_tally_change_count;

cs_gate_changed cs_gate_change_tests_few(cs_gate_trial *trial);
cs_gate_changed cs_gate_change_tests_skipped(cs_gate_trial *trial);
cs_gate_changed cs_gate_change_tests_failed(cs_gate_trial *trial);
cs_gate_changed cs_gate_change_tests_missing(cs_gate_trial *trial);
cs_gate_changed cs_gate_change_tests_brought(cs_gate_trial *trial);

/* An empty file of the run more. */
cs_gate_changed cs_gate_change_adds_file(cs_gate_trial *trial, cs_view path);
cs_gate_changed cs_gate_change_file_added(cs_gate_trial *trial);

/* Say what is changed; always CS_GATE_CHANGED. */
cs_gate_changed cs_gate_change_says(cs_gate_trial *trial, const char *fmt, ...) CS_PRINTF(2, 3);

#endif
