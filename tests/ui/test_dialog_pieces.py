"""Pieces on the screen: each behind the number of its branch, as far into the corpus as one scrolls."""

from __future__ import annotations

import asyncio
import re
from itertools import pairwise

import pytest
from dialogs import FakeEngine, assert_safe, shown, tried_on_all_sizes
from hypothesis import given
from hypothesis import strategies as st
from screens import explorer
from waiting import screen_text, settled, until

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import is_safe
from tokentui.session.commands import Find, Pieces
from tokentui.session.snapshot import PiecePart, PiecesView
from tokentui.session.views import CorpusPlace, Found
from tokentui.ui.dialogs import FindScreen, pieces
from tokentui.ui.dialogs.pieces import PiecesScreen, PiecesText
from tokentui.ui.draw.text import Cell, runs, width

BRANCHES = ("letters, with a space in front   ?\\p{L}++", "digits  \\p{N}++", "signs  [^\\s\\p{L}\\p{N}]++")
_PIECE = re.compile(r"(?P<a> ?[^\W\d_]+)|(?P<b>\d+)|(?P<c>[^\w\s]+)|(?P<d>\s)")
WORDS = "On an exceptionally hot evening, early in July 1866.\r\nHe had avoided meeting his landlady.\n"


def cut(text: str, offset: int = 0) -> tuple[PiecePart, ...]:
    """A text in pieces of three branches; whitespace only is dropped."""
    return tuple(
        PiecePart(
            m.group(), offset + m.start(), offset + m.end(), {"a": 0, "b": 1, "c": 2}.get(m.lastgroup or "")
        )
        for m in _PIECE.finditer(text)
    )


def plain(cells: list[Cell]) -> list[str]:
    """Rows as text."""
    return ["".join(text for text, _ in cell) for cell in cells]


class Corpus(FakeEngine):
    """A program with a corpus of documents that answers as the session does: it steps over a number of empty
    documents, and from the end of the last one there is nothing."""

    most_empty = 2

    def __init__(self, *documents: str, typed: str = "It's 12 o'clock\t!", warning: str = "") -> None:
        super().__init__(answers={Pieces: lambda command: self(command.place)})
        self.documents, self.typed, self.warning = documents, typed, warning
        self.asked: list[CorpusPlace] = []
        self.fails: Exception | None = None

    async def __call__(self, place: CorpusPlace) -> PiecesView:
        self.asked.append(place)
        await asyncio.sleep(0)
        if self.fails is not None:
            raise self.fails
        (number, offset), last = place, len(self.documents) - 1
        furthest = min(number + self.most_empty, last)
        while number < furthest and offset >= len(self.documents[number]):
            number, offset = number + 1, 0
        whole = cut(self.documents[number])
        found = [part for part in whole if part.end > offset and part.start < offset + 60]
        where = CorpusPlace(number, found[0].start if found else offset)
        return PiecesView("gpt2", BRANCHES, cut(self.typed), where, tuple(found), 9, 17, 13, self.warning)


def text_of(dialog: PiecesScreen) -> PiecesText:
    """The text of a dialog."""
    return dialog.query_one(PiecesText)


async def test_each_piece_has_the_number_of_its_branch() -> None:
    dialog = PiecesScreen(Corpus(WORDS * 2, "二 documents"), CorpusPlace())
    async with shown(dialog, (120, 40)) as (_app, pilot):
        for size in ((120, 40), (80, 24), (40, 12)):
            await pilot.resize_terminal(*size)
            await pilot.press("end")
            await until(pilot, lambda: "the end of the corpus" in plain(list(text_of(dialog).cells)))
            await pilot.press("home")
            await settled(pilot)
            assert text_of(dialog).top == 0
            seen = screen_text(pilot)
            assert "Typed text" in seen
            assert "17 pre-tokens, 9 distinct" in seen
            assert "¹It│³'│¹s·│²12│¹·o│³'│¹clock⇥│³!" in seen
            assert "¹On│¹·an│¹·exceptionally│¹·hot" in seen


