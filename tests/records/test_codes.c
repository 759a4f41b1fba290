#include <criterion/criterion.h>
#include <string.h>

#include "records/codes.h"

static bool is_kebab(const char *name) {
    if (name[0] < 'a' || name[0] > 'z' || name[strlen(name) - 1] == '-') return false;
    for (const char *c = name; *c != '\0'; c++) {
        if (!(*c >= 'a' && *c <= 'z') && *c != '-') return false;
        if (*c == '-' && c[1] == '-') return false;
    }
    return true;
}

Test(records_codes, every_code_has_a_row_of_its_own) {
    for (int i = 0; i < CS_CODE_COUNT; i++) {
        const char *name = cs_code_name((cs_code)i);
        const char *meaning = cs_code_meaning((cs_code)i);
        cr_assert_not_null(name, "code %d has no row", i);
        cr_assert(is_kebab(name), "%s", name);
        cr_assert_not_null(meaning, "%s", name);
        cr_assert_gt(strlen(meaning), 10, "%s", name);
        cr_assert_null(strchr(meaning, '\n'), "%s", name);
        for (int j = 0; j < i; j++) {
            cr_assert_str_neq(name, cs_code_name((cs_code)j));
            cr_assert_str_neq(meaning, cs_code_meaning((cs_code)j), "%s", name);
        }
    }
}

Test(records_codes, a_value_outside_the_list_answers_as_internal) {
    const int outside[] = {-1, CS_CODE_COUNT, CS_CODE_COUNT + 1, 1 << 30};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        cr_assert_str_eq(cs_code_name((cs_code)outside[i]), "internal");
        cr_assert_eq(cs_code_class((cs_code)outside[i]), CS_UNCHECKED);
    }
}

typedef struct pinned {
    cs_code code;
    const char *name;
    cs_result class;
} pinned;

/* A few of every kind, so that an order changed in one file only is found. */
static const pinned pins[] = {
    {CS_CODE_OK, "ok", CS_OK},
    {CS_CODE_INTERNAL, "internal", CS_UNCHECKED},
    {CS_CODE_NO_MEMORY, "no-memory", CS_UNCHECKED},
    {CS_CODE_USAGE, "usage", CS_USAGE},
    {CS_CODE_IO, "io", CS_UNCHECKED},
    {CS_CODE_INPUT_UNKNOWN, "input-unknown", CS_UNCHECKED},
    {CS_CODE_INPUT_VERDICT, "input-verdict", CS_NOTHING},
    {CS_CODE_NOTHING_TO_CHECK, "nothing-to-check", CS_NOTHING},
    {CS_CODE_INTERRUPTED, "interrupted", CS_UNCHECKED},
    {CS_CODE_MESSAGE_NONCANONICAL, "message-noncanonical", CS_FAILED},
    {CS_CODE_JSON_RANGE, "json-range", CS_FAILED},
    {CS_CODE_REQUEST_JSON, "request-json", CS_NOT_RUN},
    {CS_CODE_REQUEST_INVALID, "request-invalid", CS_NOT_RUN},
    {CS_CODE_UNSENT_INTERRUPTED, "unsent-interrupted", CS_NOT_RUN},
    {CS_CODE_UNANSWERED_INTERRUPTED, "unanswered-interrupted", CS_MAYBE_RAN},
    {CS_CODE_DESCRIBE_FAILED, "describe-failed", CS_NOT_RUN},
    {CS_CODE_DESCRIBE_AFTER_FAILED, "describe-after-failed", CS_UNCHECKED},
    {CS_CODE_REQUEST_DIGEST, "request-digest", CS_FAILED},
    {CS_CODE_RESULT_DIGEST, "result-digest", CS_FAILED},
    {CS_CODE_TIER_BELOW_FLOOR, "tier-below-floor", CS_FAILED},
    {CS_CODE_TIMES_REVERSED, "times-reversed", CS_OK},
    {CS_CODE_CLOCK_SKEW, "clock-skew", CS_OK},
    {CS_CODE_RECORD_DUPLICATE, "record-duplicate", CS_OK},
    {CS_CODE_ENTRY_UNKNOWN, "entry-unknown", CS_NOTHING},
    {CS_CODE_REPLAY_DIFFERS, "replay-differs", CS_FAILED},
    {CS_CODE_REPLAY_UNSTABLE, "replay-unstable", CS_FAILED},
    {CS_CODE_REPLAY_INCOMPLETE, "replay-incomplete", CS_UNCHECKED},
    {CS_CODE_REPLAY_NOT_SINGLE, "replay-not-single", CS_NOTHING},
    {CS_CODE_LEDGER_MISSING, "ledger-missing", CS_UNCHECKED},
    {CS_CODE_LEDGER_FOREIGN, "ledger-foreign", CS_UNCHECKED},
    {CS_CODE_LEDGER_VERSION, "ledger-version", CS_UNCHECKED},
    {CS_CODE_LEDGER_LOCKED, "ledger-locked", CS_UNCHECKED},
    {CS_CODE_LEDGER_FULL, "ledger-full", CS_UNCHECKED},
    {CS_CODE_LEDGER_WRITE, "ledger-write", CS_UNCHECKED},
    {CS_CODE_LEDGER_CORRUPT, "ledger-corrupt", CS_FAILED},
    {CS_CODE_LEDGER_SCHEMA, "ledger-schema", CS_FAILED},
    {CS_CODE_LEDGER_ROW, "ledger-row", CS_FAILED},
    {CS_CODE_LEDGER_CHAIN, "ledger-chain", CS_FAILED},
    {CS_CODE_LEDGER_COLUMNS, "ledger-columns", CS_FAILED},
    {CS_CODE_ENTRIES_DIFFER, "entries-differ", CS_FAILED},
};

