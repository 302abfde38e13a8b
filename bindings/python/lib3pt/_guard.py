"""Python's signal handlers run, and exceptions are kept, while the library works.

Python runs a signal handler between two of its own steps, and there is none while C works. The library calls a progress
function every few milliseconds; that is a Python function, and at its entry the handlers run. What they raise
there (KeyboardInterrupt) would get lost in ctypes, before any `try` of the function. So for the time of a call the
handlers are wrapped: what they raise is kept, ends the call, and is raised after it. The same is done with what
the caller's own functions raise.
"""
from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any, Callable, Dict, List, Optional, Set

from ._declarations import (tpt_allocator_allocate, tpt_allocator_release, tpt_done_fn, tpt_log_fn, tpt_progress_fn)
from ._numbers import whole

if "registered" in globals():
    raise ImportError("lib3pt cannot be reloaded: the C library may still call its functions; begin a new process")

SIGNALS = tuple(int(getattr(signal, name)) for name in ("SIGINT", "SIGTERM", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGUSR2")
                if hasattr(signal, name))

# Python's two functions around C's make enums of their results, which takes longer than a short call.
_quick: Any = sys.modules.get("_signal", signal)
_get_handler, _set_handler = _quick.getsignal, _quick.signal

_threads = threading.local()
_own_ident = threading.get_ident
_main = threading.main_thread().ident


def _forked() -> None:
    global _main
    _main = threading.main_thread().ident


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class Watch:
    """A call in progress."""

    __slots__ = ("kept", "of_signal", "_outer", "_former", "_ours")

    def __init__(self) -> None:
        self.kept: Optional[BaseException] = None
        self.of_signal = False  # it is what a signal's handler raised
        self._outer: Optional[Watch] = None
        self._former: Dict[int, Any] = {}  # the handlers that were there, by signal; SIGINT's first
        self._ours: Any = None

    def begin(self) -> None:
        self._outer = getattr(_threads, "watch", None)
        _threads.watch = self
        if _own_ident() == _main:  # the one that runs handlers
            self._wrap()

    def _wrap(self) -> None:
        self._ours = self._handle
        for number in SIGNALS:
            former = _get_handler(number)
            if callable(former):
                self._former[number] = former
                try:
                    _set_handler(number, self._ours)
                except ValueError:  # another interpreter of this process has the signals
                    del self._former[number]
                    return

    def _handle(self, number: int, frame: Any) -> None:
        try:
            self._former[number](number, frame)
        except BaseException as raised:
            self.keep(raised, True)

    def keep(self, raised: BaseException, of_signal: bool = False) -> None:
        if self.kept is None:
            self.kept, self.of_signal = raised, of_signal

    def end(self) -> None:
        _threads.watch = self._outer
        for number in reversed(list(self._former)):  # SIGINT last: from then on it may come at any step
            if _get_handler(number) is self._ours:  # not where a handler has set another one
                _set_handler(number, self._former[number])
        self._ours = None  # it holds this


def guarded(run: Callable[..., Any], *arguments: Any) -> Any:
    """run(*arguments); what was kept meanwhile is raised instead of what came of it."""
    if waiting:
        raise_waiting()
    watch = Watch()
    try:
        watch.begin()
        return run(*arguments)
    finally:
        watch.end()
        if watch.kept is not None:
            raise watch.kept from None


waiting: List[BaseException] = []  # what handlers of signals raised where nothing can be raised: for the next call


def raise_waiting() -> None:
    """In the thread that runs handlers."""
    if waiting and _own_ident() == _main:
        raise waiting.pop() from None


def finalized(run: Callable[..., Any], *arguments: Any) -> None:
    """guarded() in a finalizer, out of which Python lets nothing: Control-C waits."""
    watch = Watch()
    try:
        watch.begin()
    except BaseException as raised:  # of a handler, before it was wrapped
        watch.keep(raised, True)
    try:
        run(*arguments)
    finally:
        watch.end()
    if watch.kept is not None:
        if not watch.of_signal:
            raise watch.kept
        waiting.append(watch.kept)


# ---- what the library calls ----

# By the number that the library hands back as `user`. Of progress: a function or None.
registered: Dict[int, Any] = {}
_numbers = iter(range(1, 1 << 62))


def register(value: Any) -> int:
    number = next(_numbers)
    registered[number] = value
    return number


def kept(raised: BaseException) -> None:
    watch: Optional[Watch] = getattr(_threads, "watch", None)
    if watch is not None:
        watch.keep(raised)


def _done(user: Any) -> None:
    registered.pop(user, None)


def _progress(user: Any, handle: Any, share: float) -> int:
    try:
        watch: Optional[Watch] = getattr(_threads, "watch", None)
        if watch is not None and watch.kept is not None:
            return 1
        function = registered.get(user)
        return int(function is not None and bool(function(share)))
    except BaseException as raised:
        kept(raised)
        return 1


def _log(user: Any, level: int, text: Any) -> None:
    try:
        registered[user](level, text.decode())
    except BaseException as raised:
        kept(raised)


class Memory:
    """An allocator, registered until C has released all that came from it and nobody owns it any more: the collector
    may take the owner first."""

    __slots__ = ("number", "_allocator", "_blocks", "_owned")

    def __init__(self, allocator: Any) -> None:
        self._allocator, self._owned = allocator, True
        self._blocks: Set[int] = set()  # the addresses of those that C has
        self.number = register(self)

    def allocate(self, size: int, alignment: int) -> Any:
        address = self._allocator.allocate(size, alignment)
        if address is None:
            return None
        block = whole("address", address)  # ctypes would give C what is there by chance
        if not block:
            return None
        self._blocks.add(block)
        return block

    def release(self, block: int, size: int, alignment: int) -> None:
        try:
            self._allocator.release(block, size, alignment)
        finally:
            self._blocks.discard(block)
            self._end_unused()

    def disown(self) -> None:
        self._owned = False
        self._end_unused()

    def _end_unused(self) -> None:
        if not self._owned and not self._blocks:
            registered.pop(self.number, None)


def _allocate(user: Any, size: int, alignment: int) -> Any:
    try:
        return registered[user].allocate(size, alignment)
    except BaseException as raised:
        kept(raised)
        return None


def _release(user: Any, block: Any, size: int, alignment: int) -> None:
    try:
        registered[user].release(block, size, alignment)
    except BaseException as raised:
        kept(raised)


done = tpt_done_fn(_done)
progress = tpt_progress_fn(_progress)
log = tpt_log_fn(_log)
allocate, release = tpt_allocator_allocate(_allocate), tpt_allocator_release(_release)
