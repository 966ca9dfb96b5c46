"""The jobs that find what columns have between them: each on objects of its own, and given up when it is
wanted no longer.

A job depends on what its signature holds. Its answer is kept as long as that stays; another position, another
column or another corpus makes another job of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

from tokentui.analyze.compare import Overlap, PairAgreement, compare_on, overlap, pieces, tally_each
from tokentui.analyze.divergence import as_trained, both_divergences, encoded, evenly, replayed, walked
from tokentui.analyze.metrics import Conventions, bits, rows_of
from tokentui.analyze.results import DivergenceSide
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, tick
from tokentui.core.runtime import quiet_collector
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.trainer import Trainer
from tokentui.session.jobs import Tell, telling
from tokentui.session.opening import Prepared, prepare_tokenizer
from tokentui.session.snapshot import Curve, Measured, OverlapCounts, TokenInBoth, TokensInBoth
from tokentui.session.views import Busy, Position, TokenList
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts
from tokentui.text.split import to_bytes

Key = tuple[str, tuple[int, ...]]
"""The kind of an answer, and the keys of its columns."""
Signature = tuple[object, ...]

CUTS_SHOWN = 5
"""The number of divergent stretches of two columns to report, most frequent first."""
ROWS = 10
"""The number of candidates to report for a side."""
_FEW = 16
"""At how many steps another corpus is encoded anew, where there is no shorter way."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to be found.

    Attributes:
        key: What it is an answer to; another of this key takes its place.
        signature: What it depends on.
        what: What it is, in a few words.
        work: Finds it.
        resting: Whether it waits until the columns have not moved for a moment.
    """

    key: Key
    signature: Signature
    what: str
    work: Callable[[Tell], object]
    resting: bool = True


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first differing step of two columns, None where they are alike to their ends; `looked` steps are
    alike. `spelled` is the same of merges as they are spelled, where it is not by their meaning."""

    step: int | None
    looked: int
    sides: tuple[DivergenceSide, ...]
    spelled: Divergence | None = None

    def by(self, literal: bool) -> Divergence:
        """The divergence by the spelling, or by the meaning."""
        return self.spelled if literal and self.spelled is not None else self


def _again(prepared: Prepared, tell: Tell) -> Trainer:
    """Fork the training at step 0, to walk it independently."""
    with quiet_collector(), telling(tell, "laying out"):
        return prepared.trainer.fork(0, ())


def divergence(a: tuple[int, Prepared], b: tuple[int, Prepared]) -> Finding:
    """The first differing step of two columns."""
    what = "looking where they part"

    def work(tell: Tell) -> Divergence:
        both = [one for _, one in (a, b)]
        first, second = (_again(one, tell) for one in both)

        with quiet_collector(), telling(tell, what):
            found = both_divergences(first, second, rows=ROWS, stops=(both[0].run.stops, both[1].run.stops))
        looked = min(first.computed, second.computed)
        meant, spelled = (
            Divergence(one.step, one.step - 1, (one.a, one.b)) if one else Divergence(None, looked, ())
            for one in found
        )
        return replace(meant, spelled=spelled)

    return Finding(("divergence", (a[0], b[0])), (a[1].trainer, b[1].trainer), what, work, resting=False)


def overlaps(at: Position, columns: Sequence[Seen], signature: Signature) -> Finding:
    """A query for the tokens that the vocabularies share."""
    return Finding(
        ("vocabulary", ()), signature, "comparing vocabularies", lambda tell: vocabularies(at, columns)
    )


def whole_run(key: int, prepared: Prepared) -> Finding:
    """All tokens that a column has at any step of its run, to its stops or until no pair is left."""
    what = "going to the end of the run"

    def work(tell: Tell) -> frozenset[bytes]:
        trainer, stops = prepared.trainer, prepared.run.stops
        if prepared.opened is not None:
            return _pieces(prepared.opened.tokenizer)
        if not trainer.traits.grows:  # pieces are only dropped
            return _pieces(trainer.fork(0, ()).tokenizer())
        walk = _again(prepared, tell)
        with telling(tell, what):
            total = walk.ending(stops).step or 0
            while walk.advance(None, stops) is None:
                tick(walk.number, total)
        return _pieces(walk.tokenizer())

    return Finding(("whole", (key,)), (prepared.trainer,), what, work, resting=False)


def _pieces(tokenizer: Tokenizer) -> frozenset[bytes]:
    return frozenset(entry.piece for entry in tokenizer.entries())


def measures(
    kind: str, at: Position, columns: Sequence[tuple[int, Tokenizer]], counted: WordCounts,
    under: Conventions, signature: Signature,
) -> Finding:
    """The measures of the columns on a corpus."""
    corpus = counted.corpus

    def work(tell: Tell) -> Measured:
        with telling(tell, "measuring"):
            tallies, errors = tally_each([one for _, one in columns], corpus, under, counted)
        keys = tuple(key for key, _ in columns)
        refused = tuple((key, str(error)) for key, error in zip(keys, errors, strict=True) if error)
        return Measured(at, corpus.name, keys, rows_of(tallies), refused)

    return Finding((kind, ()), (*signature, under, corpus.sha256), "measuring", work)


