/* Reading the two statements of a verdict. There is one way to write each, so a cursor walks along the text that is
 * expected, and only texts are taken out; what it does not look at is found when all is built again. */
#include <stdlib.h>
#include <string.h>

#include "records/compactjson.h"
#include "records/dsse.h"
#include "records/jsonlex.h"
#include "records/statement.h"
#include "records/text.h"
#include "records/time.h"
#include "records/verdict.h"

#define RESOURCE_OF_COMMIT "gitoid:commit:sha1:"
#define REPOSITORY "git+"
#define POLICY "\"uri\":\"" CS_VERDICT_POLICY "\",\"digest\":{\"sha256\":"

typedef struct reader {
    cs_lex lex;
    cs_buf scratch;
    cs_view payload;
    char *texts; /* room for all texts of the payload, each with its NUL */
    size_t text_len;
    const char **items; /* room for all of its lists */
    size_t item_count;
    cs_stated_verdict *verdict;
    cs_error *err;
} reader;

static cs_result fail_here(const reader *r, cs_code code, const char *what) {
    cs_result result = cs_fail(r->err, code, "%s", what);
    cs_error_where(r->err, "byte %zu of the statement", (size_t)(r->lex.pos - r->lex.start));
    return result;
}

static cs_result fail_memory(const reader *r) {
    return cs_fail(r->err, CS_CODE_NO_MEMORY, "there is no memory to read the statement of a verdict");
}

static bool try(reader *r, const char *text) {
    size_t len = strlen(text);
    if ((size_t)(r->lex.end - r->lex.pos) < len || memcmp(r->lex.pos, text, len) != 0) return false;
    r->lex.pos += len;
    return true;
}

static cs_result take(reader *r, const char *text) {
    if (try(r, text)) return CS_OK;
    return fail_here(r, CS_CODE_STATEMENT_MALFORMED,
                     "the statement of a verdict has another member than its form has here");
}

/* One text, kept. It holds no NUL: what follows one would not be compared. */
static cs_result take_text(reader *r, const char **out) {
    cs_view text = {0};
    *out = "";
    if (!cs_lex_string(&r->lex, &r->scratch, &text)) {
        if (r->lex.no_memory) return fail_memory(r);
        return fail_here(r, CS_CODE_STATEMENT_MALFORMED,
                         "the statement of a verdict has no text where its form has one");
    }
    if (text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL)
        return fail_here(r, CS_CODE_STATEMENT_MALFORMED, "a text in the statement of a verdict holds a NUL");
    /* A text is never longer than it is written, with two quotes. */
    char *kept = r->texts + r->text_len;
    if (text.len > 0) memcpy(kept, text.ptr, text.len);
    kept[text.len] = '\0';
    r->text_len += text.len + 1;
    *out = kept;
    return CS_OK;
}

/* What stands between two fixed texts. */
static cs_result take_between(reader *r, const char *before, const char **out, const char *after) {
    cs_result result = take(r, before);
    if (result == CS_OK) result = take_text(r, out);
    return result == CS_OK ? take(r, after) : result;
}

/* A list of texts up to its bracket, each between two fixed texts, with commas. */
static cs_result take_list(reader *r, const char *before, const char *after, cs_verdict_names *out) {
    const char **first = r->items + r->item_count;
    cs_result result = CS_OK;
    *out = (cs_verdict_names){.items = first};
    if (try(r, "]")) return CS_OK;
    do {
        result = take_between(r, before, &first[out->count], after);
        if (result != CS_OK) return result;
        out->count++;
        r->item_count++;
    } while (try(r, ","));
    return take(r, "]");
}

static cs_result take_result(reader *r, const char *name) {
    cs_result result = take(r, name);
    if (result != CS_OK) return result;
    r->verdict->passed = try(r, "\"PASSED\"");
    if (r->verdict->passed || try(r, "\"FAILED\"")) return CS_OK;
    return fail_here(r, CS_CODE_STATEMENT_MALFORMED, "the result of a verdict is PASSED or FAILED");
}

