/* TLS: a certificate that is not the daemon's ends the call before anything is sent. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/hostile/hostile.h"
#include "tests/support/folder.h"
#include "tests/support/tls.h"

/* All the servers of a test. Every call has a connection and so a server of its own: the attacked call's
 * certificate is the only one that is not good. */
typedef struct servers {
    char folder[128];
    char ca_file[256];
    tls_authority *authority;
    tls_authority *stranger; /* with the same name, and trusted by nobody */
    SSL_CTX *good;
} servers;

static servers *servers_of(const stage *st) {
    return st->held;
}

static void open_servers(servers *s) {
    folder_make(s->folder);
    (void)snprintf(s->ca_file, sizeof s->ca_file, "%s/ca.pem", s->folder);
    s->authority = tls_authority_new(s->ca_file);
    s->stranger = tls_authority_new(NULL);
    cr_assert(s->authority != NULL && s->stranger != NULL);
    s->good = tls_issue(s->authority, &(tls_leaf){.names = "IP:127.0.0.1", .from_day = -1, .to_day = 1});
    cr_assert_not_null(s->good);
}

static void close_servers(servers *s) {
    SSL_CTX_free(s->good);
    tls_authority_free(s->authority);
    tls_authority_free(s->stranger);
    folder_remove(s->folder);
}

static void be_good(stage *st) {
    st->scheme = "https";
    for (size_t i = 0; i < 3; i++)
        st->steps[i].tls = servers_of(st)->good;
}

/* The attacked call meets this server, which is freed with the stage. */
static void meet(stage *st, SSL_CTX *tls) {
    cr_assert_not_null(tls);
    st->steps[st->attacked].tls = tls;
    st->owned_tls = tls;
}

static void meet_leaf(stage *st, const tls_leaf *leaf) {
    meet(st, tls_issue(servers_of(st)->authority, leaf));
}

/* ---- certificates ---------------------------------------------------------------------------------- */

static void good_again(stage *st) {
    meet_leaf(st, &(tls_leaf){.names = "IP:127.0.0.1", .from_day = -1, .to_day = 1});
}

static void several_names(stage *st) {
    meet_leaf(st, &(tls_leaf){.names = "DNS:daemon.example,IP:127.0.0.1", .from_day = -1, .to_day = 1});
}

static void other_address(stage *st) {
    meet_leaf(st, &(tls_leaf){.names = "IP:127.0.0.2", .from_day = -1, .to_day = 1});
}

static void other_name(stage *st) {
    meet_leaf(st, &(tls_leaf){.names = "DNS:daemon.example", .from_day = -1, .to_day = 1});
}

static void name_like_address(stage *st) {
    meet_leaf(st, &(tls_leaf){.names = "DNS:127.0.0.2,DNS:*.0.0.1", .from_day = -1, .to_day = 1});
}

static void expired(stage *st) {
    meet_leaf(st, &(tls_leaf){.names = "IP:127.0.0.1", .from_day = -3, .to_day = -1});
}

static void not_yet_valid(stage *st) {
    meet_leaf(st, &(tls_leaf){.names = "IP:127.0.0.1", .from_day = 1, .to_day = 3});
}

static void for_servers(stage *st) {
    meet_leaf(st, &(tls_leaf){.names = "IP:127.0.0.1", .purpose = "serverAuth", .from_day = -1, .to_day = 1});
}

static void for_clients(stage *st) {
    meet_leaf(st, &(tls_leaf){.names = "IP:127.0.0.1", .purpose = "clientAuth", .from_day = -1, .to_day = 1});
}

static void self_signed(stage *st) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/self.pem", servers_of(st)->folder);
    meet(st, tls_self_signed(path));
}

static void of_a_stranger(stage *st) {
    const tls_leaf leaf = {.names = "IP:127.0.0.1", .from_day = -1, .to_day = 1};
    meet(st, tls_issue(servers_of(st)->stranger, &leaf));
}

static void below_an_authority(stage *st) {
    const tls_leaf leaf = {.names = "IP:127.0.0.1", .from_day = -1, .to_day = 1};
    meet(st, tls_issue_below(servers_of(st)->authority, true, &leaf));
}

static void below_another_daemon(stage *st) {
    const tls_leaf leaf = {.names = "IP:127.0.0.1", .from_day = -1, .to_day = 1};
    meet(st, tls_issue_below(servers_of(st)->authority, false, &leaf));
}

