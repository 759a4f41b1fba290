#!/usr/bin/env python3
"""Run the shell steps of a CI system's file as that system does, without the system.

usage: ci_step.py FILE PLACE [NAME=VALUE...]

PLACE leads to a step of GitHub ("runs.steps.0", "jobs.records.steps.1") or a job of GitLab. `${{ NAME }}` in a step's
environment is what was given as NAME=VALUE, or the default of an input; in a script it would be code, and is refused.
For a job, NAME=VALUE are further variables, which win over those in the file.

Exit: that of the shell. 2: wrong file or command line. 77: yaml is not installed (Debian: python3-yaml).
"""

import os
import re
import sys

try:
    import yaml
except ImportError as missing:
    print(f"ci_step.py: {missing}", file=sys.stderr)
    sys.exit(77)

EXPRESSION = re.compile(r"\$\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}")


def fail(text):
    print(f"ci_step.py: {text}", file=sys.stderr)
    sys.exit(2)


def at(document, place):
    for name in place.split("."):
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document


def step_of(document, step, given):
    """The environment and the script of a step of GitHub."""
    values = {f"inputs.{name}": each["default"] for name, each in document.get("inputs", {}).items() if "default" in each}
    values.update(given)
    if "${{" in step["run"]:
        fail("an expression in a script is code")

    def value(match):
        return values[match[1]] if match[1] in values else fail(f"{match[1]} is not given")

    return {name: EXPRESSION.sub(value, text) for name, text in step.get("env", {}).items()}, step["run"]


def main(words):
    if len(words) < 2:
        fail("usage: ci_step.py FILE PLACE [NAME=VALUE...]")
    with open(words[0], encoding="utf-8") as file:
        document = yaml.safe_load(file)
    given = dict(word.split("=", 1) for word in words[2:])
    step = at(document, words[1])
    if "script" in step:
        variables, script = {**step.get("variables", {}), **given}, "\n".join(step["script"])
    else:
        variables, script = step_of(document, step, given)
    os.execvpe("sh", ["sh", "-e", "-c", script], {**os.environ, **variables})


if __name__ == "__main__":
    main(sys.argv[1:])
