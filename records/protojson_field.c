#include "records/protojson_field.h"

size_t cs_protojson_size(const ProtobufCFieldDescriptor *field) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_ENUM:
        return sizeof(uint32_t);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return sizeof(uint64_t);
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(ProtobufCMessage *);
    default:
        return 0;
    }
}

static char upper(char letter) {
    return (char)(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter);
}

/* The next letter of the lowerCamel name, and steps over it: an underscore makes the letter behind it
 * a capital. 0 at the end. */
static char camel_next(const char **name) {
    bool capital = false;
    while (**name == '_') {
        capital = true;
        ++*name;
    }
    char letter = **name;
    if (letter == '\0') return '\0';
    ++*name;
    if (capital) letter = upper(letter);
    return letter;
}

bool cs_protojson_camel(const char *name, char out[CS_PROTOJSON_NAME]) {
    for (size_t i = 0; i < CS_PROTOJSON_NAME; i++) {
        out[i] = camel_next(&name);
        if (out[i] == '\0') return true;
    }
    return false;
}

static bool is_camel(cs_view text, const char *name) {
    for (size_t i = 0; i < text.len; i++) {
        char letter = camel_next(&name);
        if (letter == '\0' || text.ptr[i] != (uint8_t)letter) return false;
    }
    return camel_next(&name) == '\0';
}

unsigned cs_protojson_find(const ProtobufCMessageDescriptor *type, cs_view name) {
    unsigned i = 0;
    while (i < type->n_fields && !cs_view_is(name, type->fields[i].name) && !is_camel(name, type->fields[i].name))
        i++;
    return i;
}
