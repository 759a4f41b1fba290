/* A baseline out of a finished check. Every field has its line in a table here, so that what is compared can be read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/baseline_internal.h"
#include "records/sha256.h"
#include "records/text.h"

#define CLOCKS_APART_MS 200 /* the two clocks are read one after the other, and ticks are coarse */

typedef struct taker {
    cs_baseline *out;
    bool lost; /* a key or a value found no room */
} taker;

/* ---- one key ------------------------------------------------------------------------------------------ */

static void put_view(taker *t, const char *prefix, const char *name, cs_view value) {
    if (t->out->count == CS_BASELINE_MAX_KEYS || value.len >= CS_BASELINE_VALUE) {
        t->lost = true;
        return;
    }
    cs_baseline_entry *entry = &t->out->entries[t->out->count++];
    int len = snprintf(entry->key, sizeof entry->key, "%s.%s", prefix, name);
    if (len < 0 || (size_t)len >= sizeof entry->key) t->lost = true;
    if (value.len > 0) memcpy(entry->value, value.ptr, value.len);
    entry->value[value.len] = '\0';
}

static void put(taker *t, const char *prefix, const char *name, const char *value) {
    put_view(t, prefix, name, cs_view_of(value));
}

static void put_flag(taker *t, const char *prefix, const char *name, bool value) {
    put(t, prefix, name, value ? "yes" : "no");
}

static void put_number(taker *t, const char *prefix, const char *name, int64_t value) {
    cs_decimal decimal = cs_decimal_i64(value);
    if (value == CS_PROBE_UNKNOWN)
        put(t, prefix, name, CS_BASELINE_UNKNOWN);
    else
        put_view(t, prefix, name, cs_decimal_view(&decimal));
}

static bool fits(cs_view text) {
    return text.len < CS_BASELINE_VALUE && cs_utf8_valid(text) &&
           (text.len == 0 || memchr(text.ptr, '\0', text.len) == NULL);
}

/* The digest of what is too long for a value, or can't stand in one. */
static void put_digest(taker *t, const char *prefix, const char *name, cs_view bytes) {
    cs_digest digest;
    char longer[CS_BASELINE_KEY];
    int len = snprintf(longer, sizeof longer, "%s.sha256", name);
    if (len < 0 || (size_t)len >= sizeof longer || !cs_sha256_once(bytes, &digest))
        t->lost = true;
    else
        put(t, prefix, longer, digest.hex);
}

/* A long text is compared by its beginning, for the reader, and by its digest under a key of its own, so that no
 * text can pass for another one's digest. */
static void put_text(taker *t, const char *prefix, const char *name, cs_view text) {
    if (fits(text)) {
        put_view(t, prefix, name, text);
        return;
    }
    const uint8_t *nul = memchr(text.ptr, '\0', text.len);
    cs_view shown =
        cs_utf8_cut(cs_view_bytes(text.ptr, nul != NULL ? (size_t)(nul - text.ptr) : text.len), CS_BASELINE_VALUE - 1);
    put_view(t, prefix, name, cs_utf8_valid(shown) ? shown : (cs_view){0});
    put_digest(t, prefix, name, text);
}

/* ---- messages ------------------------------------------------------------------------------------------- */

typedef enum field_kind { FIELD_TEXT, FIELD_FLAG, FIELD_NUMBER, FIELD_AMOUNT } field_kind;

typedef struct field {
    const char *name;
    field_kind kind;
    size_t offset;
} field;

#define DESCRIBE(name, kind, member)                                                                                   \
    { name, kind, offsetof(cs_describe_response, member) }
static const field describe_fields[] = {
    DESCRIBE("provider", FIELD_TEXT, sandbox),
    DESCRIBE("tier", FIELD_TEXT, isolation),
    DESCRIBE("policy", FIELD_TEXT, policy),
    DESCRIBE("protocol", FIELD_NUMBER, protocol),
    DESCRIBE("supports-project", FIELD_FLAG, supports_project),
    DESCRIBE("supports-javascript-grants", FIELD_FLAG, supports_javascript_grants),
    DESCRIBE("supports-project-grants", FIELD_FLAG, supports_project_grants),
    DESCRIBE("supports-module", FIELD_FLAG, supports_module),
    DESCRIBE("supports-sessions", FIELD_FLAG, supports_sessions),
    DESCRIBE("session-lifetime-ms", FIELD_NUMBER, session_lifetime_ms),
    DESCRIBE("session-idle-timeout-ms", FIELD_NUMBER, session_idle_timeout_ms),
    DESCRIBE("max-sessions-per-caller", FIELD_NUMBER, max_sessions_per_caller),
    DESCRIBE("max-sessions-per-owner", FIELD_NUMBER, max_sessions_per_owner),
};