/* ---- the parts ---------------------------------------------------------------------------------------- */

static cs_result take_subject(reader *r) {
    if (!try(r, "{\"_type\":\"" CS_STATEMENT_TYPE "\","))
        return fail_here(r, CS_CODE_STATEMENT_TYPE, "the signed statement is no in-toto Statement v1");
    const char *name = "";
    cs_result result = take_between(r, "\"subject\":[{\"name\":", &name, ",\"digest\":{\"gitCommit\":");
    if (result == CS_OK) result = take_text(r, &r->verdict->commit);
    if (result == CS_OK) result = take(r, "}}],\"predicateType\":");
    if (result != CS_OK) return result;
    if (strncmp(name, REPOSITORY, strlen(REPOSITORY)) != 0 || !cs_is_hex(cs_view_of(r->verdict->commit), CS_COMMIT_HEX))
        return fail_here(
            r, CS_CODE_STATEMENT_SUBJECT,
            "the subject of a verdict is a commit: git+ and an address, and an id of 40 lowercase hex digits");
    r->verdict->repository = name + strlen(REPOSITORY);
    return CS_OK;
}

static cs_result take_kind(reader *r, cs_verdict_kind *kind) {
    bool summary = try(r, "\"" CS_PREDICATE_SUMMARY "\"");
    *kind = summary ? CS_VERDICT_SUMMARY : CS_VERDICT_TEST_RESULT;
    if (summary || try(r, "\"" CS_PREDICATE_TEST_RESULT "\"")) return CS_OK;
    return fail_here(r, CS_CODE_STATEMENT_TYPE, "the signed statement is not one of a gate's verdict");
}

static cs_result take_test_result(reader *r) {
    cs_stated_verdict *verdict = r->verdict;
    cs_result result = take_result(r, "\"result\":");
    if (result == CS_OK) result = take_between(r, ",\"configuration\":[{" POLICY, &verdict->policy_sha256, "}}]");
    if (result == CS_OK) result = take(r, ",\"passedTests\":[");
    if (result == CS_OK) result = take_list(r, "", "", &verdict->passed_rules);
    if (result == CS_OK) result = take(r, ",\"warnedTests\":[");
    if (result == CS_OK) result = take_list(r, "", "", &verdict->warned_rules);
    if (result == CS_OK) result = take(r, ",\"failedTests\":[");
    return result == CS_OK ? take_list(r, "", "", &verdict->failed_rules) : result;
}

/* Sorted, each once. */
static bool ascend(const cs_verdict_names *digests) {
    for (size_t i = 1; i < digests->count; i++)
        if (strcmp(digests->items[i - 1], digests->items[i]) >= 0) return false;
    return true;
}

static cs_result take_inputs(reader *r) {
    if (!try(r, ",\"inputAttestations\":[")) return CS_OK;
    cs_verdict_names digests = {.count = 0};
    cs_result result = take_list(r, "{\"digest\":{\"sha256\":", "}}", &digests);
    if (result != CS_OK) return result;
    if (!ascend(&digests))
        return fail_here(r, CS_CODE_STATEMENT_MALFORMED, "what a verdict rests on is sorted, and each is named once");
    r->verdict->inputs = digests.items;
    r->verdict->input_count = digests.count;
    return CS_OK;
}

/* The resource is the subject once more. */
static cs_result check_resource(const reader *r, const char *resource) {
    const cs_stated_verdict *verdict = r->verdict;
    bool named = verdict->repository[0] != '\0';
    const char *start = named ? REPOSITORY : RESOURCE_OF_COMMIT;
    const char *rest = named ? verdict->repository : verdict->commit;
    if (strncmp(resource, start, strlen(start)) == 0 && strcmp(resource + strlen(start), rest) == 0) return CS_OK;
    return fail_here(r, CS_CODE_STATEMENT_SUBJECT, "the resource of a summary is not the statement's subject");
}

