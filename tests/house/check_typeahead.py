"""typeahead as a typist and a pipe use it: it learns, goes on from its state, and gives the terminal back.

    check_typeahead.py TYPEAHEAD WORK      WORK: may be overwritten
"""
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import termios
from pathlib import Path

import unsaved
from parts import expect, run_parts
from typist import LINES, PATIENCE, Terminal, perplexities, row, run

def wrong_calls(program, work):
    for word, shown in (("--help", "usage: "), ("--version", f"{program.name} ")):
        got = subprocess.run([program, word], cwd=work, capture_output=True, text=True)
        expect((got.returncode, got.stderr) == (0, "") and shown in got.stdout, f"{word}: {got}")
    for words in (["--nonsense"], ["a word"], ["--state"], ["--steps", "x"], ["--threads", "257"], ["--model", "m"],
                  ["--tokenizer", "t"], ["--", "--help"], ["--threads=257"]):
        run(program, work, *words, status=2)
    for words, file in ((("--model", "absent", "--tokenizer=t"), "absent"),
                        (("--state", "absent/state"), "absent/state"),
                        (("--state=m", "--model=m", "--tokenizer=t"), "m"),
                        (("--state=t", "--model=m", "--tokenizer=t"), "t")):
        shown = run(program, work, *words, status=1)
        expect(shown.startswith(f"{program.name}: {file}: "), f"{words}: no file begins the message: {shown}")
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


def learns_at_once(program, work):
    """A line that comes again is known from the third time on, and lines that are new do not suffer."""
    line = "please send the report by friday\n"
    found = perplexities(run(program, work, "--state", "equal", text=line * 4))
    expect(len(found) == 4 and found[0] > 100 and found[2] < 5 and found[3] < 2, f"equal lines: {found}")
    new = "".join(f"{word} is a word of its own\n" for word in ("seven", "green", "quick", "house", "under"))
    found = perplexities(run(program, work, "--state", "between", text=LINES * 2 + line * 3 + new + line))
    expect(len(found) == 15 and found[-1] < 3, f"a line after others: {found}")


def mode(file):
    return stat.S_IMODE(file.stat().st_mode)


def keeps_to_itself(program, work):
    """Nobody else may read the state, whatever the umask, the file's mode or the moment; other files keep theirs."""
    expect(mode(work / "state") == 0o600, f"a new state has mode {mode(work / 'state'):o}")
    private, seen = work / "private", set()
    for before in (None, 0o644, 0o666, 0o400):
        if before:
            (private / "s").chmod(before)
        else:
            private.mkdir()
        child = subprocess.Popen([program, "--state", "s"], cwd=private, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 umask=0)
        expect(child.stdout is not None and child.stdin.write(b"a line\n") and child.stdin.flush() is None
               and b"perplexity" in child.stdout.readline(), "a line was not read")
        if before:
            expect(mode(private / "s") & 0o077 == 0, f"a state of mode {before:o} stays open while the program runs")
        child.stdin.close()
        while child.poll() is None:
            for name in os.listdir(private):
                try:
                    seen.add(mode(private / name))
                except FileNotFoundError:       # renamed meanwhile
                    pass
        child.stdout.close()
        protected = before == 0o400 and os.geteuid() != 0       # its owner, if not root, is told that it is protected
        expect(child.returncode == int(protected), f"mode {before}: status {child.returncode}")
        want = 0o400 if before == 0o400 else 0o600
        expect(mode(private / "s") == want, f"of a state of mode {before} became {mode(private / 's'):o}")
    expect(seen <= {0o600, 0o400}, f"files could be read by others for a moment: {sorted(map(oct, seen))}")
    (work / "notes").write_text("mine\n")
    (work / "notes").chmod(0o644)
    run(program, work, "--state", "notes", text=LINES, status=1)
    expect(mode(work / "notes") == 0o644, "a file that is no state got another mode")


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


def typed(program, work):
    t = Terminal(program, work, "--state", "state")
    t.wait("line 39: perplexity", "no status at the start")
    expect(t.is_raw(), "the terminal is not raw")
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


def suggests_at_once(program, work):
    t = Terminal(program, work, "--state", "fresh")
    for number in "123":
        t.wait(row(""), "nothing was drawn")
        t.type("please send the report by friday\r")
        t.wait(rf"line {number}: perplexity [^(]*\r\033\[2C", "a line that was accepted was not learned")
    t.type("pl")
    t.wait(row("pl", "ease"), "a line that was typed three times is not suggested at its fourth beginning")
    t.type("\x04")
    t.leave(0)


