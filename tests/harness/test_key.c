/* Making, reading and using a private key. */
#include <criterion/criterion.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/key.h"
#include "tests/support/folder.h"
#include "tests/support/program.h"

/* The example key of RFC 8410, section 10. */
#define DIGITS "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC"
#define BEGIN "-----BEGIN PRIVATE KEY-----\n"
#define END "-----END PRIVATE KEY-----\n"
#define PEM BEGIN DIGITS "\n" END
#define PUBLIC "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1"
#define KEY_ID "a1e9156054e04fac899ae9f275132cdc07a5dbc4ea2c2ad3a1ffc6e0d253681f"

typedef struct place {
    char folder[128];
    char prefix[160];
    char key[170];
    char pub[170];
} place;

static void place_make(place *p) {
    folder_make(p->folder);
    (void)snprintf(p->prefix, sizeof p->prefix, "%s/ci", p->folder);
    (void)snprintf(p->key, sizeof p->key, "%s.key", p->prefix);
    (void)snprintf(p->pub, sizeof p->pub, "%s.pub", p->prefix);
}

static unsigned mode_of(const char *path) {
    struct stat info;
    cr_assert_eq(lstat(path, &info), 0, "%s", path);
    return info.st_mode & 07777;
}

static bool exists(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

/* No eight digits of the key in a row may stand in an error. */
static void expect_silent(const cs_error *err, const char *digits) {
    const char *const fields[] = {err->message, err->where, err->expected, err->found};
    for (size_t i = 0; i + 8 <= strlen(digits); i++) {
        char part[9] = {0};
        memcpy(part, digits + i, 8);
        for (size_t f = 0; f < 4; f++)
            cr_expect_null(strstr(fields[f], part), "%s", fields[f]);
    }
}

static void put_key(const char *path, const void *bytes, size_t len, mode_t mode) {
    file_write(path, bytes, len);
    cr_assert_eq(chmod(path, mode), 0);
}

/* ---- making --------------------------------------------------------------------------------------- */

Test(key, generated_files_are_what_openssl_reads) {
    place p;
    place_make(&p);
    cs_public_key made;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_key_generate(p.prefix, &made, &err), CS_OK, "%s", err.message);
    cr_expect_eq(folder_count(p.folder), 2);

    char of_key[512];
    char of_pub[512];
    const char *const text[] = {"openssl", "pkey", "-in", p.key, "-noout", "-text", NULL};
    cr_expect_eq(program_run(text, of_key, sizeof of_key), 0);
    cr_expect_not_null(strstr(of_key, "ED25519 Private-Key"));
    const char *const derive[] = {"openssl", "pkey", "-in", p.key, "-pubout", NULL};
    cr_expect_eq(program_run(derive, of_key, sizeof of_key), 0);
    const char *const read[] = {"openssl", "pkey", "-pubin", "-in", p.pub, NULL};
    cr_expect_eq(program_run(read, of_pub, sizeof of_pub), 0);
    cr_expect_str_eq(of_key, of_pub);

    cs_public_key written;
    cr_assert_eq(cs_public_key_load(p.pub, &written, &err), CS_OK, "%s", err.message);
    cr_expect_arr_eq(written.bytes, made.bytes, 32);
    cr_expect_str_eq(written.id, made.id);
    cs_key *key = NULL;
    cr_assert_eq(cs_key_load(p.key, &key, &err), CS_OK, "%s", err.message);
    cr_expect_arr_eq(cs_key_public(key)->bytes, made.bytes, 32);
    cr_expect_str_eq(cs_key_public(key)->id, made.id);
    cs_key_free(key);
    folder_remove(p.folder);
}

Test(key, two_keys_differ) {
    place p;
    place_make(&p);
    char other[180];
    (void)snprintf(other, sizeof other, "%s-2", p.prefix);
    cs_public_key first;
    cs_public_key second;
    cr_assert_eq(cs_key_generate(p.prefix, &first, NULL), CS_OK);
    cr_assert_eq(cs_key_generate(other, &second, NULL), CS_OK);
    cr_expect_arr_neq(first.bytes, second.bytes, 32);
    folder_remove(p.folder);
}

