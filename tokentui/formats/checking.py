"""Checks of a JSON document that say where they failed: the file, the key and the row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from tokentui.core.errors import TokentuiError

_LARGEST = 2**63 - 1
_HEX = re.compile("(?:[0-9a-f]{2})+")
_MEND = "mend the file or train it again"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a document: the file, the keys on the way, a row (from 0)."""

    file: str
    keys_down: tuple[str, ...] = ()
    row_number: int | None = None

    def __str__(self) -> str:
        """As it stands in front of an error."""
        row = "" if self.row_number is None else f" row {self.row_number}"
        return f"{self.file}: {'.'.join(self.keys_down)}{row}" if self.keys_down else self.file

    def key(self, name: str) -> Place:
        """The place of a key below this one."""
        return replace(self, keys_down=(*self.keys_down, name))

    def row(self, number: int) -> Place:
        """The place of a row of this list, counted from 0."""
        return replace(self, row_number=number)

    def line(self, number: int) -> Place:
        """The place of a line of a text file, counted from 0 and shown from 1."""
        return self.key(f"line {number + 1}")

    def error(self, what: str, hint: str = _MEND) -> TokentuiError:
        """What is wrong here."""
        return TokentuiError(what, str(self), hint)

    def mapping(self, value: Any) -> dict[str, Any]:
        """The value, which must be an object."""
        if not isinstance(value, dict):
            raise self.error(f"an object belongs here, not {_kind(value)}")
        return value

    def keys(self, value: dict[str, Any], known: Sequence[str]) -> None:
        """Refuse an object that lacks one of the keys or has another."""
        for name in known:
            if name not in value:
                raise self.error(f'"{name}" is missing')
        for name in value:
            if name not in known:
                raise self.error(f"{name[:40]!r} is not a key that this version reads", "one of: " + ", ".join(known))

    def fields(self, value: Any, names: Sequence[str]) -> list[Any]:
        """The value, which must be a list of as many fields as there are names."""
        if not isinstance(value, list) or len(value) != len(names):
            got = f"a list of {len(value)}" if isinstance(value, list) else _kind(value)
            raise self.error(f"a row is [{', '.join(names)}], not {got}")
        return value

    def number(self, value: Any) -> int:
        """The value, which must be a whole number from 0 on that fits 63 bits."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.error(f"a whole number belongs here, not {_kind(value)}")
        if not 0 <= value <= _LARGEST:
            raise self.error("a number is negative" if value < 0 else "a number is too large")
        return value

    def text(self, value: Any) -> str:
        """The value, which must be text."""
        if not isinstance(value, str):
            raise self.error(f"text belongs here, not {_kind(value)}")
        return value

    def hex(self, value: Any) -> bytes:
        """The bytes of the value, which must be lower-case hex, one byte or more."""
        if not isinstance(value, str) or not _HEX.fullmatch(value):
            raise self.error("HEX is not lower-case hex of whole bytes")
        return bytes.fromhex(value)


def entries(value: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    """Each row of the value, which must be a list, with its place."""
    if not isinstance(value, list):
        raise place.error(f"a list belongs here, not {_kind(value)}")
    for number, row in enumerate(value):
        yield place.row(number), row


def check_depth(value: Any, deepest: int, place: Place) -> None:
    """Look at how deep lists and objects stand in one another, level by level.

    Raises:
        TokentuiError: Deeper than that.
    """
    level = [value]
    for _ in range(deepest):
        level = [
            inner for one in level for inner in (one.values() if type(one) is dict else one)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return
    raise place.error("not a tokenizer: the JSON is nested too deeply")


def parse_json(text: str, place: Place) -> Any:
    """The value of a JSON text: no NaN, no key twice in an object.

    Raises:
        TokentuiError: It is no JSON; it says at which line and column.
    """

    def constant(name: str) -> NoReturn:
        raise place.error(f"{name} is no number in JSON")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            raise place.error(f"the key {twice[:40]!r} stands twice in an object")
        return found

    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        raise place.error(f"not valid JSON: {message} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise place.error("not a tokenizer: the JSON is nested too deeply") from None
    except ValueError:  # an integer of more digits than Python reads
        raise place.error("a number is too large") from None


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    names = {int: "a number", float: "a fraction", str: "text", list: "a list", dict: "an object"}
    return names[type(value)]
