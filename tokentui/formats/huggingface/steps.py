"""The steps of a `tokenizer.json`: callable values that are read from JSON.

A stage is a table of functions by the types of its steps. The parameters of a function after the first are
the keys of the JSON value, and their annotations determine how these are read. `where` is the place of the
step.
"""

from __future__ import annotations

import base64
import binascii
import copy
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from tokentui.core.memo import Memo
from tokentui.core.records import dataclass
from tokentui.core.safetext import to_bytes
from tokentui.formats.huggingface import (
    BEHAVIOURS,
    OWNER,
    AlignedText,
    Pattern,
    S,
    by_script,
    check_growth,
    own_pattern,
    split,
)
from tokentui.formats.huggingface import split as parts_of
from tokentui.formats.source import Node, inner_of
from tokentui.formats.tokens import letters
from tokentui.text import normalize
from tokentui.text.normalize import NORMALIZERS, Stage

if TYPE_CHECKING:
    from tokentui.formats.sentencepiece.charsmap import Charsmap

_MOST_STEPS = 1_000
A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True)
class PipelineStep(Generic[A, B]):
    """A step from a value of type A to one of type B.

    Attributes:
        stage: The stage: the key of the steps in a sequence.
        kind: Its type in JSON.
        parameters: The values of its JSON keys.
        where: The place in the file, for errors.
    """

    stage: str
    kind: str
    parameters: Mapping[str, object]
    where: str = field(default="", compare=False)

    @functools.cached_property
    def bare(self) -> bool:
        """True if the parts of a pre-tokenizer depend only on the text, not on its place in a document."""
        return self.parameters.get("prepend_scheme") != "first" and all(step.bare for step in self.steps)

    def words(self, text: str) -> list[str]:
        """Return the parts of a text without places, for a pre-tokenizer that is `bare`. Parts may be empty.

        In a sequence, equal parts are split once.

        Raises:
            TokentuiError: The text becomes too long.
        """
        if self.kind == "Sequence":
            parts = [text]
            for step in self.steps:
                parts = list(itertools.chain.from_iterable(map(step.known.__getitem__, parts)))
                check_growth(len(text), sum(map(len, parts)), self.where)
            return parts
        run = _STAGES[self.stage][self.kind]
        place = {"where": self.where} if "where" in _keys(run) else {}
        words_: list[str] = run(text, **self.parameters, **place) if run in _BARE else [
            part.text for part in run(AlignedText.typed(text), **self.parameters, **place)
        ]
        return words_

    @functools.cached_property
    def known(self) -> Memo[list[str]]:
        """Cache of `words`."""
        step = copy.copy(self)
        return Memo(lambda text: step.words(text) if text else [])

    def __getstate__(self) -> dict[str, object]:
        """Pickle without the cache of words."""
        return {name: value for name, value in vars(self).items() if name != "known"}

    def __call__(self, value: A) -> B:
        """Apply the step.

        Raises:
            TokentuiError: The text becomes too long.
        """
        run = _STAGES[self.stage][self.kind]
        place = {"where": self.where} if "where" in _keys(run) else {}
        result: B = run(value, **self.parameters, **place)
        if isinstance(value, AlignedText) and isinstance(result, AlignedText):
            check_growth(len(value.text), len(result.text), self.where)
        return result

    @property
    def steps(self) -> tuple[PipelineStep[A, B], ...]:
        """The steps of a sequence; empty for another step."""
        inner = self.parameters.get(self.stage, ())
        return inner if isinstance(inner, tuple) else ()

    def has(self, kind: str) -> bool:
        """Return whether the step has a type, or is a sequence with such a step."""
        return self.kind == kind or any(step.has(kind) for step in self.steps)


NormalizerStep: TypeAlias = PipelineStep[AlignedText, AlignedText]
PreTokenizerStep: TypeAlias = PipelineStep[AlignedText, list[AlignedText]]
DecoderStep: TypeAlias = PipelineStep[list[str], list[str]]
_STAGES: dict[str, dict[str, Callable[..., Any]]] = {"normalizers": {}, "pretokenizers": {}, "decoders": {}}
"""The functions of each stage by type."""
F = TypeVar("F", bound=Callable[..., object])


_BARE: set[Callable[..., object]] = set()
"""Pre-tokenizers that can also cut a str without places."""


def kind(stage: str, name: str, *, bare: bool = False) -> Callable[[F], F]:
    """Return a decorator that adds a function to the table of a stage.

    Args:
        stage: The stage.
        name: The type in JSON.
        bare: True for a pre-tokenizer that can also cut a str without places.
    """
    def entered(run: F) -> F:
        _STAGES[stage][name] = run
        if bare:
            _BARE.add(run)
        return run
    return entered


