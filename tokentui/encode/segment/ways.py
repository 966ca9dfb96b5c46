"""The ways of encoding a word. One record a value of the axis `encode`; each has a file of its own here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tokentui.core.choices import Axis, Choice
from tokentui.core.lazy import Ref
from tokentui.encode.segment.parts import MAX_CHARACTERS, Segmenter


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodingWay(Choice):
    """A way of encoding.

    Attributes:
        how: The pieces that it takes of all ways to write a word, for a person.
        segmenter: Makes the segmenter for a vocabulary and a number of merges.
        needs: What it needs of a vocabulary beyond its pieces: `merges` or `scores`; empty for nothing.
        most: The most characters of a word that it cuts where units may be unknown; 0 for words of any length.
    """

    how: str
    segmenter: Callable[..., Segmenter]
    needs: str = ""
    most: int = 0


WAYS = Axis(
    "encode", "how new text is encoded",
    EncodingWay(
        "merges", "the merges in the order they were learned", how="merges, in the order in which they were learned",
        segmenter=Ref("tokentui.encode.segment.merges:Merging"), needs="merges",
    ),
    EncodingWay(
        "longest-match", "the longest token of the vocabulary, from the left",
        how="the longest token that fits, from the left",
        segmenter=Ref("tokentui.encode.segment.longest:LongestMatch"), most=MAX_CHARACTERS,
    ),
    EncodingWay(
        "viterbi", "the most probable segmentation", how="the most probable segmentation",
        segmenter=Ref("tokentui.encode.segment.viterbi:Viterbi"), needs="scores",
    ),
)
"""The ways, by name."""
