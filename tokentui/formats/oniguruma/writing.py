"""A tree of a pattern as a pattern of the `regex` library."""

from __future__ import annotations

from tokentui.formats.oniguruma import cases
from tokentui.formats.oniguruma.classes import in_brackets, shown
from tokentui.formats.oniguruma.nodes import (
    Again,
    Around,
    At,
    Captured,
    Choice,
    Letters,
    Node,
    OneOf,
    Row,
    Times,
    Untranslated,
)

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
        single = isinstance(node, Letters) and len(node.text) == 1 and (not node.fold or text[0] == "[" or len(text) == 1)
        whole = isinstance(node, (OneOf, Captured, Again)) or (isinstance(node, Around) and text.endswith(")"))
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
