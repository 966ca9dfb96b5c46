"""The jobs that find what columns have between them: each on objects of its own, and given up when it is
wanted no longer.

A job depends on what its signature holds. Its answer is kept as long as that stays; another position, another
column or another corpus makes another job of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tokentui import learn
from tokentui.analyze.budget import knee
from tokentui.analyze.compare import Overlap, compare_on, overlaps, pieces
from tokentui.analyze.divergence import (
    Divergence,
    as_trained,
    encoded,
    evenly,
    first_divergences,
    replayed,
    walked,
)
from tokentui.analyze.metrics import Conventions, Tally, bits, rows_of, tallies
from tokentui.analyze.what_if import RunSide, between
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.core.runtime import quiet_collector
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.trainer import Trainer
from tokentui.session.engine.jobs import BackgroundQuery, Signature, reporting
from tokentui.session.snapshot import Agreed, Curve, Measured, SharedTokens, TokenInBoth, TokensInBoth
from tokentui.session.training.column import Column, needles
from tokentui.session.training.training import Training, prepare_tokenizer
from tokentui.session.views import Busy, Position, TokenList
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts

CUTS_SHOWN = 5
"""The number of divergent stretches of two columns to report, most frequent first."""
ROWS = 10
"""The number of candidates to report for a side."""
_FEW = 16
"""The number of steps at which another corpus is encoded, if no replay of the steps gives the figures."""


class Divergences(NamedTuple):
    """The first differing step of two columns.

    Attributes:
        ways: By the meaning of merges, and by their spelling; None if they agree up to their ends.
        steps: The number of steps that were compared.
    """

    ways: tuple[Divergence | None, Divergence | None]
    steps: int


def _fork_at_start(training: Training) -> Trainer:
    """Return a fork of the training at step 0, to walk it independently. Reports progress as `laying out`."""
    with quiet_collector(), reporting("laying out"):
        return training.trainer.fork(0, ())


def divergence(a: tuple[int, Training], b: tuple[int, Training]) -> BackgroundQuery:
    """Return a query for the first differing step of two columns, each given by its key and training. Its
    answer is a `Divergences`. It does not wait until the columns rest."""
    what = "looking for where they diverge"

    def work() -> Divergences:
        """Walk two forks side by side to the first step that differs."""
        first, second = (_fork_at_start(training) for _, training in (a, b))
        stops = a[1].run.stops, b[1].run.stops
        with quiet_collector():
            found = first_divergences(first, second, rows=ROWS, stops=stops)
        return Divergences(found, min(first.computed, second.computed))

    return BackgroundQuery(
        ("divergence", (a[0], b[0])), (a[1].trainer, b[1].trainer), what, work, resting=False)


def shared_tokens(
    at: Position, columns: Sequence[Column], signature: Signature,
    on_column_error: Callable[[Column, Exception], object],
) -> BackgroundQuery:
    """Return a query for the tokens that the vocabularies share. Its result is a `Vocabularies`.

    `on_column_error` is called with a column whose vocabulary cannot be read; the column is left out.
    """
    seen: list[Seen] = []

    def copy_vocabularies() -> None:
        """Copy the tokenizer and the uses of each column, on the engine thread."""
        for column in columns:
            try:
                seen.append(Seen(column.key, column.trainer.tokenizer(), list(column.trainer.uses)))
            except Exception as error:
                on_column_error(column, error)

    return BackgroundQuery(
        ("vocabulary", ()), signature, "comparing vocabularies", lambda: vocabularies(at, seen),
        before_start=copy_vocabularies,
    )


def costs(columns: Sequence[Column]) -> Iterator[BackgroundQuery]:
    """Yield a query for the cost of the what-ifs of each trained column that has a base: a column with the
    same recipe and run but fewer what-ifs. Of several bases the one with the fewest is used. The answers are
    `Cost`."""
    trained = [column for column in columns if column.training.opened is None]
    for changed in trained:
        recipe, run = changed.training.recipe, changed.training.run
        of = [
            column for column in trained
            if set(column.training.recipe.what_if) < set(recipe.what_if) and column.training.run == run
            and column.training.recipe.but() == recipe.but()
        ]
        if of:
            yield _cost(min(of, key=lambda column: len(column.training.recipe.what_if)), changed)


def _cost(run: Column, changed: Column) -> BackgroundQuery:
    """Return a query for the cost of a what-if, a `Cost` at the lower of the two steps."""
    trainers, sides = (run.trainer, changed.trainer), list[RunSide]()
    step = min(trainer.number for trainer in trainers)
    return BackgroundQuery(
        ("cost", (run.key, changed.key)), (*trainers, step), "counting the cost",
        lambda: between(step, *sides),
        before_start=lambda: sides.extend(RunSide.of(trainer, step) for trainer in trainers),
    )


def whole_run(key: int, training: Training) -> BackgroundQuery:
    """Return a query for the bytes of all tokens that a column has at any step of its run, to its stops or
    until no pair is left. Its answer is a set. It does not wait until the columns rest."""
    what = "going to the end of the run"

    def work() -> frozenset[bytes]:
        """Return the bytes of the tokens of a file, of the start if pieces are only dropped, else of the end
        of the run."""
        trainer, stops = training.trainer, training.run.stops
        if training.opened is not None:
            return _pieces(training.opened.tokenizer)
        if not trainer.traits.grows:  # pieces are only dropped
            return _pieces(trainer.fork(0, ()).tokenizer())
        walk = _fork_at_start(training)
        learn.run(walk, stops)
        return _pieces(walk.tokenizer())

    return BackgroundQuery(("whole", (key,)), (training.trainer,), what, work, resting=False)


def _pieces(tokenizer: Tokenizer) -> frozenset[bytes]:
    return frozenset(entry.piece for entry in tokenizer.entries())


def measure(kind: str, column: Column, counted: WordCounts, under: Conventions) -> BackgroundQuery:
    """Return a query for the counts of a corpus under a column. Its result maps the key of the column to
    them, or to the reason why the column has none."""
    tokenizer = column.trainer.tokenizer()
    return BackgroundQuery(
        (kind, (column.key,)), measured_state(column, counted, under), "measuring",
        lambda: tallies({column.key: tokenizer}, counted.corpus, under, counted),
    )


def measured_state(column: Column, counted: WordCounts, under: Conventions) -> Signature:
    """Return the values that the counts of a corpus under a column depend on."""
    return column.trainer, column.trainer.number, under, counted.corpus.sha256


def measured(at: Position, corpus: Corpus, counts: Mapping[int, Tally | TokentuiError]) -> Measured:
    """Return the measures of the columns that are counted, from their counts."""
    rows = rows_of([value if isinstance(value, Tally) else None for value in counts.values()])
    refused = ((key, str(value)) for key, value in counts.items() if isinstance(value, TokentuiError))
    return Measured(at, corpus.name, tuple(counts), rows, tuple(refused))


def agreements(
    at: Position, columns: Sequence[tuple[int, Tokenizer]], corpus: Corpus, under: Conventions,
    signature: Signature,
) -> BackgroundQuery:
    """Return a query for the agreement of each two columns on a corpus, an `Agreed`. Columns that cannot read
    it are left out of the answer."""
    return BackgroundQuery(
        ("agreement", ()), (*signature, under, corpus.sha256), "comparing",
        lambda: Agreed(at, compare_on(columns, corpus, under, most=CUTS_SHOWN)),
    )


def curve(
    key: int, training: Training, counted: WordCounts, points: int, held_out: bool = False
) -> BackgroundQuery:
    """Return a query for the curve of a column on its own corpus, or on a second one, up to its `last_drawn`
    step. Its answer is a `Curve`; if it cannot be drawn, an empty one with the error."""
    trainer, recipe, file, what = training.trainer, training.recipe, training.opened, "drawing curves"
    computed, number, traits, corpus = last_drawn(training), trainer.number, trainer.traits, counted.corpus
    by_merges = traits.step == "merge" and not traits.compresses
    tokenizer = trainer.tokenizer(computed) if by_merges else None
    if tokenizer is not None and tokenizer.vocabulary.eventful:
        tokenizer = None  # its tokens do not come one by one: it is walked
    remembers = tokenizer is not None and not held_out and as_trained(recipe)
    uses, spread = list[int](), list[float | None]()

    def copy_counts() -> None:
        uses.extend(trainer.uses if remembers else ())
        if remembers and corpus.named:
            spread.extend(spread_of(trainer, corpus, evenly(computed, points)))

    def found() -> Curve:
        """Compute the curve in the fastest way: from the counts of the training, by encoding at each step, or
        by walking a fork."""
        steps, other, words = evenly(computed, points), trainer, None
        if tokenizer is not None and remembers:
            lengths, vocabulary = (
                [trainer.tokens_at(step) for step in range(computed + 1)], tokenizer.vocabulary,
            )
            merges = vocabulary.merges[:computed]
            tokens, used = replayed(merges, vocabulary.base_size, lengths, uses, number, steps)
        elif tokenizer is not None:
            words = counted.of(recipe) if held_out else trainer.words
            tokens, used = encoded(tokenizer, words, steps)
        else:
            if file is not None and held_out:
                other = prepare_tokenizer(corpus, file.tokenizer, training.run).trainer
            else:
                other = _fork_at_start(training)
            if file is None and (held_out or not as_trained(recipe)):
                words = counted.of(recipe)
                steps = evenly(computed, min(points, _FEW)) if traits.grows else steps
            tokens, used = walked(other, training.run.stops, steps, words)
        sizes = [other.size_at(step) for step in steps]
        return curve_of(key, held_out, steps, tokens, sizes, corpus.size, used, spread)

    def work() -> Curve:
        try:
            return found()
        except TokentuiError as error:
            return Curve(key, held_out, (), (), (), (), (), str(error))

    # One that takes long is drawn again when the steps have become a twentieth, or eight, more.
    drawn_steps = computed if remembers else int(20 * math.log1p(computed / 160))
    signature = trainer, drawn_steps, points, corpus.sha256
    return BackgroundQuery(
        ("held curve" if held_out else "curve", (key,)), signature, what, work, before_start=copy_counts)


def last_drawn(training: Training) -> int:
    """Return the last step that the curves of a column show: the end of its run, as far as it is computed.

    More steps may be computed, for a run without the stops of this one. They count only if the column is
    there.
    """
    trainer = training.trainer
    end = trainer.ending(training.run.stops).step
    return trainer.computed if end is None else max(min(end, trainer.computed), trainer.number)


def curve_so_far(key: int, training: Training, points: int) -> Curve | None:
    """Return the curve of a column on its corpus from the figures of its training; None if its tokenizer does
    not encode the corpus as the training left it."""
    if not _knows_token_counts(training):
        return None
    return _curve_at(key, training, evenly(last_drawn(training), points))


def through(curve: Curve, training: Training, steps: Iterable[int]) -> Curve:
    """Return a curve with the values at more steps up to its last one, as far as the training knows them.
    Curves on another corpus are returned unchanged.

    The share of ids in use at these steps is None: it needs a walk over the corpus.
    """
    more = {step for step in steps if curve.steps and step <= curve.steps[-1]}.difference(curve.steps)
    if not more or curve.held_out or not _knows_token_counts(training):
        return curve
    found = _curve_at(curve.key, training, sorted(more.union(curve.steps)))
    in_use = dict(zip(curve.steps, curve.in_use, strict=False))
    shares = tuple(map(in_use.get, found.steps)) if in_use else ()
    return replace(found, in_use=shares, knee=curve.knee)


def _knows_token_counts(training: Training) -> bool:
    """Return whether the training knows the number of tokens of its corpus at each step."""
    return training.opened is not None or as_trained(training.recipe)


def _curve_at(key: int, training: Training, steps: Sequence[int]) -> Curve:
    """Return the curve of a column on its own corpus at some steps, from the counts of its training. It has
    no ids in use."""
    trainer = training.trainer
    tokens, ids = [trainer.tokens_at(step) for step in steps], [trainer.size_at(step) for step in steps]
    spread = spread_of(trainer, training.corpus, steps) if training.corpus.named else ()
    return curve_of(key, False, steps, tokens, ids, training.corpus.size, spread=spread)


def spread_of(trainer: Trainer, corpus: Corpus, steps: Iterable[int]) -> Iterator[float | None]:
    """Yield for each step the tokens per byte of the most expensive named corpus over those of the cheapest;
    None if they are not known."""
    for step in steps:
        lengths = trainer.lengths_at(step)
        sized = [(length, part.times * part.corpus.size) for length, part in zip(lengths, corpus.named,
                                                                              strict=False)]
        costs = [length / size for length, size in sized if length and size]
        yield max(costs) / min(costs) if costs else None


def curve_of(
    key: int, held_out: bool, steps: Sequence[int], tokens: Sequence[int], ids: Sequence[int],
    corpus_bytes: int,
    used: Sequence[int] = (), spread: Iterable[float | None] = (),
) -> Curve:
    """Return the curve of a column from the tokens and the ids at some steps.

    Args:
        key: The key of the column.
        held_out: True for a corpus that the column was not trained on.
        steps, tokens, ids: The steps, and the tokens of the corpus and the number of ids at each.
        corpus_bytes: The bytes of the corpus.
        used: The ids in use at each step; empty if they are not known.
        spread: As `spread_of` yields it; empty without named corpora.
    """
    return Curve(
        key=key,
        held_out=held_out,
        steps=tuple(steps),
        tokens=tuple(tokens),
        bytes_per_token=tuple(corpus_bytes / count if count else None for count in tokens),
        bits=tuple(bits(count, size) or 0.0 for count, size in zip(tokens, ids, strict=True)),
        in_use=tuple(count / size if size else 0.0 for count, size in zip(used, ids, strict=True))
        if used
        else (),
        saved=tuple(map(_saved, tokens, tokens[1:], ids, ids[1:])) + (None,) * bool(steps),
        ids=tuple(ids),
        bytes=corpus_bytes,
        knee=steps[at] if steps and (at := knee(ids, tokens)) is not None else None,
        spread=tuple(spread),
    )


def _saved(before: int, after: int, ids: int, more: int) -> float | None:
    return (before - after) / (more - ids) if after < before and more > ids else None


# The vocabularies of several columns at one position: what is common, what only one has, and what one never
# makes.


class Seen(NamedTuple):
    """A column at a step: its key, its tokenizer, and the uses of each symbol in the corpus."""

    key: int
    tokenizer: Tokenizer
    uses: Sequence[int]


Row = tuple[int, int | None]
"""A token's id and its uses; the uses of a special are not counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Vocabularies:
    """The vocabularies of the columns at a position.

    Attributes:
        at: The position.
        rows: For the key of each column its tokens by their bytes, and by their bare bytes.
        overlaps: For the keys of each pair of columns their overlap, and that of the bare tokens.
    """

    at: Position
    rows: Mapping[int, tuple[Mapping[bytes, Row], Mapping[bytes, Row]]]
    overlaps: Mapping[tuple[int, int], tuple[Overlap, Overlap]]

    def shared(self, whole: Mapping[int, frozenset[bytes]]) -> tuple[SharedTokens, ...]:
        """Return the overlap of each pair of vocabularies, with the numbers of tokens that the other column
        never makes.

        Args:
            whole: For the key of a column all tokens of its whole run; columns whose run is not known are
                missing, and the numbers that need them are None.
        """
        return tuple(
            SharedTokens(
                self.at, a, b, overlaps,
                never_b=len(self._part(TokenList(a, b, "never_b"), whole)) if b in whole else None,
                never_a=len(self._part(TokenList(a, b, "never_a"), whole)) if a in whole else None,
            )
            for (a, b), overlaps in self.overlaps.items()
        )

    def listed(self, look: TokenList, whole: Mapping[int, frozenset[bytes]]) -> list[bytes] | None:
        """Return all tokens of a list, or those that contain its text; None if a column is not here, or the
        whole run that the list needs is not known."""
        if look.a not in self.rows or look.b not in self.rows:
            return None
        if look.part.startswith("never") and look.other not in whole:
            return None
        found = self._part(look, whole)
        return [found[n] for n in _places(found, look.find)] if look.find else found

    def shown(
        self, look: TokenList, found: list[bytes] | None, busy: Busy | None,
        whole_runs: Mapping[int, frozenset[bytes]],
    ) -> TokensInBoth | None:
        """Return the visible rows of a list; None if a column is not here.

        Args:
            look: The list.
            found: All of its tokens, from `listed`; None if they are not known: the result is empty then.
            busy: The walk to the end of a run that it needs.
            whole_runs: The tokens of whole runs, by the keys of their columns.
        """
        if look.a not in self.rows or look.b not in self.rows:
            return None
        if found is None:
            return TokensInBoth(self.at, look, 0, (), busy)
        never = look.part.startswith("never")
        top = max(0, min(look.top, len(found) - 1))
        left, right = (self.rows[key][look.bare and not never] for key in (look.a, look.b))
        rows = []
        for piece in found[top : top + look.rows]:
            id_a, uses_a = left.get(piece, (None, None))
            id_b, uses_b = right.get(piece, (None, None))
            rows.append(TokenInBoth(piece, id_a, id_b, uses_a, uses_b))
        whole = len(self._part(look, whole_runs)) if look.find else len(found)
        return TokensInBoth(
            self.at, replace(look, top=top), len(found), tuple(rows), None, whole, _places(found, look.seek)
        )

    def _part(self, look: TokenList, whole: Mapping[int, frozenset[bytes]]) -> list[bytes]:
        """Return the tokens of a list without its filter, in the order of the ids of the column that has
        them. For a list `never_a` or `never_b`, `whole` must have the run of the other column."""
        never = look.part.startswith("never")
        left, right = (self.rows[key][look.bare and not never] for key in (look.a, look.b))
        mine, others = (left, right) if look.other == look.b else (right, left)
        passed = whole[look.other] if never else ()
        common = look.part == "common"
        return [piece for piece in mine if (piece in others) == common and piece not in passed]


