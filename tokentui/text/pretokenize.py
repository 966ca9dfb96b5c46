"""From a document to its pre-tokens and their smallest units, by a recipe: normalize, split, cut, mark.

`Pretokenizer.words` is the fast way, for counting. `Pretokenizer.analyze` also returns the places in the text
as typed, for display and encoding. Both give the same words.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from tokentui.core import jobs
from tokentui.core.choices import Axis, Choice
from tokentui.core.errors import TokentuiError
from tokentui.core.records import dataclass
from tokentui.core.safetext import SURROGATE, to_bytes
from tokentui.recipe import NEWEST_UNICODE, Recipe
from tokentui.text import patterns
from tokentui.text.normalize import NORMALIZERS, begins_sequence, normalize, normalize_aligned
from tokentui.text.split import SPACE_MARK, SPLITS, splitter_of
from tokentui.text.stretching import Stretching
from tokentui.text.unicode import tables_of

if TYPE_CHECKING:
    import regex


class PreToken(NamedTuple):
    """A word of a text. All ranges are half-open, in characters.

    `start` and `end` are in the text as typed, `prepared_start` and `prepared_end` in `Analysis.prepared`.
    `unit_spans` has the range of each unit in the text as typed, relative to `start`. A unit that is part of
    a character has the range of the character. A mark that is a unit of its own has an empty range at the
    end.
    """

    text: str
    start: int
    end: int
    prepared_start: int
    prepared_end: int
    unit_spans: tuple[tuple[int, int], ...]

    def moved(self, by: int) -> PreToken:
        """Return the pre-token with its places moved by `by` characters."""
        return self._replace(start=self.start + by, end=self.end + by)


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text with its normalized and prepared forms, and its pre-tokens.

    `source` is the text as typed. `normalized` is the text after the normalize axis. `prepared` is the text
    that words are cut from: with `metaspace`, spaces are ▁ in it.
    """

    source: str
    normalized: str
    prepared: str
    pretokens: list[PreToken]


