/* The cross-check: findings of ledgers that contradict a tier, the addresses of daemons, and records beside which no
 * finding could stand. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "gate/judge_internal.h"
#include "harness/ledger.h"
#include "tests/gate/gate_case.h"
#include "tests/support/canon.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"
#include "tests/support/rows.h"

static cs_view v(const char *text) {
    return (cs_view){.ptr = (const uint8_t *)text, .len = strlen(text)};
}

static cs_view described; /* by the daemon that the next finding is about; ptr NULL: not */

/* A ledger with one finding, about the run that is given; NULL: about one that gave no answer. */
static void write_finding(const char *path, const char *daemon, const char *code, const gate_run *run) {
    cs_error err = CS_ERROR_INIT;
    cs_ledger *ledger = NULL;
    EXPECT_OK(cs_ledger_open(path, 5000, &ledger, &err), err);
    cs_ledger_row row = rows_finding();
    row.code = v(code);
    row.daemon = v(daemon);
    row.describe_before = described;
    row.response = (cs_view){.ptr = NULL};
    if (run != NULL) {
        forge_key key = forge_key_from(9);
        gate_line line = gate_sign(&key, run);
        row.request = cs_view_bytes(line.request.ptr, line.request.len);
        row.response = cs_view_bytes(line.response.ptr, line.response.len);
    }
    int64_t id = 0;
    EXPECT_OK(cs_ledger_append(ledger, &row, &id, &err), err);
    cs_ledger_close(ledger);
}

typedef struct contradiction {
    gate_case c;
    char folder[128];
    char findings[192];
    size_t written;
} contradiction;

static void contradiction_begin(contradiction *x) {
    memset(x, 0, sizeof *x);
    gate_begin(&x->c);
    folder_make(x->folder);
    x->c.more[0] = x->findings;
    x->c.more_count = 1;
}

static void contradiction_end(contradiction *x) {
    folder_remove(x->folder);
    gate_end(&x->c);
}

/* Beside the runs of the case a new ledger with this one finding. */
static void put_finding(contradiction *x, const char *daemon, const char *code, const gate_run *about) {
    (void)snprintf(x->findings, sizeof x->findings, "%s/findings-%zu.db", x->folder, x->written++);
    write_finding(x->findings, daemon, code, about);
}

static void expect_contradicted(contradiction *x, const char *name, const char *text) {
    (void)gate_judge(&x->c);
    gate_expect_only(&x->c, name, CS_GATE_CROSS_CHECK, CS_CODE_GATE_CONTRADICTED);
    const cs_gate_finding *finding = gate_finding(&x->c, CS_GATE_CROSS_CHECK);
    cr_expect_not_null(strstr(finding->observed, text), "%s: %s", name, finding->observed);
    cr_expect_gt(finding->entry, 0);
    cr_expect_str_eq(finding->source, x->c.paths[0]);
}

#define ELSEWHERE "http://192.0.2.1:1"
#define THE_DAEMON "the tier of the daemon that ran entry "
#define MAY_BE "the tier of what may be the daemon that ran entry "

/* Of the same address, or else with nothing else that is another. */
Test(gate_contradicted, a_contradicted_tier) {
    static char longer[5001]; /* than a name in a list of names */
    memset(longer, 'e', sizeof longer - 1);
    static const struct {
        const char *name, *daemon, *code, *provider, *policy, *environment;
        const char *text; /* NULL: it passes */
    } cases[] = {
        {"the same", GATE_DAEMON, "tier-contradicted", "alpha", "policy:1", "env:1", THE_DAEMON},
        {"another code", GATE_DAEMON, "result-digest", "alpha", "policy:1", "env:1", NULL},
        {"another address", ELSEWHERE, "tier-contradicted", "alpha", "policy:1", "env:1", MAY_BE},
        {"no environment there", ELSEWHERE, "tier-contradicted", "alpha", "policy:1", NULL, MAY_BE},
        {"no policy there", ELSEWHERE, "tier-contradicted", "alpha", "", "env:1", MAY_BE},
        {"and a long environment", ELSEWHERE, "tier-contradicted", "alpha", "policy:1", longer, NULL},
        {"and another environment", ELSEWHERE, "tier-contradicted", "alpha", "policy:1", "env:2", NULL},
        {"and another provider", ELSEWHERE, "tier-contradicted", "gamma", "policy:1", "env:1", NULL},
        {"and another policy", ELSEWHERE, "tier-contradicted", "alpha", "policy:2", "env:1", NULL},
        {"another provider", GATE_DAEMON, "tier-contradicted", "gamma", "policy:1", "env:1", THE_DAEMON},
        {"another policy", GATE_DAEMON, "tier-contradicted", "alpha", "policy:2", "env:1", THE_DAEMON},
    };
    contradiction x;
    contradiction_begin(&x);
    x.c.runs[0].environment = x.c.runs[1].environment = x.c.runs[2].environment = "env:1";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gate_run about = x.c.runs[0];
        about.provider = cases[i].provider;
        about.policy = cases[i].policy;
        about.environment = cases[i].environment;
        put_finding(&x, cases[i].daemon, cases[i].code, &about);
        if (cases[i].text != NULL)
            expect_contradicted(&x, cases[i].name, cases[i].text);
        else
            gate_expect_passes(&x.c, cases[i].name);
    }
    put_finding(&x, GATE_DAEMON, "tier-contradicted", &x.c.runs[0]);
    x.c.requirement.cross_check = false;
    gate_expect_passes(&x.c, "not asked");
    contradiction_end(&x);
}

