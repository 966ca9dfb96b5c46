"""tiktoken's rank files: a token a line, in base64, and its rank, which is its id and its priority.

Such a file holds neither the pattern nor the specials. Those of OpenAI's published files are known by the
file's hash; for others the pattern has to be named. Source: tiktoken 0.14, `load.py`.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import re
from collections.abc import Mapping
from itertools import pairwise

from tokentui.encode.pipeline import ImportedVocabulary, Origin, Parents, Pipeline
from tokentui.encode.segment.merges import JoinedMerging
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.source import LARGEST_ID, NeedsSplit, Node, Source, check_tokens
from tokentui.formats.spec import Fitted, Refused, Spec, Token
from tokentui.formats.tokens import ORDER
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer

_LINE = re.compile(rb"([A-Za-z0-9+/]{2,}={0,2}) ([0-9]{1,10})\r?")
_SNIFFED = 8
_END = "<|endoftext|>"
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")

PUBLISHED: Mapping[str, tuple[str, str, Mapping[str, int]]] = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": ("r50k_base", "gpt2", {_END: 50256}),
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": ("p50k_base", "gpt2", {_END: 50256}),
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": (
        "cl100k_base", "cl100k",
        {_END: 100257, **dict(zip(_FIM, range(100258, 100261), strict=True)), "<|endofprompt|>": 100276},
    ),
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": (
        "o200k_base", "o200k", {_END: 199999, "<|endofprompt|>": 200018},
    ),
}
"""OpenAI's files by their SHA-256: name, split and specials, as tiktoken 0.14 has them."""


def sniff(source: Source) -> bool:
    """Return whether its first lines are base64 and a number."""
    lines = [line for line in source.data[:65536].split(b"\n")[:_SNIFFED] if line.strip()]
    whole = lines[: max(1, len(lines) - 1)]
    return bool(lines) and all((m := _LINE.fullmatch(line)) and len(m[1]) % 4 == 0 for line in whole)


def read(source: Source) -> Tokenizer:
    """The tokenizer of a rank file.

    Raises:
        TokentuiError: It is damaged.
        NeedsSplit: It is none of OpenAI's and no split was named.
    """
    ranks, empty = _ranks(source)
    known = PUBLISHED.get(hashlib.sha256(source.data).hexdigest())
    if known is None and not source.split:
        raise NeedsSplit("a rank file holds no pattern", source.where, "name it, such as -s split=cl100k")
    name, split, specials = known or ("", "", source.known.specials if source.known else {})
    notes = [] if empty is None else [
        f"the token of id {empty} is empty: no text becomes it, and it is left out"
    ]
    if known is None:
        notes.append("a rank file holds no special tokens: there are none")
    elif source.split and source.split != split:
        notes.append(f"the file is {name}, whose split is {split}: split={source.split} gives other ids")
    return build(ranks, source.split or split, specials, Node(None, source.where), tuple(notes))


def build(
    ranks: dict[bytes, int], split: str, specials: Mapping[str, int], place: Node,
    notes: tuple[str, ...] = (),
    origin: Origin | None = None,
) -> Tokenizer:
    """The tokenizer of ranks.

    Args:
        ranks: The rank of each token, which is its id.
        split: A value of that axis.
        specials: The special tokens with their ids.
        place: The file, for errors.
        notes: What was assumed.
        origin: What the file says beyond the ranks; None for a file of ranks alone.

    Raises:
        TokentuiError: The split is none.
    """
    check_tokens(map(len, ranks), place)
    single = sorted((piece for piece in ranks if len(piece) == 1), key=ranks.__getitem__)
    earlier: dict[bytes, None] = dict.fromkeys(single)
    merged: list[bytes] = []
    orphans: list[bytes] = []
    for piece in sorted(ranks, key=ranks.__getitem__):
        if len(piece) > 1:
            (merged if Parents.has(piece, earlier) else orphans).append(piece)
            earlier[piece] = None
    pieces = single + orphans + merged
    table = {piece: symbol for symbol, piece in enumerate(pieces)}
    ids = [ranks[piece] for piece in pieces]
    order = [piece[0] for piece in single]
    values = list(range(256))
    base = "bytes" if order == values else "gpt2-bytes" if sorted(order) == values else "first-seen"
    if base == "gpt2-bytes" and order != list(ORDER):
        notes = (*notes, "the 256 bytes stand in an order of their own")
    if base == "first-seen":
        notes = (*notes, f"{256 - len(single)} of the 256 bytes have no token: text with them is refused")
    if orphans:
        notes = (*notes, f"{len(orphans)} of the tokens are spelled by no two earlier ones")
    recipe = Recipe(split=split, base=base, unknown="error" if base == "first-seen" else "never")
    begin, end = ((name,) if name in specials else () for name in ("<s>", "</s>"))
    pipeline = Pipeline(
        functools.partial(JoinedMerging, table=table, order=ids, whole=table), Pretokenizer(recipe),
        around=(begin, end),
        notes=notes, origin=origin or Origin("tiktoken", {}),
    )
    return Tokenizer(ImportedVocabulary(
        recipe, pieces, ids, Parents(pieces, table, len(single) + len(orphans)),
        units={piece: table[piece] for piece in single}, pipeline=pipeline,
        specials=dict(sorted(specials.items(), key=lambda item: item[1])),
    ))


