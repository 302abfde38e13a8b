"""What the generated declarations are made of."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple

# How a call uses a handle: see _gate.py. FAMILY: for itself, and what it is made from with all that is made from that.
NONE, SHARED, EXCLUSIVE, FAMILY = 0, 1, 2, 3


class Function(NamedTuple):
    name: str
    result: Any  # a ctypes type; None for void
    arguments: Tuple[Any, ...]
    handles: Tuple[Tuple[int, int, Optional[str]], ...]  # the place of each handle, how it is used, its class
    status: bool  # the result is a status
    guarded: bool  # signals are seen to while it runs: _guard.py
    destroy: Optional[str]  # the function that takes back what this one makes
