"""Cut a text into words by a `tokenizer.json`: added tokens are cut out by name, and the rest goes through
the steps."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from tokentui.core.jobs import each
from tokentui.core.memo import Memo
from tokentui.core.records import dataclass
from tokentui.core.safetext import to_bytes
from tokentui.encode.names import NameFinder, Special
from tokentui.encode.vocabulary import Section
from tokentui.formats.huggingface import OWNER, AlignedText, CharRange, own_pattern, split
from tokentui.formats.source import Node, check_tokens
from tokentui.formats.tokens import LETTERS
from tokentui.recipe import NEWEST_UNICODE, Recipe
from tokentui.text.normalize import NORMALIZERS
from tokentui.text.pretokenize import Analysis, PreToken, Pretokenizer
from tokentui.text.split import SPACE_MARK
from tokentui.text.stretching import Stretching
from tokentui.text.unicode import TABLES

_BYTES: dict[str, bytes] = {letter: bytes((value,)) for value, letter in enumerate(LETTERS)}


class Cutter(Protocol):
    """Cuts a text into parts."""

    @property
    def bare(self) -> bool:
        """True if the parts depend only on the text, not on its place in a document. Then `words` works."""
        ...

    def words(self, text: str) -> list[str]:
        """Return the parts without places."""
        ...

    def __call__(self, text: AlignedText, /) -> list[AlignedText]:
        ...


class StagedPretokenizer(Pretokenizer):
    """A pretokenizer whose steps the axes cannot express.

    Args:
        recipe: The recipe that describes it as well as the axes can.
        normalizer: Returns the text to cut; None for no change.
        splitting: Returns its words; None if the text is one word.
        byte_level: True if the words are byte letters.
        prefix: The mark in front of each unit of a word except the first.
        suffix: The mark at the end of the last unit of a word.
    """

    beyond_axes = True
    find_stretching: Callable[[], Stretching | None] | None = None
    """Returns `stretching`, which only a long text asks for; None if nothing is known of stretches."""

    def __init__(
        self, recipe: Recipe, normalizer: Callable[[AlignedText], AlignedText] | None,
        splitting: Cutter | None, *,
        byte_level: bool, prefix: str = "", suffix: str = "",
    ) -> None:
        super().__init__(recipe)
        self._normalizer = normalizer
        self._splitting = splitting
        self._bare = splitting is None or splitting.bare
        self._byte_level = byte_level
        self._prefix, self._suffix = to_bytes(prefix), to_bytes(suffix)

    @functools.cached_property
    def stretching(self) -> Stretching | None:
        """How kernels may cut a text; None if the steps may look beyond a stretch."""
        return None if self.find_stretching is None else self.find_stretching()

    def words(self, document: str, *, first: bool = True) -> list[str]:
        """Return the words of a document in order."""
        return self.spelled(self._normal(document))

    def words_of_each(self, documents: list[str]) -> list[list[str]]:
        """Return the words of each of many documents."""
        return list(map(self.words, documents))

    def normalized(self, document: str) -> str:
        """Return a document after the normalizer."""
        return self._normal(document).text

    def cuts(self, document: str, at: int) -> Iterator[int]:
        """Yield nothing: no place is known to be safe."""
        return iter(())

    @property
    def plain_unit(self) -> str:
        """The unit of words (`byte` or `char`) if it has no marks; else empty."""
        return "" if self._prefix or self._suffix else super().plain_unit

    def units(self, word: str) -> list[bytes]:
        """Return the smallest units of a word, with their marks."""
        units = self._plain(word)
        if units and self._prefix:
            units[1:] = [self._prefix + unit for unit in units[1:]]
        if units and self._suffix:
            units[-1] += self._suffix
        return units

    def analyze(self, text: str | bytes) -> Analysis:
        """Normalize and split a text, with places. `prepared` is the concatenation of the words."""
        source = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
        normal = self._normal(source)
        pretokens = self.of(normal)
        return Analysis(source, normal.text, "".join(pretoken.text for pretoken in pretokens), pretokens)

    def of(self, text: AlignedText) -> list[PreToken]:
        """Return the pre-tokens of a normalized text."""
        pretokens: list[PreToken] = []
        at = 0
        for part in self._parts(text):
            word, spans = self._word(part)
            start = part.starts[0]
            spans = tuple((begin - start, end - start) for begin, end in spans)
            pretokens.append(PreToken(word, start, max(part.ends[-1], start), at, at + len(word), spans))
            at += len(word)
        return pretokens

    def spelled(self, text: AlignedText) -> list[str]:
        """Return the words of a normalized text without places."""
        words = self._bare_parts(text.text) if self._bare else [part.text for part in self._parts(text)]
        if not self._byte_level:
            return words
        return list(map(_of_letters.__getitem__, words))

    def _bare_parts(self, text: str) -> list[str]:
        """Return the parts of a text without places, for a step that is `bare`."""
        if not text:
            return []
        return [part for part in (self._splitting.words(text) if self._splitting else [text]) if part]

    def _parts(self, text: AlignedText) -> list[AlignedText]:
        if not text.text:
            return []
        return [part for part in (self._splitting(text) if self._splitting else [text]) if part.text]

    def _word(self, part: AlignedText) -> tuple[str, tuple[CharRange, ...]]:
        """Return the word as the model reads it, and the range of each of its characters.

        With byte units, each byte is one character, an invalid one as a surrogate, and has the range of the
        character it is of.
        """
        if self.recipe.unit != "byte":
            return part.text, tuple(zip(part.starts, part.ends, strict=True))
        known = _BYTES if self._byte_level else {}
        spelled = [known.get(character) or to_bytes(character) for character in part.text]
        spans = [span for data, *span in zip(spelled, part.starts, part.ends, strict=True) for _ in data]
        word = b"".join(spelled).decode("utf-8", "surrogateescape")
        return word, tuple((start, end) for start, end in spans)

    def _normal(self, text: str) -> AlignedText:
        typed = AlignedText.typed(self.typed(text))
        return self._normalizer(typed) if self._normalizer else typed


def _from_letters(word: str) -> str:
    data = b"".join(_BYTES.get(character) or to_bytes(character) for character in word)
    return data.decode("utf-8", "surrogateescape")


_of_letters = Memo(_from_letters)


def before_marks(
    model: Iterable[str], splitting: Cutter | None, *, spells_bytes: bool
) -> CutBeforeMarks | None:
    """Return a step that cuts words before a run of ▁ where no token joins both sides. Such a cut changes no
    ids, and shorter words are found in the cache more often.

    Args:
        model: The tokens of a model that merges characters without marks.
        splitting: The step of the file; None for none.
        spells_bytes: True if unknown characters become byte tokens. Otherwise dropped or joined ones may
            reach across a cut that tokens forbid elsewhere.

    Returns:
        The step; None if such cuts may change ids.
    """
    crossing = {at[0] for token in model if SPACE_MARK in token[1:] for at in _BEFORE_MARK.findall(token)}
    if crossing and not spells_bytes:
        return None
    return CutBeforeMarks(splitting, re.compile(
        f"(?<=[^{''.join(map(re.escape, sorted(crossing)))}{SPACE_MARK}])(?={SPACE_MARK})"
    ))


_BEFORE_MARK = re.compile(f"[^{SPACE_MARK}](?={SPACE_MARK})")


@dataclass(frozen=True, slots=True)
class CutBeforeMarks:
    """Cuts the parts of another step before runs of ▁.

    Attributes:
        splitting: The step; None for none.
        pattern: Matches before a run of ▁ where words are cut.
    """

    splitting: Cutter | None
    pattern: re.Pattern[str]

    @property
    def bare(self) -> bool:
        """True if the parts depend only on the text."""
        return self.splitting is None or self.splitting.bare

    def words(self, text: str) -> list[str]:
        """Return the words of a text without places."""
        parts = self.splitting.words(text) if self.splitting else [text]
        return [word for part in parts for word in self.pattern.split(part)]

    def __call__(self, text: AlignedText) -> list[AlignedText]:
        """Return the words of a text."""
        words: list[AlignedText] = []
        for part in self.splitting(text) if self.splitting else [text]:
            cuts = [0, *(match.start() for match in self.pattern.finditer(part.text)), len(part.text)]
            words += [part.part(start, end) for start, end in itertools.pairwise(cuts)]
        return words


# --- added tokens ---

_WORD = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]"
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


@dataclass(frozen=True, slots=True)
class Added:
    """An added token with its flags."""

    id: int
    content: str
    special: bool
    normalized: bool
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False


_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def _is_word(character: str) -> bool:
    """Return whether a character is part of a word. False for an empty text."""
    return own_pattern(_WORD).match(OWNER.seen(character)) is not None


def read_added(node: Node, vocabulary: Mapping[str, int]) -> tuple[list[Added], list[str]]:
    """Read the added tokens with their ids, and sentences on doubts.

    A token of the model keeps its id there. Others get the next ids, whatever the file says, as in Hugging
    Face's library.

    Raises:
        TokentuiError: A row is damaged.
    """
    tokens_: dict[str, Added] = {}
    moved: list[str] = []
    others: dict[str, int] = {}  # a copy of the vocabulary would take longer than all rows
    rows = list(node.rows([]))
    check_tokens((len(row["content"].text()) for row in rows), node)
    for row in each(rows):
        content, asked = row["content"].text(), row["id"].number()
        value = row.mapping().get
        flags = {name: flag if isinstance(flag := value(name), bool) else row[name].flag() for name in _FLAGS}
        if not content:
            continue
        number = vocabulary.get(content, -1)
        if number < 0:
            number = others.setdefault(content, len(vocabulary) + len(others))
        if number != asked:
            moved.append(f"{content[:40]!r} has id {number}, not {asked} as its row says")
        if content in tokens_:  # the last row counts, but what was special once stays special
            flags["special"] |= tokens_[content].special
        tokens_[content] = Added(number, content, **flags)
    if len(moved) > 1:
        moved = [f"{moved[0]}; {len(moved) - 1} more added tokens have other ids than their rows say"]
    return list(tokens_.values()), moved


class Finder:
    """Finds added tokens in a text: the leftmost, and of those the longest.

    Source: `find_matches` in `added_vocabulary.rs` of Hugging Face's library.

    Args:
        tokens: The token of each name to search for.
    """

    def __init__(self, tokens: Mapping[str, Added]) -> None:
        self.tokens = tokens
        self._names = NameFinder(tokens)

    @functools.cached_property
    def special(self) -> NameFinder:
        """Finds the names of special tokens alone."""
        return NameFinder(name for name, token in self.tokens.items() if token.special)

    def is_in(self, text: str) -> bool:
        """Return whether the name of a token is in a text."""
        return self._names.is_in(text) or "" in self.tokens

    def cut(self, text: AlignedText, allow_special: bool) -> Iterator[tuple[Added | None, AlignedText]]:
        """Yield (token or None, part): the parts of a text that are tokens, and those between them.

        A token with `rstrip` takes the white space behind it, also from a token with `lstrip` next to it,
        which is left out if nothing remains of it. A token without `lstrip` has its whole content, so its
        part may overlap the part before it.
        """
        at = 0
        for token, start, end in self.places(text.text, allow_special):
            if at < start:
                yield None, text.part(at, start)
            if start < end:
                yield token, text.part(start, end)
            at = end
        if at < len(text.text):
            yield None, text.part(at, len(text.text))

    def places(self, typed: str, allow_special: bool) -> Iterator[tuple[Added, int, int]]:
        """Yield the tokens of `cut` with the start and the end of each."""
        at = 0
        for start, end in self._spans(typed):
            token = self.tokens[typed[start:end]]
            if token.special and not allow_special:
                continue
            if token.single_word and (
                _is_word(typed[start - 1 : start]) or _is_word(typed[end : end + 1])
            ):
                continue
            if token.lstrip:
                while start > at and typed[start - 1] in _SPACES:
                    start -= 1
                start = max(at, start)
            if token.rstrip:
                while end < len(typed) and typed[end] in _SPACES:
                    end += 1
            if start > end:
                continue
            yield token, start, end
            at = end

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the (start, end) of names. An empty name is at each place where no other name begins or ends.
        """
        free, most = 0, len(text) if "" in self.tokens else -1
        for start, end in self._names.spans(text):
            if most >= 0:
                yield from ((at, at) for at in range(free, start))
            yield start, end
            free = end + 1
        yield from ((at, at) for at in range(free, most + 1))


