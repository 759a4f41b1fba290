"""Lines of a bundle, made without any code of this project: Google's protobuf encodes the messages, securesystemslib
signs, and statement and line are written here from docs/FORMAT.md."""

import base64
import json
import os
import subprocess
import tempfile

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner, SSlibKey

PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../proto")
PAYLOAD_TYPE = "application/vnd.in-toto+json"
_BASE = "https://plimsollmark.github.io/plimsoll/"
_RAW = {("JavaScriptResult", "stdout"), ("JavaScriptResult", "stderr"), ("StepResult", "stdout"),
        ("StepResult", "stderr"), ("ModuleResult", "stdout"), ("ModuleResult", "stderr"), ("CellResult", "stdout"),
        ("CellResult", "stderr"), ("Artifact", "content")}

# ---- messages ---------------------------------------------------------------------------------------


def _descriptors(proto_folder):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "descriptors")
        subprocess.run(["protoc-c", f"--proto_path={proto_folder}", f"--descriptor_set_out={path}",
                        f"--c_out={folder}", "plimsoll/v1/sandbox.proto"], check=True)
        with open(path, "rb") as file:
            return descriptor_pb2.FileDescriptorSet.FromString(file.read()).file[0]


class Messages:
    """The wire's messages. The schema declares text as bytes, for a reason of C's; here it is text again."""

    def __init__(self, proto_folder):
        file = _descriptors(proto_folder)
        for message in file.message_type:
            for field in message.field:
                if field.type == field.TYPE_BYTES and (message.name, field.name) not in _RAW:
                    field.type = field.TYPE_STRING
        self._pool = descriptor_pool.DescriptorPool()
        self._pool.Add(file)

    def new(self, name):
        return message_factory.GetMessageClass(self._pool.FindMessageTypeByName(f"plimsoll.v1.{name}"))()

    def encode(self, name, value):
        """The binary form of a message that is given as proto3 JSON."""
        return json_format.ParseDict(value, self.new(name)).SerializeToString(deterministic=True)

    def decode(self, name, binary):
        message = self.new(name)
        message.ParseFromString(binary)
        return json_format.MessageToDict(message)


# ---- statements -------------------------------------------------------------------------------------


def compact(value):
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _statement(name, digest, word, predicate):
    return compact({"_type": "https://in-toto.io/Statement/v1",
                    "subject": [{"name": name, "digest": {"sha256": digest}}],
                    "predicateType": f"{_BASE}{word}/v1", "predicate": predicate})


def record_statement(record):
    """`record` is a RunRecord as proto3 JSON."""
    text, number = (lambda name: record.get(name, "")), (lambda name: int(record.get(name, 0)))
    predicate = {"version": number("version"), "request_sha256": text("requestSha256"),
                 "result_sha256": text("resultSha256"), "provider": text("provider"), "isolation": text("isolation"),
                 "environment": text("environment"), "software_identity": text("softwareIdentity"),
                 "software_rule_id": text("softwareRuleId"), "policy": text("policy"),
                 "started_unix_ms": number("startedUnixMs"), "ended_unix_ms": number("endedUnixMs"),
                 "session": text("session"), "sequence": number("sequence"), "previous_sha256": text("previousSha256"),
                 "unanswered": text("unanswered"), "instance": text("instance"), "record_sha256": text("recordSha256")}
    for name in ("software_identity", "software_rule_id", "unanswered", "instance"):
        if predicate[name] == "":
            del predicate[name]
    return _statement("run-record", text("recordSha256"), "run-record", predicate)


def close_statement(closed):
    """`closed` is a CloseSessionResponse as proto3 JSON."""
    return _statement("session", closed["session"], "session-close",
                      {"session": closed["session"], "calls": int(closed.get("calls", 0)),
                       "last_record_sha256": closed.get("lastRecordSha256", "")})


# ---- envelopes and lines ----------------------------------------------------------------------------


def key_id(public_key):
    """Ours: the SHA-256 of the SubjectPublicKeyInfo."""
    digest = hashes.Hash(hashes.SHA256())
    digest.update(public_key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo))
    return digest.finalize().hex()


class Signer:
    """A key that securesystemslib signs with; `path` gets the public half as PEM."""

    def __init__(self, path, keyid=None):
        self.private = Ed25519PrivateKey.generate()
        public = self.private.public_key()
        self.key = SSlibKey.from_crypto(public, keyid=keyid if keyid is not None else key_id(public))
        self._signer = CryptoSigner(self.private, self.key)
        self.path = path
        with open(path, "wb") as file:
            file.write(public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))

    def sign(self, statement):
        envelope = Envelope(statement.encode(), PAYLOAD_TYPE, {})
        envelope.sign(self._signer)
        return envelope_json(envelope.to_dict())


def envelope_json(envelope):
    """In exactly the form of a bundle."""
    return compact({"payloadType": envelope["payloadType"], "payload": envelope["payload"],
                    "signatures": [{"keyid": one["keyid"], "sig": one["sig"]} for one in envelope["signatures"]]})


def line(request, response, envelope):
    """Without a newline; what is None is left out."""
    parts = [f'"{name}":"{base64.b64encode(binary).decode()}"'
             for name, binary in (("request", request), ("response", response)) if binary is not None]
    return "{" + ",".join(parts + [f'"envelope":{envelope}']) + "}"
