"""One object is for one thread at a time, but any number may read it: who breaks that is told.

A signal handler of Python may raise between any two steps, also between that which enters and the next one. So who
enters has a number, leaves in a `finally` that covers enter too, and leaves again where leaving raised.
"""
from __future__ import annotations

import threading
import weakref
from typing import Optional, Set

from ._declarations import Status
from ._errors import StateError


def _in_use(message: str) -> StateError:
    error = StateError(message, Status.STATE)
    error._in_use = True
    return error


class Gate:
    """Of a handle, or of several that count as one. It never waits."""

    __slots__ = ("_lock", "_writer", "_readers", "family", "__weakref__")

    def __init__(self, family: Optional[Family] = None) -> None:
        """family: the gate of what the handle is made from; a description is made from nothing."""
        self._lock = threading.RLock()  # a signal handler may come while this thread has it, and leaves all as it was
        self._writer = 0
        self._readers: Set[int] = set()
        self.family = family
        if family is not None:
            family.join(self)

    def child(self) -> Gate:
        """Of what is made from this one's handle."""
        return Gate(self.family)

    def enter(self, who: int, exclusive: bool) -> None:
        """who: a number that no other call has while this one lasts. Who has it for itself may enter again."""
        with self._lock:
            if (self._writer or (exclusive and self._readers)) and self._writer != who:
                raise _in_use("the object is in use by another call; it is for one thread at a time")
            if exclusive:
                self._writer = who
            else:
                self._readers.add(who)

    def leave(self, who: int) -> None:
        """Nothing where it is not within."""
        with self._lock:
            if self._writer == who:
                self._writer = 0
            self._readers.discard(who)


class Family(Gate):
    """The gate of what others are made from: a context, a model. Who has it for itself has the gates of all those too,
    so that a call on one of them need not know of it: a token costs no more for it."""

    __slots__ = ("_change", "_members", "_busy")

    def __init__(self, busy: str, family: Optional[Family] = None) -> None:
        """busy: what is said where one of them is in use."""
        self._change = threading.RLock()
        self._members: weakref.WeakValueDictionary[int, Gate] = weakref.WeakValueDictionary()
        self._busy = busy
        super().__init__(family)

    def child(self) -> Gate:
        return Gate(self)

    def join(self, gate: Gate) -> None:
        with self._change:
            self._members[id(gate)] = gate
            if self._writer:  # made by a call that has ended, while another one has all
                gate.enter(self._writer, True)

    def enter(self, who: int, exclusive: bool) -> None:
        if not exclusive:
            return super().enter(who, False)
        try:
            with self._change:
                super().enter(who, True)
                for member in self._members.valuerefs():
                    gate = member()
                    if gate is not None:
                        gate.enter(who, True)
        except StateError:
            self.leave(who)
            raise _in_use(self._busy) from None

    def leave(self, who: int) -> None:
        with self._change:
            if self._writer == who:
                for member in self._members.valuerefs():
                    gate = member()
                    if gate is not None:
                        gate.leave(who)
            super().leave(who)
