/* One signed run whose signature is good, whatever it says: the checks behind the signature.
 *
 * Flags, length of the request (2 bytes), then the request and the response. The flags say what of the
 * response's record is put right before it is signed, so that the later checks are reached.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "records/digest.h"
#include "records/request.h"
#include "records/statement.h"
#include "records/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/genuine.h"
#include "tests/fuzz/walk.h"
#include "tests/support/canon.h"

enum { FIX_REQUEST = 1, FIX_RESULT = 2, FIX_FIELDS = 4, FIX_PLACE = 8, FIX_RECORD = 16, NO_RESPONSE = 32 };

static void copy(ProtobufCBinaryData *to, const ProtobufCBinaryData *from) {
    if (!cs_bytes_set(to, cs_bytes_view(from))) abort();
}

static void fix_fields(const cs_run_request *request, const cs_run_response *response, cs_run_record *record) {
    copy(&record->provider, &response->sandbox);
    copy(&record->isolation, &response->isolation);
    copy(&record->environment, &response->environment);
    copy(&record->software_identity, &response->software_identity);
    copy(&record->instance, &response->instance);
    cs_buf id = CS_BUF_INIT(1024);
    cs_error err;
    if (cs_software_rule_validate(request->software_rule, &err) == CS_OK) {
        MUST(cs_software_rule_id(request->software_rule, &id, &err) == CS_OK);
        if (!cs_bytes_set(&record->software_rule_id, cs_buf_view(&id))) abort();
    }
    cs_buf_free(&id);
}

static void fix(uint8_t flags, const cs_run_request *request, cs_run_response *response) {
    cs_run_record *record = response->record;
    char hex[65];
    if (flags & FIX_FIELDS) fix_fields(request, response, record);
    if (flags & FIX_PLACE) {
        record->version = request->protocol >= 4 ? 4 : (flags & NO_RESPONSE) ? 3 : 2;
        record->sequence = (flags & NO_RESPONSE) ? 1 : 0;
        canon_set(&record->session, (flags & NO_RESPONSE) ? FORGE_SESSION : "");
        canon_set(&record->previous_sha256, "");
        canon_set(&record->unanswered, (flags & NO_RESPONSE) ? "unknown" : "");
    }
    if (flags & FIX_REQUEST) {
        canon_request(request, hex);
        canon_set(&record->request_sha256, hex);
    }
    if (flags & FIX_RESULT) {
        canon_result(response, hex);
        canon_set(&record->result_sha256, (flags & NO_RESPONSE) ? "" : hex);
    }
    if ((flags & FIX_RECORD) && record->version >= 1 && record->version <= 4) {
        canon_record(record, hex);
        canon_set(&record->record_sha256, hex);
    }
}

/* A line that is signed well. False when the record can't be stated at all. */
static bool put_line(cs_view request, cs_view response, const cs_run_record *record, cs_buf *out) {
    cs_buf statement = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES);
    cs_buf pae = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES);
    uint8_t signature[CS_SIGNATURE_BYTES];
    bool good = cs_statement_record(record, &statement);
    if (good) {
        MUST(cs_dsse_pae(CS_PAYLOAD_TYPE, cs_buf_view(&statement), &pae));
        crypto_sign_detached(signature, NULL, pae.ptr, pae.len, genuine_key()->secret_key);
        MUST(cs_buf_text(out, "{\"request\":\"") && cs_base64_append(out, request) && cs_buf_text(out, "\","));
        if (response.ptr != NULL)
            MUST(cs_buf_text(out, "\"response\":\"") && cs_base64_append(out, response) && cs_buf_text(out, "\","));
        MUST(cs_buf_text(out, "\"envelope\":"));
        MUST(cs_envelope_encode(cs_buf_view(&statement), genuine_key()->id, signature, out));
        MUST(cs_buf_text(out, "}\n"));
    }
    cs_buf_free(&statement);
    cs_buf_free(&pae);
    return good;
}

