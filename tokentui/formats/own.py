"""The project's own tokenizer file: a JSON document with one vocabulary entry or merge per line.

A tokenizer whose steps are events also has "events", one per line: step, kind, bytes of the token and of its
parts, places and view. Its list of merges is empty.

A tokenizer from another tool's file also has "stages": the name of its format, and all other content of that
file. The ids are those of that file. To read such a document, the other tool's file is recreated and read.

Of a trained tokenizer, "unicode" names the Unicode tables. A document without it, by an earlier version, uses
those of the installed Python and `regex`.
"""

from __future__ import annotations

import functools
import itertools
import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from typing import NamedTuple

from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.records import dataclass
from tokentui.encode.events import LEAVING, MAKING, Event, EventKind, EventVocabulary
from tokentui.encode.gage import GageVocabulary
from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.segment import WAYS
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats import OWN, WRITTEN, Codec
from tokentui.formats.source import (
    LONGEST_MARK,
    Node,
    RecipeFacts,
    Source,
    check_number,
    check_tokens,
    source_of,
)
from tokentui.formats.spec import FileToken, Fitted, Spec, Unsupported
from tokentui.formats.tokens import name_of
from tokentui.learn.bases import BASES
from tokentui.recipe import AXIS_NAMES, CORPUS_FACTS, NEWEST_UNICODE, RUN, SHAPE, Recipe
from tokentui.text.pretokenize import MARKS, UNITS
from tokentui.text.unicode import TABLES

VERSION = 1
_KEYS = ("format", "version", "recipe", "run", "vocabulary", "merges")
_OPTIONAL = ("stages", "events", "unicode")
_WITH_ENDS = ("sentencepiece", "bert", "tekken")
"""Formats whose reader puts tokens around a text that the file does not name."""
_BY_CLASS = ("gpt2", "bert")
"""Formats whose special tokens follow from the class of a folder."""
_STAGES = ("format", "letters", "names", "scores", "specials", "notes", "encode", "around", "unknown")
_LEAST_SCORE = 1e6
_quoted = json.encoder.encode_basestring
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_EVENT = ("STEP", "KIND", "HEX", "PARTS", "PLACES", "VIEW")
_APART = (EventKind.SPLIT, EventKind.BREAK, EventKind.DEMOTE)
_EVENTS = tuple(map(str, (EventKind.MERGE, EventKind.COVER, *_APART, EventKind.REMOVE, EventKind.UNLOCK)))
_ALL_BYTES = [bytes((value,)) for value in range(256)]
"""The 256 bytes in order."""


class _Merge(NamedTuple):
    """A row of the merges, by ids."""

    left: int
    right: int
    made: int
    times: int


@dataclass(slots=True)
class _Document(Fitted):
    """The document, without its recipe.

    Attributes:
        run: The options of its training.
        stages: Its stages; None for none.
        merges: Its merges.
        events: Its events, each with its step; None for a tokenizer with merges.
        pieces: The bytes of each symbol in the events.
    """

    run: Mapping[str, object] = field(default_factory=dict)
    stages: Mapping[str, object] | None = None
    merges: Iterable[tuple[int, int, int, int]] = ()
    events: Iterable[tuple[int, Event]] | None = None
    pieces: Sequence[bytes] = ()


def _sniff(source: Source) -> bool:
    """Return whether the file is a JSON object of this format."""
    return source.document.get("format") == "tokentui"


# --- writing ---


def _entry_rows(tokenizer: Tokenizer) -> list[FileToken]:
    """Return the rows of a vocabulary. The name of a token is its text."""
    vocabulary, named = tokenizer.vocabulary, tokenizer.named()
    symbols = vocabulary.symbols_by_id(tokenizer.merges)
    for number in named:  # a merge may borrow a special's id
        symbols.pop(number, None)
    # column by column: row by row takes longer than many a training
    pieces = [vocabulary.pieces[symbol] for symbol in symbols.values()]
    names = [piece.decode("utf-8", "replace") for piece in pieces]
    scored = vocabulary.scores
    scores = [scored[symbol] for symbol in symbols.values()] if scored else itertools.repeat(None)
    rows = [FileToken(entry.id, entry.text, entry.piece, entry.score) for entry in named.values()]
    new_token = functools.partial(tuple.__new__, FileToken)
    rows += map(new_token, zip(symbols, names, pieces, scores, strict=False))
    return sorted(rows, key=operator.itemgetter(0))


