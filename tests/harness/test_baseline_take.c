/* What goes into a baseline, and what does not. */
#include "tests/harness/baseline_case.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/expect.h"

static bool same(const cs_baseline *a, const cs_baseline *b) {
    if (cs_baseline_state_order(a, b) != 0 || a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->entries[i].key, b->entries[i].key) != 0 || strcmp(a->entries[i].value, b->entries[i].value) != 0)
            return false;
    return true;
}

static void expect_value(const cs_baseline *baseline, const char *key, const char *want) {
    const char *found = baseline_value(baseline, key);
    cr_assert_not_null(found, "%s", key);
    cr_expect_str_eq(found, want, "%s: %s", key, found);
}

Test(baseline_take, state_and_keys_of_a_container) {
    baseline_case c;
    cs_baseline now;
    baseline_begin(&c);
    baseline_take(&c, &now);
    static const char *const state[CS_STATE_MEMBERS] = {
        BASELINE_URL, NULL, NULL, NULL, "process 4711, started at tick 815", "11111111-1111-1111-1111-111111111111",
        "host"};
    for (size_t i = 0; i < CS_STATE_MEMBERS; i++)
        if (state[i] != NULL) cr_expect_str_eq(now.state[i], state[i], "%s", now.state[i]);
    cr_expect_str_eq(now.state[CS_STATE_POLICY], baseline_value(&now, "statement.policy"));
    cr_expect_str_eq(now.state[CS_STATE_PROVIDER], baseline_value(&now, "statement.provider"));
    cr_expect_str_eq(now.state[CS_STATE_ENVIRONMENT], baseline_value(&now, "record.script.environment"));
    expect_value(&now, "statement.tier", "kernel");
    expect_value(&now, "statement.protocol", "3");
    expect_value(&now, "rule.host-file", "consistent");
    expect_value(&now, "rule.no-monitor", "not-asked");
    expect_value(&now, "probe.program.landlock_abi", "7");
    expect_value(&now, "probe.script.canary", "not read");
    expect_value(&now, "host.program.same_net_ns", "0");
    expect_value(&now, "host.complete", "yes");
    cr_expect_null(baseline_value(&now, "rule.ledger-statements"));
    for (size_t i = 0; i < now.count; i++) {
        cr_expect(cs_baseline_key_good(now.entries[i].key), "%s", now.entries[i].key);
        if (i > 0) cr_expect_lt(strcmp(now.entries[i - 1].key, now.entries[i].key), 0, "%s", now.entries[i].key);
    }
    cs_baseline_free(&now);
    baseline_end(&c);
}

static size_t size_of(const ProtobufCFieldDescriptor *field) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_UINT32:
        return sizeof(uint32_t);
    case PROTOBUF_C_TYPE_DOUBLE:
        return sizeof(double);
    default:
        cr_assert_eq(field->type, PROTOBUF_C_TYPE_BYTES);
        return sizeof(ProtobufCBinaryData);
    }
}

/* Put something other into a field, by its type. */
static void change_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    void *at = (char *)message + field->offset;
    if (field->type == PROTOBUF_C_TYPE_BOOL)
        *(protobuf_c_boolean *)at = !*(protobuf_c_boolean *)at;
    else if (field->type == PROTOBUF_C_TYPE_UINT32)
        *(uint32_t *)at += 1;
    else if (field->type == PROTOBUF_C_TYPE_DOUBLE)
        *(double *)at += 0.5;
    else
        *(ProtobufCBinaryData *)at = borrow("something other");
}

/* Each field of a statement, changed alone, gives another baseline: none is left out. `reach` is what stands in the
 * statement. */
static size_t expect_all_fields(baseline_case *c, ProtobufCMessage *reach) {
    size_t changed = 0;
    cs_baseline then, now;
    baseline_take(c, &then);
    for (unsigned i = 0; i < reach->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &reach->descriptor->fields[i];
        if (field->type == PROTOBUF_C_TYPE_MESSAGE || field->label == PROTOBUF_C_LABEL_REPEATED) continue;
        char kept[sizeof(ProtobufCBinaryData)];
        memcpy(kept, (char *)reach + field->offset, size_of(field));
        change_field(reach, field);
        baseline_take(c, &now);
        cr_expect_not(same(&then, &now), "%s", field->name);
        cs_baseline_free(&now);
        memcpy((char *)reach + field->offset, kept, size_of(field));
        changed++;
    }
    baseline_take(c, &now);
    cr_expect(same(&then, &now));
    cs_baseline_free(&now);
    cs_baseline_free(&then);
    return changed;
}

