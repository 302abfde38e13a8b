"""The report of an experiment as Markdown tables."""
import math
from statistics import mean, median, stdev

import findings
from runs import losses
from spread import percent, sooner
from training_log import Arm, timed_alike

NOT_RUN = findings.NOT_RUN
PROFILE_PLACES = (0, 1, 2, 3, 4, 5, 6, 20, 40, 127)


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def number(value):
    """Four digits, without a power of ten where that is short."""
    return f"{value:.4g}" if value == 0 or 1e-3 <= abs(value) < 1e4 else f"{value:.1e}"


def perplexities(found):
    return [math.exp(loss) for loss in losses(found)]


def seeds_of(values):
    if len(values) < 2:
        return str(len(values))
    return f"{len(values)}: median {median(values):.2f}, {min(values):.2f} to {max(values):.2f}"


def against(runs, arm):
    """In percent of the reference's perplexity, with half the width of the 95 percent interval."""
    reference = runs.experiment.reference
    if arm == reference or not runs.of(reference):
        return ""
    difference, half = runs.difference(arm, reference)
    return f"{percent(difference):+.2f} %" + ("" if math.isinf(half) else f" +- {percent(half):.2f}")


def minutes(found):
    return f"{mean(log.end['processor'] for log in found) / 60:.1f}" if found else ""


def arm_row(runs, arm):
    """Minutes are of those runs alone whose times can be compared over all arms."""
    timed = Arm(arm.name, arm.label, runs.of(arm.name)).among(timed_alike(runs.all())).logs
    found, paper = runs.of(arm.name), f"{arm.paper:.2f}" if arm.paper else ""
    if not found:
        return [arm.label, NOT_RUN, "", "", "", paper]
    values = perplexities(found)
    spread = f" +- {stdev(values):.2f}" if len(values) > 1 else ""
    return [arm.label, f"{mean(values):.2f}{spread}", seeds_of(values), against(runs, arm.name), minutes(timed), paper]


def arms(runs):
    reference = runs.experiment.arm(runs.experiment.reference)
    head = ["arm", "perplexity, mean +- deviation", "seeds", f"against *{reference.label}*", "processor minutes",
            "paper"]
    return table(head, [arm_row(runs, arm) for arm in runs.experiment.arms])


def of_findings(runs):
    rows = []
    for finding in runs.experiment.findings:
        verdict, seen = findings.judged(runs, finding)
        rows.append([finding["says"], f"**{verdict}**", seen])
    return table(["the paper's finding, or the question", "here", "seen"], rows) if rows else ""


# ---- tables of `tables` ----

def averaged(found, of):
    """of(log), a list of numbers, over the seeds; None where an arm has no such thing."""
    rows = [of(log) for log in found]
    return None if not rows or None in rows else [mean(column) for column in zip(*rows)]


def by_block(runs, of, first, what):
    """A row an arm, a column for the embedding (where `first` is 0) and every block."""
    rows = {arm.label: averaged(runs.of(arm.name), of) for arm in runs.experiment.arms}
    rows = {label: row for label, row in rows.items() if row}
    columns = max(map(len, rows.values()), default=0)
    head = [what] + [f"block {i - 1}" if i else "embedding" for i in range(first, first + columns)]
    return table(head, [[label] + [number(v) for v in row] + [""] * (columns - len(row)) for label, row in rows.items()])


def last_geometry(log):
    return log.geometry[-1]


def drift(runs):
    def of(log):
        found = last_geometry(log)["drift"]
        return found and [l2 for _, _, l2, _ in found]
    return by_block(runs, of, 1, "drift of the angles, L2, radians")


def displacement(runs):
    return by_block(runs, lambda log: last_geometry(log)["displacement"], 1, "displacement by the rotation")


def energy(runs):
    def of(log):
        return [sum(point) for point in last_geometry(log)["dc_energy"]]
    return by_block(runs, of, 0, "share of the energy that is phase means")


