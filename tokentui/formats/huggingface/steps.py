"""The steps of a `tokenizer.json` as frozen values: read from JSON and written to it by their fields, and
called.

A step is a dataclass whose fields are the keys of its JSON value. What it does is its method `run`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, ClassVar, Self, TypeVar

from tokentui.formats.document import Node, inner_of
from tokentui.formats.huggingface.text import Pattern

MAX_DEPTH = 32
"""Levels of sequences in sequences."""
_MOST_STEPS = 1_000
_ABSENT = ("where", "type")


@dataclass(frozen=True)
class Step:
    """A step.

    Attributes:
        kind: The type in JSON: the name of the class where empty.
        where: The place in the file, for errors.
    """

    kind: ClassVar[str] = ""
    where: str = field(default="", kw_only=True, compare=False, repr=False)

    @classmethod
    def read(cls, node: Node, inner: tuple[Step, ...] = ()) -> Self:
        """The step of its JSON value.

        Args:
            node: The value.
            inner: The steps in it, of a sequence.

        Raises:
            TokentuiError: A key is missing or damaged.
        """
        given = {one.name: _value(one, node, inner) for one in fields(cls) if one.name not in _ABSENT}
        step = cls(**given, where=str(node))
        step.check(node)
        return step

    def check(self, node: Node) -> None:
        """Look at what the types of the fields do not say.

        Raises:
            TokentuiError: It is damaged.
        """

    def json(self) -> dict[str, Any]:
        """The JSON value."""
        return {"type": self.kind or type(self).__name__} | {
            one.name: _json(getattr(self, one.name)) for one in fields(self) if one.name not in _ABSENT
        }


S = TypeVar("S", bound=Step)


def read(node: Node, types: Mapping[str, type[S]], inner: str, depth: int = 0) -> S:
    """A step of one of these types.

    Args:
        node: Its JSON value.
        types: The classes by their types in JSON.
        inner: The key of the steps of a sequence.
        depth: The number of sequences around it.

    Raises:
        TokentuiError: It is damaged, or of a type that is not known.
    """
    if depth > MAX_DEPTH:
        raise node.error("sequences stand too deep in one another")
    kind = node["type"].value
    if not isinstance(kind, str) or kind not in types:
        raise node.error(f"{str(kind)[:40]!r} is no type that this version reads",
                         "one of: " + ", ".join(types))
    here = node.at(kind, node.value)
    within = tuple(read(one, types, inner, depth + 1)
                   for one in here.listed(inner)) if kind == "Sequence" else ()
    return types[kind].read(here, within)


def check_steps(node: Node) -> None:
    """Look at how many steps stand in one another and one after the other.

    Raises:
        TokentuiError: They are beyond the limit.
    """
    count, level = 0, [node.value]
    while level:
        count += sum(isinstance(one, dict) and "type" in one for one in level)
        if count > _MOST_STEPS:
            raise node.error(f"more than {_MOST_STEPS:,} steps", "mend the file")
        level = list(inner_of(level))


def _value(one: Field[Any], node: Node, inner: tuple[Step, ...]) -> object:
    """The value of a field, by its type."""
    default = None if one.default is MISSING else one.default
    match one.type:
        case "bool":
            return node.flag(one.name, default)
        case "bool | None":
            return None if node[one.name].value is None else node.flag(one.name)
        case "str":
            return node[one.name].text(default)
        case "int":
            return node[one.name].number(default)
        case "Pattern":
            return Pattern.read(node[one.name])
    return inner


def _json(value: object) -> object:
    if isinstance(value, tuple):
        return [step.json() for step in value]
    return value.json() if isinstance(value, Pattern) else value
