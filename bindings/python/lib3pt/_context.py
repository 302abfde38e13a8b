"""Threads, memory, log and progress of what is made from it."""
from __future__ import annotations

import ctypes
import enum
import sys
from typing import Any, Callable, Optional, Protocol

from . import _guard
from ._call import Handle, call, held, make, number
from ._declarations import tpt_allocator, tpt_log_fn
from ._errors import Error
from ._gate import Family
from ._numbers import INT32, whole


class LogLevel(enum.IntEnum):
    ERROR = 0
    WARNING = 1
    INFO = 2
    DEBUG = 3


Log = Callable[[int, str], object]
Progress = Callable[[float], object]


class Allocator(Protocol):
    """Memory of your own. Both may be called from any thread; neither may call this library."""

    def allocate(self, size: int, alignment: int) -> Optional[int]:
        """The address of `size` bytes at a multiple of `alignment`; None when it cannot."""

    def release(self, address: int, size: int, alignment: int) -> None:
        """Takes them back."""


class _Owner:
    """Of an allocator's entry."""

    def __init__(self, allocator: Allocator) -> None:
        self.memory = _guard.Memory(allocator)

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if not finalizing():  # then the module may be gone already
            self.memory.disown()


BUSY = "the context is in use by another call; its settings change only while no call runs on anything made from it"


class Context(Handle):
    """Settings of the objects that are made from it. Objects made without one have a context of their own.

    threads    1 to 256; 0: as many as the process may use. Results do not depend on it
    log        called with (level, text) for messages that are no failures
    progress   called with the share done, 0 to 1 or NaN, every few milliseconds of a long call; what is true ends the
               call with CancelledError, what it raises comes out of the call
    allocator  where memory comes from: Allocator

    >>> with lib3pt.Context(threads=2) as context:
    ...     model = lib3pt.Model(lib3pt.Config(), seed=1, context=context)
    """

    _instead = "make one where it is needed"

    def __init__(self, *, threads: int = 0, log: Optional[Log] = None, progress: Optional[Progress] = None,
                 allocator: Optional[Allocator] = None) -> None:
        self._start(make("tpt_context_create"), gate=Family(BUSY))
        self.set_progress(progress)  # also where it is None: it lets signals through
        if allocator is not None:
            self.set_allocator(allocator)
        if log is not None:
            self.set_log(log)
        self.threads = threads

    @staticmethod
    def _given(context: Optional[Context]) -> Context:
        if context is None:
            return Context()
        held(Context, context)
        return context

    @property
    def threads(self) -> int:
        """How many a call uses now, the caller's own among them. Set only while idle: StateError where a call runs on
        anything made from the context, also in its own progress function."""
        return int(number("tpt_context_threads", self, kind=ctypes.c_int32))

    @threads.setter
    def threads(self, threads: int) -> None:
        call("tpt_context_set_threads", self, whole("threads", threads, INT32))

    def set_log(self, log: Optional[Log]) -> None:
        """Where messages go that are no failures; None: nowhere. Only while idle, as `threads`."""
        self._set("tpt_context_set_log", tpt_log_fn() if log is None else _guard.log, log)

    def set_progress(self, progress: Optional[Progress]) -> None:
        """As `progress` above. Only while idle, as `threads`."""
        self._set("tpt_context_set_progress", _guard.progress, progress)

    def _set(self, name: str, function: Any, value: Any) -> None:
        if value is not None and not callable(value):
            raise TypeError(f"a function is wanted here, not {type(value).__name__}")
        user = _guard.register(value)
        try:
            call(name, self, function, user, _guard.done)
        except Error:
            _guard.registered.pop(user, None)  # C did not take it; with what a signal's handler raises it may have
            raise

    def set_allocator(self, allocator: Allocator) -> None:
        """The memory of all that is made from now on; StateError where something made from the context is alive.
        Only while idle, as `threads`."""
        if not (callable(getattr(allocator, "allocate", None)) and callable(getattr(allocator, "release", None))):
            raise TypeError(f"an object with allocate and release is wanted here, not {type(allocator).__name__}")
        owner = _Owner(allocator)
        hold = self._held()
        hold.needs += (owner,)  # the former one too, until what came from it is back
        call("tpt_context_set_allocator", self, ctypes.byref(tpt_allocator(
            ctypes.sizeof(tpt_allocator), owner.memory.number, _guard.allocate, _guard.release)))

    def cancel(self, on: bool = True) -> None:
        """From any thread, at any time: long calls, running and coming, end with CancelledError until cancel(False)."""
        call("tpt_context_cancel", self, int(bool(on)))

    def _describe(self) -> str:
        return f"{self.threads} threads"
