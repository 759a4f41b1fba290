/* Files of other implementations that the repository does not hold (COUNTERSIGN_FIXTURES). */
#ifndef CS_TESTS_SUPPORT_FIXTURES_H
#define CS_TESTS_SUPPORT_FIXTURES_H

#include <jansson.h>
#include <stddef.h>

/* The path of a fixture. When it is not there the test is skipped, loudly; in CI, or with
 * COUNTERSIGN_REQUIRE_ALL set, it fails. */
void fixture_path(const char *name, char *out, size_t size);

/* The whole fixture with a NUL behind it; free it. */
char *fixture_read(const char *name, size_t *len);

/* Every line of a fixture of JSON Lines; the sum of what `look` answers. */
size_t fixture_lines(const char *name, size_t (*look)(const json_t *line));

#endif