def residual(runs):
    """The sum of the phase means by step: mean size over the seeds, and what the profile says."""
    rows = []
    for arm in runs.experiment.arms:
        found = [log.geometry for log in runs.of(arm.name)]
        if found:
            steps = [found[0][0], found[0][len(found[0]) // 2], found[0][-1]]
            sizes = [mean(abs(line["zero_sum"][0]) for log in found for line in log if line["step"] == at["step"])
                     for at in steps]
            analytic = found[0][-1]["zero_sum"][1]
            rows.append([arm.label, *map(number, sizes), "" if analytic is None else f"{analytic:.5f}"])
    return table(["sum of the phase means", "at the start", "half way", "at the end", "as the profile says"], rows)


def profile(runs):
    rows = []
    for arm in runs.experiment.arms:
        values = averaged(runs.of(arm.name), lambda log: log.end["dc_profile"])
        if values:
            rows.append([arm.label] + [number(values[p]) if p < len(values) else "" for p in PROFILE_PLACES])
    return table(["r(p) at the end"] + [f"p {p}" for p in PROFILE_PLACES], rows)


def ratio(found, axis):
    known = [r for r in (sooner(one, other, axis) for one, other in found) if r is not None]
    return f"{median(known):.2f} ({min(known):.2f} to {max(known):.2f})" if known else "not known"


def sooner_table(runs):
    """How much sooner the reference comes to each other arm's last perplexity."""
    reference = runs.experiment.arm(runs.experiment.reference)
    rows = []
    for arm in runs.experiment.arms:
        found = runs.pairs(reference.name, arm.name)
        if arm is not reference and found:
            rows.append([arm.label, ratio(found, "step"), ratio(found, "processor")])
    head = [f"how many times sooner *{reference.label}* is at the last perplexity of", "in steps", "in processor time"]
    return table(head, rows)


TABLES = {"drift": drift, "displacement": displacement, "energy": energy, "residual": residual, "profile": profile,
          "sooner": sooner_table}


# ---- the whole ----

def each(values):
    return ", ".join(sorted({str(value) for value in values}))


def settings(runs):
    """Steps, data and machines, from the logs."""
    found = runs.all()
    if not found:
        return f"{runs.experiment.steps:,} steps an arm; no run has ended yet."
    data = found[0].start["data"]
    tokens = each(log.setting("train.batch") * log.setting("train.seq_len") for log in found)
    said = [f"{runs.experiment.steps:,} steps of {tokens} tokens", f"{data['tokens']:,} tokens to train on",
            f"{data['held']:,} held out, {100 * data['unknown']:.1f} % of them <unk>",
            f"precision {each(log.setting('train.precision') for log in found)}",
            f"{each(log.start['threads'] for log in found)} threads",
            f"on {each(name for log in found for name in log.start['machines'])}"]
    timed = timed_alike(found)
    if 0 < len(timed) < len(found):
        (machine,), _, precision = timed[0].clock
        said.append(f"minutes are those of {len(timed)} of {len(found)} runs: {precision}, {machine}")
    if len({log.start["data"]["sha256"] for log in found}) > 1:
        said.append("**not all runs saw the same data**")
    return "; ".join(said).replace("<unk>", "`<unk>`") + "."


def pictures(experiment, folder, page):
    """Links to those that are there, as PNG."""
    paths = [path for kind in experiment.pictures for path in sorted(folder.glob(f"{experiment.name}.{kind}*.png"))]
    return "\n".join(f"![{path.stem}]({path.relative_to(page.parent).as_posix()})" for path in paths)


def experiment(runs, folder, page):
    """Everything between the marks of an experiment."""
    made, own = runs.experiment, runs.all()
    parts = [f"## {made.title}", made.question, f"Paper: {made.paper}.", settings(runs), arms(runs), of_findings(runs)]
    parts += [TABLES[name](runs) for name in made.tables] if own else []
    return "\n\n".join(part.strip() for part in [*parts, pictures(made, folder, page)] if part.strip())


def summary(all_runs):
    """A row a finding, of all experiments."""
    rows = []
    for runs in all_runs:
        for finding in runs.experiment.findings:
            verdict, seen = findings.judged(runs, finding)
            rows.append([runs.experiment.name, finding["says"], f"**{verdict}**", seen])
    return table(["experiment", "finding", "here", "seen"], rows).strip()