Test(key, modes_do_not_depend_on_the_umask) {
    static const mode_t masks[] = {0, 0022, 0277};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        place p;
        place_make(&p);
        cs_public_key made;
        mode_t before = umask(masks[i]);
        cr_expect_eq(cs_key_generate(p.prefix, &made, NULL), CS_OK);
        umask(before);
        cr_expect_eq(mode_of(p.key), 0600);
        cr_expect_eq(mode_of(p.pub), 0644);
        folder_remove(p.folder);
    }
}

Test(key, neither_file_may_exist) {
    for (int which = 0; which < 2; which++) {
        place p;
        place_make(&p);
        const char *taken = which == 0 ? p.key : p.pub;
        file_write(taken, "mine", 4);
        cs_public_key made;
        cs_error err = CS_ERROR_INIT;
        cr_expect_eq(cs_key_generate(p.prefix, &made, &err), cs_code_class(CS_CODE_KEY_EXISTS));
        cr_expect_eq(err.code, CS_CODE_KEY_EXISTS);
        size_t len = 0;
        char *kept = file_read(taken, &len);
        cr_expect_str_eq(kept, "mine");
        cr_expect_eq(folder_count(p.folder), 1);
        free(kept);
        folder_remove(p.folder);
    }
}

Test(key, a_symbolic_link_is_not_written_through) {
    place p;
    place_make(&p);
    char target[160];
    (void)snprintf(target, sizeof target, "%s/target", p.folder);
    cr_assert_eq(symlink(target, p.key), 0);
    cs_public_key made;
    cs_error err = CS_ERROR_INIT;
    cr_expect_neq(cs_key_generate(p.prefix, &made, &err), CS_OK);
    cr_expect_eq(err.code, CS_CODE_KEY_EXISTS);
    cr_expect(!exists(target) && !exists(p.pub));
    folder_remove(p.folder);
}

Test(key, places_that_take_no_key) {
    static const char *const prefixes[] = {"/nonexistent/folder/ci", "/dev/null/ci", "/tmp/", ""};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        cs_public_key made;
        cs_error err = CS_ERROR_INIT;
        cr_expect_eq(cs_key_generate(prefixes[i], &made, &err), CS_UNCHECKED, "%s", prefixes[i]);
        cr_expect_eq(err.code, CS_CODE_IO, "%s", prefixes[i]);
    }
}

/* ---- reading -------------------------------------------------------------------------------------- */

Test(key, the_published_example) {
    place p;
    place_make(&p);
    put_key(p.key, PEM, strlen(PEM), 0600);
    cs_key *key = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_key_load(p.key, &key, &err), CS_OK, "%s", err.message);
    char hex[65];
    sodium_bin2hex(hex, sizeof hex, cs_key_public(key)->bytes, 32);
    cr_expect_str_eq(hex, PUBLIC);
    cr_expect_str_eq(cs_key_public(key)->id, KEY_ID);
    cs_key_free(key);
    folder_remove(p.folder);
}

