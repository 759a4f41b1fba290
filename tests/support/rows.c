#include "tests/support/rows.h"

#include <string.h>

static cs_view text(const char *literal) {
    return (cs_view){.ptr = (const uint8_t *)literal, .len = strlen(literal)};
}

cs_ledger_row rows_run(void) {
    return (cs_ledger_row){.added_unix_ms = 1700000000123,
                           .kind = text("run"),
                           .daemon = text("http://127.0.0.1:8746"),
                           .code = text(""),
                           .detail = text(""),
                           .request = text("the request"),
                           .response = text("the response"),
                           .envelope = text("{\"payloadType\":\"x\"}"),
                           .describe_before = text("before"),
                           .describe_after = text("after"),
                           .record_sha256 = text(ROWS_RECORD)};
}

cs_ledger_row rows_finding(void) {
    return (cs_ledger_row){.added_unix_ms = 1700000000456,
                           .kind = text("finding"),
                           .daemon = text("http://127.0.0.1:8746"),
                           .code = text("result-digest"),
                           .detail = text("the result is another one"),
                           .request = text("the request"),
                           .response = text("the response"),
                           .describe_before = text("before"),
                           .record_sha256 = text("")};
}

cs_ledger_row rows_checkpoint(void) {
    return (cs_ledger_row){.added_unix_ms = 1700000000789,
                           .kind = text("checkpoint"),
                           .daemon = text("http://127.0.0.1:8746"),
                           .code = text(""),
                           .detail = text(""),
                           .link = text("{\"payloadType\":\"y\"}"),
                           .record_sha256 = text("")};
}

cs_ledger_row rows_verdict(void) {
    return (cs_ledger_row){.added_unix_ms = 1700000000987,
                           .kind = text("verdict"),
                           .daemon = text(""),
                           .code = text(""),
                           .detail = text(""),
                           .envelope = text("{\"payloadType\":\"z\"}"),
                           .record_sha256 = text("")};
}