@pytest.mark.slow
async def test_it_scrolls_through_the_whole_corpus_and_asks_for_nothing_twice() -> None:
    corpus = Corpus(WORDS * 20, "", "", "2 more.", WORDS * 3)
    dialog = PiecesScreen(corpus, CorpusPlace())
    async with shown(dialog, (40, 12)) as (_, pilot):
        text = text_of(dialog)
        for _ in range(200):
            if "the end of the corpus" in plain(list(text.cells)):
                break
            await pilot.press("end")
        rows = "\n".join(plain(list(text.cells)))
        assert rows.count("³,") == 23
        assert "document 4\n²2│¹·more│³." in rows
        assert len(set(corpus.asked)) == len(corpus.asked)
        await pilot.press("home")
        await until(pilot, lambda: text.top == 0)


@pytest.mark.parametrize(("empty", "questions"), [(2, 2), (7, 5)])
async def test_empty_documents_are_stepped_over_as_far_as_a_question_goes(empty: int, questions: int) -> None:
    corpus = Corpus(*[""] * empty, "2 more.")
    async with shown(PiecesScreen(corpus, CorpusPlace()), (40, 12)) as (_, pilot):
        await until(pilot, lambda: "the end of the corpus" in screen_text(pilot))
        assert f"document {empty + 1}" in screen_text(pilot)
        assert "²2│¹·more│³." in screen_text(pilot)
        assert len(corpus.asked) == questions


async def test_a_corpus_of_nothing_ends_at_once() -> None:
    corpus = Corpus("", "")
    async with shown(PiecesScreen(corpus, CorpusPlace()), (40, 12)) as (_, pilot):
        await until(pilot, lambda: "the end of the corpus" in screen_text(pilot))
        assert len(corpus.asked) == 2


async def test_it_begins_at_the_place_and_goes_to_the_start() -> None:
    corpus = Corpus("x", WORDS * 3)
    dialog = PiecesScreen(corpus, CorpusPlace(1, len(WORDS) + 4))
    async with shown(dialog) as (_, pilot):
        await until(pilot, lambda: f"from character {len(WORDS) + 5} of document 2" in screen_text(pilot))
        assert corpus.asked[0] == CorpusPlace(1, len(WORDS) + 4)
        # The piece that holds the place is there as a whole.
        assert any(row.startswith("¹·an│¹·exceptionally") for row in plain(list(text_of(dialog).cells)))
        await pilot.press("b")
        await until(pilot, lambda: "¹x" in screen_text(pilot))
        assert CorpusPlace() in corpus.asked


async def test_a_warning_and_a_failure_are_said() -> None:
    corpus = Corpus(WORDS, warning="the longest piece has 1,000,000 \x1b[ characters")
    dialog = PiecesScreen(corpus, CorpusPlace())
    async with shown(dialog) as (_, pilot):
        await until(pilot, lambda: "the longest piece has 1,000,000" in screen_text(pilot))
        assert_safe(pilot)
        corpus.fails = TokentuiError("gone", "a\nb")
        await pilot.press("b")
        await until(pilot, lambda: r"a\nb: gone" in screen_text(pilot))


async def test_what_is_given_up_is_no_failure() -> None:
    corpus = Corpus(WORDS)
    corpus.fails = Cancelled()
    async with shown(PiecesScreen(corpus, CorpusPlace())) as (app, pilot):
        await until(pilot, lambda: corpus.asked)
        await pilot.press("escape")
        await until(pilot, lambda: app.answered)


async def test_the_legend_is_hidden_and_shown() -> None:
    dialog = PiecesScreen(Corpus(WORDS), CorpusPlace())
    async with shown(dialog) as (_, pilot):
        await until(pilot, lambda: "² digits  \\p{N}++" in screen_text(pilot))
        await pilot.press("l")
        await until(pilot, lambda: "² digits" not in screen_text(pilot))
        await pilot.resize_terminal(40, 12)
        await until(pilot, lambda: "² digits" in screen_text(pilot))
        await pilot.press("l")
        await until(pilot, lambda: "² digits" not in screen_text(pilot))


@pytest.mark.slow
async def test_all_sizes() -> None:
    corpus = Corpus("\x1b]0;x\x07 [/] \u202e 漢字 \udc80\n" * 9, typed="", warning="\x9b")
    async with shown(PiecesScreen(corpus, CorpusPlace())) as (_, pilot):
        await until(pilot, lambda: "U+202E" in screen_text(pilot))
        await tried_on_all_sizes(pilot)


async def test_the_key_asks_from_the_place_that_is_looked_at() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        session.answers[Pieces] = await Corpus(WORDS)(CorpusPlace())
        await pilot.press("1", "p")
        await until(
            pilot, lambda: isinstance(app.screen, PiecesScreen) and "exceptionally" in screen_text(pilot)
        )
        assert session.of(Pieces)[0] == Pieces(app.main.text.top_place)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


