"""The log of a training, JSON lines as `3pt-train --log FILE.jsonl` and experiments/run write them, and the logs of an
arm of an experiment, one a seed."""
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Log:
    """The lines of one training by their kind, each list in the order of steps."""

    start: dict
    step: list
    held: list
    geometry: list
    end: dict  # empty where the training has not ended

    @classmethod
    def read(cls, path):
        """Of lines with one kind and step the last counts: a resumed run does again what came after its checkpoint.
        What a crash cut short is no line."""
        found = {"start": {}, "step": {}, "held": {}, "geometry": {}, "end": {}}
        for text in Path(path).read_text(encoding="utf-8").splitlines():
            try:
                line = json.loads(text)
                found[line["kind"]][line.get("step", 0)] = line
            except (ValueError, KeyError, TypeError):
                continue
        if not found["start"]:
            raise ValueError(f"{path}: not the log of a training: no line of kind start")
        ordered = {kind: [lines[step] for step in sorted(lines)] for kind, lines in found.items()}
        last = {kind: (ordered[kind] or [{}])[-1] for kind in ("start", "end")}
        return cls(**{**ordered, **last})

    def setting(self, key, default=None):
        return self.start.get("config", {}).get(key, default)

    @property
    def clock(self):
        """What times can be compared within: (kinds of processor that it ran on, threads, precision). 3pt-train names
        neither processor nor threads."""
        return tuple(self.start.get("machines", ())), self.start.get("threads"), self.setting("train.precision")


def timed_alike(logs):
    """Those whose times can be compared: most of them, of those that ran on one kind of processor from begin to end."""
    whole = [log for log in logs if len(log.clock[0]) <= 1]
    clocks = Counter(log.clock for log in whole)
    return [log for log in whole if log.clock == clocks.most_common(1)[0][0]]


@dataclass(frozen=True)
class Arm:
    name: str
    label: str
    logs: list  # one a seed, seeds ascending; where some have ended, only these

    def over(self, kind, of):
        """Steps [n] that all seeds have, and of(line) [seeds, n, ...]; None where there is none, or of gives None."""
        seeds = [{line["step"]: line for line in getattr(log, kind)} for log in self.logs]
        steps = sorted(set.intersection(*map(set, seeds))) if seeds else []
        values = [[of(lines[step]) for step in steps] for lines in seeds]
        if not steps or any(value is None for row in values for value in row):
            return None
        return np.array(steps), np.array(values, dtype=float)

    def among(self, logs):
        """The arm with those of its logs that are among these."""
        return replace(self, logs=[log for log in self.logs if any(log is one for one in logs)])

    def last(self, kind, of):
        """of(the last line) [seeds, ...], or None."""
        found = self.over(kind, of)
        return None if found is None else found[1][:, -1]

    def ends(self, key):
        """What the end lines have under a key, of those seeds that have it."""
        return [log.end[key] for log in self.logs if log.end.get(key) is not None]


def arms_of(experiment, logs):
    """In the experiment's order; arms that it does not name come last."""
    labels = {arm["name"]: arm.get("label", arm["name"]) for arm in experiment.get("arms", [])}
    for name, _ in sorted(logs, key=str):
        labels.setdefault(name, name)
    for name, label in labels.items():
        own = [log for (arm, _), log in sorted(logs.items(), key=lambda item: str(item[0])) if arm == name]
        ended = [log for log in own if log.end]
        if own:
            yield Arm(name, label, ended or own)
