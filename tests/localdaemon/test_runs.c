/* Runs on every provider: results, limits, time-outs, artifacts, and what is left afterwards: nothing. */
#include "tests/localdaemon/wire_call.h"

#include "records/check.h"
#include "records/protojson.h"
#include "records/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static test_daemon host;
/* Of what is to end by its time-out: enough for a step or two to begin. */
static int time_out_ms;

#define STEPS_IN(protocol)                                                                                             \
    "{\"protocol\":" protocol ",\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"\"}],\"steps\":"
#define STEPS STEPS_IN("3")

static void check_javascript(void) {
    json_t *answer = wire_run(&host, "{\"protocol\":3,\"javascript\":{\"code\":\"console.log(1+1);console.error("
                                     "require('path').sep);process.exit(3)\"}}");
    cr_assert_str_eq(json_bytes_at(answer, "javascript/stdout"), "2\n");
    cr_assert_str_eq(json_bytes_at(answer, "javascript/stderr"), "/\n");
    cr_assert_str_eq(json_at(answer, "javascript/exitCode"), "3");
    cr_assert_str_eq(json_at(answer, "javascript/timedOut"), "");
    json_decref(answer);
    answer = wire_run(&host, "{\"protocol\":3,\"timeoutMs\":%d,\"javascript\":{\"code\":\"for(;;);\"}}", time_out_ms);
    cr_assert_str_eq(json_at(answer, "javascript/timedOut"), "true");
    cr_assert_str_eq(json_at(answer, "javascript/exitCode"), "137");
    json_decref(answer);
}

static void check_project(void) {
    json_t *answer = wire_run(
        &host, "{\"protocol\":3,\"project\":{\"files\":[{\"path\":\"a/b/"
               "c.txt\",\"content\":\"one\"},{\"path\":\"a/d\",\"content\":\"\"}],"
               "\"steps\":[\"cat a/b/c.txt; cd a && printf '%%s\\\\n' *\",\"printf 'a\\\\0b' > a/out; echo late "
               ">&2\",\"read x; echo got=$x; kill -9 $$\"],"
               "\"artifacts\":[\"a/out\",\"a/b/c.txt\",\"missing\"]}}");
    cr_assert_str_eq(json_bytes_at(answer, "project/steps/0/stdout"), "oneb\nd\n");
    cr_assert_str_eq(json_at(answer, "project/steps/0/exitCode"), "");
    cr_assert_str_eq(json_bytes_at(answer, "project/steps/1/stderr"), "late\n");
    cr_assert_str_eq(json_bytes_at(answer, "project/steps/2/stdout"), "got=\n", "stdin is empty");
    cr_assert_str_eq(json_at(answer, "project/steps/2/exitCode"), "137", "128 + SIGKILL");
    cr_assert_str_eq(json_at(answer, "project/outcome"), "PROJECT_OUTCOME_COMPLETED");
    cr_assert_str_eq(json_at(answer, "project/artifacts/0/path"), "a/out");
    cr_assert_str_eq(json_at(answer, "project/artifacts/0/content"), "YQBi");
    cr_assert_str_eq(json_at(answer, "project/artifacts/1/content"), "b25l");
    cr_assert_str_eq(json_at(answer, "project/artifacts/2/path"), "");
    cr_assert_str_eq(json_at(answer, "project/outcomeDetail"), "artifact not collected: missing: no such regular file");
    json_decref(answer);
}

static void check_failing_step(void) {
    json_t *answer = wire_run(&host, STEPS "[\"true\",\"exit 7\",\"echo never\"]}}");
    cr_assert_str_eq(json_at(answer, "project/outcome"), "PROJECT_OUTCOME_COMPLETED");
    cr_assert_str_eq(json_at(answer, "project/steps/1/exitCode"), "7");
    cr_assert_str_eq(json_at(answer, "project/steps/2/command"), "", "the step after it is not run");
    cr_assert_str_eq(json_at(answer, "project/outcomeDetail"),
                     "step 2 of 3 ended with exit code 7; the steps after it were not run");
    json_decref(answer);
    answer = wire_run(&host, "{\"protocol\":3,\"project\":{\"files\":[{\"path\":\"a\",\"content\":\"\"},{\"path\":\"a/"
                             "b\",\"content\":\"\"}],"
                             "\"steps\":[\"echo never\"]}}");
    cr_assert_str_eq(json_at(answer, "project/outcome"), "PROJECT_OUTCOME_SETUP_FAILED");
    cr_assert_str_eq(json_at(answer, "project/steps/0/command"), "");
    cr_assert_str_eq(json_at(answer, "project/outcomeDetail"), "file can't be made: a/b: Not a directory");
    json_decref(answer);
}

