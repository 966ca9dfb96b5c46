"""A recipe: what a tokenizer is trained and run by, as one frozen value of eleven axes.

The axes and their values are the contract of the project: the same names stand in recipe files (TOML), in
`--set axis=value`, in the Python API and on the screen. `AXES` is the one table of them.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tokentui.core.arguments import name_of, shown
from tokentui.core.errors import TokentuiError
from tokentui.core.limits import MOST_SPREAD, spread

if TYPE_CHECKING:
    import regex


_Entry = TypeVar("_Entry")


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of the space of tokenizers.

    `values` maps each value to what it means in a few words; a value that ends in ":" takes free text after the colon.
    """

    name: str
    about: str
    values: Mapping[str, str]

    def names(self) -> tuple[str, ...]:
        """The values as a user writes them, `regex:PATTERN` for one that takes text."""
        return tuple(name + _FREE[name] if name in _FREE else name for name in self.values)


_FREE = {"regex:": "PATTERN", "end-symbol:": "TEXT", "end-suffix:": "TEXT", "prefix:": "TEXT"}

AXES: dict[str, Axis] = {
    axis.name: axis
    for axis in (
        Axis("normalize", "what is done to the text first, in order", {
            "lowercase": "lower case",
            "nfc": "Unicode form C",
            "nfd": "Unicode form D",
            "nfkc": "Unicode form KC",
            "nfkd": "Unicode form KD",
            "strip-accents": "combining marks go (decompose first: nfd)",
            "bert-uncased": "BERT's cleaning, lower case, no accents",
            "bert-cased": "BERT's cleaning, case kept",
            "nmt-nfkc": "sentencepiece's default",
        }),
        Axis("split", "how the text is cut into pre-tokens, which merges never cross", {
            "none": "not at all: a document is one pre-token",
            "whitespace": "at white space, which is dropped",
            "space": "at U+0020 only, which is dropped",
            "words": "runs of word characters, runs of punctuation",
            "bert": "at white space, punctuation alone",
            "before": "before each white space or punctuation character",
            "metaspace": "before each space, which becomes ▁; one in front",
            "gpt2": "GPT-2's pattern",
            "cl100k": "GPT-4's pattern as tiktoken has it today",
            "cl100k-classic": "GPT-4's pattern as it was published",
            "o200k": "GPT-4o's pattern",
            "llama3": "Llama-3's pattern",
            "falcon": "Falcon's chain: punctuation, GPT-2, digits by three",
            "regex:": "the matches of a pattern of your own",
        }),
        Axis("unit", "the smallest unit", {
            "byte": "a byte of UTF-8",
            "char": "a code point",
            "grapheme": "what a reader calls a character",
        }),
        Axis("mark", "how a word's start or end is marked", {
            "none": "not at all",
            "end-symbol:": "a unit of its own after the word",
            "end-suffix:": "text glued to the word's last unit",
            "prefix:": "text in front of every unit but the first",
        }),
        Axis("base", "the starting vocabulary and the order of its ids", {
            "sorted": "units of the corpus by code point",
            "first-seen": "units of the corpus as they come",
            "frequency": "units of the corpus, most frequent first, after the merges",
            "bytes": "all 256 bytes in order of value",
            "gpt2-bytes": "all 256 bytes in GPT-2's order",
        }),
        Axis("objective", "what makes a pair the best", {
            "count": "it stands most often (BPE)",
            "score": "c(xy)/(c(x)·c(y)) is largest (WordPiece)",
            "unigram": "pieces of a unigram language model, pruned",
            "gage": "Gage's compression: a free byte stands for the pair",
        }),
        Axis("weight", "how often a word counts", {
            "occurrences": "as often as it stands in the corpus",
            "distinct": "once",
        }),
        Axis("tie", "which of several equal pairs is taken", {
            "first-seen": "the one that stands first in the corpus",
            "largest-pair": "the last in alphabetical order of (left, right)",
            "smallest-pair": "the first in alphabetical order of (left, right)",
            "lowest-ids": "the one with the smallest (left id, right id)",
            "shortest": "the one with fewer characters, then alphabetical",
        }),
        Axis("pieces", "which tokens may be made", {
            "any": "any",
            "sentencepiece": "at most 16 characters, one script, ▁ only in front, numbers apart from letters",
            "sentencepiece-digits": "the same, and each digit alone (split_digits)",
        }),
        Axis("encode", "how new text is encoded", {
            "merges": "the merges in the order they were learned",
            "longest-match": "the longest token of the vocabulary, from the left",
            "viterbi": "the most probable segmentation",
        }),
        Axis("unknown", "what becomes of a unit that the vocabulary lacks", {
            "never": "cannot happen: every byte is there",
            "error": "an error that names it",
            "drop": "it is left out",
            "per-unit": "one unknown token each",
            "fused": "one unknown token for a run of them",
            "rest-of-word": "one unknown token for it and the rest of its word",
            "whole-word": "one unknown token for the whole word",
            "byte-fallback": "its bytes, as tokens <0xNN>",
            "pass-through": "it stands in the output as it is, without an id",
        }),
    )
}
"""The eleven axes by name: the one table that the recipe, the commands and the screen read."""

