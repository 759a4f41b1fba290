#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/show_print.h"
#include "cli/trust.h"
#include "records/text.h"

/* The list of a hostile input has no bound of its own; text is printed as it comes. */
#define MAX_ENTRIES_IN_DOCUMENT 10000u

/* The command while it walks. */
typedef struct showing {
    cs_output *out;
    const cs_trust *trust; /* NULL: decode only */
    uint64_t wanted;       /* 0: list all */
    uint64_t seen;         /* entries read */
    bool found;
    bool timeless; /* of some entry the window of its key could not be judged */
    json_t *list;
    uint64_t left_out;
} showing;

/* One entry decides the verdict only when it is the worst so far. */
static cs_result judge(showing *show, const cs_shown *shown, cs_result worst) {
    cs_result now = cs_worse(shown->result, worst);
    if (now == worst) return worst;
    show->out->err = shown->err;
    cs_error_where(&show->out->err, "entry %" PRIu64, shown->entry->number);
    show->out->has_entry = true;
    show->out->entry = shown->entry->number;
    return now;
}

static void add_to_document(showing *show, const cs_shown *shown, bool full) {
    if (!full && json_array_size(show->list) >= MAX_ENTRIES_IN_DOCUMENT) {
        show->left_out++;
        return;
    }
    json_t *object = cs_json_of_shown(shown, full);
    if (full)
        cs_member(show->out, "shown", object);
    else if (json_array_append_new(show->list, object) != 0)
        show->out->lost = true;
}

static cs_result show_entry(showing *show, const cs_entry *entry, cs_result worst) {
    bool full = show->wanted != 0;
    cs_shown shown;
    cs_show_decode(entry, show->trust, &shown);
    show->out->has_entry = full;
    show->out->entry = entry->number;
    if (show->out->json)
        add_to_document(show, &shown, full);
    else if (full)
        cs_show_full(show->out, &shown);
    else
        cs_show_line(show->out, &shown);
    show->timeless = show->timeless || shown.timeless;
    worst = judge(show, &shown, worst);
    cs_shown_free(&shown);
    return worst;
}

/* What the source could not read has a place in the list, too. */
static void add_unreadable(showing *show, uint64_t number, cs_result result, const cs_error *err) {
    if (!show->out->json || show->wanted != 0 || number == 0) return;
    if (json_array_size(show->list) >= MAX_ENTRIES_IN_DOCUMENT) {
        show->left_out++;
        return;
    }
    const char *verification = show->trust == NULL ? "not-checked" : result == CS_FAILED ? "failed" : "could-not-check";
    json_t *object = json_pack("{s:I, s:s, s:s, s:o}", "number", (json_int_t)number, "kind", "unreadable",
                               "verification", verification, "error", cs_json_of_error(err));
    if (json_array_append_new(show->list, object) != 0) show->out->lost = true;
}

/* An entry that the source itself could not read. */
static cs_result skip_entry(showing *show, uint64_t number, cs_result result, const cs_error *err, cs_result worst) {
    if (show->wanted == number) show->found = true;
    if (show->wanted != 0 && show->wanted != number) return worst;
    cs_say(show->out, "%-6" PRIu64 " %s [%s]\n", number, err->message, cs_code_name(err->code));
    add_unreadable(show, number, result, err);
    cs_result now = cs_worse(result, worst);
    if (now != worst) {
        show->out->err = *err;
        show->out->has_entry = number != 0;
        show->out->entry = number;
    }
    return now;
}

static cs_result walk(showing *show, cs_source *source) {
    cs_result worst = CS_OK;
    for (;;) {
        cs_entry entry = {.number = 0};
        bool more = false;
        cs_error err = CS_ERROR_INIT;
        cs_result result = cs_source_next(source, &entry, &more, &err);
        if (result == CS_OK && !more) return worst;
        show->seen++;
        if (result != CS_OK) {
            /* What can't go on is told also to someone who wanted another entry. */
            if (!more || result != CS_FAILED) show->wanted = entry.number;
            worst = skip_entry(show, entry.number, result, &err, worst);
            if (!more || result != CS_FAILED) return worst;
        } else if (show->wanted == 0 || entry.number == show->wanted) {
            show->found = true;
            worst = show_entry(show, &entry, worst);
            if (show->wanted != 0) return worst;
        }
    }
}

