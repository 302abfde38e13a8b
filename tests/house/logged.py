"""The log of a training as JSON lines: what it holds, that it changes no weight, that a resumed run goes on in it. Parts of
check_examples.py; no check of its own.
"""
import csv
import io
import json
import signal
import subprocess
import time

from inspected import close
from parts import expect

skipped = []

FIGURES = {"start": {"name", "config", "seed", "build", "threads", "data", "steps", "limit"},
           "step": {"step", "tokens", "seconds", "loss", "lr", "norm"},
           "held": {"step", "seconds", "loss", "perplexity", "tokens"},
           "geometry": {"step", "zero_sum", "phase_means", "phase_rms", "dc_energy", "displacement", "drift"},
           "end": {"step", "seconds", "theta", "angles_start", "dc_profile", "phase_cosine"}}


def read_log(path):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        expect(set(line) == FIGURES[line["kind"]] | {"kind"}, f"{path.name}: a line of kind {line['kind']} has {set(line)}")
    return lines


def of_kind(lines, kind):
    return [line for line in lines if line["kind"] == kind]


def steps_of(lines, kind):
    return [line["step"] for line in of_kind(lines, kind)]


def logs_nothing_else(tools, tiny):
    """The log changes no bit of the weights, and says what CSV and `inspect` say."""
    words = ["train", "3pt-5m", "t.u16", *tiny, "train.steps=8", "train.eval_every=3", "train.lr=1e-2", "--held", "t.u16"]
    for name in ("n.none", "n.csv", "n.jsonl"):
        tools.run(*words, "--out", "n.safetensors", *(["--log", name] if name != "n.none" else []))
        (tools.work / "n.safetensors").rename(tools.work / f"{name}.safetensors")
    bits = [(tools.work / f"{name}.safetensors").read_bytes() for name in ("n.none", "n.csv", "n.jsonl")]
    expect(bits[0] == bits[1] == bits[2], "what is logged changes the weights")
    lines = read_log(tools.work / "n.jsonl")
    expect([lines[0]["kind"], lines[-1]["kind"]] == ["start", "end"], "the log does not begin with start and end with end")
    expect(steps_of(lines, "step") == list(range(1, 9)), f"steps of the log: {steps_of(lines, 'step')}")
    for kind in ("held", "geometry"):
        expect(steps_of(lines, kind) == [3, 6, 8], f"{kind} is logged at {steps_of(lines, kind)}")
    table = list(csv.DictReader(io.StringIO((tools.work / "n.csv").read_text())))
    for line, row in zip(of_kind(lines, "step"), table):
        expect(close(float(row["loss"]), line["loss"], 2e-6) and close(float(row["learning_rate"]), line["lr"], 1e-5)
               and int(row["tokens"]) == line["tokens"], f"CSV has {row}, JSON {line}")
    expect(close(float(table[2]["held_loss"]), of_kind(lines, "held")[0]["loss"], 2e-6), "the held-out loss is another one")
    start, count = lines[0], (tools.work / "t.u16").stat().st_size // 2
    expect(start["data"] == {"tokens": count, "held": count} and start["steps"] == 8 and start["limit"] is None
           and start["config"]["train.eval_every"] == 3 and start["name"] == "n.safetensors", f"start says {start}")
    ends_as_inspected(tools, lines)


def ends_as_inspected(tools, lines):
    got = json.loads(tools.run("inspect", "n.jsonl.safetensors", "--format=json"))
    end, last = lines[-1], of_kind(lines, "geometry")[-1]
    for measure in ("theta", "angles_start", "dc_profile"):
        expect(end[measure] == got[measure], f"{measure} of the end is not that of the model: {end[measure]}")
    expect(last["drift"] == got["drift"] and last["drift"][0][2] > 0, f"drift of the end is {last['drift']}")
    expect(close(*last["zero_sum"]), f"the residual is {last['zero_sum']}")
    expect(close([1.0] * 3, [end["phase_cosine"][0][4 * i] for i in range(3)]), "a phase has no cosine of 1 with itself")
    expect(len(end["phase_cosine"]) == 2 and len(last["phase_rms"]) == 2 and len(last["displacement"]) == 1,
           "the stream is not logged at L + 1 points")


def logs_what_there_is(tools, tiny):
    words = ["train", "3pt-5m", "t.u16", *tiny, "train.steps=3", "--out", "n.safetensors", "--log", "o.jsonl", "--force"]
    tools.run(*words, "train.recompute=block")
    lines = read_log(tools.work / "o.jsonl")
    expect(of_kind(lines, "geometry")[0]["displacement"] is None, "a displacement without the inside of blocks")
    expect(lines[0]["data"]["held"] is None and not of_kind(lines, "held"), "a held-out loss without held-out tokens")
    tools.run(*words, "model.rotation.mode=none", "model.dc.profile=none", "train.eval_every=0")
    lines = read_log(tools.work / "o.jsonl")
    last = of_kind(lines, "geometry")[-1]
    expect(last["drift"] is None and last["displacement"] is None and last["zero_sum"][1] is None, f"without angles: {last}")
    expect(lines[-1]["theta"] is None and lines[-1]["dc_profile"] is None, f"without angles: {lines[-1]}")
    expect(steps_of(lines, "geometry") == [3], "the geometry of the end is not logged")


def logs_on(tools, tiny):
    """Ctrl-C and a kill, each with half a line left: a resumed run goes on in the same file."""
    words = [tools.folder / "train", "3pt-5m", "t.u16", *tiny, "train.steps=1000", "train.eval_every=50",
             "train.checkpoint_every=20", "--held", "t.u16", "--out", "c.safetensors", "--log", "c.jsonl"]
    log, stopped = tools.work / "c.jsonl", 0
    for end, least in ((signal.SIGINT, 4000), (signal.SIGKILL, 40000)):
        child = subprocess.Popen([*words, *["--resume"] * stopped], cwd=tools.work, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        for _ in range(3000):
            if child.poll() is not None or log.exists() and log.stat().st_size > least:
                break
            time.sleep(0.005)
        child.send_signal(end)
        if child.wait(60) == 0:
            skipped.append(f"train was done before signal {end} came: a log that goes on was not tried")
            break
        stopped = 1
        with open(log, "a") as file:
            file.write('{"kind":"step","st')
    else:
        tools.run(*map(str, ["train", *words[1:], "--resume"]))
    lines = read_log(log)
    expect([line["kind"] for line in (lines[0], lines[-1])] == ["start", "end"] and len(of_kind(lines, "start")) == 1,
           "a resumed log has another beginning")
    steps = {line["step"]: line for line in of_kind(lines, "step")}
    expect(sorted(steps) == list(range(1, 1001)), "a resumed log has not every step")
    for line in of_kind(lines, "step"):
        expect(steps[line["step"]]["loss"] == line["loss"], f"step {line['step']} was another one after it was resumed")
    seconds = [steps[step]["seconds"] for step in sorted(steps)]
    expect(seconds == sorted(seconds) and seconds[0] > 0, "the seconds of a resumed log do not go on")
    expect(set(range(50, 1001, 50)) <= set(steps_of(lines, "geometry")), "a resumed log has not every geometry")


PARTS = (logs_nothing_else, logs_what_there_is, logs_on)
