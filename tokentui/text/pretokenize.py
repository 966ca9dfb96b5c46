"""From a document to its pre-tokens and their smallest units, as a recipe says: normalise, split, cut, mark.

`Pretokenizer.words` is the fast way, for counting; `Pretokenizer.analyse` the one that knows where everything
stands in the text as typed, for showing and encoding. Both give the same words.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tokentui.core import jobs
from tokentui.core.errors import TokentuiError
from tokentui.recipe import Recipe
from tokentui.text import patterns
from tokentui.text.normalize import begins_sequence, normalize, normalize_aligned
from tokentui.text.split import SPACE_MARK, SPLITS, Span, Splitter, spaced, splitter, to_bytes
from tokentui.text.units import MARKS, UNITS


@dataclass(frozen=True, slots=True)
class PreToken:
    """A word of a text. All ranges are half-open, in characters.

    `start` and `end` are in the text as typed, `prepared_start` and `prepared_end` in `Analysis.prepared`.
    `unit_spans` has the range in the text as typed of each of the word's units: that of the whole character
    where a unit is a part of one, an empty range at the end for a mark that is a unit of its own.
    """

    text: str
    start: int
    end: int
    prepared_start: int
    prepared_end: int
    unit_spans: tuple[tuple[int, int], ...]

    def moved(self, by: int) -> PreToken:
        """The same in a text of which what was looked at begins so many characters further on."""
        spans = tuple((start + by, end + by) for start, end in self.unit_spans)
        return replace(self, start=self.start + by, end=self.end + by, unit_spans=spans)


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text on its way to units.

    `source` is the text as typed, `normalized` that after the normalize axis, `prepared` the one in which the
    words
    stand: with `metaspace` spaces are ▁ there.
    """

    source: str
    normalized: str
    prepared: str
    pretokens: list[PreToken]


Place = Callable[[int, int], tuple[int, int]]


