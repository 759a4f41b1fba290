"""The attestations of `countersign gate --attest` against securesystemslib and in-toto-attestation:
verdict_cases.py BUILD.

A run of a commit's files is judged twice, by a policy that it fulfils and by one that asks for more.
"""

import base64
import contextlib
import copy
import datetime
import hashlib
import importlib.metadata
import json
import os
import tempfile

from cryptography.hazmat.primitives import serialization
from google.protobuf import json_format
from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
from in_toto_attestation.predicates.vsa.v1 import vsa_pb2
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

import bundle
from cases import expect, expect_raises, main
from processes import Daemon, command, die_by_signal, make_commit

TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
SUMMARY = "https://slsa.dev/verification_summary/v1"
ADDRESS = "https://git.example.org/team/shop"
FILE = "exit 0\n"


class World:
    """`passed` and `failed` are the envelopes of the two verdicts, each a test result and a summary."""

    def __init__(self, build, folder):
        self.build = build
        self.folder = folder
        versions = {name: importlib.metadata.version(name) for name in ("securesystemslib", "in-toto-attestation")}
        self.peer = ", ".join(f"{name} {version}" for name, version in versions.items())
        for name in ("harness", "gate"):
            code, report = command(build, "keygen", "-o", self.path(name))
            expect(code, 0, report.get("message"))
        with open(self.path("gate.pub"), "rb") as file:
            public_key = serialization.load_pem_public_key(file.read())
        self.keyid = bundle.key_id(public_key)
        self.key = SSlibKey.from_crypto(public_key, keyid=self.keyid)
        self.commit = make_commit(self.path("repository"), {"src/check.sh": FILE})
        _make_ledger(self)
        self.passed = self.judge("passed", "process", 0)
        self.failed = self.judge("failed", "vm", 1)

    def path(self, name):
        return os.path.join(self.folder, name)

    def judge(self, name, floor, wanted):
        with open(self.path("harness.pub"), encoding="ascii") as file:
            key = file.read()
        policy = {"version": 1, "keys": [{"key": key}],
                  "requirements": [{"name": "check", "records": {"kind": "project"}, "floor": floor,
                                    "bind": [{"paths": ["src/**"], "complete": True}]}]}
        _write(self.path(f"{name}.json"), json.dumps(policy))
        code, report = command(self.build, "gate", "--policy", self.path(f"{name}.json"), "--repo",
                               self.path("repository"), "--repo-owner", "any", "--rev", self.commit, "--attest",
                               self.path(f"{name}.jsonl"), "-k", self.path("gate.key"), "--attest-repo", ADDRESS,
                               self.path("ledger.db"))
        expect(code, wanted, report.get("message"))
        with open(self.path(f"{name}.jsonl"), encoding="ascii") as file:
            return [json.loads(line) for line in file]

    def envelopes(self):
        return self.passed + self.failed


def _write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _make_ledger(world):
    _write(world.path("project.json"), json.dumps(
        {"project": {"files": [{"path": "src/check.sh", "content": FILE}], "steps": ["sh src/check.sh"]}}))
    with Daemon(world.build, world.folder, "process", 4) as daemon:
        code, report = command(world.build, "run", "-d", daemon.url, "-k", world.path("harness.key"), "-l",
                               world.path("ledger.db"), world.path("project.json"))
    expect(code, 0, report.get("message"))


@contextlib.contextmanager
def open_world(build):
    die_by_signal()
    with tempfile.TemporaryDirectory(prefix="countersign-interop-") as folder:
        yield World(build, folder)


def _statement(envelope):
    return json.loads(base64.b64decode(envelope["payload"]))


def _accepted(world, envelope):
    return Envelope.from_dict(copy.deepcopy(envelope)).verify([world.key], 1)


def _test_result(envelope):
    """As the package's definition has it: a member that it does not know is an error."""
    return json_format.ParseDict(_statement(envelope)["predicate"], test_result_pb2.TestResult())


def _summary(envelope):
    """The same, but for verifiedLevels, which the package has as one text (docs/INTEROP.md)."""
    predicate = _statement(envelope)["predicate"]
    levels = predicate.pop("verifiedLevels")
    return json_format.ParseDict(predicate, vsa_pb2.VerificationSummary()), levels


# ---- read by others ---------------------------------------------------------------------------------


def verdict_envelopes_verify(world):
    expect(len(world.envelopes()), 4, "envelopes")
    for envelope in world.envelopes():
        expect(list(_accepted(world, envelope)), [world.keyid], "keys whose signature is good")


def verdicts_are_in_toto_statements(world):
    for envelopes in (world.passed, world.failed):
        expect([_statement(one)["predicateType"] for one in envelopes], [TEST_RESULT, SUMMARY], "predicate types")
    for envelope in world.envelopes():
        parsed = json_format.Parse(base64.b64decode(envelope["payload"]), statement_pb2.Statement())
        Statement.copy_from_pb(parsed).validate()
        expect([(one.name, dict(one.digest)) for one in parsed.subject],
               [(f"git+{ADDRESS}", {"gitCommit": world.commit})], "subject")


def _policy_digest(world, name):
    with open(world.path(f"{name}.json"), "rb") as file:
        return {"sha256": hashlib.sha256(file.read()).hexdigest()}


