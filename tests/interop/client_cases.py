"""A published client of the wire against our daemon: client_cases.py BUILD PROVIDER, the client on PYTHONPATH.

The client makes checks of its own on every answer, so each of its calls that returns is a record that it believes.
Everything goes through a relay; at the end the exchanges that went through become a bundle, made by others' code, which
our verifier must accept.
"""

import base64
import contextlib
import glob
import json
import os
import tempfile

import plimsoll_client as peer
from plimsoll_client import _record as peer_record

import bundle
from cases import expect, expect_raises, main
from processes import TOKEN, Daemon, command, die_by_signal, wait_until
from relay import Relay

ODD_CODE = "process.stdout.write(Buffer.from([0,255,10]));console.error('<\u00e9>&\u2028\U0001f4a1')"


class World:
    def __init__(self, build, folder, daemon, relay):
        self.build = build
        self.folder = folder
        self.daemon = daemon
        self.relay = relay
        self.client = self.client_for(relay.url)
        self.peer = f"plimsoll-client {peer.__version__} (protocol {peer.PROTOCOL}, {daemon.provider})"
        self.messages = bundle.Messages(bundle.PROTO)

    @staticmethod
    def client_for(url, token=TOKEN):
        return peer.Client(url, token=token, request_timeout=60)


@contextlib.contextmanager
def open_world(build, provider):
    die_by_signal()
    with tempfile.TemporaryDirectory(prefix="countersign-interop-") as folder:
        with Daemon(build, folder, provider, peer.PROTOCOL) as daemon, Relay(daemon.url) as relay:
            yield World(build, folder, daemon, relay)


def check_record(world, result):
    """What the client's own check does not say: the record is of this daemon, and both digest functions agree."""
    record = result.record
    expect(record.version, 4 if peer.PROTOCOL == 4 else 2, "record version")
    expect((record.provider, record.isolation), (world.daemon.provider, world.daemon.provider), "provider and tier")
    expect(peer_record.record_digest(record), record.sha256, "record digest")
    if peer.PROTOCOL == 4:
        expect(record.instance.startswith("localdaemon-sandbox:"), True, f"instance {record.instance!r}")
        expect(result.instance, record.instance, "the response's instance")


# ---- single runs ------------------------------------------------------------------------------------


def describe(world):
    info = world.client.describe()
    expect(info.protocol, peer.PROTOCOL, "protocol")
    expect((info.provider, info.isolation), (world.daemon.provider, world.daemon.provider), "provider and tier")
    expect(info.supports_project and info.supports_sessions, True, "projects and sessions")
    expect(info.policy.startswith("localdaemon-policy:sha256:"), True, f"policy {info.policy!r}")


def javascript(world):
    result = world.client.run_javascript("console.log(6 * 7); process.exitCode = 3", minimum_isolation="process")
    expect((result.stdout, result.exit_code, result.timed_out), (b"42\n", 3, False), "result")
    check_record(world, result)


def text_and_bytes_of_every_kind(world):
    result = world.client.run_javascript(ODD_CODE, trace_id="interop-1")
    expect(result.stdout, b"\x00\xff\n", "stdout")
    expect(result.stderr, "<\u00e9>&\u2028\U0001f4a1\n".encode(), "stderr")
    check_record(world, result)


def project(world):
    files = {"a.txt": "hello\n", "dir/b.txt": "\u00fcber"}
    steps = ["cat a.txt dir/b.txt", "printf made > out.bin; echo no >&2; exit 7", "echo never"]
    result = world.client.run_project(files, steps, ["out.bin", "dir/b.txt", "missing"])
    expect([(one.stdout, one.stderr, one.exit_code) for one in result.steps],
           [("hello\n\u00fcber".encode(), b"", 0), (b"", b"no\n", 7)], "steps")
    expect([(one.path, one.content) for one in result.artifacts],
           [("out.bin", b"made"), ("dir/b.txt", "\u00fcber".encode())], "artifacts")
    expect(result.outcome, "completed", "outcome")
    check_record(world, result)


def every_run_has_an_instance_of_its_own(world):
    names = [world.client.run_javascript("1").record for _ in range(2)]
    if peer.PROTOCOL >= 4:
        expect(names[0].instance != names[1].instance, True, "two instances")
    else:
        expect("instance" in json.dumps(world.relay.exchanges[-1].answer), False, "an instance in protocol 3")


def time_outs(world):
    result = world.client.run_javascript("for (;;);", timeout=0.4)
    expect(result.timed_out, True, "javascript timed out")
    check_record(world, result)
    result = world.client.run_project({"f": ""}, ["sleep 30", "echo never"], timeout=0.4)
    expect((result.outcome, [one.timed_out for one in result.steps]), ("timed_out", [True]), "project")
    check_record(world, result)


# ---- refusals ---------------------------------------------------------------------------------------


def floor_refused(world):
    error = expect_raises(peer.InsufficientIsolationError,
                          lambda: world.client.run_javascript("1", minimum_isolation="vm"))
    expect((error.code, error.not_dispatched), ("failed_precondition", "isolation"), "mark of a run")
    error = expect_raises(peer.InsufficientIsolationError, lambda: world.client.open_session(minimum_isolation="vm"))
    expect(error.not_dispatched, "isolation", "mark of an opening")


