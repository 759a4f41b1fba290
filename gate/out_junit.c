/* JUnit XML, as CI systems show it. */
#include "gate/out_internal.h"

/* XML 1.0 forbids most control characters and two more numbers, in whatever form: what is forbidden, and what is not
 * UTF-8, becomes U+FFFD. Line breaks and tabs would be made spaces in an attribute, so they are written by number. */
static bool add_character(cs_buf *out, cs_view bytes, uint32_t number) {
    switch (number) {
    case '&':
        return cs_buf_text(out, "&amp;");
    case '<':
        return cs_buf_text(out, "&lt;");
    case '>':
        return cs_buf_text(out, "&gt;");
    case '"':
        return cs_buf_text(out, "&quot;");
    case '\'':
        return cs_buf_text(out, "&apos;");
    case '\t':
    case '\n':
    case '\r':
        return cs_buf_printf(out, "&#%u;", (unsigned)number);
    case 0xfffd:
    case 0xfffe:
    case 0xffff:
        return cs_buf_text(out, "\xef\xbf\xbd");
    default:
        if (number < 0x20) return cs_buf_text(out, "\xef\xbf\xbd");
        return cs_buf_append(out, bytes.ptr, bytes.len);
    }
}

static bool add_text(cs_buf *out, const char *text) {
    cs_view rest = cs_view_of(text);
    while (rest.len > 0) {
        uint32_t number = 0;
        size_t len = cs_gate_out_character(rest, &number);
        if (!add_character(out, cs_view_bytes(rest.ptr, len), number)) return false;
        rest = cs_view_bytes(rest.ptr + len, rest.len - len);
    }
    return true;
}

static bool add_attribute(cs_buf *out, const char *name, const char *text) {
    return cs_buf_printf(out, " %s=\"", name) && add_text(out, text) && cs_buf_byte(out, '"');
}

/* What was found and wanted, one line each. */
static bool add_lines(cs_buf *out, const cs_gate_item *item) {
    return cs_buf_text(out, "found: ") && add_text(out, item->found) && cs_buf_text(out, "\nwanted: ") &&
           add_text(out, item->wanted) && (item->where[0] == '\0' || cs_buf_text(out, "\nwhere: ")) &&
           add_text(out, item->where);
}

static bool add_case(cs_buf *out, const cs_gate_item *item) {
    if (!cs_buf_text(out, "    <testcase") || !add_attribute(out, "classname", item->requirement) ||
        !add_attribute(out, "name", item->rule) || !add_attribute(out, "time", "0"))
        return false;
    if (item->state == CS_GATE_PASSED)
        return cs_buf_text(out, ">\n      <system-out>") && add_lines(out, item) &&
               cs_buf_text(out, "</system-out>\n    </testcase>\n");
    bool refused = item->state == CS_GATE_REFUSED;
    const char *element = refused ? "failure" : "error";
    return cs_buf_printf(out, ">\n      <%s", element) && add_attribute(out, "message", item->found) &&
           add_attribute(out, "type", refused ? cs_code_name(item->code) : "undecided") && cs_buf_byte(out, '>') &&
           add_lines(out, item) && cs_buf_printf(out, "</%s>\n    </testcase>\n", element);
}

/* How many rules of this section there are. */
static cs_gate_counts count_of(const cs_gate_report *report, size_t section) {
    cs_gate_counts counts = {.rules = 0};
    cs_gate_item item;
    for (size_t at = 0; cs_gate_item_next(report, &at, &item);) {
        if (item.section != section) continue;
        counts.rules++;
        if (item.state == CS_GATE_REFUSED) counts.refused++;
        if (item.state == CS_GATE_UNDECIDED) counts.undecided++;
    }
    return counts;
}

static bool begin_suite(const cs_gate_report *report, const cs_gate_item *item, cs_buf *out) {
    cs_gate_counts counts = count_of(report, item->section);
    return cs_buf_text(out, "  <testsuite") && add_attribute(out, "name", item->requirement) &&
           cs_buf_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\" time=\"0\">\n",
                         counts.rules, counts.refused, counts.undecided);
}

bool cs_gate_out_junit(const cs_gate_report *report, cs_buf *out) {
    cs_gate_counts counts = cs_gate_out_count(report);
    if (!cs_buf_printf(out,
                       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"countersign gate\" "
                       "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"0\">\n",
                       counts.rules, counts.refused, counts.undecided))
        return false;
    cs_gate_item item;
    size_t section = 0;
    bool first = true;
    for (size_t at = 0; cs_gate_item_next(report, &at, &item); first = false) {
        if (!first && item.section != section && !cs_buf_text(out, "  </testsuite>\n")) return false;
        if ((first || item.section != section) && !begin_suite(report, &item, out)) return false;
        section = item.section;
        if (!add_case(out, &item)) return false;
    }
    return (first || cs_buf_text(out, "  </testsuite>\n")) && cs_buf_text(out, "</testsuites>\n");
}
