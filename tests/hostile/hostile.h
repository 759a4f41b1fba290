/* A daemon that is hostile in exactly one thing, and what must become of the run.
 *
 * A group has a base, which is a whole script for a run (Describe, Run, Describe), and plays, each of which
 * changes one thing in it. The base is played first, as the twin of them all: unless it says otherwise it
 * passes, and leaves one signed run in the ledger. A base that does not pass (an error answer) has a twin
 * of its own, the plain script. Each time the key, the ledger, the client and the sockets are real.
 */
#ifndef CS_TESTS_HOSTILE_H
#define CS_TESTS_HOSTILE_H

#include "harness/run.h"
#include "tests/support/peer.h"
#include "tests/support/sample.h"

/* Which calls of the run are attacked, each in a run of its own. */
#define AT_BEFORE 1u
#define AT_RUN 2u
#define AT_AFTER 4u
#define AT_DESCRIBE (AT_BEFORE | AT_AFTER)
#define AT_ALL (AT_BEFORE | AT_RUN | AT_AFTER)

/* A run in the making. */
typedef struct stage {
    sample s;
    size_t attacked; /* 0, 1 or 2: which of the steps */
    peer_step steps[3];
    cs_buf heads[3];
    cs_buf bodies[3];  /* messages, as a finding keeps them */
    cs_buf framed;     /* the attacked body as it is sent, when that is something else (chunks) */
    bool body_in_head; /* the attacked body is sent as part of the head */
    cs_client_config config;
    char url[128];      /* instead of the peer's, unless empty */
    const char *scheme; /* "https" for connections that have TLS of their own; NULL: as the peer says */
    bool auto_protocol; /* the request leaves the protocol to what the daemon describes */
    SSL_CTX *owned_tls; /* freed with the stage */
    void *held;         /* for the test's own use; lives as long as the group */
} stage;

/* What a finding keeps of the Run call's answer, when it is not the whole body. */
#define KEPT_NOTHING (-1L)
#define KEPT_SOME (-2L) /* how much is a matter of time, but it begins as the body does */

typedef struct play {
    const char *name;
    /* The one thing. In texts, what is looked for must stand there exactly once. */
    const char *head_find;
    const char *head_put;
    cs_view body_find;
    cs_view body_put;
    cs_view tail;  /* behind the body's message */
    bool silent;   /* the attacked call is not answered at all */
    bool unread;   /* and its request not read (peer.h) */
    size_t enough; /* or not all of it */
    peer_end end;
    void (*change)(sample *s); /* of what the daemon states, before the digests of `seal` are made */
    unsigned seal;
    void (*alter)(stage *st); /* of the script or the client, once it is complete */

    /* What must become of the attacked call, and the code that the call, or else the check, ends with. */
    cs_call_state state;
    cs_code code;
    bool reversed; /* a passing run has the warning times-reversed */
    bool calm;     /* and not clock-skew, which all others have: the sample is of 2023 */
    long kept;     /* bytes; 0: all */
    size_t lost;   /* connections that the peer can't have seen */
} play;

typedef struct group {
    unsigned at;
    const play *plays;
    size_t count;
    /* The base, when it is not the plain script. */
    const char *head;           /* of the attacked answer */
    const char *body;           /* of the attacked answer */
    void (*prepare)(sample *s); /* everything is sealed again after it */
    void (*dress)(stage *st);   /* before the play's own alter */
    cs_client_config config;
    cs_call_state state; /* of the attacked call; only looked at when `code` is set */
    cs_code code;        /* CS_CODE_OK: passes */
    bool calm;           /* the base has no warning */
    void *held;
} group;

/* Play the base and every play of the group, at every call that is asked for. */
void hostile(const group *g);

/* For an alter: the attacked head ends in a promise of so many bytes of body, instead of the true one. */
void stage_promise(stage *st, size_t len);

/* ---- words for tables ------------------------------------------------------------------------------ */

#define PLAYS(table) .plays = (table), .count = sizeof(table) / sizeof *(table)
#define VIEW(text)                                                                                                     \
    { .ptr = (const uint8_t *)(text), .len = sizeof(text) - 1 }

#define HEAD(find, put) .head_find = (find), .head_put = (put)
#define BODY(find, put) .body_find = VIEW(find), .body_put = VIEW(put)
#define TAIL(bytes) .tail = VIEW(bytes)
#define CHANGE(function, what) .change = (function), .seal = (what)

#define PASSES .state = CS_CALL_ANSWERED, .code = CS_CODE_OK
#define FAILS(word) .state = CS_CALL_ANSWERED, .code = CS_CODE_##word
#define REFUSED(word) .state = CS_CALL_REFUSED, .code = CS_CODE_REFUSED_##word
#define UNSENT(word) .state = CS_CALL_UNSENT, .code = CS_CODE_UNSENT_##word
#define UNANSWERED(word) .state = CS_CALL_UNANSWERED, .code = CS_CODE_UNANSWERED_##word

/* The lines of a good answer's head. */
#define H_STATUS "HTTP/1.1 200 OK\r\n"
#define H_BINARY "Content-Type: application/proto\r\n"
#define H_JSON "Content-Type: application/json\r\n"
#define H_ID "Plimsoll-Request-Id: {id}\r\n"
#define H_LENGTH "Content-Length: {length}\r\n"
#define H_END "\r\n"

#endif
