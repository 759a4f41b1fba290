/* Which entries `countersign log` lists. */
#ifndef CS_CLI_LOG_FILTER_H
#define CS_CLI_LOG_FILTER_H

#include "cli/log_line.h"
#include "cli/options.h"
#include "gate/tree.h"

/* What was asked for on the command line, as it was written. */
typedef struct cs_log_wanted {
    cs_text_list providers;
    cs_text_list verdicts;
    int tier; /* index into cs_tier_choices; -1: any */
    int min_tier;
    const char *since; /* NULL: no bound */
    const char *until;
    const char *commit;
    const char *repo; /* NULL: the current folder */
} cs_log_wanted;

/* The same, ready to be applied. Start with {0}; end with cs_log_filter_free. */
typedef struct cs_log_filter {
    const cs_log_wanted *wanted; /* borrowed */
    bool verdicts[CS_LOG_VERDICTS];
    bool bounded; /* by time */
    int64_t since_ms;
    int64_t until_ms;
    cs_repo *repo; /* with --commit */
    cs_tree tree;
} cs_log_filter;

/* CS_CODE_USAGE; CS_CODE_GIT_*. To be freed also when it fails. */
CS_MUST_CHECK cs_result cs_log_filter_make(const cs_log_wanted *wanted, cs_log_filter *out, cs_error *err);
void cs_log_filter_free(cs_log_filter *filter);

/* Does an entry match? What fails its verification, or can't be read, always does: it may be a matching entry that someone
 * changed. */
bool cs_log_filter_matches(const cs_log_filter *filter, const cs_shown *shown, const cs_log_line *line);

#endif
