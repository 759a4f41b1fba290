/* Writes the seeds of every target below a folder: seeds FOLDER makes FOLDER/<target>/<name>.
 *
 * Everything is made by the builders of the tests, so the seeds follow the formats by themselves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/key_internal.h"
#include "records/protojson.h"
#include "records/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/genuine.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/canon.h"
#include "tests/support/folder.h"
#include "tests/support/imported.h"
#include "tests/support/sample.h"
#include "tests/verify/raw_ledger.h"

static const char *root;

/* One seed: what `prefix` holds, then the bytes. */
void put_seed(const char *target, cs_view prefix, cs_view bytes) {
    static unsigned number;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", root, target);
    (void)mkdir(path, 0755);
    (void)snprintf(path, sizeof path, "%s/%s/seed-%04u", root, target, number++);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(prefix.ptr, 1, prefix.len, file) != prefix.len ||
        fwrite(bytes.ptr, 1, bytes.len, file) != bytes.len || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

void put_text_seed(const char *target, const char *text) {
    put_seed(target, cs_view_of(""), cs_view_of(text));
}

static cs_view forged(forge_bytes bytes) {
    return cs_view_bytes(bytes.ptr, bytes.len);
}

/* ---- messages: every field of every type, driven by the descriptors ------------------------------- */

static void *new_message(const ProtobufCMessageDescriptor *type, unsigned variant);

static void fill_value(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field, unsigned variant,
                       void *slot) {
    static const uint64_t numbers[] = {1, 0x7FFFFFFF, UINT64_MAX, 300};
    static const double doubles[] = {1.5, -0.0, 1e300, 0.1};
    static const char *const texts[] = {"text", "\xC3\xA9\xE2\x80\xA8<&>", "", "a\nb"};
    const char *text = cs_field_is_text(type, field) ? texts[variant % 4] : "\x01\xFF\x80";
    int truth = 1;
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        *(void **)slot = new_message(field->descriptor, variant);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        if (!cs_bytes_set(slot, cs_view_of(text))) abort();
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        memcpy(slot, &doubles[variant % 4], sizeof(double));
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        memcpy(slot, &numbers[variant % 4], sizeof(uint64_t));
        break;
    case PROTOBUF_C_TYPE_BOOL:
        memcpy(slot, &truth, sizeof truth);
        break;
    default:
        memcpy(slot, &numbers[variant % 4], sizeof(uint32_t));
        break;
    }
}

static void fill_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, unsigned variant) {
    const ProtobufCMessageDescriptor *type = message->descriptor;
    uint8_t *base = (uint8_t *)message;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t size = field->type == PROTOBUF_C_TYPE_BYTES ? sizeof(ProtobufCBinaryData) : sizeof(void *);
        uint8_t *array = calloc(2, size);
        if (array == NULL) abort();
        fill_value(type, field, variant, array);
        fill_value(type, field, variant + 1, array + size);
        memcpy(base + field->offset, &array, sizeof array);
        *(size_t *)(base + field->quantifier_offset) = 2;
        return;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        /* The variants take the members in turn. */
        uint32_t *chosen = (uint32_t *)(base + field->quantifier_offset);
        if (*chosen != 0 || (field->id - 10) % 4 != variant % 4) return;
        *chosen = field->id;
    }
    fill_value(type, field, variant, base + field->offset);
}

static void *new_message(const ProtobufCMessageDescriptor *type, unsigned variant) {
    ProtobufCMessage *message = malloc(type->sizeof_message);
    if (message == NULL) abort();
    protobuf_c_message_init(type, message);
    for (unsigned i = 0; i < type->n_fields; i++)
        fill_field(message, &type->fields[i], variant);
    return message;
}

static void put_message(const ProtobufCMessage *message) {
    uint8_t first = fuzz_byte_of(message->descriptor);
    cs_view prefix = cs_view_bytes(&first, 1);
    cs_buf json = CS_BUF_INIT(SIZE_MAX / 2);
    cs_buf binary = fuzz_encode(message);
    if (cs_protojson_write(message, &json, NULL) != CS_OK) abort();
    put_seed("message", prefix, cs_buf_view(&binary));
    put_seed("protojson", prefix, cs_buf_view(&json));
    if (message->descriptor == &plimsoll__v1__run_request__descriptor) {
        put_seed("request", cs_view_of("\x03"), cs_buf_view(&json));
        put_seed("request", cs_view_of("\x02"), cs_buf_view(&binary));
    }
    cs_buf_free(&json);
    cs_buf_free(&binary);
}

