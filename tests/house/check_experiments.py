"""experiments/: descriptions that resolve, data that is told apart, runs that go on after a kill with the same bits, and
a page that is what its logs say.

    check_experiments.py ROOT LIBRARY WORK      WORK: may be overwritten
"""
import importlib.util
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from installed import OUTSIDE, emptied
from parts import expect, run_parts

PATIENCE = 100     # seconds that a run may take on a slow machine to come to a step
STEPS, EVERY = 200, 25
SMALL = f"""
model: {{vocab_size: 400, d_model: 48, n_layers: 2, n_q_heads: 6, n_kv_heads: 3, d_ff: 64, max_seq_len: 32}}
train: {{batch: 16, lr: 1e-3, warmup: 9, eval_every: {EVERY}}}
log: {{step_every: 7, geometry_every: 20, held_windows: 0}}
"""
TWO = f"""
title: Two arms
question: Does it go on?
base: small.yaml
steps: {STEPS}
seeds: [5]
reference: horn
arms:
  - {{name: horn, label: the horn}}
  - {{name: again, label: the same in less memory, set: {{train.recompute: block}}}}
findings:
  - {{says: They are near, kind: near, arm: again, than: horn, percent: 0, paired: true}}
tables: [residual, energy, drift, profile, sooner, displacement]
"""
NOTICE = "This notice stands in all of the documents and so it is a thing that the held text has not."
CODE = "if the value of a is in the list that it has to be in then the result of the call is a number."
DOCUMENTS = 80


def experiments(given, program, *words, status=0):
    """Its output."""
    command = [sys.executable, given.root / "experiments" / program, *words]
    got = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=OUTSIDE, check=False)
    expect(got.returncode == status, f"{program} {' '.join(map(str, words))}: status {got.returncode}, not {status}\n"
           f"{got.stdout[-2000:]}{got.stderr[-2000:]}")
    return got.stdout + got.stderr


# ---- descriptions ----

def descriptions_resolve(given):
    import describe
    import findings
    import tables
    for size in describe.SIZES:
        for name in describe.ALL:
            made = describe.load(name, size)
            for arm in made.arms:
                config_is_right(given, f"{name}/{arm.name} at size {size}", arm, size)
            for finding in made.findings:
                arms = {finding[key] for key in ("arm", "than") if key in finding}
                expect(arms <= {arm.name for arm in made.arms}, f"{name}: a finding about {arms}")
                expect(finding["kind"] in findings.KINDS, f"{name}: {finding['kind']} is no kind of finding")
            expect(set(made.tables) <= set(tables.TABLES), f"{name}: tables {made.tables}")
    names = {path.stem for path in (given.root / "experiments").glob("*.yaml")} - {"common", "tiny", "sources"}
    expect(names == set(describe.ALL), f"{names} are described, {describe.ALL} are listed")


def config_is_right(given, where, arm, size):
    import describe
    try:
        config = describe.config(given.lib3pt, arm.settings)
    except given.lib3pt.Error as error:
        expect(False, f"{where}: {error}")
        return
    if size == "paper":
        count = config["train.batch"] * config["train.seq_len"]
        expect(count == 64 * 128, f"{where}: {count} tokens a step")
        expect(arm.parameters in (None, config.parameter_count), f"{where}: {config.parameter_count} parameters")


def pictures_are_known(given):
    if not importlib.util.find_spec("matplotlib"):
        print("without matplotlib the kinds of pictures are not looked at")
        return
    import describe
    import pictures
    for name in describe.ALL:
        kinds = set(describe.load(name).pictures)
        expect(kinds <= set(pictures.KINDS), f"{name}: pictures {kinds - set(pictures.KINDS)}")


