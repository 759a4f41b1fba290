/* Charts of trajectories: what is drawn, and what hostile numbers do not do to it. */
#include "tests/report/page_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define VARIABLES 5

/* Five values a tick: the cart at `x(tick)`, the pole at `angle(tick)`, in radians. `code` of the controller; NULL:
 * there is no such file. */
static void add_run_of(page_case *c, const char *code, int ticks, double (*x)(int), double (*angle)(int)) {
    sample s;
    char report[128];
    double *values = calloc((size_t)ticks * VARIABLES, sizeof *values);
    cr_assert_not_null(values);
    for (int i = 0; i < ticks; i++) {
        values[i * VARIABLES] = x(i);
        values[i * VARIABLES + 2] = angle(i);
    }
    (void)snprintf(report, sizeof report, "{\"fingerprint\":\"f\",\"ticks\":%d}\n", ticks);
    sample_init(&s);
    page_case_make_project(&s, "node run.mjs", report);
    page_case_add_artifact(&s, "record.bin", values, (size_t)ticks * VARIABLES * sizeof *values);
    if (code != NULL) page_case_add_file(&s, "controller.js", code);
    page_case_add(c, s.request, s.response);
    sample_free(&s);
    free(values);
}

static void add_run(page_case *c, int ticks, double (*x)(int), double (*angle)(int)) {
    add_run_of(c, NULL, ticks, x, angle);
}

static double up(int i) {
    return 0.2 * cos(i / 50.0);
}
static double falls(int i) {
    return i < 150 ? i * 0.01 : 2.0;
}
static double runs_away(int i) {
    return (double)i * i * 1e3;
}
static double odd(int i) {
    static const double all[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 5e-324, -0.0, 0.1};
    return all[i % 8];
}
static double no_number(int i) {
    (void)i;
    return NAN;
}

Test(report_cartpole, two_controllers_are_two_lines_in_both_charts) {
    page_case c;
    page_case_begin(&c, true);
    add_run(&c, 2000, up, up);
    add_run(&c, 2000, runs_away, falls);
    page_case_expect_good(&c);
    EXPECT_HAS(c.said, "missing=0");
    EXPECT_HAS(c.said, "polyline=4");
    EXPECT_HAS(c.html, "the pole stays up");
    EXPECT_HAS(c.html, "the pole falls at 1.50 s"); /* beyond 90 degrees: two radians, from tick 150 on */
    EXPECT_HAS(c.html,
               "2 different trajectories over 20.00 s. In line 1 it stays up. In line 2 the pole falls at 1.50 s.");
    EXPECT_HAS(c.html, "time (s)");
    EXPECT_HAS(c.html, "position (m)");
    EXPECT_HAS(c.html, "angle from upright (\xc2\xb0)");
    EXPECT_HAS(c.html, "<title id=\"chart-1-title\">Angle of the pole over time</title>");
    cr_expect_eq(cs_page_told(c.page)->trajectories, 2);
    page_case_end(&c);
}

Test(report_cartpole, the_same_bits_are_one_line) {
    page_case c;
    page_case_begin(&c, true);
    add_run(&c, 500, up, up);
    add_run(&c, 500, up, up);
    page_case_expect_good(&c);
    EXPECT_HAS(c.said, "polyline=2");
    EXPECT_HAS(c.html, "1 different trajectory over 5.00 s.");
    page_case_end(&c);
}

Test(report_cartpole, a_seventh_trajectory_is_not_drawn_and_counted) {
    page_case c;
    page_case_begin(&c, true);
    for (int i = 0; i < 8; i++)
        add_run(&c, 100 + i, up, up);
    page_case_expect_good(&c);
    EXPECT_HAS(c.said, "polyline=12");
    EXPECT_HAS(c.html, "2 runs with other trajectories are not drawn.");
    page_case_end(&c);
}

Test(report_cartpole, numbers_that_are_none_draw_nothing_odd) {
    page_case c;
    page_case_begin(&c, true);
    add_run(&c, 1, up, up);
    add_run(&c, 4001, odd, odd);
    add_run(&c, 300, no_number, no_number);
    add_run(&c, 100000, runs_away, odd);
    page_case_expect_good(&c);
    EXPECT_HAS(c.said, "polyline=8");
    for (const char *at = strstr(c.html, "points=\""); at != NULL; at = strstr(at + 8, "points=\"")) {
        size_t len = strspn(at + 8, "0123456789.,- ");
        cr_expect_eq(at[8 + len], '"', "%.40s", at + 8 + len);
        cr_expect_lt(len, 20000);
    }
    page_case_end(&c);
}

static double one_hole(int i) {
    return i == 7 ? NAN : 0.1;
}
static double one_position_hole(int i) {
    return i == 150 ? NAN : 0.1;
}