class Pretokenizer:
    """Normalises a text, splits it into pre-tokens and cuts these into units, by a recipe.

    Args:
        recipe: The recipe. The axes normalize, split, unit and mark, the symbols and the space in front
            are used.

    Raises:
        TokentuiError: The normalisation changes one of the symbols, so that it is never found.
    """

    beyond_axes: ClassVar[bool] = False
    """True if more is done to a text than the axes of the recipe describe."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self._splitter = splitter_of(recipe)
        self._unit, self._put = UNITS.of(recipe.unit), MARKS.of(recipe.mark).put
        self._symbols = pattern_of_symbols(recipe)
        self.symbols = frozenset(recipe.symbols)
        """The symbols of the recipe, each of which is a word."""
        for name in recipe.symbols:
            _check_symbol(name, recipe)
        self._mark = to_bytes(recipe.mark_text)
        self._trims = "nmt-nfkc" in recipe.normalize

    def words(self, document: str, *, first: bool = True) -> list[str]:
        """The words of a document in order.

        Args:
            document: The document, or a part of it between places that `safe_cut` gave.
            first: Whether the document starts with it.

        Raises:
            TokentuiError: The pattern takes longer.
        """
        text = self.normalized(document)
        if not first and self._trims and text and document.startswith(" "):
            text = " " + text  # the tail of a cut begins with spaces, which are one in the middle of a text
        return self._splitter.words(text, first=first)

    @property
    def in_parts(self) -> bool:
        """True if a part of a text after a safe cut has the same words when it stands alone.

        This fails where normalisation trims ends, or where the part gets a space in front.
        """
        return not self._trims and stands_alone(self.recipe)

    def normalized(self, document: str) -> str:
        """A document as its words are cut from it: what is not UTF-8 replaced unless units are bytes, then
        normalised."""
        return normalize(self._typed(document), self.recipe.normalize)

    def safe_cut(self, document: str, at: int) -> int:
        """The first place from `at` on, 0 excluded, that is known to be safe for cutting the document in two.

        There `words(head) + words(tail, first=False)` are the words of the whole. The document's length where
        no such place is known.
        """
        if not self.recipe.normalize:
            return self._splitter.safe_cut(document, at)
        if self._trims and "strip-accents" in self.recipe.normalize:
            # a text that is nothing but an accent leaves its space in the middle of a text only
            return len(document)
        # No normaliser looks across the place before a space or a line end, so the two characters around it
        # are normalised by themselves; the split decides on what they become. One that trims a text leaves a
        # letter at the end of the head alone, and the space in front of the tail is put back.
        for match in patterns.find_short(
            _LETTER_BEFORE_SPACE if self._trims else _BEFORE_SPACE, document, max(at - 1, 0)
        ):
            if begins_sequence(match.group()):
                left = normalize(match.group(), self.recipe.normalize)
                right = " " if self._trims else normalize(document[match.end()], self.recipe.normalize)
                if left and left[-1] != " " and self._splitter.safe_cut(left[-1] + right, 1) == 1:
                    end: int = match.end()
                    return end
        return len(document)

    def units(self, word: str) -> list[bytes]:
        """The smallest units of a word in order, as exact bytes with their marks. A symbol is one unit, and
        bears no mark."""
        if self._symbols is not None and self._symbols.search(word):
            return self._units_with_symbols(word)
        return self._marked(self._plain(word))

    def _marked(self, units: list[bytes]) -> list[bytes]:
        return self._put(units, self._mark) if units else units

    def _units_with_symbols(self, word: str) -> list[bytes]:
        if word in self.symbols:
            return [to_bytes(word)]
        marked = self._marked(self._plain(word))
        units = self._plain(word)
        symbols = [to_bytes(name) for name in self.symbols]
        return [
            unit if unit in symbols else other for unit, other in zip(units, marked, strict=False)
        ] + marked[len(units) :]

    def _plain(self, word: str) -> list[bytes]:
        """The smallest units of a word without marks."""
        if self._symbols is None:
            return self._units_of(word)
        out: list[bytes] = []
        at = 0
        for match in self._symbols.finditer(word):
            out += [*self._units_of(word[at : match.start()]), to_bytes(match.group())]
            at = match.end()
        return out + self._units_of(word[at:])

    def _units_of(self, text: str) -> list[bytes]:
        """The units of a text without symbols. The job of a long text can be cancelled."""
        if len(text) <= jobs.BLOCK or not self._unit.places:
            return self._unit.cut(text)
        units: list[bytes] = []
        for start in range(0, len(text), jobs.BLOCK):
            jobs.check()
            units += self._unit.cut(text[start : start + jobs.BLOCK])
        return units

    def pretokens(self, text: str | bytes) -> list[PreToken]:
        """The words of a text with their places; see `analyse`."""
        return self.analyse(text).pretokens

    def analyse(self, text: str | bytes) -> Analysis:
        """All that becomes of a text before its units are merged.

        Args:
            text: The text; bytes are read as UTF-8, what is not UTF-8 as "surrogateescape" has it.

        Raises:
            TokentuiError: The pattern takes longer.
        """
        source = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
        aligned = normalize_aligned(self._typed(source), self.recipe.normalize)
        prepared = self._splitter.prepare(aligned.text)
        spans = self._splitter.spans(aligned.text)
        added = len(prepared) - len(aligned.text)

        def place(start: int, end: int) -> tuple[int, int]:
            """The range as typed of a range of `prepared`; the ▁ set in front came from nothing."""
            start, end = max(start - added, 0), max(end - added, 0)
            if start < end:
                return aligned.starts[start], aligned.ends[end - 1]
            return (aligned.starts[0], aligned.starts[0]) if aligned.text else (0, 0)

        pretokens: list[PreToken] = []
        for word, start, end in spans:
            units = self._unit_spans(word, _owners(prepared, word, start, end), place)
            pretokens.append(PreToken(word, *place(start, end), start, end, units))
        return Analysis(source, aligned.text, prepared, pretokens)

    def _unit_spans(self, word: str, owners: Sequence[int], place: Place) -> tuple[tuple[int, int], ...]:
        spans: list[tuple[int, int]] = []
        at = 0
        for unit in self._plain(word):
            end = at + len(unit)
            spans.append(place(owners[at], owners[end - 1] + 1))
            at = end
        if self.recipe.mark_kind == "end-symbol" and spans and word not in self.symbols:
            spans.append((spans[-1][1], spans[-1][1]))
        return tuple(spans)

    def _typed(self, text: str) -> str:
        """The text that is normalised. Bytes that are not UTF-8 stay only where bytes are units."""
        if self.recipe.unit == "byte" or text.isascii():
            return text
        return _SURROGATE.sub("\ufffd", text)


def _check_symbol(name: str, recipe: Recipe) -> None:
    """Refuse a symbol that no text holds when it is looked for: after normalisation, and with ▁ for spaces
    under `metaspace`."""
    marked = SPLITS.of(recipe.split).marks_spaces
    made = normalize(f"x{name.replace(SPACE_MARK, ' ') if marked else name}x", recipe.normalize)[1:-1]
    made = made.replace(" ", SPACE_MARK) if marked else made
    if made != name:
        what = "no text holds this symbol once it is normalised" + (", with ▁ for a space" if marked else "")
        raise TokentuiError(what, f"symbol {name!r}", f"write {made!r}" if made else "leave it out")


def _owners(prepared: str, word: str, start: int, end: int) -> Sequence[int]:
    """Of each byte of a word the character of the prepared text that it belongs to."""
    characters = prepared[start:end]
    if word == characters and word.isascii():
        return range(start, end)
    owners = [start + n for n, character in enumerate(characters) for _ in to_bytes(character)]
    data = to_bytes(word)
    # Where a split cut inside the first character, the word starts within it: lead bytes make that place the
    # only one.
    skipped = to_bytes(characters).find(data)
    return owners[skipped : skipped + len(data)]


_SURROGATE = re.compile("[\ud800-\udfff]")
_BEFORE_SPACE = re.compile(r"\S(?=[ \n])")
_LETTER_BEFORE_SPACE = re.compile(r"[^\W_](?= )")


# ---- the split of a recipe, with its symbols and the space in front


@functools.lru_cache(maxsize=64)
def splitter_of(recipe: Recipe) -> Splitter:
    """The splitter of a recipe: that of its split, with its symbols cut out and its space in front.

    sentencepiece sets the ▁ in front of every text, Hugging Face not before a text that begins with a space.
    Symbols are sentencepiece's.

    Raises:
        TokentuiError: A pattern that cannot be compiled.
    """
    plain = splitter(recipe.split)
    always = plain.marks_spaces and (recipe.pieces != "any" or bool(recipe.symbols))
    if recipe.prefix_space is None and not recipe.symbols and not always:
        return plain
    names = sorted(recipe.symbols, key=len, reverse=True)
    found = re.compile("|".join(map(re.escape, names))) if names else None
    cut = None if names else plain.cut
    return _Shaped(
        plain.name, plain.keeps_spaces, plain.pattern, cut, plain.marks_spaces, plain, spaced(recipe), always,
        found,
    )


def stands_alone(recipe: Recipe) -> bool:
    """True if a part of a text that begins at a safe cut gets no space in front.

    The whole text may get one.
    """
    marks = SPLITS.of(recipe.split).marks_spaces
    return not spaced(recipe) or (marks and recipe.pieces == "any" and not recipe.symbols)


def cuts_alike(one: Recipe, other: Recipe) -> bool:
    """True if two recipes cut every text into the same words."""
    return cut_key(one) == cut_key(other)


def cut_key(recipe: Recipe) -> tuple[object, ...]:
    """The values of a recipe that its words depend on: recipes of one key cut every text alike."""
    surrogates = recipe.unit == "byte"  # what is no UTF-8 is replaced in other units
    return (
        recipe.normalize,
        recipe.split,
        recipe.symbols,
        recipe.prefix_space,
        stands_alone(recipe),
        surrogates,
    )


def pattern_of_symbols(recipe: Recipe) -> Any:
    """The pattern that finds the symbols of a recipe in a prepared text, the longest first; None where it has
    none."""
    return getattr(splitter_of(recipe), "symbols", None)


@dataclass(frozen=True, slots=True)
class _Shaped(Splitter):
    """A split with a space in front or without, and with symbols.

    A symbol is a word of its own; the text between two symbols is split by itself. Where there are symbols no
    place is known where a document may be cut in two.
    """

    inner: Splitter
    spaced: bool
    always: bool
    symbols: Any

    def prepare(self, text: str, first: bool = True) -> str:
        """The text in which the words stand; see `Splitter.prepare`."""
        front = first and self.spaced and bool(text)
        if not self.marks_spaces:
            return " " + text if front and text[0] != " " else text
        text = text.replace(" ", SPACE_MARK)
        return SPACE_MARK + text if front and (self.always or text[0] != SPACE_MARK) else text

    def words(self, text: str, *, first: bool = True) -> list[str]:
        """The words of a text in order; see `Splitter.words`."""
        prepared = self.prepare(text, first)
        if self.symbols is None or not self.symbols.search(prepared):
            return self.inner.words(prepared, first=False)
        return [word for word, _, _ in self.spans(text, first=first)]

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
