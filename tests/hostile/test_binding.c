/* Is it the answer to this very request? An answer that does not say so is believed in nothing. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/hostile/hostile.h"

#define OTHER "00112233445566778899aabbccddeeff"
#define INTERIM "HTTP/1.1 103 Early Hints\r\n"

static const play binding[] = {
    {"header name in small letters", HEAD("Plimsoll-Request-Id", "plimsoll-request-id"), PASSES},
    {"header name in capitals", HEAD("Plimsoll-Request-Id", "PLIMSOLL-REQUEST-ID"), PASSES},
    {"blanks around the value", HEAD("{id}", " \t {id} \t "), PASSES},
    {"another header has another id", HEAD(H_ID, H_ID "X-Request-Id: " OTHER "\r\n"), PASSES},
    {"an interim answer without an id", HEAD(H_STATUS, INTERIM "\r\n" H_STATUS), PASSES},
    {"an interim answer with another id", HEAD(H_STATUS, INTERIM "Plimsoll-Request-Id: " OTHER "\r\n\r\n" H_STATUS),
     PASSES},
};

Test(hostile_binding, what_binds) {
    hostile(&(group){.at = AT_ALL, PLAYS(binding)});
}

/* Each of them ends in the same way, which depends on the base. */
static const play ids[] = {
    {"no id", HEAD(H_ID, "")},
    {"another id", HEAD("{id}", OTHER)},
    {"two values", HEAD(H_ID, H_ID "Plimsoll-Request-Id: " OTHER "\r\n")},
    {"two values, ours last", HEAD(H_ID, "Plimsoll-Request-Id: " OTHER "\r\n" H_ID)},
    {"one value twice", HEAD(H_ID, H_ID H_ID)},
    {"one value twice, in names of different case", HEAD(H_ID, H_ID "plimsoll-request-id: {id}\r\n")},
    {"a list", HEAD("{id}", "{id}, {id}")},
    {"a list with nothing in it", HEAD("{id}", "{id},")},
    {"in capitals", HEAD("{id}", "{ID}")},
    {"empty", HEAD("{id}", "")},
    {"too long", HEAD("{id}", "{id}0")},
    {"more in front", HEAD("{id}", "0{id}")},
    {"too short", HEAD("{id}", "00112233445566778899aabbccddeef")},
    {"quoted", HEAD("{id}", "\"{id}\"")},
    {"five times as long", HEAD("{id}", "{id}{id}{id}{id}{id}")},
    {"with a parameter", HEAD("{id}", "{id};q=1")},
    {"under a longer name", HEAD("Plimsoll-Request-Id", "Plimsoll-Request-Id2")},
    {"under a shorter name", HEAD("Plimsoll-Request-Id", "Plimsoll-Request-I")},
    {"a percent-encoded digit", HEAD("{id}", "%30{id}")},
};

/* The id of the call before this one. */
static const play stale[] = {{"of the call before", HEAD("{id}", "{old}")}};

static void all_end(const group *base, const play *plays, size_t count, unsigned at, cs_call_state state,
                    cs_code code) {
    play copies[sizeof ids / sizeof *ids];
    memcpy(copies, plays, count * sizeof *plays);
    for (size_t i = 0; i < count; i++) {
        copies[i].state = state;
        copies[i].code = code;
    }
    group g = *base;
    g.at = at;
    g.plays = copies;
    g.count = count;
    hostile(&g);
}

Test(hostile_binding, a_success_that_is_not_bound) {
    const group base = {.at = 0};
    all_end(&base, ids, sizeof ids / sizeof *ids, AT_ALL, CS_CALL_UNANSWERED, CS_CODE_UNANSWERED_UNBOUND);
    all_end(&base, stale, 1, AT_RUN | AT_AFTER, CS_CALL_UNANSWERED, CS_CODE_UNANSWERED_UNBOUND);
}

Test(hostile_binding, a_success_bound_only_elsewhere) {
    static const play moved[] = {
        {"into an interim answer", HEAD(H_STATUS H_BINARY H_ID, INTERIM H_ID "\r\n" H_STATUS H_BINARY),
         UNANSWERED(UNBOUND)},
    };
    hostile(&(group){.at = AT_ALL, PLAYS(moved)});
}

/* The base is refused, because it is bound and marked. */
Test(hostile_binding, a_marked_error_that_is_not_bound) {
    const group base = {
        .head = "HTTP/1.1 429 Too Many Requests\r\n" H_JSON H_ID H_LENGTH H_END,
        .body = "{\"code\":\"resource_exhausted\",\"message\":\"full house\",\"details\":"
                "[{\"type\":\"plimsoll.v1.NotDispatched\",\"value\":\"CAY=\"}]}",
        REFUSED(CAPACITY),
    };
    all_end(&base, ids, sizeof ids / sizeof *ids, AT_ALL, CS_CALL_UNANSWERED, CS_CODE_UNANSWERED_ERROR);
    all_end(&base, stale, 1, AT_RUN | AT_AFTER, CS_CALL_UNANSWERED, CS_CODE_UNANSWERED_ERROR);
}

Test(hostile_binding, an_error_marked_by_header_that_is_not_bound) {
    const group base = {
        .head = "HTTP/1.1 503 Busy\r\nPlimsoll-Not-Dispatched: capacity\r\n" H_ID H_LENGTH H_END,
        .body = "busy",
        REFUSED(CAPACITY),
    };
    all_end(&base, ids, sizeof ids / sizeof *ids, AT_RUN, CS_CALL_UNANSWERED, CS_CODE_UNANSWERED_ERROR);
}
