"""Everything that a key does: the one list that the bindings, the footer, the help and the command palette are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.cells import cell_len
from textual.binding import Binding
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.keys import format_key
from textual.widgets import Input

from tokentui.ui.draw.text import StandIns

COMPARE_CONTEXTS = ("compare", "rows", "choices", "parting", "tokens", "measures", "agreement", "aligned", "curves")
"""Where keys are bound on Compare: the whole screen, every list of it, or one of its panes. `encode` is there as well."""

CONTEXTS = ("global", "corpus", "editor", "pairs", "vocabulary", "encode", *COMPARE_CONTEXTS)
"""Where keys are bound: the whole main screen, one of its panes, the corpus while it is typed into; and those of Compare."""

EVERYWHERE = ("global", "compare")
"""The contexts that are a whole screen."""

_SHARED = frozenset({
    "play", "next_10", "back_10", "next_100", "back_100", "start", "end", "type", "next_pane", "previous_pane", "help", "theme",
    "palette", "repaint", "count_bytes", "suspend", "quit", "quit_now",
})

MOST_HINTS = 12
"""The most keys in the footer, however wide it is."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something a user can do.

    Args:
        name: What it is called; unique.
        keys: Its keys, by Textual's names; the first one is shown.
        label: One or two words, for the footer.
        help: What it does, for the help and the palette.
        context: Where its keys are bound, one of `CONTEXTS`.
        footer: How early it comes in the footer, 1 first; 0 not at all.
        palette: Whether the command palette has it.
        run: The Textual action; `screen.` and the name where it is empty.
        always: Whether its keys work wherever the focus is, in text fields and dialogs as well.
        objective: The objective that it means something for, empty for all. With others its keys only say that it does not.
    """

    name: str
    keys: tuple[str, ...]
    label: str
    help: str
    context: str = "global"
    footer: int = 0
    palette: bool = True
    run: str = ""
    always: bool = False
    objective: str = ""

    @property
    def command(self) -> str:
        """The Textual action."""
        return self.run or f"screen.{self.name}"

    @property
    def shared(self) -> bool:
        """Whether it works on Compare too, of the actions of the whole main screen."""
        return self.name in _SHARED

    @property
    def shown_key(self) -> str:
        """Its first key, as a user reads it."""
        return key_name(self.keys[0])


def key_name(key: str) -> str:
    """A key as a user reads it: `?` for `question_mark`, `ctrl+p` as it is."""
    *modifiers, last = key.split("+")
    return "+".join([*modifiers, last if last == "enter" else format_key(last)])


def _fine(name: str, key: str, label: str, help: str, pieces: int) -> Action:
    footer = 3 if abs(pieces) == 1 else 0
    return Action(name, (key,), label, help, footer=footer, run=f"screen.fine({pieces})", objective="unigram")


def _scrolling(context: str, what: str) -> tuple[Action, ...]:
    return (
        Action(f"{context}_up", ("up", "k"), "up", f"{what} up", context, palette=False, run="move(-1)"),
        Action(f"{context}_down", ("down", "j"), "down", f"{what} down", context, palette=False, run="move(1)"),
        Action(f"{context}_page_up", ("pageup",), "page up", "A page up", context, palette=False, run="page(-1)"),
        Action(f"{context}_page_down", ("pagedown",), "page down", "A page down", context, palette=False, run="page(1)"),
        Action(f"{context}_first", ("home",), "first", "To the beginning", context, palette=False, run="first"),
        Action(f"{context}_last", ("end",), "last", "To the end", context, palette=False, run="last"),
    )


def _sideways(context: str, label: str, left: str, right: str) -> tuple[Action, ...]:
    return (
        Action(f"{context}_left", ("left", "h"), label, left, context, footer=4, palette=False, run="sideways(-1)"),
        Action(f"{context}_right", ("right", "l"), f"next {label}", right, context, palette=False, run="sideways(1)"),
    )


_COMPARE = (
    Action("compare_next", ("n",), "next", "All columns a step on", "compare", footer=1, run="screen.move(1)"),
    Action("compare_back", ("b",), "back", "All columns a step back", "compare", footer=2, run="screen.move(-1)"),
    Action("compare_faster", ("equals_sign",), "faster", "Run faster", "compare", footer=19, run="screen.speed(1)"),
    Action("compare_slower", ("minus",), "slower", "Run slower", "compare", footer=20, run="screen.speed(-1)"),
    Action("compare_go_to", ("g",), "go to", "Go to a step, or to a size of the vocabulary", "compare", footer=10),
    Action("in_step", ("v",), "in step by", "Keep columns in step by merges, by ids, or by tokens left", "compare", footer=6),
    Action("to_parting", ("d",), "part", "Go to the first step that two columns make differently", "compare", footer=5),
    Action("spelling", ("D",), "spelling", "Compare merges by what they mean, or as they are spelled", "compare"),
    Action("pair", ("p",), "pair", "Look at another two of the columns", "compare", footer=14),
    Action("next_parting", ("full_stop",), "disagree", "Go to the next place that the columns cut differently", "compare",
           footer=8),
    Action("last_parting", ("comma",), "disagree before", "Go to the place before that the columns cut differently",
           "compare"),
    Action("passage", ("e",), "passage", "Show a passage of the corpus encoded; again: what was typed", "compare", footer=12),
    Action("add", ("plus",), "add", "Add a column: a recipe, or a tokenizer from a file", "compare", footer=7),
    Action("remove", ("x", "delete"), "remove", "Remove the column", "compare", footer=16),
    Action("move_left", ("less_than_sign",), "to the left", "Move the column to the left", "compare", footer=17,
           run="screen.move_column(-1)"),
    Action("move_right", ("greater_than_sign",), "to the right", "Move the column to the right", "compare",
           run="screen.move_column(1)"),
    Action("zoom", ("z",), "zoom", "Give the pane the whole screen, or back", "compare", footer=9),
    Action("formulas", ("f",), "formulas", "Show the formula of each measure, or not", "compare", footer=15),
    Action("held_out", ("o",), "second corpus", "Open a second corpus, measured beside the first; none: close it", "compare"),
    Action("compare_find", ("slash",), "find", "Find tokens that hold a text, in the vocabularies", "compare", footer=13),
    Action("compare_glyphs", ("V",), "view", "Show candidates as text, as escapes, as bytes in hex, as code points", "compare"),
    Action("compare_leave", ("escape",), "leave", "Stop what takes long; else leave typing; else back to the main screen",
           "compare", footer=9, run="screen.cancel"),
    Action("to_columns", ("1",), "columns", "Go to the columns; again: to the next one", "compare", run="screen.pane('columns')"),
    Action("to_sides", ("2",), "parting", "Go to where two columns part, with both tables of candidates", "compare",
           run="screen.pane('parting')"),
    Action("to_tokens", ("3",), "vocabulary", "Go to what two vocabularies share", "compare", run="screen.pane('vocabulary')"),
    Action("to_encode", ("4",), "encode", "Go to the encodings under each other", "compare", run="screen.pane('encode')"),
    Action("to_measures", ("5", "m"), "measures", "Go to the measures", "compare", footer=18, run="screen.pane('measures')"),
    Action("to_agreement", ("6",), "agreement", "Go to how far two columns agree on the corpus", "compare",
           run="screen.pane('agreement')"),
    Action("to_curves", ("7",), "curves", "Go to the curves", "compare", run="screen.pane('curves')"),
    *_scrolling("rows", "A row"),
    Action("inspect_choice", ("enter",), "inspect", "Show all about it", "choices", footer=10, palette=False, run="choose"),
    *_sideways("choices", "column", "To the column at the left", "To the column at the right"),
    Action("go_there", ("enter",), "go there", "Go before the step at which they part", "parting", footer=5, palette=False,
           run="choose"),
    *_sideways("parting", "pair", "The pair of columns before", "The next pair of columns"),
    Action("inspect_both", ("enter",), "inspect", "Show all about it", "tokens", footer=10, palette=False, run="choose"),
    Action("bare", ("t",), "marks", "Compare tokens with their marks and spaces in front, or without", "tokens", footer=5,
           run="screen.bare"),
    *_sideways("tokens", "list", "The list before: common, only one's, never made", "The next list"),
    Action("under", ("u",), "conventions", "Say what a word is, and the order of Rényi's entropy", "measures", footer=5,
           run="screen.under"),
    Action("encode_it", ("enter",), "encode it", "Type this stretch, to see it encoded", "agreement", footer=5, palette=False,
           run="choose"),
    *_sideways("agreement", "pair", "The pair of columns before", "The next pair of columns"),
    *_sideways("aligned", "scroll", "Scroll to the left", "Scroll to the right"),
    Action("aligned_first", ("home",), "first", "To the beginning of the text", "aligned", palette=False, run="first"),
    Action("aligned_last", ("end",), "last", "To the end of the text", "aligned", palette=False, run="last"),
    *_sideways("curves", "cursor", "The cursor to the left", "The cursor to the right"),
    Action("curves_back", ("pageup",), "far left", "The cursor a tenth to the left", "curves", palette=False,
           run="sideways(-10)"),
    Action("curves_on", ("pagedown",), "far right", "The cursor a tenth to the right", "curves", palette=False,
           run="sideways(10)"),
    Action("curves_first", ("home",), "first", "The cursor to the start", "curves", palette=False, run="first"),
    Action("curves_last", ("end",), "last", "The cursor to the end", "curves", palette=False, run="last"),
    Action("curve_up", ("up", "k"), "curve", "The curve before", "curves", footer=6, palette=False, run="curve(-1)"),
    Action("curve_down", ("down", "j"), "next curve", "The next curve", "curves", palette=False, run="curve(1)"),
)
"""The actions of Compare."""

ACTIONS: tuple[Action, ...] = (
    Action("next", ("n", "right"), "next", "Make the next step: a merge, an EM step, a pruning", footer=1, run="screen.move(1)"),
    Action("back", ("b", "left"), "back", "Take the last step back", footer=2, run="screen.move(-1)"),
    Action("play", ("space",), "run", "Run, or stop", footer=3),
    Action("faster", ("plus", "greater_than_sign"), "faster", "Run faster", footer=15, run="screen.speed(1)"),
    Action("slower", ("minus", "less_than_sign"), "slower", "Run slower", footer=16, run="screen.speed(-1)"),
    Action("next_10", ("right_square_bracket",), "+10", "10 steps forward; in an opened file a hundredth of its births",
           footer=19, run="screen.move(10)"),
    Action("back_10", ("left_square_bracket",), "−10", "10 steps back; in an opened file a hundredth of its births",
           run="screen.move(-10)"),
    Action("next_100", ("N",), "+100", "100 steps forward", footer=20, run="screen.move(100)"),
    Action("back_100", ("B",), "−100", "100 steps back", run="screen.move(-100)"),
    _fine("piece_on", "l", "piece on", "Drop the next piece of a pruning", 1),
    _fine("piece_back", "h", "piece back", "Take a piece of a pruning back", -1),
    _fine("pieces_on", "L", "+100 pieces", "Drop the next 100 pieces of a pruning", 100),
    _fine("pieces_back", "H", "−100 pieces", "Take 100 pieces of a pruning back", -100),
    Action("start", ("0",), "start", "Go to the start, before any step", footer=18),
    Action("end", ("G",), "end", "Go to the end of the run", footer=17),
    Action("go_to", ("g",), "go to", "Go to a step, or to the step that makes a token", footer=5),
    Action("algorithm", ("a",), "algorithm", "Choose another algorithm, or another value on one of its axes", footer=6),
    Action("compare", ("c",), "compare", "Put another recipe or tokenizer beside this one", footer=6),
    Action("open", ("o",), "open", "Open a corpus, or a tokenizer file", footer=8),
    Action("type", ("i",), "type", "Type text to be encoded; esc leaves it", footer=7),
    Action("find", ("slash",), "find", "Find text in the pane that has the focus", footer=9),
    Action("find_next", ("full_stop",), "next match", "Find the next match", run="screen.find_again(False)"),
    Action("find_previous", ("comma",), "previous match", "Find the match before", run="screen.find_again(True)"),
    Action("follow", ("f",), "follow", "Show where in the corpus the last merge was made; again: the next place", footer=11),
    Action("export", ("e",), "export", "Write the tokenizer of this step to a file, in any format that can hold it", footer=14),
    Action("questions", ("u",), "questions", "What is used and saved, what comes of going on, how words are written", footer=13),
    Action("facts", ("F",), "facts", "Show the facts of the tokenizer, its steps, and a report on its health", footer=13),
    Action("glyphs", ("v",), "view", "Show tokens as text, as escapes, as bytes in hex, as code points", footer=12),
    Action("cancel", ("escape",), "cancel", "Stop what takes long; else leave typing, or end finding", palette=False),
    Action("pane_1", ("1",), "corpus", "Go to the corpus", run="screen.pane('corpus')"),
    Action("pane_2", ("2",), "pairs", "Go to the pairs, or the pieces by loss", run="screen.pane('pairs')"),
    Action("pane_3", ("3",), "vocabulary", "Go to the vocabulary", run="screen.pane('vocabulary')"),
    Action("pane_4", ("4",), "encode", "Go to the typed text", run="screen.pane('encode')"),
    Action("next_pane", ("tab",), "pane", "Go to the next pane", footer=14, palette=False, run="screen.turn(1)"),
    Action("previous_pane", ("shift+tab",), "pane before", "Go to the pane before", palette=False, run="screen.turn(-1)"),
    Action("help", ("question_mark",), "help", "Show all keys", footer=4),
    Action("theme", ("T",), "theme", "Choose the colours", footer=22, run="app.change_theme"),
    Action("palette", ("ctrl+p",), "commands", "Choose from all commands", footer=21, palette=False, run="app.command_palette"),
    Action("repaint", ("ctrl+l",), "repaint", "Draw the screen again", run="app.repaint", always=True),
    Action("count_bytes", ("ctrl+g",), "bytes", "Say what each key costs in bytes on the line, or say it no more",
           run="app.count_bytes", always=True),
    Action("suspend", ("ctrl+z",), "suspend", "Go back to the shell; fg returns", run="app.suspend_process", always=True),
    Action("quit", ("q",), "quit", "Quit", footer=7, run="app.quit"),
    Action("quit_now", ("ctrl+c", "ctrl+q"), "quit", "Quit, wherever the focus is", palette=False, run="app.quit", always=True),
    Action("boundaries", ("s",), "boundaries", "Tell tokens apart by shades, or by bars between them", "corpus", footer=6),
    Action("compressed", ("z",), "compressed", "Show the compressed text and its table", "corpus", footer=4,
           run="screen.compressed", objective="gage"),
    Action("pieces", ("p",), "pieces", "Show how the text is cut into pieces, and by which branch of the split", "corpus",
           footer=13, run="screen.pieces"),
    Action("edit", ("t",), "edit", "Type into the corpus; each change is trained on at once", "corpus", footer=6,
           run="screen.edit"),
    *_scrolling("corpus", "A row"),
    Action("end_edit", ("escape",), "end", "End typing; the text stays the corpus", "editor", footer=1, palette=False,
           run="screen.cancel"),
    Action("undo", ("ctrl+t",), "undo", "Take back what was typed", "editor", footer=2, palette=False, run="undo"),
    Action("redo", ("ctrl+y",), "redo", "Type again what was taken back", "editor", footer=3, palette=False, run="redo"),
    Action("inspect_pair", ("enter",), "inspect", "Show all about it", "pairs", footer=6, palette=False, run="choose"),
    *_scrolling("pairs", "A pair"),
    Action("order", ("S",), "sort", "Sort by newest, most used, longest or id", "vocabulary", footer=7),
    Action("inspect_token", ("enter",), "inspect", "Show all about it", "vocabulary", footer=6, palette=False, run="choose"),
    *_scrolling("vocabulary", "A token"),
    Action("leave", ("escape",), "leave", "Leave the typed text", "encode", footer=1, palette=False, run="screen.cancel"),
    Action("clear", ("ctrl+u",), "clear", "Empty the line", "encode", footer=2),
    *_COMPARE,
)
"""All actions, in the order of the help."""


def bindings(context: str) -> list[Binding]:
    """The key bindings of a context; those that work everywhere are the app's and not in here."""
    return [_binding(action) for action in ACTIONS if _is_of(action, context) and not action.always]


