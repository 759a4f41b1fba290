/* Seeds of what the gate reads, of pages, and of pairs of messages. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/canon.h"
#include "tests/support/policy_case.h"
#include "tests/support/sample.h"

static void put_globs(void) {
    static const char *const globs[] = {
        "a/**/b*.[!a-c]?\na/x/y/bb.dd", "**/*.js\nsrc/main.js", "src/**\nsrc/a/b", "\\*[\\]-]\n*]",
        "a*a*a*b\naaaaaaaaab",          "**/a/**/a/b\na/a/a/b",
    };
    for (size_t i = 0; i < sizeof globs / sizeof *globs; i++)
        put_text_seed("glob", globs[i]);
}

static void put_junit(void) {
    put_text_seed("junit",
                  "<?xml version=\"1.0\" encoding=\"utf-8\"?><testsuites tests=\"3\"><testsuite name=\"s\" tests=\"2\" "
                  "failures=\"1\" errors=\"0\" skipped=\"1\" disabled=\"0\"><testcase classname=\"c\" name=\"a\">"
                  "<failure message=\"m\">&lt;x&gt;</failure></testcase><testcase name=\"b\"><skipped/></testcase>"
                  "</testsuite><testcase name=\"c\" status=\"notrun\"/></testsuites>");
    put_text_seed("junit",
                  "<testsuite tests=\"1\"><properties><property name=\"p\" value=\"&#10;\"/></properties>"
                  "<testsuite name=\"t\"><testcase name=\"a\"><error/><system-out><![CDATA[<failure/>]]></system-out>"
                  "</testcase></testsuite></testsuite>");
    put_text_seed("junit",
                  "<testsuite name=\"s\" tests=\"3\" Failures=\"1\" errors=\"x\"><testcase name=\"a\" "
                  "status=\"Passed\" result=\"suppressed\" success=\"no\" outcome=\"timeout\"/><testcase name=\"b\">"
                  "<Ignored/><failed/><flakyError/></testcase><testcase name=\"c\"/></testsuite>");
    put_text_seed("junit",
                  "<!DOCTYPE testsuite [<!ENTITY a \"b\">]><testsuite name=\"&a;\"><testcase name=\"a\"/></testsuite>");
}

static void put_policies(void) {
    for (size_t i = 0; i < policy_change_count; i++) {
        char *text = policy_case_text(&policy_changes[i]);
        put_text_seed("policy", text);
        free(text);
    }
}

static void put_pages(void) {
    put_text_seed("page", "0a<script>&amp;\"'\\x1b\x1b[m\xe2\x80\xae\xef\xbf\xbe\xc0\xbc\n");
    put_text_seed("page", "1line\n\ttab\r\xff");
    put_text_seed(
        "page",
        "2{\"command\":\"gate\",\"verdict\":\"passed\",\"exit\":0,\"code\":\"ok\",\"message\":\"m\",\"sections\":"
        "[{\"requirement\":\"r\",\"selected\":2,\"counted\":1,\"rules\":[{\"rule\":\"bind\",\"state\":\"passed\","
        "\"found\":\"<b>\",\"wanted\":null,\"source\":\"l.db\",\"entry\":3}]}]}");
    put_text_seed("page",
                  "2{\"command\":\"gate\",\"verdict\":\"unchecked\",\"exit\":5,\"code\":\"io\",\"message\":\"m\"}");
}

/* Two messages of one type, as the target `diff` splits them. */
static void put_pair(uint8_t how, const void *a, const void *b) {
    cs_buf left = fuzz_encode(a);
    cs_buf right = fuzz_encode(b);
    const uint8_t head[] = {fuzz_byte_of(((const ProtobufCMessage *)a)->descriptor), how, (uint8_t)left.len,
                            (uint8_t)(left.len >> 8)};
    CS_AUTO_BUF prefix = CS_BUF_INIT(sizeof head + left.len);
    if (!cs_buf_append(&prefix, head, sizeof head) || !cs_buf_append(&prefix, left.ptr, left.len)) abort();
    put_seed("diff", cs_buf_view(&prefix), cs_buf_view(&right));
    cs_buf_free(&left);
    cs_buf_free(&right);
}

static void put_pairs(void) {
    sample a;
    sample b;
    sample_init(&a);
    sample_init(&b);
    put_pair(1, a.response, b.response);
    sample_again(&b);
    put_pair(1, a.response, b.response);
    canon_set(&b.request->javascript->code, "1\n2\n");
    canon_set(&b.response->javascript->stdout, "1\n2\n\xe2\x80\xae");
    put_pair(0, a.request, b.request);
    put_pair(0, a.response, b.response);
    sample_free(&a);
    sample_free(&b);
}

void seeds_of_the_gate(void) {
    put_pairs();
    put_pages();
    put_globs();
    put_junit();
    put_policies();
}
