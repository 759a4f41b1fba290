#include "harness/hostview_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "records/text.h"

#define PULSE_MS 200u
#define SLICE_MS 20u
#define STACK_BYTES 65536u

void cs_host_nap_ms(unsigned ms) {
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&time, NULL);
}

/* ---- the file ------------------------------------------------------------------------------------ */

/* The control: it must be readable by its path, and by everyone, or a probe that can't read it says nothing. */
static bool file_readable(const char *path, cs_view content) {
    struct stat st;
    char back[96];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return false;
    ssize_t got = read(fd, back, sizeof back);
    bool good = fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0644 && got == (ssize_t)content.len &&
                memcmp(back, content.ptr, content.len) == 0;
    close(fd);
    return good;
}

static bool lay(const char *pattern, cs_view content, char *path, size_t size) {
    snprintf(path, size, "%s", pattern);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) return false;
    bool good = write(fd, content.ptr, content.len) == (ssize_t)content.len && fchmod(fd, 0644) == 0;
    close(fd);
    if (good && file_readable(path, content)) return true;
    (void)unlink(path);
    return false;
}

/* Not in TMPDIR: a daemon that was started from the same shell may give its runs that very folder. */
void cs_bait_file_lay(cs_bait_file *out) {
    static const char *const patterns[] = {"/var/tmp/countersign-canary-XXXXXX", "/tmp/countersign-canary-XXXXXX"};
    memset(out, 0, sizeof *out);
    uint8_t random[32];
    char hex[sizeof random * 2 + 1];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return;
    cs_hex(random, sizeof random, hex);
    cs_view content = cs_view_of(hex);
    bool laid = cs_sha256_once(content, &out->content) && (lay(patterns[0], content, out->path, sizeof out->path) ||
                                                           lay(patterns[1], content, out->path, sizeof out->path));
    if (!laid) out->path[0] = '\0';
}

void cs_bait_file_take(cs_bait_file *file) {
    if (file->path[0] != '\0') (void)unlink(file->path);
    file->path[0] = '\0';
}

/* ---- the port ------------------------------------------------------------------------------------ */

/* The control: this program can connect itself. */
static bool port_connects(const struct sockaddr_in *address, int listener) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    bool good = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    close(fd);
    int taken = good ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
    if (taken >= 0) close(taken);
    return taken >= 0;
}

int cs_bait_port_open(uint16_t *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (bind(fd, (const struct sockaddr *)&address, size) == 0 && listen(fd, 8) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &size) == 0 && port_connects(&address, fd) &&
        fcntl(fd, F_SETFL, O_NONBLOCK) == 0) {
        *port = ntohs(address.sin_port);
        return fd;
    }
    close(fd);
    return -1;
}

bool cs_bait_port_reached(int listener, const char *token) {
    int fd = listener < 0 ? -1 : accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return false;
    char said[CS_PROBE_TOKEN_DIGITS];
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    bool same = poll(&wait, 1, 200) == 1 && recv(fd, said, sizeof said, 0) == (ssize_t)sizeof said &&
                memcmp(said, token, sizeof said) == 0;
    close(fd);
    return same;
}

/* ---- the number of threads ------------------------------------------------------------------------- */

typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open;
} gate;

static void *wait_at(void *of) {
    gate *g = of;
    pthread_mutex_lock(&g->lock);
    while (!g->open)
        pthread_cond_wait(&g->opened, &g->lock);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static void nap_unless(const atomic_bool *stop, unsigned ms) {
    for (unsigned done = 0; done < ms && !atomic_load(stop); done += SLICE_MS)
        cs_host_nap_ms(SLICE_MS);
}

/* Up, a moment, and down again. False when this machine does not give so many threads. */
static bool pulse_once(const atomic_bool *stop) {
    gate g = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};
    pthread_t threads[CS_PULSE_HEIGHT];
    pthread_attr_t attributes;
    size_t count = 0;
    bool ready = pthread_attr_init(&attributes) == 0;
    if (ready && pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0)
        while (count < CS_PULSE_HEIGHT && pthread_create(&threads[count], &attributes, wait_at, &g) == 0)
            count++;
    if (ready) (void)pthread_attr_destroy(&attributes);
    nap_unless(stop, PULSE_MS);
    pthread_mutex_lock(&g.lock);
    g.open = true;
    pthread_cond_broadcast(&g.opened);
    pthread_mutex_unlock(&g.lock);
    for (size_t i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL);
    return count == CS_PULSE_HEIGHT;
}

static void *pulse_thread(void *of) {
    cs_pulse *pulse = of;
    while (!atomic_load(&pulse->stop)) {
        if (pulse_once(&pulse->stop) && !atomic_load(&pulse->stop)) pulse->done++;
        nap_unless(&pulse->stop, PULSE_MS);
    }
    return NULL;
}

void cs_pulse_begin(cs_pulse *pulse) {
    pulse->done = 0;
    atomic_init(&pulse->stop, false);
    pulse->going = pthread_create(&pulse->thread, NULL, pulse_thread, pulse) == 0;
}

void cs_pulse_end(cs_pulse *pulse) {
    if (!pulse->going) return;
    atomic_store(&pulse->stop, true);
    (void)pthread_join(pulse->thread, NULL);
    pulse->going = false;
}
