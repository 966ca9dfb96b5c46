"""sentencepiece's normalisation and its words: rules, spaces, and one ▁ in front."""

from __future__ import annotations

import re

import regex

from tokentui.formats.charsmap import Charsmap
from tokentui.formats.sentencepiece.proto import USER_DEFINED, Proto
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Analysis, PreToken, Pretokenizer
from tokentui.text.split import SPACE_MARK, to_bytes

_LONE = re.compile("[\udc80-\udcff]")
_SPACES = re.compile("  +")
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")


class SentencePieceWords(Pretokenizer):
    """From a text to the words and units of a `.model`.

    Args:
        recipe: What the axes can say.
        proto: The model.
        charsmap: Its normalisation rules, None for none.
        cut: Whether words may be cut before a ▁ that no ▁ stands before: no piece goes across.
        whole: Whether user-defined symbols are units of their own.
    """

    beyond_axes = True

    def __init__(
        self, recipe: Recipe, proto: Proto, charsmap: Charsmap | None, *, cut: bool, whole: bool
    ) -> None:
        super().__init__(recipe)
        self.proto = proto
        self._charsmap = charsmap
        self._cut = cut
        symbols = [piece.text for piece in proto.pieces if piece.kind == USER_DEFINED]
        names = "|".join(map(regex.escape, sorted(symbols, key=len, reverse=True)))
        self._symbols = regex.compile(names) if names else None
        self._whole = regex.compile(f"{names}|.", regex.DOTALL) if names and whole else None

    def words(self, document: str, *, first: bool = True, timeout: float | None = None) -> list[str]:
        """The words of a document in order."""
        return self._words(self.normalized(document))

    def normalized(self, document: str) -> str:
        """A document after normalisation, with ▁ for spaces."""
        if self._charsmap or self._symbols:
            return "".join(made for made, _, _ in self._normal(document))
        return self._ruleless(document)

    def safe_cut(self, document: str, at: int) -> int:
        """The document's length: both ends are trimmed."""
        return len(document)

    def units(self, word: str) -> list[bytes]:
        """The characters of a word and the user-defined symbols in it."""
        return [to_bytes(unit) for unit in self._units(word)]

    def analyse(self, text: str | bytes, timeout: float | None = None) -> Analysis:
        """All that becomes of a text before its units are merged."""
        source = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
        normal = self._normal(source)
        prepared = "".join(made for made, _, _ in normal)
        found: list[PreToken] = []
        at = 0
        for word in self._words(prepared):
            spans = []
            begin = at
            for unit in self._units(word):
                spans.append((normal[at][1], normal[at + len(unit) - 1][2]))
                at += len(unit)
            found.append(PreToken(word, spans[0][0], spans[-1][1], begin, at, tuple(spans)))
        return Analysis(source, prepared, prepared, found)

    def _units(self, word: str) -> list[str]:
        return self._whole.findall(word) if self._whole else list(word)

    def _words(self, text: str) -> list[str]:
        if not text:
            return []
        if not self._cut:
            return [text]
        cuts = [0]
        at = text.find(SPACE_MARK, 1)
        while at > 0:
            if text[at - 1] != SPACE_MARK:
                cuts.append(at)
            at = text.find(SPACE_MARK, at + 1)
        return [text[start:end] for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]

    def _ruleless(self, text: str) -> str:
        """A text after normalisation where there are no rules, as `_normal` has it."""
        proto = self.proto
        text = _LONE.sub("\ufffd", _HALF.sub("\ufffd", text))
        if proto.squeeze:
            text = _SPACES.sub(" ", text).strip(" ")
        if not text:
            return ""
        space = SPACE_MARK if proto.escape else " "
        text = (space if proto.dummy_prefix and not proto.suffix else "") + text.replace(" ", space)
        if proto.squeeze:
            text = text.rstrip(space)
        return text + (space if proto.dummy_prefix and proto.suffix else "")

    def _normal(self, text: str) -> list[tuple[str, int, int]]:
        """(character, start, end) of the normalised text, with the place as typed that each came from."""
        proto = self.proto
        pieces = self._pieces(text)
        first = 0
        if proto.squeeze:
            while first < len(pieces) and pieces[first][0] == " ":
                first += 1
        if first == len(pieces):
            return []
        space = SPACE_MARK if proto.escape else " "
        out: list[tuple[str, int, int]] = []
        if proto.dummy_prefix and not proto.suffix:
            out.append((space, pieces[first][1], pieces[first][1]))
        after_space = proto.squeeze
        for made, start, end in pieces[first:]:
            kept = made.lstrip(" ") if after_space else made
            out += [(space if character == " " else character, start, end) for character in kept]
            if kept:
                after_space = proto.squeeze and kept.endswith(" ")
        if proto.squeeze:
            while out and out[-1][0] == space:
                out.pop()
        if proto.dummy_prefix and proto.suffix:
            at = out[-1][2] if out else pieces[-1][2]
            out.append((space, at, at))
        return out

    def _pieces(self, text: str) -> list[tuple[str, int, int]]:
        """(made, start, end): what each rule, user-defined symbol or character becomes."""
        text = _HALF.sub("\ufffd", text)
        data = text.encode("utf-8", "surrogateescape")
        out: list[tuple[str, int, int]] = []
        at = place = 0
        while at < len(text):
            symbol = self._symbols.match(text, at) if self._symbols else None
            rule = None if symbol or not self._charsmap else self._charsmap.longest(data, place)
            if symbol:
                made, end = symbol.group(), symbol.end()
            elif rule:
                made, end, reached = rule[1].decode("utf-8", "replace"), at, 0
                while reached < rule[0]:
                    reached += _width(text[end])
                    end += 1
            else:
                made, end = _LONE.sub("\ufffd", text[at]), at + 1
            out.append((made, at, end))
            place += _width(text[at]) if end == at + 1 else sum(map(_width, text[at:end]))
            at = end
        return out


def proto_of(pretokenizer: Pretokenizer) -> Proto | None:
    """The message of a model, where the words are those of one."""
    return pretokenizer.proto if isinstance(pretokenizer, SentencePieceWords) else None


def _width(character: str) -> int:
    """The bytes of a character; a byte that is not UTF-8 is one."""
    code = ord(character)
    return 1 if code < 0x80 or 0xDC80 <= code <= 0xDCFF else 2 if code < 0x800 else 3 if code < 0x10000 else 4
