"""The models of a `tokenizer.json`: BPE, WordPiece, Unigram and WordLevel, as vocabularies."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from tokentui.encode.segment.fused import FusedViterbi
from tokentui.encode.segment.longest import TableMatch, WholeWords
from tokentui.encode.segment.parts import MAX_CHARACTERS, Segmenter
from tokentui.encode.segment.ranked import PairMerging
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats import letters
from tokentui.formats.document import Node, check_tokens
from tokentui.formats.merge_order import in_merge_order
from tokentui.text.split import to_bytes


@dataclass(slots=True)
class Model:
    """The parts of a model that are read.

    Attributes:
        kind: Its type.
        tokens: The name of each symbol.
        pieces: The exact bytes of each symbol, marks included.
        ids: The id of each symbol.
        axes: What the axes of a recipe can say of it.
        segmenter: The way of encoding, made for the vocabulary and a number of merges.
        merges: The (left, right) of each merge; the tokens that merges make are the last symbols.
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
    segmenter: Callable[[Vocabulary, int], Segmenter]
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


def read_model(node: Node, byte_level: bool) -> Model:
    """The model of its JSON value; files of old do not name its type.

    Raises:
        TokentuiError: It is damaged, or of a type that is not known.
    """
    kind = node["type"].value
    if kind is None:
        kind = next((name for name, key in _TELLING.items() if key in node), None)
    if not isinstance(kind, str) or kind not in MODELS:
        raise node.error(f"no such type of model: {str(kind)[:40]!r}", "one of: " + ", ".join(MODELS))
    return MODELS[kind](node, byte_level)


def _rows(node: Node, notes: list[str]) -> list[Sequence[str]]:
    """The merges, of the layout that Hugging Face writes now, a pair a row, or of the old one, with a space
    between.
    """
    place, rows = node["merges"], node["merges"].value
    if not isinstance(rows, list):
        raise node.error('"merges" is no list' if "merges" in node else '"merges" is missing')
    if rows and isinstance(rows[0], str):
        return _spaced_rows(rows, place, notes)
    for number, row in enumerate(rows):
        if type(row) is not list or len(row) != 2 or type(row[0]) is not str or type(row[1]) is not str:
            raise place.at(number).error("not a pair of tokens", "a row is [LEFT, RIGHT]")
    return rows


def _spaced_rows(rows: list[object], place: Node, notes: list[str]) -> list[Sequence[str]]:
    pairs: list[Sequence[str]] = []
    passed = 0
    for number, row in enumerate(rows):
        if type(row) is not str:
            raise place.at(number).error("not a merge as text, like the first one", "write all rows alike")
        if row.startswith("#version"):
            passed += 1
            continue
        pair = row.split(" ")
        if len(pair) != 2:
            raise place.at(number).error("not two tokens with a space between them",
                                         "write rows as [LEFT, RIGHT]")
        pairs.append(pair)
    if passed:
        what = f"{passed} of the merges start with #version and are passed over"
        notes.append(f"{what}, as Hugging Face's library does it")
    return pairs


def _empty(vocabulary: Mapping[str, int]) -> list[str]:
    return [f"the token of id {vocabulary['']} is empty: no text becomes it"] if "" in vocabulary else []


