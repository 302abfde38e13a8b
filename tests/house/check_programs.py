"""What the example programs refuse, and that every file is as it was then; what they keep when a save fails.

    check_programs.py EXAMPLES WORK
"""
import fcntl
import os
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

from check_examples import TINY, TOOLS, Tools, small_text
import refused
import trained
from parts import expect, run_parts
from refused import contents, refuses

SMALL = ["3pt-5m", "t.u16", *TINY, "train.steps=8"]
LONG = ["3pt-5m", "t.u16", *TINY, "train.steps=4000000", "--seconds", "2"]
NOBODY = 65534
skipped = []


def prepare(tools):
    small_text(tools.work / "text")
    shown = tools.run("tokenize", "--vocab=270", "--save=t.json", "--out", "t", "text")
    expect("270 tokens" in shown, "--vocab=270 was not read")
    tools.run("train", *SMALL, "--out", "m.safetensors")
    (tools.work / "my.yaml").write_text(tools.run("describe", "m.safetensors"))
    (tools.work / "folder").mkdir()


def calls(tools):
    for tool in TOOLS:
        version = tools.run(tool, "--version")
        expect(re.fullmatch(rf"{tool} \d+\.\d+\.\d+ \(lib3pt \d+\.\d+\.\d+\)\n", version), f"{tool} --version: {version!r}")
        got = subprocess.run([tools.folder / tool, "--help"], capture_output=True)
        expect(got.returncode == 0 and got.stdout and not got.stderr, f"{tool} --help is not on standard output alone")
        refuses(tools, [tool, "- x"], "there is no option - x", "After --", status=2)
    for words, missing in ((["train"], "DESCRIPTION TOKENS"), (["train", "--resume", "3pt-5m"], "TOKENS"),
                           (["evaluate"], "MODEL"), (["generate"], "MODEL"), (["inspect"], "MODEL"), (["tokenize"], "TEXT")):
        refuses(tools, words, f"missing: {missing}\n", status=2)
    refuses(tools, ["train", "--resume=1", *SMALL], "--resume takes no value", status=2)
    refuses(tools, ["train", *SMALL, "--threads="], "--threads must be a whole number", status=2)
    refuses(tools, ["tokenize", "--kind=none", "text"], "--kind must be", status=2)
    refuses(tools, ["describe", "no\x1b[31m.yaml"], "no?[31m.yaml: there is no such file", status=1)
    refuses(tools, ["inspect", "m.safetensors", "--format=yaml"], "--format must be text, csv or json, not 'yaml'", status=2)
    refuses(tools, ["evaluate", "m.safetensors", "--text", "text", "--tokens", "t.u16"], "one of them", status=2)
    shown = tools.run("generate", "--tokenizer=t.json", "--tokens=2", "m.safetensors", "--", "- so")
    expect(shown.startswith("- so"), f"a prompt after -- gave {shown!r}")
    expect("-- " in tools.run("generate", "--help"), "--help does not tell of --")


