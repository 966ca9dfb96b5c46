"""Data classes whose definition costs little at the start of a process.

The decorator of the standard library writes the methods of a class as text and compiles them one by one, half
a millisecond for each class: a third of what a command on a line of text takes. Here a class gets methods
that are shared by all, and the text of `__init__` is compiled when the first object is made. Of most classes
that a command imports it makes none.

Everything else is the standard library's own: `field`, `fields`, `replace`, `asdict`, matching, slots.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any

_PARAMS = "__dataclass_params__"

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type[Any] | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True,
        kw_only: bool = False,
    ) -> Any:
        """Make a data class, as `dataclasses.dataclass` does."""

        def make(cls: type[Any]) -> type[Any]:
            own = vars(cls)
            hashed = own.get("__hash__") is not None
            parents = [vars(one)[_PARAMS] for one in cls.__mro__[1:] if _PARAMS in vars(one)]
            with _not_frozen([one for one in parents if one.frozen]):
                made = dataclasses.dataclass(
                    init=False, repr=False, eq=False, slots=slots, kw_only=kw_only
                )(cls)
            getattr(made, _PARAMS).frozen = frozen
            methods: dict[str, Any] = {"__init__": _first_init(made, frozen), "__repr__": _repr}
            methods |= _compared(made) if eq else {}
            for name, method in methods.items():
                if name not in own:
                    setattr(made, name, method)
            if eq and not hashed:
                made.__hash__ = _hashing(made) if frozen else None
            if frozen:
                made.__setattr__ = _frozen(made, "assign to", object.__setattr__)
                made.__delattr__ = _frozen(made, "delete", object.__delattr__)
                if slots and "__getstate__" not in own:
                    made.__getstate__, made.__setstate__ = _state, _set_state
            return made

        return make if cls is None else make(cls)


@contextlib.contextmanager
def _not_frozen(params: list[Any]) -> Iterator[None]:
    """Let the standard library take these classes for ones that are not frozen: it asks that a class is as
    its parents are, and compiles methods for those that are frozen."""
    for one in params:
        one.frozen = False
    try:
        yield
    finally:
        for one in params:
            one.frozen = True


def _first_init(cls: type[Any], frozen: bool) -> Callable[..., None]:
    """The `__init__` that makes the real one, which takes its place."""

    def __init__(self: Any, *values: Any, **named: Any) -> None:
        made = _init(cls, frozen)
        if vars(cls).get("__init__") is __init__:
            cls.__init__ = made  # type: ignore[misc]
        made(self, *values, **named)

    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def _init(cls: type[Any], frozen: bool) -> Callable[..., None]:
    """The `__init__` of a class, out of its fields."""
    missing = dataclasses.MISSING
    place: dict[str, Any] = {"_missing": missing, "_set": object.__setattr__}
    positional, named, lines = ["self"], [], []
    for field in dataclasses.fields(cls):
        value, default = field.name, f"_default_{field.name}"
        made = field.default_factory is not missing
        if made or field.default is not missing:
            place[default] = field.default_factory if made else field.default
        if field.init:
            has = default in place
            word = f"{value}={'_missing' if made else default}" if has else value
            (named if field.kw_only else positional).append(word)
            value = f"{default}() if {value} is _missing else {value}" if made else value
        elif made:
            value = f"{default}()"
        else:
            continue
        lines.append(f"_set(self, {field.name!r}, {value})" if frozen else f"self.{field.name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    words = ", ".join([*positional, *(["*", *named] if named else [])])
    exec(f"def __init__({words}):\n  " + "\n  ".join(lines or ["pass"]), place)
    made_init: Callable[..., None] = place["__init__"]
    made_init.__qualname__ = f"{cls.__qualname__}.__init__"
    return made_init


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What returns the values of these fields of an object."""
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda one: (getattr(one, names[0]),)) if names else (lambda one: ())


def _compared(cls: type[Any]) -> dict[str, Any]:
    values = _values([field.name for field in dataclasses.fields(cls) if field.compare])

    def __eq__(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return {"__eq__": __eq__}


def _hashing(cls: type[Any]) -> Callable[[Any], int]:
    fields = dataclasses.fields(cls)
    values = _values([one.name for one in fields if (one.compare if one.hash is None else one.hash)])
    return lambda self: hash(values(self))


def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _frozen(cls: type[Any], verb: str, otherwise: Callable[..., None]) -> Callable[..., None]:
    """What refuses to change a field; a class below may have attributes of its own."""

    def change(self: Any, name: str, *value: Any) -> None:
        if type(self) is cls or any(name == one.name for one in dataclasses.fields(cls)):
            raise dataclasses.FrozenInstanceError(f"cannot {verb} field {name!r}")
        otherwise(self, name, *value)

    return change


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)
