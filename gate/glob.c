#include "gate/glob.h"

#include <string.h>

/* ---- form ------------------------------------------------------------------------------------------ */

/* Read one member of a set at *at: a byte, or a backslash and a byte. */
static const char *set_member(cs_view pattern, size_t *at, uint8_t *byte) {
    if (*at >= pattern.len || pattern.ptr[*at] == '/') return "a [ is not closed by ] (write \\[ for the byte itself)";
    bool escaped = pattern.ptr[*at] == '\\';
    if (escaped) (*at)++;
    if (*at >= pattern.len || pattern.ptr[*at] == '/')
        return "a backslash has no byte behind it that it could stand for";
    *byte = pattern.ptr[*at];
    if (!escaped && *byte == '[') return "there is a [ in a set (write \\[; names of classes are not known)";
    (*at)++;
    return NULL;
}

/* The set whose `[` is at *at; afterwards *at is behind its `]`. */
static const char *set_fault(cs_view pattern, size_t *at) {
    size_t members = 0;
    (*at)++;
    if (*at < pattern.len && pattern.ptr[*at] == '^')
        return "a set begins with ^ (write [! for all but these, \\^ for ^)";
    if (*at < pattern.len && pattern.ptr[*at] == '!') (*at)++;
    for (;; members++) {
        uint8_t low = 0;
        if (*at < pattern.len && pattern.ptr[*at] == ']') break;
        const char *fault = set_member(pattern, at, &low);
        if (fault != NULL) return fault;
        if (*at + 1 >= pattern.len || pattern.ptr[*at] != '-' || pattern.ptr[*at + 1] == ']') continue;
        uint8_t high = 0;
        (*at)++;
        fault = set_member(pattern, at, &high);
        if (fault != NULL) return fault;
        if (high < low) return "a range in a set ends before it begins";
    }
    (*at)++;
    return members == 0 ? "a set is empty (write \\] for ])" : NULL;
}

static const char *segment_fault(cs_view segment) {
    if (segment.len == 0) return "it begins or ends with a slash, or has two slashes in a row";
    if (cs_view_is(segment, ".") || cs_view_is(segment, "..")) return "a segment is . or ..";
    return NULL;
}

/* One element outside of a set; *at moves behind it. */
static const char *element_fault(cs_view pattern, size_t *at) {
    uint8_t byte = pattern.ptr[*at];
    if (byte == '[') return set_fault(pattern, at);
    if (byte == '{') return "there is a { (write a pattern for each alternative, \\{ for the byte itself)";
    if (byte == '\\') {
        (*at)++;
        if (*at >= pattern.len || pattern.ptr[*at] == '/')
            return "a backslash has no byte behind it that it could stand for";
    }
    if (byte == '*' && *at + 1 < pattern.len && pattern.ptr[*at + 1] == '*') {
        size_t end = *at + 2;
        if ((*at > 0 && pattern.ptr[*at - 1] != '/') || (end < pattern.len && pattern.ptr[end] != '/'))
            return "there is a ** beside something else than slashes";
        (*at)++;
    }
    (*at)++;
    return NULL;
}

static cs_view segment_at(cs_view text, size_t at) {
    const uint8_t *begin = text.ptr + at;
    const uint8_t *slash = memchr(begin, '/', text.len - at);
    return cs_view_bytes(begin, slash != NULL ? (size_t)(slash - begin) : text.len - at);
}

const char *cs_glob_fault(cs_view pattern) {
    const char *fault = NULL;
    if (pattern.len == 0) return "it is empty";
    if (pattern.len > CS_GLOB_MAX_BYTES) return "it is longer than 1024 bytes";
    if (memchr(pattern.ptr, '\0', pattern.len) != NULL) return "it holds a NUL byte";
    if (pattern.ptr[0] == '!') return "it begins with ! (there are no exceptions; write \\! for the byte itself)";
    for (size_t at = 0; at <= pattern.len;) {
        cs_view segment = segment_at(pattern, at);
        fault = segment_fault(segment);
        if (fault != NULL) return fault;
        at += segment.len + 1;
    }
    for (size_t at = 0; at < pattern.len && fault == NULL;)
        fault = element_fault(pattern, &at);
    return fault;
}

/* ---- one segment ----------------------------------------------------------------------------------- */

/* From here on every pattern is well formed. */

static uint8_t member_at(cs_view pattern, size_t *at) {
    if (pattern.ptr[*at] == '\\') (*at)++;
    return pattern.ptr[(*at)++];
}