typedef Plimsoll__V1__PayloadEnvironment payload_environment;
#define ENVIRONMENT(name, kind, member)                                                                                \
    { name, kind, offsetof(payload_environment, member) }
static const field environment_fields[] = {
    ENVIRONMENT("identity", FIELD_TEXT, identity),
    ENVIRONMENT("max-timeout-ms", FIELD_NUMBER, max_timeout_ms),
    ENVIRONMENT("software-identity", FIELD_TEXT, software_identity),
};

typedef Plimsoll__V1__RunResources run_resources;
#define RESOURCE(name, kind, member)                                                                                   \
    { name, kind, offsetof(run_resources, member) }
static const field resource_fields[] = {
    RESOURCE("memory-mb", FIELD_NUMBER, memory_mb),
    RESOURCE("cpus", FIELD_AMOUNT, cpus),
    RESOURCE("pids", FIELD_NUMBER, pids),
    RESOURCE("disk-mb", FIELD_NUMBER, disk_mb),
};

#define RECORD(name, kind, member)                                                                                     \
    { name, kind, offsetof(cs_run_record, member) }
static const field record_fields[] = {
    RECORD("version", FIELD_NUMBER, version),
    RECORD("provider", FIELD_TEXT, provider),
    RECORD("tier", FIELD_TEXT, isolation),
    RECORD("environment", FIELD_TEXT, environment),
    RECORD("policy", FIELD_TEXT, policy),
    RECORD("software-identity", FIELD_TEXT, software_identity),
    RECORD("software-rule-id", FIELD_TEXT, software_rule_id),
};
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static void put_fields(taker *t, const char *prefix, const void *message, const field *fields, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const void *at = (const char *)message + fields[i].offset;
        char amount[40];
        switch (fields[i].kind) {
        case FIELD_TEXT:
            put_text(t, prefix, fields[i].name, cs_bytes_view(at));
            break;
        case FIELD_FLAG:
            put_flag(t, prefix, fields[i].name, *(const protobuf_c_boolean *)at != 0);
            break;
        case FIELD_NUMBER:
            put_number(t, prefix, fields[i].name, *(const uint32_t *)at);
            break;
        case FIELD_AMOUNT:
            (void)snprintf(amount, sizeof amount, "%.17g", *(const double *)at);
            put(t, prefix, fields[i].name, amount);
            break;
        }
    }
}

static void put_languages(taker *t, const char *prefix, const payload_environment *environment) {
    put_number(t, prefix, "languages", (int64_t)environment->n_languages);
    for (size_t i = 0; i < environment->n_languages && !t->lost; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "languages.%zu", i + 1);
        put_text(t, prefix, name, cs_bytes_view(&environment->languages[i]));
    }
}

static void put_environment(taker *t, const char *prefix, const payload_environment *environment) {
    put(t, prefix, "stated", environment != NULL ? "yes" : "no");
    if (environment == NULL) return;
    put_fields(t, prefix, environment, environment_fields, COUNT(environment_fields));
    put_languages(t, prefix, environment);
}

static void put_statement(taker *t, const cs_describe_response *self, cs_view bytes) {
    put_fields(t, "statement", self, describe_fields, COUNT(describe_fields));
    put_environment(t, "statement.javascript-environment", self->javascript_environment);
    put_environment(t, "statement.project-environment", self->project_environment);
    put_environment(t, "statement.module-environment", self->module_environment);
    put_environment(t, "statement.session-environment", self->session_environment);
    put(t, "statement.resources", "stated", self->resources != NULL ? "yes" : "no");
    if (self->resources != NULL)
        put_fields(t, "statement.resources", self->resources, resource_fields, COUNT(resource_fields));
    /* A statement may say more than is known here: then all of it must stay as it is. */
    if (cs_message_known(&self->base, NULL) != CS_OK) put_digest(t, "statement", "unknown-fields", bytes);
}

/* ---- observations ----------------------------------------------------------------------------------------- */