/* RFC 8032, section 7.1, tests 1 and 3. */
Test(key, published_signatures) {
    static const struct {
        const char *digits;
        const char *message;
        const char *signature;
    } cases[] = {
        {"MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g", "",
         "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bb"
         "e24655141438e7a100b"},
        {"MC4CAQAwBQYDK2VwBCIEIMWqjfQ/n4N77bdELzHct7Fm04U1B28JS4XOOi4LRFj3", "\xaf\x82",
         "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed"
         "28dc027beceea1ec40a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        place p;
        place_make(&p);
        char pem[256];
        (void)snprintf(pem, sizeof pem, BEGIN "%s\n" END, cases[i].digits);
        put_key(p.key, pem, strlen(pem), 0600);
        cs_key *key = NULL;
        cr_assert_eq(cs_key_load(p.key, &key, NULL), CS_OK);
        uint8_t signature[64];
        cr_expect_eq(cs_key_sign(key, cs_view_of(cases[i].message), signature, NULL), CS_OK);
        char hex[129];
        sodium_bin2hex(hex, sizeof hex, signature, 64);
        cr_expect_str_eq(hex, cases[i].signature);
        cs_key_free(key);
        folder_remove(p.folder);
    }
}

Test(key, permissions) {
    static const struct {
        mode_t mode;
        cs_code code;
    } cases[] = {
        {0600, CS_CODE_OK},
        {0400, CS_CODE_OK},
        {0700, CS_CODE_OK},
        {0640, CS_CODE_KEY_PERMISSIONS},
        {0620, CS_CODE_KEY_PERMISSIONS},
        {0604, CS_CODE_KEY_PERMISSIONS},
        {0601, CS_CODE_KEY_PERMISSIONS},
        {0666, CS_CODE_KEY_PERMISSIONS},
    };
    place p;
    place_make(&p);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_key(p.key, PEM, strlen(PEM), cases[i].mode);
        cs_key *key = NULL;
        cs_error err = CS_ERROR_INIT;
        cr_expect_eq(cs_key_load(p.key, &key, &err), cs_code_class(cases[i].code), "%04o", cases[i].mode);
        if (cases[i].code == CS_CODE_OK) {
            cr_expect_not_null(key);
        } else {
            cr_expect_null(key);
            cr_expect_eq(err.code, cases[i].code);
            cr_expect_not_null(strstr(err.message, "chmod 600 "), "%s", err.message);
            cr_expect_str_eq(err.where, p.key);
            expect_silent(&err, DIGITS);
        }
        cs_key_free(key);
        cr_assert_eq(unlink(p.key), 0);
    }
    folder_remove(p.folder);
}

Test(key, somebody_elses_file) {
    if (geteuid() != 0) cr_skip_test("only root can give a file away");
    place p;
    place_make(&p);
    put_key(p.key, PEM, strlen(PEM), 0600);
    cs_key *key = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_key_load(p.key, &key, &err), CS_OK);
    cs_key_free(key);
    cr_assert_eq(chown(p.key, 12345, 0), 0);
    cr_expect_neq(cs_key_load(p.key, &key, &err), CS_OK);
    cr_expect_eq(err.code, CS_CODE_KEY_PERMISSIONS);
    cr_expect_null(key);
    folder_remove(p.folder);
}

static void expect_unreadable(const char *path) {
    cs_key *key = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_key_load(path, &key, &err), CS_UNCHECKED, "%s", path);
    cr_expect_eq(err.code, CS_CODE_KEY_UNREADABLE, "%s", path);
    cr_expect_str_eq(err.where, path);
    cr_expect_null(key);
}

Test(key, what_is_no_file_of_ours) {
    place p;
    place_make(&p);
    put_key(p.key, PEM, strlen(PEM), 0600);
    expect_unreadable("/nonexistent/ci.key");
    expect_unreadable(p.folder);
    expect_unreadable("/dev/null");
    char path[160];
    (void)snprintf(path, sizeof path, "%s/link", p.folder);
    cr_assert_eq(symlink(p.key, path), 0);
    expect_unreadable(path);
    (void)snprintf(path, sizeof path, "%s/fifo", p.folder);
    cr_assert_eq(mkfifo(path, 0600), 0);
    expect_unreadable(path);
    folder_remove(p.folder);
}

/* Load the text as a key; the code, CS_CODE_OK when it is one. */
static cs_code code_of(const place *p, const void *text, size_t len, const char *secret) {
    put_key(p->key, text, len, 0600);
    cs_key *key = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_key_load(p->key, &key, &err);
    cr_expect_eq(result == CS_OK, key != NULL);
    cs_key_free(key);
    expect_silent(&err, secret);
    return result == CS_OK ? CS_CODE_OK : err.code;
}

