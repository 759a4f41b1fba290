/* A policy of a gate with every member that there is, and what becomes of it when one thing is changed: by the parser,
 * and by docs/schema/policy-file.schema.json, as far as a schema can say it. */
#ifndef CS_TESTS_SUPPORT_POLICY_CASE_H
#define CS_TESTS_SUPPORT_POLICY_CASE_H

#include <stdbool.h>
#include <stddef.h>

#include "records/codes.h"

typedef struct policy_change {
    const char *name;
    const char *parent; /* path of an object or array, "requirements.0.bind"; empty: the document */
    const char *member; /* of it; an index behind the end adds an element */
    /* JSON; NULL: the member is taken out. "@t257": so many different texts; "@r33": so many requirements; "@b257":
     * so many elements of bind; "@k65": one key so often; "@s20": a text of so many bytes. */
    const char *value;
    cs_code code; /* CS_CODE_OK: it is still a policy */
    const char *where;
    bool schema; /* the schema refuses it, too */
} policy_change;

extern const policy_change policy_changes[];
extern const size_t policy_change_count;

/* The text of the policy with a change (NULL: none). For free(). */
char *policy_case_text(const policy_change *change);

#endif
