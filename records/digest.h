/* The digests that records state (docs/FORMAT.md, "Digests"). All are pure.
 *
 * Each fails only without memory or when the hash library fails (class CS_UNCHECKED). */
#ifndef CS_RECORDS_DIGEST_H
#define CS_RECORDS_DIGEST_H

#include "records/message.h"
#include "records/sha256.h"

/* Request: domain v1 for protocol 0 and 1, v2 above. Trace id is left out. */
CS_MUST_CHECK cs_result cs_digest_request(const cs_run_request *request, cs_digest *out, cs_error *err);
/* Result: the oneof only; durations and advice are left out. */
CS_MUST_CHECK cs_result cs_digest_result(const cs_run_response *response, cs_digest *out, cs_error *err);
/* The newest version of a record. */
#define CS_RECORD_VERSION 4u

/* Record: versions 1 to 4; any other version fails with CS_CODE_RECORD_VERSION. record_sha256 itself is not
 * read. */
CS_MUST_CHECK cs_result cs_digest_record(const cs_run_record *record, cs_digest *out, cs_error *err);

/* software_rule_id of a rule, appended: "", "exact:<identity>" or "approved:sha256:<hex>". The rule
 * (NULL: none) must be well formed. */
CS_MUST_CHECK cs_result cs_software_rule_id(const cs_software_rule *rule, cs_buf *out, cs_error *err);

/* SHA-256 over the 32 characters of a session id. */
CS_MUST_CHECK cs_result cs_session_fingerprint(cs_view session_id, cs_digest *out, cs_error *err);

/* The same hash may serve many calls (saves its set-up): as above, with the caller's hash. */
CS_MUST_CHECK cs_result cs_digest_request_with(cs_sha256 *hash, const cs_run_request *request, cs_digest *out, cs_error *err);
CS_MUST_CHECK cs_result cs_digest_result_with(cs_sha256 *hash, const cs_run_response *response, cs_digest *out, cs_error *err);
CS_MUST_CHECK cs_result cs_digest_record_with(cs_sha256 *hash, const cs_run_record *record, cs_digest *out, cs_error *err);

#endif
