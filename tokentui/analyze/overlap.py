"""What two vocabularies have in common: tokens of the same exact bytes, or of the same text whatever their marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tokentui.analyze.figures import ratio
from tokentui.encode.segment.parts import Marks
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.split import SPACE_MARK, to_bytes


@dataclass(frozen=True, slots=True)
class Overlap:
    """The tokens of two vocabularies as bytes, each once, in order of the first one's ids, of `only_b` the second's."""

    common: tuple[bytes, ...]
    only_a: tuple[bytes, ...]
    only_b: tuple[bytes, ...]

    @property
    def jaccard(self) -> float | None:
        """What is common, as a share of all."""
        return ratio(len(self.common), len(self.common) + len(self.only_a) + len(self.only_b))

    def find(self, text: str) -> Overlap:
        """Those tokens that hold a text."""
        wanted = to_bytes(text)
        return Overlap(_holding(self.common, wanted), _holding(self.only_a, wanted), _holding(self.only_b, wanted))


def overlap(a: Tokenizer, b: Tokenizer, *, bare: bool = False) -> Overlap:
    """What the vocabularies of two tokenizers share, and what only one of them has; specials by their names.

    Args:
        a: The first.
        b: The second.
        bare: Compare tokens without their marks and without a space (or ▁) in front.
    """
    first, second = (
        dict.fromkeys(piece for _, piece in bare_pieces(one)) if bare else dict.fromkeys(entry.piece for entry in one.entries())
        for one in (a, b)
    )
    return Overlap(
        common=tuple(piece for piece in first if piece in second),
        only_a=tuple(piece for piece in first if piece not in second),
        only_b=tuple(piece for piece in second if piece not in first),
    )


def bare_pieces(tokenizer: Tokenizer) -> Iterator[tuple[int, bytes]]:
    """The tokens of a vocabulary without their marks and without a space (or ▁) in front, each with its id; none that is empty
    then."""
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


def _holding(pieces: Iterable[bytes], wanted: bytes) -> tuple[bytes, ...]:
    return tuple(piece for piece in pieces if wanted in piece)
