#include "tests/support/verdicts.h"

#include "tests/support/forge.h"

#define POLICY_URI "\"uri\":\"urn:countersign:gate-policy:v1\",\"digest\":{\"sha256\":"

verdict_text verdict_test_result(void) {
    return (verdict_text){
        .start = "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"git+https://git.example.org/"
                 "shop?a\\u0026b\",\"digest\":{\"gitCommit\":",
        .commit = "\"" VERDICT_COMMIT "\"",
        .type = "https://in-toto.io/attestation/test-result/v0.1",
        .head = "\"result\":\"PASSED\",\"configuration\":[{" POLICY_URI,
        .policy = "\"" VERDICT_POLICY "\"",
        .tail = verdict_rules("\"sources\",\"tests/bind\"", "", "")};
}

verdict_text verdict_summary(void) {
    verdict_text text = verdict_test_result();
    text.type = "https://slsa.dev/verification_summary/v1";
    text.head = "\"verifier\":{\"id\":\"urn:countersign:gate\"},\"timeVerified\":\"" VERDICT_TIME
                "\",\"resourceUri\":\"git+https://git.example.org/shop?a\\u0026b\",\"policy\":{" POLICY_URI;
    text.tail = "}},\"inputAttestations\":["
                "{\"digest\":{\"sha256\":\"1111111111111111111111111111111111111111111111111111111111111111\"}},"
                "{\"digest\":{\"sha256\":\"2222222222222222222222222222222222222222222222222222222222222222\"}}],"
                "\"verificationResult\":\"PASSED\",\"verifiedLevels\":[\"COUNTERSIGN_GATE_PASSED\"]}}";
    return text;
}

const char *verdict_rules(const char *passed, const char *warned, const char *failed) {
    return forge_text("}}],\"passedTests\":[%s],\"warnedTests\":[%s],\"failedTests\":[%s]}}", passed, warned, failed);
}

char *verdict_payload(const verdict_text *text) {
    return forge_text("%s%s}}],\"predicateType\":\"%s\",\"predicate\":{%s%s%s", text->start, text->commit, text->type,
                      text->head, text->policy, text->tail);
}
