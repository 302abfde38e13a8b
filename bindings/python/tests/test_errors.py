"""Every status that can be provoked, with C's message and the exception's kind."""
import copy
import ctypes
import os
import pickle

import numpy as np
import pytest
from support import vector

import lib3pt

pytestmark = pytest.mark.skipif("LIB3PT_VECTORS" not in os.environ, reason="LIB3PT_VECTORS names no folder")

WEIGHTS = "blocks.1.attn.q.weight"
NATURAL = {1: ValueError, 2: MemoryError, 3: OSError, 4: ValueError, 5: ValueError, 6: RuntimeError,
           7: NotImplementedError, 8: ArithmeticError, 9: lib3pt.CancelledError}


class Budget:
    """An allocator that never gives more than so many bytes in all at a time."""

    def __init__(self, most):
        self.left, self.blocks = most, {}

    def allocate(self, size, alignment):
        if size > self.left:
            return None
        self.left -= size
        block = ctypes.create_string_buffer(size + alignment)
        at = -(-ctypes.addressof(block) // alignment) * alignment
        self.blocks[at] = block
        return at

    def release(self, address, size, alignment):
        self.left += size
        del self.blocks[address]


class Stage:
    def __init__(self, inputs):
        self.context = lib3pt.Context(threads=inputs["threads"])
        self.config, self.seed = lib3pt.Config.parse(inputs["yaml"]), int(inputs["seed"])
        self.tokenizer = lib3pt.Tokenizer.bytes(context=self.context)
        self.dataset = lib3pt.Dataset.from_tokens(self.tokenizer.encode(inputs["text"]), context=self.context)
        self.model = lib3pt.Model(self.config, self.seed, context=self.context)
        self.trainer = lib3pt.Trainer(self.model)
        self.optimizer = lib3pt.Optimizer(self.trainer)
        self.decoder = lib3pt.Decoder(self.model)
        self.other = lib3pt.Context(threads=1)

    def weights(self, value):
        width = self.config["model.d_model"]
        self.model.set_tensor(WEIGHTS, np.full((width, width), value))

    def spoil(self):
        self.context.cancel()
        with pytest.raises(lib3pt.CancelledError):
            self.trainer.accumulate([1, 2, 3], [2, 3, 4])
        self.context.cancel(False)

    def before(self, name):
        {"cancel": self.context.cancel, "forward": lambda: self.trainer.forward([1, 2, 3]),
         "loss": lambda: self.trainer.loss([2, 3, 4]), "backward": self.trainer.backward,
         "feed": lambda: self.decoder.feed([1]), "rewind": lambda: self.decoder.rewind(1),
         "convert": lambda: setattr(self, "model", self.model.convert("int8")),
         "fold": lambda: setattr(self, "model", self.model.fold()), "nan": lambda: self.weights(np.nan),
         "weights": lambda: self.weights(0), "spoil": self.spoil}[name]()


def batch(w, key="tokens"):
    return np.reshape(w[key], (w["batch"], w["seq"]))


def within(s, w):
    s.other.set_allocator(Budget(w["budget"]))
    lib3pt.Model(lib3pt.Config.preset(w["preset"]), 1, context=s.other)


def check_changed(s, w):
    s.config[w["key"]] = w["value"]
    s.config.check()


# name: (the stage's object that is the first argument, the call)
CALLS = {
    "check_version": (None, lambda s, w: lib3pt.check_version(w["major"], w["minor"], w["patch"])),
    "config_preset": (None, lambda s, w: lib3pt.Config.preset(w["preset"])),
    "config_parse": (None, lambda s, w: lib3pt.Config.parse(w["yaml"])),
    "config_load": (None, lambda s, w: lib3pt.Config.load(w["path"])),
    "model_load": ("context", lambda s, w: lib3pt.Model.load(w["path"], context=s.context)),
    "model_save": ("model", lambda s, w: s.model.save(w["path"])),
    "checkpoint_save": ("trainer", lambda s, w: s.trainer.save_checkpoint(s.optimizer, w["path"])),
    "checkpoint_load": ("trainer", lambda s, w: s.trainer.load_checkpoint(s.optimizer, w["path"])),
    "dataset_open": ("context", lambda s, w: lib3pt.Dataset.open(w["path"], context=s.context)),
    "tokenizer_load": ("context", lambda s, w: lib3pt.Tokenizer.load(w["path"], context=s.context)),
    "config_set": ("config", lambda s, w: s.config.set(w["key"], w["value"])),
    "config_get": ("config", lambda s, w: s.config.get(w["key"])),
    "config_check": ("config", check_changed),
    "context_set_threads": ("context", lambda s, w: setattr(s.context, "threads", w["threads"])),
    "context_set_allocator": ("other", lambda s, w: s.other.set_allocator(Budget(w["budget"]))),
    "context_set_allocator_late": ("context", lambda s, w: s.context.set_allocator(Budget(1 << 40))),
    "model_create_within": ("other", within),
    "model_create": ("context", lambda s, w: lib3pt.Model(s.config, s.seed, context=s.context)),
    "model_load_memory": ("context", lambda s, w: lib3pt.Model.load_memory(w["text"].encode(), context=s.context)),
    "model_convert": ("model", lambda s, w: s.model.convert(w["precision"])),
    "model_fold": ("model", lambda s, w: s.model.fold()),
    "model_save_memory": ("model", lambda s, w: s.model.save_memory()),
    "trainer_create": ("model", lambda s, w: lib3pt.Trainer(s.model)),
    "model_get_tensor": ("model", lambda s, w: s.model.get_tensor(w["tensor"])),
    "trainer_forward": ("trainer", lambda s, w: s.trainer.forward(batch(w))),
    "trainer_accumulate": ("trainer", lambda s, w: s.trainer.accumulate(batch(w), batch(w, "targets"))),
    "trainer_loss": ("trainer", lambda s, w: s.trainer.loss(w["targets"])),
    "trainer_logits": ("trainer", lambda s, w: s.trainer.logits()),
    "trainer_backward": ("trainer", lambda s, w: s.trainer.backward()),
    "optimizer_step": ("optimizer", lambda s, w: s.optimizer.step()),
    "decoder_sample": ("decoder", lambda s, w: s.decoder.sample()),
    "geometry_zero_sum": ("trainer", lambda s, w: s.trainer.zero_sum()),
    "trainer_get_gradient": ("trainer", lambda s, w: s.trainer.get_gradient(w["tensor"])),
    "trainer_activation": ("trainer", lambda s, w: s.trainer.activation(w["point"], w["layer"])),
    "geometry_phase_means": ("trainer", lambda s, w: s.trainer.phase_means(w["point"], w["layer"])),
    "optimizer_set_lr": ("optimizer", lambda s, w: setattr(s.optimizer, "lr", float(w["lr"]))),
    "decoder_create": ("model", lambda s, w: lib3pt.Decoder(s.model, w["max_positions"])),
    "decoder_feed": ("decoder", lambda s, w: s.decoder.feed(w["tokens"])),
    "decoder_score": ("decoder", lambda s, w: s.decoder.score(w["tokens"])),
    "decoder_feed_many_twice": ("decoder", lambda s, w: lib3pt.Decoder.feed_many([s.decoder] * 2, [w["token"]] * 2)),
    "decoder_rewind": ("decoder", lambda s, w: s.decoder.rewind(w["position"])),
    "decoder_set_sampling": ("decoder", lambda s, w: s.decoder.set_sampling(
        float(w["temperature"]), w["top_k"], float(w["top_p"]), int(w["seed"]))),
    "dataset_from_tokens": ("context", lambda s, w: lib3pt.Dataset.from_tokens(w["tokens"], context=s.context)),
    "dataset_random": ("dataset", lambda s, w: s.dataset.random(1, w["batch"], w["seq"])),
    "dataset_window": ("dataset", lambda s, w: s.dataset.window(w["index"], w["seq"])),
    "dataset_window_count": ("dataset", lambda s, w: s.dataset.window_count(w["seq"])),
    "evaluate": ("model", lambda s, w: s.model.evaluate(s.dataset, w["seq"], w["max_windows"])),
    "tokenizer_words": ("context", lambda s, w: lib3pt.Tokenizer.words(w["text"], w["vocab"], context=s.context)),
    "tokenizer_bpe": ("context", lambda s, w: lib3pt.Tokenizer.bpe(w["text"], w["vocab"], context=s.context)),
    "tokenizer_parse": ("context", lambda s, w: lib3pt.Tokenizer.parse(w["json"], context=s.context)),
    "tokenizer_decode": ("tokenizer", lambda s, w: s.tokenizer.decode(w["ids"])),
    "tokenizer_id": ("tokenizer", lambda s, w: s.tokenizer.id(w["token"])),
    "tokenizer_token": ("tokenizer", lambda s, w: s.tokenizer.token(w["id"])),
    "geometry_dc_profile": ("model", lambda s, w: s.model.dc_profile(w["first"], w["count"])),
    "geometry_theta": ("model", lambda s, w: s.model.theta(w["layer"])),
    "geometry_drift": ("model", lambda s, w: s.model.drift(w["layer"])),
    "geometry_angles": ("model", lambda s, w: s.model.angles(w["layer"], w["phase"])),
}


def cases():
    if "LIB3PT_VECTORS" not in os.environ:
        return []
    inputs, results = vector("errors")
    return [pytest.param(inputs, what, expected, id=what["name"])
            for what, expected in zip(inputs["cases"], results["cases"])]


@pytest.mark.parametrize("inputs, what, expected", cases())
def test_error(inputs, what, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stage = Stage(inputs)
    for name in what["before"]:
        stage.before(name)
    first, call = CALLS[what["call"]]
    with pytest.raises(lib3pt.Error) as failed:
        call(stage, what)
    assert (failed.value.status, str(failed.value)) == (expected["status"], expected["message"])
    assert isinstance(failed.value, NATURAL[expected["status"]])
    assert lib3pt.error_message() == expected["message"]
    assert failed.value.status_name == "TPT_E_" + failed.value.status.name
    if first:
        assert getattr(stage, first).last_error == expected["message"]


@pytest.mark.parametrize("copied", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_errors_go_from_process_to_process(copied):
    with pytest.raises(lib3pt.FileError) as failed:
        lib3pt.Model.load("nowhere")
    again = copied(failed.value)
    assert (type(again), str(again), again.status) == (lib3pt.FileError, str(failed.value), lib3pt.Status.IO)


@pytest.mark.parametrize("kind", lib3pt.Error.__subclasses__())
def test_every_error_goes_so(kind):
    again = pickle.loads(pickle.dumps(kind("said", 3)))
    assert (type(again), again.message, again.status) == (kind, "said", 3)


@pytest.mark.parametrize("given", ["x", 1.5, []])
def test_an_allocator_that_gives_no_address(given):
    class Wrong:
        released = 0

        def allocate(self, size, alignment):
            return given

        def release(self, address, size, alignment):
            Wrong.released += 1

    with pytest.raises(TypeError, match="address is .*; a whole number is allowed"):
        lib3pt.Context(threads=1, allocator=Wrong())
    assert Wrong.released == 0
