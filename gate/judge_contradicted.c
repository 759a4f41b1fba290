/* The findings of ledgers that contradict a tier, and whether one of them may be about a record that is relied on. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/judge_internal.h"
#include "harness/stated.h"
#include "records/text.h"

#define MAX_CONTRADICTIONS 65536u
#define THIS_MACHINE "loopback"

/* ---- addresses ---------------------------------------------------------------------------------------------- */

static bool is_loopback_name(const char *host) {
    static const char suffix[] = ".localhost";
    size_t len = strlen(host);
    return strcmp(host, "localhost") == 0 ||
           (len >= sizeof suffix && strcmp(host + len - (sizeof suffix - 1), suffix) == 0);
}

/* To connect to the unspecified address is to connect to this machine. */
static void write_v4(const struct in_addr *v4, char *out, size_t size) {
    uint32_t net = ntohl(v4->s_addr) >> 24;
    if (net == 127 || v4->s_addr == 0)
        (void)snprintf(out, size, "%s", THIS_MACHINE);
    else if (inet_ntop(AF_INET, v4, out, (socklen_t)size) == NULL)
        out[0] = '\0';
}

static void write_v6(const struct in6_addr *v6, char *out, size_t size) {
    if (IN6_IS_ADDR_V4MAPPED(v6)) {
        struct in_addr v4;
        memcpy(&v4.s_addr, v6->s6_addr + 12, sizeof v4.s_addr);
        write_v4(&v4, out, size);
    } else if (IN6_IS_ADDR_LOOPBACK(v6) || IN6_IS_ADDR_UNSPECIFIED(v6)) {
        (void)snprintf(out, size, "%s", THIS_MACHINE);
    } else if (inet_ntop(AF_INET6, v6, out, (socklen_t)size) == NULL) {
        out[0] = '\0';
    }
}

/* The one name of a host, in place; it is in small letters. Its room is that of any address. */
static void name_host(char *host, size_t size) {
    size_t len = strlen(host);
    struct in_addr v4;
    struct in6_addr v6;
    if (len > 0 && host[len - 1] == '.') host[--len] = '\0';
    if (is_loopback_name(host)) {
        (void)snprintf(host, size, "%s", THIS_MACHINE);
    } else if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = '\0';
        if (inet_pton(AF_INET6, host + 1, &v6) == 1)
            write_v6(&v6, host, size);
        else
            host[len - 1] = ']';
    } else if (inet_aton(host, &v4) != 0) {
        write_v4(&v4, host, size);
    }
}

static cs_view lower(char *to, size_t size, cs_view from) {
    size_t len = from.len < size - 1 ? from.len : size - 1;
    for (size_t i = 0; i < len; i++)
        to[i] = (char)(from.ptr[i] >= 'A' && from.ptr[i] <= 'Z' ? from.ptr[i] + ('a' - 'A') : from.ptr[i]);
    to[len] = '\0';
    return cs_view_of(to);
}

/* Where the port's colon is, or the end: a colon in brackets is none. */
static size_t find_port(cs_view authority) {
    for (size_t at = authority.len; at-- > 0 && authority.ptr[at] != ']';)
        if (authority.ptr[at] == ':') return at;
    return authority.len;
}

static cs_view without_zeros(cs_view digits) {
    while (digits.len > 1 && digits.ptr[0] == '0')
        digits = cs_view_bytes(digits.ptr + 1, digits.len - 1);
    return digits;
}

/* What is no URL is taken as it stands. */
bool cs_gate_address(cs_view url, cs_buf *out) {
    char scheme[8];
    char host[1024];
    cs_buf_clear(out);
    const uint8_t *colon = memmem(url.ptr, url.len, "://", 3);
    size_t len = colon != NULL ? (size_t)(colon - url.ptr) : url.len;
    if (colon == NULL || len >= sizeof scheme) return cs_buf_append(out, url.ptr, url.len);
    (void)lower(scheme, sizeof scheme, cs_view_bytes(url.ptr, len));
    cs_view rest = cs_view_bytes(colon + 3, url.len - len - 3);
    size_t end = 0;
    while (end < rest.len && rest.ptr[end] != '/')
        end++;
    cs_view authority = cs_view_bytes(rest.ptr, end);
    size_t at = find_port(authority);
    if (at >= sizeof host) return cs_buf_append(out, url.ptr, url.len);
    (void)lower(host, sizeof host, cs_view_bytes(authority.ptr, at));
    name_host(host, sizeof host);
    cs_view port = at + 1 < authority.len ? without_zeros(cs_view_bytes(authority.ptr + at + 1, authority.len - at - 1))
                                          : cs_view_of(strcmp(scheme, "https") == 0 ? "443" : "80");
    while (rest.len > end && rest.ptr[rest.len - 1] == '/')
        rest.len--;
    return cs_buf_printf(out, "%s://%s:", scheme, host) && cs_buf_append(out, port.ptr, port.len) &&
           cs_buf_append(out, rest.ptr + end, rest.len - end);
}

cs_result cs_gate_name_address(cs_gate_evidence *evidence, cs_view url, uint32_t *out, cs_error *err) {
    *out = 0;
    if (url.len == 0) return CS_OK;
    CS_AUTO_BUF address = CS_BUF_INIT(CS_MAX_LEDGER_ROW);
    if (!cs_gate_address(url, &address))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the address of a daemon");
    return cs_gate_name(evidence, cs_buf_view(&address), out, err);
}

/* ---- findings of a ledger -------------------------------------------------------------------------------------- */

_Static_assert(CS_GATE_ENVIRONMENTS == CS_STATED_ENVIRONMENTS, "each environment that is stated has its place");

