"""What keys cost: bytes on the line, and the time until the last of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from reliability_line import BARE, LARGE, READY, SMALL, TEXTUAL, Line, bare, opened

DOWN, PAGE = "\x1b[B", "\x1b[6~"
LETTERS = [chr(code) for code in range(0x0531, 0x0557)]
"""Armenian capitals, which no corpus of ours has."""
BYTES_A_SECOND, SLOWEST = 9_600, 960
FIRST_S = 4
_PAIRS = b"step "
"""Text that the explorer writes with its first pairs, before the color of the number."""
SIZES = {"80x24": SMALL, "200x60": LARGE}


@dataclass(frozen=True)
class Figure:
    """What was measured: it should be at most so much.

    Args:
        what: What it is.
        most: The most that it should be; None for a figure that stands beside the others.
        value: What it is.
        unit: Of both.
        beside: The same of the plain Textual app, None where that has none.
        detail: How it spreads, or what else belongs to it.
    """

    what: str
    most: float | None
    value: float
    unit: str
    beside: float | None = None
    detail: str = ""


Figures = Iterator[Figure]


@dataclass(frozen=True)
class Given:
    """What there is to measure with.

    Args:
        corpus: About a megabyte of text.
        large: A text that takes some seconds to open.
        folder: A folder for files.
        effort: How much of the long measurements is made, 1 for all.
        files: One to four tokenizer files.
    """

    corpus: str
    large: str
    folder: Path
    effort: float = 1.0
    files: tuple[str, ...] = ()

    def count(self, whole: int) -> int:
        """So much of a count."""
        return max(1, round(whole * self.effort))


def start(given: Given) -> Figures:
    """From Enter to the first text, and until it can be used; and the bytes of it."""
    for name, size, most in (("80x24", SMALL, 12_000), ("200x60", LARGE, 40_000)):
        firsts, usables, bytes_, plain, plain_bytes = [], [], [], [], []
        for _ in range(given.count(4)):
            with Line("sample:hugs", "-r", "comp336", size=size) as line:
                firsts.append(line.appears(b"tokentui")[0] * 1000)
                usables.append(line.appears(_PAIRS)[0] * 1000)
            with Line(given.corpus, size=size) as line:
                line.appears(_PAIRS)
                line.rest(1.0)
                bytes_.append(len(line.written))
            with Line("1000", size=size, program=BARE) as line:
                plain.append(line.appears(b"row 1")[0] * 1000)
                line.rest(1.0)
                plain_bytes.append(len(line.written))
        if size == SMALL:
            yield Figure(
                "first text after Enter", 250, statistics.median(firsts), "ms", statistics.median(plain),
                spread(firsts),
            )
            yield Figure("usable", 400, statistics.median(usables), "ms", None, spread(usables))
        yield Figure(
            f"first paint, {name}", most, statistics.median(bytes_), "B", statistics.median(plain_bytes),
            "all until it is at rest",
        )


def cursor(given: Given) -> Figures:
    """A key that moves by a row, where nothing scrolls and where all does; a page; a step."""
    for name, size in SIZES.items():
        with bare(size) as line:
            plain = [line.key(DOWN)[0] for _ in range(5)]
            for _ in range(size[1]):
                line.key(DOWN)
            plain_scroll = [line.key(DOWN)[0] for _ in range(12)]
        scrolls: dict[str, list[int]] = {}
        with opened(given.corpus, size=size) as line:
            line.key("g", 0.5)
            line.key("300\r", 1.5)
            line.rest(6.0)  # until a notice about the corpus has gone, which repaints rows
            line.key("2", 0.3)
            flat = [line.key(DOWN)[0] for _ in range(5)]
            scrolls["pairs"] = _scrolled(line, size[1])
            line.key("3", 0.3)
            flat += [line.key(DOWN)[0] for _ in range(5)]
            scrolls["vocabulary"] = _scrolled(line, size[1])
            line.key("1", 0.3)
            scrolls["corpus"] = [line.key(DOWN)[0] for _ in range(40)]
            pages = [line.key(PAGE, 0.2)[0] for _ in range(5)]
            steps = [line.key("n", 0.3)[0] for _ in range(25)]
        yield Figure(
            f"cursor key without scroll, {name}", 400, max(flat), "B", statistics.median(plain),
            f"the most of {len(flat)}; {spread(flat)}",
        )
        for pane, found in scrolls.items():
            yield Figure(
                f"cursor key with scroll, {pane}, {name}", 2000 if size == SMALL else 6000,
                statistics.median(found), "B", statistics.median(plain_scroll), spread(found),
            )
        yield Figure(
            f"a page of the corpus, {name}", None, statistics.median(pages), "B", None, spread(pages)
        )
        yield Figure(
            f"one step, all panes, {name}", 3000 if size == SMALL else None, statistics.median(steps), "B",
            None, spread(steps),
        )


def _scrolled(line: Line, rows: int) -> list[int]:
    for _ in range(rows):
        line.key(DOWN, 0.02)
    line.rest(0.3)
    return [line.key(DOWN)[0] for _ in range(20)]


def latency(given: Given) -> Figures:
    """From a key to the last byte of what it does, at 200x60; and its cost in processor, which a busy machine
    changes less."""
    count = given.count(80)
    with bare(LARGE) as line:
        for _ in range(LARGE[1]):
            line.key(DOWN, 0.02)
        plain = [line.key(DOWN)[1] for _ in range(count)]
    with opened(given.corpus, size=LARGE, answers=True) as line:
        line.rest(5.0)
        for pane, key in (("pairs", "2"), ("corpus", "1")):
            line.key(key, 0.3)
            _scrolled(line, LARGE[1])
            before = line.cpu()
            times = [line.key(DOWN)[1] for _ in range(count)]
            cost = (line.cpu() - before) / count
            yield from _percentiles(f"cursor key with scroll, {pane}", times, plain, cost)
        line.key("i", 0.3)
        before = line.cpu()
        times = _typed(line, count)
        yield from _percentiles("a typed letter, idle", times, None, (line.cpu() - before) / count)
        line.press("\x1b")
        line.rest(0.3)
        before = line.cpu()
        times = [line.key("n")[1] for _ in range(count)]
        yield from _percentiles("a step", times, None, (line.cpu() - before) / count)
    for engine, say, most in (("", "with kernels", 16), ("off", "in plain Python", 33)):
        environment = {"TOKENTUI_KERNELS": engine}
        with opened(given.large, size=LARGE, environment=environment, answers=True) as line:
            line.press("+" * 12 + " i")
            line.rest(0.1)
            yield from _percentiles(f"a typed letter while training {say}", _typed(line, count), most=most)
        times = []
        for _ in range(given.count(2)):
            with Line(given.corpus, size=LARGE, environment=environment, answers=True) as line:
                line.until(lambda text: READY in text)
                begun = time.perf_counter()
                while time.perf_counter() - begun < FIRST_S:
                    times.append(line.key("n", 0.03)[1])
        yield from _percentiles(f"a step in the first {FIRST_S} seconds, {say}", times, most=33)
    times = []
    for _ in range(given.count(3)):
        with Line(given.large, size=LARGE, answers=True) as line:
            line.until(lambda text: "esc stops it" in text)
            line.press("i")
            line.rest(0.05)
            while "esc stops it" in line.text():
                times += _typed(line, 2)
    if times:
        yield from _percentiles("a typed letter while loading", times, most=33)


TYPED_S = 15
"""Seconds of typing while files are opened."""


def files(given: Given) -> Figures:
    """Tokenizer files on a large text: the time to the tokens of the first screen, and from a typed letter to
    its last byte while all files are opened in Compare. Nothing without files."""
    for file in given.files:
        for name, size in SIZES.items():
            times = []
            for _ in range(given.count(3)):
                with Line(given.large, "-t", file, size=size) as line:
                    line.until(lambda text: "uses" in text)  # a column of its vocabulary
                    times.append(time.perf_counter() - line.begun)
            kind = Path(file).parent.name
            yield Figure(
                f"the file of {kind}: to the tokens of the first screen, {name}", 1.5,
                statistics.median(times), "s", None, f"the longest of {len(times)} {max(times):.2f}",
            )
    if len(given.files) > 1:
        columns = [word for file in given.files for word in ("-t", file)]
        with Line(given.large, *columns, size=LARGE, answers=True) as line:
            line.until(lambda text: "tokentui compare" in text)  # a text that is typed before ends with it
            line.press("i")
            line.rest(0.05)
            times, end = [], time.perf_counter() + TYPED_S
            while time.perf_counter() < end:
                times += _typed(line, 2)
        yield from _percentiles(
            f"a typed letter while {len(given.files)} files are opened", times, most=33
        )


def _typed(line: Line, count: int) -> list[float]:
    times = []
    for at in range(count):
        times.append(line.answer(LETTERS[at % len(LETTERS)]))
        with line.unseen():
            for _ in range(8):
                line.take(0.005)
        if at % len(LETTERS) == len(LETTERS) - 1:
            line.press("\x15")
            line.rest(0.05)
    return times


def _percentiles(
    what: str, seconds: list[float], plain: list[float] | None = None, cost: float | None = None, *,
    most: float = 16,
) -> Figures:
    times = sorted(1000 * one for one in seconds)
    beside = sorted(1000 * one for one in plain) if plain else None
    detail = f"{len(times)} keys; the longest {times[-1]:.1f}"
    if cost is not None:
        detail += f"; processor {1000 * cost:.1f} ms a key"
    for name, share, limit in (("median", 0.5, 10), ("p99", 0.99, most)):
        yield Figure(
            f"key to last byte, 200x60: {what}, {name}", limit, times[int(share * (len(times) - 1))], "ms",
            beside[int(share * (len(beside) - 1))] if beside else None, detail,
        )


def held(given: Given) -> Figures:
    """A key that is held down for some seconds at 30 a second on a slow line, until the screen stands."""
    keys: dict[str, tuple[str, str]] = {"pairs": ("2", DOWN), "corpus": ("1", DOWN), "steps": ("2", "n")}
    for rate in (BYTES_A_SECOND, SLOWEST):
        for name, size in SIZES.items():
            beside = None if rate == SLOWEST else _held(lambda: bare(size), "", DOWN, rate)[0]  # noqa: B023
            for what, (pane, key) in keys.items():
                silent_too = (rate, name, what) == (SLOWEST, "80x24", "pairs")
                for answers in (True, False) if silent_too else (True,):
                    seconds, count = _held(
                        lambda: opened(given.corpus, size=size, answers=answers),  # noqa: B023
                        pane, key, rate,
                    )
                    silent = "" if answers else ", no answers"
                    yield Figure(
                        f"held {HELD_S} s at {rate:,} B/s, {what}{silent}, {name}",
                        _MOST_HELD_S.get((rate, name, what)), seconds, "s",
                        beside if key == DOWN else None, f"{count:,} B in all",
                    )


HELD_S = 3
_MOST_HELD_S = {
    (BYTES_A_SECOND, "80x24", "pairs"): 0.3,
    (BYTES_A_SECOND, "80x24", "corpus"): 1.0,
    (BYTES_A_SECOND, "80x24", "steps"): 1.0,
    (BYTES_A_SECOND, "200x60", "pairs"): 2.5,
    (BYTES_A_SECOND, "200x60", "corpus"): 2.5,
    (BYTES_A_SECOND, "200x60", "steps"): 2.5,
    (SLOWEST, "80x24", "pairs"): 2.0,
}
"""The most seconds after the release, by bytes a second, size and pane."""


def _held(
    begin: Callable[[], AbstractContextManager[Line]], pane: str, key: str, rate: int
) -> tuple[float, int]:
    with begin() as line:
        if pane:
            line.key(pane, 0.3)
        return line.hold(key, rate, HELD_S)


def drivers(given: Given) -> Figures:
    """The same keys on the explorer with each of the two drivers: bytes, time and processor time of a key."""
    keys = {"a scrolled key, pairs": ("2", DOWN), "a scrolled key, corpus": ("1", DOWN), "a step": ("2", "n")}
    count = given.count(30)
    for name, size in SIZES.items():
        ours, theirs = (_keys(given.corpus, size, program, keys, count) for program in (_TOKENTUI, TEXTUAL))
        for what in keys:
            for unit, number in (("B", 0), ("ms", 1), ("ms", 2)):
                label = ("", "to the last byte, ", "processor, ")[number]
                yield Figure(f"{what}, {label}{name}", None, ours[what][number], unit, theirs[what][number])


_TOKENTUI = ("-m", "tokentui")


def _keys(
    corpus: str, size: tuple[int, int], program: tuple[str, ...], keys: dict[str, tuple[str, str]], count: int
) -> dict[str, tuple[float, float, float]]:
    """Return the median bytes and milliseconds of each key, and its milliseconds of the processor."""
    made = {}
    with opened(corpus, size=size, program=program, answers=True) as line:
        line.rest(5.0)
        for what, (pane, key) in keys.items():
            line.key(pane, 0.3)
            for _ in range(size[1] if key == DOWN else 3):
                line.key(key, 0.02)
            line.rest(0.3)
            before = line.cpu()
            found = [line.key(key) for _ in range(count)]
            cost = 1000 * (line.cpu() - before) / count
            sent, times = zip(*found, strict=True)
            made[what] = statistics.median(sent), 1000 * statistics.median(times), cost
    return made


def spread(values: list[int] | list[float]) -> str:
    """The least and the most."""
    return f"{min(values):,.0f} to {max(values):,.0f}"
