"""Envelopes and statements of a real ledger and its bundle against securesystemslib and in-toto-attestation, both
ways: envelope_cases.py BUILD.

The ledger is made by `countersign run` and `session` with daemons of protocol 3 and 4, the bundle by `export`.
"""

import base64
import contextlib
import copy
import importlib.metadata
import json
import os
import tempfile

from cryptography.hazmat.primitives import serialization
from google.protobuf import json_format
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

import bundle
from cases import expect, expect_raises, main
from processes import Daemon, command, die_by_signal

ODD = "console.log('<\u00e9>&\u2028')"


class World:
    """`lines` are those of the exported bundle, `key` is ours as securesystemslib knows it."""

    def __init__(self, build, folder):
        self.build = build
        self.folder = folder
        self.messages = bundle.Messages(bundle.PROTO)
        versions = {name: importlib.metadata.version(name) for name in ("securesystemslib", "in-toto-attestation")}
        self.peer = ", ".join(f"{name} {version}" for name, version in versions.items())
        _make_ledger(self)
        code, report = command(build, "export", "-o", self.path("ours.jsonl"), "-k", self.path("ours.key"),
                               self.path("ledger.db"))
        expect(code, 0, report.get("message"))
        with open(self.path("ours.jsonl"), encoding="utf-8") as file:
            self.lines = [json.loads(line) for line in file]
        with open(self.path("ours.pub"), "rb") as file:
            public_key = serialization.load_pem_public_key(file.read())
        self.keyid = bundle.key_id(public_key)
        self.key = SSlibKey.from_crypto(public_key, keyid=self.keyid)

    def path(self, name):
        return os.path.join(self.folder, name)

    def envelopes(self):
        return [line[name] for line in self.lines for name in ("envelope", "link") if name in line]