SHAPE: dict[str, str] = {
    "coverage": "the share of the characters of the corpus that the base covers; the rarest become unknown",
    "symbols": "texts that are one token each, and that no merge crosses",
    "prefix_space": "whether a space is set in front of a text",
}
"""The words of a run that shape what is learned, and what they mean. They are no axes; a recipe holds them."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint for a word that is not known: the nearest one that is, else all of them."""
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else "one of: " + ", ".join(names)


def entry(table: Mapping[str, _Entry], axis: str, value: str) -> _Entry:
    """What a table has for the value of an axis.

    Raises:
        TokentuiError: It has nothing: the value is one that another part of the program knows.
    """
    found = table.get(value)
    if found is None and value not in table:
        raise TokentuiError("nothing here does that", f"{axis}={value}", nearest(value, table))
    return found  # type: ignore[return-value]  # None where the table holds None


@functools.lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> regex.Pattern[str]:
    """The compiled form of a split pattern.

    Raises:
        TokentuiError: The pattern cannot be compiled; it says where in the pattern.
    """
    import regex  # not before the first paint, which knows no pattern

    if spread(pattern) > MOST_SPREAD:
        raise TokentuiError("the pattern repeats too many times", "split=regex:", "write smaller counts")
    try:
        return regex.compile(pattern, regex.VERSION0)
    except regex.error as error:
        place = f" at position {error.pos}" if getattr(error, "pos", None) is not None else ""
        raise TokentuiError(f"the pattern cannot be compiled: {error.msg}{place}", "split=regex:", "mend the pattern") from None
    except (RecursionError, OverflowError, MemoryError):
        raise TokentuiError("the pattern is too large to compile", "split=regex:", "write a shorter one") from None


