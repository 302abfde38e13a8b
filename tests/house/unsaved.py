"""What typeahead does where its state cannot be saved, and what ends it while it learns. Parts of check_typeahead.py; no
check of its own.
"""
import os
import re
import resource
import shutil
import signal
import subprocess
import time

from parts import expect
from typist import LINES, PATIENCE, Terminal, perplexities, row, run

skipped = []
waiting = {}      # a program that has to be a minute old, and when it began


def begins(program, work):
    """It goes on while the other parts run: goes_on_unsaved takes it up again."""
    place = work.with_name(work.name + "-minute")
    shutil.rmtree(place, ignore_errors=True)
    (place / "gone").mkdir(parents=True)
    t = Terminal(program, place, "--state", "gone/s", columns=200)
    t.wait(row(""), "nothing was drawn")
    waiting.update(terminal=t, place=place, began=time.monotonic())


def goes_on_unsaved(program, work):
    """A save that fails while one types ends nothing, is said, and is made up for at the end."""
    t, place = waiting["terminal"], waiting["place"]
    time.sleep(max(0.0, waiting["began"] + 62 - time.monotonic()))
    (place / "gone").rename(place / "elsewhere")
    t.type("one line\r")
    t.wait("not saved, tried again: gone/s: .*line 1: perplexity", "a save that failed was not told of")
    t.type("another line\r")
    t.wait("not saved, .*line 2: perplexity", "after a save that failed no line was learned")
    (place / "elsewhere").rename(place / "gone")
    t.type("\x04")
    t.leave(0)
    expect(sorted(path.name for path in place.rglob("*")) == ["gone", "s"], "a save that failed left a file")
    expect("line 3:" in run(program, place, "--state", "gone/s", text="again\n"), "the save at the end lost a line")


def keeps_elsewhere(program, work):
    """Where the last save fails the state is kept beside, the message stands alone, and the status tells."""
    (work / "lost").mkdir()
    (work / "s.unsaved").write_text("mine\n")
    t = Terminal(program, work, "--state", "lost/s")
    t.wait(row(""), "nothing was drawn")
    t.type("a line\r")
    t.wait("line 1: perplexity", "a line that was accepted was not scored")
    (work / "lost").rmdir()
    t.type("\x04")
    t.leave(1)
    name = program.name
    expect(re.search(rf"\033\[J[\r\n]+{name}: lost/s: cannot .*[\r\n]+{name}: ./s.unsaved2: all that was learned is kept",
                     t.shown), f"a last save that failed: {t.shown[-500:]!r}")
    expect((work / "s.unsaved").read_text() == "mine\n", "another file was replaced")
    kept = work / "s.unsaved2"
    expect(kept.exists() and kept.stat().st_mode & 0o777 == 0o600, "what was kept elsewhere is open to others")
    expect("line 2:" in run(program, work, "--state", "s.unsaved2", text="again\n"), "what was kept elsewhere is no state")
    before = sorted(os.listdir(work))
    got = subprocess.run([program, "--state", "nowhere"], cwd=work, input=LINES, capture_output=True, text=True,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
    expect(got.returncode == 1 and "nowhere: could not be kept in any other place" in got.stderr
           and len(perplexities(got.stdout)) == 3, f"a full disk: {got}")
    places = re.findall(r"^\S+: (\./|/tmp/\S+/)nowhere\.unsaved: .*File too large", got.stderr, re.M)
    expect(len(places) == 3, f"a full disk: not each place with its reason: {got.stderr}")
    expect(sorted(os.listdir(work)) == before, "a full disk left files")


def keeps_long_names(program, work):
    """A name of 240 letters leaves no room for .unsaved: its beginning stands for it."""
    (work / "away").mkdir()
    child = started(program, work, "away/" + "n" * 240, stderr=subprocess.DEVNULL)
    (work / "away").rmdir()
    child.send_signal(signal.SIGTERM)
    kept = work / ("n" * 200 + ".unsaved")
    expect(ended(child) == 1 and kept.exists(), "a state with a long name was lost")


def ends_between_steps(program, work):
    """The first signal is looked at after each step, and a count is no eternity."""
    shown = run(program, work, "--steps", "10000000000", status=2)
    expect("--steps must be a whole number from 0 to 1000, not '10000000000'" in shown, shown)
    child = subprocess.Popen([program, "--state", "slow", "--steps", "1000"], cwd=work, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, preexec_fn=as_from_a_terminal)
    child.stdin.write(b"a line\n")
    child.stdin.flush()
    expect(b"line 1:" in child.stdout.readline(), "a line was not read")
    child.send_signal(signal.SIGTERM)
    expect(ended(child) == -signal.SIGTERM, f"SIGTERM between steps: {child.returncode}")
    steps = (work / "slow").read_bytes()
    run(program, work, "--state", "whole-1000", "--steps", "1000", text="a line\n")
    expect(steps != (work / "whole-1000").read_bytes(), "the first SIGTERM was not looked at between the steps")


def zero_bytes(program, work):
    shown = run(program, work, "--state", "zero", text="one\0two\nthree\n")
    expect("not learned: the line has a zero byte" in shown and len(perplexities(shown)) == 1, f"a zero byte: {shown}")


def looks_first(program, work):
    """The kind of file, its name, and the room on the disk."""
    for words, status, message in ((["--state", ""], 2, "--state needs the name of a file"),
                                   (["--state", "."], 1, "it is a folder"),
                                   (["--state", "/dev/full"], 1, "no regular file")):
        shown = run(program, work, *words, text=LINES, status=status)
        expect(message in shown and not perplexities(shown), f"{words}: {shown}")
    (work / "room").mkdir()
    script = 'mount -t tmpfs -o size=256k none room && exec "$@"'
    got = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", program, "--state", "room/s"], cwd=work, input=LINES,
                         capture_output=True, text=True)
    if "mount" in got.stderr or "unshare" in got.stderr:
        skipped.append("no disk of 256 kB can be mounted here: the look at the room was not tried")
    else:
        expect(got.returncode == 1 and f"{program.name}: room/s: cannot be written: it takes" in got.stderr
               and not got.stdout, f"no room: {got}")


