"""Every call goes through here: closed objects, threads, signals, errors."""
from __future__ import annotations

import ctypes
import sys
from ctypes import byref, c_size_t, c_void_p
from typing import Any, List, Optional, Sequence, Tuple, Type, TypeVar

from . import _guard
from ._declarations import Status
from ._errors import Error, StateError, error
from ._function import EXCLUSIVE, FAMILY, NONE
from ._gate import Gate
from ._library import Bound, functions

FIRST_ROOM = 512  # bytes that most texts fit in
ERROR_ROOM = 512  # the longest message with its NUL

H = TypeVar("H", bound="Handle")


class Hold:
    """A handle of C, given back when nothing needs it any more: neither the object nor a view nor a running call."""

    __slots__ = ("pointer", "_destroy", "needs")

    def __init__(self, destroy: Bound, needs: Tuple[Any, ...]) -> None:
        self.pointer = 0  # until C has made it
        self._destroy = destroy
        self.needs = needs  # what must outlive it

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if getattr(self, "pointer", 0) and not finalizing():  # at the end of the process the system takes all
            _guard.finalized(self._destroy.raw, self.pointer)


class Handle:
    """What all objects of the library have in common."""

    _hold: Optional[Hold] = None
    _gate: Gate
    _parent: Optional[Handle] = None  # what it was made from
    _generation = 0  # of calls, for what is lent until the next one
    _instead = ""  # what to do where one wanted to pickle it
    _kind = ""  # the name of the class that C's declarations mean

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if Handle in cls.__bases__:  # a class that a user derives stays of its kind
            cls._kind = cls.__name__

    def _start(self, hold: Hold, parent: Optional[Handle] = None, gate: Optional[Gate] = None) -> None:
        self._gate = gate or (Gate() if parent is None else parent._gate.child())
        self._hold, self._parent = hold, parent

    @classmethod
    def _of(cls: Type[H], hold: Hold, parent: Optional[Handle] = None) -> H:
        made = cls.__new__(cls)
        made._start(hold, parent)
        return made

    def close(self) -> None:
        """Gives the memory back, once no array looks into it and no other object needs it. May be called again."""
        self._hold = self._parent = None
        _guard.raise_waiting()

    @property
    def closed(self) -> bool:
        return self._hold is None

    @property
    def last_error(self) -> str:
        """The last failure of a call whose first argument this object was, "" where none has failed."""
        return text("tpt_error_of", self).decode()

    def _made_from(self) -> Any:
        self._held()
        return self._parent

    def _held(self) -> Hold:
        hold = self._hold
        if hold is None:
            raise StateError(f"this {type(self).__name__} {self._why_not()}", Status.STATE)
        return hold

    def _why_not(self) -> str:
        return "is closed" if "_hold" in vars(self) else f"was not made: its __init__ must call that of {self._kind}"

    def __getattr__(self, name: str) -> Any:
        """Of what a class derived by a user has not made."""
        if "_hold" not in vars(self) and not name.startswith("__"):
            self._held()
        raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def __enter__(self: H) -> H:
        self._held()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(f"{_a(type(self).__name__)} cannot be pickled or copied so: it is memory of the C library; "
                        f"{self._instead}")

    def _describe(self) -> str:
        return ""

    def __repr__(self) -> str:
        try:
            described = "closed" if self.closed else self._describe()
        except Error:
            described = "in use"
        return f"<lib3pt.{type(self).__name__}{': ' if described else ''}{described}>"


def held(kind: Type[Handle], value: Any) -> Hold:
    """Of an argument that must be such an object."""
    if not isinstance(value, kind):
        raise _not_a(kind.__name__, value)
    return value._held()


def _not_a(kind: Optional[str], value: Any) -> TypeError:
    given = type(value)
    if any(kind == base.__name__ for base in given.__mro__):
        return TypeError(f"{_a(kind)} of this copy of lib3pt is wanted here, not one of another copy: the package is "
                         "loaded twice")
    return TypeError(f"{_a(kind)} is wanted here, not {given.__name__}")


def _a(noun: Optional[str]) -> str:
    return f"{'an' if noun and noun[0] in 'AEIOU' else 'a'} {noun}"


