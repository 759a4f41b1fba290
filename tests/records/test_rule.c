/* Software rules, by themselves and inside a request, where the code is another and the path longer. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "records/request.h"
#include "tests/support/expect.h"

static cs_run_request request;
static Plimsoll__V1__JavaScriptRun javascript;
static cs_software_rule rule;
static ProtobufCBinaryData identities[CS_MAX_IDENTITIES + 1];
static char identity_texts[CS_MAX_IDENTITIES + 1][8];
static char longest[CS_MAX_IDENTITY_BYTES + 1], too_long[CS_MAX_IDENTITY_BYTES + 2];

static void make(void) {
    javascript = (Plimsoll__V1__JavaScriptRun)PLIMSOLL__V1__JAVA_SCRIPT_RUN__INIT;
    javascript.code = borrow("1");
    rule = (cs_software_rule)PLIMSOLL__V1__SOFTWARE_RULE__INIT;
    rule.identities = identities;
    request = (cs_run_request)PLIMSOLL__V1__RUN_REQUEST__INIT;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    request.javascript = &javascript;
    request.software_rule = &rule;
    for (size_t i = 0; i <= CS_MAX_IDENTITIES; i++) {
        snprintf(identity_texts[i], sizeof identity_texts[i], "id-%zu", i);
        identities[i] = borrow(identity_texts[i]);
    }
    memset(longest, 'i', sizeof longest - 1);
    memset(too_long, 'i', sizeof too_long - 1);
}

TestSuite(records_rule, .init = make);

static void rule_passes(void) {
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_software_rule_validate(&rule, &err), err);
    EXPECT_OK(cs_request_validate(&request, false, &err), err);
}

static void rule_refused(const char *where) {
    char whole[64];
    cs_error err = CS_ERROR_INIT;
    EXPECT_CODE(cs_software_rule_validate(&rule, &err), err, CS_FAILED, CS_CODE_RULE_MALFORMED);
    EXPECT_WHERE(err, where);
    snprintf(whole, sizeof whole, "software_rule.%s", where);
    EXPECT_CODE(cs_request_validate(&request, false, &err), err, CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    EXPECT_WHERE(err, whole);
}

Test(records_rule, number_of_identities) {
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_software_rule_validate(NULL, &err), err);
    rule_passes();
    rule.n_identities = 1;
    rule_refused("identities");

    rule.mode = borrow("exact");
    rule_passes();
    rule.n_identities = 0;
    rule_refused("identities");
    rule.n_identities = 2;
    rule_refused("identities");

    rule.mode = borrow("approved");
    rule_passes();
    rule.n_identities = 1;
    rule_passes();
    rule.n_identities = 0;
    rule_refused("identities");
    rule.n_identities = 32;
    rule_passes();
    rule.n_identities = 33;
    rule_refused("identities");
}

Test(records_rule, mode) {
    rule.n_identities = 1;
    rule.mode = borrow("exact");
    rule_passes();
    const char *const bad[] = {"Exact", "exact ", "any", "approve"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        rule.mode = borrow(bad[i]);
        rule_refused("mode");
    }
    rule.mode = borrow_bytes("exact\0", 6);
    rule_refused("mode");
}

Test(records_rule, identities) {
    rule.mode = borrow("approved");
    rule.n_identities = 3;
    identities[2] = borrow("Az09._:/@+-");
    rule_passes();
    identities[2] = borrow(longest);
    rule_passes();
    identities[2] = borrow(too_long);
    rule_refused("identities[2]");
    identities[2] = borrow("");
    rule_refused("identities[2]");
    identities[2] = borrow("a b");
    rule_refused("identities[2]");
    identities[2] = borrow("a,b");
    rule_refused("identities[2]");
    identities[2] = borrow_bytes("a\0", 2);
    rule_refused("identities[2]");
    identities[2] = borrow("id-0");
    rule_refused("identities[2]");
    identities[2] = borrow("id-00");
    rule_passes();
}