# The rows, without a screen.


@given(st.text(st.sampled_from("ab 1.é漢\n\t\r\x1b\u202e"), max_size=80), st.integers(8, 40))
def test_chips_are_in_the_tints_of_their_branches(text: str, room: int) -> None:
    """With bars between those of one branch, and no other signs in the text."""
    parts = cut(text)
    cells = list(pieces.rows(parts, room, chips=True))
    assert all(width(cell) <= room for cell in cells)
    assert all(is_safe(run) for cell in cells for run, _ in cell)
    drawn = [(char, style.partition("+")[0]) for cell in cells for run, style in cell for char in run]
    expected = [
        (char, "dropped" if part.branch is None else pieces.ground_of(part.branch))
        for part in parts for run, _ in runs(part.text) for char in run
    ]
    letters = "ab1.é漢"
    assert [one for one in drawn if one[0] in letters] == [one for one in expected if one[0] in letters]
    joined = ["".join(run for run, style in cell if style.startswith("tint")) for cell in cells]
    bars = sum(line.count("│") for line in joined)
    assert bars <= sum(left.branch == right.branch for left, right in pairwise(parts))


@given(st.text(st.sampled_from("ab 1.é漢\n\t\r\x1b\u202e"), max_size=80), st.integers(8, 40))
def test_rows_hold_everything_in_order_and_fit(text: str, room: int) -> None:
    parts = cut(text)
    cells = list(pieces.rows(parts, room))
    assert all(width(cell) <= room for cell in cells)
    numbers = [part.branch for part in parts if part.branch is not None]
    seen = [mark for row in plain(cells) for mark in row if mark in "¹²³"]
    assert seen == [pieces.number_of(branch) for branch in numbers]
    drawn = "".join(plain(cells))
    assert drawn.count("a") + drawn.count("b") == text.count("a") + text.count("b")
    assert drawn.count("⏎") == sum(part.text.count("\n") for part in parts)


def test_spaces_are_seen_and_what_is_dropped_is_dim() -> None:
    [row] = pieces.rows(cut("a b 1\t2"), 40)
    assert "".join(text for text, _ in row) == "¹a│¹·b·│²1⇥│²2"
    [dropped] = pieces.rows((PiecePart("xx", 0, 2, None),), 40)
    assert dropped == (("xx", "dropped"),)


def test_branches_have_numbers_and_looks_of_their_own() -> None:
    assert [pieces.number_of(branch) for branch in (0, 3, 9, 11)] == ["¹", "⁴", "¹⁰", "¹²"]
    assert len({pieces.style_of(branch) for branch in range(10)}) == 10


def test_a_huge_piece_is_cut() -> None:
    cells = plain(list(pieces.rows((PiecePart("x" * 100_000, 0, 100_000, 0),), 80)))
    assert len(cells) < 60
    assert cells[-1].endswith("96,000 more")


async def test_a_text_is_found_in_the_corpus_and_pieces_are_filtered() -> None:
    corpus = Corpus(WORDS * 2, "2 more.")
    corpus.answers[Find] = Found(CorpusPlace(1, 2), 1, 1)
    dialog = PiecesScreen(corpus, CorpusPlace())
    async with shown(dialog, (100, 30)) as (_, pilot):
        await until(pilot, lambda: "hot" in screen_text(pilot))
        await pilot.press("ampersand", "slash")
        assert [type(screen) for screen in corpus.pushed] == [FindScreen, FindScreen]
        dialog.narrow("hot")
        await until(pilot, lambda: "only pre-tokens with ‘hot’" in screen_text(pilot))
        await until(pilot, lambda: "the end of the corpus" in screen_text(pilot))
        assert "evening" not in screen_text(pilot)
        assert screen_text(pilot).count("·hot") == 2
        await pilot.press("escape")
        await until(pilot, lambda: "evening" in screen_text(pilot))
        await dialog.find("more")
        await until(pilot, lambda: "from character 3 of document 2 on" in screen_text(pilot))
        assert corpus.of(Find)[0].text == "more"
        dialog.narrow("zz")
        await until(pilot, lambda: "only pre-tokens with ‘zz’" in screen_text(pilot))
        await pilot.press("escape", "escape")
