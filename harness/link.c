#include "harness/link.h"

#include "records/dsse.h"

static cs_result read_payload(cs_view payload, cs_bundle_link *out, cs_error *err) {
    cs_statement statement;
    cs_result result = cs_statement_read(payload, &statement, err);
    if (result != CS_OK) return result;
    *out = statement.link;
    if (statement.kind != CS_STATEMENT_LINK)
        result = cs_fail(err, CS_CODE_STATEMENT_TYPE, "the link's statement is not one of a link");
    cs_statement_free(&statement);
    return result;
}

cs_result cs_link_statement(cs_view envelope, cs_bundle_link *out, cs_error *err) {
    *out = (cs_bundle_link){.index = 0};
    cs_envelope decoded;
    cs_result result = cs_envelope_decode(envelope, &decoded, err);
    if (result != CS_OK) return result;
    result = read_payload(cs_buf_view(&decoded.payload), out, err);
    cs_envelope_free(&decoded);
    return result;
}
