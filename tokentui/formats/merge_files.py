"""Files of merges, two tokens per line: GPT-2's two files, CLIP's file, and subword-nmt's codes.

GPT-2's `vocab.json` and `merges.txt`, and those of GPT-1 and CLIP, do not say how a text is normalized or
split. The tokens suggest it, and the notes mention it. CLIP's `bpe_simple_vocab_16e6.txt` does not list the
vocabulary: the byte letters, the byte letters with `</w>`, one token per merge, two specials; only the first
merges count. The header of codes says how words are marked: with `#version: 0.2` the mark is part of the last
unit, without a header it is a unit of its own; with `#version: 0.2 byte` units are bytes. Units that codes do
not mention pass through without an id. Sources: openai/gpt-2, Hugging Face's `BPE.save`, openai/CLIP's
`simple_tokenizer.py`, subword-nmt 0.3.8, and for codes of bytes its repository of 2024.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import AnyStr

from tokentui.core.errors import TokentuiError
from tokentui.core.files import check_whole
from tokentui.core.safetext import to_bytes
from tokentui.encode.tokenizer import Tokenizer, tokenizer_of
from tokentui.encode.vocabulary import UNKNOWN_NAMES, TokenizerFile
from tokentui.formats import Codec
from tokentui.formats.huggingface.words import CLIP, ClipWords, is_clip
from tokentui.formats.near_misses import near_miss
from tokentui.formats.source import Node, Source, check_number
from tokentui.formats.spec import FileToken, Fitted, Spec, Unsupported, merge_rows
from tokentui.formats.tokens import LETTERS, in_merge_order, is_unit, name_of, piece_of
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe

_HEADER = "#version"
_SPECIAL = re.compile(r"<.+>|\[.+\]")
_VOCABULARIES = ("vocab.json", "encoder.json")
_MERGES = ("merges.txt", "vocab.bpe")
_SAMPLED = 200
"""Rows that are compared to decide whether two files belong together."""


def _rows(
    source: Source, lines: Sequence[AnyStr], start: int, pair: Callable[[AnyStr], Sequence[str]]
) -> list[tuple[str, str]]:
    """Return the two tokens of each line.

    Args:
        source: The file, for errors.
        lines: The lines.
        start: The number of the first line, from 0.
        pair: Cuts a line into tokens.

    Raises:
        TokentuiError: A line is not two tokens. The message has its number.
    """
    rows: list[tuple[str, str]] = []
    for number, line in enumerate(lines, start):
        try:
            row = pair(line)
        except UnicodeDecodeError:
            raise source.line(number).error("not UTF-8", "fix the line") from None
        if len(row) != 2 or not all(row):
            raise source.line(number).error("not two tokens with a space between them",
                "each line is one merge")
        rows.append((row[0], row[1]))
    return rows


# --- vocab.json and merges.txt ---


def _sniff(source: Source) -> bool:
    """Return whether a source is a JSON vocabulary of ids, or merges of byte letters, or merges with a
    vocabulary in their folder."""
    if source.is_object:
        return _is_vocabulary(source)
    return _is_merges(source) and (
        any(LETTERS[0x20] in line for line in source.lines[:_SAMPLED]) or _find_vocabulary(source) is not None
    )


def _read(source: Source) -> Tokenizer:
    """Read one of the two files together with the other one from its folder.

    Raises:
        TokentuiError: The other file is missing, a file is damaged, or the files come from different exports.
    """
    if source.others is None:
        check_whole(source.where)
    vocabulary, merges = ((source, _find_merges(source)) if source.is_object
                          else (_find_vocabulary(source), source))
    if merges is None:
        missing = source.error("the merges are missing", "put merges.txt or vocab.bpe next to it")
        raise near_miss(source) or missing
    if vocabulary is None:
        raise source.error("the vocabulary is missing", "put vocab.json or encoder.json next to it")
    named = vocabulary.root.ids()
    recipe, notes = _recipe(named, vocabulary.split)
    if source.known:  # the tables are those of the owner, which the project's own file does not repeat
        recipe, notes = replace(source.known.recipe, unicode=recipe.unicode), []
    start = _headed(merges)
    lines = merges.lines[start:]
    if lines and not lines[-1].strip():
        lines.pop()
    rows = _rows(merges, lines, start, _at_space)
    return _built(named, rows, lambda row: merges.line(row + start), recipe, notes)


def _at_space(line: str) -> list[str]:
    return line.split(" ")


def _is_vocabulary(source: Source) -> bool:
    document = source.document
    return bool(document) and all(type(value) is int for value in document.values())


def _is_merges(source: Source) -> bool:
    """Return whether its first lines, after a header, have two tokens each."""
    lines = source.lines[:_SAMPLED]
    return bool(lines) and not source.is_object and len(_sample(source)) == len(lines) - _headed(source)


def _find_vocabulary(source: Source) -> Source | None:
    """Return the vocabulary in the folder of a file of merges that has all their tokens; None if there is
    none."""
    rows = _sample(source)
    return next((near for near in source.neighbors(_VOCABULARIES, (".json",)) if _fits(near, rows)), None)


def _find_merges(source: Source) -> Source | None:
    """Return the file of merges in the folder of a vocabulary that uses only its tokens; None if there is
    none."""
    around = source.neighbors(_MERGES, (".txt", ".bpe", ".merges", ".codes"))
    return next((near for near in around if _is_merges(near) and _fits(source, _sample(near))), None)


def _sample(source: Source) -> list[list[str]]:
    """Return the first lines after the header that are two tokens, each as a list.

    Other lines are skipped.
    """
    rows = map(_at_space, source.lines[_headed(source) : _SAMPLED])
    return [row for row in rows if len(row) == 2 and all(row)]


def _fits(vocabulary: Source, rows: list[list[str]]) -> bool:
    try:
        return _is_vocabulary(vocabulary) and all(part in vocabulary.document for row in rows for part in row)
    except TokentuiError:
        return False


def _headed(source: Source) -> int:
    """Return the number of header lines: 1 if the first line starts with `#version`, else 0."""
    return 1 if source.lines and source.lines[0].startswith(_HEADER) else 0


def _built(
    named: Mapping[str, int], rows: Sequence[tuple[str, str]], place: Callable[[int], Node], recipe: Recipe,
    notes: Sequence[str],
) -> Tokenizer:
    """Return the tokenizer of tokens and merges.

    Args:
        named: The id of each token.
        rows: The two parts of each merge.
        place: Returns the place of a row, for errors.
        recipe: The recipe.
        notes: Sentences on assumptions.

    Raises:
        TokentuiError: A part or the result of a merge is not in the vocabulary.
    """
    byte_level, mark = recipe.unit == "byte", recipe.mark_text
    ordered = in_merge_order(named, rows, place,
                             is_unit=(lambda name: is_unit(name, suffix=mark)) if mark else None)
    pieces = [piece_of(name, byte_level, suffix=mark) for name in ordered.tokens]
    units: dict[bytes, int] = {}
    specials: dict[str, int] = {}  # tokens that nothing leads to and that look like some
    for symbol, name in enumerate(ordered.roots):
        if is_unit(name, suffix=mark):
            units[pieces[symbol]] = symbol
        elif _SPECIAL.fullmatch(name):
            specials[name] = ordered.ids[symbol]
    return tokenizer_of(TokenizerFile(
        "gpt2", recipe, pieces, ordered.ids, ordered.merges, units, specials=specials, tokens=ordered.tokens,
        unknown=next((specials[name] for name in UNKNOWN_NAMES if name in specials), None),
        way=ordered.way.with_tables(drop=recipe.unknown == "drop"), around=((), ()),
        pretokenizer=ClipWords(recipe) if is_clip(recipe) else None, notes=(*notes, *ordered.notes),
    ))


def _recipe(vocabulary: Mapping[str, int], split: str) -> tuple[Recipe, list[str]]:
    """Return the recipe that the tokens suggest, and sentences on assumptions."""
    suffix = CLIP.mark_text
    suffixed = any(name.endswith(suffix) and name != suffix for name in vocabulary)
    have_bytes = all(letter in vocabulary for letter in LETTERS)
    unknown = "per-unit" if any(name in vocabulary for name in UNKNOWN_NAMES) else "drop"
    if have_bytes and suffixed:
        taken = "read as CLIP does, without fixing broken text"
        return CLIP.with_axes(split=split or CLIP.split), [f"the files do not say how text is split: {taken}"]
    if suffixed:
        axes = {"split": split} if split else {}
        recipe = PRESETS["gpt1"].recipe.with_axes(**axes, unknown=unknown)
        recipe = replace(recipe, unicode="tokenizers")
        return recipe, ["the files do not say how text is normalized and split: read as GPT-1 does"]
    if have_bytes:
        recipe, taken = Recipe(split=split or "gpt2", unicode="tokenizers"), "read as GPT-2 does"
    else:
        recipe = Recipe(split=split or "whitespace", unit="char", base="first-seen", unknown=unknown)
        taken = "read as whitespace"
    return recipe, [] if split else [f"the files do not say how text is split: {taken}"]


def _fit(spec: Spec) -> Fitted:
    """Convert a tokenizer to `vocab.json` and `merges.txt`.

    Raises:
        Unsupported: The files cannot represent the tokenizer.
    """
    recipe, byte_level = spec.recipe, spec.recipe.unit == "byte"
    tokens = spec.tokens(byte_level)
    names = {token.name: token.id for token in tokens}
    if len(names) < len(tokens) or any(
        names.get(name, number) != number for name, number in spec.specials.items()
    ):
        raise Unsupported("two tokens have the same spelling", "", "the files identify tokens by name")
    tokens += [
        FileToken(number, name, name.encode("utf-8", "surrogatepass"))
        for name, number in spec.specials.items()
        if name not in names
    ]
    rows = list(merge_rows(spec.rows, lambda piece: name_of(piece, byte_level)))
    if header := next((row[0] for row in rows if row[0].startswith(_HEADER)), ""):
        raise Unsupported(f"a merge looks like a header: {header[:40]!r}", "",
                      "readers skip such lines")
    fitted = Fitted(recipe, sorted(tokens), rows, dict(spec.specials))
    named = any(name in spec.specials for name in UNKNOWN_NAMES)
    theirs = "never" if byte_level else "per-unit" if named else "drop"
    if recipe.unknown != theirs:
        fitted.lose_unknown(f"unknown={recipe.unknown} is not stored; the files are read with {theirs}")
    return fitted


def _write(fitted: Fitted) -> tuple[bytes, ...]:
    """Return the bytes of `vocab.json` and of `merges.txt`."""
    names = {token.name: token.id for token in fitted.tokens}
    return (json.dumps(names, ensure_ascii=False).encode("utf-8", "surrogatepass"),
            f"{_HEADER}: 0.2\n{_lines(fitted)}".encode("utf-8", "surrogateescape"))


def _lines(fitted: Fitted) -> str:
    return "".join(f"{left} {right}\n" for left, right, _ in fitted.rows)


GPT2 = Codec(_sniff, _read, _fit, _write)


# --- CLIP's file ---

CLIP_SIZE = 49_152
"""The number of ids in CLIP's code, without the two specials."""
_CLIP_HEADER = re.compile(rb'"?bpe_simple_vocab_16e6\.txt#version')
_CLIP_SPECIALS = ("<|startoftext|>", "<|endoftext|>")


