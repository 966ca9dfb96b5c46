"""A vocabulary and its merges in two files: `vocab.json` and `merges.txt` of GPT-2 and its kin, of GPT-1 and
of CLIP.

Neither file says how a text is normalised or split, so this is told by the tokens and said in the notes.
Sources: openai/gpt-2 and Hugging Face's `BPE.save`.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence

from tokentui.core.errors import TokentuiError
from tokentui.core.files import check_whole
from tokentui.encode.pipeline import ImportedVocabulary, Origin, Pipeline
from tokentui.encode.segment.merges import PairMerging
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import UNKNOWN_NAMES
from tokentui.formats.huggingface.words import CLIP, ClipWords, is_clip
from tokentui.formats.source import Node, Source
from tokentui.formats.spec import Fitted, Refused, Spec, Token, merge_rows
from tokentui.formats.tokens import LETTERS, NO_PAIR, in_merge_order, is_unit, name_of, pair_of, piece_of
from tokentui.presets import PRESETS
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer

_HEADER = "#version"
_SPECIAL = re.compile(r"<.+>|\[.+\]")
_VOCABULARIES = ("vocab.json", "encoder.json")
_MERGES = ("merges.txt", "vocab.bpe")
_SAMPLED = 200
"""Rows by which two files are taken to belong together."""


def sniff(source: Source) -> bool:
    """Return whether it is a JSON object of ids; or merges that are letters for bytes, or whose vocabulary
    stands in the folder.
    """
    if source.is_object:
        return _is_vocabulary(source)
    return _is_merges(source) and (
        any(LETTERS[0x20] in line for line in source.lines[:_SAMPLED]) or _find_vocabulary(source) is not None
    )


def read(source: Source) -> Tokenizer:
    """The tokenizer of one of the two files and the other one in its folder.

    Raises:
        TokentuiError: There is no other one, or one of the files is damaged, or the two are of two exports.
    """
    if source.others is None:
        check_whole(source.where)
    if source.is_object:
        vocabulary, merges = source, _find_merges(source)
        if merges is None:
            raise source.error("a vocabulary without its merges", "put its merges.txt or vocab.bpe beside it")
    else:
        found, merges = _find_vocabulary(source), source
        if found is None:
            raise source.error("merges without their vocabulary",
                               "put its vocab.json or encoder.json beside it")
        vocabulary = found
    named = vocabulary.root.ids()
    recipe, notes = (source.known.recipe, []) if source.known else _recipe(named, vocabulary.split)
    return build(named, _rows(merges), lambda row: merges.line(row + _headed(merges)), recipe, notes)


def _is_vocabulary(source: Source) -> bool:
    document = source.document
    return bool(document) and all(type(value) is int for value in document.values())


def _is_merges(source: Source) -> bool:
    """Return whether its first lines, but for a header, are two tokens each."""
    lines = source.lines[:_SAMPLED]
    return bool(lines) and not source.is_object and all(map(pair_of, lines[_headed(source) :]))


def _rows(source: Source) -> list[tuple[str, str]]:
    """The rows of a file of merges. Only a first line that starts with `#version` is a header.

    Raises:
        TokentuiError: A line is not two tokens; it says which.
    """
    rows = []
    start = _headed(source)
    for number, line in enumerate(source.lines[start:], start):
        row = pair_of(line)
        if row is None:
            if not line.strip() and number == len(source.lines) - 1:
                break
            raise source.line(number).error(NO_PAIR, "a line is a merge")
        rows.append(row)
    return rows


def _find_vocabulary(source: Source) -> Source | None:
    """The vocabulary in the folder of a file of merges: one that holds what these name."""
    rows = _sample(source)
    return next((near for near in source.neighbours(_VOCABULARIES, (".json",)) if _fits(near, rows)), None)


def _find_merges(source: Source) -> Source | None:
    """The file of merges in the folder of a vocabulary: one that names tokens of it only."""
    for near in source.neighbours(_MERGES, (".txt", ".bpe", ".merges", ".codes")):
        if near.text is not None and _is_merges(near) and _fits(source, _sample(near)):
            return near
    return None


def _sample(source: Source) -> list[tuple[str, str]]:
    return [row for line in source.lines[_headed(source) : _SAMPLED] if (row := pair_of(line))]


def _fits(vocabulary: Source, rows: list[tuple[str, str]]) -> bool:
    try:
        return _is_vocabulary(vocabulary) and all(part in vocabulary.document for row in rows for part in row)
    except TokentuiError:
        return False


def _headed(source: Source) -> int:
    """The number of lines before the first merge."""
    return 1 if source.lines and source.lines[0].startswith(_HEADER) else 0


def build(
    named: Mapping[str, int], rows: Sequence[tuple[str, str]], place: Callable[[int], Node], recipe: Recipe,
    notes: Sequence[str],
) -> Tokenizer:
    """The tokenizer of tokens and merges.

    Args:
        named: The id of each token.
        rows: The two parts of each merge.
        place: Returns the place of a row, for errors.
        recipe: What the axes say of it.
        notes: What was assumed.

    Raises:
        TokentuiError: A merge names a token that is not there, or makes one.
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
    pipeline = Pipeline(
        functools.partial(PairMerging, rows=ordered.rows, makes=ordered.makes, drop=recipe.unknown == "drop"),
        ClipWords(recipe) if is_clip(recipe) else Pretokenizer(recipe),
        notes=(*notes, *ordered.notes), origin=Origin("gpt2", {}),
    )
    return Tokenizer(ImportedVocabulary(
        recipe, pieces, ordered.ids, ordered.merges, units=units, pipeline=pipeline, specials=specials,
        unknown=next((specials[name] for name in UNKNOWN_NAMES if name in specials), None),
        names=dict(zip(ordered.ids, ordered.tokens, strict=True)),
    ))