def _is_of(action: Action, context: str) -> bool:
    # What the screen does for one pane its key does from all of them: `t` edits the corpus wherever one looks.
    of_screen = context == "global" and action.context in ("corpus", "vocabulary") and action.command.startswith("screen.")
    return action.context == context or of_screen or (action.shared and context == "compare")


def always_bindings() -> list[Binding]:
    """The bindings of the app itself, which work wherever the focus is."""
    return [_binding(action) for action in ACTIONS if action.always]


def _binding(action: Action) -> Binding:
    return Binding(",".join(action.keys), action.command, action.label, show=False, priority=action.always)


def meant(objective: str, screen: str = "global") -> list[Action]:
    """The actions of a screen, by its context in `EVERYWHERE`, that mean something for an objective."""
    if screen == "compare":
        own = [action for action in ACTIONS if action.context in (*COMPARE_CONTEXTS, "encode")]
        return own + [action for action in ACTIONS if action.shared]
    return [action for action in ACTIONS if action.objective in ("", objective) and action.context not in COMPARE_CONTEXTS]


def hints(context: str, objective: str = "") -> list[Action]:
    """What the footer may show while a pane has the focus, most important first."""
    # Where one types, letters are text and do nothing else.
    typing = context in ("editor", "encode")
    screen = "compare" if context in COMPARE_CONTEXTS else "global"
    near = [
        a for a in meant(objective, screen)
        if a.footer and (a.context == context or (a.context in EVERYWHERE and not typing))
    ]
    near.sort(key=lambda action: (action.footer, action.context in EVERYWHERE))
    return near + [action for action in ACTIONS if typing and action.name in _WHILE_TYPING]


