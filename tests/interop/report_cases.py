"""The reports of `countersign gate`, and the files of examples/ci, by the schemas that others published:
report_cases.py BUILD SCHEMAS.

Texts that are hostile to each of the formats stand in the policy, in the name of an input and in the path of a file.
"""

import contextlib
import copy
import json
import os
import subprocess
import tempfile
import urllib.parse

import jsonschema
import xmlschema
import yaml

from cases import expect, expect_raises, main
from processes import Daemon, command, die_by_signal, make_commit

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "ci")
HOSTILE = "true # a|b`c <img> ]]> & \"q\" 'r' [l](x) %0A ::error::x ##[add-mask]y \u0001\u001b[2J \ufffe \u202e \u00e9 \\"
# Files of the commit that are not as they were in the run: of an odd name, and of one that can't be shown as it is.
ODD_PATH = "src/a b#?%2e&<\"'|`]]>[x](y):\u00e9.sh"
UNSHOWN_PATH = "other/\u202e.sh"
FORMS = {"junit": "--junit", "sarif": "--sarif", "quality": "--codequality"}
FORMATS = jsonschema.FormatChecker(["uri", "uri-reference"])  # what the gate writes of those that a schema may name


def bound(pattern):
    return {"bind": [{"paths": [pattern]}]}


class World:
    """One run in a ledger, and the reports of seven verdicts on it."""

    def __init__(self, build, schemas, folder):
        self.build = build
        self.folder = folder
        self.peer = "published schemas"
        self.schemas = schemas
        sarif = self.schema("sarif-2.1.0.json")
        self.sarif = jsonschema.validators.validator_for(sarif)(sarif, format_checker=FORMATS)
        self.junit = xmlschema.XMLSchema(os.path.join(schemas, "junit-10.xsd"))
        code, report = command(build, "keygen", "-o", self.path("k"))
        expect(code, 0, report.get("message"))
        self._make_ledger()
        self.commit = make_commit(self.path("repository"), dict.fromkeys((ODD_PATH, UNSHOWN_PATH), "another text"))
        self.reports = {"passed": self.judge("passed", {}, 0), "refused": self.judge("refused", {"floor": "vm"}, 1),
                        "provider": self.judge("provider", {"allowed_providers": [HOSTILE]}, 1),
                        "path": self.judge("path", bound("src/**"), 1, repository=True),
                        "unshown": self.judge("unshown", bound("other/**"), 1, repository=True),
                        "nothing": self.judge("nothing", {"records": {"step": "no such step"}}, 6),
                        "no source": self.judge("no-source", {}, 5, "missing ]]>&<x>|`.db")}

    def path(self, name):
        return os.path.join(self.folder, name)

    def schema(self, name):
        with open(os.path.join(self.schemas, name), encoding="utf-8") as file:
            return json.load(file)

    def _make_ledger(self):
        with open(self.path("request.json"), "w", encoding="utf-8") as file:
            files = [{"path": path, "content": "a text"} for path in (ODD_PATH, UNSHOWN_PATH)]
            json.dump({"project": {"files": files, "steps": [HOSTILE], "artifacts": []}}, file)
        with Daemon(self.build, self.folder, "process", 3) as daemon:
            code, report = command(self.build, "run", "-d", daemon.url, "-k", self.path("k.key"), "-l",
                                   self.path("l.db"), self.path("request.json"))
        expect(code, 0, report.get("message"))

    def judge(self, name, members, wanted, ledger="l.db", repository=False):
        with open(self.path("k.pub"), encoding="ascii") as file:
            key = file.read()
        requirement = {"name": "check", "records": {"kind": "project", "step": HOSTILE}, "floor": "process", **members}
        with open(self.path("policy.json"), "w", encoding="utf-8") as file:
            json.dump({"version": 1, "keys": [{"key": key}], "requirements": [requirement]}, file)
        files = {form: self.path(f"{name}.{form}") for form in FORMS}
        words = [word for form, option in FORMS.items() for word in (option, files[form])]
        if repository:
            words += ["--repo", self.path("repository"), "--repo-owner", "any", "--rev", self.commit]
        code, report = command(self.build, "gate", "--policy", self.path("policy.json"), *words, self.path(ledger))
        expect(code, wanted, report.get("message"))
        return files


@contextlib.contextmanager
def open_world(build, schemas):
    die_by_signal()
    with tempfile.TemporaryDirectory(prefix="countersign-interop-") as folder:
        yield World(build, schemas, folder)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def sarif_is_valid(world):
    for name, files in world.reports.items():
        log = read(files["sarif"])
        world.sarif.validate(log)
        expect(len(log["runs"][0]["results"]) > 0, name != "passed", f"results of {name}")
        rules = [rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]]
        expect(len(rules), len(set(rules)), "rules that are named once")
        for result in log["runs"][0]["results"]:
            expect(result["ruleId"] in rules, True, result["ruleId"])