def is_whole(shown, columns):
    """The last frame has the status with all of its words, in rows that fit."""
    frames = [frame for frame in shown.split("\r> ") if "leaves\033" in frame]
    rows = re.sub(r"\033\[[\d;]*[A-Za-z]", "", frames[-1] if frames else "").split("\n")
    below = [part.replace("\r", "") for part in rows[1:]]
    return (" ".join(below) == "Tab takes the grey words, Enter learns the line, Ctrl-D leaves"
            and all(len(part) < columns for part in below))


def widths(program, work):
    """The status is there whole at any width, also after it has changed."""
    for columns in (20, 40, 60, 120):
        t = Terminal(program, work, "--state", "narrow", columns=columns)
        t.until(lambda shown: is_whole(shown, columns), f"the help is cut at {columns} columns")
        t.shown = ""
        t.resize(30)
        os.kill(t.child.pid, signal.SIGWINCH)       # the terminal is not its controlling one
        t.until(lambda shown: is_whole(shown, 30), f"it was not drawn again after {columns} columns became 30")
        t.type("\x04")
        t.leave(0)


def small_terminals(program, work):
    """What is drawn never scrolls the line away: a terminal that grows would bring back what went."""
    for rows in (1, 2, 3, 5):
        t = Terminal(program, work, "--state", "narrow", columns=12, rows=rows)
        t.wait(r"\033\[J.*\r\033\[2C", f"nothing was drawn in {rows} rows")
        frame = [part for part in t.shown.split("\r> ") if "\r\033[2C" in part][-1]
        expect(frame.count("\n") == rows - 1 and (f"\033[{rows - 1}A" in frame) == (rows > 1),
               f"{rows} rows: {frame!r}")
        t.type("\x04")
        t.leave(0)


STOPPER = """import os, signal, sys
child = os.fork()
if not child:
    os.setpgid(0, 0)
    os.execv(sys.argv[1], sys.argv[1:])
print(f"child {child} ", flush=True)
while True:
    status = os.waitpid(child, os.WUNTRACED)[1]
    if not os.WIFSTOPPED(status):
        sys.exit(os.waitstatus_to_exitcode(status) & 255)
    print(f"stopped by {os.WSTOPSIG(status)} ", flush=True)
"""


def stops(program, work):
    """Ctrl-Z and SIGTSTP leave no grey words and a terminal as it was; SIGCONT brings both back."""
    t = Terminal(sys.executable, work, "-c", STOPPER, program, "--state", "state")
    t.wait(r"child \d+ ", "no child")
    child = int(re.search(r"child (\d+) ", t.shown)[1])
    for way in ("\x1a", None):
        t.wait("> ", "nothing was drawn")
        t.type("\x15the q")
        t.wait(row("the q", "uick"), "no suggestion")
        t.shown = ""
        if way:
            t.type(way)
        else:
            os.kill(child, signal.SIGTSTP)
        t.wait(f"stopped by {int(signal.SIGTSTP)} ", "it did not stop")
        # The line without its grey words, then line ends alone: the other process may still be at the end of its own.
        expect(re.search(r"\r> the q\033\[J[\r\n]+$", t.shown.split("stopped")[0]), f"grey words stay: {t.shown!r}")
        expect(termios.tcgetattr(t.side) == t.modes, "the terminal's modes were not given back at the stop")
        t.shown = ""
        os.kill(child, signal.SIGCONT)
        t.wait(row("the q", "uick"), "the line and its suggestion did not come back")
        expect(t.is_raw(), "the terminal is not raw again")
    t.type("\x04")
    t.leave(0)
    t = Terminal(program, work, "--state", "state")     # a leader of its session: the system does not stop it
    t.type("\x1athe q")
    t.wait(row("the q", "uick"), "it does not go on where it could not be stopped")
    expect(t.is_raw(), "the terminal is not raw where it could not be stopped")
    t.type("\x04")
    t.leave(0)


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
    expect(re.search(r"\033\[J[\r\n]+$", t.shown), f"the status stays below what comes after a crash: {t.shown[-100:]!r}")
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
    run_parts((wrong_calls, unsaved.begins, learns, learns_at_once, keeps_to_itself, goes_on, leaves_out, refuses, typed,
                 suggests_at_once, widths, small_terminals, stops, signals,
               *unsaved.PARTS), program, work, skipped=unsaved.skipped)


if __name__ == "__main__":
    main()
