"""The corpus as running text with the tokens of the present step: only the part that a pane shows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tokentui import learn
from tokentui.core.safetext import to_bytes
from tokentui.encode.events import EventKind
from tokentui.encode.names import Special
from tokentui.encode.pretokens import Item, Pretokens
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.steps import Word
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe
from tokentui.session.snapshot import PiecePart
from tokentui.session.views import CorpusPart, CorpusPlace, CorpusView, TokenSpan, Viewport
from tokentui.text.corpus import Corpus, LongText
from tokentui.text.count import CorpusWindow
from tokentui.text.patterns import Branches, TakesTooLong, with_unmatched
from tokentui.text.pretokenize import MARKS, UNITS
from tokentui.text.split import SPLITS
from tokentui.text.split import branches as known_branches

_WORD_UNITS = 20_000
_NONE = -2
"""No symbol: -1 is that of a unit that the vocabulary lacks."""
_AROUND = 1_000
"""Characters on either side of a word that a pattern may look at."""

Units = tuple[tuple[int, int], ...]
"""The characters of each unit of a word, from its start on; a unit may be a byte of a character."""
Key = tuple[str, Units | None]
"""The text of a word and its units, on which its tokens depend."""


class Cut(NamedTuple):
    """A pre-token in a text, or a special token that the text contains by name.

    Attributes:
        start: The first character.
        end: The character after the last.
        text: The text that is shown.
        word: The pre-token as the trainer knows it; None for a special token.
        units: The characters of its units; None for those that the recipe makes of the word.
    """

    start: int
    end: int
    text: str
    word: str | None
    units: Units | None = None


class _Tokens(NamedTuple):
    """The tokens of a word, the symbol of each, for a file the step since which they are these, and the
    characters of the word's units."""

    spans: tuple[TokenSpan, ...]
    symbols: tuple[int, ...]
    since: int
    units: Units


