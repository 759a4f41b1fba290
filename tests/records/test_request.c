/* Every limit at its edge: what just fits passes, and one more is refused with the field's path. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/request.h"
#include "tests/support/expect.h"

/* Requests that pass. Tests change one thing in them. */
static cs_run_request request;
static Plimsoll__V1__JavaScriptRun javascript;
static Plimsoll__V1__ProjectRun project;
static Plimsoll__V1__ModuleRun module;
static Plimsoll__V1__CellRun cell;
static cs_project_file file_a, file_b;
static cs_project_file *files[2];
static ProtobufCBinaryData steps[1], artifacts[1];
static Plimsoll__V1__ModuleRow row_a, row_b;
static Plimsoll__V1__ModuleRow *rows[2];
static double values_a[CS_MAX_MODULE_WIDTH + 1], values_b[CS_MAX_MODULE_WIDTH + 1];

static void make(void) {
    request = (cs_run_request)PLIMSOLL__V1__RUN_REQUEST__INIT;
    javascript = (Plimsoll__V1__JavaScriptRun)PLIMSOLL__V1__JAVA_SCRIPT_RUN__INIT;
    javascript.code = borrow("1");
    file_a = (cs_project_file)PLIMSOLL__V1__PROJECT_FILE__INIT;
    file_b = (cs_project_file)PLIMSOLL__V1__PROJECT_FILE__INIT;
    file_a.path = borrow("a.js");
    file_b.path = borrow("b/b.js");
    files[0] = &file_a;
    files[1] = &file_b;
    steps[0] = borrow("node a.js");
    artifacts[0] = borrow("out.txt");
    project = (Plimsoll__V1__ProjectRun)PLIMSOLL__V1__PROJECT_RUN__INIT;
    project.files = files;
    project.n_files = 2;
    project.steps = steps;
    project.n_steps = 1;
    project.artifacts = artifacts;
    project.n_artifacts = 1;
    row_a = row_b = (Plimsoll__V1__ModuleRow)PLIMSOLL__V1__MODULE_ROW__INIT;
    row_a.values = values_a;
    row_b.values = values_b;
    row_a.n_values = row_b.n_values = 2;
    rows[0] = &row_a;
    rows[1] = &row_b;
    module = (Plimsoll__V1__ModuleRun)PLIMSOLL__V1__MODULE_RUN__INIT;
    module.model = borrow("VanDerPol");
    module.rows = rows;
    module.n_rows = 2;
    module.end_time = 1;
    module.step = 0.5;
    cell = (Plimsoll__V1__CellRun)PLIMSOLL__V1__CELL_RUN__INIT;
    cell.language = borrow("python");
    cell.code = borrow("1");
    cell.files = files;
    cell.n_files = 2;
    request.protocol = 3;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    request.javascript = &javascript;
}

static void use_project(void) {
    make();
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
    request.project = &project;
}

static void use_module(void) {
    make();
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE;
    request.module = &module;
}

static void use_cell(void) {
    make();
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL;
    request.cell = &cell;
}

static void passes(void) {
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_request_validate(&request, false, &err), err);
    EXPECT_OK(cs_request_validate(&request, true, &err), err);
}

