/* Memory runs out in what a reviewer asks for, log and diff: all of the answer, or none of it. */
#include <criterion/criterion.h>
#include <git2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diff_detail.h"
#include "cli/log_list.h"
#include "cli/log_print.h"
#include "tests/alloc/failing.h"
#include "tests/support/folder.h"
#include "tests/support/forge.h"

typedef struct scene {
    char folder[128];
    char bundle[160]; /* two runs, a session with its close, and a run that is not what was signed */
    cs_trust trust;
} scene;

static void scene_init(scene *c) {
    *c = (scene){.trust = {.count = 1}};
    failing_folder(c->folder);
    (void)snprintf(c->bundle, sizeof c->bundle, "%s/in.jsonl", c->folder);
    forge_key key = forge_key_from(1);
    cs_trusted_key *to = &c->trust.keys[0];
    *to = (cs_trusted_key){.not_before_ms = INT64_MIN, .not_after_ms = INT64_MAX};
    memcpy(to->key.bytes, key.public_key, sizeof to->key.bytes);
    memcpy(to->key.id, key.id, sizeof to->key.id);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    run.output = "one\ntwo\n";
    run.code = "a\xc2\xad";
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    run.output = "one\nthree\n";
    run.code = "\x01\x02";
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    forge_session(&bundle, &key, FORGE_SESSION, 1, NULL);
    run.output = "not what was signed";
    forge_add(&bundle, forge_run_line(&key, &run));
    forge_bytes file = forge_file(&bundle);
    file_write(c->bundle, file.ptr, file.len);
    cr_assert_geq(git_libgit2_init(), 1); /* its beginning is not what is under test */
}

static void scene_end(scene *c) {
    (void)git_libgit2_shutdown();
    folder_remove(c->folder);
}

/* ---- diff --------------------------------------------------------------------------------------- */

typedef struct telling {
    json_t *list;
    size_t lines_left;
    bool lost;
} telling;

static void on_difference(void *user, cs_diff_part part, const cs_field_pair *pair) {
    telling *t = user;
    cs_diff_detail detail;
    if (t->lost) return;
    t->lost = !cs_diff_detail_make(pair, &t->lines_left, &detail) ||
              json_array_append_new(t->list, cs_json_of_diff_detail(part, &detail)) != 0;
    cs_diff_detail_free(&detail);
}

static cs_result read_side(const scene *c, unsigned number, cs_side *side, cs_error *err) {
    char name[200];
    (void)snprintf(name, sizeof name, "%s:%u", c->bundle, number);
    cs_result result = cs_side_read(name, &c->trust, side, err);
    if (result == CS_OK && side->shown.result != CS_OK) {
        *err = side->shown.err;
        result = side->shown.result;
    }
    return result;
}

static cs_result compare(const scene *c, cs_side *a, cs_side *b, telling *t, cs_error *err) {
    static const bool all[CS_DIFF_PARTS] = {true, true, true, true};
    t->list = json_array();
    t->lines_left = CS_DIFF_TOTAL_LINES;
    cs_result result = read_side(c, 1, a, err);
    if (result == CS_OK) result = read_side(c, 2, b, err);
    if (result == CS_OK) result = cs_diff_walk(a, b, all, on_difference, t, err);
    if (result == CS_OK && t->lost) result = cs_fail(err, CS_CODE_NO_MEMORY, "a difference could not be told");
    return result;
}

/* The code, the output, and three digests of the record: each is told whole. */
static cs_result diff(void *user, cs_error *err) {
    cs_side a = {.path = NULL};
    cs_side b = {.path = NULL};
    telling t = {.list = NULL};
    failing_begin();
    cs_result result = compare(user, &a, &b, &t, err);
    failing_end();
    if (result == CS_OK) {
        cr_assert_eq(json_array_size(t.list), 5);
        const json_t *output = json_array_get(t.list, 1);
        cr_assert_str_eq(json_string_value(json_object_get(output, "part")), "result");
        cr_assert_str_eq(json_string_value(json_object_get(output, "a")), "one\\x0atwo\\x0a");
        cr_assert_eq(json_array_size(json_object_get(output, "lines")), 4);
        cr_assert(json_is_false(json_object_get(output, "lines_cut")));
    }
    json_decref(t.list);
    cs_side_free(&a);
    cs_side_free(&b);
    return result;
}

/* libgit2 loses one of two texts of its own, the prefixes "a/" and "b/": git_diff_buffers (1.5.1) copies both before it
 * looks whether it got them, and answers -1 without the other when it did not. A program of nothing but that call, with
 * its first or second allocation failing, shows the same; there is nothing that a caller could free. */
Test(alloc_review, diff) {
    scene c;
    scene_init(&c);
    failing_forgive("a/");
    failing_forgive("b/");
    failing_walk(diff, &c, FAILING_UNCHECKED);
    scene_end(&c);
}

/* ---- log ---------------------------------------------------------------------------------------- */

static cs_result add_line(cs_log_list *list, const cs_entry *entry, const cs_trust *trust, cs_error *err) {
    cs_shown shown;
    cs_log_line line;
    cs_show_decode(entry, trust, &shown);
    cs_result result = CS_OK;
    if (shown.result == CS_UNCHECKED) {
        *err = shown.err;
        result = shown.result;
    } else if (!cs_log_line_make(&shown, &line) || !cs_log_list_add(list, &line)) {
        result = cs_fail(err, CS_CODE_NO_MEMORY, "a line is lost");
    }
    cs_shown_free(&shown);
    return result;
}

static cs_result list_all(const scene *c, cs_log_list *list, cs_error *err) {
    cs_source *source = NULL;
    cs_result result = cs_source_open(c->bundle, &source, err);
    bool more = result == CS_OK;
    while (more) {
        cs_entry entry = {.number = 0};
        result = cs_source_next(source, &entry, &more, err);
        if (result == CS_OK && more) result = add_line(list, &entry, &c->trust, err);
        more = more && result == CS_OK;
    }
    cs_source_close(source);
    return result;
}

/* What is wrong with the last entry is never lost. */
static cs_result list(void *user, cs_error *err) {
    scene *c = user;
    char *inputs[] = {c->bundle};
    cs_log_list list = {.limit = 4};
    json_t *lines = NULL;
    failing_begin();
    cs_result result = list_all(c, &list, err);
    cs_log_list_sort(&list);
    if (result == CS_OK) lines = cs_json_of_log(&list, inputs);
    if (result == CS_OK && lines == NULL) result = cs_fail(err, CS_CODE_NO_MEMORY, "there is no list");
    failing_end();
    if (result == CS_OK) {
        cr_assert_eq(json_array_size(lines), 4);
        cr_assert_eq(list.left_out, 1);
        size_t wrong = 0;
        for (size_t i = 0; i < 4; i++) {
            const json_t *error = json_object_get(json_array_get(lines, i), "error");
            if (error == NULL) continue;
            wrong++;
            cr_assert_str_eq(json_string_value(json_object_get(error, "code")), "result-digest");
        }
        cr_assert_eq(wrong, 1);
    }
    json_decref(lines);
    cs_log_list_free(&list);
    return result;
}

Test(alloc_review, log) {
    scene c;
    scene_init(&c);
    failing_walk(list, &c, FAILING_UNCHECKED);
    scene_end(&c);
}
