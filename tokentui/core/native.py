"""Compiled kernels: plain functions over flat arrays, called as machine code.

The sources are in folders named `kernels`. `make kernels` (`building.py`) compiles them into a shared
library for each system, in the folder `libraries`. A process opens its library when it calls the first
kernel, which takes less than a millisecond. It compiles nothing, writes nothing and needs no other package.

Only the folders `kernels` and `building.py` import this module; all others ask `core/engines.py` which engine
there is, and get arrays from `core/arrays.py`.

A kernel takes numbers, arrays and named tuples of them. An array is any object with a buffer: the flat arrays
of `core/arrays.py`, `array.array`, `bytes`. A kernel runs without the interpreter's lock.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from tokentui.core import library
from tokentui.core.arrays import Array, Row, width_of
from tokentui.core.engines import NUMBA
from tokentui.core.library import FOLDER as FOLDER
from tokentui.core.library import KernelsUnavailable as KernelsUnavailable
from tokentui.core.library import library_of as library_of
from tokentui.core.library import manifest as manifest
from tokentui.core.library import system as system

F = TypeVar("F", bound=Callable[..., Any])
Code: TypeAlias = Callable[..., Any]
"""The Python function of a kernel, or the compiled one."""


# ---- the library


@functools.cache
def open_library() -> Callable[[Kernel], Code]:
    """Open the library of this system and return a function that returns the machine code of a kernel.

    Raises:
        KernelsUnavailable: This process cannot call kernels.
    """
    if NUMBA:
        building = importlib.import_module("tokentui.building")  # it imports NumPy and Numba
        bound: Callable[[Kernel], Code] = building.bound
        return bound
    opened = library.opened()

    def code(kernel: Kernel) -> Code:
        """Return the code of a kernel. Raise `KernelsUnavailable` if the library has another signature."""
        if manifest()["kernels"].get(kernel.name) != kernel.signature:
            raise KernelsUnavailable(f"the library has another {kernel.name}")
        return _native(opened, kernel)

    return code


# ---- signatures

INT, FLOAT, FLAG, NOTHING = "int64", "float64", "boolean", "void"
"""Kinds of numbers, and of no result."""


class Flat(NamedTuple):
    """Type of an array parameter.

    Attributes:
        row: The type of its numbers, or the layout of its rows.
        step: Bytes from one item to the next if they overlap; 0 if they do not.
    """

    row: str | Row
    step: int = 0

    @property
    def size(self) -> int:
        """Size of an item in bytes."""
        return width_of(self.row)


class Tuple(NamedTuple):
    """Type of a named-tuple parameter, or of several numbers as a result.

    Attributes:
        kinds: The types of its fields, in order.
        name: Its name; empty for a result.
        of: Its class, or None for plain tuples.
    """

    kinds: tuple[Kind, ...]
    name: str = ""
    of: type[Any] | None = None


Kind: TypeAlias = "str | Flat | Tuple"
"""The type of a parameter or of a result."""
Uint8s = Annotated[Any, Flat("uint8")]
Uint16s = Annotated[Any, Flat("uint16")]
Int32s = Annotated[Any, Flat("int32")]
Int64s = Annotated[Any, Flat("int64")]
Uint64s = Annotated[Any, Flat("uint64")]
Float32s = Annotated[Any, Flat("float32")]
Float64s = Annotated[Any, Flat("float64")]
"""Arrays of numbers, as kernels annotate their parameters."""
Windows = Annotated[Any, Flat("uint64", 1)]
"""A text as overlapping 8-byte words: item n has the bytes from n on."""
_SCALARS: dict[Any, Kind] = {int: INT, float: FLOAT, bool: FLAG, type(None): NOTHING}


@functools.cache
def kind_of(hint: Any) -> Kind:
    """Return the type of a parameter or a result from its annotation: a number, an array such as `Int32s`, a
    named tuple of such fields, or a plain tuple of numbers."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    if hasattr(hint, "__metadata__"):
        array: Flat = hint.__metadata__[0]
        return array
    if get_origin(hint) is tuple:
        return Tuple(tuple(map(kind_of, get_args(hint))))
    fields = get_type_hints(hint, include_extras=True).values()
    return Tuple(tuple(map(kind_of, fields)), hint.__name__, hint)


def signature_text(kind: Kind) -> str:
    """Return a type as text, for signatures."""
    if isinstance(kind, str):
        return kind
    if isinstance(kind, Flat):
        row = kind.row
        names = row if isinstance(row, str) else ",".join(f"{name}:{of}" for name, of in row.fields)
        return f"[{names}]{kind.step or ''}"
    return f"{kind.name}({','.join(map(signature_text, kind.kinds))})"


# ---- kernels

KERNELS: dict[str, Kernel] = {}
"""All kernels of imported modules, by name."""


class Kernel:
    """A plain function that runs as machine code. Its annotations are the types of the machine code.

    They are read when the kernel is first called: that takes longer than to import it.

    Args:
        function: The plain function.

    Attributes:
        name: Its module and name, such as `merges.undo`.
    """

    def __init__(self, function: Code) -> None:
        self.function = function
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self.__doc__ = function.__doc__
        KERNELS[self.name] = self

    @functools.cached_property
    def _kinds(self) -> dict[str, Kind]:
        hints = get_type_hints(self.function, include_extras=True)
        return {name: kind_of(hint) for name, hint in hints.items()}

    @property
    def takes(self) -> tuple[Kind, ...]:
        """The types of its parameters."""
        return tuple(kind for name, kind in self._kinds.items() if name != "return")

    @property
    def returns(self) -> Kind:
        """The type of its result."""
        return self._kinds["return"]

    @functools.cached_property
    def signature(self) -> str:
        """Its types as text."""
        return f"{signature_text(self.returns)} <- {', '.join(map(signature_text, self.takes))}"

    @functools.cached_property
    def _code(self) -> Code:
        return open_library()(self)

    def __call__(self, *arguments: Any) -> Any:
        return self._code(*arguments)


