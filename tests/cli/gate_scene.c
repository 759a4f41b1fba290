#include "tests/cli/gate_scene.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/gate/repository.h"
#include "tests/support/program.h"

#define RUNNER                                                                                                         \
    "failed=0\n"                                                                                                       \
    "{\n"                                                                                                              \
    "    echo '<testsuites><testsuite name=\"cases\">'\n"                                                              \
    "    for file in test/case-*.sh; do\n"                                                                             \
    "        code=0\n"                                                                                                 \
    "        sh \"$file\" > /dev/null 2>&1 || code=$?\n"                                                               \
    "        echo \"<testcase name=\\\"$file\\\">\"\n"                                                                 \
    "        if [ $code -eq 77 ]; then echo '<skipped/>'\n"                                                            \
    "        elif [ $code -ne 0 ]; then echo '<failure/>'; failed=1; fi\n"                                             \
    "        echo '</testcase>'\n"                                                                                     \
    "    done\n"                                                                                                       \
    "    echo '</testsuite></testsuites>'\n"                                                                           \
    "} > junit.xml\n"                                                                                                  \
    "exit $failed\n"

/* ---- the repository ------------------------------------------------------------------------------------------- */

static void write_file(const gate_scene *s, const char *path, const char *content) {
    repository_write(s->repo, path, content, strlen(content));
}

void gate_scene_commit(gate_scene *s, const char *from, const gate_edit *edits, size_t count, char id[41]) {
    repository_git(s->repo, "checkout", "-q", from);
    for (size_t i = 0; i < count; i++) {
        if (edits[i].content != NULL)
            write_file(s, edits[i].path, edits[i].content);
        else
            repository_git(s->repo, "rm", "-q", edits[i].path);
    }
    repository_commit(s->repo, id);
}

static void make_repository(gate_scene *s) {
    repository_make(s->repo);
    json_t *document = gate_scene_policy(s);
    char *policy = json_dumps(document, JSON_INDENT(1));
    json_decref(document);
    write_file(s, ".gate/policy.json", policy);
    write_file(s, "src/answer.sh", "answer=41\n");
    write_file(s, "test/run.sh", RUNNER);
    write_file(s, "test/case-answer.sh", ". src/answer.sh\n[ \"$answer\" -gt 40 ]\n");
    write_file(s, "test/case-sum.sh", "[ $((1 + 1)) -eq 2 ]\n");
    write_file(s, "README.md", "read me\n");
    repository_commit(s->repo, s->base);
    GATE_COMMIT(s, "main", s->rev, {"src/answer.sh", "answer=42\n"},
                {"test/case-more.sh", ". src/answer.sh\n[ \"$answer\" -eq 42 ]\n"});
    repository_git(s->repo, "checkout", "-q", s->base);
    repository_git(s->repo, "branch", "-f", "main", s->base);
    free(policy);
}

/* ---- the policy ------------------------------------------------------------------------------------------------- */

json_t *gate_scene_policy(const gate_scene *s) {
    size_t len = 0;
    char *key = file_read(forge_text("%s/k.pub", s->c.folder), &len);
    cr_assert_not_null(key);
    json_t *policy = json_pack(
        "{s:i, s:[{s:s}], s:[{s:s, s:{s:s, s:s}, s:s, s:[s,s], s:i, s:i, s:[{s:[s,s], s:b}], s:{s:s, s:i, s:b},"
        " s:{s:i, s:i}, s:b}], s:[s]}",
        "version", 1, "keys", "key", key, "requirements", "name", "tests", "records", "kind", "project", "step",
        GATE_STEP, "floor", "process", "allowed_providers", "process", "container", "max_age_seconds", 86400,
        "min_records", 2, "bind", "paths", "src/**", "test/**", "complete", 1, "tests", "artifact", "junit.xml",
        "min_executed", 1, "not_fewer_than_base", 1, "reproduced", "providers", 2, "runs", 2, "cross_check", 1,
        "protect", ".gate/**");
    cr_assert_not_null(policy);
    free(key);
    return policy;
}

json_t *gate_scene_requirement(json_t *policy) {
    return json_array_get(json_object_get(policy, "requirements"), 0);
}