def _write(path, *lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def _make_ledger(world):
    code, report = command(world.build, "keygen", "-o", world.path("ours"))
    expect(code, 0, report.get("message"))
    _write(world.path("script.json"), json.dumps({"javascript": {"code": ODD}}))
    _write(world.path("project.json"),
           json.dumps({"project": {"steps": ["echo made > a; exit 3"], "artifacts": ["a"]}}))
    _write(world.path("calls.jsonl"), json.dumps({"javascript": {"code": ODD}}),
           json.dumps({"project": {"steps": ["true"]}}))
    keeping = ("-k", world.path("ours.key"), "-l", world.path("ledger.db"))
    for protocol in (3, 4):
        with Daemon(world.build, world.folder, "process", protocol) as daemon:
            for name, file in (("run", "script.json"), ("run", "project.json"), ("session", "calls.jsonl")):
                code, report = command(world.build, name, "-d", daemon.url, *keeping, world.path(file))
                expect(code, 0, report.get("message"))


@contextlib.contextmanager
def open_world(build):
    die_by_signal()
    with tempfile.TemporaryDirectory(prefix="countersign-interop-") as folder:
        yield World(build, folder)


def _statement(envelope):
    return json.loads(base64.b64decode(envelope["payload"]))


def _kinds(world):
    return [_statement(one)["predicateType"].rsplit("/", 2)[1] for one in world.envelopes()]


def _accepted(world, envelope):
    """Does securesystemslib find our key's signature good?"""
    dsse = Envelope.from_dict(copy.deepcopy(envelope))
    return dsse.verify([world.key], 1)


# ---- ours, read by others ---------------------------------------------------------------------------


def every_kind_is_there(world):
    """Two runs and two calls from each of the two daemons, two closes, and a link a line with the checkpoint."""
    kinds = _kinds(world)
    expect((kinds.count("run-record"), kinds.count("session-close"), kinds.count("bundle-link")), (8, 2, 11), "kinds")
    versions = [_statement(one)["predicate"]["version"] for one in world.envelopes()
                if "version" in _statement(one)["predicate"]]
    expect((versions.count(2), versions.count(4)), (4, 4), "record versions")


def envelopes_verify(world):
    for envelope in world.envelopes():
        expect(list(_accepted(world, envelope)), [world.keyid], "keys whose signature is good")


def envelopes_of_the_ledger_verify(world):
    """As they stand in it, by `show`."""
    for i in range(1, 11):
        code, report = command(world.build, "show", "-p", world.path("ours.pub"), world.path("ledger.db"), str(i))
        expect(code, 0, report.get("message"))
        _accepted(world, report["shown"]["envelope"])


def key_files_are_read(world):
    with open(world.path("ours.key"), "rb") as file:
        private_key = serialization.load_pem_private_key(file.read(), password=None)
    expect(bundle.key_id(private_key.public_key()), world.keyid, "key id of the private key")


def statements_are_in_toto_statements(world):
    for envelope in world.envelopes():
        payload = base64.b64decode(envelope["payload"])
        parsed = json_format.Parse(payload, statement_pb2.Statement())
        Statement.copy_from_pb(parsed).validate()
        ours = json.loads(payload)
        expect(len(parsed.subject), 1, "subjects")
        expect(dict(parsed.subject[0].digest), ours["subject"][0]["digest"], "subject's digest")
        expect(json_format.MessageToDict(parsed.predicate).keys(), ours["predicate"].keys(), "members of the predicate")


def statements_are_written_as_the_format_says(world):
    """From the stored response's record, by a builder that shares nothing with ours."""
    records = 0
    for line in world.lines:
        if "response" not in line:
            continue
        record = world.messages.decode("RunResponse", base64.b64decode(line["response"]))["record"]
        expect(base64.b64decode(line["envelope"]["payload"]).decode(), bundle.record_statement(record), "statement")
        records += 1
    expect(records, 8, "records")


# ---- controls: altered, they are refused ------------------------------------------------------------


def _flipped(text, at):
    binary = bytearray(base64.b64decode(text))
    binary[at] ^= 1
    return base64.b64encode(binary).decode()


def control_altered_envelopes(world):
    for envelope in world.envelopes():
        payload, signature, other_type = (copy.deepcopy(envelope) for _ in range(3))
        payload["payload"] = _flipped(envelope["payload"], len(envelope["payload"]) // 2)
        signature["signatures"][0]["sig"] = _flipped(envelope["signatures"][0]["sig"], 40)
        other_type["payloadType"] += ";"
        for altered in (payload, signature, other_type):
            expect_raises(VerificationError, lambda one=altered: _accepted(world, one))


def control_other_key(world):
    stranger = bundle.Signer(world.path("stranger.pub"), world.keyid)
    for envelope in world.envelopes():
        dsse = Envelope.from_dict(copy.deepcopy(envelope))
        expect_raises(VerificationError, lambda one=dsse: one.verify([stranger.key], 1))


def control_statement_without_a_digest(world):
    statement = _statement(world.lines[0]["envelope"])
    statement["subject"][0]["digest"] = {}
    parsed = json_format.ParseDict(statement, statement_pb2.Statement())
    expect_raises(ValueError, Statement.copy_from_pb(parsed).validate)


# ---- theirs, read by us -----------------------------------------------------------------------------


def _theirs(world, name, signer, alter=lambda envelope: envelope):
    """Our unlinked lines, with envelopes over the same statements that securesystemslib signed."""
    lines = []
    for one in world.lines:
        if "envelope" not in one:
            continue
        envelope = alter(signer.sign(base64.b64decode(one["envelope"]["payload"]).decode()))
        parts = [base64.b64decode(one[part]) if part in one else None for part in ("request", "response")]
        lines.append(bundle.line(*parts, envelope))
    _write(world.path(name), *lines)
    return command(world.build, "countersign-verify", "-p", signer.path, world.path(name))


def envelopes_of_securesystemslib_verify(world):
    code, report = _theirs(world, "theirs.jsonl", bundle.Signer(world.path("theirs.pub")))
    expect((code, report["code"]), (0, "ok"), report.get("message"))
    expect((report["inputs"][0]["runs"], report["inputs"][0]["sessions"]), (8, 2), "counts")


def control_altered_envelopes_of_theirs(world):
    def flip(text):
        envelope = json.loads(text)
        envelope["signatures"][0]["sig"] = _flipped(envelope["signatures"][0]["sig"], 40)
        return bundle.envelope_json(envelope)

    code, report = _theirs(world, "flipped.jsonl", bundle.Signer(world.path("flipped.pub")), flip)
    expect((code, report["code"]), (1, "envelope-signature"), report.get("message"))


def control_key_id_of_securesystemslib(world):
    """Its own key id is a digest of something else; ours is part of the form (docs/INTEROP.md)."""
    signer = bundle.Signer(world.path("default.pub"), "")
    expect(signer.key.keyid == bundle.key_id(signer.private.public_key()), False, "the same key id")
    code, report = _theirs(world, "default.jsonl", signer)
    expect((code, report["code"]), (1, "envelope-key-unknown"), report.get("message"))


def a_key_of_theirs_signs_here(world):
    """PKCS#8 as cryptography writes it; what is signed with it verifies there again."""
    signer = bundle.Signer(world.path("their-key.pub"))
    path = world.path("their-key.key")
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(signer.private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                                serialization.NoEncryption()))
    ledger = world.path("their-key.db")
    with Daemon(world.build, world.folder, "process", 4) as daemon:
        code, report = command(world.build, "run", "-d", daemon.url, "-k", path, "-l", ledger,
                               world.path("script.json"))
        expect(code, 0, report.get("message"))
    code, report = command(world.build, "show", "-p", signer.path, ledger, "1")
    expect(code, 0, report.get("message"))
    expect(report["shown"]["verification"], "passed", "verification")
    Envelope.from_dict(report["shown"]["envelope"]).verify([signer.key], 1)


CASES = [every_kind_is_there, envelopes_verify, envelopes_of_the_ledger_verify, key_files_are_read,
         statements_are_in_toto_statements, statements_are_written_as_the_format_says, control_altered_envelopes,
         control_other_key, control_statement_without_a_digest, envelopes_of_securesystemslib_verify,
         control_altered_envelopes_of_theirs, control_key_id_of_securesystemslib, a_key_of_theirs_signs_here]

if __name__ == "__main__":
    raise SystemExit(main(CASES, open_world))
