"""The jobs that find what columns have between them: each on objects of its own, and given up when it is wanted no longer.

A job depends on what its signature holds. Its answer is kept as long as that stays; another position, another column or
another corpus makes another job of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import cast

from tokentui.analyze.compare import compare_on, rows_of, tally_each
from tokentui.analyze.curves import as_trained, encoded, evenly, replayed, walked
from tokentui.analyze.divergence import first_differing_step
from tokentui.analyze.metrics import bits
from tokentui.analyze.tally import Conventions
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import Progress, job, tick
from tokentui.core.runtime import quiet_collector
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.base import Trainer as BaseTrainer
from tokentui.learn.trainer import Trainer
from tokentui.learn.walk import jump
from tokentui.session.jobs import Tell
from tokentui.session.opening import prepare_tokenizer, quiet_hooks
from tokentui.session.prepared import Prepared
from tokentui.session.sections import candidates, pair_row, why_view
from tokentui.session.snapshot import Curve, DivergenceSide, Measured, PairAgreement
from tokentui.session.views import Position
from tokentui.session.vocabularies import Seen, vocabularies
from tokentui.text.corpus import Corpus
from tokentui.text.count import count

Key = tuple[str, tuple[int, ...]]
"""The kind of an answer, and the keys of its columns."""
Signature = tuple[object, ...]

CUTS_SHOWN = 5
"""The number of divergent stretches of two columns to report, most frequent first."""
ROWS = 10
"""The number of candidates to report for a side."""
_FEW = 16
"""At how many steps another corpus is encoded anew, where there is no shorter way."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to be found.

    Attributes:
        key: What it is an answer to; another of this key takes its place.
        signature: What it depends on.
        what: What it is, in a few words.
        work: Finds it.
        resting: Whether it waits until the columns have not moved for a moment.
    """

    key: Key
    signature: Signature
    what: str
    work: Callable[[Tell], object]
    resting: bool = True


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first differing step of two columns, None where they are alike to their ends; `looked` steps are alike. `spelled` is
    the same of merges as they are spelled, where it is not by their meaning."""

    step: int | None
    looked: int
    sides: tuple[DivergenceSide, ...]
    spelled: Divergence | None = None

    def by(self, literal: bool) -> Divergence:
        """The divergence by the spelling, or by the meaning."""
        return self.spelled if literal and self.spelled is not None else self


def _of(tell: Tell, what: str) -> Progress:
    return lambda done, total: tell(what, done, total)


def _again(prepared: Prepared, tell: Tell) -> Trainer:
    """Fork the training at step 0, to walk it independently."""
    with quiet_collector(), job(_of(tell, "laying out")):
        return prepared.trainer.fork(0, ())


def divergence(a: tuple[int, Prepared], b: tuple[int, Prepared]) -> Finding:
    """The first differing step of two columns."""
    what = "looking where they part"

    def work(tell: Tell) -> Divergence:
        both = [one for _, one in (a, b)]
        first, second = (_again(one, tell) for one in both)

        def found(literal: bool, begin: int) -> Divergence:
            with quiet_collector(), job(_of(tell, what)):
                stops = both[0].run.stops, both[1].run.stops
                pair = cast("tuple[BaseTrainer, BaseTrainer]", (first, second))
                step = first_differing_step(*pair, literal=literal, begin=begin, stops=stops)
            if step is None:
                return Divergence(None, min(first.computed, second.computed), ())
            sides = tuple(_side(one, prepared, step) for one, prepared in zip((first, second), both, strict=True))
            return Divergence(step, step - 1, sides)

        spelled = found(True, 1)  # steps that are spelled alike mean the same
        meant = found(False, spelled.step) if spelled.step is not None else spelled
        return replace(meant, spelled=spelled)

    return Finding(("divergence", (a[0], b[0])), (a[1].trainer, b[1].trainer), what, work, resting=False)


