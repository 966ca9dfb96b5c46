"""The normalizers of a `tokenizer.json`, by their type."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

from tokentui.formats.charsmap import Charsmap
from tokentui.formats.checking import Place
from tokentui.formats.huggingface.strings import Bare, Normalizer, Text, pattern_of
from tokentui.formats.letters import letters
from tokentui.formats.limits import check_growth
from tokentui.text import bert
from tokentui.text.normalize import NORMALIZERS, Stage, bert_strip_accents, lowercase, strip_accents
from tokentui.text.split import to_bytes

MAX_DEPTH = 32
"""How deep sequences may stand in sequences."""


def normalizer(spec: Any, place: Place, depth: int = 0) -> Normalizer:
    """The normalizer of its JSON value.

    Raises:
        TokentuiError: It is damaged, or of a type that is not known.
    """
    kind, make = component(spec, place, TYPES, depth)
    at = place.key(kind)
    made: Normalizer = make(spec, at, depth)

    def checked(text: Text) -> Text:
        normal = made(text)
        check_growth(len(text.text), len(normal.text), at)
        return normal

    return checked


def component(spec: Any, place: Place, types: dict[str, Any], depth: int) -> tuple[str, Any]:
    """The type of a component and what makes it."""
    if depth > MAX_DEPTH:
        raise place.error("sequences stand too deep in one another")
    kind = place.mapping(spec).get("type")
    if not isinstance(kind, str) or kind not in types:
        raise place.error(f"{str(kind)[:40]!r} is no type that this version reads", "one of: " + ", ".join(types))
    return kind, types[kind]


def flag(spec: dict[str, Any], name: str, place: Place, default: bool | None = None) -> bool:
    """A true or false of a component."""
    value = spec.get(name, default)
    if not isinstance(value, bool):
        raise place.error(f'"{name}" is true or false' if name in spec else f'"{name}" is missing')
    return value


def listed(spec: dict[str, Any], name: str, place: Place) -> list[Any]:
    """A list of components."""
    value = spec.get(name)
    if not isinstance(value, list):
        raise place.error(f'"{name}" is no list')
    return value


def _sequence(spec: dict[str, Any], place: Place, depth: int) -> Normalizer:
    steps = [normalizer(one, place, depth + 1) for one in listed(spec, "normalizers", place)]

    def run(text: Text) -> Text:
        length = len(text.text)
        for step in steps:
            text = step(text)
            check_growth(length, len(text.text), place)
        return text

    return run


def _plain(stage: Stage) -> Callable[[dict[str, Any], Place, int], Normalizer]:
    return lambda spec, place, depth: lambda text: text.passed(stage)


_CLEANED = re.compile(f"[{bert.DROPPED}]")
_IDEOGRAPHS = re.compile(f"([{bert.IDEOGRAPHS}])")
_SPACES = re.compile(f"[{bert.SPACES}]")


def _bert(spec: dict[str, Any], place: Place, depth: int) -> Normalizer:
    lower = flag(spec, "lowercase", place)
    accents = spec.get("strip_accents")
    stages: list[Stage] = []
    if flag(spec, "clean_text", place):
        stages.append(lambda text: _SPACES.sub(" ", _CLEANED.sub("", text)))
    if flag(spec, "handle_chinese_chars", place):
        stages.append(lambda text: _IDEOGRAPHS.sub(r" \1 ", text))
    if lower if accents is None else flag(spec, "strip_accents", place):
        stages.append(bert_strip_accents)
    if lower:
        stages.append(lowercase)

    def run(text: Text) -> Text:
        for stage in stages:
            text = text.passed(stage)
        return text

    return run


def _strip(spec: dict[str, Any], place: Place, depth: int) -> Normalizer:
    left, right = flag(spec, "strip_left", place), flag(spec, "strip_right", place)

    def run(text: Text) -> Text:
        start, end = 0, len(text.text)
        while left and start < end and _SPACES.match(text.text[start]):
            start += 1
        while right and end > start and _SPACES.match(text.text[end - 1]):
            end -= 1
        return text.part(start, end)

    return run


def _replace(spec: dict[str, Any], place: Place, depth: int) -> Normalizer:
    find = pattern_of(spec.get("pattern"), place.key("pattern"))
    content = place.key("content").text(spec.get("content"))

    def run(text: Text) -> Text:
        found = list(find(text.text))
        check_growth(len(text.text), len(found) * len(content), place)
        return text.replaced(found, content)

    return run


def _prepend(spec: dict[str, Any], place: Place, depth: int) -> Normalizer:
    prefix = place.key("prepend").text(spec.get("prepend"))

    def run(text: Text) -> Text:
        check_growth(len(text.text), len(prefix), place)
        return text.prepended(prefix) if text.text else text

    return run


def byte_letters(text: Text) -> Text:
    """Each byte as its letter."""
    if isinstance(text, Bare):
        return text.respelled(letters(to_bytes(text.text)))
    return text.edited((letters(to_bytes(character)), n, n + 1) for n, character in enumerate(text.text))


_NMT_DROPPED = re.compile("[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]")
_NMT_SPACES = re.compile("[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]")


def _precompiled(spec: dict[str, Any], place: Place, depth: int) -> Normalizer:
    place = place.key("precompiled_charsmap")
    try:
        blob = base64.b64decode(place.text(spec.get("precompiled_charsmap") or ""), validate=True)
    except (binascii.Error, ValueError):
        raise place.error("not base64") from None
    charsmap = Charsmap(blob, place) if blob else None
    if charsmap is None:
        return lambda text: text

    def run(text: Text) -> Text:
        made, pieces = 0, []
        for piece in charsmap.by_grapheme(text.text):
            pieces.append(piece)
            made += len(piece[0])
            if made > len(text.text):
                check_growth(len(text.text), made, place)
        return text.edited(pieces)

    return run


TYPES: dict[str, Callable[[dict[str, Any], Place, int], Normalizer]] = {
    "Sequence": _sequence,
    "BertNormalizer": _bert,
    "Strip": _strip,
    "StripAccents": _plain(strip_accents),
    "NFC": _plain(NORMALIZERS["nfc"][0]),
    "NFD": _plain(NORMALIZERS["nfd"][0]),
    "NFKC": _plain(NORMALIZERS["nfkc"][0]),
    "NFKD": _plain(NORMALIZERS["nfkd"][0]),
    "Lowercase": _plain(lowercase),
    "Nmt": _plain(lambda text: _NMT_SPACES.sub(" ", _NMT_DROPPED.sub("", text))),
    "Precompiled": _precompiled,
    "Replace": _replace,
    "Prepend": _prepend,
    "ByteLevel": lambda spec, place, depth: byte_letters,
}
"""What makes each type of normalizer."""

_AXES = {"NFC": "nfc", "NFD": "nfd", "NFKC": "nfkc", "NFKD": "nfkd", "Lowercase": "lowercase", "StripAccents": "strip-accents"}


def axis_of(spec: Any) -> tuple[str, ...] | None:
    """The value of the axis `normalize` that does the same, None where there is none."""
    if spec is None:
        return ()
    kind = spec["type"]
    if kind == "Sequence":
        steps = [axis_of(one) for one in spec["normalizers"]]
        return None if None in steps else tuple(one for step in steps for one in step or ())
    if kind == "BertNormalizer" and spec["clean_text"] and spec["handle_chinese_chars"]:
        accents = spec.get("strip_accents")
        if accents is None or accents == spec["lowercase"]:
            return ("bert-uncased",) if spec["lowercase"] else ("bert-cased",)
    return (_AXES[kind],) if kind in _AXES else None