_EMPTY = ("", "none", "[]")
"""How a user writes that a list is empty."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a tokenizer is trained and run by. Frozen, hashable, checked when made.

    Defaults are those of GPT-2's tokenizer as Hugging Face would retrain it.

    Beside the axes it holds the words of a run that shape what is learned (`SHAPE`): `coverage` is a share above 0 and at most 1,
    `symbols` are texts, and `prefix_space` is None where the split's own rule holds (`metaspace` sets a space in front).

    Raises:
        TokentuiError: A value that its axis does not have, or values that make no sense together; it names the axis
            and the nearest thing that works.
    """

    normalize: tuple[str, ...] = ()
    split: str = "gpt2"
    unit: str = "byte"
    mark: str = "none"
    base: str = "gpt2-bytes"
    objective: str = "count"
    weight: str = "occurrences"
    tie: str = "lowest-ids"
    pieces: str = "any"
    encode: str = "merges"
    unknown: str = "never"
    coverage: float = 1.0
    symbols: tuple[str, ...] = ()
    prefix_space: bool | None = None

    def __post_init__(self) -> None:
        given: Any = self.normalize
        if isinstance(given, str):
            given = [part for part in given.split(",") if part not in _EMPTY]
        if not isinstance(given, list | tuple):
            raise TokentuiError(f"a list of names belongs here, not {shown(given)}", "normalize", "such as ['nfkc']")
        if len(given) == 1 and given[0] in _EMPTY:
            given = ()
        object.__setattr__(self, "normalize", tuple(given))
        for name in AXES:
            value = getattr(self, name)
            for one in value if name == "normalize" else (value,):
                _check_value(name, one)
        for axis, when, what, hint in _SENSELESS:
            if when(self):
                raise TokentuiError(what, f"{axis}={self.axis(axis)}", hint)
        if self.split.startswith("regex:"):
            compile_pattern(self.split.removeprefix("regex:"))
        object.__setattr__(self, "coverage", _share(self.coverage))
        object.__setattr__(self, "symbols", _texts(self.symbols))
        if self.prefix_space is not None and not isinstance(self.prefix_space, bool):
            raise TokentuiError("yes or no is wanted", f"prefix_space={self.prefix_space}", "take True or False")
        if self.prefix_space is (self.split == "metaspace"):
            object.__setattr__(self, "prefix_space", None)  # so that equal recipes are equal
        for name, forbidden, what, hint in _SENSELESS_SHAPES:
            if forbidden(self):
                raise TokentuiError(what, f"{name}={self.word(name)}", hint)

    @property
    def spaced(self) -> bool:
        """Whether a space is set in front of a text that begins with none."""
        return self.split == "metaspace" if self.prefix_space is None else self.prefix_space

    @property
    def shape(self) -> dict[str, Any]:
        """The words of a run that shape the learning, without those at their defaults; lists as lists."""
        found: dict[str, Any] = {"coverage": self.coverage} if self.coverage < 1 else {}
        found |= {"symbols": list(self.symbols)} if self.symbols else {}
        return found | ({"prefix_space": self.prefix_space} if self.prefix_space is not None else {})

    def word(self, name: str) -> str:
        """A word of `SHAPE` as a user writes it."""
        value = getattr(self, name) if name != "prefix_space" else self.spaced
        if name == "prefix_space":
            return "yes" if value else "no"
        return (" ".join(value) or "none") if isinstance(value, tuple) else f"{value:.10g}"

    def shaped(self, **words: Any) -> Recipe:
        """This recipe with other words of `SHAPE`.

        Raises:
            TokentuiError: There is no such word, or it makes no sense here.
        """
        for name in words:
            if name not in SHAPE:
                raise TokentuiError("no such word of a run", name, nearest(name, SHAPE))
        return dataclasses.replace(self, **words)

    @property
    def mark_kind(self) -> str:
        """The mark without its text: `none`, `end-symbol`, `end-suffix` or `prefix`."""
        return self.mark.partition(":")[0]

    @property
    def mark_text(self) -> str:
        """The text of the mark, empty for none."""
        return self.mark.partition(":")[2]

    def axis(self, name: str) -> str:
        """An axis as a user writes it: lists with commas, `[]` for an empty one."""
        value = getattr(self, name)
        return (",".join(value) or "[]") if isinstance(value, tuple) else str(value)

    def with_axes(self, **axes: Any) -> Recipe:
        """This recipe with other values on some axes. A word of `SHAPE` that has no meaning under them goes."""
        for name in axes:
            if name not in AXES:
                raise TokentuiError("no such axis", name, nearest(name, AXES))
        kept: dict[str, Any] = {}
        if axes.get("unit") == "byte":
            kept["coverage"] = 1.0
        if axes.get("split") in _SPACELESS:
            kept["prefix_space"] = None
        return dataclasses.replace(self, **kept, **axes)

    def to_dict(self) -> dict[str, Any]:
        """The axes by name, lists as lists: what a tokenizer file holds."""
        return {name: list(v) if isinstance(v := getattr(self, name), tuple) else v for name in AXES}

    @classmethod
    def from_dict(cls, axes: Mapping[str, Any], where: str = "recipe") -> Recipe:
        """A recipe from named axes and words of `SHAPE`; what is absent takes its default."""
        if not isinstance(axes, Mapping):
            raise TokentuiError(f"axes and their values belong here, not {shown(axes)}", where, "hand in a dict")
        for name, value in axes.items():
            if name in SHAPE:
                continue
            if name not in AXES:
                raise TokentuiError(f"no axis {name!r}", where, nearest(str(name), AXES))
            listed = isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
            if not (isinstance(value, str) or (name == "normalize" and listed)):
                what = f"axis {name!r} takes text, not {type(value).__name__}"
                raise TokentuiError(what, where, f"such as {name} = {_example(name)}")
        return cls(**axes)

    def to_toml(self) -> str:
        """A recipe file: flat TOML, an axis a line, and a word of `SHAPE` a line where it is not the default."""
        return "".join(f"{name} = {_toml(value)}\n" for name, value in (self.to_dict() | self.shape).items())

    @classmethod
    def from_toml(cls, text: str, where: str = "recipe") -> Recipe:
        """The recipe that a recipe file says."""
        import tomllib  # only a recipe file needs it

        try:
            axes = tomllib.loads(name_of(text, where))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise TokentuiError(f"not a recipe file: {error}", where, 'write an axis a line, such as split = "gpt2"') from None
        return cls.from_dict(axes, where)


def _example(name: str) -> str:
    return '["nfkc"]' if name == "normalize" else json.dumps(next(iter(AXES[name].values)))


def _toml(value: Any) -> str:
    # A TOML basic string escapes as JSON does, but for DEL, which JSON leaves as it is.
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _check_value(name: str, value: Any) -> None:
    axis = AXES[name]
    if isinstance(value, str):
        head, colon, text = value.partition(":")
        if colon and head + colon in axis.values:
            if not text:
                hint = f"such as {head}:{_SAMPLE_TEXT[head]}"
                raise TokentuiError(f"{head}: wants text after the colon", f"{name}={value}", hint)
            if "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
                raise TokentuiError("a text cannot hold NUL or half a surrogate pair", f"{name}={head}:…", "leave it out")
            return
        if value in axis.values and not value.endswith(":"):
            return
    raise TokentuiError(f"no value {shown(value)}", name, nearest(value if isinstance(value, str) else "", axis.names()))


