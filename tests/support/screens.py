"""A session that records what it is asked, snapshots made by hand, and screens as text."""

from __future__ import annotations

import asyncio
import dataclasses
import difflib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from renewal import renews
from rows import pair_row, token_row, traits_of
from textual.app import App
from textual.pilot import Pilot
from waiting import strips_of, until

from tokentui.axes import label
from tokentui.core.errors import TokentuiError
from tokentui.encode.encoding import EncodedToken
from tokentui.learn import Page, Why
from tokentui.recipe import Ending, Recipe
from tokentui.session.commands import Command, InspectText, InspectToken, LifeOfWord, Preview
from tokentui.session.snapshot import CorpusFacts, PreviewView, Snapshot
from tokentui.session.views import (
    AtStep,
    ColumnSnapshot,
    CorpusPart,
    CorpusPlace,
    CorpusView,
    CurveView,
    EncodedView,
    TokenSpan,
)
from tokentui.ui.app import ExplorerApp
from tokentui.ui.draw.picture import as_text, picture_of
from tokentui.ui.draw.running import Boundaries

KEPT = Path(__file__).resolve().parents[1] / "ui" / "screens"
"""The screens that are kept as text."""

TEXT = (
    "On an exceptionally hot evening early in July a young man came out of the garret in which he lodged "
    "in S. Place and\n"
    "walked slowly, as though in hesitation, towards K. bridge.\n\n"
    "He had successfully avoided meeting his landlady on the staircase. His garret was under the roof of a "
    "high,\n"
    "five-storied house and was more like a cupboard than a room. The naïve café cost 5 €.\n"
)
_PIECES = (
    "the", " the", "ing", " in", " a", "an", "ed", "er", "on", " h", "ou", "re", " lod", "ally", " wh", "ich",
    " s",
)
_WORD = re.compile(r" ?\w+| ?[^\w\s]+|\s")


def spans(word: str, fresh: str = " the") -> tuple[TokenSpan, ...]:
    """A word cut by a few known pieces, from the left; characters that are not ASCII as their bytes."""
    out: list[TokenSpan] = []
    at = 0
    while at < len(word):
        size = next((len(p) for p in sorted(_PIECES, key=len, reverse=True) if word.startswith(p, at)), 1)
        piece = word[at : at + size]
        if size == 1 and not piece.isascii():
            out += [TokenSpan(at, at + 1, False, True)] * len(piece.encode("utf-8", "surrogateescape"))
        else:
            out.append(TokenSpan(at, at + size, piece == fresh, False))
        at += size
    return tuple(out)


def view(text: str = TEXT, document: int = 0) -> CorpusView:
    """A document as the corpus pane shows it."""
    parts = tuple(
        CorpusPart(CorpusPlace(document, m.start()), m.group(), spans(m.group()))
        for m in _WORD.finditer(text)
    )
    return CorpusView(CorpusPlace(document, 0), parts, True, True, 0.0)


def encoded(text: str = "The crowd in the street") -> EncodedView:
    """A typed text in tokens."""
    tokens: list[EncodedToken] = []
    for word, match in enumerate(_WORD.finditer(text)):
        for span in spans(match.group()):
            piece = match.group()[span.start : span.end]
            start, end = match.start() + span.start, match.start() + span.end
            tokens.append(EncodedToken(100 + 7 * len(tokens) ** 2, piece, piece.encode(), start, end, word))
    return EncodedView(text, tuple(tokens), len(text.encode()))


