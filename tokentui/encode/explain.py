"""Explain an encoding: the steps from a text to its tokens, and what encoding and decoding lose.

Losses are found by comparing the two texts. Each is a short sentence that names the axis that causes it.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Set
from typing import NamedTuple

from tokentui.core.errors import TokentuiError
from tokentui.core.records import dataclass
from tokentui.encode.decode import Decoder
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.segment import AppliedMerge, EncodingStep, SplitStep
from tokentui.encode.segment.viterbi import Edge, Viterbi
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import MARKS
from tokentui.text.split import SPLITS


@dataclass(frozen=True, slots=True)
class WordExplanation:
    r"""A pre-token with its units, the steps of its encoding, and the result.

    Places in the steps are indices of `units`.

    >>> from tokentui.encode.vocabulary import Vocabulary
    >>> from tokentui.recipe import Recipe
    >>> recipe = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
    >>> vocabulary = Vocabulary(recipe, [b"h", b"t", b"u"])
    >>> _ = vocabulary.add(0, 2, 5), vocabulary.add(3, 1, 2)
    >>> word, = explain(WordEncoder(vocabulary, 2), "hut")
    >>> [(step.rank, step.left, step.right, step.result) for step in word.steps]
    [(0, b'h', b'u', b'hu'), (1, b'hu', b't', b'hut')]
    >>> word.after(1)
    (b'hu', b't')
    >>> word.pieces
    (b'hut',)
    """

    text: str
    start: int
    end: int
    units: tuple[bytes, ...]
    steps: tuple[EncodingStep, ...]
    ids: tuple[int | None, ...]
    pieces: tuple[bytes | None, ...]
    prefix: bytes = b""
    """The mark in front of a unit that continues a word."""
    counts: tuple[int | None, ...] = ()
    """The count of the pair of each merge in `steps` at the time of the merge; None if unknown."""
    lattice: tuple[Edge, ...] = ()
    """Every piece that fits somewhere in the word, with its posterior probability; empty without a unigram
    model."""

    @property
    def ladder(self) -> Iterator[tuple[EncodingStep, int | None, tuple[bytes, ...]]]:
        """Yield (step, count of its pair at that step or None, pieces of the word after it)."""
        counts = self.counts or (None,) * len(self.steps)
        return (
            (step, count, self.after(number))
            for number, (step, count) in enumerate(zip(self.steps, counts, strict=True), 1)
        )

    def after(self, steps: int) -> tuple[bytes, ...]:
        """Return the pieces of the word after a number of steps; after all of them if there are fewer.

        For longest match these are the tokens found so far and the units that remain.
        """
        starts = set(range(len(self.units)))
        for step in self.steps[:steps]:
            if isinstance(step, AppliedMerge):
                starts.discard(step.middle)
            elif isinstance(step, SplitStep):
                starts.update(step.cuts)
            elif step.found:
                starts.difference_update(range(step.start + 1, step.end))
        cuts = [*sorted(starts), len(self.units)]
        bare = [unit.removeprefix(self.prefix) for unit in self.units]
        return tuple(
            self.units[start] + b"".join(bare[start + 1 : end]) for start, end in itertools.pairwise(cuts)
        )


def explain(encoder: WordEncoder, text: str | bytes) -> tuple[WordExplanation, ...]:
    """Explain the encoding of a text, one value per pre-token.

    Unknown units do not raise. Their `ids` and `pieces` are those of the recipe's policy, None if the recipe
    refuses them. With the policy `drop` they are not among the units.

    >>> from tokentui.encode.vocabulary import Vocabulary
    >>> from tokentui.recipe import Recipe
    >>> recipe = Recipe(
    ...     split="whitespace", unit="char", base="sorted", encode="longest-match", unknown="error"
    ... )
    >>> vocabulary = Vocabulary(recipe, [b"h", b"t", b"u"])
    >>> _ = vocabulary.add(0, 2, 5)
    >>> word, = explain(WordEncoder(vocabulary, 1), "hut")
    >>> [(step.candidate, step.found) for step in word.steps]
    [(b'hut', False), (b'hu', True), (b't', True)]
    """
    words = []
    typed = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
    for pretoken in itertools.chain.from_iterable(
        pretokens for pretokens in encoder.stretches(typed, False) if isinstance(pretokens, list)
    ):
        units = encoder.pretokenizer.units(pretoken.text)
        units = [units[at] for at in encoder.kept_indices(units)]
        steps = tuple(encoder.segmenter.steps(units, len(pretoken.text)))
        tokens = encoder.word(pretoken.text)
        ids, pieces = tuple(token.id for token in tokens), tuple(token.piece for token in tokens)
        segmenter, places = encoder.segmenter, (pretoken.start, pretoken.end)
        words.append(
            WordExplanation(
                pretoken.text, *places, tuple(units), steps, ids, pieces, encoder.vocabulary.prefix,
                tuple(_count(encoder.vocabulary, step) for step in steps),
                tuple(segmenter.lattice(units)) if isinstance(segmenter, Viterbi) else (),
            )
        )
    return tuple(words)


def _count(vocabulary: Vocabulary, step: EncodingStep) -> int | None:
    """Return the count of a merge's pair at the time of the merge, or None if the file does not record it."""
    if not isinstance(step, AppliedMerge) or step.rank >= len(vocabulary.counts):
        return None
    return vocabulary.counts[step.rank] or None


