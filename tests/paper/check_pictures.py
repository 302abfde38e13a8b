"""The pictures of experiments/: read from logs that are made up here, every kind drawn, no word off the page, the same
bytes again. Skipped where numpy or matplotlib is not there.

    check_pictures.py ROOT
"""
import json
import math
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

try:
    import numpy as np
    from matplotlib import rc_context
except ImportError as error:
    print(f"1..0 # SKIP {error}")
    sys.exit(77)

LAYERS, PHASES, PAIRS, LENGTH = 4, 3, 32, 128
STEPS = range(0, 401, 50)


def held_line(step, low):
    perplexity = low + 9000 * math.exp(-step / 40)
    return {"kind": "held", "step": step, "seconds": step / 3, "loss": math.log(perplexity), "perplexity": perplexity,
            "tokens": 5000}


def geometry_line(step, phases, layers, turns, analytic, draw):
    at = (layers + 1, phases)
    means = draw.normal(0, 0.01, at)
    if analytic is not None:
        means[0] += (analytic - means[0].sum()) / phases
    return {"kind": "geometry", "step": step, "zero_sum": [means[0].sum(), analytic], "phase_means": means.tolist(),
            "phase_rms": draw.normal(1.2, 0.01, at).tolist(), "dc_energy": draw.uniform(0, 0.03, at).tolist(),
            "displacement": draw.normal(1.4, 0.05, layers).tolist() if turns else None,
            "drift": draw.uniform(0.1, 0.5, (layers, 4)).tolist() if turns else None}


def made_log(seed, low=20, phases=PHASES, layers=LAYERS, profile="horn", turns=True):
    draw = np.random.default_rng(seed)
    horn = 1 / np.arange(1, LENGTH + 1)
    analytic = phases * horn.mean() if profile != "none" else None
    start = (np.arange(layers) + 1) * math.pi / (2 * layers)
    yield {"kind": "start", "name": "made up", "seed": seed, "steps": 400,
           "config": {"model.n_phases": phases, "model.dc.profile": profile, "model.n_layers": layers}}
    for step in STEPS:
        yield held_line(step, low + seed / 10)
        yield geometry_line(step, phases, layers, turns, analytic, draw)
    pairs = PAIRS * PHASES // phases
    yield {"kind": "end", "step": 400, "seconds": 133.3,
           "theta": (start[:, None] + draw.normal(0, 0.1, (layers, pairs))).tolist() if turns else None,
           "angles_start": start.tolist(),
           "dc_profile": None if profile == "none" else (horn + 0.1 * (profile == "learned")).tolist(),
           "phase_cosine": draw.uniform(-0.3, 0.3, (layers + 1, phases * phases)).tolist()}


# What the names of arms and their labels are like at their longest.
ARMS = {"3pt": ("three phases, horn, rotation in place of the stream", {}),
        "learned": ("three phases, learned profile", {"profile": "learned", "low": 19}),
        "six": ("six phases", {"phases": 6, "low": 21}),
        "twelve": ("twelve phases of twelve layers", {"phases": 12, "layers": 12, "low": 22}),
        "free": ("RoPE only, with the embedding times the root of D", {"phases": 1, "profile": "none", "turns": False,
                                                                       "low": 30})}
EXPERIMENT = {"name": "made", "title": "Five models that nobody has trained, under a title that takes two lines",
              "reference": "3pt", "arms": [{"name": name, "label": label} for name, (label, _) in ARMS.items()]}


def write_logs(folder, arms=ARMS):
    paths = []
    for name in arms:
        for seed in (1, 2) if name == "3pt" else (1,):
            paths.append(folder / f"{name}.{seed}.jsonl")
            lines = made_log(seed, **ARMS[name][1])
            paths[-1].write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return paths


def read_logs(pictures, paths):
    return {tuple(path.stem.split(".")): pictures.Log.read(path) for path in paths}


# ---- what must hold ----

def check_reading(pictures, folder):
    """Of two lines of a step the later counts; half a line at the end is none; another file is refused."""
    path = write_logs(folder, ["3pt"])[0]
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(held_line(400, 7)) + '\n{"kind":"held","st')
    log = pictures.Log.read(path)
    assert [line["step"] for line in log.held] == list(STEPS), "steps in order, each once"
    assert abs(log.held[-1]["perplexity"] - 7) < 1, "the last line of step 400"
    other = folder / "other.jsonl"
    other.write_text("step,loss\n1,2\n", encoding="utf-8")
    try:
        pictures.Log.read(other)
    except ValueError as error:
        assert "other.jsonl" in str(error), error
    else:
        raise AssertionError("a CSV file was read as a log")


def check_saving(outcomes):
    """ln y falls by 1 a step: from e^3 to e^1, so that e^2.5 is reached at half a step."""
    x, y = np.array([0, 1, 2]), np.exp([3.0, 2.0, 1.0])
    assert abs(outcomes.reached(x, y, math.exp(2.5)) - 0.5) < 1e-12
    assert outcomes.reached(x, y, 1) is None


