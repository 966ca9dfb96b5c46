"""What a training answers at a step, in a form that outlives the names of the code.

An observation is a dict of JSON values. A few are written out, so that a person sees what changed; the others
are digests. Bytes are hex, and numbers with a fraction have seven digits.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable
from typing import Any

from tokentui import learn
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import Candidate, Entry, Query, Trainer, Why, Word

ROWS = 40
"""The most candidates that an observation covers. The number of all is covered too."""
LIVES = 3
"""The number of words and of tokens whose life and uses are observed."""
LONGEST = 60
"""The characters of a word whose life is compared. Without a split a whole document is one word."""


_ATOMS = frozenset({bool, int, str, type(None)})
"""The types whose values JSON holds as they are. Millions are looked at: a subclass takes the longer way."""


def plain(value: Any) -> Any:
    """Return a value as JSON holds it."""
    if type(value) in _ATOMS or isinstance(value, int | str):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Iterable):
        return [part if type(part) in _ATOMS else plain(part) for part in value]
    return f"{float(value):.7g}"  # a float or a fraction


def digest(value: Any) -> str:
    """Return sixteen hex digits that stand for a value."""
    return hashlib.sha256(json.dumps(plain(value)).encode()).hexdigest()[:16]


def of_candidate(row: Candidate | None) -> Any:
    """Return the fields of a candidate that tests compare."""
    if row is None:
        return None
    return plain((row.parts, row.token, row.worth, row.values, row.tied, row.part, row.marks, row.places))


def of_entry(entry: Entry) -> Any:
    """Return the fields of a vocabulary entry that tests compare."""
    return plain((
        entry.id, entry.piece, entry.kind, entry.made, entry.places, entry.uses, entry.score, entry.parts,
        entry.marks,
    ))


def of_why(why: Why) -> dict[str, Any]:
    """Return the reasons of a step that tests compare. Sentences are left out: they may be reworded."""
    return {
        "best": of_candidate(why.best), "runner_up": digest(of_candidate(why.runner_up)), "tied": why.tied,
        "replaced": plain(why.replaced), "tie_rule": why.tie_rule,
        "end": None if why.end is None else str(why.end),
        "round": digest(None if why.round is None else dataclasses.astuple(why.round)),
        "judged": digest(why.judged),
    }


def of_tokenizer(tokenizer: Tokenizer, texts: Iterable[str]) -> dict[str, Any]:
    """Return the vocabulary of a tokenizer and the ids of some texts."""
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    ids = vocabulary.ids(merges)
    pieces = sorted((ids[symbol], vocabulary.pieces[symbol]) for symbol in vocabulary.symbols(merges))
    encoded = []
    for text in texts:
        try:
            encoded.append(plain(tokenizer.encode(text).ids))
        except Exception as error:  # a text that the recipe refuses is an answer too
            encoded.append(type(error).__name__)
    return {"pieces": digest(pieces), "ids": digest(encoded)}


def observed(trainer: Trainer, words: tuple[str, ...], texts: tuple[str, ...]) -> dict[str, Any]:
    """Return what a training answers at its step."""
    candidates = learn.candidates(trainer, Query(0, ROWS))
    entries = learn.entries(trainer, Query(0, 1 << 20))
    symbols = [entry.symbol for entry in entries.rows if entry.symbol >= 0][:LIVES]
    return {
        "step": trainer.number,
        "size": trainer.size_at(trainer.number),
        "tokens": plain(trainer.tokens_at(trainer.number)),
        "taken": digest(of_candidate(trainer.taken(trainer.number))) if trainer.number else None,
        "lengths": plain(trainer.lengths_at(trainer.number)),
        "why": of_why(learn.why(trainer, trainer.limits)),
        "candidates": [candidates.total, digest(map(of_candidate, candidates.rows))],
        "entries": [entries.total, digest(map(of_entry, entries.rows))],
        "segments": digest([trainer.segment(Word(word)) for word in words]),
        "lives": digest([learn.life(trainer, word[:LONGEST]) for word in words[:LIVES]]),
        "uses": digest([learn.uses_over(trainer, symbol)() for symbol in symbols]),
        **of_tokenizer(trainer.tokenizer(), texts),
    }