def wrong_descriptions(given):
    for text, word in ((TWO.replace("reference: horn", "reference: none"), "none"), (TWO + "\nmore: 1\n", "more"),
                       (TWO.replace("steps: 200", ""), "steps"), ("[", "YAML"),
                       (TWO.replace("label: the horn", "same: main/3pt, label: x"), "1500 steps"),
                       (TWO.replace("train.recompute", "train.recomput"), "unknown key")):
        (given.work / "wrong.yaml").write_text(text, encoding="utf-8")
        shown = experiments(given, "run", given.work / "wrong.yaml", *folders(given, "wrong"), status=1)
        expect(word in shown and "Traceback" not in shown, f"a wrong description, {word}: {shown}")
    expect(not (given.work / "wrong").exists(), "something was trained before all of the description was looked at")


# ---- what is told by spread ----

def fake(losses, **more):
    """Runs of arms {name: [loss of each seed]}."""
    import runs
    made = object.__new__(runs.Runs)
    made.by = {name: {seed: SimpleNamespace(held=[{"step": 1, "loss": loss}], **more) for seed, loss in enumerate(own)}
               for name, own in losses.items()}
    return made


def spread_is_right(_):
    import spread
    noise = spread.Noise([[1.0, 1.1, 1.2], [7.0]])
    expect(math.isclose(noise.half_width(3, 3), 4.303 * 0.1 * math.sqrt(2 / 3)), f"half width {noise.half_width(3, 3)}")
    noise = spread.Noise([[1.0, 1.1, 1.2], [2.0, 2.2]])
    expect(math.isclose(noise.deviation, math.sqrt((0.02 + 0.02) / 3)), f"pooled deviation {noise.deviation}")
    expect(spread.Noise([[1.0]]).half_width(1, 1) == math.inf, "one run has no spread")
    some = fake({"a": [1.0, 1.1, 1.2], "b": [2.0, 2.2], "c": [5.0, 9.0], "d": [3.0]})
    for one, other, groups in (("a", "b", "ab"), ("a", "d", "abc")):
        _, half = some.difference(one, other)
        own = [[log.held[-1]["loss"] for log in some.of(name)] for name in groups]
        expect(half == spread.Noise(own).half_width(len(some.of(one)), len(some.of(other))), f"{one} and {other}: {half}")
    curve = [(0, 3.0), (10, 2.0), (20, 1.0)]
    expect(spread.reached(curve, 1.25) == 17.5, f"a loss between two evaluations: {spread.reached(curve, 1.25)}")
    expect((spread.reached(curve, 0.5), spread.reached(curve, 4.0)) == (None, 0), "a loss outside of a curve")


def verdicts_are_right(_):
    import findings
    few = fake({"low": [1.0, 1.01, 1.02], "high": [2.0, 2.01, 2.02], "alike": [1.015, 1.0, 1.005]})
    for arm, than, verdict in (("low", "high", "repeated"), ("high", "low", "not repeated"),
                               ("low", "alike", "undecided")):
        got, _ = findings.lower(few, {"arm": arm, "than": than})
        expect(got == verdict, f"{arm} lower than {than}: {got}")
    for arm, percent, verdict in (("alike", 10, "repeated"), ("high", 10, "not repeated"), ("alike", 1, "undecided")):
        got, _ = findings.near(few, {"arm": arm, "than": "low", "percent": percent})
        expect(got == verdict, f"{arm} within {percent} percent: {got}")
    expect(findings.lower(fake({"a": [1.0], "b": [9.0]}), {"arm": "a", "than": "b"})[0] == "undecided",
           "a difference that no spread is known for")
    for drifts, right in (([3, 1, 2], True), ([1, 2, 3], False), ([3, 2, 1], False), ([1.1, 1, 1.1], False)):
        expect(findings.is_u(drifts) == right, f"{drifts}: a U?")


def settling_is_right(_):
    """A residual that starts where it ends has not come there."""
    import findings
    finding = {"arm": "a", "from": 100, "least": 5e-3, "most": 9e-3}
    for sizes, verdict in (((0.1, 0.02, -7e-3, 8e-3), "repeated"), ((7e-3, 0.02, 7e-3, 8e-3), "undecided"),
                           ((0.1, 0.02, 7e-3, 0.02), "undecided"), ((0.1, 0.02, 0.02, 0.02), "not repeated")):
        geometry = [{"step": 50 * i, "zero_sum": [size, None]} for i, size in enumerate(sizes)]
        got, seen = findings.residual_within(fake({"a": [1.0]}, geometry=geometry), finding)
        expect(got == verdict and seen.endswith(f"at the start {sizes[0]:.1e}"), f"a residual of {sizes}: {got}, {seen}")


