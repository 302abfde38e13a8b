"""One object is for one thread at a time, but any number may read it: who breaks that is told."""
from __future__ import annotations

import threading

from ._declarations import Status
from ._errors import StateError


class Gate:
    """Of a handle, or of several that count as one. It never waits."""

    __slots__ = ("_lock", "_inside")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0  # how many read; -1: one writes

    def enter(self, exclusive: bool) -> None:
        with self._lock:
            if self._inside < 0 or (exclusive and self._inside):
                raise StateError("the object is in use by another call; it is for one thread at a time", Status.STATE)
            self._inside = -1 if exclusive else self._inside + 1

    def leave(self) -> None:
        with self._lock:
            self._inside = max(self._inside, 1) - 1
