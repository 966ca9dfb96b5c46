"""The vocabularies of several columns at one position: what is common, what only one has, and what one never makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from tokentui.analyze.overlap import Overlap, bare_pieces, overlap
from tokentui.core.jobs import check
from tokentui.encode.tokenizer import Tokenizer
from tokentui.session.snapshot import OverlapCounts, TokenInBoth, TokensInBoth
from tokentui.session.views import Busy, Position, TokenList
from tokentui.text.split import to_bytes


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
            out.append(OverlapCounts(
                at=self.at, a=a, b=b, common=len(exact.common), only_a=len(exact.only_a), only_b=len(exact.only_b),
                jaccard=exact.jaccard, bare_common=len(bare.common), bare_only_a=len(bare.only_a), bare_only_b=len(bare.only_b),
                bare_jaccard=bare.jaccard,
                never_b=len(self._never(a, b, "never_b", whole)) if b in whole else None,
                never_a=len(self._never(a, b, "never_a", whole)) if a in whole else None,
            ))
        return tuple(out)

    def shown(self, look: TokenList, whole: Mapping[int, frozenset[bytes]], busy: Busy | None) -> TokensInBoth | None:
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
        overlaps[a.key, b.key] = (overlap(a.tokenizer, b.tokenizer), overlap(a.tokenizer, b.tokenizer, bare=True))
    return Vocabularies(at, rows, overlaps)


def _rows(seen: Seen, bare: bool) -> dict[bytes, Row]:
    """The id and the uses of each token; of several that are spelled alike the first one's id, and all their uses."""
    tokenizer, uses = seen.tokenizer, seen.uses
    symbols = tokenizer.vocabulary.symbols_by_id(tokenizer.merges)
    pieces = bare_pieces(tokenizer) if bare else ((entry.id, entry.piece) for entry in tokenizer.entries())
    rows: dict[bytes, Row] = {}
    for number, piece in pieces:
        symbol = symbols.get(number)
        held = uses[symbol] if symbol is not None and symbol < len(uses) else None
        if piece in rows:
            first, before = rows[piece]
            rows[piece] = (first, before if held is None else held + (before or 0))
        else:
            rows[piece] = (number, held)
    return rows
