"""What is to be trained: arms and seeds in their order, what is done of them, and how long the rest takes."""
import sys
from dataclasses import dataclass, field
from typing import Any, Dict, Optional, Tuple

import binding
import describe
import logs
from training import Files
from training_log import Log

DEFAULT_OUTSIDE = 0.15  # share of the training's time that evaluation and measures take, until a log knows better


@dataclass
class Job:
    home: str  # EXPERIMENT/ARM
    seed: int
    settings: Dict[str, Any]
    steps: int
    every: Dict[str, int]
    files: Files
    record: Optional[Log] = field(init=False)  # None: not begun

    def __post_init__(self):
        self.record = logs.read(self.files.log)

    @property
    def done(self):
        return self.record is not None and bool(self.record.end)

    def reached(self):
        """About the step that the checkpoint is at: the last one that the log knows."""
        if self.done:
            return self.steps
        lines = self.record.step + self.record.held if self.record and self.files.checkpoint.exists() else []
        return max((line["step"] for line in lines), default=0)

    def say(self, what):
        print(f"{self.home}.{self.seed}: {what}", flush=True)


def wanted(given, known, what, where):
    for word in given or ():
        if word not in known:
            sys.exit(f"experiments: {where} has no {what} {word}; {', '.join(map(str, known))} are there")
    return given or known


def of_experiment(experiment, arms, seeds, results, work, precision):
    """Seed by seed, so that a comparison is whole as early as can be."""
    names = wanted(arms, [arm.name for arm in experiment.arms], "arm", experiment.name)
    chosen = [arm for arm in experiment.arms if arm.name in names]
    for seed in seeds or sorted({seed for arm in chosen for seed in arm.seeds}):
        for arm in chosen:
            if seeds or seed in arm.seeds:
                settings = {**arm.settings, **({"train.precision": precision} if precision else {})}
                every = {**experiment.every, "eval_every": settings.get("train.eval_every", 0)}
                yield Job(arm.home, seed, settings, experiment.steps, every, Files(results, work, arm.home, seed))


def listed(names, size, **choices):
    """Of several experiments; an arm that two of them share stands there once."""
    found: Dict[Tuple[str, int], Job] = {}
    for name in describe.ALL if "all" in names else names:
        for job in of_experiment(describe.load(name, size), **choices):
            found.setdefault((job.home, job.seed), job)
    return list(found.values())


class Estimate:
    """Seconds a step on this machine, by the logs that were made on it."""

    def __init__(self, jobs):
        self.known = {}
        for job in jobs:
            steps = job.record.step if job.record else []
            if steps and job.record.start["machines"] == [binding.machine()]:
                self.known[job.home, job.seed] = (steps[-1]["seconds"] / steps[-1]["step"], self.outside(job.record))

    @staticmethod
    def outside(record):
        end = record.end
        return end["outside"] / end["seconds"] if end and end["seconds"] else DEFAULT_OUTSIDE

    def seconds(self, job):
        """Of what is left; None where nothing was measured yet. The same arm's time counts before others'."""
        same = [value for (home, _), value in self.known.items() if home == job.home]
        values = same or list(self.known.values())
        if job.done or not values:
            return 0.0 if job.done else None
        steps = job.steps - job.reached()
        return steps * sum(each * (1 + more) for each, more in values) / len(values)


def clock(seconds):
    if seconds is None:
        return "not known"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"


def show(jobs):
    estimate, total = Estimate(jobs), 0.0
    for job in jobs:
        left = estimate.seconds(job)
        total = None if total is None or left is None else total + left
        state = "done" if job.done else f"step {job.reached()} of {job.steps}"
        print(f"{job.home + '.' + str(job.seed):40} {state:22} {'' if job.done else clock(left)}")
    print(f"{sum(job.done for job in jobs)} of {len(jobs)} runs are done; what is left takes {clock(total)}")
