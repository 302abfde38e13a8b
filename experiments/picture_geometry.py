"""Pictures of the geometry: phases, DC direction, angles."""
import math

import numpy as np
from matplotlib import colormaps
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

from picture_page import (DEPTHS, INKS, Page, a_panel_each, band, bars, by_depth, head, look, mean_of, over_steps,
                          seeds_of)


def both_sums(line):
    """Measured and by the profile, which there may be none."""
    return [math.nan if value is None else value for value in line["zero_sum"]]


def phase_means(title, arms, experiment):
    """Of the first seed: phases are alike, so that a mean over seeds would say nothing."""
    found = [(arm, arm.over("geometry", lambda line: line["phase_means"]),
              arm.over("geometry", both_sums)) for arm in arms]
    found = [one for one in found if one[1] is not None]
    if not found:
        return []
    most = max(means.shape[3] for _, (_, means), _ in found)
    names = [f"phase {i}" for i in range(most)] if most <= 6 else ["phases"]
    page = Page(f"{title}: mean of each phase", len(found), 2, 2.5,
                [*names, "their sum", "N mean r(p), by the profile"])
    for row, (arm, (steps, means), (_, sums)) in enumerate(found):
        for panel, depth, where in zip(page.panels[2 * row:], (0, -1), ("at the embedding", "after the last block")):
            for i in range(means.shape[3]):
                panel.plot(steps, means[0, :, depth, i], label=names[i % len(names)], **look(i + 1, len(steps)))
            if depth == 0:
                panel.plot(steps, sums[0, :, 0], label="their sum", **{**look(0, len(steps)), "linewidth": 2})
                if np.isfinite(sums).all():
                    panel.plot(steps, sums[0, :, 1], "k", linestyle=(0, (2, 2)), linewidth=1,
                               label="N mean r(p), by the profile")
            head(panel, f"{arm.label}: {where}")
            panel.axhline(0, color="#999999", linewidth=0.8)
            over_steps(panel)
        page.panels[2 * row].set_ylabel("mean over tokens\nand channels")
    return [("", page)]


def residual(title, arms, experiment):
    found = [(arm, arm.over("geometry", lambda line: abs(line["zero_sum"][0]))) for arm in arms]
    found = [(arm, *values) for arm, values in found if values is not None]
    if not found:
        return []
    page = Page(f"{title}: zero-sum residual{seeds_of(arms)}", 1, 1, 3.4, [arm.label for arm, _, _ in found])
    panel = page.panels[0]
    for index, (arm, steps, values) in enumerate(found):
        band(panel, steps, np.maximum(values, 1e-9), index, arm.label)  # 1e-9: what a logarithm can show of 0
    panel.set_yscale("log")
    panel.set_ylabel("|sum of the phase means|\nat the embedding")
    over_steps(panel)
    return [("", page)]


def over_places(panel, values, index, label):
    """values [seeds, positions], with a mark at each octave of an axis that is logarithmic."""
    positions = values.shape[1]
    octaves = [2**i - 1 for i in range(positions.bit_length())]
    band(panel, np.arange(1, positions + 1), values, index, label, markevery=octaves)


def dc_profile(title, arms, experiment):
    found = [(arm, np.array(arm.ends("dc_profile"))) for arm in arms if arm.ends("dc_profile")]
    learned = [(index, arm, r) for index, (arm, r) in enumerate(found)
               if arm.logs[0].setting("model.dc.profile") == "learned"]
    if not found:
        return []
    page = Page(f"{title}: the DC profile r(p){seeds_of(arms)}", 1, 1 + bool(learned), 3.3,
                [arm.label for arm, _ in found])
    for index, (arm, r) in enumerate(found):
        over_places(page.panels[0], r, index, arm.label)
    page.panels[0].set_ylabel("r(p), mean over the channels")
    for index, arm, r in learned:
        over_places(page.panels[1], r - 1 / np.arange(1, r.shape[1] + 1), index, arm.label)
        page.panels[1].set_title("what was learned: r(p) - 1 / (p + 1)")
        page.panels[1].axhline(0, color="#999999", linewidth=0.8)
    for panel in page.panels:
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(base=2, numticks=12))
        panel.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set_xlabel("p + 1, p the position")
    return [("", page)]


