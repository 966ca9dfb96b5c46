"""The pre-tokenizers of a `tokenizer.json`, and the axis `split` in both directions."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import regex

from tokentui.formats.document import Node
from tokentui.formats.huggingface import steps
from tokentui.formats.huggingface.normalizers import byte_letters, is_prepended
from tokentui.formats.huggingface.scripts import by_script
from tokentui.formats.huggingface.text import (
    BEHAVIOURS,
    Pattern,
    Text,
    check_growth,
    class_spans,
    spans,
    split,
)
from tokentui.formats.oniguruma import pattern_of, translated
from tokentui.formats.spec import Refused
from tokentui.recipe import Recipe
from tokentui.text import bert
from tokentui.text.split import SPACE_MARK, SPLITS, Splitter, spaced

_GPT2 = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
_WORD_CHARACTERS = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]"
_WORDS = regex.compile(rf"{_WORD_CHARACTERS}+|[^{_WORD_CHARACTERS[1:-1]}\s]+")


@dataclass(frozen=True)
class PreTokenizer(steps.Step):
    """A step from a text to its parts, none of them empty."""

    def __call__(self, text: Text) -> list[Text]:
        """The parts of a text."""
        raise NotImplementedError


@dataclass(frozen=True)
class Sequence(PreTokenizer):
    """Several steps, each on the parts of the one before."""

    pretokenizers: tuple[PreTokenizer, ...]

    def __call__(self, text: Text) -> list[Text]:
        """The parts after all of them."""
        parts = [text]
        for step in self.pretokenizers:
            parts = [made for part in parts for made in step(part)]
            check_growth(len(text.text), sum(len(part.text) for part in parts), self.where)
        return parts


@dataclass(frozen=True)
class ByteLevel(PreTokenizer):
    """GPT-2's words where `use_regex` asks for them, in letters for bytes."""

    add_prefix_space: bool
    trim_offsets: bool = True
    use_regex: bool = True

    def __call__(self, text: Text) -> list[Text]:
        """The words of a text in letters."""
        if self.add_prefix_space and not text.text.startswith(" "):
            text = text.prepended(" ")
        cut = split(text, spans(_GPT2, text.text, self.where), "Isolated") if self.use_regex else [text]
        return [byte_letters(part) for part in cut]


@dataclass(frozen=True)
class SpaceMark(steps.Step):
    """The keys of a Metaspace, which is a pre-tokenizer and a decoder.

    Attributes:
        replacement: The mark, one character.
        prepend_scheme: Where the text gets a mark in front: `always`, `never`, or `first` for the beginning
            of the text.
        split: Whether it is cut into words.
    """

    replacement: str
    prepend_scheme: str = "always"
    split: bool = True

    @classmethod
    def read(cls, node: Node, inner: tuple[steps.Step, ...] = ()) -> Self:
        """The step of its JSON value, in its old form or its new one.

        Raises:
            TokentuiError: It is damaged, or the two forms contradict each other.
        """
        replacement, scheme = _character(node["replacement"]), node.mapping().get("prepend_scheme", "always")
        if not isinstance(scheme, str) or scheme not in ("first", "never", "always"):
            raise node["prepend_scheme"].error("no such scheme", "one of: first, never, always")
        if node["add_prefix_space"].value is False:
            if "prepend_scheme" not in node:
                raise node.error('"add_prefix_space" is false without "prepend_scheme": "never"',
                                 "write both")
            if scheme != "never":
                what = '"add_prefix_space" and "prepend_scheme" contradict each other'
                raise node.error(what, "leave one of them out")
        cuts = True if node["split"].value is None else node.flag("split")
        return cls(replacement, scheme, cuts, where=str(node))


@dataclass(frozen=True)
class Metaspace(SpaceMark, PreTokenizer):
    """A mark for each space, and words that begin with one."""

    def __call__(self, text: Text) -> list[Text]:
        """The words of a text."""
        mark, scheme = self.replacement, self.prepend_scheme
        text = text.respelled(text.text.replace(" ", mark))
        if not text.text.startswith(mark) and (
            scheme == "always" or (scheme == "first" and text.starts[0] == 0)
        ):
            text = text.prepended(mark)
        if not self.split or mark not in text.text[1:]:
            return [text]
        return split(text, class_spans(regex.escape(mark), text.text), "MergedWithNext")


def _character(node: Node) -> str:
    if len(node.text()) != 1:
        raise node.error("one character belongs here")
    return node.text()


