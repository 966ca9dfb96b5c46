"""Calls the GGUF tokenizers of llama.cpp through the C functions in the package xllamacpp."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_VOCAB_ONLY = 72
"""The place of `vocab_only` among the parameters of a model, in the release that pyproject.toml names."""


class _Parameters(ctypes.Structure):
    """The parameters of a model, and more room than they take."""

    _fields_ = [("bytes", ctypes.c_ubyte * 512)]


@functools.cache
def _library() -> Any:
    package = pytest.importorskip("xllamacpp")
    library = ctypes.CDLL(str(Path(package.__file__).parent / "xllamacpp.abi3.so"))
    library.llama_model_default_params.restype = _Parameters
    library.llama_model_load_from_file.restype = ctypes.c_void_p
    library.llama_model_load_from_file.argtypes = [ctypes.c_char_p, _Parameters]
    library.llama_model_get_vocab.restype = ctypes.c_void_p
    library.llama_model_get_vocab.argtypes = [ctypes.c_void_p]
    library.llama_tokenize.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p,
                                       ctypes.c_int32, ctypes.c_bool, ctypes.c_bool]
    library.llama_log_set(_SILENT, None)
    return library


_SILENT = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda *given: None)


def encoder(path: Path) -> Callable[..., list[int]]:
    """Return what encodes a text by a file.

    It takes the text, whether special tokens go around it, and whether they are found in it by their names.
    """
    library = _library()
    parameters = library.llama_model_default_params()
    parameters.bytes[_VOCAB_ONLY] = 1
    model = library.llama_model_load_from_file(str(path).encode(), parameters)
    assert model, "llama.cpp reads the file"
    vocabulary = library.llama_model_get_vocab(model)

    def encode(text: str, around: bool = False, found: bool = False) -> list[int]:
        data = text.encode()
        ids = (ctypes.c_int32 * (2 * len(data) + 16))()
        number = library.llama_tokenize(vocabulary, data, len(data), ids, len(ids), around, found)
        assert number >= 0
        return list(ids[:number])

    return encode
