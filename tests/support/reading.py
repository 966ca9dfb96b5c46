"""Files to read, and the error of reading what is no corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tokentui.core.errors import TokentuiError
from tokentui.text.read import read


def put(folder: Path, name: str, data: str | bytes = "a text") -> Path:
    """Write a file, with the folders above it. Returns its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def refusal(source: Any, **options: Any) -> TokentuiError:
    """The error of reading this, which must be one line that names the place and a way on."""
    with pytest.raises(TokentuiError) as caught:
        read(source, **options)
    error = caught.value
    assert str(error).isprintable()
    assert error.what
    assert error.hint
    return error


def zstd(data: bytes) -> bytes:
    """Data packed as zstandard does."""
    return bytes(pytest.importorskip("zstandard").ZstdCompressor(write_checksum=True).compress(data))
