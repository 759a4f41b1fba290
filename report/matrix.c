#include "report/matrix.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "records/digest.h"
#include "records/sha256.h"
#include "records/text.h"
#include "report/payload.h"

#define WHAT_BYTES 72u
#define NAME_BYTES 64u
#define CELL_RUNS 4u                   /* named one by one beside a result */
#define CELL_RESULTS 6u                /* in a cell */
#define ROW_BYTES ((size_t)128 * 1024) /* more than the markup of a row can have */

typedef struct cs_matrix_provider {
    uint8_t name[NAME_BYTES];
    size_t name_len;
    uint8_t tier[NAME_BYTES];
    size_t tier_len;
    cs_digest whole_name; /* of one that is longer; else empty */
    cs_digest whole_tier;
} cs_matrix_provider;

typedef struct cs_matrix_run {
    cs_digest work;
    size_t provider;
    cs_digest result;
    cs_digest record;
    size_t input;
    uint64_t number; /* of its entry */
    uint64_t anchor;
    const char *kind;
    uint8_t what[WHAT_BYTES]; /* its first words */
    size_t what_len;
} cs_matrix_run;

void cs_matrix_free(cs_matrix *matrix) {
    free(matrix->runs);
    free(matrix->providers);
    *matrix = (cs_matrix){.count = 0};
}

/* ---- taking in ------------------------------------------------------------------------------------------ */

/* Two long names may begin alike. */
static bool keep_name(cs_view text, uint8_t name[NAME_BYTES], size_t *len, cs_digest *whole) {
    *len = cs_markup_keep(name, NAME_BYTES, text);
    return text.len <= NAME_BYTES || cs_sha256_once(text, whole);
}

static bool is_same_provider(const cs_matrix_provider *a, const cs_matrix_provider *b) {
    return cs_view_equal(cs_view_bytes(a->name, a->name_len), cs_view_bytes(b->name, b->name_len)) &&
           cs_view_equal(cs_view_bytes(a->tier, a->tier_len), cs_view_bytes(b->tier, b->tier_len)) &&
           strcmp(a->whole_name.hex, b->whole_name.hex) == 0 && strcmp(a->whole_tier.hex, b->whole_tier.hex) == 0;
}

/* The column of a provider and its tier; CS_MATRIX_PROVIDERS: there are too many. */
static cs_result find_provider(cs_matrix *matrix, const cs_run_record *record, size_t *out, cs_error *err) {
    cs_matrix_provider made = {.name_len = 0};
    if (!keep_name(cs_bytes_view(&record->provider), made.name, &made.name_len, &made.whole_name) ||
        !keep_name(cs_bytes_view(&record->isolation), made.tier, &made.tier_len, &made.whole_tier))
        return cs_fail(err, CS_CODE_NO_MEMORY, "a digest could not be computed");
    for (*out = 0; *out < matrix->provider_count; (*out)++)
        if (is_same_provider(&matrix->providers[*out], &made)) return CS_OK;
    if (matrix->provider_count < CS_MATRIX_PROVIDERS) matrix->providers[matrix->provider_count++] = made;
    return CS_OK;
}

/* Digests of what is shown, computed here: also where nothing is verified they say what is the same. */
static cs_result digest_run(const cs_page_entry *entry, cs_matrix_run *run, cs_error *err) {
    /* Only read: the copy shares every part with the request. */
    cs_run_request work = *entry->request;
    work.protocol = 0;
    work.minimum_isolation = (ProtobufCBinaryData){.len = 0};
    cs_result result = cs_digest_request(&work, &run->work, err);
    if (result == CS_OK) result = cs_digest_result(entry->response, &run->result, err);
    return result;
}

static void describe(const cs_run_request *request, cs_matrix_run *run) {
    cs_view what = cs_view_bytes(NULL, 0);
    run->kind = cs_request_kind(request);
    if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT && request->project->n_steps > 0)
        what = cs_bytes_view(&request->project->steps[request->project->n_steps - 1]);
    else if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT)
        what = cs_bytes_view(&request->javascript->code);
    else if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE)
        what = cs_bytes_view(&request->module->model);
    run->what_len = cs_markup_keep(run->what, sizeof run->what, what);
}

