"""The corpus as running text, cut the way the tokenizer cuts it now: only the part that a pane shows.

A document may have millions of characters, so the split starts at a safe cut shortly before the place that is looked at;
where the split has none (no pre-tokenization, a pattern of one's own), the spans of the document are found once and kept.
"""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Callable, Iterator

import regex

from tokentui.learn.base import Trainer
from tokentui.recipe import Recipe
from tokentui.session.snapshot import CorpusPart, CorpusView, Look, PiecePart, Place, TokenSpan
from tokentui.text.branches import Branches
from tokentui.text.corpus import Corpus
from tokentui.text.longtext import LongText, whole
from tokentui.text.patience import TakesTooLong
from tokentui.text.pretokenize import Pretokenizer, to_bytes
from tokentui.text.shaping import splitter_of

_BACK = (2_000, 20_000, 200_000)
"""How far before a place a safe cut is looked for."""
_LONG_LINE = 4_000
"""A view starts at the beginning of a line, unless the line began further back than this."""
_KEPT = 64
_WORD_UNITS = 20_000
_AHEAD = 1 << 16
"""How far after a place another is looked for where the text may be cut; past that all of it is split, once."""
_AROUND = 1_000
"""How much of a long document on either side of a word a pattern may look at."""


class RunningText:
    """A corpus under one recipe, to be looked at in windows.

    Args:
        corpus: The corpus.
        recipe: Its normalisation, split, unit and mark.
    """

    def __init__(self, corpus: Corpus, recipe: Recipe) -> None:
        self._corpus = corpus
        self._recipe = recipe
        self._splitter = splitter_of(recipe)
        self._pretokenizer = Pretokenizer(recipe)
        self._texts: dict[int, str | LongText] = {}
        self._spans: dict[int, tuple[array[int], array[int]]] = {}
        self._slow: set[int] = set()
        """Documents over which a pattern takes too long."""
        texts = corpus.texts if corpus.counts is None else [word for word, _ in corpus.counts]
        self._before = [0]
        for text in texts:
            self._before.append(self._before[-1] + len(text) + 1)

    @property
    def documents(self) -> int:
        """The number of documents; of words, for counted words."""
        return len(self._before) - 1

    def text(self, document: int) -> str | LongText:
        """The normalised text of a document; a long one as it is kept, where normalising changes nothing."""
        if self._corpus.counts is not None:
            return self._corpus.counts[document][0]
        known = self._texts.get(document)
        if known is None:
            if len(self._texts) >= _KEPT:
                self._texts.clear()
                self._spans.clear()
            kept = self._corpus.texts[document]
            if isinstance(kept, LongText) and not self._recipe.normalize and self._splitter.cut:
                known = kept
            else:
                known = self._pretokenizer.normalized(self._corpus.documents[document])
            self._texts[document] = known
        return known

    def view(self, look: Look, trainer: Trainer) -> CorpusView:
        """The window that a screen looks at, with the tokens of the trainer's step.

        A place past the end is moved to the end.
        """
        if not self.documents:
            return CorpusView(Place(), (), True, True, 0.0)
        document = min(max(0, look.corpus.document), self.documents - 1)
        text = self.text(document)
        offset = min(max(0, look.corpus.offset), len(text)) if document == look.corpus.document else len(text)
        place = Place(document, offset)
        first, start = self._rewind(document, offset, look.corpus_before)
        parts: list[CorpusPart] = []
        ahead = look.corpus_chars + offset - start + sum(len(self.text(before)) + 1 for before in range(first, document))
        at, begin, end = first, start, False
        while ahead > 0:
            text = self.text(at)
            stop = len(text)
            for part in self._parts_or_text(at, begin, begin + ahead, trainer):
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
        total = self._before[-1]
        return CorpusView(
            place=place,
            parts=tuple(parts),
            at_start=first == 0 and start == 0,
            at_end=end,
            position=(self._before[document] + offset) / total if total else 0.0,
        )

    def pieces(self, place: Place, chars: int, branches: Branches | None) -> Iterator[PiecePart]:
        """The pre-tokens of a document from a place on with the branch that matched each, and what is dropped between them."""
        text = self.text(place.document)
        start = min(max(0, place.offset), len(text))
        end = min(len(text), start + chars)
        shown = start
        for at, word, stop in self._words(place.document, start, end):
            if stop <= start or at >= end:
                continue
            if at > shown:
                yield PiecePart(text[shown:at], shown, at, None)
            if len(word) > _WORD_UNITS:  # an enormous one: only what is looked at
                at, word, stop = max(at, start), text[max(at, start) : end], min(stop, end)
            assert branches is not None
            begin = max(0, at - _AROUND) if isinstance(text, LongText) else 0
            branch = branches.of(text[begin : stop + _AROUND] if isinstance(text, LongText) else text, at - begin, word)
            yield PiecePart(word, at, stop, branch)
            shown = max(shown, stop)
        if shown < end:
            yield PiecePart(text[shown:end], shown, end, None)

    def find(self, text: str, start: Place, backward: bool) -> Place | None:
        """The next place of a text after (or before) a place, round the end."""
        count = self.documents
        step = -1 if backward else 1
        for turn in range(count + 1):
            document = (start.document + step * turn) % count
            known = self.text(document)
            if not backward:
                found = known.find(text, start.offset + 1 if turn == 0 else 0)
            elif turn == 0:
                found = known.rfind(text, 0, start.offset + len(text) - 1) if start.offset else -1
            else:
                found = known.rfind(text)
            if found >= 0:
                return Place(document, found)
        return None

    def find_word(self, wanted: Callable[[str], bool], start: Place, size: int = 1 << 16) -> Place | None:
        """The next place after a place where a pre-token that is wanted stands, round the end."""
        for turn in range(self.documents + 1):
            document = (start.document + turn) % self.documents
            begin = start.offset + 1 if turn == 0 else 0
            length = len(self.text(document))
            while begin <= length:
                end = begin + size
                for at, word, _ in self._words(document, begin, end):
                    if at >= begin and wanted(word):
                        return Place(document, at)
                begin = end
        return None

    def _rewind(self, document: int, offset: int, before: int) -> tuple[int, int]:
        """The beginning of a line at least so many characters back, across documents."""
        while before > offset and document > 0:
            before -= offset + 1
            document -= 1
            offset = len(self.text(document))
        if before > offset:
            return document, 0
        offset -= before
        text = self.text(document)
        line = text.rfind("\n", max(0, offset - _LONG_LINE), offset) + 1
        return document, line or (offset if offset > _LONG_LINE else 0)

    def _words(self, document: int, start: int, end: int) -> Iterator[tuple[int, str, int]]:
        """The pre-tokens of a stretch: (offset in the normalised text, word, offset of its end)."""
        text = self.text(document)
        if self._corpus.counts is not None:
            yield 0, whole(text), len(text)
            return
        cut = self._cut_before(text, start) if self._splitter.cut else None
        stop = len(text) if end >= len(text) else self._cut_within(text, end, end + _AHEAD)
        if cut is None or (stop is None and len(text) > end + _AHEAD):
            yield from self._known_spans(document, text, start, end)
            return
        stop = len(text) if stop is None else stop
        yield from self._split(text[cut:stop], cut)

    def _split(self, text: str, base: int) -> Iterator[tuple[int, str, int]]:
        first = base == 0
        # Only metaspace changes the text, by the one sign that it puts in front.
        shift = len(self._splitter.prepare(text, first)) - len(text)
        for word, start, end in self._splitter.spans(text, first=first):
            yield base + max(0, start - shift), word, base + end - shift

    def _cut_before(self, text: str | LongText, place: int) -> int | None:
        """A place where the split may start, at or before this one; None where none is near."""
        if place <= _BACK[0]:
            return 0
        for back in _BACK:
            cut = self._cut_within(text, place - back, place) if place > back else 0
            if cut is not None:
                return cut
        return None

    def _cut_within(self, text: str | LongText, start: int, end: int) -> int | None:
        """The first place from `start` to `end` where the text may be cut; such a place is told by the characters beside it."""
        begin = max(start - 1, 0)
        part = text[begin : end + 1]
        cut = self._splitter.safe_cut(part, start - begin)
        return begin + cut if cut < len(part) else None

    def _known_spans(self, document: int, text: str | LongText, start: int, end: int) -> Iterator[tuple[int, str, int]]:
        spans = self._spans.get(document)
        if spans is None:
            starts, ends = array("q"), array("q")
            for at, _, stop in self._split(whole(text), 0):
                starts.append(at)
                ends.append(stop)
            self._spans[document] = spans = (starts, ends)
        starts, ends = spans
        prepared = self._splitter.prepare(whole(text), True)
        shift = len(prepared) - len(text)
        for n in range(max(0, bisect.bisect_right(starts, start) - 1), len(starts)):
            if starts[n] >= end:
                return
            yield starts[n], prepared[starts[n] + (shift if n else 0) : ends[n] + shift], ends[n]

    def _parts_or_text(self, document: int, start: int, end: int, trainer: Trainer) -> Iterator[CorpusPart]:
        """As `_parts`; the bare text where the pattern of the split takes too long over what stands there."""
        shown = start
        if document not in self._slow:
            try:
                for part in self._parts(document, start, end, trainer):
                    yield part
                    shown = part.place.offset + len(part.text)
                return
            except TakesTooLong:
                self._slow.add(document)
        if shown < (stop := min(end, len(text := self.text(document)))):
            yield CorpusPart(Place(document, shown), text[shown:stop], ())

    def _parts(self, document: int, start: int, end: int, trainer: Trainer) -> Iterator[CorpusPart]:
        """The pre-tokens of a stretch with their tokens, and what lies between them."""
        text = self.text(document)
        times = self._corpus.counts[document][1] if self._corpus.counts is not None else None
        shown = start
        for at, word, stop in self._words(document, start, end):
            if stop <= start and not (at == stop == start):
                continue
            if at > shown:
                yield CorpusPart(Place(document, shown), text[shown:at], ())
            if at >= end:
                return
            skip = max(0, start - at) if stop - at > _WORD_UNITS else 0
            yield self._part(document, at, word, skip, min(end, stop) - at, trainer, times)
            shown = max(shown, stop)
        if shown < min(end, len(text)):
            yield CorpusPart(Place(document, shown), text[shown : min(end, len(text))], ())

    def _part(
        self, document: int, at: int, word: str, skip: int, wanted: int, trainer: Trainer, times: int | None
    ) -> CorpusPart:
        """A pre-token with its tokens; of an enormous one only the characters from `skip` on to `wanted`."""
        if word in self._recipe.symbols:
            return CorpusPart(Place(document, at), word, (TokenSpan(0, len(word), False, False),), times)
        long = len(word) > _WORD_UNITS
        piece = word[skip : min(len(word), wanted + 1)] if long else word
        sizes = unit_sizes(self._recipe, piece)
        first = len(to_bytes(word[:skip])) if self._recipe.unit == "byte" else skip
        tokens = trainer.word(word, first if long else 0, len(sizes) if long else None)
        mark = self._recipe.mark_text if self._recipe.mark_kind.startswith("end-") and not long else ""
        spans = _spans(tokens or [], first if long else 0, sizes, mark, self._recipe, trainer)
        return CorpusPart(Place(document, at + skip), piece + mark, spans, times)


