#include "tests/support/peer.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_SEEN 64u
#define MAX_HEAD ((size_t)64 * 1024)
#define MAX_BODY ((size_t)16 * 1024 * 1024)
#define CHUNK 16384u
#define DRIP_MS 200
#define AWAIT_MS 60000u

struct peer {
    const peer_step *steps;
    size_t count;
    SSL_CTX *tls;
    int listening;
    int stop; /* an eventfd; readable from peer_stop on */
    bool running;
    pthread_t thread;
    char url[64];
    peer_request seen[MAX_SEEN];
    size_t connections;
    atomic_size_t whole; /* requests that were received whole */
};

/* One accepted connection. */
typedef struct wire {
    int fd;
    int stop;
    SSL *ssl; /* NULL: plain */
} wire;

/* ---- bytes ---------------------------------------------------------------------------------------- */

/* Wait until the connection is ready for `events`. False when peer_stop came first. */
static bool ready(const wire *w, short events) {
    struct pollfd fds[2] = {{.fd = w->fd, .events = events}, {.fd = w->stop, .events = POLLIN}};
    while (poll(fds, 2, -1) < 0)
        continue;
    return fds[0].revents != 0;
}

/* Bytes read; 0 at the end of the stream, on an error, or after peer_stop. */
static size_t receive(const wire *w, void *to, size_t size) {
    if ((w->ssl == NULL || SSL_pending(w->ssl) == 0) && !ready(w, POLLIN)) return 0;
    if (w->ssl != NULL) {
        int got = SSL_read(w->ssl, to, (int)size);
        return got > 0 ? (size_t)got : 0;
    }
    ssize_t got = recv(w->fd, to, size, 0);
    return got > 0 ? (size_t)got : 0;
}

static bool send_all(const wire *w, cs_view bytes) {
    while (bytes.len > 0) {
        size_t size = bytes.len < CHUNK ? bytes.len : CHUNK;
        if (!ready(w, POLLOUT)) return false;
        ssize_t put = w->ssl != NULL ? SSL_write(w->ssl, bytes.ptr, (int)size)
                                     : send(w->fd, bytes.ptr, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put <= 0) return false;
        bytes.ptr += put;
        bytes.len -= (size_t)put;
    }
    return true;
}

/* ---- the request ---------------------------------------------------------------------------------- */

size_t peer_header(const peer_request *request, const char *name, char *value, size_t size) {
    size_t found = 0;
    const size_t len = strlen(name);
    for (const char *line = strstr(request->head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, len) != 0 || line[len] != ':') continue;
        const char *text = line + len + 1 + strspn(line + len + 1, " \t");
        if (found++ == 0) (void)snprintf(value, size, "%.*s", (int)strcspn(text, "\r\n"), text);
    }
    return found;
}

/* Split what was read so far once the head is complete: the head goes to the request, the rest stays. */
static bool split_head(cs_buf *got, peer_request *request) {
    const uint8_t *end = got->len == 0 ? NULL : memmem(got->ptr, got->len, "\r\n\r\n", 4);
    if (end == NULL) return false;
    size_t len = (size_t)(end - got->ptr) + 4;
    free(request->head);
    request->head = strndup((const char *)got->ptr, len);
    return request->head != NULL && cs_buf_append(&request->body, got->ptr + len, got->len - len);
}

/* Read and forget exactly so many bytes, when they come. */
static void read_some(const wire *w, size_t enough) {
    char chunk[CHUNK];
    size_t len = 1;
    for (; enough > 0 && len > 0; enough -= len)
        len = receive(w, chunk, enough < sizeof chunk ? enough : sizeof chunk);
}

static void read_request(const wire *w, peer_request *request) {
    char chunk[CHUNK];
    cs_buf got = CS_BUF_INIT(MAX_HEAD);
    size_t len = 0;
    bool head = false;
    while (!head && (len = receive(w, chunk, sizeof chunk)) > 0 && cs_buf_append(&got, chunk, len))
        head = split_head(&got, request);
    cs_buf_free(&got);
    if (!head) return;

    char length[32] = "0";
    (void)peer_header(request, "Content-Length", length, sizeof length);
    const size_t want = strtoul(length, NULL, 10);
    while (request->body.len < want && (len = receive(w, chunk, sizeof chunk)) > 0)
        if (!cs_buf_append(&request->body, chunk, len)) return;
    request->whole = request->body.len == want;
}