def doubts(names: Mapping[int, str], added: Sequence[Added]) -> Iterator[str]:
    """Yield sentences on added tokens whose names are searched for oddly.

    Args:
        names: The name of each token to search for, by its id.
        added: The tokens.
    """
    known: dict[str, str] = {}
    for token in added:
        name, content = names[token.id], f"{token.content[:40]!r}"
        if not name:
            yield f"{content} is empty after normalization, so text is cut at every character"
        elif token.normalized and known.setdefault(name, content) != content:
            what = f"{known[name]} and {content} are the same after normalization"
            yield f"{what}: the last one is used, Hugging Face's library takes either"


@dataclass(frozen=True)
class AddedSections:
    """Cuts a text at its added tokens: first at those that are searched for in the text as typed, then, in
    the normalized rest, at the others.

    Attributes:
        pretokenizer: Cuts the rest into words.
        normalizer: The normalizer of the file; None for none.
        plain: The tokens that are searched for before normalization.
        normalized: The tokens that are searched for after normalization.
    """

    pretokenizer: Pretokenizer
    normalizer: Callable[[AlignedText], AlignedText] | None
    plain: Finder
    normalized: Finder = field(default_factory=lambda: Finder({}))

    @functools.cached_property
    def always(self) -> NameFinder | None:
        """Finds the tokens that are cut out of any text. None if their places depend on more than their
        names, so that they cannot be searched for in a stretch of a text."""
        tokens = [token for finder in (self.plain, self.normalized) for token in finder.tokens.values()
                  if not token.special]
        late = any(not token.special for token in self.normalized.tokens.values())
        if (late and self.normalizer) or not all(self.plain.tokens) or any(
            token.lstrip or token.rstrip or token.single_word for token in tokens
        ):
            return None
        return NameFinder(token.content for token in tokens)

    @property
    def special(self) -> NameFinder:
        """Finds the special tokens that are searched for in a text as typed."""
        return self.plain.special

    @property
    def names(self) -> list[str]:
        """The names that are searched for in a text as typed, if some are cut out of any text."""
        return list(self.plain.tokens) if self.always is None or self.always.names else []

    def __call__(self, text: str, allow_special: bool) -> Iterator[Section]:
        """Yield the tokens, and lists of the pre-tokens between them."""
        words = self.pretokenizer
        for part in self._cut(text, allow_special):
            if isinstance(part, Special):
                yield part
            elif isinstance(words, StagedPretokenizer):
                yield words.of(part)
            else:
                yield [pretoken.moved(part.starts[0]) for pretoken in words.analyze(part.text).pretokens]

    def bare(self, text: str, allow_special: bool) -> Iterator[Special | list[str]]:
        """Yield special tokens and lists of words, as `__call__` does but without pre-tokens. The places of
        the special tokens are meaningless."""
        words = self.pretokenizer
        for part in self._cut(text, allow_special):
            if isinstance(part, Special):
                yield part
            else:
                yield words.spelled(part) if isinstance(words, StagedPretokenizer) else words.words(part.text)

    def texts(self, text: str, allow_special: bool, *, whole: bool) -> Iterable[Special | str] | None:
        """Return special tokens, and the text as typed between them. None if names of special tokens are
        searched for after normalization.

        Args:
            text: The text.
            allow_special: As for `__call__`.
            whole: True to leave the tokens in the text that are cut out of any text. `always` must not be
                None.
        """
        if allow_special and self.normalized.tokens and (self.normalizer or whole):
            return None
        if not whole:
            typed = self.pretokenizer.typed(text)
            if not (self.normalizer or self.plain.is_in(typed) or self.normalized.is_in(typed)):
                return [typed] if typed else []
            cut = self._cut(text, allow_special)
            return (part if isinstance(part, Special) else part.text for part in cut)
        if not allow_special:
            return [text] if text else []
        return self._whole_texts(self.pretokenizer.typed(text))

    def _whole_texts(self, typed: str) -> Iterator[Special | str]:
        """Yield the special tokens of a text and the texts between them. Added tokens that are not special
        stay text."""
        at = 0
        places = self.plain.places(typed, True) if self.plain.special.is_in(typed) else ()
        for token, start, end in places:
            if not token.special:
                at = min(at, start)  # it may begin inside the space behind a special token
                continue
            if at < start:
                yield typed[at:start]
            if start < end:
                yield Special(token.content, start, end)
            at = end
        if at < len(typed):
            yield typed[at:]

    def _cut(self, text: str, allow_special: bool) -> Iterator[Special | AlignedText]:
        """Yield added tokens and the normalized text between them, in order.

        Tokens that match the text as typed are found first, those that match the normalized text in the rest.
        """
        typed = AlignedText.typed(self.pretokenizer.typed(text))
        for token, part in self.plain.cut(typed, allow_special):
            if token is not None:
                yield _special(token, part)
                continue
            normal = self.normalizer(part) if self.normalizer else part
            for inner, rest in self.normalized.cut(normal, allow_special):
                yield _special(inner, rest) if inner is not None else rest


