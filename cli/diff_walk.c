#include "cli/diff_walk.h"

#include <stdio.h>
#include <string.h>

#include "records/check.h"
#include "records/text.h"
#include "replay/compare.h"

typedef struct walking {
    const cs_side *a;
    const cs_side *b;
    const bool *wanted;
    cs_on_difference on_difference;
    void *user;
    cs_error *err;
    cs_diff_part part; /* of the message that is being walked */
    uint64_t results;  /* differences of the result */
} walking;

const char *cs_diff_part_word(cs_diff_part part) {
    static const char *const words[CS_DIFF_PARTS] = {"request", "result", "response", "record"};
    return words[part < CS_DIFF_PARTS ? part : CS_DIFF_RECORD];
}

/* ---- request and response --------------------------------------------------------------------- */

static void tell_pair(const walking *w, cs_diff_part part, const cs_field_pair *pair) {
    if (w->wanted[part]) w->on_difference(w->user, part, pair);
}

static void on_pair(void *user, const cs_field_pair *pair) {
    walking *w = user;
    w->results += pair->covered;
    tell_pair(w, pair->covered ? CS_DIFF_RESULT : w->part, pair);
}

static void tell_bytes(const walking *w, const char *path, cs_view a, cs_view b) {
    cs_field_pair pair = {.path = path, .has_a = a.ptr != NULL, .has_b = b.ptr != NULL, .bytes = true, .a = a, .b = b};
    if (pair.has_a == pair.has_b && cs_view_equal(a, b)) return;
    tell_pair(w, w->part, &pair);
}

/* Absent, or every byte of it is one of a field. */
static bool is_covered(const ProtobufCMessage *message, cs_view bytes) {
    return message == NULL || cs_message_coverage(message, bytes, NULL) == CS_OK;
}

static cs_result walk_message(walking *w, const ProtobufCMessage *a, cs_view bytes_a, const ProtobufCMessage *b,
                              cs_view bytes_b, bool with_record) {
    bool read_a = a != NULL || bytes_a.ptr == NULL;
    bool read_b = b != NULL || bytes_b.ptr == NULL;
    if (!read_a || !read_b) {
        tell_bytes(w, "(bytes that are no message)", bytes_a, bytes_b);
        return CS_OK;
    }
    cs_result result = cs_compare_fields(a, b, with_record, on_pair, w, w->err);
    if (result != CS_OK) return result;
    bool empty = (a == NULL) != (b == NULL) && bytes_a.len + bytes_b.len == 0;
    if (empty || !is_covered(a, bytes_a) || !is_covered(b, bytes_b)) tell_bytes(w, "(encoding)", bytes_a, bytes_b);
    return CS_OK;
}

static const ProtobufCMessage *base_of_request(const cs_side *side) {
    return side->shown.request != NULL ? &side->shown.request->base : NULL;
}

static const ProtobufCMessage *base_of_response(const cs_side *side) {
    return side->shown.response != NULL ? &side->shown.response->base : NULL;
}

/* As a rule the response's record is the signed one, which is compared by itself, or stands in for it. */
static bool has_own_record(const cs_side *side) {
    const cs_run_response *response = side->shown.response;
    const cs_run_record *record = cs_shown_record(&side->shown);
    if (response == NULL || response->record == record) return false;
    return response->record == NULL || cs_check_same_record(response->record, record, NULL) != CS_OK;
}

/* The first difference of replay says whether results differ at all; the fields must say the same. */
static cs_result walk_response(walking *w) {
    const cs_run_response *a = w->a->shown.response;
    const cs_run_response *b = w->b->shown.response;
    cs_difference first = {.differs = false};
    if (a != NULL && b != NULL) cs_compare_results(a, b, &first);
    w->part = CS_DIFF_RESPONSE;
    bool with_record = has_own_record(w->a) || has_own_record(w->b);
    cs_result result = walk_message(w, base_of_response(w->a), w->a->entry.response, base_of_response(w->b),
                                    w->b->entry.response, with_record);
    if (result == CS_OK && a != NULL && b != NULL && first.differs != (w->results > 0))
        return cs_fail(w->err, CS_CODE_INTERNAL, "two ways to compare the results disagree");
    return result;
}

/* ---- the record ------------------------------------------------------------------------------- */

static void tell_words(const walking *w, const char *path, const char *a, const char *b) {
    if (strcmp(a, b) == 0) return;
    cs_field_pair pair = {.path = path, .has_a = true, .has_b = true};
    snprintf(pair.value_a, sizeof pair.value_a, "%s", a);
    snprintf(pair.value_b, sizeof pair.value_b, "%s", b);
    tell_pair(w, w->part, &pair);
}

static cs_view code_of(const cs_side *side) {
    return side->entry.finding ? side->row.code : cs_view_bytes(NULL, 0);
}

typedef struct counting {
    walking *walking;
    uint64_t told;
} counting;

static void count_pair(void *user, const cs_field_pair *pair) {
    counting *count = user;
    count->told++;
    on_pair(count->walking, pair);
}

/* When the records and keys are the same, so is what was signed: envelopes that differ then are told as they are. */
static cs_result walk_record(walking *w) {
    const cs_shown *a = &w->a->shown;
    const cs_shown *b = &w->b->shown;
    const cs_run_record *record_a = cs_shown_record(a);
    const cs_run_record *record_b = cs_shown_record(b);
    counting count = {.walking = w};
    w->part = CS_DIFF_RECORD;
    tell_words(w, "(kind of entry)", cs_shown_kind(a), cs_shown_kind(b));
    tell_bytes(w, "(code of the finding)", code_of(w->a), code_of(w->b));
    cs_result result = cs_compare_fields(record_a != NULL ? &record_a->base : NULL,
                                         record_b != NULL ? &record_b->base : NULL, false, count_pair, &count, w->err);
    if (result != CS_OK) return result;
    const char *key_a = a->enveloped ? a->envelope.keyid : "";
    const char *key_b = b->enveloped ? b->envelope.keyid : "";
    tell_words(w, "(key id)", key_a, key_b);
    if (count.told == 0 && strcmp(key_a, key_b) == 0)
        tell_bytes(w, "(envelope)", w->a->entry.envelope, w->b->entry.envelope);
    return CS_OK;
}

/* ---- all of it -------------------------------------------------------------------------------- */

bool cs_diff_has_part(const cs_side *a, const cs_side *b, cs_diff_part part) {
    if (part == CS_DIFF_REQUEST) return a->entry.request.ptr != NULL || b->entry.request.ptr != NULL;
    if (part == CS_DIFF_RECORD) return true;
    return a->entry.response.ptr != NULL || b->entry.response.ptr != NULL;
}

cs_result cs_diff_walk(const cs_side *a, const cs_side *b, const bool wanted[CS_DIFF_PARTS],
                       cs_on_difference on_difference, void *user, cs_error *err) {
    walking w = {.a = a, .b = b, .wanted = wanted, .on_difference = on_difference, .user = user, .err = err};
    cs_result result = CS_OK;
    w.part = CS_DIFF_REQUEST;
    if (wanted[CS_DIFF_REQUEST])
        result = walk_message(&w, base_of_request(a), a->entry.request, base_of_request(b), b->entry.request, false);
    if (result == CS_OK && (wanted[CS_DIFF_RESULT] || wanted[CS_DIFF_RESPONSE])) result = walk_response(&w);
    if (result == CS_OK && wanted[CS_DIFF_RECORD]) result = walk_record(&w);
    return result;
}
