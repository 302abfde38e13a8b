"""The settings of a context change while no call runs on what was made from it, and at no other time."""
import gc
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from support import YAML, tiny

import lib3pt
from lib3pt._gate import Family, Gate
from lib3pt._guard import Watch

LONG = YAML.replace("max_seq_len: 32", "max_seq_len: 4096")
TEXT = "Three phases turn and sum to zero. " * 2000
NUMBERS = " ".join(str(i * i) for i in range(40000))


class Heap:
    def allocate(self, size, alignment):
        raise MemoryError

    release = allocate


SETTINGS = {"threads": lambda c: setattr(c, "threads", 1), "log": lambda c: c.set_log(None),
            "progress": lambda c: c.set_progress(None), "allocator": lambda c: c.set_allocator(Heap())}


class Stage:
    def __init__(self, context):
        self.context, self.config = context, lib3pt.Config.parse(LONG)
        self.config["train.seq_len"] = 1024
        self.model = lib3pt.Model(self.config, 1, context=context)
        self.trainer = lib3pt.Trainer(self.model)
        self.optimizer = lib3pt.Optimizer(self.trainer)
        self.decoder, self.folded = lib3pt.Decoder(self.model), lib3pt.Decoder(self.model.fold())
        self.tokens = np.zeros(4096, np.int32)
        self.data = lib3pt.Dataset.from_tokens(self.tokens, context=context)
        self.tokenizer = lib3pt.Tokenizer.bpe(TEXT[:200], 300, context=context)


def accumulate(stage):
    tokens = stage.tokens[:2048].reshape(2, -1)
    stage.trainer.zero_gradients()
    stage.trainer.accumulate(tokens, tokens)


CALLS = {
    "accumulate": accumulate,
    "feed": lambda s: s.decoder.feed(s.tokens), "score": lambda s: s.decoder.score(s.tokens),
    "feed a fold": lambda s: s.folded.feed(s.tokens),
    "feed a copy": lambda s: s.decoder.copy().feed(s.tokens),
    "evaluate": lambda s: s.model.evaluate(s.data, 1024),
    "model": lambda s: lib3pt.Model(lib3pt.Config(), 1, context=s.context),
    "learn": lambda s: lib3pt.Tokenizer.bpe(NUMBERS, 2000, context=s.context),
    "encode": lambda s: s.tokenizer.encode(TEXT * 20)}


@pytest.mark.parametrize("name", CALLS)
def test_not_in_a_progress_function(name):
    context = lib3pt.Context(threads=2)
    stage, refused = Stage(context), []

    def progress(_done):
        for change in SETTINGS.values():
            with pytest.raises(lib3pt.StateError, match="context is in use by another call; its settings change only"):
                change(context)
            refused.append(change)
        assert context.threads == 2
        context.cancel()  # at any time

    context.set_progress(progress)
    with pytest.raises(lib3pt.CancelledError):
        CALLS[name](stage)
    assert set(SETTINGS.values()) == set(refused)
    context.cancel(False)
    context.threads = 1
    context.set_progress(None)
    CALLS[name](stage)


@pytest.mark.parametrize("setting", SETTINGS)
def test_not_from_another_thread(setting):
    within, looked, ended = threading.Event(), threading.Event(), []
    context = lib3pt.Context(threads=2)
    stage = Stage(context)

    def progress(_done):
        within.set()
        looked.wait()

    def work():
        try:
            CALLS["accumulate"](stage)
        except lib3pt.CancelledError as error:
            ended.append(error)

    context.set_progress(progress)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        within.wait()
        with pytest.raises(lib3pt.StateError, match="anything made from it"):
            SETTINGS[setting](context)
        stage.decoder.feed([1, 2])  # what was asked before the refusal is free again
        stage.trainer.close()  # still in its call
        with pytest.raises(lib3pt.StateError, match="anything made from it"):
            SETTINGS[setting](context)
    finally:
        context.cancel()
        looked.set()
        thread.join()
    assert len(ended) == 1
    context.threads = 1


