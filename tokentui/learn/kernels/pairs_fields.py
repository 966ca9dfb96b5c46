"""The arrays in which a training by the count of pairs is kept: what each row and field is. All kernels of `pairs` share them.

The algorithm is that of `tokentui.learn.cells`: all distinct words lie in one array of cells, a token has its symbol in its first
and its last cell, and the first cell of a token has the pair that starts there (0 where the word ends, the complement of its last
pair once a merge has swallowed it). What is read and written together is one row of an array.

Rows of the pair table, of places and of the log stay after a step back: at step k only those count that `steps[k]` says, and what
stands behind them is what the known steps will bring again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokentui.core.jit.compiling import numba, types

CELL = np.dtype([("symbol", np.int32), ("pair", np.int32)])
BOUNDARY = -1
"""The symbol of the cell between two words."""

PLACE = np.dtype([("place", np.uint32), ("weight", np.int32)])
"""Where each pair came to stand, pair after pair, each in text order, with the weight of the word."""

ENTRY = np.dtype([("place", np.uint32), ("old", np.int32)])
"""The log: the places of each merge, and the pair that started at the token to the left before it."""

PAIR = np.dtype([("left", np.int32), ("right", np.int32), ("first", np.int32), ("next", np.int32)])
"""Its two symbols, the first of its places (they end where those of the next pair begin), and the pair that follows it in its
chain of the queue."""

SYMBOL = np.dtype([("length", np.int32), ("before", np.int32), ("after", np.int32), ("order", np.int32)])
"""The fields of a symbol.

Attributes:
    length: Its length in cells.
    before: Within one merge, the latest pair (this symbol, newest symbol).
    after: Within one merge, the latest pair (newest symbol, this symbol).
    order: The position of its id among the ids.
"""

STEP = np.dtype([
    (name, np.int64)
    for name in ("pairs", "logged", "tokens", "chosen", "count", "replaced", "tied", "left_uses", "right_uses")
])
"""The number of pairs, the length of the log and that of the corpus in tokens before step k + 1; then of that step its pair and
its count, the weight of the places that were merged, how many pairs were as good, and the uses of the two symbols."""

RANKED = np.dtype([("worth", np.int64), ("key", np.int64), ("pair", np.int64)])
"""The worth of a pair, the greatest first, its key by the tie rule, the smallest first, and the pair."""

LEVEL, AT_LEVEL, HEAP = range(3)
"""The queue in numbers: the greatest count there is, how many candidates have it, and how many rows its heap has."""

FIRST_SEEN, LOWEST_IDS, SHORTEST, SMALLEST_PAIR, LARGEST_PAIR = range(5)
RULES = {
    "first-seen": FIRST_SEEN, "lowest-ids": LOWEST_IDS, "shortest": SHORTEST, "smallest-pair": SMALLEST_PAIR,
    "largest-pair": LARGEST_PAIR,
}
"""The tie rules. From `SHORTEST` on they look at the bytes of the pieces."""

NO_LIMIT = 1 << 30
"""A length that no token has."""


def _rows(row: Any) -> Any:
    return types.Array(numba.from_dtype(row), 1, "C")


CELLS, PLACES, LOG, TABLE, SYMBOLS, STEPS, RANKING = map(_rows, (CELL, PLACE, ENTRY, PAIR, SYMBOL, STEP, RANKED))
SHORTS = types.Array(types.int32, 1, "C")
