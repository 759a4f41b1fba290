#include "cli/gate_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the repository -------------------------------------------------------------------------------------------- */

/* Without a revision none is needed; then it only tells whether the policy lies in it, if there is one. */
static cs_result open_repo(const cs_gate_input_options *options, cs_gate_input *out, cs_error *err) {
    const char *folder = options->repo != NULL ? options->repo : ".";
    bool needed =
        options->repo != NULL || options->rev != NULL || options->base != NULL || options->policy_from != NULL;
    cs_error own = CS_ERROR_INIT;
    cs_result result =
        options->owner != 0 ? cs_repo_open_any(folder, &out->repo, &own) : cs_repo_open(folder, &out->repo, &own);
    if (result == CS_OK || (!needed && own.code == CS_CODE_GIT_UNREADABLE)) return CS_OK;
    *err = own;
    return result;
}

static cs_result read_commit(const cs_gate_input *input, const char *option, const char *rev, cs_tree *out,
                             cs_error *err) {
    if (rev == NULL) return CS_OK;
    cs_result result = cs_tree_read(input->repo, rev, out, err);
    if (result != CS_OK) cs_error_where(err, "--%s %s", option, rev);
    return result;
}

/* ---- the policy ------------------------------------------------------------------------------------------------ */

static void warn(cs_gate_input *input, const char *sentence) {
    if (input->warning_count < CS_GATE_WARNINGS) input->warnings[input->warning_count++] = sentence;
}

static cs_result policy_of_tree(const cs_tree *tree, const char *path, cs_policy *out, cs_error *err) {
    const cs_tree_file *file = cs_tree_find(tree, cs_view_of(path));
    if (file == NULL)
        return cs_fail(err, CS_CODE_IO, "the commit %.12s has no file %s; --policy is its path in the repository",
                       tree->commit, path);
    if (file->kind != CS_TREE_FILE && file->kind != CS_TREE_EXECUTABLE)
        return cs_fail(err, CS_CODE_IO, "%s is no regular file in the commit %.12s", path, tree->commit);
    CS_AUTO_BUF text = CS_BUF_INIT(CS_POLICY_MAX_BYTES);
    cs_result result = cs_tree_content(tree, file, CS_POLICY_MAX_BYTES, &text, err);
    if (result != CS_OK) return result;
    result = cs_policy_parse(cs_buf_view(&text), out, err);
    if (result != CS_OK) cs_error_where(err, "%.12s:%s", tree->commit, path);
    return result;
}

static cs_result policy_from(const cs_gate_input_options *options, cs_gate_input *out, cs_error *err) {
    const char *path = options->policy;
    if (path[0] == '/' || path[0] == '\0' || strncmp(path, "./", 2) == 0 || strncmp(path, "../", 3) == 0 ||
        strlen(path) >= sizeof out->policy_path)
        return cs_fail(err, CS_CODE_USAGE,
                       "with --policy-from, --policy is a path in the repository, as dir/policy.json, not '%.80s'",
                       path);
    cs_tree tree = {.repo = NULL};
    cs_result result = read_commit(out, "policy-from", options->policy_from, &tree, err);
    if (result == CS_OK) result = policy_of_tree(&tree, path, &out->policy, err);
    if (result == CS_OK) {
        (void)snprintf(out->policy_commit, sizeof out->policy_commit, "%s", tree.commit);
        (void)snprintf(out->policy_path, sizeof out->policy_path, "%s", path);
    }
    cs_tree_free(&tree);
    return result;
}

/* The part of `real` below the folder `top`, with its slash; NULL: it is not in it. Both are real paths. */
static const char *below(const char *real, const char *top) {
    size_t len = strlen(top);
    if (strcmp(top, "/") == 0) return real;
    return strncmp(real, top, len) == 0 && (real[len] == '/' || real[len] == '\0') ? real + len : NULL;
}

static bool leads_into(const char *folder, const char *top) {
    char *real = realpath(folder, NULL);
    bool inside = real == NULL || below(real, top) != NULL;
    free(real);
    return inside;
}

