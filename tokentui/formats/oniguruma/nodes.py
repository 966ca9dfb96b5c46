"""What a pattern of Oniguruma's says, as a tree. Characters are looked for as they stand or, where `fold` is set, in any case."""

from __future__ import annotations

from dataclasses import dataclass


class Untranslated(Exception):
    """A pattern holds what has no exact translation, or what Oniguruma refuses; the text names it."""


@dataclass(frozen=True, slots=True)
class Letters:
    """Characters one after the other."""

    text: str
    fold: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """One character of a class; `text` is a pattern of the `regex` library that matches one character, one atom."""

    text: str


@dataclass(frozen=True, slots=True)
class At:
    """A condition on a place; `text` is an atom of the `regex` library that matches no character."""

    text: str


@dataclass(frozen=True, slots=True)
class Around:
    """A group that takes nothing or gives nothing back; `sign` is `=`, `!`, `<=`, `<!` or `>`."""

    sign: str
    body: Node


@dataclass(frozen=True, slots=True)
class Captured:
    """A group that can be referred to."""

    number: int
    body: Node


@dataclass(frozen=True, slots=True)
class Again:
    """The text that a group matched."""

    number: int


@dataclass(frozen=True, slots=True)
class Row:
    """One after the other; nothing where there are none."""

    parts: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several, the first that leads to a match."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Times:
    """A repeat; `high` is None where there is no end."""

    body: Node
    low: int
    high: int | None
    lazy: bool = False


Node = Letters | OneOf | At | Around | Captured | Again | Row | Choice | Times


def row(parts: list[Node]) -> Node:
    """Nodes one after the other as one node; rows in it and characters side by side are joined."""
    out: list[Node] = []
    for part in parts:
        for one in part.parts if isinstance(part, Row) else (part,):
            last = out[-1] if out else None
            if isinstance(one, Letters) and isinstance(last, Letters) and one.fold == last.fold:
                out[-1] = Letters(last.text + one.text, one.fold)
            else:
                out.append(one)
    return out[0] if len(out) == 1 else Row(tuple(out))


def may_be_empty(node: Node) -> bool:
    """Whether a node matches no character at some place."""
    match node:
        case Letters(text):
            return not text
        case OneOf():
            return False
        case Around(">", body) | Captured(_, body):
            return may_be_empty(body)
        case Row(parts):
            return all(map(may_be_empty, parts))
        case Choice(branches):
            return any(map(may_be_empty, branches))
        case Times(body, low):
            return not low or may_be_empty(body)
    return True


def passes_places_over(node: Node) -> bool:
    """Whether a condition stands before a `.` that is repeated without an end.

    Where a match begins with such a repeat Oniguruma looks for it at the begin of a line alone, whatever the condition is.
    """
    match node:
        case Row((head, *rest)) if rest and _is_condition(head):
            return _begins_with_any(Row(tuple(rest)))
        case Row((head, *_)) | Around(">", head) | Captured(_, head) | Times(head):
            return passes_places_over(head)
        case Choice(branches):
            return any(map(passes_places_over, branches))
    return False


def _is_condition(node: Node) -> bool:
    return (isinstance(node, At) and node.text not in LINE_STARTS) or (isinstance(node, Around) and node.sign != ">")


def _begins_with_any(node: Node) -> bool:
    match node:
        case Times(OneOf(text), _, None) if text in ANY:
            return True
        case Row((head, *rest)) if rest and isinstance(head, At | Around) and not (isinstance(head, Around) and head.sign == ">"):
            return _begins_with_any(Row(tuple(rest)))
        case Row((head, *_)) | Around(">", head) | Captured(_, head) | Times(head):
            return _begins_with_any(head)
        case Choice(branches):
            return any(map(_begins_with_any, branches))
    return False


ANY = (r"[\s\S]", r"[^\n]")
"""What `.` is, with and without line ends."""
LINE_STARTS = (r"\A", r"(?:\A|(?<=\n)(?!\Z))")
