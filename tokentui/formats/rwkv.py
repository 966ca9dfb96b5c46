"""RWKV's world vocabulary, `rwkv_vocab_v20230424.txt`, with one token per line.

A line is the id, the token as a Python literal (`'…'` for text, `b'…'` for bytes that are not UTF-8) and its
number of bytes. A text is encoded by the longest token from the left, over its bytes, without a split.
Source: BlinkDL/RWKV-LM, `rwkv_tokenizer.py`.
"""

from __future__ import annotations

import ast
import re

from tokentui.encode.segment import BYTE_TABLE
from tokentui.encode.tokenizer import Tokenizer, tokenizer_of
from tokentui.encode.vocabulary import TokenizerFile
from tokentui.formats import Codec
from tokentui.formats.source import LARGEST_ID, Node, Source, check_tokens
from tokentui.formats.spec import Fitted, Spec, Unsupported
from tokentui.recipe import Recipe

_ESCAPE = r"\\(?:[\\'\"nrt]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_LITERAL = rf"b?(?:'(?:[^'\\]|{_ESCAPE})*'|\"(?:[^\"\\]|{_ESCAPE})*\")"
_LINE = re.compile(rf"([0-9]{{1,10}}) ({_LITERAL}) ([0-9]{{1,7}})")
_SNIFFED = 8
_HEAD = 1 << 16
_LONGEST = 1 << 14
"""The most characters of a line."""


def _sniff(source: Source) -> bool:
    """Return whether the first lines are an id, a literal and a number."""
    lines = source.data[:_HEAD].decode("utf-8", "replace").replace("\r\n", "\n").split("\n")[:_SNIFFED]
    whole = lines[: max(1, len(lines) - 1)]
    return all(len(line) <= _LONGEST and _LINE.fullmatch(line) for line in whole)


def _read(source: Source) -> Tokenizer:
    """Return the tokenizer of a vocabulary.

    Raises:
        TokentuiError: It is damaged, or a split was named.
    """
    if source.text is None:
        raise source.error("not UTF-8")
    source.keeps_split("none")
    ids: dict[bytes, int] = {}
    taken: set[int] = set()
    for number, line in enumerate(source.lines):
        row = _LINE.fullmatch(line) if len(line) <= _LONGEST else None
        piece = None if row is None else _piece(row[2])
        if row is None or not piece or int(row[1]) > LARGEST_ID:
            raise source.line(number).error("not an id, a token in quotes and the number of its bytes",
                                            "fix the line")
        if len(piece) != int(row[3]):
            what = f"the token has {len(piece)} bytes, and the line says {int(row[3])}"
            raise source.line(number).error(what, "fix the line")
        if piece in ids:
            raise source.line(number).error("the token is on two lines", "tokens must be unique")
        if int(row[1]) in taken:
            raise source.line(number).error(f"id {int(row[1])} is on two lines", "ids must be unique")
        ids[piece] = int(row[1])
        taken.add(ids[piece])
    check_tokens(map(len, ids), Node(None, source.where))
    pieces = sorted(ids, key=ids.__getitem__)
    lacking = 256 - sum(len(piece) == 1 for piece in pieces)
    notes = [] if 0 in taken else ["RWKV's models end a text with id 0, which the file does not list"]
    if lacking:
        notes.append(f"{lacking} of the 256 bytes have no token: text with them is refused")
    recipe = Recipe(
        (), "none", "byte", "none", "first-seen" if lacking else "bytes", encode="longest-match",
        unknown="error" if lacking else "never",
    )
    return tokenizer_of(TokenizerFile(
        "rwkv", recipe, pieces, [ids[piece] for piece in pieces],
        units={piece: symbol for symbol, piece in enumerate(pieces) if len(piece) == 1},
        way=BYTE_TABLE, around=((), ()), notes=tuple(notes),
    ))


def _piece(literal: str) -> bytes | None:
    """Return the bytes of a literal, of text or of bytes; None if it is invalid."""
    if "\\" not in literal and literal[0] != "b":
        return literal[1:-1].encode("utf-8")
    try:
        value = ast.literal_eval(literal)
        return value if isinstance(value, bytes) else str(value).encode("utf-8")
    except (SyntaxError, ValueError):
        return None


def _fit(spec: Spec) -> Fitted:
    """Convert a tokenizer to a vocabulary of RWKV.

    Raises:
        Unsupported: Two tokens have equal bytes.
    """
    if len({entry.piece for entry in spec.ordinary}) < len(spec.ordinary):
        raise Unsupported("two tokens have the same bytes", "", "tokens must be unique")
    tokens = sorted(spec.tokens(byte_level=True))
    return Fitted(spec.recipe, tokens, specials=dict(spec.specials))


def _write(fitted: Fitted) -> tuple[bytes, ...]:
    """Return the bytes of the file."""
    lines = (f"{token.id} {_literal(token.piece)} {len(token.piece)}\n" for token in fitted.tokens)
    return ("".join(lines).encode(),)


def _literal(piece: bytes) -> str:
    """Return a token as a Python literal: a text, or bytes that are not UTF-8."""
    try:
        return repr(piece.decode())
    except UnicodeDecodeError:
        return repr(piece)


RWKV = Codec(_sniff, _read, _fit, _write)
