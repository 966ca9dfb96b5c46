"""The project's own tokenizer file: one JSON document, a vocabulary entry or a merge a line.

A tokenizer that was read from another tool's file has "stages" too: the name of its format, and all else that
its file said. The ids are those of that file. From these the other tool's file is made again, and read as
that is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tokentui.axes import AXES, check, objective_of
from tokentui.core.errors import TokentuiError
from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.segment.ways import WAYS
from tokentui.encode.tokenizer import Entry, Tokenizer
from tokentui.encode.vocabulary import GageVocabulary, Vocabulary
from tokentui.formats import OWN, WRITTEN, Codec
from tokentui.formats.source import Known, Node, Source, source_of
from tokentui.formats.spec import Fitted, Refused, Spec, Token
from tokentui.formats.tokens import name_of
from tokentui.learn.objectives import OBJECTIVES
from tokentui.recipe import AXIS_NAMES, RUN, SHAPE, Recipe

VERSION = 1
_KEYS = ("format", "version", "recipe", "run", "vocabulary", "merges")
_STAGES = ("format", "letters", "names", "scores", "specials", "notes")
_ALL_BYTES = [bytes((value,)) for value in range(256)]
_LEAST_SCORE = 1e6
_quoted = json.encoder.encode_basestring
_HALF_PAIR = re.compile("[\ud800-\udfff]")


class _Merge(NamedTuple):
    """A row of the merges, by ids."""

    left: int
    right: int
    made: int
    times: int


@dataclass(slots=True)
class _Document(Fitted):
    """The document, but for its recipe.

    Attributes:
        run: The words of its run.
        stages: Its stages, None for none.
        vocabulary: Its entries; their kinds are not written.
        merges: Its merges.
    """

    run: Mapping[str, object] = field(default_factory=dict)
    stages: Mapping[str, object] | None = None
    vocabulary: Iterable[Entry] = ()
    merges: Iterable[_Merge] = ()


def _sniff(source: Source) -> bool:
    """Return whether it is a JSON object of this format."""
    return source.document.get("format") == "tokentui"


# --- writing ---


def _fit(spec: Spec) -> Fitted:
    """A tokenizer as the own document holds it.

    Raises:
        Refused: It was read from a file that its tokens do not tell.
    """
    document = _Document(spec.recipe, run=spec.tokenizer.run)
    if isinstance(spec.vocabulary, ImportedVocabulary):
        return _with_stages(document, spec)
    vocabulary, merges = spec.vocabulary, spec.tokenizer.merges
    ids = [vocabulary.id_of(symbol, merges) for symbol in range(vocabulary.base_size + merges)]
    pairs = zip(vocabulary.merges[:merges], vocabulary.counts, ids[vocabulary.base_size :], strict=False)
    document.vocabulary = spec.tokenizer.entries()
    document.merges = (_Merge(ids[left], ids[right], own, count) for (left, right), count, own in pairs)
    return document


def _with_stages(document: _Document, spec: Spec) -> _Document:
    """The document of a tokenizer that was read from another tool's file.

    Raises:
        Refused: Its file cannot be told from its tokens.
    """
    format = WRITTEN.get(spec.origin.format) if spec.origin else None
    if format is None:
        raise Refused("it was put together from no file", "tokentui", "write it in another format")
    fitted = format.codec.fit(spec)
    ids = {token.name: token.id for token in fitted.tokens}
    if len(ids) < len(fitted.tokens) or len(set(ids.values())) < len(ids):
        raise Refused("two tokens have one id or one name", "tokentui", "keep the file that it was read from")
    letters, scored = fitted.recipe.unit == "byte", bool(spec.vocabulary.scores)
    entries = [
        Entry(token.id, piece, piece.decode("utf-8", "replace"), "", token.score if scored else None)
        for token in fitted.tokens for piece in [token.piece or token.name.encode("utf-8", "surrogateescape")]
    ]
    optional: dict[str, object] = {
        "names": {str(token.id): token.name for token, entry in zip(fitted.tokens, entries, strict=True)
                  if token.name != name_of(entry.piece, letters)},
        "specials": fitted.specials, "notes": list(spec.tokenizer.notes),
    }
    if not scored and any(token.score for token in fitted.tokens):
        optional["scores"] = [token.score for token in fitted.tokens]
    document.stages = {"format": format.name, "letters": letters, **fitted.said,
                       **{name: value for name, value in optional.items() if value}}
    document.vocabulary = entries
    document.merges = [_Merge(ids[left], ids[right], ids[made], 0) for left, right, made in fitted.rows]
    return document


def _write(fitted: Fitted) -> tuple[bytes, ...]:
    """The bytes of the document. The same tokenizer always gives the same text."""
    assert isinstance(fitted, _Document)
    # Rows are written out, since a call of the JSON module for each of many thousands takes longer than many
    # a training.
    rows = (f'[{one.id}, {_quoted(one.text)}, "{one.piece.hex()}", {_number(one.score)}]'
            for one in fitted.vocabulary)
    merges = (f"[{left}, {right}, {made}, {count}]" for left, right, made, count in fitted.merges)
    stages = "" if fitted.stages is None else f' "stages": {_json(fitted.stages)},\n'
    document = (
        f'{{"format": "tokentui",\n "version": {VERSION},\n "recipe": {_json(fitted.recipe.to_dict())},\n'
        f' "run": {_json(fitted.run)},\n{stages} "vocabulary": [{_lines(rows)}],\n'
        f' "merges": [{_lines(merges)}]}}\n'
    )
    # Half a surrogate pair (in the name of a special) has no UTF-8: it is written as an escape.
    return (_HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", document).encode(),)


def _number(score: float | None) -> str:
    return "null" if score is None else _json(score)


def _lines(rows: Iterable[str]) -> str:
    lines = ",\n  ".join(rows)
    return "\n  " + lines if lines else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


# --- reading ---


def _read(source: Source) -> Tokenizer:
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
    axes = root["recipe"].mapping()
    for name in AXIS_NAMES:
        if name not in axes:
            raise root["recipe"].error(f'"{name}" is missing', "all eleven axes belong there")
    recipe = _checked(root["recipe"], lambda: Recipe.from_dict(axes, str(root["recipe"])))
    run = _run(root["run"])
    if shape := {name: run[name] for name in SHAPE if name in run}:
        recipe = _checked(root["run"], lambda: recipe.shaped(**shape))
    if "stages" in root:
        return _restored(recipe, root)
    tokenizer = _Reading(recipe, run, root).tokenizer()
    unknown = [f"{name}={value}" for name, value in recipe.to_dict().items() if name in _stand_ins(recipe)]
    tokenizer.vocabulary.notes = tuple(
        f"this version does not know {one}: the tokenizer encodes, and is not trained on" for one in unknown
    )
    return tokenizer


def _stand_ins(recipe: Recipe) -> dict[str, str]:
    """Known values for an objective and a tie that this version does not know, or not with such parameters:
    encoding needs neither.
    """
    way = WAYS.get(recipe.encode)
    scored = way is not None and way.needs == "scores"
    known = {"objective": next(one.name for one in OBJECTIVES.values() if one.scored == scored),
             "tie": Recipe().tie}
    return {name: value for name, value in known.items() if not _is_known(name, recipe.axis(name))}


def _is_known(axis: str, value: str) -> bool:
    try:
        AXES[axis].check(value)
    except TokentuiError:
        return False
    return True


def _checked(node: Node, make: Callable[[], Recipe]) -> Recipe:
    """A recipe that makes sense; the error of one that does not has its place in the file."""
    try:
        recipe = make()
        instead = _stand_ins(recipe)
        return check(recipe.with_axes(**instead)).with_axes(**{name: recipe.axis(name) for name in instead})
    except TokentuiError as error:
        if error.where == str(node):
            raise
        raise TokentuiError(f"{error.where}: {error.what}", str(node), error.hint) from None


def _run(node: Node) -> dict[str, object]:
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


def _merge(row: Node) -> _Merge:
    return _Merge(*(one.number() for one in row.fields("LEFT_ID", "RIGHT_ID", "ID", "COUNT")))


class _Reading:
    """The vocabulary of a document, made anew; every row is held against it.

    Args:
        recipe: The recipe of the document.
        run: The words of its run.
        root: The document.
    """

    def __init__(self, recipe: Recipe, run: dict[str, object], root: Node) -> None:
        self._recipe, self._run = recipe, run
        self._first, self._specials = root["run"]["first_id"].number(), root["run"]["specials"].texts()
        self._objective = objective_of(recipe.with_axes(**_stand_ins(recipe)))
        self._listed, self._replayed = root["vocabulary"], root["merges"]
        self._rows = [self._entry(row) for row in self._listed.rows()]
        self._merges = [_merge(row) for row in self._replayed.rows()]

    def _entry(self, row: Node) -> Entry:
        number, text, code, score = row.fields("ID", "TEXT", "HEX", "SCORE")
        identity, piece, said = number.number(), code.hex(), text.text()
        # A special's name may hold half a surrogate pair; all other texts are what their bytes decode to.
        if said.encode("utf-8", "surrogatepass") != piece and piece.decode("utf-8", "replace") != said:
            raise row.error("HEX is not the bytes of TEXT", "mend one of the two")
        value = score.value
        if value is None:
            return Entry(identity, piece, said, "")
        if not self._objective.scored:
            raise row.error("SCORE is not null", "only unigram models have scores")
        if isinstance(value, bool) or not isinstance(value, int | float) or not -_LEAST_SCORE <= value <= 0:
            raise row.error("SCORE is no log probability", "a number from -1e6 to 0 belongs there")
        return Entry(identity, piece, said, "", float(value))

    def tokenizer(self) -> Tokenizer:
        """The tokenizer.

        Raises:
            TokentuiError: A row is not what the recipe, the run and the rows before it make.
        """
        listed, replayed, rows, first = self._listed, self._replayed, self._rows, self._first
        ids: dict[int, int] = {}
        for n, row in enumerate(rows):
            if ids.setdefault(row.id, n) != n:
                raise listed.at(n).error(f"id {row.id} stands in row {ids[row.id]} too", "an id stands once")
        for n, row in enumerate(rows):
            if row.id != first + n:
                raise listed.at(n).error(f"id {row.id} where {first + n} belongs",
                                         "ids go up by one from first_id")
        for n, merge in enumerate(self._merges):
            if not first <= merge.made < first + len(rows):
                what = f"ID {merge.made} is not in the vocabulary"
                raise replayed.at(n).error(what, "each merge makes a token that stands there")
        named = list(Tokenizer(Vocabulary(self._recipe, (), self._specials, first)).entries())
        for n, entry in enumerate(named):
            if n >= len(rows) or rows[n].piece != entry.piece or rows[n].text != entry.text:
                raise listed.at(n).error(f"{entry.text[:40]!r} belongs here",
                                         "the specials come first, in the order of the run")
        base = self._base(len(named))
        vocabulary = self._vocabulary(base, len(named))
        if len(vocabulary.units) < len(base):
            raise listed.error("two base units have the same bytes", "a unit stands once")
        of_bytes = not vocabulary.scores and self._recipe.base in ("bytes", "gpt2-bytes")
        if of_bytes and sorted(vocabulary.units) != _ALL_BYTES:
            raise listed.error("the base is not all 256 bytes", f"base={self._recipe.base} wants them")
        symbols = {row.id: symbol for symbol, row in enumerate(base)}
        for n, merge in enumerate(self._merges):
            self._replay(vocabulary, symbols, merge, replayed.at(n))
        tokenizer = Tokenizer(vocabulary, None, self._run)
        for n, merge in enumerate(self._merges):
            number = vocabulary.id_of(vocabulary.base_size + n, len(self._merges))
            if merge.made != number:
                raise replayed.at(n).error(f"ID {merge.made} where {number} belongs",
                                           "ids go up in the order of the merges")
        for n, entry in enumerate(tokenizer.entries()):
            if rows[n].text != entry.text:
                raise listed.at(n).error("TEXT is not what HEX decodes to", "mend one of the two")
        return tokenizer

    def _base(self, named: int) -> list[Entry]:
        """The entries that no merge makes, behind so many named ones."""
        others, ordinary = self._rows[named:], self._first + named
        # A merge makes an entry of its own, but where it borrows a special's id or, with Gage, a byte's.
        own = 0 if self._objective.codes else sum(merge.made >= ordinary for merge in self._merges)
        if own > len(others):
            raise self._listed.error(f"{len(others)} entries for {own} merges",
                                     "each merge makes a token that stands there")
        return others[own:] if self._recipe.base == "frequency" else others[: len(others) - own]

    def _vocabulary(self, base: list[Entry], named: int) -> Vocabulary:
        """The vocabulary that the objective makes, without its merges."""
        recipe, specials, first = self._recipe, self._specials, self._first
        pieces = [row.piece for row in base]
        if self._objective.scored:
            for n, row in enumerate(self._rows):
                if (row.score is None) != (n < named):
                    raise self._listed.at(n).error(
                        "SCORE is not null" if n < named else "SCORE is missing",
                        "every piece of a unigram model has one, specials and byte tokens have none",
                    )
            if self._merges:
                raise self._replayed.at(0).error("a unigram model has no merges", "leave the list empty")
            return Vocabulary(recipe, pieces, specials, first, [row.score or 0.0 for row in base])
        if self._objective.codes:
            return GageVocabulary(recipe, self._placeholders(pieces), specials, first)
        return Vocabulary(recipe, pieces, specials, first)

    def _placeholders(self, pieces: list[bytes]) -> list[int]:
        """The byte that stands for the pair of each merge of Gage's compression: it stands for nothing else.
        """
        if pieces != _ALL_BYTES:
            raise self._listed.error("the base is not the 256 bytes in order", "objective=gage wants them")
        first = self._first + len(self._specials)
        plain: set[int] = set()
        taken: set[int] = set()
        for n, (left, right, made, _) in enumerate(self._merges):
            at = self._replayed.at(n)
            plain |= {left, right} - taken
            if made < first:
                raise at.error(f"ID {made} is a special token's", "a byte stands for a pair")
            if made in taken:
                raise at.error(f"ID {made} stands for an earlier pair too", "a byte stands for one pair")
            if made in plain:
                raise at.error(f"ID {made} stands for itself in a pair",
                               "a byte that stands for a pair stands for nothing else")
            taken.add(made)
        return [merge.made - first for merge in self._merges]

    def _replay(self, vocabulary: Vocabulary, symbols: dict[int, int], merge: _Merge, at: Node) -> None:
        """Add a merge whose parts must be there and make the bytes of its token; `symbols` learns its id."""
        left, right, made, count = merge
        first, rows = self._first, self._rows
        for name, part in (("LEFT_ID", left), ("RIGHT_ID", right)):
            if part not in symbols:
                there = first <= part < first + len(rows)
                what = f"{name} {part} is {'no unit or earlier token' if there else 'not in the vocabulary'}"
                raise at.error(what, "a merge joins base units and tokens of earlier merges")
        pair = symbols[left], symbols[right]
        if pair in vocabulary.ranks:
            raise at.error(f"the pair {left}, {right} stands in row {vocabulary.ranks[pair]} too",
                           "a pair merges once")
        symbols[made] = vocabulary.add(*pair, count)
        piece = vocabulary.pieces[symbols[made]]
        if rows[made - first].piece != piece:
            short = piece.hex() if len(piece) <= 20 else piece[:20].hex() + "…"
            raise at.error(f"{left} and {right} do not make the bytes of {made}",
                           f"HEX of {made} would be {short}")


def _restored(recipe: Recipe, root: Node) -> Tokenizer:
    """The tokenizer of a document with stages.

    Raises:
        TokentuiError: It is damaged, or its parts do not fit.
    """
    stages = root["stages"]
    name = stages["format"].value
    others = [one for one in WRITTEN if one != OWN.name]
    if not isinstance(name, str) or name not in others:
        raise stages["format"].error(f"{str(name)[:40]!r} is no format of other tools",
                                     "one of: " + ", ".join(others))
    format = WRITTEN[name]
    tokens = list(_tokens(stages, root["vocabulary"]))
    names = {token.id: token.name for token in tokens}
    if len(names) < len(tokens):
        raise root["vocabulary"].error("an id stands twice", "an id stands once")
    rows: list[tuple[str, str, str]] = []
    for row in root["merges"].rows():
        left, right, made, _ = _merge(row)
        if not {left, right, made} <= names.keys():
            raise row.error("an id is not in the vocabulary", "a merge joins two tokens to one")
        rows.append((names[left], names[right], names[made]))
    specials = {name: stages["specials"][name].number() for name in stages["specials"].mapping({})}
    notes = tuple(stages["notes"].texts()) if "notes" in stages else ()
    said = {key: value for key, value in stages.mapping().items() if key not in _STAGES}
    try:
        files = format.codec.write(Fitted(recipe, tokens, rows, specials, said))
        split = recipe.split if format.needs_split else ""
        tokenizer = format.codec.read(
            source_of(tuple(str(root) for _ in files), files, split, Known(recipe, specials))
        )
    except (KeyError, TypeError, AttributeError, ValueError, IndexError):
        raise stages.error(
            f"not what a file of {name} says", "mend the file or read the other file again"
        ) from None
    if tokenizer.recipe != recipe:
        axis = next(axis for axis, value in recipe.to_dict().items()
                    if tokenizer.recipe.to_dict()[axis] != value)
        raise root["recipe"].error(f"{axis} is not what the stages say", "mend one of the two")
    vocabulary = tokenizer.vocabulary
    assert isinstance(vocabulary, ImportedVocabulary)
    vocabulary.pipeline = replace(vocabulary.pipeline, notes=notes)
    vocabulary.notes = notes
    return tokenizer


def _tokens(stages: Node, vocabulary: Node) -> Iterator[Token]:
    letters = stages["letters"].value is True
    names, scores = stages["names"].mapping({}), stages["scores"].value
    for n, row in enumerate(vocabulary.rows()):
        number, text, code, score = row.fields("ID", "TEXT", "HEX", "SCORE")
        piece = code.hex() if code.value != "" else b""
        if text.text() != piece.decode("utf-8", "replace"):
            raise row.error("TEXT is not what HEX decodes to", "mend one of the two")
        said = score.value
        if isinstance(scores, list):
            said = scores[n] if n < len(scores) else None
        if said is not None and (isinstance(said, bool) or not isinstance(said, int | float)):
            raise row.error("SCORE is no number", "a number or null belongs there")
        key = str(number.number())
        name = stages["names"][key].text() if key in names else name_of(piece, letters)
        yield Token(number.number(), name, piece, said)


CODEC = Codec(_sniff, _read, _fit, _write)
