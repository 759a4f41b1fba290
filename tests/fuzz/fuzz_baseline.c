/* Files of baselines: what is taken is within its bounds, and written again it is the very text. */
#include <string.h>

#include "harness/baseline_internal.h"
#include "records/text.h"
#include "tests/fuzz/fuzz.h"

static void check_baseline(const cs_baseline *baseline) {
    MUST(baseline->count <= CS_BASELINE_MAX_KEYS);
    for (size_t i = 0; i < CS_STATE_MEMBERS; i++)
        MUST(strlen(baseline->state[i]) < CS_BASELINE_VALUE && cs_utf8_valid(cs_view_of(baseline->state[i])));
    for (size_t i = 0; i < baseline->count; i++) {
        const cs_baseline_entry *entry = &baseline->entries[i];
        MUST(cs_baseline_key_good(entry->key) && strlen(entry->key) < CS_BASELINE_KEY);
        MUST(strlen(entry->value) < CS_BASELINE_VALUE && cs_utf8_valid(cs_view_of(entry->value)));
        MUST(i == 0 || strcmp(baseline->entries[i - 1].key, entry->key) < 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cs_baseline_list list;
    cs_error err = CS_ERROR_INIT;
    cs_view text = cs_view_bytes(data, size);
    cs_result result = cs_baseline_parse(text, &list, &err);
    if (result != CS_OK) {
        fuzz_refusal(result, &err);
        MUST(err.code == CS_CODE_BASELINE_FORM && list.items == NULL && list.count == 0);
        return 0;
    }
    CS_AUTO_BUF again = CS_BUF_INIT(CS_BASELINE_MAX_BYTES);
    MUST(list.count > 0 && list.count <= CS_BASELINE_MAX_STATES);
    for (size_t i = 0; i < list.count; i++) {
        check_baseline(&list.items[i]);
        MUST(i == 0 || cs_baseline_state_order(&list.items[i - 1], &list.items[i]) < 0);
    }
    MUST(cs_baseline_write(&list, &again) && cs_view_equal(cs_buf_view(&again), text));
    cs_baseline_list_free(&list);
    return 0;
}
