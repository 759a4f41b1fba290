/* Seeds of messages: every field of every type, driven by the descriptors; requests and runs that pass. */
#include <stdlib.h>
#include <string.h>

#include "records/protojson.h"
#include "records/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/canon.h"
#include "tests/support/sample.h"

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

void seeds_of_messages(void) {
    put_messages();
    put_requests();
    put_exchanges();
}
