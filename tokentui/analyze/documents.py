"""The documents of a corpus under two tokenizers: which change, by how many tokens, and where first.

Documents are encoded one by one, and the ids of none are kept. Of a corpus of counted words each word is a
document that stands so many times.
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
        before, text, after: The characters before the tokens that are listed, theirs, and those behind them.
        a, b: The tokens of either from there, for people, up to where both end one again.
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
        count: How often it stands: 1, or the count of a counted word.
        a, b: Its tokens under either; None where it refuses the document.
        growth: By how many tokens it grows, each time that it stands.
        refusals: Why either refuses it, empty where it does not.
        place: Where its tokens differ first; None where only ids differ, or it is refused.
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
        documents: All documents; a counted word as often as it stands, here and below.
        changed: Those that become other ids.
        recut: Those that become other tokens, whatever their ids are.
        grown, shrunk: Those that become more tokens, and fewer.
        refused_a, refused_b: Those that either refuses.
        only_b_refuses: Those that the second alone refuses.
        a, b: The tokens of the documents that neither refuses, under either.
        uses_a, uses_b: How often each id stands in the documents that become other tokens, under either.
        worst: The documents that change most.
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
        """Record the number of a document whose tokens or ids change."""
        self.first_recut = self.first_recut or number * recut
        self.first_changed = self.first_changed or number * changed

    def packed(self) -> list[object]:
        """Return the totals as a JSON value for another process, without the places of differences."""
        worst = [[getattr(one, name) for name in _ROW] for one in self.worst]
        uses = (list(one.items()) for one in (self.uses_a, self.uses_b))
        return [[getattr(self, name) for name in (*_TOTALS, *_FIRSTS)], *uses, worst]

    @classmethod
    def unpacked(cls, packed: object) -> DocumentsDiff:
        """Return the totals from the value that `packed` returned."""
        totals, uses_a, uses_b, worst = cast(_Packed, packed)
        rows = [(*numbers, (why_a, why_b)) for *numbers, (why_a, why_b) in worst]
        listed = tuple(ChangedDocument(number, "", *rest) for number, *rest in rows)
        found = cls(uses_a=Counter(dict(uses_a)), uses_b=Counter(dict(uses_b)), worst=listed)
        for name, value in zip((*_TOTALS, *_FIRSTS), totals, strict=True):
            setattr(found, name, value)
        return found

    def add(self, other: DocumentsDiff) -> None:
        """Add the totals of other documents."""
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
        rows: The most documents listed.
        processes: The processes at most; the cores of the machine where None.

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
    found = both.of(blocks[:1], sizes[:1], total)
    rest = total - sum(sizes[:1])
    wanted = cores() if processes is None else processes
    children = min(wanted, len(blocks) - 1) if rest >= FORK_CHARS else 1
    if children > 1:
        works = [
            functools.partial(both.packed, blocks[1 + n :: children], sizes[1 + n :: children], total)
            for n in range(children)
        ]
        for one in in_forks(works, total - rest, total):
            found.add(DocumentsDiff.unpacked(one))
    else:
        found.add(both.of(blocks[1:], sizes[1:], total, total - rest))
    worst = heapq.nsmallest(rows, found.worst, key=_order)
    with silent():
        found.worst = tuple(map(both.placed, worst))
    return found


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


def _order(one: ChangedDocument) -> tuple[bool, int, bool, int]:
    return (one.a is not None and one.b is not None, -abs(one.growth) * one.count, one.growth < 0, one.number)


def _blocks(parts: Sequence[str | LongText]) -> Iterator[range]:
    """Runs of documents of about `BLOCK_CHARS` characters."""
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
        counts: How often each stands, once where None.
    """

    def __init__(
        self, a: Tokenizer, b: Tokenizer, same: Ids, parts: Sequence[str | LongText],
        counts: Sequence[int] | None, rows: int
    ) -> None:
        self._a, self._b, self._parts, self._counts, self._rows = a, b, parts, counts, rows
        self._same = {**same, NO_ID: NO_ID}
        gone = _ids_in_use(a) - same.keys()
        self._moved = any(one != other for one, other in same.items()) or not gone.isdisjoint(_ids_in_use(b))
        """True if an id may stand for another token in the second one."""

    def of(self, blocks: Sequence[range], sizes: Sequence[int], total: int, done: int = 0) -> DocumentsDiff:
        """Compare both encodings of some blocks of documents, and return the totals."""
        found = DocumentsDiff()
        worst: list[ChangedDocument] = []
        for block, size in zip(blocks, sizes, strict=True):
            tick(done, total)
            with silent():
                for number in block:
                    check()
                    changed = self._take(number, found)
                    worst += [] if changed is None else [changed]
            worst = heapq.nsmallest(self._rows, worst, key=_order)
            done += size
        tick(done, total)
        found.worst = tuple(worst)
        return found

    def packed(self, blocks: Sequence[range], sizes: Sequence[int], total: int) -> list[object]:
        """Return the totals of some blocks as a JSON value."""
        return self.of(blocks, sizes, total).packed()

    def _take(self, number: int, found: DocumentsDiff) -> ChangedDocument | None:
        """Add a document to the totals. Return it if it changes."""
        text = whole_text(self._parts[number])
        count = 1 if self._counts is None else self._counts[number]
        found.documents += count
        (a, no), (b, neither) = _ids(self._a, text), _ids(self._b, text)
        if a is None or b is None:
            found.refused_a += count * (a is None)
            found.refused_b += count * (b is None)
            if a is None and b is None:
                return None
            found.only_b_refuses += count * (b is None)
            found.changed += count
            found.note(number + 1, True, True)
            one, other = (None if ids is None else len(ids) for ids in (a, b))
            return ChangedDocument(number + 1, "", count, one, other, 0, (no, neither))
        found.a += len(a) * count
        found.b += len(b) * count
        other = a != b
        recut = other if not self._moved else self.meant(a) != b
        if not other and not recut:
            return None
        by = len(b) - len(a)
        found.note(number + 1, recut, other)
        found.changed += count * other
        found.recut += count * recut
        found.grown += count * (by > 0)
        found.shrunk += count * (by < 0)
        if recut:
            for uses, ids in ((found.uses_a, a), (found.uses_b, b)):
                if count == 1:
                    uses.update(ids)
                else:
                    uses.update({one: times * count for one, times in Counter(ids).items()})
        return ChangedDocument(number + 1, "", count, len(a), len(b), by)

    def meant(self, ids: Iterable[int]) -> array[int]:
        """Translate ids of tokenizer A to ids of B. Tokens that B lacks map to a number that is no id."""
        same = self._same
        return array("q", [same.get(one, _GONE) for one in ids])

    def placed(self, document: ChangedDocument) -> ChangedDocument:
        """Add the beginning of a changed document, and the place where its tokens first differ."""
        text = whole_text(self._parts[document.number - 1])
        named = replace(document, name=beginning_of(text))
        if document.a is None or document.b is None:
            return named
        for start, part in self._stretches(text):
            one, other = self._a.encode(part), self._b.encode(part)
            if self._first(one, other) is not None:
                return replace(named, place=self._place(text, start, one, other))
        return named

    def _stretches(self, text: str) -> Iterator[tuple[int, str]]:
        """Cut a long text where both tokenizers allow it, and yield the start and the text of each stretch. A
        short text is one stretch."""
        ways = self._a, self._b
        cutters = [one.encoder.pretokenizer for one in ways]
        parted = all(in_parts(one.vocabulary) and one.encoder.pretokenizer.in_parts for one in ways)
        if len(text) <= _LONG or not parted:
            yield 0, text
            return
        start = 0
        while start < len(text):
            end = start + _LONG
            while end < len(text) and (cut := max(one.safe_cut(text, end) for one in cutters)) != end:
                end = cut
            yield start, text[start:end]
            start = min(end, len(text))

    def _first(self, one: Encoding, other: Encoding) -> int | None:
        """Return the index of the first token that differs, or None."""
        a = self.meant(NO_ID if number is None else number for number in one.ids)
        b = array("q", [NO_ID if number is None else number for number in other.ids])
        if a == b:
            return None
        least = min(len(a), len(b))
        return next((n for n in range(least) if a[n] != b[n]), least)

    def _place(self, text: str, start: int, one: Encoding, other: Encoding) -> ChangedPlace:
        at = self._first(one, other)
        assert at is not None
        i = j = at
        size = len(one.text)
        while True:  # to the first end that both have, from the differing token on
            end_a = one.offsets[i][1] if i < len(one) else size
            end_b = other.offsets[j][1] if j < len(other) else size
            if end_a == end_b:
                break
            i, j = i + (end_a < end_b), j + (end_b < end_a)
        begins = [way.offsets[at][0] for way in (one, other) if at < len(way)]
        first, last = start + min([*begins, size]), start + end_a
        return ChangedPlace(
            first, text[max(0, first - CONTEXT) : first], text[first:last], text[last : last + CONTEXT],
            one.tokens[at : i + 1][:_MOST_TOKENS], other.tokens[at : j + 1][:_MOST_TOKENS],
        )


def _ids(tokenizer: Tokenizer, text: str) -> tuple[array[int] | None, str]:
    """Return the ids of a text, or the reason why it cannot be encoded."""
    try:
        return tokenizer.encode_ids(text, threads=1), ""
    except TokentuiError as error:
        return None, str(error)
