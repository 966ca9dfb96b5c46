"""What the panes say of GreedTok, Length-MAX and PathPiece: reasons, rows, what the last step did."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sessions import tell

from tokentui.axes import check
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.engine.state import State
from tokentui.session.training.training import prepare
from tokentui.text.corpus import Corpus
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.column_tables import candidates, entries
from tokentui.ui.panes.why import sentences

COUNTS = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
TEXT = " ".join(word for word, count in COUNTS.items() for _ in range(count))
RECIPE = Recipe(split="whitespace", unit="char", base="sorted", tie="smallest-pair", unknown="error")
SAID = {
    "greedtok": (
        ["next  n+e+w+e+s+t → newest   saved 30 in 6 places", "runner-up e+w+e+s+t 24 (−6)",
         "covers 6 places and saves 30", "79 → 49 tokens", "18 → 3"],
        ["made  n+e+w+e+s+t → newest", "next  w+i+d+e+s+t → widest   saved 15 in 3 places"],
    ),
    "length-max:most=6,by=saved": (
        ["next  n+e+w+e+s+t → newest   worth 30 in 6 places", "79 → 49 tokens",
         "value 6 places × 5 tokens saved in each = 30"],
        ["made  n+e+w+e+s+t → newest", "next  w+i+d+e+s+t → widest   worth 15 in 3 places"],
    ),
    "pathpiece": (
        ["next  ewest leaves   0 tokens more: no word has it", "runner-up idest 0 tokens more",
         "32 tokens are tied at 0", "of equals the longer one leaves first"],
        ["next  idest leaves   0 tokens more: no word has it", "31 tokens are tied at 0"],
    ),
}


def explorer(objective: str) -> State:
    axes = {"encode": "fewest-tokens"} if objective == "pathpiece" else {}
    recipe = check(RECIPE.with_axes(objective=objective, **axes))
    it = State(prepare(Corpus.from_text(TEXT, "test"), recipe, Run()))
    it.view = replace(
        it.view, candidates_rows=50, vocabulary_rows=50, corpus_chars=500, vocabulary_folded=False
    )
    tell(it, do.SetInput("newest newest newest"))
    return it


def said(it: State) -> str:
    return "\n".join("".join(text for text, _ in cell) for cell in sentences(it.snapshot(), "text"))


def table(it: State, rows: str) -> list[str]:
    """The rows of a pane as they are drawn, without their widths."""
    column = it.snapshot().main
    draw, page = (candidates, column.candidates) if rows == "candidates" else (entries, column.vocabulary)
    found = draw(column, "text", 100)

    def plain(cells: tuple[Cell, ...]) -> str:
        return " ".join("".join(text for text, _ in cell) for cell in cells)

    return [plain(found.row_of(row, page.top + n).cells) for n, row in enumerate(page.rows)]


@pytest.mark.parametrize("objective", SAID)
def test_reasons_before_and_after_a_step(objective: str) -> None:
    it = explorer(objective)
    for wanted in SAID[objective]:
        now = said(it)
        for one in wanted:
            assert one in now
        tell(it, do.Move(1))
    tell(it, do.Move(-2))
    assert all(one in said(it) for one in SAID[objective][0])


def test_rows_of_candidates() -> None:
    assert table(explorer("greedtok"), "candidates")[0].split()[:2] == ["n+e+w+e+s+t", "30"]
    assert table(explorer("length-max"), "candidates")[0].split()[:2] == ["e+w+e+s+t", "30╮"]
    it = explorer("pathpiece")
    tell(it, do.Move(32))
    assert table(it, "candidates")[0].split() == ["lower", "4", "2", "low+e+r"]


def test_what_left_is_among_the_entries() -> None:
    it = explorer("pathpiece")
    tell(it, do.Move(33))
    rows = table(it, "entries")
    assert any("lower  its absence cost 4 tokens" in row for row in rows)
    assert any("newest" in row and "piece" in row for row in rows)
