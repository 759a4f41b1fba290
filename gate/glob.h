/* Patterns for paths in a repository or a run, as .gitignore and CI systems know them (docs/FORMAT.md, "Gate policy").
 *
 *   `*`   any bytes but `/`, also none    `?`  one byte but `/`
 *   `**`  between slashes, or at the beginning: any number of folders, also none; at the end: everything below
 *   `[a-z]`, `[!a-z]`  one byte of, or not of, a set; never `/`         `\x`  x itself
 *
 * A pattern is matched against the whole path. There is no leading or trailing slash, no empty, `.` or `..` segment.
 * What other systems take for something else is a fault, so that nobody is protected by a pattern that means another
 * thing than they think: `**` beside other characters, `!` at the beginning, `{`, `[^`, `[[:`.
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

/* Could it match some path below `folder`? Never wrongly no: a set that holds no byte is taken for one that holds some. */
bool cs_glob_may_match_below(cs_view pattern, cs_view folder);

/* As cs_glob_matches, and adds to *steps how often a byte of the path was held against a byte of the pattern. */
bool cs_glob_matches_counted(cs_view pattern, cs_view path, uint64_t *steps);

#endif