def _ranks(source: Source) -> tuple[dict[bytes, int], int | None]:
    """The tokens of the file with their ranks, and the rank of the empty token (Whisper's file has one)."""
    found: dict[bytes, int] = {}
    empty: int | None = None
    taken: set[int] = set()
    for number, line in enumerate(source.data.split(b"\n")):
        if not line or line == b"\r":
            continue
        code, _, digits = line.partition(b" ")
        try:
            piece, rank = b"" if code == b"=" else binascii.a2b_base64(code, strict_mode=True), int(digits)
        except (binascii.Error, ValueError):
            piece, rank, digits = b"", 0, b""
        if not (piece or code) or not digits.strip().isdigit() or rank > LARGEST_ID:
            raise source.line(number).error("not a token in base64 and its rank", "mend the line")
        if piece in found or (not piece and empty is not None):
            raise source.line(number).error("the token stands in two lines", "a token stands once")
        if rank in taken:
            raise source.line(number).error(f"rank {rank} stands in two lines", "a rank stands once")
        if piece:
            found[piece] = rank
        else:
            empty = rank
        taken.add(rank)
    return found, empty


def check_bytes(spec: Spec) -> None:
    """Refuse a vocabulary that lacks some of the 256 bytes, or has two tokens of the same bytes.

    Raises:
        Refused: It does.
    """
    pieces = {entry.piece for entry in spec.ordinary}
    lacking = 256 - sum(len(piece) == 1 for piece in pieces)
    if lacking:
        raise Refused(f"{lacking} of the 256 bytes have no token", "",
                      "the format's owner fails on text with them")
    if len(pieces) < len(spec.ordinary):
        raise Refused("two tokens have the same bytes", "", "a token stands once in the file")


def ranked(spec: Spec) -> list[Token]:
    """The tokens in the order in which they merge."""
    tokens = spec.tokens(byte_level=True)
    if spec.way == "ranks":
        return tokens
    order = {made: n for n, (_, _, made) in enumerate(spec.merges)}
    return sorted(tokens, key=lambda token: (order.get(token.piece, -1), token.id))


def fit(spec: Spec) -> Fitted:
    """A tokenizer as a rank file holds it.

    Raises:
        Refused: It cannot.
    """
    check_bytes(spec)
    tokens = ranked(spec)
    fitted = Fitted(spec.recipe, sorted(tokens), specials=dict(spec.specials))
    merged = [token.id for token in tokens if len(token.piece) > 1]
    if any(left > right for left, right in pairwise(merged)):
        fitted.tokens = [token._replace(id=n) for n, token in enumerate(tokens)]
        fitted.lose_ids({token.name: token.id for token in fitted.tokens},
                        {token.name: token.id for token in tokens})
    return fitted


def write(fitted: Fitted) -> tuple[bytes, ...]:
    """The bytes of a rank file."""
    return (b"".join(base64.b64encode(token.piece) + b" %d\n" % token.id for token in fitted.tokens),)
