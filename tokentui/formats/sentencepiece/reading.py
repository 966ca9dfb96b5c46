"""From the message of a `.model` to a tokenizer."""

from __future__ import annotations

import base64
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tokentui.encode.imported import ImportedScores, ImportedVocabulary, Origin, Pipeline
from tokentui.encode.parents import Parents
from tokentui.encode.segment.parts import Part
from tokentui.encode.segment.ranked import JoinedMerging
from tokentui.encode.segment.single import SingleViterbi, single
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats.charsmap import Charsmap
from tokentui.formats.huggingface.models import WholeWords
from tokentui.formats.sentencepiece.normalizing import SentencePieceWords
from tokentui.formats.sentencepiece.proto import (
    BPE,
    BYTE,
    CHAR,
    CONTROL,
    NORMAL,
    UNIGRAM,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    WORD,
    Piece,
    Proto,
    parse,
)
from tokentui.formats.source import Source
from tokentui.recipe import Recipe
from tokentui.text.split import SPACE_MARK, to_bytes

_SPACE = SPACE_MARK.encode()


def is_model(source: Source) -> bool:
    """Whether it begins with a field of a piece that holds text."""
    head = source.data[:4096]
    if not head.startswith(b"\x0a") or len(head) < 4:
        return False
    length = head[1]
    inside = head[2 : 2 + length]
    if length >= 0x80 or len(inside) < length or inside[:1] != b"\x0a" or length < 3:
        return False
    name, rest = inside[2 : 2 + inside[1]], inside[2 + inside[1] :]
    try:
        return bool(name.decode("utf-8")) and inside[1] <= length - 2 and (not rest or rest[0] in (0x15, 0x18))
    except UnicodeDecodeError:
        return False


def read(source: Source) -> Tokenizer:
    """The tokenizer of a `.model`.

    Raises:
        TokentuiError: It is damaged, or sentencepiece would refuse it.
    """
    place = source.place
    proto = parse(source.data, place)
    charsmap = Charsmap(proto.charsmap, place.key("normalizer_spec").key("precompiled_charsmap")) if proto.charsmap else None
    build = _Builder(proto)
    cut = build.cuts_words()
    recipe = build.recipe()
    if source.split and source.split != recipe.split:
        raise place.error(f"the split cannot be changed to {source.split}", f"the file holds its split: {recipe.split}")
    words = SentencePieceWords(
        recipe, proto, charsmap, cut=cut and proto.model_type != WORD, whole=proto.model_type in (BPE, CHAR)
    )
    specials = {piece.text: number for number, piece in enumerate(proto.pieces) if piece.kind in (CONTROL, UNKNOWN)}
    unknown = next(piece.text for piece in proto.pieces if piece.kind == UNKNOWN)
    around = tuple((name,) if name in specials else () for name in ("<s>", "</s>"))
    decode = functools.partial(_decode, proto, {piece.text: piece.kind for piece in proto.pieces})
    pipeline = Pipeline(
        build.segmenter(), words, None, decode, (around[0], around[1]), _stages(proto), build.notes, "fused", _origin(proto),
    )
    made = ImportedScores if proto.model_type == UNIGRAM else ImportedVocabulary
    return Tokenizer(made(
        recipe, build.pieces, build.ids, build.merges, units=build.units, pipeline=pipeline, specials=specials,
        unknown=specials[unknown], names={n: piece.text for n, piece in enumerate(proto.pieces)}, bytes_=build.bytes_,
        scores=build.scores if proto.model_type == UNIGRAM else (), never=build.never,
    ))


