#include "tests/fuzz/walk.h"

#include "tests/fuzz/fuzz.h"

typedef struct told {
    uint64_t failures, warnings, stops;
    uint64_t runs, duplicates, unanswered;
    void (*on_run)(const cs_verified_run *run);
} told;

static void on_finding(void *user, const cs_finding *finding) {
    told *t = user;
    cs_result class = cs_code_class(finding->err->code);
    if (finding->warning)
        fuzz_error_texts(finding->err);
    else
        fuzz_refusal(class, finding->err);
    if (finding->warning)
        t->warnings++;
    else if (class == CS_FAILED)
        t->failures++;
    else
        t->stops++;
}

static cs_result on_run(void *user, const cs_verified_run *run, cs_error *err) {
    (void)err;
    told *t = user;
    MUST(run->request != NULL && run->record != NULL && run->checked != NULL);
    MUST((run->response == NULL) == run->unanswered);
    t->runs += !run->duplicate;
    t->duplicates += run->duplicate;
    t->unanswered += run->unanswered && !run->duplicate;
    if (t->on_run != NULL) t->on_run(run);
    return CS_OK;
}

static void agree(cs_result result, const cs_verify_summary *summary, const told *t) {
    MUST(t->failures == summary->failures && t->warnings == summary->warnings && t->stops <= 1);
    MUST(t->runs == summary->runs && t->duplicates == summary->duplicates && t->unanswered == summary->unanswered);
    MUST(summary->runs + summary->duplicates + summary->findings <= summary->entries);
    switch (result) {
    case CS_OK:
        MUST(summary->failures == 0 && t->stops == 0 && summary->runs + summary->sessions > 0);
        break;
    case CS_FAILED:
        MUST(summary->failures > 0);
        break;
    case CS_NOTHING:
        MUST(summary->failures == 0 && summary->runs == 0 && summary->sessions == 0);
        break;
    default:
        MUST(result == CS_UNCHECKED && summary->failures == 0 && t->stops == 1);
        break;
    }
}

cs_result walk_file(const char *path, const cs_trust *trust, void (*each)(const cs_verified_run *run),
                    cs_verify_summary *summary) {
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    *summary = (cs_verify_summary){.entries = 0};
    cs_result result = cs_source_open(path, &source, &err);
    MUST((result == CS_OK) == (source != NULL));
    if (source == NULL) {
        fuzz_refusal(result, &err);
        return result;
    }
    told t = {.on_run = each};
    cs_verify_options options = {.trust = trust, .on_finding = on_finding, .on_run = on_run, .user = &t};
    result = cs_verify_source(source, &options, summary, &err);
    if (result != CS_OK) fuzz_refusal(result, &err);
    agree(result, summary, &t);
    cs_source_close(source);
    return result;
}