def _check_behaviour(behavior: str, node: Node) -> None:
    if behavior not in BEHAVIOURS:
        raise node["behavior"].error("no such behaviour", "one of: " + ", ".join(BEHAVIOURS))


@dataclass(frozen=True)
class Split(PreTokenizer):
    """Cuts at what a pattern finds, or with `invert` at what lies between."""

    pattern: Pattern
    behavior: str
    invert: bool

    def check(self, node: Node) -> None:
        """Look at the behaviour."""
        _check_behaviour(self.behavior, node)

    def __call__(self, text: Text) -> list[Text]:
        """The parts of a text."""
        return split(text, self.pattern.find(text.text, self.where), self.behavior, self.invert)


@dataclass(frozen=True)
class Punctuation(PreTokenizer):
    """Cuts at marks of punctuation."""

    behavior: str = "Isolated"

    def check(self, node: Node) -> None:
        """Look at the behaviour."""
        _check_behaviour(self.behavior, node)

    def __call__(self, text: Text) -> list[Text]:
        """The parts of a text."""
        return split(text, class_spans(bert.PUNCTUATION, text.text, re), self.behavior)


@dataclass(frozen=True)
class Digits(PreTokenizer):
    """Cuts at numbers, or at each digit."""

    individual_digits: bool

    def __call__(self, text: Text) -> list[Text]:
        """The parts of a text."""
        return split(text, class_spans(r"\p{N}", text.text),
                     "Isolated" if self.individual_digits else "Contiguous")


@dataclass(frozen=True)
class CharDelimiterSplit(PreTokenizer):
    """Cuts at a character, and drops it."""

    delimiter: str

    def check(self, node: Node) -> None:
        """Look at the character."""
        _character(node["delimiter"])

    def __call__(self, text: Text) -> list[Text]:
        """The parts of a text."""
        return split(text, class_spans(regex.escape(self.delimiter), text.text), "Removed")


@dataclass(frozen=True)
class FixedLength(PreTokenizer):
    """Cuts into parts of so many characters."""

    length: int = 5

    def check(self, node: Node) -> None:
        """Look at the length."""
        if not self.length:
            raise node["length"].error("a length is at least 1")

    def __call__(self, text: Text) -> list[Text]:
        """The parts of a text."""
        size, length = len(text.text), self.length
        return [text.part(at, min(at + length, size)) for at in range(0, size, length)]


class Whitespace(PreTokenizer):
    """Words, and runs of what is neither a word nor white space."""

    def __call__(self, text: Text) -> list[Text]:
        """The parts of a text."""
        return split(text, spans(_WORDS, text.text, self.where), "Removed", invert=True)


class WhitespaceSplit(PreTokenizer):
    """Cuts at white space, and drops it."""

    def __call__(self, text: Text) -> list[Text]:
        """The parts of a text."""
        return split(text, class_spans(bert.SPACES, text.text, re), "Removed")


class BertPreTokenizer(PreTokenizer):
    """BERT's words: cut at white space, and at each mark of punctuation."""

    def __call__(self, text: Text) -> list[Text]:
        """The parts of a text."""
        words = split(text, class_spans(bert.SPACES, text.text, re), "Removed")
        return [part for word in words
                for part in split(word, class_spans(bert.PUNCTUATION, word.text, re), "Isolated")]


class UnicodeScripts(PreTokenizer):
    """Cuts where the script changes."""

    def __call__(self, text: Text) -> list[Text]:
        """The parts of a text."""
        return by_script(text)


TYPES: dict[str, type[PreTokenizer]] = {
    kind.__name__: kind
    for kind in (
        Sequence, ByteLevel, Metaspace, Split, Whitespace, WhitespaceSplit, BertPreTokenizer,
        Punctuation, Digits,
        CharDelimiterSplit, FixedLength, UnicodeScripts,
    )
}
"""The pre-tokenizers by their types."""


def read(node: Node) -> PreTokenizer | None:
    """The pre-tokenizer of its JSON value, None for none.

    Raises:
        TokentuiError: It is damaged, or of a type that is not known.
    """
    return None if node.value is None else steps.read(node, TYPES, "pretokenizers")


# --- the axis `split` ---

_FALCON = (
    Punctuation("Contiguous"), ByteLevel(False), Digits(False),
    Split(Pattern("Regex", "[0-9][0-9][0-9]"), "Isolated", False),
)


def parts_of(step: PreTokenizer | None) -> tuple[PreTokenizer, ...]:
    """The steps of a sequence, or the one step."""
    return () if step is None else step.pretokenizers if isinstance(step, Sequence) else (step,)


