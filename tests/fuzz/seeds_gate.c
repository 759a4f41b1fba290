/* Seeds of what the gate reads, and of pages. */
#include <stdlib.h>

#include "tests/fuzz/seeds.h"
#include "tests/support/policy_case.h"

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
    put_text_seed("page",
                  "2{\"command\":\"gate\",\"verdict\":\"passed\",\"exit\":0,\"code\":\"ok\",\"message\":\"m\",\"sections\":"
                  "[{\"requirement\":\"r\",\"selected\":2,\"counted\":1,\"rules\":[{\"rule\":\"bind\",\"state\":\"passed\","
                  "\"found\":\"<b>\",\"wanted\":null,\"source\":\"l.db\",\"entry\":3}]}]}");
    put_text_seed("page", "2{\"command\":\"gate\",\"verdict\":\"unchecked\",\"exit\":5,\"code\":\"io\",\"message\":\"m\"}");
}

void seeds_of_the_gate(void) {
    put_pages();
    put_globs();
    put_junit();
    put_policies();
}
