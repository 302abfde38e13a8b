"""typeahead as a typist and a pipe use it: it learns, goes on from its state, and gives the terminal back.

    check_typeahead.py TYPEAHEAD WORK      WORK: may be overwritten
"""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

LINES = "the quick brown fox jumps\na small model learns\nthree phases sum to zero\n"
PATIENCE = 100      # seconds that a thing may take on a slow machine before the test says that it does not come
faults, done = [], 0


def expect(right, what):
    global done
    done += 1
    if not right:
        faults.append(what)
    return right


def run(program, work, *words, text="", status=0):
    got = subprocess.run([program, *words], cwd=work, input=text.encode(), capture_output=True)
    shown = (got.stdout + got.stderr).decode("utf-8", "replace")
    expect(got.returncode == status, f"{' '.join(words)}: status {got.returncode}, not {status}\n{shown}")
    return shown


def perplexities(shown):
    return [float(word) for word in re.findall(r"^line \d+: perplexity ([\d.]+)", shown, re.M)]


def wrong_calls(program, work):
    expect("usage:" in run(program, work, "--help"), "--help shows no usage")
    for words in (["--nonsense"], ["a word"], ["--state"], ["--steps", "x"], ["--threads", "257"], ["--model", "m"],
                  ["--tokenizer", "t"]):
        run(program, work, *words, status=2)
    run(program, work, "--model", "absent", "--tokenizer", "absent", status=1)
    run(program, work, "--state", "absent/state", status=1)
    expect(not list(work.iterdir()), "a call that failed left a file")


def learns(program, work):
    """Each line comes back 12 times; bytes at first have a perplexity of some 256."""
    shown = run(program, work, "--state", "state", text=LINES * 12)
    found = perplexities(shown)
    if expect(len(found) == 36, f"36 lines, {len(found)} perplexities"):
        expect(found[0] > 100 and max(found[-3:]) < found[0] / 20, f"it learned little: {found}")
    expect(re.search(r"^ +21-30 +[\d.]+$", shown, re.M), f"no table at the end: {shown[-300:]}")
    one, two = (run(program, work, "--state", name, "--threads", name, text=LINES * 2) for name in "12")
    expect(one == two, "one and two threads learned differently")


def goes_on(program, work):
    before = (work / "state").read_bytes()
    shown = run(program, work, "--state", "state", text=LINES)
    found = perplexities(shown)
    expect("line 37:" in shown and len(found) == 3 and max(found) < 20, f"it did not go on: {shown}")
    expect((work / "state").read_bytes() != before, "the state was not written")
    shutil.copy(work / "1", work / "cut")
    run(program, work, "--state", "cut", text=LINES)
    run(program, work, "--state", "whole", "--threads", "1", text=LINES * 3)
    expect((work / "cut").read_bytes() == (work / "whole").read_bytes(), "two sittings learned otherwise than one")
    shown = run(program, work, "--state", "long", text="né " * 900 + "\n\n  \n")
    expect(len(perplexities(shown)) == 2, f"3600 bytes are two lines, and a blank one is none: {shown}")


def leaves_out(program, work):
    """A line with a word that the tokenizer does not know."""
    json = """{"version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "none"}}"""
    (work / "two.json").write_text(json)
    run(program, work, "--state", "model", "--steps", "0")
    words = ("--model", "model", "--tokenizer", "two.json", "--state", "two")
    shown = run(program, work, *words, text="a b\na c\nb a\n")
    expect("line 2:" in shown and "line 3:" not in shown and shown.count(f"{program.name}: not learned: ") == 1,
           f"the line with an unknown word: {shown}")


def refuses(program, work):
    """A state that is cut, of another kind, or whose own part was changed, stays as it is."""
    whole = (work / "state").read_bytes()
    title = whole.index(b"typeahead 1\n")
    for name, spoiled in (("cut", whole[:-100]), ("text", b"my notes\n"), ("empty", b""),
                          ("title", whole[:title] + b"T" + whole[title + 1:]),
                          ("counts", whole[:title + 12] + b"x" + whole[title + 13:])):
        (work / name).write_bytes(spoiled)
        shown = run(program, work, "--state", name, text=LINES, status=1)
        expect(shown.startswith(f"{program.name}: ") and shown.count("\n") == 1, f"{name}: {shown!r} is no sentence")
        expect((work / name).read_bytes() == spoiled, f"the state that was refused ({name}) was changed")
    expect(not list(work.glob("*.??????")), "a trial file is left")