def times_sooner_are_right(_):
    import findings
    import spread
    from training_log import Log, timed_alike
    lines = [[{"step": x, "processor": 2.0 * x, "loss": loss} for x, loss in enumerate(own)] for own in
             ((4.0, 2.0, 1.0, 0.5, 0.25), (4.0, 3.0, 2.0, 1.5, 1.0))]
    start = {"machines": ["m"], "threads": 2, "config": {"train.precision": "f32"}}
    fast, slow = (Log(start, [], held, [], {}) for held in lines)
    expect(spread.sooner(fast, slow, "step") == 2 and spread.sooner(fast, slow, "processor") == 2, "twice as soon")
    expect(spread.sooner(slow, fast, "step") is None, "a loss that is never come to")
    for unlike in ({"machines": ["n"]}, {"machines": ["m", "n"]}, {"threads": 1}, {"config": {}}):
        other = replace(slow, start={**start, **unlike})
        expect(spread.sooner(fast, other, "processor") is None, f"times are compared with {unlike}")
        expect(spread.sooner(fast, other, "step") == 2, f"steps are compared with {unlike}")
        found = timed_alike([other, fast, slow])
        expect(len(found) == 2 and found[0] is fast and found[1] is slow, f"most of them, not {unlike}")
    expect(timed_alike([]) == [], "no times are alike")
    runs = fake({})
    runs.by = {"fast": {1: fast, 2: fast}, "slow": {1: slow, 2: slow}}
    got = findings.sooner_there(runs, {"arm": "fast", "than": "slow", "axis": "step"})
    expect(got[0] == "repeated" and got[1].startswith("2.00 times"), f"sooner: {got}")


# ---- data ----

def sentence(words, chance):
    return " ".join(["the", *chance.choices(words, k=9), "of", "the", *chance.choices(words, k=3)]) + "."


def made_text(given):
    """HTML documents in a tree as a package leaves it."""
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(2, 9))) for _ in range(600)]
    folder = given.work / "packages" / "made"
    folder.mkdir(parents=True)
    (folder.parent / "made.version").write_text("1.0-1\n", encoding="utf-8")
    for number in range(DOCUMENTS):
        told = "".join(f"<p>{sentence(words, chance)} {sentence(words, chance)}</p>\n"
                       for _ in range(chance.randint(10, 30)))
        text = f"<html><body><h1>Of the heading</h1>{told}<p>{NOTICE}</p><pre>{CODE}</pre></body></html>"
        (folder / f"{number:03}.html").write_text(text, encoding="utf-8")
    (given.work / "sources.yaml").write_text('sources:\n  - {package: made, files: ["*.html"]}\n', encoding="utf-8")


def data_is_right(given):
    made_text(given)
    words = ["--packages", given.work / "packages", "--sources", given.work / "sources.yaml", "--vocab", 400,
             "--library", given.library]
    experiments(given, "data", "--out", given.work / "again", *words)
    experiments(given, "data", "--out", given.work / "data", *words)
    about = json.loads((given.work / "data" / "about.json").read_text(encoding="utf-8"))
    for name in ("train.u16", "held.u16", "about.json", "tokenizer.json"):
        one, other = ((given.work / folder / name).read_bytes() for folder in ("data", "again"))
        expect(one == other, f"{name} is not the same the second time")
    held, train = (about[name]["tokens"] for name in ("held", "train"))
    expect(0.04 < held / (held + train) < 0.06, f"{held} of {held + train} tokens are held out")
    expect(about["held"]["documents"] + about["train"]["documents"] == DOCUMENTS, f"not {DOCUMENTS} documents: {about}")
    expect(about["vocab"] == 400 and 0 < about["held"]["unknown"] < 0.5, f"about.json: {about}")
    expect(about["sources"][0]["version"] == "1.0-1", f"about.json has no version: {about['sources']}")
    text_is_right(given)


