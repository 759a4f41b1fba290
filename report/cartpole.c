#include "report/cartpole.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/text.h"
#include "replay/trajectory.h"

#define CONTROLLER "controller.js"
#define BUCKETS (CS_CHART_POINTS / 2)
#define FALLEN_DEGREES 90.0
#define DEGREES (180.0 / 3.14159265358979323846)
#define LIMIT 1e9 /* a value that is larger is drawn as this */
#define FIRST_LINE 110u
#define PROVIDER_BYTES 40u

enum { POSITION = 0, ANGLE = 2 }; /* in a tick */

typedef struct run_of_line {
    cs_digest record;
    uint64_t anchor;
    uint64_t number;
    size_t input;
    uint8_t provider[PROVIDER_BYTES];
    size_t provider_len;
} run_of_line;

/* One trajectory, and the runs that gave exactly these bytes. */
typedef struct cs_trajectory_line {
    cs_digest record;
    cs_digest controller; /* empty: there is no such file */
    bool mixed;           /* other runs with these bits had another controller, or none */
    uint8_t first_line[FIRST_LINE];
    size_t first_line_len;
    double end; /* s */
    size_t ticks;
    size_t holes; /* ticks whose angle or position is no number */
    bool unknown; /* of them some angle: the pole may have fallen there */
    bool fell;
    cs_chart_point fall;   /* in degrees */
    cs_chart_point fall_x; /* where the cart was then; may be no number */
    cs_chart_point angle[CS_CHART_POINTS];
    size_t angle_count;
    cs_chart_point position[CS_CHART_POINTS];
    size_t position_count;
    run_of_line runs[CS_CARTPOLE_RUNS];
    uint64_t run_count;
} cs_trajectory_line;

void cs_cartpole_free(cs_cartpole *cartpole) {
    free(cartpole->lines);
    *cartpole = (cs_cartpole){.count = 0};
}

/* ---- taking in ------------------------------------------------------------------------------------------ */

static double value_at(cs_view record, size_t tick, size_t variable) {
    double value = cs_trajectory_value(record, tick * CS_TRAJECTORY_VARIABLES + variable);
    if (variable == ANGLE) value *= DEGREES;
    return isnan(value) ? value : fmax(-LIMIT, fmin(LIMIT, value));
}

static cs_chart_point point_at(cs_view record, size_t tick, size_t variable) {
    return (cs_chart_point){.at = (double)tick / CS_TRAJECTORY_TICKS_PER_SECOND,
                            .value = value_at(record, tick, variable)};
}

/* The smallest and the largest value of each stretch of time, in their order, so that no peak is lost. */
static size_t thin(cs_view record, size_t ticks, size_t variable, cs_chart_point *out) {
    size_t count = 0;
    size_t buckets = ticks < BUCKETS ? ticks : BUCKETS;
    for (size_t bucket = 0; bucket < buckets; bucket++) {
        size_t low = SIZE_MAX;
        size_t high = SIZE_MAX;
        for (size_t tick = bucket * ticks / buckets; tick < (bucket + 1) * ticks / buckets; tick++) {
            double value = value_at(record, tick, variable);
            if (isnan(value)) continue;
            if (low == SIZE_MAX || value < value_at(record, low, variable)) low = tick;
            if (high == SIZE_MAX || value > value_at(record, high, variable)) high = tick;
        }
        if (low == SIZE_MAX) continue;
        out[count++] = point_at(record, low < high ? low : high, variable);
        if (low != high) out[count++] = point_at(record, low < high ? high : low, variable);
    }
    return count;
}

static void find_fall(cs_view record, size_t ticks, cs_trajectory_line *line) {
    for (size_t tick = 0; tick < ticks && !line->fell; tick++) {
        if (!(fabs(value_at(record, tick, ANGLE)) > FALLEN_DEGREES)) continue;
        line->fell = true;
        line->fall = point_at(record, tick, ANGLE);
        line->fall_x = point_at(record, tick, POSITION);
    }
}

/* What is no number is not drawn, and says nothing of the pole. */
static void find_holes(cs_view record, size_t ticks, cs_trajectory_line *line) {
    for (size_t tick = 0; tick < ticks; tick++) {
        bool angle = isnan(value_at(record, tick, ANGLE));
        line->unknown = line->unknown || angle;
        line->holes += angle || isnan(value_at(record, tick, POSITION));
    }
}