static void put_messages(void) {
    for (uint8_t byte = 0; byte == 0 || fuzz_type(byte) != fuzz_type(0); byte++)
        for (unsigned variant = 0; variant < 4; variant++) {
            ProtobufCMessage *message = new_message(fuzz_type(byte), variant);
            put_message(message);
            cs_message_free(message);
        }
}

/* ---- requests and runs that pass ------------------------------------------------------------------ */

static const char *const good_requests[] = {
    "{\"protocol\":3,\"minimumIsolation\":\"vm\",\"traceId\":\"t-1\",\"timeoutMs\":5,\"javascript\":{\"code\":\"1\"}}",
    "{\"softwareRule\":{\"mode\":\"exact\",\"identities\":[\"oci:a@sha256:1\"]},\"javascript\":{\"code\":\"\\u00e9\"}}",
    "{\"softwareRule\":{\"mode\":\"approved\",\"identities\":[\"b\",\"a\"]},\"project\":{\"files\":[{\"path\":\"a/b\","
    "\"content\":\"x\"},{\"path\":\"c\"}],\"steps\":[\"make\",\"\"],\"artifacts\":[\"out/a\"],\"grantProfile\":\"g\"}}",
    "{\"module\":{\"model\":\"cartpole\",\"rows\":[{\"values\":[0.1,-0,1e300]},{\"values\":[1,2,3]}],\"endTime\":1,"
    "\"step\":0.02}}",
    "{\"cell\":{\"language\":\"python\",\"code\":\"print(1)\",\"files\":[{\"path\":\"a\",\"content\":\"\\u0000\"}]}}",
};

static void put_requests(void) {
    for (size_t i = 0; i < sizeof good_requests / sizeof *good_requests; i++) {
        ProtobufCMessage *message = NULL;
        if (cs_protojson_read(&plimsoll__v1__run_request__descriptor, cs_view_of(good_requests[i]), &message, NULL) !=
            CS_OK)
            abort();
        put_message(message);
        cs_message_free(message);
    }
}

/* A request and a response as fuzz_exchange takes them. */
static void put_exchange(uint8_t flags, cs_view request, cs_view response) {
    CS_AUTO_BUF seed = CS_BUF_INIT(SIZE_MAX / 2);
    uint8_t head[] = {flags, (uint8_t)(request.len >> 8), (uint8_t)request.len};
    if (!cs_buf_append(&seed, head, sizeof head) || !cs_buf_append(&seed, request.ptr, request.len)) abort();
    put_seed("exchange", cs_buf_view(&seed), response);
}

static void put_protocol_4(void) {
    sample s;
    sample_init(&s);
    s.request->protocol = 4;
    s.record->version = 4;
    canon_set(&s.record->instance, "k8s-pod-uid:1");
    canon_set(&s.response->instance, "k8s-pod-uid:1");
    sample_seal(&s, SEAL_ALL);
    cs_buf request = fuzz_encode(s.request);
    put_exchange(0, cs_buf_view(&request), cs_view_bytes(s.bytes, s.len));
    put_exchange(31, cs_buf_view(&request), cs_view_bytes(s.bytes, s.len));
    put_exchange(63, cs_buf_view(&request), cs_view_bytes(s.bytes, s.len));
    put_message(&s.response->base);
    put_message(&s.record->base);
    cs_buf_free(&request);
    sample_free(&s);
}

