"""The project's own tokenizer file: one JSON document, a vocabulary entry or a merge a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from tokentui.core.errors import TokentuiError
from tokentui.encode.gage import GageVocabulary
from tokentui.encode.imported import ImportedVocabulary
from tokentui.encode.segment.viterbi import ScoredVocabulary
from tokentui.encode.tokenizer import RUN_KEYS, Entry, Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats.checking import Place, entries, parse_json
from tokentui.recipe import AXES, SHAPE, Recipe

VERSION = 1
_KEYS = ("format", "version", "recipe", "run", "vocabulary", "merges")
_ALL_BYTES = [bytes((value,)) for value in range(256)]
_LEAST_SCORE = 1e6
_quoted = json.encoder.encode_basestring
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def dumps(tokenizer: Tokenizer) -> str:
    """The document of a tokenizer. The same tokenizer always gives the same text.

    Raises:
        TokentuiError: It was read from a file that its tokens do not tell.
    """
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    if isinstance(vocabulary, ImportedVocabulary):
        from tokentui.formats.stages import parts_of  # knows the files of all tools

        parts = parts_of(tokenizer)
        stages = f' "stages": {_json(parts.stages)},\n'
        return _document(tokenizer, map(_json, parts.vocabulary), map(_json, parts.merges), stages)
    ids = [vocabulary.id_of(symbol, merges) for symbol in range(vocabulary.base_size + merges)]
    pairs = zip(vocabulary.merges[:merges], vocabulary.counts, ids[vocabulary.base_size :], strict=False)
    # Written out, since a call of the JSON module for each of many thousands of rows takes longer than many a training.
    made = (f"[{ids[left]}, {ids[right]}, {own}, {count}]" for (left, right), count, own in pairs)
    rows = (
        f'[{entry.id}, {_quoted(entry.text)}, "{entry.piece.hex()}", {"null" if entry.score is None else _json(entry.score)}]'
        for entry in tokenizer.entries()
    )
    return _document(tokenizer, rows, made)


def _document(tokenizer: Tokenizer, rows: Iterable[str], merges: Iterable[str], stages: str = "") -> str:
    document = (
        f'{{"format": "tokentui",\n "version": {VERSION},\n "recipe": {_json(tokenizer.recipe.to_dict())},\n'
        f' "run": {_json(tokenizer.run)},\n{stages} "vocabulary": [{_lines(rows)}],\n "merges": [{_lines(merges)}]}}\n'
    )
    # Half a surrogate pair (in the name of a special) has no UTF-8: it is written as an escape.
    return _HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", document)


def loads(text: str, where: str) -> Tokenizer:
    """The tokenizer of a document.

    Args:
        text: The document.
        where: What it is called in errors.

    Raises:
        TokentuiError: It is damaged, or newer than this version; it says what is wrong and in which row.
    """
    place = Place(where)
    document = parse_json(text, place)
    if not isinstance(document, dict) or document.get("format") != "tokentui":
        raise place.error('"format" is not "tokentui"', "name a file that train wrote")
    if "version" in document and place.key("version").number(document["version"]) > VERSION:
        what = f"made by a newer tokentui (version {document['version']}); this one reads version {VERSION}"
        raise place.error(what, "update tokentui")
    place.keys(document, (*_KEYS, "stages") if "stages" in document else _KEYS)
    if document["version"] != VERSION:
        raise place.error(f'there was no version {document["version"]}', f'"version" is {VERSION}')
    recipe = _recipe(document["recipe"], place.key("recipe"))
    run = _run(document["run"], place.key("run"))
    if shape := {name: run[name] for name in SHAPE if name in run}:
        recipe = _shaped(recipe, shape, place.key("run"))
    if "stages" in document:
        from tokentui.formats.stages import Parts, together

        return together(recipe, Parts(document["stages"], document["vocabulary"], document["merges"]), place)
    scored = recipe.objective == "unigram"
    rows = [_row(row, at, scored) for at, row in entries(document["vocabulary"], place.key("vocabulary"))]
    merges = [_merge(row, at) for at, row in entries(document["merges"], place.key("merges"))]
    return _build(recipe, run, rows, merges, place)


def _short(piece: bytes) -> str:
    return piece.hex() if len(piece) <= 20 else piece[:20].hex() + "…"


def _lines(rows: Iterable[str]) -> str:
    lines = ",\n  ".join(rows)
    return "\n  " + lines if lines else ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _recipe(value: Any, place: Place) -> Recipe:
    axes = place.mapping(value)
    for name in AXES:
        if name not in axes:
            raise place.error(f'"{name}" is missing', "all eleven axes belong there")
    try:
        recipe = Recipe.from_dict(axes, str(place))
    except TokentuiError as error:
        if error.where == str(place):
            raise
        raise TokentuiError(f"{error.where}: {error.what}", str(place), error.hint) from None
    return recipe


def _shaped(recipe: Recipe, shape: dict[str, Any], place: Place) -> Recipe:
    try:
        return recipe.shaped(**shape)
    except TokentuiError as error:
        raise TokentuiError(f"{error.where}: {error.what}", str(place), error.hint) from None


def _run(value: Any, place: Place) -> dict[str, Any]:
    run = place.mapping(value)
    for key, asked in run.items():
        if key not in RUN_KEYS:
            raise place.error(f"{key[:40]!r} is no key of a run", "one of: " + ", ".join(RUN_KEYS))
        if key != "specials" and key not in SHAPE:
            place.key(key).number(asked)
    for key in ("first_id", "specials"):
        if key not in run:
            raise place.error(f'"{key}" is missing', "mend the file or train it again")
    for at, name in entries(run["specials"], place.key("specials")):
        at.text(name)
    return run


def _row(row: Any, place: Place, scored: bool) -> Entry:
    number, text, code, score = place.fields(row, ("ID", "TEXT", "HEX", "SCORE"))
    place.number(number)
    piece = place.hex(code)
    # A special's name may hold half a surrogate pair; all other texts are what their bytes decode to.
    if place.text(text).encode("utf-8", "surrogatepass") != piece and piece.decode("utf-8", "replace") != text:
        raise place.error("HEX is not the bytes of TEXT", "mend one of the two")
    if score is None:
        return Entry(number, piece, text, "")
    if not scored:
        raise place.error("SCORE is not null", "only unigram models have scores")
    if isinstance(score, bool) or not isinstance(score, int | float) or not -_LEAST_SCORE <= score <= 0:
        raise place.error("SCORE is no log probability", "a number from -1e6 to 0 belongs there")
    return Entry(number, piece, text, "", float(score))


def _merge(row: Any, place: Place) -> tuple[int, int, int, int]:
    left, right, made, count = place.fields(row, ("LEFT_ID", "RIGHT_ID", "ID", "COUNT"))
    return place.number(left), place.number(right), place.number(made), place.number(count)


def _build(
    recipe: Recipe, run: dict[str, Any], rows: list[Entry], merges: list[tuple[int, int, int, int]], place: Place
) -> Tokenizer:
    """Make the vocabulary anew and hold every row against it."""
    first, specials = run["first_id"], run["specials"]
    listed, replayed = place.key("vocabulary"), place.key("merges")
    ids: dict[int, int] = {}
    for n, row in enumerate(rows):
        if ids.setdefault(row.id, n) != n:
            raise listed.row(n).error(f"id {row.id} stands in row {ids[row.id]} too", "an id stands once")
    for n, row in enumerate(rows):
        if row.id != first + n:
            raise listed.row(n).error(f"id {row.id} where {first + n} belongs", "ids go up by one from first_id")

    for n, (_, _, made, _) in enumerate(merges):
        if not first <= made < first + len(rows):
            what = f"ID {made} is not in the vocabulary"
            raise replayed.row(n).error(what, "each merge makes a token that stands there")

    named = list(Tokenizer(Vocabulary(recipe, (), specials, first)).entries())
    for n, entry in enumerate(named):
        if n >= len(rows) or rows[n].piece != entry.piece or rows[n].text != entry.text:
            what = f"{entry.text[:40]!r} belongs here"
            raise listed.row(n).error(what, "the specials come first, in the order of the run")
    ordinary = first + len(named)
    gage = recipe.objective == "gage"
    # A merge makes an entry of its own, but where it borrows a special's id or, with Gage, a byte's.
    own = 0 if gage else sum(made >= ordinary for _, _, made, _ in merges)
    others = rows[len(named) :]
    if own > len(others):
        raise listed.error(f"{len(others)} entries for {own} merges", "each merge makes a token that stands there")
    cut = own if recipe.base == "frequency" else len(others) - own
    base = others[cut:] if recipe.base == "frequency" else others[:cut]

    for n, row in enumerate(rows):
        if recipe.objective == "unigram" and (row.score is None) != (n < len(named)):
            what = "SCORE is not null" if n < len(named) else "SCORE is missing"
            raise listed.row(n).error(what, "every piece of a unigram model has one, specials and byte tokens have none")
    pieces = [row.piece for row in base]
    if recipe.objective == "unigram":
        if merges:
            raise replayed.row(0).error("a unigram model has no merges", "leave the list empty")
        vocabulary: Vocabulary = ScoredVocabulary(recipe, pieces, specials, first, [row.score or 0.0 for row in base])
    elif gage:
        vocabulary = _gage(recipe, run, pieces, merges, place)
    else:
        vocabulary = Vocabulary(recipe, pieces, specials, first)
    if len(vocabulary.units) < len(base):
        raise listed.error("two base units have the same bytes", "a unit stands once")
    if not vocabulary.scores and recipe.base in ("bytes", "gpt2-bytes") and sorted(vocabulary.units) != _ALL_BYTES:
        raise listed.error("the base is not all 256 bytes", f"base={recipe.base} wants them")
    symbols = {row.id: symbol for symbol, row in enumerate(base)}
    for n, merge in enumerate(merges):
        _replay(vocabulary, symbols, rows, merge, replayed.row(n))
    tokenizer = Tokenizer(vocabulary, None, run)
    for n, (_, _, made, _) in enumerate(merges):
        number = vocabulary.id_of(vocabulary.base_size + n, len(merges))
        if made != number:
            raise replayed.row(n).error(f"ID {made} where {number} belongs", "ids go up in the order of the merges")
    for n, entry in enumerate(tokenizer.entries()):
        if rows[n].text != entry.text:
            raise listed.row(n).error("TEXT is not what HEX decodes to", "mend one of the two")
    return tokenizer


def _gage(
    recipe: Recipe, run: dict[str, Any], pieces: list[bytes], merges: list[tuple[int, int, int, int]], place: Place
) -> GageVocabulary:
    """The vocabulary of Gage's compression, without its merges: for each a byte that stands for nothing else."""
    if pieces != _ALL_BYTES:
        raise place.key("vocabulary").error("the base is not the 256 bytes in order", "objective=gage wants them")
    first = run["first_id"] + len(run["specials"])
    plain: set[int] = set()
    taken: set[int] = set()
    for n, (left, right, made, _) in enumerate(merges):
        at = place.key("merges").row(n)
        plain |= {left, right} - taken
        if made < first:
            raise at.error(f"ID {made} is a special token's", "a byte stands for a pair")
        if made in taken:
            raise at.error(f"ID {made} stands for an earlier pair too", "a byte stands for one pair")
        if made in plain:
            raise at.error(f"ID {made} stands for itself in a pair", "a byte that stands for a pair stands for nothing else")
        taken.add(made)
    return GageVocabulary(recipe, [made - first for _, _, made, _ in merges], run["specials"], run["first_id"])


def _replay(
    vocabulary: Vocabulary, symbols: dict[int, int], rows: list[Entry], merge: tuple[int, int, int, int], at: Place
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
        raise at.error(f"the pair {left}, {right} stands in row {vocabulary.ranks[pair]} too", "a pair merges once")
    symbol = vocabulary.add(*pair, count)
    piece = vocabulary.pieces[symbol]
    if rows[made - vocabulary.first_id].piece != piece:
        what = f"{left} and {right} do not make the bytes of {made}"
        raise at.error(what, f"HEX of {made} would be {_short(piece)}")
    symbols[made] = symbol