Test(key, one_block_and_white_space) {
    static const struct {
        const char *what;
        const char *text;
        cs_code code;
    } cases[] = {
        {"as written", PEM, CS_CODE_OK},
        {"no final newline", BEGIN DIGITS "\n-----END PRIVATE KEY-----", CS_CODE_OK},
        {"white space around", " \n\t\r\n" PEM "\n \n", CS_CODE_OK},
        {"carriage returns", "-----BEGIN PRIVATE KEY-----\r\n" DIGITS "\r\n-----END PRIVATE KEY-----\r\n", CS_CODE_OK},
        {"newlines lost, as some secret stores do", "-----BEGIN PRIVATE KEY----- " DIGITS " -----END PRIVATE KEY-----",
         CS_CODE_OK},
        {"empty", "", CS_CODE_KEY_MALFORMED},
        {"only white space", "\n", CS_CODE_KEY_MALFORMED},
        {"no frame", DIGITS "\n", CS_CODE_KEY_MALFORMED},
        {"empty block", BEGIN END, CS_CODE_KEY_MALFORMED},
        {"twice", PEM PEM, CS_CODE_KEY_MALFORMED},
        {"text before", "key:\n" PEM, CS_CODE_KEY_MALFORMED},
        {"text behind", PEM "x", CS_CODE_KEY_MALFORMED},
        {"another label", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n" DIGITS "\n-----END ENCRYPTED PRIVATE KEY-----\n",
         CS_CODE_KEY_MALFORMED},
        {"header inside", BEGIN "Proc-Type: 4,ENCRYPTED\n\n" DIGITS "\n" END, CS_CODE_KEY_MALFORMED},
        {"a digit less", BEGIN "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVh\n" END,
         CS_CODE_KEY_MALFORMED},
        {"more base64", BEGIN DIGITS "AAAA\n" END, CS_CODE_KEY_MALFORMED},
        {"X25519", BEGIN "MC4CAQAwBQYDK2VuBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n" END,
         CS_CODE_KEY_MALFORMED},
        {"a seed of 31 bytes", BEGIN "MC0CAQAwBQYDK2VwBCEEH9Tuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVg=\n" END,
         CS_CODE_KEY_MALFORMED},
        {"algorithm with a parameter",
         BEGIN "MDACAQAwBwYDK2VwBQAEIgQg1O5y2/kTWErVttjx92n4rTr+fCjL8dT74Jeoj0R1WEI=\n" END, CS_CODE_KEY_MALFORMED},
        {"a public key",
         "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
         "-----END PUBLIC KEY-----\n",
         CS_CODE_KEY_MALFORMED},
    };
    place p;
    place_make(&p);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(code_of(&p, cases[i].text, strlen(cases[i].text), DIGITS), cases[i].code, "%s", cases[i].what);
    cr_expect_eq(code_of(&p, PEM "\0", sizeof PEM, DIGITS), CS_CODE_KEY_MALFORMED, "a NUL behind");
    folder_remove(p.folder);
}

/* The last byte but the newline is the end of the frame: without it there is no key. */
Test(key, every_truncation) {
    place p;
    place_make(&p);
    for (size_t len = 0; len < strlen(PEM) - 1; len++)
        cr_expect_eq(code_of(&p, PEM, len, DIGITS), CS_CODE_KEY_MALFORMED, "%zu bytes", len);
    folder_remove(p.folder);
}

Test(key, too_long_a_file) {
    place p;
    place_make(&p);
    char text[4097];
    memset(text, '\n', sizeof text);
    memcpy(text, PEM, strlen(PEM));
    cr_expect_eq(code_of(&p, text, 4096, DIGITS), CS_CODE_OK);
    cr_expect_eq(code_of(&p, text, 4097, DIGITS), CS_CODE_KEY_MALFORMED);
    folder_remove(p.folder);
}

