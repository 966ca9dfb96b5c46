"""What lasts: idling, a million rows, windows that are dragged, keys that make no sense, and every way to
die."""

from __future__ import annotations

import base64
import os
import random
import re
import signal
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from reliability_line import LARGE, READY, SMALL, Line, bare, opened
from reliability_wire import Figure, Figures, Given
from storm import cells, every_key, rage, sizes
from terminal import assert_restored

IDLE_S = 20
ROWS = 1_000_000
_OFFER = "enter  resume"
"""What the start screen says of a session that was saved."""
_STEP = re.compile(rb'"training": \{.*?"step": (\d+)', re.DOTALL)


def idle(given: Given) -> Figures:
    """A minute in which nothing happens."""
    with bare() as line:
        plain = _idle(line, given.count(IDLE_S))
    with opened(given.corpus) as line:
        line.rest(7.0)  # kernels are loaded, what was said has gone
        wakes = line.wakes()
        sent, share = _idle(line, given.count(IDLE_S))
        wakes = line.wakes() - wakes
    yield Figure(f"idle {given.count(IDLE_S)} s, sent", 0, sent, "B", plain[0])
    yield Figure(f"idle {given.count(IDLE_S)} s, processor", 0.1, share, "%", plain[1])
    yield Figure(f"idle {given.count(IDLE_S)} s, times a thread woke", 0, wakes, "")


def _idle(line: Line, seconds: float) -> tuple[int, float]:
    before, count, end = line.cpu(), 0, time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        count += len(line.take(left))
    return count, 100 * (line.cpu() - before) / seconds


def million(given: Given) -> Figures:
    """A corpus of a million lines, and a vocabulary of a million entries."""
    lines, vocabulary = given.folder / "lines.txt", given.folder / "million.tiktoken"
    words = ("the", "crowd", "in", "street", "saw", "garret", "young", "man", "evening", "July")
    with lines.open("w") as file:
        file.writelines(
            f"{n} {words[n % 10]} {words[n // 10 % 10]} {words[n // 100 % 10]}\n" for n in range(ROWS)
        )
    letters = "abcdefghijklmnopqrstuvwxyz"
    with vocabulary.open("w") as file:
        for rank in range(256):
            file.write(f"{base64.b64encode(bytes([rank])).decode()} {rank}\n")
        for rank in range(256, ROWS):
            n, word = rank, ""
            for _ in range(5):
                n, letter = divmod(n, 26)
                word += letters[letter]
            file.write(f"{base64.b64encode(word.encode()).decode()} {rank}\n")
    jumps = ["\x1b[F", "\x1b[H", "\x1b[6~", "\x1b[F", "\x1b[5~", "\x1b[H"] * given.count(4)
    for what, pane, ready_text, arguments in (
        ("lines", "1", READY, (str(lines),)),
        ("entries", "3", f"tokens: {ROWS:,}", (given.corpus, "-t", str(vocabulary), "-s", "split=gpt2")),
    ):
        with Line(*arguments) as line:
            first = line.appears(b"tokentui")[0] * 1000
            text = line.appears(b"street" if pane == "1" else b"Vocabulary")[0] * 1000
            line.until(lambda text: ready_text in text)  # noqa: B023 - called at once
            ready = (time.perf_counter() - line.begun) * 1000
            line.rest(3.0)
            if pane == "3":
                line.press("G")
                line.rest(2.0)
            line.key(pane, 0.5)
            times = [1000 * line.key(key, 0.25)[1] for key in jumps]
            held = line.memory()
        yield Figure(
            f"a million {what}: first text", 400 if pane == "1" else 500, first, "ms", None,
            f"{'its rows' if pane == '1' else 'the panes'} after {text:,.0f} ms, all of it after "
            f"{ready:,.0f} ms; {held:,.0f} MB",
        )
        yield Figure(
            f"a million {what}: a jump", 50, max(times), "ms", None,
            f"the longest of {len(times)}; median {statistics.median(times):.1f}",
        )


def resizes(given: Given) -> Figures:
    """A window that is dragged through all sizes, down to one cell."""
    count = given.count(400)
    wanted = None
    with opened("sample:english", "-r", "gpt2", size=SMALL) as line:
        line.key("nnn", 1.0)
        line.rest(1.0)
        wanted = cells(line)
    with opened("sample:english", "-r", "gpt2", size=LARGE) as line:
        line.key("nnn", 1.0)
        before, stream = line.memory(), sizes(random.Random(1))
        for _ in range(count):
            line.resize(*next(stream))
            line.rest(0.005)
        line.rest(1.0)
        start = time.perf_counter()
        with line.unseen():
            line.resize(*SMALL)
            last = start
            while line.take(0.6):
                last = time.perf_counter()
        alike = cells(line) == wanted
        grown = line.memory() - before
    yield Figure(
        f"{count:,} resizes down to 1x1: the last until the screen stands", 150, (last - start) * 1000, "ms",
        None,
        f"equal to a fresh one's: {'yes' if alike else 'NO'}; {grown:+.0f} MB",
    )
    yield Figure(f"{count:,} resizes: cells unlike a fresh start's", 0, 0 if alike else 1, "")


