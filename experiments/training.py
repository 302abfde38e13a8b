"""One arm with one seed: trained, measured, logged, stopped and gone on with."""
import fcntl
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import binding
import describe
import logs
import measure

PART = "train.precision"  # what a run goes on with as it began, whatever is asked for now


@dataclass
class Place:
    """How far a training is: all that the checkpoint does not hold by itself."""

    random_state: int      # of the next batch: equal for all arms of a seed, so they see the same batches
    step: int = 0
    seconds: float = 0.0   # of training alone
    processor: float = 0.0 # the same in seconds of all threads together, which other work on the machine disturbs less
    outside: float = 0.0   # of evaluations, measures and checkpoints
    loss_sum: float = 0.0  # since the last step line
    loss_count: int = 0

    def times(self):
        return {"seconds": round(self.seconds, 3), "processor": round(self.processor, 3)}


class Data:
    """Token files of `experiments/data` and what about.json says of them."""

    def __init__(self, lib3pt, folder, context):
        try:
            self.about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        except OSError:
            sys.exit(f"experiments: there is no data in {folder}: run experiments/data first")
        self.train = lib3pt.Dataset.open(folder / "train.u16", context=context)
        self.held = lib3pt.Dataset.open(folder / "held.u16", context=context)

    def named(self):
        """For the log: what must be equal where losses are compared."""
        return {"tokens": len(self.train), "held": len(self.held), "vocab": self.about["vocab"],
                "unknown": self.about["held"]["unknown"], "sha256": self.about["train"]["sha256"],
                "sources": {source["package"]: source["version"] for source in self.about["sources"]}}


