"""minbpe's `.model`: a pattern, special tokens with their ids, and merges of ids from 256 on.

Source: karpathy/minbpe, `base.py`.
"""

from __future__ import annotations

import functools
import re

from tokentui.encode.pipeline import ImportedVocabulary, Origin, Pipeline
from tokentui.encode.segment.merges import PairMerging
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.source import Source
from tokentui.formats.spec import Fitted, Refused, Spec, Token, pattern_of, split_of
from tokentui.formats.tiktoken import check_bytes
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import compile_pattern

_HEADER = "minbpe v1"
_LARGEST = 1 << 26
"""All tokens together have fewer bytes than this: a line may double the longest one."""
_MERGE = re.compile(r"\s*([0-9]{1,9})\s+([0-9]{1,9})\s*")
_SPECIAL = re.compile(r"(.+?)\s+([0-9]{1,9})")
_SPACE = re.compile(r"\s")
_LINE_END = re.compile(r"[\n\r]")


def sniff(source: Source) -> bool:
    """Return whether its first line is the header."""
    return source.data.split(b"\n", 1)[0].strip() == _HEADER.encode()


def read(source: Source) -> Tokenizer:
    """The tokenizer of a `.model`.

    Raises:
        TokentuiError: It is damaged.
    """
    lines = source.lines
    if source.text is None:
        raise source.error("not UTF-8")
    if len(lines) < 3 or not re.fullmatch("[0-9]{1,9}", lines[2].strip()):
        raise source.line(2).error("the number of special tokens belongs here")
    pattern, count = lines[1].strip(), int(lines[2])
    specials: dict[str, int] = {}
    for number in range(3, 3 + count):
        row = _SPECIAL.fullmatch(lines[number].strip()) if number < len(lines) else None
        if row is None or row[1] in specials:
            raise source.line(number).error("a special token and its id belong here, each once",
                                            "mend the line")
        specials[row[1]] = int(row[2])
    pieces = [bytes((value,)) for value in range(256)]
    pairs: list[tuple[int, int]] = []
    size = 0
    for number in range(3 + count, len(lines)):
        row = _MERGE.fullmatch(lines[number])
        if row is None or int(row[1]) >= len(pieces) or int(row[2]) >= len(pieces):
            raise source.line(number).error("not a merge of two ids that are there before it",
                                            "mend the line")
        pairs.append((int(row[1]), int(row[2])))
        pieces.append(pieces[pairs[-1][0]] + pieces[pairs[-1][1]])
        size += len(pieces[-1])
        if size > _LARGEST:
            raise source.line(number).error("the tokens are longer than those of any tokenizer",
                                            "mend the line")
    taken = {number: name for name, number in specials.items()}
    clash = next((name for number, name in taken.items() if number < len(pieces)), None)
    if clash is not None or len(taken) < len(specials):
        raise source.error(f"the special token {clash or '…'!r} has the id of another token",
                           "ids stand once")
    recipe = Recipe(split=split_of(pattern) if pattern else "none", base="bytes", tie="first-seen")
    source.keeps_split(recipe.split)
    width = len(pieces)
    rows = {left * width + right: row for row, (left, right) in enumerate(pairs)}
    twice = len(pairs) - len(rows)
    notes = (f"{twice} pairs stand in two lines: the last line of a pair counts",) if twice else ()
    pipeline = Pipeline(
        functools.partial(PairMerging, rows=rows, makes=range(256, width)), Pretokenizer(recipe), notes=notes,
        origin=Origin("minbpe", {}),
    )
    return Tokenizer(ImportedVocabulary(
        recipe, pieces, list(range(width)), pairs,
        units={piece: value for value, piece in enumerate(pieces[:256])},
        pipeline=pipeline, specials=dict(sorted(specials.items(), key=lambda item: item[1])),
    ))


def fit(spec: Spec) -> Fitted:
    """A tokenizer as a `.model` holds it: bytes by their value, merges from 256 on, specials with their ids.

    Raises:
        Refused: It cannot.
    """
    check_bytes(spec)
    pattern = "" if spec.recipe.split == "none" else pattern_of(spec.recipe)
    if pattern != pattern.strip() or _LINE_END.search(pattern) or (
        pattern and compile_pattern(pattern).groups
    ):
        raise Refused("its pattern has groups, line ends, or spaces at an end", "",
                      "the file holds a pattern in a line")
    fitted = Fitted(spec.recipe, [Token(value, str(value), bytes((value,))) for value in range(256)],
                    said={"pattern": pattern})
    tokens = fitted.tokens
    ids = {token.piece: token.id for token in tokens}
    for left, right, made in spec.merges:
        if made not in ids:
            fitted.rows.append((str(ids[left]), str(ids[right]), str(len(tokens))))
            ids[made] = len(tokens)
            tokens.append(Token(len(tokens), str(len(tokens)), made))
    orphans = [entry.text for entry in spec.ordinary if entry.piece not in ids]
    if orphans:
        what = f"{len(orphans)} of its tokens are made by no merge, such as {orphans[0][:40]!r}"
        raise Refused(what, "", "the file lists merges")
    left_out = [name for name in spec.specials if _SPACE.search(name) or not name]
    if left_out:
        fitted.lose("specials", "names with white space are left out", left_out[0])
    following = max([len(tokens) - 1, *spec.specials.values()]) + 1
    for name, number in spec.specials.items():
        if name not in left_out:
            fitted.specials[name] = number if number >= len(tokens) else following
            following += fitted.specials[name] == following
    now = {entry.text: ids[entry.piece] for entry in spec.ordinary} | fitted.specials
    kept = all(ids[entry.piece] == entry.id for entry in spec.ordinary)
    if not kept or any(spec.specials[name] != number for name, number in fitted.specials.items()):
        fitted.lose_ids(now, {entry.text: entry.id for entry in spec.ordinary} | spec.specials)
    return fitted


def write(fitted: Fitted) -> tuple[bytes, ...]:
    """The bytes of the file."""
    specials = sorted(fitted.specials.items(), key=lambda item: item[1])
    lines = [_HEADER, str(fitted.said["pattern"]), str(len(specials)),
             *(f"{name} {number}" for name, number in specials)]
    lines += [f"{left} {right}" for left, right, _ in fitted.rows]
    return (("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"),)