def drift_blocks(title, arms, experiment):
    found = [(arm.label, arm.last("geometry", lambda line: line["drift"] and [d[2] for d in line["drift"]]))
             for arm in arms]
    found = [one for one in found if one[1] is not None]
    if not found:
        return []
    page = Page(f"{title}: drift of the angles{seeds_of(arms)}", 1, 1, 3.2, [label for label, _ in found])
    bars(page.panels[0], found)
    page.panels[0].set_ylabel("norm of theta - start, radians")
    return [("", page)]


def theta_of(arm):
    """theta [L, P / 2] of the first seed that ended with angles, and their start [L, 1]."""
    for log in arm.logs:
        if log.end.get("theta"):
            return np.array(log.end["theta"]), np.array(log.end["angles_start"])[:, None]
    return None


def drift_pairs(title, arms, experiment):
    found = [(arm, *theta_of(arm)) for arm in arms if theta_of(arm)]
    if not found:
        return []
    most = max(np.abs(theta - start).max() for _, theta, start in found) or 1
    heights = [0.8 + 0.18 * len(theta) for _, theta, _ in found]
    page = Page(f"{title}: theta - start of each pair (x: the largest of its block)", len(found), 1, heights)
    for panel, (arm, theta, start) in zip(page.panels, found):
        shade = panel.imshow(theta - start, cmap=DEPTHS, vmin=-most, vmax=most, aspect="auto", interpolation="nearest")
        far = np.abs(theta - start).argmax(1)
        panel.plot(far, range(len(theta)), "x", color="white", markersize=8, markeredgewidth=3)
        panel.plot(far, range(len(theta)), "x", color="black", markersize=6.5, markeredgewidth=1.4)
        head(panel, arm.label)
        panel.set_ylabel("block")
        panel.yaxis.set_major_locator(MaxNLocator(integer=True))
        panel.grid(visible=False)
    page.panels[-1].set_xlabel("pair k of a phase")
    page.figure.colorbar(shade, ax=page.panels, label="radians", pad=0.02)
    return [("", page)]


def angles(title, arms, experiment):
    """A page for each arm, a circle for each block; a tick outside says where a phase started."""
    pages = []
    for arm in arms:
        if not theta_of(arm):
            continue
        theta, start = theta_of(arm)
        phases, columns = int(arm.logs[0].setting("model.n_phases", 1)), 4
        page = Page(f"{title}: angles of {arm.label}", math.ceil(len(theta) / columns), min(columns, len(theta)), 1.95,
                    [f"phase {i}" for i in range(phases)] + ["start"])
        turn = np.linspace(0, 2 * math.pi, 200)
        for panel, block in zip(page.panels, range(len(theta))):
            panel.plot(np.cos(turn), np.sin(turn), color="#aaaaaa", linewidth=0.8)
            for i in range(phases):
                at, begun = theta[block] + 2 * math.pi * i / phases, start[block, 0] + 2 * math.pi * i / phases
                panel.plot(np.cos(at), np.sin(at), alpha=0.75, markeredgewidth=0, label=f"phase {i}",
                           **{**look(i), "linestyle": "none"})
                panel.plot([1.1 * math.cos(begun), 1.32 * math.cos(begun)],
                           [1.1 * math.sin(begun), 1.32 * math.sin(begun)], color="black", linewidth=1.5,
                           label="start" if i == phases - 1 else None)
            panel.set(aspect="equal", xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), title=f"block {block}")
            panel.set_xticks((-1, 0, 1))
            panel.set_yticks((-1, 0, 1))
            panel.set_xlabel("cos" if block + columns >= len(theta) else "")
            panel.set_ylabel("sin" if block % columns == 0 else "")
        pages.append((f".{arm.name}", page))
    return pages


