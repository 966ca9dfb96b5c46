"""A format of a stranger: id, Python literal and length a line, with tabs between them; a text is cut into
the longest tokens.

No format of the project has its name: tests add it to the table, to see that one module and one entry are
enough.
"""

from __future__ import annotations

import ast
import re

from tokentui.core.choices import Ref
from tokentui.encode.segment import TABLE
from tokentui.encode.tokenizer import Tokenizer, tokenizer_of
from tokentui.encode.vocabulary import TokenizerFile
from tokentui.formats import Codec, Format, Holds
from tokentui.formats.byte_files import check_bytes
from tokentui.formats.source import LARGEST_ID, Source, check_tokens
from tokentui.formats.spec import Fitted, Spec
from tokentui.recipe import Recipe

_LINE = re.compile(r"""([0-9]{1,10})\t(b?(?:'.*'|".*"))\t([0-9]{1,6})""")


def sniff(source: Source) -> bool:
    """Whether its first lines are an id, a literal and a length."""
    lines = source.lines[:8]
    return bool(lines) and all(_LINE.fullmatch(line) for line in lines)


def read(source: Source) -> Tokenizer:
    """The tokenizer of a vocabulary."""
    ids: dict[bytes, int] = {}
    for number, line in enumerate(source.lines):
        row = _LINE.fullmatch(line)
        try:
            token = ast.literal_eval(row[2]) if row else None
        except (ValueError, SyntaxError):
            token = None
        piece = token.encode("utf-8") if isinstance(token, str) else token
        if (
            row is None
            or piece is None
            or len(piece) != int(row[3])
            or int(row[1]) > LARGEST_ID
            or piece in ids
        ):
            raise source.line(number).error("not an id, a token and its length in bytes", "fix the line")
        ids[piece] = int(row[1])
    check_tokens(map(len, ids), source.line(0))
    recipe = Recipe(split="none", encode="longest-match", base="first-seen", unknown="error")
    source.keeps_split("none")
    pieces = sorted(ids, key=ids.__getitem__)
    return tokenizer_of(TokenizerFile(
        "strangers", recipe, pieces, [ids[piece] for piece in pieces],
        units={piece: n for n, piece in enumerate(pieces)}, way=TABLE.with_tables(limit=None),
    ))


def fit(spec: Spec) -> Fitted:
    """A tokenizer as such a file holds it."""
    check_bytes(spec)
    return Fitted(spec.recipe, spec.tokens(byte_level=True), specials=dict(spec.specials))


def write(fitted: Fitted) -> tuple[bytes, ...]:
    """The bytes of the file."""
    return ("".join(line(token.id, token.piece) for token in fitted.tokens).encode(),)


def line(number: int, piece: bytes) -> str:
    """The line of a token."""
    try:
        literal = repr(piece.decode())
    except UnicodeDecodeError:
        literal = repr(piece)
    return f"{number}\t{literal}\t{len(piece)}\n"


CODEC = Codec(sniff, read, fit, write)
FORMAT = Format(
    "strangers", "a stranger's vocabulary", ("strangers_vocab.txt",), Ref("made_up_format:CODEC"),
    ((".txt", rb"[0-9]+\tb?['\"].*['\"]\t[0-9]+\r?\n"),), (".strangers", "strangers_vocab.txt"),
    Holds(("longest-match",), ("byte",), ("none",), ("none",), normalize=False), ("split", "normalize"),
)