def text_is_right(given):
    lib3pt, folder = given.lib3pt, given.work / "data"
    tokenizer = lib3pt.Tokenizer.load(folder / "tokenizer.json")
    for name, has in (("train", True), ("held", False)):
        data = lib3pt.Dataset.open(folder / f"{name}.u16")
        text = tokenizer.decode(data.window(0, len(data) - 1).tokens)
        expect(("notice stands" in text) == has, f"{name}: a paragraph of all documents: {not has}")
        expect("list" not in text and "heading" not in text, f"{name} has code or headings")


# ---- runs ----

def folders(given, name):
    work = given.work / name
    return ["--library", given.library, "--data", given.work / "data", "--results", work / "results",
            "--work", work / "work", "--page", work / "page.md", "--no-pictures", "--threads", 2]


def lines(given, name, arm):
    path = given.work / name / "results" / "two" / f"{arm}.5.jsonl"
    return [json.loads(text) for text in path.read_text(encoding="utf-8").split("\n")[:-1]] if path.exists() else []


def stopped_at(given, name, arm, step, how):
    """Its status, of a run that gets a signal as soon as the log of an arm has a step."""
    command = [sys.executable, given.root / "experiments/run", given.work / "two.yaml", *folders(given, name)]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(list(map(str, command)), env=OUTSIDE, **silent) as run:
        until = time.monotonic() + PATIENCE
        while run.poll() is None and time.monotonic() < until:
            if any(line.get("step", 0) >= step for line in lines(given, name, arm)):
                run.send_signal(how)
                break
            time.sleep(0.002)
        status = run.wait(PATIENCE)
    expect(not any(line["kind"] == "end" for line in lines(given, name, arm)), f"{arm} ended before it could be stopped")
    return status


def untimed(given, name, arm):
    """What a log says, without the lines of the start and what time it took."""
    return [{key: value for key, value in line.items() if key not in ("seconds", "processor", "outside")}
            for line in lines(given, name, arm) if line["kind"] != "start"]


def runs_go_on(given):
    (given.work / "two.yaml").write_text(TWO, encoding="utf-8")
    experiments(given, "run", given.work / "two.yaml", *folders(given, "whole"))
    expect(stopped_at(given, "parts", "horn", 3 * EVERY, signal.SIGKILL) == -signal.SIGKILL, "it was not killed")
    with (given.work / "parts/results/two/horn.5.jsonl").open("a", encoding="utf-8") as log:
        log.write('{"kind": "step", "st')
    expect(stopped_at(given, "parts", "again", 60, signal.SIGINT) == 130, "Ctrl-C gives another status than 130")
    shown = experiments(given, "run", given.work / "two.yaml", *folders(given, "parts"), "--minutes", 0)
    expect("1 of 2 runs are done" in shown, f"--minutes 0: {shown}")
    experiments(given, "run", given.work / "two.yaml", *folders(given, "parts"))
    for arm in ("horn", "again"):
        same_as_whole(given, arm)
    shown = experiments(given, "run", given.work / "two.yaml", *folders(given, "parts"), "--dry")
    expect("2 of 2 runs are done; what is left takes 0 min" in shown, f"--dry: {shown}")


