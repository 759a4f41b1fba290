/* What the files of the tree share: a repository, as libgit2 knows it. */
#ifndef CS_GATE_TREE_INTERNAL_H
#define CS_GATE_TREE_INTERNAL_H

#include <git2.h>

#include "gate/tree.h"

struct cs_repo {
    git_repository *git;
    git_odb *objects;
};

#endif
