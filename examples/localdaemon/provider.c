#include "examples/localdaemon/provider.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIXED_WORK "/tmp/localdaemon/0/work"
#define FIXED_TMP "/tmp/localdaemon/0/tmp"

const ld_provider *ld_provider_of(ld_kind kind) {
    static const ld_provider *const providers[LD_KINDS] = {[LD_PROCESS] = &ld_provider_process,
                                                           [LD_CONTAINER] = &ld_provider_container,
                                                           [LD_KERNEL] = &ld_provider_kernel,
                                                           [LD_VM] = &ld_provider_vm};
    return kind < LD_KINDS ? providers[kind] : NULL;
}

ld_kind ld_provider_find(const char *name) {
    ld_kind kind = LD_PROCESS;
    while (kind < LD_KINDS && strcmp(ld_provider_of(kind)->name, name) != 0)
        kind++;
    return kind;
}

const char *ld_inside_work(const ld_place *place) {
    return place->sandbox->provider->fixed_paths ? FIXED_WORK : place->slot->work;
}

const char *ld_inside_tmp(const ld_place *place) {
    return place->sandbox->provider->fixed_paths ? FIXED_TMP : place->slot->tmp;
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

/* Whoever it is that a run's processes are on the host, and whose its files are. */
static uid_t user_of(const ld_place *place) {
    return (place->guards & LD_GUARD_USER) != 0 ? place->slot->uid : geteuid();
}

/* Without a user of its own, and without capabilities, a container can't enter another user's folders. */
static cs_result take_folders(const ld_place *place, cs_error *err) {
    if ((place->guards & LD_GUARD_USER) != 0) return CS_OK;
    if (fchown(place->slot->work_fd, geteuid(), (gid_t)-1) == 0 &&
        fchownat(place->slot->folder_fd, "tmp", geteuid(), (gid_t)-1, AT_SYMLINK_NOFOLLOW) == 0)
        return CS_OK;
    return cs_fail(err, CS_CODE_IO, "the run's folders can't be given back: %s", strerror(errno));
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
    out->place = place;
    out->filter_fd = -1;
    out->status_fd = -1;
    out->panic_fd = -1;
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
    cs_result result = take_folders(place, err);
    if (result == CS_OK) result = choose_filter(place, out, err);
    if (result == CS_OK) result = place->sandbox->provider->prepare(place, command, out, err);
    /* The keeper's execve wants pointers to characters that it never changes. */
    memcpy(&out->plan.argv, &(const char *const *){out->argv}, sizeof(out->plan.argv));
    out->plan.envp = out->envp;
    return result;
}

cs_result ld_provider_conclude(const ld_prepared *prepared, const ld_output *output, cs_error *err) {
    return prepared->place->sandbox->provider->conclude(prepared, output, err);
}

bool ld_provider_release(ld_prepared *prepared) {
    const ld_provider *provider = prepared->place->sandbox->provider;
    if (prepared->plan.ruleset >= 0) close(prepared->plan.ruleset);
    if (prepared->filter_fd >= 0) close(prepared->filter_fd);
    if (prepared->status_fd >= 0) close(prepared->status_fd);
    if (prepared->panic_fd >= 0) close(prepared->panic_fd);
    ld_filter_free(&prepared->own);
    return provider->release == NULL || provider->release(prepared);
}

/* ---- machines -------------------------------------------------------------------------------------- */

cs_result ld_provider_enter(const ld_place *place, cs_error *err) {
    const ld_machine_hooks *hooks = place->sandbox->provider->machine;
    if (hooks == NULL || *place->machine != NULL) return CS_OK;
    return hooks->open(place, err);
}

bool ld_provider_leave(const ld_provider *provider, ld_machine **machine) {
    bool clean = *machine == NULL || provider->machine->close(*machine);
    *machine = NULL;
    return clean;
}

static uid_t owner_of_files(const ld_place *place) {
    return place->sandbox->root ? user_of(place) : (uid_t)-1;
}

ld_work ld_provider_write(const ld_place *place, cs_view path, cs_view content) {
    const ld_machine_hooks *hooks = place->sandbox->provider->machine;
    if (hooks != NULL) return hooks->write(place, path, content);
    int folder = place->slot->work_fd;
    return place->kept ? ld_work_replace(folder, path, content, owner_of_files(place))
                       : ld_work_write(folder, path, content, owner_of_files(place));
}

ld_work ld_provider_read(const ld_place *place, cs_view path, size_t room, cs_buf *out) {
    const ld_machine_hooks *hooks = place->sandbox->provider->machine;
    if (hooks != NULL) return hooks->read(place, path, room, out);
    return ld_work_read(place->slot->work_fd, path, user_of(place), room, out);
}
