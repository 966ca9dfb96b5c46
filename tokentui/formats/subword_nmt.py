"""subword-nmt's codes: a merge a line, and no vocabulary.

The header says how words are marked: `#version: 0.2` glues the mark to the last unit, without a header it is a unit of its own;
`#version: 0.2 byte` has bytes as units. What the codes do not name passes through without an id. Source: subword-nmt 0.3.8, and
for bytes its repository of 2024.
"""

from __future__ import annotations

import functools

from tokentui.encode.imported import ImportedVocabulary, Origin, Pipeline
from tokentui.encode.segment.ranked import PairMerging
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.births import order_births
from tokentui.formats.source import Source
from tokentui.presets import preset
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import to_bytes

END = "</w>"
"""What ends a word."""

_VERSIONS = {"0.1": "subword-nmt-0.1", "0.2": "subword-nmt"}
_SNIFFED = 100


def is_codes(source: Source) -> bool:
    """Whether its first lines are two tokens each, below a header, or with a word's end among them."""
    lines = source.data[: 1 << 16].split(b"\n")[:_SNIFFED]
    header = lines[0].startswith(b"#version") if lines else False
    rows = [line.strip(b"\r ").split(b" ") for line in lines[header : max(len(lines) - 1, 1)]]
    if source.is_object or not (header or END.encode() in source.data):
        return False
    return bool(rows) and all(len(row) == 2 and all(row) for row in rows)


def read(source: Source) -> Tokenizer:
    """The tokenizer of codes. Units take the first ids, in the order in which they are named, then the merges.

    Raises:
        TokentuiError: It is damaged, or of a version that is not known.
    """
    place = source.place
    lines = source.data.rstrip(b"\n").split(b"\n")
    words = lines[0].split() if lines[0].startswith(b"#version") else []
    version = words[1].decode("ascii", "replace") if len(words) > 1 else "0.1"
    if version not in _VERSIONS or words[2:] not in ([], [b"byte"]):
        raise place.line(0).error(f"there is no version {version[:20]!r} of codes", "one of: " + ", ".join(_VERSIONS))
    bytes_, start = len(words) > 2, bool(words)
    rows: list[tuple[str, str]] = []
    for number, line in enumerate(lines[start:], start):
        try:
            row = line.strip(b"\r\n ").decode("latin-1" if bytes_ else "utf-8").split(" ")
        except UnicodeDecodeError:
            raise place.line(number).error("not UTF-8", "mend the line") from None
        if len(row) != 2 or not all(row):
            raise place.line(number).error("not two tokens with a space between them", "a line is a merge")
        rows.append((row[0], row[1]))
    made = dict.fromkeys(left + right for left, right in rows)
    named = dict.fromkeys(part for row in rows for part in row)
    vocabulary = {name: number for number, name in enumerate([*(name for name in named if name not in made), *made])}
    glued = version == "0.2"
    births = order_births(
        vocabulary, rows, lambda row: place.line(row + start), first_wins=True, is_unit=lambda name: _is_unit(name, glued)
    )
    recipe = preset(_VERSIONS[version], split=source.split or "space", unit="byte" if bytes_ else "char", base="first-seen")
    pieces = [name.encode("latin-1") if bytes_ else to_bytes(name) for name in births.tokens]
    roots = len(pieces) - len(births.merges)
    units = {pieces[symbol]: symbol for symbol in range(roots) if _is_unit(births.tokens[symbol], glued)}
    notes = ("codes hold no ids: they are numbered from 0, the units first", *births.notes)
    pipeline = Pipeline(functools.partial(PairMerging, rows=births.rows, makes=births.makes), Pretokenizer(recipe), notes=notes,
                        origin=Origin("subword-nmt", {}))
    return Tokenizer(ImportedVocabulary(recipe, pieces, births.ids, births.merges, units=units, pipeline=pipeline))


def _is_unit(name: str, glued: bool) -> bool:
    return len(name) == 1 or (len(name) == len(END) + 1 and name.endswith(END) if glued else name == END)
