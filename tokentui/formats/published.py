"""Published files of ranks: their splits and special tokens, which the files do not contain.

OpenAI's files are recognized by their SHA-256, and found by name where tiktoken stores them. Files of models
are recognized by the number of ranks and the ranks of a few tokens. Sources: tiktoken 0.14,
`openai_public.py` and `load.py`; the files `tokenization_qwen.py` and `tokenization_kimi.py` of these models.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tokentui.core.errors import TokentuiError
from tokentui.core.files import status_of

_END = "<|endoftext|>"
_END_OF_PROMPT = "<|endofprompt|>"
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")


class PublishedEncoding(NamedTuple):
    """The facts about an encoding that its file of ranks does not contain.

    Attributes:
        name: Its name.
        split: A value of that axis.
        specials: The special tokens with their ids.
        normalize: A value of that axis.
        reserved: The names of further special tokens, with `{}` for the id; empty for none.
    """

    name: str
    split: str
    specials: Mapping[str, int]
    normalize: tuple[str, ...] = ()
    reserved: str = ""


class Fingerprint(NamedTuple):
    """Facts by which a file of ranks is recognized.

    Attributes:
        encoding: The encoding.
        size: The number of its ranks.
        ids: The ids of some of its tokens.
    """

    encoding: PublishedEncoding
    size: int
    ids: Mapping[bytes, int]


class PublishedFile(NamedTuple):
    """A file that OpenAI publishes.

    Attributes:
        encoding: Its encoding.
        sha256: The SHA-256 of the file, in hexadecimal digits.
        url: Its URL, which is the key in tiktoken's cache.
    """

    encoding: PublishedEncoding
    sha256: str
    url: str


def _numbered(first: int, *names: str) -> dict[str, int]:
    return {name: number for number, name in enumerate(names, first)}


_BLOBS = "https://openaipublic.blob.core.windows.net/encodings/"
_R50K = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
_P50K = "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"
_CL100K = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_O200K = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_HARMONY = (
    "<|startoftext|>", _END, "<|reserved_200000|>", "<|reserved_200001|>", "<|return|>", "<|constrain|>",
    "<|reserved_200004|>", "<|channel|>", "<|start|>", "<|end|>", "<|message|>", "<|reserved_200009|>",
    "<|reserved_200010|>", "<|reserved_200011|>", "<|call|>",
    *(f"<|reserved_{number}|>" for number in range(200013, 201088)),
)
_R50K_FILE, _P50K_FILE, _CL100K_FILE, _O200K_FILE = (
    f"{_BLOBS}{name}.tiktoken" for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")
)
_R50K_END, _O200K_END = {_END: 50256}, {_END: 199999, _END_OF_PROMPT: 200018}
_P50K_EDIT_NAMES = {_END: 50256, **_numbered(50281, *_FIM)}
_CL100K_NAMES = {**_numbered(100257, _END, *_FIM), _END_OF_PROMPT: 100276}
_HARMONY_NAMES = {_END_OF_PROMPT: 200018, **_numbered(199998, *_HARMONY)}
OPENAI: Mapping[str, PublishedFile] = {file.encoding.name: file for file in (
    PublishedFile(PublishedEncoding("r50k_base", "gpt2", _R50K_END), _R50K, _R50K_FILE),
    PublishedFile(PublishedEncoding("p50k_base", "gpt2", _R50K_END), _P50K, _P50K_FILE),
    PublishedFile(PublishedEncoding("p50k_edit", "gpt2", _P50K_EDIT_NAMES), _P50K, _P50K_FILE),
    PublishedFile(PublishedEncoding("cl100k_base", "cl100k", _CL100K_NAMES), _CL100K, _CL100K_FILE),
    PublishedFile(PublishedEncoding("o200k_base", "o200k", _O200K_END), _O200K, _O200K_FILE),
    PublishedFile(PublishedEncoding("o200k_harmony", "o200k", _HARMONY_NAMES), _O200K, _O200K_FILE),
)}
"""OpenAI's encodings by name. If several share a file, the file is read as the first of them."""


def openai_of(data: bytes, name: str = "") -> PublishedEncoding | None:
    """Return the encoding of a file of OpenAI, recognized by its SHA-256; None for any other file.

    Args:
        data: The bytes of the file.
        name: The name that the encoding must have; empty for the first encoding of this file.
    """
    import hashlib  # few files are ranks

    digest = hashlib.sha256(data).hexdigest()
    encodings = (file.encoding for file in OPENAI.values() if file.sha256 == digest)
    return next((encoding for encoding in encodings if name in ("", encoding.name)), None)


def located(name: str) -> str:
    """Return the path of the file of an encoding, in the current folder or in tiktoken's cache. Any other
    name is returned unchanged.

    Raises:
        TokentuiError: The file is in neither place. The hint says where to get it.
    """
    if name not in OPENAI or _is_file(name):
        return name
    path = next((path for path in _places(OPENAI[name].url) if _is_file(path)), None)
    if path is None:
        url = OPENAI[name].url
        what = "no such file, and tiktoken's cache does not contain this encoding"
        raise TokentuiError(what, name, f"download {url} into this folder")
    return path


def _is_file(path: str) -> bool:
    """Return whether a path is a readable regular file."""
    try:
        return stat.S_ISREG(status_of(path).st_mode)
    except (OSError, TokentuiError):
        return False


def _places(url: str) -> Iterator[str]:
    """Yield the paths that a file may have in tiktoken's cache; see `read_file_cached` in its `load.py`."""
    yield os.path.basename(url)
    import hashlib  # few tokenizers are asked for by name
    import tempfile

    variables = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
    default = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    folder = next((os.environ[name] for name in variables if name in os.environ), default)
    if folder:
        yield os.path.join(folder, hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest())


QWEN = PublishedEncoding(
    "qwen", "qwen",
    _numbered(151643, _END, "<|im_start|>", "<|im_end|>", *(f"<|extra_{n}|>" for n in range(205))),
    ("nfc",),
)
"""Qwen-1's encoding, `qwen.tiktoken`."""
KIMI = PublishedEncoding(
    "kimi", "kimi", {f"<|reserved_token_{number}|>": number for number in range(163584, 163840)},
    reserved="<|reserved_token_{}|>",
)
"""Kimi's encoding, `tiktoken.model`. `tokenizer_config.json` next to it names some of the 256 reserved
tokens."""
MODELS = (
    Fingerprint(QWEN, 151643, {b" \xe6\xa0": 51461}),
    Fingerprint(KIMI, 163584, {b"Hello": 19180, b" world": 2695, "你好".encode(): 33845}),
)
"""Fingerprints of the files of models."""


def model_of(ranks: Mapping[bytes, int], split: str = "") -> PublishedEncoding | None:
    """Return the encoding of a model with these ranks. None for other ranks, or if the user names another
    split."""
    for marks in MODELS:
        named = split in ("", marks.encoding.split)
        if named and len(ranks) == marks.size and marks.ids.items() <= ranks.items():
            return marks.encoding
    return None