class _Entry:
    """The objects of a call: their handles stay, their gates are closed to others."""

    __slots__ = ("holds", "_gates")

    def __init__(self) -> None:
        self.holds: List[Hold] = []
        self._gates: List[Gate] = []

    def take(self, handle: Handle, mode: int) -> int:
        hold = handle._held()
        self.holds.append(hold)
        if mode != NONE:
            gate = handle._gate.family if mode == FAMILY and handle._gate.family else handle._gate
            if gate not in self._gates:
                self._gates.append(gate)
                gate.enter(id(self), mode >= EXCLUSIVE)
            handle._generation += 1
        return hold.pointer

    def leave(self) -> None:
        while self._gates:
            self._gates[-1].leave(id(self))
            self._gates.pop()


def call(name: str, *arguments: Any, also: Sequence[Handle] = ()) -> Any:
    """Handles are given as their objects. also: those in an array of the arguments, which the call changes."""
    function = functions[name]
    run = _run_one if function.alone and not also else _run
    if function.guarded:
        return _guard.guarded(run, function, arguments, also)
    return run(function, arguments, also)


def _run_one(function: Bound, arguments: Sequence[Any], also: Sequence[Handle]) -> Any:
    """The same as _run for a call whose only handle is its first argument. Between two tokens an interpreter's code
    and data grow cold in the processor's caches, so what is touched here is what a token costs."""
    first = arguments[0]
    _, mode, kind = function.handles[0]
    hold = first._hold if isinstance(first, Handle) and kind in (None, first._kind) else None
    if hold is None:
        return _run(function, arguments, also)
    gate, who = first._gate, id(arguments)
    try:
        gate.enter(who, mode == EXCLUSIVE)
        first._generation += 1
        result = function.raw(hold.pointer, *arguments[1:])
    finally:
        try:
            gate.leave(who)
        except BaseException:  # of a signal's handler
            gate.leave(who)
            raise
    if function.status and result:
        raise _error(result, function, first, [hold])
    return result


def _run(function: Bound, arguments: Sequence[Any], also: Sequence[Handle]) -> Any:
    values = list(arguments)
    entry = _Entry()
    try:
        for place, mode, kind in function.handles:
            value = values[place]
            if isinstance(value, Handle) and kind in (None, value._kind):
                values[place] = entry.take(value, mode)
            elif value is not None and not isinstance(value, c_void_p):  # C would read at any number's address
                raise _not_a(kind, value)
        for handle in also:
            entry.take(handle, EXCLUSIVE)
        result = function.raw(*values)
    finally:
        try:
            entry.leave()
        except BaseException:
            entry.leave()
            raise
    if function.status and result:
        raise _error(result, function, arguments[0] if arguments else None, entry.holds)
    return result


def _error(status: int, function: Bound, first: Any, holds: Sequence[Hold]) -> Error:
    """The first handle's message; the thread's where there is none, or other threads may have put theirs there."""
    if holds and (not isinstance(first, Handle) or function.handles[0][1] >= EXCLUSIVE):
        room, length = ctypes.create_string_buffer(ERROR_ROOM), c_size_t()
        functions["tpt_error_of"].raw(holds[0].pointer, room, ERROR_ROOM, byref(length))
        message = room.value
    else:
        message = functions["tpt_error_message"].raw()
    return error(status, message.decode())


def make(name: str, *arguments: Any, needs: Tuple[Any, ...] = ()) -> Hold:
    """Of a function whose last argument gives a handle."""
    pointer = c_void_p()
    destroy = functions[functions[name].destroy or ""]
    hold = Hold(destroy, needs)
    try:
        call(name, *arguments, byref(pointer))
        hold.pointer = pointer.value or 0
    except BaseException:  # of a callback or a signal's handler, after C had made it; a traceback keeps `hold`
        hold.pointer = 0
        if pointer.value:
            destroy.raw(pointer)
        raise
    return hold


def text(name: str, *arguments: Any, room: int = FIRST_ROOM) -> bytes:
    """Of a function that ends with (text, capacity, length)."""
    length = c_size_t()
    while True:
        buffer = ctypes.create_string_buffer(room)
        call(name, *arguments, buffer, room, byref(length))
        if length.value < room:
            return buffer.raw[:length.value]
        room = length.value + 1


def number(name: str, *arguments: Any, kind: Any = c_size_t) -> Any:
    """Of a function whose last argument is the address of its result."""
    result = kind()
    call(name, *arguments, byref(result))
    return result.value