static cs_view controller_of(const cs_run_request *request) {
    if (request->payload_case != PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT) return cs_view_bytes(NULL, 0);
    for (size_t i = 0; i < request->project->n_files; i++)
        if (cs_view_is(cs_bytes_view(&request->project->files[i]->path), CONTROLLER))
            return cs_bytes_view(&request->project->files[i]->content);
    return cs_view_bytes(NULL, 0);
}

/* The comment that a controller begins with, if it does. */
static void take_first_line(cs_view code, cs_trajectory_line *line) {
    if (code.len < 3 || memcmp(code.ptr, "//", 2) != 0) return;
    code = cs_view_bytes(code.ptr + 2, code.len - 2);
    if (code.ptr[0] == ' ') code = cs_view_bytes(code.ptr + 1, code.len - 1);
    const uint8_t *newline = code.len > 0 ? memchr(code.ptr, '\n', code.len) : NULL;
    if (newline != NULL) code.len = (size_t)(newline - code.ptr);
    line->first_line_len = cs_markup_keep(line->first_line, sizeof line->first_line, code);
}

static bool begin_line(cs_view record, const cs_run_request *request, cs_trajectory_line *line) {
    size_t ticks = record.len / (CS_TRAJECTORY_VARIABLES * sizeof(uint64_t));
    cs_view code = controller_of(request);
    *line = (cs_trajectory_line){.ticks = ticks, .end = (double)ticks / CS_TRAJECTORY_TICKS_PER_SECOND};
    line->angle_count = thin(record, ticks, ANGLE, line->angle);
    line->position_count = thin(record, ticks, POSITION, line->position);
    find_fall(record, ticks, line);
    find_holes(record, ticks, line);
    take_first_line(code, line);
    return cs_sha256_once(record, &line->record) && (code.len == 0 || cs_sha256_once(code, &line->controller));
}

/* Another run with the same bits: what is said of the first one's controller need not be so of this one's. */
static bool join_line(const cs_run_request *request, cs_trajectory_line *line) {
    cs_view code = controller_of(request);
    cs_digest controller = {.hex = ""};
    if (code.len > 0 && !cs_sha256_once(code, &controller)) return false;
    if (strcmp(controller.hex, line->controller.hex) != 0) line->mixed = true;
    return true;
}

/* A record that stands in two inputs is one run, at least among those that are named. */
static void name_run(cs_trajectory_line *line, const cs_page_entry *entry, size_t input, uint64_t anchor) {
    const cs_run_record *record = cs_page_entry_record(entry);
    cs_view digest = cs_bytes_view(&record->record_sha256);
    for (size_t i = 0; i < line->run_count && i < CS_CARTPOLE_RUNS; i++)
        if (cs_view_equal(cs_digest_view(&line->runs[i].record), digest)) return;
    if (line->run_count < CS_CARTPOLE_RUNS) {
        run_of_line *run = &line->runs[line->run_count];
        *run = (run_of_line){.anchor = anchor, .number = entry->entry->number, .input = input};
        (void)cs_markup_keep((uint8_t *)run->record.hex, CS_SHA256_HEX, digest);
        run->provider_len = cs_markup_keep(run->provider, sizeof run->provider, cs_bytes_view(&record->provider));
    }
    line->run_count++;
}