static cs_result take_resource(reader *r) {
    const char *when = "";
    const char *resource = "";
    cs_result result = take_between(r, "\"timeVerified\":", &when, ",\"resourceUri\":");
    if (result == CS_OK) result = take_text(r, &resource);
    if (result != CS_OK) return result;
    if (!cs_time_parse(cs_view_of(when), &r->verdict->made_unix_ms))
        return fail_here(r, CS_CODE_STATEMENT_MALFORMED, "the time of a verdict is not of its form");
    return check_resource(r, resource);
}

static cs_result take_summary(reader *r) {
    cs_stated_verdict *verdict = r->verdict;
    cs_result result = take(r, "\"verifier\":{\"id\":\"" CS_VERDICT_VERIFIER "\"},");
    if (result == CS_OK) result = take_resource(r);
    if (result == CS_OK) result = take_between(r, ",\"policy\":{" POLICY, &verdict->policy_sha256, "}}");
    if (result == CS_OK) result = take_inputs(r);
    if (result == CS_OK) result = take_result(r, ",\"verificationResult\":");
    if (result != CS_OK) return result;
    return take(r, verdict->passed ? ",\"verifiedLevels\":[\"" CS_VERDICT_LEVEL "\"]"
                                   : ",\"verifiedLevels\":[\"FAILED\"]");
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

static cs_result take_all(reader *r, cs_verdict_kind *kind) {
    cs_result result = take_subject(r);
    if (result == CS_OK) result = take_kind(r, kind);
    if (result == CS_OK) result = take(r, ",\"predicate\":{");
    if (result == CS_OK) result = *kind == CS_VERDICT_SUMMARY ? take_summary(r) : take_test_result(r);
    if (result == CS_OK) result = take(r, "}}");
    if (result == CS_OK && r->lex.pos != r->lex.end)
        result = fail_here(r, CS_CODE_STATEMENT_MALFORMED, "something follows the statement of a verdict");
    if (result != CS_OK) return result;
    const char *fault = cs_verdict_fault(*kind, r->verdict);
    return fault == NULL ? CS_OK : cs_fail(r->err, CS_CODE_STATEMENT_MALFORMED, "a verdict that is stated %s", fault);
}

static cs_result check_rebuilt(const reader *r, cs_verdict_kind kind) {
    CS_AUTO_BUF built = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES);
    if (!cs_buf_reserve(&built, CS_MAX_STATEMENT_BYTES)) return fail_memory(r);
    if (cs_statement_verdict(kind, r->verdict, &built) && cs_view_equal(cs_buf_view(&built), r->payload)) return CS_OK;
    return cs_fail(r->err, CS_CODE_STATEMENT_NOT_REBUILT,
                   "the statement of a verdict, built again from its own fields, gives other bytes");
}

cs_result cs_verdict_read(cs_view payload, cs_read_verdict *out, cs_error *err) {
    *out = (cs_read_verdict){.verdict = {.commit = "", .repository = "", .policy_sha256 = ""}};
    cs_error own = CS_ERROR_INIT;
    reader r = {.lex = cs_lex_of(payload),
                .scratch = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES),
                .payload = payload,
                .verdict = &out->verdict,
                .err = err != NULL ? err : &own};
    if (payload.len > CS_MAX_STATEMENT_BYTES)
        return cs_fail(err, CS_CODE_STATEMENT_MALFORMED, "the statement of a verdict is larger than one may be");
    /* Every text is written with two quotes, and one of a list with a comma or a bracket behind it. */
    out->texts = malloc(payload.len + 1);
    out->items = calloc(payload.len / 3 + 1, sizeof *out->items);
    r.texts = out->texts;
    r.items = out->items;
    cs_result result = out->texts != NULL && out->items != NULL ? take_all(&r, &out->kind) : fail_memory(&r);
    if (result == CS_OK) result = check_rebuilt(&r, out->kind);
    cs_buf_free(&r.scratch);
    if (result != CS_OK) cs_read_verdict_free(out);
    return result;
}

void cs_read_verdict_free(cs_read_verdict *read) {
    free(read->texts);
    free(read->items);
    *read = (cs_read_verdict){.verdict = {.commit = "", .repository = "", .policy_sha256 = ""}};
}
