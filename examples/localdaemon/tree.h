/* Removing what a run has left, whatever it made of it. */
#ifndef LD_TREE_H
#define LD_TREE_H

#include "records/error.h"

/* Remove a directory and all below it; one that isn't there is fine. Symbolic links are removed, never
 * followed. No recursion: a run may nest folders as deep as it likes. No process that could change the
 * tree may run any more. */
CS_MUST_CHECK cs_result ld_tree_remove(const char *path, cs_error *err);

#endif