static void check_time_out(void) {
    json_t *answer =
        wire_run(&host,
                 "{\"protocol\":3,\"timeoutMs\":%d,\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"\"}],"
                 "\"steps\":[\"echo first\",\"echo begun; sleep 1000\",\"true\"],\"artifacts\":[\"f\"]}}",
                 time_out_ms);
    cr_assert_str_eq(json_at(answer, "project/outcome"), "PROJECT_OUTCOME_TIMED_OUT");
    cr_assert_str_eq(json_at(answer, "project/outcomeDetail"), "step 2 of 3 did not end in time");
    cr_assert_str_eq(json_at(answer, "project/steps/0/timedOut"), "");
    cr_assert_str_eq(json_at(answer, "project/steps/1/timedOut"), "true");
    cr_assert_str_eq(json_at(answer, "project/steps/1/exitCode"), "137");
    cr_assert_str_eq(json_bytes_at(answer, "project/steps/1/stdout"), "begun\n");
    cr_assert_str_eq(json_at(answer, "project/artifacts/0/path"), "f");
    json_decref(answer);
}

/* 256 KiB of each stream is kept; a program that writes more is not held up. */
static void check_truncation(void) {
    json_t *answer = wire_run(
        &host, STEPS "[\"head -c 262144 /dev/zero\",\"head -c 262145 /dev/zero; head -c 3000000 /dev/zero >&2\"]}}");
    cr_assert_str_eq(json_at(answer, "project/steps/0/stdoutTruncated"), "");
    cr_assert_eq(strlen(json_at(answer, "project/steps/0/stdout")), 349528, "262144 bytes in base64");
    cr_assert_str_eq(json_at(answer, "project/steps/1/stdoutTruncated"), "true");
    cr_assert_eq(strlen(json_at(answer, "project/steps/1/stdout")), 349528);
    cr_assert_str_eq(json_at(answer, "project/steps/1/stderrTruncated"), "true");
    cr_assert_eq(strlen(json_at(answer, "project/steps/1/stderr")), 349528);
    cr_assert_str_eq(json_at(answer, "project/steps/1/exitCode"), "");
    json_decref(answer);
}

/* Only regular files inside the work folder, 8 MiB together. */
static void check_artifacts(void) {
    json_t *answer = wire_run(
        &host, "{\"protocol\":3,\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"x\"}],"
               "\"steps\":[\"ln -s f link; ln -s /usr dir; mkfifo fifo; mkdir sub; head -c 8388607 /dev/zero > big\"],"
               "\"artifacts\":[\"link\",\"dir/bin/env\",\"fifo\",\"sub\",\"big\",\"f\"]}}");
    cr_assert_str_eq(json_at(answer, "project/artifacts/0/path"), "big");
    cr_assert_str_eq(json_at(answer, "project/artifacts/1/path"), "f", "exactly 8 MiB fit");
    cr_assert_str_eq(json_at(answer, "project/artifactsTruncated"), "");
    cr_assert_str_eq(
        json_at(answer, "project/outcomeDetail"),
        "artifact not collected: link: no such regular file; artifact not collected: dir/bin/env: no such regular "
        "file; "
        "artifact not collected: fifo: no such regular file; artifact not collected: sub: no such regular file");
    json_decref(answer);
    answer = wire_run(&host, "{\"protocol\":3,\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"xx\"},{\"path\":"
                             "\"g\",\"content\":\"y\"}],"
                             "\"steps\":[\"head -c 8388607 /dev/zero > big\"],\"artifacts\":[\"big\",\"f\",\"g\"]}}");
    cr_assert_str_eq(json_at(answer, "project/artifacts/0/path"), "big");
    cr_assert_str_eq(json_at(answer, "project/artifacts/1/path"), "g", "f is left out whole");
    cr_assert_str_eq(json_at(answer, "project/artifactsTruncated"), "true");
    cr_assert_str_eq(json_at(answer, "project/outcomeDetail"), "artifact not collected: f: too large");
    json_decref(answer);
}

/* How many processes have `word` as an argument? */
static int count_processes(const char *word) {
    int count = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *entry = readdir(proc); entry != NULL; entry = readdir(proc)) {
        char path[300], line[4096];
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t got = fd >= 0 ? read(fd, line, sizeof line - 1) : 0;
        if (fd >= 0) close(fd);
        for (ssize_t i = 0; i < got; i++)
            if ((i == 0 || line[i - 1] == '\0') && strcmp(line + i, word) == 0 && (line[got] = '\0', true)) count++;
    }
    closedir(proc);
    return count;
}

