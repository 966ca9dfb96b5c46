"""The pre-tokenizers of a `tokenizer.json`, by their type."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import regex

from tokentui.formats.checking import Place
from tokentui.formats.huggingface.normalizers import byte_letters, component, flag, listed
from tokentui.formats.huggingface.scripts import by_script
from tokentui.formats.huggingface.strings import BEHAVIOURS, Splitting, Text, class_finder, finder, pattern_of, split
from tokentui.formats.limits import check_growth
from tokentui.formats.oniguruma import translated
from tokentui.formats.oniguruma.known import pattern_of as pattern_of_split
from tokentui.text import bert
from tokentui.text.split import SPLITS

GPT2 = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
_WORD_CHARACTERS = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]"
_WHITESPACE = regex.compile(rf"{_WORD_CHARACTERS}+|[^{_WORD_CHARACTERS[1:-1]}\s]+")


def pre_tokenizer(spec: Any, place: Place, depth: int = 0) -> Splitting:
    """The pre-tokenizer of its JSON value: from a string to its parts, none of them empty.

    Raises:
        TokentuiError: It is damaged, or of a type that is not known.
    """
    kind, make = component(spec, place, TYPES, depth)
    made: Splitting = make(spec, place.key(kind), depth)
    return made


def _sequence(spec: dict[str, Any], place: Place, depth: int) -> Splitting:
    steps = [pre_tokenizer(one, place, depth + 1) for one in listed(spec, "pretokenizers", place)]

    def run(text: Text) -> list[Text]:
        parts = [text]
        for step in steps:
            parts = [made for part in parts for made in step(part)]
            check_growth(len(text.text), sum(len(part.text) for part in parts), place)
        return parts

    return run


def _behaviour(spec: dict[str, Any], place: Place, default: str | None = None) -> str:
    value = spec.get("behavior", default)
    if not isinstance(value, str) or value not in BEHAVIOURS:
        raise place.key("behavior").error("no such behaviour", "one of: " + ", ".join(BEHAVIOURS))
    return value


def _character(spec: dict[str, Any], name: str, place: Place) -> str:
    value = place.key(name).text(spec.get(name))
    if len(value) != 1:
        raise place.key(name).error("one character belongs here")
    return value


def _byte_level(spec: dict[str, Any], place: Place, depth: int) -> Splitting:
    prefix, use_regex = flag(spec, "add_prefix_space", place), flag(spec, "use_regex", place, True)
    find = finder(GPT2, place)

    def run(text: Text) -> list[Text]:
        if prefix and not text.text.startswith(" "):
            text = text.prepended(" ")
        return [byte_letters(part) for part in (split(text, find, "Isolated") if use_regex else [text])]

    return run


def metaspace_of(spec: dict[str, Any], place: Place) -> tuple[str, str, bool]:
    """(replacement, prepend scheme, whether it splits) of a Metaspace, in its old and its new form.

    Raises:
        TokentuiError: The two contradict each other.
    """
    replacement = _character(spec, "replacement", place)
    scheme = spec.get("prepend_scheme", "always")
    if scheme not in ("first", "never", "always"):
        raise place.key("prepend_scheme").error("no such scheme", "one of: first, never, always")
    old = spec.get("add_prefix_space")
    if old is False:
        if scheme != "never" and "prepend_scheme" in spec:
            raise place.error('"add_prefix_space" and "prepend_scheme" contradict each other', "leave one of them out")
        if "prepend_scheme" not in spec:
            raise place.error('"add_prefix_space" is false without "prepend_scheme": "never"', "write both")
        scheme = "never"
    parts = spec.get("split")
    return replacement, scheme, True if parts is None else flag(spec, "split", place)


def _metaspace(spec: dict[str, Any], place: Place, depth: int) -> Splitting:
    replacement, scheme, parts = metaspace_of(spec, place)
    find = finder(regex.compile(regex.escape(replacement)), place)

    def run(text: Text) -> list[Text]:
        text = text.respelled(text.text.replace(" ", replacement))
        if not text.text.startswith(replacement) and (scheme == "always" or (scheme == "first" and text.starts[0] == 0)):
            text = text.prepended(replacement)
        return split(text, find, "MergedWithNext") if parts and replacement in text.text[1:] else [text]

    return run


def _split(spec: dict[str, Any], place: Place, depth: int) -> Splitting:
    find = pattern_of(spec.get("pattern"), place.key("pattern"))
    behaviour, invert = _behaviour(spec, place), flag(spec, "invert", place)
    return lambda text: split(text, find, behaviour, invert)


def _classes(characters: str, behaviour: str | None, engine: Any = re) -> Callable[[dict[str, Any], Place, int], Splitting]:
    def make(spec: dict[str, Any], place: Place, depth: int) -> Splitting:
        asked = behaviour or _behaviour(spec, place, "Isolated")
        find = class_finder(characters, engine)
        return lambda text: split(text, find, asked)

    return make


def _bert(spec: dict[str, Any], place: Place, depth: int) -> Splitting:
    spaces, punctuation = class_finder(bert.SPACES, re), class_finder(bert.PUNCTUATION, re)
    return lambda text: [
        part for word in split(text, spaces, "Removed") for part in split(word, punctuation, "Isolated")
    ]


def _digits(spec: dict[str, Any], place: Place, depth: int) -> Splitting:
    behaviour = "Isolated" if flag(spec, "individual_digits", place) else "Contiguous"
    find = class_finder(r"\p{N}")
    return lambda text: split(text, find, behaviour)


def _delimiter(spec: dict[str, Any], place: Place, depth: int) -> Splitting:
    find = class_finder(regex.escape(_character(spec, "delimiter", place)))
    return lambda text: split(text, find, "Removed")


def _fixed_length(spec: dict[str, Any], place: Place, depth: int) -> Splitting:
    length = place.key("length").number(spec.get("length", 5))
    if not length:
        raise place.key("length").error("a length is at least 1")
    return lambda text: [text.part(at, min(at + length, len(text.text))) for at in range(0, len(text.text), length)]


def _words(spec: dict[str, Any], place: Place, depth: int) -> Splitting:
    find = finder(_WHITESPACE, place)
    return lambda text: split(text, find, "Removed", invert=True)


TYPES: dict[str, Callable[[dict[str, Any], Place, int], Splitting]] = {
    "Sequence": _sequence,
    "ByteLevel": _byte_level,
    "Metaspace": _metaspace,
    "Split": _split,
    "Whitespace": _words,
    "WhitespaceSplit": _classes(bert.SPACES, "Removed"),
    "BertPreTokenizer": _bert,
    "Punctuation": _classes(bert.PUNCTUATION, None),
    "Digits": _digits,
    "CharDelimiterSplit": _delimiter,
    "FixedLength": _fixed_length,
    "UnicodeScripts": lambda spec, place, depth: by_script,
}
"""What makes each type of pre-tokenizer."""

_FALCON: list[dict[str, Any]] = [
    {"type": "Punctuation", "behavior": "Contiguous"}, {"type": "ByteLevel"}, {"type": "Digits", "individual_digits": False},
    {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated", "invert": False},
]


def axis_of(spec: Any) -> str | None:
    """The value of the axis `split` that does the same, None where there is none."""
    if spec is None:
        return "none"
    kind = spec["type"]
    if kind == "ByteLevel" and not spec["add_prefix_space"]:
        return "gpt2" if spec.get("use_regex", True) else "none"
    if kind == "Sequence":
        return _axis_of_sequence(spec["pretokenizers"])
    return {"BertPreTokenizer": "bert", "WhitespaceSplit": "whitespace"}.get(kind)


def _axis_of_sequence(steps: list[Any]) -> str | None:
    if len(steps) == 1:
        return axis_of(steps[0])
    kinds = [one["type"] for one in steps]
    if kinds == ["Split", "ByteLevel"] and axis_of(steps[1]) == "none":
        name = _known_split(steps[0])
        if name is not None:
            return name
    if len(steps) == len(_FALCON) and axis_of(steps[1]) == "gpt2":
        kept = [{key: one.get(key) for key in like} for one, like in zip(steps, _FALCON, strict=True)]
        return "falcon" if kept == _FALCON else None
    return None


_KNOWN = ("space", "before", "gpt2", "cl100k", "cl100k-classic", "o200k", "llama3")


@functools.cache
def _known() -> dict[str, str]:
    """The splits whose pattern has the same meaning in both libraries, by what it becomes."""
    return {translated(pattern_of_split(name)): name for name in _KNOWN}


def _regex_of(spec: Any) -> str | None:
    """What the pattern of a Split that was checked becomes; None where it is mere text, or what it finds is joined to others."""
    pattern = spec["pattern"].get("Regex") if isinstance(spec["pattern"], dict) else None
    keeps = spec["behavior"] in ("Isolated", "Removed") and (spec["behavior"] == "Removed") == spec["invert"]
    return translated(pattern) if pattern and keeps else None


def _known_split(spec: Any) -> str | None:
    """The value of the axis that does the same as a Split."""
    name = _known().get(_regex_of(spec) or "")
    # Where a pattern's matches are all of the text, keeping the rest and dropping it are the same.
    return name if name is not None and (SPLITS[name].keeps_spaces or spec["invert"]) else None


def pattern_alone(spec: Any) -> str | None:
    """`regex:` and the pattern of the one step that cuts, None where there are others."""
    if not isinstance(spec, dict):
        return None
    steps = spec["pretokenizers"] if spec["type"] == "Sequence" else [spec]
    cutting = [one for one in steps if one["type"] != "ByteLevel" or one.get("use_regex", True) or one["add_prefix_space"]]
    if len(cutting) != 1 or cutting[0]["type"] != "Split":
        return None
    found = _regex_of(cutting[0])
    return f"regex:{found}" if found else None
