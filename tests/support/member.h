/* A place in a JSON document. */
#ifndef TESTS_SUPPORT_MEMBER_H
#define TESTS_SUPPORT_MEMBER_H

#include <jansson.h>

/* What stands at `path`, names and indexes with a point between two ("runs.0.record"; "": the value itself). Borrows;
 * NULL when there is nothing. */
json_t *member_at(json_t *value, const char *path);

#endif
