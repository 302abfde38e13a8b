"""What `train` refuses before the first step, what it may not replace, and that it is gone on with as it was begun. Parts of
check_programs.py; no check of its own.
"""
import array
import csv
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

from check_examples import TINY, Tools, small_text
from parts import expect

SMALL = ["3pt-5m", "t.u16", *TINY, "train.steps=8"]
ENDLESS = ["3pt-5m", "t.u16", *TINY, "train.steps=4000000"]


def refused(tools, words, *wanted, status=1):
    """Nothing is trained, and every file is as it was."""
    before = {path: path.read_bytes() for path in tools.work.rglob("*") if path.is_file()}
    shown = tools.run("train", *words, status=status)
    for part in wanted:
        expect(part in shown, f"train {' '.join(words)}: no '{part}' in\n{shown}")
    expect("step 1 " not in shown and "tokens/s" not in shown, f"train {' '.join(words)}: it began\n{shown}")
    after = {path: path.read_bytes() for path in tools.work.rglob("*") if path.is_file()}
    expect(before == after, f"train {' '.join(words)}: refused, and files changed")


def size_of(path):
    return path.stat().st_size if path.exists() else 0


def start(tools, words, log, anew=True, **more):
    """A training, a moment after its first steps."""
    path = tools.work / log
    if anew:
        path.unlink(missing_ok=True)
    before = size_of(path)
    to = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **more}
    child = subprocess.Popen([tools.folder / "train", *words, "--log", log], cwd=tools.work, **to)
    for _ in range(3000):
        if child.poll() is not None or size_of(path) > before + 300:
            break
        time.sleep(0.01)
    return child


def stopped(child, number=signal.SIGINT):
    """Its status after the signal."""
    child.send_signal(number)
    return child.wait(60)


def replaces_nothing(tools):
    """A model and a log that are there stay without --force; empty files and devices hold nothing."""
    (tools.work / "notes.txt").write_text("mine\n")
    tools.run("train", *SMALL, "--out", "once", "--log", "once.csv")
    refused(tools, [*SMALL, "--out", "once"], "once: is there already", "--force", "--out")
    refused(tools, [*SMALL, "--out", "two", "--log", "notes.txt"], "notes.txt: is there already", "--force", "--log")
    refused(tools, [*SMALL, "--out", "two", "--log", "once.csv"], "once.csv: is there already")
    (tools.work / "model.safetensors").write_text("mine\n")
    refused(tools, SMALL, "model.safetensors: is there already")
    (tools.work / "model.safetensors").unlink()
    before = (tools.work / "once").read_bytes()
    tools.run("train", *SMALL, "train.seed=2", "--out", "once", "--log", "once.csv", "--force")
    expect((tools.work / "once").read_bytes() != before, "--force did not replace the model")
    expect(len((tools.work / "once.csv").read_text().splitlines()) == 9, "--force did not begin the log anew")
    (tools.work / "empty").touch()
    (tools.work / "empty.csv").touch()
    tools.run("train", *SMALL, "--out", "empty", "--log", "empty.csv")
    tools.run("train", *SMALL, "--out", "device", "--log", "/dev/null")


def goes_on_alike(tools):
    """--resume takes no other settings, data or seed, and says both values; the checkpoint stays. Where to log, how often to
    look and more steps are free."""
    words = ["3pt-5m", "t.u16", *TINY, "train.steps=400000", "train.seed=3", "train.lr=3e-4", "--out", "alike"]
    expect(stopped(start(tools, words, "alike.csv")) == 130, "Ctrl-C did not stop the training")
    more = [*words, "--resume", "--log", "alike.csv"]
    size = (tools.work / "t.u16").stat().st_size // 2
    (tools.work / "fewer.u16").write_bytes((tools.work / "t.u16").read_bytes()[:-2])
    tokens = array.array("H", (tools.work / "t.u16").read_bytes())
    place = next(i for i in range(300, size) if tokens[i] != tokens[i + 1])
    tokens[place], tokens[place + 1] = tokens[place + 1], tokens[place]
    (tools.work / "other.u16").write_bytes(tokens.tobytes())
    for change, old, new in (("train.steps=20", "400000", "20"), ("train.warmup=3", "2", "3"), ("train.seed=4", "3", "4"),
                             ("train.batch=5", "4", "5"), ("train.lr=0.5", None, "0.5"), ("train.grad_accum=2", "1", "2"),
                             ("train.seq_len=8", "16", "8")):
        key = change.split("=")[0]
        refused(tools, [*more, change], f"alike.checkpoint: {key} is {old or ''}", f"and {new} here: --resume needs {key}=")
    for name, count in (("fewer.u16", size - 1), ("other.u16", size)):
        refused(tools, [words[0], name, *more[2:]], f"alike.checkpoint: this training reads {size} tokens",
                f"TOKENS has {count} of mark")
    refused(tools, [*more, "model.d_ff=64"], "model.d_ff is")
    refused(tools, [*more, "--seconds", "1e-6"], "alike.checkpoint: this training has used", "--seconds is 1e-06")
    (tools.work / "notes.txt").write_text("mine\n")
    refused(tools, [*words, "--resume", "--log", "notes.txt"], "notes.txt: is no log of this kind", "--force")
    before = (tools.work / "alike.csv").read_text()
    free = ["train.steps=500000", "train.eval_every=7", "train.recompute=block", "train.checkpoint_every=11"]
    expect(stopped(start(tools, [*words, "--resume", *free], "alike.csv", anew=False)) == 130,
           "a training with more steps did not go on")
    after = (tools.work / "alike.csv").read_text()
    steps = [int(row["step"]) for row in csv.DictReader(after.splitlines())]
    expect(after.startswith(before) and steps == list(range(1, len(steps) + 1)), "the log of the same run did not go on")
    (tools.work / "alike.checkpoint").unlink(missing_ok=True)


