"""CLIP's `bpe_simple_vocab_16e6.txt`: merges below a header, and what CLIP's program makes of them.

The vocabulary is not written down: the letters of the bytes, the same with `</w>`, a token a merge, two
specials. Only the first merges count. Source: openai/CLIP, `simple_tokenizer.py`.
"""

from __future__ import annotations

import re

from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.huggingface.words import CLIP
from tokentui.formats.merge_files import build
from tokentui.formats.source import Source
from tokentui.formats.tokens import LETTERS, NO_PAIR, ORDER

SIZE = 49_152
"""The ids that CLIP's program counts with, but for the two specials among them."""
_HEADER = re.compile(rb'"?bpe_simple_vocab_16e6\.txt#version')
_SPECIALS = ("<|startoftext|>", "<|endoftext|>")


def sniff(source: Source) -> bool:
    """Return whether its first line is the header."""
    return _HEADER.match(source.data) is not None


def read(source: Source) -> Tokenizer:
    """The tokenizer of the file.

    Raises:
        TokentuiError: It is damaged.
    """
    if source.text is None:
        raise source.error("not UTF-8", "fetch the file again")
    rows: list[tuple[str, str]] = []
    lines = source.lines[1 : SIZE - 256 - len(_SPECIALS) + 1]
    for number, line in enumerate(lines, 1):
        row = line.split()
        if len(row) != 2:
            raise source.line(number).error(NO_PAIR, "a line is a merge")
        rows.append((row[0], row[1]))
    units = [LETTERS[value] for value in ORDER]
    names = [
        *units, *(unit + CLIP.mark_text for unit in units), *(left + right for left, right in rows),
        *_SPECIALS,
    ]
    named = {name: number for number, name in enumerate(names)}
    notes = [
        "broken text is not mended first, as CLIP's program does it with ftfy",
        f"special tokens are {' and '.join(_SPECIALS)}, as OpenAI names them; open_clip calls them otherwise",
    ]
    if twice := len(names) - len(named):
        notes.append(f"{twice} tokens are made by two rows: the last one counts, as in CLIP's program")
    if left := len(source.lines) - 1 - len(lines):
        beyond = "merges lie beyond the size of the vocabulary and are left out"
        notes.append(f"{left} {beyond}, as CLIP's program does it")
    recipe = CLIP.with_axes(split=source.split or CLIP.split)
    return build(named, rows, lambda row: source.line(row + 1), recipe, notes)