def unit_sizes(recipe: Recipe, word: str) -> list[int]:
    """How many characters each unit of a word begins: 1 for a character, 0 for a byte inside one, more for a grapheme."""
    if recipe.unit == "grapheme":
        return [len(cluster) for cluster in regex.findall(r"\X", word)]
    if recipe.unit == "char" or word.isascii():
        return [1] * len(word)
    return [size for char in word for size in (1,) + (0,) * (len(to_bytes(char)) - 1)]


def _spans(
    tokens: list[tuple[int, int]], first: int, sizes: list[int], mark: str, recipe: Recipe, trainer: Trainer
) -> tuple[TokenSpan, ...]:
    """Tokens given in units as spans of characters.

    `sizes` says of each unit how many characters it begins: 0 for a byte inside a character.
    """
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + size)
    whole = starts[-1]
    spans = []
    newest = trainer.newest()
    for at, symbol in tokens:
        begin = max(0, at - first)
        end = at - first + trainer.length(symbol)
        tail = end > len(sizes)  # the end mark is a unit of its own
        end = min(end, len(sizes))
        if begin > end:
            continue
        # A byte inside a character belongs to the character that began before it.
        inside_begin = begin < len(sizes) and sizes[begin] == 0
        inside_end = end < len(sizes) and sizes[end] == 0
        left = starts[begin] - (1 if inside_begin else 0)
        right = starts[end]
        if mark and (tail or (recipe.mark_kind == "end-suffix" and end == len(sizes))):
            right = whole + len(mark)
        spans.append(TokenSpan(left, right, symbol == newest >= 0, inside_begin or inside_end))
    return tuple(spans)