Test(key, keys_of_other_kinds) {
    static const char *const kinds[] = {"RSA", "ED448", "X25519"};
    place p;
    place_make(&p);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *const make[] = {"openssl", "genpkey", "-algorithm", kinds[i], "-out", p.key, NULL};
        cr_assert_eq(program_run(make, NULL, 0), 0);
        size_t len = 0;
        char *pem = file_read(p.key, &len);
        cr_assert_not_null(pem);
        char digits[33] = {0};
        memcpy(digits, pem + strlen(BEGIN) + 24, 32);
        cr_expect_eq(code_of(&p, pem, len, digits), CS_CODE_KEY_MALFORMED, "%s", kinds[i]);
        free(pem);
        unlink(p.key);
    }
    folder_remove(p.folder);
}

/* ---- the environment ------------------------------------------------------------------------------ */

Test(key, from_the_environment) {
    static char entry[] = "COUNTERSIGN_KEY=" PEM;
    cr_assert_eq(putenv(entry), 0);
    cs_key *key = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_key_from_environment(&key, &err), CS_OK, "%s", err.message);
    cr_expect_str_eq(cs_key_public(key)->id, KEY_ID);
    cs_key_free(key);
    cr_expect_null(getenv("COUNTERSIGN_KEY"));
    for (size_t i = strlen("COUNTERSIGN_KEY="); i < sizeof entry; i++)
        cr_expect_eq(entry[i], 0);

    cr_expect_eq(cs_key_from_environment(&key, &err), CS_UNCHECKED);
    cr_expect_eq(err.code, CS_CODE_KEY_UNREADABLE);
    cr_expect_null(key);
}

Test(key, a_bad_value_leaves_the_environment_too) {
    static char entry[] = "COUNTERSIGN_KEY=" PEM "x";
    cr_assert_eq(putenv(entry), 0);
    cs_key *key = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_expect_neq(cs_key_from_environment(&key, &err), CS_OK);
    cr_expect_eq(err.code, CS_CODE_KEY_MALFORMED);
    cr_expect_null(key);
    expect_silent(&err, DIGITS);
    cr_expect_null(getenv("COUNTERSIGN_KEY"));
    for (size_t i = strlen("COUNTERSIGN_KEY="); i < sizeof entry; i++)
        cr_expect_eq(entry[i], 0);
}

Test(key, values_that_are_none) {
    static char longest[4096 + 2];
    memset(longest, '\n', 4096);
    memcpy(longest, PEM, strlen(PEM));
    static const struct {
        const char *value;
        cs_code code;
    } cases[] = {{"", CS_CODE_KEY_UNREADABLE}, {"/path/to/a.key", CS_CODE_KEY_MALFORMED}};
    cs_key *key = NULL;
    cs_error err = CS_ERROR_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_eq(setenv("COUNTERSIGN_KEY", cases[i].value, 1), 0);
        cr_expect_neq(cs_key_from_environment(&key, &err), CS_OK);
        cr_expect_eq(err.code, cases[i].code);
    }
    cr_assert_eq(setenv("COUNTERSIGN_KEY", longest, 1), 0);
    cr_expect_eq(cs_key_from_environment(&key, &err), CS_OK);
    cs_key_free(key);
    longest[4096] = '\n';
    cr_assert_eq(setenv("COUNTERSIGN_KEY", longest, 1), 0);
    cr_expect_neq(cs_key_from_environment(&key, &err), CS_OK);
    cr_expect_eq(err.code, CS_CODE_KEY_MALFORMED);
    cr_expect_null(getenv("COUNTERSIGN_KEY"));
}

Test(key, a_hardened_process) {
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        struct rlimit core;
        bool before = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;
        cs_key_harden_process();
        bool after = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 && getrlimit(RLIMIT_CORE, &core) == 0 &&
                     core.rlim_cur == 0 && core.rlim_max == 0;
        _exit(before && after ? 0 : 1);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
}
