"""Everything that a key does: the table that bindings, footer, help, palette and reference are made from.

A new key is an entry here: its keys, its words, where it works, and a function of the screen. A dialog is
opened by `opens`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from tokentui.analyze.analyses import ANALYSES, Analysis
from tokentui.core.choices import Ref
from tokentui.session.commands import Command, GoTo, Move, Play, Speed, StepPieces, SyncBy
from tokentui.session.shipped import TOURS
from tokentui.session.views import ColumnWanted
from tokentui.ui.keys import BOTH, Action
from tokentui.ui.main import MainScreen
from tokentui.ui.screen import PaneScreen
from tokentui.ui.terminal_app import TerminalApp
from tokentui.ui.waits import NotYet

if TYPE_CHECKING:  # loaded when it is first wanted
    from tokentui.session.tours import Tour
    from tokentui.ui.compare import CompareScreen
    from tokentui.ui.tour import TourScreen

Main: TypeAlias = Action[MainScreen]
Both: TypeAlias = Action[PaneScreen]
Compare: TypeAlias = Action["CompareScreen"]
Tour_: TypeAlias = Action["TourScreen"]
Always: TypeAlias = Action[TerminalApp]

COMPARE = ("compare",)

FAR = 1 << 30
"""More columns than there are."""


def sends(command: Command[Any]) -> Callable[[PaneScreen], object]:
    """Return a function that hands a command to the session."""
    return lambda on: on.engine.send(command)


def opens(dialog: Ref) -> Callable[[PaneScreen], object]:
    """Return a function that opens a dialog whose only argument is the engine link."""
    return lambda on: on.app.push_screen(dialog(on.engine))


_ADD = Ref("tokentui.ui.dialogs.open:AddScreen")
_AS_LEFT = Ref("tokentui.ui.dialogs.open:AS_LEFT")
_RECIPE = Ref("tokentui.ui.dialogs.recipe:choose_recipe")
_COMPRESSED = Ref("tokentui.ui.dialogs.pieces:show_compressed")
_PIECES = Ref("tokentui.ui.dialogs.pieces:PiecesScreen")
_COPY = Ref("tokentui.ui.copying:ask")
_GO_TO = Ref("tokentui.ui.dialogs.ask:GoToScreen")
_WHY = Ref("tokentui.ui.dialogs.steps:show_why")
_HELP = Ref("tokentui.ui.dialogs.ask:HelpScreen")
_FIRST = Ref("tokentui.ui.start:show")
_TOUR = Ref("tokentui.ui.tour:play")
_RECORD = Ref("tokentui.ui.tour_writer:ask_name")
_ANALYSIS = Ref("tokentui.ui.dialogs.analysis:AnalysisScreen")
_PREDICT = Ref("tokentui.ui.predict:turn")


def lists_keys(search: bool) -> Callable[[PaneScreen], object]:
    """Return a function that shows all keys, to read or to search them, and does what is chosen."""

    def ask(on: PaneScreen) -> None:
        def do(chosen: Action[Any] | None) -> None:
            if chosen is not None and chosen.does is not None:
                on.app.call_later(chosen.does, on.app if chosen.always else on)

        on.app.push_screen(_HELP(on.engine, on.meant(), on.context, search), do)

    return ask


def analyzes(analysis: Analysis) -> Callable[[MainScreen], object]:
    """Return a function that shows the report of an analysis."""
    return lambda on: on.app.push_screen(_ANALYSIS(on, analysis))


def plays(tour: str | Tour) -> Callable[[PaneScreen], object]:
    """Return a function that plays a tour."""
    return lambda on: _TOUR(on.app, tour, MAIN_ACTIONS, TOUR_ACTIONS)


def compare_with(screen: MainScreen) -> None:
    """Prompt for a second column, and compare the current training with it.

    Raises:
        NotYet: Nothing is trained yet.
    """
    now = screen.engine.snapshot
    if now is None:
        raise NotYet(now)
    column = now.main
    if column.opened is not None:
        recipe, name = column.recipe, column.opened.name
        first = ColumnWanted(path=column.path, split=recipe.split, encode=recipe.encode)
    else:
        first, name = ColumnWanted(column.recipe, screen.engine.run, name=column.preset), column.preset
    dialog = _ADD(screen.engine, f"Compare {name or 'this'} with", column.recipe, column)

    def compare(second: ColumnWanted | None) -> None:
        """Compare; next to a file, a recipe without a size of its own is trained to the file's."""
        if second == _AS_LEFT.resolve():
            screen.app.compare(())
            screen.app.say("the comparison as it was left: c adds a column, delete removes one")
        elif second is not None:
            screen.app.compare((first, second.like((column,))))

    screen.app.push_screen(dialog, compare)