def monkey(given: Given) -> Figures:
    """Random keys with garbage among them, over several seeds."""
    seeds = 8 if given.effort >= 0.2 else 2
    count, crashes, grown = given.count(10_000) // seeds, 0, 0.0
    for seed in range(seeds):
        folder = given.folder / f"monkey{seed}"
        folder.mkdir()
        with opened("sample:hugs", "-r", "comp336", environment=_at(folder / "home"), folder=folder) as line:
            before = line.memory()
            try:
                rage(line, random.Random(seed), count, every_key())
                line.rest(1.0)
                grown = max(grown, line.memory() - before)
                os.kill(line.process, signal.SIGTERM)
                ok = line.end() == 128 + signal.SIGTERM
                assert_restored(line)
            except (AssertionError, OSError):
                ok = False
            crashes += not ok
    yield Figure(
        f"{seeds * count:,} random events with 10 % garbage", 0, crashes, "crashes", None,
        f"{seeds} seeds; {grown:+.0f} MB at most",
    )


def deaths(given: Given) -> Figures:
    """SIGTERM, whatever is going on."""
    def idle_(line: Line) -> None:
        line.until(lambda text: READY in text)
        line.rest(0.5)

    def training(line: Line) -> None:
        idle_(line)
        line.press("+" * 12 + " ")
        line.rest(0.05)
        line.take(0.3)

    def loading(line: Line) -> None:
        line.appears(b"tokentui")
        line.take(0.2)

    def stalled(line: Line) -> None:
        idle_(line)
        for _ in range(100):
            line.press("nv")
        time.sleep(0.5)

    ways: dict[str, Callable[[Line], None]] = {
        "idle": idle_, "training": training, "loading": loading, "stalled": stalled,
    }
    for way, begin in ways.items():
        times, codes = [], set()
        for _ in range(given.count(3)):
            with Line(given.large if way in ("training", "loading") else given.corpus) as line:
                begin(line)
                seconds, code = line.dies(signal.SIGTERM)
                times.append(seconds)
                codes.add(code)
                while line._drain(0.05):
                    pass
                assert_restored(line)
        most = 2.0 if way == "stalled" else 1.0
        name = "on a line that stalls" if way == "stalled" else f"while {way}" if way != "idle" else "idle"
        yield Figure(
            f"SIGTERM to death, {name}", most, max(times), "s", None,
            f"the longest of {len(times)}; exit code {', '.join(map(str, codes))}; the terminal restored",
        )


def kills(given: Given) -> Figures:
    """SIGKILL at random moments: what is lost, and whether what is offered is the same."""
    count, dice = given.count(16), random.Random(7)
    lost, missing, unlike, replayed = [0.0], 0, 0, 0
    for moment in range(count):
        home = given.folder / f"kill{moment}"
        with opened(given.corpus, "-r", "gpt2", environment=_at(home)) as line:
            seen = [(time.perf_counter(), 0)]
            end = seen[0][0] + dice.uniform(0.05, 4.0)
            while time.perf_counter() < end:
                line.press("n")
                line.until(_at_step(len(seen)))
                seen.append((time.perf_counter(), len(seen)))
                line.rest(dice.uniform(0.01, 0.1))
            os.kill(line.process, signal.SIGKILL)
            dead = time.perf_counter()
            line.end()
            step = _kept_step(home)
            lost.append(
                dead - next((at for at, shown in seen if shown > (0 if step is None else step)), dead)
            )
            missing += step is None and dead - seen[0][0] > 2.0
            if step and moment % 10 == 0:
                replayed += 1
                unlike += not _alike(given, line, home, step)
    yield Figure(
        f"SIGKILL at {count} moments: work lost", 2.0, max(lost), "s", None,
        f"median {statistics.median(lost):.2f} s",
    )
    yield Figure(f"SIGKILL at {count} moments: no session to go on with", 0, missing, "")
    yield Figure(f"of {replayed} replays: unlike a run that was not killed", 0, unlike, "")


def _at_step(step: int) -> Callable[[str], bool]:
    return lambda text: f"step {step} " in " ".join(text.split())


def _at(home: Path) -> dict[str, str]:
    """A home of its own, where no kernels are: they would be compiled each time."""
    return {"TOKENTUI_HOME": str(home), "TOKENTUI_KERNELS": "off"}


def _kept_step(home: Path) -> int | None:
    found = [_STEP.search(path.read_bytes()) for path in home.glob("sessions/*.json")]
    return next((int(match.group(1)) for match in found if match), None)


def _alike(given: Given, line: Line, home: Path, step: int) -> bool:
    """Whether going on shows what a fresh run shows at the same step."""
    line.screen.reset()
    line.begin()
    line.until(lambda text: _OFFER in text)
    line.press("\r")
    line.until(lambda text: _OFFER not in text and _at_step(step)(text))
    line.rest(1.5)
    shown = line.text().splitlines()[1:-3]
    with opened(given.corpus, "-r", "gpt2", environment=_at(home / "fresh")) as fresh:
        fresh.press("n" * step)
        fresh.until(_at_step(step))
        fresh.rest(1.5)
        return fresh.text().splitlines()[1:-3] == shown
