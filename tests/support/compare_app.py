"""Compare on a session that records what it is asked, with snapshots made by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import combinations
from typing import Any

from rows import pair_row, traits_of
from screens import PAIRS, explorer
from textual.pilot import Pilot
from waiting import settled, until

from tokentui.analyze.align import align
from tokentui.analyze.compare import (
    Agreement,
    DifferentCut,
    Overlap,
    PairAgreement,
    agreement,
    cuts,
    word_spans,
)
from tokentui.analyze.metrics import MEASURES, Figure, MeasureRow
from tokentui.analyze.results import DivergenceSide
from tokentui.encode.encoding import EncodedToken, Encoding
from tokentui.learn import Page, PairCandidate, Why
from tokentui.preset_table import preset_named
from tokentui.recipe import Ending
from tokentui.session.snapshot import (
    Agreed,
    Aligned,
    Between,
    CorpusFacts,
    Curve,
    Curves,
    DivergenceView,
    Measured,
    SharedTokens,
    Snapshot,
    TokenInBoth,
    TokensInBoth,
)
from tokentui.session.views import AtStep, ColumnSnapshot, Passage, Position, TokenList
from tokentui.ui.app import ExplorerApp
from tokentui.ui.compare_screen import CompareScreen

AT = Position("merges", 128)
NAMES = ("gpt2", "wordpiece", "bert", "llama2")
KEYS = (7, 3, 5, 9)
"""The keys of the columns, in no order of their own."""
ROWS = (
    "The| crowd| in| the| st|reet|, un|happ|iness", "Th|e| cr|o|w|d| in| th|e| str|e|et|,| u|nh|a|pp|in|ess",
    "The| crow|d| in| the| street|,| un|happi|ness", "T|h|e| |crowd| i|n| the| st|reet|, un|happ|iness",
)
PARTINGS = (
    DifferentCut(" unhappy", 91, (" un", "happy"), (" u", "nh", "appy")),
    DifferentCut("日本 \x1b[2J", 12, ("日", "本 \x1b[2J"), ("日本 \x1b[2J",)),
)
SCORED = tuple(
    pair_row(
        row.left, row.right, row.token, row.count, row.change, row.new, row.tied, 1_204 + n, 261 * (n + 1)
    )
    for n, row in enumerate(PAIRS[:9])
)


def encoding(row: str) -> Encoding:
    """An encoding into the stretches between bars."""
    tokens = tuple(row.split("|"))
    ends = [sum(map(len, tokens[: n + 1])) for n in range(len(tokens))]
    ids = tuple(100 + len(token) for token in tokens)
    pieces = tuple(token.encode("utf-8", "surrogateescape") for token in tokens)
    return Encoding(
        "".join(tokens), ids, tokens, pieces, tuple(zip([0, *ends], ends, strict=False)), (0,) * len(tokens),
        (),
    )


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
    return Aligned(
        text, passage, keys, align(found) if found else None, tokens, len(text.encode("utf-8", "replace")),
        pairs,
    )


def rows_of(place: int) -> tuple[PairCandidate, ...]:
    """Candidates as the objective of a column ranks them."""
    return SCORED if preset_named(NAMES[place]).recipe.objective == "score" else PAIRS


def column(place: int, **changes: Any) -> ColumnSnapshot:
    """A column in the middle of a run; with other values where given, of itself or of its numbers."""
    name = NAMES[place]
    recipe = preset_named(name).recipe
    pairs = rows_of(place)
    at = AtStep(
        step=128, computed=640, end=Ending(1000, "stop"), tokens=402_118 + 31_007 * place,
        start_tokens=621_004,
        bytes_per_token=2.93 - 0.3 * place, vocab_size=384 - 61 * place, last=pairs[0], last_id=104,
    )
    view = ColumnSnapshot(
        KEYS[place], name, f"{name}, a column", recipe, name, at=at, candidates=Page(pairs, 0, len(pairs)),
        why=Why(pairs[0], pairs[1], 1, pairs[0].places, recipe.tie), traits=traits_of(recipe),
    )
    inner = {key: value for key, value in changes.items() if hasattr(at, key)}
    outer = {key: value for key, value in changes.items() if key not in inner}
    return dataclasses.replace(view, **{"at": dataclasses.replace(at, **inner), **outer})


def side(pairs: tuple[PairCandidate, ...], tied: int = 1) -> DivergenceSide:
    """A side of a parting."""
    return DivergenceSide(
        Why(pairs[0], None, tied, 0, "first-seen"), Page(pairs, 0, len(pairs)), 621_004, 256
    )


def overlap(*counts: int) -> Overlap:
    """An overlap of so many tokens: of both, of the first alone, of the second alone."""
    return Overlap(*((b"",) * count for count in counts))


def measured(count: int, at: Position = AT, corpus: str = "crime_and_punishment.txt") -> Measured:
    """Figures that tell their row and their column."""
    rows = []
    for n, measure in enumerate(MEASURES):
        under = (
            *measure.fixed,
            *((name, "whitespace" if name == "splitter" else "2.5") for name in measure.under),
        )
        values = [
            round(1.0 + n + place / 8, 4) if n % 5 else 402_118 + 1_000 * place for place in range(count)
        ]
        rows.append(MeasureRow(measure, under, tuple(Figure(value, measure.digits) for value in values)))
    return Measured(at, corpus, KEYS[:count], tuple(rows), ())


def agreed(count: int, at: Position = AT) -> Agreed:
    """The same agreement of each two columns."""
    figures = Agreement(1_000, 1_400, 900, 1_300, 850, 200, 90)
    return Agreed(
        at, tuple(PairAgreement(a, b, figures, PARTINGS) for a, b in combinations(KEYS[:count], 2))
    )


def curves(count: int, held_out: bool = False) -> Curves:
    """Falling curves, one below the other."""
    steps = tuple(range(0, 641, 20))
    series = []
    for held in (False, True)[: 1 + held_out]:
        for place in range(count):
            tokens = tuple(int((621_004 - 40_000 * place) / (1 + step / 400)) // (1 + held) for step in steps)
            bits = tuple(count * 9.5 for count in tokens)
            shares = tuple(1 - step / 2000 for step in steps)
            series.append(
                Curve(
                    KEYS[place], held, steps, tokens, tuple(1_177_810 / one for one in tokens), bits, shares
                )
            )
    return Curves(640, tuple(series), tuple((key, 128) for key in KEYS[:count]))


def listed(look: TokenList, total: int = 300, at: Position = AT) -> TokensInBoth:
    """Tokens of a list from `look.top` on, each with its number."""
    rows = tuple(
        TokenInBoth(f"t{look.part}{n}".encode(), n, n + 50 if look.part == "common" else None, 900 - n, n % 3)
        for n in range(look.top, min(total, look.top + look.rows))
    )
    return TokensInBoth(at, look, total, rows, whole=512)


def snapshot(count: int = 2, **changes: Any) -> Snapshot:
    """A snapshot of so many columns, with other values where given: of itself, of its corpus, of what is
    between columns."""
    pairs = list(combinations(KEYS[:count], 2))
    facts = CorpusFacts("crime_and_punishment.txt", 1_177_810)
    between = Between(
        aligned=aligned(ROWS[:count]),
        divergences=tuple(
            DivergenceView(
                a, b, 4, 5, (side(rows_of(KEYS.index(a))), side(rows_of(KEYS.index(b)), 4)), None, True
            )
            for a, b in pairs
        ),
        overlaps=tuple(
            SharedTokens(AT, a, b, (overlap(88, 296, 113), overlap(91, 290, 110))) for a, b in pairs
        ),
        measured=measured(count), agreed=agreed(count), curves=curves(count),
    )
    found = Snapshot(1, facts, tuple(column(n) for n in range(count)), AT, speed=60, engine="compiled")
    corpus = {
        key.removeprefix("corpus_"): value for key, value in changes.items() if key.startswith("corpus_")
    }
    inner = {key: value for key, value in changes.items() if key in Between.__dataclass_fields__}
    outer = {
        key: value for key, value in changes.items() if key not in inner and not key.startswith("corpus_")
    }
    return dataclasses.replace(
        found, corpus=dataclasses.replace(facts, **corpus), between=dataclasses.replace(between, **inner),
        **outer,
    )


@asynccontextmanager
async def comparing(
    size: tuple[int, int] = (120, 40), count: int = 2, typed: str = ""
) -> AsyncIterator[tuple[ExplorerApp, CompareScreen, FakeComparison, Pilot[None]]]:
    """Compare over the main screen of an app, with its first snapshot shown."""
    app, _ = explorer()
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        session = FakeComparison(app, count)
        screen = CompareScreen(app.engine, typed)
        app.push_screen(screen, lambda _: setattr(session, "closed", True))
        session.show()
        await until(
            pilot,
            lambda: screen.snapshot is not None and (screen.has_class("tiny") or screen.focused is not None),
        )
        yield app, screen, session, pilot


class FakeComparison:
    """The session that an app has, which records commands and shows columns.

    Args:
        app: The app.
        count: How many columns there are.
    """

    def __init__(self, app: ExplorerApp, count: int = 2) -> None:
        self._session: Any = app.engine.session
        self.count = count
        self.closed = False
        self.version = 100

    @property
    def sent(self) -> list[Any]:
        """The commands, in order."""
        sent: list[Any] = self._session.sent
        return sent

    @property
    def answers(self) -> dict[type, Any]:
        """What a type of command is answered by."""
        answers: dict[type, Any] = self._session.answers
        return answers

    def show(self, count: int | None = None, **changes: Any) -> None:
        """Publish a snapshot."""
        self.version += 1
        self.count = count or self.count
        self._session.publish(snapshot(self.count, **{"version": self.version, **changes}))

    def of(self, kind: type) -> list[Any]:
        """The commands of a type, in order."""
        return [command for command in self.sent if isinstance(command, kind)]


async def draw(
    screen: CompareScreen, session: FakeComparison, pilot: Pilot[None], **changes: Any
) -> Snapshot:
    """Publish a snapshot, and wait until it is shown."""
    session.show(**changes)
    await until(pilot, lambda: screen.snapshot is not None and screen.snapshot.version == session.version)
    await pilot.pause()
    assert screen.snapshot is not None
    return screen.snapshot
