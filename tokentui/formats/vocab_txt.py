"""BERT's `vocab.txt`: a token a line, the number of the line is its id.

The file holds no flags. Whether the text is lower-cased is told by the tokens: where none has a capital letter it is, and accents
are stripped then, as Hugging Face does it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence

from tokentui.encode.imported import ImportedVocabulary, Origin, Pipeline
from tokentui.encode.segment.longest import LongestMatch
from tokentui.encode.segment.parts import MAX_CHARACTERS, Attempt, Part
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import UNKNOWN_NAMES, Vocabulary
from tokentui.formats.source import Source
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import to_bytes

PREFIX = "##"
_SPECIAL = re.compile(r"\[[^\[\]]+\]|<[^<>]+>")
_UNUSED = re.compile(r"\[unused\d+\]")
_BEGIN, _END = "[CLS]", "[SEP]"


def is_vocabulary(source: Source) -> bool:
    """Whether it has a line for the unknown token and tokens that continue a word, and no line of several words."""
    lines = [line.rstrip() for line in source.lines]
    known = any(name in lines for name in UNKNOWN_NAMES) if len(lines) < 1 << 22 else False
    return known and any(line.startswith(PREFIX) for line in lines) and not any("\t" in line for line in lines)


def read(source: Source) -> Tokenizer:
    """The tokenizer of a `vocab.txt`.

    Raises:
        TokentuiError: The split that was named makes no sense.
    """
    tokens: dict[str, int] = {}
    again: list[str] = []
    for number, line in enumerate(source.lines):
        name = line.rstrip()
        if name in tokens:
            again.append(name)
        tokens[name] = number
    cased = any(name != name.lower() for name in tokens if not _SPECIAL.fullmatch(name))
    recipe = Recipe(("bert-cased",) if cased else ("bert-uncased",), source.split or "bert", "char", f"prefix:{PREFIX}",
                    "first-seen", encode="longest-match", unknown="whole-word")
    notes = ["the file does not say whether text is lower-cased: " +
             ("it has capital letters, so case is kept" if cased else "it has no capital letters, so text is lower-cased")]
    if again:
        notes.append(f"{again[0][:40]!r} stands in two lines: the last one counts" if len(again) == 1 else
                     f"{len(again)} tokens stand in two lines, such as {again[0][:40]!r}: the last one counts")
    specials = {name: number for name, number in tokens.items() if _SPECIAL.fullmatch(name) and not _UNUSED.fullmatch(name)}
    return Tokenizer(vocabulary(recipe, tokens, specials, next((n for n in UNKNOWN_NAMES if n in tokens), None), tuple(notes)))


def vocabulary(
    recipe: Recipe, tokens: dict[str, int], specials: dict[str, int], unknown: str | None, notes: tuple[str, ...]
) -> ImportedVocabulary:
    """The vocabulary of tokens that are looked up, in order of their ids; an empty token is never looked up."""
    names = sorted(tokens, key=tokens.__getitem__)
    pieces = [to_bytes(name) for name in names]
    around = tuple((name,) if name in specials else () for name in (_BEGIN, _END))
    pipeline = Pipeline(TableMatch, Pretokenizer(recipe), around=(around[0], around[1]), notes=notes,
                        origin=Origin("bert", {}))
    return ImportedVocabulary(
        recipe, pieces, [tokens[name] for name in names], units={piece: symbol for symbol, piece in enumerate(pieces)},
        pipeline=pipeline, specials=specials, unknown=None if unknown is None else tokens[unknown],
    )


class TableMatch(LongestMatch):
    """Longest match among all tokens of a file: at the start of a word by their spelling alone, as BERT's own program does.

    Args:
        vocabulary: The vocabulary.
        merges: Of no meaning where there are none.
        limit: A word of more characters is given up.
    """

    def __init__(self, vocabulary: Vocabulary, merges: int, *, limit: int = MAX_CHARACTERS) -> None:
        super().__init__(vocabulary, merges)
        self._limit = limit

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word into parts; each unit at which no token starts is a part of its own."""
        return [Part(0, len(units))] if characters > self._limit else super().segment(units, 0)

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[Attempt]:
        """Each attempt in order."""
        return iter(()) if characters > self._limit else super().steps(units, 0)

    @functools.cached_property
    def _index(self) -> tuple[Mapping[bytes, int], Mapping[bytes, int], int]:
        table = lookup(self._vocabulary)
        return table, table, max(map(len, table), default=1)



def lookup(vocabulary: Vocabulary) -> Mapping[bytes, int]:
    """The symbol of each token that a word may become, by its exact bytes."""
    if isinstance(vocabulary, ImportedVocabulary):
        return vocabulary.by_piece
    return {piece: symbol for symbol, piece in enumerate(vocabulary.pieces)}