# --- reading ---


def read_step(node: Node, stage: str) -> PipelineStep[A, B]:
    """Read a step from JSON.

    Args:
        node: The value.
        stage: The stage: the key of the steps in a sequence.

    Raises:
        TokentuiError: It is damaged, or has an unknown type.
    """
    name, kinds = node["type"].value, _STAGES[stage]
    if not isinstance(name, str) or name not in kinds:
        raise node.error(
            f"{str(name)[:40]!r} is not a supported type", "one of: " + ", ".join(kinds)
        )
    here = node.at(name, node.value)
    keys: dict[str, object] = {}
    for key, (wanted, default) in _keys(kinds[name]).items():
        if key == stage:
            keys[key] = tuple(read_step(inner, stage) for inner in here[key].inner())
        elif key != "where":
            keys[key] = (_READERS.get(key) or _READERS[wanted])(here[key], default)
    return PipelineStep(stage, name, keys, str(here))


def read_optional(node: Node, stage: str) -> PipelineStep[A, B] | None:
    """Read a step from JSON; null gives None."""
    return None if node.value is None else read_step(node, stage)


@functools.cache
def _keys(run: Callable[..., object]) -> Mapping[str, tuple[str, Any]]:
    """Return the annotation and the default of each key of a function."""
    _, *parameters = inspect.signature(run).parameters.values()
    return {
        key.name: (str(key.annotation), None if key.default is key.empty else key.default)
        for key in parameters
    }


def _length(node: Node, default: int | None) -> int:
    number = node.number(default)
    if not number:
        raise node.error("a length must be at least 1")
    return number


def _character(node: Node, default: object) -> str:
    if len(node.text()) != 1:
        raise node.error("expected one character")
    return node.text()


def _one_of(*names: str) -> Callable[[Node, str | None], str]:
    """Return a reader for a text that must be one of these values."""
    def read(node: Node, default: str | None) -> str:
        if node.text(default) not in names:
            raise node.error("no such value", "one of: " + ", ".join(names))
        return node.text(default)
    return read


def _scheme(node: Node, default: str | None) -> str:
    """Return when Metaspace puts a mark in front, from its old or new keys: `always`, `never`, or `first` for
    only the start of the text.

    Raises:
        TokentuiError: The old and the new keys disagree.
    """
    scheme = _one_of("first", "never", "always")(node, default)
    if node.parent is not None and node.parent["add_prefix_space"].value is False and scheme != "never":
        raise node.error('"add_prefix_space" is false', 'write "prepend_scheme": "never" too')
    return scheme


def _rules(node: Node, default: str | None) -> str:
    """Return the base64 text of the node, checked to be a readable character map; empty is allowed."""
    code = node.text(default)
    try:
        blob = base64.b64decode(code, validate=True)
    except (binascii.Error, ValueError):
        raise node.error("not base64") from None
    if blob:
        from tokentui.formats.sentencepiece.charsmap import Charsmap  # few files have rules

        Charsmap(blob, node)
    return code


_READERS: dict[str, Callable[[Node, Any], object]] = {
    "bool": Node.flag, "str": Node.text, "int": Node.number,
    "bool | None": lambda node, default: None if node.value is None else node.flag(),
    "Pattern": lambda node, default: Pattern.read(node),
    "replacement": _character, "delimiter": _character, "behavior": _one_of(*BEHAVIOURS),
    "prepend_scheme": _scheme, "length": _length, "precompiled_charsmap": _rules,
}
"""The readers of values, by key, else by annotation."""


def check_steps(node: Node) -> None:
    """Check how many steps there are and how deeply they are nested.

    Raises:
        TokentuiError: They exceed a limit.
    """
    count, level = 0, [node.value]
    while level:
        count += sum(isinstance(value, dict) and "type" in value for value in level)
        if count > _MOST_STEPS:
            raise node.error(f"more than {_MOST_STEPS:,} steps", "fix the file")
        level = list(inner_of(level))


# --- normalizers ---

# `re` and `regex` compile these where they are first used, and keep them: few files use any of them.
_NMT_DROPPED = "[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
_NMT_SPACES = "[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"
_CLEANED = f"[{normalize.BERT_DROPPED}]"
_IDEOGRAPHS = f"([{normalize.BERT_IDEOGRAPHS}])"
_SPACES = f"[{normalize.BERT_SPACES}]"


@kind("normalizers", "Sequence")
def _normalized_in_a_row(
    text: AlignedText, normalizers: tuple[NormalizerStep, ...], where: str
) -> AlignedText:
    """Apply the normalizers in order. Raises where the text grows beyond what a file may make it."""
    length = len(text.text)
    for step in normalizers:
        text = step(text)
        check_growth(length, len(text.text), where)
    return text


