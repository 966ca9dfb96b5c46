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
"""The new id of a token that was taken out, and of an id that was none's."""
_FILES = ("huggingface", "sentencepiece", "tiktoken")
"""The formats in whose shape a vocabulary is changed."""


def shape_of(tokenizer: Tokenizer) -> Format | None:
    """Return the format in whose shape a tokenizer is changed; None for a tokenizer that tokentui trained."""
    origin = tokenizer.vocabulary.pipeline.origin
    return WRITTEN[origin.format] if origin is not None and origin.format in _FILES else None


def read_again(format: Format, fitted: Fitted) -> Tokenizer:
    """Write the tokenizer in a format and read it back."""
    split = fitted.recipe.split if format.needs_split else ""
    files, known = format.codec.write(fitted), RecipeFacts(fitted.recipe, fitted.specials)
    return format.codec.read(source_of(format.files, files, split, known))


def in_shape(
    tokenizer: Tokenizer, where: str, ranks: bool = True
) -> tuple[Tokenizer, Format, tuple[Loss, ...]]:
    """Return a tokenizer in the shape of its file, so that its vocabulary can be changed, and what that
    loses.

    Args:
        tokenizer: The tokenizer.
        where: The option that asks, for errors.
        ranks: True if a file of ranks will do: it holds no token that is found before merges.

    Raises:
        TokentuiError: Hugging Face's file cannot hold it.
    """
    format = shape_of(tokenizer)
    if format is not None and (ranks or format.name != "tiktoken"):
        return tokenizer, format, ()
    format = WRITTEN["huggingface"]
    report, files = contents(tokenizer, format)
    if report.refused:
        what = f"its own file has no place for it, and huggingface cannot hold it: {report.refused}"
        raise TokentuiError(what, where, "take another file of it, such as a tokenizer.json")
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
    """Return the id of the next token of a file.

    Hugging Face's library numbers the added tokens that are none of the model's on behind these: they make
    room.
    """
    if format.name == "huggingface":
        return max((token.id for token in format.codec.to_format(Spec(tokenizer)).tokens), default=-1) + 1
    return max((entry.id for entry in tokenizer.entries()), default=-1) + 1


def _below(score: float) -> float:
    """Return the next lower score: one less, or the next lower number in single precision, which files store.
    """
    if single(score - 1) < single(score):
        return single(score - 1)
    (bits,) = struct.unpack("<i", struct.pack("<f", score))
    lower: float
    (lower,) = struct.unpack("<f", struct.pack("<i", bits + 1))
    return lower


def appended(tokenizer: Tokenizer, format: Format, merges: Sequence[Merge]) -> Tokenizer:
    """Return the tokenizer of a file with appended merges. It is written in the format and read back.

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
    for one in merges:
        left, right = names[one.left], names[one.right]
        names[one.id] = name = left + right[prefix:]
        score = None if score is None else _below(score)
        fitted.tokens.append(FileToken(one.id, name, one.piece, score))
        fitted.rows.append((left, right, name))
    if format.name == "huggingface":
        own = {token.name for token in fitted.tokens}
        behind = sorted(number for name, number in fitted.specials.items() if name not in own)
        moved = {number: len(fitted.tokens) + n for n, number in enumerate(behind)}
        fitted.specials = {name: moved.get(number, number) for name, number in fitted.specials.items()}
        fitted.metadata = {name: renumbered(value, moved) for name, value in fitted.metadata.items()}
    return read_again(format, fitted)


def moves(old: Tokenizer, new: Tokenizer) -> dict[int, int]:
    """Return the new id of each token, by its bytes and kind."""
    there = {(entry.piece, _named(entry)): entry.id for entry in new.entries()}
    found = {entry.id: there.get((entry.piece, _named(entry)), GONE) for entry in old.entries()}
    return {number: other for number, other in found.items() if other != GONE}


def _named(entry: TokenEntry) -> bool:
    return entry.kind in ("special", "unknown")


_ID_KEYS = ("id", "unk_id", "pad_id")


def renumbered(value: object, moved: Mapping[int, int]) -> object:
    """Return a setting of a `tokenizer.json` with new ids."""
    if isinstance(value, list):
        return [renumbered(one, moved) for one in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, object] = {}
    for name, one in value.items():
        if name in _ID_KEYS and isinstance(one, int):
            found[name] = moved.get(one, one)
        elif name == "ids" and isinstance(one, list):
            found[name] = [moved.get(number, number) for number in one]
        elif name in ("sep", "cls") and isinstance(one, list) and len(one) == 2:
            found[name] = [one[0], moved.get(one[1], one[1])]
        else:
            found[name] = renumbered(one, moved)
    return found
