#include "gate/junit.h"

#include <expat.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/junit_words.h"
#include "records/sha256.h"
#include "records/text.h"

/* What an element is to the counting. */
typedef enum element { DOCUMENT, SUITES, SUITE, CASE, MARK, OTHER, MISSPELT } element;

/* What suites say of themselves, each with what it is compared with. */
typedef enum summary { TESTS, FAILURES, ERRORS, SKIPPED, DISABLED, SUMMARIES } summary;
static const char *const summary_names[SUMMARIES] = {"tests", "failures", "errors", "skipped", "disabled"};

#define NOT_STATED (-1)
#define NO_NUMBER (-2)
#define KEY_BYTES 16u /* of a digest; enough for all cases of a file */

/* Cases, by summary. None is counted as DISABLED: what did not run is SKIPPED. */
typedef struct count {
    uint64_t of[SUMMARIES];
} count;

typedef struct frame {
    element is;
    uint8_t key[CS_SHA256_BYTES]; /* of the names of this suite and those around it */
    /* of a suite */
    char name[64]; /* escaped */
    int64_t stated[SUMMARIES];
    count below;    /* cases in it and in its suites */
    count children; /* cases and suites directly in it, a suite as one */
    bool shows;     /* a case in it failed, or was tried again */
    /* of a case */
    char shown[160]; /* its name, escaped; only kept while no case has failed */
    bool has[SUMMARIES];
    bool again; /* it failed at first */
} frame;

typedef struct reading {
    XML_Parser parser;
    cs_junit *out;
    cs_error *err;
    cs_result result; /* of the first refusal; CS_OK while there is none */
    cs_sha256 *hash;
    uint8_t (*keys)[KEY_BYTES]; /* of all cases */
    size_t room;
    size_t depth;
    frame stack[CS_JUNIT_MAX_DEPTH + 1]; /* the document, then the elements that are open */
} reading;

/* ---- refusals -------------------------------------------------------------------------------------- */

static unsigned long line_of(const reading *r) {
    return (unsigned long)XML_GetCurrentLineNumber(r->parser);
}

static void refuse(reading *r, const char *what, const char *name) {
    if (r->result != CS_OK) return;
    r->result = cs_fail(r->err, CS_CODE_JUNIT_MALFORMED, "%s%s%s", what, name[0] != '\0' ? ": " : "", name);
    cs_error_where(r->err, "line %lu", line_of(r));
    XML_StopParser(r->parser, XML_FALSE);
}

static void refuse_memory(reading *r) {
    if (r->result != CS_OK) return;
    r->result = cs_fail(r->err, CS_CODE_NO_MEMORY, "no memory for the cases of a JUnit file");
    XML_StopParser(r->parser, XML_FALSE);
}

/* ---- names ----------------------------------------------------------------------------------------- */

static const char *attribute(const XML_Char **attributes, const char *name) {
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    return NULL;
}

/* A whole number of up to 18 digits, and nothing else. */
static int64_t number_of(const char *text) {
    int64_t value = 0;
    size_t len = strspn(text, "0123456789");
    if (len == 0 || len > 18 || text[len] != '\0') return NO_NUMBER;
    for (size_t i = 0; i < len; i++)
        value = value * 10 + (text[i] - '0');
    return value;
}

/* What the attributes of that name say in whatever case they are written; two that disagree are no number. */
static int64_t stated_number(const XML_Char **attributes, const char *name) {
    int64_t stated = NOT_STATED;
    for (; attributes[0] != NULL; attributes += 2) {
        if (!cs_junit_same(attributes[0], name)) continue;
        int64_t number = number_of(attributes[1]);
        stated = stated == NOT_STATED || stated == number ? number : NO_NUMBER;
    }
    return stated;
}

/* The key of what is named so inside of what has the key `outer`. A NUL, which XML can't hold, ends the first text. */
static bool make_key(reading *r, const uint8_t *outer, const char *class, const char *name, uint8_t *key) {
    cs_sha256_update(r->hash, outer, CS_SHA256_BYTES);
    if (class != NULL) cs_sha256_update(r->hash, class, strlen(class));
    cs_sha256_update(r->hash, "", 1);
    if (name != NULL) cs_sha256_update(r->hash, name, strlen(name));
    return cs_sha256_final(r->hash, key);
}

