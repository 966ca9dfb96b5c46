"""A report on a vocabulary: what is in it, and what in it is of no use."""

from __future__ import annotations

import heapq
from collections import Counter

from tokentui.answers import Health
from tokentui.encode import Decoder, WordEncoder
from tokentui.errors import Cancelled
from tokentui.learn.base import Cancel, Progress
from tokentui.measure.reach import unreachable
from tokentui.measure.usage import ORDINARY
from tokentui.tokenizer import Tokenizer

_LONGEST = 10
_LOOK_EVERY = 256


def health(tokenizer: Tokenizer, *, progress: Progress | None = None, cancel: Cancel | None = None) -> Health:
    """Look at every token of a vocabulary.

    Args:
        tokenizer: The tokenizer.
        progress: Told (done, total) in tokens.
        cancel: Asked meanwhile; true raises `Cancelled`.
    """
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    encoder, decoder = WordEncoder(vocabulary, merges), Decoder(vocabulary, merges)
    symbols = vocabulary.symbols_by_id(merges)
    kinds: Counter[str] = Counter()
    ordinary: list[tuple[int, bytes]] = []
    dead: list[tuple[int, bytes, str]] = []
    alike: dict[bytes, list[int]] = {}
    for number, entry in enumerate(tokenizer.entries()):
        if number % _LOOK_EVERY == 0:
            if cancel is not None and cancel():
                raise Cancelled
            if progress is not None:
                progress(number, tokenizer.vocab_size)
        kinds[entry.kind] += 1
        if entry.kind not in ORDINARY:
            continue
        symbol = symbols[entry.id]
        piece = vocabulary.spelled(symbol)
        ordinary.append((entry.id, piece))
        alike.setdefault(piece, []).append(entry.id)
        if why := unreachable(encoder, decoder, symbol):
            dead.append((entry.id, piece, why))
    held = set(vocabulary.units) if tokenizer.recipe.unit == "byte" else None
    return Health(
        vocab_size=tokenizer.vocab_size,
        first_id=vocabulary.first_id,
        merges=merges,
        kinds=tuple(kinds.items()),
        longest=tuple(heapq.nsmallest(_LONGEST, ordinary, key=lambda token: (-len(token[1]), token[0]))),
        unreachable=tuple(dead),
        duplicates=tuple((piece, tuple(ids)) for piece, ids in alike.items() if len(ids) > 1),
        broken=tuple(token for token in ordinary if len(token[1]) > 1 and not _is_text(token[1])),
        spaces=tuple(token for token in ordinary if _is_text(token[1]) and not token[1].decode().strip(" ▁\t\n\r\v\f")),
        missing_bytes=() if held is None else tuple(value for value in range(256) if bytes((value,)) not in held),
    )


def _is_text(piece: bytes) -> bool:
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True
