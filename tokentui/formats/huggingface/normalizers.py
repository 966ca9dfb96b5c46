"""The normalizers of a `tokenizer.json`, and the axis `normalize` in both directions."""

from __future__ import annotations

import base64
import binascii
import functools
import re
from dataclasses import dataclass
from typing import ClassVar

from tokentui.formats.charsmap import Charsmap, rules_of
from tokentui.formats.document import Node
from tokentui.formats.huggingface import steps
from tokentui.formats.huggingface.text import Bare, Pattern, Text, check_growth
from tokentui.formats.letters import letters
from tokentui.formats.oniguruma import END
from tokentui.formats.spec import Refused
from tokentui.recipe import Recipe
from tokentui.text import bert
from tokentui.text.normalize import NORMALIZERS, Stage, bert_strip_accents, lowercase, strip_accents
from tokentui.text.split import SPACE_MARK, spaced, to_bytes


@dataclass(frozen=True)
class Normalizer(steps.Step):
    """A step from a text to a text."""

    def __call__(self, text: Text) -> Text:
        """The text after the step.

        Raises:
            TokentuiError: It becomes too long.
        """
        made = self.run(text)
        check_growth(len(text.text), len(made.text), self.where)
        return made

    def run(self, text: Text) -> Text:
        """The text after the step, however long."""
        raise NotImplementedError


@dataclass(frozen=True)
class Sequence(Normalizer):
    """Several steps, one after the other."""

    normalizers: tuple[Normalizer, ...]

    def run(self, text: Text) -> Text:
        """The text after all of them."""
        length = len(text.text)
        for step in self.normalizers:
            text = step(text)
            check_growth(length, len(text.text), self.where)
        return text


class Plain(Normalizer):
    """A step that is told nothing: stages of the axis `normalize`, or one of its own."""

    stages: ClassVar[tuple[Stage, ...]] = ()

    def run(self, text: Text) -> Text:
        """The text after its stages."""
        for stage in self.stages:
            text = text.passed(stage)
        return text


_NMT_DROPPED = re.compile("[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]")
_NMT_SPACES = re.compile("[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]")


def _nmt(text: str) -> str:
    return _NMT_SPACES.sub(" ", _NMT_DROPPED.sub("", text))


class NFC(Plain):
    """Composed."""

    stages = (NORMALIZERS["nfc"].stages[0],)


class NFD(Plain):
    """Decomposed."""

    stages = (NORMALIZERS["nfd"].stages[0],)


class NFKC(Plain):
    """Composed, with characters of compatibility replaced."""

    stages = (NORMALIZERS["nfkc"].stages[0],)


class NFKD(Plain):
    """Decomposed, with characters of compatibility replaced."""

    stages = (NORMALIZERS["nfkd"].stages[0],)


class Lowercase(Plain):
    """In lower case."""

    stages = (lowercase,)


class StripAccents(Plain):
    """Without combining marks."""

    stages = (strip_accents,)


class Nmt(Plain):
    """Without control characters, and every white space a space."""

    stages = (_nmt,)


_CLEANED = re.compile(f"[{bert.DROPPED}]")
_IDEOGRAPHS = re.compile(f"([{bert.IDEOGRAPHS}])")
_SPACES = re.compile(f"[{bert.SPACES}]")


def _clean(text: str) -> str:
    return _SPACES.sub(" ", _CLEANED.sub("", text))


def _space_ideographs(text: str) -> str:
    return _IDEOGRAPHS.sub(r" \1 ", text)


@dataclass(frozen=True)
class BertNormalizer(Normalizer):
    """BERT's cleaning, its spaces around ideographs, its lower case and its stripping of accents."""

    clean_text: bool
    handle_chinese_chars: bool
    strip_accents: bool | None
    lowercase: bool

    def run(self, text: Text) -> Text:
        """The text after what is asked for."""
        strips = self.lowercase if self.strip_accents is None else self.strip_accents
        asked = (
            (self.clean_text, _clean), (self.handle_chinese_chars, _space_ideographs),
            (strips, bert_strip_accents),
            (self.lowercase, lowercase),
        )
        for wanted, stage in asked:
            text = text.passed(stage) if wanted else text
        return text


@dataclass(frozen=True)
class Strip(Normalizer):
    """Without white space at its ends."""

    strip_left: bool
    strip_right: bool

    def run(self, text: Text) -> Text:
        """The text without it."""
        start, end = 0, len(text.text)
        while self.strip_left and start < end and _SPACES.match(text.text[start]):
            start += 1
        while self.strip_right and end > start and _SPACES.match(text.text[end - 1]):
            end -= 1
        return text.part(start, end)


@dataclass(frozen=True)
class Replace(Normalizer):
    """With a text in place of all that a pattern finds."""

    pattern: Pattern
    content: str

    def run(self, text: Text) -> Text:
        """The text with it."""
        found = list(self.pattern.find(text.text, self.where))
        check_growth(len(text.text), len(found) * len(self.content), self.where)
        return text.replaced(found, self.content)