def same_files(tools):
    """No output is an input or another output, by whatever name."""
    os.link(tools.work / "t.u16", tools.work / "hard.u16")
    (tools.work / "soft.u16").symlink_to("t.u16")
    small_text(tools.work / "plain.u16")
    out = ["--out", "n.safetensors"]
    fine = ["m.safetensors", "t.u16"]
    for words, first, second in (
            (["train", "my.yaml", "t.u16", "--out", "my.yaml"], "DESCRIPTION", "--out"),
            (["train", *fine, "--out", "./m.safetensors"], "DESCRIPTION", "--out"),
            (["train", *fine, "--out", "t.u16"], "TOKENS", "--out"),
            (["train", *fine, *out, "--log", "t.u16"], "TOKENS", "--log"),
            (["train", *fine, *out, "--log", "hard.u16"], "TOKENS", "--log"),
            (["train", *fine, *out, "--log", "soft.u16"], "TOKENS", "--log"),
            (["train", *fine, *out, "--log", "m.safetensors"], "DESCRIPTION", "--log"),
            (["train", "3pt-5m", "t.u16", *out, "--held", "hard.u16", "--log", "soft.u16"], "TOKENS", "--log"),
            (["train", *fine, *out, "--log", "folder/../n.safetensors"], "--log", "--out"),
            (["train", *fine, *out, "--log", "n.safetensors.checkpoint"], "--log", "the checkpoint"),
            (["tokenize", "--force", "--save", "text", "text"], "--save", "TEXT"),
            (["tokenize", "--save", "new.u16", "--out", "new", "text"], "--save", "--out"),
            (["tokenize", "--tokenizer", "t.json", "--out", "t", "t.u16"], "--out", "TEXT"),
            (["tokenize", "--tokenizer", "t.json", "--out", "hard", "my.yaml", "soft.u16"], "--out", "TEXT"),
            (["tokenize", "--vocab", "70000", "--save", "new.json", "--out", "plain", "plain.u16"], "--out", "TEXT")):
        refuses(tools, words, f"{first} and {second} are the same file")
    for name in ("hard.u16", "soft.u16", "plain.u16"):
        (tools.work / name).unlink()
    for words in (["describe", "my.yaml"], ["generate", "--tokenizer", "t.json", "m.safetensors", "The"],
                  ["inspect", "m.safetensors", "t.u16"],
                  ["evaluate", "m.safetensors", "--text", "text", "--tokenizer", "t.json"]):
        for name in (word for word in words if (tools.work / word).is_file()):
            before = (tools.work / name).read_bytes()
            with open(tools.work / name, "ab") as to:
                got = subprocess.run([tools.folder / words[0], *words[1:]], cwd=tools.work, stdout=to,
                                     stderr=subprocess.PIPE)
            right = got.returncode == 1 and b"the output are the same file" in got.stderr
            expect(right and (tools.work / name).read_bytes() == before, f"{words} >> {name}: {got.stderr}")
    with open(tools.work / "text", "rb+") as both:
        got = subprocess.run([tools.folder / "tokenize", "--force", "--save", "text", "-"], cwd=tools.work, stdin=both,
                             capture_output=True)
    expect(b"are the same file" in got.stderr, f"standard input was overwritten: {got.stderr}")


def wrong_files(tools):
    """A file of another kind is called what it looks like, in the library's words; the file comes first."""
    train = ["train", "--out", "n.safetensors"]
    for words, *wanted in (
            (["evaluate", "text", "--text", "m.safetensors"], "evaluate: text: ", "a safetensors file is wanted, this looks like text"),
            (["evaluate", "m.safetensors", "--text", "m.safetensors", "--tokenizer", "t.json"],
             "evaluate: m.safetensors: text is not UTF-8 at byte", "text is wanted, this looks like a safetensors file"),
            (["evaluate", "m.safetensors", "--text", "text", "--tokenizer", "t.u16"], "t.u16: ",
             "a tokenizer.json is wanted, this looks like binary data"),
            (["evaluate", "m.safetensors", "--tokens", "text"], "text: ", "a token file is wanted, this looks like text"),
            (["generate", "t.json", "x"], "t.json: ", "a safetensors file is wanted, this looks like a tokenizer.json"),
            (["inspect", "t.u16"], "inspect: t.u16: ", "a safetensors file is wanted, this looks like binary data"),
            (["inspect", "m.safetensors", "t.json"], "t.json: ", "a token file is wanted, this looks like a tokenizer.json"),
            (["inspect", "m.safetensors", "absent.u16"], "inspect: absent.u16: cannot open"),
            (["generate", "m.safetensors", "x", "--tokenizer", "m.safetensors"], "a tokenizer.json is wanted"),
            (["tokenize", "--save=n.json", "m.safetensors"], "m.safetensors: text is not UTF-8", "this looks like a safetensors file"),
            (["tokenize", "--tokenizer", "t.json", "text", "m.safetensors"], "tokenize: m.safetensors: text is not UTF-8 at byte"),
            ([*train, "t.u16", "my.yaml"], "t.u16: ", "a description (YAML) is wanted, this looks like binary data"),
            ([*train, "t.json", "t.u16"], "t.json: ", "this looks like a tokenizer.json"),
            ([*train, "3pt-5m", "m.safetensors"], "m.safetensors: ", "a token file is wanted, this looks like a safetensors file"),
            ([*train, "folder", "t.u16"], "folder: cannot read (it is a folder)"),
            (["describe", "absent.yaml"], "describe: absent.yaml: there is no such file", "presets: 3pt-5m"),
            (["describe", "text/x"], "describe: text/x: cannot be read: Not a directory"),
            (["tokenize", "absent"], "tokenize: absent: cannot be read: No such file"),
            (["tokenize", "folder"], "tokenize: folder: cannot be read: Is a directory"),
            (["generate", "absent", "x"], "generate: absent: cannot open for reading (No such file or directory)\n"),
            ([*train, "3pt-5m", "absent.u16"], "train: absent.u16: cannot open"),
            ([*train, "--resume", *SMALL], "train: n.safetensors.checkpoint: is not there")):
        refuses(tools, words, *wanted)
    for words in (["generate", "--tokenizer", "t.json", "m.safetensors"], ["tokenize", "--tokenizer", "t.json", "-"]):
        refuses(tools, words, ": standard input: ", "not UTF-8", text=b"ab\xff")