def test_results_parse(world):
    asked = ["selected", "floor", "grants", "work", "time-out", "truncation", "bind", "complete", "count"]
    for name, envelopes, result, failed in (("passed", world.passed, "PASSED", []),
                                            ("failed", world.failed, "FAILED", ["check/floor"])):
        parsed = _test_result(envelopes[0])
        expect((parsed.result, list(parsed.failed_tests)), (result, failed), "result")
        expect([dict(one.digest) for one in parsed.configuration], [_policy_digest(world, name)], "policy")
        told = set(parsed.passed_tests) | set(parsed.failed_tests) | set(parsed.warned_tests)
        expect(told, {"sources"} | {f"check/{rule}" for rule in asked}, "rules")
        expect("sources" in parsed.passed_tests, True, "whether the sources verified")


def summaries_parse(world):
    for name, envelopes, result, levels in (("passed", world.passed, "PASSED", ["COUNTERSIGN_GATE_PASSED"]),
                                            ("failed", world.failed, "FAILED", ["FAILED"])):
        parsed, stated = _summary(envelopes[1])
        expect((parsed.verification_result, stated), (result, levels), "result")
        expect((parsed.verifier.id, parsed.resource_uri), ("urn:countersign:gate", f"git+{ADDRESS}"), "names")
        expect(dict(parsed.policy.digest), _policy_digest(world, name), "policy")
        age = datetime.datetime.now(datetime.timezone.utc) - parsed.time_verified.ToDatetime(datetime.timezone.utc)
        expect(0 <= age.total_seconds() < 600, True, f"timeVerified is {age} ago")
        expect(len(parsed.dependency_levels), 0, "levels of dependencies")


def a_summary_names_the_envelope_of_the_record(world):
    code, report = command(world.build, "show", "-p", world.path("harness.pub"), world.path("ledger.db"), "1")
    expect(code, 0, report.get("message"))
    envelope = bundle.envelope_json(report["shown"]["envelope"])
    parsed, _ = _summary(world.passed[1])
    expect([dict(one.digest) for one in parsed.input_attestations],
           [{"sha256": hashlib.sha256(envelope.encode()).hexdigest()}], "inputs")
    expect(len(_summary(world.failed[1])[0].input_attestations), 0, "inputs of a refusal")


# ---- controls ---------------------------------------------------------------------------------------


def control_altered_verdicts(world):
    """One byte of the payload, so that what failed would have passed, or of the signature."""
    for envelope in world.envelopes():
        payload, signature = copy.deepcopy(envelope), copy.deepcopy(envelope)
        binary = bytearray(base64.b64decode(envelope["payload"]))
        binary[-4] ^= 1
        payload["payload"] = base64.b64encode(binary).decode()
        binary = bytearray(base64.b64decode(envelope["signatures"][0]["sig"]))
        binary[40] ^= 1
        signature["signatures"][0]["sig"] = base64.b64encode(binary).decode()
        for altered in (payload, signature):
            expect_raises(VerificationError, lambda one=altered: _accepted(world, one))


def control_other_key_of_a_verdict(world):
    stranger = bundle.Signer(world.path("stranger.pub"), world.keyid)
    for envelope in world.envelopes():
        dsse = Envelope.from_dict(copy.deepcopy(envelope))
        expect_raises(VerificationError, lambda one=dsse: one.verify([stranger.key], 1))


def control_unknown_member_of_a_predicate(world):
    result, summary = (_statement(one)["predicate"] for one in world.passed)
    del summary["verifiedLevels"]
    for predicate, message in ((result, test_result_pb2.TestResult), (summary, vsa_pb2.VerificationSummary)):
        json_format.ParseDict(predicate, message())
        predicate["level"] = "SLSA_BUILD_LEVEL_3"
        expect_raises(json_format.ParseError, lambda: json_format.ParseDict(predicate, message()))


def control_a_list_of_levels(world):
    """That the package refuses what the specification asks for. When it no longer does, nothing is to be left out."""
    predicate = _statement(world.passed[1])["predicate"]
    expect_raises(json_format.ParseError, lambda: json_format.ParseDict(predicate, vsa_pb2.VerificationSummary()))
    predicate["verifiedLevels"] = predicate["verifiedLevels"][0]
    json_format.ParseDict(predicate, vsa_pb2.VerificationSummary())


def control_a_verdict_is_no_record(world):
    """Neither as it is, nor as the envelope of a run in a bundle, although the key is trusted."""
    code, report = command(world.build, "countersign-verify", "-p", world.path("gate.pub"), world.path("passed.jsonl"))
    expect((code, report["code"]), (6, "input-verdict"), report.get("message"))
    code, report = command(world.build, "export", "-o", world.path("run.jsonl"), world.path("ledger.db"), "-k",
                           world.path("harness.key"))
    expect(code, 0, report.get("message"))
    with open(world.path("run.jsonl"), encoding="utf-8") as file:
        line = json.loads(file.readline())
    parts = [base64.b64decode(line[part]) for part in ("request", "response")]
    keys = ("-p", world.path("harness.pub"), "-p", world.path("gate.pub"))
    for envelope, wanted in ((line["envelope"], (0, "ok")), (world.passed[1], (1, "statement-malformed"))):
        _write(world.path("one.jsonl"), bundle.line(*parts, bundle.envelope_json(envelope)) + "\n")
        code, report = command(world.build, "countersign-verify", *keys, world.path("one.jsonl"))
        expect((code, report["code"]), wanted, report.get("message"))


CASES = [verdict_envelopes_verify, verdicts_are_in_toto_statements, test_results_parse, summaries_parse,
         a_summary_names_the_envelope_of_the_record, control_altered_verdicts, control_other_key_of_a_verdict,
         control_unknown_member_of_a_predicate, control_a_list_of_levels, control_a_verdict_is_no_record]

if __name__ == "__main__":
    raise SystemExit(main(CASES, open_world))
