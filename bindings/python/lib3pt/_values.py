"""From Python's values to C's and back, checked where C could not see that they do not fit."""
from __future__ import annotations

import operator
import os
from typing import Any, Dict, Iterator, Optional, SupportsFloat, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._call import Handle
from ._declarations import Status
from ._errors import StateError
from ._numbers import INT32, wrong

Ids = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Shape = Tuple[int, ...]


def real(name: str, value: SupportsFloat) -> float:
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except TypeError:
        pass
    except OverflowError:
        raise wrong(f"{name} is a whole number beyond what a double holds; one within it is allowed") from None
    raise TypeError(f"{name} is {type(value).__name__}; a number is allowed")


def utf8(name: str, value: Union[str, bytes], nul: bool = False) -> bytes:
    """nul: NUL bytes may be in it, for texts that have a length. A lone surrogate raises UnicodeEncodeError, but for
    those that os.fsdecode makes of bytes."""
    if not isinstance(value, (str, bytes, bytearray, memoryview)):  # bytes(7) would be seven NULs
        raise TypeError(f"{name} is {type(value).__name__}; text or bytes are allowed")
    encoded = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)
    if not nul and b"\0" in encoded:
        raise wrong(f"{name} has a NUL in it")
    return encoded


def octets(name: str, value: Any) -> npt.NDArray[np.uint8]:
    """Of anything that has a buffer; no copy where it has no gaps."""
    try:
        seen = memoryview(value)
    except TypeError:
        raise TypeError(f"{name} is {type(value).__name__}; bytes are allowed") from None
    return np.frombuffer(seen if seen.c_contiguous else seen.tobytes(), np.uint8) if seen.nbytes else np.empty(0, np.uint8)


def path(value: Union[str, bytes, "os.PathLike[Any]"]) -> bytes:
    return utf8("path", os.fsencode(value))


def _array(name: str, values: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError:  # lists of different lengths in a list
        raise wrong(f"{name} have rows of different lengths; rows of one length are allowed") from None


def _is_whole(value: Any) -> bool:
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _wholes(name: str, values: Any, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """As objects: numpy makes these, or floats, of whole numbers that no type of its own holds."""
    given: npt.NDArray[Any] = np.asarray(values, object)
    if array.dtype.kind not in "fO" or not all(map(_is_whole, given.flat)):
        raise wrong(f"{name} are {array.dtype}; whole numbers are allowed")
    return given


def ids(name: str, values: Any) -> Ids:
    """Token ids: int32 without gaps. No copy where they are that already."""
    array = _array(name, values)
    if array.dtype != np.int32:
        if array.size and array.dtype.kind not in "iu":
            array = _wholes(name, values, array)
        if array.size and not INT32[0] <= int(array.min()) <= int(array.max()) <= INT32[1]:
            raise wrong(f"{name} are {array.min()} to {array.max()}; {INT32[0]} to {INT32[1]} is allowed")
        array = array.astype(np.int32)
    return np.ascontiguousarray(array)


def line(name: str, values: Any) -> Ids:
    """[count]: ids in one row; one alone is a row of one."""
    array = ids(name, values)
    if array.ndim > 1:
        raise wrong(f"{name} has {array.ndim} dimensions; ids in one row are allowed")
    return array.reshape(-1)


def rows(name: str, values: Any) -> Ids:
    """[batch, seq]; one row where it has one dimension."""
    array = ids(name, values)
    if array.ndim not in (1, 2):
        raise wrong(f"{name} has {array.ndim} dimensions; [batch, seq] or [seq] is allowed")
    return array.reshape(-1, array.shape[-1]) if array.size else array.reshape(0, 0)


def floats(name: str, values: Any) -> Floats:
    array = _array(name, values)
    if not np.can_cast(array.dtype, np.float32, "same_kind"):  # texts would be read, complex ones cut
        raise wrong(f"{name} are {array.dtype}; numbers are allowed")
    with np.errstate(over="ignore"):
        made = np.ascontiguousarray(array, dtype=np.float32)
    _check_range(name, array, made)
    return made


def _check_range(name: str, given: npt.NDArray[Any], made: Floats) -> None:
    """A number that float32 does not hold became infinite."""
    if given.dtype.itemsize <= made.dtype.itemsize:
        return
    beyond = np.isinf(made).reshape(given.shape) & ~np.isinf(given)
    if beyond.any():
        raise wrong(f"{name} have {given[beyond][0]:g}; -3.4e38 to 3.4e38 is allowed, what float32 holds")


def shaped(name: str, array: npt.NDArray[Any], shape: Shape) -> None:
    """As many values in another shape would be taken in a wrong order."""
    if array.shape != shape:
        raise wrong(f"{name} is {list(array.shape)}; {list(shape)} is allowed, or all in one row")


def address(array: npt.NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _interface(at: int, shape: Shape, readonly: bool) -> Dict[str, Any]:
    return {"version": 3, "data": (at, readonly), "shape": shape, "typestr": np.dtype(np.float32).str}


class _Lent:
    """Memory of a handle as numpy takes it: an array made from this keeps the handle."""

    __slots__ = ("__array_interface__", "_hold")

    def __init__(self, at: int, shape: Shape, hold: object) -> None:
        self.__array_interface__ = _interface(at, shape, False)
        self._hold = hold


def view(handle: Handle, at: int, shape: Shape) -> Floats:
    """Valid as long as the handle lives, which the view sees to; writable."""
    return np.asarray(_Lent(at, shape, handle._held()))


class Borrowed:
    """Floats that the library lends until the next call on the object they came from; given where `copy=False`.

    numpy.asarray(b) looks at them without a copy, and numpy's functions take it as it is. After the next call it
    raises StateError; an array that was made from it before shows whatever is there by then.
    """

    __slots__ = ("shape", "_address", "_handle", "_hold", "_generation")

    def __init__(self, handle: Handle, at: Optional[int], shape: Shape) -> None:
        self.shape = shape
        self._address = at or 0
        self._handle, self._hold = handle, handle._held()
        self._generation = handle._generation

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        if self._generation != self._handle._generation or self._handle._hold is not self._hold:
            raise StateError(f"these values were lent until the next call on the {type(self._handle).__name__}, "
                             "which has come; copy them before", Status.STATE)
        return _interface(self._address, self.shape, True)

    def numpy(self) -> Floats:
        """A view, read only."""
        return np.asarray(self)

    def copy(self) -> Floats:
        """Yours to keep."""
        return np.array(self)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __contains__(self, value: object) -> bool:
        return value in self.numpy()

    def __getitem__(self, place: Any) -> Any:
        return self.numpy()[place]

    def __repr__(self) -> str:
        return f"<lib3pt.Borrowed: float32 {list(self.shape)}>"


def lent(handle: Handle, at: Optional[int], shape: Shape, copy: bool) -> Union[Floats, Borrowed]:
    borrowed = Borrowed(handle, at, shape)
    return borrowed.copy() if copy else borrowed
