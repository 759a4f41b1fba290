#!/usr/bin/env python3
"""The completion scripts, tried in interactive shells on a terminal of their own.

    completion.py BUILD

Every command's options are compared with its --help. The test must find a planted mistake first. A shell that is missing is
said loudly, and fails where CI or COUNTERSIGN_REQUIRE_ALL is set.
"""
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

COMMAND = None  # countersign, absolute
FILES = ["-odd", "a file.jsonl", "k.key", "k.pub", "ledger.db", "xfile"]
ALL, TAB, TELL, AWAY = "\x14", "\t", "\x07", "\x01\x0b"  # ^T ^I ^G, and ^A^K

BASH = """PS1=''; PS2=''; HISTFILE=; bind 'set completion-query-items 0'; bind 'set page-completions off'
bind '"\\C-t": insert-completions'; bind -x '"\\C-g": printf "%s\\n" "$READLINE_LINE" > "$TELL.new" && mv "$TELL.new" "$TELL"'
. "$SCRIPT"
"""
ZSH = """PS1=''; autoload -Uz compinit; fpath=("${SCRIPT:h}" $fpath); compinit -u -D
every() { _main_complete; compstate[insert]=all; compstate[list]= }; zle -C every complete-word every; bindkey '^T' every
tell() { print -r -- "$BUFFER" > "$TELL.new" && mv "$TELL.new" "$TELL" }; zle -N tell; bindkey '^G' tell
"""


