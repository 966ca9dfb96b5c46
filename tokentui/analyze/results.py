"""Results of an analysis as frozen values: for the screen, and for `tokentui inspect`."""

from __future__ import annotations

from dataclasses import dataclass

ONE_BOUNDARY = "a space, ▁ and a mark at a word's edge are one boundary"
"""The convention by which merges are compared by their meaning."""


@dataclass(frozen=True, slots=True)
class UnusedToken:
    """A token that the encoded corpus never holds.

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
    """A document before and after.

    Attributes:
        number: Its number, from 1.
        name: Its beginning.
        units: Its length in units at the start.
        tokens: Its length in tokens now.
    """

    number: int
    name: str
    units: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The end of a training that goes on until no pair is left.

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


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways to write a word in a vocabulary.

    Attributes:
        word: The word.
        count: The number of all segmentations into tokens of the vocabulary.
        ways: The first of them, the fewest tokens first, each with its natural log probability where there is
            one.
        chosen: The one that the encoder takes; empty for a word that the recipe refuses.
        how: The encoder's way of choosing, in words.
    """

    word: str
    count: int
    ways: tuple[tuple[tuple[bytes, ...], float | None], ...]
    chosen: tuple[bytes, ...]
    how: str


@dataclass(frozen=True, slots=True)
class VocabularyReport:
    """A vocabulary and a corpus, at one step.

    Attributes:
        step: The step.
        vocab_size: The number of ids.
        used: The number of ids that the corpus holds.
        unused: The other ones, in order of id.
        units: The length of the corpus in units at the start.
        tokens: Its length in tokens now.
        documents: The documents that save most, first.
        document_count: The number of all documents.
        exhausted: The end of a training that goes on, where that was asked for.
        ways: The ways to write some words.
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
    ways: tuple[Ways, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """A node of a merge tree, in reading order: a token, then its left part, then its right one.

    Attributes:
        depth: 0 for the token itself.
        id: Its id; None for a part for which a byte stands no more (Gage).
        piece: Its exact bytes.
        step: The merge that made it, 0 for a unit.
    """

    depth: int
    id: int | None
    piece: bytes
    step: int


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """The facts of one token.

    Attributes:
        id: Its id.
        piece: Its exact bytes.
        kind: The kind of its entry in the vocabulary.
        score: The natural log probability of a unigram piece, None elsewhere.
        text: Its bytes as text; None where they are not UTF-8.
        code_points: Its characters by number and name.
        units: The units that it is made of.
        step: The merge that made it, None for others.
        count: The count of its pair then.
        parents: The two tokens of its pair.
        children: The first (id, bytes) of the tokens that were made of it directly.
        child_count: The number of all of these.
        tree: The first nodes of its merge tree.
        tree_size: The number of all nodes.
        others: The (id, bytes) of tokens that differ from it in case, white space or mark alone.
        unreachable: Why no text becomes it; empty where one does.
        marks: The number of bytes at its front and at its end that are the recipe's mark and no text.
    """

    id: int
    piece: bytes
    kind: str
    score: float | None
    text: str | None
    code_points: tuple[str, ...]
    units: tuple[bytes, ...] = ()
    step: int | None = None
    count: int | None = None
    parents: tuple[bytes, ...] = ()
    children: tuple[tuple[int, bytes], ...] = ()
    child_count: int = 0
    tree: tuple[Branch, ...] = ()
    tree_size: int = 0
    others: tuple[tuple[int, bytes], ...] = ()
    unreachable: str = ""
    marks: tuple[int, int] = (0, 0)

    @property
    def bare(self) -> bytes:
        """Its bytes without the mark."""
        return self.piece[self.marks[0] : len(self.piece) - self.marks[1]]


@dataclass(frozen=True, slots=True)
class Example:
    """An example of what a check found.

    Attributes:
        id: The token's id, None for a text.
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
        status: `PASS`, `WARN`, `FAIL`, or `n/a` where it makes no sense for this tokenizer.
        observed: The finding, in words.
        threshold: When it is a WARN and when a FAIL, in words.
        value: The number that is compared with the threshold, None where it is not a number.
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
        longest: The (id, bytes) of the tokens of most bytes.
        unreachable: The (id, bytes, reason) of the tokens that no text becomes.
        duplicates: Spellings with their several ids.
        broken: The tokens of several bytes that are not UTF-8.
        spaces: The tokens that are white space alone.
        missing_bytes: The bytes that a vocabulary of bytes lacks.
        scripts: The number of ordinary tokens in each script, the commonest first.
        lengths: The number of ordinary tokens of each length in characters.
        holes: The (first, last) of each range of ids that no token has.
        shared: The ids that several tokens have.
    """

    vocab_size: int
    first_id: int
    merges: int
    kinds: tuple[tuple[str, int], ...]
    longest: tuple[tuple[int, bytes], ...]
    unreachable: tuple[tuple[int, bytes, str], ...]
    duplicates: tuple[tuple[bytes, tuple[int, ...]], ...]
    broken: tuple[tuple[int, bytes], ...]
    spaces: tuple[tuple[int, bytes], ...]
    missing_bytes: tuple[int, ...]
    scripts: tuple[tuple[str, int], ...]
    lengths: tuple[tuple[int, int], ...]
    holes: tuple[tuple[int, int], ...]
    shared: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The facts of a tokenizer at a step, and the results of the checks of its health."""

    step: int
    facts: VocabularyFacts
    checks: tuple[CheckResult, ...]
