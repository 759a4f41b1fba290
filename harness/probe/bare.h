/* What the programs that are sent through a daemon share: a start and system calls of their own, no library, no memory
 * but their own, and the two lines that they print. Each program is one source that includes this and has a begin().
 */
#ifndef CS_HARNESS_PROBE_BARE_H
#define CS_HARNESS_PROBE_BARE_H

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/in.h>
#include <linux/socket.h>
#include <linux/time.h>
#include <stddef.h>
#include <stdint.h>

#define SIGNAL_CHILD 17
#define SIGNAL_KILL 9
#define FAMILY_INET 2
#define LINE_BYTES 6144u
#define UNKNOWN INT64_MIN

/* ---- system calls -------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static inline long call(long number, long a, long b, long c, long d, long e) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
/* The stack begins with the count of the arguments. */
__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call begin\n");
#elif defined(__aarch64__)
static inline long call(long number, long a, long b, long c, long d, long e) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = 0;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
__asm__(".globl _start\n_start:\n  mov x0, sp\n  bl begin\n");
#else
#error "the program form of the probe is made for x86-64 and 64-bit ARM"
#endif

#define CALL5(number, a, b, c, d, e) call((number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

/* The compiler may ask for these by itself. */
void *memset(void *to, int value, size_t len);
void *memcpy(void *restrict to, const void *restrict from, size_t len);

void *memset(void *to, int value, size_t len) {
    volatile unsigned char *at = to;
    for (size_t i = 0; i < len; i++)
        at[i] = (unsigned char)value;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t len) {
    volatile unsigned char *at = to;
    const unsigned char *of = from;
    for (size_t i = 0; i < len; i++)
        at[i] = of[i];
    return to;
}

static inline size_t length(const char *text) {
    size_t len = 0;
    while (text[len] != '\0')
        len++;
    return len;
}

static inline _Noreturn void leave(int code) {
    for (;;)
        (void)CALL5(__NR_exit_group, code, 0, 0, 0, 0);
}

static inline int64_t clock_us(int which) {
    struct __kernel_timespec now = {0};
    if (CALL5(__NR_clock_gettime, which, &now, 0, 0, 0) != 0) return UNKNOWN;
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static inline void nap_ms(int64_t ms) {
    struct __kernel_timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)CALL5(__NR_nanosleep, &time, 0, 0, 0, 0);
}

/* A whole small file; what of it fits. 0 when it can't be read. */
static inline size_t read_file(const char *path, char *out, size_t size) {
    long fd = CALL5(__NR_openat, AT_FDCWD, path, O_RDONLY, 0, 0);
    if (fd < 0) return 0;
    size_t len = 0;
    while (len < size) {
        long got = CALL5(__NR_read, fd, out + len, size - len, 0, 0);
        if (got <= 0) break;
        len += (size_t)got;
    }
    (void)CALL5(__NR_close, fd, 0, 0, 0, 0);
    return len;
}

/* ---- SHA-256 (FIPS 180-4) ------------------------------------------------------------------------ */

typedef struct hash {
    uint32_t state[8];
    unsigned char block[64];
    uint64_t len;
} hash;

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t turn(uint32_t value, unsigned by) {
    return value >> by | value << (32 - by);
}

static inline void hash_block(hash *of) {
    uint32_t w[64];
    for (unsigned i = 0; i < 16; i++) {
        const unsigned char *at = of->block + 4 * i;
        w[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (unsigned i = 16; i < 64; i++) {
        uint32_t low = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t high = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + low + w[i - 7] + high;
    }
    uint32_t s[8];
    memcpy(s, of->state, sizeof s);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t e = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25);
        uint32_t a = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
        uint32_t first = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + w[i];
        uint32_t second = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (unsigned k = 7; k > 0; k--)
            s[k] = s[k - 1];
        s[4] += first;
        s[0] = first + second;
    }
    for (unsigned i = 0; i < 8; i++)
        of->state[i] += s[i];
}

static inline void hash_begin(hash *of) {
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(of->state, start, sizeof start);
    of->len = 0;
}

static inline void hash_add(hash *of, const void *bytes, size_t len) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < len; i++) {
        of->block[of->len++ % 64] = at[i];
        if (of->len % 64 == 0) hash_block(of);
    }
}