static cs_result show_opened(showing *show, cs_source *source) {
    cs_output *out = show->out;
    bool list = show->wanted == 0;
    cs_member_text(out, "kind", cs_source_what(source) == CS_SOURCE_LEDGER ? "ledger" : "bundle");
    if (show->trust == NULL) cs_member_text(out, "note", "signature not checked here");
    if (list) {
        cs_say(out, "%s\n",
               show->trust == NULL ? "signature not checked here: name the public key that you trust with -p"
                                   : "each entry is verified by itself; order and completeness are the matter of "
                                     "`verify`");
        cs_show_head(out);
        show->list = out->json ? json_array() : NULL;
    }
    cs_result result = walk(show, source);
    if (list) {
        cs_member(out, "entries", show->list);
        cs_member_number(out, "entries_left_out", show->left_out);
        if (show->seen == 0) return cs_fail(&out->err, CS_CODE_NOTHING_TO_CHECK, "there is no entry to show");
    } else if (!show->found && result == CS_OK) {
        return cs_fail(&out->err, CS_CODE_ENTRY_UNKNOWN, "there is no entry %" PRIu64 "; %" PRIu64 " %s read",
                       show->wanted, show->seen, cs_plural(show->seen, "was", "were"));
    }
    return result;
}

static cs_result read_entry_number(const char *text, uint64_t *out, cs_error *err) {
    uint64_t value = 0;
    if (!cs_decimal_read(cs_view_of(text), INT64_MAX, &value) || value < 1)
        return cs_fail(err, CS_CODE_USAGE, "ENTRY is a number from 1, in digits alone, not '%.40s'", text);
    *out = value;
    return CS_OK;
}

static const char *what_was_done(const showing *show) {
    if (show->trust == NULL) return "what was shown is decoded; signature not checked here";
    if (show->timeless)
        return "what was shown is verified, each entry by itself, but for the window of a key where an entry has no "
               "time of its own: that is the matter of `verify`";
    return "what was shown is verified, each entry by itself";
}

static cs_result show_input(cs_output *out, const cs_trust_options *trusted, const char *input, const char *entry) {
    cs_trust trust = {.count = 0};
    showing show = {.out = out};
    cs_result result = entry != NULL ? read_entry_number(entry, &show.wanted, &out->err) : CS_OK;
    if (result == CS_OK && cs_trust_named(trusted)) {
        result = cs_trust_collect(trusted, &trust, &out->err);
        show.trust = &trust;
    }
    cs_source *source = NULL;
    if (result == CS_OK) result = cs_source_open(input, &source, &out->err);
    if (result == CS_OK) result = show_opened(&show, source);
    cs_source_close(source);
    if (result == CS_OK)
        snprintf(out->err.message, sizeof out->err.message, "%s", what_was_done(&show));
    else if (result != CS_USAGE)
        cs_error_in_file(&out->err, input);
    return result;
}

int cs_cmd_show(int argc, char **argv) {
    cs_trust_options trusted = {.keys = {.count = 0}};
    const cs_option options[] = {
        cs_trust_key_option(&trusted),
        cs_trust_file_option(&trusted),
    };
    const cs_usage usage = {
        .command = "show",
        .arguments = "[-p PUB...] [--trust FILE...] [--json] INPUT [ENTRY]",
        .about =
            "List the entries of a ledger or bundle, or show one in full. Without a trusted key nothing is verified,\n"
            "and the output says so. Bytes that could steer a terminal are escaped. A run names no commit: whether "
            "its\n"
            "files are those of one is seen with `log --commit REV --repo DIR`.",
        .options = options,
        .option_count = 2,
        .min_arguments = 1,
        .max_arguments = 2,
        .exits = "  0  shown (and verified, with a trusted key)\n"
                 "  1  an entry can't be decoded, or failed verification\n"
                 "  2  the command line is wrong\n"
                 "  5  the input or a key could not be read\n"
                 "  6  there is no such entry, or none at all\n",
        .example = "  countersign show ledger.db\n  countersign show -p harness.pub ledger.db 3\n",
    };
    cs_output out;
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO)
        result = show_input(&out, &trusted, argv[first], argc - first > 1 ? argv[first + 1] : NULL);
    return cs_output_end(&out, result);
}