PAIRS = tuple(
    pair_row(left, right, left + right, count, change, new, tied)
    for left, right, count, change, new, tied in (
        (b" t", b"he", 9310, 0, False, False),
        (b"an", b"d", 8852, -458, False, False),
        (b" a", b"n", 7120, 12, False, False),
        (b" h", b"e", 6530, 0, False, True),
        (b"in", b"g", 6530, 6530, True, True),
        (b"\xe2", b"\x82", 1200, -3, False, False),
        (b"\xc3", b"\xaf", 1117, 0, False, False),
        (b"\n", b"\n", 1004, 0, False, False),
        *((b"x", bytes([97 + n]), 900 - 11 * n, -n, False, False) for n in range(20)),
    )
)
VOCABULARY = (
    token_row(383, b" the", "merge", 128, 9310, 6902),
    token_row(382, b" w", "merge", 127, 6711, 6711),
    token_row(381, b"er", "merge", 126, 6508, 0),
    *(
        token_row(380 - n, bytes([97 + n % 26, 97 + n // 3]), "merge", 125 - n, 6000 - 37 * n, 5900 - 41 * n)
        for n in range(30)
    ),
    token_row(257, b"\xe2\x82\xac", "merge", 2, 7, 5),
    token_row(1, b"A", "byte", None, None, 1040),
    token_row(0, b"<|endoftext|>", "special", None, None, None),
)
_CURVE = tuple(int(402118 + (621004 - 402118) / (1 + n / 4)) for n in range(64))


_AT = {field.name for field in dataclasses.fields(AtStep)}
_PAGES: dict[str, tuple[str, str]] = {
    "pairs": ("candidates", "rows"), "pairs_top": ("candidates", "top"),
    "pairs_total": ("candidates", "total"), "vocabulary": ("vocabulary", "rows"),
    "vocabulary_top": ("vocabulary", "top"), "vocabulary_total": ("vocabulary", "total"),
    "vocabulary_order": ("vocabulary", "order"), "curve": ("curve", "points"), "curve_end": ("curve", "end"),
}
"""Values of sections, by the names that tests give them."""
_CORPUS = {"corpus_name": "name", "corpus_bytes": "bytes", "notes": "notes", "nothing": "nothing"}


def snapshot(**changes: Any) -> Snapshot:
    """A snapshot in the middle of a run, with other values where given: of itself, of its column, of the
    column's sections."""
    values: dict[str, Any] = {
        "corpus_name": "crime_and_punishment.txt", "corpus_bytes": 1_177_810, "occurrences": 206_552,
        "distinct": 15_004, "preset": "gpt2", "name": "gpt2", "about": label(changes.get("recipe", Recipe())),
        "step": 128, "computed": 1000, "end": Ending(1000, "stop"), "tokens": 402_118,
        "start_tokens": 621_004,
        "vocab_size": 384, "speed": 60, "last": PAIRS[0], "last_id": 383, "pairs": PAIRS,
        "pairs_total": len(PAIRS), "why": Why(PAIRS[0], PAIRS[1], 1, 9310, "lowest-ids"),
        "vocabulary": VOCABULARY, "vocabulary_order": "newest", "corpus": view(), "encoding": encoded(),
        "curve": _CURVE, "curve_end": 1000,
    }
    if "vocabulary" not in changes:
        values["vocab_size"] = values["vocabulary_total"] = len(VOCABULARY)
    values |= changes
    rounds = values["why"].round if values.get("vocabulary_order", "newest") == "newest" else None
    values.setdefault(
        "vocabulary_total", values["vocab_size"] + (rounds.taken or rounds.dropped if rounds else 0)
    )
    facts: dict[str, Any] = {}
    at: dict[str, Any] = {}
    column: dict[str, Any] = {}
    sections: dict[str, dict[str, Any]] = {}
    own: dict[str, Any] = {"version": 1}
    for name, value in values.items():
        if name in _CORPUS:
            facts[_CORPUS[name]] = value
        elif name in _AT:
            at[name] = value
        elif name in _PAGES:
            section, field = _PAGES[name]
            sections.setdefault(section, {})[field] = value
        elif name in ColumnSnapshot.__dataclass_fields__:
            column[name] = value
        else:
            own[name] = value
    column.setdefault("traits", traits_of(column.get("recipe", Recipe())))
    main = ColumnSnapshot(
        at=AtStep(**at), candidates=Page(**sections["candidates"]), vocabulary=Page(**sections["vocabulary"]),
        curve=CurveView(**sections["curve"]), **column,
    )
    return Snapshot(corpus=CorpusFacts(**facts), columns=(main,), **own)


class FakeSession:
    """Records commands.

    `answers` maps a type of command to what it is answered by; an exception is raised later.
    """

    def __init__(self, publish: Callable[[Snapshot], None]) -> None:
        self.publish = publish
        self.sent: list[Command[object]] = []
        self.answers: dict[type, Any] = {
            Preview: PreviewView((), (), "no pair is left", 0),
            InspectText: TokentuiError("there is no text"),
            InspectToken: TokentuiError("there is no token"),
            LifeOfWord: TokentuiError("there is no word"),
        }
        self.closed = False
        self.version = 0

    async def start(self) -> None:
        """Show a first snapshot."""
        self.show()

    async def close(self) -> None:
        """Note it."""
        self.closed = True

    def send(self, command: Command[object]) -> asyncio.Future[Any]:
        """Note it, and answer."""
        self.sent.append(command)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        answer = self.answers.get(type(command))
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future

    def show(self, **changes: Any) -> None:
        """Publish a snapshot."""
        self.version += 1
        self.publish(snapshot(**{"version": self.version, **changes}))

    def of(self, kind: type) -> list[Any]:
        """The commands of a type, in order."""
        return [command for command in self.sent if isinstance(command, kind)]


def explorer(
    boundaries: Boundaries | None = "shade", typed: str = "", **changes: Any
) -> tuple[ExplorerApp, FakeSession]:
    """An app on a session that only records."""
    held: list[FakeSession] = []

    def factory(publish: Callable[[Snapshot], None]) -> FakeSession:
        held.append(FakeSession(publish))
        return held[0]

    app = ExplorerApp(cast(Any, factory), boundaries=boundaries, typed=typed, **changes)
    return app, _Later(held)  # type: ignore[return-value]


class _Later:
    """Stands for a session until the app has made it."""

    def __init__(self, held: list[FakeSession]) -> None:
        self._held = held

    def __getattr__(self, name: str) -> Any:
        return getattr(self._held[0], name)


def screen_text(app: App[Any]) -> str:
    """The screen that is seen, line by line, without blanks at the ends of lines."""
    return "\n".join(strip.text.rstrip() for strip in strips_of(app)) + "\n"


async def check_kept(pilot: Pilot[Any], name: str) -> None:
    """Compare the screen with the one that is kept under a name, or keep it if `TOKENTUI_KEEP` names it.

    The screen must be at rest.

    Raises:
        AssertionError: It is not the kept one. The message lists the lines that differ.
    """
    shown, path = as_text(picture_of(pilot.app)), KEPT / f"{name}.txt"
    if renews(path.name):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = difflib.unified_diff(kept.splitlines(), shown.splitlines(), "kept", "shown", lineterm="", n=0)
    assert shown == kept, f"{name} is another screen:\n" + "\n".join(lines)


async def draw(app: ExplorerApp, session: FakeSession, pilot: Pilot[Any], **changes: Any) -> str:
    """Publish a snapshot and wait until it is shown. Returns the screen."""
    session.show(**changes)
    await until(
        pilot, lambda: app.main.snapshot is not None and app.main.snapshot.version == session.version
    )
    await pilot.pause()
    return screen_text(app)