def check_curves(outcomes, pictures, logs):
    """The saving is that of the reference, though another arm ends lower; minutes of another machine are left out."""
    elsewhere = {key: replace(log, start={**log.start, "machines": ["m"]}) if key == ("3pt", "2") else log
                 for key, log in logs.items()}
    arms = list(pictures.arms_of(EXPERIMENT, elsewhere))
    with rc_context(pictures.STYLE):
        (_, page), = outcomes.curves("made up", arms, EXPERIMENT)
    steps, minutes = page.panels
    for panel, what in ((steps, "steps"), (minutes, "minutes")):
        title = panel.get_title().replace("\n", " ")
        assert title.startswith(ARMS["3pt"][0]) and title.endswith(f"times fewer {what}"), title
    assert f"{len(logs) - 1} of {len(logs)} runs" in minutes.get_xlabel(), minutes.get_xlabel()
    low = {panel: panel.lines[0].get_ydata()[-1] for panel in page.panels}
    assert abs(low[steps] - low[minutes] - 0.05) < 0.01, f"seeds at 20.1 and 20.2, minutes of the first: {low}"


def off_the_page(page):
    """What is cut by an edge of the picture, and a key that lies over panels."""
    figure = page.figure
    figure.draw_without_rendering()
    (width, height), drawn = figure.get_size_inches(), figure.get_tightbbox()
    if min(drawn.x0, drawn.y0, width - drawn.x1, height - drawn.y1) < -0.02:
        yield f"{drawn} of {width} x {height} inches"
    low = min(panel.get_tightbbox().y0 for panel in page.panels)
    for key in (legend.get_window_extent() for legend in figure.legends):
        if key.y1 > low + 2 or key.x0 < 0 or key.x1 > figure.bbox.x1:
            yield f"key {key}, panels end at {low}"


def check_words(pictures, logs):
    for kind, made in pictures.KINDS.items():
        with rc_context(pictures.STYLE):
            for _, page in made(EXPERIMENT["title"], list(pictures.arms_of(EXPERIMENT, logs)), EXPERIMENT):
                page.key()
                cut = list(off_the_page(page))
                assert not cut, f"{kind}: {cut}"


def check_kinds(pictures, logs, folder):
    """Every kind has a picture, in both forms, and the same bytes when drawn again."""
    sweep = {key: log for key, log in logs.items() if key[0] in ("3pt", "six", "twelve", "free")}
    for kind in pictures.KINDS:
        given = sweep if kind == "n_sweep" else logs
        first = pictures.draw(kind, EXPERIMENT, given, folder / "one")
        second = pictures.draw(kind, EXPERIMENT, given, folder / "two")
        assert {path.suffix for path in first} == {".png", ".svg"}, f"{kind} made {first}"
        for one, two in zip(first, second):
            assert one.name.startswith(f"made.{kind}"), one
            assert one.stat().st_size > 4000, f"{one} has {one.stat().st_size} bytes"
            lines = zip(one.read_bytes().splitlines(), two.read_bytes().splitlines())
            apart = next((f"{a[:200]} and {b[:200]}" for a, b in lines if a != b), "")
            assert one.read_bytes() == two.read_bytes(), f"{one.name} differs when drawn again: {apart}"


def check_nothing_to_show(pictures, logs, folder):
    """A model without rotation has no angles, one phase no cosine, no logs no picture."""
    alone = {key: log for key, log in logs.items() if key[0] == "free"}
    for kind in ("angles", "drift_blocks", "drift_pairs", "displacement", "cosine", "radii", "dc_profile", "n_sweep"):
        assert pictures.draw(kind, EXPERIMENT, alone, folder / "none") == [], kind
    assert pictures.draw("curves", EXPERIMENT, {}, folder / "none") == []
    assert not (folder / "none").exists()


def check_command(root, paths, folder):
    command = [sys.executable, root / "experiments/pictures.py"]
    done = subprocess.run([*command, *paths, "--out", folder / "cli", "--kind", "finals", "--kind", "angles"],
                          check=True, capture_output=True, text=True)
    made = {Path(line).name for line in done.stdout.splitlines()}
    assert {"logs.finals.png", "logs.finals.svg", "logs.angles.3pt.png"} <= made, made
    absent = folder / "absent.1.jsonl"
    wrong = subprocess.run([*command, absent, "--out", folder / "cli"], capture_output=True, text=True)
    assert wrong.returncode and "absent.1.jsonl" in wrong.stderr, wrong.stderr


def main():
    root = Path(sys.argv[1])
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root / "experiments"))
    import picture_outcomes as outcomes
    import pictures
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_reading(pictures, folder)
        paths = write_logs(folder)
        logs = read_logs(pictures, paths)
        check_saving(outcomes)
        check_curves(outcomes, pictures, logs)
        check_words(pictures, logs)
        check_kinds(pictures, logs, folder)
        check_nothing_to_show(pictures, logs, folder)
        check_command(root, paths, folder)
    print(f"{len(pictures.KINDS)} kinds of pictures drawn")


if __name__ == "__main__":
    main()
