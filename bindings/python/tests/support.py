"""Encodings of bindings/conformance/README.md, and a small run."""
import json
import os
import pathlib
import struct

import numpy as np

import lib3pt

YAML = ("model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3, n_kv_heads: 3, d_ff: 48, max_seq_len: 32}\n"
        "train: {batch: 2, steps: 100, warmup: 1, lr: 1e-2}\n")


def vector(name):
    """(inputs, results) of a vector file."""
    with open(pathlib.Path(os.environ["LIB3PT_VECTORS"]) / f"{name}.json", encoding="utf-8") as file:
        made = json.load(file)
    return made["inputs"], made["results"]


def fnv(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"{value:016x}"


def hashed(array):
    return fnv(np.asarray(array).astype("<f4", copy=False).tobytes())


def file_of(data):
    return {"size": len(data), "hash": fnv(data)}


def f32(array):
    return np.asarray(array).astype("<f4", copy=False).reshape(-1).view("<u4").tolist()


def f64(value):
    return struct.pack(">d", value).hex()


def f64s(values):
    return [f64(v) for v in np.asarray(values, np.float64).reshape(-1)]


class Run:
    """A training of the scenarios, object by object."""

    def __init__(self, training, seed=None):
        self.context = lib3pt.Context(threads=training["threads"])
        self.tokenizer = lib3pt.Tokenizer.bytes(context=self.context)
        self.data = lib3pt.Dataset.from_tokens(self.tokenizer.encode(training["text"]), context=self.context)
        self.config = lib3pt.Config.parse(training["yaml"])
        self.model = lib3pt.Model(self.config, int(training["seed"] if seed is None else seed), context=self.context)
        self.trainer = lib3pt.Trainer(self.model)
        self.optimizer = lib3pt.Optimizer(self.trainer)
        self.state = int(training["random_state"])
        self.batch, self.seq = training["batch"], training["seq"]

    def accumulate(self):
        tokens, targets, self.state = self.data.random(self.state, self.batch, self.seq)
        self.trainer.zero_gradients()
        return self.trainer.accumulate(tokens, targets)

    def steps(self, count):
        """[(loss, norm)]"""
        return [(self.accumulate(), self.optimizer.step()) for _ in range(count)]


def trained(training):
    run = Run(training)
    run.steps(training["steps"])
    return run


def tiny(context=None, seed=1):
    return lib3pt.Model(lib3pt.Config.parse(YAML), seed, context=context)


def large(**train):
    """A description whose calls take long."""
    model = dict(vocab_size=512, d_model=384, n_layers=12, n_q_heads=6, n_kv_heads=3, d_ff=1024, max_seq_len=512)
    return lib3pt.Config(model=model, train={"batch": 16, **train})


def long_call(context=None):
    """Takes seconds where nothing ends it."""
    trainer = lib3pt.Trainer(lib3pt.Model(large(seq_len=512), 1, context=context))
    return trainer, np.zeros((16, 512), np.int32)


def until_ended(trainer, tokens, calls=50):
    for _ in range(calls):
        trainer.zero_gradients()
        trainer.accumulate(tokens, tokens)