def junit_is_valid(world):
    for name, files in world.reports.items():
        world.junit.validate(files["junit"])
        suites = xmlschema.XMLResource(files["junit"]).root
        wrong = len(suites.findall(".//failure")) + len(suites.findall(".//error"))
        expect(wrong > 0, name != "passed", f"failures and errors of {name}")


def the_path_is_told(world):
    """Whole, as each format has it; one that can't be shown as it is would be the name of another file."""
    for name, path in (("path", ODD_PATH), ("unshown", None)):
        [result] = read(world.reports[name]["sarif"])["runs"][0]["results"]
        expect(result["ruleId"], "bind", "rule")
        uris = [one["physicalLocation"]["artifactLocation"]["uri"] for one in result["locations"]]
        expect([urllib.parse.unquote(uri, errors="strict") for uri in uris], [path or "."], "path of SARIF")
        [issue] = read(world.reports[name]["quality"])
        expect(issue["location"]["path"], path or ".", "path of code quality")
    for files in world.reports.values():
        for file in files.values():
            with open(file, encoding="utf-8") as text:
                odd = [char for char in text.read() if char != "\n" and (char < " " or char == "\u202e")]
            expect(odd, [], f"characters that nobody should see in {os.path.basename(file)}")


def code_quality_has_its_members(world):
    """No schema of it is published; these are the members that GitLab documents."""
    for name, files in world.reports.items():
        issues = read(files["quality"])
        expect(len(issues) > 0, name != "passed", f"issues of {name}")
        expect(len({issue["fingerprint"] for issue in issues}), len(issues), "fingerprints that differ")
        for issue in issues:
            expect(sorted(issue), ["check_name", "description", "fingerprint", "location", "severity"], "members")
            expect(issue["severity"] in ("info", "minor", "major", "critical", "blocker"), True, issue["severity"])
            expect(issue["location"]["path"] != "" and issue["location"]["lines"]["begin"], 1, "location")


def control_a_changed_report_is_refused(world):
    log = read(world.reports["refused"]["sarif"])
    space = [{"physicalLocation": {"artifactLocation": {"uri": "a b"}}}]
    for change in ({"level": "loud"}, {"message": {}}, {"ruleIndex": -2}, {"partialFingerprints": {"a": 1}},
                   {"locations": space}):
        changed = copy.deepcopy(log)
        changed["runs"][0]["results"][0].update(change)
        expect_raises(jsonschema.ValidationError, lambda: world.sarif.validate(changed))
    with open(world.reports["refused"]["junit"], encoding="utf-8") as file:
        text = file.read()
    for old, new in (("<testcase classname=", "<testcase class="), ("<testsuite name=", "<testsuite title="),
                     ("failures=\"1\"", "broken=\"1\"")):
        expect(old in text, True, old)
        expect(world.junit.is_valid(text.replace(old, new)), False, new)


def examples_are_valid(world):
    """Each is not with a member more, and not with one thing wrong inside."""
    for name, schema, place, wrong in (
            ("action.yml", "github-actions.json", ["runs", "using"], "loud"),
            ("workflow.yml", "github-workflows.json", ["jobs", "records", "timeout-minutes"], "many"),
            ("gitlab-ci.yml", "gitlab-ci.json", ["countersign-gate", "artifacts", "when"], "sometimes")):
        published = world.schema(schema)
        validator = jsonschema.validators.validator_for(published)(published)
        with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
            document = yaml.safe_load(file)
        if True in document:
            document["on"] = document.pop(True)  # YAML 1.1 takes the word for a truth value
        validator.validate(document)
        expect(validator.is_valid({**document, "surprise": 1}), False, f"{name} with a member more")
        inside = document
        for step in place[:-1]:
            inside = inside[step]
        expect(place[-1] in inside, True, f"{place} of {name}")
        inside[place[-1]] = wrong
        expect(validator.is_valid(document), False, f"{name} with {place} of {wrong}")


def hook_has_no_fault_that_sh_knows(world):
    del world
    subprocess.run(["sh", "-n", os.path.join(EXAMPLES, "pre-receive")], check=True, stdin=subprocess.DEVNULL)


CASES = [sarif_is_valid, junit_is_valid, the_path_is_told, code_quality_has_its_members, control_a_changed_report_is_refused,
         examples_are_valid, hook_has_no_fault_that_sh_knows]

if __name__ == "__main__":
    raise SystemExit(main(CASES, open_world))