Test(baseline_take, every_field_of_a_statement_counts) {
    baseline_case c;
    baseline_begin(&c);
    cs_describe_response self = *c.said.before;
    Plimsoll__V1__PayloadEnvironment environments[4];
    Plimsoll__V1__RunResources resources = PLIMSOLL__V1__RUN_RESOURCES__INIT;
    Plimsoll__V1__PayloadEnvironment **const places[] = {&self.javascript_environment, &self.project_environment,
                                                         &self.module_environment, &self.session_environment};
    ProtobufCBinaryData languages[] = {borrow("javascript"), borrow("python")};
    for (size_t i = 0; i < 4; i++) {
        plimsoll__v1__payload_environment__init(&environments[i]);
        environments[i].languages = languages;
        environments[i].n_languages = 2;
        *places[i] = &environments[i];
    }
    self.resources = &resources;
    for (size_t form = 0; form < CS_PROBE_FORMS; form++)
        c.tiers.runs[form].before.message = &self.base;
    cr_expect_eq(expect_all_fields(&c, &self.base), 13);
    cr_expect_eq(expect_all_fields(&c, &resources.base), 4);
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(expect_all_fields(&c, &environments[i].base), 3);
    cs_baseline then, now;
    baseline_take(&c, &then);
    languages[1] = borrow("julia");
    baseline_take(&c, &now);
    cr_expect_not(same(&then, &now));
    expect_value(&now, "statement.module-environment.languages.2", "julia");
    cs_baseline_free(&now);
    self.module_environment = NULL;
    baseline_take(&c, &now);
    expect_value(&then, "statement.module-environment.stated", "yes");
    expect_value(&now, "statement.module-environment.stated", "no");
    cr_expect_null(baseline_value(&now, "statement.module-environment.identity"));
    cs_baseline_free(&now);
    cs_baseline_free(&then);
    baseline_end(&c);
}

/* A field that is not known here can't be read, but it can't change unseen either. */
Test(baseline_take, unknown_fields_count_by_the_bytes) {
    baseline_case c;
    baseline_begin(&c);
    cs_baseline plain, first, second;
    ProtobufCMessageUnknownField field = {.tag = 99, .wire_type = PROTOBUF_C_WIRE_TYPE_VARINT};
    baseline_take(&c, &plain);
    cr_expect_null(baseline_value(&plain, "statement.unknown-fields.sha256"));
    c.said.before->base.n_unknown_fields = 1;
    c.said.before->base.unknown_fields = &field;
    c.tiers.runs[CS_PROBE_SCRIPT].before.bytes = CS_BUF_INIT(16);
    cr_assert(cs_buf_text(&c.tiers.runs[CS_PROBE_SCRIPT].before.bytes, "a"));
    baseline_take(&c, &first);
    expect_value(&first, "statement.unknown-fields.sha256",
                 "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb");
    cr_assert(cs_buf_text(&c.tiers.runs[CS_PROBE_SCRIPT].before.bytes, "b"));
    baseline_take(&c, &second);
    cr_expect_not(same(&first, &second));
    cs_buf_free(&c.tiers.runs[CS_PROBE_SCRIPT].before.bytes);
    c.said.before->base.n_unknown_fields = 0;
    c.said.before->base.unknown_fields = NULL;
    cs_baseline_free(&plain);
    cs_baseline_free(&first);
    cs_baseline_free(&second);
    baseline_end(&c);
}

