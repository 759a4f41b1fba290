/* Errors: which of them say that nothing ran, and may be believed.
 *
 * "Nothing ran" is the one word of a daemon after which a run may be sent again, so anything but a clear
 * mark means that it may have run. */
#include <criterion/criterion.h>

#include "tests/hostile/hostile.h"

#define S429 "HTTP/1.1 429 Too Many Requests\r\n"
#define S503 "HTTP/1.1 503 Service Unavailable\r\n"
#define MARK(word) "Plimsoll-Not-Dispatched: " word "\r\n"
#define TYPE_OF_MARK "plimsoll.v1.NotDispatched"
#define MESSAGE "full house"
#define ERROR_WITH(details) "{\"code\":\"resource_exhausted\",\"message\":\"" MESSAGE "\",\"details\":[" details "]}"
/* NotDispatched{reason: 6}, capacity, is the bytes 08 06. */
#define CAPACITY "{\"type\":\"" TYPE_OF_MARK "\",\"value\":\"CAY=\"}"
#define PERMISSION "{\"type\":\"" TYPE_OF_MARK "\",\"value\":\"CAI=\"}"

/* ---- a detail ------------------------------------------------------------------------------------- */

static const play details[] = {
    {"not padded", BODY("CAY=", "CAY"), REFUSED(CAPACITY)},
    {"header says otherwise", HEAD(H_ID, H_ID MARK("permission")), REFUSED(CAPACITY)},
    {"header with an unknown word", HEAD(H_ID, H_ID MARK("weather")), REFUSED(CAPACITY)},
    {"type behind a slash", BODY(TYPE_OF_MARK, "type.googleapis.com/" TYPE_OF_MARK), REFUSED(CAPACITY)},
    {"type behind several slashes", BODY(TYPE_OF_MARK, "a/b//" TYPE_OF_MARK), REFUSED(CAPACITY)},
    {"type before a slash", BODY(TYPE_OF_MARK, TYPE_OF_MARK "/"), UNANSWERED(ERROR)},
    {"type behind a backslash", BODY(TYPE_OF_MARK, "x\\\\" TYPE_OF_MARK), UNANSWERED(ERROR)},
    {"type in another case", BODY(TYPE_OF_MARK, "plimsoll.v1.notDispatched"), UNANSWERED(ERROR)},
    {"type of another version", BODY("plimsoll.v1.", "plimsoll.v2."), UNANSWERED(ERROR)},
    {"type with a NUL behind it", BODY(TYPE_OF_MARK, TYPE_OF_MARK "\\u0000"), UNANSWERED(ERROR)},
    {"type that is no text", BODY("\"" TYPE_OF_MARK "\"", "7"), UNANSWERED(ERROR)},
    {"unknown reason number", BODY("CAY=", "CGM="), REFUSED(UNSPECIFIED)},
    {"no reason", BODY("CAY=", ""), REFUSED(UNSPECIFIED)},
    {"another reason", BODY("CAY=", "CAU="), REFUSED(ISOLATION)},
    {"not base64", BODY("CAY=", "!!!!"), UNANSWERED(ERROR)},
    {"no message", BODY("CAY=", "CA=="), UNANSWERED(ERROR)},
    {"a message of another kind", BODY("CAY=", "CgFz"), UNANSWERED(ERROR)},
    {"value that is no text", BODY("\"CAY=\"", "6"), UNANSWERED(ERROR)},
    {"no value", BODY(",\"value\":\"CAY=\"", ""), UNANSWERED(ERROR)},
    {"no details", BODY(CAPACITY, ""), UNANSWERED(ERROR)},
    {"details that are no list", BODY("[" CAPACITY "]", CAPACITY), UNANSWERED(ERROR)},
    {"behind another detail", BODY(CAPACITY, "{\"type\":\"x\",\"value\":\"\"}," CAPACITY), REFUSED(CAPACITY)},
    {"behind one that is no object", BODY(CAPACITY, "7,null,[]," CAPACITY), REFUSED(CAPACITY)},
    {"two reasons: the first counts", BODY(CAPACITY, PERMISSION "," CAPACITY), REFUSED(PERMISSION)},
    {"members of a detail that are new",
     BODY(CAPACITY, "{\"debug\":{},"
                    "\"type\":\"" TYPE_OF_MARK "\",\"value\":\"CAY=\"}"),
     REFUSED(CAPACITY)},
    {"another status", HEAD(S429, "HTTP/1.1 400 No\r\n"), REFUSED(CAPACITY)},
    {"a status of success", HEAD(S429, H_STATUS), UNANSWERED(MALFORMED)},
    {"no content type", HEAD(H_JSON, ""), REFUSED(CAPACITY)},
};