@kind("normalizers", "BertNormalizer")
def _bert(
    text: AlignedText, clean_text: bool, handle_chinese_chars: bool, strip_accents: bool | None,
    lowercase: bool
) -> AlignedText:
    """Clean, space, strip and lowercase the text, each if wanted, in BERT's order.

    Accents go with lowercasing if `strip_accents` is None.
    """
    for wanted, stage in (
        (clean_text, _clean), (handle_chinese_chars, _space_ideographs),
        (lowercase if strip_accents is None else strip_accents, _strip_bert_accents),
        (lowercase, OWNER.lowercase),
    ):
        text = text.passed(stage) if wanted else text
    return text


def _strip_bert_accents(text: str) -> str:
    return normalize.bert_strip_accents(text, OWNER)


def _clean(text: str) -> str:
    return re.sub(_SPACES, " ", re.sub(_CLEANED, "", text))


def _space_ideographs(text: str) -> str:
    return re.sub(_IDEOGRAPHS, r" \1 ", text)


@kind("normalizers", "Strip")
def _stripped(text: AlignedText, strip_left: bool, strip_right: bool) -> AlignedText:
    """Return the text without spaces at the wanted ends; offsets stay those of the original."""
    start, end, spaces = 0, len(text.text), re.compile(_SPACES)
    while strip_left and start < end and spaces.match(text.text[start]):
        start += 1
    while strip_right and end > start and spaces.match(text.text[end - 1]):
        end -= 1
    return text.part(start, end)


def _nmt(text: str) -> str:
    return re.sub(_NMT_SPACES, " ", re.sub(_NMT_DROPPED, "", text))


def _passing(stage: Stage) -> Callable[[AlignedText], AlignedText]:
    return lambda text: text.passed(stage)


PLAIN = {"StripAccents": "strip-accents", "NFC": "nfc", "NFD": "nfd", "NFKC": "nfkc", "NFKD": "nfkd",
         "Lowercase": "lowercase"}
"""The values of the axis `normalize` that are one normalizer, by its type."""
_STAGES["normalizers"] |= {
    name: _passing(NORMALIZERS[value].stages(OWNER)[0]) for name, value in PLAIN.items()
}
_STAGES["normalizers"]["Nmt"] = _passing(_nmt)


@kind("normalizers", "Precompiled")
def _precompiled(text: AlignedText, where: str, precompiled_charsmap: str = "") -> AlignedText:
    """Map the text by a character map in base64; empty, it leaves it. Raises where it grows too much.

    The places of the result are computed grapheme by grapheme, only when they are asked for.
    """
    if not precompiled_charsmap:
        return text
    rules = charsmap_of(precompiled_charsmap)
    mapped = rules.mapped(text.text)
    check_growth(len(text.text), len(mapped), where)
    return text.edited(mapped, lambda: rules.by_grapheme(text.text))


@functools.lru_cache(maxsize=8)
def charsmap_of(code: str) -> Charsmap:
    """Return the rules of the value of a step, which `read_step` checked."""
    from tokentui.formats.sentencepiece.charsmap import Charsmap  # few files have rules

    return Charsmap(base64.b64decode(code), Node(None, "precompiled_charsmap"))


@kind("normalizers", "Replace")
def replaced(text: AlignedText, pattern: Pattern, content: str, where: str) -> AlignedText:
    """Return a text with `content` in place of each match of a pattern.

    Raises:
        TokentuiError: The text becomes too long, or a match takes too long.
    """
    if pattern.kind == "String" and pattern.text:  # worked out at once; the places when they are asked for
        typed = text.text
        check_growth(len(typed), typed.count(pattern.text) * len(content), where)
        return text.replaced(lambda: list(pattern.find(typed, where)), content,
                             typed.replace(pattern.text, content))
    ranges = list(pattern.find(text.text, where))
    check_growth(len(text.text), len(ranges) * len(content), where)
    return text.replaced(lambda: ranges, content) if ranges else text


@kind("normalizers", "Prepend")
def _prepended(text: AlignedText, prepend: str, where: str) -> AlignedText:
    check_growth(len(text.text), len(prepend), where)
    return text.prepended(prepend) if text.text else text


@kind("normalizers", "ByteLevel")
def _letters(text: AlignedText) -> AlignedText:
    return text.edited(letters(to_bytes(text.text)),
                       lambda: ((letters(to_bytes(character)), n, n + 1)
                                for n, character in enumerate(text.text)))