void gate_scene_put(gate_scene *s, const char *name, json_t *policy) {
    char *text = json_dumps(policy, JSON_INDENT(1));
    cr_assert_not_null(text);
    cli_write_text(&s->c, name, text);
    free(text);
    json_decref(policy);
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

static void add_file(json_t *files, const gate_scene *s, const char *rev, const char *path) {
    static char content[65536];
    char *name = forge_text("%s:%s", rev, path);
    cr_assert_eq(program_run((const char *const[]){"git", "-C", s->repo, "show", name, NULL}, content, sizeof content),
                 0);
    json_array_append_new(files, json_pack("{s:s, s:s}", "path", path, "content", content));
}

json_t *gate_scene_request(const gate_scene *s, const char *rev) {
    char names[8192];
    json_t *files = json_array();
    cr_assert_eq(program_run((const char *const[]){"git", "-C", s->repo, "ls-tree", "-r", "--name-only", rev, "src",
                                                   "test", NULL},
                             names, sizeof names),
                 0);
    char *rest = NULL;
    for (char *name = strtok_r(names, "\n", &rest); name != NULL; name = strtok_r(NULL, "\n", &rest))
        add_file(files, s, rev, name);
    json_t *request =
        json_pack("{s:{s:o, s:[s], s:[s]}}", "project", "files", files, "steps", GATE_STEP, "artifacts", "junit.xml");
    cr_assert_not_null(request);
    return request;
}

void gate_scene_edit(json_t *request, const char *path, const char *content) {
    json_t *files = json_object_get(json_object_get(request, "project"), "files");
    size_t i = 0;
    json_t *file = NULL;
    json_array_foreach(files, i, file) {
        if (strcmp(json_string_value(json_object_get(file, "path")), path) != 0) continue;
        if (content != NULL)
            json_object_set_new(file, "content", json_string(content));
        else
            json_array_remove(files, i);
        return;
    }
    cr_assert_not_null(content);
    json_array_append_new(files, json_pack("{s:s, s:s}", "path", path, "content", content));
}

void gate_scene_run(gate_scene *s, json_t *request, const test_daemon *daemon, const char *key, const char *ledger) {
    char *text = json_dumps(request, 0);
    cli_write_text(&s->c, "request.json", text);
    free(text);
    json_decref(request);
    EXPECT_EXIT(&s->c, cli_run(&s->c, ARGS("run", "-d", daemon->url, "-k", key, "-l", ledger, "request.json")), 0);
}

void gate_scene_runs(gate_scene *s, const char *rev, const char *ledger) {
    gate_scene_run(s, gate_scene_request(s, s->base), &s->process, "k.key", ledger);
    gate_scene_run(s, gate_scene_request(s, rev), &s->process, "k.key", ledger);
    gate_scene_run(s, gate_scene_request(s, rev), &s->container, "k.key", ledger);
}

/* ---- the gate --------------------------------------------------------------------------------------------------- */

int gate_scene_judge(gate_scene *s, const char *policy, const char *rev, const char *ledger) {
    return cli_json(&s->c,
                    ARGS("gate", "--policy", policy, "--repo", s->repo, "--rev", rev, "--base", s->base, ledger));
}

static const json_t *find_rule(const gate_scene *s, const char *rule) {
    size_t i = 0;
    size_t k = 0;
    const json_t *section = NULL;
    const json_t *each = NULL;
    json_array_foreach(cli_member(&s->c, "sections"), i, section)
        json_array_foreach(json_object_get(section, "rules"), k,
                           each) if (strcmp(json_string_value(json_object_get(each, "rule")), rule) == 0) return each;
    return NULL;
}

const char *gate_scene_state(const gate_scene *s, const char *rule) {
    const json_t *found = find_rule(s, rule);
    return found != NULL ? json_string_value(json_object_get(found, "state")) : "absent";
}

static void expect_no_other(const gate_scene *s, const char *name, const char *rule) {
    size_t i = 0;
    size_t k = 0;
    const json_t *section = NULL;
    const json_t *each = NULL;
    json_array_foreach(cli_member(&s->c, "sections"), i, section) {
        json_array_foreach(json_object_get(section, "rules"), k, each) {
            const char *word = json_string_value(json_object_get(each, "rule"));
            bool refused = strcmp(json_string_value(json_object_get(each, "state")), "refused") == 0;
            cr_expect(!refused || strcmp(word, rule) == 0, "%s: also %s: %s", name, word,
                      json_string_value(json_object_get(each, "found")));
        }
    }
}

void gate_scene_expect(gate_scene *s, const char *name, const char *policy, const char *rev, const char *ledger,
                       const char *rule, const char *code) {
    int status = gate_scene_judge(s, policy, rev, ledger);
    cr_expect_eq(status, 1, "%s: exit %d: %s", name, status, s->c.end.out);
    expect_no_other(s, name, rule);
    cr_expect_str_eq(gate_scene_state(s, rule), "refused", "%s: %s", name, s->c.end.out);
    const char *is = json_string_value(json_object_get(find_rule(s, rule), "code"));
    cr_expect_str_eq(is != NULL ? is : "", code, "%s", name);
    cr_expect_str_eq(cli_text(&s->c, "code"), code, "%s", name);
    cr_expect_eq(cli_number(&s->c, "refusals"), 1, "%s", name);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static const char *const environment[] = {"PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN, "COUNTERSIGN_KEY", "GITHUB_ACTIONS",
                                          "GITHUB_STEP_SUMMARY", NULL};

void gate_scene_begin(gate_scene *s) {
    memset(s, 0, sizeof *s);
    daemon_start(&s->process, "process", NULL);
    daemon_start(&s->container, "container", NULL);
    cli_begin(&s->c);
    s->c.how.env = environment;
    cli_keys(&s->c);
    make_repository(s);
    gate_scene_put(s, "policy.json", gate_scene_policy(s));
}

void gate_scene_end(gate_scene *s) {
    cr_expect_eq(daemon_stop(&s->process), 0);
    cr_expect_eq(daemon_stop(&s->container), 0);
    folder_remove(s->repo);
    cli_end(&s->c);
}
