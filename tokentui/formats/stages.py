"""The project's own file of a tokenizer that was read from another tool's: what the axes cannot say stands under "stages".

"vocabulary" and "merges" are as in every file of the project, with the ids of the file that was read; "stages" names its format
and holds all else that it said. From these the other tool's file is made again, and read as that is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tokentui.core.errors import TokentuiError
from tokentui.encode.imported import ImportedVocabulary
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import huggingface, merge_files, minbpe, sentencepiece, subword_nmt, tekken, tiktoken, vocab_txt
from tokentui.formats.body import Body, Refused, Table, Token, spelled
from tokentui.formats.checking import Place, entries
from tokentui.formats.source import Source
from tokentui.formats.writing import FOREIGN
from tokentui.recipe import Recipe

_OWN = ("format", "letters", "names", "scores", "specials", "notes")


@dataclass(frozen=True, slots=True)
class Parts:
    """What stands in the document beside its recipe and its run."""

    stages: dict[str, Any]
    vocabulary: list[list[Any]]
    merges: list[list[int]]


def parts_of(tokenizer: Tokenizer) -> Parts:
    """A tokenizer that was read from another tool's file.

    Raises:
        Refused: Its file cannot be told from its tokens.
    """
    body = Body(tokenizer)
    if body.origin is None or body.origin.format not in FOREIGN:
        raise Refused("it was put together from no file", "tokentui", "write it in another format")
    table = FOREIGN[body.origin.format].fit(body).table
    ids = {token.name: token.id for token in table.tokens}
    if len(ids) < len(table.tokens) or len(set(ids.values())) < len(ids):
        raise Refused("two tokens have one id or one name", "tokentui", "keep the file that it was read from")
    letters = table.recipe.unit == "byte"
    pieces = {token.id: token.piece or token.name.encode("utf-8", "surrogateescape") for token in table.tokens}
    names = {str(token.id): token.name for token in table.tokens if token.name != spelled(pieces[token.id], letters)}
    scored = table.recipe.objective == "unigram"
    stages: dict[str, Any] = {"format": body.origin.format, "letters": letters, **table.said}
    optional = {"names": names, "specials": table.specials, "notes": list(tokenizer.notes)}
    if not scored and any(token.score for token in table.tokens):
        optional["scores"] = [token.score for token in table.tokens]
    stages |= {name: value for name, value in optional.items() if value}
    rows = [[token.id, pieces[token.id].decode("utf-8", "replace"), pieces[token.id].hex(), token.score if scored else None]
            for token in table.tokens]
    return Parts(stages, rows, [[ids[left], ids[right], ids[made], 0] for left, right, made in table.rows])


def together(recipe: Recipe, parts: Parts, place: Place) -> Tokenizer:
    """The tokenizer of a document with stages.

    Raises:
        TokentuiError: It is damaged, or its parts do not fit.
    """
    at = place.key("stages")
    stages = at.mapping(parts.stages)
    format = stages.get("format")
    if format not in _READ:
        raise at.key("format").error(f"{str(format)[:40]!r} is no format of other tools", "one of: " + ", ".join(_READ))
    tokens = _tokens(stages, parts.vocabulary, place)
    names = {token.id: token.name for token in tokens}
    if len(names) < len(tokens):
        raise place.key("vocabulary").error("an id stands twice", "an id stands once")
    rows: list[tuple[str, str, str]] = []
    for where, row in entries(parts.merges, place.key("merges")):
        left, right, made, _ = map(where.number, where.fields(row, ("LEFT_ID", "RIGHT_ID", "ID", "COUNT")))
        if not {left, right, made} <= names.keys():
            raise where.error("an id is not in the vocabulary", "a merge joins two tokens to one")
        rows.append((names[left], names[right], names[made]))
    specials = at.key("specials").mapping(stages.get("specials", {}))
    for name, number in specials.items():
        at.key("specials").key(name[:40]).number(number)
    notes = tuple(where.text(note) for where, note in entries(stages.get("notes", []), at.key("notes")))
    table = Table(recipe, tokens, rows, dict(specials), {key: value for key, value in stages.items() if key not in _OWN})
    try:
        tokenizer = _READ[format](table, place)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError):
        raise at.error(f"not what a file of {format} says", "mend the file or read the other file again") from None
    if tokenizer.recipe != recipe:
        axis = next(axis for axis, value in recipe.to_dict().items() if tokenizer.recipe.to_dict()[axis] != value)
        raise place.key("recipe").error(f"{axis} is not what the stages say", "mend one of the two")
    vocabulary = tokenizer.vocabulary
    assert isinstance(vocabulary, ImportedVocabulary)
    vocabulary.pipeline = replace(vocabulary.pipeline, notes=notes)
    vocabulary.notes = notes
    return tokenizer


def _tokens(stages: Mapping[str, Any], vocabulary: Any, place: Place) -> list[Token]:
    at = place.key("stages")
    letters = stages.get("letters") is True
    names = at.key("names").mapping(stages.get("names", {}))
    scores = stages.get("scores")
    found: list[Token] = []
    for n, (where, row) in enumerate(entries(vocabulary, place.key("vocabulary"))):
        number, text, code, score = where.fields(row, ("ID", "TEXT", "HEX", "SCORE"))
        where.number(number)
        piece = where.hex(code) if code != "" else b""
        if where.text(text) != piece.decode("utf-8", "replace"):
            raise where.error("TEXT is not what HEX decodes to", "mend one of the two")
        name = names.get(str(number))
        if scores is not None:
            score = scores[n] if isinstance(scores, list) and n < len(scores) else None
        if score is not None and type(score) not in (int, float):
            raise where.error("SCORE is no number", "a number or null belongs there")
        found.append(Token(number, at.key("names").text(name) if name is not None else spelled(piece, letters), piece, score))
    return found


def _file(read: Callable[[Source], Tokenizer], format: str, split: bool = False) -> Callable[[Table, Place], Tokenizer]:
    """By way of the other tool's file."""

    def run(table: Table, place: Place) -> Tokenizer:
        return read(Source(place.file, FOREIGN[format].write(table)[0], table.recipe.split if split else ""))

    return run