/* What a run that passed must be, by the tests' own digests. */
static void must_be_true(const cs_verified_run *run) {
    const cs_run_record *record = run->record;
    char hex[65];
    canon_request(run->request, hex);
    MUST(cs_view_is(cs_bytes_view(&record->request_sha256), hex));
    uint32_t protocol = run->request->protocol;
    bool answered = run->response != NULL;
    MUST(protocol <= 4 && record->version == (protocol == 4 ? 4 : !answered ? 3 : protocol >= 2 ? 2 : 1));
    MUST(record->instance.len == 0 || record->version == 4);
    canon_record(record, hex);
    MUST(cs_view_is(cs_bytes_view(&record->record_sha256), hex));
    MUST(cs_view_is(cs_digest_view(&run->checked->record_sha256), hex));
    cs_tier floor = cs_tier_parse(cs_bytes_view(&run->request->minimum_isolation));
    cs_tier tier = cs_tier_parse(cs_bytes_view(&record->isolation));
    MUST(floor >= CS_TIER_NONE && tier >= CS_TIER_PROCESS && tier >= floor);
    MUST(run->in_session == (record->session.len > 0));
    if (run->response == NULL) {
        MUST(protocol >= 2 && record->result_sha256.len == 0 && record->unanswered.len > 0);
        return;
    }
    canon_result(run->response, hex);
    MUST(cs_view_is(cs_bytes_view(&record->result_sha256), hex));
    MUST(record->unanswered.len == 0);
    MUST(cs_view_equal(cs_bytes_view(&record->instance), cs_bytes_view(&run->response->instance)));
    MUST(strcmp(cs_request_kind(run->request), cs_response_kind(run->response)) == 0);
}

static void verify_line(const cs_buf *line, cs_view request, cs_view response) {
    cs_verify_summary summary;
    (void)!walk_file(fuzz_file(line->ptr, line->len), genuine_trust(), must_be_true, &summary);
    MUST(summary.entries == 1);
    if (summary.runs == 0) return;
    /* What passed has no byte that a canonical encoder would not have written. */
    ProtobufCMessage *message = NULL;
    cs_error err;
    MUST(cs_message_decode(&plimsoll__v1__run_request__descriptor, request, &message, &err) == CS_OK);
    MUST(cs_message_coverage(message, request, &err) == CS_OK);
    cs_message_free(message);
    if (response.ptr == NULL) return;
    MUST(cs_message_decode(&plimsoll__v1__run_response__descriptor, response, &message, &err) == CS_OK);
    MUST(cs_message_coverage(message, response, &err) == CS_OK);
    cs_message_free(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    uint8_t flags = data[0];
    size_t len = ((size_t)data[1] << 8 | data[2]) % (size - 2);
    cs_view request_bytes = cs_view_bytes(data + 3, len);
    cs_view response_bytes = cs_view_bytes(data + 3 + len, size - 3 - len);
    ProtobufCMessage *request = NULL;
    ProtobufCMessage *response = NULL;
    cs_error err;
    cs_buf line = CS_BUF_INIT(SIZE_MAX / 2);
    cs_buf encoded = CS_BUF_INIT(SIZE_MAX / 2);
    if (cs_message_decode(&plimsoll__v1__run_request__descriptor, request_bytes, &request, &err) == CS_OK &&
        cs_message_decode(&plimsoll__v1__run_response__descriptor, response_bytes, &response, &err) == CS_OK &&
        ((cs_run_response *)response)->record != NULL) {
        fix(flags, (cs_run_request *)request, (cs_run_response *)response);
        if (flags & (FIX_REQUEST | FIX_RESULT | FIX_FIELDS | FIX_PLACE | FIX_RECORD)) {
            encoded = fuzz_encode(response);
            response_bytes = cs_buf_view(&encoded);
        }
        if (flags & NO_RESPONSE) response_bytes = cs_view_bytes(NULL, 0);
        if (put_line(request_bytes, response_bytes, ((cs_run_response *)response)->record, &line))
            verify_line(&line, request_bytes, response_bytes);
    }
    cs_message_free(request);
    cs_message_free(response);
    cs_buf_free(&encoded);
    cs_buf_free(&line);
    return 0;
}
