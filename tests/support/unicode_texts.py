"""Texts of characters that versions of Unicode treat differently."""

from __future__ import annotations

import random
import unicodedata

from tokentui.text.unicode import Listed, class_rows, table

BASES = "aeouAi \u1100\u1161\u11a8가각ךاকகກအ한ー\u09dd\u09be\u0b47\u1025\u11131\u11347\u0301\u0316"
PARTS = [0x11382, 0x113C2, 0x113C9, 0x16121, 0x16D67, 0x105D2, 0x11930, 0x11935]
"""Characters that begin or end a composition of a version after Unicode 9."""


def listed() -> list[str]:
    """Return the characters that normalization or accents treat differently."""
    names = ("INERT", "NO_MARKS", "ONCE_MARKS")
    rows = " ".join(map(table, names))
    later = (table("FORMS") + "\n" + table("CASES")).splitlines()
    new = [int(row.split()[0], 16) for row in later]
    codes = {code for first, last in Listed(rows).pairs for code in range(first, last + 1)}
    return list(map(chr, sorted(codes.union(new, PARTS))))


def classed() -> list[str]:
    """Return the ends of each row of characters whose class differs, and those before and after it."""
    codes = {
        code for row in class_rows() for code in (row.first - 1, row.first, row.last, row.last + 1)
    }
    return list(map(chr, sorted(codes)))


def marks() -> list[str]:
    """Return the marks of the installed tables."""
    every = (chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    return [char for char in every if unicodedata.category(char)[0] == "M"]


def sequences(count: int, seed: int = 1) -> list[str]:
    """Return random sequences of letters and marks, among them listed ones."""
    chance = random.Random(seed)
    pools = [listed(), listed(), marks(), list(BASES)]
    return [
        "".join(chance.choice(chance.choice(pools)) for _ in range(chance.randrange(1, 7)))
        for _ in range(count)
    ]


def texts(count: int, seed: int = 2) -> list[str]:
    """Return random texts of words, signs and digits, with characters whose class differs."""
    chance = random.Random(seed)
    pools = [classed(), list("abCD漢字अ한  12½'!.\n"), classed(), ["'s", " x", "12", "\r\n", "A\u0301"]]
    return [
        "".join(chance.choice(chance.choice(pools)) for _ in range(chance.randrange(1, 12)))
        for _ in range(count)
    ]
