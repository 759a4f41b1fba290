/* A line chart as inline SVG: axes with units, a grid, lines that differ in colour and in dashes. Pure.
 *
 * No style, script, reference or address in it: colours come from classes of the page.
 */
#ifndef CS_REPORT_CHART_H
#define CS_REPORT_CHART_H

#include "report/markup.h"

#define CS_CHART_LINES 6u
#define CS_CHART_POINTS 800u

typedef struct cs_chart_point {
    double at;    /* on the horizontal axis */
    double value; /* finite */
} cs_chart_point;

typedef struct cs_chart_line {
    const cs_chart_point *points;
    size_t count;
    bool marked; /* with a cross where it meets `mark` first */
    cs_chart_point mark;
} cs_chart_line;

typedef struct cs_chart {
    unsigned number;   /* of the chart on its page, for its ids */
    const char *title; /* these are ours, and are escaped all the same */
    const char *description;
    const char *across; /* what the axes show, with units */
    const char *up;
    double end;       /* of the horizontal axis, which begins at 0 */
    double low, high; /* of the vertical one; what is outside is cut off */
    double step;      /* of its ticks; 0: a round one */
    cs_chart_line lines[CS_CHART_LINES];
    size_t count;
} cs_chart;

void cs_chart_markup(cs_markup *out, const cs_chart *chart);

/* What stands in a legend for line `index`. */
void cs_chart_swatch(cs_markup *out, size_t index);

#endif
