#include "cli/log_filter.h"

#include <stdio.h>
#include <string.h>

#include "records/tier.h"
#include "records/time.h"

static cs_result read_verdicts(const cs_text_list *words, bool *out, cs_error *err) {
    for (size_t i = 0; i < words->count; i++) {
        bool known = false;
        for (int verdict = 0; verdict < CS_LOG_VERDICTS; verdict++) {
            if (strcmp(words->items[i], cs_log_verdict_word((cs_log_verdict)verdict)) != 0) continue;
            out[verdict] = true;
            known = true;
        }
        if (!known)
            return cs_fail(err, CS_CODE_USAGE,
                           "--verdict takes signed, failed-work, unanswered, finding, close, checkpoint, link, "
                           "gate-passed, gate-refused, invalid, unreadable or unchecked, not '%.40s'",
                           words->items[i]);
    }
    return CS_OK;
}

/* A day by itself is its first moment. */
static bool parse_time(const char *text, int64_t *out) {
    char day[sizeof "2026-11-29T00:00:00Z"];
    if (strlen(text) != sizeof "2026-11-29" - 1) return cs_time_parse(cs_view_of(text), out);
    (void)snprintf(day, sizeof day, "%sT00:00:00Z", text);
    return cs_time_parse(cs_view_of(day), out);
}

static cs_result read_time(const char *option, const char *text, int64_t *out, cs_error *err) {
    if (text == NULL || parse_time(text, out)) return CS_OK;
    return cs_fail(err, CS_CODE_USAGE,
                   "%s takes a time in UTC like 2026-11-29T00:00:00Z, or a day like 2026-11-29, not '%.40s'", option,
                   text);
}

static cs_result read_times(const cs_log_wanted *wanted, cs_log_filter *out, cs_error *err) {
    out->bounded = wanted->since != NULL || wanted->until != NULL;
    out->since_ms = INT64_MIN;
    out->until_ms = INT64_MAX;
    cs_result result = read_time("--since", wanted->since, &out->since_ms, err);
    if (result == CS_OK) result = read_time("--until", wanted->until, &out->until_ms, err);
    if (result == CS_OK && out->since_ms > out->until_ms)
        result = cs_fail(err, CS_CODE_USAGE, "--since is later than --until: no entry could match");
    return result;
}

static cs_result read_commit(const cs_log_wanted *wanted, cs_log_filter *out, cs_error *err) {
    if (wanted->commit == NULL) return CS_OK;
    cs_result result = cs_repo_open(wanted->repo != NULL ? wanted->repo : ".", &out->repo, err);
    if (result == CS_OK) result = cs_tree_read(out->repo, wanted->commit, &out->tree, err);
    return result;
}

cs_result cs_log_filter_make(const cs_log_wanted *wanted, cs_log_filter *out, cs_error *err) {
    *out = (cs_log_filter){.wanted = wanted};
    if (wanted->tier >= 0 && wanted->min_tier >= 0)
        return cs_fail(err, CS_CODE_USAGE, "give --tier or --min-tier, not both");
    if (wanted->repo != NULL && wanted->commit == NULL)
        return cs_fail(err, CS_CODE_USAGE, "--repo says where --commit is: name a commit as well");
    cs_result result = read_verdicts(&wanted->verdicts, out->verdicts, err);
    if (result == CS_OK) result = read_times(wanted, out, err);
    if (result == CS_OK) result = read_commit(wanted, out, err);
    return result;
}

void cs_log_filter_free(cs_log_filter *filter) {
    if (filter->repo != NULL) cs_tree_free(&filter->tree);
    cs_repo_close(filter->repo);
    *filter = (cs_log_filter){.repo = NULL};
}

/* ---- one entry -------------------------------------------------------------------------------- */

static bool provider_matches(const cs_log_filter *filter, const cs_run_record *record) {
    const cs_text_list *names = &filter->wanted->providers;
    for (size_t i = 0; record != NULL && i < names->count; i++)
        if (cs_view_is(cs_bytes_view(&record->provider), names->items[i])) return true;
    return names->count == 0;
}

static bool tier_matches(const cs_log_filter *filter, const cs_run_record *record) {
    const cs_log_wanted *wanted = filter->wanted;
    if (wanted->tier < 0 && wanted->min_tier < 0) return true;
    if (record == NULL) return false;
    cs_tier tier = cs_tier_parse(cs_bytes_view(&record->isolation));
    if (wanted->tier >= 0) return tier == cs_tier_parse(cs_view_of(cs_tier_choices[wanted->tier]));
    return tier >= cs_tier_parse(cs_view_of(cs_tier_choices[wanted->min_tier]));
}

static bool time_matches(const cs_log_filter *filter, const cs_log_line *line) {
    if (!filter->bounded) return true;
    return line->has_time && line->time_ms >= filter->since_ms && line->time_ms <= filter->until_ms;
}

static bool verdict_matches(const cs_log_filter *filter, const cs_log_line *line) {
    return filter->wanted->verdicts.count == 0 || filter->verdicts[line->verdict];
}

static bool files_match(const cs_tree *tree, cs_project_file **files, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const cs_tree_file *found = cs_tree_find(tree, cs_bytes_view(&files[i]->path));
        bool regular = found != NULL && (found->kind == CS_TREE_FILE || found->kind == CS_TREE_EXECUTABLE);
        if (!regular || !cs_tree_holds(tree, found, cs_bytes_view(&files[i]->content))) return false;
    }
    return count > 0;
}

/* A statement of a verdict is about a commit by its id; a run has its files. */
static bool commit_matches(const cs_log_filter *filter, const cs_shown *shown) {
    if (filter->repo == NULL) return true;
    if (shown->judged) return strcmp(shown->verdict.verdict.commit, filter->tree.commit) == 0;
    const cs_run_request *request = shown->request;
    if (request == NULL) return false;
    if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT)
        return files_match(&filter->tree, request->project->files, request->project->n_files);
    if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL)
        return files_match(&filter->tree, request->cell->files, request->cell->n_files);
    return false;
}

bool cs_log_filter_matches(const cs_log_filter *filter, const cs_shown *shown, const cs_log_line *line) {
    if (cs_log_line_is_bad(line)) return true;
    const cs_run_record *record = cs_shown_record(shown);
    return verdict_matches(filter, line) && time_matches(filter, line) && provider_matches(filter, record) &&
           tier_matches(filter, record) && commit_matches(filter, shown);
}
