"""Finds the C library and opens it, at the first call that needs it."""
from __future__ import annotations

import ctypes
import os
import sys
import threading
from typing import Any, Dict, Optional, SupportsIndex, Union

from ._declarations import FUNCTIONS, SONAME, VERSION
from ._errors import LibraryError, error
from ._function import EXCLUSIVE, SHARED
from ._numbers import INT32, whole

VARIABLE = "LIB3PT_LIBRARY"
HOW = f"install lib3pt, set {VARIABLE} to the file, or call lib3pt.load(path) first"

Path = Union[str, "os.PathLike[str]"]


class Bound:
    """A declared function and the function of the open library."""

    __slots__ = ("raw", "name", "handles", "status", "guarded", "destroy", "alone")

    def __init__(self, declared: Any, raw: Any) -> None:
        raw.restype, raw.argtypes = declared.result, declared.arguments
        self.raw = raw
        self.name, self.handles, self.status = declared.name, declared.handles, declared.status
        self.guarded, self.destroy = declared.guarded, declared.destroy
        # its only handle is its first argument, and a call of it has that handle's gate
        self.alone = [place for place, _, _ in self.handles] == [0] and self.handles[0][1] in (SHARED, EXCLUSIVE)


class Functions(Dict[str, Bound]):
    """All functions by name; filled when the library is opened."""

    def __missing__(self, name: str) -> Bound:
        load()
        return dict.__getitem__(self, name)


functions = Functions()
_lock = threading.Lock()
_loaded: Optional[str] = None


def load(path: Optional[Path] = None) -> None:
    """Opens the C library: `path`, else what LIB3PT_LIBRARY names, else lib3pt.so.1 as the system finds it.

    Done once, by the first call that needs the library; needed only for a path of your own.
    Raises LibraryError where it is not found or older than this package, and where another one is open.
    """
    global _loaded
    with _lock:
        name = os.fspath(path) if path is not None else os.environ.get(VARIABLE) or _soname()
        if _loaded is not None:
            if path is not None and name != _loaded:
                raise LibraryError(f"{_loaded} is open already; lib3pt.load comes before the first other call")
            return
        library = _open(name)
        functions.update({f.name: Bound(f, getattr(library, f.name)) for f in FUNCTIONS})
        _loaded = name


def _soname() -> str:
    return "lib3pt.1.dylib" if sys.platform == "darwin" else SONAME


def _open(name: str) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise LibraryError(f"the C library {name} cannot be opened ({error}): {HOW}") from None
    needed = ".".join(map(str, VERSION))
    try:
        check, version = library.tpt_check_version, library.tpt_version
    except AttributeError:
        raise LibraryError(f"{name} is no lib3pt: it has no tpt_check_version; {HOW}") from None
    version.restype = ctypes.c_char_p
    if check(*VERSION) != 0:
        raise LibraryError(f"{name} is lib3pt {version().decode()}; this package needs {needed} or a later "
                           f"{VERSION[0]}.x: {HOW}")
    return library


def _text(value: Optional[bytes]) -> str:
    return (value or b"").decode()


def version() -> str:
    """Of the C library in use: "1.0.0"."""
    return _text(functions["tpt_version"].raw())


def check_version(major: SupportsIndex, minor: SupportsIndex, patch: SupportsIndex) -> None:
    """UnsupportedError unless the C library is of this major version and at least this one."""
    parts = (("major", major), ("minor", minor), ("patch", patch))
    status = functions["tpt_check_version"].raw(*(whole(name, part, INT32) for name, part in parts))
    if status:
        raise error(status, error_message())


def build_info() -> str:
    """Kernels, instruction sets and options in use; one line, for a bug report."""
    return _text(functions["tpt_build_info"].raw())


def status_name(status: SupportsIndex) -> str:
    """As in C: "TPT_E_IO"."""
    return _text(functions["tpt_status_name"].raw(whole("status", status, INT32)))


def error_message() -> str:
    """This thread's last failure, "" before the first; an exception has its own already."""
    return _text(functions["tpt_error_message"].raw())
