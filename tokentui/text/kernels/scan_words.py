"""Kernels that find the end of a word by the rule of its split.

Texts are UTF-8. A lone surrogate has three bytes, as "surrogatepass" writes it. Each rule tries the
alternatives of the split's pattern in `tokentui.text.split` in their order.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.core.native import inlined
from tokentui.text.kernels.rules import (
    EITHER,
    GPT2,
    GPT4_TRAILING,
    GPT4O,
    LOWER,
    MARK,
    NEWLINE,
    NUMBER,
    SIGN,
    UPPER,
    Split,
)

Ints = Sequence[int]


@inlined
def width_of(lead: int) -> int:
    """Return the number of bytes of a character, by its first byte."""
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


@inlined
def code_at(data: Ints, at: int) -> int:
    """Return the code point of the character at a place."""
    lead = data[at]
    if lead < 0x80:
        return lead
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | data[at + 1] & 0x3F
    if lead < 0xF0:
        return (lead & 0xF) << 12 | (data[at + 1] & 0x3F) << 6 | data[at + 2] & 0x3F
    return (lead & 7) << 18 | (data[at + 1] & 0x3F) << 12 | (data[at + 2] & 0x3F) << 6 | data[at + 3] & 0x3F


@inlined
def class_of(code: int, split: Split) -> int:
    """Return the class of a code point."""
    return int(split.low[split.high[code >> 7] << 7 | code & 127])


@inlined
def class_at(data: Ints, at: int, end: int, split: Split) -> int:
    """Return the class of the character at a place, -1 at the end of the text."""
    return class_of(code_at(data, at), split) if at < end else -1


@inlined
def run_end(data: Ints, at: int, end: int, first: int, last: int, split: Split) -> int:
    """Return where a run of classes from `first` to `last` ends."""
    while at < end and first <= class_of(code_at(data, at), split) <= last:
        at += width_of(data[at])
    return at


@inlined
def contraction_letter(data: Ints, at: int, end: int, split: Split) -> int:
    """Return the letter at a place, as lower-case ASCII if case is ignored; 0 if there is no letter."""
    if at >= end:
        return 0
    code = code_at(data, at)
    folds = split.folds
    if len(folds) > 0:
        if 65 <= code <= 90:
            return code + 32
        for n in range(0, len(folds), 2):
            if folds[n] == code:
                return int(folds[n + 1])
    return code if 97 <= code <= 122 else 0


@inlined
def contraction_end(data: Ints, at: int, end: int, split: Split) -> int:
    """Return where a contraction ('s, 't, 're, 've, 'm, 'll or 'd) that starts at a place ends; the place
    itself if there is none."""
    if at >= end or data[at] != 39:
        return at
    letter = contraction_letter(data, at + 1, end, split)
    if letter == 0:
        return at
    after = at + 1 + width_of(data[at + 1])
    if letter == 115 or letter == 100 or letter == 109 or letter == 116:  # s d m t
        return after
    second = contraction_letter(data, after, end, split)
    # ll ve re
    if (letter == 108 and second == 108) or ((letter == 118 or letter == 114) and second == 101):
        return after + width_of(data[after])
    return at


@inlined
def spaces_end(data: Ints, at: int, end: int, by_lines: bool, trailing: bool, split: Split) -> int:
    r"""Return the end of white space: by `\s++$` with `trailing`, by `\s*[\r\n]+` with `by_lines`, then by
    `\s+(?!\S)` and `\s`."""
    here, last, line = at, at, -1
    while here < end:
        kind = class_of(code_at(data, here), split)
        if kind > NEWLINE:
            break
        last = here
        here += width_of(data[here])
        if kind == NEWLINE:
            line = here
    if trailing and here == end:
        return here
    if by_lines and line >= 0:
        return line
    return here if here == end or last == at else last


@inlined
def gpt2_end(data: Ints, at: int, end: int, split: Split) -> int:
    """Return the end of a word of GPT-2: letters, digits or symbols, with an optional space before;
    contractions; white space."""
    after = contraction_end(data, at, end, split)
    if after > at:
        return after
    start = at + 1 if data[at] == 32 and class_at(data, at + 1, end, split) > NEWLINE else at
    kind = class_of(code_at(data, start), split)
    if kind >= EITHER:
        return run_end(data, start, end, EITHER, LOWER, split)
    if kind == NUMBER:
        return run_end(data, start, end, NUMBER, NUMBER, split)
    if kind >= SIGN:
        return run_end(data, start, end, SIGN, MARK, split)
    return spaces_end(data, at, end, False, True, split)


@inlined
def number_end(data: Ints, at: int, end: int, split: Split) -> int:
    """Return the end of at most three digits; `at` if there are none."""
    for _ in range(3):
        if class_at(data, at, end, split) == NUMBER:
            at += width_of(data[at])
    return at


@inlined
def signs_end(data: Ints, at: int, end: int, slashes: bool, split: Split) -> int:
    """Return the end of a run of symbols, with an optional space before and with the line ends after it; `at`
    if there are no symbols. With `slashes`, slashes among the line ends belong to it."""
    start = at + 1 if data[at] == 32 else at
    here = run_end(data, start, end, SIGN, MARK, split)
    if here == start:
        return at
    while here < end and (data[here] == 10 or data[here] == 13 or (slashes and data[here] == 47)):
        here += 1
    return here


@inlined
def gpt4_end(data: Ints, at: int, end: int, trailing: bool, split: Split) -> int:
    """Return the end of a word of GPT-4: contractions; letters after any character but a line end; up to
    three digits; symbols; white space."""
    after = contraction_end(data, at, end, split)
    if after > at:
        return after
    kind = class_of(code_at(data, at), split)
    if kind == NUMBER:
        return number_end(data, at, end, split)
    start = at if kind >= EITHER or kind == NEWLINE else at + width_of(data[at])
    after = run_end(data, start, end, EITHER, LOWER, split)
    if after > start:
        return after
    after = signs_end(data, at, end, False, split)
    return after if after > at else spaces_end(data, at, end, True, trailing, split)


@inlined
def cased_end(data: Ints, at: int, end: int, split: Split) -> int:
    """Return the end of `[upper]*[lower]+`, where marks and letters without case are both; `at` if there is
    no match.

    The first part is greedy. If no lower case follows, it backtracks to the last character that is both.
    """
    here, both = at, at
    while here < end:
        kind = class_of(code_at(data, here), split)
        if kind < MARK or kind > UPPER:
            break
        here += width_of(data[here])
        if kind <= EITHER:
            both = here
    if class_at(data, here, end, split) != LOWER:
        return both
    while here < end:
        kind = class_of(code_at(data, here), split)
        if kind < MARK or kind == UPPER:
            break
        here += width_of(data[here])
    return here


@inlined
def gpt4o_end(data: Ints, at: int, end: int, split: Split) -> int:
    """Return the end of a word of GPT-4o: as GPT-4, but words end before an upper case, and include marks and
    a contraction after them."""
    kind = class_of(code_at(data, at), split)
    if kind == NUMBER:
        return number_end(data, at, end, split)
    if kind != NEWLINE:
        start = at if kind >= EITHER else at + width_of(data[at])
        after = cased_end(data, start, end, split)
        if after == start and kind == MARK:
            start = at
            after = cased_end(data, start, end, split)
        if after == start:
            after = run_end(data, start, end, UPPER, UPPER, split)
        if after > start:
            return contraction_end(data, after, end, split)
    after = signs_end(data, at, end, True, split)
    return after if after > at else spaces_end(data, at, end, True, False, split)


@inlined
def word_end(data: Ints, at: int, end: int, split: Split) -> int:
    """Return the end of the word that starts at a place before `end`."""
    if split.rule == GPT2:
        return gpt2_end(data, at, end, split)
    if split.rule == GPT4O:
        return gpt4o_end(data, at, end, split)
    return gpt4_end(data, at, end, split.rule == GPT4_TRAILING, split)