/* ---- the answer ----------------------------------------------------------------------------------- */

static bool put_id(const peer_request *request, bool capitals, cs_buf *out) {
    char id[128] = "";
    (void)peer_header(request, "Plimsoll-Request-Id", id, sizeof id);
    for (char *at = id; capitals && *at != '\0'; at++)
        *at = (char)toupper((unsigned char)*at);
    return cs_buf_text(out, id);
}

/* What one answer is made from. */
typedef struct script {
    const peer_step *step;
    const peer_request *request;
    const peer_request *before; /* of the connection before; NULL for the first */
} script;

/* Write what stands for the placeholder at `at`, and how long that is; 0 when there is none. */
static size_t put_place(const script *a, const char *at, cs_buf *out, bool *fine) {
    if (strncmp(at, "{id}", 4) == 0 || strncmp(at, "{ID}", 4) == 0) {
        *fine = put_id(a->request, at[1] == 'I', out);
        return 4;
    }
    if (strncmp(at, "{old}", 5) == 0) {
        *fine = a->before == NULL || put_id(a->before, false, out);
        return 5;
    }
    if (strncmp(at, "{length}", 8) == 0) {
        *fine = cs_buf_printf(out, "%zu", a->step->body.len);
        return 8;
    }
    return 0;
}

static bool expand(const script *a, cs_buf *out) {
    bool fine = true;
    for (const char *at = a->step->head; fine && *at != '\0';) {
        size_t len = *at == '{' ? put_place(a, at, out, &fine) : 0;
        if (len == 0) fine = cs_buf_byte(out, (uint8_t)*at);
        at += len == 0 ? 1 : len;
    }
    return fine;
}

/* False when the other side or peer_stop came first. */
static bool drip(const wire *w, cs_view bytes) {
    const int pause_ms = DRIP_MS;
    for (size_t i = 0; i < bytes.len; i++) {
        struct pollfd stop = {.fd = w->stop, .events = POLLIN};
        if (!send_all(w, cs_view_bytes(bytes.ptr + i, 1)) || poll(&stop, 1, pause_ms) != 0) return false;
    }
    return true;
}

static void send_answer(const wire *w, const script *a) {
    const peer_step *step = a->step;
    if (step->head == NULL) return;
    cs_buf head = CS_BUF_INIT(MAX_BODY);
    bool sent = expand(a, &head) && send_all(w, cs_buf_view(&head)) &&
                (step->end == PEER_DRIP ? drip(w, step->body) : send_all(w, step->body));
    while (sent && step->end == PEER_FLOOD && step->body.len > 0)
        sent = send_all(w, step->body);
    cs_buf_free(&head);
}

static void drain(const wire *w) {
    char chunk[CHUNK];
    while (receive(w, chunk, sizeof chunk) > 0)
        continue;
}

