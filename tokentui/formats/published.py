"""Published files of ranks: their splits and special tokens, which the files do not hold.

OpenAI's files are known by their SHA-256. Those of models are known by the number of their ranks and the
ranks of a few tokens. Sources: tiktoken 0.14, `openai_public.py`; the files `tokenization_qwen.py` and
`tokenization_kimi.py` of these models.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

_END = "<|endoftext|>"
_END_OF_PROMPT = "<|endofprompt|>"
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")


class Encoding(NamedTuple):
    """A published file of ranks.

    Attributes:
        name: Its name.
        split: A value of that axis.
        specials: The special tokens with their ids.
        normalize: A value of that axis.
        reserved: The name of each further special token, with a place for its id; empty for none.
    """

    name: str
    split: str
    specials: Mapping[str, int]
    normalize: tuple[str, ...] = ()
    reserved: str = ""


class Ranks(NamedTuple):
    """The marks of a file of ranks.

    Attributes:
        encoding: The encoding.
        size: The number of its ranks.
        ids: The ids of some of its tokens.
    """

    encoding: Encoding
    size: int
    ids: Mapping[bytes, int]


OPENAI: Mapping[str, Encoding] = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": Encoding(
        "r50k_base", "gpt2", {_END: 50256}
    ),
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": Encoding(
        "p50k_base", "gpt2", {_END: 50256}
    ),
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": Encoding(
        "cl100k_base", "cl100k",
        {_END: 100257, **dict(zip(_FIM, range(100258, 100261), strict=True)), _END_OF_PROMPT: 100276},
    ),
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": Encoding(
        "o200k_base", "o200k", {_END: 199999, _END_OF_PROMPT: 200018},
    ),
}
"""OpenAI's files by their SHA-256."""


def _numbered(first: int, *names: str) -> dict[str, int]:
    return {name: number for number, name in enumerate(names, first)}


QWEN = Encoding(
    "qwen", "qwen",
    _numbered(151643, _END, "<|im_start|>", "<|im_end|>", *(f"<|extra_{n}|>" for n in range(205))),
    ("nfc",),
)
"""Qwen-1, `qwen.tiktoken`."""
KIMI = Encoding(
    "kimi", "kimi", {f"<|reserved_token_{number}|>": number for number in range(163584, 163840)},
    reserved="<|reserved_token_{}|>",
)
"""Kimi, `tiktoken.model`; `tokenizer_config.json` next to it names some of the 256 reserved tokens."""
MODELS = (
    Ranks(QWEN, 151643, {b" \xe6\xa0": 51461}),
    Ranks(KIMI, 163584, {b"Hello": 19180, b" world": 2695, "你好".encode(): 33845}),
)
"""The files of models."""


def model_of(ranks: Mapping[bytes, int]) -> Encoding | None:
    """Return the encoding of a model that ranks are of, None for none."""
    return next((
        marks.encoding for marks in MODELS
        if len(ranks) == marks.size and all(ranks.get(piece) == id for piece, id in marks.ids.items())
    ), None)