cs_result cs_cartpole_see(cs_cartpole *cartpole, const cs_page_entry *entry, size_t input, uint64_t anchor,
                          cs_error *err) {
    if (entry->entry->finding || entry->request == NULL || entry->response == NULL ||
        cs_page_entry_record(entry) == NULL)
        return CS_OK;
    cs_view record = cs_trajectory_record(entry->response);
    cs_digest digest;
    if (record.len == 0) return CS_OK;
    if (!cs_sha256_once(record, &digest)) return cs_fail(err, CS_CODE_NO_MEMORY, "a digest could not be computed");
    if (cartpole->lines == NULL) cartpole->lines = calloc(CS_CHART_LINES, sizeof *cartpole->lines);
    if (cartpole->lines == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the trajectories");
    size_t at = 0;
    while (at < cartpole->count && strcmp(cartpole->lines[at].record.hex, digest.hex) != 0)
        at++;
    if (at == CS_CHART_LINES) {
        cartpole->left_out++;
        return CS_OK;
    }
    cs_trajectory_line *line = &cartpole->lines[at];
    if (!(at == cartpole->count ? begin_line(record, entry->request, line) : join_line(entry->request, line)))
        return cs_fail(err, CS_CODE_NO_MEMORY, "a digest could not be computed");
    if (at == cartpole->count) cartpole->count++;
    name_run(line, entry, input, anchor);
    return CS_OK;
}

/* ---- the charts ----------------------------------------------------------------------------------------- */

typedef struct extent {
    double low, high;
} extent;

static void widen(extent *of, double value) {
    of->low = fmin(of->low, value);
    of->high = fmax(of->high, value);
}

/* With some room around, and never empty. */
static extent roomy(extent of, double least) {
    double room = fmax((of.high - of.low) * 0.06, least);
    return (extent){of.low - room, of.high + room};
}

/* A pole that has fallen goes round and round: its angle is of no interest beyond the horizontal. */
static extent angle_extent(const cs_cartpole *cartpole) {
    extent out = {0, 0};
    for (size_t i = 0; i < cartpole->count; i++)
        for (size_t j = 0; j < cartpole->lines[i].angle_count; j++)
            widen(&out, fmax(-FALLEN_DEGREES, fmin(FALLEN_DEGREES, cartpole->lines[i].angle[j].value)));
    return roomy(out, 0.5);
}

/* A cart that runs away would flatten the others: the view is that of the poles that stay up, three times as high; when
 * none does, that of the time before the falls. */
static extent position_extent(const cs_cartpole *cartpole) {
    extent up = {0, 0};
    extent before = {0, 0};
    bool any = false;
    bool fell = false;
    for (size_t i = 0; i < cartpole->count; i++) {
        const cs_trajectory_line *line = &cartpole->lines[i];
        any = any || !line->fell;
        fell = fell || line->fell;
        for (size_t j = 0; j < line->position_count; j++) {
            if (!line->fell) widen(&up, line->position[j].value);
            if (!line->fell || line->position[j].at <= line->fall.at) widen(&before, line->position[j].value);
        }
    }
    if (!any || !fell) return roomy(before, 0.01);
    double room = fmax(up.high - up.low, 0.05);
    up.low = fmax(up.low - room, fmin(before.low, up.low));
    up.high = fmin(up.high + room, fmax(before.high, up.high));
    return roomy(up, 0.01);
}

static double longest(const cs_cartpole *cartpole) {
    double end = 0.01;
    for (size_t i = 0; i < cartpole->count; i++)
        end = fmax(end, cartpole->lines[i].end);
    return end;
}

static void describe(const cs_cartpole *cartpole, char *text, size_t size) {
    int at = snprintf(text, size, "%zu different %s over %.2f s.", cartpole->count,
                      cs_plural(cartpole->count, "trajectory", "trajectories"), longest(cartpole));
    for (size_t i = 0; i < cartpole->count && at > 0 && (size_t)at < size; i++) {
        const cs_trajectory_line *line = &cartpole->lines[i];
        int more = line->fell ? snprintf(text + at, size - (size_t)at, " In line %zu the pole falls at %.2f s.", i + 1,
                                         line->fall.at)
                              : snprintf(text + at, size - (size_t)at, " In line %zu %s.", i + 1,
                                         line->unknown ? "some angles are no numbers" : "it stays up");
        at = more < 0 ? more : at + more;
    }
}

static void put_chart(cs_markup *out, const cs_cartpole *cartpole, bool angle) {
    char text[600];
    describe(cartpole, text, sizeof text);
    extent up = angle ? angle_extent(cartpole) : position_extent(cartpole);
    cs_chart chart = {
        .number = angle ? 1 : 2,
        .title = angle ? "Angle of the pole over time" : "Position of the cart over time",
        .description = text,
        .across = "time (s)",
        .up = angle ? "angle from upright (\xc2\xb0)" : "position (m)",
        .end = longest(cartpole),
        .low = up.low,
        .high = up.high,
        .step = angle && up.high - up.low > 60 ? 30 : 0,
        .count = cartpole->count,
    };
    for (size_t i = 0; i < cartpole->count; i++) {
        const cs_trajectory_line *line = &cartpole->lines[i];
        chart.lines[i] = (cs_chart_line){.points = angle ? line->angle : line->position,
                                         .count = angle ? line->angle_count : line->position_count,
                                         .marked = line->fell && (angle || !isnan(line->fall_x.value)),
                                         .mark = angle ? line->fall : line->fall_x};
    }
    cs_markup_printf(out, "<figure><figcaption>%s</figcaption>", chart.title);
    cs_chart_markup(out, &chart);
    cs_markup_raw(out, "</figure>");
}

static void put_outcome(cs_markup *out, const cs_trajectory_line *line) {
    if (line->fell)
        cs_markup_printf(out, "<b>the pole falls at %.2f s</b> (marked with a cross)", line->fall.at);
    else if (line->unknown)
        cs_markup_raw(out, "<b>whether the pole stays up is not known</b>");
    else
        cs_markup_raw(out, "<b>the pole stays up</b>");
    if (line->holes > 0)
        cs_markup_printf(out,
                         " <span class=\"cut\">(in %zu of %zu %s angle or position is no number, and not drawn)</span>",
                         line->holes, line->ticks, cs_plural(line->ticks, "tick", "ticks"));
}

static void put_controller(cs_markup *out, const cs_trajectory_line *line) {
    if (line->mixed) {
        cs_markup_raw(out, ", <b>of different controllers</b>");
        return;
    }
    if (line->controller.hex[0] != '\0')
        cs_markup_printf(out, ", controller <span class=\"d\">%.12s</span>", line->controller.hex);
    if (line->first_line_len == 0) return;
    cs_markup_raw(out, ", which says of itself: <q class=\"said\"><bdi dir=\"ltr\">");
    cs_markup_data(out, cs_view_bytes(line->first_line, line->first_line_len), false);
    cs_markup_raw(out, "</bdi></q>");
}

static void put_legend(cs_markup *out, const cs_cartpole *cartpole, size_t index, bool several) {
    const cs_trajectory_line *line = &cartpole->lines[index];
    cs_markup_raw(out, "<li>");
    cs_chart_swatch(out, index);
    cs_markup_printf(out, " Line %zu: ", index + 1);
    put_outcome(out, line);
    put_controller(out, line);
    cs_markup_printf(out, "<br/><span class=\"size\">%s these bits (<span class=\"d\">%.12s</span>):",
                     line->run_count > 1 ? "runs with" : "run with", line->record.hex);
    for (size_t i = 0; i < line->run_count && i < CS_CARTPOLE_RUNS; i++) {
        const run_of_line *run = &line->runs[i];
        bool there = !cartpole->cut || run->anchor <= cartpole->places;
        cs_markup_raw(out, i > 0 ? ", " : " ");
        if (there) cs_markup_printf(out, "<a href=\"#entry-%" PRIu64 "\">", run->anchor);
        cs_markup_printf(out, "entry %" PRIu64, run->number);
        if (several) cs_markup_printf(out, " of input %zu", run->input);
        cs_markup_printf(out, "%s (", there ? "</a>" : "");
        cs_markup_short(out, cs_view_bytes(run->provider, run->provider_len), PROVIDER_BYTES);
        cs_markup_raw(out, ")");
    }
    if (line->run_count > CS_CARTPOLE_RUNS)
        cs_markup_printf(out, " and %" PRIu64 " more", line->run_count - (uint64_t)CS_CARTPOLE_RUNS);
    cs_markup_raw(out, "</span></li>");
}

void cs_cartpole_markup(cs_markup *out, const cs_cartpole *cartpole, bool several) {
    if (cartpole->count == 0) return;
    cs_markup_raw(
        out, "<section id=\"cartpole\"><h2>Cart-pole: what the controllers did</h2>"
             "<p class=\"note\">Drawn from the artifacts <code>record.bin</code> of the runs below. Values outside "
             "of a chart are cut off.</p><div class=\"charts\">");
    put_chart(out, cartpole, true);
    put_chart(out, cartpole, false);
    cs_markup_raw(out, "</div><ul class=\"legend\">");
    for (size_t i = 0; i < cartpole->count; i++)
        put_legend(out, cartpole, i, several);
    cs_markup_raw(out, "</ul>");
    if (cartpole->left_out > 0)
        cs_markup_printf(
            out, "<p class=\"cut\">%" PRIu64 " %s not drawn.</p>", cartpole->left_out,
            cs_plural(cartpole->left_out, "run with another trajectory is", "runs with other trajectories are"));
    cs_markup_raw(out, "</section>\n");
}
