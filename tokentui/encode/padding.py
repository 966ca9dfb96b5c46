"""Rows of ids of one length, as a model takes a batch: long texts are cut off, short ones are padded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tokentui.core.errors import TokentuiError

SIDES = ("right", "left")
Row = list[int | None]


class PaddedBatch(NamedTuple):
    """Texts as rows of ids.

    Attributes:
        ids: The ids of each row.
        mask: For each id 1, and 0 for padding.
        texts: The number of the text of each row, from 0. With a stride, a text may give several rows.
    """

    ids: list[Row]
    mask: list[list[int]]
    texts: list[int]


def windows(size: int, most: int, stride: int, side: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the parts of a text, as tokenizers cuts it: the part that is always kept comes
    first.

    A text that is short enough is one part.

    Args:
        size: The tokens of the text.
        most: The most tokens of a part.
        stride: The tokens that a part shares with the one before it.
        side: The side that is cut off.
    """
    start, end = (0, min(most, size)) if side == "right" else (max(0, size - most), size)
    yield start, end
    step = most - stride
    while (end < size) if side == "right" else (start > 0):
        if side == "right":
            start = start + step
            end = min(start + most, size)
        else:
            end = end - step
            start = max(0, end - most)
        yield start, end


def cut(
    rows: Iterable[Sequence[int | None]], before: Sequence[int], after: Sequence[int], most: int | None,
    stride: int | None, side: str,
) -> tuple[list[Row], list[int]]:
    """Split ids into rows of at most `most` ids, special tokens included. Return the rows, and the index of
    the text of each row.

    Args:
        rows: The ids of each text, without special tokens.
        before, after: The ids of the special tokens around a text, which are never cut off.
        most: The most ids of a row; None for any.
        stride: The tokens that a further row shares with the row before it; None to drop what is cut off.
        side: The side that is cut off.
    """
    around = len(before) + len(after)
    ids: list[Row] = []
    texts: list[int] = []
    for number, row in enumerate(rows):
        parts = [(0, len(row))] if most is None else list(
            windows(len(row), most - around, stride or 0, side))
        for start, end in parts if stride is not None else parts[:1]:
            ids.append([*before, *row[start:end], *after])
            texts.append(number)
    return ids, texts


def padded(
    ids: list[Row], texts: list[int], pad_id: int | None, length: int | None, multiple_of: int, side: str
) -> PaddedBatch:
    """Return rows with padding, up to a length or that of the longest, rounded up to a multiple.

    Args:
        ids: The rows.
        texts: The number of the text of each row.
        pad_id: The id of the padding; None to leave all rows as they are, whatever the length is.
        length: The length; None for that of the longest row. A longer row keeps its ids.
        multiple_of: A number that the length is rounded up to a multiple of.
        side: The side of the padding.
    """
    longest = max(map(len, ids), default=0) if length is None else length
    size = 0 if pad_id is None else -(-longest // multiple_of) * multiple_of
    rows, mask = [], []
    for row in ids:
        padding: Row = [pad_id] * (size - len(row))
        marks, blanks = [1] * len(row), [0] * len(padding)
        rows.append([*row, *padding] if side == "right" else [*padding, *row])
        mask.append([*marks, *blanks] if side == "right" else [*blanks, *marks])
    return PaddedBatch(rows, mask, texts)


def check_sides(**sides: str) -> None:
    """Check that each side is `right` or `left`.

    Raises:
        TokentuiError: One is not; it names the argument.
    """
    for name, side in sides.items():
        if side not in SIDES:
            raise TokentuiError(f"not a side: {side!r:.40}", name, "right or left")
