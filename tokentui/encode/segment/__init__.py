"""The ways of encoding a word, and of treating its unknown units: one record per value of the axes `encode`
and `unknown`.

Each way has its own file in this folder. Here are the types that all share: the parts of a word, the steps of
encoding, the protocol of a segmenter, and a table of tokens at a step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from tokentui.core.choices import Axis, Choice, Ref, Refusal
from tokentui.core.errors import TokentuiError
from tokentui.core.records import dataclass
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import UNITS

MAX_CHARACTERS = 100
"""Longest match gives up words of more characters."""
ASKED_EVERY = 4096
"""Merges or units of one word between two checks of the job."""


class WordPart(NamedTuple):
    """Units `start` to `end` of a word, and the symbol that they became, or the byte of a byte-fallback
    token.

    A part with neither is unknown.
    """

    start: int
    end: int
    symbol: int | None = None
    byte: int | None = None

    @property
    def unknown(self) -> bool:
        """True if the vocabulary lacks the part."""
        return self.symbol is None and self.byte is None


def in_bytes(parts: Iterable[WordPart], units: Sequence[bytes], bytes_: Mapping[int, int]) -> list[WordPart]:
    """Return new parts, with each unknown part replaced by byte-fallback tokens if all of its bytes have one.

    Args:
        parts: The parts.
        units: The units of the word.
        bytes_: The symbol of each byte-fallback token by its byte.
    """
    result: list[WordPart] = []
    for part in parts:
        run = units[part.start : part.end] if part.symbol is None else ()
        if run and all(value in bytes_ for unit in run for value in unit):
            result += [
                WordPart(at, at + 1, bytes_[value])
                for at, unit in enumerate(run, part.start) for value in unit
            ]
        else:
            result.append(part)
    return result


@dataclass(frozen=True, slots=True)
class AppliedMerge:
    """A merge in a word. Places are indices of units: the left part is `start` to `middle`, the right part
    `middle` to `end`."""

    rank: int
    left: bytes
    right: bytes
    result: bytes
    start: int
    middle: int
    end: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt to find a token at the units from `start` to `end`.

    Attributes:
        candidate: The exact bytes that the token would have.
        start: The index of the first unit.
        end: The index after the last unit.
        found: True if the token exists and is used.
        tokens: For a token that is considered but not used: the smallest number of tokens for the word up to
            its end, with this token last. None if the candidate is not a token.
    """

    candidate: bytes
    start: int
    end: int
    found: bool
    tokens: int | None = None

    @property
    def outcome(self) -> str:
        """The outcome as a phrase that follows the spelling."""
        if self.found:
            return "is taken" if self.tokens is not None else "found"
        if self.tokens is None:
            return "is not a token"
        return f"ends {self.tokens:,} token{'s' * (self.tokens != 1)}"


@dataclass(frozen=True, slots=True)
class SplitStep:
    """A symbol that was split. Places are indices of units.

    Attributes:
        rank: The number of the event, 0 for the first.
        piece: The bytes of the symbol.
        parts: The bytes of the symbols that replace it.
        cuts: The first unit of each part but the first.
        start: The first unit of the symbol.
        end: The unit after the symbol.
    """

    rank: int
    piece: bytes
    parts: tuple[bytes, ...]
    cuts: tuple[int, ...]
    start: int
    end: int


EncodingStep = AppliedMerge | Attempt | SplitStep


class UnknownUnit(TokentuiError):
    """A word has an unknown unit and the recipe refuses it. Encode the text with places to get an error with
    the place."""


RankedPair = tuple[int, int, int, int]
"""A pair of symbols that merges: (left, right, rank, result). In a word, the pair of lowest rank merges
first; of equal ranks, the leftmost."""


