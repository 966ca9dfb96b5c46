"""The project's own tokenizer file: one JSON document, a vocabulary entry or a merge a line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tokentui.core.errors import TokentuiError
from tokentui.core.lazy import Ref
from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.segment.viterbi import ScoredVocabulary
from tokentui.encode.tokenizer import Entry, Tokenizer
from tokentui.encode.vocabulary import GageVocabulary, Vocabulary
from tokentui.formats.document import Node
from tokentui.formats.source import Source
from tokentui.formats.spec import Fitted, Spec
from tokentui.formats.stages import Parts, parts_of, restored
from tokentui.recipe import AXIS_NAMES, RUN, SHAPE, Recipe

VERSION = 1
_check = Ref("tokentui.axes:check")
"""A file is a door, where a recipe is checked; the axes are collected above this room."""
_KEYS = ("format", "version", "recipe", "run", "vocabulary", "merges")
_ALL_BYTES = [bytes((value,)) for value in range(256)]
_LEAST_SCORE = 1e6
_quoted = json.encoder.encode_basestring
_HALF_PAIR = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class _Document(Fitted):
    """The own document, put together when it is written."""

    parts: Parts | None = None
    tokenizer: Tokenizer | None = None


def sniff(source: Source) -> bool:
    """Return whether it is a JSON object of this format."""
    return source.document.get("format") == "tokentui"


def read(source: Source) -> Tokenizer:
    """The tokenizer of a document.

    Raises:
        TokentuiError: It is damaged, or newer than this version; it says what is wrong and in which row.
    """
    root = source.root
    if root["format"].value != "tokentui":
        raise root.error('"format" is not "tokentui"', "name a file that train wrote")
    if "version" in root and root["version"].number() > VERSION:
        what = f"made by a newer tokentui (version {root['version'].value}); this one reads version {VERSION}"
        raise root.error(what, "update tokentui")
    root.keys((*_KEYS, "stages") if "stages" in root else _KEYS)
    if root["version"].value != VERSION:
        raise root.error(f'there was no version {root["version"].value}', f'"version" is {VERSION}')
    recipe = _recipe(root["recipe"])
    run = _run(root["run"])
    if shape := {name: run[name] for name in SHAPE if name in run}:
        recipe = _told(root["run"], lambda: _check(recipe.shaped(**shape)))
    if "stages" in root:
        return restored(recipe, root)
    scored = recipe.objective == "unigram"
    rows = [_row(row, scored) for row in root["vocabulary"].rows()]
    merges = [_merge(row) for row in root["merges"].rows()]
    return _build(recipe, run, rows, merges, root)


def fit(spec: Spec) -> Fitted:
    """A tokenizer as the own document holds it.

    Raises:
        Refused: It was read from a file that its tokens do not tell.
    """
    parts = parts_of(spec) if isinstance(spec.vocabulary, ImportedVocabulary) else None
    return _Document(spec.recipe, parts=parts, tokenizer=spec.tokenizer)


def write(fitted: Fitted) -> tuple[bytes, ...]:
    """The bytes of the document. The same tokenizer always gives the same text."""
    assert isinstance(fitted, _Document)
    assert fitted.tokenizer is not None
    tokenizer, parts = fitted.tokenizer, fitted.parts
    if parts is not None:
        stages = f' "stages": {_json(parts.stages)},\n'
        return (_document(tokenizer, map(_json, parts.vocabulary), map(_json, parts.merges), stages),)
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    ids = [vocabulary.id_of(symbol, merges) for symbol in range(vocabulary.base_size + merges)]
    pairs = zip(vocabulary.merges[:merges], vocabulary.counts, ids[vocabulary.base_size :], strict=False)
    # Written out, since a call of the JSON module for each of many thousands of rows takes longer than many a
    # training.
    made = (f"[{ids[left]}, {ids[right]}, {own}, {count}]" for (left, right), count, own in pairs)
    rows = (
        f'[{one.id}, {_quoted(one.text)}, "{one.piece.hex()}", {"null" if one.score is None else _json(one.score)}]'
        for one in tokenizer.entries()
    )
    return (_document(tokenizer, rows, made),)


def _document(tokenizer: Tokenizer, rows: Iterable[str], merges: Iterable[str], stages: str = "") -> bytes:
    document = (
        f'{{"format": "tokentui",\n "version": {VERSION},\n "recipe": {_json(tokenizer.recipe.to_dict())},\n'
        f' "run": {_json(tokenizer.run)},\n{stages} "vocabulary": [{_lines(rows)}],\n'
        f' "merges": [{_lines(merges)}]}}\n'
    )
    # Half a surrogate pair (in the name of a special) has no UTF-8: it is written as an escape.
    return _HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", document).encode()


def _short(piece: bytes) -> str:
    return piece.hex() if len(piece) <= 20 else piece[:20].hex() + "…"


def _lines(rows: Iterable[str]) -> str:
    lines = ",\n  ".join(rows)
    return "\n  " + lines if lines else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _recipe(node: Node) -> Recipe:
    axes = node.mapping()
    for name in AXIS_NAMES:
        if name not in axes:
            raise node.error(f'"{name}" is missing', "all eleven axes belong there")
    return _told(node, lambda: _check(Recipe.from_dict(axes, str(node))))


def _told(node: Node, make: Callable[[], Recipe]) -> Recipe:
    """A recipe; what is wrong with it is told with its place in the file."""
    try:
        return make()
    except TokentuiError as error:
        if error.where == str(node):
            raise
        raise TokentuiError(f"{error.where}: {error.what}", str(node), error.hint) from None


def _run(node: Node) -> dict[str, Any]:
    run = node.mapping()
    for key in run:
        if key not in RUN and key not in SHAPE:
            raise node.error(f"{key[:40]!r} is no key of a run", "one of: " + ", ".join((*RUN, *SHAPE)))
        if key != "specials" and key not in SHAPE:
            node[key].number()
    for key in ("first_id", "specials"):
        if key not in run:
            raise node.error(f'"{key}" is missing')
    node["specials"].texts()
    return run


def _row(row: Node, scored: bool) -> Entry:
    number, text, code, score = row.fields("ID", "TEXT", "HEX", "SCORE")
    identity, piece, said = number.number(), code.hex(), text.text()
    # A special's name may hold half a surrogate pair; all other texts are what their bytes decode to.
    if said.encode("utf-8", "surrogatepass") != piece and piece.decode("utf-8", "replace") != said:
        raise row.error("HEX is not the bytes of TEXT", "mend one of the two")
    value = score.value
    if value is None:
        return Entry(identity, piece, said, "")
    if not scored:
        raise row.error("SCORE is not null", "only unigram models have scores")
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_LEAST_SCORE <= value <= 0:
        raise row.error("SCORE is no log probability", "a number from -1e6 to 0 belongs there")
    return Entry(identity, piece, said, "", float(value))


def _merge(row: Node) -> tuple[int, int, int, int]:
    left, right, made, count = row.fields("LEFT_ID", "RIGHT_ID", "ID", "COUNT")
    return left.number(), right.number(), made.number(), count.number()


def _build(
    recipe: Recipe, run: dict[str, Any], rows: list[Entry], merges: list[tuple[int, int, int, int]],
    root: Node
) -> Tokenizer:
    """Make the vocabulary anew and hold every row against it."""
    first, specials = run["first_id"], run["specials"]
    listed, replayed = root["vocabulary"], root["merges"]
    ids: dict[int, int] = {}
    for n, row in enumerate(rows):
        if ids.setdefault(row.id, n) != n:
            raise listed.at(n).error(f"id {row.id} stands in row {ids[row.id]} too", "an id stands once")
    for n, row in enumerate(rows):
        if row.id != first + n:
            raise listed.at(n).error(f"id {row.id} where {first + n} belongs",
                                     "ids go up by one from first_id")

    for n, (_, _, made, _) in enumerate(merges):
        if not first <= made < first + len(rows):
            what = f"ID {made} is not in the vocabulary"
            raise replayed.at(n).error(what, "each merge makes a token that stands there")

    named = list(Tokenizer(Vocabulary(recipe, (), specials, first)).entries())
    for n, entry in enumerate(named):
        if n >= len(rows) or rows[n].piece != entry.piece or rows[n].text != entry.text:
            what = f"{entry.text[:40]!r} belongs here"
            raise listed.at(n).error(what, "the specials come first, in the order of the run")
    ordinary = first + len(named)
    gage = recipe.objective == "gage"
    # A merge makes an entry of its own, but where it borrows a special's id or, with Gage, a byte's.
    own = 0 if gage else sum(made >= ordinary for _, _, made, _ in merges)
    others = rows[len(named) :]
    if own > len(others):
        raise listed.error(f"{len(others)} entries for {own} merges",
                           "each merge makes a token that stands there")
    cut = own if recipe.base == "frequency" else len(others) - own
    base = others[cut:] if recipe.base == "frequency" else others[:cut]

    for n, row in enumerate(rows):
        if recipe.objective == "unigram" and (row.score is None) != (n < len(named)):
            what = "SCORE is not null" if n < len(named) else "SCORE is missing"
            raise listed.at(n).error(
                what, "every piece of a unigram model has one, specials and byte tokens have none"
            )
    pieces = [row.piece for row in base]
    if recipe.objective == "unigram":
        if merges:
            raise replayed.at(0).error("a unigram model has no merges", "leave the list empty")
        vocabulary: Vocabulary = ScoredVocabulary(recipe, pieces, specials, first,
                                                  [row.score or 0.0 for row in base])
    elif gage:
        vocabulary = _gage(recipe, run, pieces, merges, root)
    else:
        vocabulary = Vocabulary(recipe, pieces, specials, first)
    if len(vocabulary.units) < len(base):
        raise listed.error("two base units have the same bytes", "a unit stands once")
    of_bytes = not vocabulary.scores and recipe.base in ("bytes", "gpt2-bytes")
    if of_bytes and sorted(vocabulary.units) != _ALL_BYTES:
        raise listed.error("the base is not all 256 bytes", f"base={recipe.base} wants them")
    symbols = {row.id: symbol for symbol, row in enumerate(base)}
    for n, merge in enumerate(merges):
        _replay(vocabulary, symbols, rows, merge, replayed.at(n))
    tokenizer = Tokenizer(vocabulary, None, run)
    for n, (_, _, made, _) in enumerate(merges):
        number = vocabulary.id_of(vocabulary.base_size + n, len(merges))
        if made != number:
            raise replayed.at(n).error(f"ID {made} where {number} belongs",
                                       "ids go up in the order of the merges")
    for n, entry in enumerate(tokenizer.entries()):
        if rows[n].text != entry.text:
            raise listed.at(n).error("TEXT is not what HEX decodes to", "mend one of the two")
    return tokenizer


def _gage(
    recipe: Recipe, run: dict[str, Any], pieces: list[bytes], merges: list[tuple[int, int, int, int]],
    root: Node
) -> GageVocabulary:
    """The vocabulary of Gage's compression, without its merges: for each a byte that stands for nothing else.
    """
    if pieces != _ALL_BYTES:
        raise root["vocabulary"].error("the base is not the 256 bytes in order", "objective=gage wants them")
    first = run["first_id"] + len(run["specials"])
    plain: set[int] = set()
    taken: set[int] = set()
    for n, (left, right, made, _) in enumerate(merges):
        at = root["merges"].at(n)
        plain |= {left, right} - taken
        if made < first:
            raise at.error(f"ID {made} is a special token's", "a byte stands for a pair")
        if made in taken:
            raise at.error(f"ID {made} stands for an earlier pair too", "a byte stands for one pair")
        if made in plain:
            raise at.error(f"ID {made} stands for itself in a pair",
                           "a byte that stands for a pair stands for nothing else")
        taken.add(made)
    return GageVocabulary(recipe, [made - first for _, _, made, _ in merges], run["specials"],
                          run["first_id"])


def _replay(
    vocabulary: Vocabulary, symbols: dict[int, int], rows: list[Entry],
    merge: tuple[int, int, int, int], at: Node
) -> None:
    """Add a merge whose parts must be there and make the bytes of its token; `symbols` learns its id."""
    left, right, made, count = merge
    for name, part in (("LEFT_ID", left), ("RIGHT_ID", right)):
        if part not in symbols:
            there = vocabulary.first_id <= part < vocabulary.first_id + len(rows)
            what = f"{name} {part} is {'no unit or earlier token' if there else 'not in the vocabulary'}"
            raise at.error(what, "a merge joins base units and tokens of earlier merges")
    pair = symbols[left], symbols[right]
    if pair in vocabulary.ranks:
        raise at.error(f"the pair {left}, {right} stands in row {vocabulary.ranks[pair]} too",
                       "a pair merges once")
    symbol = vocabulary.add(*pair, count)
    piece = vocabulary.pieces[symbol]
    if rows[made - vocabulary.first_id].piece != piece:
        what = f"{left} and {right} do not make the bytes of {made}"
        raise at.error(what, f"HEX of {made} would be {_short(piece)}")
    symbols[made] = symbol