def same_as_whole(given, arm):
    began = [line["step"] for line in lines(given, "parts", arm) if line["kind"] == "start"]
    expect(len(began) == 2 and began[1] >= EVERY, f"{arm} did not go on in the middle: it began at {began}")
    whole, parts = (untimed(given, name, arm) for name in ("whole", "parts"))
    expect(len(whole) > STEPS // 10 and whole == parts, f"{arm}: the log of a stopped run differs from a whole one's")
    held = [line["loss"] for line in whole if line["kind"] == "held"]
    expect(len(held) == STEPS // EVERY + 1 and held[-1] < held[0] - 0.1, f"{arm}: it learned little: {held}")
    one, other = ((given.work / name / "work/two" / f"{arm}.5.safetensors").read_bytes() for name in ("whole", "parts"))
    expect(one == other, f"{arm}: the weights of a stopped run differ")
    expect(not list((given.work / "parts/work/two").glob("*.checkpoint")), "a checkpoint is left of a finished run")


def arms_share_batches(given):
    """The two arms compute the same, so that from the same batches in the same order they learn the same."""
    one, other = ([line["loss"] for line in untimed(given, "whole", arm) if line["kind"] == "step"]
                  for arm in ("horn", "again"))
    expect(one == other, f"the arms of a seed saw other batches: {one[:3]} and {other[:3]}")


def others_are_refused(given):
    for text, word in ((TWO.replace("recompute: block", "lr: 0.5"), "train.lr"),
                       (TWO.replace("200", "300"), "train.steps")):
        (given.work / "two.yaml").write_text(text, encoding="utf-8")
        shown = experiments(given, "run", given.work / "two.yaml", *folders(given, "whole"), status=1)
        expect(word in shown and "Traceback" not in shown, f"a log of another description: {shown}")
    (given.work / "two.yaml").write_text(TWO, encoding="utf-8")


def page_is_right(given):
    page = given.work / "whole/page.md"
    text = page.read_text(encoding="utf-8")
    for word in ("## Two arms", "| the horn |", "| the same in less memory |", "**repeated**", "r(p) at the end", "precision f32"):
        expect(word in text, f"the report has no {word}:\n{text}")
    page.write_text("# Mine\n\n" + text + "\nlast\n", encoding="utf-8")
    experiments(given, "report", given.work / "two.yaml", "--results", given.work / "whole/results", "--page", page,
                "--no-pictures")
    expect(page.read_text(encoding="utf-8") == "# Mine\n\n" + text + "\nlast\n", "a second report is another one")


def every_arm_trains(given):
    work = given.work / "tiny"
    experiments(given, "run", "all", "--size", "tiny", "--work", work, "--data", given.work / "data",
                "--library", given.library, "--no-pictures")
    page = work / "RESULTS.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    expect("not run yet" not in text and text.count("| N 12 |") >= 1, f"not every arm has a result:\n{text}")


def results_are_of_the_logs(given):
    """The committed pages are what the report makes of the committed logs."""
    folder, here = given.work / "page", given.root / "experiments"
    folder.mkdir()
    pages = {"RESULTS.md": here / "RESULTS.md", "README.md": given.root / "README.md"}
    for name, page in pages.items():
        shutil.copyfile(page, folder / name)
    if (here / "pictures").is_dir():
        os.symlink(here / "pictures", folder / "pictures")
    experiments(given, "report", "--results", here / "results", "--page", folder / "RESULTS.md", "--front",
                folder / "README.md", "--no-pictures")
    for name, page in pages.items():
        expect((folder / name).read_bytes() == page.read_bytes(),
               f"{page} is not what experiments/report makes of the logs: run it")


PARTS = (descriptions_resolve, pictures_are_known, spread_is_right, verdicts_are_right, settling_is_right,
         times_sooner_are_right, data_is_right, wrong_descriptions, runs_go_on, arms_share_batches, others_are_refused,
         page_is_right, every_arm_trains, results_are_of_the_logs)


def main():
    root, library, work = (Path(word).resolve() for word in sys.argv[1:])
    missing = [name for name in ("numpy", "yaml") if not importlib.util.find_spec(name)]
    if missing:
        print(f"this Python has no {' and no '.join(missing)}: scripts/deps experiments")
        sys.exit(77)
    sys.path.insert(0, str(root / "experiments"))
    import binding
    (emptied(work) / "small.yaml").write_text(SMALL, encoding="utf-8")
    run_parts(PARTS, SimpleNamespace(root=root, library=library, work=work, lib3pt=binding.opened(library)))


if __name__ == "__main__":
    main()
