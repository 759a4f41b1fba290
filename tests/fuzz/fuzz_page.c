/* What a page makes of somebody else's bytes: text in a well-formed document, and nothing else. The first byte chooses
 * whether lines stay (bit 0), and whether the rest is bytes or the document of a gate (bit 1). */
#include <expat.h>
#include <string.h>

#include "report/verdict.h"
#include "tests/fuzz/fuzz.h"

/* What the parser sees. */
typedef struct watch {
    bool lines;
    bool bytes; /* then there is but one kind of element */
} watch;

static void on_element(void *user, const XML_Char *name, const XML_Char **attributes) {
    static const char *const known[] = {"p",  "span", "bdi",   "section", "h2",    "h3",    "div", "strong", "b", "tr",
                                        "th", "td",   "table", "a",       "thead", "tbody", "dl",  "dt",     "dd"};
    static const char *const named[] = {"class", "dir", "id", "scope", "data-label"};
    const watch *w = user;
    bool found = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        found = found || strcmp(name, known[i]) == 0;
    MUST(found && (!w->bytes || strcmp(name, "span") == 0 || strcmp(name, "p") == 0));
    for (; *attributes != NULL; attributes += 2) {
        found = false;
        for (size_t i = 0; i < sizeof named / sizeof *named; i++)
            found = found || strcmp(*attributes, named[i]) == 0;
        MUST(found);
    }
}

static void on_text(void *user, const XML_Char *text, int len) {
    const watch *w = user;
    MUST(fuzz_printable(cs_view_bytes(text, (size_t)len), w->lines || !w->bytes));
}

static void parse(watch *w, cs_view markup) {
    XML_Parser parser = XML_ParserCreate("UTF-8");
    MUST(parser != NULL);
    XML_SetUserData(parser, w);
    XML_SetElementHandler(parser, on_element, NULL);
    XML_SetCharacterDataHandler(parser, on_text);
    MUST(XML_Parse(parser, "<p>", 3, 0) == XML_STATUS_OK);
    MUST(XML_Parse(parser, markup.len > 0 ? (const char *)markup.ptr : "", (int)markup.len, 0) == XML_STATUS_OK);
    MUST(XML_Parse(parser, "</p>", 4, 1) == XML_STATUS_OK);
    XML_ParserFree(parser);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    watch w = {.lines = (data[0] & 1) != 0, .bytes = (data[0] & 2) == 0};
    cs_view bytes = cs_view_bytes(data + 1, size - 1);
    cs_error err = CS_ERROR_INIT;
    cs_markup out;
    cs_markup_begin(&out, (size_t)64 << 20);
    if (w.bytes) {
        cs_markup_data(&out, bytes, w.lines);
    } else {
        cs_result result = cs_verdict_markup(&out, bytes, &err);
        if (result != CS_OK) fuzz_refusal(result, &err);
        MUST((result == CS_OK) == (out.buf.len > 0));
    }
    MUST(!out.full);
    parse(&w, cs_buf_view(&out.buf));
    cs_markup_free(&out);
    return 0;
}
