"""The ids of GGUF files by llama.cpp, as the package xllamacpp has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokentui.analyze.verify.child import LlamaCpp


def encoder(path: Path) -> Callable[..., list[int]]:
    """Return what encodes a text by a file.

    It takes the text, whether special tokens go around it, and whether they are found in it by their names.
    """
    pytest.importorskip("xllamacpp")
    opened = LlamaCpp(str(path))

    def encode(text: str, around: bool = False, found: bool = False) -> list[int]:
        return opened.ids(text, found, around)

    return encode
