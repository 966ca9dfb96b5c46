"""The settings of the user: the values that each may have, and how each takes effect."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from textual.notifications import SeverityLevel as Severity

from tokentui.core.jobs import report_failure
from tokentui.core.safetext import GLYPH_MODES, GlyphMode, safe
from tokentui.session.persist.settings_file import keep_setting
from tokentui.session.views import FIRST_SPEED, SPEEDS, VOCABULARY_ORDERS
from tokentui.ui.draw.running import CYCLE, Boundaries
from tokentui.ui.draw.text import DARK_NAME, LIGHT_NAME

Value = str | int | bool
MOST_TYPED = 2000
"""The maximum number of characters of a sentence that is kept."""
SEEN = "first_screen_seen"
"""The setting that says that the first screen was left."""
_OWN = DARK_NAME, LIGHT_NAME
_TERMINAL = "ansi-dark", "ansi-light"
"""Textual's names of the themes that leave the sixteen colors to the terminal."""


def theme_groups(known: Iterable[str]) -> tuple[tuple[str, Sequence[str]], ...]:
    """Return groups of themes as (title, names): the program's own, the terminal's, and the others of
    `known`."""
    others = sorted({*known} - {*_OWN, *_TERMINAL})
    return ("Made for this program", _OWN), ("The terminal's own", _TERMINAL), ("Others", others)


class Adjustable(Protocol):
    """An app whose settings can be changed."""

    theme: str

    @property
    def available_themes(self) -> Mapping[str, object]:
        """The themes by name."""

    def say(self, text: str, severity: Severity = "information") -> None:
        """Show a message for some seconds."""

    def set_speed(self, speed: int | None) -> None:
        """Run so many units a second; None for as fast as it can."""

    def set_view(self, mode: GlyphMode) -> None:
        """Show tokens in another way, on all screens of the user's session."""

    def mark_by(self, boundaries: Boundaries | None) -> None:
        """Mark tokens by chips, shades or bars; None for the usual mark of the terminal."""

    def sort_by(self, order: str) -> None:
        """Sort the vocabulary by one of `VOCABULARY_ORDERS`."""

    def set_sentence(self, text: str) -> None:
        """Put a text into the line to type in."""


@dataclass(frozen=True)
class Setting:
    """A setting.

    Attributes:
        name: Its name in the file.
        title: Its name on the screen.
        default: Its value if the file has none.
        values: Returns the allowed values; none for a text of one line.
        said: Returns a value in words.
        takes_effect: Called with a new value.
    """

    name: str
    title: str
    default: Value
    values: Callable[[Adjustable], Sequence[Value]]
    said: Callable[[Value], str]
    takes_effect: Callable[[Adjustable, Value], object]

    def takes(self, app: Adjustable, value: object) -> bool:
        """Return whether a value is allowed, also by its type; a text must be one line of at most
        `MOST_TYPED` characters."""
        if values := self.values(app):
            return any(value == allowed and type(value) is type(allowed) for allowed in values)
        return isinstance(value, str) and len(value) <= MOST_TYPED and value.splitlines() in ([], [value])


def _themes(app: Adjustable) -> Sequence[Value]:
    known = app.available_themes
    return [name for _, names in theme_groups(known) for name in names if name in known]


def _theme(app: Adjustable, value: Value) -> None:
    app.theme = str(value)


def speed_name(speed: int | None) -> Value:
    """Return a speed as the file has it: units per second, `max` for None."""
    return "max" if speed is None else speed


