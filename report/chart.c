#include "report/chart.h"

#include <math.h>
#include <stdio.h>

#define WIDTH 460.0
#define HEIGHT 270.0
#define LEFT 54.0
#define RIGHT 14.0
#define TOP 14.0
#define BOTTOM 46.0
#define INNER_WIDTH (WIDTH - LEFT - RIGHT)
#define INNER_HEIGHT (HEIGHT - TOP - BOTTOM)
#define FAR 10000.0 /* no coordinate is farther away, whatever the value */
#define TICKS 5.0
#define MAX_TICKS 20

/* Told apart without colour. */
static const char *const dashes[CS_CHART_LINES] = {"none", "7 4", "2 3", "10 3 2 3", "12 5", "1 5"};

/* The round step that gives about TICKS ticks. */
static double round_step(double span) {
    double step = pow(10.0, floor(log10(span / TICKS)));
    double times = span / TICKS / step;
    return times > 5.0 ? step * 10.0 : times > 2.0 ? step * 5.0 : times > 1.0 ? step * 2.0 : step;
}

static double within(double value) {
    return fmax(-FAR, fmin(FAR, value));
}

static double x_of(const cs_chart *chart, double at) {
    return within(at / chart->end * INNER_WIDTH);
}

static double y_of(const cs_chart *chart, double value) {
    return within((chart->high - value) / (chart->high - chart->low) * INNER_HEIGHT);
}

/* ---- axes ----------------------------------------------------------------------------------------------- */

#define WIDE 1e5 /* a number beside an axis that would not fit stands as 2e+08 */

static int decimals_of(double step) {
    double places = ceil(-log10(step) - 1e-9);
    return places < 0 ? 0 : places > 6 ? 6 : (int)places;
}

static void put_across(cs_markup *out, const cs_chart *chart) {
    double step = round_step(chart->end);
    for (int i = 0; i <= MAX_TICKS && i * step <= chart->end * 1.0001; i++) {
        double x = LEFT + x_of(chart, i * step);
        cs_markup_printf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x, x, TOP,
                         TOP + INNER_HEIGHT);
        cs_markup_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.*f</text>", x,
                         TOP + INNER_HEIGHT + 17, decimals_of(step), i * step);
    }
}

static void put_up(cs_markup *out, const cs_chart *chart) {
    double step = chart->step > 0 ? chart->step : round_step(chart->high - chart->low);
    double first = ceil(chart->low / step - 1e-9);
    for (int i = 0; i <= MAX_TICKS && (first + i) * step <= chart->high + step * 1e-6; i++) {
        double value = (first + i) * step;
        if (fabs(value) < step * 1e-6) value = 0; /* no -0 */
        double y = TOP + y_of(chart, value);
        cs_markup_printf(out, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                         value == 0 ? "zero" : "grid", LEFT, LEFT + INNER_WIDTH, y, y);
        cs_markup_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 6, y + 4);
        if (fabs(value) < WIDE)
            cs_markup_printf(out, "%.*f</text>", decimals_of(step), value);
        else
            cs_markup_printf(out, "%.3g</text>", value);
    }
}

static void put_names(cs_markup *out, const cs_chart *chart) {
    cs_markup_printf(out, "<text class=\"axis\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", LEFT + INNER_WIDTH / 2,
                     HEIGHT - 8);
    cs_markup_text(out, chart->across);
    cs_markup_printf(
        out, "</text><text class=\"axis\" x=\"%.1f\" y=\"13\" text-anchor=\"middle\" transform=\"rotate(-90)\">",
        -(TOP + INNER_HEIGHT / 2));
    cs_markup_text(out, chart->up);
    cs_markup_raw(out, "</text>");
}

/* ---- lines ---------------------------------------------------------------------------------------------- */

static void put_line(cs_markup *out, const cs_chart *chart, size_t index) {
    const cs_chart_line *line = &chart->lines[index];
    cs_markup_printf(out, "<polyline class=\"c c%zu\" fill=\"none\" stroke-dasharray=\"%s\" points=\"", index,
                     dashes[index]);
    for (size_t i = 0; i < line->count; i++)
        cs_markup_printf(out, "%s%.1f,%.1f", i > 0 ? " " : "", x_of(chart, line->points[i].at),
                         y_of(chart, line->points[i].value));
    cs_markup_raw(out, "\"/>");
    if (!line->marked) return;
    double x = x_of(chart, line->mark.at);
    double y = y_of(chart, line->mark.value);
    cs_markup_printf(out, "<path class=\"c c%zu\" fill=\"none\" d=\"M%.1f,%.1fl10,10m0,-10l-10,10\"/>", index, x - 5,
                     y - 5);
}

void cs_chart_markup(cs_markup *out, const cs_chart *chart) {
    cs_markup_printf(out,
                     "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
                     "aria-labelledby=\"chart-%u-title chart-%u-text\"><title id=\"chart-%u-title\">",
                     WIDTH, HEIGHT, chart->number, chart->number, chart->number);
    cs_markup_text(out, chart->title);
    cs_markup_printf(out, "</title><desc id=\"chart-%u-text\">", chart->number);
    cs_markup_text(out, chart->description);
    cs_markup_raw(out, "</desc>");
    put_across(out, chart);
    put_up(out, chart);
    put_names(out, chart);
    /* An SVG in the SVG cuts off what is outside of it. */
    cs_markup_printf(out, "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" overflow=\"hidden\">", LEFT, TOP,
                     INNER_WIDTH, INNER_HEIGHT);
    for (size_t i = 0; i < chart->count; i++)
        put_line(out, chart, i);
    cs_markup_printf(out,
                     "</svg><rect class=\"frame\" fill=\"none\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                     LEFT, TOP, INNER_WIDTH, INNER_HEIGHT);
    cs_markup_raw(out, "</svg>\n");
}

void cs_chart_swatch(cs_markup *out, size_t index) {
    cs_markup_printf(
        out,
        "<svg class=\"swatch\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 40 10\" aria-hidden=\"true\">"
        "<line class=\"c c%zu\" stroke-dasharray=\"%s\" x1=\"1\" x2=\"39\" y1=\"5\" y2=\"5\"/></svg>",
        index, dashes[index]);
}