Test(hostile_marks, in_a_detail) {
    hostile(&(group){.at = AT_ALL,
                     .head = S429 H_JSON H_ID H_LENGTH H_END,
                     .body = ERROR_WITH(CAPACITY),
                     REFUSED(CAPACITY),
                     PLAYS(details)});
}

/* ---- a header ------------------------------------------------------------------------------------- */

static const play headers[] = {
    {"no mark", HEAD(MARK("capacity"), ""), UNANSWERED(ERROR)},
    {"name in small letters", HEAD("Plimsoll-Not-Dispatched", "plimsoll-not-dispatched"), REFUSED(CAPACITY)},
    {"another word", HEAD("capacity", "environment"), REFUSED(ENVIRONMENT)},
    {"unknown word", HEAD("capacity", "weather"), UNANSWERED(ERROR)},
    {"a number", HEAD("capacity", "6"), UNANSWERED(ERROR)},
    {"unspecified", HEAD("capacity", "unspecified"), UNANSWERED(ERROR)},
    {"in capitals", HEAD("capacity", "CAPACITY"), UNANSWERED(ERROR)},
    {"empty", HEAD("capacity", ""), UNANSWERED(ERROR)},
    {"two words", HEAD("capacity", "capacity, request"), UNANSWERED(ERROR)},
    {"more behind the word", HEAD("capacity", "capacity;q=0"), UNANSWERED(ERROR)},
    {"twice", HEAD(MARK("capacity"), MARK("capacity") MARK("capacity")), UNANSWERED(ERROR)},
    {"only in an interim answer",
     HEAD(S503 MARK("capacity"), "HTTP/1.1 103 Early Hints\r\n" MARK("capacity") "\r\n" S503), UNANSWERED(ERROR)},
    {"under another name", HEAD("Plimsoll-Not-", "Plimsoll-Never-"), UNANSWERED(ERROR)},
    {"a body that is HTML", BODY("busy", "<html>busy</html>"), REFUSED(CAPACITY)},
    {"a detail that says otherwise", BODY("busy", ERROR_WITH(PERMISSION)), REFUSED(PERMISSION)},
    {"a detail that does not decode", BODY("busy", ERROR_WITH("{\"type\":\"" TYPE_OF_MARK "\",\"value\":\"!!!!\"}")),
     REFUSED(CAPACITY)},
};

Test(hostile_marks, in_a_header) {
    hostile(&(group){.at = AT_ALL,
                     .head = S503 MARK("capacity") H_ID H_LENGTH H_END,
                     .body = "busy",
                     REFUSED(CAPACITY),
                     PLAYS(headers)});
}

/* A mark says something about an error. On a success it says nothing, and the answer stands. */
static const play on_success[] = {
    {"mark", HEAD(H_ID, H_ID MARK("capacity")), PASSES},
    {"unknown mark", HEAD(H_ID, H_ID MARK("weather")), PASSES},
    {"mark twice", HEAD(H_ID, H_ID MARK("capacity") MARK("request")), PASSES},
};

Test(hostile_marks, on_a_success) {
    hostile(&(group){.at = AT_ALL, PLAYS(on_success)});
}

/* The same body with another status: no code and no message are in it, but the mark counts. */
static const play good_body[] = {
    {"as a marked error", HEAD(H_STATUS, S503), REFUSED(CAPACITY)},
    {"as a marked error that came too early", HEAD(H_STATUS, "HTTP/1.1 425 Too Early\r\n"), REFUSED(CAPACITY)},
};

Test(hostile_marks, on_a_good_body_with_another_status) {
    hostile(&(group){.at = AT_ALL, .head = H_STATUS MARK("capacity") H_BINARY H_ID H_LENGTH H_END, PLAYS(good_body)});
}

/* ---- every reason, of which the daemon says whether another one could take the request ------------- */

static const play reasons[] = {
    {"request", HEAD("capacity", "request"), REFUSED(REQUEST)},
    {"permission", HEAD("capacity", "permission"), REFUSED(PERMISSION)},
    {"protocol", HEAD("capacity", "protocol"), REFUSED(PROTOCOL)},
    {"unsupported", HEAD("capacity", "unsupported"), REFUSED(UNSUPPORTED)},
    {"isolation", HEAD("capacity", "isolation"), REFUSED(ISOLATION)},
    {"environment", HEAD("capacity", "environment"), REFUSED(ENVIRONMENT)},
};