def _ranks(table: Table, place: Place) -> Tokenizer:
    ranks = {token.piece: token.id for token in table.tokens}
    if len(ranks) < len(table.tokens) or b"" in ranks:
        raise place.key("vocabulary").error("a token stands twice or is empty", "a token stands once")
    return tiktoken.build(ranks, table.recipe.split, table.specials, Source(place.file, b""))


def _files(table: Table, place: Place) -> Tokenizer:
    named = {token.name: token.id for token in table.tokens}
    rows = [(left, right) for left, right, _ in table.rows]
    return merge_files.build(named, rows, place.key("merges").row, table.recipe, ())


_READ: dict[str, Callable[[Table, Place], Tokenizer]] = {
    "huggingface": _file(huggingface.read, "huggingface"),
    "sentencepiece": _file(sentencepiece.read, "sentencepiece"),
    "minbpe": _file(minbpe.read, "minbpe"),
    "tekken": _file(tekken.read, "tekken"),
    "bert": _file(vocab_txt.read, "bert", split=True),
    "subword-nmt": _file(subword_nmt.read, "subword-nmt", split=True),
    "tiktoken": _ranks,
    "gpt2": _files,
}
"""How a table becomes a tokenizer, by the format that it was read from."""

def error_of(tokenizer: Tokenizer) -> TokentuiError | None:
    """Why a tokenizer cannot be written in the project's own format, None where it can."""
    if isinstance(tokenizer.vocabulary, ImportedVocabulary):
        try:
            parts_of(tokenizer)
        except TokentuiError as error:
            return error
    return None
