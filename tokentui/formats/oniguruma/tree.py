"""Patterns as trees, and as patterns of the `regex` library. Characters are looked for as they are or,
folded, in any case.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokentui.formats.oniguruma import cases
from tokentui.formats.oniguruma.classes import Untranslated, in_brackets, shown


@dataclass(frozen=True, slots=True)
class Letters:
    """Characters one after the other."""

    text: str
    fold: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """One character of a class; `text` is a pattern of the `regex` library that matches one character, one
    atom.
    """

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
    """Return whether a node matches no character at some place."""
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
    """Return whether a condition stands before a `.` that is repeated without an end.

    Where a match begins with such a repeat Oniguruma looks for it at the begin of a line alone, whatever the
    condition is.
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
    return (isinstance(node, At) and node.text not in LINE_STARTS) or (isinstance(node, Around)
                                                                       and node.sign != ">")


def _begins_with_any(node: Node) -> bool:
    match node:
        case Times(OneOf(text), _, None) if text in ANY:
            return True
        case Row((head, *rest)) if rest and isinstance(head, At | Around) and not (isinstance(head, Around)
                                                                                   and head.sign == ">"):
            return _begins_with_any(Row(tuple(rest)))
        case Row((head, *_)) | Around(">", head) | Captured(_, head) | Times(head):
            return _begins_with_any(head)
        case Choice(branches):
            return any(map(_begins_with_any, branches))
    return False


ANY = (r"[\s\S]", r"[^\n]")
"""Translations of `.`, with and without line ends."""
LINE_STARTS = (r"\A", r"(?:\A|(?<=\n)(?!\Z))")


# --- writing ---

_SPECIAL = r"\.^$*+?{}[]|()"


def written(node: Node) -> str:
    """The pattern of a tree.

    Raises:
        Untranslated: A text is written in too many ways in other cases.
    """
    return _Writer(_referred(node)).text(node)


def _referred(node: Node) -> frozenset[int]:
    """The groups that are referred to."""
    match node:
        case Again(number):
            return frozenset((number,))
        case Around(_, body) | Captured(_, body) | Times(body):
            return _referred(body)
        case Row(parts) | Choice(parts):
            return frozenset().union(*map(_referred, parts))
    return frozenset()


class _Writer:
    def __init__(self, groups: frozenset[int]) -> None:
        self._groups = groups
        self._behind = 0

    def text(self, node: Node) -> str:
        """A node as it may stand by itself or as an alternative."""
        match node:
            case Row(parts):
                return "".join(self._part(part) for part in parts)
            case Choice(branches):
                return "|".join(map(self.text, branches))
            case Letters(text, fold):
                return self._in_any_case(text) if fold else "".join(shown(one, _SPECIAL) for one in text)
            case OneOf(text) | At(text):
                return text
            case Around(">", Times(body, low, high, False)) if (low, high) in _SIGNS:
                return self._atom(body) + _SIGNS[low, high] + "+"
            case Around(sign, body):
                self._behind += len(sign) == 2
                inside = self.text(body)
                self._behind -= len(sign) == 2
                return f"(?{sign}{inside})"
            case Captured(number, body):
                return f"(?P<g{number}>{self.text(body)})" if number in self._groups else f"(?:{self.text(body)})"
            case Again(number):
                return f"(?P=g{number})"
            case Times(body, low, high, lazy):
                return self._atom(body) + _times(low, high) + ("?" if lazy else "")

    def _part(self, node: Node) -> str:
        """A node as it may stand in a row."""
        return f"(?:{self.text(node)})" if isinstance(node, Choice) else self.text(node)

    def _atom(self, node: Node) -> str:
        """A node as a repeat may follow it."""
        text = self.text(node)
        single = isinstance(node, Letters) and len(node.text) == 1 and (not node.fold or text[0] == "["
                                                                        or len(text) == 1)
        whole = isinstance(node,
                           (OneOf, Captured, Again)) or (isinstance(node, Around) and text.endswith(")"))
        return text if single or whole else f"(?:{text})"

    def _in_any_case(self, text: str) -> str:
        rows = cases.ways(text)
        if rows is None:
            raise Untranslated("a text under (?i) that is written in many ways in other cases")
        if len(rows) > 1 and self._behind:
            raise Untranslated("a text under (?i) that is longer in another case, and (?<= or (?<! around it")
        spelled = ["".join(_one_of(letters) for letters in letters_) for letters_ in rows]
        return spelled[0] if len(spelled) == 1 else f"(?:{'|'.join(spelled)})"


_SIGNS = {(0, 1): "?", (0, None): "*", (1, None): "+"}


def _times(low: int, high: int | None) -> str:
    if (low, high) in _SIGNS:
        return _SIGNS[low, high]
    return f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"


def _one_of(letters: str) -> str:
    return shown(letters, _SPECIAL) if len(letters) == 1 else f"[{''.join(map(in_brackets, letters))}]"
