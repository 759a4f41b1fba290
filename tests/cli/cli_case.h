/* The real programs, run from tests: exit status, texts, and the JSON document. */
#ifndef CS_TESTS_CLI_CLI_CASE_H
#define CS_TESTS_CLI_CLI_CASE_H

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

#include "tests/support/exec.h"
#include "tests/support/folder.h"
#include "tests/support/forge.h"
#include "tests/support/peer.h"

/* A folder of one test, a key pair in it (k.key, k.pub), and what the last program did. */
typedef struct cli_case {
    char folder[128];
    exec_how how;
    exec_end end;
    json_t *document; /* of the last cli_json */
} cli_case;

void cli_begin(cli_case *c); /* the programs run in the folder; without token and key in the environment */
void cli_keys(cli_case *c);  /* k.key and k.pub, with `countersign keygen` */
void cli_end(cli_case *c);

/* Run `countersign` with these arguments, NULL at the end. Returns the exit status. */
int cli_run(cli_case *c, const char *const arguments[]);
/* The same of one that is sent a signal once the daemon has so many requests whole. */
int cli_interrupt(cli_case *c, int signal, peer *daemon, size_t requests, const char *const arguments[]);
/* cli_run with another program of the build folder. */
int cli_run_program(cli_case *c, const char *program, const char *const arguments[]);
#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The same with --json: standard output must be one document and nothing else, with command, verdict,
 * exit and code; `exit` must be the exit status, and the code's own name must be known. */
int cli_json(cli_case *c, const char *const arguments[]);
/* Text, number or boolean members of that document; a path like "inputs.0.verdict". */
const char *cli_text(const cli_case *c, const char *path);
json_int_t cli_number(const cli_case *c, const char *path);
const json_t *cli_member(const cli_case *c, const char *path); /* NULL when it is not there */

#define EXPECT_EXIT(c, call, want)                                                                                     \
    do {                                                                                                               \
        int expect_status = (call);                                                                                    \
        cr_expect_eq(expect_status, (want), "exit %d, not %d\n%s%s", expect_status, (want), (c)->end.out,              \
                     (c)->end.err);                                                                                    \
    } while (0)
#define EXPECT_TEXT(c, path, want)                                                                                     \
    cr_expect_str_eq(cli_text((c), (path)), (want), "%s: %s in %s", (path), cli_text((c), (path)), (c)->end.out)
#define EXPECT_HAS(text, part) cr_expect_not_null(strstr((text), (part)), "no '%s' in: %s", (part), (text))
#define EXPECT_HAS_NOT(text, part) cr_expect_null(strstr((text), (part)), "'%s' in: %s", (part), (text))

/* Put a file into the folder. */
void cli_write(cli_case *c, const char *name, const void *bytes, size_t len);
void cli_write_text(cli_case *c, const char *name, const char *text);
/* A bundle of the tests' own making, and the public key of `key` as PEM. */
void cli_write_bundle(cli_case *c, const char *name, const forge_bundle *bundle);
void cli_write_public_key(cli_case *c, const char *name, const forge_key *key);

#endif
