"""The shared tokens of two vocabularies: of the same exact bytes, or of the same text whatever their marks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tokentui.analyze.metrics import ratio
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Marks
from tokentui.text.split import SPACE_MARK, to_bytes


@dataclass(frozen=True, slots=True)
class Overlap:
    """The tokens of two vocabularies as bytes, each once.

    Attributes:
        common: The tokens of both, in order of the first one's ids.
        only_a: Those of the first alone, in the same order.
        only_b: Those of the second alone, in order of its own ids.
    """

    common: tuple[bytes, ...]
    only_a: tuple[bytes, ...]
    only_b: tuple[bytes, ...]

    @property
    def jaccard(self) -> float | None:
        """The common tokens as a share of all."""
        return ratio(len(self.common), len(self.common) + len(self.only_a) + len(self.only_b))

    @property
    def parts(self) -> tuple[tuple[bytes, ...], ...]:
        """The common tokens, those of the first alone, those of the second alone."""
        return self.common, self.only_a, self.only_b

    def find(self, text: str) -> Overlap:
        """The tokens that hold a text."""
        wanted = to_bytes(text)
        return Overlap(*(tuple(piece for piece in part if wanted in piece) for part in self.parts))


def overlap(a: Tokenizer, b: Tokenizer, *, bare: bool = False) -> Overlap:
    """The tokens that two vocabularies share, and those that only one of them has; specials by their names.

    Args:
        a: The first.
        b: The second.
        bare: Compare tokens without their marks and without a space (or ▁) in front.
    """
    first, second = (
        dict.fromkeys(
            (piece for _, piece in bare_pieces(one)) if bare else (entry.piece for entry in one.entries())
        )
        for one in (a, b)
    )
    return Overlap(
        common=tuple(piece for piece in first if piece in second),
        only_a=tuple(piece for piece in first if piece not in second),
        only_b=tuple(piece for piece in second if piece not in first),
    )


def bare_pieces(tokenizer: Tokenizer) -> Iterator[tuple[int, bytes]]:
    """The tokens of a vocabulary without their marks and without a space (or ▁) in front, each with its id;
    none that is empty then."""
    vocabulary = tokenizer.vocabulary
    marks, symbols = Marks(vocabulary), vocabulary.symbols_by_id(tokenizer.merges)
    for entry in tokenizer.entries():
        piece, symbol = entry.piece, symbols.get(entry.id)
        if symbol is not None and entry.kind not in ("special", "unknown", "byte"):
            if marks.continues(symbol):
                piece = piece[len(marks.mark) :]
            elif marks.ends(symbol):
                piece = piece[: -len(marks.mark)]
            if tokenizer.recipe.split == "metaspace":
                piece = piece.replace(to_bytes(SPACE_MARK), b" ")
            piece = piece.removeprefix(b" ")
        if piece:
            yield entry.id, piece
