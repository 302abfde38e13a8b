"""How sure a difference is: seeds, their spread, and where two curves come to the same loss."""
import math
from statistics import mean

from training_log import timed_alike

# Student's t, two-sided 95 percent, by degrees of freedom; the last one serves for all above.
T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
       2.110, 2.101, 2.093, 2.086)


class Noise:
    """The deviation of a run's last loss over seeds, pooled from groups of runs that differ in the seed alone."""

    def __init__(self, groups):
        repeated = [group for group in groups if len(group) > 1]
        self.freedom = sum(len(group) - 1 for group in repeated)
        squares = sum((value - mean(group)) ** 2 for group in repeated for value in group)
        self.deviation = math.sqrt(squares / self.freedom) if self.freedom else math.inf

    def half_width(self, *counts):
        """Of the 95 percent interval of a difference of means of so many runs; infinite where no spread is known."""
        if not self.freedom:
            return math.inf
        t = T95[min(self.freedom, len(T95)) - 1]
        return t * self.deviation * math.sqrt(sum(1 / count for count in counts))


def percent(difference):
    """Of a perplexity, for a difference of losses in nats."""
    return 100 * math.expm1(difference)


def reached(curve, level):
    """Where a curve of (x, loss) first comes down to a loss, between two evaluations in a straight line; None: never."""
    before = None
    for x, loss in curve:
        if loss <= level:
            if before is None or before[1] == loss:
                return x
            share = (before[1] - level) / (before[1] - loss)
            return before[0] + share * (x - before[0])
        before = (x, loss)
    return None


def sooner(fast, slow, axis):
    """How many times as far `slow` has gone when it has its last loss as `fast` when it has that loss: in steps or
    processor time. None where the fast one never comes to it, or where times cannot be compared."""
    if axis == "processor" and len(timed_alike([fast, slow])) < 2:
        return None
    curves = [[(line[axis], line["loss"]) for line in log.held] for log in (fast, slow)]
    level = curves[1][-1][1]
    there, theirs = (reached(curve, level) for curve in curves)
    return theirs / there if there else None