class RunningText(CorpusWindow):
    """A corpus under one recipe, to be looked at in windows.

    Args:
        corpus: The corpus.
        recipe: Its normalization, split, unit and mark.
    """

    def __init__(self, corpus: Corpus, recipe: Recipe) -> None:
        super().__init__(corpus, recipe)
        self._shown: _Window | None = None
        self._newest = _NONE
        """The symbol that the last step made."""
        self._cut: dict[Key, _Tokens] = {}
        """The tokens of the words in the window."""
        self._made_at: Callable[[int], int] | None = None
        """Returns the step that made a symbol; None if the view has no ages."""
        self._pieces: Sequence[bytes] = ()
        """The exact bytes of each symbol."""
        self._slow: set[int] = set()
        """Documents over which a pattern takes too long."""
        self._mark = recipe.mark_text if MARKS.of(recipe.mark).ends_word else ""

    @property
    def branches(self) -> Branches | None:
        """The branches of the pattern that splits the text; None if other steps also decide."""
        return known_branches(self._recipe.split, self._recipe.unicode)

    def typed(self, text: str) -> Iterator[PiecePart]:
        """Yield the pre-tokens of a typed text, with places in its prepared form."""
        analysis = self._pretokenizer.analyze(text)
        cuts = [
            Cut(pretoken.prepared_start, pretoken.prepared_end, pretoken.text, pretoken.text)
            for pretoken in analysis.pretokens
        ]
        return pieces(analysis.prepared, 0, len(analysis.prepared), cuts, self.branches)

    def cuts(self, document: int, start: int, end: int) -> Iterator[Cut]:
        """Yield the pre-tokens of a stretch of a document, those that cross its ends whole."""
        for at, word, stop in self.words(document, start, end):
            yield Cut(at, stop, word, word)

    def view(self, look: Viewport, trainer: Trainer) -> CorpusView:
        """Return the window that a screen shows, with the tokens of the trainer's step.

        A place past the end is moved to the end; without documents the window is empty. The window is cached:
        at another step only the words that changed are cut again.
        """
        key = look.corpus, look.corpus_chars, look.corpus_before, look.ages, trainer
        self._made_at = learn.steps_of_symbols(trainer) if look.ages else None
        self._pieces = trainer.inventory().vocabulary.pieces
        shown, substeps, number = self._shown, learn.substeps_of(trainer), trainer.number
        moment = number, None if substeps is None else substeps.walked
        if shown is None or shown.key != key or shown.moment != moment:
            step, was = trainer.step_at(number) if number else None, self._newest
            made, events = (step.made, step.events) if step is not None else (-1, ())
            merged = None
            if len(events) == 1 and events[0].kind is EventKind.MERGE:
                merged = events[0].parts[0], events[0].parts[1]
            self._newest = made if made >= 0 else _NONE
            if shown is None or shown.key != key or not shown.by_word:
                self._shown = shown = _Window(key, moment)
                self._lay_out(shown, look, trainer)
            else:
                self._follow(shown, moment, was, merged, trainer)
            shown.moment, shown.merged = moment, merged
        return shown.view

    def _lay_out(self, shown: _Window, look: Viewport, trainer: Trainer) -> None:
        """Set the view of a window: its pre-tokens and their tokens. Replaces the cached words.

        A place beyond the corpus shows the end. Does nothing without documents.
        """
        if not self.documents:
            return
        document = min(max(0, look.corpus.document), self.documents - 1)
        text = self.text(document)
        offset = min(max(0, look.corpus.offset), len(text)) if document == look.corpus.document else len(text)
        first, start = self.rewind(document, offset, look.corpus_before)
        parts: list[CorpusPart] = []
        ahead = look.corpus_chars + offset - start
        ahead += sum(len(self.text(before)) + 1 for before in range(first, document))
        at, begin, end = first, start, False
        self._cut.clear()
        while ahead > 0 and at < self.documents:
            text = self.text(at)
            stop = len(text)
            for part, key in self._parts(shown, at, begin, begin + ahead, trainer):
                if key is not None:
                    shown.words.setdefault(key, []).append(len(parts))
                parts.append(part)
                ahead -= len(part.text)
                stop = part.place.offset + len(part.text)
                if ahead <= 0:
                    break
            end = at == self.documents - 1 and stop >= len(text)
            ahead -= 1
            at, begin = at + 1, 0
        shown.view = CorpusView(
            place=CorpusPlace(document, offset), parts=tuple(parts), at_start=first == 0 and start == 0,
            at_end=end, position=self.fraction((document, offset)), chars=self.characters,
        )

    def _follow(
        self, shown: _Window, moment: _Moment, was: int, merged: tuple[int, int] | None, trainer: Trainer
    ) -> None:
        """Update the view of a window for another step: cut again the words that changed, and mark its new
        tokens.
        """
        cut, (before, walked), (number, _), newest = self._cut, shown.moment, moment, self._newest
        if (replay := learn.replay_of(trainer)) is not None:
            changed = [
                key for key, tokens in cut.items()
                if max(tokens.since, replay.since(key[0])) > min(before, number)
            ]
        elif merged and number == before + 1 and walked is None:
            changed = [
                key for key, (_, symbols, _, _) in cut.items()
                if merged[0] in symbols and merged[1] in symbols and merged in itertools.pairwise(symbols)
            ]
        elif shown.merged and number == before - 1:
            changed = [key for key, word_cut in cut.items() if was in word_cut.symbols]
        else:
            changed = list(cut)
        again = {key: self._cut_word(Word(key[0]), cut[key].units, trainer) for key in changed}
        for key, word_cut in cut.items():  # else only the mark of the newest token changes
            if (was in word_cut.symbols or newest in word_cut.symbols) and key not in again:
                marked = zip(word_cut.spans, word_cut.symbols, strict=True)
                spans = tuple([span._replace(fresh=symbol == newest) for span, symbol in marked])
                again[key] = word_cut._replace(spans=spans)
        cut.update(again)
        parts = list(shown.view.parts)
        for key, word_cut in again.items():
            for index in shown.words[key]:
                parts[index] = parts[index]._replace(tokens=word_cut.spans)
        shown.view = replace(shown.view, parts=tuple(parts))

    def pieces(self, place: CorpusPlace, chars: int) -> Iterator[PiecePart]:
        """Yield the pre-tokens of a document from a place on with the branch that matched each, and the text
        that is dropped between them."""
        text = self.text(place.document)
        start = min(max(0, place.offset), len(text))
        end = min(len(text), start + chars)
        return pieces(text, start, end, self.cuts(place.document, start, end), self.branches)

    def _parts(
        self, shown: _Window, document: int, start: int, end: int, trainer: Trainer
    ) -> Iterator[tuple[CorpusPart, Key | None]]:
        """Yield the pre-tokens of a stretch with their tokens and, if these are in `_cut`, their key; and the
        text between them. If the pattern of the split takes too long, yield the bare text, and remember the
        document as slow. Sets `shown.by_word`."""
        text, counts, at = self.text(document), self._corpus.counts, start
        times = counts[document][1] if counts is not None else None
        try:
            for cut in self.cuts(document, start, end) if document not in self._slow else ():
                if cut.end <= at and not (cut.start == cut.end == start):
                    continue
                if cut.start > at:
                    yield CorpusPart(CorpusPlace(document, at), text[at : cut.start], ()), None
                if cut.start >= end:
                    return
                part, key = self._part(document, cut, start, end, times, trainer)
                if cut.start < at and at > start:  # its first characters belong to the one before as well
                    part, key = _without(part, at - cut.start), None
                shown.by_word = shown.by_word and (
                    key is not None or cut.word in (None, *self._recipe.symbols)
                )
                yield part, key
                at = max(at, cut.end)
        except TakesTooLong:
            self._slow.add(document)
        if at < (stop := min(end, len(text))):
            yield CorpusPart(CorpusPlace(document, at), text[at:stop], ()), None

    def _part(
        self, document: int, cut: Cut, start: int, end: int, times: int | None, trainer: Trainer
    ) -> tuple[CorpusPart, Key | None]:
        """Return a pre-token with its tokens, and its key if they are cached.

        Of an enormous one only the characters of the window are returned, without a key.
        """
        place, word = CorpusPlace(document, cut.start), cut.word
        if word is None or word in self._recipe.symbols:
            return CorpusPart(place, cut.text, (TokenSpan(0, len(cut.text), False, False),), times), None
        if len(word) <= _WORD_UNITS or cut.units is not None:
            key = word, cut.units
            tokens = self._cut.get(key)
            if tokens is None:
                units = unit_spans(self._recipe, word, self._mark) if cut.units is None else cut.units
                tokens = self._cut[key] = self._cut_word(Word(word), units, trainer)
            return CorpusPart(place, cut.text if cut.units else word + self._mark, tokens.spans, times), key
        skip = max(0, start - cut.start) if cut.end - cut.start > _WORD_UNITS else 0
        piece = word[skip : min(len(word), min(end, cut.end) - cut.start + 1)]
        units = unit_spans(self._recipe, piece, "")
        first = len(to_bytes(word[:skip])) if UNITS.of(self._recipe.unit).is_byte else skip
        spans = self._cut_word(Word(word, first, len(units)), units, trainer).spans
        return CorpusPart(CorpusPlace(document, cut.start + skip), piece, spans, times), None

    def _cut_word(self, place: Word, units: Units, trainer: Trainer) -> _Tokens:
        """Return the tokens of a word at the current step, with places in characters of the word.

        Args:
            place: The word, or some of its units.
            units: The characters of each of these units.
            trainer: The training.
        """
        spans, symbols, count = list[TokenSpan](), list[int](), len(units)
        for token in trainer.segment(place):
            start, stop = max(0, token.start - place.first), min(token.end - place.first, count)
            if start >= stop:  # outside the units that are shown
                continue
            begin, end = units[start][0], units[stop - 1][1]
            if begin < end:  # one that came from nothing has no place
                partial = start > 0 and units[start - 1][1] > begin
                partial = partial or (stop < count and units[stop][0] < end)
                made = self._made_at(token.symbol) if self._made_at else 0
                piece = self._pieces[token.symbol] if token.symbol >= 0 else b""
                spans.append(TokenSpan(begin, end, token.symbol == self._newest, partial, made, piece))
                symbols.append(token.symbol)
        replay = learn.replay_of(trainer)
        since = replay.since(place.text) if replay is not None else 0
        return _Tokens(tuple(spans), tuple(symbols), since, units)


