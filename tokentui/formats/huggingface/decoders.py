"""The decoders of a `tokenizer.json`, which turn names of tokens into parts of a text, and its
post-processors.

Bytes that are not UTF-8 are lone surrogates ("surrogateescape") until the end, so that no byte is lost.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from tokentui.core.safetext import to_bytes
from tokentui.encode.vocabulary import NOTHING, Apart, NameDecoder
from tokentui.formats.huggingface import MOST_GROWTH, AlignedText, Pattern, check_growth
from tokentui.formats.huggingface.steps import DecoderStep, kind, replaced
from tokentui.formats.source import Node
from tokentui.formats.tokens import spelled

_MOST_AROUND = 1_000
_BYTE_TOKEN = re.compile("<0x[0-9A-Fa-f]{2}>")
_CLEANED = ((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"),
            (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"))


_APART = {"Replace", "Strip", "WordPiece", "Metaspace", "BPEDecoder"}
"""The steps that change each part alone, by whether it is the first, the last or another one."""
_ANYWHERE = {"Replace", "Strip"}
"""Those that do not ask where the part is."""


def name_decoder(step: DecoderStep | None) -> NameDecoder:
    """Return the decoder of a `tokenizer.json`. Without a step the names are joined by spaces."""
    return NameDecoder(functools.partial(_decoded, step), functools.partial(_apart, step))


def _decoded(step: DecoderStep | None, names: Sequence[str]) -> bytes:
    return to_bytes(" ".join(names) if step is None else "".join(step(list(names))))


def _apart(step: DecoderStep | None) -> Apart | None:
    """Return how each name alone is turned into a part of the text; None if its neighbors matter."""
    if step is None:
        return Apart(functools.partial(_spelled_apart, (_spaced_apart,), _strictly, False))
    steps = step.steps if step.kind == "Sequence" else (step,)
    each = tuple(itertools.takewhile(_is_apart, steps))
    rest = steps[len(each) :]
    falls = bool(rest) and rest[0].kind == "ByteFallback"
    join, after = [step.kind for step in rest[falls : falls + 1]], rest[falls + 1 :]
    letters = join == ["ByteLevel"] and not falls
    if not letters and join not in ([], ["Fuse"]):
        return None
    # A step afterwards may make the text shorter, but not longer, which a sequence limits.
    if not {step.kind for step in after} <= {"Strip", "Fuse"}:
        return None
    if falls and not {step.kind for step in each} <= _ANYWHERE:
        return None
    spell = functools.partial(_spelled_apart, each, spelled if letters else _strictly, falls)
    if falls and spell([NOTHING]) != [NOTHING.encode()]:
        return None
    return Apart(spell, functools.partial(_finished, after) if after else None, falls)


def _is_apart(step: DecoderStep) -> bool:
    """Return whether a step changes each part alone, and fast enough for all names of a vocabulary."""
    if step.kind == "Replace":
        pattern = step.parameters["pattern"]
        return isinstance(pattern, Pattern) and pattern.kind == "String" and bool(pattern.text)
    return step.kind in _APART


def _spaced_apart(parts: list[str]) -> list[str]:
    return parts[:1] + [" " + part for part in parts[1:]]


def _strictly(part: str) -> bytes | None:
    """Return the UTF-8 of a part; None if it has surrogates, which could become one character with those of
    another part."""
    try:
        return part.encode()
    except UnicodeEncodeError:
        return None


def _spelled_apart(
    steps: Sequence[Callable[[list[str]], list[str]]], encoded: Callable[[str], bytes | None], falls: bool,
    names: Sequence[str],
) -> list[bytes | None]:
    """Return the bytes of each name of a text, see `Apart`.

    Args:
        steps: The steps that change each name.
        encoded: Returns the bytes of a changed name.
        falls: True if byte tokens are decoded afterwards.
        names: The names.
    """
    parts, left = list(names), set[int]()
    least = MOST_GROWTH * min(map(len, names), default=0)
    for step in steps:
        parts = step(parts)
        if max(map(len, parts), default=0) > least:  # the limit of a sequence holds if it holds for each name
            left.update(
                n for n, (name, part) in enumerate(zip(names, parts, strict=True))
                if len(part) > MOST_GROWTH * len(name)
            )
    if falls:  # a step must not make or change the name of a byte
        left.update(
            n for n, (name, part) in enumerate(zip(names, parts, strict=True))
            if name != part and (_BYTE_TOKEN.fullmatch(name) or _BYTE_TOKEN.fullmatch(part))
        )
    spelled_: list[bytes | None] = list(map(encoded, parts))
    for n in left:
        spelled_[n] = None
    return spelled_


def _finished(steps: Sequence[DecoderStep], text: str) -> str:
    for step in steps:
        (text,) = step([text])
    return text


T = TypeVar("T")


def _each(parts: Sequence[str], change: Callable[[str], T]) -> list[T]:
    """Apply a function to each part. Equal parts, which a long text has many of, are computed once."""
    if len(parts) == 1:  # to find out that a whole text has no equal takes longer
        return [change(parts[0])]
    changed = {part: change(part) for part in dict.fromkeys(parts)}
    return list(map(changed.__getitem__, parts))


@kind("decoders", "Sequence")
def _decoded_in_a_row(parts: list[str], decoders: tuple[DecoderStep, ...], where: str) -> list[str]:
    """Apply the decoders in order. Raises where the text grows beyond what a file may make it."""
    length = sum(map(len, parts))
    for step in decoders:
        parts = step(parts)
        check_growth(length + len(parts), sum(map(len, parts)), where)
    return parts


@kind("decoders", "ByteLevel")
def _from_letters(
    parts: list[str], add_prefix_space: bool = True, trim_offsets: bool = True, use_regex: bool = True
) -> list[str]:
    return [b"".join(_each(parts, spelled)).decode("utf-8", "surrogateescape")]


def clean_up(text: str) -> str:
    for before, after in _CLEANED:
        text = text.replace(before, after)
    return text


@kind("decoders", "WordPiece")
def _spaced(parts: list[str], prefix: str, cleanup: bool) -> list[str]:
    """Put a space before each part but the first, unless it begins with the prefix, which goes.

    With `cleanup`, each part then loses the spaces before punctuation.
    """
    clean = clean_up if cleanup else str

    def joined(part: str) -> str:
        return clean(part[len(prefix) :] if part.startswith(prefix) else " " + part)

    return [*map(clean, parts[:1]), *_each(parts[1:], joined)]


@kind("decoders", "Metaspace")
def _unmarked(
    parts: list[str], replacement: str, prepend_scheme: str = "always", split: bool | None = True
) -> list[str]:
    head = " " if prepend_scheme == "never" else ""
    first = [part.replace(replacement, head) for part in parts[:1]]
    return first + _each(parts[1:], lambda part: part.replace(replacement, " "))


@kind("decoders", "BPEDecoder")
def _without_suffix(parts: list[str], suffix: str) -> list[str]:
    if not suffix:
        return parts
    last = [part.replace(suffix, "") for part in parts[-1:]]
    return _each(parts[:-1], lambda part: part.replace(suffix, " ")) + last


@kind("decoders", "ByteFallback")
def _from_byte_tokens(parts: list[str]) -> list[str]:
    """Join each run of byte tokens, such as `<0x0A>`, into one part of text."""
    byte_tokens = set(filter(_BYTE_TOKEN.fullmatch, set(parts)))
    if not byte_tokens:
        return parts
    out: list[str] = []
    for byte, run in itertools.groupby(parts, byte_tokens.__contains__):
        if byte:
            out.append(_of_bytes(bytes(int(part[3:5], 16) for part in run)))
        else:
            out += run
    return out


def _of_bytes(data: bytes) -> str:
    """Return the text of a run of byte tokens.

    If the run is not UTF-8 as a whole, each byte is one character: U+FFFD for ASCII, and for a byte from 0x80
    on the lone surrogate of `surrogateescape`, which keeps it.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(chr(0xDC00 + value) if value >= 0x80 else "\ufffd" for value in data)


