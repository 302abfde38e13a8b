"""What closes, what stays, what is lent; nothing leaks."""
import copy
import ctypes
import gc
import pickle
import sys

import numpy as np
import pytest
from support import YAML, tiny

import lib3pt
from lib3pt import _guard


def all_kinds():
    context = lib3pt.Context(threads=1)
    model = tiny(context)
    trainer = lib3pt.Trainer(model)
    return [context, lib3pt.Config.parse(YAML), model, trainer, lib3pt.Optimizer(trainer), lib3pt.Decoder(model),
            lib3pt.Dataset.from_tokens([1, 2, 3], context=context), lib3pt.Tokenizer.bytes(context=context)]


USES = [lambda c: c.threads, lambda c: c.format(), lambda m: m.parameters(), lambda t: t.forward([1]),
        lambda o: o.step(), lambda d: d.feed(1), lambda d: len(d), lambda t: t.encode("a")]


def test_use_after_close_raises():
    for made, use in zip(all_kinds(), USES):
        use(made)
        assert not made.closed
        made.close()
        made.close()
        assert made.closed and "closed" in repr(made)
        with pytest.raises(lib3pt.StateError, match=f"this {type(made).__name__} is closed"):
            use(made)
        with pytest.raises(lib3pt.StateError), made:
            pass


def test_with_closes():
    for made in all_kinds():
        with made as same:
            assert same is made
        assert made.closed


def test_parents_may_go_first():
    context = lib3pt.Context(threads=1)
    model = tiny(context)
    trainer, decoder = lib3pt.Trainer(model), lib3pt.Decoder(model)
    optimizer = lib3pt.Optimizer(trainer)
    context.close()
    model.close()
    assert decoder.feed([1, 2]).shape == (256,)
    trainer.accumulate([1, 2, 3], [2, 3, 4])
    trainer.close()
    assert optimizer.step() > 0


def test_closed_objects_are_no_arguments():
    model = tiny()
    model.close()
    with pytest.raises(lib3pt.StateError, match="this Model is closed"):
        lib3pt.Trainer(model)
    decoders = [lib3pt.Decoder(tiny()), lib3pt.Decoder(tiny())]
    decoders[1].close()
    with pytest.raises(lib3pt.StateError, match="this Decoder is closed"):
        lib3pt.Decoder.feed_many(decoders, [1, 2])


def test_views_keep_the_memory():
    model = tiny()
    trainer = lib3pt.Trainer(model)
    weights, gradients, parts = model.parameters(), trainer.gradients(), model.state_dict(copy=False)
    expected = weights.copy()
    model.close()
    trainer.close()
    del model, trainer
    gc.collect()
    others = [tiny(seed=i) for i in range(5)]
    assert (weights == expected).all() and not gradients.any()
    assert len(others) == 5 and sum(part.size for part in parts.values()) == weights.size


def test_views_are_the_memory_itself():
    model = tiny()
    first = model.tensors()[0]
    model.parameters()[0] = 7
    assert model.get_tensor(first.name).flat[0] == 7
    model.state_dict(copy=False)[first.name].flat[0] = 8
    assert model.parameters()[0] == 8
    model.state_dict()[first.name].flat[0] = 9
    assert model.parameters()[0] == 8


def test_copies_stay():
    decoder = lib3pt.Decoder(tiny())
    first = decoder.feed(1)
    expected = first.copy()
    decoder.feed(2)
    assert (first == expected).all() and first.flags.owndata


def test_lent_until_the_next_call():
    decoder = lib3pt.Decoder(tiny())
    expected = lib3pt.Decoder(decoder.model).feed([1, 2])
    lent = decoder.feed([1, 2], copy=False)
    assert isinstance(lent, lib3pt.Borrowed) and lent.shape == (256,) and len(lent) == 256
    assert (np.asarray(lent) == expected).all() and lent[3] == expected[3] and np.argmax(lent) == expected.argmax()
    assert not lent.numpy().flags.writeable and (lent.copy() == expected).all()
    decoder.sample()
    for look in (lambda: lent[0], lambda: np.asarray(lent), lent.copy, lambda: np.add(lent, 1)):
        with pytest.raises(lib3pt.StateError, match="lent until the next call on the Decoder"):
            look()


def test_lent_by_a_closed_object():
    decoder = lib3pt.Decoder(tiny())
    lent = decoder.feed(1, copy=False)
    looked, expected = np.asarray(lent), lent.copy()
    decoder.close()
    with pytest.raises(lib3pt.StateError):
        lent.numpy()
    del decoder, lent
    gc.collect()
    assert (looked == expected).all()


def test_lent_by_trainers_and_many():
    trainer = lib3pt.Trainer(tiny())
    optimizer = lib3pt.Optimizer(trainer)
    trainer.forward([1, 2, 3])
    logits = trainer.logits(copy=False)
    assert logits.shape == (1, 3, 256) and logits.copy().shape == logits.shape
    activation = trainer.activation(lib3pt.Point.BLOCK, 1, copy=False)
    assert activation.numpy().shape == (1, 3, 24)
    with pytest.raises(lib3pt.StateError, match="Trainer"):
        logits.numpy()
    optimizer.step()
    with pytest.raises(lib3pt.StateError, match="Trainer"):
        activation.numpy()
    decoders = [lib3pt.Decoder(trainer.model) for _ in range(3)]
    lent = lib3pt.Decoder.feed_many(decoders, [1, 2, 3], copy=False)
    decoders[1].position
    assert lent[0].copy().shape == (256,) and lent[2].copy().shape == (256,)
    with pytest.raises(lib3pt.StateError):
        lent[1].copy()


