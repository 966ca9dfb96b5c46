"""The two walls between data and a terminal, each taken away; and what must hold of a screen whichever of
them stands."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
import unicodedata
from typing import Any, Literal

import hostile
import pytest
from grammar import is_clean, parse
from rich.color import ColorSystem
from rich.style import Style
from textual._compositor import LayoutUpdate
from textual.app import App
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from waiting import strips_of

import tokentui.ui
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import CharKind, CharRun, Cluster
from tokentui.thinwire import DiffWriter, SafeTextFilter, ScreenBuffer
from tokentui.ui.app import ExplorerApp
from tokentui.ui.draw.text import clusters_of

Walls = Literal["both", "no guard", "no safe text"]
WALLS: tuple[Walls, ...] = ("both", "no guard", "no safe text")
ALONE: tuple[Walls, ...] = WALLS[1:]
"""Each wall alone. Both together are the easier case, which long runs try too."""
MOST_MARKS = 8
"""The most marks on one character that a terminal is given."""
_WIRED = 6
"""Of so many screens one is turned into bytes as well: what they are made of is the lines that are looked at
each time."""
_SCROLLS = {"grab", "release", "scroll_up", "scroll_down"}


def _text(data: bytes | str) -> str:
    return data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data


def _safe(data: bytes | str, *, limit: int | None = None, ascii_only: bool = False) -> str:
    return _text(data)[:limit]


def _safe_line(error: BaseException | str, *, limit: int = 2000, ascii_only: bool = False) -> str:
    return str(error)[:limit]


def _visible(
    data: bytes | str, *, mode: str = "text", ascii_only: bool = False, limit: int | None = None
) -> tuple[CharRun, ...]:
    return (CharRun(_text(data)[:limit], CharKind.text),) if data else ()


def _shown(cluster: Cluster, mode: str) -> tuple[CharRun, ...]:
    return (CharRun(cluster.text, CharKind.text),)


_HOLLOW = {
    "shown": _shown,
    "safe": _safe, "safe_line": _safe_line, "visible": _visible, "is_safe": lambda text: True,
    "stand_in": lambda char: char,
    "replace": lambda text: text,
}  # fmt: skip


_OF_THE_GUARD = {"is_safe", "stand_in", "replace"}
"""The functions that the guard calls, in the module where it stands."""


def stand(walls: Walls, patch: pytest.MonkeyPatch) -> None:
    """Let only these walls stand, with caches of their own: no other test sees what is drawn without one."""
    for found in pkgutil.walk_packages(tokentui.ui.__path__, "tokentui.ui."):
        importlib.import_module(found.name)  # none is imported later, with what stands here
    fresh: dict[object, object] = {}
    for name, module in list(sys.modules.items()):
        for key, kept in list(vars(module).items()) if name.startswith("tokentui.ui") else ():
            if hasattr(kept, "cache_clear"):
                patch.setattr(module, key, fresh.setdefault(kept, functools.lru_cache(kept.__wrapped__)))
    if walls == "no guard":
        patch.setattr(SafeTextFilter, "apply", lambda self, segments, background: segments)
    elif walls == "no safe text":
        for name, module in list(sys.modules.items()):
            if name.startswith("tokentui.ui"):
                for hollow, function in _HOLLOW.items():
                    if name == "tokentui.ui.draw.text" and hollow in _OF_THE_GUARD:
                        continue
                    kept = getattr(module, hollow, None)
                    if getattr(kept, "__module__", None) in (
                        "tokentui.core.safetext", "tokentui.ui.draw.text",
                    ):
                        patch.setattr(module, hollow, function)


class Tripwire:
    """Notes what data should never bring about."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.sprung: list[Any] = []
        self.checks = 0
        self._plain: set[Style] = set()
        """The styles that were looked at."""
        patch.setattr(ExplorerApp, "action_sprung", lambda _, *args: self.sprung.append(args), raising=False)

    def check(self, app: App[Any]) -> None:
        """Every line of the screen: clean text, no links, no actions, no colors of data; nothing was done by
        data."""
        assert app._exception is None
        screen = app.screen
        strips = strips_of(app)
        for strip in strips:
            self._check_strip(strip)
        self.checks += 1
        if self.checks % _WIRED == 1:
            picture = ScreenBuffer(*screen.size, ColorSystem.EIGHT_BIT, clusters_of)
            picture.draw(LayoutUpdate([[one] for one in strips], Region(0, 0, *screen.size)))
            _, copied = parse(DiffWriter().frame(picture, (0, 0)).encode())
            assert not copied
        assert not self.sprung
        assert (app.title, app.sub_title) == ("tokentui", "")
        assert all(widget.tooltip is None for widget in screen.walk_children(Widget))

    def _check_strip(self, strip: Strip) -> None:
        for text, style, control in strip:
            assert not control
            assert is_clean(text), ascii(text[:200])
            assert piles(text) <= MOST_MARKS
            if style is None or style in self._plain:
                continue
            assert not style.link
            assert not style.blink
            assert all(
                not str(key).startswith("@") or value in _SCROLLS for key, value in style.meta.items()
            ), style.meta
            for color in (style.color, style.bgcolor):
                assert color is None or color.triplet is None or color.triplet.hex != hostile.COLOR
            self._plain.add(style)


def piles(text: str) -> int:
    """The most marks that stand on each other."""
    if text.isascii():
        return 0
    most = now = 0
    for char in text:
        now = now + 1 if unicodedata.category(char)[0] == "M" else 0
        most = max(most, now)
    return most


def refusal(text: str) -> TokentuiError:
    """An error that quotes a text everywhere."""
    return TokentuiError(f"cannot be read: {text}", text, f"try {text}")