# --- pre-tokenizers: from a text to its parts, none of them empty ---

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_WORD_CHARACTERS = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]"
_DIGITS = r"\p{N}"
_PUNCTUATION = f"[{normalize.BERT_PUNCTUATION}]"
_WORDS = rf"{_WORD_CHARACTERS}+|[^{_WORD_CHARACTERS[1:-1]}\s]+"


@kind("pretokenizers", "Sequence")
def _cut_in_a_row(
    text: AlignedText, pretokenizers: tuple[PreTokenizerStep, ...], where: str
) -> list[AlignedText]:
    """Apply each pre-tokenizer to the parts of the one before. Raises where the text grows too much."""
    parts = [text]
    for step in pretokenizers:
        parts = [result for part in parts for result in step(part)]
        check_growth(len(text.text), sum(len(part.text) for part in parts), where)
    return parts


@kind("pretokenizers", "ByteLevel", bare=True)
def _gpt2_words(
    text: AlignedText | str, where: str, add_prefix_space: bool, trim_offsets: bool = True,
    use_regex: bool = True
) -> list[AlignedText] | list[str]:
    """Do the step ByteLevel: cut by GPT-2's pattern, and write bytes as letters."""
    if isinstance(text, str):
        text = " " + text if add_prefix_space and not text.startswith(" ") else text
        words = split(text, own_pattern(_GPT2), "Isolated", where=where) if use_regex else [text]
        return list(map(_lettered.__getitem__, words))
    if add_prefix_space and not text.text.startswith(" "):
        text = text.prepended(" ")
    parts = split(text, own_pattern(_GPT2), "Isolated", where=where) if use_regex else [text]
    return list(map(_letters, parts))


_lettered = Memo(lambda text: letters(to_bytes(text)))


@kind("pretokenizers", "Metaspace", bare=True)
def _marked_words(
    text: AlignedText | str, replacement: str, prepend_scheme: str = "always", split: bool | None = True
) -> list[AlignedText] | list[str]:
    """Do the step Metaspace: replace spaces by the mark, put one in front by the scheme, and cut before each
    mark."""
    mark = replacement
    if isinstance(text, str):
        text = text.replace(" ", mark)
        text = mark + text if prepend_scheme == "always" and not text.startswith(mark) else text
        if split is False or mark not in text[1:]:
            return [text]
        return re.findall(f"{re.escape(mark)}?[^{re.escape(mark)}]+|{re.escape(mark)}", text)
    text = text.respelled(text.text.replace(" ", mark))
    begins = prepend_scheme == "always" or (prepend_scheme == "first" and text.starts[0] == 0)
    if begins and not text.text.startswith(mark):
        text = text.prepended(mark)
    if split is False or mark not in text.text[1:]:
        return [text]
    return parts_of(text, re.compile(re.escape(mark)), "MergedWithNext")


@kind("pretokenizers", "Split", bare=True)
def _split_at(text: S, pattern: Pattern, behavior: str, invert: bool, where: str) -> list[S]:
    return split(text, pattern.compiled, behavior, invert, f"{where}.pattern", pattern.seen)


@kind("pretokenizers", "Whitespace", bare=True)
def _words(text: S, where: str) -> list[S]:
    return split(text, own_pattern(_WORDS), "Removed", invert=True, where=where)


@kind("pretokenizers", "WhitespaceSplit", bare=True)
def _split_at_spaces(text: S) -> list[S]:
    return split(text, re.compile(_SPACES), "Removed")


@kind("pretokenizers", "BertPreTokenizer", bare=True)
def _bert_words(text: S) -> list[S]:
    return [part for word in _split_at_spaces(text) for part in _split_at_punctuation(word)]


@kind("pretokenizers", "Punctuation", bare=True)
def _split_at_punctuation(text: S, behavior: str = "Isolated") -> list[S]:
    return split(text, re.compile(_PUNCTUATION), behavior)


@kind("pretokenizers", "Digits", bare=True)
def _split_at_digits(text: S, individual_digits: bool) -> list[S]:
    behavior = "Isolated" if individual_digits else "Contiguous"
    return split(text, own_pattern(_DIGITS), behavior, seen=OWNER.seen_for_digits)


@kind("pretokenizers", "CharDelimiterSplit", bare=True)
def _split_at_character(text: S, delimiter: str) -> list[S]:
    return split(text, re.compile(re.escape(delimiter)), "Removed")


@kind("pretokenizers", "FixedLength")
def _split_by_length(text: AlignedText, length: int = 5) -> list[AlignedText]:
    size = len(text.text)
    return [text.part(at, min(at + length, size)) for at in range(0, size, length)]


@kind("pretokenizers", "UnicodeScripts")
def _split_by_script(text: AlignedText) -> list[AlignedText]:
    return by_script(text)