_WHILE_TYPING = ("next_pane", "palette", "quit_now")
"""Actions of the whole screen whose keys are no text."""


def fitting(actions: Sequence[Action], width: int, gap: int = 2) -> list[Action]:
    """The first of these actions that fit side by side, each as `key label`; not more than can be read at a glance."""
    chosen: list[Action] = []
    room = width
    for action in actions[:MOST_HINTS]:
        needed = cell_len(action.shown_key) + 1 + cell_len(action.label) + (gap if chosen else 0)
        if needed > room:
            break
        room -= needed
        chosen.append(action)
    return chosen


class Palette(CommandPalette):
    """The command palette, safe to show whatever was pasted into it."""

    def on_mount(self) -> None:
        """Show what is typed as other lines do."""
        self.query_one(Input).highlighter = StandIns()


class ActionCommands(Provider):
    """The actions in the command palette: those that mean something for what is trained."""

    async def discover(self) -> Hits:
        """All of them."""
        for action in self._actions():
            if action.palette:
                yield DiscoveryHit(self._title(action), self._runner(action), help=self._help(action))

    async def search(self, query: str) -> Hits:
        """Those whose words look like what was typed."""
        matcher = self.matcher(query)
        for action in self._actions():
            title = self._title(action)
            if action.palette and (score := matcher.match(title)) > 0:
                yield Hit(score, matcher.highlight(title), self._runner(action), text=title, help=self._help(action))

    def _actions(self) -> list[Action]:
        objective = getattr(getattr(self.screen, "snapshot", None), "objective", "")
        return meant(objective, getattr(self.screen, "EVERYWHERE", "global"))

    @staticmethod
    def _title(action: Action) -> str:
        return action.help

    @staticmethod
    def _help(action: Action) -> str:
        return "key: " + " ".join(map(key_name, action.keys))

    def _runner(self, action: Action) -> partial[Any]:
        return partial(self.screen.run_action, action.command)
