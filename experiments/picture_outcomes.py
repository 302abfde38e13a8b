"""Pictures of how well models came to predict: perplexity over training, and at its end."""
import math
import textwrap

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

import spread
from picture_page import INKS, MARKS, Page, band, look, over_steps, seeds_of
from training_log import timed_alike

# The paper's sweep over N at its small size: perplexity after 20,000 steps, of its own data.
PAPER_SWEEP = {1: 13.63, 2: 13.68, 3: 13.90, 4: 13.87, 6: 13.98, 8: 14.01, 12: 14.25}


def perplexity(line):
    return line["perplexity"]


def reached(x, y, level):
    """The first x at which y is at level, between points on a straight line of ln y; None where never, or at once."""
    return spread.reached(zip(x, np.log(y)), math.log(level)) if y[0] > level else None


def mark_saving(panel, lines, first, what):
    """How many times earlier the arm named first, else the one that ends lowest, is as low as the one that ends
    highest: lines {name: (label, x, y)}. Less than a quarter is noise in short runs."""
    def end(name):
        return lines[name][2][-1]

    if not lines:
        return
    label, x, y = lines[first if first in lines else min(lines, key=end)]
    _, x_last, y_last = lines[max(lines, key=end)]
    at, level = reached(x, y, y_last[-1]), y_last[-1]
    if not at or x_last[-1] / at < 1.25:
        return
    panel.axhline(level, color="#777777", linewidth=0.9, linestyle=(0, (2, 2)))
    panel.plot([at, x_last[-1]], [level, level], color="black", linewidth=1.4, marker="|", markersize=9)
    panel.set_title(textwrap.fill(label, 42) + f":\nat {level:.4g} in {x_last[-1] / at:.2f} times fewer {what}")


def training_time(line):
    """Seconds of all threads; of the clock in logs of 3pt-train, which have no others."""
    return line.get("processor", line["seconds"])


def curves(title, arms, experiment):
    arms = [arm for arm in arms if arm.over("held", perplexity) is not None]
    if not arms:
        return []
    page = Page(f"{title}: held-out perplexity{seeds_of(arms)}", 1, 2, 3.3, [arm.label for arm in arms], sharey=True)
    logs = [log for arm in arms for log in arm.logs]
    alike = timed_alike(logs)
    sides = (("steps", logs, lambda line: line["step"]),
             ("minutes", alike, lambda line: training_time(line) / 60))
    for panel, (what, shown, of) in zip(page.panels, sides):
        lines = {}
        for index, arm in enumerate(arms):
            arm = arm.among(shown)
            if arm.logs:
                (_, xs), (_, values) = arm.over("held", of), arm.over("held", perplexity)
                band(panel, xs.mean(0), values, index, arm.label)
                lines[arm.name] = (arm.label, xs.mean(0), values.mean(0))
        mark_saving(panel, lines, experiment.get("reference"), what)
    over_steps(page.panels[0])
    page.panels[0].set_ylabel("perplexity of held-out text")
    only = "" if len(alike) == len(logs) else f"\n({len(alike)} of {len(logs)} runs: on one kind of processor)"
    page.panels[1].set_xlabel(f"minutes of training, of all threads{only}")
    page.panels[1].tick_params(labelleft=False)
    show_range(page.panels[0], [arm.over("held", perplexity)[1] for arm in arms])
    return [("", page)]


def show_range(panel, values):
    """From the least to at most 6 times as much: the first steps, thousands high, would leave no room for the rest."""
    least = min(one.min() for one in values)
    most = min(max(one.max() for one in values), 6 * least)
    panel.set_yscale("log")
    panel.set_ylim(least * 0.97, most * 1.03)
    some, many = (1, 1.5, 2, 3, 4, 5, 7), np.arange(1, 10, 0.5)
    panel.yaxis.set_major_locator(LogLocator(subs=some if most / least > 2 else many))
    panel.yaxis.set_major_formatter(StrMethodFormatter("{x:,.4g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())


def final_of(arm):
    return arm.last("held", perplexity)


def dots(panel, x, values, index, label=None):
    """values [seeds] at x: each as a mark, their mean as a line."""
    panel.plot([x] * len(values), values, linestyle="none", marker=MARKS[index], color=INKS[index], alpha=0.8,
               markersize=6, markeredgewidth=0, label=label)
    if len(values) > 1:
        panel.plot([x - 0.22, x + 0.22], [values.mean()] * 2, color=INKS[index], linewidth=2)


def n_sweep(title, arms, experiment):
    """Of arms that differ in N; where two have the same it says nothing."""
    done = [arm for arm in arms if final_of(arm) is not None]
    found = {int(arm.logs[0].setting("model.n_phases", 0)): final_of(arm) for arm in done}
    if len(found) < 2 or len(found) < len(done):
        return []
    counts = sorted(found)
    page = Page(f"{title}: perplexity by N, a mark for each seed", 1, 2, 3.2,
                ["here", "the paper, 20,000 steps of other text"])
    for x, count in enumerate(counts):
        dots(page.panels[0], x, found[count], 0, "here")
    base = found[3 if 3 in found else counts[0]].mean()
    page.panels[0].set_ylabel("held-out perplexity at the end")
    for x, count in enumerate(counts):
        dots(page.panels[1], x - 0.1, 100 * (found[count] / base - 1), 0, "here")
    if 3 in found:
        theirs = [(x + 0.1, 100 * (PAPER_SWEEP[n] / PAPER_SWEEP[3] - 1)) for x, n in enumerate(counts)
                  if n in PAPER_SWEEP]
        page.panels[1].plot(*zip(*theirs), linestyle=":", marker=MARKS[1], color=INKS[1], markersize=6,
                            label="the paper, 20,000 steps of other text")
    page.panels[1].set_ylabel(f"% above N = {3 if 3 in found else counts[0]}")
    page.panels[1].axhline(0, color="#999999", linewidth=0.8)
    for panel in page.panels:
        panel.set_xticks(range(len(counts)), counts)
        panel.set_xlabel("N, number of phases")
        panel.margins(0.12)
    return [("", page)]


def finals(title, arms, experiment):
    found = [(arm.label, final_of(arm)) for arm in arms if final_of(arm) is not None]
    if not found:
        return []
    page = Page(f"{title}: perplexity at the end, a mark for each seed", 1, 1, 0.9 + 0.33 * len(found))
    panel = page.panels[0]
    for row, (_, values) in enumerate(found):
        panel.plot(values, [row] * len(values), linestyle="none", marker="o", color=INKS[0], markersize=7, alpha=0.8,
                   markeredgewidth=0)
        panel.plot([values.mean()] * 2, [row - 0.28, row + 0.28], color="black", linewidth=1.8)
        said = "mean " if len(values) > 1 else ""
        panel.annotate(f"{said}{values.mean():.2f}", (values.max(), row), (8, -3.5), textcoords="offset points",
                       fontsize=9)
    panel.set_yticks(range(len(found)), [textwrap.fill(label, 34) for label, _ in found])
    panel.set_ylim(len(found) - 0.5, -0.5)
    panel.margins(x=0.15)
    panel.set_xlabel("held-out perplexity (black: the mean)")
    return [("", page)]
