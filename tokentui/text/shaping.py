"""What the words of a run do to a split: a space in front of a text or none, and symbols that are words of their own."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import regex

from tokentui.recipe import Recipe
from tokentui.text.split import SPACE_MARK, Span, Splitter, splitter

METASPACE = "metaspace"


@functools.lru_cache(maxsize=64)
def splitter_of(recipe: Recipe) -> Splitter:
    """The splitter of a recipe: that of its split, with its symbols cut out and its space in front.

    sentencepiece sets the ▁ in front of every text, Hugging Face not before a text that begins with a space. Symbols are
    sentencepiece's.

    Raises:
        TokentuiError: A pattern that cannot be compiled.
    """
    plain = splitter(recipe.split)
    always = recipe.split == METASPACE and (recipe.pieces != "any" or bool(recipe.symbols))
    if recipe.prefix_space is None and not recipe.symbols and not always:
        return plain
    names = sorted(recipe.symbols, key=len, reverse=True)
    found = regex.compile("|".join(map(regex.escape, names))) if names else None
    cut = None if names else plain.cut
    return _Shaped(plain.name, plain.keeps_spaces, plain.pattern, cut, plain, recipe.spaced, always, found)


def stands_alone(recipe: Recipe) -> bool:
    """Whether no space is set in front of a part of a text that begins at a safe cut, as it is in front of the whole."""
    return not recipe.spaced or (recipe.split == METASPACE and recipe.pieces == "any" and not recipe.symbols)


def cuts_alike(one: Recipe, other: Recipe) -> bool:
    """Whether two recipes cut every text into the same words."""
    return _cutting(one) == _cutting(other)


def _cutting(recipe: Recipe) -> tuple[object, ...]:
    surrogates = recipe.unit == "byte"  # what is no UTF-8 is replaced in other units
    return recipe.normalize, recipe.split, recipe.symbols, recipe.prefix_space, stands_alone(recipe), surrogates


def pattern_of_symbols(recipe: Recipe) -> Any:
    """The pattern that finds the symbols of a recipe in a prepared text, the longest first; None where it has none."""
    return getattr(splitter_of(recipe), "symbols", None)


@dataclass(frozen=True, slots=True)
class _Shaped(Splitter):
    """A split with a space in front or without, and with symbols.

    A symbol is a word of its own; the text between two symbols is split by itself. Where there are symbols no place is known
    where a document may be cut in two.
    """

    inner: Splitter
    spaced: bool
    always: bool
    symbols: Any

    def prepare(self, text: str, first: bool = True) -> str:
        """The text in which the words stand; see `Splitter.prepare`."""
        front = first and self.spaced and bool(text)
        if self.inner.name != METASPACE:
            return " " + text if front and text[0] != " " else text
        text = text.replace(" ", SPACE_MARK)
        return SPACE_MARK + text if front and (self.always or text[0] != SPACE_MARK) else text

    def words(self, text: str, *, first: bool = True) -> list[str]:
        """The words of a text in order; see `Splitter.words`."""
        prepared = self.prepare(text, first)
        if self.symbols is None or not self.symbols.search(prepared):
            return self.inner.words(prepared, first=False)
        out: list[str] = []
        at = 0
        for match in self.symbols.finditer(prepared):
            if match.start() > at:
                out += self.inner.words(prepared[at : match.start()], first=False)
            out.append(match.group())
            at = match.end()
        return out + self.inner.words(prepared[at:], first=False) if at < len(prepared) else out

    def spans(self, text: str, *, first: bool = True) -> list[Span]:
        """The words with their places in the prepared text; see `Splitter.spans`."""
        prepared = self.prepare(text, first)
        if self.symbols is None or not self.symbols.search(prepared):
            return self.inner.spans(prepared, first=False)
        out: list[Span] = []
        at = 0

        def between(start: int, end: int) -> None:
            if end > start:
                found = self.inner.spans(prepared[start:end], first=False)
                out.extend((word, start + begin, start + stop) for word, begin, stop in found)

        for match in self.symbols.finditer(prepared):
            between(at, match.start())
            out.append((match.group(), match.start(), match.end()))
            at = match.end()
        between(at, len(prepared))
        return out

    def safe_cut(self, text: str, at: int) -> int:
        """Where a text may be cut in two; see `Splitter.safe_cut`."""
        return len(text) if self.cut is None else self.inner.safe_cut(text, at)
