"""Read the models of a `tokenizer.json` as vocabularies: BPE, WordPiece, Unigram and WordLevel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from math import isfinite
from typing import Any

from tokentui.core.jobs import check
from tokentui.encode.segment import FUSED, MAX_CHARACTERS, TABLE, WHOLE, EncodingWay
from tokentui.encode.vocabulary import TokenizerFile, byte_token
from tokentui.formats.pairs import Pairs
from tokentui.formats.source import LONGEST_MARK, Node, check_tokens
from tokentui.formats.tokens import in_merge_order, is_letters, is_unit, pieces_of
from tokentui.recipe import Recipe

_BYTE_NAMES = {byte_token(value): value for value in range(256)}
"""The byte of each byte-fallback token, by its name."""


def type_of(node: Node) -> str:
    """Return the type of a model. Old files lack it; then it is guessed by the keys.

    Raises:
        TokentuiError: The type is unknown.
    """
    kind = node["type"].value
    if kind is None:
        kind = next((name for name, key in _TELLING.items() if key in node), None)
    if not isinstance(kind, str) or kind not in MODELS:
        raise node.error(f"no such type of model: {str(kind)[:40]!r}", "one of: " + ", ".join(MODELS))
    return kind


def read_model(node: Node, byte_level: bool) -> TokenizerFile:
    """Return the tokens and the way of encoding of a model, without the steps around it.

    Raises:
        TokentuiError: It is damaged, or has an unknown type.
    """
    return MODELS[type_of(node)](node, byte_level)


def _recipe(axes: Mapping[str, str], byte_level: bool, prefix: str = "", suffix: str = "") -> Recipe:
    mark = f"end-suffix:{suffix}" if suffix else f"prefix:{prefix}" if prefix else "none"
    return Recipe.from_dict({**axes, "unit": "byte" if byte_level else "char", "mark": mark})


def _rows(
    node: Node, notes: list[str], vocabulary: Mapping[str, int], cut: int
) -> Sequence[Sequence[str]]:
    """Return the merges. A merge is a pair, or in old files a text with a space between the two tokens.

    Args:
        node: The model.
        notes: Receives sentences on doubts.
        vocabulary: The id of each token.
        cut: How many characters the right part loses in a merge.

    Raises:
        TokentuiError: A row is not a pair of tokens.
    """
    place = node["merges"]
    if isinstance(place.value, Pairs):
        return place.value
    rows = place.listed()
    old = bool(rows) and isinstance(rows[0], str)
    if old and set(map(type, rows)) == {str} and set(map(str.count, rows, repeat(" "))) == {1}:
        text = "\n".join(rows)
        names = text.replace(" ", "\n").split("\n")
        if len(names) == 2 * len(rows) and not f"\n{text}".count("\n#version"):
            packed = Pairs(vocabulary, cut)
            packed.extend(names)
            return packed
    pairs: list[Sequence[str]] = []
    for number, row in enumerate(rows):
        if old and isinstance(row, str):
            if row.startswith("#version"):
                continue
            row = row.split(" ")
        if type(row) is not list or len(row) != 2 or type(row[0]) is not str or type(row[1]) is not str:
            raise place.at(number).error("not a pair of tokens", "write rows as [LEFT, RIGHT]")
        pairs.append(row)
    if passed := len(rows) - len(pairs):
        what = f"{passed} of the merges start with #version and are passed over"
        notes.append(f"{what}, as Hugging Face's library does it")
    return pairs


def _empty(vocabulary: Mapping[str, int]) -> list[str]:
    return [f"the token of id {vocabulary['']} is empty: no text becomes it"] if "" in vocabulary else []


def _unknown(node: Node, vocabulary: Mapping[str, int], notes: list[str]) -> str:
    """Return the name of the unknown token; empty for none. Doubts are added to `notes`."""
    name = node["unk_token"].text("")
    if name in vocabulary:
        return name
    notes.append(f"the unknown token {name[:40]!r} is not in the vocabulary: text that needs it is refused")
    return ""


def _bpe(node: Node, byte_level: bool) -> TokenizerFile:
    """Read a model of type BPE. Notes what does not count, such as rows in a wrong place or without a token.

    The tokens are put in the order of the merges, with units first.
    """
    prefix, suffix = (node[name].text("", LONGEST_MARK)
                      for name in ("continuing_subword_prefix", "end_of_word_suffix"))
    vocabulary = node["vocab"].ids()
    notes: list[str] = []
    rows = _rows(node, notes, vocabulary, len(prefix))
    if prefix and (odd := sum(not right.startswith(prefix) for _, right in rows)):
        what = f"{odd} of the merges have a right side that does not begin with {prefix[:40]!r}"
        notes.append(f"{what}: it is split anyway")
    notes += _empty(vocabulary)

    def unit(name: str) -> bool:
        return is_unit(name, prefix, suffix, byte_level)

    ordered = in_merge_order(vocabulary, rows, node["merges"].at, len(prefix),
                          is_unit=unit if prefix or suffix else None)
    check()
    pieces = pieces_of(ordered.tokens, byte_level, prefix, suffix)
    check()
    roots = ordered.roots
    bytes_ = _bytes(node, roots, notes)
    marked = bool(prefix or suffix)
    units = {pieces[symbol]: symbol for symbol, name in enumerate(roots)
             if (marked or len(name) == 1) and unit(name)}
    complete = (
        byte_level and not prefix and not suffix and all(bytes((value,)) in units for value in range(256))
    )
    unknown, policy = "", "drop"
    if node["unk_token"].text(""):
        unknown = _unknown(node, vocabulary, notes)
        policy = "error" if not unknown else "fused" if node["fuse_unk"].flag(False) else "per-unit"
    whole: dict[bytes, int] = {}
    if node["ignore_merges"].flag(False):
        named = zip(pieces, ordered.tokens, strict=True)
        whole = {piece: symbol for symbol, (piece, name) in enumerate(named)
                 if not byte_level or is_letters(name)}
        if prefix or suffix:
            notes.append("ignore_merges is applied to words with their marks")
    dropout = node["dropout"].value
    share = dropout if isinstance(dropout, int | float) and not isinstance(dropout, bool) else -1
    if dropout is not None and not 0 <= share <= 1:
        raise node["dropout"].error("not between 0 and 1")
    if dropout:
        notes.append("dropout is not applied: a text always has the same tokens")
    axes = {"base": "gpt2-bytes" if complete else "first-seen",
            "unknown": "never" if complete else "byte-fallback" if bytes_ and not byte_level else policy}
    way = ordered.way.with_tables(
        whole=whole, fallback=bytes_, drop=policy == "drop", fused=policy == "fused"
    )
    return TokenizerFile(
        "huggingface", _recipe(axes, byte_level, prefix, suffix), pieces, ordered.ids, ordered.merges, units,
        bytes_, unknown=vocabulary[unknown] if unknown else None, tokens=ordered.tokens, way=way,
        policy=policy, notes=(*notes, *ordered.notes),
    )


def _bytes(node: Node, names: Sequence[str], notes: list[str]) -> dict[int, int]:
    """Return the symbol of each byte-fallback token, by byte; empty without byte fallback. If some are
    missing, that is added to `notes`.

    Args:
        node: The model.
        names: The name of each symbol. Of two symbols with the same name, the last one counts.
        notes: Receives the sentence.
    """
    if not node["byte_fallback"].flag(False):
        return {}
    symbols = {name: symbol for symbol, name in enumerate(names) if name in _BYTE_NAMES}
    by_byte = {value: symbols[name] for name, value in _BYTE_NAMES.items() if name in symbols}
    if 0 < len(by_byte) < 256:
        notes.append(f"{256 - len(by_byte)} of the 256 byte tokens are missing")
    return by_byte


def _wordpiece(node: Node, byte_level: bool) -> TokenizerFile:
    prefix = node["continuing_subword_prefix"].text("##", LONGEST_MARK)
    limit = node["max_input_chars_per_word"].number(MAX_CHARACTERS)
    return _table(node, byte_level, replace(TABLE.with_tables(limit=limit), most=limit), prefix)


def _word_level(node: Node, byte_level: bool) -> TokenizerFile:
    model = _table(node, byte_level, WHOLE)
    return replace(model, notes=(*model.notes, "a word is one token or unknown: no axis says that"))


def _table(node: Node, byte_level: bool, way: EncodingWay, prefix: str = "") -> TokenizerFile:
    """Return a model whose tokens are looked up, by id."""
    vocabulary = node["vocab"].ids()
    names = sorted(vocabulary, key=vocabulary.__getitem__)
    notes = _empty(vocabulary)
    unknown = _unknown(node, vocabulary, notes)
    policy = "whole-word" if unknown else "error"
    axes = {"base": "first-seen", "encode": "longest-match", "unknown": policy}
    pieces = pieces_of(names, byte_level, prefix)
    return TokenizerFile(
        "huggingface", _recipe(axes, byte_level, prefix), pieces, [vocabulary[name] for name in names],
        units=_symbols(pieces), never=_never(names, byte_level), tokens=names, way=way, policy=policy,
        unknown=vocabulary[unknown] if unknown else None, notes=tuple(notes),
    )


def _symbols(pieces: list[bytes]) -> dict[bytes, int]:
    return dict(zip(pieces, range(len(pieces)), strict=True))


def _never(names: list[str], byte_level: bool) -> frozenset[int]:
    """Return the symbols that no word becomes: with byte letters, the tokens with other characters."""
    if not byte_level:
        return frozenset()
    return frozenset(n for n, name in enumerate(names) if not is_letters(name))


def _unigram(node: Node, byte_level: bool) -> TokenizerFile:
    """Read a model of type Unigram: its rows of tokens and scores.

    Of a token in two rows the last one counts. Raises for other rows, scores too large, and an unknown token
    without a row. Scores above 0 and doubles are noted.
    """
    at, rows = node["vocab"], node["vocab"].listed()
    scored = _scored(rows)
    names, scores = scored or ([], [])
    check_tokens(map(len, names) if scored else (
        len(row[0]) for row in rows if type(row) is list and row and type(row[0]) is str
    ), at)
    if scored is None:
        for number, row in enumerate(rows):
            if type(row) is not list or [type(field) for field in row] not in ([str, float], [str, int]):
                raise at.at(number).error("not a token and its score", "a row is [TOKEN, SCORE]")
            if abs(row[1]) > 1e300 or not isfinite(row[1]):
                raise at.at(number).error("a score is too large", "scores are natural log probabilities")
        names, scores = [name for name, _ in rows], [float(score) for _, score in rows]
    check()
    symbols = dict(zip(names, range(len(names)), strict=True))
    notes = _empty({"": names.index("")} if "" in symbols else {})
    if max(scores, default=0) > 0:
        above = sum(score > 0 for score in scores)
        notes.append(f"{above} of the scores are above 0: they are not log probabilities")
    if len(symbols) < len(names):
        notes.append(f"{len(names) - len(symbols)} of the tokens are in two rows: the last one counts")
    row_of_unknown = None if node["unk_id"].value is None else node["unk_id"].number()
    if row_of_unknown is not None and row_of_unknown >= len(names):
        raise node["unk_id"].error(f"there is no row {row_of_unknown}")
    bytes_ = _bytes(node, names, notes)
    unknown = "" if row_of_unknown is None else names[row_of_unknown]
    policy = "fused" if unknown else "error"
    axes = {"base": "first-seen", "objective": "unigram", "encode": "viterbi",
            "unknown": "byte-fallback" if bytes_ and not byte_level else policy}
    check()
    pieces = pieces_of(names, byte_level)
    return TokenizerFile(
        "huggingface", _recipe(axes, byte_level), pieces, list(range(len(names))), units=_symbols(pieces),
        bytes_=bytes_, scores=scores, never=_never(names, byte_level), unknown=row_of_unknown, tokens=names,
        way=FUSED.with_tables(fallback=bytes_, unknown=row_of_unknown), policy=policy, notes=tuple(notes),
    )


def _scored(rows: list[Any]) -> tuple[list[str], list[float]] | None:
    """Return the tokens and their scores, by a few calls for all; None for no rows, or if some are no token
    and its score."""
    if set(map(type, rows)) != {list} or set(map(len, rows)) != {2}:
        return None
    names, scores = zip(*rows, strict=True)
    if set(map(type, names)) != {str} or not set(map(type, scores)) <= {float, int}:
        return None
    if not (min(scores) >= -1e300 and max(scores) <= 1e300 and all(map(isfinite, scores))):
        return None
    return list(names), list(map(float, scores))


_TELLING = {"BPE": "merges", "WordPiece": "max_input_chars_per_word", "Unigram": "unk_id",
            "WordLevel": "unk_token"}
MODELS: dict[str, Callable[[Node, bool], TokenizerFile]] = {
    "BPE": _bpe, "WordPiece": _wordpiece, "WordLevel": _word_level, "Unigram": _unigram,
}
"""Readers of models by type."""

