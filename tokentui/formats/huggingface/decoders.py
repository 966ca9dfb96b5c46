"""The decoders of a `tokenizer.json`, from the names of tokens to parts of a text, and its post-processors.

Bytes that are not UTF-8 are carried as lone surrogates ("surrogateescape"), so that nothing is lost on the
way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence as Listed
from dataclasses import dataclass
from typing import Any

from tokentui.formats import letters
from tokentui.formats.document import Node
from tokentui.formats.huggingface import steps
from tokentui.formats.huggingface.pre_tokenizers import SpaceMark
from tokentui.formats.huggingface.text import Pattern, check_growth
from tokentui.recipe import Recipe
from tokentui.text.split import SPACE_MARK, spaced, to_bytes

_BYTE_TOKEN = re.compile("<0x([0-9A-Fa-f]{2})>")


@dataclass(frozen=True)
class Decoder(steps.Step):
    """A step from parts of a text to other parts, at first the names of tokens."""

    def __call__(self, parts: list[str]) -> list[str]:
        """The parts after the step."""
        raise NotImplementedError


@dataclass(frozen=True)
class Sequence(Decoder):
    """Several steps, one after the other."""

    decoders: tuple[Decoder, ...]

    def __call__(self, parts: list[str]) -> list[str]:
        """The parts after all of them."""
        length = sum(map(len, parts))
        for step in self.decoders:
            parts = step(parts)
            check_growth(length + len(parts), sum(map(len, parts)), self.where)
        return parts


@dataclass(frozen=True)
class ByteLevel(Decoder):
    """The text of letters for bytes."""

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    def __call__(self, parts: list[str]) -> list[str]:
        """The one part that they are."""
        return [b"".join(map(letters.spelled, parts)).decode("utf-8", "surrogateescape")]


_CLEANED = ((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"),
            (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"))


def _clean(text: str) -> str:
    for before, after in _CLEANED:
        text = text.replace(before, after)
    return text


@dataclass(frozen=True)
class WordPiece(Decoder):
    """A space before each part that does not continue a word."""

    prefix: str
    cleanup: bool

    def __call__(self, parts: list[str]) -> list[str]:
        """The parts without prefixes."""
        prefix = self.prefix
        joined = [
            part if n == 0 else part[len(prefix) :] if part.startswith(prefix) else " " + part
            for n, part in enumerate(parts)
        ]
        return [_clean(part) for part in joined] if self.cleanup else joined


@dataclass(frozen=True)
class Metaspace(SpaceMark, Decoder):
    """Spaces for marks, and none for the one in front."""

    def __call__(self, parts: list[str]) -> list[str]:
        """The parts with spaces."""
        head = " " if self.prepend_scheme == "never" else ""
        return [part.replace(self.replacement, " " if n else head) for n, part in enumerate(parts)]


@dataclass(frozen=True)
class BPEDecoder(Decoder):
    """A space for each mark at the end of a word."""

    suffix: str

    def __call__(self, parts: list[str]) -> list[str]:
        """The parts without marks."""
        if not self.suffix:
            return parts
        return [part.replace(self.suffix, "" if n == len(parts) - 1 else " ") for n, part in enumerate(parts)]


class ByteFallback(Decoder):
    """The text of each run of byte tokens."""

    def __call__(self, parts: list[str]) -> list[str]:
        """The parts without byte tokens."""
        out: list[str] = []
        data = bytearray()
        for part in [*parts, None]:
            match = _BYTE_TOKEN.fullmatch(part) if part is not None else None
            if match:
                data.append(int(match[1], 16))
                continue
            if data:
                out.append(_of_bytes(bytes(data)))
                data.clear()
            if part is not None:
                out.append(part)
        return out


def _of_bytes(data: bytes) -> str:
    """The text of a run of byte tokens: where it is not UTF-8 as a whole, each byte by itself."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(chr(0xDC00 + value) if value >= 0x80 else "\ufffd" for value in data)


class Fuse(Decoder):
    """All parts as one."""

    def __call__(self, parts: list[str]) -> list[str]:
        """The one part."""
        return ["".join(parts)]


@dataclass(frozen=True)
class Strip(Decoder):
    """Each part without some characters at its ends."""

    content: str
    start: int
    stop: int

    def __call__(self, parts: list[str]) -> list[str]:
        """The parts without them."""
        return [self._cut(part) for part in parts] if self.content else parts

    def _cut(self, part: str) -> str:
        left = min(self.start, len(part) - len(part.lstrip(self.content)))
        right = min(self.stop, len(part) - len(part.rstrip(self.content)))
        return part[left : max(len(part) - right, left)]


@dataclass(frozen=True)
class Replace(Decoder):
    """A text in place of all that a pattern finds."""

    pattern: Pattern
    content: str

    def __call__(self, parts: list[str]) -> list[str]:
        """The parts with it."""
        return [self._replaced(part) for part in parts]

    def _replaced(self, part: str) -> str:
        out, at = [], 0
        found = list(self.pattern.find(part, self.where))
        check_growth(len(part), len(found) * len(self.content), self.where)
        for start, end in found:
            out += [part[at:start], self.content]
            at = end
        return "".join(out) + part[at:]


