/* Patterns for paths: what each matches, what it does not, which are refused, and how long it takes. */
#include "gate/glob.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    const char *pattern;
    const char *matches;
    const char * not ; /* a path that differs in as little as possible */
} row;

static const row rows[] = {
    /* bytes as they are */
    {"a", "a", "b"},
    {"a", "a", "aa"},
    {"a", "a", "A"},
    {"a/b", "a/b", "a/b/c"},
    {"a/b", "a/b", "x/a/b"},
    {"a/b", "a/b", "ab"},
    {"a.b", "a.b", "aXb"},
    {"a b\n", "a b\n", "a b"},
    {"caf\xC3\xA9", "caf\xC3\xA9", "cafe\xCC\x81"},
    {"\xFF", "\xFF", "\xFE"},
    {"a}b", "a}b", "a{b"},
    {"a]", "a]", "a["},
    {"a!", "a!", "a"},
    /* star */
    {"*", "a", "a/b"},
    {"*", ".hidden", ".hidden/a"},
    {"*.js", "main.js", "main.jsx"},
    {"*.js", ".js", "src/main.js"},
    {"a*", "a", "ba"},
    {"a*b", "ab", "abc"},
    {"a*b", "aXb", "a/b"},
    {"a*b*c", "abbc", "acb"},
    {"*a*", "bab", "bbb"},
    {"*aab", "aaaab", "aaaaba"},
    {"src/*", "src/a", "src/a/b"},
    {"src/*/a", "src/x/a", "src/a"},
    {"*/*", "a/b", "a"},
    {"*/a", "x/a", "x/y/a"},
    /* question mark */
    {"?", "a", ""},
    {"?", "a", "ab"},
    {"?", "a", "\xC3\xA9"}, /* two bytes */
    {"??", "\xC3\xA9", "a"},
    {"a?b", "aXb", "a/b"},
    {"?*", "a", ""},
    /* any number of folders */
    {"**", "a", ""},
    {"**", "a/b/c", ""},
    {"**/a", "a", "b"},
    {"**/a", "x/y/a", "x/y/ba"},
    {"**/a", "a/a", "a/b"},
    {"**/a/b", "a/a/b", "a/b/b"},
    {"a/**", "a/b", "a"},
    {"a/**", "a/b/c", "ab/c"},
    {"a/**/b", "a/b", "ab"},
    {"a/**/b", "a/x/y/b", "a/x/y/c"},
    {"a/**/b", "a/b/b", "a/b/c"},
    {"a/**/b/*/c", "a/b/b/x/c", "a/b/x/y/c"},
    {"**/a/**", "a/b", "a"},
    {"**/a/**", "x/a/b", "x/b/a"},
    {"**/**/a", "a", "b"},
    {"a/**/**", "a/b", "a"},
    {"**/*.js", "main.js", "main.ts"},
    {"**/*.js", "src/x/main.js", "src/main.js/x"},
    {"**/test_*.py", "a/test_b.py", "a/tests_b.py"},
    {"**/a*/**/b", "x/aa/b", "x/b"},
    {"a/**/\\*\\*", "a/**", "a/bb"},
    /* sets */
    {"[ab]", "b", "c"},
    {"[a-c]x", "cx", "dx"},
    {"[a-c]x", "ax", "[a-c]x"},
    {"[!a-c]", "d", "a"},
    {"[!a]", "b", "/"},
    {"a[!b]c", "axc", "a/c"},
    {"a[+-9]c", "a8c", "a/c"}, /* the range spans the slash */
    {"[a-]", "-", "b"},
    {"[-a]", "-", "b"},
    {"[a-c-e]", "-", "d"},
    {"[!!]", "a", "!"},
    {"[a!]", "!", "b"},
    {"[a^]", "^", "b"},
    {"[\\]]", "]", "\\"},
    {"[\\^a]", "^", "b"},
    {"[\\!a]", "!", "b"},
    {"[\\\\]", "\\", "]"},
    {"[\\[-\\]]", "\\", "Z"},
    {"[*?]", "*", "a"},
    {"[\x80-\xFF]", "\xC3", "z"},
    {"*[0-9]*.c", "a1.c", "a.c"},
    /* escapes */
    {"\\*", "*", "a"},
    {"\\?", "?", "a"},
    {"\\[a]", "[a]", "a"},
    {"\\{a,b}", "{a,b}", "a"},
    {"\\!a", "!a", "a"},
    {"\\\\", "\\", "/"},
    {"\\a", "a", "\\a"},
    {"*\\*", "a*", "ab"},
};

