"""The finder: one list of all that the program knows by a name, with a preview of what the cursor is on.

Actions, presets, values of axes, settings, samples, tours and recent files are here; tokens and words of the
corpus come from the session at each letter. A letter in front filters: `>` actions, `#` ids, `@` steps, `=`
settings and axes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, ClassVar, TypeAlias

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from tokentui.axes import AXES, mended
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe
from tokentui.core.table import plural
from tokentui.preset_table import PRESETS, Preset
from tokentui.recipe import Recipe
from tokentui.session.commands import AddColumn, Command, GoToId, GoToToken, Open, Preview, Search, SetRecipe
from tokentui.session.persist.session_file import recent
from tokentui.session.snapshot import Snapshot
from tokentui.session.training.finding import FoundToken, FoundWord, Matches
from tokentui.session.views import ColumnWanted
from tokentui.text.sources import Sample, samples
from tokentui.tours.shipped import TOURS
from tokentui.ui.bindings import HANDLED, BoundAction, Hint, key_name
from tokentui.ui.dialogs import Dialog, labeled_input
from tokentui.ui.dialogs.ask import (
    ToSize,
    describe_destination,
    destination,
    go_to_token,
    place_of,
)
from tokentui.ui.dialogs.help import Sections
from tokentui.ui.dialogs.picker import in_thread
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.table import Column, Listing, TableRow, heading
from tokentui.ui.draw.text import Cell, runs
from tokentui.ui.field import Field
from tokentui.ui.guard import start_worker
from tokentui.ui.link import EngineLink, EngineScreen
from tokentui.ui.panes.column_tables import tokens
from tokentui.ui.settings import SETTINGS, Setting, UserSettings, Value
from tokentui.ui.synonyms import SYNONYMS

Act: TypeAlias = Callable[[EngineScreen[Any]], object]
"""Does what an entry stands for, on the screen that the finder was opened on."""
FILTERS = {">": "actions", "#": "ids", "@": "steps", "=": "settings and axes"}
"""The characters that filter, each with what is left."""
_NEVER_NEAR = frozenset({"action:quit", "action:quit_now"})
"""Entries that are never offered as the nearest: to take one by mistake ends the program."""
_OF_TOURS = "tour", "tours", "lesson", "lessons"
MOST_ROWS = 60
"""The maximum number of rows that are listed."""
_MOST_TOKENS, _MOST_WORDS = 12, 6
MOST_RECENT = 8
"""The maximum number of entries that are remembered."""
_BEST, _GOOD = 1.0, 3.0
"""The scores up to which a match goes before a token that is the text, and before all tokens and words."""
_ELSEWHERE = 2.0
"""What is added to the score of an action that cannot act from here."""
_MOST_EXACT = 3
_STEPS = re.compile(r"[+-]?[0-9][0-9,]*[km]?%?|end", re.ASCII | re.IGNORECASE)
_SHOWN = 60
_FIRST_STEPS = 5
_IDS = re.compile(r"\s*[0-9]{1,9}(?:[\s,]+[0-9]{1,9})+\s*", re.ASCII)
_PATIENCE_S = 0.3
"""The seconds that an answer may take before the notice says that tokens are searched."""

@dataclass(frozen=True)
class Found:
    """An entry of the finder.

    Attributes:
        id: Its id, such as `action:next`.
        kind: What it is, in a word.
        name: Its name, not safe for a terminal.
        about: What it is or does.
        act: Acts on the screen that the finder was opened on.
        filters: The characters of the filters that show it.
        keys: Its keys.
        facts: Further lines of the preview.
        cell: Its name as it is shown; empty for `name`.
        elsewhere: Why it cannot act from this screen; empty if it can.
        recipe: The recipe whose first steps are previewed; None for none.
    """

    id: str
    kind: str
    name: str
    about: str
    act: Act
    filters: str = ""
    keys: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    cell: Cell = ()
    elsewhere: str = ""
    recipe: Recipe | None = None

    @property
    def synonyms(self) -> tuple[str, ...]:
        """Everyday words that find it; all tours share some."""
        shared = _OF_TOURS if self.kind == "tour" else ()
        return (*SYNONYMS.get(self.id, "").split(), *shared)


# What there is.


def entries_of(sections: Sections, settings: UserSettings) -> Iterator[Found]:
    """Yield all entries that need no answer of the session.

    Args:
        sections: The actions that apply now, by section.
        settings: The settings of the user.
    """
    yield from _actions(sections)
    for preset in PRESETS.values():
        yield _preset(preset)
    for axis in AXES.values():
        for value in axis.values():
            if not value.text:
                yield _axis_value(axis.name, value.name, value.about)
    for setting in SETTINGS.values():
        for allowed in settings.values_of(setting):
            yield _setting(setting, allowed)
    for sample in samples():
        yield _sample(sample)
    yield _quiz()
    yield _same_file()


def _actions(sections: Sections) -> Iterator[Found]:
    """Yield an entry for each action, once by id; the action that starts a tour gives an entry of the tour.

    The entry of an action that is not on the screen says in `elsewhere` that its keys work in its pane.
    """
    seen = set[str]()
    tours = {f"tour_{tour.name}": tour for tour in TOURS}
    for action in (action for actions in sections.values() for action in actions):
        if action.id in seen:
            continue
        seen.add(action.id)
        if (tour := tours.get(action.id)) is not None:
            about = "A tour of a few minutes; your own text stays as it is"
            yield Found(f"tour:{tour.name}", "tour", tour.title, about, _runs(action), ">")
        else:
            keys = tuple(map(key_name, action.keys))
            elsewhere = "" if action.on_screen else f"{' '.join(keys)} works in its pane: close this first"
            yield Found(f"action:{action.id}", "action", action.label, action.help, _runs(action), ">", keys,
                elsewhere=elsewhere)


def _runs(action: BoundAction) -> Act:
    return lambda screen: screen.app.call_later(screen.app.run_action, action.action, screen)


def _preset(preset: Preset) -> Found:
    """Return the entry of a preset, which trains by its recipe; while columns are compared, it adds a column
    with it."""
    axes = tuple(f"{name} = {preset.recipe.axis(name)}" for name in AXES)

    def use(screen: EngineScreen[Any]) -> None:
        now = screen.engine.snapshot
        if now is not None and len(now.columns) > 1:
            wanted = ColumnWanted(preset.recipe, name=preset.name)
            screen.engine.send(AddColumn(wanted.like(now.columns)))
        else:
            screen.engine.send(SetRecipe(preset.recipe))

    return Found(f"preset:{preset.name}", "preset", preset.name, f"Train by this recipe: {preset.about}", use,
        "=", facts=(*axes, preset.source), recipe=preset.recipe)


def _axis_value(axis: str, value: str, about: str) -> Found:
    """Return the entry of a value of an axis, which trains with that value and changes other axes if
    necessary; an axis of several values gets this one alone.

    Without a snapshot it does nothing. It raises TokentuiError when it acts if no recipe fits.
    """
    def use(screen: EngineScreen[Any]) -> None:
        now = screen.engine.snapshot
        if now is None:
            return
        several = isinstance(getattr(now.main.recipe, axis), tuple)
        recipe = mended(now.main.recipe, axis, (value,) if several else value)
        if recipe is None:
            raise TokentuiError("it does not go with the other axes", f"{axis}={value}", "a changes several")
        screen.engine.send(SetRecipe(recipe))

    return Found(f"axis:{axis}={value}", "axis", f"{axis} = {value}", f"Train with {axis} {value}: {about}",
        use, "=")


def _setting(setting: Setting, value: Value) -> Found:
    """Return the entry that sets a setting to a value."""
    word = str(value).lower() if isinstance(value, bool) else str(value)
    return Found(f"setting:{setting.name}={word}", "setting", f"{setting.name} = {word}",
        f"Set {setting.title}: {setting.said(value)}",
        lambda screen: screen.app.user_settings.change(setting, value), "=")


def _sample(sample: Sample) -> Found:
    return Found(f"sample:{sample.name}", "sample", sample.name, f"Open the built-in text: {sample.title}",
        lambda screen: screen.app.open_source(Open((f"sample:{sample.name}",))),
        facts=(f"{sample.bytes:,} bytes", *_head(sample.path.read_text("utf-8", "replace"))))


def _quiz() -> Found:
    """Return the entry that copies the command `tokentui quiz`, which has no action on the screen."""
    def copy(screen: EngineScreen[Any]) -> None:
        screen.app.copy_to_clipboard("tokentui quiz")
        screen.app.say("copied: tokentui quiz · tokentui quiz --help lists its options")

    return Found("command:quiz", "command", "tokentui quiz",
        "Write a sheet of exercises about a recipe, with answers. This copies the command", copy)


def _same_file() -> Found:
    """Return the entry that compares with another tokenizer. It lists the differences of two columns; for a
    single one it asks for the other file."""
    def compare(screen: EngineScreen[Any]) -> None:
        now = screen.engine.snapshot
        action = "show_differences" if now is not None and len(now.columns) > 1 else "compare"
        screen.app.call_later(screen.app.run_action, action, screen)

    return Found("action:same_file", "action", "same file?", "Compare with another tokenizer: name its file; "
        "= then says whether it is the same, and what differs", compare, ">", keys=("c", "="))


def _typed_ids(typed: str) -> Found:
    """Return the entry that opens the playground with typed ids."""
    return Found(f"ids:{typed}", "ids", f"decode {typed}",
        "Decode these ids in the playground: there f7 puts their text in their place",
        lambda screen: screen.app.open_playground(typed, lambda text: None), "#")


def _typed_text(typed: str) -> Found:
    """Return the entry of a text that nothing has as its name: it types the text into the line of Encode."""
    return Found(f"encode:{typed}", "text", f"encode {typed}", "Encode this text: it takes the place of the "
        "typed text", lambda screen: screen.type_text(typed))


def _head(text: str) -> tuple[str, ...]:
    return tuple(line[:200] for line in text[:800].splitlines()[:8])


def _file(path: str) -> Found:
    return Found(f"file:{path}", "file", path, "Open it again",
        lambda screen: screen.app.open_file(path))


def _token(token: FoundToken) -> Found:
    """Return the entry of a token, which `#` finds too. It opens the inspector; its facts are the step that
    makes it, its uses if they are counted, and its first 40 bytes in hexadecimal."""
    made = "from the start" if token.step == 0 else f"step {token.step:,} makes it" if token.step else ""
    uses = f"{plural(token.uses, 'use')} in the corpus" if token.uses is not None else ""
    text = token.piece.decode("utf-8", "replace")
    return Found(f"token:{token.id}", "token", text, f"Inspect the token #{token.id}",
        lambda screen: _inspect(screen, token=token.id), "#",
        (f"#{token.id}",), tuple(filter(None, (made, uses, f"bytes {token.piece[:40].hex(' ')}"))),
        runs(token.piece, limit=_SHOWN))


def _inspect(
    screen: EngineScreen[Any], token: int | None = None, typed: tuple[str, int | None] | None = None
) -> None:
    """Open the inspector on a token by its id, or on a place in a text."""
    from tokentui.ui.dialogs.inspect import InspectScreen

    screen.app.push_screen(InspectScreen(screen.engine, token=token, typed=typed))


def _word(word: FoundWord) -> Found:
    """Return the entry of a word of the corpus. It opens the inspect dialog on the word, and its fact is the
    count."""
    return Found(f"word:{word.text}", "word", word.text, "Show how this word is encoded, and why",
        lambda screen: _inspect(screen, typed=(word.text, 0)),
        facts=(f"{plural(word.count, 'time')} in the corpus",), cell=runs(word.text, limit=_SHOWN))


def _step(typed: str, now: Snapshot | None) -> Found | None:
    """Return the entry that goes to a typed step, token or id; None if `destination` refuses the text, if it
    is empty, or if it is a size that changes the unit of moves.

    If no step makes a token, a message says so when the entry acts.
    """
    place = place_of(now)
    try:
        command = destination(typed, place)
        about = describe_destination(typed, place)
    except TokentuiError:
        return None
    if command is None or isinstance(command, ToSize):
        return None
    go: Command[Any] = command

    def act(screen: EngineScreen[Any]) -> None:
        if isinstance(command, GoToToken | GoToId):
            token = command.text if isinstance(command, GoToToken) else ""
            start_worker(screen.app, "go to", go_to_token, screen.app, screen.engine, command, token,
                f"no step of this run makes {typed}", None, exclusive=False)
        else:
            screen.engine.send(go)

    return Found(f"step:{typed}", "step", f"step {typed}", f"Go to {about}", act, "@")


# How well an entry matches.


class _Searched:
    """The texts of an entry that are searched, in lower case, split once for all searches.

    Args:
        entry: The entry.
    """

    def __init__(self, entry: Found) -> None:
        self.entry = entry
        self.name, self.about = entry.name.lower(), entry.about.lower()
        self.synonyms = tuple(word.lower() for word in entry.synonyms)
        self._id = entry.id.removeprefix("action:") if entry.kind == "action" else None
        self._keys = {key.lower() for key in entry.keys}
        # A word begins after a line break, which no word has: whether one begins with a text is one search.
        self._parts = _joined(re.split(r"[\s=_/-]+", self.name))
        self._synonyms = _joined(self.synonyms)
        self._all = self._parts + self._synonyms + _joined(re.split(r"[\s(),;:.=-]+", self.about))

    def score(self, wanted: str, words: Sequence[str]) -> float | None:
        """Return how well the entry matches a text, 0 for best; None if it does not match.

        Args:
            wanted: The text in lower case.
            words: Its words; without any, all entries match alike.
        """
        if not words:
            return 50.0
        name = self.name
        if wanted == name or wanted == self._id:
            return 0.0
        if wanted in self._keys:
            return 0.5
        if wanted in self.synonyms:
            return 1.0
        if name.startswith(wanted):
            return 2.0
        single = wanted == words[0]
        begins = [f"\n{word}" for word in words]
        if (single or len(words) > 1) and all(begin in self._parts for begin in begins):
            return 3.0
        if single and begins[0] in self._synonyms:
            return 4.0
        if len(wanted) > 1 and wanted in name:
            return 5.0
        if all(begin in self._all for begin in begins):
            return 6.0
        if len(wanted) > 2 and wanted in self.about:
            return 7.0
        if len(wanted) > 2 and len(words) == 1 and _in_order(wanted, name):
            return 20.0
        return None


def _joined(words: Iterable[str]) -> str:
    """Return words as one text, each after a line break."""
    return "".join(f"\n{word}" for word in words)


class Index:
    """Entries, indexed for searches.

    Args:
        entries: The entries.
    """

    def __init__(self, entries: Iterable[Found]) -> None:
        self.entries = tuple(entries)
        self._texts = list(map(_Searched, self.entries))

    def find(self, typed: str, only: str = "") -> list[tuple[float, Found]]:
        """Return all entries that match a text, each with its score, the best (lowest) first. Ignores case;
        entries that cannot act from here rank lower, and ties keep the order of entries.

        Args:
            typed: The text; empty for all entries.
            only: The character of a filter; empty for none.
        """
        wanted = typed.lower()
        words = wanted.split()
        scored = []
        for number, texts in enumerate(self._texts):
            entry = texts.entry
            if only and only not in entry.filters:
                continue
            score = texts.score(wanted, words)
            if score is not None:
                scored.append((score + _ELSEWHERE * bool(entry.elsewhere), number, entry))
        return [(score, entry) for score, _, entry in sorted(scored, key=lambda one: one[:2])]

    def nearest(self, typed: str, count: int, only: str = "") -> list[Found]:
        """Return up to `count` entries whose names or synonyms are most similar to a text, the best first.

        Leaves out those of `_NEVER_NEAR`, and those that the filter `only` hides.
        """
        wanted, matcher = typed.lower(), SequenceMatcher()
        matcher.set_seq2(wanted)

        def likeness(name: str, synonyms: Sequence[str]) -> float:
            best = 0.0
            for word in {name, *name.split(), *synonyms}:
                matcher.set_seq1(word)
                if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
                    best = max(best, matcher.ratio())
            return best

        rated = [
            (-likeness(texts.name, texts.synonyms), number, texts.entry)
            for number, texts in enumerate(self._texts)
            if (not only or only in texts.entry.filters) and texts.entry.id not in _NEVER_NEAR
        ]
        return [entry for _, _, entry in sorted(rated, key=lambda one: one[:2])[:count]]


def _in_order(wanted: str, name: str) -> bool:
    """Return whether a name contains the characters of a text in order and begins with the same one."""
    left = iter(name)
    return name[:1] == wanted[:1] and all(char in left for char in wanted)


# The dialog.


class FinderScreen(Dialog[Found]):
    """Lists entries as one types, with a preview. Its result is the chosen entry, which the caller runs; None
    if it was cancelled.

    Args:
        engine: The link to the session.
        index: The entries that need no answer of the session.
        recent: The entries used last, the newest first.
        typed: The initial text of the line.
    """

    HEADING = "Find anything"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, "do it"),
        Binding("up", "move(-1)", "row", group=Hint("row", count=2)),
        Binding("down", "move(1)", "row", group=Hint("row", count=2)),
        Binding("pageup", "page(-1)"), Binding("pagedown", "page(1)"),
        Binding("tab", "filter", "filter", id="finder.filter",
            tooltip="Show only actions, ids, steps, or settings and axes"),
    ]

    def __init__(
        self, engine: EngineLink, index: Index, recent: Sequence[Found] = (), typed: str = ""
    ) -> None:
        super().__init__(engine)
        self._index, self._recent = index, tuple(recent)
        self._files: Index | None = None
        self._found: dict[str, Found] = {}
        """The entries that are listed, by their ids."""
        self._matches = Matches()
        self._asks = False
        """True while an answer of the session is on its way."""
        self._said_slow = False
        self._steps: dict[str, tuple[Cell, ...]] = {}
        """The first steps of the presets that were looked at, by the ids of their entries."""
        self._entered = False
        """True if enter was pressed before there was a row."""
        self.field = Field(typed, placeholder="an action, a preset, a token, a number, …", select=False)
        self.listing = Listing()
        self.preview = Lines(self._preview, id="preview")
        found = Horizontal(self.listing, self.preview, id="found")
        self.parts = labeled_input(":", self.field), found, self.notice

    def on_mount(self) -> None:
        """Focus the line, and list recent entries and all actions.

        Prepares the session for searches, and lists recent files in a worker.
        """
        self.set_focus(self.field)
        self._say_filters()
        self.lay_out()
        start_worker(self, "recent", self._look_for_files)
        self._ask("")

    def _say_filters(self) -> None:
        """Show the characters of the filters in the notice."""
        filters = "   ".join(f"{sign} {what}" for sign, what in FILTERS.items())
        self.notice.say(f"in front: {filters}")

    def _say_slow(self) -> None:
        """Show in the notice that the search for tokens and words still runs; do nothing after it has ended.
        """
        if self._asks:
            self._said_slow = True
            self.notice.say(self.waits or "looking for tokens and words …")

    async def _look_for_files(self) -> None:
        self._files = Index(map(_file, await in_thread(recent)))
        self.lay_out(keep=True)

    # What is typed.

    @property
    def only(self) -> str:
        """The character of the filter at the start of the line; empty for none."""
        return self.field.value[:1] if self.field.value[:1] in FILTERS else ""

    @property
    def sought(self) -> str:
        """The typed text without the character of the filter."""
        return self.field.value.removeprefix(self.only).strip()

    def on_input_changed(self, event: Input.Changed) -> None:
        """List what matches at once, and search tokens and words unless a filter hides them."""
        self._entered, self._matches = False, Matches()
        if self.sought and self.only in ("", "#"):
            self._ask(f"#{self.sought}" if self.only and self.sought.isdecimal() else self.sought)
        self.lay_out()

    def _ask(self, text: str) -> None:
        """Search the tokens and words of the tokenizer for a text in a worker, which replaces one in
        progress, and list them. An error counts as no matches; an empty text only prepares the session.

        If enter was pressed before there was a row, choose the row under the cursor then.
        """
        async def ask() -> None:
            try:
                answer = await self.engine.ask(Search(text))
            except (TokentuiError, Cancelled):
                answer = None
            self._asks = False
            patience.stop()
            if self._said_slow:
                self._said_slow = False
                self._say_filters()
            self._matches = answer or Matches()
            if text:
                self.lay_out(keep=True)
            if self._entered:
                self.take(self.listing.cursor_key)

        self._asks = bool(text)
        patience = self.set_timer(_PATIENCE_S, self._say_slow)
        start_worker(self, "asked", ask)

    def action_filter(self) -> None:
        """Change to the next filter, and after the last one to none; the typed text stays."""
        ways = ["", *FILTERS]
        self.field.put(ways[(ways.index(self.only) + 1) % len(ways)] + self.sought)

    def action_move(self, rows: int) -> None:
        """Move the cursor of the list by rows."""
        self.listing.move(rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor of the list by pages."""
        self.listing.page(pages)

    # What is listed.

    def lay_out(self, *, keep: bool = False) -> None:
        """List what matches, and preview the row under the cursor. If nothing matches and no answer is
        awaited, list the nearest entries.

        Args:
            keep: True to leave the cursor on its row unless it is one of the first two; False to move it to
                the first row.
        """
        at = self.listing.cursor_key if keep and self.listing.cursor > 1 else None
        found = self._listed()
        rows = [self._row(entry) for entry in found[:MOST_ROWS]]
        if not rows and self.sought and not self._asks:
            found = self._index.nearest(self.sought, 3, self.only)
            if not self.only:
                found.append(_typed_text(self.sought))
            rows = [heading("Nothing has this name. The nearest:"), *map(self._row, found)]
        self._found = {entry.id: entry for entry in found}
        columns = (
            Column(flex=1, min_width=16, priority=2), Column(width=7),
            Column(width=8, align="right", priority=1),
        )
        self.listing.find = self.sought
        self.listing.show(rows, at, columns)
        if at is None:
            self.listing.move_to(0)
        self.look_at_row()

    def _listed(self) -> list[Found]:
        """Return the entries to list, each id once.

        Without a text: recent entries, then all actions, or for the filter `=` all its entries. With a text:
        the best matches, a typed step, tokens and words with exactly this text, weaker matches, other tokens
        and words, and the weakest. For a number, tokens come first, and so do exact ones for a text with
        capital letters. Files and words need no filter.
        """
        sought, only = self.sought, self.only
        if not sought:
            known = {entry.id for entry in self._index.entries}
            used = [
                entry for entry in self._recent if not only or only in entry.filters
                if entry.id in known or not entry.id.startswith("action:")
            ]
            others = [
                entry for _, entry in self._index.find("", only) if entry.kind == "action" or only == "="
            ]
            return [*dict.fromkeys([*used, *others])]
        scored = self._index.find(sought, only)
        if self._files is not None and not only:
            scored += self._files.find(sought)
            scored.sort(key=lambda one: one[0])
        found_tokens = list(map(_token, self._matches.tokens[:_MOST_TOKENS]))
        words = [] if only else list(map(_word, self._matches.words[:_MOST_WORDS]))
        best = [entry for score, entry in scored if score <= _BEST]
        good = [entry for score, entry in scored if _BEST < score <= _GOOD]
        rest = [entry for score, entry in scored if score > _GOOD]
        exact = [one for one in (*found_tokens[:_MOST_EXACT], *words[:1]) if one.name.strip(" ▁#") == sought]
        step = _step(sought, self.now) if only == "@" or (not only and _STEPS.fullmatch(sought)) else None
        steps = [step] if step is not None else []
        if _IDS.fullmatch(sought) and only in ("", "#"):
            listed = [_typed_ids(sought), *best, *steps, *exact, *good, *found_tokens, *words, *rest]
        elif sought.isdecimal():
            listed = [*steps, *found_tokens, *best, *good, *words, *rest]
        else:
            capitals = exact if sought != sought.lower() else []
            listed = [*capitals, *best, *steps, *exact, *good, *found_tokens, *words, *rest]
        return [*{entry.id: entry for entry in listed}.values()]

    def _row(self, entry: Found) -> TableRow:
        """Return the row of an entry: its name, kind and first key."""
        name: Cell = entry.cell or ((safe(entry.name, limit=_SHOWN), ""),)
        kind, keys = ((entry.kind, "muted"),), ((" ".join(entry.keys[:1]), "key"),)
        return TableRow(entry.id, (name, kind, keys))

    def on_virtual_table_cursor_moved(self, event: Listing.CursorMoved) -> None:
        """Preview the entry under the cursor."""
        self.look_at_row()

    def look_at_row(self) -> None:
        """Preview the entry under the cursor, and ask for the first steps of its recipe if it has one and
        they are not known."""
        self.preview.again()
        if (entry := self.entry) is not None and entry.recipe is not None and entry.id not in self._steps:
            start_worker(self, "first steps", self._look_at, entry, entry.recipe)

    async def _look_at(self, entry: Found, recipe: Recipe) -> None:
        """Ask for the first steps of a recipe on this corpus, and show them in the preview of its entry, or
        why there are none. If the request fails or is cancelled, change nothing."""
        try:
            view = await self.engine.ask(Preview(recipe, steps=_FIRST_STEPS))
        except (TokentuiError, Cancelled):
            return  # the steps are left out
        lines = [((safe(line, limit=_SHOWN), ""),) for line in (view.error, *view.lines) if line]
        pairs = [(*tokens(pair.parts, "text"), (" → ", "accent"), *tokens((pair.token,), "text"))
            for pair in view.pairs if pair.parts]
        self._steps[entry.id] = (*lines[:_FIRST_STEPS], *pairs)
        self.preview.again()

    @property
    def entry(self) -> Found | None:
        """The entry under the cursor; None if there is none."""
        return self._found.get(str(self.listing.cursor_key))

    def _preview(self, width: int, height: int) -> Sequence[Cell]:
        """Return the lines of the preview of the entry under the cursor, wrapped to a width in cells; none
        without an entry. They are its name and description, the keys of an action, first steps if they are
        known, and its facts. `height` is not used."""
        if (entry := self.entry) is None:
            return ()
        room = max(4, width - 2)
        lines: list[Cell] = [ui_text.clip(entry.cell or ((safe(entry.name, limit=200), "strong"),), room), ()]
        lines += ui_text.wrap(((safe(entry.about, limit=600), ""),), room, words=True)
        if entry.keys and entry.kind == "action":
            lines += [(), (("key ", "muted"), (" or ".join(entry.keys), "key"))]
        if steps := self._steps.get(entry.id):
            lines += [(), (("first steps on this text", "muted"),)]
            lines += [ui_text.clip(step, room) for step in steps]
        if entry.facts:
            lines.append(())
        for fact in entry.facts:
            lines += ui_text.wrap(((safe(fact, limit=300), "muted"),), room)
        return [((" ", ""), *line) for line in lines]

    # What is taken.

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Choose the row under the cursor; if there is none and an answer is awaited, choose it when it
        comes."""
        if self.listing.cursor_key is None and self._asks:
            self._entered = True
        else:
            self.take(self.listing.cursor_key)

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Choose the row that was clicked."""
        self.take(event.key)

    def take(self, key: Hashable) -> None:
        """Close with the entry of a row. If it cannot act from here, stay open and show why; do nothing for a
        key without an entry."""
        entry = self._found.get(str(key))
        if entry is None:
            return
        if entry.elsewhere:
            self.notice.say(safe(entry.elsewhere, limit=200), "warning")
        else:
            self.dismiss(entry)

