/* What a daemon refuses, with which code and mark; each beside a request that differs in one thing and is
 * not refused for it. */
#include "tests/localdaemon/wire_call.h"

#include <string.h>

static test_daemon host;

static void refused(const char *body, long status, const char *code, const char *mark) {
    wire_end end;
    wire_json(&host, RUN, body, &end);
    expect_error(&end, status, code, mark, NULL);
    cr_assert_str_eq(wire_header(&end, "Plimsoll-Request-Id"), REQUEST_ID);
    wire_free(&end);
}

static void accepted(const char *body) {
    json_t *answer = wire_run(&host, "%s", body);
    cr_assert_str_eq(json_at(answer, "record/version"), "2");
    json_decref(answer);
}

#define STEP "\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"\"}],\"steps\":[\"true\"]}"
#define MODULE "\"module\":{\"model\":\"m\",\"rows\":[{\"values\":[1]}],\"endTime\":1,\"step\":1}"

Test(localdaemon_refusals, each_with_its_code_and_mark, .timeout = 60) {
    daemon_start(&host, "process", NULL);
    accepted("{\"protocol\":3," STEP "}");
    refused("{" STEP "}", 400, "invalid_argument", MARK_PROTOCOL);
    refused("{\"protocol\":2," STEP "}", 501, "unimplemented", MARK_PROTOCOL);
    refused("{\"protocol\":4}", 501, "unimplemented", MARK_PROTOCOL);

    refused("{\"protocol\":3}", 400, "invalid_argument", MARK_REQUEST);
    accepted("{\"protocol\":3,\"timeoutMs\":300000," STEP "}");
    refused("{\"protocol\":3,\"timeoutMs\":300001," STEP "}", 400, "invalid_argument", MARK_REQUEST);
    refused("{\"protocol\":3,\"project\":{\"files\":[{\"path\":\"../f\",\"content\":\"\"}],\"steps\":[\"true\"]}}", 400,
            "invalid_argument", MARK_REQUEST);
    accepted("{\"protocol\":3,\"traceId\":\"not a trace id\"," STEP "}");

    refused("{\"protocol\":3,\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"\"}],\"steps\":[\"true\"],"
            "\"grantProfile\":\"net\"}}",
            403, "permission_denied", MARK_PERMISSION);
    refused("{\"protocol\":3,\"javascript\":{\"code\":\"1\",\"grantProfile\":\"net\"}}", 403, "permission_denied",
            MARK_PERMISSION);

    refused("{\"protocol\":3," MODULE "}", 501, "unimplemented", MARK_UNSUPPORTED);
    refused("{\"protocol\":3,\"cell\":{\"language\":\"python\",\"code\":\"1\"}}", 501, "unimplemented",
            MARK_UNSUPPORTED);

    accepted("{\"protocol\":3,\"minimumIsolation\":\"process\"," STEP "}");
    refused("{\"protocol\":3,\"minimumIsolation\":\"container\"," STEP "}", 400, "failed_precondition", MARK_ISOLATION);
    refused("{\"protocol\":3,\"minimumIsolation\":\"cardboard\"," STEP "}", 400, "invalid_argument", MARK_REQUEST);

    accepted("{\"protocol\":3,\"softwareRule\":{}," STEP "}");
    refused("{\"protocol\":3,\"softwareRule\":{\"mode\":\"exact\",\"identities\":[\"a\"]}," STEP "}", 400,
            "failed_precondition", MARK_ENVIRONMENT);
    refused("{\"protocol\":3,\"softwareRule\":{\"mode\":\"exact\"}," STEP "}", 400, "invalid_argument", MARK_REQUEST);
    cr_assert_eq(daemon_stop(&host), 0);
}