def _read_clip(source: Source) -> Tokenizer:
    """Return the tokenizer of CLIP's file.

    Raises:
        TokentuiError: It is damaged.
    """
    if source.text is None:
        raise source.error("not UTF-8", "download the file again")
    lines = source.lines[1 : CLIP_SIZE - 256 - len(_CLIP_SPECIALS) + 1]
    rows = _rows(source, lines, 1, str.split)
    units = sorted(LETTERS)
    names = [*units, *(unit + CLIP.mark_text for unit in units), *(left + right for left, right in rows),
             *_CLIP_SPECIALS]
    named = {name: number for number, name in enumerate(names)}
    notes = [
        "broken text is not fixed first, as CLIP does with ftfy",
        f"special tokens are {' and '.join(_CLIP_SPECIALS)}, as OpenAI names them; open_clip calls them "
        "otherwise",
    ]
    if twice := len(names) - len(named):
        notes.append(f"{twice} tokens are made by two rows: the last one counts, as in CLIP's program")
    if left := len(source.lines) - 1 - len(lines):
        beyond = "merges lie beyond the size of the vocabulary and are left out"
        notes.append(f"{left} {beyond}, as CLIP's program does it")
    recipe = CLIP.with_axes(split=source.split or CLIP.split)
    return _built(named, rows, lambda row: source.line(row + 1), recipe, notes)


