"""Characters that are newer than Oniguruma's tables, which are those of Unicode 16.

The tables of `regex` may be those of Unicode 17 or 18. Shorthands and POSIX classes are translated so that
they match no newer character. Categories, scripts and other properties use the tables of `regex`, as the
program's own splits do.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import regex

_NEWER = (
    "558 58b-58c 5c8-5c9 88f b53-b54 c5c cdc 1acf-1af0 208f 209d-209f 20c1-20c4 2b96 2e60-2e63 a7ce-a7cf "
    "a7d2 a7d4 a7dd a7e2 a7f1 ab6c-ab6d fbc3-fbd2 fd90-fd91 fdc8-fdce 107bb-107bf 10940-10959 "
    "10ec5-10ec7 10ec9-10eee 10ef0-10efb 11b0a 11b60-11b67 11db0-11ddb 11de0-11de9 11df0-11df1 1246f "
    "12475-1247f 12550-12686 16ea0-16eb8 16ebb-16ed3 16ff2-16ff6 187f8-187ff 18cd6-18cda 18d09-18d20 "
    "18d80-18df2 18e00-19191 191a0-191d2 1b123-1b128 1b168 1ccfa-1ccfc 1ceba-1ced0 1ced2-1ced4 "
    "1cedd-1cefd 1d127-1d128 1d1eb-1d1ff 1d250-1d281 1d6a6 1db00-1db1c 1df1f-1df24 1df2b-1df81 "
    "1df90-1df96 1dfcd-1dfff 1e6c0-1e6de 1e6e0-1e6f5 1e6fe-1e6ff 1f1ae 1f6d8-1f6d9 1f777-1f77a "
    "1f7da-1f7db 1f7f1-1f7ff 1f8d0-1f8d8 1fa54-1fa57 1fa8a-1fa8e 1fac8 1facc-1facd 1fadd 1faea-1faeb "
    "1faef 1faf9-1fafa 1fbfa 2b73a-2b73f 2b81e 2cea2-2cead 323b0-33479 3d000-3fc3f"
)
"""The characters that Unicode 17 and 18 added, as ranges of code points."""
_FIRST = r"\u0558-\U0010ffff"
"""A range from the first of these characters to the last code point."""


def edges() -> list[tuple[int, int]]:
    """Return the first and last code point of each range."""
    pairs = (row.split("-") for row in _NEWER.split())
    return [(int(pair[0], 16), int(pair[-1], 16)) for pair in pairs]


def _ranges(pairs: Iterable[tuple[int, int]]) -> str:
    return "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in pairs)


@functools.cache
def newer_in(items: str) -> str:
    """Return the newer characters that bracket items match, as ranges; empty if there are none."""
    text = "".join(chr(code) for first, last in edges() for code in range(first, last + 1))
    pairs: list[tuple[int, int]] = []
    for code in map(ord, regex.findall(f"[{items}]", text, regex.VERSION0)):
        if pairs and pairs[-1][1] == code - 1:
            pairs[-1] = (pairs[-1][0], code)
        else:
            pairs.append((code, code))
    return _ranges(pairs)


def without(complement: str, newer: str) -> list[str]:
    """Return atoms that match everything except a complement and these newer characters. The first atom
    decides most characters by two comparisons."""
    return [f"[^{complement}{_FIRST}]", f"[^{complement}{newer}]"]


@functools.cache
def all_newer() -> str:
    """Return an atom that matches all newer characters. It is written as the gaps between them, so that a
    character before the first is decided by one comparison."""
    pairs = edges()
    starts = [0, *(last + 1 for _, last in pairs)]
    ends = [*(first - 1 for first, _ in pairs), 0x10FFFF]
    return f"[^{_ranges(zip(starts, ends, strict=True))}]"
