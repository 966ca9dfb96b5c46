"""The corpus as running text under an opened tokenizer: as it was typed, with the tokens where the file's own
steps find them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from tokentui.encode.pipeline import ImportedVocabulary, Special
from tokentui.encode.pretokens import Item, Pretokens
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.replay import ReplayTrainer
from tokentui.learn.trainer import Trainer
from tokentui.session.snapshot import PiecePart
from tokentui.session.views import CorpusPart, CorpusPlace, TokenSpan
from tokentui.session.window import RunningText
from tokentui.text.corpus import Corpus
from tokentui.text.documents import LongText
from tokentui.text.patterns import Branches, kept
from tokentui.text.pretokenize import PreToken
from tokentui.text.split import branches as known_branches
from tokentui.text.split import splitter

_PARTS_KEPT = 1 << 14
_AROUND = 1 << 10
"""Characters on either side of a pre-token that a branch may look at."""


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
        self._window: tuple[int, int, int, list[Item]] = (-1, 0, 0, [])
        self._parts_kept: dict[tuple[int, int, str, int, bool], CorpusPart] = {}

    def text(self, document: int) -> str | LongText:
        """A document as it was typed."""
        return (
            self._corpus.texts[document] if self._corpus.counts is None else self._corpus.counts[document][0]
        )

    def branches(self) -> Branches | None:
        """The branches of the one pattern that cuts what is typed; None where other steps of the file have a
        say."""
        vocabulary = self._tokenizer.vocabulary
        pipeline = vocabulary.pipeline if isinstance(vocabulary, ImportedVocabulary) else None
        recipe = self._tokenizer.recipe
        steps = (pipeline.stages or {}) if pipeline is not None else {}
        if (
            recipe.normalize
            or "sentencepiece" in steps
            or steps.get("normalizer")
            or (pipeline is not None and pipeline.near)
        ):
            return None
        found = known_branches(recipe.split)
        return found if splitter(recipe.split).keeps_spaces else kept(found)

    def items(self, document: int, start: int, end: int) -> list[Item]:
        """The pre-tokens of a stretch and the tokens that stand in it by their names.

        A word of a corpus of words is one.
        """
        if self._corpus.counts is not None:
            word = self._corpus.counts[document][0]
            spans = tuple((at, at + 1) for at in range(len(word)))
            return [PreToken(word, 0, len(word), 0, len(word), spans)]
        held, low, high, items = self._window
        if held != document or start < low or end > high:
            items = self.pretokens.within(self.text(document), start, end)
            self._window = document, start, end, items
        return [item for item in items if item.start < end and (item.end > start or not item.end)]

    def words(self, document: int, start: int, end: int) -> Iterator[tuple[int, str, int]]:
        for item in self.items(document, start, end):
            if isinstance(item, PreToken):
                yield item.start, item.text, item.end

    def pieces(self, place: CorpusPlace, chars: int, branches: Branches | None) -> Iterator[PiecePart]:
        """The pre-tokens of a document from a place on with the branch that matched each, and what is dropped
        between them."""
        text = self.text(place.document)
        start = min(max(0, place.offset), len(text))
        end = min(len(text), start + chars)
        shown = start
        for item in self.items(place.document, start, end):
            if item.start > shown:
                yield PiecePart(text[shown : item.start], shown, item.start, None)
            begin = max(shown, item.start)
            if item.end > begin:
                yield PiecePart(text[begin : item.end], begin, item.end, _branch(branches, text, item, begin))
            shown = max(shown, item.end)
        if shown < end:
            yield PiecePart(text[shown:end], shown, end, None)

    def _parts(
        self, document: int, start: int, end: int, trainer: Trainer
    ) -> Iterator[tuple[CorpusPart, str]]:
        file = cast("ReplayTrainer", trainer.replay)
        text = self.text(document)
        times = self._corpus.counts[document][1] if self._corpus.counts is not None else None
        shown = start
        for item in self.items(document, start, end):
            if item.end <= shown and not (item.start == item.end == start):
                continue
            if item.start > shown:
                yield CorpusPart(CorpusPlace(document, shown), text[shown : item.start], ()), ""
            part = self._part_of(document, item, text, file, times)
            if shown > item.start:  # its first characters belong to the item before as well
                part = _without(part, shown - item.start)
            yield part, ""
            shown = max(shown, item.end)
        if shown < min(end, len(text)):
            yield CorpusPart(CorpusPlace(document, shown), text[shown : min(end, len(text))], ()), ""

    def _part_of(
        self, document: int, item: Item, text: str | LongText, trainer: ReplayTrainer, times: int | None
    ) -> CorpusPart:
        place = CorpusPlace(document, item.start)
        if isinstance(item, Special):
            return CorpusPart(
                place, text[item.start : item.end], (TokenSpan(0, item.end - item.start, False, False),),
                times,
            )
        since = trainer.since(item.text)
        key = document, item.start, item.text, since, since == trainer.number
        part = self._parts_kept.get(key)
        if part is None:
            if len(self._parts_kept) >= _PARTS_KEPT:
                self._parts_kept.clear()
            part = CorpusPart(place, text[item.start : item.end], tuple(_spans(item, trainer)), times)
            self._parts_kept[key] = part
        return part


def _spans(word: PreToken, trainer: ReplayTrainer) -> Iterator[TokenSpan]:
    """The tokens of a pre-token as characters of it; one that came from nothing has no place."""
    units, newest = word.unit_spans, trainer.step_at(trainer.number).made if trainer.number else -1
    for part in trainer.parts(word.text):
        start, end = units[part.start][0], units[part.end - 1][1]
        if start == end:
            continue
        inside = (part.start > 0 and units[part.start - 1][1] > start) or (
            part.end < len(units) and units[part.end][0] < end
        )
        yield TokenSpan(start - word.start, end - word.start, part.symbol == newest >= 0, inside)


def _without(part: CorpusPart, cut: int) -> CorpusPart:
    """A part without its first characters."""
    spans = [
        TokenSpan(max(0, span.start - cut), span.end - cut, span.fresh, span.partial or span.start < cut)
        for span in part.tokens if span.end > cut
    ]
    return CorpusPart(
        CorpusPlace(part.place.document, part.place.offset + cut), part.text[cut:], tuple(spans), part.times
    )


def _branch(branches: Branches | None, text: str | LongText, item: Item, begin: int) -> int | None:
    """The branch that matched a pre-token, the only one where there is but one."""
    if branches is None or isinstance(item, Special):
        return 0
    low = max(0, begin - _AROUND)
    return branches.of(text[low : item.end + _AROUND], begin - low, text[begin : item.end])


def typed_pieces(pretokens: Pretokens, typed: str, branches: Branches | None) -> Iterator[PiecePart]:
    """The pre-tokens of a typed text, in its own characters, and what is dropped between them; of one branch
    where None."""
    shown = 0
    for item in pretokens.of(typed):
        if item.start > shown:
            yield PiecePart(typed[shown : item.start], shown, item.start, None)
        begin = max(shown, item.start)
        if item.end > begin:
            yield PiecePart(typed[begin : item.end], begin, item.end, _branch(branches, typed, item, begin))
        shown = max(shown, item.end)
    if shown < len(typed):
        yield PiecePart(typed[shown:], shown, len(typed), None)