def displacement(title, arms, experiment):
    found = [(arm, arm.over("geometry", lambda line: line["displacement"])) for arm in arms]
    found = [(arm, *values) for arm, values in found if values is not None]
    if not found:
        return []
    page = Page(f"{title}: how far the rotation moves a token{seeds_of(arms)}", 1, 2, 3.2,
                [*(arm.label for arm, _, _ in found), "root of 2: phases of one norm"], sharey=True)
    for index, (arm, steps, values) in enumerate(found):
        band(page.panels[0], np.arange(values.shape[2]), values[:, -1], index, arm.label)
        band(page.panels[1], steps, values.mean(2), index, arm.label)
    for panel, said in zip(page.panels, ("block by block, at the end", "mean over blocks")):
        panel.axhline(math.sqrt(2), color="black", linewidth=1, linestyle=(0, (2, 2)),
                      label="root of 2: phases of one norm")
        panel.set_title(said)
    page.panels[0].set_ylabel("mean of |R h - h| / |h|")
    page.panels[0].set_xlabel("block")
    page.panels[0].xaxis.set_major_locator(MaxNLocator(integer=True))
    page.panels[1].tick_params(labelleft=False)
    over_steps(page.panels[1])
    return [("", page)]


def dc_energy(title, arms, experiment):
    found = [(arm, arm.over("geometry", lambda line: np.sum(line["dc_energy"], axis=1))) for arm in arms]
    found = [(arm, *values) for arm, values in found if values is not None]
    if not found:
        return []
    depths = max(values.shape[2] for _, _, values in found)
    names = ["embedding", *(f"block {l}" for l in range(depths - 1))]
    page = a_panel_each(f"{title}: energy on the DC directions of the phases{mean_of(arms)}",
                        [arm for arm, _, _ in found], 2.6, names, sharey=True)
    inks = colormaps[DEPTHS](np.linspace(0, 0.85, depths))  # not the palest: lines on white
    for panel, (arm, steps, values) in zip(page.panels, found):
        for depth in range(values.shape[2]):
            style = {**look(depth, len(steps)), "color": inks[depth]}
            panel.plot(steps, 100 * values[:, :, depth].mean(0), label=names[depth], **style)
        panel.set_ylabel("% of |x|^2")
        over_steps(panel)
    page.panels[0].set_ylim(0, 105 * max(values.mean(0).max() for _, _, values in found))
    return [("", page)]


MANY = "each pair of phases"


def by_depth_of(title, arms, of, lines_of, ylabel):
    """A panel for each arm; lines_of(values of the first seed) gives (label, [L + 1]) a line."""
    found = [(arm, lines_of(np.array(of(arm)))) for arm in arms if of(arm) is not None]
    found = [(arm, lines) for arm, lines in found if lines]
    if not found:
        return []
    labels = list(dict.fromkeys(label for _, lines in found for label, _ in lines))
    labels = labels if len(labels) <= 15 else [MANY]
    page = a_panel_each(title, [arm for arm, _ in found], 2.6, labels, sharey=True)
    for panel, (arm, lines) in zip(page.panels, found):
        for index, (label, values) in enumerate(lines):
            if labels == [MANY]:
                panel.plot(values, label=MANY, color=INKS[0], alpha=0.5, linewidth=0.9)
            else:
                panel.plot(values, label=label, **look(index))
        by_depth(panel, len(lines[0][1]) - 1)
        panel.axhline(0, color="#999999", linewidth=0.8)
        panel.set_ylabel(ylabel)
    return [("", page)]


def cosine(title, arms, experiment):
    def pairs(values):
        count = math.isqrt(values.shape[1])
        square = values.reshape(-1, count, count)
        return [(f"phases {i} and {j}", square[:, i, j]) for i in range(count) for j in range(i + 1, count)]

    return by_depth_of(f"{title}: cosine between phases of a token, mean over tokens", arms,
                       lambda arm: (arm.ends("phase_cosine") or [None])[0], pairs, "cosine")


def radii(title, arms, experiment):
    def last_rms(arm):
        last = arm.last("geometry", lambda line: line["phase_rms"])
        return None if last is None or last.shape[2] < 2 else last[0]

    def apart(values):
        share = 100 * (values / values.mean(1, keepdims=True) - 1)
        return [(f"phase {i}", share[:, i]) for i in range(share.shape[1])]

    return by_depth_of(f"{title}: root mean square of each phase against that of all", arms, last_rms, apart, "% apart")
