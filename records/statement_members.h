/* The members of the predicates, in the order in which they are written. One table serves the builder
 * and the reader of statements; for those two files only. */
#ifndef CS_RECORDS_STATEMENT_MEMBERS_H
#define CS_RECORDS_STATEMENT_MEMBERS_H

#include "records/statement.h"

typedef enum cs_member_form {
    CS_FORM_U32,
    CS_FORM_U64,
    CS_FORM_I64,
    CS_FORM_TRUE,         /* a bool; never written as false */
    CS_FORM_TEXT,         /* ProtobufCBinaryData, any UTF-8 */
    CS_FORM_DIGEST,       /* ProtobufCBinaryData, 64 lowercase hexadecimal digits */
    CS_FORM_MAYBE_DIGEST, /* the same, or empty */
    CS_FORM_HEX,          /* char[65], 64 lowercase hexadecimal digits */
    CS_FORM_MAYBE_HEX     /* the same, or empty */
} cs_member_form;

typedef struct cs_member {
    const char *name;
    cs_member_form form;
    bool optional; /* left out when empty, zero or false */
    size_t offset; /* in cs_run_record, cs_session_close or cs_bundle_link */
} cs_member;

typedef struct cs_predicate {
    const char *type;
    const char *subject;
    const cs_member *members;
    size_t count;
} cs_predicate;

/* What belongs to a kind of statement. Static memory. */
const cs_predicate *cs_predicate_of(cs_statement_kind kind);

/* The digest that is a statement's subject, out of what the predicate says. Borrows. */
cs_view cs_subject_of_link(const cs_bundle_link *link);

/* Append the payload of a kind from the struct that belongs to it. */
CS_MUST_CHECK bool cs_statement_build(const cs_predicate *predicate, cs_view subject, const void *from, cs_buf *out);

#endif