static bool is_known(const cs_gate_evidence *evidence, const cs_gate_contradiction *c) {
    for (size_t i = 0; i < evidence->contradiction_count; i++) {
        const cs_gate_contradiction *other = &evidence->contradictions[i];
        if (other->daemon == c->daemon && other->stated == c->stated && other->provider == c->provider &&
            other->policy == c->policy && memcmp(other->environments, c->environments, sizeof c->environments) == 0)
            return true;
    }
    return false;
}

static cs_result keep_contradiction(cs_gate_evidence *evidence, const cs_gate_contradiction *c, cs_error *err) {
    if (is_known(evidence, c)) return CS_OK;
    size_t count = evidence->contradiction_count;
    if (count >= MAX_CONTRADICTIONS)
        return cs_fail(err, CS_CODE_NO_MEMORY, "more than %u daemons were contradicted", MAX_CONTRADICTIONS);
    cs_gate_contradiction *items = realloc(evidence->contradictions, (count + 1) * sizeof *items);
    if (items == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the findings");
    evidence->contradictions = items;
    items[evidence->contradiction_count++] = *c;
    return CS_OK;
}

cs_result cs_gate_tally_finding(cs_gate_evidence *evidence, uint32_t source, const cs_entry *entry, cs_error *err) {
    if (entry->row == NULL || !cs_view_is(entry->row->code, cs_code_name(CS_CODE_TIER_CONTRADICTED))) return CS_OK;
    cs_arena *arena = cs_arena_new();
    if (arena == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a finding");
    cs_stated it;
    cs_result result = cs_stated_read(entry->row, arena, &it, err);
    cs_gate_contradiction c = {.source = source, .entry = entry->number, .stated = it.any};
    if (result == CS_OK) result = cs_gate_name_address(evidence, entry->row->daemon, &c.daemon, err);
    if (result == CS_OK) result = cs_gate_name(evidence, it.provider, &c.provider, err);
    if (result == CS_OK) result = cs_gate_name(evidence, it.policy, &c.policy, err);
    for (size_t i = 0; result == CS_OK && i < CS_GATE_ENVIRONMENTS; i++)
        result = cs_gate_name(evidence, it.environments[i], &c.environments[i], err);
    if (result == CS_OK) result = keep_contradiction(evidence, &c, err);
    cs_arena_free(arena);
    return result;
}

/* ---- the rule --------------------------------------------------------------------------------------------------- */

static bool has_environment(const cs_gate_contradiction *c, uint32_t environment) {
    bool any = false;
    for (size_t i = 0; i < CS_GATE_ENVIRONMENTS; i++) {
        if (c->environments[i] != 0 && c->environments[i] == environment) return true;
        any = any || c->environments[i] != 0;
    }
    return !any || environment == 0;
}

static bool is_same_address(const cs_gate_contradiction *c, const cs_gate_kept *kept) {
    return c->daemon != 0 && c->daemon == kept->daemon;
}

static bool may_be(uint32_t name, uint32_t kept) {
    return name == 0 || kept == 0 || name == kept;
}

/* Another address may lead to the same daemon. What is not stated may be the same. */
static bool is_alike(const cs_gate_contradiction *c, const cs_gate_kept *kept) {
    return !c->stated || (may_be(c->provider, kept->provider) && may_be(c->policy, kept->policy) &&
                          has_environment(c, kept->environment));
}

static bool refuse_contradicted(const cs_gate_kept *kept, const cs_gate_evidence *evidence, cs_gate_finding *out) {
    for (size_t i = 0; i < evidence->contradiction_count; i++) {
        const cs_gate_contradiction *c = &evidence->contradictions[i];
        bool same = is_same_address(c, kept);
        if (!same && !is_alike(c, kept)) continue;
        const char *where = c->source == kept->source ? "" : " of another source";
        if (same)
            cs_gate_refuse(out, CS_CODE_GATE_CONTRADICTED,
                           "the tier of the daemon that ran entry %" PRIu64 " was contradicted: finding in entry "
                           "%" PRIu64 "%s",
                           kept->entry, c->entry, where);
        else
            cs_gate_refuse(out, CS_CODE_GATE_CONTRADICTED,
                           "the tier of what may be the daemon that ran entry %" PRIu64 " was contradicted: finding "
                           "in entry %" PRIu64 "%s: its address is not the same, and nothing else that it states "
                           "(provider, sandbox policy, environment) is another",
                           kept->entry, c->entry, where);
        return true;
    }
    return false;
}

/* A bundle leaves findings out, and so does an import of it. */
static bool refuse_without_findings(const cs_gate_kept *kept, cs_gate_finding *out) {
    if (kept->daemon != 0) return false;
    cs_gate_refuse(out, CS_CODE_GATE_CROSS_CHECK,
                   "entry %" PRIu64 " comes from a bundle, which holds no findings, so that none could contradict it: "
                   "judge the ledger into which it was run instead",
                   kept->entry);
    return true;
}

void cs_gate_judge_cross_check(const cs_gate_tally *tally, const cs_gate_evidence *evidence, cs_gate_place *place,
                               cs_gate_finding *out) {
    *place = (cs_gate_place){.set = false};
    if (tally->count == 0) {
        cs_gate_leave(out, "no record counts");
        return;
    }
    bool refused = false;
    size_t at = 0;
    for (size_t i = 0; !refused && i < tally->count; i++)
        refused = refuse_contradicted(&tally->kept[at = i], evidence, out);
    for (size_t i = 0; !refused && i < tally->count; i++)
        refused = refuse_without_findings(&tally->kept[at = i], out);
    if (refused)
        *place = (cs_gate_place){.set = true, .source = tally->kept[at].source, .entry = tally->kept[at].entry};
    else
        cs_gate_pass(out, "no finding that the inputs hold contradicts the tier of a daemon that is relied on; how "
                          "deep anyone looked (statements, probe, host) is not known from that");
}
