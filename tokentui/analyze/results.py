"""Results of an analysis as frozen values: for the screen, and for `tokentui inspect`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tokentui.core.records import dataclass
from tokentui.encode.results import WordSegmentations as WordSegmentations
from tokentui.encode.segment import AppliedMerge as AppliedMerge
from tokentui.encode.segment import SplitStep as SplitStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tokentui.encode.encoding import Encoding
    from tokentui.encode.explain import RoundTrip, WordExplanation
    from tokentui.encode.results import WhyNot
    from tokentui.encode.segment.viterbi import Edge
    from tokentui.learn.rows import Candidate, Column, Page, Why
    from tokentui.learn.steps import Step

ONE_BOUNDARY = "a space, ▁ and a mark at a word's edge are one boundary"
"""The convention by which merges are compared by their meaning."""


class Token(NamedTuple):
    """A token: its id and its exact bytes."""

    id: int
    piece: bytes


class DeadToken(NamedTuple):
    """A token that no text produces: its id, its exact bytes, and the reason."""

    id: int
    piece: bytes
    why: str


class SharedSpelling(NamedTuple):
    """The exact bytes that several tokens share, and their ids."""

    piece: bytes
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UnusedToken:
    """A token that does not occur in an encoded corpus.

    Attributes:
        id: Its id.
        piece: Its exact bytes.
        kind: The kind of its entry in the vocabulary.
        why: `special` (never made from text), `byte` (a fallback for bytes that do not occur), `swallowed`
            (every occurrence became part of `into`), `not in the corpus` (no text spells it), `not chosen`
            (text spells it and the encoder takes other tokens) or `unreachable` (no text encodes to it).
        into: The tokens that swallowed it, the commonest first, at most three.
    """

    id: int
    piece: bytes
    kind: str
    why: str
    into: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentSaved:
    """A document in units and in tokens.

    Attributes:
        number: Its number, from 1.
        name: Its beginning.
        units: Its length in units, before any merge.
        tokens: Its length in tokens.
    """

    number: int
    name: str
    units: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The end of a training run that continued until no pairs remained.

    Attributes:
        merges: The number of merges.
        vocab_size: The number of ids.
        tokens: The length of the corpus in tokens.
        whole: The number of distinct pre-tokens that are one token.
        distinct: The number of distinct pre-tokens.
        end: Why it ended.
    """

    merges: int
    vocab_size: int
    tokens: int
    whole: int
    distinct: int
    end: str


class PartTally(NamedTuple):
    """A named corpus under one tokenizer: its name, and its bytes and tokens times its weight."""

    name: str
    bytes: int
    tokens: int


def costs(parts: Sequence[PartTally]) -> list[float | None]:
    """Return the tokens per byte of named corpora relative to the cheapest one that has tokens. None for a
    corpus without bytes, and for all if none has tokens."""
    rates = [part.tokens / part.bytes if part.bytes else None for part in parts]
    least = min((rate for rate in rates if rate), default=0.0)
    return [rate / least if rate is not None and least else None for rate in rates]


