"""The explorer at the end of a line: keys go in, bytes come out, and both are timed and counted from outside.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness import HERE, ROOT

sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from terminal import PATIENCE_S, Terminal  # noqa: E402

from tokentui.thinwire.link import STATUS_ANSWER, STATUS_REQUEST  # noqa: E402

QUIET_S = 0.06
"""How long nothing may come before what a key does counts as done."""
SMALL, LARGE = (80, 24), (200, 60)
READY = "step 0"
"""What the explorer says of the step when pairs are seen."""
BARE = (str(HERE / "reliability_bare.py"),)
"""A Textual app with a table of rows, to hold beside it."""
TEXTUAL = (str(HERE / "reliability_textual.py"),)
"""The explorer with Textual's own driver."""


class Line(Terminal):
    """A program at the end of a line.

    Args:
        size: Columns and rows.
        environment: What is added to the environment; else it is that of a user, with kernels where they are
            installed.
        answers: Whether the terminal says that it has taken what it was sent, where it is asked. Most do; one
            that does not is taken to be slow while a key is held.
    """

    def __init__(
        self, *arguments: str, size: tuple[int, int] = SMALL, environment: Mapping[str, str] | None = None,
        answers: bool = False, **more: Any,
    ) -> None:
        self.begun = time.perf_counter()
        self._answers = answers
        own = {  # with bytecode, as an installed package has it
            "TOKENTUI_KERNELS": "", "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "",
            **(environment or {}),
        }
        super().__init__(*arguments, columns=size[0], rows=size[1], environment=own, **more)

    def take(self, seconds: float, most: int = 1 << 16) -> bytes:
        """What comes within so long, not yet drawn."""
        if not select.select([self._master], [], [], seconds)[0]:
            return b""
        data = os.read(self._master, most)
        # A request may be split between two reads.
        answered = max(0, len(self.written) - len(STATUS_REQUEST) + 1)
        self.written += data
        if self._answers:
            self.press(STATUS_ANSWER * self.written.count(STATUS_REQUEST.encode(), answered))
        return data

    def _drain(self, seconds: float) -> bool:
        if data := self.take(seconds):
            self.draw(data)
        return bool(data)

    @contextlib.contextmanager
    def unseen(self) -> Iterator[None]:
        """Draw what comes afterwards, not meanwhile: it would be timed as well."""
        start = len(self.written)
        yield
        self.draw(bytes(self.written[start:]))

    def appears(self, wanted: bytes) -> tuple[float, int]:
        """Seconds since the start until something is written, and how many bytes it took."""
        end = time.perf_counter() + PATIENCE_S
        with self.unseen():
            while wanted not in self.written:
                if time.perf_counter() > end:
                    raise RuntimeError(f"it never wrote {wanted!r}")
                self.take(0.5)
            seconds = time.perf_counter() - self.begun
        return seconds, len(self.written)

    def rest(self, quiet: float = 0.5) -> int:
        """Read until nothing has come for so long. Returns how many bytes came."""
        count = 0
        end = time.perf_counter() + PATIENCE_S
        while (data := self.take(quiet)) and time.perf_counter() < end:
            self.draw(data)
            count += len(data)
        return count

    def key(self, key: str, quiet: float = QUIET_S) -> tuple[int, float]:
        """Press a key. Returns the bytes that it caused, and the seconds to the last of them."""
        count, last = 0, 0.0
        with self.unseen():
            start = time.perf_counter()
            self.press(key)
            while data := self.take(quiet if count else 1.0):
                count += len(data)
                last = time.perf_counter() - start
        return count, last

    def answer(self, letter: str) -> float:
        """Type a letter.

        Returns the seconds to the last byte of the frame that shows it, whatever else is being drawn.
        """
        wanted, seen = letter.encode(), len(self.written)
        with self.unseen():
            start = time.perf_counter()
            self.press(letter)
            while wanted not in self.written[seen:]:
                if time.perf_counter() - start > PATIENCE_S:
                    raise RuntimeError(f"no answer to {letter!r}")
                self.take(0.2)
            last = time.perf_counter() - start
            while self.take(0.0005):
                last = time.perf_counter() - start
        return last

    def hold(self, key: str, rate: int, seconds: float = 3.0) -> tuple[float, int]:
        """Hold a key down, 30 times a second, on a line of so many bytes a second.

        Returns:
            Seconds after the release until the last byte, and how many bytes came.
        """
        count, room = 0, 0.0
        with self.unseen():
            now = begun = last = pressed = time.perf_counter()
            released = begun + seconds
            while now < released or now - max(last, released) < 0.7:
                before, now = now, time.perf_counter()
                if pressed <= now < released:
                    self.press(key)
                    pressed += 1 / 30
                room = min(room + (now - before) * rate, max(64.0, rate / 50))
                if room >= 32 and (data := self.take(0, int(room))):
                    room -= len(data)
                    count += len(data)
                    last = now
                time.sleep(0.002)
        return max(0.0, last - released), count

    def cpu(self) -> float:
        """Seconds of processor that the program has used."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wakes(self) -> int:
        """How often its threads have slept and been woken."""
        states = [path.read_text() for path in Path(f"/proc/{self.process}/task").glob("*/status")]
        return sum(int(state.partition("\nvoluntary_ctxt_switches:")[2].split()[0]) for state in states)

    def memory(self) -> float:
        """Megabytes that it holds."""
        return (
            int(Path(f"/proc/{self.process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        )

    def dies(self, number: int) -> tuple[float, int]:
        """Send a signal. Returns the seconds until it has ended while nobody reads, and its exit code."""
        start = time.perf_counter()
        os.kill(self.process, number)
        while self.status is None:
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                self.status = status
            elif time.perf_counter() - start > PATIENCE_S:
                raise RuntimeError("it does not end")
            else:
                time.sleep(0.001)
        return time.perf_counter() - start, os.waitstatus_to_exitcode(self.status)


@contextlib.contextmanager
def opened(*arguments: str, size: tuple[int, int] = SMALL, **more: Any) -> Iterator[Line]:
    """The explorer on a corpus, once its first pairs are seen and it is at rest."""
    with Line(*arguments, size=size, **more) as line:
        line.until(lambda text: READY in text)
        line.rest(1.0)
        yield line


@contextlib.contextmanager
def bare(size: tuple[int, int] = SMALL) -> Iterator[Line]:
    """The plain Textual app, at rest."""
    with Line("1000", size=size, program=BARE) as line:
        line.until(lambda text: "row 1" in text)
        line.rest(1.0)
        yield line
