"""The example programs as a person uses them: help, wrong calls, and the whole path on a small text.

    check_examples.py EXAMPLES WORK
"""
import contextlib
import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import inspected
import logged
from parts import expect, run_parts

TOOLS = ("describe", "embed_in_host", "evaluate", "generate", "inspect", "tokenize", "train")
TINY = ["model.vocab_size=270", "model.d_model=24", "model.n_layers=1", "model.n_q_heads=3", "model.n_kv_heads=3",
        "model.d_ff=32", "model.max_seq_len=16", "train.batch=4", "train.warmup=2"]


class Tools:
    def __init__(self, folder, work):
        self.folder, self.work = folder, work

    def run(self, *words, status=0, text=None, output=None):
        """Runs a tool and returns what it printed, but for what went to a file; its exit status must be as said."""
        with open(output, "wb") if output else contextlib.nullcontext(subprocess.PIPE) as to:
            got = subprocess.run([self.folder / words[0], *words[1:]], cwd=self.work, stdout=to, stderr=subprocess.PIPE,
                                 input=text or b"")
        shown = ((got.stdout or b"") + got.stderr).decode("utf-8", "replace")
        expect(got.returncode == status, f"{' '.join(words)}: status {got.returncode}, not {status}\n{shown}")
        return shown


def small_text(path):
    path.write_text("The horn is gentle; three phases turn and sum to zero. " * 60)


def wrong_calls(tools):
    for tool in TOOLS:
        expect("usage:" in tools.run(tool, "--help"), f"{tool} --help shows no usage")
        expect("--help" in tools.run(tool, "--nonsense", status=2), f"{tool} --nonsense gives no hint")
    for words in (["tokenize"], ["train", "3pt-5m"], ["evaluate"], ["generate"], ["describe"], ["describe", "3pt-5m", "x"],
                  ["inspect"], ["inspect", "m", "t.u16", "x"], ["tokenize", "--vocab"], ["generate", "absent", "--top-p", "inf"]):
        tools.run(*words, status=2)
    for seconds in ("soon", "nan", "inf", "0", "-1"):
        tools.run("train", "3pt-5m", "a.u16", "--seconds", seconds, status=2)
    for words in (["tokenize", "absent.txt"], ["train", "absent.yaml", "a.u16"], ["evaluate", "absent", "--text", "text"],
                  ["generate", "absent", "x"], ["inspect", "absent"], ["describe", "3pt-5m", "model.d_model=25"]):
        tools.run(*words, status=1)


def whole_path(tools):
    small_text(tools.work / "text")
    shown = tools.run("tokenize", "--vocab", "270", "--save", "t.json", "--out", "t", "text")
    expect("270 tokens to choose from" in shown, "tokenize did not make the tokens asked for")
    small = ["t.u16", *TINY, "train.steps=8"]
    tools.run("train", "3pt-5m", *small, "--out", "m.safetensors", "--held", "t.u16", "--log", "m.csv")
    expect(len((tools.work / "m.csv").read_text().splitlines()) == 9, "the log has not a line a step")
    expect(not (tools.work / "m.safetensors.checkpoint").exists(), "a finished training left its checkpoint")
    shown = tools.run("evaluate", "m.safetensors", "--text", "text", "--tokenizer", "t.json")
    expect("bits a byte" in shown, "evaluate gives no bits a byte")
    tools.run("evaluate", "m.safetensors", "--tokens", "t.u16")
    for words, text in ((["The horn"], None), ([], b"The horn")):
        shown = tools.run("generate", "--tokenizer", "t.json", "--tokens", "40", "m.safetensors", *words, text=text)
        expect(shown.startswith("The horn") and len(shown) > 20, f"generate wrote {shown!r}")
    for name in ("m.safetensors", "m.any"):
        shutil.copy(tools.work / "m.safetensors", tools.work / "m.any")
        expect("vocab_size: 270" in tools.run("describe", name), f"describe does not show the settings of {name}")
    expect("3pt-5m" in tools.run("describe", "--presets"), "describe lists no presets")
    expect("step 3: loss" in tools.run("embed_in_host"), "embed_in_host did not train")


def nowhere_to_write(tools):
    """What cannot be kept is said before the work, and what could not be printed after it."""
    long = ["3pt-5m", "t.u16", *TINY, "train.steps=400"]
    for out in ("absent/x", "."):
        shown = tools.run("train", *long, "--out", out, status=1)
        expect("cannot be written" in shown and "step" not in shown, f"train --out {out} began to train")
    expect(not list(tools.work.glob("*.??????")), "the look at the folder left a file")
    for words in (["describe", "3pt-5m"], ["describe", "--presets"], ["train", "--help"], ["embed_in_host"],
                  ["evaluate", "m.safetensors", "--tokens", "t.u16"], ["tokenize", "--tokenizer", "t.json", "text"],
                  ["generate", "--tokenizer", "t.json", "--tokens", "4", "m.safetensors", "The"], ["inspect", "m.safetensors"],
                  ["inspect", "m.safetensors", "t.u16", "--format=json"], ["train", "3pt-5m", "t.u16", *TINY, "train.steps=3"]):
        shown = tools.run(*words, status=1, output="/dev/full")
        expect("output could not be written" in shown, f"{' '.join(words)}: {shown!r}")


def stop_in_the_middle(words, work):
    """Its log is a pipe that holds some steps: it cannot end before the signal. Returns its status."""
    log = work / "log.csv"
    os.mkfifo(log)
    pipe = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
    child = subprocess.Popen([*words, "--log", log], cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while child.poll() is None and not select.select([pipe], [], [], 0.01)[0]:
        pass
    child.send_signal(signal.SIGINT)
    os.set_blocking(pipe, True)
    while os.read(pipe, 1 << 16):
        pass
    os.close(pipe)
    return child.wait(60)


def stopped_and_resumed(tools):
    """Ctrl-C, then --resume: the bits of the run that was never stopped."""
    long = ["3pt-5m", "t.u16", *TINY, "train.steps=400"]
    tools.run("train", *long, "--out", "whole.safetensors")
    status = stop_in_the_middle([tools.folder / "train", *long, "--out", "cut.safetensors"], tools.work)
    expect(status == 130, f"Ctrl-C ended train with status {status}")
    tools.run("train", *long, "--out", "cut.safetensors", status=1)
    tools.run("train", *long, "--out", "cut.safetensors", "--resume")
    same = (tools.work / "cut.safetensors").read_bytes() == (tools.work / "whole.safetensors").read_bytes()
    expect(same, "a run that was stopped and resumed gave another model")


def logs(tools):
    for part in logged.PARTS:
        part(tools, TINY)


def main():
    work = Path(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    run_parts((wrong_calls, whole_path, nowhere_to_write, stopped_and_resumed, logs, *inspected.PARTS),
              Tools(Path(sys.argv[1]).resolve(), work), skipped=logged.skipped)


if __name__ == "__main__":
    main()
