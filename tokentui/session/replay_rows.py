"""From an opened tokenizer to the rows that a screen shows, at the birth where it stands."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from tokentui.analyze.reach import unreachable
from tokentui.encode import Decoder, RoundTrip, WordEncoder, encode, round_trip
from tokentui.encode.imported import ImportedVocabulary
from tokentui.encode.segment.parts import Marks
from tokentui.encode.vocabulary import byte_token
from tokentui.learn.base import Stops, Trainer
from tokentui.learn.replay import LAST, Birth, OpenedTrainer
from tokentui.session.snapshot import BirthRow, EncodedToken, TokenRow, WhyView
from tokentui.text.pretokenize import to_bytes

_ORPHAN = "no merge leads to it"


def birth_row(trainer: OpenedTrainer, birth: Birth) -> BirthRow:
    """A birth as a row."""
    left = birth.parts[0] if birth.parts else birth.piece
    right = birth.parts[1] if len(birth.parts) == 2 else b"".join(birth.parts[1:])
    return BirthRow(
        left=left, right=right, token=birth.piece, count=birth.places, change=0, new=False, tied=False,
        score=birth.score or 0.0, number=birth.number, id=birth.id, parts=birth.parts, words=birth.words,
        place=trainer.order.place(birth.number), born=birth.number <= trainer.number,
        marks=Marks(trainer.order.vocabulary).sizes(trainer.order.births[birth.number - 1]),
    )


def birth_rows(trainer: OpenedTrainer, top: int, rows: int) -> tuple[BirthRow, ...]:
    """The births to come, from a row on."""
    return tuple(birth_row(trainer, birth) for birth in trainer.candidates(rows, top))


def born_rows(trainer: OpenedTrainer, top: int, rows: int) -> tuple[BirthRow, ...]:
    """The births that were made, from a row on, the last one first: what is seen where none is to come."""
    newest = trainer.number - top
    return tuple(birth_row(trainer, trainer.birth(number)) for number in range(newest, max(0, newest - rows), -1))


def last_birth(trainer: OpenedTrainer) -> BirthRow | None:
    """The birth that the trainer stands at, None at the start."""
    return birth_row(trainer, trainer.birth(trainer.number)) if trainer.number else None


def why_next(trainer: OpenedTrainer, stops: Stops) -> WhyView:
    """What is born next, of what, and where it stands in the file."""
    coming = birth_rows(trainer, 0, 2)
    best = coming[0] if coming else None
    facts = tuple(_facts(trainer, best)) if best else tuple(_ends(trainer))
    return WhyView(
        best=best, runner_up=coming[1] if len(coming) > 1 else None, tied=1 if best else 0, replaced=best.count if best else 0,
        tie_rule="", end=None if best else LAST, facts=facts,
    )


def _facts(trainer: OpenedTrainer, best: BirthRow) -> Iterator[str]:
    why = _never(trainer, trainer.order.births[best.number - 1])
    if why:
        yield f"no text becomes it: {why}"


def _ends(trainer: OpenedTrainer) -> Iterator[str]:
    """What is to be known of the whole file."""
    vocabulary = trainer.order.vocabulary
    orphans = sum(vocabulary.kind_of(symbol) == "orphan" for symbol in trainer.order.listed[: _roots_listed(trainer)])
    if orphans:
        said = "1 token is an orphan" if orphans == 1 else f"{orphans:,} tokens are orphans"
        yield f"{said}: {_ORPHAN}"
    ids = {vocabulary.id_of(symbol, len(vocabulary.merges)) for symbol in trainer.order.listed}
    ids |= {vocabulary.special_id(name) for name in vocabulary.specials}
    holes = (max(ids) - min(ids) + 1 - len(ids)) if ids else 0
    if holes:
        yield f"{holes:,} ids between the first and the last have no token" if holes > 1 else "1 id has no token"


def _roots_listed(trainer: OpenedTrainer) -> int:
    return len(trainer.order.listed) - (trainer.order.size(trainer.known) - trainer.order.size(0))


@functools.lru_cache(maxsize=4)
def _whole(trainer: OpenedTrainer) -> tuple[WordEncoder, Decoder]:
    """The encoder and the decoder of the whole file."""
    vocabulary, merges = trainer.opened.vocabulary, trainer.opened.merges
    return WordEncoder(vocabulary, merges), Decoder(vocabulary, merges)


def never(trainer: Trainer, number: int) -> str:
    """Why no text ever becomes the token of an id of an opened file, empty where one does, or where nothing is opened."""
    if not isinstance(trainer, OpenedTrainer):
        return ""
    vocabulary = trainer.order.vocabulary
    symbol = vocabulary.symbols_by_id(len(vocabulary.merges)).get(number)
    return "" if symbol is None else _never(trainer, symbol)


@functools.lru_cache(maxsize=4096)
def _never(trainer: OpenedTrainer, symbol: int) -> str:
    if trainer.order.vocabulary.kind_of(symbol) == "orphan":
        return _ORPHAN
    return unreachable(*_whole(trainer), symbol)


def encoded_by(trainer: OpenedTrainer, text: str, losses: bool) -> tuple[tuple[EncodedToken, ...], RoundTrip]:
    """A text as the tokenizer encodes it with the births so far, and what decoding does not give back where that is asked for.

    Raises:
        TokentuiError: It refuses the text.
    """
    now = trainer.tokenizer()
    encoder = WordEncoder(now.vocabulary, now.merges)
    found = encode(now.vocabulary, now.merges, text, cache=encoder)
    rows = zip(found.ids, found.tokens, found.pieces, found.offsets, found.words, strict=True)
    tokens = tuple(EncodedToken(number, text, piece, start, end, word) for number, text, piece, (start, end), word in rows)
    # An id is decoded alike at any birth: the tables of the whole file are made once.
    if not losses:
        return tokens, RoundTrip(None)
    return tokens, round_trip(now.vocabulary, now.merges, text, cache=encoder, decoder=_whole(trainer)[1])


class BirthVocabulary:
    """The vocabulary of an opened tokenizer in one of the orders that a screen may ask for."""

    def __init__(self, trainer: OpenedTrainer) -> None:
        self._trainer = trainer
        self._key: tuple[int, str] | None = None
        self._order: Sequence[int] = ()

    @functools.cached_property
    def _fixed(self) -> list[int]:
        """The rows of specials and byte tokens: -1-n for the n-th."""
        vocabulary = self._trainer.order.vocabulary
        return [-1 - n for n in range(len(vocabulary.specials) + vocabulary.byte_tokens)]

    @functools.cached_property
    def _by_id(self) -> list[int]:
        return sorted([*self._trainer.order.listed, *self._fixed], key=self._id)

    @functools.cached_property
    def _by_length(self) -> list[int]:
        pieces = self._trainer.order.vocabulary.pieces
        newest = self._trainer.order.listed[::-1]
        return sorted(newest, key=lambda symbol: -len(pieces[symbol])) + self._fixed

    def _id(self, entry: int) -> int:
        vocabulary = self._trainer.order.vocabulary
        if entry >= 0:
            return vocabulary.id_of(entry, len(vocabulary.merges))
        n = -1 - entry
        specials = vocabulary.specials
        return vocabulary.special_id(specials[n]) if n < len(specials) else vocabulary.byte_id(n - len(specials))

    def order(self, name: str) -> Sequence[int]:
        """The rows in order: a symbol, or -1-n for the n-th of specials and byte tokens."""
        trainer = self._trainer
        key = trainer.number, name
        if key != self._key:
            self._order, self._key = self._ordered(name), key
        return self._order

    def _ordered(self, name: str) -> Sequence[int]:
        trainer = self._trainer
        number, born, uses = trainer.number, trainer.order.born, trainer.uses
        if name == "id":
            return [entry for entry in self._by_id if entry < 0 or born[entry] <= number]
        if name == "longest":
            return [entry for entry in self._by_length if entry < 0 or born[entry] <= number]
        newest = trainer.order.listed[: trainer.vocab_size - len(self._fixed)][::-1]
        if name == "most used":
            used = sorted((symbol for symbol in newest if uses[symbol]), key=lambda symbol: -uses[symbol])
            return [*used, *(symbol for symbol in newest if not uses[symbol]), *self._fixed]
        return [*newest, *self._fixed]

    def rows(self, name: str, top: int, rows: int) -> tuple[int, tuple[TokenRow, ...]]:
        """The entries from a row on."""
        order = self.order(name)
        top = max(0, min(top, len(order) - 1))
        return top, tuple(self.row(entry) for entry in order[top : top + rows])

    def row(self, entry: int) -> TokenRow:
        """One entry of `order` as a row."""
        trainer, vocabulary = self._trainer, self._trainer.order.vocabulary
        if entry < 0:
            n = -1 - entry
            if n < len(vocabulary.specials):
                name = vocabulary.specials[n]
                return TokenRow(self._id(entry), to_bytes(name), "special", None, None, trainer.fixed.get(name))
            return TokenRow(self._id(entry), byte_token(n - len(vocabulary.specials)).encode(), "byte", None, None, None)
        birth, kind = trainer.order.born[entry], vocabulary.kind_of(entry)
        if not birth and kind in ("unit", "piece"):
            kind = "base"
        merged = birth and vocabulary.merges
        return TokenRow(
            id=self._id(entry),
            piece=vocabulary.pieces[entry],
            kind=kind,
            step=birth or None,
            count=None,
            uses=trainer.uses[entry],
            score=vocabulary.scores[entry] if vocabulary.scores else None,
            reason=_ORPHAN if kind == "orphan" else self._never(entry),
            parents=tuple(vocabulary.pieces[part] for part in vocabulary.merges[birth - 1]) if merged else (),
            marks=Marks(vocabulary).sizes(entry),
        )

    def _never(self, symbol: int) -> str:
        vocabulary = self._trainer.order.vocabulary
        left_out = isinstance(vocabulary, ImportedVocabulary) and symbol in vocabulary.never
        return "text is never taken for it" if left_out else ""

    def find(self, text: Sequence[bytes], start: int, backward: bool, name: str) -> int | None:
        """The next row after (or before) a row whose token holds one of these, round the end."""
        entries, step = self.order(name), -1 if backward else 1
        pieces = self._trainer.order.vocabulary.pieces
        for turn in range(1, len(entries) + 1):
            row = (start + step * turn) % len(entries)
            piece = pieces[entries[row]] if entries[row] >= 0 else self.row(entries[row]).piece
            if any(needle in piece for needle in text):
                return row
        return None


def find_birth(trainer: OpenedTrainer, text: Sequence[bytes], start: int, backward: bool) -> int | None:
    """The next row of the births after (or before) a row that shows one of these, round the end: in its token, or in its parts
    with a plus between them. The rows are the births to come; where there are none, those that were made, the last one first."""
    to_come = trainer.pairs
    total, step = to_come or trainer.known, -1 if backward else 1
    pieces, births = trainer.order.vocabulary.pieces, trainer.order.births
    joined = any(b"+" in needle.strip(b"+") for needle in text)
    for turn in range(1, total + 1):
        row = (start + step * turn) % total
        number = trainer.number + row + 1 if to_come else trainer.number - row
        shown = [pieces[births[number - 1]]]
        if joined:
            shown.append(b"+".join(trainer.birth(number).parts))
        if any(needle in one for needle in text for one in shown):
            return row
    return None