def _scrolling(rows: str, pages: str, ends: str, *contexts: str) -> tuple[Both, ...]:
    return (
        Both(("up", "down", "k", "j"), "row", None, "A row up or down", rows, contexts, palette=False),
        Both(("pageup", "pagedown"), "page", None, "A page up or down", pages, contexts, palette=False),
        Both(("home", "end"), "ends", None, "To the first row, or the last", ends, contexts, palette=False),
    )


def _aside(
    context: str, by: int, keys: Sequence[tuple[str, ...]], labels: Sequence[str], helps: Sequence[str],
    names: Sequence[str], footer: int = 0,
) -> tuple[Compare, ...]:
    """To the left and to the right by so much; of all else the first is of the left, the second of the right.
    """

    def one(n: int) -> Compare:
        turn = by if n else -by
        return Compare(keys[n], labels[n], lambda on: on.sideways(turn), helps[n], names[n], (context,),
            0 if n else footer, palette=False)

    return one(0), one(1)


def _sideways(context: str, label: str, *helps: str) -> tuple[Compare, ...]:
    return _aside(context, 1, (("left", "h"), ("right", "l")), (label, f"next {label}"), helps,
        (f"{context}_left", f"{context}_right"), 4)


MAIN_ACTIONS: tuple[Main | Both | Always, ...] = (
    Main(("n", "right"), "next", sends(Move(1)),
        "Make the next step: a merge, an EM step, a pruning", "next", footer=1),
    Main(("b", "left"), "back", sends(Move(-1)), "Take the last step back", "back", footer=2),
    Both(("space",), "run", sends(Play()), "Run, or stop", "play", BOTH, 3),
    Both(("plus", "greater_than_sign"), "faster", sends(Speed(1)), "Run faster", "faster", BOTH, 15),
    Both(("minus", "less_than_sign"), "slower", sends(Speed(-1)), "Run slower", "slower", BOTH, 16),
    Both(("right_square_bracket",), "+10", lambda on: on.leap(1),
        "10 steps forward; in an opened file a hundredth of its steps", "next_10", BOTH, 19),
    Both(("left_square_bracket",), "−10", lambda on: on.leap(-1),
        "10 steps back; in an opened file a hundredth of its steps", "back_10", BOTH),
    Both(("N", "right_curly_bracket"), "+100", sends(Move(100)), "100 steps forward", "next_100", BOTH, 20),
    Both(("left_curly_bracket",), "−100", sends(Move(-100)), "100 steps back", "back_100", BOTH),
    Main(("l",), "piece on", sends(StepPieces(1)), "Drop the next piece of a pruning", "piece_on",
        footer=4, needs="finer"),
    Main(("h",), "piece back", sends(StepPieces(-1)), "Take a piece of a pruning back", "piece_back",
        footer=4, needs="finer"),
    Main(("L",), "+100 pieces", sends(StepPieces(100)), "Drop the next 100 pieces of a pruning", "pieces_on",
        needs="finer"),
    Main(("H",), "−100 pieces", sends(StepPieces(-100)), "Take 100 pieces of a pruning back", "pieces_back",
        needs="finer"),
    Both(("0",), "start", sends(GoTo(0)), "Go to the start, before any step", "start", BOTH, 18),
    Both(("G",), "end", sends(GoTo(None)), "Go to the end of the run", "end", BOTH, 17),
    Main(("g",), "go to", opens(_GO_TO),
        "Go to a step, or to the step that makes a token", "go_to", footer=5),
    Main(("U",), "until", opens(Ref("tokentui.ui.dialogs.ask:UntilScreen")),
        "Run until a token is made, or to a size of the vocabulary, or to so many bytes per token", "until"),
    Main(("a",), "algorithm", lambda on: _RECIPE(on),
        "Choose another algorithm, or another value on one of its axes", "algorithm", footer=6),
    Main(("c",), "compare", lambda on: compare_with(on), "Compare this with another recipe or tokenizer",
        "compare", footer=6),
    Main(("o",), "open", lambda on: on.open(), "Open a corpus, or a tokenizer file", "open", footer=8),
    Both(("i",), "type", lambda on: on.go("encode", typing=True), "Type text to be encoded; esc leaves it",
        "type", BOTH, 7),
    Main(("m",), "steps", opens(Ref("tokentui.ui.dialogs.steps:StepsScreen")),
        "List all steps made so far: search, sort, go to one", "steps"),
    Main(("Y",), "why", lambda on: _WHY(on), "Tell the reasons of the next step and the last at length",
        "why_all"),
    Main(("x",), "what if", lambda on: on.ask_what_if(),
        "Forbid a pair or a token, force a pair, leave a merge out: the changed run beside this one",
        "what_if"),
    Main(("slash",), "find", lambda on: on.find(), "Find text in the pane that has the focus", "find",
        footer=9),
    Both(("full_stop",), "next match", lambda on: on.find_again(False), "Find the next match", "find_next",
        BOTH),
    Both(("comma",), "previous match", lambda on: on.find_again(True), "Find the match before",
        "find_previous", BOTH),
    Both(("ctrl+o",), "back to", lambda on: on.app.run_action("go_back"),
        "Go back to where one was before the last jump, also to the recipe or the corpus before", "jump_back",
        BOTH),
    Both(("y",), "copy", lambda on: _COPY(on),
        "Copy the token, the ids, the row, or the command that makes this state", "copy", BOTH),
    Both(("ampersand",), "only", lambda on: on.ask_filter(),
        "Show only the rows of the focused table that hold a text; esc: all again", "filter", BOTH),
    Main(("f",), "follow", lambda on: on.follow_merge(),
        "Show where in the corpus the last merge was made; again: the next place", "follow", footer=11),
    Main(("e",), "export", opens(Ref("tokentui.ui.dialogs.export:ExportScreen")),
        "Write the tokenizer of this step to a file, in any format that can hold it", "export", footer=14),
    Main(("u",), "questions", opens(Ref("tokentui.ui.dialogs.questions:QuestionsScreen")),
        "Show which tokens are used, what they save, what more steps would give, and how words are written",
        "questions", footer=13),
    Main(("percent_sign",), "dropout", opens(Ref("tokentui.ui.dialogs.drawn:DrawnScreen")),
        "Encode the typed text with some merges left out at random, and show each draw", "dropout"),
    Main(("F",), "facts", opens(Ref("tokentui.ui.dialogs.facts:FactsScreen")),
        "Show the facts of the tokenizer, its steps, and a report on its health", "facts", footer=13),
    Main(("X",), "change", opens(Ref("tokentui.ui.dialogs.edit:EditScreen")),
        "Change the vocabulary: prune it to the corpus, train on, add tokens; see what goes, and write it",
        "edit_vocabulary"),
    *(
        Main((one.key,) if one.key else (), one.name, analyzes(one), one.about, f"analyze_{one.name}")
        for one in ANALYSES.values()
    ),
    Main(("P",), "predict", lambda on: _PREDICT(on),
        "Hide the next pair and guess it, with a score; again: show it", "predict"),
    Main(("R",), "record", lambda on: _RECORD(on), "Write the walk just made as a tour, to a file", "record"),
    Main(("W",), "welcome", lambda on: _FIRST(on.app), "Show the first screen again: keys and tours",
        "first_screen"),
    *(Main((), "tour", plays(one.name), f"Tour: {one.title}", f"tour_{one.name}") for one in TOURS),
    Both(("dollar_sign",), "languages", opens(Ref("tokentui.ui.dialogs.languages:LanguagesScreen")),
        "Show what the same text costs in twelve languages", "languages", BOTH),
    Both(("v",), "view", lambda on: on.turn_view(),
        "Show tokens as text, as escapes, as bytes in hex, as code points", "glyphs", BOTH, 12),
    Main(("escape",), "cancel", lambda on: on.leave(),
        "Stop what takes long; else leave typing, or end finding", "cancel", palette=False),
    Main(("1",), "pane 1", lambda on: on.go("corpus"), "Go to the corpus", "pane_1"),
    Main(("2",), "pane 2", lambda on: on.go("pairs"), "Go to the pairs, or the pieces by loss", "pane_2"),
    Main(("3",), "pane 3", lambda on: on.go("vocabulary"), "Go to the vocabulary", "pane_3"),
    Main(("4",), "pane 4", lambda on: on.go("encode"), "Go to the typed text", "pane_4"),
    Both(("tab",), "pane", lambda on: on.turn(1), "Go to the next pane", "next_pane", BOTH, 14,
        palette=False),
    Both(("shift+tab",), "pane before", lambda on: on.turn(-1), "Go to the pane before", "previous_pane",
        BOTH, palette=False),
    Both(("question_mark",), "help", lists_keys(False), "Show all keys", "help", BOTH, 4, stays=True),
    Both(("T",), "colours", opens(Ref("tokentui.ui.dialogs.colours:ColoursScreen")), "Choose the colours",
        "theme", BOTH, 22),
    Both(("O",), "settings", opens(Ref("tokentui.ui.dialogs.settings:SettingsScreen")),
        "Change the settings: colours, speed, view, boundaries, order, sentence", "settings", BOTH),
    Both(("ctrl+p",), "commands", lists_keys(True), "Find a key by a word, and do what it does", "palette",
        BOTH, 21, palette=False),
    Always(("ctrl+l",), "repaint", lambda app: app.repaint(), "Draw the screen again", "repaint", BOTH,
        always=True),
    Always(("ctrl+z",), "suspend", lambda app: app.run_action("suspend_process"),
        "Go back to the shell; fg returns", "suspend", BOTH, always=True),
    Both(("q",), "quit", lambda on: on.app.run_action("quit"), "Quit", "quit", BOTH, 7, stays=True),
    Always(("ctrl+c", "ctrl+q"), "quit", lambda app: app.run_action("quit"), "Quit, wherever the focus is",
        "quit_now", BOTH, palette=False, always=True),
    Main(("s",), "boundaries", lambda on: on.text.turn_boundaries(),
        "Tell tokens apart by shades, or by bars between them", "boundaries", ("corpus",), 18, anywhere=True),
    Main(("z",), "compressed", lambda on: _COMPRESSED(on), "Show the compressed text and its table",
        "compressed", ("corpus",), 4, anywhere=True, needs="compresses"),
    Main(("B",), "ages", lambda on: on.turn_ages(),
        "Colour the corpus and the typed text by the steps that made their tokens, or not", "ages",
        ("corpus",), anywhere=True),
    Main(("p",), "pieces", lambda on: on.app.push_screen(_PIECES(on.engine, on.text.top_place)),
        "Show how the text is cut into pieces, and by which branch of the split", "pieces", ("corpus",), 13,
        anywhere=True),
    Main(("t",), "edit", lambda on: on.corpus.begin(),
        "Type into the corpus; each change is trained on at once", "edit", ("corpus",), 9, anywhere=True),
    Main(("escape",), "end", lambda on: on.leave(), "End typing; the text stays the corpus", "end_edit",
        ("editor",), 1, palette=False),
    Main(("ctrl+u",), "clear", None, "Empty the text, to type one of your own; ctrl+t takes it back",
        "clear_corpus", ("editor",), 2, palette=False),
    Main(("ctrl+t",), "undo", None, "Take back what was typed", "undo", ("editor",), 2, palette=False),
    Main(("ctrl+y",), "redo", None, "Type again what was taken back", "redo", ("editor",), 3, palette=False),
    Main(("S",), "sort", lambda on: on.turn_order(), "Sort by newest, most used, longest or id", "order",
        ("vocabulary",), 7, anywhere=True),
    Main(("S",), "sort", lambda on: on.turn_pairs(), "Sort the pairs by their score, or by their count",
        "pairs_order", ("pairs",), 7, needs="scores"),
    Main(("w",), "life", lambda on: on.show_life(),
        "Show each step that cut the word at the cursor anew, and go there", "life"),
    Main(("enter",), "cursor", lambda on: on.put_cursor(True), "Put a cursor on the first token that is seen",
        "corpus_cursor", ("corpus",), 7, palette=False),
    Main(("enter",), "inspect", lambda on: on.inspect_here(), "Show all about the token at the cursor",
        "inspect_token", ("cursor",), 1, palette=False),
    Main(("left",), "token", lambda on: on.text.step_cursor(-1), "To the token before", "cursor_left",
        ("cursor",), 1, palette=False),
    Main(("right",), "next token", lambda on: on.text.step_cursor(1), "To the next token", "cursor_right",
        ("cursor",), 1, palette=False),
    Main(("up", "down"), "row", None, "A row up or down", "cursor_rows", ("cursor",), 1, palette=False,
        keys_shown=2),
    Main(("escape",), "leave", lambda on: on.put_cursor(False), "Leave the cursor", "leave_cursor",
        ("cursor",), 1, palette=False),
    Main(("enter",), "inspect", None, "Show all about it", "inspect", ("pairs", "vocabulary"), 6,
        palette=False),
    Main(("enter",), "why", None, "Show how the word at the cursor is encoded, and why it is not one token",
        "inspect_word", ("encode",), 3, palette=False),
    *_scrolling("rows", "pages", "ends", "corpus", "pairs", "vocabulary"),
    Both(("escape",), "leave", lambda on: on.leave(), "Leave the typed text", "leave", ("encode",), 1,
        palette=False),
    Both(("ctrl+n",), "copy ids", lambda on: _COPY(on), "Copy the ids of the typed text, while one types it",
        "copy_typed", ("encode",)),
    Both(("ctrl+u",), "clear", lambda on: on.encode.line.clear(), "Empty the line", "clear", ("encode",), 2),
    Main(("ctrl+r",), "chat", opens(Ref("tokentui.ui.dialogs.chat:ChatScreen")),
        "Render the typed text, or a file of messages, by the chat template of the opened tokenizer", "chat",
        ("encode",)),
    Main(("pagedown",), "more", lambda on: on.encode.turn_page(1),
        "Show the next page of tokens, and then what decoding gives back", "tokens_on", ("encode",),
        palette=False),
    Main(("pageup",), "before", lambda on: on.encode.turn_page(-1), "Show the page of tokens before",
        "tokens_back", ("encode",), palette=False),
)
"""The actions of the main screen, in the order of its help; some of them work on both screens, or wherever
the focus is."""