def goes_on_by_time(tools):
    """A training by time stays one, and may have more of it."""
    words = [*ENDLESS, "--out", "timed"]
    child = start(tools, [*words, "--seconds", "90"], "timed.csv")
    expect(stopped(child) == 130, "Ctrl-C did not stop a training by time")
    refused(tools, [*words, "--resume"], "timed.checkpoint: this training has --seconds 90", "none is given here")
    shown = tools.run("train", *words, "--resume", "--seconds", "8")
    expect("timed: the model after step" in shown and not (tools.work / "timed.checkpoint").exists(),
           f"a training by time did not come to its end: {shown}")


def reset_signals():
    """As a terminal starts programs, however this check was started."""
    for number in (signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)


def ends_with_its_terminal(tools):
    """SIGHUP, also twice, saves as Ctrl-C does; under nohup it does not stop the training; output that nobody reads any more
    does not end it."""
    for number, times in ((signal.SIGHUP, 3), (signal.SIGTERM, 1)):
        child = start(tools, [*ENDLESS, "--out", "hung"], "hung.csv", preexec_fn=reset_signals)
        for _ in range(times):
            child.send_signal(number)
        expect(child.wait(60) == 130 and (tools.work / "hung.checkpoint").is_file(),
               f"{number.name}: status {child.returncode}, or no checkpoint")
        tools.run("describe", "hung.checkpoint")
        (tools.work / "hung.checkpoint").unlink(missing_ok=True)
    child = start(tools, [*ENDLESS, "--out", "hung"], "hung.csv",
                  preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    child.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    expect(child.poll() is None, "SIGHUP ended a training under nohup")
    expect(stopped(child) == 130, "Ctrl-C did not stop a training under nohup")
    (tools.work / "hung.checkpoint").unlink(missing_ok=True)
    reader, writer = os.pipe()
    child = start(tools, [*ENDLESS, "--out", "hung"], "hung.csv", preexec_fn=reset_signals, stdout=writer, stderr=writer)
    os.close(writer)
    os.close(reader)
    expect(stopped(child) == 1 and (tools.work / "hung.checkpoint").is_file(),
           f"a pipe that nobody reads: status {child.returncode}, or no checkpoint")
    (tools.work / "hung.checkpoint").unlink(missing_ok=True)


def looks_first(tools):
    """What would be told after hours of work, and what is told of what was not given."""
    (tools.work / "few.u16").write_bytes((tools.work / "t.u16").read_bytes()[:32])
    refused(tools, [*SMALL, "--out", "n", "--held", "few.u16"], "few.u16: has 16 tokens, and at least 17 are needed")
    refused(tools, [SMALL[0], "few.u16", *SMALL[2:], "--out", "n"], "few.u16: has 16 tokens, and at least 17 are needed")
    tools.run("train", *SMALL, "--out", "model.safetensors")
    refused(tools, ["t.u16", "model.safetensors"], "t.u16: ", "a description (YAML) is wanted")
    refused(tools, ["model.safetensors", "t.u16"], "DESCRIPTION and the model, as no --out is given, are the same file")
    (tools.work / "model.safetensors").unlink()
    for option in ("--out", "--log", "--held"):
        refused(tools, [*SMALL, option, ""], f"train: {option} needs the name of a file", status=2)
    for ending in (".u16", ".bin", ".u32"):
        expect(ending in tools.run("train", "--help"), f"train --help does not name {ending}")
    rooms = tools.work / "rooms"
    rooms.mkdir()
    script = 'mount -t tmpfs -o size=128k none rooms && exec "$@"'
    words = ["unshare", "-rm", "sh", "-c", script, "sh", tools.folder / "train", *SMALL, "--out", "rooms/m"]
    got = subprocess.run(words, cwd=tools.work, capture_output=True, text=True)
    if "mount" not in got.stderr and "unshare" not in got.stderr:
        expect(got.returncode == 1 and "rooms/m.checkpoint: cannot be written: it takes 0.2 MB" in got.stderr
               and "step" not in got.stderr, f"train began without room for its checkpoint: {got.stderr}")


def says_what_the_memory_is_for(tools):
    def limited(words):
        return subprocess.run([tools.folder / "train", *words], cwd=tools.work, capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29)))
    got = limited([*SMALL, "--out", "limited", "--threads", "1"])
    if got.returncode:      # a sanitizer takes more than that for itself
        return
    got = limited([*SMALL, "--out", "large", "--threads", "1", "train.batch=100000"])
    expect(got.returncode == 1 and "for gradients and a batch" in got.stderr and "train.batch" in got.stderr,
           f"memory was refused: {got.returncode} {got.stderr}")


