/* A javascript run that passes every check of a single run, and the parts a test changes. The digests are
 * the test side's own (canon.h). */
#ifndef CS_TESTS_SUPPORT_SAMPLE_H
#define CS_TESTS_SUPPORT_SAMPLE_H

#include "records/check.h"

typedef struct sample {
    cs_run_request *request;
    cs_run_response *response;
    cs_run_record *record; /* the response's */
    cs_describe_response *before;
    cs_describe_response *after;
    uint8_t *bytes; /* the packed response */
    size_t len;
} sample;

#define SAMPLE_IDENTITY "oci-manifest:linux/amd64@sha256:one"
#define SAMPLE_STARTED 1700000000100
#define SAMPLE_ENDED 1700000000200

/* Which digests sample_seal computes again, and whether it packs the response again. */
#define SEAL_REQUEST 1u
#define SEAL_RESULT 2u
#define SEAL_RECORD 4u
#define SEAL_BYTES 8u
#define SEAL_ALL 15u

/* Protocol 3, a rule of one identity, floor container, a record of version 2; sealed. */
void sample_init(sample *s);
void sample_seal(sample *s, unsigned what);
void sample_free(sample *s);
/* The same run at another time, a millisecond earlier: the same result in another record; sealed. */
void sample_again(sample *s);

/* As a call of the checker, with statements and clock. Borrows from the sample. */
cs_call sample_call(const sample *s);

#endif
