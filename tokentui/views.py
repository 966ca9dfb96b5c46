"""From a trainer to the rows that a screen shows: pure questions, answered at the trainer's present step."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.errors import TokentuiError
from tokentui.learn.base import Candidate, Stops
from tokentui.learn.pairs import PairTrainer
from tokentui.snapshot import EncodedToken, EncodedView, Look, PairRow, TokenRow, WhyView
from tokentui.text.pretokenize import to_bytes
from tokentui.vocabulary import byte_token

_VISIBLE_SPACES = {"·": " ", "␣": " "}


def pair_rows(trainer: PairTrainer, top: int, rows: int) -> tuple[int, tuple[PairRow, ...]]:
    """Candidates from a row on; the row is moved up where there are fewer."""
    top = max(0, min(top, trainer.pairs - 1))
    start = max(0, top - 1)
    found = trainer.candidates(rows + (top - start) + 1, start)
    out = []
    for n in range(top - start, min(len(found), rows + top - start)):
        near = [found[m].count for m in (n - 1, n + 1) if 0 <= m < len(found)]
        out.append(pair_row(found[n], found[n].count in near))
    return top, tuple(out)


def pair_row(candidate: Candidate, tied: bool) -> PairRow:
    """A candidate as a row."""
    return PairRow(
        candidate.left, candidate.right, candidate.token, candidate.count, candidate.change, candidate.before is None, tied
    )


def why_view(trainer: PairTrainer, stops: Stops) -> WhyView:
    """Why the next step is what it is."""
    why = trainer.why(stops)
    tied = why.tied > 1
    return WhyView(
        best=pair_row(why.best, tied) if why.best else None,
        runner_up=pair_row(why.runner_up, tied and why.best is not None and why.runner_up.count == why.best.count)
        if why.runner_up
        else None,
        tied=why.tied,
        replaced=why.replaced,
        tie_rule=why.tie_rule,
        end=why.end,
    )


class VocabularyRows:
    """The vocabulary of a trainer in one of the orders that a screen may ask for, kept while the step stays."""

    def __init__(self, trainer: PairTrainer) -> None:
        self._trainer = trainer
        self._key: tuple[int, str] | None = None
        self._order: Sequence[int] = ()

    def order(self, name: str) -> Sequence[int]:
        """The rows in order: a symbol, or -1-n for the n-th of specials and byte tokens."""
        trainer, vocabulary = self._trainer, self._trainer.vocabulary
        key = (trainer.number, name)
        if key != self._key:
            made = vocabulary.base_size + trainer.number
            first = vocabulary.first_id + len(vocabulary.specials) + vocabulary.byte_tokens
            learned = [s for s in range(made) if vocabulary.id_of(s, trainer.number) >= first]
            fixed = [-1 - n for n in range(len(vocabulary.specials) + vocabulary.byte_tokens)]
            if name == "id":
                learned.sort(key=lambda symbol: vocabulary.id_of(symbol, trainer.number))
                self._order = fixed + learned
            else:
                learned.reverse()
                if name == "most used":
                    learned.sort(key=lambda symbol: -trainer.uses[symbol])
                elif name == "longest":
                    learned.sort(key=lambda symbol: -len(vocabulary.pieces[symbol]))
                self._order = learned + fixed
            self._key = key
        return self._order

    def rows(self, name: str, top: int, rows: int) -> tuple[int, tuple[TokenRow, ...]]:
        """The entries from a row on."""
        order = self.order(name)
        top = max(0, min(top, len(order) - 1))
        return top, tuple(self.row(entry) for entry in order[top : top + rows])

    def row(self, entry: int) -> TokenRow:
        """One entry of `order` as a row."""
        trainer, vocabulary = self._trainer, self._trainer.vocabulary
        if entry < 0:
            n = -1 - entry
            if n < len(vocabulary.specials):
                return TokenRow(vocabulary.first_id + n, to_bytes(vocabulary.specials[n]), "special", None, None, None)
            value = n - len(vocabulary.specials)
            return TokenRow(vocabulary.byte_id(value), byte_token(value).encode(), "byte", None, None, None)
        rank = entry - vocabulary.base_size
        merged = rank >= 0
        return TokenRow(
            id=vocabulary.id_of(entry, trainer.number),
            piece=vocabulary.pieces[entry],
            kind="merge" if merged else "base",
            step=rank + 1 if merged else None,
            count=vocabulary.counts[rank] if merged else None,
            uses=trainer.uses[entry],
        )

    def find(self, text: str, start: int, backward: bool, order: str) -> int | None:
        """The next row after (or before) a row whose token holds a text, round the end."""
        entries, wanted = self.order(order), needles(text)
        step = -1 if backward else 1
        for turn in range(1, len(entries) + 1):
            row = (start + step * turn) % len(entries)
            entry = entries[row]
            piece = self._trainer.vocabulary.pieces[entry] if entry >= 0 else self.row(entry).piece
            if any(needle in piece for needle in wanted):
                return row
        return None


def find_pair(trainer: PairTrainer, text: str, start: int, backward: bool) -> int | None:
    """The next candidate after (or before) a row whose token would hold a text, round the end."""
    total = trainer.pairs
    candidates = trainer.candidates(total)
    wanted = needles(text)
    step = -1 if backward else 1
    for turn in range(1, total + 1):
        row = (start + step * turn) % total
        if any(needle in candidates[row].token for needle in wanted):
            return row
    return None


def needles(text: str) -> tuple[bytes, ...]:
    """What a user may mean by a text: as typed, and with visible spaces read as spaces."""
    plain = "".join(_VISIBLE_SPACES.get(char, char) for char in text)
    return tuple(dict.fromkeys((to_bytes(text), to_bytes(plain))))


def encoded_view(trainer: PairTrainer, text: str) -> EncodedView:
    """The typed text as the tokenizer of this step encodes it."""
    size = len(to_bytes(text))
    try:
        encoding = trainer.tokenizer().encode(text)
    except TokentuiError as error:
        return EncodedView(text, (), size, str(error))
    tokens = zip(encoding.ids, encoding.tokens, encoding.pieces, encoding.offsets, encoding.words, strict=True)
    return EncodedView(
        text, tuple(EncodedToken(n, shown, piece, start, end, word) for n, shown, piece, (start, end), word in tokens), size
    )


def curve(trainer: PairTrainer, look: Look, end: int) -> tuple[int, ...]:
    """The corpus in tokens after evenly spread steps from 0 to `end`, as far as they are known."""
    points = max(2, look.curve_points)
    steps = [round(n * end / (points - 1)) for n in range(points)]
    return tuple(trainer.tokens_at(step) for step in steps if step <= trainer.known)
