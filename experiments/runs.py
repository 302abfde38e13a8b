"""The finished trainings of an experiment, by arm and seed."""
from statistics import mean

import logs
from spread import Noise


class Runs:
    def __init__(self, experiment, results):
        self.experiment = experiment
        self.by = {arm.name: of_home(results, arm.home) for arm in experiment.arms}

    def of(self, name):
        """Logs of an arm, seeds ascending."""
        return list(self.by[name].values())

    def all(self):
        return [log for name in self.by for log in self.of(name)]

    def pairs(self, one, other):
        """(log, log) of each seed that both arms have."""
        return [(log, self.by[other][seed]) for seed, log in self.by[one].items() if seed in self.by[other]]

    def difference(self, one, other):
        """(mean last loss of the one less that of the other, half the width of its 95 percent interval), in nats."""
        ours, theirs = losses(self.of(one)), losses(self.of(other))
        return mean(ours) - mean(theirs), self.noise(ours, theirs).half_width(len(ours), len(theirs))

    def noise(self, *groups):
        """Of the arms that are compared, where each has several seeds: one that trains badly is noisier than the others.
        Else of all arms of the experiment that have."""
        own = all(len(group) > 1 for group in groups)
        return Noise(groups if own else [losses(self.of(name)) for name in self.by])


def of_home(results, home):
    """{seed: log} of the trainings that have ended."""
    folder, _, arm = home.rpartition("/")
    found = {}
    for path in (results / folder).glob(f"{arm}.*.jsonl"):
        log, seed = logs.read(path), path.name[len(arm) + 1:-len(".jsonl")]
        if log and log.end and seed.isdigit():
            found[int(seed)] = log
    return dict(sorted(found.items()))


def losses(found):
    return [log.held[-1]["loss"] for log in found]
