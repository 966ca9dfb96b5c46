"""The documents of a corpus under two tokenizers: which change, by how many tokens, and where first.

Documents are encoded one by one, and the ids of none are kept. In a corpus of counted words, each word is a
document that occurs as often as it is counted.
"""

from __future__ import annotations

import functools
import heapq
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from tokentui.analyze.metrics import in_parts
from tokentui.analyze.stages import FirstText, differs_around, first_text
from tokentui.analyze.vocabulary import beginning_of
from tokentui.core.errors import TokentuiError
from tokentui.core.forks import cores, in_forks
from tokentui.core.jobs import check, silent, tick
from tokentui.core.sequences import common_length
from tokentui.encode.encoding import Encoding
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import NO_ID
from tokentui.text.corpus import Corpus, LongText, whole_text

BLOCK_CHARS = 1 << 18
"""About as many characters are encoded between two ticks."""
FORK_CHARS = 1 << 21
"""A shorter rest of a corpus is encoded in this process."""
CONTEXT = 24
"""Characters around a place."""
_MOST_TOKENS = 8
_LONG = 1 << 16
_GONE = -2

Ids = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class ChangedPlace:
    """The first place where the tokens of a document differ.

    Attributes:
        start: The character of the document where the first differing token begins.
        before, text, after: The characters before the listed tokens, those of the tokens, and those after
            them; at most `CONTEXT` before and after.
        a, b: The tokens of either from there to the next place where both end a token, for people. At most
            the first 8.
    """

    start: int
    before: str
    text: str
    after: str
    a: tuple[str, ...]
    b: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangedDocument:
    """A document that two tokenizers encode to different ids.

    Attributes:
        number: Its number, from 1.
        name: Its beginning.
        count: The number of times that it occurs: 1, or the count of a counted word.
        a, b: The number of its tokens under either; None if the tokenizer refuses the document.
        growth: The tokens that one occurrence gains; negative if it loses some, 0 if it is refused.
        refusals: Why either refuses it; empty if it does not.
        place: Where its tokens differ first; None if only ids differ, or it is refused.
    """

    number: int
    name: str
    count: int
    a: int | None
    b: int | None
    growth: int
    refusals: tuple[str, str] = ("", "")
    place: ChangedPlace | None = None


@dataclass(slots=True)
class DocumentsDiff:
    """The documents of a corpus under two tokenizers, as totals that add up.

    Attributes:
        documents: All documents; a counted word as often as it occurs, here and below.
        changed: Those with other ids, or that only one tokenizer refuses.
        recut: Those with other tokens, whatever their ids are.
        grown, shrunk: Those that become more tokens, and fewer.
        refused_a, refused_b: Those that either refuses.
        only_b_refuses: Those that the second alone refuses.
        a, b: The tokens of the documents that neither refuses, under either.
        uses_a, uses_b: How often each id occurs in the documents with other tokens, under either.
        worst: The documents that change most, largest change first.
        first_recut: The number of the first document that becomes other tokens, or that only one refuses; 0
            if there is none.
        first_changed: The number of the first document that becomes other ids; 0 if there is none.
    """

    documents: int = 0
    changed: int = 0
    recut: int = 0
    grown: int = 0
    shrunk: int = 0
    refused_a: int = 0
    refused_b: int = 0
    only_b_refuses: int = 0
    a: int = 0
    b: int = 0
    uses_a: Counter[int] = field(default_factory=Counter)
    uses_b: Counter[int] = field(default_factory=Counter)
    worst: tuple[ChangedDocument, ...] = ()
    first_recut: int = 0
    first_changed: int = 0

    @property
    def first(self) -> int:
        """The number of the first document that becomes other tokens or that only one refuses; if there is
        none, of the first that becomes other ids. 0 if none changes."""
        return self.first_recut or self.first_changed

    @property
    def growth(self) -> float | None:
        """The additional tokens of the second tokenizer as a share of those of the first; None if the first
        has no tokens."""
        return (self.b - self.a) / self.a if self.a else None

    def note(self, number: int, recut: bool, changed: bool) -> None:
        """Record the number of a document whose tokens or ids change, unless an earlier one is recorded."""
        self.first_recut = self.first_recut or number * recut
        self.first_changed = self.first_changed or number * changed

    def packed(self) -> list[object]:
        """Return the totals as a JSON value for another process, without the places of differences."""
        worst = [[getattr(document, name) for name in _ROW] for document in self.worst]
        uses = (list(counter.items()) for counter in (self.uses_a, self.uses_b))
        return [[getattr(self, name) for name in (*_TOTALS, *_FIRSTS)], *uses, worst]

    @classmethod
    def unpacked(cls, packed: object) -> DocumentsDiff:
        """Return the totals from the value that `packed` returned."""
        totals, uses_a, uses_b, worst = cast(_Packed, packed)
        rows = [(*numbers, (why_a, why_b)) for *numbers, (why_a, why_b) in worst]
        listed = tuple(ChangedDocument(number, "", *rest) for number, *rest in rows)
        diff = cls(uses_a=Counter(dict(uses_a)), uses_b=Counter(dict(uses_b)), worst=listed)
        for name, value in zip((*_TOTALS, *_FIRSTS), totals, strict=True):
            setattr(diff, name, value)
        return diff

    def add(self, other: DocumentsDiff) -> None:
        """Add the totals of other documents. `worst` becomes the list of both, neither ordered nor cut."""
        for name in _TOTALS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _FIRSTS:
            numbers = [number for side in (self, other) if (number := getattr(side, name))]
            setattr(self, name, min(numbers, default=0))
        self.uses_a.update(other.uses_a)
        self.uses_b.update(other.uses_b)
        self.worst += other.worst


