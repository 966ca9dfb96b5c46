"""The questions that a vocabulary raises: four answers, a word of one's own, and going on until nothing is
left."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable

import pytest
from dialogs import FakeEngine, assert_safe, pasted, shown, tried_on_all_sizes, typed
from screens import explorer, snapshot
from textual.widgets import Input
from waiting import screen_text, settled, until

from tokentui import learn
from tokentui.analyze.questions import report
from tokentui.analyze.results import (
    DocumentSaved,
    Exhausted,
    UnusedToken,
    VocabularyReport,
    WordSegmentations,
)
from tokentui.analyze.vocabulary import vocabulary_report
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.learn import start
from tokentui.recipe import Recipe, Stops
from tokentui.session.commands import (
    AnalyzeVocabulary,
    CountLanguages,
    EncodeChat,
    ExamineHealth,
    ExplainSteps,
)
from tokentui.session.views import Busy
from tokentui.text.corpus import Corpus
from tokentui.ui.dialogs import ListDialog, StatusLine
from tokentui.ui.dialogs.chat import ChatScreen
from tokentui.ui.dialogs.facts import FactsScreen
from tokentui.ui.dialogs.languages import LanguagesScreen
from tokentui.ui.dialogs.questions import QuestionsScreen
from tokentui.ui.dialogs.steps import WhyScreen
from tokentui.ui.draw.sections import screen_cell
from tokentui.ui.draw.table import Listing

END = Exhausted(15_004, 15_260, 206_552, 15_003, 15_004, "no pair is left")
HOW = "merges, in the order they were learned"
THE = WordSegmentations(
    " the", 5, (((b" the",), None), ((b" t", b"he"), None), ((b" ", b"t", b"he"), None)), (b" the",), HOW
)
HI = WordSegmentations(
    "hi", 2, (((b"hi",), -3.25), ((b"h", b"i"), -7.5)), (b"h", b"i"), "the most probable segmentation"
)
ANSWERS = VocabularyReport(
    step=128, vocab_size=384, used=378,
    unused=(
        UnusedToken(0, b"<|endoftext|>", "special", "special"), UnusedToken(7, b"\xc0", "byte", "byte"),
        UnusedToken(300, b" th", "merge", "swallowed", (b" the", b" that")),
        UnusedToken(301, b"zz", "merge", "not in the corpus"),
        UnusedToken(302, b"in g", "merge", "not chosen"),
        UnusedToken(303, b"\x1b[", "merge", "unreachable"),
    ),
    units=621_004, tokens=402_118,
    documents=(
        DocumentSaved(5, "Crime and\nPunishment", 400_000, 250_000),
        DocumentSaved(1, "On an \x1b[31m", 1000, 900),
    ),
    document_count=12, exhausted=None, ways=(THE, HI),
)


class Session(FakeEngine):
    """Answers what it is told to; going on takes until `end` is set."""

    def __init__(self) -> None:
        super().__init__(answers={AnalyzeVocabulary: lambda command: self(command.word, command.exhaust)})
        self.asked: list[tuple[str, bool]] = []
        self.end = asyncio.Event()
        self.given_up = 0
        self.held: asyncio.Event | None = None
        """Where it is set, an answer waits for it."""
        self.fails: Exception | None = None

    async def __call__(self, word: str, exhaust: bool) -> VocabularyReport:
        self.asked.append((word, exhaust))
        if exhaust:
            try:
                await self.end.wait()
            except asyncio.CancelledError:
                self.given_up += 1
                raise
        if self.held is not None:
            await self.held.wait()
        if self.fails is not None:
            raise self.fails
        ways = (dataclasses.replace(HI, word=word),) if word else ANSWERS.ways
        return dataclasses.replace(ANSWERS, ways=ways, exhausted=END if exhaust else None)


SHOWN = (
    ("378 of 384", "<|endof", "<C0>"), ("218,886", "150,000"),
    ("15,004", "206,552"), ("‘·the’", "·t│he", "·│t│he"),
)
"""What the answer to each question has at any size."""


async def test_each_question_has_its_answer() -> None:
    session = Session()
    session.end.set()
    dialog = QuestionsScreen(session)
    async with shown(dialog, (120, 40)) as (_app, pilot):
        await pilot.press("x")
        await until(pilot, lambda: dialog.answer is not None and dialog.answer.exhausted is not None)
        for size in ((120, 40), (80, 24), (40, 12)):
            await pilot.resize_terminal(*size)
            for question, words in enumerate(SHOWN, 1):
                await pilot.press(str(question))
                await until(pilot, lambda question=question: dialog.tab == question)  # type: ignore[misc]
                await pilot.pause()
                seen = screen_text(pilot)
                assert [one for one in words if one not in seen] == []


async def test_keys_go_from_question_to_question_and_sort_tables() -> None:
    dialog = QuestionsScreen(Session())
    async with shown(dialog, (120, 40)) as (app, pilot):
        await until(pilot, lambda: "378 of 384 tokens" in screen_text(pilot))
        for key, wanted in (
            ("tab", 2), ("right", 3), ("tab", 4), ("tab", 0), ("shift+tab", 4), ("left", 3), ("1", 1),
        ):
            await pilot.press(key)
            await until(pilot, lambda wanted=wanted: dialog.tab == wanted)  # type: ignore[misc]
        await pilot.press("end")
        listing = dialog.query_one(Listing)
        await until(pilot, lambda: listing.cursor == len(ANSWERS.unused) - 1)
        await pilot.press("2")
        await until(
            pilot, lambda: listing.cursor == 0 and "218,886 tokens saved, 35.2 %" in screen_text(pilot)
        )
        await pilot.press("1")
        def ids() -> list[str]:
            return ["".join(text for text, _ in row.cells[0]) for row in dialog.listing.rows]

        seen = [ids()]
        for _ in range(5):
            await pilot.press("S")
            seen.append(ids())
        assert seen[0] == ["0", "7", "300", "301", "302", "303"]
        assert seen[1] == ["303", "302", "301", "300", "7", "0"]  # numbers, the largest first
        assert seen[3] == ["7", "300", "301", "302", "303", "0"]  # kinds, as text
        assert seen[5] == seen[0]
        dialog.on_virtual_table_head_clicked(Listing.HeadClicked(dialog.listing, "id"))
        assert ids() == seen[1]
        await pilot.press("2")
        assert dialog.order == 0
        for _ in range(3):
            await pilot.press("S")
        assert ids() == ["5", "1", ""]  # by units; what is no document comes last
        await pilot.press("escape")
        await until(pilot, lambda: app.answered)


async def test_going_on_shows_that_it_works_and_can_be_left() -> None:
    session = Session()
    dialog = QuestionsScreen(session)
    async with shown(dialog) as (app, pilot):
        await until(pilot, lambda: dialog.answer)
        await pilot.press("3")
        await until(pilot, lambda: "x trains a copy" in screen_text(pilot))
        await pilot.press("x")
        await until(pilot, lambda: dialog.asking.startswith("training until no pair is left"))
        await pilot.press("x", "1")
        await until(pilot, lambda: "378 of 384 tokens" in screen_text(pilot))
        assert session.asked == [("", False), ("", True)]
        await pilot.press("escape")
        notice = dialog.query_one(StatusLine)
        await until(pilot, lambda: session.given_up == 1 and str(notice.content) == "stopped")
        assert not app.answered
        session.end.set()
        await pilot.press("x")
        await until(pilot, lambda: "15,003 of 15,004 distinct pre-tokens" in screen_text(pilot))
        assert dialog.tab == 3
        await pilot.press("escape")
        await until(pilot, lambda: app.answered)


async def test_leaving_the_dialog_gives_up_what_is_under_way() -> None:
    session = Session()
    dialog = QuestionsScreen(session)
    async with shown(dialog) as (app, pilot):
        await pilot.press("x")
        await until(pilot, lambda: session.asked[-1] == ("", True))
        dialog.dismiss(None)
        await until(pilot, lambda: app.answered and session.given_up == 1)


async def test_a_word_of_ones_own() -> None:
    session = Session()
    session.end.set()
    dialog = QuestionsScreen(session)
    async with shown(dialog) as (app, pilot):
        await pilot.press("x")
        await until(pilot, lambda: dialog.answer is not None and dialog.answer.exhausted is not None)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(dialog.focused, Input))
        await typed(pilot, "w 1x")
        await pilot.press("enter")
        await until(pilot, lambda: "‘w·1x’  2 ways" in screen_text(pilot))
        assert session.asked[-1] == ("w 1x", False)
        assert dialog.tab == 4
        assert dialog.answer is not None
        assert dialog.answer.exhausted == END, "what is known of the end is kept"
        await pilot.press("w", "escape")
        await until(pilot, lambda: isinstance(dialog.focused, Listing))
        assert not app.answered
        await pilot.press("w", "ctrl+u", "enter")
        await until(pilot, lambda: session.asked[-1] == ("", False) and "‘·the’" in screen_text(pilot))
        # The ways of one word are not shown for another.
        session.held = asyncio.Event()
        await pilot.press("w")
        await until(pilot, lambda: isinstance(dialog.focused, Input))
        await pasted(pilot, "other")
        await pilot.press("enter")
        waits = "waits: the engine is starting"  # the face of this test has no snapshot
        await until(pilot, lambda: waits in screen_text(pilot) and "‘·the’" not in screen_text(pilot))
        session.held.set()
        await until(pilot, lambda: "‘other’  2 ways" in screen_text(pilot))


@pytest.mark.parametrize(
    ("error", "words"), [(TokentuiError("broken", "a\nb"), r"a\nb: broken"), (Cancelled(), "stopped")]
)
async def test_what_goes_wrong_is_said(error: Exception, words: str) -> None:
    session = Session()
    session.fails = error
    dialog = QuestionsScreen(session)
    async with shown(dialog) as (_, pilot):
        await until(pilot, lambda: words in screen_text(pilot))
        await pilot.press("3", "2", "4")
        await pilot.pause()
        assert words in screen_text(pilot)
        assert_safe(pilot)


@pytest.mark.slow
async def test_all_sizes() -> None:
    dialog = QuestionsScreen(Session())
    async with shown(dialog) as (_, pilot):
        for key in "1234":
            await pilot.press(key)
            await tried_on_all_sizes(pilot)


@pytest.mark.slow
async def test_the_key_asks_the_session() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        session.answers[AnalyzeVocabulary] = ANSWERS
        await pilot.press("u")
        await until(pilot, lambda: "378 of 384 tokens" in screen_text(pilot))
        await pilot.press("x")
        await until(pilot, lambda: len(session.of(AnalyzeVocabulary)) == 2)
        assert session.of(AnalyzeVocabulary) == [AnalyzeVocabulary("", False), AnalyzeVocabulary("", True)]
        await until(pilot, lambda: isinstance(app.screen, QuestionsScreen) and not app.screen.asking)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


# The rows, without a screen.


def rows_of(answers: VocabularyReport, question: int) -> list[str]:
    """The rows of a section as text, with single blanks; marked ones begin with •."""
    section = report(answers).sections[question - 1]
    cells = [["".join(text for text, _ in screen_cell(cell)) for cell in row.cells] for row in section.rows]
    return [
        " ".join(["•"] * row.marked + texts).strip() for row, texts in zip(section.rows, cells, strict=True)
    ]


def summary_of(answers: VocabularyReport, question: int) -> str:
    """The summary of a section as text."""
    return "".join(text for text, _ in screen_cell(report(answers).sections[question - 1].summary))


def test_every_reason_is_said_in_words() -> None:
    assert [row.split(" ", 3)[-1] for row in rows_of(ANSWERS, 1)] == [
        "special: it is never made from text",
        "a byte that does not occur here",
        "it always became part of ·the, ·that",
        "never occurs in the corpus",
        "spelled, but other tokens are used there",
        "no text encodes to it",
    ]
    none = dataclasses.replace(ANSWERS, unused=(), used=384)
    assert summary_of(none, 1).endswith(" · every one is used")


def test_documents_that_are_not_listed_are_counted() -> None:
    assert rows_of(ANSWERS, 2)[0] == "5 Crime·and⏎Punishment 400,000 250,000 150,000 37.5 %"
    assert rows_of(ANSWERS, 2)[-1] == "and 10 more documents"
    all_of_them = dataclasses.replace(ANSWERS, document_count=2)
    assert len(rows_of(all_of_them, 2)) == 2


def test_the_way_that_is_taken_is_marked_and_always_there() -> None:
    rows = rows_of(ANSWERS, 4)
    assert [row for row in rows if row.startswith("•")] == ["• ‘·the’  5 ways 1 ·the", "•  2 h│i −7.5000"]
    assert "and 2 more ways" in rows
    far = dataclasses.replace(ANSWERS, ways=(dataclasses.replace(THE, ways=THE.ways[1:], count=9),))
    assert [row[:1] for row in rows_of(far, 4)] == ["‘", "3", "•", "a"]
    assert rows_of(far, 4)[-1] == "and 6 more ways"


def test_a_column_without_figures_is_left_out() -> None:
    plain = dataclasses.replace(ANSWERS, ways=(THE,))
    assert len(report(plain).sections[3].columns) == 3
    assert len(report(ANSWERS).sections[3].columns) == 4


def test_nothing_is_divided_by_nothing() -> None:
    empty = VocabularyReport(0, 0, 0, (), 0, 0, (), 0, Exhausted(0, 0, 0, 0, 0, "no pair is left"), ())
    assert summary_of(empty, 2).startswith("0 tokens saved, –")
    assert all(section.rows for section in report(empty).sections)  # so that each has its number
    assert rows_of(empty, 4) == ["i types a word"]


def test_documents_are_numbered_as_they_stand_in_the_corpus() -> None:
    corpus = Corpus.from_lines(["abab", "xy", "ababab"])
    trainer = start(corpus, Recipe(split="none"))
    learn.run(trainer, Stops(merges=1))
    answers = vocabulary_report(trainer.tokenizer(), corpus)
    assert [row.split()[:2] for row in rows_of(answers, 2)] == [["3", "ababab"], ["1", "abab"], ["2", "xy"]]


ASKED = AnalyzeVocabulary, ExplainSteps, ExamineHealth, CountLanguages, EncodeChat


@pytest.mark.parametrize("make", [
    QuestionsScreen, lambda engine: WhyScreen(engine, (1,)), FactsScreen, LanguagesScreen, ChatScreen,
], ids=["questions", "why", "facts", "languages", "chat"])
@pytest.mark.first_run(cases=1)
async def test_a_long_question_shows_how_far_it_is(make: Callable[[FakeEngine], ListDialog[None]]) -> None:
    """A report that takes seconds shows the share done and the time left, in every dialog."""

    async def never(_: object) -> None:
        await asyncio.Event().wait()

    engine = FakeEngine(snapshot(), answers=dict.fromkeys(ASKED, never))
    dialog = make(engine)
    async with shown(dialog) as (_, pilot):
        dialog.follow(snapshot(asked=Busy("", 45, 100, left=12)))
        await until(pilot, lambda: "… 45 %, 12 s left" in screen_text(pilot))
        dialog.follow(snapshot(asked=Busy("", 46, 100, left=11)))
        await until(pilot, lambda: "… 46 %, 11 s left" in screen_text(pilot))
