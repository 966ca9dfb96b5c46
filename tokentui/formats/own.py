"""The project's own tokenizer file, version 2: a JSON document with one unit, merge or step per line.

`docs/own-format.md` describes its keys. A trained tokenizer is rebuilt from its recipe, its run, its units
and its merges or steps: their order gives the ids. A tokenizer from another tool's file is that file, with
what the file does not say. `tokentui.formats.version1` reads files of version 1.
"""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace

from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import SURROGATE, to_bytes
from tokentui.encode.events import LEAVING, MAKING, Event, EventKind, EventVocabulary
from tokentui.encode.gage import GageVocabulary
from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.segment import ENCODING_WAYS
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats import OWN, WRITTEN, Codec, version1
from tokentui.formats.source import (
    LARGEST_NUMBER,
    LONGEST_MARK,
    Node,
    RecipeFacts,
    Source,
    check_number,
    check_tokens,
    source_of,
)
from tokentui.formats.spec import Fitted, Spec, Unsupported, digest_of, json_bytes, packed
from tokentui.recipe import AXIS_NAMES, CORPUS_FACTS, NEWEST_UNICODE, RUN, SHAPE, Recipe
from tokentui.text.pretokenize import MARKS
from tokentui.text.unicode import TABLES

VERSION = 2
_KEYS = ("format", "version", "recipe", "run")
_OPTIONAL = ("unicode", "stages", "events", "placeholders", "digest")
_MERGES_KEYS = ("unicode", "units", "merges", "placeholders", "digest")
_EVENTS_KEYS = ("unicode", "units", "events", "digest")
_WITH_ENDS = ("sentencepiece", "bert", "tekken")
"""Formats whose reader puts tokens around a text that the file does not name."""
_BY_CLASS = ("gpt2", "bert")
"""Formats whose special tokens follow from the class of a folder."""
_NOT_IN_FILES = ("specials", "around", "unknown", "encode", "notes")
_LEAST_SCORE = 1e6
_APART = (EventKind.SPLIT, EventKind.BREAK, EventKind.DEMOTE)
_EVENTS = tuple(map(str, (EventKind.MERGE, EventKind.COVER, *_APART, EventKind.REMOVE, EventKind.UNLOCK)))
_ALL_BYTES = [bytes((value,)) for value in range(256)]
"""The 256 bytes in order."""
_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


# --- writing ---


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
    vocabulary, merges = spec.vocabulary, spec.tokenizer.merges
    try:
        check_tokens(map(len, vocabulary.specials), Node(None, "specials"))
    except TokentuiError as error:
        raise Unsupported(f"its specials: {error.what}", "tokentui", error.hint) from None
    document: dict[str, object] = {
        "format": OWN.name, "version": VERSION, "recipe": spec.recipe.to_dict(), "run": spec.tokenizer.run,
    }
    if vocabulary.imported:
        return Fitted(spec.recipe, metadata={**document, "imported": _imported(spec)})
    base = vocabulary.pieces[: vocabulary.base_size]
    if len(set(base)) < len(base):
        raise Unsupported("a marked piece has the same bytes as another piece", "tokentui",
            "use another mark")
    if spec.recipe.unicode:
        document["unicode"] = spec.recipe.unicode
    units = [piece.decode("utf-8", "surrogateescape") for piece in base]
    document["units"] = (
        [[unit, score] for unit, score in zip(units, vocabulary.scores, strict=True)] if vocabulary.scores
        else units
    )
    if isinstance(vocabulary, EventVocabulary):
        document["events"] = list(_event_rows(vocabulary, merges))
    else:
        document["merges"] = [
            [left, right, count] for (left, right), count in zip(
                vocabulary.merges[:merges], vocabulary.counts, strict=False
            )
        ]
    if isinstance(vocabulary, GageVocabulary):
        document["placeholders"] = vocabulary.placeholders[:merges]
    document["digest"] = _digest(spec.tokenizer)
    return Fitted(spec.recipe, metadata=document)


def _event_rows(vocabulary: EventVocabulary, steps: int) -> Iterator[list[list[object]]]:
    """Yield the events of each step, with symbols numbered in the order in which events name them."""
    numbers = {symbol: symbol for symbol in range(vocabulary.base_size)}
    for first, end in itertools.pairwise(vocabulary.ends[: steps + 1]):
        rows: list[list[object]] = []
        for kind, symbol, parts, places, _, view in vocabulary.events[first:end]:
            of = [numbers[part] for part in parts]
            number = numbers.setdefault(symbol, len(numbers))
            rows.append([kind, of or [number], places, view])
        yield rows