class _Builder:
    """The tables of a model: symbols in order of birth, and what is looked up."""

    def __init__(self, proto: Proto) -> None:
        self.proto = proto
        self.notes: tuple[str, ...] = ()
        pieces = proto.pieces
        spelled = [to_bytes(piece.text) for piece in pieces]
        found = {piece: n for n, piece in enumerate(spelled) if pieces[n].kind in (NORMAL, USER_DEFINED, UNUSED)}
        births = _births(proto, found) if proto.model_type == BPE else []
        born = set(births)
        order = [n for n in range(len(pieces)) if n not in born] + births
        self.hidden = self._hidden(found)
        roots = len(order) - len(births)
        self.pieces = [spelled[n] for n in order[:roots]] + self.hidden + [spelled[n] for n in order[roots:]]
        unknown = next(n for n, piece in enumerate(pieces) if piece.kind == UNKNOWN)
        self.ids = order[:roots] + [unknown] * len(self.hidden) + order[roots:]
        none = [Piece("", 0.0, UNKNOWN)] * len(self.hidden)
        self.of = [pieces[n] for n in order[:roots]] + none + [pieces[n] for n in order[roots:]]
        self.hidden_symbols = range(roots, roots + len(self.hidden))
        self.table = {
            piece: symbol for symbol, piece in enumerate(self.pieces) if self.of[symbol].kind in (NORMAL, USER_DEFINED, UNUSED)
        }
        base = roots + len(self.hidden)
        self.merges: Sequence[tuple[int, int]] = Parents(self.pieces, self.table, base, _characters) if births else ()
        self.units = {
            piece: symbol for symbol, piece in enumerate(self.pieces[:base])
            if symbol in self.hidden_symbols or self.of[symbol].kind in (NORMAL, USER_DEFINED, UNUSED)
        }
        self.never = frozenset(
            symbol for symbol, piece in enumerate(self.of) if piece.kind in (UNKNOWN, CONTROL, BYTE, UNUSED)
        )
        self.bytes_ = {int(piece.text[3:5], 16): symbol for symbol, piece in enumerate(self.of) if piece.kind == BYTE}
        self.scores = [self._score(piece) for piece in self.of]
        if proto.denormalizes:
            self.notes = ("rules that change text after decoding are not applied",)

    def _hidden(self, found: Mapping[bytes, int]) -> list[bytes]:
        """Characters that are no pieces and stand in pieces: they merge, and are unknown where they are left."""
        if self.proto.model_type != BPE:
            return []
        characters = dict.fromkeys(
            to_bytes(character) for piece in self.proto.pieces if piece.kind in (NORMAL, USER_DEFINED, UNUSED)
            for character in piece.text
        )
        return [character for character in characters if character not in found]

    def _score(self, piece: Piece) -> float:
        """What a piece scores where text is cut: a user-defined one more than nothing, so that it is always taken."""
        if piece.kind == USER_DEFINED:
            return single(0.1 * (len(to_bytes(piece.text)) - 1))
        return piece.score

    def cuts_words(self) -> bool:
        """Whether no piece goes across the place before a ▁ that no ▁ stands before."""
        if not self.proto.escape or not any(piece.text == SPACE_MARK for piece in self.proto.pieces):
            return False
        return not any(
            piece.text[at] == SPACE_MARK != piece.text[at - 1]
            for piece in self.proto.pieces if piece.kind in (NORMAL, USER_DEFINED, UNUSED) and SPACE_MARK in piece.text[1:]
            for at in range(1, len(piece.text))
        )

    def recipe(self) -> Recipe:
        """What the axes can say."""
        proto = self.proto
        axes: dict[str, Any] = {
            "normalize": ("nmt-nfkc",) if proto.name == "nmt_nfkc" and proto.squeeze else (),
            "split": "metaspace", "unit": "char", "base": "frequency", "tie": "shortest",
            "pieces": "sentencepiece-digits" if proto.digits else "sentencepiece",
            "unknown": "byte-fallback" if proto.byte_fallback else "fused",
        }
        if proto.model_type == UNIGRAM:
            axes |= {"objective": "unigram", "encode": "viterbi"}
        elif proto.model_type in (WORD, CHAR):
            axes["encode"] = "longest-match"
        if 0 < proto.coverage < 1:
            axes["coverage"] = float(f"{proto.coverage:.7g}")  # it stands there in single precision
        return Recipe(**axes, prefix_space=proto.dummy_prefix)

    def segmenter(self) -> Callable[[Vocabulary, int], Any]:
        """The way of encoding."""
        if self.proto.model_type == UNIGRAM:
            least = min((piece.score for piece in self.proto.pieces if piece.kind == NORMAL), default=3.4028234663852886e38)
            return functools.partial(SpelledViterbi, least=least, bytes_=self.bytes_)
        if self.proto.model_type == WORD:
            return functools.partial(SpelledWords, bytes_=self.bytes_)
        if self.proto.model_type == CHAR:
            return functools.partial(SpelledMerging, table={}, builder=self)
        levels = sorted({-piece.score for piece in self.of})
        ranks = {level: rank for rank, level in enumerate(levels)}
        order = [ranks[-piece.score] for piece in self.of]
        return functools.partial(SpelledMerging, table=self.table, order=order, builder=self)


