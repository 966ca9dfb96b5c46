"""subword-nmt's codes: a merge a line, and no vocabulary.

The header says how words are marked: `#version: 0.2` glues the mark to the last unit, without a header it is
a unit of its own; `#version: 0.2 byte` has bytes as units. What the codes do not name passes through without
an id. Source: subword-nmt 0.3.8, and for bytes its repository of 2024.
"""

from __future__ import annotations

import functools

from tokentui.encode.pipeline import ImportedVocabulary, Origin, Pipeline
from tokentui.encode.segment.merges import PairMerging
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.source import Source
from tokentui.formats.spec import Fitted, Refused, Spec, Token, merge_rows
from tokentui.formats.tokens import NO_PAIR, in_merge_order, is_unit
from tokentui.presets import PRESETS
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import to_bytes

_END = "</w>"
"""The end of a word."""
_VERSIONS = {"0.1": "subword-nmt-0.1", "0.2": "subword-nmt"}
_SNIFFED = 100


def sniff(source: Source) -> bool:
    """Return whether its first lines are two tokens each, below a header, or with a word's end among them."""
    lines = source.data[: 1 << 16].split(b"\n")[:_SNIFFED]
    header = lines[0].startswith(b"#version") if lines else False
    rows = [line.strip(b"\r ").split(b" ") for line in lines[header : max(len(lines) - 1, 1)]]
    if source.is_object or not (header or _END.encode() in source.data):
        return False
    return bool(rows) and all(len(row) == 2 and all(row) for row in rows)


def read(source: Source) -> Tokenizer:
    """The tokenizer of codes. Units take the first ids, in the order in which they are named, then the
    merges.

    Raises:
        TokentuiError: It is damaged, or of a version that is not known.
    """
    lines = source.data.rstrip(b"\n").split(b"\n")
    words = lines[0].split() if lines[0].startswith(b"#version") else []
    version = words[1].decode("ascii", "replace") if len(words) > 1 else "0.1"
    if version not in _VERSIONS or words[2:] not in ([], [b"byte"]):
        raise source.line(0).error(f"there is no version {version[:20]!r} of codes",
                                   "one of: " + ", ".join(_VERSIONS))
    bytes_, start = len(words) > 2, bool(words)
    rows: list[tuple[str, str]] = []
    for number, line in enumerate(lines[start:], start):
        try:
            row = line.strip(b"\r\n ").decode("latin-1" if bytes_ else "utf-8").split(" ")
        except UnicodeDecodeError:
            raise source.line(number).error("not UTF-8", "mend the line") from None
        if len(row) != 2 or not all(row):
            raise source.line(number).error(NO_PAIR, "a line is a merge")
        rows.append((row[0], row[1]))
    made = dict.fromkeys(left + right for left, right in rows)
    named = dict.fromkeys(part for row in rows for part in row)
    vocabulary = {
        name: number for number, name in enumerate([*(name for name in named if name not in made), *made])
    }

    def unit(name: str) -> bool:
        return is_unit(name, suffix=_END) if version == "0.2" else len(name) == 1 or name == _END

    ordered = in_merge_order(vocabulary, rows, lambda row: source.line(row + start), first_wins=True,
                             is_unit=unit)
    recipe = PRESETS[_VERSIONS[version]].recipe.with_axes(
        split=source.split or "space", unit="byte" if bytes_ else "char", base="first-seen"
    )
    pieces = [name.encode("latin-1") if bytes_ else to_bytes(name) for name in ordered.tokens]
    units = {pieces[symbol]: symbol for symbol, name in enumerate(ordered.roots) if unit(name)}
    notes = ("codes hold no ids: they are numbered from 0, the units first", *ordered.notes)
    pipeline = Pipeline(functools.partial(PairMerging, rows=ordered.rows, makes=ordered.makes),
                        Pretokenizer(recipe), notes=notes, origin=Origin("subword-nmt", {}))
    return Tokenizer(ImportedVocabulary(recipe, pieces, ordered.ids, ordered.merges, units=units,
                                        pipeline=pipeline))


def fit(spec: Spec) -> Fitted:
    """A tokenizer as codes hold it: the merges, nothing else.

    Raises:
        Refused: They cannot.
    """
    recipe = spec.recipe
    glued, byte_level = recipe.mark_kind == "end-suffix", recipe.unit == "byte"
    if byte_level and not glued:
        raise Refused(f"its units are bytes with mark={recipe.mark}", "",
                      f"codes of bytes have mark=end-suffix:{_END}")

    def named(piece: bytes) -> str:
        return piece.decode("latin-1") if byte_level else piece.decode("utf-8", "surrogateescape")

    fitted = Fitted(
        recipe, [Token(entry.id, named(entry.piece), entry.piece) for entry in spec.ordinary],
        list(merge_rows(spec.merges, named, "; train with --as lines")),
        said={"version": "0.2" if glued else "0.1", "byte": byte_level}, keeps_ids=False,
    )
    fitted.lose("ids", "there are none: readers number the tokens as they like")
    if recipe.unknown != "pass-through":
        fitted.lose_unknown(f"unknown={recipe.unknown} becomes: they stay in the text as they are")
    return fitted


def write(fitted: Fitted) -> tuple[bytes, ...]:
    """The bytes of codes."""
    byte_level = fitted.said["byte"] is True
    header = "" if fitted.said["version"] == "0.1" else f"#version: 0.2{' byte' * byte_level}\n"
    text = "".join(f"{left} {right}\n" for left, right, _ in fitted.rows)
    return (header.encode() + (text.encode("latin-1") if byte_level
                               else text.encode("utf-8", "surrogateescape")),)