def _digest(tokenizer: Tokenizer) -> str:
    """Return the SHA-256 of the lines "ID HEX" of all tokens by id, in lowercase hex."""
    return digest_of((entry.id, entry.piece) for entry in tokenizer.entries())


def _imported(spec: Spec) -> dict[str, object]:
    """Return the files of a tokenizer from another tool's file, and what these do not say.

    Raises:
        Unsupported: Its file cannot be recreated from its tokens.
    """
    own = spec.file.own
    if own is not None:  # the file's own way tells what its tokens were
        spec = Spec(spec.tokenizer.encoded_by(own[0]))
    if spec.file.format not in WRITTEN:
        raise Unsupported(f"{spec.file.format} files are read-only", "tokentui", "keep the original file")
    format = WRITTEN[spec.file.format]
    fitted = format.codec.to_format(spec)
    names = {token.name for token in fitted.tokens}
    made_of = set(itertools.chain.from_iterable(fitted.rows))  # a token whose id another one has is left out
    numbers = {token.id for token in fitted.tokens}
    if not len(names) == len(numbers) == len(fitted.tokens) or not made_of <= names:
        raise Unsupported(
            "two tokens have one id or one name", "tokentui", "keep the original file"
        )
    files = zip(format.files, format.codec.write(fitted), strict=True)
    around = spec.before, spec.after
    return {
        "format": format.name, "files": {name: packed(data) for name, data in files},
        **({"specials": fitted.specials} if fitted.specials else {}),
        **({"around": around} if any(around) or format.name in _WITH_ENDS else {}),
        **({"unknown": spec.unknown} if format.name in _BY_CLASS and spec.unknown else {}),
        **({"encode": own[0]} if own else {}),
        **({"notes": spec.tokenizer.notes} if spec.tokenizer.notes else {}),
    }


