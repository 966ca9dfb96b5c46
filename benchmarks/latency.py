"""From key to paint while a corpus trains: the explorer in a pseudo-terminal, timed from outside.

    python benchmarks/latency.py CORPUS [--recipe gpt2] [--set split=none]

Types letters that the corpus does not have into the line that is encoded, at rest and while the corpus trains at full speed,
and looks for each letter in what the program writes, so that what training itself paints does not count. Prints milliseconds
from the key to the letter.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from terminal import Terminal

LETTERS = [chr(code) for code in range(0x0531, 0x0557)]
"""Armenian capitals."""
PATIENCE_S = 5.0


def answer(terminal: Terminal, key: str, words: bytes) -> float:
    """Milliseconds from a key to the words that answer it."""
    before = len(terminal.written)
    start = time.perf_counter()
    terminal.press(key)
    while words not in terminal.written[before:]:
        if time.perf_counter() - start > PATIENCE_S:
            raise SystemExit(f"no answer to {key!r}; the screen is:\n{terminal.text()}")
        terminal._read(0.005)
    return (time.perf_counter() - start) * 1000


def settle(terminal: Terminal, seconds: float) -> None:
    """Read for a while."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        terminal._read(0.005)


def measure(terminal: Terminal, letters: list[str]) -> list[float]:
    """Type the letters. Meanwhile nothing draws what is written: that would be timed as well."""
    times = []
    draw, terminal.draw = terminal.draw, lambda data: None
    start = len(terminal.written)
    for letter in letters:
        times.append(answer(terminal, letter, letter.encode()))
        settle(terminal, 0.037)
    terminal.draw = draw
    draw(bytes(terminal.written[start:]))
    return times


def row(name: str, times: list[float]) -> str:
    """One row of the table."""
    ordered = sorted(times)
    p90 = ordered[int(len(ordered) * 0.9)]
    return f"{name:<16} median {statistics.median(ordered):6.1f}  p90 {p90:6.1f}  longest {ordered[-1]:6.1f} ms"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--recipe", default="gpt2")
    parser.add_argument("--set", action="append", default=[])
    asked = parser.parse_args()
    words = [word for axis in asked.set for word in ("-s", axis)]
    begun = time.perf_counter()
    with Terminal(asked.corpus, "-r", asked.recipe, *words, columns=120, rows=40) as terminal:
        terminal.until(lambda text: "▸" in text)
        print(f"first pairs after {time.perf_counter() - begun:.2f} s")
        settle(terminal, 2.0)
        terminal.press("i")
        settle(terminal, 0.3)
        print(row("at rest", measure(terminal, LETTERS[: len(LETTERS) // 2])))
        terminal.press("\x1b")
        settle(terminal, 0.5)
        terminal.press("+" * 12 + " i")
        settle(terminal, 0.05)
        print(row("while training", measure(terminal, LETTERS[len(LETTERS) // 2 :])))
        print(terminal.text().splitlines()[-2].strip())
        terminal.press("\x03")
        terminal.end()


if __name__ == "__main__":
    main()