class Segmenter(Protocol):
    """A way of encoding for one vocabulary at one number of merges."""

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word into parts that cover its units, before any policy for unknown units.

        Args:
            units: The units of the word.
            characters: The length of the word in characters.
        """
        ...

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[EncodingStep]:
        """Yield the steps of `segment` in order."""
        ...

    def with_limit(self, step: int, first_steps: Sequence[int]) -> Segmenter:
        """Return a segmenter that uses only the tokens in use at a step. It shares all tables.

        Args:
            step: The step: how many merges count, or how many tokens have come into use.
            first_steps: The step at which each symbol comes into use, 0 for those in use from the start.
        """
        ...


class Follower(Segmenter, Protocol):
    """A way of encoding in which a word depends on the words before it."""

    def follower(self, units: Callable[[str], Sequence[bytes]]) -> Callable[[str], list[WordPart] | None]:
        """Return a function that cuts the words of one text in order.

        It returns the parts of a word, or None if they are those of the word alone.

        Args:
            units: Returns the units of a word.
        """
        ...

    def after(self, units: Sequence[bytes], before: float) -> list[WordPart]:
        """Cut a word after a text whose log probability is `before`."""
        ...


class LimitedTable(Mapping[bytes, int]):
    """A view of a table of tokens without those that come into use later. The table is not copied.

    Args:
        table: The symbol of each token. A table for prefix search has -1 for each prefix of a token.
        step: The step.
        first_steps: The step at which each symbol comes into use, 0 for those in use from the start.
        walked: True for a table for prefix search: a token that comes later is still a prefix, -1.

    Iteration and length include the tokens that come later.
    """

    def __init__(
        self, table: Mapping[bytes, int], step: int, first_steps: Sequence[int], *, walked: bool = False
    ) -> None:
        self._table = table
        self._made = first_steps
        self._number = step
        self._instead = -1 if walked else None

    def get(self, piece: bytes, default: Any = None) -> Any:
        """Return the symbol of a token, or the default if the token is not in use yet."""
        symbol = self._table.get(piece)
        if symbol is None:
            return default
        if symbol < 0 or self._made[symbol] <= self._number:
            return symbol
        return default if self._instead is None else self._instead

    def __getitem__(self, piece: bytes) -> int:
        symbol: int | None = self.get(piece)
        if symbol is None:
            raise KeyError(piece)
        return symbol

    def __iter__(self) -> Iterator[bytes]:
        """Yield all tokens, also those that come later, because the search for the longest token may pass
        them."""
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


# ---- the ways


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodingWay(Choice):
    """A way of encoding.

    Attributes:
        how: A phrase on which segmentation of a word it chooses.
        segmenter: Returns the segmenter for a vocabulary and a number of merges.
        needs: What it needs besides the pieces: `merges`, `scores` or `events`; empty for nothing.
        most: The most characters of a word that it cuts if units may be unknown; None for no limit.
        scope: What the tokens of a word depend on: the `word` alone, the `document` before it too, or
            `chance`.
        kernel: True if the kernels of merges encode in this way.
        written: The name by which file formats decide whether they can represent it; empty for none.
        by_rank: True if it applies the merges in the order in which they were learned.
    """

    how: str
    segmenter: Callable[..., Segmenter]
    needs: str = ""
    most: int | None = None
    scope: str = "word"
    kernel: bool = False
    written: str = ""
    by_rank: bool = False

    def gives_up(self, characters: int) -> bool:
        """Return whether a word has too many characters for this way."""
        return self.most is not None and self.most < characters

    def with_tables(self, **tables: object) -> EncodingWay:
        """Return this way with extra arguments for its segmenter, such as the tables of a file."""
        return replace(self, segmenter=functools.partial(self.segmenter, **tables))


ENCODING_WAYS = Axis(
    "encode", "how new text is encoded",
    EncodingWay(
        "merges", "the merges in the order they were learned", kernel=True, written="merges",
        how="merges, in the order they were learned",
        segmenter=Ref("tokentui.encode.segment.merges:Merging"), needs="merges", by_rank=True,
    ),
    EncodingWay(
        "longest-match", "the longest token of the vocabulary, from the left (longest prefix)",
        how="the longest token that fits, from the left",
        segmenter=Ref("tokentui.encode.segment.longest:LongestMatch"), most=MAX_CHARACTERS,
        written="longest-match",
    ),
    EncodingWay(
        "longest-suffix", "the longest token of the vocabulary, from the right",
        how="the longest token that fits, from the right",
        segmenter=Ref("tokentui.encode.segment.greedy:LongestSuffix"), written="longest-suffix",
    ),
    EncodingWay(
        "longest-token", "the longest token anywhere in the word, then the same on each side",
        how="the longest token anywhere (in a tie, the leftmost), then the same on each side",
        segmenter=Ref("tokentui.encode.segment.greedy:LongestToken"), written="longest-token",
    ),
    EncodingWay(
        "fewest-tokens", "the fewest tokens; in a tie, the longest last token",
        how="the fewest tokens; in a tie, the longest last token",
        segmenter=Ref("tokentui.encode.segment.fewest:FewestTokens"), written="fewest-tokens",
    ),
    EncodingWay(
        "merges-by-length", "the merge with the longest result first",
        how="merges, the longest result first; in a tie, the lower rank",
        segmenter=Ref("tokentui.encode.segment.by_length:MergesByLength"), written="merges-by-length",
    ),
    EncodingWay(
        "viterbi", "the most probable segmentation", how="the most probable segmentation",
        segmenter=Ref("tokentui.encode.segment.viterbi:Viterbi"), needs="scores", written="viterbi",
    ),
)
"""The ways, by name."""

# Ways of files. Each is a variant of a value of the axis.
_MERGES, _LONGEST, _VITERBI = (ENCODING_WAYS[name] for name in ("merges", "longest-match", "viterbi"))
PAIRS = replace(_MERGES, segmenter=Ref("tokentui.encode.segment.merges:PairMerging"))
RANKS = replace(_MERGES, segmenter=Ref("tokentui.encode.segment.merges:JoinedMerging"), written="ranks")
PIECES = replace(RANKS, segmenter=Ref("tokentui.encode.segment.merges:PieceMerging"))
TABLE = replace(_LONGEST, segmenter=Ref("tokentui.encode.segment.longest:TableMatch"))
BYTE_TABLE = replace(_LONGEST, segmenter=Ref("tokentui.encode.segment.longest:BytesMatch"), most=None)
WHOLE = replace(_LONGEST, segmenter=Ref("tokentui.encode.segment.longest:WholeWords"), most=None, written="")
FUSED = replace(_VITERBI, segmenter=Ref("tokentui.encode.segment.viterbi:FusedViterbi"))
SINGLE = replace(_VITERBI, segmenter=Ref("tokentui.encode.segment.viterbi:SingleViterbi"), scope="document")
DROPOUT = replace(_MERGES, segmenter=Ref("tokentui.encode.segment.dropout:Dropout"), scope="chance")
BY_EVENTS = replace(
    _MERGES, segmenter=Ref("tokentui.encode.segment.replaying:Replaying"), needs="events", kernel=False,
    written="events", how="merges and removals, in the order they were learned",
)
WITHIN = replace(
    _MERGES, segmenter=Ref("tokentui.encode.segment.within:Within"), kernel=False,
    written="merges inside words",
    how="merges inside words, in the order they were learned",
)
SAMPLED = replace(SINGLE, segmenter=Ref("tokentui.encode.segment.viterbi:Sampling"), scope="chance")

# ---- unknown units

Bare = Callable[[bytes], bytes]
"""Removes the mark of a unit."""
Policy = Callable[[list[WordPart], Sequence[bytes], Bare], list[WordPart]]


def _drop(parts: list[WordPart], units: Sequence[bytes], bare: Bare) -> list[WordPart]:
    return [part for part in parts if not part.unknown]


def _fused(parts: list[WordPart], units: Sequence[bytes], bare: Bare) -> list[WordPart]:
    """Return the parts with adjacent unknown ones joined to one."""
    fused: list[WordPart] = []
    for part in parts:
        if part.unknown and fused and fused[-1].unknown:
            fused[-1] = fused[-1]._replace(end=part.end)
        else:
            fused.append(part)
    return fused


def _rest_of_word(parts: list[WordPart], units: Sequence[bytes], bare: Bare) -> list[WordPart]:
    for n, part in enumerate(parts):
        if part.unknown:
            return [*parts[:n], WordPart(part.start, len(units))]
    return parts


def _whole_word(parts: list[WordPart], units: Sequence[bytes], bare: Bare) -> list[WordPart]:
    return [WordPart(0, len(units))] if any(part.unknown for part in parts) else parts


def _byte_fallback(parts: list[WordPart], units: Sequence[bytes], bare: Bare) -> list[WordPart]:
    """Replace each unknown part by the bytes of its units."""
    spelled: list[WordPart] = []
    for part in parts:
        if part.unknown:
            for at in range(part.start, part.end):
                spelled += [WordPart(at, at + 1, byte=value) for value in bare(units[at])]
        else:
            spelled.append(part)
    return spelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(Choice):
    """A policy for the parts of a word that the vocabulary lacks.

    Attributes:
        policy: Returns the parts to use, given the parts of a word, its units and a function that removes the
            mark of a unit. None to leave parts unchanged.
        is_error: True if a text with an unknown unit is an error. The caller raises it, because it knows the
            place.
        never_unknown: True if no unit is ever unknown.
        ignores_rest: True if the rest of a word after its first unknown place is ignored.
        drops_units: True if unknown units are dropped before a word is cut, so that their neighbors meet.
        keeps_text: True if an unknown part stays in the output unchanged, without an id.
        byte_fallback: True if unknown units are spelled by byte tokens such as `<0x41>`.
        fuses_runs: True if a run of unknown units is one unknown token.
    """

    policy: Policy | None = None
    is_error: bool = False
    never_unknown: bool = False
    ignores_rest: bool = False
    drops_units: bool = False
    keeps_text: bool = False
    byte_fallback: bool = False
    fuses_runs: bool = False


def _of_characters(recipe: Recipe) -> Refusal | None:
    if UNITS.of(recipe.unit).is_byte:
        takes = ("base=bytes with unknown=never", "unknown=never", "unit=char")
        return Refusal("unknown", "the units are bytes already", takes)
    return None


def _of_merges(recipe: Recipe) -> Refusal | None:
    """Refuse an encoding that needs scores and so leaves no piece without an id; else return None."""
    way = ENCODING_WAYS.of(recipe.encode)
    if way.needs == "scores":
        what = f"encode={way.name} leaves no piece without an id as it is"
        return Refusal("unknown", what, ("unknown=error", "encode=merges"))
    return None


def _of_bytes(recipe: Recipe) -> Refusal | None:
    if recipe.base not in ("bytes", "gpt2-bytes"):
        takes = ("unknown=error", "unit=byte with base=bytes")
        return Refusal("unknown", "new text can contain units that the corpus lacks", takes)
    return None


UNKNOWN = Axis(
    "unknown", "how a unit missing from the vocabulary is encoded",
    Unknown(
        "never", "cannot happen: every byte is a token", is_error=True, never_unknown=True, ignores_rest=True,
        refuses=_of_bytes,
    ),
    Unknown("error", "an error that names it", is_error=True, ignores_rest=True),
    Unknown("drop", "it is left out", policy=_drop, drops_units=True),
    Unknown("per-unit", "one unknown token each"),
    Unknown("fused", "one unknown token for a run of them", policy=_fused, fuses_runs=True),
    Unknown(
        "rest-of-word", "one unknown token for it and the rest of its word", policy=_rest_of_word,
        ignores_rest=True,
    ),
    Unknown("whole-word", "one unknown token for the whole word", policy=_whole_word, ignores_rest=True),
    Unknown(
        "byte-fallback", "its bytes, as tokens <0xNN>", policy=_byte_fallback, byte_fallback=True,
        refuses=_of_characters,
    ),
    Unknown(
        "pass-through", "it appears in the output unchanged, without an id", keeps_text=True,
        refuses=_of_merges,
    ),
)
"""The policies for unknown units, by name."""
