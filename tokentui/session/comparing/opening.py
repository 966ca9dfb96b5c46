"""The thread in which columns and second corpora are opened, one after the other, on objects of their own."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from tokentui.core import jit
from tokentui.core.errors import Cancelled
from tokentui.learn.compiled import WORTH_CHARS
from tokentui.session.compared import HeldOut
from tokentui.session.comparing.beside import Beside
from tokentui.session.comparing.column import Column, Opened, open_column
from tokentui.session.comparing.explorer import Comparing
from tokentui.session.opening import Hooks, open_corpus
from tokentui.session.snapshot import Busy
from tokentui.text.corpus import Corpus
from tokentui.text.patience import asking


class Opening:
    """What is opened beside.

    Args:
        state: The comparison that takes what was opened.
        beside: Is told when something has gone on.
        call: Has something done between two slices of the columns' work; from any thread.
        later: Gives a future its answer; from any thread.
    """

    def __init__(
        self, state: Comparing, beside: Beside, call: Callable[[Callable[[], Any]], None],
        later: Callable[[asyncio.Future[Any], Any], None],
    ) -> None:
        self._state = state
        self._beside = beside
        self._call = call
        self._later = later
        self._pool = ThreadPoolExecutor(1, "tokentui-compare-open")
        self._opening: set[int] = set()
        self._plain: set[int] = set()
        self._corpus = 0
        self._closing = False

    @property
    def free(self) -> bool:
        """Whether no column is being opened."""
        return not self._opening

    def open(self, column: Column, again: bool = False) -> None:
        """Open a column, or lay it out again where it stands."""
        if self._closing or column.key in self._opening:
            return
        self._opening.add(column.key)

        def tell(what: str, done: int, total: int) -> None:
            column.opening = Busy(what, done, total)
            self._beside.tell()

        def cancel() -> bool:
            return self._closing or self._state.steps.column(column.key) is None

        def work() -> Opened:
            with asking(cancel):
                return opened()

        def opened() -> Opened:
            if again and column.opened is not None:
                other = column.opened.again(tell=tell, cancel=cancel)
                other.trainer.bound(other.stops)
                other.trainer.jump(column.opened.trainer.number, cancel=cancel)
                return other
            if not jit.loaded():
                self._plain.add(column.key)
            return open_column(self._state.corpus, column.wanted, self._state.words, tell=tell, cancel=cancel)

        def done(found: Future[Opened]) -> None:
            self._call(lambda: take(found))

        def take(found: Future[Opened]) -> None:
            self._opening.discard(column.key)
            if found.cancelled() or isinstance(found.exception(), Cancelled):
                return
            if error := found.exception():
                if not again:
                    self._state.refused(column.key, str(error))
            else:
                self._state.opened(column.key, found.result())
                gc.freeze()  # millions of numbers that live on: not to be walked by each collection

        self._pool.submit(work).add_done_callback(done)

    def open_again(self) -> None:
        """Lay out anew what was opened before the kernels were loaded, where they make a difference."""
        for column in self._state.columns if jit.loaded() else ():
            if column.key in self._plain and column.opened is not None and self._state.corpus.size >= WORTH_CHARS:
                self._plain.discard(column.key)
                self.open(column, again=True)

    def hold_out(self, command: HeldOut, future: asyncio.Future[Any]) -> None:
        """Open a second corpus, or take it away."""
        self.give_up_corpus()
        number = self._corpus
        if not command.source:
            self._call(lambda: self._state.findings.hold_out(None))
            self._later(future, None)
            return

        def cancel() -> bool:
            return self._closing or future.cancelled() or self._corpus != number

        def work() -> Corpus:
            hooks = Hooks(lambda what, done, total: None, lambda _: None, cancel)
            return open_corpus(command.source, command.as_, command.field, hooks)

        def done(found: Future[Corpus]) -> None:
            error = Cancelled() if found.cancelled() else found.exception()
            if error is None:
                self._call(lambda: self._state.findings.hold_out(found.result()))
            self._later(future, error)

        self._pool.submit(work).add_done_callback(done)

    def give_up_corpus(self) -> None:
        """Give up the second corpus that is being opened."""
        self._corpus += 1

    def close(self) -> None:
        """Give up everything."""
        self._closing = True
        # A reader that hangs on a device looks at its cancel callable; do not wait for it here.
        self._pool.shutdown(wait=False, cancel_futures=True)
