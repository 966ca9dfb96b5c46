"""The corpus as running text with the tokens of the present step: only the part that a pane shows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import regex

from tokentui.learn.trainer import Trainer
from tokentui.learn.values import Kind, Span, Step, Word
from tokentui.recipe import Recipe
from tokentui.session.snapshot import PiecePart
from tokentui.session.views import CorpusPart, CorpusPlace, CorpusView, TokenSpan, Viewport
from tokentui.text.corpus import Corpus
from tokentui.text.documents import LongText
from tokentui.text.patterns import Branches, TakesTooLong
from tokentui.text.split import to_bytes
from tokentui.text.window import CorpusWindow

_WORD_UNITS = 20_000
_NONE = -2
"""No symbol: -1 is that of a unit that the vocabulary lacks."""
_AROUND = 1_000
"""Characters of a long document on either side of a word that a pattern may look at."""


class RunningText(CorpusWindow):
    """A corpus under one recipe, to be looked at in windows.

    Args:
        corpus: The corpus.
        recipe: Its normalisation, split, unit and mark.
    """

    def __init__(self, corpus: Corpus, recipe: Recipe) -> None:
        super().__init__(corpus, recipe)
        self._shown: _Window | None = None
        self._newest = _NONE
        """The symbol that the last step made."""
        self._cut: dict[str, tuple[tuple[TokenSpan, ...], tuple[int, ...]]] = {}
        """The tokens of the words in the window, and the symbol of each."""
        self._slow: set[int] = set()
        """Documents over which a pattern takes too long."""

    def view(self, look: Viewport, trainer: Trainer) -> CorpusView:
        """The window that a screen looks at, with the tokens of the trainer's step.

        A place past the end is moved to the end. Of the step before, or after, only the words are cut again
        that it changed.
        """
        key = look.corpus, look.corpus_chars, look.corpus_before, trainer
        kept, substeps, number = self._shown, trainer.substeps, trainer.number
        moment = number, None if substeps is None else substeps.walked
        if kept is None or kept.key != key or (kept.moment != moment and not kept.by_word):
            step = trainer.step_at(number) if number else None
            self._newest = _made(step)
            self._shown = kept = self._lay_out(key, look, trainer)
            kept.merged = _merged(step)
        elif kept.moment != moment:
            self._follow(kept, trainer)
        kept.moment = moment
        return kept.view

    def _lay_out(self, key: tuple[object, ...], look: Viewport, trainer: Trainer) -> _Window:
        """Find the pre-tokens of a window, and their tokens."""
        if not self.documents:
            return _Window(key, (0, None), CorpusView(), {}, True)
        document = min(max(0, look.corpus.document), self.documents - 1)
        text = self.text(document)
        offset = min(max(0, look.corpus.offset), len(text)) if document == look.corpus.document else len(text)
        place = CorpusPlace(document, offset)
        first, start = self.rewind(document, offset, look.corpus_before)
        parts: list[CorpusPart] = []
        words: dict[str, list[int]] = {}
        ahead = (
            look.corpus_chars
            + offset
            - start
            + sum(len(self.text(before)) + 1 for before in range(first, document))
        )
        at, begin, end, by_word = first, start, False, True
        self._cut.clear()
        while ahead > 0:
            text = self.text(at)
            stop = len(text)
            for part, word in self._parts_or_text(at, begin, begin + ahead, trainer):
                if word:
                    words.setdefault(word, []).append(len(parts))
                elif part.tokens and part.text not in self._recipe.symbols:
                    by_word = False
                parts.append(part)
                ahead -= len(part.text)
                stop = part.place.offset + len(part.text)
                if ahead <= 0:
                    break
            end = at == self.documents - 1 and stop >= len(text)
            ahead -= 1
            at, begin = at + 1, 0
            if at >= self.documents:
                break
        view = CorpusView(
            place=place,
            parts=tuple(parts),
            at_start=first == 0 and start == 0,
            at_end=end,
            position=self.fraction((document, offset)),
        )
        return _Window(key, (0, None), view, words, by_word)

    def _follow(self, kept: _Window, trainer: Trainer) -> None:
        """Cut again the words of a window that another step has changed, and mark the tokens that it made."""
        cut, (before, walked), number, was = self._cut, kept.moment, trainer.number, self._newest
        step = trainer.step_at(number) if number else None
        self._newest = newest = _made(step)
        merged = _merged(step)
        if merged and number == before + 1 and walked is None:
            left, right = merged
            changed = [
                word for word, (_, symbols) in cut.items()
                if left in symbols and right in symbols and (left, right) in itertools.pairwise(symbols)
            ]
        elif kept.merged and number == before - 1:
            changed = [word for word, (_, symbols) in cut.items() if was in symbols]
        else:
            changed = list(cut)
        kept.merged = merged
        again = {word: self._cut_word(word, trainer) for word in changed}
        for word, (spans, symbols) in cut.items():  # else only the mark of the newest token changes
            if (was in symbols or newest in symbols) and word not in again:
                again[word] = tuple([
                    TokenSpan(start, end, symbol == newest, partial)
                    for (start, end, _, partial), symbol in zip(spans, symbols, strict=True)
                ]), symbols
        cut.update(again)
        shown = list(kept.view.parts)
        for word, (spans, _) in again.items():
            for index in kept.words[word]:
                part = shown[index]
                shown[index] = CorpusPart(part.place, part.text, spans, part.times)
        kept.view = replace(kept.view, parts=tuple(shown))

    def pieces(self, place: CorpusPlace, chars: int, branches: Branches | None) -> Iterator[PiecePart]:
        """The pre-tokens of a document from a place on with the branch that matched each, and what is dropped
        between them."""
        text = self.text(place.document)
        start = min(max(0, place.offset), len(text))
        end = min(len(text), start + chars)
        shown = start
        for at, word, stop in self.words(place.document, start, end):
            if stop <= start or at >= end:
                continue
            if at > shown:
                yield PiecePart(text[shown:at], shown, at, None)
            if len(word) > _WORD_UNITS:  # an enormous one: only what is looked at
                at, word, stop = max(at, start), text[max(at, start) : end], min(stop, end)
            assert branches is not None
            begin = max(0, at - _AROUND) if isinstance(text, LongText) else 0
            branch = branches.of(
                text[begin : stop + _AROUND] if isinstance(text, LongText) else text, at - begin, word
            )
            yield PiecePart(word, at, stop, branch)
            shown = max(shown, stop)
        if shown < end:
            yield PiecePart(text[shown:end], shown, end, None)

    def _parts_or_text(
        self, document: int, start: int, end: int, trainer: Trainer
    ) -> Iterator[tuple[CorpusPart, str]]:
        """As `_parts`; the bare text where the pattern of the split takes too long over what stands there."""
        shown = start
        if document not in self._slow:
            try:
                for part, word in self._parts(document, start, end, trainer):
                    yield part, word
                    shown = part.place.offset + len(part.text)
                return
            except TakesTooLong:
                self._slow.add(document)
        if shown < (stop := min(end, len(text := self.text(document)))):
            yield CorpusPart(CorpusPlace(document, shown), text[shown:stop], ()), ""

    def _parts(
        self, document: int, start: int, end: int, trainer: Trainer
    ) -> Iterator[tuple[CorpusPart, str]]:
        """The pre-tokens of a stretch with their tokens, and what lies between them; a pre-token that is
        whole with its word."""
        text = self.text(document)
        times = self._corpus.counts[document][1] if self._corpus.counts is not None else None
        cut = self._cut
        mark = self._recipe.mark_text if self._recipe.mark_kind.startswith("end-") else ""
        shown = start
        for at, word, stop in self.words(document, start, end):
            if stop <= start and not (at == stop == start):
                continue
            if at > shown:
                yield CorpusPart(CorpusPlace(document, shown), text[shown:at], ()), ""
            if at >= end:
                return
            if len(word) > _WORD_UNITS or word in self._recipe.symbols:
                skip = max(0, start - at) if stop - at > _WORD_UNITS else 0
                yield self._part(document, at, word, skip, min(end, stop) - at, trainer, times), ""
            else:
                if word not in cut:
                    cut[word] = self._cut_word(word, trainer)
                yield CorpusPart(CorpusPlace(document, at), word + mark, cut[word][0], times), word
            shown = max(shown, stop)
        if shown < min(end, len(text)):
            yield CorpusPart(CorpusPlace(document, shown), text[shown : min(end, len(text))], ()), ""

    def _cut_word(self, word: str, trainer: Trainer) -> tuple[tuple[TokenSpan, ...], tuple[int, ...]]:
        """The tokens of a word as characters of it, and the symbol of each."""
        found, recipe, newest = trainer.segment(Word(word)), self._recipe, self._newest
        symbols = tuple([symbol for _, _, symbol in found])
        if recipe.unit != "grapheme" and recipe.mark == "none" and word.isascii():  # a unit is a character
            return tuple(
                [TokenSpan(start, end, symbol == newest, False) for start, end, symbol in found]
            ), symbols
        mark = recipe.mark_text if recipe.mark_kind.startswith("end-") else ""
        spans = _spans(found, 0, unit_sizes(recipe, word), mark, recipe.mark_kind == "end-suffix", newest)
        return spans, symbols

    def _part(
        self, document: int, at: int, word: str, skip: int, wanted: int, trainer: Trainer, times: int | None
    ) -> CorpusPart:
        """A symbol of the recipe, or an enormous pre-token with its tokens: only the characters from `skip`
        on to `wanted`."""
        if word in self._recipe.symbols:
            return CorpusPart(
                CorpusPlace(document, at), word, (TokenSpan(0, len(word), False, False),), times
            )
        piece = word[skip : min(len(word), wanted + 1)]
        sizes = unit_sizes(self._recipe, piece)
        first = len(to_bytes(word[:skip])) if self._recipe.unit == "byte" else skip
        found = trainer.segment(Word(word, first, len(sizes)))
        spans = _spans(found, first, sizes, "", False, self._newest)
        return CorpusPart(CorpusPlace(document, at + skip), piece, spans, times)


@dataclass(slots=True)
class _Window:
    """A window as it was last shown: where each of its words stands in it, and the symbols that the last step
    merged."""

    key: tuple[object, ...]
    moment: tuple[int, tuple[int, int] | None]
    view: CorpusView
    words: dict[str, list[int]]
    by_word: bool
    merged: tuple[int, ...] = ()


def _made(step: Step | None) -> int:
    """The symbol that a step made."""
    made = step.made if step else -1
    return made if made >= 0 else _NONE


def _merged(step: Step | None) -> tuple[int, ...]:
    """The two symbols that a step merged; empty where it did anything else as well."""
    events = step.events if step else ()
    return events[0].parts if len(events) == 1 and events[0].kind is Kind.MERGE else ()


def unit_sizes(recipe: Recipe, word: str) -> list[int]:
    """Return the characters that each unit of a word begins: 1 for a character, 0 for an inner byte."""
    if recipe.unit == "grapheme":
        return [len(cluster) for cluster in regex.findall(r"\X", word)]
    if recipe.unit == "char" or word.isascii():
        return [1] * len(word)
    return [size for char in word for size in (1,) + (0,) * (len(to_bytes(char)) - 1)]


def _spans(
    tokens: Sequence[Span], first: int, sizes: list[int], mark: str, suffix: bool, newest: int
) -> tuple[TokenSpan, ...]:
    """Tokens given in units as spans of characters.

    Args:
        tokens: The tokens.
        first: The unit that the text begins with.
        sizes: How many characters each unit begins: 0 for a byte inside a character.
        mark: The mark at the end of a word, empty for none.
        suffix: Whether the mark is a part of the last unit.
        newest: The symbol that the last step made.
    """
    count = len(sizes)
    ascii_ = sum(sizes) == count and 0 not in sizes and max(sizes, default=1) == 1
    starts = range(count + 1) if ascii_ else list(itertools.accumulate(sizes, initial=0))
    whole = starts[-1]
    spans = []
    for start, stop, symbol in tokens:
        begin, end = max(0, start - first), stop - first
        tail = end > count  # the end mark is a unit of its own
        end = min(end, count)
        if begin > end:
            continue
        # A byte inside a character belongs to the character that began before it.
        inside_begin = begin < count and sizes[begin] == 0
        inside_end = end < count and sizes[end] == 0
        right = starts[end]
        if mark and (tail or (suffix and end == count)):
            right = whole + len(mark)
        left = starts[begin] - (1 if inside_begin else 0)
        spans.append(TokenSpan(left, right, symbol == newest, inside_begin or inside_end))
    return tuple(spans)
