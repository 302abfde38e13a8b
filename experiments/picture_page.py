"""How a picture looks: a page of panels with one key, and the lines and bars that pictures share."""
import math
import textwrap

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

# Seven of the eight colours of Okabe and Ito (2008), which eyes of every kind tell apart; its yellow is not seen on
# white. Line, mark and hatch say the same without colour.
INKS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (3, 1)))
MARKS = "osD^vPX"
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "ooo", "---")
DEPTHS = "cividis"  # for what has an order: light and dark as well as yellow and blue
WIDTH = 7.0  # inches: at 200 dots an inch twice the 700 pixels that a page shows it in
STYLE = {"font.size": 10, "axes.titlesize": 10, "axes.labelsize": 10, "legend.fontsize": 9, "xtick.labelsize": 9,
         "ytick.labelsize": 9, "figure.titlesize": 11, "axes.spines.top": False, "axes.spines.right": False,
         "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "axes.axisbelow": True,
         "lines.linewidth": 1.6, "lines.markersize": 4.5, "hatch.linewidth": 0.7, "savefig.dpi": 200,
         "svg.hashsalt": "lib3pt", "svg.fonttype": "path", "font.family": "DejaVu Sans",
         "axes.formatter.limits": (-4, 5)}


class Page:
    """A title, panels in rows and columns, and below them one key of all labels. height: inches, of all rows or a list
    with each one's."""

    def __init__(self, title, rows, columns, height, labels=(), **more):
        self.across = max(1, min(len(labels), int(WIDTH / (0.65 + 0.07 * max(map(len, labels), default=0)))))
        key = 0.2 * math.ceil(len(labels) / self.across) + 0.12 * bool(labels)
        heights = height if isinstance(height, list) else [height] * rows
        title = textwrap.fill(title, 88)
        tall = sum(heights) + key + 0.22 * (title.count("\n") + 1)
        self.figure = Figure(figsize=(WIDTH, tall))
        self.figure.set_layout_engine("constrained", rect=(0, key / tall, 1, 1 - key / tall))
        self.title = self.figure.suptitle(title)
        grid = self.figure.add_gridspec(rows, columns, height_ratios=heights)
        self.panels = []
        for at in range(rows * columns):
            shared = {f"share{axis}": self.panels[0] for axis in "xy" if more.get(f"share{axis}") and self.panels}
            self.panels.append(self.figure.add_subplot(grid[divmod(at, columns)], **shared))

    def key(self):
        """Once all is drawn: the key, and nothing in the place of panels without data."""
        found = {}
        for panel in self.panels:
            if not panel.has_data():
                panel.axis("off")
            for artist, label in zip(*panel.get_legend_handles_labels()):
                found.setdefault(label, artist)
        if found:
            key = self.figure.legend(found.values(), found.keys(), loc="lower center", ncols=self.across, frameon=False,
                                     handlelength=2.8, borderaxespad=0.2, columnspacing=1.6)
            key.set_in_layout(False)

    def settle(self):
        """Places all once, to a millionth of the page: the last digits of what the layout finds are not the same each
        time, and names inside of an SVG are made from them."""
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")
        for axes in self.figure.axes:
            axes.set_position(np.round(axes.get_position(original=True).bounds, 6))
        self.title.set_position(np.round(self.title.get_position(), 6))

    def save(self, out, name):
        self.key()
        self.settle()
        paths = []
        for ending, facts in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
            paths.append(out / f"{name}.{ending}")
            self.figure.savefig(paths[-1], metadata=facts)
        return paths


def look(index, points=1):
    """Colour, line and mark of the index-th of some lines; of many points every eighth part of the way has a mark."""
    at = index % len(INKS)
    return {"color": INKS[at], "linestyle": LINES[at], "marker": MARKS[(at + index // len(INKS)) % len(MARKS)],
            "markevery": 1 if points < 16 else 0.12}


def band(panel, x, values, index, label, **more):
    """values [seeds, n]: their mean as a line, from least to most as a shade."""
    panel.plot(x, values.mean(0), label=label, **{**look(index, len(x)), **more})
    if len(values) > 1:
        panel.fill_between(x, values.min(0), values.max(0), color=INKS[index % len(INKS)], alpha=0.2, linewidth=0)


def bars(panel, groups):
    """groups: (label, values [seeds, blocks]) an arm; means as bars, from least to most as a line."""
    width = 0.8 / len(groups)
    for index, (label, values) in enumerate(groups):
        x, mean, at = np.arange(values.shape[1]), values.mean(0), index % len(INKS)
        spread = np.abs(np.stack([values.min(0), values.max(0)]) - mean) if len(values) > 1 else None
        panel.bar(x + (index - (len(groups) - 1) / 2) * width, mean, width, yerr=spread, label=label, color=INKS[at],
                  hatch=HATCHES[at], edgecolor="white", linewidth=0, error_kw={"elinewidth": 1.2, "capsize": 2})
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_xlabel("block")
    panel.grid(axis="x", visible=False)


def head(panel, text):
    """A panel's title, in as many lines as it takes: one is as wide as the page or half of it."""
    columns = panel.get_subplotspec().get_gridspec().ncols
    panel.set_title(textwrap.fill(text, 76 // columns))


def over_steps(panel):
    panel.set_xlabel("step")
    panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def by_depth(panel, layers):
    panel.set_xticks(range(layers + 1), ["emb.", *map(str, range(layers))])
    panel.set_xlabel("at the embedding, after block")
    if layers > 6:
        panel.tick_params(axis="x", labelsize=8)


def seeds_of(arms):
    counts = sorted({len(arm.logs) for arm in arms})
    if counts[-1:] == [1]:
        return ""
    return f" (mean, least and most of {' or '.join(map(str, counts))} seeds)"


def mean_of(arms):
    most = max(len(arm.logs) for arm in arms)
    return f" (mean of up to {most} seeds)" if most > 1 else ""


def a_panel_each(title, arms, height, labels=(), **more):
    """A page with a panel for each arm, its label on top."""
    columns = min(len(arms), 2)
    page = Page(title, math.ceil(len(arms) / columns), columns, height, labels, **more)
    for panel, arm in zip(page.panels, arms):
        head(panel, arm.label)
    return page
