"""A comparison without threads: columns opened, commands done and jobs found at once."""

from __future__ import annotations

import time
from typing import Any

from naive import Naive
from trainers import words_of

from tokentui.core.errors import TokentuiError
from tokentui.formats.files import load
from tokentui.learn import start
from tokentui.recipe import Recipe
from tokentui.session.commands import Command, Compare, GoTo, SetViewport, perform
from tokentui.session.engine.jobs import BackgroundQuery
from tokentui.session.engine.state import State
from tokentui.session.snapshot import Snapshot
from tokentui.session.training.training import prepare, prepare_tokenizer
from tokentui.session.views import ColumnWanted, Position, Viewport
from tokentui.text.corpus import Corpus


class Bench:
    """A comparison that is driven by hand.

    Args:
        corpus: The corpus.
        wanted: The columns; a recipe stands for one that is trained without stops.
        wants: The sections that are looked at.
    """

    def __init__(
        self, corpus: Corpus, *wanted: ColumnWanted | Recipe, wants: tuple[str, ...] = (),
        position: Position | None = None,
        typed: str = "",
    ) -> None:
        columns = [ColumnWanted(one) if isinstance(one, Recipe) else one for one in wanted]
        first = columns[0]
        try:
            tokenizer = load(first.path, otherwise=first.split) if first.path else None
        except TokentuiError:
            tokenizer = None
        if tokenizer is not None:
            self.state = State(prepare_tokenizer(corpus, tokenizer, first.run, path=first.path, at_end=True))
        else:
            self.state = State(prepare(corpus, first.recipe or Recipe(tie="largest-pair"), first.run))
            self.state._keys -= bool(first.path)
        self.state.typed = typed
        self.do(Compare(tuple(columns)))
        self.do(SetViewport(Viewport(wants=("candidates", "why", *wants))))
        if position is not None:
            self.do(GoTo(position.value))

    def do(self, command: Command[Any]) -> Any:
        """Do something, and all that follows from it. Returns the answer, None where there is none yet."""
        answers: list[Any] = []
        perform(command, self.state, answers.append)
        self.settle()
        return answers[0] if answers else None

    def settle(self) -> None:
        """Open what is to be opened and walk to where it is to go."""
        state = self.state
        for one in list(state.missing_trainings()):
            state.install_column(one, self.work(one))
        while state.sync.has_work:
            state.sync.work(time.monotonic(), 0.02)

    def find(self) -> Snapshot:
        """Find all that is wanted, one after the other. Returns what is seen then."""
        while found := list(self.state.results.wanted(self.state.view)):
            for one in found:
                self.state.results.deliver(one, self.work(one))
            self.settle()
        return self.state.snapshot()

    def work(self, one: BackgroundQuery) -> Any:
        """The answer of a finding, or what went wrong."""
        one.before_start()
        try:
            return one.work()
        except TokentuiError as error:
            return error

    @property
    def seen(self) -> Snapshot:
        """What is seen now."""
        return self.state.snapshot()


def naive_of(corpus: Corpus, recipe: Recipe) -> Naive:
    """A naive run at its start, laid out from that of a trainer."""
    trainer = start(corpus, recipe)
    vocabulary, counts = trainer.tokenizer().vocabulary, trainer.words.counts
    return Naive(
        words=words_of(trainer),
        weights=list(counts),
        pieces=vocabulary.pieces[: vocabulary.base_size],
        tie=recipe.tie,
        prefix=len(recipe.mark_text.encode()) if recipe.mark_kind == "prefix" else 0,
    )


class Run:
    """Every step of a naive run: the pair that it chooses, as spelled, its count, and the length of the
    corpus after it."""

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
