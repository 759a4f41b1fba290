#!/usr/bin/env python3
"""Print the request that runs a step over the files of a commit.

usage: request.py REV STEP ARTIFACT PATH...

The files below each PATH are taken from the commit and not from the work tree, byte for byte. A file that is no UTF-8
text, a symbolic link and a submodule can't be in a run: they end it, and so does a PATH without a file.

Exit: 2 when there is no request to print; one line on standard error says why.
"""

import json
import os
import subprocess
import sys


def fail(text):
    # What git or a name says goes to a terminal or a log: printable, and in one line.
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    print(f"request.py: {shown}", file=sys.stderr)
    sys.exit(2)


def git(what, *words):
    try:
        end = subprocess.run(["git", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False,
                             env={**os.environ, "LC_ALL": "C"})
    except (OSError, ValueError) as error:
        fail(f"git can't be run: {error}")
    if end.returncode != 0:
        said = end.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
        fail(f"{what}: {said[0] if said else 'git says nothing of it'}")
    return end.stdout


def text_of(data, name):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        fail(f"{name!r} is no UTF-8 text")


def files_of(commit, paths):
    listing = git("the commit can't be listed", "ls-tree", "-r", "-z", "--full-tree", commit, "--", *paths)
    for line in listing.split(b"\0")[:-1]:
        meta, path = line.split(b"\t", 1)
        mode, _, oid = meta.decode("ascii").split(" ")
        if mode not in ("100644", "100755"):
            fail(f"{path!r} is no regular file")
        content = git(f"{path!r} can't be read", "cat-file", "blob", oid)
        yield {"path": text_of(path, path), "content": text_of(content, path)}


def has_file(files, path):
    path = path.rstrip("/")
    return any(path == "." or file["path"] == path or file["path"].startswith(f"{path}/") for file in files)


def main(words):
    if len(words) < 4:
        fail("usage: request.py REV STEP ARTIFACT PATH...")
    for word in words:
        text_of(os.fsencode(word), word)
    rev, step, artifact, *paths = words
    named = git(f"there is no commit {rev!r} here", "rev-parse", "--verify", "--end-of-options", f"{rev}^{{commit}}")
    commit = named.decode("ascii").strip()
    files = list(files_of(commit, paths))
    for path in paths:
        if not has_file(files, path):
            fail(f"the commit has no file at or below {path!r}")
    project = {"files": files, "steps": [step], "artifacts": [artifact]}
    request = json.dumps({"project": project}, ensure_ascii=False)
    try:
        sys.stdout.buffer.write(request.encode("utf-8") + b"\n")
        sys.stdout.buffer.flush()
    except OSError as error:
        sys.stdout = None  # it would be flushed once more
        fail(f"the request can't be written: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