class Shell:
    """An interactive shell that is asked for its line by a key, so nothing that it paints has to be understood."""

    def __init__(self, name, script, folder):
        self.tell = os.path.join(folder, "tell")
        files = os.path.join(folder, "files")
        program = shutil.which(name)
        arguments = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[name]
        environment = {"PATH": os.path.dirname(COMMAND) + ":/usr/bin:/bin", "TERM": "dumb", "HOME": folder, "LC_ALL": "C.UTF-8",
                       "INPUTRC": "/dev/null", "SCRIPT": script, "TELL": self.tell}
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(files)
            os.execve(program, arguments, environment)
        # From a file, in one line: a terminal takes no long lines before the shell reads them.
        begin = os.path.join(folder, "begin")
        with open(begin, "w", encoding="utf-8") as file:
            file.write({"bash": BASH, "zsh": ZSH}[name])
        self.line(". ../begin; : > ../ready\n", os.path.join(folder, "ready"))
        self.painted = b""

    def line(self, keys, answer):
        """Type, and wait for the file that is the answer."""
        if os.path.exists(answer):
            os.unlink(answer)
        os.write(self.terminal, keys.encode())
        until = time.monotonic() + 60
        painted = b""
        while not os.path.exists(answer):
            if select.select([self.terminal], [], [], 0.02)[0]:
                painted += os.read(self.terminal, 65536)
            if time.monotonic() > until:
                raise SystemExit(f"completion: no answer to {keys!r}; on the terminal: {painted!r}")
        with open(answer, encoding="utf-8") as file:
            return file.read().rstrip("\n")

    def press(self, typed, key):
        """The line after the key was pressed behind what was typed."""
        return self.line(AWAY + typed + key + TELL, self.tell)

    def offered(self, typed):
        """The words that all completions put in the place of the last word."""
        line = self.press(typed, ALL)
        before = typed[: typed.rfind(" ") + 1]
        if "=" in typed.rsplit(" ", 1)[-1]:
            before = typed[: typed.rfind("=") + 1]
        if line.rstrip() == typed.rstrip() or not line.startswith(before):
            return [line[len(before):]] if line.rstrip() != typed.rstrip() else []
        words = re.findall(r"(?:\\.|[^\s\\])+", line[len(before):])
        return [re.sub(r"^--[a-z-]+=(?=.)|(?<=.)=$", "", word) for word in words]

    def end(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def run(*arguments):
    return subprocess.run([COMMAND, *arguments], check=True, capture_output=True, text=True).stdout


def options_of_help(command):
    """Independent of the tables: read from what a person reads."""
    options = []
    for line in run(command, "--help").splitlines():
        found = re.match(r"  (?:(-[a-zA-Z]), |    )(--[a-z-]+)", line)
        if found:
            options += [option for option in found.groups() if option]
    return without_repeats(options)


def without_repeats(words):
    return sorted(set(words))


def check(name, script, folder, commands):
    """The mistakes, in words."""
    shell = Shell(name, script, folder)
    wrong = []

    def expect(typed, wanted):
        got = without_repeats(shell.offered(typed))
        if got != sorted(wanted):
            wrong.append(f"{name}: {typed!r} offers {got}, not {sorted(wanted)}")

    def expect_tab(typed, wanted):
        line = shell.press(typed, TAB)
        if line != wanted:
            wrong.append(f"{name}: {typed!r} becomes {line!r}, not {wanted!r}")

    outer = without_repeats(shell.offered("countersign "))
    if [command for command in commands if command not in outer]:
        wrong.append(f"{name}: of the commands only {outer} are offered")
    for command in commands:
        # zsh also offers the file of that beginning.
        got = without_repeats(word for word in shell.offered(f"countersign {command} -") if word not in FILES)
        if got != options_of_help(command):
            wrong.append(f"{name}: {command} has the options {got}, not {options_of_help(command)}")
    expect("countersign --v", ["--version"])
    expect("countersign pol", ["policy"])
    expect("countersign run --co", ["--codec"])
    expect("countersign run --codec ", ["binary", "json"])
    expect("countersign run --codec=", ["binary", "json"])
    expect("countersign run --codec x", [])
    expect("countersign session --floor ", ["process", "container", "kernel", "vm"])
    expect("countersign diff --only re", ["request", "result", "response", "record"])
    expect("countersign log --verdict un", ["unanswered", "unreadable", "unchecked"])
    expect("countersign tiers --require fil", ["files", "file-size"])
    expect("countersign tiers --replace x", [])
    expect("countersign run -k k.", ["k.key", "k.pub"])
    expect("countersign run --key=k.", ["k.key", "k.pub"])
    expect("countersign run -d ", [])
    expect("countersign run --timeout x", [])
    expect("countersign run --require-success x", ["xfile"])
    expect("countersign policy ", ["check"])
    expect("countersign policy check x", ["xfile"])
    expect("countersign completion ", ["bash", "zsh"])
    expect("countersign completion bash x", [])
    expect("countersign codes x", [])
    expect("countersign no-such-command --", [])
    expect("countersign-verify --exp", ["--expect", "--expect-count", "--expect-head"])
    expect("countersign verify -- -", ["-odd"])
    expect("countersign-verify -- -", ["-odd"])
    expect_tab("countersign ver", "countersign verify ")
    expect_tab("countersign verify a", "countersign verify a\\ file.jsonl ")
    expect_tab("countersign replay --cross-check p", "countersign replay --cross-check probe ")
    shell.end()
    return wrong


def plant(script):
    """The same script, but --codec is not known any more."""
    with open(script, encoding="utf-8") as file:
        text = file.read()
    planted = text.replace("codec", "kodec")
    assert planted != text
    with open(script, "w", encoding="utf-8") as file:
        file.write(planted)


def try_shell(name, commands):
    if shutil.which(name) is None:
        print(f"completion: THERE IS NO {name} HERE: ITS SCRIPT IS NOT TRIED", file=sys.stderr)
        return ["no " + name] if os.environ.get("CI") or os.environ.get("COUNTERSIGN_REQUIRE_ALL") else []
    for planted in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "files"))
            for file in FILES:
                with open(os.path.join(folder, "files", file), "w", encoding="utf-8"):
                    pass
            script = os.path.join(folder, {"bash": "countersign", "zsh": "_countersign"}[name])
            with open(script, "w", encoding="utf-8") as file:
                file.write(run("completion", name))
            if planted:
                plant(script)
            wrong = check(name, script, folder, commands)
        if planted and not (wrong and all("codec" in each for each in wrong)):
            return wrong + [f"{name}: this is not the planted mistake alone; the test can't be trusted"]
    return wrong


def main():
    global COMMAND
    COMMAND = os.path.abspath(os.path.join(sys.argv[1], "countersign"))
    commands = [each["command"] for each in json.loads(run("--help", "--json"))["commands"]]
    wrong = try_shell("bash", commands) + try_shell("zsh", commands)
    for each in wrong:
        print(f"completion: {each}", file=sys.stderr)
    if not wrong:
        print(f"completion: {len(commands)} commands as their --help says, in bash and zsh where they are")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
