"""BERT's `vocab.txt`, with one token per line. The number of the line is the id.

The file has no flags. If no token has a capital letter, text is lower-cased and accents are stripped, as in
Hugging Face's library.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from tokentui.core.safetext import to_bytes
from tokentui.encode.segment import MAX_CHARACTERS, TABLE, UNKNOWN
from tokentui.encode.tokenizer import Tokenizer, tokenizer_of
from tokentui.encode.vocabulary import UNKNOWN_NAMES, TokenizerFile
from tokentui.formats import Codec
from tokentui.formats.classes import LINES
from tokentui.formats.source import Node, Source, check_number
from tokentui.formats.spec import FileToken, Fitted, Spec, Unsupported
from tokentui.formats.tokens import ends_in
from tokentui.recipe import Recipe

_PREFIX = "##"
_SPECIAL = re.compile(r"\[[^\[\]]+\]|<[^<>]+>")
_UNUSED = re.compile(r"\[unused\d+\]")
_MOST_LINES = 1 << 22
_MOST_UNUSED = 100_000


def _sniff(source: Source) -> bool:
    """Return whether the file has a line for the unknown token, tokens that continue a word, and no line with
    several words."""
    of_class = source.of_class is not None and source.of_class.known.files == LINES
    return has_lines(source) and (of_class or any(line.startswith(_PREFIX) for line in source.lines))


def has_lines(source: Source) -> bool:
    """Return whether the file has a line for the unknown token, and no line with several words."""
    lines = [line.rstrip() for line in source.lines]
    known = any(name in lines for name in UNKNOWN_NAMES) if len(lines) < _MOST_LINES else False
    return known and not any("\t" in line for line in lines)


def _read(source: Source) -> Tokenizer:
    """Return the tokenizer of a `vocab.txt`, one token a line; the last of equal lines counts.

    Case is kept if the class of the folder says so; without one, if a token has capital letters, which a
    note says. A known class or file replaces the recipe.

    Raises:
        TokentuiError: There are too many tokens.
    """
    check_number(len(source.lines), Node(None, source.where))
    tokens: dict[str, int] = {}
    again: list[str] = []
    for number, line in enumerate(source.lines):
        name = line.rstrip()
        if name in tokens:
            again.append(name)
        tokens[name] = number
    known = source.of_class.known if source.of_class is not None else None
    cased = any(name != name.lower() for name in tokens if not _SPECIAL.fullmatch(name))
    note = "capital letters, so case is kept" if cased else "no capital letters, so text is lower-cased"
    notes = [f"the file does not say whether text is lower-cased: it has {note}"]
    if source.of_class is not None and "tokenizer_class" in source.of_class.settings:
        cased, notes = source.of_class.settings.get("do_lower_case") is False, []
    recipe = Recipe(
        ("bert-cased",) if cased else ("bert-uncased",), source.split or "bert", "char", f"prefix:{_PREFIX}",
        "first-seen", encode="longest-match", unknown="whole-word", unicode="tokenizers",
    )
    way = TABLE
    if known is not None and known.lines != "wordpieces":
        recipe, notes = replace(recipe, normalize=(), split=source.split or known.split), []
    if known is not None and known.lines == "parts":
        recipe = replace(recipe, mark="none", unknown="fused")
    if source.known is not None and source.known.recipe.split != "bert":
        recipe, notes = source.known.recipe, []
    if recipe.mark == "none":
        way = replace(TABLE, most=None).with_tables(limit=None)
    if again:
        notes.append(f"tokens in two lines: {len(again)}, such as {again[0][:40]!r}; the last line counts")
    specials = {name: number for name, number in tokens.items() if _SPECIAL.fullmatch(name)
                and not _UNUSED.fullmatch(name)}
    unknowns = (known.named["unk"], *UNKNOWN_NAMES) if known is not None else UNKNOWN_NAMES
    names = sorted(tokens, key=tokens.__getitem__)
    pieces = [to_bytes(name) for name in names]
    return tokenizer_of(TokenizerFile(
        "bert", recipe, pieces, [tokens[name] for name in names],
        units={piece: symbol for symbol, piece in enumerate(pieces)}, specials=specials,
        unknown=next((tokens[name] for name in unknowns if name in tokens), None),
        way=way, around=ends_in(specials, "[CLS]", "[SEP]"), notes=tuple(notes),
    ))


def _fit(spec: Spec) -> Fitted:
    """Convert a tokenizer to a `vocab.txt`. Unused ids get lines such as `[unused7]`.

    Raises:
        Unsupported: The format cannot represent the tokenizer.
    """
    lines: dict[int, str] = {}
    for entry in spec.entries:
        special = entry.kind in ("special", "unknown")
        name = entry.piece.decode("utf-8", "surrogatepass" if special else "surrogateescape")
        if name != name.rstrip() or any(white in name for white in "\t\n\r"):
            what = f"the token {name[:40]!r} is not a line"
            raise Unsupported(what, "", "the file has one token per line, without trailing whitespace")
        lines[entry.id] = name
    if len(set(lines.values())) < len(lines):
        raise Unsupported(
            "two tokens have the same spelling", "", "of two equal lines, the last one counts"
        )
    fitted = Fitted(spec.recipe, specials=dict(spec.specials))
    if not any(name in spec.specials for name in UNKNOWN_NAMES):
        name = UNKNOWN_NAMES[1]
        if name in lines.values():
            raise Unsupported(
                f"a token is spelled {name}", "", "the file needs that name for the unknown token"
            )
        lines[max(lines, default=-1) + 1] = name
        fitted.lose_unknown(f"they have no id; in the file they are {name}")
    holes = [number for number in range(max(lines, default=0)) if number not in lines]
    if len(holes) > _MOST_UNUSED:
        raise Unsupported(f"{len(holes)} ids have no token", "", "the file needs a line for each")
    taken = set(lines.values())
    free = (name for n in itertools.count() if (name := f"[unused{n}]") not in taken)
    lines |= dict(zip(holes, free, strict=False))
    if spec.recipe.unknown != "whole-word":
        fitted.lose_unknown(f"unknown={spec.recipe.unknown} becomes: the whole word is unknown")
    most, sure = spec.encoder.way.most, UNKNOWN.of(spec.recipe.unknown).never_unknown
    if most is not None and most != MAX_CHARACTERS and not sure:
        low, high = sorted((most, MAX_CHARACTERS))
        fitted.lose("long words", f"words of more than {MAX_CHARACTERS} characters are given up",
                    f"those of more than {most} are given up here",
                    lambda text: any(low < len(word) <= high for word in spec.pretokenizer.words(text)))
    fitted.tokens = [FileToken(number, name, name.encode("utf-8", "surrogateescape"))
                     for number, name in sorted(lines.items())]
    return fitted


def _write(fitted: Fitted) -> tuple[bytes, ...]:
    """Return the bytes of the file."""
    return ("".join(token.name + "\n" for token in fitted.tokens).encode("utf-8", "surrogateescape"),)


BERT = Codec(_sniff, _read, _fit, _write)