def foreign_tokens(tools):
    """Tokens that the model has not are found before the first step, with their file and the model's size."""
    few = [*SMALL, "model.vocab_size=100", "--out", "n.safetensors"]
    refuses(tools, ["train", *few], "train: t.u16: token ", "vocab_size is 100 (0 to 99 is allowed)", "another tokenizer")
    (tools.work / "last.u16").write_bytes(struct.pack("<70001H", *[1] * 70000, 999))
    refuses(tools, ["train", *SMALL[:1], "last.u16", *SMALL[2:]], "last.u16: token 70000 is 999")
    refuses(tools, ["train", *SMALL, "--held", "last.u16"], "last.u16: token 70000 is 999", "vocab_size is 270")
    refuses(tools, ["evaluate", "m.safetensors", "--tokens", "last.u16"], "last.u16: token 70000 is 999")
    refuses(tools, ["inspect", "m.safetensors", "last.u16"], "last.u16: token 70000 is 999", "vocab_size is 270")
    (tools.work / "few.u16").write_bytes(struct.pack("<4H", 1, 2, 3, 4))
    refuses(tools, ["inspect", "m.safetensors", "few.u16"], "inspect: few.u16: ", "17")


def nowhere_to_write(tools):
    for out, why in (("absent/x", "No such file"), ("folder", "it is a folder"), ("text/x", "Not a directory"),
                     ("/dev/full", "no regular file"), ("folder/", "the name of a file is missing"),
                     ("x" * 300, "File name too long")):
        refuses(tools, ["train", *LONG, "--out", out], f"train: {out}: cannot be written", why)
        refuses(tools, ["tokenize", "--force", "--save", out, "--out", "new", "text"], f"tokenize: {out}: cannot", why)
    refuses(tools, ["tokenize", "--force", "--save", "", "--out", "new", "text"], "tokenize: : cannot be written", "name")
    refuses(tools, ["train", *LONG, "--log", "absent/log"], "absent/log: cannot be written")
    refuses(tools, ["train", *LONG, "--log", "folder"], "folder: cannot be written: it is a folder")
    refuses(tools, ["tokenize", "--out", "absent/t", "text"], "absent/t.u16: cannot be written")
    refuses(tools, ["tokenize", "--save", "t.json", "--out", "new", "text"], "t.json: is there already", "--force")
    shown = tools.run("tokenize", "--vocab", "270", "--save", "t.json", "--force", "--out", "t", "text")
    expect("t.json: replaced" in shown, "tokenize --force does not say what it replaced")
    (tools.work / "folder/t.u16").mkdir()
    refuses(tools, ["tokenize", "--save", "new.json", "--out", "folder/t", "text"], "t.u16: cannot be written")
    (tools.work / "folder/t.u16").rmdir()
    (tools.work / "new.u16.part").write_text("mine")
    refuses(tools, ["tokenize", "--save", "new.json", "--out", "new", "text"], "new.u16.part: is there already")
    (tools.work / "new.u16.part").unlink()
    (tools.work / "link.u16").symlink_to("folder/far.u16")
    (tools.work / "folder/far.u16").touch()
    tools.run("tokenize", "--tokenizer", "t.json", "--out", "link", "text")
    same = (tools.work / "folder/far.u16").read_bytes() == (tools.work / "t.u16").read_bytes()
    expect(same and (tools.work / "link.u16").is_symlink(), "tokens did not go through a link")


def limited(tools, words, bytes_most):
    """The program may write no file that is longer than bytes_most."""
    got = subprocess.run([tools.folder / words[0], *words[1:]], cwd=tools.work, capture_output=True, text=True,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_most, bytes_most)))
    return got.returncode, got.stdout + got.stderr