_SENTENCE = Setting(
    "sentence", "sentence to encode", "The crowd in the street", lambda _: (), str,
    lambda app, value: app.set_sentence(str(value)),
)
_ALL: tuple[Setting, ...] = (
    Setting("theme", "colors", DARK_NAME, _themes, str, _theme),
    Setting("speed", "speed of a run", FIRST_SPEED, lambda _: tuple(map(speed_name, SPEEDS)),
        lambda speed: f"{speed:,} a second" if isinstance(speed, int) else "as fast as it can",
        # Not relative to the speed on the screen, which may be older than the last change.
        lambda app, value: app.set_speed(next(speed for speed in SPEEDS if speed_name(speed) == value))),
    Setting("view", "how tokens are shown", "text", lambda _: GLYPH_MODES, str,
        lambda app, value: app.set_view(next(mode for mode in GLYPH_MODES if mode == value))),
    Setting("boundaries", "boundaries in the corpus", "auto", lambda _: ("auto", *CYCLE),
        lambda mark: {"auto": "chips, or bars without colors", "shade": "shades"}.get(str(mark), str(mark)),
        lambda app, value: app.mark_by(next((mark for mark in CYCLE if mark == value), None))),
    Setting("order", "order of the vocabulary", "newest", lambda _: VOCABULARY_ORDERS, str,
        lambda app, value: app.sort_by(str(value))),
    _SENTENCE,
    Setting("price", "price of a million tokens", "", lambda _: (), lambda price: str(price) or "none",
        lambda app, value: None),
    Setting(SEEN, "first screen", False, lambda _: (False, True),
        lambda seen: "is not shown" if seen else "is shown at the next start", lambda app, value: None),
)
SETTINGS: dict[str, Setting] = {setting.name: setting for setting in _ALL}
"""The settings by name, in the order in which they are listed."""


class UserSettings:
    """The settings in effect, and the file that keeps them.

    Args:
        app: The program.
        found: What the file holds by name: nothing of it is trusted.
        wrong: What is wrong with the file; empty for nothing.
    """

    def __init__(self, app: Adjustable, found: Mapping[str, object], wrong: str = "") -> None:
        self._app, self._found, self.wrong = app, dict(found), wrong
        self.keys: object = self._found.pop("keys", None)
        """The table of the user's keys, unchecked; None if there is none. It is changed in the file alone."""
        self._waiting: dict[str, Value] = {}
        self._lock = threading.Lock()
        self._writes: set[asyncio.Task[None]] = set()

    def value_of(self, setting: Setting) -> Value:
        """Return the value of a setting: the saved one if it is allowed, otherwise the default."""
        value = self._found.get(setting.name)
        if isinstance(value, str | int) and setting.takes(self._app, value):
            return value
        return setting.default

    @property
    def sentence(self) -> str:
        """The initial sentence of the encode pane."""
        return str(self.value_of(_SENTENCE))

    def take_effect(self) -> None:
        """Apply each setting that the file has, except the sentence. Show a warning for unknown names and
        values."""
        names = [safe(name, limit=30) for name in self._found if name not in SETTINGS]
        for setting in SETTINGS.values():
            if setting.name not in self._found:
                continue
            if setting.takes(self._app, self._found[setting.name]):
                if setting is not _SENTENCE:  # the line of the app holds it from the start
                    setting.takes_effect(self._app, self.value_of(setting))
            else:
                names.append(setting.name)
        if names:
            listed = ", ".join(names[:5]) + (" …" if names[5:] else "")
            self.wrong = self.wrong or f"settings that are not understood: {listed}; the defaults are used"
        if self.wrong:
            self._app.say(self.wrong, "warning")

    def values_of(self, setting: Setting) -> Sequence[Value]:
        """Return the allowed values of a setting; none for a text of one line."""
        return setting.values(self._app)

    def change(self, setting: Setting, value: Value) -> None:
        """Set a setting to a value, which is not checked; apply it, and save it in a thread."""
        self._found[setting.name] = value
        setting.takes_effect(self._app, value)
        self.keep(setting.name, value)

    def keep(self, name: str, value: Value) -> None:
        """Set a value by name, and save it in a thread, without applying it."""
        self._found[name] = value
        with self._lock:
            self._waiting[name] = value
        writing = asyncio.create_task(self._write_later())
        self._writes.add(writing)
        writing.add_done_callback(self._writes.discard)
        writing.add_done_callback(report_failure)

    async def _write_later(self) -> None:
        if problem := await asyncio.to_thread(self._write):
            self._app.say(problem, "warning")

    def _write(self) -> str:
        """Write the waiting values to the file. Return what went wrong, "" for nothing. Of several writes of
        a name the last one counts, whichever thread comes first."""
        with self._lock:
            waiting, self._waiting = self._waiting, {}
            return "; ".join(filter(None, [keep_setting(name, value) for name, value in waiting.items()]))
