#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/request.h"
#include "records/digest.h"
#include "records/request.h"
#include "records/session.h"
#include "records/wire.h"
#include "verify/expect.h"

/* The command line, and what comes of it. */
typedef struct digest_command {
    int64_t protocol; /* 0: not given */
    const char *floor;
    bool calls;
    cs_buf text; /* what is printed, once every digest is known: part of them would read as all that is expected */
    json_t *list;
    cs_output *out;
} digest_command;

/* ---- one request -------------------------------------------------------------------------------- */

static const char *name_of(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* The name stands in a comment, which --expect passes over. `call` 0: the file holds one request. */
static cs_result add(digest_command *command, const char *path, size_t call, const cs_digest *digest, cs_error *err) {
    char name[256];
    cs_escape_short(cs_view_of(name_of(path)), name, sizeof name);
    bool good = cs_buf_printf(&command->text, "# %s", name) &&
                (call == 0 || cs_buf_printf(&command->text, ", call %zu", call)) &&
                cs_buf_printf(&command->text, "\n%s\n", digest->hex);
    if (!good) return cs_fail(err, CS_CODE_NO_MEMORY, "the list of digests is too long");
    if (!command->out->json) return CS_OK;
    json_t *object = json_pack("{s:o, s:s}", "request", cs_json_of_text(cs_view_of(path)), "sha256", digest->hex);
    if (object == NULL || (call > 0 && json_object_set_new(object, "call", json_integer((json_int_t)call)) != 0) ||
        json_array_append(command->list, object) != 0)
        command->out->lost = true;
    json_decref(object);
    return CS_OK;
}

/* The digest of a request as it goes out; what no daemon takes has none. */
static cs_result digest_request(const cs_run_request *request, cs_digest *out, cs_error *err) {
    CS_AUTO_BUF bytes = CS_BUF_INIT(SIZE_MAX / 2);
    cs_result result = cs_message_encode(&request->base, &bytes, err);
    if (result == CS_OK && bytes.len > CS_MAX_REQUEST_BYTES)
        result =
            cs_fail(err, CS_CODE_REQUEST_INVALID, "the encoded request has %zu bytes and a daemon takes at most %u",
                    bytes.len, CS_MAX_REQUEST_BYTES);
    if (result == CS_OK) result = cs_digest_request(request, out, err);
    return result;
}

static cs_result no_protocol(const char *what, cs_error *err) {
    return cs_fail(err, CS_CODE_USAGE,
                   "%s states no protocol, so the daemon's own will be sent; name it with --protocol "
                   "(Describe states it)",
                   what);
}

/* As `run` sends it: only a protocol that is left out is filled in. */
static cs_result digest_run(digest_command *command, const char *path, cs_error *err) {
    cs_digest digest;
    cs_run_request *request = NULL;
    cs_result result = cs_request_read(path, &request, err);
    if (result != CS_OK) return result;
    result = cs_request_validate(request, false, err);
    if (result == CS_OK && request->protocol == 0) request->protocol = (uint32_t)command->protocol;
    if (result == CS_OK && request->protocol == 0) result = no_protocol("the request", err);
    if (result == CS_OK) result = digest_request(request, &digest, err);
    if (result == CS_OK) result = add(command, path, 0, &digest, err);
    cs_message_free(request);
    if (result != CS_OK) cs_error_in_file(err, name_of(path));
    return result;
}

/* ---- the calls of a session --------------------------------------------------------------------- */

/* All calls of a session have its protocol, so one that states it does so for all. */
static uint32_t protocol_of(const digest_command *command, const cs_calls *calls) {
    uint32_t protocol = (uint32_t)command->protocol;
    for (size_t i = 0; protocol == 0 && i < calls->count; i++)
        protocol = calls->items[i]->protocol;
    return protocol;
}

/* As `session` sends them. The languages that a session is opened for are in no request digest. */
static cs_result digest_calls(digest_command *command, const char *path, const cs_calls *calls, cs_error *err) {
    cs_open_session_request terms = PLIMSOLL__V1__OPEN_SESSION_REQUEST__INIT;
    cs_view floor = cs_view_of(command->floor);
    /* Nobody writes through it. */
    terms.minimum_isolation = (ProtobufCBinaryData){.len = floor.len, .data = (uint8_t *)(uintptr_t)floor.ptr};
    terms.protocol = protocol_of(command, calls);
    cs_result result = cs_session_validate(&terms, err);
    if (result != CS_OK) return result;
    if (terms.protocol == 0) return no_protocol("no call", err);
    for (size_t i = 0; i < calls->count; i++) {
        cs_digest digest;
        result = cs_session_bind(&terms, calls->items[i], err);
        if (result == CS_OK) result = digest_request(calls->items[i], &digest, err);
        if (result == CS_OK) result = add(command, path, i + 1, &digest, err);
        if (result == CS_OK) continue;
        cs_error_where(err, "call %zu", i + 1);
        return result;
    }
    return CS_OK;
}

static cs_result digest_session(digest_command *command, const char *path, cs_error *err) {
    cs_calls calls = {.items = NULL};
    cs_result result = cs_calls_read(path, &calls, err);
    if (result == CS_OK) result = digest_calls(command, path, &calls, err);
    cs_calls_free(&calls);
    if (result != CS_OK) cs_error_in_file(err, name_of(path));
    return result;
}

/* ---- the command -------------------------------------------------------------------------------- */

static cs_result digest_all(digest_command *command, char **paths, size_t count) {
    cs_output *out = command->out;
    if (command->floor != NULL && !command->calls)
        return cs_fail(&out->err, CS_CODE_USAGE, "--floor is a session's; name it with --calls, as `session` has it");
    if (command->floor == NULL) command->floor = "";
    command->text = CS_BUF_INIT(CS_MAX_EXPECTED_FILE);
    command->list = json_array();
    cs_result result = CS_OK;
    for (size_t i = 0; result == CS_OK && i < count; i++)
        result =
            command->calls ? digest_session(command, paths[i], &out->err) : digest_run(command, paths[i], &out->err);
    if (result == CS_OK) {
        cs_say(out, "%.*s", (int)command->text.len, (const char *)command->text.ptr);
        cs_member(out, "digests", json_incref(command->list));
        (void)snprintf(out->err.message, sizeof out->err.message, "these are the request digests, in order");
    }
    json_decref(command->list);
    cs_buf_free(&command->text);
    return result;
}

int cs_cmd_digest(int argc, char **argv) {
    cs_output out;
    digest_command command = {.floor = NULL, .out = &out};
    const cs_option options[] = {
        {"protocol", 0, CS_OPTION_NUMBER, &command.protocol, "N",
         "the daemon's protocol number, for a request that states none", 1, CS_PROTOCOL, NULL},
        {"calls", 0, CS_OPTION_FLAG, &command.calls, NULL, "the files are JSON Lines, as `session` takes them", 0, 0,
         NULL},
        {"floor", 0, CS_OPTION_TEXT, &command.floor, "TIER", "with --calls: the session's floor", 0, 0,
         cs_tier_choices},
    };
    const cs_usage usage = {
        .command = "digest",
        .arguments = "[--protocol N] [--calls [--floor TIER]] REQUEST.json...",
        .about = "Print the request digest that a record of each request will state, one a line, each after a comment\n"
                 "with its file: what `verify --expect` reads. Nothing is sent.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .min_arguments = 1,
        .max_arguments = 100000,
        .exits = "  0  all digests are printed\n"
                 "  2  the command line is wrong, or a request states no protocol and neither does --protocol\n"
                 "  3  a request is one that would not be sent; no digest is printed\n"
                 "  5  a file could not be read; no digest is printed\n"
                 "  6  there is no call in the input\n",
        .example = "  countersign digest --protocol 3 tests/*.json > expected\n"
                   "  countersign verify -p harness.pub --expect expected ledger.db\n",
    };
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO)
        result = digest_all(&command, argv + first, (size_t)(argc - first));
    return cs_output_end(&out, result);
}
