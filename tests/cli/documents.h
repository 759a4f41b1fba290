/* The JSON documents that commands printed, kept in a folder to be validated by docs/schema all at once. */
#ifndef CS_TESTS_CLI_DOCUMENTS_H
#define CS_TESTS_CLI_DOCUMENTS_H

#include "tests/cli/cli_case.h"

typedef struct documents {
    char folder[128];
    size_t count;
    bool exits[7]; /* which exit codes stand in them */
    exec_end end;  /* of the last validation: what validate.py says is in end.out */
} documents;

/* Where python3 has no jsonschema the test is skipped, loudly; in CI, or with COUNTERSIGN_REQUIRE_ALL set, it
 * fails. For a test that begins with something else that would be left behind. */
void documents_need(void);
void documents_begin(documents *d); /* needs the same */
void documents_end(documents *d);

/* Run `countersign` with --json, expect this exit and code, and keep the document as NAME.json. */
void documents_take(documents *d, cli_case *c, const char *name, int exit, const char *code,
                    const char *const arguments[]);
/* Keep these bytes as NAME.json. */
void documents_put(documents *d, const char *name, const void *bytes, size_t len);
/* The path of NAME.json; lives until the next call. */
const char *documents_path(const documents *d, const char *name);

/* Run validate.py with the schemas of a folder (NULL: docs/schema). Its exit status. */
int documents_validate(documents *d, const char *schemas);
/* The same with one schema of docs/schema for all of them. */
int documents_validate_as(documents *d, const char *name);
void documents_expect_valid(documents *d, const char *schemas);

/* One change of a good document, and the place and rule that must then be named. */
typedef struct documents_twin {
    const char *of;
    const char *name;
    const char *parent; /* path of an object or array, as in cli_member */
    const char *member; /* of that object; what is changed, or added, there */
    const char *value;  /* JSON; NULL: it is taken out */
    const char *line;
} documents_twin;

/* Keep the changed documents beside the good ones, and expect each of them, and nothing else, to be refused as its twin
 * says; `others` more that are no twins have no line here. */
void documents_expect_refused(documents *d, const documents_twin *twins, size_t count, size_t others);
/* What a line of the last validation begins with. */
void documents_expect_line(const documents *d, const char *begin);

/* The folder docs/schema. */
const char *documents_schemas(void);

#endif
