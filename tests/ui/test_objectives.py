"""What the main screen shows of each objective: columns, marks, sentences, steps."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from objectives import GAGE, LEFT, LOSSES, PIECES, ROUND, SCORE, SCORED, UNIGRAM
from rows import pair_row
from screens import draw, explorer, screen_text, snapshot
from waiting import until

from tokentui.core.errors import TokentuiError
from tokentui.learn import Judged, Round, Why
from tokentui.session.commands import StepPieces
from tokentui.session.views import CurveView
from tokentui.ui.app import ExplorerApp
from tokentui.ui.bindings import actions_of
from tokentui.ui.dialogs import FindScreen
from tokentui.ui.dialogs.help import HelpScreen
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.draw.figures import amount, behind, decimal
from tokentui.ui.draw.text import Cell
from tokentui.ui.main_screen import MainScreen
from tokentui.ui.panes.column_tables import ColumnTable, _ties, candidates, replacement_cell
from tokentui.ui.panes.scrubber import curve, scrubber
from tokentui.ui.panes.why import sentences
from tokentui.ui.waits import has

STATES = {"score": SCORE, "unigram": UNIGRAM, "gage": GAGE}
SIZES = ((120, 40), (80, 24), (40, 12))
SHOWN = {
    ("score", "2"): ("▸ ##q+##u 1,201", "0.0038219", "##z+##z 196", "2.4456e-4╮"),
    ("score", "3"): ("·w 6,711",),
    ("unigram", "2"): ("× ▁inde", "1.23e-7 p+tion", "▸ llé", "−∞ ▁in+de"),
    ("unigram", "3"): ("aa 900 −5.000", "ba 869 −5.333"),
    ("gage", "2"): ("A+B C xxxd 2", "B+q C xdq 1╮", "q+A C qxx 1╯"),
    ("gage", "3"): ("66 B = x+d 2", "65 A = x+x 2", "120 x 1"),
}
"""What the panes of candidates and of the vocabulary show under each objective."""


def plain(cell: Cell) -> str:
    """A cell without its styles."""
    return "".join(text for text, _ in cell)


def said(**changes: Any) -> str:
    """What the Why pane has to say of a snapshot, a sentence a line."""
    return "\n".join(plain(cell) for cell in sentences(snapshot(**changes), "text"))


@pytest.mark.slow
async def test_each_objective_has_its_columns_and_numbers() -> None:
    app, session = explorer(typed="The crowd in the street")
    async with app.run_test(size=SIZES[0]) as pilot:
        for name, size in itertools.product(STATES, SIZES):
            await pilot.resize_terminal(*size)
            await draw(app, session, pilot, **STATES[name])
            for pane in ("2", "3"):
                await pilot.press(pane)
                await pilot.pause()
                text = " ".join(screen_text(app).split())
                assert [one for one in SHOWN[name, pane] if one not in text] == [], (name, pane, size)


def columns(text: str) -> list[int]:
    """Where on a screen the columns of the candidates and the edges of panes are."""
    head = next(line for line in text.splitlines() if "uses" in line or "f(xy)" in line or "spelled" in line)
    return [n for n in range(1, len(head)) if head[n - 1] == " " != head[n]]


@pytest.mark.slow
async def test_nothing_jumps_while_a_unigram_model_is_stepped() -> None:
    app, session = explorer()
    fewer = tuple(dataclasses.replace(row, expected=row.expected / 7, uses=row.uses // 7) for row in LOSSES)
    rounds = dataclasses.replace(ROUND, pieces=812, going=None, next="em", last="prune", taken=0)
    why = dataclasses.replace(UNIGRAM["why"], round=rounds)
    async with app.run_test(size=SIZES[0]) as pilot:
        await draw(app, session, pilot, **UNIGRAM)
        await pilot.press("2")
        for size in SIZES:
            await pilot.resize_terminal(*size)
            first = await draw(app, session, pilot, **UNIGRAM)
            later = await draw(app, session, pilot, **{**UNIGRAM, "step": 6, "pairs": fewer, "why": why})
            assert len(first.splitlines()) == size[1]
            assert columns(first) == columns(later)
            assert [line.find("step ") for line in first.splitlines()] == [
                line.find("step ") for line in later.splitlines()
            ]


@pytest.mark.slow
async def test_one_objective_after_another() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        before = await draw(app, session, pilot)
        for state, title, head in (
            (SCORE, "2 Pairs", "behind"), (UNIGRAM, "2 Pieces", "instead"), (GAGE, "2 Pairs", "spelled"),
        ):
            text = await draw(app, session, pilot, **state)
            assert title in text
            assert head in text
        assert await draw(app, session, pilot) == before


# WordPiece by score.


def test_scores_say_the_formula_the_runner_up_and_what_is_known_of_it() -> None:
    assert said(**SCORE).splitlines() == [
        "next  ##q+##u → ##qu   1,201 / (1,204 · 261) = 0.0038219, the score f(xy)/(f(x)·f(y))",
        "runner-up ##z+##z 0.0036731 (3.9 % behind)",
        "no least pair count is set: rare pairs win",
        "text 402,118 → 400,917 tokens (−0.3 %)",
        "made  ##z+##z → ##zz   0.0036731",
    ]
    tied = said(**{**SCORE, "why": Why(SCORED[2], SCORED[3], 2, 900, "first-seen", None)})
    assert "2 pairs are tied at 2.4456e-4: first-seen takes the one that occurs first" in tied
    assert "runner-up k+##u 2.4456e-4 (equal)" in tied


@given(st.floats(1e-300, 1e6), st.integers(7, 12))
def test_a_figure_fits_its_column_and_is_what_it_says(value: float, width: int) -> None:
    text = decimal(value, width)
    assert len(text) <= width or value >= 10.0 ** (width - 1) or value < 1e-99
    assert float(text) == pytest.approx(value, rel=0.05)


def test_figures() -> None:
    assert [
        decimal(v, 9) for v in (1.0, 0.5, 0.0038219, 3.81124e-6, -8.25, float("inf"), float("-inf"), 0.0)
    ] == ["1.0000000", "0.5000000", "0.0038219", "3.8112e-6", "−8.250000", "∞", "−∞", "0.0000000"]
    assert [behind(v, 1.0) for v in (1.0, 0.99995, 0.9997, 0.96, 0.88, 0.02, 0.005, 0.0001, 2.0)] == [
        "", "<0.01 %", "0.03 %", "4.0 %", "12 %", "98 %", "99.5 %", ">99.9 %", ""]
    assert [amount(v) for v in (0.4, 99.94, 99.96, 41_200.3)] == ["0.4", "99.9", "100", "41,200"]


@given(st.floats(0, 1), st.floats(0, 1))
def test_how_far_behind_fits_its_column(value: float, best: float) -> None:
    assert len(behind(value, best)) <= 7


# Unigram.


def test_rounds_say_what_comes_and_what_was_done() -> None:
    assert said(**UNIGRAM).splitlines() == [
        "next  pruning of round 2   1,204 of 29,916 pieces go",
        "2 gone one by one, 1,202 to go",
        "removes the pieces with the smallest loss, and those with a better segmentation",
        "after EM: objective 8.12345 → 8.01234 (−0.11111)",
        "29,914 pieces, 2 dropped",
    ]


@pytest.mark.parametrize(
    ("at", "starts"),
    [
        (Round("seeds", 1, 33, 0, 9.28, None, "em", None), "next  EM of round 1: expected counts"),
        (Round("prune", 1, 20, 5, 9.3, 9.2, "em", None), "next  EM of round 2: expected counts"),
        (Round("em", 3, 20, 0, 9.3, 9.2, "cut", 1), "next  the last cut   1 of 20 pieces goes"),
        (Round("prune", 3, 20, 9, 9.3, 9.2, "cut", 4), "next  the last cut   4 of 20 pieces go"),
    ],
)
def test_steps_are_called_what_they_are(at: Round, starts: str) -> None:
    assert said(**{**UNIGRAM, "why": Why(None, None, 0, 0, "", None, (), at)}).startswith(starts)


def test_the_end_of_a_unigram_training_says_where_it_stands() -> None:
    at = Round("cut", 4, 8000, 120, 8.5, 8.4, "", None)
    text = said(**{**UNIGRAM, "why": Why(None, None, 0, 0, "", "vocab_size", (), at)})
    assert text.splitlines() == [
        "end  vocab_size", "after the last cut: objective 8.40000 → 8.50000 (+0.10000)",
        "8,000 pieces, 120 dropped",
    ]


def table_of(app: ExplorerApp) -> ColumnTable:
    """The pane of candidates."""
    return app.main.pairs


async def test_what_goes_is_marked_what_has_gone_is_struck_and_ties_are_marked() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await draw(app, session, pilot, **UNIGRAM)
        # Dropped pieces are rows of the vocabulary and no tokens of it.
        assert plain(app.main.vocabulary.note) == f"newest first · tokens: {len(PIECES)}"
        rows = [table_of(app).row_at(n) for n in range(7)]
        assert [row.mark for row in rows if row] == ["×", "×", "▸", "−", "−", "−", " "]
        assert [row.cells[0][0][1] for row in rows if row] == [
            "gone", "gone", "warning", "warning", "warning", "warning", "",
        ]
        assert [row.dim for row in rows if row] == [True] * 2 + [False] * 5
        assert "1,204 go" in screen_text(app)
        coming = dataclasses.replace(ROUND, last="prune", next="em", going=None, taken=0)
        why = Why(None, None, 0, 0, "", None, (), coming)
        await draw(app, session, pilot, **{**UNIGRAM, "pairs": LOSSES[2:], "why": why})
        rows = [table_of(app).row_at(n) for n in range(5)]
        assert [row.mark for row in rows if row] == ["−", "−", "−", "−", " "]
        # Close scores show enough digits to differ. A bracket joins scores that tie.
        close = pair_row(
            b"##z", b"##z", b"##zz", SCORED[0].count * 9_999, left_uses=1204 * 10_000, right_uses=261
        )
        text = await draw(app, session, pilot, **{**SCORE, "pairs": (SCORED[0], close, *SCORED[2:])})
        lines = {line.split("┌")[0].strip(): line for line in text.splitlines() if "##" in line}
        assert any("0.0038219" in line for line in lines)
        assert any("0.0038215" in line and "0.01 %" in line for line in lines)
        assert [one.partition("2.4456e-4")[2][:1] for one in lines if "2.4456e-4" in one] == ["╮", "╯"]


@pytest.mark.slow
async def test_what_left_stands_below_the_vocabulary_with_its_reason() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        state = {
            **UNIGRAM, "why": dataclasses.replace(UNIGRAM["why"], round=dataclasses.replace(ROUND, taken=0)),
        }
        assert "expected < 0.5" not in await draw(app, session, pilot, **state)
        await pilot.press("3", "end")
        await until(pilot, lambda: "– ness␛  low loss" in screen_text(app))
        text = screen_text(app)
        assert "– ▁crowd  expected < 0.5" in text
        assert app.main.vocabulary.total == len(LEFT) + len(PIECES)
        await draw(app, session, pilot, **{**state, "vocabulary": PIECES, "vocabulary_order": "id"})
        assert app.main.vocabulary.total == len(PIECES)


@pytest.mark.slow
async def test_a_piece_by_loss_and_one_that_left_can_be_inspected() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await draw(app, session, pilot, **UNIGRAM)
        for pane, word in (("2", "instead"), ("3", "low loss")):
            await pilot.press(pane, *(["end"] if pane == "3" else []), "enter")
            await until(pilot, lambda: isinstance(app.screen, InspectScreen))
            await until(pilot, lambda word=word: word in screen_text(app))  # type: ignore[misc]
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)


@pytest.mark.parametrize(
    ("corpus_bytes", "tokens", "words"), [(1_000_001, 1, "(1,000,001.00 B/token)"), (0, 0, "")]
)
def test_bytes_of_a_token_are_told_where_there_is_one(corpus_bytes: int, tokens: int, words: str) -> None:
    now = snapshot(corpus_bytes=corpus_bytes, tokens=tokens, start_tokens=tokens, curve=(tokens,))
    line = plain(scrubber(now, 120)[0])
    assert words in line
    assert ("B/token" in line) == bool(words)


def test_the_curve_of_a_unigram_training_has_room_for_a_longer_corpus() -> None:
    longer = snapshot(
        **{**UNIGRAM, "start_tokens": 10, "curve": (10, 15, 20), "curve_end": 2, "step": 0}
    ).main
    assert plain(curve(longer, 3)) == "┃··"
    full = dataclasses.replace(longer, curve=CurveView(tuple(10 + n for n in range(64)), 2))
    assert plain(curve(full, 5))[1:] == "▃▅▆█"


@pytest.mark.slow
async def test_a_terminal_that_was_too_small_gives_the_figures_their_room_again() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await draw(app, session, pilot, **UNIGRAM)
        await until(pilot, lambda: "newest first" in screen_text(app))
        first = screen_text(app)
        await pilot.resize_terminal(10, 5)
        await until(pilot, lambda: app.main.has_class("tiny"))
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: screen_text(app) == first)


@pytest.mark.slow
async def test_pieces_are_sought_by_their_name_and_fine_steps_are_for_unigram_only() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await draw(app, session, pilot, **UNIGRAM)
        assert "l next piece  h previous piece" in screen_text(app)
        await pilot.press("2", "slash")
        await until(
            pilot, lambda: isinstance(app.screen, FindScreen) and "find in pieces >" in screen_text(app)
        )
        await pilot.press("escape", "question_mark", "question_mark")
        await until(
            pilot, lambda: isinstance(app.screen, HelpScreen) and "piece, back" in screen_text(app)
        )
        await pilot.press("escape")
        text = await draw(app, session, pilot)
        assert "piece back" not in text
        session.answers[StepPieces] = TokentuiError("a merge is the finest step")
        await pilot.press("l")
        await until(pilot, lambda: "a merge is the finest step" in screen_text(app))


def test_actions_are_offered_where_they_mean_something() -> None:
    fine = {"next_piece", "previous_piece", "next_100_pieces", "previous_100_pieces"}
    kinds: dict[str, dict[str, Any]] = {"count": {}, "score": SCORE, "gage": GAGE, "unigram": UNIGRAM}
    for name, changes in kinds.items():
        now = snapshot(**changes)
        meant = {one.id for one in actions_of(MainScreen, {}) if has(now, one.hint.needs)}
        assert fine & meant == (fine if name == "unigram" else set())
        assert ("compressed" in meant) == (name == "gage")


# Gage.


def test_a_placeholder_is_named_by_its_letter_and_its_figure() -> None:
    assert [plain(replacement_cell(byte)) for byte in (b"A", b"\xff", b"\x00", b"\xad", b"")] == [
        "A", "ÿ FF", "00", "AD", "none",
    ]


def test_what_stands_for_the_next_pair_is_said() -> None:
    assert said(**GAGE).splitlines() == [
        "next  A+B → C for xxxd   2 places, 2 replaced", "runner-up B+q 1 (−1)", "250 bytes are free",
        "made  B+q → C   1 place · tied with another: largest-pair takes the last in alphabetical order",
    ]


@pytest.mark.slow
async def test_only_the_placeholder_is_marked_as_new_and_it_says_its_pair() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        base = GAGE["vocabulary"][2]._replace(id=66, piece=b"B")
        text = await draw(
            app, session, pilot, **{**GAGE, "vocabulary": (*GAGE["vocabulary"], base), "vocab_size": 5}
        )
        assert "B = x+d" in text
        rows = [row for n in range(5) if (row := app.main.vocabulary.row_at(n))]
        marked = [any(style == "accent+strong" for cell in row.cells for _, style in cell) for row in rows]
        assert marked == [True, False, False, False, False]


def cells_of(bar: str) -> float:
    """The length of a drawn bar in cells."""
    eighths = " ▏▎▍▌▋▊▉█"
    return sum(eighths.index(part) for part in bar) / 8


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("width", [30, 50, 80])
@given(
    counts=st.lists(st.integers(1, 10**6), min_size=1, max_size=12),
    top=st.integers(0, 5),
)
def test_bars_in_pairs_are_proportional_to_counts_from_zero(width: int, counts: list[int], top: int) -> None:
    counts = sorted(counts, reverse=True)
    rows = tuple(pair_row(b"x", bytes([97 + n]), b"x", count) for n, count in enumerate(counts))
    main = snapshot(
        pairs=rows[top:], pairs_top=min(top, len(rows)), pairs_total=len(rows),
        why=Why(rows[0], None, 1, counts[0], "first-seen"),
    ).main
    drawn = candidates(main, "text", width)
    place = next(n for n, column in enumerate(drawn.columns) if column.title in ("", "saves"))
    shares = drawn.columns[place].title == "saves"
    full = drawn.columns[place].width - 8 * shares
    for n, count in enumerate(counts[top:], top):
        cell = drawn.row_of(rows[n], n).cells[place]
        if shares:
            assert plain(cell[2:]).strip() == f"{100 * count / main.at.tokens:.2f} %"
        length = cells_of(plain(cell[:1]))
        assert length == pytest.approx(full * count / counts[0], abs=1 / 8)


def test_a_tie_is_said_once_with_a_bracket_beside_its_rows() -> None:
    counts = ((7, True), (7, True), (6, False))
    rows = tuple(
        pair_row(b"x", bytes([97 + n]), b"x", count, tied=tied) for n, (count, tied) in enumerate(counts)
    )
    why = Why(rows[0], rows[1], 2, 7, "first-seen")
    made = []
    for shown in rows, rows[:2]:
        main = snapshot(pairs=shown, pairs_total=len(shown), why=why).main
        drawn = candidates(main, "text", 60)
        made.append([drawn.row_of(row, n) for n, row in enumerate(shown)])
    assert [plain(row.cells[1]) for row in made[0]] == ["7╮", "7╯", "6 "]
    lengths = [cells_of(plain(row.cells[2][:1])) for row in (made[0][0], made[0][2])]
    assert lengths == [8, pytest.approx(8 * 6 / 7, abs=1 / 8)]
    assert [plain(rows[1].cells[2]) for rows in made] == ["2 tied"] * 2
    # Nothing has changed.
    assert {plain(row.cells[3]) for row in made[0]} == {""}


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.integers(0, 3), st.integers(0, 3))
def test_brackets_hold_the_rows_that_tie(lengths: list[int], top: int, more: int) -> None:
    """Each group has one that begins and ends with it, unless it goes on beyond the page. How many tie is
    said where that is known."""
    worths = [100 - n for n, length in enumerate(lengths) for _ in range(length)]
    total = top + len(worths) + more
    found = _ties(worths, top, total, 100, lengths[0] if not top and (len(lengths) > 1 or not more) else 5)
    at = 0
    for n, length in enumerate(lengths):
        begins, ends = n > 0 or not top, n < len(lengths) - 1 or not more
        signs = "".join(found.get(place, ("", None))[0] for place in range(at, at + length))
        whole = "" if length < 2 else "╮" * begins + "│" * (length - begins - ends) + "╯" * ends
        assert signs == whole
        said = [found[place][1] for place in range(at, at + length) if place in found]
        size = 5 if n == 0 and not (begins and ends) else length if begins and ends else 0
        assert said == ([None, f"{size} tied" if size else "", *[""] * (length - 2)] if length > 1 else [])
        at += length


async def test_pairs_are_titled_by_the_language_whose_counts_they_show() -> None:
    app, session = explorer()
    async with app.run_test(size=SIZES[0]) as pilot:
        for size in SIZES[:2]:
            await pilot.resize_terminal(*size)
            assert "Pairs in" not in await draw(app, session, pilot)
            for chosen in ("Hindi", "English"):
                judged = tuple(Judged(name, 9, 9, name == chosen) for name in ("English", "Hindi"))
                main = snapshot().main.why
                text = await draw(app, session, pilot, why=dataclasses.replace(main, judged=judged))
                assert f"2 Pairs in {chosen}" in text
        assert "Pairs in" not in await draw(app, session, pilot)