Test(hostile_marks, every_reason) {
    hostile(&(group){.at = AT_ALL,
                     .head = S503 MARK("capacity") H_ID H_LENGTH H_END,
                     .body = "busy",
                     REFUSED(CAPACITY),
                     PLAYS(reasons)});
}

/* ---- the body around the mark ---------------------------------------------------------------------- */

#define DEEP_10 "[[[[[[[[[["
#define DEEP_100 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10 DEEP_10
#define DEEP_1000 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100 DEEP_100
#define DEEP_3000 DEEP_1000 DEEP_1000 DEEP_1000

static const play bodies[] = {
    {"trailing garbage", TAIL("}"), UNANSWERED(ERROR)},
    {"a second document", TAIL("{}"), UNANSWERED(ERROR)},
    {"blanks behind it", TAIL(" \r\n\t"), REFUSED(CAPACITY)},
    {"a NUL behind it", TAIL("\0"), UNANSWERED(ERROR)},
    {"cut short", BODY("]}", "]"), UNANSWERED(ERROR)},
    {"code twice", BODY("{\"code\"", "{\"code\":\"internal\",\"code\""), UNANSWERED(ERROR)},
    {"details twice", BODY("\"details\"", "\"details\":[],\"details\""), UNANSWERED(ERROR)},
    {"unknown code", BODY("resource_exhausted", "tired"), UNANSWERED(ERROR)},
    {"no code", BODY("\"code\":\"resource_exhausted\",", ""), UNANSWERED(ERROR)},
    {"code in capitals", BODY("resource_exhausted", "RESOURCE_EXHAUSTED"), UNANSWERED(ERROR)},
    {"message that is no text", BODY("\"" MESSAGE "\"", "[]"), UNANSWERED(ERROR)},
    {"no message", BODY("\"message\":\"" MESSAGE "\",", ""), REFUSED(CAPACITY)},
    {"members that are new", BODY("{\"code\"", "{\"new\":[{}],\"code\""), REFUSED(CAPACITY)},
    {"NUL in the message", BODY(MESSAGE, "full\\u0000house"), REFUSED(CAPACITY)},
    {"message that is not UTF-8", BODY(MESSAGE, "full\xffhouse"), UNANSWERED(ERROR)},
    {"message that steers a terminal", BODY(MESSAGE, "\\u001b[2J\\u202egone\\r\\n"), REFUSED(CAPACITY)},
    {"nested too deeply", BODY("{\"code\"", "{\"x\":" DEEP_3000 ",\"code\""), UNANSWERED(ERROR)},
};

Test(hostile_marks, in_a_strange_body) {
    hostile(&(group){.at = AT_ALL,
                     .head = S429 H_JSON H_ID H_LENGTH H_END,
                     .body = ERROR_WITH(CAPACITY),
                     REFUSED(CAPACITY),
                     PLAYS(bodies)});
}

/* What the daemon says is quoted, and kept as text: cutting it short must not cut a character in two, or the
 * ledger could not take the finding. */
#define TEN(x) x x x x x x x x x x
static const play quoted[] = {
    {"long message", BODY(MESSAGE, TEN(TEN(TEN("aaaa")))), UNANSWERED(ERROR)},
    {"long message of 2-byte characters", BODY(MESSAGE, TEN(TEN(TEN("\xc3\xa9")))), UNANSWERED(ERROR)},
    {"long message of 3-byte characters", BODY(MESSAGE, TEN(TEN(TEN("\xe2\x82\xac")))), UNANSWERED(ERROR)},
    {"the same one byte later", BODY(MESSAGE, "a" TEN(TEN(TEN("\xe2\x82\xac")))), UNANSWERED(ERROR)},
    {"long message of 4-byte characters", BODY(MESSAGE, TEN(TEN(TEN("\xf0\x9f\xa6\x80")))), UNANSWERED(ERROR)},
    {"the same one byte later", BODY(MESSAGE, "a" TEN(TEN(TEN("\xf0\x9f\xa6\x80")))), UNANSWERED(ERROR)},
    {"the same two bytes later", BODY(MESSAGE, "ab" TEN(TEN(TEN("\xf0\x9f\xa6\x80")))), UNANSWERED(ERROR)},
    {"controls only", BODY(MESSAGE, TEN(TEN("\\u0007\\u0007\\u0007\\u0007"))), UNANSWERED(ERROR)},
    {"backslashes only", BODY(MESSAGE, TEN(TEN(TEN("\\\\")))), UNANSWERED(ERROR)},
    {"printf's own characters", BODY(MESSAGE, "%n%s%x%5000d"), UNANSWERED(ERROR)},
};