def _fit(spec: Spec) -> Fitted:
    """Convert a tokenizer to a document of this format.

    Raises:
        Unsupported: The file that it was read from cannot be recreated from its tokens, its mark or a special
            is longer than the limit for reading, or two base units have equal bytes.
    """
    if len(spec.recipe.mark) > LONGEST_MARK:
        raise Unsupported(
            f"its mark is longer than {LONGEST_MARK} characters", "tokentui", "use a shorter one"
        )
    try:
        check_tokens(map(len, spec.vocabulary.specials), Node(None, "specials"))
    except TokentuiError as error:
        raise Unsupported(f"its specials: {error.what}", "tokentui", error.hint) from None
    document = _Document(spec.recipe, run=spec.tokenizer.run)
    if spec.vocabulary.imported:
        return _with_stages(document, spec)
    vocabulary, merges = spec.vocabulary, spec.tokenizer.merges
    base = vocabulary.pieces[: vocabulary.base_size]
    if len(set(base)) < len(base):
        raise Unsupported("a marked piece has the same bytes as another piece", "tokentui",
            "use another mark")
    if isinstance(vocabulary, EventVocabulary):
        numbers = enumerate(itertools.pairwise(vocabulary.ends[: merges + 1]), 1)
        document.tokens, document.pieces = _entry_rows(spec.tokenizer), vocabulary.pieces
        document.events = (
            (number, event) for number, (first, end) in numbers for event in vocabulary.events[first:end]
        )
        return document
    ids = vocabulary.ids(merges)[: vocabulary.base_size + merges]
    pairs = vocabulary.merges[:merges]
    lefts, rights = [ids[left] for left, _ in pairs], [ids[right] for _, right in pairs]
    document.tokens = _entry_rows(spec.tokenizer)
    document.merges = zip(lefts, rights, ids[vocabulary.base_size :], vocabulary.counts, strict=False)
    return document


def _with_stages(document: _Document, spec: Spec) -> _Document:
    """Convert a tokenizer from another tool's file to a document.

    Raises:
        Unsupported: Its file cannot be recreated from its tokens.
    """
    own = spec.vocabulary.pipeline.own
    if own is not None:  # the file's own way tells what its tokens were
        spec = Spec(spec.tokenizer.encoded_by(own[0]))
    assert spec.origin is not None
    if spec.origin.format not in WRITTEN:
        raise Unsupported(f"{spec.origin.format} files are read-only", "tokentui",
                      "keep the original file")
    fitted = WRITTEN[spec.origin.format].codec.to_format(spec)
    ids = {token.name: token.id for token in fitted.tokens}
    made_of = set(itertools.chain.from_iterable(fitted.rows))  # a token whose id another one has is left out
    if len(ids) < len(fitted.tokens) or len(set(ids.values())) < len(ids) or not made_of <= ids.keys():
        raise Unsupported(
            "two tokens have one id or one name", "tokentui", "keep the original file"
        )
    letters, scored = UNITS.of(fitted.recipe.unit).is_byte, bool(spec.vocabulary.scores)
    pieces = [token.piece or token.name.encode("utf-8", "surrogateescape") for token in fitted.tokens]
    document.tokens = [
        token._replace(
            name=piece.decode("utf-8", "replace"), piece=piece, score=token.score if scored else None
        )
        for token, piece in zip(fitted.tokens, pieces, strict=True)
    ]
    optional: dict[str, object] = {
        "names": {str(token.id): token.name for token, piece in zip(fitted.tokens, pieces, strict=True)
                  if token.name != name_of(piece, letters)},
        "specials": fitted.specials, "notes": list(spec.tokenizer.notes), "encode": own[0] if own else "",
    }
    if any(around := (list(spec.before), list(spec.after))) or spec.origin.format in _WITH_ENDS:
        optional["around"] = list(around)
    if spec.origin.format in _BY_CLASS and spec.unknown:
        optional["unknown"] = spec.unknown
    if not scored and any(token.score for token in fitted.tokens):
        optional["scores"] = [token.score for token in fitted.tokens]
    document.stages = {"format": spec.origin.format, "letters": letters, **fitted.metadata,
                       **{name: value for name, value in optional.items() if value}}
    document.merges = [_Merge(ids[left], ids[right], ids[result], 0) for left, right, result in fitted.rows]
    return document


