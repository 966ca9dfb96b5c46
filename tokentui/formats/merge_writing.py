"""Writing merges by name or number: `vocab.json` with `merges.txt`, subword-nmt's codes, minbpe's `.model`.

Sources: openai/gpt-2 and Hugging Face's `BPE.save`; subword-nmt 0.3.8; karpathy/minbpe, `base.py`.
"""

from __future__ import annotations

import json
import re

from tokentui.encode.vocabulary import UNKNOWN_NAMES
from tokentui.formats.body import Body, Fit, Refused, Table, Token, numbered, spelled
from tokentui.formats.minbpe import HEADER
from tokentui.formats.rank_writing import bytes_only, pattern_of
from tokentui.formats.report import Loss
from tokentui.formats.subword_nmt import END
from tokentui.recipe import compile_pattern

_SPACED = re.compile(r"[ \n\r]")
_SPACE = re.compile(r"\s")
_LINE = re.compile(r"[\n\r]")


def _rows(body: Body, byte_names: bool) -> list[tuple[str, str, str]]:
    """The merges by name.

    Raises:
        Refused: A name cannot stand in a line with a space between the two.
    """
    rows = []
    for left, right, made in body.rows:
        row = spelled(left, byte_names), spelled(right, byte_names), spelled(made, byte_names)
        for name in row:
            if _SPACED.search(name) or not name:
                raise Refused(f"a merge with white space in it: {row[0][:40]!r} {row[1][:40]!r}", "",
                              "a line is two tokens with a space between them")
        if row[0].startswith("#version"):
            raise Refused(f"a merge that looks like a header: {row[0][:40]!r}", "", "readers pass over such lines")
        rows.append(row)
    return rows


def fit_files(body: Body) -> Fit:
    """A tokenizer as `vocab.json` and `merges.txt` hold it.

    Raises:
        Refused: They cannot.
    """
    body.needs("merges", "ranks")
    recipe = body.recipe
    if recipe.mark_kind != "none" and recipe.mark != f"end-suffix:{END}":
        raise Refused(f"its mark is {recipe.mark}", "", f"the files are read with none, or with end-suffix:{END}")
    if recipe.unit == "grapheme":
        raise Refused("its units are graphemes", "", "the files' are bytes or characters")
    byte_level = recipe.unit == "byte"
    tokens = [Token(entry.id, spelled(entry.piece, byte_level), entry.piece) for entry in body.ordinary]
    names = {token.name: token.id for token in tokens}
    if len(names) < len(tokens) or any(names.get(name, number) != number for name, number in body.specials.items()):
        raise Refused("two tokens are spelled alike", "", "the files tell tokens by their names")
    tokens += [Token(number, name, name.encode("utf-8", "surrogatepass")) for name, number in body.specials.items()
               if name not in names]
    theirs = "never" if byte_level else "per-unit" if any(name in body.specials for name in UNKNOWN_NAMES) else "drop"
    fitted = Fit(Table(recipe, sorted(tokens), _rows(body, byte_level), dict(body.specials)))
    if recipe.unknown != theirs:
        fitted.losses.append(Loss("unknown units", f"unknown={recipe.unknown} is not said; the files are read with {theirs}"))
        fitted.keeps_unknown = False
    return fitted


def write_files(table: Table) -> tuple[bytes, ...]:
    """The bytes of `vocab.json` and of `merges.txt`."""
    names = {token.name: token.id for token in table.tokens}
    merges = "".join(f"{left} {right}\n" for left, right, _ in table.rows)
    return (json.dumps(names, ensure_ascii=False).encode("utf-8", "surrogatepass"),
            b"#version: 0.2\n" + merges.encode("utf-8", "surrogateescape"))