static bool matches(const char *pattern, const char *path) {
    return cs_glob_matches(cs_view_of(pattern), cs_view_of(path));
}

Test(glob, each_row_in_both_directions) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *fault = cs_glob_fault(cs_view_of(rows[i].pattern));
        cr_expect_null(fault, "%s: %s", rows[i].pattern, fault);
        cr_expect(matches(rows[i].pattern, rows[i].matches), "%s does not match %s", rows[i].pattern, rows[i].matches);
        cr_expect_not(matches(rows[i].pattern, rows[i].not ), "%s matches %s", rows[i].pattern, rows[i].not );
    }
}

typedef struct fault_row {
    const char *pattern;
    const char *good; /* the same without the fault */
    const char *word; /* of what is said */
} fault_row;

static const fault_row faults[] = {
    {"", "a", "empty"},
    {"/a", "a", "slash"},
    {"a/", "a", "slash"},
    {"a//b", "a/b", "slash"},
    {"/", "a", "slash"},
    {".", "a", ". or .."},
    {"./a", "a", ". or .."},
    {"a/../b", "a/...b", ". or .."},
    {"a/..", "a/..b", ". or .."},
    {"!a", "a!", "exceptions"},
    {"a**", "a*", "**"},
    {"**a", "*a", "**"},
    {"a/b**/c", "a/b*/c", "**"},
    {"***", "**", "**"},
    {"a/***", "a/**", "**"},
    {"[a]**", "[a]*", "**"},
    {"*.{js,ts}", "*.js", "{"},
    {"[", "\\[", "not closed"},
    {"[a", "[a]", "not closed"},
    {"[a/b]", "[ab]", "not closed"},
    {"[a-", "[a-]", "not closed"},
    {"[]", "[\\]]", "empty"},
    {"[!]", "[!a]", "empty"},
    {"[]a]", "[a]", "empty"},
    {"[^a]", "[!a]", "^"},
    {"[[:alpha:]]", "[a-z]", "[ in a set"},
    {"[a-[]", "[A-\\[]", "[ in a set"},
    {"[b-a]", "[a-b]", "range"},
    {"a\\", "a\\\\", "backslash"},
    {"a\\/b", "a/b", "backslash"},
    {"[\\", "[\\\\]", "backslash"},
    {"[\\/]", "[\\\\]", "backslash"},
};

Test(glob, what_is_not_well_formed_is_told_and_matches_nothing) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const char *fault = cs_glob_fault(cs_view_of(faults[i].pattern));
        cr_assert_not_null(fault, "%s", faults[i].pattern);
        cr_expect(strstr(fault, faults[i].word) != NULL, "%s: %s", faults[i].pattern, fault);
        cr_expect_not(matches(faults[i].pattern, faults[i].pattern), "%s", faults[i].pattern);
        cr_expect_null(cs_glob_fault(cs_view_of(faults[i].good)), "%s", faults[i].good);
    }
}

Test(glob, a_pattern_has_at_most_1024_bytes_and_no_nul) {
    char pattern[1025];
    memset(pattern, 'a', sizeof pattern);
    cr_expect_null(cs_glob_fault(cs_view_bytes(pattern, 1024)));
    cr_expect(cs_glob_matches(cs_view_bytes(pattern, 1024), cs_view_bytes(pattern, 1024)));
    cr_expect_str_eq(cs_glob_fault(cs_view_bytes(pattern, 1025)), "it is longer than 1024 bytes");
    cr_expect_not(cs_glob_matches(cs_view_bytes(pattern, 1025), cs_view_bytes(pattern, 1025)));
    pattern[512] = '\0';
    cr_expect_str_eq(cs_glob_fault(cs_view_bytes(pattern, 1024)), "it holds a NUL byte");
    /* A path that goes on behind a NUL is not the one before it. */
    cr_expect_not(cs_glob_matches(cs_view_of("a"), cs_view_bytes("a\0b", 3)));
    cr_expect(cs_glob_matches(cs_view_of("a*b"), cs_view_bytes("a\0b", 3)));
}