static void put_exchanges(void) {
    put_protocol_4();
    sample s;
    sample_init(&s);
    cs_buf request = fuzz_encode(s.request);
    put_exchange(0, cs_buf_view(&request), cs_view_bytes(s.bytes, s.len));
    put_exchange(31, cs_buf_view(&request), cs_view_bytes(s.bytes, s.len));
    put_exchange(63, cs_buf_view(&request), cs_view_bytes(s.bytes, s.len));
    put_message(&s.request->base);
    put_message(&s.response->base);
    put_message(&s.record->base);
    put_message(&s.before->base);
    cs_buf_free(&request);
    sample_free(&s);
    for (unsigned i = 0; i < sizeof good_requests / sizeof *good_requests; i++) {
        ProtobufCMessage *message = NULL;
        if (cs_protojson_read(&plimsoll__v1__run_request__descriptor, cs_view_of(good_requests[i]), &message, NULL) !=
            CS_OK)
            abort();
        request = fuzz_encode(message);
        for (unsigned variant = 0; variant < 4; variant++) {
            cs_run_response *response = new_message(&plimsoll__v1__run_response__descriptor, variant);
            /* What the floors and rules of the requests above allow. */
            if (!cs_bytes_set(&response->isolation, cs_view_of("vm")) ||
                !cs_bytes_set(&response->software_identity, cs_view_of(i == 1 ? "oci:a@sha256:1" : "a")))
                abort();
            cs_buf bytes = fuzz_encode(response);
            put_exchange(31, cs_buf_view(&request), cs_buf_view(&bytes));
            put_exchange(63, cs_buf_view(&request), cs_buf_view(&bytes));
            cs_buf_free(&bytes);
            cs_message_free(response);
        }
        cs_buf_free(&request);
        cs_message_free(message);
    }
}

/* ---- bundles, envelopes, statements --------------------------------------------------------------- */

static void put_bundles(void) {
    forge_run run = forge_single();
    for (unsigned b = 0; b < GENUINE_BUNDLES; b++)
        put_seed("verify", cs_view_of(""), forged(forge_file(genuine_bundle(b))));
    for (size_t i = 0; i < genuine_line_count(); i++) {
        uint8_t steps[] = {0, (uint8_t)i, 0, 0, 1, (uint8_t)i, 1, 0, 0, (uint8_t)(i + 1), 0, 0};
        put_seed("verify", cs_view_of(""), cs_view_bytes(steps, sizeof steps));
        put_text_seed("line", genuine_line(i));
    }
    const char *statements[] = {
        forge_statement(&run),
        forge_close(FORGE_SESSION, 3, run.record_sha256),
        forge_close(FORGE_SESSION, 0, ""),
        forge_link(1, "", run.record_sha256, 0),
        forge_link(2, run.record_sha256, NULL, 1),
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        put_text_seed("statement", statements[i]);
        put_text_seed("envelope", forge_envelope(genuine_key(), statements[i]));
    }
    run.policy = "\\u0008\\u000c\\b\\f\\\\u0008\\u003c\\u2028";
    run.version = 3;
    run.unanswered = "internal";
    put_text_seed("statement", forge_statement(&run));
    run.version = 4;
    run.instance = "k8s-pod-uid:1";
    put_text_seed("statement", forge_statement(&run));
}

/* ---- ledgers -------------------------------------------------------------------------------------- */

static cs_ledger_row row_of(const forge_run *run, cs_buf *request, cs_buf *response) {
    forge_bytes bytes = forge_request(run);
    forge_bytes answer = forge_response(run);
    if (!cs_buf_append(request, bytes.ptr, bytes.len) || !cs_buf_append(response, answer.ptr, answer.len)) abort();
    return (cs_ledger_row){
        .added_unix_ms = 1700000000123,
        .kind = cs_view_of("run"),
        .daemon = cs_view_of("http://127.0.0.1:8746"),
        .code = cs_view_of(""),
        .detail = cs_view_of(""),
        .request = cs_buf_view(request),
        .response = cs_buf_view(response),
        .envelope = cs_view_of(forge_envelope(genuine_key(), forge_statement(run))),
        .record_sha256 = cs_view_of(run->record_sha256),
    };
}

static void fill_ledger(sqlite3 *db) {
    for (unsigned i = 1; i <= 3; i++) {
        CS_AUTO_BUF request = CS_BUF_INIT(4096);
        CS_AUTO_BUF response = CS_BUF_INIT(4096);
        forge_run run = forge_single();
        run.code = forge_text("%u", i); /* those of the genuine bundle of several runs */
        forge_seal(&run);
        cs_ledger_row row = row_of(&run, &request, &response);
        raw_append(db, row);
        row.kind = cs_view_of("finding");
        row.code = cs_view_of("result-digest");
        row.detail = cs_view_of("the result is another one");
        row.envelope = cs_view_bytes(NULL, 0);
        row.record_sha256 = cs_view_of("");
        raw_append(db, row);
    }
}

