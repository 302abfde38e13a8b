"""Is a finding of the paper repeated here? Each kind of a description's `findings` is a function below.

It takes the runs and the finding and gives (verdict, what was seen). A difference of perplexities counts where it is
larger than half the width of its 95 percent interval; the spread is that of runs that differ in their seed alone, and
that the arms of a seed see the same batches is not made use of, so the rule is on the careful side.
"""
import math
from statistics import mean, median

from spread import percent, sooner

REPEATED, NOT, UNDECIDED, NOT_RUN = "repeated", "not repeated", "undecided", "not run yet"
SAME = 1e-6     # of a sum of phase means: float32's sums over some hundred thousand numbers are nearer than this
U_DEPTH = 1.2   # a U: both ends at least so many times its least drift
TOO_FEW = "the runs have too few steps"
NO_SPREAD = "no spread is known: no arm has two seeds"


def seen_difference(difference, half):
    width = NO_SPREAD if math.isinf(half) else f"+- {percent(half):.2f}"
    return f"{percent(difference):+.2f} % of perplexity ({width})"


def lower(runs, finding):
    """`arm` has a lower perplexity than `than`."""
    difference, half = runs.difference(finding["arm"], finding["than"])
    verdict = UNDECIDED if abs(difference) <= half else REPEATED if difference < 0 else NOT
    return verdict, seen_difference(difference, half)


def near(runs, finding):
    """The two are within `percent` of each other. paired: by each seed's difference, for arms that compute the same."""
    margin = math.log1p(finding["percent"] / 100)
    if finding.get("paired"):
        most = max((abs(one.held[-1]["loss"] - other.held[-1]["loss"])
                    for one, other in runs.pairs(finding["arm"], finding["than"])), default=math.inf)
        return (REPEATED if most <= margin else NOT), f"at most {percent(most):.4f} % of perplexity in each seed"
    difference, half = runs.difference(finding["arm"], finding["than"])
    inside, outside = abs(difference) + half <= margin, abs(difference) - half > margin
    return (REPEATED if inside else NOT if outside else UNDECIDED), seen_difference(difference, half)


def sooner_there(runs, finding):
    """`arm` comes to the last loss of `than` in fewer steps, or less processor time."""
    ratios = [sooner(one, other, finding["axis"]) for one, other in runs.pairs(finding["arm"], finding["than"])]
    known = [ratio for ratio in ratios if ratio is not None]
    if not known:
        return UNDECIDED, "it never comes to it" if finding["axis"] == "step" else "times of different machines"
    verdict = REPEATED if min(known) > 1 and len(known) > 1 else NOT if max(known) < 1 else UNDECIDED
    return verdict, f"{median(known):.2f} times ({min(known):.2f} to {max(known):.2f} in {len(known)} seeds)"


def zero_sums(runs, arm, since=0):
    """[measured, analytic] of each log's geometry lines from a step on."""
    return [line["zero_sum"] for log in runs.of(arm) for line in log.geometry if line["step"] >= since]


def residual_fixed(runs, finding):
    """The sum of the phase means is what the profile says, `value`, at every step."""
    off = max(max(abs(measured - analytic), abs(analytic - finding["value"]) - 5e-6)
              for measured, analytic in zero_sums(runs, finding["arm"]))
    return (REPEATED if off <= SAME else NOT), f"largest difference {max(off, 0):.1e}"


def residual_within(runs, finding):
    """From a step on the sum of the phase means stays between two sizes. One that starts there has not come there."""
    sizes = [abs(measured) for measured, _ in zero_sums(runs, finding["arm"], finding["from"])]
    if not sizes:
        return UNDECIDED, TOO_FEW
    starts = [abs(log.geometry[0]["zero_sum"][0]) for log in runs.of(finding["arm"])]
    inside, already = (sum(finding["least"] <= size <= finding["most"] for size in some) for some in (sizes, starts))
    came = inside == len(sizes) and not already
    verdict = REPEATED if came else NOT if inside == 0 else UNDECIDED
    return verdict, (f"{min(sizes):.1e} to {max(sizes):.1e} from step {finding['from']} on; at the start "
                     f"{' '.join(f'{size:.1e}' for size in starts)}")


def residual_lower(runs, finding):
    """From a step on the mean size of the sum of the phase means is lower in `arm` than in `than`, in every seed."""
    if not zero_sums(runs, finding["arm"], finding["from"]):
        return UNDECIDED, TOO_FEW
    ours, theirs = ([mean(abs(line["zero_sum"][0]) for line in log.geometry if line["step"] >= finding["from"])
                     for log in runs.of(finding[arm])] for arm in ("arm", "than"))
    verdict = REPEATED if max(ours) < min(theirs) else NOT if min(ours) >= max(theirs) else UNDECIDED
    return verdict, f"{mean(ours):.1e} against {mean(theirs):.1e}"


def profile_falls(runs, finding):
    """The learned profile's first entry ends `below` a number, from 1."""
    firsts = [log.end["dc_profile"][0] for log in runs.of(finding["arm"])]
    verdict = REPEATED if max(firsts) < finding["below"] else NOT if min(firsts) >= 1 else UNDECIDED
    return verdict, f"it ends at {' '.join(f'{first:.3f}' for first in firsts)}"


def is_u(drifts):
    least = min(drifts)
    return least not in (drifts[0], drifts[-1]) and min(drifts[0], drifts[-1]) >= U_DEPTH * least


def drift_u(runs, finding):
    """The blocks' drift has its least value inside, and both ends are well above it."""
    found = [[l2 for _, _, l2, _ in log.geometry[-1]["drift"]] for log in runs.of(finding["arm"])]
    count = sum(map(is_u, found))
    verdict = REPEATED if count == len(found) else UNDECIDED if count else NOT
    return verdict, f"a U in {count} of {len(found)} seeds, least in block {found[0].index(min(found[0]))}"


KINDS = {made.__name__: made for made in (lower, near, residual_fixed, residual_within, residual_lower, profile_falls,
                                          drift_u)}
KINDS["sooner"] = sooner_there


def judged(runs, finding):
    """(verdict, what was seen); arms that have no finished run have none."""
    arms = [finding[key] for key in ("arm", "than") if key in finding]
    if not all(runs.of(arm) for arm in arms):
        return NOT_RUN, ""
    return KINDS[finding["kind"]](runs, finding)