def _side(trainer: Trainer, prepared: Prepared, step: int) -> DivergenceSide:
    """Return the choice of a training at a step, or its earlier end. Moves the trainer there."""
    stops = prepared.run.stops
    jump(trainer, min(step - 1, trainer.computed))
    why = why_view(trainer, stops)
    made = step <= trainer.computed
    chosen = trainer.step_at(step).chosen if made else None
    end = None if made else trainer.end(stops)
    return DivergenceSide(
        choice=why.best if made and trainer.traits.replay else pair_row(trainer, chosen) if chosen else None,
        round=why.round if made else None,
        end=None if end is None else str(end),
        pairs=candidates(trainer, 0, ROWS).rows,
        tied=why.tied,
        tie_rule=why.tie_rule,
        tokens=trainer.tokens_at(trainer.number),
        vocab_size=trainer.size_at(trainer.number),
    )


def overlaps(at: Position, columns: Sequence[Seen], signature: Signature) -> Finding:
    """A query for the tokens that the vocabularies share."""
    return Finding(("vocabulary", ()), signature, "comparing vocabularies", lambda tell: vocabularies(at, columns))


def whole_run(key: int, prepared: Prepared) -> Finding:
    """All tokens that a column has at any step of its run, to its stops or until no pair is left."""
    what = "going to the end of the run"

    def work(tell: Tell) -> frozenset[bytes]:
        trainer, stops = prepared.trainer, prepared.run.stops
        if prepared.opened is not None:
            return _pieces(prepared.opened.tokenizer)
        if not trainer.traits.grows:  # pieces are only dropped
            return _pieces(trainer.fork(0, ()).tokenizer())
        walk = _again(prepared, tell)
        with job(_of(tell, what)):
            total = walk.ending(stops).step or 0
            while walk.advance(None, stops) is None:
                tick(walk.number, total)
        return _pieces(walk.tokenizer())

    return Finding(("whole", (key,)), (prepared.trainer,), what, work, resting=False)


def _pieces(tokenizer: Tokenizer) -> frozenset[bytes]:
    return frozenset(entry.piece for entry in tokenizer.entries())


def measures(
    kind: str, at: Position, columns: Sequence[tuple[int, Tokenizer]], corpus: Corpus, under: Conventions, signature: Signature
) -> Finding:
    """The measures of the columns on a corpus."""

    def work(tell: Tell) -> Measured:
        with job(_of(tell, "measuring")):
            tallies, errors = tally_each([one for _, one in columns], corpus, under)
        keys = tuple(key for key, _ in columns)
        refused = tuple((key, str(error)) for key, error in zip(keys, errors, strict=True) if error)
        return Measured(at, corpus.name, keys, rows_of(tallies), refused)

    return Finding((kind, ()), (*signature, under, corpus.sha256), "measuring", work)


def agreements(
    kind: str, columns: Sequence[tuple[int, Tokenizer]], corpus: Corpus, under: Conventions, signature: Signature
) -> Finding:
    """A query for the agreement of each two columns on a corpus. Omits columns that cannot read it."""

    def work(tell: Tell) -> tuple[PairAgreement, ...]:
        able = list(columns)
        while len(able) > 1:
            try:
                with job(_of(tell, "comparing")):
                    found = compare_on([one for _, one in able], corpus, under, most=CUTS_SHOWN)
                return tuple(PairAgreement(able[one.a][0], able[one.b][0], one.agreement, one.partings) for one in found)
            except Cancelled:
                raise
            except TokentuiError:
                _, errors = tally_each([one for _, one in able], corpus, under)
                if not any(errors):
                    raise
                able = [one for one, error in zip(able, errors, strict=True) if error is None]
        return ()

    return Finding((kind, ()), (*signature, under, corpus.sha256), "comparing", work)


