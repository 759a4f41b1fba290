#!/usr/bin/env python3
"""Print the request that runs a step over the files of a commit.

usage: request.py REV STEP ARTIFACT PATH...

The files below each PATH are taken from the commit and not from the work tree, byte for byte. A file that is no UTF-8
text, a symbolic link and a submodule can't be in a run: they end it.
"""

import json
import subprocess
import sys


def git(*words):
    return subprocess.run(["git", *words], check=True, stdout=subprocess.PIPE).stdout


def files_of(rev, paths):
    for line in git("ls-tree", "-r", "-z", "--full-tree", rev, "--", *paths).split(b"\0")[:-1]:
        meta, path = line.split(b"\t", 1)
        mode, _, oid = meta.decode("ascii").split(" ")
        if mode not in ("100644", "100755"):
            raise SystemExit(f"request.py: {path!r} is no regular file")
        try:
            yield {"path": path.decode("utf-8"), "content": git("cat-file", "blob", oid).decode("utf-8")}
        except UnicodeDecodeError:
            raise SystemExit(f"request.py: {path!r} is no UTF-8 text") from None


def main(words):
    if len(words) < 4:
        raise SystemExit(__doc__)
    rev, step, artifact, *paths = words
    commit = git("rev-parse", "--verify", "--end-of-options", f"{rev}^{{commit}}").decode("ascii").strip()
    project = {"files": list(files_of(commit, paths)), "steps": [step], "artifacts": [artifact]}
    json.dump({"project": project}, sys.stdout, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main(sys.argv[1:])