static const play certificates[] = {
    {"another good one", .alter = good_again, PASSES},
    {"several names", .alter = several_names, PASSES},
    {"for another address", .alter = other_address, UNSENT(TLS)},
    {"for another name", .alter = other_name, UNSENT(TLS)},
    {"for names that look like addresses", .alter = name_like_address, UNSENT(TLS)},
    {"expired", .alter = expired, UNSENT(TLS)},
    {"not yet valid", .alter = not_yet_valid, UNSENT(TLS)},
    {"for servers", .alter = for_servers, PASSES},
    {"for clients", .alter = for_clients, UNSENT(TLS)},
    {"self-signed", .alter = self_signed, UNSENT(TLS)},
    {"of a stranger", .alter = of_a_stranger, UNSENT(TLS)},
    {"below an authority", .alter = below_an_authority, PASSES},
    {"below another daemon's", .alter = below_another_daemon, UNSENT(TLS)},
};

/* ---- versions -------------------------------------------------------------------------------------- */

static void speak(stage *st, int version) {
    good_again(st);
    SSL_CTX *tls = st->steps[st->attacked].tls;
    SSL_CTX_set_security_level(tls, 0); /* or the server itself would refuse what is old */
    cr_assert(SSL_CTX_set_min_proto_version(tls, version) == 1 && SSL_CTX_set_max_proto_version(tls, version) == 1);
}

static void tls_1_1(stage *st) {
    speak(st, TLS1_1_VERSION);
}

static void tls_1_2(stage *st) {
    speak(st, TLS1_2_VERSION);
}

static void tls_1_3(stage *st) {
    speak(st, TLS1_3_VERSION);
}

static void no_tls(stage *st) {
    st->steps[st->attacked].plain = true;
    st->steps[st->attacked].unread = true;
}

static void no_answer(stage *st) {
    no_tls(st);
    cs_buf_clear(&st->heads[st->attacked]);
}

static void reset_at_once(stage *st) {
    st->steps[st->attacked].plain = true;
    st->steps[st->attacked].enough = 1;
    st->steps[st->attacked].end = PEER_RESET;
    cs_buf_clear(&st->heads[st->attacked]);
}

static const play versions[] = {
    {"1.1", .alter = tls_1_1, UNSENT(TLS)},      {"1.2", .alter = tls_1_2, PASSES},
    {"1.3", .alter = tls_1_3, PASSES},           {"a good answer without TLS", .alter = no_tls, UNSENT(TLS)},
    {"closed", .alter = no_answer, UNSENT(TLS)}, {"reset", .alter = reset_at_once, UNSENT(TLS)},
};

static void with_servers(const group *like) {
    servers s = {.authority = NULL};
    open_servers(&s);
    group g = *like;
    g.held = &s;
    g.dress = be_good;
    g.config.ca_file = s.ca_file;
    hostile(&g);
    close_servers(&s);
}

Test(hostile_tls, certificates) {
    with_servers(&(group){.at = AT_ALL, PLAYS(certificates)});
}

Test(hostile_tls, versions) {
    with_servers(&(group){.at = AT_ALL, PLAYS(versions)});
}

/* ---- after the handshake ---------------------------------------------------------------------------- */