/* What differs from run to run is not in it. */
Test(baseline_take, what_one_run_alone_has_changes_nothing) {
    baseline_case c;
    cs_baseline then, now;
    baseline_begin(&c);
    baseline_take(&c, &then);
    cs_probe_facts *facts = &c.tiers.seen.inside[CS_PROBE_PROGRAM].facts;
    facts->clock_us += 12345;
    facts->pid_ns++;
    facts->ipc_ns++;
    facts->processes[3]++;
    facts->boot_id[0] = '9';
    c.tiers.seen.outside[CS_PROBE_SCRIPT].workload.pid++;
    c.tiers.seen.outside[CS_PROBE_SCRIPT].workload.uid++;
    c.tiers.seen.ledger.same++;
    c.tiers.runs[CS_PROBE_SCRIPT].entry = 8;
    c.said.record->started_unix_ms++;
    ProtobufCBinaryData kept = c.said.record->request_sha256;
    c.said.record->request_sha256 = c.said.record->result_sha256;
    baseline_take(&c, &now);
    cr_expect(same(&then, &now));
    cs_baseline_free(&now);
    facts->landlock_abi++;
    baseline_take(&c, &now);
    cr_expect_not(same(&then, &now));
    c.said.record->request_sha256 = kept;
    cs_baseline_free(&now);
    cs_baseline_free(&then);
    baseline_end(&c);
}

static void expect_start(const baseline_case *c, const cs_host_daemon *daemon, const char *want) {
    cs_baseline now;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_baseline_take_of(BASELINE_URL, CS_DEPTH_PROBE, &c->tiers, NULL, daemon, &now, &err), err);
    cr_expect_str_eq(now.state[CS_STATE_DAEMON_START], want, "%s", now.state[CS_STATE_DAEMON_START]);
    cr_expect_str_eq(now.state[CS_STATE_HOST_BOOT], strncmp(want, "process ", 8) == 0 ? daemon->boot_id : "unknown");
    cr_expect_str_eq(now.state[CS_STATE_DEPTH], "probe");
    cs_baseline_free(&now);
}

/* An instance that each run has for itself tells nothing of the daemon's start; neither does that of one run alone. */
Test(baseline_take, the_start_is_the_process_and_an_instance_that_the_runs_share) {
    baseline_case c;
    baseline_begin(&c);
    cs_run_record one = *c.said.record, two = *c.said.record;
    c.tiers.runs[CS_PROBE_SCRIPT].checked.record = &one;
    c.tiers.runs[CS_PROBE_PROGRAM].checked.record = &two;
    expect_start(&c, NULL, "unknown");
    expect_start(&c, &c.daemon, "process 4711, started at tick 815");
    one.instance = two.instance = borrow("kind:a");
    expect_start(&c, NULL, "kind:a");
    expect_start(&c, &c.daemon, "process 4711, started at tick 815, kind:a");
    two.instance = borrow("kind:b");
    expect_start(&c, NULL, "unknown");
    expect_start(&c, &c.daemon, "process 4711, started at tick 815");
    c.tiers.ran[CS_PROBE_PROGRAM] = false;
    expect_start(&c, NULL, "unknown");
    baseline_end(&c);
}

static void place_at(baseline_case *c, cs_host_place place) {
    for (size_t form = 0; form < CS_PROBE_FORMS; form++)
        c->tiers.seen.outside[form].place = place;
}

/* Who listens may pass calls on: only where the daemon is seen to be here it is the one that was started. */
Test(baseline_take, the_start_of_a_listener_is_not_that_of_the_daemon) {
    static const char known[] = "process 4711, started at tick 815";
    static cs_guards_report guards;
    baseline_case c;
    cs_baseline now;
    cs_error err = CS_ERROR_INIT;
    baseline_begin(&c);
    place_at(&c, CS_HOST_LISTENER);
    expect_start(&c, &c.daemon, "unknown");
    c.tiers.seen.outside[CS_PROBE_PROGRAM].place = CS_HOST_HERE;
    expect_start(&c, &c.daemon, known);
    place_at(&c, CS_HOST_LISTENER);
    for (int place = CS_HOST_LISTENER; place <= CS_HOST_HERE; place++) {
        guards.result = CS_OK;
        guards.place = (cs_host_place)place;
        EXPECT_OK(cs_baseline_take_of(BASELINE_URL, CS_DEPTH_PROBE, &c.tiers, &guards, &c.daemon, &now, &err), err);
        cr_expect_str_eq(now.state[CS_STATE_DAEMON_START], place == CS_HOST_HERE ? known : "unknown");
        cs_baseline_free(&now);
    }
    baseline_end(&c);
}

