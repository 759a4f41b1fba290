/* Patterns: a pattern, a newline, a path. Against a matcher that tries everything, once for each pair of places. */
#include <stdlib.h>
#include <string.h>

#include "gate/glob.h"
#include "tests/fuzz/fuzz.h"

/* Small, since the plain matcher keeps an answer for each pair. */
#define MAX_PATTERN 64u
#define MAX_PATH 64u

typedef struct plain {
    cs_view pattern;
    cs_view path;
    signed char known[MAX_PATTERN + 1][MAX_PATH + 1]; /* 0: not yet, else 1 or -1 */
} plain;

static bool matches_at(plain *m, size_t p, size_t t);

static uint8_t member(const plain *m, size_t *p) {
    if (m->pattern.ptr[*p] == '\\') ++*p;
    return m->pattern.ptr[(*p)++];
}

static bool set_at(plain *m, size_t p, size_t t) {
    bool in[256] = {false};
    bool negated = m->pattern.ptr[++p] == '!';
    p += negated;
    while (m->pattern.ptr[p] != ']') {
        unsigned low = member(m, &p);
        unsigned high = low;
        if (m->pattern.ptr[p] == '-' && m->pattern.ptr[p + 1] != ']') {
            p++;
            high = member(m, &p);
        }
        for (unsigned byte = low; byte <= high; byte++)
            in[byte] = true;
    }
    return t < m->path.len && m->path.ptr[t] != '/' && in[m->path.ptr[t]] != negated && matches_at(m, p + 1, t + 1);
}

static bool folders_at(plain *m, size_t p, size_t t) {
    if (p + 2 == m->pattern.len) return true;
    if (matches_at(m, p + 3, t)) return true;
    for (; t < m->path.len; t++)
        if (m->path.ptr[t] == '/' && matches_at(m, p + 3, t + 1)) return true;
    return false;
}

static bool found_at(plain *m, size_t p, size_t t) {
    bool any = t < m->path.len && m->path.ptr[t] != '/';
    if (p == m->pattern.len) return t == m->path.len;
    switch (m->pattern.ptr[p]) {
    case '[':
        return set_at(m, p, t);
    case '?':
        return any && matches_at(m, p + 1, t + 1);
    case '*':
        if (p + 1 < m->pattern.len && m->pattern.ptr[p + 1] == '*') return folders_at(m, p, t);
        return matches_at(m, p + 1, t) || (any && matches_at(m, p, t + 1));
    default: {
        uint8_t byte = member(m, &p);
        return t < m->path.len && m->path.ptr[t] == byte && matches_at(m, p, t + 1);
    }
    }
}

static bool matches_at(plain *m, size_t p, size_t t) {
    if (m->known[p][t] == 0) m->known[p][t] = found_at(m, p, t) ? 1 : -1;
    return m->known[p][t] > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t steps = 0;
    const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
    if (newline == NULL) return 0;
    cs_view pattern = cs_view_bytes(data, (size_t)(newline - data));
    cs_view path = cs_view_bytes(newline + 1, size - pattern.len - 1);
    const char *fault = cs_glob_fault(pattern);
    bool matches = cs_glob_matches_counted(pattern, path, &steps);
    MUST(steps <= (uint64_t)pattern.len * path.len);
    MUST(matches == cs_glob_matches(pattern, path));
    if (fault != NULL) MUST(!matches && steps == 0 && fuzz_printable(cs_view_of(fault), false));
    if (path.len == 0) MUST(!matches);
    if (fault != NULL || path.len == 0 || pattern.len > MAX_PATTERN || path.len > MAX_PATH) return 0;
    static plain m;
    memset(&m, 0, sizeof m);
    m.pattern = pattern;
    m.path = path;
    MUST(matches == matches_at(&m, 0, 0));
    return 0;
}
