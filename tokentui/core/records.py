"""Data classes that cost little at the start of a process.

The standard library's decorator writes the methods of a class as source text and compiles each, half a
millisecond for each class. Here all classes share their methods, and the `__init__` of a class is compiled
only after many objects were made. A command makes few objects of most classes that it imports.

Milliseconds of the processor, here / with the standard library's, nine starts each on a busy machine:
`encode` of a line with GPT-2's file 404 / 443, a first training of 1 MB 187 / 219, the first paint of the
explorer 396 / 449.

Everything else is the standard library's: `field`, `fields`, `replace`, `asdict`, matching, slots.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

Object: TypeAlias = Any
"""An object of any data class, or the value of a field."""
Class: TypeAlias = "type[Object]"
Method: TypeAlias = "Callable[..., Object]"
_PARAMS = "__dataclass_params__"
_FIRST = 40
"""Objects of a class after which compiling its `__init__` pays off."""
_ONE_AT_A_TIME = threading.RLock()
"""Protects patched classes: several threads may import modules."""

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: Class | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True,
        kw_only: bool = False,
    ) -> Object:
        """Make a data class, as `dataclasses.dataclass` does."""

        def make(cls: Class) -> Class:
            own = vars(cls)
            hashed = own.get("__hash__") is not None
            parents = [vars(parent)[_PARAMS] for parent in cls.__mro__[1:] if _PARAMS in vars(parent)]
            with _not_frozen(parents):
                data_class = dataclasses.dataclass(
                    init=False, repr=False, eq=False, slots=slots, kw_only=kw_only
                )(cls)
            getattr(data_class, _PARAMS).frozen = frozen
            methods: dict[str, object] = {"__init__": _first_init(data_class, frozen), "__repr__": _repr}
            methods |= _compared(data_class) if eq else {}
            for name, method in methods.items():
                if name not in own:
                    setattr(data_class, name, method)
            if eq and not hashed:
                data_class.__hash__ = _hashing(data_class) if frozen else None
            if frozen:
                data_class.__setattr__ = _frozen(data_class, "assign to", object.__setattr__)
                data_class.__delattr__ = _frozen(data_class, "delete", object.__delattr__)
                if slots and "__getstate__" not in own:
                    data_class.__getstate__, data_class.__setstate__ = _state, _set_state
            return data_class

        return make if cls is None else make(cls)


@contextlib.contextmanager
def _not_frozen(params: list[Object]) -> Iterator[None]:
    """Make parent classes look not frozen to the standard library. Otherwise it compiles methods for frozen
    classes."""
    with _ONE_AT_A_TIME:
        frozen = [params_ for params_ in params if params_.frozen]
        for params_ in frozen:
            params_.frozen = False
        try:
            yield
        finally:
            for params_ in frozen:
                params_.frozen = True


def _first_init(cls: Class, frozen: bool) -> Callable[..., None]:
    """Return an `__init__` that assigns the fields in a loop. After `_FIRST` objects the compiled `__init__`,
    which is faster, replaces it. Wrong arguments raise the compiled one's errors."""
    fields, missing, left = dataclasses.fields(cls), dataclasses.MISSING, _FIRST
    names = [field_.name for field_ in fields if field_.init and not field_.kw_only]
    known, slots = {field_.name for field_ in fields if field_.init}, "__slots__" in vars(cls)
    assign = object.__setattr__ if frozen else setattr

    def __init__(self: Object, *values: object, **named: object) -> None:
        nonlocal left
        left -= 1
        values_by_name = dict(zip(names, values, strict=False))
        twice = not values_by_name.keys().isdisjoint(named)
        wrong = twice or len(values) > len(names) or not named.keys() <= known
        values_by_name |= named
        if left <= 0 or wrong or any(
            field_.name not in values_by_name and field_.default is missing
            and field_.default_factory is missing
            for field_ in fields if field_.init
        ):
            compiled_init = _init(cls, frozen)
            if vars(cls).get("__init__") is __init__:
                cls.__init__ = compiled_init
            compiled_init(self, *values, **named)
            return
        for field_ in fields:
            if field_.name in values_by_name:
                assign(self, field_.name, values_by_name[field_.name])
            elif field_.default_factory is not missing:
                assign(self, field_.name, field_.default_factory())
            elif field_.init or (slots and field_.default is not missing):
                assign(self, field_.name, field_.default)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def _init(cls: Class, frozen: bool) -> Callable[..., None]:
    """Return the compiled `__init__` that the standard library makes for the same fields."""
    words = ("default", "default_factory", "init", "kw_only")
    own: dict[str, Object] = {
        field_.name: dataclasses.field(**{word: getattr(field_, word) for word in words})
        for field_ in dataclasses.fields(cls)
    }
    own["__annotations__"] = dict.fromkeys(own, object)
    own |= {"__doc__": "", "__module__": cls.__module__, "__qualname__": cls.__qualname__}
    if hasattr(cls, "__post_init__"):
        own["__post_init__"] = cls.__post_init__
    alike = type(cls.__name__, (), own)
    data_class: Object = dataclasses.dataclass(
        repr=False, eq=False, match_args=False, frozen=frozen, slots="__slots__" in vars(cls)
    )(alike)
    compiled_init: Callable[..., None] = vars(data_class)["__init__"]
    return compiled_init


def _values(names: list[str]) -> Callable[[Object], tuple[Object, ...]]:
    """Return a function that returns the values of these fields of an object as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda one: (getattr(one, names[0]),)) if names else (lambda one: ())


def _compared(cls: Class) -> dict[str, object]:
    values = _values([field.name for field in dataclasses.fields(cls) if field.compare])

    def __eq__(self: object, other: object) -> object:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return {"__eq__": __eq__}


def _hashing(cls: Class) -> Callable[[Object], int]:
    fields = dataclasses.fields(cls)
    values = _values(
        [field_.name for field_ in fields if (field_.compare if field_.hash is None else field_.hash)]
    )
    return lambda self: hash(values(self))


def _repr(self: Object) -> str:
    shown = (
        f"{field_.name}={getattr(self, field_.name)!r}" for field_ in dataclasses.fields(self) if field_.repr
    )
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _frozen(cls: Class, verb: str, otherwise: Callable[..., None]) -> Callable[..., None]:
    """Return a method that refuses to set or delete a field. Subclasses may have other attributes."""

    def change(self: object, name: str, *value: object) -> None:
        if type(self) is cls or any(name == field_.name for field_ in dataclasses.fields(cls)):
            raise dataclasses.FrozenInstanceError(f"cannot {verb} field {name!r}")
        otherwise(self, name, *value)

    return change


def _state(self: Object) -> list[Object]:
    return [getattr(self, field_.name) for field_ in dataclasses.fields(self)]


def _set_state(self: Object, state: list[Object]) -> None:
    for field_, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field_.name, value)
