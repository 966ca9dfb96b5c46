"""The models of a `tokenizer.json`: BPE, WordPiece, Unigram and WordLevel, as vocabularies."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from tokentui.encode.segment.parts import Attempt, Part
from tokentui.encode.segment.ranked import PairMerging
from tokentui.encode.segment.viterbi import UNKNOWN_PENALTY, Viterbi
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats import letters
from tokentui.formats.births import check_ids, order_births
from tokentui.formats.checking import Place
from tokentui.formats.huggingface.normalizers import flag
from tokentui.formats.limits import check_tokens
from tokentui.formats.vocab_txt import TableMatch, lookup
from tokentui.text.split import to_bytes


@dataclass(slots=True)
class Model:
    """What is read of a model.

    Attributes:
        kind: Its type.
        tokens: The name of each symbol.
        pieces: The exact bytes of each symbol, marks included.
        ids: The id of each symbol.
        axes: What the axes of a recipe can say of it.
        segmenter: The way of encoding, made for the vocabulary and a number of merges.
        merges: The (left, right) of each birth; births are the last symbols.
        units: The symbol of each smallest unit.
        bytes_: The symbol of each byte-fallback token by its byte.
        scores: The log probability of each symbol.
        unknown: The name of the unknown token, empty for none.
        policy: What becomes of unknown parts after the segmenter, a value of the axis `unknown`.
        prefix: What stands in front of each unit but a word's first.
        suffix: What ends a word's last unit.
        never: Symbols that no word becomes.
        whole: Whether a word that is a token is that token, whatever the merges say.
        notes: What is in doubt.
    """

    kind: str
    tokens: list[str]
    pieces: list[bytes]
    ids: list[int]
    axes: dict[str, str]
    segmenter: Any
    merges: Sequence[tuple[int, int]] = ()
    units: dict[bytes, int] = field(default_factory=dict)
    bytes_: dict[int, int] = field(default_factory=dict)
    scores: Sequence[float] = ()
    unknown: str = ""
    policy: str = "per-unit"
    prefix: str = ""
    suffix: str = ""
    never: frozenset[int] = frozenset()
    whole: bool = False
    notes: list[str] = field(default_factory=list)


def read_model(spec: Any, place: Place, byte_level: bool) -> Model:
    """The model of its JSON value; files of old do not name its type.

    Raises:
        TokentuiError: It is damaged, or of a type that is not known.
    """
    spec = place.mapping(spec)
    kind = spec.get("type")
    if kind is None:
        kind = next((name for name, key in _TELLING.items() if key in spec), None)
    if not isinstance(kind, str) or kind not in MODELS:
        raise place.error(f"no such type of model: {str(kind)[:40]!r}", "one of: " + ", ".join(MODELS))
    return MODELS[kind](spec, place, byte_level)


def _vocabulary(spec: dict[str, Any], place: Place) -> dict[str, int]:
    place = place.key("vocab")
    return check_ids(place.mapping(spec.get("vocab")), place)


def _text(spec: dict[str, Any], name: str, place: Place) -> str:
    """A text that may be null or absent."""
    value = spec.get(name)
    return "" if value is None else place.key(name).text(value)


def _rows(spec: dict[str, Any], place: Place, notes: list[str]) -> list[Sequence[str]]:
    """The merges, of the layout that Hugging Face writes now, a pair a row, or of the old one, with a space between."""
    rows = spec.get("merges")
    if not isinstance(rows, list):
        raise place.error('"merges" is no list' if "merges" in spec else '"merges" is missing')
    if rows and isinstance(rows[0], str):
        return _spaced_rows(rows, place, notes)
    for number, row in enumerate(rows):
        if type(row) is not list or len(row) != 2 or type(row[0]) is not str or type(row[1]) is not str:
            raise place.row(number).error("not a pair of tokens", "a row is [LEFT, RIGHT]")
    return rows


def _spaced_rows(rows: list[Any], place: Place, notes: list[str]) -> list[Sequence[str]]:
    pairs: list[Sequence[str]] = []
    passed = 0
    for number, row in enumerate(rows):
        if type(row) is not str:
            raise place.row(number).error("not a merge as text, like the first one", "write all rows alike")
        if row.startswith("#version"):
            passed += 1
            continue
        pair = row.split(" ")
        if len(pair) != 2:
            raise place.row(number).error("not two tokens with a space between them", "write rows as [LEFT, RIGHT]")
        pairs.append(pair)
    if passed:
        notes.append(f"{passed} of the merges start with #version and are passed over, as Hugging Face's library does it")
    return pairs


def _bpe(spec: dict[str, Any], place: Place, byte_level: bool) -> Model:
    notes: list[str] = []
    prefix, suffix = _text(spec, "continuing_subword_prefix", place), _text(spec, "end_of_word_suffix", place)
    vocabulary = _vocabulary(spec, place)
    at = place.key("merges")
    rows = _rows(spec, at, notes)
    if prefix and (odd := sum(not right.startswith(prefix) for _, right in rows)):
        notes.append(f"{odd} of the merges have a right side that does not begin with {prefix[:40]!r}: it is cut all the same")
    if "" in vocabulary:
        notes.append(f"the token of id {vocabulary['']} is empty: no text becomes it")
    is_unit = (lambda name: _is_unit(name, byte_level, prefix, suffix)) if prefix or suffix else None
    births = order_births(vocabulary, rows, at.row, len(prefix), is_unit=is_unit)
    pieces = [_piece(name, byte_level, prefix, suffix) for name in births.tokens]
    roots = len(pieces) - len(births.merges)
    bytes_: dict[int, int] = {}
    if flag(spec, "byte_fallback", place, False):
        symbols = {name: symbol for symbol, name in enumerate(births.tokens[:roots])}
        bytes_ = _bytes(symbols, notes)
    units = {
        pieces[symbol]: symbol for symbol, name in enumerate(births.tokens[:roots]) if _is_unit(name, byte_level, prefix, suffix)
    }
    unknown = _text(spec, "unk_token", place)
    complete = byte_level and not prefix and not suffix and all(bytes((value,)) in units for value in range(256))
    policy = ("fused" if flag(spec, "fuse_unk", place, False) else "per-unit") if unknown else "drop"
    if unknown and unknown not in vocabulary:
        notes.append(f"the unknown token {unknown[:40]!r} is not in the vocabulary: text that needs it is refused")
        unknown, policy = "", "error"
    whole: dict[bytes, int] = {}
    if flag(spec, "ignore_merges", place, False):
        whole = {
            piece: symbol for symbol, (piece, name) in enumerate(zip(pieces, births.tokens, strict=True))
            if not byte_level or letters.is_letters(name)
        }
        if prefix or suffix:
            notes.append("ignore_merges is applied to words with their marks")
    dropout = spec.get("dropout")
    if dropout is not None and (type(dropout) not in (int, float) or not 0 <= dropout <= 1):
        raise place.key("dropout").error("not between 0 and 1", "mend the file or train it again")
    if dropout:
        notes.append("dropout is not applied: a text always has the same tokens")
    axes = {"unit": "byte" if byte_level else "char", "base": "gpt2-bytes" if complete else "first-seen",
            "unknown": "never" if complete else "byte-fallback" if bytes_ and not byte_level else policy}
    if suffix or prefix:
        axes["mark"] = f"end-suffix:{suffix}" if suffix else f"prefix:{prefix}"
    return Model(
        "BPE", births.tokens, pieces, births.ids, axes,
        functools.partial(PairMerging, rows=births.rows, makes=births.makes, whole=whole, fallback=bytes_, drop=policy == "drop",
                          fused=policy == "fused"),
        births.merges, units, bytes_, unknown=unknown, policy=policy, prefix=prefix, suffix=suffix, whole=bool(whole),
        notes=notes + births.notes,
    )


def _bytes(symbols: Mapping[str, int], notes: list[str]) -> dict[int, int]:
    """The symbol of each byte-fallback token."""
    found = {value: symbols[name] for value in range(256) if (name := f"<0x{value:02X}>") in symbols}
    if 0 < len(found) < 256:
        notes.append(f"{256 - len(found)} of the 256 byte tokens are missing")
    return found


def _literal(names: Sequence[str], byte_level: bool) -> frozenset[int]:
    """Among tokens of letters for bytes those that are none: no word becomes one."""
    if not byte_level:
        return frozenset()
    return frozenset(symbol for symbol, name in enumerate(names) if not letters.is_letters(name))


def _piece(name: str, byte_level: bool, prefix: str = "", suffix: str = "") -> bytes:
    """The exact bytes of a token, with its marks as they are."""
    if not byte_level:
        return to_bytes(name)
    head = prefix if prefix and name.startswith(prefix) and name != prefix else ""
    tail = suffix if suffix and name.endswith(suffix) and len(name) > len(head) + len(suffix) else ""
    return to_bytes(head) + letters.spelled(name[len(head) : len(name) - len(tail)]) + to_bytes(tail)


def _is_unit(name: str, byte_level: bool, prefix: str, suffix: str) -> bool:
    if len(name) > 1 and prefix and name.startswith(prefix):
        name = name[len(prefix) :]
    if len(name) > 1 and suffix and name.endswith(suffix):
        name = name[: -len(suffix)]
    return len(name) == 1 and (not byte_level or letters.is_letters(name))


def _wordpiece(spec: dict[str, Any], place: Place, byte_level: bool) -> Model:
    vocabulary = _vocabulary(spec, place)
    prefix = place.key("continuing_subword_prefix").text(spec.get("continuing_subword_prefix", "##"))
    limit = place.key("max_input_chars_per_word").number(spec.get("max_input_chars_per_word", 100))
    axes = {"encode": "longest-match"}
    if prefix:
        axes["mark"] = f"prefix:{prefix}"
    model = _table(spec, place, vocabulary, byte_level, prefix)
    model.kind, model.prefix = "WordPiece", prefix
    model.axes |= axes
    model.segmenter = functools.partial(TableMatch, limit=limit)
    return model


def _word_level(spec: dict[str, Any], place: Place, byte_level: bool) -> Model:
    model = _table(spec, place, _vocabulary(spec, place), byte_level, "")
    model.axes["encode"] = "longest-match"
    model.segmenter = WholeWords
    model.notes.append("a word is one token or unknown: no axis says that")
    return model


def _table(spec: dict[str, Any], place: Place, vocabulary: dict[str, int], byte_level: bool, prefix: str) -> Model:
    """A model of tokens that are looked up, in order of their ids."""
    names = sorted(vocabulary, key=vocabulary.__getitem__)
    pieces = [_piece(name, byte_level, prefix) for name in names]
    notes: list[str] = []
    if "" in vocabulary:
        notes.append(f"the token of id {vocabulary['']} is empty: no text becomes it")
    unknown = _text(spec, "unk_token", place)
    if unknown not in vocabulary:
        notes.append(f"the unknown token {unknown[:40]!r} is not in the vocabulary: text that needs it is refused")
        unknown = ""
    axes = {"unit": "byte" if byte_level else "char", "base": "first-seen", "unknown": "whole-word" if unknown else "error"}
    return Model(
        "WordLevel", names, pieces, [vocabulary[name] for name in names], axes, None, unknown=unknown, policy=axes["unknown"],
        units={piece: symbol for symbol, piece in enumerate(pieces)}, notes=notes, never=_literal(names, byte_level),
    )


class WholeWords:
    """A word is a token, or it is unknown."""

    def __init__(self, vocabulary: Vocabulary, merges: int) -> None:
        self._table = lookup(vocabulary)

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """The one part that a word is."""
        return [Part(0, len(units), self._table.get(b"".join(units)))] if units else []

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[Attempt]:
        """The one look-up."""
        word = b"".join(units)
        yield Attempt(word, 0, len(units), word in self._table)


def _unigram(spec: dict[str, Any], place: Place, byte_level: bool) -> Model:
    rows = spec.get("vocab")
    at = place.key("vocab")
    if not isinstance(rows, list) or not rows:
        raise at.error("a list of [TOKEN, SCORE] belongs here")
    check_tokens((len(row[0]) for row in rows if type(row) is list and row and type(row[0]) is str), at)
    names: list[str] = []
    scores: list[float] = []
    for number, row in enumerate(rows):
        if type(row) is not list or len(row) != 2 or type(row[0]) is not str or type(row[1]) not in (int, float):
            raise at.row(number).error("not a token and its score", "a row is [TOKEN, SCORE]")
        if abs(row[1]) > 1e300 or not isfinite(row[1]):
            raise at.row(number).error("a score is too large", "scores are natural log probabilities")
        names.append(row[0])
        scores.append(float(row[1]))
    notes: list[str] = []
    if "" in names:
        notes.append(f"the token of id {names.index('')} is empty: no text becomes it")
    if (above := sum(score > 0 for score in scores)):
        notes.append(f"{above} of the scores are above 0: they are no logarithms of probabilities")
    if len(set(names)) < len(names):
        notes.append(f"{len(names) - len(set(names))} of the tokens stand in two rows: the last one counts")
    unknown_row: Any = spec.get("unk_id")
    if unknown_row is not None and place.key("unk_id").number(unknown_row) >= len(names):
        raise place.key("unk_id").error(f"there is no row {unknown_row}")
    pieces = [_piece(name, byte_level) for name in names]
    symbols = {name: symbol for symbol, name in enumerate(names)}
    bytes_: dict[int, int] = {}
    if flag(spec, "byte_fallback", place, False):
        bytes_ = _bytes(symbols, notes)
    unknown = "" if unknown_row is None else names[unknown_row]
    policy = "fused" if unknown else "error"
    axes = {"unit": "byte" if byte_level else "char", "base": "first-seen", "objective": "unigram", "encode": "viterbi",
            "unknown": "byte-fallback" if bytes_ and not byte_level else policy}
    return Model(
        "Unigram", names, pieces, list(range(len(names))), axes,
        functools.partial(FusedViterbi, fallback=bytes_, unknown=unknown_row), scores=scores,
        units={piece: symbol for symbol, piece in enumerate(pieces)}, bytes_=bytes_, unknown=unknown, policy=policy, notes=notes,
        never=_literal(names, byte_level),
    )


class FusedViterbi(Viterbi):
    """The most probable segmentation; a run of unknown units is one part, and that its bytes where these are all tokens.

    Of segmentations that are as good as equal rounding decides, so the scores are those that the library has.

    Args:
        vocabulary: One with scores.
        merges: Of no meaning here.
        fallback: The symbol of each byte-fallback token by its byte.
        unknown: The symbol of the unknown token: where a text spells it, that is an unknown unit too.
    """

    def __init__(self, vocabulary: Vocabulary, merges: int = 0, *, fallback: Mapping[int, int], unknown: int | None) -> None:
        super().__init__(vocabulary, merges)
        self._fallback = fallback
        self._unknown_symbol = unknown
        self._scores = list(map(as_read, self._scores))
        self._unknown = min(self._scores, default=0.0) - UNKNOWN_PENALTY

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word into parts."""
        parts: list[Part] = []
        for part in super().segment(units, characters):
            known = part.symbol is not None and part.symbol != self._unknown_symbol
            if not known and parts and parts[-1].symbol is None:
                parts[-1] = parts[-1]._replace(end=part.end)
            else:
                parts.append(part if known else part._replace(symbol=None))
        return [made for part in parts for made in ([part] if part.symbol is not None else self._spelled(part, units))]

    def _spelled(self, part: Part, units: Sequence[bytes]) -> list[Part]:
        run = b"".join(units[part.start : part.end])
        known = self._table.get(run, -1)
        if known >= 0:
            return [part._replace(symbol=known)]
        if self._fallback and all(value in self._fallback for value in run):
            return [
                Part(at, at + 1, self._fallback[value]) for at in range(part.start, part.end) for value in units[at]
            ]
        return [part]


@functools.lru_cache(maxsize=1 << 17)  # each birth of an opened file asks for all of them
def as_read(score: float) -> float:
    """A number as Rust's serde_json reads it from a file: its digits as a whole number, rounded, and then divided.

    That is not always the nearest number of double precision. Source: serde_json 1.0, `f64_from_parts`.
    """
    digits, _, exponent = repr(score).partition("e")
    whole, _, part = digits.lstrip("-").partition(".")
    if exponent or len(whole) + len(part) > _MOST_DIGITS:
        return score
    value = float(int(whole + part)) / 10.0 ** len(part)
    return -value if score < 0 else value


_MOST_DIGITS = 19
_TELLING = {"BPE": "merges", "WordPiece": "max_input_chars_per_word", "Unigram": "unk_id", "WordLevel": "unk_token"}
MODELS: dict[str, Callable[[dict[str, Any], Place, bool], Model]] = {
    "BPE": _bpe, "WordPiece": _wordpiece, "WordLevel": _word_level, "Unigram": _unigram,
}
"""What reads each type of model."""