/* Is a folder of the path in `top`? Then a link in it may lead elsewhere, and where to is the patch's choice, too. */
static bool leads_through(const char *path, const char *top) {
    if (path[0] != '/' && strncmp(path, "../", 3) != 0 && leads_into(".", top)) return true;
    char *folder = strdup(path);
    bool through = folder == NULL;
    for (char *slash = folder; !through && (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        through = leads_into(folder, top);
        *slash = '/';
    }
    free(folder);
    return through;
}

/* Of what can't be told, the worse is said. */
static void find_in_work_tree(const char *path, cs_gate_input *out) {
    const char *folder = out->repo != NULL ? cs_repo_folder(out->repo) : NULL;
    if (folder == NULL) return;
    char *real = realpath(path, NULL);
    char *top = realpath(folder, NULL);
    bool known = real != NULL && top != NULL;
    const char *rest = known ? below(real, top) : NULL;
    if (rest != NULL && strlen(rest) < sizeof out->policy_path)
        (void)snprintf(out->policy_path, sizeof out->policy_path, "%s", rest + (rest[0] == '/'));
    if (!known || rest != NULL || leads_through(path, top))
        warn(out, "the policy was read from the work tree, where the patch that is judged may have changed it: "
                  "read it from the base with --policy-from");
    free(real);
    free(top);
}

static cs_result take_policy(const cs_gate_input_options *options, cs_gate_input *out, cs_error *err) {
    if (options->policy_from != NULL) return policy_from(options, out, err);
    cs_result result = cs_policy_load(options->policy, &out->policy, err);
    if (result == CS_OK) find_in_work_tree(options->policy, out);
    return result;
}

/* ---- what the policy needs --------------------------------------------------------------------------------------- */

/* The rule that needs a base, or else a revision; NULL: none. *requirement is NULL for the policy as a whole. */
static const char *needs(const cs_policy *policy, bool base, const cs_policy_requirement **requirement) {
    *requirement = NULL;
    if (policy->protect.count > 0) return "protect";
    for (size_t i = 0; i < policy->requirement_count; i++) {
        *requirement = &policy->requirements[i];
        if ((*requirement)->tests.present && (*requirement)->tests.not_fewer_than_base)
            return "tests.not_fewer_than_base";
        if (!base && (*requirement)->bind_count > 0) return "bind";
    }
    return NULL;
}

static cs_result check_named(const cs_policy *policy, bool base, cs_error *err) {
    const cs_policy_requirement *requirement = NULL;
    const char *rule = needs(policy, base, &requirement);
    if (rule == NULL) return CS_OK;
    const char *name = requirement != NULL ? requirement->name : "";
    return cs_fail(err, CS_CODE_USAGE, "the policy's rule %s%s%s needs %s", rule, name[0] != '\0' ? " of " : "", name,
                   base ? "--base: the commit to compare with" : "--rev: the commit that is judged");
}

/* ---- the base ---------------------------------------------------------------------------------------------------- */

/* What differs between two commits of which none came of the other is not what the patch changes. */
static void warn_of_base(cs_gate_input *out) {
    if (out->base.repo == NULL || out->rev.repo == NULL) return;
    if (strcmp(out->base.commit, out->rev.commit) == 0) {
        /* A policy that compares with the base is refused by the rule that does. */
        if (!out->policy.needs_base)
            warn(out, "the base is the very commit that is judged, so that nothing can differ from it: name the commit "
                      "before the patch with --base");
        return;
    }
    switch (cs_tree_descends(&out->rev, &out->base)) {
    case CS_TREE_DESCENDS:
        break;
    case CS_TREE_DESCENDS_NOT:
        warn(out, "the base is no ancestor of the commit that is judged, so that what differs between them is not just "
                  "the patch: name the commit that the patch began at with --base (git merge-base)");
        break;
    case CS_TREE_DESCENT_SHALLOW:
        warn(out, "the clone is shallow, and does not tell that the base is an ancestor of the commit that is judged: "
                  "fetch the commits between them");
        break;
    case CS_TREE_DESCENT_UNKNOWN:
        warn(out, "it can't be told whether the base is an ancestor of the commit that is judged: a commit between "
                  "them is missing, or can't be read");
        break;
    }
}

/* ---- runs of any commit ------------------------------------------------------------------------------------------ */

/* Who names a revision takes a pass for one of it. */
static void warn_of_unbound(const cs_gate_input_options *options, cs_gate_input *out) {
    bool unbound = false;
    for (size_t i = 0; i < out->policy.requirement_count; i++)
        unbound = unbound || out->policy.requirements[i].bind_count == 0;
    if (unbound && options->rev != NULL)
        warn(out, "a requirement of the policy has no 'bind': its runs need not be of the commit that is judged, and "
                  "one that nobody ran passes");
}

/* ---- all of it -----------------------------------------------------------------------------------------------------
 */

cs_result cs_gate_input_begin(const cs_gate_input_options *options, cs_gate_input *out, cs_error *err) {
    *out = (cs_gate_input){.repo = NULL};
    if (options->policy == NULL) return cs_fail(err, CS_CODE_USAGE, "name the policy with --policy");
    return open_repo(options, out, err);
}

cs_result cs_gate_input_read(const cs_gate_input_options *options, cs_gate_input *out, cs_error *err) {
    cs_result result = take_policy(options, out, err);
    if (result == CS_OK && options->rev == NULL) result = check_named(&out->policy, false, err);
    if (result == CS_OK && options->base == NULL) result = check_named(&out->policy, true, err);
    if (result == CS_OK) result = read_commit(out, "rev", options->rev, &out->rev, err);
    if (result == CS_OK) result = read_commit(out, "base", options->base, &out->base, err);
    if (result != CS_OK) return result;
    warn_of_base(out);
    warn_of_unbound(options, out);
    if (out->policy_commit[0] != '\0' && strcmp(out->policy_commit, out->rev.commit) == 0)
        warn(out, "the policy was read from the very commit that is judged, which may have changed it: name its base "
                  "with --policy-from");
    return CS_OK;
}

void cs_gate_input_close(cs_gate_input *input) {
    cs_tree_free(&input->rev);
    cs_tree_free(&input->base);
    cs_repo_close(input->repo);
    cs_policy_free(&input->policy);
    *input = (cs_gate_input){.repo = NULL};
}
