"""Results of the queries between columns: those known, those wanted next, and the view for a screen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from itertools import combinations
from typing import cast

from tokentui.analyze.align import align
from tokentui.analyze.compare import PairAgreement, agreement, word_spans
from tokentui.analyze.metrics import Conventions, Tally
from tokentui.analyze.what_if import Cost
from tokentui.core.errors import Cancelled, TokentuiError, in_words
from tokentui.core.safetext import to_bytes
from tokentui.encode.encoding import Encoding
from tokentui.session.compare import jobs as findings
from tokentui.session.compare.jobs import Divergences, Vocabularies
from tokentui.session.engine.jobs import BackgroundQuery, JobPool, Key, Signature
from tokentui.session.snapshot import (
    Agreed,
    Aligned,
    Between,
    CostView,
    Curve,
    Curves,
    DivergenceView,
    Measured,
    SharedTokens,
    TokensInBoth,
)
from tokentui.session.training.column import Column
from tokentui.session.training.passages import text_of
from tokentui.session.training.sync import Synchronizer
from tokentui.session.views import Busy, Passage, Viewport
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts

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
        self._cancelled: dict[Key, Signature] = {}
        self._aligned: tuple[object, Aligned] | None = None
        """The text that was shown last, with all that its tokens depend on."""
        self._shared: tuple[object, tuple[SharedTokens, ...]] | None = None
        """The tokens that the vocabularies share, with all that they depend on."""
        self._listed: tuple[object, list[bytes] | None] | None = None
        """The whole list of tokens of which rows were shown last, with all that it depends on."""
        self._measured: dict[str, tuple[object, Measured]] = {}
        """The measures that were shown last, by their kind, with the counts that they were made of."""
        self._divergence_jumps: dict[tuple[int, ...], list[tuple[Future[int | None], bool]]] = {}
        """The pending answers of `go_to_divergence` and its `literal`, by the keys of the columns."""

    def reset(self, corpus: Corpus) -> None:
        """Start again on another corpus: drop results, cancellations and waiting jumps."""
        self.counted = WordCounts(corpus)
        self._found.clear()
        self._measured.clear()
        self._cancelled.clear()
        self.cancel_divergence_jumps()
        self.version += 1

    @property
    def corpus(self) -> Corpus:
        """The corpus of the columns."""
        return self.counted.corpus

    # ---- finding

    def update_jobs(self, pool: JobPool, view: Viewport, rested: bool) -> None:
        """Submit the queries that the view needs and that have no result, and cancel others; one column alone
        needs none. Updates `busy`, and `version` if anything changed. Jumps to the divergence of a failed
        column are cancelled.

        Args:
            pool: The threads.
            view: The sections that are shown.
            rested: True if the columns have not moved for a moment.
        """
        queries = self.wanted(view) if len(self.sync.columns) > 1 else ()
        for column in self.sync.columns:
            if column.error:
                self.cancel_divergence_jumps(column.key)
        self.version += pool.reconcile(queries, self.deliver, rested)
        self.busy = {key: job.busy for key, job in pool.running.items() if isinstance(key, tuple)}

    def wanted(self, view: Viewport) -> Iterator[BackgroundQuery]:
        """Yield the queries that a screen needs, the fastest first, without those that have a result or were
        cancelled under the same signature."""
        for query in self._wanted(view):
            known = self._found.get(query.key)
            if known is not None and known[0] == query.signature:
                continue
            if self._cancelled.get(query.key) != query.signature:
                yield query

    def _wanted(self, view: Viewport) -> Iterator[BackgroundQuery]:
        """Yield the queries for the sections that the view shows, known or not, the fastest first.

        While columns work or none is in sync, only divergences and whole runs are wanted.
        """
        wants, sync, listed = view.wants, self.sync, view.tokens
        opened = sorted(((column.key, column.training) for column in sync.open), key=lambda keyed: keyed[0])
        yield from itertools.starmap(findings.divergence, combinations(opened, 2))
        if listed is not None and listed.part.startswith("never"):
            yield from (findings.whole_run(*keyed) for keyed in opened if keyed[0] == listed.other)
        there = sync.in_sync
        if sync.has_work or not there:
            return
        at = sync.position
        signature = (at, tuple((column.key, column.trainer, column.trainer.number) for column in there))
        yield from findings.costs(there)
        if "vocabularies" in wants or listed is not None:
            yield findings.shared_tokens(at, there, signature, sync.on_column_error)
        if "measures" in wants:
            yield from (findings.measure("measures", column, self.counted, self.under) for column in there)
        points, held = view.curve_points, self.held_out
        if "curves" in wants:
            yield from (findings.curve(column.key, column.training, self.counted, points) for column in there)
        if held is not None and "measures" in wants:
            yield from (findings.measure("held measures", column, held, self.under) for column in there)
        if "agreement" in wants:
            tokenizers = [(column.key, column.trainer.tokenizer()) for column in there]
            yield findings.agreements(at, tokenizers, self.corpus, self.under, signature)
        if held is not None and "curves" in wants:
            yield from (
                findings.curve(column.key, column.training, held, points, held_out=True) for column in there
            )

    def deliver(self, query: BackgroundQuery, value: object) -> None:
        """Store the result of a query, or its error, which is not tried again. A result about a removed
        column and `Cancelled` are ignored. A divergence answers the jumps that wait for it."""
        self.version += 1
        if isinstance(value, Cancelled) or any(self.sync.column(key) is None for key in query.key[1]):
            return
        self._found[query.key] = (query.signature, value)
        if query.key[0] == "divergence":
            for answer, literal in self._divergence_jumps.pop(query.key[1], []):
                if isinstance(value, Divergences):
                    answer.set_result(self._go_before(value, literal))
                else:
                    answer.set_exception(cast("Exception", value))

    def cancel(self, pool: JobPool) -> None:
        """Cancel the running queries at the request of the user. A query is not submitted again until its
        signature changes, or it is retried."""
        for key, running in list(pool.running.items()):
            if isinstance(key, tuple) and isinstance(running.signature, tuple):
                self.leave(key, running.signature)
                pool.cancel(key)

    def leave(self, key: Key, signature: Signature) -> None:
        """Mark a query as cancelled: under this signature it is not submitted again. Jumps that wait for it
        are cancelled."""
        self._cancelled[key] = signature
        self.version += 1
        if key[0] == "divergence":
            self.cancel_divergence_jumps(*key[1])

    def set_held_out(self, corpus: Corpus | None) -> None:
        """Set the second corpus that is measured, or None; results on the one before are dropped."""
        self.held_out = None if corpus is None else WordCounts(corpus)
        self.version += 1
        self._measured.pop("held measures", None)
        for key in [key for key in self._found if key[0].startswith("held")]:
            del self._found[key]

    def forget(self, key: int) -> None:
        """Drop the results about a removed column, and cancel jumps to its divergences."""
        for kept in [kept for kept in self._found if key in kept[1]]:
            del self._found[kept]
        self.cancel_divergence_jumps(key)

    def cancel_divergence_jumps(self, *keys: int) -> None:
        """Answer the jumps to divergences of pairs that have all of these columns: with the error of a column
        of the pair that failed, else with `Cancelled`."""
        for pair in [pair for pair in self._divergence_jumps if {*keys} <= {*pair}]:
            failed = next(
                (column for column in self.sync.columns if column.key in pair and column.error), None
            )
            for answer, _ in self._divergence_jumps.pop(pair):
                answer.set_exception(Cancelled() if failed is None else _no_divergence(failed))

    # ---- the first differing step

    def go_to_divergence(self, first: Column, second: Column, literal: bool) -> Future[int | None]:
        """Go to the step before two columns diverge, once that step has been found.

        Syncs the columns by merges. Several calls for the same pair get the same answer.

        Args:
            first: A column.
            second: The other one.
            literal: True to compare merges as they are spelled; else by what they mean.

        Returns:
            The differing step, once it is known; None if there is none.

        Raises:
            TokentuiError: One of them failed to load.
        """
        for column in (first, second):
            if column.error:
                raise _no_divergence(column)
        pair, answer = _pair(first.key, second.key), Future[int | None]()
        known = self._divergence(pair)
        if known is not None:
            answer.set_result(self._go_before(known, literal))
        else:
            self.retry_divergence(*pair)
            self._divergence_jumps.setdefault(pair, []).append((answer, literal))
        return answer

    def retry_divergence(self, a: int, b: int) -> None:
        """Allow the search for the first differing step of two columns again after it was cancelled or has
        failed. A known result stays."""
        key = ("divergence", _pair(a, b))
        self._cancelled.pop(key, None)
        if key in self._found and not isinstance(self._found[key][1], Divergences):
            del self._found[key]

    def _go_before(self, found: Divergences, literal: bool) -> int | None:
        """Set the goal one step before the columns part, by merges.

        Returns the step at which they part; None, with no move, if they never do.
        """
        way = found.ways[literal]
        if way is None:
            return None
        self.sync.sync_by("merges")
        self.sync.set_goal(way.step - 1)
        return way.step

    def _divergence(self, pair: tuple[int, int]) -> Divergences | None:
        """Return the first differing step of a pair of columns; None if it is not known for their current
        trainings."""
        signature, found = self._found.get(("divergence", pair), (None, None))
        columns = [self.sync.column(key) for key in pair]
        trainers = tuple(column.trainer for column in columns if column and column.open)
        return found if signature == trainers and isinstance(found, Divergences) else None

    # ---- looking

    def between(self, view: Viewport, typed: str, passage: Passage | None) -> Between:
        """Return the parts of the comparison that have been computed.

        Args:
            view: The sections and the list that are shown.
            typed: The typed text.
            passage: The passage that is shown in its place; None for none.
        """
        vocabularies, listed, sync = self._answer("vocabulary"), view.tokens, self.sync
        shared: tuple[SharedTokens, ...] = ()
        tokens: TokensInBoth | None = None
        if isinstance(vocabularies, Vocabularies):
            found = {keys[0]: value for (kind, keys), (_, value) in self._found.items() if kind == "whole"}
            whole = {key: value for key, value in found.items() if isinstance(value, frozenset)}
            walk = next((busy for key, busy in self.busy.items() if key[0] == "whole"), None)
            known = vocabularies, tuple(whole.items())
            if self._shared is None or self._shared[0] != known:
                self._shared = known, vocabularies.shared(whole)
            shared = self._shared[1]
            if listed is not None:
                # Neither a scroll nor a report of progress changes the list that rows are taken from.
                key = known, replace(listed, top=0, rows=0, seek="")
                if self._listed is None or self._listed[0] != key:
                    self._listed = key, vocabularies.listed(listed, whole)
                tokens = vocabularies.shown(listed, self._listed[1], walk, whole)
        agreed, held = self._answer("agreement"), self.held_out
        return Between(
            aligned=self._align(typed if passage is None else text_of(self.corpus, passage), passage),
            divergences=tuple(self._divergences(view.literal)),
            overlaps=shared,
            tokens=tokens,
            measured=self._measure("measures", self.counted),
            held_measured=None if held is None else self._measure("held measures", held),
            agreed=agreed if isinstance(agreed, Agreed) else None,
            curves=self._curves(view.curve_points) if "curves" in view.wants else None,
            costs=tuple(
                CostView(keys[0], keys[1], cost) for (kind, keys), (_, cost) in self._found.items()
                if kind == "cost" and isinstance(cost, Cost) and all(map(self.sync.column, keys))
            ),
            held_out=self.held_out.corpus.name if self.held_out else "",
            ended=bool(sync.in_sync) and all(column.end(free=False) is not None for column in sync.in_sync),
            busy=next(iter(self.busy.values()), None),
            failed=tuple(
                f"{kind}: {in_words(value)}"
                for (kind, _), (_, value) in self._found.items() if isinstance(value, Exception)
            ),
        )

    def _measure(self, kind: str, counted: WordCounts) -> Measured | None:
        """Return the measures of the columns at their position; until all are counted there, those of the
        position before or, without any, of the columns that are counted."""
        at, there, counts = self.sync.position, self.sync.in_sync, dict[int, Tally | TokentuiError]()
        shown = self._measured.get(kind)
        for column in there:
            signature, value = self._found.get((kind, (column.key,)), (None, None))
            if isinstance(value, dict) and signature == findings.measured_state(column, counted, self.under):
                counts |= value
        if not counts or (shown is not None and shown[1].at != at and len(counts) < len(there)):
            return shown[1] if shown is not None else None
        made_of = at, tuple(counts.items())
        if shown is None or shown[0] != made_of:
            shown = self._measured[kind] = made_of, findings.measured(at, counted.corpus, counts)
        return shown[1]

    def _answer(self, kind: str) -> object:
        return self._found.get((kind, ()), (None, None))[1]

    def _divergences(self, literal: bool) -> Iterator[DivergenceView]:
        """Yield the first differing step of each pair of columns, or how far the search for it is.

        Args:
            literal: True to compare merges as they are spelled, False by what they mean.
        """
        able = [column for column in self.sync.columns if not column.error]
        for column, other in combinations(able, 2):
            pair = _pair(column.key, other.key)
            found, busy = self._divergence(pair), self.busy.get(("divergence", pair))
            if found is None:
                done = busy.done if busy else 0
                yield DivergenceView(column.key, other.key, done, None, (), busy, False, literal)
                continue
            way, otherwise = found.ways[literal], found.ways[not literal]
            step, other_step = (divergence.step if divergence else None for divergence in (way, otherwise))
            sides = (way.a, way.b) if way else ()
            yield DivergenceView(
                column.key, other.key, step - 1 if step else found.steps, step,
                sides if pair == (column.key, other.key) else sides[::-1], None, True, literal,
                other_step if other_step != step else None,
            )

    def _curves(self, points: int) -> Curves:
        """Return the curves of the columns in sync on both corpora, as far as they are known, with the step
        of each column."""
        series: list[Curve] = []
        there = self.sync.in_sync
        marks = tuple((column.key, column.trainer.number) for column in there)
        ends = [findings.last_drawn(column.training) for column in there]
        for column, end in zip(there, ends, strict=True):
            for kind in ("curve", "held curve"):
                signature, curve = self._found.get((kind, (column.key,)), ((None,), None))
                curve = curve if isinstance(curve, Curve) and signature[0] is column.trainer else None
                behind = curve is None or (curve.steps and curve.steps[-1] < end)
                if kind == "curve" and behind:
                    curve = findings.curve_so_far(column.key, column.training, points) or curve
                if curve is not None:
                    series.append(findings.through(curve, column.training, [step for _, step in marks]))
        return Curves(max(ends, default=0), tuple(series), marks)

    def _align(self, text: str, passage: Passage | None) -> Aligned:
        """Return a text in the tokens of each column in sync, aligned in rows. Columns that refuse it are
        listed with the error; of a long text only the first `MOST_SHOWN` characters are shown. Cached."""
        columns, words, shown = self.sync.in_sync, self.under.splitter, text[:MOST_SHOWN]
        steps = [(column.key, column.trainer, column.trainer.number) for column in columns]
        key = text, passage, words, steps
        if self._aligned is not None and self._aligned[0] == key:
            return self._aligned[1]
        rows: dict[int, Encoding] = {}
        refused = []
        for column in columns:
            try:
                rows[column.key] = Encoding.of(shown, column.encode(shown))
            except TokentuiError as error:
                refused.append((column.key, str(error)))
        alignment = align(list(rows.values())) if rows else None
        cuts, spans = alignment.cuts if alignment else (), word_spans(shown, words)
        aligned = Aligned(
            text=shown,
            passage=passage,
            keys=tuple(rows),
            alignment=alignment,
            tokens=tuple(encoded.rows for encoded in rows.values()),
            bytes=len(to_bytes(shown)),
            pairs=tuple(
                PairAgreement(a, b, agreement(cuts_a, cuts_b, spans))
                for (a, cuts_a), (b, cuts_b) in combinations(zip(rows, cuts, strict=True), 2)
            ),
            refused=tuple(refused),
            left=len(text) - len(shown),
        )
        self._aligned = key, aligned
        return aligned


def _no_divergence(failed: Column) -> TokentuiError:
    """Return the error of a question about the divergence of a column that failed to load."""
    return TokentuiError("this column failed to load and cannot be compared", failed.name, failed.error)


def _pair(a: int, b: int) -> tuple[int, int]:
    """Return two keys in ascending order, as results about pairs are stored."""
    return (a, b) if a < b else (b, a)