/* Only the address is left to know the daemon by. */
Test(gate_contradicted, an_address_that_means_the_same) {
    static const struct {
        const char *daemon;
        bool same;
    } cases[] = {{"http://localhost:8746", true},
                 {"HTTP://LocalHost:8746/", true},
                 {"http://127.8.9.10:8746", true},
                 {"http://[::1]:8746", true},
                 {"http://localhost:8747", false},
                 {"https://localhost:8746", false},
                 {"http://localhost:8746/v2", false},
                 {"http://128.0.0.1:8746", false},
                 {"http://localhost.example.org:8746", false}};
    contradiction x;
    contradiction_begin(&x);
    gate_run about = x.c.runs[0];
    about.provider = "gamma";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_finding(&x, cases[i].daemon, "tier-contradicted", &about);
        if (cases[i].same)
            expect_contradicted(&x, cases[i].daemon, THE_DAEMON);
        else
            gate_expect_passes(&x.c, cases[i].daemon);
    }
    contradiction_end(&x);
}

Test(gate_contradicted, the_one_form_of_an_address) {
    static const struct {
        const char *url, *form;
    } cases[] = {{"http://localhost", "http://loopback:80"},
                 {"https://localhost/", "https://loopback:443"},
                 {"https://a.localhost.:0443//", "https://loopback:443"},
                 {"http://[::ffff:127.0.0.1]:80", "http://loopback:80"},
                 {"http://[0:0::1]", "http://loopback:80"},
                 {"http://0.0.0.0:8746", "http://loopback:8746"},
                 {"http://127.1:8746", "http://loopback:8746"},
                 {"http://[2001:DB8:0::1]:1/a/", "http://2001:db8::1:1/a"},
                 {"HTTPS://Host.Example.Org:443/A/", "https://host.example.org:443/A"},
                 {"https://host.example.org.", "https://host.example.org:443"},
                 {"http://[fe80::1%25eth0]:1", "http://[fe80::1%25eth0]:1"},
                 {"here", "here"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CS_AUTO_BUF form = CS_BUF_INIT(256);
        cr_assert(cs_gate_address(v(cases[i].url), &form));
        cr_expect(cs_view_is(cs_buf_view(&form), cases[i].form), "%s: %.*s", cases[i].url, (int)form.len, form.ptr);
    }
}

/* A bundle has room for no finding, and neither has what was imported from one. */
Test(gate_contradicted, a_record_beside_which_no_finding_could_stand) {
    gate_case c;
    gate_begin(&c);
    gate_expect_passes(&c, "a ledger");
    cr_expect_not_null(strstr(gate_finding(&c, CS_GATE_CROSS_CHECK)->observed,
                              "; how deep anyone looked (statements, probe, host) is not known from that"));
    c.bundled = true;
    (void)gate_judge(&c);
    gate_expect_only(&c, "a bundle", CS_GATE_CROSS_CHECK, CS_CODE_GATE_CROSS_CHECK);
    cr_expect_not_null(strstr(gate_finding(&c, CS_GATE_CROSS_CHECK)->observed,
                              " comes from a bundle, which holds no findings, so that none could contradict it: judge "
                              "the ledger into which it was run instead"));
    cr_expect_str_eq(gate_finding(&c, CS_GATE_CROSS_CHECK)->source, c.paths[0]);
    c.requirement.cross_check = false;
    gate_expect_passes(&c, "not asked");
    gate_end(&c);
}

/* The same runs in a ledger, with or without the address of the daemon that ran them, and in a bundle beside it. */
Test(gate_contradicted, what_was_imported_is_as_a_bundle) {
    contradiction x;
    contradiction_begin(&x);
    gate_case *c = &x.c;
    forge_bundle lines = {.count = 0};
    for (size_t i = 0; i < c->run_count; i++)
        forge_add(&lines, gate_sign(&c->key, &c->runs[i]).line);
    (void)snprintf(x.findings, sizeof x.findings, "%s/imported.db", x.folder);
    gate_write_ledger(x.findings, "", &lines);
    c->sources = 0;
    (void)gate_judge(c);
    gate_expect_only(c, "imported", CS_GATE_CROSS_CHECK, CS_CODE_GATE_CROSS_CHECK);
    (void)snprintf(x.findings, sizeof x.findings, "%s/own.db", x.folder);
    gate_write_ledger(x.findings, GATE_DAEMON, &lines);
    gate_expect_passes(c, "its own");
    c->sources = 1;
    c->bundled = true;
    gate_expect_passes(c, "and a bundle of the same");
    c->runs[3] = c->runs[0];
    c->runs[3].ended_ms++;
    c->run_count = 4;
    (void)gate_judge(c);
    gate_expect_only(c, "one is in the bundle alone", CS_GATE_CROSS_CHECK, CS_CODE_GATE_CROSS_CHECK);
    contradiction_end(&x);
}

/* A bundle does not say which daemon ran its runs, so that it may be the contradicted one, and that is said first. */
Test(gate_contradicted, a_contradiction_meets_runs_of_an_unknown_daemon) {
    contradiction x;
    contradiction_begin(&x);
    x.c.bundled = true;
    put_finding(&x, ELSEWHERE, "tier-contradicted", &x.c.runs[0]);
    expect_contradicted(&x, "bundle", MAY_BE);
    contradiction_end(&x);
}

/* A daemon that gave no answer is known by what it says of itself; each kind of payload has an environment there. */
Test(gate_contradicted, a_finding_with_a_description_alone) {
    static const struct {
        const char *name, *provider, *policy, *environment;
        bool refused;
    } cases[] = {{"the same", "alpha", "policy:1", "env:1", true},
                 {"another environment", "alpha", "policy:1", "env:2", false},
                 {"another provider", "gamma", "policy:1", "env:1", false},
                 {"another policy", "alpha", "policy:2", "env:1", false}};
    contradiction x;
    contradiction_begin(&x);
    x.c.runs[0].environment = x.c.runs[1].environment = x.c.runs[2].environment = "env:1";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t packed[256];
        Plimsoll__V1__DescribeResponse self = PLIMSOLL__V1__DESCRIBE_RESPONSE__INIT;
        Plimsoll__V1__PayloadEnvironment script = PLIMSOLL__V1__PAYLOAD_ENVIRONMENT__INIT;
        Plimsoll__V1__PayloadEnvironment project = PLIMSOLL__V1__PAYLOAD_ENVIRONMENT__INIT;
        self.sandbox = borrow(cases[i].provider);
        self.policy = borrow(cases[i].policy);
        script.identity = borrow("env:3");
        project.identity = borrow(cases[i].environment);
        self.javascript_environment = &script;
        self.project_environment = &project;
        described = cs_view_bytes(packed, plimsoll__v1__describe_response__pack(&self, packed));
        put_finding(&x, ELSEWHERE, "tier-contradicted", NULL);
        described = (cs_view){.ptr = NULL};
        if (cases[i].refused)
            expect_contradicted(&x, cases[i].name, MAY_BE);
        else
            gate_expect_passes(&x.c, cases[i].name);
    }
    contradiction_end(&x);
}

/* Of which nothing is known, so that it may be any. */
Test(gate_contradicted, a_finding_of_which_nothing_is_known) {
    contradiction x;
    contradiction_begin(&x);
    put_finding(&x, ELSEWHERE, "tier-contradicted", NULL);
    expect_contradicted(&x, "nothing is known", MAY_BE);
    put_finding(&x, ELSEWHERE, "result-digest", NULL);
    gate_expect_passes(&x.c, "another code");
    contradiction_end(&x);
}
