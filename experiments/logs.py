"""Log files of trainings, JSON lines: read whole, written so that a run may be killed at any moment."""
import json
import os

import training_log


def read(path):
    """The log at `path`; None where nothing was begun."""
    try:
        return training_log.Log.read(path)
    except (OSError, ValueError):
        return None


def kept(path, step):
    """The lines of a log up to a step. What came later will be written again; the last line may be half a one."""
    whole = path.read_text(encoding="utf-8").split("\n")[:-1] if step else []
    lines = [json.loads(text) for text in whole]
    return [line for line in lines if line.get("step", 0) <= step and line["kind"] != "end"]


class Writer:
    """Of a run that goes on after `step`."""

    def __init__(self, path, step):
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(path.name + ".new")
        new.write_text("".join(map(written, kept(path, step))), encoding="utf-8")
        os.replace(new, path)
        self.file = path.open("a", encoding="utf-8")

    def write(self, kind, **values):
        self.file.write(written({"kind": kind, **values}))
        self.file.flush()

    def sync(self):
        """On the disk, before a checkpoint that relies on it."""
        os.fsync(self.file.fileno())


def written(line):
    return json.dumps(line, allow_nan=False) + "\n"