Test(baseline_take, a_long_text_counts_to_its_end) {
    baseline_case c;
    cs_baseline then, now;
    baseline_begin(&c);
    char text[700];
    memset(text, 'a', sizeof text);
    ProtobufCBinaryData kept = c.said.before->policy;
    c.said.before->policy = borrow_bytes(text, 511);
    baseline_take(&c, &then);
    cr_expect_null(baseline_value(&then, "statement.policy.sha256"));
    cs_baseline_free(&then);
    c.said.before->policy = borrow_bytes(text, 700);
    baseline_take(&c, &then);
    cr_expect_eq(strlen(baseline_value(&then, "statement.policy")), 511);
    cr_expect_not_null(baseline_value(&then, "statement.policy.sha256"));
    cr_expect_eq(strncmp(then.state[CS_STATE_POLICY], "sha256:", 7), 0);
    text[699] = 'b';
    baseline_take(&c, &now);
    cr_expect_str_eq(baseline_value(&then, "statement.policy"), baseline_value(&now, "statement.policy"));
    cr_expect_str_neq(baseline_value(&then, "statement.policy.sha256"),
                      baseline_value(&now, "statement.policy.sha256"));
    cr_expect_str_neq(then.state[CS_STATE_POLICY], now.state[CS_STATE_POLICY]);
    c.said.before->policy = kept;
    cs_baseline_free(&now);
    cs_baseline_free(&then);
    baseline_end(&c);
}

static void expect_none(const baseline_case *c, cs_code code) {
    cs_baseline now;
    cs_error err;
    EXPECT_CODE(cs_baseline_take_of(BASELINE_URL, CS_DEPTH_HOST, &c->tiers, NULL, NULL, &now, &err), err, CS_UNCHECKED,
                code);
    cr_expect_null(now.entries);
}

Test(baseline_take, what_did_not_pass_gives_none) {
    baseline_case c;
    cs_baseline now;
    baseline_begin(&c);
    c.tiers.result = CS_FAILED;
    expect_none(&c, CS_CODE_INTERNAL);
    c.tiers.result = CS_OK;
    c.tiers.runs[CS_PROBE_SCRIPT].checked.record = NULL;
    expect_none(&c, CS_CODE_INTERNAL);
    c.tiers.runs[CS_PROBE_SCRIPT].checked.record = c.said.record;
    baseline_take(&c, &now);
    cs_baseline_free(&now);
    baseline_end(&c);
}

Test(baseline_take, a_daemon_can_not_state_more_than_there_is_room_for) {
    enum { MANY = 600 };
    baseline_case c;
    baseline_begin(&c);
    static ProtobufCBinaryData languages[MANY];
    for (size_t i = 0; i < MANY; i++)
        languages[i] = borrow("x");
    Plimsoll__V1__PayloadEnvironment environment = PLIMSOLL__V1__PAYLOAD_ENVIRONMENT__INIT;
    environment.languages = languages;
    cs_describe_response self = *c.said.before;
    self.module_environment = &environment;
    c.tiers.runs[CS_PROBE_SCRIPT].before.message = &self.base;
    environment.n_languages = MANY;
    expect_none(&c, CS_CODE_BASELINE_FORM);
    environment.n_languages = 200;
    cs_baseline now;
    baseline_take(&c, &now);
    cs_baseline_free(&now);
    baseline_end(&c);
}

/* ---- guards --------------------------------------------------------------------------------------------- */

/* Take it with these guards, and expect this value of a key. */
static void expect_guard(const baseline_case *c, const cs_guards_report *guards, const char *key, const char *want) {
    cs_baseline now;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_baseline_take_of(BASELINE_URL, CS_DEPTH_PROBE, &c->tiers, guards, NULL, &now, &err), err);
    cr_expect_str_eq(now.state[CS_STATE_DEPTH], "probe+guards");
    const char *found = baseline_value(&now, key);
    cr_expect_eq(found == NULL, want == NULL, "%s", key);
    if (found != NULL && want != NULL) cr_expect_str_eq(found, want, "%s: %s", key, found);
    cs_baseline_free(&now);
}