@kind("decoders", "Fuse")
def _fused(parts: list[str]) -> list[str]:
    return ["".join(parts)]


@kind("decoders", "Strip")
def _stripped(parts: list[str], content: str, start: int, stop: int) -> list[str]:
    """Remove a character from each part: up to `start` at its front and up to `stop` at its end."""
    def cut(part: str) -> str:  # the part may be a whole text, of which `lstrip` would make a copy
        left, right = 0, len(part)
        while left < min(start, len(part)) and part[left] in content:
            left += 1
        while right > max(left, len(part) - stop) and part[right - 1] in content:
            right -= 1
        return part[left:right]

    return _each(parts, cut) if content else parts


@kind("decoders", "Replace")
def _replaced(parts: list[str], pattern: Pattern, content: str, where: str) -> list[str]:
    if pattern.kind == "String" and len(content) <= len(pattern.text):  # it makes no part longer
        return [part.replace(pattern.text, content) for part in parts]
    return _each(parts, lambda part: replaced(AlignedText.typed(part), pattern, content, where).text)


@kind("decoders", "CTC")
def _without_padding(parts: list[str], pad_token: str, word_delimiter_token: str, cleanup: bool) -> list[str]:
    """Drop repeats of a part, padding, and parts that become empty, as CTC does.

    Only with `cleanup`, the delimiter becomes a space and spaces before punctuation go.
    """
    single = [part for n, part in enumerate(parts) if n == 0 or part != parts[n - 1]]
    bare = [part.replace(pad_token, "") if pad_token else part for part in single]
    if cleanup:
        bare = _each(bare, clean_up)
        if word_delimiter_token:
            bare = [part.replace(word_delimiter_token, " ") for part in bare]
    return list(filter(None, bare))


