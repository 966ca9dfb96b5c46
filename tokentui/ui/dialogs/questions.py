"""The questions that a vocabulary raises, answered at the present step: what is used, what is saved, what
comes of going on, and the ways a word can be written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.widgets import Input

from tokentui.analyze.results import UnusedToken, VocabularyReport, WordSegmentations
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe
from tokentui.core.table import plural
from tokentui.session.commands import AnalyzeVocabulary
from tokentui.ui.bindings import HANDLED, Hint
from tokentui.ui.dialogs import CellText, ListDialog, labeled_input
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import Column, TableRow
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.field import Field
from tokentui.ui.link import EngineLink

_MOST_SHOWN = 200  # characters of a token or a word
_WHY = {
    "special": "special: it is never made from text",
    "byte": "a byte that does not occur here",
    "not in the corpus": "never occurs in the corpus",
    "not chosen": "spelled, but other tokens are used there",
    "unreachable": "no text encodes to it",
}
_GOES_ON = "training until no pair is left …"
_WORKING = "working …"
_GO_ON: Cell = (("x", "key"), (" trains a copy until nothing is left to merge; it may take a while", "muted"))


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def used_summary(answers: VocabularyReport) -> Cell:
    """Return the number of tokens in the corpus."""
    unused = len(answers.unused)
    many = f"{number(answers.used)} of {plural(answers.vocab_size, 'token')}"
    summary = f"{many} occur in the corpus at step {number(answers.step)}"
    rest = f" · {number(unused)} do not" if unused else " · every one is used"
    return ((summary, "strong"), (rest, "muted"))


def unused_reason(token: UnusedToken) -> Cell:
    """Return the reason why a token is not used."""
    if token.why != "swallowed":
        return ((_WHY.get(token.why, safe(token.why)), "muted"),)
    out: list[Run] = [("it always became part of ", "muted")]
    for place, into in enumerate(token.into):
        out += [(", ", "muted")] if place else []
        out += ui_text.runs(into, limit=_MOST_SHOWN)
    return tuple(out) if token.into else (("it always became part of other tokens", "muted"),)


def unused_rows(answers: VocabularyReport) -> list[TableRow]:
    """Return the tokens that are not used, in order of id."""
    return [
        TableRow(token.id, (
            ((number(token.id), "muted"),), ui_text.runs(token.piece, limit=_MOST_SHOWN),
            ((safe(token.kind), "muted"),),
            unused_reason(token),
        ))
        for token in answers.unused
    ]


def saved_summary(answers: VocabularyReport) -> Cell:
    """Return the total number of tokens saved."""
    saved = answers.units - answers.tokens
    summary = f"{plural(saved, 'token')} saved, {_share(saved, answers.units)}"
    counts = f"{plural(answers.units, 'unit')} → {plural(answers.tokens, 'token')}"
    return ((summary, "strong"), (f" · {counts} in {plural(answers.document_count, 'document')}", "muted"))


def savings_rows(answers: VocabularyReport) -> list[TableRow]:
    """Return the documents that save most, the best first."""
    rows = []
    for document in answers.documents:
        less = document.units - document.tokens
        rows.append(TableRow(document.number, (
            ((number(document.number), "muted"),), ui_text.runs(document.name, limit=_MOST_SHOWN),
            ((number(document.units), ""),),
            ((number(document.tokens), ""),), ((number(less), "strong"),),
            ((_share(less, document.units), "muted"),),
        )))
    if answers.document_count > len(answers.documents):
        rest = f"and {plural(answers.document_count - len(answers.documents), 'more document')}"
        rows.append(TableRow("rest", ((), ((rest, "muted"),))))
    return rows


def on_summary(answers: VocabularyReport) -> Cell:
    """Return the reason why further training ends, or the key that starts it."""
    if answers.exhausted is None:
        return _GO_ON
    reason = f" · {safe(answers.exhausted.end, limit=200)}"
    return (("Training until no pair is left", "strong"), (reason, "muted"))


def exhaustion_rows(answers: VocabularyReport) -> list[TableRow]:
    """Return rows that compare this step with a training until no pair is left."""
    end = answers.exhausted
    if end is None:
        return []
    whole = f"{number(end.whole)} of {number(end.distinct)} distinct pre-tokens are one token then"
    facts = (
        ("merges", f"{number(answers.step)} → {number(end.merges)}"),
        ("vocabulary", f"{number(answers.vocab_size)} → {number(end.vocab_size)} ids"),
        ("corpus", f"{number(answers.tokens)} → {plural(end.tokens, 'token')}"),
        ("whole", whole),
        ("end", safe(end.end, limit=400)),
    )
    return [TableRow(name, (((name, "muted"),), ((text, ""),))) for name, text in facts]


def ways_summary(answers: VocabularyReport) -> Cell:
    """Return a title for the list of ways to write a word, and the encoder's rule."""
    if not answers.ways:
        return (("No word yet", "strong"), (": press ", "muted"), ("i", "key"))
    how = {way.how for way in answers.ways}
    by = f": {safe(how.pop(), limit=200)}" if len(how) == 1 else " by the encoder"
    return (("Ways to split", "strong"), (f" · • taken{by}", "muted"))


