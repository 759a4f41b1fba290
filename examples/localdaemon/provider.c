#include "examples/localdaemon/provider.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONTAINER_WORK "/tmp/localdaemon/0/work"
#define CONTAINER_TMP "/tmp/localdaemon/0/tmp"

static const ld_provider *provider_of(ld_kind kind) {
    return kind == LD_PROCESS ? &ld_provider_process : &ld_provider_container;
}

const char *ld_inside_work(const ld_place *place) {
    return place->sandbox->kind == LD_PROCESS ? place->slot->work : CONTAINER_WORK;
}

const char *ld_inside_tmp(const ld_place *place) {
    return place->sandbox->kind == LD_PROCESS ? place->slot->tmp : CONTAINER_TMP;
}

/* Arguments past the end would be lost, and a command without all of its walls must not start. */
void ld_prepared_argument(ld_prepared *prepared, const char *text) {
    if (prepared->argc >= LD_MAX_ARGUMENTS) abort();
    prepared->argv[prepared->argc++] = text;
    prepared->argv[prepared->argc] = NULL;
}

const char *ld_prepared_number(ld_prepared *prepared, uint64_t number) {
    size_t count = sizeof(prepared->texts) / sizeof(prepared->texts[0]);
    if (prepared->text_count >= count) abort();
    char *text = prepared->texts[prepared->text_count++];
    snprintf(text, sizeof(prepared->texts[0]), "%" PRIu64, number);
    return text;
}

void ld_prepared_variable(ld_prepared *prepared, const char *name, const char *value) {
    if (prepared->variable_count >= LD_MAX_VARIABLES) abort();
    char *text = prepared->variables[prepared->variable_count];
    snprintf(text, sizeof(prepared->variables[0]), "%s=%s", name, value);
    prepared->envp[prepared->variable_count++] = text;
    prepared->envp[prepared->variable_count] = NULL;
}

static cs_result choose_filter(const ld_place *place, ld_prepared *out, cs_error *err) {
    uint32_t guards = place->guards & LD_GUARDS_FILTER;
    if (guards == 0) return CS_OK;
    if (guards == (place->sandbox->guards & LD_GUARDS_FILTER)) {
        out->filter = &place->sandbox->filter;
        return CS_OK;
    }
    cs_result result = ld_filter_build(guards, &out->own, err);
    if (result == CS_OK) out->filter = &out->own;
    return result;
}

cs_result ld_provider_prepare(const ld_place *place, const ld_command *command, ld_prepared *out, cs_error *err) {
    memset(out, 0, sizeof(*out));
    out->plan = LD_PLAN_INIT;
    out->kind = place->sandbox->kind;
    out->filter_fd = -1;
    out->status_fd = -1;
    out->plan.guards = place->guards;
    out->plan.limits = place->limits;
    out->plan.uid = place->slot->uid;
    out->plan.killer = place->slot->killer;
    out->plan.inside = command->inside;
    out->plan.probe = command->probe;
    out->plan.argument = command->argument;
    ld_prepared_variable(out, "PATH", place->sandbox->path_variable);
    ld_prepared_variable(out, "HOME", ld_inside_work(place));
    ld_prepared_variable(out, "TMPDIR", ld_inside_tmp(place));
    ld_prepared_variable(out, "LANG", "C.UTF-8");
    ld_prepared_variable(out, "PWD", ld_inside_work(place));
    cs_result result = choose_filter(place, out, err);
    if (result == CS_OK) result = provider_of(out->kind)->prepare(place, command, out, err);
    /* The keeper's execve wants pointers to characters that it never changes. */
    memcpy(&out->plan.argv, &(const char *const *){out->argv}, sizeof(out->plan.argv));
    out->plan.envp = out->envp;
    return result;
}

cs_result ld_provider_conclude(const ld_prepared *prepared, const ld_output *output, cs_error *err) {
    return provider_of(prepared->kind)->conclude(prepared, output, err);
}

void ld_provider_release(ld_prepared *prepared) {
    if (prepared->plan.ruleset >= 0) close(prepared->plan.ruleset);
    if (prepared->filter_fd >= 0) close(prepared->filter_fd);
    if (prepared->status_fd >= 0) close(prepared->status_fd);
    ld_filter_free(&prepared->own);
}
