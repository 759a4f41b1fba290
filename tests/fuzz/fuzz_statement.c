/* Statements: what reads rebuilds to the same bytes, but for \b and \f, which have two spellings. */
#include <string.h>

#include "records/statement.h"
#include "tests/fuzz/fuzz.h"

static bool rebuild(const cs_statement *statement, cs_buf *out) {
    switch (statement->kind) {
    case CS_STATEMENT_RECORD:
        return cs_statement_record(statement->record, out);
    case CS_STATEMENT_CLOSE:
        return cs_statement_close(&statement->close, out);
    case CS_STATEMENT_LINK:
        return cs_statement_link(&statement->link, out);
    }
    return false;
}

/* The payload with the short spelling of both. Every backslash begins an escape. */
static void normalise(cs_view payload, cs_buf *out) {
    for (size_t i = 0; i < payload.len;) {
        const uint8_t *p = payload.ptr + i;
        size_t left = payload.len - i;
        size_t step = *p == '\\' && left >= 2 ? 2 : 1;
        if (left >= 6 && memcmp(p, "\\u0008", 6) == 0) {
            MUST(cs_buf_text(out, "\\b"));
            step = 6;
        } else if (left >= 6 && memcmp(p, "\\u000c", 6) == 0) {
            MUST(cs_buf_text(out, "\\f"));
            step = 6;
        } else {
            MUST(cs_buf_append(out, p, step));
        }
        i += step;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cs_view payload = cs_view_bytes(data, size);
    cs_statement statement;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_statement_read(payload, &statement, &err);
    if (result != CS_OK) {
        fuzz_refusal(result, &err);
        return 0;
    }
    cs_buf built = CS_BUF_INIT(SIZE_MAX / 2);
    cs_buf expected = CS_BUF_INIT(SIZE_MAX / 2);
    MUST(rebuild(&statement, &built));
    normalise(payload, &expected);
    MUST(cs_view_equal(cs_buf_view(&built), cs_buf_view(&expected)));

    cs_statement again;
    MUST(cs_statement_read(cs_buf_view(&built), &again, &err) == CS_OK);
    MUST(again.kind == statement.kind && (again.record != NULL) == (again.kind == CS_STATEMENT_RECORD));
    cs_statement_free(&again);
    cs_statement_free(&statement);
    cs_buf_free(&expected);
    cs_buf_free(&built);
    return 0;
}
