/* Seeds of what comes from a daemon, a probe, or a guest. */
#include <stdlib.h>
#include <string.h>

#include "records/protojson.h"
#include "records/wire.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/sample.h"

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

/* The line that a probe prints; the target adds the digest. */
static void put_probe(void) {
    put_text_seed("probe", "{\"probe\":\"countersign.tier-probe.v1\",\"form\":\"program\",\"release\":\"6.1.0\",\"version\":"
                      "\"#1 SMP\",\"boot_id\":null,\"clock_us\":-5,\"pid_ns\":4026531836,\"ipc_ns\":null,\"seccomp\":2,"
                      "\"no_new_privs\":1,\"capable\":0,\"kernel_log_gvisor\":false,\"loopback\":111,\"canary\":null,"
                      "\"no_call\":38,\"mseal\":22,\"file_getattr\":38,\"vmsplice\":9,\"remap_file_pages\":22,"
                      "\"landlock_abi\":-38,\"hypervisor\":\"TCGTCGTCGTCG\",\"processes\":[1,2,65535]}");
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

void seeds_of_daemons(void) {
    put_answers();
    put_probe();
    put_conversations();
    put_long_frames();
}
