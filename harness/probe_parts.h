/* What is sent and read in the same way for each program that goes through a daemon. Shared by harness/probe*.c and
 * harness/guards*.c only. */
#ifndef CS_HARNESS_PROBE_PARTS_H
#define CS_HARNESS_PROBE_PARTS_H

#include <jansson.h>

#include "harness/probe.h"

/* 32 random bytes as lowercase hexadecimal digits. CS_CODE_IO when the system gives none. */
CS_MUST_CHECK cs_result cs_probe_nonce(char out[CS_PROBE_NONCE_DIGITS + 1], cs_error *err);

/* A project that brings an executable, as base64 since files of a project are text. */
typedef struct cs_probe_project {
    const char *file;         /* the executable's encoded name */
    cs_view program;
    const cs_view *steps;     /* at most CS_PROBE_MAX_STEPS */
    size_t step_count;
    int32_t timeout_ms;
} cs_probe_project;

#define CS_PROBE_MAX_STEPS 2u

/* The request for it, with `floor` as its minimum isolation. Gives *out. */
CS_MUST_CHECK cs_result cs_probe_project_request(const cs_probe_project *project, cs_view floor, cs_run_request **out,
                                                 cs_error *err);

/* One JSON line and below it the digest over domain, nonce and line: the object in it, for json_decref. CS_CODE_TIER_PROBE
 * (unchecked) when it is not of this form, CS_CODE_TIER_NONCE (failed) for another digest. */
CS_MUST_CHECK cs_result cs_probe_line(const char *domain, const char *nonce, cs_view output, json_t **out,
                                      cs_error *err);
cs_result cs_probe_malformed(cs_error *err, const char *what);
bool cs_probe_is_word(const json_t *value, const char *word);
/* A whole number of at most 2^53 in size; null is CS_PROBE_UNKNOWN. */
CS_MUST_CHECK bool cs_probe_take_number(const json_t *value, int64_t *out);

#endif
