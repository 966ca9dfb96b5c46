"""Mistral's `tekken.json`: ranks as tiktoken has them, with the pattern and the specials. Source:
mistral-common, `tekken.py`.

The special tokens take the first ids; a token's id is its rank behind them.
"""

from __future__ import annotations

import base64
import binascii

from tokentui.encode.pipeline import Origin
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.source import Node, Source
from tokentui.formats.spec import Fitted, Spec, json_bytes, pattern_of, split_of
from tokentui.formats.tiktoken import build, check_bytes, ranked

_UNNAMED = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)
"""The first special tokens of files that name none: those of version 3."""


def sniff(source: Source) -> bool:
    """Return whether it is a JSON object with a pattern and a list of ranks."""
    config, vocabulary = source.document.get("config"), source.document.get("vocab")
    return isinstance(config, dict) and "pattern" in config and isinstance(vocabulary, list)


def read(source: Source) -> Tokenizer:
    """The tokenizer of a `tekken.json`.

    Raises:
        TokentuiError: It is damaged.
    """
    document = source.root
    config = document["config"]
    pattern = config["pattern"].text()
    first = config["default_num_special_tokens"].number(0)
    size = config["default_vocab_size"].number(1 << 31)
    if first > 1 << 20 or size < first:
        raise config.error("there are more special tokens than tokens", "fetch the file again")
    split = split_of(pattern)
    source.keeps_split(split)
    ranks, left = _ranks(document["vocab"], first, size - first)
    specials, named = _specials(document["special_tokens"], first)
    notes = [] if named else [
        f"the file does not name its {first} special tokens: they are named as its owner names them"
    ]
    if left:
        notes.append(
            f"{left} tokens lie beyond the size of the vocabulary and are left out, as its owner does it"
        )
    said = {name: value for name, value in source.document.items() if name != "vocab"}
    return build(ranks, split, specials, document, tuple(notes), Origin("tekken", said))


def _ranks(rows: Node, first: int, limit: int) -> tuple[dict[bytes, int], int]:
    """The tokens with their ids, up to a limit, and how many are beyond it."""
    found: dict[bytes, int] = {}
    left = 0
    for row in rows.rows():
        if len(found) == limit:
            left += 1
            continue
        rank, code = row["rank"].number(), row["token_bytes"].text()
        try:
            piece = binascii.a2b_base64(code, strict_mode=True)
        except (binascii.Error, ValueError):
            raise row.error("token_bytes is not base64") from None
        if rank != len(found):
            raise row.error(f"rank {rank} where {len(found)} belongs", "ranks go up by one")
        if not piece or piece in found:
            raise row.error("the token is empty or stands twice", "a token stands once")
        found[piece] = rank + first
    return found, left


def _specials(rows: Node, first: int) -> tuple[dict[str, int], bool]:
    """The special tokens with their ids, filled up to as many as there are, and whether the file names any.
    """
    told = rows.value is not None
    named: dict[int, str] = {} if told else dict(enumerate(_UNNAMED[:first]))
    for row in rows.rows() if told else ():
        rank, name = row["rank"].number(), row["token_str"].text()
        if rank >= first or rank in named or name in named.values():
            raise row.error(f"special token {rank} stands twice or beyond the {first} that there are",
                            "ranks go up by one")
        named[rank] = name
    return {named.get(rank, f"<SPECIAL_{rank}>"): rank for rank in range(first)}, told or not first


def fit(spec: Spec) -> Fitted:
    """A tokenizer as a `tekken.json` holds it: specials, the bytes in order of value, then the others.

    Raises:
        Refused: It cannot.
    """
    check_bytes(spec)
    names = sorted(spec.specials, key=spec.specials.__getitem__)
    before = ranked(spec)
    before = sorted((t for t in before if len(t.piece) == 1),
                    key=lambda t: t.piece) + [t for t in before if len(t.piece) > 1]
    first = len(names)
    tokens = [token._replace(id=first + n) for n, token in enumerate(before)]
    fitted = Fitted(spec.recipe, tokens, specials={name: n for n, name in enumerate(names)})
    if [token.id for token in before] != [token.id for token in tokens] or fitted.specials != spec.specials:
        was = {token.name: token.id for token in before} | spec.specials
        fitted.lose_ids(fitted.specials | {token.name: token.id for token in tokens}, was)
    fitted.said = {
        "config": {"pattern": pattern_of(spec.recipe), "num_vocab_tokens": len(tokens),
                   "default_vocab_size": first + len(tokens),
                   "default_num_special_tokens": first, "version": "v3"},
        "special_tokens": [{"rank": n, "token_str": name, "is_control": True}
                           for n, name in enumerate(names)],
    }
    whole = spec.tokenizer.merges == len(spec.vocabulary.merges)
    if whole and spec.origin is not None and spec.came_from("tekken"):
        fitted.said = dict(spec.origin.said)
    return fitted


def write(fitted: Fitted) -> tuple[bytes, ...]:
    """The bytes of a `tekken.json`."""
    first = len(fitted.specials)
    rows = []
    for token in fitted.tokens:
        try:
            text = token.piece.decode()
        except UnicodeDecodeError:
            text = None
        code = base64.b64encode(token.piece).decode("ascii")
        rows.append({"rank": token.id - first, "token_bytes": code, "token_str": text})
    document = {"config": fitted.said["config"], "vocab": rows, **fitted.said}
    return (json_bytes(document),)
