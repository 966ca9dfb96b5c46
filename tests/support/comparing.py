"""A comparison without threads: columns opened, commands done and jobs found at once."""

from __future__ import annotations

import time
from typing import Any

from naive import Naive

from tokentui.core.errors import TokentuiError
from tokentui.learn import PairTrainer, start
from tokentui.recipe import Recipe
from tokentui.session.compared import (
    ColumnWanted,
    CompareCommand,
    CompareLook,
    CompareSnapshot,
    Position,
    Watch,
)
from tokentui.session.comparing.column import open_column
from tokentui.session.comparing.explorer import Comparing
from tokentui.session.comparing.jobs import Job
from tokentui.text.corpus import Corpus


def quiet(*_: object) -> None:
    """Nobody is told."""


def never() -> bool:
    """Nobody gives up."""
    return False


class Bench:
    """A comparison that is driven by hand.

    Args:
        corpus: The corpus.
        wanted: The columns; a recipe stands for one that is trained without stops.
        wants: The sections that are looked at.
    """

    def __init__(
        self, corpus: Corpus, *wanted: ColumnWanted | Recipe, wants: tuple[str, ...] = (), position: Position | None = None,
        typed: str = "",
    ) -> None:
        columns = [ColumnWanted(one) if isinstance(one, Recipe) else one for one in wanted]
        self.state = Comparing(corpus, columns, position, typed=typed)
        self.do(Watch(CompareLook(wants=wants)))

    def do(self, command: CompareCommand) -> Any:
        """Do something, and all that follows from it. Returns the answer, None where there is none yet."""
        answers: list[Any] = []
        self.state.handle(command, answers.append)
        self.settle()
        return answers[0] if answers else None

    def settle(self) -> None:
        """Open what is to be opened and walk to where it is to go."""
        for column in list(self.state.columns):
            if column.opened is None and not column.error:
                try:
                    opened = open_column(self.state.corpus, column.wanted, self.state.words, tell=quiet, cancel=never)
                except TokentuiError as error:
                    self.state.refused(column.key, str(error))
                else:
                    self.state.opened(column.key, opened)
        while self.state.steps.at_work:
            self.state.steps.work(time.monotonic(), 0.02)

    def find(self) -> CompareSnapshot:
        """Do all jobs, one after the other. Returns what is seen then."""
        while found := list(self.state.findings.jobs(self.state.look)):
            for job in found:
                self.state.findings.deliver(job, self._work(job))
            self.settle()
        return self.state.snapshot()

    def _work(self, job: Job) -> Any:
        try:
            return job.work(quiet, never)
        except TokentuiError as error:
            return error

    @property
    def seen(self) -> CompareSnapshot:
        """What is seen now."""
        return self.state.snapshot()


def naive_of(corpus: Corpus, recipe: Recipe) -> Naive:
    """A naive run at its start, laid out from that of a trainer."""
    trainer = start(corpus, recipe)
    assert isinstance(trainer, PairTrainer)
    vocabulary, counts = trainer.vocabulary, trainer.words.counts
    return Naive(
        words=[[symbol for _, symbol in trainer.cells.word(n)] for n in range(len(counts))],
        weights=list(counts),
        pieces=vocabulary.pieces[: vocabulary.base_size],
        tie=recipe.tie,
        prefix=len(recipe.mark_text.encode()) if recipe.mark_kind == "prefix" else 0,
    )


class Run:
    """Every step of a naive run: the pair that it chooses, as spelled, its count, and the length of the corpus after it."""

    def __init__(self, corpus: Corpus, recipe: Recipe) -> None:
        naive = naive_of(corpus, recipe)
        self.first_size = len(naive.pieces)
        self.tokens = [naive.tokens()]
        self.chosen: list[tuple[bytes, bytes, int]] = []
        self.vocabularies = [list(naive.pieces)]
        while counts := naive.counts():
            best = naive.ranked(counts)[0]
            self.chosen.append((naive.pieces[best[0]], naive.pieces[best[1]], counts[best]))
            naive.merge(best)
            self.tokens.append(naive.tokens())
            self.vocabularies.append(list(naive.pieces))

    @property
    def end(self) -> int:
        """Its last step."""
        return len(self.chosen)