/* How many work folders hold the mark of this test? Other daemons may have runs of their own. */
static int count_marks(void) {
    char pattern[96];
    glob_t found;
    snprintf(pattern, sizeof pattern, "/tmp/localdaemon*/*/work/mark-%d", (int)getpid());
    int count = glob(pattern, 0, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
    globfree(&found);
    return count;
}

/* Seconds for which no process of another test sleeps. */
static const char *nap(const char *fraction) {
    static char word[32];
    snprintf(word, sizeof word, "98765%d.%s", (int)getpid(), fraction);
    return word;
}

static void check_leftovers(void) {
    /* Control: such a process is found while it runs. */
    const char *word = nap("5");
    pid_t pid = fork();
    if (pid == 0) {
        execlp("sleep", "sleep", word, (char *)NULL);
        _exit(1);
    }
    for (int i = 0; i < 1000 && count_processes(word) == 0; i++)
        usleep(2000);
    cr_assert_eq(count_processes(word), 1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);

    /* Out of its group and session, twice forked, deaf to signals, with the streams held open. */
    json_t *answer = wire_run(
        &host,
        STEPS "[\"setsid sleep 98765%d.25 & (setsid sh -c 'trap \\\"\\\" TERM HUP INT; sleep 98765%d.25; true' &) ; "
              "touch mark-%d; echo left\","
              "\"mkdir -p d/e && chmod 0 d/e d; i=0; mkdir x; cd x; while [ $i -lt 120 ]; do mkdir "
              "longer-name-longer-name-longer-name; cd longer-name-longer-name-longer-name; i=$((i+1)); done; echo "
              "deep\"]}}",
        (int)getpid(), (int)getpid(), (int)getpid());
    cr_assert_str_eq(json_bytes_at(answer, "project/steps/0/stdout"), "left\n");
    cr_assert_str_eq(json_bytes_at(answer, "project/steps/1/stdout"), "deep\n");
    json_decref(answer);
    cr_assert_eq(count_processes(nap("25")), 0);
    cr_assert_eq(count_marks(), 0);
    answer = wire_run(&host,
                      "{\"protocol\":3,\"timeoutMs\":%d,\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"\"}],"
                      "\"steps\":[\"touch mark-%d; setsid sleep 98765%d.125 & sleep 98765%d.125\"]}}",
                      time_out_ms, (int)getpid(), (int)getpid(), (int)getpid());
    cr_assert_str_eq(json_at(answer, "project/outcome"), "PROJECT_OUTCOME_TIMED_OUT");
    json_decref(answer);
    cr_assert_eq(count_processes(nap("125")), 0);
    cr_assert_eq(count_marks(), 0);
}

/* What a program finds: a clean environment, the same on both providers, and no descriptor of the daemon's. */
static void check_surroundings(void) {
    json_t *answer = wire_run(
        &host, "{\"protocol\":3,\"javascript\":{\"code\":\"console.log(Object.keys(process.env).sort().join());"
               "const fs=require('fs');const open=[];for(let i=3;i<256;i++)try{const s=fs.fstatSync(i);"
               "if(s.isFile()||s.isSocket())open.push(i)}catch{};console.log(open.join());"
               "console.log(process.cwd()===process.env.HOME, process.cwd()===process.env.PWD)\"}}");
    cr_assert_str_eq(json_bytes_at(answer, "javascript/stdout"), "HOME,LANG,PATH,PWD,TMPDIR\n\ntrue true\n", "%s",
                     json_bytes_at(answer, "javascript/stderr"));
    json_decref(answer);
    answer =
        wire_run(&host, STEPS
                 "[\"echo $PATH $LANG; echo x > $TMPDIR/t && echo stays\",\"cat $TMPDIR/t; yes | head -1; umask\"]}}");
    cr_assert_str_eq(json_bytes_at(answer, "project/steps/0/stdout"), "/usr/local/bin:/usr/bin:/bin C.UTF-8\nstays\n");
    cr_assert_str_eq(json_bytes_at(answer, "project/steps/1/stdout"), "x\ny\n0022\n");
    json_decref(answer);
}

/* The daemon's statements agree with each other, by the checks that a harness makes. */
static void check_record(const char *provider, const char *body) {
    wire_end end, said;
    wire_json(&host, DESCRIBE, "{}", &said);
    wire_json(&host, RUN, body, &end);
    cr_assert_eq(end.status, 200);
    cs_error err = CS_ERROR_INIT;
    ProtobufCMessage *request = NULL, *response = NULL, *description = NULL;
    cr_assert_eq(cs_protojson_read(&plimsoll__v1__run_request__descriptor, cs_view_of(body), &request, &err), CS_OK);
    cr_assert_eq(
        cs_protojson_read(&plimsoll__v1__run_response__descriptor, cs_view_bytes(end.body, end.len), &response, &err),
        CS_OK);
    cr_assert_eq(cs_protojson_read(&plimsoll__v1__describe_response__descriptor, cs_view_bytes(said.body, said.len),
                                   &description, &err),
                 CS_OK);
    CS_AUTO_BUF bytes = CS_BUF_INIT(1u << 20);
    cr_assert_eq(cs_message_encode(response, &bytes, &err), CS_OK);
    cs_sha256 *hash = cs_sha256_new();
    cs_call call = {.request = (cs_run_request *)request,
                    .response = (cs_run_response *)response,
                    .response_bytes = cs_buf_view(&bytes),
                    .before = (cs_describe_response *)description,
                    .after = (cs_describe_response *)description};
    cs_checked_run checked;
    cr_assert_eq(cs_check_run(&call, hash, &checked, &err), CS_OK, "%s", err.message);
    cr_assert_str_eq(json_at(end.json, "sandbox"), provider);
    cr_assert_str_eq(json_at(end.json, "record/isolation"), provider);
    cr_assert_str_eq(json_at(end.json, "record/policy"), json_at(said.json, "policy"));
    cr_assert_leq(strtoll(json_at(end.json, "record/startedUnixMs"), NULL, 10),
                  strtoll(json_at(end.json, "record/endedUnixMs"), NULL, 10));
    /* The twin: one byte of the output, and the record no longer fits. */
    ((cs_run_response *)response)->project->steps[0]->stdout.data[0] ^= 1;
    cr_assert_eq(cs_check_run(&(cs_call){.request = call.request, .response = call.response}, hash, &checked, &err),
                 CS_FAILED);
    cr_assert_eq(err.code, CS_CODE_RESULT_DIGEST);
    cs_sha256_free(hash);
    cs_message_free(request);
    cs_message_free(response);
    cs_message_free(description);
    wire_free(&end);
    wire_free(&said);
}

/* The example's workload: Node, WebAssembly, and a controller as a process of its own. The fingerprint is the
 * published one. */
static void check_cartpole(void) {
    char path[1024];
    const char *build = getenv("COUNTERSIGN_BUILD");
    snprintf(path, sizeof path, "%s/cartpole/accepted.json", build != NULL ? build : "build");
    json_t *request = json_load_file(path, 0, NULL);
    cr_assert_not_null(request, "%s is missing; make cartpole", path);
    json_object_set_new(request, "protocol", json_integer(3));
    char *body = json_dumps(request, JSON_COMPACT);
    json_t *answer = wire_run(&host, "%s", body);
    static const char expected[] =
        "{\"fingerprint\":\"63cfd676924a3896127d60c97333677f3b3c804dd764dba001121f6c234a937f\",\"ticks\":2000,";
    cr_assert_eq(strncmp(json_bytes_at(answer, "project/steps/0/stdout"), expected, sizeof expected - 1), 0, "%s",
                 json_bytes_at(answer, "project/steps/0/stderr"));
    json_decref(answer);
    json_decref(request);
    free(body);
}

static void check_all(const char *provider, int within_ms) {
    time_out_ms = within_ms;
    daemon_start(&host, provider, NULL);
    check_javascript();
    check_project();
    check_failing_step();
    check_time_out();
    check_truncation();
    check_artifacts();
    check_leftovers();
    check_surroundings();
    check_record(provider, STEPS "[\"echo hi\"]}}");
    check_cartpole();
    cr_assert_eq(daemon_stop(&host), 0);
}

/* Every single run has a sandbox of its own, and from protocol 4 on its record names it. */
static void check_protocol_4(const char *provider) {
    const char *const more[] = {"--protocol", "4", NULL};
    daemon_start(&host, provider, more);
    check_record(provider, STEPS_IN("4") "[\"echo hi\"]}}");
    json_t *one = wire_run(&host, STEPS_IN("4") "[\"true\"]}}");
    json_t *two = wire_run(&host, STEPS_IN("4") "[\"true\"]}}");
    char name[80];
    snprintf(name, sizeof name, "%s", json_at(one, "instance"));
    cr_assert_eq(strncmp(name, "localdaemon-sandbox:", 20), 0, "%s", name);
    cr_assert(cs_is_hex(cs_view_of(name + 20), 32), "%s", name);
    cr_assert_str_eq(json_at(one, "record/instance"), name);
    cr_assert_str_eq(json_at(one, "record/version"), "4");
    cr_assert_str_neq(json_at(two, "instance"), name);
    json_decref(one);
    json_decref(two);
    cr_assert_eq(daemon_stop(&host), 0);
}

Test(localdaemon_runs, protocol_4_process, .timeout = 60) {
    check_protocol_4("process");
}

Test(localdaemon_runs, protocol_4_container, .timeout = 60) {
    check_protocol_4("container");
}

Test(localdaemon_runs, process, .timeout = 100) {
    check_all("process", 1500);
}

Test(localdaemon_runs, container, .timeout = 100) {
    check_all("container", 1500);
}

/* Left out, by its name, of CI's pass with sanitizers (bootstrap.sh, UNSANITIZED). */
Test(localdaemon_runs, kernel, .timeout = 300) {
    check_all("kernel", 5000);
}
