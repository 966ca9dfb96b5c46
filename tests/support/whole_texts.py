"""Made-up files of Hugging Face's kind whose texts go by stretches, and their comparison with plain Python.

The reference has no cuts that the steps of a file do not have, and no kernels.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tokentui import load
from tokentui.core import engines
from tokentui.core.errors import TokentuiError
from tokentui.encode.id_tables import WordIdTable
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import NO_ID
from tokentui.formats.huggingface import file
from tokentui.formats.sentencepiece import file as model_file

MARK = "▁"
ALPHABET = (*"abcde>.,", MARK, "é", "中", "文", "🙂", "\n")
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
PREPEND = {"type": "Prepend", "prepend": MARK}
SPLIT = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}


def metaspace(scheme: str) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": False}


STEPS: dict[str, tuple[list[Any], Any]] = {
    "llama": ([PREPEND, REPLACE], None), "gemma": ([REPLACE], SPLIT), "marks": ([REPLACE], None),
    "replaced first": ([REPLACE, PREPEND], None), "plain": ([], None),
    "mistral": ([], metaspace("first")), "always": ([], metaspace("always")),
    "never": ([PREPEND, REPLACE], metaspace("never")),
}
BYTES = [f"<0x{value:02X}>" for value in range(256)]
ADDED: dict[str, list[tuple[str, bool]]] = {
    "none": [], "special": [("<s>", True), ("ab", True)],
    "always": [
        ("\n", False), ("\n\n", False), ("a>", False), ("<s>", True), ("a>b", True), (f"b{MARK}", False),
    ],
}


def made_up(seed: int, steps: str, added: str, *, spelled: bool, fused: bool) -> dict[str, Any]:
    """A `tokenizer.json` with random merges of characters.

    Args:
        seed: For random numbers.
        steps, added: Keys of `STEPS` and `ADDED`.
        spelled: True if unknown characters become bytes.
        fused: True if unknown characters in a row become one token.
    """
    numbers = random.Random(seed)
    names = ["<unk>", *(BYTES if spelled else ()), *numbers.sample(ALPHABET, len(ALPHABET) - 2)]
    if MARK not in names:
        names.append(MARK)
    rows: list[list[str]] = []
    while len(rows) < 40:
        left, right = numbers.choices([name for name in names if not name.startswith("<")], k=2)
        if len(left + right) < 6 and [left, right] not in rows:
            rows.append([left, right])
            if left + right not in names:
                names.append(left + right)
    normalizers, splitting = STEPS[steps]
    listed = [("<unk>", True), *ADDED[added]]
    names += [name for name, _ in listed if name not in names]
    return {
        "version": "1.0", "truncation": None, "padding": None, "post_processor": None, "decoder": None,
        "added_tokens": [
            {"id": names.index(name), "content": name, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": special} for name, special in listed
        ],
        "normalizer": {"type": "Sequence", "normalizers": normalizers} if normalizers else None,
        "pre_tokenizer": splitting,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": fused, "byte_fallback": spelled, "ignore_merges": False,
            "vocab": {name: number for number, name in enumerate(names)}, "merges": rows,
        },
    }


def random_texts(seed: int, count: int) -> Iterator[str]:
    """Texts in which characters of the vocabulary, others, spaces and names of tokens meet."""
    numbers = random.Random(seed)
    for _ in range(count):
        parts = numbers.choices(
            [*ALPHABET, *"  xyz\t\r\x00", "é", "\ud800", "\udc80", "Ω", "𐍈", "<s>", "ab", "a>b", "<unk>"],
            k=numbers.randrange(40),
        )
        yield "".join(parts)


def uncut(path: Path) -> Tokenizer:
    """The tokenizer of a file, which cuts nothing that the steps of the file do not cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file, "_cut_words", lambda *_: None)
        patch.setattr(file, "stretching_of", lambda *_, **__: None)
        patch.setattr(model_file, "cut_words", lambda *_: None)
        return load(path)


def answer(ids: Iterable[int | None]) -> list[int]:
    return [NO_ID if number is None else number for number in ids]


def reference(tokenizer: Tokenizer, text: str, allowed: bool) -> list[int] | str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(engines.VARIABLE, "off")
        try:
            rows = tokenizer.encoder.placed_tokens(text, allowed, allowed)
        except TokentuiError as error:
            return str(error)
    return answer(row.id for row in rows)


def table_of(tokenizer: Tokenizer) -> str:
    """The type of the tables by which kernels cut the last text; empty if they did not."""
    table = tokenizer.encoder.id_table
    kernels = table._text_kernels if isinstance(table, WordIdTable) else None
    return type(kernels._known_reading.split).__name__ if kernels is not None and kernels.knows else ""


def goes_by_pairs(tokenizer: Tokenizer) -> bool:
    """Whether the last text was cut between characters that no token has side by side."""
    return table_of(tokenizer) == "Bigrams"


def compare(tokenizer: Tokenizer, plain: Tokenizer, given: Iterable[str]) -> int:
    """Compare the ids of texts: one by one, in threads, with special tokens, and all in one call."""
    count = 0
    listed = list(given)
    for allowed in (False, True):
        wanted = [reference(plain, text, allowed) for text in listed]
        more: dict[str, Any] = {"allow_special": allowed, "special_tokens": allowed}
        for number, (text, ids) in enumerate(zip(listed, wanted, strict=True)):
            try:
                found: list[int] | str = tokenizer.encode_ids(text, threads=1 + number % 3, **more).tolist()
            except TokentuiError as error:
                found = str(error)
            assert found == ids, (text, more)
            count += 1
        kept = [text for text, ids in zip(listed, wanted, strict=True) if not isinstance(ids, str)]
        batch = [answer(one.ids) for one in tokenizer.encode_batch(kept, **more)]
        assert batch == [ids for ids in wanted if not isinstance(ids, str)]
    return count
