"""Results of the queries between columns: those known, those wanted next, and the view for a screen."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from tokentui.analyze.align import Width, align
from tokentui.analyze.compare import PairAgreement, agreement, word_spans
from tokentui.analyze.metrics import Conventions
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode.offsets import Encoding, WordEncoder
from tokentui.session import findings
from tokentui.session.column import Column
from tokentui.session.findings import Divergence, Finding, Key, Seen, Signature, Vocabularies
from tokentui.session.jobs import JobPool
from tokentui.session.snapshot import (
    Aligned,
    Between,
    Curve,
    Curves,
    DivergenceView,
    Measured,
    OverlapCounts,
    TokensInBoth,
)
from tokentui.session.sync import Synchronizer
from tokentui.session.views import Busy, Passage, TokenList, Viewport
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts
from tokentui.text.split import to_bytes

MOST_SHOWN = 4_000
"""Of a longer text that is typed only so many characters are shown aligned."""


class Results:
    """Answers that take longer than a key, each kept while what it depends on stays.

    Args:
        sync: The columns.
        corpus: Their corpus.
    """

    def __init__(self, sync: Synchronizer, corpus: Corpus) -> None:
        self.sync = sync
        self.counted = WordCounts(corpus)
        """The corpus: each way to cut it is counted once for all columns and their measures."""
        self.held_out: WordCounts | None = None
        self.under = Conventions()
        self.busy: dict[Key, Busy] = {}
        """The findings under way, and how far they are."""
        self.version = 0
        """Grows when something is found, or given up."""
        self._found: dict[Key, tuple[Signature, object]] = {}
        self._given_up: dict[Key, Signature] = {}
        self._going: dict[tuple[int, ...], list[tuple[Callable[[object], None], bool]]] = {}

    def begin(self, corpus: Corpus) -> None:
        """Begin anew on another corpus."""
        self.counted = WordCounts(corpus)
        self._found.clear()
        self._given_up.clear()
        self.version += 1

    @property
    def corpus(self) -> Corpus:
        """The corpus of the columns."""
        return self.counted.corpus

    # ---- finding

    def take_up(self, pool: JobPool, view: Viewport, rested: bool) -> None:
        """Begin what is wanted and not known, and give up what is not wanted.

        Args:
            pool: The threads.
            view: What is shown.
            rested: Whether the columns have not moved for a moment.
        """
        several = len(self.sync.columns) > 1
        wanted = {one.key: one for one in self.wanted(view)} if several else {}
        for key, running in list(pool.running.items()):
            if isinstance(key, tuple) and (key not in wanted or wanted[key].signature != running.signature):
                pool.give_up(key)
                self.version += 1
        for key, one in wanted.items():
            if key not in pool.running and (rested or not one.resting):
                taken = lambda answer, one=one: self.deliver(one, answer)  # noqa: E731
                pool.submit(key, one.work, taken, one.what, one.signature)
                self.version += 1
        self.busy = (
            {key: one.busy for key, one in pool.running.items() if isinstance(key, tuple)} if several else {}
        )

    def wanted(self, view: Viewport) -> Iterator[Finding]:
        """Yield the queries that a screen needs and that have no result yet, the fastest first."""
        for one in self._wanted(view):
            known = self._found.get(one.key)
            if known is not None and known[0] == one.signature:
                continue
            if self._given_up.get(one.key) != one.signature:
                yield one

    def _wanted(self, view: Viewport) -> Iterator[Finding]:
        wants, sync, listed = view.wants, self.sync, view.tokens
        opened = sorted(((one.key, one.trained) for one in sync.open), key=lambda one: one[0])
        yield from itertools.starmap(findings.divergence, combinations(opened, 2))
        if listed is not None and listed.part.startswith("never"):
            key = listed.b if listed.part == "never_b" else listed.a
            yield from (findings.whole_run(*one) for one in opened if one[0] == key)
        there = sync.in_sync
        if sync.at_work or not there:
            return
        at = sync.position
        signature = (at, tuple((column.key, column.trainer, column.trainer.number) for column in there))
        tokenizers = [(column.key, column.trainer.tokenizer()) for column in there]
        known = self._found.get(("vocabulary", ()))
        if ("vocabularies" in wants or listed is not None) and (known is None or known[0] != signature):
            seen = [Seen(one.key, one.trainer.tokenizer(), list(one.trainer.uses)) for one in there]
            yield findings.overlaps(at, seen, signature)
        if "measures" in wants:
            yield findings.measures("measures", at, tokenizers, self.counted, self.under, signature)
        points, held = view.curve_points, self.held_out
        if "curves" in wants:
            yield from (findings.curve(one.key, one.trained, self.counted, points) for one in there)
        if held is not None and "measures" in wants:
            yield findings.measures("held measures", at, tokenizers, held, self.under, signature)
        if "agreement" in wants:
            yield findings.agreements("agreement", tokenizers, self.corpus, self.under, signature)
        if held is not None and "curves" in wants:
            yield from (findings.curve(one.key, one.trained, held, points, held_out=True) for one in there)

    def deliver(self, one: Finding, value: object) -> None:
        """Take in what was found; an error is not looked for again."""
        self.version += 1
        if isinstance(value, Cancelled) or any(self.sync.column(key) is None for key in one.key[1]):
            return
        self._found[one.key] = (one.signature, value)
        if one.key[0] == "divergence":
            for answer, literal in self._going.pop(one.key[1], []):
                answer(self._go_before(value, literal) if isinstance(value, Divergence) else value)

    def give_up(self, pool: JobPool) -> None:
        """Give up what is being found, as the user asks: it is left until it is asked for."""
        for key, running in list(pool.running.items()):
            if isinstance(key, tuple) and isinstance(running.signature, tuple):
                self.leave(key, running.signature)
                pool.give_up(key)

    def leave(self, key: Key, signature: Signature) -> None:
        """Leave something unknown until it is asked for."""
        self._given_up[key] = signature
        self.version += 1
        if key[0] == "divergence":
            for answer, _ in self._going.pop(key[1], []):
                answer(None)

    def hold_out(self, corpus: Corpus | None) -> None:
        """Measure on a second corpus as well."""
        self.held_out = None if corpus is None else WordCounts(corpus)
        self.version += 1
        for key in [key for key in self._found if key[0].startswith("held")]:
            del self._found[key]

    def forget(self, key: int) -> None:
        """Forget what was found about a column that was taken away."""
        for kept in [kept for kept in self._found if key in kept[1]]:
            del self._found[kept]
        for pair in [pair for pair in self._going if key in pair]:
            for answer, _ in self._going.pop(pair):
                answer(None)

    # ---- the first differing step

    def when_found(self, a: int, b: int, answer: Callable[[object], None], literal: bool) -> None:
        """Answer when the first differing step of two columns is known, by their keys, and go before it; or
        now."""
        pair = _pair(a, b)
        found = self._divergence(pair)
        if found is not None:
            answer(self._go_before(found, literal))
            return
        self.look_again(a, b)
        self._going.setdefault(pair, []).append((answer, literal))

    def look_again(self, a: int, b: int) -> None:
        """Look for the first differing step of two columns although that was given up, or has failed."""
        key = ("divergence", _pair(a, b))
        self._given_up.pop(key, None)
        if key in self._found and not isinstance(self._found[key][1], Divergence):
            del self._found[key]

    def _go_before(self, found: Divergence, literal: bool) -> int | None:
        found = found.by(literal)
        if found.step is not None:
            self.sync.keep_by("merges")
            self.sync.go(found.step - 1)
        return found.step

    def _divergence(self, pair: tuple[int, int]) -> Divergence | None:
        found = self._found.get(("divergence", pair))
        trainers = tuple(
            column.trainer for key in pair if (column := self.sync.column(key)) and column.prepared
        )
        return (
            found[1]
            if found is not None and found[0] == trainers and isinstance(found[1], Divergence)
            else None
        )

    def between(self, view: Viewport, aligned: Aligned, ended: bool) -> Between:
        """All that stands between the columns.

        Args:
            view: What is looked at.
            aligned: The text in the tokens of each.
            ended: Whether no column goes on.
        """
        return Between(
            aligned=aligned,
            divergences=tuple(self.divergences(view.literal)),
            overlaps=self.overlaps(),
            tokens=self.tokens(view.tokens),
            measured=self.measured("measures", "agreement"),
            held_measured=self.measured("held measures"),
            curves=self.curves(view.curve_points) if "curves" in view.wants else None,
            held_out=self.held_out.corpus.name if self.held_out else "",
            ended=ended,
            busy=next(iter(self.busy.values()), None),
            failed=tuple(self.failed()),
        )

    def divergences(self, literal: bool) -> Iterator[DivergenceView]:
        """The first differing step of each two columns, by the spelling of merges or by their meaning."""
        able = [column for column in self.sync.columns if not column.error]
        for one, other in combinations(able, 2):
            pair = _pair(one.key, other.key)
            found, busy = self._divergence(pair), self.busy.get(("divergence", pair))
            if found is None:
                yield DivergenceView(
                    one.key, other.key, busy.done if busy else 0, None, (), busy, False, literal
                )
            else:
                here, other_way = found.by(literal), found.by(not literal)
                sides = here.sides if pair == (one.key, other.key) else here.sides[::-1]
                step = other_way.step if other_way.step != here.step else None
                yield DivergenceView(
                    one.key, other.key, here.looked, here.step, sides, None, True, literal, step
                )

    # ---- looking

    def failed(self) -> Iterator[str]:
        """Yield a line for each query that failed, with the reason."""
        for (kind, _), (_, value) in self._found.items():
            if isinstance(value, Exception):
                yield f"{kind}: {value or type(value).__name__}"

    def _answer(self, kind: str) -> object:
        return self._found.get((kind, ()), (None, None))[1]

    def overlaps(self) -> tuple[OverlapCounts, ...]:
        """Return the overlaps of each two vocabularies, empty until they are known."""
        known = self._answer("vocabulary")
        return known.counts(self._whole()) if isinstance(known, Vocabularies) else ()

    def tokens(self, listed: TokenList | None) -> TokensInBoth | None:
        """The rows of a list, None where none is asked for or nothing is known yet."""
        known = self._answer("vocabulary")
        if listed is None or not isinstance(known, Vocabularies):
            return None
        walk = next((busy for key, busy in self.busy.items() if key[0] == "whole"), None)
        return known.shown(listed, self._whole(), walk)

    def _whole(self) -> dict[int, frozenset[bytes]]:
        """All tokens of the whole runs that are known, by the key of the column."""
        found = {keys[0]: value for (kind, keys), (_, value) in self._found.items() if kind == "whole"}
        return {key: value for key, value in found.items() if isinstance(value, frozenset)}

    def measured(self, kind: str, agreed: str = "") -> Measured | None:
        """The measures of a corpus, and how far the columns agree on it where that belongs to the same
        position."""
        measured = self._answer(kind)
        if not isinstance(measured, Measured):
            return None
        found = self._found.get((agreed, ()))
        if found is not None and isinstance(found[1], tuple) and found[0] == self._found[kind, ()][0]:
            return replace(measured, agreements=found[1])
        return measured

    def _curve(self, kind: str, column: Column) -> Curve | None:
        signature, found = self._found.get((kind, (column.key,)), ((None,), None))
        return found if isinstance(found, Curve) and signature[0] is column.trainer else None

    def curves(self, points: int) -> Curves:
        """The curves of all columns."""
        series: list[Curve] = []
        there = self.sync.in_sync
        for column in there:
            own, held = (self._curve(kind, column) for kind in ("curve", "held curve"))
            if own is None or (own.steps and own.steps[-1] < column.trainer.computed):
                own = findings.curve_so_far(column.key, column.trained, points) or own
            series += [one for one in (own, held) if one is not None]
        marks = tuple((column.key, column.trainer.number) for column in there)
        return Curves(max((column.trainer.computed for column in there), default=0), tuple(series), marks)


def _pair(a: int, b: int) -> tuple[int, int]:
    """Two keys in the order in which what is found about them is kept."""
    return (a, b) if a < b else (b, a)


class Encodings:
    """A text encoded by the columns, word by word as they were encoded before where that has not changed."""

    def __init__(self, width: Width) -> None:
        self._width = width
        self._encoders: dict[int, WordEncoder] = {}
        self._last: tuple[tuple[object, ...], Aligned] | None = None

    def aligned(self, columns: Sequence[Column], text: str, passage: Passage | None, words: str) -> Aligned:
        """The text under each other.

        Args:
            columns: Those at the position.
            text: The text.
            passage: Where it stands in the corpus, None for what was typed.
            words: The splitter that tells what a word is.
        """
        shown = text[:MOST_SHOWN]
        there = [(column.key, column.trainer, column.trainer.number) for column in columns]
        key = (text, passage, words, there)
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        found = [(column.key, self._encode(column, shown)) for column in columns]
        rows = [(key, one) for key, one in found if isinstance(one, Encoding)]
        alignment = align([one for _, one in rows], width=self._width) if rows else None
        spans = word_spans(shown, words)
        aligned = Aligned(
            text=shown,
            passage=passage,
            keys=tuple(key for key, _ in rows),
            alignment=alignment,
            tokens=tuple(one.rows for _, one in rows),
            bytes=len(to_bytes(shown)),
            pairs=tuple(
                PairAgreement(a, b, agreement(one, other, spans))
                for (a, one), (b, other) in combinations(
                    zip((key for key, _ in rows), alignment.cuts if alignment else (), strict=True), 2
                )
            ),
            refused=tuple((key, str(one)) for key, one in found if not isinstance(one, Encoding)),
            left=len(text) - len(shown),
        )
        self._last = key, aligned
        return aligned

    def _encode(self, column: Column, text: str) -> Encoding | TokentuiError:
        tokenizer = column.trainer.tokenizer()
        vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
        try:
            if column.trained.opened:
                return tokenizer.encode(text)
            encoder = self._encoders.get(column.key)
            if encoder is None or encoder.vocabulary is not vocabulary:
                encoder = WordEncoder(vocabulary, merges)
            elif encoder.merges != merges:
                encoder = encoder.after(merges)
            self._encoders[column.key] = encoder
            return encoder.encode(text)
        except TokentuiError as error:
            return error
