"""Descriptions of experiments: NAME.yaml over a base of settings. README.md says what stands in them."""
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional

import yaml

from binding import HERE

ALL = ("main", "phases", "dc", "rotation", "ablation", "stabilization", "schedule")
SIZES = {"paper": None, "tiny": "tiny.yaml"}  # a base in place of the description's own
KEYS = {"title", "question", "paper", "base", "steps", "seeds", "reference", "arms", "findings", "tables", "pictures"}
ARM_KEYS = {"name", "label", "set", "same", "seeds", "paper", "parameters"}
NEEDED = {"title", "question", "base", "steps", "seeds", "reference", "arms"}


@dataclass(frozen=True)
class Arm:
    name: str
    label: str
    settings: Dict[str, Any]       # keys of the model's description
    seeds: List[int]
    home: str                      # EXPERIMENT/ARM, which names its files: another's where it is the same as that
    paper: Optional[float] = None  # the paper's perplexity
    parameters: Optional[int] = None


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    question: str
    steps: int
    every: Dict[str, int]  # the base's section `log`
    reference: str         # the arm that the others are compared with
    arms: List[Arm]
    paper: str = ""
    findings: List[Dict[str, Any]] = field(default_factory=list)
    tables: List[str] = field(default_factory=list)
    pictures: List[str] = field(default_factory=list)

    def arm(self, name):
        for arm in self.arms:
            if arm.name == name:
                return arm
        wrong(self.name, f"there is no arm {name}; its arms are {', '.join(a.name for a in self.arms)}")


def wrong(where, what):
    sys.exit(f"experiments: {where}: {what}")


def read(path):
    try:
        made = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        wrong(path, f"{error.strerror}; the experiments here are {', '.join(ALL)}")
    except yaml.YAMLError as error:
        wrong(path, f"no YAML: {error}")
    if not isinstance(made, dict):
        wrong(path, "a description has keys and values")
    return made


def file_of(name):
    """NAME stands for this folder's NAME.yaml; a description of one's own is given as a path."""
    return Path(name) if name.endswith(".yaml") else HERE / f"{name}.yaml"


def flat(section, before=""):
    """{model: {dc: {tau: 2}}} as {model.dc.tau: 2}."""
    found = {}
    for key, value in section.items():
        inner = flat(value, f"{before}{key}.") if isinstance(value, dict) else {before + key: value}
        found.update(inner)
    return found


def check_keys(where, given, allowed, needed):
    for key in sorted(set(given) - allowed):
        wrong(where, f"{key} is not known; {', '.join(sorted(allowed))} are")
    for key in sorted(needed - set(given)):
        wrong(where, f"{key} is missing")


def settings_of(base, steps, own):
    given = {**flat({part: base[part] for part in ("model", "train")}), "train.steps": steps}
    return {**given, **(own or {})}


def arm_of(name, made, own, base, size):
    """One entry of `arms`; one that is the same as another experiment's has that one's settings and files."""
    check_keys(f"{name}, an arm", own, ARM_KEYS, {"name", "label"})
    if "same" in own:
        other, _, arm = own["same"].partition("/")
        theirs = load(other, size)
        if theirs.steps != steps_of(made, base):
            wrong(name, f"arm {own['name']} is {own['same']}, which trains {theirs.steps} steps, not {made['steps']}")
        settings, home = theirs.arm(arm).settings, theirs.arm(arm).home
    else:
        settings, home = settings_of(base, steps_of(made, base), own.get("set")), f"{name}/{own['name']}"
    return Arm(own["name"], own["label"], settings, own.get("seeds", made["seeds"]), home, own.get("paper"),
               own.get("parameters"))


def steps_of(made, base):
    return base.get("steps", made["steps"])


def base_of(path, name, size):
    """Beside the description, else in this folder."""
    beside = path.parent / name
    return HERE / SIZES[size] if SIZES[size] else beside if beside.exists() else HERE / name


def load(given, size="paper"):
    path = file_of(given)
    made = read(path)
    check_keys(path, made, KEYS, NEEDED)
    base = read(base_of(path, made["base"], size))
    check_keys(made["base"], base, {"model", "train", "log", "steps"}, {"model", "train", "log"})
    arms = [arm_of(path.stem, made, own, base, size) for own in made["arms"]]
    more = {key: made[key] for key in ("paper", "findings", "tables", "pictures") if key in made}
    experiment = Experiment(path.stem, made["title"], made["question"].strip(), steps_of(made, base), base["log"],
                            made["reference"], arms, **more)
    experiment.arm(experiment.reference)
    return experiment


def config(lib3pt, settings, seed=1):
    """The library's description of an arm, checked."""
    made = lib3pt.Config()
    for key, value in {**settings, "train.seed": seed}.items():
        made.set(key, value)
    made.check()
    return made


def all_keys(made):
    """Every key of a library's description with its value, flat, for the log."""
    return {key: made[key] for key in flat(yaml.safe_load(made.format()))}
