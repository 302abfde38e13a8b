"""Calls that run: ended from outside, calling back."""
import signal
import threading

import numpy as np
import pytest
from support import large, long_call, tiny, until_ended

import lib3pt
from lib3pt import _guard, _training


def after(seconds, function, *arguments):
    timer = threading.Timer(seconds, function, arguments)
    timer.start()
    return timer


@pytest.mark.parametrize("context", [None, "own", "progress"])
def test_keyboard_interrupt_ends_a_call(context):
    seen = []
    made = {None: lambda: None, "own": lambda: lib3pt.Context(threads=1),
            "progress": lambda: lib3pt.Context(progress=seen.append)}[context]()
    trainer, tokens = long_call(made)
    timer = after(0.3, signal.raise_signal, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        until_ended(trainer, tokens)
    timer.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(lib3pt.StateError):  # spoiled: it was cut in the middle
        lib3pt.Optimizer(trainer).step()
    trainer.zero_gradients()
    assert bool(seen) == (context == "progress")


def test_interrupts_at_any_moment():
    """Also at the entry of the progress function, where ctypes would drop it: no one is lost, and nothing is stuck."""
    context = lib3pt.Context(threads=1)
    trainer = lib3pt.Trainer(lib3pt.Model(large(batch=2, seq_len=64), 1, context=context))
    tokens = np.zeros((2, 64), np.int32)
    timers, got, sent = [], 0, 40
    for i in range(sent):
        timers.append(threading.Timer(0.002 + 0.0007 * i, signal.raise_signal, [signal.SIGINT]))
        try:
            timers[-1].start()
            while True:
                trainer.zero_gradients()
                trainer.accumulate(tokens, tokens)
        except KeyboardInterrupt:
            got += 1
    for timer in timers:
        timer.join()
    assert got == sent
    trainer.zero_gradients()
    trainer.accumulate(tokens, tokens)


def test_a_handler_may_use_what_it_interrupts():
    """At any step of a call on the same object."""
    optimizer = lib3pt.Optimizer(lib3pt.Trainer(tiny()))
    rung, refused = 0, 0

    def ring(number, frame):
        nonlocal rung, refused
        rung += 1
        try:
            assert optimizer.step_count == 0
        except lib3pt.StateError:
            refused += 1
        signal.setitimer(signal.ITIMER_REAL, 0.0001 + 0.000001 * (rung % 100))

    former = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0001)
        while rung < 2000:
            assert optimizer.lr >= 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    assert refused < rung
    optimizer.step()


def test_a_function_set_while_a_handler_raises_is_the_old_or_the_new_one():
    class Late(Exception):
        pass

    def ring(number, frame):
        raise Late

    context, lines = lib3pt.Context(threads=1), []
    former = signal.signal(signal.SIGALRM, ring)
    try:
        for i in range(100):
            with pytest.raises(Late):
                signal.setitimer(signal.ITIMER_REAL, 0.0002 + 0.000001 * i)
                while True:
                    context.set_log(lambda level, text: lines.append(text))
            before = len(lines)
            tiny(context)
            assert len(lines) > before
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def test_what_a_handler_raises_in_a_finalizer_waits():
    class Late(Exception):
        pass

    def ring(number, frame):
        raise Late

    decoder, former = lib3pt.Decoder(tiny()), signal.signal(signal.SIGALRM, ring)
    try:
        for then in (lambda: decoder.feed(1), decoder.close):
            _guard.finalized(signal.raise_signal, signal.SIGALRM)
            with pytest.raises(Late):
                then()
    finally:
        signal.signal(signal.SIGALRM, former)
    assert decoder.closed and not _guard.waiting


def test_what_any_handler_raises_comes_out():
    class Late(Exception):
        pass

    def ring(number, frame):
        raise Late

    former = signal.signal(signal.SIGALRM, ring)
    try:
        trainer, tokens = long_call()
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Late):
            until_ended(trainer, tokens)
        assert signal.getsignal(signal.SIGALRM) is ring
    finally:
        signal.signal(signal.SIGALRM, former)


def test_a_handler_that_raises_nothing_ends_nothing():
    seen = []
    former = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    try:
        trainer, tokens = long_call()
        timer = after(0.1, signal.raise_signal, signal.SIGUSR1)
        trainer.accumulate(tokens[:1], tokens[:1])
        timer.join()
        assert seen == [signal.SIGUSR1]
    finally:
        signal.signal(signal.SIGUSR1, former)


def test_cancel_from_another_thread():
    context = lib3pt.Context()
    trainer, tokens = long_call(context)
    timer = after(0.2, context.cancel)
    with pytest.raises(lib3pt.CancelledError, match="tpt_context_cancel"):
        until_ended(trainer, tokens)
    timer.join()
    context.cancel(False)
    trainer.zero_gradients()


