#!/usr/bin/env python3
"""Pictures of trainings, as PNG and SVG: from logs (JSON lines, as `3pt-train --log FILE.jsonl` and experiments/run
write them) to the paper's figures. Needs numpy and matplotlib 3.6 or later.

    pictures.py LOG... --out FOLDER [--kind KIND]... [--name NAME] [--title TEXT]

A log is called ARM.SEED.jsonl: logs of one ARM are one line in a picture, with the spread of their seeds. From a
program: draw(kind, experiment, logs, out). An experiment is a dict: `name` (files begin with it), `title`, `arms`
(each with a `name`, which logs go by, and a `label`), and as `reference` the name of the arm that the others are
compared with, where there is one.
"""
import argparse
import sys
from pathlib import Path

from matplotlib import rc_context

import picture_geometry as geometry
import picture_outcomes as outcomes
from picture_page import STYLE
from training_log import Log, arms_of

# A picture takes title, arms and experiment and gives pairs (what follows the kind in the file's name, page).
KINDS = {made.__name__: made for made in (
    outcomes.curves, outcomes.finals, outcomes.n_sweep, geometry.phase_means, geometry.residual, geometry.dc_profile,
    geometry.dc_energy, geometry.drift_blocks, geometry.drift_pairs, geometry.angles, geometry.displacement,
    geometry.cosine, geometry.radii)}


def draw(kind, experiment, logs, out):
    """The files made, OUT/NAME.KIND.png and .svg (angles: NAME.KIND.ARM.png); none where the logs have not what the
    picture shows. logs: {(arm, seed): Log}."""
    if kind not in KINDS:
        raise ValueError(f"kind is {kind}; {', '.join(KINDS)} are allowed")
    name, arms = experiment.get("name", "logs"), list(arms_of(experiment, logs))
    if not arms:
        return []
    with rc_context(STYLE):
        pages = KINDS[kind](experiment.get("title", name), arms, experiment)
        if pages:
            Path(out).mkdir(parents=True, exist_ok=True)
        return [path for suffix, page in pages for path in page.save(Path(out), f"{name}.{kind}{suffix}")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     epilog="A log is called ARM.SEED.jsonl. Kinds: " + ", ".join(KINDS))
    parser.add_argument("log", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder, made where it is not there")
    parser.add_argument("--kind", action="append", choices=KINDS, help="may be given again; all where it is not")
    parser.add_argument("--name", default="logs", help="what the names of the files begin with (%(default)s)")
    parser.add_argument("--title", help="of all pictures; else the name")
    given = parser.parse_args()
    logs = {}
    try:
        for path in given.log:
            arm, _, seed = path.stem.rpartition(".")
            logs[arm or path.stem, seed if arm else ""] = Log.read(path)
    except (OSError, ValueError) as error:
        sys.exit(f"pictures.py: {error}")
    experiment = {"name": given.name, "title": given.title or given.name}
    for kind in given.kind or KINDS:
        for path in draw(kind, experiment, logs, given.out):
            print(path)


if __name__ == "__main__":
    main()