_COMPARE: tuple[Compare | Both, ...] = (
    Compare(("n",), "next", sends(Move(1)), "All columns a step on", "compare_next", COMPARE, 1),
    Compare(("b",), "back", sends(Move(-1)), "All columns a step back", "compare_back", COMPARE, 2),
    Compare(("g",), "go to", lambda on: opens(_GO_TO)(on) if on.now else None,
        "Go to a step, or to a size of the vocabulary", "compare_go_to", COMPARE, 10),
    Compare(("I",), "in step by", sends(SyncBy()),
        "Keep columns in step by merges, by ids, or by tokens left", "in_step", COMPARE, 6),
    Compare(("d",), "part", lambda on: on.go_to_parting(),
        "Go to the first step that two columns make differently", "to_parting", COMPARE, 5),
    Compare(("equals_sign",), "differences", lambda on: on.show_differences(),
        "Show what differs from one of the two columns to the other: merges, ids, tokens, documents",
        "differences", COMPARE),
    Compare(("D",), "spelling", lambda on: on.turn_spelling(),
        "Compare merges by what they mean, or as they are spelled", "spelling", COMPARE),
    Compare(("A",), "pair", lambda on: on.turn_pair(1), "Look at another two of the columns", "pair", COMPARE,
        14),
    Compare(("J",), "disagree", lambda on: on.go_to_disagreement(False),
        "Go to the next place that the columns cut differently", "next_parting", COMPARE, 8),
    Compare(("K",), "disagree before", lambda on: on.go_to_disagreement(True),
        "Go to the place before that the columns cut differently", "last_parting", COMPARE),
    Compare(("E",), "passage", lambda on: on.turn_passage(),
        "Show a passage of the corpus encoded; again: what was typed", "passage", COMPARE, 12),
    Compare(("c",), "compare", lambda on: on.ask_column(),
        "Compare with one more: a recipe, or a tokenizer from a file", "add", COMPARE, 7),
    Compare(("x",), "what if", lambda on: on.ask_what_if(),
        "Forbid a pair or a token, or force a pair, in the column; take that back", "compare_what_if",
        COMPARE),
    Compare(("delete",), "remove", lambda on: on.remove_column(), "Remove the column", "remove", COMPARE,
        16),
    Compare(("left_parenthesis",), "to the left", lambda on: on.move_column(-1),
        "Move the column to the left", "move_left", COMPARE, 17),
    Compare(("right_parenthesis",), "to the right", lambda on: on.move_column(1),
        "Move the column to the right", "move_right", COMPARE),
    Compare(("Z",), "zoom", lambda on: on.zoom(), "Give the pane the whole screen, or back", "zoom", COMPARE,
        9),
    Compare(("M",), "formulas", lambda on: on.turn_formulas(), "Show the formula of each measure, or not",
        "formulas", COMPARE, 15),
    Compare(("V",), "second corpus", lambda on: on.ask_held_out(),
        "Open a second corpus, measured too; none: close it", "held_out", COMPARE),
    Compare(("slash",), "find", lambda on: on.find(),
        "Find tokens that hold a text, in the list of the vocabularies",
        "compare_find", COMPARE, 13),
    Compare(("escape",), "leave", lambda on: on.leave(),
        "Stop what takes long; else leave typing; else back to the main screen", "compare_leave", COMPARE, 9),
    Compare(("1",), "pane 1", lambda on: on.sideways(1) if on.active == "columns" else on.go("columns"),
        "Go to the columns; again: to the next one", "to_columns", COMPARE),
    Compare(("2",), "pane 2", lambda on: on.go("parting"),
        "Go to where two columns part, with both tables of candidates", "to_sides", COMPARE),
    Compare(("3",), "pane 3", lambda on: on.go("vocabulary"), "Go to what two vocabularies share",
        "to_tokens", COMPARE),
    Compare(("4",), "pane 4", lambda on: on.go("encode"), "Go to the encodings under each other", "to_encode",
        COMPARE),
    Compare(("5",), "pane 5", lambda on: on.go("measures"), "Go to the measures", "to_measures",
        COMPARE),
    Compare(("6",), "pane 6", lambda on: on.go("agreement"),
        "Go to how far two columns agree on the corpus", "to_agreement", COMPARE),
    Compare(("7",), "pane 7", lambda on: on.go("curves"), "Go to the curves", "to_curves", COMPARE),
    *_scrolling("compare_rows", "compare_pages", "compare_ends", "rows"),
    Compare(("enter",), "inspect", None, "Show all about it", "inspect_both", ("choices", "tokens"), 10,
        palette=False),
    Compare(("enter",), "go there", None, "Go before the step at which they part", "go_there", ("parting",),
        5, palette=False),
    Compare(("enter",), "encode it", None, "Type this stretch, to see it encoded", "encode_it",
        ("agreement",), 5, palette=False),
    Compare(("enter",), "why", lambda on: on.inspect_typed(),
        "Show how the column encodes the word at the cursor, and why it is not one token", "inspect_aligned",
        ("aligned",), 5, palette=False),
    Compare(("enter",), "why", None, "Show how the column encodes the word at the cursor",
        "inspect_typed", ("encode",), 3, palette=False),
    *_sideways("choices", "column", "To the column at the left", "To the column at the right"),
    *_sideways("parting", "pair", "The pair of columns before", "The next pair of columns"),
    Compare(("r",), "marks", lambda on: on.turn_bare(),
        "Compare tokens with their marks and spaces in front, or without", "bare", ("tokens",), 5),
    *_sideways("tokens", "list", "The list before: common, only one's, never made", "The next list"),
    Compare(("C",), "conventions", lambda on: on.ask_conventions(),
        "Say what a word is, and the order of Rényi's entropy", "under", ("measures",), 5),
    *_sideways("agreement", "pair", "The pair of columns before", "The next pair of columns"),
    *_sideways("aligned", "scroll", "Scroll to the left", "Scroll to the right"),
    *_aside("aligned", FAR, (("home",), ("end",)), ("first", "last"),
        ("To the beginning of the text", "To the end of the text"), ("aligned_first", "aligned_last")),
    *_sideways("curves", "cursor", "The cursor to the left", "The cursor to the right"),
    *_aside("curves", 10, (("pageup",), ("pagedown",)), ("far left", "far right"),
        ("The cursor a tenth to the left", "The cursor a tenth to the right"), ("curves_back", "curves_on")),
    *_aside("curves", FAR, (("home",), ("end",)), ("first", "last"),
        ("The cursor to the start", "The cursor to the end"), ("curves_first", "curves_last")),
    Compare(("enter",), "target", lambda on: on.ask_target(),
        "Say what a vocabulary is for, and show the size at which it is met", "target", ("curves",), 7,
        palette=False),
    Compare(("up", "k"), "curve", lambda on: on.turn_curve(-1), "The curve before", "curve_up", ("curves",),
        6, palette=False),
    Compare(("down", "j"), "next curve", lambda on: on.turn_curve(1), "The next curve", "curve_down",
        ("curves",), palette=False),
)
"""The actions that Compare alone has."""

COMPARE_ACTIONS: tuple[Action[Any], ...] = (
    *(
        one for one in MAIN_ACTIONS
        if "encode" in one.contexts and one.does and not one.name.startswith("tokens_")  # it scrolls itself
    ),
    *_COMPARE,
    *(one for one in MAIN_ACTIONS if "compare" in one.contexts),
)
"""The actions of Compare, in the order of its help."""

TOUR_ACTIONS: tuple[Tour_, ...] = (
    Tour_(("enter", "space"), "go on", lambda on: on.turn_stop(1), "Go to the next stop of the tour",
        "tour_next", ("tour",), 1),
    Tour_(("backspace",), "stop before", lambda on: on.turn_stop(-1), "Go to the stop before", "tour_back",
        ("tour",), 1),
    Tour_(("escape",), "leave", lambda on: on.leave_tour(), "Leave the tour", "tour_leave", ("tour",), 1),
)
"""The actions that a tour has before those of the main screen."""

ACTIONS: tuple[Action[Any], ...] = (*MAIN_ACTIONS, *_COMPARE, *TOUR_ACTIONS)
"""All actions."""