@dataclass(frozen=True)
class Prepend(Normalizer):
    """With a text in front, unless it is empty."""

    prepend: str

    def run(self, text: Text) -> Text:
        """The text with it."""
        check_growth(len(text.text), len(self.prepend), self.where)
        return text.prepended(self.prepend) if text.text else text


@dataclass(frozen=True)
class Precompiled(Normalizer):
    """sentencepiece's rules, in base64."""

    precompiled_charsmap: str = ""

    def check(self, node: Node) -> None:
        """Look at the rules."""
        place = node["precompiled_charsmap"]
        try:
            blob = base64.b64decode(self.precompiled_charsmap, validate=True)
        except (binascii.Error, ValueError):
            raise place.error("not base64") from None
        if blob:
            Charsmap(blob, place)

    @functools.cached_property
    def _charsmap(self) -> Charsmap:
        return Charsmap(base64.b64decode(self.precompiled_charsmap), Node(None, self.where))

    def run(self, text: Text) -> Text:
        """The text after the rules."""
        if not self.precompiled_charsmap:
            return text
        made, pieces = 0, []
        for piece in self._charsmap.by_grapheme(text.text):
            pieces.append(piece)
            made += len(piece[0])
            if made > len(text.text):
                check_growth(len(text.text), made, self.where)
        return text.edited(pieces)


def byte_letters(text: Text) -> Text:
    """Each byte as its letter."""
    if isinstance(text, Bare):
        return text.respelled(letters(to_bytes(text.text)))
    return text.edited((letters(to_bytes(character)), n, n + 1) for n, character in enumerate(text.text))


class ByteLevel(Normalizer):
    """Letters for bytes."""

    def run(self, text: Text) -> Text:
        """The text in letters."""
        return byte_letters(text)


TYPES: dict[str, type[Normalizer]] = {
    kind.__name__: kind
    for kind in (
        Sequence, BertNormalizer, Strip, StripAccents, NFC, NFD, NFKC, NFKD, Lowercase, Nmt, Precompiled,
        Replace, Prepend,
        ByteLevel,
    )
}
"""The normalizers by their types."""
_AXES: dict[str, type[Plain]] = {
    "lowercase": Lowercase, "nfc": NFC, "nfd": NFD, "nfkc": NFKC, "nfkd": NFKD, "strip-accents": StripAccents,
}
"""The values of the axis `normalize` that are one step."""
_NAMES = {kind: name for name, kind in _AXES.items()}


def read(node: Node) -> Normalizer | None:
    """The normalizer of its JSON value, None for none.

    Raises:
        TokentuiError: It is damaged, or of a type that is not known.
    """
    return None if node.value is None else steps.read(node, TYPES, "normalizers")


def axis_of(step: Normalizer | None) -> tuple[str, ...] | None:
    """The value of the axis `normalize` that does the same, None where there is none."""
    match step:
        case None:
            return ()
        case Sequence(normalizers):
            found = [axis_of(one) for one in normalizers]
            return None if None in found else tuple(name for one in found for name in one or ())
        case BertNormalizer(True, True, accents, lower) if accents in (None, lower):
            return ("bert-uncased",) if lower else ("bert-cased",)
        case Plain() if type(step) in _NAMES:
            return (_NAMES[type(step)],)
    return None


def of_recipe(recipe: Recipe) -> Normalizer | None:
    """The normalizer of the axis `normalize`, and of the ▁ in front where it stands before every text.

    Raises:
        Refused: There is none.
    """
    found = [step for name in recipe.normalize for step in _of_step(name)]
    if is_prepended(recipe):
        found += marked(spaced(recipe))
    return joined(found)


def is_prepended(recipe: Recipe) -> bool:
    """Return whether the normalizer writes ▁ for spaces: where a text gets a ▁ in front even before a space.
    """
    plain = not recipe.normalize and not recipe.symbols
    return plain and recipe.split == "metaspace" and recipe.pieces != "any"


def _of_step(name: str) -> list[Normalizer]:
    if name in ("bert-uncased", "bert-cased"):
        return [BertNormalizer(True, True, None, name == "bert-uncased")]
    if name == "nmt-nfkc":
        return [precompiled(rules_of((name,))[0]), *squeezed()]
    if name not in _AXES:
        raise Refused(f"it normalises text by {name}", "", "no step of Hugging Face's is known to do it")
    return [_AXES[name]()]


def precompiled(blob: bytes) -> Precompiled:
    """sentencepiece's rules."""
    return Precompiled(base64.b64encode(blob).decode("ascii"))


def squeezed() -> list[Normalizer]:
    """The steps that make one space of many, and none of those at both ends."""
    ends = rf"(?<![\s\S]) | {END}"
    return [Replace(Pattern("Regex", " {2,}"), " "), Replace(Pattern("Regex", ends), "")]


def marked(spaced: bool) -> list[Normalizer]:
    """The steps that write ▁ for spaces, and one in front where asked for."""
    return [*([Prepend(SPACE_MARK)] if spaced else []), Replace(Pattern("Regex", " "), SPACE_MARK)]


def joined(found: list[Normalizer]) -> Normalizer | None:
    """Several steps as one, None for none."""
    return Sequence(tuple(found)) if len(found) > 1 else found[0] if found else None