@dataclass(frozen=True)
class CTC(Decoder):
    """Parts that come twice once, without padding."""

    pad_token: str
    word_delimiter_token: str
    cleanup: bool

    def __call__(self, parts: list[str]) -> list[str]:
        """The parts that are left."""
        single = [part for n, part in enumerate(parts) if n == 0 or part != parts[n - 1]]
        bare = [part.replace(self.pad_token, "") if self.pad_token else part for part in single]
        if self.cleanup:
            bare = list(map(_clean, bare))
            if self.word_delimiter_token:
                bare = [part.replace(self.word_delimiter_token, " ") for part in bare]
        return [part for part in bare if part]


TYPES: dict[str, type[Decoder]] = {
    kind.__name__: kind
    for kind in (
        Sequence, ByteLevel, WordPiece, Metaspace, BPEDecoder, ByteFallback, Fuse, Strip, Replace, CTC
    )
}
"""The decoders by their types."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """The way from the names of tokens to the bytes of a text.

    Attributes:
        step: The decoder; None joins the names by spaces.
    """

    step: Decoder | None

    def __call__(self, names: Listed[str]) -> bytes:
        """The bytes of the text."""
        return to_bytes(" ".join(names) if self.step is None else "".join(self.step(list(names))))


def read(node: Node) -> Decoding:
    """The decoder of its JSON value.

    Raises:
        TokentuiError: It is damaged, or of a type that is not known.
    """
    return Decoding(None if node.value is None else steps.read(node, TYPES, "decoders"))


def of_recipe(recipe: Recipe) -> Decoder:
    """The decoder that gives the text that the recipe's own rules give."""
    kind, mark = recipe.mark_kind, recipe.mark_text
    if recipe.unit == "byte":
        spaces = (Replace(Pattern("String", mark), " "), Strip(" ", 0, 1)) if kind == "end-suffix" else ()
        return Sequence((ByteLevel(), *spaces)) if spaces else ByteLevel()
    if kind == "prefix":
        return WordPiece(mark, False)
    if kind == "end-suffix":
        return BPEDecoder(mark)
    if recipe.split == "metaspace":
        return of_marks(recipe.unknown == "byte-fallback", spaced(recipe))
    return Fuse()


def of_marks(fallback: bool, spaced: bool = True) -> Decoder:
    """Spaces for ▁, bytes for byte tokens, and not the space in front, where one was set there."""
    found: list[Decoder] = [Replace(Pattern("String", SPACE_MARK), " ")]
    found += [ByteFallback()] if fallback else []
    return Sequence((*found, Fuse(), *([Strip(" ", 1, 0)] if spaced else [])))


# --- post-processors ---

Around = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""The names before a text, those after it, and what is in doubt."""
_NOTHING: Around = ((), (), ())


def read_around(node: Node, depth: int = 0) -> Around:
    """The special tokens that a post-processor puts around one text.

    Raises:
        TokentuiError: It is damaged, or of a type that is not known.
    """
    if node.value is None:
        return _NOTHING
    kind = node["type"].value
    if depth > steps.MAX_DEPTH:
        raise node.error("sequences stand too deep in one another")
    match kind:
        case "ByteLevel":
            return _NOTHING
        case "BertProcessing" | "RobertaProcessing":
            return (_named(node["cls"]),), (_named(node["sep"]),), ()
        case "TemplateProcessing":
            return _template(node)
        case "Sequence":
            before, after, notes = _NOTHING
            for one in node.listed("processors"):
                outer, behind, more = read_around(one, depth + 1)
                before, after, notes = outer + before, after + behind, notes + more
            return before, after, notes
    raise node.error(f"{str(kind)[:40]!r} is no type that this version reads",
                     "one of: BertProcessing, RobertaProcessing, TemplateProcessing, ByteLevel, Sequence")


def _named(node: Node) -> str:
    token, number = node.fields("TOKEN", "ID")
    number.number()
    return token.text()


def _template(node: Node) -> Around:
    sides: tuple[list[str], list[str]] = ([], [])
    behind = 0
    known = node["special_tokens"]
    for item in node.listed("single"):
        one = item.mapping()
        if "Sequence" in one:
            behind += 1
            continue
        name = Node(item["SpecialToken"].mapping().get("id"), "single", node).text()
        row = Node(known.mapping({}).get(name), "special_tokens", node)
        sides[min(behind, 1)].extend(token.text() for token in row.listed("tokens"))
    notes = () if behind == 1 else (f"the template holds the text {behind} times: it is taken once",)
    return tuple(sides[0]), tuple(sides[1]), notes


def around_json(
    before: tuple[str, ...], after: tuple[str, ...], specials: dict[str, int]
) -> dict[str, Any] | None:
    """The post-processor that puts special tokens around a text, as its JSON value."""
    if not before and not after:
        return None

    def pieces(texts: str) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = [{"SpecialToken": {"id": name, "type_id": 0}} for name in before]
        for kind, text in enumerate(texts):
            out.append({"Sequence": {"id": text, "type_id": kind}})
            out += [{"SpecialToken": {"id": name, "type_id": kind}} for name in after]
        return out

    named = {name: {"id": name, "ids": [specials[name]], "tokens": [name]} for name in (*before, *after)}
    return {"type": "TemplateProcessing", "single": pieces("A"), "pair": pieces("AB"),
            "special_tokens": named}