def as_from_a_terminal():
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)


def started(program, work, state, **more):
    """It reads lines, and has learned one."""
    child = subprocess.Popen([program, "--state", state], cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             **{"preexec_fn": as_from_a_terminal, **more})
    child.stdin.write(b"a line\n")
    child.stdin.flush()
    expect(b"line 1: perplexity" in child.stdout.readline(), "a line was not read")
    return child


def ended(child):
    status = child.wait(PATIENCE)
    child.stdin.close()
    child.stdout.close()
    return status


def saves_at_signals(program, work):
    """Also where it reads lines, SIGHUP twice, and output that nobody reads any more."""
    for number, times in ((signal.SIGHUP, 2), (signal.SIGTERM, 1), (signal.SIGINT, 1)):
        child = started(program, work, number.name)
        for _ in range(times):
            child.send_signal(number)
        expect(ended(child) == -number, f"{number.name}: status {child.returncode}")
        expect("line 2:" in run(program, work, "--state", number.name, text="again\n"), f"{number.name} lost a line")
    child = started(program, work, "nohup", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    child.send_signal(signal.SIGHUP)
    child.stdin.write(b"another\n")
    child.stdin.flush()
    expect(b"line 2:" in child.stdout.readline(), "SIGHUP ended a program under nohup")
    child.send_signal(signal.SIGTERM)
    expect(ended(child) == -signal.SIGTERM, f"under nohup: status {child.returncode}")
    child = started(program, work, "unread", stderr=subprocess.DEVNULL)
    child.stdout.close()
    child.stdin.write(b"another\n")
    child.stdin.flush()
    expect(ended(child) == 1 and "line 3:" in run(program, work, "--state", "unread", text="again\n"),
           f"a pipe that nobody reads: status {child.returncode}, or a line was lost")


PARTS = (keeps_elsewhere, keeps_long_names, ends_between_steps, zero_bytes, looks_first, saves_at_signals, goes_on_unsaved)
