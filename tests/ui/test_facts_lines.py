"""The lines of the facts: broken between words, nothing lost but the blank at a break, none wider than there
is room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tokentui.ui.draw.text import Cell, width, wrap

_CELLS = st.lists(
    st.tuples(st.text("ab·界 \u0301", max_size=12), st.sampled_from(["", "muted"])), max_size=6
).map(tuple)


def plain(cell: Cell) -> str:
    return "".join(text for text, _ in cell)


def test_words_stay_whole() -> None:
    cell: Cell = (("merges, no fuse_unk", ""), ("   encode=merges unknown=never", "muted"))
    assert [plain(line) for line in wrap(cell, 40, words=True)] == [
        "merges, no fuse_unk   encode=merges ", "unknown=never",
    ]
    assert [plain(line) for line in wrap((("abcdefgh", ""),), 3, words=True)] == ["abc", "def", "gh"]
    assert wrap((), 10, words=True) == [()]


@given(_CELLS, st.integers(2, 20))
def test_nothing_is_lost_and_nothing_too_wide(cell: Cell, room: int) -> None:
    lines = wrap(cell, room, words=True)
    assert all(width(line) <= room for line in lines)
    whole, texts = plain(cell), [plain(line) for line in lines]
    assert "".join(texts).replace(" ", "") == whole.replace(" ", "")
    assert len(whole) - sum(map(len, texts)) <= len(texts), "a blank a break, at most"