def _write(fitted: Fitted) -> tuple[bytes, ...]:
    """Return the bytes of the document. Equal tokenizers give equal bytes."""
    values = (f'"{name}": {_lines(value)}' for name, value in fitted.metadata.items())
    document = "{" + ",\n ".join(values) + "}\n"
    try:
        return (document.encode(),)
    except UnicodeEncodeError:  # lone surrogates, such as bytes that are not UTF-8, are written as escapes
        return (SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", document).encode(),)


def _lines(value: object) -> str:
    """Return a value as JSON: a list with one row per line."""
    if not isinstance(value, list) or not value:
        return _json(value)
    return "[\n  " + ",\n  ".join(map(_json, value)) + "]"


# --- reading ---


def _read(source: Source) -> Tokenizer:
    """Return the tokenizer of a document.

    Raises:
        TokentuiError: It is damaged, or newer than this version. The message has the fault and its row.
    """
    root = source.root
    if root["format"].value != "tokentui":
        raise root.error('"format" is not "tokentui"', "name a file that train wrote")
    version = root["version"].number()
    if not 1 <= version <= VERSION:
        what = f"made by {'a newer' if version > VERSION else 'no'} tokentui (version {version})"
        raise root.error(f"{what}; this one reads versions 1 to {VERSION}", "update tokentui")
    known = ("imported",) if "imported" in root else _EVENTS_KEYS if "events" in root else _MERGES_KEYS
    known = version1.KEYS if version == 1 else known
    root.keys((*_KEYS, *(name for name in known if name in root or name not in _OPTIONAL)))
    axes = root["recipe"].mapping()
    for name in AXIS_NAMES:
        if name not in axes:
            raise root["recipe"].error(f'"{name}" is missing', "all eleven axes are needed")
    root["recipe"]["mark"].text(most=LONGEST_MARK)
    recipe = _checked(root["recipe"], lambda: Recipe.from_dict(axes, str(root["recipe"])))
    run = _run(root["run"])
    if shape := {name: run[name] for name in SHAPE if name in run}:
        recipe = _checked(root["run"], lambda: recipe.with_axes(**shape))
    place, hint = root["digest"], 'restore it, or remove "digest"'
    if version == 1:
        place, hint = root["vocabulary"], "restore it"
        root = version1.upgraded(root, recipe)
    if "imported" in root:  # the format has the tables of its owner
        return _restored(replace(recipe, unicode=NEWEST_UNICODE), root)
    recipe = replace(recipe, unicode=_unicode(root["unicode"]))
    tokenizer = Tokenizer(_trained(recipe, root), None, run)
    if "digest" in root and root["digest"].text() != _digest(tokenizer):
        raise place.error("the rest of the file gives other tokens than those that were written", hint)
    unknown = [f"{name}={value}" for name, value in recipe.to_dict().items() if name in _stand_ins(recipe)]
    tokenizer.vocabulary.notes = tuple(
        f"this version does not know {name}: the tokenizer encodes, and is not trained on" for name in unknown
    )
    return tokenizer


def _unicode(node: Node) -> str:
    """Return the name of the Unicode tables of a document. One without a name was trained with those that
    were installed.

    Raises:
        TokentuiError: This version does not know the name.
    """
    if (name := node.text("")) and name not in TABLES:
        raise node.error(f"{name[:40]!r} is not known here", "update tokentui")
    return name


def _stand_ins(recipe: Recipe) -> dict[str, str]:
    """Return a known value for each of the axes `objective` and `tie` whose value this version does not know.

    Empty if both are known with their parameters. Encoding needs neither.
    """
    from tokentui.learn.objectives import OBJECTIVES  # every file is sniffed here, and few are of this format

    way = ENCODING_WAYS.get(recipe.encode)
    scored = way is not None and way.needs == "scores"
    objectives = (objective.name for objective in OBJECTIVES.values() if objective.scored == scored)
    known = {"objective": next(objectives),
             "tie": Recipe().tie}
    return {name: value for name, value in known.items() if not _is_known(name, recipe.axis(name))}


def _is_known(axis: str, value: str) -> bool:
    """Return whether the axis takes the value. KeyError names an unknown axis."""
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


def _trained(recipe: Recipe, root: Node) -> Vocabulary:
    """Return the vocabulary of a document with units, and merges or events.

    Raises:
        TokentuiError: It is damaged, or its parts do not fit together.
    """
    from tokentui.learn.objectives import OBJECTIVES

    listed, first, specials = root["units"], root["run"]["first_id"].number(), root["run"]["specials"].texts()
    objective = OBJECTIVES.of(recipe.with_axes(**_stand_ins(recipe)).objective)
    units, scores = _scored(listed) if objective.scored else (listed.texts(), [])
    base = [to_bytes(unit) for unit in units]
    check_number(len(base), listed)
    if len(set(base)) < len(base) or b"" in base:
        raise listed.error("a unit is empty, or two have the same bytes", "each unit must be unique")
    if objective.substitutes_bytes:
        if base != _ALL_BYTES:
            what = f"objective={objective.name} needs them"
            raise listed.error("the base is not the 256 bytes in order", what)
        placeholders = _placeholders(root["merges"], root["placeholders"])
        vocabulary: Vocabulary = GageVocabulary(recipe, placeholders, specials, first)
    elif "placeholders" in root:
        raise root["placeholders"].error("only Gage's compression replaces bytes", "remove them")
    elif objective.scored:
        vocabulary = Vocabulary(recipe, base, specials, first, scores)
    else:
        made = objective.vocabulary or (EventVocabulary if "events" in root else Vocabulary)
        vocabulary = made(recipe, base, specials, first)
    from tokentui.learn.bases import BASES

    if BASES.of(recipe.base).all_bytes and not (objective.scored or objective.prunes):
        ends = [vocabulary.mark] * MARKS.of(recipe.mark).is_unit
        longer = [unit for unit in base if len(vocabulary.bare(unit)) > 1 and unit not in ends]
        if longer or sorted(unit for unit in base if len(unit) == 1) != _ALL_BYTES:
            raise listed.error("the base is not all 256 bytes", "each unit must be unique")
    if "events" in root:
        if not isinstance(vocabulary, EventVocabulary):
            raise root["events"].error(f"objective={recipe.objective} has no events", "fix one of the two")
        _add_events(vocabulary, root["events"])
        return vocabulary
    if (objective.scored or objective.prunes) and root["merges"].listed():
        model = "a unigram model" if objective.scored else f"objective={objective.name}"
        raise root["merges"].at(0).error(f"{model} has no merges", "make the list empty")
    _add_merges(vocabulary, root["merges"])
    return vocabulary


def _scored(listed: Node) -> tuple[list[str], list[float]]:
    """Return the units and the scores of rows [UNIT, SCORE].

    Raises:
        TokentuiError: A row is invalid.
    """
    units, scores = list[str](), list[float]()
    for row in listed.rows():
        unit, score = row.fields("UNIT", "SCORE")
        value = score.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not -_LEAST_SCORE <= value <= 0:
            raise row.error("SCORE is not a log probability", "use a number from -1e6 to 0")
        units.append(unit.text())
        scores.append(float(value))
    return units, scores


def _add_merges(vocabulary: Vocabulary, listed: Node) -> None:
    """Append the merges of rows [LEFT, RIGHT, COUNT] to a vocabulary, after checking that their parts exist.

    Raises:
        TokentuiError: A row is invalid.
    """
    pieces = vocabulary.pieces
    check_number(len(pieces) + len(listed.listed()), listed)
    length = 0
    for n, (left, right, count) in enumerate(_numbers(listed, "LEFT", "RIGHT", "COUNT")):
        if max(left, right) >= len(pieces):
            what = f"{max(left, right)} is not a unit or an earlier token"
            raise listed.at(n).error(what, "a merge joins base units and tokens of earlier merges")
        if (before := vocabulary.ranks.get((left, right))) is not None:
            raise listed.at(n).error(f"the pair {left}, {right} is already in row {before}",
                                     "pairs must be unique")
        length += len(vocabulary.spelled(left)) + len(vocabulary.spelled(right))
        _check_sum(length, listed.at(n))
        vocabulary.add(left, right, count)


def _check_sum(length: int, place: Node) -> None:
    """Check the sum of the bytes of all tokens so far. Repeated doubling would soon fill the memory.

    Raises:
        TokentuiError: A file of version 1 could not list such tokens, which it does in four letters a byte.
    """
    if length > limits.now().file_bytes // 4:
        raise place.error("the tokens are longer than in any real tokenizer")


def _numbers(listed: Node, *names: str) -> Iterator[list[int]]:
    """Yield rows of whole numbers of 0 or more.

    Raises:
        TokentuiError: A row is invalid.
    """
    size = len(names)
    for n, row in enumerate(listed.listed()):
        # a `Node` for each of many thousands takes longer than many a training
        whole = type(row) is list and len(row) == size and {int} == set(map(type, row))
        if not whole or min(row) < 0 or max(row) > LARGEST_NUMBER:
            yield [field.number() for field in listed.at(n, row).fields(*names)]
        else:
            yield row


def _placeholders(merges: Node, listed: Node) -> list[int]:
    """Return the bytes that replace the pairs of Gage's compression.

    Raises:
        TokentuiError: They are not as many as the merges, or a byte is in use before it replaces a pair.
    """
    values = [row.number() for row in listed.rows()]
    if len(values) != len(merges.listed()):
        raise listed.error(f"{len(values)} bytes for {len(merges.listed())} merges", "give each merge one")
    used: set[int] = set()
    replaced: set[int] = set()
    for n, (left, right, _) in enumerate(_numbers(merges, "LEFT", "RIGHT", "COUNT")):
        if replaced & {left, right}:
            raise merges.at(n).error("a byte of the pair already represents another pair", "name that pair")
        used |= {left, right}
        if (byte := values[n]) in used | replaced or byte >= len(_ALL_BYTES):
            raise listed.at(n).error(f"{byte} already represents something else, or is not a byte",
                                     "a byte can represent only one pair")
        replaced.add(byte)
    return values


def _add_events(vocabulary: EventVocabulary, listed: Node) -> None:
    """Append steps of events [KIND, PARTS, PLACES, VIEW] to a vocabulary, after checking that their parts
    exist. An event with one part is about that symbol.

    Raises:
        TokentuiError: A row is invalid.
    """
    length = 0
    for n, step in enumerate(listed.rows()):
        events = list[Event]()
        for value in step.listed():
            row = Node(value, None, step)
            kind, parts, places, view = row.fields("KIND", "PARTS", "PLACES", "VIEW")
            if (name := kind.text()) not in _EVENTS:
                raise row.error(f"{name[:40]!r} is not a kind of event", "one of: " + ", ".join(_EVENTS))
            if view.number() > 1:
                raise row.error("VIEW must be 0 or 1", "0 means words, 1 means documents")
            symbols = tuple(part.number() for part in parts.inner())
            if not symbols or max(symbols) >= len(vocabulary.pieces):
                raise row.error("PARTS are not units and earlier tokens", "fix the row")
            if len(symbols) == 1 and name in (*MAKING, *_APART):
                raise row.error("PARTS are missing", "a token has two or more parts")
            length += sum(len(vocabulary.pieces[symbol]) for symbol in symbols)
            _check_sum(length, row)
            piece = b"".join(vocabulary.pieces[symbol] for symbol in symbols)
            if name not in MAKING and vocabulary.symbol(piece) is None:
                raise row.error("PARTS do not form an earlier token", "an event needs an existing token")
            symbol = vocabulary.named(piece)
            if name in LEAVING and symbol < vocabulary.base_size:
                raise row.error("a unit cannot be removed", "an event needs an existing token")
            events.append(Event(EventKind(name), symbol, symbols if len(symbols) > 1 else (), places.number(),
                                0, view.number()))
        if not events:
            raise listed.at(n).error("a step without events", "remove it")
        vocabulary.step(events)


def _restored(recipe: Recipe, root: Node) -> Tokenizer:
    """Return the tokenizer of a document with the files of another tool.

    Raises:
        TokentuiError: It is damaged, or its parts do not fit together.
    """
    imported = root["imported"]
    imported.keys(("format", "files", *(name for name in _NOT_IN_FILES if name in imported)))
    name = imported["format"].text()
    others = [name for name in WRITTEN if name != OWN.name]
    if name not in others:
        raise imported["format"].error(f"{name[:40]!r} is not a format of another tool",
                                       "one of: " + ", ".join(others))
    format = WRITTEN[name]
    imported["files"].keys(format.files)
    files = tuple(_unpacked(imported["files"][file]) for file in format.files)
    specials = imported["specials"].ids() if "specials" in imported else {}
    encode = recipe.encode
    if "encode" in imported:
        recipe = recipe.with_axes(encode=imported["encode"].text())
    split = recipe.split if format.needs_split else ""
    where = tuple(str(imported["files"].at(file)) for file in format.files)
    tokenizer = format.codec.read(source_of(where, files, split, RecipeFacts(recipe, specials)))
    splits = recipe.split, tokenizer.recipe.split
    if all(split.startswith("regex:") for split in splits):  # versions may write one pattern in two ways
        recipe = recipe.with_axes(split=splits[1])
    recipe = replace(recipe, unicode=tokenizer.recipe.unicode)
    if tokenizer.recipe != recipe:
        theirs = asdict(tokenizer.recipe)
        axis = next(axis for axis, value in asdict(recipe).items() if theirs[axis] != value)
        raise root["recipe"].error(f"{axis} does not match the files", "fix one of the two")
    vocabulary = tokenizer.vocabulary
    if name in _BY_CLASS and isinstance(vocabulary, ImportedVocabulary):
        unknown = imported["unknown"].text("")
        if unknown and unknown not in specials:
            raise imported["unknown"].error(f"{unknown[:40]!r} is no special token", "fix the file")
        vocabulary = vocabulary.with_specials(vocabulary.file, specials, unknown)
        tokenizer = Tokenizer(vocabulary, tokenizer.merges, tokenizer.run)
    around = tokenizer.encoder.around
    if "around" in imported:
        before, after = (tuple(side.texts()) for side in imported["around"].fields("before", "after"))
        if strangers := {*before, *after}.difference(specials):
            raise imported["around"].error(f"{min(strangers)[:40]!r} is no special token", "fix the file")
        around = before, after
    notes = tuple(imported["notes"].texts()) if "notes" in imported else ()
    vocabulary.file = replace(vocabulary.file, notes=notes, around=around)
    vocabulary.notes = notes
    try:
        return tokenizer.encoded_by(encode)
    except TokentuiError as error:
        raise root["recipe"]["encode"].error(error.what, error.hint) from None


def _unpacked(content: Node) -> bytes:
    """Return the bytes of a file; see `spec.packed`.

    Raises:
        TokentuiError: The content is neither text nor an object, or is not base64.
    """
    if isinstance(content.value, str):
        return content.value.encode("utf-8", "surrogatepass")
    if isinstance(code := content.mapping().get("base64"), str):
        try:
            return base64.b64decode(code, validate=True)
        except ValueError:
            raise content.error("not base64") from None
    return json_bytes(content.value)


CODEC = Codec(OWN.recognizes, _read, _fit, _write)
