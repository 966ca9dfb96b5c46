"""A vocabulary and its merges in two files: `vocab.json` and `merges.txt` of GPT-2 and its kin, of GPT-1 and of CLIP.

Neither file says how a text is normalised or split, so this is told by the tokens and said in the notes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence

from tokentui.core.errors import TokentuiError
from tokentui.encode.imported import ImportedVocabulary, Origin, Pipeline
from tokentui.encode.segment.ranked import PairMerging
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import UNKNOWN_NAMES
from tokentui.formats import letters, subword_nmt
from tokentui.formats.births import Births, check_ids, order_births
from tokentui.formats.checking import Place
from tokentui.formats.clip_words import CLIP_NORMALIZE, CLIP_SPLIT, SUFFIX, ClipWords, is_clip
from tokentui.formats.source import Source
from tokentui.formats.together import check_whole
from tokentui.presets import preset
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import to_bytes

_HEADER = re.compile("#version")
_SPECIAL = re.compile(r"<.+>|\[.+\]")
_VOCABULARIES = ("vocab.json", "encoder.json")
_MERGES = ("merges.txt", "vocab.bpe")
_SAMPLED = 200
"""Rows by which two files are taken to belong together."""


def is_vocabulary(source: Source) -> bool:
    """Whether it is a JSON object of ids."""
    document = source.document
    return bool(document) and all(type(value) is int for value in document.values())


def is_merges(source: Source) -> bool:
    """Whether its first lines, but for a header, are two tokens each."""
    rows = source.lines[_headed(source) : _SAMPLED]
    return bool(rows) and not source.is_object and all(_row(line) is not None for line in rows)


def read_merges(source: Source) -> list[tuple[str, str]]:
    """The rows of a file of merges. Only a first line that starts with `#version` is a header.

    Raises:
        TokentuiError: A line is not two tokens; it says which.
    """
    rows = []
    start = _headed(source)
    for number, line in enumerate(source.lines[start:], start):
        row = _row(line)
        if row is None:
            if not line.strip() and number == len(source.lines) - 1:
                break
            raise source.place.line(number).error("not two tokens with a space between them", "a line is a merge")
        rows.append(row)
    return rows


def find_vocabulary(source: Source) -> Source | None:
    """The vocabulary that stands beside a file of merges: one that holds what these name."""
    rows = [row for line in source.lines[_headed(source) : _SAMPLED] if (row := _row(line))]
    return next((near for near in source.neighbours(_VOCABULARIES, (".json",)) if _fits(near, rows)), None)


def find_merges(source: Source) -> Source | None:
    """The file of merges that stands beside a vocabulary: one that names tokens of it only."""
    for near in source.neighbours(_MERGES, (".txt", ".bpe", ".merges", ".codes")):
        if near.text is not None and is_merges(near):
            rows = [row for line in near.lines[_headed(near) : _SAMPLED] if (row := _row(line))]
            if all(left in source.document and right in source.document for left, right in rows):
                return near
    return None


def read_vocabulary(source: Source) -> Tokenizer:
    """The tokenizer of a `vocab.json`, with the merges beside it.

    Raises:
        TokentuiError: There are none, or one of the files is damaged, or the two are of two exports.
    """
    check_whole(source.where)
    merges = find_merges(source)
    if merges is None:
        raise TokentuiError("a vocabulary without its merges", source.where, "put its merges.txt or vocab.bpe beside it")
    return read_pair(source, merges)


def read_rows(source: Source) -> Tokenizer:
    """The tokenizer of a `merges.txt`, with the vocabulary beside it; codes of subword-nmt have none.

    Raises:
        TokentuiError: There is none and its tokens are letters for bytes, or one of the files is damaged.
    """
    check_whole(source.where)
    vocabulary = find_vocabulary(source)
    if vocabulary is not None:
        return read_pair(vocabulary, source)
    if any(letters.LETTERS[0x20] in line for line in source.lines[:_SAMPLED]) or not subword_nmt.is_codes(source):
        raise TokentuiError("merges without their vocabulary", source.where, "put its vocab.json or encoder.json beside it")
    return subword_nmt.read(source)


def read_pair(vocabulary: Source, merges: Source) -> Tokenizer:
    """The tokenizer of two files.

    Raises:
        TokentuiError: One of them is damaged; it says which and where.
    """
    named = check_ids(vocabulary.document, vocabulary.place)
    recipe, notes = _recipe(named, vocabulary.split)
    tokenizer = build(named, read_merges(merges), lambda row: merges.place.line(row + _headed(merges)), recipe, notes)
    assert isinstance(tokenizer.vocabulary, ImportedVocabulary)
    tokenizer.vocabulary.files = ((vocabulary.where, vocabulary.data), (merges.where, merges.data))
    return tokenizer


def build(
    named: Mapping[str, int], rows: Sequence[tuple[str, str]], place: Callable[[int], Place], recipe: Recipe, notes: Sequence[str]
) -> Tokenizer:
    """The tokenizer of tokens and merges.

    Args:
        named: The id of each token.
        rows: The two parts of each merge.
        place: Where a row stands, for errors.
        recipe: What the axes say of it.
        notes: What was assumed.

    Raises:
        TokentuiError: A merge names a token that is not there, or makes one.
    """
    byte_level, mark = recipe.unit == "byte", recipe.mark_text
    births = order_births(named, rows, place, is_unit=(lambda name: _is_unit(name, mark)) if mark else None)
    pieces = [_piece(name, byte_level, mark) for name in births.tokens]
    roots = len(births.tokens) - len(births.merges)
    units = {pieces[symbol]: symbol for symbol in range(roots) if _is_unit(births.tokens[symbol], mark)}
    specials = _specials(births, roots, set(units.values()))
    unknown = next((specials[name] for name in UNKNOWN_NAMES if name in specials), None)
    pipeline = Pipeline(
        functools.partial(PairMerging, rows=births.rows, makes=births.makes, drop=recipe.unknown == "drop"),
        ClipWords(recipe) if is_clip(recipe) else Pretokenizer(recipe),
        notes=(*notes, *births.notes),
        origin=Origin("gpt2", {}),
    )
    return Tokenizer(ImportedVocabulary(
        recipe, pieces, births.ids, births.merges, units=units, pipeline=pipeline, specials=specials, unknown=unknown,
        names=dict(zip(births.ids, births.tokens, strict=True)),
    ))


def _recipe(vocabulary: Mapping[str, int], split: str) -> tuple[Recipe, list[str]]:
    """What the tokens tell of the recipe, and what that takes for granted."""
    suffixed = any(name.endswith(SUFFIX) and name != SUFFIX for name in vocabulary)
    have_bytes = all(letter in vocabulary for letter in letters.LETTERS)
    unknown = next((name for name in UNKNOWN_NAMES if name in vocabulary), None)
    if have_bytes and suffixed:
        recipe = Recipe(CLIP_NORMALIZE, split or CLIP_SPLIT, mark=f"end-suffix:{SUFFIX}")
        return recipe, ["the files do not say how text is split: taken as CLIP does it, without its mending of broken text"]
    if have_bytes:
        return Recipe(split=split or "gpt2"), [] if split else ["the files do not say how text is split: taken as GPT-2 does it"]
    if suffixed:
        axes = {"split": split} if split else {}
        recipe = preset("gpt1").with_axes(**axes, unknown="per-unit" if unknown else "drop")
        return recipe, ["the files do not say how text is normalised and split: taken as GPT-1 does it"]
    recipe = Recipe(split=split or "whitespace", unit="char", base="first-seen", unknown="per-unit" if unknown else "drop")
    return recipe, [] if split else ["the files do not say how text is split: taken as white space"]


def _specials(births: Births, roots: int, units: set[int]) -> dict[str, int]:
    """Tokens that nothing leads to and that look like specials, by their ids."""
    found = {}
    for symbol in range(roots):
        if symbol not in units and _SPECIAL.fullmatch(births.tokens[symbol]):
            found[births.tokens[symbol]] = births.ids[symbol]
    return found


def _piece(name: str, byte_level: bool, mark: str) -> bytes:
    if not byte_level:
        return to_bytes(name)
    if mark and name.endswith(mark) and name != mark:
        return letters.spelled(name[: -len(mark)]) + mark.encode()
    return letters.spelled(name)


def _is_unit(name: str, mark: str) -> bool:
    return len(name) == 1 or (bool(mark) and len(name) == len(mark) + 1 and name.endswith(mark))


def _headed(source: Source) -> int:
    """The number of lines before the first merge."""
    return 1 if source.lines and _HEADER.match(source.lines[0]) else 0


def _row(line: str) -> tuple[str, str] | None:
    left, space, right = line.partition(" ")
    return (left, right) if space and left and right and " " not in right else None


def _fits(source: Source, rows: list[tuple[str, str]]) -> bool:
    try:
        return is_vocabulary(source) and all(part in source.document for row in rows for part in row)
    except TokentuiError:
        return False