class Pretokenizer:
    """Normalizes a text, splits it into pre-tokens and cuts these into units, by a recipe.

    Args:
        recipe: The recipe. Its axes normalize, split, unit and mark, its symbols and its leading space are
            used.

    Raises:
        TokentuiError: The normalization changes a symbol, so that no text contains it.
    """

    beyond_axes: ClassVar[bool] = False
    """True in subclasses that do more to a text than the axes of the recipe describe."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self._splitter = splitter_of(recipe)
        unit = UNITS.of(recipe.unit)
        self._in_bytes, self._cut_units, self._put = unit.is_byte, unit.cut, MARKS.of(recipe.mark).put
        if unit.by_pattern:
            self._cut_units = functools.partial(unit.cut, seen=tables_of(recipe.unicode).seen)
        self.symbols = frozenset(recipe.symbols)
        """The symbols of the recipe. Each is a word."""
        for name in recipe.symbols:
            _check_symbol(name, recipe)
        self._mark = to_bytes(recipe.mark_text)
        self._bears_unit = MARKS.of(recipe.mark).is_unit
        self._trims = any(NORMALIZERS.of(name).trims for name in recipe.normalize)
        split = self._splitter
        self.in_parts = not self._trims and (
            not split.prepends_space or (split.record.marks_spaces and not split.always_prepends)
        )
        """True if a part of a text after a safe cut has the same words as by itself.

        This fails where normalization trims ends, or where the part gets a space in front that the whole text
        does not have there.
        """

    @functools.cached_property
    def stretching(self) -> Stretching | None:
        """How kernels may cut a text, in subclasses that know it; None if the recipe says it, or nothing
        does."""
        return None

    @property
    def knows_cuts(self) -> bool:
        """True if the split has safe cuts."""
        # A text of only an accent leaves its space only in the middle of a text.
        trimmed = self._trims and any(NORMALIZERS.of(name).drops_marks for name in self.recipe.normalize)
        return self._splitter.cut is not None and not trimmed

    def words(self, document: str, *, first: bool = True) -> list[str]:
        """Return the words of a document in order.

        Args:
            document: The document, or a part of it between safe cuts.
            first: True if the document starts with this part.

        Raises:
            TokentuiError: The pattern takes too long.
        """
        return self._splitter.words(self._normalized_part(document, first), first=first)

    def prepared_length(self, document: str, *, first: bool = True) -> int:
        """Return the number of characters of the prepared text of a document. The arguments are those of
        `words`."""
        return len(self._splitter.prepare(self._normalized_part(document, first), first))

    def _normalized_part(self, document: str, first: bool) -> str:
        text = self.normalized(document)
        if not first and self._trims and text and document.startswith(" "):
            return " " + text  # the tail of a cut begins with spaces, which are one in the middle of a text
        return text

    def normalized(self, document: str) -> str:
        """Return the normalized text of a document. Bytes that are not UTF-8 are replaced first, unless units
        are bytes."""
        return normalize(self.typed(document), self.recipe.normalize, self.recipe.unicode)

    def safe_cut(self, document: str, at: int) -> int:
        """Return the first safe cut from `at` on, except 0; the length of the document if there is none."""
        return next(self.cuts(document, at), len(document))

    def cuts(self, document: str, at: int) -> Iterator[int]:
        """Yield the safe cuts of a document from `at` on, except 0.

        At a safe cut, `words(head) + words(tail, first=False)` are the words of the whole.
        """
        steps, unicode = self.recipe.normalize, self.recipe.unicode
        if self._splitter.cut is None or not self.knows_cuts:
            return
        if not steps:
            yield from self._splitter.cuts(document, at)
            return
        # No normalizer looks across the place before a space or a line end. So the two characters around it
        # are normalized by themselves, and the split decides by the results. A normalizer that trims leaves
        # only the letter at the end of the head; the space in front of the tail is restored.
        place = _LETTER_BEFORE_SPACE if self._trims else _BEFORE_SPACE
        for match in patterns.find_short(place, document, max(at - 1, 0)):
            end: int = match.end()
            if begins_sequence(match.group()):
                left = normalize(match.group(), steps, unicode)
                right = " " if self._trims else normalize(document[end], steps, unicode)
                if left and left[-1] != " " and self._splitter.safe_cut(left[-1] + right, 1) == 1:
                    yield end

    @property
    def plain_unit(self) -> str:
        """The unit of words if it has no marks: `byte` or `char`; else empty.

        Symbols are an exception: each is one unit.
        """
        unit = self.recipe.unit
        return unit if unit in ("byte", "char") and not self._put and not self._splitter.symbols else ""

    def units(self, word: str) -> list[bytes]:
        """Return the smallest units of a word in order, as exact bytes with their marks. A symbol is one unit
        without a mark."""
        units = self._plain(word)
        if not units or word in self.symbols:
            return units
        if self._put is None:
            return units
        if self._splitter.symbols is None:
            return self._put(units, self._mark)
        symbols_ = {to_bytes(name) for name in self.symbols}
        marked = zip_longest(units, self._put(units.copy(), self._mark))
        return [unit if unit in symbols_ else other for unit, other in marked]

    def _plain(self, word: str) -> list[bytes]:
        """Return the smallest units of a word without marks. The job can be cancelled in a long word."""
        symbols = self._splitter.symbols
        if symbols is None and len(word) <= jobs.BLOCK:
            return list(self._cut_units(word))
        units: list[bytes] = []
        for n, part in enumerate((word,) if symbols is None else symbols.split(word)):
            if n % 2:
                units.append(to_bytes(part))  # a symbol
            else:
                cut = self._cut_units(part)
                for block in jobs.in_blocks(cut) if len(part) > jobs.BLOCK else (cut,):
                    units += block
        return units

    def analyze(self, text: str | bytes) -> Analysis:
        """Normalize and split a text, with the places of words and units.

        Args:
            text: The text; bytes are decoded as UTF-8 with "surrogateescape".

        Raises:
            TokentuiError: The pattern takes too long.
        """
        source = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
        aligned = normalize_aligned(self.typed(source), self.recipe.normalize, self.recipe.unicode)
        prepared = self._splitter.prepare(aligned.text)
        spans = self._splitter.spans(aligned.text)
        # the range of each character of `prepared` in the text as typed; the ▁ in front has none
        starts, ends = aligned.starts, aligned.ends
        if len(prepared) > len(starts):
            starts, ends = [starts[0], *starts], [starts[0], *ends]
        pretokens: list[PreToken] = []
        for word, start, end in spans:
            owners: Sequence[int] = range(start, end)
            if not word.isascii() or word != prepared[start:end]:
                owners = _owners(prepared[start:end], word, start)
            first, last, units, at = starts[start], ends[end - 1], [], 0
            for unit in self._plain(word):
                begin, at = owners[at], at + len(unit)
                units.append((starts[begin] - first, ends[owners[at - 1]] - first))
            if self._bears_unit and units and word not in self.symbols:
                units.append((units[-1][1], units[-1][1]))
            pretokens.append(PreToken(word, first, last, start, end, tuple(units)))
        return Analysis(source, aligned.text, prepared, pretokens)

    def typed(self, text: str) -> str:
        """Return the text before normalization. Unless units are bytes, bytes that are not UTF-8 are replaced
        by U+FFFD."""
        if self._in_bytes or text.isascii():
            return text
        return SURROGATE.sub("\ufffd", text)


def _check_symbol(name: str, recipe: Recipe) -> None:
    """Raise for a symbol that no prepared text can contain.

    Raises:
        TokentuiError: Normalization changes it, or `metaspace` replaces its spaces.
    """
    marked = SPLITS.of(recipe.split).marks_spaces
    typed = f"x{name.replace(SPACE_MARK, ' ') if marked else name}x"
    prepared = normalize(typed, recipe.normalize, recipe.unicode)[1:-1]
    prepared = prepared.replace(" ", SPACE_MARK) if marked else prepared
    if prepared != name:
        what = "no normalized text contains this symbol" + (", with ▁ for a space" if marked else "")
        raise TokentuiError(what, f"symbol {name!r}", f"write {prepared!r}" if prepared else "leave it out")


def _owners(characters: str, word: str, start: int) -> Sequence[int]:
    """Return, for each byte of a word, the index of its character in the text.

    Args:
        characters: The characters of the text that the word is cut from.
        word: The word.
        start: The index of the first of these characters.
    """
    owners = [start + n for n, character in enumerate(characters) for _ in to_bytes(character)]
    data = to_bytes(word)
    # If a split cut inside the first character, the word starts inside it. Only one place fits its lead
    # bytes.
    skipped = to_bytes(characters).find(data)
    return owners[skipped : skipped + len(data)]


_BEFORE_SPACE = re.compile(r"\S(?=[ \n])")
_LETTER_BEFORE_SPACE = re.compile(r"[^\W_](?= )")


def cut_key(recipe: Recipe) -> tuple[object, ...]:
    """Return a key of all values of a recipe that decide its words. Recipes with equal keys have equal words
    for every text."""
    # Units other than bytes replace bytes that are not UTF-8.
    return recipe.normalize, splitter_of(recipe), UNITS.of(recipe.unit).is_byte


# ---- the smallest units of a word, and their marks


_SINGLE = [bytes((value,)) for value in range(256)]


def _bytes(text: str) -> Iterator[bytes]:
    return map(_SINGLE.__getitem__, to_bytes(text))


def _characters(text: str) -> Iterator[bytes]:
    return _bytes(text) if text.isascii() else map(to_bytes, text)


_seen = tables_of(NEWEST_UNICODE).seen


def _graphemes(text: str, seen: Callable[[str], str] = _seen) -> Iterator[bytes]:
    spans = (match.span() for match in _grapheme().finditer(seen(text)))
    return (to_bytes(text[start:end]) for start, end in spans)


@functools.cache
def _grapheme() -> regex.Pattern[str]:
    import regex  # not before the first paint

    return regex.compile(r"\X")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit(Choice):
    """A kind of unit.

    Attributes:
        plural: The plural, for titles.
        cut: Returns the units of a text, without marks.
        kinds: The number of different units, for kernels that use units as numbers; 0 if it has no bound.
        is_byte: True if a unit is a byte, so that a token may hold part of a character.
        by_pattern: True if `cut` takes `Tables.seen` as `seen`.
    """

    plural: str
    cut: Callable[..., Iterator[bytes]]
    kinds: int = 0
    is_byte: bool = False
    by_pattern: bool = False


UNITS = Axis(
    "unit", "the smallest unit",
    Unit("byte", "a byte of UTF-8", plural="bytes", cut=_bytes, kinds=1 << 8, is_byte=True),
    Unit("char", "a code point", plural="characters", cut=_characters, kinds=0x110000),
    Unit(
        "grapheme", "what readers see as one character", plural="graphemes", cut=_graphemes, by_pattern=True,
    ),
)
"""The kinds of units, by name."""


def _end_symbol(units: list[bytes], mark: bytes) -> list[bytes]:
    units.append(mark)
    return units


def _end_suffix(units: list[bytes], mark: bytes) -> list[bytes]:
    units[-1] += mark
    return units


def _prefix(units: list[bytes], mark: bytes) -> list[bytes]:
    """Put the mark before all units but the first, in place, and return the list.

    It checks for cancellation between blocks.
    """
    for start in range(1, len(units), jobs.BLOCK):
        if start > 1:
            jobs.check()
        end = start + jobs.BLOCK
        units[start:end] = [mark + unit for unit in units[start:end]]
    return units


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark(Choice):
    """A way to mark where a word starts or ends.

    Attributes:
        put: Returns the units of a non-empty word with the mark. It may change its argument. None for no
            mark.
        kernel: True if the kernels of merges support it.
        is_unit: True if the mark is a unit of its own, after the word.
        in_front: True if the mark is in front of units that continue a word.
        at_end: True if the mark is part of the last unit of a word.
    """

    put: Callable[[list[bytes], bytes], list[bytes]] | None = None
    kernel: bool = False
    is_unit: bool = False
    in_front: bool = False
    at_end: bool = False

    @property
    def ends_word(self) -> bool:
        """True if the mark comes after the text of a word."""
        return self.is_unit or self.at_end


MARKS = Axis(
    "mark", "how a word's start or end is marked",
    Mark("none", "no mark", kernel=True),
    Mark(
        "end-symbol", "a separate unit after the word", "TEXT", "</w>", put=_end_symbol, kernel=True,
        is_unit=True,
    ),
    Mark(
        "end-suffix", "text attached to the word's last unit", "TEXT", "</w>", put=_end_suffix, kernel=True,
        at_end=True,
    ),
    Mark(
        "prefix", "text before every unit of a word except the first", "TEXT", "##", put=_prefix, kernel=True,
        in_front=True,
    ),
)
"""The marks, by name."""