def full_disk(tools):
    before = contents(tools.work)
    status, shown = limited(tools, ["tokenize", "--force", "--vocab", "260", "--save", "t.json", "--out", "t", "text"], 1000)
    expect(status == 1 and "t.u16.part: could not be written whole" in shown, f"tokenize on a full disk: {status} {shown}")
    expect(contents(tools.work) == before, "tokenize on a full disk changed files")
    status, shown = limited(tools, ["train", *SMALL, "train.checkpoint_every=3", "--force", "--out", "m.safetensors"], 1000)
    expect(status == 1 and "m.safetensors: cannot write" in shown and "in any other place" in shown,
           f"train on a full disk: {status} {shown}")
    expect("checkpoint: cannot write" in shown, "a checkpoint that failed was not told of, or ended the training")
    expect(contents(tools.work) == before, "train on a full disk changed files")
    status, shown = limited(tools, ["train", *SMALL, "train.steps=100", "--out", "logged", "--log", "n.csv"], 100)
    expect(status == 1 and "n.csv: could not be written whole" in shown, f"a cut log: {status} {shown}")
    script = 'mount -t tmpfs -o size=32k none folder && exec "$@"'
    words = ["unshare", "-rm", "sh", "-c", script, "sh", tools.folder / "train", *SMALL, "--out", "folder/m"]
    got = subprocess.run(words, cwd=tools.work, capture_output=True, text=True)
    if "mount" in got.stderr or "unshare" in got.stderr:
        skipped.append("no disk of 32 kB can be mounted here: the look at the room was not tried")
    else:
        expect(got.returncode == 1 and "folder/m: cannot be written: it takes 0.1 MB" in got.stderr
               and "step" not in got.stderr, f"train began on a full disk: {got.stderr}")