/* Is `byte` of the set whose `[` is at *at? Afterwards *at is behind its `]`. */
static bool set_holds(cs_view pattern, size_t *at, uint8_t byte, uint64_t *steps) {
    size_t begin = (*at)++;
    bool negated = pattern.ptr[*at] == '!';
    bool found = false;
    if (negated) (*at)++;
    while (pattern.ptr[*at] != ']') {
        uint8_t low = member_at(pattern, at);
        uint8_t high = low;
        if (pattern.ptr[*at] == '-' && pattern.ptr[*at + 1] != ']') {
            (*at)++;
            high = member_at(pattern, at);
        }
        if (byte >= low && byte <= high) found = true;
    }
    (*at)++;
    *steps += *at - begin - 1; /* the caller counts one */
    return found != negated;
}

/* Does the element at *at, which is no star, stand for `byte`? Moves *at behind it. */
static bool element_holds(cs_view pattern, size_t *at, uint8_t byte, uint64_t *steps) {
    (*steps)++;
    if (pattern.ptr[*at] == '[') return set_holds(pattern, at, byte, steps);
    if (pattern.ptr[*at] == '?') {
        (*at)++;
        return true;
    }
    return member_at(pattern, at) == byte;
}

/* After a mismatch only the last star takes one byte more: what stands before it has found its first place, and a later
 * one could not leave more to the rest. So each byte is held against each element at most once. */
static bool segment_matches(cs_view pattern, cs_view text, uint64_t *steps) {
    size_t p = 0;
    size_t t = 0;
    size_t star = SIZE_MAX; /* where the pattern goes on behind the last star */
    size_t taken = 0;       /* where that star's bytes end */
    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = ++p;
            taken = t;
        } else if (p < pattern.len && element_holds(pattern, &p, text.ptr[t], steps)) {
            t++;
        } else if (star != SIZE_MAX) {
            p = star;
            t = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

/* ---- the whole path -------------------------------------------------------------------------------- */

/* The same again with segments for bytes, and `**` for the star. A place behind the last segment is len + 1. */
static bool path_matches(cs_view pattern, cs_view path, uint64_t *steps) {
    size_t p = 0;
    size_t t = 0;
    size_t star = SIZE_MAX;
    size_t taken = 0;
    while (t <= path.len) {
        cs_view name = segment_at(path, t);
        cs_view segment = p <= pattern.len ? segment_at(pattern, p) : cs_view_bytes(NULL, 0);
        if (cs_view_is(segment, "**")) {
            p += 3;
            if (p > pattern.len) return true;
            star = p;
            taken = t;
        } else if (p <= pattern.len && segment_matches(segment, name, steps)) {
            p += segment.len + 1;
            t += name.len + 1;
        } else if (star != SIZE_MAX) {
            p = star;
            taken += segment_at(path, taken).len + 1;
            t = taken;
        } else {
            return false;
        }
    }
    return p > pattern.len;
}

bool cs_glob_matches_counted(cs_view pattern, cs_view path, uint64_t *steps) {
    if (path.len == 0 || cs_glob_fault(pattern) != NULL) return false;
    return path_matches(pattern, path, steps);
}

static bool is_special(uint8_t byte) {
    return byte == '*' || byte == '?' || byte == '[' || byte == '\\';
}

/* Does the path begin, and end, as the pattern does where it stands for itself? This tells most paths from most
 * patterns without more ado: a policy may hold thousands of patterns, and a commit many more files. */
static bool ends_fit(cs_view pattern, cs_view path) {
    for (size_t i = 0; i < pattern.len && !is_special(pattern.ptr[i]); i++)
        if (i >= path.len || path.ptr[i] != pattern.ptr[i]) return false;
    /* Not over a slash: the folders before it may be none, and then it is not there. */
    for (size_t i = 1; i <= pattern.len; i++) {
        uint8_t byte = pattern.ptr[pattern.len - i];
        if (is_special(byte) || byte == ']' || byte == '/') break;
        if (i > path.len || path.ptr[path.len - i] != byte) return false;
    }
    return true;
}

bool cs_glob_matches(cs_view pattern, cs_view path) {
    uint64_t steps = 0;
    if (!ends_fit(pattern, path)) return false;
    return cs_glob_matches_counted(pattern, path, &steps);
}

/* The segments of both are held against one another until one of the two ends. `**` takes what is left of the folder,
 * and leaves the rest of the pattern, if any, to what is below it. */
bool cs_glob_may_match_below(cs_view pattern, cs_view folder) {
    uint64_t steps = 0;
    size_t p = 0;
    if (folder.len == 0 || cs_glob_fault(pattern) != NULL) return false;
    for (size_t t = 0; t <= folder.len;) {
        if (p > pattern.len) return false;
        cs_view name = segment_at(folder, t);
        cs_view segment = segment_at(pattern, p);
        if (cs_view_is(segment, "**")) return true;
        if (!segment_matches(segment, name, &steps)) return false;
        p += segment.len + 1;
        t += name.len + 1;
    }
    return p <= pattern.len;
}