/* ---- time ------------------------------------------------------------------------------------------- */

/* `unit` again and again, `size` bytes, then `end`; free it. */
static char *repeated(const char *unit, size_t size, const char *end) {
    char *text = calloc(1, size + strlen(unit) + strlen(end) + 1);
    cr_assert_not_null(text);
    for (size_t len = 0; len < size; len += strlen(unit))
        memcpy(text + len, unit, strlen(unit));
    text[size] = '\0';
    return strcat(text, end);
}

static void expect_bounded(const char *pattern, char *path, bool wanted) {
    uint64_t steps = 0;
    cr_assert_null(cs_glob_fault(cs_view_of(pattern)), "%s", pattern);
    cr_expect_eq(cs_glob_matches_counted(cs_view_of(pattern), cs_view_of(path), &steps), wanted, "%s", pattern);
    cr_expect(steps > 0 && steps <= (uint64_t)strlen(pattern) * strlen(path), "%s: %llu steps", pattern,
              (unsigned long long)steps);
    free(path);
}

Test(glob, no_pattern_takes_more_than_its_bytes_times_those_of_the_path) {
    expect_bounded("a*a*a*a*a*a*a*a*b", repeated("a", 1000, ""), false);
    expect_bounded("a*a*a*a*a*a*a*a*b", repeated("a", 999, "b"), true);
    expect_bounded("*a*a*a*a*a*a*a*[b]", repeated("a", 1000, ""), false);
    expect_bounded("*[ab][ab][ab]c", repeated("ab", 4000, ""), false);
    expect_bounded("*[!b-z][!b-z][!b-z]c", repeated("a", 4000, ""), false);
    expect_bounded("**/a/**/a/**/a/**/a/**/b", repeated("a/", 1000, "a"), false);
    expect_bounded("**/a/**/a/**/a/**/a/**/b", repeated("a/", 1000, "b"), true);
    expect_bounded("**/a*a*b/**/a*a*b", repeated("aaaaaaaa/", 3600, "a"), false);
    expect_bounded("**/*a/*a/*a/b", repeated("aaaa/", 4000, "a"), false);
    char *pattern = repeated("a*", 1022, "b");
    expect_bounded(pattern, repeated("a", 4096, ""), false);
    free(pattern);
    pattern = repeated("**/a/", 1000, "b");
    expect_bounded(pattern, repeated("a/", 4094, "a"), false);
    free(pattern);
}

/* ---- every small case, against a matcher that is slow and plain ---------------------------------------- */

static bool plain(const char *pattern, const char *path);

/* The set at `pattern`, behind its bracket: one or two bytes of the alphabet below, no escapes. */
static bool plain_set(const char *pattern, const char *path) {
    bool negated = pattern[0] == '!';
    const char *end = strchr(pattern, ']');
    bool found = path[0] != '\0' && memchr(pattern + negated, path[0], (size_t)(end - pattern) - negated) != NULL;
    return path[0] != '\0' && path[0] != '/' && found != negated && plain(end + 1, path + 1);
}

static bool plain(const char *pattern, const char *path) {
    if (pattern[0] == '\0') return path[0] == '\0';
    if (strcmp(pattern, "**") == 0) return path[0] != '\0';
    if (strncmp(pattern, "**/", 3) == 0) {
        if (plain(pattern + 3, path)) return true;
        const char *slash = strchr(path, '/');
        return slash != NULL && plain(pattern, slash + 1);
    }
    if (pattern[0] == '*')
        return plain(pattern + 1, path) || (path[0] != '\0' && path[0] != '/' && plain(pattern, path + 1));
    if (pattern[0] == '[') return plain_set(pattern + 1, path);
    if (pattern[0] == '?') return path[0] != '\0' && path[0] != '/' && plain(pattern + 1, path + 1);
    return path[0] == pattern[0] && plain(pattern + 1, path + 1);
}