def test_a_call_on_another_context_is_no_obstacle():
    other, context = lib3pt.Context(threads=1), lib3pt.Context()
    stage, counts = Stage(context), []

    def progress(_done):
        other.threads = 2
        counts.append(other.threads)

    context.set_progress(progress)
    CALLS["evaluate"](stage)
    assert set(counts) == {2}


def test_settings_while_others_decode():
    """Each call ends well or is refused, whatever comes between."""
    context = lib3pt.Context(threads=2)
    model, stop, said = tiny(context), threading.Event(), []

    def work():
        decoder = lib3pt.Decoder(model)
        while not stop.is_set():
            try:
                decoder.rewind()
                decoder.feed([1, 2, 3], logits=False)
            except lib3pt.StateError as error:
                said.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    changed = 0
    for i in range(2000):
        try:
            context.threads = 1 + i % 2
            changed += 1
        except lib3pt.StateError as error:
            said.append(str(error))
    stop.set()
    for thread in threads:
        thread.join()
    context.threads = 1
    assert changed + len(said) >= 2000 and all("in use by another call" in text for text in said)


AT_THE_END = """
import threading
import lib3pt
from test_settings import Heap
context = lib3pt.Context(threads=1)
made = lib3pt.Tokenizer.bytes(context=context)
try:
    context.set_allocator(Heap())
except lib3pt.StateError:
    threading.current_thread().kept = context  # goes after the modules
"""


def test_an_allocator_at_the_end_of_the_process():
    run = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True,
                         cwd=pathlib.Path(__file__).parent)
    assert (run.stdout, run.stderr, run.returncode) == ("", "", 0)


def test_a_family_is_taken_whole_or_not_at_all():
    family = Family("in use by another call, all of it")
    within = Family("in use by another call", family)
    first, second = within.child(), within.child().child()
    second.enter(1, False)
    with pytest.raises(lib3pt.StateError):
        family.enter(2, True)
    first.enter(3, True)
    first.leave(3), second.leave(1)
    family.enter(4, True)
    late = family.child()
    for gate in first, second, late, within, family:
        with pytest.raises(lib3pt.StateError, match="in use by another call"):
            gate.enter(5, False)
    family.leave(4)
    for gate in first, second, late, within:
        gate.enter(6, True)
        gate.leave(6)
    first.enter(7, True)
    within.enter(7, True)  # who has one of them may take all
    with pytest.raises(lib3pt.StateError, match="all of it"):
        family.enter(8, True)
    within.leave(7)
    first.enter(8, True)
    first.leave(8)
    family.enter(9, True)


def test_a_family_forgets_what_is_gone():
    family = Family("busy")
    kept = [family.child() for _ in range(3)]
    del kept[0]
    gc.collect()
    assert len(family._members) == 2
    Gate().child().enter(1, True)  # of a description: of no family
    family.enter(2, True)


@pytest.mark.parametrize("name", ["threads", "sample", "copy"])
def test_an_interrupt_between_two_steps_leaves_nothing_in_use(name):
    class Late(Exception):
        pass

    def ring(number, frame):
        raise Late

    context = lib3pt.Context(threads=1)
    decoder = lib3pt.Decoder(tiny(context))
    other = lib3pt.Decoder(decoder.model)
    decoder.feed(1, logits=False)
    call = {"threads": lambda: SETTINGS["threads"](context), "sample": decoder.sample,
            "copy": lambda: decoder.copy_to(other)}[name]
    former = signal.signal(signal.SIGALRM, ring)
    try:
        for i in range(150):
            with pytest.raises(Late):
                signal.setitimer(signal.ITIMER_REAL, 0.0003 + 0.000001 * i)
                while True:
                    call()
            call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


class Lines(list):
    def __call__(self, level, text):
        self.append(text)


def test_a_function_that_counts_as_false_is_one():
    lines = Lines()
    tiny(lib3pt.Context(log=lines))
    assert len(lines) == 1


class Empty(Exception):
    def __len__(self):
        return 0


def test_an_exception_that_counts_as_false_is_kept():
    watch, first = Watch(), Empty()
    watch.keep(first), watch.keep(ValueError())
    assert watch.kept is first
