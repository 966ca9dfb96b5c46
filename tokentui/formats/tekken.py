"""Mistral's `tekken.json`: ranks as tiktoken has them, with the pattern and the specials. Source: mistral-common, `tekken.py`.

The special tokens take the first ids; a token's id is its rank behind them.
"""

from __future__ import annotations

import binascii
from typing import Any

from tokentui.encode.imported import Origin
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.checking import Place, entries
from tokentui.formats.source import Source
from tokentui.formats.tiktoken import build
from tokentui.text.split import SPLITS

_UNNAMED = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]",
    "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)
"""The first special tokens of files that name none: those of version 3."""


def is_tekken(source: Source) -> bool:
    """Whether it is a JSON object with a pattern and a list of ranks."""
    config, vocabulary = source.document.get("config"), source.document.get("vocab")
    return isinstance(config, dict) and "pattern" in config and isinstance(vocabulary, list)


def read(source: Source) -> Tokenizer:
    """The tokenizer of a `tekken.json`.

    Raises:
        TokentuiError: It is damaged.
    """
    document, place = source.document, source.place
    at = place.key("config")
    config = at.mapping(document["config"])
    pattern = at.key("pattern").text(config["pattern"])
    first = at.key("default_num_special_tokens").number(config.get("default_num_special_tokens", 0))
    size = at.key("default_vocab_size").number(config.get("default_vocab_size", 1 << 31))
    if first > 1 << 20 or size < first:
        raise at.error("there are more special tokens than tokens", "fetch the file again")
    split = next((name for name, entry in SPLITS.items() if entry.pattern == pattern), f"regex:{pattern}")
    if source.split and source.split != split:
        raise place.error(f"the split cannot be changed to {source.split}", f"the file holds its split: {split}")
    ranks = _ranks(document["vocab"], place.key("vocab"), first, size - first)
    specials, named = _specials(document.get("special_tokens"), place.key("special_tokens"), first)
    notes = [] if named else [f"the file does not name its {first} special tokens: they are named as its owner names them"]
    left = len(document["vocab"]) - len(ranks)
    if left:
        notes.append(f"{left} tokens lie beyond the size of the vocabulary and are left out, as its owner does it")
    said = {name: value for name, value in document.items() if name != "vocab"}
    return build(ranks, split, specials, source, tuple(notes), Origin("tekken", said))


def _ranks(value: Any, place: Place, first: int, limit: int) -> dict[bytes, int]:
    found: dict[bytes, int] = {}
    for at, row in entries(value, place):
        if len(found) == limit:
            break
        spec = at.mapping(row)
        rank = at.number(spec.get("rank"))
        try:
            piece = binascii.a2b_base64(at.text(spec.get("token_bytes")), strict_mode=True)
        except (binascii.Error, ValueError):
            raise at.error("token_bytes is not base64") from None
        if rank != len(found):
            raise at.error(f"rank {rank} where {len(found)} belongs", "ranks go up by one")
        if not piece or piece in found:
            raise at.error("the token is empty or stands twice", "a token stands once")
        found[piece] = rank + first
    return found


def _specials(value: Any, place: Place, first: int) -> tuple[dict[str, int], bool]:
    """The special tokens with their ids, filled up to as many as there are, and whether the file names any."""
    named: dict[int, str] = {} if value is not None else dict(enumerate(_UNNAMED[:first]))
    for at, row in entries([] if value is None else value, place):
        spec = at.mapping(row)
        rank, name = at.number(spec.get("rank")), at.text(spec.get("token_str"))
        if rank >= first or rank in named or name in named.values():
            raise at.error(f"special token {rank} stands twice or beyond the {first} that there are", "ranks go up by one")
        named[rank] = name
    return {named.get(rank, f"<SPECIAL_{rank}>"): rank for rank in range(first)}, value is not None or not first