def segmentation_rows(answers: VocabularyReport) -> list[TableRow]:
    """Return for each word its ways, the fewest tokens first. The one chosen is marked; it stands last if it
    is not among the first."""
    rows: list[TableRow] = []
    alike = len({way.how for way in answers.ways}) == 1
    for word, word_ways in enumerate(answers.ways):
        written = ui_text.runs(word_ways.word, limit=_MOST_SHOWN)
        heading: list[Run] = [("‘", "muted"), *written, ("’", "muted")]
        heading += [(f"  {plural(word_ways.count, 'way')}", "strong"),
            ("" if alike else f" · {safe(word_ways.how, limit=200)}", "muted")]
        rows.append(TableRow((word, "word"), ((), (), tuple(heading))))
        shown: Sequence[tuple[tuple[bytes, ...], float | None]] = word_ways.ways
        if word_ways.chosen and word_ways.chosen not in [pieces for pieces, _ in shown]:
            shown = (*shown, (word_ways.chosen, None))
        rows += [_way(word, place, word_ways, pieces, chance) for place, (pieces, chance) in enumerate(shown)]
        if word_ways.count > len(shown):
            more = f"and {plural(word_ways.count - len(shown), 'more way')}"
            rows.append(TableRow((word, "rest"), ((), (), ((more, "muted"),))))
    return rows


def _way(
    word: int, place: int, of: WordSegmentations, pieces: tuple[bytes, ...], chance: float | None
) -> TableRow:
    taken = pieces == of.chosen
    written: list[Run] = []
    for at, piece in enumerate(pieces):
        written += [("│", "muted")] if at else []
        written += ui_text.tinted(ui_text.runs(piece, limit=_MOST_SHOWN), "accent" if taken else "")
    cells: tuple[Cell, ...] = (
        ((number(place + 1), "muted"),), ((number(len(pieces)), "muted"),), tuple(written),
        (("" if chance is None else f"{chance:.4f}".replace("-", "−"), ""),),
    )
    return TableRow((word, place), cells, mark="•" if taken else " ")


def needed(columns: Sequence[Column], rows: Sequence[TableRow]) -> tuple[Column, ...]:
    """Return the columns without the last ones that are empty in all rows."""
    used = max((n + 1 for row in rows for n, cell in enumerate(row.cells) if ui_text.width(cell)),
        default=len(columns))
    return tuple(columns[:used])


# The questions.


class Question(NamedTuple):
    """A question about a vocabulary.

    Attributes:
        title: Its title.
        short: A shorter one.
        columns: The columns of the answer.
        rows: The answer in rows.
        summary: The answer in a line.
    """

    title: str
    short: str
    columns: Sequence[Column]
    rows: Callable[[VocabularyReport], list[TableRow]]
    summary: Callable[[VocabularyReport], Cell]


QUESTIONS: tuple[Question, ...] = (
    Question(
        "1 What is used?", "1 Used",
        (Column("id", width=7, align="right", priority=1), Column("token", flex=1, min_width=8, priority=2),
            Column("kind", width=8), Column("why it is not used", flex=3, min_width=16, priority=2)),
        unused_rows, used_summary,
    ),
    Question(
        "2 What is saved?", "2 Saved",
        (Column("", width=7, align="right"), Column("document", flex=1, min_width=8, priority=3),
            Column("units", width=11, align="right", priority=1),
            Column("tokens", width=11, align="right", priority=1),
            Column("saved", width=11, align="right", priority=2), Column("", width=6, align="right")),
        savings_rows, saved_summary,
    ),
    Question(
        "3 What would more steps give?", "3 Exhaust",
        (Column(width=12, priority=1), Column(flex=1, min_width=12, priority=2)), exhaustion_rows,
        on_summary,
    ),
    Question(
        "4 Ways to split", "4 Ways",
        (Column("", width=4, align="right"), Column("tokens", width=6, align="right"),
            Column("written as", flex=1, min_width=10, priority=2),
            Column("log probability", width=15, align="right")),
        segmentation_rows, ways_summary,
    ),
)
ON, WAYS = 2, 3