def kernel(function: Code) -> Any:
    """Make a function a kernel. Its parameters are numbers, arrays such as `Int32s`, and named tuples of
    these; its result is a number, None, or a tuple of whole numbers."""
    return Kernel(function)


def helper(function: F) -> F:
    """Mark a function that kernels call."""
    vars(function)["part"] = "called"
    return function


def inlined(function: F) -> F:
    """Mark a function that is inlined into the kernels that call it, since passing its arrays costs more than
    it does."""
    vars(function)["part"] = "inlined"
    return function


if NUMBA:
    import numpy

    I64: Any = numpy.int64
    U64: Any = numpy.uint64
else:
    I64 = U64 = int


def constants(values: Sequence[int]) -> Array:
    """Return unsigned 64-bit numbers that kernels look up."""
    return values if U64 is int else numpy.array(values, U64)


# The 64-bit golden ratio, for multiplicative hashing (Knuth, The Art of Computer Programming, volume 3,
# section 6.4).
SPREAD = U64(0x9E3779B97F4A7C15)


@inlined
def hashed(key: Any, shift: Any) -> Any:
    """Return the first slot of a 64-bit key in a hash table of 2 ** (64 - `shift`) slots."""
    return I64(key * SPREAD >> shift)


# ---- calls


class _Buffer(ctypes.Structure):
    """`Py_buffer` of Python's C API."""

    _fields_ = (
        ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    )


_get = ctypes.pythonapi.PyObject_GetBuffer
_get.argtypes = (ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
_get.restype = ctypes.c_int
_release = ctypes.pythonapi.PyBuffer_Release
_release.argtypes = (ctypes.c_void_p,)
_release.restype = None


def buffer_of(values: Array) -> tuple[int, int]:
    """Return the address and the size in bytes of an array's memory. The address is valid while the array
    lives."""
    buffer = _Buffer()
    address = ctypes.addressof(buffer)
    _get(values, address, 0)  # it raises where there is no plain buffer
    found = buffer.buf or 0, buffer.len
    _release(address)
    return found


def argument_words(kind: Kind, value: Array) -> list[int]:
    """Return a value as the whole numbers that machine code takes: a number itself, the address and length of
    an array, or those of each field of a tuple."""
    if isinstance(kind, Flat):
        address, size = buffer_of(value)
        return [address, max(0, size - 7) if kind.step else size // kind.size]
    if isinstance(kind, Tuple):
        return [word for of, one in zip(kind.kinds, value, strict=True) for word in argument_words(of, one)]
    return [value]


def argument_block(kind: Kind, value: Array) -> Array:
    """Return the words of a tuple as a C array."""
    words = argument_words(kind, value)
    return (ctypes.c_int64 * len(words))(*words)


class Reused:
    """Base of a named tuple that many calls take. Its argument words are computed by the first one."""

    @functools.cached_property
    def _as_parameter_(self) -> Array:  # for `ctypes`
        return argument_block(kind_of(type(self)), self)  # type: ignore[arg-type]  # a class is hashable


def _native(opened: ctypes.CDLL, kernel: Kernel) -> Code:
    """Return a function that calls the machine code of a kernel.

    The code takes a number directly, an array as address and length, and a tuple as the address of its words.
    If it returns a tuple, its first argument is the address for the results.
    """
    returns, code = kernel.returns, opened[kernel.name.replace(".", "_")]
    several = isinstance(returns, Tuple)
    code.restype = (
        None if several or returns == NOTHING else ctypes.c_double if returns == FLOAT else ctypes.c_int64
    )
    kinds: list[Any] = [ctypes.c_void_p] * several
    for kind in kernel.takes:
        if isinstance(kind, Flat):
            kinds += [ctypes.c_void_p, ctypes.c_int64]
        else:
            kinds.append(
                ctypes.c_void_p if isinstance(kind, Tuple)
                else ctypes.c_double if kind == FLOAT else ctypes.c_int64
            )
    code.argtypes = kinds
    tuples = [kind.of for kind in kernel.takes if isinstance(kind, Tuple)]
    arrays = any(isinstance(kind, Flat) for kind in kernel.takes)
    if not (arrays or several or returns == FLAG) and all(of and issubclass(of, Reused) for of in tuples):
        return code
    takes, room = kernel.takes, ctypes.c_int64 * len(returns.kinds) if isinstance(returns, Tuple) else None

    def call(*arguments: Any) -> Any:
        words: list[Any] = []
        out = room() if room is not None else None
        if out is not None:
            words.append(out)
        for kind, value in zip(takes, arguments, strict=True):
            if isinstance(kind, Tuple) and not isinstance(value, Reused):
                words.append(argument_block(kind, value))
            elif isinstance(kind, Flat):
                words += argument_words(kind, value)
            else:
                words.append(value)
        result = code(*words)
        return tuple(out) if out is not None else bool(result) if returns == FLAG else result

    return call
