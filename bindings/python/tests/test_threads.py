"""Several threads, and a fork."""
import os
import sys
import threading

import numpy as np
import pytest
from support import large, long_call, tiny, until_ended

import lib3pt
from lib3pt._gate import Gate


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
        assert "in use" in repr(optimizer) and "in use" in repr(trainer)
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


def test_weights_change_only_while_nobody_reads_them(tmp_path):
    """From the progress function of what reads them: there is nobody else to take turns with."""
    context = lib3pt.Context(threads=1)
    model = lib3pt.Model(large(seq_len=64), 1, context=context)
    trainer, other, decoder = lib3pt.Trainer(model), lib3pt.Trainer(model), lib3pt.Decoder(model)
    optimizer = lib3pt.Optimizer(trainer)
    tokens, name, file = np.zeros((4, 64), np.int32), model.tensors()[0].name, tmp_path / "c.safetensors"
    data, values = lib3pt.Dataset.from_tokens(tokens.reshape(-1)), model.get_tensor(name)
    trainer.accumulate(tokens, tokens)
    trainer.save_checkpoint(optimizer, file)
    writes = (optimizer.step, lambda: model.set_tensor(name, values), lambda: trainer.load_checkpoint(optimizer, file))
    reads = (lambda: model.evaluate(data, 64), lambda: other.accumulate(tokens, tokens), model.save_memory,
             lambda: decoder.feed(np.zeros(60, np.int32), logits=False), model.fold)
    refused = []

    def progress(_share):
        for write in writes:
            with pytest.raises(lib3pt.StateError, match="the model is in use by another call; its weights change, or are handed out, only"):
                write()
        refused.append(True)

    context.set_progress(progress)
    for read in reads:
        refused.clear()
        read()
        assert refused, read
    context.set_progress(None)
    for write in writes:
        write()


def test_weights_are_not_read_while_they_change():
    model = tiny()
    decoder, trainer = lib3pt.Decoder(model), lib3pt.Trainer(model)
    optimizer = lib3pt.Optimizer(trainer)
    model._gate.enter(1, True)  # as a call that writes does
    for read in (lambda: decoder.feed([1]), lambda: trainer.forward([1]), lambda: model.fold(), optimizer.step,
                 lambda: lib3pt.Decoder(model)):
        with pytest.raises(lib3pt.StateError, match="in use by another call"):
            read()
    model._gate.leave(1)
    decoder.feed([1]), trainer.forward([1]), model.fold(), optimizer.step()
