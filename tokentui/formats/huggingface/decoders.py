"""The decoders of a `tokenizer.json`, by their type: from the names of tokens to parts of a text.

Bytes that are not UTF-8 are carried as lone surrogates ("surrogateescape"), so that nothing is lost on the way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tokentui.formats import letters
from tokentui.formats.checking import Place
from tokentui.formats.huggingface.normalizers import component, flag, listed
from tokentui.formats.huggingface.pre_tokenizers import metaspace_of
from tokentui.formats.huggingface.strings import pattern_of
from tokentui.formats.limits import check_growth
from tokentui.text.split import to_bytes

Step = Callable[[list[str]], list[str]]
BYTE_TOKEN = re.compile("<0x([0-9A-Fa-f]{2})>")
"""The name of a byte-fallback token."""


def decoder(spec: Any, place: Place) -> Callable[[Sequence[str]], bytes]:
    """From the names of tokens to the bytes of the text. Without a decoder the names are joined by spaces.

    Raises:
        TokentuiError: It is damaged, or of a type that is not known.
    """
    if spec is None:
        return lambda names: to_bytes(" ".join(names))
    step = _step(spec, place, 0)
    return lambda names: to_bytes("".join(step(list(names))))


def _step(spec: Any, place: Place, depth: int) -> Step:
    kind, make = component(spec, place, TYPES, depth)
    made: Step = make(spec, place.key(kind), depth)
    return made


def _sequence(spec: dict[str, Any], place: Place, depth: int) -> Step:
    steps = [_step(one, place, depth + 1) for one in listed(spec, "decoders", place)]

    def run(parts: list[str]) -> list[str]:
        length = sum(map(len, parts))
        for step in steps:
            parts = step(parts)
            check_growth(length + len(parts), sum(map(len, parts)), place)
        return parts

    return run


def _byte_level(spec: dict[str, Any], place: Place, depth: int) -> Step:
    return lambda parts: [b"".join(map(letters.spelled, parts)).decode("utf-8", "surrogateescape")]


_CLEANED = ((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"),
            (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"))


def _clean(text: str) -> str:
    for before, after in _CLEANED:
        text = text.replace(before, after)
    return text


def _wordpiece(spec: dict[str, Any], place: Place, depth: int) -> Step:
    prefix, cleanup = place.key("prefix").text(spec.get("prefix")), flag(spec, "cleanup", place)

    def run(parts: list[str]) -> list[str]:
        joined = [
            part if n == 0 else part[len(prefix) :] if part.startswith(prefix) else " " + part for n, part in enumerate(parts)
        ]
        return [_clean(part) for part in joined] if cleanup else joined

    return run


def _metaspace(spec: dict[str, Any], place: Place, depth: int) -> Step:
    replacement, scheme, _ = metaspace_of(spec, place)
    return lambda parts: [
        part.replace(replacement, "" if n == 0 and scheme != "never" else " ") for n, part in enumerate(parts)
    ]


def _bpe(spec: dict[str, Any], place: Place, depth: int) -> Step:
    suffix = place.key("suffix").text(spec.get("suffix"))
    return lambda parts: [
        part.replace(suffix, "" if n == len(parts) - 1 else " ") if suffix else part for n, part in enumerate(parts)
    ]


def _byte_fallback(spec: dict[str, Any], place: Place, depth: int) -> Step:
    def run(parts: list[str]) -> list[str]:
        out: list[str] = []
        data = bytearray()
        for part in [*parts, None]:
            match = BYTE_TOKEN.fullmatch(part) if part is not None else None
            if match:
                data.append(int(match[1], 16))
                continue
            if data:
                out.append(broken(bytes(data)))
                data.clear()
            if part is not None:
                out.append(part)
        return out

    return run


def broken(data: bytes) -> str:
    """The text of a run of byte tokens: where it is not UTF-8 as a whole, each byte by itself."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(chr(0xDC00 + value) if value >= 0x80 else "\ufffd" for value in data)


def _strip(spec: dict[str, Any], place: Place, depth: int) -> Step:
    content = place.key("content").text(spec.get("content"))
    start, stop = place.key("start").number(spec.get("start")), place.key("stop").number(spec.get("stop"))

    def cut(part: str) -> str:
        left = min(start, len(part) - len(part.lstrip(content)))
        right = min(stop, len(part) - len(part.rstrip(content)))
        return part[left : max(len(part) - right, left)]

    return lambda parts: [cut(part) for part in parts] if content else parts


def _replace(spec: dict[str, Any], place: Place, depth: int) -> Step:
    find = pattern_of(spec.get("pattern"), place.key("pattern"))
    content = place.key("content").text(spec.get("content"))

    def replaced(part: str) -> str:
        out, at = [], 0
        found = list(find(part))
        check_growth(len(part), len(found) * len(content), place)
        for start, end in found:
            out += [part[at:start], content]
            at = end
        return "".join(out) + part[at:]

    return lambda parts: [replaced(part) for part in parts]


def _ctc(spec: dict[str, Any], place: Place, depth: int) -> Step:
    pad = place.key("pad_token").text(spec.get("pad_token"))
    delimiter = place.key("word_delimiter_token").text(spec.get("word_delimiter_token"))
    cleanup = flag(spec, "cleanup", place)

    def run(parts: list[str]) -> list[str]:
        single = [part for n, part in enumerate(parts) if n == 0 or part != parts[n - 1]]
        bare = [part.replace(pad, "") if pad else part for part in single]
        if cleanup:
            bare = [_clean(part).replace(delimiter, " ") if delimiter else _clean(part) for part in bare]
        return [part for part in bare if part]

    return run


TYPES: dict[str, Callable[[dict[str, Any], Place, int], Step]] = {
    "Sequence": _sequence,
    "ByteLevel": _byte_level,
    "WordPiece": _wordpiece,
    "Metaspace": _metaspace,
    "BPEDecoder": _bpe,
    "ByteFallback": _byte_fallback,
    "Fuse": lambda spec, place, depth: lambda parts: ["".join(parts)],
    "Strip": _strip,
    "Replace": _replace,
    "CTC": _ctc,
}
"""What makes each type of decoder."""
