"""One look at every token of a vocabulary, which the facts and the checks of a health report are told from."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tokentui.analyze.health.scripts import written_in
from tokentui.analyze.reach import cause
from tokentui.analyze.results import Health
from tokentui.analyze.spelling import bare as bare_bytes
from tokentui.analyze.usage import ORDINARY
from tokentui.core.errors import Cancelled
from tokentui.encode import Decoder, WordEncoder
from tokentui.encode.tokenizer import Entry, Tokenizer
from tokentui.learn.base import Cancel, Progress

_LONGEST = 10
_LOOK_EVERY = 256


@dataclass(frozen=True, slots=True)
class Survey:
    """What was seen.

    Attributes:
        tokenizer: The tokenizer.
        encoder, decoder: What encodes its words and decodes its ids.
        entries: Its vocabulary in order of the ids.
        pieces: The exact bytes of each ordinary token by its id, marks included.
        dead: (id, bytes, cause, the same in words) of each token that no text becomes.
        health: The facts.
    """

    tokenizer: Tokenizer
    encoder: WordEncoder
    decoder: Decoder
    entries: tuple[Entry, ...]
    pieces: dict[int, bytes]
    dead: tuple[tuple[int, bytes, str, str], ...]
    health: Health

    def bare(self, piece: bytes) -> str:
        """A token as text, without its mark unless it is nothing else."""
        return bare_bytes(self.tokenizer.recipe, piece).decode("utf-8", "replace")


def survey(tokenizer: Tokenizer, *, progress: Progress | None = None, cancel: Cancel | None = None) -> Survey:
    """Look at every token.

    Args:
        tokenizer: The tokenizer.
        progress: Told (done, total) in tokens.
        cancel: Asked meanwhile; true raises `Cancelled`.
    """
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    recipe, encoder, decoder = tokenizer.recipe, WordEncoder(vocabulary, merges), Decoder(vocabulary, merges)
    symbols = vocabulary.symbols_by_id(merges)
    entries = tuple(tokenizer.entries())
    pieces: dict[int, bytes] = {}
    dead: list[tuple[int, bytes, str, str]] = []
    alike: dict[bytes, list[int]] = {}
    scripts: Counter[str] = Counter()
    lengths: Counter[int] = Counter()
    for number, entry in enumerate(entries):
        if number % _LOOK_EVERY == 0:
            if cancel is not None and cancel():
                raise Cancelled
            if progress is not None:
                progress(number, len(entries))
        if entry.kind not in ORDINARY:
            continue
        symbol = symbols[entry.id]
        piece = pieces[entry.id] = vocabulary.spelled(symbol)
        alike.setdefault(piece, []).append(entry.id)
        bare = bare_bytes(recipe, piece)
        scripts[written_in(bare)] += 1
        lengths[len(bare.decode("utf-8", "replace"))] += 1
        why, words = cause(encoder, decoder, symbol)
        if why:
            dead.append((entry.id, piece, why, words))
    held = set(vocabulary.units) if tokenizer.recipe.unit == "byte" else None
    facts = Health(
        vocab_size=tokenizer.vocab_size,
        first_id=vocabulary.first_id,
        merges=merges,
        kinds=tuple(Counter(entry.kind for entry in entries).items()),
        longest=tuple(heapq.nsmallest(
            _LONGEST, pieces.items(), key=lambda token: (-len(bare_bytes(recipe, token[1])), token[0])
        )),
        unreachable=tuple((number, piece, words) for number, piece, _, words in dead),
        duplicates=tuple((piece, tuple(ids)) for piece, ids in alike.items() if len(ids) > 1),
        broken=tuple(token for token in pieces.items() if len(token[1]) > 1 and not is_text(token[1])),
        spaces=tuple(token for token in pieces.items() if is_text(token[1]) and not token[1].decode().strip(" ▁\t\n\r\v\f")),
        missing_bytes=() if held is None else tuple(value for value in range(256) if bytes((value,)) not in held),
        scripts=tuple(scripts.most_common()),
        lengths=tuple(sorted(lengths.items())),
        holes=tuple(_holes([entry.id for entry in entries])),
        shared=_shared(tokenizer),
    )
    return Survey(tokenizer, encoder, decoder, entries, pieces, tuple(dead), facts)


def is_text(piece: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True


def _holes(ids: Sequence[int]) -> list[tuple[int, int]]:
    """The ranges between ids that are in order."""
    return [(one + 1, other - 1) for one, other in itertools.pairwise(ids) if other - one > 1]


def _shared(tokenizer: Tokenizer) -> tuple[int, ...]:
    """The ids of several symbols that are spelled differently; the unknown token's stands for much by its nature."""
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    if vocabulary.recipe.objective == "gage":
        return ()
    held: dict[int, bytes] = {}
    shared = {
        number for symbol in range(vocabulary.base_size + merges)
        if held.setdefault(number := vocabulary.id_of(symbol, merges), piece := vocabulary.spelled(symbol)) != piece
    }
    return tuple(sorted(shared - {vocabulary.unknown_id}))
