#include "tests/verify/outcome.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void trust_key(cs_trust *trust, const forge_key *key) {
    cs_trusted_key *to = &trust->keys[trust->count++];
    *to = (cs_trusted_key){.not_before_ms = INT64_MIN, .not_after_ms = INT64_MAX};
    memcpy(to->key.bytes, key->public_key, sizeof to->key.bytes);
    memcpy(to->key.id, key->id, sizeof to->key.id);
}

static void add_text(char *to, size_t size, const char *text) {
    size_t len = strlen(to);
    snprintf(to + len, size - len, "%s", text);
}

static void keep_finding(void *user, const cs_finding *finding) {
    outcome *out = user;
    char text[128];
    snprintf(text, sizeof text, "%s%llu %s%s", out->findings[0] != '\0' ? "; " : "", (unsigned long long)finding->entry,
             finding->warning ? "~" : "", cs_code_name(finding->err->code));
    add_text(out->findings, sizeof out->findings, text);
}

static cs_result keep_run(void *user, const cs_verified_run *run, cs_error *err) {
    (void)err;
    outcome *out = user;
    char text[64];
    snprintf(text, sizeof text, "%s%llu%s%s", out->runs[0] != '\0' ? " " : "", (unsigned long long)run->entry,
             run->unanswered ? "u" : "", run->duplicate ? "d" : "");
    add_text(out->runs, sizeof out->runs, text);
    return CS_OK;
}

static cs_result keep_entry(void *user, const cs_verified_entry *entry, cs_error *err) {
    (void)err;
    outcome *out = user;
    char text[64];
    snprintf(text, sizeof text, "%s%llu %s", out->entries[0] != '\0' ? "; " : "",
             (unsigned long long)entry->entry->number, entry->kind);
    add_text(out->entries, sizeof out->entries, text);
    if (entry->link_index == 0) return CS_OK;
    snprintf(text, sizeof text, "#%llu", (unsigned long long)entry->link_index);
    add_text(out->entries, sizeof out->entries, text);
    return CS_OK;
}

static void keep_progress(void *user, uint64_t done, uint64_t total) {
    outcome *out = user;
    out->progress = done;
    (void)total;
}

outcome verify_path_to(const char *path, const cs_trust *trust, const char *head) {
    outcome out = {.err = CS_ERROR_INIT};
    cs_source *source = NULL;
    out.result = cs_source_open(path, &source, &out.err);
    if (out.result != CS_OK) return out;
    cs_verify_options options = {.trust = trust,
                                 .on_finding = keep_finding,
                                 .on_run = keep_run,
                                 .on_entry = keep_entry,
                                 .expect_head = head,
                                 .on_progress = keep_progress,
                                 .user = &out};
    out.result = cs_verify_source(source, &options, &out.summary, &out.err);
    cs_source_close(source);
    return out;
}

outcome verify_path(const char *path, const cs_trust *trust) {
    return verify_path_to(path, trust, NULL);
}

outcome verify_bytes(const void *bytes, size_t len, const cs_trust *trust) {
    char path[64];
    forge_write(bytes, len, path);
    outcome out = verify_path(path, trust);
    unlink(path);
    return out;
}

outcome verify_bundle(const forge_bundle *bundle, const forge_key *key) {
    cs_trust trust = {.count = 0};
    trust_key(&trust, key);
    forge_bytes file = forge_file(bundle);
    return verify_bytes(file.ptr, file.len, &trust);
}

static char *fixture_path(const char *name) {
    const char *folder = getenv("COUNTERSIGN_FIXTURES");
    return forge_text("%s/published-session/%s", folder != NULL ? folder : "../shared/fixtures", name);
}

forge_bytes fixture_bytes(const char *name) {
    static char content[65536];
    char *path = fixture_path(name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        bool required = getenv("CI") != NULL || getenv("COUNTERSIGN_REQUIRE_ALL") != NULL;
        if (required) cr_assert_fail("%s is needed here and can't be read", path);
        cr_skip_test("%s can't be read; set COUNTERSIGN_FIXTURES to the folder of the fixtures", path);
    }
    size_t len = fread(content, 1, sizeof content, file);
    cr_assert(feof(file), "%s is larger than expected", path);
    fclose(file);
    return (forge_bytes){.ptr = content, .len = len};
}

cs_trust fixture_trust(const char *name) {
    cs_trust trust = {.count = 0};
    cs_error err = CS_ERROR_INIT;
    cs_public_key key;
    forge_bytes pem = fixture_bytes(name);
    cr_assert_eq(cs_public_key_parse(cs_view_bytes(pem.ptr, pem.len), &key, &err), CS_OK, "%s", err.message);
    cr_assert_eq(cs_trust_add(&trust, &key, &err), CS_OK);
    return trust;
}
