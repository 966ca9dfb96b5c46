"""The project's own file of a tokenizer that was read from another tool's: what the axes cannot say stands
under "stages".

"vocabulary" and "merges" are as in every file of the project, with the ids of the file that was read;
"stages" names its format and holds all else that it said. From these the other tool's file is made again, and
read as that is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from tokentui.encode.pipeline import ImportedVocabulary
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.document import Node
from tokentui.formats.registry import OWN, WRITTEN
from tokentui.formats.source import Known, source_of
from tokentui.formats.spec import Fitted, Refused, Spec, Token, name_of
from tokentui.recipe import Recipe

_OWN = ("format", "letters", "names", "scores", "specials", "notes")


class Parts(NamedTuple):
    """The parts of the document but for its recipe and its run."""

    stages: dict[str, object]
    vocabulary: list[list[object]]
    merges: list[list[int]]


def parts_of(spec: Spec) -> Parts:
    """A tokenizer that was read from another tool's file.

    Raises:
        Refused: Its file cannot be told from its tokens.
    """
    origin = spec.origin
    format = WRITTEN.get(origin.format) if origin is not None else None
    if origin is None or format is None or format.fit is None:
        raise Refused("it was put together from no file", "tokentui", "write it in another format")
    fitted: Fitted = format.fit(spec)
    ids = {token.name: token.id for token in fitted.tokens}
    if len(ids) < len(fitted.tokens) or len(set(ids.values())) < len(ids):
        raise Refused("two tokens have one id or one name", "tokentui", "keep the file that it was read from")
    letters = fitted.recipe.unit == "byte"
    pieces = {token.id: token.piece or token.name.encode("utf-8", "surrogateescape")
              for token in fitted.tokens}
    names = {str(token.id): token.name for token in fitted.tokens
             if token.name != name_of(pieces[token.id], letters)}
    scored = bool(spec.vocabulary.scores)
    stages: dict[str, object] = {"format": origin.format, "letters": letters, **fitted.said}
    optional: dict[str, object] = {"names": names, "specials": fitted.specials,
                                   "notes": list(spec.tokenizer.notes)}
    if not scored and any(token.score for token in fitted.tokens):
        optional["scores"] = [token.score for token in fitted.tokens]
    stages |= {name: value for name, value in optional.items() if value}
    rows: list[list[object]] = [
        [token.id, pieces[token.id].decode("utf-8", "replace"), pieces[token.id].hex(),
         token.score if scored else None]
        for token in fitted.tokens
    ]
    return Parts(stages, rows, [[ids[left], ids[right], ids[made], 0] for left, right, made in fitted.rows])


def restored(recipe: Recipe, root: Node) -> Tokenizer:
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
        left, right, made, _ = (field.number() for field in row.fields("LEFT_ID", "RIGHT_ID", "ID", "COUNT"))
        if not {left, right, made} <= names.keys():
            raise row.error("an id is not in the vocabulary", "a merge joins two tokens to one")
        rows.append((names[left], names[right], names[made]))
    specials = {name: stages["specials"][name].number() for name in stages["specials"].mapping({})}
    notes = tuple(stages["notes"].texts()) if "notes" in stages else ()
    said = {key: value for key, value in stages.mapping().items() if key not in _OWN}
    fitted = Fitted(recipe, tokens, rows, specials, said)
    try:
        files = format.write(fitted) if format.write else ()
        split = recipe.split if format.needs_split else ""
        source = source_of(tuple(str(root) for _ in files), files, split, Known(recipe, specials))
        tokenizer: Tokenizer = format.read(source)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError):
        raise stages.error(f"not what a file of {name} says",
                           "mend the file or read the other file again") from None
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
        if said is not None and not (isinstance(said, int | float) and not isinstance(said, bool)):
            raise row.error("SCORE is no number", "a number or null belongs there")
        key = str(number.number())
        name = stages["names"][key].text() if key in names else name_of(piece, letters)
        yield Token(number.number(), name, piece, said)
