/* The same work on several providers. Each case changes one thing of the second run. */
#include "tests/report/page_case.h"

#include <stdio.h>

#include "tests/support/canon.h"

/* Two runs; the second, of another provider, is changed. */
static void compare(page_case *c, void (*change)(sample *)) {
    sample a;
    sample b;
    sample_init(&a);
    sample_init(&b);
    canon_set(&b.record->provider, "bubblewrap");
    canon_set(&b.record->isolation, "container");
    change(&b);
    sample_seal(&b, SEAL_ALL);
    page_case_begin(c, true);
    page_case_add(c, a.request, a.response);
    page_case_add(c, b.request, b.response);
    page_case_expect_good(c);
    sample_free(&a);
    sample_free(&b);
}

static void nothing(sample *s) {
    (void)s;
}
static void other_protocol(sample *s) {
    s->request->protocol = 2;
}
static void other_floor(sample *s) {
    canon_set(&s->request->minimum_isolation, "process");
}
static void other_output(sample *s) {
    canon_set(&s->response->javascript->stdout, "3\n");
}
static void other_code(sample *s) {
    canon_set(&s->request->javascript->code, "console.log(2)");
}
static void other_time_out(sample *s) {
    s->request->timeout_ms = 6000;
}
static void in_a_session(sample *s) {
    canon_set(&s->record->session, "5e55105e55105e55105e55105e55105e55105e55105e55105e55105e55105e55");
}
static void same_provider(sample *s) {
    canon_set(&s->record->provider, "gvisor");
    canon_set(&s->record->isolation, "kernel");
    s->record->started_unix_ms--;
}
static void same_record(sample *s) {
    canon_set(&s->record->provider, "gvisor");
    canon_set(&s->record->isolation, "kernel");
}

Test(report_matrix, what_is_the_same_work_and_what_the_same_result) {
    static const struct {
        const char *name;
        void (*change)(sample *);
        cs_matrix_found want;
        const char *says;
    } rows[] = {
        {"nothing", nothing, {1, 1, 1, 0}, "same on 2 providers"},
        {"protocol", other_protocol, {1, 1, 1, 0}, "same on 2 providers"},
        {"floor", other_floor, {1, 1, 1, 0}, "same on 2 providers"},
        {"output", other_output, {1, 1, 0, 1}, "2 different results"},
        {"code", other_code, {2, 0, 0, 0}, "ran once"},
        {"time-out", other_time_out, {2, 0, 0, 0}, "ran once"},
        {"session", in_a_session, {1, 0, 0, 0}, "1 call of a session is not compared"},
        {"provider", same_provider, {1, 1, 1, 0}, "on one provider"},
        {"record", same_record, {1, 0, 0, 0}, "ran once"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        page_case c;
        compare(&c, rows[i].change);
        cs_matrix_found found = cs_page_told(c.page)->matrix;
        cr_expect(found.works == rows[i].want.works && found.compared == rows[i].want.compared &&
                      found.same == rows[i].want.same && found.different == rows[i].want.different,
                  "%s: %d %d %d %d", rows[i].name, (int)found.works, (int)found.compared, (int)found.same,
                  (int)found.different);
        EXPECT_HAS(c.html, rows[i].says);
        page_case_end(&c);
    }
}

Test(report_matrix, a_thirteenth_provider_is_left_out_and_counted) {
    page_case c;
    page_case_begin(&c, true);
    for (int i = 0; i < 14; i++) {
        sample s;
        char name[32];
        sample_init(&s);
        (void)snprintf(name, sizeof name, "provider-%d", i);
        canon_set(&s.record->provider, name);
        sample_seal(&s, SEAL_ALL);
        page_case_add(&c, s.request, s.response);
        sample_free(&s);
    }
    page_case_expect_good(&c);
    EXPECT_HAS(c.html, "same on 12 providers");
    EXPECT_HAS(c.html, "2 runs more than the page compares are left out.");
    page_case_end(&c);
}

/* Chance in the work: as many results as runs, of which a cell names a few. */
Test(report_matrix, many_results_of_one_work_have_a_bound) {
    page_case c;
    page_case_begin(&c, true);
    for (int i = 0; i < 40; i++) {
        sample s;
        char output[32];
        sample_init(&s);
        (void)snprintf(output, sizeof output, "%d\n", i);
        canon_set(&s.response->javascript->stdout, output);
        sample_seal(&s, SEAL_ALL);
        page_case_add(&c, s.request, s.response);
        sample_free(&s);
    }
    page_case_expect_good(&c);
    EXPECT_HAS(c.html, "40 different results");
    EXPECT_HAS(c.html, "and 34 more results");
    page_case_end(&c);
}

/* Where nothing is verified a record may be claimed twice, or not at all; other results stay other results. */
Test(report_matrix, a_claimed_record_hides_no_result) {
    static const struct {
        const char *record, *output;
        cs_matrix_found want;
    } rows[] = {
        {"aa", "2\n", {1, 0, 0, 0}}, /* one record of two inputs */
        {"aa", "3\n", {1, 1, 0, 1}},
        {"bb", "2\n", {1, 1, 1, 0}},
        {"", "2\n", {1, 1, 1, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        page_case c;
        page_case_begin(&c, false);
        for (int run = 0; run < 2; run++) {
            sample s;
            sample_init(&s);
            canon_set(&s.response->javascript->stdout, run == 0 ? "2\n" : rows[i].output);
            canon_set(&s.record->record_sha256, rows[i].record[0] == 'b' && run == 0 ? "aa" : rows[i].record);
            page_case_add(&c, s.request, s.response);
            sample_free(&s);
        }
        page_case_write(&c);
        cs_matrix_found found = cs_page_told(c.page)->matrix;
        cr_expect(found.works == rows[i].want.works && found.compared == rows[i].want.compared &&
                      found.same == rows[i].want.same && found.different == rows[i].want.different,
                  "%zu: %d %d %d %d", i, (int)found.works, (int)found.compared, (int)found.same, (int)found.different);
        page_case_end(&c);
    }
}

/* Names that begin alike for longer than is shown are still two providers; and what is cut says so. */
Test(report_matrix, long_names_are_cut_and_kept_apart) {
    for (int other = 0; other < 2; other++) {
        page_case c;
        page_case_begin(&c, true);
        for (int run = 0; run < 2; run++) {
            sample s;
            char name[128];
            sample_init(&s);
            (void)snprintf(name, sizeof name, "%099d%d", 0, other != 0 ? run : 0);
            canon_set(&s.record->provider, name);
            s.record->started_unix_ms -= run;
            sample_seal(&s, SEAL_ALL);
            page_case_add(&c, s.request, s.response);
            sample_free(&s);
        }
        page_case_expect_good(&c);
        EXPECT_HAS(c.html, other != 0 ? "same on 2 providers" : "</span> on one provider");
        EXPECT_HAS(c.html, "0000...</bdi>");
        page_case_end(&c);
    }
}