def test_pickle_and_copy_refuse_with_a_sentence():
    for made in all_kinds():
        article = "an" if isinstance(made, lib3pt.Optimizer) else "a"
        with pytest.raises(TypeError, match=f"^{article} {type(made).__name__} cannot be pickled"):
            pickle.dumps(made)
    config = lib3pt.Config.parse(YAML)
    for copied in copy.copy(config), copy.deepcopy([config])[0]:
        assert copied.format() == config.format()
        copied["train.batch"] = 7
    assert config["train.batch"] == 2


def test_what_comes_from_closed_objects_works_on():
    """The library keeps what it needs; only the closed objects themselves are refused."""
    context = lib3pt.Context()
    model = tiny(context)
    decoder = lib3pt.Decoder(model)
    expected = decoder.feed([1, 2])
    context.close()
    assert model.fold().config["model.d_model"] == 24 and model.convert("bf16").tensor_count > 0
    model.close()
    copied = decoder.copy()
    decoder.close()
    copied.rewind(0)
    assert (copied.feed([1, 2]) == expected).all()
    for made in lambda: lib3pt.Decoder(model), model.fold:
        with pytest.raises(lib3pt.StateError, match="this Model is closed"):
            made()


def test_a_derived_class_that_was_not_made_says_so():
    class Mine(lib3pt.Model):
        def __init__(self):
            pass

    for use in (lambda m: m.theta(0), lambda m: m.tensor_count, lib3pt.Decoder, lambda m: m.fold()):
        with pytest.raises(lib3pt.StateError, match="this Mine was not made: its __init__ must call that of Model"):
            use(Mine())
    Mine().close()
    assert "closed" in repr(Mine())


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks",
                                                     "fsmblks", "uordblks", "fordblks", "keepcost")]


LEAST_BLOCK = 16  # of Python's own allocator


def bytes_in_use():
    """What malloc, in all its arenas, and Python have given out. Not resident memory, which comes and goes by megabytes
    with nothing lost."""
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError):
        pytest.skip("malloc's bytes in use are known by glibc 2.33 and later only")
    mallinfo2.restype = Mallinfo2
    gc.collect()
    info = mallinfo2()
    return info.uordblks + info.hblkhd + LEAST_BLOCK * sys.getallocatedblocks()


SETTLING, CYCLES, WINDOWS = 250, 1000, 3
MOST_A_CYCLE = 4  # bytes, half an entry of a list
SURELY = 256  # bytes a cycle that are a leak without a second look


def growth(once, cycles):
    before = bytes_in_use()
    for _ in range(cycles):
        once()
    return bytes_in_use() - before


def leaks(once):
    """The growth of each window if it is too much in all. What malloc keeps of freed blocks settles; a list grows by
    leaps, so each window is twice the last: one more entry a cycle is a leap in each."""
    growth(once, SETTLING)
    grown = []
    for cycles in (CYCLES << window for window in range(WINDOWS)):
        grown.append(growth(once, cycles))
        if grown[-1] <= MOST_A_CYCLE * cycles:
            return []
        if grown[-1] > SURELY * cycles:
            break
    return grown


def cycle(context):
    model = tiny(context)
    trainer = lib3pt.Trainer(model)
    optimizer, decoder = lib3pt.Optimizer(trainer), lib3pt.Decoder(model)
    view, lent = model.parameters(), decoder.feed(1, copy=False)
    with pytest.raises(lib3pt.Error):
        lib3pt.Config.parse("model: {d_model: 25}")
    with lib3pt.Context(threads=1, progress=lambda done: False, log=lambda level, text: None) as own:
        lib3pt.Tokenizer.bytes(context=own).encode("abc")
    return optimizer, view, lent


def test_a_thousand_cycles_leave_nothing():
    with lib3pt.Context(threads=1) as context:
        cycle(context)
        gc.collect()
        entries = len(_guard.registered)
        assert leaks(lambda: cycle(context)) == []
        gc.collect()
        assert len(_guard.registered) == entries


def test_the_least_leaks_are_seen():
    malloc, lost = ctypes.CDLL(None).malloc, []
    malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    assert leaks(lambda: malloc(1) and None)
    assert leaks(lambda: lost.append(None))
    assert leaks(lambda: lost.append(object()))


def test_failures_leave_nothing():
    model = tiny()
    with lib3pt.Context(threads=1) as context:
        context.cancel()
        entries = len(_guard.registered)
        for _ in range(50):
            with pytest.raises(lib3pt.CancelledError):
                lib3pt.Model(model.config, 1, context=context)
            with pytest.raises(lib3pt.FileError):
                lib3pt.Model.load("no-such-folder/x")
    gc.collect()
    assert len(_guard.registered) <= entries