def lost_place(tools):
    """Where the model cannot be saved at the end, it is kept beside, and the exit status tells."""
    for spoil, kept in ((lambda place: (place / "m").mkdir(), "gone/m.unsaved"),
                        (lambda place: place.rename(tools.work / "elsewhere"), "m.unsaved")):
        place = tools.work / "gone"
        place.mkdir()
        for name in ("m.unsaved", "gone.csv"):
            (tools.work / name).unlink(missing_ok=True)
        child = subprocess.Popen([tools.folder / "train", *LONG, "--out", "gone/m", "--log", "gone.csv"], cwd=tools.work,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(1500):
            if child.poll() is not None or (tools.work / "gone.csv").exists():
                break
            time.sleep(0.01)
        spoil(place)
        shown = child.communicate(timeout=60)[1]
        expect(child.returncode == 1 and "train: gone/m: cannot" in shown and f"{kept}: all after step" in shown,
               f"a lost place: status {child.returncode}\n{shown}")
        expect((tools.work / kept).is_file() and "vocab_size: 270" in tools.run("describe", kept), f"{kept} is no model")
        shutil.rmtree(place, ignore_errors=True)


def not_finite(tools):
    """A step that fails keeps what was learned before it."""
    words = ["3pt-5m", "t.u16", *TINY, "train.steps=40", "train.warmup=20", "train.lr=1e5", "train.clip=0", "--out", "wild"]
    got = subprocess.run([tools.folder / "train", *words], cwd=tools.work, capture_output=True, text=True)
    if got.returncode == 0:
        skipped.append("a rate of 1e5 gave finite losses: a step that fails was not tried")
        return
    expect(got.returncode == 1 and "wild.checkpoint: all after step" in got.stderr and "train: step " in got.stderr,
           f"a step that failed: {got.returncode} {got.stderr}")
    tools.run("describe", "wild.checkpoint")


def further(tools):
    """A model file in place of the description is trained further; what its keys change is the training alone."""
    first = tools.run("evaluate", "m.safetensors", "--tokens", "t.u16")
    before = (tools.work / "m.safetensors").read_bytes()
    tools.run("train", "m.safetensors", "t.u16", "train.steps=150", "train.lr=1e-2", "--out", "further")
    second = tools.run("evaluate", "further", "--tokens", "t.u16")
    losses = [float(re.search(r"loss +([\d.]+)", shown)[1]) for shown in (first, second)]
    expect(losses[1] < losses[0] - 0.5, f"a model that was trained further went from loss {losses[0]} to {losses[1]}")
    expect((tools.work / "m.safetensors").read_bytes() == before, "the model that was trained further was changed")
    tools.run("train", "m.safetensors", "t.u16", "train.steps=3", "train.lr=0", "train.theta_lr=0", "--out", "still")
    expect(tools.run("evaluate", "still", "--tokens", "t.u16") == first, "training further did not begin with the model")
    expect("steps: 3\n" in tools.run("describe", "still"), "the file does not tell how the model was trained further")
    refuses(tools, ["train", "m.safetensors", "t.u16", "model.d_ff=64", "--out", "n"], "model.d_ff is 64, and 32")
    shown = tools.run("describe", "m.safetensors", "train.steps=9")
    expect("steps: 9\n" in shown, "describe does not change the settings of a model")


def without_rights(tools):
    """Modes 000 and 444, as a user whom they bind: for root there are none."""
    root = os.geteuid() == 0
    if root and not shutil.which("setpriv"):
        skipped.append("setpriv is not here: files without rights were not tried")
        return
    place = tools.work / "rights"
    place.mkdir()
    for name in ("my.yaml", "t.u16", "text", "t.json", "m.safetensors"):
        shutil.copy(tools.work / name, place)
    (place / "my.yaml").chmod(0)
    for name in ("t.u16", "t.json", "m.safetensors"):
        (place / name).chmod(0o444)
    if root:
        for path in (place, *place.iterdir()):
            os.chown(path, NOBODY, NOBODY)
    others = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if root else []
    if root and subprocess.run([*others, "sh", "-c", f"cd '{place}' && '{tools.folder}/train' --help"],
                               capture_output=True).returncode:
        skipped.append("another user cannot reach the programs: files without rights were not tried")
        return
    for words, wanted in (
            (["describe", "my.yaml"], "describe: my.yaml: cannot open for reading (Permission denied)"),
            (["train", "m.safetensors", "t.u16", "--out", "t.json"], "t.json: cannot be written: Permission"),
            (["train", "m.safetensors", "t.u16", "--out", "n", "--log", "t.json"], "t.json: cannot be written"),
            (["tokenize", "--force", "--save", "t.json", "text"], "t.json: cannot be written: Permission denied"),
            (["tokenize", "--save", "n.json", "--out", "t", "text"], "t.u16: cannot be written: Permission denied")):
        before = contents(place) if root else None
        got = subprocess.run([*others, tools.folder / words[0], *words[1:]], cwd=place, capture_output=True, text=True)
        expect(got.returncode == 1 and wanted in got.stderr, f"{words}: {got.returncode} {got.stderr}")
        expect(not root or contents(place) == before, f"{words}: refused, and files changed")
    (place / "my.yaml").chmod(0o644)


def on_a_terminal(tools, columns, environment=None):
    """What train shows on a terminal of so many columns, where nothing may break a line."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    clean = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    child = subprocess.Popen([tools.folder / "train", "3pt-5m", "t.u16", *TINY, "train.steps=4000000", "--seconds", "0.5",
                              "--held", "t.u16", "train.eval_every=1", "--force", "--out", "narrow"], cwd=tools.work,
                             stderr=slave, stdout=subprocess.DEVNULL, env={**clean, **(environment or {})})
    os.close(slave)
    shown = b""
    try:
        while piece := os.read(master, 4096):
            shown += piece
    except OSError:      # the other side is closed
        pass
    os.close(master)
    expect(child.wait(60) == 0, "train on a terminal failed")
    return shown.decode().split("\r")


def narrow_terminals(tools):
    for columns, environment, wanted in ((200, None, "held-out"), (40, None, "left"), (12, None, "step 1"),
                                         (200, {"COLUMNS": "40"}, "left")):
        most = int((environment or {}).get("COLUMNS", columns)) - 1
        lines = on_a_terminal(tools, columns, environment)
        expect(any(wanted in line for line in lines), f"{columns} columns: no '{wanted}' in {lines[:2]}")
        longest = max(map(len, lines))
        expect(longest <= most, f"{columns} columns, {environment}: a line of {longest}")
        expect(not any("\n" in line for line in lines), "the moving line was broken")


def main():
    work = Path(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    run_parts((prepare, calls, same_files, wrong_files, *refused.PARTS, foreign_tokens, nowhere_to_write, full_disk,
               lost_place, not_finite, further, without_rights, narrow_terminals, *trained.PARTS),
              Tools(Path(sys.argv[1]).resolve(), work), skipped=skipped)


if __name__ == "__main__":
    main()
