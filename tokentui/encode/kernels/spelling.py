"""The pairs of tokens that spell a token, by a kernel.

Check `tokentui.core.engines.available` before you import this module.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping

from tokentui.encode.kernels import words
from tokentui.text.kernels.count import PAD, Table, bounds_of
from tokentui.text.parts import FlatWords


def spelled_pairs(table: Mapping[bytes, int], width: int) -> tuple[array[int], array[int]]:
    """Return each pair of tokens that spells a token, as `left * width + right`, and that token's symbol.

    Args:
        table: The symbol of each token by its bytes.
        width: A number greater than each symbol.
    """
    pieces = list(table)
    data, bounds, room = b"".join((*pieces, PAD)), bounds_of(pieces), sum(map(len, pieces))
    known = Table()
    known.add(FlatWords(data[:room], bounds, array("q", bytes(8 * len(pieces)))))
    keys, made = array("q", bytes(8 * room)), array("q", bytes(8 * room))
    symbols = array("q", map(table.__getitem__, pieces))
    count = words.spell_pairs(data, data, bounds, known.words, symbols, width, keys, made)
    return keys[:count], made[:count]
