"""minbpe's `.model`: a pattern, special tokens with their ids, and merges of ids from 256 on.

Source: karpathy/minbpe, `base.py`.
"""

from __future__ import annotations

import functools
import re

from tokentui.encode.imported import ImportedVocabulary, Origin, Pipeline
from tokentui.encode.segment.ranked import PairMerging
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.source import Source
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import SPLITS

HEADER = "minbpe v1"
_LARGEST = 1 << 26
"""All tokens together have fewer bytes than this: a line may double the longest one."""
_MERGE = re.compile(r"\s*([0-9]{1,9})\s+([0-9]{1,9})\s*")
_SPECIAL = re.compile(r"(.+?)\s+([0-9]{1,9})")


def is_model(source: Source) -> bool:
    """Whether its first line is the header."""
    return source.data.split(b"\n", 1)[0].strip() == HEADER.encode()


def read(source: Source) -> Tokenizer:
    """The tokenizer of a `.model`.

    Raises:
        TokentuiError: It is damaged.
    """
    place, lines = source.place, source.lines
    if source.text is None:
        raise place.error("not UTF-8")
    if len(lines) < 3 or not re.fullmatch("[0-9]{1,9}", lines[2].strip()):
        raise place.line(2).error("the number of special tokens belongs here", "mend the file or train it again")
    pattern, count = lines[1].strip(), int(lines[2])
    specials: dict[str, int] = {}
    for number in range(3, 3 + count):
        row = _SPECIAL.fullmatch(lines[number].strip()) if number < len(lines) else None
        if row is None or row[1] in specials:
            raise place.line(number).error("a special token and its id belong here, each once", "mend the line")
        specials[row[1]] = int(row[2])
    pieces = [bytes((value,)) for value in range(256)]
    pairs: list[tuple[int, int]] = []
    size = 0
    for number in range(3 + count, len(lines)):
        row = _MERGE.fullmatch(lines[number])
        if row is None or int(row[1]) >= len(pieces) or int(row[2]) >= len(pieces):
            raise place.line(number).error("not a merge of two ids that are there before it", "mend the line")
        pairs.append((int(row[1]), int(row[2])))
        pieces.append(pieces[pairs[-1][0]] + pieces[pairs[-1][1]])
        size += len(pieces[-1])
        if size > _LARGEST:
            raise place.line(number).error("the tokens are longer than those of any tokenizer", "mend the line")
    taken = {number: name for name, number in specials.items()}
    clash = next((name for number, name in taken.items() if number < len(pieces)), None)
    if clash is not None or len(taken) < len(specials):
        raise place.error(f"the special token {clash or '…'!r} has the id of another token", "ids stand once")
    named = next((name for name, entry in SPLITS.items() if entry.pattern == pattern), f"regex:{pattern}") if pattern else "none"
    recipe = Recipe(split=named, base="bytes", tie="first-seen")
    if source.split and source.split != recipe.split:
        raise place.error(f"the split cannot be changed to {source.split}", f"the file holds its split: {recipe.split}")
    width = len(pieces)
    rows = {left * width + right: row for row, (left, right) in enumerate(pairs)}
    twice = len(pairs) - len(rows)
    notes = (f"{twice} pairs stand in two lines: the last line of a pair counts",) if twice else ()
    pipeline = Pipeline(
        functools.partial(PairMerging, rows=rows, makes=range(256, width)), Pretokenizer(recipe), notes=notes,
        origin=Origin("minbpe", {}),
    )
    return Tokenizer(ImportedVocabulary(
        recipe, pieces, list(range(width)), pairs, units={piece: value for value, piece in enumerate(pieces[:256])},
        pipeline=pipeline, specials=dict(sorted(specials.items(), key=lambda item: item[1])),
    ))