def _places(pieces: Sequence[bytes], text: str) -> tuple[int, ...]:
    """Return the indices of the pieces that contain a typed text; none if it is empty."""
    if not text:
        return ()
    forms = needles(text)
    return tuple([n for n, piece in enumerate(pieces) if any(text in piece for text in forms)])


def vocabularies(at: Position, columns: Sequence[Seen]) -> Vocabularies:
    """Compare the vocabularies of columns.

    Raises:
        Cancelled: The job is cancelled, checked before each column.
    """
    rows = {}
    for seen in columns:
        check()
        rows[seen.key] = (_rows(seen, False), _rows(seen, True))
    return Vocabularies(at, rows, overlaps(rows))


def _rows(seen: Seen, bare: bool) -> dict[bytes, Row]:
    """Return the id and the uses of each token by its bytes, without marks if `bare`. Tokens with the same
    bytes have the id of the first, and the sum of their uses. Uses are None if they are not known."""
    tokenizer, uses = seen.tokenizer, seen.uses
    symbols = tokenizer.vocabulary.symbols_by_id(tokenizer.merges)
    rows: dict[bytes, Row] = {}
    for number, piece in pieces(tokenizer, bare):
        symbol = symbols.get(number)
        held = uses[symbol] if symbol is not None and symbol < len(uses) else None
        if piece in rows:
            first, before = rows[piece]
            rows[piece] = (first, before if held is None else held + (before or 0))
        else:
            rows[piece] = (number, held)
    return rows