_Packed = tuple[list[int], list[tuple[int, int]], list[tuple[int, int]], list[list[Any]]]
_ROW = ("number", "count", "a", "b", "growth", "refusals")
_TOTALS = (
    "documents", "changed", "recut", "grown", "shrunk", "refused_a", "refused_b", "only_b_refuses", "a", "b"
)
_FIRSTS = ("first_recut", "first_changed")


def documents_diff(
    a: Tokenizer, b: Tokenizer, same: Ids, corpus: Corpus, rows: int, *, processes: int | None = None
) -> DocumentsDiff:
    """Encode the documents of a corpus with two tokenizers and compare them. Progress of the job is in
    characters.

    The changed documents come in this order: those that only one of the two refuses, then by how many tokens
    they change, more tokens before fewer, then by their numbers.

    Args:
        a, b: The tokenizers.
        same: The id in `b` of each token of `a` that is a token of both.
        corpus: The corpus.
        rows: The maximum number of documents listed.
        processes: The processes at most; the cores of the machine if None. A short corpus takes one.

    Raises:
        Cancelled: The job is cancelled.
    """
    parts, counts = corpus.parts, None
    if corpus.counts is not None:
        counts = [count for _, count in corpus.counts]
    both = _Both(a, b, same, parts, counts, rows)
    blocks = list(_blocks(parts))
    sizes = [sum(len(parts[n]) for n in block) for block in blocks]
    total = sum(sizes)
    # The first block is encoded here: what is learned of its words is there in each child.
    totals = both.of(blocks[:1], sizes[:1], total)
    rest_size = total - sum(sizes[:1])
    most_processes = cores() if processes is None else processes
    children = min(most_processes, len(blocks) - 1) if rest_size >= FORK_CHARS else 1
    if children > 1:
        works = [
            functools.partial(both.packed, blocks[1 + n :: children], sizes[1 + n :: children], total)
            for n in range(children)
        ]
        for packed in in_forks(works, total - rest_size, total):
            totals.add(DocumentsDiff.unpacked(packed))
    else:
        totals.add(both.of(blocks[1:], sizes[1:], total, total - rest_size))
    worst = heapq.nsmallest(rows, totals.worst, key=_order)
    with silent():
        totals.worst = tuple(map(both.placed, worst))
    return totals