def agreements(
    kind: str, columns: Sequence[tuple[int, Tokenizer]], corpus: Corpus, under: Conventions,
    signature: Signature,
) -> Finding:
    """A query for the agreement of each two columns on a corpus. Omits columns that cannot read it."""

    def work(tell: Tell) -> tuple[PairAgreement, ...]:
        with telling(tell, "comparing"):
            return compare_on(columns, corpus, under, most=CUTS_SHOWN)

    return Finding((kind, ()), (*signature, under, corpus.sha256), "comparing", work)


def curve(
    key: int, prepared: Prepared, counted: WordCounts, points: int, held_out: bool = False
) -> Finding:
    """The curves of a column on its own corpus, or on a second one, as far as its steps are computed."""
    trainer, recipe, file, what = prepared.trainer, prepared.recipe, prepared.opened, "drawing curves"
    computed, number, traits, corpus = trainer.computed, trainer.number, trainer.traits, counted.corpus
    by_merges = traits.step == "merge" and not traits.compresses
    tokenizer = trainer.tokenizer(computed) if by_merges else None
    remembers = tokenizer is not None and not held_out and as_trained(recipe)
    uses = list(trainer.uses) if remembers else []

    def found(tell: Tell) -> Curve:
        steps, other, words = evenly(computed, points), trainer, None
        if tokenizer is not None and remembers:
            lengths, vocabulary = (
                [trainer.tokens_at(step) for step in range(computed + 1)], tokenizer.vocabulary,
            )
            merges = vocabulary.merges[:computed]
            tokens, used = replayed(merges, vocabulary.base_size, lengths, uses, number, steps)
        elif tokenizer is not None:
            words = counted.of(recipe) if held_out else trainer.words
            with telling(tell, what):
                tokens, used = encoded(tokenizer, words, steps)
        else:
            if file is not None and held_out:
                other = prepare_tokenizer(corpus, file.tokenizer, prepared.run, tell).trainer
            else:
                other = _again(prepared, tell)
            if file is None and (held_out or not as_trained(recipe)):
                words = counted.of(recipe)
                steps = evenly(computed, min(points, _FEW)) if traits.grows else steps
            with telling(tell, what):
                tokens, used = walked(other, prepared.run.stops, steps, words)
        sizes = [other.size_at(step) for step in steps]
        return curve_of(key, held_out, steps, tokens, sizes, corpus.size, used)

    def work(tell: Tell) -> Curve:
        try:
            return found(tell)
        except TokentuiError as error:
            return Curve(key, held_out, (), (), (), (), (), str(error))

    # One that takes long is drawn again when the steps have become a twentieth, or eight, more.
    drawn = computed if remembers else int(20 * math.log1p(computed / 160))
    signature = trainer, drawn, points, corpus.sha256
    return Finding(("held curve" if held_out else "curve", (key,)), signature, what, work)


def curve_so_far(key: int, prepared: Prepared, points: int) -> Curve | None:
    """The curves of a column on its corpus as far as its training tells them; None where it does not encode
    as it was trained."""
    trainer = prepared.trainer
    if prepared.opened is None and not as_trained(prepared.recipe):
        return None
    steps = evenly(trainer.computed, points)
    tokens, ids = [trainer.tokens_at(step) for step in steps], [trainer.size_at(step) for step in steps]
    return curve_of(key, False, steps, tokens, ids, prepared.corpus.size)


def curve_of(
    key: int, held_out: bool, steps: Sequence[int], tokens: Sequence[int], ids: Sequence[int],
    corpus_bytes: int,
    used: Sequence[int] = (),
) -> Curve:
    """Curves from the tokens and the ids at some steps, and the ids that are in use where these are known."""
    return Curve(
        key=key,
        held_out=held_out,
        steps=tuple(steps),
        tokens=tuple(tokens),
        bytes_per_token=tuple(corpus_bytes / one if one else None for one in tokens),
        bits=tuple(bits(one, size) or 0.0 for one, size in zip(tokens, ids, strict=True)),
        in_use=tuple(one / size if size else 0.0 for one, size in zip(used, ids, strict=True))
        if used
        else (),
    )


# The vocabularies of several columns at one position: what is common, what only one has, and what one never
# makes.


class Seen(NamedTuple):
    """A column as it stands: its tokenizer, and the uses of each symbol in the corpus."""

    key: int
    tokenizer: Tokenizer
    uses: Sequence[int]


Row = tuple[int, int | None]
"""A token's id and its uses; the uses of a special are not counted."""