# ---- the differences between a text and what decoding its ids gives back


CASE, FORMS, ACCENTS = "case", "forms", "accents"
MISSING, NEW, ORDER = "missing", "new", "order"
ADDED, DROPPED, CHANGED, MORE, FEWER = "added", "dropped", "changed", "more", "fewer"
_EXAMPLES = 5


class Difference(NamedTuple):
    """A difference between a typed text and its decoded form.

    `kind` is one of: `case`; `forms` (canonically equivalent code points); `accents` (dropped marks);
    `missing` and `new` (`size` characters that do not come back, or that come without being typed; `examples`
    has the first five distinct ones, then "…" if there are more); `order` (the same characters in another
    order). If the other characters are equal, for whitespace: `added`, `dropped` and `changed` (at `size`
    places; `examples` of `changed` is what comes back there). If not: `more` and `fewer` (`size` characters
    of whitespace).
    """

    kind: str
    size: int = 0
    examples: tuple[str, ...] = ()


def _forms(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _accents(text: str) -> str:
    apart = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(char for char in apart if unicodedata.category(char) != "Mn"))


_ALIKE: dict[str, Callable[[str], str]] = {FORMS: _forms, ACCENTS: _accents, CASE: str.lower}
"""Functions that remove one kind of difference, in the order in which they are applied."""


class _SpacedText(NamedTuple):
    """The characters of a text that are not whitespace, and the whitespace before each and at the end."""

    characters: str
    gaps: tuple[str, ...]


def _read(text: str, chosen: Container[str]) -> _SpacedText:
    """Separate characters and white space of a text.

    Remove the chosen kinds of difference from the characters.
    """
    alike = [change for name, change in _ALIKE.items() if name in chosen]
    characters: list[str] = []
    gaps: list[str] = []
    gap = ""
    for space, run in re.findall(r"(\s*)(\S*)", text):
        gap += space
        for change in alike:
            run = change(run)
        if run := "".join(run.split()):
            characters.append(run)
            gaps += [gap, *[""] * (len(run) - 1)]
            gap = ""
    return _SpacedText("".join(characters), (*gaps, gap))


@functools.lru_cache(maxsize=64)
def differences(typed: str, back: str) -> tuple[Difference, ...]:
    """Return the differences between a typed text and its decoded form; empty if they are equal.

    Of case, forms and accents, the smallest set that makes the most characters equal is reported.
    """
    if typed == back:
        return ()
    names = (CASE,) if typed.isascii() and back.isascii() else (CASE, FORMS, ACCENTS)
    tried = [
        (chosen, _read(typed, chosen), _read(back, chosen))
        for count in range(len(names) + 1) for chosen in itertools.combinations(names, count)
    ]
    chosen, typed_read, back_read = min(tried, key=_unshared)
    return (
        *(Difference(name) for name in chosen),
        *_characters(typed_read, back_read),
        *_spaces(typed_read, back_read, typed, back),
    )


def _unshared(tried: tuple[tuple[str, ...], _SpacedText, _SpacedText]) -> int:
    """Return the number of characters that two texts do not share."""
    ours, theirs = (Counter(text.characters) for text in tried[1:])
    return (ours - theirs).total() + (theirs - ours).total()


def _characters(typed: _SpacedText, back: _SpacedText) -> Iterator[Difference]:
    """Yield which characters were lost and which came; without any, whether their order changed."""
    ours, theirs = Counter(typed.characters), Counter(back.characters)
    for kind, left, text in (
        (MISSING, ours - theirs, typed.characters),
        (NEW, theirs - ours, back.characters),
    ):
        if left:
            yield Difference(kind, left.total(), _examples(char for char in text if char in left))
    if ours == theirs and typed.characters != back.characters:
        yield Difference(ORDER)


def _spaces(typed_read: _SpacedText, back_read: _SpacedText, typed: str, back: str) -> Iterator[Difference]:
    """Yield the differences in white space: more or fewer if the other characters differ, else gap by gap."""
    if typed_read.characters != back_read.characters:
        more = sum(map(str.isspace, back)) - sum(map(str.isspace, typed))
        if more:
            yield Difference(MORE if more > 0 else FEWER, abs(more))
        return
    differ = [(was, now) for was, now in zip(typed_read.gaps, back_read.gaps, strict=True) if was != now]
    added, dropped = sum(not was for was, _ in differ), sum(not now for _, now in differ)
    changed = [now for was, now in differ if was and now]
    if added:
        yield Difference(ADDED, added)
    if dropped:
        yield Difference(DROPPED, dropped)
    if changed:
        yield Difference(CHANGED, len(changed), _examples(changed))


