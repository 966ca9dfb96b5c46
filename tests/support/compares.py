"""Compare on a session that records what it is asked, with snapshots made by hand."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import combinations
from typing import Any

from screens import PAIRS, explorer
from textual.pilot import Pilot
from waiting import until

from tokentui.analyze.agreement import agreement, cuts, word_spans
from tokentui.analyze.align import align
from tokentui.analyze.figures import MEASURES
from tokentui.encode import Encoding
from tokentui.presets import preset_named
from tokentui.session.compared import (
    Agreement,
    Aligned,
    ColumnAt,
    ColumnView,
    CompareSnapshot,
    Curve,
    Curves,
    EncodedToken,
    Figure,
    Measured,
    OverlapCounts,
    PairAgreement,
    PairRow,
    Parting,
    PartingSide,
    PartingView,
    Passage,
    Position,
    Row,
    TokenInBoth,
    VocabularyLook,
    VocabularyRows,
    WhyView,
)
from tokentui.ui.app import ExplorerApp
from tokentui.ui.compare.link import Publish
from tokentui.ui.compare.screen import CompareScreen

AT = Position("merges", 128)
NAMES = ("gpt2", "wordpiece", "bert", "llama2")
KEYS = (7, 3, 5, 9)
"""The keys of the columns, in no order of their own."""
ROWS = (
    "The| crowd| in| the| st|reet|, un|happ|iness", "Th|e| cr|o|w|d| in| th|e| str|e|et|,| u|nh|a|pp|in|ess",
    "The| crow|d| in| the| street|,| un|happi|ness", "T|h|e| |crowd| i|n| the| st|reet|, un|happ|iness",
)
PARTINGS = (
    Parting(" unhappy", 91, (" un", "happy"), (" u", "nh", "appy")),
    Parting("日本 \x1b[2J", 12, ("日", "本 \x1b[2J"), ("日本 \x1b[2J",)),
)
SCORED = tuple(
    dataclasses.replace(row, left_uses=1_204 + n, right_uses=261 * (n + 1), score=row.count / (1_204 + n) / 261 / (n + 1))
    for n, row in enumerate(PAIRS[:9])
)


def encoding(row: str) -> Encoding:
    """An encoding into the stretches between bars."""
    tokens = tuple(row.split("|"))
    ends = [sum(map(len, tokens[: n + 1])) for n in range(len(tokens))]
    ids = tuple(100 + len(token) for token in tokens)
    pieces = tuple(token.encode("utf-8", "surrogateescape") for token in tokens)
    return Encoding("".join(tokens), ids, tokens, pieces, tuple(zip([0, *ends], ends, strict=False)), (0,) * len(tokens), ())


def aligned(rows: Sequence[str], keys: Sequence[int] = KEYS, passage: Passage | None = None) -> Aligned:
    """Rows with bars between their tokens, under each other."""
    found = [encoding(row) for row in rows]
    keys = tuple(keys[: len(rows)])
    text = found[0].text if found else ""
    words = word_spans(text)
    pairs = tuple(
        PairAgreement(keys[a], keys[b], agreement(cuts(found[a]), cuts(found[b]), words))
        for a, b in combinations(range(len(found)), 2)
    )
    tokens = tuple(
        tuple(
            EncodedToken(number, token, piece, start, end, 0)
            for number, token, piece, (start, end) in zip(e.ids, e.tokens, e.pieces, e.offsets, strict=True)
        )
        for e in found
    )
    return Aligned(text, passage, keys, align(found) if found else None, tokens, len(text.encode("utf-8", "replace")), pairs)


def column(place: int, **changes: Any) -> ColumnView:
    """A column in the middle of a run."""
    name = NAMES[place]
    recipe = preset_named(name).recipe
    pairs = SCORED if recipe.objective == "score" else PAIRS
    at = ColumnAt(
        step=128, known=640, target=1000, tokens=402_118 + 31_007 * place, start_tokens=621_004,
        bytes_per_token=2.93 - 0.3 * place, vocab_size=384 - 61 * place, pairs=pairs, pairs_top=0, pairs_total=len(pairs),
        why=WhyView(pairs[0], pairs[1], 1, pairs[0].count, recipe.tie, None), last=pairs[0], last_id=104,
    )
    view = ColumnView(KEYS[place], name, f"{name}, a column", recipe, "", "", None, at)
    inner = {key: value for key, value in changes.items() if hasattr(at, key)}
    outer = {key: value for key, value in changes.items() if key not in inner}
    return dataclasses.replace(view, **{"at": dataclasses.replace(at, **inner), **outer})


def side(pairs: tuple[PairRow, ...], tied: int = 1) -> PartingSide:
    """A side of a parting."""
    return PartingSide(pairs[0], None, None, pairs, tied, "first-seen", 621_004, 256)


def measured(count: int, at: Position = AT, corpus: str = "crime_and_punishment.txt") -> Measured:
    """Figures that tell their row and their column."""
    rows = []
    for n, measure in enumerate(MEASURES):
        under = (*measure.fixed, *((name, "whitespace" if name == "splitter" else "2.5") for name in measure.under))
        values = [round(1.0 + n + place / 8, 4) if n % 5 else 402_118 + 1_000 * place for place in range(count)]
        rows.append(Row(measure, under, tuple(Figure(measure, under, "x", value) for value in values)))
    agreements = tuple(
        PairAgreement(a, b, Agreement(1_000, 1_400, 900, 1_300, 850, 200, 90), PARTINGS)
        for a, b in combinations(KEYS[:count], 2)
    )
    return Measured(at, corpus, KEYS[:count], tuple(rows), (), agreements)


def curves(count: int, held_out: bool = False) -> Curves:
    """Falling curves, one below the other."""
    steps = tuple(range(0, 641, 20))
    series = []
    for held in (False, True)[: 1 + held_out]:
        for place in range(count):
            tokens = tuple(int((621_004 - 40_000 * place) / (1 + step / 400)) // (1 + held) for step in steps)
            bits = tuple(count * 9.5 for count in tokens)
            shares = tuple(1 - step / 2000 for step in steps)
            series.append(Curve(KEYS[place], held, steps, tokens, tuple(1_177_810 / one for one in tokens), bits, shares))
    return Curves(640, tuple(series), tuple((key, 128) for key in KEYS[:count]))


def listed(look: VocabularyLook, total: int = 300, at: Position = AT) -> VocabularyRows:
    """Tokens of a list from `look.top` on, each with its number."""
    rows = tuple(
        TokenInBoth(f"t{look.part}{n}".encode(), n, n + 50 if look.part == "common" else None, 900 - n, n % 3)
        for n in range(look.top, min(total, look.top + look.rows))
    )
    return VocabularyRows(at, look, total, rows)


def snapshot(count: int = 2, **changes: Any) -> CompareSnapshot:
    """A snapshot of so many columns, with other values where given."""
    pairs = list(combinations(KEYS[:count], 2))
    found = CompareSnapshot(
        version=1, corpus_name="crime_and_punishment.txt", corpus_bytes=1_177_810, held_out="", position=AT, goal=None,
        running=False, speed=60, ended=False, columns=tuple(column(n) for n in range(count)), aligned=aligned(ROWS[:count]),
        partings=tuple(PartingView(a, b, 4, 5, (side(PAIRS), side(SCORED, 4)), None, True) for a, b in pairs),
        overlaps=tuple(OverlapCounts(AT, a, b, 88, 296, 113, 0.177, 91, 290, 110, 0.1853) for a, b in pairs),
        measured=measured(count), curves=curves(count), engine="compiled",
    )
    return dataclasses.replace(found, **changes)


class FakeComparison:
    """Records commands. `answers` maps a type of command to what it is answered by; an exception is raised later."""

    def __init__(self, publish: Publish, count: int = 2) -> None:
        self.publish = publish
        self.count = count
        self.sent: list[Any] = []
        self.answers: dict[type, Any] = {}
        self.closed = False
        self._version = 0

    async def start(self) -> None:
        """Show a first snapshot."""
        self.show()

    async def close(self) -> None:
        """Note it."""
        self.closed = True

    def send(self, command: Any) -> asyncio.Future[Any]:
        """Note it, and answer."""
        self.sent.append(command)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        answer = self.answers.get(type(command))
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future

    def show(self, count: int | None = None, **changes: Any) -> None:
        """Publish a snapshot."""
        self._version += 1
        self.count = count or self.count
        self.publish(snapshot(self.count, **{"version": self._version, **changes}))

    def of(self, kind: type) -> list[Any]:
        """The commands of a type, in order."""
        return [command for command in self.sent if isinstance(command, kind)]


@asynccontextmanager
async def comparing(
    size: tuple[int, int] = (120, 40), count: int = 2, typed: str = ""
) -> AsyncIterator[tuple[ExplorerApp, CompareScreen, FakeComparison, Pilot[None]]]:
    """Compare over the main screen of an app, with its first snapshot shown."""
    app, _ = explorer()
    held: list[FakeComparison] = []

    async def make(publish: Publish) -> FakeComparison:
        held.append(FakeComparison(publish, count))
        return held[0]

    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.main.snapshot)
        screen = CompareScreen(make, typed)
        app.push_screen(screen)
        await until(pilot, lambda: screen.snapshot is not None and (screen.has_class("tiny") or screen.focused is not None))
        yield app, screen, held[0], pilot