/* The next text over an alphabet, shorter ones first; false behind the last one of `max` bytes. */
static bool next_text(const char *alphabet, char *text, size_t max) {
    size_t len = strlen(text);
    size_t i = len;
    while (i > 0) {
        const char *next = strchr(alphabet, text[i - 1]) + 1;
        if (*next != '\0') {
            text[i - 1] = *next;
            return true;
        }
        text[--i] = alphabet[0];
    }
    if (len == max) return false;
    memset(text, alphabet[0], len + 1);
    text[len + 1] = '\0';
    return true;
}

static bool is_path(const char *path) {
    size_t len = strlen(path);
    return path[0] != '/' && path[len - 1] != '/' && strstr(path, "//") == NULL;
}

Test(glob, all_small_patterns_on_all_small_paths) {
    char pattern[8] = "";
    size_t compared = 0;
    while (next_text("a/*?[!]", pattern, 6)) {
        char path[8] = "";
        if (cs_glob_fault(cs_view_of(pattern)) != NULL) continue;
        while (next_text("ab/", path, 5)) {
            if (!is_path(path)) continue;
            bool wanted = plain(pattern, path);
            cr_assert_eq(matches(pattern, path), wanted, "%s on %s: %d is right", pattern, path, wanted);
            compared++;
        }
    }
    cr_expect(compared > 500000, "%zu", compared);
}

/* ---- what could be below a folder ---------------------------------------------------------------- */

Test(glob, a_folder_that_may_hold_a_match) {
    static const row folders[] = {
        {"a/b", "a", "b"},       {"a/b", "a", "a/b"},
        {"a/b", "a", "a/c"},     {"a/**", "a", "b"},
        {"a/**", "a/b/c", "ab"}, {"**", "a", ""},
        {"**/b", "a/a", ""},     {"a/**/b", "a/x/y", "x/a"},
        {"*/a", "x", "x/y"},     {"?/a", "x", "xy"},
        {"[!a]/a", "b", "a"},    {"a/*/c", "a/b", "b/b"},
        {"a\\*/c", "a*", "ab"},  {".gate/policy.json", ".gate", "gate"},
    };
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        cs_view pattern = cs_view_of(folders[i].pattern);
        cr_expect(cs_glob_may_match_below(pattern, cs_view_of(folders[i].matches)), "%s below %s", folders[i].pattern,
                  folders[i].matches);
        cr_expect_not(cs_glob_may_match_below(pattern, cs_view_of(folders[i].not )), "%s below %s", folders[i].pattern,
                      folders[i].not );
    }
    cr_expect_not(cs_glob_may_match_below(cs_view_of("a/b{"), cs_view_of("a")), "a pattern that is none");
}

/* Whether the pattern matches any path below the folder, of as many bytes as a rest of three could need. */
static bool plain_below(const char *pattern, const char *folder) {
    char rest[8] = "";
    char path[16];
    while (next_text("ab*?!]/", rest, 3)) {
        if (!is_path(rest)) continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, rest);
        if (plain(pattern, path)) return true;
    }
    return false;
}

Test(glob, all_small_patterns_below_all_small_folders) {
    char pattern[8] = "";
    size_t compared = 0;
    size_t below = 0;
    while (next_text("a/*?[!]", pattern, 5)) {
        char folder[8] = "";
        if (cs_glob_fault(cs_view_of(pattern)) != NULL) continue;
        while (next_text("ab/", folder, 3)) {
            if (!is_path(folder)) continue;
            bool wanted = plain_below(pattern, folder);
            cr_assert_eq(cs_glob_may_match_below(cs_view_of(pattern), cs_view_of(folder)), wanted,
                         "%s below %s: %d is right", pattern, folder, wanted);
            compared++;
            if (wanted) below++;
        }
    }
    cr_expect(compared > 10000 && below > 1000, "%zu, of which %zu", compared, below);
}