class Terminal:
    """The program on a terminal of its own; `shown` is all that it wrote."""

    def __init__(self, program, work, *words):
        self.main, self.side = pty.openpty()
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.modes, self.shown = termios.tcgetattr(self.side), ""
        env = dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8")
        self.child = subprocess.Popen([program, *words], cwd=work, env=env, stdin=self.side, stdout=self.side,
                                      stderr=self.side, start_new_session=True)

    def type(self, text):
        self.shown = ""
        os.write(self.main, text.encode())

    def read(self):
        if select.select([self.main], [], [], 0.1)[0]:
            self.shown += os.read(self.main, 65536).decode("utf-8", "replace")

    def wait(self, pattern, what):
        """Until it has written what the pattern finds."""
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.shown) and time.monotonic() < end and self.child.poll() is None:
            self.read()
        return expect(re.search(pattern, self.shown), f"{what}: {self.shown[-500:]!r}")

    def leave(self, status):
        """Its end is read while it comes: a terminal's buffer is small."""
        end = time.monotonic() + PATIENCE
        while self.child.poll() is None and time.monotonic() < end:
            self.read()
        self.read()
        if not expect(self.child.poll() == status, f"status {self.child.poll()}, not {status}: {self.shown[-500:]!r}"):
            self.child.kill()
            self.child.wait()
        expect(termios.tcgetattr(self.side) == self.modes, "the terminal's modes were not given back")
        os.close(self.main)
        os.close(self.side)


def row(text, grey=""):
    """The input row as it is drawn."""
    return re.escape(f"\r> {text}\033[90m") + grey


def typed(program, work):
    t = Terminal(program, work, "--state", "state")
    t.wait("line 39: perplexity", "no status at the start")
    expect(not termios.tcgetattr(t.side)[3] & (termios.ICANON | termios.ECHO), "the terminal is not raw")
    t.type("the q")
    t.wait(row("the q", "uick"), "no suggestion for a line that was repeated")
    t.type("\t")
    t.wait("\r> the quick", "Tab took no suggestion")
    t.type("\x15né漢x\x7f")
    t.wait(row("né漢"), "Ctrl-U, UTF-8 and backspace do not give what they should")
    t.type("\x1b[D\x7f\x1b[C\x17one two\x17\x01\x1b[3~x\x05!")
    t.wait(row("xne !"), "the cursor's keys do not give what they should")
    t.type("\r")
    t.wait("line 40: perplexity", "a line that was accepted was not scored")
    t.type("\x1b[A")
    t.wait(row("xne !"), "Up did not bring the line back")
    t.type("\x04")
    t.leave(0)
    expect(re.search(r"\d+-40 +[\d.]+\r\n", t.shown), f"no table at the end: {t.shown[-300:]!r}")
    expect("line 41:" in run(program, work, "--state", "state", text="again\n"), "the line typed was not kept")


def signals(program, work):
    """A signal, a failure and the end of the terminal."""
    t = Terminal(program, work, "--state", "signals")
    t.wait(row(""), "nothing was drawn")
    t.type("a line\r")
    t.wait("line 1: perplexity", "a line that was accepted was not scored")
    os.kill(t.child.pid, signal.SIGTERM)
    t.leave(-signal.SIGTERM)
    expect("line 2:" in run(program, work, "--state", "signals", text="again\n"), "SIGTERM lost what was learned")
    t = Terminal(program, work, "--state", "state")
    t.wait(row(""), "nothing was drawn")
    os.kill(t.child.pid, signal.SIGSEGV)
    t.leave(-signal.SIGSEGV)
    t = Terminal(program, work, "--state", "hung")
    t.wait(row(""), "nothing was drawn")
    t.type("a line\r")
    t.wait("line 1: perplexity", "a line that was accepted was not scored")
    os.close(t.side)
    os.close(t.main)
    expect(t.child.wait(PATIENCE) == -signal.SIGHUP, "a terminal that went away did not end it by SIGHUP")
    expect("line 2:" in run(program, work, "--state", "hung", text="again\n"), "the terminal took along what was learned")
    t = Terminal(program, work, "--state", "text")
    t.leave(1)
    expect(f"{program.name}: " in t.shown, f"no message on the terminal: {t.shown!r}")


def main():
    program, work = (Path(word).resolve() for word in sys.argv[1:])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for part in (wrong_calls, learns, goes_on, leaves_out, refuses, typed, signals):
        before = len(faults)
        part(program, work)
        if len(faults) > before:
            break
    print(*faults, sep="\n")
    print(f"{done} checks, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
