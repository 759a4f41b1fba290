"""Programs of this project: a daemon that ends with this process, and commands with their JSON."""

import ctypes
import hashlib
import json
import os
import signal
import subprocess
import time

TOKEN = "token-of-the-interop-test"
_PR_SET_PDEATHSIG = 1


def die_by_signal():
    """A signal unwinds the `with` blocks, which end what was started."""

    def stop(number, _frame):
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)


def _end_with_parent():
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class Daemon:
    """A localdaemon on a free port, for a `with` block."""

    def __init__(self, build, folder, provider, protocol):
        self.protocol = protocol
        self.provider = provider
        self._folder = folder
        self._log_path = os.path.join(folder, f"daemon-{provider}-{protocol}.log")
        clients = os.path.join(folder, "clients.json")
        with open(clients, "w", encoding="ascii") as file:
            hashed = hashlib.sha256(TOKEN.encode()).hexdigest()
            json.dump({"clients": [{"id": "interop", "token_sha256": hashed, "scopes": ["code:run"]}]}, file)
        self._command = [os.path.join(build, "localdaemon"), "--provider", provider, "--listen", "127.0.0.1:0",
                         "--clients", clients, "--protocol", str(protocol)]

    def __enter__(self):
        self._log = open(self._log_path, "wb")
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=self._log, preexec_fn=_end_with_parent)
        self.url = self._process.stdout.readline().decode().strip()
        if not self.url:
            self._process.wait()
            with open(self._log_path, encoding="utf-8", errors="replace") as log:
                raise RuntimeError(f"localdaemon --provider {self.provider} does not start here: {log.read()[-500:]}")
        return self

    def __exit__(self, *_what):
        self._process.terminate()
        status = self._process.wait(timeout=30)
        self._process.stdout.close()
        self._log.close()
        if status != 0:
            raise RuntimeError(f"localdaemon ended with {status}; its log is {self._log_path}")


def command(build, name, *arguments, **environment):
    """Run a program of ours with --json; its exit code and what it printed."""
    env = dict(os.environ, PLIMSOLL_CALLER_TOKEN=TOKEN, **environment)
    env.pop("COUNTERSIGN_KEY", None)
    program = "countersign-verify" if name == "countersign-verify" else "countersign"
    words = [os.path.join(build, program)] + ([] if program == name else [name]) + ["--json", *arguments]
    done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError as error:
        said = f"{done.stdout[:200]!r} {done.stderr[:300]!r}"
        raise AssertionError(f"{' '.join(words)} printed no JSON: {said}") from error


def _git(folder, *arguments):
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
           for what, value in (("NAME", "t"), ("EMAIL", "t@example.org"))}
    env = dict(os.environ, GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null", **who)
    return subprocess.run(["git", "-C", folder, *arguments], env=env, check=True, capture_output=True,
                          text=True).stdout.strip()


def make_commit(folder, files):
    """A new repository with one commit of these files, each a path and its text; the commit's id."""
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.write(text)
    _git(folder, "init", "-q")
    _git(folder, "add", ".")
    _git(folder, "commit", "-q", "-m", "a commit")
    return _git(folder, "rev-parse", "HEAD")


def wait_until(what, condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come true")
        time.sleep(0.02)
