/* JUnit files: what is counted adds up, and what is refused is refused as that. */
#include <string.h>

#include "gate/junit.h"
#include "tests/fuzz/fuzz.h"

static size_t occurrences(cs_view text, const char *word) {
    size_t count = 0;
    for (size_t i = 0; i + strlen(word) <= text.len; i++)
        count += memcmp(text.ptr + i, word, strlen(word)) == 0;
    return count;
}

static void check_read(cs_view xml, const cs_junit *read) {
    MUST(read->skipped <= read->cases && read->failed <= read->cases);
    MUST(read->executed == read->cases - read->skipped);
    MUST(read->repeated == 0 || read->repeated < read->cases);
    MUST(read->lies == (read->lie[0] != '\0') && memchr(read->lie, '\0', sizeof read->lie) != NULL);
    MUST((read->failed > 0) == (read->first_failed[0] != '\0'));
    MUST(memchr(read->first_failed, '\0', sizeof read->first_failed) != NULL);
    MUST(fuzz_printable(cs_view_of(read->lie), false) && fuzz_printable(cs_view_of(read->first_failed), false));
    MUST(read->hides == (read->hidden[0] != '\0') && memchr(read->hidden, '\0', sizeof read->hidden) != NULL);
    MUST(memchr(read->first_reason, '\0', sizeof read->first_reason) != NULL);
    MUST(read->failed > 0 || read->first_reason[0] == '\0');
    MUST(fuzz_printable(cs_view_of(read->hidden), false) && fuzz_printable(cs_view_of(read->first_reason), false));
    /* Nothing is counted that does not stand there. What is hidden differs from what was counted. */
    MUST(read->cases <= occurrences(xml, "<testcase") && read->failed <= read->cases);
    MUST(!read->hides || read->lies);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cs_error err = CS_ERROR_INIT;
    static const cs_junit nothing;
    cs_junit read;
    cs_view xml = cs_view_bytes(data, size);
    memset(&read, 0xA5, sizeof read);
    cs_result result = cs_junit_read(xml, &read, &err);
    if (result == CS_OK) {
        check_read(xml, &read);
        return 0;
    }
    fuzz_refusal(result, &err);
    MUST(err.code == CS_CODE_JUNIT_MALFORMED);
    MUST(read.cases == nothing.cases && read.executed == 0 && !read.lies);
    return 0;
}