/* Protocol and form come before permission, permission before what the daemon can do. */
Test(localdaemon_refusals, order_and_scope, .timeout = 60) {
    daemon_start(&host, "process", NULL);
    const wire_how reader = {.headers = {"Authorization: Bearer " DAEMON_TOKEN_DESCRIBE, "Content-Type: " JSON}};
    static const struct {
        const char *body;
        long status;
        const char *code;
        const char *mark;
    } cases[] = {
        {"{\"protocol\":2,\"minimumIsolation\":\"vm\"}", 501, "unimplemented", MARK_PROTOCOL},
        {"{\"protocol\":3,\"minimumIsolation\":\"vm\"}", 400, "invalid_argument", MARK_REQUEST},
        {"{\"protocol\":3,\"minimumIsolation\":\"vm\"," MODULE "}", 403, "permission_denied", MARK_PERMISSION},
        {"{\"protocol\":3," STEP "}", 403, "permission_denied", MARK_PERMISSION},
    };
    wire_end end;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wire_call(&host, RUN, &reader, cases[i].body, strlen(cases[i].body), &end);
        expect_error(&end, cases[i].status, cases[i].code, cases[i].mark, NULL);
        wire_free(&end);
    }
    /* The last one again, by the client with the scope. */
    accepted("{\"protocol\":3," STEP "}");
    refused("{\"protocol\":3,\"minimumIsolation\":\"vm\"," MODULE "}", 501, "unimplemented", MARK_UNSUPPORTED);

    /* What does not decode was seen by no call: the mark stands in the header. */
    wire_json(&host, RUN, "{\"protocol\":3,\"unknown\":1," STEP "}", &end);
    expect_error(&end, 400, "invalid_argument", NULL, "request");
    wire_free(&end);
    const wire_how binary = {.headers = {"Authorization: Bearer " DAEMON_TOKEN, "Content-Type: " BINARY}};
    wire_call(&host, RUN, &binary, "\x08", 1, &end);
    expect_error(&end, 400, "invalid_argument", NULL, "request");
    wire_free(&end);
    wire_call(&host, RUN, &binary, "\x08\x03\x12\x02\xc3\x28", 6, &end);
    expect_error(&end, 400, "invalid_argument", NULL, "request");
    wire_free(&end);
    cr_assert_eq(daemon_stop(&host), 0);
}

Test(localdaemon_refusals, other_protocols_can_be_served, .timeout = 60) {
    static const char *const versions[] = {"1", "2", "4"};
    for (int i = 0; i < 3; i++) {
        const char *const more[] = {"--protocol", versions[i], NULL};
        daemon_start(&host, "process", more);
        json_t *answer = wire_run(&host, "{\"protocol\":%s," STEP "}", versions[i]);
        cr_assert_str_eq(json_at(answer, "record/version"), versions[i]);
        json_decref(answer);
        refused("{\"protocol\":3," STEP "}", 501, "unimplemented", MARK_PROTOCOL);
        cr_assert_eq(daemon_stop(&host), 0);
    }
}

Test(localdaemon_refusals, open_daemon_wants_a_loopback_host, .timeout = 60) {
    static const struct {
        const char *host;
        long status;
    } cases[] = {
        {"Host: localhost", 200},   {"Host: 127.0.0.1:1", 200},           {"Host: [::1]", 200},
        {"Host: example.org", 403}, {"Host: 127.0.0.1.example.org", 403}, {"Host: localhost.example.org", 403}};
    const char *const more[] = {"--open", NULL};
    daemon_start(&host, "process", more);
    accepted("{\"protocol\":3," STEP "}");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wire_end end;
        wire_call(&host, DESCRIBE, &(wire_how){.headers = {"Content-Type: " JSON, cases[i].host}}, "{}", 2, &end);
        if (cases[i].status == 200)
            cr_assert_eq(end.status, 200, "%s: %s", cases[i].host, end.body);
        else
            expect_error(&end, 403, "permission_denied", NULL, "permission");
        wire_free(&end);
    }
    cr_assert_eq(daemon_stop(&host), 0);
}