/* Two bundles with links, in pieces between one another, and runs without. */
static void fill_imported(sqlite3 *db) {
    const forge_bundle *one = genuine_bundle(3);
    const forge_bundle *other = genuine_bundle(4);
    for (size_t i = 0; i < one->count || i < other->count; i++) {
        if (i < one->count) raw_append(db, imported_row(one->lines[i]));
        if (i < other->count) raw_append(db, imported_row(other->lines[i]));
    }
    fill_ledger(db);
}

static void put_ledger(const char *page_size, void (*fill)(sqlite3 *db)) {
    char folder[128];
    char path[160];
    size_t len = 0;
    folder_make(folder);
    (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
    sqlite3 *db = raw_create(path);
    if (fill != NULL) fill(db);
    raw_sql(db, "PRAGMA journal_mode = DELETE");
    raw_sql(db, forge_text("PRAGMA page_size = %s", page_size));
    raw_sql(db, "VACUUM");
    raw_sql(db, "PRAGMA journal_mode = WAL");
    raw_close(db);
    char *bytes = file_read(path, &len);
    if (bytes == NULL) abort();
    put_seed("ledger", cs_view_of(""), cs_view_bytes(bytes, len));
    free(bytes);
    folder_remove(folder);
}

/* Each bundle whole, as fuzz_imported takes it. */
static void put_imported(void) {
    size_t first = 0;
    for (unsigned b = 0; b < GENUINE_BUNDLES; b++) {
        CS_AUTO_BUF steps = CS_BUF_INIT(4096);
        for (size_t i = 0; i < genuine_bundle(b)->count; i++) {
            uint8_t step[] = {0, (uint8_t)(first + i), 0};
            if (!cs_buf_append(&steps, step, sizeof step)) abort();
        }
        put_seed("imported", cs_view_of(""), cs_buf_view(&steps));
        first += genuine_bundle(b)->count;
    }
}

/* ---- the small ones ------------------------------------------------------------------------------- */

static void put_keys(void) {
    uint8_t seed[CS_KEY_SEED_BYTES] = {1, 2, 3};
    cs_key *key = NULL;
    cs_buf secret = {0};
    CS_AUTO_BUF pem = CS_BUF_INIT(CS_MAX_KEY_FILE);
    if (cs_key_from_seed(seed, &key, NULL) != CS_OK || !cs_key_secret_new(CS_MAX_KEY_FILE, &secret) ||
        !cs_key_private_pem(key, &secret) || !cs_key_public_pem(cs_key_public(key), &pem))
        abort();
    const char *targets[] = {"private_key", "public_key"};
    for (int i = 0; i < 2; i++) {
        put_seed(targets[i], cs_view_of(""), cs_buf_view(&secret));
        put_seed(targets[i], cs_view_of(""), cs_buf_view(&pem));
        put_seed(targets[i], cs_view_of("\r\n "), cs_buf_view(i == 0 ? &secret : &pem));
    }
    cs_key_secret_free(&secret);
    cs_key_free(key);
}

#define ID "0123456789abcdef0123456789abcdef\n"

static void put_answers(void) {
    sample s;
    sample_init(&s);
    CS_AUTO_BUF json = CS_BUF_INIT(SIZE_MAX / 2);
    CS_AUTO_BUF error = CS_BUF_INIT(SIZE_MAX / 2);
    if (cs_protojson_write(&s.response->base, &json, NULL) != CS_OK ||
        !cs_connect_error_write(CS_CONNECT_RESOURCE_EXHAUSTED, "full \xC3\xA9", 6, &error))
        abort();
    /* One of each header (0x55), or no mark and no content encoding (0x11). */
    put_seed("answer", cs_view_bytes("\x11\x00\x00" ID "\napplication/proto\n\n", 56), cs_view_bytes(s.bytes, s.len));
    put_seed("answer", cs_view_bytes("\x11\x01\x00" ID "\napplication/json; charset=utf-8\n\n", 70), cs_buf_view(&json));
    put_seed("answer", cs_view_bytes("\x11\x00\x06" ID "\napplication/json\n\n", 55), cs_buf_view(&error));
    put_seed("answer", cs_view_bytes("\x55\x00\x06" ID "capacity\napplication/json\nidentity\n", 71), cs_view_of("busy"));
    put_seed("answer", cs_view_bytes("\x55\x08\x00" ID "request\napplication/proto\n\n", 63), cs_view_of("timed out"));
    put_seed("connect_error", cs_view_of(""), cs_buf_view(&error));
    put_text_seed("connect_error", "{\"code\":\"internal\"}");
    put_text_seed("connect_error", "{\"code\":\"unavailable\",\"message\":\"m\",\"details\":[{\"type\":\"a/plimsoll.v1."
                              "NotDispatched\",\"value\":\"CAY=\"},{\"type\":\"plimsoll.v1.SessionEnded\"}]}");
    /* SessionEnded{reason: 2, detail: "idle"}; UnansweredCall{record: {version: 3}}. */
    put_text_seed("connect_error", "{\"new\":[{\"a\":[]},null,-1e3],\"c\\u006fde\":\"internal\",\"details\":[7,{\"type\":"
                              "\"plimsoll.v1.SessionEnded\",\"value\":\"CAISBGlkbGU\",\"debug\":{}},{\"type\":"
                              "\"plimsoll.v1.UnansweredCall\",\"value\":\"CgIIAw\"}]}");
    sample_free(&s);
}

#define PEM "-----BEGIN PUBLIC KEY-----\\n%s\\n-----END PUBLIC KEY-----\\n"
/* Of RFC 8032, section 7.1. */
#define KEY_1 "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
#define KEY_2 "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="

static void put_trust(void) {
    static const char *const members[] = {
        "", ",\"label\":\"ci \\u00e9\"", ",\"not_before\":\"2026-02-28T23:59:59.9Z\"",
        ",\"label\":\"a\",\"not_before\":\"1970-01-01T00:00:00Z\",\"not_after\":\"9999-12-31T23:59:59.999Z\""};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        put_text_seed("trust", forge_text("{\"version\":1,\"keys\":[{\"key\":\"" PEM "\"%s}]}", KEY_1, members[i]));
        put_text_seed("trust", forge_text("{\"version\":1,\"keys\":[{\"key\":\"" PEM "\"},{\"key\":\"" PEM "\"%s}]}",
                                     KEY_1, KEY_2, members[i]));
    }
}