def _bpe(node: Node, byte_level: bool) -> Model:
    prefix, suffix = node["continuing_subword_prefix"].text(""), node["end_of_word_suffix"].text("")
    vocabulary = node["vocab"].ids()
    notes: list[str] = []
    rows = _rows(node, notes)
    if prefix and (odd := sum(not right.startswith(prefix) for _, right in rows)):
        what = f"{odd} of the merges have a right side that does not begin with {prefix[:40]!r}"
        notes.append(f"{what}: it is cut all the same")
    notes += _empty(vocabulary)
    is_unit = (lambda name: _is_unit(name, byte_level, prefix, suffix)) if prefix or suffix else None
    made = in_merge_order(vocabulary, rows, node["merges"].at, len(prefix), is_unit=is_unit)
    pieces = [_piece(name, byte_level, prefix, suffix) for name in made.tokens]
    roots = made.tokens[: len(pieces) - len(made.merges)]
    symbols = {name: symbol for symbol, name in enumerate(roots)}
    bytes_ = _bytes(symbols, notes) if node.flag("byte_fallback", False) else {}
    units = {pieces[symbol]: symbol for name, symbol in symbols.items()
             if _is_unit(name, byte_level, prefix, suffix)}
    unknown = node["unk_token"].text("")
    complete = byte_level and not prefix and not suffix and all(bytes((value,)) in units
                                                                for value in range(256))
    policy = ("fused" if node.flag("fuse_unk", False) else "per-unit") if unknown else "drop"
    if unknown and unknown not in vocabulary:
        notes.append(
            f"the unknown token {unknown[:40]!r} is not in the vocabulary: text that needs it is refused"
        )
        unknown, policy = "", "error"
    whole: dict[bytes, int] = {}
    if node.flag("ignore_merges", False):
        whole = {
            piece: symbol for symbol, (piece, name) in enumerate(zip(pieces, made.tokens, strict=True))
            if not byte_level or letters.is_letters(name)
        }
        if prefix or suffix:
            notes.append("ignore_merges is applied to words with their marks")
    dropout = node["dropout"].value
    share = dropout if isinstance(dropout, int | float) and not isinstance(dropout, bool) else -1
    if dropout is not None and not 0 <= share <= 1:
        raise node["dropout"].error("not between 0 and 1")
    if dropout:
        notes.append("dropout is not applied: a text always has the same tokens")
    axes = {"unit": "byte" if byte_level else "char", "base": "gpt2-bytes" if complete else "first-seen",
            "unknown": "never" if complete else "byte-fallback" if bytes_ and not byte_level else policy}
    if suffix or prefix:
        axes["mark"] = f"end-suffix:{suffix}" if suffix else f"prefix:{prefix}"
    segmenter = functools.partial(
        PairMerging, rows=made.rows, makes=made.makes, whole=whole, fallback=bytes_, drop=policy == "drop",
        fused=policy == "fused",
    )
    return Model(
        "BPE", made.tokens, pieces, made.ids, axes, segmenter, made.merges, units, bytes_, unknown=unknown,
        policy=policy,
        prefix=prefix, suffix=suffix, whole=bool(whole), notes=notes + made.notes,
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


def _wordpiece(node: Node, byte_level: bool) -> Model:
    prefix = node["continuing_subword_prefix"].text() if "continuing_subword_prefix" in node else "##"
    model = _table(node, byte_level, prefix)
    limit = node[
        "max_input_chars_per_word"
    ].number() if "max_input_chars_per_word" in node else MAX_CHARACTERS
    model.kind, model.prefix, model.segmenter = "WordPiece", prefix, functools.partial(TableMatch,
                                                                                       limit=limit)
    model.axes |= {"mark": f"prefix:{prefix}"} if prefix else {}
    return model


def _word_level(node: Node, byte_level: bool) -> Model:
    model = _table(node, byte_level, "")
    model.notes.append("a word is one token or unknown: no axis says that")
    return model


def _table(node: Node, byte_level: bool, prefix: str) -> Model:
    """A model of tokens that are looked up, in order of their ids."""
    vocabulary = node["vocab"].ids()
    names = sorted(vocabulary, key=vocabulary.__getitem__)
    pieces = [_piece(name, byte_level, prefix) for name in names]
    notes = _empty(vocabulary)
    unknown = node["unk_token"].text("")
    if unknown not in vocabulary:
        notes.append(
            f"the unknown token {unknown[:40]!r} is not in the vocabulary: text that needs it is refused"
        )
        unknown = ""
    axes = {"unit": "byte" if byte_level else "char", "base": "first-seen", "encode": "longest-match",
            "unknown": "whole-word" if unknown else "error"}
    return Model(
        "WordLevel", names, pieces, [vocabulary[name] for name in names], axes, WholeWords, unknown=unknown,
        policy=axes["unknown"], units={piece: symbol for symbol, piece in enumerate(pieces)}, notes=notes,
        never=_literal(names, byte_level),
    )


def _unigram(node: Node, byte_level: bool) -> Model:
    at, rows = node["vocab"], node["vocab"].value
    if not isinstance(rows, list) or not rows:
        raise at.error("a list of [TOKEN, SCORE] belongs here")
    check_tokens((len(row[0]) for row in rows if type(row) is list and row and type(row[0]) is str), at)
    names: list[str] = []
    scores: list[float] = []
    for number, row in enumerate(rows):
        if type(row) is not list or len(row) != 2 or type(row[0]) is not str or type(row[1]) not in (int, float):
            raise at.at(number).error("not a token and its score", "a row is [TOKEN, SCORE]")
        if abs(row[1]) > 1e300 or not isfinite(row[1]):
            raise at.at(number).error("a score is too large", "scores are natural log probabilities")
        names.append(row[0])
        scores.append(float(row[1]))
    symbols = {name: symbol for symbol, name in enumerate(names)}
    notes = [f"the token of id {names.index('')} is empty: no text becomes it"] if "" in symbols else []
    if above := sum(score > 0 for score in scores):
        notes.append(f"{above} of the scores are above 0: they are no logarithms of probabilities")
    if len(symbols) < len(names):
        notes.append(f"{len(names) - len(symbols)} of the tokens stand in two rows: the last one counts")
    row_of_unknown = None if node["unk_id"].value is None else node["unk_id"].number()
    if row_of_unknown is not None and row_of_unknown >= len(names):
        raise node["unk_id"].error(f"there is no row {row_of_unknown}")
    bytes_ = _bytes(symbols, notes) if node.flag("byte_fallback", False) else {}
    unknown = "" if row_of_unknown is None else names[row_of_unknown]
    policy = "fused" if unknown else "error"
    axes = {"unit": "byte" if byte_level else "char", "base": "first-seen", "objective": "unigram",
            "encode": "viterbi",
            "unknown": "byte-fallback" if bytes_ and not byte_level else policy}
    pieces = [_piece(name, byte_level) for name in names]
    return Model(
        "Unigram", names, pieces, list(range(len(names))), axes,
        functools.partial(FusedViterbi, fallback=bytes_, unknown=row_of_unknown), scores=scores,
        units={piece: symbol for symbol, piece in enumerate(pieces)}, bytes_=bytes_, unknown=unknown,
        policy=policy, notes=notes,
        never=_literal(names, byte_level),
    )


_TELLING = {"BPE": "merges", "WordPiece": "max_input_chars_per_word", "Unigram": "unk_id",
            "WordLevel": "unk_token"}
MODELS: dict[str, Callable[[Node, bool], Model]] = {
    "BPE": _bpe, "WordPiece": _wordpiece, "WordLevel": _word_level, "Unigram": _unigram,
}
"""The readers of models by their types."""