CLIP_FILE = Codec(lambda source: _CLIP_HEADER.match(source.data) is not None, _read_clip)


# --- subword-nmt's codes ---

_END = "</w>"
"""The mark at the end of a word."""
_VERSIONS = {"0.1": "subword-nmt-0.1", "0.2": "subword-nmt"}
_SNIFFED = 100


def _sniff_codes(source: Source) -> bool:
    """Return whether the first lines have two tokens each, after a header or with a mark of a word's end
    among them."""
    lines = source.data[: 1 << 16].split(b"\n")[:_SNIFFED]
    header = lines[0].startswith(b"#version") if lines else False
    rows = [line.strip(b"\r ").split(b" ") for line in lines[header : max(len(lines) - 1, 1)]]
    if source.is_object or not (header or _END.encode() in source.data):
        return False
    return bool(rows) and all(len(row) == 2 and all(row) for row in rows)


def _read_codes(source: Source) -> Tokenizer:
    """Return the tokenizer of codes. Units have the first ids, in order of first appearance, then the merges.

    Raises:
        TokentuiError: It is damaged, or has an unknown version.
    """
    lines = source.data.rstrip(b"\n").split(b"\n")
    words = lines[0].split() if lines[0].startswith(b"#version") else []
    version = words[1].decode("ascii", "replace") if len(words) > 1 else "0.1"
    if version not in _VERSIONS or words[2:] not in ([], [b"byte"]):
        raise source.line(0).error(f"there is no version {version[:20]!r} of codes",
                                   "one of: " + ", ".join(_VERSIONS))
    byte_level, start = len(words) > 2, bool(words)
    coding = "latin-1" if byte_level else "utf-8"
    rows = _rows(source, lines[start:], start,
                 lambda line: line.strip(b"\r\n ").decode(coding).split(" "))
    results = dict.fromkeys(left + right for left, right in rows)
    units = dict.fromkeys(part for row in rows for part in row if part not in results)
    vocabulary = {name: number for number, name in enumerate([*units, *results])}
    check_number(len(vocabulary), Node(None, source.where))

    def unit(name: str) -> bool:
        return is_unit(name, suffix=_END) if version == "0.2" else len(name) == 1 or name == _END

    ordered = in_merge_order(vocabulary, rows, lambda row: source.line(row + start), first_wins=True,
                             is_unit=unit)
    recipe = PRESETS[_VERSIONS[version]].recipe.with_axes(
        split=source.split or "space", unit="byte" if byte_level else "char", base="first-seen"
    )
    pieces = [name.encode("latin-1") if byte_level else to_bytes(name) for name in ordered.tokens]
    return tokenizer_of(TokenizerFile(
        "subword-nmt", recipe, pieces, ordered.ids, ordered.merges,
        {pieces[symbol]: symbol for symbol, name in enumerate(ordered.roots) if unit(name)},
        way=ordered.way, around=((), ()),
        notes=("codes have no ids: they are numbered from 0, the units first", *ordered.notes),
    ))