static void put_expected(void) {
    const char *one = forge_sha256("1", 1);
    const char *two = forge_sha256("2", 1);
    put_text_seed("expect", forge_text("%s\n", one));
    put_text_seed("expect", forge_text("# a\n%s\n\n# b\n%s\n%s\n", two, one, two));
}

static void put_small(void) {
    static const char *const urls[] = {
        "\x01http://127.0.0.1:8746", "\x01http://LOCALHOST/a/b/", "\x02https://h.example:443/p",
        "\x01http://[::1]:80/",      "\x01http://0x7f.1/",        "\x01http://user@h/",
    };
    static const char *const texts[] = {"(plain", ")a\\b\n\x1b[31m\xE2\x80\xAE\xFF",
                                        "\x07\xC3\xA9\xF0\x9F\x98\x80\xED\xA0\x80"};
    static const char *const numbers[] = {"0", "-0", "1.5e-7", "18446744073709551615", "1e400", "0.1", "12345678"};
    static const char *const codes[] = {"", "Zg==", "Zm8=", "Zm9v", "_-8", "Zm9vYg"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        put_text_seed("url", urls[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_text_seed("escape", texts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_text_seed("number", numbers[i]);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        put_text_seed("base64", codes[i]);
}

/* The line that a probe prints; the target adds the digest. */
static void put_probe(void) {
    put_text_seed("probe", "{\"probe\":\"countersign.tier-probe.v1\",\"form\":\"program\",\"release\":\"6.1.0\",\"version\":"
                      "\"#1 SMP\",\"boot_id\":null,\"clock_us\":-5,\"pid_ns\":4026531836,\"ipc_ns\":null,\"seccomp\":2,"
                      "\"no_new_privs\":1,\"capable\":0,\"kernel_log_gvisor\":false,\"loopback\":111,\"canary\":null,"
                      "\"no_call\":38,\"mseal\":22,\"file_getattr\":38,\"vmsplice\":9,\"remap_file_pages\":22,"
                      "\"landlock_abi\":-38,\"hypervisor\":\"TCGTCGTCGTCG\",\"processes\":[1,2,65535]}");
}

static const char *baseline_of(const char *policy, const char *keys) {
    return forge_text("{\"state\":{\n\"daemon\":\"http://127.0.0.1:1\",\n\"provider\":\"process\",\n\"policy\":\"%s\",\n"
                      "\"environment\":\"\",\n\"daemon-start\":\"unknown\",\n\"host-boot\":\"unknown\",\n"
                      "\"depth\":\"host\"},\n\"keys\":{%s}}",
                      policy, keys);
}

static void put_baseline(void) {
    static const char head[] = "{\"format\":\"countersign.tier-baseline.v1\",\"baselines\":[\n";
    const char *one = baseline_of("p", "\n\"a\":\"\",\n\"b_1.c-d\":\"\\b\\u001f\xC3\xA9\"");
    put_text_seed("baseline", forge_text("%s%s]}\n", head, one));
    put_text_seed("baseline", forge_text("%s%s,\n%s]}\n", head, one, baseline_of("q\\u003c\\\"\\\\", "")));
    put_text_seed("baseline", forge_text("%s%s]}\n", head, baseline_of("p", "\n\"b\":\"1\",\n\"a\":\"2\"")));
}

/* Frames as long as they may be, and one byte longer; and an answer in two parts, of which only the first is right. */
static void put_long_frames(void) {
    static uint8_t said[5 + 32769 + 11] = "o\0\0\x80\0";
    static uint8_t parts[10 + 5 + 32768 + 6] = "s\0\0\0\5\0\0\0\x80\1" "p\0\0\x80\0";
    put_seed("channel", cs_view_of("\1\3\3\3"), cs_view_bytes(said, 5 + 32768));
    said[4] = 1;
    put_seed("channel", cs_view_of("\1\3\3\3"), cs_view_bytes(said, sizeof said));
    memcpy(parts + 10 + 5 + 32768, "p\0\0\0\1a", 6);
    put_seed("channel", cs_view_of("\1\22\3\3"), cs_view_bytes(parts, sizeof parts));
    parts[10 + 5 + 32768] = 'o';
    put_seed("channel", cs_view_of("\1\22\3\3"), cs_view_bytes(parts, sizeof parts));
}

/* Frames of a guest, each conversation behind its ways and questions. */
#define FRAMES(literal) cs_view_bytes(literal, sizeof(literal) - 1)
static void put_conversations(void) {
    const cs_view greeting = FRAMES("r\0\0\0\4\0\0\0\1" "d\0\0\0\5\0\0\0\0\0");
    put_seed("channel", FRAMES("\1\0\1\3"), greeting);
    put_seed("channel", FRAMES("\1\1\5\1"), FRAMES("d\0\0\0\5\0\0\0\0\0" "d\0\0\0\5\1\0\0\0\24" "d\0\0\0\5\3\0\0\0\34"));
    put_seed("channel", FRAMES("\1\12\2\16"), FRAMES("s\0\0\0\5\0\0\0\0\3" "p\0\0\0\3abc" "s\0\0\0\5\0\0\0\0\0"
                                              "s\0\0\0\5\2\0\0\0\0"));
    put_seed("channel", FRAMES("\1\3\3\3"), FRAMES("o\0\0\0\2hi" "e\0\0\0\1!" "x\0\0\0\6\0\0\0\0\3\1" "x\0\0\0\6\1\0\0\0\11\1"
                                            "x\0\0\0\6\3\0\0\0\2\1"));
    put_seed("channel", FRAMES("\0\3\3\3"), FRAMES("x\0\0\0\6\2\0\0\0\0\1"));
    put_seed("channel", FRAMES("\1\3\3\3"), FRAMES("x\0\0\0\6\1\0\0\0\100\1" "x\0\0\0\6\0\0\0\1\0\1"));
    put_seed("channel", FRAMES("\1\6\2\0"), FRAMES("s\0\0\0\5\0\0\0\0\1" "p\0\0\0\1a" "s\0\0\0\5\0\0\0\0\1" "p\0\0\0\1a"));
    put_seed("channel", FRAMES("\1\12\2\0"), FRAMES("s\0\0\0\5\0\0\0\0\3" "p\0\0\0\3ab"));
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    root = argv[1];
    put_messages();
    put_requests();
    put_exchanges();
    put_bundles();
    put_ledger("512", fill_ledger);
    put_ledger("1024", fill_ledger);
    put_ledger("1024", fill_imported);
    put_ledger("512", NULL);
    put_imported();
    put_keys();
    put_answers();
    put_trust();
    put_expected();
    put_small();
    put_probe();
    put_conversations();
    put_long_frames();
    put_baseline();
    seeds_of_the_gate();
    return 0;
}
