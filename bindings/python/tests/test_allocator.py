"""A context's own allocator."""
import ctypes
import gc

import pytest
from support import tiny

import lib3pt
from lib3pt import _guard


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
    for none in (None, 0):
        memory.allocate = lambda size, alignment: none
        with pytest.raises(MemoryError):
            tiny(context)
    del memory.allocate
    context.close()
    gc.collect()
    assert not [value for value in _guard.registered.values() if isinstance(value, _guard.Memory)]


def test_what_was_made_is_given_back_where_the_call_raises():
    memory = Malloc()
    context = lib3pt.Context(threads=1, allocator=memory)
    held = memory.held
    context.set_log(lambda level, text: 1 / 0)  # the model is made, its log line raises
    with pytest.raises(ZeroDivisionError):
        tiny(context)
    assert memory.most > held and memory.held == held


def test_memory_comes_back_from_a_cycle():
    """The collector may take the allocator's owner before the model."""
    memory = Malloc()

    class Session:
        def __init__(self):
            self.me = self
            self.context = lib3pt.Context(threads=1, allocator=memory)
            self.model = tiny(self.context)

    for _ in range(5):
        Session()
        gc.collect()
    assert memory.most and memory.held == 0
    assert not [value for value in _guard.registered.values() if isinstance(value, _guard.Memory)]


@pytest.mark.parametrize("raising", range(1, 8))
def test_memory_comes_back_where_an_allocator_raised_once(raising):
    memory, calls = Malloc(), iter(range(1, 1 << 20))

    def allocate(size, alignment):
        if next(calls) == raising:
            raise MemoryError("my budget is spent")
        return Malloc.allocate(memory, size, alignment)

    memory.allocate = allocate

    def work():
        model = tiny(lib3pt.Context(threads=1, allocator=memory))
        return lib3pt.Decoder(model), lib3pt.Trainer(model)

    try:
        work()
    except MemoryError as error:
        assert str(error) == "my budget is spent"
    gc.collect()
    assert memory.held == 0
    assert not [value for value in _guard.registered.values() if isinstance(value, _guard.Memory)]
