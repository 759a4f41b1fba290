#include "tests/report/page_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/canon.h"
#include "tests/support/exec.h"
#include "tests/support/folder.h"
#include "tests/support/program.h"

#define NOW_MS 1700000000000
#define PARSER "tests/report/parse.py"

static cs_trust no_keys;

void page_case_begin(page_case *c, bool verified) {
    *c = (page_case){.page = cs_page_new(verified ? &no_keys : NULL)};
    cr_assert_not_null(c->page);
    cs_page_input_begin(c->page, cs_view_of("ledger.db"));
}

static void add(page_case *c, const cs_page_entry *entry) {
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_page_entry_add(c->page, entry, &err), CS_OK, "%s", err.message);
}

void page_case_add(page_case *c, const cs_run_request *request, const cs_run_response *response) {
    cs_entry entry = {.number = ++c->number};
    cs_statement statement = {.kind = CS_STATEMENT_RECORD, .record = response->record};
    add(c, &(cs_page_entry){.entry = &entry,
                            .standing = CS_STANDING_VERIFIED,
                            .statement = &statement,
                            .request = request,
                            .response = response});
}

void page_case_add_finding(page_case *c, const char *code, const cs_run_request *request,
                           const cs_run_response *response) {
    cs_ledger_row row = {.added_unix_ms = NOW_MS,
                         .daemon = cs_view_of("http://127.0.0.1:8746"),
                         .code = cs_view_of(code),
                         .detail = cs_view_of("the detail of the finding")};
    cs_entry entry = {.number = ++c->number, .finding = true, .row = &row};
    add(c,
        &(cs_page_entry){.entry = &entry, .standing = CS_STANDING_UNSIGNED, .request = request, .response = response});
}

void page_case_write(page_case *c) {
    cs_verify_summary summary = {.kind = CS_SOURCE_LEDGER, .entries = c->number, .runs = c->number};
    cs_buf html = CS_BUF_INIT(CS_PAGE_MAX + 1);
    cs_error err = CS_ERROR_INIT;
    cs_error verdict = {.code = CS_CODE_OK};
    cs_page_input_end(c->page, &(cs_page_outcome){.result = CS_OK,
                                                  .err = &verdict,
                                                  .summary = &summary,
                                                  .opened = true,
                                                  .kind = CS_SOURCE_LEDGER,
                                                  .entries = c->number + c->verdicts,
                                                  .verdicts = c->verdicts});
    cr_assert_eq(cs_page_write(c->page, CS_OK, &verdict, NOW_MS, "1.2.3", &html, &err), CS_OK, "%s", err.message);
    c->len = html.len;
    cr_assert(cs_buf_byte(&html, '\0'));
    c->html = (char *)html.ptr;
}

void page_case_expect_good(page_case *c) {
    page_case_write(c);
    int exit = page_case_parse(c->html, c->len, c->said, sizeof c->said);
    cr_expect_eq(exit, 0, "%d: %s", exit, c->said);
}

void page_case_end(page_case *c) {
    free(c->html);
    cs_page_free(c->page);
}

int page_case_parse(const void *html, size_t len, char *said, size_t size) {
    char folder[128];
    char path[160];
    cr_assert_eq(access(PARSER, R_OK), 0, "start the tests in the root of the repository");
    folder_make(folder);
    (void)snprintf(path, sizeof path, "%s/page.html", folder);
    file_write(path, html, len);
    int exit = program_run((const char *const[]){"python3", "-B", PARSER, path, NULL}, said, size);
    folder_remove(folder);
    return exit;
}

/* ---- projects ------------------------------------------------------------------------------------------ */

static void *new_message(const ProtobufCMessageDescriptor *type) {
    void *message = malloc(type->sizeof_message);
    cr_assert_not_null(message);
    protobuf_c_message_init(type, message);
    return message;
}

void page_case_make_project(sample *s, const char *step, const char *output) {
    cs_message_free(s->request->javascript);
    cs_message_free(s->response->javascript);
    Plimsoll__V1__ProjectRun *asked = new_message(&plimsoll__v1__project_run__descriptor);
    Plimsoll__V1__ProjectResult *given = new_message(&plimsoll__v1__project_result__descriptor);
    Plimsoll__V1__StepResult *done = new_message(&plimsoll__v1__step_result__descriptor);
    s->request->payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
    s->request->project = asked;
    s->response->result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT;
    s->response->project = given;
    asked->steps = calloc(1, sizeof *asked->steps);
    asked->n_steps = 1;
    canon_set(&asked->steps[0], step);
    canon_set(&done->command, step);
    canon_set(&done->stdout, output);
    given->outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED;
    given->steps = calloc(1, sizeof(void *));
    given->n_steps = 1;
    given->steps[0] = done;
    sample_seal(s, SEAL_ALL);
}

void page_case_add_file(sample *s, const char *path, const char *content) {
    Plimsoll__V1__ProjectRun *asked = s->request->project;
    cs_project_file **all = realloc(asked->files, (asked->n_files + 1) * sizeof(void *));
    cr_assert_not_null(all);
    asked->files = all;
    cs_project_file *made = new_message(&plimsoll__v1__project_file__descriptor);
    canon_set(&made->path, path);
    canon_set(&made->content, content);
    asked->files[asked->n_files++] = made;
    sample_seal(s, SEAL_ALL);
}

void page_case_add_artifact(sample *s, const char *path, const void *bytes, size_t len) {
    Plimsoll__V1__ProjectResult *given = s->response->project;
    Plimsoll__V1__Artifact **all = realloc(given->artifacts, (given->n_artifacts + 1) * sizeof(void *));
    cr_assert_not_null(all);
    given->artifacts = all;
    Plimsoll__V1__Artifact *made = new_message(&plimsoll__v1__artifact__descriptor);
    canon_set(&made->path, path);
    cr_assert(cs_bytes_set(&made->content, cs_view_bytes(bytes, len)));
    given->artifacts[given->n_artifacts++] = made;
    sample_seal(s, SEAL_ALL);
}