Test(baseline_take, guards_count_by_verdict_promise_and_what_is_exact) {
    static cs_guards_report guards;
    baseline_case c;
    baseline_begin(&c);
    guards.result = CS_OK;
    for (size_t i = 0; i < CS_GUARDS; i++)
        guards.findings[i].measured = CS_PROBE_UNKNOWN;
    cs_guard_finding *processes = &guards.findings[CS_GUARD_PROCESSES];
    (void)snprintf(processes->configured, sizeof processes->configured, "256 processes");
    processes->verdict = CS_GUARD_IN_FORCE;
    expect_guard(&c, &guards, "guard.processes.verdict", "in force");
    expect_guard(&c, &guards, "guard.processes.configured", "256 processes");
    expect_guard(&c, &guards, "guard.processes.measured", "unknown");
    expect_guard(&c, &guards, "guard.leftovers.verdict", "unknown");
    processes->measured = 254;
    processes->verdict = CS_GUARD_NOT_IN_FORCE;
    expect_guard(&c, &guards, "guard.processes.verdict", "not in force");
    expect_guard(&c, &guards, "guard.processes.measured", "254");
    guards.findings[CS_GUARD_TIME].measured = 1510;
    expect_guard(&c, &guards, "guard.time.measured", NULL);
    cs_baseline now;
    cs_error err;
    guards.result = CS_FAILED;
    EXPECT_CODE(cs_baseline_take_of(BASELINE_URL, CS_DEPTH_PROBE, &c.tiers, &guards, NULL, &now, &err), err,
                CS_UNCHECKED, CS_CODE_INTERNAL);
    cr_expect_null(now.entries);
    baseline_end(&c);
}

/* ---- the daemon's process ----------------------------------------------------------------------------------- */

Test(baseline_take, the_process_that_listens_is_found_and_no_other) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    cs_host_daemon first, second;
    char url[64];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_geq(fd, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", ntohs(address.sin_port));
    cr_expect_not(cs_host_find_daemon(url, &first), "it does not listen yet");
    cr_assert_eq(listen(fd, 1), 0);
    cr_assert(cs_host_find_daemon(url, &first));
    cr_assert(cs_host_find_daemon(url, &second));
    cr_expect_eq(first.pid, getpid());
    cr_expect_gt(first.started, 0);
    cr_expect_eq(first.started, second.started);
    cr_expect_eq(strlen(first.boot_id), 36);
    (void)snprintf(url, sizeof url, "http://192.0.2.1:%u", ntohs(address.sin_port));
    cr_expect_not(cs_host_find_daemon(url, &first));
    cr_expect_eq(close(fd), 0);
}

/* This test's process listens, as a daemon would: it is older than a check that began just now, and younger than one
 * that began an hour ago. */
Test(baseline_take, a_daemon_that_began_during_the_check_gives_none) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    baseline_case c;
    cs_baseline now;
    cs_error err = CS_ERROR_INIT;
    char url[64];
    baseline_begin(&c);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_geq(fd, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    cr_assert_eq(listen(fd, 1), 0);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", ntohs(address.sin_port));
    int64_t *first = &c.tiers.runs[CS_PROBE_SCRIPT].before.sent_unix_ms;
    *first = (int64_t)time(NULL) * 1000 + 1000;
    EXPECT_OK(cs_baseline_take(url, CS_DEPTH_HOST, &c.tiers, NULL, &now, &err), err);
    cr_expect_eq(strncmp(now.state[CS_STATE_DAEMON_START], "process ", 8), 0);
    cs_baseline_free(&now);
    *first -= 3600 * 1000;
    EXPECT_CODE(cs_baseline_take(url, CS_DEPTH_HOST, &c.tiers, NULL, &now, &err), err, CS_UNCHECKED,
                CS_CODE_BASELINE_STATE);
    cr_expect_null(now.entries);
    cr_expect_eq(close(fd), 0);
    baseline_end(&c);
}
