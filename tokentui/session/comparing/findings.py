"""What was found beside the columns, what is to be found next, and what of it a screen sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tokentui.analyze.tally import Conventions
from tokentui.session import compared as seen
from tokentui.session.comparing import jobs
from tokentui.session.comparing.jobs import Found, Job, Key
from tokentui.session.comparing.lockstep import Lockstep
from tokentui.session.comparing.views import curve_so_far
from tokentui.session.comparing.vocabularies import Seen, Vocabularies
from tokentui.session.snapshot import Busy
from tokentui.text.corpus import Corpus

Signature = tuple[Any, ...]
_GROWN, _MORE = 1.05, 8
"""A curve that takes long is drawn again when the steps have become so many more."""


class Findings:
    """Answers that take longer than a key, each kept while what it depends on stays.

    Args:
        steps: The columns.
        corpus: Their corpus.
        go_before: Goes before a parting and returns its step.
    """

    def __init__(self, steps: Lockstep, corpus: Corpus, go_before: Callable[[Found], int | None]) -> None:
        self.steps = steps
        self.corpus = corpus
        self.held_out: Corpus | None = None
        self.under = Conventions()
        self.busy: dict[Key, Busy] = {}
        """The jobs under way, and how far they are."""
        self._go_before = go_before
        self._found: dict[Key, tuple[Signature, Any]] = {}
        self._given_up: dict[Key, Signature] = {}
        self._going: dict[tuple[int, ...], list[Callable[[Any], None]]] = {}

    def jobs(self, look: seen.CompareLook) -> Iterator[Job]:
        """What is to be found that is not known yet: first what is soonest there."""
        for job in self._wanted(look):
            known = self._found.get(job.key)
            if known is not None and (known[0] == job.signature or self._near(job, known)):
                continue
            if self._given_up.get(job.key) != job.signature:
                yield job

    def _near(self, job: Job, known: tuple[tuple[Any, ...], Any]) -> bool:
        """Whether a curve that takes long is drawn nearly as far as it may be."""
        if job.key[0] not in ("curve", "held curve") or len(job.signature) < 4 or len(known[0]) != len(job.signature):
            return False
        steps, drawn = job.signature[1], known[0][1]
        same = (job.signature[0], *job.signature[2:]) == (known[0][0], *known[0][2:])
        return bool(same and drawn <= steps <= drawn * _GROWN + _MORE)

    def _wanted(self, look: seen.CompareLook) -> Iterator[Job]:
        wants, steps, looked = look.wants, self.steps, look.vocabulary
        opened = sorted((column.key, column.opened) for column in steps.open if column.opened)
        for a, b in jobs.pairs_of(opened):
            yield jobs.parting(a, b)
        if looked is not None and looked.part.startswith("never"):
            key = looked.b if looked.part == "never_b" else looked.a
            yield from (jobs.never(*one) for one in opened if one[0] == key)
        there = steps.there
        if steps.at_work or not there:
            return
        at = steps.position
        signature = (at, tuple((column.key, column.trainer, column.trainer.number) for column in there))
        tokenizers = [(column.key, column.trainer.tokenizer()) for column in there]
        if ("vocabulary" in wants or looked is not None) and self._found.get(("vocabulary", ()), ((), None))[0] != signature:
            columns = [Seen(key, one, list(column.trainer.uses)) for (key, one), column in zip(tokenizers, there, strict=True)]
            yield jobs.overlaps(at, columns, signature)
        if "measures" in wants:
            yield jobs.measures("measures", at, tokenizers, self.corpus, self.under, signature)
        if "curves" in wants:
            for column in there:
                if column.opened:
                    yield jobs.own_curve(column.key, column.opened, look.curve_points)
        if self.held_out is not None and "measures" in wants:
            yield jobs.measures("held measures", at, tokenizers, self.held_out, self.under, signature)
        if "agreement" in wants:
            yield jobs.agreements("agreement", tokenizers, self.corpus, self.under, signature)
        if self.held_out is not None and "curves" in wants:
            for column in there:
                if column.opened:
                    yield jobs.held_curve(column.key, column.opened, self.held_out, look.curve_points)

    def deliver(self, job: Job, value: Any) -> None:
        """Take in what a job has found; an error is not looked for again."""
        if any(self.steps.column(key) is None for key in job.key[1]):
            return
        self._found[job.key] = (job.signature, value)
        if job.key[0] == "parting":
            for answer in self._going.pop(job.key[1], []):
                answer(self._go_before(value) if isinstance(value, Found) else value)

    def give_up(self, job: Job) -> None:
        """A job was stopped by the user: it is left until it is asked for."""
        self._given_up[job.key] = job.signature
        if job.key[0] == "parting":
            for answer in self._going.pop(job.key[1], []):
                answer(None)

    def hold_out(self, corpus: Corpus | None) -> None:
        """Measure on a second corpus as well."""
        self.held_out = corpus
        for key in [key for key in self._found if key[0].startswith("held")]:
            del self._found[key]

    def forget(self, key: int) -> None:
        """A column was taken away."""
        for kept in [kept for kept in self._found if key in kept[1]]:
            del self._found[kept]
        for pair in [pair for pair in self._going if key in pair]:
            for answer in self._going.pop(pair):
                answer(None)

    def when_parted(self, a: int, b: int, answer: Callable[[Any], None]) -> None:
        """Answer when it is known where two columns part, by their keys, and go there; or now."""
        pair = _pair(a, b)
        found = self._parting(pair)
        if found is not None:
            answer(self._go_before(found))
            return
        self.look_again(a, b)
        self._going.setdefault(pair, []).append(answer)

    def look_again(self, a: int, b: int) -> None:
        """Look where two columns part although that was given up, or has failed."""
        key = ("parting", _pair(a, b))
        self._given_up.pop(key, None)
        if key in self._found and not isinstance(self._found[key][1], Found):
            del self._found[key]

    def _parting(self, pair: tuple[int, int]) -> Found | None:
        found = self._found.get(("parting", pair))
        trainers = tuple(column.trainer for key in pair if (column := self.steps.column(key)) and column.opened)
        return found[1] if found is not None and found[0] == trainers and isinstance(found[1], Found) else None

    # ---- looking

    def failed(self) -> Iterator[str]:
        """What could not be found, and why."""
        for (kind, _), (_, value) in self._found.items():
            if isinstance(value, Exception):
                yield f"{kind}: {value or type(value).__name__}"

    def overlaps(self) -> tuple[seen.OverlapCounts, ...]:
        """What each two vocabularies share, as far as that is known."""
        known = self._answer("vocabulary")
        return known.counts(self._whole()) if isinstance(known, Vocabularies) else ()

    def vocabulary(self, look: seen.VocabularyLook | None) -> seen.VocabularyRows | None:
        """The rows of a list, None where none is asked for or nothing is known yet."""
        known = self._answer("vocabulary")
        walk = next((busy for key, busy in self.busy.items() if key[0] == "whole"), None)
        return known.shown(look, self._whole(), walk) if isinstance(known, Vocabularies) and look is not None else None

    def _whole(self) -> dict[int, frozenset[bytes]]:
        """All tokens of the whole runs that are known, by the key of the column."""
        return {key[1][0]: value for key, (_, value) in self._found.items() if key[0] == "whole" and isinstance(value, frozenset)}

    def _answer(self, kind: str) -> Any:
        found = self._found.get((kind, ()))
        return None if found is None else found[1]

    def measured(self, kind: str, agreement: str = "") -> seen.Measured | None:
        """The measures of a corpus, and how far the columns agree on it where that belongs to the same position."""
        measured = self._answer(kind)
        if not isinstance(measured, seen.Measured):
            return None
        agreed = self._found.get((agreement, ()))
        if agreed is not None and isinstance(agreed[1], tuple) and agreed[0] == self._found[kind, ()][0]:
            return replace(measured, agreements=agreed[1])
        return measured

    def partings(self, literal: bool) -> Iterator[seen.PartingView]:
        """Where each two columns part, by the spelling of merges or by their meaning."""
        able = [column for column in self.steps.columns if not column.error]
        for n, one in enumerate(able):
            for other in able[n + 1 :]:
                pair = _pair(one.key, other.key)
                found, busy = self._parting(pair), self.busy.get(("parting", pair))
                if found is None:
                    yield seen.PartingView(one.key, other.key, busy.done if busy else 0, None, (), busy, False, literal)
                else:
                    here, other_way = found.by(literal), found.by(not literal)
                    sides = here.sides if pair == (one.key, other.key) else here.sides[::-1]
                    step = other_way.step if other_way.step != here.step else None
                    yield seen.PartingView(one.key, other.key, here.looked, here.step, sides, None, True, literal, step)

    def curves(self, points: int) -> seen.Curves:
        """The curves of all columns."""
        series: list[seen.Curve] = []
        for column in self.steps.there:
            found = self._found.get(("curve", (column.key,)))
            own = found[1] if found and found[0][0] is column.trainer and isinstance(found[1], seen.Curve) else None
            if own is None or (own.steps and own.steps[-1] < column.trainer.known):
                own = curve_so_far(column, points) or own
            held = self._found.get(("held curve", (column.key,)))
            others = held[1] if held and held[0][0] is column.trainer else None
            series += [one for one in (own, others) if isinstance(one, seen.Curve)]
        marks = tuple((column.key, column.trainer.number) for column in self.steps.there)
        end = max((column.trainer.known for column in self.steps.there), default=0)
        return seen.Curves(end, tuple(series), marks)


def _pair(a: int, b: int) -> tuple[int, int]:
    """Two keys in the order in which what is found about them is kept."""
    return (a, b) if a < b else (b, a)
