"""The exceptions of the package, one for each status of the C library."""

from __future__ import annotations


class Error(Exception):
    """A call of the library failed. The message is the library's sentence.

    Every error of the package is a subclass, and most derive from a built-in
    exception as well, so that ``except ValueError`` and ``except MemoryError`` work.
    """


class ArgumentError(Error, ValueError):
    """An argument is out of range, overlaps another one, or lies in unsuitable memory."""


class MatrixError(Error, ValueError):
    """A sparse matrix is damaged: its offsets fall, or an index is out of range."""


class ShapeError(Error, ValueError):
    """The shapes of the operands do not fit together."""


class StateError(Error, RuntimeError):
    """The call does not fit the engine or the plan: closed, busy, or another pattern."""


class UnsupportedError(Error, NotImplementedError):
    """No implementation computes this product in the requested way."""


class HostMemoryError(Error, MemoryError):
    """The host memory, or its cap ``host_memory``, is exhausted."""


class DeviceMemoryError(Error, MemoryError):
    """The memory of the GPU, or its cap ``device_memory``, is exhausted."""


class DeviceNotFoundError(Error, OSError):
    """The requested GPU does not exist or has no driver."""


class DeviceError(Error, OSError):
    """The GPU reported an error. CUDA is unusable in this process from now on."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class FileMissingError(FileError, FileNotFoundError):
    """A file does not exist."""


class FormatError(Error, ValueError):
    """A file is not in the expected format. The message names the line."""


class CancelledError(Error):
    """A function of the caller ended the call."""


class ExactnessError(Error, OverflowError):
    """A product of integers has no exact result in its type."""


class OperandTypeError(Error, TypeError):
    """An operand is of a type that the library does not multiply."""


class FormatWarning(UserWarning):
    """An operand was converted on every call; converting it once would be faster."""


BY_STATUS: dict[int, type[Error]] = {
    1: ArgumentError,
    2: MatrixError,
    3: ShapeError,
    4: StateError,
    5: UnsupportedError,
    6: HostMemoryError,
    7: DeviceMemoryError,
    8: DeviceNotFoundError,
    9: DeviceError,
    10: FileError,
    11: FormatError,
    12: CancelledError,
}


def error_for(status: int, sentence: str) -> Error:
    """Return the exception for a status of the library that is not 0."""
    return BY_STATUS.get(status, Error)(sentence)
