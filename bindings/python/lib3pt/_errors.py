"""What a call that fails raises: Error, by status one of its subclasses."""
from __future__ import annotations

from typing import Any, Dict, List, Type

from ._declarations import Status


class Error(Exception):
    """A call failed. str() is the library's message: what was wrong, where, what is allowed.

    status: a Status, or a plain int that a later version of the library has added.
    made: of Decoder.generate: a list of the tokens before the failure; else it is empty.
    """

    status: int = Status.INTERNAL
    made: List[int]

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status, self.made = status, []

    @property
    def message(self) -> str:
        return str(self.args[0])

    @property
    def status_name(self) -> str:
        """As in C: "TPT_E_CONFIG"."""
        from ._library import status_name

        return status_name(self.status)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Any:
        return type(self), (self.message, self.status), self.__dict__  # else a pool of processes could not hand it on


class ArgumentError(Error, ValueError):
    """An argument is out of its range."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed; the object is as before the call."""


class FileError(Error, OSError):
    """The system refused to open, read, write, sync or rename (status IO)."""


class FormatError(Error, ValueError):
    """A file is not what it must be."""


class ConfigError(Error, ValueError):
    """A description is wrong or contradicts itself."""


class StateError(Error, RuntimeError):
    """The call has no sense now; also on an object that is closed, or in use by another thread."""

    _in_use = False  # by another call: C was not asked


class UnsupportedError(Error, NotImplementedError):
    """Right, but not something this build, model or version does."""


class NumericError(Error, ArithmeticError):
    """A loss or gradient is not finite; weights and moments are untouched."""


class CancelledError(Error):
    """The progress function or Context.cancel ended the call."""


class InternalError(Error, RuntimeError):
    """A bug of the library."""


class LibraryError(OSError):
    """The C library was not found, or is too old."""


KINDS: Dict[int, Type[Error]] = {
    Status.ARGUMENT: ArgumentError, Status.MEMORY: OutOfMemoryError, Status.IO: FileError,
    Status.FORMAT: FormatError, Status.CONFIG: ConfigError, Status.STATE: StateError,
    Status.UNSUPPORTED: UnsupportedError, Status.NUMERIC: NumericError, Status.CANCELLED: CancelledError,
    Status.INTERNAL: InternalError}


def error(status: int, message: str) -> Error:
    kind = KINDS.get(status)
    return kind(message, Status(status)) if kind else Error(message, status)