@dataclass(frozen=True, slots=True)
class VocabularyReport:
    """A vocabulary and a corpus, at one step.

    Attributes:
        step: The step.
        vocab_size: The number of ids.
        used: The number of ids that occur in the corpus.
        unused: The other ids, in order.
        units: The length of the corpus in units, before any merge.
        tokens: Its length in tokens.
        documents: The documents that save the most tokens, largest saving first.
        document_count: The number of all documents.
        exhausted: The end of a training by the same recipe until no pair is left; None if not requested.
        ways: The segmentations of the pre-tokens of a text; empty without one.
        parts: The named corpora; empty without any.
    """

    step: int
    vocab_size: int
    used: int
    unused: tuple[UnusedToken, ...]
    units: int
    tokens: int
    documents: tuple[DocumentSaved, ...]
    document_count: int
    exhausted: Exhausted | None
    ways: tuple[WordSegmentations, ...]
    parts: tuple[PartTally, ...] = ()


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node of a merge tree, in reading order: a token, then its left part, then its right one.

    Attributes:
        depth: 0 for the token itself.
        step: The merge that made it, 0 for a unit.
        id: Its id; None for a part whose byte now stands for another pair (Gage).
        piece: Its exact bytes.
    """

    depth: int
    step: int
    id: int | None
    piece: bytes


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """The facts of one token.

    Attributes:
        id: Its id.
        piece: Its exact bytes.
        kind: The kind of its entry in the vocabulary.
        score: The natural log probability of a unigram piece; None for others.
        code_points: Its characters by number and name; empty if its bytes are not UTF-8.
        units: The units that it is made of; empty for special and byte tokens.
        step: The step whose merge made it; None for others.
        count: The count of its pair at that step.
        parents: The tokens of its merge; empty for others.
        children: The first tokens that were made of it directly.
        child_count: The number of all children.
        tree: The first nodes of its merge tree; empty for others.
        tree_size: The number of all nodes.
        others: The tokens that differ from it only in case, whitespace or mark.
        unreachable: Why no text becomes it; empty if one does.
        marks: The number of bytes at its front and at its end that are the recipe's mark and no text.
    """

    id: int
    piece: bytes
    kind: str
    score: float | None
    code_points: tuple[str, ...]
    units: tuple[bytes, ...] = ()
    step: int | None = None
    count: int | None = None
    parents: tuple[bytes, ...] = ()
    children: tuple[Token, ...] = ()
    child_count: int = 0
    tree: tuple[TreeNode, ...] = ()
    tree_size: int = 0
    others: tuple[Token, ...] = ()
    unreachable: str = ""
    marks: tuple[int, int] = (0, 0)

    @property
    def bare(self) -> bytes:
        """Its bytes without the mark."""
        return self.piece[self.marks[0] : len(self.piece) - self.marks[1]]


@dataclass(frozen=True, slots=True)
class WordFacts:
    """A pre-token of a string.

    Attributes:
        explanation: Each step of its encoding.
        ways: Its segmentations; None if it is too long to count them.
        lattice: All pieces that occur in it; empty if pieces have no probabilities.
    """

    explanation: WordExplanation
    ways: WordSegmentations | None
    lattice: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class StringFacts:
    """The facts of a string.

    Attributes:
        text: The string.
        encoding: Its encoding; None if the tokenizer refuses it.
        refusal: Why the tokenizer refuses it, in one line; empty if it does not.
        why: Why it is not one token, or that it is one, in one sentence.
        words: Its pre-tokens in order.
        reason: The same as `why`, with the name of the reason and the values of its proof.
        round_trip: What decoding gives back, and what is lost.
    """

    text: str
    encoding: Encoding | None
    refusal: str
    why: str
    words: tuple[WordFacts, ...]
    reason: WhyNot
    round_trip: RoundTrip


@dataclass(frozen=True, slots=True)
class DivergenceSide:
    """A training before the step at which it diverges from another.

    Attributes:
        why: The reasons of its choice, which is `why.best`; if it has ended, `why.end` says why.
        candidates: The first candidates of the step, best first.
        tokens: The length of the corpus in tokens before the step.
        vocab_size: The number of ids before it.
        step: The step that it makes there; None if it has ended.
        columns: The names, units and kinds of the values of its candidates.
        replays: True for the tokens of a file, which are not chosen.
    """

    why: Why
    candidates: Page[Candidate]
    tokens: int
    vocab_size: int
    step: Step | None = None
    columns: tuple[Column, ...] = ()
    replays: bool = False

    @property
    def chosen_from(self) -> Sequence[Candidate]:
        """The candidates of the step; none for the tokens of a file."""
        return () if self.replays else self.candidates.rows

    @property
    def scored(self) -> bool:
        """True if its steps have scores."""
        return self.step is not None and self.step.row.get("score") is not None

    def values(self, candidate: Candidate) -> dict[str, object]:
        """Return the values of a candidate by the names of their columns."""
        return {column.name: value for column, value in zip(self.columns, candidate.values, strict=False)}


@dataclass(frozen=True, slots=True)
class Example:
    """An example of what a check found.

    Attributes:
        id: The token's id; None for a text.
        piece: The exact bytes of the token or text.
        note: A remark on it.
    """

    id: int | None
    piece: bytes
    note: str = ""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check of a health report.

    Attributes:
        name: The check's name for programs, one word.
        title: Its name for people, a few words.
        about: Why it matters, a sentence.
        status: `PASS`, `INFO`, `WARN`, `FAIL`, or `n/a` if it makes no sense for this tokenizer. Nearly every
            published tokenizer has an INFO.
        observed: The finding, in words.
        threshold: When it is an INFO, a WARN and a FAIL, in words.
        value: The number that is compared with the threshold; None if no number is.
        count: The number of tokens or texts of which `examples` are the first.
        examples: The first of them.
    """

    name: str
    title: str
    about: str
    status: str
    observed: str
    threshold: str
    value: float | None = None
    count: int = 0
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True)
class VocabularyFacts:
    """The facts of a vocabulary.

    Attributes:
        vocab_size: The number of ids.
        first_id: The first id.
        merges: The number of merges.
        kinds: The number of ids of each kind.
        longest: The tokens of most bytes.
        unreachable: The tokens that no text becomes.
        duplicates: Spellings with their several ids.
        not_utf8: The tokens of several bytes that are not UTF-8.
        spaces: The tokens that are whitespace only.
        missing_bytes: The bytes that a vocabulary of bytes lacks.
        scripts: The number of ordinary tokens in each script, the commonest first.
        lengths: The number of ordinary tokens of each length in characters.
        holes: The (first, last) of each range of ids that no token has.
        shared_ids: The ids that several tokens have.
    """

    vocab_size: int
    first_id: int
    merges: int
    kinds: tuple[tuple[str, int], ...]
    longest: tuple[Token, ...]
    unreachable: tuple[DeadToken, ...]
    duplicates: tuple[SharedSpelling, ...]
    not_utf8: tuple[Token, ...]
    spaces: tuple[Token, ...]
    missing_bytes: tuple[int, ...]
    scripts: tuple[tuple[str, int], ...]
    lengths: tuple[tuple[int, int], ...]
    holes: tuple[tuple[int, int], ...]
    shared_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The facts of a tokenizer at a step, and the results of the checks of its health."""

    step: int
    facts: VocabularyFacts
    checks: tuple[CheckResult, ...]


@dataclass(frozen=True, slots=True)
class SizeBound:
    """The bound of one size of a vocabulary.

    Attributes:
        vocab_size: The ids.
        tokens: The tokens of the corpus with the tokenizer at this size.
        bound: No vocabulary of this size needs fewer.
        reached: A vocabulary of this size is known that needs so many.
        simple: The bound if each pre-token that is not one token needs two.
        rounds: The rounds of the search.
    """

    vocab_size: int
    tokens: int
    bound: int
    reached: int
    simple: int
    rounds: int

    @property
    def most_saved(self) -> float:
        """The greatest share of the tokens that any vocabulary of this size could save, 0 to 1."""
        return 1 - self.bound / self.tokens if self.tokens else 0.0

    @property
    def saved(self) -> float:
        """The share of the tokens that some vocabulary of this size does save, 0 to 1."""
        return 1 - self.reached / self.tokens if self.tokens else 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a corpus at sizes of a vocabulary.

    Attributes:
        corpus: The name of the corpus.
        bytes: Its bytes, as UTF-8.
        pretokens: Its pre-tokens that count.
        distinct: The distinct ones.
        left_out: The pre-tokens that are left out, because the tokenizer loses a part of them.
        long: The pre-tokens that count as one token, because they are long.
        split: The split of the recipe.
        unit: The unit of the recipe.
        base: The ids that are no token of several units: base units, special tokens and byte tokens.
        sizes: A bound for each size, from the smallest.
    """

    corpus: str
    bytes: int
    pretokens: int
    distinct: int
    left_out: int
    long: int
    split: str
    unit: str
    base: int
    sizes: tuple[SizeBound, ...]