/* ---- elements -------------------------------------------------------------------------------------- */

static bool is_suite(const frame *f) {
    return f->is == SUITES || f->is == SUITE;
}

static void begin_suite(reading *r, frame *f, const frame *parent, const XML_Char **attributes) {
    const char *name = attribute(attributes, "name");
    cs_escape_short(cs_view_of(name != NULL ? name : "(no name)"), f->name, sizeof f->name);
    if (!make_key(r, parent->key, NULL, name, f->key)) refuse_memory(r);
    for (summary i = 0; i < SUMMARIES; i++)
        f->stated[i] = stated_number(attributes, summary_names[i]);
}

static bool keep_key(reading *r, const uint8_t *key) {
    if (r->out->cases == r->room) {
        size_t room = r->room == 0 ? 256 : r->room * 2;
        uint8_t(*keys)[KEY_BYTES] = reallocarray(r->keys, room, sizeof *keys);
        if (keys == NULL) return false;
        r->keys = keys;
        r->room = room;
    }
    memcpy(r->keys[r->out->cases], key, KEY_BYTES);
    return true;
}

/* What a word of its own makes of a case. `reason` says which, and is empty for an element that everybody knows. */
static void mark_case(reading *r, frame *f, cs_junit_word says, const char *reason) {
    if (says == CS_JUNIT_SAYS_AGAIN) f->again = true;
    if (says == CS_JUNIT_SAYS_NOT_RUN) f->has[SKIPPED] = true;
    if (says == CS_JUNIT_SAYS_ERROR) f->has[ERRORS] = true;
    if (says == CS_JUNIT_SAYS_FAILED || says == CS_JUNIT_SAYS_UNKNOWN) f->has[FAILURES] = true;
    if ((!f->has[FAILURES] && !f->has[ERRORS]) || r->out->first_failed[0] != '\0') return;
    memcpy(r->out->first_failed, f->shown, sizeof f->shown);
    (void)snprintf(r->out->first_reason, sizeof r->out->first_reason, "%s", reason);
}

static void mark_by_attribute(reading *r, frame *f, const char *name, const char *value) {
    char shown[64];
    char reason[128];
    cs_junit_word says = cs_junit_attribute(name, value);
    cs_escape_short(cs_view_of(value), shown, sizeof shown);
    (void)snprintf(reason, sizeof reason, "%.16s=\"%s\"%s", name, shown,
                   says == CS_JUNIT_SAYS_UNKNOWN ? ", which is no known word" : "");
    if (says != CS_JUNIT_SAYS_NOTHING) mark_case(r, f, says, reason);
}

static void begin_mark(reading *r, frame *parent, const XML_Char *name) {
    char shown[64];
    char reason[128] = "";
    cs_junit_word says = cs_junit_element(name);
    cs_escape_short(cs_view_of(name), shown, sizeof shown);
    if (says == CS_JUNIT_SAYS_UNKNOWN)
        (void)snprintf(reason, sizeof reason, "it holds an element %s, which is not known", shown);
    mark_case(r, parent, says, reason);
}

static void begin_case(reading *r, frame *f, const frame *parent, const XML_Char **attributes) {
    const char *name = attribute(attributes, "name");
    if (name == NULL) {
        refuse(r, "a testcase has no name", "");
        return;
    }
    if (r->out->cases == CS_JUNIT_MAX_CASES) {
        refuse(r, "it has more than 200000 testcases", "");
        return;
    }
    if (!make_key(r, parent->key, attribute(attributes, "classname"), name, f->key) || !keep_key(r, f->key)) {
        refuse_memory(r);
        return;
    }
    r->out->cases++;
    f->has[TESTS] = true;
    if (r->out->first_failed[0] == '\0')
        cs_escape_short(cs_view_of(name[0] != '\0' ? name : "(no name)"), f->shown, sizeof f->shown);
    for (; attributes[0] != NULL; attributes += 2)
        mark_by_attribute(r, f, attributes[0], attributes[1]);
}

/* The elements that stand around cases are known by their exact names alone: what looks like one must not be passed
 * over with the cases in it. */