static cs_result make_room(cs_matrix *matrix, cs_error *err) {
    if (matrix->providers == NULL) matrix->providers = calloc(CS_MATRIX_PROVIDERS, sizeof *matrix->providers);
    if (matrix->providers == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the comparison");
    if (matrix->count < matrix->room) return CS_OK;
    size_t room = matrix->room == 0 ? 16 : matrix->room * 2;
    if (room > CS_MATRIX_RUNS) room = CS_MATRIX_RUNS;
    cs_matrix_run *runs = realloc(matrix->runs, room * sizeof *runs);
    if (runs == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the comparison");
    matrix->runs = runs;
    matrix->room = room;
    return CS_OK;
}

cs_result cs_matrix_see(cs_matrix *matrix, const cs_page_entry *entry, size_t input, uint64_t anchor, cs_error *err) {
    const cs_run_record *record = cs_page_entry_record(entry);
    if (entry->entry->finding || entry->request == NULL || entry->response == NULL || record == NULL) return CS_OK;
    if (record->session.len > 0) {
        matrix->calls++;
        return CS_OK;
    }
    cs_matrix_run run = {.input = input, .number = entry->entry->number, .anchor = anchor};
    if (matrix->count == CS_MATRIX_RUNS) {
        matrix->left_out++;
        return CS_OK;
    }
    cs_result result = make_room(matrix, err);
    if (result == CS_OK) result = find_provider(matrix, record, &run.provider, err);
    if (result != CS_OK) return result;
    if (run.provider == CS_MATRIX_PROVIDERS) {
        matrix->left_out++;
        return CS_OK;
    }
    result = digest_run(entry, &run, err);
    if (result != CS_OK) return result;
    (void)cs_markup_keep((uint8_t *)run.record.hex, CS_SHA256_HEX, cs_bytes_view(&record->record_sha256));
    describe(entry->request, &run);
    matrix->runs[matrix->count++] = run;
    return CS_OK;
}

/* ---- comparing ------------------------------------------------------------------------------------------ */

static int by_work(const void *left, const void *right) {
    const cs_matrix_run *a = left;
    const cs_matrix_run *b = right;
    int order = strcmp(a->work.hex, b->work.hex);
    if (order == 0) order = strcmp(a->result.hex, b->result.hex);
    if (order == 0) order = strcmp(a->record.hex, b->record.hex);
    if (order == 0 && a->anchor != b->anchor) order = a->anchor < b->anchor ? -1 : 1;
    return order;
}

/* One record that stands in two inputs is one run. Where nothing is verified, other results may claim the same record,
 * and none any at all. */
static bool is_repeat(const cs_matrix_run *run, const cs_matrix_run *last) {
    return run->record.hex[0] != '\0' && strcmp(last->record.hex, run->record.hex) == 0 &&
           strcmp(last->work.hex, run->work.hex) == 0 && strcmp(last->result.hex, run->result.hex) == 0;
}

static void drop_repeats(cs_matrix *matrix) {
    size_t kept = 0;
    for (size_t i = 0; i < matrix->count; i++) {
        const cs_matrix_run *run = &matrix->runs[i];
        const cs_matrix_run *last = kept > 0 ? &matrix->runs[kept - 1] : NULL;
        if (last == NULL || !is_repeat(run, last)) matrix->runs[kept++] = *run;
    }
    matrix->count = kept;
}

/* The runs of one work: a part of the sorted list. */
typedef struct row {
    const cs_matrix_run *runs;
    size_t count;
    size_t results;          /* distinct */
    uint64_t first;          /* the smallest anchor */
    const cs_matrix_run *of; /* whose words stand for it */
    uint32_t providers;      /* a bit for each */
} row;

static row row_at(const cs_matrix *matrix, size_t from) {
    row out = {.runs = matrix->runs + from, .of = matrix->runs + from, .first = matrix->runs[from].anchor};
    for (size_t i = from; i < matrix->count; i++) {
        const cs_matrix_run *run = &matrix->runs[i];
        if (strcmp(run->work.hex, out.runs->work.hex) != 0) break;
        if (out.count == 0 || strcmp(run->result.hex, run[-1].result.hex) != 0) out.results++;
        if (run->anchor < out.first) {
            out.first = run->anchor;
            out.of = run;
        }
        out.providers |= UINT32_C(1) << run->provider;
        out.count++;
    }
    return out;
}

/* Different results first, then the same ones, then what ran once; each in the order of the entries. */
static int rank(const row *of) {
    return of->results > 1 ? 0 : of->count > 1 ? 1 : 2;
}

static int by_interest(const void *left, const void *right) {
    const row *a = left;
    const row *b = right;
    if (rank(a) != rank(b)) return rank(a) - rank(b);
    return a->first < b->first ? -1 : a->first > b->first ? 1 : 0;
}

/* ---- the table ------------------------------------------------------------------------------------------ */

/* How the table is written. */
typedef struct writing {
    const cs_matrix *matrix;
    bool several; /* inputs */
} writing;

static void put_ref(cs_markup *out, const cs_matrix_run *run, const writing *how) {
    bool there = !how->matrix->cut || run->anchor <= how->matrix->places;
    if (there) cs_markup_printf(out, "<a href=\"#entry-%" PRIu64 "\">", run->anchor);
    if (how->several) cs_markup_printf(out, "%zu:", run->input);
    cs_markup_printf(out, "%" PRIu64 "%s", run->number, there ? "</a>" : "");
}

/* The runs with one result: from `from` on, and how many of them are of this provider. */
static size_t end_of_result(const row *of, size_t from, size_t provider, size_t *here) {
    size_t end = from;
    for (*here = 0; end < of->count && strcmp(of->runs[end].result.hex, of->runs[from].result.hex) == 0; end++)
        if (of->runs[end].provider == provider) ++*here;
    return end;
}

static void put_result(cs_markup *out, const row *of, size_t from, size_t end, size_t provider, size_t letter,
                       const writing *how) {
    if (letter < 26)
        cs_markup_printf(out, "<p><b class=\"r r%zu\">%c</b>", letter % 6, (char)('A' + letter));
    else
        cs_markup_printf(out, "<p><b class=\"r\">#%zu</b>", letter + 1);
    cs_markup_printf(out, " <span class=\"d\">%.12s</span> entry", of->runs[from].result.hex);
    size_t named = 0;
    for (size_t i = from; i < end && named < CELL_RUNS; i++) {
        if (of->runs[i].provider != provider) continue;
        cs_markup_raw(out, named == 0 ? " " : ", ");
        put_ref(out, &of->runs[i], how);
        named++;
    }
}

/* A letter for each result of the row, and which entries have it. */
static void put_cell(cs_markup *out, const row *of, size_t provider, const writing *how) {
    size_t letter = 0;
    size_t results = 0;
    size_t here = 0;
    for (size_t i = 0, end = 0; i < of->count; i = end, letter++) {
        end = end_of_result(of, i, provider, &here);
        if (here == 0 || results++ >= CELL_RESULTS) continue;
        put_result(out, of, i, end, provider, letter, how);
        if (here > CELL_RUNS) cs_markup_printf(out, " and %zu more", here - CELL_RUNS);
        cs_markup_raw(out, "</p>");
    }
    if (results == 0) cs_markup_raw(out, "<span class=\"none\">not run</span>");
    if (results > CELL_RESULTS)
        cs_markup_printf(out, "<p class=\"cut\">and %zu more %s</p>", results - CELL_RESULTS,
                         cs_plural(results - CELL_RESULTS, "result", "results"));
}

static void put_verdict(cs_markup *out, const row *of) {
    unsigned providers = (unsigned)__builtin_popcount(of->providers);
    if (of->results > 1)
        cs_markup_printf(out, "<span class=\"tag bad\">%zu different results</span>", of->results);
    else if (providers > 1)
        cs_markup_printf(out, "<span class=\"tag good\">same on %u providers</span>", providers);
    else if (of->count > 1)
        cs_markup_raw(out, "<span class=\"tag good\">same</span> on one provider");
    else
        cs_markup_raw(out, "<span class=\"tag open\">ran once</span>");
}

static void put_provider(cs_markup *out, const cs_matrix_provider *provider) {
    cs_markup_short(out, cs_view_bytes(provider->name, provider->name_len), NAME_BYTES);
    cs_markup_raw(out, "<br/><span class=\"size\">tier ");
    cs_markup_short(out, cs_view_bytes(provider->tier, provider->tier_len), NAME_BYTES);
    cs_markup_raw(out, "</span>");
}

static void put_row(cs_markup *out, const row *of, const writing *how) {
    const cs_matrix *matrix = how->matrix;
    if (of->of == NULL) return; /* of no run */
    cs_markup_printf(out, "<tr><th scope=\"row\" data-label=\"Work\">%s ", of->of->kind);
    if (of->of->what_len > 0) {
        cs_markup_raw(out, "<bdi dir=\"ltr\" class=\"d\">");
        cs_markup_data(out, cs_view_bytes(of->of->what, of->of->what_len), false);
        cs_markup_raw(out, "</bdi> ");
    }
    cs_markup_printf(out, "<span class=\"size\">work %.12s</span></th>", of->runs->work.hex);
    for (size_t i = 0; i < matrix->provider_count; i++) {
        cs_markup_printf(out, "<td data-label=\"Provider %zu\"><p class=\"who\">", i + 1);
        put_provider(out, &matrix->providers[i]);
        cs_markup_raw(out, "</p>");
        put_cell(out, of, i, how);
        cs_markup_raw(out, "</td>");
    }
    cs_markup_raw(out, "<td data-label=\"Verdict\">");
    put_verdict(out, of);
    cs_markup_raw(out, "</td></tr>\n");
}

static void put_head(cs_markup *out, const cs_matrix *matrix) {
    cs_markup_raw(out,
                  "<table class=\"wide\"><caption>Same work, same result? Each letter is one result digest of its row."
                  "</caption><thead><tr><th scope=\"col\">Work</th>");
    for (size_t i = 0; i < matrix->provider_count; i++) {
        cs_markup_raw(out, "<th scope=\"col\">");
        put_provider(out, &matrix->providers[i]);
        cs_markup_raw(out, "</th>");
    }
    cs_markup_raw(out, "<th scope=\"col\">Verdict</th></tr></thead><tbody>\n");
}

static void put_notes(cs_markup *out, const cs_matrix *matrix, uint64_t more) {
    if (more > 0)
        cs_markup_printf(out, "<p class=\"cut\">%" PRIu64 " more %s not shown.</p>", more,
                         cs_plural(more, "work is", "works are"));
    if (matrix->left_out > 0)
        cs_markup_printf(
            out, "<p class=\"cut\">%" PRIu64 " %s left out.</p>", matrix->left_out,
            cs_plural(matrix->left_out, "run more than the page compares is", "runs more than the page compares are"));
    if (matrix->calls > 0)
        cs_markup_printf(out,
                         "<p class=\"note\">%" PRIu64 " %s not compared here, since a call depends on those before "
                         "it.</p>",
                         matrix->calls, cs_plural(matrix->calls, "call of a session is", "calls of sessions are"));
}

static void count_row(const row *of, cs_matrix_found *found) {
    found->works++;
    if (of->count < 2) return;
    found->compared++;
    if (of->results == 1)
        found->same++;
    else
        found->different++;
}

void cs_matrix_markup(cs_markup *out, cs_matrix *matrix, bool several, cs_matrix_found *found) {
    *found = (cs_matrix_found){.works = 0};
    row *rows = calloc(matrix->count + 1, sizeof *rows);
    if (rows == NULL) {
        out->full = true;
        return;
    }
    if (matrix->count > 1) qsort(matrix->runs, matrix->count, sizeof *matrix->runs, by_work);
    drop_repeats(matrix);
    for (size_t i = 0; i < matrix->count; i += rows[found->works - 1].count) {
        rows[found->works] = row_at(matrix, i);
        count_row(&rows[found->works], found);
    }
    if (found->works > 1) qsort(rows, (size_t)found->works, sizeof *rows, by_interest);
    if (found->works == 0)
        cs_markup_raw(out, "<p class=\"none\">There is no single run with a result to compare.</p>");
    else
        put_head(out, matrix);
    uint64_t shown = 0;
    for (; shown < found->works && shown < CS_MATRIX_ROWS && out->buf.len + ROW_BYTES < out->buf.max; shown++)
        put_row(out, &rows[shown], &(writing){.matrix = matrix, .several = several});
    if (found->works > 0) cs_markup_raw(out, "</tbody></table>");
    put_notes(out, matrix, found->works - shown);
    free(rows);
}