static const play losses[] = {
    {"reset after reading", .silent = true, .end = PEER_RESET, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
    {"closed after reading", .silent = true, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
    {"no id", HEAD(H_ID, ""), UNANSWERED(UNBOUND)},
};

Test(hostile_tls, after_the_handshake) {
    with_servers(&(group){.at = AT_ALL, PLAYS(losses)});
}

/* Anyone on the way can end a TCP stream, and where the end of the stream is the end of the body, libcurl does
 * not ask whether TLS ended, too. So an answer must say by itself where it ends. */
static void cut_result(stage *st) {
    cs_buf *body = &st->bodies[1];
    const uint8_t *at = memmem(body->ptr, body->len, "\x52\x04\x0a\x02", 4);
    cr_assert_not_null(at);
    body->len = (size_t)(at - body->ptr);
    st->steps[1].end = PEER_CUT;
}

/* The plain script is the twin: it differs in the Content-Length alone. */
static const play ends[] = {
    {"whole, and TLS not ended", .end = PEER_CUT, UNANSWERED(MALFORMED)},
    {"a length that no number holds", HEAD(H_ID, H_ID "Content-Length: 99999999999999999999\r\n"),
     UNANSWERED(TOO_LARGE), .kept = KEPT_NOTHING},
    {"a transfer coding that is no framing", HEAD(H_ID, H_ID "Transfer-Encoding: identity\r\n"), UNANSWERED(MALFORMED)},
    {"an older version of HTTP", HEAD(H_STATUS, "HTTP/1.0 200 OK\r\n"), UNANSWERED(MALFORMED)},
    {"a length, and TLS not ended", HEAD(H_ID, H_ID H_LENGTH), .end = PEER_CUT, PASSES},
};

Test(hostile_tls, a_body_that_ends_where_the_connection_does) {
    with_servers(&(group){.at = AT_ALL, .head = H_STATUS H_BINARY H_ID H_END, UNANSWERED(MALFORMED), PLAYS(ends)});
}

static const play cut_ends[] = {
    {"a result that is cut off", .alter = cut_result, UNANSWERED(MALFORMED)},
};

Test(hostile_tls, a_body_that_is_cut_short) {
    with_servers(&(group){.at = AT_RUN, .head = H_STATUS H_BINARY H_ID H_END, UNANSWERED(MALFORMED), PLAYS(cut_ends)});
}

/* What is cut off an error may be what it says about the run. */
static const play error_ends[] = {
    {"no length", HEAD(H_LENGTH, ""), UNANSWERED(MALFORMED)},
    {"no length, and TLS not ended", HEAD(H_LENGTH, ""), .end = PEER_CUT, UNANSWERED(MALFORMED)},
    {"a status that has no body", HEAD("503 Busy", "204 No Content"), BODY("busy", ""), REFUSED(CAPACITY)},
};

Test(hostile_tls, an_error_that_ends_where_the_connection_does) {
    with_servers(&(group){.at = AT_ALL,
                          .head = "HTTP/1.1 503 Busy\r\nPlimsoll-Not-Dispatched: capacity\r\n" H_ID H_LENGTH H_END,
                          .body = "busy",
                          REFUSED(CAPACITY),
                          PLAYS(error_ends)});
}

/* The body in one chunk; the last one says that it is the last. */
static void put_chunk(stage *st, const char *end) {
    const cs_buf *body = &st->bodies[st->attacked];
    cr_assert(cs_buf_printf(&st->framed, "%zx\r\n", body->len));
    cr_assert(cs_buf_append(&st->framed, body->ptr, body->len));
    cr_assert(cs_buf_text(&st->framed, end));
}

static void all_chunks(stage *st) {
    be_good(st);
    put_chunk(st, "\r\n0\r\n\r\n");
}

static void no_last_chunk(stage *st) {
    cs_buf_clear(&st->framed);
    put_chunk(st, "\r\n");
    st->steps[st->attacked].end = PEER_CUT;
}

static const play chunked_ends[] = {
    {"TLS not ended", .end = PEER_CUT, PASSES},
    {"the last chunk is cut off", .alter = no_last_chunk, UNANSWERED(CONNECTION)},
    {"a coding below the chunks", HEAD("chunked", "gzip, chunked"), UNANSWERED(MALFORMED)},
    {"in capitals", HEAD("chunked", "CHUNKED"), PASSES},
};

Test(hostile_tls, chunks_say_where_they_end) {
    servers s = {.authority = NULL};
    open_servers(&s);
    hostile(&(group){.at = AT_ALL,
                     .held = &s,
                     .config.ca_file = s.ca_file,
                     .head = H_STATUS H_BINARY H_ID "Transfer-Encoding: chunked\r\n\r\n",
                     .dress = all_chunks,
                     PLAYS(chunked_ends)});
    close_servers(&s);
}

/* Where the length was told, it counts. */
static void promise_all(stage *st) {
    stage_promise(st, st->bodies[1].len);
    cut_result(st);
}

static const play promised_ends[] = {
    {"a result that is cut off", .alter = promise_all, UNANSWERED(CONNECTION)},
};

Test(hostile_tls, the_end_of_a_body_of_known_length) {
    with_servers(&(group){.at = AT_RUN, PLAYS(promised_ends)});
}

/* ---- what is trusted -------------------------------------------------------------------------------- */

static void trust_the_system(stage *st) {
    st->config.ca_file = NULL;
}

static void trust_nothing(stage *st) {
    st->config.ca_file = "/dev/null";
}

static void trust_no_file(stage *st) {
    st->config.ca_file = "/nonexistent/ca.pem";
}

static const play trusts[] = {
    {"the system's authorities", .alter = trust_the_system, UNSENT(TLS)},
    {"an empty file", .alter = trust_nothing, UNSENT(TLS)},
    {"a file that is not there", .alter = trust_no_file, UNSENT(TLS)},
};

Test(hostile_tls, what_is_trusted) {
    with_servers(&(group){.at = AT_BEFORE, PLAYS(trusts)});
}

/* ---- no handshake ----------------------------------------------------------------------------------- */

static void no_handshake(stage *st) {
    no_answer(st);
    st->steps[st->attacked].end = PEER_STALL;
}

static const play mute[] = {
    {"no handshake", .alter = no_handshake, UNSENT(TIMEOUT)},
};

Test(hostile_tls, no_handshake_in_time) {
    with_servers(&(group){.at = AT_ALL, .config.timeout_ms = 1000, PLAYS(mute)});
}