class OpenedText(RunningText):
    """A corpus under the steps of a tokenizer, to be looked at in windows. Places are characters of the text
    as typed.

    Args:
        corpus: The corpus.
        tokenizer: The tokenizer.
    """

    def __init__(self, corpus: Corpus, tokenizer: Tokenizer) -> None:
        super().__init__(corpus, tokenizer.recipe)
        self.pretokens = Pretokens(tokenizer)
        self._tokenizer = tokenizer
        self._known: tuple[int, int, int, list[Item]] = (-1, 0, 0, [])

    def text(self, document: int) -> str | LongText:
        """Return a document as it was read, before the steps of the tokenizer."""
        corpus = self._corpus
        return corpus.parts[document]

    @property
    def branches(self) -> Branches | None:
        """The branches of the pattern that splits the text; None if other steps of the file also decide."""
        file, recipe = self._tokenizer.vocabulary.file, self._tokenizer.recipe
        steps = file.stages
        if recipe.normalize or "sentencepiece" in steps or steps.get("normalizer") or file.near:
            return None
        branches = known_branches(recipe.split, recipe.unicode)
        return branches if SPLITS.of(recipe.split).keeps_spaces else with_unmatched(branches)

    def typed(self, text: str) -> Iterator[PiecePart]:
        """Yield the pre-tokens of a typed text, with places in the text as typed."""
        return pieces(text, 0, len(text), cuts_of(self.pretokens.of(text), text), self.branches)

    def cuts(self, document: int, start: int, end: int) -> Iterator[Cut]:
        """Yield the pre-tokens of a stretch and the special tokens that it contains by name. A document of a
        corpus of counted words is one pre-token. The items of the last stretch are cached."""
        text = self.text(document)
        if self._corpus.counts is not None:
            yield Cut(0, len(text), str(text), str(text), tuple((at, at + 1) for at in range(len(text))))
            return
        known_document, low, high, items = self._known
        if known_document != document or start < low or end > high:
            items = self.pretokens.overlapping(text, start, end)
            self._known = document, start, end, items
        yield from cuts_of(
            (item for item in items if item.start < end and (item.end > start or not item.end)), text
        )

    def words(self, document: int, start: int, end: int) -> Iterator[tuple[int, str, int]]:
        """Yield (start, word, end) of the pre-tokens of a stretch, without special tokens."""
        return (
            (cut.start, cut.word, cut.end) for cut in self.cuts(document, start, end) if cut.word is not None
        )


