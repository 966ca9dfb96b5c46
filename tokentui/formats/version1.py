"""Version 1 of the project's own tokenizer file, as a document of version 2.

It lists every token ([ID, TEXT, HEX, SCORE] in "vocabulary") next to the merges by ids ([LEFT_ID, RIGHT_ID,
ID, COUNT]) or the events by bytes ([STEP, KIND, HEX, PARTS, PLACES, VIEW]) that make the same tokens. For a
tokenizer of another tool's file, "stages" has what the tokens and the merges do not say.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from tokentui.encode.events import MAKING
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats import OWN, WRITTEN
from tokentui.formats.source import Node, check_number
from tokentui.formats.spec import FileToken, Fitted, digest_of, packed
from tokentui.formats.tokens import name_of
from tokentui.recipe import Recipe

KEYS = ("unicode", "stages", "vocabulary", "merges", "events")
_STAGES = ("format", "letters", "names", "scores", "specials", "notes", "encode", "around", "unknown")
_KEPT = ("specials", "notes", "encode", "around", "unknown")


def upgraded(root: Node, recipe: Recipe) -> Node:
    """Return the document of version 2 with the same tokenizer. Its digest is that of the listed tokens.

    Raises:
        TokentuiError: A row is invalid, or its parts do not exist.
    """
    document = {name: root[name].value for name in ("recipe", "run", "unicode") if name in root}
    check_number(len(root["vocabulary"].listed()), root["vocabulary"])
    if "stages" in root:
        return Node({**document, "imported": _imported(recipe, root)}, str(root))
    tokens = [_token(row) for row in root["vocabulary"].rows()]
    specials, first = root["run"]["specials"].texts(), root["run"]["first_id"].number()
    named = Vocabulary(recipe, (), specials, first).sizes[0]
    if "events" in root:
        document |= _events(tokens[named:], root)
    else:
        document |= _merges(tokens[named:], named + first, root)
    digest = digest_of((token.id, token.piece) for token in tokens)
    return Node({**document, "digest": digest}, str(root))


def _token(row: Node, least: int = 1) -> FileToken:
    """Read a row of the vocabulary. Its hex must have at least `least` bytes."""
    number, text, code, score = row.fields("ID", "TEXT", "HEX", "SCORE")
    value = score.value
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise row.error("SCORE is not a number", "use a number or null")
    return FileToken(number.number(), text.text(), code.hex(least), value)


def _unit(token: FileToken) -> object:
    text = name_of(token.piece, byte_level=False)
    return text if token.score is None else [text, token.score]


def _merge(row: Node) -> tuple[int, ...]:
    return tuple(field.number() for field in row.fields("LEFT_ID", "RIGHT_ID", "ID", "COUNT"))


def _merges(tokens: list[FileToken], first: int, root: Node) -> dict[str, object]:
    """Return units and merges of the tokens that the file does not name, the first of which has the id
    `first`."""
    from tokentui.learn.objectives import OBJECTIVES

    merges = [_merge(row) for row in root["merges"].rows()]
    objective = OBJECTIVES.find(str(root["recipe"]["objective"].value))
    replaces = objective is not None and objective.substitutes_bytes
    results = set() if replaces else {result for _, _, result, _ in merges}
    units = [token for token in tokens if token.id not in results]
    symbols = {token.id: symbol for symbol, token in enumerate(units)}
    rows: list[list[int]] = []
    for n, (left, right, result, count) in enumerate(merges):
        if left not in symbols or right not in symbols:
            raise root["merges"].at(n).error(
                f"{right if left in symbols else left} is not a unit or an earlier token",
                "a merge joins base units and tokens of earlier merges",
            )
        rows.append([symbols[left], symbols[right], count])
        symbols[result] = len(units) + n
    placeholders = {"placeholders": [result - first for _, _, result, _ in merges]} if replaces else {}
    return {"units": list(map(_unit, units)), "merges": rows, **placeholders}


def _events(tokens: list[FileToken], root: Node) -> dict[str, object]:
    """Return units and steps of the tokens that the file does not name."""
    if root["merges"].listed():
        raise root["merges"].error("a tokenizer with events has no merges", "make the list empty")
    fields = [row.fields("STEP", "KIND", "HEX", "PARTS", "PLACES", "VIEW") for row in root["events"].rows()]
    added = {piece.hex() for _, kind, piece, *_ in fields if kind.value in MAKING}
    units = list(takewhile(lambda token: token.piece not in added, tokens))
    numbers = {token.piece: number for number, token in enumerate(units)}
    steps = list[list[object]]()
    for row, (step, kind, code, parts, places, view) in zip(root["events"].rows(), fields, strict=True):
        number, piece, cut = step.number(), code.hex(), [part.hex() for part in parts.inner()]
        if number not in (len(steps), len(steps) + 1) or not number:
            raise row.error(f"step {number} where {len(steps) or 1} or {len(steps) + 1} belongs",
                            "steps increase by one")
        if any(part not in numbers for part in cut) or (cut and b"".join(cut) != piece):
            raise row.error("PARTS do not form HEX from units and earlier tokens", "fix one of the two")
        if not cut and piece not in numbers:
            raise row.error("HEX is not a unit or an earlier token", "an event needs an existing token")
        if number > len(steps):
            steps.append([])
        steps[-1].append([kind.value, [numbers[part] for part in cut or [piece]], places.value, view.value])
        numbers.setdefault(piece, len(numbers))
    return {"units": list(map(_unit, units)), "events": steps}


def _imported(recipe: Recipe, root: Node) -> dict[str, object]:
    """Return the other tool's files of a document with stages, and what these do not say."""
    stages = root["stages"]
    name = stages["format"].text()
    others = [name for name in WRITTEN if name != OWN.name]
    if name not in others:
        raise stages["format"].error(f"{name[:40]!r} is not a format of another tool",
                                     "one of: " + ", ".join(others))
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
    metadata = {key: value for key, value in stages.mapping().items() if key not in _STAGES}
    format = WRITTEN[name]
    try:
        files = format.codec.write(Fitted(recipe, tokens, rows, specials, metadata))
        contents = {file: packed(data) for file, data in zip(format.files, files, strict=True)}
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError):
        raise stages.error(
            f"does not match the {name} file", f"fix the file or read the {name} file again"
        ) from None
    kept = {key: stages[key].value for key in _KEPT if key in stages}
    return {"format": name, "files": contents, **kept}


def _tokens(stages: Node, vocabulary: Node) -> Iterator[FileToken]:
    """Yield the tokens, each with its name and score: those of the stages before its own ones."""
    letters = stages["letters"].value is True
    names, scores = stages["names"].mapping({}), stages["scores"].value
    for n, row in enumerate(vocabulary.rows()):
        token = _token(row, least=0)
        key = str(token.id)
        name = stages["names"][key].text() if key in names else name_of(token.piece, letters)
        score = scores[n] if isinstance(scores, list) and n < len(scores) else token.score
        yield token._replace(name=name, score=score)