def fit_codes(body: Body) -> Fit:
    """A tokenizer as subword-nmt's codes hold it: the merges, nothing else.

    Raises:
        Refused: They cannot.
    """
    body.needs("merges")
    recipe = body.recipe
    version = {f"end-suffix:{END}": "0.2", f"end-symbol:{END}": "0.1"}.get(recipe.mark)
    if version is None or recipe.unit == "grapheme" or (recipe.unit == "byte" and version == "0.1"):
        what = f"its units are {recipe.unit}s with mark={recipe.mark}"
        raise Refused(what, "", f"codes have characters, and {END} ends a word")
    byte_level = recipe.unit == "byte"

    def named(piece: bytes) -> str:
        return piece.decode("latin-1") if byte_level else spelled(piece, False)

    rows = []
    for left, right, made in body.births:
        row = named(left), named(right), named(made)
        if any(_SPACED.search(name) for name in row):
            raise Refused(f"a merge with white space in it: {row[0][:40]!r} {row[1][:40]!r}", "",
                          "a line is two tokens with a space between them; train with --as lines")
        rows.append(row)
    losses = [Loss("ids", "there are none: readers number the tokens as they like")]
    keeps_unknown = recipe.unknown == "pass-through"
    if not keeps_unknown:
        losses.append(Loss("unknown units", f"unknown={recipe.unknown} becomes: they stay in the text as they are"))
    said = {"version": version, "byte": byte_level}
    tokens = [Token(entry.id, named(entry.piece), entry.piece) for entry in body.ordinary]
    return Fit(Table(recipe, tokens, rows, {}, said), losses, keeps_ids=False, keeps_unknown=keeps_unknown)


def write_codes(table: Table) -> tuple[bytes, ...]:
    """The bytes of codes."""
    byte_level = table.said["byte"]
    header = "" if table.said["version"] == "0.1" else "#version: 0.2 byte\n" if byte_level else "#version: 0.2\n"
    text = "".join(f"{left} {right}\n" for left, right, _ in table.rows)
    return (header.encode() + text.encode(*(("latin-1",) if byte_level else ("utf-8", "surrogateescape"))),)


def fit_minbpe(body: Body) -> Fit:
    """A tokenizer as minbpe's `.model` holds it: bytes by their value, merges from 256 on, specials with their ids.

    Raises:
        Refused: It cannot.
    """
    bytes_only(body)
    pattern = "" if body.recipe.split == "none" else pattern_of(body.recipe)
    if pattern != pattern.strip() or _LINE.search(pattern) or (pattern and compile_pattern(pattern).groups):
        raise Refused("its pattern has groups, line ends, or spaces at an end", "", "the file holds a pattern in a line")
    tokens = [Token(value, str(value), bytes((value,))) for value in range(256)]
    ids = {token.piece: token.id for token in tokens}
    rows = []
    for left, right, made in body.births:
        if made in ids:
            continue
        rows.append((str(ids[left]), str(ids[right]), str(len(tokens))))
        ids[made] = len(tokens)
        tokens.append(Token(len(tokens), str(len(tokens)), made))
    orphans = [entry.text for entry in body.ordinary if entry.piece not in ids]
    if orphans:
        what = f"{len(orphans)} of its tokens are made by no merge, such as {orphans[0][:40]!r}"
        raise Refused(what, "", "the file lists merges")
    losses = []
    specials: dict[str, int] = {}
    left_out = [name for name in body.specials if _SPACE.search(name) or not name]
    if left_out:
        losses.append(Loss("specials", "names with white space are left out", left_out[0]))
    following = max([len(tokens) - 1, *(number for number in body.specials.values())]) + 1
    for name, number in body.specials.items():
        if name not in left_out:
            specials[name] = number if number >= len(tokens) else following
            following += specials[name] == following
    changed = [entry for entry in body.ordinary if ids[entry.piece] != entry.id]
    fitted = Fit(Table(body.recipe, tokens, rows, specials, {"pattern": pattern}), losses)
    if changed or specials != {name: body.specials[name] for name in specials}:
        was = {entry.text: entry.id for entry in body.ordinary} | body.specials
        losses.append(numbered({entry.text: ids[entry.piece] for entry in body.ordinary} | specials, was))
        fitted.keeps_ids = False
    return fitted


def write_minbpe(table: Table) -> tuple[bytes, ...]:
    """The bytes of the file."""
    specials = sorted(table.specials.items(), key=lambda item: item[1])
    lines = [HEADER, table.said["pattern"], str(len(specials)), *(f"{name} {number}" for name, number in specials)]
    lines += [f"{left} {right}" for left, right, _ in table.rows]
    return (("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"),)
