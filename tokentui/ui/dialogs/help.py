"""Help: the focused pane first, then all keys on one page, in the families of the footer."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import ClassVar, TypeAlias

from textual.binding import Binding, BindingType

from tokentui.core.safetext import safe
from tokentui.ui.bindings import EVERYWHERE, FAMILIES, BoundAction, Hint, key_name, member_of
from tokentui.ui.dialogs import Dialog, StatusLine
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import size
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell
from tokentui.ui.link import EngineLink

Sections: TypeAlias = Mapping[str, Sequence[BoundAction]]
Group: TypeAlias = tuple[str, list[tuple[str, str]]]
"""A heading, and keys with their labels."""
_COLUMN, _KEY = 24, 9
"""The least columns of the terminal that a column of keys takes, and those of the keys in it."""


@dataclass(frozen=True)
class PaneHelp:
    """The help of a pane.

    Attributes:
        shows: What it shows.
        marks: What its marks mean; empty for none.
        keys: The ids of three actions that are used most there.
        example: Something to try.
    """

    shows: str
    marks: str
    keys: tuple[str, ...]
    example: str


PANES: Mapping[str, PaneHelp] = {
    "corpus": PaneHelp(
        "The text as the tokenizer of this step segments it.",
        "Each chip, shade or stretch between bars is a token; · is a space, ⏎ the end of a line. Orange is "
        "what the last step made, underlined what the next one merges, in a run at 5/s or slower.",
        ("cursor_left", "boundaries", "follow"),
        "Press n, then f: the place of the new token comes into view.",
    ),
    "editor": PaneHelp(
        "A text that you type. The tokenizer learns from it at each change.", "",
        ("end_edit", "clear_corpus", "undo"), "Type aaabdaaabac, press esc, then n three times.",
    ),
    "pairs": PaneHelp(
        "What the next step may choose, the best first: pairs, pieces or other candidates, with counts.",
        "▸ is the row of the cursor. A bracket ╮│╯ joins rows that are tied with the best; `change` is since "
        "the last step. A loss of −∞: nothing can replace the piece, so it stays.",
        ("inspect", "pairs_order", "why_all"),
        "Press enter on a row: where it occurs, and what it would make.",
    ),
    "vocabulary": PaneHelp(
        "The tokens, with their ids, how each came to be, and how often the corpus uses them now.",
        "∅ is a token that nothing uses. The border names the order and the filter.",
        ("inspect", "order", "filter"), "Press &, type #300, press enter: the token with the id 300.",
    ),
    "encode": PaneHelp(
        "The typed text, segmented by the tokenizer of this step, with the id of each token below it.",
        "The same text has the same tokens at the same step. A red token is unknown. Tab goes to the next "
        "pane: paste a tab, or type it in the playground (e g).",
        ("type", "inspect_word", "life"), "Press i, type unbelievable, press enter: why it is not one token.",
    ),
    "prompt": PaneHelp(
        "A text that you type or paste. It is kept exactly, and its tokens are at the right.",
        "A sign in reverse stands for a character that a terminal cannot show.",
        ("play_add", "play_find", "play_decode"),
        "Paste a text, press f6, then ↓ and → to walk through its tokens.",
    ),
    "chips": PaneHelp(
        "The tokens of the text by one tokenizer, over their ids.",
        "Reversed is the token under the cursor; underlined is what another tokenizer segments otherwise.",
        ("play_find", "play_save", "play_special"), "Press ctrl+f, type #464: the next token with this id.",
    ),
    "choices": PaneHelp(
        "Two to four trainings or files side by side, at the same step.",
        "A is the left column; ▸ is the cursor.", ("first_difference", "sync_by", "add"),
        "Press d d: the first step that the columns make differently.",
    ),
    "parting": PaneHelp(
        "What the two columns would choose where they first differ.", "",
        ("go_there", "first_difference", "spelling"), "Press enter: the run goes to that step.",
    ),
    "tokens": PaneHelp(
        "The tokens of two vocabularies: common to both, or in one alone.",
        "A – stands for a token that is missing.",
        ("tokens_left", "compare_find", "bare"), "Press →: the tokens that only the first one has.",
    ),
    "aligned": PaneHelp(
        "The typed text as each column segments it.", "Underlined is where the columns segment differently.",
        ("passage", "next_difference", "inspect_aligned"), "Press d e, then J: differences in the corpus.",
    ),
    "measures": PaneHelp(
        "Figures of each column on the corpus.", "", ("formulas", "under", "held_out"),
        "Press v m: the formula of each figure.",
    ),
    "agreement": PaneHelp(
        "How often two columns segment the corpus alike, and the stretches where they do not.", "",
        ("encode_it", "pair", "next_difference"), "Press enter on a row: it becomes the typed text.",
    ),
    "curves": PaneHelp(
        "A measure of each column over the run, one curve each.",
        "A curve has the color and, at its end, the letter of its column; where curves share cells, their "
        "colors take turns. A letter on the axis is the present step. Dashed is the second corpus.",
        ("curve_up", "target", "zoom"), "Press v z: the curve takes the whole screen.",
    ),
}
"""The help of panes, by the names of their sections."""

_TOGETHER: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("next, back", ("next", "back")), ("next, back", ("compare_next", "compare_back")),
    ("±10 steps", ("next_10", "back_10")), ("±100 steps", ("next_100", "back_100")),
    ("start, end", ("start", "end")), ("faster, slower", ("faster", "slower")),
    ("piece, back", ("next_piece", "previous_piece")),
    ("±100 pieces", ("next_100_pieces", "previous_100_pieces")),
    ("next match, back", ("find_next", "find_previous")),
    ("next pane, back", ("next_pane", "previous_pane")),
    ("next place, back", ("next_difference", "previous_difference")),
    ("move column", ("move_left", "move_right")),
    ("more, back", ("tokens_on", "tokens_back")),
)
"""Actions that share a row."""
_STEPS = {
    "play", "go_to", "compare_go_to", "until", "steps", "follow", "next", "compare_next", "next_10",
    "next_100", "start", "faster", "next_piece", "next_100_pieces", "jump_back",
}
_PROGRAM = {"finder", "help", "settings", "quit", "quit_now", "repaint", "suspend", "next_pane", "cancel",
    "compare_leave"}
_LISTS = {"row_up", "page_up", "first_row"}


def engine_line(engine: str = "", memory: int = 0) -> str:
    """Return one line about the program, its engine, the memory of the engine in bytes (0 for unknown),
    Python and Textual."""
    from tokentui import __version__

    python = f"{platform.python_implementation()} {platform.python_version()}"
    held = f", {size(memory)} of memory" if memory else ""
    runs = f"tokentui {__version__} · engine: {engine or 'plain Python'}{held}"
    return f"{runs} · {python} · Textual {version('textual')}"


def groups_of(sections: Sections, first: str) -> Iterator[Group]:
    """Yield the keys in groups: the focused pane if it has any, Steps, key families, Text and files, Program,
    other panes. Steps, Text and files, and Program come even if they are empty. Keys of tours, and of lists
    in other panes, are left out.

    Args:
        sections: The actions by section.
        first: The section of the focused pane.
    """
    everywhere = sections.get(EVERYWHERE, ())
    others = [action for action in everywhere if action.keys and not action.hint.family]
    single = [action for action in others if member_of(action.keys[0]) is None]
    panes = [action for action in single if action.label.startswith("pane ")]
    letters = {action.hint.family for action in everywhere if action.hint.family and action.keys}
    rest = [
        action for action in single
        if action not in panes and not action.id.startswith("tour_")
        and not any(named[0] in letters for named in map(member_of, action.keys) if named is not None)
    ]
    own = [action for action in sections.get(first, ()) if first != EVERYWHERE]
    if own:
        yield first.capitalize(), _rows(own)
    yield "Steps", _rows([action for action in rest if action.id in _STEPS or _joined(action.id) in _STEPS])
    every = [action for actions in sections.values() for action in actions]
    for family in FAMILIES.values():
        rows = {}
        for action in every:
            for key in action.keys:
                if (named := member_of(key)) is not None and named[0] == family.letter:
                    alone = [key_name(other) for other in action.keys if member_of(other) is None]
                    label = family.members.get(named[1], action.label)
                    rows[named[1]] = key_name(key), " ".join([label, *alone[:1]])
        if rows and family.letter in letters:
            yield f"{family.letter} {family.name}", [
                rows[letter] for letter in dict.fromkeys([*family.members, *rows]) if letter in rows
            ]
    program = [action for action in rest if action.id in _PROGRAM or _joined(action.id) in _PROGRAM]
    more = [
        action for action in rest
        if action not in program and action.id not in _STEPS and _joined(action.id) not in _STEPS
    ]
    yield "Text and files", _rows(more)
    moves = [("1 – " + panes[-1].keys[0], "go to a pane")] if panes else []
    yield "Program", [*_rows(program), *moves, (": tour", "the tours")]
    for name, actions in sections.items():
        if name not in (EVERYWHERE, first):
            left = [action for action in actions if action.id not in _LISTS]
            if rows_left := _rows(left):
                yield name.capitalize(), rows_left


def _joined(id: str) -> str:
    """Return the id of the action whose row an action shares; its own id if it has a row of its own."""
    return next((ids[0] for _, ids in _TOGETHER if id in ids), id)


def _rows(actions: Sequence[BoundAction]) -> list[tuple[str, str]]:
    """Return a row for each action with keys, as keys and label; actions that share a row are joined, and
    members of families are left out."""
    by_id = {action.id: action for action in actions if action.keys}
    rows = []
    for id, action in by_id.items():
        if member_of(action.keys[0]) is not None or (_joined(id) != id and _joined(id) in by_id):
            continue
        label, ids = next(((label, ids) for label, ids in _TOGETHER if ids[0] == id), (action.label, (id,)))
        there = [by_id[other] for other in ids if other in by_id]
        if len(there) == 1:
            label = there[0].label
            rows.append((" ".join(map(key_name, there[0].keys[: max(1, there[0].hint.count)])), label))
        else:
            rows.append((" ".join(key_name(one.keys[0]) for one in there), label))
    return rows


class KeyPage(Lines, can_focus=True):
    """The lines of help."""


class HelpScreen(Dialog[bool]):
    """Explains the focused pane; the same key again shows all keys. Its result is True to open the finder.

    Args:
        engine: The link to the session.
        sections: The actions that apply now, by section.
        first: The section of the focused pane; without help of its own, all keys are shown at once.
    """

    HEADING = "Help"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "show_all", "all keys"),
        Binding("slash,colon,ctrl+p", "find", "find", id="help.search", tooltip="Find anything by a word"),
        Binding("down,pagedown,space", "page(1)", "page", group=Hint("page", count=1)),
        Binding("up,pageup", "page(-1)", "previous page", group=Hint("page", count=1)),
        Binding("q", "leave"),
    ]

    def __init__(self, engine: EngineLink, sections: Sections, first: str = EVERYWHERE) -> None:
        super().__init__(engine)
        self._sections, self._first = sections, first
        self.all = first not in PANES
        """True if all keys are shown, not the help of the pane."""
        self.page = 0
        """The index of the visible page of all keys."""
        self.pages = 1
        """The number of pages."""
        self.text = KeyPage(self._lines, id="keys")
        self.about = StatusLine()
        self.parts = self.text, self.about

    def on_mount(self) -> None:
        """Focus the text, and show the engine and its memory below."""
        self.set_focus(self.text)
        now = self.now
        self.about.say(engine_line(*((now.engine_said, now.main.at.memory) if now is not None else ())))

    def lay_out(self) -> None:
        """Draw the lines again; fit the height to the help of a pane."""
        if self.all:
            self.box.styles.height = None
        else:
            width = self.text.size.width
            self.fit_height(len(self._of_pane(PANES[self._first], width)) + 1 + self.about.size.height)
        self.text.again()

    def action_show_all(self) -> None:
        """Show all keys; if they are shown already, close."""
        if self.all:
            self.dismiss(False)
        self.all = True
        self.lay_out()

    def action_page(self, by: int) -> None:
        """Go `by` pages further, within the pages; do nothing in the help of a pane."""
        self.page = max(0, min(self.page + by, self.pages - 1))
        self.text.again()

    def action_find(self) -> None:
        """Close with True, so that the caller opens the finder."""
        self.dismiss(True)

    def _lines(self, width: int, height: int) -> Sequence[Cell]:
        """Return the lines for a size in cells: the help of the pane, or the present page of all keys in as
        many columns as fit.

        Also updates `pages`, keeps `page` within them, and shows the page in the subtitle if there are
        several.
        """
        if not self.all:
            return self._of_pane(PANES[self._first], width)
        columns = max(1, (width + 2) // (_COLUMN + 2))
        wide = (width + 2) // columns - 2
        cells: list[Cell] = []
        for title, rows in groups_of(self._sections, self._first):
            if cells and len(cells) % max(1, height) > height - 3:
                cells += [()] * (height - len(cells) % height)  # no heading at the foot of a column
            elif cells and len(cells) % max(1, height):
                cells.append(())
            cells.append(((safe(title, limit=40), "strong"),))
            for key, label in rows:
                shown = safe(key, limit=20).ljust(_KEY - 1)
                cells.append(((f"{shown} ", "key"), (safe(label, limit=60), "")))
        held = max(1, height) * columns
        self.pages = max(1, -(-len(cells) // held))
        self.page = min(self.page, self.pages - 1)
        self.name_box(subtitle=f"page {self.page + 1} of {self.pages}" if self.pages > 1 else "")
        seen = cells[self.page * held : (self.page + 1) * held]
        lines = []
        for row in range(height):
            line: Cell = ()
            for cell in seen[row::height][:columns]:
                cut = ui_text.clip(cell, wide)
                line = (*line, *cut, (" " * (wide + 2 - ui_text.width(cut)), ""))
            lines.append(line[:-1])
        return lines

    def _of_pane(self, help: PaneHelp, width: int) -> Sequence[Cell]:
        """Return the help of a pane, wrapped to a width in cells: what it shows, its marks, those of its keys
        that apply now, and an example."""
        known = {action.id: action for actions in self._sections.values() for action in actions}
        lines: list[Cell] = [((self._first.capitalize(), "strong"),)]
        lines += ui_text.wrap(((help.shows, ""),), width, words=True)
        if help.marks:
            lines += [(), *ui_text.wrap(((help.marks, ""),), width, words=True)]
        lines.append(())
        for action in (known[id] for id in help.keys if id in known):
            if action.keys:
                name = key_name(action.keys[0])
                lines += ui_text.wrap(((name.ljust(8), "key"), (action.help, "")), width, words=True)
        lines += [(), *ui_text.wrap((("Try: ", "accent"), (help.example, "")), width, words=True)]
        lines += [(), (("? ", "key"), ("all keys   ", "muted"), (": ", "key"), ("find by a word", "muted"))]
        return lines