def _special(token: Added, part: AlignedText) -> Special:
    return Special(token.content, part.starts[0], part.ends[-1])


# --- CLIP's words ---

CLIP = Recipe(("nfc", "lowercase"), r"regex:(?i)'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+",
              mark="end-suffix:</w>")
"""The recipe for CLIP. No value of the axis `normalize` expresses that HTML entities are unescaped twice,
that runs of whitespace become one space, and that a Σ at the end of a word becomes ς."""
_CLIP_WORDS = CLIP.split.removeprefix("regex:")
_SEPARATORS = dict.fromkeys(range(28, 32), " ")
"""Characters that are whitespace in Python but not in Unicode."""
_OTHERWISE = "[Σ&\x1c-\x1f]"


class ClipWords(StagedPretokenizer):
    """Words and units of CLIP's code, without its repair of broken text.

    Source: openai/CLIP and open_clip, `basic_clean`, `whitespace_clean` and `lower`.

    Args:
        recipe: The recipe that describes it as well as the axes can.
    """

    beyond_axes = False  # a loss reports the difference

    def __init__(self, recipe: Recipe) -> None:
        super().__init__(recipe, _clip_normal, _ClipCuts(), byte_level=False, suffix=recipe.mark_text)


def is_clip(recipe: Recipe) -> bool:
    """Return whether a recipe is that of CLIP."""
    return (recipe.split, recipe.normalize, recipe.mark) == (CLIP.split, CLIP.normalize, CLIP.mark)


def clip_differs(text: str) -> bool:
    """Return whether the axes may give other words of a text than CLIP's code."""
    return own_pattern(_OTHERWISE).search(text) is not None


_NFC, = NORMALIZERS["nfc"].stages(TABLES[NEWEST_UNICODE])


def _clip_normal(text: AlignedText) -> AlignedText:
    for stage in (_unescaped, _separated, _NFC, str.lower):
        text = text.passed(stage)
    return text


def _unescaped(text: str) -> str:
    """Unescape HTML entities twice, as ftfy does."""
    if "&" not in text:
        return text
    import html  # it has a large table of entities

    return html.unescape(html.unescape(text))


def _separated(text: str) -> str:
    return text.translate(_SEPARATORS)


class _ClipCuts:
    """Cuts a text into the words of CLIP."""

    bare = True

    def words(self, text: str) -> list[str]:
        """Return the words without places."""
        return split(text, own_pattern(_CLIP_WORDS), "Removed", True)

    def __call__(self, text: AlignedText) -> list[AlignedText]:
        """Return the words with places."""
        return split(text, own_pattern(_CLIP_WORDS), "Removed", True)