class Files:
    """Of one run. Checkpoint and model are large and stay in the build folder; the log is evidence."""

    def __init__(self, results, work, home, seed):
        self.log = Path(results) / f"{home}.{seed}.jsonl"
        self.lock, self.checkpoint, self.model = (Path(work) / f"{home}.{seed}.{kind}" for kind in
                                                  ("lock", "checkpoint", "safetensors"))

    def locked(self):
        """An open file that keeps another process from training the same; None where one does."""
        self.lock.parent.mkdir(parents=True, exist_ok=True)
        file = self.lock.open("w", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return None
        return file


def refused(path, what):
    sys.exit(f"experiments: {path} {what}; take it away to train anew")


def agree(path, start, settings, data):
    """A log of another description or other data says nothing about this one."""
    for key in sorted({*start["config"], *settings} - {PART}):
        was, now = start["config"].get(key), settings.get(key)
        if was != now:
            refused(path, f"was made with {key} {was}, which is {now} now")
    if start["data"]["sha256"] != data.named()["sha256"]:
        refused(path, "was made from other data")


class Training:
    def __init__(self, lib3pt, job, data, context):
        """job: name, arm, seed, every, files."""
        self.lib3pt, self.job, self.data, self.files = lib3pt, job, data, job.files
        before = logs.read(self.files.log) if self.files.checkpoint.exists() else None
        config = describe.config(lib3pt, job.settings, job.seed)
        self.machines = {binding.machine()}
        if before:
            agree(self.files.log, before.start, describe.all_keys(config), data)
            config[PART] = before.start["config"][PART]
            self.machines.update(before.start["machines"])
        self.settings, self.context = describe.all_keys(config), context
        self.check_vocabulary()
        self.model = lib3pt.Model(config, seed=job.seed, context=context)
        self.trainer = lib3pt.Trainer(self.model)
        self.optimizer = lib3pt.Optimizer(self.trainer)
        self.batch, self.seq, self.steps = (self.settings["train." + key] for key in ("batch", "seq_len", "steps"))
        self.sample = self.held_batch()
        self.at = self.place(before is not None)
        self.log = logs.Writer(self.files.log, self.at.step)
        self.log.write("start", **self.start_line())

    def check_vocabulary(self):
        room, needed = self.settings["model.vocab_size"], self.data.about["vocab"]
        if needed > room:
            sys.exit(f"experiments: the data has {needed} words, model.vocab_size is {room}")

    def held_batch(self):
        """What the geometry is measured on: the first windows of the held-out text, the same in every run."""
        count = min(self.batch, self.data.held.window_count(self.seq))
        return np.stack([self.data.held.window(i, self.seq).tokens for i in range(count)])

    def place(self, going_on):
        if not going_on:
            return Place(random_state=self.job.seed)
        user = self.trainer.load_checkpoint(self.optimizer, self.files.checkpoint)
        return Place(**json.loads(user))

    def start_line(self):
        return {"name": f"{self.job.home}.{self.job.seed}", "config": self.settings, "seed": self.job.seed,
                "build": self.lib3pt.build_info(), "machines": sorted(self.machines), "threads": self.context.threads,
                "data": self.data.named(), "steps": self.steps, "step": self.at.step,
                "parameters": int(self.model.parameters().size)}

    # ---- a step ----

    def train_step(self):
        began, used, at = time.perf_counter(), time.process_time(), self.at
        rate = self.optimizer.lr
        tokens, targets, at.random_state = self.data.train.random(at.random_state, self.batch, self.seq)
        self.trainer.zero_gradients()
        at.loss_sum += self.trainer.accumulate(tokens, targets)
        norm = self.optimizer.step()
        at.loss_count += 1
        at.step += 1
        at.seconds += time.perf_counter() - began
        at.processor += time.process_time() - used
        if self.due("step_every"):
            self.write_step(rate, norm)

    def due(self, key):
        every = self.job.every[key]
        return self.at.step == self.steps or (every > 0 and self.at.step % every == 0)

    def write_step(self, rate, norm):
        at = self.at
        self.log.write("step", step=at.step, tokens=at.step * self.batch * self.seq, **at.times(),
                       loss=at.loss_sum / at.loss_count, lr=rate, norm=norm)
        at.loss_sum, at.loss_count = 0.0, 0

    # ---- what is no training ----

    def look(self):
        """Evaluation and geometry where they are due. True: a checkpoint is due as well."""
        began = time.perf_counter()
        if self.due("geometry_every"):
            self.log.write("geometry", step=self.at.step,
                           **measure.geometry(self.lib3pt, self.trainer, self.sample))
        evaluated = self.due("eval_every")
        if evaluated:
            self.evaluate()
        self.at.outside += time.perf_counter() - began
        return evaluated

    def evaluate(self):
        got = self.model.evaluate(self.data.held, self.seq, self.job.every["held_windows"])
        self.log.write("held", step=self.at.step, **self.at.times(), loss=got.loss,
                       perplexity=got.perplexity, tokens=got.tokens)
        self.job.say(f"step {self.at.step} of {self.steps}: held-out perplexity {got.perplexity:.2f}, "
                     f"{self.at.seconds:.0f} s")

    def save(self):
        began = time.perf_counter()
        self.log.sync()
        self.trainer.save_checkpoint(self.optimizer, self.files.checkpoint, json.dumps(asdict(self.at)).encode())
        self.at.outside += time.perf_counter() - began

    def run(self, stop):
        """True when it is done; False where stop() said so, after a checkpoint."""
        if self.at.step == 0:
            self.look()
        while self.at.step < self.steps:
            self.train_step()
            evaluated, stopped = self.look(), stop()
            if evaluated or stopped:
                self.save()
            if stopped and self.at.step < self.steps:
                return False
        self.finish()
        return True

    def finish(self):
        """The order matters: what is done has its last line, and what has none still has its checkpoint."""
        self.model.save(self.files.model)
        self.log.write("end", step=self.at.step, **self.at.times(), outside=round(self.at.outside, 3),
                       **measure.at_end(self.lib3pt, self.trainer, self.sample))
        self.log.sync()
        os.remove(self.files.checkpoint)