def wrong_token_refused(world):
    error = expect_raises(peer.PlimsollError, lambda: world.client_for(world.relay.url, "wrong").run_javascript("1"))
    expect((error.code, error.not_dispatched), ("unauthenticated", "permission"), "code and mark")


def software_rule_refused(world):
    rule = peer.SoftwareRule.approved("oci-manifest:linux/amd64@sha256:one", "oci-manifest:linux/amd64@sha256:two")
    error = expect_raises(peer.SoftwareMismatchError, lambda: world.client.run_javascript("1", software=rule))
    expect(error.not_dispatched, "environment", "mark")


def module_refused(world):
    error = expect_raises(peer.UnsupportedError,
                          lambda: world.client.run_module("model", [[1.0]], end_time=1.0, step=0.1))
    expect(error.not_dispatched, "unsupported", "mark")


def other_protocol_refused(world):
    other = 3 if peer.PROTOCOL == 4 else 4
    with Daemon(world.build, world.folder, world.daemon.provider, other) as daemon:
        client = world.client_for(daemon.url)
        error = expect_raises(peer.ProtocolMismatchError, client.describe)
        expect(error.info.protocol, other, "described protocol")
        error = expect_raises(peer.ProtocolMismatchError, lambda: client.run_javascript("1"))
        expect(error.not_dispatched, "protocol", "mark")


# ---- sessions ---------------------------------------------------------------------------------------


def session_keeps_files(world):
    session = world.client.open_session(minimum_isolation="process", owner="somebody")
    first = session.run_project({"given": "one"}, ["echo two > kept"])
    second = session.run_javascript("const fs = require('fs'); console.log(fs.readFileSync('given') + "
                                    "fs.readFileSync('kept'))")
    expect(second.stdout, b"onetwo\n\n", "what was kept")
    for result in (first, second):
        check_record(world, result)
    expect(second.record.previous_sha256, first.record.sha256, "the chain")
    expect(*(getattr(one.record, "instance", "") for one in (first, second)), "one instance")
    closed = session.close()
    expect((closed.calls, closed.last_record_sha256, closed.end), (2, second.record.sha256, "closed"), "close")
    expect(closed.session, session.fingerprint, "fingerprint of the close")


def _cells(world, language, define, use, wanted):
    if language not in world.client.describe().session_environment.languages:
        expect(os.geteuid() == 0, False, f"root is served no cells of {language}")
        expect_raises(peer.UnsupportedError, lambda: world.client.open_session(languages=[language]))
        return
    with world.client.open_session(languages=[language]) as session:
        first = session.run_cell(define, language)
        second = session.run_cell(use, language, files={"f": "5"})
        failed = session.run_cell("no such name", language)
    expect((first.interpreter_started, second.interpreter_started), (True, False), "fresh interpreters")
    expect((second.stdout, second.exit_code), (wanted, 0), "a cell that uses the one before")
    expect(failed.exit_code != 0, True, "a cell that fails")
    for result in (first, second, failed):
        check_record(world, result)


def cells_javascript(world):
    _cells(world, "javascript", "x = 6", "console.log(x * 7)", b"42\n")


def cells_python(world):
    _cells(world, "python", "x = 6", "print(x * 7, open('f').read())", b"42 5\n")


def session_that_expired(world):
    session = world.client.open_session(lifetime=2)
    result = session.run_project({"f": ""}, ["sleep 30"])
    expect(result.outcome, "timed_out", "the call that its end cut short")
    expect(session.ended.reason, "expired", "end that the call tells")
    error = expect_raises(peer.SessionEndedError, lambda: session.run_javascript("1"))
    expect((error.reason, error.not_dispatched), ("expired", "request"), "later call")
    expect((session.close().calls, session.close().end), (1, "expired"), "close")


def unanswered_call(world):
    """The session's folder is away while a call comes in: the daemon can't carry it out and says so in a record."""
    session = world.client.open_session()
    session.run_project({session.fingerprint: ""}, ["true"])
    pattern = f"/tmp/localdaemon*/*/work/{session.fingerprint}"
    wait_until("the session's folder", lambda: len(glob.glob(pattern)) == 1)
    work = os.path.dirname(glob.glob(pattern)[0])
    os.rename(work, work + "-away")
    try:
        error = expect_raises(peer.PlimsollError, lambda: session.run_javascript("1"))
    finally:
        os.rename(work + "-away", work)
    record = error.record
    expect((error.code, error.not_dispatched), ("internal", None), "code and no mark")
    expect((record.unanswered, record.result_sha256), ("internal", ""), "what the record says")
    expect((record.version, record.sequence), (4 if peer.PROTOCOL == 4 else 3, 2), "version and place")
    expect(peer_record.record_digest(record), record.sha256, "record digest")
    check_record(world, session.run_javascript("2"))
    expect(session.close().calls, 3, "calls")


# ---- controls: the client refuses what was altered --------------------------------------------------


