/* Patterns for paths in a repository or a run, as .gitignore and CI systems know them (docs/FORMAT.md, "Gate policy").
 *
 *   `*`   any characters but `/`          `?`  one character but `/`
 *   `**`  between slashes, at the beginning or the end: any number of folders (also none)
 *   `[a-z]`, `[!a-z]`  one byte of, or not of, a set; never `/`         `\x`  x itself
 *
 * A pattern is matched against the whole path. There is no leading or trailing slash, no empty, `.` or `..` segment.
 * Time is bounded: no pattern takes more than pattern bytes times path bytes steps.
 */
#ifndef CS_GATE_GLOB_H
#define CS_GATE_GLOB_H

#include "records/base.h"

#define CS_GLOB_MAX_BYTES 1024u

/* Is it well formed? NULL when it is, otherwise what is wrong with it (static text). */
const char *cs_glob_fault(cs_view pattern);

/* Bytes are compared as they are: no case folding, no Unicode normalisation. A pattern that is not well formed matches
 * nothing. */
bool cs_glob_matches(cs_view pattern, cs_view path);

#endif
