#include "tests/support/member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *member_at(json_t *value, const char *path) {
    while (value != NULL && *path != '\0') {
        char part[64];
        size_t len = strcspn(path, ".");
        (void)snprintf(part, sizeof part, "%.*s", (int)len, path);
        value = json_is_array(value) ? json_array_get(value, strtoul(part, NULL, 10)) : json_object_get(value, part);
        path += path[len] == '.' ? len + 1 : len;
    }
    return value;
}
