"""The one-line bands of the main screen: header, tabs, footer, the titles of the panes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from tokentui.core.safetext import GlyphMode, safe
from tokentui.presets import label
from tokentui.session.snapshot import Snapshot
from tokentui.ui.actions import fitting, hints
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number, plural, size
from tokentui.ui.draw.lines import SAYS_BYTES, Lines, key_bytes, spread
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.panes.waits import nothing_there

NAME_SHOWN = 60
"""The most characters of the name of a corpus."""


class HeaderLine(Lines):
    """What is open, and how it is trained."""

    snapshot: Snapshot | None = None
    mode: GlyphMode = "text"

    def __init__(self) -> None:
        super().__init__(classes=SAYS_BYTES)

    def show(self, snapshot: Snapshot, mode: GlyphMode) -> None:
        """Take what a snapshot says."""
        self.snapshot, self.mode = snapshot, mode
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """The program, the corpus and its size at the left, the recipe at the right."""
        program: Cell = ((" tokentui", "strong"),)
        now = self.snapshot
        if now is None:
            return (program,)
        if now.nothing:
            return (spread((*program, ("   ", ""), (nothing_there(now), "muted")), key_bytes(self.app), width),)
        words = f"{plural(now.occurrences, 'word')} ({number(now.distinct)} distinct)"
        facts = f" · {size(now.corpus_bytes)} · {words}"
        view = f"view: {self.mode} · " if self.mode != "text" else ""
        # What runs is said where it is not what one would expect: kernels that are compiled, a recipe that has none.
        engine = f"{now.engine} · " if now.engine == "compiling once" else ""
        engine = "plain Python · " if now.engine.startswith("plain Python for ") else engine
        named, said = now.preset, label(now.recipe)
        if now.opened is not None:
            named, said = now.opened.name, f"{number(now.opened.size)} ids · {said}"
        preset: Cell = (*key_bytes(self.app), (view, "warning"), (engine, "muted"), (safe(named, limit=NAME_SHOWN), "strong"))
        right: Cell = (*preset, ("  " if named else "", ""), (safe(said, limit=NAME_SHOWN), "muted"), (" ", ""))
        name: Cell = ((safe(now.corpus_name, limit=NAME_SHOWN), ""),)
        # The name gives way last.
        left: Cell = (*program, ("   ", ""), *name, (facts, "muted"))
        held = f" · {size(now.memory)} held" if now.memory else ""
        if ui_text.width((*left, (held, ""))) + ui_text.width(right) + 2 <= width:
            left = (*left, (held, "muted"))
        if ui_text.width(left) + ui_text.width(right) + 2 > width:
            left = (*program, ("  ", ""), *name, (f" · {size(now.corpus_bytes)}", "muted"))
        if ui_text.width(left) + ui_text.width(right) + 2 > width:
            right = (*preset, (" ", ""))
        return (spread(left, right, width),)


class TitleLine(Lines):
    """The upper edge of a box: its title at the left, where one is in it at the right.

    `titles` are names with whether each is the one that is seen; there are two where two panes share a place.
    """

    def __init__(self, *titles: str) -> None:
        super().__init__(classes="title")
        self.titles: tuple[tuple[str, bool], ...] = tuple((title, True) for title in titles)
        self.note: Cell = ()
        self.focused_box = False

    def say(self, note: Cell) -> None:
        """What stands at the right; its first runs give way where there is little room."""
        self.note = note
        self.again()

    def name_panes(self, titles: Sequence[tuple[str, bool]]) -> None:
        """What stands at the left."""
        self.titles = tuple(titles)
        self.again()

    def mark(self, focused: bool) -> None:
        """Whether the box has the focus."""
        self.focused_box = focused
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`┌ 1 Corpus ──────── 12 % ┐`."""
        edge = "focus" if self.focused_box else "frame"
        left: list[Run] = [("┌ ", edge)]
        for place, (title, seen) in enumerate(self.titles):
            left += [(" ─ ", edge)] if place else []
            left.append((title, ("focus" if self.focused_box else "strong") if seen else "muted"))
        left.append((" ", edge))
        room = width - 1 - ui_text.width(left)
        facts = self.note
        while facts and ui_text.width(facts) + 3 > room:
            facts = facts[1:]
        note: Cell = ((" ", edge), *facts, (" ", edge)) if facts else ()
        line = "─" * max(0, room - ui_text.width(note) - (1 if note else 0))
        tail = ("─", edge) if note else ("", edge)
        return ((*ui_text.clip(tuple(left), max(0, width - 1)), (line, edge), *note, tail, ("┐", edge)),)


class TabLine(Lines):
    """The names of the panes where only one of them is seen."""

    names: tuple[tuple[str, str], ...] = ()
    active = ""
    note: Cell = ()

    def say(self, names: Sequence[tuple[str, str]], active: str, note: Cell) -> None:
        """Take panes as (id, title), the one that is seen, and where one is in it."""
        self.names, self.active, self.note = tuple(names), active, note
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`1 Corpus  2 Pairs  …`."""
        tabs: list[Run] = []
        for pane, title in self.names:
            tabs += [("  " if tabs else "", ""), (title, "focus" if pane == self.active else "muted")]
        note = self.note if ui_text.width(tabs) + 1 + ui_text.width(self.note) <= width else ()
        return (spread(tuple(tabs), note, width),)


class FooterLine(Lines):
    """Keys, as many as fit, most important first."""

    context = "global"
    objective = ""

    def say(self, context: str, objective: str) -> None:
        """The pane that has the focus, and what is trained for."""
        self.context, self.objective = context, objective
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`n next  b back  space run …`."""
        line: list[Run] = [(" ", "")]
        for action in fitting(hints(self.context, self.objective), width - 2):
            gap = "  " if len(line) > 1 else ""
            line += [(gap, ""), (action.shown_key, "key"), (f" {action.label}", "muted")]
        return (tuple(line),)


class TooSmall(Lines):
    """What is shown where nothing else can be."""

    DEFAULT_CSS = """
    TooSmall { height: 1fr; display: none; }
    """

    def __init__(self, width: int, height: int) -> None:
        super().__init__(id="too-small")
        self._wanted = f"tokentui wants {width}×{height}"

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """How much room is wanted, in the middle."""
        for text in (self._wanted, self._wanted.rpartition(" ")[2], "…"):
            if cell_len(text) <= width:
                break
        line: Cell = ((" " * max(0, (width - cell_len(text)) // 2), ""), (text, "strong"))
        return (*(((),) * ((height - 1) // 2)), line)