def test_progress_ends_a_call():
    shares = []
    context = lib3pt.Context()
    trainer, tokens = long_call(context)
    context.set_progress(lambda done: shares.append(done) or len(shares) == 3)
    with pytest.raises(lib3pt.CancelledError, match="progress function"):
        until_ended(trainer, tokens)
    assert len(shares) == 3 and all(share != share or 0 <= share <= 1 for share in shares)


def test_what_progress_raises_comes_out():
    def fail(done):
        raise ZeroDivisionError("mine")

    context = lib3pt.Context()
    trainer, tokens = long_call(context)
    context.set_progress(fail)
    with pytest.raises(ZeroDivisionError, match="mine"):
        until_ended(trainer, tokens)
    context.set_progress(None)
    trainer.zero_gradients()


def test_what_log_raises_comes_out():
    lines = []
    context = lib3pt.Context(log=lambda level, text: lines.append((level, text)))
    model = tiny(context)
    assert lines and all(level == lib3pt.LogLevel.INFO and isinstance(text, str) for level, text in lines)
    context.set_log(lambda level, text: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        lib3pt.Trainer(model)
    context.set_log(None)
    lib3pt.Trainer(model)


def test_replaced_functions_are_released():
    class Marker:
        def __call__(self, *_):
            return None

    import weakref
    context = lib3pt.Context(log=(first := Marker()), progress=(second := Marker()))
    kept = [weakref.ref(first), weakref.ref(second)]
    del first, second
    assert all(ref() for ref in kept)
    context.set_log(None), context.set_progress(None)
    assert not any(ref() for ref in kept)
    third = Marker()
    context.set_progress(third)
    model, kept = tiny(context), weakref.ref(third)
    del third
    context.close()
    assert kept()
    del model, context
    assert not kept()


def test_calls_within_a_progress_function():
    inner = lib3pt.Decoder(tiny())
    refused = []

    def progress(done):
        inner.rewind(0)
        inner.feed([1, 2, 3])
        try:
            trainer.zero_gradients()
        except lib3pt.StateError as error:
            refused.append(str(error))
        return len(refused) == 2

    context = lib3pt.Context()
    trainer, tokens = long_call(context)
    context.set_progress(progress)
    with pytest.raises(lib3pt.CancelledError):
        trainer.accumulate(tokens, tokens)
    assert len(refused) == 2 and "in use" in refused[0]


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), lib3pt.StateError("mine", lib3pt.Status.STATE),
                                    lib3pt.NumericError("mine", lib3pt.Status.NUMERIC)], ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("made", [(1, 5), (3, 2), (2, 3), (6, 1), (1, 1)])
@pytest.mark.parametrize("is_made", [True, False])
def test_what_is_raised_in_a_forward_hides_none(monkeypatch, raised, made, is_made):
    """A handler of a signal raises what it likes, before or after the library has made another forward."""
    trainer, batch = lib3pt.Trainer(lib3pt.Model(lib3pt.Config(model={
        "vocab_size": 256, "d_model": 24, "n_q_heads": 3, "n_kv_heads": 3, "d_ff": 48, "max_seq_len": 32},
        train={"batch": 6, "seq_len": 6}), 1)), np.arange(30, dtype=np.int32)
    trainer.forward(batch[:6].reshape(2, 3))

    def interrupted(*arguments):
        if is_made:
            call(*arguments)
        raise raised

    call = _training.call
    monkeypatch.setattr(_training, "call", interrupted)
    with pytest.raises(type(raised)):
        trainer.forward(batch[:made[0] * made[1]].reshape(made))
    monkeypatch.undo()
    batches, count = made if is_made else (2, 3)
    assert trainer.logits().shape == (batches, count, 256)
    assert trainer.activation(lib3pt.Point.EMBEDDING).shape == (batches, count, 24)
    assert trainer.dc(lib3pt.Point.EMBEDDING).shape == (count,) and f"{batches} x {count} tokens" in repr(trainer)
    with pytest.raises(lib3pt.ArgumentError, match=f"targets has 7 values; the last forward, {batches} x {count}, needs"):
        trainer.loss(batch[:7])
    assert trainer.loss(batch[:batches * count]) > 0


def test_a_refused_forward_leaves_the_one_before():
    trainer = lib3pt.Trainer(tiny())
    with pytest.raises(lib3pt.StateError):
        trainer.loss([1])
    trainer.accumulate([1, 2, 3], [1, 2, 3])
    for targets in [1, 2, 3], [1]:
        with pytest.raises(lib3pt.StateError):  # an accumulate leaves nothing to take a loss of
            trainer.loss(targets)
    trainer.forward([1, 2])
    with pytest.raises(lib3pt.ArgumentError):
        trainer.forward([999])  # refused: the forward before is still there
    assert trainer.logits().shape == (1, 2, 256)
