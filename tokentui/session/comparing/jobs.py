"""What is found beside the columns: each a job with objects of its own, that may be given up.

A job depends on what `signature` holds. Its answer is kept as long as that stays; another position, another column or another
corpus makes another job of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from tokentui.analyze.compare import rows_of, tally_each
from tokentui.analyze.curves import as_trained, encoded, evenly, replayed, walked
from tokentui.analyze.parting import first_differing_step
from tokentui.analyze.tally import Conventions
from tokentui.analyze.together import compare_on
from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.base import Cancel, Progress
from tokentui.learn.pairs import PairTrainer, quiet_collector
from tokentui.learn.unigram import UnigramTrainer
from tokentui.session.compared import Curve, Measured, PairAgreement, PartingSide, Position
from tokentui.session.comparing.column import Opened, Tell
from tokentui.session.comparing.views import curve_of, parting_side, sizes
from tokentui.session.comparing.vocabularies import Seen, vocabularies, whole_run
from tokentui.text.corpus import Corpus
from tokentui.text.count import count

Key = tuple[str, tuple[int, ...]]
"""What kind of answer, and of which columns."""

PARTINGS_SHOWN = 5
"""How many of the stretches that two columns cut otherwise most often are told."""
ROWS = 10
"""How many candidates of a side are told."""
_FEW = 16
"""At how many steps another corpus is encoded anew, where there is no shorter way."""


@dataclass(frozen=True, slots=True)
class Job:
    """Something to be found beside.

    Attributes:
        key: What it is an answer to; another job of this key takes its place.
        signature: What it depends on.
        what: What it is, in a few words.
        work: Does it, told and asked on the way.
        resting: Whether it waits until nobody has moved for a moment.
    """

    key: Key
    signature: tuple[Any, ...]
    what: str
    work: Callable[[Tell, Cancel], Any]
    resting: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """The first differing step of two columns, None where they are alike to their ends; `looked` steps are alike. `spelled` is
    the same of merges as they are spelled, where it is not by their meaning."""

    step: int | None
    looked: int
    sides: tuple[PartingSide, ...]
    spelled: Found | None = None

    def by(self, literal: bool) -> Found:
        """What was found by the spelling, or by the meaning."""
        return self.spelled if literal and self.spelled is not None else self


def _of(tell: Tell, what: str) -> Progress:
    return lambda done, total: tell(what, done, total)


def parting(a: tuple[int, Opened], b: tuple[int, Opened]) -> Job:
    """Where two columns part."""

    def work(tell: Tell, cancel: Cancel) -> Found:
        what = "looking where they part"
        first, second = (one.again(tell=tell, cancel=cancel) for _, one in (a, b))

        def found(literal: bool, begin: int) -> Found:
            with quiet_collector():
                step = first_differing_step(
                    first.trainer, second.trainer, literal=literal, begin=begin, stops=(first.stops, second.stops),
                    progress=_of(tell, what), cancel=cancel,
                )
            both = (first, second) if step is not None else ()
            sides = tuple(parting_side(one.trainer, one.stops, step or 1, ROWS) for one in both)
            return Found(step, min(first.trainer.known, second.trainer.known) if step is None else step - 1, sides)

        spelled = found(True, 1)  # steps that are spelled alike mean the same
        meant = found(False, spelled.step) if spelled.step is not None else spelled
        return replace(meant, spelled=spelled)

    return Job(("parting", (a[0], b[0])), (a[1].trainer, b[1].trainer), "looking where they part", work, resting=False)


def overlaps(at: Position, columns: Sequence[Seen], signature: tuple[Any, ...]) -> Job:
    """What the vocabularies share."""
    return Job(("vocabulary", ()), signature, "comparing vocabularies", lambda tell, cancel: vocabularies(at, columns, cancel))


def never(key: int, opened: Opened) -> Job:
    """All that a column makes in its whole run."""

    def work(tell: Tell, cancel: Cancel) -> frozenset[bytes]:
        walked = opened if opened.tokenizer else opened.again(tell=tell, cancel=cancel)
        return whole_run(walked, _of(tell, "going to the end of the run"), cancel)

    return Job(("whole", (key,)), (opened.trainer,), "going to the end of the run", work, resting=False)


def measures(
    kind: str, at: Position, columns: Sequence[tuple[int, Tokenizer]], corpus: Corpus, under: Conventions,
    signature: tuple[Any, ...],
) -> Job:
    """The measures of the columns on a corpus."""

    def work(tell: Tell, cancel: Cancel) -> Measured:
        tallies, errors = tally_each(
            [one for _, one in columns], corpus, under, progress=_of(tell, "measuring"), cancel=cancel
        )
        keys = tuple(key for key, _ in columns)
        refused = tuple((key, str(error)) for key, error in zip(keys, errors, strict=True) if error)
        return Measured(at, corpus.name, keys, rows_of(tallies), refused)

    return Job((kind, ()), (*signature, under, corpus.sha256), "measuring", work)


def agreements(
    kind: str, columns: Sequence[tuple[int, Tokenizer]], corpus: Corpus, under: Conventions, signature: tuple[Any, ...]
) -> Job:
    """How far each two columns agree on a corpus. Those that cannot read it are left out."""

    def work(tell: Tell, cancel: Cancel) -> tuple[PairAgreement, ...]:
        able = list(columns)
        while len(able) > 1:
            try:
                found = compare_on(
                    [one for _, one in able], corpus, under, most=PARTINGS_SHOWN, progress=_of(tell, "comparing"), cancel=cancel
                )
                return tuple(PairAgreement(able[one.a][0], able[one.b][0], one.agreement, one.partings) for one in found)
            except TokentuiError:
                if cancel():
                    raise
                _, errors = tally_each([one for _, one in able], corpus, under, cancel=cancel)
                if not any(errors):
                    raise
                able = [one for one, error in zip(able, errors, strict=True) if error is None]
        return ()

    return Job((kind, ()), (*signature, under, corpus.sha256), "comparing", work)


def own_curve(key: int, opened: Opened, points: int) -> Job:
    """The curves of a column on its own corpus, as far as its steps are known."""
    trainer = opened.trainer
    known, number = trainer.known, trainer.number
    steps = evenly(known, points)
    if isinstance(trainer, PairTrainer) and as_trained(opened.recipe):
        vocabulary, uses = trainer.vocabulary, list(trainer.uses)
        merges = vocabulary.merges[:known]

        def remembered(tell: Tell, cancel: Cancel) -> Curve:
            tokens = [trainer.tokens_at(step) for step in range(known + 1)]
            found, used = replayed(merges, vocabulary.base_size, tokens, uses, number, steps)
            return curve_of(key, False, steps, found, [vocabulary.size(step) for step in steps], opened.corpus.size, used)

        return Job(("curve", (key,)), (trainer, known, points), "drawing curves", remembered)
    return _curve(key, opened, opened.corpus, known, points)


def held_curve(key: int, opened: Opened, corpus: Corpus, points: int) -> Job:
    """The curves of a column on another corpus, as far as its steps are known."""
    return _curve(key, opened, corpus, opened.trainer.known, points)


def _curve(key: int, opened: Opened, corpus: Corpus, known: int, points: int) -> Job:
    held_out = corpus is not opened.corpus
    trainer = opened.trainer
    tokenizer = Tokenizer(trainer.vocabulary, known) if isinstance(trainer, PairTrainer) else None
    what = "drawing curves"

    def work(tell: Tell, cancel: Cancel) -> Curve:
        try:
            return found(tell, cancel)
        except TokentuiError as error:
            if cancel():
                raise
            return Curve(key, held_out, (), (), (), (), (), str(error))

    def found(tell: Tell, cancel: Cancel) -> Curve:
        steps = evenly(known, points)
        if tokenizer is not None and opened.recipe.objective != "gage":
            words = count(corpus, opened.recipe, cancel=cancel) if held_out else trainer.words
            tokens, used = encoded(tokenizer, words, steps, progress=_of(tell, what), cancel=cancel)
            ids = [tokenizer.vocabulary.size(step) for step in steps]
            return curve_of(key, held_out, steps, tokens, ids, corpus.size, used)
        other, words_of = opened.again(tell=tell, cancel=cancel), None
        if held_out and opened.tokenizer is not None:
            other = opened.again(corpus, tell=tell, cancel=cancel)
        elif opened.tokenizer is None and (held_out or not as_trained(opened.recipe)):
            words_of = count(corpus, opened.recipe, cancel=cancel)
            steps = steps if isinstance(trainer, UnigramTrainer) else evenly(known, min(points, _FEW))
        tokens, used = walked(other.trainer, other.stops, steps, words_of, progress=_of(tell, what), cancel=cancel)
        return curve_of(key, held_out, steps, tokens, sizes(other.trainer, steps), corpus.size, used)

    return Job(("held curve" if held_out else "curve", (key,)), (trainer, known, points, corpus.sha256), what, work)


def pairs_of(columns: Sequence[tuple[int, Opened]]) -> list[tuple[tuple[int, Opened], tuple[int, Opened]]]:
    """Each two columns, the one further left first."""
    return list(combinations(columns, 2))