def first_changed(
    a: Tokenizer, b: Tokenizer, same: Ids, corpus: Corpus, found: DocumentsDiff
) -> FirstText | None:
    """Name the stage at which two tokenizers part on the first document that changes. If none changes, the
    first document shows the tokens that are added around a text, if those differ.

    Args:
        a, b, same, corpus: As for `documents_diff`.
        found: The documents that change.

    Raises:
        Cancelled: The job is cancelled.
    """
    if not found.first and (not corpus.parts or not differs_around(a, b)):
        return None
    number = found.first or 1
    document = whole_text(corpus.parts[number - 1])
    both = _Both(a, b, same, corpus.parts, None, 0)

    def differs(text: str) -> bool:
        (ids, _), (others, _) = _ids(a, text), _ids(b, text)
        if ids is None or others is None:
            return ids is not others
        return (both.meant(ids) if found.first_recut else ids) != others

    if found.first:
        return first_text(a, b, number, document, differs)
    return first_text(a, b, number, document, bool)


def _order(document: ChangedDocument) -> tuple[bool, int, bool, int]:
    neither_refuses = document.a is not None and document.b is not None
    size = abs(document.growth) * document.count
    return neither_refuses, -size, document.growth < 0, document.number


def _blocks(parts: Sequence[str | LongText]) -> Iterator[range]:
    """Yield runs of documents of at least `BLOCK_CHARS` characters together; the last may be shorter."""
    start = size = 0
    for number, part in enumerate(parts, 1):
        size += len(part)
        if size >= BLOCK_CHARS or number == len(parts):
            yield range(start, number)
            start, size = number, 0


def _ids_in_use(tokenizer: Tokenizer) -> set[int]:
    """Return the ids of a tokenizer, without making its entries."""
    return {*tokenizer.vocabulary.symbols_by_id(tokenizer.merges), *tokenizer.named()}