Test(records_codes, names_and_classes_are_stable) {
    for (size_t i = 0; i < sizeof pins / sizeof pins[0]; i++) {
        cr_assert_str_eq(cs_code_name(pins[i].code), pins[i].name);
        cr_assert_eq(cs_code_class(pins[i].code), pins[i].class, "%s", pins[i].name);
    }
}

typedef struct family {
    const char *prefix;
    cs_result class;
    int at_least; /* so that a prefix that matches nothing is found */
} family;

static const family families[] = {
    {"refused-", CS_NOT_RUN, 8},   {"unsent-", CS_NOT_RUN, 6}, {"unanswered-", CS_MAYBE_RAN, 6},
    {"message-", CS_FAILED, 4},    {"json-", CS_FAILED, 5},    {"envelope-", CS_FAILED, 4},
    {"statement-", CS_FAILED, 4},  {"line-", CS_FAILED, 3},    {"link-", CS_FAILED, 3},
    {"checkpoint-", CS_FAILED, 2}, {"chain-", CS_FAILED, 6},   {"key-", CS_UNCHECKED, 5},
    {"git-", CS_UNCHECKED, 2},
};

Test(records_codes, a_family_has_one_class) {
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        int count = 0;
        for (int i = 0; i < CS_CODE_COUNT; i++) {
            const char *name = cs_code_name((cs_code)i);
            if (strncmp(name, families[f].prefix, strlen(families[f].prefix)) != 0) continue;
            count++;
            cr_assert_eq(cs_code_class((cs_code)i), families[f].class, "%s", name);
        }
        cr_assert_geq(count, families[f].at_least, "%s", families[f].prefix);
    }
}

Test(records_codes, classes_have_words) {
    cr_assert_str_eq(cs_result_word(CS_OK), "passed");
    cr_assert_str_eq(cs_result_word(CS_FAILED), "failed");
    cr_assert_str_eq(cs_result_word(CS_USAGE), "usage");
    cr_assert_str_eq(cs_result_word(CS_NOT_RUN), "not-run");
    cr_assert_str_eq(cs_result_word(CS_MAYBE_RAN), "may-have-run");
    cr_assert_str_eq(cs_result_word(CS_UNCHECKED), "unchecked");
    cr_assert_str_eq(cs_result_word(CS_NOTHING), "nothing");
    cr_assert_str_eq(cs_result_word((cs_result)99), "unchecked");
}