def _births(proto: Proto, found: Mapping[bytes, int]) -> list[int]:
    """The pieces that two earlier ones spell, in the order in which they are merged."""
    pieces = proto.pieces
    ordered = sorted(found.items(), key=lambda item: (-pieces[item[1]].score, item[1]))
    earlier = {piece: n for piece, n in ordered if len(pieces[n].text) == 1 or pieces[n].kind == USER_DEFINED}
    births = []
    for piece, n in ordered:
        if piece not in earlier:
            if Parents.has(piece, earlier):
                births.append(n)
            earlier[piece] = n
    return births


class SpelledMerging(JoinedMerging):
    """Merging by what a pair spells, as sentencepiece has it.

    User-defined symbols merge with nothing; pieces that are not used are cut again into the pair that they were merged from last.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int, *, table: Mapping[bytes, int], order: Sequence[int] | None = None,
        builder: _Builder,
    ) -> None:
        super().__init__(vocabulary, merges, table, order)
        of = builder.of
        self._frozen = {symbol for symbol, piece in enumerate(of) if piece.kind == USER_DEFINED}
        self._unused = {symbol for symbol, piece in enumerate(of) if piece.kind == UNUSED}
        self._hidden = builder.hidden_symbols
        self._bytes = builder.bytes_
        self._made_from: dict[int, tuple[int, int]] = {}

    def in_order(self) -> int:
        """How many births, from the first, are merged in the order in which they are born; none where some are cut again."""
        return 0 if self._unused else super().in_order()

    def history(self, units: Sequence[bytes]) -> tuple[list[int], list[tuple[int, int, int]]]:
        """As of any merging; what is unknown where it is left is no symbol to begin with."""
        start, merges = super().history(units)
        return [-1 if symbol in self._hidden else symbol for symbol in start], merges

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word into parts."""
        self._made_from.clear()
        parts: list[Part] = []
        for part in super().segment(units, characters):
            parts += self._again(part, units) if part.symbol in self._unused else [part]
        out: list[Part] = []
        for part in parts:
            if part.symbol is not None and part.symbol not in self._hidden:
                out.append(part)
            else:
                out += spelled(part, units, self._bytes)
        return out

    def _pair(self, left: int, right: int) -> tuple[int, int] | None:
        return None if left in self._frozen or right in self._frozen else super()._pair(left, right)

    def _pushed(self, left: int, right: int, made: int) -> None:
        if made in self._unused:
            self._made_from[made] = left, right

    def _again(self, part: Part, units: Sequence[bytes]) -> list[Part]:
        """The parts of a piece that is not used."""
        out: list[Part] = []
        waiting = [part]
        while waiting:
            one = waiting.pop()
            pair = self._made_from.get(one.symbol) if one.symbol in self._unused and one.symbol is not None else None
            if pair is None:
                out.append(one)
                continue
            length, middle = len(self._pieces[pair[0]]), one.start
            while length > 0:
                length -= len(units[middle])
                middle += 1
            waiting += [Part(middle, one.end, pair[1]), Part(one.start, middle, pair[0])]
        return out