def _recipe(vocabulary: Mapping[str, int], split: str) -> tuple[Recipe, list[str]]:
    """The recipe that the tokens tell, and what it takes for granted."""
    suffix = CLIP.mark_text
    suffixed = any(name.endswith(suffix) and name != suffix for name in vocabulary)
    have_bytes = all(letter in vocabulary for letter in LETTERS)
    unknown = "per-unit" if any(name in vocabulary for name in UNKNOWN_NAMES) else "drop"
    if have_bytes and suffixed:
        taken = "taken as CLIP does it, without its mending of broken text"
        return CLIP.with_axes(split=split or CLIP.split), [f"the files do not say how text is split: {taken}"]
    if suffixed:
        axes = {"split": split} if split else {}
        recipe = PRESETS["gpt1"].recipe.with_axes(**axes, unknown=unknown)
        return recipe, ["the files do not say how text is normalised and split: taken as GPT-1 does it"]
    if have_bytes:
        recipe, taken = Recipe(split=split or "gpt2"), "taken as GPT-2 does it"
    else:
        recipe = Recipe(split=split or "whitespace", unit="char", base="first-seen", unknown=unknown)
        taken = "taken as white space"
    return recipe, [] if split else [f"the files do not say how text is split: {taken}"]


def fit(spec: Spec) -> Fitted:
    """A tokenizer as `vocab.json` and `merges.txt` hold it.

    Raises:
        Refused: They cannot.
    """
    recipe, byte_level = spec.recipe, spec.recipe.unit == "byte"
    tokens = spec.tokens(byte_level)
    names = {token.name: token.id for token in tokens}
    if len(names) < len(tokens) or any(
        names.get(name, number) != number for name, number in spec.specials.items()
    ):
        raise Refused("two tokens are spelled alike", "", "the files tell tokens by their names")
    tokens += [
        Token(number, name, name.encode("utf-8", "surrogatepass")) for name, number in spec.specials.items()
        if name not in names
    ]
    rows = list(merge_rows(spec.rows, lambda piece: name_of(piece, byte_level)))
    if header := next((row[0] for row in rows if row[0].startswith(_HEADER)), ""):
        raise Refused(f"a merge that looks like a header: {header[:40]!r}", "",
                      "readers pass over such lines")
    fitted = Fitted(recipe, sorted(tokens), rows, dict(spec.specials))
    named = any(name in spec.specials for name in UNKNOWN_NAMES)
    theirs = "never" if byte_level else "per-unit" if named else "drop"
    if recipe.unknown != theirs:
        fitted.lose_unknown(f"unknown={recipe.unknown} is not said; the files are read with {theirs}")
    return fitted


def write(fitted: Fitted) -> tuple[bytes, ...]:
    """The bytes of `vocab.json` and of `merges.txt`."""
    names = {token.name: token.id for token in fitted.tokens}
    merges = "".join(f"{left} {right}\n" for left, right, _ in fitted.rows)
    return (json.dumps(names, ensure_ascii=False).encode("utf-8", "surrogatepass"),
            f"{_HEADER}: 0.2\n".encode() + merges.encode("utf-8", "surrogateescape"))