static void refused(const char *where) {
    cs_error err = CS_ERROR_INIT;
    EXPECT_CODE(cs_request_validate(&request, false, &err), err, CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    EXPECT_WHERE(err, where);
    cr_assert_neq(err.message[0], '\0');
    EXPECT_CODE(cs_request_validate(&request, true, &err), err, CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    EXPECT_WHERE(err, where);
    cr_assert_eq(cs_request_validate(&request, true, NULL), CS_NOT_RUN);
}

/* A field of `len` times one character; the memory is freed at the end of the process's one test. */
static char *long_text;

static ProtobufCBinaryData repeated(char c, size_t len) {
    free(long_text);
    long_text = malloc(len + 1);
    cr_assert_not_null(long_text);
    memset(long_text, c, len);
    long_text[len] = '\0';
    return borrow_bytes(long_text, len);
}

static void forget(void) {
    free(long_text);
    long_text = NULL;
}

TestSuite(records_request, .init = make, .fini = forget);

Test(records_request, the_four_that_the_tests_change_pass) {
    passes();
    use_project();
    passes();
    use_module();
    passes();
    use_cell();
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_request_validate(&request, true, &err), err);
}

Test(records_request, floor) {
    const char *const floors[] = {"", "process", "container", "kernel", "vm"};
    for (size_t i = 0; i < 5; i++) {
        request.minimum_isolation = borrow(floors[i]);
        passes();
    }
    request.minimum_isolation = borrow("VM");
    refused("minimum_isolation");
    request.minimum_isolation = borrow("none");
    refused("minimum_isolation");
}

Test(records_request, trace_id) {
    request.trace_id = borrow("Az09._:-");
    passes();
    request.trace_id = repeated('t', 64);
    passes();
    request.trace_id = repeated('t', 65);
    refused("trace_id");
    request.trace_id = borrow("a b");
    refused("trace_id");
    request.trace_id = borrow("a/b");
    refused("trace_id");
    request.trace_id = borrow_bytes("a\0b", 3);
    refused("trace_id");
    request.trace_id = borrow("\xc3\xa4");
    refused("trace_id");
}

Test(records_request, timeout) {
    request.timeout_ms = 300000;
    passes();
    request.timeout_ms = 300001;
    refused("timeout_ms");
    request.timeout_ms = 0;
    passes();
    request.timeout_ms = -1;
    refused("timeout_ms");
    request.timeout_ms = INT32_MIN;
    refused("timeout_ms");
}

Test(records_request, no_payload) {
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD__NOT_SET;
    refused("payload");
}

Test(records_request, a_cell_is_only_stored) {
    use_cell();
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_request_validate(&request, true, &err), err);
    EXPECT_CODE(cs_request_validate(&request, false, &err), err, CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    EXPECT_WHERE(err, "cell");
    cell.code = borrow("");
    EXPECT_CODE(cs_request_validate(&request, true, &err), err, CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    EXPECT_WHERE(err, "cell.code");
    cell.code = borrow("1");
    cell.language = borrow_bytes("py\0", 3);
    EXPECT_CODE(cs_request_validate(&request, true, &err), err, CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    EXPECT_WHERE(err, "cell.language");
    cell.language = borrow("python");
    file_b.path = borrow("a.js");
    EXPECT_CODE(cs_request_validate(&request, true, &err), err, CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    EXPECT_WHERE(err, "cell.files[1].path");
}

Test(records_request, code) {
    javascript.code = repeated('x', 262144);
    passes();
    javascript.code = repeated('x', 262145);
    refused("javascript.code");
    javascript.code = borrow("");
    refused("javascript.code");
    javascript.code = borrow_bytes("a\0b", 3);
    refused("javascript.code");
    javascript.code = borrow("\xff");
    refused("javascript.code");
    javascript.code = borrow("\xc3\xa4\n\x1b");
    passes();
}

Test(records_request, grant_profile) {
    javascript.grant_profile = repeated('g', 256);
    passes();
    javascript.grant_profile = repeated('g', 257);
    refused("javascript.grant_profile");
    javascript.grant_profile = borrow("!~");
    passes();
    javascript.grant_profile = borrow("a b");
    refused("javascript.grant_profile");
    javascript.grant_profile = borrow("\x7f");
    refused("javascript.grant_profile");
    use_project();
    project.grant_profile = borrow("\xc3\xa4");
    refused("project.grant_profile");
    project.grant_profile = borrow_bytes("a\0", 2);
    refused("project.grant_profile");
}

typedef struct path_case {
    const char *path;
    bool valid;
} path_case;

static const path_case path_cases[] = {
    {"a", true},        {"", false},         {"a/b", true},       {"/a", false},      {"a/", false},    {"a//b", false},
    {".", false},       {"./a", false},      {"a/.", false},      {"a/./b", false},   {"..", false},    {"../a", false},
    {"a/..", false},    {"a/../b", false},   {"...", true},       {".a", true},       {"..a", true},    {"a..", true},
    {"a\\b", false},    {"a\nb", false},     {"a\tb", false},     {"a\x7f", false},   {"a\x1f", false}, {"a b", true},
    {"\xc3\xa4", true}, {"\xc2\x80", false}, {"\xc2\x9f", false}, {"\xc2\xa0", true}, {"\xff", false},  {"C:", true},
    {"~", true},        {"-rf", true},
};

Test(records_request, paths) {
    use_project();
    for (size_t i = 0; i < sizeof path_cases / sizeof path_cases[0]; i++) {
        cr_assert_eq(cs_path_valid(cs_view_of(path_cases[i].path)), path_cases[i].valid, "%s", path_cases[i].path);
        file_b.path = borrow(path_cases[i].path);
        if (path_cases[i].valid) passes();
        if (!path_cases[i].valid) refused("project.files[1].path");
        file_b.path = borrow("other");
        artifacts[0] = borrow(path_cases[i].path);
        if (path_cases[i].valid) passes();
        if (!path_cases[i].valid) refused("project.artifacts[0]");
        artifacts[0] = borrow("out.txt");
    }
    file_b.path = repeated('p', 1024);
    passes();
    file_b.path = repeated('p', 1025);
    refused("project.files[1].path");
    file_b.path = borrow_bytes("a\0b", 3);
    refused("project.files[1].path");
    cr_assert_not(cs_path_valid(cs_view_bytes(NULL, 0)));
}

Test(records_request, no_two_files_have_one_path) {
    use_project();
    file_b.path = borrow("a.jt");
    passes();
    file_b.path = borrow("a.js");
    refused("project.files[1].path");
}

Test(records_request, contents) {
    use_project();
    file_a.content = borrow_bytes("a\0b", 3);
    passes();
    file_b.content = repeated('c', 4194304 - 3);
    passes();
    file_b.content = repeated('c', 4194304 - 2);
    refused("project.files[1].content");
    file_b.content = borrow("\xc0\x80");
    refused("project.files[1].content");
}

Test(records_request, number_of_files) {
    use_project();
    static cs_project_file many[CS_MAX_FILES + 1];
    static cs_project_file *pointers[CS_MAX_FILES + 1];
    static char names[CS_MAX_FILES + 1][16];
    for (size_t i = 0; i <= CS_MAX_FILES; i++) {
        snprintf(names[i], sizeof names[i], "f%zu", i);
        many[i] = (cs_project_file)PLIMSOLL__V1__PROJECT_FILE__INIT;
        many[i].path = borrow(names[i]);
        pointers[i] = &many[i];
    }
    project.files = pointers;
    project.n_files = 200;
    passes();
    project.n_files = 201;
    refused("project.files");
    project.n_files = 0;
    passes();
    project.n_files = 200;
    many[199].path = borrow("f0");
    refused("project.files[199].path");
}

Test(records_request, steps) {
    use_project();
    ProtobufCBinaryData many[CS_MAX_STEPS + 1];
    for (size_t i = 0; i <= CS_MAX_STEPS; i++)
        many[i] = borrow("true");
    project.steps = many;
    project.n_steps = 20;
    passes();
    project.n_steps = 21;
    refused("project.steps");
    project.n_steps = 0;
    refused("project.steps");
    project.n_steps = 20;
    many[19] = repeated('s', 16384);
    passes();
    many[19] = repeated('s', 16385);
    refused("project.steps[19]");
    many[19] = borrow_bytes("a\0b", 3);
    refused("project.steps[19]");
    many[19] = borrow("\xff");
    refused("project.steps[19]");
}

Test(records_request, number_of_artifacts) {
    use_project();
    ProtobufCBinaryData many[CS_MAX_ARTIFACTS + 1];
    for (size_t i = 0; i <= CS_MAX_ARTIFACTS; i++)
        many[i] = borrow("out");
    project.artifacts = many;
    project.n_artifacts = 100;
    passes();
    project.n_artifacts = 101;
    refused("project.artifacts");
    project.n_artifacts = 0;
    passes();
}

Test(records_request, model) {
    use_module();
    module.model = repeated('m', 64);
    passes();
    module.model = repeated('m', 65);
    refused("module.model");
    module.model = borrow("9A.b_c-");
    passes();
    const char *const bad[] = {"", ".a", "_a", "-a", "a/b", "a b", "a:b", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        module.model = borrow(bad[i]);
        refused("module.model");
    }
    module.model = borrow_bytes("a\0", 2);
    refused("module.model");
}

Test(records_request, width_of_rows) {
    use_module();
    row_a.n_values = row_b.n_values = 64;
    passes();
    row_a.n_values = row_b.n_values = 65;
    refused("module.rows[0].values");
    row_a.n_values = row_b.n_values = 1;
    passes();
    row_a.n_values = row_b.n_values = 0;
    refused("module.rows[0].values");
    row_a.n_values = 2;
    row_b.n_values = 3;
    refused("module.rows[1].values");
}

Test(records_request, values_are_finite) {
    use_module();
    values_b[1] = 1.7976931348623157e308;
    passes();
    values_b[1] = -0.0;
    passes();
    values_b[1] = INFINITY;
    refused("module.rows[1].values[1]");
    values_b[1] = -INFINITY;
    refused("module.rows[1].values[1]");
    values_b[1] = NAN;
    refused("module.rows[1].values[1]");
    values_b[1] = 0;
}

Test(records_request, number_of_rows) {
    use_module();
    Plimsoll__V1__ModuleRow **many = malloc((CS_MAX_MODULE_ROWS + 1) * sizeof *many);
    cr_assert_not_null(many);
    for (size_t i = 0; i <= CS_MAX_MODULE_ROWS; i++)
        many[i] = &row_a;
    module.rows = many;
    module.n_rows = 100000;
    passes();
    module.n_rows = 100001;
    refused("module.rows");
    module.n_rows = 0;
    refused("module.rows");
    free(many);
}

Test(records_request, end_time_and_step) {
    use_module();
    const double bad[] = {0.0, -0.0, -1.0, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        module.end_time = bad[i];
        module.step = 0.5;
        refused("module.end_time");
        module.end_time = 1;
        module.step = bad[i];
        refused("module.step");
    }
    module.end_time = 1000000;
    module.step = 1;
    passes();
    module.end_time = 1000001;
    refused("module.step");
    /* A ratio that overflows is too large, not infinitely small. */
    module.end_time = 1.7976931348623157e308;
    module.step = 4.9406564584124654e-324;
    refused("module.step");
    /* A step longer than the whole is odd but within the limits. */
    module.end_time = 1;
    module.step = 2;
    passes();
}