def measures_leave_no_nan(tools):
    words = ["train", *SMALL, "train.eval_every=3", "--held", "t.u16", "--force", "--out", "measured"]
    tools.run(*words, "--log", "measured.csv")
    rows = list(csv.DictReader((tools.work / "measured.csv").read_text().splitlines()))
    expect([bool(row["held_loss"]) for row in rows] == [False] * 2 + [True] * 6, f"held-out losses: {rows}")
    tools.run(*words, "--log", "measured.jsonl")
    for name in ("measured.csv", "measured.jsonl"):
        expect("nan" not in (tools.work / name).read_text(), f"{name} has nan")


def says_hours(tools):
    """The time left of a training that takes days, on a terminal."""
    main, side = pty.openpty()
    child = subprocess.Popen([tools.folder / "train", *ENDLESS[:-1], "train.steps=9007199254740992", "--out", "hours"],
                             cwd=tools.work, stdout=subprocess.DEVNULL, stderr=side, env={**os.environ, "COLUMNS": "200"})
    os.close(side)
    shown, end = b"", time.monotonic() + 60
    while b"left" not in shown and time.monotonic() < end:
        if select.select([main], [], [], 1)[0]:
            shown += os.read(main, 4096)
    child.send_signal(signal.SIGINT)
    try:
        while os.read(main, 4096):
            pass
    except OSError:      # the other side is closed
        pass
    os.close(main)
    child.wait(60)
    expect(b" min left" in shown and b" h " in shown, f"the time left is {shown[-200:]}")
    (tools.work / "hours.checkpoint").unlink(missing_ok=True)


def page_examples(tools):
    """The examples of 3pt-train(1) in the order of the page, on a model as README makes it, but small and for seconds."""
    page = Path(__file__).resolve().parents[2] / "man/3pt-train.1"
    small = [word for word in TINY if "warmup" not in word]
    place = Tools(tools.folder, tools.work / "page")
    place.work.mkdir()
    small_text(place.work / "poems.txt")
    for name, kept in (("t.u16", "train.u16"), ("t.u16", "held.u16"), ("t.json", "tokenizer.json")):
        shutil.copy(tools.work / name, place.work / kept)
    (place.work / "my.yaml").write_text(place.run("describe", "3pt-5m", *small))
    child = start(place, ["my.yaml", "train.u16", "--out", "my.safetensors"], "log")
    expect(stopped(child) == 130, "Ctrl-C did not stop the training that an example goes on with")
    lines = re.findall(r"(?m)^3pt-(.*)$", page.read_text().replace("\\e\n", ""))
    expect(len(lines) == 5, f"the page has other examples: {lines}")
    for line in lines:
        words = line.replace("model.vocab_size=4096", "").split()
        if words[0] == "train" and "train.steps=" not in line:
            words += ["--seconds", "2", *(small if "3pt-5m" in words else [])]
        place.run(*words)


PARTS = (replaces_nothing, goes_on_alike, goes_on_by_time, ends_with_its_terminal, looks_first, says_what_the_memory_is_for,
         measures_leave_no_nan, says_hours, page_examples)