@contextlib.contextmanager
def _altered(world, alter):
    """The answers to Run, altered."""
    world.relay.alter = alter
    try:
        yield
    finally:
        world.relay.alter = None


def control_altered_output(world):
    def one_byte(answer, _headers):
        output = bytearray(base64.b64decode(answer["javascript"]["stdout"]))
        output[0] ^= 1
        answer["javascript"]["stdout"] = base64.b64encode(output).decode()

    with _altered(world, one_byte):
        error = expect_raises(peer.RecordMismatchError, lambda: world.client.run_javascript("console.log(1)"))
    expect("result digest" in str(error), True, str(error))


def control_altered_record(world):
    name = "instance" if peer.PROTOCOL == 4 else "policy"

    def one_letter(answer, _headers):
        for message in (answer["record"], answer if name == "instance" else {name: "?"}):
            message[name] = message[name][:-1] + ("0" if message[name][-1] != "0" else "1")

    with _altered(world, one_letter):
        error = expect_raises(peer.RecordMismatchError, lambda: world.client.run_javascript("1"))
    expect("record digest" in str(error), True, str(error))


def control_answer_of_another_request(world):
    def other_id(_answer, headers):
        headers["Plimsoll-Request-Id"] = "0" * 32

    with _altered(world, other_id):
        expect_raises(peer.AnswerNotBoundError, lambda: world.client.run_javascript("1"))


# ---- what went through, as a bundle -----------------------------------------------------------------


def _detail(world, answer, name):
    for detail in answer.get("details", []):
        if detail["type"].endswith("." + name):
            value = detail["value"]
            return world.messages.decode(name, base64.b64decode(value + "=" * (-len(value) % 4)))
    return None


def _line_of(world, signer, exchange):
    """The line of one exchange, or None when nothing ran."""
    if exchange.method == "CloseSession" and exchange.status == 200:
        return bundle.line(None, None, signer.sign(bundle.close_statement(exchange.answer)))
    if exchange.method not in ("Run", "SessionRun"):
        return None
    sent = {name: value for name, value in exchange.request.items() if name != "sessionId"}
    request = world.messages.encode("RunRequest", sent)
    if exchange.status == 200:
        answer = exchange.answer if exchange.method == "Run" else exchange.answer["run"]
        envelope = signer.sign(bundle.record_statement(answer["record"]))
        return bundle.line(request, world.messages.encode("RunResponse", answer), envelope)
    unanswered = _detail(world, exchange.answer, "UnansweredCall")
    if unanswered is None:
        return None
    return bundle.line(request, None, signer.sign(bundle.record_statement(unanswered["record"])))


def _bundle(world, name, exchanges):
    signer = bundle.Signer(os.path.join(world.folder, f"{name}.pub"))
    lines = [line for line in (_line_of(world, signer, one) for one in exchanges) if line is not None]
    path = os.path.join(world.folder, f"{name}.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    return path, signer.path, len(lines)


def bundle_of_the_exchanges_verifies(world):
    path, public_key, lines = _bundle(world, "exchanges", world.relay.exchanges)
    code, report = command(world.build, "countersign-verify", "-p", public_key, path)
    expect((code, report["code"]), (0, "ok"), report.get("message"))
    summary = report["inputs"][0]
    closes = len([one for one in world.relay.exchanges if one.method == "CloseSession" and one.status == 200])
    expect((summary["runs"], summary["sessions"], summary["unanswered"]), (lines - closes, closes, 1), "counts")
    expect(lines > 20, True, f"{lines} lines")


def control_bundle_with_an_altered_output(world):
    first = [one for one in world.relay.exchanges if one.method == "Run" and one.status == 200][0]
    first.answer["javascript"]["exitCode"] = 4
    path, public_key, _ = _bundle(world, "altered", [first])
    code, report = command(world.build, "countersign-verify", "-p", public_key, path)
    expect((code, report["code"]), (1, "result-digest"), report.get("message"))


def request_digests_agree(world):
    """Ours over what the client sent, the client's, and the one that the record states."""
    runs = [one for one in world.relay.exchanges if one.method == "Run" and one.status == 200]
    paths = []
    for i, one in enumerate(runs):
        paths.append(os.path.join(world.folder, f"request-{i}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump(one.request, file)
    code, report = command(world.build, "digest", *paths)
    expect(code, 0, report.get("message"))
    ours = [one["sha256"] for one in report["digests"]]
    expect(ours, [peer_record.request_digest(one.request) for one in runs], "the client's digests")
    expect(ours, [one.answer["record"]["requestSha256"] for one in runs], "the digests that the records state")


CASES = [describe, javascript, text_and_bytes_of_every_kind, project, every_run_has_an_instance_of_its_own, time_outs,
         floor_refused, wrong_token_refused, software_rule_refused, module_refused, other_protocol_refused,
         session_keeps_files, cells_javascript, cells_python, session_that_expired, unanswered_call,
         control_altered_output, control_altered_record, control_answer_of_another_request, request_digests_agree,
         bundle_of_the_exchanges_verifies, control_bundle_with_an_altered_output]

if __name__ == "__main__":
    raise SystemExit(main(CASES, open_world))
