#include "tests/cli/documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/member.h"

#define SCHEMAS "docs/schema"
#define VALIDATOR "tests/cli/validate.py"

/* Debian's package serves Debian's python3, which need not be the first one in PATH. */
static const char *find_python(void) {
    static const char *const names[] = {"/usr/bin/python3", "python3"};
    static const char *found_before;
    if (found_before != NULL) return found_before;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        exec_end end;
        exec_run(NULL, (const char *const[]){names[i], "-c", "from jsonschema import Draft202012Validator", NULL},
                 &end);
        bool found = end.status == 0;
        exec_free(&end);
        if (found) return found_before = names[i];
    }
    return NULL;
}

const char *documents_schemas(void) {
    cr_assert_eq(access(SCHEMAS, R_OK), 0, "%s is not there: start the tests in the root of the repository", SCHEMAS);
    return SCHEMAS;
}

void documents_need(void) {
    if (find_python() != NULL) return;
    cr_assert(getenv("CI") == NULL && getenv("COUNTERSIGN_REQUIRE_ALL") == NULL,
              "python3 with jsonschema (Debian: python3-jsonschema) is not installed");
    cr_skip_test("SKIPPED: python3 with jsonschema (Debian: python3-jsonschema) is not installed");
}

void documents_begin(documents *d) {
    memset(d, 0, sizeof *d);
    documents_need();
    folder_make(d->folder);
}

void documents_end(documents *d) {
    exec_free(&d->end);
    folder_remove(d->folder);
}

const char *documents_path(const documents *d, const char *name) {
    return forge_text("%s/%s.json", d->folder, name);
}

void documents_put(documents *d, const char *name, const void *bytes, size_t len) {
    const char *path = documents_path(d, name);
    cr_assert_neq(access(path, F_OK), 0, "%s is there already", name);
    file_write(path, bytes, len);
    d->count++;
}

void documents_take(documents *d, cli_case *c, const char *name, int exit, const char *code,
                    const char *const arguments[]) {
    EXPECT_EXIT(c, cli_json(c, arguments), exit);
    EXPECT_TEXT(c, "code", code);
    documents_put(d, name, c->end.out, c->end.out_len);
    d->exits[c->end.status] = true; /* cli_json saw to it that it is 0 to 6 */
}

static int validate(documents *d, const char *schemas, const char *name) {
    const char *python = find_python();
    cr_assert_not_null(python);
    exec_free(&d->end);
    exec_run(NULL, (const char *const[]){python, VALIDATOR, schemas, d->folder, name, NULL}, &d->end);
    return d->end.status;
}

int documents_validate(documents *d, const char *schemas) {
    return validate(d, schemas != NULL ? schemas : documents_schemas(), NULL);
}

int documents_validate_as(documents *d, const char *name) {
    return validate(d, documents_schemas(), name);
}

void documents_expect_valid(documents *d, const char *schemas) {
    int status = documents_validate(d, schemas);
    cr_expect_eq(status, 0, "%d\n%s%s", status, d->end.out, d->end.err);
    EXPECT_HAS(d->end.out, forge_text("%zu documents, 0 of them not valid", d->count));
}

/* ---- what is not valid -------------------------------------------------------------------------- */

static void add_twin(documents *d, const documents_twin *t) {
    json_error_t error;
    json_t *document = json_load_file(documents_path(d, t->of), JSON_ALLOW_NUL, &error);
    cr_assert_not_null(document, "%s: %s", t->of, error.text);
    json_t *parent = member_at(document, t->parent);
    cr_assert(json_is_object(parent), "%s", t->name);
    if (t->value == NULL)
        cr_assert_eq(json_object_del(parent, t->member), 0, "%s", t->name);
    else
        cr_assert_eq(json_object_set_new(parent, t->member, json_loads(t->value, JSON_DECODE_ANY, NULL)), 0);
    char *text = json_dumps(document, JSON_COMPACT);
    documents_put(d, t->name, text, strlen(text));
    free(text);
    json_decref(document);
}

void documents_expect_line(const documents *d, const char *begin) {
    EXPECT_HAS(forge_text("\n%s", d->end.out), forge_text("\n%s", begin));
}

void documents_expect_refused(documents *d, const documents_twin *twins, size_t count, size_t others) {
    for (size_t i = 0; i < count; i++)
        add_twin(d, &twins[i]);
    cr_expect_eq(documents_validate(d, NULL), 1);
    for (size_t i = 0; i < count; i++)
        documents_expect_line(d, forge_text("%s.json: %s", twins[i].name, twins[i].line));
    EXPECT_HAS(d->end.out, forge_text("%zu documents, %zu of them not valid", d->count, count + others));
}