class SpelledWords(WholeWords):
    """Each ▁ begins a word, which is a piece, or its bytes where the model has them, or unknown."""

    def __init__(self, vocabulary: Vocabulary, merges: int, *, bytes_: Mapping[int, int]) -> None:
        super().__init__(vocabulary, merges)
        self._bytes = bytes_

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """The parts of a text."""
        starts = [at for at, unit in enumerate(units) if not at or unit == _SPACE]
        parts = [
            Part(start, end, self._table.get(b"".join(units[start:end])))
            for start, end in itertools.pairwise([*starts, len(units)])
        ]
        return [made for part in parts for made in ([part] if part.symbol is not None else spelled(part, units, self._bytes))]


class SpelledViterbi(SingleViterbi):
    """The most probable segmentation, with the bytes of unknown characters where the model has them."""

    def __init__(self, vocabulary: Vocabulary, merges: int = 0, *, least: float, bytes_: Mapping[int, int]) -> None:
        super().__init__(vocabulary, merges, least=least)
        self._bytes = bytes_

    def finished(self, parts: list[Part], units: Sequence[bytes]) -> list[Part]:
        """The parts as they stand in the end."""
        return [made for part in parts for made in ([part] if part.symbol is not None else spelled(part, units, self._bytes))]


def spelled(part: Part, units: Sequence[bytes], bytes_: Mapping[int, int]) -> list[Part]:
    """An unknown part as the tokens of its bytes, or as unknown where there are none."""
    if not bytes_:
        return [part._replace(symbol=None)]
    return [Part(at, at + 1, bytes_[value]) for at in range(part.start, part.end) for value in units[at]]


def _characters(piece: bytes) -> list[bytes]:
    return list(map(to_bytes, piece.decode("utf-8")))


def _decode(proto: Proto, kinds: Mapping[str, int], names: Sequence[str]) -> bytes:
    """The text of pieces; control symbols and the unknown piece by what stands for them."""
    out = bytearray()
    run = bytearray()
    begun = seen = False
    trims = proto.dummy_prefix or proto.squeeze
    for name in names:
        kind = kinds.get(name, NORMAL)
        if kind == BYTE:
            run.append(int(name[3:5], 16))
            continue
        seen = seen or bool(run)
        out += run
        run.clear()
        begun = begun or seen
        if kind == CONTROL:
            out += to_bytes(name)
        elif kind == UNKNOWN:
            out += to_bytes(proto.unknown_surface)
            seen = seen or bool(proto.unknown_surface)
        else:
            head = not begun and trims and name.startswith(SPACE_MARK)
            shown = name[1:] if head else name
            out += to_bytes(shown.replace(SPACE_MARK, " "))
            seen = seen or bool(shown)
            begun = begun or (head and not proto.squeeze)
    return bytes(out + run)


def _stages(proto: Proto) -> dict[str, Any]:
    """What the axes cannot say, as JSON values."""
    return {"sentencepiece": {
        "normalization": proto.name, "precompiled_charsmap": base64.b64encode(proto.charsmap).decode("ascii"),
        "add_dummy_prefix": proto.dummy_prefix, "remove_extra_whitespaces": proto.squeeze, "escape_whitespaces": proto.escape,
        "treat_whitespace_as_suffix": proto.suffix, **({"trained_with": dict(proto.untold)} if proto.untold else {}),
    }}


def _origin(proto: Proto) -> Origin:
    """What the file says, so that it can be written again."""
    said = {
        "kinds": {str(n): piece.kind for n, piece in enumerate(proto.pieces) if piece.kind != NORMAL},
        "fields": [[number, base64.b64encode(data).decode("ascii")] for number, data in proto.others],
    }
    return Origin("sentencepiece", said, [(n, piece.text, piece.score) for n, piece in enumerate(proto.pieces)])