_EMPTY = CorpusView()
_Moment = tuple[int, tuple[int, int] | None]
"""A step, and how far a walk through the next one is."""


@dataclass(slots=True)
class _Window:
    """A window as it was last shown.

    Attributes:
        key: What it depends on but for the step.
        moment: The step.
        view: The window.
        words: The places of each word among its parts.
        by_word: True if all its tokens are those of `words`.
        merged: The symbols that the last step merged; None if it did anything else.
    """

    key: tuple[object, ...]
    moment: _Moment
    view: CorpusView = _EMPTY
    words: dict[Key, list[int]] = field(default_factory=dict)
    by_word: bool = True
    merged: tuple[int, int] | None = None


def unit_spans(recipe: Recipe, word: str, mark: str) -> Units:
    """Return the range of characters of each unit of a word. Bytes of one character have the same range. A
    mark at the end is a unit of its own, or extends the last unit."""
    count = len(word)
    unit = UNITS.of(recipe.unit)
    if unit.is_byte:
        spans = [(at, at + 1) for at, char in enumerate(word) for _ in to_bytes(char)]
    else:
        sizes = (len(cut.decode("utf-8", "surrogateescape")) for cut in unit.cut(word))
        spans = list(itertools.pairwise(itertools.accumulate(sizes, initial=0)))
    if mark and MARKS.of(recipe.mark).at_end:
        spans[-1] = spans[-1][0], count + len(mark)
    elif mark:
        spans.append((count, count + len(mark)))
    return tuple(spans)


def _without(part: CorpusPart, count: int) -> CorpusPart:
    """Return a part without its first `count` characters; a token that began in them is marked as partial."""
    spans = [
        span._replace(
            start=max(0, span.start - count), end=span.end - count,
            partial=span.partial or span.start < count,
        )
        for span in part.tokens
        if span.end > count
    ]
    place = part.place._replace(offset=part.place.offset + count)
    return CorpusPart(place, part.text[count:], tuple(spans), part.times)


def cuts_of(items: Iterable[Item], text: str | LongText) -> Iterator[Cut]:
    """Yield the pre-tokens and special tokens of a text, with the text that they cover."""
    for item in items:
        start, end, shown = item.start, item.end, text[item.start : item.end]
        if isinstance(item, Special):
            yield Cut(start, end, shown, None)
        else:
            yield Cut(start, end, shown, item.text, item.unit_spans)


def pieces(
    text: str | LongText, start: int, end: int, cuts: Iterable[Cut], branches: Branches | None
) -> Iterator[PiecePart]:
    """Yield the pre-tokens of a stretch of a text with the branch that matched each, and the text that is
    dropped between them, which has no branch.

    A pre-token that crosses the ends of the stretch is yielded whole, unless it is longer than `_WORD_UNITS`.

    Args:
        text: The text.
        start: The first character.
        end: The character after the last.
        cuts: The pre-tokens.
        branches: The branches of the split; if None, all pre-tokens have branch 0.
    """
    shown = start
    for cut in cuts:
        if cut.end <= shown or cut.start >= end:
            continue
        if cut.start > shown:
            yield PiecePart(text[shown : cut.start], shown, cut.start, None)
        at, stop, word = cut.start, cut.end, cut.text
        branch: int | None = 0
        # enormous, or shared with the one before
        if len(word) > _WORD_UNITS or (at < shown and shown > start):
            at, stop = max(at, shown), min(stop, end)
            word = text[at:stop]
        if branches is not None and cut.word is not None:
            low = max(0, at - _AROUND)
            branch = branches.of(text[low : stop + _AROUND], at - low, word)
        yield PiecePart(word, at, stop, branch)
        shown = max(shown, stop)
    if shown < end:
        yield PiecePart(text[shown:end], shown, end, None)