_TURN = Hint("next", pane="list")


class QuestionsScreen(ListDialog[None]):
    """Shows the answers, one question at a time.

    Args:
        engine: The link to the session.
    """

    HEADING = "Questions"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,right", "turn(1)", "next", id="questions.next", group=_TURN,
            tooltip="Show the next question"),
        Binding("i,w", "ask_word", "word", id="questions.word", group=Hint(pane="list"),
            tooltip="Show how a word is segmented"),
        Binding("x", "exhaust", "train to the end", id="questions.exhaust", group=Hint(pane="list"),
            tooltip="Train to the end, to show what more steps would save"),
        Binding("enter", HANDLED, "segmentations", group=Hint(pane="line")),
        Binding("shift+tab,left", "turn(-1)", "previous", id="questions.previous", group=_TURN,
            tooltip="Show the previous question"),
        *(Binding(str(n + 1), f"go({n})") for n in range(len(QUESTIONS))),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self.answers: VocabularyReport | None = None
        self.question = 0
        """The place in `QUESTIONS` of the one that is seen."""
        self._word = ""
        self.tabs, self.told = CellText("tabs"), CellText("told")
        self.field = Field()
        line = labeled_input("word", self.field, "edit")
        self.parts = self.tabs, self.told, self.listing, line, self.notice

    def on_mount(self) -> None:
        """Ask."""
        self._ask(exhaust=False)

    # What is asked.

    def _ask(self, exhaust: bool) -> None:
        asking = _GOES_ON if exhaust else _WORKING
        self.find_out(AnalyzeVocabulary(self._word, exhaust), self._take, asking, self._not_done)

    def _take(self, answers: VocabularyReport) -> None:
        known = self.answers
        if answers.exhausted is None and known is not None and known.step == answers.step:
            answers = replace(answers, exhausted=known.exhausted)
        self.answers = answers
        self.notice.say("")
        self.lay_out()

    def _not_done(self, error: TokentuiError | Cancelled) -> None:
        self.notice.tell(error)
        self.lay_out()

    # What is seen.

    def tell_waiting(self) -> None:
        """Show what the answer waits for, in its place."""
        self.lay_out()

    def lay_out(self) -> None:
        """Fit titles and columns to the room there is."""
        question = QUESTIONS[self.question]
        # The ways of one word are no answer to another that is worked on.
        answers = None if self.question == WAYS and self.asking == _WORKING else self.answers
        self.tabs.show(_tabs(self.question, self.tabs.size.width))
        self.told.show(self._told(answers))
        rows = question.rows(answers) if answers else []
        self.listing.show(rows, self.listing.cursor_key, needed(question.columns, rows))

    def _told(self, answers: VocabularyReport | None) -> Cell:
        if self.question == ON and self.asking == _GOES_ON:
            return ((f"{_GOES_ON}{self.asked_so_far}", "strong"), ("  esc stops it", "muted"))
        if answers is not None:
            return QUESTIONS[self.question].summary(answers)
        return _GO_ON if self.question == ON else ((self.awaited or "no answer", "muted"),)

    # What the user does.

    def action_turn(self, by: int) -> None:
        """Go to another question."""
        self.action_go((self.question + by) % len(QUESTIONS))

    def action_go(self, question: int) -> None:
        """Go to a question by its number."""
        if not self.editing:
            self.question = question
            self.listing.move_to(0)
            self.lay_out()

    def action_exhaust(self) -> None:
        """Go on with a copy until nothing is left."""
        self.action_go(ON)
        if self.asking != _GOES_ON:
            self._ask(exhaust=True)

    def action_ask_word(self) -> None:
        """Type a word whose ways are wanted."""
        self.action_go(WAYS)
        self.edit(self.field, self._word)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Ask for the ways of the typed text; nothing stands for the words of the typed text."""
        if self.editing:
            self._word = event.value
            self.end_edit(self.listing)
            self._ask(exhaust=False)

    def action_leave(self) -> None:
        """Leave the line, or give up what is under way, or leave the dialog."""
        if not self.editing and self.asking == _GOES_ON:
            self.workers.cancel_group(self, "asked")
            self.asking = ""
            self._not_done(Cancelled())
        else:
            super().action_leave()


def _tabs(at: int, room: int) -> Cell:
    """Return the titles of the questions with that of the current one marked; short titles if there is no
    room."""
    for titles in ([question.title for question in QUESTIONS], [question.short for question in QUESTIONS]):
        line = [run for place, title in enumerate(titles)
            for run in (("  " if place else "", ""), (title, "key" if place == at else "muted"))]
        if ui_text.width(line) <= room:
            break
    return tuple(line)
