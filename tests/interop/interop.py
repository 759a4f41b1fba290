"""Run every case against every peer, one line each: interop.py BUILD PEERS.

Exit 0 only when every case that is listed has passed; a case that did not run counts as failed.
"""

import os
import subprocess
import sys
import time

from processes import die_by_signal

HERE = os.path.dirname(os.path.abspath(__file__))
PROVIDERS = ("process", "container")
LIMIT_SECONDS = 120  # of one script


def _plans(peers):
    """Each script with its arguments and the folders of its modules."""
    with open(os.path.join(HERE, "clients.txt"), encoding="ascii") as file:
        versions = [line.strip().split("==")[1] for line in file if not line.startswith("#")]
    for version in versions:
        for provider in PROVIDERS:
            yield "client_cases.py", [provider], os.path.join(peers, f"client-{version}")
    yield "envelope_cases.py", [], None
    yield "verdict_cases.py", [], None
    yield "report_cases.py", [os.path.join(peers, "schemas")], None


def _script(script, folder, arguments):
    """What it printed, and how it ended."""
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, (folder, HERE))), PYTHONDONTWRITEBYTECODE="1")
    process = subprocess.Popen([sys.executable, os.path.join(HERE, script), *arguments], env=env,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        printed, _ = process.communicate(timeout=LIMIT_SECONDS)
        return printed, f"exit {process.returncode}"
    except subprocess.TimeoutExpired:
        process.terminate()
        printed, _ = process.communicate()
        return printed, f"ended after {LIMIT_SECONDS} s"
    finally:
        process.terminate()
        process.wait()


def _run(build, script, arguments, folder):
    """How many cases passed, and how many there are."""
    listed = _script(script, folder, ["--list"])[0].split()
    printed, status = _script(script, folder, [build, *arguments])
    sys.stdout.write(printed)
    words = [line.split() for line in printed.splitlines()]
    told = {word[1] for word in words if word[:1] in (["PASS"], ["FAIL"])}
    passed = {word[1] for word in words if word[:1] == ["PASS"]}
    if not listed:
        print(f"FAIL {script} {' '.join(arguments)}: it has no cases ({status})")
    for name in listed:
        if name not in told:
            print(f"FAIL {name}  {script} {' '.join(arguments)}: it did not run ({status})")
    if passed.issuperset(listed) and status != "exit 0":
        print(f"FAIL {script} {' '.join(arguments)}: every case passed, and still {status}")
        passed = set()
    sys.stdout.flush()
    return len(passed.intersection(listed)), max(len(listed), 1)


def main(build, peers):
    die_by_signal()
    began = time.monotonic()
    passed = total = 0
    for script, arguments, folder in _plans(peers):
        counts = _run(build, script, arguments, folder)
        passed += counts[0]
        total += counts[1]
    print(f"interop: {passed} of {total} cases passed in {time.monotonic() - began:.0f} s")
    return 0 if passed == total else 1


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
