"""From key to paint while a corpus trains: the explorer in a pseudo-terminal, timed from outside.

Types letters that the corpus does not have into the line that is encoded, at rest and while the corpus trains
at full speed, and looks for each letter in what the program writes, so that what training itself paints does
not count.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

from harness import ROOT, Figures, Table, apart, megabytes

sys.path.insert(0, str(ROOT / "tests" / "support"))

LETTERS = [chr(code) for code in range(0x0531, 0x0557)]
"""Armenian capitals."""
PATIENCE_S = 5.0


def typed(path: str) -> Figures:
    """Seconds from each key to its letter, at rest and while it trains."""
    from terminal import Terminal

    def settle(seconds: float) -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            terminal.read(0.005)

    def answer(letter: str) -> float:
        before, start = len(terminal.written), time.perf_counter()
        terminal.press(letter)
        while letter.encode() not in terminal.written[before:]:
            if time.perf_counter() - start > PATIENCE_S:
                raise SystemExit(f"no answer to {letter!r}; the screen is:\n{terminal.text()}")
            terminal.read(0.005)
        return time.perf_counter() - start

    def type_all(letters: list[str]) -> list[float]:
        """Meanwhile nothing draws what is written: that would be timed as well."""
        times = []
        draw, terminal.draw = terminal.draw, lambda data: None
        start = len(terminal.written)
        for letter in letters:
            times.append(answer(letter))
            settle(0.037)
        terminal.draw = draw
        draw(bytes(terminal.written[start:]))
        return times

    with Terminal(path, columns=120, rows=40) as terminal:
        terminal.until(lambda text: "step 0" in text)
        settle(2.0)
        terminal.press("i")
        settle(0.3)
        at_rest = type_all(LETTERS[: len(LETTERS) // 2])
        terminal.press("\x1b")
        settle(0.5)
        terminal.press("+" * 12 + " i")
        settle(0.05)
        training = type_all(LETTERS[len(LETTERS) // 2 :])
        terminal.press("\x03")
        terminal.end()
    return {"at rest": at_rest, "while it trains in plain Python": training}


def table(path: Path) -> Table:
    """What one waits for, with the plain engine, which is the harder case: it holds the interpreter while it
    trains."""
    found = apart("keys", "typed", str(path))
    rows = [
        (when, f"{statistics.median(times) * 1000:.1f}", f"{max(times) * 1000:.1f}", str(len(times)))
        for when, times in found.items()
    ]
    figures = {when: statistics.quantiles(times, n=100)[98] for when, times in found.items()}
    return Table(
        f"From key to paint, {megabytes(path)}, milliseconds", ("a letter typed", "median", "most", "keys"),
        rows, figures,
    )
