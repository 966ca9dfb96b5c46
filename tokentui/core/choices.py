"""Axes of a recipe, the values that each may have, and their parameters.

A user writes a value as `name`, or `name:TEXT` or `name:key=value,…` if its record takes a text or
parameters.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from tokentui.core.counts import read_count
from tokentui.core.errors import TokentuiError, each_of, name_of, nearest, shown, whole
from tokentui.core.records import dataclass

LARGEST = 2**53
"""The largest number that a user may give: every JSON reader keeps it exact."""
UNWRITABLE = "a text cannot contain NUL or a lone surrogate"
_NONE = "none"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a run or of a value of an axis.

    Attributes:
        name: Its name.
        about: A few words on what it does.
        default: The value if the user gives none.
        kind: `int`, `float`, `bool`, `str`, or `tuple` for texts.
        least: The smallest valid number. A `float` must be greater than it.
        most: The greatest number.
    """

    name: str
    about: str
    default: object = None
    kind: type = int
    least: int = 0
    most: int = LARGEST

    def checked(self, value: object) -> Any:
        """Check a value and return it in its stored form. None is valid if the default is None.

        Raises:
            TokentuiError: It is of another type, or out of range.
        """
        if value is None and self.default is None:
            return None
        where = f"{self.name}={value if isinstance(value, str) else shown(value)}"
        if self.kind is int:
            if not self.least <= (number := whole(value, self.name)) <= self.most:
                most = "2**53" if self.most == LARGEST else self.most
                raise TokentuiError("out of range", where, f"use {self.least} or more, at most {most}")
            return number
        if self.kind is float:
            if (
                isinstance(value, int | float)
                and not isinstance(value, bool)
                and self.least < value <= self.most
            ):
                return float(value)
            kind, example = ("share", 0.9995) if self.most == 1 else ("number", self.default)
            what = f"expected a {kind} above {self.least} and at most {self.most}"
            raise TokentuiError(what, where, f"for example {example}")
        if self.kind is bool and not isinstance(value, bool):
            raise TokentuiError("expected yes or no", where, "use True or False")
        if self.kind is tuple:
            return self._texts(value)
        return name_of(value, self.name) if self.kind is str else value

    def read(self, text: str) -> Any:
        """Parse a value that a user wrote. An empty text or `none` gives the default.

        Raises:
            TokentuiError: It cannot be read, or is out of range.
        """
        text = text.strip()
        if self.kind is tuple:
            return tuple(dict.fromkeys("" if text == _NONE else text.split()))
        if text in ("", _NONE):
            return self.default
        if self.kind is int:
            if (number := read_count(text)) is None or len(str(number)) > len(str(self.most)):
                raise TokentuiError(
                    "expected a whole number", self.name, f"{self.least} or more, or {_NONE}"
                )
            return self.checked(number)
        try:
            return self.checked(
                {"yes": True, "no": False}.get(text, text) if self.kind is bool else self.kind(text)
            )
        except ValueError:
            return self.checked(text)

    def written(self, value: object) -> str:
        """Return a value as a user writes it. The text is not safe for a terminal."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, tuple):
            return " ".join(value) or _NONE
        return _NONE if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.10g}"

    def _texts(self, value: Any) -> tuple[str, ...]:
        """Return a value as a tuple of texts: none of them empty, none twice."""
        if isinstance(value, str):
            raise TokentuiError(
                "expected a list of texts, not a text", self.name, f"write [{shown(value)}]"
            )
        texts = each_of(value, self.name, "pass a list of texts")
        singular = self.name.removesuffix("s")
        seen: set[str] = set()
        for text in texts:
            if not isinstance(text, str):
                raise TokentuiError(f"expected a text, not {shown(text)}", self.name, "for example ['<unk>']")
            if not text:
                raise TokentuiError(
                    f"a {singular} {'token ' * (singular == 'special')}cannot be empty", self.name,
                    "leave it out"
                )
            if text in seen:
                raise TokentuiError("named twice", f"{singular} {text}", "name it once")
            seen.add(text)
        return tuple(texts)


class Refusal(NamedTuple):
    """The reason why a recipe makes no sense, and its remedies.

    Attributes:
        word: The axis, or the word of `SHAPE`, that the error names.
        what: The fault.
        takes: The remedies, each `axis=value` or several of them together. The least change comes first.
        fades: True if a change of an axis silently resets the word to its default.
    """

    word: str
    what: str
    takes: tuple[str, ...]
    fades: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of an axis. Each axis adds the fields that its room needs.

    Attributes:
        name: Its name.
        about: A few words on what it does.
        text: The name of the text after its colon, such as `PATTERN`; empty if it takes no text.
        sample: An example of that text.
        parameters: Its parameters, written after the colon as `key=value`.
        refuses: Returns the reason why the value conflicts with the rest of a recipe, or None. Raises
            `TokentuiError` if the text after the colon is invalid.
    """

    name: str
    about: str
    text: str = ""
    sample: str = ""
    parameters: tuple[Parameter, ...] = ()
    refuses: Callable[[Any], Refusal | None] | None = None

    def arguments(self, value: str) -> dict[str, object]:
        """Return the parameters of a value, by name, with defaults for those that it does not give.

        Raises:
            TokentuiError: A parameter is unknown or invalid.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        arguments = {parameter.name: parameter.default for parameter in self.parameters}
        for part in filter(None, value.partition(":")[2].split(",")):
            name, _, text = part.partition("=")
            if name not in known:
                raise TokentuiError(f"{self.name} has no parameter {name!r}", value, nearest(name, known))
            arguments[name] = known[name].read(text)
        return arguments


C = TypeVar("C", bound=Choice)


class Axis(dict[str, C]):
    """An axis: the records of its values by name, in the order in which they are listed.

    Args:
        name: Its name.
        about: A short description.
        records: Its values.
        retired: Values that are no longer offered. Files and recipes that name one are still read: `find`,
            `of` and `check` know them.
    """

    def __init__(self, name: str, about: str, *records: C, retired: Iterable[C] = ()) -> None:
        super().__init__({record.name: record for record in records})
        self.name, self.about = name, about
        self.retired = {record.name: record for record in retired}

    def find(self, value: str) -> C | None:
        """Return the record of a value, retired or not, or None for an unknown value."""
        name = value.partition(":")[0]
        return self.get(name) or self.retired.get(name)

    def of(self, value: str) -> C:
        """Return the record of a value, retired or not.

        Raises:
            TokentuiError: The value is unknown. The hint names the nearest one.
        """
        record = self.find(value) if isinstance(value, str) else None
        if record is None:
            raise self._unknown(value)
        return record

    def _unknown(self, value: object) -> TokentuiError:
        hint = nearest(value if isinstance(value, str) else "", self.written().values())
        return TokentuiError(f"no value {shown(value)}", self.name, hint)

    def written(self) -> dict[str, str]:
        """Return each value as a user writes it, such as `regex:PATTERN`, by its name."""
        return {name: f"{name}:{record.text}" if record.text else name for name, record in self.items()}

    def check(self, value: str) -> C:
        """Return the record of a value after checking its text and parameters.

        Raises:
            TokentuiError: The value is unknown, its text is missing or invalid, or a parameter is invalid.
        """
        record = self.of(value)
        _, colon, text = value.partition(":")
        if bool(colon) < bool(record.text) or (colon and not record.text and not record.parameters):
            raise self._unknown(value)
        if record.text and not text:
            what = f"{record.name}: needs text after the colon"
            hint = f"for example {record.name}:{record.sample}"
            raise TokentuiError(what, f"{self.name}={value}", hint)
        if record.text and unwritable(text):
            raise TokentuiError(UNWRITABLE, f"{self.name}={record.name}:…", "leave it out")
        if record.parameters:
            record.arguments(value)
        return record


def unwritable(text: str) -> bool:
    """Return whether a text holds NUL or half a surrogate pair, which no recipe file can hold."""
    return "\0" in text or any("\ud800" <= character <= "\udfff" for character in text)


@dataclass(frozen=True, slots=True)
class Ref:
    """A lazy reference to a function, class or value, such as `Ref("tokentui.formats.byte_files:read")`.

    A call imports the module and calls the object. A test resolves every reference of the package.

    Attributes:
        target: The module and the name in it, with a colon between them.
    """

    target: str

    def resolve(self) -> Any:
        """Import the module and return the object of this name."""
        module, _, name = self.target.partition(":")
        return getattr(importlib.import_module(module), name)

    def __call__(self, *arguments: object, **named: object) -> Any:
        return self.resolve()(*arguments, **named)