/* What the probe sees that does not change from run to run: no clocks, counts, inodes or ids of a boot. */
#define FACT(name)                                                                                                     \
    { #name, offsetof(cs_probe_facts, name) }
static const struct {
    const char *name;
    size_t offset;
} fact_numbers[] =
    {
        FACT(seccomp), FACT(no_new_privs), FACT(capable),  FACT(loopback),         FACT(no_call),
        FACT(mseal),   FACT(file_getattr), FACT(vmsplice), FACT(remap_file_pages), FACT(landlock_abi),
},
  fact_texts[] = {FACT(release), FACT(version), FACT(hypervisor)};

static const char *sign_word(cs_probe_sign sign) {
    return sign == CS_SIGN_PRESENT ? "present" : sign == CS_SIGN_ABSENT ? "absent" : CS_BASELINE_UNKNOWN;
}

static void put_inside(taker *t, const char *prefix, const cs_inside *inside) {
    const cs_probe_facts *facts = &inside->facts;
    put_flag(t, prefix, "read", inside->read);
    if (!inside->read) return;
    for (size_t i = 0; i < COUNT(fact_texts); i++)
        put_text(t, prefix, fact_texts[i].name, cs_view_of((const char *)facts + fact_texts[i].offset));
    for (size_t i = 0; i < COUNT(fact_numbers); i++) {
        int64_t value = 0;
        memcpy(&value, (const char *)facts + fact_numbers[i].offset, sizeof value);
        put_number(t, prefix, fact_numbers[i].name, value);
    }
    put(t, prefix, "kernel_log_gvisor", sign_word(facts->kernel_log_gvisor));
    put(t, prefix, "canary", facts->canary[0] != '\0' ? "read" : "not read");
}

/* The workload as this machine's kernel shows it. */
#define SEEN(name)                                                                                                     \
    { #name, offsetof(cs_host_process, name) }
static const struct {
    const char *name;
    size_t offset;
} workload_numbers[] = {
    SEEN(ns_depth),    SEEN(seccomp),     SEEN(seccomp_filters), SEEN(no_new_privs), SEEN(capable),
    SEEN(same_pid_ns), SEEN(same_mnt_ns), SEEN(same_net_ns),     SEEN(same_ipc_ns),
};

static const char *place_word(const cs_tiers_report *tiers) {
    cs_host_place place = cs_tiers_place(tiers);
    return place == CS_HOST_HERE ? "here" : place == CS_HOST_LISTENER ? "listener" : "elsewhere";
}

static void put_outside(taker *t, const char *prefix, const cs_host_sighting *outside) {
    put_flag(t, prefix, "watched", outside->watched);
    if (!outside->watched) return;
    put_flag(t, prefix, "token", outside->token_seen);
    put_flag(t, prefix, "program", outside->program_seen);
    put_flag(t, prefix, "monitor", outside->monitor_below);
    put_flag(t, prefix, "port", outside->port_reached);
    if (!outside->token_seen) return;
    put_number(t, prefix, "apart", outside->apart);
    put_flag(t, prefix, "root", outside->workload.uid == 0);
    for (size_t i = 0; i < COUNT(workload_numbers); i++) {
        int64_t value = 0;
        memcpy(&value, (const char *)&outside->workload + workload_numbers[i].offset, sizeof value);
        put_number(t, prefix, workload_numbers[i].name, value);
    }
}

/* What this rule says depends on what the ledger holds, which every check adds to. */
static bool is_of_the_ledger(const cs_tier_rule *rule) {
    return strcmp(rule->name, "ledger-statements") == 0;
}

static void put_rules(taker *t, const cs_tiers_report *tiers) {
    for (size_t i = 0; i < cs_tier_rule_count; i++) {
        const cs_tier_judgement *judgement = &tiers->judgements[i];
        if (judgement->rule == NULL || is_of_the_ledger(judgement->rule)) continue;
        put(t, "rule", judgement->rule->name,
            judgement->asked ? cs_tier_verdict_word(judgement->verdict) : "not-asked");
    }
}

static void put_observations(taker *t, cs_tier_depth depth, const cs_tiers_report *tiers) {
    put_rules(t, tiers);
    put_flag(t, "probe", "emulated", tiers->emulated);
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        const char *word = cs_probe_form_word((cs_probe_form)form);
        char prefix[32];
        (void)snprintf(prefix, sizeof prefix, "probe.%s", word);
        put_inside(t, prefix, &tiers->seen.inside[form]);
        (void)snprintf(prefix, sizeof prefix, "record.%s", word);
        if (tiers->ran[form])
            put_fields(t, prefix, tiers->runs[form].checked.record, record_fields, COUNT(record_fields));
        (void)snprintf(prefix, sizeof prefix, "host.%s", word);
        if (depth == CS_DEPTH_HOST) put_outside(t, prefix, &tiers->seen.outside[form]);
    }
    if (depth != CS_DEPTH_HOST) return;
    put_flag(t, "host", "complete", tiers->seen.host.all);
    put(t, "host", "place", place_word(tiers));
}

/* ---- guards ------------------------------------------------------------------------------------------------- */

/* Whether an amount is the same each time. Time, processors and memory are met a little earlier or later in each
 * run; of them the verdict says enough. */
static bool is_exact(cs_guard_id guard) {
    return guard == CS_GUARD_PROCESSES || guard == CS_GUARD_FILE_SIZE;
}

static void put_guards(taker *t, const cs_guards_report *guards) {
    for (size_t i = 0; i < CS_GUARDS; i++) {
        const cs_guard_finding *finding = &guards->findings[i];
        char prefix[40];
        (void)snprintf(prefix, sizeof prefix, "guard.%s", cs_guard_word((cs_guard_id)i));
        put(t, prefix, "verdict", cs_guard_verdict_word(finding->verdict));
        put_text(t, prefix, "configured", cs_view_of(finding->configured));
        if (is_exact((cs_guard_id)i)) put_number(t, prefix, "measured", finding->measured);
    }
}

/* ---- the state ------------------------------------------------------------------------------------------------ */

static void set_state(taker *t, cs_baseline_state member, cs_view text) {
    char *out = t->out->state[member];
    cs_digest digest;
    if (fits(text)) {
        if (text.len > 0) memcpy(out, text.ptr, text.len);
        out[text.len] = '\0';
        return;
    }
    if (!cs_sha256_once(text, &digest)) t->lost = true;
    (void)snprintf(out, CS_BASELINE_VALUE, "sha256:%s", digest.hex);
}

static void see_instance(const cs_run_report *run, bool ran, cs_view *instance, size_t *runs) {
    if (!ran || run->checked.record == NULL) return;
    cs_view stated = cs_bytes_view(&run->checked.record->instance);
    if ((*runs)++ == 0)
        *instance = stated;
    else if (!cs_view_equal(*instance, stated))
        *instance = (cs_view){0};
}

/* The record's instance names the sandbox that ran it. Many daemons make one for each run, and it says nothing of their
 * start; one that several runs share does. */
static cs_view shared_instance(const cs_tiers_report *tiers, const cs_guards_report *guards) {
    cs_view instance = {0};
    size_t runs = 0;
    for (size_t i = 0; i < CS_PROBE_FORMS; i++)
        see_instance(&tiers->runs[i], tiers->ran[i], &instance, &runs);
    for (size_t i = 0; guards != NULL && i < CS_GUARD_RUNS; i++)
        see_instance(&guards->runs[i], guards->ran[i], &instance, &runs);
    return runs > 1 ? instance : (cs_view){0};
}

static void set_start(taker *t, const cs_tiers_report *tiers, const cs_guards_report *guards,
                      const cs_host_daemon *daemon) {
    cs_view instance = shared_instance(tiers, guards);
    char process[80] = "";
    if (daemon != NULL)
        (void)snprintf(process, sizeof process, "process %" PRId64 ", started at tick %" PRIu64 "%s", daemon->pid,
                       daemon->started, instance.len > 0 ? ", " : "");
    CS_AUTO_BUF text = CS_BUF_INIT(4096);
    bool good = cs_buf_text(&text, process) && (instance.len == 0 || cs_buf_append(&text, instance.ptr, instance.len));
    if (good && text.len == 0) good = cs_buf_text(&text, CS_BASELINE_UNKNOWN);
    if (!good) t->lost = true;
    set_state(t, CS_STATE_DAEMON_START, cs_buf_view(&text));
}

static const char *depth_word(cs_tier_depth depth) {
    static const char *const words[] = {"statements", "probe", "host"};
    return words[depth];
}

static void set_states(taker *t, const char *url, cs_tier_depth depth, const cs_tiers_report *tiers,
                       const cs_guards_report *guards, const cs_host_daemon *daemon) {
    const cs_run_report *run = &tiers->runs[CS_PROBE_SCRIPT];
    const cs_describe_response *self = (const cs_describe_response *)run->before.message;
    char text[40];
    (void)snprintf(text, sizeof text, "%s%s", depth_word(depth), guards != NULL ? "+guards" : "");
    set_state(t, CS_STATE_DAEMON, cs_view_of(url));
    set_state(t, CS_STATE_PROVIDER, cs_bytes_view(&self->sandbox));
    set_state(t, CS_STATE_POLICY, cs_bytes_view(&self->policy));
    set_state(t, CS_STATE_ENVIRONMENT, cs_bytes_view(&run->checked.record->environment));
    set_start(t, tiers, guards, daemon);
    set_state(t, CS_STATE_HOST_BOOT, cs_view_of(daemon != NULL ? daemon->boot_id : CS_BASELINE_UNKNOWN));
    set_state(t, CS_STATE_DEPTH, cs_view_of(text));
}

/* Who listens may only pass calls on to a daemon elsewhere: its start and boot are then not those of the daemon. */
static bool is_here(const cs_tiers_report *tiers, const cs_guards_report *guards) {
    return cs_tiers_place(tiers) == CS_HOST_HERE || (guards != NULL && guards->place == CS_HOST_HERE);
}

/* ---- all of it ----------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b) {
    return strcmp(((const cs_baseline_entry *)a)->key, ((const cs_baseline_entry *)b)->key);
}

/* A daemon that was refuted, or could not be checked, has no good state to come back to. */
static cs_result check_reports(const cs_tiers_report *tiers, const cs_guards_report *guards, cs_error *err) {
    if (tiers->result != CS_OK || (guards != NULL && guards->result != CS_OK))
        return cs_fail(err, CS_CODE_INTERNAL, "a check that did not pass gives no baseline");
    for (size_t form = 0; form < CS_PROBE_FORMS; form++)
        if ((form == CS_PROBE_SCRIPT || tiers->ran[form]) &&
            (tiers->runs[form].checked.record == NULL || tiers->runs[form].before.message == NULL))
            return cs_fail(err, CS_CODE_INTERNAL, "a check without a checked run gives no baseline");
    return CS_OK;
}

cs_result cs_baseline_take_of(const char *url, cs_tier_depth depth, const cs_tiers_report *tiers,
                              const cs_guards_report *guards, const cs_host_daemon *daemon, cs_baseline *out,
                              cs_error *err) {
    memset(out, 0, sizeof *out);
    cs_result result = check_reports(tiers, guards, err);
    if (result != CS_OK) return result;
    taker t = {.out = out};
    out->entries = calloc(CS_BASELINE_MAX_KEYS, sizeof *out->entries);
    if (out->entries == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a baseline");
    const cs_outcome *before = &tiers->runs[CS_PROBE_SCRIPT].before;
    set_states(&t, url, depth, tiers, guards, is_here(tiers, guards) ? daemon : NULL);
    put_statement(&t, (const cs_describe_response *)before->message, cs_buf_view(&before->bytes));
    put_observations(&t, depth, tiers);
    if (guards != NULL) put_guards(&t, guards);
    if (t.lost) {
        cs_baseline_free(out);
        return cs_fail(err, CS_CODE_BASELINE_FORM, "the daemon states more than the %u keys that a baseline may have",
                       CS_BASELINE_MAX_KEYS);
    }
    qsort(out->entries, out->count, sizeof *out->entries, by_key);
    return CS_OK;
}

static int64_t clock_ms(clockid_t which) {
    struct timespec now = {0};
    (void)clock_gettime(which, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Is the process younger than the check? Then another one answered at first. */
static bool began_within(const cs_host_daemon *daemon, const cs_tiers_report *tiers) {
    int64_t first = tiers->runs[CS_PROBE_SCRIPT].before.sent_unix_ms;
    long ticks = sysconf(_SC_CLK_TCK);
    if (first == 0 || ticks <= 0) return false;
    int64_t age = clock_ms(CLOCK_BOOTTIME) - (int64_t)(daemon->started * 1000 / (uint64_t)ticks);
    return age + CLOCKS_APART_MS < clock_ms(CLOCK_REALTIME) - first;
}

cs_result cs_baseline_take(const char *url, cs_tier_depth depth, const cs_tiers_report *tiers,
                           const cs_guards_report *guards, cs_baseline *out, cs_error *err) {
    cs_host_daemon daemon;
    memset(out, 0, sizeof *out);
    bool here = cs_host_find_daemon(url, &daemon);
    if (here && began_within(&daemon, tiers))
        return cs_fail(err, CS_CODE_BASELINE_STATE,
                       "the daemon's process began during the check, which so saw more than one state; check again");
    return cs_baseline_take_of(url, depth, tiers, guards, here ? &daemon : NULL, out, err);
}