def _examples(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the first distinct texts, with "…" after them if there are more."""
    distinct = tuple(dict.fromkeys(texts))
    return distinct[:_EXAMPLES] + ("…",) * (len(distinct) > _EXAMPLES)


# ---- the losses in words


class RoundTrip(NamedTuple):
    """The decoded text, and what was lost of the typed one.

    Attributes:
        back: The decoded text; None if the typed one cannot be encoded.
        lost: Short sentences; empty if the decoded text equals the typed one.

    >>> import tokentui
    >>> bert = tokentui.train("sample:hugs", "bert", merges=8)
    >>> bert.round_trip("hugs")
    RoundTrip(back='hugs', lost=())
    >>> bert.round_trip("Hugs").lost
    ('upper and lower case are not kept: normalize=bert-uncased',)
    """

    back: str | None
    lost: tuple[str, ...] = ()


def round_trip(encoder: WordEncoder, text: str | bytes, decoder: Decoder | None = None) -> RoundTrip:
    """Encode a text, decode its ids, and describe the differences and their causes.

    Tokens without an id are not decoded. A text that cannot be encoded does not raise; see `RoundTrip`.
    """
    vocabulary = encoder.vocabulary
    decoder = decoder or Decoder(vocabulary, encoder.merges)
    try:
        encoding = encoder.encode(text)
    except TokentuiError as error:
        return RoundTrip(None, (f"it cannot be encoded: {error}",))
    back = decoder.to_text(token_id for token_id in encoding.ids if token_id is not None)
    typed = encoding.text
    if back == typed:
        return RoundTrip(back)
    normalized = encoder.pretokenizer.analyze(typed).normalized
    units = map(encoder.pretokenizer.units, encoder.pretokenizer.words(typed))
    lacks = bool(encoding.unknown) or any(len(encoder.kept_indices(word)) < len(word) for word in units)
    normalizing = {difference.kind for difference in differences(typed, normalized)}
    broken = any("\udc80" <= char <= "\udcff" for char in typed)
    # Normalizing may turn a character into another one, so those of unknown tokens come from the typed text.
    unknown = "".join(typed[slice(*encoding.offsets[number])] for number in encoding.unknown)
    lost = [
        difference._replace(examples=_examples("".join(unknown.split())))
        if difference.kind == MISSING and unknown and not broken else difference
        for difference in differences(typed, back)
    ]
    return RoundTrip(
        back,
        tuple([
            _sentence(difference)
            + _cause(difference.kind, vocabulary.recipe, normalizing, broken, lacks) for difference in lost
        ]),
    )


_SENTENCES = {
    CASE: "upper and lower case are not kept",
    FORMS: "characters come back in another form",
    ACCENTS: "accents are dropped",
    MISSING: "{characters} {do} not come back{examples}",
    NEW: "{characters} {come} back that {were} not typed{examples}",
    ORDER: "the characters come back in another order",
    ADDED: "whitespace is added in {places}",
    DROPPED: "whitespace is dropped in {places}",
    CHANGED: "{gaps} {come} back as {space}",
    MORE: "{characters} of whitespace more {come} back",
    FEWER: "{characters} of whitespace fewer {come} back",
}
"""The differences as sentences."""


def _sentence(difference: Difference) -> str:
    """Return a difference as a sentence, in the singular or plural."""
    singular = difference.size == 1

    def counted(noun: str) -> str:
        return f"1 {noun}" if singular else f"{difference.size:,} {noun}s"

    return _SENTENCES[difference.kind].format(
        characters=counted("character"), places=counted("place"), gaps=counted("gap"),
        do="does" if singular else "do", come="comes" if singular else "come",
        were="was" if singular else "were",
        space="one space" if difference.examples == (" ",) else "other whitespace",
        examples=f" ({' '.join(difference.examples)})" if difference.examples else "",
    )


def _cause(kind: str, recipe: Recipe, normalizing: Set[str], broken: bool, lacks: bool) -> str:
    """Return the axis that causes a difference, as the end of a sentence; empty if no axis does.

    Args:
        kind: The kind of the difference.
        recipe: The recipe of the vocabulary.
        normalizing: The kinds of differences that the normalization makes.
        broken: True if bytes of the text are not UTF-8.
        lacks: True if the vocabulary lacks a unit of the text.
    """
    drops = not SPLITS.of(recipe.split).keeps_spaces
    if kind in normalizing and recipe.normalize:
        return f": normalize={recipe.axis('normalize')}"
    if kind in (MISSING, NEW):
        if broken:
            return ": bytes that are not UTF-8 come back as U+FFFD"
        if lacks:
            return f": not in the vocabulary, unknown={recipe.unknown}"
        if kind == MISSING and drops:
            return f": split={recipe.axis('split')} leaves out what lies between its matches"
        return ": the recipe gives a character of the text a meaning of its own"
    if kind in (ADDED, DROPPED, CHANGED, MORE, FEWER):
        if MARKS.of(recipe.mark).put is not None:
            return f": mark={recipe.axis('mark')}"
        if SPLITS.of(recipe.split).marks_spaces:
            return ": split=metaspace adds one ▁ at the start and removes it again"
        if drops:
            return f": split={recipe.axis('split')} drops them and no mark says where a word began or ended"
    return ""
