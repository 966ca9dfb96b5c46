"""Background jobs of a session: opening columns and corpora, and the queries between columns."""

from __future__ import annotations

import gc
from collections.abc import Callable

from tokentui.core.errors import Cancelled
from tokentui.session import commands as do
from tokentui.session import passages
from tokentui.session.column import Column
from tokentui.session.jobs import JobPool, Tell
from tokentui.session.opening import Prepared, open_corpus, prepare_again, prepare_column, quiet_hooks
from tokentui.session.state import State
from tokentui.session.views import Busy, Passage
from tokentui.text.corpus import Corpus


class Beside:
    """The background jobs of the columns, each in another thread.

    Args:
        state: The state that is changed.
        pool: Looks for what stands between columns.
        columns: Opens columns, and corpora.
    """

    def __init__(self, state: State, pool: JobPool, columns: JobPool) -> None:
        self._state = state
        self._pool = pool
        self._columns = columns

    def find_passage(self, command: do.NextPassage, later: Callable[[object], None]) -> None:
        """Find the next passage that the columns cut differently."""
        state = self._state
        tokenizers = [column.trainer.tokenizer() for column in state.sync.in_sync]
        corpus, here, length = state.results.corpus, state.passage, Passage().length

        def found(passage: object) -> None:
            if isinstance(passage, Passage):
                state.passage = passage
            later(passage)

        self._pool.submit(
            "passage", lambda tell: passages.next_parting(corpus, tokenizers, here, length, command.backward),
            found,
        )

    def hold_out(self, command: do.HoldOut, later: Callable[[object], None]) -> None:
        """Open a second corpus, or take it away."""
        results = self._state.results
        self._columns.give_up("held out")
        if not command.source:
            results.hold_out(None)
            later(None)
            return

        def found(corpus: object) -> None:
            if isinstance(corpus, Corpus):
                results.hold_out(corpus)
            later(None if isinstance(corpus, Corpus) else corpus)

        def work(tell: Tell) -> Corpus:
            return open_corpus(command.source, command.as_, command.field, quiet_hooks(lambda *_: None))

        self._columns.submit("held out", work, found)

    def open_column(self, column: Column) -> None:
        """Open a further column next to the first."""
        state = self._state
        key = f"column {column.key}"
        if key in self._columns.running:
            return
        corpus, wanted = state.results.corpus, column.wanted
        words = None if wanted.path else state.words(column.recipe)

        def work(tell: Tell) -> Prepared:
            def told(what: str, done: int, total: int) -> None:
                column.loading = Busy(what, done, total)
                self._columns.tell()
                if column not in state.columns:
                    raise Cancelled

            return prepare_column(corpus, wanted, words, quiet_hooks(told))

        def taken(prepared: object) -> None:
            if isinstance(prepared, Prepared):
                state.opened(column, prepared)
                gc.freeze()  # millions of numbers that live on: not to be walked by each collection
            elif not isinstance(prepared, Cancelled):
                state.refused(column, str(prepared))

        self._columns.submit(key, work, taken)

    def lay_out_again(self, replaced: Callable[[Prepared, Prepared], None]) -> bool:
        """Lay out one idle column anew, by kernels that were not there before.

        Args:
            replaced: Told what was, and what is there in its place.

        Returns:
            Whether there is such a column.
        """
        state = self._state
        for column in state.columns:
            was = column.prepared
            if was is None or not was.plain or was.opened or was.partial or was.nothing:
                continue

            def taken(prepared: object, column: Column = column, was: Prepared = was) -> None:
                if isinstance(prepared, Prepared) and column.prepared is was:
                    replaced(was, prepared)
                    state.take_over(column, prepared)

            def work(tell: Tell, was: Prepared = was) -> Prepared:
                return prepare_again(was, quiet_hooks(lambda *_: None))

            self._columns.submit(f"again {column.key}", work, taken)
            return True
        return False
