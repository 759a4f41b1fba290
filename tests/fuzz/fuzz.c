#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records/digest.h"
#include "records/text.h"
#include "tests/support/canon.h"

void fuzz_abort(const char *file, int line, const char *what) {
    (void)fprintf(stderr, "%s:%d: this must hold: %s\n", file, line, what);
    abort();
}

/* ---- types ---------------------------------------------------------------------------------------- */

/* The order is part of the corpus: add at the end. */
static const ProtobufCMessageDescriptor *const types[] = {
    &plimsoll__v1__run_request__descriptor,
    &plimsoll__v1__run_response__descriptor,
    &plimsoll__v1__run_record__descriptor,
    &plimsoll__v1__describe_request__descriptor,
    &plimsoll__v1__describe_response__descriptor,
    &plimsoll__v1__payload_environment__descriptor,
    &plimsoll__v1__run_resources__descriptor,
    &plimsoll__v1__software_rule__descriptor,
    &plimsoll__v1__java_script_run__descriptor,
    &plimsoll__v1__project_file__descriptor,
    &plimsoll__v1__project_run__descriptor,
    &plimsoll__v1__module_row__descriptor,
    &plimsoll__v1__module_run__descriptor,
    &plimsoll__v1__cell_run__descriptor,
    &plimsoll__v1__advice_finding__descriptor,
    &plimsoll__v1__java_script_result__descriptor,
    &plimsoll__v1__step_result__descriptor,
    &plimsoll__v1__artifact__descriptor,
    &plimsoll__v1__project_result__descriptor,
    &plimsoll__v1__module_row_result__descriptor,
    &plimsoll__v1__module_result__descriptor,
    &plimsoll__v1__cell_result__descriptor,
    &plimsoll__v1__open_session_request__descriptor,
    &plimsoll__v1__open_session_response__descriptor,
    &plimsoll__v1__session_run_request__descriptor,
    &plimsoll__v1__session_run_response__descriptor,
    &plimsoll__v1__close_session_request__descriptor,
    &plimsoll__v1__close_session_response__descriptor,
    &plimsoll__v1__not_dispatched__descriptor,
    &plimsoll__v1__session_ended__descriptor,
    &plimsoll__v1__unanswered_call__descriptor,
};

#define TYPE_COUNT (sizeof types / sizeof *types)

const ProtobufCMessageDescriptor *fuzz_type(uint8_t byte) {
    return types[byte % TYPE_COUNT];
}

uint8_t fuzz_byte_of(const ProtobufCMessageDescriptor *type) {
    for (uint8_t i = 0; i < TYPE_COUNT; i++)
        if (types[i] == type) return i;
    abort();
}

/* ---- what must hold ------------------------------------------------------------------------------- */

static bool is_hidden(uint32_t point) {
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x00AD || point == 0x034F || point == 0x061C ||
           (point >= 0x115F && point <= 0x1160) || (point >= 0x17B4 && point <= 0x17B5) ||
           (point >= 0x180B && point <= 0x180F) || (point >= 0x200B && point <= 0x200F) ||
           (point >= 0x2028 && point <= 0x202E) || (point >= 0x2060 && point <= 0x206F) || point == 0x3164 ||
           (point >= 0xFE00 && point <= 0xFE0F) || point == 0xFEFF || point == 0xFFA0 ||
           (point >= 0xFFF0 && point <= 0xFFFB) || (point >= 0x1BCA0 && point <= 0x1BCA3) ||
           (point >= 0x1D173 && point <= 0x1D17A) || (point >= 0xE0000 && point <= 0xE0FFF);
}

bool fuzz_printable(cs_view text, bool newlines) {
    if (!cs_utf8_valid(text)) return false;
    for (size_t i = 0; i < text.len;) {
        const uint8_t *p = text.ptr + i;
        size_t len = *p < 0x80 ? 1 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
        uint32_t point = len == 1 ? *p : *p & (0xFFu >> (len + 1));
        for (size_t k = 1; k < len; k++)
            point = point << 6 | (p[k] & 0x3Fu);
        if (is_hidden(point) && !(newlines && (point == '\n' || point == '\t'))) return false;
        i += len;
    }
    return true;
}

void fuzz_refusal(cs_result result, const cs_error *err) {
    MUST(result != CS_OK);
    MUST(err->code != CS_CODE_OK && err->code != CS_CODE_INTERNAL && err->code != CS_CODE_NO_MEMORY);
    MUST(result == cs_code_class(err->code));
    fuzz_error_texts(err);
}

void fuzz_error_texts(const cs_error *err) {
    MUST(err->message[0] != '\0');
    MUST(fuzz_printable(cs_view_of(err->message), false));
    MUST(fuzz_printable(cs_view_of(err->where), false));
    MUST(fuzz_printable(cs_view_of(err->expected), false));
    MUST(fuzz_printable(cs_view_of(err->found), false));
}

/* ---- forms of a message --------------------------------------------------------------------------- */

cs_buf fuzz_encode(const void *message) {
    cs_buf bytes = CS_BUF_INIT(SIZE_MAX / 2);
    cs_error err = CS_ERROR_INIT;
    MUST(cs_message_encode(message, &bytes, &err) == CS_OK);
    return bytes;
}

void fuzz_digest(const ProtobufCMessage *message, char hex[65]) {
    const ProtobufCMessageDescriptor *type = message->descriptor;
    cs_digest digest = {.hex = ""};
    cs_error err = CS_ERROR_INIT;
    if (type == &plimsoll__v1__run_request__descriptor)
        MUST(cs_digest_request((const cs_run_request *)message, &digest, &err) == CS_OK);
    else if (type == &plimsoll__v1__run_response__descriptor)
        MUST(cs_digest_result((const cs_run_response *)message, &digest, &err) == CS_OK);
    else if (type == &plimsoll__v1__run_record__descriptor &&
             cs_digest_record((const cs_run_record *)message, &digest, &err) != CS_OK)
        MUST(err.code == CS_CODE_RECORD_VERSION);
    memcpy(hex, digest.hex, sizeof digest.hex);
}

void fuzz_digest_apart(const ProtobufCMessage *message, char hex[65]) {
    const ProtobufCMessageDescriptor *type = message->descriptor;
    hex[0] = '\0';
    if (type == &plimsoll__v1__run_request__descriptor) canon_request((const cs_run_request *)message, hex);
    if (type == &plimsoll__v1__run_response__descriptor) canon_result((const cs_run_response *)message, hex);
    if (type != &plimsoll__v1__run_record__descriptor) return;
    const cs_run_record *record = (const cs_run_record *)message;
    if (record->version >= 1 && record->version <= 4) canon_record(record, hex);
}

/* ---- a file --------------------------------------------------------------------------------------- */

static char file_path[64];
static int file = -1;

static void remove_file(void) {
    (void)unlink(file_path);
}

const char *fuzz_file(const uint8_t *data, size_t size) {
    if (file < 0) {
        (void)snprintf(file_path, sizeof file_path, "%s/fuzz-XXXXXX",
                       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        file = mkostemp(file_path, O_CLOEXEC);
        if (file < 0 || atexit(remove_file) != 0) abort();
    }
    if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size) abort();
    fuzz_file_old();
    return file_path;
}

void fuzz_file_old(void) {
    static const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    if (futimens(file, old) != 0) abort();
}