def _share(value: Any) -> float:
    """A coverage as a number that is one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise TokentuiError("a share above 0 and at most 1 is wanted", f"coverage={value}", "such as 0.9995")
    return float(value)


def _texts(value: Any) -> tuple[str, ...]:
    """Symbols as texts that can be found."""
    if isinstance(value, str) or not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise TokentuiError("a list of texts is wanted", "symbols", 'such as ["<sep>"]')
    for place, one in enumerate(value):
        if not one:
            raise TokentuiError("a symbol cannot be empty", "symbols", "leave it out")
        if "\0" in one or any("\ud800" <= c <= "\udfff" for c in one):
            raise TokentuiError("a text cannot hold NUL or half a surrogate pair", "symbols", "leave it out")
        if one in value[:place]:
            raise TokentuiError("named twice", f"symbol {one}", "name it once")
    return tuple(value)


_SAMPLE_TEXT = {"regex": r"\p{L}+", "end-symbol": "</w>", "end-suffix": "</w>", "prefix": "##"}

# What makes no sense together: (axis named, when, what is wrong, the nearest thing that works).
_SENSELESS: tuple[tuple[str, Any, str, str], ...] = (
    ("encode", lambda r: r.encode == "viterbi" and r.objective != "unigram",
     "the most probable segmentation needs probabilities, which only objective=unigram has", "take encode=merges"),
    ("encode", lambda r: r.objective == "unigram" and r.encode != "viterbi",
     "a unigram model is encoded by its probabilities", "take encode=viterbi"),
    ("base", lambda r: r.base in ("bytes", "gpt2-bytes") and r.unit != "byte",
     "a base of bytes needs unit=byte", "take base=sorted, or unit=byte"),
    ("unknown", lambda r: r.unknown == "never" and r.base not in ("bytes", "gpt2-bytes"),
     "a unit that the corpus lacks can come", "take unknown=error, or unit=byte with base=bytes"),
    ("unknown", lambda r: r.unknown == "byte-fallback" and r.unit == "byte",
     "the units are bytes already", "take base=bytes with unknown=never, or unit=char"),
    ("unknown", lambda r: r.unknown == "pass-through" and r.encode != "merges",
     "only merges leave a piece without an id as it is", "take unknown=per-unit"),
    ("pieces", lambda r: r.pieces.startswith("sentencepiece") and r.unit == "byte",
     "the filter looks at characters", "take pieces=any, or unit=char"),
    ("objective", lambda r: r.objective == "gage" and (r.unit, r.split, r.mark) != ("byte", "none", "none"),
     "Gage's compression works on the bytes of the whole text", "take unit=byte, split=none and mark=none"),
    ("base", lambda r: r.objective == "gage" and r.base != "bytes",
     "the ids of Gage's compression are byte values", "take base=bytes"),
    ("encode", lambda r: r.objective == "gage" and r.encode != "merges",
     "Gage's compression replaces pair by pair", "take encode=merges"),
    ("base", lambda r: r.base == "frequency" and r.unit == "byte",
     "the ids of a base that comes after the merges are for characters", "take base=bytes, or unit=char"),
)

_SPACELESS = ("whitespace", "space", "words", "bert")
"""The splits that drop spaces."""

_SENSELESS_SHAPES: tuple[tuple[str, Any, str, str], ...] = (
    ("coverage", lambda r: r.coverage < 1 and r.unit == "byte",
     "a coverage is of characters, and the units are bytes", "take coverage=1, or unit=char"),
    ("symbols", lambda r: bool(r.symbols) and r.objective == "gage",
     "Gage's compression works on the bytes of the whole text", "leave the symbols out"),
    ("prefix_space", lambda r: r.spaced and (r.split in _SPACELESS or r.objective == "gage"),
     "a space in front would be dropped, or is no part of the text", "take split=gpt2 or split=metaspace"),
)


class Ending(NamedTuple):
    """Where a run ends, as far as that is known.

    `step` is None where nobody knows. `kind` says what the step is: `last` (there is no step after it), `stop` (the stops end the
    run there and the run comes so far), `at most` (the stops end it there unless no pair is left before), `about` (an estimate),
    `open` (not known).
    """

    step: int | None = None
    kind: str = "open"

    @property
    def exact(self) -> bool:
        """Whether the run ends at this very step."""
        return self.kind in ("last", "stop")