# --- post-processors ---


class Around(NamedTuple):
    """The tokens that a post-processor puts around one text.

    Attributes:
        before: The names of the special tokens before it.
        after: The names of the special tokens after it.
        notes: Sentences on doubts.
    """

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_around(node: Node) -> Around:
    """Return the special tokens that a post-processor puts around one text.

    Raises:
        TokentuiError: It is damaged, or has an unknown type.
    """
    around = Around()
    if node.value is None:
        return around
    match node["type"].value:
        case "ByteLevel":
            return around
        case "BertProcessing" | "RobertaProcessing":
            return Around((_named(node["cls"]),), (_named(node["sep"]),))
        case "TemplateProcessing":
            return _template(node)
        case "Sequence":
            for processor in node["processors"].inner():
                before, after, notes = read_around(processor)
                around = Around(before + around.before, around.after + after, around.notes + notes)
            return around
        case other:
            known = "BertProcessing, RobertaProcessing, TemplateProcessing, ByteLevel, Sequence"
            raise node.error(f"{str(other)[:40]!r} is not a supported type", f"one of: {known}")


def _named(node: Node) -> str:
    token, number = node.fields("TOKEN", "ID")
    number.number()
    return token.text()


def _template(node: Node) -> Around:
    """Return the tokens that a template puts before and after a text.

    A text that it holds twice is taken once, with a note. Raises for more than _MOST_AROUND tokens.
    """
    sides: tuple[list[str], list[str]] = ([], [])
    behind = 0
    for item in node["single"].inner():
        if "Sequence" in item:
            behind += 1
            continue
        name = Node(item["SpecialToken"].mapping().get("id"), "single", node).text()
        row = Node(node["special_tokens"].mapping({}).get(name), "special_tokens", node)
        sides[min(behind, 1)].extend(token.text() for token in row["tokens"].inner())
        if len(sides[0]) + len(sides[1]) > _MOST_AROUND:
            raise node.error(f"more than {_MOST_AROUND:,} tokens around a text")
    notes = () if behind == 1 else (f"the template holds the text {behind} times: it is taken once",)
    return Around(tuple(sides[0]), tuple(sides[1]), notes)


def around_json(
    before: tuple[str, ...], after: tuple[str, ...], specials: dict[str, int]
) -> dict[str, object] | None:
    """Return the post-processor that puts special tokens around a text, as JSON; None if there are no such
    tokens."""
    if not before and not after:
        return None

    def pieces(texts: str) -> list[object]:
        out: list[object] = [{"SpecialToken": {"id": name, "type_id": 0}} for name in before]
        for number, text in enumerate(texts):
            out.append({"Sequence": {"id": text, "type_id": number}})
            out += [{"SpecialToken": {"id": name, "type_id": number}} for name in after]
        return out

    named = {name: {"id": name, "ids": [specials[name]], "tokens": [name]} for name in (*before, *after)}
    return {"type": "TemplateProcessing", "single": pieces("A"), "pair": pieces("AB"),
            "special_tokens": named}