/* What is no number says nothing of the pole; a position that is none does not matter to it. */
Test(report_cartpole, whether_a_pole_stays_up_is_not_known_where_its_angle_is_no_number) {
    static const struct {
        double (*x)(int), (*angle)(int);
        const char *has, *has_not;
    } rows[] = {
        {up, up, "<b>the pole stays up</b>", "no number"},
        {up, one_hole, "<b>whether the pole stays up is not known</b>", "the pole stays up</b>"},
        {up, one_hole, "(in 1 of 200 ticks angle or position is no number, and not drawn)", "it stays up"},
        {up, one_hole, "In line 1 some angles are no numbers.", "it stays up"},
        {one_position_hole, up, "<b>the pole stays up</b> <span class=\"cut\">(in 1 of 200 ticks", "not known"},
        {up, falls, "<path class=\"c c0\"", "no number"},
        {one_position_hole, falls, "the pole falls at 1.50 s", "not known"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        page_case c;
        page_case_begin(&c, true);
        add_run(&c, 200, rows[i].x, rows[i].angle);
        page_case_expect_good(&c);
        EXPECT_HAS(c.html, rows[i].has);
        EXPECT_HAS_NOT(c.html, rows[i].has_not);
        page_case_end(&c);
    }
}

static size_t crosses(const char *html) {
    size_t count = 0;
    for (const char *at = strstr(html, "<path "); at != NULL; at = strstr(at + 1, "<path "))
        count++;
    return count;
}

/* Where the cart was when the pole fell is marked only where it is known. */
Test(report_cartpole, a_cross_stands_where_the_cart_was) {
    page_case c;
    page_case_begin(&c, true);
    add_run(&c, 200, up, falls);
    page_case_expect_good(&c);
    cr_expect_eq(crosses(c.html), 2);
    page_case_end(&c);
    page_case_begin(&c, true);
    add_run(&c, 200, one_position_hole, falls);
    page_case_expect_good(&c);
    cr_expect_eq(crosses(c.html), 1);
    page_case_end(&c);
}

Test(report_cartpole, a_controller_is_named_only_where_all_runs_had_it) {
    static const struct {
        const char *first, *second, *has, *has_not;
    } rows[] = {
        {"// the one\n", "// the one\n", "which says of itself", "different controllers"},
        {"// the one\n", "// other\n", "<b>of different controllers</b>", "which says of itself"},
        {"// the one\n", NULL, "<b>of different controllers</b>", "which says of itself"},
        {NULL, "// the one\n", "<b>of different controllers</b>", "which says of itself"},
        {NULL, NULL, "with these bits", "different controllers"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        page_case c;
        page_case_begin(&c, true);
        add_run_of(&c, rows[i].first, 100, up, up);
        add_run_of(&c, rows[i].second, 100, up, up);
        page_case_expect_good(&c);
        EXPECT_HAS(c.said, "polyline=2");
        EXPECT_HAS(c.html, rows[i].has);
        EXPECT_HAS_NOT(c.html, rows[i].has_not);
        page_case_end(&c);
    }
}

/* 110 bytes are kept of it. */
Test(report_cartpole, a_first_line_that_is_cut_says_so) {
    char code[160];
    page_case c;
    for (int extra = 0; extra < 2; extra++) {
        (void)snprintf(code, sizeof code, "// %0*d\n", 110 + extra, 0);
        page_case_begin(&c, true);
        add_run_of(&c, code, 100, up, up);
        page_case_expect_good(&c);
        EXPECT_HAS(c.html, extra == 0 ? "000</bdi></q>" : "000...</bdi></q>");
        page_case_end(&c);
    }
}

/* A number of ten digits would begin outside of the chart, and read as another one. */
Test(report_cartpole, large_numbers_have_room_beside_the_axis) {
    page_case c;
    page_case_begin(&c, true);
    add_run(&c, 1000, runs_away, up);
    page_case_expect_good(&c);
    EXPECT_HAS(c.html, "text-anchor=\"end\">1e+09</text>");
    EXPECT_HAS_NOT(c.html, "00000</text>");
    page_case_end(&c);
    page_case_begin(&c, true);
    add_run(&c, 9, runs_away, up);
    page_case_expect_good(&c);
    EXPECT_HAS(c.html, "text-anchor=\"end\">60000</text>");
    page_case_end(&c);
}

Test(report_cartpole, without_such_a_run_there_is_no_chart) {
    page_case c;
    sample s;
    sample_init(&s);
    page_case_make_project(&s, "node run.mjs", "{\"fingerprint\":\"f\",\"ticks\":2}\n");
    page_case_add_artifact(&s, "record.bin", "not five values", 15);
    page_case_begin(&c, true);
    page_case_add(&c, s.request, s.response);
    page_case_expect_good(&c);
    EXPECT_HAS(c.said, "polyline=0");
    EXPECT_HAS_NOT(c.html, "Cart-pole");
    sample_free(&s);
    page_case_end(&c);
}
