"""Vocabulary changes in the shape of a file: append tokens and merges, renumber ids, and read the result
back."""

from __future__ import annotations

import copy
import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tokentui.core.errors import TokentuiError
from tokentui.encode.segment.viterbi import single
from tokentui.encode.tokenizer import TokenEntry, Tokenizer
from tokentui.formats import WRITTEN, Format
from tokentui.formats.proof import contents
from tokentui.formats.source import RecipeFacts, source_of
from tokentui.formats.spec import FileToken, Fitted, Loss, Spec

GONE = -1
"""The new id of a token that was removed, and of an old id that no token had."""
_FILES = ("huggingface", "sentencepiece", "tiktoken")
"""The formats in whose shape a vocabulary is changed."""


def shape_of(tokenizer: Tokenizer) -> Format | None:
    """Return the format in whose shape a tokenizer is changed; None for a tokenizer that tokentui trained."""
    format = tokenizer.vocabulary.file.format
    return WRITTEN[format] if format in _FILES else None


def read_again(format: Format, fitted: Fitted) -> Tokenizer:
    """Write fitted contents in a format, and return the tokenizer that is read back. No file is stored."""
    split = fitted.recipe.split if format.needs_split else ""
    files, known = format.codec.write(fitted), RecipeFacts(fitted.recipe, fitted.specials)
    return format.codec.read(source_of(format.files, files, split, known))


def in_shape(
    tokenizer: Tokenizer, where: str, ranks: bool = True
) -> tuple[Tokenizer, Format, tuple[Loss, ...]]:
    """Return a tokenizer in the shape of a file, that format, and what the conversion loses.

    A tokenizer of a file whose format can be changed is returned unchanged, without losses. Any other is
    converted to a `tokenizer.json`.

    Args:
        tokenizer: The tokenizer.
        where: The option that asks, for errors.
        ranks: False to convert a file of ranks, too: it cannot hold added tokens.

    Raises:
        TokentuiError: Hugging Face's file cannot hold it.
    """
    format = shape_of(tokenizer)
    if format is not None and (ranks or format.name != "tiktoken"):
        return tokenizer, format, ()
    format = WRITTEN["huggingface"]
    report, files = contents(tokenizer, format)
    if report.refused:
        what = f"its own format cannot store it, and huggingface cannot store it: {report.refused}"
        raise TokentuiError(what, where, "use another file of it, such as a tokenizer.json")
    return format.codec.read(source_of(format.files, files)), format, report.losses


class Merge(NamedTuple):
    """A merge to append to those of a file.

    Attributes:
        left, right: The ids of the pair.
        id: The id of the token.
        piece: The exact bytes of the token.
    """

    left: int
    right: int
    id: int
    piece: bytes


def next_id(tokenizer: Tokenizer, format: Format) -> int:
    """Return the id of the next token that is appended to a file.

    In a `tokenizer.json` that is the id after the tokens of the model: `appended` moves the added tokens that
    follow.
    """
    if format.name == "huggingface":
        return max((token.id for token in format.codec.to_format(Spec(tokenizer)).tokens), default=-1) + 1
    return max((entry.id for entry in tokenizer.entries()), default=-1) + 1


def _below(score: float) -> float:
    """Return a lower score: one less or, if single precision cannot tell these apart, the next lower number.
    """
    if single(score - 1) < single(score):
        return single(score - 1)
    (bits,) = struct.unpack("<i", struct.pack("<f", score))
    lower: float
    (lower,) = struct.unpack("<f", struct.pack("<i", bits + 1))
    return lower


def appended(tokenizer: Tokenizer, format: Format, merges: Sequence[Merge]) -> Tokenizer:
    """Return the tokenizer of a file with appended merges. It is written in the format and read back.

    Scores continue below the lowest one. In a `tokenizer.json`, added tokens after those of the model get new
    ids.

    Args:
        tokenizer: The tokenizer, in the shape of the format.
        format: Hugging Face's, sentencepiece's or tiktoken's.
        merges: The merges; ids from `next_id` on.
    """
    fitted = copy.copy(format.codec.to_format(Spec(tokenizer)))
    fitted.tokens, fitted.rows = list(fitted.tokens), list(fitted.rows)
    names = {token.id: token.name for token in fitted.tokens}
    prefix = len(tokenizer.vocabulary.prefix.decode())
    score = min((token.score for token in fitted.tokens if token.score is not None), default=None)
    for merge in merges:
        left, right = names[merge.left], names[merge.right]
        names[merge.id] = name = left + right[prefix:]
        score = None if score is None else _below(score)
        fitted.tokens.append(FileToken(merge.id, name, merge.piece, score))
        fitted.rows.append((left, right, name))
    if format.name == "huggingface":
        own = {token.name for token in fitted.tokens}
        added_after = sorted(number for name, number in fitted.specials.items() if name not in own)
        moved = {number: len(fitted.tokens) + n for n, number in enumerate(added_after)}
        fitted.specials = {name: moved.get(number, number) for name, number in fitted.specials.items()}
        fitted.metadata = {name: renumbered(value, moved) for name, value in fitted.metadata.items()}
    return read_again(format, fitted)


def moves(old: Tokenizer, new: Tokenizer) -> dict[int, int]:
    """Return the new id of each old id whose token is in both tokenizers, with the same bytes and, both or
    neither, special. Ids of other tokens are left out. Of several tokens with the same bytes, the last one by
    id counts."""
    there = {(entry.piece, _named(entry)): entry.id for entry in new.entries()}
    new_ids = {entry.id: there.get((entry.piece, _named(entry)), GONE) for entry in old.entries()}
    return {number: new_id for number, new_id in new_ids.items() if new_id != GONE}


def _named(entry: TokenEntry) -> bool:
    return entry.kind in ("special", "unknown")


_ID_KEYS = ("id", "unk_id", "pad_id")


def renumbered(value: object, moved: Mapping[int, int]) -> object:
    """Return a copy of a setting of a `tokenizer.json` with new ids for those that moved, at any depth."""
    if isinstance(value, list):
        return [renumbered(inner, moved) for inner in value]
    if not isinstance(value, dict):
        return value
    copied: dict[str, object] = {}
    for name, inner in value.items():
        if name in _ID_KEYS and isinstance(inner, int):
            copied[name] = moved.get(inner, inner)
        elif name == "ids" and isinstance(inner, list):
            copied[name] = [moved.get(number, number) for number in inner]
        elif name in ("sep", "cls") and isinstance(inner, list) and len(inner) == 2:
            copied[name] = [inner[0], moved.get(inner[1], inner[1])]
        else:
            copied[name] = renumbered(inner, moved)
    return copied