def _fit_codes(spec: Spec) -> Fitted:
    """Convert a tokenizer to codes, which contain the merges only.

    Raises:
        Unsupported: Codes cannot represent the tokenizer.
    """
    recipe = spec.recipe
    glued, byte_level = recipe.mark_kind == "end-suffix", recipe.unit == "byte"
    if byte_level and not glued:
        raise Unsupported(f"its units are bytes with mark={recipe.mark}", "",
                      f"codes of bytes have mark=end-suffix:{_END}")

    def named(piece: bytes) -> str:
        return piece.decode("latin-1") if byte_level else piece.decode("utf-8", "surrogateescape")

    fitted = Fitted(
        recipe, [FileToken(entry.id, named(entry.piece), entry.piece) for entry in spec.ordinary],
        list(merge_rows(spec.merges, named, "; train with --as lines")),
        metadata={"version": "0.2" if glued else "0.1", "byte": byte_level}, keeps_ids=False,
    )
    fitted.lose("ids", "there are none: readers number the tokens as they like")
    if recipe.unknown != "pass-through":
        fitted.lose_unknown(f"unknown={recipe.unknown} becomes: they stay in the text as they are")
    return fitted


def _write_codes(fitted: Fitted) -> tuple[bytes, ...]:
    byte_level = fitted.metadata["byte"] is True
    header = "" if fitted.metadata["version"] == "0.1" else f"{_HEADER}: 0.2{' byte' * byte_level}\n"
    coding = ("latin-1", "strict") if byte_level else ("utf-8", "surrogateescape")
    return ((header + _lines(fitted)).encode(*coding),)


CODES = Codec(_sniff_codes, _read_codes, _fit_codes, _write_codes)
