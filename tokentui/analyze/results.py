"""Answers to the questions that a vocabulary raises, as frozen values: for the screen, and for `tokentui inspect`."""

from __future__ import annotations

from dataclasses import dataclass

ONE_BOUNDARY = "a space, ▁ and a mark at a word's edge are one boundary"
"""How merges are read that are compared by what they mean."""


@dataclass(frozen=True, slots=True)
class UnusedToken:
    """A token that the encoded corpus never holds.

    `why` is one of: `special` (never made from text), `byte` (a fallback for bytes that do not occur), `swallowed` (every place
    of it became part of `into`), `not in the corpus` (no text spells it), `not chosen` (text spells it and the encoder takes
    other tokens), `unreachable` (no text encodes to it).
    `into` are the tokens that swallowed it, the commonest first, at most three.
    """

    id: int
    piece: bytes
    kind: str
    why: str
    into: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentSaved:
    """A document before and after: its units at the start, its tokens now. `number` counts from 1; `name` is what the document
    begins with."""

    number: int
    name: str
    units: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Exhausted:
    """What comes of going on until no pair is left: so many merges and ids, and the corpus in so many tokens.

    `whole` is the number of distinct pre-tokens that are one token then, of `distinct`; `end` why it ended.
    """

    merges: int
    vocab_size: int
    tokens: int
    whole: int
    distinct: int
    end: str


@dataclass(frozen=True, slots=True)
class Ways:
    """How a word can be written in a vocabulary.

    `count` is the number of all segmentations into tokens of the vocabulary; `ways` the first of them (the fewest tokens
    first), each with its natural log probability where the model gives one; `chosen` the one that the encoder takes, empty for
    a word that the recipe refuses, and `how` it takes it, in words.
    """

    word: str
    count: int
    ways: tuple[tuple[tuple[bytes, ...], float | None], ...]
    chosen: tuple[bytes, ...]
    how: str


@dataclass(frozen=True, slots=True)
class Answers:
    """All of it, at one step.

    `step` is the step, `vocab_size` the ids then, `used` how many of them the corpus holds; `unused` are the others, in order
    of id.
    `units` and `tokens` are the corpus at the start and now. `documents` are those that save most, first.
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
    """A node of a merge tree, in the order in which it is read: a token, then its left part, then its right one.

    `depth` is 0 for the token itself; `id` is None for a part that a byte stands for no more (Gage); `step` is the merge that
    made it, 0 for a unit.
    """

    depth: int
    id: int | None
    piece: bytes
    step: int


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What is known of one token.

    `piece` is its exact bytes, `text` the same where they are UTF-8 and None where they are not, `code_points` its characters
    by number and name. `units` are what it is made of. A merge has the `step` that made it, the `count` of its pair then and
    its two `parents`; `children` are the first of the `child_count` tokens that were made of it directly; `tree` the first
    nodes of its merge tree, of `tree_size`. `others` are the tokens that differ from it in case, white space or mark alone,
    with their ids.
    `unreachable` says why no text becomes it, and is empty where one does. `marks` is how many bytes at its front and at its end
    are the mark of the recipe and no text.
    """

    id: int
    piece: bytes
    kind: str
    score: float | None
    text: str | None
    code_points: tuple[str, ...]
    units: tuple[bytes, ...]
    step: int | None
    count: int | None
    parents: tuple[bytes, ...]
    children: tuple[tuple[int, bytes], ...]
    child_count: int
    tree: tuple[Branch, ...]
    tree_size: int
    others: tuple[tuple[int, bytes], ...]
    unreachable: str
    marks: tuple[int, int] = (0, 0)

    @property
    def bare(self) -> bytes:
        """Its bytes without the mark."""
        return self.piece[self.marks[0] : len(self.piece) - self.marks[1]]


@dataclass(frozen=True, slots=True)
class Example:
    """What a check found: the token's `id` where it is one, its exact bytes or the text, and what is said of it."""

    id: int | None
    piece: bytes
    note: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a health report.

    Attributes:
        name: What it is called, one word for programs.
        title: The same for people, a few words.
        about: What it is good for, a sentence.
        status: `PASS`, `WARN`, `FAIL`, or `n/a` where it makes no sense for this tokenizer.
        observed: What was found, in words.
        threshold: What is a WARN and what a FAIL, in words.
        value: The number that the threshold is held against, None where it is not a number.
        count: How many there are of what `examples` shows.
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
class Health:
    """What is worth knowing of a vocabulary before it is trusted.

    `kinds` counts the ids of each kind. `longest` are the tokens of most bytes. `unreachable` are the tokens that no text
    becomes, with why; `duplicates` the ids that are spelled alike; `broken` the tokens of several bytes that are not UTF-8;
    `spaces` those that are white space alone. `missing_bytes` are the bytes that a vocabulary of bytes lacks.
    `scripts` counts the ordinary tokens by what they are written in, the commonest first, and `lengths` by their characters.
    `holes` are the (first, last) of each range of ids that no token has; `shared` the ids that several tokens have.
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
class Report:
    """The facts and the health of the tokenizer at a step."""

    step: int
    health: Health
    checks: tuple[Check, ...]