static void end_connection(const wire *w, peer_end end) {
    if (end == PEER_RESET) {
        const struct linger now = {.l_onoff = 1, .l_linger = 0};
        (void)setsockopt(w->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return;
    }
    if (end != PEER_STALL) {
        if (w->ssl != NULL && end != PEER_CUT) (void)SSL_shutdown(w->ssl);
        (void)shutdown(w->fd, SHUT_WR);
    }
    drain(w);
}

/* ---- connections ---------------------------------------------------------------------------------- */

/* The TLS of one connection. False when the handshake failed. */
static bool begin_tls(wire *w, SSL_CTX *tls) {
    if (tls == NULL) return true;
    w->ssl = SSL_new(tls);
    return w->ssl != NULL && SSL_set_fd(w->ssl, w->fd) == 1 && ready(w, POLLIN) && SSL_accept(w->ssl) == 1;
}

/* A listening socket of -1 is one that poll takes no notice of. */
static void listen_no_more(peer *p) {
    if (p->listening >= 0) close(p->listening);
    p->listening = -1;
}

static void serve(peer *p, int fd) {
    static const peer_step past_the_end = {.unread = true, .head = NULL, .end = PEER_CLOSE};
    if (p->connections == MAX_SEEN) {
        close(fd);
        return;
    }
    const size_t index = p->connections++;
    const peer_step *step = index < p->count ? &p->steps[index] : &past_the_end;
    peer_request *request = &p->seen[index];
    request->head = strdup("");
    request->body = CS_BUF_INIT(MAX_BODY);

    wire w = {.fd = fd, .stop = p->stop, .ssl = NULL};
    SSL_CTX *tls = step->tls != NULL ? step->tls : p->tls;
    if (request->head != NULL && begin_tls(&w, step->plain ? NULL : tls)) {
        if (step->enough > 0) read_some(&w, step->enough);
        if (!step->unread && step->enough == 0) read_request(&w, request);
        if (request->whole) atomic_fetch_add(&p->whole, 1);
        if (step->end == PEER_DIE) listen_no_more(p);
        const script answer = {step, request, index > 0 ? request - 1 : NULL};
        send_answer(&w, &answer);
        end_connection(&w, step->end);
    }
    SSL_free(w.ssl);
    close(fd);
}

static void *work(void *data) {
    peer *p = data;
    /* OpenSSL writes to a socket without asking that there be no signal. */
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, NULL);

    for (;;) {
        struct pollfd fds[2] = {{.fd = p->listening, .events = POLLIN}, {.fd = p->stop, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0) continue;
        /* Connections first, so that one that waits when peer_stop is called is still counted. */
        if (fds[0].revents != 0) {
            int fd = accept4(p->listening, NULL, NULL, SOCK_CLOEXEC);
            if (fd >= 0) {
                /* A body shall not wait until its head is acknowledged. */
                const int on = 1;
                (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                serve(p, fd);
            }
        } else if (fds[1].revents != 0) {
            return NULL;
        }
    }
}

static bool listen_somewhere(peer *p) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    p->listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (p->listening < 0 || bind(p->listening, (struct sockaddr *)&address, size) != 0 ||
        listen(p->listening, 16) != 0 || getsockname(p->listening, (struct sockaddr *)&address, &size) != 0)
        return false;
    (void)snprintf(p->url, sizeof p->url, "%s://127.0.0.1:%u", p->tls == NULL ? "http" : "https",
                   (unsigned)ntohs(address.sin_port));
    return true;
}

peer *peer_start(const peer_step *steps, size_t count, SSL_CTX *tls) {
    peer *p = calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    *p = (peer){.steps = steps, .count = count, .tls = tls, .listening = -1, .stop = eventfd(0, EFD_CLOEXEC)};
    p->running = p->stop >= 0 && listen_somewhere(p) && pthread_create(&p->thread, NULL, work, p) == 0;
    if (p->running) return p;
    peer_free(p);
    return NULL;
}

const char *peer_url(const peer *p) {
    return p->url;
}

bool peer_await(peer *p, size_t requests) {
    const int pause_ms = 5;
    for (unsigned waited = 0; waited < AWAIT_MS; waited += pause_ms) {
        if (atomic_load(&p->whole) >= requests) return true;
        (void)poll(NULL, 0, pause_ms);
    }
    return false;
}

void peer_stop(peer *p) {
    if (!p->running) return;
    const uint64_t one = 1;
    if (write(p->stop, &one, sizeof one) != (ssize_t)sizeof one) abort();
    pthread_join(p->thread, NULL);
    p->running = false;
}

void peer_free(peer *p) {
    if (p == NULL) return;
    peer_stop(p);
    if (p->listening >= 0) close(p->listening);
    if (p->stop >= 0) close(p->stop);
    for (size_t i = 0; i < p->connections; i++) {
        free(p->seen[i].head);
        cs_buf_free(&p->seen[i].body);
    }
    free(p);
}

size_t peer_connections(const peer *p) {
    return p->connections;
}

const peer_request *peer_seen(const peer *p, size_t index) {
    return index < p->connections ? &p->seen[index] : NULL;
}