Test(hostile_marks, unmarked_errors_are_kept_as_text) {
    hostile(&(group){.at = AT_ALL,
                     .head = S429 H_JSON H_ID H_LENGTH H_END,
                     .body = ERROR_WITH(""),
                     UNANSWERED(ERROR),
                     PLAYS(quoted)});
}

/* ---- what stands between us and the daemon answers, too -------------------------------------------- */

#define STATUS(line) HEAD(H_STATUS, "HTTP/1.1 " line "\r\n"), UNANSWERED(ERROR)
#define CHALLENGE(line, name) HEAD(H_STATUS, "HTTP/1.1 " line "\r\n" name ": Basic realm=\"x\"\r\n"), UNANSWERED(ERROR)

/* The body is the one of a good daemon: only the status is another. */
static const play statuses[] = {
    {"created", STATUS("201 Created")},
    {"accepted", STATUS("202 Accepted")},
    {"not authoritative", STATUS("203 Non-Authoritative Information")},
    {"no content", STATUS("204 No Content"), .kept = KEPT_NOTHING},
    {"reset content", STATUS("205 Reset Content")},
    {"partial content", STATUS("206 Partial Content")},
    {"not modified", STATUS("304 Not Modified"), .kept = KEPT_NOTHING},
    {"bad request", STATUS("400 Bad Request")},
    {"unauthorized", STATUS("401 Unauthorized")},
    {"challenged", CHALLENGE("401 Unauthorized", "WWW-Authenticate")},
    {"forbidden", STATUS("403 Forbidden")},
    {"not found", STATUS("404 Not Found")},
    {"proxy", STATUS("407 Proxy Authentication Required")},
    {"proxy that asks", CHALLENGE("407 Proxy Authentication Required", "Proxy-Authenticate")},
    {"time-out", STATUS("408 Request Timeout")},
    {"too large", STATUS("413 Content Too Large")},
    {"expectation failed", STATUS("417 Expectation Failed")},
    {"upgrade required", HEAD(H_STATUS, "HTTP/1.1 426 Upgrade Required\r\nUpgrade: h2c\r\n"), UNANSWERED(ERROR)},
    {"retry later", HEAD(H_STATUS, "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\n"), UNANSWERED(ERROR)},
    {"failure", STATUS("500 Internal Server Error")},
    {"bad gateway", STATUS("502 Bad Gateway")},
    {"unavailable", HEAD(H_STATUS, "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\n"), UNANSWERED(ERROR)},
    {"gateway time-out", STATUS("504 Gateway Timeout")},
    {"a status of no class", STATUS("999 Beyond")},
};

Test(hostile_marks, other_statuses) {
    hostile(&(group){.at = AT_ALL, PLAYS(statuses)});
}

#define LOCATION "Location: {elsewhere}/plimsoll.v1.SandboxService/Run\r\n"

/* Where the base points to would answer, and must never be asked. */
static const play redirects[] = {
    {"300", STATUS("300 Multiple Choices")},
    {"301", STATUS("301 Moved Permanently")},
    {"302", STATUS("302 Found")},
    {"303", STATUS("303 See Other")},
    {"305", STATUS("305 Use Proxy")},
    {"307", STATUS("307 Temporary Redirect")},
    {"308", STATUS("308 Permanent Redirect")},
};

Test(hostile_marks, redirects_are_not_followed) {
    hostile(&(group){.at = AT_ALL, .head = H_STATUS H_BINARY LOCATION H_ID H_LENGTH H_END, PLAYS(redirects)});
}

/* A gateway's page knows neither our id nor what ran. */
static const play pages[] = {
    {"with our id", HEAD("text/html\r\n", "text/html\r\n" H_ID), UNANSWERED(ERROR)},
    {"as a success", HEAD("502 Bad Gateway", "200 OK"), UNANSWERED(UNBOUND)},
    {"empty", BODY("<html>no</html>", ""), UNANSWERED(ERROR)},
};

Test(hostile_marks, pages_of_a_gateway) {
    hostile(&(group){.at = AT_ALL,
                     .head = "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\n" H_LENGTH H_END,
                     .body = "<html>no</html>",
                     UNANSWERED(ERROR),
                     PLAYS(pages)});
}