class _Both:
    """Two tokenizers on one corpus.

    Args:
        a, b, same, rows: As for `documents_diff`.
        parts: The documents.
        counts: How often each occurs; once if None.
    """

    def __init__(
        self, a: Tokenizer, b: Tokenizer, same: Ids, parts: Sequence[str | LongText],
        counts: Sequence[int] | None, rows: int
    ) -> None:
        self._a, self._b, self._parts, self._counts, self._rows = a, b, parts, counts, rows
        self._same = {**same, NO_ID: NO_ID}
        gone = _ids_in_use(a) - same.keys()
        self._moved = any(old != new for old, new in same.items()) or not gone.isdisjoint(_ids_in_use(b))
        """True if an id may stand for another token in the second one."""

    def of(self, blocks: Sequence[range], sizes: Sequence[int], total: int, done: int = 0) -> DocumentsDiff:
        """Compare both encodings of some blocks of documents, and return the totals, with the `rows`
        documents that change most. Ticks the job before each block.

        Args:
            blocks: The indices of the documents of each block.
            sizes: The characters of each block.
            total: The characters of the corpus, for progress.
            done: The characters compared before, for progress.
        """
        totals = DocumentsDiff()
        worst: list[ChangedDocument] = []
        for block, size in zip(blocks, sizes, strict=True):
            tick(done, total)
            with silent():
                for number in block:
                    check()
                    changed = self._add_document(number, totals)
                    worst += [] if changed is None else [changed]
            worst = heapq.nsmallest(self._rows, worst, key=_order)
            done += size
        tick(done, total)
        totals.worst = tuple(worst)
        return totals

    def packed(self, blocks: Sequence[range], sizes: Sequence[int], total: int) -> list[object]:
        """Return the totals of some blocks as a JSON value."""
        return self.of(blocks, sizes, total).packed()

    def _add_document(self, number: int, totals: DocumentsDiff) -> ChangedDocument | None:
        """Add a document, by its index, to the totals. Return it if it changes and not both refuse it."""
        text = whole_text(self._parts[number])
        count = 1 if self._counts is None else self._counts[number]
        totals.documents += count
        (a, refusal_a), (b, refusal_b) = _ids(self._a, text), _ids(self._b, text)
        if a is None or b is None:
            totals.refused_a += count * (a is None)
            totals.refused_b += count * (b is None)
            if a is None and b is None:
                return None
            totals.only_b_refuses += count * (b is None)
            totals.changed += count
            totals.note(number + 1, True, True)
            size_a, size_b = (None if ids is None else len(ids) for ids in (a, b))
            return ChangedDocument(number + 1, "", count, size_a, size_b, 0, (refusal_a, refusal_b))
        totals.a += len(a) * count
        totals.b += len(b) * count
        changed = a != b
        recut = changed if not self._moved else self.meant(a) != b
        if not changed and not recut:
            return None
        by = len(b) - len(a)
        totals.note(number + 1, recut, changed)
        totals.changed += count * changed
        totals.recut += count * recut
        totals.grown += count * (by > 0)
        totals.shrunk += count * (by < 0)
        if recut:
            for uses, ids in ((totals.uses_a, a), (totals.uses_b, b)):
                if count == 1:
                    uses.update(ids)
                else:
                    uses.update({token_id: times * count for token_id, times in Counter(ids).items()})
        return ChangedDocument(number + 1, "", count, len(a), len(b), by)

    def meant(self, ids: Iterable[int]) -> array[int]:
        """Translate ids of tokenizer A to ids of B. Tokens that B lacks map to a number that is no id;
        `NO_ID` stays."""
        same = self._same
        return array("q", [same.get(number, _GONE) for number in ids])

    def placed(self, document: ChangedDocument) -> ChangedDocument:
        """Return a changed document with its beginning and, unless one refuses it, the place where its tokens
        first differ. Encodes it again."""
        text = whole_text(self._parts[document.number - 1])
        named = replace(document, name=beginning_of(text))
        if document.a is None or document.b is None:
            return named
        for start, part in self._stretches(text):
            encoding_a, encoding_b = self._a.encode(part), self._b.encode(part)
            if self._first(encoding_a, encoding_b) is not None:
                return replace(named, place=self._place(text, start, encoding_a, encoding_b))
        return named

    def _stretches(self, text: str) -> Iterator[tuple[int, str]]:
        """Cut a long text where both tokenizers allow it, and yield the start and the text of each stretch. A
        short text is one stretch."""
        tokenizers = self._a, self._b
        cutters = [tokenizer.encoder.pretokenizer for tokenizer in tokenizers]
        parted = all(in_parts(tokenizer.vocabulary) for tokenizer in tokenizers)
        parted = parted and all(cutter.in_parts for cutter in cutters)
        if len(text) <= _LONG or not parted:
            yield 0, text
            return
        start = 0
        while start < len(text):
            end = start + _LONG
            while end < len(text) and (cut := max(cutter.safe_cut(text, end) for cutter in cutters)) != end:
                end = cut
            yield start, text[start:end]
            start = min(end, len(text))

    def _first(self, encoding_a: Encoding, encoding_b: Encoding) -> int | None:
        """Return the index of the first token that differs, the length of the shorter encoding if one begins
        with the other, or None."""
        a = self.meant(NO_ID if number is None else number for number in encoding_a.ids)
        b = array("q", [NO_ID if number is None else number for number in encoding_b.ids])
        return None if a == b else common_length(a, b)

    def _place(self, text: str, start: int, encoding_a: Encoding, encoding_b: Encoding) -> ChangedPlace:
        """Return the first place where the encodings of the stretch of a text from `start` on differ."""
        at = self._first(encoding_a, encoding_b)
        assert at is not None
        i = j = at
        size = len(encoding_a.text)
        while True:  # to the first end that both have, from the differing token on
            end_a = encoding_a.offsets[i][1] if i < len(encoding_a) else size
            end_b = encoding_b.offsets[j][1] if j < len(encoding_b) else size
            if end_a == end_b:
                break
            i, j = i + (end_a < end_b), j + (end_b < end_a)
        begins = [way.offsets[at][0] for way in (encoding_a, encoding_b) if at < len(way)]
        first, last = start + min([*begins, size]), start + end_a
        return ChangedPlace(
            first, text[max(0, first - CONTEXT) : first], text[first:last], text[last : last + CONTEXT],
            encoding_a.tokens[at : i + 1][:_MOST_TOKENS], encoding_b.tokens[at : j + 1][:_MOST_TOKENS],
        )


def _ids(tokenizer: Tokenizer, text: str) -> tuple[array[int] | None, str]:
    """Return the ids of a text and "", or None and the reason why it cannot be encoded."""
    try:
        return tokenizer.encode_ids(text, threads=1), ""
    except TokentuiError as error:
        return None, str(error)
