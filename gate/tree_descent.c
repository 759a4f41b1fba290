/* Whether one commit came of another. */
#include "gate/tree_internal.h"

/* From a commit back to another, the newest first; 0 when it is met. git_graph_descendant_of is not asked: where a
 * commit is missing, libgit2 (1.5.1) loses memory in it. */
static int walk_to(git_repository *git, const git_oid *from, const git_oid *to) {
    git_revwalk *walk = NULL;
    git_oid at;
    int ended = git_revwalk_new(&walk, git);
    if (ended == 0) ended = git_revwalk_sorting(walk, GIT_SORT_TIME);
    if (ended == 0) ended = git_revwalk_push(walk, from);
    for (size_t i = 0; ended == 0; i++) {
        ended = i < CS_TREE_MAX_COMMITS ? git_revwalk_next(&at, walk) : GIT_EINVALID;
        if (ended == 0 && git_oid_equal(&at, to) == 1) break;
    }
    git_revwalk_free(walk);
    return ended;
}

cs_tree_descent cs_tree_descends(const cs_tree *rev, const cs_tree *base) {
    git_oid commit;
    git_oid ancestor;
    git_repository *git = rev->repo->git;
    if (git_oid_fromstr(&commit, rev->commit) != 0 || git_oid_fromstr(&ancestor, base->commit) != 0)
        return CS_TREE_DESCENT_UNKNOWN;
    if (git_oid_equal(&commit, &ancestor) == 1) return CS_TREE_DESCENDS;
    int ended = walk_to(git, &commit, &ancestor);
    if (ended == 0) return CS_TREE_DESCENDS;
    if (git_repository_is_shallow(git) != 0) return CS_TREE_DESCENT_SHALLOW;
    return ended == GIT_ITEROVER ? CS_TREE_DESCENDS_NOT : CS_TREE_DESCENT_UNKNOWN;
}