def _write(fitted: Fitted) -> tuple[bytes, ...]:
    """Return the bytes of the document. Equal tokenizers give equal bytes."""
    assert isinstance(fitted, _Document)
    # Rows are written by hand: a JSON call for each of many thousands takes longer than many a training.
    rows = [
        f'[{number}, {_quoted(name)}, "{piece.hex()}", {"null" if score is None else _json(score)}]'
        for number, name, piece, score in fitted.tokens
    ]
    merges = [f"[{left}, {right}, {result}, {count}]" for left, right, result, count in fitted.merges]
    events = ""
    if fitted.events is not None:
        code = [piece.hex() for piece in fitted.pieces]
        listed = (_json([number, event.kind, code[event.symbol],
                         [code[part] for part in event.parts], event.places,
                         event.view]) for number, event in fitted.events)
        events = f',\n "events": [{_lines(listed)}]'
    stages = "" if fitted.stages is None else f' "stages": {_json(fitted.stages)},\n'
    if fitted.stages is None and fitted.recipe.unicode:
        stages = f' "unicode": {_json(fitted.recipe.unicode)},\n'
    document = (
        f'{{"format": "tokentui",\n "version": {VERSION},\n "recipe": {_json(fitted.recipe.to_dict())},\n'
        f' "run": {_json(fitted.run)},\n{stages} "vocabulary": [{_lines(rows)}],\n'
        f' "merges": [{_lines(merges)}]{events}}}\n'
    )
    try:
        return (document.encode(),)
    except UnicodeEncodeError:
        # Half a surrogate pair (in the name of a special) has no UTF-8: it is written as an escape.
        return (_HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", document).encode(),)


def _lines(rows: Iterable[str]) -> str:
    lines = ",\n  ".join(rows)
    return "\n  " + lines if lines else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


# --- reading ---


def _read(source: Source) -> Tokenizer:
    """Return the tokenizer of a document.

    Raises:
        TokentuiError: It is damaged, or newer than this version. The message has the fault and its row.
    """
    root = source.root
    if root["format"].value != "tokentui":
        raise root.error('"format" is not "tokentui"', "name a file that train wrote")
    if "version" in root and (version := root["version"].number()) != VERSION:
        what = f"made by {'a newer' if version > VERSION else 'no'} tokentui (version {version})"
        raise root.error(f"{what}; this one reads version {VERSION}", "update tokentui")
    root.keys((*_KEYS, *(name for name in _OPTIONAL if name in root)))
    axes = root["recipe"].mapping()
    for name in AXIS_NAMES:
        if name not in axes:
            raise root["recipe"].error(f'"{name}" is missing', "all eleven axes are needed")
    root["recipe"]["mark"].text(most=LONGEST_MARK)
    recipe = _checked(root["recipe"], lambda: Recipe.from_dict(axes, str(root["recipe"])))
    run = _run(root["run"])
    if shape := {name: run[name] for name in SHAPE if name in run}:
        recipe = _checked(root["run"], lambda: recipe.with_axes(**shape))
    recipe = replace(recipe, unicode=_unicode(root))
    check_number(len(root["vocabulary"].listed()), root["vocabulary"])
    if "stages" in root:
        return _restored(recipe, root)
    tokenizer = (_trained_by_events if "events" in root else _trained)(recipe, run, root)
    unknown = [f"{name}={value}" for name, value in recipe.to_dict().items() if name in _stand_ins(recipe)]
    tokenizer.vocabulary.notes = tuple(
        f"this version does not know {name}: the tokenizer encodes, and is not trained on" for name in unknown
    )
    return tokenizer


def _unicode(root: Node) -> str:
    """Return the name of the Unicode tables of a document. One without a name was trained with those that
    were installed.

    Raises:
        TokentuiError: This version does not know the name.
    """
    if "stages" in root:  # the format of the stages has its owner's
        return NEWEST_UNICODE
    if "unicode" not in root:
        return ""
    if (name := root["unicode"].text()) not in TABLES:
        raise root["unicode"].error(f"{name[:40]!r} is not known here", "update tokentui")
    return name


def _stand_ins(recipe: Recipe) -> dict[str, str]:
    """Return a known value for each of the axes `objective` and `tie` whose value this version does not know.

    Empty if both are known with their parameters. Encoding needs neither.
    """
    from tokentui.learn.objectives import OBJECTIVES  # every file is sniffed here, and few are of this format

    way = WAYS.get(recipe.encode)
    scored = way is not None and way.needs == "scores"
    objectives = (objective.name for objective in OBJECTIVES.values() if objective.scored == scored)
    known = {"objective": next(objectives),
             "tie": Recipe().tie}
    return {name: value for name, value in known.items() if not _is_known(name, recipe.axis(name))}


def _is_known(axis: str, value: str) -> bool:
    from tokentui.axes import AXES

    try:
        AXES[axis].check(value)
    except TokentuiError:
        return False
    return True


def _checked(node: Node, make: Callable[[], Recipe]) -> Recipe:
    """Return a recipe after checking it. Errors have the place in the file.

    Raises:
        TokentuiError: The recipe is invalid.
    """
    from tokentui.axes import check

    try:
        recipe = make()
        instead = _stand_ins(recipe)
        return check(recipe.with_axes(**instead)).with_axes(**{name: recipe.axis(name) for name in instead})
    except TokentuiError as error:
        if error.where == str(node):
            raise
        raise TokentuiError(f"{error.where}: {error.what}", str(node), error.hint) from None


def _run(node: Node) -> dict[str, object]:
    """Return the settings of the run. Unknown settings and values of a wrong type are errors."""
    run = node.mapping()
    for key in run:
        if key not in (known := (*RUN, *SHAPE, *CORPUS_FACTS)):
            raise node.error(f"{key[:40]!r} is not a run setting", "one of: " + ", ".join(known))
        if key in CORPUS_FACTS:
            node[key].texts()
        elif key != "specials" and key not in SHAPE:
            node[key].number()
    return run


def _merge(row: Node) -> _Merge:
    return _Merge(*(field.number() for field in row.fields("LEFT_ID", "RIGHT_ID", "ID", "COUNT")))


def _trained(recipe: Recipe, run: Mapping[str, object], root: Node) -> Tokenizer:
    """Return the tokenizer of a document without stages. Its units and merges rebuild the vocabulary, and the
    rows are checked against it.

    Raises:
        TokentuiError: A row differs from the rebuilt vocabulary.
    """
    from tokentui.learn.objectives import OBJECTIVES

    listed, replayed = root["vocabulary"], root["merges"]
    rows, merges = list(map(_token, listed.rows())), list(map(_merge, replayed.rows()))
    first, specials = root["run"]["first_id"].number(), root["run"]["specials"].texts()
    objective = OBJECTIVES.of(recipe.with_axes(**_stand_ins(recipe)).objective)
    for n, row in enumerate(rows):
        if row.id != first + n:
            raise listed.at(n).error(f"id {row.id} where {first + n} belongs",
                                     "ids increase by one from first_id")
        if objective.scored and not -_LEAST_SCORE <= (row.score or 0) <= 0:
            raise listed.at(n).error("SCORE is not a log probability", "use a number from -1e6 to 0")
    named = _entry_rows(Tokenizer(Vocabulary(recipe, (), specials, first)))
    _check_rows(listed, rows[: len(named)], named)
    if (objective.scored or objective.prunes) and merges:
        model = "a unigram model" if objective.scored else f"objective={objective.name}"
        raise replayed.at(0).error(f"{model} has no merges", "make the list empty")
    base = rows[len(named) :]
    if objective.substitutes_bytes and [row.piece for row in base] != _ALL_BYTES:
        raise listed.error("the base is not the 256 bytes in order", f"objective={objective.name} needs them")
    _check_pairs(merges, replayed)
    if objective.substitutes_bytes:  # a merge has no row: a byte replaces its pair
        placeholders = _placeholders(merges, first + len(named), replayed)
        vocabulary: Vocabulary = GageVocabulary(recipe, placeholders, specials, first)
    else:
        results = _merged_ids(merges, range(first, first + len(rows)), len(named), recipe, replayed)
        base = [row for row in base if row.id not in results]
        scores = [float(row.score or 0) for row in base] if objective.scored else ()
        pieces = [row.piece for row in base]
        if objective.vocabulary is not None:
            vocabulary = objective.vocabulary(recipe, pieces, specials, first)
        else:
            vocabulary = Vocabulary(recipe, pieces, specials, first, scores)
    of_bytes = not (objective.scored or objective.prunes) and BASES.of(recipe.base).all_bytes
    units, ends = sorted(vocabulary.pieces), [vocabulary.mark] * (MARKS.of(recipe.mark).is_unit)
    plain = [unit for unit in units if len(unit) == 1]
    if of_bytes and (plain != _ALL_BYTES or any(len(vocabulary.bare(unit)) > 1 and unit not in ends
                                                for unit in units)):
        raise listed.error("the base is not all 256 bytes", "each unit must be unique")
    if units != sorted(vocabulary.units):
        raise listed.error("two base units have the same bytes", "each unit must be unique")
    _replay(vocabulary, {row.id: symbol for symbol, row in enumerate(base)}, rows, merges, replayed)
    tokenizer = Tokenizer(vocabulary, None, run)
    _check_rows(listed, rows, _entry_rows(tokenizer))
    return tokenizer


def _token(row: Node, least: int = 1) -> FileToken:
    """Read a row of the vocabulary. Its hex must have at least `least` bytes.

    Raises:
        TokentuiError: The row is invalid.
    """
    number, text, code, score = row.fields("ID", "TEXT", "HEX", "SCORE")
    piece, shown_text, value = code.hex(least), text.text(), score.value
    # The name of a special may contain half a surrogate pair. All other texts are their decoded bytes.
    encoded = shown_text.encode("utf-8", "surrogatepass")
    if encoded != piece and piece.decode("utf-8", "replace") != shown_text:
        raise row.error("HEX is not the bytes of TEXT", "fix one of the two")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise row.error("SCORE is not a number", "use a number or null")
    return FileToken(number.number(), shown_text, piece, value)


def _check_rows(listed: Node, rows: list[FileToken], expected: list[FileToken]) -> None:
    """Raise if the rows of a vocabulary are not those that follow from the rest of the document.

    Raises:
        TokentuiError: A row differs.
    """
    for n, (row, own) in enumerate(itertools.zip_longest(rows, expected)):
        if row != own:
            raise listed.at(n).error(f"{_shown(row)} where {_shown(own)} belongs",
                                     "the rows follow from the recipe, the run, the units and the merges")


def _shown(row: FileToken | None) -> str:
    """Return a row for an error message: as in the file, shortened."""
    if row is None:
        return "no row"
    fields = (str(row.id), json.dumps(row.name[:40]), f'"{row.piece[:40].hex()}"', json.dumps(row.score)[:40])
    return f"[{', '.join(fields)}]"


def _trained_by_events(recipe: Recipe, run: Mapping[str, object], root: Node) -> Tokenizer:
    """Return the tokenizer of a document with events. Its units and events rebuild the vocabulary, and the
    rows are checked against it.

    Raises:
        TokentuiError: A row differs from the rebuilt vocabulary.
    """
    listed = root["vocabulary"]
    first, specials = root["run"]["first_id"].number(), root["run"]["specials"].texts()
    rows = list(map(_token, listed.rows()))
    if root["merges"].listed():
        raise root["merges"].error("a tokenizer with events has no merges", "make the list empty")
    read = list(map(_event, root["events"].rows()))
    added = {piece for _, kind, piece, _, _, _ in read if kind in MAKING}
    named = _entry_rows(Tokenizer(Vocabulary(recipe, (), specials, first)))
    _check_rows(listed, rows[: len(named)], named)
    base = [row.piece for row in itertools.takewhile(lambda row: row.piece not in added, rows[len(named) :])]
    if len(set(base)) < len(base):
        raise listed.error("two base units have the same bytes", "each unit must be unique")
    if BASES.of(recipe.base).all_bytes and sorted(base) != _ALL_BYTES:
        raise listed.error("the base is not all 256 bytes", "each unit must be unique")
    from tokentui.learn.objectives import OBJECTIVES

    objective = OBJECTIVES.find(recipe.objective)
    make = EventVocabulary if objective is None or objective.vocabulary is None else objective.vocabulary
    vocabulary = make(recipe, base, specials, first)
    if not isinstance(vocabulary, EventVocabulary):
        raise root["events"].error(f"objective={recipe.objective} has no events", "fix one of the two")
    number, step = 0, list[Event]()
    for row, (at, kind, piece, parts, places, view) in zip(root["events"].rows(), read, strict=True):
        if at not in (number, number + 1) or not at:
            raise row.error(f"step {at} where {number or 1} or {number + 1} belongs", "steps increase by one")
        if at > number and step:
            vocabulary.step(step)
            step = []
        number = at
        symbols = tuple(vocabulary.symbol(part) for part in parts)
        if kind not in MAKING and vocabulary.symbol(piece) is None:
            raise row.error("HEX is not a unit or an earlier token", "an event needs an existing token")
        known = tuple(symbol for symbol in symbols if symbol is not None)
        if len(known) < len(symbols) or (parts and b"".join(parts) != piece):
            raise row.error("PARTS do not form HEX from units and earlier tokens", "fix one of the two")
        if (kind in MAKING and len(parts) < 2) or (kind in _APART and not parts):
            raise row.error("PARTS are missing", "a token has two or more parts")
        if kind in LEAVING and len(piece) and vocabulary.named(piece) < vocabulary.base_size:
            raise row.error("a unit cannot be removed", "an event needs an existing token")
        step.append(Event(kind, vocabulary.named(piece), known, places, 0, view))
    if step:
        vocabulary.step(step)
    tokenizer = Tokenizer(vocabulary, None, run)
    _check_rows(listed, rows, _entry_rows(tokenizer))
    return tokenizer


def _event(row: Node) -> tuple[int, EventKind, bytes, tuple[bytes, ...], int, int]:
    """Read a row of the events: (step, kind, bytes of the token, bytes of its parts, places, view).

    Raises:
        TokentuiError: The row is invalid.
    """
    number, kind, piece, parts, places, view = row.fields(*_EVENT)
    if (name := kind.text()) not in _EVENTS:
        raise row.error(f"{name[:40]!r} is not a kind of event", "one of: " + ", ".join(_EVENTS))
    if view.number() > 1:
        raise row.error("VIEW must be 0 or 1", "0 means words, 1 means documents")
    parts_ = tuple(part.hex() for part in parts.inner())
    return number.number(), EventKind(name), piece.hex(), parts_, places.number(), view.number()


def _check_pairs(merges: list[_Merge], replayed: Node) -> None:
    """Raise if a pair is merged twice.

    Raises:
        TokentuiError: A pair occurs in two rows.
    """
    pairs: dict[tuple[int, int], int] = {}
    for n, (left, right, _, _) in enumerate(merges):
        if (before := pairs.setdefault((left, right), n)) != n:
            raise replayed.at(n).error(f"the pair {left}, {right} is already in row {before}",
                                       "pairs must be unique")


def _merged_ids(
    merges: list[_Merge], ids: range, named: int, recipe: Recipe, replayed: Node
) -> set[int]:
    """Return the ids that merges make, without those of the named rows before them.

    Raises:
        TokentuiError: An id is not in the vocabulary, occurs twice, or is out of order.
    """
    rows: dict[int, int] = {}
    for n, (_, _, result, _) in enumerate(merges):
        if result not in ids:
            raise replayed.at(n).error(f"ID {result} is not in the vocabulary",
                                       "each merge makes a token of the vocabulary")
        if result >= ids.start + named and (before := rows.setdefault(result, n)) != n:
            raise replayed.at(n).error(f"ID {result} is already in row {before}", "tokens must be unique")
    following = ids.start + named if BASES.of(recipe.base).after_merges else ids.stop - len(rows)
    for number, (result, n) in enumerate(rows.items(), following):
        if result != number:
            raise replayed.at(n).error(f"ID {result} where {number} belongs",
                                       "ids increase in merge order")
    return set(rows)


def _placeholders(merges: list[_Merge], first: int, replayed: Node) -> list[int]:
    """Return the placeholder of each merge of Gage's compression. `first` is the id of byte 0.

    Raises:
        TokentuiError: A byte is in use before it replaces a pair, or the id is not that of a byte.
    """
    used: set[int] = set()
    for n, (left, right, result, _) in enumerate(merges):
        used |= {left, right}
        if result in used or not first <= result < first + len(_ALL_BYTES):
            raise replayed.at(n).error(f"ID {result} already represents something else",
                                       "a byte can represent only one pair")
        used.add(result)
    return [merge.made - first for merge in merges]


def _replay(
    vocabulary: Vocabulary, symbols: dict[int, int], rows: list[FileToken], merges: list[_Merge],
    replayed: Node,
) -> None:
    """Append merges to a vocabulary, after checking that their parts exist and make the bytes of their rows.

    Args:
        symbols: The symbol of each id. The results of the merges are added.

    Raises:
        TokentuiError: A merge is invalid.
    """
    size, most = 0, limits.now().file_bytes
    for n, (left, right, result, count) in enumerate(merges):
        at = replayed.at(n)
        for part in (left, right):
            if part not in symbols:
                raise at.error(f"{part} is not a unit or an earlier token",
                               "a merge joins base units and tokens of earlier merges")
        pair = symbols[left], symbols[right]
        symbols[result] = symbol = vocabulary.add(*pair, count)
        # Check each token when it is made: repeated doubling would soon exceed the length of the file.
        if (piece := vocabulary.pieces[symbol]) != rows[result - rows[0].id].piece:
            short = piece[:20].hex() + ("…" if len(piece) > 20 else "")
            raise at.error(f"{left} and {right} do not form the bytes of {result}",
                           f"HEX of {result} would be {short}")
        if result != (number := vocabulary.id_of(symbol, len(merges))):
            raise at.error(f"ID {result} where {number} belongs", "ids increase in merge order")
        size += len(vocabulary.spelled(symbol))
        if size > most:
            raise at.error("the tokens are longer than in any real tokenizer")


def _restored(recipe: Recipe, root: Node) -> Tokenizer:
    """Return the tokenizer of a document with stages.

    Raises:
        TokentuiError: It is damaged, or its parts do not fit together.
    """
    stages = root["stages"]
    name = stages["format"].text()
    others = [name for name in WRITTEN if name != OWN.name]
    if name not in others:
        raise stages["format"].error(f"{name[:40]!r} is not a format of another tool",
                                     "one of: " + ", ".join(others))
    format = WRITTEN[name]
    tokens = list(_tokens(stages, root["vocabulary"]))
    names = {token.id: token.name for token in tokens}
    if len(names) < len(tokens):
        raise root["vocabulary"].error("an id occurs twice", "ids must be unique")
    rows: list[tuple[str, str, str]] = []
    for row in root["merges"].rows():
        left, right, result, _ = _merge(row)
        if not {left, right, result} <= names.keys():
            raise row.error("an id is not in the vocabulary", "a merge joins two tokens into one")
        rows.append((names[left], names[right], names[result]))
    specials = {name: stages["specials"][name].number() for name in stages["specials"].mapping({})}
    notes = tuple(stages["notes"].texts()) if "notes" in stages else ()
    metadata = {key: value for key, value in stages.mapping().items() if key not in _STAGES}
    encode = recipe.encode
    if "encode" in stages:
        recipe = recipe.with_axes(encode=stages["encode"].text())
    try:
        files = format.codec.write(Fitted(recipe, tokens, rows, specials, metadata))
        split = recipe.split if format.needs_split else ""
        tokenizer = format.codec.read(
            source_of(tuple(str(root) for _ in files), files, split, RecipeFacts(recipe, specials))
        )
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError):
        raise stages.error(
            f"does not match the {name} file", f"fix the file or read the {name} file again"
        ) from None
    splits = recipe.split, tokenizer.recipe.split
    if all(split.startswith("regex:") for split in splits):  # versions may write one pattern in two ways
        recipe = recipe.with_axes(split=splits[1])
    recipe = replace(recipe, unicode=tokenizer.recipe.unicode)
    if tokenizer.recipe != recipe:
        theirs = asdict(tokenizer.recipe)
        axis = next(axis for axis, value in asdict(recipe).items() if theirs[axis] != value)
        raise root["recipe"].error(f"{axis} does not match the stages", "fix one of the two")
    vocabulary = tokenizer.vocabulary
    if name in _BY_CLASS and isinstance(vocabulary, ImportedVocabulary):
        unknown = stages["unknown"].text() if "unknown" in stages else ""
        if unknown and unknown not in specials:
            raise stages["unknown"].error(f"{unknown[:40]!r} is no special token", "fix the file")
        vocabulary = vocabulary.with_specials(specials, vocabulary.pipeline, None, unknown)
        tokenizer = Tokenizer(vocabulary, tokenizer.merges, tokenizer.run)
    around = tokenizer.encoder.around
    if "around" in stages:
        before, after = (tuple(side.texts()) for side in stages["around"].fields("before", "after"))
        if strangers := {*before, *after}.difference(specials):
            raise stages["around"].error(f"{min(strangers)[:40]!r} is no special token", "fix the file")
        around = before, after
    vocabulary.pipeline = replace(vocabulary.pipeline, notes=notes, around=around)
    vocabulary.notes = notes
    try:
        return tokenizer.encoded_by(encode)
    except TokentuiError as error:
        raise root["recipe"]["encode"].error(error.what, error.hint) from None


def _tokens(stages: Node, vocabulary: Node) -> Iterator[FileToken]:
    letters = stages["letters"].value is True
    names, scores = stages["names"].mapping({}), stages["scores"].value
    for n, row in enumerate(vocabulary.rows()):
        token = _token(row, least=0)
        key = str(token.id)
        name = stages["names"][key].text() if key in names else name_of(token.piece, letters)
        score = scores[n] if isinstance(scores, list) and n < len(scores) else token.score
        yield token._replace(name=name, score=score)


CODEC = Codec(_sniff, _read, _fit, _write)