@dataclass(frozen=True, slots=True)
class Vocabularies:
    """The vocabularies of the columns that stand at a position.

    Attributes:
        at: The position.
        rows: By the key of each column its tokens, by their bytes; by their bare bytes, the first of them.
        overlaps: What each two share, by their keys; the second by bare bytes.
    """

    at: Position
    rows: Mapping[int, tuple[Mapping[bytes, Row], Mapping[bytes, Row]]]
    overlaps: Mapping[tuple[int, int], tuple[Overlap, Overlap]]
    _listed: dict[tuple[object, ...], Sequence[bytes]] = field(default_factory=dict)

    def counts(self, whole: Mapping[int, frozenset[bytes]]) -> tuple[OverlapCounts, ...]:
        """Return the number of tokens that each two vocabularies share.

        Args:
            whole: All tokens that a column makes in its whole run, by its key, where they are known.
        """
        out = []
        for (a, b), (exact, bare) in self.overlaps.items():
            out.append(
                OverlapCounts(
                    at=self.at, a=a, b=b, common=len(exact.common), only_a=len(exact.only_a),
                    only_b=len(exact.only_b), jaccard=exact.jaccard, bare_common=len(bare.common),
                    bare_only_a=len(bare.only_a), bare_only_b=len(bare.only_b), bare_jaccard=bare.jaccard,
                    never_b=len(self._never(a, b, "never_b", whole)) if b in whole else None,
                    never_a=len(self._never(a, b, "never_a", whole)) if a in whole else None,
                )
            )
        return tuple(out)

    def shown(
        self, look: TokenList, whole: Mapping[int, frozenset[bytes]], busy: Busy | None
    ) -> TokensInBoth | None:
        """The rows of a list; None where there are no such columns here."""
        swapped = (look.a, look.b) not in self.overlaps
        a, b = (look.b, look.a) if swapped else (look.a, look.b)
        if (a, b) not in self.overlaps:
            return None
        part = _SWAPPED.get(look.part, look.part) if swapped else look.part
        never = part.startswith("never")
        if never and (b if part == "never_b" else a) not in whole:
            return TokensInBoth(self.at, look, 0, (), busy)
        bare = look.bare and not never
        pieces = self._never(a, b, part, whole) if never else getattr(self.overlaps[a, b][bare], part)
        found = self._holding((a, b, part, bare), pieces, look.find)
        top = max(0, min(look.top, len(found) - 1))
        left, right = self.rows[look.a][bare], self.rows[look.b][bare]
        rows = []
        for piece in found[top : top + look.rows]:
            id_a, uses_a = left.get(piece, (None, None))
            id_b, uses_b = right.get(piece, (None, None))
            rows.append(TokenInBoth(piece, id_a, id_b, uses_a, uses_b))
        look = TokenList(look.a, look.b, look.part, look.bare, look.find, top, look.rows)
        return TokensInBoth(self.at, look, len(found), tuple(rows))

    def _never(self, a: int, b: int, part: str, whole: Mapping[int, frozenset[bytes]]) -> Sequence[bytes]:
        """Of what only one has, what the other makes at no step."""
        key = (a, b, part)
        if key not in self._listed:
            exact = self.overlaps[a, b][0]
            mine, others = (exact.only_a, whole[b]) if part == "never_b" else (exact.only_b, whole[a])
            self._listed[key] = [piece for piece in mine if piece not in others]
        return self._listed[key]

    def _holding(self, of: tuple[object, ...], pieces: Sequence[bytes], text: str) -> Sequence[bytes]:
        """Those that hold a text; a visible space may stand for a space."""
        if not text:
            return pieces
        key = (*of, text)
        if key not in self._listed:
            wanted = {to_bytes(text), to_bytes(text.replace("·", " ").replace("␣", " "))}
            self._listed[key] = [piece for piece in pieces if any(one in piece for one in wanted)]
        return self._listed[key]


_SWAPPED = {"only_a": "only_b", "only_b": "only_a", "never_a": "never_b", "never_b": "never_a"}


def vocabularies(at: Position, columns: Sequence[Seen]) -> Vocabularies:
    """Compare vocabularies.

    Raises:
        Cancelled: The job is cancelled.
    """
    rows = {}
    for seen in columns:
        check()
        rows[seen.key] = (_rows(seen, False), _rows(seen, True))
    overlaps = {}
    for a, b in combinations(columns, 2):
        check()
        overlaps[a.key, b.key] = (
            overlap(a.tokenizer, b.tokenizer), overlap(a.tokenizer, b.tokenizer, bare=True),
        )
    return Vocabularies(at, rows, overlaps)


def _rows(seen: Seen, bare: bool) -> dict[bytes, Row]:
    """The id and the uses of each token; of several that are spelled alike the first one's id, and all their
    uses."""
    tokenizer, uses = seen.tokenizer, seen.uses
    symbols = tokenizer.vocabulary.symbols_by_id(tokenizer.merges)
    rows: dict[bytes, Row] = {}
    for number, piece in pieces(tokenizer, bare):
        symbol = symbols.get(number)
        held = uses[symbol] if symbol is not None and symbol < len(uses) else None
        if piece in rows:
            first, before = rows[piece]
            rows[piece] = (first, before if held is None else held + (before or 0))
        else:
            rows[piece] = (number, held)
    return rows