def axis_of(step: PreTokenizer | None) -> str | None:
    """The value of the axis `split` that does the same, None where there is none."""
    match parts_of(step):
        case ():
            return "none" if step is None else None
        case (Sequence() as inner,):
            return axis_of(inner)
        case (ByteLevel(False, _, cuts),):
            return "gpt2" if cuts else "none"
        case (BertPreTokenizer(),):
            return "bert"
        case (WhitespaceSplit(),):
            return "whitespace"
        case (Split() as cut, ByteLevel(False, _, False)):
            return _known_split(cut)
        case (Punctuation(), ByteLevel(False, _, True), Digits(), Split()) as found:
            others = zip(found, _FALCON, strict=True)
            return "falcon" if all(one == like for one, like in others
                                   if not isinstance(one, ByteLevel)) else None
    return None


_KNOWN = ("space", "before", "gpt2", "cl100k", "cl100k-classic", "o200k", "llama3")


@functools.cache
def _known() -> dict[str, str]:
    """The splits whose pattern has the same meaning in both libraries, by their translations."""
    return {translated(pattern_of(name)): name for name in _KNOWN}


def _regex_of(cut: Split) -> str | None:
    """The translation of a pattern; None for mere text, and where what it finds is joined to others."""
    keeps = cut.behavior in ("Isolated", "Removed") and (cut.behavior == "Removed") == cut.invert
    pattern = cut.pattern
    return translated(pattern.text) if pattern.kind == "Regex" and pattern.text and keeps else None


def _known_split(cut: Split) -> str | None:
    """The value of the axis that does the same as a Split."""
    name = _known().get(_regex_of(cut) or "")
    # Where a pattern's matches are all of the text, keeping the rest and dropping it are the same.
    return name if name is not None and (SPLITS[name].keeps_spaces or cut.invert) else None


def pattern_alone(step: PreTokenizer | None) -> str | None:
    """`regex:` and the pattern of the one step that cuts, None where there are others."""
    cutting = [
        one for one in parts_of(step) if not isinstance(one, ByteLevel) or one.use_regex
        or one.add_prefix_space
    ]
    found = _regex_of(cutting[0]) if len(cutting) == 1 and isinstance(cutting[0], Split) else None
    return f"regex:{found}" if found else None


def of_recipe(recipe: Recipe) -> PreTokenizer | None:
    """The pre-tokenizer of the axes `split` and `unit`.

    Raises:
        Refused: There is none.
    """
    cut, byte_level = recipe.split, recipe.unit == "byte"
    if byte_level and cut == "gpt2":
        return ByteLevel(spaced(recipe))
    if cut == "falcon":
        if not byte_level:
            raise Refused("Falcon's split cuts between bytes, and the units are no bytes", "")
        return Sequence(_FALCON)
    if spaced(recipe) and cut != "metaspace":
        raise Refused("a space in front of a text goes with split=gpt2 of bytes, or with split=metaspace", "",
                      "leave it out")
    if is_prepended(recipe):
        return Split(Pattern("Regex", SPACE_MARK), "MergedWithNext", False)
    found: list[PreTokenizer] = [] if cut == "none" else [_cut(cut, recipe)]
    found += [ByteLevel(False, use_regex=False)] if byte_level else []
    return Sequence(tuple(found)) if len(found) > 1 else found[0] if found else None


def _cut(name: str, recipe: Recipe) -> PreTokenizer:
    if name == "whitespace":
        return WhitespaceSplit()
    if name == "space":
        return CharDelimiterSplit(" ")
    if name == "bert":
        return BertPreTokenizer()
    if name == "metaspace":
        # Each text between two symbols is a separate text there: only the first gets a ▁.
        return Metaspace(SPACE_MARK,
                         "never" if not spaced(recipe) else "first" if recipe.symbols else "always")
    if name in SPLITS and SPLITS[name].kind is not Splitter:
        raise Refused(f"split={name} is more than a pattern", "",
                      "no step of Hugging Face's is known to do it")
    keeps = not name.startswith("regex:") and SPLITS[name].keeps_spaces
    # Text outside the matches of a pattern is removed; a pattern that keeps spaces matches all of a text.
    return Split(Pattern("Regex", pattern_of(name)), "Isolated" if keeps else "Removed", not keeps)


def makes_letters(step: steps.Step | None) -> bool:
    """Return whether a step turns bytes into letters."""
    inner: Iterable[Any] = getattr(step, "pretokenizers", None) or getattr(step, "normalizers", None) or ()
    return type(step).__name__ == "ByteLevel" or any(map(makes_letters, inner))
