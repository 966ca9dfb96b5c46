"""What a merge means, however its tokens are spelled: the texts of its two sides, and whether a word's boundary is in it.

A space in front (`·t`, `Ġt` in a file), a ▁ in front, a mark at the end of a word (`t</w>`) and, where tokens inside a word are
marked (`##h`), a token without the mark all say that a word begins or ends there. Here the boundary of a merge is written in one
way, in front of it. A space elsewhere, and a second one, is a character as any other.
"""

from __future__ import annotations

from tokentui.encode import Decoder
from tokentui.encode.segment.parts import Marks
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.base import Trainer
from tokentui.learn.replay import OpenedTrainer

Meaning = tuple[bool, tuple[bytes, ...]]
"""Whether a boundary is in a merge, and the texts of its sides; a side that is nothing but the boundary has none."""

_METASPACE = "▁".encode()


class Meanings:
    """Reads the merges of one training, or of a tokenizer that was opened.

    Args:
        trainer: The training.
    """

    def __init__(self, trainer: Trainer) -> None:
        self._vocabulary = trainer.order.vocabulary if isinstance(trainer, OpenedTrainer) else trainer.vocabulary
        self._marks = Marks(self._vocabulary)
        self._kind = self._vocabulary.recipe.mark_kind
        self._metaspace = _is_space(self._vocabulary)

    def of_symbols(self, left: int, right: int) -> Meaning:
        """The merge of two symbols; their marks are judged by what they were made of."""
        marks, spelled = self._marks, self._vocabulary.spelled
        return self._of(spelled(left), spelled(right), marks.sizes(left), marks.sizes(right))

    def of_pieces(self, left: bytes, right: bytes) -> Meaning:
        """A merge of two tokens of which the bytes are known alone; their marks are judged by the spelling."""
        return self._of(left, right, self._spelled(left), self._spelled(right))

    def _of(self, left: bytes, right: bytes, left_marks: tuple[int, int], right_marks: tuple[int, int]) -> Meaning:
        texts = [piece[front : len(piece) - end] for piece, (front, end) in ((left, left_marks), (right, right_marks))]
        if self._metaspace:
            texts = [text.replace(_METASPACE, b" ") for text in texts]
        match self._kind:
            case "none":
                boundary = texts[0].startswith(b" ")
                texts[0] = texts[0][boundary:]
            case "prefix":
                boundary = not left_marks[0]
            case _:
                boundary = bool(right_marks[1])
        return boundary, tuple(text for text in texts if text)

    def _spelled(self, piece: bytes) -> tuple[int, int]:
        mark = self._marks.mark
        front = self._marks.unit_continues(piece)
        end = self._kind.startswith("end-") and piece.endswith(mark)
        return len(mark) if front else 0, len(mark) if end else 0


def _is_space(vocabulary: Vocabulary) -> bool:
    """Whether ▁ stands for a space: by the recipe, or where decoding makes one of it."""
    if vocabulary.recipe.split == "metaspace":
        return True
    merges = len(vocabulary.merges)
    held = next((number for number, symbol in vocabulary.symbols_by_id(merges).items()
                 if _METASPACE in vocabulary.pieces[symbol]), None)
    return held is not None and "▁" not in Decoder(vocabulary, merges).to_text([held])
