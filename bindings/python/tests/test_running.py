"""Calls that run: ended from outside, calling back, in several threads, across a fork."""
import ctypes
import os
import signal
import sys
import threading

import numpy as np
import pytest
from support import large, tiny

import lib3pt
from lib3pt import _guard
from lib3pt._gate import Gate

SLOW = large(seq_len=512)


def after(seconds, function, *arguments):
    timer = threading.Timer(seconds, function, arguments)
    timer.start()
    return timer


def long_call(context=None):
    """Takes seconds where nothing ends it."""
    trainer = lib3pt.Trainer(lib3pt.Model(SLOW, 1, context=context))
    return trainer, np.zeros((16, 512), np.int32)


def until_ended(trainer, tokens, calls=50):
    for _ in range(calls):
        trainer.zero_gradients()
        trainer.accumulate(tokens, tokens)


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


class Malloc:
    def __init__(self):
        self.libc = ctypes.CDLL(None)
        self.libc.aligned_alloc.restype = ctypes.c_void_p
        self.libc.aligned_alloc.argtypes = ctypes.c_size_t, ctypes.c_size_t
        self.libc.free.argtypes = (ctypes.c_void_p,)
        self.held, self.most = 0, 0

    def allocate(self, size, alignment):
        self.held += size
        self.most = max(self.most, self.held)
        return self.libc.aligned_alloc(alignment, -(-size // alignment) * alignment)

    def release(self, address, size, alignment):
        self.held -= size
        self.libc.free(address)


def test_an_allocator_has_all_back():
    memory = Malloc()
    model = tiny(lib3pt.Context(threads=1, allocator=memory))
    decoder = lib3pt.Decoder(model)
    assert decoder.feed([1, 2]).shape == (256,)
    del model
    decoder.close()
    assert memory.most > 4 * 23936 and memory.held == 0
    assert memory not in _guard.registered.values()


def test_what_an_allocator_raises_comes_out():
    memory = Malloc()
    context = lib3pt.Context(threads=1, allocator=memory)
    memory.allocate = lambda size, alignment: 1 / 0
    with pytest.raises(ZeroDivisionError):
        tiny(context)
    memory.allocate = lambda size, alignment: None
    with pytest.raises(MemoryError):
        tiny(context)


def test_two_decoders_in_two_threads():
    model = tiny()
    expected = lib3pt.Decoder(model).feed([1, 2, 3])
    rows = {}

    def work(name):
        decoder = lib3pt.Decoder(model)
        for _ in range(200):
            decoder.rewind(0)
            rows[name] = decoder.feed([1, 2, 3])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (rows[0] == expected).all() and (rows[1] == expected).all()


def test_one_object_in_two_threads_is_refused():
    within, looked = threading.Event(), threading.Event()

    def wait(_share):
        within.set()
        looked.wait()

    context = lib3pt.Context()
    trainer, tokens = long_call(context)
    optimizer, raised = lib3pt.Optimizer(trainer), []
    context.set_progress(wait)

    def work():
        try:
            until_ended(trainer, tokens)
        except lib3pt.Error as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        within.wait()
        for call in (lambda: trainer.forward([1]), optimizer.step, trainer.zero_sum):
            with pytest.raises(lib3pt.StateError, match="in use by another call"):
                call()
        assert "in use" in repr(optimizer)
        trainer.close()  # the call that runs keeps it
    finally:
        context.cancel()
        looked.set()
    thread.join()
    assert isinstance(raised[0], lib3pt.Error) and raised[0].status in (lib3pt.Status.CANCELLED, lib3pt.Status.STATE)


def test_other_threads_run_meanwhile():
    """The interpreter's lock is released. Threads that need not take turns get it only where another one waits or has
    released it, so the one that cancels comes to its turn in the middle of a call or never."""
    context = lib3pt.Context(threads=1)
    trainer, tokens = long_call(context)
    begin = threading.Event()

    def cancel():
        begin.wait()
        context.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    turn = sys.getswitchinterval()
    sys.setswitchinterval(1e6)
    try:
        begin.set()
        with pytest.raises(lib3pt.CancelledError):
            until_ended(trainer, tokens, calls=3)
    finally:
        sys.setswitchinterval(turn)
        thread.join()


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
def test_fork():
    context = lib3pt.Context(threads=2)
    model = tiny(context)
    decoder, trainer = lib3pt.Decoder(model), lib3pt.Trainer(model)
    loss = trainer.accumulate([1, 2, 3], [2, 3, 4])
    expected = decoder.feed([1, 2, 3])
    child = os.fork()
    if child == 0:
        status = 1
        try:
            decoder.rewind(0)
            trainer.zero_gradients()
            good = (decoder.feed([1, 2, 3]) == expected).all() and trainer.accumulate([1, 2, 3], [2, 3, 4]) == loss
            good = good and (lib3pt.Decoder(tiny()).feed([1, 2, 3]) == expected).all()
            decoder.close(), trainer.close(), model.close(), context.close()
            status = 0 if good else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    decoder.rewind(0)
    assert (decoder.feed([1, 2, 3]) == expected).all()


def test_a_gate_lets_readers_in_together_and_a_writer_alone():
    gate = Gate()
    gate.enter(1, False)
    gate.enter(2, False)
    with pytest.raises(lib3pt.StateError):
        gate.enter(3, True)
    gate.leave(1)
    with pytest.raises(lib3pt.StateError):
        gate.enter(3, True)
    gate.leave(3)
    gate.leave(2)
    gate.enter(3, True)
    for exclusive in False, True:
        with pytest.raises(lib3pt.StateError):
            gate.enter(4, exclusive)
    gate.leave(4)
    with pytest.raises(lib3pt.StateError):
        gate.enter(4, True)
    gate.leave(3)
    gate.enter(4, True)


def test_what_was_made_is_given_back_where_the_call_raises():
    memory = Malloc()
    context = lib3pt.Context(threads=1, allocator=memory)
    held = memory.held
    context.set_log(lambda level, text: 1 / 0)  # the model is made, its log line raises
    with pytest.raises(ZeroDivisionError):
        tiny(context)
    assert memory.most > held and memory.held == held