def own_curve(key: int, prepared: Prepared, points: int) -> Finding:
    """The curves of a column on its own corpus, as far as its steps are computed."""
    trainer = prepared.trainer
    computed, number = trainer.computed, trainer.number
    if trainer.traits.step != "merge" or not as_trained(prepared.recipe):
        return _curve(key, prepared, prepared.corpus, computed, points)
    vocabulary, uses, steps = trainer.tokenizer(computed).vocabulary, list(trainer.uses), evenly(computed, points)
    merges = vocabulary.merges[:computed]

    def remembered(tell: Tell) -> Curve:
        tokens = [trainer.tokens_at(step) for step in range(computed + 1)]
        found, used = replayed(merges, vocabulary.base_size, tokens, uses, number, steps)
        return curve_of(key, False, steps, found, [trainer.size_at(step) for step in steps], prepared.corpus.size, used)

    return Finding(("curve", (key,)), (trainer, computed, points), "drawing curves", remembered)


def held_curve(key: int, prepared: Prepared, corpus: Corpus, points: int) -> Finding:
    """The curves of a column on another corpus, as far as its steps are computed."""
    return _curve(key, prepared, corpus, prepared.trainer.computed, points)


def _curve(key: int, prepared: Prepared, corpus: Corpus, computed: int, points: int) -> Finding:
    held_out = corpus is not prepared.corpus
    trainer, recipe, what = prepared.trainer, prepared.recipe, "drawing curves"
    by_merges = trainer.traits.step == "merge" and trainer.traits.compression is None
    tokenizer = trainer.tokenizer(computed) if by_merges else None

    def work(tell: Tell) -> Curve:
        try:
            return found(tell)
        except Cancelled:
            raise
        except TokentuiError as error:
            return Curve(key, held_out, (), (), (), (), (), str(error))

    def found(tell: Tell) -> Curve:
        steps = evenly(computed, points)
        if tokenizer is not None:
            words = count(corpus, recipe) if held_out else trainer.words
            with job(_of(tell, what)):
                tokens, used = encoded(tokenizer, words, steps)
            return curve_of(key, held_out, steps, tokens, [trainer.size_at(step) for step in steps], corpus.size, used)
        words_of, file = None, prepared.opened
        if file is not None:
            other = prepare_tokenizer(corpus, file.tokenizer, prepared.run, quiet_hooks(tell)).trainer if held_out else (
                trainer.fork(0, ())
            )
        else:
            other = _again(prepared, tell)
            if held_out or not as_trained(recipe):
                words_of = count(corpus, recipe)
                steps = evenly(computed, min(points, _FEW)) if trainer.traits.grows else steps
        with job(_of(tell, what)):
            tokens, used = walked(cast("BaseTrainer", other), prepared.run.stops, steps, words_of)
        return curve_of(key, held_out, steps, tokens, [other.size_at(step) for step in steps], corpus.size, used)

    return Finding(("held curve" if held_out else "curve", (key,)), (trainer, computed, points, corpus.sha256), what, work)


def curve_so_far(key: int, prepared: Prepared, points: int) -> Curve | None:
    """The curves of a column on its corpus as far as its training tells them; None where it does not encode as it was trained."""
    trainer = prepared.trainer
    if prepared.opened is None and not as_trained(prepared.recipe):
        return None
    steps = evenly(trainer.computed, points)
    tokens, ids = [trainer.tokens_at(step) for step in steps], [trainer.size_at(step) for step in steps]
    return curve_of(key, False, steps, tokens, ids, prepared.corpus.size)


def curve_of(
    key: int, held_out: bool, steps: Sequence[int], tokens: Sequence[int], ids: Sequence[int], corpus_bytes: int,
    used: Sequence[int] = (),
) -> Curve:
    """Curves from the tokens and the ids at some steps, and the ids that are in use where these are known."""
    return Curve(
        key=key,
        held_out=held_out,
        steps=tuple(steps),
        tokens=tuple(tokens),
        bytes_per_token=tuple(corpus_bytes / one if one else None for one in tokens),
        bits=tuple(bits(one, size) or 0.0 for one, size in zip(tokens, ids, strict=True)),
        in_use=tuple(one / size if size else 0.0 for one, size in zip(used, ids, strict=True)) if used else (),
    )


def pairs_of(columns: Sequence[tuple[int, Prepared]]) -> list[tuple[tuple[int, Prepared], tuple[int, Prepared]]]:
    """Each two columns, the one further left first."""
    return list(combinations(columns, 2))