static element element_of(const XML_Char *name, const frame *parent) {
    static const struct {
        const char *name;
        element is;
    } known[] = {{"testsuites", SUITES}, {"testsuite", SUITE}, {"testcase", CASE}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (cs_junit_same(known[i].name, name)) return strcmp(known[i].name, name) == 0 ? known[i].is : MISSPELT;
    if (parent->is == CASE) return MARK;
    cs_junit_word says = cs_junit_element(name);
    return says == CS_JUNIT_SAYS_FAILED || says == CS_JUNIT_SAYS_ERROR || says == CS_JUNIT_SAYS_NOT_RUN ? MARK : OTHER;
}

static bool has_place(element is, const frame *parent) {
    if (parent->is == DOCUMENT) return is == SUITES || is == SUITE;
    if (is == SUITE || is == CASE) return is_suite(parent);
    if (is == MARK) return parent->is == CASE;
    return is != SUITES && is != MISSPELT;
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes) {
    reading *r = user;
    frame *parent = &r->stack[r->depth];
    element is = element_of(name, parent);
    if (r->result != CS_OK) return;
    if (strchr(name, ':') != NULL) {
        refuse(r, "an element has a prefix", name);
    } else if (!has_place(is, parent)) {
        refuse(r,
               parent->is == DOCUMENT ? "the root is neither testsuites nor testsuite" : "an element has no place here",
               name);
    } else if (r->depth == CS_JUNIT_MAX_DEPTH) {
        refuse(r, "more than 64 elements are in one another", "");
    } else {
        frame *f = &r->stack[++r->depth];
        *f = (frame){.is = is};
        if (is_suite(f)) begin_suite(r, f, parent, attributes);
        if (is == CASE) begin_case(r, f, parent, attributes);
        if (is == MARK) begin_mark(r, parent, name);
    }
}

/* ---- what suites say ------------------------------------------------------------------------------- */

static void lie(reading *r, const frame *f, const char *what, int64_t stated, uint64_t counted) {
    char number[24];
    if (r->out->lies) return;
    (void)snprintf(number, sizeof number, "%" PRId64, stated);
    (void)snprintf(r->out->lie, sizeof r->out->lie, "line %lu: suite \"%s\" says %s=%s, but %" PRIu64 " were counted",
                   line_of(r), f->name, what, stated < 0 ? "(no number)" : number, counted);
    r->out->lies = true;
}

/* Runners differ in what they sum up: all cases below a suite, or what is directly in it with a suite as one. Both are
 * true; anything else is not. Neither is 0 when a case below is. */
static bool is_true(const frame *f, summary of, int64_t stated) {
    return stated >= 0 && ((uint64_t)stated == f->below.of[of] || (uint64_t)stated == f->children.of[of]);
}

static void check_stated(reading *r, const frame *f) {
    for (summary of = TESTS; of < SKIPPED; of++)
        if (f->stated[of] != NOT_STATED && !is_true(f, of, f->stated[of]))
            lie(r, f, summary_names[of], f->stated[of], f->below.of[of]);
    /* Cases that did not run may be summed up in two attributes. */
    int64_t skipped = f->stated[SKIPPED];
    int64_t disabled = f->stated[DISABLED];
    if (skipped == NOT_STATED && disabled == NOT_STATED) return;
    int64_t sum = skipped == NO_NUMBER || disabled == NO_NUMBER
                      ? NO_NUMBER
                      : (skipped > 0 ? skipped : 0) + (disabled > 0 ? disabled : 0);
    if (!is_true(f, SKIPPED, sum))
        lie(r, f, disabled == NOT_STATED ? "skipped" : "skipped+disabled", sum, f->below.of[SKIPPED]);
}

/* Runners write what went wrong around the cases (before the first, behind the last) in these alone. What is no number
 * is not the 0 that it should be. */
static void check_hidden(reading *r, const frame *f) {
    for (summary of = FAILURES; of <= ERRORS && !f->shows && !r->out->hides; of++) {
        char number[24];
        int64_t stated = f->stated[of];
        if (stated == 0 || stated == NOT_STATED) continue;
        (void)snprintf(number, sizeof number, "%" PRId64, stated);
        (void)snprintf(r->out->hidden, sizeof r->out->hidden,
                       "line %lu: suite \"%s\" says %s=%s, and no case in it failed", line_of(r), f->name,
                       summary_names[of], stated < 0 ? "(no number)" : number);
        r->out->hides = true;
    }
}

static void end_suite(reading *r, const frame *f, frame *parent) {
    check_stated(r, f);
    check_hidden(r, f);
    parent->shows = parent->shows || f->shows;
    for (summary of = 0; of < SUMMARIES; of++) {
        parent->below.of[of] += f->below.of[of];
        if (of == TESTS || f->below.of[of] > 0) parent->children.of[of]++;
    }
}

static void end_case(reading *r, const frame *f, frame *parent) {
    if (f->has[SKIPPED]) r->out->skipped++;
    if (f->has[FAILURES] || f->has[ERRORS]) r->out->failed++;
    parent->shows = parent->shows || f->has[FAILURES] || f->has[ERRORS] || f->again;
    for (summary of = 0; of < SUMMARIES; of++) {
        parent->below.of[of] += f->has[of];
        parent->children.of[of] += f->has[of];
    }
}

static void XMLCALL on_end(void *user, const XML_Char *name) {
    reading *r = user;
    (void)name; /* the parser holds it against the start */
    if (r->result != CS_OK) return;
    const frame *f = &r->stack[r->depth--];
    frame *parent = &r->stack[r->depth];
    if (is_suite(f)) end_suite(r, f, parent);
    if (f->is == CASE) end_case(r, f, parent);
}

/* ---- document -------------------------------------------------------------------------------------- */

/* Called before anything of a document type is read, so that no entity is ever declared. */
static void XMLCALL on_doctype(void *user, const XML_Char *name, const XML_Char *system, const XML_Char *public,
                               int internal) {
    (void)system;
    (void)public;
    (void)internal;
    refuse(user, "it has a document type, which a test runner does not write", name);
}

static int by_bytes(const void *a, const void *b) {
    return memcmp(a, b, KEY_BYTES);
}

static void finish(reading *r) {
    cs_junit *out = r->out;
    if (out->cases > 0) qsort(r->keys, out->cases, sizeof *r->keys, by_bytes);
    for (size_t i = 1; i < out->cases; i++)
        if (memcmp(r->keys[i - 1], r->keys[i], KEY_BYTES) == 0) out->repeated++;
    out->executed = out->cases - out->skipped;
}

static cs_result read_all(reading *r, cs_view xml) {
    if (r->hash == NULL || r->parser == NULL)
        return cs_fail(r->err, CS_CODE_NO_MEMORY, "no memory to read a JUnit file");
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    enum XML_Status status = XML_Parse(r->parser, (const char *)xml.ptr, (int)xml.len, XML_TRUE);
    if (r->result != CS_OK) return r->result;
    if (status != XML_STATUS_OK) {
        enum XML_Error code = XML_GetErrorCode(r->parser);
        if (code == XML_ERROR_NO_MEMORY)
            refuse_memory(r);
        else
            refuse(r, "it is not well-formed XML", XML_ErrorString(code));
        return r->result;
    }
    finish(r);
    return CS_OK;
}

cs_result cs_junit_read(cs_view xml, cs_junit *out, cs_error *err) {
    *out = (cs_junit){.cases = 0};
    if (xml.len == 0) return cs_fail(err, CS_CODE_JUNIT_MALFORMED, "the JUnit file is empty");
    if (xml.len > CS_JUNIT_MAX_BYTES)
        return cs_fail(err, CS_CODE_JUNIT_MALFORMED, "the JUnit file has %zu bytes (at most %u)", xml.len,
                       CS_JUNIT_MAX_BYTES);
    /* The parser would take UTF-16 where it sees signs of it, whatever encoding it is told. */
    if (!cs_utf8_valid(xml) || memchr(xml.ptr, '\0', xml.len) != NULL)
        return cs_fail(err, CS_CODE_JUNIT_MALFORMED, "the JUnit file is not text in UTF-8");
    reading *r = calloc(1, sizeof *r);
    if (r == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to read a JUnit file");
    *r = (reading){.out = out, .err = err, .hash = cs_sha256_new()};
    /* Whatever encoding the document names, it is read as UTF-8. */
    r->parser = XML_ParserCreate("UTF-8");
    cs_result result = read_all(r, xml);
    if (r->parser != NULL) XML_ParserFree(r->parser);
    cs_sha256_free(r->hash);
    free(r->keys);
    free(r);
    if (result != CS_OK) *out = (cs_junit){.cases = 0};
    return result;
}