/* `out` holds 64 characters. */
static inline void hash_end(hash *of, char *out) {
    static const char digits[] = "0123456789abcdef";
    static const unsigned char zero = 0;
    static const unsigned char one = 0x80;
    uint64_t bits = of->len * 8;
    hash_add(of, &one, 1);
    while (of->len % 64 != 56)
        hash_add(of, &zero, 1);
    unsigned char size[8];
    for (unsigned i = 0; i < 8; i++)
        size[i] = (unsigned char)(bits >> (56 - 8 * i));
    hash_add(of, size, sizeof size);
    for (unsigned i = 0; i < 64; i++)
        out[i] = digits[of->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
}

/* ---- the line ------------------------------------------------------------------------------------ */

typedef struct text {
    char bytes[LINE_BYTES];
    size_t len;
} text;

static inline void put(text *to, const char *from) {
    for (; *from != '\0' && to->len < sizeof to->bytes; from++)
        to->bytes[to->len++] = *from;
}

static inline void put_number(text *to, int64_t value) {
    if (value == UNKNOWN) {
        put(to, "null");
        return;
    }
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    uint64_t rest = value < 0 ? (uint64_t)-value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (value < 0) digits[--at] = '-';
    put(to, digits + at);
}

/* Up to 120 printable characters, as a JSON string; null when there is none. */
static inline void put_string(text *to, const char *from, size_t len) {
    char safe[128];
    size_t used = 0;
    for (size_t i = 0; i < len && used < 120 && from[i] != '\0' && from[i] != '\n'; i++)
        safe[used++] = from[i] < ' ' || from[i] > '~' || from[i] == '"' || from[i] == '\\' ? '?' : from[i];
    safe[used] = '\0';
    put(to, used == 0 ? "null" : "\"");
    put(to, safe);
    if (used != 0) put(to, "\"");
}

static inline void name(text *to, const char *word) {
    put(to, ",\"");
    put(to, word);
    put(to, "\":");
}

static inline void member(text *to, const char *word, int64_t value) {
    name(to, word);
    put_number(to, value);
}

static inline int64_t parse(const char *digits) {
    int64_t value = 0;
    for (; *digits >= '0' && *digits <= '9' && value < 1000000; digits++)
        value = value * 10 + (*digits - '0');
    return value;
}

/* 64 digits and a NUL that only who knows the nonce can tell. */
static inline void derive(const char *domain, const char *nonce, char out[65]) {
    hash of;
    hash_begin(&of);
    hash_add(&of, domain, length(domain));
    hash_add(&of, "\n", 1);
    hash_add(&of, nonce, length(nonce));
    hash_end(&of, out);
    out[64] = '\0';
}

/* Print the line, and below it the digest over the domain, the nonce and the line. */
static inline void print(const char *domain, const char *nonce, text *line) {
    char digest[65];
    hash of;
    hash_begin(&of);
    hash_add(&of, domain, length(domain));
    hash_add(&of, "\n", 1);
    hash_add(&of, nonce, length(nonce));
    hash_add(&of, "\n", 1);
    hash_add(&of, line->bytes, line->len);
    hash_end(&of, digest);
    digest[64] = '\0';
    put(line, "\n");
    put(line, digest);
    put(line, "\n");
    size_t done = 0;
    while (done < line->len) {
        long wrote = CALL5(__NR_write, 1, line->bytes + done, line->len - done, 0, 0);
        if (wrote <= 0) leave(1);
        done += (size_t)wrote;
    }
}

/* A child with a copy of everything; 0 in the child. */
static inline long split(void) {
    return CALL5(__NR_clone, SIGNAL_CHILD, 0, 0, 0, 0);
}

static inline void end_child(long child) {
    if (child <= 0) return;
    (void)CALL5(__NR_kill, child, SIGNAL_KILL, 0, 0, 0);
    (void)CALL5(__NR_wait4, child, 0, 0, 0, 0);
}

/* ---- reaching ------------------------------------------------------------------------------------ */

static inline int64_t errno_of(long result) {
    return result < 0 ? -result : 0;
}

/* Connect to a port of the loopback interface and say 32 characters; the errno, 0 when it connected. */
static inline int64_t reach_port(uint16_t port, const char *token) {
    if (port == 0) return UNKNOWN;
    struct sockaddr_in to = {.sin_family = FAMILY_INET,
                             .sin_port = (uint16_t)(port << 8 | port >> 8),
                             .sin_addr = {.s_addr = 0x0100007f}};
    long fd = CALL5(__NR_socket, FAMILY_INET, 1, 0, 0, 0);
    if (fd < 0) return -fd;
    long done = CALL5(__NR_connect, fd, &to, sizeof to, 0, 0);
    if (done == 0) (void)CALL5(__NR_write, fd, token, 32, 0, 0);
    (void)CALL5(__NR_close, fd, 0, 0, 0, 0);
    return -done;
}

/* Called by the lines of assembler above. */
_Noreturn void begin(long *stack);

#endif
