/* Inner parts of the policy's reader (gate/policy.h): walking JSON with the place where it stands, and the single
 * values. */
#ifndef CS_GATE_POLICY_READ_H
#define CS_GATE_POLICY_READ_H

#include <jansson.h>

#include "gate/policy.h"
#include "records/arena.h"

#define CS_POLICY_PLACE 96u /* "requirements[31].bind[255].paths[255]" and some room */

typedef struct cs_policy_reader {
    cs_arena *arena; /* all that the policy borrows from */
    cs_error *err;
    char place[CS_POLICY_PLACE]; /* of the value that is read; empty for the document itself */
} cs_policy_reader;

/* One member of an object, and who reads it into `out`. */
typedef struct cs_policy_member {
    const char *name;
    cs_result (*read)(cs_policy_reader *reader, json_t *value, void *out);
    bool required;
} cs_policy_member;

/* Fail with CS_CODE_POLICY_MALFORMED at the reader's place; what stands there is `found` (NULL: nothing). */
CS_MUST_CHECK cs_result cs_policy_bad(const cs_policy_reader *reader, const char *what, const char *expected,
                                      const json_t *found);
/* The same where another kind of value is `wanted` ("a list") than the one that stands there. */
CS_MUST_CHECK cs_result cs_policy_bad_kind(const cs_policy_reader *reader, const char *wanted, const char *expected,
                                           const json_t *found);
CS_MUST_CHECK cs_result cs_policy_no_memory(const cs_policy_reader *reader);

/* Go to the member or the element below the reader's place, and come back by cutting it to the length that is
 * returned. */
size_t cs_policy_enter(cs_policy_reader *reader, const char *member);
size_t cs_policy_enter_at(cs_policy_reader *reader, size_t index);
void cs_policy_leave(cs_policy_reader *reader, size_t length);

/* Read an object that has these members (the list ends with a NULL name) and no others, each in the order of the
 * document; then look for those that must be there. */
CS_MUST_CHECK cs_result cs_policy_object(cs_policy_reader *reader, json_t *value, const cs_policy_member *members,
                                         void *out);

/* Read an array of min to max elements into an array of the arena's, each by `read` into its place there.
 * What an element has that its equal may not have twice is the caller's to look for. */
CS_MUST_CHECK cs_result cs_policy_array(cs_policy_reader *reader, json_t *value, size_t min, size_t max, size_t size,
                                        cs_result (*read)(cs_policy_reader *reader, json_t *value, void *out),
                                        void **items, size_t *count);

CS_MUST_CHECK cs_result cs_policy_bool(cs_policy_reader *reader, const json_t *value, bool *out);
CS_MUST_CHECK cs_result cs_policy_number(cs_policy_reader *reader, const json_t *value, uint64_t min, uint64_t max,
                                         uint64_t *out);
/* A text that `fault` has nothing against (it answers what is wrong), copied into the arena. */
CS_MUST_CHECK cs_result cs_policy_text(cs_policy_reader *reader, const json_t *value, const char *(*fault)(cs_view),
                                       const char *expected, cs_view *out);

/* The members of one requirement, which *out is. */
CS_MUST_CHECK cs_result cs_policy_requirement_read(cs_policy_reader *reader, json_t *value, void *out);
/* A list of patterns for paths, at least one. */
CS_MUST_CHECK cs_result cs_policy_patterns(cs_policy_reader *reader, json_t *value, void *list);

/* Rules that can't both be fulfilled, and requirements that ask for nothing. */
CS_MUST_CHECK cs_result cs_policy_consistent(const cs_policy *policy, cs_error *err);

#endif
