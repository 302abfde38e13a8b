"""Whole numbers, checked against the C type that takes them: ctypes would cut off the bits that do not fit."""
from __future__ import annotations

import operator
import sys
from typing import SupportsIndex, Tuple

from ._declarations import Status
from ._errors import ArgumentError

INT32, SIZE, UINT64 = (-(1 << 31), (1 << 31) - 1), (0, sys.maxsize), (0, (1 << 64) - 1)


def wrong(message: str) -> ArgumentError:
    return ArgumentError(message, Status.ARGUMENT)


def whole(name: str, value: SupportsIndex, limits: Tuple[int, int] = SIZE) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {type(value).__name__}; a whole number is allowed") from None
    if number < 0 == limits[0]:
        raise wrong(f"{name} is {number}; it cannot be negative")
    if not limits[0] <= number <= limits[1]:
        raise wrong(f"{name} is {number}; {limits[0]} to {limits[1]} is allowed")
    return number
