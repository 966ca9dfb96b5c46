"""What a comparing session does: commands in, work in slices, snapshots and jobs out; without threads, and without a screen."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from tokentui.analyze.align import Width, cell_width
from tokentui.analyze.tally import Conventions
from tokentui.core.errors import TokentuiError
from tokentui.core.jit import COMPILED, PLAIN
from tokentui.learn import without_kernel
from tokentui.recipe import Recipe
from tokentui.session import commands as do
from tokentui.session import compared as seen
from tokentui.session.comparing import passages
from tokentui.session.comparing.column import Column, Opened
from tokentui.session.comparing.findings import Findings
from tokentui.session.comparing.jobs import Found
from tokentui.session.comparing.lockstep import Lockstep
from tokentui.session.comparing.views import Columns, Encodings
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words
from tokentui.text.shaping import cuts_alike

Answer = Callable[[Any], None]


class Comparing:
    """The state of a comparison.

    Args:
        corpus: The corpus that all columns share.
        wanted: The columns.
        position: Where they begin.
        typed: The text to be encoded.
        width: How wide a safe text is on the screen.
    """

    def __init__(
        self, corpus: Corpus, wanted: Sequence[seen.ColumnWanted], position: seen.Position | None = None, *, typed: str = "",
        width: Width = cell_width,
    ) -> None:
        self.corpus = corpus
        self.steps = Lockstep(position or seen.Position())
        self.findings = Findings(self.steps, corpus, self._go_before)
        self.look = seen.CompareLook()
        self.typed = typed
        self.passage: seen.Passage | None = None
        self.engine = ""
        self._columns = Columns()
        self._encodings = Encodings(width)
        self._version = 0
        self._keys = 0
        self._whole = position is None and all(one.path for one in wanted)
        self.steps.put(self._column(one) for one in wanted)

    def _column(self, wanted: seen.ColumnWanted) -> Column:
        self._keys += 1
        return Column(self._keys, wanted)

    # ---- columns

    @property
    def columns(self) -> list[Column]:
        """The columns, from the left."""
        return self.steps.columns

    def opened(self, key: int, opened: Opened) -> None:
        """A column was opened, or laid out again; it comes to the position of the others."""
        column = self.steps.column(key)
        if column is not None:
            column.opened, column.there, column.error = opened, False, ""
            self._settled()

    def refused(self, key: int, error: str) -> None:
        """A column could not be opened."""
        column = self.steps.column(key)
        if column is not None:
            column.error = error
            self.findings.forget(key)
            self._settled()

    def _settled(self) -> None:
        """Files alone are shown whole at first, as soon as all of them are open."""
        if self._whole and all(column.opened or column.error for column in self.columns):
            self._whole = False
            self.steps.finish()

    @property
    def _runs(self) -> str:
        """What runs: of the first recipe for which there is no kernel, what of it that is."""
        recipes = [column.opened.recipe for column in self.columns if column.opened and column.opened.tokenizer is None]
        lacking = next(filter(None, map(without_kernel, recipes)), "")
        return f"{PLAIN} for {lacking}" if lacking and self.engine.startswith(COMPILED) else self.engine

    def words(self, recipe: Recipe) -> Words | None:
        """The counted words of the corpus under a recipe, where a column has them."""
        for column in self.columns:
            if column.opened and column.opened.tokenizer is None:
                other = column.opened.recipe
                if cuts_alike(other, recipe):
                    return column.trainer.words
        return None

    # ---- commands

    def handle(self, command: seen.CompareCommand, answer: Answer) -> None:
        """Take in a command. `answer` is called with its answer, now or when it is known.

        Raises:
            TokentuiError: It cannot be done.
        """
        steps, now = self.steps, time.monotonic()
        match command:
            case do.Move(by):
                steps.move(by)
                self._whole = False
            case do.GoTo(value):
                steps.go(value)
                self._whole = False
            case do.Play(on):
                steps.play(on, now)
            case do.Speed(by):
                steps.faster(by, now)
            case do.Type(text):
                self.typed, self.passage = text, None
            case do.CancelWork():
                steps.halt()
            case seen.Watch(look):
                self._check_look(look)
                self.look = look
            case seen.InStepBy(way):
                steps.keep_by(way)
            case seen.AddColumn(wanted, place):
                answer(self._add(wanted, place))
                return
            case seen.RemoveColumn(key):
                self._remove(key)
            case seen.MoveColumn(key, by):
                self._move(key, by)
            case seen.GoToParting(a, b):
                self._go_to_parting(a, b, answer)
                return
            case seen.FindParting(a, b):
                self.findings.look_again(self._known(a).key, self._known(b).key)
            case seen.ShowPassage(passage):
                self.show(passage)
            case seen.Under(splitter, alpha):
                self.findings.under = Conventions(splitter, alpha)
            case _:
                raise TokentuiError("not a command of a comparison", type(command).__name__)
        answer(None)

    def show(self, passage: seen.Passage | None, *, fit: bool = True) -> None:
        """Show a passage of the corpus, cut at white space if it is to be made fit, or the typed text."""
        self.passage = passages.fitted(self.corpus, passage) if passage is not None and fit else passage

    def _check_look(self, look: seen.CompareLook) -> None:
        if look.vocabulary is not None and look.vocabulary.part not in seen.PARTS:
            raise TokentuiError("no such list", look.vocabulary.part, "one of: " + ", ".join(seen.PARTS))
        for name in look.wants:
            if name not in seen.SECTIONS:
                raise TokentuiError("no such section", name, "one of: " + ", ".join(seen.SECTIONS))

    def _add(self, wanted: seen.ColumnWanted, place: int | None) -> int:
        if len(self.columns) >= seen.MOST:
            raise TokentuiError(f"{seen.MOST} columns are as many as there may be", "compare", "take one away first")
        columns = list(self.columns)
        column = self._column(wanted)
        columns.insert(len(columns) if place is None else place, column)
        self.steps.put(columns)
        return column.key

    def _remove(self, key: int) -> None:
        self._known(key)
        if len(self.columns) <= seen.FEWEST:
            raise TokentuiError("two columns are as few as there may be", "compare", "add one first")
        self.steps.put(column for column in self.columns if column.key != key)
        self.findings.forget(key)

    def _move(self, key: int, by: int) -> None:
        column = self._known(key)
        columns = [one for one in self.columns if one is not column]
        place = min(max(0, self.columns.index(column) + by), len(columns))
        columns.insert(place, column)
        self.steps.put(columns)

    def _known(self, key: int) -> Column:
        column = self.steps.column(key)
        if column is None:
            raise TokentuiError("no such column", f"key {key}", "")
        return column

    def _pair(self, a: int, b: int) -> tuple[int, int]:
        """Two columns by their keys, in the order in which their parting is kept."""
        self._known(a), self._known(b)
        return (a, b) if a < b else (b, a)

    def _go_to_parting(self, a: int, b: int, answer: Answer) -> None:
        for key in (a, b):
            if error := self._known(key).error:
                raise TokentuiError("a column that cannot be shown parts nowhere", self._known(key).name, error)
        self.findings.when_parted(a, b, answer)

    def _go_before(self, found: Found) -> int | None:
        found = found.by(self.look.literal)
        if found.step is not None:
            self.steps.keep_by("merges")
            self.steps.go(found.step - 1)
        return found.step

    # ---- looking

    def snapshot(self) -> seen.CompareSnapshot:
        """Everything that the screen shows, now."""
        steps, found, look = self.steps, self.findings, self.look
        steps.settle()
        self._version += 1
        text = self.typed if self.passage is None else passages.text_of(self.corpus, self.passage)
        return seen.CompareSnapshot(
            version=self._version,
            corpus_name=self.corpus.name,
            corpus_bytes=self.corpus.size,
            held_out=found.held_out.name if found.held_out else "",
            position=steps.position,
            goal=steps.goal,
            running=steps.playing,
            speed=steps.speed,
            ended=steps.ended,
            columns=tuple(self._columns.view(column, look) for column in self.columns),
            aligned=self._encodings.aligned(steps.there, text, self.passage, found.under.splitter),
            partings=tuple(found.partings(look.literal)),
            overlaps=found.overlaps(),
            vocabulary=found.vocabulary(look.vocabulary),
            measured=found.measured("measures", "agreement"),
            held_measured=found.measured("held measures"),
            curves=found.curves(look.curve_points) if "curves" in look.wants else None,
            busy=next(iter(found.busy.values()), None),
            failed=tuple(found.failed()),
            engine=self._runs,
        )
